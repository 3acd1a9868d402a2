"""How far each voter agrees with the others on comparisons that they share.

Two figures per voter, both by the answer (first, second or tie: the same or not), over what others answered too:

* the mean, over the voter's shared comparisons, of the share of the others who gave the same answer;
* the mean *pairwise* agreement: with each other voter the share of equal answers on what the two share, and the mean of
  that over these voters, however much each pair shares (Avraham, Goldberg 2016, section 5, after Hill et al. 2015).

Reference: Avraham, Goldberg (2016), Improving reliability of word similarity evaluation by redesigning annotation task
and performance measure, RepEval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from ..errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairwiseAgreement:
    """Agreement of each voter with the others; arrays of shape (n_voters,), in the order of `voters`.

    pairwise : mean pairwise agreement, in [0, 1], NaN where the voter shares nothing; others : with how many voters.
    same : mean share of the others with the same answer, NaN where nothing is shared; shared : comparisons shared.
    """

    voters: NDArray
    pairwise: Floats
    others: Ints
    same: Floats
    shared: Ints


def pairwise_agreement(
    voter: ArrayLike, comparison: ArrayLike, answer: ArrayLike, *, counts: ArrayLike | None = None
) -> PairwiseAgreement:
    """The agreement of each voter with the others.

    Parameters
    ----------
    voter, comparison : any codes, answer : a number for each answer that there is; shape (n,) each. Of a voter's
        several answers to a comparison the first counts.
    counts : False for answers of voters who are held against the others, without the others being held against them;
        default True for all.

    >>> found = pairwise_agreement(["A", "B", "C", "A", "B"], [1, 1, 1, 2, 2], [1, 1, 0, 1, 0])
    >>> found.pairwise, found.shared.tolist()
    (array([0.25, 0.25, 0.  ]), [2, 2, 1])
    """
    who, what, said = np.asarray(voter), np.asarray(comparison), np.asarray(answer)
    other = np.ones(len(who), dtype=bool) if counts is None else np.asarray(counts, dtype=bool)
    if who.ndim != 1 or not who.shape == what.shape == said.shape == other.shape:
        raise InputError(f"Each answer needs a voter and a comparison, found shapes {who.shape} and {what.shape}.")
    names, row = np.unique(who, return_inverse=True)
    _, unit = np.unique(what, return_inverse=True)
    kinds, kind = np.unique(said, return_inverse=True)
    _, firsts = np.unique(row * (int(unit.max(initial=0)) + 1) + unit, return_index=True)
    row, unit, other = row[firsts], unit[firsts], other[firsts]
    cell = unit * len(kinds) + kind[firsts]
    n_units = int(unit.max(initial=-1)) + 1
    # How many other voters answered each comparison, and how many of them alike.
    times = np.bincount(unit[other], minlength=n_units)[unit] - other
    alike = np.bincount(cell[other], minlength=n_units * len(kinds))[cell] - other
    held = np.flatnonzero(times > 0)
    shared = np.bincount(row[held], minlength=len(names))
    same = _ratio(np.bincount(row[held], alike[held] / times[held], len(names)), shared)
    pairwise, others = _pairwise(row, unit, cell, other, len(names))
    return PairwiseAgreement(names, pairwise, others, same, shared)


def _pairwise(row: Ints, unit: Ints, cell: Ints, other: NDArray[np.bool_], n: int) -> tuple[Floats, Ints]:
    """The mean over other voters of the share of equal answers, and the number of these voters."""
    together = (_matrix(row, unit, n) @ _matrix(row[other], unit[other], n, unit).T).tocoo()
    alike = (_matrix(row, cell, n) @ _matrix(row[other], cell[other], n, cell).T).tocsr()
    # In the order of `together`: every two that share a comparison are there, also where no answer is equal.
    equal = np.asarray(alike[together.row, together.col]).ravel()
    apart = together.row != together.col
    at = together.row[apart]
    others = np.bincount(at, minlength=n)
    return _ratio(np.bincount(at, equal[apart] / together.data[apart], n), others), others


def _matrix(row: Ints, column: Ints, n: int, columns: Ints | None = None) -> csr_array:
    """A one in each cell named; as wide as `columns` (default `column`) needs."""
    width = int((column if columns is None else columns).max(initial=-1)) + 1
    return csr_array((np.ones(len(row)), (row, column)), shape=(n, width))


def _ratio(sums: NDArray, counts: Ints) -> Floats:
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
