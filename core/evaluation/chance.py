"""Where a model's ρ_w or τ_w stands between chance and the best that the votes allow, and its p-value against chance.

Neither has a common zero: two rankings that have nothing to do with each other lie the further below 0, the more items
there are (an item at the top of only one of them weighs much), and noise in the votes keeps a perfect model from 1. So

    share = (figure − chance) / (ceiling − chance)

0 for what a random ranking gets on average, 1 for a model with the true ranking. It isn't cut: a model worse than
chance is below 0, one that is lucky may be above 1. It changes the scale only, so that it orders models over the same
items as the figure does.

P-values and critical values
----------------------------
They say how likely a model that knows nothing of the items would do as well. Items share tokens, so that shuffling
items would call chance impossible too soon. Tokens are changed for each other instead, within each area (the quadratic
assignment procedure, as in Mantel's test): the model keeps all it says of its tokens among each other, only which is
which is lost.

References: Mantel (1967), The detection of disease clustering and a generalized regression approach, Cancer Research
27; Hubert, Schultz (1976), Quadratic assignment as a general data analysis strategy, British Journal of Mathematical
and Statistical Psychology 29; Phipson, Smyth (2010), Permutation p-values should never be zero, Statistical
Applications in Genetics and Molecular Biology 9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import permutations as every_permutation
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import metrics, rank_kernels
from ..errors import InputError, UndefinedMetricError
from ..tables import Floats
from .figures import correlations
from .models import Model
from .results import Correlations, Evaluation, ModelComparison, model_scores
from .token_intervals import Coded

PERMUTATIONS = 999
MOST_ITEMS = 100_000
FIGURES = ("rho_w", "tau_w")


@dataclass(frozen=True, eq=False)
class Permuted:
    """A figure against what it is where the model's tokens are changed for each other.

    `p` is (1 + the number of permutations that reach the estimate) / (1 + their number): one-sided, as a model is to
    agree with people. `drawn` (permutations,) are their figures, NaN where one is undefined.
    """

    estimate: float
    p: float
    drawn: Floats


def permutation_test(
    evaluation: Evaluation,
    model: Model | None = None,
    *,
    apart: bool = False,
    names: Sequence[str] = FIGURES,
    permutations: int = PERMUTATIONS,
    rng: np.random.Generator,
) -> dict[str, Permuted]:
    """p-values of a model's figures over the items that it covers.

    Parameters
    ----------
    evaluation : the model's; model : what was evaluated, which is asked about pairs that are no items. None is
        enough where the items are all pairs of their areas' tokens; otherwise pairs that nobody knows are left out of a
        permutation's figure. apart : figures are means over areas.
    permutations : how many, at least 1; rng : their source.

    A figure that is undefined is left out. Raises `InputError` for no permutation, or more than 100,000 items.
    """
    values = evaluation.values
    covered = ~np.isnan(values)
    pairs, n0, top = evaluation.pairs[covered], evaluation.n0, max(evaluation.overall.top, 1)
    if permutations < 1 or len(pairs) > MOST_ITEMS:
        raise InputError(
            f"There must be at least one permutation, of at most {MOST_ITEMS:,} items; not {len(pairs):,}."
        )
    scores, areas = pairs["score"].to_numpy(), pairs["area"].to_numpy() if apart else None
    real = correlations(scores, values[covered], n0=n0, top=top, apart=areas, names=names)
    estimates = {name: getattr(real, name).estimate for name in names}
    wanted = [name for name in names if estimates[name] is not None]
    coded = Coded(pairs)
    matrix = _matrix(evaluation, coded, values[covered], model)
    drawn = {name: np.full(permutations, np.nan) for name in wanted}
    for number in range(permutations if wanted else 0):
        moved = coded.permuted(rng)
        changed = matrix(moved[coded.first], moved[coded.second])
        figures = correlations(scores, changed, n0=n0, top=top, apart=areas, names=wanted)
        for name in wanted:
            estimate = getattr(figures, name).estimate
            drawn[name][number] = np.nan if estimate is None else estimate
    return {name: _permuted(estimates[name], drawn[name]) for name in wanted}


def _permuted(estimate: float, drawn: Floats) -> Permuted:
    known = drawn[~np.isnan(drawn)]
    reached = int((known >= estimate - 1e-12).sum())
    return Permuted(estimate, (1 + reached) / (1 + len(known)), drawn)


def _matrix(
    evaluation: Evaluation, coded: Coded, values: Floats, model: Model | None
) -> Callable[[NDArray[np.int64], NDArray[np.int64]], Floats]:
    """What the model says of any two tokens of an area by their numbers."""
    n = coded.n_tokens
    table = np.full((n, n), np.nan)
    table[coded.first, coded.second] = table[coded.second, coded.first] = values
    if model is not None:
        for tokens in coded.of_areas:
            a, b = (tokens[places] for places in np.triu_indices(len(tokens), 1))
            unknown = np.isnan(table[a, b])
            a, b = a[unknown], b[unknown]
            if len(a):
                cosines = model.cosines([coded.names[i] for i in a], [coded.names[i] for i in b])
                table[a, b] = table[b, a] = model_scores(cosines, evaluation.notion)
    return lambda a, b: table[a, b]


def critical_values(
    n_items: int,
    *,
    n0: float = 2.0,
    levels: Sequence[float] = (0.1, 0.05, 0.01),
    names: Sequence[str] = FIGURES,
    n_tokens: int = 0,
    dimensions: int = 50,
    simulations: int = 2000,
    rng: np.random.Generator,
) -> Mapping[str, Floats]:
    """What a figure must exceed so that a model which knows nothing reaches it with probability 0.1, 0.05, 0.01 only.

    Two rankings of `n_items` that have nothing to do with each other are simulated. With `n_tokens` the items are all
    pairs of so many tokens, and both rankings cosines of unrelated random vectors of `dimensions`: items then share
    tokens, as they do in a dataset. Returns the 1 − level quantiles (levels,) of each figure.

    >>> found = critical_values(100, simulations=200, rng=np.random.default_rng(1))
    >>> bool(found["rho_w"][0] < found["rho_w"][1] < found["rho_w"][2])
    True
    """
    if n_items < 2 or simulations < 1:
        raise InputError(f"Critical values take at least 2 items and 1 simulation: {n_items}, {simulations}.")
    a, b = np.triu_indices(max(n_tokens, 2), 1)
    if n_tokens and len(a) != n_items:
        raise InputError(f"{n_tokens} tokens make {len(a)} items, not {n_items}.")
    drawn: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(simulations):
        if n_tokens:
            units = rng.standard_normal((2, n_tokens, dimensions))
            units /= np.linalg.norm(units, axis=2, keepdims=True)
            x, y = ((vectors @ vectors.T)[a, b] for vectors in units)
        else:
            x, y = rng.random((2, n_items))
        ranks = metrics.average_ranks(x), metrics.average_ranks(y)
        weight = metrics.weights(*ranks, n0)
        even = np.full(n_items, 1 / n_items)
        for name in names:
            w = weight if name.endswith("_w") else even
            of_pairs = name.startswith("tau")
            value = rank_kernels.tau_of_ranks(*ranks, w)[0] if of_pairs else metrics.correlation_of_ranks(*ranks, w)
            drawn[name].append(value)
    return {name: np.quantile(values, 1 - np.asarray(levels)) for name, values in drawn.items()}


NAMES = ("rho_w", "tau_w")
SEED = 0
EXACT = 7  # items of which all orders are taken
WORK, FEWEST, MOST = 100_000, 25, 2000  # permutations are WORK / items, from FEWEST to MOST
_BLOCK = 1 << 20  # values held of each array at a time
NO_CEILING = "There is no ceiling: it takes the votes, which come with a project or its published zip."


@dataclass(frozen=True)
class Chance:
    """The mean of a figure over `n` permutations, and its standard error, 0 where these are all there are."""

    mean: float
    error: float
    n: int


@dataclass(frozen=True)
class ShareOfCeiling:
    """`value` is the share of the module, with what it follows from; None, and why, where it is undefined."""

    value: float | None
    chance: float | None = None
    ceiling: float | None = None
    reason: str = ""


def chance(
    x: ArrayLike, y: ArrayLike, *, n0: float = 2.0, permutations: int = 0, seed: int = SEED
) -> Mapping[str, Chance]:
    """The means of ρ_w and τ_w when one ranking's items are put in a random order: what knowing nothing gets.

    Parameters
    ----------
    x, y : scores of the same n ≥ 2 items, shape (n,), higher = more related. Only the sizes of their ties matter, not
        which items tie: tied scores share their average rank, and keep doing so in every order.
    n0 : offset of the weights, above −1.
    permutations : 0 takes all n! orders of up to seven items, else 100,000 / n, from 25 to 2,000, seeded by `seed`.

    Returns "rho_w" and "tau_w", each in [−1, 1], higher = nearer to agreement. The same seed gives the same bytes,
    whatever the order of the items. Raises `UndefinedMetricError` as `metrics.weighted_spearman`, and for more than
    100,000 items; `InputError` for shapes, n0 or permutations that can't be.

    Source: the permutation distribution of a rank correlation (Kendall, Gibbons (1990), Rank Correlation Methods,
    chapter 4), simulated, as weights that hang on both ranks leave no formula.

    >>> found = chance([2, 1], [2, 1])
    >>> found["rho_w"].mean, found["rho_w"].n
    (0.0, 2)
    """
    a, b = (np.sort(ranks) for ranks in metrics.two_rankings(x, y))
    if permutations < 0:
        raise InputError(f"Permutations are 0 or more, found {permutations}.")
    if len(a) > MOST_ITEMS:
        raise UndefinedMetricError(f"Chance is simulated for up to {MOST_ITEMS:,} items; these are {len(a):,}.")
    metrics.rank_weights(a[:1], n0)  # refuses an offset that can't be
    return dict(zip(NAMES, _chance(a.tobytes(), b.tobytes(), float(n0), permutations, seed), strict=True))


@lru_cache(maxsize=32)  # models without ties share it, and a page asks again at every click
def _chance(a_bytes: bytes, b_bytes: bytes, n0: float, permutations: int, seed: int) -> tuple[Chance, ...]:
    a, b = np.frombuffer(a_bytes), np.frombuffer(b_bytes)
    n, is_exact = len(a), not permutations and len(a) <= EXACT
    times = permutations or int(np.clip(WORK // n, FEWEST, MOST))
    rng = np.random.default_rng([seed, 25])
    parts = []
    if is_exact:
        parts.append(_of_orders(a, b, np.array(list(every_permutation(range(n)))), n0))
    else:
        step = max(1, _BLOCK // n)
        for start in range(0, times, step):
            orders = rng.permuted(np.tile(np.arange(n), (min(step, times - start), 1)), axis=1)
            parts.append(_of_orders(a, b, orders, n0))
    figures = []
    for values in (np.concatenate(each) for each in zip(*parts, strict=True)):
        known = is_exact or len(values) < 2
        error = 0.0 if known else float(values.std(ddof=1) / np.sqrt(len(values)))
        figures.append(Chance(float(values.mean()), error, len(values)))
    return tuple(figures)


def _of_orders(a: Floats, b: Floats, orders: NDArray[np.intp], n0: float) -> tuple[Floats, Floats]:
    return rank_kernels.rho_and_tau_of_orders(a, b, orders, partial(metrics.rank_weights, n0=n0))


def share_of(figure: float, by_chance: float, ceiling: float) -> float:
    """(figure − chance) / (ceiling − chance): 0 at chance, 1 at the ceiling, not cut, higher = better.

    figure, by_chance, ceiling : in [−1, 1], of the same kind. Raises `UndefinedMetricError` where the ceiling isn't
    above chance: votes so noisy, or so few items, tell no model from a random ranking.

    >>> share_of(0.5, -0.5, 1.0)
    0.6666666666666666
    """
    if not ceiling > by_chance:
        raise UndefinedMetricError(
            f"The best that these votes allow, {ceiling:.3f}, isn't above what a random ranking gets, {by_chance:.3f}."
        )
    return (figure - by_chance) / (ceiling - by_chance)


def shares(
    evaluation: Evaluation,
    figures: Correlations,
    items: NDArray[np.bool_],
    ceilings: Mapping[str, float],
    *,
    apart: bool = False,
    why_none: str = NO_CEILING,
    seed: int = SEED,
) -> dict[str, ShareOfCeiling]:
    """The shares of a model's `figures`, which are over those of `items` (n,), True or False, that it covers.

    ceilings : by figure, of `NAMES`; one that isn't there is why_none. apart : figures, chance and ceilings are means
    over areas.
    """
    pairs = evaluation.pairs
    scores, values = pairs["score"].to_numpy(dtype=np.float64), evaluation.values
    rows = items & ~np.isnan(values)
    areas = pairs["area"].to_numpy() if apart else np.zeros(len(pairs))
    try:
        parts = [
            chance(scores[rows & (areas == area)], values[rows & (areas == area)], n0=evaluation.n0, seed=seed)
            for area in dict.fromkeys(areas[rows])
        ]
    except UndefinedMetricError as error:
        return {name: ShareOfCeiling(None, None, ceilings.get(name), str(error)) for name in NAMES}
    by_name = {}
    for name in NAMES:
        figure, ceiling = getattr(figures, name), ceilings.get(name)
        by_chance = float(np.mean([part[name].mean for part in parts])) if parts else None
        if figure.estimate is None or by_chance is None:
            by_name[name] = ShareOfCeiling(None, by_chance, ceiling, figure.reason)
        elif ceiling is None:
            by_name[name] = ShareOfCeiling(None, by_chance, None, why_none)
        else:
            try:
                by_name[name] = ShareOfCeiling(share_of(figure.estimate, by_chance, ceiling), by_chance, ceiling)
            except UndefinedMetricError as error:
                by_name[name] = ShareOfCeiling(None, by_chance, ceiling, str(error))
    return by_name


def shares_of(
    comparison: ModelComparison, ceilings: Mapping[str, float], *, why_none: str = NO_CEILING, seed: int = SEED
) -> dict[str, list[dict[str, ShareOfCeiling]]]:
    """The shares of each model, in order: under "overall" over its own items, under "common" over those that all cover.

    See `shares`. Under the policy "lowest" both are over all items.
    """
    covered = [~np.isnan(e.values) for e in comparison.evaluations]
    every = np.logical_and.reduce(covered)
    options: dict[str, Any] = {"apart": comparison.apart, "why_none": why_none, "seed": seed}
    each = list(zip(comparison.evaluations, covered, comparison.common, strict=True))
    return {
        "overall": [shares(e, e.overall, own, ceilings, **options) for e, own, _ in each],
        "common": [shares(e, figures, every, ceilings, **options) for e, _, figures in each],
    }
