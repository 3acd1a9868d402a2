"""Hubs: tokens that an embedding takes for the nearest neighbours of a great many others.

N_k of a point counts how often it is among the k nearest neighbours of the other points; a strong positive skew of its
distribution is hubness. Reference: Radovanović, Nanopoulos & Ivanović (2010), Hubs in space: popular nearest neighbors
in high-dimensional data, JMLR 11. An evaluation dataset should be able to show it (Lombardo et al. 2020, §2.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, UndefinedMetricError
from ..metrics import DIGITS
from ..tables import Schema

if TYPE_CHECKING:
    from ..embeddings import Embedding

_BLOCK_BYTES = 64 << 20
_MARKERS = frozenset({"</s>", "<s>", "<unk>", "<pad>"})

# N_k of each token: `n_k` is NaN where it has no usable vector, `reason` then says why.
OCCURRENCES = Schema("k-occurrences", {"token": "text", "n_k": "float", "reason": "text"})


@dataclass(frozen=True)
class Hubness:
    """How often each token is a near neighbour, and how skewed that is.

    `tokens` is a table of `OCCURRENCES`; `words` the same of the sampled words of the vocabulary, which are asked and
    counted with the tokens. `n_queries` = the points with a usable vector, tokens and words: each is asked for its
    `k` nearest among the others, so that the mean of N_k is exactly k. `skewness` (0 = symmetric, the higher the more
    hubs) is over all points, None where it is undefined, and `problem` then says why. `n_never` points are nobody's
    neighbour.
    """

    k: int
    n_queries: int
    skewness: float | None
    n_never: int
    tokens: pd.DataFrame
    words: pd.DataFrame
    problem: str = ""


def k_occurrences(vectors: ArrayLike, k: int, *, block_bytes: int = _BLOCK_BYTES) -> NDArray[np.float64]:
    """N_k of each of n points: how often it is among the `k` nearest, by cosine, of the n − 1 others.

    Neighbours that tie for the last of the k places share them evenly, so that neither the points' order nor a copy of
    a point decides: N_k then has fractions. Cosines are in float64, rounded to 12 digits.

    Parameters: `vectors` (n × dimensions), finite and none all zeros; 1 ≤ `k` ≤ n − 1; `block_bytes`, about the memory
    that cosines may take at a time.
    Returns float64 (n,) from 0 to n − 1, of sum n·k. Raises `InputError` for other vectors or another k.

    Three directions: the middle one is nearest to both others, and the first is nearest to it.

    >>> k_occurrences([[1, 0], [1, 1], [-1, 3]], 1).tolist()
    [1.0, 2.0, 0.0]
    """
    units = np.asarray(vectors, dtype=np.float64)
    n = len(units)
    if units.ndim != 2 or not 1 <= k <= n - 1:
        raise InputError(f"For k = {k} neighbours at least {k + 1} vectors are needed and k must be from 1 on: {n}.")
    # Scaled by their greatest value first, so that no square over- or underflows.
    scale = np.abs(units).max(axis=1, keepdims=True, initial=0)
    if not (np.isfinite(scale) & (scale > 0)).all():
        raise InputError("Vectors of zeros, or with NaN or infinite values, have no neighbours; leave them out.")
    units = units / scale
    units /= np.sqrt(np.einsum("ij,ij->i", units, units))[:, None]
    counts = np.zeros(n)
    step = max(1, block_bytes // (24 * n))
    for start in range(0, n, step):
        cosines = units[start : start + step] @ units.T
        np.round(cosines, DIGITS, out=cosines)  # as `metrics.rounded_scores` of cosines, in place
        rows = np.arange(len(cosines))
        cosines[rows, start + rows] = -np.inf
        counts += _shares(cosines, k)
    return counts.round(9)  # fractions that should add up to whole numbers do


def _shares(cosines: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """What each column gets of the k places of every row."""
    last = np.partition(cosines, cosines.shape[1] - k, axis=1)[:, cosines.shape[1] - k, None]
    above, level = cosines > last, cosines == last
    left = (k - above.sum(axis=1)) / level.sum(axis=1)
    return above.sum(axis=0) + left @ level


def skewness(values: ArrayLike) -> float:
    """Skewness of a distribution: the third central moment over the cube of the standard deviation.

        S = E[(x − μ)³] / σ³   (moments of the population, as in Radovanović et al. 2010)

    Returns a float, 0 for a symmetric distribution, positive for a long tail above.
    Raises `UndefinedMetricError` if all values are equal or there are none.

    >>> round(skewness([0, 0, 3]), 6)
    0.707107
    """
    x = np.asarray(values, dtype=np.float64)
    if not len(x) or np.ptp(x) == 0:
        raise UndefinedMetricError("Skewness is undefined: all values are equal, or there are none.")
    centred = x - x.mean()
    return float(np.mean(centred**3) / np.mean(centred**2) ** 1.5)


def sample_words(
    vocabulary: pa.ChunkedArray | Sequence[str], n: int, leave_out: Sequence[str], *, rng: np.random.Generator
) -> list[str]:
    """`n` distinct words of a vocabulary, drawn uniformly, in its order; fewer if it hasn't as many.

    The words of `leave_out` (the tokens) and markers such as `</s>` are not drawn.
    """
    unwanted = _MARKERS | set(leave_out)
    # Each word to leave out can cost one of those drawn.
    drawn = rng.permutation(len(vocabulary))[: n + len(unwanted)]
    if isinstance(vocabulary, pa.ChunkedArray):
        words = vocabulary.take(pa.array(drawn)).to_pylist()
    else:
        words = [vocabulary[int(place)] for place in drawn]
    sampled = [(place, word) for place, word in zip(drawn.tolist(), words, strict=True) if word not in unwanted][:n]
    return [word for _, word in sorted(sampled)]


def hubness(embedding: Embedding, tokens: Sequence[str], words: Sequence[str] = (), *, k: int = 10) -> Hubness:
    """Hubness of an embedding over a stated set of queries: `tokens` and `words`, a sample of its vocabulary.

    Every point, token or word, is asked for its k nearest among all the others; a token given twice, or drawn as a
    word too, counts once. Points without a usable vector take no part, and are listed with the reason.
    Raises `InputError` if fewer than k + 1 points are left.
    """
    own = list(dict.fromkeys(tokens))
    points = list(dict.fromkeys([*own, *words]))
    reasons = embedding.reasons(points)
    usable = [point for point in points if point not in reasons]
    if len(usable) <= k:
        raise InputError(
            f"For {k} nearest neighbours at least {k + 1} tokens or words with a usable vector are needed, and "
            f"{embedding.name} has {len(usable)} of them. Take a larger sample of its vocabulary, or a smaller k."
        )
    counts = k_occurrences(embedding.vectors(usable), k)
    count_of = dict(zip(usable, counts.tolist(), strict=True))
    skew, problem = None, ""
    try:
        skew = skewness(counts)
    except UndefinedMetricError:
        problem = f"All {len(usable)} points are equally often a near neighbour, so their skewness is undefined."
    of_tokens, of_words = (_table(part, count_of, reasons) for part in (own, points[len(own) :]))
    return Hubness(k, len(usable), skew, int((counts == 0).sum()), of_tokens, of_words, problem)


def _table(points: list[str], counts: dict[str, float], reasons: dict[str, str]) -> pd.DataFrame:
    rows = [(point, counts.get(point, np.nan), reasons.get(point, "")) for point in points]
    frame = pd.DataFrame(rows, columns=list(OCCURRENCES.columns))
    return OCCURRENCES.check(frame.astype({"token": "str", "n_k": "float64", "reason": "str"}))
