"""`habilis view`: runs, tasks, trainings and libraries as pages for a browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.core.errors import UserError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

HELP = """Shows runs, running tasks, training runs and the library in a browser. It only reads. The server listens on
this machine only, and prints an address that contains a token; Ctrl-C stops it. With --static the same pages are
written as files."""
EXIT_CODES = "exit codes: 0 the pages were written · 2 usage or configuration · 130 ended by Ctrl-C"


def add_view(commands: Any, options: Callable[[argparse.ArgumentParser], None]) -> None:
    """The command `habilis view`."""
    view = commands.add_parser("view", help="look at runs in a browser", description=HELP, epilog=EXIT_CODES)
    view.add_argument("runs", nargs="*", metavar="RUN", help="name, start of a name, or folder (default: all runs)")
    view.add_argument("--port", type=port_of, default=0, metavar="N", help="port to listen on (default: any free one)")
    view.add_argument("--static", metavar="DIR", help="write the pages into this new or empty folder, and exit")
    view.add_argument("--open", action="store_true", help="also open the browser")
    options(view)


def port_of(text: str) -> int:
    """A port number."""
    if not (text.isascii() and text.isdigit() and int(text) < 65_536):
        raise argparse.ArgumentTypeError(f"--port {text}: expected a number from 0 to 65535")
    return int(text)


def view(args: Namespace) -> int:
    """Serve until interrupted, or write the pages. Raises `UserError`, KeyboardInterrupt."""
    from habilis.rundir import find_run
    from habilis.terminal.choices import library_meant

    try:
        from habilis.view.export import export
        from habilis.view.runs import Runs
        from habilis.view.serving import serve
        from habilis.view.site import Site
    except ModuleNotFoundError as error:
        raise UserError(f"'habilis view' needs the package {error.name}: pip install 'habilis[view]'") from None
    settings, library = library_meant(args)
    root = Path(settings.runs_dir)
    runs = Runs(root, tuple(find_run(root, name) for name in args.runs))
    if args.static is not None:
        if args.open or args.port:
            raise UserError("--static writes files and serves nothing: leave out --open and --port")
        folder = Path(args.static).expanduser()
        written = export(runs, library, folder)
        print(f"{written} pages in {folder}; open {folder / 'index.html'}")
        return 0

    def ready(address: str) -> None:
        print(address, flush=True)
        if args.open:
            import webbrowser

            webbrowser.open(address)

    serve(Site(runs, library), args.port, ready)
    return 0
