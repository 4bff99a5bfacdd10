"""The words of `habilis library VERB`. Standard library only: this is the path of `habilis --help`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CODES = "exit codes: 0 done · 1 refused, or something is wrong · 2 usage or configuration · 130 interrupted"
CHANGES = """The change is one new generation, prepared beside the library and put into force by one rename, with an
account of every tool; 'habilis library rollback' goes back. Runs under way keep the generation that they opened."""
LIST_HELP = "The tools of the library. At a terminal the first 50 unless --limit says otherwise; piped, all."
SHOW_HELP = """Everything about one tool: code, schemas, recorded calls, what it was made from, which names lead to
it and why, which tasks proved it, by which model."""
SEARCH_HELP = "Finds tools as a plan does. --why says which words met which words of a tool, and in which field."
CHECK_HELP = """Looks at tools without calling them: contract, what stands in the source, what they need, packages;
then loads each in the sandbox and compares its schemas. All tools unless some are named. What a tool lacks here (a
grant, a secret) is said, and is no fault of the tool."""
TEST_HELP = """Repeats the recorded good calls of tools in the sandbox and compares the outputs. All tools unless
some are named. Calls that cannot be run as they were, or never give the same twice, count neither way."""
PROVE_HELP = """Makes calls for tools that have too few: from the examples that they bring or show, else from their
schemas; where none of these gives a result, the model of role builder is asked once for some, if one is set. Each runs
twice in the sandbox, and is kept as a recorded call where both runs give the same. Nobody has said that such a result
is right: it pins what the tool does, for whatever is to replace it, and counts as no use. Tools that reach hosts or may
write are not called. All tools unless some are named; Ctrl-C keeps what is done. Exit code 1: a tool failed every
call."""
DEDUPE_HELP = """Proposes tools that may do the same: near in words, alike in signature, then run on each other's
recorded calls and on generated ones. One output that differs ends a proposal; at least five equal ones make it. Tools
of equal code are always proposed, unless one gave something else. Nothing is merged:
'habilis library merge' does that, through its own gate."""
WORTH_HELP = """Says what the record tells of tools, those that it tells most for first: calls, tasks that ended well,
plans that were shown a tool which nobody called, and the tokens that writing it again would have cost at least. With
--replay the tasks of a run that were shown a tool, or called it, run again without it, and stand beside what they came
to with it. The tape answers up to where the two part; from there a model is asked, and paid. --offline stops there."""
MERGE_HELP = f"""Merges several tools into one, if that one passes the recorded calls of all the others. Their
names keep working. {CHANGES}"""
PROMOTE_HELP = f"""Takes a tool into the library through the gate: a file, or one that a task made (RUN:TOOL, or
RUN:TASK:TOOL). {CHANGES}"""
REVIVE_HELP = f"""Puts a tool that is out of use back, if it passes the gate again: a retired or quarantined one, or
one that was merged, which becomes a tool of its own again. {CHANGES}"""
ROLLBACK_HELP = f"""Makes the library what it was in an older generation, by default the one before. Nothing is lost:
tools that came since are kept out of use, and the generation that is left stays. {CHANGES}"""


PRUNE_HELP = """Packs all but the newest generations into one file each, beside them. The one in force stays, and so
do those that an unfinished task began with. Nothing is deleted: a rollback unpacks what it needs."""


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
    listing = verb("list", "the tools of the library", LIST_HELP)
    listing.add_argument(
        "--sort", choices=("name", "calls", "success"), default="name", help="name, most called, worst"
    )
    listing.add_argument("--limit", type=count, metavar="N", help="the first N (0: all)")
    listing.add_argument("--names", action="store_true", help="only names, one on each line")
    show = verb("show", "all about one tool", SHOW_HELP)
    show.add_argument("tool", metavar="TOOL", help="name, old name, or NAME@VERSION")
    show.add_argument("--code", action="store_true", help="the code and nothing else")
    search = verb("search", "find tools by words", SEARCH_HELP)
    search.add_argument("query", metavar="QUERY", help="what the tool should do")
    search.add_argument("-k", type=count, default=10, metavar="N", help="at most N tools (default 10)")
    search.add_argument("--why", action="store_true", help="say why each was found")
    search.add_argument("--unused", action="store_true", help="also tools that are out of use")
    history = verb("history", "the generations of the library, or what became of one tool")
    history.add_argument("tool", nargs="?", metavar="TOOL", help="history of one tool")
    history.add_argument("--limit", type=count, default=20, metavar="N", help="the newest N (0: all; default 20)")
    diff = verb("diff", "say what differs between two generations")
    diff.add_argument("before", nargs="?", type=count, metavar="G1", help="a generation (default: the one before)")
    diff.add_argument("after", nargs="?", type=count, metavar="G2", help="another one (default: the one in force)")
    diff.add_argument("--code", action="store_true", help="also show the lines of code that changed")
    verb("stats", "the library in figures")
    doctor = verb("doctor", "check whether the library is whole, and say how to fix it")
    doctor.add_argument(
        "--repair", action="store_true", help="put back what lies elsewhere whole: link, sources, files"
    )


def _add_proving(verb: Callable[..., Any], count: Callable[[str], int]) -> None:
    check = verb("check", "check whether tools are sound", CHECK_HELP)
    check.add_argument("tools", nargs="*", metavar="TOOL", help="tools to check (default: all)")
    check.add_argument("--no-load", action="store_true", help="look only, load nothing")
    test = verb("test", "check whether tools still give the same results", TEST_HELP)
    test.add_argument("tools", nargs="*", metavar="TOOL", help="tools to test (default: all)")
    prove = verb("prove", "make calls for tools that nobody has called, and keep those that hold", PROVE_HELP)
    prove.add_argument("tools", nargs="*", metavar="NAME", help="tools to prove (default: all)")
    worth = verb("worth", "what each tool is worth, by its record", WORTH_HELP)
    worth.add_argument("tools", nargs="*", metavar="TOOL", help="only these tools (default: all)")
    worth.add_argument("--limit", type=count, metavar="N", help="the first N (0: all; at a terminal 50)")
    worth.add_argument("--replay", metavar="RUN", help="run the taped tasks of RUN again without each tool named")
    worth.add_argument("--offline", action="store_true", help="with --replay: ask no model, only say where they part")
    dedupe = verb("dedupe", "propose tools that do the same", DEDUPE_HELP)
    dedupe.add_argument("tools", nargs="*", metavar="TOOL", help="only pairs with one of these")
    dedupe.add_argument("--limit", type=count, default=20, metavar="N", help="try the N likeliest pairs (default 20)")


def _add_changing(verb: Callable[..., Any], count: Callable[[str], int]) -> None:
    def change(name: str, help_: str, description: str = "", *, many: bool = True, why: bool = False) -> Any:
        found = verb(name, help_, description or f"{help_[0].upper()}{help_[1:]}. {CHANGES}")
        if many:
            found.add_argument("tools", nargs="+", metavar="TOOL", help="a tool of the library")
        if why:
            found.add_argument("--reason", required=True, metavar="TEXT", help="why; it stays with the tool")
        found.add_argument("--dry-run", action="store_true", help="make the change aside and only say what it would do")
        return found

    merge = change("merge", "make one tool of several that do the same", MERGE_HELP)
    merge.add_argument(
        "--into", default="", metavar="TOOL", help="the tool to keep (default: the one with the best record)"
    )
    merge.add_argument(
        "--policy",
        choices=("best", "model"),
        default="best",
        help="best: keep one of them; model: have a new one written",
    )
    promote = change("promote", "take a tool into the library", PROMOTE_HELP, many=False)
    promote.add_argument("source", metavar="FILE_OR_RUN:TOOL", help="a .py file, or a tool that a task made")
    change("retire", "take tools out of use; a request close to one brings it back", why=True)
    change("quarantine", "take tools out of use that must not come back by themselves", why=True)
    revive = change("revive", "put a tool that is out of use back", REVIVE_HELP, many=False)
    revive.add_argument("tool", metavar="TOOL", help="name, or NAME@VERSION")
    for found in (promote, revive):
        found.add_argument("--as", dest="under", default="", metavar="NAME", help="another name for it")
    change("pin", "keep tools as they are: the curator neither merges nor retires them")
    change("unpin", "leave tools to the curator again")
    prune = verb("prune", "pack old generations, to save space", PRUNE_HELP)
    prune.add_argument("--keep", type=count, required=True, metavar="N", help="leave the newest N as they are")
    prune.add_argument("--dry-run", action="store_true", help="only say which would be packed")
    rollback = change("rollback", "make the library what it was", ROLLBACK_HELP, many=False)
    rollback.add_argument(
        "generation", nargs="?", type=count, metavar="G", help="a generation (default: the one before)"
    )
