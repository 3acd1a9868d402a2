"""Other ways to take cosines of the same vectors: shown beside the model with their figures, never silently applied.

Means and directions are those of a sample of the vocabulary, or of the dataset's tokens where that is all there is.

References: Mu, Viswanath (2018), All-but-the-top: simple and effective postprocessing for word representations, ICLR;
Conneau, Lample, Ranzato, Denoyer, Jégou (2018), Word translation without parallel data, ICLR (CSLS); Radovanović,
Nanopoulos, Ivanović (2010), Hubs in space, JMLR 11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import metrics
from ..embeddings import Embedding
from ..errors import InputError
from ..tokens.hubness import sample_words
from .figures import correlations
from .models import given
from .results import Correlations, Evaluation, model_scores

Floats = NDArray[np.float64]

N_SAMPLED = 20_000  # words of the vocabulary behind means and directions
N_QUERIES = 2_000  # of them, beside the tokens, behind CSLS
NEIGHBOURS = 10

PLAIN, CENTRED, UNIT_CENTRED, ALL_BUT_TOP, CSLS = (
    "as it is",
    "mean taken away",
    "unit length, then mean taken away",
    "all but the top",
    "CSLS",
)
WHAT: Mapping[str, str] = {
    PLAIN: "Cosines of the vectors as they are. Their lengths make no difference.",
    CENTRED: "The mean vector is taken from all vectors first.",
    UNIT_CENTRED: "Vectors are brought to length 1, then their mean is taken away.",
    ALL_BUT_TOP: (
        "The mean and the strongest directions, a hundredth of the dimensions, are taken away (Mu & Viswanath 2018)."
    ),
    CSLS: "Twice the cosine less how near each token's ten nearest are: a cure for hubs (Conneau et al. 2018).",
}


@dataclass(frozen=True, eq=False)
class Variant:
    """One way to take cosines: what it makes of each item, (n,), NaN where a token is missing, and the figures."""

    name: str
    values: Floats
    figures: Correlations


def variants(
    evaluation: Evaluation, embedding: Embedding, *, apart: bool = False, rng: np.random.Generator
) -> tuple[Variant, ...]:
    """The model of an evaluation in all ways, the plain one first, over its own items.

    `embedding` is the one that was evaluated; a sample of its vocabulary is drawn with `rng` (of one loaded for chosen
    tokens, these are all there is). Raises `InputError` for similarities, which have no vectors.
    """
    if embedding.kind != "vectors":
        raise InputError(f"{embedding.name} has no vectors, only similarities of pairs: there is nothing to change.")
    pairs, notion = evaluation.pairs, evaluation.notion
    a, b = pairs["token_a"].tolist(), pairs["token_b"].tolist()
    tokens = list(dict.fromkeys([*a, *b]))
    vectors = embedding.vectors(tokens).astype(np.float64)
    words = sample_words(embedding.vocabulary, N_SAMPLED, [], rng=rng)
    sample = embedding.vectors(words).astype(np.float64)
    sample = sample[np.isfinite(sample).all(axis=1)]
    changed = {CENTRED: centred(vectors, sample), UNIT_CENTRED: centred(_units(vectors), _units(sample))}
    changed[ALL_BUT_TOP] = all_but_the_top(vectors, sample)
    values = {PLAIN: model_scores(pairs["cosine"].to_numpy(), notion)}
    for name, made in changed.items():
        values[name] = model_scores(given(tokens, made, name=name).cosines(a, b), notion)
    queries = sample[np.sort(rng.permutation(len(sample))[:N_QUERIES])]
    values[CSLS] = csls(values[PLAIN], a, b, tokens, vectors, queries, notion)
    scores, areas = pairs["score"].to_numpy(), pairs["area"].to_numpy() if apart else None
    top = max(evaluation.overall.top, 1)
    return tuple(
        Variant(name, value, correlations(scores, value, n0=evaluation.n0, apart=areas, top=top))
        for name, value in values.items()
    )


def _units(vectors: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def centred(vectors: Floats, sample: Floats) -> Floats:
    """Vectors (n × d) less the mean of a sample (m × d)."""
    return vectors - sample.mean(axis=0)


def all_but_the_top(vectors: Floats, sample: Floats, directions: int | None = None) -> Floats:
    """Vectors (n × d) less the mean of a sample (m × d) and what lies along its `directions` strongest components.

    `directions` is d/100, at least 1, as Mu and Viswanath advise, unless it is given.
    """
    n = max(1, round(vectors.shape[1] / 100)) if directions is None else directions
    mean = sample.mean(axis=0)
    around = sample - mean
    _, found = np.linalg.eigh(around.T @ around)
    strongest = found[:, ::-1][:, :n]
    moved = vectors - mean
    return np.asarray(moved - (moved @ strongest) @ strongest.T)


def csls(
    values: Floats,
    a: Sequence[str],
    b: Sequence[str],
    tokens: Sequence[str],
    vectors: Floats,
    queries: Floats,
    notion: str,
    *,
    k: int = NEIGHBOURS,
) -> Floats:
    """2·s(a, b) − r(a) − r(b) for each item, r the mean of s to a token's k nearest among the tokens and `queries`.

    s is cos or |cos|, as the notion has it; `values` (n,) are those of the items, `vectors` (n_tokens × d) may have
    rows of NaN.
    """
    units = _units(vectors)
    usable = np.isfinite(units).all(axis=1)
    others = np.concatenate([units[usable], _units(queries)])
    near = model_scores(units[usable] @ others.T, notion)
    near[np.arange(len(near)), np.arange(len(near))] = -np.inf
    # A token drawn as a query too would be its own nearest.
    near[:, usable.sum() :][near[:, usable.sum() :] >= 1 - 1e-9] = -np.inf
    n_near = min(k, near.shape[1] - 1)
    r = np.full(len(tokens), np.nan)
    if n_near > 0:
        r[usable] = np.partition(near, -n_near, axis=1)[:, -n_near:].mean(axis=1)
    at = pd.Series(r, index=list(tokens))
    found = 2 * values - at.loc[list(a)].to_numpy() - at.loc[list(b)].to_numpy()
    return metrics.rounded_scores(found, largest=1)
