"""Where runs are kept besides their folder: files elsewhere, or a PostgreSQL database. See `core.ports.RunStore`."""

from habilis.rundir.store.files import FileStore
from habilis.rundir.store.opening import copy_out, joined_run, open_store

__all__ = ["FileStore", "copy_out", "joined_run", "open_store"]
