"""Commands of the terminal for a project's rounds and voters in the workspace: `runoff rounds` and `runoff voters`.

Rounds are of ratings, best–worst and orders of target groups; `voters` gives the figures of each voter that the page
Voters has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.durable import shown_name
from ..errors import InputError, StoreError
from .shared import cell, text_table, with_json, write_json

if TYPE_CHECKING:
    from ..questions import RoundSettings
    from ..store import Store
    from ..store.ballots.ballot_rows import Ballot
    from ..views.voters import VotersView


@click.command("voters")
@click.argument("project", metavar="PROJECT")
@click.option("--area", help="The area, where each has a ranking of its own.")
@with_json
def voters_command(project: str, area: str | None, as_json: bool) -> None:
    """How each voter of a PROJECT (its id or name) voted: checks, agreement, consistency, sides, speed, lapse."""
    from ..store import open_store
    from ..views.voters import load

    store = open_store()
    project_id = project_named(store, project)
    view = load(store, project_id, area_named(store, project_id, area))
    if as_json:
        write_json(_json(view))
    else:
        click.echo(_text(view))


def project_named(store: Store, named: str) -> str:
    """The project of this id, else the one of this name."""
    from ..store.projects.project_commands import list_projects

    projects = list_projects(store)
    if any(project.id == named for project in projects):
        return named
    project_id = next((project.id for project in projects if project.name == named), None)
    if project_id is None:
        known = ", ".join(f"{project.name} ({project.id})" for project in projects) or "none"
        raise StoreError(f"In this workspace no project is called {named!r}. There are: {known}.")
    return project_id


def area_named(store: Store, project_id: str, area: str | None) -> int | None:
    """The id of the area, None where one ranking holds all areas."""
    from ..store.projects.plans import read_rankings

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
    table = view.table().drop(columns="voter_id")
    rows = [[cell(value) for value in row] for row in table.itertuples(index=False, name=None)]
    return "\n\n".join([view.headline, view.alpha_said, text_table(list(table.columns), rows), *view.blank()])


Command = Callable[..., Any]


@click.group("rounds")
def rounds_command() -> None:
    """Ratings, best–worst and orders of target groups, collected through a project."""


def _of_round(command: Command) -> Command:
    """PROJECT (id or name), the round's NUMBER, and the area where each has a ranking of its own."""
    command = click.argument("number", type=int)(command)
    command = click.argument("project")(command)
    return _with_area(command)


def _with_area(command: Command) -> Command:
    return click.option("--area", help="The area, where each has a ranking of its own.")(command)


def _opened(project: str, area: str | None) -> tuple[Store, str, int | None]:
    from ..store import open_store

    store = open_store()
    project_id = project_named(store, project)
    return store, project_id, area_named(store, project_id, area)


def found_round(store: Store, project_id: str, number: int, area_id: int | None) -> Ballot:
    from ..store.ballots.ballot_rows import round_of

    with store.read() as conn:
        return round_of(conn, project_id, number, area_id)


@rounds_command.command("list")
@click.argument("project")
@_with_area
@with_json
def list_command(project: str, area: str | None, as_json: bool) -> None:
    """The rounds of a PROJECT with their progress."""
    from ..views.kinds.rounds import load

    store, project_id, area_id = _opened(project, area)
    rounds = load(store, project_id, area_id)
    if as_json:
        write_json({"rounds": [
            {"number": v.round.number, "scheme": v.round.scheme, "state": v.round.state,
             "answered": v.progress.answered, "wanted": v.progress.wanted, "figures": v.fit} for v in rounds
        ]})  # fmt: skip
        return
    click.echo("\n".join(f"{view.round.title}. {view.said}" for view in rounds) or "There is no round yet.")


@rounds_command.command("draw")
@click.argument("project")
@click.option("--scheme", required=True, help="rating, best-worst or order.")
@click.option("--scale", default="CLSS", show_default=True, help="Of ratings: CLSS or STSS.")
@click.option("--raters", type=int, help="People wanted per question (5 for ratings, 1 for tuples, 10 for orders).")
@click.option("--task-size", type=int, help="Questions per task.")
@click.option("--size", type=int, help="Items per tuple (4).")
@click.option("--appearances", type=int, help="Tuples per item (8).")
@click.option("--after", type=int, help="Of best–worst: go on with the leading items of this closed round.")
@click.option("--keep", type=float, help="Share of the items that goes on (0.5).")
@click.option("--groups", type=click.Path(path_type=Path), help="Of orders: a file of target groups.")
@click.option("--language", default="en", show_default=True, help="Of what people read: en or it.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same round.")
@_with_area
@with_json
def draw_command(
    project: str, scheme: str, scale: str, after: int | None, groups: Path | None, language: str, seed: int,
    area: str | None, as_json: bool, **sizes: float | None,
) -> None:  # fmt: skip
    """Draw a round of a PROJECT (its id or name)."""
    from ..store.ballots.drawing import draw_round

    store, project_id, area_id = _opened(project, area)
    settings = _settings(
        scheme, scale, groups, seed, {name: value for name, value in sizes.items() if value is not None}
    )
    settings = replace(settings, language=language)
    number = draw_round(store, project_id, settings, area_id=area_id, after=after)
    round_ = found_round(store, project_id, number, area_id)
    if as_json:
        write_json({"round": number, "questions": round_.n_comparisons, "items": round_.n_items})
    else:
        click.echo(f"{round_.title}: {round_.n_comparisons:,} questions about {round_.n_items:,} items.")


def _settings(scheme: str, scale: str, groups: Path | None, seed: int, sizes: dict[str, Any]) -> RoundSettings:
    from ..questions import default_settings
    from ..questions.order.kind import groups_of, read_group_file
    from ..questions.rating.scales import SCALES

    if scale not in SCALES:
        raise InputError(f"--scale is one of {', '.join(SCALES)}, found {scale!r}.")
    settings = replace(default_settings(scheme, seed=seed), scale=SCALES[scale], **sizes)
    if groups is None:
        return settings
    try:
        read = read_group_file(groups.read_bytes(), groups.name)
    except OSError as error:
        raise InputError(f"{groups} can't be read: {error.strerror}.") from error
    for note in read.notes:
        click.echo(f"{groups}: {note}", err=True)
    return replace(settings, groups=tuple(groups_of(read.comparisons)))


@rounds_command.command("batch")
@_of_round
@click.argument("target", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--table", is_flag=True, help="A table to fill in (question_id, voter, answer) in place of a batch.")
@click.option("--missing", is_flag=True, help="Only questions that still need answers.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Letters outside ASCII as character references, for Turkle.")
@with_json
def batch_command(
    project: str, number: int, target: Path, area: str | None, table: bool, missing: bool, ascii_only: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Write the batch of round NUMBER of a PROJECT to FILE, one row per task."""
    from ..platforms.round_files import write_questions, write_round
    from ..store.ballots.ballot_rows import short_questions
    from ..store.ballots.comparisons import read_shown

    store, project_id, area_id = _opened(project, area)
    round_ = found_round(store, project_id, number, area_id)
    questions = read_shown(store, project_id, round_.id)
    only = short_questions(store, round_.id) if missing else None
    if table:
        data = write_questions(questions, only=only)
    else:
        data = write_round(questions, round_.asks, only=only, ascii_only=ascii_only)
    _write(target, data)
    if as_json:
        write_json({"file": str(target), "bytes": len(data)})
    else:
        click.echo(f"{target}: {round_.title}.")


def _write(target: Path, data: bytes) -> None:
    try:
        target.write_bytes(data)
    except OSError as error:
        raise InputError(f"{target} can't be written: {error.strerror}.") from error


@rounds_command.command("upload")
@_of_round
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--accept", is_flag=True, help="Accept the answers; without this they are only checked.")
@with_json
def upload_command(project: str, number: int, source: Path, area: str | None, accept: bool, as_json: bool) -> None:
    """Look at a result FILE for round NUMBER of a PROJECT, or accept its answers."""
    from ..store.votes.intake import accept_upload, preview_upload
    from ..views import file_kinds

    store, project_id, area_id = _opened(project, area)
    round_ = found_round(store, project_id, number, area_id)
    try:
        data = source.read_bytes()
    except OSError as error:
        raise InputError(f"{source} can't be read: {error.strerror}.") from error
    name = shown_name(source)
    file_kinds.check("round results", data, name, store, project_id)
    preview = preview_upload(store, project_id, data, name, area_id, code=round_.code)
    if accept:
        accept_upload(store, project_id, data, name, area_id, found=preview, code=round_.code)
    if as_json:
        write_json({"accepted": accept, "rows": preview.n_rows, "answers": preview.counts,
                    "issues": [str(issue) for issue in preview.issues]})  # fmt: skip
        return
    counts = ", ".join(f"{n:,} {kind}" for kind, n in preview.counts.items()) or "no answer"
    click.echo(f"{name}: {counts}. {'Accepted.' if accept else 'Nothing was accepted: add --accept.'}")


@rounds_command.command("simulate")
@_of_round
@with_json
def simulate_round_command(project: str, number: int, area: str | None, as_json: bool) -> None:
    """Let simulated voters answer what round NUMBER still lacks; in demo and trial projects only."""
    from ..store.ballots.simulated import simulate_votes

    store, project_id, area_id = _opened(project, area)
    round_ = found_round(store, project_id, number, area_id)
    n = simulate_votes(store, project_id, area_id=area_id, code=round_.code)
    if as_json:
        write_json({"answers": n})
    else:
        click.echo(f"{n:,} answers of simulated voters.")


@rounds_command.command("close")
@_of_round
@with_json
def close_command(project: str, number: int, area: str | None, as_json: bool) -> None:
    """Close round NUMBER of a PROJECT: its scores are computed and kept."""
    from ..store.ballots.closing import close_ballot
    from ..views.kinds.rounds import load

    store, project_id, area_id = _opened(project, area)
    close_ballot(store, project_id, area_id=area_id, code=found_round(store, project_id, number, area_id).code)
    view = next(view for view in load(store, project_id, area_id) if view.round.number == number)
    if as_json:
        write_json({"round": number, "figures": view.fit})
    else:
        click.echo("\n".join([view.said, *(f"{label}: {value}" for label, value, _ in view.figures)]))


@rounds_command.command("scores")
@_of_round
@click.argument("target", metavar="FILE", type=click.Path(path_type=Path))
@with_json
def scores_command(project: str, number: int, target: Path, area: str | None, as_json: bool) -> None:
    """Write what a closed round says to FILE, and rank the project's embeddings by it.

    Ratings and best–worst: a dataset, with its description in a JSON file beside it, as `evaluate` takes it. Orders: a
    file of target groups, as `groups` takes it.
    """
    from ..dataset.files import to_csv, to_json
    from ..questions.order.kind import write_groups
    from ..store.scores.project_dataset import round_dataset
    from ..views.kinds import rounds as view

    store, project_id, area_id = _opened(project, area)
    round_ = found_round(store, project_id, number, area_id)
    if not round_.kind.about.scores_items:
        _write(target, write_groups(view.compared_words(store, project_id, round_)).encode("utf-8"))
    else:
        dataset = round_dataset(store, project_id, round_.id)
        _write(target, to_csv(dataset))
        _write(target.with_suffix(".json"), to_json({str(name): value for name, value in dataset.attrs.items()}))
    opened, problems = view.opened_models(store, project_id)
    table = view.models(store, project_id, round_, opened)
    if as_json:
        write_json({"file": str(target), "models": table.to_dict("records"), "problems": problems})
        return
    rows = [[cell(value) for value in row] for row in table.itertuples(index=False, name=None)]
    click.echo("\n\n".join([f"{target}: {round_.title}.", text_table(list(table.columns), rows), *problems]))
