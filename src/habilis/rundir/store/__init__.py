"""Where runs are kept besides their folder: files elsewhere, or a PostgreSQL database. See `core.ports.RunStore`."""

from habilis.rundir.store.files import FileStore
from habilis.rundir.store.opening import joined_run, open_store

__all__ = ["FileStore", "joined_run", "open_store"]
