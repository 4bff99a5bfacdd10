"""Files of a data set on their way to another machine: the same there, read once, in pieces, and none half changed."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from habilis.contract import taskfiles
from habilis.contract.pictures import can_be_seen
from habilis.contract.records import recorded
from habilis.core.errors import UserError
from habilis.core.locations import here, located
from habilis.core.ports import Lease, RunStore
from habilis.core.types import CallOutcome, Invocation, TaskFile
from habilis.rundir import datafiles
from habilis.rundir.datafiles import FilesInStore, lay_out
from habilis.rundir.kept import KeptFolder
from habilis.rundir.store import FileStore

Opening = Callable[[], RunStore]


class CountingStore(FileStore):
    """Counts the bytes that come in; `before` is called before each content is taken."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.taken = 0
        self.before: Callable[[], None] = lambda: None

    def keep(self, lease: Lease, contents: Iterable[bytes]) -> list[str]:
        def counted() -> Iterable[bytes]:
            for content in contents:
                self.before()
                self.taken += len(content)
                yield content

        return super().keep(lease, counted())


def kept_in(store: RunStore, tmp_path: Path) -> KeptFolder:
    return KeptFolder(tmp_path / "run", store, store.lease("run", "me"), "run")


def asked(path: Path) -> TaskFile:
    return TaskFile(named=path.name, path=str(path), is_dir=path.is_dir())


def test_a_file_and_a_folder_arrive_as_they_were(opening: Opening, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "folder"
    (folder / "deep" / "empty").mkdir(parents=True)
    (folder / "deep" / "é.txt").write_text("text", encoding="utf-8")
    (folder / "same.txt").symlink_to(folder / "deep" / "é.txt")
    (tmp_path / "secret").write_text("of somebody else")
    (folder / "out.txt").symlink_to(tmp_path / "secret")
    file = tmp_path / "data" / "big.bin"
    file.write_bytes(bytes(range(256)) * 40_000)
    file.chmod(0o600)
    digests = FilesInStore(kept_in(opening(), tmp_path)).put([asked(folder), asked(file)])
    places = {path: lay_out(opening(), "run", digest, tmp_path / "node") for path, digest in digests.items()}
    laid = places[str(folder)] / "folder"
    assert {str(path.relative_to(laid)) for path in laid.rglob("*")} == {"deep", "deep/empty", "deep/é.txt", "same.txt"}
    assert (laid / "same.txt").read_text(encoding="utf-8") == "text"
    assert (places[str(file)] / "big.bin").read_bytes() == file.read_bytes()
    assert (places[str(file)] / "big.bin").stat().st_mode & 0o777 == 0o444, "a tool may run as another user"


def test_a_file_is_sent_once_and_again_only_when_it_was_changed(tmp_path: Path) -> None:
    store = CountingStore(tmp_path / "store")
    file = tmp_path / "a.csv"
    file.write_text("1234")
    kept = kept_in(store, tmp_path)
    files = FilesInStore(kept)
    first = files.put([asked(file)])
    assert files.put([asked(file)]) == first
    assert FilesInStore(kept).put([asked(file)]) == first, "the same for a driver that goes on"
    assert store.taken == 4
    file.write_text("12345678")
    second = files.put([asked(file)])
    assert (store.taken, second != first) == (12, True)
    old = lay_out(store, "run", first[str(file)], tmp_path / "node")
    assert (old / "a.csv").read_text() == "1234", "what a task began with stays"


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    store = CountingStore(tmp_path / "store")
    file = tmp_path / "a.csv"
    file.write_text("before")
    changes = ["after!"]
    store.before = lambda: file.write_text(changes.pop()) and None if changes else None
    digest = FilesInStore(kept_in(store, tmp_path)).put([asked(file)])[str(file)]
    assert (lay_out(store, "run", digest, tmp_path / "node") / "a.csv").read_text() == "after!"
    assert not changes, "it was never changed"


def test_a_file_that_never_rests_is_named(tmp_path: Path) -> None:
    store = CountingStore(tmp_path / "store")
    file = tmp_path / "a.csv"
    file.write_text("x")

    def grow() -> None:
        with file.open("a") as out:
            out.write("x")

    store.before = grow
    with pytest.raises(UserError, match=r"a\.csv changes while it is read"):
        FilesInStore(kept_in(store, tmp_path)).put([asked(file)])


@pytest.mark.parametrize("limits", [{"most_files": 2}, {"most_bytes": 5}])
def test_too_much_is_refused_by_name(tmp_path: Path, limits: dict[str, int]) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.txt").write_text("xx")
    with pytest.raises(UserError, match=r"data holds more than .* for one row") as refused:
        FilesInStore(kept_in(FileStore(tmp_path / "store"), tmp_path), **limits).put([asked(folder)])
    assert "\n" not in str(refused.value)


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.csv cannot be read: No such file"):
        FilesInStore(kept_in(FileStore(tmp_path / "store"), tmp_path)).put([asked(tmp_path / "gone.csv")])


def test_a_large_file_is_never_held_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datafiles, "PIECE_BYTES", 1 << 20)
    store = FileStore(tmp_path / "store")
    file = tmp_path / "large.bin"
    with file.open("wb") as out:
        for number in range(40):
            out.write(bytes([number]) * (1 << 20))
    tracemalloc.start()
    try:
        digest = FilesInStore(kept_in(store, tmp_path)).put([asked(file)])[str(file)]
        place = lay_out(store, "run", digest, tmp_path / "node") / "large.bin"
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert place.stat().st_size == 40 << 20
    assert most < 8 << 20


def test_what_the_store_lost_or_made_up_is_not_laid_out(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "store")
    file = tmp_path / "a.csv"
    file.write_text("x")
    digest = FilesInStore(kept_in(store, tmp_path)).put([asked(file)])[str(file)]
    record = tmp_path / "store" / "run" / "files" / f"{digest}.json"
    record.write_text(record.read_text().replace("a.csv", "../../b"))
    with pytest.raises(UserError, match="lost or damaged"):
        lay_out(store, "run", digest, tmp_path / "node")
    assert not (tmp_path / "node" / digest).exists()


def test_prompts_and_records_say_what_they_say_where_the_file_lies(tmp_path: Path) -> None:
    """The same texts on every machine: the same tape, and the same library."""
    home, node, workspace = tmp_path / "home", tmp_path / "node", tmp_path / "workspace"
    for folder in (home, node, workspace):
        folder.mkdir()
    (home / "a.csv").write_text("x,y\n1,2\n")
    (home / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    files = [asked(home / "a.csv"), asked(home / "b.png")]
    call = Invocation(
        call_id="1", tool="read", version="1", arguments={"path": str(home / "a.csv")}, effects="reads", text="",
        outcome=CallOutcome(output={"rows": 1}, opened=(str(home / "a.csv"),)), attempt=1, ordinal=1,
    )  # fmt: skip

    def seen() -> list[object]:
        paths = [Path(file.path) for file in files]
        return [taskfiles.view(files), can_be_seen(files), recorded(call, workspace=workspace, files=paths)]

    there = seen()
    home.rename(tmp_path / "moved")
    assert seen() != there, "it shows that the files are gone"
    for name in ("a.csv", "b.png"):
        (tmp_path / "moved" / name).rename(node / name)
    with located({file.path: str(node / Path(file.path).name) for file in files}):
        assert seen() == there
        assert here(home / "a.csv") == node / "a.csv"
    assert here(home / "a.csv") == home / "a.csv"
