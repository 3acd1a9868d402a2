"""A project's rows: which of a store are its own, and how they are inserted under new ids."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from ...dataset.datasheet.fields import SheetFields, check_fields
from ...errors import InputError, Issue
from .. import schema as t
from ..ballots.ballots import ballot_seed, ballots_of, check_rounds
from ..blobs import check_blobs
from ..command import insert_rows, next_id, project_row
from ..engine import now
from ..schema.parts import is_exported
from ..scores.scores import dataset_of
from ..tokens.areas import items_of
from ..tokens.item_rules import ItemRules
from ..votes.publications import publications_of
from .csv_tables import FETCH_AGAIN, MAX_ISSUES, Rows
from .library import embeddings_of
from .plans import check_settings, settings_of
from .project_zip import TABLES, Contents
from .rankings import rankings_of


def belongs_to(table: sa.Table, project_id: str) -> sa.ColumnElement[bool]:
    """Which rows of a table are the project's: the first key of each table leads towards the project."""
    if table is t.project:
        return t.project.c.id == project_id
    if table is t.embedding:
        used = [sa.select(of.c.embedding_id).where(of.c.project_id == project_id) for of in _linking()]
        return sa.or_(*(t.embedding.c.id.in_(query) for query in used))
    key = next(column for column in table.c if column.foreign_keys)
    parent = next(iter(key.foreign_keys)).column.table
    return key.in_(sa.select(parent.c.id).where(belongs_to(parent, project_id)))


def _linking() -> list[sa.Table]:
    return [table for table in TABLES if "embedding_id" in table.c]


def insert_contents(
    conn: sa.Connection, contents: Contents, project_id: str, name: str, *, from_file: bool
) -> dict[str, Any]:
    """Insert a project's rows under new ids, put away until `projects.list_again`; what the log should say of it.

    Of a project `from_file` no address gets a token before the owner says so (`publications.confirm_address`).
    """
    here = set(conn.execute(sa.select(t.embedding.c.id)).scalars())
    wanted = [row[0] for row in contents.rows[t.embedding.name]]
    maps: dict[str, dict[Any, Any]] = {t.project.name: {contents.project_id: project_id}}
    maps[t.embedding.name] = {id_: id_ if id_ in here else None for id_ in wanted}
    for table in TABLES:
        if table is t.embedding:
            continue
        rows = _moved(conn, table, contents.rows[table.name], maps)
        if table is t.project:  # put away until all of it is there: whoever is listed takes a name from others
            here_now = {_place(table, "name"): name, _place(table, "archived_at"): now()}
            rows = [tuple(here_now.get(place, cell) for place, cell in enumerate(row)) for row in rows]
        if table is t.publication and from_file:
            at = _place(table, "confirmed")
            rows = [(*row[:at], 0, *row[at + 1 :]) for row in rows]
        if table is t.project_embedding:
            at = _place(table, "embedding_id")
            rows = [row for row in rows if row[at] is not None]
        if table is t.assignment:
            rows = _with_own_ids(contents.rows[table.name], rows)
        insert_rows(conn, table, list(table.c.keys()), rows)
    names = dict(zip(wanted, (row[_place(t.embedding, "name")] for row in contents.rows["embedding"]), strict=True))
    detail: dict[str, Any] = {"exported by": contents.runoff}
    detail["embeddings missing"] = {id_: names[id_] for id_ in wanted if id_ not in here}
    detail["kept files missing"] = list(contents.missing)
    return detail


def _place(table: sa.Table, column: str) -> int:
    return list(table.c.keys()).index(column)


def _moved(conn: sa.Connection, table: sa.Table, rows: Rows, maps: dict[str, dict[Any, Any]]) -> list[tuple[Any, ...]]:
    """The rows with new ids, in the old order, and their keys led to the new ids of other tables."""
    where = f"tables/{table.name}.csv"
    if table is not t.project and "id" in table.c:
        ids = sorted({row[0] for row in rows})
        if len(ids) != len(rows):
            raise InputError(f"{where} has an id twice. {FETCH_AGAIN}")
        # The order is kept: which voter is drawn in a resample, and which task a simulated one gets, hang on it.
        start = next_id(conn, table, len(ids))
        maps[table.name] = {old: start + place for place, old in enumerate(ids)}
    keys = [(place, column, _pointed(column)) for place, column in enumerate(table.c) if _pointed(column)]
    of_elsewhere = [place for place, column in enumerate(table.c) if not is_exported(column)]
    issues, moved = [], []
    for number, row in enumerate(rows, start=2):
        cells = list(row)
        for place in of_elsewhere:
            cells[place] = None
        for place, column, target in keys:
            if cells[place] is None:
                continue
            if cells[place] not in maps[target]:
                issues.append(Issue(f"there is no such {target}", number, column.name, str(cells[place])[:60]))
                continue
            cells[place] = maps[target][cells[place]]
        moved.append(tuple(cells))
        if len(issues) >= MAX_ISSUES:
            break
    if issues:
        raise InputError(f"{where} points to rows that the file hasn't. {FETCH_AGAIN}", issues)
    return moved


def _pointed(column: sa.Column) -> str:
    """The table whose ids stand in a column, "" for a column of another kind."""
    if column.foreign_keys:
        return str(next(iter(column.foreign_keys)).column.table.name)
    return str(column.table.name) if column.name == "id" else ""


def _with_own_ids(old: Rows, new: Rows) -> list[tuple[Any, ...]]:
    """Assignments of simulated voters are named by their ids (see `simulated`), so the names are renumbered too."""
    id_, task, name = (_place(t.assignment, column) for column in ("id", "task_id", "external_id"))
    rows = []
    for before, after in zip(old, new, strict=True):
        cells = list(after)
        if before[name] == f"simulated-{before[task]}-{before[id_]}":
            cells[name] = f"simulated-{after[task]}-{after[id_]}"
        rows.append(tuple(cells))
    return rows


def check_readable(conn: sa.Connection, project_id: str) -> None:
    """Raise `InputError` unless the inserted rows can be read as a project: JSON and numbers may be anything so far."""
    try:
        project = project_row(conn, project_id)
        ItemRules.of(project.item_rules)
        check_fields(SheetFields.of(project.datasheet))
        for embedding in embeddings_of(conn, project_id):
            _ = embedding.look_up  # raises for a way that there isn't
        for ranking in rankings_of(conn, project_id):
            found = settings_of(conn, project_id, ranking.area_id)
            seeds = (project.seed, check_settings(found[1]).seed if found else 0)
            ballot_seed(*seeds, 1, ranking.position)
            numbers = [ballot.number for ballot in ballots_of(conn, project_id, ranking.area_id)]
            _check_counting("ballots", numbers, 1)
        for ballot_id in conn.execute(sa.select(t.ballot.c.id).where(t.ballot.c.project_id == project_id)).scalars():
            publications_of(conn, ballot_id)  # raises for one that there can't be
        check_blobs(conn, lambda table: belongs_to(table, project_id))
        check_rounds(conn, project_id)
        _check_counting("items", items_of(conn, project_id)["item"].tolist(), 0)
        dataset_of(conn, project_id)
        for column in (t.log.c.detail, t.upload.c.counts, t.release.c.detail):
            query = sa.select(column).where(belongs_to(column.table, project_id))
            if not all(isinstance(value, dict) for value in conn.execute(query).scalars()):
                raise ValueError(f"{column.table.name}.{column.name} holds something else than names with values")
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        raise InputError(f"The file can't be read as a project ({error}). {FETCH_AGAIN}") from error


def _check_counting(what: str, numbers: list[int], first: int) -> None:
    if numbers != list(range(first, first + len(numbers))):
        raise ValueError(f"the {what} aren't numbered {first}, {first + 1}, …")
