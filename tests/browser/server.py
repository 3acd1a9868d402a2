"""The real app in a process of its own, and the Chromium that visits it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from core.store import engine

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
STARTS_WITHIN = 90.0  # seconds; the first start makes the demo


def environment_of(workspace: Path) -> dict[str, str]:
    """What a process must be told to work on a workspace, wherever its tables are."""
    url = engine.database_url(workspace)
    told = {} if url is None else {"RUNOFF_DATABASE_URL": url.render_as_string(hide_password=False)}
    return {"RUNOFF_WORKSPACE": str(workspace), **told}


def find_chromium() -> str:
    """The path of a Chromium; `FileNotFoundError` saying how to get one.

    Debian's shell without windows comes first: it takes a processor three fifths of the time.
    """
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise FileNotFoundError(
        "The browser tests need Chromium, and there is none on the PATH. Install it with `make chromium`, "
        'or leave these tests out with `make test-fast` (pytest -m "not browser").'
    )


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


class Server:
    """`streamlit run app.py` on a workspace. The port stays the same over restarts, as open tabs expect."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.log = workspace.with_name(workspace.name + ".log")
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    folder = ROOT  # where the command is given

    def _command(self) -> list[str]:
        return [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)]

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def start(self) -> None:
        """Start the server and wait until it answers; `RuntimeError` with the end of its log if it doesn't."""
        self.workspace.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                cwd=self.folder,
                env={**os.environ, **environment_of(self.workspace)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        tick = 0.05
        for _ in range(int(STARTS_WITHIN / tick)):
            if self._answers():
                return
            try:
                self._process.wait(tick)
            except subprocess.TimeoutExpired:
                continue
            raise RuntimeError(f"The app ended at its start. Its log:\n{self._log_end()}")
        self.kill()
        raise RuntimeError(f"The app did not answer within {STARTS_WITHIN:.0f} s. Its log:\n{self._log_end()}")

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def _log_end(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")[-3000:]

    def kill(self) -> None:
        """End the server at once, without a chance to tidy up."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
