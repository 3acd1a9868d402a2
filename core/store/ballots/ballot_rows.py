"""The ballots and rounds of a project, what stands in them, and the answers of rounds that count.

`drawing` draws them, `closing` closes them.

A ballot has a purpose. Those of the campaign are numbered 1, 2, …, and have a plan. A ranking may have a pilot before:
it has a plan and the number 0, and its votes never enter a score (`pilots`). It may have rounds, which ask another kind
of question (`core.questions`): they have settings in place of a plan, and numbers 1, 2, … of their own in the order in
which they are drawn, whatever their kinds. So tasks, uploads, voters, exclusions, payment and the voting page are
shared.

Answers come as the kinds of question take them (`questions.Answers`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...errors import PlanError, StaleError, StoreError
from ...questions import (
    COMPARISON,
    KINDS,
    Answers,
    QuestionKind,
    RoundKind,
    RoundSettings,
    check_round,
    kind_of,
    round_kind,
)
from ...questions.base import UNKNOWN
from ...questions.order.groups import GroupComparison
from ...questions.rating.kind import rated_items
from ...questions.rating.scales import RatingSet
from ...tables import SHOWN
from .. import schema as t
from ..command import fetch_integers, fetch_rows
from ..engine import Store
from ..projects.plans import belongs, in_campaign, is_comparison, ranking_of, rankings_of
from ..schema.ballots import CAMPAIGN, ROUND, TRIAL
from ..tokens.areas import items_of
from .comparisons import comparisons_of, shown_of


@dataclass(frozen=True)
class Ballot:
    """A ballot as pages see it.

    purpose : what it is held for: the campaign, as its pilot, or as a round by itself. number : 1, 2, … among those of
    its ranking that have its purpose; 0 for the pilot.
    """

    id: int
    number: int
    code: str
    state: str
    protocol: str
    appearances: int
    seed: int
    n_items: int
    n_comparisons: int
    n_tied: int
    n_tied_kept: int
    slope: float | None
    interval_note: str | None
    drawn_at: str
    closed_at: str | None
    area_id: int | None = None  # the area that it ranks, where each has a ranking of its own
    scheme: str = COMPARISON.name  # the name of its kind of question
    stored: Mapping[str, Any] | None = field(default=None, compare=False)  # a round's settings
    purpose: str = CAMPAIGN

    @property
    def is_open(self) -> bool:
        return self.state == "open"

    @property
    def kind(self) -> QuestionKind:
        """What its questions are."""
        return kind_of(self.scheme)

    @property
    def asks(self) -> RoundKind:
        """What the questions of a round are; `PlanError` for comparisons."""
        return round_kind(self.scheme)

    @property
    def settings(self) -> RoundSettings:
        """What a round is drawn by; a plan describes the others (`plans.settings_for`)."""
        if self.stored is None:
            raise StoreError(f"{sentence_start(self.called)} is described by its plan.")
        return RoundSettings.of({**self.stored, "scheme": self.scheme})

    @property
    def is_pilot(self) -> bool:
        return self.purpose == TRIAL

    @property
    def is_round(self) -> bool:
        """Whether it asks something else than comparisons."""
        return self.purpose == ROUND

    @property
    def called(self) -> str:
        """What sentences call it."""
        return called(self.number, self.purpose)

    @property
    def title(self) -> str:
        """What pages call it: "Round 2, ratings"."""
        return (
            f"{sentence_start(self.called)}, {self.kind.about.label}" if self.is_round else sentence_start(self.called)
        )


_IN_STORE = {"number": "ordinal", "scheme": "kind", "stored": "settings"}
_COLUMNS = [t.ballot.c[_IN_STORE.get(name, name)] for name in Ballot.__annotations__]


def called(number: int, purpose: str) -> str:
    """What sentences call a ballot.

    >>> called(2, CAMPAIGN), called(0, TRIAL), called(1, ROUND)
    ('ballot 2', 'the pilot', 'round 1')
    """
    return "the pilot" if purpose == TRIAL else f"{'round' if purpose == ROUND else 'ballot'} {number}"


def sentence_start(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def _of_ranking(project_id: str, area_id: int | None) -> sa.Select:
    """The ballots and the pilot of one ranking."""
    query = sa.select(*_COLUMNS).where(t.ballot.c.project_id == project_id, belongs(t.ballot.c.area_id, area_id))
    return query.where(is_comparison())


def ballots_of(conn: sa.Connection, project_id: str, area_id: int | None = None) -> list[Ballot]:
    """The ballots of one ranking by number, from 1 on: without its pilot, and without rounds of other kinds."""
    query = _of_ranking(project_id, area_id)
    return [Ballot(*row) for row in conn.execute(query.where(in_campaign()).order_by(t.ballot.c.ordinal))]


def closed_ballots_of(conn: sa.Connection, project_id: str, area_id: int | None) -> list[Ballot]:
    """The closed ballots of a ranking in order."""
    return [ballot for ballot in ballots_of(conn, project_id, area_id) if not ballot.is_open]


def pilot_of(conn: sa.Connection, project_id: str, area_id: int | None = None) -> Ballot | None:
    """The pilot of one ranking, None where there is none."""
    query = _of_ranking(project_id, area_id)
    row = conn.execute(query.where(t.ballot.c.purpose == TRIAL)).one_or_none()
    return None if row is None else Ballot(*row)


def every_ballot_of(conn: sa.Connection, project_id: str) -> list[Ballot]:
    """The ballots of all rankings, pilots and rounds of other kinds among them, in the order they were drawn."""
    query = sa.select(*_COLUMNS).where(t.ballot.c.project_id == project_id).order_by(t.ballot.c.id)
    return [Ballot(*row) for row in conn.execute(query)]


def rounds_of(conn: sa.Connection, project_id: str, area_id: int | None = None) -> list[Ballot]:
    """The rounds of a ranking in the order they were drawn."""
    return [one for one in every_ballot_of(conn, project_id) if one.is_round and one.area_id == area_id]


def round_of(conn: sa.Connection, project_id: str, number: int, area_id: int | None = None) -> Ballot:
    """A round by its number, 1, 2, …; `StoreError` where there is none."""
    for found in rounds_of(conn, project_id, area_id):
        if found.number == number:
            return found
    raise StoreError(f"There is no round {number}. Draw one on the Collect page first.")


def round_by_id(conn: sa.Connection, project_id: str, ballot_id: int) -> Ballot:
    """A round by its id; `StoreError` where there is none."""
    for found in every_ballot_of(conn, project_id):
        if found.id == ballot_id and found.is_round:
            return found
    raise StoreError("This round is gone. Load the page again.")


def check_rounds(conn: sa.Connection, project_id: str) -> None:
    """Raise `ValueError` unless the ballots that aren't comparisons are rounds, with settings in place of a plan."""
    of = t.ballot.c
    planned = set(conn.execute(sa.select(of.id).where(of.project_id == project_id, of.plan_id.is_not(None))).scalars())
    for ballot in every_ballot_of(conn, project_id):
        if ballot.scheme not in KINDS or (ballot.kind is not COMPARISON) != ballot.is_round:
            raise ValueError(f"{ballot.called} asks {ballot.scheme!r}")
        if {ballot.id in planned, ballot.stored is None} != {not ballot.is_round}:
            raise ValueError(f"{ballot.called} needs {'settings' if ballot.is_round else 'a plan'} and nothing else")
    for ranking in rankings_of(conn, project_id):
        for found in rounds_of(conn, project_id, ranking.area_id):
            try:
                check_round(found.settings)
            except (PlanError, StoreError) as error:
                raise ValueError(str(error)) from error


def read_ballots(store: Store, project_id: str, area_id: int | None = None) -> list[Ballot]:
    """The ballots of one ranking by number, without its pilot."""
    with store.read() as conn:
        return ballots_of(conn, project_id, area_id)


def open_ballot_of(conn: sa.Connection, project_id: str, area_id: int | None = None, code: str | None = None) -> Ballot:
    """The open ballot of a ranking, else its open pilot; `StoreError` if neither is.

    `code` says which ballot somebody means: `StaleError` where that isn't the one that is open (`check_meant`). That of
    a round means the round, which must be open.
    """
    named = next((one for one in rounds_of(conn, project_id, area_id) if code is not None and one.code == code), None)
    if named is not None:
        if not named.is_open:
            raise StaleError(f"{named.title}, is closed. Reopen it first. Nothing was done.")
        return named
    pilot = pilot_of(conn, project_id, area_id)
    ballots = [*ballots_of(conn, project_id, area_id), *([pilot] if pilot else [])]
    open_ballot = next((ballot for ballot in ballots if ballot.is_open), None)
    check_meant(conn, project_id, open_ballot, code)
    if open_ballot is None:
        ranking_of(conn, project_id, area_id)
        raise StoreError("No ballot is open. Draw one on the Collect page first.")
    return open_ballot


def projects_of_code(store: Store, code: str) -> dict[str, str]:
    """The names of the projects that drew the tasks with this code, by their ids: a copy shares it with its origin."""
    b, p = t.ballot.c, t.project.c
    with store.read() as conn:
        projects = conn.execute(sa.select(p.id, p.name).where(p.id == b.project_id, b.code == code)).all()
    return {str(row.id): str(row.name) for row in projects}


def check_meant(conn: sa.Connection, project_id: str, found: Ballot | None, code: str | None) -> None:
    """Raise `StaleError` where a command would act on another ballot than the one of this `code`; None means any.

    Ballots are named by their codes, as a ballot that is drawn after another was discarded may get its id and number.
    """
    if code is None or (found is not None and found.code == code):
        return
    meant = next((ballot for ballot in every_ballot_of(conn, project_id) if ballot.code == code), None)
    what = "The ballot that was meant is gone" if meant is None else f"{meant.called} is {meant.state} now"
    instead = "" if found is None else f", and this would be {found.called}"
    raise StaleError(f"{sentence_start(what)}{instead}. Nothing was done. The page now shows how it stands.")


# What a generator of a ballot's seed draws: the second number of it. Changing one changes every such draw.
FOR_SELECTION, FOR_INTERVALS, FOR_PILOT, FOR_CHECKS, FOR_PROPOSED_GOLD, FOR_ROUND = 1, 2, 5, 8, 9, 11


def ballot_seed(project_seed: int, plan_seed: int, number: int, place: int | None = None) -> int:
    """The seed of ballot `number`, 0 for the pilot.

    It follows from the project's, the plan's, and the place of its area, if it has one.
    """
    parts = [project_seed, plan_seed, number] + ([] if place is None else [place + 1])
    return int(np.random.SeedSequence(parts).generate_state(1)[0] >> 1)


def short_questions(store: Store, ballot_id: int) -> list[int]:
    """The ids of a ballot's questions that have fewer answers than they want; checks never do."""
    q = t.question.c
    query = sa.select(q.id).where(q.ballot_id == ballot_id, q.role == "main", q.n_votes < q.n_wanted).order_by(q.id)
    with store.read() as conn:
        return [id_ for (id_,) in fetch_rows(conn, query)]


def unanswered(store: Store, project_id: str, number: int, area_id: int | None = None) -> list[int]:
    """The question ids of a ranking's ballot `number` that have fewer votes than they want; checks never do."""
    query = (
        sa.select(t.question.c.id)
        .join(t.ballot, t.ballot.c.id == t.question.c.ballot_id)
        .where(t.ballot.c.project_id == project_id, belongs(t.ballot.c.area_id, area_id), is_comparison())
        .where(t.ballot.c.ordinal == number)
        .where(t.question.c.role == "main", t.question.c.n_votes < t.question.c.n_wanted)
        .order_by(t.question.c.id)
    )
    with store.read() as conn:
        return [row[0] for row in fetch_rows(conn, query)]


def read_comparisons(store: Store, project_id: str, number: int, area_id: int | None = None) -> pd.DataFrame:
    """The comparisons of a ranking's ballot `number` (schema COMPARISONS); number 0 is its pilot."""
    with store.read() as conn:
        pilot = pilot_of(conn, project_id, area_id)
        ballots = {b.number: b for b in (*ballots_of(conn, project_id, area_id), *([pilot] if pilot else []))}
        if number not in ballots:
            raise StoreError(f"{f'Ballot {number}' if number else 'The pilot'} isn't drawn yet.")
        return comparisons_of(conn, ballots[number].id, project_id)


def answers_of(conn: sa.Connection, project_id: str, found: Ballot, without: frozenset[int] | None = None) -> Answers:
    """The answers of a round that count.

    `without` names the voters to leave out in place of those who are: what would count then.
    """
    j, a = t.judgement.c, t.assignment.c
    counts = j.status == "counted"
    if without is not None:
        counts = sa.and_(j.status.in_(["counted", "excluded"]), j.answer != UNKNOWN)
    query: sa.Select[Any] = (
        sa.select(j.question_id, a.voter_id, j.answer, j.value)
        .join(t.assignment, a.id == j.assignment_id)
        .join(t.question, t.question.c.id == j.question_id)
        .where(a.ballot_id == found.id, t.question.c.role == "main", counts)
        .order_by(j.question_id, a.voter_id, j.id)
    )
    frame = pd.DataFrame(fetch_rows(conn, query), columns=["question_id", "voter_id", "answer", "value"])
    frame = frame[~frame["voter_id"].isin(without or ())]
    ids, _, items = options_of(conn, found.id).T
    questions, starts = np.unique(ids, return_index=True)
    return Answers(
        number=found.number,
        items=np.unique(items),
        questions=questions,
        starts=np.append(starts, len(ids)),
        options=items,
        question=np.searchsorted(questions, frame["question_id"].to_numpy(dtype=np.int64)),
        voter=frame["voter_id"].to_numpy(dtype=np.int64),
        text=frame["answer"].tolist(),
        value=frame["value"].to_numpy(dtype=np.float64),
        words=shown_of(conn, project_id, found.id) if found.kind.about.by_words else SHOWN.empty(),
    )


def options_of(conn: sa.Connection, ballot_id: int) -> np.ndarray:
    """The items that questions show: columns question, place (from 0), item (position in the project); in order."""
    option = t.question_option.c
    query = (
        sa.select(option.question_id, option.position, t.item.c.position)
        .join(t.question, t.question.c.id == option.question_id)
        .join(t.item, t.item.c.id == option.item_id)
        .where(t.question.c.ballot_id == ballot_id, t.question.c.role == "main")
        .order_by(option.question_id, option.position)
    )
    return fetch_integers(conn, query)


def rests_on(conn: sa.Connection, project_id: str, found: Ballot) -> list[Ballot]:
    """The closed rounds of its kind that were drawn before a round, where its scores rest on them too."""
    if not found.asks.about.pools:
        return []
    rounds = rounds_of(conn, project_id, found.area_id)
    return [r for r in rounds if r.scheme == found.scheme and r.number < found.number and not r.is_open]


def preferences(conn: sa.Connection, project_id: str, found: Ballot) -> list[GroupComparison]:
    """What the answers of a round say of words of one target; see `RoundKind.preferences`."""
    return found.asks.preferences(answers_of(conn, project_id, found), found.settings)


def rating_set(conn: sa.Connection, project_id: str, found: Ballot) -> RatingSet:
    """The ratings of a round that count, as a set that was read from a file: items in the order of their positions.

    The genre of an item is its area; the order of a rating is A where the item was shown as it is stored, else B.
    """
    items = items_of(conn, project_id).set_index("item")
    rated = rated_items(answers_of(conn, project_id, found))
    swapped = _turned(conn, found)
    v = t.voter.c
    names = dict(fetch_rows(conn, sa.select(v.id, v.external_id).where(v.project_id == project_id)))
    person, item = np.nonzero(~np.isnan(rated.table))
    mine = items.loc[rated.items]
    nothing = np.full(len(rated.items), np.nan)
    return RatingSet(
        found.title,
        tuple(mine["token_a"]),
        tuple(mine["token_b"]),
        ("",) * len(mine),
        tuple(mine["area"]) if mine["area"].nunique() > 1 else ("",) * len(mine),
        tuple(names[voter] for voter in rated.voters.tolist()),
        person,
        item,
        rated.table[person, item],
        ("",) * len(person),
        tuple("B" if position in swapped else "A" for position in rated.items[item].tolist()),
        nothing,
        nothing,
    )


def _turned(conn: sa.Connection, found: Ballot) -> set[int]:
    """The positions of the items that a round of ratings shows with their tokens exchanged."""
    put = t.task_question.c
    query = (
        sa.select(t.item.c.position)
        .join(t.question_option, t.question_option.c.item_id == t.item.c.id)
        .join(t.task_question, put.question_id == t.question_option.c.question_id)
        .join(t.task, t.task.c.id == put.task_id)
        .where(t.task.c.ballot_id == found.id, put.left_swapped.is_(True))
    )
    return {position for (position,) in fetch_rows(conn, query)}
