"""Every voter stays themselves: cookies, forms, names, ids, and steps that come twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa
from campaigns import PLAN, make_project
from rounds_of_people import SMALL
from test_round_voting import Visit, any_answer, opened
from test_voting import BASIC, VISIT, Voter, expire, longer_pair, rows, start

from core.errors import InputError, StoreError
from core.questions.comparison_page import Example
from core.questions.voting_settings import VotingSettings
from core.store import postgresql
from core.store import schema as t
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import discard_ballot, draw_next_ballot, draw_round
from core.store.projects.archive import export_project, import_project
from core.store.projects.plans import read_rankings, save_plan, set_ranking
from core.store.votes.checks import add_gold
from core.store.voting import answers
from core.store.voting.housekeeping import do_housekeeping
from core.store.voting.owner_commands import open_voting, renew_link, seal, set_voting_state
from core.voting import api
from tests.rounds_of_people import RATING, SCHEMES, open_round_voting

EXAMPLES = (Example(("ship", "harbour"), ("ship", "dentist"), "left"),) * 2
PROLIFIC = api.Visitor("prolific", "5f0c")


def discarded(store, project_id, settings=BASIC):
    """Take the open ballot back, draw it again, and open its page."""
    discard_ballot(store, project_id)
    draw_next_ballot(store, project_id)
    open_voting(store, project_id, settings)


def old_cookie(store, code, voter):
    """The cookie of a voter as an older Runoff gave it, whose session has no nonce: as if the page had been updated."""
    with store.write() as conn:
        secret = conn.execute(sa.select(t.voting_link.c.secret).where(t.voting_link.c.code == code)).scalar_one()
        s = t.sitting.c
        mine = s.nonce == voter.cookie.split(".")[0]
        number = conn.execute(sa.select(s.id).where(mine)).scalar_one()
        conn.execute(sa.update(t.sitting).where(mine).values(nonce=None))
    return made_cookie(secret, number)


def made_cookie(secret, number):
    return f"{number}.{seal(secret, 'sitting', number)}"


def voters(store):
    return [row[0] for row in rows(store, sa.select(t.voter.c.external_id).order_by(t.voter.c.id))]


class TestCookies:
    def test_that_of_a_discarded_ballot_is_nobodys(self, store):
        project_id, code = start(store)
        alice = Voter(store, code, "Alice", visit="A")
        place, form = alice.view.place, alice.view.form
        discarded(store, project_id)
        bob = Voter(store, code, "Bob", visit="B")  # has the row that Alice had, where ids are given out again
        assert api.look(store, code, alice.cookie, "A").kind == "entry"
        with pytest.raises(InputError, match="not known"):
            api.vote(store, code, alice.cookie, form, task=place.task, n=place.n, choice="left")
        assert rows(store, sa.select(t.judgement.c.id)) == []
        assert bob.vote("left").kind == "vote"

    def test_it_holds_no_row_and_is_never_given_out_again(self, store):
        _, code = start(store)
        cookies = {Voter(store, code, name).cookie for name in "ABC"}
        nonces = {cookie.split(".")[0] for cookie in cookies}
        assert len(nonces) == 3
        assert all(len(nonce) == 32 for nonce in nonces)

    def test_a_renewed_link_takes_no_old_one_and_nobody_votes_again(self, store):
        project_id, code = start(store, replace(BASIC, hash_ids=True))
        voter = Voter(store, code, who=PROLIFIC)
        voter.vote("left")
        renewed = renew_link(store, project_id)
        assert api.look(store, renewed, voter.cookie, VISIT).kind == "entry"
        with pytest.raises(InputError, match="not known"):
            api.vote(store, renewed, voter.cookie, voter.view.form, task=1, n=2, choice="left")
        again = Voter(store, renewed, who=PROLIFIC)
        assert again.view.place == voter.view.place
        assert len(voters(store)) == 1


class TestAfterAnUpdate:
    """Sessions from before have no nonce, and their cookies name rows."""

    def test_an_old_cookie_leads_to_its_session_whether_the_new_one_arrives_or_not(self, store):
        _, code = start(store)
        voter = Voter(store, code)
        voter.vote("left")
        old = old_cookie(store, code, voter)
        for _ in range(2):
            view = api.look(store, code, old, VISIT)
            assert view.place == voter.view.place
        assert view.cookie.split(".")[0] == rows(store, sa.select(t.sitting.c.nonce))[0][0]
        voter.view = view
        assert voter.vote("left").said == "Saved."

    def test_in_the_next_ballot_too(self, store):
        project_id, code = start(store, replace(BASIC, task_size=50))
        voter = Voter(store, code)
        voter.task(longer_pair)
        old = old_cookie(store, code, voter)
        close_ballot(store, project_id)
        draw_next_ballot(store, project_id)
        open_voting(store, project_id, BASIC)
        assert api.look(store, code, old, VISIT).kind == "vote"
        assert voters(store) == ["Anna"]

    def test_not_to_a_row_that_was_given_out_again(self, store):
        project_id, code = start(store)
        old = old_cookie(store, code, Voter(store, code, "Alice"))
        (number,) = rows(store, sa.select(t.sitting.c.id))[0]
        discarded(store, project_id)
        Voter(store, code, "Bob")
        with store.write() as conn:  # as SQLite does by itself
            conn.execute(sa.update(t.deal).values(state="released"))
            conn.execute(sa.delete(t.deal))
            conn.execute(sa.update(t.sitting).values(id=number))
        assert api.look(store, code, old, VISIT).kind == "entry"

    def test_not_to_a_session_of_another_project(self, store):
        """An imported one has no nonce either, and may have got the row."""
        project_id, code = start(store)
        Voter(store, code, "Bob").vote("left")
        copy = import_project(store, export_project(store, project_id))
        secret = rows(store, sa.select(t.voting_link.c.secret))[0][0]
        theirs = (
            sa.select(t.sitting.c.id)
            .join(t.voting, t.voting.c.id == t.sitting.c.voting_id)
            .join(t.ballot, t.ballot.c.id == t.voting.c.ballot_id)
        )
        ((number,),) = rows(store, theirs.where(t.ballot.c.project_id == copy))
        assert api.look(store, code, made_cookie(secret, number), VISIT).kind == "entry"

    def test_who_voted_in_a_project_that_was_exported_goes_on_in_the_copy(self, store):
        project_id, code = start(store)
        voter = Voter(store, code, who=PROLIFIC)
        voter.vote("left")
        copy = import_project(store, export_project(store, project_id))
        there = open_voting(store, copy, BASIC)
        again = api.look(store, there, "", VISIT, PROLIFIC)
        assert (again.place.task, again.place.n) == (1, 2)
        assert api.look(store, there, again.cookie, VISIT).place == again.place

    def test_answers_from_before_are_taken_back_from_the_last(self, store):
        _, code = start(store)
        voter = Voter(store, code)
        for _ in range(3):
            voter.vote("left")
        with store.write() as conn:
            conn.execute(sa.update(t.deal).values(answer_n=None))
        assert voter.look().last == (1, 3)
        assert voter.undo().place.n == 3


def test_the_last_answer_is_the_one_given_last_wherever_it_stands(store):
    """Another tab that still shows a later place can answer that one first."""
    _, code = start(store)
    voter = Voter(store, code)
    first, second = (replace(voter.view.place, n=n) for n in (1, 2))
    voter.vote("left", second)
    voter.vote("left", first)
    assert voter.view.last == (1, 1)
    assert voter.undo().place.n == 1
    assert voter.view.last == (1, 2)


class TestForms:
    def test_that_of_another_ballot_is_refused(self, store):
        project_id, code = start(store, replace(BASIC, task_size=50))
        form = api.look(store, code, "", "late").form
        Voter(store, code).task(longer_pair)
        close_ballot(store, project_id)
        draw_next_ballot(store, project_id)
        open_voting(store, project_id, BASIC)
        with pytest.raises(api.ForgedFormError, match="isn't valid any more"):
            api.begin(store, code, "late", form, api.Visitor(), name="Late")
        assert voters(store) == ["Anna"]

    def test_that_of_a_discarded_one_too_though_its_ids_come_again(self, store):
        project_id, code = start(store)
        form = api.look(store, code, "", "late").form
        discarded(store, project_id)
        with pytest.raises(api.ForgedFormError):
            api.begin(store, code, "late", form, api.Visitor(), name="Late")
        assert voters(store) == []

    def test_that_of_a_step_belongs_to_its_ballot(self, store):
        """The same browser, the same session: after the ballot its form does nothing in the round."""
        project_id, code = start(store)
        voter = Voter(store, code)
        form = voter.view.form
        with store.write() as conn:
            conn.execute(sa.update(t.voting).values(state="paused"))
        draw_round(store, project_id, SMALL[RATING])
        open_round_voting(store, project_id, 1)
        with pytest.raises(api.ForgedFormError):
            api.vote(store, code, voter.cookie, form, task=1, n=1, choice="left")


class TestNames:
    def test_a_taken_one_tells_nothing_and_leads_to_nobody(self, store):
        _, code = start(store)
        anna = Voter(store, code, "Anna", visit="hers")
        anna.vote("left")
        before = anna.view.place
        other, new = Voter(store, code, " Anna ", visit="another"), Voter(store, code, "Zoe", visit="a third")
        for view in (other.view, new.view):
            assert (view.kind, view.said, view.place.task, view.place.n, view.last) == ("vote", "", 1, 1, None)
        assert voters(store) == ["Anna", "Anna (2)", "Zoe"]
        assert anna.look().place == before
        other.vote("left")
        assert anna.look().place == before
        assert Voter(store, code, "Anna", visit="one more").view.kind == "vote"
        assert voters(store)[-1] == "Anna (3)"

    def test_nor_does_that_of_an_earlier_ballot(self, store):
        project_id, code = start(store, replace(BASIC, task_size=50))
        anna = Voter(store, code, "Anna", visit="hers")
        anna.task(longer_pair)
        close_ballot(store, project_id)
        draw_next_ballot(store, project_id)
        open_voting(store, project_id, BASIC)
        other = Voter(store, code, "Anna", visit="another")
        assert anna.look().place.n == 1
        other.vote("left")
        assert anna.look().place.n == 1
        assert voters(store) == ["Anna", "Anna (2)"]

    def test_one_that_nobody_voted_under_is_free(self, store):
        project_id, code = start(store)
        Voter(store, code, "Anna", visit="first")
        discarded(store, project_id)
        Voter(store, code, "Anna", visit="second")
        assert voters(store) == ["Anna"]

    @pytest.mark.parametrize("identify", ["name", "none"])
    def test_a_press_that_comes_twice_begins_once(self, store, identify):
        _, code = start(store, replace(BASIC, identify=identify))
        one, two = (Voter(store, code, "Anna" if identify == "name" else "") for _ in range(2))
        assert (one.cookie, one.view.place) == (two.cookie, two.view.place)
        assert len(voters(store)) == 1
        Voter(store, code, "Anna" if identify == "name" else "", visit="another browser")
        assert len(voters(store)) == 2

    def test_a_name_is_text_in_the_question_whether_it_is_taken(self, store):
        _, code = start(store)
        for name in ("%", "A", "_", "%"):
            Voter(store, code, name, visit=f"{name} {len(voters(store))}")
        assert voters(store) == ["%", "A", "_", "% (2)"]


def kept(store):
    """All that steps change, but for when a voter was last seen."""
    tables = [t.voter, t.sitting, t.deal, t.assignment, t.judgement, t.question, t.ballot_item]
    columns = [[c for c in table.c if c.name not in ("seen_at", "expires_at")] for table in tables]
    return [rows(store, sa.select(*found).order_by(*found[:2])) for found in columns]


def at_step(store, step):
    """A voter just before a step, and the step as the page sends it."""
    settings = replace(BASIC, examples=step == "example", completion="own", task_size=3)
    _, code = start(store, settings, plan=replace(PLAN, wording=replace(PLAN.wording, examples=EXAMPLES)))
    voter = Voter(store, code)
    if step == "example":
        return lambda: voter.do("example_done", number=0)
    if step in ("more", "finish"):
        voter.task()
        form = voter.view.form
        return lambda: getattr(api, step)(store, code, voter.cookie, form)
    voter.vote("left")
    voter.vote("left")
    place, last = voter.view.place, voter.view.last
    return (lambda: voter.vote("right", place)) if step == "vote" else (lambda: voter.undo(last))


class TestTwice:
    @pytest.mark.parametrize("step", ["vote", "undo", "example", "more", "finish"])
    def test_a_step_that_comes_twice_is_done_once(self, store, step):
        send = at_step(store, step)
        before = kept(store)
        first, once = send(), kept(store)
        again, twice = send(), kept(store)
        assert before != once == twice
        assert (again.kind, again.place, again.example, again.code) == (
            first.kind, first.place, first.example, first.code,
        )  # fmt: skip

    @pytest.mark.parametrize("later", ["nothing", "more votes", "finished", "paused", "closed", "stopped"])
    def test_an_answer_that_is_sent_again_is_never_called_unsaved(self, store, later):
        """Nobody heard that it is saved, and much may have happened since; another answer isn't saved there."""
        settings = replace(BASIC, n_gold=int(later == "stopped"), gold_action="stop")
        project_id, code = start(store, settings)
        if later == "stopped":
            add_gold(store, project_id, [(0, 5)])
        voter = Voter(store, code)
        place = voter.view.place
        if later == "stopped":
            ((n, flipped),) = rows(store, sa.select(t.deal.c.n, t.deal.c.flipped).where(t.deal.c.kind == "gold"))
            while voter.view.place.n != n:
                voter.vote("left")
            place, sent, other = voter.view.place, *(("left", "right") if flipped else ("right", "left"))
        else:
            sent, other = "left", "right"
        form = voter.view.form
        send = lambda choice: api.vote(store, code, voter.cookie, form, task=place.task, n=place.n, choice=choice)  # noqa: E731
        send(sent)
        if later == "more votes":
            voter.look()
            voter.vote("tie")
        elif later == "finished":
            voter.look()
            voter.task()
            voter.do("finish")
        elif later in ("paused", "closed"):
            set_voting_state(store, project_id, later)
        before = kept(store)
        again, wrong = send(sent).said, send(other).said
        if later in ("nothing", "more votes"):
            assert (again, "your first answer stands" in wrong) == ("Saved.", True)
        else:
            assert (again, wrong) == ("", api.NOT_SAVED)
        assert kept(store) == before

    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_so_is_an_answer_of_a_round(self, store, scheme):
        _, code = opened(store, scheme, VotingSettings(task_size=3, tasks_per_voter=50))
        visit = Visit(store, code, "V")
        place, choice = visit.view.place, any_answer(scheme, len(visit.shown()))
        send = lambda given: api.vote(  # noqa: E731
            store, code, visit.cookie, visit.view.form, task=place.task, n=place.n, choice=given
        )
        said = [send(given).said for given in (choice, choice, "unknown", "nonsense")]
        assert said[:2] == ["Saved.", "Saved."]
        assert all("your first answer stands" in other for other in said[2:])
        assert len(rows(store, sa.select(t.judgement.c.id))) == 1

    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_so_is_taking_back_in_a_round(self, store, scheme):
        _, code = opened(store, scheme, VotingSettings(task_size=3, tasks_per_voter=50))
        visit = Visit(store, code, "V")
        for _ in range(2):
            visit.answer(any_answer(scheme, len(visit.shown())))
        task, n = visit.view.last
        form = visit.view.form
        seen = [api.undo(store, code, visit.cookie, form, task=task, n=n) for _ in range(2)]
        assert seen[0] == seen[1]
        assert seen[0].said == "Your last answer is taken back."
        statuses = rows(store, sa.select(t.judgement.c.status).order_by(t.judgement.c.id))
        assert statuses == [("counted",), ("withdrawn",)]

    def test_undo_from_a_page_that_is_not_the_newest_takes_nothing(self, store):
        _, code = start(store)
        voter = Voter(store, code)
        stale = voter.vote("left").last
        newest = voter.vote("left")
        again = voter.undo(stale)
        assert (again.place, again.last, again.said) == (newest.place, (1, 2), "")
        assert rows(store, sa.select(t.judgement.c.status)) == [("counted",)] * 2

    def test_undo_takes_the_last_whatever_the_clock_says(self, store, monkeypatch):
        _, code = start(store)
        voter = Voter(store, code)
        hours = iter(range(23, 0, -1))
        monkeypatch.setattr(answers, "now", lambda: f"2026-01-05T{next(hours):02d}:00:00.000000+00:00")
        for _ in range(3):
            voter.vote("left")
        assert voter.view.last == (1, 3)
        assert voter.undo().place.n == 3
        voter.vote("right")
        assert [voter.undo().place.n for _ in range(3)] == [3, 2, 1]

    def test_undo_after_the_time_was_over_and_the_place_is_asked_again(self, store):
        _, code = start(store)
        voter = Voter(store, code)
        last = voter.vote("left").last
        voter.undo()
        expire(store)
        do_housekeeping(store, set())
        assert voter.undo(last).place.n == 1


class TestHashing:
    def test_it_is_settled_once_somebody_has_begun(self, store):
        project_id, code = start(store)
        open_voting(store, project_id, replace(BASIC, hash_ids=True))
        open_voting(store, project_id, BASIC)
        voter = Voter(store, code, who=PROLIFIC)
        with pytest.raises(StoreError, match="stored as they are"):
            open_voting(store, project_id, replace(BASIC, hash_ids=True))
        open_voting(store, project_id, replace(BASIC, minutes_per_task=5))
        assert api.look(store, code, "", "another browser", PROLIFIC).place == voter.view.place

    def test_in_the_next_ballot_and_in_rounds_too(self, store):
        hashed = replace(BASIC, task_size=50, hash_ids=True)
        project_id, code = start(store, hashed)
        Voter(store, code, who=PROLIFIC).task(longer_pair)
        close_ballot(store, project_id)
        draw_round(store, project_id, SMALL[RATING])
        with pytest.raises(StoreError, match="stored as hashes"):
            open_round_voting(store, project_id, 1)
        assert open_round_voting(store, project_id, 1, hashed) == code
        assert Voter(store, code, who=PROLIFIC).view.kind == "vote"
        assert len(voters(store)) == 1

    def test_it_is_the_same_in_all_areas(self, store):
        project_id = make_project(store, plan=None)
        set_ranking(store, project_id, "area")
        for ranking in read_rankings(store, project_id):
            area_id = ranking.area_id
            save_plan(store, project_id, replace(PLAN, n_ballots=1, appearances=2), area_ids=[area_id])
            draw_next_ballot(store, project_id, area_id=area_id)
            code = open_voting(store, project_id, replace(BASIC, hash_ids=True), area_id=area_id)
            renew = renew_link(store, project_id, area_id=area_id)
            assert renew != code
            Voter(store, renew, who=PROLIFIC)
        assert len(rows(store, sa.select(t.sitting.c.id))) == 2
        (name,) = voters(store)
        assert name.startswith("h-")

    def test_an_imported_project_has_hashes_of_its_own(self, store):
        """The secret stays in the workspace, so nobody can be matched there who voted before."""
        project_id, code = start(store, replace(BASIC, hash_ids=True))
        Voter(store, code, who=PROLIFIC).vote("left")
        copy = import_project(store, export_project(store, project_id))
        with pytest.raises(StoreError, match="stored as hashes"):
            open_voting(store, copy, BASIC)
        there = open_voting(store, copy, replace(BASIC, hash_ids=True))
        assert api.look(store, there, "", VISIT, PROLIFIC).kind == "entry"


def test_the_voters_role_has_what_sessions_need():
    assert t.sitting in postgresql.ADDS
    assert "nonce" in postgresql.CHANGES[t.sitting].split(", ")
    assert "answer_n" in postgresql.CHANGES[t.deal].split(", ")
