"""Drawn ballots: who meets whom, balance, randomness, dealing, and the choice of the next items."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.ballots import draw_comparisons
from core.ballots.draw import (
    balanced_swaps,
    draw_ballot,
    draw_uniform,
    orient,
    regular_pairs,
    select_items,
    simple_graph,
    split_into_tasks,
    stable_order,
)
from core.errors import InputError


def rng(seed=0):
    return np.random.default_rng(seed)


def meetings(pairs, items):
    """How often each two items meet, by counting."""
    counts = dict.fromkeys(combinations(sorted(items), 2), 0)
    for a, b in np.asarray(pairs).tolist():
        counts[min(a, b), max(a, b)] += 1
    return list(counts.values())


def off_balance(left, right, items):
    """The largest difference between an item's showings in two columns."""
    left, right = list(np.asarray(left)), list(np.asarray(right))
    return max(abs(left.count(item) - right.count(item)) for item in items)


def check_draw(pairs, items, appearances):
    shown = [pairs.ravel().tolist().count(item) for item in items]
    extra = appearances * len(items) % 2
    assert sorted(shown) == [appearances] * (len(items) - extra) + [appearances + 1] * extra
    assert (pairs[:, 0] != pairs[:, 1]).all()
    counts = meetings(pairs, items)
    assert max(counts) - min(counts) <= 1
    if appearances <= len(items) - 1:
        assert max(counts) <= 1
    assert off_balance(pairs[:, 0], pairs[:, 1], items) <= 1


@pytest.mark.parametrize("n", range(2, 13))
def test_every_small_ballot(n):
    items = (np.arange(n) * 7 + 3).tolist()
    for appearances in range(1, 2 * n + 3):
        for seed in range(3):
            check_draw(draw_comparisons(items, appearances, rng=rng(seed)), items, appearances)


@given(st.lists(st.integers(-50, 1000), min_size=2, max_size=40, unique=True), st.integers(1, 45), st.integers(0, 99))
def test_any_ballot(items, appearances, seed):
    check_draw(draw_comparisons(items, appearances, rng=rng(seed)), items, appearances)


@pytest.mark.parametrize(
    ("n", "appearances"),
    [(101, 50), (101, 51), (100, 99), (150, 75), (495, 21), pytest.param(990, 20, marks=pytest.mark.release)],
)
def test_larger_and_dense_ballots(n, appearances):
    check_draw(draw_comparisons(np.arange(n), appearances, rng=rng(1)), range(n), appearances)


@given(st.integers(2, 30), st.integers(1, 400), st.integers(0, 99))
def test_uniform_draw_has_exactly_the_comparisons_asked_for(n, n_comparisons, seed):
    pairs = draw_uniform(np.arange(n), n_comparisons, rng=rng(seed))
    assert pairs.shape == (n_comparisons, 2)
    shown = np.bincount(pairs.ravel(), minlength=n)
    assert shown.min() == 2 * n_comparisons // n
    assert shown.max() == -(-2 * n_comparisons // n)
    counts = meetings(pairs, range(n))
    assert max(counts) - min(counts) <= 1
    assert off_balance(pairs[:, 0], pairs[:, 1], range(n)) <= 1


def test_uniform_draw_of_the_paper():
    pairs = draw_uniform(np.arange(990), 19_660, rng=rng())
    assert set(np.bincount(pairs.ravel()).tolist()) == {39, 40}


def chi_square(counts, expected):
    return float(((np.asarray(counts) - expected) ** 2 / expected).sum())


@pytest.mark.parametrize(("n", "appearances"), [(6, 2), (6, 3), (7, 3), (5, 2)])
def test_all_pairs_and_both_orders_are_equally_likely(n, appearances):
    draws = 1500
    counts = np.zeros((n, n))
    for seed in range(draws):
        pairs = draw_comparisons(np.arange(n), appearances, rng=rng(seed))
        np.add.at(counts, (pairs[:, 0], pairs[:, 1]), 1)
    cells = counts[~np.eye(n, dtype=bool)]
    # The cells of one draw are negatively correlated, so the bound of independent cells is a wide one.
    assert chi_square(cells, cells.mean()) < len(cells) + 5 * np.sqrt(2 * len(cells))


def test_the_item_that_appears_once_more_is_drawn():
    counts = np.zeros(5)
    for seed in range(1000):
        counts[np.bincount(draw_comparisons(np.arange(5), 3, rng=rng(seed)).ravel()).argmax()] += 1
    assert chi_square(counts, 200) < 23  # 0.9999 quantile for 4 degrees of freedom


@pytest.mark.parametrize(
    ("n", "n_edges", "graphs"),
    [
        (6, 6, 70),  # one ring (60 ways) or two triangles (10)
        (5, 4, 70),  # a path (60) or a triangle and an edge (10); who appears twice is drawn too
        (6, 9, 70),  # the complements of the first
    ],
)
def test_whole_graphs_are_equally_likely(n, n_edges, graphs):
    draws, found = 8000, {}
    for seed in range(draws):
        edges = regular_pairs(n, n_edges, rng(seed))
        graph = tuple(sorted((edges.min(axis=1) * n + edges.max(axis=1)).tolist()))
        found[graph] = found.get(graph, 0) + 1
    assert len(found) == graphs
    assert chi_square(list(found.values()), draws / graphs) < 118  # 0.9998 quantile for 69 degrees of freedom


@pytest.mark.release
def test_dense_graphs_have_as_many_triangles_as_long_mixing_gives():
    # 13.376 ± .018 triangles among 12 items of degree 5: mean of 14,000 graphs after 40 rounds of switches each.
    # Repairs alone, without any mixing, give 13.2.
    found = []
    for seed in range(3000):
        edges = simple_graph(np.full(12, 5), rng(seed))
        near = np.zeros((12, 12))
        near[edges[:, 0], edges[:, 1]] = near[edges[:, 1], edges[:, 0]] = 1
        found.append(np.trace(near @ near @ near) / 6)
    error = (np.var(found) / 3000 + 0.018**2) ** 0.5
    assert abs(np.mean(found) - 13.376) < 3.5 * error


def test_relabelling_items_changes_nothing_else():
    plain = draw_comparisons(np.arange(20), 5, rng=rng(4))
    names = np.arange(20)[::-1] * 10
    assert (draw_comparisons(names, 5, rng=rng(4)) == names[plain]).all()


@pytest.mark.release
def test_a_large_ballot_keeps_all_the_rules():
    pairs = draw_comparisons(np.arange(100_000), 20, rng=rng(1))
    assert (np.bincount(pairs.ravel()) == 20).all()
    assert (np.bincount(pairs[:, 0]) == 10).all()
    assert len(np.unique(np.sort(pairs, axis=1), axis=0)) == len(pairs)


@given(st.integers(2, 12), st.integers(1, 15), st.integers(0, 99))
def test_sides_and_token_orders_are_balanced(n, appearances, seed):
    pairs = draw_comparisons(np.arange(n), appearances, rng=rng(seed))
    flipped = orient(pairs, rng=rng(seed + 1))
    shown = np.where(flipped[:, None], pairs[:, ::-1], pairs)
    assert off_balance(shown[:, 0], shown[:, 1], range(n)) <= 1
    swapped = balanced_swaps(shown, rng=rng(seed + 2))
    assert swapped.shape == shown.shape
    assert off_balance(shown[swapped], shown[~swapped], range(n)) <= 1


def test_sides_are_independent_of_columns_and_random():
    pairs = draw_comparisons(np.arange(8), 4, rng=rng(1))
    flips = np.mean([orient(pairs, rng=rng(seed)) for seed in range(600)], axis=0)
    assert np.abs(flips - 0.5).max() < 0.1
    for shown in (pairs, [(0, 1), (1, 2), (3, 1)]):  # the other items of the second list appear once
        swaps = np.mean([balanced_swaps(shown, rng=rng(seed)) for seed in range(600)], axis=0)
        assert np.abs(swaps - 0.5).max() < 0.1
    # Even where all comparisons have the same first item.
    star = [(0, other) for other in range(1, 10)]
    assert orient(star, rng=rng(1)).sum() in (4, 5)


def check_deal(pairs, size, task, position):
    n_tasks = task.max() + 1
    sizes = np.bincount(task)
    assert sizes.max() - sizes.min() <= 1
    together = {}
    for (a, b), number, place in zip(np.asarray(pairs).tolist(), task.tolist(), position.tolist(), strict=True):
        together.setdefault(number, []).append((min(a, b), max(a, b), place))
    for rows in together.values():
        assert len({row[:2] for row in rows}) == len(rows)
        assert sorted(row[2] for row in rows) == list(range(len(rows)))
    return n_tasks


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(5, 8)), min_size=1, max_size=60),
    st.integers(1, 70),
    st.integers(0, 99),
)
def test_dealing(pairs, size, seed):
    pairs = [pair if seed % 2 else pair[::-1] for pair in pairs]
    task, position = split_into_tasks(pairs, size, rng=rng(seed))
    most = max(pairs.count(pair) for pair in pairs)
    assert check_deal(pairs, size, task, position) == max(-(-len(pairs) // size), most)


def test_dealing_is_random():
    pairs = draw_comparisons(np.arange(12), 4, rng=rng(1))
    tasks, places = zip(*(split_into_tasks(pairs, 6, rng=rng(seed)) for seed in range(600)), strict=True)
    for values in (tasks, places):
        means = np.mean(values, axis=0)
        assert np.abs(means - means.mean()).max() < 0.4
    # Any two comparisons are in the same task equally often: 5 others of 23 beside any one.
    same = np.mean([(task == task[0])[1:] for task in tasks], axis=0)
    assert np.abs(same - 5 / 23).max() < 0.08


def test_dealing_nothing():
    task, position = split_into_tasks(np.empty((0, 2), dtype=int), 5, rng=rng())
    assert len(task) == len(position) == 0


@given(st.integers(2, 40), st.integers(1, 45), st.integers(1, 50), st.integers(0, 2**31 - 1))
@example(40, 6, 7, 5)
@example(15, 20, 10, 5)
@example(3, 8, 50, 5)
@example(2, 1, 1, 0)
def test_a_whole_ballot_keeps_all_the_rules(n, appearances, size, seed):
    items = np.arange(n) * 2
    ballot = draw_ballot(items, appearances, task_size=size, seed=seed)
    pairs = np.stack((ballot.first, ballot.second), axis=1)
    check_draw(pairs, items.tolist(), appearances)
    assert check_deal(pairs, size, ballot.task, ballot.position) == ballot.n_tasks
    order = np.lexsort((ballot.position, ballot.task))
    assert (order == np.arange(len(order))).all()
    left = np.where(ballot.flipped, ballot.second, ballot.first)
    right = np.where(ballot.flipped, ballot.first, ballot.second)
    assert off_balance(left, right, items) <= 1
    shown, swapped = np.concatenate((left, right)), np.concatenate((ballot.left_swapped, ballot.right_swapped))
    assert off_balance(shown[swapped], shown[~swapped], items) <= 1


@given(st.integers(8, 30), st.integers(2, 20), st.integers(1, 20), st.integers(0, 2**31 - 2))
def test_same_seed_same_bytes_and_another_seed_another_ballot(n, appearances, size, seed):
    def content(seed):
        ballot = draw_ballot(np.arange(n), appearances, task_size=size, seed=seed)
        return b"".join(getattr(ballot, field.name).tobytes() for field in dataclasses.fields(ballot))

    assert content(seed) == content(seed)
    assert content(seed) != content(seed + 1)


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=20).flatmap(
        lambda scores: st.tuples(st.just(scores), st.integers(1, len(scores)))
    ),
    st.integers(0, 50),
)
def test_selection_takes_the_highest_and_reports_ties(case, seed):
    scores, keep = case
    items = np.arange(len(scores))[::-1] + 100
    chosen = select_items(items, np.array(scores) / 6, keep, rng=rng(seed))
    kept = np.isin(items, chosen.items)
    assert chosen.items.tolist() == items[kept].tolist()
    assert kept.sum() == keep
    assert sorted(np.array(scores)[kept]) == sorted(scores)[-keep:]
    cut = min(np.array(scores)[kept])
    on_the_cut, kept_there = scores.count(cut), int((np.array(scores)[kept] == cut).sum())
    expected = (on_the_cut, kept_there) if kept_there < on_the_cut else (0, 0)
    assert (chosen.n_tied, chosen.n_tied_kept) == expected


def test_ties_at_the_cut_are_drawn_evenly_and_by_seed():
    counts = np.zeros(4)
    for seed in range(800):
        chosen = select_items([0, 1, 2, 3], [0.9, 0.3, 0.1 + 0.2, 0.3], 2, rng=rng(seed))
        assert (chosen.n_tied, chosen.n_tied_kept) == (3, 1)
        counts[chosen.items] += 1
    assert counts[0] == 800
    assert chi_square(counts[1:], 800 / 3) < 18.5  # 0.9999 quantile for 2 degrees of freedom
    again = [select_items([0, 1, 2, 3], [0.5] * 4, 2, rng=rng(9)).items.tolist() for _ in range(2)]
    assert again[0] == again[1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: draw_comparisons([1], 2, rng=rng()), "at least 2 items, found 1"),
        (lambda: draw_comparisons([1, 2, 1], 2, rng=rng()), "Item 1 is in the list twice"),
        (lambda: draw_comparisons([1.5, 2], 2, rng=rng()), "whole numbers"),
        (lambda: draw_comparisons([1, 2], 0, rng=rng()), "appearances must be at least 1"),
        (lambda: draw_comparisons([1, 2], 1.5, rng=rng()), "appearances must be a whole number"),
        (lambda: draw_uniform([1, 2], 0, rng=rng()), "n_comparisons must be at least 1"),
        (lambda: orient([[1, 1]], rng=rng()), "Item 1 is compared with itself"),
        (lambda: orient([[1, 2, 3]], rng=rng()), "shape"),
        (lambda: split_into_tasks([[1, 2]], 0, rng=rng()), "task_size must be at least 1"),
        (lambda: draw_ballot([1, 2], 2, task_size=5, seed=-1), "seed must be at least 0"),
        (lambda: select_items([1, 2], [0.5, np.nan], 1, rng=rng()), r"no score \(the first is item 2"),
        (lambda: select_items([1, 2], [0.5], 1, rng=rng()), "one score"),
        (lambda: select_items([1, 2], [0.5, 0.1], 3, rng=rng()), "3 items can't be kept of 2"),
        (lambda: select_items([1, 2], [0.5, 0.1], 0, rng=rng()), "n_keep must be at least 1"),
    ],
)
def test_bad_input_says_what_was_found(call, message):
    with pytest.raises(InputError, match=message):
        call()


@given(st.lists(st.integers(0, 5) | st.integers(0, 2**62), max_size=40))
def test_order_of_keys_is_numpys_stable_one(keys):
    array = np.array(keys, dtype=np.int64)
    assert stable_order(array).tolist() == np.argsort(array, kind="stable").tolist()


def test_order_of_negative_keys_is_numpys_too():
    assert stable_order(np.array([3, -1, 3, -1])).tolist() == [1, 3, 0, 2]
