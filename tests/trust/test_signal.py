"""Whether votes can be told from coin tosses, and what is said where they can't; see `core/scores/reliability.py`."""

from __future__ import annotations

import numpy as np
import pytest
from campaigns import make_project, run_people

from core.commands.figures.votes import TrustLines
from core.commands.publishing import publish
from core.dataset.published import read_published
from core.errors import UndefinedMetricError
from core.plan import Plan
from core.scores import BallotVotes
from core.scores.bradley_terry import fit_votes
from core.scores.reliability import CHANCE_Z, by_chance, signal_z
from core.simulation import simulate_campaign
from core.store import open_store
from core.store.projects.project_commands import get_project
from core.store.scores.project_dataset import read_project_dataset
from core.trust import reliability, report
from core.trust.stopping import NextBallotValue, value_of_next
from core.voters.model import Panel, exponential


def votes_of(n_items: int, protocol: str, seed: int, **panel: float) -> list[BallotVotes]:
    """Votes of a campaign of three ballots."""
    held = simulate_campaign(
        exponential(n_items), Plan(n_items, 3, 0.5, 8), protocol=protocol,
        rng=np.random.default_rng(seed), panel=Panel(**panel),
    ).held  # fmt: skip
    return [BallotVotes(*ballot.votes) for ballot in held]


def test_the_statistic_is_the_sum_of_products_of_different_voters_signs():
    rng = np.random.default_rng(2)
    first, second = np.array([rng.permutation(5)[:2] for _ in range(60)]).T
    outcome, voter = rng.choice([0.0, 0.5, 1.0], 60), rng.integers(0, 4, 60)
    whole = BallotVotes(np.arange(5), first, second, outcome, voter)
    totals, earlier, variance = np.zeros((5, 4)), np.zeros((5, 4)), 0.0
    for a, b, sign, who in zip(first, second, 2 * outcome - 1, voter, strict=True):
        others = np.delete(earlier, who, axis=1).sum(axis=1)
        variance += 4 * sign**2 * (others[a] - others[b]) ** 2
        for table in (totals, earlier):
            table[a, who] += sign
            table[b, who] -= sign
    product = (totals.sum(axis=1) ** 2).sum() - (totals**2).sum()
    assert signal_z([whole]) == pytest.approx(product / np.sqrt(variance))
    parts = [BallotVotes(np.arange(5), *(x[rows] for x in (first, second, outcome, voter))) for rows in (
        slice(0, 25), slice(25, 60))]  # fmt: skip
    assert signal_z(parts) == pytest.approx(signal_z([whole]))


def test_where_nothing_can_be_told_it_is_0():
    alone = BallotVotes(np.arange(2), np.zeros(9, int), np.ones(9, int), np.ones(9), np.zeros(9, int))
    assert signal_z([alone]) == 0.0  # one voter, however decided
    assert by_chance([alone])


@pytest.mark.parametrize("protocol", ["paper", "runoff"])
@pytest.mark.parametrize(("n_items", "n_voters"), [(20, 5), (20, 30), (60, 30)])
def test_coin_tosses_look_like_coin_tosses_and_votes_like_votes(protocol, n_items, n_voters):
    tossed = [signal_z(votes_of(n_items, protocol, seed, n_voters=n_voters, random_clickers=1.0)) for seed in range(6)]
    voted = signal_z(votes_of(n_items, protocol, 1, n_voters=n_voters))
    assert max(tossed) < 3.5  # one of four thousand is above that by chance
    assert sum(z > CHANCE_Z for z in tossed) <= 1
    assert voted > CHANCE_Z


def test_always_left_is_no_opinion():
    assert by_chance(votes_of(60, "paper", 1, n_voters=30, always_left=1.0))


@pytest.mark.parametrize("protocol", ["paper", "runoff"])
def test_coin_tosses_have_no_ceiling_no_top_and_no_advice_to_stop(protocol):
    votes = votes_of(20, protocol, 1, n_voters=30, random_clickers=1.0)
    fitted, chance = fit_votes(votes), by_chance(votes)
    with pytest.raises(UndefinedMetricError, match="coin tosses"):
        reliability.ceiling(votes, protocol, fitted, rng=np.random.default_rng(1))
    lines = [
        report.certain_top(np.ones(20), 10, chance=chance),
        report.first_place(["a – b"], chance=chance),
        report.agreement(None, "", chance=chance),
        report.ceiling(None, chance, chance=chance),
    ]
    assert [line.level for line in lines] == ["red"] * 4
    assert all("coin tosses" in line.reason and line.cure for line in lines)
    found = value_of_next(votes, protocol, fitted, n_keep=5, appearances=8, simulations=2, rng=np.random.default_rng(1))
    assert found.by_chance
    assert not found.settled


def test_a_foresight_from_before_is_read_and_one_by_chance_never_settles():
    good = NextBallotValue(4, 8, 3, 0.0, 0.0, 0.0, 0.0, level=False, circles=0, simulations=5)
    older = good.stored()
    del older["by_chance"]
    assert NextBallotValue.of(older) == good
    assert good.settled
    assert not NextBallotValue.of(good.stored() | {"by_chance": True}).settled


def test_a_dataset_of_coin_tosses_is_marked_wherever_it_goes(tmp_path):
    store, rng = open_store(tmp_path), np.random.default_rng(4)
    project_id = make_project(store)
    run_people(store, project_id, 2, choose=lambda _: str(rng.choice(["left", "right"])))
    assert read_project_dataset(store, project_id).attrs["by_chance"] is True
    files = read_published(publish(store, project_id).data).files
    for name in ("README.md", "datasheet.md", "datasheet.html"):
        assert "told from coin tosses, so the scores rank nothing" in files[name].decode()
    lines, _ = TrustLines(project_id, get_project(store, project_id).revision, None).measure(store, None)
    red = {line.name for line in lines if line.level == "red" and "coin tosses" in line.reason}
    assert {"Agreement", "Noise ceiling", "The top 10"} <= red


def test_a_dataset_of_votes_is_not_marked(tmp_path):
    store = open_store(tmp_path)
    project_id = make_project(store)
    run_people(store, project_id, 2)
    assert "by_chance" not in read_project_dataset(store, project_id).attrs
