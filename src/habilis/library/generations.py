"""Generations of a library: built aside, checked, published by one rename. The old ones stay, and so do their readers.

<library>                 a link to the current generation (a plain folder becomes one at its first publication)
<generations>/0001/ …     each a whole library folder, with `report.json`: how it came about
<generations>/.draft/     the one being built
<generations>/.lock       held by the one who builds; says who that is

`<generations>` is `generations` beside a library called `library`, else `<name>-generations`. Files that did not change
are shared between generations by hard links; nothing ever writes into a shared file (`RecordStore.append` parts it).
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import shutil
import tarfile
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from habilis.core.errors import HabilisError, UserError
from habilis.core.masker import MASKER
from habilis.core.types import FORMAT
from habilis.library.catalogue import Catalogue
from habilis.library.imaging import image
from habilis.library.places import (
    CONVERTING,
    followed,
    generations_folder,
    is_generation,
    is_published,
    settle,
    writer_lock,
)
from habilis.rundir import atomic_write, list_runs
from habilis.rundir.files import remove_tree, sync
from habilis.rundir.kept import kept_at
from habilis.rundir.locks import alone, take
from habilis.rundir.plain import open_plain, own_folder, plain_json, read_plain
from habilis.rundir.seals import sealed, unsealed

REPORT = "report.json"
_DRAFT, _GONE = ".draft", ".gone-"
_POLL_S = 0.05


class DraftBroken(HabilisError):
    """A draft is not what it should be; it is not published. The text says what is wrong with it."""


class Generations:
    """The generations of the library at `library`, a path that people and settings know it by.

    Raises `UserError` for the path of one generation: that one is finished, its library goes on.
    """

    def __init__(self, library: Path) -> None:
        settle(library)
        library = followed(library)
        if is_generation(library):
            raise UserError(f"{library} is one generation of a library, which does not change; name the library itself")
        self.library = library
        self.folder = generations_folder(library)
        self._lock: int | None = None
        self._known: tuple[Path, Catalogue] | None = None

    def current(self) -> int:
        """The number of the generation in force; 0 when none was published yet."""
        return generation_of(self.library)

    def path(self, number: int) -> Path:
        """The folder of a generation."""
        return self.folder / f"{number:04d}"

    def numbers(self) -> list[int]:
        """The generations that are there, the oldest first."""
        try:
            return sorted(int(entry.name) for entry in os.scandir(self.folder) if is_generation(Path(entry.path)))
        except OSError:
            return []

    def report(self, number: int) -> dict[str, Any] | None:
        """How a generation came about; None where nothing tells."""
        try:
            found = plain_json(unsealed(read_plain(self.path(number) / REPORT)))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def catalogue(self) -> Catalogue:
        """What is in the generation in force; looked up once per generation."""
        folder = self.library.resolve()
        if self._known is None or self._known[0] != folder:
            self._known = (folder, Catalogue.of(folder))
        return self._known[1]

    # --- taking turns

    @contextlib.asynccontextmanager
    async def turn(
        self, what: str, *, wait_s: float | None = None, told: Callable[[str], None] | None = None
    ) -> AsyncIterator[None]:
        """Be the only one who writes to this library until the block ends; others wait. `what` tells them who it is.

        `told` hears once whom it waits for. Raises `UserError` after `wait_s` seconds of waiting.
        """
        waited = 0.0
        while not self._try_lock():
            text = f"library {self.library} is being written by {self.holder()}"
            if waited == 0 and told:
                told(f"{text}; waiting for it")
            if wait_s is not None and waited >= wait_s:
                raise UserError(f"{text}, for more than {wait_s:g} s; try again later")
            await asyncio.sleep(_POLL_S)
            waited += _POLL_S
        try:
            self._say(what)
            yield
        finally:
            self._unlock()

    def holder(self) -> str:
        """Who writes to this library now, as they said themselves."""
        try:
            return read_plain(self.folder / ".lock", 4_096).decode("utf-8", "replace").strip() or "another process"
        except OSError:
            return "another process"

    # --- building and publishing

    @contextlib.contextmanager
    def draft(self, start: int | None = None) -> Iterator[Path]:
        """A folder that starts as an image of the current generation, to be changed and then published; of generation
        `start`, where that is given.

        Change its files by renames only (`atomic_write`, `unlink`): they are shared. It is gone when the block ends.
        Outside a `turn` it waits for its turn itself.
        """
        with self._locked():
            folder = self.folder / _DRAFT
            shutil.rmtree(folder, ignore_errors=True)  # what a killed one left
            folder.mkdir()
            try:
                source = self.library.resolve() if start is None else self.path(start)
                if source.is_dir():
                    with _quiet(source):
                        image(source, folder, but=(REPORT, "__pycache__"))
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def publish(self, draft: Path, report: Mapping[str, Any]) -> int:
        """Put `draft` into force by one rename of the link, with `report` inside it. Returns its number.

        The same draft published again, after a kill, gets the number that it got before. Raises `DraftBroken` when a
        changed tool does not fit its manifest or the counts do not agree, and OSError; nothing has changed then.
        """
        plain = not self.current() and self.library.is_dir()
        parent = self._free_number(1) if plain else self.current()
        known = self.catalogue()
        catalogue = Catalogue.of(draft, known)
        _check(catalogue, known, report)
        number = parent
        while True:
            number += 1
            whole = {**report, "format": FORMAT, "generation": number, "parent": parent or None}
            atomic_write(draft / REPORT, sealed(MASKER.document(_written(whole).encode("utf-8", "surrogatepass"))))
            if not self.path(number).exists() or digest(self.path(number)) == digest(draft):
                break
        if not self.path(number).exists():
            catalogue.save(known)
            sync(draft)
            if (kept := kept_at(self.folder)) is not None:
                kept.keep_generation(draft, number, parent)
            if not os.path.lexists(self.library):  # a kill between both: whoever opens the library makes the link
                atomic_write(self.folder / CONVERTING, f"{self.folder.name}/{number:04d}")
            draft.rename(self.path(number))
            sync(self.folder)
            self._known = (self.path(number).resolve(), catalogue.moved(self.path(number)))
        self._point_to(number, parent if plain else None)
        return number

    def pack_old(self, keep: int, *, spared: Collection[int] = ()) -> list[Path]:
        """Pack all but the newest `keep` generations, each into `<generations>/packed/<number>.tar.gz`, and take their
        folders away; returns the packed files, oldest first. 0 keeps all.

        The generation in force stays, and so do those of `spared`: whoever began with one reads it to the end (see
        `in_use`). A kill leaves each generation as a folder, as a whole packed file, or as both. Raises OSError.
        """
        with self._locked():
            for left in self.folder.glob(f"{_GONE}*"):  # what a killed one left
                remove_tree(left)
            numbers = self.numbers()
            kept = {*numbers[-keep:], *spared, self.current()} if keep > 0 else set(numbers)
            return [self._packed(number) for number in numbers if number not in kept]

    def unpack(self, number: int) -> bool:
        """Lay a packed generation out again, and leave its packed file; whether it is there now. Raises OSError."""
        if self.path(number).is_dir():
            return True
        packed = self.folder / "packed" / f"{number:04d}.tar.gz"
        if not packed.is_file():
            return False
        with self._locked():
            aside = self.folder / f"{_GONE}unpacking"
            shutil.rmtree(aside, ignore_errors=True)  # what a killed one left
            with tarfile.open(packed) as stream:
                stream.extractall(aside, filter="data")
            (aside / f"{number:04d}").rename(self.path(number))
            aside.rmdir()
            sync(self.folder)
        return True

    def _packed(self, number: int) -> Path:
        target = self.folder / "packed" / f"{number:04d}.tar.gz"
        target.parent.mkdir(exist_ok=True)
        aside = target.with_name(f".{target.name}.tmp")
        with tarfile.open(aside, "w:gz", compresslevel=6) as packed:
            packed.add(self.path(number), arcname=f"{number:04d}")
        sync(aside)
        aside.replace(target)
        sync(target.parent)
        gone = self.folder / f"{_GONE}{number:04d}"
        self.path(number).rename(gone)
        remove_tree(gone)
        return target

    def _free_number(self, number: int) -> int:
        while self.path(number).exists():
            number += 1
        return number

    def _point_to(self, number: int, old: int | None) -> None:
        """Swap the link; `old` is the number under which a plain folder becomes a generation itself."""
        target = f"{self.folder.name}/{number:04d}"
        if old is not None:
            # Three steps where one would be better: a folder cannot be exchanged for a link at once. Whoever opens the
            # library in between, or after a kill, finds the note and takes the last step itself (`settle`).
            atomic_write(self.folder / CONVERTING, target)
            self.library.rename(self.path(old))
            settle(self.library)
            return
        point_to(self.library, number)
        (self.folder / CONVERTING).unlink(missing_ok=True)

    # --- the lock

    def _try_lock(self) -> bool:
        if self._lock is not None:
            return False
        descriptor = open_plain(own_folder(self.folder) / ".lock", os.O_RDWR | os.O_CREAT)
        if not take(descriptor):
            os.close(descriptor)
            return False
        self._lock = descriptor
        return True

    def _say(self, what: str) -> None:
        assert self._lock is not None
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"{what} (process {os.getpid()})\n".encode("utf-8", "replace"), 0)

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        if self._lock is not None:
            yield
            return
        with alone(own_folder(self.folder) / ".lock") as self._lock:
            try:
                self._say("a writer")
                yield
            finally:
                self._lock = None


def point_to(library: Path, number: int) -> None:
    """Have the link `library` lead to generation `number`, by one rename. Raises OSError."""
    folder = generations_folder(library)
    aside = folder / ".link"
    aside.unlink(missing_ok=True)
    _link(aside, library, f"{folder.name}/{number:04d}")


def generation_of(library: Path) -> int:
    """The number of the generation that whoever opens `library` now reads; 0 where there are none."""
    library = followed(library)
    return int(library.readlink().name) if is_published(library) else 0


def as_of(library: Path, number: int) -> Path:
    """The folder that whoever opened `library` at generation `number` reads, for ever; 0 is before the first one."""
    folder = generations_folder(followed(library))
    if number:
        found = folder / f"{number:04d}"
        return found if found.is_dir() else library
    if not generation_of(library):
        return library
    first = folder / f"{1:04d}"
    # A plain folder that became the first generation bears no report; a first generation that was built does.
    return folder / f"{0:04d}" if (first / REPORT).exists() else first


def in_use(library: Path, runs: Path) -> set[int]:
    """Generations of `library` that a task below the folder `runs` began with, and goes on with when it is resumed."""
    found = set()
    for run in list_runs(runs):
        for task in run.tasks():
            told = (task.load_task() or (None, {}))[1]
            if told.get("library") and followed(Path(told["library"])) == followed(library):
                found.add(int(told.get("generation") or 0))
    return found


def digest(folder: Path) -> str:
    """One digest over all that a generation holds: names and contents, hidden files left out."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not any(part.startswith(".") for part in name.split("/")):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            whole.update(f"{name}\0{content}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


@contextlib.contextmanager
def _quiet(library: Path) -> Iterator[None]:
    """The library's own lock, so that nobody writes a record while it is looked through; none where it is read-only."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            stack.enter_context(writer_lock(library))
        yield


def _written(report: Mapping[str, Any]) -> str:
    """A report as text, one line for each tool that it tells of."""
    encode = json.JSONEncoder(ensure_ascii=False).encode  # one for all: a library of ten thousand has as many lines
    parts = []
    for key, value in report.items():
        rows = value if isinstance(value, (list, tuple)) else ()
        text = ",\n  ".join(map(encode, rows))
        parts.append(f'"{key}": [\n  {text}\n ]' if rows else f'"{key}": {encode(value)}')
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def _check(catalogue: Catalogue, known: Catalogue, report: Mapping[str, Any]) -> None:
    """Raises `DraftBroken` unless what changed is whole and there are as many tools as `report` says."""
    for listed in catalogue.changed(known):
        before = known.tools.get(listed.name)
        if listed.problem and (before is None or before.problem != listed.problem):
            raise DraftBroken(f"tool {listed.name} of the draft cannot be used: {listed.problem}")
    said = report.get("tools")
    if said is not None and said != len(catalogue.tools):
        raise DraftBroken(f"the draft holds {len(catalogue.tools)} tools, its report says {said}")


def _link(aside: Path, library: Path, target: str) -> None:
    library.parent.mkdir(parents=True, exist_ok=True)
    aside.symlink_to(target)
    aside.replace(library)
    sync(library.parent)
