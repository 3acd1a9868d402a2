"""The voters' server with many from one address, as browsers ask it; no process, no network, a clock that stands."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import replace
from functools import partial
from http.cookies import SimpleCookie
from urllib.parse import urlencode

import pytest
import sqlalchemy as sa
from test_voting import BASIC, never_wait_for_the_disk, rows, start

from bench.voters import hidden
from core.store import schema as t
from core.store.voting.owner_commands import withdraw_voters
from voting import app as voting_app
from voting.app import make_app
from voting.connection_limits import Limiter

HALL = "192.0.2.7"
ASKS = replace(BASIC, code_word="Blue Whale", ask=("age",))


@pytest.fixture
def store(store):
    never_wait_for_the_disk(store)
    return store


@pytest.fixture
def clock(monkeypatch):
    """The seconds of the clock by which senders are slowed down, to be set."""
    moment = [0.0]
    monkeypatch.setattr(voting_app, "Limiter", partial(Limiter, clock=lambda: moment[0]))
    return moment


class Browser:
    """Somebody's browser at the application itself: keeps cookies, counts what came back."""

    def __init__(self, app, code, host=HALL):
        self.app, self.code, self.host = app, code, host
        self.cookies, self.statuses, self.page = {}, Counter(), ""

    def ask(self, step="", query="", **fields):
        """GET the page of the link, or POST fields to a step of it; the status."""
        return asyncio.run(self._ask(step, query, fields))

    async def _ask(self, step, query, fields):
        body, sent = urlencode(fields).encode(), []
        path = f"/v/{self.code}" + (f"/{step}" if step else "")
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        scope = {"type": "http", "method": "POST" if step else "GET", "path": path, "query_string": query.encode()}
        scope |= {"scheme": "http", "root_path": "", "client": (self.host, 1)}
        scope |= {"headers": [(b"cookie", cookies.encode())]}

        async def receive():
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message):
            sent.append(message)

        await self.app(scope, receive, send)
        for name, value in sent[0]["headers"]:
            if name == b"set-cookie":
                self.cookies |= {kept.key: kept.value for kept in SimpleCookie(value.decode()).values()}
        self.page = b"".join(message.get("body", b"") for message in sent[1:]).decode()
        self.statuses[sent[0]["status"]] += 1
        return sent[0]["status"]

    async def come(self, name):
        """As a newcomer does: the link, the form, and the page that this leads to."""
        await self._ask("", "", {})
        await self._ask("begin", "", {"form": hidden(self.page, "form"), "name": name})
        await self._ask("", "c=1", {})


class TestALectureHall:
    @pytest.mark.release
    def test_two_hundred_newcomers_of_one_address_within_a_moment_are_served(self, store, clock):
        _, code = start(store, replace(BASIC, task_size=1, votes_per_comparison=20))
        app = make_app(store)
        hall = [Browser(app, code) for _ in range(200)]

        async def come():
            for n, browser in enumerate(hall):
                await browser.come(f"Voter {n}")

        asyncio.run(come())
        assert sum((browser.statuses for browser in hall), Counter()) == {200: 400, 303: 200}

    def test_there_is_room_for_four_hundred_with_an_example_and_a_vote_each(self, store, clock):
        server = make_app(store).state.server
        for _ in range(400):
            assert server.visits.allows(HALL)
            assert server.begins.allows(HALL)
            assert all(server.flood.allows(HALL) for _ in range(5))

    @pytest.mark.release
    def test_a_flood_is_slowed_all_the_same(self, store, clock):
        _, code = start(store, BASIC)
        app = make_app(store)

        def beginnings(n):
            browser = Browser(app, code)
            for _ in range(n):
                browser.ask("begin", form="x")
            return browser.statuses

        def visits(n):
            browser = Browser(app, code)
            for _ in range(n):
                browser.ask()
                browser.cookies.clear()
            return browser.statuses

        assert beginnings(510) == {403: 500, 429: 10}
        clock[0] = 10.0
        assert beginnings(30) == {403: 20, 429: 10}  # two a second
        assert visits(1010) == {200: 1000, 429: 10}
        assert Browser(app, code, "192.0.2.8").ask() == 200


class TestWhereVotersCome:
    def test_their_network_is_kept_with_the_session(self, store):
        _, code = start(store, BASIC)
        app = make_app(store)
        for n, host in enumerate((HALL, HALL, "2001:db8::1:2", "2001:db8::3:4", "2001:db8:0:1::1")):
            asyncio.run(Browser(app, code, host).come(f"Voter {n}"))
        query = sa.select(t.sitting.c.address).order_by(t.sitting.c.id)
        one, two, three, four, five = [row[0] for row in rows(store, query)]
        assert one == two
        assert three == four
        assert len({one, three, five, None}) == 4


class TestCodeWord:
    def test_a_wrong_one_is_told_beside_its_box_and_the_rest_is_kept(self, store):
        _, code = start(store, ASKS)
        browser = Browser(make_app(store), code)
        browser.ask()
        typed = {"form": hidden(browser.page, "form"), "name": "<Ann>", "age": "25 to 34"}
        assert browser.ask("begin", **typed, word="Grey Whale") == 400
        assert "This isn&#39;t the code word." in browser.page
        assert 'value="&lt;Ann&gt;"' in browser.page
        assert '<option value="25 to 34" selected>' in browser.page
        assert [name for name in ("name", "word") if 'aria-invalid="true"' in of_field(browser.page, name)] == ["word"]
        assert "Blue" not in browser.page
        assert browser.ask("begin", **typed | {"name": ""}, word="blue whale") == 400
        assert [name for name in ("name", "word") if 'aria-invalid="true"' in of_field(browser.page, name)] == ["name"]
        assert browser.ask("begin", **typed, word="blue whale") == 303

    def test_a_platforms_id_is_asked_for_it_and_for_no_name(self, store):
        _, code = start(store, ASKS)
        browser = Browser(make_app(store), code)
        browser.ask("", "PROLIFIC_PID=5f0c")
        form = hidden(browser.page, "form")
        for word, status in (("no", 400), ("blue whale", 303)):
            assert 'name="word"' in browser.page
            assert 'name="name"' not in browser.page
            assert browser.ask("begin", "PROLIFIC_PID=5f0c", form=form, word=word) == status

    def test_guesses_from_one_address_are_slowed_and_hold_up_no_other_link(self, store, clock):
        _, code = start(store, ASKS)
        app = make_app(store)
        guesser = Browser(app, code)
        guesser.ask()
        typed = {"form": hidden(guesser.page, "form"), "name": "Ann"}
        for n in range(110):
            guesser.ask("begin", **typed, word=f"guess {n}")
        assert guesser.statuses == {200: 1, 400: 100, 429: 10}
        assert guesser.ask("begin", **typed, word="blue whale") == 429  # else guessing would go on all the same
        _, other = start(store, BASIC)
        asyncio.run(Browser(app, other).come("Ben"))
        elsewhere = Browser(app, code, "192.0.2.8")
        elsewhere.ask()
        assert elsewhere.ask("begin", form=hidden(elsewhere.page, "form"), name="Cora", word="blue whale") == 303
        clock[0] = 20.0
        assert guesser.ask("begin", **typed, word="blue whale") == 303


def of_field(page, name):
    """The tag of a field to type in."""
    (found,) = re.findall(rf'<input\s[^>]*id="{name}"[^>]*>', page)
    return found


def test_who_was_stopped_reads_so_under_another_name(store):
    project_id, code = start(store, BASIC)
    browser = Browser(make_app(store), code)
    browser.ask()
    form = hidden(browser.page, "form")
    assert browser.ask("begin", form=form, name="Ann") == 303
    ((session,),) = rows(store, sa.select(t.sitting.c.id))
    withdraw_voters(store, project_id, [session])
    assert browser.ask("begin", form=form, name="Another") == 303  # the form of the page before, by the way back
    assert browser.ask("", "c=1") == 200
    assert "There is nothing more for you to do." in browser.page
    assert len(rows(store, sa.select(t.voter.c.id))) == 1
    for query in ("workerId=made-up", ""):
        browser.ask("", query)
        assert 'name="name"' not in browser.page
