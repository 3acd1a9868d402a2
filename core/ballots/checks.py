"""Checks within a ballot: extra comparisons that measure how good the votes are and never enter the scores.

A plan sets how many there are and what they cost. *Gold*: comparisons whose answer is known. *Repeats*: a comparison
shown to the same voter again, with sides exchanged. *Overlap*: some comparisons are put before further voters, since a
ballot asks each comparison once and so can't say how far voters agree; the comparison's own vote counts as ever, the
further ones are checks. *Audit*: items that were cut come back against items near the end of the top
(`core/ballots/audit.py`).

Voters can't tell checks from the comparisons around them. The ballot itself stays as it was drawn, with the same
comparisons in the same tasks and the same sides: checks come on top.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from ..errors import PlanError
from ..plan import Plan
from ..scores.bradley_terry import FittedVotes
from ..tables import Ints
from ..tabular.json_files import known_values
from .draw import DrawnBallot

GOLD, REPEAT, OVERLAP, AUDIT = KINDS = ("gold", "repeat", "overlap", "audit")
MOST_OVERLAP_VOTERS = 5  # a further voter sees the same comparison in another orientation, and there are few of them
AUDIT_SHARE = 0.03  # of a new plan's votes that its audits may cost
_LIMITS = {
    "overlap": (0, 0.5, "The share of comparisons that several voters judge"),
    "overlap_voters": (2, MOST_OVERLAP_VOTERS, "The voters of such a comparison"),
    "gold": (0, 10, "The number of comparisons with a known answer"),
    "repeats": (0, 5, "The repeats per task"),
    "audit_items": (0, 100, "The number of cut items that come back in a ballot"),
    "audit_votes": (1, 40, "The comparisons of a cut item"),
}


@dataclass(frozen=True)
class GoldComparison:
    """A comparison with a known answer: the tokens of the item that is `more` related, and of the other one."""

    more: tuple[str, str]
    less: tuple[str, str]


@dataclass(frozen=True)
class CheckSettings:
    """Which checks the ballots of a plan carry; the defaults are those of a new project.

    overlap : share of a ballot's comparisons that `overlap_voters` voters judge in all, the voter whose vote counts
    among them. gold : comparisons with a known answer a task, or a voter (`gold_per`). They are `gold_pairs`, and from
    ballot 2 on differences that the votes so far leave no doubt about (`core/ballots/checks.py`). repeats :
    comparisons a task shown again later in it, sides exchanged. audit_items : items a ballot that were cut when it was
    drawn and come back, in `audit_votes` comparisons each.
    """

    overlap: float = 0.05
    overlap_voters: int = 3
    gold: int = 0
    gold_per: str = "task"
    gold_pairs: tuple[GoldComparison, ...] = ()
    repeats: int = 0
    audit_items: int = 6
    audit_votes: int = 6

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None) -> CheckSettings | None:
        """Settings as JSON keeps them, None for none; what an older version didn't know has its default."""
        if stored is None:
            return None
        values = known_values(cls, stored)
        pairs = tuple(GoldComparison(tuple(pair["more"]), tuple(pair["less"])) for pair in values.pop("gold_pairs", ()))
        return cls(**values, gold_pairs=pairs)

    def stored(self) -> dict[str, Any]:
        """For JSON."""
        pairs = [{"more": list(pair.more), "less": list(pair.less)} for pair in self.gold_pairs]
        return asdict(self) | {"gold_pairs": pairs}


def check_checks(settings: CheckSettings) -> CheckSettings:
    """The settings unchanged; `PlanError` naming the first one that makes no sense."""
    for name, (lowest, highest, label) in _LIMITS.items():
        value = getattr(settings, name)
        whole = name == "overlap" or isinstance(value, int)
        if not (isinstance(value, int | float) and whole and math.isfinite(value) and lowest <= value <= highest):
            raise PlanError(f"{label} is {value}; it must lie between {lowest} and {highest}.")
    if settings.gold_per not in ("task", "voter"):
        raise PlanError(f"Comparisons with a known answer come per task or per voter, found {settings.gold_per!r}.")
    for pair in settings.gold_pairs:
        tokens = (*pair.more, *pair.less)
        if len(tokens) != 4 or not all(isinstance(token, str) and token.strip() for token in tokens):
            raise PlanError(
                "A comparison with a known answer needs four tokens: two of the right item, two of the other."
            )
        if frozenset(pair.more) == frozenset(pair.less):
            raise PlanError(f"{' – '.join(pair.more)} stands against itself among the comparisons with a known answer.")
    return settings


def read_gold_pairs(text: str) -> tuple[GoldComparison, ...]:
    """Comparisons with a known answer from lines such as "cat, dog > saw, mouse", the more related item first.

    Empty lines are passed over. Raises `PlanError` naming the first line that is no such comparison.

    >>> read_gold_pairs("cat, dog > saw, mouse")
    (GoldComparison(more=('cat', 'dog'), less=('saw', 'mouse')),)
    """
    pairs = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        items = [[token.strip() for token in side.split(",")] for side in line.split(">")]
        if len(items) != 2 or any(len(item) != 2 or not all(item) for item in items):
            raise PlanError(
                f"Line {number} of the comparisons with a known answer is “{line.strip()[:80]}”. "
                "Write the more related pair first: cat, dog > saw, mouse."
            )
        (a, b), (c, d) = items
        pairs.append(GoldComparison((a, b), (c, d)))
    return tuple(pairs)


def gold_text(pairs: Sequence[GoldComparison]) -> str:
    """The lines that `read_gold_pairs` reads."""
    return "\n".join(f"{', '.join(pair.more)} > {', '.join(pair.less)}" for pair in pairs)


@dataclass(frozen=True)
class CheckCount:
    """How many check votes a ballot asks for, by kind."""

    ballot: int
    gold: int
    repeat: int
    overlap: int
    audit: int

    @property
    def total(self) -> int:
        return self.gold + self.repeat + self.overlap + self.audit


def count_checks(plan: Plan, checks: CheckSettings | None, *, task_size: int, n_voters: int) -> tuple[CheckCount, ...]:
    """The check votes of each ballot, at most: where clear differences or tasks are few there are fewer.

    Gold comes in ballot 1 only where it is given by hand, audits from ballot 2 on, since before nothing is cut.

    >>> count_checks(Plan(990, 2, 0.5, 20), CheckSettings(), task_size=10, n_voters=50)[1].total
    532
    """
    if checks is None:
        return ()
    counts = []
    for number, (size, comparisons) in enumerate(zip(plan.sizes, plan.comparisons, strict=True), start=1):
        n_tasks = -(-comparisons // task_size)
        has_gold = number > 1 or bool(checks.gold_pairs)
        cut = plan.sizes[number - 2] - size if number > 1 else 0
        counts.append(
            CheckCount(
                number,
                gold=n_gold_places(checks, n_tasks, n_voters) if has_gold else 0,
                repeat=checks.repeats * n_tasks,
                overlap=n_overlapping(checks, comparisons) * (checks.overlap_voters - 1),
                audit=min(checks.audit_items, cut) * min(checks.audit_votes, size),
            )
        )
    return tuple(counts)


def proposed_checks(plan: Plan) -> CheckSettings:
    """The checks of a new plan: those of `CheckSettings`, with fewer audits where they cost over 3% of its votes.

    >>> proposed_checks(Plan(990, 7, 0.5, 20)).audit_items, proposed_checks(Plan(21, 4, 0.5, 20)).audit_items
    (6, 1)
    """
    settings = CheckSettings()
    a_ballot = AUDIT_SHARE * plan.n_comparisons / max(1, plan.n_ballots - 1)
    items = max(1, min(settings.audit_items, int(a_ballot / settings.audit_votes)))
    return replace(settings, audit_items=items)


def n_overlapping(checks: CheckSettings, n_comparisons: int) -> int:
    """How many comparisons of a ballot further voters judge: the share, at least one unless it is 0."""
    return max(1, round(checks.overlap * n_comparisons)) if checks.overlap else 0


def n_gold_places(checks: CheckSettings, n_tasks: int, n_voters: int) -> int:
    """How often a ballot's tasks show a comparison with a known answer.

    Per voter: as if each of the plan's voters did their share of the tasks, at most as many as per task.
    """
    return checks.gold * (n_tasks if checks.gold_per == "task" else min(n_tasks, n_voters))


class TaskChecks(TypedDict, total=False):
    """Checks in a task of the voting page, named as in `VotingSettings`."""

    n_gold: int
    n_repeats: int


def on_voting_page(checks: CheckSettings | None, tasks_per_voter: int) -> TaskChecks:
    """Gold and repeats a task on Runoff's own page, as the plan's checks have them; nothing without checks."""
    if checks is None:
        return {}
    gold = checks.gold if checks.gold_per == "task" else -(-checks.gold // tasks_per_voter)
    return {"n_gold": gold, "n_repeats": checks.repeats}


CLEAR = 0.98  # an ordinary voter who reads names the right item at least so often …
DOUBT = 2.33  # … and that at the 99% lower bound of the difference of the two scores


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
