"""The facts that a datasheet is made from: figures of the project, and what only its owner can say.

Each figure comes with the number behind it; None where unknown. The owner says title, authors, licence, purpose,
consent, and how the dataset is split.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from ...errors import InputError, Issue
from ...scores.reliability import COIN_TOSSES
from ...tabular.json_files import known_values
from ...trust.agreement import KrippendorffAlpha

# By the names that Hugging Face uses, so that its card says the same: name for people, address of the text.
LICENCES = {
    "": ("not chosen yet", ""),
    "cc-by-4.0": ("Creative Commons Attribution 4.0", "https://creativecommons.org/licenses/by/4.0/"),
    "cc-by-sa-4.0": ("Creative Commons Attribution-ShareAlike 4.0", "https://creativecommons.org/licenses/by-sa/4.0/"),
    "cc-by-nc-4.0": (
        "Creative Commons Attribution-NonCommercial 4.0",
        "https://creativecommons.org/licenses/by-nc/4.0/",
    ),
    "cc0-1.0": ("Creative Commons Zero 1.0 (public domain)", "https://creativecommons.org/publicdomain/zero/1.0/"),
    "odc-by": ("Open Data Commons Attribution", "https://opendatacommons.org/licenses/by/1-0/"),
    "odbl": ("Open Data Commons Open Database License", "https://opendatacommons.org/licenses/odbl/1-0/"),
    "mit": ("MIT License", "https://opensource.org/license/mit"),
    "other": ("another one, see the licence note", ""),
}
MAX_TEXT, MAX_LINE = 4000, 300
_LINES = ("title", "authors", "language", "contact")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


@dataclass(frozen=True)
class SheetFields:
    """The owner's words; "" where nothing was said. `dev_share` is the share of tokens in dev, 0 for no split."""

    title: str = ""
    authors: str = ""
    licence: str = ""  # a key of LICENCES
    licence_note: str = ""
    language: str = ""  # a tag such as en or pt-BR
    purpose: str = ""
    token_source: str = ""
    voters_note: str = ""
    consent: str = ""
    contact: str = ""
    funding: str = ""
    citation: str = ""
    dev_share: float = 0.0
    split_seed: int = 0

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None) -> SheetFields:
        """The fields as JSON keeps them; names that this version doesn't know are left alone."""
        return cls(**known_values(cls, stored or {}))

    def stored(self) -> dict[str, Any]:
        """What JSON keeps: the fields that say something."""
        empty = asdict(SheetFields())
        return {name: value for name, value in asdict(self).items() if value != empty[name]}

    @property
    def licence_said(self) -> str:
        """The licence in words, with the owner's note."""
        name, address = LICENCES[self.licence]
        named = f"{name} ({address})" if address else name
        return " ".join(part for part in (named, self.licence_note) if part)

    @property
    def missing(self) -> tuple[str, ...]:
        """The fields that a reader would look for first and that say nothing yet."""
        labels = {
            "title": "title",
            "authors": "authors",
            "licence": "licence",
            "language": "language",
            "purpose": "purpose",
            "consent": "consent and ethics",
            "contact": "contact",
        }
        return tuple(label for name, label in labels.items() if not getattr(self, name))


def check_fields(found: SheetFields) -> SheetFields:
    """The fields as they are stored: white space at ends gone; `InputError` with every field that can't be."""
    texts = {name: value.replace("\r\n", "\n").strip() for name, value in vars(found).items() if isinstance(value, str)}
    issues = []
    for name, value in texts.items():
        most = MAX_LINE if name in _LINES else MAX_TEXT
        if len(value) > most:
            issues.append(Issue(f"has {len(value):,} characters; {most:,} are allowed", column=name))
        if name in _LINES and "\n" in value:
            issues.append(Issue("must be one line", column=name))
        if any(not (char.isprintable() or char in "\n\t") for char in value):
            issues.append(Issue("holds a character that can't be printed", column=name))
    if found.licence not in LICENCES:
        issues.append(Issue("is not one of the licences offered", column="licence", found=found.licence))
    if texts["language"] and not _LANGUAGE.fullmatch(texts["language"]):
        what = "must be a language tag, such as en, it or pt-BR"
        issues.append(Issue(what, column="language", found=texts["language"]))
    if not 0 <= found.dev_share <= 0.9:
        issues.append(Issue("must lie between 0 (no split) and 0.9", column="dev_share", found=f"{found.dev_share:g}"))
    if not 0 <= found.split_seed < 2**31:
        issues.append(Issue("must be a whole number, 0 or more", column="split_seed", found=str(found.split_seed)))
    if issues:
        raise InputError("The datasheet can't be saved like this.", issues)
    return SheetFields(**{**vars(found), **texts})


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
    """One ranking: over all areas (area ""), or of one."""

    area: str
    protocol: str
    plan: dict[str, Any]
    ballots: tuple[BallotFacts, ...]
    alpha: KrippendorffAlpha | None
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
    def ranks_nothing(self) -> str:
        """That the votes can't be told from coin tosses, as a sentence; "" where voters share an opinion."""
        sentence = f"{COIN_TOSSES[:1].upper()}{COIN_TOSSES[1:]}, so the scores rank nothing."
        return sentence if self.about.get("by_chance") else ""

    @property
    def is_provisional(self) -> bool:
        return bool(self.about["provisional"])

    @property
    def n_tokens(self) -> int:
        return sum(area.n_tokens for area in self.areas)
