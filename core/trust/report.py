"""How far a ranking can be trusted: one line a question, green, amber or red, with the reason and the cure.

The bounds stand here with their reasons; docs/runoff.md repeats them for readers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..ballots.audit import CutAudit
from ..base.arrays import Floats, Ints
from ..base.plurals import plural
from ..scores.reliability import Agreement
from .agreement import Agreement as Alpha
from .foresight import Foresight

GREEN, AMBER, RED = "green", "amber", "red"

# The standard error of a share of n votes is at most .5/√n. With 10 votes two of them are .32: such an item can't be
# told from one a third of the field away. With 4 they are .5: from any item of the half it is in.
ENOUGH_VOTES, FEWEST_VOTES = 10, 4
CERTAIN = 0.95
MOSTLY = 0.5  # share of the top that must be certain for amber
GOOD_HALVES, FAIR_HALVES = 0.8, 0.6
# By how much a model's ρ_w is pulled down by the votes alone: .05 is as much as good models differ by.
GOOD_CEILING, FAIR_CEILING = 0.95, 0.8
NAMED = 3
# The plan has no ballot left, and is fixed once ballot 1 is drawn.
BY_CHANCE = "Look at the voters on the Voters page, or collect more votes from others."
AFTER_LAST = "The plan has no ballot left: reopen the last one for more votes, or publish with this said."


@dataclass(frozen=True)
class Line:
    """One check: its name, `level` green, amber or red, the reason, and what to do (empty where nothing is)."""

    name: str
    level: str
    reason: str
    cure: str = ""


def enough_votes(votes: Ints, planned: Ints) -> Line:
    """Whether items have the votes they were to have, and enough at all.

    votes, planned : of each item, shape (n_items,). Red: an item has fewer than 4. Amber: fewer than 10, or
    than planned.
    """
    name, few = "Enough votes", int((votes < FEWEST_VOTES).sum())
    least, short = int(min(votes, default=0)), int((votes < planned).sum())
    if few or not len(votes):
        reason = plural(
            few,
            "{n} item with fewer than {least} votes: nobody can say in which half of the field.",
            "{n} items with fewer than {least} votes: nobody can say in which half of the field.",
            least=FEWEST_VOTES,
        )
        return Line(name, RED, reason, "Collect the missing votes, or plan more appearances an item.")
    if least < ENOUGH_VOTES:
        low = int((votes < ENOUGH_VOTES).sum())
        reason = plural(
            low,
            "{n} item with fewer than {enough} votes (the fewest is {least}): "
            "such an item can't be told from one a third of the field away.",
            "{n} items with fewer than {enough} votes (the fewest is {least}): "
            "such an item can't be told from one a third of the field away.",
            enough=ENOUGH_VOTES,
            least=least,
        )
        return Line(name, AMBER, reason, "Plan more appearances an item in the first ballot.")
    if short:
        reason = plural(
            short,
            "{n} item with fewer votes than planned; the fewest is {least}.",
            "{n} items with fewer votes than planned; the fewest is {least}.",
            least=least,
        )
        return Line(name, AMBER, reason, "Reopen the ballot and collect the missing votes.")
    return Line(name, GREEN, f"Every item has the votes planned for it; the fewest is {least}.")


def won_and_lost(points: Floats, votes: Ints, top: Ints, *, is_last: bool = False) -> Line:
    """Whether every item both won and lost: one that only won, or only lost, has no place of its own.

    points : wins and half the ties; votes : both (n_items,); top : the leading items. Red: two of them never lost.
    """
    name = "Won and lost"
    undefeated, winless = (votes > 0) & (points == votes), (votes > 0) & (points == 0)
    n_top = int(undefeated[top].sum())
    another = "Draw the next ballot, where like meets like, or plan more appearances."
    cure = AFTER_LAST if is_last else another
    if n_top > 1:
        reason = f"{n_top} items of the top never lost a vote, so nothing says which of them is the higher."
        return Line(name, RED, reason, cure)
    told = _at_an_end(int(undefeated.sum()), int(winless.sum()))
    if not undefeated.any():  # the next ballot has none of them
        cure = "More appearances an item would place them; at the lower end it matters little."
    return Line(name, AMBER, told, cure) if told else Line(name, GREEN, "Every item won votes and lost some.")


def _at_an_end(undefeated: int, winless: int) -> str:
    """How many items have no place of their own, in a sentence; empty where each has."""
    if undefeated and winless:
        return (
            f"{_items(undefeated)} never lost and {_items(winless)} never won: each stands at an end, how far "
            "out isn't known."
        )
    if undefeated:
        return plural(
            undefeated,
            "{n} item never lost: it stands at an end, how far out isn't known.",
            "{n} items never lost: each stands at an end, how far out isn't known.",
        )
    if winless:
        return plural(
            winless,
            "{n} item never won: it stands at an end, how far out isn't known.",
            "{n} items never won: each stands at an end, how far out isn't known.",
        )
    return ""


def one_graph(part_sizes: Sequence[int], unvoted: int) -> Line:
    """Whether votes join all items; scores of different parts don't compare. Red where they don't."""
    name = "One scale"
    if len(part_sizes) > 1 or unvoted or not part_sizes:
        apart = sum(part_sizes[1:]) + unvoted
        reason = plural(
            apart,
            "No chain of votes joins {n} item with the rest, so their scores don't compare.",
            "No chain of votes joins {n} items with the rest, so their scores don't compare.",
        )
        return Line(name, RED, reason, "Collect votes on comparisons between the parts.")
    return Line(name, GREEN, f"Votes join all {part_sizes[0]:,} items.")


def no_circles(foresight: Foresight | None) -> Line | None:
    """Whether votes contradict each other at the top; None where nobody looked. Red where they do."""
    if foresight is None:
        return None
    name, cure = (
        "No contradiction",
        "Look at the items: perhaps they are related in different ways, or votes are careless.",
    )
    if foresight.circles:
        reason = plural(
            foresight.circles,
            "{n} item of the top beat each other in a circle, so no order of them is right.",
            "{n} items of the top beat each other in a circle, so no order of them is right.",
        )
        return Line(name, RED, reason, cure)
    if foresight.level:
        level = "The first items have the same score: the votes give no order, or go in a circle."
        return Line(name, RED, level, cure)
    return Line(name, GREEN, "No circle of clear majorities at the top.")


def certain_top(probability: Floats, n_top: int, *, is_last: bool = False, chance: str = "") -> Line:
    """How many of the first `n_top` surely belong there: probability of 95 % or more.

    probability : of each item to be truly among them, (n_items,), by a fit that takes voters to share an opinion;
    chance : that they don't (`scores.signal.by_chance`). Green: all; amber: at least half; else red.
    """
    name = f"The top {n_top}"
    if chance:
        return Line(name, RED, f"{chance} So nothing says which items belong there.", BY_CHANCE)
    certain = int((probability >= CERTAIN).sum())
    possible = int((probability > 1 - CERTAIN).sum())
    reason = plural(
        certain,
        "{n} of the first {top} surely belongs there (95 % or more); {items} may.",
        "{n} of the first {top} surely belong there (95 % or more); {items} may.",
        top=n_top,
        items=_items(possible),
    )
    if certain >= n_top:
        return Line(name, GREEN, reason)
    another = "Draw another ballot, or give the last ballots more appearances."
    cure = AFTER_LAST if is_last else another
    return Line(name, AMBER if certain >= MOSTLY * n_top else RED, reason, cure)


def first_place(names: Sequence[str], *, is_last: bool = False, chance: str = "") -> Line:
    """Whether the first is alone: `names` are the items that can't be told from it, best first; chance : as above."""
    name = "First place"
    if chance:
        return Line(name, RED, f"{chance} So any item may be the first.", BY_CHANCE)
    if len(names) == 1:
        return Line(name, GREEN, f"{names[0]} is ahead of all others at 90 %.")
    values = {"n": len(names), "items": ", ".join(names[:NAMED]), "more": len(names) - NAMED}
    if len(names) > NAMED:
        reason = "Any of {n} items may be the first: {items} and {more:,} more can't be told apart at 90 %.".format(
            **values
        )
    else:
        reason = "Any of {n} items may be the first: {items} can't be told apart at 90 %.".format(**values)
    another = "More votes on the leading items, in another ballot."
    return Line(name, AMBER, reason, AFTER_LAST if is_last else another)


def agreement(alpha: Alpha | None, why_not: str, *, chance: str = "") -> Line:
    """Whether voters agree more than by chance. Green: α's interval is above 0; red: below, or where the votes on the
    same items say that they don't (`chance`); else amber.

    The usual bounds of α (.67, .8) are for labels of single things. Later ballots ask about near neighbours, where
    careful voters differ, so only the sign is judged.
    """
    name = "Agreement"
    if chance:
        return Line(name, RED, chance, BY_CHANCE)
    if alpha is None:
        return Line(name, AMBER, why_not, "Put some comparisons before several voters.")
    cure = "Put some comparisons before several voters; look at the voters who prefer a side."
    values = {"alpha": alpha.alpha, "level": 100 * alpha.level, "lower": alpha.lower, "upper": alpha.upper}
    if np.isnan(alpha.lower):
        reason = (
            "Krippendorff's α = {alpha:.2f}, no interval: it takes two units with several answers; 0 is chance."
        ).format(**values)
    else:
        reason = (
            "Krippendorff's α = {alpha:.2f}, {level:.0f} % interval {lower:.2f} to {upper:.2f}; 0 is chance."
        ).format(**values)
    if alpha.lower > 0:
        return Line(name, GREEN, reason)
    return Line(name, RED if alpha.upper < 0 else AMBER, reason, cure)


def cut_lost(foresight: Foresight | None, audit: CutAudit | str) -> Line | None:
    """How many of the true top were cut by now, expected. Green: under .5; amber: under 1; else red.

    It is judged by the audit where there is one, else by the votes in the ballots; None where neither says anything.
    """
    name, told, lost = "The cut", "", 0.0
    if isinstance(audit, CutAudit):
        lost = audit.lost
        told = (
            "Expected number of the true first {top} that were cut so far: {lost:.2f} by an audit ({level:.0f} "
            "% interval {lower} to {upper}). {items} of {cut:,} cut came back and won {points:g} of {votes:,} "
            "votes against items near place {top}. By the ballots' votes alone it is {modelled:.2f}."
        ).format(
            top=audit.n_top,
            items=_items(audit.n_audited),
            cut=audit.n_cut,
            votes=audit.n_votes,
            **vars(audit) | {"level": 100 * audit.level},
        )
    elif foresight is not None:
        lost = foresight.lost
        told = (
            f"Expected number of the true first {foresight.n_top} that were cut so far: {lost:.2f}, by the "
            f"ballots' votes alone. No audit: {audit}."
        )
    if not told:
        return None
    cure = "Keep more items from ballot to ballot, or plan more appearances in the first."
    if lost < 0.5:
        return Line(name, GREEN, told)
    return Line(name, AMBER if lost < 1 else RED, told, cure)


def halves(found: Agreement | None, why_not: str) -> Line:
    """Whether two halves of the voters rank alike, by ρ_w. Green from .8, amber from .6."""
    name, cure = "Halves of the voters", "More votes from more voters."
    if found is None:
        return Line(name, AMBER, why_not, cure)
    reason = (
        f"Rankings by two random halves of the voters correlate by ρ_w = {found.mean:.2f}, the mean of "
        f"{len(found.values)} splits (each has half of the votes; no Spearman–Brown)."
    )
    return _graded(name, reason, cure, found.mean, GOOD_HALVES, FAIR_HALVES)


def ceiling(found: Agreement | None, why_not: str, *, chance: str = "") -> Line:
    """What a perfect model would score. Green from .95, amber from .8; red by chance, where there is none."""
    name, cure = "Noise ceiling", "More votes: no model can be seen to be better than the votes allow."
    if chance:
        return Line(name, RED, f"{chance} So there is no ranking that a model could meet.", BY_CHANCE)
    if found is None:
        return Line(name, AMBER, why_not, cure)
    reason = (
        f"A model with the true ranking would score ρ_w = {found.mean:.3f} against these votes (simulated from them)."
    )
    return _graded(name, reason, cure, found.mean, GOOD_CEILING, FAIR_CEILING)


def _graded(name: str, reason: str, cure: str, value: float, good: float, fair: float) -> Line:
    if value >= good:
        return Line(name, GREEN, reason)
    return Line(name, AMBER if value >= fair else RED, reason, cure)


def _items(n: int) -> str:
    return plural(n, "{n} item", "{n} items")
