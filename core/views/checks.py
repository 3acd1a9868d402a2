"""Checks of a ranking's votes: whether they join all items, whether voters prefer a side, how far they agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..agreement import Agreement, agreement, raw_agreement
from ..errors import UndefinedMetricError
from ..estimates import Share, share
from ..quality import SideBias, side_bias
from ..scores.connection import connected_parts
from ..spoken import say, say_many, to_say
from ..store import Store
from ..store.areas import items_of
from ..store.ballots import ballots_of
from ..store.checks import CheckAnswers, check_answers, counted_votes
from ..store.tallies import ballot_votes
from .words import many

NAMED = 3
CHEAP = 50_000  # votes that are checked without being asked to
NO_GOLD = Share(None, reason=to_say("Nobody answered a comparison with a known answer."))
NO_REPEATS = Share(None, reason=to_say("Nobody answered the same comparison twice."))
NO_OVERLAP = Share(None, reason=to_say("No comparison has answers of two voters."))


@dataclass(frozen=True)
class VoteChecks:
    """What the votes of all ballots of a ranking look like.

    `parts` are the parts of the items that votes join, the largest first, each as its items' words; one part is as it
    should be. `agreement` is None where α is not defined, and `no_agreement` says why.
    """

    n_votes: int
    parts: tuple[tuple[str, ...], ...]
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
            (say("Known answers found"), self.gold, to_say("{n:,} of {of:,} answers")),
            (say("The same answer when asked again"), self.repeats, to_say("{n:,} of {of:,} repeats")),
            (say("Equal answers of two voters"), self.overlap, to_say("{n:,} of {of:,} pairs, on {comparisons}")),
        ]
        asked = many(self.n_overlapping, "comparison")
        table = [
            (
                *(name, share.estimate, share.lower, share.upper),
                *(say(behind, n=share.count, of=share.total, comparisons=asked), say(share.reason)),
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
        if not self.parts:
            return say("There are no votes to check yet.")
        if len(self.parts) == 1:
            return say("Votes join all {items} that have votes.", items=many(len(self.parts[0]), "item"))
        apart = [name for part in self.parts[1:] for name in part]
        named = ", ".join(apart[:NAMED])
        if len(apart) > NAMED:
            named = say("{items} and {n:,} more", items=named, n=len(apart) - NAMED)
        return say(
            "No vote joins {items} with the largest part of the items ({n} parts in all). Scores of different parts "
            "don't compare: collect the missing votes before the ballot is closed.",
            items=named,
            n=len(self.parts),
        )

    @property
    def sides_said(self) -> str:
        """Whether voters prefer a side, in a sentence."""
        n, flagged = len(self.sides.voters), self.sides.flagged
        if not n:
            return say("No vote tells on which side the chosen item stood.")
        if flagged.empty:
            return say("No voter clearly prefers a side ({voters} looked at).", voters=many(n, "voter"))
        told = []
        for voter, answers, left in flagged.head(NAMED)[["voter", "answers", "left"]].to_numpy().tolist():
            is_left = left * 2 > answers
            told.append(
                say(
                    "{voter} chose left in {n:,} of {answers}"
                    if is_left
                    else "{voter} chose right in {n:,} of {answers}",
                    voter=voter,
                    n=left if is_left else answers - left,
                    answers=many(answers, "answer"),
                )
            )
        named = "; ".join(told)
        if len(flagged) > NAMED:
            named = say("{voters}; and {n:,} more", voters=named, n=len(flagged) - NAMED)
        return say_many(
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
        return say(
            "Krippendorff's α = {alpha:.2f} ({interval}), over {comparisons} that several voters answered, {answers} "
            "of {voters}.",
            alpha=found.alpha,
            interval=found.interval(),
            comparisons=many(found.n_units, "comparison"),
            answers=many(found.n_answers, "answer"),
            voters=many(found.n_voters, "voter"),
        )


def load(store: Store, project_id: str, area_id: int | None = None) -> VoteChecks:
    """The checks of a ranking; reads all its votes, so about two seconds for half a million."""
    with store.read() as conn:
        ids = [ballot.id for ballot in ballots_of(conn, project_id, area_id)]
        ballots = [ballot_votes(conn, id_) for id_ in ids]
        votes, answers = counted_votes(conn, ids), check_answers(conn, ids)
        items = items_of(conn, project_id)
    words = dict(zip(items["item"], items["token_a"] + " – " + items["token_b"], strict=True))
    first, second = ([getattr(ballot, side) for ballot in ballots] for side in ("first", "second"))
    parts = connected_parts(_joined(first), _joined(second), len(items))
    sided = votes.dropna(subset=["left"])
    shared = answers.overlap[answers.overlap["counted"]]
    shared = shared[shared.duplicated("question_id", keep=False)]
    found, reason = _agreement(shared, votes["question_id"].nunique())
    return VoteChecks(
        n_votes=len(votes),
        parts=tuple(tuple(words[item] for item in part.tolist()) for part in parts),
        sides=side_bias(sided["voter"].to_numpy(), sided["left"].to_numpy() == 1),
        agreement=found,
        no_agreement=reason,
        **_shares(answers, shared),
    )


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


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype=np.int64), *arrays])


def _agreement(shared: pd.DataFrame, n_answered: int) -> tuple[Agreement | None, str]:
    """α over the comparisons that several voters answered; first, second and tie are the same or not (nominal)."""
    if shared.empty:
        return None, say(
            "Krippendorff's α (agreement of voters) is not defined: none of {comparisons} was answered by two voters.",
            comparisons=many(n_answered, "answered comparison"),
        )
    try:
        table = shared.pivot(index="voter_id", columns="question_id", values="value")
        return agreement(table, distance="nominal"), ""
    except UndefinedMetricError as error:
        return None, say("Krippendorff's α (agreement of voters): {why}", why=error)
