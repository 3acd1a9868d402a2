"""`runoff voters`: figures of each voter of a project of the workspace, as the page Voters has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError, StoreError
from .shared import cell, text_table, with_json, write_json

if TYPE_CHECKING:
    from ..store import Store
    from ..views.voters.voters import VotersView


@click.command("voters")
@click.argument("project", metavar="PROJECT")
@click.option("--area", help="The area, where each has a ranking of its own.")
@with_json
def voters_command(project: str, area: str | None, as_json: bool) -> None:
    """How each voter of a PROJECT (its id or name) voted: checks, agreement, consistency, sides, speed, lapse."""
    from ..store import open_store
    from ..views.voters.voters import load

    store = open_store()
    project_id = project_named(store, project)
    view = load(store, project_id, area_named(store, project_id, area))
    if as_json:
        write_json(_json(view))
    else:
        click.echo(_text(view))


def project_named(store: Store, named: str) -> str:
    """The project of this id, else the one of this name."""
    from ..store.projects.projects import list_projects

    projects = list_projects(store)
    if any(project.id == named for project in projects):
        return named
    found = next((project.id for project in projects if project.name == named), None)
    if found is None:
        there = ", ".join(f"{project.name} ({project.id})" for project in projects) or "none"
        raise StoreError(f"In this workspace no project is called {named!r}. There are: {there}.")
    return found


def area_named(store: Store, project_id: str, area: str | None) -> int | None:
    """The id of the area, None where one ranking holds all areas."""
    from ..store.projects.rankings import read_rankings

    rankings = {ranking.area: ranking.area_id for ranking in read_rankings(store, project_id)}
    if area is None and "" in rankings:
        return None
    if area not in rankings:
        named = ", ".join(name for name in rankings if name) or "none: leave --area out"
        raise InputError(f"--area names an area with a ranking of its own; there are: {named}.")
    return rankings[area]


def _json(view: VotersView) -> dict[str, Any]:
    found = view.quality.alpha
    alpha = None if found is None else {"estimate": found.alpha, "lower": found.lower, "upper": found.upper}
    rows = view.quality.table.assign(voter=view.quality.table["voter_id"].map(view.names))
    return {
        "voters": rows.drop(columns="voter_id").to_dict("records"),
        "alpha": alpha,
        "no_alpha": view.quality.no_alpha,
        "reasons": view.quality.reasons,
        "left_out": [{"voter": view.names[e.voter_id], "since": e.at, "reason": e.reason} for e in view.left_out],
    }


def _text(view: VotersView) -> str:
    shown = view.table().drop(columns="voter_id")
    rows = [[cell(value) for value in row] for row in shown.itertuples(index=False, name=None)]
    return "\n\n".join([view.headline, view.alpha_said, text_table(list(shown.columns), rows), *view.blank()])
