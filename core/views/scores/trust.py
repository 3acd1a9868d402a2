"""How far a ranking can be trusted, and what another ballot is worth, for the pages Scores and Collect.

The worth of another ballot is what it would change. Checks of the votes say in words whether they join all items, who
prefers a side, and how far voters agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ...base.numbers_in_words import many, plural, with_decimals
from ...commands.figures.votes import NAMED, ChecksOfVotes, TrustLines, VoteChecks
from ...protocols.base import N_TOP
from ...scores.reliability import COIN_TOSSES
from ...store import Store
from ...store.ballots.ballot_rows import closed_ballots_of
from ...store.projects.plans import is_last
from ...store.scores.next_ballot_value import stored_next_ballot_value
from ...trust import report
from ...trust.report import TrustCheck
from ...trust.stopping import CHANGES, MOVE_RHO_W, MOVE_TAU_W, NextBallotValue
from ...trust.voter_quality import SIDES
from ..wording import agreement_text

_NAMED = {report.RED: "bad", report.AMBER: "weak"}


@dataclass(frozen=True)
class TrustView:
    """The lines, and the worth of another ballot after ballot `after`; no lines before a ballot is closed.

    is_last : the plan has no ballot after that one.
    """

    lines: tuple[TrustCheck, ...]
    next_ballot: NextBallotValue | None
    after: int
    is_last: bool


def headline(lines: Sequence[TrustCheck]) -> str:
    """How many of the lines that are shown have each level, in a sentence.

    >>> headline([TrustCheck("a", report.RED, ""), TrustCheck("b", report.GREEN, "")]), headline([TrustCheck("b",
    ... report.GREEN, "")])
    ('Of 2 points 1 is bad; the other is good.', 'The only point is good.')
    """
    count = Counter(line.level for line in lines)
    named = " and ".join(
        f"{plural(count[level], '{n} is', '{n} are')} {word}" for level, word in _NAMED.items() if count[level]
    )
    if not named:
        return f"All {len(lines)} points are good." if len(lines) > 1 else "The only point is good."
    if len(lines) == 1:
        return f"The only point is {_NAMED[lines[0].level]}."
    n_good = count[report.GREEN]
    rest = plural(n_good, "; the other is good", "; the others are good") if n_good else ""
    return f"Of {len(lines)} points {named}{rest}."


def load(
    store: Store, project_id: str, area_id: int | None = None, *, lines: tuple[TrustCheck, ...] | None = None
) -> TrustView:
    """The trust view of a ranking, by the lines where these are there already, else measured now."""
    checks = TrustLines(project_id, 0, area_id).measure(store, None)[0] if lines is None else lines
    return TrustView(checks, *load_next_ballot_value(store, project_id, area_id))


def load_next_ballot_value(
    store: Store, project_id: str, area_id: int | None = None
) -> tuple[NextBallotValue | None, int, bool]:
    """The worth of another ballot as the last closed one stored it, that ballot's number (0: none is closed), and
    whether it is the plan's last."""
    with store.read() as conn:
        closed = closed_ballots_of(conn, project_id, area_id)
        if not closed:
            return None, 0, False
        last = closed[-1]
        return stored_next_ballot_value(conn, last.id), last.number, is_last(conn, project_id, area_id, last.number)


def worth_text(next_ballot: NextBallotValue, after: int, *, is_last: bool = False) -> str:
    """What another ballot would change and whether to stop, in a sentence or two; after the plan's last one there is
    nothing to go on with.

    >>> worth_text(NextBallotValue(4, 8, 3, 0.2, 0.3, 1.0, 0.1, False, 0, 10), 1)
    'Another ballot (8 comparisons) is expected to move the ranking by 0.200 in ρ_w and 0.300 in τ_w, and to change \
1.0 of the first 3: go on.'
    >>> worth_text(NextBallotValue(4, 8, 3, 0.2, 0.3, 1.0, 0.1, False, 0, 10), 1, is_last=True)[-49:]
    'not settled yet, but the plan has no ballot left.'
    """
    f = next_ballot
    if f.by_chance:
        return (
            f"The ranking isn't settled after ballot {after}: {COIN_TOSSES}. Look at the Voters page"
            f"{'' if is_last else ' before more is spent'}."
        )
    if f.circles or f.level or f.rho_w is None or f.tau_w is None:
        if f.circles:
            return f"The ranking isn't settled after ballot {after}: votes at the top go round in a circle."
        return f"The ranking isn't settled after ballot {after}: the first items have the same score."
    advice = "you may stop" if f.settled else "go on"
    if is_last:
        advice = "the ranking is settled" if f.settled else "not settled yet, but the plan has no ballot left"
    return (
        f"Another ballot ({many(f.n_comparisons, 'comparison')}) is expected to move the ranking by "
        f"{_moved(f.rho_w)} in ρ_w and {_moved(f.tau_w)} in τ_w, and to change {f.changes:.1f} of the first {f.n_top}: "
        f"{advice}."
    )


def _moved(by: float) -> str:
    """How far a ranking is expected to move; a step that rounding alone would make nothing isn't said to be nothing."""
    return "under 0.001" if 0 < by < 0.0005 else with_decimals(by)


def bounds_text() -> str:
    """By what bounds it is advised to stop."""
    return (
        f"Advice to stop: the ranking would move by at most {MOVE_RHO_W:g} in ρ_w (1 − the correlation of now "
        f"and then) and {MOVE_TAU_W:g} in τ_w, and at most {CHANGES:g} of the first {N_TOP} would change. "
        "Simulated from the votes: true scores as the votes leave them possible, answered by these voters."
    )


MOST_SHOWN = 5_000  # voters that a page ships


@dataclass(frozen=True)
class ChecksView(VoteChecks):
    """The checks of votes, with tables and sentences about them."""

    @property
    def figures(self) -> pd.DataFrame:
        """The answers to checks: check, share, from, to (90% interval), answers, and a note; a row each."""
        rows = [
            ("Known answers found", self.gold, "{n:,} of {of:,} answers"),
            ("The same answer when asked again", self.repeats, "{n:,} of {of:,} repeats"),
            ("Equal answers of two voters", self.overlap, "{n:,} of {of:,} pairs, on {comparisons}"),
        ]
        comparisons = many(self.n_overlapping, "comparison")
        table = [
            (
                *(name, share.estimate, share.lower, share.upper),
                *(behind.format(n=share.count, of=share.total, comparisons=comparisons), share.reason),
            )
            for name, share, behind in rows
        ]
        frame = pd.DataFrame(table, columns=["check", "share", "from", "to", "behind it", "note"])
        return frame if (frame["note"] != "").any() else frame.drop(columns="note")

    @property
    def parts_said(self) -> str:
        """Whether the votes join all items, in a sentence."""
        if not self.part_sizes:
            return "There are no votes to check yet."
        if len(self.part_sizes) == 1:
            return f"Votes join all {many(self.part_sizes[0], 'item')} that have votes."
        named, n_apart = ", ".join(self.apart), sum(self.part_sizes[1:])
        if n_apart > NAMED:
            named = f"{named} and {n_apart - NAMED:,} more"
        return (
            f"No vote joins {named} with the largest part of the items ({len(self.part_sizes)} parts in all). "
            "Scores of different parts don't compare: collect the missing votes before the ballot is closed."
        )

    @property
    def sides_said(self) -> str:
        """Whether voters prefer a side, in a sentence."""
        n, flagged = len(self.sides.voters), self.sides.flagged
        if not n:
            return "No vote tells on which side the chosen item stood."
        if flagged.empty:
            return f"No voter clearly prefers a side ({many(n, 'voter')} looked at)."
        preferences = []
        for voter, answers, left in flagged.head(NAMED)[["voter", "answers", "left"]].to_numpy().tolist():
            side, n_there = ("left", left) if left * 2 > answers else ("right", answers - left)
            preferences.append(f"{voter} chose {SIDES[side]} in {n_there:,} of {many(answers, 'answer')}")
        named = "; ".join(preferences)
        if len(flagged) > NAMED:
            named = f"{named}; and {len(flagged) - NAMED:,} more"
        return plural(
            len(flagged),
            "{n} of {voters} prefers a side: {which}. Their votes still count.",
            "{n} of {voters} prefer a side: {which}. Their votes still count.",
            voters=many(n, "voter"),
            which=named,
        )

    @property
    def agreement_said(self) -> str:
        """How far voters agree, in a sentence."""
        alpha = self.agreement
        if alpha is None:
            return self.no_agreement
        return agreement_text(alpha)


def load_checks(
    store: Store, project_id: str, area_id: int | None = None, *, measured: VoteChecks | None = None
) -> ChecksView:
    """The checks of a ranking's votes: `measured` where they were measured before, else measured now."""
    checks = ChecksOfVotes(project_id, 0, area_id).measure(store, None)[0] if measured is None else measured
    return ChecksView(**vars(checks))
