"""Recorded calls: what a tool was given and what it gave, with the content of the files that it opened.

They are the evidence on which every gate stands. One JSONL file per tool, one line per recorded call (a later line
with the same call id stands for the earlier one), file contents once each under their digest. Each line ends with a
checksum: a call in which one bit turned is passed over, not compared against.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from habilis.contract.paths import FileRefused, files_below, read_confined
from habilis.core.locations import here
from habilis.core.masker import MASKER
from habilis.core.types import FORMAT, CallError, CallOutcome, Effects, Frozen, Invocation, Traffic, Verdict
from habilis.rundir import atomic_write
from habilis.rundir.plain import open_plain, own_folder, plain_json, read_plain
from habilis.rundir.seals import sealed, unsealed

log = logging.getLogger(__name__)

MAX_CALL_BYTES = 10 << 20
MAX_LIBRARY_BYTES = 500 << 20
UNCONFINED = frozenset({"off", ""})
"""Sandbox levels that do not keep a tool's writes inside its workspace."""


class RecordedCall(Frozen):
    """One recorded call. `files` maps the name under which the arguments reach a file to the digest of its content.

    `why_not` says why the call cannot be replayed; None when it can. Paths of the workspace stand as `.` in `output`.
    `granted` and `refused` are kinds and names, as in `CallOutcome`; `traffic` is what it exchanged with granted hosts.
    `stood_in`: the member (`name@identity`) of a merged tool that answered where this one failed.
    `redacted`: the rules by which something was taken out of it when it was handed on. A `confirmed` call is one that
    no task made: its writer said beforehand what it must give, and so it did. A `tried` call gave the same twice, and
    nobody said that this is right: it only pins what the tool does. On a `judged` call it differed from the version
    that it mends, and a judge called its result right. All three bind replacements, and count neither as proof nor as
    use.
    """

    format: int = FORMAT
    call_id: str
    tool: str
    version: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    output: Any = None
    error: CallError | None = None
    verdict: Verdict | None = None
    effects: Effects = "reads"
    files: dict[str, str] = Field(default_factory=dict)
    granted: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    traffic: Traffic | None = None
    why_not: str | None = None
    stood_in: str = ""
    redacted: tuple[str, ...] = ()
    kind: Literal["used", "confirmed", "tried", "judged"] = Field("used", exclude_if=lambda kind: kind == "used")

    @property
    def used(self) -> bool:
        return self.kind == "used"

    @property
    def replayable(self) -> bool:
        return self.why_not is None

    @property
    def online(self) -> bool:
        """Whether it was given any host of the network."""
        return _online(self.granted)


class RecordStore:
    """The recorded calls of one library, below `folder`. Writers hold the library's lock."""

    def __init__(self, folder: Path, *, max_call: int = MAX_CALL_BYTES, max_library: int = MAX_LIBRARY_BYTES) -> None:
        self._folder = folder
        self._max_call, self._max_library = max_call, max_library

    def path(self, name: str) -> Path:
        return self._folder / f"{name}.jsonl"

    def read(self, name: str) -> list[RecordedCall]:
        """The calls of tool `name`, oldest first, each call id once. A line that is torn, broken, or does not fit its
        checksum is passed over, and the log says so."""
        found: dict[str, RecordedCall] = {}
        path = self.path(name)
        try:
            lines = read_plain(path).split(b"\n")
        except OSError:
            return []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                call = call_of(line)
            except ValueError as error:
                log.warning("%s line %s, a recorded call of tool %s, is passed over: %s", path, number, name, error)
                continue
            found[call.call_id] = call
        return list(found.values())

    def append(self, call: RecordedCall) -> None:
        """Add one call; a line torn by an earlier kill is closed first. Raises OSError when the disk refuses.

        A file that another folder holds too (generations share what is equal) is parted from it first.
        """
        path = self.path(call.tool)
        own_folder(path.parent)
        line = _line_of(call)
        with os.fdopen(open_plain(path, os.O_RDWR | os.O_APPEND | os.O_CREAT), "ab+") as stream:
            size = stream.seek(0, os.SEEK_END)
            if size:
                stream.seek(size - 1)
                line = line if stream.read(1) == b"\n" else b"\n" + line
            if os.fstat(stream.fileno()).st_nlink == 1:
                stream.write(line)
                return
            stream.seek(0)
            line = _hushed(stream.read()) + line
        atomic_write(path, line, durable=False)

    def extend(self, name: str, calls: Iterable[RecordedCall]) -> None:
        """Add calls to a file that nobody reads yet. Raises OSError."""
        path = self.path(name)
        path.parent.mkdir(exist_ok=True)
        before = path.read_bytes() if path.exists() else b""
        before += b"" if before.endswith(b"\n") or not before else b"\n"
        atomic_write(path, _hushed(before) + b"".join(map(_line_of, calls)), durable=False)

    def keep(self, contents: Mapping[str, bytes]) -> tuple[dict[str, str], str | None]:
        """Store file contents by digest, without secrets. Returns digests by name, or why they could not be kept
        (limits)."""
        contents = {name: MASKER.data(content) for name, content in contents.items()}
        total = sum(len(content) for content in contents.values())
        if total > self._max_call:
            return {}, f"its files hold more than {_megabytes(self._max_call)}"
        digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        new = {d: contents[name] for name, d in digests.items() if not self._content_path(d).exists()}
        if new and self._kept_bytes() + sum(len(c) for c in new.values()) > self._max_library:
            return {}, f"the library's records hold {_megabytes(self._max_library)} already"
        for digest, content in new.items():
            path = self._content_path(digest)
            own_folder(self._folder)
            own_folder(path.parent)
            atomic_write(path, content)
        return digests, None

    def bring(self, call: RecordedCall, contents: Callable[[str], bytes | None]) -> RecordedCall:
        """`call`, of another store that `contents` reads, with what a replay needs here, or with why it is missing."""
        found = {name: content for name, digest in call.files.items() if (content := contents(digest)) is not None}
        why_not: str | None = "its files were not there any more"
        if len(found) == len(call.files):
            _, why_not = self.keep(found)
        files = {} if why_not else call.files
        traffic = call.traffic
        if traffic is not None and traffic.digest:
            passed = contents(traffic.digest)
            lost = "what it exchanged with hosts was not there any more"
            if passed is not None:
                lost = self.keep({"traffic": passed})[1] or ""
            traffic = Traffic(lost=lost) if lost else traffic
        return call.model_copy(update={"files": files, "traffic": traffic, "why_not": call.why_not or why_not})

    def content(self, digest: str) -> bytes | None:
        """The content stored under `digest`; None when it is not there or not what its name says."""
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            return None
        try:
            content = read_plain(self._content_path(digest))
        except OSError:
            return None
        return content if hashlib.sha256(content).hexdigest() == digest else None

    def _content_path(self, digest: str) -> Path:
        return self._folder / "files" / digest

    def _kept_bytes(self) -> int:
        try:
            return sum(entry.stat().st_size for entry in (self._folder / "files").iterdir())
        except OSError:
            return 0


def call_of(line: bytes) -> RecordedCall:
    """The call that one line of records tells of. Raises ValueError, which says in a few words why it tells of none."""
    try:
        return RecordedCall.model_validate(plain_json(unsealed(line)))
    except ValidationError:
        raise ValueError("it is not a call of this format") from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError("it is not JSON") from None


def _line_of(call: RecordedCall) -> bytes:
    written = MASKER.value(call.model_dump())
    return sealed(json.dumps(written, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")


def _hushed(lines: bytes) -> bytes:
    """`lines` without secrets that became known since they were written, their checksums made anew."""
    if not MASKER.sees(lines):
        return lines
    return b"".join(_hushed_line(line) for line in lines.splitlines(keepends=True))


def _hushed_line(line: bytes) -> bytes:
    try:
        return sealed(MASKER.document(unsealed(line))) if MASKER.sees(line) else line
    except ValueError:  # one that is not believed as it is does not become one that is
        return line


def recorded(
    invocation: Invocation, *, workspace: Path, files: Sequence[Path] = ()
) -> tuple[RecordedCall, dict[str, bytes]]:
    """`invocation` as a record, with the contents of the files it opened by the names that its arguments give them.

    `workspace` is the task's, `files` are the task's files and folders. Only what lies in these is ever read. A call
    is marked not replayable when a replay could not give it what it had: a file that its arguments do not name, one
    outside the task's, too much of it, or writes that nothing kept inside the workspace.
    """
    outcome = invocation.outcome
    call = RecordedCall(
        call_id=invocation.call_id,
        tool=invocation.tool,
        version=invocation.version,
        arguments=invocation.arguments,
        output=with_text(outcome.output, lambda text: text.replace(str(workspace), ".")),
        error=outcome.error,
        verdict=invocation.verdict,
        effects=invocation.effects,
        granted=outcome.granted,
        refused=outcome.refused,
        traffic=outcome.traffic,
        stood_in=outcome.stood_in.member if outcome.stood_in else "",
    )
    unknown = outcome.traffic is None or not outcome.traffic.digest
    if invocation.effects == "writes" and _online(outcome.granted) and unknown:
        return call.model_copy(update={"why_not": "it may have sent something"}), {}
    if invocation.effects == "writes" and outcome.level in UNCONFINED:
        return call.model_copy(update={"why_not": "it may have written outside the workspace"}), {}
    try:
        contents = _opened(invocation, workspace, [workspace, *map(here, files)])
    except FileRefused as refused:
        return call.model_copy(update={"why_not": str(refused)}), {}
    return call, contents


def _opened(invocation: Invocation, workspace: Path, allowed: Sequence[Path]) -> dict[str, bytes]:
    """Contents of the files that a call opened or that its arguments name, by name. Raises `FileRefused`."""
    roots = [root.resolve() for root in allowed]
    named = {text: path for text in path_texts(invocation.arguments) if (path := _existing(text, workspace, roots))}
    names: dict[str, Path] = {}
    for text, path in named.items():
        if path.is_dir():
            if path.resolve() != workspace.resolve():
                names |= {f"{text.rstrip('/')}/{inner}": path / inner for inner in files_below(path, MAX_CALL_BYTES)}
        else:
            names[text] = path
    known = {path.resolve() for path in names.values()}
    for opened in invocation.outcome.opened:
        path = here(workspace / opened)
        if path.resolve() not in known:
            names[_name_for(path, named, workspace)] = path
    made = {(workspace / made).resolve() for made in invocation.outcome.made}
    read = {here(workspace / opened).resolve() for opened in invocation.outcome.opened}
    contents: dict[str, bytes] = {}
    left = MAX_CALL_BYTES
    for name, path in sorted(names.items()):
        if path.resolve() in made & read:
            raise FileRefused("it changed a file that it read")
        if path.resolve() not in made:  # what the call only made is no input of it
            contents[name] = read_confined(path, allowed, left)
            left -= len(contents[name])
    return contents


def _existing(text: str, workspace: Path, roots: Sequence[Path]) -> Path | None:
    """The file or folder that `text` names, if there is one among the task's; `/` may well be a separator."""
    try:
        path = here(workspace / text)
        real = path.resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        return None
    return path if any(real.is_relative_to(root) for root in roots) else None


def _name_for(path: Path, named: Mapping[str, Path], workspace: Path) -> str:
    """The name under which a replay must offer a file that no argument names as a whole. Raises `FileRefused`."""
    for text, folder in named.items():
        if folder.is_dir() and path.resolve().is_relative_to(folder.resolve()):
            return f"{text.rstrip('/')}/{path.resolve().relative_to(folder.resolve())}"
    try:
        return str(path.relative_to(workspace))
    except ValueError:
        raise FileRefused("it opened a file that its arguments do not name") from None


def path_texts(arguments: Any) -> Iterator[str]:
    """Every text in `arguments` that could name a file."""
    if isinstance(arguments, str):
        if 0 < len(arguments) <= 1000 and "\n" not in arguments and "\0" not in arguments:
            yield arguments
    elif isinstance(arguments, Mapping):
        for value in arguments.values():
            yield from path_texts(value)
    elif isinstance(arguments, list):
        for value in arguments:
            yield from path_texts(value)


def with_text(value: Any, change: Callable[[str], str]) -> Any:
    """`value` (JSON) with every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: with_text(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [with_text(item, change) for item in value]
    return value


def equal(one: Any, other: Any, *, tolerance: float = 1e-9) -> bool:
    """Whether two outputs are the same: numbers to `tolerance` relative, order of keys ignored.

    `true` is not `1`, not-a-number equals itself, integers compare exactly while both are integers.
    """
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return _same_number(one, other, tolerance)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal(one[key], other[key], tolerance=tolerance) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(equal(a, b, tolerance=tolerance) for a, b in zip(one, other, strict=True))
    return type(one) is type(other) and bool(one == other)


def _same_number(one: float, other: float, tolerance: float) -> bool:
    if one == other or (one != one and other != other):
        return True
    if isinstance(one, int) and isinstance(other, int):
        return False
    try:
        return abs(one - other) <= tolerance * max(abs(one), abs(other)) < float("inf")
    except OverflowError:
        return False


def is_empty(output: Any) -> bool:
    """Whether an output holds nothing: None, blank text, {}, or fields that all are so. [], 0 and false are answers."""
    if isinstance(output, Mapping):
        return all(_is_blank(value) for key, value in output.items() if key != "error")
    return _is_blank(output)


def _is_blank(value: Any) -> bool:
    return value is None or value == {} or (isinstance(value, str) and not value.strip())


def set_error(output: Any) -> str | None:
    """The text of an output's own `error` field, None when it is not set."""
    error = output.get("error") if isinstance(output, Mapping) else None
    return str(error) if error else None


def gave(call: RecordedCall | CallOutcome) -> bool:
    """Whether a call gave a result: no error, not one of its own, and not nothing."""
    return call.error is None and not set_error(call.output) and not is_empty(call.output)


def counted(calls: Iterable[RecordedCall]) -> dict[str, int]:
    """How many of `calls` tasks made, and with which verdict."""
    found = {"calls": 0, "success": 0, "failure": 0, "input_error": 0}
    for call in filter(lambda call: call.used, calls):
        found["calls"] += 1
        if call.verdict:
            found[call.verdict] += 1
    return found


def _online(granted: Iterable[str]) -> bool:
    return any(given.startswith("network ") for given in granted)


def _megabytes(size: int) -> str:
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size} bytes"
