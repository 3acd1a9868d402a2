"""How likely a model that knows nothing of the items would do as well: p-values, and critical values.

Items share tokens, so that shuffling items would call chance impossible too soon. Tokens are changed for each other
instead, within each area (the quadratic assignment procedure, as in Mantel's test): the model keeps all it says of its
tokens among each other, only which is which is lost.

References: Mantel (1967), The detection of disease clustering and a generalized regression approach, Cancer Research
27; Hubert, Schultz (1976), Quadratic assignment as a general data analysis strategy, British Journal of Mathematical
and Statistical Psychology 29; Phipson, Smyth (2010), Permutation p-values should never be zero, Statistical
Applications in Genetics and Molecular Biology 9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import metrics, rank_kernels
from ..errors import InputError
from .figures import correlations
from .models import Model
from .results import Evaluation, model_scores
from .tokens import Coded

Floats = NDArray[np.float64]

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
        found = correlations(scores, changed, n0=n0, top=top, apart=areas, names=wanted)
        for name in wanted:
            estimate = getattr(found, name).estimate
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
    held = np.full((n, n), np.nan)
    held[coded.first, coded.second] = held[coded.second, coded.first] = values
    if model is not None:
        for tokens in coded.of_areas:
            a, b = (tokens[places] for places in np.triu_indices(len(tokens), 1))
            unknown = np.isnan(held[a, b])
            a, b = a[unknown], b[unknown]
            if len(a):
                cosines = model.cosines([coded.names[i] for i in a], [coded.names[i] for i in b])
                held[a, b] = held[b, a] = model_scores(cosines, evaluation.notion)
    return lambda a, b: held[a, b]


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
            found = rank_kernels.tau_of_ranks(*ranks, w)[0] if of_pairs else metrics.correlation_of_ranks(*ranks, w)
            drawn[name].append(found)
    return {name: np.quantile(values, 1 - np.asarray(levels)) for name, values in drawn.items()}
