"""A command that names a ballot acts on that one or on none: another may be open by the time it comes."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
import sqlalchemy as sa
from campaigns import PLAN, answer_batch, make_project, run_people
from rounds_of_people import SMALL
from test_archive import state
from test_voting import Voter
from voting_server import make_voting

from core.commands.ballots import CloseBallot, DiscardBallot, OpenVoting, ReopenBallot, SimulateVotes
from core.commands.executor import params_of
from core.commands.votes import TakeUploads, bring_file
from core.errors import StaleError
from core.questions.comparison_page import Wording, write_batch
from core.questions.voting_settings import VotingSettings
from core.store import schema as t
from core.store.ballots.ballot_rows import open_ballot_of, pilot_of, read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.drawing import discard_ballot, draw_next_ballot, draw_round
from core.store.ballots.pilots import draw_pilot
from core.store.ballots.simulated import simulate_votes
from core.store.projects.plans import save_plan
from core.store.projects.project_commands import change_project, get_project
from core.store.votes.checks import add_gold, gold_of, remove_gold
from core.store.votes.intake import accept_upload, preview_upload
from core.store.votes.publications import publish_on_turkle
from core.store.voting import housekeeping
from core.store.voting.owner_commands import open_voting, read_voting, set_voting_state
from core.votes.platform import Outgoing
from tests.rounds_of_people import RATING, discard_round, read_rounds


@pytest.fixture
def second(store):
    """A trial project whose ballot 1 is closed and ballot 2 open, with a voting page, a check and some votes."""
    project_id = make_project(store, kind="trial")
    run_people(store, project_id, 1)
    draw_next_ballot(store, project_id)
    open_voting(store, project_id, VotingSettings())
    add_gold(store, project_id, [(0, 5)])
    simulate_votes(store, project_id, share=0.5)
    return store, project_id


def results(store, project_id):
    """A file of answers to the ballot that is open."""
    return answer_batch(write_batch(read_comparisons(store, project_id, 2)), tag="late")


def long(kind, **more):
    """A command as a page sends it."""

    def act(store, project_id, code):
        return kind(project_id, get_project(store, project_id).revision, None, code, 1, "campaign", **more).run(store)

    return act


def _take(store, project_id, code):
    named = replace(read_ballots(store, project_id)[1], code=code)
    file = bring_file(store, results(store, project_id), "a.csv")
    TakeUploads(project_id, None, named.area_id, named.code, ((file, None),)).run(store)


def _publish(store, project_id, code):
    def publish(*_args, **_more):
        raise AssertionError("another ballot was published")

    site = SimpleNamespace(address="https://turkle.example.org", publish=publish)
    out = Outgoing(code, 3, "relatedness", True, lambda: read_comparisons(store, project_id, 2), Wording())
    publish_on_turkle(store, project_id, site, out, name="x")


def _remove_gold(store, project_id, code):
    with store.read() as conn:
        (gold,) = gold_of(conn, read_ballots(store, project_id)[1].id)
    remove_gold(store, project_id, gold.question_id, code=code)


ACTS = {
    "close": lambda store, id_, code: close_ballot(store, id_, code=code),
    "reopen": lambda store, id_, code: reopen_ballot(store, id_, code=code),
    "discard": lambda store, id_, code: discard_ballot(store, id_, code=code),
    "simulate": lambda store, id_, code: simulate_votes(store, id_, code=code),
    "open voting": lambda store, id_, code: open_voting(store, id_, VotingSettings(), code=code),
    "pause voting": lambda store, id_, code: set_voting_state(store, id_, "paused", code=code),
    "close voting": lambda store, id_, code: set_voting_state(store, id_, "closed", code=code),
    "add a check": lambda store, id_, code: add_gold(store, id_, [(1, 6)], code=code),
    "take a check away": _remove_gold,
    "look at a file": lambda store, id_, code: preview_upload(store, id_, results(store, id_), "a.csv", code=code),
    "take a file": lambda store, id_, code: accept_upload(store, id_, results(store, id_), "a.csv", code=code),
    "publish": _publish,
    "discard, long": long(DiscardBallot),
    "reopen, long": long(ReopenBallot),
    "simulate, long": long(SimulateVotes),
    "open voting, long": long(OpenVoting, settings=VotingSettings().stored()),
    "close, long": long(CloseBallot),
    "take a file, long": _take,
}


def test_a_command_for_a_ballot_that_is_closed_leaves_the_open_one_as_it_is(second):
    store, project_id = second
    code = read_ballots(store, project_id)[0].code
    before = state(store)[0]
    told = "Ballot 1 is closed now, and this would be ballot 2. Nothing was done"
    for name, act in ACTS.items():
        with pytest.raises(StaleError) as caught:
            act(store, project_id, code)
        assert told in str(caught.value), name
        assert state(store)[0] == before, name


def test_the_one_that_is_open_is_taken_by_its_name(second):
    store, project_id = second
    code = read_ballots(store, project_id)[1].code
    set_voting_state(store, project_id, "paused", code=code)
    simulate_votes(store, project_id, code=code)
    close_ballot(store, project_id, code=code)
    reopen_ballot(store, project_id, code=code)
    assert [ballot.is_open for ballot in read_ballots(store, project_id)] == [False, True]


def test_one_that_is_gone_is_not_the_one_that_got_its_place(store):
    """SQLite gives the id of a discarded draw to the next one; its number is free again too."""
    project_id = make_project(store)
    draw_pilot(store, project_id, 20)
    with store.read() as conn:
        pilot = pilot_of(conn, project_id)
    discard_ballot(store, project_id, code=pilot.code)
    draw_next_ballot(store, project_id)
    (first,) = read_ballots(store, project_id)
    told = "The ballot that was meant is gone, and this would be ballot 1"
    with pytest.raises(StaleError, match=told):
        discard_ballot(store, project_id, code=pilot.code)
    discard_ballot(store, project_id, code=first.code)
    with pytest.raises(StaleError, match=r"The ballot that was meant is gone\. Nothing was done"):
        close_ballot(store, project_id, code=first.code)
    save_plan(store, project_id, replace(PLAN, seed=8))
    draw_next_ballot(store, project_id)
    (second,) = read_ballots(store, project_id)
    assert second.number == first.number
    with pytest.raises(StaleError, match=told):
        discard_ballot(store, project_id, code=first.code)
    with store.read() as conn:
        assert open_ballot_of(conn, project_id, code=second.code) == second


def test_a_file_for_a_round_is_not_taken_by_the_one_that_got_its_place(store):
    project_id = make_project(store)
    draw_round(store, project_id, SMALL[RATING])
    (first,) = read_rounds(store, project_id)
    discard_round(store, project_id, 1)
    draw_round(store, project_id, replace(SMALL[RATING], seed=4))
    (second,) = read_rounds(store, project_id)
    assert second.number == first.number
    for act in (preview_upload, accept_upload):
        with pytest.raises(StaleError, match=r"that was meant is gone\. Nothing was done"):
            act(store, project_id, b"item,ann\n", "a.csv", code=first.code)


def test_what_a_job_is_told_names_the_ballot(store):
    project_id = make_project(store)
    draw_next_ballot(store, project_id)
    (ballot,) = read_ballots(store, project_id)
    assert params_of(CloseBallot.of(project_id, 3, ballot))["arguments"]["code"] == ballot.code


# What the voting page does by itself


ADAPTIVE = VotingSettings(task_size=8, tasks_per_voter=9, votes_per_comparison=2, examples=False, adaptive=True)


@pytest.fixture
def complete(store):
    """A project whose ballot 1 of nine comparisons has the two votes of each that its voting page wants."""
    project_id, code = make_voting(store, ADAPTIVE, tokens=("a", "b", "c", "d"), appearances=3)
    for name in ("Anna", "Ben"):
        voter = Voter(store, code, name)
        while voter.task().may_more:
            voter.do("more")
    return store, project_id, code


def before_closing(monkeypatch, act):
    """Let somebody else act once, between the look of `do_housekeeping` and its command."""

    def close(*args, **kwargs):
        monkeypatch.setattr(housekeeping, "close_ballot", close_ballot)
        act()
        return close_ballot(*args, **kwargs)

    monkeypatch.setattr(housekeeping, "close_ballot", close)


def test_a_ballot_that_opens_between_look_and_command_is_not_closed(complete, monkeypatch):
    """One of its votes was there, and the log would have called it ballot 1."""
    store, project_id, code = complete

    def owner():
        close_ballot(store, project_id)
        draw_next_ballot(store, project_id)
        open_voting(store, project_id, ADAPTIVE)
        Voter(store, code, "Cleo").vote()

    before_closing(monkeypatch, owner)
    given_up = set()
    assert housekeeping.do_housekeeping(store, given_up) == []
    first, second = read_ballots(store, project_id)
    assert (first.state, second.state) == ("closed", "open")
    assert read_voting(store, second.id).state == "open"
    assert housekeeping.do_housekeeping(store, given_up) == []
    assert given_up == set()
    with store.read() as conn:
        counted = sa.select(sa.func.count()).select_from(t.judgement).join(t.question)
        assert conn.execute(counted.where(t.question.c.ballot_id == second.id)).scalar_one() == 1


def test_a_ballot_that_lacks_votes_again_is_not_closed_but_is_once_it_has_them(complete, monkeypatch):
    store, project_id, code = complete
    wanted = replace(ADAPTIVE, votes_per_comparison=3)
    before_closing(monkeypatch, lambda: open_voting(store, project_id, wanted))
    given_up = set()
    assert housekeeping.do_housekeeping(store, given_up) == []
    assert housekeeping.do_housekeeping(store, given_up) == []
    assert [ballot.state for ballot in read_ballots(store, project_id)] == ["open"]
    voter = Voter(store, code, "Cleo")
    while voter.task().may_more:
        voter.do("more")
    said = housekeeping.do_housekeeping(store, given_up)
    assert said == [
        f"{project_id}: ballot 1 has its votes and is closed.", f"{project_id}: ballot 2 is open to voters."
    ]  # fmt: skip


def test_any_other_change_only_puts_it_off(complete, monkeypatch):
    store, project_id, _ = complete

    def owner():
        change_project(store, project_id, name="Renamed", notion="relatedness",
                       expected_revision=get_project(store, project_id).revision)  # fmt: skip

    before_closing(monkeypatch, owner)
    assert housekeeping.do_housekeeping(store, set()) == []
    assert len(housekeeping.do_housekeeping(store, set())) == 2


def test_nothing_else_rests_while_a_named_ballot_is_not_the_open_one(second, monkeypatch):
    """The voting page of the open ballot isn't paused even for a moment."""
    from core.store.voting import closing_pause

    store, project_id = second
    written = []
    write = closing_pause._write
    monkeypatch.setattr(
        closing_pause, "_write", lambda *args, **values: (written.append(values), write(*args, **values))
    )
    with pytest.raises(StaleError):
        close_ballot(store, project_id, code=read_ballots(store, project_id)[0].code)
    assert written == []
    close_ballot(store, project_id, code=read_ballots(store, project_id)[1].code)
    assert [values["state"] for values in written] == ["paused", "closed"]
