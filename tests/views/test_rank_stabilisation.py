"""How the ranking settled: places after each ballot, against the scores of each and by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

from core.charts.campaign_charts import places_by_ballot
from core.charts.files import specification
from core.store import Store
from core.store import schema as t
from core.store.ballots.closing import close_ballot
from core.store.scores.project_dataset import read_ballot_scores, read_project_dataset
from core.store.votes.intake import accept_upload
from core.views.scores import scores_page
from tests.campaigns import PLAN, answer_batch, draw_batch, make_project


def campaign(store: Store, protocol: str, n_ballots: int) -> str:
    project_id = make_project(store, plan=replace(PLAN, protocol=protocol))
    for _ in range(n_ballots):
        accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "results.csv")
        close_ballot(store, project_id)
    return project_id


def ranks(scores: pd.Series) -> pd.Series:
    """Average ranks, 1 = highest, by counting."""
    counts = [(scores > value + 1e-12).sum() + (np.isclose(scores, value).sum() + 1) / 2 for value in scores]
    return pd.Series(counts, index=scores.index)


@pytest.mark.parametrize("n_ballots", [1, 3])
def test_places_by_the_papers_protocol_are_those_of_the_last_mean_score_so_far(store: Store, n_ballots: int) -> None:
    project_id = campaign(store, "paper", n_ballots)
    view = scores_page.load_rank_stabilisation(store, project_id)
    rows = read_ballot_scores(store, project_id)
    for ballot in range(1, n_ballots + 1):
        upto = rows[rows["ballot"] <= ballot].dropna(subset=["mean"])
        expected = ranks(upto.groupby("item")["mean"].last())
        found = view.history[view.history["ballot"] == ballot]
        assert len(found) == min(30, len(expected))
        assert sorted(found["rank"]) == pytest.approx(
            sorted(expected)[: len(found)] if ballot == n_ballots else sorted(found["rank"])
        )
        assert set(np.round(found["rank"], 6)) <= set(np.round(expected, 6))
        n_held = int((rows.loc[rows["ballot"] == ballot, ["wins", "ties", "losses"]].sum(axis=1) > 0).sum())
        assert found["in_ballot"].sum() == n_held
    now = view.history[view.history["ballot"] == n_ballots]
    dataset = read_project_dataset(store, project_id)
    assert list(now["rank"]) == pytest.approx(list(dataset["rank"]))
    assert set(now["pair"]) == set(dataset["token_a"] + " – " + dataset["token_b"])
    assert view.said == "" if n_ballots == 1 else view.said.endswith("since ballot 2.") or "same items" in view.said


@pytest.mark.release
def test_places_by_the_protocol_runoff_have_the_intervals_that_each_ballot_wrote(store: Store) -> None:
    project_id = campaign(store, "runoff", 2)
    history = scores_page.load_rank_stabilisation(store, project_id).history
    with store.read() as conn:
        query = sa.select(t.ballot.c.ordinal, t.item_score.c.rank_lower).join(
            t.ballot, t.ballot.c.id == t.item_score.c.ballot_id
        )
        stored = pd.DataFrame(conn.execute(query).all(), columns=["ballot", "lower"])
    for ballot in (1, 2):
        found = history.loc[history["ballot"] == ballot, "rank_lower"]
        assert sorted(found) == pytest.approx(sorted(stored.loc[stored["ballot"] == ballot, "lower"]))
    dataset = read_project_dataset(store, project_id)
    now = history[history["ballot"] == 2]
    assert list(now["rank_upper"]) == pytest.approx(list(dataset["rank_upper"]))


def test_new_ones_among_the_first_are_counted(store: Store) -> None:
    project_id = campaign(store, "paper", 2)
    view = scores_page.load_rank_stabilisation(store, project_id)
    rows = read_ballot_scores(store, project_id)

    def first_ten(ballot: int) -> set[int]:
        upto = rows[rows["ballot"] <= ballot].dropna(subset=["mean"]).groupby("item")["mean"].last()
        return set(upto.sort_index().sort_values(ascending=False, kind="stable").index[:10])

    assert (view.n_top, view.n_moved) == (10, len(first_ten(2) - first_ten(1)))


def test_before_a_ballot_is_closed_there_is_nothing(store: Store) -> None:
    project_id = make_project(store)
    draw_batch(store, project_id)
    view = scores_page.load_rank_stabilisation(store, project_id)
    assert (len(view.history), view.n_ballots, view.said) == (0, 0, "")


def test_the_chart_names_the_first_items_and_puts_ties_on_one_line(store: Store) -> None:
    view = scores_page.load_rank_stabilisation(store, campaign(store, "paper", 2))
    spec = specification(places_by_ballot(view.history))
    named = spec["datasets"][spec["layer"][-1]["data"]["name"]]
    first = view.history[(view.history["ballot"] == 2) & (view.history["place"] <= 10)]
    assert len(named) == first["rank"].nunique()
    tied = {rank: list(group["pair"]) for rank, group in first.groupby("rank")}
    said = {rank: pairs[0] + (f" + {len(pairs) - 1}" if pairs[1:] else "") for rank, pairs in tied.items()}
    assert {row["rank"]: row["pair"] for row in named} == said
    assert any(pairs[1:] for pairs in tied.values())
    lowest, highest = spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert (highest, lowest) == (1, view.history["rank"].max())
