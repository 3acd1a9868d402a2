"""The graph of which items met in votes: which of them are joined by chains of votes, and linear algebra on it.

Scores can be compared only along such chains. Items are vertices, pairs of items that met are edges. A weight an edge
makes the graph's Laplacian L = Σ w_e (e_i − e_j)(e_i − e_j)ᵀ, which is the information that comparisons carry on the
items' scores.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..base.parallel import deterministic_blas
from ..errors import DisconnectedError, InputError, NotConvergedError
from ..tables import Bools, Floats, Ints


def parts(one: Ints, other: Ints, n_items: int, *, one_way: bool = False) -> Ints:
    """Number 0… of the connected part of each item, by the order of their first items; −1 without an edge.

    `one_way`: parts in which every item reaches every other along the direction one → other.
    """
    graph = csr_array((np.ones(len(one), np.int8), (one, other)), shape=(n_items, n_items))
    _, label = connected_components(graph, directed=one_way, connection="strong" if one_way else "weak")
    met = np.zeros(n_items, dtype=bool)
    met[one] = met[other] = True
    result = np.full(n_items, -1, dtype=np.int64)
    _, first_at, code = np.unique(label[met], return_index=True, return_inverse=True)
    result[met] = np.argsort(np.argsort(first_at))[code]
    return result


def connected_parts(one: Ints, other: Ints, n_items: int) -> tuple[Ints, ...]:
    """The positions of the items in each connected part (see `parts`), the largest part first.

    Parts of one size stand by their first item. An item without a vote is in none.

    >>> [part.tolist() for part in connected_parts(np.array([0, 1, 5]), np.array([2, 0, 6]), 7)]
    [[0, 1, 2], [5, 6]]
    """
    label = parts(one, other, n_items)
    order = np.argsort(label, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(label[order], prepend=-1)))[1:]
    return tuple(sorted(groups, key=lambda part: (-len(part), int(part[0]))))


def checked_parts(a: Ints, b: Ints, y: Floats, n_items: int, ridge: float, by_part: bool) -> Ints:
    """The part of each item (see `parts`); raises the error of votes a, b, y that can't be fitted."""
    part = parts(a, b, n_items)
    if part.max(initial=-1) < 0:
        raise InputError("There are no votes, so there is nothing to score.")
    if part.max() > 0 and not by_part:
        raise disconnected(part)
    if ridge == 0:
        won, lost = y > 0, y < 1
        winner, loser = np.concatenate((a[won], b[lost])), np.concatenate((b[won], a[lost]))
        if parts(winner, loser, n_items, one_way=True).max() > part.max():
            raise InputError(
                "Without a ridge the scores exist only if every item can be reached from every other along wins, "
                "and here some items never lost to the others. Use a ridge above 0."
            )
    return part


def disconnected(part: Ints) -> DisconnectedError:
    """The error that tells how large the parts are, and has their items' positions."""
    members = [tuple(np.flatnonzero(part == number).tolist()) for number in range(int(part.max()) + 1)]
    sizes = ", ".join(f"{len(items):,}" for items in members[:SIZES_TOLD]) + (", …" if members[SIZES_TOLD:] else "")
    return DisconnectedError(
        f"No chain of votes joins {len(members):,} parts of the items (of {sizes} items), so their scores can't be "
        "compared. Collect votes on comparisons between the parts.",
        members,
    )


SIZES_TOLD = 6
MOST_DENSE = 3000  # items up to which inverses are computed exactly
PROBES = 48  # random vectors that estimate the diagonal of a larger inverse
PROBE_BLOCK = 8  # probes worked on at once
MOST_STEPS = 2000  # of conjugate gradients


class PairGraph:
    """The edges `one`–`other` (shape (n_edges,), none a loop; repeats are fine) on `n_items` vertices."""

    def __init__(self, one: Ints, other: Ints, n_items: int) -> None:
        self.one, self.other, self.n_items = one, other, n_items
        ends = np.concatenate((one, other))
        order = np.argsort(ends.astype(np.uint16) if n_items < 1 << 16 else ends, kind="stable")  # small ones by radix
        ends = np.concatenate((other, one))[order].astype(np.int32)
        starts = np.concatenate(([0], np.cumsum(self.add_up(np.ones(len(one)), sign=1.0)))).astype(np.int32)
        self._edge = order % max(len(one), 1)
        self._sign = np.where(order < len(one), 1.0, -1.0)
        self._adjacency = csr_array((np.ones(len(ends)), ends, starts), shape=(n_items, n_items))
        self.diagonal = np.zeros(n_items)
        self._crossed: tuple[Ints, csr_array] | None = None

    def part(self, kept: Bools) -> PairGraph:
        """The graph with some of its edges, shape (n_edges,), on the same vertices; weights as after `__init__`.

        Sums come in the same order as here, so that an edge of no weight may be left out without changing a bit.
        """
        graph = object.__new__(PairGraph)
        graph.one, graph.other, graph.n_items = self.one[kept], self.other[kept], self.n_items
        entries = kept[self._edge]
        whole = self._adjacency
        before = np.concatenate(([0], np.cumsum(entries, dtype=np.int32)))
        graph._edge, graph._sign = (np.cumsum(kept) - 1)[self._edge[entries]], self._sign[entries]
        shape = (np.ones(len(graph._edge)), whole.indices[entries], before[whole.indptr])
        graph._adjacency = csr_array(shape, shape=whole.shape)
        graph.diagonal, graph._crossed = np.zeros(self.n_items), None
        return graph

    def edges_of(self, items: Ints) -> tuple[Ints, Ints, Ints]:
        """The edges at some items: place in `items`, item at the other end, number of the edge; (n,) each."""
        starts = self._adjacency.indptr.astype(np.int64)
        lengths = starts[items + 1] - starts[items]
        item = np.repeat(np.arange(len(items)), lengths)
        before = np.cumsum(lengths) - lengths
        at = np.arange(len(item)) + np.repeat(starts[items] - before, lengths)
        return item, self._adjacency.indices[at].astype(np.int64), self._edge[at]

    def add_up(self, values: Floats, *, sign: float = -1.0) -> Floats:
        """For every item the sum of its edges' values, those where it is `other` times `sign`; (n_items,)."""
        at_one, at_other = (np.bincount(end, values, self.n_items) for end in (self.one, self.other))
        return np.asarray(at_one + sign * at_other, dtype=np.float64)

    def weigh(self, weights: Floats, ridge: float) -> None:
        """Set the edges' weights, and what is added to the diagonal."""
        self._adjacency.data = weights[self._edge]
        self.diagonal = self.add_up(weights, sign=1.0) + ridge

    def multiply(self, x: Floats) -> Floats:
        """(L + ridge·1) x for x of shape (n_items,) or (n_items, k)."""
        scaled = self.diagonal * x if x.ndim == 1 else self.diagonal[:, None] * x
        return np.asarray(scaled - self._adjacency @ x)

    def crossed(self, values: Floats, column: Ints, n_columns: int) -> csr_array:
        """The matrix Σ values·(e_one − e_other)·uᵀ over edges and kinds, (n_items, kinds·n_columns).

        values : of each kind and edge, (kinds, n_edges); an edge's value of kind k stands in the column
        k·n_columns + column, `column` of shape (n_edges,). The next call with the same `column` changes the matrix.
        """
        kinds = len(values)
        cells = (self._sign * values[:, self._edge]).T.ravel()
        shape = (self.n_items, kinds * n_columns)
        if self._crossed is None or self._crossed[0] is not column or self._crossed[1].shape != shape:
            columns = column.astype(np.int32)[self._edge][:, None] + np.arange(kinds, dtype=np.int32) * n_columns
            matrix = csr_array((cells, columns.ravel(), kinds * self._adjacency.indptr), shape=shape)
            self._crossed = column, matrix
        self._crossed[1].data = cells
        return self._crossed[1]

    def solve(
        self,
        right: Floats,
        *,
        tolerance: float,
        less: Callable[[Floats], Floats] | None = None,
        onwards: float | None = None,
    ) -> Floats | None:
        """x with (L + ridge·1 − K) x = right, for one or several right sides (n_items,) or (n_items, k).

        Conjugate gradients with the diagonal as preconditioner, until the residual in the preconditioner's
        norm is `tolerance` times that of `right`. Vertices without weight get 0. None where weights below 0, or K,
        leave the matrix indefinite.

        less : x to K x, with K symmetric; K is 0 without. onwards : for one right side, what to go by instead of None
        where conjugate gradients meet a direction in which the matrix is negative: as far as they came, and along that
        direction until its largest entry is this (Steihaug's truncated Newton).
        """
        if (self.diagonal < 0).any():
            return None
        inverse = np.divide(1.0, self.diagonal, out=np.zeros(self.n_items), where=self.diagonal > 0)
        scale = inverse if right.ndim == 1 else inverse[:, None]
        x, residual = np.zeros_like(right), right.copy()
        direction = scale * residual
        power = np.sum(residual * direction, axis=0)
        goal = tolerance**2 * power
        for _ in range(MOST_STEPS):
            image = self.multiply(direction)
            if less is not None:
                image -= less(direction)
            curvature = np.sum(direction * image, axis=0)
            if np.any((curvature <= 0) & (power > goal)):
                return None if onwards is None else x + direction * (onwards / np.abs(direction).max())
            length = np.divide(power, curvature, out=np.zeros_like(power), where=curvature > 0)
            x += length * direction
            residual -= length * image
            next_direction = scale * residual
            next_power = np.sum(residual * next_direction, axis=0)
            if np.all(next_power <= goal):
                return x
            growth = np.divide(next_power, power, out=np.zeros_like(power), where=power > 0)
            direction = next_direction + growth * direction
            power = next_power
        raise NotConvergedError(f"The linear system of {self.n_items} items was not solved in {MOST_STEPS} steps.")

    def covariance(self, ridge: float) -> Floats:
        """(L + ridge·1)⁻¹ without the part along the vector of ones, for a connected graph; (n_items, n_items).

        The scores sum to zero, so their common level has no variance. Same bits whatever the number of threads.
        """
        level = float(self.diagonal.mean())
        matrix = np.diag(self.diagonal) - self._adjacency.toarray() + level / self.n_items
        with deterministic_blas():
            factor, failed = lapack.dpotrf(matrix, lower=1)
            inverse, failed_too = lapack.dpotri(factor, lower=1) if not failed else (factor, failed)
        if failed or failed_too:
            raise NotConvergedError("The information matrix of the scores is singular; use a ridge above 0.")
        lower = np.tril(inverse)
        whole = lower + np.tril(lower, -1).T
        return np.asarray(whole - 1.0 / (self.n_items * (ridge + level)))

    def variances(self, ridge: float) -> Floats:
        """The diagonal of `covariance`; estimated where there are more than `MOST_DENSE` items.

        The estimate is 1/d + mean over random signs s of s·((L + ridge·1)⁻¹ − D⁻¹) s, D the diagonal: only the
        part of the inverse off D⁻¹ is left to chance (Hutchinson's estimator with a control variate). Same
        graph, same figures: the signs come from a seed of their own. Relative error some 2% at 20 votes per item.
        """
        if self.n_items <= MOST_DENSE:
            return np.diag(self.covariance(ridge)).copy()
        rng = np.random.default_rng(0)
        total = np.zeros(self.n_items)
        for _ in range(PROBES // PROBE_BLOCK):
            signs = rng.choice([-1.0, 1.0], size=(self.n_items, PROBE_BLOCK))
            signs -= signs.mean(axis=0)
            solved = self.solve(signs, tolerance=1e-3)
            if solved is None:
                raise NotConvergedError("The information matrix of the scores is singular; use a ridge above 0.")
            total += (signs * (solved - signs / self.diagonal[:, None])).sum(axis=1)
        return np.maximum(1.0 / self.diagonal + total / PROBES, 0.5 / self.diagonal)
