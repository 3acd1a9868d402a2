"""Intervals of models' figures over *tokens*, and which models they tell apart; the scores are taken as they are.

They ask: would other tokens of these kinds have said the same? From the differences of two models follow the groups
into which several fall, and how many more tokens or votes it would take to tell two apart.

Items share tokens, so tokens are resampled, not items: within each area as many tokens as there are, with replacement.
An item stands there as often as its first token times its second; between a token and its own copy there is no item.
Three things are known of this bootstrap. What items differ by beyond their tokens is counted three times over, since a
product of two multiplicities varies threefold; so c times the variance of an ordinary bootstrap of the items is taken
away. A correlation varies the less, the nearer it is to 1, so that an error taken at an estimate that is too high is
too small; the interval is laid on a scale g on which errors don't depend on the figure: Fisher's z = artanh for
correlations, arcsin of the root for precision. And a few tokens make most of the variance, so that it is known no
better than from half as many tokens that all weigh the same.

    centre = estimate − s·(mean of the resamples − estimate),    error = k·√max(V − c·V_items, V_items / 2)
    bounds = g⁻¹(g(centre) ± t·error·g′(centre))

with t of Student's distribution, of (tokens − areas)/2 degrees of freedom. ρ_w's resamples reach far down where it is
high, so for it everything is taken on the scale g from the resamples on. Differences of two models keep their own
scale. The constants of `CORRECTIONS` were chosen by simulation; docs/evaluation.md says how often they hold.

References: Snijders, Borgatti (1999), Non-parametric standard errors and tests for network statistics, Connections 22;
Owen (2007), The pigeonhole bootstrap, Annals of Applied Statistics 1; Davezies, D'Haultfœuille, Guyonvarch (2021),
Empirical process results for exchangeable arrays, Annals of Statistics 49.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from ..base.estimates import holm
from ..base.parallel import Progress, split
from ..errors import InputError
from ..metrics import rounded_scores
from ..tables import Floats, Ints
from .figures import NAMES, TOP_K, USUAL_FIGURES, FigureSettings, WeightedResamples
from .results import Correlations, Evaluation, ModelComparison

LEVEL = 0.9
MOST_UNDEFINED = 0.2  # share of resamples in which a figure may be undefined and still get an interval


@dataclass(frozen=True)
class Correction:
    """Of the module's formula: `bias` is s, `items` is c, `spread` is k; `scale` is g, "z" or "root", "" for none.

    A positive s moves the centre away from the mean of the resamples, as a bootstrap correction of bias does; a
    negative one towards it. By theory c is 2, as of three times the items' variance one belongs to the interval; what
    simulated datasets needed is less.

    resampled : the variances and the mean are those of g of the resamples, so that g′ falls away.
    """

    bias: float
    items: float
    spread: float
    scale: str = "z"
    resampled: bool = False


# ρ and τ share one correction; Pearson's variance falls short a little more. A figure of the top hangs on few items,
# whose resampled copies tie with each other: its bootstrap is off its centre, and for ρ_w and τ_w counts what is of the
# items less than threefold.
_RANKS = Correction(bias=0.0, items=1.5, spread=1.05)
CORRECTIONS: Mapping[str, Correction] = {
    "rho_w": Correction(bias=-0.5, items=1.0, spread=1.05, resampled=True),
    "tau_w": Correction(bias=0.5, items=0.25, spread=0.95),
    "rho": _RANKS,
    "tau": _RANKS,
    "pearson": Correction(bias=0.0, items=1.5, spread=1.1),
    "precision": Correction(bias=0.0, items=1.5, spread=1.05, scale="root"),
}
NEAR = 0.03  # of the ends of a scale, where its slope would be without bounds


@dataclass(frozen=True)
class Bounds:
    """The centre of the module's interval, its standard error on the figure's own scale, and the bounds."""

    corrected: float
    error: float
    lower: float
    upper: float


def bounds(
    estimate: float,
    by_tokens: Floats,
    by_items: Floats,
    correction: Correction,
    *,
    level: float = LEVEL,
    limits: tuple[float, float] = (-1.0, 1.0),
    freedom: float = np.inf,
) -> Bounds | None:
    """The interval of the module; None where the estimate or over a fifth of the resamples are undefined.

    freedom : degrees of freedom of t, infinite for the normal distribution.

    >>> found = bounds(0.5, np.array([0.4, 0.5, 0.6]), np.array([0.5, 0.5, 0.5]), Correction(0, 1, 1, ""))
    >>> round(found.error, 3), round(found.lower, 3), round(found.upper, 3)
    (0.1, 0.336, 0.664)
    >>> found = bounds(0.5, np.array([0.4, 0.5, 0.6]), np.array([0.5, 0.5, 0.5]), Correction(0, 1, 1, "z"))
    >>> round(found.error, 3), round(found.lower, 3), round(found.upper, 3)
    (0.1, 0.319, 0.646)
    """
    if not 0 < level < 1:
        raise InputError(f"The level must be between 0 and 1, found {level!r}.")
    tokens, items = (drawn[~np.isnan(drawn)] for drawn in (by_tokens, by_items))
    few = any(
        len(kept) < max(2, (1 - MOST_UNDEFINED) * len(drawn))
        for kept, drawn in ((tokens, by_tokens), (items, by_items))
    )
    if few or np.isnan(estimate):
        return None
    reach = float(stdtrit(freedom, (1 + level) / 2) if np.isfinite(freedom) else ndtri((1 + level) / 2))
    if correction.resampled and correction.scale == "z":
        at, spread = _centre_and_error(_artanh(estimate), _artanh(tokens), _artanh(items), correction)
        lower, upper = np.clip(np.tanh([at - reach * spread, at + reach * spread]), *limits).tolist()
        return Bounds(float(np.tanh(at)), float(spread * (1 - np.tanh(at) ** 2)), lower, upper)
    corrected, error = _centre_and_error(estimate, tokens, items, correction)
    lower, upper = np.clip(_ends(corrected, reach * error, correction.scale), *limits).tolist()
    return Bounds(corrected, error, lower, upper)


def _centre_and_error(estimate: Any, tokens: Floats, items: Floats, correction: Correction) -> tuple[float, float]:
    """The first line of the module's formula."""
    of_items = float(items.var(ddof=1))
    variance = max(float(tokens.var(ddof=1)) - correction.items * of_items, of_items / 2)
    centre = float(estimate - correction.bias * (tokens.mean() - estimate))
    return centre, correction.spread * float(np.sqrt(variance))


def _artanh(values: float | Floats) -> Any:
    """Fisher's z, of what lies off the ends by half of `NEAR` or more."""
    return np.arctanh(np.clip(values, NEAR / 2 - 1, 1 - NEAR / 2))


def _ends(centre: float, reach: float, scale: str) -> tuple[float, float]:
    """centre ± reach, taken on a scale where errors are the same all along it; "" takes the figure's own."""
    if not scale:
        return centre - reach, centre + reach
    if scale == "z":
        inside = float(np.clip(centre, NEAR - 1, 1 - NEAR))
        at, slope = np.arctanh(inside), 1 / (1 - inside**2)
        return float(np.tanh(at - slope * reach)), float(np.tanh(at + slope * reach))
    inside = float(np.clip(centre, NEAR, 1 - NEAR))
    at, slope = np.arcsin(np.sqrt(inside)), 1 / (2 * np.sqrt(inside * (1 - inside)))
    lower, upper = np.sin(np.clip([at - slope * reach, at + slope * reach], 0, np.pi / 2)) ** 2
    return float(lower), float(upper)


FEWEST_TOKENS = 15  # with fewer no simulation says how often an interval would hold
MOST_ITEMS = 100_000  # beyond them resamples take minutes, and hundreds of megabytes
WORK, FEWEST, MOST = 400_000, 100, 400  # resamples: as many as have this many items, within these bounds
# Share of the tokens that the variance counts as degrees of freedom: simulated samples scatter as .25 to .55 would for
# ρ and Pearson.
INDEPENDENT = 0.5


@dataclass(frozen=True, eq=False)
class TokenDraws:
    """Figures of several models by resampled tokens.

    `estimates` (models,), `by_tokens` and `by_items` (models, resamples), each under the names of the figures; NaN
    where one is undefined. The models' resamples are of the same tokens, so that differences can be taken.
    """

    estimates: Mapping[str, Floats]
    by_tokens: Mapping[str, Floats]
    by_items: Mapping[str, Floats]
    n_tokens: int
    freedom: float = np.inf

    def interval(self, name: str, model: int, against: int | None = None, *, level: float = LEVEL) -> Bounds | None:
        """The interval of a model's figure, or of its difference to another's; None where it can't be told."""
        estimate, tokens, items = (part[name][model] for part in (self.estimates, self.by_tokens, self.by_items))
        lowest, highest = (0.0, 1.0) if name == "precision" else (-1.0, 1.0)
        how = CORRECTIONS[name]
        limits = (lowest, highest)
        if against is not None:
            others = (part[name][against] for part in (self.estimates, self.by_tokens, self.by_items))
            estimate, tokens, items = (m - o for m, o in zip((estimate, tokens, items), others, strict=True))
            how, limits = replace(how, scale="", resampled=False), (lowest - highest, highest - lowest)
        return bounds(float(estimate), tokens, items, how, level=level, limits=limits, freedom=self.freedom)


def number_of_resamples(n_items: int) -> int:
    """How many resamples are taken unless it is told: 400 of 1,000 items, fewer of more."""
    return int(np.clip(WORK // max(n_items, 1), FEWEST, MOST))


def draw_tokens(
    pairs: pd.DataFrame,
    models: Sequence[Floats],
    taken: FigureSettings = USUAL_FIGURES,
    *,
    resamples: int = 0,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> TokenDraws:
    """Resample the tokens of some items.

    Parameters
    ----------
    pairs : their area, token_a, token_b and score; models : what each model gives them, shape (n,), without NaN.
    taken : the figures, and how. resamples : 0 takes `number_of_resamples`; rng : source of the draws; progress : is
    told how many models are done.

    Raises `InputError` for fewer than fifteen tokens, or more than 100,000 items.
    """
    names = taken.names
    if len(pairs) > MOST_ITEMS:
        raise InputError(
            f"Resampling the tokens of {len(pairs):,} items takes too long; it is done up to {MOST_ITEMS:,}. Take a "
            "sample of the tokens."
        )
    coded = Coded(pairs)
    if coded.n_tokens < FEWEST_TOKENS:
        raise InputError(
            f"Intervals over tokens need at least {FEWEST_TOKENS} tokens, as those from fewer hold too seldom or too "
            f"often; these items have {coded.n_tokens}."
        )
    times = resamples or number_of_resamples(len(pairs))
    tokens, items = coded.by_tokens(times, rng), coded.by_items(times, rng)
    scores = pairs["score"].to_numpy(dtype=np.float64)
    parts = coded.areas if taken.apart else [np.arange(len(pairs))]
    draws: list[dict[str, list[Floats]]] = [{name: [] for name in names} for _ in range(3)]
    for number, values in enumerate(models):
        figures = [
            [
                WeightedResamples(scores[rows], values[rows], n0=taken.n0, top=taken.top).figures(drawn[:, rows], names)
                for rows in parts
            ]
            for drawn in (np.ones((1, len(pairs))), tokens, items)
        ]
        for kept, by_area in zip(draws, figures, strict=True):
            for name in names:
                kept[name].append(np.mean([area[name] for area in by_area], axis=0))
        if progress is not None:
            progress(number + 1, len(models))
    estimates, by_tokens, by_items = ({name: np.array(each[name]) for name in names} for each in draws)
    return TokenDraws(
        {name: e[:, 0] for name, e in estimates.items()}, by_tokens, by_items, coded.n_tokens, coded.freedom
    )


class Coded:
    """The tokens of items as numbers, a token of two areas being two of them, and how they are drawn."""

    def __init__(self, pairs: pd.DataFrame) -> None:
        areas = pd.factorize(pairs["area"])[0]
        self.areas: list[Ints] = [np.flatnonzero(areas == area) for area in range(areas.max(initial=-1) + 1)]
        words, every = pd.factorize(np.concatenate([pairs["token_a"], pairs["token_b"]]))
        codes, tokens = pd.factorize(np.concatenate([areas, areas]) * len(every) + words)
        self.first, self.second = codes[: len(pairs)], codes[len(pairs) :]
        self.n_tokens = len(tokens)
        self.names: list[str] = every[tokens % max(1, len(every))].tolist()
        area_of = tokens // max(1, len(every))
        self.of_areas: list[Ints] = [np.flatnonzero(area_of == area) for area in range(len(self.areas))]

    @property
    def freedom(self) -> float:
        """The degrees of freedom of t, as the module has it."""
        return max(1.0, INDEPENDENT * (self.n_tokens - len(self.areas)))

    def by_tokens(self, times: int, rng: np.random.Generator) -> Floats:
        """How often each item stands there, `times` times: shape (times, items)."""
        drawn = np.empty((times, self.n_tokens), dtype=np.float64)
        for tokens in self.of_areas:
            drawn[:, tokens] = rng.multinomial(len(tokens), np.full(len(tokens), 1 / len(tokens)), size=times)
        return np.asarray(drawn[:, self.first] * drawn[:, self.second])

    def by_items(self, times: int, rng: np.random.Generator) -> Floats:
        """The same where items are drawn themselves, within each area."""
        drawn = np.empty((times, len(self.first)), dtype=np.float64)
        for rows in self.areas:
            drawn[:, rows] = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=times)
        return drawn

    def taken(self, share: float) -> int:
        """How many tokens a share of each area's makes, rounded area by area."""
        return sum(round(share * len(tokens)) for tokens in self.of_areas)

    def subset(self, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
        """The items of a share of each area's tokens, drawn without replacement: (items,)."""
        is_kept = np.zeros(self.n_tokens, dtype=np.bool_)
        for tokens in self.of_areas:
            is_kept[rng.choice(tokens, round(share * len(tokens)), replace=False)] = True
        return np.asarray(is_kept[self.first] & is_kept[self.second])

    def permuted(self, rng: np.random.Generator) -> Ints:
        """Tokens changed for each other at random within each area: where each goes, (n_tokens,)."""
        moved = np.arange(self.n_tokens)
        for tokens in self.of_areas:
            moved[tokens] = rng.permutation(tokens)
        return moved


def with_token_intervals(
    comparison: ModelComparison,
    *,
    names: Iterable[str] = NAMES,
    resamples: int = 0,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> tuple[ModelComparison, TokenDraws]:
    """A comparison whose figures under its policy have bounds over tokens, and the draws over the common items.

    Figures of areas have bounds too, where an area has fifteen tokens. Under the policy "own" each model's tokens are
    resampled apart for its own figures. `progress` is told how far it is. Raises as `draw_tokens`.
    """
    n_models, n_areas = len(comparison.evaluations), len(comparison.evaluations[0].areas)
    steps = [n_models, n_models * (comparison.policy == "own"), n_models * (n_areas > 1)]
    of_common, of_own, of_areas = split(progress, steps)
    covered = [~np.isnan(e.values) for e in comparison.evaluations]
    every = np.logical_and.reduce(covered)
    first = comparison.evaluations[0]
    settings = FigureSettings(tuple(names), first.n0, first.overall.top or TOP_K, comparison.apart)
    values = [e.values[every] for e in comparison.evaluations]
    draws = draw_tokens(first.pairs[every], values, settings, resamples=resamples, rng=rng, progress=of_common)
    common = tuple(_with_bounds(figures, draws, place) for place, figures in enumerate(comparison.common))
    if comparison.policy == "own":
        own = []
        by_model = split(of_own, [1] * n_models)
        for evaluation, rows, of_one in zip(comparison.evaluations, covered, by_model, strict=True):
            table, of_model = evaluation.pairs[rows], [evaluation.values[rows]]
            drawn = draw_tokens(table, of_model, settings, resamples=resamples, rng=rng, progress=of_one)
            own.append(_with_bounds(evaluation.overall, drawn, 0))
    elif comparison.policy == "lowest":
        own = list(common)
    else:  # where a model covers no more than all do, its own figures are the common ones
        own = [
            _with_bounds(e.overall, draws, place) if e.overall.n_covered == comparison.n_common else e.overall
            for place, e in enumerate(comparison.evaluations)
        ]
    evaluations = tuple(replace(e, overall=o) for e, o in zip(comparison.evaluations, own, strict=True))
    if n_areas > 1:
        settings = replace(settings, apart=False)
        by_model = split(of_areas, [1] * n_models)
        pairs = zip(evaluations, by_model, strict=True)
        evaluations = tuple(_with_areas(e, settings, resamples, rng, of_one) for e, of_one in pairs)
    return replace(comparison, evaluations=evaluations, common=common), draws


def _with_areas(
    evaluation: Evaluation, taken: FigureSettings, resamples: int, rng: np.random.Generator, progress: Progress | None
) -> Evaluation:
    """The evaluation with bounds of its areas' figures, over its own items; none where an area has too few tokens."""
    covered, areas = ~np.isnan(evaluation.values), evaluation.pairs["area"].to_numpy()
    by_area = dict(evaluation.areas)
    for number, (area, figures) in enumerate(evaluation.areas.items()):
        rows = covered & (areas == area)
        pairs = evaluation.pairs[rows]
        if len({*pairs["token_a"], *pairs["token_b"]}) >= FEWEST_TOKENS:
            drawn = draw_tokens(pairs, [evaluation.values[rows]], taken, resamples=resamples, rng=rng)
            by_area[area] = _with_bounds(figures, drawn, 0)
        if progress is not None:
            progress(number + 1, len(evaluation.areas))
    return replace(evaluation, areas=by_area)


def _with_bounds(figures: Correlations, draws: TokenDraws, model: int) -> Correlations:
    bounded = {}
    for name in draws.estimates:
        figure = getattr(figures, name)
        bounds = None if figure.estimate is None else draws.interval(name, model)
        if bounds is not None:
            bounded[name] = figure.with_tokens(bounds.corrected, bounds.lower, bounds.upper)
    return replace(figures, **bounded)


SIGNIFICANCE, POWER = 0.1, 0.8


@dataclass(frozen=True)
class PairwiseDifference:
    """What is known of the difference between two models.

    difference : the first's figure less the second's, over the items that both are taken over; corrected and error :
    the same without the bias of resampling, and its standard error; lower, upper : 90% interval; first_better :
    Φ(corrected / error), the probability that the true difference is above 0 where the corrected one is taken as normal
    about it; p : two-sided, adjusted by Holm for all pairs of models; is_apart : p is at
    most 0.1.
    """

    first: str
    second: str
    difference: float
    corrected: float
    error: float
    lower: float
    upper: float
    first_better: float
    p: float = 1.0

    @property
    def is_apart(self) -> bool:
        return self.p <= SIGNIFICANCE


def two_sided(first_better: float) -> float:
    """The two-sided p-value of no difference, 2·min(P, 1 − P), where P is `first_better`."""
    return 2.0 * min(first_better, 1.0 - first_better)


def adjusted(told: Iterable[PairwiseDifference]) -> tuple[PairwiseDifference, ...]:
    """The same pairs with their p-values adjusted for each other."""
    pairs = list(told)
    p_values = rounded_scores(holm([two_sided(pair.first_better) for pair in pairs]), largest=1).tolist()
    return tuple(replace(pair, p=p) for pair, p in zip(pairs, p_values, strict=True))


def by_tokens(names: Sequence[str], draws: TokenDraws, figure: str = "rho_w") -> tuple[PairwiseDifference, ...]:
    """Every two models by resampled tokens; without those for which there is no interval."""
    differences = []
    for one, other in combinations(range(len(names)), 2):
        bounds = draws.interval(figure, one, other)
        if bounds is None:
            continue
        gap = float(draws.estimates[figure][one] - draws.estimates[figure][other])
        differences.append(
            PairwiseDifference(
                names[one], names[other], gap, bounds.corrected, bounds.error, bounds.lower, bounds.upper,
                first_better(bounds.corrected, bounds.error),
            )
        )  # fmt: skip
    return adjusted(differences)


def first_better(corrected: float, error: float) -> float:
    """Φ(corrected / error): the probability that a difference is above 0, the corrected one taken as normal about it.

    0, ½ or 1 by its sign where there is no error.
    """
    return float(ndtr(corrected / error)) if error > 0 else (1 + float(np.sign(corrected))) / 2


def groups(names: Sequence[str], is_apart: Callable[[str, str], bool]) -> list[tuple[str, ...]]:
    """The largest sets of models no two of which are told apart, each in the order of `names`.

    A model may be in several: "not told apart" isn't transitive. Ordered by their first members, so that names sorted
    by a figure give the leaders' group first.

    >>> groups(["a", "b", "c"], lambda x, y: {x, y} == {"a", "c"})
    [('a', 'b'), ('b', 'c')]
    """
    together = {
        name: {other for other in names if other != name and not (is_apart(name, other) or is_apart(other, name))}
        for name in names
    }
    cliques: list[set[str]] = []

    def extend(chosen: set[str], possible: set[str], done: set[str]) -> None:  # Bron and Kerbosch (1973)
        if not possible and not done:
            cliques.append(chosen)
        for name in [each for each in names if each in possible]:
            extend(chosen | {name}, possible & together[name], done & together[name])
            possible, done = possible - {name}, done | {name}

    extend(set(), set(names), set())
    place = {name: number for number, name in enumerate(names)}
    return sorted(
        (tuple(sorted(group, key=place.__getitem__)) for group in cliques), key=lambda g: [place[n] for n in g]
    )


def times_needed(difference: float, error: float, *, power: float = POWER, significance: float = SIGNIFICANCE) -> float:
    """How many times as many votes, or tokens, would tell two models apart with a probability of `power`.

        f = ((q(1 − significance/2) + q(power)) · error / difference)²

    q the normal quantiles: the error shrinks with the root of what is resampled. Below 1 there are enough. Infinite
    for no difference. `significance` is two-sided, for these two models alone.
    Raises `InputError` for a power or significance outside (0, 1), or a negative error.

    >>> round(times_needed(0.05, 0.05), 2)
    6.18
    """
    if not (0 < power < 1 and 0 < significance < 1 and error >= 0):
        raise InputError(f"Power and significance are between 0 and 1, the error 0 or more: {power}, {significance}.")
    if difference == 0:
        return math.inf
    return float(((ndtri(1 - significance / 2) + ndtri(power)) * error / difference) ** 2)
