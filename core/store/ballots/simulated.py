"""Simulated voters answer a ballot or a round (demo and trial projects only); their answers are marked so for ever."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa

from ...errors import StoreError
from ...questions.base import Answering
from ...tables import Floats
from ...voters.model import Panel, Voters, answer, draw_panel, exponential, opinions
from .. import schema as t
from ..command import (
    Change,
    check_revision,
    command,
    fetch_integers,
    fetch_rows,
    insert_rows,
    next_id,
    project_row,
    update_rows,
)
from ..engine import Store, now
from ..projects.embedding_library import embeddings_of, open_library
from ..projects.plans import PlanSettings, ballot_named, settings_for
from ..tokens.areas import items_of
from ..votes.judgements import voter_ids
from ..votes.tallies import excluded_ids, write_tallies
from .ballot_rows import Ballot, open_ballot_of, options_of, rounds_of, sentence_start

_ANSWERS = {1.0: "first", 0.0: "second", 0.5: "tie"}
PLATFORM = "simulated"


def simulate_votes(
    store: Store,
    project_id: str,
    *,
    area_id: int | None = None,
    code: str | None = None,
    share: float = 1.0,
    expected_revision: int | None = None,
) -> int:
    """Let simulated voters answer what the ranking's open ballot still lacks; returns the number of votes.

    The panel is the paper's (§4.1; σ* ~ U[.02, .2], ε ~ U[.005, .05]); tasks are assigned to the plan's voters
    evenly within one. A voter's opinions are drawn once and hold over all ballots. `share` < 1 answers only
    that part of the missing tasks. `code` is that of the ballot or round which is meant
    (`ballot_rows.open_ballot_of`); of a round, answers are counted.

    The votes of a large ballot take long to make, so they are made before the store is locked, and written if the
    project hasn't changed since. Raises `StoreError` in a real project.
    """
    with store.read() as conn:
        project = project_row(conn, project_id)
        check_revision(project, expected_revision)
        if project.kind == "real":
            takes = "answers" if any(one.code == code for one in rounds_of(conn, project_id, area_id)) else "votes"
            raise StoreError(
                f"Simulated voters answer in demo and trial projects only. Real projects take real {takes}."
            )
        ballot = open_ballot_of(conn, project_id, area_id, code)
        if ballot.is_round:
            return _write_round(store, project, ballot, _simulate_round(conn, store, project, ballot))
        beliefs = read_beliefs(conn, store, project)
        settings = settings_for(conn, ballot.id)
        rng = np.random.default_rng([ballot.seed, 3, _n_assignments(conn, ballot.id)])
        loads, open_to = _loads(conn, project_id, ballot.id, settings.n_voters)
        missing = _missing_questions(conn, ballot.id)
    if not len(missing):
        raise StoreError(f"{sentence_start(ballot.called)} has all its votes. Close it to go on.")
    votes_made = _make_votes(project, settings, beliefs, loads, open_to, _some_tasks(missing, share, rng), rng)
    with command(store, project_id, "simulate votes", expected_revision=project.revision) as change:
        update_rows(change.conn, t.item, ["similarity"], ["id"], beliefs.new)
        _write(change, ballot.id, votes_made)
        write_tallies(change.conn, ballot.id)
        change.detail = ballot_named(change.conn, project_id, area_id, ballot.number, ballot.purpose)
        change.detail |= {"votes": len(votes_made.question), "voters": len(np.unique(votes_made.voter))}
    return len(votes_made.question)


@dataclass(frozen=True)
class _Beliefs:
    """What the simulated voters take for true of each item, and the rows (value, item id) not yet in the store."""

    similarity: np.ndarray
    new: list[tuple[float, int]]


@dataclass(frozen=True)
class _SimulatedVotes:
    """Votes to be written: the tasks answered, in order, and the number of the voter of each; for each vote the place
    of its task among them, its question and its outcome."""

    task: np.ndarray
    voter: np.ndarray
    place: np.ndarray
    question: np.ndarray
    outcome: np.ndarray


def _some_tasks(missing: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """The missing questions of a share of their tasks, drawn."""
    tasks = np.unique(missing[:, 0])
    return missing[np.isin(missing[:, 0], rng.permutation(tasks)[: int(np.ceil(share * len(tasks)))])]


def _make_votes(
    project: sa.Row,
    settings: PlanSettings,
    beliefs: _Beliefs,
    loads: np.ndarray,
    open_to: np.ndarray,
    missing: np.ndarray,
    rng: np.random.Generator,
) -> _SimulatedVotes:
    """Assign the tasks of the missing questions to the voters `open_to`, and let each answer.

    `loads` are the tasks that every voter of the panel has already.
    """
    tasks = np.unique(missing[:, 0])
    of_task = open_to[assign_tasks(loads[open_to], len(tasks), rng)]
    place = np.searchsorted(tasks, missing[:, 0])
    voters = draw_panel(Panel(n_voters=len(loads)), np.random.default_rng([project.seed, 1, 4]))
    outcome = answer(
        beliefs.similarity,
        missing[:, 2],
        missing[:, 3],
        of_task[place],
        voters,
        seed=project.seed,
        rng=rng,
        notion=project.notion,
    )
    if not settings.ties_allowed:
        outcome = np.where(outcome == 0.5, rng.integers(0, 2, len(outcome)), outcome)
    return _SimulatedVotes(tasks, of_task, place, missing[:, 1], outcome)


def assign_tasks(loads: np.ndarray, n_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """The voter 0…V−1 of each task, shape (n_tasks,): the one with the fewest tasks is next, equals in a drawn order.

    `loads`, shape (V,), are the tasks that each has already.

    >>> assign_tasks(np.array([2, 0, 1]), 3, np.random.default_rng(1)).tolist()[0]
    1
    """
    order = rng.permutation(len(loads))
    rounds = n_tasks // len(loads) + 1 + int(loads.max() - loads.min())
    levels = loads[order] + np.arange(rounds)[:, None]
    return np.tile(order, rounds)[np.argsort(levels.ravel(), kind="stable")[:n_tasks]]


def simulated_name(number: int) -> str:
    return f"simulated-{number + 1:03d}"


def _loads(conn: sa.Connection, project_id: str, ballot_id: int, n_voters: int) -> tuple[np.ndarray, np.ndarray]:
    """How many tasks of the ballot each simulated voter has answered, shape (n_voters,), and who isn't left out."""
    query = (
        sa.select(t.voter.c.external_id, sa.func.count())
        .join(t.assignment, t.assignment.c.voter_id == t.voter.c.id)
        .where(t.assignment.c.ballot_id == ballot_id, t.voter.c.platform == PLATFORM)
        .group_by(t.voter.c.external_id)
    )
    counts = dict(fetch_rows(conn, query))
    left_out = sa.select(t.voter.c.external_id).where(
        t.voter.c.id.in_(excluded_ids(conn, project_id)), t.voter.c.platform == PLATFORM
    )
    out = set(conn.execute(left_out).scalars())
    open_to = np.array([number for number in range(n_voters) if simulated_name(number) not in out], dtype=int)
    if not len(open_to):
        raise StoreError("All simulated voters are left out. Readmit some on the Voters page.")
    return np.array([counts.get(simulated_name(number), 0) for number in range(n_voters)]), open_to


def _n_assignments(conn: sa.Connection, ballot_id: int) -> int:
    query = sa.select(sa.func.count()).select_from(t.assignment).where(t.assignment.c.ballot_id == ballot_id)
    return int(conn.execute(query).scalar_one())


def _missing_questions(conn: sa.Connection, ballot_id: int) -> np.ndarray:
    """Questions that want votes: columns task, question, first, second (item positions).

    Gold in tasks that nobody has answered is among them: it is shown in several, so no number of votes is wanted.
    """
    one, two = t.question_option.alias("one"), t.question_option.alias("two")
    first, second = t.item.alias("first"), t.item.alias("second")
    q, place = t.question.c, t.task_question.c
    begun = sa.select(t.assignment.c.task_id).where(
        t.assignment.c.ballot_id == ballot_id, t.assignment.c.task_id.is_not(None)
    )
    query = (
        sa.select(place.task_id, q.id, first.c.position, second.c.position)
        .join(t.task_question, place.question_id == q.id)
        .join(one, sa.and_(one.c.question_id == q.id, one.c.position == 0))
        .join(two, sa.and_(two.c.question_id == q.id, two.c.position == 1))
        .join(first, first.c.id == one.c.item_id)
        .join(second, second.c.id == two.c.item_id)
        .where(
            q.ballot_id == ballot_id,
            sa.or_(q.n_votes < q.n_wanted, sa.and_(q.n_wanted == 0, place.task_id.not_in(begun))),
        )
        .order_by(place.task_id, place.n)
    )
    return fetch_integers(conn, query)


def read_beliefs(conn: sa.Connection, store: Store, project: sa.Row) -> _Beliefs:
    """What the simulated voters take for true: the stored similarity of each item, made now where it is missing.

    It is the cosine of the project's first embedding; items that lack one (or all, without an embedding) get a
    value of the paper's exponential distribution (§4.1.1), assigned at random.
    """
    item = t.item.c
    query = sa.select(item.id, item.similarity).where(item.project_id == project.id).order_by(item.position)
    rows = fetch_rows(conn, query)
    similarity = np.array([value for _, value in rows], dtype=float)
    missing = np.isnan(similarity)
    if not missing.any():
        return _Beliefs(similarity, [])
    known = embeddings_of(conn, project.id)
    if known:
        items = items_of(conn, project.id)
        embedding = open_library(store, known[0])
        cosines = embedding.cosines(items["token_a"].tolist(), items["token_b"].tolist())
        similarity[missing] = cosines[missing]
        missing = np.isnan(similarity)
    rng = np.random.default_rng([project.seed, 1, 5])
    similarity[missing] = rng.permutation(exponential(len(similarity)))[missing]
    return _Beliefs(similarity, [(z, id_) for z, (id_, _) in zip(similarity.tolist(), rows, strict=True)])


def believe(store: Store, project_id: str, similarities: Mapping[tuple[str, frozenset[str]], float]) -> None:
    """Say what the simulated voters of a project take for true: a similarity from −1 to 1 by area and tokens.

    Items that aren't named get theirs as `read_beliefs` gives it.
    """
    with command(store, project_id, "set what simulated voters believe") as change:
        items = items_of(change.conn, project_id)[["area", "token_a", "token_b"]]
        named = [(similarities.get((area, frozenset((a, b)))), id_) for id_, area, a, b in items.itertuples()]
        rows = [(value, id_) for value, id_ in named if value is not None]
        update_rows(change.conn, t.item, ["similarity"], ["id"], rows)
        change.detail = {"items": len(rows)}


def _write(change: Change, ballot_id: int, made: _SimulatedVotes) -> None:
    conn = change.conn
    voters = made.voter.tolist()
    names = {number: simulated_name(number) for number in sorted(set(voters))}
    ids = voter_ids(change, list(names.values()), PLATFORM, "simulated")
    start = next_id(conn, t.assignment)
    at = now()
    assignments = [
        (id_, ballot_id, ids[names[number]], task, f"simulated-{task}-{id_}", "submitted", at)
        for id_, (task, number) in enumerate(zip(made.task.tolist(), voters, strict=True), start)
    ]
    fields = ["id", "ballot_id", "voter_id", "task_id", "external_id", "status", "submitted_at"]
    insert_rows(conn, t.assignment, fields, assignments)
    judgements = [
        (assignment, question, _ANSWERS[value], value, "counted", "simulated")
        for assignment, question, value in zip(
            (start + made.place).tolist(), made.question.tolist(), made.outcome.tolist(), strict=True
        )
    ]
    fields = ["assignment_id", "question_id", "answer", "value", "status", "source"]
    insert_rows(conn, t.judgement, fields, judgements)


def has_simulated_votes(conn: sa.Connection, project_id: str) -> bool:
    """Whether any vote of the project came from a simulated voter."""
    query = sa.select(t.voter.c.id).where(t.voter.c.project_id == project_id, t.voter.c.kind == "simulated").limit(1)
    return conn.execute(query).first() is not None


# Rounds: the same panel, with the same opinions; a kind says what answers they give (`RoundKind.simulate`).

N_VOTERS = 20  # at least, and as many as a question wants people


@dataclass(frozen=True)
class _RoundMade:
    """Answers to be written: what voters believe, task, voter and questions of each assignment, and place of the
    assignment, question and answer of each answer."""

    beliefs: _Beliefs
    dealt: list[tuple[int, int, list[int]]]
    answers: list[tuple[int, int, str]]


@dataclass(frozen=True)
class _Asked:
    """What is missing: of each task with a question that wants answers its id, its questions and how many people."""

    tasks: list[tuple[int, list[int], int]]
    begun: set[tuple[int, int]]  # task and voter's number, of those who have answered it


def _simulate_round(conn: sa.Connection, store: Store, project: sa.Row, found: Ballot) -> _RoundMade:
    """What simulated voters answer of what a round still lacks; nobody answers a task twice, so that where too few are
    left for that, less is answered. Raises `StoreError` where nothing is missing."""
    beliefs = read_beliefs(conn, store, project)
    n_voters = max(N_VOTERS, found.settings.raters)
    asked = _missing(conn, found)
    if not asked.tasks:
        raise StoreError(f"{found.title}, has all its answers. Close it to go on.")
    options: dict[int, list[int]] = {}
    for question, _, item in options_of(conn, found.id).tolist():
        options.setdefault(question, []).append(item)
    rng = np.random.default_rng([found.seed, 3, len(asked.begun)])
    dealt = _assign(asked, _open_to(conn, project.id, n_voters), rng)
    held = _opinions(beliefs.similarity, n_voters, project)
    return _RoundMade(beliefs, dealt, _answer(dealt, options, found, held, project.seed, rng))


def _write_round(store: Store, project: sa.Row, found: Ballot, made: _RoundMade) -> int:
    with command(store, project.id, "simulate answers", expected_revision=project.revision) as change:
        update_rows(change.conn, t.item, ["similarity"], ["id"], made.beliefs.new)
        _write_answers(change, found, made.dealt, made.answers)
        write_tallies(change.conn, found.id)
        change.detail = ballot_named(change.conn, project.id, found.area_id, found.number, found.purpose)
        change.detail |= {"answers": len(made.answers), "voters": len({voter for _, voter, _ in made.dealt})}
    return len(made.answers)


def _missing(conn: sa.Connection, found: Ballot) -> _Asked:
    q, put, a = t.question.c, t.task_question.c, t.assignment.c
    query = (
        sa.select(put.task_id, q.id, q.n_wanted - q.n_votes)
        .join(t.task_question, put.question_id == q.id)
        .where(q.ballot_id == found.id)
        .order_by(put.task_id, put.n)
    )
    tasks: dict[int, tuple[list[int], list[int]]] = {}
    for task, question, lacking in fetch_rows(conn, query):
        questions, lacks = tasks.setdefault(task, ([], []))
        questions.append(question)
        lacks.append(lacking)
    wanted = [(task, questions, max(lacks)) for task, (questions, lacks) in tasks.items() if max(lacks) > 0]
    answered = (
        sa.select(a.task_id, t.voter.c.external_id)
        .join(t.voter, t.voter.c.id == a.voter_id)
        .where(a.ballot_id == found.id, t.voter.c.platform == PLATFORM)
    )
    begun = {(task, int(name.rsplit("-", 1)[1]) - 1) for task, name in fetch_rows(conn, answered)}
    return _Asked(wanted, begun)


def _open_to(conn: sa.Connection, project_id: str, n_voters: int) -> list[int]:
    v = t.voter.c
    query = sa.select(v.external_id).where(v.id.in_(excluded_ids(conn, project_id)), v.platform == PLATFORM)
    out = set(conn.execute(query).scalars())
    return [number for number in range(n_voters) if simulated_name(number) not in out]


def _assign(asked: _Asked, open_to: list[int], rng: np.random.Generator) -> list[tuple[int, int, list[int]]]:
    """Task, voter and questions of each assignment: who has the fewest tasks is next, equals in a drawn order."""
    load = dict.fromkeys(open_to, 0)
    for _, voter in asked.begun:
        load[voter] = load.get(voter, 0) + 1
    dealt = []
    for task, questions, lacking in asked.tasks:
        order = rng.permutation(len(open_to))
        free = [open_to[at] for at in order.tolist() if (task, open_to[at]) not in asked.begun]
        for voter in sorted(free, key=lambda number: load[number])[:lacking]:
            load[voter] += 1
            dealt.append((task, voter, questions))
    return dealt


@dataclass(frozen=True)
class _Held:
    """Voters and their opinions of all items, in [0, 1]."""

    voters: Voters
    opinion: Floats


def _opinions(similarity: Floats, n_voters: int, project: sa.Row) -> _Held:
    voters = draw_panel(Panel(n_voters=n_voters), np.random.default_rng([project.seed, 1, 4]))
    opinions_held = opinions(similarity, voters, seed=project.seed, notion=project.notion)
    return _Held(voters, within_0_and_1(opinions_held, project.notion))


def within_0_and_1(opinions_held: Floats, notion: str) -> Floats:
    """Opinions of Eq. 11 as rounds take them: those of similarity, −1 to 1, are brought to 0 to 1."""
    return opinions_held if notion == "relatedness" else (opinions_held + 1) / 2


def _answer(
    dealt: list[tuple[int, int, list[int]]],
    options: dict[int, list[int]],
    found: Ballot,
    held: _Held,
    seed: int,
    rng: np.random.Generator,
) -> list[tuple[int, int, str]]:
    """Place of the assignment, question and answer of each, in order."""
    asked = [(place, question, voter) for place, (_, voter, questions) in enumerate(dealt) for question in questions]
    voter = np.array([number for *_, number in asked], dtype=np.int64)
    lapse = held.voters.oversight[voter]
    texts: list[str] = [""] * len(asked)
    sizes = np.array([len(options[question]) for _, question, _ in asked])
    for size in np.unique(sizes).tolist():
        at = np.flatnonzero(sizes == size)
        items = np.array([options[asked[row][1]] for row in at.tolist()], dtype=np.int64)
        opinion = held.opinion[voter[at][:, None], items]
        answers = found.asks.simulate(opinion, Answering(voter[at], lapse[at], seed), found.settings, rng)
        for row, text in zip(at.tolist(), answers, strict=True):
            texts[row] = text
    return [(place, question, text) for (place, question, _), text in zip(asked, texts, strict=True)]


def _write_answers(
    change: Change, found: Ballot, dealt: list[tuple[int, int, list[int]]], answers: list[tuple[int, int, str]]
) -> None:
    conn, at = change.conn, now()
    names = [simulated_name(number) for number in sorted({voter for _, voter, _ in dealt})]
    ids = voter_ids(change, names, PLATFORM, "simulated")
    start = next_id(conn, t.assignment)
    assignments = [
        (id_, found.id, ids[simulated_name(voter)], task, f"simulated-{task}-{id_}", "submitted", at)
        for id_, (task, voter, _) in enumerate(dealt, start)
    ]
    columns = ["id", "ballot_id", "voter_id", "task_id", "external_id", "status", "submitted_at"]
    insert_rows(conn, t.assignment, columns, assignments)
    judgements = [
        (start + place, question, text, found.kind.value(text), "counted", "simulated")
        for place, question, text in answers
    ]
    columns = ["assignment_id", "question_id", "answer", "value", "status", "source"]
    insert_rows(conn, t.judgement, columns, judgements)
