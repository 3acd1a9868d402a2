"""The server of the voting page as a process: how it says that it is there, and how the owner starts and stops it.

A file in the workspace (`voting.json.` and a key) names a process while it runs; its time of change is the heartbeat.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ..base.durable import private
from ..base.processes import free_port, is_alive, refused
from ..errors import StoreError
from ..installed import VOTING
from ..store import Store
from ..store.dialects import DATABASE, VOTERS_DATABASE, is_postgresql

PORT = int(os.environ.get("RUNOFF_VOTING_PORT", "8600"))
STALE_SECONDS = 30.0
STOPS_WITHIN = 10.0  # seconds; a server gives its voters five to get their answers
STARTS_WITHIN = 60.0  # seconds; where its process ends before that, the owner is told at once
_children: dict[int, subprocess.Popen[bytes]] = {}  # by their ids


@dataclass(frozen=True)
class Running:
    """A server that is there: its process, where it listens, and a name that no other start has."""

    pid: int
    host: str
    port: int
    key: str

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        return self.host in ("127.0.0.1", "localhost", "::1")

    @property
    def ends_with_app(self) -> bool:
        """Whether this process started it: then it ends with this process."""
        return self.pid in _children

    @property
    def url(self) -> str:
        """Its address as this machine sees it."""
        anywhere = ("0.0.0.0", "::")  # nosec B104 # compared with, not bound to
        host = "localhost" if self.is_local or self.host in anywhere else self.host
        return f"http://{host}:{self.port}"


def announce(store: Store, host: str, port: int) -> Running:
    """Say that this process serves the voting page, and forget those that ended without a word."""
    for path, found in _known(store):
        if found is None or found.pid == os.getpid() or not is_alive(found.pid):
            path.unlink(missing_ok=True)
    running = Running(os.getpid(), host, port, secrets.token_hex(8))
    part = store.folder / f"voting.{running.pid}.part"
    with open(part, "w", encoding="utf-8", opener=private) as handle:
        handle.write(json.dumps(asdict(running)))
    part.replace(store.folder / f"voting.json.{running.key}")
    return running


def beat(store: Store) -> None:
    """Say that it still does."""
    for path in _mine(store):
        with suppress(FileNotFoundError):  # the owner is just ending it
            os.utime(path)


def leave(store: Store) -> None:
    """Say that it is over."""
    for path in _mine(store):
        path.unlink(missing_ok=True)


def _known(store: Store) -> list[tuple[Path, Running | None]]:
    """The files of all servers; None for what says nothing. An earlier Runoff has one file without a name's end."""
    return [(path, _read(path)) for path in sorted(store.folder.glob("voting.json*"))]


def _mine(store: Store) -> list[Path]:
    return [path for path, found in _known(store) if found is not None and found.pid == os.getpid()]


def _read(path: Path) -> Running | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Running(int(found["pid"]), str(found["host"]), int(found["port"]), str(found["key"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def running_servers(store: Store) -> list[Running]:
    """The servers of this workspace with a fresh heartbeat, by host and port."""
    for pid in [pid for pid, child in _children.items() if child.poll() is not None]:
        del _children[pid]
    found = [running for path, running in _known(store) if running is not None and _is_fresh(path)]
    return sorted((one for one in found if is_alive(one.pid)), key=lambda one: (one.host, one.port))


def _is_fresh(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime < STALE_SECONDS
    except OSError:
        return False


def running_server(store: Store) -> Running | None:
    """One of the servers of this workspace, if there is any."""
    return next(iter(running_servers(store)), None)


def start_server(store: Store, *, host: str = "127.0.0.1", port: int | None = None) -> Running:
    """Start the server and wait until it is there; `StoreError` with the end of its output where it doesn't come up.

    Without a port it is the usual one, or the next that nobody listens on: the link that is shown follows. It ends
    when this process does, however that ends.
    """
    found = running_server(store)
    if found is not None:
        return found
    log = store.folder / "voting.log"
    if port is None:
        port = free_port(host, PORT) or PORT
    command = [sys.executable, "-m", VOTING, "--host", host, "--port", str(port), "--until-input-ends"]
    with open(log, "wb", opener=private) as handle:
        process = subprocess.Popen(
            command,
            cwd=Path(__file__).resolve().parents[2],
            env=_environment(store),
            stdin=subprocess.PIPE,  # nothing is ever written: its end says that this process is gone
            stdout=handle,
            stderr=handle,
            start_new_session=True,
        )
    for _ in range(int(STARTS_WITHIN / 0.1)):
        found = next((one for one in running_servers(store) if one.pid == process.pid), None)
        if found is not None:
            _children[process.pid] = process
            return found
        if process.poll() is not None:
            break
        time.sleep(0.1)
    ended = process.poll() is not None
    process.kill()
    process.wait()
    said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    silent = "it said nothing" if ended else f"it was not there within {STARTS_WITHIN:.0f} s"
    raise StoreError(f"The voting page did not start: {' '.join(said) or silent} (voting.log has more).")


def move_server(store: Store, running: Running, host: str) -> Running:
    """Serve at another address of this machine in place of `running`, by the same port where that is free there.

    Voters find their place again at the new address. Errors as of `start_server` and `stop_servers`.
    """
    stop_servers(store, [running])
    return start_server(store, host=host, port=running.port if refused(host, running.port) is None else None)


def _environment(store: Store) -> dict[str, str]:
    """What the server is told; where voters have a role of their own, it never learns of the owner's.

    That role is of PostgreSQL: the server of a workspace in SQLite, such as a copy beside it, never gets it.
    """
    told = {**os.environ, **store.environment}
    if not is_postgresql(store.engine):
        told.pop(VOTERS_DATABASE, None)
    if told.get(VOTERS_DATABASE):
        told.pop(DATABASE)
    return told


def stop_started() -> int:
    """End the servers that this process started, as it ends itself; how many there were."""
    found = [child for child in _children.values() if child.poll() is None]
    for child in found:
        child.terminate()
    for child in found:
        try:
            child.wait(STOPS_WITHIN)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    _children.clear()
    return len(found)


def stop_servers(store: Store, only: Sequence[Running] | None = None) -> None:
    """End all servers of the workspace, or `only` some; votes that were confirmed are in the store.

    Nothing happens where none runs. Raises `StoreError` for those that somebody else started, once the others are
    ended.
    """
    found, others = running_servers(store) if only is None else list(only), []
    for running in found:
        try:
            os.kill(running.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass  # it ended by itself
        except PermissionError:
            others.append(running)
    ended = [running for running in found if running not in others]
    for _ in range(int(STOPS_WITHIN / 0.1)):
        if not any(_lives(running.pid) for running in ended):
            break
        time.sleep(0.1)
    for path, known in _known(store):
        if known in ended:
            path.unlink(missing_ok=True)
    if others:
        pids = ", ".join(str(running.pid) for running in others)
        raise StoreError(f"Another user started the voting page (process {pids}), so it can't be ended from here.")


def _lives(pid: int) -> bool:
    child = _children.get(pid)
    return is_alive(pid) if child is None else child.poll() is None
