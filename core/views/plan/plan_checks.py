"""What the checks of a plan cost, and how many of an open ballot were answered, in words and tables."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from ...base.percent import percent
from ...base.plurals import many
from ...plan import Plan
from ...store import Store
from ...store.ballots.ballots import Ballot
from ...store.projects.plans import PlanSettings
from ...store.votes.checks import check_progress

NAMES = {
    "overlap": "comparisons before further voters",
    "gold": "known answers",
    "repeat": "repeats",
    "audit": "cut items that come back",
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
    told = (
        f"Checks: up to {many(votes, 'vote')} besides the {plan.n_comparisons:,} that count "
        f"(+{percent(votes / plan.n_comparisons, 1)}), {hours:.1f} hours."
    )
    if not settings.reward:
        return told
    factor = with_.hours / without.hours
    return (
        f"{told} Each task gets longer by so much: a reward of {settings.reward * factor:.2f} in place of "
        f"{settings.reward:.2f} keeps the hourly wage, and costs {without.total * (factor - 1):,.2f} more in all."
    )


def answered_said(store: Store, ballot: Ballot) -> str:
    """How many checks a ballot carries and how many answers came, in a sentence; "" for a ballot without checks."""
    with store.read() as conn:
        table = check_progress(conn, ballot.id)
    if table.empty:
        return ""
    told = [
        f"{NAMES[kind]} {came:,} of {asked:,}" if asked else f"{NAMES[kind]} {came:,}"
        for kind, asked, came in table.itertuples(index=False, name=None)
    ]
    return f"Checks in this ballot, answered of those asked for: {'; '.join(told)}. They enter no score."
