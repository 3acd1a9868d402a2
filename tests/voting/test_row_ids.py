"""No row's id leaves the voters' server: not in a page, a form, an answer to a script, a cookie or an address."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from urllib.parse import urlencode

import pytest
import sqlalchemy as sa
from campaigns import PLAN, make_project
from rounds_of_people import SMALL
from test_voting import Voter

from bench.voters import hidden
from core.questions.comparison_page import Example
from core.questions.voting_settings import VotingSettings
from core.store import schema as t
from core.store.ballots.drawing import draw_next_ballot, draw_round
from core.store.voting.owner_commands import invite, open_voting, read_invitations, set_voting_state
from core.voting import api
from tests.rounds_of_people import SCHEMES, open_round_voting
from voting.app import make_app

pytestmark = pytest.mark.sqlite  # which lets all ids be changed

FAR = 7_123_456_000_000
FAR_ID = re.compile(r"7123456\d{6}")
SETTINGS = VotingSettings(task_size=2, tasks_per_voter=2, completion="own", ask=("age",))
EXAMPLE = Example(("ship", "harbour"), ("ship", "dentist"), "left")


def move_far(store) -> None:
    """Give every row an id that nothing else looks like; the rows to come get the next ones."""
    with store.without_keys() as free, free.write() as conn:
        for table in t.metadata.sorted_tables:
            ids = [c.name for c in table.c if isinstance(c.type, sa.Integer) and (c.name == "id" or c.foreign_keys)]
            if ids:
                conn.execute(sa.update(table).values({name: table.c[name] + FAR for name in ids}))


class Browser:
    """Asks the application itself, keeps cookies, and remembers all that it was told."""

    def __init__(self, app, code: str) -> None:
        self.app, self.code = app, code
        self.cookies: dict[str, str] = {}
        self.told: list[str] = []

    def ask(self, step: str = "", fields: dict[str, str] | None = None, query: str = "", accept: str = "") -> str:
        """The body of an answer; a form with `fields` is posted."""
        head = [(b"cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items()).encode())]
        scope = {
            "type": "http", "method": "GET" if fields is None else "POST", "scheme": "http", "root_path": "",
            "path": f"/v/{self.code}" + (f"/{step}" if step else ""), "query_string": query.encode(),
            "headers": [*head, (b"accept", accept.encode())], "client": ("192.0.2.7", 1),
        }  # fmt: skip
        sent = []

        async def receive():
            return {"type": "http.request", "body": urlencode(fields or {}).encode(), "more_body": False}

        async def send(message):
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))
        for name, value in sent[0]["headers"]:
            self.told.append(f"{name.decode()}: {value.decode()}")
            if name == b"set-cookie":
                self.cookies |= dict([value.decode().split(";")[0].split("=", 1)])
        self.told.append(b"".join(message.get("body", b"") for message in sent[1:]).decode())
        return self.told[-1]

    def send(self, step: str, page: str = "", query: str = "", accept: str = "", **fields: str) -> str:
        """Send the form of a page (else of the link's) that leads to `step`."""
        page = page or self.ask()
        found = {"form": hidden(page, "form", step)}
        if step in ("vote", "undo"):
            found["place"] = hidden(page, "place", step)
        return self.ask(step, found | fields, query=query, accept=accept)


def told(store, app, code: str, *walks) -> str:
    """All that was told on some walks, each in a browser of its own."""
    browsers = []
    for walk in walks:
        browsers.append(Browser(app, code))
        walk(browsers[-1])
    return "\n".join(line for browser in browsers for line in browser.told)


def test_in_a_ballot(store):
    plan = replace(PLAN, wording=replace(PLAN.wording, examples=(EXAMPLE,)))
    project_id = make_project(store, plan=plan)
    draw_next_ballot(store, project_id)
    code = open_voting(store, project_id, SETTINGS)
    invite(store, project_id, ["Ben"])
    ((_, token),) = read_invitations(store, project_id)
    Voter(store, code, "Before").do("example_done", number=0)
    move_far(store)

    def all_the_way(browser: Browser) -> None:
        browser.send("begin", name="Anna", age="18 to 24")
        browser.send("example", number="0", choice="tie")
        browser.ask(query="e=0&a=tie")
        for accept in ("application/json", ""):
            browser.send("vote", choice="left", accept=accept)
            browser.send("undo", accept=accept)
        browser.send("vote", choice="both")
        browser.ask("vote", {"form": "forged", "place": "1.1", "choice": "left"})
        for _ in range(2):
            browser.send("vote", choice="left")
        browser.send("more")
        for _ in range(2):
            browser.send("vote", choice="left", accept="application/json")
        assert "completion code" not in browser.ask()
        browser.send("finish")
        assert "completion code" in browser.ask()

    def by_other_ways(browser: Browser) -> None:
        for query in (f"i={token}", "PROLIFIC_PID=5f0c", "participantId=P"):
            browser.cookies.clear()
            page = browser.ask(query=query)
            browser.send("begin", page, query=query)
            browser.ask(query=query)
            browser.ask()

    def where_nothing_is(browser: Browser) -> None:
        browser.send("begin", name=" ")
        browser.ask(query="i=nobody")
        browser.ask("begin", {"form": "forged"})
        for state in ("paused", "open", "closed"):
            set_voting_state(store, project_id, state)
            browser.ask()

    app = make_app(store)
    text = told(store, app, code, all_the_way, by_other_ways, where_nothing_is)
    with store.read() as conn:
        assert conn.execute(sa.select(sa.func.min(t.sitting.c.id), sa.func.count())).one() == (FAR + 1, 5)
        assert conn.execute(sa.select(sa.func.min(t.judgement.c.id), sa.func.count())).one()[1] >= 4
    assert FAR_ID.findall(text) == []
    assert project_id not in text


@pytest.mark.parametrize("scheme", SCHEMES)
def test_in_a_round(store, scheme):
    project_id = make_project(store, plan=None)
    code = open_round_voting(store, project_id, draw_round(store, project_id, SMALL[scheme]), SETTINGS)
    Voter(store, code, "Before")
    move_far(store)

    def walk(browser: Browser) -> None:
        browser.send("begin", name="Anna")
        browser.send("vote")
        browser.send("vote", unknown_1="1")
        browser.send("undo")
        while 'id="vote"' in browser.ask():
            browser.send("vote", unknown_1="1")
        browser.send("finish")
        browser.ask()

    text = told(store, make_app(store), code, walk)
    assert "completion code" in text
    assert FAR_ID.findall(text) == []
    assert project_id not in text


def test_such_an_id_would_be_found(store):
    """The cookie of an older Runoff named a row."""
    project_id = make_project(store)
    draw_next_ballot(store, project_id)
    code = open_voting(store, project_id, replace(SETTINGS, examples=False))
    voter = Voter(store, code)
    move_far(store)
    with store.read() as conn:
        ((number,),) = conn.execute(sa.select(t.sitting.c.id)).all()
    assert FAR_ID.findall(f"runoff_voter={number}.{voter.cookie}") == [str(number)]
    assert api.look(store, code, voter.cookie).kind == "vote"
