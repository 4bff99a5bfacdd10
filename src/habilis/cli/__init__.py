"""The command line. Light by design: `--help` and usage errors cost no import beyond the standard library's."""

from __future__ import annotations

import atexit
import contextlib
import gc
import logging
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from habilis.core.deferring import defer_unasked
from habilis.core.errors import HabilisError, ModelMisconfigured, ModelUnreachable, PlaceError, UserError
from habilis.core.place import place_error, place_failure

USAGE, UNREACHABLE, PLACE, INTERRUPTED = 2, 3, 5, 130
YOUNG_OBJECTS = 20_000
"""Objects made before the collector looks for garbage among them: imports make half a million, hardly any of it."""


def main(argv: Sequence[str] | None = None, *, team_factory: Callable[..., Any] | None = None) -> int:
    """Run one command and return its exit code. `team_factory` stands in for `habilis.Team` in tests.

    A standard output that takes nothing (closed, or a full disk) makes it 5, once all is done; a reader who left does
    not.

    Without `argv` the process is the command, and is watched: once asked to end, it is gone within five seconds.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
        defer_unasked()
    from habilis.terminal.streams import masked_streams, output_lost

    with masked_streams(), _logging(debug="--debug" in words):
        code = _run(words, "--debug" in words, team_factory, watch=argv is None)
        lost = output_lost()
        if lost is not None:
            code = _fail(lost, PLACE, debug=False)
    if argv is None and code == PLACE:
        _leave(code)
    if argv is None:
        gc.freeze()  # what is left would be looked through for garbage as the interpreter ends
    return code


def _leave(code: int) -> NoReturn:
    """End this process without a wait for its threads: where the place failed, one may have died with work to do."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    atexit._run_exitfuncs()
    os._exit(code)


def _run(words: list[str], debug: bool, team_factory: Callable[..., Any] | None, *, watch: bool) -> int:
    """The command with everything that can go wrong put into one line and an exit code."""
    from habilis.cli.commands import work_of
    from habilis.cli.parser import parse
    from habilis.cli.watchdog import watched
    from habilis.core.starved import end_when_starved

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if watch:
        end_when_starved(PLACE)
    try:
        args = parse(words)
        with watched() if watch else contextlib.nullcontext():
            return work_of(args, team_factory)
    except SystemExit as done:  # argparse, after --help and --version
        return done.code if isinstance(done.code, int) else USAGE
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED, debug)
    except ModelMisconfigured as error:
        return _fail(str(error), USAGE, debug)
    except ModelUnreachable as error:
        return _fail(str(error), UNREACHABLE, debug)
    except UserError as error:
        return _fail(str(error), USAGE, debug)
    except PlaceError as error:
        return _fail(str(error), PLACE, debug)
    except ModuleNotFoundError as error:
        what = f"the package {error.name} is missing; install with 'make setup' or 'pip install habilis'"
        return _fail(what, USAGE, debug)
    except OSError as error:
        if (place := place_error(error)) is not None:
            return _fail(str(place), PLACE, debug)
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}", USAGE, debug)
    except HabilisError as error:
        return _fail(str(error), 1, debug)
    except Exception as error:
        if (place := place_failure(error, ours=False)) is not None:
            return _fail(str(place), PLACE, debug)
        hint = "" if debug else "; --debug shows where"
        return _fail(f"internal error: {type(error).__name__}: {error}{hint}", 1, debug)


def _fail(text: str, code: int, debug: bool) -> int:
    """Say in one line what went wrong."""
    if debug and sys.exc_info()[0] is not KeyboardInterrupt:
        traceback.print_exc()
    from habilis.terminal.wording import plain

    print(f"habilis: {plain(' '.join(text.split()))}", file=sys.stderr)
    return code


@contextlib.contextmanager
def _logging(debug: bool) -> Iterator[None]:
    """Log to standard error while the command runs: warnings of ours, everything with `debug`."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = []
    logging.basicConfig(
        level=logging.DEBUG if debug else logging.ERROR,
        format="%(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    logging.getLogger("habilis").setLevel(logging.DEBUG if debug else logging.WARNING)
    for name in ("aiosqlite", "asyncio", "httpcore", "httpx", "openai", "markdown_it"):
        logging.getLogger(name).setLevel(logging.INFO if debug else logging.ERROR)
    logging.getLogger("mcp").setLevel(logging.INFO if debug else logging.CRITICAL)  # it logs tracebacks as errors
    if not debug and threading.excepthook is threading.__excepthook__:
        # A library's thread that is cut off when a run is stopped at once has nothing to tell a person.
        threading.excepthook = lambda failure: logging.getLogger(__name__).debug(
            "a thread ended: %s", failure.exc_value
        )
    try:
        with warnings.catch_warnings():
            if not debug and not sys.warnoptions:
                warnings.simplefilter("ignore")
            yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.getLogger("habilis").setLevel(logging.NOTSET)
