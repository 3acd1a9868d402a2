"""A project as large as they get: 2,000 tokens in 20 areas, a million comparisons, a million votes in one file."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from streamlit.testing.v1 import AppTest

from bench.table import Line
from core.platforms.plain import comparison_ids
from core.store import Store, open_store
from core.store.areas import add_areas
from core.store.ballots import read_comparisons
from core.store.closing import close_ballot
from core.store.drawing import draw_next_ballot
from core.store.plans import PlanSettings, save_plan
from core.store.projects import create_project
from core.tokens import AreaTokens

MAIN = Path(__file__).parents[1] / "ui" / "main.py"
PAGES = ("project", "embeddings", "tokens", "plan", "collect", "scores", "evaluate", "export")


def lines(*, quick: bool) -> Iterator[Line]:
    """Drawing, a file of votes, the pages after it, closing; `quick` takes 10 tokens an area, and all votes."""
    n_tokens, n_votes = (10, 9_000) if quick else (100, 1_000_000)
    areas = [AreaTokens(f"Area {a}", tuple(f"token {a}-{i}" for i in range(n_tokens))) for a in range(20)]
    with (
        tempfile.TemporaryDirectory() as name,
        patch.dict(os.environ, {"RUNOFF_WORKSPACE": str(Path(name) / "workspace")}),
    ):
        store = open_store()
        project = create_project(store, "Large", seed=6)
        add_areas(store, project, areas)
        save_plan(store, project, PlanSettings(n_ballots=2, keep=0.5, appearances=21, seed=7))
        yield from _campaign(store, project, n_votes)
        store.engine.dispose()


def _campaign(store: Store, project: str, n_votes: int) -> Iterator[Line]:
    drawing = _timed(lambda: draw_next_ballot(store, project))
    data, n_comparisons = _answers(store, project, n_votes)
    yield Line(f"drawing a ballot of {n_comparisons:,} comparisons into the store", drawing, limit=10.0)
    n_votes = min(n_votes, n_comparisons)
    _visit(project)  # so that what comes next is no first visit
    yield from _upload(store, project, data, n_votes)
    first, later = _visit(project), _visit(project)
    yield Line(f"the scores page after {n_votes:,} votes, at first", first.pop("scores"), limit=2.0)
    for when, times in (("at first", first), ("a run later", later)):
        slowest = max(times, key=times.__getitem__)
        yield Line(f"the slowest other page {when}" if when == "at first" else f"the slowest page {when}",
                   times[slowest], limit=1.0, note=slowest)  # fmt: skip
    closing = _timed(lambda: close_ballot(store, project))
    yield Line("closing that ballot, with 1,000 resamples", closing, limit=60.0)


# In a process of its own, for its peak memory; ru_maxrss won't do on Linux: a child starts with its parent's.
_UPLOAD = """
import sys, time
from pathlib import Path
from core.store import open_store
from core.store.votes import accept_upload, preview_upload
store, project, data = open_store(Path(sys.argv[1])), sys.argv[2], Path(sys.argv[3]).read_bytes()
start = time.perf_counter()
found = preview_upload(store, project, data, "votes.csv")
middle = time.perf_counter()
accept_upload(store, project, data, "votes.csv", found=found)
print(middle - start, time.perf_counter() - middle)
status = Path("/proc/self/status")
if status.exists():
    print(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")))
"""


def _upload(store: Store, project: str, data: bytes, n_votes: int) -> Iterator[Line]:
    """A file of votes as the page takes it: its preview, then its votes by that preview; and the memory it takes."""
    path = store.folder / "votes.csv"
    path.write_bytes(data)
    command = [sys.executable, "-c", _UPLOAD, str(store.folder), project, str(path)]
    told = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    preview, taking = float(told[0]), float(told[1])
    yield Line(f"a file of {n_votes:,} votes: its preview", preview, limit=10.0)
    yield Line(f"a file of {n_votes:,} votes: taking them", taking, limit=15.0)
    yield Line("both", preview + taking, limit=20.0)
    if len(told) > 2:
        yield Line("peak memory of both", int(told[2]) * 1024 / 1e6, limit=2000.0, unit="MB")


def _answers(store: Store, project: str, n_votes: int) -> tuple[bytes, int]:
    """A table of votes on the first comparisons, 200 voters in turn by task; how many comparisons there are."""
    comparisons = read_comparisons(store, project, 1)
    choices = np.random.default_rng(8).choice(["left", "right", "tie"], size=len(comparisons)).tolist()
    voters = (comparisons["task_id"].factorize()[0] % 200).tolist()
    rows = zip(comparison_ids(comparisons).tolist()[:n_votes], voters, choices, strict=False)
    text = "".join(f"{comparison},W{voter},{choice}\n" for comparison, voter, choice in rows)
    return f"comparison_id,voter,choice\n{text}".encode(), len(comparisons)


def _visit(project: str) -> dict[str, float]:
    """The seconds of one run of each page's script, without a browser."""
    times = {}
    for key in PAGES:
        app = AppTest.from_file(str(MAIN), default_timeout=600)
        app.query_params["project"] = project
        if key != "project":
            # The first run of a session is the front page's, which the cache has.
            app.run()
            app.switch_page(f"../pages/{key}.py")
        times[key] = _timed(app.run)
        if app.exception:
            raise RuntimeError(f"The page {key} failed: {app.exception[0].value}")
    return times


def _timed(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
