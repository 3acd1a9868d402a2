"""The voters of a project as the store has them: answers read, previews against what then is, the command line."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa
from campaigns import AREAS, BOTH_PROTOCOLS, PLAN, answer_batch, draw_batch, make_project
from test_checks import sides_by_hand
from test_exclusions import TRIAL, held, ids_of
from test_voting import BASIC, Voter, start

from core.__main__ import main
from core.commands.figures.votes import WithoutVoters
from core.embeddings import import_embedding
from core.evaluation import compare
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.ballots.simulated import simulate_votes
from core.store.command import command
from core.store.projects.embedding_library import (
    adopt_import,
    embeddings_of,
    link_embedding,
    open_library,
    record_import,
)
from core.store.projects.plans import read_rankings, save_plan, set_ranking
from core.store.scores.project_dataset import chosen_otherwise, counted_without, dataset_without, read_project_dataset
from core.store.votes.checks import voter_answers
from core.store.votes.exclusions import exclude_voters, readmit_voters
from core.store.votes.intake import accept_upload
from core.views import voters


def preview(store, project_id, area_id, voter_ids):
    return WithoutVoters(project_id, 0, area_id, voter_ids).measure(store, None)[0]


def test_answers_are_those_of_the_file(store):
    project_id = make_project(store)
    results = answer_batch(draw_batch(store, project_id), voters=("W1", "W2", "W3"))
    accept_upload(store, project_id, results, "results.csv")
    view = voters.load(store, project_id)
    found = view.quality.table.assign(name=view.quality.table["voter_id"].map(view.names)).set_index("name")
    by_hand = sides_by_hand(results)
    assert {name: [row["left"], row["sided"] - row["left"]] for name, row in found.iterrows()} == by_hand
    assert found["votes"].sum() == 42
    assert (found["seconds"] == 10.0).all()  # 30 seconds a task of three
    assert (found["speed"] == 1.0).all()
    ties = results.decode().count('"tie"')
    assert (found["ties"] * found["votes"]).sum() == pytest.approx(ties)
    assert view.headline == "3 people gave 42 votes that count, including the open ballot’s; nobody is left out."
    assert view.alpha_said.startswith("Krippendorff's α is not defined: of 42 answered comparisons none was")


def test_checks_of_the_voting_page_are_seen(store):
    from core.store.votes.checks import add_gold

    settings = replace(BASIC, n_gold=1, n_repeats=1)
    project_id, code = start(store, settings)
    add_gold(store, project_id, [(0, 5), (1, 6), (2, 7)])
    anna = Voter(store, code)
    for _ in range(2):
        anna.task()
        anna.do("more")
    view = voters.load(store, project_id)
    row = view.quality.table.iloc[0]
    with store.read() as conn:
        j, g = t.judgement.c, t.gold.c
        query = sa.select(j.answer == g.answer).join(t.gold, g.question_id == j.question_id)
        right = [bool(value) for value in conn.execute(query).scalars()]
        n_repeats = conn.execute(sa.select(sa.func.count()).where(j.status == "repeat")).scalar()
    assert (row["gold_right"], row["gold_n"]) == (sum(right), len(right))
    assert n_repeats
    assert row["repeat_n"] == n_repeats
    assert row["repeat_same"] == 0  # always left, with the sides exchanged
    details = view.details(int(row["voter_id"])).set_index("figure")
    assert details.loc["Known answers right", "based on"] == f"{sum(right)} of {len(right)}"
    assert details.loc["Mean pairwise agreement", "value"] == "–"
    assert "no comparison was answered by two voters" in details.loc["Mean pairwise agreement", "why blank"]


@pytest.mark.parametrize("hash_ids", [False, True])
def test_ids_are_shown_as_stored_or_hashed_where_the_page_hashes_them(store, hash_ids):
    project_id, code = start(store, replace(BASIC, hash_ids=hash_ids))
    Voter(store, code, "=Anna").task()
    view = voters.load(store, project_id)
    assert view.may_hash is hash_ids
    assert list(view.table()["voter"]) == ["=Anna"]
    (name,) = view.table(hashed=True)["voter"]
    assert name.startswith("h-")
    assert "Anna" not in name
    rows = list(csv.DictReader(io.StringIO(view.csv().decode())))
    assert rows[0]["voter"] == "'=Anna"
    assert rows[0]["gold"] == ""
    assert "Anna" not in view.csv(hashed=True).decode()


def test_equal_ids_of_two_platforms_are_told_apart(store):
    project_id = make_project(store)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id), voters=("W1",)), "one.csv")
    with store.write() as conn:
        values = {"project_id": project_id, "platform": "plain", "external_id": "W1", "kind": "person"}
        conn.execute(sa.insert(t.voter).values(**values))
    assert list(voters.load(store, project_id).table()["voter"]) == ["W1 (mturk)"]


def test_the_search_ships_so_many_rows_at_most(store, monkeypatch):
    project_id = held(store, "paper", 1)
    view = voters.load(store, project_id)
    assert list(view.search("-003")["voter"]) == ["simulated-003"]
    monkeypatch.setattr(voters, "MOST_SHOWN", 3)
    assert len(view.search("")) == 3
    assert len(view.search("SIMULATED")) == 3


@pytest.mark.parametrize("protocol", BOTH_PROTOCOLS)
@pytest.mark.parametrize(("n_closed", "opens"), [(2, False), (2, True), (0, True)])
def test_the_preview_is_what_then_is(store, tmp_path, protocol, n_closed, opens):
    project_id = held(store, protocol, n_closed, opens=opens)
    add_embedding(store, project_id, tmp_path)
    ids = ids_of(store, project_id)
    two = (ids["simulated-001"], ids["simulated-006"])
    before = read_project_dataset(store, project_id)
    found = preview(store, project_id, None, two)
    exclude_voters(store, project_id, two, "to see")
    after = read_project_dataset(store, project_id)
    votes, unvoted = counts(store, project_id)
    assert (found.after.votes, found.after.unvoted) == (votes, unvoted)
    assert found.before.votes > found.after.votes
    keys = ["area", "token_a", "token_b"]
    tops = [set(dataset[keys].head(10).itertuples(index=False, name=None)) for dataset in (before, after)]
    assert found.changes == len(tops[0] - tops[1])
    with store.read() as conn:
        embedding = open_library(store, embeddings_of(conn, project_id)[0])
    figures = [compare(dataset, [embedding]).evaluations[0].overall for dataset in (before, after)]
    (row,) = found.models.to_dict("records")
    assert [row["ρ_w now"], row["ρ_w then"]] == pytest.approx([f.rho_w.estimate for f in figures], abs=1e-9)
    assert [row["τ_w now"], row["τ_w then"]] == pytest.approx([f.tau_w.estimate for f in figures], abs=1e-9)
    assert "Without these 2 voters: votes" in found.said[0]
    readmit_voters(store, project_id, two)
    assert counts(store, project_id) == (found.before.votes, found.before.unvoted)


def add_embedding(store, project_id, folder):
    """Made-up vectors of all tokens, imported."""
    rng, file = np.random.default_rng(1), folder / "one.txt"
    tokens = [token for area in AREAS for token in area.tokens]
    file.write_text("".join(f"{token} {' '.join(map(str, rng.normal(size=4)))}\n" for token in tokens))
    info = import_embedding(file, store.incoming / "one")
    embedding_id = adopt_import(store, store.incoming / "one", info.identity)
    with command(store, project_id, "add embedding") as change:
        record_import(change.conn, embedding_id, name="One", source="one.txt", info=info)
        link_embedding(change.conn, project_id, embedding_id, "One")


def counts(store, project_id):
    """Votes and comparisons without one, by the tallies."""
    q = t.question.c
    with store.read() as conn:
        votes = conn.execute(sa.select(sa.func.sum(q.n_votes)).where(q.role == "main")).scalar()
        unvoted = conn.execute(sa.select(sa.func.count()).where(q.role == "main", q.n_votes == 0)).scalar()
    return votes, unvoted


@pytest.mark.parametrize("protocol", BOTH_PROTOCOLS)
def test_what_is_drawn_would_be_chosen_again_by_the_same_votes(store, protocol):
    project_id = held(store, protocol, 2, opens=True)
    with store.read() as conn:
        assert chosen_otherwise(conn, project_id, frozenset()) == [(2, 0), (3, 0)]
        again = dataset_without(conn, project_id, frozenset())
        assert counted_without(conn, project_id, frozenset()).votes == counts(store, project_id)[0]
    dataset = read_project_dataset(store, project_id)
    np.testing.assert_allclose(again["score"], dataset["score"], atol=1e-12)
    assert (again["rank"].to_numpy() == dataset["rank"].to_numpy()).all()


@pytest.mark.release
def test_a_preview_without_scores_says_why(store):
    project_id = make_project(store, plan=replace(PLAN, protocol="runoff"))
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "one.csv")
    close_ballot(store, project_id)
    found = preview(store, project_id, None, tuple(list(ids_of(store, project_id).values())[:5]))
    assert found.problem
    assert len(found.said) == 1


def test_an_area_with_a_ranking_of_its_own_has_its_own_figures(store):
    project_id = make_project(store, kind="trial", plan=None)
    set_ranking(store, project_id, "area")
    first, second = read_rankings(store, project_id)
    for ranking in (first, second):
        save_plan(store, project_id, replace(TRIAL, n_ballots=2, appearances=4), area_ids=(ranking.area_id,))
        draw_next_ballot(store, project_id, area_id=ranking.area_id)
        simulate_votes(store, project_id, area_id=ranking.area_id)
        close_ballot(store, project_id, area_id=ranking.area_id)
    of_each = [voters.load(store, project_id, ranking.area_id) for ranking in (first, second)]
    ballots = [read_ballots(store, project_id, ranking.area_id)[0] for ranking in (first, second)]
    assert [view.n_votes for view in of_each] == [ballot.n_comparisons for ballot in ballots]
    out = of_each[0].quality.table["voter_id"].tolist()[:1]
    before = read_project_dataset(store, project_id)
    found = preview(store, project_id, first.area_id, tuple(out))
    exclude_voters(store, project_id, out, "why")
    after = read_project_dataset(store, project_id)
    changed = [
        len(set(map(tuple, before[before["area"] == area].head(10)[["token_a", "token_b"]].to_numpy()))
            - set(map(tuple, after[after["area"] == area].head(10)[["token_a", "token_b"]].to_numpy())))
        for area in (first.area, second.area)
    ]  # fmt: skip
    assert found.changes == sum(changed)
    assert voters.load(store, project_id, second.area_id).left_out[0].voter_id == out[0]


def test_voters_of_a_pilot_are_seen_until_ballot_1_is_drawn(store):
    from core.store.ballots.pilots import draw_pilot

    project_id = make_project(store, kind="trial", plan=TRIAL)
    draw_pilot(store, project_id, 20)
    simulate_votes(store, project_id)
    assert voters.load(store, project_id).n_votes > 0
    close_ballot(store, project_id)
    draw_next_ballot(store, project_id)
    assert voters.load(store, project_id).n_votes == 0


def test_answers_that_were_withdrawn_are_not_read(store):
    project_id = make_project(store)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "one.csv")
    with store.write() as conn:
        conn.execute(sa.update(t.judgement).values(status="withdrawn"))
    with store.read() as conn:
        assert voter_answers(conn, [read_ballots(store, project_id)[0].id]).empty
    assert voters.load(store, project_id).quality.table.empty


# The command line


@pytest.fixture
def run(store, monkeypatch, capsys):
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(store.folder))

    def _run(*arguments):
        with pytest.raises(SystemExit) as exited:
            main(list(arguments))
        return exited.value.code, capsys.readouterr()

    return _run


@pytest.mark.release
def test_the_command_line_tells_the_same(store, run):
    project_id = held(store, "runoff", 1)
    exclude_voters(store, project_id, [ids_of(store, project_id)["simulated-001"]], "why")
    code, said = run("voters", project_id, "--json")
    found = json.loads(said.out)
    view = voters.load(store, project_id)
    assert code == 0
    assert [row["votes"] for row in found["voters"]] == view.quality.table["votes"].tolist()
    assert [row["voter"] for row in found["voters"] if row["left_out"]] == ["simulated-001"]
    assert found["voters"][0]["gold"] is None
    assert (found["left_out"][0]["reason"], found["alpha"]) == ("why", None)
    code, said = run("voters", "Test")
    assert code == 0
    assert view.headline in said.out
    assert "simulated-002" in said.out


@pytest.mark.parametrize("arguments", [("voters", "nothing"), ("voters", "Test", "--area", "x")])
def test_the_command_line_refuses_in_words(store, run, arguments):
    make_project(store)
    code, said = run(*arguments)
    assert code == 2
    assert "There are" in said.err or "there are" in said.err


class TestWhoLooksOdd:
    def test_one_who_chose_a_side_each_time_is_named_though_nobody_is_left_out(self, store):
        project_id = make_project(store)
        batch = draw_batch(store, project_id)
        accept_upload(store, project_id, answer_batch(batch), "results.csv")
        assert voters.load(store, project_id).odd_said() == ""
        right = answer_batch(batch, voters=("W<8>",), choose=lambda _: "right", tag="B")
        accept_upload(store, project_id, right, "right.csv")
        view = voters.load(store, project_id)
        assert view.headline.endswith("nobody is left out.")
        ((name, reasons),) = view.odd()
        assert (name, reasons[-1]) == ("W<8>", "chose the left or upper pair in 0 of 42 answers (p < 0.001)")
        assert view.odd_said() == f"Odd, but still counted: W<8> ({'; '.join(reasons)})."
        # Where ids are hashed the sentence has them hashed too.
        assert "W<8>" not in view.odd_said(hashed=True)
        (out,) = [id_ for id_, name in view.names.items() if name == "W<8>"]
        exclude_voters(store, project_id, [out], "always right")
        left = voters.load(store, project_id)
        assert (left.odd(), left.headline.endswith("1 voter left out.")) == ([], True)

    def test_five_are_named_and_the_rest_counted(self, store):
        project_id = make_project(store)
        batch = draw_batch(store, project_id)
        names = [f"L{number}" for number in range(7)]
        for name in names:
            sided = answer_batch(batch, voters=(name,), choose=lambda _: "left", tag=name)
            accept_upload(store, project_id, sided, f"{name}.csv")
        view = voters.load(store, project_id)
        assert sorted(name for name, _ in view.odd()) == names
        said = view.odd_said()
        assert said.startswith("Odd, but still counted: ")
        assert sum(name in said for name in names) == voters.NAMED == 5
        assert said.endswith("; and 2 more, whom the rules below name.")
