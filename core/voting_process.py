"""The server of the voting page as a process: how it says that it is there, and how the owner starts and stops it.

`voting.json` in the workspace names the process while it runs; its time of change is the heartbeat.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from .durable import private
from .errors import StoreError
from .processes import is_alive
from .store import Store
from .store.dialects import DATABASE, VOTERS_DATABASE

PORT = int(os.environ.get("RUNOFF_VOTING_PORT", "8600"))
BEAT_SECONDS = 5.0
STALE_SECONDS = 30.0
STARTS_WITHIN = 60.0  # seconds; where its process ends before that, the owner is told at once
_children: dict[int, subprocess.Popen[bytes]] = {}


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
    def url(self) -> str:
        """Its address as this machine sees it."""
        anywhere = ("0.0.0.0", "::")  # nosec B104 # compared with, not bound to
        host = "localhost" if self.is_local or self.host in anywhere else self.host
        return f"http://{host}:{self.port}"


def _file(store: Store) -> Path:
    return store.folder / "voting.json"


def announce(store: Store, host: str, port: int) -> Running:
    """Say that this process serves the voting page."""
    running = Running(os.getpid(), host, port, secrets.token_hex(8))
    part = _file(store).with_suffix(f".{running.pid}.part")
    with open(part, "w", encoding="utf-8", opener=private) as handle:
        handle.write(json.dumps(asdict(running)))
    part.replace(_file(store))
    return running


def beat(store: Store) -> None:
    """Say that it still does; nothing happens where another server has taken the place."""
    found = _read(store)
    if found is not None and found.pid == os.getpid():
        os.utime(_file(store))


def leave(store: Store) -> None:
    """Say that it is over."""
    found = _read(store)
    if found is not None and found.pid == os.getpid():
        _file(store).unlink(missing_ok=True)


def _read(store: Store) -> Running | None:
    try:
        found = json.loads(_file(store).read_text(encoding="utf-8"))
        return Running(int(found["pid"]), str(found["host"]), int(found["port"]), str(found["key"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def running_server(store: Store) -> Running | None:
    """The server of this workspace, if there is one with a fresh heartbeat."""
    child = _children.get(os.getpid())
    if child is not None and child.poll() is not None:
        _children.pop(os.getpid())
    found = _read(store)
    try:
        quiet = time.time() - _file(store).stat().st_mtime
    except OSError:
        return None
    return found if found is not None and quiet < STALE_SECONDS and is_alive(found.pid) else None


def start_server(store: Store, *, host: str = "127.0.0.1", port: int = PORT) -> Running:
    """Start the server and wait until it is there; `StoreError` with the end of its output where it doesn't come up."""
    found = running_server(store)
    if found is not None:
        return found
    package = __package__ or "core"
    module = "voting" if package == "core" else f"{package}.page"
    log = store.folder / "voting.log"
    command = [sys.executable, "-m", module, "--host", host, "--port", str(port)]
    with open(log, "wb", opener=private) as handle:
        process = subprocess.Popen(
            command,
            cwd=Path(__file__).resolve().parents[1],
            env=_environment(store),
            stdin=subprocess.DEVNULL,
            stdout=handle,
            stderr=handle,
            start_new_session=True,
        )
    _children[os.getpid()] = process
    for _ in range(int(STARTS_WITHIN / 0.1)):
        found = running_server(store)
        if found is not None and found.pid == process.pid:
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


def _environment(store: Store) -> dict[str, str]:
    """What the server is told; where voters have a role of their own, it never learns of the owner's."""
    told = {**os.environ, **store.environment}
    if told.get(VOTERS_DATABASE):
        told.pop(DATABASE)
    return told


def stop_server(store: Store) -> None:
    """End the server; votes that were confirmed are in the store. Nothing happens where none runs."""
    found = running_server(store)
    if found is None:
        return
    os.kill(found.pid, signal.SIGTERM)
    child = _children.pop(os.getpid(), None)
    for _ in range(100):
        if (child is not None and child.poll() is not None) or not is_alive(found.pid):
            break
        time.sleep(0.1)
    _file(store).unlink(missing_ok=True)
