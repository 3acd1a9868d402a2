"""Turkle's interface as a client sees it: what is said when it fails, and a file that is cut is never taken."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import sqlalchemy as sa
from campaigns import make_project

from core.errors import InputError, PlatformError
from core.platforms.turkle import TurkleSite, check_whole, clean_address
from core.questions.comparison_page import Wording
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots, read_comparisons, unanswered
from core.store.ballots.drawing import draw_next_ballot
from core.store.projects.archive import duplicate_project, export_project, import_project
from core.store.votes.publications import (
    confirm_address,
    fetch_from_turkle,
    finished_there,
    publish_on_turkle,
    read_publications,
)
from core.views.log import what
from core.votes.platform import Outgoing

TOKEN = "0123456789abcdef0123456789abcdef01234567"
HEADER = '"HITId","AssignmentId","WorkerId","Input.task_id","Answer.choice","Turkle.Username"\n'
WHOLE = HEADER + '"1","1","3","t1","left","zoë"\n"2","2","3","t2","right","zoë"\n"3","3","3","t3","tie","zoë"\n'


class Fake:
    """A server that answers as told, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, str], Any]] = []
        self.answer: Callable[[str, str], tuple[int, dict[str, str], bytes]] = lambda method, path: (404, {}, b"")
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                fake.asked.append((self.command, self.path, dict(self.headers), json.loads(body) if body else None))
                status, headers, content = fake.answer(self.command, self.path)
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(content))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = handle_any

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def fake() -> Iterator[Fake]:
    made = Fake()
    yield made
    made.server.shutdown()
    made.server.server_close()


def turkle(results: bytes = b"", finished: int = 3, headers: dict[str, str] | None = None):
    """The answers of a Turkle with one project and one batch."""

    def answer(method: str, path: str) -> tuple[int, dict[str, str], bytes]:
        told = {"/api/projects/": {"id": 4}, "/api/batches/": {"id": 9}}
        if method == "POST":
            return 201, {}, json.dumps(told[path]).encode()
        if path.endswith("/progress/"):
            return 200, {}, json.dumps({"total_finished_task_assignments": finished}).encode()
        return 200, headers or {}, results

    return answer


def test_what_is_sent(fake):
    fake.answer = turkle()
    made = TurkleSite(fake.url, TOKEN).publish("Ballot 1", "<p>${left_a}</p>", "left_a\nx\n", assignments=3)
    assert (made.project, made.batch) == (4, 9)
    (_, one, headers, project), (_, two, _, batch) = fake.asked
    assert (one, two, headers["Authorization"]) == ("/api/projects/", "/api/batches/", f"Token {TOKEN}")
    assert (project["html_template"], project["assignments_per_task"]) == ("<p>${left_a}</p>", 3)
    assert (batch["csv_text"], batch["project"], batch["assignments_per_task"]) == ("left_a\nx\n", 4, 3)


def test_a_length_in_characters_loses_nothing(fake):
    data = WHOLE.encode()
    fake.answer = turkle(data, headers={"Content-Length": str(len(WHOLE))})
    assert len(WHOLE) < len(data)
    assert TurkleSite(fake.url, TOKEN).results(9) == data


def test_a_file_that_is_cut_is_refused_wherever_it_ends():
    check_whole(WHOLE.encode(), 3)
    for cut in range(1, len(WHOLE.encode()) - len(HEADER.encode())):
        with pytest.raises(PlatformError, match="cut"):
            check_whole(WHOLE.encode()[:-cut], 3)


def test_more_rows_than_were_finished_a_moment_ago_are_fine():
    check_whole(WHOLE.encode(), 2)
    check_whole(b"", 0)
    check_whole(HEADER.encode(), 0)


@pytest.mark.parametrize(
    ("status", "headers", "content", "said"),
    [
        (401, {}, b'{"detail": "Invalid token."}', "doesn't accept the token"),
        (403, {}, b"", "doesn't accept the token"),
        (404, {}, b"", "no such page"),
        (302, {"Location": "https://turkle.example.org/api/projects/"}, b"", "Type that address instead"),
        (302, {"Location": "/login/?next=secret"}, b"", r"another page \(/login/\)"),
        (400, {}, b'{"html_template": ["needs an input"]}', "html_template: needs an input"),
        (413, {}, b"", "of this size"),
        (500, {}, b"<h1>Server Error</h1>", r"failed \(500\)"),
        (200, {}, b"<html>Hello</html>", "something else than Turkle"),
        (201, {}, b'{"id": "x"}', "lacks id"),
        (201, {}, b"[1]", "something else than Turkle"),
    ],
)
def test_what_is_said_when_it_refuses(fake, status, headers, content, said):
    fake.answer = lambda method, path: (status, headers, content)
    with pytest.raises(PlatformError, match=said) as caught:
        TurkleSite(fake.url, TOKEN).publish("x", "y", "z\n")
    assert TOKEN not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert len(fake.asked) == 1  # no redirection is followed: the token goes nowhere else


def test_a_project_without_a_batch_is_told(fake):
    fake.answer = lambda method, path: (
        (201, {}, b'{"id": 4}') if "projects" in path else (400, {}, b'{"csv_text": "no"}')
    )
    with pytest.raises(PlatformError, match=r"csv_text: no.*number 4\) is there now"):
        TurkleSite(fake.url, TOKEN).publish("x", "y", "z\n")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.1:9", "refuses the connection"),
        ("http://no-such-host.invalid", "no server has this name|reached"),
    ],
)
def test_a_server_that_is_not_there(address, said):
    with pytest.raises(PlatformError, match=said):
        TurkleSite(address, TOKEN, timeout=5).finished(1)


def test_a_server_that_says_nothing_and_one_that_speaks_no_https(fake):
    release = threading.Event()
    fake.answer = lambda method, path: (release.wait(5), (200, {}, b"{}"))[1]
    with pytest.raises(PlatformError, match=r"within 0\.2 seconds"):
        TurkleSite(fake.url, TOKEN, timeout=0.2).finished(1)
    release.set()
    with pytest.raises(PlatformError, match="https there"):
        TurkleSite(fake.url.replace("http:", "https:"), TOKEN, timeout=5).finished(1)


@pytest.mark.parametrize(
    "address",
    ["", "ftp://x.org", "file:///etc/passwd", "turkle.example.org", "http://", "http://u:pw@x.org", "http://x.org/?a=b",
     "http://x y", "http://x:99999", "javascript:alert(1)", "http://x.org\r\nA: b"],
)  # fmt: skip
def test_addresses_that_are_none(address):
    with pytest.raises(InputError) as caught:
        clean_address(address)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize("token", ["", "short", "two words here", "x" * 300, "Zeile\r\nX-Evil: 1 aaaa", "ümlaut-token"])
def test_tokens_that_are_none(token):
    with pytest.raises(InputError, match="no token"):
        TurkleSite("http://localhost", token)


def test_the_token_is_in_no_representation():
    site = TurkleSite("http://turkle.example.org", TOKEN)
    assert TOKEN not in repr(site)
    assert site.is_open
    assert not TurkleSite("https://turkle.example.org", TOKEN).is_open
    assert not TurkleSite("http://localhost:8000", TOKEN).is_open


def outgoing(store, project_id, *, missing=False):
    ballot = read_ballots(store, project_id)[0]
    this = (store, project_id, ballot.number)
    return Outgoing(
        ballot.code, 3, "relatedness", True, lambda: read_comparisons(*this), Wording(),
        only=lambda: unanswered(*this) if missing else None, is_top_up=missing,
    )  # fmt: skip


def test_publications_are_remembered_and_the_token_is_not(store, fake):
    project_id = make_project(store)
    draw_next_ballot(store, project_id)
    fake.answer = turkle(WHOLE.encode())
    site = TurkleSite(fake.url + "/", TOKEN)
    one = publish_on_turkle(store, project_id, site, outgoing(store, project_id), name="Wörter", assignments=2)
    assert (one.address, one.project, one.batch, one.n_tasks, one.assignments) == (fake.url, 4, 9, 14, 2)
    sent = fake.asked[1][3]
    assert sent["csv_text"].isascii()
    assert "caf&#xE9;" in sent["csv_text"]
    assert sent["name"].isascii()
    # A top-up goes into the project that is there.
    two = publish_on_turkle(store, project_id, site, outgoing(store, project_id, missing=True), name="x")
    assert two.is_top_up
    assert [path for _, path, _, _ in fake.asked] == ["/api/projects/", "/api/batches/", "/api/batches/"]
    assert finished_there(store, project_id, one.id, TOKEN) == (3, 28)
    assert fetch_from_turkle(store, project_id, one.id, TOKEN) == WHOLE.encode()
    ballot = read_ballots(store, project_id)[0]
    assert [bool(p.fetched_at) for p in read_publications(store, ballot.id)] == [True, False]
    with store.read() as conn:
        entries = conn.execute(sa.select(t.log)).all()
    said = [what(entry.action, entry.detail) for entry in entries][-3:]
    assert said == ["Published ballot 1 on Turkle", "Published ballot 1 on Turkle", "Fetched results from Turkle"]
    store.engine.dispose()
    kept = [path for path in store.folder.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    assert kept == []


@pytest.fixture
def published(store, fake) -> str:
    """A project with its ballot at `fake`."""
    project_id = make_project(store)
    draw_next_ballot(store, project_id)
    fake.answer = turkle(WHOLE.encode())
    publish_on_turkle(store, project_id, TurkleSite(fake.url, TOKEN), outgoing(store, project_id), name="x")
    publish_on_turkle(store, project_id, TurkleSite(fake.url, TOKEN), outgoing(store, project_id), name="y")
    fake.asked.clear()
    return project_id


def publications(store, project_id):
    return read_publications(store, read_ballots(store, project_id)[0].id)


def test_an_address_from_a_file_gets_no_token_before_it_is_confirmed(store, fake, published):
    imported = import_project(store, export_project(store, published))
    one, other = publications(store, imported)
    for ask in (fetch_from_turkle, finished_there):
        with pytest.raises(InputError, match=f"address {fake.url} came with an imported project"):
            ask(store, imported, one.id, TOKEN)
    assert fake.asked == []
    assert not one.confirmed
    confirm_address(store, imported, one.id)
    assert finished_there(store, imported, one.id, TOKEN) == (3, 14)
    assert fetch_from_turkle(store, imported, other.id, TOKEN) == WHOLE.encode()  # its address is the same
    # Out and in again it is another file.
    again = import_project(store, export_project(store, imported))
    assert [p.confirmed for p in publications(store, again)] == [False, False]
    with store.read() as conn:
        (entry,) = conn.execute(
            sa.select(t.log).where(t.log.c.action == "confirm address", t.log.c.project_id == imported)
        )
    assert what(entry.action, entry.detail) == f"Said that the address {fake.url} is the owner's Turkle"


def test_what_was_published_here_and_copies_of_it_need_no_word(store, fake, published):
    copy = duplicate_project(store, published, "Copy")
    for project_id in (published, copy):
        assert [p.confirmed for p in publications(store, project_id)] == [True, True]
        assert finished_there(store, project_id, publications(store, project_id)[0].id, TOKEN) == (3, 14)


def test_the_project_at_an_address_that_is_not_confirmed_is_not_taken(store, fake, published):
    imported = import_project(store, export_project(store, published))
    publish_on_turkle(store, imported, TurkleSite(fake.url, TOKEN), outgoing(store, imported), name="x")
    assert [path for _, path, _, _ in fake.asked] == ["/api/projects/", "/api/batches/"]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("detail", {"project": 4, "batch": "9/../../../admin", "n_tasks": 14, "assignments": 1, "is_top_up": False}),
        ("detail", {"batch": 9}),
        ("address", "javascript:alert(1)"),
        ("address", "http://user:word@turkle.example.org"),
        ("platform", "elsewhere"),
    ],
)
def test_a_publication_that_a_forger_would_write_is_refused(store, fake, published, column, value):
    with store.write(published) as conn:
        conn.execute(sa.update(t.publication).values({column: value}))
    with pytest.raises(InputError, match="can't be read as a project"):
        import_project(store, export_project(store, published))


def test_the_token_is_not_sent_on(store, fake, published):
    elsewhere = Fake()
    fake.answer = lambda method, path: (302, {"Location": f"{elsewhere.url}{path}"}, b"")
    with pytest.raises(PlatformError, match=f"sends on to {elsewhere.url}"):
        finished_there(store, published, publications(store, published)[0].id, TOKEN)
    elsewhere.server.shutdown()
    elsewhere.server.server_close()
    assert elsewhere.asked == []


def test_nothing_is_remembered_where_it_failed(store, fake):
    project_id = make_project(store)
    draw_next_ballot(store, project_id)
    fake.answer = lambda method, path: (500, {}, b"")
    with pytest.raises(PlatformError):
        publish_on_turkle(store, project_id, TurkleSite(fake.url, TOKEN), outgoing(store, project_id), name="x")
    assert read_publications(store, read_ballots(store, project_id)[0].id) == []
    with pytest.raises(InputError, match="1 to 100"):
        publish_on_turkle(
            store, project_id, TurkleSite(fake.url, TOKEN), outgoing(store, project_id), name="x", assignments=0
        )
