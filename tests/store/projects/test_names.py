"""Of the projects that are listed no two have one name, however they come to it; people choose them by names."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from campaigns import answer_batch, draw_batch, make_project
from old_workspaces import BEFORE_NAMES, make_old_workspace
from test_two_owners import at_once

from core.commands.archived import import_archived
from core.store import open_store
from core.store import schema as t
from core.store.dialects import is_postgresql
from core.store.engine import make_engine
from core.store.projects.archive import (
    archive_project,
    copy_without_ballots,
    delete_project,
    duplicate_project,
    export_project,
    import_project,
    list_archived,
    restore_project,
)
from core.store.projects.project_commands import (
    MAX_NAME,
    change_project,
    create_from_template,
    create_project,
    free_name,
    get_project,
    list_projects,
    read_log,
)
from core.views.log import log_table

OWNER = """
import sys
from core.store import open_store
from core.store.projects.archive import export_project, import_project
from core.store.projects.project_commands import create_project
store, n = open_store(), int(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for _ in range(n):
    import_project(store, export_project(store, create_project(store, "Words")), name="Words")
print(n)
"""


def names(store):
    return [project.name for project in list_projects(store)]


def renamed(store, project_id, name):
    revision = get_project(store, project_id).revision
    return change_project(store, project_id, name=name, notion="relatedness", expected_revision=revision)


def put_away(store, name):
    """A project of this name that is put away, so that the name is free."""
    project_id = create_project(store, name)
    archive_project(store, project_id)
    return project_id


# Each way of getting a name: prepared, it is a function that gives the name "Words" to a project and returns its id.


def _create(store):
    return lambda: create_project(store, "Words")


def _from_template(store):
    return lambda: create_from_template(store, "Words")


def _import(store):
    data = export_project(store, put_away(store, "Words"))
    return lambda: import_project(store, data)


def _import_by_name(store):
    data = export_project(store, create_project(store, "Other"))
    return lambda: import_project(store, data, name=" Words ")


def _copy(store):
    original = create_project(store, "Other")
    return lambda: duplicate_project(store, original, "Words")


def _copy_without_ballots(store):
    original = make_project(store, name="Other")
    return lambda: copy_without_ballots(store, original, "Words")


def _rename(store):
    project_id = create_project(store, "Other")
    return lambda: (renamed(store, project_id, "Words"), project_id)[1]


def _bring_back(store):
    project_id = put_away(store, "Words")
    return lambda: (restore_project(store, project_id), project_id)[1]


def _archived(store):
    project_id = make_project(store, name="Other")
    data = answer_batch(draw_batch(store, project_id))
    return lambda: import_archived(store, "Words", [("results.csv", data)]).project_id


WAYS = [
    _create, _from_template, _import, _import_by_name, _copy, _copy_without_ballots, _rename, _bring_back, _archived,
]  # fmt: skip
# Those that each change tries where the name is not taken already.
TWO_WAYS = [way if way in (_create, _import) else pytest.param(way, marks=pytest.mark.release) for way in WAYS]


@pytest.mark.parametrize("way", WAYS)
def test_a_name_that_a_listed_project_has_gets_a_number(store, way):
    give = way(store)
    create_project(store, "Words")
    create_project(store, "Words (2)")
    project_id = give()
    assert get_project(store, project_id).name == "Words (3)"
    assert len(set(names(store))) == len(names(store))
    entry = next(entry for entry in read_log(store, project_id) if "name asked for" in entry["detail"])
    assert (entry["detail"]["name"], entry["detail"]["name asked for"]) == ("Words (3)", "Words")
    assert "name asked for Words" in log_table([entry])["details"].item()


@pytest.mark.parametrize("way", TWO_WAYS)
def test_a_name_that_is_free_is_given_as_it_is(store, way):
    project_id = way(store)()
    assert get_project(store, project_id).name == "Words"
    assert not any("name asked for" in entry["detail"] for entry in read_log(store, project_id))


def test_a_long_name_is_shortened_for_its_number(store):
    name = "x" * MAX_NAME
    given = [get_project(store, create_project(store, name)).name for _ in range(3)]
    assert given == [name, "x" * (MAX_NAME - 4) + " (2)", "x" * (MAX_NAME - 4) + " (3)"]


def test_a_project_keeps_its_own_name_and_one_that_is_put_away_takes_none(store):
    first = create_project(store, "Words")
    assert renamed(store, first, "Words") == "Words"
    archive_project(store, first)
    second = create_project(store, "Words")
    assert renamed(store, first, "Words") == "Words"  # still put away
    assert restore_project(store, first) == "Words (2)"
    delete_project(store, second, "Words")
    assert get_project(store, create_project(store, "Words")).name == "Words"
    assert names(store) == ["Words (2)", "Words"]


def test_while_a_project_comes_in_nobody_waits_for_its_name(store, monkeypatch):
    """An import of millions of votes takes minutes; its name is given at its end."""
    from core.store.projects import archive

    given = []
    data = export_project(store, create_project(store, "Words"))

    def insert(conn, contents, project_id, name, **more):
        detail = insert_contents(conn, contents, project_id, name, **more)
        row = conn.execute(sa.select(t.project).where(t.project.c.id == project_id)).one()
        given.append(row.archived_at is None)
        return detail

    insert_contents = archive.insert_contents
    monkeypatch.setattr(archive, "insert_contents", insert)
    project_id = import_project(store, data)
    assert given == [False]  # put away: on PostgreSQL a second one of this name is written beside it
    assert sorted(names(store)) == ["Words", "Words (2)"]
    assert list_archived(store) == []
    assert get_project(store, project_id).name == "Words (2)"


# At once


def wait_for_a_waiter(store):
    """Until a writer waits for a lock of another one; on SQLite all writers wait for each other."""
    if not is_postgresql(store.engine):
        return
    waiting = sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    with store.engine.connect() as conn:
        while not conn.execute(waiting).scalar_one():
            conn.rollback()
            time.sleep(0.01)


# On SQLite they do wait, so that it is as with a name that is taken.
@pytest.mark.parametrize("way", TWO_WAYS)
def test_whoever_gives_the_name_that_another_writer_gives_just_now_gets_a_number(store, way):
    """Writers of different projects don't wait for each other on PostgreSQL, and see nothing of each other."""
    give = way(store)
    other = create_project(store, "Nothing")
    with ThreadPoolExecutor(1) as pool:
        with store.write(other) as conn:
            conn.execute(sa.update(t.project).where(t.project.c.id == other).values(name=free_name(conn, "Words")))
            came = pool.submit(give)
            wait_for_a_waiter(store)
        assert get_project(store, came.result()).name == "Words (2)"
    assert get_project(store, other).name == "Words"


@pytest.mark.release
def test_two_processes_that_make_projects_of_one_name_all_come_in(store):
    assert at_once(store, OWNER, [["8"], ["8"]]) == [8, 8]
    assert sorted(names(store)) == sorted(["Words", *(f"Words ({n})" for n in range(2, 33))])


# Old workspaces


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "schema",
    [BEFORE_NAMES[0], *(pytest.param(one, marks=pytest.mark.release) for one in BEFORE_NAMES[1:-1]), BEFORE_NAMES[-1]],
)
def test_old_projects_of_one_name_are_told_apart_at_the_next_start(tmp_path, schema):
    folder = tmp_path / "workspace"
    make_old_workspace(folder, schema)
    add_twins(folder)
    store = open_store(folder)
    with store.read() as conn:
        rows = conn.execute(sa.select(t.project.c.id, t.project.c.name).order_by(t.project.c.created_at)).all()
    found = {row.id: row.name for row in rows}
    assert found.pop(rows[0].id) == "Words"  # the oldest keeps it
    assert found == {"twin": "Words (3)", "third": "Words (4)", "second": "Words (2)", "away": "Words"}
    assert restore_project(store, "away") == "Words (5)"
    with pytest.raises(sa.exc.IntegrityError), store.write() as conn:  # the database itself lets no second one in
        conn.execute(sa.update(t.project).where(t.project.c.id == "twin").values(name="Words"))
    store.engine.dispose()


def add_twins(folder):
    """Give the old project, and copies of its row, one name; one that has the next name already, one that is away."""
    engine = make_engine(folder / "runoff.sqlite")
    with engine.connect().execution_options(runoff_write=True) as conn, conn.begin():
        conn.execute(sa.text("UPDATE project SET name = 'Words'"))
        row = dict(conn.execute(sa.text("SELECT * FROM project")).one()._mapping)
        new = {
            "twin": {}, "third": {}, "second": {"name": "Words (2)"}, "away": {"archived_at": "2030-01-01T00:00:00"},
        }  # fmt: skip
        for n, (id_, values) in enumerate(new.items()):
            cells = row | {"id": id_, "created_at": f"2030-01-0{n + 1}T00:00:00+00:00"} | values
            columns, marks = ", ".join(cells), ", ".join(f":{name}" for name in cells)
            conn.execute(sa.text(f"INSERT INTO project ({columns}) VALUES ({marks})"), cells)
    engine.dispose()
