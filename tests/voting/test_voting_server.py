"""The voters' server over HTTP: what it lets in, what it answers, and that a confirmed vote is never lost."""

from __future__ import annotations

import ast
import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from json import dumps, loads
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import sqlalchemy as sa
import uvicorn
from test_template import contrast
from uvicorn.server import ServerState
from voting_server import ROOT, VotingServer, make_voting, serving

from bench.voters import Connection, HttpVoter, all_vote, hidden
from core.base import processes
from core.base.processes import network_address, refused
from core.errors import StoreError
from core.questions.comparison_page import Wording
from core.questions.voting_settings import VotingSettings
from core.store import schema as t
from core.store.voting.owner_commands import invite, open_voting, read_invitations
from core.voting import process
from tests.browser.server import environment_of
from voting import __main__ as serve
from voting import app as voting_app
from voting import pages
from voting.app import make_app
from voting.connection_limits import MOST_SENDERS, Limiter, limited_protocol, network_of

TOKENS = ("cat", "dog", "<b>bold</b>", "R&D", "ship", "שלום", "猫", "${x}", 'quo"te')
SETTINGS = VotingSettings(task_size=3, tasks_per_voter=20, examples=False)


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A store and the server on it, for tests that need none of their own."""
    with serving(tmp_path_factory.mktemp("voting") / "workspace") as both:
        yield both


@pytest.fixture
def served(running):
    """The store, a link's code, the running server, and the link's project; nobody has voted in it."""
    store, server = running
    project_id, code = make_voting(store, SETTINGS, tokens=TOKENS, appearances=4)
    return store, code, server, project_id


@pytest.fixture
def own(store):
    """The store, a link's code, and a server that nobody else uses."""
    _, code = make_voting(store, SETTINGS, tokens=TOKENS, appearances=4)
    server = VotingServer(store.folder)
    server.start()
    yield store, code, server
    server.kill()


def ask(server, *steps):
    """Several requests on one connection, each (method, path, fields) or a function of the answer before."""

    async def run():
        connection = Connection("127.0.0.1", server.port)
        answers = []
        for step in steps:
            step = step(answers[-1]) if callable(step) else step
            answers.append(await connection.ask(*step[:3], **(step[3] if len(step) > 3 else {})))
        connection.close()
        return answers

    return asyncio.run(run())


def statuses(app, *requests):
    """What the app itself, without a server, answers to requests one after the other: (method, path, cookie) each."""

    async def one(method, path, cookie):
        found = []

        async def receive():
            return {"type": "http.request", "body": b"form=x"}

        async def send(message):
            found.append(message)

        headers = [(b"content-type", b"application/x-www-form-urlencoded"), (b"cookie", cookie.encode())]
        scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": headers}
        await app(scope | {"client": ("203.0.113.7", 5000)}, receive, send)
        return found[0]["status"]

    async def run():
        return [await one(*request) for request in requests]

    return asyncio.run(run())


def begun(code, **fields):
    """The steps that lead to the first comparison."""
    return (
        ("GET", f"/v/{code}"),
        lambda page: ("POST", f"/v/{code}/begin", {"form": hidden(page.body, "form"), "name": "Anna"} | fields),
        ("GET", f"/v/{code}"),
    )


def answer(code, **fields):
    """The step that answers the comparison of the page before."""

    def step(page):
        given = {"form": hidden(page.body, "form", "vote"), "place": hidden(page.body, "place"), "choice": "left"}
        return "POST", f"/v/{code}/vote", given | fields

    return step


def answered(app, method, path, cookie, body=b""):
    """The status of an answer to a request that goes to the application without a server between."""
    scope = {"type": "http", "method": method, "path": path, "query_string": b"", "scheme": "http", "root_path": ""}
    scope |= {"headers": [(b"cookie", f"runoff_voter={cookie}".encode())], "client": ("192.0.2.7", 1)}
    sent = []

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent[0]["status"]


def judgements(store, project_id=None):
    """The question and status of every judgement, of one project or of all."""
    query = sa.select(t.judgement.c.question_id, t.judgement.c.status)
    if project_id is not None:
        query = query.join(t.question, t.question.c.id == t.judgement.c.question_id)
        query = query.join(t.ballot, t.ballot.c.id == t.question.c.ballot_id).where(t.ballot.c.project_id == project_id)
    with store.read() as conn:
        return conn.execute(query).all()


def test_the_server_imports_nothing_of_the_library_but_its_own_door():
    found = set()
    for file in (ROOT / "voting").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                found |= {node.module} if node.module != "core" else {f"core.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
    assert {name for name in found if name.split(".")[0] in ("core", "ui", "pages", "streamlit")} == {
        "core.voting",
        "core.voting.api",
    }
    assert {name.split(".")[0] for name in found} <= {
        *sys.stdlib_module_names,
        "core",
        "starlette",
        "uvicorn",
        "h11",
        "click",
    }


class TestAnswers:
    def test_from_the_link_to_the_code(self, served):
        store, code, server, project_id = served
        settings = replace(SETTINGS, completion="shared", code="C<1>", return_url="https://example.org/?cc=C1&x='")
        with pytest.raises(Exception, match="return address"):
            open_voting(store, project_id, settings)
        open_voting(store, project_id, replace(settings, return_url="https://example.org/?cc=C1&x=1"))
        vote = answer(code)
        look = ("GET", f"/v/{code}")
        end = lambda page: ("POST", f"/v/{code}/finish", {"form": hidden(page.body, "form", "finish")})  # noqa: E731
        answers = ask(server, *begun(code), vote, look, vote, look, vote, look, end, look)
        assert [answer.status for answer in answers] == [200, 303, 200] + [303, 200] * 4
        assert "C&lt;1&gt;" in answers[-1].body
        assert 'href="https://example.org/?cc=C1&amp;x=1"' in answers[-1].body
        assert [status for _, status in judgements(store, project_id)] == ["counted"] * 3
        led_to = {answer.headers["location"] for answer in answers if answer.status == 303}
        assert led_to == {f"/v/{code}", f"/v/{code}?c=1"}

    def test_every_answer_is_safe_and_kept_by_nobody(self, served):
        _, code, server, _ = served
        answers = ask(
            server, *begun(code), ("GET", "/nothing"), ("GET", "/"), ("POST", f"/v/{code}/vote", {}),
            ("PUT", f"/v/{code}"), ("GET", "/v/wrong"), ("GET", "/static/"), ("GET", "/static/..%2fapp.py"),
            ("GET", "/static/vote.js"),
        )  # fmt: skip
        assert [answer.status for answer in answers] == [200, 303, 200, 404, 404, 400, 404, 404, 404, 404, 200]
        for answer in answers:
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert "unsafe" not in answer.headers["content-security-policy"]
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert "server" not in answer.headers
        assert all(answer.headers["cache-control"] == "no-store" for answer in answers[:-1])
        # Whatever isn't there looks the same, so that nothing can be found out by trying.
        assert len({answers[at].body for at in (3, 4, 6, 7, 8, 9)}) == 1

    def test_cookies_are_for_this_link_and_no_script(self, served):
        _, code, server, _ = served
        connection_cookies = [answer.headers.get("set-cookie", "") for answer in ask(server, *begun(code))]
        for cookie in filter(None, connection_cookies):
            assert "HttpOnly" in cookie
            assert "SameSite=lax" in cookie
            assert f"Path=/v/{code}" in cookie
            assert "Secure" not in cookie
        assert len(list(filter(None, connection_cookies))) == 2

    def test_behind_a_proxy_with_tls_cookies_are_for_tls_only(self, store):
        _, code = make_voting(store, SETTINGS, tokens=TOKENS, appearances=4)
        server = VotingServer(store.folder)
        server.start("--behind-proxy")
        try:
            tls = {"X_Forwarded_Proto": "https", "X_Forwarded_For": "203.0.113.9"}
            (answer,) = ask(server, ("GET", f"/v/{code}", None, tls))
            assert "Secure" in answer.headers["set-cookie"]
            assert "strict-transport-security" in answer.headers
        finally:
            server.kill()

    def test_forms_of_other_pages_are_refused(self, served):
        store, code, server, project_id = served
        forged = {"form": "0" * 64, "name": "Eve"}
        answers = ask(server, ("POST", f"/v/{code}/begin", forged), *begun(code), answer(code, form="0" * 64))
        assert [answer.status for answer in answers] == [403, 200, 303, 200, 403]
        assert judgements(store, project_id) == []

    @pytest.mark.parametrize(
        "fields",
        [{"place": "1.1", "choice": "both"}, {"place": "1.99", "choice": "left"}, {"place": "x", "choice": "left"},
         {"place": "\uff11.1", "choice": "left"}, {"choice": "left"}, {"place": "1.1"},
         {"place": "-1.1", "choice": "left"}],
    )  # fmt: skip
    def test_answers_that_fit_nothing_are_refused(self, served, fields):
        store, code, server, project_id = served
        step = lambda page: ("POST", f"/v/{code}/vote", fields | {"form": hidden(page.body, "form", "vote")})  # noqa: E731
        assert ask(server, *begun(code), step)[-1].status == 400
        assert judgements(store, project_id) == []

    def test_large_requests_are_refused(self, own):
        store, code, server = own
        large = lambda page: ("POST", f"/v/{code}/begin", {"form": "x" * 20_000})  # noqa: E731
        assert ask(server, ("GET", f"/v/{code}"), large)[-1].status == 413
        assert judgements(store) == []

    def test_many_requests_within_a_moment_are_refused(self, store, monkeypatch):
        monkeypatch.setattr(voting_app, "Limiter", partial(Limiter, clock=lambda: 0.0))
        _, code = make_voting(store, SETTINGS, tokens=TOKENS, appearances=4)
        app = make_app(store)
        assert statuses(app, *[("GET", "/v/guess", "")] * 40) == [404] * 30 + [429] * 10
        of_a_voter = ("POST", f"/v/{code}/undo", f"runoff_voter={'1' * 32}.{'a' * 64}")
        found = statuses(app, *[of_a_voter] * 70, (*of_a_voter[:2], f"runoff_voter={'2' * 32}.{'b' * 64}"))
        assert 429 not in (*found[:60], found[-1])
        assert found[60:70] == [429] * 10

    def test_a_platforms_parameters_leave_the_address(self, served):
        store, code, server, project_id = served
        query = "?PROLIFIC_PID=5f0c&STUDY_ID=s&SESSION_ID=x"
        begin = lambda page: ("POST", f"/v/{code}/begin{query}", {"form": hidden(page.body, "form")})  # noqa: E731
        answers = ask(server, ("GET", f"/v/{code}{query}"), begin, ("GET", f"/v/{code}{query}"), ("GET", f"/v/{code}"))
        assert "PROLIFIC_PID=5f0c&amp;STUDY_ID=s" in answers[0].body
        assert 'name="name"' not in answers[0].body
        assert [answer.status for answer in answers] == [200, 303, 303, 200]
        assert answers[2].headers["location"] == f"/v/{code}?c=1"
        with store.read() as conn:
            query = sa.select(t.voter.c.platform, t.voter.c.external_id).where(t.voter.c.project_id == project_id)
            assert conn.execute(query).all() == [("prolific", "5f0c")]
        invite(store, project_id, ["Ben"])
        ((_, token),) = read_invitations(store, project_id)
        assert [a.status for a in ask(server, ("GET", f"/v/{code}?i={token}"), ("GET", f"/v/{code}?i=no"))] == [
            200,
            400,
        ]

    def test_what_is_no_name_is_told_beside_its_box(self, served):
        _, code, server, _ = served
        found = ask(server, *begun(code, name=" ")[:2])[-1]
        assert found.status == 400
        assert "Please type a name" in found.body
        assert 'aria-invalid="true"' in found.body

    def test_a_taken_name_is_answered_as_any_other(self, served):
        """Whoever types names learns nothing about who votes; every browser has a place of its own."""
        _, code, server, _ = served
        first = ask(server, *begun(code), answer(code), ("GET", f"/v/{code}"))
        again, new = ask(server, *begun(code)), ask(server, *begun(code, name="Zoe"))
        assert [a.status for a in first[:3]] == [a.status for a in again] == [a.status for a in new]
        assert [a.headers.get("location") for a in again] == [a.headers.get("location") for a in new]
        assert hidden(first[-1].body, "place") == "1.2"
        assert hidden(again[-1].body, "place") == hidden(new[-1].body, "place") == "1.1"

    def test_without_cookies_the_page_says_so(self, served):
        _, code, server, _ = served
        (answer,) = ask(server, ("GET", f"/v/{code}?c=1"))
        assert answer.status == 400
        assert "Cookies are needed" in answer.body


class Tags(HTMLParser):
    """The names of all tags, and what stands between them."""

    def __init__(self, page):
        super().__init__()
        self.names, self.texts, self.attributes = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data):
        self.texts.append(data)


def test_tokens_are_text_whatever_they_hold(served):
    _, code, server, _ = served
    seen = set()

    async def walk():
        connection = Connection("127.0.0.1", server.port)
        page = await HttpVoter("127.0.0.1", server.port, code, "Anna").begin(connection)
        for _ in range(12):
            tags = Tags(page)
            assert "b" not in tags.names
            assert not [name for name in tags.attributes if name.startswith("on")]
            assert tags.names.count("script") == 4
            seen.update(tags.texts)
            fields = {"form": hidden(page, "form", "vote"), "place": hidden(page, "place"), "choice": "tie"}
            await connection.ask("POST", f"/v/{code}/vote", fields)
            page = (await connection.ask("GET", f"/v/{code}")).body
            if "/more" in page:
                await connection.ask("POST", f"/v/{code}/more", {"form": hidden(page, "form", "more")})
                page = (await connection.ask("GET", f"/v/{code}")).body
        connection.close()

    asyncio.run(walk())
    assert set(TOKENS) <= seen


def test_a_vote_in_italian_from_the_link_to_the_end(running):
    store, server = running
    settings, italian = replace(SETTINGS, task_size=1, ask=("gender",)), Wording(language="it")
    project_id, code = make_voting(store, settings, tokens=TOKENS, appearances=4, wording=italian)
    first, nameless, begin, question, saved, forged, between, unknown = ask(
        server,
        ("GET", f"/v/{code}", None, {"Accept_Language": "en"}),  # the link's language, not the browser's
        lambda page: ("POST", f"/v/{code}/begin", {"form": hidden(page.body, "form"), "name": " "}),
        lambda page: (
            "POST", f"/v/{code}/begin", {"form": hidden(page.body, "form"), "name": "Anna", "gender": "woman"},
        ),
        ("GET", f"/v/{code}"),
        lambda page: (*answer(code)(page), {"Accept": "application/json"}),
        ("POST", f"/v/{code}/undo", {"form": "forged", "place": "1.1"}, {"Accept_Language": "en"}),
        ("GET", f"/v/{code}"),
        ("GET", "/v/nowhere", None, {"Accept_Language": "it-IT,it;q=0.9,en;q=0.5"}),
    )  # fmt: skip
    assert '<html lang="it">' in first.body
    assert "Quali due parole sono più legate tra loro?" in first.body
    assert "Vedrai coppie di parole e dirai" in first.body
    assert '<option value="woman">donna</option>' in first.body
    assert (nameless.status, begin.status) == (400, 303)
    assert "Scrivi un nome di non più di 80 lettere." in nameless.body
    assert '<label for="progress" id="count">1 di 1</label>' in question.body
    assert 'name="choice" value="left"' in question.body
    assert loads(saved.body) == {"kind": "page", "query": ""}
    assert forged.status == 403
    assert "Questa risposta viene da una pagina che non è più valida." in forged.body
    assert "Hai risposto a tutto" in between.body
    assert "Qui non c’è nulla" in unknown.body
    assert [status for _, status in judgements(store, project_id)] == ["counted"]
    with store.read() as conn:
        told = sa.select(t.voter_trait.c.trait, t.voter_trait.c.value)
        told = told.join(t.voting, t.voting.c.id == t.voter_trait.c.voting_id)
        told = told.join(t.ballot, t.ballot.c.id == t.voting.c.ballot_id)
        assert conn.execute(told.where(t.ballot.c.project_id == project_id)).all() == [("gender", "woman")]


def test_wording_of_the_owner_is_text(store):
    view = pages.VoterView("entry", settings=replace(SETTINGS, consent="<i>x</i>"), wording={"question": "<u>q</u>"})
    page = pages.entry("code", view, {"PROLIFIC_PID": '"><script>'}, "<s>problem</s>")
    tags = Tags(page)
    assert not {"i", "u", "s"} & set(tags.names)
    assert tags.names.count("script") == 2
    assert {"<i>x</i>", "<u>q</u>", "<s>problem</s>"} <= set(tags.texts)


class TestLimiter:
    def test_a_bucket_fills_with_time(self):
        moment = [0.0]
        limiter = Limiter(rate=2, burst=4, clock=lambda: moment[0])
        assert [limiter.allows("a") for _ in range(5)] == [True] * 4 + [False]
        moment[0] = 1.0
        assert [limiter.allows("a") for _ in range(3)] == [True, True, False]
        assert limiter.allows("b")

    def test_many_senders_take_no_more_memory(self):
        limiter = Limiter(rate=1, burst=5, clock=lambda: 0.0)
        for number in range(MOST_SENDERS + 100):
            limiter.allows(str(number))
        assert len(limiter._left) <= MOST_SENDERS + 1

    def test_whatever_comes_as_a_cookie_is_not_what_is_counted_by(self, store):
        """Else somebody could fill the memory with cookies as long as a head may be."""
        _, code = make_voting(store, SETTINGS, tokens=TOKENS, appearances=4)
        app = make_app(store)
        for cookie in ("x" * 60_000, "1.", "1." + "g" * 64, "²." + "a" * 64):
            assert answered(app, "GET", f"/v/{code}", cookie) == 200
            assert answered(app, "POST", f"/v/{code}/vote", cookie, b"place=1.1") == 400
        server = app.state.server
        assert max(map(len, [*server.steps._left, *server.visits._left])) < 100

    @pytest.mark.parametrize(
        ("host", "whom"),
        [("192.0.2.7", "192.0.2.7"), ("2001:db8::1", "2001:db8::/64"), ("2001:db8::ffff:1", "2001:db8::/64"),
         ("fe80::1%eth0", "fe80::/64"), ("testclient", "")],
    )  # fmt: skip
    def test_addresses_of_one_network_are_one_sender(self, host, whom):
        assert network_of(host) == whom


class Clock:
    """A loop of which only the clock runs, and that by hand."""

    def __init__(self):
        self.moment, self.put_off = 0.0, []

    def call_later(self, seconds, step):
        handle = Mock(**{"cancel.side_effect": lambda: self.put_off.remove(entry) if entry in self.put_off else None})
        entry = (self.moment + seconds, step)
        self.put_off.append(entry)
        return handle

    def create_task(self, step, **_):
        step.close()  # answers are given by hand
        return Mock()

    def pass_by(self, seconds):
        """Let so much time pass, and do all that falls due."""
        end = self.moment + seconds
        while due := [entry for entry in self.put_off if entry[0] <= end]:
            entry = min(due, key=lambda entry: entry[0])
            self.put_off.remove(entry)
            self.moment = entry[0]
            entry[1]()
        self.moment = end


class TestPatience:
    """A connection of its own for each case, patient for seven seconds; the time is moved by hand."""

    WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    BEGUN = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na"

    @pytest.fixture
    def made(self):
        def make(host="192.0.2.7"):
            clock = Clock()
            transport = Mock(**{"get_extra_info.side_effect": {"peername": (host, 1)}.get})
            transport.is_closing.side_effect = lambda: transport.close.called or transport.abort.called
            transport.get_write_buffer_size.return_value = 0
            connection = self.kind(self.config, ServerState(), {}, clock)
            connection.connection_made(transport)
            return connection, transport, clock

        self.config = uvicorn.Config(lambda *_: None, log_level="error", timeout_keep_alive=5, ws="none")
        self.config.load()
        self.kind = limited_protocol(seconds=7, most_of_one=2)
        return make

    def answer(self, connection):
        """Let the application answer what is asked."""

        async def send():
            cycle = connection.cycle
            await cycle.send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
            await cycle.send({"type": "http.response.body", "body": b""})

        asyncio.run(send())

    @pytest.mark.parametrize(
        "sent",
        [
            b"", b"G", b"GET / HTTP/1.1\r\nHost:", BEGUN, BEGUN.replace(b"Host", b"Expect: 100-continue\r\nHost"),
            BEGUN.replace(b"Content-Length: 9", b"Transfer-Encoding: chunked")[:-1] + b"1\r\na\r\n",
            BEGUN.replace(b"Host", b"Connection: Upgrade\r\nUpgrade: websocket\r\nHost"),
        ],
        ids=["nothing", "a byte", "a head", "a body", "expect", "chunks", "upgrade"],
    )  # fmt: skip
    @pytest.mark.parametrize("before", ["nothing", "a request", "a request that is answered", "one in the same piece"])
    def test_a_request_that_never_ends_is_given_up(self, made, sent, before):
        """Whether it is the first of a connection, comes after an answer, or came while the one before was made."""
        connection, transport, clock = made()
        pieces = {"nothing": [sent], "one in the same piece": [self.WHOLE + sent]}.get(before, [self.WHOLE, sent])
        for piece in filter(None, pieces):
            connection.data_received(piece)
            if before == "a request that is answered" and piece == self.WHOLE:
                self.answer(connection)
        if before in ("a request", "one in the same piece"):
            clock.pass_by(100)
            assert not transport.is_closing()  # the answer to the first one is being made
            self.answer(connection)
        clock.pass_by(6 if sent or before == "nothing" else 4)  # else it is idle, which has a time of its own
        assert not transport.is_closing()
        clock.pass_by(1)
        assert transport.is_closing()

    @pytest.mark.parametrize(
        ("start", "piece"),
        [(WHOLE, b"P"), (WHOLE, BEGUN[:-1]), (BEGUN[:-1], b""), (b"POST / HTTP/1.1\r\nHost: x", b"\r\nX-More: x")],
    )
    def test_a_request_that_comes_by_the_byte_is_given_up(self, made, start, piece):
        connection, transport, clock = made()
        connection.data_received(start + piece)
        if start == self.WHOLE:
            self.answer(connection)
        for _ in range(6):
            clock.pass_by(1)
            connection.data_received(b"x")
        assert not transport.is_closing()
        clock.pass_by(1)
        transport.abort.assert_called_once()

    def test_a_request_that_is_being_answered_is_waited_for(self, made):
        connection, transport, clock = made()
        connection.data_received(self.WHOLE)
        clock.pass_by(100)
        assert not transport.is_closing()
        connection.cycle.response_started = True  # but nobody takes the answer
        clock.pass_by(7)
        transport.abort.assert_called_once()

    @pytest.mark.parametrize("head", [WHOLE, WHOLE.replace(b"Host", b"Connection: close\r\nHost")])
    def test_an_answer_that_nobody_takes_is_given_up(self, made, head):
        """A transport that is closed waits for what it couldn't send yet, for as long as that takes."""
        connection, transport, clock = made()
        connection.data_received(head)
        transport.get_write_buffer_size.return_value = 9000
        self.answer(connection)
        clock.pass_by(7)
        transport.abort.assert_called_once()

    def test_an_answer_behind_one_that_nobody_takes_is_given_up(self, made):
        connection, transport, clock = made()
        connection.data_received(self.WHOLE * 2)
        self.answer(connection)
        connection.pause_writing()
        clock.pass_by(7)
        transport.abort.assert_called_once()

    def test_what_comes_of_a_request_after_its_answer_is_given_up(self, made):
        """Many of a sender's are refused before their body is read."""
        connection, transport, clock = made()
        connection.data_received(self.BEGUN)
        self.answer(connection)
        for _ in range(6):
            clock.pass_by(1)
            connection.data_received(b"a")
        assert not transport.is_closing()
        clock.pass_by(1)
        transport.abort.assert_called_once()

    def test_a_connection_is_kept_between_requests_and_each_has_its_own_time(self, made):
        connection, transport, clock = made()
        for _ in range(5):
            connection.data_received(self.BEGUN)
            clock.pass_by(6)
            connection.data_received(b"a" * 8)
            clock.pass_by(30)
            self.answer(connection)
            clock.pass_by(4)
        assert not transport.is_closing()
        connection.data_received(b"G")
        clock.pass_by(7)
        transport.abort.assert_called_once()
        connection.connection_lost(None)
        assert clock.put_off == []

    def test_one_sender_holds_so_many_connections_and_others_theirs(self, made):
        (first, *_), *_ = kept = [made(), made()]
        assert [transport.abort.called for _, transport, _ in kept] == [False, False]
        more, transport, _ = made()
        transport.abort.assert_called_once()
        assert not made(host="192.0.2.8")[1].abort.called
        assert not any(made(host="127.0.0.1")[1].abort.called for _ in range(5))  # a proxy's
        more.connection_lost(None)
        first.connection_lost(None)
        assert not made()[1].abort.called

    def test_a_voter_who_goes_away_in_mid_request_is_no_fault(self, own):
        _, code, server = own
        with socket.create_connection(("127.0.0.1", server.port)) as gone:
            gone.sendall(f"POST /v/{code}/begin HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na".encode())
        assert ask(server, ("GET", f"/v/{code}"))[0].status == 200
        server.kill()
        assert "Traceback" not in server.log.read_text()


def test_twelve_voters_at_once_lose_and_double_nothing(store):
    """78 items at M = 2 are 78 comparisons; 12 voters give 6 votes each of the 78 wanted."""
    tokens = tuple(f"word{n}" for n in range(13))
    _, code = make_voting(store, SETTINGS, tokens=tokens, appearances=2)
    server = VotingServer(store.folder)
    server.start()
    try:
        voters = [HttpVoter("127.0.0.1", server.port, code, f"Voter {n}") for n in range(12)]
        asyncio.run(all_vote(voters, 6))
    finally:
        server.kill()
    assert [len(voter.confirmed) for voter in voters] == [6] * 12
    with store.read() as conn:
        counts = conn.execute(sa.select(t.question.c.n_votes, t.question.c.n_dealt)).all()
        by_voter = conn.execute(
            sa.select(sa.func.count())
            .select_from(t.judgement)
            .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
            .group_by(t.assignment.c.voter_id)
        ).all()
    assert sorted(row.n_votes for row in counts) == [0] * 6 + [1] * 72
    assert sorted(row.n_dealt for row in counts) == [0] * 6 + [1] * 72  # nobody keeps what others could answer
    assert by_voter == [(6,)] * 12
    assert {status for _, status in judgements(store)} == {"counted"}


@pytest.mark.release
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_killed_ten_times_in_mid_vote_at_most_the_unconfirmed_vote_is_lost(store):
    tokens = tuple(f"word{n}" for n in range(13))
    _, code = make_voting(store, replace(SETTINGS, votes_per_comparison=3), tokens=tokens, appearances=2)
    server = VotingServer(store.folder)
    confirmed = 0
    for number in range(10):
        server.start()
        voter = HttpVoter("127.0.0.1", server.port, code, f"Voter {number}")
        begun_voting = threading.Event()

        def run(voter=voter, begun_voting=begun_voting):
            async def vote():
                task = asyncio.create_task(voter.vote(20))
                while not task.done():
                    if voter.confirmed:
                        begun_voting.set()
                    await asyncio.sleep(0.001)
                return task.exception()

            return asyncio.run(vote())

        thread = threading.Thread(target=run)
        thread.start()
        assert begun_voting.wait(60)
        time.sleep(0.003 * number)
        server.kill()
        thread.join(30)
        confirmed += len(voter.confirmed)
        with store.read() as conn:
            kept = conn.execute(
                sa.select(sa.func.count())
                .select_from(t.judgement)
                .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
                .join(t.voter, t.voter.c.id == t.assignment.c.voter_id)
                .where(t.voter.c.external_id == voter.name, t.judgement.c.status == "counted")
            ).scalar_one()
            if conn.dialect.name == "sqlite":
                assert conn.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
        assert kept - len(voter.confirmed) in (0, 1)
    assert confirmed >= 10
    with store.read() as conn:
        n_votes = conn.execute(sa.select(sa.func.sum(t.question.c.n_votes))).scalar_one()
    assert n_votes == len(judgements(store))


class TestProcess:
    @pytest.mark.release
    def test_started_and_stopped_by_the_owner(self, store):
        port = VotingServer(store.folder).port
        assert process.running_server(store) is None
        running = process.start_server(store, port=port)
        try:
            assert running.is_local
            assert process.start_server(store, port=port) == running
            assert process.running_server(store) == running
            command = [sys.executable, "-m", "voting", "--port", str(port)]
            again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
            assert again.returncode == 1
            assert f"can't listen on 127.0.0.1, port {port}" in again.stderr
        finally:
            process.stop_servers(store)
        assert process.running_server(store) is None
        process.stop_servers(store)

    @pytest.mark.release
    def test_it_ends_with_the_process_that_started_it_however_that_ends(self, store):
        port = VotingServer(store.folder).port
        code = (
            "import os, signal; from core.store import open_store; from core.voting.process import start_server; "
            f"print(start_server(open_store(), port={port}).ends_with_app, flush=True); os.kill(os.getpid(), 9)"
        )
        told = {**os.environ, **environment_of(store.folder)}
        ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=told, capture_output=True, text=True)
        assert (ended.stdout.strip(), ended.returncode) == ("True", -signal.SIGKILL)
        while list(store.folder.glob("voting.json*")):
            time.sleep(0.05)  # what ends writes off its file
        assert refused("127.0.0.1", port) is None

    def test_the_end_of_the_input_is_the_end_of_the_server(self, monkeypatch):
        reads = iter([b"", b""])
        monkeypatch.setattr(serve.os, "read", lambda *_: next(reads))
        server = SimpleNamespace(should_exit=False)
        serve._end_with_input(server)
        assert server.should_exit

    @pytest.mark.release
    def test_ctrl_c_ends_it_in_order_and_without_a_word(self, store):
        server = VotingServer(store.folder)
        server.start()
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(60) == 0
        assert "Abort" not in server.log.read_text()

    @pytest.mark.release
    def test_it_moves_to_another_address_by_the_same_port(self, store):
        port = VotingServer(store.folder).port
        running = process.start_server(store, port=port)
        try:
            moved = process.move_server(store, running, "127.0.0.2")
            assert (moved.host, moved.port) == ("127.0.0.2", port)
            assert process.running_servers(store) == [moved]
            assert process.stop_started() == 1
            assert process.running_servers(store) == []
        finally:
            process.stop_servers(store)

    @pytest.mark.release
    def test_where_the_usual_port_is_taken_the_next_is_used(self, store, monkeypatch):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            assert refused("127.0.0.1", port) == "Address already in use"
            monkeypatch.setattr(process, "PORT", port)
            running = process.start_server(store)
            try:
                assert running.port > port
                assert str(running.port) in running.url
            finally:
                process.stop_servers(store)

    @pytest.mark.release
    def test_all_servers_of_a_workspace_are_known_and_stopped(self, store):
        servers = [VotingServer(store.folder), VotingServer(store.folder)]
        for server in servers:
            server.start()
        try:
            ports = sorted(server.port for server in servers)
            assert [running.port for running in process.running_servers(store)] == ports
            process.beat(store)  # of this process, which serves nothing
            files = sorted(store.folder.glob("voting.json*"))
            assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]
            reaped = [threading.Thread(target=server.process.wait) for server in servers]  # as `init` does
            for thread in reaped:
                thread.start()
            process.stop_servers(store)
            for thread in reaped:
                thread.join()
        finally:
            for server in servers:
                server.kill()
        assert process.running_servers(store) == []
        assert list(store.folder.glob("voting.json*")) == []

    @pytest.mark.skipif(sys.platform == "win32", reason="processes are taken to live there")
    def test_servers_that_ended_without_a_word_are_forgotten(self, store):
        old = {"pid": 999999999, "host": "127.0.0.1", "port": 1, "key": "x"}
        for name, pid in (("voting.json", 999999999), ("voting.json.dead", 999999999), ("voting.json.lives", 1)):
            (store.folder / name).write_text(dumps(old | {"pid": pid}))
        running = process.announce(store, "127.0.0.1", 8600)
        assert sorted(path.name for path in store.folder.glob("voting*")) == [
            f"voting.json.{running.key}", "voting.json.lives",
        ]  # fmt: skip
        again = process.announce(store, "127.0.0.1", 8601)  # a process is one server
        assert again in process.running_servers(store)
        assert running not in process.running_servers(store)
        process.leave(store)
        assert [one.pid for one in process.running_servers(store)] == [1]

    def test_one_of_another_user_is_told_and_the_others_are_ended(self, store, monkeypatch):
        told = []

        def kill(pid, sign):
            if pid == 1 and sign:
                raise PermissionError
            told.append((pid, sign))

        for pid in (1, 2):
            one = {"pid": pid, "host": "127.0.0.1", "port": pid, "key": "x"}
            (store.folder / f"voting.json.{pid}").write_text(dumps(one))
        monkeypatch.setattr(process, "is_alive", lambda pid: (pid, signal.SIGTERM) not in told)
        monkeypatch.setattr(process.os, "kill", kill)
        with pytest.raises(StoreError, match="Another user started the voting page"):
            process.stop_servers(store)
        assert told == [(2, signal.SIGTERM)]
        assert [one.pid for one in process.running_servers(store)] == [1]

    def test_one_of_an_earlier_runoff_is_known_too(self, store):
        (store.folder / "voting.json").write_text(dumps({"pid": 1, "host": "::1", "port": 8600, "key": "x"}))
        assert process.running_server(store).port == 8600

    @pytest.mark.release
    def test_a_server_that_does_not_come_up_is_told_with_its_reason(self, store):
        with pytest.raises(StoreError, match=r"can.t listen on 203\.0\.113\.1"):
            process.start_server(store, host="203.0.113.1", port=8600)

    def test_a_dead_server_is_none(self, store):
        file = store.folder / "voting.json"
        for text in ("", "[]", "{}", '{"pid": 999999999, "host": "127.0.0.1", "port": 1, "key": "x"}'):
            file.write_text(text)
            assert process.running_server(store) is None


@pytest.mark.parametrize(
    ("found", "shown"), [("192.168.1.5", "192.168.1.5"), ("127.0.0.1", None), ("0.0.0.0", None), (None, None)]
)
def test_the_address_in_the_network_is_that_of_the_way_out(monkeypatch, found, shown):
    class Probe:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def connect(self, address):
            if found is None:
                raise OSError("Network is unreachable")

        def getsockname(self):
            return found, 1

    monkeypatch.setattr(processes.socket, "socket", lambda *_: Probe())
    assert network_address() == shown


def test_no_script_or_style_stands_in_a_page():
    for template in (ROOT / "voting" / "templates").iterdir():
        assert re.findall(r"<script(?! src=)|<style| style=| on\w+=", template.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("text", "ground"),
    [("#1b1d22", "#f5f6f8"), ("#9b1c1c", "#f5f6f8"), ("#ffffff", "#1a56c4"),
     ("#eceef2", "#16191e"), ("#ff9d9d", "#16191e"), ("#0d1b33", "#8ab4ff")],
)  # fmt: skip
def test_contrast(text, ground):
    """WCAG 2.2, 1.4.3: at least 4.5 for text, in both schemes."""
    style = (ROOT / "voting" / "static" / "vote.css").read_text(encoding="utf-8")
    assert text in style
    assert ground in style
    assert contrast(text, ground) >= 4.5
