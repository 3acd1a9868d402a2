"""Who votes again under a made-up name: where sessions began, spans of them withdrawn, code words, who was stopped."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
import sqlalchemy as sa
from rounds_of_people import collected
from test_voting import BASIC, VISIT, Voter, ballot_id, check_tallies, never_wait_for_the_disk, rows, start

from core.errors import InputError, StoreError
from core.questions.voting_settings import ADDRESS_KEPT, VotingSettings, check_voting
from core.store import schema as t
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.projects.archive import duplicate_project, export_project
from core.store.projects.project_commands import read_log
from core.store.voting.owner_commands import (
    invite,
    open_voting,
    read_invitations,
    read_voting,
    set_voting_state,
    withdraw_voters,
)
from core.views.collect import voting
from core.views.collect import voting as views
from core.voting import api
from tests.rounds_of_people import RATING, close_round, open_round_voting
from voting import pages

HALL, HOME = "192.0.2.7", "2001:db8:1:2::/64"
LONG = replace(BASIC, task_size=50)


@pytest.fixture
def store(store):
    never_wait_for_the_disk(store)
    return store


def come(store, code, name, sender="", who=None, cookie="", word=""):
    """Somebody opens the link and begins; the view that follows."""
    view = api.look(store, code, "", VISIT)
    return api.begin(
        store, code, VISIT, view.form, who or api.Visitor(), name=name, sender=sender, cookie=cookie, word=word
    )


def addresses(store):
    return [row[0] for row in rows(store, sa.select(t.sitting.c.address).order_by(t.sitting.c.id))]


def salts(store):
    return [row[0] for row in rows(store, sa.select(t.voting.c.address_salt).order_by(t.voting.c.id))]


def set_began(store, *minutes):
    """Let the voters have begun in these minutes of an hour, in the order of their coming."""
    with store.write() as conn:
        for (id_,), minute in zip(conn.execute(sa.select(t.sitting.c.id).order_by(t.sitting.c.id)).all(), minutes):  # noqa: B905
            began = f"2026-03-01T10:{minute:02}:30.000000+00:00"
            conn.execute(sa.update(t.sitting).where(t.sitting.c.id == id_).values(began_at=began))


def at(minute):
    return datetime(2026, 3, 1, 10, minute)


class TestAddresses:
    def test_the_same_address_has_the_same_hash_and_none_can_be_read_from_it(self, store):
        _, code = start(store)
        for name, sender in (("A", HALL), ("B", HOME), ("C", HALL), ("D", "")):
            come(store, code, name, sender)
        first, second, third, fourth = addresses(store)
        assert first == third != second
        assert fourth is None
        assert "192" not in first
        assert len(first) == 32

    def test_two_pages_hash_it_differently(self, store):
        for _ in range(2):
            _, code = start(store)
            come(store, code, "A", HALL)
        assert len({*addresses(store)}) == 2

    @pytest.mark.parametrize("ended", [False, True])
    def test_they_go_when_the_ballot_closes_also_where_voting_was_closed_before(self, store, ended):
        project_id, code = start(store, LONG)
        Voter(store, code, "B").task()
        come(store, code, "A", HALL)
        if ended:
            set_voting_state(store, project_id, "closed")
            assert None not in (addresses(store)[1], *salts(store))  # the owner may still look who came, and reopen
        close_ballot(store, project_id)
        assert addresses(store) == [None, None]
        assert salts(store) == [None]

    def test_a_reopened_ballot_begins_with_another_salt(self, store):
        project_id, code = start(store, LONG)
        before = salts(store)
        Voter(store, code).task()
        close_ballot(store, project_id)
        reopen_ballot(store, project_id)
        open_voting(store, project_id, LONG)
        assert salts(store) != before
        come(store, code, "B", HALL)
        assert [address is None for address in addresses(store)] == [True, False]

    def test_settings_changed_in_between_keep_the_salt(self, store):
        project_id, code = start(store)
        come(store, code, "A", HALL)
        open_voting(store, project_id, replace(BASIC, votes_per_comparison=2))
        come(store, code, "B", HALL)
        assert len({*addresses(store)}) == 1

    def test_a_page_of_before_keeps_addresses_once_it_is_resumed(self, store):
        project_id, code = start(store)
        with store.write() as conn:
            conn.execute(sa.update(t.voting).values(address_salt=None))
        come(store, code, "A", HALL)
        set_voting_state(store, project_id, "paused")
        set_voting_state(store, project_id, "open")
        come(store, code, "B", HALL)
        assert [address is None for address in addresses(store)] == [True, False]

    def test_they_go_when_a_round_closes(self, store):
        project_id = collected(store, RATING)
        code = open_round_voting(store, project_id, 1)
        come(store, code, "A", HALL)
        assert None not in (*addresses(store), *salts(store))
        close_round(store, project_id, 1)
        assert (*addresses(store), *salts(store)) == (None, None)

    def test_no_export_and_no_copy_has_them(self, store):
        project_id, code = start(store)
        come(store, code, "A", HALL)
        data = export_project(store, project_id)
        assert not any(secret.encode() in data for secret in (*addresses(store), *salts(store)))
        duplicate_project(store, project_id, "Copy")
        assert addresses(store)[1:] == [None] == salts(store)[1:]

    def test_voters_read_what_is_kept_of_an_address_below_any_consent(self, store):
        _, code = start(store, replace(BASIC, consent="Mine. We keep nothing."))
        view = api.look(store, code, "", VISIT)
        assert ADDRESS_KEPT in pages.page(code, view, {})
        with store.write() as conn:
            conn.execute(sa.update(t.voting).values(address_salt=None))
        view = api.look(store, code, "", VISIT)
        assert ADDRESS_KEPT not in pages.page(code, view, {})  # as nothing is kept then


class TestArrivals:
    def test_by_minute_and_by_address(self, store):
        project_id, code = start(store)
        for n in range(8):
            come(store, code, f"V{n}", HALL if n < 6 else "")
        set_began(store, 1, 1, 1, 1, 1, 2, 2, 4)
        found = voting.load_arrivals(store, read_voting(store, ballot_id(store, project_id)).id)
        assert found.minutes.values.tolist() == [
            ["2026-03-01 10:04", 1, 0, ""],
            ["2026-03-01 10:02", 2, 1, ""],
            ["2026-03-01 10:01", 5, 5, "5 or more from one address"],
        ]
        assert found.addresses.values.tolist() == [[1, 6, "2026-03-01 10:01", "2026-03-01 10:02"]]
        assert found.between(at(2), at(4))["voter"].tolist() == ["V5", "V6", "V7"]
        assert found.between(at(2), at(4), 1)["voter"].tolist() == ["V5"]
        assert found.between(at(3), at(3)).empty

    def test_a_page_where_nobody_began(self, store):
        project_id, _ = start(store)
        found = voting.load_arrivals(store, read_voting(store, ballot_id(store, project_id)).id)
        assert found.minutes.empty
        assert found.addresses.empty
        assert voting.span_of(store, []) == voting.Span([], 0, None)

    def test_the_owner_sees_when_each_began_and_how_many_share_the_address(self, store):
        project_id, code = start(store)
        for name, sender in (("A", HALL), ("B", HOME), ("C", HALL), ("D", "")):
            come(store, code, name, sender)
        with store.read() as conn:
            page = views._voters(conn, read_voting(store, ballot_id(store, project_id)))
        assert page["same address"].fillna(0).tolist() == [2, 1, 2, 0]
        assert page["began"].tolist() == [row[0] for row in rows(store, sa.select(t.sitting.c.began_at))]

    def test_a_span_is_previewed_and_withdrawn_in_one_go(self, store, monkeypatch):
        monkeypatch.setattr("core.store.voting.owner_commands.PART", 2)  # more voters than go into one statement
        project_id, code = start(store)
        for n in range(5):
            voter = Voter(store, code, f"V{n}")
            for _ in range(n):
                voter.vote()
        set_began(store, 0, 1, 2, 3, 4)
        found = voting.load_arrivals(store, read_voting(store, ballot_id(store, project_id)).id)
        chosen = found.between(at(0), at(3))["id"].tolist()
        span = voting.span_of(store, chosen)
        answered = rows(store, sa.select(t.deal.c.sitting_id, t.deal.c.answered_at).where(t.deal.c.state == "answered"))
        assert span == voting.Span(chosen, 6, max(when for id_, when in answered if id_ in chosen))
        assert withdraw_voters(store, project_id, span.session_ids) == 6
        states = [row[0] for row in rows(store, sa.select(t.sitting.c.state).order_by(t.sitting.c.id))]
        assert states == ["stopped"] * 4 + ["voting"]
        check_tallies(store, project_id)
        assert voting.span_of(store, chosen) == voting.Span([], 0, None)  # nothing of them is left to go
        (entry,) = read_log(store, project_id, 1)
        assert (entry["action"], entry["detail"]) == (
            "withdraw voters", {"voters": 4, "sittings": chosen, "judgements": 6},
        )  # fmt: skip

    def test_nothing_is_withdrawn_where_one_of_them_is_of_another_project_or_a_closed_ballot(self, store):
        project_id, code = start(store, LONG)
        Voter(store, code).task()
        _, other = start(store)
        Voter(store, other).vote()
        mine, theirs = [row[0] for row in rows(store, sa.select(t.sitting.c.id).order_by(t.sitting.c.id))]
        with pytest.raises(StoreError, match="no such voter"):
            withdraw_voters(store, project_id, [mine, theirs])
        close_ballot(store, project_id)
        with pytest.raises(StoreError, match="closed"):
            withdraw_voters(store, project_id, [mine])
        assert {row[0] for row in rows(store, sa.select(t.judgement.c.status))} == {"counted"}


class TestCodeWord:
    ASKS = replace(BASIC, code_word="Blue  Whale")

    @pytest.mark.parametrize("word", ["blue whale", " BLUEWHALE ", "Ｂlue whale"])
    def test_who_knows_it_begins_whatever_the_capitals_and_spaces(self, store, word):
        _, code = start(store, self.ASKS)
        assert api.look(store, code, "", VISIT).asks_word
        assert come(store, code, "A", word=word).kind == "vote"

    @pytest.mark.parametrize("word", ["", " ", "blue", "blue whales", "\udc80"])
    @pytest.mark.parametrize("who", [api.Visitor(), api.Visitor("prolific", "made-up")])
    def test_who_does_not_know_it_stays_out_also_with_a_platforms_id(self, store, who, word):
        _, code = start(store, self.ASKS)
        assert api.look(store, code, "", VISIT, who).asks_word
        with pytest.raises(api.WrongCodeWordError, match="isn't the code word"):
            come(store, code, "A", who=who, word=word)
        assert rows(store, sa.select(t.voter.c.id)) == rows(store, sa.select(t.sitting.c.id)) == []

    def test_a_personal_link_needs_none(self, store):
        project_id, code = start(store, self.ASKS)
        invite(store, project_id, ["Ben"])
        ((_, token),) = read_invitations(store, project_id)
        who = api.Visitor(token=token)
        assert not api.look(store, code, "", VISIT, who).asks_word
        assert come(store, code, "", who=who).kind == "vote"

    def test_who_began_is_not_asked_again(self, store):
        _, code = start(store, self.ASKS)
        who = api.Visitor("prolific", "P1")
        cookie = come(store, code, "", who=who, word="bluewhale").cookie
        assert api.look(store, code, cookie, VISIT).kind == "vote"
        assert come(store, code, "", who=who).kind == "vote"

    def test_none_is_asked_where_there_is_none(self, store):
        _, code = start(store, replace(BASIC, code_word="  "))
        assert not api.look(store, code, "", VISIT).asks_word
        assert come(store, code, "A").kind == "vote"

    def test_it_stands_on_no_page_and_in_no_log(self, store):
        project_id, code = start(store, self.ASKS)
        assert "Whale" not in pages.page(code, api.look(store, code, "", VISIT), {})
        assert "Whale" not in pages.page(code, come(store, code, "A", word="bluewhale"), {})
        assert "Whale" not in str(read_log(store, project_id))
        assert read_voting(store, ballot_id(store, project_id)).settings.code_word == "Blue  Whale"

    @pytest.mark.parametrize("word", ["x" * 101, "a\nb"])
    def test_one_that_cannot_be_typed_is_refused(self, word):
        with pytest.raises(InputError, match="code word"):
            check_voting(VotingSettings(code_word=word))


class TestStopped:
    @pytest.fixture
    def out(self, store):
        """A project, its link's code, and the cookie of somebody whose votes were withdrawn."""
        project_id, code = start(store, LONG)
        Voter(store, code, "Ben").task()
        voter = Voter(store, code, "Anna")
        session = rows(store, sa.select(t.sitting.c.id).order_by(t.sitting.c.id))[-1][0]
        withdraw_voters(store, project_id, [session])
        return project_id, code, voter.cookie

    def n_sittings(self, store):
        return len(rows(store, sa.select(t.sitting.c.id)))

    @pytest.mark.parametrize("who", [api.Visitor(), api.Visitor("prolific", "made-up")])
    def test_no_new_name_or_id_lets_them_in(self, store, out, who):
        _, code, cookie = out
        assert api.look(store, code, cookie, VISIT, who).kind == "stopped"
        assert come(store, code, "Another", who=who, cookie=cookie).kind == "stopped"
        assert self.n_sittings(store) == 2

    def test_nor_at_the_next_ballot(self, store, out):
        project_id, code, cookie = out
        close_ballot(store, project_id)
        draw_next_ballot(store, project_id)
        open_voting(store, project_id, LONG)
        for who in (api.Visitor(), api.Visitor("prolific", "made-up")):
            assert come(store, code, "Another", who=who, cookie=cookie).kind == "stopped"
        assert rows(store, sa.select(t.voter.c.external_id).order_by(t.voter.c.id)) == [("Ben",), ("Anna",)]

    def test_nor_with_the_cookie_of_an_earlier_ballot_in_which_all_was_well(self, store):
        project_id, code = start(store, LONG)
        voter = Voter(store, code, "Anna")
        voter.task()
        voter.do("finish")
        close_ballot(store, project_id)
        draw_next_ballot(store, project_id)
        open_voting(store, project_id, LONG)
        old = voter.cookie
        assert voter.look().kind == "vote"
        session = rows(store, sa.select(t.sitting.c.id).order_by(t.sitting.c.id))[-1][0]
        withdraw_voters(store, project_id, [session])
        assert come(store, code, "Another", cookie=old).kind == "stopped"

    def test_a_personal_link_of_somebody_else_does(self, store, out):
        """Of a family with one browser, say: it can't be made up."""
        project_id, code, cookie = out
        invite(store, project_id, ["Cora"])
        ((_, token),) = read_invitations(store, project_id)
        who = api.Visitor(token=token)
        assert api.look(store, code, cookie, VISIT, who).kind == "entry"
        assert come(store, code, "", who=who, cookie=cookie).kind != "stopped"

    def test_who_has_finished_or_votes_is_not_held_up(self, store):
        _, code = start(store)
        voter = Voter(store, code, "Anna")
        assert come(store, code, "Ben", cookie=voter.cookie).kind == "vote"
        assert self.n_sittings(store) == 2
