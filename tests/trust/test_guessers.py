"""Voters who guess among others who read: found, told by name, in the ceiling; see `core/trust/leave_one_out.py`."""

from __future__ import annotations

import numpy as np
import pytest
from campaigns import answer_batch, draw_batch, make_project

from core.commands.figures.votes import TrustLines
from core.metrics import weighted_spearman
from core.plan import Plan
from core.protocols import protocol_of
from core.scores import BallotVotes
from core.scores.bradley_terry import fit_votes
from core.simulation import simulate_campaign
from core.store import open_store
from core.store.ballots.closing import close_ballot
from core.store.projects.project_commands import get_project
from core.store.votes.intake import accept_upload
from core.trust import reliability, report
from core.trust.leave_one_out import Guessers, find_guessers, simulated_with
from core.trust.report import TrustCheck
from core.voters.model import Panel, VoterKind, draw_panel, exponential


def campaign(n_items: int, protocol: str, seed: int, n_voters: int, clickers: float) -> tuple[list[BallotVotes], set]:
    """Votes of three ballots, and the voters who click at random."""
    rng = np.random.default_rng((7, seed))
    voters = draw_panel(Panel(n_voters, random_clickers=clickers), rng)
    plan = Plan(n_items, 3, 0.5, 14)
    held = simulate_campaign(exponential(n_items), plan, protocol=protocol, rng=rng, panel=voters).held
    who = set() if voters.kind is None else set(np.flatnonzero(voters.kind == VoterKind.RANDOM_CLICKER).tolist())
    return [BallotVotes(*ballot.votes) for ballot in held], who


@pytest.mark.parametrize("protocol", ["paper", "runoff"])
@pytest.mark.parametrize("seeds", [(1,), pytest.param(range(8), marks=pytest.mark.release)], ids=["one", "eight"])
def test_half_of_the_voters_guessing_is_found_and_its_ceiling_is_that_of_the_panel(protocol, seeds):
    """The panel's: the same comparisons, the others' opinions, and exactly those guess who did; 40 simulations each."""
    ours, panels, before = [], [], []
    for seed in seeds:
        votes, who = campaign(60, protocol, seed, 30, 0.5)
        found = find_guessers(votes)
        assert len(who & set(found.found.tolist())) >= len(who) - 2
        assert len(set(found.found.tolist()) - who) <= 2
        assert 0.4 < found.share < 0.6
        fitted, truly = fit_votes(votes), np.array(sorted(who))
        ours.append(reliability.ceiling(votes, protocol, fitted, simulations=40, rng=np.random.default_rng(1)).mean)
        simulated = simulated_with(votes, truly, 40, np.random.default_rng(2))
        panels.append(protocol_of(protocol).against_truth(simulated, weighted_spearman).mean)
        rng = np.random.default_rng(3)
        before.append(protocol_of(protocol).ceiling(votes, fitted, weighted_spearman, 10, rng).mean)
    assert np.mean(ours) == pytest.approx(np.mean(panels), abs=0.05)
    assert np.mean(before) - np.mean(panels) > 0.02  # where every voter is taken for an ordinary one


@pytest.mark.parametrize("protocol", ["paper", "runoff"])
def test_among_honest_voters_nobody_guesses(protocol):
    wrongly = [len(find_guessers(campaign(60, protocol, seed, 30, 0.0)[0]).found) for seed in range(3)]
    assert sum(wrongly) == 0


def test_few_voters_are_not_told_apart():
    votes, _ = campaign(20, "paper", 1, 3, 0.0)
    assert find_guessers(votes).probability.tolist() == [0.0] * 3


def of(votes: list[int], probability: list[float], agreement: float = 0.0) -> Guessers:
    return Guessers(np.arange(len(votes)), np.array(probability), np.array(votes), np.full(len(votes), agreement))


def test_who_voted_is_told_by_name_with_their_share_of_the_votes():
    names = ["W1", "W2", "W3", "W4", "W5"]
    assert report.who_voted(names, of([20] * 5, [0.1] * 5)) is None
    alone = report.who_voted(names, of([60, 10, 10, 10, 10], [0.0] * 5))
    assert alone.level == "red"
    assert alone.reason == "W1 gave 60% of all votes, so the scores are that voter's above all."
    assert report.who_voted(names, of([20] * 5, [0.0, 0.9, 0.0, 0.0, 0.0])).level == "amber"
    guess = report.who_voted(names, of([20] * 5, [0.9, 0.9, 0.9, 0.9, 0.0]))
    assert guess.level == "red"
    assert "The votes of 4 voters can't be told from coin tosses: W1, W2, W3 and 1 more." in guess.reason
    assert "80% of all" in guess.reason
    # Nearer to coins than to an ordinary voter, but four standard deviations from coins: opinions of their own.
    assert report.who_voted(names, of([20] * 5, [0.9, 0.9, 0.9, 0.9, 0.0], 4.0)) is None
    sided = report.who_voted(names, of([20] * 5, [0.9, 0.0, 0.0, 0.0, 0.0]), ["W1"])
    assert "1 voter nearly always took the same side: W1." in sided.reason
    assert "coin tosses" not in sided.reason


def lines_of(tmp_path, voters: list[str], choose) -> dict[str, TrustCheck]:
    """The trust lines after a ballot of people who choose so."""
    store = open_store(tmp_path)
    project_id = make_project(store)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id), voters=voters, choose=choose), "v.csv")
    close_ballot(store, project_id)
    lines, _ = TrustLines(project_id, get_project(store, project_id).revision, None).measure(store, None)
    return {line.name: line for line in lines}


def test_a_voter_with_most_of_the_votes_is_a_line_of_its_own(tmp_path):
    lines = lines_of(tmp_path, ["W1", "W1", "W1", "W2", "W3"], lambda shown: min("left", "right", key=lambda side: (
        shown[f"{side}_a"] + shown[f"{side}_b"])))  # fmt: skip
    assert lines["Who voted"].level == "red"
    assert "W1 gave 6" in lines["Who voted"].reason


def test_voters_who_always_take_the_left_are_told_by_name(tmp_path):
    lines = lines_of(tmp_path, ["W1", "W2"], lambda _: "left")
    assert lines["Who voted"].level == "red"
    assert "2 voters nearly always took the same side: W1, W2." in lines["Who voted"].reason
