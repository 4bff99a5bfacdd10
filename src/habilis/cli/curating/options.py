"""The words of `habilis library VERB`. Standard library only: this is the path of `habilis --help`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CODES = "exit codes: 0 done · 1 refused, or something is wrong · 2 usage or configuration · 130 interrupted"
CHANGES = """The change makes one new generation, prepared separately and published by one rename, with an account of
every tool; 'habilis library rollback' goes back. Runs in progress keep the generation that they opened."""
LIST_HELP = "Lists the tools of the library: at a terminal the first 50, unless --limit says otherwise; in a pipe, all."
SHOW_HELP = """Shows everything about one tool: code, schemas, recorded calls, what it was made from, which names lead
to it and why, which tasks proved it, with which model."""
SEARCH_HELP = "Finds tools as a plan does. --why shows which words matched which words of a tool, and in which field."
CHECK_HELP = """Inspects tools without calling them: contract, source, needs, packages; then loads each in the sandbox
and compares its schemas. Checks all tools unless you name some. If something is missing here (a grant, a secret), it is
reported, but does not count as a fault of the tool."""
TEST_HELP = """Repeats the successful recorded calls of tools in the sandbox and compares the outputs. Tests all tools
unless you name some. Calls that cannot be repeated unchanged, or whose results vary, count neither way."""
PROVE_HELP = """Makes calls for tools that have too few: from their examples and docstrings, otherwise from their
schemas; if none of these gives a result and a model is set, the role builder is asked once for some. Each call runs
twice in the sandbox, and is kept as a recorded call if both runs give the same result. Nobody has checked that this
result is right: it pins what the tool does, so that a replacement must do the same, and does not count as use. Tools
that reach hosts or may write are not called. Proves all tools unless you name some; Ctrl-C keeps what is done. Exit
code 1: a tool failed every call."""
DEDUPE_HELP = """Proposes tools that may do the same thing: similar in words and signature, then run on each other's
recorded calls and on generated ones. One different output ends a proposal; it takes at least five equal ones. Tools
with equal code are always proposed, unless their outputs differed. Nothing is merged: 'habilis library merge' does
that, through its own gate."""
WORTH_HELP = """Shows what tools are worth by their record, best first: calls, tasks that ended well, plans that were
shown a tool that nothing ever called, and the least number of tokens that writing it again would have cost. With
--replay, the tasks of a run that were shown a tool, or called it, run again without it, and both results are compared.
The tape answers until the two part; from there on a model is asked, at your cost. --offline stops there."""
MERGE_HELP = f"""Merges several tools into one, if it passes the recorded calls of all the others. Their names keep
working. {CHANGES}"""
PROMOTE_HELP = f"""Adds a tool to the library through the gate: a file, or one that a task made (RUN:TOOL, or
RUN:TASK:TOOL). {CHANGES}"""
REVIVE_HELP = f"""Puts a tool back into use, if it passes the gate again: a retired or quarantined one, or a merged one,
which becomes a separate tool again. {CHANGES}"""
ROLLBACK_HELP = f"""Returns the library to an older generation, by default the previous one. Nothing is lost: later
tools are kept out of use, and the current generation is kept. {CHANGES}"""


PRUNE_HELP = """Packs all but the newest generations into one file each. The current one stays, and so do those that an
unfinished task began with. Nothing is deleted: a rollback unpacks what it needs."""


def add_verbs(verbs: Any, common: Callable[[Any], None], count: Callable[[str], int]) -> None:
    """Add the verbs to the parser; `common` adds settings and folders, `count` reads a number."""

    def verb(name: str, help_: str, description: str = "") -> Any:
        found = verbs.add_parser(name, help=help_, description=description or None, epilog=CODES)
        common(found)
        found.add_argument("--json", action="store_true", help="one JSON document")
        return found

    _add_looking(verb, count)
    _add_proving(verb, count)
    _add_changing(verb, count)


def _add_looking(verb: Callable[..., Any], count: Callable[[str], int]) -> None:
    listing = verb("list", "list the tools of the library", LIST_HELP)
    listing.add_argument(
        "--sort", choices=("name", "calls", "success"), default="name", help="by name, most called, or worst first"
    )
    listing.add_argument("--limit", type=count, metavar="N", help="the first N (0: all)")
    listing.add_argument("--names", action="store_true", help="only names, one per line")
    show = verb("show", "show everything about one tool", SHOW_HELP)
    show.add_argument("tool", metavar="TOOL", help="name, old name, or NAME@VERSION")
    show.add_argument("--code", action="store_true", help="only the code")
    search = verb("search", "find tools by words", SEARCH_HELP)
    search.add_argument("query", metavar="QUERY", help="what the tool should do")
    search.add_argument("-k", type=count, default=10, metavar="N", help="at most N tools (default 10)")
    search.add_argument("--why", action="store_true", help="show why each was found")
    search.add_argument("--unused", action="store_true", help="include tools that are out of use")
    history = verb("history", "list the generations of the library, or what became of one tool")
    history.add_argument("tool", nargs="?", metavar="TOOL", help="history of one tool")
    history.add_argument("--limit", type=count, default=20, metavar="N", help="the newest N (0: all; default 20)")
    diff = verb("diff", "show what differs between two generations")
    diff.add_argument("before", nargs="?", type=count, metavar="G1", help="a generation (default: the previous one)")
    diff.add_argument("after", nargs="?", type=count, metavar="G2", help="another one (default: the current one)")
    diff.add_argument("--code", action="store_true", help="also show changed lines of code")
    verb("stats", "show the library in figures")
    doctor = verb("doctor", "check whether the library is whole, and how to fix it")
    doctor.add_argument(
        "--repair", action="store_true", help="restore what exists whole elsewhere: link, sources, files"
    )


def _add_proving(verb: Callable[..., Any], count: Callable[[str], int]) -> None:
    check = verb("check", "check whether tools are sound", CHECK_HELP)
    check.add_argument("tools", nargs="*", metavar="TOOL", help="tools to check (default: all)")
    check.add_argument("--no-load", action="store_true", help="only inspect, load nothing")
    test = verb("test", "check whether tools still give the same results", TEST_HELP)
    test.add_argument("tools", nargs="*", metavar="TOOL", help="tools to test (default: all)")
    prove = verb("prove", "make calls for untried tools, and keep those that hold", PROVE_HELP)
    prove.add_argument("tools", nargs="*", metavar="NAME", help="tools to prove (default: all)")
    worth = verb("worth", "show what each tool is worth, by its record", WORTH_HELP)
    worth.add_argument("tools", nargs="*", metavar="TOOL", help="only these tools (default: all)")
    worth.add_argument("--limit", type=count, metavar="N", help="the first N (0: all; at a terminal 50)")
    worth.add_argument("--replay", metavar="RUN", help="repeat the taped tasks of RUN without each named tool")
    worth.add_argument("--offline", action="store_true", help="with --replay: ask no model, only show where they part")
    dedupe = verb("dedupe", "propose tools that do the same thing", DEDUPE_HELP)
    dedupe.add_argument("tools", nargs="*", metavar="TOOL", help="only pairs with one of these")
    dedupe.add_argument("--limit", type=count, default=20, metavar="N", help="try the N likeliest pairs (default 20)")


def _add_changing(verb: Callable[..., Any], count: Callable[[str], int]) -> None:
    def change(name: str, help_: str, description: str = "", *, many: bool = True, why: bool = False) -> Any:
        found = verb(name, help_, description or f"{help_[0].upper()}{help_[1:]}. {CHANGES}")
        if many:
            found.add_argument("tools", nargs="+", metavar="TOOL", help="a tool of the library")
        if why:
            found.add_argument("--reason", required=True, metavar="TEXT", help="why; it stays with the tool")
        found.add_argument("--dry-run", action="store_true", help="only report what the change would do")
        return found

    merge = change("merge", "merge several tools that do the same thing into one", MERGE_HELP)
    merge.add_argument(
        "--into", default="", metavar="TOOL", help="the tool to keep (default: the one with the best record)"
    )
    merge.add_argument(
        "--policy",
        choices=("best", "model"),
        default="best",
        help="best: keep one of them; model: write a new one",
    )
    promote = change("promote", "add a tool to the library", PROMOTE_HELP, many=False)
    promote.add_argument("source", metavar="FILE_OR_RUN:TOOL", help="a .py file, or a tool that a task made")
    change("retire", "take tools out of use; a similar request brings them back", why=True)
    change("quarantine", "take tools out of use that must not come back by themselves", why=True)
    revive = change("revive", "put a tool back into use", REVIVE_HELP, many=False)
    revive.add_argument("tool", metavar="TOOL", help="name, or NAME@VERSION")
    for found in (promote, revive):
        found.add_argument("--as", dest="under", default="", metavar="NAME", help="another name for it")
    change("pin", "keep tools as they are: the curator neither merges nor retires them")
    change("unpin", "leave tools to the curator again")
    prune = verb("prune", "pack old generations, to save space", PRUNE_HELP)
    prune.add_argument("--keep", type=count, required=True, metavar="N", help="leave the newest N as they are")
    prune.add_argument("--dry-run", action="store_true", help="only report which would be packed")
    rollback = change("rollback", "return the library to an older generation", ROLLBACK_HELP, many=False)
    rollback.add_argument(
        "generation", nargs="?", type=count, metavar="G", help="a generation (default: the previous one)"
    )
