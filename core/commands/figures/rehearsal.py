"""A rehearsal of the voting page: voters who aren't people go the whole way on a copy, and every row is looked at.

The project is copied into a workspace of its own, which is gone at the end, and the voters' server runs on the copy, at
another port. Nothing of it touches the project, its link or its voters. Voters' opinions are those of Eq. 11 (Lombardo
et al., 2020), so that what is exported looks like what will be.
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
from ...dataset.published import VOTES
from ...errors import InputError
from ...questions.voting_settings import VotingSettings
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
from ...voters.model import Panel, draw_panel, opinions
from ...voting.process import start_server, stop_servers
from .base import Figure
from .rehearsal_voters import (
    BadPost,
    Item,
    RehearsalStage,
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
WORDS_A_MINUTE = 238  # silent reading of English: Brysbaert (2019), Journal of Memory and Language 109


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
            walks: list[Walk] = []
            with ThreadPoolExecutor(AT_ONCE) as voters:
                for walk in voters.map(lambda number: go_the_way(stage, number), range(self.n_voters)):
                    walks.append(walk)
                    if progress is not None:
                        progress(len(walks), self.n_voters + 1)
            faults = [fault for walk in walks for fault in walk.faults]
            found, n_compared = _compare(copy, ballot, stage, walks, last_row)
            votes = _exported(copy, copy_id, last_row)
            posts = bad_posts(copy, stage, self.n_voters)
            told = ""
            if self.browser:
                told, found_there = in_chromium(stage, self.n_voters + 1)
                faults += found_there
        after = _revision(store, self.project_id)
        if after[0] != before[0]:
            faults.append(f"The project was changed meanwhile: revision {before[0]:,} before, {after[0]:,} now.")
        n_asked = max((walk.n_asked for walk in walks), default=0)
        seconds = n_asked * plan.seconds_per_comparison
        screens = screens_in_order(walks[0].screens)
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
    def _staged(self, store: Store) -> Iterator[tuple[Store, str, Ballot, PlanSettings, RehearsalStage]]:
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
        position = {item_key(*row): place for place, row in enumerate(rows)}
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
                yield copy, copy_id, mine, plan, RehearsalStage(
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


# What is stored, beside what was sent


def _last_row(store: Store) -> int:
    with store.read() as conn:
        return int(conn.execute(sa.select(sa.func.coalesce(sa.func.max(t.judgement.c.id), 0))).scalar_one())


def _compare(
    store: Store, ballot: Ballot, stage: RehearsalStage, walks: list[Walk], last_row: int
) -> tuple[list[str], int]:
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
        items = {(question, place): item_key(*words) for question, place, *words in conn.execute(shown)}
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
