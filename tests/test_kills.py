"""Each command is killed once at a random moment; `python -m bench.kills` does it two hundred times."""

from __future__ import annotations

import random
import shutil
import sqlite3
import sys
from contextlib import closing

import pytest
import sqlalchemy as sa
from campaigns import make_project
from old_workspaces import KEPT, OLD

from bench.kill_places import OnPostgres
from bench.kill_scenarios import MIGRATE, ON_POSTGRESQL, SCENARIOS
from bench.kills import CONTEXT, Prepared, digest, leftovers
from core.store import schema as t
from core.store.engine import open_apart
from core.store.stored_files import put_blob

pytestmark = [pytest.mark.sqlite, pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")]
SLOW = ("release version", "review")  # seconds each, to get there
KILLED = [
    pytest.param(name, marks=pytest.mark.release) if name in SLOW else name
    for name in SCENARIOS
    if not name.startswith(MIGRATE)
]
N_POINTS = 60  # at which an upgrade is killed before a release, on each database


@pytest.mark.parametrize("name", KILLED)
def test_a_killed_command_happened_wholly_or_not_at_all(tmp_path, name):
    CONTEXT.set_forkserver_preload(["bench.kill_scenarios"])
    prepared = Prepared.of(name, tmp_path)
    assert prepared.kill_once(random.Random(name), at_step=True) in ("before", "after")


@pytest.mark.parametrize("name", ["accept upload", "import embedding"])
def test_a_killed_client_of_postgresql_leaves_all_or_nothing_and_no_lock(tmp_path, postgres, name):
    CONTEXT.set_forkserver_preload(["bench.kill_scenarios"])
    prepared = Prepared.of(name, tmp_path, OnPostgres(postgres))
    assert prepared.kill_once(random.Random(name), at_step=True) in ("before", "after")
    prepared.place.remove(prepared.folder)


def kill_upgrade(prepared: Prepared, steps: list[int]) -> None:
    """Kill it at these steps: the tables are old or new after each, nothing is lost, and the backups are whole."""
    for step in steps:
        assert prepared.kill_at(step) in ("before", "after"), step


def test_a_killed_upgrade_leaves_old_tables_or_new_ones_and_a_whole_backup(tmp_path):
    prepared = Prepared.of(f"{MIGRATE}{OLD[-1]}", tmp_path)
    kill_upgrade(prepared, prepared.spread(5)[1:4])
    with prepared.copied("late") as copy:
        child, done, _ = prepared._started(copy, prepared.n_steps)
        while child.is_alive() and not done.is_set():
            child.join(0.01)
        assert len(list(prepared.place.backups(copy))) == 1


def test_a_killed_upgrade_of_postgresql_leaves_old_tables_or_new_ones(tmp_path, postgres):
    prepared = Prepared.of(ON_POSTGRESQL, tmp_path, OnPostgres(postgres))
    kill_upgrade(prepared, prepared.spread(4)[1:3])
    prepared.place.remove(prepared.folder)


@pytest.mark.release
@pytest.mark.parametrize("schema", ["0001", KEPT.stem[-4:]])
def test_an_upgrade_killed_at_sixty_points(tmp_path, schema):
    prepared = Prepared.of(f"{MIGRATE}{schema}", tmp_path)
    kill_upgrade(prepared, prepared.spread(N_POINTS))


@pytest.mark.release
def test_an_upgrade_of_postgresql_killed_at_sixty_points(tmp_path, postgres):
    prepared = Prepared.of(ON_POSTGRESQL, tmp_path, OnPostgres(postgres))
    kill_upgrade(prepared, prepared.spread(N_POINTS))
    prepared.place.remove(prepared.folder)


def test_a_row_that_an_upgrade_lost_is_found_out(tmp_path):
    """In the tables of the old schema, and in a backup."""
    prepared = Prepared.of(f"{MIGRATE}{OLD[-1]}", tmp_path)
    for database in ("runoff.sqlite", "backups/x.sqlite"):
        with prepared.copied("lost") as copy:
            if not (copy / database).exists():
                (copy / database).parent.mkdir(exist_ok=True)
                shutil.copy(copy / "runoff.sqlite", copy / database)
            with closing(sqlite3.connect(copy / database)) as conn, conn:
                conn.execute("DELETE FROM judgement WHERE id = (SELECT MAX(id) FROM judgement)")
            said = "rows were changed" if database == "runoff.sqlite" else "another content in x.sqlite"
            assert said in prepared.outcome(copy)


def test_half_a_command_is_found_out(tmp_path):
    """The row of an upload without its votes."""
    prepared = Prepared.of("accept upload", tmp_path)
    with prepared.copied("half") as copy:
        with open_apart(copy) as store:
            kept = {"sha256": put_blob(store, b"x"), "n_bytes": 1, "n_rows": 1, "counts": {}}
            with store.write() as conn:
                values = {"ballot_id": 1, "platform": "mturk", "filename": "x", "accepted_at": "2026", **kept}
                conn.execute(sa.insert(t.upload).values(values))
        assert prepared.outcome(copy) == "happened in part"


def test_the_digest_sees_contents_and_not_times(store):
    make_project(store)
    before = digest(store)
    with store.write() as conn:
        conn.execute(sa.update(t.log).values(at="2020"))
    assert digest(store) == before
    with store.write() as conn:
        conn.execute(sa.update(t.project).values(name="Other"))
    assert digest(store) != before


def test_leftovers_are_named(store):
    (store.uploads / "x").write_text("")
    (store.folder / "backups" / "y.part").write_text("")
    assert leftovers(store) == ["uploads/x", "backups/y.part"]
