"""Words and vectors ready for use: look-up of tokens, and cosines.

Nothing here keeps the vocabulary as Python objects: a look-up is one pass over the Arrow column, and the
vectors stay in their memory map until rows are asked for.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from .storage import EmbeddingInfo, map_vectors, read_info, read_vocabulary

# Entries that mark places in a text: they are in many vocabularies and aren't words.
MARKERS = ("</s>", "<s>", "<unk>", "<pad>")
DIGITS = 12
_ROWS = 16_384
_MAX_REMEMBERED = 500_000

NOT_IN_VOCABULARY = "not in the vocabulary"
ZERO = "its vector is all zeros"
NOT_FINITE = "its vector has NaN or infinite values"


def spellings(token: str) -> tuple[str, ...]:
    """How a token is looked for, in this order: as it is, in normal form C, with "_" for its spaces.

    >>> spellings("machine learning")
    ('machine learning', 'machine_learning')
    """
    composed = unicodedata.normalize("NFC", token)
    return tuple(dict.fromkeys((token, composed, composed.replace(" ", "_"))))


class Embedding:
    """Words with a vector each; made by `load` or `open_embedding`.

    `vocabulary` (n strings), `matrix` (n × dimensions, float32) and `norms` (n, float32; 0 or NaN where a vector
    can't be compared) belong together row by row. `info.n_words` is what the file holds; a `partial` embedding
    has only the rows of the tokens it was loaded for.
    """

    def __init__(
        self, info: EmbeddingInfo, vocabulary: pa.ChunkedArray, matrix: np.ndarray, norms: np.ndarray, *, partial: bool
    ) -> None:
        self.info, self.partial = info, partial
        self._vocabulary, self._matrix, self._norms = vocabulary, matrix, norms
        self._found: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"Embedding({self.name!r}, n_words={self.n_words}, dimensions={self.dimensions})"

    @property
    def name(self) -> str:
        """The name of the file it came from."""
        return self.info.source

    @property
    def n_words(self) -> int:
        """How many words the whole embedding has."""
        return self.info.n_words

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self.info.dimensions

    def _positions(self, tokens: Iterable[str]) -> np.ndarray:
        """The row of each token, −1 where the vocabulary has no spelling of it."""
        tokens = list(tokens)
        asked = [token for token in dict.fromkeys(tokens) if token not in self._found]
        if asked:
            if len(self._found) + len(asked) > _MAX_REMEMBERED:
                self._found.clear()
                asked = list(dict.fromkeys(tokens))
            self._found.update(self._search(asked))
        return np.array([self._found[token] for token in tokens], dtype=np.int64)

    def _search(self, tokens: list[str]) -> dict[str, int]:
        """The row of each of `tokens` (distinct), by one pass over the vocabulary."""
        options = {token: spellings(token) for token in tokens}
        wanted = list(dict.fromkeys(word for words in options.values() for word in words))
        index = pc.index_in(self._vocabulary, value_set=pa.array(wanted, pa.string()))
        which = pc.fill_null(index, -1).to_numpy()
        rows = np.flatnonzero(which >= 0)
        found = {wanted[which[row]]: int(row) for row in rows}
        return {token: next((found[word] for word in options[token] if word in found), -1) for token in tokens}

    def _usable(self, tokens: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
        """The tokens' rows, and whether each has a vector that can be compared."""
        rows = self._positions(tokens)
        usable = rows >= 0
        usable[usable] = self._norms[rows[usable]] > 0
        return rows, usable

    def vectors(self, tokens: Sequence[str]) -> np.ndarray:
        """The tokens' vectors, float32 (n_tokens × dimensions); a row of NaN for a missing token (`missing`)."""
        rows, usable = self._usable(tokens)
        vectors = np.full((len(rows), self.dimensions), np.nan, dtype=np.float32)
        vectors[usable] = self._matrix[rows[usable]]
        return vectors

    def spelling(self, tokens: Sequence[str]) -> list[str | None]:
        """The vocabulary's word that each token was found as (see `spellings`), None where it has none."""
        rows = self._positions(tokens)
        words = iter(self._vocabulary.take(pa.array(rows[rows >= 0])).to_pylist())
        return [next(words) if row >= 0 else None for row in rows]

    def reasons(self, tokens: Iterable[str]) -> dict[str, str]:
        """The distinct tokens without a usable vector, in the order given, each with the reason."""
        distinct = list(dict.fromkeys(tokens))
        rows, usable = self._usable(distinct)
        return {
            token: NOT_IN_VOCABULARY if row < 0 else ZERO if self._norms[row] == 0 else NOT_FINITE
            for token, row, fine in zip(distinct, rows, usable, strict=True)
            if not fine
        }

    def missing(self, tokens: Iterable[str]) -> list[str]:
        """The distinct tokens that aren't in the vocabulary or have no usable vector, in the order given."""
        return list(self.reasons(tokens))

    def cosines(self, a_tokens: Sequence[str], b_tokens: Sequence[str]) -> np.ndarray:
        """Cosines of pairs of tokens, higher = more similar.

            cos(a, b) = a·b / (|a|·|b|)

        Computed in float64, clipped to [−1, 1] and rounded to 12 digits, so that float noise makes no ranks:
        equal vectors give exactly 1.

        Parameters: `a_tokens`, `b_tokens`, equally many texts.
        Returns float64 (n,), NaN where either token is missing (`missing` says which).
        Raises `InputError` if the lengths differ.
        """
        if len(a_tokens) != len(b_tokens):
            raise InputError(f"Cosines need as many first tokens as second ones: {len(a_tokens)}, {len(b_tokens)}.")
        rows_a, usable_a = self._usable(a_tokens)
        rows_b, usable_b = self._usable(b_tokens)
        both = usable_a & usable_b
        cosines = np.full(len(rows_a), np.nan)
        cosines[both] = self._cosines(rows_a[both], rows_b[both])
        return cosines

    def random_cosines(self, n: int, *, rng: np.random.Generator) -> np.ndarray:
        """Cosines (n,) of `n` pairs of distinct words, drawn uniformly from the words with a usable vector.

        Markers such as `</s>` are left out. Raises `InputError` if fewer than two words are left, or if the
        embedding was loaded for chosen tokens only, which are no sample of its vocabulary.
        """
        if self.partial:
            raise InputError(f"{self.name} was loaded for chosen tokens only; load it whole to draw random words.")
        usable = np.asarray(self._norms > 0)
        markers = self._positions(MARKERS)
        usable[markers[markers >= 0]] = False
        rows = np.flatnonzero(usable)
        if len(rows) < 2:
            raise InputError(f"{self.name} has too few words with a usable vector for random pairs: {len(rows)}.")
        first = rng.integers(0, len(rows), size=n)
        second = rng.integers(0, len(rows) - 1, size=n)
        second += second >= first
        return self._cosines(rows[first], rows[second])

    def _cosines(self, rows_a: np.ndarray, rows_b: np.ndarray) -> np.ndarray:
        """Cosines of pairs of rows whose vectors are usable."""
        # Each row is fetched once: rows of a memory map are far dearer than rows in memory.
        rows, places = np.unique(np.concatenate([rows_a, rows_b]), return_inverse=True)
        vectors = self._matrix[rows]
        places_a, places_b = np.split(places, 2)
        cosines = np.empty(len(rows_a))
        for start in range(0, len(cosines), _ROWS):
            part = slice(start, start + _ROWS)
            a, b = (vectors[p[part]].astype(np.float64) for p in (places_a, places_b))
            squares = np.einsum("ij,ij->i", a, a) * np.einsum("ij,ij->i", b, b)
            cosines[part] = np.einsum("ij,ij->i", a, b) / np.sqrt(squares)
        return np.clip(cosines, -1.0, 1.0).round(DIGITS)


def open_embedding(folder: Path | str) -> Embedding:
    """The embedding that `import_embedding` wrote into `folder`, memory-mapped: opens in milliseconds.

    Raises `InputError` where there is none, or a damaged one.
    """
    folder = Path(folder)
    info = read_info(folder)
    vocabulary = read_vocabulary(folder)
    if len(vocabulary) != info.n_words:
        found = f"{len(vocabulary)} words instead of {info.n_words}"
        raise InputError(f"The embedding in {folder} is damaged: it has {found}. Import it again.")
    return Embedding(info, vocabulary, *map_vectors(folder, info), partial=False)
