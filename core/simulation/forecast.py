"""Forecasts of accuracy by simulated voters: what a plan's votes would buy, and what a panel could give at most.

A forecast is as good as its guess of the similarities and of the voters; it is there to compare plans and budgets, not
to be believed to the last digit.

At most a panel gives the accuracy of all its opinions on every item, with no vote in between. No plan and no estimator
gets past it; where it is low only other or more voters help.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from .. import metrics
from ..errors import InputError, UndefinedMetricError
from ..metrics import weighted_kendall, weighted_spearman
from ..plan import Plan
from ..protocols import protocol_of
from ..tables import Floats
from ..voters.model import PAPER_PANEL, Panel, checked_similarity, draw_panel, opinions
from . import Campaign, simulate_campaigns
from .campaign import accuracy_of
from .conventions import PLANNING

LEVEL = 0.9  # of the bands
TOP = 10  # the true top items whose loss is forecast
POWER, SIGNIFICANCE = 0.8, 0.05  # of telling two models apart, two-sided
MODEL_PAIRS = 6
MODEL_CORRELATION = 0.7  # of a made-up model's normal scores with the true ones; its ρ_w is then about as large
MOST_ITEMS = 2_000  # simulated; more are stood for by so many of their quantiles
VOTES, FEWEST, MOST = 400_000, 12, 60  # campaigns: as many as have this many votes, within these bounds


@dataclass(frozen=True, eq=False)
class ForecastAssumptions:
    """What is guessed of a campaign before it: z of the items in [−1, 1], shape (n_items,), and who will vote.

    Raises `InputError` for a z outside [−1, 1], fewer than two items, or another notion.
    """

    similarity: Floats
    panel: Panel = PAPER_PANEL
    notion: str = "relatedness"

    def __post_init__(self) -> None:
        z = checked_similarity(self.similarity)
        if len(z) < 2:
            raise InputError(f"A campaign needs at least two items, found {len(z)}.")
        if self.notion not in ("relatedness", "similarity"):
            raise InputError(f'The notion must be "relatedness" or "similarity", found {self.notion!r}.')
        object.__setattr__(self, "similarity", z)

    @property
    def n_items(self) -> int:
        return len(self.similarity)

    def digest(self) -> str:
        """A hash of the similarities: guesses of equal panel, notion and digest give the same forecasts."""
        return hashlib.sha256(np.ascontiguousarray(self.similarity).tobytes()).hexdigest()

    def thinned(self) -> ForecastAssumptions:
        """The guess with `MOST_ITEMS` items at most: quantiles of the similarities in place of more."""
        if self.n_items <= MOST_ITEMS:
            return self
        middles = (np.arange(MOST_ITEMS) + 0.5) / MOST_ITEMS
        return ForecastAssumptions(np.quantile(self.similarity, middles, method="linear"), self.panel, self.notion)


class Band(NamedTuple):
    """A figure over simulated campaigns: its mean, the standard error of that, and where 90% of campaigns lie."""

    mean: float
    error: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Forecast:
    """What a plan would come to.

    rho_w, tau_w, rho, tau : between the scores and the true ranking.
    cut : expected share of the `n_top` true top items that aren't in the last ballot, 0 where no ballot cuts; None
        where the last ballot has no room for any.
    separable : the smallest difference in ρ_w of two models that the dataset tells apart in 80% of campaigns, at 5%
        two-sided; see `separable_difference`.
    n_campaigns : simulated; `n_items` of them were simulated where the project has more.
    """

    protocol: str
    n_comparisons: int
    n_items: int
    n_campaigns: int
    rho_w: Band
    tau_w: Band
    rho: Band
    tau: Band
    n_top: int
    cut: float | None
    separable: float


def forecast(
    guess: ForecastAssumptions,
    plan: Plan,
    protocol: str,
    *,
    seed: int,
    n: int | None = None,
    workers: int | None = 1,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Forecast | None:
    """Simulate `n` campaigns of a plan (default: as many as take about a second); None if it was stopped before two.

    The same seed gives the same forecast, whatever the number of workers, and every protocol the same voters. Where
    the project has more items than `MOST_ITEMS`, so many quantiles of the similarities stand for them, each shown as
    often. Raises `InputError` where guess and plan don't fit, `PlanError` for a plan too small to be thinned.
    """
    if plan.n_items != guess.n_items:
        raise InputError(f"The plan is for {plan.n_items} items, and the guess is of {guess.n_items}.")
    thin = guess.thinned()
    planned = plan if thin is guess else replace(plan, n_items=thin.n_items)
    measure = _Measure(made_up_models(thin, seed))
    run = simulate_campaigns(
        thin.similarity,
        planned,
        protocol=protocol,
        n=n or number_of_campaigns(planned, protocol),
        seed=seed,
        workers=workers,
        panel=thin.panel,
        convention=PLANNING.name,
        notion=thin.notion,
        measure=measure,
        progress=progress,
        stop=stop,
    )
    if len(run.results) < 2:
        return None
    figures = np.array([result.figures for result in run.results])
    n_top = run.results[0].n_top
    cut = float(np.mean([result.cut for result in run.results])) if n_top else None
    errors = np.array([result.errors for result in run.results])
    rho_w, tau_w, rho, tau = (band(column) for column in figures.T)
    return Forecast(
        protocol,
        plan.n_comparisons,
        thin.n_items,
        len(run.results),
        rho_w,
        tau_w,
        rho,
        tau,
        n_top=n_top,
        cut=cut,
        separable=separable_difference(errors),
    )


def number_of_campaigns(plan: Plan, protocol: str = "paper") -> int:
    """How many campaigns a forecast takes unless it is told: fewer where each has more votes, or takes long."""
    votes = VOTES // protocol_of(protocol).about.effort
    return int(np.clip(votes // plan.n_comparisons, FEWEST, MOST))


def band(values: Floats) -> Band:
    """Mean, standard error and the middle 90% of values over campaigns; NaN if one of them is undefined."""
    if np.isnan(values).any():
        return Band(np.nan, np.nan, np.nan, np.nan)
    lower, upper = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Band(float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))), float(lower), float(upper))


def separable_difference(errors: Floats) -> float:
    """The smallest difference of two models' ρ_w that is told apart with 80% power at 5%, two-sided.

    δ = (q(1 − .05/2) + q(.80))·s, with q the normal quantiles and s the root mean square of `errors`: what votes add
    to the difference that two models have against the true ranking of these items. NaN if an error is undefined.
    """
    spread = float(np.sqrt(np.mean(np.square(errors))))
    return float((ndtri(1 - SIGNIFICANCE / 2) + ndtri(POWER)) * spread)


def made_up_models(guess: ForecastAssumptions, seed: int) -> Floats:
    """Scores that pairs of made-up models would give the items, shape (`MODEL_PAIRS`, 2, n_items).

    A model's scores are √(1 − r²) parts noise and r = .7 parts the normal scores of the true ranks.
    """
    truth = np.abs(guess.similarity) if guess.notion == "relatedness" else guess.similarity
    ranks = metrics.average_ranks(truth)
    normal = -ndtri((ranks - 0.375) / (len(ranks) + 0.25))
    noise = np.random.default_rng([seed, 7]).standard_normal((MODEL_PAIRS, 2, len(ranks)))
    return np.asarray(MODEL_CORRELATION * normal + np.sqrt(1 - MODEL_CORRELATION**2) * noise)


class _Measured(NamedTuple):
    """What is kept of one campaign."""

    figures: tuple[float, ...]
    n_top: int
    cut: float
    errors: tuple[float, ...]


class _Measure:
    """Measures a campaign where it was simulated, which may be in another process."""

    def __init__(self, models: Floats) -> None:
        self.models = models

    def __call__(self, campaign: Campaign) -> _Measured:
        last = campaign.held[-1].votes.items
        n_top = min(TOP, len(last), len(campaign.truth) - 1)
        top = np.argsort(-campaign.truth, kind="stable")[:n_top]
        cut = 1.0 - float(np.isin(top, last).mean()) if n_top else 0.0
        errors = [_difference(pair, campaign.scores) - _difference(pair, campaign.truth) for pair in self.models]
        return _Measured(tuple(accuracy_of(campaign)), n_top, cut, tuple(errors))


def _difference(pair: Floats, scores: Floats) -> float:
    """By how much the first model's ρ_w is over the second's; NaN where it is undefined."""
    try:
        one, other = (metrics.weighted_spearman(scores, model) for model in pair)
    except UndefinedMetricError:
        return np.nan
    return one - other


RELIABLE = 0.8  # ρ_w from which a top is called reliable
DRAWS = 5
TIMES = (1, 2, 4, 8)
MOST_OPINIONS = 4_000_000  # held at once


@dataclass(frozen=True)
class PanelCeiling:
    """ρ_w and τ_w between the true ranking and that of the panel's median opinions, means over drawn panels.

    n_voters : of the panel. enough : the fewest voters of those tried (1, 2, 4 and 8 times as many) that reach
    ρ_w = .8; None where none does, or where they are too many to try. NaN where all items are truly equal.
    """

    n_voters: int
    rho_w: float
    tau_w: float
    enough: int | None

    @property
    def is_reliable(self) -> bool:
        """The panel can give a reliable top."""
        return bool(self.rho_w >= RELIABLE)


def panel_ceiling(guess: ForecastAssumptions, *, seed: int) -> PanelCeiling:
    """The ceiling of a guess's panel, and how many of such voters would do. The same seed gives the same figures."""
    thin = guess.thinned()
    first, enough = (float("nan"), float("nan")), None
    for times in TIMES:
        n_voters = times * thin.panel.n_voters
        if times > 1 and n_voters * thin.n_items > MOST_OPINIONS:
            break
        accuracies = _of_voters(thin, n_voters, seed)
        first = accuracies if times == 1 else first
        if accuracies[0] >= RELIABLE:
            enough = n_voters
            break
    return PanelCeiling(thin.panel.n_voters, *first, enough)


def _of_voters(guess: ForecastAssumptions, n_voters: int, seed: int) -> tuple[float, float]:
    truth = np.abs(guess.similarity) if guess.notion == "relatedness" else guess.similarity
    figures = []
    for draw in range(DRAWS):
        rng = np.random.default_rng([seed, 11, draw])
        voters = draw_panel(replace(guess.panel, n_voters=n_voters), rng)
        voters_opinions = opinions(guess.similarity, voters, seed=int(rng.integers(2**31)), notion=guess.notion)
        middle = np.median(voters_opinions, axis=0)
        try:
            figures.append((weighted_spearman(truth, middle), weighted_kendall(truth, middle)))
        except UndefinedMetricError:
            return float("nan"), float("nan")
    rho_w, tau_w = np.mean(figures, axis=0)
    return float(rho_w), float(tau_w)
