"""The store itself: schema and migrations, transactions, revisions, backups."""

from __future__ import annotations

import sqlite3
import threading

import numpy as np
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from core.errors import BusyError, StaleError, StoreError
from core.store import command as commands
from core.store import engine, open_store
from core.store import schema as t
from core.store.command import command
from core.store.migrations import head, upgrade
from core.store.projects.project_commands import change_project, create_project, get_project, list_projects, read_log
from core.store.tokens.areas import add_areas, change_area, read_areas
from core.tokens.files import AreaTokens


def test_the_newest_migration_is_the_one_the_engine_asks_for():
    assert head() == engine.HEAD


def is_in_the_schema(name, _kind, _parents):
    """PostgreSQL has some indexes more, for deleting (`postgresql.index_keys`)."""
    return not str(name).startswith("ix_key_")


def is_another_type(_context, _inspected_column, _column, inspected, type_):
    """PostgreSQL's whole numbers have 64 bits, as SQLite's have; None leaves the rest to Alembic."""
    return False if isinstance(inspected, sa.BigInteger) and isinstance(type_, sa.Integer) else None


def differences(conn):
    """What Alembic finds that differs between a database and the schema."""
    opts = {"compare_type": is_another_type, "target_metadata": t.metadata, "include_name": is_in_the_schema}
    return compare_metadata(MigrationContext.configure(conn, opts=opts), t.metadata)


def checks_of(conn):
    """Every check of a database, by table and name."""
    found = sa.inspect(conn)
    rows = [(table, check) for table in found.get_table_names() for check in found.get_check_constraints(table)]
    return {(table, check["name"]): check["sqltext"] for table, check in rows}


def test_a_new_database_has_exactly_the_schema(store):
    with store.read() as conn:
        assert differences(conn) == []
        assert engine.schema_version(conn) == engine.HEAD


@pytest.mark.sqlite
def test_a_database_that_was_migrated_is_as_a_new_one(store, tmp_path):
    old = engine.make_engine(tmp_path / "old.sqlite")
    with old.connect().execution_options(runoff_write=True) as conn, conn.begin(), store.read() as new:
        upgrade(conn)
        assert differences(conn) == []
        assert checks_of(conn) == checks_of(new)
        assert engine.schema_version(conn) == engine.HEAD
    old.dispose()


@pytest.mark.sqlite
def test_connections_are_set_up_for_safety(store):
    with store.read() as conn:
        assert conn.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert conn.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
        assert conn.exec_driver_sql("PRAGMA busy_timeout").scalar() >= 10_000
        assert conn.exec_driver_sql("PRAGMA synchronous").scalar() == 2


def test_a_foreign_key_that_leads_nowhere_is_refused(store):
    with pytest.raises(sa.exc.IntegrityError), store.write() as conn:
        conn.execute(sa.insert(t.area).values(project_id="nobody", name="x", position=0))


def test_rows_from_arrays_are_those_of_the_arrays_however_they_are_split(store, monkeypatch):
    project_id = create_project(store, "Arrays")
    monkeypatch.setattr(commands, "PART", 3)
    names = np.array([f"area {i}" for i in range(7)])
    with store.write(project_id) as conn:
        columns = {"project_id": project_id, "name": names, "position": np.arange(7)}
        commands.insert_arrays(conn, t.area, columns)
        commands.insert_arrays(conn, t.area, {"project_id": project_id, "name": names[:0], "position": np.arange(0)})
    with store.read() as conn:
        rows = commands.fetch_rows(conn, sa.select(t.area.c.project_id, t.area.c.name).order_by(t.area.c.position))
    assert rows == [(project_id, name) for name in names.tolist()]
    with pytest.raises(StoreError, match=r"The columns for area have \[1, 2\] rows"), store.write(project_id) as conn:
        commands.insert_arrays(conn, t.area, {"name": names[:1], "position": np.arange(2)})


@pytest.mark.sqlite
def test_a_backup_is_made_before_each_migration(store, monkeypatch):
    project_id = create_project(store, "Kept")

    def to_next(conn):
        conn.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))

    monkeypatch.setattr(engine, "HEAD", "9999")
    monkeypatch.setattr("core.store.migrations.upgrade", to_next)
    engine._open.cache_clear()
    open_store(store.folder)
    (backup,) = (store.folder / "backups").iterdir()
    with sqlite3.connect(backup) as copy:
        assert copy.execute("SELECT version_num FROM alembic_version").fetchone() == (head(),)
        assert copy.execute("SELECT id FROM project").fetchall() == [(project_id,)]
    engine._open.cache_clear()


@pytest.mark.sqlite
def test_a_migration_that_rebuilds_a_table_keeps_the_rows_that_point_to_it(store, monkeypatch):
    project_id = create_project(store, "Kept")
    add_areas(store, project_id, [AreaTokens("x", ("a", "b", "c"))])

    def rebuilds(conn):
        columns = "id, project_id, name, position"
        conn.execute(sa.text(f"CREATE TABLE other AS SELECT {columns} FROM area"))
        conn.execute(sa.text("DROP TABLE area"))
        conn.execute(sa.text("ALTER TABLE other RENAME TO area"))
        conn.execute(sa.text("CREATE UNIQUE INDEX area_id ON area (id)"))
        conn.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))

    monkeypatch.setattr(engine, "HEAD", "9999")
    monkeypatch.setattr("core.store.migrations.upgrade", rebuilds)
    engine._open.cache_clear()
    open_store(store.folder)
    with store.read() as conn:
        assert conn.execute(sa.text("SELECT count(*) FROM token")).scalar() == 3
        assert conn.execute(sa.text("SELECT count(*) FROM item")).scalar() == 3


@pytest.mark.sqlite
def test_a_migration_that_breaks_links_is_not_made(store, monkeypatch):
    project_id = create_project(store, "Kept")
    add_areas(store, project_id, [AreaTokens("x", ("a", "b", "c"))])

    def loses(conn):
        conn.execute(sa.text("DELETE FROM area"))

    monkeypatch.setattr(engine, "HEAD", "9999")
    monkeypatch.setattr("core.store.migrations.upgrade", loses)
    engine._open.cache_clear()
    with pytest.raises(StoreError, match="would lose"):
        open_store(store.folder)
    assert read_areas(store, project_id) == [AreaTokens("x", ("a", "b", "c"))]


@pytest.mark.sqlite
@pytest.mark.parametrize("name", ["what?a=1", "50 % off #1", "ü ß"])
def test_a_workspace_lies_where_it_was_asked_for(tmp_path, name):
    opened = open_store(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]
    assert (tmp_path / name / "runoff.sqlite").is_file()
    opened.engine.dispose()


@pytest.mark.sqlite
def test_a_locked_database_is_told_in_words(store, monkeypatch):
    project_id = create_project(store, "Busy")
    monkeypatch.setattr(engine, "BUSY_MS", 50)
    impatient = engine.Store(store.folder, engine.make_engine(store.folder / "runoff.sqlite"))
    with store.write(), pytest.raises(BusyError, match="Another program is at work") as told:
        create_project(impatient, "Other")
    assert "database is locked" not in str(told.value)  # SQLite's own words
    assert [project.id for project in list_projects(store)] == [project_id]
    impatient.engine.dispose()


@pytest.mark.sqlite
def test_the_journal_of_a_large_command_does_not_stay(store, monkeypatch):
    monkeypatch.setattr(engine, "JOURNAL_BYTES", 1_000_000)
    store.engine.dispose()  # new connections have the new limit
    project_id = create_project(store, "P")
    with store.write(project_id) as conn:
        conn.execute(sa.insert(t.log).values(
            project_id=project_id, revision=99, at="", who="owner", action="large", detail={"text": "x" * 8_000_000}
        ))  # fmt: skip
    journal = store.folder / "runoff.sqlite-wal"
    assert journal.stat().st_size > 8_000_000
    for name in ("Small", "Smaller"):
        add_areas(store, project_id, [AreaTokens(name, ("x", "y"))])
    assert journal.stat().st_size <= 1_000_000


def test_a_failed_migration_leaves_the_database_as_it_was(store, monkeypatch):
    def breaks(conn):
        conn.execute(sa.text("DROP TABLE judgement"))
        raise StoreError("The migration stopped.")

    monkeypatch.setattr(engine, "HEAD", "9999")
    monkeypatch.setattr("core.store.migrations.upgrade", breaks)
    engine._open.cache_clear()
    with pytest.raises(StoreError):
        open_store(store.folder)
    with store.read() as conn:
        assert sa.inspect(conn).has_table("judgement")
        assert engine.schema_version(conn) == head()


def test_a_workspace_of_a_newer_version_is_left_alone(store):
    with store.write() as conn:
        conn.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    engine._open.cache_clear()
    with pytest.raises(StoreError, match="newer Runoff"):
        open_store(store.folder)


@pytest.mark.sqlite
def test_a_damaged_database_is_told_in_words(tmp_path):
    (tmp_path / "runoff.sqlite").write_bytes(b"this is no database" * 100)
    with pytest.raises(StoreError, match=r"can't be read.*backups"):
        open_store(tmp_path)


def test_a_workspace_that_cannot_be_made_is_told_in_words(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="RUNOFF_WORKSPACE"):
        open_store(tmp_path / "file" / "workspace")


def test_every_command_raises_the_revision_and_is_logged(store):
    project_id = create_project(store, "  My   words ", seed=5)
    add_areas(store, project_id, [AreaTokens("x", ("a", "b"))])
    project = get_project(store, project_id)
    change_project(store, project_id, name="Other", notion="similarity", expected_revision=project.revision)
    assert get_project(store, project_id).revision == 3
    entries = read_log(store, project_id)
    assert [(entry["revision"], entry["action"]) for entry in entries] == [
        (3, "change project"),
        (2, "add areas"),
        (1, "create project"),
    ]
    assert entries[2]["detail"]["name"] == "My words"


def test_a_stale_edit_is_refused_and_changes_nothing(store):
    project_id = create_project(store, "One")
    add_areas(store, project_id, [AreaTokens("x", ("a", "b"))])
    with pytest.raises(StaleError, match="changed in the meantime"):
        change_project(store, project_id, name="Two", notion="relatedness", expected_revision=1)
    with pytest.raises(StaleError, match="area x was changed in the meantime"):
        change_area(store, project_id, AreaTokens("x", ("a",)), ("c", "d"))
    assert read_areas(store, project_id) == [AreaTokens("x", ("a", "b"))]
    assert get_project(store, project_id).name == "One"
    assert get_project(store, project_id).revision == 2


def test_a_command_that_fails_changes_nothing(store):
    project_id = create_project(store, "One")

    def stops_halfway():
        with command(store, project_id, "test") as change:
            change.conn.execute(sa.insert(t.area).values(project_id=project_id, name="x", position=0))
            raise StoreError("stop")

    with pytest.raises(StoreError, match="stop"):
        stops_halfway()
    assert read_areas(store, project_id) == []
    assert get_project(store, project_id).revision == 1


def test_commits_of_several_threads_are_all_kept(store):
    project_id = create_project(store, "Busy")
    failures = []

    def work():
        for _ in range(25):
            try:
                with command(store, project_id, "count") as change:
                    change.detail = {"before": change.project.revision}
            except sa.exc.OperationalError as error:
                failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert get_project(store, project_id).revision == 101
    revisions = [entry["revision"] for entry in read_log(store, project_id, limit=500)]
    assert sorted(revisions) == list(range(1, 102))


def test_an_unknown_project_is_told_in_words(store):
    with pytest.raises(StoreError, match="no project 'nobody'"):
        get_project(store, "nobody")
    assert list_projects(store) == []
