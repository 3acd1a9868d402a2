"""What the scores page shows: the ranking, how it became stable, and the paper's Figures 2 to 4.

How it became stable is told by the place of the leading items after each closed ballot. The figures are drawn from the
project's own votes and from simulated campaigns, Figure 3 with one of the project's embeddings.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ...base.durable import slug
from ...base.numbers_in_words import VoterCount, plural
from ...metrics import average_ranks
from ...protocols import ProtocolInfo, protocol_of
from ...simulation.table2 import FIGURE_2_PANEL, Figure2, example_campaign, figure_2, figure_4
from ...store import Store
from ...store.ballots.ballot_rows import Ballot, ballots_of, closed_ballots_of
from ...store.command import project_row
from ...store.projects.embedding_library import embeddings_of, open_library
from ...store.scores.project_dataset import ProjectDataset, field_history_of, scored_of, scores_whole_field
from ...store.tokens.areas import items_of
from ...tokens.items import pair_label
from ...voters.model import exponential, power_law
from ..embeddings import N_RANDOM, SEED, curves_of

N_TOP = 15  # items of the chart of the first
COLUMNS = (
    *("rank", "score", "token_a", "token_b", "area", "lower", "upper"),
    *("rank_lower", "rank_upper", "votes", "ballots"),
)
_BOUNDS = ("lower", "upper", "rank_lower", "rank_upper")


@dataclass(frozen=True)
class Rescaling:
    """Figure 2 of one ballot: x(k) against ȳ(k−1) for its items, and the slope b̂ of Eq. 6."""

    ballot: int
    points: pd.DataFrame  # item label, x, previous
    slope: float | None


@dataclass(frozen=True)
class ScoresView:
    """The dataset as it stands, its ballots, and the rows behind each figure."""

    dataset: pd.DataFrame
    by_ballot: pd.DataFrame  # item, pair, area, ballot, votes, x, y, mean, final, rank
    rescalings: tuple[Rescaling, ...]
    ballots: tuple[Ballot, ...]
    interval_note: str | None
    protocol: str = "paper"
    scored: ProjectDataset | None = None  # what it was made from

    @property
    def about(self) -> ProtocolInfo:
        """The protocol and its scores, described."""
        return protocol_of(self.protocol).about

    @property
    def voters(self) -> VoterCount:
        """Whose votes are in the scores."""
        return voters_in(self.dataset.attrs)

    @property
    def area_part(self) -> str:
        """What the name of its files has more than the project's: the area's, where it has a ranking of its own."""
        areas = self.dataset.attrs.get("areas", ())
        return "-" + slug(areas[0]["area"], "area") if len(areas) == 1 else ""

    @cached_property
    def top(self) -> pd.DataFrame:
        """The first items, as `top_of` has them."""
        return top_of(self.dataset)

    @cached_property
    def leader(self) -> str:
        """The first item and its score, with the interval where it has one, and how many more share its rank."""
        first = self.dataset.iloc[0]
        n_more = int((self.dataset["rank"] == first["rank"]).sum()) - 1
        named = f"{pair_label(self.dataset).iloc[0]}, {first['score']:.3f}"
        if not np.isnan(first.get("lower", np.nan)):
            named = f"{named} (90%: {first['lower']:.3f} to {first['upper']:.3f})"
        return plural(n_more, "{item} and {n} more, tied", "{item} and {n} more, tied", item=named) if n_more else named

    def ranking(self, word: str = "") -> pd.DataFrame:
        """The columns people look at, of the items with a token that holds this text; no bounds where no item has
        any."""
        rows, part = self.dataset, word.strip().casefold()
        if part:
            hit = [rows[name].str.casefold().str.contains(part, regex=False) for name in ("token_a", "token_b")]
            rows = rows[hit[0] | hit[1]]
        bounds = {name for name in _BOUNDS if name in self.dataset and self.dataset[name].isna().all()}
        return rows[[name for name in COLUMNS if name in rows and name not in bounds]]

    @property
    def provisional(self) -> bool:
        return bool(self.dataset.attrs["provisional"])

    @property
    def n_closed(self) -> int:
        return sum(not ballot.is_open for ballot in self.ballots)


def load(store: Store, project_id: str, area_id: int | None = None) -> ScoresView:
    """The scores view of a ranking."""
    with store.read() as conn:
        ballots = ballots_of(conn, project_id, area_id)
        scored = scored_of(conn, project_id, area_id)
    dataset = scored.dataset
    by_ballot = _by_ballot(scored.by_ballot, scored.items, dataset, [b.number for b in ballots if not b.is_open])
    closed = [ballot for ballot in ballots if not ballot.is_open]
    protocol = ballots[-1].protocol if ballots else "paper"
    later = [ballot for ballot in closed if ballot.number > 1 and protocol_of(protocol).about.rescales]
    rescalings = tuple(_rescaling(by_ballot, ballot) for ballot in later)
    note = closed[-1].interval_note if closed else "Intervals are computed when a ballot is closed."
    return ScoresView(dataset, by_ballot, rescalings, tuple(ballots), note, protocol, scored)


def voters_in(about: Mapping[Hashable, Any]) -> VoterCount:
    """The voters whose votes are in a dataset, by its description."""
    return VoterCount(**about["voters"], left_out=about["voters_left_out"])


def top_of(dataset: pd.DataFrame, n: int = N_TOP) -> pd.DataFrame:
    """The first items: place, pair, score, its bounds lower and upper (NaN for none), rank, votes."""
    top = dataset.head(n)
    return top.assign(place=range(1, len(top) + 1), pair=pair_label(dataset).loc[top.index])


def _by_ballot(scores: pd.DataFrame, items: pd.DataFrame, dataset: pd.DataFrame, closed: list[int]) -> pd.DataFrame:
    """Scores in the closed ballots with final score and rank: a row an item and ballot."""
    closed_scores = scores[scores["ballot"].isin(closed)]
    closed_scores = closed_scores.assign(votes=closed_scores["wins"] + closed_scores["ties"] + closed_scores["losses"])
    labelled = items.assign(pair=pair_label(items))[["item", "area", "token_a", "token_b", "pair"]]
    ranked = dataset[["area", "token_a", "token_b", "score", "rank"]].rename(columns={"score": "final"})
    merged = closed_scores.merge(labelled, on="item").merge(ranked, on=["area", "token_a", "token_b"])
    columns = ["item", "pair", "area", "ballot", "votes", "x", "y", "mean", "final", "rank"]
    return merged[columns].sort_values(["rank", "item", "ballot"], kind="stable").reset_index(drop=True)


def _rescaling(by_ballot: pd.DataFrame, ballot: Ballot) -> Rescaling:
    """Figure 2 of a ballot: ȳ before it against x in it."""
    in_ballot = by_ballot[by_ballot["ballot"] == ballot.number].set_index("item")
    before = by_ballot[by_ballot["ballot"] == ballot.number - 1].set_index("item")["mean"]
    points = in_ballot[["pair", "x"]].assign(previous=before).dropna().reset_index(drop=True)
    return Rescaling(ballot.number, points, ballot.slope)


def line_of(slope: float, points: pd.DataFrame) -> pd.DataFrame:
    """The two ends of the line y = 1 − b̂ + b̂·x over the range of the points."""
    low = float(min(points["x"].min(), 1.0)) if len(points) else 0.0
    x = np.array([low, 1.0])
    return pd.DataFrame({"x": x, "previous": 1 - slope + slope * x})


N_SHOWN = 30
STABILISATION_COLUMNS = (
    "place",
    "pair",
    "ballot",
    "rank",
    "score",
    "lower",
    "upper",
    "rank_lower",
    "rank_upper",
    "in_ballot",
)


@dataclass(frozen=True)
class RankStabilisationView:
    """Places after each closed ballot.

    history : one row a leading item and closed ballot, with the columns of `COLUMNS`, by place and ballot; `place` is
    the item's 1, 2, … now, `rank` its average rank among all scored items then, `in_ballot` whether the ballot had it.
    n_ballots : closed ones; n_moved : of the first `n_top` now, how many weren't among them after the ballot before.
    """

    history: pd.DataFrame
    n_ballots: int
    n_top: int
    n_moved: int

    @property
    def said(self) -> str:
        """What the last ballot changed, in a sentence; empty before there are two."""
        if self.n_ballots < 2:
            return ""
        if not self.n_moved:
            return f"Ballot {self.n_ballots} left the first {self.n_top} the same items."
        return plural(
            self.n_moved,
            "{n} item of the first {top} is new there since ballot {ballot}.",
            "{n} items of the first {top} are new there since ballot {ballot}.",
            top=self.n_top,
            ballot=self.n_ballots - 1,
        )


def load_rank_stabilisation(
    store: Store, project_id: str, area_id: int | None = None, *, scored: ProjectDataset | None = None
) -> RankStabilisationView:
    """The places of the first 30 items of a ranking after each of its closed ballots.

    `scored` is `scored_of` the ranking as it stands, where it has been read already.
    """
    with store.read() as conn:
        closed = closed_ballots_of(conn, project_id, area_id)
        scored = scored_of(conn, project_id, area_id) if scored is None else scored
        fitted = field_history_of(conn, [ballot for ballot in closed if scores_whole_field(ballot)])
    return rank_stabilisation(closed, scored, fitted)


def rank_stabilisation(closed: list[Ballot], scored: ProjectDataset, fitted: pd.DataFrame) -> RankStabilisationView:
    """Places after each of the closed ballots; `fitted` holds what those wrote that score the whole field."""
    scores = scored.by_ballot.assign(voted=scored.by_ballot[["wins", "ties", "losses"]].sum(axis=1) > 0)
    parts = []
    for ballot in closed:
        after = _after(ballot, scores, fitted)
        inside = scores.loc[(scores["ballot"] == ballot.number) & scores["voted"], "item"]
        after = after.assign(ballot=ballot.number, rank=average_ranks(after["score"].to_numpy()))
        parts.append(after.assign(in_ballot=after["item"].isin(inside)))
    if not parts:
        return RankStabilisationView(pd.DataFrame(columns=list(STABILISATION_COLUMNS)), 0, 0, 0)
    history = pd.concat(parts, ignore_index=True)
    labels = scored.items.assign(pair=pair_label(scored.items))[["item", "pair"]]
    leading = _leading(history, closed[-1].number)
    places = leading.head(N_SHOWN).merge(history, on="item").merge(labels, on="item")
    places = places.sort_values(["place", "ballot"], kind="stable")[list(STABILISATION_COLUMNS)].reset_index(drop=True)
    n_top = min(10, len(leading))
    moved = 0
    if len(closed) > 1:
        before = _leading(history, closed[-2].number)
        moved = len(set(leading["item"].head(n_top)) - set(before["item"].head(n_top)))
    return RankStabilisationView(places, len(closed), n_top, moved)


def _after(ballot: Ballot, scores: pd.DataFrame, fitted: pd.DataFrame) -> pd.DataFrame:
    """Every item's score as it stood when a ballot was closed: item, score, and the bounds of score and rank."""
    if scores_whole_field(ballot):
        return fitted[fitted["ballot"] == ballot.number].drop(columns="ballot")
    until = scores[scores["ballot"] <= ballot.number].dropna(subset=["mean"]).groupby("item").tail(1)
    latest = until[["item", "mean", "lower", "upper"]].rename(columns={"mean": "score"})
    return latest.assign(rank_lower=float("nan"), rank_upper=float("nan"))


def _leading(history: pd.DataFrame, ballot: int) -> pd.DataFrame:
    """Items after a ballot, best first, with their places; ties in the order of the items."""
    rows = history[history["ballot"] == ballot].sort_values(["rank", "item"], kind="stable")
    return pd.DataFrame({"item": rows["item"].to_numpy(), "place": range(1, len(rows) + 1)})


N_ITEMS = 990  # of the paper's distributions


@dataclass(frozen=True)
class PaperFigures:
    """Figure 2 (one ballot, σ* = .1 and ε = .01 for all voters), the rows of Figure 4, and the curves of Figure 3.

    `curves` has a row a point: pairs (which distribution), share and value; `value` names the value.
    """

    rescaling: Figure2
    by_ballot: pd.DataFrame
    curves: pd.DataFrame
    value: str


def load_paper_figures(store: Store, project_id: str) -> PaperFigures:
    """The figures; the embedding is the project's first with vectors, and without one Figure 3 has two curves."""
    with store.read() as conn:
        notion = project_row(conn, project_id).notion
        imported = embeddings_of(conn, project_id)
        items = items_of(conn, project_id)
    distributions = {"exponential": exponential(N_ITEMS), "power law": power_law(N_ITEMS)}
    for one in imported:
        embedding = open_library(store, one)
        if embedding.kind != "vectors":
            continue
        cosines = embedding.cosines(items["token_a"].tolist(), items["token_b"].tolist())
        is_finite = np.isfinite(cosines)
        first = items["area"].iloc[0] if len(items) else ""
        distributions["embedding, all items"] = cosines[is_finite]
        distributions[f"embedding, {first}"] = cosines[is_finite & (items["area"] == first).to_numpy()]
        distributions["embedding, random pairs"] = embedding.random_cosines(N_RANDOM, rng=np.random.default_rng(SEED))
        break
    return PaperFigures(
        figure_2(example_campaign(panel=FIGURE_2_PANEL)),
        figure_4(example_campaign()),
        curves_of({name: values for name, values in distributions.items() if len(values)}, notion),
        "|cos|" if notion == "relatedness" else "cos",
    )
