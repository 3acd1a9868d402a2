"""How tokens are looked up in an embedding: in lower case too or not, and what stands for a token of several words.

Case is kept unless lower case is asked for; then it is tried only where the vocabulary has no spelling of the token's
own case.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

import numpy as np

from ..errors import InputError

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
            found = [joined]
        else:
            found = [token, composed, unicodedata.normalize("NFD", token), composed.replace(" ", "_")]
        if self.lower:
            found += [unicodedata.normalize("NFC", text.lower()) for text in found]
        return tuple(dict.fromkeys(found))

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
    found = dict(zip(words, spelling(words), strict=True))
    return [" + ".join(found[word] or f"{word} (n-grams)" for word in some) for some in parts]
