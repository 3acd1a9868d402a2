"""A project as large as they get: 2,000 tokens in 20 areas, a million comparisons, a million votes in one file.

`python -m bench.scale --largest` takes two million votes of 3,000 voters, by both protocols or one (`--protocol`); it
is apart from `make bench`, as it takes a quarter of an hour. Each line says besides what the step took of a processor,
which another program on the machine changes little.
"""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
import numpy as np
import pyarrow as pa
from streamlit.dataframe import lazy_df_source
from streamlit.testing.v1 import AppTest

from bench import large_clicks
from bench.large_clicks import Click
from bench.table import Line, duration, print_lines
from core.embeddings import import_embedding
from core.platforms.plain import comparison_ids
from core.store import Store, open_store
from core.store.ballots.ballot_rows import read_comparisons
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.command import command
from core.store.projects.embedding_library import adopt_import, link_embedding, record_import
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas, read_areas
from core.tokens.files import AreaTokens

MAIN = Path(__file__).parents[1] / "ui" / "main.py"
PAGES = ("project", "embeddings", "tokens", "plan", "collect", "voters", "scores", "evaluate", "export")
MOST_ROWS = 5_000  # that a page may send to the browser


@dataclass(frozen=True)
class Size:
    """What is measured; seconds that preview, taking, both and closing may take.

    least_of_plain : what bare SQLite takes for as many rows, as a share of what drawing may take.
    """

    n_tokens: int = 100  # in each of 20 areas
    n_votes: int = 1_000_000
    n_voters: int = 200
    appearances: int = 21
    protocol: str = "paper"
    limits: tuple[float, float, float, float] = (10.0, 15.0, 20.0, 60.0)
    least_of_plain: float = 0.2


QUICK = Size(n_tokens=10, n_votes=9_000)
LARGEST = Size(n_votes=2_000_000, n_voters=3_000, appearances=42, limits=(25.0, 35.0, 45.0, 180.0))


def lines(*, quick: bool, size: Size | None = None) -> Iterator[Line]:
    """Drawing, a file of votes, the pages after it, closing; `quick` takes 10 tokens an area, and all votes."""
    size = size or (QUICK if quick else Size())
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
    yield _clicks(project, [Click("collect", "Draw ballot 1")], "the plan")
    drawing = timed(lambda: draw_next_ballot(store, project))
    data, n_comparisons = _answers(store, project, size)
    yield Line(
        f"drawing a ballot of {n_comparisons:,} comparisons into the store",
        drawing.wall,
        timed(lambda: _plain_rows(store.folder / "plain.sqlite", 4 * n_comparisons)).wall,
        "bare SQLite, its 4 rows each",
        least_ratio=size.least_of_plain,
        note=drawing.said,
    )
    n_votes = min(size.n_votes, n_comparisons)
    for name in ("one", "two"):
        add_embedding(store, project, name)
    _visit(project)  # so that what comes next is no first visit
    yield from _upload(store, project, data, n_votes, size)
    yield from _pages(project, f"{n_votes:,} votes")
    yield _clicks(project, large_clicks.of_open(project), f"{n_votes:,} votes")
    closed = timed(lambda: close_ballot(store, project))
    what = f"closing that ballot ({size.protocol}), with its intervals"
    # By the protocol runoff it is a fit and 300 resamples of it, which the app leaves to a job from 20,000 votes on.
    limit = size.limits[3] * (1 if size.protocol == "paper" else 15)
    yield Line(what, closed.wall, limit=limit, note=closed.said)
    yield Line("peak memory of this process so far", _peak(), limit=8_000.0, unit="MB")
    yield from _pages(project, "closing")
    yield _clicks(project, large_clicks.of_closed(), "closing")


def _clicks(project: str, clicks: list[Click], what: str) -> Line:
    """The slowest run of a page after a click of these, jobs not begun."""
    took: dict[str, Took] = {}
    with large_clicks.left_to_jobs():
        _visit(project)  # a first run of the pages is measured as such
        for click in clicks:
            for name, run in large_clicks.runs_of(project, click):
                took[name] = timed(run)
    slowest = max(took, key=lambda name: took[name].worked)
    note = f"{slowest}, {took[slowest].said}; of {len(took)}"
    return Line(f"the slowest click after {what}, its work left to a job", took[slowest].wall, limit=1.0, note=note)


def _pages(project: str, what: str) -> Iterator[Line]:
    (first, _), (later, rows) = _visit(project), _visit(project)
    for when, times, limit in (("at first", first, 2.0), ("a run later", later, 1.0)):
        slowest = max(times, key=lambda name: times[name].wall)
        note = f"{slowest}, {times[slowest].said}"
        yield Line(f"the slowest page after {what}, {when}", times[slowest].wall, limit=limit, note=note)
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
from core.store.votes.intake import accept_upload, preview_upload
store, project, data = open_store(Path(sys.argv[1])), sys.argv[2], Path(sys.argv[3]).read_bytes()
start, worked = time.perf_counter(), time.process_time()
found = preview_upload(store, project, data, "votes.csv")
middle, previewed = time.perf_counter(), time.process_time()
accept_upload(store, project, data, "votes.csv", found=found)
print(middle - start, time.perf_counter() - middle, previewed - worked, time.process_time() - previewed)
status = Path("/proc/self/status")
if status.exists():
    print(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")))
"""


def _upload(store: Store, project: str, data: bytes, n_votes: int, size: Size) -> Iterator[Line]:
    """A file of votes as the page takes it: its preview, then its votes by that preview; and the memory it takes.

    The quickest of three times, two of them in copies of the workspace: another program on the machine only slows it.
    """
    path = store.folder / "votes.csv"
    path.write_bytes(data)
    store.engine.dispose()  # so that all of the database is in its file
    copy, tries = store.folder.with_name("copy"), []
    for _ in range(2):
        shutil.copytree(store.folder, copy)
        tries.append(_take(copy, project, path))
        shutil.rmtree(copy)
    tries.append(_take(store.folder, project, path))
    preview, taking, told = min(tries, key=lambda tried: tried[0].wall + tried[1].wall)
    both = Took(preview.wall + taking.wall, preview.worked + taking.worked)
    yield Line(f"a file of {n_votes:,} votes: its preview", preview.wall, limit=size.limits[0], note=preview.said)
    yield Line(f"a file of {n_votes:,} votes: taking them", taking.wall, limit=size.limits[1], note=taking.said)
    yield Line("both", both.wall, limit=size.limits[2], note=both.said)
    if told:
        yield Line("peak memory of both", int(told[0]) * 1024 / 1e6, limit=max(2 * n_votes / 1000, 500.0), unit="MB")


def _take(folder: Path, project: str, path: Path) -> tuple[Took, Took, list[str]]:
    """A file's preview and its taking in a process of their own, and that process's peak memory where it is told."""
    command = [sys.executable, "-c", _UPLOAD, str(folder), project, str(path)]
    preview, taking, previewed, took, *told = subprocess.run(
        command, capture_output=True, check=True, text=True
    ).stdout.split()
    return Took(float(preview), float(previewed)), Took(float(taking), float(took)), told


def _plain_rows(path: Path, n_rows: int) -> None:
    """Write so many rows into a table of a database of their own, with one key and nothing else."""
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("CREATE TABLE row (id INTEGER PRIMARY KEY, one INTEGER, other INTEGER, n INTEGER)")
        numbers = range(n_rows)
        conn.executemany("INSERT INTO row VALUES (?, ?, ?, ?)", zip(numbers, numbers, numbers, numbers, strict=True))
        conn.commit()
    path.unlink()


def _answers(store: Store, project: str, size: Size) -> tuple[bytes, int]:
    """A table of votes on the first comparisons, voters in turn by task; how many comparisons there are."""
    comparisons = read_comparisons(store, project, 1)
    choices = np.random.default_rng(8).choice(["left", "right", "tie"], size=len(comparisons)).tolist()
    voters = (comparisons["task_id"].factorize()[0] % size.n_voters).tolist()
    rows = zip(comparison_ids(comparisons).tolist()[: size.n_votes], voters, choices, strict=False)
    text = "".join(f"{comparison},W{voter},{choice}\n" for comparison, voter, choice in rows)
    return f"comparison_id,voter,choice\n{text}".encode(), len(comparisons)


def add_embedding(store: Store, project: str, name: str) -> None:
    """Random vectors of all tokens, so that the Evaluate page has models to compare."""
    tokens = [token.replace(" ", "_") for area in read_areas(store, project) for token in area.tokens]
    vectors = np.random.default_rng(len(name) + ord(name[0])).standard_normal((len(tokens), 50)).round(4)
    path = store.folder / f"{name}.vec"
    rows = (f"{token} {' '.join(map(str, row))}\n" for token, row in zip(tokens, vectors.tolist(), strict=True))
    path.write_text(f"{len(tokens)} 50\n" + "".join(rows))
    info = import_embedding(path, store.incoming / name)
    embedding_id = adopt_import(store, store.incoming / name, info.identity)
    with command(store, project, "import embedding") as change:
        record_import(change.conn, embedding_id, name=name, source=path.name, info=info)
        link_embedding(change.conn, project, embedding_id, name)


def _visit(project: str) -> tuple[dict[str, Took], dict[str, int]]:
    """What one run took of each page's script, without a browser; and the rows of its largest table or chart."""
    times, rows = {}, {}
    for key in PAGES:
        app = page_of(project, key)
        times[key] = timed(lambda app=app: run_page(app))  # type: ignore[misc]  # mypy takes it for another function
        large_clicks.end_jobs(project)
        rows[key] = max((_rows_of(element) for element in _tables(app)), default=0)
    return times, rows


def page_of(project: str, key: str) -> AppTest:
    """A page of a project in a session of its own, just before the page's first run."""
    app = AppTest.from_file(str(MAIN), default_timeout=600)
    app.query_params["project"] = project
    if key != "project":
        # The first run of a session is the front page's, which the cache has.
        app.run()
        app.switch_page(f"../pages/{key}.py")
    return app


def run_page(app: AppTest) -> None:
    """Run a page as the server would; the jobs that it begins are only written down (`large_clicks.end_jobs`)."""
    # What a page begins by itself would have the processors while the next one is measured.
    with large_clicks.only_written_down(), patch.object(lazy_df_source, "resolve_lazy_source", _first_rows):
        app.run()
    if app.exception:
        raise RuntimeError(f"The page failed: {app.exception[0].value}")


def _first_rows(data: Any, lazy: bool | None, *, is_selection_activated: bool) -> Any:
    """What the server sends of a lazy table at first; without a server Streamlit sends the whole of it."""
    return lazy_df_source.EagerDataframeFallback(data.head(lazy_df_source.DEFAULT_PAGE_SIZE)) if lazy else None


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


@dataclass(frozen=True)
class Took:
    """Seconds of the clock, and of a processor: this process's and those of its children that ended."""

    wall: float
    worked: float

    @property
    def said(self) -> str:
        """The processor's seconds, for a line's note."""
        return f"{duration(self.worked)} of a processor"


def timed(action: Callable[[], Any]) -> Took:
    """What an action took."""
    start, worked = time.perf_counter(), _worked()
    action()
    return Took(time.perf_counter() - start, _worked() - worked)


def _worked() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _peak() -> float:
    """The most memory this process had, in MB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6


@click.command()
@click.option("--largest", is_flag=True, help="Two million votes of 3,000 voters, by both protocols.")
@click.option("--protocol", type=click.Choice(["paper", "runoff"]), help="By this protocol alone.")
@click.option("--quick", is_flag=True, help="Small sizes, to see that everything runs.")
def main(largest: bool, protocol: str | None, quick: bool) -> None:
    """Measure a large campaign alone."""
    size = QUICK if quick else LARGEST if largest else Size()
    protocols = [protocol] if protocol else ["paper", "runoff"] if largest and not quick else [size.protocol]
    sizes = [replace(size, protocol=name) for name in protocols]
    print_lines((line for size in sizes for line in lines(quick=quick, size=size)), quick=quick)


if __name__ == "__main__":
    main()
