"""A rehearsal of the voting page: voters who aren't people go the whole way on a copy, and every row is looked at.

The project is copied into a workspace of its own, which is gone at the end, and the voters' server runs on the copy, at
another port. Nothing of it touches the project, its link or its voters. Voters' opinions are those of Eq. 11 (Lombardo
et al., 2020), so that what is exported looks like what will be. What a round asks, and how its answers are written, its
kind of question says (`RoundOnPage`); a round is closed on the copy, as only then there is something to export.
"""

from __future__ import annotations

import socket
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...base.parallel import Progress
from ...errors import InputError, RunoffError
from ...questions.base import UNKNOWN
from ...questions.order.groups import preference_table
from ...questions.voting_settings import VotingSettings
from ...store import Store
from ...store import schema as t
from ...store.ballots.ballot_rows import Ballot, open_ballot_of, preferences
from ...store.ballots.closing import close_ballot
from ...store.ballots.simulated import read_beliefs, simulate_votes, within_0_and_1
from ...store.command import project_row
from ...store.engine import open_apart
from ...store.projects.archive import export_project, import_project
from ...store.projects.plans import settings_for
from ...store.projects.records import pseudonym, record_of, voter_secret
from ...store.scores.project_dataset import round_dataset
from ...store.tokens.areas import items_of
from ...store.voting.owner_commands import invite, open_voting, read_invitations, set_voting_state
from ...store.voting.voter_views import VoterView
from ...voters.model import Panel, draw_panel, opinions
from ...voting.api import task_html
from ...voting.form_browser import page_of
from ...voting.process import start_server, stop_servers
from .base import Figure
from .rehearsal_voters import (
    AskedOnPage,
    BadPost,
    ComparisonsOnPage,
    Item,
    Meant,
    Opinions,
    RehearsalStage,
    RoundOnPage,
    Screen,
    Walk,
    bad_posts,
    go_the_way,
    in_chromium,
    item_key,
    screens_in_order,
)

AT_ONCE = 4  # voters who are on the page at the same time
MOST_VOTERS, MOST_VOTES = 200, 20  # the second of a comparison, as the page's settings allow
SHOWN = 5  # rows of what is exported: of votes the last, which came last; of a round's items the leading ones
VOTES_FILE = "campaign/votes.csv of the dataset"
ROUND_FILE = "the dataset of the round once it is closed"
WORDS_A_MINUTE = 238  # silent reading of English: Brysbaert (2019), Journal of Memory and Language 109


@dataclass(frozen=True)
class Rehearsed:
    """What a rehearsal found.

    n_sent : answers that voters gave and were told are saved. n_compared : rows stored by them, each compared with what
    was sent. faults : what isn't as it must be, each with its row. screens : what the first voter saw, in order, a
    question once. seconds_per_task : at the plan's seconds a question; seconds_first : to read what stands before the
    first question. reward : of a task; wage : an hour, NaN where nothing is paid. exported_as : what goes out of the
    answers; columns : of that table with their types; n_rows, exported : how many rows it has, and a few of them;
    n_filled : answers that simulated people gave, too, so that a round could be closed. before, after : the project's
    revision and vote counter. browser : what became of the voter in Chromium, "" where none was asked for.
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
    exported_as: str
    columns: tuple[tuple[str, str], ...]
    n_rows: int
    exported: pd.DataFrame
    n_filled: int
    before: tuple[int, int]
    after: tuple[int, int]
    browser: str = ""

    @property
    def is_fine(self) -> bool:
        """Whether everything was as it must be."""
        return not self.problems

    @property
    def problems(self) -> list[str]:
        """What isn't as it must be, each in a sentence."""
        posts = [
            f"Bad request, {post.what}: {post.status} in place of {post.expected}, {post.n_stored} rows changed."
            for post in self.bad_posts
            if not post.is_fine
        ]
        return [*self.faults, *posts]


@dataclass(frozen=True)
class Rehearsal(Figure[Rehearsed]):
    """Rehearse the voting page of an open ballot or round, with settings as they would be (`VotingSettings.stored`)."""

    name = "rehearsal"
    version = 2
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
        with self._staged(store) as (copy, copy_id, ballot, stage):
            last_row = _last_row(copy)
            walks: list[Walk] = []
            with ThreadPoolExecutor(AT_ONCE) as voters:
                for walk in voters.map(lambda number: go_the_way(stage, number), range(self.n_voters)):
                    walks.append(walk)
                    if progress is not None:
                        progress(len(walks), self.n_voters + 1)
            faults = [fault for walk in walks for fault in walk.faults]
            found, n_compared = _compare(copy, ballot, stage, walks, last_row)
            faults += [*found, *_wrong_values(copy, ballot, last_row)]
            seconds_each, reward = _pay_of(copy, ballot)
            made = None if ballot.is_round else _exported_votes(copy, copy_id, last_row)
            posts, told = [], ""
            try:
                posts = bad_posts(copy, stage, self.n_voters)
            except RunoffError as error:
                faults.append(f"Bad requests could not be sent: {error}")
            if self.browser:
                told, found_there = in_chromium(stage, self.n_voters + 1)
                faults += found_there
            if made is None:
                made = _Exported(ROUND_FILE, pd.DataFrame())
                try:
                    made = _exported_round(copy, copy_id, ballot)
                except RunoffError as error:
                    faults.append(f"The round could not be closed on the copy: {error}")
        after = _revision(store, self.project_id)
        if after[0] != before[0]:
            faults.append(f"The project was changed meanwhile: revision {before[0]:,} before, {after[0]:,} now.")
        n_asked = max((walk.n_asked for walk in walks), default=0)
        seconds = n_asked * seconds_each
        screens = screens_in_order(walks[0].screens)
        read_first = sum(screen.n_words for screen in takewhile(lambda screen: not screen.asks, screens))
        rehearsed = Rehearsed(
            n_voters=self.n_voters,
            n_sent=sum(len(walk.sent) for walk in walks),
            n_compared=n_compared,
            faults=tuple(faults),
            bad_posts=tuple(posts),
            screens=tuple(screens),
            n_asked=n_asked,
            seconds_per_task=seconds,
            seconds_first=read_first / WORDS_A_MINUTE * 60,
            reward=reward,
            wage=reward * 3600 / seconds if reward and seconds else float("nan"),
            exported_as=made.name,
            columns=tuple((str(name), _type_of(made.table[name])) for name in made.table),
            n_rows=len(made.table),
            exported=(made.table.head(SHOWN) if ballot.is_round else made.table.tail(SHOWN)).reset_index(drop=True),
            n_filled=made.n_filled,
            before=before,
            after=after,
            browser=told,
        )
        return rehearsed, None

    @contextmanager
    def _staged(self, store: Store) -> Iterator[tuple[Store, str, Ballot, RehearsalStage]]:
        """The copy with its server, until the end of the block: nothing of either stays."""
        with store.read() as conn:
            ballot = open_ballot_of(conn, self.project_id, self.area_id, self.code)
            project = project_row(conn, self.project_id)
            beliefs = read_beliefs(conn, store, project).similarity
            items = items_of(conn, self.project_id)
        settings = VotingSettings.of(self.settings)
        room = -(-3 * self.n_voters * settings.task_size // max(ballot.n_comparisons, 1)) + 2
        settings = replace(settings, adaptive=False, votes_per_comparison=min(MOST_VOTES, room))
        names = tuple(f"rehearsal-{number + 1:03d}" for number in range(self.n_voters + 2))
        voters = draw_panel(Panel(n_voters=len(names)), np.random.default_rng([project.seed, 1, 4]))
        held = within_0_and_1(opinions(beliefs, voters, seed=project.seed, notion=project.notion), project.notion)
        rows = items[["area", "token_a", "token_b"]].itertuples(index=False)
        position = {item_key(*row): place for place, row in enumerate(rows)}
        known = Opinions(position, held, voters, project.seed)
        with (
            tempfile.TemporaryDirectory(prefix="runoff-rehearsal-") as folder,
            open_apart(Path(folder) / "workspace") as copy,
        ):
            copy_id = import_project(copy, export_project(store, self.project_id))
            with copy.read() as conn:
                area_id = _area_of(conn, copy_id, ballot.code)
                mine = open_ballot_of(conn, copy_id, area_id, ballot.code)
            with copy.write() as conn:  # one link has one page: on the copy, that of another ballot is over
                others = sa.update(t.voting).where(t.voting.c.ballot_id != mine.id)
                conn.execute(others.values(state="closed"))
            code = open_voting(copy, copy_id, settings, area_id=area_id, code=ballot.code)
            if settings.identify == "invited":
                invite(copy, copy_id, names, area_id=area_id)
            if mine.is_round:
                _make_room(copy, mine, len(names))
            asks = _asked_on_page(copy, mine, known, settings, project.notion)
            tokens = dict(read_invitations(copy, copy_id, area_id))
            running = start_server(copy, port=_free_port())
            try:
                stage = RehearsalStage(running.port, code, settings, names, tokens, asks, project.seed)
                yield copy, copy_id, mine, stage
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


def _make_room(store: Store, ballot: Ballot, n_voters: int) -> None:
    """Let each question of a round want an answer of so many more people."""
    q = t.question.c
    more = sa.update(t.question).where(q.ballot_id == ballot.id, q.role == "main")
    with store.write() as conn:
        conn.execute(more.values(n_wanted=q.n_dealt + n_voters))


def _asked_on_page(store: Store, ballot: Ballot, known: Opinions, settings: VotingSettings, notion: str) -> AskedOnPage:
    """How the questions of a ballot stand on the page, and how voters answer them there."""
    if not ballot.is_round:
        return ComparisonsOnPage(known, ties_allowed=settings.ties_allowed)
    kind = ballot.asks
    questions: dict[frozenset[tuple[str, str]], tuple[Item, ...]] = {}
    names: set[str] = set()
    for shown in _words_shown(store, ballot).values():
        items = tuple(item_key(*words) for words in shown)
        for swapped in (False, True):
            texts = kind.variables([(one, other) for _, one, other in shown], swapped)
            questions[frozenset(texts.items())] = items
            names |= set(texts)
    view = VoterView("vote", notion=notion, round=ballot.settings)
    html = task_html(view, {name: name for name in names})  # each word's place has the name of its variable
    variables = page_of(f'<form action="vote">{html}</form>').forms["vote"].tokens
    return RoundOnPage(known, kind, ballot.settings, questions, variables)


def _pay_of(store: Store, ballot: Ballot) -> tuple[float, float]:
    """Seconds a question, and what a task is paid."""
    if ballot.is_round:
        return ballot.settings.seconds, ballot.settings.reward
    with store.read() as conn:
        plan = settings_for(conn, ballot.id)
    return plan.seconds_per_comparison, plan.reward


def _revision(store: Store, project_id: str) -> tuple[int, int]:
    with store.read() as conn:
        row = project_row(conn, project_id)
    return int(row.revision), int(row.pulse)


# What is stored, beside what was sent


def _last_row(store: Store) -> int:
    with store.read() as conn:
        return int(conn.execute(sa.select(sa.func.coalesce(sa.func.max(t.judgement.c.id), 0))).scalar_one())


def _compare(
    store: Store, ballot: Ballot, stage: RehearsalStage, walks: list[Walk], last_row: int
) -> tuple[list[str], int]:
    """What differs between the rows after `last_row` and what was sent, each in a sentence; how many rows there are."""
    rows = _stored(store, ballot, stage.asks, last_row)
    known = set(stage.names)
    sent = Counter((walk.name, *answer) for walk in walks for answer in walk.sent)
    if not {voter for _, voter, _ in rows} <= known:  # ids are hashed, or nobody has a name
        sent = Counter(("a voter", *answer) for walk in walks for answer in walk.sent)
        rows = [(id_, "a voter", meant) for id_, _, meant in rows]
    stored = Counter((voter, *meant) for _, voter, meant in rows)
    faults = [f"Not stored: {_told(*answer)}{_times(n)}." for answer, n in (sent - stored).items()]
    extra = stored - sent
    for id_, voter, meant in reversed(rows):
        answer = (voter, *meant)
        if extra[answer] > 0:
            extra[answer] -= 1
            how = "stored once too often" if answer in sent else "stored, and nobody sent it"
            faults.append(f"Row {id_} of judgement is {how}: {_told(*answer)}.")
    return faults, len(rows)


def _wrong_values(store: Store, ballot: Ballot, last_row: int) -> list[str]:
    """Rows after `last_row` whose number isn't that of their answer, by the kind of question, each in a sentence."""
    j, a = t.judgement.c, t.assignment.c
    query = sa.select(j.id, j.answer, j.value).join(t.assignment, a.id == j.assignment_id).order_by(j.id)
    with store.read() as conn:
        rows = conn.execute(query.where(j.id > last_row, a.ballot_id == ballot.id)).all()
    return [
        f"Row {id_} of judgement has the number {value} beside the answer “{answer}”."
        for id_, answer, value in rows
        if value != (None if answer == UNKNOWN else ballot.kind.value(answer))
    ]


@dataclass(frozen=True)
class _Exported:
    """What goes out of a ballot's answers: its name, the table, and how many answers simulated people added."""

    name: str
    table: pd.DataFrame
    n_filled: int = 0


def _exported_votes(store: Store, project_id: str, last_row: int) -> _Exported:
    """The rows of the published table of votes by those who answered after a row."""
    secret = voter_secret(store, project_id)
    v, a, j = t.voter.c, t.assignment.c, t.judgement.c
    query = sa.select(v.platform, v.external_id).distinct().join(t.assignment, a.voter_id == v.id)
    with store.read() as conn:
        rows = conn.execute(query.join(t.judgement, j.assignment_id == a.id).where(j.id > last_row)).all()
        votes = record_of(conn, project_id, secret).votes
    return _Exported(VOTES_FILE, votes[votes["voter"].isin([pseudonym(secret, *row) for row in rows])])


def _exported_round(store: Store, project_id: str, ballot: Ballot) -> _Exported:
    """What a round on the copy goes out as: it is closed for that, once simulated people have answered the questions
    that nobody has."""
    meant: dict[str, Any] = {"area_id": ballot.area_id, "code": ballot.code}
    set_voting_state(store, project_id, "closed", **meant)
    q = t.question.c
    of_ballot = sa.and_(q.ballot_id == ballot.id, q.role == "main")
    with store.write() as conn:
        conn.execute(sa.update(t.project).where(t.project.c.id == project_id).values(kind="trial"))
        conn.execute(sa.update(t.question).where(of_ballot).values(n_wanted=1))
        lacking = sa.select(sa.func.count()).where(of_ballot, q.n_votes < 1)
        n_lacking = conn.execute(lacking).scalar_one()
    n_filled = simulate_votes(store, project_id, **meant) if n_lacking else 0
    close_ballot(store, project_id, **meant)
    if ballot.kind.about.scores_items:
        return _Exported(ROUND_FILE, round_dataset(store, project_id, ballot.id), n_filled)
    with store.read() as conn:
        return _Exported(ROUND_FILE, preference_table(preferences(conn, project_id, ballot)), n_filled)


def _type_of(column: pd.Series) -> str:
    """A column's type as the schemas of tables name it."""
    if pd.api.types.is_float_dtype(column):
        return "float"
    return "int" if pd.api.types.is_integer_dtype(column) else "text"


def _told(voter: str, items: frozenset[Item] | tuple[Item, ...], chosen: object) -> str:
    named = [f"{one} – {other} ({area})" for area, one, other in items]
    shown = " or ".join(sorted(named)) if isinstance(items, frozenset) else "; ".join(named)
    said = f"{chosen[1]} – {chosen[2]}" if isinstance(chosen, tuple) else chosen
    return f"{voter} answered “{said}” to {shown}"


def _times(n: int) -> str:
    return "" if n == 1 else f", {n} times"


def _words_shown(store: Store, ballot: Ballot) -> dict[int, list[tuple[str, str, str]]]:
    """Area and both tokens of the items that each question of a ballot shows, in their places, by question."""
    option, item = t.question_option.c, t.item.c
    one, other = t.token.alias(), t.token.alias()
    query = (
        sa.select(option.question_id, t.area.c.name, one.c.text, other.c.text)
        .join(t.item, item.id == option.item_id)
        .join(t.area, t.area.c.id == item.area_id)
        .join(one, one.c.id == item.token_a_id)
        .join(other, other.c.id == item.token_b_id)
        .join(t.question, t.question.c.id == option.question_id)
        .where(t.question.c.ballot_id == ballot.id)
        .order_by(option.question_id, option.position)
    )
    shown: dict[int, list[tuple[str, str, str]]] = {}
    with store.read() as conn:
        for question, *words in conn.execute(query):
            shown.setdefault(question, []).append((words[0], words[1], words[2]))
    return shown


def _stored(store: Store, ballot: Ballot, asks: AskedOnPage, last_row: int) -> list[tuple[int, str, Meant]]:
    """Id, voter and meaning of each answer of a ballot after a row, in order of ids."""
    j, a, v = t.judgement.c, t.assignment.c, t.voter.c
    items = {id_: tuple(item_key(*words) for words in shown) for id_, shown in _words_shown(store, ballot).items()}
    given = (
        sa.select(j.id, v.external_id, j.question_id, j.answer)
        .join(t.assignment, a.id == j.assignment_id)
        .join(t.voter, v.id == a.voter_id)
        .where(j.id > last_row, j.status != "withdrawn", a.ballot_id == ballot.id)
        .order_by(j.id)
    )
    with store.read() as conn:
        found = conn.execute(given).all()
    return [(id_, voter, asks.stored(items[question], answer)) for id_, voter, question, answer in found]
