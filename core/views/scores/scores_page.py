"""What the scores page shows: the ranking, and the paper's Figures 2 and 4 from the project's own votes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...base.durable import slug
from ...base.numbers_in_words import VoterCount, plural
from ...protocols import ProtocolInfo, protocol_of
from ...store import Store
from ...store.ballots.ballot_rows import Ballot, ballots_of
from ...store.scores.project_dataset import ProjectDataset, scored_of
from ...tokens.items import pair_label

N_TOP = 15  # items of the chart of the first
COLUMNS = (
    *("rank", "token_a", "token_b", "area", "score", "lower", "upper"),
    *("rank_lower", "rank_upper", "votes", "ballots"),
)


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
        """What is said of the protocol and its scores."""
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

    @property
    def leader(self) -> str:
        """The first item and its score, with the interval where it has one, and how many more share its rank."""
        first = self.dataset.iloc[0]
        n_more = int((self.dataset["rank"] == first["rank"]).sum()) - 1
        named = f"{pair_label(self.dataset).iloc[0]}, {first['score']:.3f}"
        if not np.isnan(first.get("lower", np.nan)):
            named = f"{named} (90 %: {first['lower']:.3f} to {first['upper']:.3f})"
        return plural(n_more, "{item} and {n} more, tied", "{item} and {n} more, tied", item=named) if n_more else named

    def ranking(self, word: str = "") -> pd.DataFrame:
        """The columns people look at, of the items with a token that holds this text."""
        shown, part = self.dataset, word.strip().casefold()
        if part:
            hit = [shown[name].str.casefold().str.contains(part, regex=False) for name in ("token_a", "token_b")]
            shown = shown[hit[0] | hit[1]]
        return shown[[name for name in COLUMNS if name in shown]]

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
    used = scores[scores["ballot"].isin(closed)]
    used = used.assign(votes=used["wins"] + used["ties"] + used["losses"])
    named = items.assign(pair=pair_label(items))[["item", "area", "token_a", "token_b", "pair"]]
    ranked = dataset[["area", "token_a", "token_b", "score", "rank"]].rename(columns={"score": "final"})
    merged = used.merge(named, on="item").merge(ranked, on=["area", "token_a", "token_b"])
    columns = ["item", "pair", "area", "ballot", "votes", "x", "y", "mean", "final", "rank"]
    return merged[columns].sort_values(["rank", "item", "ballot"], kind="stable").reset_index(drop=True)


def _rescaling(by_ballot: pd.DataFrame, ballot: Ballot) -> Rescaling:
    here = by_ballot[by_ballot["ballot"] == ballot.number].set_index("item")
    before = by_ballot[by_ballot["ballot"] == ballot.number - 1].set_index("item")["mean"]
    points = here[["pair", "x"]].assign(previous=before).dropna().reset_index(drop=True)
    return Rescaling(ballot.number, points, ballot.slope)


def line_of(slope: float, points: pd.DataFrame) -> pd.DataFrame:
    """The two ends of the line y = 1 − b̂ + b̂·x over the range of the points."""
    low = float(min(points["x"].min(), 1.0)) if len(points) else 0.0
    x = np.array([low, 1.0])
    return pd.DataFrame({"x": x, "previous": 1 - slope + slope * x})
