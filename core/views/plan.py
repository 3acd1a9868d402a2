"""What the plan page shows, in words and tables: forecasts, costs, what a pilot found, a fitted panel, and checks.

Forecasts are by each protocol and over budgets. Of a plan's wording it is told what it would do to the votes; of checks
what they cost, and of those of an open ballot how many were answered. A pilot tells seconds, ties and unknown tokens,
with intervals and the counts behind them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ..base.estimates import Share
from ..base.numbers_in_words import many, percent, plural, with_decimals
from ..plan import Plan
from ..plan.campaign_plan import Cost
from ..protocols import PROTOCOLS, protocol_of
from ..questions.comparison_page import Example
from ..simulation.forecast import RELIABLE, Band, Forecast, ForecastAssumptions
from ..simulation.pilot import Pilot, summarise_pilot
from ..simulation.similarities import at_other_budgets
from ..store import Store
from ..store import schema as t
from ..store.ballots.ballot_rows import Ballot, pilot_of
from ..store.ballots.pilots import pilot_answers
from ..store.projects.plans import PlanSettings
from ..store.scores.forecasts import StoredFit, known_forecasts
from ..store.tokens.areas import items_of
from ..store.votes.checks import check_progress
from ..voters.panel_fit import FittedRange
from .wording import estimated


def given_away(store: Store, project_id: str, examples: Sequence[Example]) -> list[tuple[str, str]]:
    """The pairs of these examples that are items of the project, so that an example would give away their answer."""
    pairs = list(dict.fromkeys(pair for example in examples for pair in (example.left, example.right)))
    a, b = t.token.alias("a"), t.token.alias("b")
    query = (
        sa.select(t.item.c.id)
        .join(a, a.c.id == t.item.c.token_a_id)
        .join(b, b.c.id == t.item.c.token_b_id)
        .where(t.item.c.project_id == project_id)
        .limit(1)
    )
    with store.read() as conn:
        return [
            (one, two)
            for one, two in pairs
            if conn.execute(
                query.where(
                    sa.or_(
                        sa.and_(a.c.text == one, b.c.text == two),
                        sa.and_(a.c.text == two, b.c.text == one),
                    )
                )
            ).first()
        ]


def plan_said(plan: Plan, cost: Cost, forecast: Forecast | None) -> str:
    """What a plan costs and what it gives, in one sentence (Markdown); `forecast` is None where none is known."""
    effort = f"{plan.n_comparisons:,} votes in {many(plan.n_ballots, 'ballot')}, {cost.hours:,.1f} h"
    if cost.total:
        effort += f", at a cost of {cost.total:,.2f}"
    if forecast is None or math.isnan(forecast.rho_w.mean):
        return f"**{effort}: {plan.n_items:,} items down to the top {plan.sizes[-1]:,}.**"
    tells_apart = "" if math.isnan(forecast.separable) else f"tells models {forecast.separable:.2f} apart and "
    return f"**{effort}: {tells_apart}comes to ρ_w = {with_decimals(forecast.rho_w.mean, 2)} by simulation.**"


def is_reliable(forecast: Forecast | None) -> bool:
    """Whether a plan's own forecast calls its top reliable; rules of thumb then warn of nothing."""
    return forecast is not None and forecast.rho_w.mean >= RELIABLE


# What stands in the table of a fit.
ROWS = {"nonconformity": "σ*, differences of opinion", "oversight": "ε, share of slips"}


def fit_table(stored: StoredFit) -> pd.DataFrame:
    """A row each for σ* and ε: the mean over the voters and the width of their range, with 90% intervals."""
    rows = []
    for name, label in ROWS.items():
        fitted: FittedRange | None = getattr(stored.fit, name, None)
        if fitted is not None:
            rows.append({"": label, "mean": estimated(fitted.mean), "width of the range": estimated(fitted.width)})
    return pd.DataFrame(rows, columns=["", "mean", "width of the range"])


def rests_on(stored: StoredFit) -> str:
    """What a fit rests on: voters, votes, ties, what it is conditional on, and why anything is missing."""
    fit = stored.fit
    if fit is None:
        return stored.reason
    votes, voters = many(fit.n_votes, "vote"), many(fit.n_voters, "voter")
    parts = [f"From {votes} of {voters}; ties are left out."]
    if fit.ties.count:
        parts[0] = f"From {votes} of {voters}; ties are left out ({fit.ties.count:,} of {fit.ties.total:,})."
    if fit.n_unplaced:
        parts.append(f"{many(fit.n_unplaced, 'vote')} on items without a similarity left out.")
    parts.append(fit.basis if fit.basis.endswith(".") else f"{fit.basis}.")
    missing = (fit.nonconformity.mean, fit.nonconformity.width, fit.oversight.mean, fit.oversight.width)
    parts += dict.fromkeys(each.reason for each in missing if each.reason)
    if fit.guessers:
        parts.append(
            plural(
                len(fit.guessers),
                "{n} voter answered like tossed coins, which widens the range of ε.",
                "{n} voters answered like tossed coins, which widens the range of ε.",
            )
        )
    if stored.simulated:
        parts.append("Some of these votes were given by simulated voters.")
    return " ".join(parts)


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


def cost_text(plan: Plan, settings: PlanSettings) -> str:
    """What the checks cost in votes, hours and money, in sentences.

    Tasks and their reward stay as they are, so that checks cost the voters time: the money told is what would pay for
    that at the same hourly wage.
    """
    votes = sum(count.total for count in settings.check_counts(plan))
    with_, without = settings.cost(plan), replace(settings, checks=None).cost(plan)
    hours = with_.hours - without.hours
    added = (
        f"Checks: up to {many(votes, 'vote')} besides the {plan.n_comparisons:,} that count "
        f"(+{percent(votes / plan.n_comparisons, 1)}), {hours:.1f} hours."
    )
    if not settings.reward:
        return added
    factor = with_.hours / without.hours
    return (
        f"{added} Each task gets longer by so much: a reward of {settings.reward * factor:.2f} in place of "
        f"{settings.reward:.2f} keeps the hourly wage, and costs {without.total * (factor - 1):,.2f} more in all."
    )


def answered_text(store: Store, ballot: Ballot) -> str:
    """How many checks a ballot carries and how many answers came, in a sentence; "" for a ballot without checks."""
    with store.read() as conn:
        table = check_progress(conn, ballot.id)
    if table.empty:
        return ""
    counts = [
        f"{NAMES[kind]} {came:,} of {n_asked:,}" if n_asked else f"{NAMES[kind]} {came:,}"
        for kind, n_asked, came in table.itertuples(index=False, name=None)
    ]
    return f"Checks in this ballot, answered of those asked for: {'; '.join(counts)}. They enter no score."


CURVES = {"rho_w": "ρ_w", "tau_w": "τ_w"}


@dataclass(frozen=True)
class Outlook:
    """The forecasts of a plan that are known, by protocol."""

    forecasts: dict[str, Forecast]

    @property
    def is_complete(self) -> bool:
        return set(self.forecasts) == set(PROTOCOLS)

    def table(self) -> pd.DataFrame:
        """A row a protocol, figures as people read them."""
        rows = []
        for protocol, forecast in self.forecasts.items():
            rows.append(
                {
                    "protocol": protocol_of(protocol).about.label,
                    "votes": forecast.n_comparisons,
                    "ρ_w": band_text(forecast.rho_w),
                    "τ_w": band_text(forecast.tau_w),
                    "top items cut": "–" if forecast.cut is None else f"{percent(forecast.cut)} of {forecast.n_top}",
                    "tells apart": "–" if pd.isna(forecast.separable) else f"{forecast.separable:.2f}",
                    "campaigns": forecast.n_campaigns,
                }
            )
        return pd.DataFrame(rows)


def compared() -> tuple[str, ...]:
    """The protocols that are held against each other, the one that is advised first."""
    return tuple(reversed(PROTOCOLS))


def load_outlook(store: Store, guess: ForecastAssumptions, plan: Plan) -> Outlook:
    """The forecasts of a plan that are known."""
    forecasts = known_forecasts(store, guess, [(plan, protocol) for protocol in compared()])
    return Outlook(
        {protocol: forecast for protocol, forecast in zip(compared(), forecasts, strict=True) if forecast is not None}
    )


def load_curve(store: Store, guess: ForecastAssumptions, plan: Plan) -> pd.DataFrame:
    """The known forecasts at other budgets: a row a protocol, budget and figure, with mean and band."""
    rows = []
    plans = [(other, protocol) for other in at_other_budgets(plan) for protocol in compared()]
    for (_, protocol), forecast in zip(plans, known_forecasts(store, guess, plans), strict=True):
        if forecast is None:
            continue
        for key, label in CURVES.items():
            band: Band = getattr(forecast, key)
            rows.append(
                {
                    "protocol": protocol_of(protocol).about.label,
                    "figure": label,
                    "votes": forecast.n_comparisons,
                    "mean": band.mean,
                    "lower": band.lower,
                    "upper": band.upper,
                }
            )
    return pd.DataFrame(rows, columns=["protocol", "figure", "votes", "mean", "lower", "upper"])


def n_wanted(plan: Plan) -> int:
    """The forecasts that a full curve has."""
    return len(at_other_budgets(plan)) * len(PROTOCOLS)


def band_text(band: Band) -> str:
    """A figure with its band: mean (lower to upper)."""
    if pd.isna(band.mean):
        return "undefined"
    return f"{with_decimals(band.mean)} ({with_decimals(band.lower)} to {with_decimals(band.upper)})"


def appearances_text(appearances: Sequence[int]) -> str:
    """M as the plan's box takes it: one number, or one per ballot.

    >>> appearances_text((20, 20)), appearances_text((20, 30))
    ('20', '20, 30')
    """
    return str(appearances[0]) if len(set(appearances)) == 1 else ", ".join(map(str, appearances))


TOKENS = ["area", "token", "answers", "unknown", "share"]


@dataclass(frozen=True, eq=False)
class PilotView:
    """The figures of a closed pilot.

    figures : None where no pilot is closed. n_simulated : answers of simulated voters.
    tokens : which tokens stood in comparisons that somebody didn't know a word of, the largest share first; columns
        area, token, answers (to comparisons with the token), unknown (of these), share (0 to 1).
    """

    figures: Pilot | None = None
    n_simulated: int = 0
    tokens: pd.DataFrame | None = None

    @property
    def seconds(self) -> float | None:
        """The mean seconds of a comparison to 0.1, as a plan takes it; None where no time is known, or it is 0.0."""
        mean = None if self.figures is None else self.figures.seconds_mean.estimate
        return None if mean is None else round(mean, 1) or None

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to look at before these figures go into a plan."""
        if self.figures is None:
            return ()
        simulated = (f"{many(self.n_simulated, 'answer')} came from simulated voters.",) if self.n_simulated else ()
        untimed = self.figures.n_answers - self.figures.n_timed
        no_time: tuple[str, ...] = ()
        if untimed > 0 and self.figures.n_timed:
            no_time = (f"{many(untimed, 'answer')} came without a time.",)
        return (*simulated, *no_time, *self.figures.remarks)


def load(store: Store, project_id: str, area_id: int | None = None) -> PilotView:
    """The figures of a ranking's pilot, once it is closed."""
    with store.read() as conn:
        pilot = pilot_of(conn, project_id, area_id)
        if pilot is None or pilot.is_open:
            return PilotView()
        answers = pilot_answers(conn, pilot.id)
        items = items_of(conn, project_id).set_index("item")
    if answers.empty:
        return PilotView()
    summary = summarise_pilot(
        (
            answers["first"].to_numpy(),
            answers["second"].to_numpy(),
            answers["outcome"].to_numpy(),
            answers["voter"].to_numpy(),
        ),
        seconds=answers["seconds"].to_numpy(),
        rng=np.random.default_rng([pilot.seed, 6]),
    )
    return PilotView(summary, int(answers["simulated"].sum()), unknown_tokens(answers, items))


def unknown_tokens(answers: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """The tokens of comparisons that somebody didn't know a word of (columns TOKENS), the largest share first.

    `answers` as `pilot_answers` has them; `items` has area, token_a and token_b by position. Voters don't say which
    word they don't know, so each of a comparison's words has the answer; a token counts once in a comparison.
    """
    parts = []
    for side in ("first", "second"):
        of_side = items.loc[answers[side]]
        for token in ("token_a", "token_b"):
            parts.append(
                pd.DataFrame(
                    {
                        "answer": range(len(answers)),
                        "area": of_side["area"].to_numpy(),
                        "token": of_side[token].to_numpy(),
                        "unknown": answers["outcome"].isna().to_numpy(),
                    }
                )
            )
    answered = pd.concat(parts).drop_duplicates(["answer", "area", "token"])
    counts = answered.groupby(["area", "token"], sort=True)["unknown"].agg(answers="size", unknown="sum").reset_index()
    counts["share"] = counts["unknown"] / counts["answers"]
    counts = counts[counts["unknown"] > 0].sort_values(["share", "unknown"], ascending=False, kind="stable")
    return counts[TOKENS].reset_index(drop=True)


def share_text(share: Share) -> str:
    """A share with its interval and the counts behind it, or a dash.

    >>> from core.base.estimates import share
    >>> share_text(share(2, 50)), share_text(share(0, 0))
    ('4% (1% to 11%), 2 of 50', '–')
    """
    if share.estimate is None or share.lower is None or share.upper is None:
        return "–"
    lower, upper = percent(share.lower), percent(share.upper)
    return f"{percent(share.estimate)} ({lower} to {upper}), {share.count:,} of {share.total:,}"
