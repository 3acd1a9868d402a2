"""What SQLite's errors mean to a person, and what to do about them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import sqlalchemy as sa

from ..errors import BusyError, StoreError

# A part of SQLite's own words, and what to do then; the first that fits is taken.
_CURES = {
    "locked": "Another program is at work in {folder}: try again.",
    "readonly": "Runoff may not write there. Give the user who runs it the right to write to {folder} and all in it, "
    "or choose another folder with RUNOFF_WORKSPACE.",
    "unable to open": "Runoff may not read or write there, or the disk is full. Look at the rights of {folder} and at "
    "the room on its disk.",
    "full": "The disk is full: make room on the one that holds {folder}, and do it again.",
    "disk I/O": "The disk that holds {folder} may be full, or broken: make room, look at it, and do it again.",
}
_DAMAGED = ("malformed", "not a database", "database corruption")


def in_words(folder: Path, error: sa.exc.DBAPIError | sqlite3.Error) -> StoreError | None:
    """What a person is told about an error of SQLite, wrapped or not; None for a fault of the program."""
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    said = str(cause)
    if any(part in said for part in _DAMAGED):
        return StoreError(
            f"The database {folder / 'runoff.sqlite'} can't be read ({said}). "
            f"Restore a copy from {folder / 'backups'}, or choose another folder with RUNOFF_WORKSPACE."
        )
    if not isinstance(cause, sqlite3.OperationalError):
        return None
    cures = (cure for part, cure in _CURES.items() if part in said)
    cure = next(
        cures, "If it is locked, another program is at work in {folder}: try again. If the disk is full, make room."
    )
    kind = BusyError if "locked" in said else StoreError
    return kind(f"The workspace can't do it now ({said}), and nothing was changed. {cure.format(folder=folder)}")
