"""Checks of a ranking's votes in words: whether they join all items, who prefers a side, how far voters agree."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ...base.numbers_in_words import many, plural
from ...commands.figures.votes import NAMED, ChecksOfVotes, VoteChecks
from ...store import Store
from ..wording import agreement_text

MOST_SHOWN = 5_000  # voters that a page ships


@dataclass(frozen=True)
class ChecksView(VoteChecks):
    """The checks with what is said of them."""

    @property
    def figures(self) -> pd.DataFrame:
        """The answers to checks: check, share, from, to (90 % interval), answers, and a note; a row each."""
        rows = [
            ("Known answers found", self.gold, "{n:,} of {of:,} answers"),
            ("The same answer when asked again", self.repeats, "{n:,} of {of:,} repeats"),
            ("Equal answers of two voters", self.overlap, "{n:,} of {of:,} pairs, on {comparisons}"),
        ]
        asked = many(self.n_overlapping, "comparison")
        table = [
            (
                *(name, share.estimate, share.lower, share.upper),
                *(behind.format(n=share.count, of=share.total, comparisons=asked), share.reason),
            )
            for name, share, behind in rows
        ]
        found = pd.DataFrame(table, columns=["check", "share", "from", "to", "behind it", "note"])
        return found if (found["note"] != "").any() else found.drop(columns="note")

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
        told = []
        for voter, answers, left in flagged.head(NAMED)[["voter", "answers", "left"]].to_numpy().tolist():
            side, n_there = ("left", left) if left * 2 > answers else ("right", answers - left)
            told.append(f"{voter} chose {side} in {n_there:,} of {many(answers, 'answer')}")
        named = "; ".join(told)
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
        found = self.agreement
        if found is None:
            return self.no_agreement
        return agreement_text(found)


def load(store: Store, project_id: str, area_id: int | None = None, *, found: VoteChecks | None = None) -> ChecksView:
    """The checks of a ranking's votes, as they were found before or else measured now."""
    checks = ChecksOfVotes(project_id, 0, area_id).measure(store, None)[0] if found is None else found
    return ChecksView(**vars(checks))
