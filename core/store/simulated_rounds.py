"""Simulated voters answer a round (demo and trial projects only); their answers are marked so for ever.

They are the panel that votes on comparisons (`simulated`), with the same opinions. A rating is the opinion through the
voter's own scale and cut points, a best–worst choice the extremes of the opinions, an order all of them, each with the
voter's lapse (`schemes.answers`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from ..errors import StoreError
from ..schemes.answers import choose_extremes, put_in_order, rate
from ..schemes.collected import BEST_WORST, RATING, RoundSettings, value_of
from ..simulation.schemes import SHIFT, STRETCH
from ..voters import Panel, Voters, draw_panel, opinions
from . import schema as t
from .command import Change, check_revision, command, fetch_rows, insert_rows, next_id, project_row, update_rows
from .engine import Store, now
from .judgements import voter_ids
from .laid_aside import excluded_ids
from .rankings import ballot_named
from .round_answers import item_options
from .rounds import Round, round_of
from .simulated import PLATFORM, read_beliefs, simulated_name
from .tallies import write_tallies

Floats = NDArray[np.float64]
N_VOTERS = 20  # at least, and as many as a question wants people


@dataclass(frozen=True)
class _Asked:
    """What is missing: of each task with a question that wants answers its id, its questions and how many people."""

    tasks: list[tuple[int, list[int], int]]
    begun: set[tuple[int, int]]  # task and voter's number, of those who have answered it


def simulate_round(
    store: Store, project_id: str, number: int, *, area_id: int | None = None, expected_revision: int | None = None
) -> int:
    """Let simulated voters answer what a round still lacks; returns the number of answers.

    Nobody answers a task twice; where too few voters are left for that, less is answered. Raises `StoreError` in a real
    project, for a closed round, or where nothing is missing.
    """
    with store.read() as conn:
        project = project_row(conn, project_id)
        check_revision(project, expected_revision)
        if project.kind == "real":
            raise StoreError(
                "Simulated voters answer in demo and trial projects only. Real projects take real answers."
            )
        found = round_of(conn, project_id, number, area_id)
        if not found.is_open:
            raise StoreError(f"{found.title}, is closed.")
        beliefs = read_beliefs(conn, store, project)
        n_voters = max(N_VOTERS, found.settings.raters)
        asked = _missing(conn, found)
        by_question = item_options(conn, [found.id]).groupby("question_id", sort=False)["item"]
        options = {int(str(question)): items.tolist() for question, items in by_question}
        open_to = _open_to(conn, project_id, n_voters)
    if not asked.tasks:
        raise StoreError(f"{found.title}, has all its answers. Close it to go on.")
    rng = np.random.default_rng([found.ballot.seed, 3, len(asked.begun)])
    dealt = _deal(asked, open_to, rng)
    held = _opinions(beliefs.similarity, n_voters, project)
    with command(store, project_id, "simulate answers", expected_revision=project.revision) as change:
        update_rows(change.conn, t.item, ["similarity"], ["id"], beliefs.new)
        answers = _answer(dealt, options, found.settings, held, project.seed, rng)
        _write(change, found, dealt, answers)
        write_tallies(change.conn, found.id)
        change.detail = ballot_named(change.conn, project_id, area_id, -number)
        change.detail |= {"answers": len(answers), "voters": len({voter for _, voter, _ in dealt})}
    return len(answers)


def _missing(conn: sa.Connection, found: Round) -> _Asked:
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


def _deal(asked: _Asked, open_to: list[int], rng: np.random.Generator) -> list[tuple[int, int, list[int]]]:
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
    held = opinions(similarity, voters, seed=project.seed, notion=project.notion)
    return _Held(voters, held if project.notion == "relatedness" else (held + 1) / 2)


def _answer(
    dealt: list[tuple[int, int, list[int]]],
    options: dict[int, list[int]],
    settings: RoundSettings,
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
        for row, text in zip(at.tolist(), _texts(opinion, voter[at], lapse[at], settings, seed, rng), strict=True):
            texts[row] = text
    return [(place, question, text) for (place, question, _), text in zip(asked, texts, strict=True)]


def _texts(
    opinion: Floats, voter: NDArray[np.int64], lapse: Floats, settings: RoundSettings, seed: int,
    rng: np.random.Generator,
) -> list[str]:  # fmt: skip
    if settings.scheme == RATING:
        values = settings.scale.values
        own = np.random.default_rng([seed, 1, 8])  # a voter's own scale holds over all rounds
        n = int(voter.max()) + 1
        parts = [own.spawn(1)[0] for _ in range(n)]
        even = np.arange(1, len(values)) / len(values)
        stretch = np.array([np.exp(STRETCH * part.standard_normal()) for part in parts])
        cuts = np.array([np.sort(even + SHIFT / len(values) * p.standard_normal(len(values) - 1)) for p in parts])
        return [f"{values[at]:g}" for at in rate(opinion[:, 0], stretch[voter], cuts[voter], lapse, rng).tolist()]
    if settings.scheme == BEST_WORST:
        best, worst = choose_extremes(opinion, lapse, rng)
        return [f"best={b + 1};worst={w + 1}" for b, w in zip(best.tolist(), worst.tolist(), strict=True)]
    ranks = put_in_order(opinion, lapse, rng)
    return [" ".join(str(place + 1) for place in np.argsort(row).tolist()) for row in ranks]


def _write(
    change: Change, found: Round, dealt: list[tuple[int, int, list[int]]], answers: list[tuple[int, int, str]]
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
        (start + place, question, text, value_of(found.scheme, text), "counted", "simulated")
        for place, question, text in answers
    ]
    columns = ["assignment_id", "question_id", "answer", "value", "status", "source"]
    insert_rows(conn, t.judgement, columns, judgements)
