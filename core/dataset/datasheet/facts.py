"""What a datasheet is made from: the project's own figures, each with the number behind it; None where unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ...trust.agreement import Agreement
from .fields import SheetFields


@dataclass(frozen=True)
class AreaFacts:
    """An area: its tokens, those that an embedding proposed, those that are rare (None: not known), its items."""

    name: str
    n_tokens: int
    n_proposed: int
    n_rare: int | None
    n_items: int


@dataclass(frozen=True)
class BallotFacts:
    """A ballot as it was drawn and answered; number 0 is a pilot."""

    number: int
    protocol: str
    state: str
    n_items: int
    appearances: int
    n_comparisons: int
    n_votes: int
    drawn: str
    closed: str
    slope: float | None


@dataclass(frozen=True)
class Reliability:
    """A mean correlation over `n` repetitions, or why there is none."""

    value: float | None
    n: int
    why_not: str = ""


@dataclass(frozen=True)
class FigureScale:
    """Between what ends a model's figure (ρ_w or τ_w, at n₀ = 2) lies, over `n_items`: `chance`, the mean of random
    rankings, and `ceiling`, what a model with the true ranking gets; None, and why, for what there isn't."""

    figure: str
    n_items: int
    chance: float | None
    ceiling: float | None
    n_permutations: int = 0
    n_simulations: int = 0
    why_not: str = ""


@dataclass(frozen=True)
class BaselineFacts:
    """What a ranking that knows nothing of meaning gets over all items: ρ_w, τ_w, ρ and τ, at n₀ = 2; None where a
    figure is undefined."""

    name: str
    figures: tuple[float | None, ...]


@dataclass(frozen=True)
class RankingFacts:
    """One ranking: over all areas (area ""), or of one. `pay` is of its plan."""

    area: str
    protocol: str
    plan: dict[str, Any]
    ballots: tuple[BallotFacts, ...]
    alpha: Agreement | None
    no_alpha: str
    halves: Reliability
    ceiling: Reliability
    interval_note: str
    scales: tuple[FigureScale, ...] = ()


@dataclass(frozen=True)
class VoterFacts:
    """Who voted: people and simulated voters with a counted vote, by platform, what they told of themselves as totals,
    the largest share of one voter in the counted votes, and 1/Σp², the effective number of voters."""

    n_people: int
    n_simulated: int
    platforms: tuple[tuple[str, str, int], ...]
    traits: tuple[tuple[str, str, int], ...]
    largest_share: float | None
    effective: float | None


@dataclass(frozen=True)
class VoteFacts:
    """Answers to main comparisons by their status, counted ties, the median seconds of a counted answer with their
    number, comparisons with a known answer and the right and wrong answers to them, other checks (repeats and such),
    comparisons that several voters answered."""

    by_status: dict[str, int]
    n_ties: int
    seconds: float | None
    n_timed: int
    n_checks: int
    check_right: int
    check_wrong: int
    n_other_checks: int
    n_overlapping: int

    @property
    def n_counted(self) -> int:
        return self.by_status.get("counted", 0)


@dataclass(frozen=True)
class ExclusionFacts:
    """Voters left out for one reason, and the answers that don't count because of it."""

    reason: str
    n_voters: int


@dataclass(frozen=True, eq=False)
class Facts:
    """All of it. `about` is the dataset's description, `dataset` its rows; `spellings` are ways in which the compared
    embeddings spell its tokens, each a mapping of those that it spells otherwise."""

    fields: SheetFields
    version: str
    runoff: str
    dataset: pd.DataFrame
    about: dict[str, Any]
    kind: str
    seed: int
    areas: tuple[AreaFacts, ...]
    n_items: int
    item_rules: str
    frequencies: str
    proposed_by: tuple[tuple[str, int], ...]
    question: str
    instructions: str
    n_examples: int
    rankings: tuple[RankingFacts, ...]
    voters: VoterFacts
    votes: VoteFacts
    exclusions: tuple[ExclusionFacts, ...]
    split: dict[str, int] | None
    left_out_formats: dict[str, str]
    spellings: tuple[Mapping[str, str], ...] = ()
    baselines: tuple[BaselineFacts, ...] = ()
    why_no_baselines: str = ""

    @property
    def title(self) -> str:
        return self.fields.title or str(self.about["project"])

    @property
    def protocols(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(ranking.protocol for ranking in self.rankings))

    @property
    def is_provisional(self) -> bool:
        return bool(self.about["provisional"])

    @property
    def n_tokens(self) -> int:
        return sum(area.n_tokens for area in self.areas)
