"""The verbs that only look: list, show, search, history, diff, stats, doctor."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.cli.curating.showing import as_json, lines, plainly
from habilis.contract.aliases import kinds, required
from habilis.curation.manual import browsing, health
from habilis.curation.manual import history as told
from habilis.curation.manual.browsing import Ancestor, Shown, ToolRow
from habilis.curation.manual.history import Event, difference
from habilis.terminal.choices import library_meant
from habilis.terminal.tables import table, terminal_width
from habilis.terminal.wording import age_text, call_text, one_line, plain, report_line, size_text

if TYPE_CHECKING:
    from habilis.checking import Damage

AT_A_TERMINAL = 50
"""Tools that `list` shows there unless it is told otherwise."""


def list_(args: Namespace) -> int:
    """Print the tools of the library."""
    _, path = library_meant(args)
    library = browsing.opened(path)
    if args.names:
        from habilis.library.catalogue import tool_files

        found = tool_files(library.path)
        as_json(found) if args.json else lines(found)
        return 0
    width = terminal_width()
    given = args.limit if args.limit is not None else AT_A_TERMINAL if width and not args.json else 0
    rows, total = browsing.names(library, args.sort, given or None)
    if args.json:
        as_json({"library": str(path), "total": total, "tools": plainly(rows)})
        return 0
    if not total:
        print(report_line(f"no tools in {path}"))
        return 0
    heads = ("NAME", "CALLS", "GOOD", "EFFECTS", "", "DESCRIPTION")
    lines(table(heads, [_cells(row) for row in rows], width, spare=("GOOD", "CALLS", "EFFECTS"), first=28))
    if len(rows) < total:
        print(f"{len(rows):,} of {total:,} tools; --limit 0 shows all, 'habilis library search' finds one")
    return 0


def _cells(row: ToolRow) -> tuple[str, ...]:
    if row.problem:
        return row.name, "", "", "", "broken", row.problem
    good = f"{round(100 * row.success / row.calls)} %" if row.calls else ""
    return row.name, f"{row.calls:,}", good, row.effects or "", "pinned" if row.pinned else "", row.description


def show(args: Namespace) -> int:
    """Print one tool."""
    _, path = library_meant(args)
    shown = browsing.shown(browsing.opened(path), args.tool)
    if args.json:
        as_json(shown.model_dump(mode="json"))
        return 0
    if not args.code:
        for label, text in _facts(shown):
            for line in plain(text).split("\n"):
                print(f"{label:<10} {line}".rstrip())
                label = ""
        print()
    _print_code(shown.code)
    return 0


def _facts(shown: Shown) -> list[tuple[str, str]]:
    place = shown.place + (f": {shown.reason}" if shown.reason else "") + (", pinned" if shown.pinned else "")
    made = ", ".join(
        part
        for part in (
            shown.how,
            f"for task {shown.task}" if shown.task else "",
            f"by {shown.model}" if shown.model else "",
            f"writer {shown.writer}" if shown.writer else "",
        )
        if part
    )
    rows = [("tool", f"{shown.name}@{shown.version}"), ("", one_line(shown.description, 1000)), ("place", place)]
    rows += [("made", made), ("example", one_line(shown.trial or "not tried", 300))]
    rows += [("effects", shown.effects)]
    rows += [("packages", ", ".join(shown.requirements))] if shown.requirements else []
    rows += [("needs", ", ".join(shown.needs))] if shown.needs else []
    rows += [("takes", _schema(shown.input_schema)), ("gives", _schema(shown.output_schema))]
    rows += _call_facts(shown)
    rows += [("answered", "\n".join(one_line(question) for question in shown.answered))] if shown.answered else []
    for number, old in enumerate(shown.old_names):
        reason = f": {old.reason}" if old.reason else ""
        rows.append(("replaces" if not number else "", f"{old.name}@{old.version}{reason}; {old.calls} calls by it"))
    rows.append(("lineage", "\n".join(tree(shown.lineage))))
    rows += [("evidence", "\n".join(one_line(line, 400) for line in shown.evidence))] if shown.evidence else []
    return rows


def _call_facts(shown: Shown) -> list[tuple[str, str]]:
    calls = shown.calls
    told = (
        f"{calls.total:,} recorded: {calls.success:,} good, {calls.failure:,} failed, {calls.input_error:,} bad input"
    )
    rows = [("calls", f"{told}; {calls.replayable:,} can be repeated")]
    rows.append(("kinds", ", ".join(f"{number} {kind}" for kind, number in calls.kinds.items())))
    rows += [("proved by", ", ".join(calls.tasks))] if calls.tasks else []
    rows += [("stood in", "\n".join(calls.stood_in))] if calls.stood_in else []
    for call in calls.last:
        gave = call["error"] or json.dumps(call["output"], ensure_ascii=False)
        rows.append(("", f"{call_text(shown.name, call['arguments'], 80)} → {one_line(gave, 100)}"))
    return rows


def _schema(schema: dict[str, Any]) -> str:
    must, fields = required(schema), schema.get("properties") or {}
    rows = []
    for name, kind in kinds(schema).items():
        said = fields.get(name, {}).get("description", "")
        mark = "" if name in must else "?"
        rows.append(f"{name}{mark}: {kind}" + (f"  {one_line(str(said))}" if said else ""))
    return "\n".join(rows) or "nothing"


def tree(ancestor: Ancestor, indent: str = "") -> list[str]:
    """A lineage as lines, the youngest first."""
    about = [ancestor.how, f"task {ancestor.task}" if ancestor.task else "", ancestor.model, ancestor.place]
    about += [ancestor.reason]
    told = ", ".join(part for part in about if part) or "not in the library"
    found = [f"{ancestor.tool}  {one_line(told)}"]
    for number, parent in enumerate(ancestor.parents):
        last = number == len(ancestor.parents) - 1
        head, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
        first, *more = tree(parent)
        found += [f"{indent}{head}{first}", *(f"{indent}{below}{line}" for line in more)]
    return found


def _print_code(code: str) -> None:
    """With colours at a terminal, as it is elsewhere."""
    if not sys.stdout.isatty():
        sys.stdout.write("\n".join(plain(line) for line in code.rstrip().split("\n")) + "\n")
        return
    from rich.console import Console
    from rich.syntax import Syntax

    shown = "\n".join(plain(line) for line in code.rstrip().split("\n"))
    Console().print(Syntax(shown, "python", theme="ansi_dark", background_color="default", word_wrap=True))


def search(args: Namespace) -> int:
    """Print the tools nearest to a query. That none fits is an answer too."""
    settings, path = library_meant(args)
    vectors = settings.retrieval.vectors
    found = browsing.search(
        browsing.opened(path), args.query, args.k, why=args.why, unused=args.unused, vectors=vectors
    )
    if args.json:
        as_json(plainly(found))
        return 0
    if not found:
        print("nothing fits: no tool of the library shares a word with that")
        return 0
    width = terminal_width()
    if not args.why:
        rows = [(one.name, f"{one.score:.2f}", one.place, one.description) for one in found]
        lines(table(("NAME", "SCORE", "", "DESCRIPTION"), rows, width))
        return 0
    for one in found:
        print(report_line(f"{one.name}({', '.join(one.parameters)})  {one.score:.2f}  {one.place}".rstrip()))
        print(f"  {one_line(one.description, (width or 200) - 2)}")
        for met in one.why:
            asked = met["asked"] if met["asked"] == met["met"] else f"{met['asked']} ~ {met['met']}"
            print(report_line(f"  {met['share']:>6.2f}  {asked:<24} in {', '.join(met['fields'])}"))
    return 0


def history(args: Namespace) -> int:
    """Print the generations, or what became of one tool."""
    _, path = library_meant(args)
    limit = args.limit or None
    found = told.history_of(path, args.tool, limit) if args.tool else told.history(path, limit)
    if args.json:
        as_json(plainly(found))
        return 0 if found else 1
    if not found:
        print(report_line(f"no generation tells of {args.tool}"))
        return 1
    if args.tool:
        for event in found:
            print(report_line(f"generation {event.generation}, {_ago(event)}: {event.asked}"))
            lines([f"  {line}" for line in event.lines])
        return 0
    rows = [_generation(event) for event in found]
    lines(table(("GENERATION", "AGE", "TOOLS", "NEW", "MERGED", "RETIRED", "BY"), rows, terminal_width()))
    return 0


def _generation(event: Event) -> tuple[str, ...]:
    number = f"{event.generation}{' *' if event.current else ''}"
    out = f"{event.retired + event.quarantined or ''}"
    why = f" ({event.reason})" if event.reason else ""
    tools = f"{event.tools:,}" if event.tools is not None else ""
    return number, _ago(event), tools, f"{event.new or ''}", f"{event.merged or ''}", out, event.asked + why


def _ago(event: Event) -> str:
    return age_text(max(0.0, time.time() - event.when))


def diff(args: Namespace) -> int:
    """Print what differs between two generations."""
    _, path = library_meant(args)
    found = difference(path, args.before, args.after, code=args.code)
    if args.json:
        as_json(plainly(found))
        return 0
    if not found:
        print("the same tools in both")
        return 0
    if not args.code:
        lines(table(("TOOL", "", "WHAT"), [(row.tool, row.change, row.text) for row in found], terminal_width()))
        return 0
    for row in found:
        print(report_line(f"{row.tool}  {row.change}: {one_line(row.text, 500)}"))
        lines([f"  {line}" for line in row.code])
    return 0


def stats(args: Namespace) -> int:
    """Print the library in figures."""
    _, path = library_meant(args)
    found = health.stats(path, browsing.opened(path))
    if args.json:
        as_json(found.model_dump(mode="json"))
        return 0
    out = f"{found.retired:,} retired, {found.quarantined:,} quarantined, {found.archived:,} in the archive"
    calls = f"{found.calls:,} recorded: {found.success:,} good, {found.failure:,} failed"
    rows = [
        ("library", found.path + (f", generation {found.generation}" if found.generation else "")),
        ("tools", f"{found.tools:,}, {found.broken:,} broken, {found.pinned:,} pinned, {found.old_names:,} old names"),
        ("out of use", out),
        ("calls", f"{calls}; {found.never_called:,} tools never called"),
        ("worth", ", ".join(f"{name} {value:.2f}" for name, value in found.most_worth)),
        ("passed over", ", ".join(f"{name} offered {times:,} times" for name, times in found.passed_over)),
        ("effects", _pairs(found.by_effects)),
        ("made", _pairs(found.by_origin)),
        ("by model", _pairs(found.by_model)),
        ("packages", _pairs(found.packages)),
        ("most used", ", ".join(f"{name} {count:,}" for name, count in found.most_called if count)),
        ("worst", ", ".join(f"{name} {bad:,} of {count:,} failed" for name, bad, count in found.worst)),
        ("room", f"{size_text(found.bytes)}; {found.generations:,} generations {size_text(found.generations_bytes)}"),
    ]
    lines([f"{label:<11} {text}" for label, text in rows if text])
    return 0


def _pairs(counts: dict[str, int]) -> str:
    shown = list(counts.items())[:12]
    more = f", {len(counts) - 12} more" if len(counts) > 12 else ""
    return ", ".join(f"{name} {count:,}" for name, count in shown) + more


def doctor(args: Namespace) -> int:
    """Say what is wrong with the library. 1 where anything is broken."""
    _, path = library_meant(args)
    damages = _damages(path, repair=args.repair)
    found = health.doctor(path, browsing.opened(path))
    left = any(one.outcome != "mended" for one in damages)
    code = 1 if left or any(one.level == "error" for one in found) else 0
    if args.json:
        as_json({"library": str(path), "damages": list(map(str, damages)), "findings": plainly(found)})
        return code
    lines([f"{'mended' if one.outcome == 'mended' else 'damaged':<8} {one}" for one in damages])
    if any(one.outcome == "mendable" for one in damages):
        print(report_line(f"{'':<8} habilis library doctor --library {path} --repair"))
    for one in found:
        print(report_line(f"{one.level:<8} {one.where}: {one_line(one.what, 500)}"))
        print(report_line(f"{'':<8} {one.do}"))
    many = len(found) + len(damages)
    print("the library is whole" if not many else f"{many} finding{'s' * (many != 1)}")
    return code


def _damages(path: Path, *, repair: bool) -> list[Damage]:
    """What is damaged of the library at `path`: its link, and files that may lie elsewhere whole."""
    from habilis.checking import check_library

    tasks = sorted(path.parent.glob("*/tasks/*/tools")) + sorted(path.parent.glob("tasks/*/tools"))
    return check_library(path, repair=repair, sources=tasks)
