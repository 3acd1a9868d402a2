"""Rounds of other schemes than comparisons: ratings, best–worst, orders of target groups.

A round is a ballot of another scheme, with settings of its own (`schemes.collected`), so that tasks, uploads, voters,
exclusions, settlement and the voting page are those of ballots. Its number in the table is −1, −2, … in the order in
which a ranking's rounds are drawn, whatever their schemes: nothing that looks for ballots 1, 2, … finds one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ..errors import PlanError, StoreError
from ..schemes.collected import ORDER, SCHEMES, RoundSettings, check_round
from ..tables import SHOWN
from . import schema as t
from .areas import items_of
from .ballots import Ballot, every_ballot_of
from .command import fetch_rows
from .engine import Store
from .rankings import COMPARISON, rankings_of
from .tallies import Progress, progress_of


@dataclass(frozen=True)
class Round:
    """A round: the ballot that it is, and what it was drawn by."""

    ballot: Ballot
    settings: RoundSettings

    @property
    def id(self) -> int:
        return self.ballot.id

    @property
    def number(self) -> int:
        """1, 2, … among the rounds of its ranking."""
        return -self.ballot.number

    @property
    def scheme(self) -> str:
        return self.settings.scheme

    @property
    def is_open(self) -> bool:
        return self.ballot.is_open

    @property
    def title(self) -> str:
        """What pages call it: "Round 2, ratings"."""
        return f"Round {self.number}, {self.settings.label}"


def rounds_of(conn: sa.Connection, project_id: str, area_id: int | None = None) -> list[Round]:
    """The rounds of a ranking in the order they were drawn."""
    settings = _settings(conn, project_id)
    mine = [ballot for ballot in every_ballot_of(conn, project_id) if ballot.is_round and ballot.area_id == area_id]
    return [Round(ballot, settings[ballot.id]) for ballot in mine]


def _settings(conn: sa.Connection, project_id: str) -> dict[int, RoundSettings]:
    of = t.ballot.c
    query = sa.select(of.id, of.scheme, of.settings).where(of.project_id == project_id, of.scheme != COMPARISON)
    return {row.id: RoundSettings.of({**row.settings, "scheme": row.scheme}) for row in conn.execute(query)}


def read_rounds(store: Store, project_id: str, area_id: int | None = None) -> list[Round]:
    """The rounds of a ranking in the order they were drawn."""
    with store.read() as conn:
        return rounds_of(conn, project_id, area_id)


def round_of(conn: sa.Connection, project_id: str, number: int, area_id: int | None = None) -> Round:
    """A round by its number; `StoreError` where there is none."""
    for found in rounds_of(conn, project_id, area_id):
        if found.number == number:
            return found
    raise StoreError(f"There is no round {number}. Draw one on the page Other schemes first.")


def round_by_id(conn: sa.Connection, project_id: str, ballot_id: int) -> Round:
    """A round by the id of its ballot; `StoreError` where there is none."""
    settings = _settings(conn, project_id)
    for ballot in every_ballot_of(conn, project_id):
        if ballot.id == ballot_id and ballot_id in settings:
            return Round(ballot, settings[ballot_id])
    raise StoreError("This round is gone. Load the page again.")


def round_progress(store: Store, ballot_id: int) -> Progress:
    """How far a round has come: `answered` and `wanted` count answers."""
    with store.read() as conn:
        return progress_of(conn, ballot_id)


def shown_of(conn: sa.Connection, project_id: str, found: Round) -> pd.DataFrame:
    """What a round shows (schema SHOWN), by task, question and place.

    Of an order the target stands as token_a, whatever the order of the item's tokens is; a rated item is shown with
    its tokens exchanged where the draw has it so.
    """
    option, put = t.question_option.c, t.task_question.c
    query = (
        sa.select(put.question_id, t.task.c.code, put.n, option.position, option.item_id, put.left_swapped)
        .join(t.task, t.task.c.id == put.task_id)
        .join(t.question_option, option.question_id == put.question_id)
        .where(t.task.c.ballot_id == found.id)
        .order_by(t.task.c.position, put.n, option.position)
    )
    names = ["question_id", "task_id", "n", "place", "id", "swapped"]
    frame = pd.DataFrame(fetch_rows(conn, query), columns=names)
    items = items_of(conn, project_id)
    at = items.index.get_indexer(pd.Index(frame["id"]))
    for name in ("item", "token_a", "token_b", "area"):
        frame[name] = items[name].array.take(at)
    swapped = frame["swapped"].to_numpy(dtype=bool)
    if found.scheme == ORDER:
        swapped = frame["token_b"].to_numpy() == frame["question_id"].map(targets_of(conn, found)).to_numpy()
    one, other = frame["token_a"].to_numpy(dtype=object), frame["token_b"].to_numpy(dtype=object)
    frame["token_a"], frame["token_b"] = np.where(swapped, other, one), np.where(swapped, one, other)
    frame["place"] += 1
    kinds = {"text": "str", "int": "int64"}
    return SHOWN.check(frame.astype({name: kinds[kind] for name, kind in SHOWN.columns.items()})[list(SHOWN.columns)])


def targets_of(conn: sa.Connection, found: Round) -> dict[int, str]:
    """The target of each question of a round of orders: questions are written in the order of the groups."""
    query = sa.select(t.question.c.id).where(t.question.c.ballot_id == found.id).order_by(t.question.c.id)
    ids = [id_ for (id_,) in fetch_rows(conn, query)]
    return {id_: group.target for id_, group in zip(ids, found.settings.groups, strict=True)}


def read_shown(store: Store, project_id: str, ballot_id: int) -> pd.DataFrame:
    """What a round shows (schema SHOWN); see `shown_of`."""
    with store.read() as conn:
        return shown_of(conn, project_id, round_by_id(conn, project_id, ballot_id))


def short_questions(store: Store, ballot_id: int) -> list[int]:
    """The ids of a round's questions that have fewer answers than they want."""
    q = t.question.c
    query = sa.select(q.id).where(q.ballot_id == ballot_id, q.n_votes < q.n_wanted).order_by(q.id)
    with store.read() as conn:
        return [id_ for (id_,) in fetch_rows(conn, query)]


def check_rounds(conn: sa.Connection, project_id: str) -> None:
    """Raise `ValueError` unless the ballots that aren't comparisons are rounds: a scheme, settings, numbers."""
    for ballot in every_ballot_of(conn, project_id):
        if ballot.scheme not in (COMPARISON, *SCHEMES) or ballot.is_round != (ballot.number < 0):
            raise ValueError(f"a ballot has the scheme {ballot.scheme!r} and the number {ballot.number}")
    for ranking in rankings_of(conn, project_id):
        for found in rounds_of(conn, project_id, ranking.area_id):
            try:
                check_round(found.settings)
            except PlanError as error:
                raise ValueError(str(error)) from error
