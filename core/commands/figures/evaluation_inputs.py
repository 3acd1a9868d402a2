"""What evaluations are computed from: a project's embeddings, its dataset, and scores by resampled voters.

Those scores have a column per item.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from ...base.parallel import Progress, split
from ...embeddings import Embedding
from ...errors import RunoffError
from ...evaluation import TOP_K, Evaluation, ModelComparison, compare
from ...evaluation.vote_intervals import WHY_NOT_PAPER, Resampled, ScoreDraws, draw_scores, number_of_resamples
from ...protocols import protocol_of
from ...scores import BallotVotes
from ...store import Store
from ...store.ballots.ballot_rows import Ballot, closed_ballots_of
from ...store.command import project_row
from ...store.projects.embedding_library import embeddings_of, open_library
from ...store.projects.plans import read_rankings
from ...store.scores.project_dataset import dataset_of
from ...store.tokens.areas import items_of
from ...store.votes.tallies import ballot_votes

KEYS = ["area", "token_a", "token_b"]
NOT_CLOSED = "Intervals come once a ballot is closed."


@dataclass(frozen=True, eq=False)
class DatasetDraws:
    """The draws of a ranking, or of all rankings that have a closed ballot.

    `items` has area, token_a, token_b of each column of `drawn` (resamples, n).
    `problem` says why there are none, or ""; `n_voters` is how many were resampled, of the ranking that has fewest.
    """

    items: pd.DataFrame
    drawn: np.ndarray
    problem: str = ""
    n_voters: int | None = None

    def resampled(self, dataset: pd.DataFrame, apart: np.ndarray | None = None) -> Resampled:
        """`drawn` with its columns as the rows of a dataset, NaN where a row has none; `apart` as of `Resampled`."""
        at = pd.Series(np.arange(len(self.items)), index=pd.MultiIndex.from_frame(self.items[KEYS]))
        places = at.reindex(pd.MultiIndex.from_frame(dataset[KEYS])).to_numpy()
        result = np.full((len(self.drawn), len(dataset)), np.nan)
        known = ~np.isnan(places)
        result[:, known] = self.drawn[:, places[known].astype(int)]
        return Resampled(result, apart, self.n_voters)


def load_draws(store: Store, project_id: str, resamples: int = 0, *, progress: Progress | None = None) -> DatasetDraws:
    """Resample the voters behind the dataset, `resamples` times, or as often as `number_of_resamples` says for 0.

    None where a protocol is the paper's (`why_no_draws` says why). Takes some 20 ms a resample for 20,000
    votes. Where each area has a ranking of its own, voters are drawn for each area apart. Errors that votes cause
    are told in `problem`, and to `progress` how far it is.
    """
    none = DatasetDraws(pd.DataFrame(columns=KEYS), np.empty((0, 0)))
    rankings = read_rankings(store, project_id)
    with store.read() as conn:
        seed = project_row(conn, project_id).seed
        closed = [(ranking.area, closed_ballots_of(conn, project_id, ranking.area_id)) for ranking in rankings]
        closed = [(area, ballots) for area, ballots in closed if ballots]
        if why := why_no_draws([ballots for _, ballots in closed]):
            return replace(none, problem=why)  # before a million votes are read for nothing
        parts = [(area, ballots, [ballot_votes(conn, ballot.id) for ballot in ballots]) for area, ballots in closed]
        named = items_of(conn, project_id).set_index("item")[KEYS]
    return draws_of(parts, named, seed, resamples, progress=progress)


def why_no_draws(closed: Sequence[Sequence[Ballot]]) -> str:
    """Why voters can't be resampled, by the closed ballots of each ranking that has any; "" where they can."""
    if not closed:
        return NOT_CLOSED
    return WHY_NOT_PAPER if any(protocol_of(ballots[-1].protocol).about.rescales for ballots in closed) else ""


def draws_of(
    parts: Sequence[tuple[str, Sequence[Ballot], Sequence[BallotVotes]]],
    named: pd.DataFrame,
    seed: int,
    resamples: int = 0,
    *,
    progress: Progress | None = None,
) -> DatasetDraws:
    """The same of each ranking's area ("" for all), closed ballots and votes; `named` has the `KEYS` of each item."""
    none = DatasetDraws(pd.DataFrame(columns=KEYS), np.empty((0, 0)))
    if why := why_no_draws([ballots for _, ballots, _ in parts]):
        return replace(none, problem=why)
    times = resamples or number_of_resamples(sum(len(ballot.first) for _, _, votes in parts for ballot in votes))
    found: list[ScoreDraws] = []
    tables = []
    progress_of = split(progress, [sum(len(ballot.first) for ballot in votes) for _, _, votes in parts])
    for number, ((area, ballots, votes), of_part) in enumerate(zip(parts, progress_of, strict=True)):
        try:
            rng = np.random.default_rng([seed, number, 5])
            made = draw_scores(votes, ballots[-1].protocol, resamples=times, rng=rng, progress=of_part)
            found.append(made)
        except RunoffError as error:
            return replace(none, problem=f"{area}: {error}" if area else str(error))
        tables.append(named.loc[found[-1].items])
    drawn = np.concatenate([draws.drawn for draws in found], axis=1)
    fewest = min(draws.n_voters for draws in found)
    return DatasetDraws(pd.concat(tables, ignore_index=True), drawn, n_voters=fewest)


FIGURES = (
    ("rho_w", "ρ_w"), ("tau_w", "τ_w"), ("rho", "ρ"), ("tau", "τ"), ("pearson", "Pearson"),
    ("precision", "top k"),
)  # fmt: skip
Settings = tuple[float, str, str, int]  # n₀, notion, policy, k of the precision


@dataclass(frozen=True)
class Evaluated:
    """A comparison with a dataset, None where there is nothing to compare. `models` are the embeddings as they were
    opened, in the order of `evaluations`; `problems` say why one can't be opened."""

    dataset: pd.DataFrame
    compared: ModelComparison | None
    models: tuple[Embedding, ...] = field(repr=False, compare=False)
    problems: tuple[str, ...]
    n0: float
    notion: str

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """One for each embedding."""
        return self.compared.evaluations if self.compared else ()

    @property
    def key(self) -> Settings:
        """The settings that it was made with."""
        return self.n0, self.notion, self.policy, self.top

    @property
    def top(self) -> int:
        """The k of the precision among the top k."""
        return self.evaluations[0].overall.top if self.evaluations else TOP_K

    @property
    def policy(self) -> str:
        """What is done about tokens that an embedding lacks, of `evaluation.POLICIES`."""
        return self.compared.policy if self.compared else "common"

    @property
    def ranked_apart(self) -> bool:
        """Each area has a ranking of its own: overall figures are means over areas."""
        return bool(self.dataset.attrs.get("ranking") == "area")


def load(
    store: Store,
    project_id: str,
    n0: float,
    notion: str,
    policy: str = "common",
    top: int = TOP_K,
    *,
    dataset: pd.DataFrame | None = None,
) -> Evaluated:
    """Evaluate all embeddings of a project with the offset n₀ under a notion (relatedness or similarity).

    `policy` is what is done about tokens that one lacks, `top` the k of the precision among the top k. `dataset` is
    `dataset_of` the project as it stands, where it has been read already.
    """
    with store.read() as conn:
        dataset = dataset_of(conn, project_id) if dataset is None else dataset
        imported = embeddings_of(conn, project_id)
    opened: list[tuple[str, Embedding]] = []
    problems = []
    for embedding in imported:
        try:
            opened.append((embedding.name, open_library(store, embedding)))
        except RunoffError as error:
            problems.append(f"{embedding.name}: {error}")
    compared: ModelComparison | None = None
    if len(dataset) and opened:
        compared = compare(dataset, [e for _, e in opened], n0=n0, notion=notion, policy=policy, top=top)
        named = zip(compared.evaluations, opened, strict=True)
        compared = replace(compared, evaluations=tuple(replace(e, model=name) for e, (name, _) in named))
    return Evaluated(dataset, compared, tuple(embedding for _, embedding in opened), tuple(problems), n0, notion)


BASELINES = 3  # what the draws of the random ranking are seeded with, on pages and in the published card


def seeded(store: Store, project_id: str, what: int) -> np.random.Generator:
    """A generator that follows from the project's seed and a number of its own for each use."""
    with store.read() as conn:
        return np.random.default_rng([project_row(conn, project_id).seed, 11, what])
