"""Checks put into the tasks of a drawn ballot, so that voters can't tell them from the comparisons that count.

The ballot itself stays as it was drawn: the same comparisons in the same tasks, with the same sides. Checks come on
top.

Comparisons whose answer the votes so far leave no doubt about: gold for the ballots to come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from ..base.arrays import Ints
from ..scores.fit import FittedVotes
from .checks import AUDIT, GOLD, OVERLAP, REPEAT, CheckSettings, n_gold_places, n_overlapping
from .draw import DrawnBallot

CLEAR = 0.98  # an ordinary voter who reads names the right item at least so often …
DOUBT = 2.33  # … and that at the 99 % lower bound of the difference of the two scores


def clear_pairs(fitted: FittedVotes, n: int, *, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Up to `n` pairs of items whose order is beyond doubt, the higher one first; items as positions in the project.

    Of every pair logistic(θ_i − θ_j − 2.33·√(s_i² + s_j²)) ≥ .98: the estimate alone wouldn't do, since an item with
    few votes may stand far up by luck. Pairs are drawn at random, no item is in two of them. There may be fewer, or
    none.
    """
    theta, spread = fitted.fit.theta, fitted.spread
    pairs: list[tuple[int, int]] = []
    free = ~np.isnan(theta)
    for item in rng.permutation(np.flatnonzero(free)).tolist():
        if len(pairs) >= n:
            break
        if not free[item]:
            continue
        gap = np.abs(theta - theta[item]) - DOUBT * np.hypot(spread, spread[item])
        clear: NDArray[np.int64] = np.flatnonzero(free & (gap >= logit(CLEAR)))
        if len(clear):
            other = int(rng.choice(clear))
            free[[item, other]] = False
            more, less = (item, other) if theta[item] > theta[other] else (other, item)
            pairs.append((int(fitted.items[more]), int(fitted.items[less])))
    return pairs


# How further voters see a comparison: (sides exchanged, order of the tokens exchanged left, right). Each differs from
# the comparison itself and from its repeat, so that a result file without ids tells them apart too.
ORIENTATIONS = ((True, True, True), (False, True, True), (True, True, False), (False, False, True))
REPEAT_ORIENTATION = (True, False, False)
APART = 3  # comparisons between a comparison and its repeat, where the task has as many


@dataclass(frozen=True)
class Check:
    """One check: `kind` of `core.ballots.checks.KINDS`, its items (of gold the right one first, of an audit the one
    that was cut), `of` the row of the comparison that it repeats or overlaps (else −1), `inclusion` of an audited
    item."""

    kind: str
    first: int
    second: int
    of: int = -1
    inclusion: float | None = None


@dataclass(frozen=True)
class Showing:
    """A check (by its number) in a task, with sides and the order of tokens as in `DrawnBallot`."""

    check: int
    task: int
    flipped: bool
    left_swapped: bool
    right_swapped: bool


@dataclass(frozen=True, eq=False)
class DrawnChecks:
    """The checks of a ballot and where they stand.

    place : of each row of the drawn ballot in its task, from 0, checks counted; showing_place : of each showing.
    A repeat, an overlap and an audit stand in one task each, gold in several.
    """

    checks: tuple[Check, ...]
    showings: tuple[Showing, ...]
    place: Ints
    showing_place: Ints

    @property
    def counts(self) -> dict[str, int]:
        """Showings of each kind that there is."""
        kinds = [self.checks[showing.check].kind for showing in self.showings]
        return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}


def draw_checks(
    drawn: DrawnBallot,
    settings: CheckSettings,
    *,
    gold: Sequence[tuple[int, int]] = (),
    audits: Sequence[tuple[int, int, float]] = (),
    n_voters: int,
    rng: np.random.Generator,
) -> DrawnChecks:
    """Draw the checks of a ballot and their places.

    A check never stands in a task that shows its two items already, but a repeat; where every task does, it is left
    out. Checks are spread over the tasks as evenly as can be, at random.

    Parameters
    ----------
    drawn : the ballot; settings : how many of which.
    gold : items with a known answer, the right one first; audits : items that were cut, their opponents, and the
    probability with which the item was chosen.
    n_voters : expected, for gold per voter.
    """
    board = _Board(drawn, rng)
    overlapping = rng.permutation(len(drawn.first))[: n_overlapping(settings, len(drawn.first))]
    for copy in range(settings.overlap_voters - 1):
        for row in overlapping.tolist():
            items = (int(drawn.first[row]), int(drawn.second[row]))
            board.add(Check(OVERLAP, *items, of=row), _oriented(drawn, row, ORIENTATIONS[copy]))
    for one, other, inclusion in audits:
        board.add(Check(AUDIT, int(one), int(other), inclusion=float(inclusion)), _any_orientation(rng))
    if gold:
        board.add_gold(gold, n_gold_places(settings, drawn.n_tasks, n_voters))
    repeated = _repeated(drawn, settings.repeats, rng)
    for row in repeated:
        items = (int(drawn.first[row]), int(drawn.second[row]))
        task = int(drawn.task[row])
        board.put(Check(REPEAT, *items, of=row), task, _oriented(drawn, row, REPEAT_ORIENTATION))
    return board.laid_out(rng)


def _oriented(drawn: DrawnBallot, row: int, dress: tuple[bool, bool, bool]) -> tuple[bool, bool, bool]:
    """How a comparison looks in another orientation: sides exchanged or not, then tokens of the left and the right
    item."""
    turned, left, right = dress
    flipped = bool(drawn.flipped[row]) != turned
    sides = [bool(drawn.left_swapped[row]), bool(drawn.right_swapped[row])]
    if turned:
        sides.reverse()
    return flipped, sides[0] != left, sides[1] != right


def _any_orientation(rng: np.random.Generator) -> tuple[bool, bool, bool]:
    flipped, left, right = (bool(coin) for coin in rng.integers(0, 2, 3))
    return flipped, left, right


def _repeated(drawn: DrawnBallot, n: int, rng: np.random.Generator) -> list[int]:
    """The rows shown again, `n` a task: from its first half, so that others stand between (tasks of two or more)."""
    if not n:
        return []
    sizes = np.bincount(drawn.task)
    early = np.flatnonzero((drawn.position < -(-sizes[drawn.task] // 2)) & (sizes[drawn.task] > 1))
    shuffled = rng.permutation(early)
    order = shuffled[np.argsort(drawn.task[shuffled], kind="stable")]
    starts = np.searchsorted(drawn.task[order], np.arange(len(sizes)))
    return sorted(order[np.arange(len(order)) - starts[drawn.task[order]] < n].tolist())


class _Board:
    """The tasks with the checks put into them so far."""

    def __init__(self, drawn: DrawnBallot, rng: np.random.Generator) -> None:
        self.drawn, self.rng = drawn, rng
        self.checks: list[Check] = []
        self.showings: list[Showing] = []
        self.shown: list[set[frozenset[int]]] = [set() for _ in range(drawn.n_tasks)]
        for task, *pair in zip(drawn.task.tolist(), drawn.first.tolist(), drawn.second.tolist(), strict=True):
            self.shown[task].add(frozenset(pair))
        self.turn: list[int] = []  # the tasks in a drawn order, each once in a round

    def add(self, check: Check, dress: tuple[bool, bool, bool]) -> None:
        """Put a check into the next task that doesn't show its items."""
        task = self._next_task(frozenset((check.first, check.second)))
        if task is not None:
            self.put(check, task, dress)

    def put(self, check: Check, task: int, dress: tuple[bool, bool, bool]) -> None:
        self.checks.append(check)
        self._show(len(self.checks) - 1, task, dress)

    def add_gold(self, gold: Sequence[tuple[int, int]], n_places: int) -> None:
        """Put gold into tasks, each in turn; a pair is one check however often it is shown."""
        numbers: dict[tuple[int, int], int] = {}
        for place in range(n_places):
            pair = gold[place % len(gold)]
            task = self._next_task(frozenset(pair))
            if task is None:
                continue
            if pair not in numbers:
                numbers[pair] = len(self.checks)
                self.checks.append(Check(GOLD, *pair))
            self._show(numbers[pair], task, _any_orientation(self.rng))

    def _show(self, number: int, task: int, dress: tuple[bool, bool, bool]) -> None:
        check = self.checks[number]
        self.shown[task].add(frozenset((check.first, check.second)))
        self.showings.append(Showing(number, task, *dress))

    def _next_task(self, items: frozenset[int]) -> int | None:
        for _ in range(2):  # what is left of this round, then a whole one
            for at in range(len(self.turn) - 1, -1, -1):
                if items not in self.shown[self.turn[at]]:
                    return self.turn.pop(at)
            self.turn = self.rng.permutation(self.drawn.n_tasks).tolist() + self.turn
        return None

    def laid_out(self, rng: np.random.Generator) -> DrawnChecks:
        """Places in the tasks: the ballot's order stays, checks stand anywhere in it, repeats after their original."""
        place = self.drawn.position.copy()
        showing_place = np.zeros(len(self.showings), dtype=np.int64)
        of_task: dict[int, list[int]] = {}
        for number, showing in enumerate(self.showings):
            of_task.setdefault(showing.task, []).append(number)
        starts = np.searchsorted(self.drawn.task, np.arange(self.drawn.n_tasks + 1)).tolist()
        for task, numbers in of_task.items():
            # Rows of the ballot are 0, 1, …, checks −1, −2, …
            order = list(range(starts[task], starts[task + 1]))
            for number in numbers:
                check = self.checks[self.showings[number].check]
                lowest = 0
                if check.kind == REPEAT:
                    after = order.index(check.of) + 1
                    lowest = min(after + APART, len(order))
                order.insert(int(rng.integers(lowest, len(order) + 1)), -1 - number)
            for at, entry in enumerate(order):
                if entry >= 0:
                    place[entry] = at
                else:
                    showing_place[-1 - entry] = at
        return DrawnChecks(tuple(self.checks), tuple(self.showings), place, showing_place)
