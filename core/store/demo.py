"""The demo project: real words and a real embedding, and votes of simulated voters, marked as such."""

from __future__ import annotations

import csv
import shutil

import sqlalchemy as sa
from filelock import FileLock, Timeout

from ..durable import rights_in
from ..embeddings import import_embedding
from ..installed import HOME
from ..tokens import read_areas_file
from . import schema as t
from .areas import add_areas, items_of
from .closing import close_ballot
from .command import command
from .drawing import draw_next_ballot
from .engine import Store
from .library import adopt_import, link_embedding, record_import
from .plans import PlanSettings, save_plan
from .projects import create_project, list_projects
from .simulated import simulate_votes

DEMO_ID = "demo"
DEMO_SEED = 2020
DATA = HOME / "data"
EMBEDDING_NAME = "GloVe 6B 50d, 20,000 words"
PLAN = PlanSettings(n_ballots=5, keep=0.5, appearances=22, task_size=10, n_voters=60, seed=1)
CLOSED_BALLOTS = 3
OPEN_SHARE = 0.4


def ensure_demo(store: Store) -> str | None:
    """Make the demo project in a workspace that has no project yet; its id, or None where nothing was made.

    A start that was cut short is finished by the next one: each step is a command that looks at what is there.
    """
    projects = {project.id for project in list_projects(store)}
    if projects and DEMO_ID not in projects:
        return None
    if DEMO_ID in projects and _finished(store):
        return None
    if not (DATA / "demo.bin").exists():
        return None  # a program that was put together without the demo's data
    try:
        # The lock is the system's: it is free again as soon as its process is gone, however it went.
        with FileLock(store.folder / "demo.lock", blocking=False, mode=rights_in(store.folder) & 0o666):
            if not _finished(store):
                _build(store)
    except Timeout:
        pass  # another process is at it
    return DEMO_ID


def _finished(store: Store) -> bool:
    with store.read() as conn:
        query = sa.select(t.log.c.id).where(t.log.c.project_id == DEMO_ID, t.log.c.action == "demo is ready")
        return conn.execute(query).first() is not None


def _build(store: Store) -> None:
    with store.write(DEMO_ID) as conn:  # what a start that was cut short left behind
        conn.execute(sa.delete(t.project).where(t.project.c.id == DEMO_ID))
    create_project(store, "Demo: jobs and skills", kind="demo", seed=DEMO_SEED, project_id=DEMO_ID)
    _add_embedding(store)
    data = (DATA / "areas.csv").read_bytes()
    add_areas(store, DEMO_ID, read_areas_file(data, "areas.csv").areas)
    _store_similarities(store)
    save_plan(store, DEMO_ID, PLAN)
    for _ in range(CLOSED_BALLOTS):
        draw_next_ballot(store, DEMO_ID)
        simulate_votes(store, DEMO_ID)
        close_ballot(store, DEMO_ID)
    draw_next_ballot(store, DEMO_ID)
    simulate_votes(store, DEMO_ID, share=OPEN_SHARE)
    with command(store, DEMO_ID, "demo is ready", who="runoff") as change:
        change.detail = {"votes": "simulated"}


def _add_embedding(store: Store) -> None:
    work = store.incoming / "demo-import"
    for left in (work, work.with_name("demo-import.part")):
        shutil.rmtree(left, ignore_errors=True)
    info = import_embedding(DATA / "demo.bin", work)
    embedding_id = adopt_import(store, work, info.identity)
    with command(store, DEMO_ID, "add embedding") as change:
        change.detail = {"embedding": embedding_id}
        record_import(change.conn, embedding_id, name=EMBEDDING_NAME, source="data/demo.bin", info=info)
        link_embedding(change.conn, DEMO_ID, embedding_id, EMBEDDING_NAME)


def _store_similarities(store: Store) -> None:
    """Give the demo's items the similarities its simulated voters believe in (data/similarity.csv)."""
    with open(DATA / "similarity.csv", encoding="utf-8", newline="") as handle:
        rows = {
            (r["area"], frozenset((r["token_a"], r["token_b"]))): float(r["similarity"]) for r in csv.DictReader(handle)
        }
    with command(store, DEMO_ID, "set what simulated voters believe") as change:
        change.detail = {"source": "data/similarity.csv"}
        items = items_of(change.conn, DEMO_ID)
        update = sa.update(t.item).where(t.item.c.id == sa.bindparam("of")).values(similarity=sa.bindparam("to"))
        values = [
            {"of": item_id, "to": rows.get((area, frozenset((a, b))))}
            for item_id, area, a, b in items[["area", "token_a", "token_b"]].itertuples()
        ]
        change.conn.execute(update, values)
