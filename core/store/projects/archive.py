"""Projects out of the workspace and into it: exported, imported, duplicated, archived, deleted.

It knows which rows of a store are a project's own, and inserts them under new ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ...base.durable import make_folder, write_whole
from ...dataset.datasheet.facts import SheetFields, check_fields
from ...errors import InputError, Issue, StoreError
from .. import schema as t
from ..ballots.ballot_rows import ballot_seed, ballots_of, check_rounds
from ..ballots.round_plans import check_round_plans
from ..command import check_revision, command, fetch_rows, insert_rows, next_id, project_row, write_entry
from ..engine import Store, now
from ..schema.projects import is_exported
from ..scores.project_dataset import dataset_of
from ..stored_files import KEEPERS, blobs_of, check_blobs, put_blob
from ..tokens.areas import ItemRules, items_of
from ..votes.publications import publications_of
from ..votes.tallies import write_progress
from .embedding_library import embeddings_of
from .plans import check_settings, rankings_of, settings_of
from .project_commands import Project, check_name, list_again, named, new_project_id
from .project_zip import FETCH_AGAIN, MAX_ISSUES, TABLES, Contents, Rows, read_zip, write_zip


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
    """Insert a project's rows under new ids, put away until `project_commands.list_again`; what the log should say of
    it.

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
        check_round_plans(conn, project_id)
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


_PROJECT = [t.project.c[name] for name in Project.__annotations__]


@dataclass(frozen=True)
class ArchivedProject:
    """A project that was put away, and when."""

    project: Project
    archived_at: str


def archive_project(store: Store, project_id: str, *, expected_revision: int | None = None) -> None:
    """Put a project away: it is listed no more and loses nothing. `StoreError` if it is archived already."""
    with command(store, project_id, "archive project", expected_revision=expected_revision) as change:
        if change.project.archived_at is not None:
            raise StoreError(f"{change.project.name} is archived already.")
        row = sa.update(t.project).where(t.project.c.id == project_id)
        change.conn.execute(row.values(archived_at=now()))


def restore_project(store: Store, project_id: str, *, expected_revision: int | None = None) -> str:
    """Bring an archived project back into the list; `StoreError` if it isn't archived.

    Returns the name it has then: “… (2)” where a listed project has that already.
    """
    with command(store, project_id, "restore project", expected_revision=expected_revision) as change:
        if change.project.archived_at is None:
            raise StoreError(f"{change.project.name} isn't archived.")
        given_name = list_again(change.conn, project_id, change.project.name)
        if given_name != change.project.name:
            change.detail = named(given_name, change.project.name)
        return given_name


def list_archived(store: Store) -> list[ArchivedProject]:
    """The archived projects, the last one archived first."""
    query = sa.select(*_PROJECT, t.project.c.archived_at).where(t.project.c.archived_at.is_not(None))
    with store.read() as conn:
        rows = conn.execute(query.order_by(t.project.c.archived_at.desc(), t.project.c.id)).all()
    return [ArchivedProject(Project(*row[:-1]), row[-1]) for row in rows]


def export_project(store: Store, project_id: str) -> bytes:
    """A zip (see `project_zip`) with everything of a project but the embeddings' vectors and its jobs.

    The same state gives the same bytes. Stored files that are gone or damaged are named in it as missing.
    """
    with store.read() as conn:
        return write_zip(_contents(store, conn, project_id))


def import_project(store: Store, data: bytes, *, name: str | None = None) -> str:
    """Make a new project of an exported one, and return its id.

    Seeds, scores, votes, task ids and log are those of the original, so that a result file of its batches is valid in
    the copy too; all ids of the store are new, the project isn't archived. Where a listed project has its name already,
    it is called “… (2)”. Embeddings that the workspace has are linked. The log entry "import project" says what became
    of embeddings and stored files. Raises `InputError` for a file that isn't an exported project, whole and unchanged;
    then nothing is taken in.
    """
    return _take_in(store, read_zip(data), name, "import project")


def duplicate_project(store: Store, project_id: str, name: str) -> str:
    """A copy of a project in the same workspace, as `import_project` makes it; returns its id."""
    with store.read() as conn:
        contents = _contents(store, conn, project_id)
    return _take_in(store, contents, name, "duplicate project")


def copy_without_ballots(store: Store, project_id: str, name: str) -> str:
    """A new project with the areas, tokens, item rules, plan, embeddings and frequencies of another, and no ballots.

    So everything of it can be changed, whatever was drawn in the other. It has a log of its own. Returns its id.
    """
    of_ballots = {table.name for table in TABLES if _hangs_on_ballots(table)}
    with store.read() as conn:
        contents = _contents(store, conn, project_id, without=of_ballots | {t.log.name})
        used = set(conn.execute(_kept_by(t.frequency_source, project_id)).scalars())
    uploads = {digest: data for digest, data in contents.uploads.items() if digest in used}
    missing = tuple(digest for digest in contents.missing if digest in used)
    copied = _take_in(store, replace(contents, uploads=uploads, missing=missing), name, "copy without ballots")
    with store.write(copied) as conn:  # its voters are others, and get other pseudonyms
        conn.execute(sa.update(t.project).where(t.project.c.id == copied).values(voter_secret=None))
    return copied


def _hangs_on_ballots(table: sa.Table) -> bool:
    """Ballots, voters, seals, what was registered before ballot 1 or released after it, and all that points to them."""
    parents = [key.column.table for key in table.foreign_keys]
    return table in (t.ballot, t.voter, t.registration, t.release, t.seal) or any(
        _hangs_on_ballots(parent) for parent in parents
    )


def delete_project(store: Store, project_id: str, typed_name: str, *, expected_revision: int | None = None) -> Path:
    """Delete a project for good, and return the path of the export that is written to `backups/` before.

    Stored files that no other project uses go too; imported embeddings stay in the workspace. Raises `StoreError`
    unless `typed_name` is the project's name, while a job of it runs, or where the backup can't be written,
    `StaleError` where it isn't at `expected_revision`.
    """
    with store.without_keys() as free, free.write(project_id) as conn:
        row = project_row(conn, project_id)
        check_revision(row, expected_revision)
        if typed_name != row.name:
            raise StoreError(
                f"The name typed is {typed_name!r}, not {row.name!r}, so nothing was deleted. Type it again."
            )
        running = sa.select(t.job.c.id).where(
            t.job.c.project_id == project_id, t.job.c.state.in_(["queued", "running"])
        )
        if conn.execute(running.limit(1)).first() is not None:
            raise StoreError(f"{row.name} has an import under way, so nothing was deleted. Wait for it, or cancel it.")
        contents = _contents(store, conn, project_id)
        backup = _back_up(store, contents)
        for table in reversed(t.metadata.sorted_tables):
            if table not in (t.embedding, t.simulation):
                conn.execute(sa.delete(table).where(belongs_to(table, project_id)))
    _remove_unused(store, contents.uploads)
    return backup


def _remove_unused(store: Store, digests: Iterable[str]) -> None:
    """Delete those of some stored files that no project needs."""
    with store.write() as conn:  # nobody else writes, so that no upload of the same file comes between
        for digest in set(digests) - _kept(conn):
            (store.uploads / digest).unlink(missing_ok=True)


def _back_up(store: Store, contents: Contents) -> Path:
    stamp = now().replace(":", "").replace("+0000", "")
    target = store.folder / "backups" / f"{stamp}-{contents.project_id}.zip"
    part = target.with_suffix(".part")
    try:
        make_folder(target.parent, 0o700)
        write_whole(target, part, write_zip(contents))
    except OSError as error:
        raise StoreError(f"The backup can't be written to {target} ({error.strerror}). Nothing was deleted.") from error
    return target


def _contents(
    store: Store, conn: sa.Connection, project_id: str, *, without: frozenset[str] | set[str] = frozenset()
) -> Contents:
    """A project's rows and stored files; tables named in `without` stay empty."""
    project_row(conn, project_id)
    rows = {}
    for table in TABLES:
        query = sa.select(*table.c).where(belongs_to(table, project_id)).order_by(*table.primary_key.columns)
        rows[table.name] = [] if table.name in without else fetch_rows(conn, query)
    uploads, missing = {}, []
    for digest in sorted(_kept(conn, project_id)):
        try:
            data = (store.uploads / digest).read_bytes()
        except OSError:
            data = b""
        if hashlib.sha256(data).hexdigest() == digest:
            uploads[digest] = data
        else:
            missing.append(digest)
    return Contents(project_id, rows, uploads, tuple(missing))


def _kept(conn: sa.Connection, project_id: str | None = None) -> set[str]:
    """The names of stored files that a project needs, or that any project needs."""
    needed = set()
    for table in KEEPERS:
        needed |= set(conn.execute(_kept_by(table, project_id)).scalars())
    return needed


def _kept_by(table: sa.Table, project_id: str | None) -> sa.Select[Any]:
    query = blobs_of(table)
    return query if project_id is None else query.where(belongs_to(table, project_id))


# Taking in


def _take_in(store: Store, contents: Contents, name: str | None, action: str) -> str:
    name = check_name(contents.name if name is None else name)
    project_id = new_project_id()
    new_files = [digest for digest in contents.uploads if not (store.uploads / digest).exists()]
    try:
        with store.write(project_id) as conn:
            for data in contents.uploads.values():
                put_blob(store, data)
            insert_project(conn, contents, project_id, name, action)
    except BaseException as error:
        _remove_unused(store, new_files)
        if isinstance(error, sa.exc.IntegrityError):
            fault = str(error.orig).partition("\n")[0]
            raise InputError(f"The project contradicts itself ({fault}). {FETCH_AGAIN}") from error
        raise
    return project_id


def insert_project(
    conn: sa.Connection, contents: Contents, project_id: str, name: str, action: str, *, who: str = "owner"
) -> None:
    """Insert a project under an id of its own, listed by its name or the next that is free, inside a transaction.

    Its stored files aren't written here. `action` is what the log says, by `who`.
    """
    detail = insert_contents(conn, contents, project_id, name, from_file=action == "import project")
    check_readable(conn, project_id)
    # Counted here, as a file could say anything, and one of an older schema says nothing.
    for ballot_id in conn.execute(sa.select(t.ballot.c.id).where(t.ballot.c.project_id == project_id)).scalars():
        write_progress(conn, ballot_id)
    given_name = list_again(conn, project_id, name)
    revision = project_row(conn, project_id).revision + 1
    described = {"from": contents.project_id} | named(given_name, name) | detail
    write_entry(conn, project_id, revision, action, described, who)
