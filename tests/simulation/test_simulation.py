"""Simulated campaigns, equation by equation against loops, and their promises: seeds, shared voters, exact costs."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.plain_campaign import plain_campaign
from core import metrics
from core.errors import InputError, UndefinedMetricError
from core.plan import Plan
from core.protocols import SelectedItems
from core.protocols.paper import Paper
from core.scores import BallotVotes, final_scores, score_campaign
from core.simulation import campaign as module
from core.simulation import simulate_campaign
from core.simulation.campaign import Crowd
from core.simulation.conventions import PAPER, RELEASED
from core.voters.model import Panel, Voters, draw_panel, exponential, opinions_asked, power_law

PLAN = Plan(60, 4, 0.5, 10)


def rng(seed=0):
    return np.random.default_rng(seed)


def campaign(protocol="paper", seed=1, plan=PLAN, similarity=None, **options):
    z = exponential(plan.n_items) if similarity is None else similarity
    return simulate_campaign(z, plan, protocol=protocol, rng=rng(seed), **options)


# ---- voters


@pytest.mark.parametrize("notion", ["relatedness", "similarity"])
@pytest.mark.parametrize("convention", ["paper", "released"])
def test_opinions_follow_the_equation(convention, notion):
    rules = {"paper": PAPER, "released": RELEASED}[convention]
    z, voters = np.linspace(-1, 1, 21), Voters([0.0, 0.1, 0.9], [0.0] * 3)
    source, twin = rng(4), rng(4)
    crowd = Crowd(z, voters, notion, rules, source)
    twin.integers(2**63)  # the seed for crowds too large to keep
    for v in range(3):
        for i, value in enumerate(z.tolist()):
            spread = value * (1 - value) if convention == "released" else 1 - value**2
            expected = max(-1.0, min(1.0, value + voters.nonconformity[v] * spread * twin.standard_normal()))
            expected = abs(expected) if notion == "relatedness" else expected
            assert crowd.kept[v * 21 + i] == pytest.approx(expected, abs=1e-14)


def test_a_large_crowd_is_made_ballot_by_ballot_with_the_same_opinions(monkeypatch):
    monkeypatch.setattr(module, "CELLS", 10)
    z, voters = power_law(30), draw_panel(Panel(6), rng(1))
    for rules in (PAPER, RELEASED):
        crowd = Crowd(z, voters, "relatedness", rules, rng(2))
        assert crowd.kept is None
        first, second, voter = np.arange(20), np.arange(10, 30), np.arange(20) % 6
        one = crowd._asked(first, second, voter)
        assert (np.array(one) == np.array(crowd._asked(first, second, voter))).all()
        again = opinions_asked(z, first, second, voter, voters, seed=crowd.seed, amplitude=rules.amplitude(z))
        assert (np.array(one) == again).all()
    held = campaign(similarity=power_law(60))
    assert held.accuracy().rho > 0.8


def test_votes_are_the_opinions_of_who_was_asked():
    voters = Voters(np.linspace(0.02, 0.2, 7), np.zeros(7))
    z = exponential(PLAN.n_items)
    held = simulate_campaign(z, PLAN, protocol="paper", rng=rng(5), panel=voters)
    crowd = Crowd(z, voters, "relatedness", PAPER, rng(5))
    for ballot in held.held:
        items, first, second, outcome, voter = ballot.votes
        assert set(first.tolist()) | set(second.tolist()) == set(items.tolist())
        for a, b, vote, v in zip(first.tolist(), second.tolist(), outcome.tolist(), voter.tolist(), strict=True):
            difference = crowd.kept[v * 60 + a] - crowd.kept[v * 60 + b]
            assert vote == (0.5 if difference == 0 else float(difference > 0))


def test_oversight_turns_its_share_of_votes_round():
    z, plan = np.array([0.9, 0.1]), Plan(2, 1, 0.5, 20_000)
    held = simulate_campaign(z, plan, protocol="paper", rng=rng(1), panel=Voters([0.0], [0.2]))
    votes = held.held[0].votes
    right = np.where(votes.first == 0, votes.outcome, 1 - votes.outcome)
    assert right.mean() == pytest.approx(0.8, abs=5 * 0.4 / math.sqrt(20_000))


def test_votes_are_dealt_equally_within_one():
    for ballot in campaign(panel=Panel(7)).held:
        counts = np.bincount(ballot.votes.voter, minlength=7)
        assert counts.max() - counts.min() <= 1


def test_a_voter_never_changes_its_mind_and_every_protocol_has_the_same_voters():
    plan, panel = Plan(12, 3, 0.6, 60), Panel(5, oversight=(0.0, 0.0))
    said = defaultdict(set)
    for protocol in ("paper", "uniform"):
        for ballot in campaign(protocol, plan=plan, panel=panel).held:
            for a, b, outcome, voter in zip(*(column.tolist() for column in ballot.votes[1:]), strict=True):
                said[voter, min(a, b), max(a, b)].add(outcome if a < b else 1 - outcome)
    assert max(map(len, said.values())) == 1
    assert len(said) > 200


# ---- scores


@pytest.mark.parametrize("protocol", ["paper", "uniform"])
@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_the_real_campaigns_functions(protocol, seed):
    """The same votes, scored by `core.scores`, which its own tests hold against the equations."""
    held = campaign(protocol, seed, panel=Panel(20, always_left=0.1, random_clickers=0.1))
    theirs = score_campaign([BallotVotes(*ballot.votes) for ballot in held.held], 60)
    for mine, other in zip(held.ballots, theirs, strict=True):
        for name in ("items", "x", "y", "mean", "count", "votes"):
            np.testing.assert_allclose(getattr(mine, name), getattr(other, name), rtol=1e-12, err_msg=name)
        assert mine.slope == pytest.approx(other.slope)
    np.testing.assert_allclose(held.scores, final_scores(theirs, 60).score, rtol=1e-12)
    assert held.slopes == tuple(ballot.slope for ballot in held.ballots)
    assert held.slopes[0] == 1


def test_scores_follow_the_equations():
    """Eqs. 1, 5 and 6 in loops, from the campaign's own votes."""
    held = campaign(seed=3)
    y_of = defaultdict(list)
    for number, (ballot, scores) in enumerate(zip(held.held, held.ballots, strict=True)):
        points, times = defaultdict(float), defaultdict(int)
        for a, b, outcome in zip(*(column.tolist() for column in ballot.votes[1:4]), strict=True):
            points[a] += outcome
            points[b] += 1 - outcome
            times[a] += 1
            times[b] += 1
        x = {item: points[item] / times[item] for item in times}
        before = {item: sum(y_of[item]) / len(y_of[item]) for item in x if y_of[item]}
        slope = 1.0
        if number:
            slope = sum((1 - x[i]) * (1 - before[i]) for i in x) / sum((1 - x[i]) ** 2 for i in x)
        for item in x:
            y_of[item].append(1 - slope + slope * x[item])
        assert scores.slope == pytest.approx(slope)
        assert scores.x == pytest.approx([x[item] for item in scores.items.tolist()])
    assert held.scores == pytest.approx([sum(y_of[item]) / len(y_of[item]) for item in range(60)])


def test_the_next_ballot_has_the_highest_means():
    for seed in range(5):
        ballots = campaign(seed=seed).ballots
        assert [len(ballot.items) for ballot in ballots] == list(PLAN.sizes)
        for before, after in pairwise(ballots):
            stays = np.isin(before.items, after.items)
            assert before.mean[stays].min() >= before.mean[~stays].max()


def test_ties_at_the_cut_are_drawn():
    """Nobody can tell the items apart, so all tie in every ballot."""
    plan, calm = Plan(8, 2, 0.5, 4), Voters([0.0], [0.0])
    kept = np.zeros(8)
    for seed in range(300):
        held = campaign(seed=seed, plan=plan, similarity=np.full(8, 0.3), panel=calm)
        assert set(held.scores) == {0.5}
        kept[held.ballots[1].items] += 1
    assert kept.min() > 100  # 150 expected, standard deviation 8.7
    with pytest.raises(UndefinedMetricError):
        held.accuracy()


def test_accuracy_is_between_scores_and_the_truth():
    held = campaign()
    truth = np.abs(exponential(60))
    assert (held.truth == truth).all()
    names = (metrics.weighted_spearman, metrics.weighted_kendall, metrics.spearman, metrics.kendall)
    assert held.accuracy() == tuple(metric(held.scores, truth) for metric in names)
    assert held.accuracy(n0=0).rho_w == metrics.weighted_spearman(held.scores, truth, n0=0)


def test_relatedness_ranks_antonyms_high_and_similarity_low():
    z = np.array([-0.95, 0.7, 0.3, 0.0])
    plan, calm = Plan(4, 1, 0.5, 30), Voters([0.01], [0.0])
    for notion, order in (("relatedness", [0, 1, 2, 3]), ("similarity", [1, 2, 3, 0])):
        held = simulate_campaign(z, plan, protocol="paper", rng=rng(1), panel=calm, notion=notion)
        assert np.argsort(-held.scores).tolist() == order
        assert held.accuracy() == (1, 1, 1, 1)


def test_plain_loops_come_to_the_same_accuracy():
    """Another program of the same equations: means over 80 campaigns agree within 4 standard errors."""
    z, n = exponential(60), 80
    ours = np.array([campaign(seed=seed).accuracy() for seed in range(n)])
    plain = []
    for seed in range(n):
        scores = plain_campaign(z.tolist(), PLAN.sizes, 10, 100, seed)
        plain.append([metrics.weighted_spearman(scores, np.abs(z)), metrics.spearman(scores, np.abs(z))])
    ours, plain = ours[:, [0, 2]], np.array(plain)
    error = np.sqrt((ours.var(axis=0, ddof=1) + plain.var(axis=0, ddof=1)) / n)
    assert (np.abs(ours.mean(axis=0) - plain.mean(axis=0)) < 4 * error).all()
    assert (error < 0.02).all()


# ---- plans and protocols


@given(st.integers(2, 60), st.integers(1, 4), st.floats(0.3, 0.9), st.lists(st.integers(1, 12), min_size=4, max_size=4))
@settings(max_examples=60)
def test_any_plan(n_items, n_ballots, keep, appearances):
    if round(n_items * keep ** (n_ballots - 1)) < 3:
        n_ballots = 1
    plan = Plan(n_items, n_ballots, keep, tuple(appearances[:n_ballots]))
    held = campaign(plan=plan)
    assert [len(ballot.items) for ballot in held.ballots] == list(plan.sizes)
    assert [len(ballot.votes.first) for ballot in held.held] == list(plan.comparisons)
    assert not np.isnan(held.scores).any()
    uniform = campaign("uniform", plan=plan)
    assert uniform.n_comparisons == held.n_comparisons == plan.n_comparisons
    shown = uniform.ballots[0].votes
    assert shown.min() == 2 * plan.n_comparisons // n_items
    assert shown.max() == -(-2 * plan.n_comparisons // n_items)


def test_both_protocols_of_the_paper_cost_the_same():
    plan = Plan(990, 7, 0.5, 20)
    for protocol in ("paper", "uniform"):
        assert campaign(protocol, plan=plan).n_comparisons == 19_660


def test_the_adaptive_protocol_is_better_at_the_top():
    adaptive, uniform = (
        np.mean([campaign(protocol, seed, Plan(990, 7, 0.5, 20)).accuracy().rho_w for seed in range(20)])
        for protocol in ("paper", "uniform")
    )
    assert adaptive > uniform + 0.05


def test_same_seed_same_campaign():
    one, other, third = (campaign(seed=seed) for seed in (1, 1, 2))
    assert one.scores.tobytes() == other.scores.tobytes()
    for a, b in zip(one.held, other.held, strict=True):
        assert all(x.tobytes() == y.tobytes() for x, y in zip(a.votes, b.votes, strict=True))
    assert (one.scores != third.scores).any()


def test_a_protocol_of_one_s_own_plugs_in(monkeypatch):
    """Its own drawing, scores and choice of items: here a chain of neighbours, and the worst go on."""

    class Chain(Paper):
        def sizes(self, plan):
            return [(plan.n_items, plan.n_items - 1), (3, 2)]

        def draw(self, items, n, held, rng, sampler):
            assert len(held) == (0 if len(items) == 6 else 1)
            return np.column_stack((items[:-1], items[1:]))

        def select(self, held, n, rng):
            last = held[-1].scores
            worst = np.argsort(last.rank_by, kind="stable")[:n]
            return SelectedItems(last.items[worst], last.rank_by[worst], 0, 0)

        def field(self, held, mode):
            return replace(held[0].scores, rank_by=np.arange(6.0))

    monkeypatch.setitem(PAPER.protocols, "chain", Chain())
    held = campaign("chain", plan=Plan(6, 1, 0.5, 2), similarity=power_law(6), panel=Voters([0.0], [0.0]))
    assert held.n_comparisons == 7
    assert held.ballots[1].items.tolist() == [5, 1, 2]
    assert held.scores.tolist() == [0, 1, 2, 3, 4, 5]
    assert held.accuracy().rho == -1


# ---- kinds of voters


def test_panels_of_odd_voters_tell_nothing():
    plan = Plan(40, 1, 0.5, 30)
    lefties = campaign(plan=plan, panel=Panel(always_left=1.0))
    assert set(lefties.scores) == {0.5}  # sides are balanced: half of an item's 30 showings are on the left
    clickers = np.array([campaign(seed=seed, plan=plan, panel=Panel(random_clickers=1.0)).scores for seed in range(30)])
    assert clickers.mean() == pytest.approx(0.5)
    assert clickers.std() == pytest.approx(0.5 / math.sqrt(30), rel=0.1)


@pytest.mark.parametrize("kind", ["random_clickers", "always_left", "inattentive"])
@pytest.mark.parametrize("convention", ["paper", "released"])
def test_odd_voters_cost_accuracy(kind, convention):
    plain, odd = (
        np.mean([campaign(seed=seed, convention=convention, panel=panel).accuracy().rho for seed in range(8)])
        for panel in (Panel(), Panel(**{kind: 0.6}))
    )
    assert odd < plain - 0.01


# ---- errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "best"}, "protocol must be 'uniform' or 'paper'"),
        ({"convention": "new"}, "convention must be 'paper' or 'released'"),
        ({"notion": "love"}, "notion must be"),
        ({"similarity": np.zeros(59)}, "The plan is for 60 items, and there are 59"),
        ({"similarity": np.full(60, 1.5)}, "60 similarities are not in"),
        ({"similarity": np.full((60, 1), 0.5)}, "one row"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(InputError, match=message):
        campaign(**options)
