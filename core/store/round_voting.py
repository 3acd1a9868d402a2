"""The owner's commands for the voting page of a round: open it, pause, close.

A ranking has one link, so one voting page is open at a time: its ballot's, or that of one of its rounds.
"""

from __future__ import annotations

from dataclasses import replace

import sqlalchemy as sa

from ..errors import StoreError
from ..voting_settings import CONSENT, VotingSettings, check_voting
from .command import command
from .engine import Store
from .page_tallies import write_dealt
from .rankings import ballot_named
from .rounds import Round, round_of
from .voting import change_state, link_row, open_page

ROUND_CONSENT = (
    "You will be asked how closely words, or other texts, are connected. Taking part is voluntary, and you can stop at "
    "any time. Your answers are stored under the name or id that you came with, and are used for research."
)


def round_voting_settings(found: Round, settings: VotingSettings | None = None) -> VotingSettings:
    """Settings for the voting page of a round: what isn't asked there is off, and the sizes are those of the round.

    No checks, repeats, examples or ties; each question wants as many answers as the round has raters.
    """
    given = settings or VotingSettings(task_size=found.settings.task_size)
    plain = replace(given, ties_allowed=False, n_gold=0, n_repeats=0, adaptive=False, examples=False)
    return replace(plain, consent=ROUND_CONSENT) if plain.consent == CONSENT else plain


def open_round_voting(
    store: Store,
    project_id: str,
    number: int,
    settings: VotingSettings | None = None,
    *,
    area_id: int | None = None,
    expected_revision: int | None = None,
) -> str:
    """Open the voting page of an open round, or change its settings; returns the code of the ranking's link.

    Raises `InputError` for settings that make no sense, `StoreError` where the round is closed, or while another
    voting page of the ranking is open.
    """
    with command(store, project_id, "open voting", expected_revision=expected_revision) as change:
        conn = change.conn
        found = _open_round(conn, project_id, number, area_id)
        wanted = check_voting(round_voting_settings(found, settings))
        open_page(conn, project_id, area_id, found.id, wanted)
        write_dealt(conn, found.id)
        change.detail = ballot_named(conn, project_id, area_id, found.ballot.number) | {"settings": wanted.told()}
        return str(link_row(conn, project_id, area_id).code)


def set_round_voting_state(
    store: Store,
    project_id: str,
    number: int,
    state: str,
    *,
    area_id: int | None = None,
    expected_revision: int | None = None,
) -> None:
    """Pause, resume (open) or close the voting page of an open round; see `voting.set_voting_state`."""
    with command(store, project_id, f"voting {state}", expected_revision=expected_revision) as change:
        conn = change.conn
        found = _open_round(conn, project_id, number, area_id)
        change_state(conn, project_id, area_id, found.id, state, "round")
        change.detail = ballot_named(conn, project_id, area_id, found.ballot.number)


def _open_round(conn: sa.Connection, project_id: str, number: int, area_id: int | None) -> Round:
    found = round_of(conn, project_id, number, area_id)
    if not found.is_open:
        raise StoreError(f"{found.title}, is closed. Reopen it, or draw another one.")
    return found
