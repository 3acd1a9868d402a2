"""How the ranking became stable: the place of the leading items after each closed ballot."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ...base.numbers_in_words import plural
from ...metrics import average_ranks
from ...store import Store
from ...store.ballots.ballot_rows import Ballot, ballots_of
from ...store.scores.project_dataset import ProjectDataset, field_history_of, scored_of, scores_whole_field
from ...tokens.items import pair_label

N_SHOWN = 30
COLUMNS = ("place", "pair", "ballot", "rank", "score", "lower", "upper", "rank_lower", "rank_upper", "in_ballot")


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


def load(
    store: Store, project_id: str, area_id: int | None = None, *, scored: ProjectDataset | None = None
) -> RankStabilisationView:
    """The places of the first 30 items of a ranking after each of its closed ballots.

    `scored` is `scored_of` the ranking as it stands, where it has been read already.
    """
    with store.read() as conn:
        closed = [ballot for ballot in ballots_of(conn, project_id, area_id) if not ballot.is_open]
        scored = scored_of(conn, project_id, area_id) if scored is None else scored
        fitted = field_history_of(conn, [ballot for ballot in closed if scores_whole_field(ballot)])
    return rank_stabilisation(closed, scored, fitted)


def rank_stabilisation(closed: list[Ballot], scored: ProjectDataset, fitted: pd.DataFrame) -> RankStabilisationView:
    """Places after each of the closed ballots; `fitted` holds what those wrote that score the whole field."""
    held = scored.by_ballot.assign(voted=scored.by_ballot[["wins", "ties", "losses"]].sum(axis=1) > 0)
    parts = []
    for ballot in closed:
        after = _after(ballot, held, fitted)
        inside = held.loc[(held["ballot"] == ballot.number) & held["voted"], "item"]
        after = after.assign(ballot=ballot.number, rank=average_ranks(after["score"].to_numpy()))
        parts.append(after.assign(in_ballot=after["item"].isin(inside)))
    if not parts:
        return RankStabilisationView(pd.DataFrame(columns=list(COLUMNS)), 0, 0, 0)
    history = pd.concat(parts, ignore_index=True)
    named = scored.items.assign(pair=pair_label(scored.items))[["item", "pair"]]
    leading = _leading(history, closed[-1].number)
    shown = leading.head(N_SHOWN).merge(history, on="item").merge(named, on="item")
    shown = shown.sort_values(["place", "ballot"], kind="stable")[list(COLUMNS)].reset_index(drop=True)
    n_top = min(10, len(leading))
    moved = 0
    if len(closed) > 1:
        before = _leading(history, closed[-2].number)
        moved = len(set(leading["item"].head(n_top)) - set(before["item"].head(n_top)))
    return RankStabilisationView(shown, len(closed), n_top, moved)


def _after(ballot: Ballot, held: pd.DataFrame, fitted: pd.DataFrame) -> pd.DataFrame:
    """Every item's score as it stood when a ballot was closed: item, score, and the bounds of score and rank."""
    if scores_whole_field(ballot):
        return fitted[fitted["ballot"] == ballot.number].drop(columns="ballot")
    until = held[held["ballot"] <= ballot.number].dropna(subset=["mean"]).groupby("item").tail(1)
    found = until[["item", "mean", "lower", "upper"]].rename(columns={"mean": "score"})
    return found.assign(rank_lower=float("nan"), rank_upper=float("nan"))


def _leading(history: pd.DataFrame, ballot: int) -> pd.DataFrame:
    """Items after a ballot, best first, with their places; ties in the order of the items."""
    found = history[history["ballot"] == ballot].sort_values(["rank", "item"], kind="stable")
    return pd.DataFrame({"item": found["item"].to_numpy(), "place": range(1, len(found) + 1)})
