"""Figures of voters against sums by hand, refits and brute force; rules that propose exclusions."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_runs import examples
from scipy import stats

from core.base.estimates import holm, share
from core.errors import DisconnectedError, InputError
from core.plan import Plan
from core.scores.bradley_terry import fit_with_voters
from core.scores.voter_effects import Data, Effects, Likelihood
from core.simulation import simulate_campaign
from core.trust.leave_one_out import predict
from core.trust.voter_quality import NO_GOLD, NO_OVERLAP, NO_REPEAT, NO_SIDES, NO_TIMES, measure, pairwise_agreement
from core.trust.voter_rules import RULES, n_named, propose
from core.voters.model import Panel, exponential

N_ITEMS = 60


def answers_of(**columns):
    """A table of answers; what isn't given is as in a plain vote that counts."""
    frame = pd.DataFrame(columns)
    n = len(frame)
    plain = {
        "comparison": np.arange(n), "first": np.zeros(n, dtype=int), "second": np.ones(n, dtype=int),
        "answer": np.ones(n), "left": np.full(n, np.nan), "seconds": np.full(n, np.nan), "status": ["counted"] * n,
        "main": np.ones(n, dtype=bool), "gold": np.full(n, np.nan),
    }  # fmt: skip
    frame = frame.assign(**{name: value for name, value in plain.items() if name not in frame})
    kinds = {"answer": "float64", "left": "float64", "seconds": "float64", "status": "str", "gold": "float64"}
    return frame.astype(kinds)


@pytest.fixture(scope="module")
def campaign():
    """Votes of twelve voters, the last of whom clicks at random, in the order first, second, outcome, voter."""
    made = simulate_campaign(
        exponential(N_ITEMS), Plan(N_ITEMS, 3, 0.5, 20), protocol="runoff", rng=np.random.default_rng(3),
        panel=Panel(12, random_clickers=1 / 12),
    )  # fmt: skip
    votes = [ballot.votes for ballot in made.held]
    return [np.concatenate([getattr(v, name) for v in votes]) for name in ("first", "second", "outcome", "voter")]


def as_answers(campaign, **more):
    first, second, outcome, voter = campaign
    return answers_of(voter_id=voter, first=first, second=second, answer=outcome, **more)


def figures(found):
    return found.table.set_index("voter_id")


# Agreement with others

SHARED = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0]), st.booleans()), max_size=40
)


@settings(max_examples=examples(200), deadline=None)
@given(rows=SHARED)
def test_pairwise_agreement_is_what_pairs_of_voters_give(rows):
    held_against_others = {voter: voter < 3 for voter in range(5)}  # voters 3 and 4 are left out
    said = {}
    for voter, comparison, answer, _ in rows:
        said.setdefault((voter, comparison), answer)
    voter, comparison, answer = (np.array([row[place] for row in rows]) for place in range(3))
    counts = np.array([held_against_others[v] for v in voter.tolist()], dtype=bool)
    found = pairwise_agreement(voter, comparison, answer, counts=counts)
    for place, v in enumerate(found.voters.tolist()):
        mine = {c for (who, c) in said if who == v}
        rates, alike = [], {}
        for other in range(5):
            theirs = {c for (who, c) in said if who == other}
            if other == v or not held_against_others[other] or not mine & theirs:
                continue
            equal = [said[v, c] == said[other, c] for c in sorted(mine & theirs)]
            rates.append(np.mean(equal))
            for c, same in zip(sorted(mine & theirs), equal, strict=True):
                alike.setdefault(c, []).append(same)
        assert found.others[place] == len(rates)
        assert found.shared[place] == len(alike)
        np.testing.assert_allclose(found.pairwise[place], np.mean(rates) if rates else np.nan)
        same = np.mean([np.mean(each) for each in alike.values()]) if alike else np.nan
        np.testing.assert_allclose(found.same[place], same)


def test_pairwise_agreement_of_shapes_that_do_not_fit():
    with pytest.raises(InputError):
        pairwise_agreement([1, 2], [1], [1, 0])


@pytest.mark.release
@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_alpha_is_the_one_over_voters_and_comparisons(seed):
    """Who gave an answer is nothing to α: the table of places gives what the table of voters gives."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.choice([0.0, 0.5, 1.0, np.nan], (4, 6)))
    rows = table.stack().reset_index().set_axis(["voter_id", "comparison", "answer"], axis="columns")
    if rows.empty:
        return
    found = measure(answers_of(**{name: rows[name].to_numpy() for name in rows}))
    shared = table.loc[:, table.notna().sum() > 1]
    kinds = np.unique(shared.to_numpy()[shared.notna().to_numpy()])
    if shared.shape[1] == 0 or len(kinds) == 1:
        assert found.alpha is None
        assert found.no_alpha
        return
    assert found.alpha.alpha == pytest.approx(evalica.alpha(shared, "nominal").alpha)
    assert (found.alpha.n_units, found.alpha.n_voters) == (shared.shape[1], int(shared.notna().any(axis=1).sum()))


# The ranking by the others


def test_predictions_are_near_those_of_fits_without_each_voter(campaign):
    first, second, outcome, voter = campaign
    found = predict(*campaign, n_items=N_ITEMS, counts=np.ones(len(first), dtype=bool))
    with_all = found.fit.theta[first] - found.fit.theta[second]
    errors, moved, ratios = [], [], []
    for who in np.unique(voter):
        others = voter != who
        _, code = np.unique(voter[others], return_inverse=True)
        fit = fit_with_voters(first[others], second[others], outcome[others], n_items=N_ITEMS, voter=code)
        exact = (fit.theta[first] - fit.theta[second])[~others]
        errors.append(found.gap[~others] - exact)
        moved.append(with_all[~others] - exact)
        cov = np.linalg.inv(np.diag(fit.graph.diagonal) - fit.graph._adjacency.toarray())
        a, b = first[~others], second[~others]
        variance = cov[a, a] + cov[b, b] - 2 * cov[a, b]
        ratios.append(found.variance[~others] / variance)
    errors, moved = np.concatenate(errors), np.concatenate(moved)
    assert np.sqrt(np.mean(errors**2)) < 0.1
    assert np.quantile(np.concatenate(ratios), [0.05, 0.5, 0.95]) == pytest.approx([0.85, 1.0, 1.25], abs=0.15)
    # Nearly all of what leaving a voter out moves is in the one step.
    assert np.sum(errors**2) < 0.1 * np.sum(moved**2)


def test_the_step_without_an_inverse_is_off_by_little_of_what_is_uncertain(campaign, monkeypatch):
    counts = np.ones(len(campaign[0]), dtype=bool)
    exact = predict(*campaign, n_items=N_ITEMS, counts=counts)
    monkeypatch.setattr("core.trust.leave_one_out.MOST_DENSE", 10)
    by_steps = predict(*campaign, n_items=N_ITEMS, counts=counts)
    off = np.abs(by_steps.gap - exact.gap)
    moved = np.abs(exact.gap - (exact.fit.theta[campaign[0]] - exact.fit.theta[campaign[1]]))
    assert (off / np.sqrt(exact.variance)).max() < 0.05
    assert off.mean() < 0.01 * moved.mean()
    assert (by_steps.variance > 0).all()


def test_the_step_without_an_inverse_is_exact_where_no_way_leads_by_a_third_item(monkeypatch):
    """Voter 0 votes on items 0 and 1; the others' votes join each of them to items that no other vote joins on."""
    first, second = np.array([0, 0, 0, 1, 1, 1]), np.array([1, 2, 4, 3, 3, 0])
    outcome, voter = np.array([1.0, 1.0, 0.0, 1.0, 0.5, 1.0]), np.array([0, 1, 1, 3, 3, 2])
    counts = np.ones(6, dtype=bool)
    exact = predict(first, second, outcome, voter, n_items=5, counts=counts)
    monkeypatch.setattr("core.trust.leave_one_out.MOST_DENSE", 1)
    monkeypatch.setattr("core.trust.leave_one_out.NEAR_ENOUGH", 1e-12)
    by_steps = predict(first, second, outcome, voter, n_items=5, counts=counts)
    assert exact.gap[0] != exact.fit.theta[0] - exact.fit.theta[1]
    assert by_steps.gap[0] == pytest.approx(exact.gap[0], abs=1e-9)


def test_votes_that_do_not_count_are_predicted_by_the_others_fit(campaign):
    first, second, outcome, voter = campaign
    out = voter == 4
    found = predict(*campaign, n_items=N_ITEMS, counts=~out)
    _, code = np.unique(voter[~out], return_inverse=True)
    fit = fit_with_voters(first[~out], second[~out], outcome[~out], n_items=N_ITEMS, voter=code)
    np.testing.assert_array_equal(found.gap[out], (fit.theta[first] - fit.theta[second])[out])
    assert (found.code[out] == -1).all()
    assert (found.code[~out] == code).all()


def test_items_that_only_one_voter_saw_tell_nothing():
    found = predict([0, 0, 1, 2], [1, 1, 2, 3], [1, 1, 1, 1], [7, 8, 7, 7], n_items=4, counts=np.ones(4, dtype=bool))
    assert found.informed.tolist() == [True, True, False, False]


def test_without_votes_there_is_nothing_to_predict_from():
    with pytest.raises(InputError):
        predict([0], [1], [1], [0], n_items=2, counts=[False])
    with pytest.raises(DisconnectedError):
        predict([0, 2], [1, 3], [1, 1], [0, 1], n_items=4, counts=[True, True])


def test_errors_of_effects_are_those_of_the_information(campaign):
    """By numerical derivatives of each probability, for a voter of the fit."""
    first, second, outcome, voter = campaign
    fit = predict(*campaign, n_items=N_ITEMS, counts=np.ones(len(first), dtype=bool)).fit
    mine = voter == 2
    n = int(mine.sum())
    data = Data(first[mine], second[mine], np.ones(n), outcome[mine], np.zeros(n, dtype=int), np.full(n, 0.5))

    def win(sigma, lapse):
        values = np.array([[sigma], [lapse], [0.0]])
        effects = Effects(values, fit.effects.centre, fit.effects.free, np.ones(1))
        return Likelihood(data, fit.theta, effects).win

    at = fit.effects.values[:2, 2]
    h = 1e-5
    slopes = np.array([(win(*(at + h * step)) - win(*(at - h * step))) / (2 * h) for step in np.eye(2)])
    p = win(*at)
    information = (slopes / (p * (1 - p))) @ slopes.T + np.diag([1 / 0.4**2, 1.0])
    expected = np.sqrt(np.diag(np.linalg.inv(information)))
    np.testing.assert_allclose(fit.likelihood.effects_error()[:, 2], expected, rtol=1e-4)


def test_a_random_clicker_stands_out_from_the_ranking_of_the_others(campaign):
    first, _, outcome, voter = campaign
    found = figures(measure(as_answers(campaign)))
    clicker = int(np.argmin(found["gap"]))
    rest = found.drop(index=clicker)
    assert found.loc[clicker, "gap_upper"] < -0.1 < rest["gap"].min()
    assert found.loc[clicker, "sharpness"] < rest["sharpness"].min()
    assert found["judged"].sum() == (outcome != 0.5).sum()
    prediction = predict(*campaign, n_items=N_ITEMS, counts=np.ones(len(first), dtype=bool))
    mine = (voter == 5) & (outcome != 0.5)
    right = np.where(outcome[mine] == 1, prediction.gap[mine] > 0, prediction.gap[mine] < 0)
    sure = np.maximum(prediction.probability, 1 - prediction.probability)[mine]
    assert found.loc[5, "agrees"] == pytest.approx(right.mean())
    assert found.loc[5, "gap"] == pytest.approx(right.mean() - sure.mean())
    wilson = share(int(right.sum()), int(mine.sum()))
    assert found.loc[5, "gap_lower"] == pytest.approx(wilson.lower - sure.mean())
    assert found.loc[5, "gap_upper"] == pytest.approx(wilson.upper - sure.mean())


def test_names_and_numbers_of_voters_and_items_are_nothing_to_the_figures(campaign):
    first, second, outcome, voter = campaign
    rng = np.random.default_rng(5)
    items, names = rng.permutation(N_ITEMS), rng.permutation(12)
    found = figures(measure(as_answers(campaign)))
    other = figures(measure(as_answers([items[first], items[second], outcome, names[voter]])))
    np.testing.assert_allclose(other.loc[names, "gap"].to_numpy(), found["gap"].to_numpy(), atol=1e-4)
    turned = figures(measure(as_answers([second, first, 1 - outcome, voter])))
    np.testing.assert_allclose(turned["gap"], found["gap"], atol=1e-4)
    np.testing.assert_allclose(turned["lapse"], found["lapse"], rtol=1e-2)


# The plain figures


def test_figures_counted_by_hand():
    one = measure(
        answers_of(
            #             five votes, one unknown, gold right, wrong and unknown,  a repeat,  rejected
            voter_id=[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2],
            comparison=[0, 1, 2, 3, 4, 5, 10, 11, 12, 0, 6, 0, 1],
            first=[0, 1, 0, 0, 1, 2, 3, 3, 3, 1, 0, 1, 1],
            second=[1, 2, 2, 3, 3, 3, 0, 1, 2, 0, 2, 0, 2],
            answer=[1, 0, 0.5, 1, 1, np.nan, 1, 0, np.nan, 1, 1, 0, 0],
            left=[1, 1, np.nan, 0, 1, np.nan, 1, 0, np.nan, 0, 1, 1, np.nan],
            seconds=[1, 2, 3, 4, 5, 6, np.nan, np.nan, np.nan, 9, 9, 10, 20],
            status=["counted"] * 5
            + ["unknown", "counted", "counted", "unknown", "repeat", "rejected"]
            + ["counted"] * 2,
            main=[True] * 6 + [False] * 3 + [True] * 2 + [True] * 2,
            gold=[np.nan] * 6 + [1, 1, 1] + [np.nan] * 2 + [np.nan] * 2,
        )
    )
    found = figures(one)
    row = found.loc[1]
    assert (row["votes"], row["ties"], row["unknown"]) == (5, pytest.approx(1 / 5), pytest.approx(1 / 6))
    assert (row["gold_right"], row["gold_n"], row["gold"]) == (1, 2, 0.5)
    assert (row["gold_lower"], row["gold_upper"]) == pytest.approx((share(1, 2).lower, share(1, 2).upper))
    # Comparison 0 again, sides exchanged: item 0 first, then item 1.
    assert (row["repeat_same"], row["repeat_n"], row["consistent"]) == (0, 1, 0)
    # Comparison 0: voter 1 took item 0, and so did voter 2, who has it in second place. Comparison 1: both took item 2.
    assert (row["shared"], row["same"], row["pairwise"], row["others"]) == (2, 1.0, 1.0, 1)
    assert (row["sided"], row["left"]) == (6, 4)
    assert row["p"] == pytest.approx(stats.binomtest(4, 6).pvalue)
    assert (row["seconds"], row["timed"]) == (3.5, 6)
    assert row["speed"] == pytest.approx(3.5 / np.median([1, 2, 3, 4, 5, 6, 10, 20]))
    assert not row["left_out"]


def test_what_is_undefined_says_why():
    found = measure(answers_of(voter_id=[1, 2], comparison=[0, 1], first=[0, 0], second=[1, 1], answer=[0.5, 0.5]))
    reasons = {"gold": NO_GOLD, "same": NO_OVERLAP, "pairwise": NO_OVERLAP, "consistent": NO_REPEAT, "p_holm": NO_SIDES,
               "speed": NO_TIMES, "seconds": NO_TIMES}  # fmt: skip
    assert {key: found.reasons.get(key) for key in reasons} == reasons
    row = found.table.iloc[0]
    assert found.reason(row, "votes") == ""
    assert found.reason(row, "gold") == NO_GOLD
    assert "ties" in found.reason(row, "gap")
    assert found.alpha is None
    assert found.no_alpha == "of 2 answered comparisons none was answered by two voters"
    mixed = measure(answers_of(voter_id=[1, 2], gold=[1.0, np.nan]))
    assert mixed.reason(mixed.table.iloc[1], "gold") == "the voter was given no comparison with a known answer"


def test_items_apart_leave_the_ranking_out_with_the_reason():
    found = measure(answers_of(voter_id=[1, 2], first=[0, 2], second=[1, 3]))
    assert "parts" in found.reasons["gap"]
    assert found.table["gap"].isna().all()


def test_no_answers_no_voters():
    found = measure(answers_of(voter_id=np.array([], dtype=int)))
    assert found.table.empty
    assert found.alpha is None


def test_votes_left_out_are_held_against_the_others_but_not_the_other_way(campaign):
    voter = campaign[3]
    status = np.where(voter == 4, "excluded", "counted")
    found = figures(measure(as_answers(campaign, status=status)))
    assert found["left_out"].tolist() == [v == 4 for v in range(12)]
    assert found.loc[4, "votes"] == (voter == 4).sum()
    assert np.isfinite(found.loc[4, "gap"])
    assert np.isnan(found.loc[4, "lapse"])
    rest = voter != 4
    without = figures(measure(as_answers([part[rest] for part in campaign])))
    np.testing.assert_allclose(found.drop(index=4)["gap"], without["gap"], atol=1e-9)


@given(p=st.lists(st.one_of(st.floats(0, 1), st.just(float("nan"))), max_size=12))
def test_holm_rejects_what_the_procedure_rejects(p):
    adjusted = holm(p)
    known = sorted(value for value in p if value == value)
    for level in (0.01, 0.05, 0.3):
        rejected = []
        for place, value in enumerate(known):
            if value * (len(known) - place) >= level:
                break
            rejected.append(value)
        mine = [value for value, a in zip(p, adjusted, strict=True) if a < level]
        assert sorted(mine) == rejected


# Rules


@cache
def plain(n):
    """The figures of n voters who have one answer each."""
    return measure(answers_of(voter_id=np.arange(n), comparison=np.arange(n))).table


def table_of(**columns):
    return plain(len(next(iter(columns.values())))).assign(**columns)


CASES = [
    ("gold", {"gold": [0.5, 0.7, 0.9], "gold_n": [4, 9, 9], "gold_right": [2, 6, 8]}, [0]),
    ("gold", {"gold": [0.5, 0.2, np.nan], "gold_n": [3, 9, 9], "gold_right": [1, 2, 0]}, [1]),
    ("speed", {"speed": [0.3, 0.34, 0.1], "timed": [10, 10, 9], "seconds": [1.0, 1.2, 0.3]}, [0]),
    ("lapse", {"lapse": [0.2, 0.1, 0.4], "votes": [20, 90, 19]}, [0]),
    ("sharpness", {"sharpness": [0.2, 0.5, 0.1], "votes": [20, 90, 19]}, [0]),
    ("consistency", {"consistent": [0.5, 0.6, 0.1], "repeat_n": [6, 6, 4], "repeat_same": [3, 3, 1]}, [0]),
    ("side", {"p_holm": [0.01, 0.06, np.nan], "sided": [20, 20, 0], "left": [18, 15, 0]}, [0]),
    ("ranking", {"gap_upper": [-0.2, -0.05, np.nan], "judged": [20, 20, 0], "agrees": [0.4] * 3,
                 "expected": [0.8] * 3}, [0]),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "columns", "named"), CASES)
def test_a_rule_names_whom_its_bound_says(rule, columns, named):
    found = propose(table_of(**columns), {rule: RULES[rule].bound})
    assert found["voter_id"].tolist() == named
    assert (found["rule"] == rule).all()
    assert (found["reason"].str.len() > 5).all()
    enough = [count >= RULES[rule].least for count in columns[RULES[rule].counted]]
    assert n_named(table_of(**columns), rule, RULES[rule].bound) == (len(named), sum(enough))


def test_the_rule_of_avraham_and_goldberg():
    """More than one SD under the mean, by hand: mean .7, SD √(.02 · …)."""
    pairwise = [0.9, 0.8, 0.7, 0.7, 0.4]
    mean, sd = np.mean(pairwise), np.std(pairwise, ddof=1)
    expected = [v for v, value in enumerate(pairwise) if value < mean - sd]
    assert expected == [4]
    table = table_of(pairwise=pairwise, shared=[10] * 5)
    assert propose(table, {"pairwise": 1.0})["voter_id"].tolist() == expected
    assert propose(table, {"pairwise": 2.0}).empty
    few = table_of(pairwise=[0.9, 0.1], shared=[10, 10])
    assert propose(few, {"pairwise": 1.0}).empty


def test_who_is_left_out_already_is_neither_proposed_nor_in_means():
    table = table_of(pairwise=[0.8, 0.8, 0.79, 0.1], shared=[10] * 4, left_out=[False, False, False, True])
    assert propose(table, {"pairwise": 1.0})["voter_id"].tolist() == [2]
    assert n_named(table, "pairwise", 1.0) == (1, 3)


def test_rules_that_are_not_asked_propose_nobody_and_unknown_ones_are_refused():
    table = table_of(lapse=[0.5], votes=[100])
    assert propose(table, {}).empty
    with pytest.raises(InputError, match="no rule taste"):
        propose(table, {"taste": 1.0})


def test_reasons_of_all_rules_are_by_voter(campaign):
    found = propose(measure(as_answers(campaign)).table, {key: rule.bound for key, rule in RULES.items()})
    assert found["voter_id"].is_monotonic_increasing
    assert set(found["rule"]) <= set(RULES)
    for a, b in combinations(found.itertuples(), 2):
        assert (a.voter_id, a.rule) != (b.voter_id, b.rule)
