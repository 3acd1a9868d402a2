"""How far a ranking can be trusted: one line per question, green, amber or red, with the reason and the cure.

The bounds stand here with their reasons; docs/runoff.md repeats them for readers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..ballots.audit import CutAudit
from ..base.numbers_in_words import many, percent, plural, with_decimals
from ..scores.reliability import RepeatedCorrelation
from ..tables import Floats, Ints
from .agreement import KrippendorffAlpha as Alpha
from .camps import Camps
from .leave_one_out import Guessers
from .stopping import NextBallotValue

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
# A quarter of coin tosses takes from ρ_w what as many missing votes take, and more; one voter is no panel.
LARGE_SHARE, MANY_VOTERS = 0.25, 5
# The plan has no ballot left, and is fixed once ballot 1 is drawn.
BY_CHANCE = "Look at the voters on the Voters page, or collect more votes from others."
AFTER_LAST = "The plan has no ballot left: reopen the last one for more votes, or publish with this said."


@dataclass(frozen=True)
class TrustCheck:
    """One check: its name, `level` green, amber or red, the reason, and what to do (empty where nothing is)."""

    name: str
    level: str
    reason: str
    cure: str = ""


def enough_votes(votes: Ints, planned: Ints) -> TrustCheck:
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
        return TrustCheck(name, RED, reason, "Collect the missing votes, or plan more appearances per item.")
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
        return TrustCheck(name, AMBER, reason, "Plan more appearances per item in the first ballot.")
    if short:
        reason = plural(
            short,
            "{n} item with fewer votes than planned; the fewest is {least}.",
            "{n} items with fewer votes than planned; the fewest is {least}.",
            least=least,
        )
        return TrustCheck(name, AMBER, reason, "Reopen the ballot and collect the missing votes.")
    return TrustCheck(name, GREEN, f"Every item has the votes planned for it; the fewest is {least}.")


def won_and_lost(points: Floats, votes: Ints, top: Ints, *, is_last: bool = False) -> TrustCheck:
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
        return TrustCheck(name, RED, reason, cure)
    sentence = _at_an_end(int(undefeated.sum()), int(winless.sum()))
    if not undefeated.any():  # the next ballot has none of them
        cure = "More appearances per item would place them; at the lower end it matters little."
    if not sentence:
        return TrustCheck(name, GREEN, "Every item won votes and lost some.")
    return TrustCheck(name, AMBER, sentence, cure)


def _at_an_end(undefeated: int, winless: int) -> str:
    """How many items have no place of their own, in a sentence; empty where each has."""
    if undefeated and winless:
        return (
            f"{_items(undefeated)} never lost and {_items(winless)} never won: each lies at an end of the scale, how "
            "far out isn't known."
        )
    if undefeated:
        return plural(
            undefeated,
            "{n} item never lost: it lies at an end of the scale, how far out isn't known.",
            "{n} items never lost: each lies at an end of the scale, how far out isn't known.",
        )
    if winless:
        return plural(
            winless,
            "{n} item never won: it lies at an end of the scale, how far out isn't known.",
            "{n} items never won: each lies at an end of the scale, how far out isn't known.",
        )
    return ""


def one_graph(part_sizes: Sequence[int], unvoted: int) -> TrustCheck:
    """Whether votes join all items; scores of different parts don't compare. Red where they don't."""
    name = "One scale"
    if len(part_sizes) > 1 or unvoted or not part_sizes:
        apart = sum(part_sizes[1:]) + unvoted
        reason = plural(
            apart,
            "No chain of votes joins {n} item with the rest, so their scores don't compare.",
            "No chain of votes joins {n} items with the rest, so their scores don't compare.",
        )
        return TrustCheck(name, RED, reason, "Collect votes on comparisons between the parts.")
    return TrustCheck(name, GREEN, f"Votes join all {part_sizes[0]:,} items.")


def no_preference_cycles(next_ballot: NextBallotValue | None) -> TrustCheck | None:
    """Whether votes contradict each other at the top; None where nobody looked. Red where they do."""
    if next_ballot is None:
        return None
    name, cure = (
        "No contradiction",
        "Look at the items: perhaps they are related in different ways, or votes are careless.",
    )
    if next_ballot.circles:
        reason = plural(
            next_ballot.circles,
            "{n} item of the top beat each other in a circle, so no order of them is right.",
            "{n} items of the top beat each other in a circle, so no order of them is right.",
        )
        return TrustCheck(name, RED, reason, cure)
    if next_ballot.level:
        level = "The first items have the same score: the votes give no order, or go in a circle."
        return TrustCheck(name, RED, level, cure)
    return TrustCheck(name, GREEN, "No circle of clear majorities at the top.")


def certain_top(probability: Floats, n_top: int, *, is_last: bool = False, chance: str = "") -> TrustCheck:
    """How many of the first `n_top` surely belong there: probability of 95% or more.

    probability : of each item to be truly among them, (n_items,), by a fit that takes voters to share an opinion;
    chance : that they don't (`scores.reliability.by_chance`). Green: all; amber: at least half; else red.
    """
    name = f"The top {n_top}"
    if chance:
        return TrustCheck(name, RED, f"{chance} So nothing says which items belong there.", BY_CHANCE)
    certain = int((probability >= CERTAIN).sum())
    possible = int((probability > 1 - CERTAIN).sum())
    reason = plural(
        certain,
        "{n} of the first {top} surely belongs there (95% or more); {items} may.",
        "{n} of the first {top} surely belong there (95% or more); {items} may.",
        top=n_top,
        items=_items(possible),
    )
    if certain >= n_top:
        return TrustCheck(name, GREEN, reason)
    another = "Draw another ballot, or give the last ballots more appearances."
    cure = AFTER_LAST if is_last else another
    return TrustCheck(name, AMBER if certain >= MOSTLY * n_top else RED, reason, cure)


def first_place(names: Sequence[str], *, is_last: bool = False, chance: str = "") -> TrustCheck:
    """Whether the first is alone: `names` are the items that can't be told from it, best first; chance : as above."""
    name = "First place"
    if chance:
        return TrustCheck(name, RED, f"{chance} So any item may be first.", BY_CHANCE)
    if len(names) == 1:
        return TrustCheck(name, GREEN, f"{names[0]} is ahead of all others at 90%.")
    values = {"n": len(names), "items": ", ".join(names[:NAMED]), "more": len(names) - NAMED}
    if len(names) > NAMED:
        reason = "Any of {n} items may be first: {items} and {more:,} more can't be told apart at 90%.".format(**values)
    else:
        reason = "Any of {n} items may be first: {items} can't be told apart at 90%.".format(**values)
    another = "More votes on the leading items, in another ballot."
    return TrustCheck(name, AMBER, reason, AFTER_LAST if is_last else another)


def agreement(alpha: Alpha | None, why_not: str, *, chance: str = "") -> TrustCheck:
    """Whether voters agree more than by chance. Green: α's interval is above 0; red: below, or where the votes on the
    same items say that they don't (`chance`); else amber.

    The usual bounds of α (.67, .8) are for labels of single things. Later ballots ask about near neighbours, where
    careful voters differ, so only the sign is judged.
    """
    name = "Agreement"
    if chance:
        return TrustCheck(name, RED, chance, BY_CHANCE)
    if alpha is None:
        return TrustCheck(name, AMBER, why_not, "Put some comparisons before several voters.")
    cure = "Put some comparisons before several voters; look at the voters who prefer a side."
    reason = f"Krippendorff's α = {with_decimals(alpha.alpha, 2)}, {alpha.interval()}; 0 is chance."
    if alpha.lower > 0:
        return TrustCheck(name, GREEN, reason)
    return TrustCheck(name, RED if alpha.upper < 0 else AMBER, reason, cure)


def cut_lost(next_ballot: NextBallotValue | None, audit: CutAudit | str) -> TrustCheck | None:
    """How many of the true top were cut by now, expected. Green: under .5; amber: under 1; else red.

    It is judged by the audit where there is one, else by the votes in the ballots; None where neither says anything.
    """
    name, sentence, lost = "The cut", "", 0.0
    if isinstance(audit, CutAudit):
        lost = audit.lost
        sentence = (
            "Expected number of the true first {top} that were cut so far: {lost:.2f} by an audit ({level} "
            "interval {lower} to {upper}). {items} of {cut:,} cut came back and won {points:g} of {votes:,} "
            "votes against items near place {top}. By the ballots' votes alone it is {modelled:.2f}."
        ).format(
            top=audit.n_top,
            items=_items(audit.n_audited),
            cut=audit.n_cut,
            votes=audit.n_votes,
            **vars(audit) | {"level": percent(audit.level)},
        )
    elif next_ballot is not None:
        lost = next_ballot.lost
        sentence = (
            f"Expected number of the true first {next_ballot.n_top} that were cut so far: {lost:.2f}, by the "
            f"ballots' votes alone. No audit: {audit}."
        )
    if not sentence:
        return None
    cure = "Keep more items from ballot to ballot, or plan more appearances in the first."
    if lost < 0.5:
        return TrustCheck(name, GREEN, sentence)
    return TrustCheck(name, AMBER if lost < 1 else RED, sentence, cure)


def halves(found: RepeatedCorrelation | None, why_not: str) -> TrustCheck:
    """Whether two halves of the voters rank alike, by ρ_w. Green from .8, amber from .6."""
    name, cure = "Halves of the voters", "More votes from more voters."
    if found is None:
        return TrustCheck(name, AMBER, why_not, cure)
    reason = (
        f"Rankings by two random halves of the voters correlate by ρ_w = {with_decimals(found.mean, 2)}, the mean of "
        f"{len(found.values)} splits (each has half of the votes; no Spearman–Brown)."
    )
    return _graded(name, reason, cure, found.mean, GOOD_HALVES, FAIR_HALVES)


def who_voted(names: Sequence[str], guessers: Guessers, sided: Sequence[str] = ()) -> TrustCheck | None:
    """Voters by name whose votes make the scores worth less; None where there are none.

    names : of all voters, as in `guessers`; sided : of those who nearly always took one side. Red where one voter has
    more than half of the votes, or those who guess or took one side have a quarter; else amber.
    """
    votes = guessers.votes
    most = int(np.argmax(votes))
    share, fair = votes[most] / votes.sum(), 1.0 / len(votes)
    guess = [name for name, tosses in zip(names, guessers.tossing, strict=True) if tosses and name not in sided]
    idle = sum(int(n) for name, n in zip(names, votes, strict=True) if name in {*guess, *sided}) / votes.sum()
    reasons = []
    if share > MOSTLY or (len(votes) >= MANY_VOTERS and share > max(LARGE_SHARE, 3.0 * fair)):
        reasons.append(f"{names[most]} gave {percent(share)} of all votes, so the scores are that voter's above all.")
    for found, one, several in (
        (sided, "{n} voter nearly always took the same side: {names}.", "{n} voters nearly always took the same side: "
         "{names}."),
        (guess, "The votes of {n} voter can't be told from coin tosses: {names}.",
         "The votes of {n} voters can't be told from coin tosses: {names}."),
    ):  # fmt: skip
        if found:
            more = f" and {len(found) - NAMED:,} more" if len(found) > NAMED else ""
            reasons.append(plural(len(found), one, several, names=", ".join(found[:NAMED]) + more))
    if not reasons:
        return None
    if idle:
        reasons.append(f"Votes of that kind are {percent(idle)} of all.")
    level = RED if share > MOSTLY or idle >= LARGE_SHARE else AMBER
    return TrustCheck("Who voted", level, " ".join(reasons), "Look at them on the Voters page; leave out who guesses.")


def one_panel(camps: Camps, names: Sequence[str], between: float | None) -> TrustCheck:
    """Whether the voters are of one opinion. Amber where nobody can tell, or where under a quarter of the voters differ
    from the rest; red for two larger camps.

    names : of all voters, in the order of `camps`; between : ρ_w of the rankings by each camp alone, where they give
    one.
    """
    name = "One panel"
    if camps.reason:
        why = f"Whether the voters are of two opinions can't be told: {camps.reason}."
        return TrustCheck(name, AMBER, why, "More votes from more voters.")
    z = with_decimals(camps.z, 1)
    if not camps.are_two:
        return TrustCheck(name, GREEN, f"Voters differ no more than those of one opinion do (z = {z}).")
    larger, smaller = camps.sizes
    of = [name for name, camp in zip(names, camps.camp, strict=True) if camp]
    more = f" and {len(of) - NAMED:,} more" if len(of) > NAMED else ""
    reason = (
        f"The votes are of two opinions (z = {z}): {many(smaller, 'voter')} against {larger:,}, "
        f"{', '.join(of[:NAMED])}{more} against the rest."
    )
    if between is not None:
        reason += f" Rankings by each side alone correlate by ρ_w = {with_decimals(between, 2)}."
    level = RED if smaller >= LARGE_SHARE * (larger + smaller) else AMBER
    cure = "The scores lie between both. Look at the items that divide them: perhaps the question has two meanings."
    return TrustCheck(name, level, reason, cure)


def ceiling(found: RepeatedCorrelation | None, why_not: str, *, chance: str = "", n_guessers: int = 0) -> TrustCheck:
    """What a perfect model would score. Green from .95, amber from .8; red by chance, where there is none.

    n_guessers : voters whose votes are coin tosses in the simulations too."""
    name, cure = "Noise ceiling", "More votes: no model can be seen to be better than the votes allow."
    if chance:
        return TrustCheck(name, RED, f"{chance} So there is no ranking that a model could meet.", BY_CHANCE)
    if found is None:
        return TrustCheck(name, AMBER, why_not, cure)
    reason = (
        f"A model with the true ranking would score ρ_w = {with_decimals(found.mean)} against these votes "
        "(simulated from them)."
    )
    if n_guessers:
        guess = plural(n_guessers, "{n} voter whose votes", "{n} voters whose votes")
        reason += f" The simulations have {guess} are coin tosses."
    return _graded(name, reason, cure, found.mean, GOOD_CEILING, FAIR_CEILING)


def _graded(name: str, reason: str, cure: str, value: float, good: float, fair: float) -> TrustCheck:
    if value >= good:
        return TrustCheck(name, GREEN, reason)
    return TrustCheck(name, AMBER if value >= fair else RED, reason, cure)


def _items(n: int) -> str:
    return plural(n, "{n} item", "{n} items")
