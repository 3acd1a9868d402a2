"""The voting page's rules, without a server: dealing, recording, undo, checks, links; votes as scores see them."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import sqlalchemy as sa
from campaigns import AREAS, PLAN, answer_batch, longer_pair, make_project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import InputError, StoreError
from core.questions.comparison_page import write_batch
from core.questions.voting_settings import VotingSettings, check_voting, is_safe_url
from core.store import open_store
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.ballots.simulated import simulate_votes
from core.store.engine import _open
from core.store.projects.archive import archive_project, duplicate_project, export_project, restore_project
from core.store.projects.plans import save_plan
from core.store.projects.project_commands import create_project, get_project
from core.store.scores.project_dataset import read_project_dataset
from core.store.tokens.areas import add_areas
from core.store.votes.checks import add_gold, counted_votes, gold_of
from core.store.votes.intake import accept_upload
from core.store.votes.tallies import ballot_votes, progress_of, write_tallies
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.store.voting.answers import stop
from core.store.voting.housekeeping import do_housekeeping
from core.store.voting.leases import write_lease_counts
from core.store.voting.owner_commands import (
    invite,
    open_voting,
    read_invitations,
    read_link,
    read_voting,
    renew_link,
    set_voting_state,
    withdraw_voter,
)
from core.voting import api
from voting import pages

BASIC = VotingSettings(task_size=4, tasks_per_voter=3, examples=False)
VISIT = "visit"


def never_wait_for_the_disk(store):
    if store.engine.dialect.name == "sqlite":
        store.engine.dispose()
        sa.event.listen(store.engine, "connect", lambda dbapi, _: dbapi.execute("PRAGMA synchronous=OFF"))


@pytest.fixture
def store(store):
    never_wait_for_the_disk(store)
    return store


class Voter:
    """Somebody at the page: keeps the cookie and the last view."""

    def __init__(self, store, code, name="Anna", who=None, visit=VISIT):
        self.store, self.code, self.who = store, code, who or api.Visitor()
        self.cookie = ""
        self.view = api.look(store, code, "", visit, self.who)
        if self.view.kind == "entry":
            self.view = api.begin(store, code, visit, self.view.form, self.who, name=name)

    @property
    def view(self):
        return self._view

    @view.setter
    def view(self, view):
        self._view, self.cookie = view, view.cookie or self.cookie

    def look(self):
        self.view = api.look(self.store, self.code, self.cookie, VISIT)
        return self.view

    def vote(self, choice="left", place=None, **more):
        place = place or self.view.place
        self.view = api.vote(
            self.store, self.code, self.cookie, self.view.form, task=place.task, n=place.n, choice=choice, **more
        )
        return self.view

    def do(self, step, **more):
        self.view = getattr(api, step)(self.store, self.code, self.cookie, self.view.form, **more)
        return self.view

    def undo(self, last=None):
        """Press Undo, where it can be pressed; `last` is what another page names."""
        last = last or self.view.last
        return self.do("undo", task=last[0], n=last[1]) if last else self.view

    def task(self, choose=lambda shown: "left"):
        """Answer the task to its end."""
        while self.view.kind == "vote":
            self.vote(choose(self.view.place.texts))
        return self.view


def start(store, settings=BASIC, **project):
    """A project with an open ballot and its voting page; its id and the link's code."""
    project_id = make_project(store, **project)
    draw_next_ballot(store, project_id)
    return project_id, open_voting(store, project_id, settings)


def rows(store, query):
    with store.read() as conn:
        return conn.execute(query).all()


def ballot_id(store, project_id):
    return read_ballots(store, project_id)[-1].id


def tallies(store):
    """All that follows votes: by question, by item."""
    q, b = t.question.c, t.ballot_item.c
    return (
        rows(store, sa.select(q.id, q.n_votes, q.n_dealt).where(q.role == "main").order_by(q.id)),
        rows(store, sa.select(b.item_id, b.wins, b.ties, b.losses, b.unknowns).order_by(b.ballot_id, b.item_id)),
    )


def check_tallies(store, project_id):
    """What was kept vote by vote is what a recount gives."""
    kept = tallies(store)
    with store.write() as conn:
        write_tallies(conn, ballot_id(store, project_id))
        write_lease_counts(conn, ballot_id(store, project_id))
    assert tallies(store) == kept


def expire(store):
    with store.write() as conn:
        conn.execute(sa.update(t.deal).where(t.deal.c.state == "open").values(expires_at="2026-01-01"))


def take_steps(store, code, steps):
    """Four voters do what a hypothesis test thought of: each step is a voter's number and what is done."""
    voters = [Voter(store, code, f"V{n}") for n in range(4)]
    for who, step in steps:
        voter = voters[who]
        if step == "expire":
            expire(store)
        elif step == "undo":
            voter.undo()
        elif step in ("more", "finish"):
            voter.do(step)
        elif step == "again":
            voter.look()
        elif voter.view.kind == "vote":
            place = voter.view.place
            voter.vote(step, place)
            voter.vote("right", place)  # the second press changes nothing


class TestDealing:
    def test_a_ballot_is_voted_to_its_end_and_its_scores_are_those_of_a_file(self, store):
        project_id, code = start(store)
        other = make_project(store)
        draw_next_ballot(store, other)
        n = 0
        while Voter(store, code, f"Idle {n}").view.kind == "vote":  # who never votes
            if n % 2:
                expire(store)
            voter = Voter(store, code, f"Voter {n}")
            while voter.task(longer_pair).may_more:
                voter.do("more")
            expire(store)
            n += 1
        check_tallies(store, project_id)
        batch = write_batch(read_comparisons(store, other, 1))
        accept_upload(store, other, answer_batch(batch), "results.csv")
        for each in (project_id, other):
            with store.read() as conn:
                progress = progress_of(conn, ballot_id(store, each))
            assert progress.is_complete
            assert progress.votes == progress.wanted
            close_ballot(store, each)
        by_page, by_file = (
            read_project_dataset(store, each).sort_values(["token_a", "token_b"]) for each in (project_id, other)
        )
        # Both ballots are drawn with other ids; each item is judged by its letters, so only the draw differs.
        assert set(by_page["token_a"]) == set(by_file["token_a"])
        assert read_voting(store, ballot_id(store, project_id)).state == "closed"

    def test_fewest_votes_come_first(self, store):
        _, code = start(store, replace(BASIC, votes_per_comparison=2, tasks_per_voter=50))
        first = Voter(store, code, "One")
        while first.task().may_more:
            first.do("more")
        n = len(rows(store, sa.select(t.question.c.id)))
        assert first.view.kind == "between"
        assert rows(store, sa.select(t.question.c.n_votes).distinct()) == [(1,)]
        second = Voter(store, code, "Two")
        second.task()
        counts = Counter(row[0] for row in rows(store, sa.select(t.question.c.n_votes)))
        assert counts == {1: n - 4, 2: 4}

    def test_the_other_voter_sees_the_sides_exchanged(self, store):
        _, code = start(store, replace(BASIC, votes_per_comparison=2, task_size=50))
        for name in "AB":
            Voter(store, code, name).task()
        d = t.deal.c
        query = sa.select(d.question_id, d.flipped, d.left_swapped, d.right_swapped).order_by(d.sitting_id)
        one, two = {}, {}
        for question, *sides in rows(store, query):
            (two if question in one else one)[question] = sides
        assert len(two) > 20
        assert all(one[q] == [not flipped, right, left] for q, (flipped, left, right) in two.items())

    def test_a_task_never_shows_the_same_two_items_twice(self, store):
        plan = replace(PLAN, appearances=30, task_size=10)
        _, code = start(store, replace(BASIC, task_size=50, tasks_per_voter=3), plan=plan)
        voter = Voter(store, code)
        while voter.task().may_more:
            voter.do("more")
        option, d = t.question_option.c, t.deal.c
        query = sa.select(d.task, d.question_id, option.item_id).join(
            t.question_option, option.question_id == d.question_id
        )
        pairs = {}
        for task, question, item in rows(store, query):
            pairs.setdefault((task, question), set()).add(item)
        seen = Counter((task, frozenset(items)) for (task, _), items in pairs.items())
        assert max(seen.values()) == 1

    def test_an_expired_task_goes_back_and_comes_again_as_far_as_it_is_wanted(self, store):
        project_id, code = start(store, replace(BASIC, tasks_per_voter=50))
        slow = Voter(store, code, "Slow")
        slow.vote("left")
        before = [slow.view.place.texts[name] for name in ("left_a", "left_b", "right_a", "right_b")]
        expire(store)
        quick = Voter(store, code, "Quick")  # gets what is free again first: lowest number of votes, lowest id
        held = quick.view.place
        assert [held.texts[name] for name in ("left_a", "left_b", "right_a", "right_b")] == before
        late = slow.vote("right")
        assert late.kind == "vote"
        assert late.said.startswith("The time for that one was over")
        assert [late.place.texts[name] for name in ("left_a", "left_b", "right_a", "right_b")] != before
        slow.task()
        assert slow.view.kind == "between"
        quick.task()
        check_tallies(store, project_id)
        assert max(row[0] for row in rows(store, sa.select(t.question.c.n_votes))) == 1

    def test_an_expired_task_that_nobody_took_is_taken_up_at_its_place(self, store):
        _, code = start(store)
        voter = Voter(store, code)
        voter.vote("left")
        place = voter.view.place
        expire(store)
        again = voter.look()
        assert (again.place.task, again.place.n, again.place.texts) == (place.task, place.n, place.texts)
        expire(store)
        assert voter.vote("left").said == "Saved."  # late, and still nobody else's

    def test_a_break_keeps_the_place(self, store):
        _, code = start(store)
        voter = Voter(store, code)
        voter.vote("tie")
        assert api.look(store, code, voter.cookie, VISIT).place == voter.view.place

    def test_the_quota_of_tasks_holds(self, store):
        _, code = start(store, replace(BASIC, tasks_per_voter=2))
        voter = Voter(store, code)
        assert voter.task().may_more
        voter.do("more")
        assert not voter.task().may_more
        assert voter.do("more").kind == "between"
        assert rows(store, sa.select(sa.func.count()).select_from(t.judgement)) == [(8,)]

    def test_a_comparison_that_nobody_knows_is_given_up(self, store):
        _, code = start(store, replace(BASIC, task_size=50))
        with store.read() as conn:
            lowest = conn.execute(sa.select(sa.func.min(t.question.c.id))).scalar_one()
        for name in "ABC":
            Voter(store, code, name).task(lambda shown: "unknown")
        assert rows(store, sa.select(t.question.c.n_dealt, t.question.c.n_votes).where(t.question.c.id == lowest)) == [
            (1, 0)
        ]
        assert Voter(store, code, "D").view.kind == "full"

    def test_two_voters_at_the_same_moment_never_get_the_last_vote(self, store, monkeypatch):
        monkeypatch.setattr(api, "WAIT_SECONDS", 60.0)  # here nobody asks again
        project_id, code = start(store, replace(BASIC, task_size=7, tasks_per_voter=50))

        def work(name):
            voter = Voter(store, code, name)
            while voter.view.kind == "vote" or voter.view.may_more:
                voter.task() if voter.view.kind == "vote" else voter.do("more")

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(work, "ABCDEF"))
        assert rows(store, sa.select(t.question.c.n_votes, t.question.c.n_dealt).distinct()) == [(1, 1)]
        check_tallies(store, project_id)


STEPS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(
            ["left", "right", "tie", "unknown", "left", "right", "undo", "more", "expire", "again", "finish"]
        ),
    ),
    max_size=60,
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, wanted=st.integers(1, 3), repeats=st.integers(0, 2))
def test_whatever_voters_do_the_rules_hold(tmp_path_factory, steps, wanted, repeats):
    """Never twice but as a repeat, never a vote too many, tallies that a recount confirms."""
    store = open_store(tmp_path_factory.mktemp("deal") / "workspace")
    never_wait_for_the_disk(store)
    plan = replace(PLAN, appearances=2)
    given_settings = replace(BASIC, task_size=3, tasks_per_voter=4, votes_per_comparison=wanted, n_repeats=repeats)
    project_id, code = start(store, given_settings, plan=plan)
    take_steps(store, code, steps)
    check_tallies(store, project_id)
    q, d, j = t.question.c, t.deal.c, t.judgement.c
    assert rows(store, sa.select(q.id).where(sa.or_(q.n_votes > wanted, q.n_dealt > wanted + 2))) == []
    answered = rows(store, sa.select(d.sitting_id, d.question_id, d.kind).where(d.state == "answered"))
    assert len(answered) == len(set(answered))
    counted = sa.select(t.assignment.c.voter_id, j.question_id).join(t.assignment, t.assignment.c.id == j.assignment_id)
    votes = rows(store, counted.where(j.status == "counted"))
    assert len(votes) == len(set(votes))
    assert {kind for *_, kind in answered} <= ({"main", "repeat"} if repeats else {"main"})
    store.engine.dispose()
    _open.cache_clear()


def test_the_only_area_stands_once_above_the_cards(store):
    """Where there are several each card has its own; the words of both stay in the page."""
    _, code = start(store)
    view = Voter(store, code).view
    assert (view.place.area, pages.vote(code, view).count("ro-topic")) == ("", 0)
    project_id = create_project(store, "Of one area")
    add_areas(store, project_id, AREAS[:1])
    save_plan(store, project_id, PLAN)
    draw_next_ballot(store, project_id)
    code = open_voting(store, project_id, BASIC)
    view = Voter(store, code).view
    html = pages.vote(code, view)
    assert (view.place.area, html.count('<span class="ro-topic" dir="auto">Animals</span>')) == ("Animals", 1)
    assert html.count("Animals") == 3


@pytest.mark.sqlite
def test_dealing_and_voting_look_rows_up_and_never_read_a_whole_ballot(store):
    """SQLite says SCAN where it reads a table from one end to the other."""
    _, code = start(store, replace(BASIC, n_gold=1, n_repeats=1, votes_per_comparison=2))
    statements = {}

    def note(conn, _cursor, statement, parameters, *_):
        if statement.lstrip().upper().startswith(("SELECT", "UPDATE", "DELETE")):
            statements.setdefault(statement, parameters)

    sa.event.listen(store.engine, "before_cursor_execute", note)
    voter = Voter(store, code)
    voter.task()
    voter.undo()
    voter.vote("unknown")
    voter.do("more")
    expire(store)
    voter.look()
    voter.task()
    voter.do("finish")
    sa.event.remove(store.engine, "before_cursor_execute", note)
    small = ("voting", "voting_link", "project", "plan", "ballot", "gold", "invitation")
    scanned = set()
    with store.read() as conn:
        for statement, parameters in statements.items():
            if not parameters or isinstance(parameters, list):
                continue
            steps = conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            scanned |= {(row.detail, statement) for row in steps if row.detail.startswith("SCAN")}
    assert len(statements) > 20
    assert [scan for scan in scanned if scan[0].split()[1] not in small] == []


class TestVotes:
    def test_a_second_press_and_another_tab_change_nothing(self, store):
        _, code = start(store)
        voter = Voter(store, code)
        place = voter.view.place
        voter.vote("left")
        again = voter.vote("right", place)
        assert again.said.startswith("That one was answered already")
        assert again.place.n == 2
        (answer,) = rows(store, sa.select(t.judgement.c.answer, t.judgement.c.status))
        deal = rows(store, sa.select(t.deal.c.flipped).where(t.deal.c.n == 1))[0]
        assert answer == ("second" if deal.flipped else "first", "counted")

    def test_undo_marks_the_vote_and_asks_again(self, store):
        project_id, code = start(store)
        voter = Voter(store, code)
        place = voter.view.place
        voter.vote("left")
        back = voter.undo()
        assert (back.place.n, back.place.texts) == (place.n, place.texts)
        assert rows(store, sa.select(t.judgement.c.status)) == [("withdrawn",)]
        assert back.last is None
        with pytest.raises(InputError, match="fits nothing"):
            voter.undo((1, 2))
        check_tallies(store, project_id)
        voter.vote("tie")
        assert rows(store, sa.select(t.judgement.c.status, t.judgement.c.answer)) == [("counted", "tie")]
        check_tallies(store, project_id)

    def test_the_last_vote_of_a_task_can_be_undone_until_the_end(self, store):
        _, code = start(store)
        voter = Voter(store, code)
        assert voter.task().kind == "between"
        assert voter.undo().place.n == 4
        last = voter.vote("right").last
        assert voter.do("finish").kind == "finished"
        assert voter.undo(last).kind == "finished"

    @pytest.mark.parametrize("seconds", [None, -1.0, float("nan"), float("inf"), 1e9, 0.0])
    def test_the_time_is_never_longer_than_it_took(self, store, seconds):
        _, code = start(store)
        Voter(store, code).vote("left", seconds=seconds)
        ((kept,),) = rows(store, sa.select(t.judgement.c.seconds))
        assert 0 <= kept < 30

    def test_what_the_page_did_not_offer_is_refused(self, store):
        _, code = start(store, replace(BASIC, ties_allowed=False))
        voter = Voter(store, code)
        for choice in ("tie", "", "both"):
            with pytest.raises(InputError):
                voter.vote(choice)
        with pytest.raises(InputError):
            voter.vote("left", replace(voter.view.place, n=99))
        assert rows(store, sa.select(t.judgement.c.id)) == []

    def test_votes_raise_no_revision_but_the_stamp(self, store):
        project_id, code = start(store)
        before = get_project(store, project_id)
        Voter(store, code).task()
        after = get_project(store, project_id)
        assert after.revision == before.revision
        assert after.cache_key == before.cache_key + 4
        set_voting_state(store, project_id, "paused", expected_revision=before.revision)

    def test_withdrawing_a_file_leaves_the_votes_of_the_page(self, store):
        project_id, code = start(store)
        batch = write_batch(read_comparisons(store, project_id, 1))
        accept_upload(store, project_id, answer_batch(batch), "results.csv")
        set_voting_state(store, project_id, "open")
        open_voting(store, project_id, replace(BASIC, votes_per_comparison=2))
        Voter(store, code).task()
        withdraw_upload(store, project_id, read_uploads(store, project_id)[0].id)
        statuses = Counter(row[0] for row in rows(store, sa.select(t.judgement.c.status)))
        assert statuses["counted"] == 4
        check_tallies(store, project_id)

    def test_a_voter_who_takes_consent_back(self, store):
        project_id, code = start(store)
        voter = Voter(store, code)
        voter.vote("left")
        ((session,),) = rows(store, sa.select(t.sitting.c.id))
        assert withdraw_voter(store, project_id, session) == 1
        assert rows(store, sa.select(t.judgement.c.status)) == [("withdrawn",)]
        assert voter.look().kind == "stopped"
        check_tallies(store, project_id)

    def test_the_side_that_was_chosen_is_the_one_the_voter_saw(self, store):
        project_id, code = start(store, replace(BASIC, votes_per_comparison=2))
        for name in "AB":  # of two voters one sees each comparison the other way round
            Voter(store, code, name).task()
        with store.read() as conn:
            votes = counted_votes(conn, [ballot_id(store, project_id)])
        assert votes["left"].tolist() == [1.0] * 8


class TestAdaptive:
    def test_a_ballot_that_has_its_votes_closes_and_the_next_opens_until_all_are_done(self, store):
        project_id, code = start(store, replace(BASIC, task_size=50, tasks_per_voter=50, adaptive=True))
        given_up = set()
        assert do_housekeeping(store, given_up) == []
        voter = Voter(store, code)
        for number in (1, 2, 3):
            assert voter.look().kind == "vote"
            assert [b.number for b in read_ballots(store, project_id) if b.is_open] == [number]
            while voter.task(longer_pair).may_more:
                voter.do("more")
            said = do_housekeeping(store, given_up)
            assert said[0] == f"{project_id}: ballot {number} has its votes and is closed."
        assert "All 3 ballots of the plan are drawn" in said[1]
        assert do_housekeeping(store, given_up) == []
        assert voter.look().kind == "closed"
        assert len(read_project_dataset(store, project_id)) == 21

    def test_a_ballot_waits_while_somebody_still_holds_a_comparison(self, store):
        project_id, code = start(store, replace(BASIC, task_size=4, tasks_per_voter=50, adaptive=True))
        holder = Voter(store, code, "Holder")
        voter = Voter(store, code)
        while voter.task(longer_pair).may_more:
            voter.do("more")
        assert do_housekeeping(store, set()) == []
        expire(store)
        assert do_housekeeping(store, set()) == []  # what Holder had is free again, and lacks votes
        assert holder.vote("left").said == "Saved."
        assert [b.is_open for b in read_ballots(store, project_id)] == [True]

    def test_what_cannot_be_closed_is_left_to_the_owner(self, store):
        project_id, code = start(store, replace(BASIC, task_size=50, adaptive=True), plan=replace(PLAN, appearances=2))
        for name in "ABC":
            Voter(store, code, name).task(lambda shown: "unknown" if "cat" in shown.values() else "left")
        given_up = set()
        (said,) = do_housekeeping(store, given_up)
        assert "have no vote yet" in said
        assert len(given_up) == 1
        assert do_housekeeping(store, given_up) == []
        assert read_voting(store, ballot_id(store, project_id)).state == "open"


class TestChecksAndRepeats:
    def test_a_repeat_is_kept_beside_the_first_vote_with_sides_exchanged(self, store):
        project_id, code = start(store, replace(BASIC, n_repeats=2))
        voter = Voter(store, code)
        voter.task()
        voter.do("more")
        assert voter.view.place.of == 6
        voter.task()
        d = t.deal.c
        kinds = rows(store, sa.select(d.question_id, d.kind, d.flipped))
        main = {row.question_id: row.flipped for row in kinds if row.kind == "main"}
        repeats = {row.question_id: row.flipped for row in kinds if row.kind == "repeat"}
        assert len(repeats) == 2
        assert all(main[question] != flipped for question, flipped in repeats.items())
        statuses = Counter(row[0] for row in rows(store, sa.select(t.judgement.c.status)))
        assert statuses == {"counted": 8, "repeat": 2}
        check_tallies(store, project_id)

    @pytest.mark.parametrize(
        ("action", "kind", "status"),
        [("nothing", "between", "counted"), ("stop", "stopped", "counted"), ("set aside", "between", "rejected")],
    )
    def test_failed_checks(self, store, action, kind, status):
        project_id, code = start(store, replace(BASIC, n_gold=1, gold_action=action))
        add_gold(store, project_id, [(0, 5)])
        voter = Voter(store, code)
        right = {
            row[0]: row[1]
            for row in rows(store, sa.select(t.deal.c.n, t.deal.c.flipped).where(t.deal.c.kind == "gold"))
        }
        while voter.view.kind == "vote":
            n = voter.view.place.n
            wrong = "left" if right.get(n) else "right"
            voter.vote(wrong if n in right else "tie")
        assert voter.view.kind == kind
        with store.read() as conn:
            assert [
                (gold.more, gold.less, gold.n_right, gold.n_wrong)
                for gold in gold_of(conn, ballot_id(store, project_id))
            ] == [(0, 5, 0, 1)]
            votes = ballot_votes(conn, ballot_id(store, project_id))
        j, q = t.judgement.c, t.question.c
        main = rows(store, sa.select(j.status).join(t.question, q.id == j.question_id).where(q.role == "main"))
        assert {row[0] for row in main} <= {status}
        assert len(votes.first) == (0 if action == "set aside" else len(main))
        check_tallies(store, project_id)

    def test_passed_checks_enter_nothing(self, store):
        project_id, code = start(store, replace(BASIC, n_gold=1, gold_action="stop"))
        add_gold(store, project_id, [(0, 5)])
        voter = Voter(store, code)
        flipped = dict(rows(store, sa.select(t.deal.c.n, t.deal.c.flipped).where(t.deal.c.kind == "gold")))
        while voter.view.kind == "vote":
            n = voter.view.place.n
            voter.vote(("right" if flipped[n] else "left") if n in flipped else "tie")
        assert voter.view.kind == "between"
        with store.read() as conn:
            assert len(ballot_votes(conn, ballot_id(store, project_id)).first) == 4
            assert progress_of(conn, ballot_id(store, project_id)).votes == 4


class TestWho:
    def test_a_name_is_typed(self, store):
        _, code = start(store)
        for name in ("", " ", "x" * 81, "a\x00b"):
            with pytest.raises(InputError):
                Voter(store, code, name)

    def test_a_platforms_id_is_the_same_voter_again_and_can_be_hashed(self, store):
        _, code = start(store)
        who = api.who_of({"PROLIFIC_PID": "5f0c", "STUDY_ID": "s", "SESSION_ID": "x"})
        voter = Voter(store, code, who=who)
        voter.vote("left")
        assert api.look(store, code, "", "another browser", who).place.n == 2
        _, code = start(store, replace(BASIC, hash_ids=True))
        Voter(store, code, who=api.Visitor("prolific", "5f0d"))
        names = [row[0] for row in rows(store, sa.select(t.voter.c.external_id).order_by(t.voter.c.id))]
        assert names[0] == "5f0c"
        assert names[1].startswith("h-")
        assert "5f0d" not in names[1]

    @pytest.mark.parametrize(
        ("parameters", "who"),
        [
            ({"workerId": "W", "assignmentId": "A"}, api.Visitor("mturk", "W")),
            ({"workerId": "W", "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}, api.Visitor(preview=True)),
            ({"participantId": "P"}, api.Visitor("connect", "P")),
            ({"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}, api.Visitor()),
            ({"PROLIFIC_PID": "x" * 101}, api.Visitor()),
            ({"i": "token"}, api.Visitor(token="token")),
            ({}, api.Visitor()),
        ],
    )
    def test_parameters(self, parameters, who):
        assert api.who_of(parameters) == who

    def test_personal_links(self, store):
        project_id, code = start(store)
        assert invite(store, project_id, ["Ben", " Ben ", "", "Cora"]) == 2
        assert invite(store, project_id, ["Ben"]) == 0
        (_, token), _ = read_invitations(store, project_id)
        voter = Voter(store, code, who=api.Visitor(token=token))
        voter.vote("left")
        assert rows(store, sa.select(t.voter.c.platform, t.voter.c.external_id)) == [("invited", "Ben")]
        with pytest.raises(InputError, match="isn't valid"):
            api.look(store, code, "", VISIT, api.Visitor(token=token[::-1]))
        assert renew_link(store, project_id) != code
        assert voter.look().kind == "nothing"
        assert read_invitations(store, project_id) == []

    @pytest.mark.parametrize(("identify", "by_id"), [("invited", "uninvited"), ("id", "entry")])
    def test_the_plain_link_lets_nobody_in_where_the_owner_says_so(self, store, identify, by_id):
        """Else who is invited could leave the token off and vote again under another name."""
        project_id, code = start(store, replace(BASIC, identify=identify))
        invite(store, project_id, ["Ben"])
        ((_, token),) = read_invitations(store, project_id)
        voter = Voter(store, code, who=api.Visitor(token=token))
        assert voter.vote("left").kind == "vote"
        assert voter.look().kind == "vote"  # by the cookie, as ever
        for who, kind in ((api.Visitor(), "uninvited"), (api.Visitor("prolific", "made up"), by_id)):
            view = api.look(store, code, "", VISIT, who)
            assert view.kind == kind
            if kind == "uninvited":  # a form that somebody kept, or put together, opens no way either
                form = api.look(store, code, "", VISIT, api.Visitor(preview=True)).form
                assert api.begin(store, code, VISIT, form, who, name="Eve").kind == "uninvited"
        assert rows(store, sa.select(t.voter.c.external_id)) == [("Ben",)]

    def test_who_was_stopped_stays_so_in_the_next_ballot_without_the_cookie(self, store):
        project_id, code = start(store, replace(BASIC, task_size=50))
        who = api.Visitor("prolific", "5f0c")
        voter = Voter(store, code, who=who)
        voter.task(longer_pair)
        with store.write() as conn:
            stop(conn, rows(store, sa.select(t.sitting.c.id))[0][0], "stopped")
        close_ballot(store, project_id)
        draw_next_ballot(store, project_id)
        open_voting(store, project_id, BASIC)
        assert Voter(store, code, who=who).view.kind == "stopped"
        assert Voter(store, code, who=replace(who, external_id="5f0d")).view.kind == "vote"

    def test_what_voters_tell_is_counted_and_leads_to_nobody(self, store):
        _, code = start(store, replace(BASIC, ask=("age", "native")))
        view = api.look(store, code, "", VISIT)
        told = {"age": "25 to 34", "native": "<script>", "gender": "woman"}
        api.begin(store, code, VISIT, view.form, api.Visitor(), name="Anna", traits=told)
        assert rows(
            store, sa.select(t.voter_trait.c.trait, t.voter_trait.c.value, t.voter_trait.c.n).order_by("trait")
        ) == [
            ("age", "25 to 34", 1),
            ("native", "not told", 1),
        ]
        assert {column.name for column in t.voter_trait.c} == {"voting_id", "trait", "value", "n"}

    def test_forged_forms_and_cookies(self, store):
        _, code = start(store)
        view = api.look(store, code, "", VISIT)
        with pytest.raises(api.ForgedFormError):
            api.begin(store, code, "another visit", view.form, api.Visitor(), name="Eve")
        voter = Voter(store, code)
        place = voter.view.place
        for form in ("", view.form, voter.view.form[:-1] + "x", "é"):
            with pytest.raises(api.ForgedFormError):
                api.vote(store, code, voter.cookie, form, task=place.task, n=place.n, choice="left")
        nonce, _, mac = voter.cookie.partition(".")
        ((number,),) = rows(store, sa.select(t.sitting.c.id))
        for cookie in (
            "",
            "1",
            "1.",
            f"{number}.{mac}",
            f"{nonce[::-1]}.{mac}",
            f"{nonce}.{mac[:-1]}é",
            f"²{voter.cookie}",
            "x" * 5000,
        ):
            with pytest.raises(InputError):
                api.vote(store, code, cookie, voter.view.form, task=place.task, n=place.n, choice="left")
        assert api.look(store, "nowhere").kind == "nothing"
        assert rows(store, sa.select(t.judgement.c.id)) == []

    def test_cookies_of_one_link_open_no_other(self, store):
        _, code = start(store)
        _, other = start(store)
        voter = Voter(store, code)
        assert api.look(store, other, voter.cookie, VISIT).kind == "entry"


class TestStates:
    def test_paused_and_closed(self, store):
        project_id, code = start(store)
        voter = Voter(store, code)
        place = voter.view.place
        set_voting_state(store, project_id, "paused")
        assert voter.vote("left").kind == "paused"
        set_voting_state(store, project_id, "open")
        assert voter.look().place == place
        set_voting_state(store, project_id, "closed")
        assert voter.look().kind == "next"
        assert rows(store, sa.select(sa.func.sum(t.question.c.n_dealt))) == [(0,)]
        open_voting(store, project_id, BASIC)
        assert voter.look().place == place

    def test_a_close_that_fails_leaves_voting_open(self, store):
        project_id, code = start(store)
        with pytest.raises(StoreError, match="no votes yet"):
            close_ballot(store, project_id)
        assert read_voting(store, ballot_id(store, project_id)).state == "open"
        assert Voter(store, code).view.kind == "vote"

    def test_the_link_leads_on_to_the_next_ballot(self, store):
        project_id, code = start(store, replace(BASIC, task_size=50))
        voter = Voter(store, code)
        voter.task(longer_pair)
        assert voter.do("finish").kind == "finished"
        close_ballot(store, project_id)
        assert voter.look().kind == "next"
        draw_next_ballot(store, project_id)
        assert voter.look().kind == "next"
        assert open_voting(store, project_id, BASIC) == code == read_link(store, project_id)
        assert voter.look().kind == "vote"
        assert rows(store, sa.select(sa.func.count()).select_from(t.voter)) == [(1,)]

    def test_a_reopened_ballot_keeps_its_voting_closed(self, store):
        project_id, code = start(store, replace(BASIC, task_size=50))
        Voter(store, code).task(longer_pair)
        close_ballot(store, project_id)
        reopen_ballot(store, project_id)
        assert api.look(store, code).kind == "next"

    def two_ballots(self, store):
        plan = replace(PLAN, n_ballots=2, protocol="paper")
        project_id, code = start(store, kind="trial", plan=plan)
        simulate_votes(store, project_id)
        return project_id, code

    def test_voting_is_over_after_the_last_ballot_and_not_between_two(self, store):
        project_id, code = self.two_ballots(store)

        def kind():
            return api.look(store, code).kind

        assert kind() == "entry"
        close_ballot(store, project_id)
        assert kind() == "next"
        draw_next_ballot(store, project_id)
        assert kind() == "next"  # drawn, and its page isn't open yet
        open_voting(store, project_id, BASIC)
        assert kind() == "entry"
        set_voting_state(store, project_id, "closed")
        assert kind() == "closed"  # the owner closed the page of the last ballot
        open_voting(store, project_id, BASIC)
        simulate_votes(store, project_id)
        close_ballot(store, project_id)
        assert kind() == "closed"

    def test_it_is_over_too_where_the_last_ballot_was_collected_elsewhere_or_the_project_is_archived(self, store):
        project_id, code = self.two_ballots(store)
        close_ballot(store, project_id)
        archive_project(store, project_id)
        assert api.look(store, code).kind == "closed"
        restore_project(store, project_id)
        assert api.look(store, code).kind == "next"
        draw_next_ballot(store, project_id)  # its votes come without a voting page
        simulate_votes(store, project_id)
        close_ballot(store, project_id)
        assert api.look(store, code).kind == "closed"

    def test_a_copy_of_the_project_takes_no_link_with_it(self, store):
        project_id, code = start(store)
        Voter(store, code).task()
        copy = duplicate_project(store, project_id, "Copy")
        assert read_link(store, copy) is None
        assert api.look(store, code).project_id == project_id
        other = open_voting(store, copy, BASIC)
        assert other != code
        secret = rows(store, sa.select(t.voting_link.c.secret))[0][0]
        assert secret.encode() not in export_project(store, project_id)

    @pytest.mark.parametrize("completion", ["none", "shared", "own"])
    def test_the_code_at_the_end(self, store, completion):
        _, code = start(store, replace(BASIC, completion=completion, code="C1X2"))
        voter = Voter(store, code)
        assert voter.do("finish").kind == "vote"
        voter.task()
        shown = voter.do("finish").code
        assert shown == {"none": "", "shared": "C1X2"}.get(completion, shown)
        assert len(shown) == {"none": 0, "shared": 4, "own": 8}[completion]
        assert voter.look().code == shown


class TestSettings:
    @pytest.mark.parametrize(
        ("wrong", "what"),
        [
            ({"task_size": 0}, "Comparisons per task"),
            ({"votes_per_comparison": 21}, "Votes per comparison"),
            ({"gold_action": "shout"}, "gold_action"),
            ({"ask": ("income",)}, "asked about that"),
            ({"completion": "shared"}, "code"),
            ({"return_url": "http://example.org"}, "https://"),
            ({"ask": ("age",), "consent": " "}, "consent"),
            ({"closing": "x" * 5001}, "closing"),
        ],
    )
    def test_refused(self, wrong, what):
        with pytest.raises(InputError, match=what):
            check_voting(replace(VotingSettings(), **wrong))

    @pytest.mark.parametrize(
        "url",
        ["javascript:alert(1)", "http://a.b", "//a.b", "https://", "https://u:p@a.b", "https://a.b\\@c.d",
         "https://a b", "https://a.b/\n", "https:/a", "data:text/html,x", "https://[::1", "https://a.b/'><i>"],
    )  # fmt: skip
    def test_addresses_that_lead_astray(self, url):
        assert not is_safe_url(url)

    def test_settings_come_back_as_they_were(self):
        settings = replace(VotingSettings(), ask=("age",), adaptive=True)
        assert VotingSettings.of(settings.stored()) == settings
        assert VotingSettings.of(settings.stored() | {"later": 1}) == settings
        assert VotingSettings.of({}) == VotingSettings()
