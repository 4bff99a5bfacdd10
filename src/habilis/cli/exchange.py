"""`habilis serve`, `habilis library import | export | verify`: tools out of and into a library."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from habilis.core.errors import UserError

if TYPE_CHECKING:
    from argparse import Namespace

    from habilis.config import Settings
    from habilis.exchange.reports import ExportReport, ImportReport
    from habilis.runtime.host import ToolHost
    from habilis.terminal.interrupting import Stop

Options = Callable[[argparse.ArgumentParser], None]
KINDS = ("folder", "package", "skills")
IMPORT_HELP = """Imports tools from tool files, folders, libraries, exports, OpenAPI documents, and MCP servers with an
address (mcp:https://host/mcp, or mcp:NAME for one under sources in the settings). Each tool must pass the same checks
in the sandbox as a tool made here. Tools that you already have are recognised; different tools with the same name are
both kept. The sources are only read. Ctrl-C keeps what was taken, and --resume continues. The last line says how many
tools were tried: one without an example or a recorded call is taken untried ('habilis library prove')."""
IMPORT_EXIT_CODES = (
    "exit codes: 0 every tool file was imported or is already there · 1 one was refused · 2 usage or configuration "
    "· 130 interrupted"
)
EXPORT_HELP = """folder: a plain copy, a library by itself. package: a Python package with typed functions, a lock and
tests made from recorded calls. skills: a folder per tool in the format of agentskills.io. All can be imported again.
Anything that looks like a secret is removed from recorded calls first (settings: exchange)."""
VERIFY_HELP = """Compares an export with the digests in its manifest, or the tools of a library with their own, and
prints one line per difference."""
SERVE_HELP = """Serves the library's tools to other programs over the Model Context Protocol, on standard input and
output. Calls run in the sandbox; only settings decide what tools are granted. A new generation is served at once."""
_T = TypeVar("_T")


def add_verbs(verbs: Any, options: Options) -> None:
    """The verbs of `habilis library` that are ours. `options` adds those for settings and folders."""
    imports = verbs.add_parser(
        "import",
        help="import tools from files, libraries, OpenAPI documents or MCP servers",
        description=IMPORT_HELP,
        epilog=IMPORT_EXIT_CODES,
    )
    imports.add_argument(
        "sources", nargs="+", metavar="SOURCE", help="tool file, folder, library, export, OpenAPI document, or mcp:URL"
    )
    imports.add_argument(
        "--secret-env", default="", metavar="NAME", help="variable with the secret of mcp:URL, sent as a bearer token"
    )
    imports.add_argument(
        "--infer-dependencies",
        action="store_true",
        help="add packages that a tool imports but does not declare to its dependencies",
    )
    imports.add_argument(
        "--resume", action="store_true", help="continue an interrupted import, without retrying refused tools"
    )
    imports.add_argument("--dry-run", action="store_true", help="try everything, change nothing")
    export = verbs.add_parser("export", help="export tools", description=EXPORT_HELP)
    export.add_argument("--to", choices=KINDS, required=True, help=", ".join(KINDS))
    export.add_argument("target", metavar="DIR", help="new folder")
    export.add_argument(
        "--tools", nargs="+", action="extend", default=[], metavar="NAME", help="only these tools (default: all)"
    )
    export.add_argument("--name", metavar="NAME", help="name of the package (default: that of the folder)")
    export.add_argument("--no-records", action="store_true", help="leave out recorded calls and users' questions")
    export.add_argument("--replace", action="store_true", help="first rename an existing folder")
    verify = verbs.add_parser(
        "verify", help="compare an export, or a library, with its digests", description=VERIFY_HELP
    )
    verify.add_argument("folder", nargs="?", metavar="DIR", help="export or library (default: the library)")
    for verb in (imports, export, verify):
        verb.add_argument("--json", action="store_true", help="one JSON document")
        options(verb)


def add_serve(commands: Any, options: Options) -> None:
    """The command `habilis serve`."""
    serve = commands.add_parser("serve", help="serve the library's tools over MCP", description=SERVE_HELP)
    serve.add_argument(
        "--tools", nargs="+", action="extend", default=[], metavar="NAME", help="only these tools (default: all)"
    )
    serve.add_argument("--workspace", metavar="DIR", help="folder that tools work in (default: a temporary one)")
    serve.add_argument("--sources", action="store_true", help="let clients read the tools' sources, to import them")
    serve.add_argument("--file", action="append", default=[], metavar="F", help="file or folder that tools may read")
    options(serve)


def import_(args: Namespace) -> int:
    """Import, and say of each thing what became of it. 1 when a tool file was refused."""
    from habilis.cli.curating.showing import Progress
    from habilis.exchange.importing import Importer
    from habilis.terminal.choices import library_meant
    from habilis.terminal.interrupting import INTERRUPTED, Stop

    settings, library = library_meant(args)
    progress, stop = Progress(0, "tried"), Stop("the tools under way are finished, and what was taken is kept")

    async def work(host: ToolHost) -> ImportReport:
        more = {"secret_env": args.secret_env, "step": progress.at, "stopped": stop.asked}
        importer = Importer(library, settings, host, told=_tell, **more)
        infer = args.infer_dependencies
        return await importer.run(args.sources, dry_run=args.dry_run, resume=args.resume, infer=infer)

    try:
        report = _with_host(settings, work, stop)
    finally:
        progress.clear()
    if args.json:
        print(json.dumps({**report.model_dump(mode="json"), "sums": report.sums.model_dump()}, indent=2))
    else:
        _show_import(report)
    if report.sums.left:
        _tell(f"interrupted, {report.sums.left:,} not looked at yet; the same command with --resume goes on")
        return INTERRUPTED
    return 1 if any(line.problem for line in report.lines) else 0


def export(args: Namespace) -> int:
    """Export. 1 when nothing was left to be handed on."""
    from habilis.exchange.exporting import Exporter
    from habilis.library import Library
    from habilis.terminal.choices import library_meant

    settings, library = library_meant(args)
    if not library.is_dir():
        raise UserError(f"no library at {library}; name one with --library")

    names, target = tuple(args.tools), Path(args.target).expanduser()

    async def work(host: ToolHost) -> ExportReport:
        exporter = Exporter(Library(library), settings, host, records=not args.no_records)
        return await exporter.export(args.to, target, names=names, replace=args.replace, name=args.name or "")

    report = _with_host(settings, work)
    if args.json:
        print(report.model_dump_json(indent=2))
    else:
        _show_export(report)
    return 0 if report.tools else 1


def verify(args: Namespace) -> int:
    """Say each difference in a line. 1 when there is one."""
    from habilis.exchange.verifying import verified
    from habilis.terminal.choices import library_meant
    from habilis.terminal.wording import report_line

    _, library = library_meant(args)
    folder = Path(args.folder).expanduser() if args.folder else library
    report = verified(folder)
    if args.json:
        print(json.dumps({"folder": str(folder), "ok": not report.differences, **report.document()}, indent=2))
    else:
        for line in report.differences:
            print(report_line(line))
        if not report.differences:
            print(report_line(f"{folder}: {report.tools} tools, {report.files} files, all as they were"))
    return 1 if report.differences else 0


def serve(args: Namespace) -> int:
    """Serve until the input ends or a signal comes. 0 then."""
    import asyncio

    from habilis.contract.taskfiles import gather
    from habilis.exchange.calling import Caller
    from habilis.exchange.redaction import Redaction
    from habilis.library import Library
    from habilis.terminal.choices import check_file, library_meant

    try:
        from habilis.exchange.serving import serve as run
    except ModuleNotFoundError as error:
        raise UserError(f"'habilis serve' needs the package {error.name}: pip install 'habilis[mcp]'") from None
    settings, library = library_meant(args)
    if not library.is_dir():
        raise UserError(f"no library at {library}; name one with --library")
    for name in args.file:
        check_file(name)
    files = gather("", args.file, Path.cwd())[0]
    workspace = Path(args.workspace).expanduser() if args.workspace else None
    if workspace is not None and not workspace.is_dir():
        raise UserError(f"--workspace {args.workspace}: {'no folder' if workspace.exists() else 'no such folder'}")
    offered = Library(library)
    for name in args.tools:
        if offered.get(name) is None:
            raise UserError(f"--tools {name}: there is no such tool in {library}")

    sources = Redaction(settings.exchange) if args.sources else None

    async def work() -> None:
        caller = Caller(offered, settings, workspace=workspace, files=files, names=args.tools)
        try:
            await run(caller, library, sources=sources)
        finally:
            await caller.aclose()

    asyncio.run(work())
    return 0


def _with_host(settings: Settings, work: Callable[[ToolHost], Coroutine[Any, Any, _T]], stop: Stop | None = None) -> _T:
    """Do `work` with a host, which is closed in any case; a request to stop ends it, and its processes, at once. With
    `stop` the first request is left to the work, which looks at it."""
    from habilis.runtime.host import ToolHost
    from habilis.terminal.interrupting import run_to_end, run_to_stop

    async def whole() -> _T:
        host = ToolHost.of(settings, notice=_tell)
        try:
            await host.level()
            return await work(host)
        finally:
            await host.aclose()

    return run_to_end(whole()) if stop is None else run_to_stop(whole(), stop)


def _show_import(report: ImportReport) -> None:
    from habilis.exchange.reports import MISSING
    from habilis.terminal.wording import report_line

    for line in report.lines:
        print(report_line(line.text))
    if report.dry_run:
        end = "nothing was changed"
    elif report.published:
        end = f"generation {report.generation} of {report.library} has {report.tools} tools"
    else:
        end = f"nothing is new in {report.library}"
    print(report_line(f"{len(report.lines):,} looked at: {report.sums.text}; {end}"))
    if MISSING in report.sums.refused:
        print("--infer-dependencies adds packages that tools import and do not name")
    if report.published and report.sums.not_tried:
        print("'habilis library prove' makes calls for tools that were not tried")


def _show_export(report: ExportReport) -> None:
    from habilis.terminal.wording import report_line

    for line in (*report.left_out, *report.notes):
        print(report_line(line), file=sys.stderr)
    if not report.tools:
        print(report_line(f"{report.target}: no tool can be handed on, nothing was made"))
        return
    if report.archived:
        print(report_line(f"what was there is now {report.archived}"))
    calls, redacted = sum(t.calls for t in report.tools), sum(t.redacted for t in report.tools)
    tests = f", {sum(t.tests for t in report.tools)} of them tests" if report.kind == "package" else ""
    print(
        report_line(
            f"{report.target}: {len(report.tools)} tools as {report.kind}; {calls} recorded calls{tests}, "
            f"{redacted} redacted"
        )
    )


def _tell(text: str) -> None:
    from habilis.terminal.wording import report_line

    print(report_line(text), file=sys.stderr)
