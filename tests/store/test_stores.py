"""What every store promises, whatever it keeps things in. A test here runs once for each of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from habilis.core.errors import LeaseHeld, LeaseLost, StoreConflict, UserError
from habilis.core.ports import Append, Put, RunStore, Swap
from habilis.rundir.fetching import fetch
from habilis.rundir.files import atomic_write, remove_tree
from habilis.rundir.keeping import begin_anew
from habilis.rundir.kept import KeptFolder, as_kept
from habilis.rundir.layout import RunDir

Opening = Callable[[], RunStore]


def test_lines_come_back_whole_and_in_their_order(opening: Opening) -> None:
    store = opening()
    lease = store.lease("run", "me")
    for number in range(20):
        store.write(lease, [Append("run/tape.jsonl", b'{"n":%d}\n' % number)])
    expected = b"".join(b'{"n":%d}\n' % number for number in range(20))
    assert store.read("run/tape.jsonl") == expected
    assert opening().read("run/tape.jsonl") == expected, "another process reads them too"


def test_changes_of_one_write_happen_in_their_order(opening: Opening) -> None:
    store = opening()
    lease = store.lease("run", "me")
    store.write(lease, [Put("run/a.json", b"{}\n"), Append("run/a.json", b"[]\n"), Append("run/b.jsonl", b"1\n")])
    assert (store.read("run/a.json"), store.read("run/b.jsonl")) == (b"{}\n[]\n", b"1\n")
    store.write(lease, [Put("run/a.json", b'{"x": 1}\n'), Put("run/b.jsonl", None)])
    assert (store.read("run/a.json"), store.read("run/b.jsonl")) == (b'{"x": 1}\n', None)


def test_nothing_is_not_the_same_as_an_empty_document(opening: Opening) -> None:
    store = opening()
    store.write(store.lease("run", "me"), [Put("run/empty", b"")])
    assert store.read("run/empty") == b""
    assert store.read("run/none") is None


def test_names_are_found_by_their_beginning(opening: Opening) -> None:
    store = opening()
    lease = store.lease("run", "me")
    names = ["run/tasks/10/tape.jsonl", "run/tasks/2/tape.jsonl", "run/tasks/é_%/x", "runs/other", "run.yaml"]
    store.write(lease, [Put(name, b"x") for name in names])
    assert store.names("run/") == sorted(names[:3])
    assert store.names("run/tasks/1") == ["run/tasks/10/tape.jsonl"]
    assert store.names("nobody/") == []


def test_contents_are_kept_once_under_their_digest(opening: Opening) -> None:
    store = opening()
    lease = store.lease("run", "me")
    contents = [b"", b"one", bytes(range(256)), b"one", b"x" * (9 << 20)]
    found = store.keep(lease, contents)
    assert found == [sha256(content).hexdigest() for content in contents]
    assert [opening().blob(digest) for digest in found] == contents
    with pytest.raises(UserError, match="lost"):
        store.blob(sha256(b"never kept").hexdigest())


def test_a_pointer_moves_only_from_where_it_is_believed_to_stand(opening: Opening) -> None:
    store = opening()
    lease = store.lease("run", "me")
    store.write(lease, [Swap("run/library", None, b"0001")])
    store.write(lease, [Swap("run/library", b"0001", b"0002")])
    for wrong in (None, b"0001", b"0003"):
        with pytest.raises(StoreConflict):
            store.write(lease, [Swap("run/library", wrong, b"0009")])
    assert store.read("run/library") == b"0002"


def test_one_holds_a_name_at_a_time(opening: Opening) -> None:
    first, second = opening(), opening()
    held = first.lease("library", "first")
    with pytest.raises(LeaseHeld, match="in use"):
        second.lease("library", "second")
    second.lease("another", "second")
    first.release(held)
    assert second.lease("library", "second").epoch > held.epoch


def test_many_who_ask_at_once_get_one_lease(opening: Opening) -> None:
    stores = [opening() for _ in range(6)]
    start, got = threading.Barrier(len(stores)), []

    def ask(store: RunStore) -> None:
        start.wait()
        try:
            got.append(store.lease("library", "somebody"))
        except LeaseHeld:
            got.append(None)

    threads = [threading.Thread(target=ask, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == len(stores)
    assert sum(lease is not None for lease in got) == 1


def test_a_lease_that_was_given_back_writes_nothing(opening: Opening) -> None:
    store = opening()
    over = store.lease("run", "me")
    store.write(over, [Put("run/a", b"before")])
    store.release(over)
    for late in (
        lambda: store.write(over, [Put("run/a", b"late")]),
        lambda: store.write(over, [Append("run/a", b"late")]),
        lambda: store.write(over, [Swap("run/a", b"before", b"late")]),
        lambda: store.keep(over, [b"late"]),
        lambda: store.renew(over),
    ):
        with pytest.raises(LeaseLost):
            late()
    assert store.read("run/a") == b"before"
    assert store.names("") == ["run/a"]
    store.release(over)  # once more does no harm
    store.write(store.lease("run", "me"), [Put("run/a", b"after")])
    assert store.read("run/a") == b"after"


def test_a_store_that_is_closed_lets_the_next_one_on(opening: Opening) -> None:
    first = opening()
    held = first.lease("run", "first")
    first.release(held)
    first.close()
    assert opening().lease("run", "second").owner == "second"


def test_a_folder_is_forgotten_with_all_that_lies_in_it(opening: Opening, tmp_path: Path) -> None:
    store = opening()
    kept = KeptFolder(tmp_path / "run", store, store.lease("run", "me"), "run")
    for name in ("tasks/a/state.json", "tasks/a/deep/x.json", "tasks/ab/state.json"):
        kept.put(tmp_path / "run" / name, b"{}")
    kept.forget(tmp_path / "run" / "tasks" / "a")
    assert store.names("") == ["run/tasks/ab/state.json"]


@pytest.mark.parametrize("leaves", ["moved", "removed"])
def test_a_task_that_begins_anew_and_makes_the_same_files_is_kept_again(
    opening: Opening, tmp_path: Path, leaves: str
) -> None:
    store = opening()
    run = RunDir(tmp_path / "run")
    task = run.path / "tasks" / "a"
    with as_kept(KeptFolder(run.path, store, store.lease("run", "me"), "run")):
        for _ in range(2):
            (task / "workspace").mkdir(parents=True)
            (task / "workspace" / "x.csv").write_text("1")
            atomic_write(task / "result.json", "{}")
            atomic_write(run.path / "run.yaml", "x: 1\n")
            assert b"workspace/x.csv" in (store.read("run/tasks/a/tree.json") or b""), "lost with its machine"
            begin_anew(run, "a") if leaves == "moved" else remove_tree(task)


def test_what_a_task_called_tree_says_of_its_builds_comes_back(opening: Opening, tmp_path: Path) -> None:
    store = opening()
    kept = KeptFolder(tmp_path / "run", store, store.lease("run", "me"), "run")
    said = "steps/0001/builds/tree.json"
    with as_kept(kept):
        (tmp_path / "run" / said).parent.mkdir(parents=True)
        atomic_write(tmp_path / "run" / said, '{"task": "tree"}')
    fetch(KeptFolder(tmp_path / "again", store, kept.lease, "run"))
    assert (tmp_path / "again" / said).read_text() == '{"task": "tree"}'
