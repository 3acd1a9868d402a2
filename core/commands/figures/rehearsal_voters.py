"""Voters who aren't people: they go the whole way of a voting page, each with a habit, and try what must be refused.

They read the page as a browser does, answer by opinions of Eq. 11 (Lombardo et al., 2020), and note what they
sent, what they saw and what wasn't as it must be. Where they walk is a `RehearsalStage`, which the rehearsal sets up.
"""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlencode

import numpy as np
import sqlalchemy as sa

from ...base.numbers_in_words import many
from ...errors import InputError, RunoffError
from ...questions import RoundKind, RoundSettings
from ...questions.base import Answering
from ...questions.voting_settings import TRAITS, VotingSettings
from ...store import Store
from ...store import schema as t
from ...voters.model import Voters, decide
from ...voting.form_browser import BrowserForm, BrowserPage, FormBrowser

# What voters do beside answering; each has one habit, in turn.
HABITS = (
    "go straight on", "tap twice", "send an earlier page again", "load the page again", "lose the connection",
    "take answers back", "close the page and come back", "use the page's script",
)  # fmt: skip
Item = tuple[str, ...]  # area and both tokens, these in order
# What an answer says, however it was shown: of which items (of a comparison in any order), and what is said of them.
Meant = tuple[frozenset[Item] | tuple[Item, ...], object]


@dataclass(frozen=True)
class Screen:
    """A page as a voter meets it: its heading, whether it asks what counts, how many words stand on it, its buttons."""

    heading: str
    asks: bool
    n_words: int
    buttons: tuple[str, ...]


@dataclass(frozen=True)
class BadPost:
    """Something that no voter should get away with, and what came of it; it is fine where nothing was stored."""

    what: str
    status: int
    expected: int
    n_stored: int

    @property
    def is_fine(self) -> bool:
        """Whether it was refused as it must be."""
        return self.status == self.expected and self.n_stored == 0


@dataclass
class Walk:
    """What one voter did: what was sent, what was seen, what went wrong."""

    name: str
    sent: list[Meant] = field(default_factory=list)
    screens: list[Screen] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    n_asked: int = 0  # of the first task


@dataclass(frozen=True)
class RehearsalStage:
    """Where a rehearsal happens: the port and the link's code, its settings, and how what it asks is answered."""

    port: int
    code: str
    settings: VotingSettings
    names: tuple[str, ...]
    tokens: Mapping[str, str]  # of personal links, by name
    asks: AskedOnPage
    seed: int

    def address(self, number: int) -> str:
        """By what link a voter comes."""
        name = self.names[number]
        query = {"invited": f"?i={self.tokens.get(name, '')}", "id": f"?PROLIFIC_PID={name}"}
        return f"/v/{self.code}{query.get(self.settings.identify, '')}"


def item_key(area: str = "", *tokens: str) -> Item:
    """An item as it is known whatever the order of its tokens."""
    return (area, *sorted(tokens))


@dataclass(frozen=True)
class Opinions:
    """What made-up voters think: the place of each item among `held`, (n voters, n items), and the voters."""

    place: Mapping[Item, int]
    held: np.ndarray
    voters: Voters
    seed: int


class AskedOnPage(ABC):
    """The questions of a ballot as they stand on the page, and how voters answer them there.

    unknown : the fields of an answer by somebody who doesn't know a word; unoffered : of one that the page doesn't
    offer.
    """

    def __init__(self, opinions: Opinions, unknown: dict[str, str], unoffered: dict[str, str]) -> None:
        self._opinions, self.unknown, self.unoffered = opinions, unknown, unoffered

    @abstractmethod
    def shown(self, page: BrowserPage) -> object:
        """What a page asks about, as it shows that: equal where it asks the same once more."""

    @abstractmethod
    def answer(self, page: BrowserPage, number: int, rng: np.random.Generator) -> tuple[dict[str, str], Meant]:
        """What the voter of a number answers by opinions: the form's fields, and what that means. Raises `InputError`
        where the page asks about what isn't in the ballot."""

    @abstractmethod
    def stored(self, items: tuple[Item, ...], answer: str) -> Meant:
        """What an answer in the store means; items : of its question, in their places."""

    @abstractmethod
    def tap(self, page: Any, n: int) -> None:
        """Answer the question that a page of Playwright shows by touch; n : questions answered so far."""


class ComparisonsOnPage(AskedOnPage):
    """Two cards, of which one is tapped."""

    def __init__(self, opinions: Opinions, *, ties_allowed: bool) -> None:
        super().__init__(opinions, {"choice": "unknown"}, {"choice": "both"})
        self._tie = "tie" if ties_allowed else "left"

    def shown(self, page: BrowserPage) -> object:
        return page.cards

    def answer(self, page: BrowserPage, number: int, rng: np.random.Generator) -> tuple[dict[str, str], Meant]:
        known = self._opinions
        cards = {side: page.cards.get(side, ()) for side in ("left", "right")}
        shown = {side: item_key(*card[2:3], *card[:2]) for side, card in cards.items()}
        if not all(item in known.place for item in shown.values()):
            raise InputError(f"The page shows what is no item of the project: {page.cards}.")
        left, right = (known.held[number, known.place[shown[side]]] for side in ("left", "right"))
        outcome = float(decide([left], [right], float(known.voters.oversight[number]), rng)[0])
        choice = {1.0: "left", 0.0: "right"}.get(outcome, self._tie)
        return {"choice": choice}, (frozenset(shown.values()), shown.get(choice, choice))

    def stored(self, items: tuple[Item, ...], answer: str) -> Meant:
        sides = ("first", "second")
        return frozenset(items), items[sides.index(answer)] if answer in sides else answer

    def tap(self, page: Any, n: int) -> None:
        page.locator(".ro-card").nth(n % 2).tap()


class RoundOnPage(AskedOnPage):
    """A question of a round, whose kind says what stands on the page, what people answer and how a form holds that.

    questions : the items of each question by what the page shows of it, its texts by variable; variables : of the
    words on the page, as they stand there.
    """

    def __init__(
        self,
        opinions: Opinions,
        kind: RoundKind,
        settings: RoundSettings,
        questions: Mapping[frozenset[tuple[str, str]], tuple[Item, ...]],
        variables: list[str],
    ) -> None:
        super().__init__(opinions, {"unknown_1": "1"}, {f"{name}_1": "~" for name in kind.fields})
        self._kind, self._settings, self._questions, self._variables = kind, settings, questions, variables

    def shown(self, page: BrowserPage) -> object:
        return self._texts(page)

    def _texts(self, page: BrowserPage) -> frozenset[tuple[str, str]]:
        words = page.forms["vote"].tokens
        return frozenset(pair for pair in zip(self._variables, words, strict=False) if all(pair))

    def answer(self, page: BrowserPage, number: int, rng: np.random.Generator) -> tuple[dict[str, str], Meant]:
        items = self._questions.get(self._texts(page))
        if items is None:
            words = ", ".join(page.forms["vote"].tokens)
            raise InputError(f"The page shows what is no question of the round: {words}.")
        known = self._opinions
        opinion = known.held[number, [known.place[item] for item in items]][None, :]
        who = Answering(np.array([number]), known.voters.oversight[[number]], known.seed)
        (said,) = self._kind.simulate(opinion, who, self._settings, rng)
        return {f"{name}_1": value for name, value in self._kind.filled(said).items()}, (items, said)

    def stored(self, items: tuple[Item, ...], answer: str) -> Meant:
        return items, answer

    def tap(self, page: Any, n: int) -> None:
        """Whatever the controls of the kind's fields are; where there is only a box to be ticked, that."""
        form = page.locator("#vote")
        for at, name in enumerate(self._kind.fields):
            control = form.locator(f"[name={name}_1]")
            kind = control.first.get_attribute("type")
            if kind == "radio":
                form.locator(f"label:has([name={name}_1])").nth(at).tap()
            elif kind == "hidden":
                form.locator("label:has(input[type=checkbox][required])").tap()
            else:
                control.fill(control.get_attribute("min") or "1")
        form.locator(".ro-send").tap()


def go_the_way(stage: RehearsalStage, number: int) -> Walk:
    """One voter's way from the link to the end, with the habit of that number."""
    walk = Walk(stage.names[number])
    try:
        Voter(stage, number, walk).go()
    except RunoffError as error:
        walk.faults.append(f"{walk.name} could not go on: {error}")
    return walk


class Voter:
    """Somebody on the page, who answers by opinions and has a habit; `go` goes the whole way."""

    def __init__(self, stage: RehearsalStage, number: int, walk: Walk) -> None:
        self._stage, self._number, self._walk = stage, number, walk
        self.habit = HABITS[number % len(HABITS)]
        self.browser = FormBrowser(stage.port)
        self._rng = np.random.default_rng([stage.seed, 17, number])
        self._earlier: BrowserForm | None = None  # of a question that is answered
        self._n_tasks = 0

    def go(self) -> None:
        """Go on until the page has nothing more to press."""
        page = self.browser.open(self._stage.address(self._number))
        while True:
            self._walk.screens.append(_screen(page))
            if page.status != 200:
                self._fault(f"the page answered {page.status}: {page.text[:200]}")
                return
            following = self.following(page)
            if following is None:
                break
            page = following
        if not self._n_tasks:
            self._fault(f"the way ended before a task was done: {page.text[:200]}")

    def _fault(self, what: str) -> None:
        self._walk.faults.append(f"{self._walk.name} ({self.habit}): {what}")

    def following(self, page: BrowserPage) -> BrowserPage | None:
        """The page that comes after this one, by what this voter does on it; None where it is the last."""
        if "wasn’t saved" in page.text:
            self._fault("the page says that an answer wasn't saved")
        if "begin" in page.forms:
            return self._begin(page.forms["begin"])
        if "example" in page.forms:
            form = page.forms["example"]
            return self._send(form, choice=str(self._rng.choice(form.choices["choice"])))
        if "vote" in page.forms:
            return self._answer(page)
        if "finish" in page.forms:
            self._n_tasks += 1
            goes_on = "more" in page.forms and self._n_tasks < 1 + self._number % 2
            return self._send(page.forms["more" if goes_on else "finish"])
        go_on = [link for link in page.links if link == f"/v/{self._stage.code}"]
        return self.browser.open(go_on[0]) if go_on else None

    def _begin(self, form: BrowserForm) -> BrowserPage:
        fields = {name: self._walk.name for name in ("name",) if name in form.fields}
        if "word" in form.fields:
            fields["word"] = self._stage.settings.code_word
        fields |= {name: str(self._rng.choice(["", *TRAITS[name][1]])) for name in TRAITS if name in form.choices}
        return self._send(form, **fields)

    def _send(self, form: BrowserForm, **given: str) -> BrowserPage:
        """Send a form, by the habit once more or not heard of at first."""
        if self.habit == "lose the connection":
            self.browser.lose(form, **given)
        if self.habit == "tap twice":
            self.browser.send(form, **given)
        return self.browser.send(form, **given)

    def _answer(self, page: BrowserPage) -> BrowserPage:
        """Answer a question, and whatever the habit is."""
        form, habit = page.forms["vote"], self.habit
        asks = self._stage.asks
        if habit == "load the page again":
            again = self.browser.open(f"/v/{self._stage.code}")
            if (asks.shown(again), again.forms["vote"].fields["place"]) != (asks.shown(page), form.fields["place"]):
                self._fault(f"another question came when the page was loaded again: {again.text[:200]}")
        if habit == "close the page and come back":
            self.browser = FormBrowser(self._stage.port, cookies=self.browser.cookies)
            page = self.browser.open(self._stage.address(self._number))
            form = page.forms["vote"]
        if self._n_tasks == 0:
            self._walk.n_asked += 1
        if habit == "take answers back" and self._walk.n_asked % 3 == 2:
            # Another answer first, which is taken back: it must not stay.
            then = self._send(form, **asks.unknown, seconds="1")
            back = self.browser.send(then.forms["undo"])
            if asks.shown(back) != asks.shown(page):
                self._fault(f"another question came after Undo: {back.text[:200]} in place of {page.text[:200]}")
                return back
            form = back.forms["vote"]
        answer, meant = self.answer(page)
        self._walk.sent.append(meant)
        if habit == "use the page's script":
            reply = self.browser.send_by_script(form, **answer, seconds="1.5")
            if reply.get("kind") not in ("vote", "page"):
                self._fault(f"the page's script was told {reply}")
            following = self.browser.open(f"/v/{self._stage.code}")
        else:
            following = self._send(form, **answer, seconds="1.5")
        if habit == "send an earlier page again":
            if self._earlier is not None:
                self.browser.send(self._earlier, **asks.unknown)
            self._earlier = form
        return following

    def answer(self, page: BrowserPage) -> tuple[dict[str, str], Meant]:
        """What this voter answers to a question: the form's fields, and what that means."""
        return self._stage.asks.answer(page, self._number, self._rng)


def _screen(page: BrowserPage) -> Screen:
    heading = page.heading or next(iter(page.lines), "")
    if {"vote", "example"} & set(page.forms):  # which one it is, as the window's title says
        heading = f"{page.title}: {heading}"
    return Screen(heading, "vote" in page.forms, len(page.text.split()), tuple(page.buttons))


def screens_in_order(screens: list[Screen]) -> list[Screen]:
    """Screens as they come, of questions that follow each other only the first."""
    shown: list[Screen] = []
    for screen in screens:
        if not (screen.asks and shown and shown[-1].asks):
            shown.append(screen)
    return shown


def bad_posts(store: Store, stage: RehearsalStage, number: int) -> list[BadPost]:
    """Posts that must store nothing, one after the other, by a voter who has begun and answered one question.

    Raises `RunoffError` where no question comes.
    """
    walk = Walk(stage.names[number])
    browser = FormBrowser(stage.port)
    voter = Voter(stage, number, walk)
    voter.browser, voter.habit = browser, HABITS[0]
    page: BrowserPage | None = browser.open(stage.address(number))
    while page is not None and "vote" not in page.forms:
        page = voter.following(page)
    if page is None:
        raise InputError("No question came to the voter who was to send bad requests.")
    answered, (answer, _) = page.forms["vote"], voter.answer(page)
    page = browser.send(answered, **answer, seconds="1")
    is_only = "vote" not in page.forms  # the task has no other question
    if is_only:
        page = browser.send(page.forms["undo"])
    form, (answer, _) = page.forms["vote"], voter.answer(page)
    # Somebody else's link: by a personal one of their own, voters come back to the same page in any browser.
    elsewhere = FormBrowser(stage.port).open(stage.address(number - 1))
    of_entry = next(iter(elsewhere.forms.values()), BrowserForm("", "post"))
    good = form.fields | answer | {"seconds": "1"}
    again = answered.fields | stage.asks.unknown | {"seconds": "1"}
    bad: list[tuple[str, int, Mapping[str, str]]] = [
        ("a forged token", 403, good | {"form": "0" * 64}),
        ("the token of another page", 403, good | {"form": of_entry.fields.get("form", "")}),
        ("a vote in another's task", 400, good | {"place": "77.1"}),
        ("a vote past the task's end", 400, good | {"place": "1.99999"}),
        ("an answer that isn't offered", 400, good | stage.asks.unoffered),
        *([] if is_only else [("an answer sent again with another choice", 303, again)]),
        ("an oversized form", 413, good | {"more": "x" * 20_000}),
    ]
    posts: list[tuple[str, int, Callable[[], int]]] = [
        (what, status, partial(_status, browser, "POST", form.action, fields)) for what, status, fields in bad
    ]
    posts += [
        (
            "a vote without the voter's cookie",
            400,
            partial(_status, FormBrowser(stage.port), "POST", form.action, good),
        ),
        (
            "a vote by the wrong method",
            404,
            partial(_status, browser, "GET", f"{form.action}?{urlencode(answer)}", None),
        ),
        ("a method that the page hasn't", 404, partial(_status, browser, "DELETE", f"/v/{stage.code}", None)),
    ]
    found = []
    for what, expected, post in posts:
        before = _answers(store)
        status = post()
        found.append(BadPost(what, status, expected, len(_answers(store) ^ before)))
    return found


def _status(browser: FormBrowser, method: str, address: str, fields: Mapping[str, str] | None) -> int:
    return browser.ask(method, address, fields).status


def _answers(store: Store) -> set[tuple[int, str, str]]:
    """All answers as they stand: row, answer, status."""
    j = t.judgement.c
    with store.read() as conn:
        return {tuple(row) for row in conn.execute(sa.select(j.id, j.answer, j.status))}


# By Chromium

_CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
_WAIT_MS = 60_000
_BETWEEN_MS = 400  # between two answers: the page takes the second half of a double tap for none


def in_chromium(stage: RehearsalStage, number: int) -> tuple[str, list[str]]:
    """A voter on a phone, in Chromium, from the link to the end: what became of it, and what wasn't right."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        return "No voter came in Chromium: Playwright isn't installed (pip install playwright).", []
    path = next(filter(None, map(shutil.which, _CHROMIUMS)), None)
    errors: list[str] = []
    n_answers = 0
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except Error:
            return "No voter came in Chromium: there is none on the PATH, nor Playwright's own.", []
        try:
            page = browser.new_context(**_PHONE).new_page()
            page.set_default_timeout(_WAIT_MS)
            page.on("pageerror", lambda error: errors.append(f"A script of the page failed in Chromium: {error}"))
            page.goto(f"http://127.0.0.1:{stage.port}{stage.address(number)}")
            if page.locator("#name").count():
                page.locator("#name").fill(stage.names[number])
            if page.locator("#word").count():
                page.locator("#word").fill(stage.settings.code_word)
            page.locator("button[type=submit]").click()
            finish = page.locator("form[action$=finish]")
            while True:
                page.locator("#vote, #example, .ro-button, form[action$=finish]").first.wait_for()
                page.wait_for_load_state()
                page.wait_for_timeout(_BETWEEN_MS)
                if finish.count():
                    break
                if page.locator("#vote").count():
                    count = page.locator("#count").inner_text()
                    stage.asks.tap(page, n_answers)
                    page.wait_for_function(
                        "count => document.getElementById('count')?.textContent !== count", arg=count
                    )
                    n_answers += 1
                elif page.locator("#example").count():
                    page.locator(".ro-card").first.tap()
                    page.locator("#example").wait_for(state="detached")
                else:
                    page.locator(".ro-button").click()
                    page.locator(".ro-button").wait_for(state="detached")
            finish.locator("button").click()
            finish.wait_for(state="detached")
        except Error as error:
            text = " ".join(page.inner_text("body").split())[:300]
            return "", [*errors, f"The voter in Chromium was stopped: {str(error)[:200]} The page: {text}"]
        finally:
            browser.close()
    return f"A voter on a phone in Chromium gave {many(n_answers, 'answer')} by touch and finished.", errors
