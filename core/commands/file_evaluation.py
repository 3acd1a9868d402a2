"""Models ranked by a dataset's file: the comparison, its intervals, and shares of the best that its votes allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError, RunoffError
from ..evaluation import TOP_K, Model, ModelComparison, compare
from ..evaluation.chance import NO_CEILING, ShareOfCeiling, shares_of
from ..evaluation.compare import ranked_apart
from ..evaluation.figures import FigureSettings
from ..evaluation.sample_size import Needed, VotingScenario, tokens_needed, votes_needed
from ..evaluation.token_intervals import PairwiseDifference, TokenDraws, by_tokens, with_token_intervals
from ..evaluation.vote_intervals import with_intervals
from ..store.projects.records import CampaignRecord
from ..trust.reliability import ceilings
from ..voters.model import Panel
from .figures.evaluation_inputs import KEYS, draws_of
from .recompute import closed_votes_of

Shares = Mapping[str, Sequence[Mapping[str, ShareOfCeiling]]]  # as `chance.shares_of` gives them
Record = CampaignRecord | RunoffError | None  # of a published dataset's campaign, or why it can't be read

VOTES_AN_ITEM, MOST_TIMES = 20, 16


@dataclass(frozen=True)
class FileEvaluation:
    """Models ranked by a file.

    names : of the models, as they were given. draws : of the tokens, None where they weren't asked for or where
    `no_tokens` says why there are none. record : None for a file that isn't a published dataset. shares : from chance
    to the best that its votes allow; `no_ceiling` says why there are none.
    """

    table: pd.DataFrame
    names: Sequence[str]
    comparison: ModelComparison
    draws: TokenDraws | None
    no_tokens: str
    record: Record
    shares: Shares
    no_ceiling: str
    seed: int

    def token_differences(self) -> dict[str, Sequence[PairwiseDifference]]:
        """Of every two models in each figure that tokens were drawn for."""
        if self.draws is None:
            return {}
        return {figure: by_tokens(self.comparison.names, self.draws, figure) for figure in self.draws.estimates}

    def called(self, names: Sequence[str]) -> FileEvaluation:
        """The same with other names of the models in the comparison."""
        models = tuple(replace(e, model=n) for e, n in zip(self.comparison.evaluations, names, strict=True))
        return replace(self, comparison=replace(self.comparison, evaluations=models))

    def over_votes(self) -> tuple[ModelComparison, tuple[Any, ...], str]:
        """The comparison with intervals over voters, what is known of every two models, why there are none or ""."""
        if self.record is None:
            return self.comparison, (), "They need the votes, which only a published zip holds."
        if isinstance(self.record, RunoffError):
            return self.comparison, (), str(self.record)
        try:
            named = self.record.items.set_index("item")[KEYS]
            drawn = draws_of(closed_votes_of(self.record), named, self.seed)
            if drawn.problem:
                return self.comparison, (), drawn.problem
            rows = self.table[self.table["score"].notna()]
            apart: np.ndarray | None = rows["area"].to_numpy() if ranked_apart(self.table) else None
            found, differences = with_intervals(self.comparison, drawn.resampled(rows, apart))
            return found, differences, ""
        except RunoffError as error:
            return self.comparison, (), str(error)


@dataclass(frozen=True)
class FileSettings:
    """How models are held against a file: as in `compare`; `tokens` asks for intervals over tokens, drawn by `seed`."""

    n0: float = 2.0
    notion: str | None = None
    policy: str = "common"
    top: int = TOP_K
    tokens: bool = False
    seed: int = 0


def evaluate_file(
    table: pd.DataFrame, names: Sequence[str], models: Iterable[Model], record: Record, settings: FileSettings
) -> FileEvaluation:
    """Rank models, called `names`, by a dataset's table. Raises `InputError` as `compare` does."""
    comparison = compare(
        table, models, n0=settings.n0, notion=settings.notion, policy=settings.policy, top=settings.top
    )
    draws, no_tokens = None, ""
    if settings.tokens:
        try:
            comparison, draws = with_token_intervals(comparison, rng=np.random.default_rng(settings.seed))
        except RunoffError as error:
            no_tokens = str(error)
    shares, no_ceiling = _shares(record, comparison, settings.seed)
    return FileEvaluation(table, names, comparison, draws, no_tokens, record, shares, no_ceiling, settings.seed)


def _shares(record: Record, comparison: ModelComparison, seed: int) -> tuple[Shares, str]:
    """The models' shares from chance to the best that a published dataset's votes allow, and why there are none."""
    found: dict[str, float] = {}
    why_none = NO_CEILING
    if isinstance(record, RunoffError):
        why_none = f"There is no ceiling: {record}"
    elif record is not None:
        try:
            votes = closed_votes_of(record)
            found = ceilings([(b, v) for _, b, v in votes], n0=comparison.evaluations[0].n0)
            why_none = "" if found else "There is no ceiling: no ballot is closed."
        except RunoffError as error:
            why_none = f"There is no ceiling: {error}"
    return shares_of(comparison, found, why_none=why_none, seed=seed), why_none


def needed_of(
    comparison: ModelComparison, figure: str, seed: int, votes: int, most: int, panel: Panel
) -> tuple[list[Needed], list[str]]:
    """What tells the first two models apart, over the items that all cover, and what can't be told.

    votes : where the search begins, 0 for 20 per item; most : the most votes that are tried, 0 for 16 times as many.
    Raises `InputError` for fewer than two models.
    """
    if len(comparison.evaluations) < 2:
        raise InputError("--needed compares two models; name a second one.")
    every = np.logical_and.reduce([~np.isnan(e.values) for e in comparison.evaluations])
    first = comparison.evaluations[0]
    pairs = first.pairs[every]
    models = first.values[every], comparison.evaluations[1].values[every]
    start = votes or VOTES_AN_ITEM * len(pairs)
    n_ballots = max(1, min(7, int(np.log2(max(len(pairs), 2) / 2)) + 1))
    voting = VotingScenario(panel, n_ballots=n_ballots, notion=first.notion)
    settings = FigureSettings((figure,), first.n0, first.overall.top or TOP_K, comparison.apart)
    rng = np.random.default_rng(seed)

    def by_votes() -> Needed:
        if comparison.apart:
            raise InputError("Votes needed are simulated for one ranking; here each area has its own.")
        scores = pairs["score"].to_numpy(dtype=np.float64)
        bounds = (start, most or MOST_TIMES * start)
        return votes_needed(scores, models, settings, votes=bounds, voting=voting, rng=rng)

    estimates, problems = [], []
    for search in (by_votes, lambda: tokens_needed(pairs, models, settings, rng=rng)):
        try:
            estimates.append(search())
        except RunoffError as error:
            problems.append(str(error))
    return estimates, problems
