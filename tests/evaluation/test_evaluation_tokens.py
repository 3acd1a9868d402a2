"""Intervals over tokens, p-values by permuted tokens, differences, groups and what it takes to tell models apart."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from core.base.estimates import holm
from core.errors import InputError
from core.evaluation import compare, correlations, given
from core.evaluation.chance import critical_values, permutation_test
from core.evaluation.figures import FigureSettings
from core.evaluation.token_intervals import (
    CORRECTIONS,
    Coded,
    Correction,
    PairwiseDifference,
    adjusted,
    bounds,
    by_tokens,
    draw_tokens,
    groups,
    number_of_resamples,
    times_needed,
    with_token_intervals,
)


def all_pairs(n: int, area: str = "A") -> pd.DataFrame:
    a, b = np.triu_indices(n, 1)
    names = np.array([f"{area}{number:02}" for number in range(n)])
    return pd.DataFrame({"area": area, "token_a": names[a], "token_b": names[b]})


def of_vectors(vectors: np.ndarray) -> np.ndarray:
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return (units @ units.T)[np.triu_indices(len(vectors), 1)]


def test_bounds_by_hand() -> None:
    tokens, items = np.array([0.3, 0.5, 0.7]), np.array([0.49, 0.5, 0.51])
    found = bounds(0.6, tokens, items, Correction(1.0, 2.0, 1.5, ""))
    assert found is not None
    assert found.corrected == pytest.approx(0.6 + 0.1)
    assert found.error == pytest.approx(1.5 * math.sqrt(0.04 - 2 * 0.0001))
    assert found.upper == 1.0
    assert found.lower == pytest.approx(0.7 - 1.6448536 * found.error)
    # Where items hold all there is to vary, some of it is left.
    assert bounds(0.5, items, items, Correction(0, 2, 1)).error == pytest.approx(math.sqrt(0.0001 / 2))
    assert bounds(0.5, np.array([np.nan, 0.5, 0.6]), items, Correction(0, 1, 1)) is None
    assert bounds(float("nan"), tokens, items, Correction(0, 1, 1)) is None
    with pytest.raises(InputError, match="level"):
        bounds(0.5, tokens, items, Correction(0, 1, 1), level=1)


def test_bounds_on_their_scales_by_hand() -> None:
    tokens, items = np.array([0.3, 0.5, 0.7]), np.array([0.49, 0.5, 0.51])
    found = bounds(0.6, tokens, items, Correction(0.0, 0.0, 1.0, "z"))
    reach = 1.6448536 * 0.2 / (1 - 0.36)
    assert (found.lower, found.upper) == pytest.approx(
        (math.tanh(math.atanh(0.6) - reach), math.tanh(math.atanh(0.6) + reach))
    )
    root = bounds(0.36, tokens, items, Correction(0.0, 0.0, 0.5, "root"), limits=(0.0, 1.0))
    at, reach = math.asin(0.6), 1.6448536 * 0.1 / (2 * 0.6 * 0.8)
    assert (root.lower, root.upper) == pytest.approx((math.sin(at - reach) ** 2, math.sin(at + reach) ** 2))
    # Student's t with 4 degrees of freedom has 2.1318 where the normal distribution has 1.6449.
    wide = bounds(0.4, tokens, items, Correction(0.0, 0.0, 1.0, ""), freedom=4)
    assert wide.upper - wide.lower == pytest.approx(2 * 2.1318468 * 0.2)
    for end in (1.0, -1.0, 0.999):
        extreme = bounds(end, tokens, items, Correction(0.0, 0.0, 1.0, "z"))
        assert -1 <= extreme.lower < extreme.upper <= 1
    certain = bounds(1.0, np.ones(9), np.ones(9), Correction(0.0, 0.0, 1.0, "z"))
    assert certain.lower <= 1.0 == pytest.approx(certain.upper, abs=0.031)


def test_bounds_of_resamples_on_their_scale_by_hand() -> None:
    """What artanh makes .2, .4, .6 of z, so the same as a figure of that scale with itself for a scale."""
    z, of_items = np.array([0.2, 0.4, 0.6]), np.array([0.39, 0.4, 0.41])
    how = Correction(-1.0, 1.0, 1.2, "z", resampled=True)
    found = bounds(math.tanh(0.5), np.tanh(z), np.tanh(of_items), how, freedom=6)
    error = 1.2 * math.sqrt(0.04 - 0.0001)
    assert found.corrected == pytest.approx(math.tanh(0.4))
    assert found.error == pytest.approx(error * (1 - math.tanh(0.4) ** 2))
    reach = 1.9431803 * error  # of t with 6 degrees of freedom
    assert (found.lower, found.upper) == pytest.approx((math.tanh(0.4 - reach), math.tanh(0.4 + reach)))
    sure = bounds(1.0, np.ones(9), np.ones(9), how)
    assert sure.lower == sure.upper == pytest.approx(1, abs=0.016)


def test_half_of_the_tokens_are_degrees_of_freedom() -> None:
    rng = np.random.default_rng(15)
    pairs = pd.concat([all_pairs(16, "A"), all_pairs(11, "B")], ignore_index=True)
    pairs = pairs.assign(score=rng.normal(size=len(pairs)))
    found = draw_tokens(pairs, [rng.normal(size=len(pairs))], FigureSettings(("rho",)), resamples=30, rng=rng)
    assert found.freedom == 12.5
    how, drawn = CORRECTIONS["rho"], (found.estimates["rho"][0], found.by_tokens["rho"][0], found.by_items["rho"][0])
    assert found.interval("rho", 0) == bounds(*drawn, how, freedom=12.5)
    assert found.interval("rho", 0).lower < bounds(*drawn, how).lower


def test_intervals_of_few_tokens_hold_in_nine_of_ten_samples() -> None:
    """120 samples of 20 tokens: intervals of ρ that hold with .9 do so in 83 to 96% of them."""
    drawn, estimates = [], []
    for seed in range(120):
        rng = np.random.default_rng([seed, 16])
        people = rng.normal(size=(20, 8))
        pairs = all_pairs(20).assign(score=of_vectors(people))
        model = of_vectors(people + 0.6 * rng.normal(size=people.shape))
        drawn.append(draw_tokens(pairs, [model], FigureSettings(("rho",)), resamples=60, rng=rng).interval("rho", 0))
        estimates.append(correlations(pairs["score"].to_numpy(), model, names=["rho"]).rho.estimate)
    truth = float(np.mean(estimates))
    assert 0.83 <= np.mean([found.lower <= truth <= found.upper for found in drawn]) <= 0.96


def test_subsets_hold_the_items_of_their_tokens() -> None:
    pairs = pd.concat([all_pairs(10, "A"), all_pairs(4, "B")], ignore_index=True)
    coded = Coded(pairs)
    assert coded.taken(0.5) == 7
    kept = pairs[coded.subset(0.5, np.random.default_rng(3))]
    assert kept.groupby("area").size().to_dict() == {"A": 10, "B": 1}
    assert len({*kept["token_a"], *kept["token_b"]}) == 7


def test_items_stand_there_as_often_as_the_product_of_their_tokens() -> None:
    pairs = pd.concat([all_pairs(6, "A"), all_pairs(5, "B")], ignore_index=True)
    coded = Coded(pairs)
    assert coded.n_tokens == 11
    drawn = coded.by_tokens(300, np.random.default_rng(1))
    for area, n in (("A", 6), ("B", 5)):
        rows = (pairs["area"] == area).to_numpy()
        # Of n tokens drawn, the pairs that are not between copies of one token.
        assert (drawn[:, rows].sum(axis=1) <= n * (n - 1) / 2).all()
        assert drawn[:, rows].mean() == pytest.approx(1 - 1 / n, abs=0.08)
    assert (coded.by_items(50, np.random.default_rng(1))[:, pairs["area"] == "A"].sum(axis=1) == 15).all()


def test_the_same_token_of_two_areas_is_two_tokens() -> None:
    pairs = pd.DataFrame({"area": ["A", "B"], "token_a": ["x", "x"], "token_b": ["y", "z"]})
    assert Coded(pairs).n_tokens == 4


def test_draws_are_figures_of_copied_items() -> None:
    rng = np.random.default_rng(2)
    pairs = all_pairs(15).assign(score=rng.normal(size=105))
    model = rng.normal(size=105)
    found = draw_tokens(pairs, [model, -model], FigureSettings(top=4), resamples=5, rng=np.random.default_rng(3))
    times = Coded(pairs).by_tokens(5, np.random.default_rng(3)).astype(int)
    for row, drawn in enumerate(times):
        expected = correlations(np.repeat(pairs["score"].to_numpy(), drawn), np.repeat(model, drawn), top=4)
        for name in CORRECTIONS:
            assert found.by_tokens[name][0, row] == pytest.approx(getattr(expected, name).estimate)
    assert found.estimates["rho"][1] == pytest.approx(-found.estimates["rho"][0])
    again = draw_tokens(pairs, [model, -model], FigureSettings(top=4), resamples=5, rng=np.random.default_rng(3))
    assert (again.by_items["tau"] == found.by_items["tau"]).all()


def test_areas_ranked_apart_are_resampled_apart_and_averaged() -> None:
    rng = np.random.default_rng(4)
    pairs = pd.concat([all_pairs(8, "A"), all_pairs(9, "B")], ignore_index=True)
    pairs = pairs.assign(score=rng.normal(size=len(pairs)))
    model = pairs["score"].to_numpy() + rng.normal(size=len(pairs))
    found = draw_tokens(pairs, [model], FigureSettings(top=5, apart=True), resamples=3, rng=np.random.default_rng(5))
    expected = correlations(pairs["score"].to_numpy(), model, apart=pairs["area"].to_numpy(), top=5)
    for name in CORRECTIONS:
        assert found.estimates[name][0] == pytest.approx(getattr(expected, name).estimate)


def test_what_is_too_small_or_too_large_is_refused() -> None:
    pairs = all_pairs(14)
    with pytest.raises(InputError, match="at least 15"):
        draw_tokens(pairs.assign(score=1.0), [np.ones(len(pairs))], rng=np.random.default_rng(1))
    many = all_pairs(450)
    with pytest.raises(InputError, match="sample of the tokens"):
        draw_tokens(many.assign(score=1.0), [np.ones(len(many))], rng=np.random.default_rng(1))
    assert [number_of_resamples(n) for n in (10, 1000, 2000, 10**6)] == [400, 400, 200, 100]


def models_of(noises: list[float], n: int = 30, seed: int = 6):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, 12))
    pairs = all_pairs(n).assign(score=of_vectors(truth))
    pairs.attrs["notion"] = "similarity"
    names = [f"A{number:02}" for number in range(n)]
    made = [
        given(names, truth + noise * rng.normal(size=truth.shape), name=f"m{number}")
        for number, noise in enumerate(noises)
    ]
    return pairs, made


def test_a_good_model_is_told_from_a_poor_one_and_not_from_its_like() -> None:
    pairs, made = models_of([0.4, 0.42, 3.0])
    found, draws = with_token_intervals(compare(pairs, made), rng=np.random.default_rng(7))
    for figures in found.figures:
        for name in CORRECTIONS:
            figure = getattr(figures, name)
            assert figure.token_lower < figure.token_upper
            assert (figure.lower, figure.upper) == (None, None)
    like, apart, also = by_tokens(found.names, draws, "rho")
    assert not like.is_apart
    assert apart.is_apart
    assert also.is_apart
    assert apart.first_better > 0.99
    assert like.p == pytest.approx(2 * min(like.first_better, 1 - like.first_better))


def test_areas_have_intervals_where_they_have_fifteen_tokens() -> None:
    rng = np.random.default_rng(14)
    pairs = pd.concat([all_pairs(15, "A"), all_pairs(14, "B")], ignore_index=True).assign(
        score=rng.normal(size=105 + 91)
    )
    tokens = list(dict.fromkeys([*pairs["token_a"], *pairs["token_b"]]))
    model = given(tokens, rng.normal(size=(29, 5)), name="m")
    found, _ = with_token_intervals(compare(pairs, [model]), resamples=40, names=["rho"], rng=rng)
    large, small = found.evaluations[0].areas["A"].rho, found.evaluations[0].areas["B"].rho
    assert large.token_lower < large.estimate < large.token_upper
    assert small.token_lower is None
    assert small.estimate is not None


def test_own_items_are_resampled_for_each_model_apart() -> None:
    pairs, (full, other) = models_of([0.4, 0.5])
    names = full.vocabulary.to_pylist()
    few = given(names[:20], other.vectors(names[:20]), name="few")
    found, draws = with_token_intervals(
        compare(pairs, [full, few], policy="own"), resamples=60, rng=np.random.default_rng(8)
    )
    assert draws.n_tokens == 20
    own = found.figures[0].rho
    assert own.token_lower < own.estimate < own.token_upper
    assert found.common[0].rho.token_lower != own.token_lower
    assert found.fewer(1) == ("m0",)


def test_permutation_p_values_by_trying_every_permutation() -> None:
    rng = np.random.default_rng(9)
    truth = rng.normal(size=(5, 3))
    pairs = all_pairs(5).assign(score=of_vectors(truth))
    pairs.attrs["notion"] = "similarity"
    names = [f"A{n:02}" for n in range(5)]
    model = given(names, truth + 0.8 * rng.normal(size=truth.shape), name="m")
    evaluation = compare(pairs, [model]).evaluations[0]
    matrix = np.zeros((5, 5))
    matrix[np.triu_indices(5, 1)] = evaluation.values
    matrix += matrix.T
    a, b = np.triu_indices(5, 1)
    every = []
    for moved in permutations(range(5)):
        places = np.array(moved)
        every.append(correlations(pairs["score"].to_numpy(), matrix[places[a], places[b]], top=3).rho_w.estimate)
    exact = np.mean(np.array(every) >= evaluation.overall.rho_w.estimate - 1e-12)
    found = permutation_test(evaluation, permutations=1500, rng=np.random.default_rng(10))["rho_w"]
    assert found.p == pytest.approx(exact, abs=0.03)
    assert set(found.drawn.round(9)) <= set(np.round(every, 9))


def test_pairs_that_are_no_items_are_asked_of_the_model() -> None:
    pairs, (model,) = models_of([0.5], n=12)
    some = pairs.sample(frac=0.5, random_state=1).reset_index(drop=True)
    some.attrs = dict(pairs.attrs)
    evaluation = compare(some, [model]).evaluations[0]
    asked = permutation_test(evaluation, model, permutations=30, rng=np.random.default_rng(11))["rho_w"]
    held = permutation_test(evaluation, None, permutations=30, rng=np.random.default_rng(11))["rho_w"]
    assert asked.estimate == held.estimate
    assert not np.allclose(asked.drawn, held.drawn, equal_nan=True)


def test_p_values_of_unrelated_models_are_uniform() -> None:
    """Of 60 models that know nothing, 5% are to have a p of .05 or less, 50% of .5 or less."""
    p = []
    for seed in range(60):
        rng = np.random.default_rng([seed, 12])
        pairs = all_pairs(12).assign(score=of_vectors(rng.normal(size=(12, 4))))
        pairs.attrs["notion"] = "similarity"
        model = given([f"A{n:02}" for n in range(12)], rng.normal(size=(12, 4)), name="m")
        evaluation = compare(pairs, [model]).evaluations[0]
        p.append(permutation_test(evaluation, permutations=49, names=["rho_w"], rng=rng)["rho_w"].p)
    assert np.mean(np.array(p) <= 0.1) == pytest.approx(0.1, abs=0.09)
    assert np.mean(np.array(p) <= 0.5) == pytest.approx(0.5, abs=0.17)


def test_critical_values_of_spearman_are_the_known_ones() -> None:
    """Spearman's ρ of n = 10: .564 is the one-sided 5% point (Zar 1972, Journal of the American Statistical
    Association 67, table 1)."""
    found = critical_values(10, names=["rho", "rho_w"], simulations=4000, rng=np.random.default_rng(13))
    assert found["rho"][1] == pytest.approx(0.564, abs=0.03)
    assert found["rho_w"][0] < found["rho_w"][2]
    shared = critical_values(
        66, names=["rho"], n_tokens=12, dimensions=3, simulations=400, rng=np.random.default_rng(1)
    )
    alone = critical_values(66, names=["rho"], simulations=400, rng=np.random.default_rng(1))
    assert shared["rho"][2] > alone["rho"][2]  # items that share tokens agree by chance more easily
    with pytest.raises(InputError, match="66 items"):
        critical_values(50, n_tokens=12, rng=np.random.default_rng(1))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]).tolist() == []
    told = [
        PairwiseDifference("a", "b", 0.1, 0.1, 0.05, 0, 0.2, 0.98),
        PairwiseDifference("a", "c", 0.1, 0.1, 0.05, 0, 0.2, 0.02),
    ]
    assert [round(pair.p, 6) for pair in adjusted(told)] == [0.08, 0.08]


def test_groups_are_the_largest_sets_that_are_not_told_apart() -> None:
    apart = {frozenset(pair) for pair in (("a", "d"), ("a", "c"), ("b", "d"))}
    found = groups(["a", "b", "c", "d"], lambda x, y: frozenset((x, y)) in apart)
    assert found == [("a", "b"), ("b", "c"), ("c", "d")]
    assert groups(["a", "b"], lambda x, y: True) == [("a",), ("b",)]
    assert groups(["a", "b", "c"], lambda x, y: False) == [("a", "b", "c")]


def test_what_it_takes_to_tell_two_apart() -> None:
    # 1.645 + .842 standard errors away at f times as much: the power there is 80%.
    factor = times_needed(0.1, 0.08)
    assert 0.1 / (0.08 / math.sqrt(factor)) == pytest.approx(1.6448536 + 0.8416212)
    assert times_needed(0, 0.1) == math.inf
    assert times_needed(0.1, 0) == 0
    with pytest.raises(InputError, match="between 0 and 1"):
        times_needed(0.1, 0.1, power=1.0)
