"""Each command is killed once at a random moment; `python -m bench.kills` does it two hundred times."""

from __future__ import annotations

import random
import sys

import pytest
import sqlalchemy as sa
from campaigns import make_project

from bench.kill_places import OnPostgres
from bench.kill_scenarios import SCENARIOS
from bench.kills import CONTEXT, Prepared, digest, leftovers
from core.store import schema as t
from core.store.engine import open_apart
from core.store.stored_files import put_blob

pytestmark = [pytest.mark.sqlite, pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")]
KILLED = [name for name in SCENARIOS if not name.startswith("migrate")] + ["migrate 0001", "migrate 0004"]


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


def test_half_a_command_is_found_out(tmp_path):
    """The row of an upload without its votes."""
    prepared = Prepared.of("accept upload", tmp_path)
    with prepared.copied("half") as copy:
        with open_apart(copy) as store:
            kept = {"sha256": put_blob(store, b"x"), "n_bytes": 1, "n_rows": 1, "counts": {}}
            with store.write() as conn:
                values = {"ballot_id": 1, "platform": "mturk", "filename": "x", "accepted_at": "2026", **kept}
                conn.execute(sa.insert(t.upload).values(values))
        assert prepared._outcome(copy) == "happened in part"


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
