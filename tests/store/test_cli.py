"""`habilis store`, and what `habilis evolve` says where the store is not what it needs: one line and a code."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import psycopg
import pytest

from habilis.cli import main
from habilis.core.ports import Put
from habilis.rundir.store import open_store
from habilis.rundir.store.schema import MIGRATIONS

from .postgres import PASSWORD, POSTGRES, PostgresServer
from .test_pruning import tree

pytestmark = POSTGRES


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps({"id": "one", "question": "What is 2+3*4?", "answer": "14"}) + "\n")
    return path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(list(words))
    streams = capsys.readouterr()
    return code, streams.out + streams.err


def test_tables_are_made_checked_and_made_again(server: PostgresServer, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"store={server.fresh()}"
    code, text = said(capsys, "store", "check", "--set", url)
    assert (code, text.count("\n")) == (2, 1)
    assert "habilis store init" in text
    code, text = said(capsys, "store", "migrate", "--set", url)
    assert code == 2
    assert "habilis store init" in text
    code, text = said(capsys, "store", "init", "--set", url)
    assert (code, f"version {len(MIGRATIONS)}" in text) == (0, True)
    code, text = said(capsys, "store", "init", "--set", url)
    assert (code, "already" in text) == (0, True)
    code, text = said(capsys, "store", "migrate", "--set", url)
    assert (code, "already" in text) == (0, True)
    code, text = said(capsys, "store", "check", "--set", url)
    assert (code, "can be used" in text) == (0, True)


def test_a_command_without_a_store_says_how_to_name_one(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(capsys, "store", "check")
    assert (code, "--set store=" in text) == (2, True)


def test_a_training_says_in_one_line_what_is_wrong_with_its_store(
    server: PostgresServer,
    template: str,
    dataset: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    newer = server.fresh(template)
    with psycopg.connect(newer) as connection:
        connection.execute("INSERT INTO habilis.version VALUES (99, now())")
    at = f"127.0.0.1:{server.port}"
    monkeypatch.setenv("PGPASSWORD", "not-the-w0rd-4711")
    for url, wanted, words in (
        ("postgresql://127.0.0.1:1/habilis", 5, "cannot be reached"),
        (f"postgresql://{at}/postgres?user=habilis", 2, "PGPASSWORD"),
        (server.url("no_such_one"), 2, "createdb"),
        (server.fresh(), 2, "habilis store init"),
        (newer, 2, "use a newer one"),
        ("mysql://db/x", 2, "not the address of a store"),
    ):
        code, text = said(
            capsys, "evolve", "-c", "offline", "--dataset", str(dataset), "--run-name", "one", "--set", f"store={url}"
        )
        assert (code, text.count("\n")) == (wanted, 1), text
        assert words in text
        assert "not-the-w0rd" not in text
        assert not Path("runs/one").exists(), "a run that could not begin leaves its name free"


def test_a_training_is_kept_under_a_password_of_the_environment_and_goes_on_from_an_empty_disk(
    server: PostgresServer,
    database: str,
    dataset: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is needed elsewhere is the store's address, the password in the environment, and the run's name."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    name = database.partition("///")[2].partition("?")[0]
    monkeypatch.setenv("HABILIS_STORE", f"postgresql://habilis@127.0.0.1:{server.port}/{name}")
    more = ("-c", "offline", "--json")
    code, text = said(capsys, "evolve", *more, "--dataset", str(dataset), "--run-name", "one")
    assert code == 0, text
    record = Path("runs/one/run.yaml").read_text()
    assert PASSWORD not in record
    assert "store: postgresql://***@127.0.0.1" in record
    with psycopg.connect(database) as connection:
        rows = connection.execute("SELECT string_agg(data, ''::bytea ORDER BY at) FROM habilis.chunk").fetchone()
        assert rows is not None
        assert PASSWORD.encode() not in rows[0]
    Path("runs").rename("lost")
    code, text = said(capsys, "evolve", *more, "--resume", "--run-name", "one")
    assert code == 0, text
    assert json.loads(text)["left"] == 0
    assert Path("runs/one/predictions.jsonl").read_bytes() == Path("lost/one/predictions.jsonl").read_bytes()
    code, text = said(capsys, "evolve", *more, "--resume", "--run-name", "two")
    assert (code, "no run named two" in text) == (2, True)


def with_an_old_content(url: str) -> str:
    """Two contents in the store, one that a run refers to and one that nothing does: the digest of the latter."""
    with contextlib.closing(open_store(url)) as store:
        lease = store.lease("first", "me")
        _, old = store.keep(lease, [b"new", b"old!"])
        store.write(lease, [Put("first/tasks/a/tree.json", tree(b"new"))])
        store.release(lease)
    return old


@pytest.fixture(params=["files", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store of either kind."""
    return (tmp_path / "store").as_uri() if request.param == "files" else request.getfixturevalue("database")


def test_what_nothing_refers_to_goes_only_when_it_is_copied_or_somebody_said_so(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, copies = with_an_old_content(url), tmp_path / "copies"
    prune = ("store", "prune", "--set", f"store={url}")
    code, text = said(capsys, *prune)
    assert (code, "1 content (4 B) would be removed; confirm with --yes" in text) == (2, True), text
    code, text = said(capsys, *prune, "--dry-run", "--to", str(copies))
    assert (code, text.endswith(": would remove 1 content (4 B) that nothing refers to\n")) == (0, True), text
    assert not copies.exists()
    with contextlib.closing(open_store(url)) as store:
        assert store.blob(old) == b"old!", "looking removes nothing"
    code, text = said(capsys, *prune, "--to", str(copies))
    assert (code, text.count("\n")) == (0, 1), text
    assert text.endswith(f": removed 1 content (4 B) that nothing refers to; copies are in {copies}\n")
    assert (copies / old[:2] / old).read_bytes() == b"old!"
    code, text = said(capsys, *prune)
    assert (code, "removed 0 contents (0 B)" in text) == (0, True), "nothing to ask for"
    assert with_an_old_content(url) == old
    code, text = said(capsys, *prune, "--yes")
    assert (code, "removed 1 content (4 B)" in text) == (0, True), text


def test_what_cannot_be_copied_is_not_removed(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = with_an_old_content(url)
    (tmp_path / "copies").write_text("a file")
    code, text = said(capsys, "store", "prune", "--set", f"store={url}", "--to", str(tmp_path / "copies"))
    assert (code, text.count("\n")) == (2, 1), text
    with contextlib.closing(open_store(url)) as store:
        assert store.blob(old) == b"old!"


def test_pruning_says_what_stays_for_trainings_at_work(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.closing(open_store(url)) as store:
        store.keep(store.lease("first", "me"), [b"soon"])
        code, text = said(capsys, "store", "prune", "--set", f"store={url}", "--yes")
        assert (code, "1 content (4 B) may be needed by trainings that are at work" in text) == (0, True), text


def test_pruning_says_in_one_line_what_is_wrong(
    server: PostgresServer, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with contextlib.closing(open_store(url)) as store:
        store.write(store.lease("first", "me"), [Put("first/tasks/a/tree.json", b"{")])
    for address, wanted, words in (
        (url, 2, "first/tasks/a/tree.json in the store is damaged"),
        (server.fresh(), 2, "habilis store init"),
        ("postgresql://127.0.0.1:1/habilis", 5, "cannot be reached"),
    ):
        code, text = said(capsys, "store", "prune", "--set", f"store={address}", "--dry-run")
        assert (code, text.count("\n"), words in text) == (wanted, 1, True), text
