"""Corrected spellings: what changes a token's text and nothing else, also after ballot 1."""

from __future__ import annotations

import sqlalchemy as sa

from ...errors import InputError
from ...tokens.files import Renamed, renamed
from .. import schema as t
from ..command import command
from ..engine import Store
from .areas import areas_of
from .item_rules import ItemRules


def correct_spelling(store: Store, project_id: str, area: str, old: str, new: str) -> Renamed:
    """Correct a token's spelling in an area, also once ballot 1 is drawn; what was changed, and what to look at again.

    The token stays the same one: items, ballots and votes keep it, files with the old spelling are still taken
    (`former_spellings_of`), the log has both. Raises `InputError` as `tokens.renamed` does.
    """
    with command(store, project_id, "correct spelling") as change:
        conn = change.conn
        done = renamed(areas_of(conn, project_id), {old: new}, area=area)
        if not done.changes:
            raise InputError(f"{old!r} is spelled so already. Nothing was changed.")
        ((_, _, spelling),) = done.changes
        change.detail = {"area": area, "old": old, "new": spelling}
        of_area = sa.select(t.area.c.id).where(t.area.c.project_id == project_id, t.area.c.name == area)
        token = sa.update(t.token).where(t.token.c.area_id == of_area.scalar_subquery(), t.token.c.text == old)
        conn.execute(token.values(text=spelling))
        rules = ItemRules.of(change.project.item_rules).respelled(area, old, spelling)
        if rules != ItemRules():
            row = sa.update(t.project).where(t.project.c.id == project_id)
            conn.execute(row.values(item_rules=rules.stored()))
    return done


def former_spellings_of(conn: sa.Connection, project_id: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """What tokens (area, text) were spelled before they were corrected, by the log."""
    query = sa.select(t.log.c.detail).where(t.log.c.project_id == project_id, t.log.c.action == "correct spelling")
    former: dict[tuple[str, str], tuple[str, ...]] = {}
    for detail in conn.execute(query.order_by(t.log.c.id)).scalars():
        area, old, new = detail["area"], detail["old"], detail["new"]
        former[area, new] = (*former.pop((area, old), ()), old)
    return former
