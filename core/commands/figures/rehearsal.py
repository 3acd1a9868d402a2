"""A rehearsal of the voting page: voters who aren't people go the whole way on a copy, and every row is looked at.

The project is copied into a workspace of its own, which is gone at the end, and the voters' server runs on the copy, at
another port. Nothing of it touches the project, its link or its voters. Voters' opinions are those of Eq. 11 (Lombardo
et al., 2020), so that what is exported looks like what will be.
"""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...base.numbers_in_words import many, plural
from ...base.parallel import Progress
from ...dataset.published import VOTES
from ...errors import InputError, RunoffError
from ...questions.voting_settings import TRAITS, VotingSettings
from ...store import Store
from ...store import schema as t
from ...store.ballots.ballot_rows import Ballot, open_ballot_of
from ...store.ballots.simulated import read_beliefs
from ...store.command import project_row
from ...store.engine import open_apart
from ...store.projects.archive import export_project, import_project
from ...store.projects.plans import PlanSettings, settings_for
from ...store.projects.records import pseudonym, record_of, voter_secret
from ...store.tokens.areas import items_of
from ...store.voting.owner_commands import invite, open_voting, read_invitations
from ...voters.model import Panel, Voters, decide, draw_panel, opinions
from ...voting.form_browser import Form, FormBrowser, Page
from ...voting.process import start_server, stop_servers
from .base import Figure

MOST_VOTERS, MOST_VOTES = 200, 20  # the second of a comparison, as the page's settings allow
AT_ONCE = 4  # voters who are on the page at the same time
WORDS_A_MINUTE = 238  # silent reading of English: Brysbaert (2019), Journal of Memory and Language 109
# What voters do beside answering; each has one habit, in turn.
HABITS = (
    "go straight on", "tap twice", "send an earlier page again", "load the page again", "lose the connection",
    "take answers back", "close the page and come back", "use the page's script",
)  # fmt: skip
Item = tuple[str, ...]  # area and both tokens, these in order


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


@dataclass(frozen=True)
class Rehearsed:
    """What a rehearsal found.

    n_sent : answers that voters gave and were told are saved. n_compared : rows stored by them, each compared with what
    was sent. faults : what isn't as it must be, each with its row. screens : what the first voter saw, in order, a
    question once. seconds_per_task : at the plan's seconds a comparison; seconds_first : to read what stands before the
    first question. reward : of a task; wage : an hour, NaN where nothing is paid. columns : of the votes' table in the
    published dataset with their types; votes : its first rows. before, after : the project's revision and vote counter.
    browser : what became of the voter in Chromium, "" where none was asked for.
    """

    n_voters: int
    n_sent: int
    n_compared: int
    faults: tuple[str, ...]
    bad_posts: tuple[BadPost, ...]
    screens: tuple[Screen, ...]
    n_asked: int
    seconds_per_task: float
    seconds_first: float
    reward: float
    wage: float
    columns: tuple[tuple[str, str], ...]
    n_rows: int
    votes: pd.DataFrame
    before: tuple[int, int]
    after: tuple[int, int]
    browser: str = ""

    @property
    def is_fine(self) -> bool:
        """Whether everything was as it must be."""
        return not self.problems

    @property
    def said(self) -> str:
        """The outcome in a sentence."""
        n_refused = sum(post.is_fine for post in self.bad_posts)
        told = (
            f"{many(self.n_voters, 'voter')} gave {many(self.n_sent, 'answer')}; {self.n_compared:,} stored rows were "
            f"compared with them; {n_refused} of {len(self.bad_posts)} bad requests were refused"
        )
        if self.is_fine:
            return f"{told}. Nothing is lost, doubled or changed."
        return f"{told}. " + plural(
            len(self.problems), "{n} thing isn't as it must be.", "{n} things aren't as they must be."
        )

    @property
    def problems(self) -> list[str]:
        """What isn't as it must be, each in a sentence."""
        posts = [
            f"Bad request, {post.what}: {post.status} in place of {post.expected}, {post.n_stored} rows changed."
            for post in self.bad_posts
            if not post.is_fine
        ]
        return [*self.faults, *posts]

    @property
    def screens_table(self) -> pd.DataFrame:
        """The screens for people."""
        rows = [(screen.heading, screen.n_words, ", ".join(screen.buttons)) for screen in self.screens]
        return pd.DataFrame(rows, columns=["screen", "words", "buttons"])

    @property
    def pay_said(self) -> str:
        """What a task takes and pays, in a sentence."""
        told = (
            f"A task of {many(self.n_asked, 'question')} takes {self.seconds_per_task:,.0f} s at the plan's pace; "
            f"reading what comes before the first one takes {self.seconds_first:,.0f} s more"
        )
        return f"{told}. A reward of {self.reward:,.2f} makes {self.wage:,.2f} an hour." if self.reward else f"{told}."

    @property
    def untouched_said(self) -> str:
        """That the project is as it was, in a sentence."""
        told = f"The project itself is untouched: revision {self.after[0]:,}, vote counter {self.after[1]:,}"
        n = self.after[1] - self.before[1]
        return f"{told}; {many(n, 'vote')} came from people meanwhile." if n else f"{told}, as before."


@dataclass
class _Walk:
    """What one voter did: what was sent, what was seen, what went wrong."""

    name: str
    sent: list[tuple[frozenset[Item], object]] = field(default_factory=list)
    screens: list[Screen] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    n_asked: int = 0  # of the first task


@dataclass(frozen=True)
class Stage:
    """Where a rehearsal happens: the port and the link's code, its settings, and what voters think of each item."""

    port: int
    code: str
    settings: VotingSettings
    names: tuple[str, ...]
    tokens: Mapping[str, str]  # of personal links, by name
    position: Mapping[Item, int]
    opinions: np.ndarray
    voters: Voters
    seed: int

    def address(self, number: int) -> str:
        """By what link a voter comes."""
        name = self.names[number]
        query = {"invited": f"?i={self.tokens.get(name, '')}", "id": f"?PROLIFIC_PID={name}"}
        return f"/v/{self.code}{query.get(self.settings.identify, '')}"


@dataclass(frozen=True)
class Rehearsal(Figure[Rehearsed]):
    """Rehearse the voting page of an open ballot, with settings as they would be (`VotingSettings.stored`)."""

    name = "rehearsal"
    version = 1
    doing = "Rehearsing the voting page"
    area_id: int | None
    code: str
    settings: Mapping[str, Any]
    n_voters: int = 20
    browser: bool = False

    def seconds(self, conn: sa.Connection) -> float:
        return 5.0 + self.n_voters  # a server is started: never at once

    def measure(self, store: Store, progress: Progress | None) -> tuple[Rehearsed, bytes | None]:
        if not 1 <= self.n_voters <= MOST_VOTERS:
            raise InputError(f"A rehearsal has 1 to {MOST_VOTERS} voters, found {self.n_voters}.")
        before = _revision(store, self.project_id)
        with self._staged(store) as (copy, copy_id, ballot, plan, stage):
            last_row = _last_row(copy)
            walks: list[_Walk] = []
            with ThreadPoolExecutor(AT_ONCE) as voters:
                for walk in voters.map(lambda number: _walk(stage, number), range(self.n_voters)):
                    walks.append(walk)
                    if progress is not None:
                        progress(len(walks), self.n_voters + 1)
            faults = [fault for walk in walks for fault in walk.faults]
            found, n_compared = _compare(copy, ballot, stage, walks, last_row)
            votes = _exported(copy, copy_id, last_row)
            posts = _bad_posts(copy, stage, self.n_voters)
            told = ""
            if self.browser:
                told, found_there = _in_chromium(stage, self.n_voters + 1)
                faults += found_there
        after = _revision(store, self.project_id)
        if after[0] != before[0]:
            faults.append(f"The project was changed meanwhile: revision {before[0]:,} before, {after[0]:,} now.")
        n_asked = max((walk.n_asked for walk in walks), default=0)
        seconds = n_asked * plan.seconds_per_comparison
        screens = _in_order(walks[0].screens)
        read_first = sum(screen.n_words for screen in takewhile(lambda screen: not screen.asks, screens))
        rehearsed = Rehearsed(
            n_voters=self.n_voters,
            n_sent=sum(len(walk.sent) for walk in walks),
            n_compared=n_compared,
            faults=(*faults, *found),
            bad_posts=tuple(posts),
            screens=tuple(screens),
            n_asked=n_asked,
            seconds_per_task=seconds,
            seconds_first=read_first / WORDS_A_MINUTE * 60,
            reward=plan.reward,
            wage=plan.reward * 3600 / seconds if plan.reward and seconds else float("nan"),
            columns=tuple(VOTES.columns.items()),
            n_rows=len(votes),
            votes=votes.tail(5).reset_index(drop=True),
            before=before,
            after=after,
            browser=told,
        )
        return rehearsed, None

    @contextmanager
    def _staged(self, store: Store) -> Iterator[tuple[Store, str, Ballot, PlanSettings, Stage]]:
        """The copy with its server, until the end of the block: nothing of either stays."""
        with store.read() as conn:
            ballot = open_ballot_of(conn, self.project_id, self.area_id, self.code)
            if ballot.is_round:
                raise InputError("Rehearsals are of ballots of comparisons. Open a round's link yourself to try it.")
            project = project_row(conn, self.project_id)
            beliefs = read_beliefs(conn, store, project).similarity
            items = items_of(conn, self.project_id)
        settings = VotingSettings.of(self.settings)
        room = -(-3 * self.n_voters * settings.task_size // max(ballot.n_comparisons, 1)) + 2
        settings = replace(settings, adaptive=False, votes_per_comparison=min(MOST_VOTES, room))
        names = tuple(f"rehearsal-{number + 1:03d}" for number in range(self.n_voters + 2))
        voters = draw_panel(Panel(n_voters=len(names)), np.random.default_rng([project.seed, 1, 4]))
        held = opinions(beliefs, voters, seed=project.seed, notion=project.notion)
        rows = items[["area", "token_a", "token_b"]].itertuples(index=False)
        position = {_item(*row): place for place, row in enumerate(rows)}
        with (
            tempfile.TemporaryDirectory(prefix="runoff-rehearsal-") as folder,
            open_apart(Path(folder) / "workspace") as copy,
        ):
            copy_id = import_project(copy, export_project(store, self.project_id))
            with copy.read() as conn:
                area_id = _area_of(conn, copy_id, ballot.code)
                mine = open_ballot_of(conn, copy_id, area_id, ballot.code)
                plan = settings_for(conn, mine.id)
            code = open_voting(copy, copy_id, settings, area_id=area_id, code=ballot.code)
            if settings.identify == "invited":
                invite(copy, copy_id, names, area_id=area_id)
            tokens = dict(read_invitations(copy, copy_id, area_id))
            running = start_server(copy, port=_free_port())
            try:
                yield copy, copy_id, mine, plan, Stage(
                    running.port, code, settings, names, tokens, position, held, voters, project.seed
                )  # fmt: skip
            finally:
                stop_servers(copy, [running])


def _free_port() -> int:
    """A port far from those that owners serve at, which nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _area_of(conn: sa.Connection, project_id: str, code: str) -> int | None:
    found = conn.execute(
        sa.select(t.ballot.c.area_id).where(t.ballot.c.project_id == project_id, t.ballot.c.code == code)
    )
    return found.scalar_one()


def _revision(store: Store, project_id: str) -> tuple[int, int]:
    with store.read() as conn:
        row = project_row(conn, project_id)
    return int(row.revision), int(row.pulse)


def _item(area: str, one: str, other: str) -> Item:
    return (area, *sorted((one, other)))


# A voter's way


def _walk(stage: Stage, number: int) -> _Walk:
    """One voter's way from the link to the end, with the habit of that number."""
    walk = _Walk(stage.names[number])
    try:
        _Voter(stage, number, walk).go()
    except RunoffError as error:
        walk.faults.append(f"{walk.name} could not go on: {error}")
    return walk


class _Voter:
    """Somebody on the page, who answers by opinions and has a habit."""

    def __init__(self, stage: Stage, number: int, walk: _Walk) -> None:
        self._stage, self._number, self._walk = stage, number, walk
        self._habit = HABITS[number % len(HABITS)]
        self._browser = FormBrowser(stage.port)
        self._rng = np.random.default_rng([stage.seed, 17, number])
        self._earlier: tuple[Form, str] | None = None  # a form that was sent, and another answer to it
        self._n_tasks = 0

    def go(self) -> None:
        """Go on until the page has nothing more to press."""
        page = self._browser.open(self._stage.address(self._number))
        while True:
            self._walk.screens.append(_screen(page))
            if page.status != 200:
                self._fault(f"the page answered {page.status}: {page.text[:200]}")
                return
            following = self._next(page)
            if following is None:
                break
            page = following
        if not self._n_tasks:
            self._fault(f"the way ended before a task was done: {page.text[:200]}")

    def _fault(self, what: str) -> None:
        self._walk.faults.append(f"{self._walk.name} ({self._habit}): {what}")

    def _next(self, page: Page) -> Page | None:
        """What comes after a page; None where it is the last."""
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
        return self._browser.open(go_on[0]) if go_on else None

    def _begin(self, form: Form) -> Page:
        given = {name: self._walk.name for name in ("name",) if name in form.fields}
        if "word" in form.fields:
            given["word"] = self._stage.settings.code_word
        given |= {name: str(self._rng.choice(["", *TRAITS[name][1]])) for name in TRAITS if name in form.choices}
        return self._send(form, **given)

    def _send(self, form: Form, **given: str) -> Page:
        """Send a form, by the habit once more or not heard of at first."""
        if self._habit == "lose the connection":
            self._browser.lose(form, **given)
        if self._habit == "tap twice":
            self._browser.send(form, **given)
        return self._browser.send(form, **given)

    def _answer(self, page: Page) -> Page:
        """Answer a question, and whatever the habit is."""
        form, habit = page.forms["vote"], self._habit
        if habit == "load the page again":
            again = self._browser.open(f"/v/{self._stage.code}")
            if (again.cards, again.forms["vote"].fields["place"]) != (page.cards, form.fields["place"]):
                self._fault(f"another question came when the page was loaded again: {again.cards} after {page.cards}")
        if habit == "close the page and come back":
            self._browser = FormBrowser(self._stage.port, cookies=self._browser.cookies)
            page = self._browser.open(self._stage.address(self._number))
            form = page.forms["vote"]
        if self._n_tasks == 0:
            self._walk.n_asked += 1
        if habit == "take answers back" and self._walk.n_asked % 3 == 2:
            # Another answer first, which is taken back: it must not stay.
            then = self._send(form, choice="unknown", seconds="1")
            back = self._browser.send(then.forms["undo"])
            if back.cards != page.cards:
                self._fault(f"another question came after Undo: {back.cards} in place of {page.cards}")
                return back
            form = back.forms["vote"]
        choice = self._choose(page.cards)
        self._walk.sent.append(_meant(page.cards, choice))
        if habit == "use the page's script":
            told = self._browser.send_by_script(form, choice=choice, seconds="1.5")
            if told.get("kind") not in ("vote", "page"):
                self._fault(f"the page's script was told {told}")
            following = self._browser.open(f"/v/{self._stage.code}")
        else:
            following = self._send(form, choice=choice, seconds="1.5")
        if habit == "send an earlier page again":
            if self._earlier is not None:
                self._browser.send(self._earlier[0], choice=self._earlier[1])
            self._earlier = (form, "left" if choice != "left" else "right")
        return following

    def _choose(self, cards: Mapping[str, tuple[str, ...]]) -> str:
        """The answer by this voter's opinions."""
        left, right = (self._stage.position.get(_shown(cards[side])) for side in ("left", "right"))
        if left is None or right is None:
            self._fault(f"the page shows what is no item of the project: {cards}")
            return "unknown"
        mine = self._stage.opinions[self._number]
        slip = float(self._stage.voters.oversight[self._number])
        outcome = float(decide([mine[left]], [mine[right]], slip, self._rng)[0])
        tie = "tie" if self._stage.settings.ties_allowed else "left"
        return {1.0: "left", 0.0: "right"}.get(outcome, tie)


def _shown(card: tuple[str, ...]) -> Item:
    """The item on a card: two tokens, then the area."""
    return _item(card[2], card[0], card[1])


def _meant(cards: Mapping[str, tuple[str, ...]], choice: str) -> tuple[frozenset[Item], object]:
    """What an answer says, whatever the sides: of which two items, and which of them, or that it is neither."""
    both = frozenset(_shown(cards[side]) for side in ("left", "right"))
    return both, _shown(cards[choice]) if choice in cards and choice in ("left", "right") else choice


def _screen(page: Page) -> Screen:
    heading = page.heading or next(iter(page.lines), "")
    return Screen(heading, "vote" in page.forms, len(page.text.split()), tuple(page.buttons))


def _in_order(screens: list[Screen]) -> list[Screen]:
    """Screens as they come, of questions that follow each other only the first."""
    shown: list[Screen] = []
    for screen in screens:
        if not (screen.asks and shown and shown[-1].asks):
            shown.append(screen)
    return shown


# What is stored, beside what was sent


def _last_row(store: Store) -> int:
    with store.read() as conn:
        return int(conn.execute(sa.select(sa.func.coalesce(sa.func.max(t.judgement.c.id), 0))).scalar_one())


def _compare(store: Store, ballot: Ballot, stage: Stage, walks: list[_Walk], last_row: int) -> tuple[list[str], int]:
    """What differs between the rows after `last_row` and what was sent, each in a sentence; how many rows there are."""
    rows = _stored(store, ballot, last_row)
    known = set(stage.names)
    sent = Counter((walk.name, *answer) for walk in walks for answer in walk.sent)
    if not {voter for _, voter, *_ in rows} <= known:  # ids are hashed, or nobody has a name
        sent = Counter(("a voter", *answer) for walk in walks for answer in walk.sent)
        rows = [(id_, "a voter", *rest) for id_, _, *rest in rows]
    stored = Counter((voter, both, chosen) for _, voter, both, chosen in rows)
    faults = [f"Not stored: {_told(*answer)}{_times(n)}." for answer, n in (sent - stored).items()]
    extra = stored - sent
    for id_, *answer in reversed(rows):
        if extra[tuple(answer)] > 0:
            extra[tuple(answer)] -= 1
            how = "stored once too often" if tuple(answer) in sent else "stored, and nobody sent it"
            faults.append(f"Row {id_} of judgement is {how}: {_told(*answer)}.")
    return faults, len(rows)


def _exported(store: Store, project_id: str, last_row: int) -> pd.DataFrame:
    """The rows of the published table of votes by those who answered after a row."""
    secret = voter_secret(store, project_id)
    v, a, j = t.voter.c, t.assignment.c, t.judgement.c
    query = sa.select(v.platform, v.external_id).distinct().join(t.assignment, a.voter_id == v.id)
    with store.read() as conn:
        rows = conn.execute(query.join(t.judgement, j.assignment_id == a.id).where(j.id > last_row)).all()
        votes = record_of(conn, project_id, secret).votes
    return votes[votes["voter"].isin([pseudonym(secret, *row) for row in rows])]


def _told(voter: str, both: frozenset[Item], chosen: object) -> str:
    pairs = " or ".join(sorted(f"{one} – {other} ({area})" for area, one, other in both))
    said = f"{chosen[1]} – {chosen[2]}" if isinstance(chosen, tuple) else chosen
    return f"{voter} answered “{said}” to {pairs}"


def _times(n: int) -> str:
    return "" if n == 1 else f", {n} times"


def _stored(store: Store, ballot: Ballot, last_row: int) -> list[tuple[Any, ...]]:
    """Id, voter, both items and what was chosen of each answer of a ballot after a row, in order of ids."""
    j, a, v = t.judgement.c, t.assignment.c, t.voter.c
    option, item = t.question_option.c, t.item.c
    one, other = t.token.alias(), t.token.alias()
    with store.read() as conn:
        shown = (
            sa.select(option.question_id, option.position, t.area.c.name, one.c.text, other.c.text)
            .join(t.item, item.id == option.item_id)
            .join(t.area, t.area.c.id == item.area_id)
            .join(one, one.c.id == item.token_a_id)
            .join(other, other.c.id == item.token_b_id)
            .join(t.question, t.question.c.id == option.question_id)
            .where(t.question.c.ballot_id == ballot.id)
        )
        items = {(question, place): _item(*words) for question, place, *words in conn.execute(shown)}
        given = (
            sa.select(j.id, v.external_id, j.question_id, j.answer)
            .join(t.assignment, a.id == j.assignment_id)
            .join(t.voter, v.id == a.voter_id)
            .where(j.id > last_row, j.status != "withdrawn", a.ballot_id == ballot.id)
            .order_by(j.id)
        )
        found = conn.execute(given).all()
    rows: list[tuple[Any, ...]] = []
    for id_, voter, question, answer in found:
        pair = [items[question, 0], items[question, 1]]
        chosen: object = pair[("first", "second").index(answer)] if answer in ("first", "second") else answer
        rows.append((id_, voter, frozenset(pair), chosen))
    return rows


# What must fail


def _bad_posts(store: Store, stage: Stage, number: int) -> list[BadPost]:
    """Posts that must store nothing, one after the other, by a voter who has begun and answered one question."""
    walk = _Walk(stage.names[number])
    browser = FormBrowser(stage.port)
    voter = _Voter(stage, number, walk)
    voter._browser, voter._habit = browser, HABITS[0]
    page: Page | None = browser.open(stage.address(number))
    while page is not None and "vote" not in page.forms:
        page = voter._next(page)
    if page is None:
        return []
    answered = page.forms["vote"]
    page = browser.send(answered, choice="left", seconds="1")
    if "vote" not in page.forms:
        return []
    form = page.forms["vote"]
    # Somebody else's link: by a personal one of their own, voters come back to the same page in any browser.
    elsewhere = FormBrowser(stage.port).open(stage.address(number - 1))
    of_entry = next(iter(elsewhere.forms.values()), Form("", "post"))
    good = form.fields | {"choice": "left", "seconds": "1"}
    bad: list[tuple[str, int, Mapping[str, str]]] = [
        ("a forged token", 403, good | {"form": "0" * 64}),
        ("the token of another page", 403, good | {"form": of_entry.fields.get("form", "")}),
        ("a vote in another's task", 400, good | {"place": "77.1"}),
        ("a vote past the task's end", 400, good | {"place": "1.99999"}),
        ("an answer that isn't offered", 400, good | {"choice": "both"}),
        ("an answer sent again with another choice", 303, answered.fields | {"choice": "right", "seconds": "1"}),
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
        ("a vote by the wrong method", 404, partial(_status, browser, "GET", f"{form.action}?choice=left", None)),
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


def _in_chromium(stage: Stage, number: int) -> tuple[str, list[str]]:
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
                    page.locator(".ro-card").nth(n_answers % 2).tap()
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
            seen = " ".join(page.inner_text("body").split())[:300]
            return "", [*errors, f"The voter in Chromium was stopped: {str(error)[:200]} The page: {seen}"]
        finally:
            browser.close()
    return f"A voter on a phone in Chromium gave {many(n_answers, 'answer')} by touch and finished.", errors
