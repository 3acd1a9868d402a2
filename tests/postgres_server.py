"""A PostgreSQL server of the tests' own: Debian's programs, a folder that goes again, a socket and no port."""

from __future__ import annotations

import ctypes
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import sqlalchemy as sa

from core.store.backups import find_program
from core.store.postgresql import make_engine

# Only the server's machine could lose what isn't on the disk, and the tests kill clients.
QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
SAFE = ("fsync=on", "synchronous_commit=on")


def is_installed() -> bool:
    """Whether this machine has PostgreSQL's server."""
    return find_program("initdb") is not None


class PostgresServer:
    """A server with one role, "runoff", and databases made from a template."""

    def __init__(self, folder: Path, user: str | None) -> None:
        self.folder, self._user = folder, user
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str, role: str = "runoff") -> sa.URL:
        """The address of a database, by the server's socket."""
        return sa.URL.create("postgresql", username=role, database=database, query={"host": str(self.folder)})

    def admin(self) -> sa.Engine:
        """An engine for statements on whole databases."""
        url = self.url("postgres").set(drivername="postgresql+psycopg")
        return sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)

    def engine(self, database: str) -> sa.Engine:
        """An engine as the store has it."""
        return make_engine(self.url(database))

    def create(self, template: str = "template0") -> str:
        """Make a database as a copy of another one that nobody uses, and return its name."""
        name = f"test_{secrets.token_hex(6)}"
        with self.admin().connect() as conn:
            conn.exec_driver_sql(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy')
        return name

    def drop(self, name: str) -> None:
        """Delete a database, whoever uses it."""
        with self.admin().connect() as conn:
            conn.exec_driver_sql(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def start(self, *settings: str) -> None:
        """Start the server and wait until it answers; it ends with this process, however that ends."""
        given = ("listen_addresses=", f"unix_socket_directories={self.folder}", "max_connections=200", *settings)
        options = [part for setting in given for part in ("-c", setting)]
        with open(self.folder / "server.log", "ab") as log:
            self._process = subprocess.Popen(
                [find_program("postgres") or "postgres", "-D", str(self.folder / "data"), *options],
                user=self._user,
                preexec_fn=_die_with_parent,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        for _ in range(600):
            with suppress(sa.exc.OperationalError), self.admin().connect():
                return
            if self._process.poll() is not None:
                break
            time.sleep(0.05)
        self.stop()
        raise RuntimeError((self.folder / "server.log").read_text(errors="replace")[-2000:])

    def seconds_of_ended(self) -> float:
        """Seconds of a processor that the server's sessions took which have ended, on Linux; elsewhere 0."""
        status = Path(f"/proc/{self._process.pid if self._process else 0}/stat")
        if not status.exists():
            return 0.0
        fields = status.read_text().rpartition(")")[2].split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """End the server at once, as if the machine had lost its power."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(60)
            self._process = None


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGQUIT)


def _run(command: list[str], user: str | None) -> None:
    done = subprocess.run(command, user=user, stdin=subprocess.DEVNULL, capture_output=True, cwd="/")
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}:\n{(done.stdout + done.stderr).decode(errors='replace')[-2000:]}")


def memory_folder() -> str | None:
    """A folder without a disk below, where there is one with room: each workspace takes 8 MB."""
    memory = Path("/dev/shm")
    return str(memory) if memory.is_dir() and shutil.disk_usage(memory).free > 2**31 else None


@contextmanager
def postgres_server(settings: tuple[str, ...] = QUICK, *, in_memory: bool = True) -> Iterator[PostgresServer]:
    """A server that runs in the block. As root it is Debian's user postgres: PostgreSQL refuses root."""
    user = "postgres" if os.getuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="runoff-pg-", dir=memory_folder() if in_memory else None))
    server = PostgresServer(folder, user)
    try:
        if user:
            entry = pwd.getpwnam(user)
            os.chown(folder, entry.pw_uid, entry.pw_gid)
            folder.chmod(0o755)
        initdb = [find_program("initdb") or "initdb", "-D", str(folder / "data"), "-U", "runoff", "-A", "trust"]
        # Another order of letters than SQLite's, so that a test sees who relies on the database's own.
        locale = ["--encoding=UTF8", "--locale-provider=icu", "--icu-locale=en-US", "--locale=C.UTF-8", "--no-sync"]
        _run([*initdb, *locale], user)
        server.start(*settings)
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


__all__ = ["QUICK", "SAFE", "PostgresServer", "is_installed", "memory_folder", "postgres_server"]
