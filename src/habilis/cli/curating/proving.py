"""The verbs that run tools: check, test, dedupe, which change nothing, and prove, which keeps calls."""

from __future__ import annotations

import contextlib
import sys
from argparse import Namespace
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar

from habilis.cli.curating.showing import Progress, as_json, lines, plainly
from habilis.core.errors import UserError
from habilis.curation.manual import browsing, proving
from habilis.curation.manual.change import unknown
from habilis.curation.manual.duplicates import duplicates
from habilis.curation.manual.proving import Checked, Tested
from habilis.curation.manual.tending import Tending
from habilis.curation.manual.trying import Proved, Way, try_tools
from habilis.library import Library
from habilis.library.catalogue import Catalogue, tool_files
from habilis.terminal.choices import library_meant
from habilis.terminal.console import usage_text
from habilis.terminal.interrupting import INTERRUPTED, Stop, run_to_end, run_to_stop
from habilis.terminal.tables import table, terminal_width
from habilis.terminal.wording import one_line, report_line

One = TypeVar("One", "Checked", "Tested")
_WAYS: dict[Way, str] = {
    "proved": "proved",
    "network": "needs network",
    "files": "needs files",
    "lacks": "lacks something here",
    "writes": "may write",
    "failed": "failed",
}
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


def prove(args: Namespace) -> int:
    """Make calls for tools and keep those that hold. 1 when a tool failed all of its calls."""
    settings, path = library_meant(args)
    library = browsing.opened(path)
    names = _names(library, args.tools)
    progress, stop = Progress(len(names), "proved"), Stop("the tools under way are finished, and what held is kept")
    try:
        tried = run_to_stop(
            try_tools(library, names, settings, told=lambda one: progress.step(), stopped=stop.asked), stop
        )
    finally:
        progress.clear()
    generation = 0
    if any(tried.calls.values()):
        asked = f"prove {', '.join(args.tools) or 'all tools'}"
        tending = Tending(path, settings, told=lambda text: print(report_line(text), file=sys.stderr))
        generation = run_to_end(tending.keep_calls(asked, tried.calls, tried.contents)).generation
    left = len(names) - len(tried.proved)
    if args.json:
        rows = [{**one.model_dump(mode="json"), "ok": one.ok} for one in tried.proved]
        model = {"asked": tried.asked, "usage": tried.usage.model_dump(mode="json"), "not_asked": tried.not_asked}
        as_json({"tools": rows, "sums": _ways(tried.proved), "left": left, "generation": generation, "model": model})
    else:
        _show_proved(tried.proved, every=bool(args.tools))
        if generation:
            print(f"generation {generation} holds the new calls")
        if tried.asked:
            print(f"a model was asked for calls of {_tools(tried.asked)}: {usage_text(tried.usage)}")
        if tried.not_asked:
            print(report_line(f"no model is asked: {tried.not_asked}"), file=sys.stderr)
    if stop.asked():
        print(f"{_tools(left)} not begun; 'habilis library prove' goes on with them", file=sys.stderr)
        return INTERRUPTED
    return 1 if any(one.ending == "failed" for one in tried.proved) else 0


def _show_proved(proved: Sequence[Proved], *, every: bool) -> None:
    shown = [one for one in proved if every or one.ending != "proved"]
    rows = [(one.name, _WAYS[one.ending], f"{one.known}+{one.calls}", one_line(one.why, 300)) for one in shown]
    if rows:
        lines(table(("TOOL", "", "CALLS", "WHY"), rows, terminal_width()))
    sums = _ways(proved)
    made = sum(one.calls for one in proved)
    told = ", ".join(f"{count:,} {_WAYS[way]}" for way, count in sums.items() if count)
    print(f"{_tools(len(proved))}: {told or 'nothing to do'}; {made:,} new calls kept")


def _ways(proved: Sequence[Proved]) -> dict[Way, int]:
    return {way: sum(one.ending == way for one in proved) for way in _WAYS}


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
