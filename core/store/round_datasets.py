"""The dataset of a closed round: its items with their scores, as every other dataset is."""

from __future__ import annotations

from typing import Any

import pandas as pd
import sqlalchemy as sa

from .. import __version__
from ..errors import StoreError
from ..metrics import average_ranks
from ..schemes.collected import BEST_WORST, ORDER, RATING
from ..tables import DATASET
from . import schema as t
from .areas import items_of
from .ballots import LEVEL
from .command import fetch_rows, project_row
from .engine import Store
from .round_scores import closed_before
from .rounds import Round, round_by_id

ESTIMATORS = {
    RATING: ("mean of people's ratings", "points of the scale; higher = more related"),
    BEST_WORST: (
        "Bradley–Terry with one lapse, on the comparisons that best–worst choices decide",
        "expected Borda score against the whole field; higher = more related; within 0 and 1",
    ),
}


def round_dataset(store: Store, project_id: str, ballot_id: int) -> pd.DataFrame:
    """The dataset of a closed round of ratings or best–worst (schema DATASET), best first, described in `.attrs`.

    Of best–worst, items that didn't go on are in it too: the fit is of all rounds so far. Raises `StoreError` for an
    open round, or one of orders: those rank models by the groups' score.
    """
    with store.read() as conn:
        found = round_by_id(conn, project_id, ballot_id)
        if found.is_open:
            raise StoreError(f"{found.title}, is open: its scores are written once it is closed.")
        if found.scheme == ORDER:
            raise StoreError(f"{found.title}: orders score no item by itself; models are ranked by target.")
        project = project_row(conn, project_id)
        frame = _scored_items(conn, project_id, found)
        items = items_of(conn, project_id).set_index("item")[["area", "token_a", "token_b"]]
        n_items = len(items_of(conn, project_id, area_id=found.ballot.area_id))
        fit = conn.execute(sa.select(t.ballot.c.fit).where(t.ballot.c.id == found.id)).scalar_one() or {}
    dataset = items.join(frame, how="inner").reset_index()
    dataset["rank"] = average_ranks(dataset["score"].to_numpy())
    dataset = dataset.sort_values(["rank", "item"], kind="stable").reset_index(drop=True)
    dataset = dataset.astype({"votes": "int64", "ballots": "int64", "lower": "float64", "upper": "float64"})
    dataset = DATASET.check(dataset[[name for name in DATASET.columns if name in dataset]])
    estimator, scale = ESTIMATORS[found.scheme]
    dataset.attrs = {
        "project": project.name,
        "notion": project.notion,
        "scheme": found.scheme,
        "round": found.number,
        "settings": found.settings.stored(),
        "estimator": estimator,
        "scale": scale,
        "interval": {"level": LEVEL, "kind": "percentile bootstrap of the score, voters resampled"},
        "figures": fit,
        "unscored_items": n_items - len(dataset),
        "runoff": __version__,
    }
    return dataset


def _scored_items(conn: sa.Connection, project_id: str, found: Round) -> pd.DataFrame:
    """By item: score and bounds, its answers, and in how many rounds it has one."""
    b, s = t.ballot_item.c, t.item_score.c
    pooled = [*closed_before(conn, project_id, found), found] if found.scheme == BEST_WORST else [found]
    counts = sa.select(t.item.c.position, b.wins + b.ties + b.losses).join(t.item, t.item.c.id == b.item_id)
    rows = fetch_rows(conn, counts.where(b.ballot_id.in_([one.id for one in pooled])))
    answered = pd.DataFrame(rows, columns=["item", "votes"]).astype("int64")
    totals = answered.assign(ballots=answered["votes"] > 0).groupby("item")[["votes", "ballots"]].sum()
    of_round: sa.Select[Any] = sa.select(t.item.c.position, b.mean, b.lower, b.upper).select_from(t.ballot_item)
    query = of_round.join(t.item, t.item.c.id == b.item_id).where(b.ballot_id == found.id)
    if found.scheme == BEST_WORST:
        fitted: sa.Select[Any] = sa.select(t.item.c.position, s.score, s.lower, s.upper).select_from(t.item_score)
        query = fitted.join(t.item, t.item.c.id == s.item_id).where(s.ballot_id == found.id)
    frame = pd.DataFrame(fetch_rows(conn, query), columns=["item", "score", "lower", "upper"]).set_index("item")
    return frame.join(totals)
