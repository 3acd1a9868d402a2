"""What the store knows of scores: one row an item and ballot, and the dataset that follows from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import sqlalchemy as sa

from .. import __version__
from ..metrics import average_ranks
from ..tables import BALLOT_SCORES, DATASET
from . import schema as t
from .areas import items_of
from .ballots import LEVEL, Ballot, ballots_of
from .command import fetch_rows, project_row
from .engine import Store
from .plans import PlanSettings, settings_of


def ballot_scores_of(conn: sa.Connection, project_id: str) -> pd.DataFrame:
    """One row an item and ballot (schema BALLOT_SCORES), by ballot and item."""
    b = t.ballot_item.c
    names = ("wins", "ties", "losses", "unknowns", "x", "y", "mean", "lower", "upper")
    query = (
        sa.select(t.ballot.c.number, t.item.c.position, *[b[name] for name in names])
        .join(t.ballot, t.ballot.c.id == b.ballot_id)
        .join(t.item, t.item.c.id == b.item_id)
        .where(t.ballot.c.project_id == project_id)
        .order_by(t.ballot.c.number, t.item.c.position)
    )
    frame = pd.DataFrame(fetch_rows(conn, query), columns=list(BALLOT_SCORES.columns))
    kinds = {name: "int64" if kind == "int" else "float64" for name, kind in BALLOT_SCORES.columns.items()}
    return BALLOT_SCORES.check(frame.astype(kinds))


def read_ballot_scores(store: Store, project_id: str) -> pd.DataFrame:
    """One row an item and ballot (schema BALLOT_SCORES)."""
    with store.read() as conn:
        return ballot_scores_of(conn, project_id)


def read_dataset(store: Store, project_id: str) -> pd.DataFrame:
    """The project's dataset as it stands; see `dataset_of`."""
    with store.read() as conn:
        return dataset_of(conn, project_id)


def dataset_of(conn: sa.Connection, project_id: str) -> pd.DataFrame:
    """The project's dataset as it stands (schema DATASET), best first, with its description in `.attrs`.

    An item's score is ȳ of the last closed ballot it was in. Before any ballot is closed it is x of ballot 1 by
    the votes received so far. Items without a vote are left out and counted in `.attrs["unscored_items"]`.
    """
    project = project_row(conn, project_id)
    ballots = ballots_of(conn, project_id)
    dataset = build_dataset(items_of(conn, project_id), ballot_scores_of(conn, project_id), ballots)
    found = settings_of(conn, project_id)
    closed = [ballot for ballot in ballots if not ballot.is_open]
    voters = _voters(conn, [ballot.id for ballot in closed or ballots])
    planned = found[1].n_ballots if found else None
    dataset.attrs |= {
        "project": project.name,
        "notion": project.notion,
        "provisional": planned is None or len(closed) < planned,
        "ballots_closed": len(closed),
        "ballots_planned": planned,
        "estimator": "mean of rescaled Borda scores (Lombardo et al. 2020, Eqs. 1, 5, 6)",
        "scale": "Borda score of ballot 1; higher = more related; not clipped",
        "interval": {"level": LEVEL, "kind": "percentile bootstrap of the score, voters resampled"},
        "n0": 2.0,
        "plan": _described(found[1]) if found else None,
        "seeds": {
            "project": project.seed,
            "plan": found[1].seed if found else None,
            "ballots": [ballot.seed for ballot in ballots],
        },
        "voters": {"people": voters["person"], "simulated": voters["simulated"]},
        "simulated_votes": voters["simulated"] > 0,
        "versions": {"runoff": __version__, "numpy": np.__version__, "pandas": pd.__version__},
    }
    return dataset


def _described(settings: PlanSettings) -> dict:
    appearances = settings.appearances
    return {
        "protocol": settings.protocol,
        "n_ballots": settings.n_ballots,
        "keep": settings.keep,
        "appearances": list(appearances) if isinstance(appearances, tuple) else appearances,
        "ties_allowed": settings.ties_allowed,
    }


def _voters(conn: sa.Connection, ballot_ids: Sequence[int]) -> dict[str, int]:
    """How many people and simulated voters gave a counted vote."""
    query = (
        sa.select(t.voter.c.kind, sa.func.count(sa.distinct(t.voter.c.id)))
        .join(t.assignment, t.assignment.c.voter_id == t.voter.c.id)
        .join(t.judgement, t.judgement.c.assignment_id == t.assignment.c.id)
        .join(t.question, t.question.c.id == t.judgement.c.question_id)
        .where(t.assignment.c.ballot_id.in_(ballot_ids), t.judgement.c.status == "counted", t.question.c.role == "main")
        .group_by(t.voter.c.kind)
    )
    return {"person": 0, "simulated": 0} | dict(fetch_rows(conn, query))


def build_dataset(items: pd.DataFrame, scores: pd.DataFrame, ballots: Sequence[Ballot]) -> pd.DataFrame:
    """A dataset from the rows of `ballot_scores_of`; see `read_dataset` for what a score is."""
    closed = [ballot.number for ballot in ballots if not ballot.is_open]
    used = scores[scores["ballot"].isin(closed)] if closed else scores[scores["ballot"] == 1]
    used = used.assign(votes=used["wins"] + used["ties"] + used["losses"])
    if not closed:
        with np.errstate(invalid="ignore", divide="ignore"):
            used = used.assign(mean=(used["wins"] + used["ties"] / 2) / used["votes"])
    last = used.dropna(subset=["mean"]).groupby("item").tail(1).set_index("item")
    totals = used.assign(ballots=used["votes"] > 0).groupby("item")[["votes", "ballots"]].sum()
    frame = items.set_index("item")[["area", "token_a", "token_b"]].join(last[["mean", "lower", "upper"]], how="inner")
    frame = frame.join(totals).rename(columns={"mean": "score"}).reset_index()
    frame["rank"] = average_ranks(frame["score"].to_numpy()) if len(frame) else np.array([], dtype=float)
    frame = frame.sort_values(["rank", "item"], kind="stable").reset_index(drop=True)
    frame = frame.astype({"votes": "int64", "ballots": "int64", "lower": "float64", "upper": "float64"})
    dataset = DATASET.check(frame[list(DATASET.columns)])
    dataset.attrs["unscored_items"] = len(items) - len(dataset)
    dataset.attrs["votes"] = int(used["votes"].sum() // 2)
    return dataset
