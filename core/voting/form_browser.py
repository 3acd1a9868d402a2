"""A browser without a screen or scripts, for the voting page: what a page shows, its forms, cookies and redirects.

So a page can be gone through as a voter does, on any network: what didn't come is asked for again, and a form whose
answer got lost is sent again, as a person does who loads a page once more.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.client import HTTPConnection, HTTPException, HTTPMessage
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

from ..errors import StoreError

OURS = "Runoff"  # a header of every answer of the voters' server; what lacks it comes from elsewhere
SECONDS = 30.0  # for one answer
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_UNSHOWN = {"script", "style", "title", "option"}


@dataclass
class BrowserForm:
    """A form as it would be sent untouched.

    choices : the values of its radio buttons, boxes to be ticked and lists, by name. tokens : the words that it asks
    about, in the order in which they stand there; "" where a place for one is left empty.
    """

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    tokens: list[str] = field(default_factory=list)

    @property
    def step(self) -> str:
        """What it does: the last part of its address."""
        return self.action.partition("?")[0].rpartition("/")[2]


@dataclass
class BrowserPage:
    """What came: status, title, the text that is seen, by line; forms by step, buttons, links, what each card shows.

    cards : the tokens and the area that stand beside a radio button, by its value.
    """

    status: int
    lines: list[str] = field(default_factory=list)
    title: str = ""
    heading: str = ""
    forms: dict[str, BrowserForm] = field(default_factory=dict)
    buttons: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    cards: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All that is seen."""
        return " ".join(self.lines)


class _Reader(HTMLParser):
    """Reads a page into a `BrowserPage`."""

    def __init__(self, status: int, html: str) -> None:
        super().__init__()
        self.page = BrowserPage(status)
        self._open: list[tuple[str, bool]] = []  # tags that aren't closed yet, and whether what is in them is seen
        self._form: BrowserForm | None = None
        self._select = ""
        self._label: list[str] | None = None  # the words on a card
        self._value = ""  # of the radio button of the label that is open
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        classes = given.get("class", "").split()
        if tag == "form":
            self._form = BrowserForm(given.get("action", ""), given.get("method", "get"))
            self.page.forms[self._form.step] = self._form
        elif tag == "label":
            self._label, self._value = [], ""
        elif tag == "a":
            self.page.links.append(given.get("href", ""))
        elif self._form is not None:
            if "ro-token" in classes:
                self._form.tokens.append("")
            self._put_field(tag, given)
        if tag not in _VOID:
            seen = "hidden" not in given and "ro-hidden" not in classes and tag not in _UNSHOWN
            self._open.append((" ".join([tag, *classes]), seen and (not self._open or self._open[-1][1])))

    def _put_field(self, tag: str, given: Mapping[str, str]) -> None:
        form, name, value = self._form, given.get("name", ""), given.get("value", "")
        assert form is not None  # nosec B101 # the caller looks
        if tag == "select":
            self._select = name
            form.choices[name] = []
        elif tag == "option":
            form.choices[self._select].append(value)
            if "selected" in given or self._select not in form.fields:
                form.fields[self._select] = value
        elif tag == "input" and given.get("type") == "radio":
            form.choices.setdefault(name, []).append(value)
            self._value = value
        elif tag == "input" and given.get("type") == "checkbox":
            form.choices.setdefault(name, []).append(value)
        elif tag == "input" and name:
            form.fields[name] = value

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        elif tag == "label" and self._label:
            if self._value:
                self.page.cards[self._value] = tuple(self._label)
            self._label = None
        while self._open:
            if self._open.pop()[0].split()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        names = self._open[-1][0].split() if self._open else []
        if self._label is not None and {"ro-token", "ro-area"} & set(names):
            self._label.append(data)
        if self._form is not None and "ro-token" in names:
            self._form.tokens[-1] += data
        words = " ".join(data.split())
        if names[:1] == ["title"]:
            self.page.title = words
        if not words or not (self._open and self._open[-1][1]):
            return
        self.page.lines.append(words)
        if names[0] == "h1":
            self.page.heading = words
        elif names[0] == "button":
            self.page.buttons.append(words)


@dataclass(frozen=True)
class Answer:
    """One answer of the server, as it came."""

    status: int
    headers: HTTPMessage
    body: str


class FormBrowser:
    """A voter's browser at the server on a port of this machine.

    tries : how often one thing is asked for before it is given up, `pause` seconds apart.
    """

    def __init__(self, port: int, *, tries: int = 20, pause: float = 0.2, cookies: Mapping[str, str] = {}) -> None:
        self.port, self._tries, self._pause = port, tries, pause
        self.cookies = dict(cookies)

    def ask(
        self, method: str, address: str, fields: Mapping[str, str] | None = None, *, script: bool = False
    ) -> Answer:
        """Ask once. `OSError` or `HTTPException` where no whole answer of the voters' server comes."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            self._send(connection, method, address, fields, script)
            found = connection.getresponse()
            body = found.read().decode("utf-8", "replace")
        finally:
            connection.close()
        if OURS not in found.headers:
            raise OSError("somebody else answered")
        for line in found.headers.get_all("Set-Cookie", []):
            self.cookies |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}
        return Answer(found.status, found.headers, body)

    def lose(self, form: BrowserForm, **values: str) -> None:
        """Send a form and hang up before the answer comes, as where a network is gone."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            self._send(connection, "POST", form.action, form.fields | values, False)
        finally:
            connection.close()

    def _send(
        self, connection: HTTPConnection, method: str, address: str, fields: Mapping[str, str] | None, script: bool
    ) -> None:
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if fields is not None else {}
        if script:
            headers["Accept"] = "application/json"
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection.request(method, address, None if fields is None else urlencode(fields), headers)

    def open(self, address: str) -> BrowserPage:
        """A page, wherever it leads. `StoreError` where it never comes."""
        return self._shown(self._until_there("GET", address, None, script=False))

    def send(self, form: BrowserForm, **values: str) -> BrowserPage:
        """Send a form, filled in; the page that follows."""
        return self._shown(self._until_there("POST", form.action, form.fields | values, script=False))

    def send_by_script(self, form: BrowserForm, **values: str) -> dict[str, Any]:
        """Send a form as the page's script does; what it is told."""
        told: dict[str, Any] = json.loads(
            self._until_there("POST", form.action, form.fields | values, script=True).body
        )
        return told

    def _until_there(self, method: str, address: str, fields: Mapping[str, str] | None, *, script: bool) -> Answer:
        """Ask until the server answers, and doesn't put it off."""
        problem = "the server is busy"
        for _ in range(self._tries):
            try:
                found = self.ask(method, address, fields, script=script)
                if found.status != 429 and "Retry-After" not in found.headers:
                    return found
            except (OSError, HTTPException) as error:
                problem = str(error) or type(error).__name__
            time.sleep(self._pause)
        raise StoreError(f"The voting page didn't answer {self._tries} times: {problem}.")

    def _shown(self, found: Answer) -> BrowserPage:
        """The page of an answer, after the redirects."""
        if found.status == 303:
            return self.open(found.headers["Location"])
        return page_of(found.body, found.status)


def page_of(html: str, status: int = 200) -> BrowserPage:
    """A page, or a part of one, as a browser reads it."""
    return _Reader(status, html).page


__all__ = ["Answer", "BrowserForm", "FormBrowser", "BrowserPage", "page_of"]
