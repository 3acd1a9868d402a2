"""Projects and workspaces of earlier versions, kept under fixtures/ as those wrote them, are as they were.

`project-schema-….zip` was exported by the last commit with that schema: 21 items, ballot 1 closed, ballot 2 open with
all its votes; from 0002 on, so for each of two areas; in 0003 by the protocol "runoff". The CSV beside it is the
dataset that commit read from it.

`workspace-schema-0006.zip` is a whole workspace, as the last commit with that schema backed it up (with embeddings);
`project-schema-0006.zip` is its project "Near words", exported there. A script gave the commands of the library, with
seeds, codes and a clock of its own; the projects' logs say them one by one. The CSV beside it has the datasets of its
projects (round 0) and those of its closed rounds. Every table has rows:

* "Near words" ranks two areas apart, Animals by the protocol "runoff" with checks of all kinds, Tools by the paper's:
  pilots, ballot 1 closed, ballot 2 open; a registration, a release, a batch on Turkle, a file with columns of its own,
  withdrawn files, decisions, a voter left out and one taken back. A round of each scheme is closed and one open. On
  the voting pages people have finished, were stopped or set aside, took their consent back, or hold comparisons.
* "Twin" is a trial with one ranking, simulated voters and rounds of them. Its copies are another "Twin" with an open
  pilot, and one that is archived; a third "Twin" and "Twin (2)" are empty.
* A job waits, one ended, one was cancelled; one closes a ballot, whose voting page rests, and its process is gone.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from old_workspaces import (
    ALL,
    ARCHIVED,
    FIXTURES,
    KEPT,
    MAIN,
    OLD,
    TRIAL,
    TWIN,
    make_old_workspace,
    rows_of_kept,
    unpack_kept_workspace,
)

from core.__main__ import cli
from core.commands.integrity import check_store
from core.commands.recompute import SETTLED, replay_record
from core.errors import InputError, StoreError
from core.jobs.lifecycle import STOPPED, sweep
from core.store import open_store
from core.store import schema as t
from core.store.ballots.ballot_rows import Ballot, answers_of, read_ballots, rounds_of
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.engine import HEAD, Store, _open
from core.store.projects.archive import export_project, import_project, list_archived, restore_project
from core.store.projects.plans import read_rankings, read_registration
from core.store.projects.project_commands import get_project, list_projects
from core.store.projects.project_zip import SCHEMAS, is_of, read_zip
from core.store.projects.records import record_of, voter_secret
from core.store.projects.releases import read_releases, release_bytes
from core.store.scores.project_dataset import read_project_dataset, round_dataset
from core.store.scores.scoring import score_round
from core.store.voting.owner_commands import read_invitations, read_link, read_voting
from core.tabular.zips import checksum
from core.voting import api
from tests.rounds_of_people import ORDER, SCHEMES, close_round, read_rounds, reopen_round

TEXTS = ("area", "token_a", "token_b", "project", "ranking")
NUMBERS = ("lower", "upper", "rank_lower", "rank_upper")


def table_of(path) -> pd.DataFrame:
    texts, empty = dict.fromkeys(TEXTS, "str"), dict.fromkeys(NUMBERS, "")
    return pd.read_csv(path, dtype=texts, keep_default_na=False, na_values=empty)


def kept(schema: str) -> tuple[bytes, pd.DataFrame]:
    path = FIXTURES / f"project-schema-{schema}.zip"
    return path.read_bytes(), table_of(path.with_suffix(".csv"))


def assert_same(dataset: pd.DataFrame, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(dataset.reset_index(drop=True), expected, check_dtype=False, rtol=0, atol=1e-15)


def test_every_schema_has_a_project_kept():
    assert sorted(SCHEMAS) == ALL


@pytest.mark.parametrize(
    "schema", [one if one in (OLD[0], OLD[-1]) else pytest.param(one, marks=pytest.mark.release) for one in ALL]
)
def test_a_project_exported_earlier_comes_in(store, schema):
    data, expected = kept(schema)
    project_id = import_project(store, data)
    assert_same(read_project_dataset(store, project_id), expected)
    assert get_project(store, project_id).ranking == ("all" if schema == "0001" else "area")
    again = import_project(store, export_project(store, project_id))
    assert_same(read_project_dataset(store, again), expected)
    for ranking in read_rankings(store, project_id):
        close_ballot(store, project_id, area_id=ranking.area_id)
        ballots = read_ballots(store, project_id, ranking.area_id)
        assert [ballot.state for ballot in ballots] == ["closed", "closed"]
    assert check_store(store).faults == ()


@pytest.mark.sqlite
@pytest.mark.parametrize("schema", OLD)
def test_a_workspace_of_an_earlier_schema_is_brought_up(tmp_path, schema):
    data, expected = kept(schema)
    folder = tmp_path / "workspace"
    make_old_workspace(folder, schema)
    store = open_store(folder)
    (project,) = list_projects(store)
    assert_same(read_project_dataset(store, project.id), expected)
    assert len(list((folder / "backups").iterdir())) == 1
    now, before = read_zip(export_project(store, project.id)), read_zip(data)
    assert now.rows["judgement"] == before.rows["judgement"]
    store.engine.dispose()


# The workspace of schema 0006


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """Its folder, as it was."""
    folder = tmp_path_factory.mktemp("old") / "workspace"
    unpack_kept_workspace(folder)
    return folder


@pytest.fixture(scope="module")
def brought_up(old, tmp_path_factory):
    """The folder of a copy that today's code has opened."""
    folder = tmp_path_factory.mktemp("new") / "workspace"
    shutil.copytree(old, folder)
    open_store(folder).engine.dispose()
    _open.cache_clear()
    return folder


@pytest.fixture
def workspace(brought_up, tmp_path):
    """A copy of that, opened."""
    shutil.copytree(brought_up, tmp_path / "workspace")
    opened = open_store(tmp_path / "workspace")
    yield opened
    opened.engine.dispose()
    _open.cache_clear()


def values(rows: dict[str, tuple[list[str], list[tuple[Any, ...]]]], table: str, *columns: str) -> set[Any]:
    names, found = rows[table]
    places = [names.index(column) for column in columns]
    return {row[places[0]] if len(places) == 1 else tuple(row[place] for place in places) for row in found}


def test_every_table_has_rows_and_every_state_is_there(old):
    rows = rows_of_kept(old)
    tables = {name for name, table in t.metadata.tables.items() if is_of(table, "0006")}
    assert {name for name, (_, found) in rows.items() if found} == {*tables, "alembic_version"}
    assert values(rows, "alembic_version", "version_num") == {KEPT.stem.rsplit("-", 1)[1]}
    assert values(rows, "ballot", "scheme", "state") >= {(s, x) for s in SCHEMES for x in ("open", "closed")}
    assert values(rows, "ballot", "number", "state") >= {(0, "closed"), (0, "open"), (1, "closed"), (2, "open")}
    statuses = {"counted", "unknown", "rejected", "repeat", "withdrawn", "excluded"}
    assert values(rows, "judgement", "status") == statuses
    assert values(rows, "check_question", "kind") == {"gold", "repeat", "overlap", "audit"}
    assert values(rows, "deal", "kind") == {"main", "gold", "repeat", "overlap", "audit"}
    assert values(rows, "deal", "state") == {"open", "answered", "released"}
    assert values(rows, "sitting", "state") == {"voting", "finished", "stopped"}
    assert values(rows, "sitting", "counts") == {0, 1}
    assert values(rows, "voting", "state") == {"open", "paused", "closed"}
    assert values(rows, "job", "state") == {"queued", "running", "done", "cancelled"}
    assert {at is None for at in values(rows, "exclusion", "undone_at")} == {False, True}
    assert {at is None for at in values(rows, "upload", "withdrawn_at")} == {False, True}


@pytest.mark.sqlite
def test_every_cell_is_kept_but_the_names_of_twins(old, brought_up):
    before, after = rows_of_kept(old), rows_of_kept(brought_up)
    new = {name for name, table in t.metadata.tables.items() if not is_of(table, "0006")}
    assert after.keys() == before.keys() | new
    assert [after[table][1] for table in new] == [[]] * len(new)
    changed = {("project", "name"), *(("ballot", name) for name in ("number", "scheme", "plan_id"))}
    for table in before.keys() - {"alembic_version", "plan"}:
        names = [name for name in before[table][0] if (table, name) not in changed]
        assert values(after, table, *names) == values(before, table, *names), table
        assert len(after[table][1]) == len(before[table][1])


@pytest.mark.sqlite
def test_what_a_ballot_is_stands_in_columns_and_rounds_have_no_plan(old, brought_up):
    before, after = rows_of_kept(old), rows_of_kept(brought_up)
    numbered = values(before, "ballot", "id", "number", "scheme", "plan_id")
    of = {-1: "round", 0: "pilot", 1: "campaign"}
    expected = {
        (id_, of[np.sign(number)], scheme, abs(number), None if number < 0 else plan)
        for id_, number, scheme, plan in numbered
    }
    assert values(after, "ballot", "id", "purpose", "kind", "ordinal", "plan_id") == expected
    assert {purpose for _, purpose, *_ in expected} == set(of.values())
    planned = {plan for _, number, _, plan in numbered if number < 0}
    columns = before["plan"][0]
    gone = values(before, "plan", *columns) - values(after, "plan", *columns)
    # Copies of "Twin" without its ballots have plans of its rounds, too.
    assert {row[columns.index("protocol")] for row in gone} == set(SCHEMES)
    assert planned <= {row[columns.index("id")] for row in gone}
    assert not values(after, "plan", *columns) - values(before, "plan", *columns)


@pytest.mark.sqlite
def test_a_migration_that_fails_leaves_the_workspace_as_it_was(old, tmp_path, monkeypatch):
    folder = tmp_path / "workspace"
    shutil.copytree(old, folder)
    before = rows_of_kept(folder)
    monkeypatch.setattr("core.store.dialects.check_keys", lambda conn: 1)
    with pytest.raises(StoreError, match="would lose 1 links"):
        open_store(folder)
    assert rows_of_kept(folder) == before
    monkeypatch.undo()
    store = open_store(folder)
    assert_brought_up(store)
    store.engine.dispose()
    _open.cache_clear()


def assert_brought_up(store: Store) -> None:
    """What the migration of the kept workspace to 0007 says of names, links, sessions, answers and publications."""
    with store.read() as conn:
        names = dict(conn.execute(sa.select(t.project.c.id, t.project.c.name)).all())
        links = conn.execute(sa.select(t.voting_link.c.secret, t.voting_link.c.voter_secret)).all()
        empty = [
            set(conn.execute(sa.select(column)).scalars())
            for column in (t.sitting.c.nonce, t.sitting.c.address, t.voting.c.address_salt, t.deal.c.answer_n)
        ]
        confirmed = conn.execute(sa.select(t.publication.c.confirmed)).scalars().all()
    # The copy has the original's age, and an id before its own: the original came first.
    assert (names.pop(TRIAL), names.pop(TWIN), names.pop(ARCHIVED)) == ("Twin", "Twin (3)", "Twin")
    assert sorted(names.values()) == ["Near words", "Twin (2)", "Twin (4)"]
    assert [project.name for project in list_projects(store)].count("Twin") == 1
    assert len(links) == 3
    assert all(secret == voter_secret for secret, voter_secret in links)
    assert empty == [{None}] * 4
    assert confirmed == [True, True]


@pytest.mark.sqlite
def test_the_workspace_is_brought_up(workspace):
    assert_brought_up(workspace)
    (backup,) = (workspace.folder / "backups").iterdir()
    with closing(sqlite3.connect(backup)) as conn:
        assert conn.execute("SELECT version_num FROM alembic_version").fetchone() == ("0006",)
    assert [found.project.name for found in list_archived(workspace)] == ["Twin"]
    restore_project(workspace, ARCHIVED)
    assert get_project(workspace, ARCHIVED).name == "Twin (5)"


@pytest.mark.sqlite
def test_the_unfinished_jobs_are_swept_and_no_rule_is_broken(workspace):
    page = next(ballot for ballot in read_ballots(workspace, TRIAL) if ballot.is_open)
    assert {fault.rule.name: fault.n for fault in check_store(workspace).faults} == {"jobs": 2}
    assert read_voting(workspace, page.id).in_closing_pause
    assert sweep(workspace) == 2
    assert check_store(workspace).faults == ()
    assert (read_voting(workspace, page.id).state, read_voting(workspace, page.id).in_closing_pause) == ("open", False)
    with workspace.read() as conn:
        query = sa.select(t.job.c.kind, t.job.c.state, t.job.c.error).order_by(t.job.c.kind)
        found = conn.execute(query).all()
    assert found == [
        ("close_ballot", "failed", STOPPED),
        ("import_embedding", "done", None),
        ("needed", "cancelled", None),
        ("plan_curve", "failed", STOPPED),
    ]


@dataclass(frozen=True)
class Expected:
    """The kept datasets of a project: its own, and those of its rounds by ranking and number."""

    dataset: pd.DataFrame
    rounds: dict[tuple[str, int], pd.DataFrame]


def expected_of(project_id: str) -> Expected:
    table = table_of(KEPT.with_suffix(".csv"))
    mine = table[table["project"] == project_id].drop(columns="project")
    parts = {
        (str(ranking), int(number)): part.drop(columns=["ranking", "round"]).reset_index(drop=True)
        for (ranking, number), part in mine.groupby(["ranking", "round"])
    }
    return Expected(parts.pop(("", 0)), parts)


def closed_rounds(store: Store, project_id: str) -> dict[tuple[str, int], Ballot]:
    return {
        (ranking.area, found.number): found
        for ranking in read_rankings(store, project_id)
        for found in read_rounds(store, project_id, ranking.area_id)
        if not found.is_open
    }


def assert_datasets(store: Store, project_id: str, expected: Expected) -> None:
    """The project's dataset and those of its closed rounds are the kept ones."""
    found = read_project_dataset(store, project_id)
    assert_same(found, expected.dataset[list(found.columns)])
    rounds = closed_rounds(store, project_id)
    scored = {key: of for key, of in rounds.items() if of.scheme != ORDER}
    assert scored.keys() == expected.rounds.keys() != set()
    for key, of in scored.items():
        frame = round_dataset(store, project_id, of.id)
        assert_same(frame, expected.rounds[key][list(frame.columns)])


@pytest.mark.sqlite
@pytest.mark.parametrize("project_id", [MAIN, TRIAL])
def test_datasets_of_all_rankings_and_rounds_are_as_they_were(workspace, project_id):
    assert_datasets(workspace, project_id, expected_of(project_id))
    copy = import_project(workspace, export_project(workspace, project_id))
    assert_datasets(workspace, copy, expected_of(project_id))


def test_an_exported_project_brings_its_rounds_pilots_and_pages(store):
    data, _ = kept("0006")
    project_id = import_project(store, data)
    again = import_project(store, export_project(store, project_id))
    for found in (project_id, again):
        assert_datasets(store, found, expected_of(MAIN))
        # A spelling was corrected after ballot 1: the items are named otherwise than they were registered.
        assert [part.part for part in read_registration(store, found).kept if not part.same] == ["the items"]
        (release,) = read_releases(store, found)
        assert checksum(release_bytes(store, release)) == release.sha256
    before, after = (read_zip(export_project(store, found)) for found in (project_id, again))
    # An import is in the log, gives ids anew and seals what no entry has yet; embeddings are the workspace's.
    assert {name: len(rows) for name, rows in after.rows.items() if name != "log"} == {
        name: len(rows) for name, rows in before.rows.items() if name != "log"
    }
    first = read_zip(data)
    without = {"log", "seal", "embedding", "project_embedding"}
    assert {name: len(rows) for name, rows in before.rows.items() if name not in without} == {
        name: len(rows) for name, rows in first.rows.items() if name not in without
    }


@pytest.mark.sqlite
@pytest.mark.parametrize("project_id", [pytest.param(MAIN, marks=pytest.mark.release), TRIAL])
def test_the_scores_that_are_kept_are_those_of_the_votes(workspace, project_id):
    with workspace.read() as conn:
        for ranking in read_rankings(workspace, project_id):
            for found in rounds_of(conn, project_id, ranking.area_id):
                if not found.is_open:
                    assert_scores_of_round(conn, project_id, found)
    secret = voter_secret(workspace, project_id)
    with workspace.read() as conn:
        record = record_of(conn, project_id, secret)
    replayed = replay_record(record, read_project_dataset(workspace, project_id))
    assert replayed.n_ballots >= 3
    assert replayed.n_beyond == 0, replayed.first


def assert_scores_of_round(conn: sa.Connection, project_id: str, found: Ballot) -> None:
    """A closed round's rows are what its answers give."""
    scores = score_round(conn, project_id, found)
    stored = conn.execute(sa.select(t.ballot.c.fit, t.ballot.c.interval_note).where(t.ballot.c.id == found.id)).one()
    assert stored.fit.keys() == scores.fit.keys()
    for name, value in scores.fit.items():
        assert stored.fit[name] == (pytest.approx(value, rel=SETTLED) if isinstance(value, float) else value), name
    assert (stored.interval_note or "") == scores.note
    assert len(answers_of(conn, project_id, found).text)
    b, s = t.ballot_item.c, t.item_score.c
    columns = [b.x, b.mean, b.count, b.lower, b.upper]
    query = sa.select(t.item.c.position, *columns).join(t.item, t.item.c.id == b.item_id).where(b.ballot_id == found.id)
    rows = np.array(conn.execute(query.order_by(t.item.c.position)).all(), dtype=float)
    if found.scheme != ORDER:
        computed = [scores.items, scores.x, scores.mean, scores.count]
        np.testing.assert_allclose(rows[:, :4], np.column_stack(computed), rtol=SETTLED)
        assert_widened(rows[:, 4:], scores.lower, scores.upper)
    fitted = sa.select(t.item.c.position, s.theta, s.error, s.score, s.lower, s.upper)
    fitted = fitted.join(t.item, t.item.c.id == s.item_id).where(s.ballot_id == found.id).order_by(t.item.c.position)
    there = np.array(conn.execute(fitted).all(), dtype=float)
    if scores.fitted is None:
        assert not len(there)
    else:
        of = scores.fitted
        computed = [of.items, of.theta, of.error, of.score]
        np.testing.assert_allclose(there[:, :4], np.column_stack(computed), rtol=SETTLED)
        assert_widened(there[:, 4:], of.lower, of.upper)


def assert_widened(kept: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
    """Bounds are as those that were kept (lower, upper) or wider: these are of before few voters and votes did so."""
    before = np.isnan(kept)
    assert (np.isnan(np.column_stack([lower, upper])) == before).all()
    kept, lower, upper = kept[~before.any(axis=1)], lower[~before[:, 0]], upper[~before[:, 1]]
    assert (lower <= kept[:, 0] + SETTLED).all()
    assert (upper >= kept[:, 1] - SETTLED).all()
    assert max((kept[:, 0] - lower).max(initial=0), (upper - kept[:, 1]).max(initial=0)) < 0.25


@pytest.mark.release
@pytest.mark.sqlite
@pytest.mark.parametrize("project_id", [MAIN, TRIAL])
def test_open_ballots_and_rounds_are_closed_and_the_campaign_goes_on(workspace, project_id):
    sweep(workspace)
    dataset = read_project_dataset(workspace, project_id)
    for ranking in read_rankings(workspace, project_id):
        area = ranking.area_id
        for found in read_rounds(workspace, project_id, area):
            with workspace.read() as conn:
                is_answered = len(answers_of(conn, project_id, found).text) > 0
            if not found.is_open:
                continue
            if found.number > 1 and is_answered:
                close_round(workspace, project_id, found.number, area_id=area)
            else:  # somebody is in the midst of it, or nobody has come yet
                with pytest.raises(StoreError, match="no answer"):
                    close_round(workspace, project_id, found.number, area_id=area)
        close_ballot(workspace, project_id, area_id=area)
        closed = read_project_dataset(workspace, project_id)
        reopen_ballot(workspace, project_id, area_id=area)
        close_ballot(workspace, project_id, area_id=area)
        assert_same(read_project_dataset(workspace, project_id), closed.reset_index(drop=True))
        if project_id == MAIN:
            assert draw_next_ballot(workspace, project_id, area_id=area) == 3
    assert not read_project_dataset(workspace, project_id).equals(dataset)
    assert check_store(workspace).faults == ()


@pytest.mark.sqlite
def test_a_closed_round_is_opened_and_closed_with_the_same_scores(workspace):
    rounds = closed_rounds(workspace, MAIN)
    assert {of.scheme for of in rounds.values()} == set(SCHEMES)
    for (area, number), of in rounds.items():
        area_id = next(ranking.area_id for ranking in read_rankings(workspace, MAIN) if ranking.area == area)
        if of.scheme == "best-worst":
            with pytest.raises(StoreError, match="rests on"):
                reopen_round(workspace, MAIN, number, area_id=area_id)
        else:
            reopen_round(workspace, MAIN, number, area_id=area_id)
            close_round(workspace, MAIN, number, area_id=area_id)
    assert_datasets(workspace, MAIN, expected_of(MAIN))


# The voting pages


@dataclass(frozen=True)
class Somebody:
    """A voter of the kept workspace who holds comparisons: the area, the name in the store, who comes, the place, what
    was answered last in the task, and an answer to give."""

    area: str
    name: str
    who: api.Visitor
    task: int
    n: int
    last: int
    choice: str

    def answer(self, store: Store, place: api.TaskPlace) -> str:
        """The answer, but to a check the one that is known (here always of the first item)."""
        d = t.deal.c
        query = sa.select(d.kind, d.flipped).join(t.sitting, t.sitting.c.id == d.sitting_id)
        query = query.join(t.voter, t.voter.c.id == t.sitting.c.voter_id).where(t.voter.c.external_id == self.name)
        with store.read() as conn:
            deal = conn.execute(query.where(d.state == "open", d.task == place.task, d.n == place.n)).one()
        return self.choice if deal.kind != "gold" else "right" if deal.flipped else "left"


HASHED = "h-d6a7170e5d5b510bd6a322f5c0d83f81"  # made of the platform's id and the link's secret


def somebody(store: Store, name: str) -> tuple[str, Somebody]:
    """The code of the link, and one of the three who are in the midst of voting."""
    areas = {ranking.area: ranking.area_id for ranking in read_rankings(store, MAIN)}
    invited = {area: dict(read_invitations(store, MAIN, area_id)) for area, area_id in areas.items()}
    found = {
        "by a personal link": Somebody("Animals", "Bo", api.Visitor(token=invited["Animals"]["Bo"]), 2, 4, 3, "left"),
        "by a hashed id": Somebody("Animals", HASHED, api.Visitor("prolific", "P-open"), 1, 3, 2, "right"),
        "in a round": Somebody("Tools", "Dora", api.Visitor(token=invited["Tools"]["Dora"]), 2, 3, 2, "1.5"),
    }[name]
    code = read_link(store, MAIN, areas[found.area])
    assert code is not None
    return code, found


MIDST = ["by a personal link", "by a hashed id", "in a round"]


@pytest.mark.sqlite
@pytest.mark.parametrize("name", MIDST)
@pytest.mark.parametrize("lease", ["holds", "is over"])
def test_who_holds_comparisons_goes_on_voting(workspace, name, lease):
    code, of = somebody(workspace, name)
    if lease == "holds":  # else as it is kept: over long ago
        with workspace.write() as conn:
            conn.execute(sa.update(t.deal).where(t.deal.c.state == "open").values(expires_at="2999-01-01"))
    view = api.look(workspace, code, "", "visit", of.who)
    assert (view.kind, view.place.task, view.place.n) == ("vote", of.task, of.n)
    cookie = view.cookie
    # An answer from before can be taken back, and comes again.
    view = api.undo(workspace, code, cookie, view.form, task=of.task, n=of.last)
    assert (view.place.task, view.place.n) == (of.task, of.last)
    n_voted = 0
    while view.kind == "vote":
        step = {"task": view.place.task, "n": view.place.n, "choice": of.answer(workspace, view.place)}
        view = api.vote(workspace, code, cookie, view.form, seconds=2.0, **step)
        n_voted += 1
    assert view.kind == "between"
    assert n_voted >= 2
    assert api.finish(workspace, code, cookie, view.form).kind == "finished"
    sweep(workspace)
    assert check_store(workspace).faults == ()


@pytest.mark.sqlite
def test_who_has_finished_is_not_asked_again_and_a_taken_name_leads_to_nobody(workspace):
    code, _ = somebody(workspace, "by a hashed id")
    view = api.look(workspace, code, "", "visit", api.Visitor("prolific", "P-finished"))
    assert view.kind == "finished"
    assert len(view.code) == 8
    view = api.look(workspace, code, "", "visit")
    for name in ("Jan", "Kim", "Lou"):  # the first two are of voters whose votes don't count
        begun = api.begin(workspace, code, "visit", view.form, api.Visitor(), name=name)
        assert begun.kind == "example"  # as anybody who is new
    with workspace.read() as conn:
        typed = sa.select(t.voter.c.external_id).where(t.voter.c.platform == "runoff").order_by(t.voter.c.id.desc())
        assert conn.execute(typed.limit(3)).scalars().all() == ["Lou", "Kim (2)", "Jan (2)"]


# Files of other versions


@pytest.mark.sqlite
def test_an_old_backup_is_restored(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(tmp_path / "workspace"))
    done = CliRunner().invoke(cli, ["restore", str(KEPT)])
    assert done.exit_code == 0, done.output
    store = open_store()
    assert_brought_up(store)
    assert_datasets(store, MAIN, expected_of(MAIN))
    store.engine.dispose()
    _open.cache_clear()


def next_schema() -> str:
    return f"{int(HEAD) + 1:04}"


@pytest.mark.sqlite
def test_a_workspace_of_the_next_schema_is_left_alone(brought_up, tmp_path):
    folder = tmp_path / "workspace"
    shutil.copytree(brought_up, folder)
    with closing(sqlite3.connect(folder / "runoff.sqlite")) as conn, conn:
        conn.execute("UPDATE alembic_version SET version_num = ?", (next_schema(),))
    before = rows_of_kept(folder)
    with pytest.raises(StoreError, match=rf"newer Runoff \(schema {next_schema()}, this one knows {HEAD}\)\. Update"):
        open_store(folder)
    assert rows_of_kept(folder) == before
    assert len(list((folder / "backups").iterdir())) == 1  # of the migration to this schema


def test_a_project_of_the_next_schema_is_refused(store):
    with zipfile.ZipFile(BytesIO(kept("0006")[0])) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["manifest.json"] = json.dumps(json.loads(files["manifest.json"]) | {"schema": next_schema()}).encode()
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    with pytest.raises(InputError, match=rf"schema '{next_schema()}'\); this one reads .* up to {HEAD}\. Update"):
        import_project(store, out.getvalue())
    assert list_projects(store) == []
