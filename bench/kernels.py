"""The numeric kernels: drawing a ballot, the weighted rank correlation, the bootstrap of the scores, evaluating."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import weightedtau

from bench.table import Line, measure
from core.ballots import draw_comparisons
from core.embeddings import Embedding
from core.evaluation import compare, given
from core.evaluation.token_intervals import with_token_intervals
from core.metrics import average_ranks, weighted_kendall, weights
from core.scores import bootstrap_intervals, score_campaign
from core.scores.borda import BallotVotes


def lines(*, quick: bool) -> Iterator[Line]:
    """All lines of this part; `quick` makes everything a hundredth of its size."""
    share = 100 if quick else 1
    yield drawing(100_000 // share)
    yield correlation(200_000 // share)
    yield correlation(1_000_000 // share)
    yield bootstrap(20_000 // share, 1_000 // share)
    yield from evaluation(quick=quick)


def drawing(n_items: int, appearances: int = 20) -> Line:
    """Drawing the comparisons of one ballot."""
    (ours,) = measure(lambda: draw_comparisons(np.arange(n_items), appearances, rng=np.random.default_rng(1)), rounds=1)
    return Line(f"drawing {n_items:,} items × M {appearances}", ours, limit=10.0)


def correlation(n_items: int) -> Line:
    """τ_w of two rankings with some ties; SciPy's function is given our weights, w_i·w_j for a pair of items."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=n_items).round(4)
    y = (x + rng.normal(size=n_items)).round(4)
    w = weights(average_ranks(x), average_ranks(y))
    numbers = np.arange(n_items)
    values: list[float] = [0.0, 0.0]

    def ours() -> None:
        values[0] = weighted_kendall(x, y)

    def scipys() -> None:
        values[1] = weightedtau(x, y, rank=numbers, weigher=lambda place: w[place], additive=False).statistic

    mine, other = measure(ours, scipys)
    apart = abs(values[0] - values[1])
    if apart > 1e-12:
        raise SystemExit(f"weighted_kendall and SciPy's weightedtau differ by {apart:.1e}.")
    what = f"weighted Kendall of {n_items:,} items"
    return Line(what, mine, other, "scipy.stats.weightedtau", least_ratio=5, note=f"{apart:.0e} apart")


def bootstrap(n_votes: int, resamples: int, n_voters: int = 50) -> Line:
    """Intervals of the scores; the other is a loop that scores the campaign anew for each resample of voters."""
    n_items = max(n_votes // 20, 10)
    rng = np.random.default_rng(3)
    first = rng.integers(n_items, size=n_votes)
    second = (first + rng.integers(1, n_items, size=n_votes)) % n_items
    voter = rng.integers(n_voters, size=n_votes)
    outcome = rng.choice([0.0, 0.5, 1.0], size=n_votes)
    votes = BallotVotes(np.arange(n_items), first, second, outcome, voter)
    of_voter = [np.flatnonzero(voter == code) for code in range(n_voters)]

    def plain_loop() -> None:
        scores = []
        for _ in range(resamples):
            rows = np.concatenate([of_voter[code] for code in rng.integers(n_voters, size=n_voters)])
            drawn = BallotVotes(votes.items, first[rows], second[rows], outcome[rows], voter[rows])
            scores.append(score_campaign([drawn], n_items)[0].mean)
        np.nanquantile(scores, (0.05, 0.95), axis=0)

    def at_once() -> None:
        bootstrap_intervals([votes], n_items, resamples=resamples, rng=np.random.default_rng(4))

    ours, other = measure(at_once, plain_loop, rounds=1)
    return Line(f"bootstrap of {n_votes:,} votes × {resamples:,}", ours, other, "plain loop")


def evaluation(*, quick: bool) -> Iterator[Line]:
    """All pairs of 3,000 tokens, and the resampled tokens of 990 items; `quick` takes a thirtieth of the tokens."""
    n_tokens = 100 if quick else 3_000
    dataset, model = _all_pairs(n_tokens)
    start = time.perf_counter()
    compare(dataset, [model])
    took = time.perf_counter() - start
    yield Line(f"six figures of {len(dataset):,} items, 300 dimensions, one n₀", took, limit=30.0)
    dataset, model = _all_pairs(45)
    comparison = compare(dataset, [model] * 3)
    start = time.perf_counter()
    with_token_intervals(comparison, resamples=400, rng=np.random.default_rng(1))
    yield Line("intervals over tokens of 990 items, 3 models × 400", time.perf_counter() - start, limit=10.0)


def _all_pairs(n_tokens: int) -> tuple[pd.DataFrame, Embedding]:
    rng = np.random.default_rng(n_tokens)
    names = np.array([f"token {number}" for number in range(n_tokens)], dtype=object)
    vectors = rng.standard_normal((n_tokens, 300)).astype(np.float32)
    a, b = np.triu_indices(n_tokens, 1)
    scores = rng.standard_normal(len(a))
    columns = {"area": pd.Series(["A"] * len(a), dtype="str"), "token_a": pd.Series(names[a], dtype="str")}
    dataset = pd.DataFrame({**columns, "token_b": pd.Series(names[b], dtype="str"), "score": scores})
    return dataset, given(names.tolist(), vectors, name="model")
