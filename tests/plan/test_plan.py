"""Plans: sizes and counts worked by hand, the paper's numbers, advice, cost."""

from __future__ import annotations

import dataclasses
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PlanError
from core.plan import Plan
from core.plan.budgets import affordable_comparisons, appearances_for_budget, appearances_for_cost
from core.plan.campaign_plan import Cost, Quota, cost, quota


def names(plan: Plan) -> list[str]:
    return [problem.name for problem in plan.problems()]


def test_the_paper_s_plan():
    plan = Plan(990, 7, 0.5, 20)
    assert plan.sizes == (990, 495, 248, 124, 62, 31, 16)
    assert plan.comparisons == (9900, 4950, 2480, 1240, 620, 310, 160)
    assert plan.n_comparisons == 19_660
    assert plan.top_appearances == 140
    assert plan.uniform_appearances == 2 * 19_660 / 990
    assert names(plan) == ["repeated_pairs"]  # 16 items can't meet 20 different opponents


@pytest.mark.parametrize(
    ("n", "keep", "second"),
    [
        (45, 0.7, 32),  # 31.5, but 31.499999999999996 in floats
        (15, 0.1, 2),  # 1.5
        (5, 0.5, 3),  # 2.5; round half to even would give 2
        (7, 0.5, 4),
        (9, 1 / 6, 2),  # 1.5
        (25, 0.58, 15),  # 14.5, but 14.499999999999998 in floats
        (100, 0.294, 29),
        (100, 0.296, 30),
        (1_000_000, 0.3333335, 333_334),
    ],
)
def test_sizes_round_halves_up(n, keep, second):
    assert Plan(n, 2, keep, 2).sizes == (n, second)


@given(st.integers(2, 5000), st.integers(1, 99))
def test_sizes_are_exact_for_hundredths(n, hundredths):
    expected = int(Decimal(hundredths) * n / 100 + Decimal("0.5"))
    if expected < 2:
        with pytest.raises(PlanError):
            Plan(n, 2, hundredths / 100, 2)
    else:
        assert Plan(n, 2, hundredths / 100, 2).sizes[1] == expected


def test_appearances_of_each_ballot():
    plan = Plan(9, 3, 0.5, (3, 5, 8))
    assert plan.sizes == (9, 5, 3)
    assert plan.comparisons == (14, 13, 12)  # ⌈27/2⌉, ⌈25/2⌉, 24/2
    assert plan.n_comparisons == 39
    assert plan.top_appearances == 16
    assert plan.uniform_appearances == 78 / 9


def test_other_whole_numbers_are_taken_and_plans_compare_and_hash():
    plan = Plan(np.int64(9), np.int32(3), np.float64(0.5), [3, np.int64(5), 8])
    assert plan == Plan(9, 3, 0.5, (3, 5, 8))
    assert hash(plan) == hash(Plan(9, 3, 0.5, (3, 5, 8)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.keep = 0.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 1, 0.5, 2), "number of items must be at least 2, found 1"),
        ((9.5, 1, 0.5, 2), "number of items must be a whole number"),
        ((9, 0, 0.5, 2), "number of ballots must be at least 1"),
        ((9, 10**9, 0.5, 2), "At most 1,000 ballots"),
        ((9, 2, 0, 2), "between 0 and 1"),
        ((9, 2, 1, 2), "between 0 and 1"),
        ((9, 2, float("nan"), 2), "between 0 and 1"),
        ((9, 2, "half", 2), "between 0 and 1"),
        ((9, 2, 0.5, 0), "appearances .* must be at least 1, found 0"),
        ((9, 2, 0.5, 2.5), "whole number, or one for each ballot"),
        ((9, 2, 0.5, (2, 0)), "must be at least 1, found 0"),
        ((9, 2, 0.5, (2,)), "each of 2 ballots; found 1"),
        ((9, 2, 0.5, (2, 2, 2)), "each of 2 ballots; found 3"),
        ((10, 4, 0.4, 2), "Ballot 4 would have 1 item"),  # 10, 4, 2 (1.6), 1 (0.8)
        ((10, 2, 0.01, 2), "Ballot 2 would have no item"),
    ],
)
def test_impossible_plans_say_what_to_do(arguments, message):
    with pytest.raises(PlanError, match=message):
        Plan(*arguments)


def test_good_plan_has_no_problem():
    assert names(Plan(990, 6, 0.5, 20)) == []


@pytest.mark.parametrize(
    ("plan", "name", "bound", "value"),
    [
        (Plan(990, 1, 0.5, 120), "n_ballots_low", 2, 1),
        (Plan(100_000, 11, 0.5, 20), "n_ballots_high", 10, 11),
        (Plan(10, 3, 0.4, 40), "keep_low", 0.2**0.5, 0.4),
        (Plan(990, 7, 0.7, 20), "keep_high", 0.1 ** (1 / 6), 0.7),
        (Plan(990, 6, 0.5, 16), "top_appearances_low", 100, 96),
        (Plan(1000, 4, 0.4, (10, 20, 20, 50)), "n_comparisons_low", 50 * 1000 / 0.6 / 4, 12_200),
        (Plan(4, 3, 0.9, 40), "no_item_left_out", 3, 4),
        (Plan(15, 2, 0.4, (5, 100)), "odd_appearances", 6, 5),
        (Plan(15, 2, 0.4, (14, 100)), "repeated_pairs", 5, 100),
    ],
)
def test_problems(plan, name, bound, value):
    found = {problem.name: problem for problem in plan.problems()}
    assert name in found
    assert found[name].bound == pytest.approx(bound)
    assert found[name].value == pytest.approx(value)
    assert found[name].message.endswith(".")


def test_few_comparisons():
    plan = Plan(1000, 4, 0.4, (10, 20, 20, 50))
    assert plan.sizes == (1000, 400, 160, 64)
    assert plan.n_comparisons == 5000 + 4000 + 1600 + 1600
    [problem] = [entry for entry in plan.problems() if entry.name == "n_comparisons_low"]
    assert problem.value == 12_200
    assert "12,200" in problem.message
    assert "20,834" in problem.message


def test_bounds_themselves_are_no_problem():
    n_b, n = 3, 800
    assert "keep_high" not in names(Plan(n, n_b, 0.1 ** (1 / (n_b - 1)), 40))
    assert "keep_low" not in names(Plan(n, n_b, (2 / n) ** (1 / (n_b - 1)), 40))
    assert "n_ballots_high" not in names(Plan(100_000, 10, 0.5, 20))
    assert "top_appearances_low" not in names(Plan(990, 5, 0.5, 20))


def test_what_costs_the_scores_nothing_is_slight():
    found = {problem.name: problem.is_slight for problem in Plan(15, 2, 0.4, (5, 100)).problems()}
    assert {name for name, is_slight in found.items() if is_slight} == {"odd_appearances", "repeated_pairs"}
    assert not found["n_comparisons_low"]


def test_all_odd_and_crowded_ballots_are_named():
    messages = {problem.name: problem.message for problem in Plan(27, 3, 0.34, (3, 3, 9)).problems()}
    # 27, 9, 3 items: odd times odd in all three; 9 appearances against 2 opponents in the last.
    assert "ballots 1, 2 and 3" in messages["odd_appearances"]
    assert (
        "In ballot 3 an item appears more often (9 times) than it has opponents (2), so" in messages["repeated_pairs"]
    )
    both = {problem.name: problem.message for problem in Plan(27, 3, 0.34, (3, 9, 9)).problems()}
    assert "(8 in ballot 2)" in both["repeated_pairs"]


def test_cost_by_hand():
    # 10 + 5 items, M 4: 20 and 10 comparisons; tasks of 8: 3 + 2. 20 check votes, 6 s.
    plan = Plan(10, 2, 0.5, 4)
    money = cost(
        plan,
        seconds_per_comparison=6,
        comparisons_per_task=8,
        reward=0.35,
        fee=0.2,
        check_votes=20,
    )
    # 30 votes + 20 check votes = 300 s; 5 assignments.
    assert money == Cost(hours=300 / 3600, n_tasks=5, rewards=1.75, fees=0.35, total=2.1, hourly_wage=21.0)


def test_person_hours_of_equation_10():
    plan = Plan(990, 7, 0.5, 20)
    assert cost(plan, seconds_per_comparison=9, comparisons_per_task=1, reward=0.02).hours == pytest.approx(49.15)


def test_fee_is_at_least_a_cent_an_assignment_and_none_where_there_is_none():
    plan = Plan(10, 1, 0.5, 4)
    small = {"seconds_per_comparison": 1, "comparisons_per_task": 1, "reward": 0.02}
    assert cost(plan, **small).fees == 0.2
    assert cost(plan, **small, fee=0).fees == 0
    assert cost(plan, **small, fee=1).fees == 0.4


def test_money_rounds_halves_up_without_float_noise():
    plan = Plan(2, 1, 0.5, 1)
    one = {"seconds_per_comparison": 3600, "comparisons_per_task": 1, "fee": 0}
    assert cost(plan, **one, reward=1.005).rewards == 1.01  # 1.00 by way of binary floats
    assert cost(plan, **one, reward=0.1 + 0.2).total == 0.3


@pytest.mark.parametrize(
    "change",
    [
        {"seconds_per_comparison": 0},
        {"seconds_per_comparison": float("nan")},
        {"comparisons_per_task": 0},
        {"reward": -1},
        {"reward": "free"},
        {"fee": -0.1},
        {"check_votes": -1},
    ],
)
def test_impossible_costs(change):
    good = {"seconds_per_comparison": 5, "comparisons_per_task": 20, "reward": 0.5}
    with pytest.raises(PlanError):
        cost(Plan(10, 2, 0.5, 4), **(good | change))


def test_the_largest_even_number_of_appearances_within_a_budget():
    # The paper's seven ballots of 990 items have 1,966 items in all, so M = 2 takes 1,966 comparisons.
    assert appearances_for_budget(990, 7, 0.5, 19_660) == 20
    assert appearances_for_budget(990, 7, 0.5, 19_659) == 18
    assert appearances_for_budget(990, 7, 0.5, 1_966) == 2
    with pytest.raises(PlanError, match="take 1,966 comparisons, and the budget is 1,965"):
        appearances_for_budget(990, 7, 0.5, 1_965)
    with pytest.raises(PlanError, match="Ballot 4 would have 1 item"):
        appearances_for_budget(10, 4, 0.4, 1000)


@given(st.integers(2, 3000), st.integers(1, 6), st.floats(0.2, 0.9), st.integers(1, 10**6))
def test_a_budget_is_kept_and_two_appearances_more_would_break_it(n_items, n_ballots, keep, budget):
    try:
        Plan(n_items, n_ballots, keep, 2)
    except PlanError:
        return
    if Plan(n_items, n_ballots, keep, 2).n_comparisons > budget:
        with pytest.raises(PlanError, match="budget"):
            appearances_for_budget(n_items, n_ballots, keep, budget)
        return
    most = appearances_for_budget(n_items, n_ballots, keep, budget)
    assert most % 2 == 0
    assert Plan(n_items, n_ballots, keep, most).n_comparisons <= budget
    assert Plan(n_items, n_ballots, keep, most + 2).n_comparisons > budget


@given(
    st.integers(2, 400),
    st.integers(1, 3),
    st.floats(0, 5000),
    st.floats(0, 300),
    st.integers(1, 30),
    st.sampled_from([0.02, 0.45, 1.0]),
    st.sampled_from([0, 0.2]),
)
def test_money_and_hours_are_kept_and_two_appearances_more_would_break_one(
    n_items, n_ballots, total, hours, task_size, reward, fee
):
    terms = {"seconds_per_comparison": 7.5, "comparisons_per_task": task_size, "reward": reward, "fee": fee}

    def fits(appearances: int) -> bool:
        price = cost(Plan(n_items, n_ballots, 0.7, appearances), **terms)
        return price.total <= total and price.hours <= hours

    try:
        possible = fits(2)
    except PlanError:
        return
    if not possible:
        with pytest.raises(PlanError, match="over what is given"):
            appearances_for_cost(n_items, n_ballots, 0.7, total=total, hours=hours, **terms)
        return
    most = appearances_for_cost(n_items, n_ballots, 0.7, total=total, hours=hours, **terms)
    assert most % 2 == 0
    assert fits(most)
    assert not fits(most + 2)


def test_budgets_in_money_by_hand():
    # 10 + 5 items: M = 2 is 10 + 5 comparisons, tasks of 5: 2 + 1 at 1.00; M = 4 is 4 + 2 tasks, M = 6 is 6 + 3.
    terms = {"seconds_per_comparison": 6, "comparisons_per_task": 5, "reward": 1, "fee": 0.5}
    assert appearances_for_cost(10, 2, 0.5, total=4.5, **terms) == 2
    assert appearances_for_cost(10, 2, 0.5, total=13.49, **terms) == 4
    assert appearances_for_cost(10, 2, 0.5, total=13.5, **terms) == 6
    assert appearances_for_cost(10, 2, 0.5, total=13.5, hours=0.05, **terms) == 4  # 30 votes of 6 s
    with pytest.raises(PlanError, match=r"cost 4\.50 and take 0\.03 hours"):
        appearances_for_cost(10, 2, 0.5, total=4.49, **terms)


def test_budgets_that_bound_nothing():
    terms = {"seconds_per_comparison": 6, "comparisons_per_task": 5, "reward": 0, "fee": 0}
    with pytest.raises(PlanError, match="no end"):
        appearances_for_cost(10, 2, 0.5, total=100, **terms)
    with pytest.raises(PlanError, match="Give a budget"):
        appearances_for_cost(10, 2, 0.5, **terms)
    with pytest.raises(PlanError, match="The budget must be a number"):
        appearances_for_cost(10, 2, 0.5, total=float("nan"), **terms)


def test_quota_by_hand():
    # 10 + 5 items, M 4: 20 and 10 comparisons; tasks of 8: 3 (8, 8, 4) and 2 (8, 2). Two voters a task, four in all.
    first, second = quota(Plan(10, 2, 0.5, 4), 4, 8, votes_per_comparison=2)
    # 6 assignments among 4 voters: 2 each, of at most 16 of the ballot's 40 votes; 3 voters could do it.
    assert first == Quota(1, 6, 2, 16, 16 / 40, 3)
    # 4 assignments: 1 each, of at most 8 of 20 votes; all four are needed.
    assert second == Quota(2, 4, 1, 8, 8 / 20, 4)


@given(st.integers(2, 500), st.integers(1, 3), st.integers(1, 9), st.integers(1, 60), st.integers(1, 40))
def test_quotas_suffice_and_are_the_least(n_items, n_ballots, appearances, n_voters, task_size):
    try:
        plan = Plan(n_items, n_ballots, 0.6, appearances)
    except PlanError:
        return
    for votes in (1, min(3, n_voters)):
        for entry, comparisons in zip(
            quota(plan, n_voters, task_size, votes_per_comparison=votes), plan.comparisons, strict=True
        ):
            n_tasks = -(-comparisons // task_size)
            assert entry.n_assignments == n_tasks * votes
            assert entry.tasks_per_voter * n_voters >= entry.n_assignments
            assert (entry.tasks_per_voter - 1) * n_voters < entry.n_assignments
            assert entry.tasks_per_voter <= n_tasks
            assert entry.tasks_per_voter * entry.n_needed >= entry.n_assignments
            assert votes <= entry.n_needed <= n_voters
            assert 0 < entry.share <= 1 / votes


@pytest.mark.parametrize("arguments", [(0, 20, 1), (10, 0, 1), (10, 20, 0), (2, 20, 3)])
def test_quotas_that_are_none(arguments):
    with pytest.raises(PlanError):
        quota(Plan(10, 2, 0.5, 4), arguments[0], arguments[1], votes_per_comparison=arguments[2])


@given(hours=st.floats(0.1, 1000), seconds=st.floats(0.5, 60), size=st.integers(1, 50), reward=st.floats(0.01, 5))
def test_what_hours_or_money_pay_for_is_within_them(hours, seconds, size, reward):
    terms = {"seconds_per_comparison": seconds, "comparisons_per_task": size, "reward": reward}
    assert affordable_comparisons(hours=hours, **terms) == int(Decimal(str(hours)) * 3600 / Decimal(str(seconds)))
    votes = affordable_comparisons(total=hours, **terms)
    each = Decimal(str(reward)) + max(Decimal(str(reward)) * Decimal("0.2"), Decimal("0.01"))
    assert votes % size == 0
    assert votes // size * each <= Decimal(str(hours)) < (votes // size + 1) * each


def test_a_budget_is_hours_or_money_and_free_tasks_have_no_price():
    terms = {"seconds_per_comparison": 5, "comparisons_per_task": 10}
    with pytest.raises(PlanError, match="one of the two"):
        affordable_comparisons(**terms, reward=1.0)
    with pytest.raises(PlanError, match="one of the two"):
        affordable_comparisons(hours=1, total=1, **terms, reward=1.0)
    with pytest.raises(PlanError, match="cost nothing"):
        affordable_comparisons(total=5, **terms, reward=0.0, fee=0.0)
