"""A campaign of simulated voters half way: what tests of pages need that the finished demo hasn't."""

from __future__ import annotations

import csv
from pathlib import Path

from core.store import Store
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.ballots.simulated import believe, simulate_votes
from core.store.projects.demo import import_model
from core.store.projects.embedding_library import add_embedding
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas
from core.tokens.files import read_areas_file

DATA = Path(__file__).resolve().parents[1] / "data"
PLAN = PlanSettings(n_ballots=5, keep=0.5, appearances=22, task_size=10, n_voters=60, seed=1)
CLOSED, OPEN_SHARE = 3, 0.4


def make_half_way(store: Store, project_id: str = "demo") -> str:
    """The demo's words by the paper's protocol: three ballots of five are closed, the fourth is open and in part voted.

    Its one embedding is GloVe, its 60 voters go by `similarity.csv`.
    """
    create_project(store, "Demo: jobs and skills", kind="demo", seed=2020, project_id=project_id)
    add_embedding(store, project_id, import_model(store, "GloVe 6B 50d, 20,000 words", DATA / "demo.bin")[0])
    add_areas(store, project_id, read_areas_file((DATA / "areas.csv").read_bytes(), "areas.csv").areas)
    believe(store, project_id, _similarities())
    save_plan(store, project_id, PLAN)
    for _ in range(CLOSED):
        draw_next_ballot(store, project_id)
        simulate_votes(store, project_id)
        close_ballot(store, project_id)
    draw_next_ballot(store, project_id)
    simulate_votes(store, project_id, share=OPEN_SHARE)
    return project_id


def _similarities() -> dict[tuple[str, frozenset[str]], float]:
    with (DATA / "similarity.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {(r["area"], frozenset((r["token_a"], r["token_b"]))): float(r["similarity"]) for r in rows}
