"""A project as one zip file: what stands in it, how it is written, and how one from elsewhere is checked.

manifest.json            format, schema, version of Runoff, the project, rows a table, size and SHA-256 of each member
tables/<table>.csv       the project's rows of one table, with the column names, by primary key
uploads/<sha256>         every kept file, byte for byte

The same project gives the same bytes. Nothing here touches a database or the disk.

A table's CSV loses nothing. The first line has the column names. An empty cell is NULL where the column may be NULL; a
text of such a column that is empty or begins with a backslash has a backslash more in front. Numbers are written so
that they come back bit for bit, booleans as 0 and 1, JSON columns as JSON text.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
import threading
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import sqlalchemy as sa

from ... import __version__
from ...errors import InputError, Issue
from ...tabular import SPARE_CELLS, bounded
from ...tabular.json_files import parse_json
from ...tabular.zips import DAMAGED, MAX_JSON, check_sizes, pack, read_member, sums
from .. import schema as t
from ..engine import HEAD
from ..schema.ballots import CAMPAIGN, ROUND, TRIAL
from ..schema.projects import is_exported

FETCH_AGAIN = "Choose the .zip as Runoff exported it, or export the project again."
MAX_CELL = 2**30
MAX_ISSUES = 100
Rows = Sequence[tuple[Any, ...]]

_WHOLE = re.compile(r"-?[0-9]{1,19}")
_csv_limit = threading.Lock()  # the csv module has one limit for all threads


def write_table_rows(table: sa.Table, rows: Rows) -> bytes:
    """The CSV text of rows in the order of the table's columns, values as SQLite has them, less what is `here_`."""
    columns = [column for column in table.c if is_exported(column)]
    places = [place for place, column in enumerate(table.c) if is_exported(column)]
    escaped = [place for place, column in enumerate(columns) if _may_be_null_text(column)]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")  # with "\n" alone it leaves a "\r" in a cell without quotes
    writer.writerow(column.name for column in columns)
    for row in rows:
        cells = list(row) if len(places) == len(row) else [row[place] for place in places]
        for place in escaped:
            if cells[place] is not None and cells[place][:1] in ("", "\\"):
                cells[place] = "\\" + cells[place]
        writer.writerow(cells)
    return out.getvalue().encode("utf-8")


def _may_be_null_text(column: sa.Column) -> bool:
    return bool(column.nullable) and isinstance(column.type, sa.Text)


def read_table_rows(table: sa.Table, file: IO[bytes], where: str, n_rows: int, schema: str = HEAD) -> Rows:
    """The rows of a table's CSV text in the order of the table's columns; `where` names the file.

    `n_rows` is how many it must have: no more are made, however many stand there. `schema` is the version that wrote
    it: columns that came later are filled with their defaults. Raises `InputError` with the rows and columns that
    can't be.
    """
    columns = [column for column in table.c if is_exported(column) and column.info.get("since", "") <= schema]
    try:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        with _csv_limit:
            before = csv.field_size_limit(MAX_CELL)
            try:
                lines = csv.reader(bounded(text, len(columns) + SPARE_CELLS, where), strict=True)
                _check_header(next(lines, []), [column.name for column in columns], where)
                rows = _read_rows(columns, lines, where, n_rows)
            finally:
                csv.field_size_limit(before)
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{where} isn't a CSV table in UTF-8 ({error}). {FETCH_AGAIN}") from error
    return rows if len(columns) == len(table.c) else _with_defaults(table, columns, rows)


def _check_header(header: list[str], names: list[str], where: str) -> None:
    if header == names:
        return
    issues = [Issue("column is missing", column=name) for name in names if name not in header]
    issues += [Issue("column is unknown", column=name[:100]) for name in header if name not in names]
    issues = issues or [Issue("columns stand in another order", row=1)]
    raise InputError(f"{where} hasn't the columns of this Runoff. {FETCH_AGAIN}", issues)


def _read_rows(columns: list[sa.Column], lines: Iterable[list[str]], where: str, n_rows: int) -> Rows:
    names = [column.name for column in columns]
    readers = [_reader(column) for column in columns]
    rows: list[tuple[Any, ...]] = []
    issues: list[Issue] = []
    for number, line in enumerate(lines, start=2):
        if number > n_rows + 1:
            raise InputError(f"{where} has more rows; the manifest says {n_rows}. {FETCH_AGAIN}")
        if len(line) != len(names):
            issues.append(Issue(f"has {len(line)} cells, not {len(names)}", row=number))
        else:
            try:
                rows.append(tuple([read(cell) for read, cell in zip(readers, line, strict=True)]))
            except (ValueError, RecursionError):
                issues.append(_issue(number, names, readers, line))
        if len(issues) == MAX_ISSUES:
            break
    if issues:
        raise InputError(f"{where} holds what its columns can't. {FETCH_AGAIN}", issues)
    if len(rows) != n_rows:
        raise InputError(f"{where} has {len(rows):,} rows; the manifest says {n_rows}. {FETCH_AGAIN}")
    return rows


def _with_defaults(table: sa.Table, columns: list[sa.Column], rows: Rows) -> Rows:
    """Rows of `columns` alone, filled up to all columns of the table."""
    place = {column.name: number for number, column in enumerate(columns)}
    missing = {column.name: _default(column) for column in table.c if column.name not in place}
    order = [(place.get(column.name), missing.get(column.name)) for column in table.c]
    return [tuple([default if at is None else row[at] for at, default in order]) for row in rows]


def _default(column: sa.Column) -> Any:
    default = column.server_default
    return _reader(column)(str(default.arg)) if isinstance(default, sa.DefaultClause) else None


def _issue(number: int, names: list[str], readers: list[Callable[[str], Any]], line: list[str]) -> Issue:
    for name, read, cell in zip(names, readers, line, strict=True):
        try:
            read(cell)
        except (ValueError, RecursionError) as error:
            message = str(error) if type(error) is ValueError else "can't be read"
            return Issue(message, row=number, column=name, found=cell[:60])
    raise InputError(f"Row {number} can't be read. {FETCH_AGAIN}")


def _reader(column: sa.Column) -> Callable[[str], Any]:
    """Reads a cell of a column; `ValueError` for what can't stand there."""
    kind, nullable = column.type, column.nullable
    if isinstance(kind, sa.Text):
        return _null_or_text if nullable else str
    read: Callable[[str], Any] = _whole
    if isinstance(kind, sa.Boolean):
        read = _boolean
    elif isinstance(kind, sa.Float):
        read = _number
    elif isinstance(kind, sa.JSON):
        read = _json
    return (lambda cell: read(cell) if cell else None) if nullable else read


def _null_or_text(cell: str) -> str | None:
    return None if not cell else cell[1:] if cell[0] == "\\" else cell


def _whole(cell: str) -> int:
    value = int(cell) if _WHOLE.fullmatch(cell) else 2**63
    if not -(2**63) <= value < 2**63:
        raise ValueError("must be a whole number of 64 bits")
    return value


def _boolean(cell: str) -> int:
    if cell not in ("0", "1"):
        raise ValueError("must be 0 or 1")
    return int(cell)


def _number(cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


def _json(cell: str) -> str:
    try:
        value = json.loads(cell)
        if "\\ud" in cell.lower():  # half a character can't be stored
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise ValueError("must be JSON") from None
    return cell


FORMAT = 1
MAX_BYTES = 2**30  # of the zip, and of all that is packed in it
# In an order in which rows come after those that they point to. Jobs and links to vote are this machine's business.
SCHEMAS = tuple(f"{number:04d}" for number in range(1, int(HEAD) + 1))  # whose exports can be read
_OF_THIS_MACHINE = (t.job, t.simulation, t.voting_link, t.invitation)
TABLES = tuple(table for table in t.metadata.sorted_tables if table not in _OF_THIS_MACHINE)

_MANIFEST = "manifest.json"
_PIECE = 1 << 18
_NAME = re.compile(r"tables/[a-z_]+\.csv|uploads/[0-9a-f]{64}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def is_of(table: sa.Table, schema: str) -> bool:
    """Whether a schema has the table."""
    return bool(table.info.get("since", "") <= schema)


@dataclass(frozen=True)
class Contents:
    """A project outside a store: the rows of each table in the order of its columns, values as SQLite has them.

    `uploads` are stored files by their SHA-256; `missing` those that were gone or damaged when it was exported.
    """

    project_id: str
    rows: Mapping[str, Rows]
    uploads: Mapping[str, bytes]
    missing: tuple[str, ...] = ()
    runoff: str = __version__

    @property
    def name(self) -> str:
        return str(self.rows[t.project.name][0][list(t.project.c.keys()).index("name")])


def write_zip(contents: Contents) -> bytes:
    """The zip of a project; the same contents give the same bytes."""
    members = {f"tables/{table.name}.csv": write_table_rows(table, contents.rows[table.name]) for table in TABLES}
    members |= {f"uploads/{digest}": data for digest, data in contents.uploads.items()}
    manifest = {
        "format": FORMAT,
        "schema": HEAD,
        "runoff": contents.runoff,
        "project": {"id": contents.project_id, "name": contents.name},
        "rows": {table.name: len(contents.rows[table.name]) for table in TABLES},
        "members": sums(members),
        "missing_uploads": sorted(contents.missing),
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    return pack([(_MANIFEST, text.encode("utf-8")), *sorted(members.items())])


def read_zip(data: bytes) -> Contents:
    """What a zip of `write_zip` holds, checked: versions, names, sizes, checksums, columns, values, numbers of rows.

    Raises `InputError` for anything else. Nothing is unpacked to the disk, nothing in it is carried out, and no more
    than `MAX_BYTES` are unpacked in memory, whatever sizes the file states.
    """
    if len(data) > MAX_BYTES:
        raise InputError(f"This file has {len(data):,} bytes; exported projects up to {MAX_BYTES:,} can be taken in.")
    uploads = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = _entries(archive)
            check_sizes(archive, len(data), MAX_BYTES)
            manifest = _Manifest.of(read_member(archive, entries[_MANIFEST], MAX_JSON))
            _compare_names(set(entries) - {_MANIFEST}, manifest)
            for name in sorted(manifest.members):
                _check_member(archive, entries[name], manifest)
                if name.startswith("uploads/"):
                    size = entries[name].file_size
                    uploads[name.removeprefix("uploads/")] = read_member(archive, entries[name], size)
    except InputError:
        raise
    except DAMAGED as error:
        raise InputError(
            f"This file isn't a zip file, or a truncated or damaged one ({error}). {FETCH_AGAIN}"
        ) from error
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        rows = {table.name: _table(table, archive, manifest) for table in TABLES}
    if [row[0] for row in rows[t.project.name]] != [manifest.project_id]:
        raise InputError(f"The file's table of projects isn't that of the project in its manifest. {FETCH_AGAIN}")
    strange = [digest for digest, data in uploads.items() if hashlib.sha256(data).hexdigest() != digest]
    if strange:
        raise InputError(
            f"A kept file isn't what its name says. {FETCH_AGAIN}",
            [Issue("has a different checksum", column=f"uploads/{name}") for name in strange],
        )
    return Contents(manifest.project_id, rows, uploads, manifest.missing, manifest.runoff)


def _entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The zip's members by name; `InputError` for names, sizes and kinds that no exported project has."""
    members = archive.infolist()
    entries = {entry.filename: entry for entry in members}
    if _MANIFEST not in entries:
        raise InputError(f"This zip file has no {_MANIFEST}, so it isn't an exported project. {FETCH_AGAIN}")
    issues = [Issue("is there twice", column=name) for name in entries if len(members) != len(entries)][:1]
    for name, entry in entries.items():
        shown = name[:100]
        if name != _MANIFEST and not _NAME.fullmatch(name):
            issues.append(Issue("no part of an exported project has such a name", found=shown))
        elif entry.flag_bits & 1:
            issues.append(Issue("has a password", column=shown))
    if issues:
        raise InputError(f"This zip file isn't an exported project. {FETCH_AGAIN}", issues)
    return entries


@dataclass(frozen=True)
class _Manifest:
    project_id: str
    runoff: str
    schema: str
    rows: dict[str, int]
    members: dict[str, tuple[int, str]]
    missing: tuple[str, ...]

    @classmethod
    def of(cls, data: bytes) -> _Manifest:
        """The manifest; `InputError` for one of another version, or one that isn't as it should be."""
        try:
            content = parse_json(data.decode("utf-8"))
            versions = (content["format"], content["schema"], str(content["runoff"]))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(f"{_MANIFEST} can't be read ({error!r}). {FETCH_AGAIN}") from error
        if versions[0] != FORMAT or versions[1] not in SCHEMAS:
            raise InputError(
                f"The project was exported by Runoff {versions[2][:20]} (format {versions[0]!r}, schema "
                f"{versions[1]!r}); this one reads format {FORMAT} with schemas up to {HEAD}. Update the older of the "
                "two; if that is the one that exported, export the project again."
            )
        try:
            members = {str(name): (int(m["bytes"]), str(m["sha256"])) for name, m in content["members"].items()}
            rows = {str(name): int(n) for name, n in content["rows"].items()}
            missing = tuple(digest for digest in content["missing_uploads"] if _SHA256.fullmatch(digest))
            return cls(str(content["project"]["id"]), versions[2], versions[1], rows, members, missing)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{_MANIFEST} isn't that of an exported project ({error!r}). {FETCH_AGAIN}") from error


def _compare_names(found: set[str], manifest: _Manifest) -> None:
    """Raise `InputError` unless the members are those of the manifest, with all tables and no other one."""
    tables = {f"tables/{table.name}.csv" for table in TABLES if is_of(table, manifest.schema)}
    issues = [Issue("is missing", column=name) for name in sorted((tables | set(manifest.members)) - found)]
    issues += [Issue("isn't in the manifest", column=name) for name in sorted(found - set(manifest.members))]
    strange = {name for name in found if name.startswith("tables/")} - tables
    issues += [Issue("isn't a table of this Runoff", column=name) for name in sorted(strange)]
    if issues:
        raise InputError(f"The file's parts aren't those of an exported project. {FETCH_AGAIN}", issues)


def _check_member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, manifest: _Manifest) -> None:
    """Raise `InputError` unless a member is the manifest's, looked at piece by piece."""
    n_bytes, digest = manifest.members[entry.filename]
    found, n_found = hashlib.sha256(), 0
    with archive.open(entry) as handle:
        while piece := handle.read(_PIECE):
            found.update(piece)
            n_found += len(piece)
    if n_found != n_bytes or found.hexdigest() != digest:
        raise InputError(
            f"{entry.filename} was changed or damaged after the project was exported: it has {n_found:,} bytes, or a "
            f"checksum, that differ from the manifest's ({n_bytes:,} bytes). {FETCH_AGAIN}"
        )


def _table(table: sa.Table, archive: zipfile.ZipFile, manifest: _Manifest) -> Rows:
    """The rows of a table, as many as the manifest says, as this schema has them."""
    if not is_of(table, manifest.schema):
        return []
    where, is_former = f"tables/{table.name}.csv", manifest.schema < _PURPOSES
    written = BALLOT_TO_0007 if is_former and table is t.ballot else table
    with archive.open(where) as handle:
        rows = read_table_rows(written, handle, where, manifest.rows.get(table.name, 0), manifest.schema)
    if is_former and table is t.ballot:
        return [_with_purpose(dict(zip(written.c.keys(), row, strict=True))) for row in rows]
    if is_former and table is t.plan:
        protocol = list(table.c.keys()).index("protocol")
        return [row for row in rows if row[protocol] not in _ASKED_IN_ROUNDS]
    return rows


# Exports up to schema 0007, as the migration to 0008 has it: the number of a ballot said its purpose, 0 the pilot and
# −1, −2, … rounds; a round had a row of `plan`, which said nothing that its settings don't.
_PURPOSES = "0008"
_ASKED_IN_ROUNDS = ("rating", "best-worst", "order")


def _ballot_to_0007() -> sa.Table:
    named = t.ballot.c
    columns = [sa.Column(c.name, c.type, nullable=c.nullable, info=c.info) for c in named if c.name not in _OF_PURPOSE]
    columns.insert(list(named.keys()).index("plan_id") + 1, sa.Column("number", sa.Integer, nullable=False))
    scheme = sa.Column("scheme", sa.Text, nullable=False, server_default="comparison", info={"since": "0006"})
    return sa.Table("ballot", sa.MetaData(), *columns[:-1], scheme, columns[-1])


_OF_PURPOSE = ("purpose", "kind", "ordinal")
BALLOT_TO_0007 = _ballot_to_0007()


def _with_purpose(row: dict[str, Any]) -> tuple[Any, ...]:
    number = row["number"]
    row["purpose"] = ROUND if number < 0 else CAMPAIGN if number else TRIAL
    row |= {"kind": row["scheme"], "ordinal": abs(number), "plan_id": None if number < 0 else row["plan_id"]}
    return tuple(row[column.name] for column in t.ballot.c)
