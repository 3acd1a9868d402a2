"""Tokens of several words against an embedding: as they are, with "_" between the words, or the mean of their parts."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .errors import InputError
from .tables import Schema

if TYPE_CHECKING:
    from .embeddings import Embedding

Mode = Literal["as they are", "underscore", "mean of parts"]
MODES: Mapping[Mode, str] = {
    "as they are": "looked up as they are written, with their spaces",
    "underscore": "looked up with “_” in place of each space",
    "mean of parts": "the mean of their words' vectors, all of which must be in the vocabulary",
}
SUBWORDS = "n-grams"

# `found_as`: the word of the vocabulary, the parts joined by " + ", or "n-grams"; "" where there is no vector, and
# `reason` then says why.
RESOLVED = Schema("tokens in an embedding", {"token": "text", "found_as": "text", "reason": "text"})


@dataclass(frozen=True, eq=False)
class Resolved:
    """Tokens as an embedding has them: `table` (see `RESOLVED`), one row a token in the order given, and `vectors`
    (n_tokens × dimensions, float32), a row of NaN where there is none."""

    mode: Mode
    table: pd.DataFrame
    vectors: NDArray[np.float32]

    @property
    def n_found(self) -> int:
        return int((self.table["reason"] == "").sum())

    def vector(self, token: str) -> NDArray[np.float32] | None:
        """The vector of a token, None where it has none; raises `InputError` for another token."""
        places = np.flatnonzero((self.table["token"] == token).to_numpy())
        if not len(places):
            raise InputError(f"{token!r} is not among the tokens that were looked up.")
        place = int(places[0])
        return None if self.table["reason"].iat[place] else self.vectors[place]


def parts_of(token: str) -> list[str]:
    """The words of a token: what stands between its spaces and "_"; hyphens stay.

    >>> parts_of("on-line machine_learning")
    ['on-line', 'machine', 'learning']
    """
    return token.replace("_", " ").split()


def resolve(tokens: Sequence[str], embedding: Embedding, mode: Mode) -> Resolved:
    """Look the tokens up in an embedding; the mode only matters for tokens of several words (see `MODES`).

    The mean is that of the vectors as they are (not of unit vectors), taken in float64; a part that has no usable
    vector leaves the token without one. Words that a fastText model makes of n-grams count as found.
    Raises `InputError` for another mode, and for similarities of pairs, which have no vectors.
    """
    if mode not in MODES:
        raise InputError(f"Tokens of several words are looked up {', or '.join(MODES)}; not {mode!r}.")
    look = _Look(tokens, embedding, mode)
    rows = [(token, *look.table_row(token)) for token in tokens]
    frame = pd.DataFrame(rows, columns=list(RESOLVED.columns)).astype("str")
    vectors = [look.vector(token) for token in tokens]
    matrix = np.array(vectors, dtype=np.float32).reshape(len(tokens), embedding.dimensions)
    return Resolved(mode, RESOLVED.check(frame), matrix)


class _Look:
    """One look-up of all that the tokens need."""

    def __init__(self, tokens: Sequence[str], embedding: Embedding, mode: Mode) -> None:
        self.mode = mode
        self.words = {token: self._wanted(token) for token in dict.fromkeys(tokens)}
        asked = list(dict.fromkeys(word for words in self.words.values() for word in words))
        self.at = {word: place for place, word in enumerate(asked)}
        self.vectors = embedding.vectors(asked).astype(np.float64)
        self.reasons = embedding.reasons(asked)
        self.spelling = dict(zip(asked, embedding.spelling(asked), strict=True))
        self.means = {token: self._mean(words) for token, words in self.words.items()}

    def _wanted(self, token: str) -> list[str]:
        parts = parts_of(token)
        if self.mode == "as they are" or len(parts) < 2:
            return [token]
        return ["_".join(token.split())] if self.mode == "underscore" else parts

    def _problem(self, word: str) -> str:
        """Why a word that is looked up has no vector, "" where it has one."""
        if word in self.reasons:
            return self.reasons[word]
        found = self.spelling[word]
        # The embedding itself tries "_" for spaces; here that is another mode's.
        if self.mode == "as they are" and found and found not in (word, unicodedata.normalize("NFC", word)):
            return f"in the vocabulary only as {found}"
        return ""

    def _mean(self, words: list[str]) -> tuple[NDArray[np.float64], str]:
        problems = [(word, problem) for word in words if (problem := self._problem(word))]
        nothing = np.full(self.vectors.shape[1], np.nan)
        if len(words) == 1:
            return (nothing, problems[0][1]) if problems else (self.vectors[self.at[words[0]]], "")
        if problems:
            return nothing, "; ".join(f"its part {word}: {problem}" for word, problem in dict(problems).items())
        mean = self.vectors[[self.at[word] for word in words]].mean(axis=0)
        return (mean, "") if np.abs(mean).max() > 0 else (nothing, "the vectors of its parts cancel out")

    def table_row(self, token: str) -> tuple[str, str]:
        """How a token was found, and why not."""
        reason = self.means[token][1]
        found = " + ".join(self.spelling[word] or f"{word} ({SUBWORDS})" for word in self.words[token])
        return ("", reason) if reason else (found, "")

    def vector(self, token: str) -> NDArray[np.float64]:
        return self.means[token][0]
