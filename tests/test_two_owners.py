"""Two owners, and two servers, on one project at once: no update is lost, a stale edit is told, no vote is dealt twice.

Each is a process of its own, as a second app or a second machine would be.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from campaigns import PLAN
from voting_server import make_voting

from core.errors import RunoffError, StaleError
from core.questions.voting_settings import VotingSettings
from core.store import schema as t
from core.store.projects.plans import read_plan, save_plan
from core.store.projects.project_commands import change_project, create_project, get_project, read_log
from core.store.tokens.areas import add_areas, read_areas
from core.store.votes.tallies import ballot_votes
from core.tokens.files import AreaTokens
from tests.browser.server import environment_of
from tests.syntax import nodes, reads_the_code, tree

ROOT = Path(__file__).resolve().parents[1]
OWNER = """
import sys
from core.errors import StaleError
from core.store import open_store
from core.store.projects.project_commands import change_project, get_project
store, name, project_id, n = open_store(), *sys.argv[1:3], int(sys.argv[3])
stale = done = 0
print("ready", flush=True)
sys.stdin.readline()
while done < n:
    before = get_project(store, project_id)
    try:
        change_project(store, project_id, name=f"{before.name}{name}", notion="relatedness",
                       expected_revision=before.revision)
        done += 1
    except StaleError:
        stale += 1
print(stale)
"""
VOTER = """
import sys
from core.voting import api as voting
voting.WAIT_SECONDS = 60.0  # here nobody asks again
store = voting.open_voters_store()
code, names = sys.argv[1], sys.argv[2:]
print("ready", flush=True)
sys.stdin.readline()
views = {n: voting.begin(store, code, n, voting.look(store, code, "", n).form, voting.Visitor(), name=n) for n in names}
answered = 0
while any(view.kind == "vote" for view in views.values()):
    for name, view in views.items():
        if view.kind == "vote":
            place = view.place
            views[name] = voting.vote(store, code, view.cookie, view.form, task=place.task, n=place.n, choice="left")
            answered += 1
        elif view.kind == "between" and view.may_more:
            views[name] = voting.more(store, code, view.cookie, view.form)
print(answered)
"""


def at_once(store, script: str, arguments: list[list[str]]) -> list[int]:
    """Run a script in processes that begin together; the number each ends with."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script, *given],
            cwd=ROOT,
            env=environment_of(store.folder) | {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for given in arguments
    ]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=120)[0] for process in started]
    assert [process.returncode for process in started] == [0] * len(started)
    return [int(text) for text in said]


@pytest.mark.release
def test_two_owners_in_two_processes_lose_no_update_and_are_told_of_stale_edits(store):
    project_id = create_project(store, "P")
    stale = at_once(store, OWNER, [["a", project_id, "20"], ["b", project_id, "20"]])
    project = get_project(store, project_id)
    assert sorted(project.name) == sorted("P" + "a" * 20 + "b" * 20)  # each built on what it had seen
    assert project.revision == 41
    revisions = [entry["revision"] for entry in read_log(store, project_id, limit=500)]
    assert sorted(revisions) == list(range(1, 42))
    assert all(n >= 0 for n in stale)


def test_a_stale_edit_is_told_and_changes_nothing(store):
    project_id = create_project(store, "P")
    seen = get_project(store, project_id).revision
    change_project(store, project_id, name="First", notion="relatedness", expected_revision=seen)
    with pytest.raises(StaleError, match="changed in the meantime"):
        change_project(store, project_id, name="Second", notion="relatedness", expected_revision=seen)
    add_areas(store, project_id, [AreaTokens("A", ("one", "two", "three", "four", "five", "six"))])
    seen = get_project(store, project_id).revision
    save_plan(store, project_id, PLAN, expected_revision=seen)
    with pytest.raises(StaleError):
        save_plan(store, project_id, replace(PLAN, appearances=6), expected_revision=seen)
    assert get_project(store, project_id).name == "First"
    assert read_plan(store, project_id).appearances == PLAN.appearances


# Commands that no revision is asked of, and why nothing of another owner's is overwritten by them.
COMPARED = {
    "add_areas": "refuses names that are there",
    "change_area": "compares the area with the one that was seen",
    "change_areas": "compares the areas with those that were seen",
    "add_tokens": "compares the area with the one that was seen",
    "delete_area": "compares the area with the one that was seen",
    "restore_area": "refuses a name that is there",
    "correct_spelling": "finds the token by the spelling that was seen",
    "accept_upload": "adds, by a reading of the store as it is",
    "withdraw_upload": "refuses a file that is withdrawn",
    "add_embedding": "adds",
    "import_into": "adds",
    "remove_embedding": "takes one away, which leaves its import",
    "keep_release": "compares the revision itself, and refuses a version that is there",
    "publish_on_turkle": "adds",
    "fetch_from_turkle": "notes when",
    "believe": "of trial projects, which programs make",
}


def opens_a_command(function: ast.FunctionDef) -> bool:
    """Whether a function has a `with command(…)` or `with _rewriting(…)` of its own."""
    named = {"command", "_rewriting"}
    items = (item for node in ast.walk(function) if isinstance(node, ast.With) for item in node.items)
    calls = (item.context_expr for item in items if isinstance(item.context_expr, ast.Call))
    return any(isinstance(call.func, ast.Name) and call.func.id in named for call in calls)


@reads_the_code
def test_every_command_is_checked_against_what_was_seen_or_overwrites_nothing():
    """A function of the store that others call takes the revision, or is known to compare by itself."""
    unchecked = set()
    for path in sorted((ROOT / "core" / "store").rglob("*.py")):
        for node in tree(path).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and opens_a_command(node):
                arguments = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
                if "expected_revision" not in arguments:
                    unchecked.add(node.name)
    assert unchecked == set(COMPARED)


@reads_the_code
def test_every_page_sends_the_revision_that_it_showed():
    """Wherever a page gives a command that takes one."""
    takes = set()
    for path in sorted((ROOT / "core").rglob("*.py")):
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef) and "expected_revision" in {a.arg for a in node.args.kwonlyargs}:
                takes.add(node.name)
    missing = []
    for path in sorted([*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]):
        for node in nodes(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "carry_out":
                given = node.args[0]
                sends = "expected_revision" in {keyword.arg for keyword in node.keywords}
                if isinstance(given, ast.Name) and given.id in takes and not sends:
                    missing.append(f"{path.relative_to(ROOT)}:{node.lineno}: {given.id}")
    assert missing == []


def test_owners_of_one_project_and_of_others_write_at_once(store):
    """Eight threads on four projects: ids are given once, areas stay with their project."""
    projects = [create_project(store, f"P{n}") for n in range(4)]
    faults = []

    def add(worker: int) -> None:
        try:
            for n in range(5):
                area = AreaTokens(f"{worker}-{n}", ("one", "two", "three"))
                add_areas(store, projects[worker % 4], [area])
        except (RunoffError, sa.exc.SQLAlchemyError) as error:
            faults.append(error)

    threads = [threading.Thread(target=add, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    for place, project_id in enumerate(projects):
        names = {area.name for area in read_areas(store, project_id)}
        assert names == {f"{worker}-{n}" for worker in (place, place + 4) for n in range(5)}
    with store.read() as conn:
        for table, wanted in ((t.area, 40), (t.token, 120), (t.item, 120)):
            ids = conn.execute(sa.select(table.c.id)).scalars().all()
            assert len(ids) == len(set(ids)) == wanted


@pytest.mark.release
def test_two_voting_servers_never_give_the_last_vote_twice(store):
    settings = VotingSettings(task_size=3, tasks_per_voter=50, votes_per_comparison=2, examples=False)
    project_id, code = make_voting(store, settings, tokens=("a", "b", "c", "d"), appearances=4)
    answered = at_once(store, VOTER, [[code, "Anna", "Ben", "Cleo"], [code, "Dora", "Emil", "Fay"]])
    with store.read() as conn:
        counts = conn.execute(sa.select(t.question.c.n_votes, t.question.c.n_dealt)).all()
        ballot_id = conn.execute(sa.select(t.ballot.c.id).where(t.ballot.c.project_id == project_id)).scalar_one()
        votes = ballot_votes(conn, ballot_id)
    # Whoever comes to the end while others still hold something leaves it to them, so some may have one vote.
    assert all(n_votes == n_dealt <= 2 for n_votes, n_dealt in counts)
    assert len({(question, voter) for question, voter in _judged(store)}) == len(votes.first) == sum(answered)


def _judged(store) -> list[tuple[int, int]]:
    query = sa.select(t.judgement.c.question_id, t.assignment.c.voter_id)
    with store.read() as conn:
        return conn.execute(query.join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)).all()
