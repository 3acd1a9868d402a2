"""Evaluating: all pairs of 3,000 tokens, and the resampled tokens of a dataset of the paper's size."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pandas as pd

from bench.table import Line
from core.embeddings import Embedding
from core.evaluation import compare, given
from core.evaluation.token_intervals import with_token_intervals


def lines(*, quick: bool) -> Iterator[Line]:
    """`quick` takes a thirtieth of the tokens."""
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
