"""Kinds of question for the same time of the same people: comparisons, ratings, best–worst tuples in rounds.

What people take for a judgement is read · items shown + decide · decisions: a comparison shows two items and takes one
decision, a rating one and one. A tuple shows four; whoever names the best and the worst at a glance decides twice, and
whoever holds the items against each other five times (three for the best of four, two for the worst of what is left).
We know of no source that times them on the same items, so a kind is recommended by the five.

How accurate a kind is hangs on the two times only through how many comparisons one of its judgements costs. So each
kind is simulated at some such costs, on the same panels as the plan's comparisons, and any two times are read off
between them, with the times at which two kinds are level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError
from ..plan import Plan
from ..tables import Floats
from .campaign import accuracy_of, simulate_campaign
from .forecast import Band, ForecastAssumptions, band
from .schemes import SchemeSetting, Times, simulate_scheme
from .search import check_goal, judged

COMPARISONS, RATINGS, TUPLES = "comparisons", "ratings", "best-worst rounds"
COSTS = {RATINGS: (0.5, 0.6, 0.7, 0.8, 0.9, 1.0), TUPLES: (2.0, 2.5, 3.0, 3.5, 4.0, 5.0)}  # in comparisons
ITEMS = {COMPARISONS: 2, RATINGS: 1, TUPLES: 4}  # that one judgement shows
DECISIONS = {COMPARISONS: 1, RATINGS: 1, TUPLES: 5}
AT_A_GLANCE = 2  # decisions of a tuple, at least: it costs two comparisons then, whatever the two times are
PANELS = 20
DRAWS, TAILS = 400, (0.05, 0.95)  # of the panels, for intervals
SURE = 2.0  # standard errors by which another kind must be ahead of comparisons to be recommended
UNDEFINED = Band(np.nan, np.nan, np.nan, np.nan)


@dataclass(frozen=True)
class KindAtCosts:
    """A kind on each panel: costs : of a judgement in comparisons, ascending; n_judgements : at each; rho_w, tau_w : a
    tuple of the panels' figures at each. Without costs, `reason` says why."""

    kind: str
    costs: tuple[float, ...] = ()
    n_judgements: tuple[int, ...] = ()
    rho_w: tuple[tuple[float, ...], ...] = ()
    tau_w: tuple[tuple[float, ...], ...] = ()
    reason: str = ""

    def at(self, figure: str, cost: float) -> Floats:
        """A figure of each panel at a cost, straight between the simulated ones; (panels,), NaN outside of them."""
        rows = np.array(getattr(self, figure), dtype=np.float64).T
        return np.array([np.interp(cost, self.costs, row, np.nan, np.nan) for row in rows])

    def judged_at(self, goal: str, cost: float) -> Floats:
        """What each panel is judged by at a cost: ρ_w, τ_w or their mean; as `at`."""
        return judged(self.at("rho_w", cost), self.at("tau_w", cost), goal)


@dataclass(frozen=True)
class EqualTime:
    """All kinds on the same panels for the time of `n_comparisons` comparisons of `n_items` items, the plan's or fewer
    that stand for them. kinds : comparisons first."""

    n_items: int
    n_comparisons: int
    n_panels: int
    kinds: tuple[KindAtCosts, ...]


@dataclass(frozen=True)
class KindAtTimes:
    """A kind at two times: seconds : of a judgement; ahead, error : what it is judged by less that of comparisons, the
    mean over panels and its standard error, 0 for comparisons. NaN where there are no figures, which `reason` says."""

    kind: str
    seconds: float
    n_judgements: float
    rho_w: Band
    tau_w: Band
    ahead: float
    error: float
    reason: str


@dataclass(frozen=True)
class BreakEven:
    """Where a kind is level with comparisons in what they are judged by.

    cost : of a judgement, in comparisons, with its 90 % interval over panels; ratio : of the time to read an item to
    that to decide, above which the kind is ahead. NaN where the kind is ahead at every cost that two times can give
    (`always` True), or at none (False).
    """

    kind: str
    cost: float
    lower: float
    upper: float
    ratio: float
    always: bool


@dataclass(frozen=True)
class Recommended:
    """The kinds at two times, the one that is recommended, and where others would be level with comparisons.

    at_a_glance : best–worst where a tuple takes two decisions, and so two comparisons; None where it has no figure.
    """

    kind: str
    rows: tuple[KindAtTimes, ...]
    break_even: tuple[BreakEven, ...]
    at_a_glance: KindAtTimes | None


def seconds_of(kind: str, times: Times, decisions: int | None = None) -> float:
    """Seconds of one judgement; `decisions` in place of those of the kind.

    >>> [seconds_of(kind, Times(3, 2)) for kind in ITEMS]
    [8, 5, 22]
    """
    return ITEMS[kind] * times.read + (DECISIONS[kind] if decisions is None else decisions) * times.decide


def simulate_equal_time(
    guess: ForecastAssumptions,
    plan: Plan,
    protocol: str,
    *,
    seed: int,
    panels: int = PANELS,
    progress: Callable[[int, int], None] | None = None,
) -> EqualTime:
    """Simulate the plan's comparisons, and the other kinds for their time, on `panels` panels (two at least).

    Panel s of every kind draws from `SeedSequence(seed, spawn_key=(s,))`, and so has the same voters with the same
    opinions; they judge relatedness, by |z|. Where there are more than `forecast.MOST_ITEMS` items, so many stand for
    them. Raises `InputError` for fewer than two panels, a guess that the plan doesn't fit, or fewer than four items.
    """
    if panels < 2 or seed < 0:
        raise InputError(f"Simulate at least two panels, and a seed from 0 on; found {panels} and {seed}.")
    if plan.n_items != guess.n_items:
        raise InputError(f"The plan is for {plan.n_items} items, and the guess is of {guess.n_items}.")
    thin = guess.thinned()
    shown = plan if thin is guess else replace(plan, n_items=thin.n_items)
    asked = SchemeSetting(thin.similarity, (), 1.0, ballots=plan.n_ballots, keep=plan.keep)
    total, done = panels * (1 + sum(map(len, COSTS.values()))), 0

    def streams() -> list[np.random.Generator]:
        return [np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(s,))) for s in range(panels)]

    def tell(n: int = 1) -> None:
        nonlocal done
        done += n
        if progress is not None:
            progress(done, total)

    own = []
    for rng in streams():
        campaign = simulate_campaign(thin.similarity, shown, protocol=protocol, rng=rng, panel=thin.panel)
        own.append(accuracy_of(campaign)[:2])
        tell()
    rho_w, tau_w = zip(*own, strict=True)
    kinds = [KindAtCosts(COMPARISONS, (1.0,), (shown.n_comparisons,), (rho_w,), (tau_w,))]
    for kind, costs in COSTS.items():
        found: list[tuple[int, tuple[float, ...], tuple[float, ...]]] = []
        try:
            for cost in costs:
                n = int(shown.n_comparisons / cost)
                setting = replace(asked, seconds=(n + 0.5) * asked.times.of(kind))
                runs = []
                for rng in streams():
                    runs.append(simulate_scheme(setting, kind, rng=rng, panel=thin.panel))
                    tell()
                figures = [[getattr(run.accuracy, name) for run in runs] for name in ("rho_w", "tau_w")]
                found.append((n, tuple(figures[0]), tuple(figures[1])))
        except InputError as error:
            kinds.append(KindAtCosts(kind, reason=str(error)))
            tell(panels * (len(costs) - len(found)))
            continue
        n_judgements = tuple(n for n, _, _ in found)
        kinds.append(
            KindAtCosts(kind, costs, n_judgements, tuple(r for _, r, _ in found), tuple(t for _, _, t in found))
        )
    return EqualTime(thin.n_items, shown.n_comparisons, panels, tuple(kinds))


def at_times(found: EqualTime, times: Times, goal: str = "both") -> Recommended:
    """The kinds at these times, judged by ρ_w, τ_w or ("both") their mean, as plans are (`search.GOALS`).

    Recommended is the best of the kinds that are ahead of comparisons by two standard errors of the difference, panel
    by panel; else comparisons. Raises `InputError` for another goal.
    """
    check_goal(goal)
    unit = seconds_of(COMPARISONS, times)
    rows = [_row(found, kind, goal, seconds_of(kind.kind, times), unit) for kind in found.kinds]
    better = [row for row in rows if row.ahead > SURE * row.error]
    best = max(better, key=lambda row: row.ahead).kind if better else COMPARISONS
    simulated = [kind for kind in found.kinds[1:] if kind.costs]
    at_a_glance = seconds_of(TUPLES, times, AT_A_GLANCE)
    quick = [_row(found, kind, goal, at_a_glance, unit) for kind in simulated if kind.kind == TUPLES]
    level = tuple(_break_even(found, kind, goal) for kind in simulated)
    return Recommended(best, tuple(rows), level, quick[0] if quick else None)


def _row(found: EqualTime, kind: KindAtCosts, goal: str, seconds: float, unit: float) -> KindAtTimes:
    cost, own = seconds / unit, found.kinds[0]
    if not kind.costs:
        return KindAtTimes(kind.kind, seconds, np.nan, UNDEFINED, UNDEFINED, np.nan, np.nan, kind.reason)
    gain = kind.judged_at(goal, cost) - own.judged_at(goal, 1.0)
    figures = band(kind.at("rho_w", cost)), band(kind.at("tau_w", cost))
    reason = "" if not np.isnan(gain).any() else "ρ_w or τ_w isn't defined in every simulated campaign."
    error = float(gain.std(ddof=1) / np.sqrt(len(gain)))
    return KindAtTimes(kind.kind, seconds, found.n_comparisons / cost, *figures, float(gain.mean()), error, reason)


def _break_even(found: EqualTime, kind: KindAtCosts, goal: str) -> BreakEven:
    """The lowest cost from which on comparisons are ahead; its interval by panels drawn with replacement."""
    own = found.kinds[0].judged_at(goal, 1.0)
    gains = np.array([kind.judged_at(goal, cost) - own for cost in kind.costs])
    cost = _level(gains.mean(axis=1), kind.costs)
    if not kind.costs[0] < cost < kind.costs[-1]:
        return BreakEven(kind.kind, np.nan, np.nan, np.nan, np.nan, always=cost >= kind.costs[-1])
    rng = np.random.default_rng(found.n_panels)
    drawn = rng.integers(found.n_panels, size=(DRAWS, found.n_panels))
    lower, upper = np.quantile([_level(gains[:, rows].mean(axis=1), kind.costs) for rows in drawn], TAILS)
    # items·r + decisions·d = cost·(2r + d)
    ratio = (DECISIONS[kind.kind] - cost) / (2 * cost - ITEMS[kind.kind])
    return BreakEven(kind.kind, cost, float(lower), float(upper), ratio, always=False)


def _level(gain: Floats, costs: tuple[float, ...]) -> float:
    """Where the gain ceases to be above 0, straight between costs: the first of them if it is nowhere or undefined, the
    last if everywhere."""
    behind = np.flatnonzero(~(gain > 0))
    if not len(behind):
        return costs[-1]
    at = int(behind[0])
    if at == 0 or np.isnan(gain).any():
        return costs[0]
    share = gain[at - 1] / (gain[at - 1] - gain[at])
    return float(costs[at - 1] + share * (costs[at] - costs[at - 1]))
