"""The real server of the voting page in a process of its own, on a workspace with an open ballot."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from core.questions.comparison_page import Wording
from core.questions.voting_settings import VotingSettings
from core.store import Store, open_store
from core.store.ballots.drawing import draw_next_ballot
from core.store.engine import _open
from core.store.projects.plans import save_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas
from core.store.voting.owner_commands import open_voting
from core.tokens.files import AreaTokens
from tests.browser.server import environment_of
from tests.campaigns import PLAN

ROOT = Path(__file__).resolve().parents[1]
STARTS_WITHIN = 60.0


def make_voting(
    store: Store,
    settings: VotingSettings,
    *,
    tokens: tuple[str, ...],
    appearances: int,
    wording: Wording = Wording(),  # noqa: B008  (frozen)
) -> tuple[str, str]:
    """A project of one area with an open ballot and its voting page; its id and the link's code."""
    project_id = create_project(store, "Voting", seed=11)
    add_areas(store, project_id, [AreaTokens("Things", tokens)])
    save_plan(store, project_id, replace(PLAN, n_ballots=2, appearances=appearances, wording=wording))
    draw_next_ballot(store, project_id)
    return project_id, open_voting(store, project_id, settings)


class VotingServer:
    """`python -m voting` on a workspace. The port stays the same over restarts."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.log = workspace.with_name(workspace.name + "-voting.log")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def start(self, *options: str) -> None:
        """Start it and wait until it answers; `RuntimeError` with its log if it doesn't."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "voting", "--port", str(self.port), *options],
                cwd=ROOT,
                env={**os.environ, **environment_of(self.workspace)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        for _ in range(int(STARTS_WITHIN / 0.05)):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        self.kill()
        raise RuntimeError(f"The server did not start:\n{self.log.read_text(errors='replace')[-3000:]}")

    def kill(self) -> None:
        """End it at once (SIGKILL)."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def serving(folder: Path) -> Iterator[tuple[Store, VotingServer]]:
    """A new workspace and the server on it, until the end of the block."""
    store = open_store(folder)
    server = VotingServer(store.folder)
    server.start()
    yield store, server
    server.kill()
    store.engine.dispose()
    _open.cache_clear()
