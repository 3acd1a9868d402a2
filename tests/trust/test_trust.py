"""Trust lines, circles, the stop rule and reliability: by hand, by brute force, and on the fault cases."""

from __future__ import annotations

import csv
import dataclasses

import numpy as np
import pytest

from core.errors import DisconnectedError, InputError, UndefinedMetricError
from core.metrics import weighted_spearman
from core.plan import Plan
from core.protocols import Held, protocol_of
from core.scores import BallotVotes
from core.scores.bradley_terry import fit_votes, fit_with_voters, joined
from core.scores.posterior import item_posteriors, likely_scores, simulated_outcomes
from core.scores.reliability import RepeatedCorrelation
from core.simulation import simulate_campaign
from core.trust import reliability, report
from core.trust.stopping import NextBallotValue, expected_lost, is_level, items_in_preference_cycles, value_of_next
from core.voters.model import exponential


def scores_by(votes, protocol):
    """What ranks every item by these votes."""
    return protocol_of(protocol).field([Held(ballot) for ballot in votes]).rank_by


def campaign(protocol: str = "runoff", seed: int = 1, appearances: int = 12, n_ballots: int = 3):
    plan = Plan(60, n_ballots, 0.5, appearances)
    held = simulate_campaign(exponential(60), plan, protocol=protocol, rng=np.random.default_rng(seed))
    return [BallotVotes(*ballot.votes) for ballot in held.held], held.truth


def of_case(path) -> BallotVotes:
    """The votes of a case, each by a voter of its own."""
    with path.open(newline="") as file:
        rows = [(int(row["winner"]), int(row["loser"])) for row in csv.DictReader(file)]
    winner, loser = (np.array(side) for side in zip(*rows, strict=True))
    items = np.unique(np.concatenate((winner, loser)))
    return BallotVotes(items, winner, loser, np.ones(len(rows)), np.arange(len(rows)))


# --- circles ---


def test_a_circle_of_clear_majorities_is_found_and_a_ladder_is_none():
    ring = [(0, 1), (1, 2), (2, 0)]
    votes = [pair for pair in ring for _ in range(6)]
    first, second = (np.array(side) for side in zip(*votes, strict=True))
    assert items_in_preference_cycles(first, second, np.ones(18), np.arange(3)) == 3
    assert (
        items_in_preference_cycles(first, second, np.ones(18), np.array([0, 1])) == 0
    )  # the circle is broken where one isn't looked at
    ladder = [pair for pair in [(0, 1), (1, 2), (0, 2)] for _ in range(6)]
    first, second = (np.array(side) for side in zip(*ladder, strict=True))
    assert items_in_preference_cycles(first, second, np.ones(18), np.arange(3)) == 0


def test_a_majority_that_may_be_chance_makes_no_circle():
    first, second = np.repeat([0, 1, 2], 5), np.repeat([1, 2, 0], 5)  # five of five: p = .0625
    assert items_in_preference_cycles(first, second, np.ones(15), np.arange(3)) == 0
    assert items_in_preference_cycles(first, second, np.full(15, 0.5), np.arange(3)) == 0


# --- lines ---


@pytest.mark.parametrize(
    ("votes", "planned", "level"),
    [
        ([10, 12], [10, 12], "green"),
        ([10, 12], [10, 13], "amber"),
        ([9, 12], [9, 12], "amber"),
        ([3, 12], [3, 12], "red"),
        ([0, 12], [10, 12], "red"),
    ],
)
def test_votes_an_item(votes, planned, level):
    line = report.enough_votes(np.array(votes), np.array(planned))
    assert line.level == level
    assert bool(line.cure) == (level != "green")


def test_items_that_only_won_or_only_lost():
    votes = np.full(4, 10)
    assert report.won_and_lost(np.array([9.0, 5, 4, 1]), votes, np.arange(2)).level == "green"
    line = report.won_and_lost(np.array([10.0, 5, 4, 0]), votes, np.arange(2))
    assert (line.level, line.reason[:38]) == ("amber", "1 item never lost and 1 item never won")
    assert report.won_and_lost(np.array([10.0, 10, 4, 1]), votes, np.arange(2)).level == "red"
    only_lost = report.won_and_lost(np.array([9.0, 5, 4, 0]), votes, np.arange(2))
    assert only_lost.level == "amber"
    assert "next ballot" in line.cure
    assert "next ballot" not in only_lost.cure  # which holds the upper items
    assert report.won_and_lost(np.array([9.5, 5, 4, 1]), votes, np.arange(2)).level == "green"  # a tie is half a loss


def test_a_graph_in_parts_is_red():
    assert report.one_graph([5], 0).level == "green"
    for sizes, unvoted in (([3, 2], 0), ([5], 1), ([], 0)):
        assert report.one_graph(sizes, unvoted).level == "red"


def test_the_top_by_how_much_of_it_is_certain():
    levels = [
        report.certain_top(np.array(probability), 4).level
        for probability in ([0.99, 0.96, 0.95, 0.95, 0.15], [0.99, 0.97, 0.7, 0.7, 0.64], [0.99, 0.8, 0.8, 0.7, 0.71])
    ]
    assert levels == ["green", "amber", "red"]


def test_first_place_alpha_halves_ceiling_and_the_cut():
    assert report.first_place(["a – b"]).level == "green"
    tied = report.first_place([f"item {n}" for n in range(5)])
    assert (tied.level, "and 2 more" in tied.reason) == ("amber", True)
    assert report.agreement(None, "Nobody answered twice.").reason == "Nobody answered twice."
    assert [report.halves(RepeatedCorrelation(np.array([v])), "").level for v in (0.8, 0.6, 0.59)] == [
        "green",
        "amber",
        "red",
    ]
    assert [report.ceiling(RepeatedCorrelation(np.array([v])), "").level for v in (0.95, 0.8, 0.7)] == [
        "green",
        "amber",
        "red",
    ]
    assert report.halves(None, "Too few.").level == report.ceiling(None, "Too few.").level == "amber"
    settled = NextBallotValue(4, 8, 3, 0.0, 0.0, 0.0, 0.2, False, 0, 5)
    levels = [
        report.cut_lost(dataclasses.replace(settled, lost=lost), "none came back").level for lost in (0.2, 0.7, 1.5)
    ]
    assert levels == ["green", "amber", "red"]


# --- no rule calls a cycle or an unconnected graph settled ---


def test_a_cycle_is_never_settled(cases):
    once = of_case(cases / "47-votes-cycle.csv")
    for times in (1, 3, 40):
        columns = {name: np.tile(getattr(once, name), times) for name in ("first", "second", "outcome", "voter")}
        votes = [BallotVotes(once.items, **columns)]
        fitted = fit_votes(votes)
        found = value_of_next(votes, "runoff", fitted, n_keep=3, appearances=2, rng=np.random.default_rng(1))
        assert found.level
        assert not found.settled
        assert found.circles == (3 if times >= 6 else 0)
        line = report.no_preference_cycles(found)
        assert line is not None
        assert line.level == "red"
        assert not value_of_next(votes, "paper", fitted, n_keep=3, appearances=2, rng=np.random.default_rng(1)).settled


def test_an_unconnected_graph_is_never_settled(cases):
    votes = [of_case(cases / "44-votes-disconnected.csv")]
    with pytest.raises(DisconnectedError):
        fit_votes(votes)  # so there is no foresight at all
    assert report.one_graph([2, 2], 0).level == "red"


def test_settled_needs_every_bound():
    good = NextBallotValue(10, 40, 10, 0.005, 0.01, 0.5, 0.0, False, 0, 5)
    assert good.settled
    for name, value in (("rho_w", 0.006), ("tau_w", 0.011), ("changes", 0.6), ("level", True), ("circles", 3)):
        assert not dataclasses.replace(good, **{name: value}).settled
    assert not dataclasses.replace(good, rho_w=None, tau_w=None, changes=None).settled
    assert NextBallotValue.of(good.stored()) == good
    assert NextBallotValue.of(None) is NextBallotValue.of({"rho_w": 1.0}) is None


# --- what another ballot would change ---


@pytest.mark.parametrize("protocol", ["runoff", "paper"])
def test_foreseen_moves_are_near_those_of_real_ballots(protocol):
    """Mean over ten campaigns of what ballot 2 was foreseen to move in ρ_w, against what it moved."""
    foreseen, moved = [], []
    for seed in range(10):
        votes, _ = campaign(protocol, seed, n_ballots=2)
        fitted = fit_votes(votes[:1])
        rng = np.random.default_rng(seed)
        found = value_of_next(votes[:1], protocol, fitted, n_keep=30, appearances=12, simulations=5, rng=rng)
        assert (found.n_items, found.n_comparisons) == (30, 180)
        foreseen.append(found.rho_w)
        before, after = scores_by(votes[:1], protocol), scores_by(votes, protocol)
        moved.append(1.0 - weighted_spearman(before, after))
    assert np.mean(foreseen) == pytest.approx(np.mean(moved), rel=0.5)


def test_later_ballots_are_foreseen_to_move_less():
    votes, _ = campaign()
    rng = np.random.default_rng(1)
    moves = [
        value_of_next(
            votes[:n], "runoff", fit_votes(votes[:n]), n_keep=15, appearances=12, simulations=4, rng=rng
        ).rho_w
        for n in (1, 3)
    ]
    assert moves[1] < moves[0]


def test_the_same_seed_foresees_the_same_and_sizes_are_checked():
    votes, _ = campaign()
    fitted = fit_votes(votes)
    one, other = (
        value_of_next(votes, "runoff", fitted, n_keep=8, appearances=4, simulations=2, rng=np.random.default_rng(3))
        for _ in range(2)
    )
    assert one == other
    for wrong in (1, 61):
        with pytest.raises(InputError, match="simulated"):
            value_of_next(votes, "runoff", fitted, n_keep=wrong, appearances=4, rng=np.random.default_rng(3))


def test_items_cut_from_the_top_are_counted_by_their_probability():
    votes, _ = campaign()
    fitted = fit_votes(votes)
    posteriors = item_posteriors(fitted.fit)
    assert expected_lost(posteriors, fitted.items, fitted.items, 10) == 0.0
    assert expected_lost(posteriors, fitted.items, fitted.items[:0], 10) == pytest.approx(10.0)
    kept = fitted.items[np.argsort(-fitted.fit.theta)[:30]]
    outside = ~np.isin(fitted.items, kept)
    expected = posteriors.top_probability(10)[outside].sum()
    assert expected_lost(posteriors, fitted.items, kept, 10) == pytest.approx(expected)
    assert not is_level(fitted.fit, fitted.fit.theta)


def test_likely_scores_follow_the_posteriors():
    votes, _ = campaign()
    posteriors = item_posteriors(fit_votes(votes).fit)
    rng = np.random.default_rng(1)
    drawn = np.array([likely_scores(posteriors, rng) for _ in range(2000)])
    mean = posteriors.probability @ posteriors.knots
    spread = np.sqrt(posteriors.probability @ posteriors.knots**2 - mean**2)
    assert np.abs(drawn.mean(axis=0) - mean).max() < 0.15
    assert drawn.std(axis=0) == pytest.approx(
        np.sqrt(spread**2 + (posteriors.knots[1] - posteriors.knots[0]) ** 2 / 12), rel=0.1
    )


def test_simulated_outcomes_have_the_probabilities_of_the_fit():
    votes, _ = campaign()
    fitted = fit_votes(votes)
    fit = fitted.fit
    n = 20_000
    first, second, voter = np.zeros(n, dtype=int), np.ones(n, dtype=int), np.full(n, 3)
    found = simulated_outcomes(fit, fit.theta, first, second, voter, np.random.default_rng(1)).mean()
    lapse, sharp = fit.voter_lapse[3], fit.voter_sharpness[3]
    expected = lapse + (1 - 2 * lapse) / (1 + np.exp(-sharp * (fit.theta[0] - fit.theta[1])))
    assert found == pytest.approx(expected, abs=0.015)


def test_a_fit_in_which_all_votes_count_alike_is_simulated_too():
    votes, _ = campaign()
    fitted = fit_votes(votes)
    first, second, outcome, _ = joined(votes, fitted.items)
    alike = dataclasses.replace(fitted, fit=fit_with_voters(first, second, outcome, n_items=60, voter=None))
    found = value_of_next(votes, "runoff", alike, n_keep=8, appearances=4, simulations=2, rng=np.random.default_rng(3))
    assert found.rho_w is not None


# --- reliability ---


@pytest.mark.parametrize("protocol", ["runoff", "paper"])
def test_the_ceiling_is_near_what_the_truth_scores(protocol):
    real, simulated = [], []
    for seed in range(6):
        votes, truth = campaign(protocol, seed)
        fitted = fit_votes(votes)
        real.append(weighted_spearman(truth, scores_by(votes, protocol)))
        rng = np.random.default_rng(seed)
        simulated.append(reliability.ceiling(votes, protocol, fitted, simulations=4, rng=rng).mean)
    assert np.mean(simulated) == pytest.approx(np.mean(real), abs=0.03)


@pytest.mark.parametrize("protocol", ["runoff", "paper"])
def test_halves_agree_less_than_the_whole_with_the_truth(protocol):
    votes, truth = campaign(protocol)
    fitted = fit_votes(votes)
    found = reliability.halves(votes, protocol, fitted, repeats=4, rng=np.random.default_rng(1))
    again = reliability.halves(votes, protocol, fitted, repeats=4, rng=np.random.default_rng(1))
    assert found.values.tolist() == again.values.tolist()
    assert 0.3 < found.mean < weighted_spearman(truth, scores_by(votes, protocol))
    few = [dataclasses.replace(ballot, voter=ballot.voter % 3) for ballot in votes]
    with pytest.raises(UndefinedMetricError, match="4 voters"):
        reliability.halves(few, protocol, fitted, rng=np.random.default_rng(1))


def test_scores_by_a_protocol_are_its_scores():
    votes, _ = campaign("paper")
    fitted = fit_votes(votes)
    first, second, outcome, _ = joined(votes[:1], fitted.items)
    by_hand = [
        (outcome[first == i].sum() + (1 - outcome)[second == i].sum()) / ((first == i).sum() + (second == i).sum())
        for i in range(len(fitted.items))
    ]
    assert scores_by(votes[:1], "paper") == pytest.approx(by_hand)
    assert scores_by(votes, "runoff") == pytest.approx(fitted.fit.theta, abs=0.01)


def test_where_nobody_shared_a_comparison_no_voter_is_suspected():
    assert "prefer a side" not in report.agreement(None, "none was answered by two voters").cure
