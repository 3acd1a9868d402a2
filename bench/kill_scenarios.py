"""Commands to be killed in: each with the small workspace it runs on, and what it does there.

A scenario is prepared once, in a folder that is copied for each kill. What it needs beside the store is returned by
`prepare` and handed to `run`, in another process.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from bench.kill_places import opened
from core.commands import executor
from core.commands.ballots import CloseBallot
from core.commands.publishing import release
from core.jobs import lifecycle
from core.questions.voting_settings import VotingSettings
from core.store import Store, open_store
from core.store import schema as t
from core.store.backups import back_up, restore
from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.engine import database_url, now
from core.store.projects.archive import delete_project, export_project, import_project
from core.store.projects.project_commands import create_project, get_project
from core.store.projects.records import voter_secret
from core.store.votes.exclusions import exclude_voters
from core.store.votes.intake import accept_upload
from core.store.votes.judgements import set_policy
from core.store.votes.payment import review_assignments
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.store.voting.owner_commands import open_voting
from core.votes.payment import Review
from core.votes.reasons import Policy
from core.voting import api
from core.worker import run as run_job
from tests.campaigns import answer_batch, draw_batch, make_project, run_people
from tests.old_workspaces import (
    KEPT,
    OLD,
    kept_workspace,
    make_old_workspace,
    put_back_on_postgresql,
    unpack_kept_workspace,
)

Given = dict[str, Any]
MIGRATE = "migrate "
RESTORE = "restore backup"  # of SQLite, so not on PostgreSQL
ON_POSTGRESQL = f"{MIGRATE}{KEPT.stem[-4:]}"  # the earliest that PostgreSQL had, and so all migrations there


@dataclass(frozen=True)
class Scenario:
    """A command: `prepare` makes the workspace in a folder, `run` does the command there, with what it was given."""

    name: str
    prepare: Callable[[Path], Given]
    run: Callable[[Path, Given], object]


def _on_store(name: str, prepare: Callable[[Store], Given], run: Callable[[Store, Given], object]) -> Scenario:
    """A scenario that needs a store of the newest schema."""

    def prepared(folder: Path) -> Given:
        with opened(folder) as store:
            return prepare(store)

    return Scenario(name, prepared, lambda folder, given: run(open_store(folder), given))


def _with_votes(store: Store, *, status: str = "Approved") -> Given:
    """Ballot 1 closed, ballot 2 open with all its votes."""
    project_id = make_project(store)
    run_people(store, project_id, 1)
    data = answer_batch(draw_batch(store, project_id), tag="B", status=status)
    accept_upload(store, project_id, data, "two.csv")
    return {"project": project_id}


def _voting(store: Store) -> Given:
    """The same, with an open voting page."""
    given = _with_votes(store)
    open_voting(store, given["project"], VotingSettings())
    return given


def _drawn(store: Store) -> Given:
    project_id = make_project(store)
    return {"project": project_id, "data": answer_batch(draw_batch(store, project_id))}


def at_the_page(store: Store) -> Given:
    """Somebody in the midst of a task on the voting page, whose votes can be told apart from nobody else's."""
    project_id = make_project(store)
    draw_next_ballot(store, project_id)
    code = open_voting(store, project_id, VotingSettings(task_size=20, tasks_per_voter=2, examples=False))
    view = api.begin(store, code, "visit", api.look(store, code, "", "visit").form, api.Visitor(), name="Anna")
    given = {"project": project_id, "code": code, "cookie": view.cookie}
    vote(store, given)
    return given


def vote(store: Store, given: Given, choice: str = "left") -> None:
    """The next vote of somebody `at_the_page`."""
    code, cookie = given["code"], given["cookie"]
    view = api.look(store, code, cookie)
    if view.kind == "between":
        view = api.more(store, code, cookie, view.form)
    if view.place is None:
        raise RuntimeError(f"The page shows {view.kind}, and no question.")
    api.vote(store, code, cookie, view.form, task=view.place.task, n=view.place.n, choice=choice, seconds=0.0)


def _first_start(folder: Path, _: Given) -> None:
    create_project(open_store(folder), "New", seed=1)


def _empty_folder(folder: Path) -> Given:
    folder.mkdir()
    return {}


def _accept(store: Store, given: Given) -> None:
    accept_upload(store, given["project"], given["data"], "results.csv")


def _two_uploads(store: Store) -> Given:
    given = _drawn(store)
    _accept(store, given)
    others = answer_batch(_batch(store, given["project"]), voters=("X1", "X2", "X3"), tag="X")
    accept_upload(store, given["project"], others, "others.csv")
    return given


def _batch(store: Store, project_id: str) -> bytes:
    from core.questions.comparison_page import write_batch

    return write_batch(read_comparisons(store, project_id, read_ballots(store, project_id)[-1].number))


def _withdraw(store: Store, given: Given) -> None:
    withdraw_upload(store, given["project"], read_uploads(store, given["project"])[-1].id)


def _one_closed(store: Store) -> Given:
    project_id = make_project(store)
    run_people(store, project_id, 1)
    return {"project": project_id}


def _two_projects(store: Store) -> Given:
    _one_closed(store)
    return _with_votes(store)


def _exclude(store: Store, given: Given) -> None:
    with store.read() as conn:
        voters = conn.execute(sa.select(t.voter.c.id).where(t.voter.c.external_id.in_(["W2"]))).scalars().all()
    exclude_voters(store, given["project"], voters, "answers at random")


def _rejected_and_repeated(store: Store) -> Given:
    given = _drawn(store)
    _accept(store, given)
    again = answer_batch(_batch(store, given["project"]), choose=lambda shown: "left", tag="R")
    accept_upload(store, given["project"], again.replace(b"Jan 05 10", b"Jan 05 11"), "again.csv")
    rejected = answer_batch(_batch(store, given["project"]), voters=("Y1", "Y2"), tag="Y", status="Rejected")
    accept_upload(store, given["project"], rejected, "rejected.csv")
    return given


def _set_policy(store: Store, given: Given) -> None:
    set_policy(store, given["project"], Policy(rejected="count", repeats="latest"))


def _review(store: Store, given: Given) -> None:
    ballot = read_ballots(store, given["project"])[-1]
    with store.read() as conn:
        ids = conn.execute(sa.select(t.assignment.c.id).where(t.assignment.c.ballot_id == ballot.id)).scalars().all()
    review_assignments(store, given["project"], dict.fromkeys(ids[:3], Review("reject", "answers at random")))


def _to_release(store: Store) -> Given:
    given = _one_closed(store)
    voter_secret(store, given["project"])  # drawn at random by the first release
    return given


def _exported(store: Store) -> Given:
    given = _with_votes(store)
    return {"data": export_project(store, given["project"])}


def _to_restore(folder: Path) -> Given:
    """An empty workspace, and a backup of another beside it."""
    source, path = folder.with_name("source"), folder.with_name("whole.zip")
    with opened(source) as store:
        _with_votes(store)
        back_up(store, path)
    shutil.rmtree(source)
    with opened(folder):
        return {"path": str(path)}


def _to_import(folder: Path) -> Given:
    """A text file of 4,000 words, beside the workspace so that it isn't copied with it."""
    with opened(folder) as store:
        project_id = create_project(store, "Embeddings", seed=1)
    path = folder.with_name("vectors.txt")
    rng = np.random.default_rng(5)
    with open(path, "w", encoding="utf-8") as handle:
        for number, row in enumerate(rng.standard_normal((4000, 50))):
            handle.write(f"word{number} {' '.join(f'{value:.5f}' for value in row)}\n")
    return {"project": project_id, "path": str(path)}


def _import_embedding(folder: Path, given: Given) -> None:
    _run_as_job(folder, given["project"], "import_embedding", {"path": given["path"], "name": "Vectors"})


def _close_by_job(folder: Path, given: Given) -> None:
    store, project_id = open_store(folder), given["project"]
    ballot = read_ballots(store, project_id)[-1]
    close = CloseBallot.of(project_id, get_project(store, project_id).revision, ballot)
    _run_as_job(folder, project_id, executor.KIND, executor.params_of(close))


def _run_as_job(folder: Path, project_id: str, kind: str, params: Given) -> None:
    """What `lifecycle.start` and its process do, in this one process."""
    os.environ["RUNOFF_WORKSPACE"] = str(folder)
    job_id = secrets.token_hex(8)
    row = {"id": job_id, "project_id": project_id, "kind": kind, "state": "queued"}
    with open_store(folder).write() as conn:
        conn.execute(sa.insert(t.job).values(**row, params=params, pid=os.getpid(), created_at=now()))
    run_job(job_id)
    if (job := lifecycle.read_job(open_store(folder), job_id)).state != "done":
        raise RuntimeError(f"The job failed: {job.error}")


def _voted(folder: Path) -> Given:
    with opened(folder) as store:
        return _with_votes(store)


def _migration(schema: str) -> Scenario:
    """The next start with a workspace of an earlier schema: kept whole from 0006 on, before with one project."""

    def prepare(folder: Path) -> Given:
        if database_url(folder) is not None:
            _put_back(folder)
        elif schema < KEPT.stem[-4:]:
            make_old_workspace(folder, schema)
        else:
            unpack_kept_workspace(folder, kept_workspace(schema))
        return {}

    return Scenario(f"{MIGRATE}{schema}", prepare, lambda folder, _: open_store(folder))


def _put_back(folder: Path) -> None:
    """The workspace of 0006 that is kept whole, with its tables in PostgreSQL."""
    kept = folder.with_name("kept")
    unpack_kept_workspace(kept)
    with opened(folder) as store, store.write() as conn:
        put_back_on_postgresql(conn, kept)
    for part in ("uploads", "embeddings"):
        shutil.copytree(kept / part, folder / part, dirs_exist_ok=True)
    shutil.rmtree(kept)


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("first start", _empty_folder, _first_start),
        _on_store("vote", at_the_page, vote),
        _on_store("accept upload", _drawn, _accept),
        _on_store("withdraw upload", _two_uploads, _withdraw),
        _on_store("close ballot", _with_votes, lambda store, given: close_ballot(store, given["project"])),
        _on_store("close ballot under vote", _voting, lambda store, given: close_ballot(store, given["project"])),
        _on_store("draw ballot", _one_closed, lambda store, given: draw_next_ballot(store, given["project"])),
        _on_store(
            "delete project", _two_projects, lambda store, given: delete_project(store, given["project"], "Test (2)")
        ),
        _on_store("exclude voter", _with_votes, _exclude),
        _on_store("set policy", _rejected_and_repeated, _set_policy),
        _on_store("review", _with_votes, _review),
        _on_store("release version", _to_release, lambda store, given: release(store, given["project"], "1.0")),
        _on_store("import project", _exported, lambda store, given: import_project(store, given["data"])),
        Scenario(RESTORE, _to_restore, lambda folder, given: restore(open_store(folder), Path(given["path"]))),
        Scenario("close ballot by a job", _voted, _close_by_job),
        Scenario("import embedding", _to_import, _import_embedding),
        *(_migration(schema) for schema in OLD),
    )
}
