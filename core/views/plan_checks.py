"""What the checks of a plan cost, and how many of an open ballot were answered, in words and tables."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from ..plan import Plan
from ..spoken import say, to_say
from ..store import Store
from ..store.ballots import Ballot
from ..store.checks import check_progress
from ..store.plans import PlanSettings
from .words import many

NAMES = {
    "overlap": to_say("comparisons before further voters"),
    "gold": to_say("known answers"),
    "repeat": to_say("repeats"),
    "audit": to_say("cut items that come back"),
}


def counts_table(plan: Plan, settings: PlanSettings) -> pd.DataFrame:
    """The check votes of each ballot by kind, beside the votes that count."""
    rows = [
        (count.ballot, comparisons, count.overlap, count.gold, count.repeat, count.audit)
        for count, comparisons in zip(settings.check_counts(plan), plan.comparisons, strict=True)
    ]
    return pd.DataFrame(rows, columns=["ballot", "votes that count", *NAMES.values()])


def cost_said(plan: Plan, settings: PlanSettings) -> str:
    """What the checks cost in votes, hours and money, in sentences.

    Tasks and their reward stay as they are, so that checks cost the voters time: the money told is what would pay for
    that at the same hourly wage.
    """
    votes = sum(count.total for count in settings.check_counts(plan))
    with_, without = settings.cost(plan), replace(settings, checks=None).cost(plan)
    hours = with_.hours - without.hours
    told = say(
        "Checks: up to {votes} besides the {n:,} that count (+{share:.1%}), {hours:.1f} hours.",
        votes=many(votes, "vote"),
        n=plan.n_comparisons,
        share=votes / plan.n_comparisons,
        hours=hours,
    )
    if not settings.reward:
        return told
    factor = with_.hours / without.hours
    return say(
        "{checks} Each task gets longer by so much: a reward of {needed:.2f} in place of {reward:.2f} keeps the hourly "
        "wage, and costs {more:,.2f} more in all.",
        checks=told,
        needed=settings.reward * factor,
        reward=settings.reward,
        more=without.total * (factor - 1),
    )


def answered_said(store: Store, ballot: Ballot) -> str:
    """How many checks a ballot carries and how many answers came, in a sentence; "" for a ballot without checks."""
    with store.read() as conn:
        table = check_progress(conn, ballot.id)
    if table.empty:
        return ""
    told = [
        say("{checks} {n:,} of {of:,}", checks=say(NAMES[kind]), n=came, of=asked)
        if asked
        else say("{checks} {n:,}", checks=say(NAMES[kind]), n=came)
        for kind, asked, came in table.itertuples(index=False, name=None)
    ]
    return say(
        "Checks in this ballot, answered of those asked for: {checks}. They enter no score.", checks="; ".join(told)
    )
