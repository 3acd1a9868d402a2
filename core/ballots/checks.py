"""Checks that a plan puts into its ballots: comparisons that show how good the votes are, and never enter scores.

*Gold*: comparisons whose answer is known. *Repeats*: a comparison shown to the same voter again, with sides exchanged.
*Overlap*: some comparisons are put before further voters, since a ballot asks each comparison once and so can't say how
far voters agree; the comparison's own vote counts as ever, the further ones are checks. *Audit*: items that were cut
come back against items near the end of the top (`core/ballots/audit.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypedDict

from ..errors import PlanError
from ..plan import Plan
from ..tabular.json_texts import known_values

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
    ballot 2 on differences that the votes so far leave no doubt about (`core/ballots/check_drawing.py`). repeats :
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
    """The checks of a new plan: those of `CheckSettings`, with fewer audits where they cost over 3 % of its votes.

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
