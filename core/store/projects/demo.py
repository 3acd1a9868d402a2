"""The demo: a finished project with four models, and a small one with an open ballot; votes of simulated voters.

Both are shipped as they were made by `data/build_demo.py`, with the figures of Evaluate and Scores, so that a first
start simulates nothing.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from filelock import FileLock, Timeout

from ...base.durable import rights_in
from ...embeddings import EmbeddingInfo, import_embedding
from ...installed import HOME
from .. import schema as t
from ..command import insert_done, project_row
from ..engine import Store
from .archive import insert_project
from .embedding_library import adopt_import, record_import
from .project_commands import list_projects
from .project_zip import read_zip

DEMO_ID, OPEN_ID = "demo", "demo-open"
READY = "demo is ready"
DATA = HOME / "data"
GLOVE = "GloVe 50d (partly circular)"  # voters believe it in part, see data/SOURCE.md
GLOVE_ELSEWHERE = "GloVe 50d"  # as other projects get it, whose voters are others
# The models of the demo, in the order of the project: name, file.
MODELS = (
    (GLOVE, "demo.bin"),
    ("MiniLM (sentence encoder)", "similarity.csv"),
    ("WordLlama (from LLMs)", "wordllama.csv"),
    ("Letters only (spelling)", "letters.csv"),
)
PROJECTS = ((OPEN_ID, "demo-open.zip"), (DEMO_ID, "demo.zip"))  # the last one made is the one a first start opens
FIGURES = "figures.json"  # of Evaluate and Scores: results of jobs, found as a page would keep them


def ensure_demo(store: Store) -> str | None:
    """Put the demo into a workspace that has no project yet; its id, or None where nothing was made.

    All of it comes in one transaction, after its models. A demo that is there, of whatever version, stays as it is.
    """
    projects = {project.id for project in list_projects(store)}
    if projects and DEMO_ID not in projects:
        return None
    if DEMO_ID in projects and _finished(store):
        return None
    if not (DATA / PROJECTS[-1][1]).exists():
        return None  # a program that was put together without the demo's data
    try:
        # The lock is the system's: it is free again as soon as its process is gone, however it went.
        with FileLock(store.folder / "demo.lock", blocking=False, mode=rights_in(store.folder) & 0o666):
            if not _finished(store):
                _put(store)
    except Timeout:
        pass  # another process is at it
    return DEMO_ID


def _finished(store: Store) -> bool:
    with store.read() as conn:
        query = sa.select(t.log.c.id).where(t.log.c.project_id == DEMO_ID, t.log.c.action == READY)
        return conn.execute(query).first() is not None


def _put(store: Store) -> None:
    for name, file in MODELS:
        import_model(store, GLOVE_ELSEWHERE if name == GLOVE else name, DATA / file)
    contents = {id_: read_zip((DATA / file).read_bytes()) for id_, file in PROJECTS}
    with store.write() as conn:
        for id_, found in contents.items():
            # What a start of an earlier version left behind that was cut short.
            conn.execute(sa.delete(t.project).where(t.project.c.id == id_))
            insert_project(conn, found, id_, found.name, READY, who="runoff")
        keep_figures(conn, DEMO_ID, json.loads((DATA / FIGURES).read_text(encoding="utf-8")))


def import_model(store: Store, name: str, path: Path) -> tuple[str, EmbeddingInfo]:
    """Import a file of vectors or similarities into the workspace; the id it has there, and what it is."""
    work = store.incoming / "demo-import"
    for left in (work, work.with_name("demo-import.part")):
        shutil.rmtree(left, ignore_errors=True)
    info = import_embedding(path, work)
    embedding_id = adopt_import(store, work, info.identity)
    with store.write() as conn:
        record_import(conn, embedding_id, name=name, source=f"data/{path.name}", info=info)
    return embedding_id, info


def keep_figures(conn: sa.Connection, project_id: str, figures: list[dict[str, Any]]) -> None:
    """Keep results of jobs (kind, params, result) as if they had been made of the project as it stands."""
    revision = project_row(conn, project_id).revision
    for figure in figures:
        insert_done(conn, project_id, figure["kind"], {**figure["params"], "revision": revision}, figure["result"])
