"""The scores and the dataset of a project as the store knows them, also as they would be without some voters.

Scores are one row an item and ballot; the dataset follows from them. With voters left out the protocol in use scores,
and nothing is written.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ... import __version__
from ...base.estimates import LEVEL
from ...errors import StoreError
from ...metrics import Rounding, average_ranks
from ...protocols import Held, protocol_of
from ...protocols.base import BOTH, FITTED
from ...scores import borda
from ...tables import BALLOT_SCORES, DATASET, ITEMS
from .. import schema as t
from ..ballots.ballot_rows import FOR_SELECTION, Ballot, ballots_of, rests_on, round_by_id
from ..command import fetch_integers, fetch_rows, project_row
from ..engine import Store
from ..projects.plans import (
    DEFAULT,
    PlanSettings,
    Ranking,
    belongs,
    in_campaign,
    rankings_of,
    registration_of,
    settings_of,
)
from ..tokens.areas import items_of, proposed_tokens_of
from ..votes.tallies import ballot_votes, count_voters, scored_ballots
from .next_ballot_value import closed_fit_of, stored_next_ballot_value


def ballot_scores_of(conn: sa.Connection, project_id: str, area_id: int | None = None) -> pd.DataFrame:
    """One row an item and ballot of a ranking (schema BALLOT_SCORES), by ballot and item; its pilot has none."""
    b = t.ballot_item.c
    names = ("wins", "ties", "losses", "unknowns", "x", "y", "mean", "lower", "upper")
    query = (
        sa.select(t.ballot.c.ordinal, t.item.c.position, *[b[name] for name in names])
        .join(t.ballot, t.ballot.c.id == b.ballot_id)
        .join(t.item, t.item.c.id == b.item_id)
        .where(t.ballot.c.project_id == project_id, belongs(t.ballot.c.area_id, area_id))
        .where(in_campaign())
        .order_by(t.ballot.c.ordinal, t.item.c.position)
    )
    frame = pd.DataFrame(fetch_rows(conn, query), columns=list(BALLOT_SCORES.columns))
    kinds = {name: "int64" if kind == "int" else "float64" for name, kind in BALLOT_SCORES.columns.items()}
    return BALLOT_SCORES.check(frame.astype(kinds))


def read_ballot_scores(store: Store, project_id: str, area_id: int | None = None) -> pd.DataFrame:
    """One row an item and ballot of a ranking (schema BALLOT_SCORES)."""
    with store.read() as conn:
        return ballot_scores_of(conn, project_id, area_id)


def read_project_dataset(store: Store, project_id: str, area_id: int | None = None) -> pd.DataFrame:
    """The project's dataset as it stands; see `dataset_of`."""
    with store.read() as conn:
        return dataset_of(conn, project_id, area_id)


@dataclass(frozen=True)
class ProjectDataset:
    """A dataset and the rows that it is made from: see `dataset_of`, `items_of`, `ballot_scores_of`."""

    dataset: pd.DataFrame
    items: pd.DataFrame
    by_ballot: pd.DataFrame


def dataset_of(conn: sa.Connection, project_id: str, area_id: int | None = None) -> pd.DataFrame:
    """The dataset alone of `scored_of`."""
    return scored_of(conn, project_id, area_id).dataset


def scored_of(conn: sa.Connection, project_id: str, area_id: int | None = None) -> ProjectDataset:
    """The dataset as it stands (schema DATASET), best first, with its description in `.attrs`.

    An item's score is ȳ of the last closed ballot it was in; by a protocol that scores the whole field that of the last
    closed ballot. Before any ballot is closed it is x of ballot 1 by
    the votes received so far. Items without a vote are left out and counted in `.attrs["unscored_items"]`.
    Where each area has a ranking of its own, it is the dataset of one area, or of all with the areas one after the
    other: scores and ranks are then within an area, and `.attrs["ranking"]` is "area".
    """
    project = project_row(conn, project_id)
    rankings = [r for r in rankings_of(conn, project_id) if area_id is None or r.area_id == area_id]
    parts = [_part(conn, project_id, ranking) for ranking in rankings]
    frames = [part.dataset for part in parts if len(part.dataset)] or [part.dataset for part in parts[:1]]
    dataset = pd.concat(frames, ignore_index=True) if frames else DATASET.empty()
    about: dict[Hashable, Any] = {
        "project": project.name,
        "notion": project.notion,
        "ranking": project.ranking,
        **_method(parts),
        "n0": 2.0,
        "tokens_proposed_by": proposed_tokens_of(conn, project_id),
        "versions": {"runoff": __version__, "numpy": np.__version__, "pandas": pd.__version__},
    }
    dataset.attrs = about | _summed(parts)
    voters = count_voters(conn, project_id, scored_ballots(conn, project_id, area_id))
    dataset.attrs["voters"] = {"people": voters.people, "simulated": voters.simulated}
    dataset.attrs["voters_left_out"] = voters.left_out
    dataset.attrs["simulated_votes"] = voters.simulated > 0
    described = [part.described | {"area": part.ranking.area} for part in parts]
    of_all = described[0] if project.ranking == "all" else {"plan": None, "seeds": {}}
    dataset.attrs["plan"] = of_all["plan"]
    if "cut_audit" in of_all:
        dataset.attrs["cut_audit"] = of_all["cut_audit"]
    if any("by_chance" in part for part in described):
        dataset.attrs["by_chance"] = True
    if camps := [part["two_camps"] for part in described if "two_camps" in part]:
        dataset.attrs["two_camps"] = max(camps, key=lambda sizes: sizes[1])
    dataset.attrs["seeds"] = {"project": project.seed, **of_all["seeds"]}
    registered = registration_of(conn, project_id)
    dataset.attrs["registration"] = registered.described() if registered else None
    if project.ranking == "area":
        dataset.attrs["areas"] = described
    if len(parts) == 1:
        return ProjectDataset(dataset, parts[0].items, parts[0].by_ballot)
    items = pd.concat([ITEMS.empty(), *(part.items for part in parts)])
    return ProjectDataset(dataset, items, pd.concat([BALLOT_SCORES.empty(), *(part.by_ballot for part in parts)]))


def scores_whole_field(ballot: Ballot) -> bool:
    """Whether closing the ballot wrote scores of all items, not of its own alone."""
    return protocol_of(ballot.protocol).about.whole_field


def _method(parts: Sequence[_RankingDataset]) -> dict[Hashable, Any]:
    """What a dataset's description says of its scores; of several protocols that one's which scores the whole field."""
    every = [protocol_of(part.protocol).about for part in parts] or [protocol_of(DEFAULT).about]
    about = next((one for one in every if one.whole_field), every[0])
    what = "score and rank" if about.whole_field else "the score"
    kind = f"percentile bootstrap of {what}, voters resampled"
    if not about.whole_field and any(part.bounds == FITTED for part in parts):
        kind = "share of votes the item would win against all others, by a fit of all votes, out to its score"
    interval = {"level": LEVEL, "kind": kind}
    return {"estimator": about.estimator, "scale": about.scale, "interval": interval}


@dataclass(frozen=True)
class _RankingDataset:
    """The dataset of one ranking, and what describes it."""

    ranking: Ranking
    dataset: pd.DataFrame
    items: pd.DataFrame
    by_ballot: pd.DataFrame
    n_closed: int
    n_planned: int | None
    described: dict[str, Any]
    protocol: str
    bounds: str  # how those of the last closed ballot were made (`protocols.base`)


def _part(conn: sa.Connection, project_id: str, ranking: Ranking) -> _RankingDataset:
    area_id = ranking.area_id
    ballots = ballots_of(conn, project_id, area_id)
    items = items_of(conn, project_id, area_id=area_id)
    by_ballot = ballot_scores_of(conn, project_id, area_id)
    dataset = build_dataset(items, by_ballot, ballots, _field_of(conn, ballots))
    found = settings_of(conn, project_id, area_id)
    closed = [ballot for ballot in ballots if not ballot.is_open]
    described: dict[str, Any] = {
        "plan": _described(found[1]) if found else None,
        "seeds": {"plan": found[1].seed if found else None, "ballots": [ballot.seed for ballot in ballots]},
    }
    fit = closed_fit_of(conn, closed[-1].id) if closed else {}
    if "audit" in fit:
        described["cut_audit"] = fit["audit"]
    if closed and (next_ballot := stored_next_ballot_value(conn, closed[-1].id)) is not None:
        if next_ballot.by_chance:
            described["by_chance"] = True
        if next_ballot.camps:
            described["two_camps"] = list(next_ballot.camps)
    planned = found[1].n_ballots if found else None
    protocol = ballots[-1].protocol if ballots else found[1].protocol if found else DEFAULT
    bounds = str(fit.get("bounds", ""))
    return _RankingDataset(ranking, dataset, items, by_ballot, len(closed), planned, described, protocol, bounds)


def _summed(parts: Sequence[_RankingDataset]) -> dict[Hashable, Any]:
    """Counts over all rankings; ballots planned are None where a ranking has no plan."""
    planned = [part.n_planned for part in parts]
    return {
        "ballots_closed": sum(part.n_closed for part in parts),
        "ballots_planned": None if None in planned else sum(n for n in planned if n),
        "provisional": any(part.n_planned is None or part.n_closed < part.n_planned for part in parts),
        "unscored_items": sum(part.dataset.attrs["unscored_items"] for part in parts),
        "votes": sum(part.dataset.attrs["votes"] for part in parts),
    }


def _described(settings: PlanSettings) -> dict:
    appearances = settings.appearances
    return {
        "protocol": settings.protocol,
        "n_ballots": settings.n_ballots,
        "keep": settings.keep,
        "appearances": list(appearances) if isinstance(appearances, tuple) else appearances,
        "ties_allowed": settings.ties_allowed,
        **({} if settings.aim == BOTH else {"aim": settings.aim}),
    }


def _field_of(conn: sa.Connection, ballots: Sequence[Ballot]) -> pd.DataFrame | None:
    """What the last closed ballot wrote of every item; None where ballots score their own, or before one."""
    closed = [ballot for ballot in ballots if not ballot.is_open and scores_whole_field(ballot)]
    if not closed:
        return None
    frame = field_history_of(conn, closed[-1:]).drop(columns="ballot")
    return frame.rename(columns={"score": "mean"}).set_index("item")


def field_history_of(conn: sa.Connection, ballots: Sequence[Ballot]) -> pd.DataFrame:
    """What closed ballots that score the whole field wrote of every item: ballot (its number), item, score, its bounds
    and those of its rank; by ballot and item."""
    names = ("score", "lower", "upper", "rank_lower", "rank_upper")
    query = (
        sa.select(t.ballot.c.ordinal, t.item.c.position, *(t.item_score.c[name] for name in names))
        .join(t.item, t.item.c.id == t.item_score.c.item_id)
        .join(t.ballot, t.ballot.c.id == t.item_score.c.ballot_id)
        .where(t.item_score.c.ballot_id.in_([ballot.id for ballot in ballots]))
        .order_by(t.ballot.c.ordinal, t.item.c.position)
    )
    frame = pd.DataFrame(fetch_rows(conn, query), columns=["ballot", "item", *names])
    return frame.astype(dict.fromkeys(("ballot", "item"), "int64") | dict.fromkeys(names, "float64"))


def build_dataset(
    items: pd.DataFrame,
    scores: pd.DataFrame,
    ballots: Sequence[Ballot],
    runoff: pd.DataFrame | None = None,
    *,
    rounding: Rounding | None = None,
) -> pd.DataFrame:
    """A dataset from the rows of `ballot_scores_of`, or from `runoff`; see `dataset_of` for what a score is.

    rounding : how scores are compared, `metrics.rounded_scores` by default.
    """
    closed = [ballot.number for ballot in ballots if not ballot.is_open]
    used = scores[scores["ballot"].isin(closed)] if closed else scores[scores["ballot"] == 1]
    used = used.assign(votes=used["wins"] + used["ties"] + used["losses"])
    if not closed:
        with np.errstate(invalid="ignore", divide="ignore"):
            used = used.assign(mean=(used["wins"] + used["ties"] / 2) / used["votes"])
    last = used.dropna(subset=["mean"]).groupby("item").tail(1).set_index("item") if runoff is None else runoff
    columns = ["mean", "lower", "upper", *(["rank_lower", "rank_upper"] if runoff is not None else [])]
    totals = used.assign(ballots=used["votes"] > 0).groupby("item")[["votes", "ballots"]].sum()
    frame = items.set_index("item")[["area", "token_a", "token_b"]].join(last[columns], how="inner")
    frame = frame.join(totals).rename(columns={"mean": "score"}).reset_index()
    dataset = _ranked(frame, rounding)
    dataset.attrs["unscored_items"] = len(items) - len(dataset)
    dataset.attrs["votes"] = int(used["votes"].sum() // 2)
    return dataset


def round_dataset(store: Store, project_id: str, ballot_id: int) -> pd.DataFrame:
    """The dataset of a closed round (schema DATASET), best first, described in `.attrs`.

    Where a kind's scores rest on the rounds before, too, items that didn't go on are in it. Raises `StoreError` for an
    open round, or one of a kind that scores no item by itself.
    """
    with store.read() as conn:
        found = round_by_id(conn, project_id, ballot_id)
        about = found.kind.about
        if found.is_open:
            raise StoreError(f"{found.title}, is open: its scores are written once it is closed.")
        if not about.scores_items:
            raise StoreError(f"{found.title}: orders score no item by itself; models are ranked by target.")
        project = project_row(conn, project_id)
        frame = _of_round(conn, project_id, found)
        items = items_of(conn, project_id).set_index("item")[["area", "token_a", "token_b"]]
        n_items = len(items_of(conn, project_id, area_id=found.area_id))
        fit = closed_fit_of(conn, found.id)
    dataset = _ranked(items.join(frame, how="inner").reset_index())
    dataset.attrs = {
        "project": project.name,
        "notion": project.notion,
        "scheme": found.scheme,
        "round": found.number,
        "settings": found.settings.stored(),
        "estimator": about.estimator,
        "scale": about.scale,
        "interval": {"level": LEVEL, "kind": "percentile bootstrap of the score, voters resampled"},
        "figures": fit,
        "unscored_items": n_items - len(dataset),
        "runoff": __version__,
    }
    return dataset


def _of_round(conn: sa.Connection, project_id: str, found: Ballot) -> pd.DataFrame:
    """By item: score and bounds, its answers, and in how many rounds it has one."""
    b, s = t.ballot_item.c, t.item_score.c
    pooled = [*rests_on(conn, project_id, found), found]
    counts = sa.select(t.item.c.position, b.wins + b.ties + b.losses).join(t.item, t.item.c.id == b.item_id)
    rows = fetch_rows(conn, counts.where(b.ballot_id.in_([one.id for one in pooled])))
    answered = pd.DataFrame(rows, columns=["item", "votes"]).astype("int64")
    totals = answered.assign(ballots=answered["votes"] > 0).groupby("item")[["votes", "ballots"]].sum()
    of_round: sa.Select[Any] = sa.select(t.item.c.position, b.mean, b.lower, b.upper).select_from(t.ballot_item)
    query = of_round.join(t.item, t.item.c.id == b.item_id).where(b.ballot_id == found.id)
    if found.kind.about.pools:
        fitted: sa.Select[Any] = sa.select(t.item.c.position, s.score, s.lower, s.upper).select_from(t.item_score)
        query = fitted.join(t.item, t.item.c.id == s.item_id).where(s.ballot_id == found.id)
    frame = pd.DataFrame(fetch_rows(conn, query), columns=["item", "score", "lower", "upper"]).set_index("item")
    return frame.join(totals)


def _ranked(frame: pd.DataFrame, rounding: Rounding | None = None) -> pd.DataFrame:
    """A dataset (schema DATASET) of scored items, best first."""
    scores = frame["score"].to_numpy()
    frame["rank"] = average_ranks(scores, rounding=rounding) if len(frame) else np.array([], dtype=float)
    frame = frame.sort_values(["rank", "item"], kind="stable").reset_index(drop=True)
    frame = frame.astype({"votes": "int64", "ballots": "int64", "lower": "float64", "upper": "float64"})
    return DATASET.check(frame[[name for name in DATASET.columns if name in frame]])


@dataclass(frozen=True)
class VoteCounts:
    """Counts over the ballots of a project: votes, and comparisons without one."""

    votes: int
    unvoted: int


def counted_without(conn: sa.Connection, project_id: str, without: frozenset[int]) -> VoteCounts:
    """Votes and comparisons without a vote in all ballots, pilots aside, if these voters were left out."""
    votes = unvoted = 0
    for ranking in rankings_of(conn, project_id):
        for ballot in ballots_of(conn, project_id, ranking.area_id):
            voted = _voted(conn, ballot.id, without)
            votes += len(voted)
            unvoted += ballot.n_comparisons - len(np.unique(voted))
    return VoteCounts(votes, unvoted)


def _voted(conn: sa.Connection, ballot_id: int, without: frozenset[int]) -> np.ndarray:
    """The question of each vote that would count."""
    j, a = t.judgement.c, t.assignment.c
    query = (
        sa.select(j.question_id, a.voter_id)
        .join(t.assignment, a.id == j.assignment_id)
        .join(t.question, t.question.c.id == j.question_id)
        .where(a.ballot_id == ballot_id, t.question.c.role == "main")
        .where(j.status.in_(["counted", "excluded"]), j.value.is_not(None))
    )
    rows = fetch_integers(conn, query)
    return np.asarray(rows[~np.isin(rows[:, 1], sorted(without)), 0])


def dataset_without(conn: sa.Connection, project_id: str, without: frozenset[int]) -> pd.DataFrame:
    """The project's dataset (schema DATASET, without intervals) if these voters were left out.

    Equal to `dataset_of` in scores and ranks for those who are left out now. Errors as of scoring.
    """
    before = dataset_of(conn, project_id)
    frames = []
    for ranking in rankings_of(conn, project_id):
        items = items_of(conn, project_id, area_id=ranking.area_id)
        scores = _scores(conn, project_id, ranking, without)
        frame = items[["area", "token_a", "token_b"]].assign(score=items["item"].map(scores)).dropna(subset="score")
        frame["rank"] = average_ranks(frame["score"].to_numpy()) if len(frame) else np.array([], dtype=float)
        frames.append(frame.sort_values("rank", kind="stable"))
    found = pd.concat(frames, ignore_index=True)
    found.attrs = before.attrs
    return found


def _scores(conn: sa.Connection, project_id: str, ranking: Ranking, without: frozenset[int]) -> dict[int, float]:
    """The score of each item, by position; NaN or absent where it has none."""
    ballots = ballots_of(conn, project_id, ranking.area_id)
    closed = [ballot for ballot in ballots if not ballot.is_open]
    if not ballots:
        return {}
    votes = [ballot_votes(conn, ballot.id, without=without) for ballot in closed or ballots[:1]]
    if not closed:  # as `build_dataset` has it: x of ballot 1 by the votes received so far
        of_first = votes[0]
        n_items = int(of_first.items.max()) + 1
        return dict(enumerate(borda(of_first.first, of_first.second, of_first.outcome, n_items=n_items).tolist()))
    scored = protocol_of(closed[-1].protocol).field([Held(ballot) for ballot in votes])
    return dict(zip(scored.items.tolist(), scored.score.tolist(), strict=True))


def chosen_otherwise(
    conn: sa.Connection, project_id: str, without: frozenset[int], area_id: int | None = None
) -> list[tuple[int, int]]:
    """For each drawn ballot from 2 on: its number, and how many items would be others if these voters had been left
    out when it was drawn. Takes a fit a ballot by a protocol that chooses by one."""
    ballots = ballots_of(conn, project_id, area_id)
    votes = [ballot_votes(conn, ballot.id, without=without) for ballot in ballots[:-1]]
    found = []
    for place, ballot in enumerate(ballots[1:]):
        held = [Held(before) for before in votes[: place + 1]]
        now = protocol_of(ballot.protocol).select(
            held, ballot.n_items, np.random.default_rng([ballot.seed, FOR_SELECTION])
        )
        there = set(_items_of(conn, ballot.id))
        found.append((ballot.number, len(there - set(now.items.tolist()))))
    return found


def _items_of(conn: sa.Connection, ballot_id: int) -> list[int]:
    query = sa.select(t.item.c.position).join(t.ballot_item, t.ballot_item.c.item_id == t.item.c.id)
    return list(conn.execute(query.where(t.ballot_item.c.ballot_id == ballot_id)).scalars())
