"""What a whole matrix of vectors is asked: nearest rows, lengths of vectors, rows that are the same.

Everything goes block by block, so that a memory map of any size is read once and never held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from ..errors import InputError
from ..metrics import rounded_scores

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_ROWS = 16_384
# A float32 product of unit vectors is off by far less; whatever comes so close to the best is computed in float64.
_MARGIN = 1e-4
# Below this, float32 has lost digits.
_TINY = 1e-30
_DENSE = 8  # from an eighth of all pairs of rows on, all of them are computed


@dataclass(frozen=True)
class NormsSummary:
    """Lengths of vectors: `quantiles` are (share, length) pairs over the `n_usable` vectors that can be compared,
    empty if there are none; `n_zero` vectors are all zeros, `n_not_finite` have NaN or infinite values."""

    n_words: int
    n_usable: int
    n_zero: int
    n_not_finite: int
    quantiles: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class DuplicateVectors:
    """Different words with one and the same vector: `n_groups` vectors belong to several words, `n_words` in all.

    `groups` are the words of the first ones, in the vocabulary's order.
    """

    n_groups: int
    n_words: int
    groups: tuple[tuple[str, ...], ...]


def top(
    matrix: np.ndarray, norms: np.ndarray, vectors: np.ndarray, n: int, left_out: Sequence[np.ndarray]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each of some vectors the `n` rows of the highest cosine, and the cosines; ties by the order of rows.

    Rows with an unusable norm don't take part, nor, for a vector, those of its entry of `left_out`. float32 products
    choose candidates, whose cosines are then taken in float64. The matrix is read once for all vectors.
    """
    wide = vectors.astype(np.float64)
    units = (wide / np.sqrt(np.einsum("ij,ij->i", wide, wide))[:, None]).astype(np.float32)
    norms = np.asarray(norms)
    candidates = _Candidates(len(units), n)
    out = [np.unique(rows) for rows in left_out]
    for start in range(0, len(matrix), _ROWS):
        cosines = _products(matrix[start : start + _ROWS], norms[start : start + _ROWS], units)
        for at, rows in enumerate(out):
            here = rows[np.searchsorted(rows, start) : np.searchsorted(rows, start + _ROWS)]
            cosines[here - start, at] = -np.inf
        candidates.add(start, cosines)
    found = []
    for vector, rows in zip(wide, candidates.rows(), strict=True):
        values = _exact(matrix, vector, rows)
        chosen = np.lexsort((rows, -values))[:n]
        found.append((rows[chosen], values[chosen]))
    return found


def _products(rows: np.ndarray, norms: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Cosines of rows with unit vectors in float32, a column a vector; −∞ where a row can't be compared, ∞ where
    float32 may have got it wrong."""
    usable = norms > 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        cosines = rows @ units.T
        cosines /= norms[:, None]
    doubtful = usable[:, None] & ~np.isfinite(cosines) if not np.isfinite(cosines.sum()) else None
    if doubtful is not None:
        cosines[doubtful] = np.inf
    cosines[usable & (norms < _TINY)] = np.inf
    cosines[~usable] = -np.inf
    return cosines


class _Candidates:
    """Rows that may be among the n best of each of some vectors, gathered block by block."""

    def __init__(self, n_vectors: int, n: int) -> None:
        self._n = n
        self._bound = np.full(n_vectors, -np.inf)  # what the n-th best so far has
        self._rows: list[np.ndarray] = [np.empty(0, np.int64) for _ in range(n_vectors)]
        self._cosines: list[np.ndarray] = [np.empty(0, np.float32) for _ in range(n_vectors)]

    def add(self, start: int, cosines: np.ndarray) -> None:
        """A block of cosines, a row a row of the matrix from `start` on, a column a vector."""
        reach = np.where(np.isfinite(self._bound), self._bound - _MARGIN, np.finfo(np.float32).min)
        is_near = cosines >= reach.astype(np.float32)
        for at in np.flatnonzero(is_near.any(axis=0)).tolist():
            places = np.flatnonzero(is_near[:, at])
            self._take(at, start + places, cosines[places, at])

    def _take(self, at: int, rows: np.ndarray, cosines: np.ndarray) -> None:
        rows, cosines = np.append(self._rows[at], rows), np.append(self._cosines[at], cosines)
        sure = cosines[np.isfinite(cosines)]  # the others are kept in any case, and may turn out to be low
        if len(sure) > self._n:
            bound = float(np.partition(sure, len(sure) - self._n)[len(sure) - self._n])
            self._bound[at] = bound
            is_near = cosines >= np.float32(bound - _MARGIN)
            rows, cosines = rows[is_near], cosines[is_near]
        self._rows[at], self._cosines[at] = rows, cosines

    def rows(self) -> list[np.ndarray]:
        """The candidates of each vector, in the order of rows."""
        return self._rows


def _exact(matrix: np.ndarray, vector: np.ndarray, rows: np.ndarray) -> np.ndarray:
    cosines = np.empty(len(rows))
    for start in range(0, len(rows), _ROWS):
        some = np.concatenate([vector[None], matrix[rows[start : start + _ROWS]]])
        others = np.arange(1, len(some))
        cosines[start : start + _ROWS] = pairwise_cosines(some, np.zeros_like(others), others)
    return cosines


def random_pairs(rows: np.ndarray, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """`n` pairs of distinct entries of `rows` (two at least), drawn uniformly: the first ones, and the second ones."""
    first = rng.integers(0, len(rows), size=n)
    second = rng.integers(0, len(rows) - 1, size=n)
    second += second >= first
    return rows[first], rows[second]


def check_pairs(a_tokens: Sequence[str], b_tokens: Sequence[str]) -> None:
    """Raise `InputError` unless there are as many first tokens as second ones."""
    if len(a_tokens) != len(b_tokens):
        raise InputError(f"Cosines need as many first tokens as second ones: {len(a_tokens)}, {len(b_tokens)}.")


def pairwise_cosines(vectors: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cosines of pairs of rows `a`, `b` of `vectors`, in float64, clipped to [−1, 1] and rounded to 12 digits."""
    if len(a) > _ROWS and len(a) * _DENSE > len(vectors) ** 2:
        return _all_cosines(vectors, a, b)
    cosines = np.empty(len(a))
    for start in range(0, len(cosines), _ROWS):
        part = slice(start, start + _ROWS)
        x, y = (vectors[places[part]].astype(np.float64) for places in (a, b))
        squares = np.einsum("ij,ij->i", x, x) * np.einsum("ij,ij->i", y, y)
        cosines[part] = np.einsum("ij,ij->i", x, y) / np.sqrt(squares)
    return rounded_scores(np.clip(cosines, -1.0, 1.0), largest=1)


def _all_cosines(vectors: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same where most pairs of rows are asked for: by blocks of rows against all, each row read once."""
    units = vectors.astype(np.float64)
    units /= np.sqrt(np.einsum("ij,ij->i", units, units))[:, None]
    order = np.argsort(a, kind="stable")
    cosines, step = np.empty(len(a)), max(1, (1 << 22) // len(units))
    bounds = np.searchsorted(a[order], np.arange(0, len(units) + step, step))
    for number, (start, stop) in enumerate(pairwise(bounds.tolist())):
        rows = order[start:stop]
        block = units[number * step : (number + 1) * step] @ units.T
        cosines[rows] = block[a[rows] - number * step, b[rows]]
    return rounded_scores(np.clip(cosines, -1.0, 1.0), largest=1)


def top_words(
    vocabulary: pa.ChunkedArray, matrix: np.ndarray, norms: np.ndarray, vectors: np.ndarray, n: int,
    left_out: Sequence[np.ndarray],
) -> list[list[tuple[str, float]]]:  # fmt: skip
    """The words of the rows that `top` finds, each with its cosine. Raises `InputError` for n below 1."""
    if n < 1:
        raise InputError(f"At least 1 neighbour must be asked for, found {n}.")
    if not len(vectors):
        return []
    found = []
    for rows, cosines in top(matrix, norms, vectors, n, left_out):
        words = vocabulary.take(pa.array(rows)).to_pylist()
        found.append(list(zip(words, cosines.tolist(), strict=True)))
    return found


def summarise_norms(norms: np.ndarray) -> NormsSummary:
    """`NormsSummary` of norms as the storage has them: 0 for zeros, NaN for values that aren't finite."""
    norms = np.asarray(norms)
    usable = norms[norms > 0].astype(np.float64)
    n_not_finite = int(np.isnan(norms).sum())
    values = np.quantile(usable, QUANTILES).tolist() if len(usable) else []
    quantiles = tuple(zip(QUANTILES, values, strict=False))
    return NormsSummary(len(norms), len(usable), len(norms) - len(usable) - n_not_finite, n_not_finite, quantiles)


def _hashes(matrix: np.ndarray) -> np.ndarray:
    """A hash (uint64) of each row's values; equal rows have equal ones."""
    factors = np.random.default_rng(0).integers(1, 1 << 63, size=matrix.shape[1], dtype=np.uint64) | np.uint64(1)
    hashes = np.empty(len(matrix), dtype=np.uint64)
    step = max(1, (1 << 20) // max(matrix.shape[1], 1))
    for start in range(0, len(matrix), step):
        # Adding zero makes −0 into 0.
        bits = (np.asarray(matrix[start : start + step]) + np.float32(0)).view(np.uint32).astype(np.uint64)
        mixed = bits * factors
        hashes[start : start + len(mixed)] = (mixed ^ (mixed >> np.uint64(32))).sum(axis=1, dtype=np.uint64)
    return hashes


def same_rows(matrix: np.ndarray, norms: np.ndarray) -> list[np.ndarray]:
    """Groups of rows (ascending) with the same values, in the order of their first rows; unusable ones left out."""
    usable = np.flatnonzero(np.asarray(norms) > 0)
    hashes = _hashes(matrix)[usable]
    order = np.argsort(hashes, kind="stable")
    bounds = np.flatnonzero(np.append(True, np.diff(hashes[order]) != 0))
    sizes = np.diff(np.append(bounds, len(order)))
    groups: list[np.ndarray] = []
    for start, size in zip(bounds[sizes > 1], sizes[sizes > 1], strict=True):
        groups.extend(_split(matrix, usable[order[start : start + size]]))
    return sorted(groups, key=lambda group: int(group[0]))


def _split(matrix: np.ndarray, rows: np.ndarray) -> list[np.ndarray]:
    """Rows of one hash, split into groups that are really the same."""
    groups = []
    while len(rows) > 1:
        same = np.concatenate(
            [(matrix[rows[i : i + _ROWS]] == matrix[rows[0]]).all(axis=1) for i in range(0, len(rows), _ROWS)]
        )
        if same.sum() > 1:
            groups.append(rows[same])
        rows = rows[~same]
    return groups


def same_words(vocabulary: pa.ChunkedArray, matrix: np.ndarray, norms: np.ndarray, limit: int) -> DuplicateVectors:
    """The words of the groups that `same_rows` finds, all of them counted and the first `limit` groups listed."""
    groups = same_rows(matrix, norms)
    listed = tuple(tuple(vocabulary.take(pa.array(rows)).to_pylist()) for rows in groups[:limit])
    return DuplicateVectors(len(groups), sum(map(len, groups)), listed)
