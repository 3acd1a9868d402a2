"""A project as large as they get: 2,000 tokens in 20 areas, a million comparisons, a million votes in one file.

`python -m bench.scale --largest` takes two million votes of 3,000 voters, by both protocols; it is apart from
`make bench`, as it takes a quarter of an hour.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
import numpy as np
import pyarrow as pa
from streamlit.testing.v1 import AppTest

from bench.table import Line, print_lines
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
PAGES = ("project", "embeddings", "tokens", "plan", "collect", "voters", "scores", "evaluate", "export", "schemes")
MOST_ROWS = 5_000  # that a page may send to the browser


@dataclass(frozen=True)
class Size:
    """What is measured; seconds that drawing, preview, taking, both and closing may take."""

    n_tokens: int = 100  # in each of 20 areas
    n_votes: int = 1_000_000
    n_voters: int = 200
    appearances: int = 21
    protocol: str = "paper"
    limits: tuple[float, float, float, float, float] = (10.0, 10.0, 15.0, 20.0, 60.0)


LARGEST = Size(n_votes=2_000_000, n_voters=3_000, appearances=42, limits=(25.0, 25.0, 35.0, 45.0, 180.0))


def lines(*, quick: bool, size: Size | None = None) -> Iterator[Line]:
    """Drawing, a file of votes, the pages after it, closing; `quick` takes 10 tokens an area, and all votes."""
    size = size or (Size(n_tokens=10, n_votes=9_000) if quick else Size())
    areas = [AreaTokens(f"Area {a}", tuple(f"token {a}-{i}" for i in range(size.n_tokens))) for a in range(20)]
    with (
        tempfile.TemporaryDirectory() as name,
        patch.dict(os.environ, {"RUNOFF_WORKSPACE": str(Path(name) / "workspace")}),
    ):
        store = open_store()
        project = create_project(store, "Large", seed=6)
        add_areas(store, project, areas)
        plan = PlanSettings(n_ballots=2, keep=0.5, appearances=size.appearances, seed=7, protocol=size.protocol)
        save_plan(store, project, plan)
        yield from _campaign(store, project, size)
        store.engine.dispose()


def _campaign(store: Store, project: str, size: Size) -> Iterator[Line]:
    drawing = _timed(lambda: draw_next_ballot(store, project))
    data, n_comparisons = _answers(store, project, size)
    yield Line(f"drawing a ballot of {n_comparisons:,} comparisons into the store", drawing, limit=size.limits[0])
    n_votes = min(size.n_votes, n_comparisons)
    _visit(project)  # so that what comes next is no first visit
    yield from _upload(store, project, data, n_votes, size)
    yield from _pages(project, f"{n_votes:,} votes")
    closing = _timed(lambda: close_ballot(store, project))
    yield Line(f"closing that ballot ({size.protocol}), with its intervals", closing, limit=size.limits[4])
    yield from _pages(project, "closing")


def _pages(project: str, what: str) -> Iterator[Line]:
    (first, _), (later, rows) = _visit(project), _visit(project)
    for when, times, limit in (("at first", first, 2.0), ("a run later", later, 1.0)):
        slowest = max(times, key=times.__getitem__)
        yield Line(f"the slowest page after {what}, {when}", times[slowest], limit=limit, note=slowest)
    largest = max(rows, key=rows.__getitem__)
    yield Line(
        f"most rows of a table or chart on a page after {what}",
        rows[largest],
        limit=MOST_ROWS,
        unit="rows",
        note=largest,
    )


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


def _upload(store: Store, project: str, data: bytes, n_votes: int, size: Size) -> Iterator[Line]:
    """A file of votes as the page takes it: its preview, then its votes by that preview; and the memory it takes."""
    path = store.folder / "votes.csv"
    path.write_bytes(data)
    command = [sys.executable, "-c", _UPLOAD, str(store.folder), project, str(path)]
    told = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    preview, taking = float(told[0]), float(told[1])
    yield Line(f"a file of {n_votes:,} votes: its preview", preview, limit=size.limits[1])
    yield Line(f"a file of {n_votes:,} votes: taking them", taking, limit=size.limits[2])
    yield Line("both", preview + taking, limit=size.limits[3])
    if len(told) > 2:
        yield Line("peak memory of both", int(told[2]) * 1024 / 1e6, limit=max(2 * n_votes / 1000, 500.0), unit="MB")


def _answers(store: Store, project: str, size: Size) -> tuple[bytes, int]:
    """A table of votes on the first comparisons, voters in turn by task; how many comparisons there are."""
    comparisons = read_comparisons(store, project, 1)
    choices = np.random.default_rng(8).choice(["left", "right", "tie"], size=len(comparisons)).tolist()
    voters = (comparisons["task_id"].factorize()[0] % size.n_voters).tolist()
    rows = zip(comparison_ids(comparisons).tolist()[: size.n_votes], voters, choices, strict=False)
    text = "".join(f"{comparison},W{voter},{choice}\n" for comparison, voter, choice in rows)
    return f"comparison_id,voter,choice\n{text}".encode(), len(comparisons)


def _visit(project: str) -> tuple[dict[str, float], dict[str, int]]:
    """The seconds of one run of each page's script, without a browser; and the rows of its largest table or chart."""
    times, rows = {}, {}
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
        rows[key] = max((_rows_of(element) for element in _tables(app)), default=0)
    return times, rows


def _tables(app: AppTest) -> Iterator[Any]:
    """What a page sends as Arrow tables: dataframes, of which a lazy one sends its first rows, and charts' data."""
    for kind in ("dataframe", "vega_lite_chart"):
        yield from app.get(kind)


def _rows_of(element: Any) -> int:
    """Rows that an element sends to the browser."""
    proto = element.proto
    sent = [proto.arrow_data.data] if hasattr(proto, "arrow_data") else [part.data.data for part in proto.datasets]
    return max((_n_rows(data) for data in sent), default=0)


def _n_rows(data: Any) -> int:
    if not isinstance(data, bytes) or not data:
        return 0
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all().num_rows


def _timed(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


@click.command()
@click.option("--largest", is_flag=True, help="Two million votes of 3,000 voters, by both protocols.")
@click.option("--quick", is_flag=True, help="Small sizes, to see that everything runs.")
def main(largest: bool, quick: bool) -> None:
    """Measure a large campaign alone."""
    sizes = [replace(LARGEST, protocol=name) for name in ("paper", "runoff")] if largest and not quick else [None]
    print_lines((line for size in sizes for line in lines(quick=quick, size=size)), quick=quick)


if __name__ == "__main__":
    main()
