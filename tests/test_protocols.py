"""A protocol is one class and one line in a list; nobody else knows its name."""

from __future__ import annotations

import ast
from dataclasses import replace

import numpy as np
import pytest
from campaigns import PLAN, answer_batch, draw_batch, make_project

from core.errors import InputError
from core.foresight import foresee
from core.plan import Plan
from core.planning.forecast import number_of_campaigns
from core.protocols import PROTOCOLS, Chosen, Held, Mode, Scored, Votes, collectable, protocol_of
from core.protocols.base import About, Protocol
from core.protocols.paper import Paper, borda_of
from core.reliability import ceiling, halves
from core.replay import protocols as replayable
from core.resampled import draw_scores
from core.scores import BallotVotes, final_scores, score_campaign
from core.scores.fit import fit_votes
from core.simulation import simulate_campaign
from core.store.ballots import read_ballots
from core.store.closing import close_ballot
from core.store.invariants import check_store
from core.store.recompute import replay_record
from core.store.records import record_of
from core.store.scores import read_ballot_scores, read_dataset
from core.store.votes import accept_upload
from core.store.without_voters import chosen_otherwise
from core.voters import exponential
from tests.architecture import ROOT

NAMES = {"uniform", "paper", "runoff"}


class Swiss(Protocol):
    """Neighbours by wins meet; a score is a hundredth of an item's wins so far, a tie half of one."""

    name = "swiss"
    about = About("Swiss", "Swiss: neighbours by wins", "comparisons, Swiss", "wins", "hundredths", ())

    def select(self, held, n, rng):
        last = self.scored(held)[-1].scores
        best = np.sort(np.argsort(-last.rank_by, kind="stable")[:n])
        return Chosen(last.items[best], last.rank_by[best], 0, 0)

    def draw(self, items, n, held, rng, sampler):
        if not held:
            return sampler(items, n, rng)
        last = self.scored(held)[-1].scores
        order = items[np.argsort(-last.rank_by[np.searchsorted(last.items, items)], kind="stable")]
        steps = [np.column_stack((order, np.roll(order, -step))) for step in range(1, len(items))]
        return rng.permutation(np.concatenate(steps)[:n])

    def score(self, votes, held, mode=Mode.FINAL):
        x, times = borda_of(votes)
        points = x * times / 100
        for _, before in self.scored(held, mode)[-1:]:
            points = np.nan_to_num(points) + before.rank_by[np.searchsorted(before.items, votes.items)]
        return Scored(votes.items, points, points)


@pytest.fixture
def swiss(monkeypatch):
    monkeypatch.setitem(PROTOCOLS, Swiss.name, Swiss())
    return Swiss.name


def test_a_fourth_protocol_is_simulated_planned_and_replayed(swiss):
    plan = Plan(40, 3, 0.5, 10)
    made = simulate_campaign(exponential(40), plan, protocol=swiss, rng=np.random.default_rng(1))
    assert [len(held.votes.items) for held in made.held] == [40, 20, 10]
    assert made.accuracy().rho > 0.5
    assert number_of_campaigns(plan, swiss) == number_of_campaigns(plan, "paper")
    assert swiss in replayable()
    assert swiss in collectable()
    votes = [BallotVotes(*Votes.of(held.votes)) for held in made.held]
    fitted, rng = fit_votes(votes), np.random.default_rng(2)
    assert foresee(votes, swiss, fitted, n_keep=5, appearances=4, simulations=2, rng=rng).n_items == 5
    assert 0 < halves(votes, swiss, fitted, repeats=2, rng=rng).mean < 1
    assert 0.5 < ceiling(votes, swiss, fitted, simulations=2, rng=rng).mean < 1
    drawn = draw_scores(votes, swiss, resamples=20, rng=rng)
    assert drawn.drawn.shape == (20, 40)
    assert np.abs(np.nanmean(drawn.drawn, axis=0) - drawn.estimate).max() < 0.05


def test_a_fourth_protocol_is_collected_closed_and_recomputed(store, swiss):
    project_id = make_project(store, plan=replace(PLAN, protocol=swiss))
    for number in range(2):
        answers = answer_batch(draw_batch(store, project_id), tag=f"A{number}-")
        accept_upload(store, project_id, answers, f"{number}.csv")
        close_ballot(store, project_id)
    first, second = read_ballots(store, project_id)
    assert {first.protocol, second.protocol} == {swiss}
    scores = read_ballot_scores(store, project_id)
    wins = (scores["wins"] + scores["ties"] / 2) / 100
    rows = scores[scores["ballot"] == 2]
    so_far = wins[scores["item"].isin(rows["item"])].groupby(scores["item"]).sum()
    assert rows["mean"].tolist() == pytest.approx(so_far.tolist())
    assert (rows["lower"] <= rows["mean"]).all()
    dataset = read_dataset(store, project_id)
    assert dataset.attrs["estimator"] == "wins"
    assert len(dataset) == 21
    assert check_store(store).faults == ()
    with store.read() as conn:
        assert chosen_otherwise(conn, project_id, frozenset()) == [(2, 0)]
        record = record_of(conn, project_id, "s")
    assert replay_record(record, dataset).n_different == 0


def test_the_papers_scores_ballot_by_ballot_are_those_of_the_whole_chain():
    made = simulate_campaign(exponential(50), Plan(50, 4, 0.5, 6), protocol="paper", rng=np.random.default_rng(3))
    votes = [BallotVotes(*Votes.of(held.votes)) for held in made.held]
    chain = score_campaign(votes, 50)
    for number, scored in enumerate(Paper().scored([Held(ballot) for ballot in votes])):
        assert scored.scores.columns["y"].tobytes() == chain[number].y.tobytes()
        assert scored.scores.columns["mean"].tobytes() == chain[number].mean.tobytes()
    field = Paper().field([Held(ballot) for ballot in votes])
    assert field.rank_by.tobytes() == final_scores(chain, 50).score.tobytes()


def test_a_name_that_isnt_known_is_told():
    with pytest.raises(InputError, match="must be 'uniform' or 'paper' or 'runoff', found 'best'"):
        protocol_of("best")


def compared(code):
    """The comparisons of something called a protocol with a protocol's name."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Compare):
            names = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and part.value in NAMES}
            if names and "protocol" in ast.unparse(node):
                found.append(ast.unparse(node))
        if isinstance(node, ast.Match) and "protocol" in ast.unparse(node.subject):
            found.append(ast.unparse(node.subject))
    return found


def test_nothing_else_compares_a_protocols_name():
    found = {}
    for folder in ("core", "ui", "pages", "voting"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.parent != ROOT / "core" / "protocols" and (here := compared(path.read_text(encoding="utf-8"))):
                found[path.relative_to(ROOT).as_posix()] = here
    assert found == {}


@pytest.mark.parametrize(
    "code",
    [
        'if ballot.protocol == "runoff": pass',
        'x = protocol in ("paper", "uniform")',
        'any(p.protocol != "paper" for p in q)',
    ],
)
def test_comparisons_of_names_are_seen(code):
    assert len(compared(code)) == 1
    assert compared(code.replace("protocol", "platform")) == []
