"""The verbs that run tools and change nothing: check, test, dedupe."""

from __future__ import annotations

import contextlib
from argparse import Namespace
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from habilis.cli.curating.showing import Progress, as_json, lines, plainly
from habilis.cli.terminal.choices import library_meant
from habilis.cli.terminal.interrupting import run_to_end
from habilis.cli.terminal.tables import table, terminal_width
from habilis.cli.terminal.wording import one_line, report_line
from habilis.core.errors import UserError
from habilis.curation.manual import browsing, proving
from habilis.curation.manual.change import unknown
from habilis.curation.manual.duplicates import duplicates
from habilis.curation.manual.proving import Checked, Tested
from habilis.library import Library
from habilis.library.catalogue import Catalogue, tool_files

One = TypeVar("One", "Checked", "Tested")
_VERDICTS = {"same": "same", "equal": "equal code", "differ": "differ", "unclear": "unclear", "untried": "not tried"}


def check(args: Namespace) -> int:
    """Check tools. 1 when one is no sound tool."""
    found = _each(args, "checked", partial(proving.check, load=not args.no_load))
    bad = sum(not one.ok for one in found)
    if not args.json:
        for one in found:
            texts = [("bad", text) for text in one.problems]
            texts += [("lacks", text) for text in one.missing] + [("note", text) for text in one.remarks]
            if texts or args.tools:
                print(report_line(f"{one.name}: {'ok' if one.ok else 'not sound'}"))
                lines([f"  {label:<6} {one_line(text, 1000)}" for label, text in texts])
        print(f"{_tools(len(found))} checked, {bad or 'none'} not sound")
    return 1 if bad else 0


def test(args: Namespace) -> int:
    """Repeat recorded calls. 1 when one gives something else than it gave."""
    found = _each(args, "tested", proving.repeat)
    if not args.json:
        rows = [
            (
                one.name,
                f"{one.passed}",
                f"{one.failed or ''}",
                f"{one.not_repeatable or ''}",
                "; ".join((*one.failures, *one.remarks)),
            )
            for one in found
            if args.tools or not one.ok or one.remarks
        ]
        if rows:
            lines(table(("TOOL", "PASSED", "FAILED", "NEITHER", "WHAT"), rows, terminal_width()))
        passed, failed = sum(one.passed for one in found), sum(one.failed for one in found)
        print(f"{_tools(len(found))}, {passed:,} recorded calls repeated, {failed or 'none'} failed")
    return 0 if all(one.ok for one in found) else 1


def _each(args: Namespace, done: str, work: Callable[..., Coroutine[Any, Any, list[One]]]) -> list[One]:
    """What `work` finds of each tool that is meant, told as JSON where that is wanted; `done` says what was done."""
    settings, path = library_meant(args)
    library = browsing.opened(path)
    names = _names(library, args.tools)
    progress = Progress(len(names), done)
    try:
        found = run_to_end(work(library, names, settings, told=lambda one: progress.step()))
    finally:
        progress.clear()
    if args.json:
        rows = [{**one.model_dump(mode="json"), "ok": one.ok} for one in found]
        as_json({done: len(found), "bad": sum(not one.ok for one in found), "tools": rows})
    return found


def dedupe(args: Namespace) -> int:
    """Propose tools that may do the same."""
    settings, path = library_meant(args)
    library = browsing.opened(path)
    progress = Progress(args.limit, "pairs tried:")
    try:
        work = duplicates(library, settings, names=args.tools, limit=args.limit, told=lambda one: progress.step())
        found, left = run_to_end(work)
    finally:
        with contextlib.suppress(ValueError):
            progress.clear()
    if args.json:
        as_json(
            {"pairs": [{**row, "same": one.same} for row, one in zip(plainly(found), found, strict=True)], "left": left}
        )
        return 0
    rows = [
        (
            " + ".join(one.tools),
            _VERDICTS[one.verdict],
            f"{one.recorded}+{one.generated}",
            f"{one.alike:.2f}",
            one.against or one.why,
        )
        for one in found
    ]
    if rows:
        lines(table(("TOOLS", "", "EQUAL", "ALIKE", "AGAINST"), rows, terminal_width()))
    same = sum(one.verdict in ("same", "equal") for one in found)
    more = f"; {left:,} less likely pairs were not tried (--limit)" if left else ""
    print(f"{same or 'no'} proposal{'' if same == 1 else 's'} of {len(found)} pairs tried{more}")
    if same:
        print("EQUAL counts outputs on recorded and generated inputs; 'habilis library merge' asks its own gate")
        if any(not one.same for one in found if one.verdict == "equal"):
            print("'habilis library prove' makes calls for tools of equal code that have none to compare")
    return 0


def _names(library: Library, said: list[str]) -> list[str]:
    """The tools that are meant: all of them where none is named. Raises `UserError` for one that is not there."""
    files = tool_files(library.path)
    for name in said:
        if name not in files:
            raise UserError(unknown(name, Catalogue.of(library.path)))
    return list(dict.fromkeys(said)) or files


def _tools(count: int) -> str:
    return f"{count:,} tool{'' if count == 1 else 's'}"
