"""The tape of a task: every finished model call, tool call and user's answer, so that nothing is done or paid twice.

One append-only JSONL file. A model call is keyed by role, digest of the request and how often that request came;
the digest leaves out the model's name and the mode in which a structured answer was asked for, and is one of the
masked request: a secret counts by its name, so that a replay needs none. Lines, by `kind`:

    tape      {format}                                               the first line
    message   {digest, message}                                      each request message once
    reply     {role, key, n, purpose, mode, model, messages, usage, reply}         a finished model call
    refusal   {role, key, n, purpose, mode, model, messages, usage, error, final}  … or one that will not be answered
    started   {key, tool, effects}                                   a tool may run from now on
    withdrawn {key}                                                  … and did not start
    ended     {key, outcome}                                         a tool call has ended, started or not
    answered  {key, text}                                            a person answered
    noted     {key, text}                                            a choice that later requests depend on

Each line is with the kernel before anything acts on it. A torn last line, left by a kill, counts as never written.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from habilis.core.digests import digest
from habilis.core.errors import ReplayMismatch, UserError
from habilis.core.masker import MASKER
from habilis.core.types import FORMAT, CallOutcome, Effects, Purpose, Role, Usage
from habilis.models.entries import Entry
from habilis.models.wire import Cleaned, Plain, contrast
from habilis.rundir.ahead import RoomAhead
from habilis.rundir.kept import kept_at
from habilis.rundir.plain import lines_of, open_plain, plain_json
from habilis.rundir.seals import sealed, unsealed

LONGEST_REPLY = 1 << 20
"""Bytes that a reply and its request are sure to take on the tape before they are paid for: more than almost any."""
AGENTS = "tools"
"""Under which name the cost of tools that ask models stands beside those of the roles."""
Key = tuple[str, str]  # role and request digest


@dataclass(frozen=True)
class ModelRequest:
    """One logical request to a model: who is asked, what for (`label`: more closely), what is sent (`models.wire`)."""

    role: Role
    purpose: Purpose
    messages: tuple[Plain, ...]
    tools: tuple[Plain, ...] = ()
    schema: Plain | None = None
    label: str = ""

    @property
    def told(self) -> str:
        return self.label or self.purpose


@dataclass(frozen=True)
class Slot:
    """The place of one request on the tape: the `n`-th of its key. `entry` is what was recorded there."""

    request: ModelRequest
    key: str
    n: int
    digests: tuple[str, ...]
    entry: Entry | None


class Tape:
    """One task's tape. Safe for concurrent callers of one process; no two processes may write one file."""

    def __init__(self, path: Path, *, replay_only: bool = False) -> None:
        """Opens `path`, which need not exist. `replay_only`: nothing is written, a request not on it is an error.

        Raises `UserError` for a file of a newer format or one that is damaged before its end.
        """
        self.path = path
        self.replay_only = replay_only
        self._lock = threading.Lock()
        self._file: int | None = None
        self._syncer = ThreadPoolExecutor(1, "tape")
        self._sync_due = False
        self._messages: dict[str, Plain] = {}
        self._clean = Cleaned()
        self._entries: list[Entry] = []
        self._by_place: dict[tuple[Key, int], int] = {}
        self._counts: dict[Key, int] = {}
        self._taken: set[int] = set()
        self._position = 0
        self._asked = 0
        self._calls: dict[str, CallOutcome | Literal["started"]] = {}
        self._answers: dict[str, str] = {}
        self._notes: dict[str, str] = {}
        self._paid: dict[str, Usage] = {}
        self._ahead = RoomAhead(LONGEST_REPLY)
        self._whole_bytes: int | None = self._load()
        for entry in () if replay_only else self._entries:
            self._paid[entry.role] = self._paid.get(entry.role, Usage()) + entry.usage
        for outcome in () if replay_only else self._calls.values():
            if isinstance(outcome, CallOutcome) and outcome.usage is not None:
                self._paid[AGENTS] = self._paid.get(AGENTS, Usage()) + outcome.usage
        if replay_only and not self._entries:
            raise UserError(f"{path} holds no recorded model call to replay")

    # --- models

    def slot(self, request: ModelRequest) -> Slot:
        """Claim the next place of `request`. In a replay, raises `ReplayMismatch` if nothing was recorded there."""
        messages, digests = self._clean.messages(request.messages)
        request = replace(request, messages=messages)
        key = digest([digests, MASKER.value(request.tools), request.schema])
        with self._lock:
            place: Key = (request.role, key)
            n = self._counts.get(place, 0) + 1
            index = self._by_place.get((place, n))
            self._asked += 1
            if index is None and self.replay_only:
                raise ReplayMismatch(self._difference(request, digests))
            self._counts[place] = n
            entry = None if index is None else self._entries[index]
            if entry is not None and entry.final and not self.replay_only:
                entry = None  # what stood in the way then may be mended now: ask again
            if entry is not None and index is not None:
                self._taken.add(index)
                self._position = max(self._position, index + 1)
            return Slot(request, key, n, digests, entry)

    def record_reply(self, slot: Slot, reply: Plain, usage: Usage, *, model: str = "", mode: str = "") -> None:
        """Write a finished call down; no kill can lose it when this returns."""
        self._record(slot, model, mode, usage, reply=reply)

    def record_refusal(
        self, slot: Slot, error: str, usage: Usage, *, final: bool, model: str = "", mode: str = ""
    ) -> None:
        """Write down that the service will not answer this. A `final` refusal is asked again after a resume."""
        self._record(slot, model, mode, usage, error=error, final=final)

    def reserve(self) -> None:
        """Have the disk keep room for a reply before it is paid for. Raises OSError where there is none."""
        if self.replay_only:
            return
        with self._lock:
            if self._file is None:
                self._file = self._open()
            self._ahead.keep(self._file, self.path)

    def release(self, slot: Slot) -> None:
        """Give a claimed place back if nothing was recorded there: the call was broken off."""
        with self._lock:
            place = (slot.request.role, slot.key)
            if self._counts.get(place) == slot.n and (place, slot.n) not in self._by_place:
                self._counts[place] = slot.n - 1

    def position(self) -> int:
        """How far the tape has been used. Kept with a checkpoint, `resume_at` finds the way back to this state."""
        with self._lock:
            return self._position

    def resume_at(self, position: int) -> None:
        """Count everything before `position` as asked already: a resumed task goes on behind its checkpoint."""
        with self._lock:
            self._position = min(position, len(self._entries))
            self._counts = {}
            for entry in self._entries[: self._position]:
                place = (entry.role, entry.key)
                self._counts[place] = max(self._counts.get(place, 0), entry.n)

    def paid(self) -> dict[str, Usage]:
        """Usage by role of all that the tape held when it was opened: paid, whether it is asked for again or not.

        A tool that was built just before a kill stands; nobody asks its writer again, and its price still counts.
        """
        return dict(self._paid)

    # --- tools

    def call_started(self, key: str, tool: str, effects: Effects) -> None:
        """A tool may run from now on: written right before, once for each call."""
        if self._calls.get(key) == "started":
            return
        self._calls[key] = "started"
        self._append({"kind": "started", "key": key, "tool": tool, "effects": effects})

    def call_withdrawn(self, key: str) -> None:
        """What was said to start did not: it can have done nothing yet."""
        if self._calls.get(key) == "started":
            del self._calls[key]
            self._append({"kind": "withdrawn", "key": key})

    def call_ended(self, key: str, outcome: CallOutcome) -> None:
        """A tool call has ended: written before its result is acted on, and behind the files that it left."""
        if (kept := kept_at(self.path)) is not None:
            kept.keep_work(self.path.parent)
        self._calls[key] = outcome
        self._append({"kind": "ended", "key": key, "outcome": outcome.model_dump(mode="json")})

    def call_state(self, key: str) -> CallOutcome | Literal["started"] | None:
        """What is known of a tool call: its outcome, that it was started, or nothing."""
        return self._calls.get(key)

    # --- people

    def answered(self, key: str, text: str) -> None:
        """A person answered a question."""
        self._answers[key] = text
        self._append({"kind": "answered", "key": key, "text": text})

    def answer(self, key: str) -> str | None:
        """The answer to a question, None if it was not given yet."""
        return self._answers.get(key)

    # --- choices

    def note(self, key: str, text: str) -> None:
        """Write down a choice that later requests depend on, so that a replay makes the same one."""
        if self._notes.get(key) != text:
            self._notes[key] = text
            self._append({"kind": "noted", "key": key, "text": text})

    def noted(self, key: str) -> str | None:
        """What was chosen under `key`, None if nothing was yet."""
        return self._notes.get(key)

    def noted_under(self, prefix: str) -> dict[str, str]:
        """What was chosen under keys that begin with `prefix`."""
        return {key: text for key, text in self._notes.items() if key.startswith(prefix)}

    def close(self) -> None:
        """Bring everything to the disk and close the file; writing opens it again."""
        self._syncer.shutdown()
        self._syncer = ThreadPoolExecutor(1, "tape")
        with self._lock:
            if self._file is not None:
                self._ahead.free(self._file)
                os.close(self._file)
                self._file = None

    # --- inside

    def _record(
        self,
        slot: Slot,
        model: str,
        mode: str,
        usage: Usage,
        *,
        reply: Plain | None = None,
        error: str | None = None,
        final: bool = False,
    ) -> None:
        ask = slot.request
        entry = Entry(ask.role, slot.key, slot.n, ask.told, mode, slot.digests, model, reply, error, final, usage)
        lines: list[Plain] = []
        with self._lock:
            for name, message in zip(slot.digests, ask.messages, strict=True):
                if name not in self._messages:
                    self._messages[name] = message
                    lines.append({"kind": "message", "digest": name, "message": message})
            self._write([*lines, entry.line()])
            self._keep(entry)
            self._position = len(self._entries)

    def _append(self, line: Plain) -> None:
        with self._lock:
            self._write([line])

    def _write(self, lines: Sequence[Plain]) -> None:
        if self.replay_only:
            return
        if self._file is None:
            self._file = self._open()
        texts = (json.dumps(line, ensure_ascii=False, separators=(",", ":"), default=str) + "\n" for line in lines)
        before = os.fstat(self._file).st_size
        data = b"".join(sealed(MASKER.document(text.encode("utf-8", "surrogatepass"))) for text in texts)
        if (kept := kept_at(self.path)) is not None:
            kept.append(self.path, data)
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
        except OSError as error:
            os.ftruncate(self._file, before)  # half a line would be glued to the next one
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        if not self._sync_due:
            self._sync_due = True
            self._syncer.submit(self._sync)

    def _sync(self) -> None:
        """Bring to the disk what the kernel already holds, on a thread of its own.

        A killed process loses nothing that was written; this is for a machine that dies, and a busy disk takes
        milliseconds for it, which no reply should wait for. Writes that come meanwhile share the next one.
        """
        self._sync_due = False
        if self._file is not None:
            getattr(os, "fdatasync", os.fsync)(self._file)

    def _open(self) -> int:
        fresh = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = open_plain(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if fresh or self._whole_bytes == 0:
            os.ftruncate(handle, 0)
            head = json.dumps({"kind": "tape", "format": FORMAT}).encode() + b"\n"
            if (kept := kept_at(self.path)) is not None:
                kept.put(self.path, head)
            os.write(handle, head)
        elif self._whole_bytes is not None:
            os.ftruncate(handle, self._whole_bytes)  # cuts off the torn line of a killed process
        self._whole_bytes = None
        return handle

    def _load(self) -> int:
        """Reads the file; returns how many of its bytes are whole lines."""
        whole = 0
        with contextlib.suppress(FileNotFoundError):
            for number, raw in enumerate(lines_of(self.path), 1):
                if not raw.endswith(b"\n"):
                    break  # torn: the last one
                try:
                    self._take_in(plain_json(unsealed(raw).decode("utf-8", "surrogatepass")))
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
                    raise UserError(
                        f"{self.path} is damaged at line {number}: {what}; 'habilis runs check --repair' sets it aside"
                    ) from None
                whole += len(raw)
        return whole

    def _take_in(self, line: Plain) -> None:
        kind = line["kind"]
        if kind == "tape" and line["format"] > FORMAT:
            raise UserError(f"{self.path} was written by a newer version (format {line['format']})")
        if kind == "message":
            self._messages[line["digest"]] = line["message"]
        elif kind in ("reply", "refusal"):
            self._keep(Entry.of(line))
        elif kind == "started":
            self._calls[line["key"]] = "started"
        elif kind == "withdrawn":
            self._calls.pop(line["key"], None)
        elif kind == "ended":
            self._calls[line["key"]] = CallOutcome.model_validate(line["outcome"])
        elif kind == "answered":
            self._answers[line["key"]] = line["text"]
        elif kind == "noted":
            self._notes[line["key"]] = line["text"]

    def _keep(self, entry: Entry) -> None:
        self._by_place[((entry.role, entry.key), entry.n)] = len(self._entries)
        self._entries.append(entry)

    def _difference(self, request: ModelRequest, digests: tuple[str, ...]) -> str:
        """In one line: which request is not on the tape, and the first of its messages that differs."""
        where = f"replay: model call {self._asked} ({request.role}, {request.told}) was not recorded"
        rest = (entry for index, entry in enumerate(self._entries) if index not in self._taken)
        same = [entry for entry in rest if entry.role == request.role]
        near = next((e for e in same if e.purpose == request.told), same[0] if same else None)
        if near is None:
            return f"{where}: the tape holds no further call of this role"
        for place, (now, then) in enumerate(zip(digests, near.messages, strict=False), 1):
            if now != then:
                seen = contrast(self._messages.get(then), request.messages[place - 1])
                return f"{where}: message {place} differs; {seen}"
        if len(digests) != len(near.messages):
            return f"{where}: {len(digests)} messages now, {len(near.messages)} then"
        return f"{where}: same messages, but other tools or another form of answer"
