"""Checks of a ranking's votes: whether they join all items, whether voters prefer a side, how far they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import sqlalchemy as sa

from ..agreement import Agreement, agreement, raw_agreement
from ..errors import UndefinedMetricError
from ..estimates import Share, share
from ..plurals import many, plural
from ..quality import SideBias, side_bias
from ..scores.connection import connected_parts
from ..store import Store
from ..store.areas import items_of
from ..store.ballots import ballots_of
from ..store.checks import CheckAnswers, check_answers, counted_votes, voted_pairs
from .words import agreement_said

NAMED = 3
CHEAP = 50_000  # votes that are checked without being asked to: more are by a job (`checks_job`)
MOST_SHOWN = 5_000  # voters that a page ships
NO_GOLD = Share(None, reason="Nobody answered a comparison with a known answer.")
NO_REPEATS = Share(None, reason="Nobody answered the same comparison twice.")
NO_OVERLAP = Share(None, reason="No comparison has answers of two voters.")


@dataclass(frozen=True)
class VoteChecks:
    """What the votes of all ballots of a ranking look like.

    `part_sizes` are the items of each part that votes join, the largest first; one part is as it should be. `apart`
    are the words of the first `NAMED` items of the others. `agreement` is None where α is not defined, and
    `no_agreement` tells why.
    """

    n_votes: int
    part_sizes: tuple[int, ...]
    apart: tuple[str, ...]
    sides: SideBias
    agreement: Agreement | None
    no_agreement: str
    gold: Share = NO_GOLD
    repeats: Share = NO_REPEATS
    overlap: Share = NO_OVERLAP
    n_overlapping: int = 0

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
    def has_checks(self) -> bool:
        """Whether any check was answered."""
        return any(share.total for share in (self.gold, self.repeats, self.overlap))

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
        return agreement_said(found)


def load(store: Store, project_id: str, area_id: int | None = None) -> VoteChecks:
    """The checks of a ranking; reads all its votes, so a second or two for a hundred thousand."""
    with store.read() as conn:
        ids = [ballot.id for ballot in ballots_of(conn, project_id, area_id)]
        pairs = voted_pairs(conn, ids)
        votes, answers = counted_votes(conn, ids), check_answers(conn, ids)
        parts = connected_parts(pairs[:, 0], pairs[:, 1], int(pairs.max(initial=-1)) + 1)
        apart = [item for part in parts[1 : NAMED + 1] for item in part[:NAMED].tolist()][:NAMED]
        words = {}
        if apart:
            items = items_of(conn, project_id)
            words = dict(zip(items["item"], items["token_a"] + " – " + items["token_b"], strict=True))
    sided = votes.dropna(subset=["left"])
    shared = _shared(answers)
    found, reason = _agreement(shared, len(pairs))
    return VoteChecks(
        n_votes=len(votes),
        part_sizes=tuple(map(len, parts)),
        apart=tuple(words[item] for item in apart),
        sides=side_bias(sided["voter"].to_numpy(), sided["left"].to_numpy() == 1),
        agreement=found,
        no_agreement=reason,
        **_shares(answers, shared),
    )


def agreement_of(conn: sa.Connection, ballot_ids: Sequence[int]) -> tuple[Agreement | None, str]:
    """How far voters agree in some ballots, and the reason where α is not defined; reads all their votes."""
    return _agreement(_shared(check_answers(conn, ballot_ids)), len(voted_pairs(conn, ballot_ids)))


def _shared(answers: CheckAnswers) -> pd.DataFrame:
    """The counted answers to comparisons that have several of them."""
    shared = answers.overlap[answers.overlap["counted"]]
    return shared[shared.duplicated("question_id", keep=False)]


def _shares(answers: CheckAnswers, shared: pd.DataFrame) -> dict[str, Any]:
    """The shares of the view that there are; Wilson's intervals take answers of one voter as independent."""
    found: dict[str, Any] = {}
    for name, column in (("gold", answers.gold["right"]), ("repeats", answers.repeats["same"])):
        if len(column):
            found[name] = share(int(column.sum()), len(column))
    if len(shared):
        found["overlap"] = raw_agreement(shared["question_id"], shared["value"])
        found["n_overlapping"] = int(shared["question_id"].nunique())
    return found


def _agreement(shared: pd.DataFrame, n_answered: int) -> tuple[Agreement | None, str]:
    """α over the comparisons that several voters answered; first, second and tie are the same or not (nominal)."""
    if shared.empty:
        none = plural(n_answered, "none of {n} answered comparison", "none of {n} answered comparisons")
        return None, f"Krippendorff's α (agreement of voters) is not defined: {none} was answered by two voters."
    # α doesn't ask who answered: places stand for voters, of whom there may be thousands.
    places = shared.assign(place=shared.groupby("question_id").cumcount())
    try:
        found = agreement(places.pivot(index="place", columns="question_id", values="value"), distance="nominal")
    except UndefinedMetricError as error:
        return None, f"Krippendorff's α (agreement of voters): {error!s}"
    return replace(found, n_voters=shared["voter_id"].nunique()), ""
