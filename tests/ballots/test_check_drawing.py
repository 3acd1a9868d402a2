"""Checks of a plan: their settings, how many there are, and where they stand in the tasks of a drawn ballot."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ballots.checks import (
    ORIENTATIONS,
    REPEAT_ORIENTATION,
    CheckSettings,
    GoldComparison,
    check_checks,
    clear_pairs,
    count_checks,
    draw_checks,
    gold_text,
    on_voting_page,
    read_gold_pairs,
)
from core.ballots.draw import draw_ballot
from core.errors import PlanError
from core.plan import Plan
from core.plan.campaign_plan import cost
from core.scores import BallotVotes
from core.scores.bradley_terry import fit_votes

MANY = CheckSettings(overlap=0.3, overlap_voters=4, gold=2, repeats=2, audit_items=3, audit_votes=4)


def drawn_with(seed: int, n_items: int, appearances: int, task_size: int, checks: CheckSettings = MANY):
    """A ballot and its checks; items 100, 101, … were cut."""
    drawn = draw_ballot(np.arange(n_items), appearances, task_size=task_size, seed=seed)
    gold = [(0, n_items - 1), (200, 201)]
    audits = [(100 + item, other, 0.25) for item in range(checks.audit_items) for other in range(2)]
    rng = np.random.default_rng(seed)
    return drawn, draw_checks(drawn, checks, gold=gold, audits=audits, n_voters=5, rng=rng)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_items=st.integers(4, 14),
    appearances=st.integers(1, 6),
    task_size=st.integers(1, 9),
)
def test_checks_stand_in_tasks_without_disturbing_them(seed, n_items, appearances, task_size):
    drawn, checks = drawn_with(seed, n_items, appearances, task_size)
    places: dict[int, list[int]] = {}
    pairs: dict[int, Counter] = {}
    for row in range(len(drawn.first)):
        places.setdefault(int(drawn.task[row]), []).append(int(checks.place[row]))
        pairs.setdefault(int(drawn.task[row]), Counter())[frozenset((drawn.first[row], drawn.second[row]))] += 1
    for showing, place in zip(checks.showings, checks.showing_place.tolist(), strict=True):
        check = checks.checks[showing.check]
        places[showing.task].append(place)
        if check.kind == "repeat":
            row = check.of
            assert drawn.task[row] == showing.task
            assert place > checks.place[row]
        else:
            pairs[showing.task][frozenset((check.first, check.second))] += 1
    for task, numbers in places.items():
        # Numbered 1, 2, … without gaps, and no two items twice but in a repeat; the ballot's own order stays.
        assert sorted(numbers) == list(range(len(numbers)))
        assert max(pairs[task].values()) == 1
        of_task = drawn.task == task
        assert (np.diff(checks.place[of_task]) > 0).all()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n_items=st.integers(8, 20), task_size=st.integers(2, 7))
def test_every_dress_of_a_comparison_differs(seed, n_items, task_size):
    drawn, checks = drawn_with(seed, n_items, 3, task_size)
    seen: dict[int, list[tuple]] = {}
    for row, *dress in zip(
        range(len(drawn.first)), drawn.flipped, drawn.left_swapped, drawn.right_swapped, strict=True
    ):
        seen[row] = [tuple(bool(part) for part in dress)]
    for showing in checks.showings:
        check = checks.checks[showing.check]
        if check.of >= 0:
            assert (check.first, check.second) == (drawn.first[check.of], drawn.second[check.of])
            seen[check.of].append((showing.flipped, showing.left_swapped, showing.right_swapped))
            if check.kind == "repeat":
                assert showing.flipped != drawn.flipped[check.of]
    assert all(len(set(dresses)) == len(dresses) for dresses in seen.values())


def test_the_dresses_are_all_different():
    assert len({*ORIENTATIONS, REPEAT_ORIENTATION, (False, False, False)}) == len(ORIENTATIONS) + 2


def test_checks_are_spread_evenly_and_the_same_for_the_same_seed():
    drawn, checks = drawn_with(3, 40, 6, 10)
    again = drawn_with(3, 40, 6, 10)[1]
    assert (checks.checks, checks.showings) == (again.checks, again.showings)
    assert checks.showing_place.tolist() == again.showing_place.tolist()
    per_task = Counter(showing.task for showing in checks.showings)
    assert set(per_task) == set(range(drawn.n_tasks))
    assert max(per_task.values()) - min(per_task.values()) <= 1
    assert checks.counts == {"overlap": 36 * 3, "audit": 6, "gold": 24, "repeat": 24}
    assert len({check for check in checks.checks if check.kind == "gold"}) == 2


def test_a_check_that_fits_no_task_is_left_out():
    drawn, checks = drawn_with(1, 4, 3, 9)  # one task holds all six comparisons
    assert drawn.n_tasks == 1
    assert "overlap" not in checks.counts


def test_counts_are_what_is_drawn():
    plan = Plan(40, 2, 0.5, 6)
    _, checks = drawn_with(3, 40, 6, 10, CheckSettings(overlap=0.1, gold=1, repeats=1, audit_items=0))
    (first, second) = count_checks(plan, CheckSettings(overlap=0.1, gold=1, repeats=1, audit_items=3, audit_votes=4,
                                                       gold_pairs=read_gold_pairs("a, b > c, d")),
                                   task_size=10, n_voters=5)  # fmt: skip
    assert checks.counts == {"overlap": first.overlap, "gold": first.gold, "repeat": first.repeat}
    assert (first.audit, second.audit) == (0, 12)
    without = count_checks(plan, CheckSettings(gold=1), task_size=10, n_voters=5)
    assert [count.gold for count in without] == [0, 6]
    per_voter = count_checks(plan, CheckSettings(gold=2, gold_per="voter"), task_size=10, n_voters=5)
    assert per_voter[1].gold == 10
    assert count_checks(plan, None, task_size=10, n_voters=5) == ()


def test_check_votes_cost_time_and_no_task():
    plan = Plan(990, 7, 0.5, 20)
    how = {"seconds_per_comparison": 9, "comparisons_per_task": 20, "reward": 0.45}
    plain, more = cost(plan, **how), cost(plan, **how, check_votes=400)
    assert more.hours == pytest.approx(plain.hours + 1)
    assert (more.n_tasks, more.total) == (plain.n_tasks, plain.total)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"overlap": 0.6}, "share of comparisons that several voters judge is 0.6"),
        ({"overlap": float("nan")}, "share of comparisons"),
        ({"overlap_voters": 1}, "voters of such a comparison is 1"),
        ({"gold": -1}, "known answer is -1"),
        ({"repeats": 1.5}, "repeats per task is 1.5"),
        ({"audit_votes": 0}, "comparisons of a cut item is 0"),
        ({"gold_per": "ballot"}, "found 'ballot'"),
        ({"gold_pairs": (GoldComparison(("a", "b"), ("b", "a")),)}, "stands against itself"),
        ({"gold_pairs": (GoldComparison(("a", ""), ("b", "c")),)}, "needs four tokens"),
    ],
)
def test_settings_that_make_no_sense(wrong, said):
    with pytest.raises(PlanError, match=said):
        check_checks(CheckSettings(**wrong))


def test_settings_come_back_from_json():
    kept = CheckSettings(gold_pairs=read_gold_pairs("cat, dog > saw, mouse\n\nA b, c > d, e"), gold=3, gold_per="voter")
    assert CheckSettings.of(kept.stored()) == check_checks(kept)
    assert gold_text(kept.gold_pairs) == "cat, dog > saw, mouse\nA b, c > d, e"
    assert CheckSettings.of(None) is None
    assert CheckSettings.of({"overlap": 0.1, "later": 1}) == CheckSettings(overlap=0.1)
    for line in ("cat, dog", "cat > dog", "a, b > c, d > e, f", "a, > c, d"):
        with pytest.raises(PlanError, match="Line 1"):
            read_gold_pairs(line)
    assert on_voting_page(kept, 2) == {"n_gold": 2, "n_repeats": 0}
    assert on_voting_page(None, 2) == {}


def test_gold_is_clear_beyond_doubt_and_not_by_the_estimate_alone():
    """Item 0 wins all of 60 votes against the middle, item 9 loses all; item 5 won its only vote against item 0."""
    rng = np.random.default_rng(4)
    first, second = (np.repeat(rng.integers(0, 10, 900), 1) for _ in range(2))
    keep = (first != second) & (first != 5) & (second != 5)
    first, second = np.append(first[keep], 5), np.append(second[keep], 0)
    outcome = (first < second).astype(float)
    outcome[-1] = 1.0
    votes = BallotVotes(np.arange(10), first, second, outcome, rng.integers(0, 20, len(first)))
    fitted = fit_votes([votes])
    assert np.argmax(fitted.fit.theta) in (0, 5)
    pairs = clear_pairs(fitted, 20, rng=np.random.default_rng(1))
    assert pairs
    assert all(more < less for more, less in pairs)
    assert len({item for pair in pairs for item in pair}) == 2 * len(pairs)
    # One vote leaves all doubt, however high the score it gives.
    assert not any(5 in pair for pair in pairs)
    assert clear_pairs(fitted, 1, rng=np.random.default_rng(1)) == pairs[:1]
