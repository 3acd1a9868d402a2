"""What is PostgreSQL's own: its address, locks, lost connections, the voters' role, backups; the rest runs on both."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from campaigns import answer_batch, draw_batch, make_project
from click.testing import CliRunner
from old_workspaces import MAIN, TRIAL, put_back_on_postgresql, unpack_kept_workspace
from rounds_of_people import SMALL
from test_migrations import MIDST, assert_brought_up, assert_datasets, expected_of, somebody

from core.__main__ import cli
from core.commands.integrity import check_store
from core.errors import InputError, StoreError
from core.jobs.lifecycle import sweep
from core.questions.voting_settings import VotingSettings
from core.store import Store, backups, dialects, engine, postgresql
from core.store import schema as t
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot, draw_round
from core.store.engine import _open
from core.store.projects.project_commands import create_project, list_projects, read_log
from core.store.scores.project_dataset import read_project_dataset
from core.store.tokens.areas import add_areas
from core.store.votes.checks import add_gold
from core.store.votes.intake import accept_upload
from core.store.voting.housekeeping import do_housekeeping
from core.store.voting.owner_commands import invite, open_voting, read_invitations, set_voting_state
from core.tokens.files import AreaTokens
from core.voting import api
from tests.rounds_of_people import BEST_WORST, ORDER, RATING, SCHEMES, open_round_voting

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="PostgreSQL's programs are started as on Linux")
configured = engine.database_url  # as it is before a run on PostgreSQL puts another one in its place


@pytest.fixture
def address(postgres, monkeypatch, tmp_path) -> str:
    """The address of an empty database, set as `RUNOFF_DATABASE_URL`, with an empty workspace."""
    name = postgres.create()
    text = postgres.url(name).set(password="se:cret").render_as_string(hide_password=False)
    monkeypatch.setattr(engine, "database_url", configured)
    monkeypatch.setenv("RUNOFF_DATABASE_URL", text)
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.delenv("RUNOFF_VOTING_DATABASE_URL", raising=False)
    _open.cache_clear()
    yield text
    _open.cache_clear()
    postgres.drop(name)


def reopened() -> Store:
    _open.cache_clear()
    return engine.open_store()


class TestAddress:
    def test_the_folder_keeps_files_and_the_database_tables(self, address):
        store = engine.open_store()
        create_project(store, "P")
        assert [project.name for project in list_projects(reopened())] == ["P"]
        assert sorted(path.name for path in store.folder.iterdir()) == [
            "answers", "backups", "database.json", "embeddings", "incoming", "uploads",
        ]  # fmt: skip
        assert "se:cret" not in (store.folder / "database.json").read_text()

    @pytest.mark.parametrize(
        "text", ["mysql://me:se:cret@host/db", "postgresql://se:cret@", "se:cret", "postgresql:///"]
    )
    def test_what_is_no_address_is_told_without_repeating_it(self, address, monkeypatch, text):
        monkeypatch.setenv("RUNOFF_DATABASE_URL", text)
        with pytest.raises(StoreError, match="RUNOFF_DATABASE_URL isn't the address") as told:
            engine.open_store()
        assert "cret" not in str(told.value)

    def test_a_database_that_is_not_there_is_told_without_the_password(self, address, monkeypatch):
        monkeypatch.setenv("RUNOFF_DATABASE_URL", address.replace("test_", "nowhere_"))
        with pytest.raises(StoreError, match="no such database") as told:
            engine.open_store()
        assert "cret" not in str(told.value)

    def test_a_missing_driver_is_told(self, address, monkeypatch):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "psycopg", None)
            without.delitem(sys.modules, "core.store.postgresql")
            without.delattr("core.store.postgresql")
            with pytest.raises(StoreError, match=r"pip install \'psycopg\[binary\]\'"):
                engine.open_store()

    def test_a_workspace_has_one_database(self, address, monkeypatch, tmp_path, postgres):
        store = engine.open_store()
        monkeypatch.delenv("RUNOFF_DATABASE_URL")
        with pytest.raises(StoreError, match="are in a PostgreSQL database"):
            reopened()
        local = tmp_path / "local"
        engine.open_store(local)
        monkeypatch.setenv("RUNOFF_DATABASE_URL", address)
        with pytest.raises(StoreError, match=r"has its tables in runoff\.sqlite"):
            engine.open_store(local)
        with pytest.raises(StoreError, match="different workspaces"):
            engine.open_store(tmp_path / "other")
        other = postgres.create()
        monkeypatch.setenv("RUNOFF_DATABASE_URL", postgres.url(other).render_as_string())
        with pytest.raises(StoreError, match="different workspaces"):
            engine.open_store(store.folder)

    def test_a_first_start_that_was_cut_short_goes_on_at_the_next(self, address):
        """Killed before its tables are committed, or after that and before the folder says whose they are."""

        def killed(*_) -> None:
            raise KeyboardInterrupt

        for step in ("make_schema", "_name_badge"):
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(engine, step, killed)
                with pytest.raises(KeyboardInterrupt):
                    reopened()
        folder = engine.default_workspace()
        assert (folder / "database.part").exists()
        assert not (folder / "database.json").exists()
        told = (folder / "database.part").read_text()
        (folder / "database.part").write_text(told.replace('"id": "', '"id": "x'))
        with pytest.raises(StoreError, match="different workspaces"):
            reopened()
        (folder / "database.part").write_text(told)
        create_project(reopened(), "P")
        assert (folder / "database.json").read_text() == told
        assert not (folder / "database.part").exists()
        assert [project.name for project in list_projects(reopened())] == ["P"]

    def test_a_database_of_another_encoding_is_refused(self, postgres, address, monkeypatch):
        with postgres.admin().connect() as conn:
            conn.exec_driver_sql(
                "CREATE DATABASE latin TEMPLATE template0 ENCODING latin1 LOCALE 'C' LOCALE_PROVIDER libc"
            )
        monkeypatch.setenv("RUNOFF_DATABASE_URL", postgres.url("latin").render_as_string())
        with pytest.raises(StoreError, match="LATIN1, and texts of all languages need UTF8"):
            engine.open_store()
        _open.cache_clear()
        postgres.drop("latin")

    def test_processes_are_told_where_the_tables_are(self, address):
        store = engine.open_store()
        assert store.environment == {
            "RUNOFF_WORKSPACE": str(store.folder),
            "RUNOFF_DATABASE_URL": sa.make_url(address).render_as_string(hide_password=False),
        }


class TestSame:
    """Where the database would do otherwise than SQLite if it were let."""

    def test_text_is_ordered_by_its_bytes(self, address):
        store = engine.open_store()
        project_id = create_project(store, "P")
        with store.write(project_id) as conn:
            names = ["b", "B", "a", "A", "ä", "_", "É", "e"]
            rows = [{"project_id": project_id, "name": name, "position": 0} for name in names]
            conn.execute(sa.insert(t.area), rows)
            assert conn.execute(sa.select(t.area.c.name).order_by(t.area.c.name)).scalars().all() == sorted(names)
            assert conn.execute(sa.select(t.area.c.name).where(t.area.c.name > "a")).scalars().all() == [
                "b",
                "ä",
                "É",
                "e",
            ]

    def test_whole_numbers_have_64_bits(self, address):
        store = engine.open_store()
        create_project(store, "P", seed=2**62 + 1, project_id="large")
        (project,) = list_projects(store)
        assert project.seed == 2**62 + 1

    def test_a_text_that_the_database_cannot_keep_is_told(self, address):
        with pytest.raises(InputError, match="NUL"):
            create_project(engine.open_store(), "a\0b")

    def test_nothing_is_written_in_a_look(self, address):
        store = engine.open_store()
        with pytest.raises(StoreError, match="takes no changes"), store.read() as conn:
            conn.execute(sa.insert(t.voting_link).values(project_id="x", code="x", secret="x", voter_secret="x"))

    def test_a_look_is_one_moment(self, address):
        store = engine.open_store()
        with store.read() as conn:
            before = conn.execute(sa.select(t.project.c.id)).all()
            create_project(store, "P")
            assert conn.execute(sa.select(t.project.c.id)).all() == before == []

    def test_every_key_has_an_index(self, address):
        with engine.open_store().read() as conn:
            postgresql.index_keys(conn)  # in a look it could make none


HOLDER = """
import sys, time
from core.store import open_store
with open_store().write(sys.argv[1]) as conn:
    conn.exec_driver_sql("UPDATE project SET name = 'half done'")
    print("held", flush=True)
    time.sleep(120)
"""


def holding(project_id: str) -> subprocess.Popen[str]:
    """A process that is in the midst of a command on a project."""
    held = subprocess.Popen([sys.executable, "-c", HOLDER, project_id], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert held.stdout.readline() == "held\n"
    return held


def half_done(store, project_id, postgres):
    """A command during which the server goes."""
    with store.write(project_id) as conn:
        conn.execute(sa.update(t.project).values(name="half done"))
        postgres.stop()
        conn.execute(sa.select(t.project.c.id))


class TestLocks:
    def test_projects_do_not_wait_for_each_other_and_one_is_told_of_a_long_wait(self, address, monkeypatch):
        monkeypatch.setattr(postgresql, "LOCK_MS", 300)
        store = engine.open_store()
        one, two = create_project(store, "One"), create_project(store, "Two")
        with store.write(one):
            add_areas(store, two, [AreaTokens("A", ("x", "y"))])
            with pytest.raises(StoreError, match="another program holds it"):
                add_areas(store, one, [AreaTokens("A", ("x", "y"))])
            with pytest.raises(StoreError, match="another program holds it"), store.write():
                pass
        add_areas(store, one, [AreaTokens("A", ("x", "y"))])

    def test_locks_end_with_a_killed_process_and_its_changes_too(self, address):
        store = engine.open_store()
        project_id = create_project(store, "P")
        held = holding(project_id)
        held.send_signal(signal.SIGKILL)
        held.wait()
        add_areas(store, project_id, [AreaTokens("A", ("x", "y"))])
        assert [project.name for project in list_projects(store)] == ["P"]

    def test_a_server_that_stops_is_told_and_found_again(self, address, postgres):
        store = engine.open_store()
        project_id = create_project(store, "P")
        with pytest.raises(StoreError, match="can't do it"):
            half_done(store, project_id, postgres)
        with pytest.raises(StoreError, match="can't do it"):
            list_projects(store)
        postgres.start()
        assert [project.name for project in list_projects(store)] == ["P"]

    def test_a_connection_that_is_gone_is_replaced(self, address, postgres):
        store = engine.open_store()
        create_project(store, "P")
        with postgres.admin().connect() as conn:
            conn.exec_driver_sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'test_%%'")
        assert [project.name for project in list_projects(store)] == ["P"]


@pytest.fixture
def by_role(address, postgres, monkeypatch):
    """The owner's store with an open ballot that has all a voting page may have, its link, and the voters' store."""
    store = engine.open_store()
    project_id = make_project(store)
    draw_next_ballot(store, project_id)
    settings = VotingSettings(
        task_size=3, tasks_per_voter=3, n_gold=1, n_repeats=1, gold_action="set aside", gold_allowed=0,
        completion="own", ask=("age",), examples=False, adaptive=True,
    )  # fmt: skip
    code = open_voting(store, project_id, settings)
    add_gold(store, project_id, [(0, 5), (3, 7)])
    invite(store, project_id, ["Ines"])
    role = "voters_of_a_test"
    postgresql.grant_role(store, role)
    postgresql.grant_role(store, role)  # once more is as once
    url = postgres.url(sa.make_url(address).database, role).render_as_string()
    monkeypatch.setenv("RUNOFF_VOTING_DATABASE_URL", url)
    monkeypatch.delenv("RUNOFF_DATABASE_URL")
    voters = api.open_voters_store()
    yield store, project_id, code, voters
    voters.engine.dispose()


TABLES = {table.name: table for table in t.metadata.sorted_tables}
FORBIDDEN = [
    *(f"SELECT * FROM {name}" for name, table in TABLES.items() if table not in postgresql.MAY_READ),
    *(f"DELETE FROM {name}" for name in TABLES),
    *(f"TRUNCATE {name}" for name in TABLES),
    *(f"INSERT INTO {name} DEFAULT VALUES" for name, table in TABLES.items() if table not in postgresql.ADDS),
    "SELECT seed FROM project", "SELECT name FROM project", "SELECT similarity FROM item",
    "SELECT mean FROM ballot_item", "SELECT keep FROM plan", "SELECT fit FROM ballot",
    "UPDATE project SET name = 'x'", "UPDATE ballot SET state = 'closed'", "UPDATE voting SET state = 'open'",
    "UPDATE gold SET answer = 'first'", "UPDATE voter SET external_id = 'x'", "UPDATE log SET who = 'x'",
    "UPDATE judgement SET assignment_id = 1", "UPDATE voting_link SET secret = 'x'",
    "UPDATE alembic_version SET version_num = '0001'", "CREATE TABLE x (y int)", "CREATE ROLE another",
]  # fmt: skip


class TestVotersRole:
    def test_it_does_all_that_a_voting_page_does(self, by_role):
        store, project_id, code, voters = by_role
        ((_, token),) = read_invitations(store, project_id)
        people = [api.Visitor(), api.Visitor("prolific", "5f0c"), api.Visitor(token=token)]
        codes = set()
        for number, who in enumerate(people):
            visit = f"visit {number}"
            view = api.look(voters, code, "", visit, who)
            view = api.begin(voters, code, visit, view.form, who, name=f"Voter {number}", traits={"age": "18 to 24"})
            said = 0
            while view.kind in ("vote", "between"):
                cookie = view.cookie
                if view.kind == "vote":
                    place, choice = view.place, ("left", "right", "unknown", "tie")[said % 4]
                    step = {"task": place.task, "n": place.n, "choice": choice}
                    view = api.vote(voters, code, cookie, view.form, **step)
                    said += 1
                    if said == 2:
                        view = api.undo(voters, code, cookie, view.form, task=1, n=2)
                elif view.may_more:
                    view = api.more(voters, code, cookie, view.form)
                else:
                    view = api.finish(voters, code, cookie, view.form)
                view = view if view.cookie else api.look(voters, code, cookie, visit)
            assert view.kind == "finished"
            codes.add(view.code)
            assert api.look(voters, code, view.cookie, visit).kind == "finished"
        assert len(codes) == 3
        assert api.do_housekeeping(voters, set()) == []
        with store.read() as conn:
            assert conn.execute(sa.select(sa.func.count()).select_from(t.sitting)).scalar() == 3
            assert conn.execute(sa.select(t.judgement.c.id)).first()
        set_voting_state(store, project_id, "closed")
        assert api.look(voters, code).kind == "next"  # it may ask whether the plan has more ballots

    def test_it_does_nothing_else(self, by_role):
        *_, voters = by_role
        for statement in FORBIDDEN:
            with (
                pytest.raises((StoreError, sa.exc.DBAPIError), match=r"may not do that|permission denied"),
                voters.write() as conn,
            ):
                conn.exec_driver_sql(statement)

    def test_adaptive_ballots_are_brought_on_by_the_owner(self, by_role):
        store, project_id, _, voters = by_role
        assert api.do_housekeeping(voters, set()) == []
        assert do_housekeeping(store, set()) == []
        assert "draw ballot" in [entry["action"] for entry in read_log(store, project_id)]

    def test_the_page_is_not_served_before_the_owner_made_the_tables(self, postgres, monkeypatch, tmp_path):
        name = postgres.create()
        monkeypatch.setenv("RUNOFF_VOTING_DATABASE_URL", postgres.url(name).render_as_string())
        monkeypatch.setenv("RUNOFF_WORKSPACE", str(tmp_path / "w"))
        with pytest.raises(StoreError, match=r"has no tables.*owner's role first"):
            api.open_voters_store()
        postgres.drop(name)

    @pytest.mark.parametrize("role", ["", "x; DROP TABLE log", "Voters", 'a"b', "x" * 64])
    def test_odd_names_are_refused(self, role):
        with pytest.raises(InputError, match="isn't a name for a role"):
            postgresql.role_sql(role)

    def test_sqlite_has_no_roles(self, tmp_path, monkeypatch):
        monkeypatch.setattr(engine, "database_url", lambda folder: None)
        with pytest.raises(StoreError, match="SQLite, which has no roles"):
            postgresql.grant_role(engine.open_store(tmp_path), "voters")

    def test_the_command_writes_sql_for_somebody_else(self, address):
        done = CliRunner().invoke(cli, ["voters-role", "page", "--sql"])
        assert done.output.count("GRANT INSERT ON judgement TO page;") == 1
        assert "DELETE" not in done.output


class TestMigration:
    def to_next(self, conn):
        conn.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
        conn.execute(sa.text("CREATE TABLE later (id INTEGER)"))

    @pytest.fixture(autouse=True)
    def coming(self, address, monkeypatch):
        store = engine.open_store()
        self.project_id = create_project(store, "Kept")
        monkeypatch.setattr(engine, "HEAD", "9999")
        monkeypatch.setattr("core.store.migrations.upgrade", self.to_next)

    def test_a_dump_is_made_before(self, address):
        (dump,) = (reopened().folder / "backups").iterdir()
        told = subprocess.run([backups.find_program("pg_restore"), "--list", str(dump)], capture_output=True, text=True)
        assert "TABLE DATA public project" in told.stdout
        assert "later" not in told.stdout

    def test_without_pg_dump_it_is_refused_unless_told(self, address, monkeypatch):
        monkeypatch.setattr(backups, "find_program", lambda name: None)
        with pytest.raises(StoreError, match=r"pg_dump, which isn't installed.*RUNOFF_MIGRATE_WITHOUT_BACKUP=1"):
            reopened()
        monkeypatch.setenv("RUNOFF_MIGRATE_WITHOUT_BACKUP", "1")
        assert [project.id for project in list_projects(reopened())] == [self.project_id]

    def test_a_failed_one_leaves_the_database_as_it_was(self, address, monkeypatch):
        def breaks(conn):
            conn.execute(sa.text("DROP TABLE judgement"))
            raise StoreError("The migration stopped.")

        monkeypatch.setattr("core.store.migrations.upgrade", breaks)
        with pytest.raises(StoreError, match="stopped"):
            reopened()
        monkeypatch.undo()

    def test_a_newer_workspace_is_left_alone(self, address, monkeypatch):
        reopened()
        monkeypatch.setattr(engine, "HEAD", "0005")
        with pytest.raises(StoreError, match="newer Runoff"):
            reopened()


def shape_of(store: Store) -> dict[str, list[list[str]]]:
    """What the database says of its tables: columns, indexes, checks, keys."""
    of = sa.inspect(store.engine)
    asked = (
        of.get_columns,
        of.get_indexes,
        of.get_unique_constraints,
        of.get_check_constraints,
        of.get_foreign_keys,
    )
    return {table: [sorted(map(repr, ask(table))) for ask in asked] for table in of.get_table_names()}


OLD_ROLE = "voters_of_an_old_workspace"


def test_the_kept_workspace_is_brought_up(address, tmp_path):
    fresh = engine.open_store()
    shape = shape_of(fresh)
    unpack_kept_workspace(tmp_path / "kept")
    with fresh.write() as conn:
        put_back_on_postgresql(conn, tmp_path / "kept")
        made, *_ = postgresql.role_sql(OLD_ROLE)
        conn.exec_driver_sql(made)
        conn.exec_driver_sql(f"GRANT SELECT (id, number, scheme) ON ballot TO {OLD_ROLE}")  # among others
    for part in ("uploads", "embeddings"):
        shutil.copytree(tmp_path / "kept" / part, fresh.folder / part, dirs_exist_ok=True)
    assert shape_of(fresh) != shape
    store = reopened()
    assert shape_of(store) == shape
    assert len(list((store.folder / "backups").glob("*.pgdump"))) == 1
    assert_brought_up(store)
    for project_id in (MAIN, TRIAL):
        assert_datasets(store, project_id, expected_of(project_id))
    with store.read() as conn:
        asked = "SELECT count(*) FROM information_schema.column_privileges WHERE grantee = %s AND column_name = ANY(%s)"
        named = (OLD_ROLE, ["purpose", "ordinal"])
        assert conn.exec_driver_sql(asked, named).scalar() == 2
    sweep(store)
    assert check_store(store).faults == ()
    for name in MIDST:
        code, of = somebody(store, name)
        view = api.look(store, code, "", "visit", of.who)
        assert (view.kind, view.place.task, view.place.n) == ("vote", of.task, of.n)
        step = {"task": of.task, "n": of.n, "choice": of.answer(store, view.place)}
        assert api.vote(store, code, view.cookie, view.form, **step).said == "Saved."
    close_ballot(store, TRIAL)
    assert check_store(store).faults == ()


def test_a_campaign_gives_the_same_numbers_on_both(address, tmp_path, monkeypatch):
    def campaign(store: Store):
        project_id = make_project(store)
        for _ in range(2):
            accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "r.csv")
            close_ballot(store, project_id)
        return read_project_dataset(store, project_id)

    monkeypatch.setattr("core.store.projects.project_commands.new_project_id", lambda: "same")
    there = campaign(engine.open_store())
    monkeypatch.delenv("RUNOFF_DATABASE_URL")
    here = campaign(engine.open_store(tmp_path / "local"))
    assert there.to_csv() == here.to_csv()
    assert there.attrs == here.attrs


def test_the_address_is_shown_without_what_is_secret():
    url = sa.make_url("postgresql+psycopg://me:pass@host:5433/db?sslpassword=x&sslmode=require")
    assert dialects.shown(url) == "postgresql://me@host:5433/db"
    assert os.environ.get("RUNOFF_DATABASE_URL") is None


class TestVotersRoleInRounds:
    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_it_does_all_that_a_round_on_the_voting_page_does(self, by_role, scheme):
        store, project_id, code, voters = by_role
        set_voting_state(store, project_id, "paused")
        draw_round(store, project_id, SMALL[scheme])
        assert open_round_voting(store, project_id, 1) == code
        given = {RATING: "1.5", BEST_WORST: "best=1;worst=2", ORDER: "2 1"}[scheme]
        view = api.begin(voters, code, "v", api.look(voters, code, "", "v").form, api.Visitor(), name="Ada")
        cookie, step = view.cookie, {"task": 1, "n": 1}
        n_words = sum(name.startswith("order_1_word") for name in view.place.texts)
        given = given if n_words < 3 else "2 1 3"
        for choice in (given, "unknown"):
            view = api.vote(voters, code, cookie, view.form, choice=choice, **step)
            view = api.undo(voters, code, cookie, view.form, **step)
        view = api.vote(voters, code, cookie, view.form, choice=given, **step)
        with pytest.raises(api.IncompleteError):
            api.vote(voters, code, cookie, view.form, choice="nothing", task=1, n=2)
        with store.read() as conn:
            found = conn.execute(sa.select(t.judgement.c.answer, t.judgement.c.status)).all()
        assert found == [(given, "counted")]
        assert check_store(store).faults == ()
