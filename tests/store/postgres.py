"""A PostgreSQL server for tests: started as an ordinary user in a folder of its own, on loopback, and stopped again."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import psycopg
import pytest

POSTGRES = [pytest.mark.postgres, pytest.mark.slow]
"""Marks of what needs a server: part of `make test-postgres`."""
PASSWORD = "loc4l-w0rd-of-tests"
_RULES = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
_SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{folder}'
max_connections = 60
shared_buffers = 16MB
fsync = {fsync}
"""


def programs() -> Path | None:
    """The folder of `initdb` and `postgres`; None where they are not there."""
    versions = Path("/usr/lib/postgresql")
    known = sorted(versions.glob("*/bin"), key=lambda path: path.parent.name.zfill(4)) if versions.is_dir() else []
    on_path = [Path(found).resolve().parent for found in [shutil.which("initdb")] if found]
    return next((path for path in [*reversed(known), *on_path] if (path / "initdb").is_file()), None)


class PostgresServer:
    """One server with its data folder. `url` names a database on its socket, without a password."""

    def __init__(self, bin_folder: Path, *, durable: bool = False) -> None:
        self._bin, self._durable = bin_folder, durable
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self._user = "nobody" if os.geteuid() == 0 else None  # PostgreSQL refuses to run as root
        if self._user:
            known = pwd.getpwnam(self._user)
            os.chown(self.folder, known.pw_uid, known.pw_gid)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._count = 0

    def begin(self) -> None:
        word = self.folder / "word"
        word.write_text(PASSWORD)
        word.chmod(0o644)
        data = self.folder / "data"
        self._call(
            "initdb", "-D", data, "-U", "habilis", "--pwfile", word, "-A", "trust", "-N", "-E", "UTF8", "--locale=C"
        )
        (data / "pg_hba.conf").write_text(_RULES)
        (data / "postgresql.conf").write_text(_SETTINGS.format(port=self.port, folder=self.folder, fsync=self._durable))
        self.start()

    def start(self) -> None:
        data = self.folder / "data"
        self._call("pg_ctl", "-D", data, "-w", "-t", "60", "-l", self.folder / "log", "start")

    def stop(self, mode: str = "immediate") -> None:
        self._call("pg_ctl", "-D", self.folder / "data", "-w", "-m", mode, "stop")

    def end(self) -> None:
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str, **options: str) -> str:
        more = "".join(f"&{name}={value}" for name, value in options.items())
        return f"postgresql:///{database}?host={self.folder}&port={self.port}&user=habilis{more}"

    def fresh(self, template: str = "template0") -> str:
        """The address of a new database."""
        self._count += 1
        name = f"fresh_{os.getpid()}_{self._count}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY wal_log".encode())
        return self.url(name)

    def _call(self, program: str, *arguments: object) -> None:
        words: Sequence[str] = [str(self._bin / program), *map(str, arguments)]
        done = subprocess.run(
            words,
            cwd=self.folder,
            user=self._user,
            group=pwd.getpwnam(self._user).pw_gid if self._user else None,
            extra_groups=[] if self._user else None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # the server keeps it open: a pipe would never end
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"},
            check=False,
        )
        if done.returncode:
            log = self.folder / "log"
            said = log.read_text()[-500:] if log.is_file() else ""
            raise RuntimeError(f"{program} ended with {done.returncode}: {said}")
