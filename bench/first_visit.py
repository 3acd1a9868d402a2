"""What a visitor of the Evaluate page waits for: its point figures at first, all figures a second time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import sqlalchemy as sa
import streamlit as st

from bench import large_clicks
from bench.scale import Took, add_embedding, timed
from bench.table import Line, print_lines
from core.commands.figures.evaluation import FirstVisit, keep_figures
from core.store import Store, open_store
from core.store import schema as t
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.ballots.simulated import simulate_votes
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project
from core.store.scores.project_dataset import read_project_dataset
from core.store.tokens.areas import add_areas
from core.tokens.files import AreaTokens

MODELS = ("one", "two", "three")
ROUNDS = 3


def lines(*, quick: bool) -> Iterator[Line]:
    """380 items, three models and 2,948 votes; `quick` takes 20 items. Other figures than points are left to a job."""
    with (
        tempfile.TemporaryDirectory() as name,
        patch.dict(os.environ, {"RUNOFF_WORKSPACE": str(Path(name) / "workspace")}),
    ):
        store = open_store()
        project = _finished(store, n_tokens=5 if quick else 20)
        yield from _visits(store, project)
        store.engine.dispose()
    st.cache_resource.clear()


def _finished(store: Store, n_tokens: int) -> str:
    """A campaign of two areas by Runoff's protocol, all its ballots closed, and its models."""
    project = create_project(store, "First visit", kind="trial", seed=6)
    add_areas(store, project, [AreaTokens(a, tuple(f"token {a}-{i}" for i in range(n_tokens))) for a in "AB"])
    plan = PlanSettings(n_ballots=5, keep=0.5, appearances=8, n_voters=40, seed=7, protocol="runoff")
    save_plan(store, project, plan)
    for _ in range(plan.n_ballots):
        draw_next_ballot(store, project)
        simulate_votes(store, project)
        close_ballot(store, project)
    for name in MODELS:
        add_embedding(store, project, name)
    return project


def _visits(store: Store, project: str) -> Iterator[Line]:
    what = f"{len(MODELS)} models, {read_project_dataset(store, project).attrs['votes']:,} votes"
    _visit(store, project)  # the libraries of charts are loaded
    first = _median(store, project)
    measuring = timed(lambda: keep_figures(store, project)).wall
    what_else = "to measure the others"
    yield Line(f"Evaluate's first visit, {what}: points", first.wall, measuring, what_else, limit=1.0, note=first.said)
    again = _median(store, project)
    yield Line(f"Evaluate's second visit, after a restart, {what}: all", again.wall, limit=1.5, note=again.said)


def _median(store: Store, project: str) -> Took:
    """Of three visits, each with nothing in memory, as after a restart."""
    return sorted((_visit(store, project) for _ in range(ROUNDS)), key=lambda took: took.wall)[ROUNDS // 2]


def _visit(store: Store, project: str) -> Took:
    """What the page's script takes for a new visitor; the job that it begins is written down, and forgotten then."""
    st.cache_resource.clear()
    app = large_clicks.opened(project, "project")
    app.switch_page("../pages/evaluate.py")
    with large_clicks.only_written_down():
        took = timed(app.run)
    if app.exception:
        raise RuntimeError(f"The page failed: {app.exception[0].value}")
    with store.write() as conn:
        conn.execute(sa.delete(t.job).where(t.job.c.kind == FirstVisit.kind))
    return took


if __name__ == "__main__":
    print_lines(lines(quick=False), quick=False)
