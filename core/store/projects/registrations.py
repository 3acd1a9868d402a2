"""Plans registered before ballot 1, and what was kept of them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any

import sqlalchemy as sa

from ...errors import StoreError
from ...plan.registration import Kept, content_of, digest_of, kept_of
from .. import schema as t
from ..command import command, project_row
from ..engine import Store, now
from ..tokens.areas import items_of, refuse_after_draw
from ..tokens.item_rules import ItemRules
from .plans import Wording, settings_of
from .rankings import rankings_of


@dataclass(frozen=True)
class Registration:
    """A registered plan: the text, its SHA-256, when it was registered, and what became of each part."""

    sha256: str
    content: str
    at: str
    kept: tuple[Kept, ...]

    @property
    def is_kept(self) -> bool:
        """Nothing differs from what was registered."""
        return all(part.same for part in self.kept)

    def described(self) -> dict[str, Any]:
        """What a dataset's description says of it."""
        changed = [asdict(part) for part in self.kept if not part.same]
        return {"sha256": self.sha256, "at": self.at, "kept": self.is_kept, "changed": changed}


def register_plan(
    store: Store, project_id: str, *, n0: float = 2.0, exclusions: str = "", expected_revision: int | None = None
) -> str:
    """Freeze plan, seeds, rules and n₀ as they are now, and return the SHA-256 of the text.

    `exclusions` are the owner's rules for leaving out votes or voters, in words. Raises `StoreError` once ballot 1 is
    drawn, or where a ranking has no plan. Registering again keeps the earlier ones too; the newest counts.
    """
    with command(store, project_id, "register plan", expected_revision=expected_revision) as change:
        refuse_after_draw(change.conn, project_id, "The registration", pilot=False)
        parts = _parts(change.conn, project_id, n0, exclusions.strip())
        content = content_of(change.project.name, parts)
        digest = digest_of(content)
        change.detail = {"sha256": digest}
        change.conn.execute(
            sa.insert(t.registration).values(project_id=project_id, sha256=digest, content=content, at=now())
        )
    return digest


def registration_of(conn: sa.Connection, project_id: str, *, n0: float = 2.0) -> Registration | None:
    """The newest registration with what was kept of it, None where there is none. `n0` is the one in use now."""
    query = sa.select(t.registration).where(t.registration.c.project_id == project_id)
    row = conn.execute(query.order_by(t.registration.c.id.desc()).limit(1)).one_or_none()
    if row is None:
        return None
    # Exclusions are words: nobody can say by looking whether they were kept to, so they stand as registered.
    exclusions = _exclusions(row.content)
    kept = kept_of(row.content, _parts(conn, project_id, n0, exclusions))
    return Registration(row.sha256, row.content, row.at, kept)


def read_registration(store: Store, project_id: str, *, n0: float = 2.0) -> Registration | None:
    """The newest registration; see `registration_of`."""
    with store.read() as conn:
        return registration_of(conn, project_id, n0=n0)


def _exclusions(content: str) -> str:
    return str(json.loads(content)["parts"]["exclusions"])


def _parts(conn: sa.Connection, project_id: str, n0: float, exclusions: str) -> dict[str, Any]:
    project = project_row(conn, project_id)
    plans, wordings = {}, {}
    for ranking in rankings_of(conn, project_id):
        found = settings_of(conn, project_id, ranking.area_id)
        if found is None:
            where = f" for {ranking.area}" if ranking.area else ""
            raise StoreError(f"There is no plan{where} to register. Save one first.")
        plan = replace(found[1], wording=Wording()).stored()
        del plan["wording"]
        plans[ranking.area] = plan
        wordings[ranking.area] = found[1].wording.stored()
    items = items_of(conn, project_id)
    lines = "\n".join("\t".join(row) for row in items[["area", "token_a", "token_b"]].itertuples(index=False))
    return {
        "notion": project.notion,
        "ranking": project.ranking,
        "items": {"number": len(items), "sha256": hashlib.sha256(lines.encode("utf-8")).hexdigest()},
        "item_rules": ItemRules.of(project.item_rules).stored(),
        "plans": plans,
        "wording": wordings,
        "seeds": {"project": project.seed},
        "n0": float(n0),
        "exclusions": exclusions,
    }
