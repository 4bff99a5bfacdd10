"""Which store an address means, and what is done with any of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from habilis.core.errors import UserError
from habilis.rundir.files import place
from habilis.rundir.kept import KeptFolder, as_kept
from habilis.rundir.store.files import FileStore

if TYPE_CHECKING:
    from habilis.core.ports import Lease, RunStore


def open_store(url: str) -> RunStore:
    """The store at `url`: `postgresql://…`, or `file:///folder`. Raises `UserError`, `PlaceError`."""
    if url.startswith("file:///"):
        return FileStore(Path(unquote(urlsplit(url).path)))
    try:
        from habilis.rundir.store.postgres import PostgresStore
    except ImportError as error:
        raise UserError(
            f"store: PostgreSQL needs the package psycopg ({error}): pip install 'habilis[postgres]'"
        ) from None
    return PostgresStore(url)


def copy_out(store: RunStore, digests: Iterable[str], folder: Path) -> None:
    """Write contents of the store below `folder`, each in a file whose name is its digest; they are on the disk when
    this returns. Raises `UserError` for one that is damaged, `PlaceError`, OSError."""
    for digest in digests:
        path = folder / digest[:2] / digest
        path.parent.mkdir(parents=True, exist_ok=True)
        place(path, store.blob(digest))


@contextlib.contextmanager
def joined_run(url: str | None, path: Path, lease: Lease | None) -> Iterator[None]:
    """Have what this process writes of the run at `path` kept under the `lease` of the one that started it, if it has
    one. Raises `UserError`, `PlaceError`."""
    if lease is None or url is None:
        yield
        return
    with contextlib.closing(open_store(url)) as store, as_kept(kept := KeptFolder(path, store, lease, path.name)):
        yield
        kept.write([])  # whoever started it builds on all of that
