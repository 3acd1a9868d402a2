"""What every table of models needs at its foot: rankings that know nothing of meaning.

A random ranking, and three similarities of spellings, which see no more of a token than its letters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt

import numpy as np
import pandas as pd
from rapidfuzz.distance import JaroWinkler

from ..embeddings import EmbeddingInfo
from ..errors import InputError
from ..metrics import rounded_scores
from .compare import evaluate, ranked_apart
from .figures import NAMES, TOP_K, correlations
from .ratings.text_overlap import longest_run
from .results import Correlations, FigureEstimate

LEVEL = 0.9
DRAWS = 200
WORK = 400_000
MOST_PAIRS = 200_000  # beyond them spellings take longer than a page may


def common_substring(a: str, b: str) -> float:
    """Twice the length of the longest common substring over the lengths of both, from 0 to 1.

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
    """What rankings of the items by chance get: `expected` has the mean of each figure, with the middle 90 % as bounds.

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
    found: dict[str, list[float | None]] = {name: [] for name in NAMES}
    for _ in range(times):
        drawn = correlations(scores, rng.permutation(len(scores)).astype(np.float64), n0=n0, top=top, apart=areas)
        for name in NAMES:
            found[name].append(getattr(drawn, name).estimate)
    rho_w, tau_w, rho, tau, linear, precision = (_expected(found[name]) for name in NAMES)
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
            found = evaluate(dataset, Spelling(name), n0=n0, notion="similarity", top=top)
            rows.append((f"{SPELLING}{name}", found.overall))
    except InputError as error:
        return Baselines(tuple(rows), str(error))
    return Baselines(tuple(rows))


def _expected(values: Sequence[float | None]) -> FigureEstimate:
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return FigureEstimate(None, reason="It is undefined for a random ranking of these items.")
    lower, upper = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return FigureEstimate(float(np.mean(known)), lower, upper)
