"""An embedding ready for use: how tokens are looked up in its vocabulary, their vectors, and cosines.

A token is looked up as it is written, and in lower case only where that is asked for; then lower case is tried only
where the vocabulary has no spelling of the token's own case. A choice says what stands for a token of several words.

Nothing here keeps the vocabulary as Python objects: a look-up is one pass over the Arrow column, and the vectors stay
in their memory map until rows are asked for.
"""

from __future__ import annotations

import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Literal, Self, cast, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from .formats import Subwords
from .neighbours import (
    DuplicateVectors,
    NormsSummary,
    check_pairs,
    pairwise_cosines,
    random_pairs,
    same_words,
    summarise_norms,
    top_words,
)
from .storage import EmbeddingInfo, norms_of
from .subwords import vectors_of_others

Mode = Literal["as they are", "underscore", "mean of parts", "mean if missing"]
MODES: Mapping[Mode, str] = {
    "as they are": "looked up as they are written, or else with “_” in place of each space",
    "underscore": "looked up with “_” in place of each space",
    "mean of parts": "the mean of their words' vectors, all of which must be in the vocabulary",
    "mean if missing": "looked up as they are, or else the mean of their words' vectors",
}
# What may find tokens that are missing, without another vector for any that is found.
Remedy = Literal["lower", "mean"]
REMEDIES: Mapping[Remedy, str] = {"lower": "in lower case too", "mean": "as the mean of their words' vectors"}
# Why a token has no usable vector.
NOT_IN_VOCABULARY = "not in the vocabulary"
ZERO = "its vector is all zeros"
NOT_FINITE = "its vector has NaN or infinite values"
CANCELLED = "the vectors of its parts cancel out"


def parts_of(token: str) -> list[str]:
    """The words of a token: what stands between its spaces and "_"; hyphens stay.

    >>> parts_of("on-line machine_learning")
    ['on-line', 'machine', 'learning']
    """
    return token.replace("_", " ").split()


def as_mode(text: str) -> Mode:
    """One of `MODES`; raises `InputError` for another text."""
    if text not in get_args(Mode):
        raise InputError(f"Tokens of several words are looked up {', or '.join(MODES)}; not {text!r}.")
    return cast(Mode, text)


@dataclass(frozen=True)
class LookUp:
    """How tokens are looked up; `lower` tries lower case too, `multiword` is one of `MODES`."""

    lower: bool = False
    multiword: Mode = "as they are"

    def __post_init__(self) -> None:
        as_mode(self.multiword)

    def spellings(self, token: str) -> tuple[str, ...]:
        """The words of a vocabulary that a token is looked for as, in this order.

        As it is, in normal forms C and D, and with "_" for its spaces (in the mode "underscore" this only); with
        `lower` all of them once more in lower case.

        >>> LookUp(lower=True).spellings("Machine learning")
        ('Machine learning', 'Machine_learning', 'machine learning', 'machine_learning')
        """
        composed = unicodedata.normalize("NFC", token)
        joined = "_".join(composed.split())
        if self.multiword == "underscore" and len(parts_of(token)) > 1:
            spellings = [joined]
        else:
            spellings = [token, composed, unicodedata.normalize("NFD", token), composed.replace(" ", "_")]
        if self.lower:
            spellings += [unicodedata.normalize("NFC", text.lower()) for text in spellings]
        return tuple(dict.fromkeys(spellings))

    def has_remedy(self, remedy: Remedy) -> bool:
        """Whether missing tokens are looked up in this way too."""
        return self.lower if remedy == "lower" else self.multiword == "mean if missing"

    def with_remedy(self, remedy: Remedy) -> LookUp:
        """The same way with a remedy; itself where the remedy changes nothing, or where spellings were chosen that it
        would undo."""
        if remedy == "lower":
            return replace(self, lower=True)
        return replace(self, multiword="mean if missing") if self.multiword == "as they are" else self

    def without_remedy(self, remedy: Remedy) -> LookUp:
        """The same way without a remedy."""
        if not self.has_remedy(remedy):
            return self
        return replace(self, lower=False) if remedy == "lower" else replace(self, multiword="as they are")

    @property
    def takes_means(self) -> bool:
        """Whether the mean of a token's words may stand for it."""
        return self.multiword in ("mean of parts", "mean if missing")

    @property
    def is_whole_first(self) -> bool:
        """Whether a token of several words is looked for itself before anything else."""
        return self.multiword != "mean of parts"

    def parts(self, token: str) -> list[str]:
        """The words whose mean stands for a token, or (`is_whole_first`) for one that isn't found itself; none where
        no mean is taken."""
        words = parts_of(token) if self.takes_means else []
        return words if len(words) > 1 else []

    def words(self, token: str) -> set[str]:
        """All words of a vocabulary that may be needed for a token."""
        parts = self.parts(token)
        asked = [*parts, *([token] if self.is_whole_first or not parts else [])]
        return {word for part in asked for word in self.spellings(part)}


def means(parts: Sequence[Sequence[str]], words: Sequence[str], vectors: np.ndarray) -> np.ndarray:
    """The mean vector of each token's `parts` (n × dimensions, float32), NaN where a part has none or all cancel out.

    `vectors` (n_words × dimensions) are those of `words`, as they are (not unit vectors); the mean is in float64.
    """
    at = {word: place for place, word in enumerate(words)}
    result = np.full((len(parts), vectors.shape[1]), np.nan, dtype=np.float32)
    for place, some in enumerate(parts):
        mean = vectors[[at[word] for word in some]].astype(np.float64).mean(axis=0)
        if np.abs(mean).max(initial=0) > 0:  # False for NaN too
            result[place] = mean
    return result


def why_no_mean(parts: Sequence[str], reasons: Mapping[str, str]) -> str:
    """Why the parts of a token have no mean, by the `reasons` of those without a vector."""
    lacking = [f"its part {word}: {reasons[word]}" for word in dict.fromkeys(parts) if word in reasons]
    return "; ".join(lacking) or CANCELLED


def names_found(
    tokens: Sequence[str],
    parts_of_missing: Callable[[str], Sequence[str]],
    spelling: Callable[[Sequence[str]], Sequence[str | None]],
) -> list[str]:
    """What each token's vector would be that of: a word as `spelling` finds it, or the `parts_of_missing` joined by
    " + " whose mean it is; "(n-grams)" stands after a word that the vocabulary hasn't."""
    whole = spelling(tokens)
    parts = [
        [token] if word is not None else parts_of_missing(token) or [token]
        for token, word in zip(tokens, whole, strict=True)
    ]
    words = list(dict.fromkeys(word for some in parts for word in some))
    spelled = dict(zip(words, spelling(words), strict=True))
    return [" + ".join(spelled[word] or f"{word} (n-grams)" for word in some) for some in parts]


MAX_REMEMBERED = 500_000  # tokens whose row is kept
# Entries that mark places in a text: they are in many vocabularies and aren't words.
MARKERS = ("</s>", "<s>", "<unk>", "<pad>")


class Embedding:
    """Words with a vector each; made by `load` or `open_embedding`.

    `vocabulary` (n strings), `matrix` (n × dimensions, float32) and `norms` (n, float32; 0 or NaN where a vector
    can't be compared) belong together row by row. `info.n_words` is what the file holds; a `partial` embedding
    has only the rows of the tokens it was loaded for. `subwords` make vectors of other words, where the model has
    them; `scratch` is a folder that must stay as long as they are needed. `look_up` says what a token is looked for as.
    """

    def __init__(
        self,
        info: EmbeddingInfo,
        vocabulary: pa.ChunkedArray,
        matrix: np.ndarray,
        norms: np.ndarray,
        *,
        partial: bool,
        subwords: Subwords | None = None,
        scratch: tempfile.TemporaryDirectory | None = None,
    ) -> None:
        self.info, self.partial = info, partial
        self._vocabulary, self._matrix, self._norms = vocabulary, matrix, norms
        self._subwords, self._uses_subwords, self._scratch = subwords, False, scratch
        self.look_up = LookUp()
        self._places = TokenRows(vocabulary, self.look_up)

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

    @property
    def kind(self) -> str:
        """ "vectors", or "similarities" where only similarities of pairs are known."""
        return self.info.kind

    @property
    def has_subwords(self) -> bool:
        """Whether vectors of words outside the vocabulary can be made."""
        return self._subwords is not None

    @property
    def vocabulary(self) -> pa.ChunkedArray:
        """Its words in the file's order, as Arrow strings; only the wanted ones of a `partial` embedding."""
        return self._vocabulary

    def _parts(self) -> Subwords:
        if self._subwords is None:
            raise InputError(
                f"{self.name} has no vectors of parts of words; only a fastText model has (its .bin file)."
            )
        return self._subwords

    def with_subwords(self) -> Self:
        """The same embedding, which makes vectors of words outside its vocabulary from their n-grams.

        Raises `InputError` if the model has no n-grams.
        """
        self._parts()
        other = copy(self)
        other._uses_subwords = True
        return other

    def with_look_up(self, look_up: LookUp) -> Self:
        """The same embedding, which looks tokens up in another way; nothing of it is copied."""
        other = copy(self)
        other.look_up, other._places = look_up, TokenRows(self._vocabulary, look_up)
        return other

    @property
    def _makes_vectors(self) -> bool:
        """Tokens that aren't words of the vocabulary may have a vector all the same."""
        return self._uses_subwords or self.look_up.takes_means

    def _positions(self, tokens: Iterable[str]) -> np.ndarray:
        """The row of each token, −1 where the vocabulary hasn't it, or the mean of its parts stands for it."""
        return self._places.rows(tokens)

    def _usable(self, tokens: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
        """The tokens' rows, and whether each has a vector that can be compared."""
        rows = self._positions(tokens)
        usable = rows >= 0
        usable[usable] = self._norms[rows[usable]] > 0
        return rows, usable

    def vectors(self, tokens: Sequence[str], *, subwords: bool | None = None) -> np.ndarray:
        """The tokens' vectors, float32 (n_tokens × dimensions); a row of NaN for a missing token (`missing`).

        `subwords` makes vectors of tokens that aren't in the vocabulary from their n-grams, in normal form C; None
        does so for an embedding `with_subwords`. Raises `InputError` if it is True and the model has no n-grams.
        """
        rows, usable = self._usable(tokens)
        vectors = np.full((len(rows), self.dimensions), np.nan, dtype=np.float32)
        vectors[usable] = self._matrix[rows[usable]]
        if subwords:
            self._parts()
        others = np.flatnonzero(rows < 0)
        vectors[others] = self._made([tokens[int(i)] for i in others], subwords)
        return vectors

    def _made(self, tokens: list[str], subwords: bool | None = None) -> np.ndarray:
        """Vectors of tokens outside the vocabulary, made of parts or n-grams; NaN where there is no usable one."""
        vectors = np.full((len(tokens), self.dimensions), np.nan, dtype=np.float32)
        parts = [self._split(token, subwords) for token in tokens]
        split = [place for place, words in enumerate(parts) if words]
        if split:
            words = list(dict.fromkeys(word for place in split for word in parts[place]))
            vectors[split] = means([parts[place] for place in split], words, self.vectors(words, subwords=subwords))
        whole = [place for place, words in enumerate(parts) if not words]
        if whole and (self._uses_subwords if subwords is None else subwords):
            texts = [unicodedata.normalize("NFC", tokens[place]) for place in whole]
            made = vectors_of_others(texts, self._parts())
            made[~(norms_of(made) > 0)] = np.nan
            vectors[whole] = made
        return vectors

    def _split(self, token: str, subwords: bool | None = None) -> list[str]:
        """The words whose mean stands for a token that isn't in the vocabulary; none where its n-grams do."""
        uses_subwords = self._uses_subwords if subwords is None else subwords
        return [] if uses_subwords and self.look_up.is_whole_first else self.look_up.parts(token)

    def spelling(self, tokens: Sequence[str]) -> list[str | None]:
        """The vocabulary's word that each token was found as (see `spellings`), None where it has none."""
        rows = self._positions(tokens)
        words = iter(self._vocabulary.take(pa.array(rows[rows >= 0])).to_pylist())
        return [next(words) if row >= 0 else None for row in rows]

    def holds(self, words: Sequence[str]) -> set[str]:
        """Those of the words that the vocabulary has, as they stand."""
        is_known = pc.is_in(self._vocabulary, value_set=pa.array(words, pa.string()))
        return set(self._vocabulary.filter(is_known).to_pylist())

    def found_as(self, tokens: Sequence[str]) -> list[str]:
        """What each token's vector is that of: a word of the vocabulary, words joined by " + " whose mean it is, or a
        word with "(n-grams)" after it; "" where it has none."""
        reasons = self.reasons(tokens)
        named = names_found(tokens, self._split, self.spelling)
        return ["" if token in reasons else name for token, name in zip(tokens, named, strict=True)]

    def reasons(self, tokens: Iterable[str]) -> dict[str, str]:
        """The distinct tokens without a usable vector, in the order given, each with the reason."""
        distinct = list(dict.fromkeys(tokens))
        rows, usable = self._usable(distinct)
        if self._makes_vectors:
            others = np.flatnonzero(rows < 0)
            usable[others] = np.isfinite(self._made([distinct[i] for i in others])).all(axis=1)
        return {
            token: self._reason(token, row) for token, row, fine in zip(distinct, rows, usable, strict=True) if not fine
        }

    def _reason(self, token: str, row: int) -> str:
        if row >= 0:
            return ZERO if self._norms[row] == 0 else NOT_FINITE
        parts = self._split(token)
        return why_no_mean(parts, self.reasons(parts)) if parts else NOT_IN_VOCABULARY

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
        check_pairs(a_tokens, b_tokens)
        rows_a, usable_a = self._usable(a_tokens)
        rows_b, usable_b = self._usable(b_tokens)
        if self._makes_vectors and (min(rows_a, default=0) < 0 or min(rows_b, default=0) < 0):
            return self._made_cosines(a_tokens, b_tokens)
        both = usable_a & usable_b
        cosines = np.full(len(rows_a), np.nan)
        cosines[both] = self._cosines(rows_a[both], rows_b[both])
        return cosines

    def _made_cosines(self, a_tokens: Sequence[str], b_tokens: Sequence[str]) -> np.ndarray:
        """Cosines of tokens some of which have only a vector made of n-grams."""
        distinct = list(dict.fromkeys([*a_tokens, *b_tokens]))
        at = {token: place for place, token in enumerate(distinct)}
        vectors = self.vectors(distinct)
        a, b = (np.array([at[token] for token in tokens], dtype=np.int64) for tokens in (a_tokens, b_tokens))
        both = np.isfinite(vectors[a]).all(axis=1) & np.isfinite(vectors[b]).all(axis=1)
        cosines = np.full(len(a), np.nan)
        cosines[both] = pairwise_cosines(vectors, a[both], b[both])
        return cosines

    def random_cosines(self, n: int, *, rng: np.random.Generator) -> np.ndarray:
        """Cosines (n,) of `n` pairs of distinct words, drawn uniformly from the words with a usable vector.

        Markers such as `</s>` are left out. Raises `InputError` if fewer than two words are left, or if the
        embedding was loaded for chosen tokens only, which are no sample of its vocabulary.
        """
        self._check_whole("draw random words")
        usable = np.asarray(self._norms > 0)
        usable[self._marker_rows()] = False
        rows = np.flatnonzero(usable)
        if len(rows) < 2:
            raise InputError(f"{self.name} has too few words with a usable vector for random pairs: {len(rows)}.")
        return self._cosines(*random_pairs(rows, n, rng))

    def _check_whole(self, purpose: str) -> None:
        if self.partial:
            raise InputError(f"{self.name} was loaded for chosen tokens only; load it whole to {purpose}.")

    def _marker_rows(self) -> np.ndarray:
        rows = self._positions(MARKERS)
        return rows[rows >= 0]

    def neighbours(self, token: str, n: int = 10) -> list[tuple[str, float]]:
        """The neighbours of one token, as `neighbours_of` gives those of several."""
        return self.neighbours_of([token], n)[0]

    def neighbours_of(self, tokens: Sequence[str], n: int = 10) -> list[list[tuple[str, float]]]:
        """For each token the `n` words with the highest cosine to it, highest first, each with its cosine.

        Exact (cosines in float64, rounded to 12 digits); ties stand in the vocabulary's order. The word itself and
        markers such as `</s>` are left out. The vectors are read once for all tokens. Raises `InputError` for a token
        without a usable vector, or if the embedding was loaded for chosen tokens only.
        """
        self._check_whole("find neighbours")
        for token, reason in self.reasons(tokens).items():
            raise InputError(f"{token!r} has no neighbours in {self.name}: {reason}.")
        return self._nearest(self.vectors(tokens), n, [[token] for token in tokens])

    def nearest(self, vector: np.ndarray, n: int, *, leave_out: Sequence[str] = ()) -> list[tuple[str, float]]:
        """The `n` words with the highest cosine to a vector (not all zeros), as `neighbours` gives them.

        Words that a token of `leave_out` was found as, and markers such as `</s>`, are left out.
        """
        self._check_whole("find neighbours")
        return self._nearest(np.asarray(vector)[None], n, [leave_out])[0]

    def _nearest(
        self, vectors: np.ndarray, n: int, leave_out: Sequence[Sequence[str]]
    ) -> list[list[tuple[str, float]]]:
        markers = self._marker_rows()
        rows_out = [self._positions(words) for words in leave_out]
        left_out = [np.append(markers, rows[rows >= 0]) for rows in rows_out]
        return top_words(self._vocabulary, self._matrix, self._norms, vectors, n, left_out)

    def norms_summary(self) -> NormsSummary:
        """Quantiles of the vectors' lengths, and how many vectors can't be compared."""
        self._check_whole("sum up its vectors")
        return summarise_norms(self._norms)

    def duplicate_vectors(self, limit: int = 20) -> DuplicateVectors:
        """Different words with the same vector, all of them counted and the first `limit` groups listed.

        Vectors that can't be compared are left out. Raises `InputError` if only chosen tokens were loaded.
        """
        self._check_whole("look for equal vectors")
        return same_words(self._vocabulary, self._matrix, self._norms, limit)

    def _cosines(self, rows_a: np.ndarray, rows_b: np.ndarray) -> np.ndarray:
        """Cosines of pairs of rows whose vectors are usable."""
        # Each row is fetched once: rows of a memory map are far dearer than rows in memory.
        rows, places = np.unique(np.concatenate([rows_a, rows_b]), return_inverse=True)
        places_a, places_b = np.split(places, 2)
        return pairwise_cosines(self._matrix[rows], places_a, places_b)


class TokenRows:
    """The rows of tokens in a vocabulary, by a way of looking them up; what was asked once is remembered."""

    def __init__(self, vocabulary: pa.ChunkedArray, look_up: LookUp) -> None:
        self._vocabulary, self._look_up = vocabulary, look_up
        self._found: dict[str, int] = {}

    def rows(self, tokens: Iterable[str]) -> np.ndarray:
        """The row of each token, int64 of shape (n,); −1 where the vocabulary hasn't it, or a mean stands for it."""
        tokens = list(tokens)
        asked = [token for token in dict.fromkeys(tokens) if token not in self._found]
        if asked:
            if len(self._found) + len(asked) > MAX_REMEMBERED:
                self._found.clear()
                asked = list(dict.fromkeys(tokens))
            self._found.update(self._search(asked))
        return np.array([self._found[token] for token in tokens], dtype=np.int64)

    def _search(self, tokens: list[str]) -> dict[str, int]:
        """The row of each of `tokens` (distinct), by one pass over the vocabulary."""
        means_first = not self._look_up.is_whole_first
        options = {
            token: () if means_first and self._look_up.parts(token) else self._look_up.spellings(token)
            for token in tokens
        }
        wanted = list(dict.fromkeys(word for words in options.values() for word in words))
        index = pc.index_in(self._vocabulary, value_set=pa.array(wanted, pa.string()))
        which = pc.fill_null(index, -1).to_numpy()
        rows = np.flatnonzero(which >= 0)
        row_of = {wanted[which[row]]: int(row) for row in rows}
        return {token: next((row_of[word] for word in options[token] if word in row_of), -1) for token in tokens}
