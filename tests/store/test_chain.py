"""The chain of hashes over the log and the votes: what breaks it is named, and what commands do never does."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import pytest
import sqlalchemy as sa
from campaigns import answer_batch, draw_batch, make_project, run_people, run_simulated
from click.testing import CliRunner
from old_workspaces import OLD, old_project
from test_voting import Voter
from voting_server import make_voting

from core.__main__ import cli
from core.cli.dataset import replay_bytes
from core.commands.integrity import check_store
from core.commands.publishing import publish, release
from core.dataset.published import chain_told, read_published
from core.questions.voting_settings import VotingSettings
from core.store import chain
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.projects.archive import (
    copy_without_ballots,
    delete_project,
    duplicate_project,
    export_project,
    import_project,
)
from core.store.projects.project_commands import change_project, get_project
from core.store.projects.project_zip import read_zip, write_zip
from core.store.votes.exclusions import exclude_voters, readmit_voters
from core.store.votes.intake import accept_upload
from core.store.votes.judgements import set_policy
from core.store.votes.payment import review_assignments
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.votes.payment import Review
from core.votes.reasons import Policy

TOKENS = ("cat", "dog", "ship", "salt", "moon")


@pytest.fixture
def project(store) -> str:
    """Ballot 1 closed, ballot 2 with all its votes."""
    project_id = make_project(store)
    run_people(store, project_id, 1)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id), tag="B"), "two.csv")
    return project_id


def faults(store, project_id) -> list[str]:
    with store.read() as conn:
        return [str(fault) for fault in chain.faults_of(conn, project_id)]


def state(store, project_id) -> chain.ChainState | None:
    with store.read() as conn:
        return chain.state_of(conn, project_id)


def write(store, *statements) -> None:
    with store.without_keys() as free, free.write() as conn:
        for statement in statements:
            conn.execute(statement)


def rename(store, project_id, name="Another name") -> None:
    """A command that has nothing to do with votes."""
    about = get_project(store, project_id)
    change_project(store, project_id, name=name, notion=about.notion, expected_revision=about.revision)


def test_every_command_has_its_entry_and_no_link_breaks(store, project):
    def seen() -> None:
        assert faults(store, project) == []
        found = state(store, project)
        assert (found.entry, found.n_unsealed) == (get_project(store, project).revision, 0)

    seen()
    (two, _) = read_uploads(store, project)
    withdraw_upload(store, project, two.id)
    seen()
    again = answer_batch(_batch(store, project), choose=lambda shown: "left", tag="R", status="Rejected")
    accept_upload(store, project, again, "again.csv")
    seen()
    set_policy(store, project, Policy(rejected="count", repeats="latest"))
    seen()
    with store.read() as conn:
        voter = conn.execute(sa.select(t.voter.c.id).where(t.voter.c.external_id == "W2")).scalar_one()
    exclude_voters(store, project, [voter], "at random")
    seen()
    readmit_voters(store, project, [voter])
    seen()
    for ballot in read_ballots(store, project):  # of a closed one a decision is kept, and moves no vote
        with store.read() as conn:
            ids = conn.execute(sa.select(_a.id).where(_a.ballot_id == ballot.id).limit(2)).scalars().all()
        review_assignments(store, project, dict.fromkeys(ids, Review("reject", "too fast")))
        seen()
    close_ballot(store, project)
    seen()
    reopen_ballot(store, project)
    seen()
    assert state(store, project).n_said_anew == 0


def _batch(store, project_id) -> bytes:
    from core.questions.comparison_page import write_batch
    from core.store.ballots.ballot_rows import read_comparisons

    return write_batch(read_comparisons(store, project_id, read_ballots(store, project_id)[-1].number))


def test_votes_of_simulated_voters_are_sealed_and_a_copy_has_the_same_chain(store):
    project_id = make_project(store, kind="trial")
    run_simulated(store, project_id, 1)
    assert faults(store, project_id) == []
    copy = duplicate_project(store, project_id, "Copy")
    assert faults(store, copy) == []
    assert state(store, copy).entry == state(store, project_id).entry + 1


_j, _a, _l, _s, _e = t.judgement.c, t.assignment.c, t.log.c, t.seal.c, t.exclusion.c
_one = sa.select(sa.func.min(_j.id)).scalar_subquery()
_assigned = sa.select(sa.func.min(_a.id)).scalar_subquery()
_other = sa.select(sa.func.max(t.voter.c.id)).scalar_subquery()
_sealed = sa.select(sa.func.min(_s.id)).scalar_subquery()
_changed = sa.update(t.judgement).where(_j.id == _one)
CHANGES = {
    "an answer": (_changed.values(answer="tie", value=0.5), r"and there is “tie” on items \d+ and \d+"),
    "whether it counts": (_changed.values(status="repeat"), r"\(counted, person.* and there is .*\(repeat, person"),
    "how long it took": (_changed.values(seconds=77.5), r"and there is .*77\.5 s"),
    "whose it is": (sa.update(t.assignment).where(_a.id == _assigned).values(voter_id=_other), "its voter was 'W1'"),
    "a decision": (sa.update(t.assignment).where(_a.id == _assigned).values(review="approve"), "its decision was None"),
    "what it is about": (
        sa.update(t.question_option).values(item_id=sa.select(sa.func.max(t.item.c.id)).scalar_subquery()),
        "was sealed, and there is none",
    ),
    "a vote less": (sa.delete(t.judgement).where(_j.id == _one), "was sealed, and there is none"),
    "no seal": (sa.update(t.assignment).where(_a.id == _assigned).values(seal_id=None), "and it isn't sealed"),
    "what the log says": (sa.update(t.log).where(_l.revision == 6).values(detail={"x": 1}), "entry 6, “close ballot”"),
    "an entry less": (sa.delete(t.log).where(_l.revision == 5), "entry 6, .* the entry before it isn't"),
    "a head less": (sa.update(t.log).where(_l.revision == 6).values(head=None), "entry 6, .*it has no head"),
    "what was sealed": (sa.update(t.seal).where(_s.id == _sealed).values(content=_s.content + " "), r"entry \d+, "),
}


class _Undone(Exception):
    """Ends a transaction without a trace."""


def test_what_was_changed_past_the_store_is_named(store, project):
    for name, (change, said) in CHANGES.items():
        found: list[str] = []
        with suppress(_Undone), store.without_keys() as free, free.write() as conn:
            conn.execute(change)
            found = [str(fault) for fault in chain.faults_of(conn, project)]
            raise _Undone
        assert any(re.search(said, fault) for fault in found), (name, found)
    assert faults(store, project) == []


def test_a_vote_that_was_changed_and_unsealed_is_told_once_a_command_sealed_it(store, project):
    write(store, CHANGES["an answer"][0], CHANGES["no seal"][0])
    assert len(faults(store, project)) == 1
    rename(store, project)
    assert (faults(store, project), state(store, project).n_said_anew) == ([], 1)


def test_an_assignment_that_is_gone_is_named_with_its_entry(store, project, monkeypatch):
    monkeypatch.setattr(chain, "PART", 2)  # seals and assignments are read in parts
    assert faults(store, project) == []
    gone = sa.select(_a.id).where(_a.external_id == "B3")
    write(
        store, sa.delete(t.judgement).where(_j.assignment_id.in_(gone)), sa.delete(t.assignment).where(_a.id.in_(gone))
    )
    (found,) = faults(store, project)
    assert found.endswith("assignment B3, voter W4 of mturk: it is sealed, and gone")
    assert found.startswith(f"entry {state(store, project).entry}, ballot")


def test_no_later_command_seals_a_changed_answer(store, project):
    write(store, _changed.values(answer="tie", value=0.5))
    before = faults(store, project)
    assert len(before) == 1
    with store.read() as conn:
        voter = conn.execute(sa.select(_a.voter_id).where(_a.id == _assigned)).scalar_one()
    exclude_voters(store, project, [voter], "at random")
    reopened = [fault for fault in faults(store, project) if "“tie” on items" in fault]
    assert len(reopened) == 1


def forge(store, project_id) -> None:
    """Change a vote with all that the database says of it, so that the chain agrees with itself."""
    with store.write() as conn:
        conn.execute(_changed.values(answer="tie", value=0.5))
        assignment = conn.execute(sa.select(_j.assignment_id).where(_j.id == _one)).scalar_one()
        seal_id = conn.execute(sa.select(_a.seal_id).where(_a.id == assignment)).scalar_one()
        (((_, _, content),),) = chain._parts(conn, _a.id == assignment)
        conn.execute(sa.update(t.seal).where(_s.id == seal_id).values(content=content))
        before = ""
        for row in conn.execute(sa.select(t.log).where(_l.project_id == project_id).order_by(_l.id)).all():
            sealed = conn.execute(sa.select(_s.content).where(_s.project_id == project_id, _s.revision == row.revision))
            hashed = chain.hashlib.sha256()
            contents = sealed.scalars().all()
            for one in contents:
                hashed.update(chain._for_hash(one))
            entry = (row.revision, row.at, row.who, row.action, row.detail)
            before = chain.head_of(before, entry, hashed.hexdigest() if contents else "")
            conn.execute(sa.update(t.log).where(_l.id == row.id).values(head=before))


def test_ids_far_apart_are_read_as_those_close_together(store, project, monkeypatch):
    """A state doesn't depend on how its rows are read, nor on what was read with it."""

    def states() -> list:
        with store.read() as conn:
            return [state for part in chain._parts(conn, _a.id.is_not(None)) for state in part]

    close = states()
    assert len(close) > 6
    assert all(len(content.split("\n")) > 1 for _, _, content in close)
    monkeypatch.setattr(chain, "SPREAD", 0)
    monkeypatch.setattr(chain, "PART", 3)
    assert states() == close
    with store.read() as conn:
        every_other = _a.id.in_([id_ for id_, _, _ in close[::2]])
        monkeypatch.setattr(chain, "SPREAD", 4)
        assert [state for part in chain._parts(conn, every_other) for state in part] == close[::2]


def test_a_head_that_left_the_machine_tells_of_a_change_that_agrees_with_itself(store, project, monkeypatch):
    close_ballot(store, project)
    version = release(store, project, "1.0")
    entry, head = chain_told(publish(store, project).data)
    assert entry == get_project(store, project).revision - 1  # the release itself leaves the dataset as it was
    forge(store, project)
    assert faults(store, project) == []
    (fault,) = [fault for fault in check_store(store).faults if fault.rule.name == "chain"]
    assert f"version {version.version}" in fault.found[0].where
    with store.read() as conn:
        assert chain.entries_with(conn, head) == []


def test_the_published_zip_says_how_far_the_chain_reaches(store, project):
    newest = state(store, project)
    told = json.loads(read_published(publish(store, project).data).files["dataset.json"])["chain"]
    assert told == {"entry": newest.entry, "head": newest.head, "unsealed": 0}


# The voting page


@pytest.fixture
def voting(store):
    settings = VotingSettings(task_size=3, tasks_per_voter=2, examples=False)
    return make_voting(store, settings, tokens=TOKENS, appearances=2)


def test_votes_of_the_page_are_sealed_by_the_next_command(store, voting):
    project_id, code = voting
    anna = Voter(store, code, "Anna")
    anna.vote("left")
    anna.vote("right")
    found = state(store, project_id)
    assert (found.n_unsealed, faults(store, project_id)) == (1, [])
    rename(store, project_id)
    assert state(store, project_id).n_unsealed == 0
    anna.vote("left")  # of the same task
    assert (state(store, project_id).n_unsealed, faults(store, project_id)) == (1, [])
    rename(store, project_id, "A third name")
    found = state(store, project_id)
    assert (found.n_unsealed, found.n_said_anew, faults(store, project_id)) == (0, 0, [])


def test_an_answer_taken_back_after_it_was_sealed_is_told(store, voting):
    project_id, code = voting
    anna = Voter(store, code, "Anna")
    anna.vote("left")
    rename(store, project_id)
    anna.undo()
    anna.vote("right")
    rename(store, project_id, "A third name")
    found = state(store, project_id)
    assert (found.n_unsealed, found.n_said_anew, faults(store, project_id)) == (0, 1, [])
    assert check_store(store).is_fine


# Projects from elsewhere, and from before


def test_a_project_file_keeps_its_chain_and_a_changed_one_is_told(store, project):
    data = export_project(store, project)
    copy = import_project(store, data)
    assert faults(store, copy) == []
    with store.read() as conn:
        (former,) = [entry for id_, entry in chain.entries_with(conn, state(store, project).head) if id_ == copy]
    assert former == state(store, project).entry
    found, _, _ = replay_bytes(data)
    assert (found.chain, found.chain_faults) == ((former, state(store, project).head), ())
    contents = read_zip(data)
    place = list(t.judgement.c.keys()).index("seconds")
    first, *others = contents.rows["judgement"]
    rows = {**contents.rows, "judgement": [(*first[:place], 5.5, *first[place + 1 :]), *others]}
    changed = write_zip(type(contents)(contents.project_id, rows, contents.uploads))
    found, _, _ = replay_bytes(changed)
    assert found.same  # no score hangs on seconds
    assert "5.5 s" in found.chain_faults[0]


STRANGE = ("", "no JSON", "[1]\nx\ty", '[[], {}, 1, "a", "b", null, null, null]\n\t\t\t\t\t\t')


def test_seals_of_a_strange_file_hinder_no_command(store, project):
    contents = read_zip(export_project(store, project))
    rows = {**contents.rows, "seal": [(*row[:3], STRANGE[row[0] % 4]) for row in contents.rows["seal"]]}
    copy = import_project(store, write_zip(type(contents)(contents.project_id, rows, contents.uploads)))
    with store.read() as conn:
        voter = conn.execute(sa.select(t.voter.c.id).where(t.voter.c.project_id == copy).limit(1)).scalar_one()
    exclude_voters(store, copy, [voter], "at random")
    assert faults(store, copy)
    assert state(store, copy).n_unsealed == 0


def test_a_copy_without_ballots_begins_a_chain_of_its_own(store, project):
    copy = copy_without_ballots(store, project, "Empty")
    with store.read() as conn:
        n = conn.execute(sa.select(sa.func.count()).select_from(t.seal).where(_s.project_id == copy)).scalar_one()
    assert (n, faults(store, copy)) == (0, [])


def test_seals_go_with_their_project(store, project):
    delete_project(store, project, get_project(store, project).name)
    with store.read() as conn:
        assert conn.execute(sa.select(_s.id)).first() is None


@pytest.mark.parametrize("schema", ["0001", *(one for one in OLD if one >= "0009")])
def test_votes_from_before_the_chain_are_sealed_by_the_first_command(store, schema):
    project_id = import_project(store, old_project(schema))
    found = state(store, project_id)
    assert (found.entry, found.n_unsealed) == (get_project(store, project_id).revision, 0)
    assert faults(store, project_id) == []


def test_a_workspace_from_before_has_no_chain_until_a_command_begins_it(store, project):
    write(
        store,
        sa.update(t.assignment).values(seal_id=None),
        sa.delete(t.seal),
        sa.update(t.log).values(head=None),
    )
    assert (state(store, project), faults(store, project)) == (None, [])
    assert "chain" not in json.loads(read_published(publish(store, project).data).files["dataset.json"])
    rename(store, project)
    assert (state(store, project).n_unsealed, faults(store, project)) == (0, [])


# The command line


@pytest.mark.sqlite  # the command looks for a workspace as it is outside of tests
def test_check_names_heads_and_looks_for_one(store, project, monkeypatch):
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(store.folder))
    newest = state(store, project)

    def check(*options):
        done = CliRunner().invoke(cli, ["check", *options])
        return done.exit_code, done.output

    code, said = check()
    assert code == 0
    assert f"the chain reaches to entry {newest.entry}, with the head {newest.head}" in said
    code, said = check("--head", newest.head)
    assert (code, f"that of entry {newest.entry} of the project {project}" in said) == (0, True)
    code, said = check("--head", "0" * 64, "--json")
    assert (code, json.loads(said)["entries"]) == (1, [])
    write(store, _changed.values(answer="tie", value=0.5))
    code, said = check()
    assert code == 1
    assert "“tie” on items" in said
