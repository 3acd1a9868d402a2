"""Two owners at once: a sign of life of `python -m bench.owners`, and what it would find out.

What SQLite reads for a command or a page is looked at here too: no table of all projects' rows as a whole, so that a
project among many is as quick as one alone (`python -m bench.many_projects`).
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from contextlib import suppress

import pytest
import sqlalchemy as sa

from bench.large_clicks import end_jobs
from bench.owner_commands import COMMANDS, PAGES, begin, look
from bench.owners import Owner, Step, lost, two_owners
from bench.scale import page_of, run_page
from core.errors import RunoffError
from core.jobs.lifecycle import sweep
from core.store import Store
from core.store import schema as t
from core.store.projects.project_commands import change_project, create_project
from core.store.voting.housekeeping import do_housekeeping
from tests.query_plans import Statements, noted, whole_tables

# Tables with few rows, whatever projects hold: a row a project, an embedding, a plan, a page, or work that was kept.
SHORT = {"project", "embedding", "ballot", "plan", "voting", "voting_link", "upload", "frequency_source", "release"}
SHORT |= {"job"}


def test_two_owners_at_once_lose_nothing(store):
    found = two_owners(store, seed=3, seconds=120, n_steps=5)
    assert [name for name in found if name.startswith("fault")] == []
    assert found["done"] > 0


def test_an_edit_that_was_overwritten_unseen_is_found(store):
    project = create_project(store, "P")
    change_project(store, project, name="A", notion="relatedness", expected_revision=1)
    step = Step(1, project, "rename", "done", revision=1, checked=True, action="change project", sets={"name": "A"})
    assert list(lost(store, [step])) == []
    with store.write() as conn:
        conn.execute(sa.update(t.project).values(name="B"))
    assert list(lost(store, [step])) == ["rename of owner 1 set name to 'A', which is 'B' now"]


def test_an_edit_that_came_after_another_unseen_is_found(store):
    project = create_project(store, "P")
    for revision, name in ((1, "A"), (2, "B")):
        change_project(store, project, name=name, notion="relatedness", expected_revision=revision)
    seen = Step(2, project, "rename", "done", revision=1, checked=True, action="change project", sets={"name": "B"})
    before = Step(1, project, "rename", "done", revision=1, checked=True, action="change project", sets={"name": "A"})
    assert list(lost(store, [before, seen])) == ["rename of owner 2 at revision 1 was carried out and is no entry"]


def test_a_sentence_of_the_database_is_no_sentence_for_an_owner(store, tmp_path):
    owner = Owner(store, 1, 1, tmp_path / "journal", pages=0.0)
    for said, outcome in (("Choose another name.", "refused"), ("(database is locked)", "fault"), ("no end", "fault")):
        assert owner._refused(Step(1, "p", "rename", "refused"), RunoffError(said)).outcome == outcome


# What moves a collection on, so that each of the others fits when it comes; before it what only fits then.
_ON = ("draw", "discard", "draw", "take a file", "leave out or readmit a voter", "leave out or readmit a voter")
_ON += ("withdraw a file", "simulate votes", "close", "reopen", "close", "release", "draw", "take a file")
_ON += ("add or remove a check", "open the voting page", "a vote", "a vote")
# What would leave another project, another kind of ranking or too few items to the others.
_APART = {"begin anew", "delete", "set the ranking", "set the rules of items", "draw a pilot"}
_APART |= {"pause, resume or close voting"}


def give(store: Store, project: str, names: Iterable[str]) -> set[str]:
    """Give those of the commands that fit when their turn comes; those that weren't refused."""
    by_name, rng, done = {command.name: command for command in COMMANDS}, random.Random(2), set[str]()
    for turn, name in enumerate(names):
        seen = look(store, project)
        if by_name[name].fits(seen):
            with suppress(RunoffError):
                by_name[name].press(seen, rng, f"t{turn}").run(store)
                done.add(name)
    return done


def long_ones(store: Store, found: Statements) -> dict[str, list[str]]:
    return {table: said for table, said in whole_tables(store, found).items() if table not in SHORT}


@pytest.mark.sqlite
def test_no_command_reads_a_table_of_all_projects(store):
    """Each command once or twice: some seconds."""
    names = {command.name for command in COMMANDS}
    others = [command.name for command in COMMANDS if command.name not in {*_ON, *_APART}]
    with noted(store) as found:
        done = give(store, begin(store, "Main", 1), (*others, *_ON, *others, "pause, resume or close voting"))
        do_housekeeping(store, set())
        sweep(store)
    assert names - done <= {*_APART, "restore", "add or remove an embedding"}  # by the dice
    assert long_ones(store, found) == {}


@pytest.mark.release
@pytest.mark.sqlite
def test_no_page_reads_a_table_of_all_projects(store, monkeypatch):
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(store.folder))
    project = begin(store, "Main", 1)
    give(store, project, _ON)
    with noted(store) as found:
        for key in PAGES:
            run_page(page_of(project, key))
            end_jobs(project)
    assert long_ones(store, found) == {}


@pytest.mark.sqlite
def test_a_table_that_is_read_as_a_whole_is_found(store):
    with noted(store) as found, store.read() as conn:
        conn.execute(sa.select(sa.func.count()).select_from(t.judgement.alias("j"))).scalar_one()
        conn.execute(sa.select(t.judgement.c.answer).where(t.judgement.c.question_id == 1)).all()
    assert {table: len(said) for table, said in whole_tables(store, found).items()} == {"judgement": 1}
