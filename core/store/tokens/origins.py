"""Where tokens came from: given by people, or proposed by an embedding that may be evaluated with them later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from ...tokens.files import AreaTokens
from .. import schema as t
from ..command import fetch_rows

NEIGHBOUR = "neighbour:"  # what the origin of an embedding's proposal begins with; its id follows


def kept_origins(conn: sa.Connection, project_id: str, areas: Sequence[AreaTokens]) -> dict[tuple[str, str], str]:
    """The origins that tokens keep: those of their area, or of an area that is there no more (under this name)."""
    names = {area.name for area in areas}
    origins = {(area, text): origin for area, text, origin in _origins(conn, project_id)}
    moved = {text: origin for (area, text), origin in origins.items() if area not in names}
    new = [area for area in areas if area.name not in {name for name, _ in origins}]
    return origins | {(area.name, text): moved[text] for area in new for text in area.tokens if text in moved}


def origins_of(conn: sa.Connection, project_id: str) -> dict[tuple[str, str], str]:
    """By (area, token) the id of the embedding that proposed it; tokens that people gave are left out."""
    rows = [row for row in _origins(conn, project_id) if row[2].startswith(NEIGHBOUR)]
    return {(area, text): origin.removeprefix(NEIGHBOUR) for area, text, origin in rows}


def proposed_tokens_of(conn: sa.Connection, project_id: str) -> list[dict[str, Any]]:
    """Which tokens were proposed by which embedding, as a dataset's description says it (see
    `core.evaluation.proposals`)."""
    tokens: dict[str, list[dict[str, str]]] = {}
    for (area, text), embedding_id in origins_of(conn, project_id).items():
        tokens.setdefault(embedding_id, []).append({"area": area, "token": text})
    rows = conn.execute(sa.select(t.embedding).where(t.embedding.c.id.in_(tokens)))
    known = {row.id: row for row in rows}
    found: list[dict[str, Any]] = []
    for embedding_id in sorted(tokens):
        row = known.get(embedding_id)
        about = {"embedding": embedding_id, "tokens": tokens[embedding_id]}
        if row is not None:
            file = {"source": row.info.get("source"), "sha256": row.info.get("sha256")}
            about |= {"name": row.name, "content_hash": row.content_hash} | file
        found.append(about)
    return found


def _origins(conn: sa.Connection, project_id: str) -> list[tuple[str, str, str]]:
    """Area, token and origin of each token of the project, in their order."""
    query = (
        sa.select(t.area.c.name, t.token.c.text, t.token.c.origin)
        .join(t.area, t.area.c.id == t.token.c.area_id)
        .where(t.area.c.project_id == project_id)
        .order_by(t.area.c.position, t.token.c.position)
    )
    return fetch_rows(conn, query)
