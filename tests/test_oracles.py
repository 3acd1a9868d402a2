"""Slow second implementations, written from the papers' text alone, on thousands of small random inputs.

They take every sum as it is printed, in fractions where that is possible, and share no code with what they check.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, permutations
from math import ceil, floor

import numpy as np
import pytest
from scipy.stats import spearmanr

from core.base.estimates import holm
from core.errors import PlanError, UndefinedMetricError
from core.evaluation.causes import RELATED, by_relatedness
from core.evaluation.figures import precision_at
from core.evaluation.token_intervals import groups
from core.plan import Plan
from core.plan.campaign_plan import cost
from core.questions.best_worst.kind import BestWorst
from core.questions.order.groups import TargetGroup, from_orders, score_groups
from core.questions.order.orders import group_agreement

HALF = Fraction(1, 2)


def seeds(n: int) -> list:
    """0 to n − 1, of which every change tries the first three."""
    return [seed if seed < 3 else pytest.param(seed, marks=pytest.mark.release) for seed in range(n)]


def half_up(number: Fraction) -> int:
    return floor(number + HALF)


def problems_by_the_text(n: int, sizes: list[int], keep: Fraction, appearances: int) -> set[str]:
    """§2.7 and footnote 6, the bounds on α without roots: α^(n_b − 1) against 2/N and 1/10."""
    ballots = len(sizes)
    votes = sum(ceil(Fraction(appearances * size, 2)) for size in sizes)
    told = {
        "n_ballots_low": ballots < 2,
        "n_ballots_high": ballots > 10,
        "keep_low": ballots > 1 and keep ** (ballots - 1) < Fraction(2, n),
        "keep_high": ballots > 1 and keep ** (ballots - 1) > Fraction(1, 10),
        "no_item_left_out": any(a == b for a, b in pairwise(sizes)),
        "n_comparisons_low": ballots > 1 and votes * (1 - keep) * ballots < 50 * n,
        "top_appearances_low": ballots * appearances < 100,
        "odd_appearances": any(appearances * size % 2 for size in sizes),
        "repeated_pairs": any(appearances > size - 1 for size in sizes),
    }
    return {name for name, holds in told.items() if holds}


@pytest.mark.parametrize("seed", seeds(10))
def test_plans_and_their_advice_in_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    taken = 0
    for _ in range(200):
        n, ballots, appearances = (int(rng.integers(*bounds)) for bounds in ((2, 400), (1, 13), (1, 60)))
        keep = Fraction(int(rng.integers(1, 1000)), 1000)
        sizes = [n]
        while len(sizes) < ballots:
            sizes.append(half_up(keep * sizes[-1]))
        if min(sizes) < 2:
            with pytest.raises(PlanError, match="a comparison needs two"):
                Plan(n, ballots, float(keep), appearances)
            continue
        plan = Plan(n, ballots, float(keep), appearances)
        taken += 1
        assert list(plan.sizes) == sizes
        assert plan.n_comparisons == sum(ceil(Fraction(appearances * size, 2)) for size in sizes)
        assert {problem.name for problem in plan.problems()} == problems_by_the_text(n, sizes, keep, appearances)
    assert taken > 50


@pytest.mark.parametrize("seed", seeds(5))
def test_costs_in_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(100):
        plan = Plan(int(rng.integers(4, 300)), 2, 0.5, int(rng.integers(1, 9)))
        seconds, size = (int(rng.integers(1, 30)) for _ in range(2))
        reward, fee = Fraction(int(rng.integers(0, 80)), 100), Fraction(int(rng.integers(0, 50)), 100)
        more = int(rng.integers(0, 9))
        found = cost(
            plan, seconds_per_comparison=seconds, comparisons_per_task=size, reward=float(reward), fee=float(fee),
            check_votes=more,
        )  # fmt: skip
        tasks = sum(ceil(Fraction(each, size)) for each in plan.comparisons)
        hours = Fraction(seconds * (plan.n_comparisons + more), 3600)
        rewards = reward * tasks
        fees = max(reward * fee, Fraction(1, 100)) * tasks if fee else Fraction(0)
        cents = [half_up(100 * each) for each in (rewards, fees, rewards / hours)]
        assert found.n_tasks == tasks
        assert found.hours == pytest.approx(float(hours), rel=1e-12)
        assert [round(100 * each, 6) for each in (found.rewards, found.fees, found.hourly_wage)] == cents
        assert found.total == pytest.approx((cents[0] + cents[1]) / 100)


@pytest.mark.parametrize("seed", seeds(10))
def test_precision_by_breaking_ties_in_every_way(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(20):
        n = int(rng.integers(1, 6))
        k = int(rng.integers(1, n + 1))
        lists = [rng.integers(0, 3, n) * 0.1 for _ in range(2)]
        tops = []
        for scores in lists:
            orders = [order for order in permutations(range(n)) if (np.diff(scores[list(order)]) <= 0).all()]
            tops.append([set(order[:k]) for order in orders])
        expected = np.mean([len(one & other) / k for one in tops[0] for other in tops[1]])
        assert precision_at(*lists, k) == pytest.approx(expected)


@pytest.mark.parametrize("seed", seeds(10))
def test_adjusted_p_values_and_groups_by_their_definitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(20):
        m = int(rng.integers(1, 7))
        p = rng.random(m) ** 3
        # Holm: the hypotheses are rejected from the least p on, as long as p_(i) ≤ α/(m − i + 1).
        adjusted = holm(p)
        for alpha in (0.01, 0.1, 0.3, 0.7):
            rejected: set[int] = set()
            for place, at in enumerate(np.argsort(p, kind="stable").tolist()):
                if p[at] > alpha / (m - place):
                    break
                rejected.add(at)
            assert {at for at in range(m) if adjusted[at] <= alpha} == rejected
        names = "abcdef"[:m]
        apart = {pair for pair in combinations(names, 2) if rng.random() < 0.4}
        level = [
            set(some)
            for size in range(1, m + 1)
            for some in combinations(names, size)
            if not apart & set(combinations(some, 2))
        ]
        largest = {tuple(sorted(some)) for some in level if not any(some < other for other in level)}
        assert set(groups(list(names), lambda one, other, apart=apart: (one, other) in apart)) == largest


@pytest.mark.parametrize("seed", seeds(5))
def test_bands_of_relatedness_in_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for n in range(1, 60):
        scores = rng.integers(0, 30, n) / 7
        above = [Fraction(int((scores > score).sum()), n) for score in scores]
        expected = [RELATED[(place >= Fraction(1, 10)) + (place >= HALF)] for place in above]
        assert by_relatedness(scores).tolist() == expected


@pytest.mark.parametrize("seed", seeds(10))
def test_best_worst_by_counting(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(30):
        size = int(rng.integers(2, 6))
        n_items, m = int(rng.integers(size, 9)), int(rng.integers(0, 8))
        shown = [rng.permutation(n_items)[:size].tolist() for _ in range(m)]
        named = [rng.permutation(size)[:2].tolist() for _ in range(m)]
        answers = BestWorst(
            np.array(shown, dtype=np.int64).reshape(m, size), [best for best, _ in named], [worst for _, worst in named]
        )
        counts = answers.counts(n_items)
        decided = []
        for row, (best, worst) in zip(shown, named, strict=True):
            decided += [(a, b) for a in row for b in row if a != b and (a == row[best] or b == row[worst])]
        for item in range(n_items):
            times = sum(item in row for row in shown)
            net = sum(row[b] == item for row, (b, _) in zip(shown, named, strict=True)) - sum(
                row[w] == item for row, (_, w) in zip(shown, named, strict=True)
            )
            assert counts[item] == pytest.approx(net / times if times else np.nan, nan_ok=True)
        winner, loser, _ = answers.implied()
        assert sorted(zip(winner.tolist(), loser.tolist(), strict=True)) == sorted(decided)
        assert len(winner) == m * (2 * size - 3)


@pytest.mark.parametrize("seed", seeds(10))
def test_target_groups_by_the_printed_formula(seed: int) -> None:
    """From people's orders to the score: R, δ, s and the two sums of section 4.2, in fractions."""
    rng = np.random.default_rng(seed)
    for _ in range(30):
        positives = [f"p{n}" for n in range(int(rng.integers(1, 5)))]
        others = [f"n{n}" for n in range(int(rng.integers(0, 4)))]
        group = TargetGroup("t", tuple(positives), tuple(others[:2]), tuple(others[2:]))
        people = [
            {word: int(rng.integers(1, 4)) for word in positives if rng.random() < 0.8}
            for _ in range(int(rng.integers(0, 5)))
        ]
        sim = {w: int(rng.integers(0, 4)) if rng.random() < 0.9 else None for w in [*positives, *others]}
        shares = [(one, other, Fraction(1)) for one in positives for other in others]
        for one, other in combinations(positives, 2):
            both = [places for places in people if one in places and other in places]
            if both:
                wins = sum((places[one] < places[other]) + HALF * (places[one] == places[other]) for places in both)
                shares.append((one, other, Fraction(wins) / len(both)))
        if not shares:
            continue
        earned, possible, missing = Fraction(0), Fraction(0), 0
        for one, other, r in shares:
            first, second, share = (one, other, r) if r >= HALF else (other, one, 1 - r)
            a, b = sim[first], sim[second]
            if a is None or b is None:
                missing += 1
                continue
            s = (1 if a > b else -1) * (2 * share - 1)
            earned, possible = earned + max(s, Fraction(0)), possible + abs(s)
        figures = {word: np.nan if value is None else float(value) for word, value in sim.items()}
        found = score_groups(
            from_orders(group, people), lambda _, words, known=figures: np.array([known[w] for w in words])
        ).overall
        assert (found.n, found.n_missing) == (len(shares) - missing, missing)
        if possible:
            assert found.value == pytest.approx(float(earned / possible))
        else:
            assert found.value is None


@pytest.mark.parametrize("seed", seeds(10))
def test_agreement_of_people_on_orders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(10):
        people = {
            f"W{who}": {
                target: {word: int(rng.integers(1, 4)) for word in "abcd" if rng.random() < 0.7}
                for target in "st"
                if rng.random() < 0.8
            }
            for who in range(int(rng.integers(2, 6)))
        }
        of_pairs = {}
        for one, other in combinations(people, 2):
            found = []
            for target in people[one].keys() & people[other].keys():
                both = [people[one][target], people[other][target]]
                places = [[of[word] for word in "abcd" if word in both[0] and word in both[1]] for of in both]
                if min(len(set(of)) for of in places) > 1:
                    found.append(spearmanr(*places).statistic)
            if found:
                of_pairs[one, other] = np.mean(found)
        if not of_pairs:
            with pytest.raises(UndefinedMetricError):
                group_agreement(people)
            continue
        told = group_agreement(people)
        assert told.mean == pytest.approx(np.mean(list(of_pairs.values())))
        own = {who: [value for pair, value in of_pairs.items() if who in pair] for who in people}
        known = {who: np.mean(values) for who, values in own.items() if values}
        assert {p.voter: p.agreement for p in told.people if p.agreement is not None} == pytest.approx(known)
        assert (told.bound is None) == (len(known) < 3)
        if told.bound is not None:
            values = list(known.values())
            assert told.bound == pytest.approx(np.mean(values) - np.std(values, ddof=1))
            assert set(told.proposed) == {who for who, value in known.items() if value < told.bound - 1e-12}
