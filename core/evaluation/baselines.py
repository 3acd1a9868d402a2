"""Baselines for every table of models: rankings that know nothing of meaning, for tokens and for texts of any size.

For tokens they are a random ranking, and three similarities of spellings, which see no more of a token than its
letters. A text that an embedding of words lacks is the mean of its words' vectors.

For texts they are the letter baselines of cross-level similarity, a floor for every model:

* **LCS**: the longest run of letters in both, divided by the length of the shorter text: how much of the smaller text
  stands in the larger.
* **Greedy string tiling**: again and again the longest run of at least six letters in both that isn't covered yet is
  covered on both sides; 2 · covered / (length of both). Unlike LCS it follows parts that changed places.

Letters are compared after case folding, white space counts as one space; 1 is equal, 0 nothing in common.

References: Jurgens, Pilehvar, Navigli (2016), Cross Level Semantic Similarity (both as baselines, minimum 6); Wise
(1996), YAP3: improved detection of similarities in computer program and other texts, SIGCSE (tiling). The first
normalises LCS by the length of the items, after Clough and Stevenson (2011), who divide by that of one given text;
dividing by the shorter, so that it doesn't matter which text stands first, is our reading of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rapidfuzz.distance import JaroWinkler

from ..embeddings import Embedding, EmbeddingInfo
from ..errors import InputError
from ..metrics import rounded_scores
from .compare import evaluate, ranked_apart
from .figures import NAMES, TOP_K, correlations
from .results import Correlations, FigureEstimate

LEVEL = 0.9
DRAWS = 200
WORK = 400_000
MOST_PAIRS = 200_000  # beyond them spellings take longer than a page may


def common_substring(a: str, b: str) -> float:
    """Twice the length of the longest common substring over the lengths of both, from 0 to 1. For texts the field
    divides by the shorter: `longest_common_substring`.

    >>> common_substring("parenthood", "parental")
    0.6666666666666666
    """
    return 2 * longest_run(a, b) / (len(a) + len(b)) if a and b else 0.0


def jaro_winkler(a: str, b: str) -> float:
    """The Jaro–Winkler similarity, from 0 to 1. Reference: Winkler (1990), String comparator metrics and enhanced
    decision rules in the Fellegi–Sunter model of record linkage, Proceedings of the ASA Section on Survey Research
    Methods.

    >>> round(jaro_winkler("MARTHA", "MARHTA"), 3)
    0.961
    """
    return float(JaroWinkler.similarity(a, b))


@cache
def _grams(token: str) -> tuple[Counter[str], float]:
    marked = f"<{token}>"
    counts = Counter(marked[start : start + n] for n in (2, 3) for start in range(len(marked) - n + 1))
    return counts, sqrt(sum(count * count for count in counts.values()))


def character_ngrams(a: str, b: str) -> float:
    """The cosine of the counts of their n-grams of 2 and 3 characters, "<" and ">" marking the ends; from 0 to 1.

    >>> round(character_ngrams("sea", "seas"), 3)
    0.63
    """
    (first, one), (second, other) = _grams(a), _grams(b)
    return sum(count * second[gram] for gram, count in first.items()) / (one * other)


SPELLINGS: Mapping[str, Callable[[str, str], float]] = {
    "longest common substring": common_substring,
    "Jaro–Winkler": jaro_winkler,
    "character n-grams": character_ngrams,
}


class Spelling:
    """A similarity of spellings as a model; letters are compared without regard to case."""

    def __init__(self, name: str) -> None:
        if name not in SPELLINGS:
            raise InputError(f"A similarity of spellings is one of {', '.join(SPELLINGS)}; found {name!r}.")
        self.name = name
        self.info = EmbeddingInfo("spelling", 0, 0, name, name, 0, kind="similarities")

    def cosines(self, a_tokens: Sequence[str], b_tokens: Sequence[str]) -> np.ndarray:
        """Similarities of pairs of tokens, (n,), from 0 to 1; raises `InputError` for more than 200,000."""
        if len(a_tokens) > MOST_PAIRS:
            raise InputError(f"Spellings are compared for up to {MOST_PAIRS:,} items; these are {len(a_tokens):,}.")
        of = SPELLINGS[self.name]
        pairs = zip(a_tokens, b_tokens, strict=True)
        return rounded_scores([of(*sorted((a.casefold(), b.casefold()))) for a, b in pairs], largest=1)

    def reasons(self, tokens: Iterable[str]) -> Mapping[str, str]:
        """Every token has a spelling, so that none is missing."""
        return {}

    def found_as(self, tokens: Sequence[str]) -> list[str]:
        return list(tokens)


@dataclass(frozen=True)
class RandomRanking:
    """What rankings of the items by chance get: `expected` has the mean of each figure, with the middle 90% as bounds.

    Of `draws` seeded rankings. ρ_w and τ_w of chance lie below 0 on average: an item at the top of only one of two
    rankings weighs much.
    """

    expected: Correlations
    draws: int


def random_ranking(
    pairs: pd.DataFrame,
    *,
    n0: float = 2.0,
    top: int = TOP_K,
    apart: bool = False,
    draws: int = 0,
    rng: np.random.Generator,
) -> RandomRanking:
    """Figures of random rankings of items, by their score and (where `apart`) area; a figure undefined in one isn't
    told. `draws` of 0 takes 200 for up to 2,000 items, and fewer for more."""
    scores = pairs["score"].to_numpy(dtype=np.float64)
    areas = pairs["area"].to_numpy() if apart else None
    times = draws or int(np.clip(WORK // max(len(scores), 1), 10, DRAWS))
    draws_of: dict[str, list[float | None]] = {name: [] for name in NAMES}
    for _ in range(times):
        drawn = correlations(scores, rng.permutation(len(scores)).astype(np.float64), n0=n0, top=top, apart=areas)
        for name in NAMES:
            draws_of[name].append(getattr(drawn, name).estimate)
    rho_w, tau_w, rho, tau, linear, precision = (_expected(draws_of[name]) for name in NAMES)
    n, n_areas = len(scores), len(set(areas)) if areas is not None else 0
    return RandomRanking(Correlations(n, n, rho_w, tau_w, rho, tau, n_areas, linear, precision, top), times)


RANDOM, SPELLING = "a random ranking", "spelling: "  # what the rows of baselines are called


@dataclass(frozen=True)
class Baselines:
    """The figures of each baseline by its name, the random ranking first; `problem` says why there are no more."""

    rows: tuple[tuple[str, Correlations], ...]
    problem: str = ""


def baselines(
    dataset: pd.DataFrame,
    *,
    n0: float = 2.0,
    top: int = TOP_K,
    rng: np.random.Generator,
    progress: Callable[[int, int], object] | None = None,
) -> Baselines:
    """A random ranking and the similarities of spellings over a dataset's items (schema `tables.DATASET`).

    `progress` is told how many of how many are done. Raises `InputError` as `compare.evaluate`.
    """
    scored = dataset[dataset["score"].notna()]
    drawn = random_ranking(scored, n0=n0, top=top, apart=ranked_apart(dataset), rng=rng)
    rows = [(RANDOM, drawn.expected)]
    try:
        for name in SPELLINGS:
            if progress is not None:
                progress(len(rows), 1 + len(SPELLINGS))
            evaluated = evaluate(dataset, Spelling(name), n0=n0, notion="similarity", top=top)
            rows.append((f"{SPELLING}{name}", evaluated.overall))
    except InputError as error:
        return Baselines(tuple(rows), str(error))
    return Baselines(tuple(rows))


def _expected(values: Sequence[float | None]) -> FigureEstimate:
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return FigureEstimate(None, reason="It is undefined for a random ranking of these items.")
    lower, upper = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return FigureEstimate(float(np.mean(known)), lower, upper)


_WORD = re.compile(r"\w+(?:['’\-]\w+)*")


def words_of(texts: Iterable[str]) -> set[str]:
    """All that `text_similarities` looks up: the texts themselves, their words, and these in lower case."""
    whole = set(texts)
    words = {word for text in whole for word in _WORD.findall(text)}
    return whole | words | {word.lower() for word in words}


def text_similarities(embedding: Embedding, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
    """Cosines of equally many first and second texts, −1 to 1, NaN where there is none.

    A text that the embedding knows as a whole is looked up so; else the vectors of its words, in lower case where only
    that is known, are averaged, words that it lacks left out. NaN for a text without a known word, or a mean of zeros.
    A table of similarities gives those of whole texts only.
    """
    if embedding.kind != "vectors":
        return embedding.cosines(first, second)
    texts = list(dict.fromkeys([*first, *second]))
    vectors = embedding.vectors(texts).astype(np.float64)
    lacking = np.flatnonzero(np.isnan(vectors).any(axis=1)).tolist()
    parts = {at: _WORD.findall(texts[at]) for at in lacking}
    words = list(dict.fromkeys(word for some in parts.values() for each in some for word in (each, each.lower())))
    of_word = dict(zip(words, embedding.vectors(words).astype(np.float64), strict=True)) if words else {}
    for at, some in parts.items():
        known = [next((v for v in (of_word[w], of_word[w.lower()]) if np.isfinite(v).all()), None) for w in some]
        there = [vector for vector in known if vector is not None]
        if there:
            vectors[at] = np.mean(there, axis=0)
    norms = np.linalg.norm(vectors, axis=1)
    place = {text: at for at, text in enumerate(texts)}
    a, b = (np.array([place[text] for text in side], dtype=np.int64) for side in (first, second))
    usable = (norms[a] > 0) & (norms[b] > 0)
    result = np.full(len(a), np.nan)
    products = np.einsum("ij,ij->i", vectors[a[usable]], vectors[b[usable]])
    result[usable] = rounded_scores(np.clip(products / (norms[a[usable]] * norms[b[usable]]), -1, 1), largest=1)
    return result


MINIMUM_MATCH = 6


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _letters(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(_plain(text).encode("utf-32-le"), dtype=np.uint32)


def _runs(one: NDArray[np.uint32], other: NDArray[np.uint32], free: tuple[NDArray, NDArray]) -> NDArray[np.int32]:
    """Length of the run of equal uncovered letters that ends at each pair of places, shape (len(one), len(other))."""
    result = np.zeros((len(one) + 1, len(other) + 1), dtype=np.int32)
    for place in range(len(one)):
        if free[0][place]:
            equal = (other == one[place]) & free[1]
            result[place + 1, 1:] = np.where(equal, result[place, :-1] + 1, 0)
    return result[1:, 1:]


def longest_run(one: str, other: str) -> int:
    """The length of the longest run of letters that stands in both, letters as they are.

    >>> longest_run("parenthood", "parental")
    6
    """
    longest, before = 0, [0] * (len(other) + 1)
    for letter in one:
        row = [0, *(before[place] + 1 if letter == each else 0 for place, each in enumerate(other))]
        longest, before = max(longest, max(row)), row
    return longest


def longest_common_substring(one: str, other: str) -> float:
    """Length of the longest run of letters in both / length of the shorter; 0 where a text is empty. Tokens are
    compared by `common_substring`, over the lengths of both.

    >>> longest_common_substring("The warm coat", "warm  COATS")
    0.9
    """
    a, b = _plain(one), _plain(other)
    return longest_run(a, b) / min(len(a), len(b)) if a and b else 0.0


def greedy_string_tiling(one: str, other: str, *, minimum: int = MINIMUM_MATCH) -> float:
    """2 · letters covered by common runs of at least `minimum` / letters of both; 0 where a text is empty.

    >>> greedy_string_tiling("winter storm", "storm winter", minimum=5)  # "winter" and "storm" of 12 + 12 letters
    0.9166666666666666
    """
    a, b = _letters(one), _letters(other)
    if not len(a) or not len(b):
        return 0.0
    free = np.ones(len(a), dtype=bool), np.ones(len(b), dtype=bool)
    covered = 0
    while True:
        runs = _runs(a, b, free)
        longest = int(runs.max())
        if longest < minimum:
            return 2 * covered / (len(a) + len(b))
        for i, j in np.argwhere(runs == longest).tolist():
            mine, theirs = slice(i - longest + 1, i + 1), slice(j - longest + 1, j + 1)
            if free[0][mine].all() and free[1][theirs].all():
                free[0][mine], free[1][theirs] = False, False
                covered += longest


BASELINES: dict[str, Callable[[str, str], float]] = {
    "longest common substring": longest_common_substring,
    "greedy string tiling": greedy_string_tiling,
}


def baseline(name: str, one: Sequence[str], other: Sequence[str]) -> NDArray[np.float64]:
    """One of `BASELINES` for equally many texts."""
    return np.array([BASELINES[name](a, b) for a, b in zip(one, other, strict=True)])
