"""Contents that nothing refers to go; what a run, a library or somebody at work needs stays, whatever the moment."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from habilis.core.errors import LeaseHeld, NotPlain, UserError
from habilis.core.ports import Lease, Put, RunStore
from habilis.core.types import TaskFile
from habilis.rundir.datafiles import FilesInStore
from habilis.rundir.fetching import fetch
from habilis.rundir.files import atomic_write, remove_tree
from habilis.rundir.keeping import begin_anew
from habilis.rundir.kept import KeptFolder, as_kept
from habilis.rundir.layout import RunDir
from habilis.rundir.locks import held
from habilis.rundir.store import FileStore, copy_out

Opening = Callable[[], RunStore]


def tree(*contents: bytes) -> bytes:
    files = {str(number): [0o644, [sha256(content).hexdigest()]] for number, content in enumerate(contents)}
    return json.dumps({"format": 1, "files": files, "folders": []}).encode()


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def pruned(store: RunStore) -> set[str]:
    return set(store.remove(store.unused().free))


def needed(store: RunStore) -> set[str]:
    """The digests that stand in any document, whatever its name and form."""
    names = [name for name in store.names("") if name.endswith(".json")]
    return {found for name in names for found in re.findall(r'"([0-9a-f]{64})"', (store.read(name) or b"").decode())}


def test_only_what_no_document_refers_to_goes(opening: Opening) -> None:
    store = opening()
    lease = store.lease("first", "me")
    store.keep(lease, [b"old", b"new", b"of a generation", b"of the data set", b"moved", b"never told of"])
    for name, contents in (
        ("first/tasks/a/tree.json", [b"old"]),
        ("first/tasks/a/tree.json", [b"new", b"new"]),
        ("library/shared/generations/0001/tree.json", [b"of a generation"]),
        (f"first/files/{'0' * 64}.json", [b"of the data set"]),
        ("first/earlier/b.1/tree.json", [b"moved"]),
    ):
        store.write(lease, [Put(name, tree(*contents))])
    store.release(lease)
    found = opening().unused()
    assert (found.free, found.held) == ({digest(b"old"): 3, digest(b"never told of"): 13}, {})
    assert pruned(opening()) == {digest(b"old"), digest(b"never told of")}
    assert opening().unused().free == {}
    for content in (b"new", b"of a generation", b"of the data set", b"moved"):
        assert store.blob(digest(content)) == content
    with pytest.raises(UserError, match="lost"):
        store.blob(digest(b"old"))


def test_what_somebody_at_work_kept_stays_until_the_lease_is_given_back(opening: Opening) -> None:
    """Between a file that is kept and the tree that names it lies as much time as the training likes."""
    store, other = opening(), opening()
    lease = store.lease("first", "me")
    store.keep(lease, [b"soon in a tree"])
    assert (other.unused().free, other.unused().held) == ({}, {digest(b"soon in a tree"): 14})
    assert other.remove([digest(b"soon in a tree")]) == []
    store.write(lease, [Put("first/tasks/a/tree.json", tree(b"soon in a tree"))])
    store.release(lease)
    assert pruned(other) == set()
    assert store.blob(digest(b"soon in a tree")) == b"soon in a tree"


def test_what_a_training_keeps_that_was_there_already_stays_as_well(opening: Opening) -> None:
    """An old content that nothing refers to is needed anew: it is not sent again, and must not go."""
    store, other = opening(), opening()
    first = store.lease("first", "me")
    store.keep(first, [b"again"])
    store.release(first)
    asked = other.unused().free
    assert list(asked) == [digest(b"again")]
    second = store.lease("second", "me")
    store.keep(second, [b"again"])
    assert other.remove(asked) == []
    store.write(second, [Put("second/tasks/a/tree.json", tree(b"again"))])
    store.release(second)
    assert other.remove(asked) == []
    assert store.blob(digest(b"again")) == b"again"


def test_a_training_of_an_older_version_in_a_store_of_files_loses_nothing(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    lease = store.lease("run", "me")
    store.keep(lease, [b"soon in a tree"])
    store.release(lease)
    with held(tmp_path / ".leases" / "run.lock", "in use"):  # all that it knows of
        assert store.remove([digest(b"soon in a tree")]) == []
        assert store.unused().free == {}
    assert list(store.unused().free) == [digest(b"soon in a tree")]


def test_a_training_that_begins_while_a_store_of_files_is_pruned_is_told_to_wait(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    store.unused()
    with held(tmp_path / ".leases" / ".any", "in use"), pytest.raises(LeaseHeld, match="is being pruned; wait"):
        store.lease("run", "me")
    store.lease("run", "me")


def test_a_damaged_document_keeps_everything_since_nobody_knows_what_it_refers_to(opening: Opening) -> None:
    store = opening()
    lease = store.lease("first", "me")
    store.keep(lease, [b"of the damaged", b"unused"])
    for broken in (b"", b"{", b'{"format": 2}', b'{"format": 1, "files": {"a": 1}, "folders": []}', b"\xff"):
        store.write(lease, [Put("first/tasks/a/tree.json", broken)])
        store.release(lease)
        with pytest.raises(UserError, match=r"first/tasks/a/tree\.json in the store is damaged"):
            opening().unused()
        with pytest.raises(UserError, match="damaged"):
            opening().remove([digest(b"unused")])
        lease = store.lease("first", "me")
    assert store.blob(digest(b"unused")) == b"unused"


def test_a_task_may_have_any_name(opening: Opening) -> None:
    """Records of tasks that are called like what refers to contents are none of that."""
    store = opening()
    lease = store.lease("first", "me")
    names = ["tasks/files/state.json", "tasks/tree.json/state.json", "builds/0001/tree.json", "tasks/tree/files/a.json"]
    store.write(lease, [Put(f"first/{name}", b'{"state": "done"}') for name in names])
    store.keep(lease, [b"of the tree"])
    store.write(lease, [Put("first/tasks/files/tree.json", tree(b"of the tree"))])
    store.release(lease)
    assert opening().unused().free == {}


def test_copies_are_what_went(opening: Opening, tmp_path: Path) -> None:
    store = opening()
    lease = store.lease("first", "me")
    contents = [b"", b"one", bytes(range(256)) * 40]
    store.keep(lease, contents)
    store.release(lease)
    copy_out(store, store.unused().free, tmp_path / "copies")
    assert len(pruned(store)) == len(contents)
    files = {path.name: path.read_bytes() for path in (tmp_path / "copies").rglob("*") if path.is_file()}
    assert files == {digest(content): content for content in contents}


@pytest.mark.parametrize("seed", range(4))
def test_whatever_a_run_did_its_folder_can_be_made_again_after_pruning(
    opening: Opening, tmp_path: Path, seed: int
) -> None:
    """What runs really write, in any order, pruned in between by another process: of all that documents refer to
    nothing is lost, of all the rest nothing is left."""
    chance = random.Random(seed)
    gone: set[str] = set()
    for number in range(3):
        root, store = tmp_path / f"run{number % 2}", opening()
        lease = store.lease(root.name, "me")
        kept = KeptFolder(root, store, lease, root.name)
        with as_kept(kept):
            for step in range(12):
                _one_change(chance, kept, step + 12 * number)
                if chance.random() < 0.4:
                    gone |= pruned(opening())
        store.release(lease)
        gone |= pruned(opening())
        _check(opening(), tmp_path / "again", root.name)
    assert gone, "nothing was ever pruned"


def _one_change(chance: random.Random, kept: KeptFolder, step: int) -> None:
    task = kept.root / "tasks" / chance.choice("abc")
    workspace, name = task / "workspace", chance.choice(["x.csv", "deep/y.csv"])
    (workspace / name).parent.mkdir(parents=True, exist_ok=True)
    match chance.choice(["write", "write", "write", "drop", "forget", "move", "files", "generation"]):
        case "write":
            (workspace / name).write_text(f"{chance.randrange(3)} or {step}")
        case "drop":
            (workspace / name).unlink(missing_ok=True)
        case "forget":
            remove_tree(task)
            workspace.mkdir(parents=True)
            (workspace / name).parent.mkdir(exist_ok=True)
        case "move":
            begin_anew(RunDir(kept.root), task.name)
        case "files":
            (kept.root.parent / "data.csv").write_text(f"{step}")
            path = str(kept.root.parent / "data.csv")
            FilesInStore(kept).put([TaskFile(named="data.csv", path=path, is_dir=False)])
        case "generation":
            _publish(kept, step)
    kept.keep_work(task, checkpoints=b"of the graph")
    atomic_write(kept.root / "run.yaml", f"step: {step}\n")
    if task.is_dir():
        assert kept.store.read(f"{kept.name}/tasks/{task.name}/tree.json") is not None


def _publish(kept: KeptFolder, step: int) -> None:
    parent = int(kept.store.read(f"{kept.shelf}/library") or b"0")
    draft = kept.root / "generations" / ".draft"
    draft.mkdir(parents=True, exist_ok=True)
    (draft / "tool.py").write_text(f"VERSION = {step}\n")
    kept.keep_generation(draft, parent + 1, parent)


def _check(store: RunStore, folder: Path, run: str) -> None:
    assert store.unused().free == {}
    for one in needed(store):
        store.blob(one)  # it would raise
    lease = Lease(run, "nobody", 0)  # only read
    fetch(KeptFolder(folder / run, store, lease, run))


def test_a_lease_that_cannot_be_taken_keeps_nobody_from_pruning(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    lease = store.lease("first", "me")
    store.keep(lease, [b"never told of"])
    store.release(lease)
    strange = tmp_path / ".leases" / "second.lock"
    strange.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotPlain):
        store.lease("second", "me")
    strange.unlink()
    assert pruned(FileStore(tmp_path)) == {digest(b"never told of")}
