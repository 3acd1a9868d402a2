"""A result file of a round, read and held against the store."""

from __future__ import annotations

import sqlalchemy as sa

from ..errors import StoreError
from ..platforms.base import ResultFile
from ..platforms.meanings import Said
from ..platforms.scheme_results import read_round_results
from ..schemes.collected import RATING
from ..schemes.rating_answers import is_rating_set, rating_set_answers
from ..schemes.rating_files import read_ratings
from ..schemes.result_rows import classify_answers
from ..votes import Preview
from .ballots import Ballot
from .judgements import as_stored, known_of, left_out_of
from .policies import policy_of
from .rounds import round_by_id, shown_of


def open_round(conn: sa.Connection, project_id: str, ballot_id: int) -> Ballot:
    """A round that takes answers; `StoreError` where it is closed, or gone."""
    found = round_by_id(conn, project_id, ballot_id)
    if not found.is_open:
        raise StoreError(f"{found.title}, is closed. Reopen it before answers are taken.")
    return found.ballot


def read_round_file(
    conn: sa.Connection, project_id: str, ballot: Ballot, data: bytes, filename: str, said: Said
) -> tuple[ResultFile, Preview]:
    """What a file for a round holds, and what each answer in it means. Raises `InputError` for one of another kind."""
    found = round_by_id(conn, project_id, ballot.id)
    shown = shown_of(conn, project_id, found)
    if found.scheme == RATING and is_rating_set(data, filename):
        results = rating_set_answers(read_ratings(data, filename), shown)
    else:
        results = as_stored(conn, project_id, read_round_results(data, filename, found.scheme, said))
    preview = classify_answers(
        results.answers,
        shown,
        known_of(conn, ballot.id, results.platform, scheme=found.scheme),
        found.settings,
        policy=policy_of(conn, project_id),
        excluded=left_out_of(conn, project_id, results.platform),
    )
    return results, preview
