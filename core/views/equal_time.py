"""The kinds of question compared at equal time of people, for the Plan page."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from ..base.numbers_in_words import many, with_decimals, with_minus
from ..simulation.equal_time import (
    AT_A_GLANCE,
    COMPARISONS,
    GROUPS,
    RATINGS,
    ROUNDS,
    SURE,
    TUPLES,
    BreakEven,
    EqualTime,
    KindAtTimes,
    Times,
    at_times,
    unasked,
)
from .plan import band_text

NAMES = {
    COMPARISONS: "comparisons",
    RATINGS: "ratings",
    TUPLES: "best–worst",
    ROUNDS: "best–worst in rounds",
    GROUPS: "target groups",
}
HELP = {
    "kind": (
        "What people are asked. Best–worst: the most and the least related of four, in rounds among the best. Target "
        "groups: up to six items of a token put into order."
    ),
    "seconds": "For one judgement, by the two times.",
    "judgements": "How many the time of the plan's comparisons pays for.",
    "ρ_w": "Of the scores with the true ranking, where the top counts most: mean, and where 90% of panels lie.",
    "τ_w": "The same for τ_w: the order of the very top.",
    "ρ": "Spearman's ρ with the true ranking: all ranks count alike. The mean.",
    "ρ within targets": "Mean Spearman's ρ among the items of one token.",
    "ahead": (
        "Of comparisons on the same panels, in what is to be right (for both: in the mean of ρ_w and τ_w): the mean "
        "and its standard error."
    ),
}


@dataclass(frozen=True)
class EqualTimeView:
    """headline : what is recommended, with its band; lines : the break-evens, and what else there is to say; table : a
    row a kind."""

    headline: str
    lines: tuple[str, ...]
    table: pd.DataFrame


def usual_times(seconds_per_comparison: float) -> Times:
    """The two times that a comparison's seconds may come from: reading an item takes as long as deciding.

    >>> usual_times(6.0)
    Times(read=2.0, decide=2.0)
    """
    each = min(600.0, max(0.1, round(seconds_per_comparison / 3, 2)))
    return Times(each, each)


def view_of(result: EqualTime, times: Times, goal: str) -> EqualTimeView:
    """The kinds at two times, as people read them; `goal` as in `at_times`."""
    answer = at_times(result, times, goal)
    rows = {row.kind: row for row in answer.rows}
    best, own = rows[answer.kind], rows[COMPARISONS]
    if own.reason:
        headline = f"No kind can be recommended. {own.reason}"
    elif answer.kind == COMPARISONS:
        headline = f"Stay with comparisons: {_figures(own)}; no other kind is ahead for sure."
    else:
        headline = (
            f"{NAMES[best.kind].capitalize()} would give more: {_figures(best)}; comparisons give {_figures(own)}."
        )
    lines = [_level_text(each, times) for each in answer.break_even if each.kind != TUPLES]
    quick = answer.at_a_glance
    if quick is not None and not math.isnan(quick.ahead):
        sure = abs(quick.ahead) > SURE * quick.error
        beside = "level with" if not sure else "ahead of" if quick.ahead > 0 else "behind"
        lines.append(
            f"People who see the best and the worst of four at a glance ({AT_A_GLANCE} decisions, not "
            f"{unasked(ROUNDS).decisions}) need as long as for two comparisons, {quick.seconds:g} s. Best–worst in "
            f"rounds then gives ρ_w = {with_decimals(quick.rho_w.mean)} and τ_w = "
            f"{with_decimals(quick.tau_w.mean)}, {beside} comparisons."
        )
    lines += [f"{NAMES[row.kind].capitalize()}: {row.reason}" for row in answer.rows if row.reason]
    lines.append(
        f"By {many(result.n_panels, 'simulated panel')} with the plan's {result.n_comparisons:,} comparisons of "
        f"{many(result.n_items, 'item')}; the same voters answer every kind. In brackets: where 90% of the panels lie."
    )
    table = pd.DataFrame(
        {
            "kind": NAMES[row.kind],
            "ρ_w": _band(row.rho_w.mean, band_text(row.rho_w)),
            "τ_w": _band(row.tau_w.mean, band_text(row.tau_w)),
            "ρ": _mean(row.rho.mean),
            "ρ within targets": _mean(row.within.mean),
            "seconds": row.seconds,
            "judgements": None if math.isnan(row.n_judgements) else round(row.n_judgements),
            "ahead": _ahead(row),
        }
        for row in answer.rows
    )
    return EqualTimeView(headline, tuple(lines), table)


def _figures(row: KindAtTimes) -> str:
    return f"ρ_w = {band_text(row.rho_w)}, τ_w = {band_text(row.tau_w)}"


def _band(mean: float, text: str) -> str:
    return "–" if math.isnan(mean) else text


def _mean(value: float) -> str:
    return with_decimals(value)


def _ahead(row: KindAtTimes) -> str:
    """How far a kind is ahead of comparisons, with its standard error."""
    if row.kind == COMPARISONS or math.isnan(row.ahead):
        return "–"
    return with_minus(f"{row.ahead:+.3f} ± {row.error:.3f}")


def _level_text(of: BreakEven, times: Times) -> str:
    """Where a kind is level with comparisons, in a sentence."""
    name = NAMES[of.kind].capitalize()
    if math.isnan(of.cost):
        where = "ahead of" if of.always else "behind"
        return f"{name} would be {where} comparisons, however long reading and deciding take."
    level = of.cost * (2 * times.read + times.decide)
    one = "a rating" if of.kind == RATINGS else "a tuple"
    return (
        f"{name} would be level with comparisons if {one} took as long as {of.cost:.1f} comparisons (90% interval "
        f"{of.lower:.1f} to {of.upper:.1f}): {level:.1f} s here. That is so if reading an item takes "
        f"{of.ratio:.1f} times as long as deciding once; the longer reading takes, the better for {NAMES[of.kind]}."
    )
