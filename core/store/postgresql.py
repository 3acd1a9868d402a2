"""A workspace's tables on PostgreSQL: how they are reached, made and locked, and what is quicker there another way.

Text is compared byte by byte, whole numbers have 64 bits, JSON stays the text that it was: all as in SQLite.

The voters' role
----------------
What the server of the voting page may read and write, and nothing else.

It reads what a comparison shows and what voters were given, adds voters and answers, and counts. It deletes nothing and
sees no log, embedding, upload, setting of the owner, similarity or score. SQLite has no roles: there the server has the
whole file, and only its code keeps to `core.voting.api`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import sqlalchemy as sa
from psycopg.adapt import Loader
from psycopg.types.string import TextLoader
from sqlalchemy.dialects.postgresql.base import PGDDLCompiler, PGTypeCompiler

from ..base.durable import make_folder
from ..errors import InputError, StoreError
from . import dialects
from . import schema as t
from .engine import HEAD, Store, default_workspace, schema_version

LOCK_MS = 30_000  # as long as SQLite waits
IDLE_MS = 600_000  # a command that stands still so long is given up, and its locks with it
STATEMENT_MS = {"owner": 1_800_000, "voters": 30_000}
POOL = {
    "owner": (5, 25),
    "voters": (20, 25),
}  # connections kept, and more at need; the server has 40 threads, and 16 for writers
WORKSPACE = 0x52756E6F6666  # the lock that all writers of a database share ("Runoff")
GAP = 1_000
ANALYSE_FROM = 2_000  # rows inserted at once after which the planner is told

# A page from the disk costs little more where it lies: by the default, made for disks that turn, PostgreSQL reads the
# votes of all projects where those of one are asked for.
_SET_UP = """
SET lock_timeout = {lock}; SET statement_timeout = {statement}; SET idle_in_transaction_session_timeout = {idle};
SET jit = off; SET random_page_cost = 1.1; SET client_min_messages = warning; SET timezone = 'UTC';
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local');
"""


class _Types(PGTypeCompiler):
    """Columns of whole numbers have 64 bits, those of text are in the order of their bytes."""

    def visit_INTEGER(self, type_: sa.Integer, **kw: Any) -> str:
        return "BIGINT" if "type_expression" in kw else "INTEGER"

    def visit_TEXT(self, type_: sa.Text, **kw: Any) -> str:
        return 'TEXT COLLATE "C"' if "type_expression" in kw else "TEXT"


class _Columns(PGDDLCompiler):
    def get_column_specification(self, column: sa.Column[Any], **kw: Any) -> str:
        given: str = super().get_column_specification(column, **kw)  # type: ignore[no-untyped-call]  # SQLAlchemy's own
        return given.replace(" SERIAL", " BIGSERIAL")


class _Whole(sa.Integer):
    """A whole number is sent as large as it is: without a cast to 32 bits."""

    render_bind_cast = False


class _Number(Loader):
    """A sum of whole numbers comes as `numeric`."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode()
        return int(text) if text.lstrip("-").isdigit() else float(text)


class _Flag(Loader):
    def load(self, data: Any) -> int:
        return int(bytes(data) == b"t")


def make_engine(url: sa.URL, who: str = "owner") -> sa.Engine:
    """An engine on a PostgreSQL database; `who` is "owner", or "voters" for their server."""
    kept, more = POOL[who]
    engine = sa.create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=kept,
        max_overflow=more,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={"connect_timeout": 10, "keepalives_idle": 30, "application_name": f"runoff-{who}"},
    )
    dialect: Any = engine.dialect
    dialect.type_compiler_instance = dialect.type_compiler = _Types(dialect)
    dialect.ddl_compiler = _Columns
    dialect.colspecs = {**dialect.colspecs, sa.Integer: _Whole}
    settings = _SET_UP.format(lock=LOCK_MS, statement=STATEMENT_MS[who], idle=IDLE_MS)

    def set_up(dbapi: Any, _record: Any) -> None:
        dbapi.adapters.register_loader("numeric", _Number)
        dbapi.autocommit = True
        dbapi.execute(settings)
        dbapi.autocommit = False

    sa.event.listen(engine, "connect", set_up)
    return engine


READS = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
WRITES = {"isolation_level": "READ COMMITTED"}  # each statement after the lock sees what others wrote before it


def lock(conn: sa.Connection, of: str | sa.ScalarSelect[Any] | None, wait: float | None = None) -> None:
    """Wait for the turn of a writer; the locks end with the transaction, however it ends.

    All writers share the workspace's lock, and a project's writers come one by one. A writer who names none has the
    whole workspace for itself. The workspace's lock comes first, so that nobody waits for each other. `wait` is for
    how many seconds at most, where that isn't `LOCK_MS`.
    """
    if wait is not None:
        conn.execute(sa.select(sa.func.set_config("lock_timeout", f"{wait * 1000:.0f}ms", True)))
    if of is None:
        conn.execute(sa.select(sa.func.pg_advisory_xact_lock(WORKSPACE)))
    else:
        key = sa.func.hashtextextended(of, 0)
        conn.execute(sa.select(sa.func.pg_advisory_xact_lock_shared(WORKSPACE), sa.func.pg_advisory_xact_lock(key)))


# Many rows


def _cursor(conn: sa.Connection) -> Any:
    """A cursor of the driver's own, inside the connection's transaction."""
    return conn.connection.cursor()


@contextmanager
def _raised_as_others(conn: sa.Connection, statement: str) -> Iterator[None]:
    """Raise what the driver raises as SQLAlchemy does."""
    try:
        yield
    except psycopg.Error as error:
        raise sa.exc.DBAPIError.instance(statement, None, error, psycopg.Error, dialect=conn.dialect) from error


def insert_many(conn: sa.Connection, table: sa.Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows by COPY."""
    names = ", ".join(f'"{table.c[column].name}"' for column in columns)
    statement = f'COPY "{table.name}" ({names}) FROM STDIN'
    with _raised_as_others(conn, statement), _cursor(conn) as cursor:
        with cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)
        if len(rows) >= ANALYSE_FROM:
            cursor.execute(f'ANALYZE "{table.name}"')


def update_many(
    conn: sa.Connection, table: sa.Table, columns: Sequence[str], keys: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Set `columns` of rows found by `keys`, in one statement; of a key that comes twice the last row holds."""
    last = list({row[len(columns) :]: row for row in rows}.values())
    named = [table.c[name] for name in (*columns, *keys)]
    arrays = ", ".join(f"%s::{_array_of(column.type)}[]" for column in named)
    names = ", ".join(f'"new_{place}"' for place in range(len(named)))
    values = ", ".join(f'"{column.name}" = v."new_{place}"' for place, column in enumerate(named[: len(columns)]))
    where = " AND ".join(
        f'"{table.name}"."{column.name}" = v."new_{len(columns) + place}"'
        for place, column in enumerate(named[len(columns) :])
    )
    source = f"unnest({arrays}) AS v({names})"
    statement = f'UPDATE "{table.name}" SET {values} FROM {source} WHERE {where}'  # nosec B608 # names of our own tables
    conn.exec_driver_sql(statement, tuple([list(column) for column in zip(*last, strict=True)]))


def _array_of(kind: Any) -> str:
    for of, name in ((sa.Integer, "BIGINT"), (sa.Float, "FLOAT8"), (sa.JSON, "JSON"), (sa.Boolean, "BOOLEAN")):
        if isinstance(kind, of):
            return name
    return "TEXT"


def fetch(conn: sa.Connection, statement: str, values: Any) -> list[tuple[Any, ...]]:
    """All rows of a query, booleans as 0 and 1, JSON as its text."""
    with _raised_as_others(conn, statement), _cursor(conn) as cursor:
        cursor.adapters.register_loader("json", TextLoader)
        cursor.adapters.register_loader("bool", _Flag)
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def next_id(conn: sa.Connection, table: sa.Table, n: int) -> int:
    """Set `n` ids that follow each other apart on a table's sequence, and return the first.

    Others may insert rows without a word between the two looks at the sequence, so that the ids begin a little above;
    those who set ids apart take turns, for that one statement.
    """
    sequence = f"pg_get_serial_sequence('\"{table.name}\"', 'id')::regclass"
    turn = f"hashtextextended('ids of {table.name}', 0)"
    taken = f"setval({sequence}, nextval({sequence}) + %s)"
    statement = f"SELECT pg_advisory_lock({turn}), {taken}, pg_advisory_unlock({turn})"
    last = conn.exec_driver_sql(statement, (n + GAP,)).one()[1]
    return int(last) - n + 1


# The schema


def index_keys(conn: sa.Connection) -> None:
    """An index for each foreign key that has none: without it each deleted row reads the whole table that points to it.

    SQLite's writers delete without keys instead (`Store.without_keys`), which here takes a superuser.
    """
    inspector = sa.inspect(conn)
    for table in t.metadata.sorted_tables:
        led = {index["column_names"][0] for index in inspector.get_indexes(table.name)}
        led |= {key["column_names"][0] for key in inspector.get_unique_constraints(table.name)}
        led.add(next(iter(inspector.get_pk_constraint(table.name)["constrained_columns"]), None))
        for column in table.c:
            if column.foreign_keys and column.name not in led:
                conn.exec_driver_sql(
                    f'CREATE INDEX "ix_key_{table.name}_{column.name}" ON "{table.name}" ("{column.name}")'
                )


_BADGE = "Runoff workspace "


def badge(conn: sa.Connection) -> str | None:
    """Which workspace folder the database belongs to, by its id; None where that was never said."""
    said = conn.exec_driver_sql("SELECT obj_description('alembic_version'::regclass, 'pg_class')").scalar()
    return said.removeprefix(_BADGE) if said and said.startswith(_BADGE) else None


def write_badge(conn: sa.Connection, folder_id: str) -> None:
    """Say which workspace folder the database belongs to (letters and digits)."""
    if not folder_id.isalnum():
        raise ValueError("A workspace's id has letters and digits only.")
    conn.exec_driver_sql(f"COMMENT ON TABLE alembic_version IS '{_BADGE}{folder_id}'")


def fault(conn: sa.Connection) -> str | None:
    """Why a database can't hold a workspace, if so."""
    encoding = conn.exec_driver_sql("SHOW server_encoding").scalar()
    if encoding != "UTF8":
        return f"its encoding is {encoding}, and texts of all languages need UTF8"
    version = int(conn.exec_driver_sql("SHOW server_version_num").scalar() or 0)
    return f"PostgreSQL {version // 10_000} is too old; 13 is the oldest that will do" if version < 130_000 else None


ALL = "*"
# What may be read of each table: all columns, or those named.
MAY_READ: Mapping[sa.Table, str] = {
    t.voting_link: ALL,
    t.invitation: "voting_link_id, name, token",
    t.project: "id, notion, archived_at, pulse",
    t.plan: "id, wording, n_ballots",
    t.ballot: "id, project_id, area_id, plan_id, purpose, kind, ordinal, settings, state, progress",
    t.voting: "id, ballot_id, state, settings, opened_at, address_salt",
    t.sitting: ALL,
    t.deal: ALL,
    t.voter_trait: ALL,
    t.voter: "id, project_id, platform, external_id",
    t.gold: ALL,
    t.check_question: ALL,
    t.exclusion: "id, voter_id, undone_at",
    t.question: ALL,
    t.question_option: ALL,
    t.task_question: ALL,
    t.ballot_item: "ballot_id, item_id, wins, ties, losses, unknowns",
    t.item: "id, area_id, token_a_id, token_b_id",
    t.token: "id, text",
    t.area: "id, name",
    t.assignment: "id, ballot_id, voter_id, seal_id",
    t.judgement: ALL,
}
ADDS = (t.voter, t.sitting, t.voter_trait, t.deal, t.assignment, t.judgement)
# Which columns of rows that are there may be changed.
CHANGES: Mapping[sa.Table, str] = {
    t.project: "pulse",
    t.ballot: "progress",
    t.question: "n_votes, n_dealt",
    t.ballot_item: "wins, ties, losses, unknowns",
    t.deal: "state, expires_at, answered_at, answer_n, assignment_id",
    t.sitting: "n_examples, n_tasks, n_done, gold_right, gold_wrong, counts, seen_at, state, finished_at, code, nonce",
    t.assignment: "seal_id",
    t.judgement: "answer, value, seconds, status, source",
    t.voter_trait: "n",
}
_ROLE = re.compile(r"[a-z_][a-z0-9_]{0,62}")


def role_sql(role: str) -> list[str]:
    """The statements that make a role where there is none, and give it exactly these rights.

    Raises `InputError` for a name that isn't lower case letters, digits and underscores.
    """
    if not _ROLE.fullmatch(role):
        raise InputError(f"{role!r} isn't a name for a role. Take lower case letters, digits and underscores.")
    absent = f"NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}')"  # nosec B608 # checked above
    made = f"IF {absent} THEN CREATE ROLE {role} LOGIN; END IF;"
    statements = [
        f"DO $$ BEGIN {made} END $$",
        f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {role}",
        f"REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM {role}",
        f"GRANT USAGE ON SCHEMA public TO {role}",
        f"GRANT SELECT ON alembic_version TO {role}",
    ]
    for table, columns in MAY_READ.items():
        statements.append(f"GRANT SELECT{_listed(columns)} ON {table.name} TO {role}")
    for table in ADDS:
        statements.append(f"GRANT INSERT ON {table.name} TO {role}")
        if "id" in table.c:
            statements.append(f"GRANT USAGE ON SEQUENCE {table.name}_id_seq TO {role}")
    for table, columns in CHANGES.items():
        statements.append(f"GRANT UPDATE{_listed(columns)} ON {table.name} TO {role}")
    return statements


def _listed(columns: str) -> str:
    return "" if columns == ALL else f" ({columns})"


def grant_role(store: Store, role: str) -> None:
    """Make the voters' role in a workspace's database, or bring its rights up to date.

    Raises `StoreError` where the workspace isn't in PostgreSQL, or the owner's role may not make others.
    """
    if not dialects.is_postgresql(store.engine):
        raise StoreError(f"The workspace is in SQLite, which has no roles. Set {dialects.DATABASE} first.")
    with store.write() as conn:
        for statement in role_sql(role):
            conn.exec_driver_sql(statement)


def open_by_role() -> Store:
    """The workspace as `RUNOFF_VOTING_DATABASE_URL` reaches it: nothing is made or migrated.

    Raises `StoreError` where the database can't be reached or isn't of this schema.
    """
    url = dialects.url_of(dialects.VOTERS_DATABASE)
    if url is None:
        raise StoreError(f"{dialects.VOTERS_DATABASE} is empty.")
    store = Store(default_workspace(), dialects.postgresql().make_engine(url, "voters"))
    make_folder(store.folder, 0o700)
    with store.read() as conn:
        version = schema_version(conn)
    if version is not None and version > HEAD:
        raise StoreError(
            f"{dialects.name_of(store.engine, starts=True)} was last used by a newer Runoff (schema {version}, this "
            f"one knows {HEAD}). Update Runoff where voters are served."
        )
    if version != HEAD:
        raise StoreError(
            f"{dialects.name_of(store.engine, starts=True)} has {f'schema {version}' if version else 'no tables'}, and "
            f"this Runoff needs {HEAD}. Open the workspace with the owner's role first, then run `core voters-role`."
        )
    return store
