"""Scores of resampled voters behind the project's dataset, a column per item."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ...base.progress import Progress, split
from ...errors import RunoffError
from ...evaluation.intervals import WHY_NOT_PAPER
from ...evaluation.resampled import ScoreDraws, draw_scores, number_of_resamples
from ...protocols import protocol_of
from ...store import Store
from ...store.command import project_row
from ...store.projects.rankings import read_rankings
from ...store.tokens.areas import items_of
from ...store.votes.tallies import closed_votes

KEYS = ["area", "token_a", "token_b"]
NOT_CLOSED = "Intervals come once a ballot is closed."


@dataclass(frozen=True, eq=False)
class DatasetDraws:
    """The draws of a ranking, or of all rankings that have a closed ballot.

    `items` has area, token_a, token_b of each column of `drawn` (resamples, n).
    `problem` says why there are none, or "".
    """

    items: pd.DataFrame
    drawn: np.ndarray
    problem: str = ""

    def columns_of(self, dataset: pd.DataFrame) -> np.ndarray:
        """`drawn` with its columns as the rows of a dataset, NaN where a row has none."""
        at = pd.Series(np.arange(len(self.items)), index=pd.MultiIndex.from_frame(self.items[KEYS]))
        found = at.reindex(pd.MultiIndex.from_frame(dataset[KEYS])).to_numpy()
        result = np.full((len(self.drawn), len(dataset)), np.nan)
        known = ~np.isnan(found)
        result[:, known] = self.drawn[:, found[known].astype(int)]
        return result


def load(store: Store, project_id: str, resamples: int = 0, *, progress: Progress | None = None) -> DatasetDraws:
    """Resample the voters behind the dataset, `resamples` times, or as often as `number_of_resamples` says for 0.

    None where a protocol is the paper's (`evaluation_intervals` says why). Takes some 20 ms a resample for 20,000
    votes. Where each area has a ranking of its own, voters are drawn for each area apart. Errors that votes cause
    are told in `problem`, and to `progress` how far it is.
    """
    with store.read() as conn:
        seed = project_row(conn, project_id).seed
    found: list[ScoreDraws] = []
    tables = []
    items = DatasetDraws(pd.DataFrame(columns=KEYS), np.empty((0, 0)))
    rankings = read_rankings(store, project_id)
    every = [(ranking.area, *closed_votes(store, project_id, ranking.area_id)) for ranking in rankings]
    parts = [part for part in every if part[1]]
    if not parts:
        return replace(items, problem=NOT_CLOSED)
    if any(protocol_of(ballots[-1].protocol).about.rescales for _, ballots, _ in parts):
        return replace(items, problem=WHY_NOT_PAPER)
    times = resamples or number_of_resamples(sum(len(ballot.first) for _, _, votes in parts for ballot in votes))
    with store.read() as conn:
        named = items_of(conn, project_id).set_index("item")[KEYS]
    told = split(progress, [sum(len(ballot.first) for ballot in votes) for _, _, votes in parts])
    for number, ((area, ballots, votes), of_part) in enumerate(zip(parts, told, strict=True)):
        try:
            rng = np.random.default_rng([seed, number, 5])
            made = draw_scores(votes, ballots[-1].protocol, resamples=times, rng=rng, progress=of_part)
            found.append(made)
        except RunoffError as error:
            return replace(items, problem=f"{area}: {error}" if area else str(error))
        tables.append(named.loc[found[-1].items])
    drawn = np.concatenate([draws.drawn for draws in found], axis=1)
    return DatasetDraws(pd.concat(tables, ignore_index=True), drawn)
