"""A workspace and a project of the newest schema, kept under fixtures/, open, come in and say what they said.

`workspace-schema-0007.zip` was backed up by code of schema 0007: it is the workspace of 0006 (test_migrations says what
is in it) brought up, and gone on with: the page of Animals' ballot 2 was paused and opened again, so that it notes
networks; two came from one, Zoë (who took an answer back) and Max; the link was renewed, and one came from Prolific.
All three hold comparisons. `project-schema-0007.zip` is its project "Near words", exported there.
In 0009 a language model was asked about Animals' ballot 2. In 0010 a plan that aims at ρ_w was saved for the "Twin"
with an open pilot.
"""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from old_workspaces import GONE_ON, KEPT, MAIN, OLD, TRIAL, TWIN, rows_of_kept, unpack_kept_workspace
from test_migrations import assert_datasets, expected_of, kept

from core.commands.integrity import check_store
from core.jobs.lifecycle import STOPPED, sweep
from core.store import open_store
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots
from core.store.engine import HEAD, _open
from core.store.projects.archive import export_project, import_project
from core.store.projects.model_servers import CHAT, read_server
from core.store.projects.plans import read_plan, read_rankings, read_registration
from core.store.projects.project_zip import read_zip
from core.store.votes.model_answers import read_judges
from core.store.voting.owner_commands import read_link
from core.store.voting.visits import cookie_of, link_at
from core.voting import api

SESSION = sa.select(t.sitting, t.voter.c.external_id, t.voter.c.platform).join(
    t.voter, t.voter.c.id == t.sitting.c.voter_id
)


@pytest.fixture(params=GONE_ON, ids=lambda path: path.stem[-4:])
def workspace(tmp_path, request):
    """A copy of the kept workspace, opened."""
    unpack_kept_workspace(tmp_path / "workspace", request.param)
    opened = open_store(tmp_path / "workspace")
    yield opened
    opened.engine.dispose()
    _open.cache_clear()


def test_every_schema_since_0006_has_its_workspace_with_votes_of_every_kind(tmp_path):
    kept = {path.stem[-4:]: path for path in (KEPT, *GONE_ON)}
    assert set(kept) >= {schema for schema in OLD if schema >= "0006"}
    for schema, path in kept.items():
        unpack_kept_workspace(tmp_path / schema, path)
        rows = rows_of_kept(tmp_path / schema)
        assert rows["alembic_version"][1] == [(schema,)]
        columns, judged = rows["judgement"]
        statuses = {row[columns.index("status")] for row in judged}
        assert statuses == {"counted", "unknown", "rejected", "repeat", "withdrawn", "excluded"}
        assert {row[columns.index("source")] for row in judged} == {"person", "simulated"}
        columns, asked = rows["question"]
        answered = {row[columns.index("kind")] for row in asked}
        assert answered == {"comparison", "rating", "best-worst", "order"}


@pytest.mark.sqlite
def test_it_opens_and_says_what_it_said(workspace, request):
    is_newest = request.node.callspec.params["workspace"].stem.endswith(HEAD)
    assert is_newest != any((workspace.folder / "backups").glob("*.sqlite"))
    for project_id in (MAIN, TRIAL):
        assert_datasets(workspace, project_id, expected_of(project_id))
    assert {fault.rule.name: fault.n for fault in check_store(workspace).faults} == {"jobs": 2}
    assert sweep(workspace) == 2
    assert check_store(workspace).faults == ()
    with workspace.read() as conn:
        query = sa.select(t.job.c.kind, t.job.c.state, t.job.c.error).order_by(t.job.c.kind)
        assert [tuple(row) for row in conn.execute(query)] == [
            ("close_ballot", "failed", STOPPED),
            ("import_embedding", "done", None),
            ("needed", "cancelled", None),
            ("plan_curve", "failed", STOPPED),
        ]


@pytest.mark.parametrize("schema", [path.stem[-4:] for path in GONE_ON])
def test_the_project_comes_in_with_its_rounds_pilot_pages_and_registration(store, schema):
    data, _ = kept(schema)
    project_id = import_project(store, data)
    assert_datasets(store, project_id, expected_of(MAIN))
    assert [part.part for part in read_registration(store, project_id).kept if not part.same] == ["the items"]
    rows = read_zip(data).rows
    with store.read() as conn:
        answers = conn.execute(sa.select(t.deal.c.answer_n).where(t.deal.c.answer_n.is_not(None))).scalars().all()
        here = conn.execute(sa.select(t.sitting.c.nonce, t.sitting.c.address)).all()
        confirmed = set(conn.execute(sa.select(t.publication.c.confirmed)).scalars())
        states = sa.select(t.ballot.c.purpose, t.ballot.c.ordinal, t.ballot.c.state).where(
            t.ballot.c.project_id == project_id
        )
        counts = {table.name: conn.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
                  for table in (t.check_question, t.exclusion, t.deal, t.judgement, t.voting, t.release)}  # fmt: skip
        found = {tuple(row) for row in conn.execute(states)}
    assert sorted(answers) == [1, 1, 1, 2, 3]  # Zoë's second answer was taken back
    assert set(here) == {(None, None)}  # these stay in their workspace
    assert confirmed == {False}
    assert counts == {name: len(rows[name]) for name in counts}
    assert found >= {("pilot", 0, "closed"), ("campaign", 1, "closed"), ("campaign", 2, "open")}
    assert found >= {("round", 1, "closed"), ("round", 4, "open")}


@pytest.mark.sqlite
def test_what_a_language_model_answered_is_there(workspace, request):
    """From 0009 on: about six comparisons of Animals' ballot 2, in both orders, two of twelve answers in words."""
    found = read_judges(workspace, MAIN)
    if request.node.callspec.params["workspace"].stem[-4:] < "0009":
        assert found == []
        assert read_server(workspace, MAIN, CHAT) is None
        return
    (judge,) = found
    assert (judge.name, judge.n_answers, judge.n_votes) == ("judge-1 (judge-1-2026)", 12, 10)
    assert read_server(workspace, MAIN, CHAT)["address"] == judge.address
    copy = import_project(workspace, export_project(workspace, MAIN))
    assert [one.n_votes for one in read_judges(workspace, copy)] == [10]
    assert read_server(workspace, copy, CHAT) is None


@pytest.mark.sqlite
def test_what_a_plan_aims_at_is_there(workspace, request):
    aims_at = {"0007": "both", "0008": "both", "0009": "both"}.get(request.node.callspec.params["workspace"].stem[-4:])
    assert read_plan(workspace, TWIN).aim == (aims_at or "rho_w")


@pytest.mark.sqlite
@pytest.mark.parametrize(("name", "n", "last"), [("Zoë", 2, 1), ("Max", 4, 3), ("", 2, 1)])
def test_who_holds_comparisons_is_known_by_the_cookie_and_goes_on(workspace, name, n, last):
    area_id = next(ranking.area_id for ranking in read_rankings(workspace, MAIN) if ranking.area == "Animals")
    code = read_link(workspace, MAIN, area_id)
    with workspace.read() as conn:
        sessions = conn.execute(SESSION.where(t.sitting.c.nonce.is_not(None))).all()
        at = link_at(conn, code)
    # The link was renewed before the last of them came, and with it what signs cookies.
    of = next(row for row in sessions if (row.external_id == name if name else row.platform == "prolific"))
    assert len({row.address for row in sessions}) == 2
    who = api.Visitor() if name else api.Visitor("prolific", "P-new")
    view = api.look(workspace, code, cookie_of(at, of.nonce), "visit", who)
    assert (view.kind, view.place.task, view.place.n, view.last) == ("vote", 1, n, (1, last))
    if not name:
        by_platform = api.look(workspace, code, "", "another visit", who)
        assert (by_platform.kind, by_platform.place) == ("vote", view.place)
    after = api.undo(workspace, code, view.cookie, view.form, task=1, n=last)
    assert after.place.n == last
    assert {ballot.state for ballot in read_ballots(workspace, MAIN, area_id)} == {"closed", "open"}
    assert check_store(workspace).faults[1:] == ()
