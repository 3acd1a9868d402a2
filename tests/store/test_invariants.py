"""Each rule of a workspace finds its own break, and a sound workspace breaks none."""

from __future__ import annotations

import json
import shutil

import pytest
import sqlalchemy as sa
from campaigns import answer_batch, draw_batch, make_project, run_people, run_simulated
from click.testing import CliRunner

from core.__main__ import cli
from core.commands.integrity import RULES, check_store
from core.jobs import lifecycle
from core.questions.voting_settings import VotingSettings
from core.store import open_store
from core.store import schema as t
from core.store.engine import _open
from core.store.integrity.structure_invariants import IntegrityContext, stored_files
from core.store.projects.archive import delete_project
from core.store.stored_files import put_blob, sweep_blobs
from core.store.votes.exclusions import exclude_voters, readmit_voters
from core.store.votes.intake import accept_upload
from core.store.voting.owner_commands import open_voting


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A workspace with a campaign by people (ballot 1 closed, ballot 2 open and voted) and one simulated."""
    folder = tmp_path_factory.mktemp("sound") / "workspace"
    store = open_store(folder)
    project_id = make_project(store)
    run_people(store, project_id, 1)
    data = answer_batch(draw_batch(store, project_id), tag="B")
    accept_upload(store, project_id, data, "two.csv")
    open_voting(store, project_id, VotingSettings(task_size=5, tasks_per_voter=3))
    run_simulated(store, make_project(store, kind="trial"), 1)
    store.engine.dispose()
    _open.cache_clear()
    return folder


@pytest.fixture
def workspace(sound, tmp_path):
    """A copy of it, opened."""
    shutil.copytree(sound, tmp_path / "workspace")
    store = open_store(tmp_path / "workspace")
    yield store
    store.engine.dispose()
    _open.cache_clear()


def broken(store) -> set[str]:
    return {fault.rule.name for fault in check_store(store).faults}


def write(store, *statements: str) -> None:
    with store.without_keys() as free, free.write() as conn:
        for statement in statements:
            conn.execute(sa.text(statement))


def test_a_sound_workspace_breaks_no_rule(workspace):
    checked = check_store(workspace)
    assert checked.is_fine
    assert len({rule.name for rule in checked.rules}) == len(checked.rules) == len(RULES)


def test_an_empty_workspace_breaks_no_rule(store):
    assert broken(store) == set()


def test_excluding_and_readmitting_keeps_the_rules(workspace):
    with workspace.read() as conn:
        voter, project_id = conn.execute(sa.select(t.voter.c.id, t.voter.c.project_id).limit(1)).one()
    exclude_voters(workspace, project_id, [voter], "at random")
    assert broken(workspace) == set()
    readmit_voters(workspace, project_id, [voter])
    assert broken(workspace) == set()


OF_TWO = "SELECT id FROM question WHERE ballot_id = 2 AND role = 'main'"
VOTE = f"(SELECT MIN(id) FROM judgement WHERE question_id IN ({OF_TWO}))"
BREAKS = {
    "keys": [f"DELETE FROM assignment WHERE id = (SELECT assignment_id FROM judgement WHERE id = {VOTE})"],
    "projects": ["UPDATE voter SET project_id = (SELECT project_id FROM ballot WHERE id = 3) WHERE id = 1"],
    "positions": ["UPDATE item SET position = 99 WHERE id = 1"],
    "areas": ["UPDATE item SET token_b_id = (SELECT MAX(id) FROM token) WHERE id = 1"],
    "numbers": ["UPDATE ballot SET ordinal = 3 WHERE id = 2"],
    "sizes": ["UPDATE ballot SET n_comparisons = n_comparisons + 1 WHERE id = 1"],
    "options": [f"DELETE FROM question_option WHERE position = 1 AND question_id = (SELECT MIN(id) FROM ({OF_TWO}))"],
    "log": ["UPDATE log SET revision = 1 WHERE id = 2"],
    "votes": [f"UPDATE judgement SET question_id = 1 WHERE id = {VOTE}"],
    "values": [f"UPDATE judgement SET value = NULL WHERE id = {VOTE}"],
    "excluded": [f"UPDATE judgement SET status = 'excluded' WHERE id = {VOTE}"],
    "rejected": [f"UPDATE assignment SET review = 'reject' WHERE id = (SELECT assignment_id FROM judgement "
                 f"WHERE id = {VOTE})"],
    "question tallies": [f"UPDATE question SET n_votes = 5 WHERE id = (SELECT MIN(id) FROM ({OF_TWO}))"],
    "dealt": [f"UPDATE question SET n_dealt = 5 WHERE id = (SELECT MIN(id) FROM ({OF_TWO}))"],
    "item tallies": ["UPDATE ballot_item SET losses = losses + 1 WHERE ballot_id = 1"],
    "progress": ["UPDATE ballot SET progress = REPLACE(progress, 'unknown\": 0', 'unknown\": 7') WHERE id = 1"],
    "scores": ["UPDATE ballot_item SET mean = NULL WHERE ballot_id = 1"],
    "jobs": ["INSERT INTO job (id, kind, params, state, pid, created_at) "
             "VALUES ('x', 'plan_curve', '{}', 'running', 4194400, '2020-01-01T00:00:00+00:00')"],
    "embeddings": ["INSERT INTO embedding (id, name, format, n_words, dimensions, content_hash, source, info, "
                   "imported_at) VALUES ('ab', 'x', 'text', 1, 1, 'abcd', 'x', '{}', '2026')"],
}  # fmt: skip


@pytest.mark.sqlite
@pytest.mark.parametrize("name", BREAKS)
def test_a_break_is_found_and_told(workspace, name):
    write(workspace, *BREAKS[name])
    (fault,) = [fault for fault in check_store(workspace).faults if fault.rule.name == name]
    assert fault.n >= 1
    assert fault.found[0].where
    assert fault.found[0].what


@pytest.mark.sqlite
def test_an_open_ballot_has_no_scores(workspace):
    write(workspace, "UPDATE ballot_item SET mean = 0.5 WHERE ballot_id = 2")
    (fault,) = check_store(workspace).faults
    assert (fault.rule.name, fault.found[0].what[:4]) == ("scores", "open")


@pytest.mark.sqlite
def test_two_counted_votes_of_a_voter_are_found(workspace):
    copy = "INSERT INTO assignment (ballot_id, voter_id, external_id, status) SELECT ballot_id, voter_id, 'Z', status"
    columns = "answer, value, status, source"
    write(
        workspace,
        f"{copy} FROM assignment WHERE id = (SELECT assignment_id FROM judgement WHERE id = {VOTE})",
        f"INSERT INTO judgement (assignment_id, question_id, {columns}) SELECT (SELECT MAX(id) FROM assignment), "
        f"question_id, {columns} FROM judgement WHERE id = {VOTE}",
    )
    assert {"one vote", "question tallies", "item tallies"} <= broken(workspace)


@pytest.mark.sqlite
def test_answers_to_checks_in_the_tallies_are_found(workspace):
    # The comparison becomes a check: its vote may be in no tally now.
    write(workspace, f"UPDATE question SET role = 'check' WHERE id = (SELECT MIN(id) FROM ({OF_TWO}))")
    assert "item tallies" in broken(workspace)


@pytest.mark.parametrize("change", [lambda path: path.unlink(), lambda path: path.write_bytes(b"other")])
def test_kept_files_that_are_gone_or_changed_are_found(workspace, change):
    change(next(workspace.uploads.iterdir()))
    (fault,) = check_store(workspace).faults
    assert (fault.rule.name, fault.n) == ("kept files", 1)
    assert "uploads/" in fault.found[0].what


def test_a_kept_file_that_nothing_needs_is_swept(workspace):
    digest = put_blob(workspace, b"of a command that was cut short")
    n = len(list(workspace.uploads.iterdir()))
    assert sweep_blobs(workspace, older_than=3600) == 0  # its command may be at work
    assert sweep_blobs(workspace, older_than=-1) == 1
    assert not (workspace.uploads / digest).exists()
    assert len(list(workspace.uploads.iterdir())) == n - 1
    assert broken(workspace) == set()


def run(*arguments):
    return CliRunner().invoke(cli, ["check", *map(str, arguments)])


@pytest.mark.sqlite  # the tests' databases have no database.json
def test_the_command_says_that_all_is_well(workspace):
    result = run("--workspace", workspace.folder)
    assert (result.exit_code, f"{len(RULES)} rules hold" in result.stdout) == (0, True)


@pytest.mark.sqlite
def test_the_command_names_rule_place_and_cure_and_exits_with_1(workspace):
    write(workspace, *BREAKS["item tallies"])
    result = run("--workspace", workspace.folder, "--json")
    told = json.loads(result.stdout)
    assert (result.exit_code, told["fine"]) == (1, False)
    (fault,) = told["faults"]
    assert (fault["rule"], fault["n"], len(fault["found"])) == ("item tallies", 21, 20)
    assert "ballot 1, item" in fault["found"][0]["where"]
    text = run("--workspace", workspace.folder).stdout
    assert all(part in text for part in ("item tallies: ", "ballot 1, item", "and 16 more", "→ The votes are whole."))


def test_a_folder_without_a_workspace_is_wrong_use_and_stays_empty(tmp_path):
    result = run("--workspace", tmp_path)
    assert result.exit_code != 0
    assert "There is no workspace" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sqlite
def test_a_running_job_of_a_living_process_is_no_fault(workspace):
    write(workspace, *BREAKS["jobs"])
    assert lifecycle.sweep(workspace) == 1
    assert broken(workspace) == set()


def test_the_files_of_a_project_that_is_deleted_meanwhile_are_no_fault(store):
    project_id = make_project(store)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "one.csv")
    [path] = store.uploads.iterdir()
    with store.read() as conn:
        conn.execute(sa.select(t.upload.c.id)).all()  # the look begins
        kept = path.read_bytes()
        path.unlink()
        assert [found.what for found in stored_files(IntegrityContext(store, conn))] == [f"uploads/{path.name} is gone"]
        path.write_bytes(kept)
        delete_project(store, project_id, "Test")
        assert not path.exists()
        assert list(stored_files(IntegrityContext(store, conn))) == []
