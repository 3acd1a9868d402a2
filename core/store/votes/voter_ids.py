"""How ids of platforms are stored, as they are or hashed; once somebody has begun to vote, that stays."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import sqlalchemy as sa

from ...errors import StoreError
from ...questions.voting_settings import VotingSettings
from .. import schema as t
from ..projects.rankings import belongs


def seal(secret: str, *parts: Any) -> str:
    """What nobody can make up who doesn't have the secret, the same each time."""
    text = "|".join(map(str, parts)).encode("utf-8", "replace")
    return hmac.new(bytes.fromhex(secret), text, hashlib.sha256).hexdigest()


def hashed_id(voter_secret: str, platform: str, external_id: str) -> str:
    """What is stored in place of a platform's id, where ids are hashed."""
    return "h-" + seal(voter_secret, "voter", platform, external_id)[:32]


def hashing_of(conn: sa.Connection, project_id: str, area_id: int | None, ballot_id: int) -> bool | None:
    """Whether a ranking's voters are known by hashes of platforms' ids; None before anybody has begun to vote in it.

    Where an older Runoff let that be changed, a ballot's own voters count, then the newest.
    """
    v, b = t.voting.c, t.ballot.c
    query = (
        sa.select(v.settings)
        .join(t.ballot, b.id == v.ballot_id)
        .where(b.project_id == project_id, belongs(b.area_id, area_id))
        .where(sa.exists().where(t.sitting.c.voting_id == v.id))
        .order_by(sa.case((b.id == ballot_id, 0), else_=1), v.id.desc())
    )
    settings = conn.execute(query.limit(1)).scalar_one_or_none()
    return None if settings is None else VotingSettings.of(settings).hash_ids


def refuse_other_hashing(
    conn: sa.Connection, project_id: str, area_id: int | None, ballot_id: int, settings: VotingSettings
) -> None:
    """`StoreError` for settings by which nobody would be known again who has begun to vote."""
    if hashing_of(conn, project_id, area_id, ballot_id) in (None, settings.hash_ids):
        return
    kept = "as they are" if settings.hash_ids else "as hashes"
    raise StoreError(
        f"People have begun to vote here, and platforms' ids are stored {kept}. Leave that as it is: the other way, "
        "all of them could vote again."
    )
