"""`habilis chat`: question after question at the terminal, or line by line from a pipe, all of one conversation."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
from collections.abc import Callable, Coroutine
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.cli.absorbing import Absorber
from habilis.core.errors import HabilisError, UserError
from habilis.core.types import TaskResult
from habilis.rundir import UNFINISHED, TaskDir, ThreadDir
from habilis.terminal.asking import TerminalAsker
from habilis.terminal.chatlines import Leave, lines_of
from habilis.terminal.chatsink import ChatSink
from habilis.terminal.choices import check_file, chosen_settings, library_of, load
from habilis.terminal.granting import TerminalGranter, at_terminal
from habilis.terminal.interrupting import guarded
from habilis.terminal.outcome import EXIT_CODES
from habilis.terminal.wording import one_line, plain

if TYPE_CHECKING:
    from argparse import Namespace

    from habilis.config import Loaded, Settings

INTERRUPTED = 130
HELP = """  /file PATH    give a file or folder to the next and all later questions
  /files        the files of this conversation
  /tools        the tools of the library
    /continue     continue a question that was interrupted or failed
  /new [NAME]   begin another conversation
  /quit         end (also Ctrl-D); --thread continues this conversation
A line that ends in \\ continues on the next. Ctrl-C interrupts a question, twice ends."""


_COMMAND = re.compile(r"/[a-z]*(?= |$)")
"""A path in front of a question is none."""


def chat(args: Namespace, team_factory: Callable[..., Any] | None = None) -> int:
    """Hold a conversation until its end; returns the exit code. Raises `UserError` for bad usage."""
    from habilis.library import Library

    loaded = load(args)
    for name in args.file:
        check_file(name)
    if args.library:
        Library(Path(args.library))  # raises for what is none, before a folder is made
    name = args.thread if args.thread is not None else datetime.now().strftime("%Y%m%d-%H%M%S")
    return Chat(args, loaded, ThreadDir.named(Path(loaded.settings.runs_dir), name), team_factory).hold()


class Chat:
    """One conversation at work. Questions go to a `Team`, what is typed behind a slash is done here."""

    def __init__(
        self, args: Namespace, loaded: Loaded, thread: ThreadDir, team_factory: Callable[..., Any] | None
    ) -> None:
        self._args, self._loaded, self._thread = args, loaded, thread
        self._factory = team_factory
        self._settings = _streaming(loaded) if at_terminal() else loaded.settings
        self._sink = None if args.quiet else ChatSink.on(sys.stderr)
        self._alone = not at_terminal()
        self._asker = None if self._alone else TerminalAsker(self._sink)
        self._files: list[str] = list(args.file)
        self._waiting: TaskDir | None = None
        self._code = 0
        self._seen: set[Path] = set()
        self._absorber = Absorber(loaded.settings)

    def hold(self) -> int:
        """Read lines until the end."""
        loading = threading.Thread(target=import_module, args=("habilis.agents.team",), daemon=True)
        if not self._alone:  # the first question need not wait for what can be loaded while it is typed
            loading.start()
        self._greet()
        try:
            for line in lines_of(self._prompt, person=not self._alone):
                if not line.strip():
                    continue
                if _COMMAND.match(line):
                    self._command(line)
                else:
                    self._ask(line)
                self._news()
        except Leave as end:
            self._code = self._code or end.code
        finally:
            if self._sink:
                self._sink.close()
            self._absorber.close(self._say)
            self._news()
            if loading.ident is not None:  # an interpreter that leaves in the middle of an import may crash
                loading.join()
        if not self._alone and self._thread.exists():
            self._say(f"habilis chat --thread {self._thread.name} continues this conversation")
        return self._code

    # --- questions

    def _ask(self, text: str) -> None:
        """One turn: a question, or the answer to the one that is open."""
        waiting, self._waiting = self._waiting, None
        try:
            if waiting is not None:
                more = self._trusted()
                if not self._run(lambda team: team.resume(self._thread.path, waiting.id, answer=text, **more)):
                    self._waiting = waiting
                return
            self._thread.begin(trust=self._args.trust or self._thread.path in self._seen)
            self._seen.add(self._thread.path)
            self._thread.run.write_run(chosen_settings=chosen_settings(self._loaded))
            if self._run(lambda team: team.run(text, files=self._files, thread=self._thread.name, **self._trusted())):
                self._files = []
        except HabilisError as error:
            self._waiting = waiting
            self._thread.discard_if_unused()
            self._fail(error)

    def _run(self, start: Callable[[Any], Coroutine[Any, Any, TaskResult]]) -> bool:
        """Run one turn to its result, and show that; false when it did not begin.

        Ctrl-C once ends the turn, twice the conversation.
        """
        try:
            team = self._team()
        except KeyboardInterrupt:
            self._say("stopped before it began")
            return False

        def ask_for_end() -> None:
            self._say("finishing this step; Ctrl-C again ends the conversation")
            if self._asker:
                self._asker.give_up()
            team.interrupt()

        try:
            result = asyncio.run(guarded(start(team), ask_for_end, team.wind_down))
        except (asyncio.CancelledError, KeyboardInterrupt):
            raise Leave(INTERRUPTED) from None
        finally:
            if self._sink:
                self._sink.pause()
        self._show(result)
        return True

    def _trusted(self) -> dict[str, bool]:
        """Beside a conversation that bears no mark (no key can be kept), that it was looked at or begun here."""
        new = self._args.trust or self._thread.path in self._seen
        return {"trust": True} if new and not self._thread.run.is_ours() else {}

    def _team(self) -> Any:
        if self._factory is None:
            from habilis.agents.team import Team

            self._factory = Team
        granter = TerminalGranter(self._asker) if self._asker else None
        sinks = [self._sink] if self._sink else []
        return self._factory(self._settings, library=self._library(), sinks=sinks, asker=self._asker, granter=granter)

    def _library(self) -> Path:
        """The library that the next turn works with: as said, else that of the last turn, else that of the runs."""
        turns = self._thread.turns()
        named = self._args.library or (library_of(turns[-1]) if turns else None)
        return Path(named or Path(self._settings.runs_dir) / "library").absolute()

    def _show(self, result: TaskResult) -> None:
        turn = self._thread.run.task(result.task_id)
        self._waiting = turn if result.status == "waiting" else None
        if result.status not in ("answered", "waiting"):
            self._code = self._code or (EXIT_CODES[result.status] if self._alone else 0)
        if self._args.json:
            print(result.model_dump_json(), flush=True)
        elif result.status == "answered" and (self._alone or self._sink is None):
            print(plain(result.final_answer) if sys.stdout.isatty() else result.final_answer, flush=True)
        if self._sink:
            self._sink.outcome(result, answer=not self._alone and not self._args.json)
        elif result.status != "answered":
            why = result.question_asked or result.missing or result.error or result.status
            print(f"habilis: {plain(one_line(why))}", file=sys.stderr)
        if result.status == "answered" and self._settings.evolution.absorb and not self._args.no_absorb:
            self._absorber.take(result, self._library())

    def _fail(self, error: HabilisError) -> None:
        """What stands in the way of a question ends that question, not the conversation."""
        from habilis.core.errors import ModelMisconfigured, ModelUnreachable, PlaceError

        print(f"habilis: {plain(' '.join(str(error).split()))}", file=sys.stderr)
        if self._alone:
            unreachable = isinstance(error, ModelUnreachable) and not isinstance(error, ModelMisconfigured)
            self._code = self._code or (3 if unreachable else 5 if isinstance(error, PlaceError) else 2)

    # --- commands

    def _command(self, line: str) -> None:
        word, _, rest = line[1:].strip().partition(" ")
        doing = getattr(self, f"_do_{word}", None)
        if doing is None:
            self._tell(f"there is no /{word}; /help lists what there is")
            return
        try:
            doing(rest.strip())
        except HabilisError as error:
            self._fail(error)

    def _do_help(self, _: str) -> None:
        self._tell(HELP)

    def _do_quit(self, _: str) -> None:
        raise Leave(0)

    _do_exit = _do_quit

    def _do_file(self, name: str) -> None:
        if not name:
            raise UserError("/file PATH: give the path of a file or folder")
        name = name.strip("\"'")
        check_file(str(Path(name).expanduser()))
        self._files.append(str(Path(name).expanduser()))
        self._tell(f"{name} goes with the next question")

    def _do_files(self, _: str) -> None:
        from habilis.agents.turns import read_turn

        records = [record for turn in self._thread.turns() if (record := read_turn(turn))]
        known = {file.path: file.named for record in records for file in record.files if file.shown}
        rows = [f"  {name}  ({path})" for path, name in known.items()]
        rows += [f"  {name}  (goes with the next question)" for name in self._files]
        self._tell("\n".join(rows) or "no files yet; name one in a question, or with /file PATH")

    def _do_tools(self, _: str) -> None:
        from habilis.library import Library

        path = self._library()
        tools = Library(path).tools() if path.exists() else []
        rows = [f"  {tool.name}: {one_line(tool.card.description, 90)}" for tool in tools[:40]]
        rows += [f"  … and {len(tools) - 40} more in {path}"] if len(tools) > 40 else []
        self._tell("\n".join(rows) or f"no tools in {path} yet")

    def _do_new(self, name: str) -> None:
        name = name or datetime.now().strftime("%Y%m%d-%H%M%S")
        thread = ThreadDir.named(Path(self._settings.runs_dir), name)
        if thread.path == self._thread.path:
            raise UserError(f"this is {name} already")
        self._thread, self._waiting = thread, None
        self._tell(f"conversation {name}")
        self._see_where_it_stands()

    def _do_continue(self, _: str) -> None:
        turns = self._thread.turns()
        if not turns or turns[-1].read_state() not in UNFINISHED | {"failed"}:
            raise UserError("there is nothing to continue: the last question has come to its end")
        self._waiting = None
        self._run(lambda team: team.resume(self._thread.path, turns[-1].id, **self._trusted()))

    # --- what is said

    def _greet(self) -> None:
        if self._sink and not self._alone:
            count = len(self._thread.turns()) if self._thread.exists() else 0
            begun = f", {count} question{'' if count == 1 else 's'} so far" if count else ""
            text = f"conversation {self._thread.name}{begun}. /help says what can be typed, Ctrl-D ends."
            self._sink.note(text, "chat")
        self._see_where_it_stands()

    def _see_where_it_stands(self) -> None:
        """An open question, or one that was broken off, when a conversation is taken up again."""
        turns = self._thread.turns() if self._thread.exists() else []
        state = turns[-1].read_state() if turns else ""
        if state == "waiting" and (result := turns[-1].load_result()):
            self._waiting = turns[-1]
            self._tell(f"the last question waits for you: {result.question_asked}")
        elif state in UNFINISHED and (stored := turns[-1].load_task()):
            asked = one_line(stored[0].question)
            self._tell(f"the last question has no answer yet; /continue continues it: {asked}")

    def _prompt(self) -> str:
        mark = "›" if (sys.stdout.encoding or "").lower().startswith("utf") else ">"
        return f"answer {mark} " if self._waiting is not None else f"{mark} "

    def _news(self) -> None:
        for text in self._absorber.news():
            self._say(text)

    def _say(self, text: str) -> None:
        if self._sink:
            self._sink.note(text)

    def _tell(self, text: str) -> None:
        """What a command gives; to people, whatever is quiet."""
        print(plain(text), file=sys.stderr)


def _streaming(loaded: Loaded) -> Settings:
    """The settings, with replies shown as they come unless somebody set that."""
    settings = loaded.settings
    if "models.basic.stream" in loaded.origins:
        return settings
    basic = settings.models.basic.model_copy(update={"stream": True})
    return settings.model_copy(update={"models": settings.models.model_copy(update={"basic": basic})})
