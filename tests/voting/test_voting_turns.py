"""While another program holds the database, or a ballot is closed: looks are answered, and a voter's step is asked
again until it is done, once.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from html import unescape
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
import sqlalchemy as sa
from test_closing_pause import NOBODY, rest_for
from voting_server import make_voting

from core.errors import BusyError, StoreError
from core.questions.voting_settings import VotingSettings
from core.store import schema as t
from core.store.ballots import closing
from core.store.ballots.closing import close_ballot
from core.store.voting import housekeeping
from core.store.voting.closing_pause import resume_voting
from core.store.voting.owner_commands import open_voting, set_voting_state
from core.voting import api
from core.voting import api as voting_store
from voting.app import make_app
from voting.turns import WriterQueues

TOKENS = ("cat", "dog", "ship", "salt", "moon")
SETTINGS = VotingSettings(task_size=3, tasks_per_voter=2, examples=False)
LATER = re.compile(r'<form id="again" method="(\w+)" action="([^"]*)"')
HIDDEN = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)">')


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: str

    @property
    def again(self):
        """What the page of an answer sends once its button is pressed: method, address and fields."""
        (form,) = LATER.findall(self.body)
        part = self.body[self.body.index('id="again"') :]
        fields = {unescape(name): unescape(value) for name, value in HIDDEN.findall(part)}
        if form[0] == "get":
            return "GET", f"{unescape(form[1])}?{urlencode(fields)}", None
        return "POST", unescape(form[1]), fields


class Page:
    """The voters' server without a network, and a voter's browser at it."""

    def __init__(self, store, project_id, code):
        self.store, self.project_id, self.code = store, project_id, code
        self.app, self.cookies, self.lock = make_app(store), {}, ExitStack()

    async def ask(self, method, path, fields=None, *, accept="text/html", cookies=None):
        given = self.cookies if cookies is None else cookies
        headers = [(b"accept", accept.encode()), (b"content-type", b"application/x-www-form-urlencoded")]
        if given:
            headers.append((b"cookie", "; ".join(f"{name}={value}" for name, value in given.items()).encode()))
        url, sent = urlsplit(path), []
        scope = {"type": "http", "method": method, "path": url.path, "query_string": url.query.encode()}
        scope |= {"scheme": "http", "root_path": "", "headers": headers, "client": ("192.0.2.7", 1)}

        async def receive():
            return {"type": "http.request", "body": urlencode(fields or {}).encode(), "more_body": False}

        async def send(message):
            sent.append(message)

        await self.app(scope, receive, send)
        pairs = [(name.decode(), value.decode()) for name, value in sent[0]["headers"]]
        given |= dict(value.split(";")[0].split("=", 1) for name, value in pairs if name == "set-cookie")
        return Answer(sent[0]["status"], dict(pairs), b"".join(part.get("body", b"") for part in sent[1:]).decode())

    def do(self, *asked, **options):
        return asyncio.run(self.ask(*asked, **options))

    def begin(self):
        """Begin, and return the fields that answer the first comparison."""
        entry = self.do("GET", f"/v/{self.code}")
        assert self.do("POST", f"/v/{self.code}/begin", self.named(entry)).status == 303
        return self.fields()

    def named(self, entry):
        return dict(HIDDEN.findall(entry.body)) | {"name": 'An"na & <b>'}

    def fields(self):
        page = self.do("GET", f"/v/{self.code}").body
        part = page[page.index('id="vote"') :]
        return dict(HIDDEN.findall(part[: part.index("</form>")])) | {"choice": "left"}

    def vote(self, fields, **options):
        return self.do("POST", f"/v/{self.code}/vote", fields, **options)

    def hold(self):
        """Be the other program that writes into the project."""
        self.lock.enter_context(self.store.write(self.project_id))

    def votes(self):
        with self.store.read() as conn:
            return conn.execute(sa.select(t.judgement.c.status)).scalars().all()


@pytest.fixture
def page(store, monkeypatch):
    monkeypatch.setattr(api, "WAIT_SECONDS", 0.02)
    project_id, code = make_voting(store, SETTINGS, tokens=TOKENS, appearances=4)
    page = Page(store, project_id, code)
    with page.lock:
        yield page


JSON = "application/json"


class TestAnotherProgramHoldsTheDatabase:
    def test_looks_find_a_thread_however_many_wait_to_write(self, page, monkeypatch):
        """Of 40 threads for all, the votes took 40."""
        monkeypatch.setattr(api, "WAIT_SECONDS", 60.0)
        together = partial(api.together, page.store)
        page.app.state.server.turns = WriterQueues(api.n_lines(page.store), together, seconds=60)
        fields = page.begin()
        page.hold()

        async def at_once():
            votes = [
                asyncio.create_task(page.ask("POST", f"/v/{page.code}/vote", fields, accept=JSON)) for _ in range(50)
            ]
            await asyncio.sleep(0)
            looks = [await page.ask("GET", f"/v/{page.code}", cookies=cookies) for cookies in ({}, dict(page.cookies))]
            waiting = [vote.done() for vote in votes]
            page.lock.close()
            return looks, waiting, await asyncio.gather(*votes)

        looks, waiting, votes = asyncio.run(at_once())
        assert [look.status for look in looks] == [200, 200]
        assert "I agree, begin" in looks[0].body
        assert 'id="vote"' in looks[1].body
        assert not any(waiting)
        assert {vote.status for vote in votes} == {200}
        assert page.votes() == ["counted"]

    @pytest.mark.parametrize("accept", [JSON, "text/html"])
    def test_a_vote_is_told_to_come_again_and_counts_once(self, page, accept):
        fields = page.begin()
        page.hold()
        for _ in range(2):
            refused = page.vote(fields, accept=accept)
            assert refused.status == 503
            assert int(refused.headers["retry-after"]) > 0
        page.lock.close()
        assert page.votes() == []
        for _ in range(2):
            assert page.vote(fields, accept=accept).status == (200 if accept == JSON else 303)
        assert page.votes() == ["counted"]

    def test_without_the_script_a_button_sends_the_same(self, page):
        fields = page.begin()
        page.hold()
        refused = page.vote(fields)
        assert "This isn’t saved yet." in refused.body
        assert re.findall('<script src="([^"]*)"', refused.body) == ["/static/again.js"]
        assert page.do("GET", "/static/again.js").status == 200
        assert page.do(*refused.again).again == refused.again == ("POST", f"/v/{page.code}/vote", fields)
        page.lock.close()
        assert page.do(*refused.again).status == 303
        assert page.votes() == ["counted"]

    def test_who_begins_comes_in_by_the_same_button(self, page):
        entry = page.do("GET", f"/v/{page.code}")
        page.hold()
        address = f"/v/{page.code}/begin?assignmentId=a%22b&x=1%262"
        refused = page.do("POST", address, page.named(entry))
        assert (refused.status, "<b>" in refused.body) == (503, False)
        method, again, sent = refused.again
        assert (method, sent) == ("POST", page.named(entry))
        assert parse_qsl(urlsplit(again).query) == parse_qsl(urlsplit(address).query)
        page.lock.close()
        assert page.do(*refused.again).status == 303
        with page.store.read() as conn:
            assert conn.execute(sa.select(t.voter.c.external_id)).scalars().all() == ['An"na & <b>']

    def test_who_must_be_given_something_first_asks_for_the_page_again(self, page):
        page.begin()
        with page.store.write() as conn:
            conn.execute(sa.update(t.deal).values(expires_at="2026-01-01"))
        page.hold()
        refused = page.do("GET", f"/v/{page.code}?x=%22%26")
        assert refused.status == 503
        assert refused.again == ("GET", f"/v/{page.code}?x=%22%26", None)
        page.lock.close()
        assert 'id="vote"' in page.do(*refused.again).body

    def test_the_page_does_not_give_a_ballot_up(self, page, monkeypatch):
        """Else it would stay open forever, though it has its votes."""

        def busy(*_args, **_kwargs):
            raise BusyError("locked")

        complete = housekeeping._CompletePage(1, page.project_id, 1, None, "b1", 1, SETTINGS)
        monkeypatch.setattr(housekeeping, "_complete", lambda *_: [complete])
        monkeypatch.setattr(housekeeping, "close_ballot", busy)
        given_up = set()
        assert "locked" in housekeeping.do_housekeeping(page.store, given_up)[0]
        assert given_up == set()


def one_by_one(_code, steps):
    return [api._outcome(step) for step in steps]


class TestTurns:
    @pytest.fixture
    def held(self):
        """A step that lasts until it is let go."""
        let_go, begun = threading.Event(), threading.Event()

        def step():
            begun.set()
            let_go.wait(60)
            return "done"

        yield step, begun, let_go
        let_go.set()

    def test_one_line_goes_one_by_one_and_takes_so_many(self, held):
        step, begun, let_go = held

        async def run():
            turns = WriterQueues(1, one_by_one, seconds=60, most_waiting=1)
            first = asyncio.create_task(turns.take("a", step))
            await asyncio.to_thread(begun.wait, 60)
            second = asyncio.create_task(turns.take("b", lambda: "second"))
            await asyncio.sleep(0)
            with pytest.raises(BusyError, match="Too many"):
                await turns.take("c", lambda: "third")
            assert not second.done()
            let_go.set()
            return [await first, await second, await turns.take("c", lambda: "third")]

        assert asyncio.run(run()) == ["done", "second", "third"]

    def test_who_waits_too_long_is_told_and_others_still_have_their_turn(self, held):
        step, begun, let_go = held

        async def run():
            turns = WriterQueues(1, one_by_one, seconds=0.01)
            first = asyncio.create_task(turns.take("a", step))
            await asyncio.to_thread(begun.wait, 60)
            with pytest.raises(BusyError, match="didn't come"):
                await turns.take("a", lambda: "late")
            let_go.set()
            return [await first, await turns.take("a", lambda: "next")]

        assert asyncio.run(run()) == ["done", "next"]

    def test_another_line_does_not_wait(self, held):
        step, begun, let_go = held
        other = next(code for code in map(str, range(1000)) if hash(code) % 2 != hash("a") % 2)

        async def run():
            turns = WriterQueues(2, one_by_one, seconds=60)
            first = asyncio.create_task(turns.take("a", step))
            await asyncio.to_thread(begun.wait, 60)
            done = [await turns.take(other, lambda: "other"), first.done()]
            let_go.set()
            return [*done, await first]

        assert asyncio.run(run()) == ["other", False, "done"]

    def test_a_step_that_fails_gives_its_turn_back(self):
        async def run():
            turns = WriterQueues(1, one_by_one, seconds=60)
            with pytest.raises(ZeroDivisionError):
                await turns.take("a", lambda: 1 / 0)
            return await turns.take("a", lambda: "next")

        assert asyncio.run(run()) == "next"

    def test_who_waits_at_one_link_has_the_turn_together_in_order(self, held):
        step, begun, let_go = held
        turns_had = []

        def noted(code, steps):
            done = one_by_one(code, steps)
            turns_had.append((code, done))
            return done

        async def run():
            turns = WriterQueues(1, noted, seconds=60)
            asked = [("a", step), ("b", lambda: 1), ("", lambda: 2), ("b", lambda: 1 / 0), ("", lambda: 3), ("a", int)]
            first = asyncio.create_task(turns.take(*asked[0]))
            await asyncio.to_thread(begun.wait, 60)
            others = [asyncio.create_task(turns.take(*of)) for of in asked[1:]]
            await asyncio.sleep(0)
            let_go.set()
            return await asyncio.gather(first, *others, return_exceptions=True)

        *done, _ = asyncio.run(run())
        assert [code for code, _ in turns_had] == ["a", "b", "", "", "a"]
        assert [outcome for _, outcomes in turns_had for outcome in outcomes if outcome not in done] == [0]
        assert done[:3] == ["done", 1, 2]
        assert isinstance(done[3], ZeroDivisionError)


class TestStepsTogether:
    """Votes that wait for the same turn are written to the disk at once."""

    @pytest.fixture
    def steps(self, page):
        """A vote of each of three voters, and how often something was committed since."""
        votes = []
        for name in ("Ann", "Ben", "Cleo"):
            visit = f"visit of {name}"
            entry = api.look(page.store, page.code, "", visit)
            seen = api.begin(page.store, page.code, visit, entry.form, api.who_of({}), name=name)
            asked = (page.store, page.code, seen.cookie, seen.form)
            votes.append(partial(api.vote, *asked, task=1, n=1, choice="left"))
        commits = []
        note = commits.append
        sa.event.listen(page.store.engine, "commit", note)
        yield votes, commits
        sa.event.remove(page.store.engine, "commit", note)

    def test_they_are_one_transaction(self, page, steps):
        votes, commits = steps
        seen = api.together(page.store, page.code, votes)
        assert len(commits) == 1
        assert [view.said for view in seen] == ["Saved."] * 3
        assert [(view.place.n, view.last) for view in seen] == [(2, (1, 1))] * 3
        assert page.votes() == ["counted"] * 3

    def test_one_that_fails_takes_no_other_with_it(self, page, steps):
        votes, _ = steps
        wrong = partial(votes[1].func, *votes[1].args, task=7, n=1, choice="left")
        first, failed, last = api.together(page.store, page.code, [votes[0], wrong, votes[2]])
        assert isinstance(failed, api.InputError)
        assert (first.said, last.said) == ("Saved.", "Saved.")
        assert page.votes() == ["counted"] * 2

    def test_the_same_vote_twice_is_one(self, page, steps):
        votes, _ = steps
        assert [view.said for view in api.together(page.store, page.code, [votes[0], votes[0]])] == ["Saved."] * 2
        assert page.votes() == ["counted"]

    def test_none_is_told_to_be_saved_where_the_disk_takes_none(self, page, steps, monkeypatch):
        votes, _ = steps

        def full(_conn):
            raise sa.exc.OperationalError("COMMIT", {}, sqlite3.OperationalError("database or disk is full"))

        sa.event.listen(page.store.engine, "commit", full)
        told = api.together(page.store, page.code, votes)
        sa.event.remove(page.store.engine, "commit", full)
        assert {type(outcome) for outcome in told} == {StoreError}
        assert page.votes() == []

    def test_all_come_again_where_another_program_holds_the_database(self, page, steps):
        votes, _ = steps
        page.hold()
        assert {type(outcome) for outcome in api.together(page.store, page.code, votes)} == {BusyError}


class TestABallotIsClosed:
    def test_a_vote_during_closing_comes_again_and_goes_in_where_the_closing_stops(self, page, monkeypatch):
        fields, seen = page.begin(), []

        def stops(*_args, **_kwargs):
            seen.append((page.vote(fields, accept=JSON), page.vote(fields)))
            raise StoreError("stopped")

        monkeypatch.setattr(closing, "score_ballot", stops)
        self.all_but(page)
        before = page.votes()
        with pytest.raises(StoreError, match="stopped"):
            close_ballot(page.store, page.project_id)
        ((by_script, by_form),) = seen
        assert (by_script.status, by_form.status) == (503, 503)
        assert "retry-after" in by_script.headers
        assert page.votes() == before
        assert page.do(*by_form.again).headers["location"] == f"/v/{page.code}"
        assert page.votes() == [*before, "counted"]

    def test_a_vote_that_comes_after_the_closing_is_told_that_it_is_not_saved(self, page):
        fields = page.begin()
        self.all_but(page)
        before = page.votes()
        close_ballot(page.store, page.project_id)
        assert '"query":"?unsaved=1"' in page.vote(fields, accept=JSON).body
        answer = page.vote(fields)
        assert answer.headers["location"] == f"/v/{page.code}?unsaved=1"
        closed = page.do("GET", answer.headers["location"]).body
        assert "The next round is being prepared" in closed
        assert "Your last answer wasn’t saved." in closed
        assert "wasn’t saved" not in page.do("GET", f"/v/{page.code}").body
        assert page.votes() == before

    def test_so_is_one_in_a_break_of_the_owners_and_it_is_asked_again_after_it(self, page):
        fields = page.begin()
        set_voting_state(page.store, page.project_id, "paused")
        answer = page.vote(fields)
        paused = page.do("GET", answer.headers["location"]).body
        assert "A short break" in paused
        assert "Your last answer wasn’t saved." in paused
        open_voting(page.store, page.project_id, SETTINGS)
        assert "Your last answer wasn’t saved." in page.do("GET", answer.headers["location"]).body
        assert page.fields() == fields
        assert page.votes() == []

    @pytest.mark.parametrize("step", ["undo", "more", "finish", "begin"])
    def test_other_steps_come_again_too(self, page, step):
        fields = page.named(page.do("GET", f"/v/{page.code}")) if step == "begin" else page.begin()
        if step == "undo":
            page.vote(fields)
        rest_for(page.store, page.project_id, pid=NOBODY)
        assert page.do("POST", f"/v/{page.code}/{step}", fields).status == 503
        resume_voting(page.store)
        assert page.do("POST", f"/v/{page.code}/{step}", fields).status == 303

    def all_but(self, page):
        """Let others give all votes but those that the page's voter holds."""
        open_voting(page.store, page.project_id, replace(SETTINGS, tasks_per_voter=50))
        other = Page(page.store, page.project_id, page.code)
        entry = other.do("GET", f"/v/{page.code}")
        other.do("POST", f"/v/{page.code}/begin", other.named(entry) | {"name": "Other"})
        while 'id="vote"' in other.do("GET", f"/v/{page.code}").body or self.more(other):
            other.vote(other.fields())

    def more(self, page):
        body = page.do("GET", f"/v/{page.code}").body
        if "/more" not in body:
            return False
        return page.do("POST", f"/v/{page.code}/more", dict(HIDDEN.findall(body))).status == 303


def test_what_is_no_step_of_a_voter_waits_for_no_writer(page, monkeypatch):
    monkeypatch.setattr(api, "WAIT_SECONDS", 0.02)
    fields = page.begin()
    forged = "0" * 64
    stranger = {"runoff_voter": f"{forged[:32]}.{forged}"}
    posts = [
        ("nowhere/more", fields, None, 400),
        (f"{page.code}/more", fields, stranger, 400),
        (f"{page.code}/finish", fields | {"form": forged}, None, 403),
        (f"{page.code}/vote", fields | {"form": forged}, None, 403),
        (f"{page.code}/begin", {"form": forged, "name": "Eve"}, None, 403),
        ("nowhere/begin", {"form": forged, "name": "Eve"}, None, 404),
    ]
    page.hold()
    for address, sent, cookies, status in posts:
        assert page.do("POST", f"/v/{address}", sent, cookies=cookies).status == status, address
    assert page.vote(fields).status == 503  # a step of the voter's own waits, and in vain


@pytest.mark.sqlite
class TestJournal:
    @pytest.fixture
    def voted(self, page):
        """Vote and take it back a few times, while a look that began before still reads; what `tidy` does beside."""
        page.store.engine.dispose()
        sa.event.listen(page.store.engine, "connect", lambda dbapi, _: dbapi.execute("PRAGMA wal_autocheckpoint=0"))
        page.begin()
        view = api.look(page.store, page.code, page.cookies["runoff_voter"])

        def vote():
            given = (page.store, page.code, view.cookie, view.form)
            with page.store.read() as conn:
                conn.execute(sa.select(t.project)).all()
                api.vote(*given, task=1, n=1, choice="left")
                api.undo(*given, task=1, n=1)
                api.tidy(page.store)
            return (page.store.folder / "runoff.sqlite-wal").stat().st_size

        return vote

    def test_it_stays_small_while_people_vote_and_read(self, page, voted, monkeypatch):
        monkeypatch.setattr(voting_store, "LARGE_JOURNAL", 300_000)
        assert max(voted() for _ in range(12)) > 600_000  # `tidy` alone doesn't do it
        sizes = []
        for _ in range(12):
            api.shorten(page.store)
            sizes.append(voted())
        assert max(sizes) < 600_000

    def test_a_look_that_goes_on_holds_nobody_up(self, page, voted, monkeypatch):
        monkeypatch.setattr(voting_store, "LARGE_JOURNAL", 0)
        monkeypatch.setattr(voting_store, "SHORT_WAIT_MS", 1)
        with page.store.read() as conn:
            conn.execute(sa.select(t.project)).all()
            size = voted()
            api.shorten(page.store)
            assert voted() > size
        asyncio.run(page.app.state.server._tidy())
        assert (page.store.folder / "runoff.sqlite-wal").stat().st_size == 0
