"""The schemes compared for a project's items or a number of tokens: what is asked, and the answer."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...errors import InputError
from ...questions.best_worst.tuples import SIZE
from ...simulation.scheme_table import SchemeRow, compare_schemes
from ...simulation.schemes import Question, Times, groups_of_tokens
from ..engine import Store
from ..tokens.areas import items_of
from .forecasts import DISTRIBUTIONS, GuessSource, cosines_of, read_guess

MOST_ITEMS = 1000  # that are simulated; more are stood for by a sample
MOST_TOKENS = 200
SEED = 2020


@dataclass(frozen=True)
class SchemeQuestion:
    """What is compared. tokens : 0 for the project's own items, else so many tokens, all of whose pairs are items.

    hours : person-hours of every scheme; read, decide : seconds; source : guess of similarities and voters.
    """

    area_id: int | None
    tokens: int
    hours: float
    read: float
    decide: float
    simulations: int
    source: GuessSource

    def __post_init__(self) -> None:
        Times(self.read, self.decide)
        if not (math.isfinite(self.hours) and self.hours > 0 and self.simulations >= 1):
            raise InputError("Hours must be above 0, and there must be at least one simulation.")
        if self.tokens and not 4 <= self.tokens <= MOST_TOKENS:
            raise InputError(f"Tokens must be 4 to {MOST_TOKENS}, found {self.tokens}.")

    def digest(self, store: Store, project_id: str) -> str:
        """Tells the items from others."""
        first, second = self.pairs(store, project_id)
        return hashlib.sha256("\n".join(map("\t".join, zip(first, second, strict=True))).encode()).hexdigest()[:16]

    def pairs(self, store: Store, project_id: str) -> tuple[list[str], list[str]]:
        """First and second tokens of the items."""
        if self.tokens:
            pairs = list(combinations([f"t{number}" for number in range(self.tokens)], 2))
            return [a for a, _ in pairs], [b for _, b in pairs]
        with store.read() as conn:
            items = items_of(conn, project_id, area_id=self.area_id)
        return items["token_a"].tolist(), items["token_b"].tolist()

    def similarities(self, store: Store, project_id: str, n: int, rng: np.random.Generator) -> np.ndarray:
        """z of the items: a distribution's values in a drawn order, or the embedding's cosines, gaps filled."""
        is_embedding = self.source.similarity not in DISTRIBUTIONS
        if not self.tokens and is_embedding:
            z = cosines_of(store, project_id, self.source.similarity, self.area_id)
            gaps = np.isnan(z)
            z[gaps] = rng.permutation(np.quantile(z[~gaps], (np.arange(gaps.sum()) + 0.5) / max(gaps.sum(), 1)))
            return np.asarray(z)
        if is_embedding:
            z = read_guess(store, project_id, self.area_id, self.source).similarity
            return rng.permutation(np.quantile(z, (np.arange(n) + 0.5) / n))
        return rng.permutation(DISTRIBUTIONS[self.source.similarity](n))


def share_simulated(n_items: int) -> float:
    """The share of the items that is simulated, with the same share of the hours: 1 for up to 1,000."""
    return min(1.0, MOST_ITEMS / max(n_items, 1))


def run_schemes(
    store: Store,
    project_id: str,
    asked: SchemeQuestion,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[SchemeRow]:
    """Compare the schemes; raises `InputError` for fewer than four items."""
    rng = np.random.default_rng(SEED)
    a, b = asked.pairs(store, project_id)
    if len(a) < SIZE:
        raise InputError(f"Schemes are compared over at least {SIZE} items, found {len(a)}. State a number of tokens.")
    z = asked.similarities(store, project_id, len(a), rng)
    share = share_simulated(len(a))
    kept = np.sort(rng.permutation(len(a))[:MOST_ITEMS]).tolist() if share < 1 else range(len(a))
    groups = groups_of_tokens([a[at] for at in kept], [b[at] for at in kept], rng=rng)
    question = Question(z[list(kept)], groups, asked.hours * 3600 * share, Times(asked.read, asked.decide))
    return compare_schemes(
        question, simulations=asked.simulations, seed=SEED, panel=asked.source.panel, progress=progress
    )
