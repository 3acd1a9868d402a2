"""A project made from a template, so that a first campaign is a few clicks away."""

from __future__ import annotations

import sqlalchemy as sa

from ...tokens.files import AreaTokens
from .. import schema as t
from ..ballots.pilots import draw_pilot
from ..engine import Store
from ..tokens.areas import add_areas, read_items
from .plans import proposed_plan, save_plan
from .projects import create_project, get_project

# Everyday words, so that anybody can vote on them at once.
TEMPLATE = (
    AreaTokens("Kitchen", ("kettle", "teapot", "saucepan", "ladle", "recipe", "oven", "dough", "pepper", "appetite")),
    AreaTokens(
        "Weather", ("drizzle", "downpour", "umbrella", "thunder", "frost", "icicle", "breeze", "forecast", "sky")
    ),
)
PILOT_COMPARISONS = 50


def create_from_template(
    store: Store, name: str, *, kind: str = "real", notion: str = "relatedness", seed: int | None = None
) -> str:
    """Make a project of two areas with the proposed plan and a drawn pilot of 50 comparisons, and return its id.

    Everything can be changed until ballot 1 is drawn, once the pilot is discarded. Raises as `create_project`.
    """
    project_id = create_project(store, name, kind=kind, notion=notion, seed=seed)
    add_areas(store, project_id, TEMPLATE)
    project = get_project(store, project_id)
    save_plan(store, project_id, proposed_plan(len(read_items(store, project_id)), project.seed))
    draw_pilot(store, project_id, PILOT_COMPARISONS)
    return project_id


def is_untouched(store: Store, project_id: str) -> bool:
    """Whether nothing came from voters yet: no upload, no voting page, no voter; then making it can be undone."""
    with store.read() as conn:
        gone = sa.select(sa.literal(1)).where(
            sa.or_(
                sa.exists().where(t.voter.c.project_id == project_id),
                sa.exists().where(t.voting_link.c.project_id == project_id),
                sa.exists().where(t.upload.c.ballot_id == t.ballot.c.id, t.ballot.c.project_id == project_id),
            )
        )
        return conn.execute(gone).first() is None
