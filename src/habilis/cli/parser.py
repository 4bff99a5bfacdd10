"""The words of the command line. Standard library only: this is the path of `habilis --help`."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NoReturn

from habilis.cli import exchange, store, view
from habilis.core.errors import UserError
from habilis.terminal.wording import count_of, seconds_in

EXIT_CODES = """exit codes: 0 answered, or waiting for you · 1 gave up, timed out, crashed · 2 usage or configuration
· 3 model unreachable · 4 budget used up · 5 this machine failed · 130 interrupted"""
CHAT_HELP = """Holds a conversation: each line is a question, which may refer to earlier ones. On a terminal, /help
lists what else you can type, Ctrl-C interrupts a question and Ctrl-D ends the conversation. Without a terminal,
standard input is read line by line; answers go to standard output, one per line unless an answer has several, progress
to standard error."""
CHAT_EXIT_CODES = """exit codes: 0 ended by you; if piped: every question was answered · the code of habilis run for the
first question not answered · 2 usage or configuration · 130 interrupted"""
EVOLVE_HELP = """Works through a data set step by step: the tasks of a batch run in parallel, then their tools go into
the run's own library, from which the next step starts. EGL (evolutionary generality loss), the number of tools written
per tool call so far, should fall."""
EVOLVE_EXIT_CODES = """exit codes: 0 every step was absorbed, however single tasks ended · 1 a step failed
· 2 usage or configuration · 3 model unreachable · 4 budget used up · 5 this machine failed · 130 interrupted"""
SCORERS = ("auto", "exact", "text", "numeric", "list", "set", "judge")
MERGE_POLICIES, RUNNERS = ("best", "model", "naive"), ("local", "process", "ray")
SCORE_HELP = """Compares each answer with the known one and writes scores.jsonl into the run. Rules decide if they can;
the model of role eval judges if the benchmark requires a judge, and no ruling is paid for twice."""
SCORE_EXIT_CODES = "exit codes: 0 scored · 2 usage or unreadable data · 3 no judge could be asked · 130 interrupted"
CALL_HELP = "One tool with several --args, several tools with one, or one each: all run in order in a temporary folder."
COMPLETION_HELP = """bash: put 'source <(habilis completion bash)' into ~/.bashrc; zsh: the same with zsh into ~/.zshrc,
after compinit; fish: habilis completion fish > ~/.config/fish/completions/habilis.fish"""
CALL_EXIT_CODES = "exit codes: 0 every call succeeded · 1 one failed · 2 usage or configuration · 130 interrupted"
TRUST = "continue a run that you did not make, and treat it as your own from now on"


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line with the nearest word that it knows."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if choice:
            known = [word.strip(" '") for word in choice[2].split(",")]
            option = re.match(r"argument (--[\w-]+)", message)
            wrong = f"{option[1]} {choice[1]}" if option else f"unknown command {choice[1]}"
            message = f"{wrong}; {_nearest(choice[1], known) or 'known: ' + ', '.join(known)}"
        raise UserError(f"{message} (see '{self.prog} --help')")

    def commands(self) -> dict[str, Parser]:
        """The parsers of its commands, by name."""
        actions = (action for action in self._actions if isinstance(action, argparse._SubParsersAction))
        return next((dict(action.choices) for action in actions), {})

    def known_options(self) -> list[str]:
        found = list(self._option_string_actions)
        for parser in self.commands().values():
            found += parser.known_options()
        return found


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The parsed command. Raises `UserError` for bad usage, SystemExit after `--help` and `--version`."""
    for word in words:
        if re.search("[\ud800-\udfff]", word):
            shown = word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            raise UserError(f"the argument {shown[:60]!r} is not valid UTF-8")
    parser = build()
    args, extra = parser.parse_known_args(list(words))
    vars(args).update({name: [*one] for name, one in vars(args).items() if isinstance(one, list)})  # not the parser's
    if extra and getattr(args, "verb", None) == "call":  # call NAME --args JSON NAME --args JSON
        args.tools += [word for word in extra if not word.startswith("-")]
        extra = [word for word in extra if word.startswith("-")]
    if extra:
        raise UserError(_unknown(extra, args, parser))
    if args.command is None:
        parser.print_help()
        raise SystemExit(0)
    return args


def _unknown(extra: Sequence[str], args: argparse.Namespace, parser: Parser) -> str:
    first = next((word for word in extra if word.startswith("-") and len(word) > 1), None)
    if first is None:
        hint = "; put the question in quotes" if args.command == "run" else ""
        return f"unexpected argument {extra[0]!r}{hint}"
    if first.split("=")[0] in parser.known_options():
        words = " ".join(filter(None, ["habilis", args.command, getattr(args, "verb", None)]))
        return f"{words} has no option {first.split('=')[0]}; see --help"
    own = parser.commands()[args.command].known_options() if args.command else []
    word, dashes = first.split("=")[0], "--"
    near = _nearest(word, [o for o in own if o.startswith(dashes)])
    near = near or _nearest(word, [o for o in parser.known_options() if o.startswith(dashes)])
    dashed = "if it is the question, write -- before it" if args.command == "run" else "see --help"
    return f"unknown option {first}; {near or dashed}"


def _nearest(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, 1, 0.6)
    return f"did you mean {near[0]}?" if near else ""


@cache
def build() -> Parser:
    """The whole parser, made once: it takes as long as some commands."""
    from habilis import __version__

    parser = Parser(
        prog="habilis",
        description="Answers questions with tools that it writes, proves and keeps.",
        epilog=EXIT_CODES,
    )
    parser.add_argument("--version", action="version", version=f"habilis {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_run(commands)
    _add_chat(commands)
    _add_evolve(commands)
    _add_runs(commands)
    _add_threads(commands)
    _add_score(commands)
    _add_library(commands)
    _add_tools(commands)
    exchange.add_serve(commands, _settings_and_folders)
    view.add_view(commands, _settings_and_folders)
    _add_config(commands)
    store.add_store(commands, _settings_options)
    completion = commands.add_parser("completion", help="print completion for a shell", description=COMPLETION_HELP)
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), help="bash, zsh or fish")
    completion.add_argument("--debug", action="store_true", help=argparse.SUPPRESS)
    doctor = commands.add_parser("doctor", help="check what works on this machine, and how to fix the rest")
    _settings_and_folders(doctor)
    doctor.add_argument("--model", "--probe-model", action="store_true", help="test each model's connection: it costs")
    doctor.add_argument("--probe-judges", action="store_true", help="test models as judges on planted cases: it costs")
    doctor.add_argument("--json", action="store_true", help="one JSON document")
    return parser


def _add_run(commands: Any) -> None:
    run = commands.add_parser("run", help="answer one question", epilog=EXIT_CODES)
    run.add_argument("question", nargs="?", metavar="QUESTION", help="the question; - reads standard input")
    run.add_argument("--file", action="append", default=[], metavar="F", help="file or folder that tools may read")
    run.add_argument("--knowledge", action="append", metavar="DIR", help="folder of documents that the task may search")
    run.add_argument(
        "--decide", action="store_true", help="take one step: print the next calls as JSON, for another program to run"
    )
    run.add_argument(
        "--tools",
        metavar="NAMES",
        help="sources and tool sets from the settings to use, comma-separated; with --decide also a file of "
        "function schemas (JSON), instead of all other tools",
    )
    run.add_argument("--results", metavar="FILE", help="with --decide: results by call id (JSON); - reads stdin")
    run.add_argument("--schema", metavar="FILE|JSON", help="JSON schema for the answer, which is then JSON")
    _settings_options(run)
    _folder_options(run)
    told = "ask the next question in conversation NAME; with --resume: continue its last one"
    run.add_argument("--thread", metavar="NAME", help=told)
    run.add_argument("--run-dir", metavar="D", help="folder for this run")
    run.add_argument("--task-id", metavar="ID", help="name of the task in the run")
    told = "continue the newest unfinished task, or the one in --run-dir"
    run.add_argument("--resume", action="store_true", help=told)
    run.add_argument("--replay", metavar="RUN", help="repeat RUN from its record, without a model")
    _keeping_options(run)
    _budget_options(run, "the task")
    _output_options(run)


def _add_chat(commands: Any) -> None:
    chat = commands.add_parser("chat", help="hold a conversation", description=CHAT_HELP, epilog=CHAT_EXIT_CODES)
    told = "name of the conversation to continue or to start (default: a new one)"
    chat.add_argument("--thread", metavar="NAME", help=told)
    chat.add_argument("--file", action="append", default=[], metavar="F", help="file or folder that tools may read")
    _settings_options(chat)
    _folder_options(chat)
    _keeping_options(chat)
    _budget_options(chat, "one question")
    _output_options(chat, "each result as one line of JSON", "the answers")


def _add_threads(commands: Any) -> None:
    threads = commands.add_parser("threads", help="list, show and remove conversations")
    verbs = threads.add_subparsers(dest="verb", metavar="VERB", required=True)
    listing = verbs.add_parser("list", help="list conversations, last used first")
    show = verbs.add_parser("show", help="show the questions, tool calls and answers of one")
    remove = verbs.add_parser("remove", help="remove conversations and everything in them")
    show.add_argument("thread", metavar="NAME", help="name of the conversation")
    remove.add_argument("threads", nargs="+", metavar="NAME", help="name of the conversation")
    remove.add_argument("--yes", action="store_true", help="do not ask")
    for verb in (listing, show, remove):
        _settings_options(verb)
        _folder_options(verb, library=False)
    for verb in (listing, show):
        verb.add_argument("--json", action="store_true", help="one JSON document")


def _add_evolve(commands: Any) -> None:
    evolve = commands.add_parser(
        "evolve", help="train a library on a data set", description=EVOLVE_HELP, epilog=EVOLVE_EXIT_CODES
    )
    _dataset_options(evolve)
    evolve.add_argument("--run-name", metavar="N", help="name of the run (default: the time)")
    evolve.add_argument("--start", type=count_of, default=0, metavar="K", help="skip the first K rows")
    evolve.add_argument("--batch-size", type=count_of, metavar="B", help="tasks of one step (default 16)")
    evolve.add_argument("--train-steps", type=count_of, metavar="S", help="steps of the run (default: all rows)")
    evolve.add_argument("--merge-policy", choices=MERGE_POLICIES, help="how tools that do the same thing are merged")
    limit = "seconds that one task may take (also 5m, 2h; default 90m)"
    evolve.add_argument("--timeout", dest="task_timeout_s", type=seconds_in("--timeout"), metavar="S", help=limit)
    evolve.add_argument("--concurrency", type=count_of, metavar="C", help="tasks that run at once (default 8)")
    evolve.add_argument(
        "--runner", choices=RUNNERS, help="local: many tasks in one process; process, ray: a process for each task"
    )
    evolve.add_argument("--ray-address", metavar="A", help="Ray cluster, host:port (default: one on this machine)")
    _budget_options(evolve, "the run")
    evolve.add_argument("--stop-file", metavar="F", help="end after the current step once this file exists")
    evolve.add_argument("--library", metavar="DIR", help="library to start from; it is copied, never changed")
    evolve.add_argument("--feed", metavar="DIR", help="library to work on (with a store: its name); runs may share it")
    evolve.add_argument("--freeze", action="store_true", help="make no tools; use those of --library")
    evolve.add_argument("--resume", action="store_true", help="continue the run --run-name, or the newest stopped one")
    evolve.add_argument("--again", metavar="STATUS,…", help="with --resume: run tasks with these statuses again")
    evolve.add_argument("--trust", action="store_true", help=TRUST)
    evolve.add_argument("--plot", metavar="PNG", help="draw EGL, library size and accuracy (extra: plot)")
    _settings_options(evolve)
    _folder_options(evolve, library=False)
    _output_options(evolve, "the outcome as one JSON document", "the table")


def _add_runs(commands: Any) -> None:
    runs = commands.add_parser("runs", help="list, show, count, resume, check and clean runs")
    verbs = runs.add_subparsers(dest="verb", metavar="VERB", required=True)
    listing = verbs.add_parser("list", help="list runs, newest first")
    show = verbs.add_parser("show", help="show what a run did")
    stats = verbs.add_parser("stats", help="count rounds, durations, failed calls, tokens and successes over runs")
    resume = verbs.add_parser("resume", help="continue an unfinished task, or answer its question")
    check = verbs.add_parser("check", help="check whether a run is whole; 0 if it is, or was repaired, 1 if not")
    clean = verbs.add_parser("clean", help="remove finished runs")
    for verb in (listing, show, stats, resume, check, clean):
        _settings_options(verb)
        _folder_options(verb, library=verb is resume)
    for verb in (listing, show, stats, check, clean):
        verb.add_argument("--json", action="store_true", help="one JSON document")
    listing.add_argument("--limit", type=count_of, default=50, metavar="N", help="show the N newest (default 50)")
    listing.add_argument("--query", metavar="TEXT", help="only runs with these words in name, question or answer")
    listing.add_argument("--status", metavar="STATUS,…", help="only runs with these statuses: answered, stopped, …")
    for verb, default in ((show, "newest"), (check, "newest"), (resume, "newest unfinished")):
        verb.add_argument("run", nargs="?", metavar="RUN", help=f"name, start of a name, or folder; default: {default}")
    stats.add_argument("runs", nargs="*", metavar="RUN", help="name, start of a name, or folder; default: all runs")
    show.add_argument("--task-id", metavar="ID", help="one task of the run")
    resume.add_argument("--task-id", metavar="ID", help="which task of the run")
    resume.add_argument("--again", metavar="STATUS,…", help="training run: run tasks with these statuses again")
    _keeping_options(resume)
    resume.add_argument("--answer", metavar="TEXT", help="answer to the task's question; - reads stdin")
    _output_options(resume)
    check.add_argument("--repair", action="store_true", help="repair what can be repaired; copies stay in damaged/")
    clean.add_argument("--older-than", metavar="AGE", help="remove runs older than this, for example 30d")
    clean.add_argument("--max-size", metavar="SIZE", help="remove the oldest until the rest fits, for example 2GB")
    clean.add_argument("--keep", type=count_of, metavar="N", help="keep the N newest; alone: remove all others")
    clean.add_argument("--dry-run", action="store_true", help="only report what would be removed")
    clean.add_argument("--force", action="store_true", help="also remove unfinished tasks (never running ones)")
    clean.add_argument("--yes", action="store_true", help="do not ask")


def _add_score(commands: Any) -> None:
    told = {"description": SCORE_HELP, "epilog": SCORE_EXIT_CODES}
    score = commands.add_parser("score", help="score the answers of a run", **told)
    score.add_argument("run", metavar="RUN", help="name, start of a name, or folder of the run")
    _dataset_options(score, " (default: the run's own)")
    score.add_argument("--scorer", choices=SCORERS, default="auto", help=", ".join(SCORERS) + " (default: auto)")
    judge = "ask a model if the benchmark requires a judge"
    score.add_argument("--judge", action=argparse.BooleanOptionalAction, default=True, help=judge)
    score.add_argument("--skip-broken", action="store_true", help="skip rows of the data set that cannot be read")
    score.add_argument("--json", action="store_true", help="one JSON document with every score")
    _settings_options(score)
    _folder_options(score, library=False)


def _add_library(commands: Any) -> None:
    from habilis.cli.curating.options import add_verbs

    library = commands.add_parser("library", help="inspect, test, change and call the tools of a library")
    verbs = library.add_subparsers(dest="verb", metavar="VERB", required=True)
    add_verbs(verbs, _settings_and_folders, count_of)
    call = verbs.add_parser("call", help="run tools as an agent would", description=CALL_HELP, epilog=CALL_EXIT_CODES)
    call.add_argument("tools", nargs="+", metavar="NAME_OR_FILE", help="name of a tool in the library, or a .py file")
    call.add_argument(
        "--args",
        action="append",
        default=[],
        metavar="JSON",
        help="arguments of one call as a JSON object (repeatable); - reads standard input, @FILE a file, "
        "with one object, or one per line",
    )
    call.add_argument("--file", action="append", default=[], metavar="F", help="file or folder that tools may read")
    call.add_argument(
        "--grant",
        action="append",
        default=[],
        metavar="K=V,…",
        help="grant tools what they ask for: network=HOST,… env=NAME,… read=PATH,… subprocess timeout=S memory=MIB "
        "(repeatable)",
    )
    call.add_argument("--timeout", metavar="S", help="seconds per call (default: from the tool or the setting)")
    record = "keep successful calls as recorded calls: you confirm that they are right"
    call.add_argument("--record", action="store_true", help=record)
    call.add_argument("--keep", metavar="DIR", help="new folder for the files that the tools make")
    call.add_argument("--json", action="store_true", help="one JSON document")
    _settings_options(call)
    _folder_options(call)
    exchange.add_verbs(verbs, _settings_and_folders)
    env = verbs.add_parser("env", help="list and prune the packages installed for tools")
    env_verbs = env.add_subparsers(dest="env_verb", metavar="VERB", required=True)
    listing = env_verbs.add_parser("list", help="list environments, last used first")
    prune = env_verbs.add_parser("prune", help="remove unused environments, and leftovers of killed builds")
    prune.add_argument("--older-than", metavar="AGE", help="remove those not used for this long, for example 30d")
    prune.add_argument("--max-size", metavar="SIZE", help="remove the longest unused until the rest fits, like 2GB")
    prune.add_argument("--dry-run", action="store_true", help="only report what would be removed")
    prune.add_argument("--yes", action="store_true", help="do not ask")
    for verb in (listing, prune):
        verb.add_argument("--json", action="store_true", help="one JSON document")
        verb.add_argument("--debug", action="store_true", help=argparse.SUPPRESS)


def _add_tools(commands: Any) -> None:
    tools = commands.add_parser("tools", help="list and check tools of other programs (sources of the settings)")
    verbs = tools.add_subparsers(dest="verb", metavar="VERB", required=True)
    listing = verbs.add_parser("list", help="open the sources and list their tools")
    check = verbs.add_parser(
        "check",
        help="check whether each source works, and what it lacks",
        epilog="exit codes: 0 every source works · 1 one does not · 2 usage or configuration",
    )
    for verb in (listing, check):
        verb.add_argument("names", nargs="*", metavar="NAME", help="sources and tool sets (default: those in use)")
        verb.add_argument("--json", action="store_true", help="one JSON document")
        _settings_options(verb)


def _add_config(commands: Any) -> None:
    config = commands.add_parser("config", help="show settings, or write a file of them")
    verbs = config.add_subparsers(dest="verb", metavar="VERB", required=True)
    show = verbs.add_parser("show", help="show each value and where it came from")
    _settings_options(show)
    show.add_argument("--all", action="store_true", help="also show roles that set nothing of their own")
    show.add_argument("--json", action="store_true", help="one JSON document, always with all values")
    init = verbs.add_parser("init", help="write a commented file of all settings")
    init.add_argument("path", nargs="?", default="habilis.yaml", metavar="FILE", help="default: habilis.yaml")
    init.add_argument("--force", action="store_true", help="overwrite the file")
    init.add_argument("--debug", action="store_true", help=argparse.SUPPRESS)


def _settings_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("settings")
    group.add_argument(
        "-c", "--config", action="append", default=[], metavar="CONFIG", help="settings file (repeatable)"
    )
    group.add_argument("--set", action="append", default=[], metavar="K=V", help="one setting (repeatable)")
    group.add_argument("--debug", action="store_true", help="log and tracebacks on standard error")


def _folder_options(parser: argparse.ArgumentParser, *, library: bool = True) -> None:
    parser.add_argument("--output", metavar="DIR", help="folder for runs (default: runs)")
    if library:
        parser.add_argument("--library", metavar="DIR", help="library of tools (default: library in the runs' folder)")


def _settings_and_folders(parser: argparse.ArgumentParser) -> None:
    _settings_options(parser)
    _folder_options(parser)


def _dataset_options(parser: argparse.ArgumentParser, default: str = "") -> None:
    parser.add_argument("--dataset", metavar="D", help=f"file, folder, or hub:OWNER/NAME{default}")
    parser.add_argument("--format", metavar="F", help="format, or name of the benchmark (default: detected)")
    told = "columns of id, question, answer, … (a.b: nested, -: none)"
    parser.add_argument("--fields", action="append", default=[], metavar="K=COL,…", help=told)


def _keeping_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-absorb", action="store_true", help="keep the task's tools out of the library")
    parser.add_argument("--trust", action="store_true", help=TRUST)


def _budget_options(parser: argparse.ArgumentParser, whose: str) -> None:
    seconds = f"seconds that {whose} may take (also 5m, 2h)"
    parser.add_argument("--max-tokens", type=count_of, metavar="N", help=f"tokens that {whose} may use")
    parser.add_argument("--max-cost", metavar="USD", help=f"US dollars that {whose} may cost")
    parser.add_argument("--max-time", dest="max_time_s", type=seconds_in("--max-time"), metavar="S", help=seconds)


def _output_options(
    parser: argparse.ArgumentParser, document: str = "the result as one JSON document", alone: str = "the answer"
) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help=f"{document} on standard output")
    group.add_argument("--quiet", action="store_true", help=f"print only {alone}")
