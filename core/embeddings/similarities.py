"""Similarities of pairs of tokens, given by any model: a CSV file with the columns token_a, token_b, similarity.

They take an embedding's place wherever only cosines are asked for. In the folder of an imported one, pairs.arrow
has the columns first, second (int32, positions in the vocabulary, first ≤ second) and similarity (float64), sorted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn, Self

import numpy as np
import pyarrow as pa

from ..errors import InputError, Issue
from ..metrics import rounded_scores
from .formats import Block, Reader, Recognised, Source
from .neighbours import DuplicateVectors, NormsSummary, check_pairs
from .readers.similarity_files import COLUMNS, FORMAT, MAX_ISSUES, SimilarityRows, read_rows, recognise
from .storage import PAIRS, EmbeddingInfo, read_vocabulary, write_info, write_vocabulary
from .vectors import NOT_IN_VOCABULARY, Embedding, LookUp

__all__ = ["COLUMNS", "READER", "SimilarityPairs", "Similarities", "described", "open_pairs", "read_pairs", "write"]

_SCHEMA = pa.schema([("first", pa.int32()), ("second", pa.int32()), ("similarity", pa.float64())])


@dataclass(frozen=True)
class SimilarityPairs:
    """Unordered pairs of `words`, sorted by (`first`, `second`), with their `values`."""

    words: pa.ChunkedArray
    first: np.ndarray
    second: np.ndarray
    values: np.ndarray

    def find(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The values of pairs of positions (≥ 0), NaN where there is none."""
        keys = self.first.astype(np.int64) * len(self.words) + self.second
        wanted = np.minimum(a, b) * len(self.words) + np.maximum(a, b)
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[places] == wanted, self.values[places], np.nan)


def pairs_of(a_tokens: Sequence[str], b_tokens: Sequence[str], values: np.ndarray) -> SimilarityPairs:
    """The unordered pairs of `a_tokens` and `b_tokens` (n each) with their `values` (n,); no pair comes twice."""
    numbers = {token: number for number, token in enumerate(dict.fromkeys([*a_tokens, *b_tokens]))}
    places = np.array([[numbers[token] for token in tokens] for tokens in (a_tokens, b_tokens)], dtype=np.int32)
    first, second = places.reshape(2, -1).min(axis=0), places.reshape(2, -1).max(axis=0)
    order = np.lexsort((second, first))
    words = pa.chunked_array([pa.array(list(numbers), pa.string())])
    return SimilarityPairs(words, first[order], second[order], np.asarray(values, dtype=np.float64)[order])


def read_pairs(source: Source, recognised: Recognised, notes: list[str]) -> SimilarityPairs:
    """The pairs in a file; remarks go to `notes`.

    A pair that stands there several times, in either order, must have one value (to 12 digits of the largest). Raises
    `InputError` with the rows of those that have several, or that can't be read.
    """
    rows = read_rows(source, notes)
    if not len(rows.values):
        raise InputError(f"{source.name} holds no similarities. Fetch it again.")
    encoded = rows.tokens.combine_chunks().dictionary_encode()
    words = pa.chunked_array([encoded.dictionary])
    places = encoded.indices.to_numpy().astype(np.int64).reshape(-1, 2)
    keys = places.min(axis=1) * len(words) + places.max(axis=1)
    order = np.argsort(keys, kind="stable")
    is_first = np.append(True, np.diff(keys[order]) != 0)
    _check_contradictions(source.name, rows, encoded, order, is_first)
    rows_of_pairs = order[is_first]
    _note(rows, int((~is_first).sum()), notes)
    first, second = np.divmod(keys[rows_of_pairs], len(words))
    return SimilarityPairs(words, first.astype(np.int32), second.astype(np.int32), rows.values[rows_of_pairs])


def _check_contradictions(
    name: str, rows: SimilarityRows, tokens: pa.DictionaryArray, order: np.ndarray, is_first: np.ndarray
) -> None:
    """Raise `InputError` if a pair has two values; `order` sorts the rows by pair, `is_first` marks each's first."""
    firsts = order[np.maximum.accumulate(np.where(is_first, np.arange(len(order)), 0))]
    nearly = 0.5e-12 * float(np.abs(rows.values).max())
    differ = np.flatnonzero(np.abs(rows.values[order] - rows.values[firsts]) > nearly)
    if not len(differ):
        return
    issues = []
    for place in differ[np.argsort(rows.numbers[order[differ]])][:MAX_ISSUES]:
        later, earlier = order[place], firsts[place]
        pair = " and ".join(repr(tokens[2 * int(later) + side].as_py()) for side in (0, 1))
        values = f"{rows.values[later]:.15g}, row {rows.numbers[earlier]} says {rows.values[earlier]:.15g}"
        issues.append(Issue(f"{pair} have the similarity {values}", row=int(rows.numbers[later]), column=COLUMNS[2]))
    raise InputError(f"{name} contradicts itself in {len(differ):,} rows; keep one value per pair.", issues)


def _note(rows: SimilarityRows, n_repeats: int, notes: list[str]) -> None:
    n_outside = int((np.abs(rows.values) > 1).sum())
    if n_repeats:
        notes.append(f"pairs that stood there before with the same value, left out: {n_repeats:,}")
    if rows.n_empty:
        notes.append(f"rows without a similarity, left out: {rows.n_empty:,}")
    if n_outside:
        notes.append(f"similarities outside [−1, 1], kept as they are: {n_outside:,}")


def described(info: EmbeddingInfo, pairs: SimilarityPairs) -> EmbeddingInfo:
    """`info` with the counts of `pairs`."""
    return replace(info, n_words=len(pairs.words), n_pairs=len(pairs.values), dimensions=0)


def write(folder: Path, pairs: SimilarityPairs, info: EmbeddingInfo) -> EmbeddingInfo:
    """Write an import into `folder`, its info last; returns the completed info."""
    info = described(info, pairs)
    write_vocabulary(folder, pairs.words)
    columns = [pairs.first, pairs.second, pairs.values]
    table = pa.table(dict(zip(_SCHEMA.names, columns, strict=True)), schema=_SCHEMA)
    with pa.ipc.new_file(str(folder / PAIRS), _SCHEMA) as file:
        file.write_table(table)
    write_info(folder, info)
    return info


class Similarities(Embedding):
    """Given similarities in an embedding's place: `cosines` returns them, NaN where a pair wasn't given.

    The order of a pair's tokens doesn't matter, and values are as given, outside [−1, 1] too. There are no vectors:
    what needs them raises `InputError`.
    """

    def __init__(self, info: EmbeddingInfo, pairs: SimilarityPairs) -> None:
        super().__init__(info, pairs.words, np.empty((len(pairs.words), 0), np.float32), np.empty(0), partial=False)
        self._pairs = pairs

    def __repr__(self) -> str:
        return f"Similarities({self.name!r}, n_words={self.n_words}, n_pairs={self.n_pairs})"

    @property
    def n_pairs(self) -> int:
        """How many pairs were given."""
        return self.info.n_pairs

    def _no_vectors(self) -> NoReturn:
        raise InputError(f"{self.name} gives similarities of pairs; it has no vectors. Choose an embedding for this.")

    def reasons(self, tokens: Iterable[str]) -> dict[str, str]:
        """The distinct tokens that stand in no pair, in the order given, each with the reason."""
        distinct = list(dict.fromkeys(tokens))
        rows = self._positions(distinct)
        return {token: NOT_IN_VOCABULARY for token, row in zip(distinct, rows, strict=True) if row < 0}

    def cosines(self, a_tokens: Sequence[str], b_tokens: Sequence[str]) -> np.ndarray:
        """The given similarities of pairs of tokens (n,), higher = more similar; NaN where none was given.

        As they are given: what ranks them goes by `metrics.rounded_scores`. Raises `InputError` if the lengths differ.
        """
        check_pairs(a_tokens, b_tokens)
        a, b = self._positions(a_tokens), self._positions(b_tokens)
        both = (a >= 0) & (b >= 0)
        values = np.full(len(a), np.nan)
        values[both] = self._pairs.find(a[both], b[both])
        return values

    def neighbours(self, token: str, n: int = 10) -> list[tuple[str, float]]:
        """The `n` tokens that were given the highest similarity to `token`, highest first, ties by vocabulary order.

        Ties are those of all the given similarities (`metrics.rounded_scores`).
        """
        at = int(self._positions([token])[0])
        if at < 0:
            raise InputError(f"{token!r} stands in no pair of {self.name}.")
        pairs = self._pairs
        others = np.concatenate([pairs.second[pairs.first == at], pairs.first[pairs.second == at]]).astype(np.int64)
        values = np.concatenate([pairs.values[pairs.first == at], pairs.values[pairs.second == at]])
        others, values = others[others != at], values[others != at]
        largest = float(np.abs(pairs.values).max(initial=0.0)) or 1.0
        chosen = np.lexsort((others, -rounded_scores(values, largest=largest)))[:n]
        words = self._vocabulary.take(pa.array(others[chosen])).to_pylist()
        return list(zip(words, values[chosen].tolist(), strict=True))

    def vectors(self, tokens: Sequence[str], *, subwords: bool | None = None) -> np.ndarray:
        self._no_vectors()

    def with_subwords(self) -> Self:
        self._no_vectors()

    def with_look_up(self, look_up: LookUp) -> Self:
        if look_up.takes_means:
            self._no_vectors()
        return super().with_look_up(look_up)

    def nearest(self, vector: np.ndarray, n: int, *, leave_out: Sequence[str] = ()) -> list[tuple[str, float]]:
        self._no_vectors()

    def random_cosines(self, n: int, *, rng: np.random.Generator) -> np.ndarray:
        self._no_vectors()

    def norms_summary(self) -> NormsSummary:
        self._no_vectors()

    def duplicate_vectors(self, limit: int = 20) -> DuplicateVectors:
        self._no_vectors()


def open_pairs(folder: Path, info: EmbeddingInfo) -> Similarities:
    """The similarities imported into `folder`; raises `InputError` for damaged ones."""
    path = folder / PAIRS
    try:
        table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        first, second, values = (table[name].to_numpy() for name in _SCHEMA.names)
    except (OSError, pa.ArrowInvalid, KeyError) as error:
        raise InputError(f"{path} can't be read ({error}). Import the similarities again.") from error
    words = read_vocabulary(folder)
    if (len(words), len(values)) != (info.n_words, info.n_pairs):
        counts = f"{len(words)} tokens and {len(values)} pairs instead of {info.n_words} and {info.n_pairs}"
        raise InputError(f"The similarities in {folder} are damaged: there are {counts}. Import them again.")
    return Similarities(info, SimilarityPairs(words, first, second, values))


def read(source: Source, recognised: Recognised, notes: list[str]) -> Iterator[Block]:
    """There are no blocks of vectors; see `read_pairs`."""
    raise InputError(f"{source.name} gives similarities of pairs; it has no vectors.")


READER = Reader(FORMAT, recognise, read)
