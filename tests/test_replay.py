"""People's ratings as voters: who answers, what is replayed, how halves agree, and what more ratings would do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import kendalltau, spearmanr

from bench import people
from bench import people_ratings as ratings_module
from bench.people_ceilings import (
    CeilingModel,
    ceiling_of,
    forecast_ceiling,
    model_ceiling,
    packed,
    spearman_brown,
    top_verdict,
)
from bench.people_ratings import RatingPanel, halve, mean_ratings
from bench.people_replay import Averaged, replay_campaign, replay_splits
from core.errors import InputError, UndefinedMetricError
from core.plan import Plan
from core.simulation.campaign import Accuracy
from core.voters.model import Panel, draw_panel, exponential, opinions

NAN = math.nan
TABLE = np.array([[5.0, 2.0, NAN, 3.0], [NAN, NAN, 5.0, NAN], [NAN, 1.0, 6.0, 3.0], [1.0, 2.0, NAN, NAN]])


def rating_matrix(n_people, n_items, *, noise=0.6, step=0.5, missing=0.0, seed=1):
    """Ratings of items whose true values fall from item 0 on, on a scale of steps, some missing."""
    rng = np.random.default_rng(seed)
    true = np.linspace(2, -2, n_items)
    table = np.clip(np.round((true + noise * rng.standard_normal((n_people, n_items))) / step) * step, -2, 2)
    table[rng.random(table.shape) < missing] = NAN
    return table


# Who answers


def test_a_person_who_rated_both_answers_else_two():
    panel = RatingPanel(TABLE)
    first, second = (part.ravel() for part in np.meshgrid(np.arange(4), np.arange(4)))
    first, second = np.tile(first[first != second], 400), np.tile(second[second != first], 400)
    assert len(first) == 4 * 3 * 400
    one, other = panel.raters(first, second, rng=np.random.default_rng(1))
    rated = ~np.isnan(TABLE)
    for i in range(4):
        for j in set(range(4)) - {i}:
            here = (first == i) & (second == j)
            both = np.flatnonzero(rated[:, i] & rated[:, j])
            if len(both):
                assert (one[here] == other[here]).all()
                np.testing.assert_allclose(
                    np.bincount(one[here], minlength=4)[both] / here.sum(), 1 / len(both), atol=0.1
                )
            else:
                assert set(one[here]) == set(np.flatnonzero(rated[:, i]))
                assert set(other[here]) == set(np.flatnonzero(rated[:, j]))


def test_votes_are_comparisons_of_ratings():
    panel = RatingPanel(TABLE)
    rng = np.random.default_rng(2)
    first = rng.integers(4, size=500)
    second = (first + rng.integers(1, 4, size=500)) % 4
    one, other = panel.raters(first, second, rng=np.random.default_rng(3))
    outcome, voter = panel.answer(first, second, rng=np.random.default_rng(3))
    for i, j, v, w, y, who in zip(first, second, one, other, outcome, voter, strict=True):
        a, b = TABLE[v, i], TABLE[w, j]
        assert y == (1.0 if a > b else 0.0 if a < b else 0.5)
        assert who == (v if v == w else 4)
    assert (outcome == 0.5).any()
    # Two people may happen to be one where nobody rated both: never here.
    assert (voter == 4).any()


def test_blocks_of_comparisons_make_no_difference(monkeypatch):
    table = rating_matrix(9, 20, missing=0.6)
    panel = RatingPanel(np.where(np.isnan(table).all(axis=0), 0.0, table))
    first, second = np.arange(19), np.arange(1, 20)
    whole = panel.answer(first, second, rng=np.random.default_rng(1))
    monkeypatch.setattr(ratings_module, "CELLS", 30)
    again = panel.answer(first, second, rng=np.random.default_rng(1))
    assert all((a == b).all() for a, b in zip(whole, again, strict=True))


def test_halves_share_nobody_and_keep_what_both_rated():
    table = rating_matrix(11, 30, missing=0.7)
    table[:, 0] = NAN
    table[3, 0] = 1.0  # rated by one person only: never in both halves
    halves = halve(table, rng=np.random.default_rng(1))
    assert (halves.voters.n_people, halves.others.n_people) == (5, 6)
    assert 0 not in halves.items
    rows = np.concatenate([halves.voters.ratings, halves.others.ratings])
    expected = table[:, halves.items]
    key = [np.nan_to_num(part, nan=-9).tolist() for part in (rows, expected)]
    assert sorted(key[0]) == sorted(key[1])


def test_mean_ratings():
    np.testing.assert_allclose(mean_ratings(np.array([[1.0, NAN, NAN], [3.0, 5.0, NAN]])), [2, 5, NAN])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RatingPanel(np.zeros(3)), "people × at least two items"),
        (lambda: RatingPanel(np.zeros((3, 1))), "people × at least two items"),
        (lambda: RatingPanel(np.array([[1.0, np.inf]])), "infinite"),
        (lambda: RatingPanel(np.array([[1.0, NAN]])), "1 items have no rating, the first is item 1"),
        (lambda: RatingPanel(TABLE).answer([0], [4], rng=np.random.default_rng(1)), "from 0 to 3"),
        (lambda: halve(np.array([[1.0, NAN], [NAN, 2.0]]), rng=np.random.default_rng(1)), "have 0 rated items"),
        (lambda: ceiling_of(TABLE[:1], rng=np.random.default_rng(1)), "two people"),
        (lambda: model_ceiling(TABLE, splits=1, rng=np.random.default_rng(1)), "two splits"),
        (lambda: replay_splits(TABLE, Plan(4, 1, 0.5, 2), splits=1, seed=1), "at least 2 splits"),
        (lambda: replay_splits(TABLE, Plan(4, 1, 0.5, 2), seed=-1), "a seed from 0 on"),
        (lambda: spearman_brown(0.5, 0), "no value"),
        (lambda: spearman_brown(-0.6, 3), "no value"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


# Campaigns


@pytest.mark.parametrize("protocol", ["uniform", "paper"])
def test_people_without_noise_are_ranked_as_they_rate(protocol):
    # Distinct values, everybody alike: with every pair compared the Borda scores are the ranks.
    values = np.random.default_rng(1).permutation(24).astype(float)
    panel = RatingPanel(np.tile(values, (3, 1)))
    campaign = replay_campaign(
        panel, Plan(24, 1, 0.5, 23), protocol=protocol, truth=values, rng=np.random.default_rng(1)
    )
    assert campaign.accuracy() == pytest.approx((1, 1, 1, 1))
    assert campaign.n_comparisons == 24 * 23 // 2


@pytest.mark.parametrize("protocol", ["paper", "runoff"])
def test_later_ballots_keep_the_leading_items(protocol):
    table, plan, rng = rating_matrix(20, 60), Plan(60, 3, 0.5, 10), np.random.default_rng(1)
    campaign = replay_campaign(RatingPanel(table), plan, protocol=protocol, truth=table.mean(axis=0), rng=rng)
    assert [len(votes.items) for votes in campaign.votes] == [60, 30, 15]
    assert campaign.votes[2].items.mean() < 12  # items stand in the order of their true values
    assert plan.n_comparisons * 0.95 <= campaign.n_comparisons <= plan.n_comparisons
    for votes in campaign.votes:
        assert np.isin(votes.first, votes.items).all()
        assert np.isin(votes.second, votes.items).all()
    assert campaign.accuracy().rho > 0.8


def test_runoff_ranks_people_without_noise():
    values = np.random.default_rng(1).permutation(24).astype(float)
    panel, plan = RatingPanel(np.tile(values, (3, 1))), Plan(24, 3, 0.5, 16)
    campaign = replay_campaign(panel, plan, protocol="runoff", truth=values, rng=np.random.default_rng(1))
    assert campaign.accuracy().rho_w > 0.97


def test_a_plan_of_another_size_is_refused():
    with pytest.raises(InputError, match="plan is for 9 items, 4 are rated"):
        replay_campaign(
            RatingPanel(TABLE), Plan(9, 1, 0.5, 2), protocol="paper", truth=[1] * 4, rng=np.random.default_rng(1)
        )


def test_replays_are_reproducible_and_splits_don_t_move_each_other():
    table, plan = rating_matrix(12, 40, missing=0.3), Plan(40, 3, 0.5, 6)
    few, many = (replay_splits(table, plan, splits=n, seed=5) for n in (3, 6))
    for name in ("uniform", "paper", "ceiling"):
        assert (many.accuracies[name][:3] == few.accuracies[name]).all()
    alone = replay_splits(table, plan, protocols=("uniform",), splits=3, seed=5)
    assert (alone.accuracies["uniform"] == few.accuracies["uniform"]).all()
    assert (replay_splits(table, plan, splits=3, seed=6).accuracies["paper"] != few.accuracies["paper"]).any()


def test_figures_of_a_replay():
    table = rating_matrix(12, 40)
    replay = replay_splits(table, Plan(99, 3, 0.5, 6), splits=4, seed=1)
    assert (replay.n_items, replay.n_comparisons, replay.ratings_per_item) == (40, 210, 6)  # 3·(40 + 20 + 10)
    assert replay.of_two == {"uniform": 0, "paper": 0, "runoff": 0}
    assert 0 < replay.ties["uniform"] < replay.ties["paper"] < 1  # leading items are rated more alike
    rows = replay.accuracies["paper"]
    assert replay.protocols["paper"].mean == pytest.approx(rows.mean(axis=0))
    assert replay.protocols["paper"].standard_error == pytest.approx(rows.std(axis=0, ddof=1) / 2)
    difference = replay.difference("paper", "ceiling")
    assert difference.mean.rho == pytest.approx(replay.protocols["paper"].mean.rho - replay.ceiling.mean.rho)


def test_the_ceiling_is_the_voters_means_against_the_others():
    table = rating_matrix(9, 30)
    replay = replay_splits(table, Plan(30, 2, 0.5, 4), splits=2, seed=3)
    for split, row in enumerate(replay.accuracies["ceiling"]):
        order = np.random.default_rng((3, split)).permutation(9)
        one, other = table[order[:4]].mean(axis=0), table[order[4:]].mean(axis=0)
        assert row[2] == pytest.approx(spearmanr(one, other).statistic)
        assert row[3] == pytest.approx(kendalltau(one, other).statistic)


# Ceilings


def test_ceiling_counts():
    table = np.array([[3.0, 3.0, 1.0], [3.0, 3.0, 2.0], [3.0, 3.0, 1.0], [3.0, 3.0, 0.0]])
    ceiling = ceiling_of(table, splits=5, rng=np.random.default_rng(1))
    assert (ceiling.n_people, ceiling.n_items, ceiling.ratings_per_item) == (4, 3, 2)
    assert (ceiling.fewest, ceiling.most, ceiling.tied_top) == (2, 2, 2)
    assert ceiling.agreement.mean == pytest.approx((1, 1, 1, 1))
    assert ceiling.reliability == pytest.approx(1)


def test_people_who_rate_everything_alike_have_no_ceiling():
    with pytest.raises(UndefinedMetricError):
        ceiling_of(np.ones((4, 5)), rng=np.random.default_rng(1))


def test_opinions_of_simulated_voters_have_a_ceiling_too():
    held = opinions(exponential(80), draw_panel(Panel(20), np.random.default_rng(1)), seed=1)
    ceiling = ceiling_of(held, splits=5, rng=np.random.default_rng(1))
    assert ceiling.agreement.mean.rho_w > 0.95
    assert top_verdict(ceiling, ()).is_reliable


def test_spearman_brown_against_draws():
    rng = np.random.default_rng(1)
    item = rng.standard_normal(40_000)[:, None]
    ratings = item + 1.3 * rng.standard_normal((40_000, 12))
    one = np.corrcoef(ratings[:, 0:2].mean(axis=1), ratings[:, 6:8].mean(axis=1))[0, 1]
    three = np.corrcoef(ratings[:, 0:6].mean(axis=1), ratings[:, 6:12].mean(axis=1))[0, 1]
    assert spearman_brown(one, 3) == pytest.approx(three, abs=0.01)


@pytest.mark.parametrize("packing", [-0.5, 1e-9, 0.3, 0.9])
def test_packed_values_have_mean_0_and_variance_1(packing):
    x = np.random.default_rng(1).standard_normal(400_000)
    values = packed(x, packing)
    assert values.mean() == pytest.approx(0, abs=0.02)
    assert values.std() == pytest.approx(1, abs=0.05)
    assert (np.diff(values[np.argsort(x)]) >= 0).all()
    above, below = np.quantile(values, 0.99) - np.median(values), np.median(values) - np.quantile(values, 0.01)
    assert np.sign(round(below - above, 1)) == np.sign(round(packing, 3))


def test_simulated_ratings_are_the_scale_s_own():
    counts = np.array([[3] * 300, [5] * 300])
    model = CeilingModel(
        0.6, 0.2, np.array([0.0, 1.0, 4.0]), np.array([0.5, 0.8, 1.0]), (counts,), Accuracy(0, 0, 0, 0)
    )
    one, other = model.halves(counts, np.random.default_rng(1))
    assert set(np.round(one * 3)) <= set(range(13))
    # Half the ratings are 0, 30% are 1, 20% are 4.
    assert (one.sum() * 3 + other.sum() * 5) / 2400 == pytest.approx(0.3 + 0.8, abs=1e-9)
    assert np.corrcoef(one, other)[0, 1] > 0.7


def test_the_model_is_set_to_what_was_observed():
    table = rating_matrix(10, 150, noise=1.5)
    ceiling, model = model_ceiling(table, rng=np.random.default_rng(1), splits=20)
    assert model.fitted.rho == pytest.approx(ceiling.agreement.mean.rho, abs=0.01)
    assert model.fitted.rho_w == pytest.approx(ceiling.agreement.mean.rho_w, abs=0.04)


@pytest.mark.release
@pytest.mark.release
def test_forecasts_from_few_people_hold_for_many():
    """8 people forecast what 32 of the same population do; ρ_w roughly, where Spearman–Brown is far off."""
    everybody = rating_matrix(320, 200, noise=2.0)
    low, forecast, seen = [], [], []
    for part in range(4):
        ceiling, model = model_ceiling(everybody[8 * part : 8 * part + 8], rng=np.random.default_rng(part))
        four = forecast_ceiling(model, rng=np.random.default_rng(9), times=(4.0,), draws=20)[1]
        low.append(ceiling.agreement.mean)
        forecast.append(four.agreement.mean)
        many = everybody[64 + 32 * part : 96 + 32 * part]
        seen.append(ceiling_of(many, splits=20, rng=np.random.default_rng(part)).agreement.mean)
    (low_w, _, low_rho, _), (then_w, _, then_rho, _), (seen_w, _, seen_rho, _) = (
        np.mean(part, axis=0) for part in (low, forecast, seen)
    )
    assert seen_w > low_w + 0.2
    assert then_w == pytest.approx(seen_w, abs=0.2)
    assert abs(spearman_brown(low_w, 4) - seen_w) > 0.3
    assert then_rho == pytest.approx(seen_rho, abs=0.02)
    assert spearman_brown(low_rho, 4) == pytest.approx(seen_rho, abs=0.03)


def test_verdicts():
    weak = ceiling_of(rating_matrix(8, 100, noise=2.0, missing=0.3), splits=20, rng=np.random.default_rng(1))
    forecasts = [
        forecast(1.0, True, 0.7),
        forecast(1.0, False, 0.5),
        forecast(2.0, False, 0.85),
        forecast(4.0, False, 0.93),
        forecast(8.0, False, 0.97),
    ]
    verdict = top_verdict(weak, forecasts)
    assert not verdict.is_reliable
    assert verdict.times == 4
    assert "can't give you a reliable top" in verdict.text
    assert "As many ratings for every item, 3, would bring ρ_w to about 0.70." in verdict.text
    assert "About 4 times the ratings, 12 an item in each half, would bring it to 0.93." in verdict.text
    hopeless = top_verdict(weak, forecasts, wanted=0.99)
    assert hopeless.times is None
    assert "Even 8 times the ratings would not bring it to 0.99." in hopeless.text
    strong = ceiling_of(rating_matrix(40, 60, noise=0.3, step=0.01), splits=10, rng=np.random.default_rng(1))
    assert top_verdict(strong, ()).is_reliable
    assert "reliable" in top_verdict(strong, ()).text


def forecast(times, is_even, rho_w):
    from bench.people_ceilings import Forecast

    return Forecast(times, is_even, 3 * times, Averaged.of([Accuracy(rho_w, 0, 0, 0)] * 2))


def test_forecasts_rise_with_the_ratings():
    _, model = model_ceiling(rating_matrix(8, 100, noise=2.0), rng=np.random.default_rng(1), splits=10)
    found = forecast_ceiling(model, rng=np.random.default_rng(2), times=(1.0, 4.0, 16.0), draws=12)
    assert [(f.times, f.is_even, f.ratings_per_item) for f in found] == [
        (1, True, 4),
        (1, False, 4),
        (4, False, 16),
        (16, False, 64),
    ]
    assert (np.diff([f.agreement.mean.rho_w for f in found[1:]]) > 0.03).all()
    again = forecast_ceiling(model, rng=np.random.default_rng(2), times=(1.0, 4.0, 16.0), draws=12)
    assert again == found


# The program of the bench


def test_the_bench_says_so_where_there_are_no_data(tmp_path):
    for arguments in ([], ["--data", str(tmp_path)]):
        result = CliRunner().invoke(people.main, arguments, env={"RUNOFF_PEOPLE": ""})
        assert result.exit_code == 0
        assert result.output.startswith("No ratings found.")


def test_the_bench_reads_its_files(tmp_path):
    rows = ["token_a,token_b,voter,rating", "NA,run,v1,3", "NA,run,v0,2.5", "go,run,v0,6", "go,run,v2,1"]
    (tmp_path / "simverb.csv").write_text("\n".join(rows), encoding="utf-8")
    np.testing.assert_array_equal(people.read_simverb(tmp_path / "simverb.csv"), [[2.5, 6], [3, NAN], [NAN, 1]])
    (tmp_path / "wordsim.csv").write_text("Word 1,Word 2,Human (mean),1,2\na,b,5,4,6\nnull,c,1,2,0\n", encoding="utf-8")
    np.testing.assert_array_equal(people.read_wordsim(tmp_path / "wordsim.csv"), [[4, 2], [6, 0]])
