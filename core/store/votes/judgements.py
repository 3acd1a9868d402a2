"""Judgements written to the store from a classified file, and counted anew by another policy.

A file's changes take as few statements as there are kinds of rows. The policy is the project's choice of what counts of
rejected answers and of repeats.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...platforms import ResultFile
from ...questions import COMPARISON, QuestionKind
from ...questions.base import UNKNOWN
from ...tables import KNOWN
from ...votes.classify import ClassifiedAnswers
from ...votes.counting import elected
from ...votes.reading import usual_id
from ...votes.reasons import Policy
from .. import schema as t
from ..ballots.ballot_rows import every_ballot_of
from ..command import Change, command, fetch_rows, insert_rows, next_id, update_rows
from ..engine import Store
from .tallies import kind_of_ballot, write_tallies


def policy_of(conn: sa.Connection, project_id: str) -> Policy:
    """The policy of a project; the default where none was chosen."""
    query = sa.select(t.project.c.policy).where(t.project.c.id == project_id)
    return Policy.of(conn.execute(query).scalar_one_or_none())


def read_policy(store: Store, project_id: str) -> Policy:
    """The policy of a project; the default where none was chosen."""
    with store.read() as conn:
        return policy_of(conn, project_id)


def set_policy(store: Store, project_id: str, policy: Policy, *, expected_revision: int | None = None) -> int:
    """Choose what counts, and count the answers of all open ballots anew; how many of them changed.

    The answers themselves stay as they are, so that the former policy gives the former count again. Ballots that are
    closed keep what they were closed with, and follow the policy once they are reopened.
    """
    with command(store, project_id, "set policy", expected_revision=expected_revision) as change:
        before = policy_of(change.conn, project_id)
        stored = {**(change.project.policy or {}), **policy.stored()}
        row = sa.update(t.project).where(t.project.c.id == project_id)
        change.conn.execute(row.values(policy=stored))
        n = 0
        for ballot in every_ballot_of(change.conn, project_id):
            if ballot.is_open:
                n += recount(change.conn, project_id, ballot.id)
        change.detail = {**policy.stored(), "before": before.stored(), "answers that changed": n}
    return n


def recount(conn: sa.Connection, project_id: str, ballot_id: int) -> int:
    """Decide anew by the policy which answers of a ballot's files count, and bring its tallies in line.

    It follows from the answers alone, in whatever order they came: made twice, it changes nothing the second time.
    Withdrawn answers and those of the voting page stay as they are. Returns how many changed.
    """
    policy = policy_of(conn, project_id)
    found = _answers_of(conn, ballot_id)
    if found.empty:
        return 0
    is_rejected = (found["decision"] == "rejected") & (not policy.counts_rejected)
    becomes = pd.Series(np.where(is_rejected, "rejected", "unknown"), found.index, dtype="str")
    voting = found[~is_rejected & (found["answer"] != "unknown")]
    first = elected(voting, policy).set_axis(voting.index)
    becomes.loc[voting.index] = np.where(first == voting["assignment_id"], "counted", "repeat")
    becomes = becomes.mask(found["is_left_out"].astype(bool) & becomes.isin(["counted", "unknown"]), "excluded")
    changed = becomes != found["status"]
    rows = list(zip(becomes[changed].tolist(), found.loc[changed, "id"].tolist(), strict=True))
    update_rows(conn, t.judgement, ["status"], ["id"], rows)
    if rows:
        write_tallies(conn, ballot_id)
    return len(rows)


def _answers_of(conn: sa.Connection, ballot_id: int) -> pd.DataFrame:
    """The answers that came in files: id, assignment, voter (by number, as platforms share names), question, …"""
    j, a = t.judgement.c, t.assignment.c
    left_out = sa.exists().where(t.exclusion.c.voter_id == a.voter_id, t.exclusion.c.undone_at.is_(None))
    columns = {
        "id": j.id,
        "assignment_id": a.external_id,
        "voter": a.voter_id,
        "question_id": j.question_id,
        "answer": j.answer,
        "status": j.status,
        "submitted_at": sa.func.coalesce(a.submitted_at, ""),
        # The owner's own decision goes before what files say.
        "decision": sa.case((a.review == "reject", "rejected"), (a.review == "approve", "approved"), else_=a.status),
        "is_left_out": left_out,
    }
    query = (
        sa.select(*columns.values())
        .select_from(t.judgement)
        .join(t.assignment, a.id == j.assignment_id)
        .where(a.ballot_id == ballot_id, a.upload_id.is_not(None), j.status != "withdrawn")
    )
    frame = pd.DataFrame(fetch_rows(conn, query), columns=list(columns))
    texts = ("assignment_id", "answer", "status", "submitted_at", "decision")
    return frame.astype(dict.fromkeys(texts, "str"))


_ANSWERS = ("first", "second", "tie", "unknown")
_STATUSES = ("counted", "unknown", "rejected", "repeat")


def known_of(conn: sa.Connection, ballot_id: int, platform: str, *, kind: QuestionKind = COMPARISON) -> pd.DataFrame:
    """The ballot's judgements from a platform (schema KNOWN): ids of another one may mean somebody else.

    Withdrawn judgements are left out, so that they may come again; those of voters who are left out are what they
    would be otherwise. The decision is that of the files an assignment came in, "" where it came in none.
    """
    j, a = t.judgement.c, t.assignment.c
    here = (a.ballot_id == ballot_id, t.voter.c.platform == platform)
    said = sa.case((a.upload_id.is_not(None), a.status), else_="")
    decided = sa.case((a.review == "reject", "rejected"), (a.review == "approve", "approved"), else_="")
    query: sa.Select[Any] = sa.select(
        a.id, a.external_id, t.voter.c.external_id, sa.func.coalesce(a.submitted_at, ""), said, decided
    )
    assignments = pd.DataFrame(
        fetch_rows(conn, query.join(t.voter, t.voter.c.id == a.voter_id).where(*here)),
        columns=["id", "assignment_id", "voter", "submitted_at", "decision", "review"],
    )
    # Numbers in place of texts: a million judgements would be millions of Python strings.
    answers = _ANSWERS if kind is COMPARISON else _different_answers(conn, ballot_id)
    codes = sa.case(*((j.answer == answer, at) for at, answer in enumerate(_ANSWERS)), else_=-1)
    unknown, counted = _STATUSES.index("unknown"), _STATUSES.index("counted")
    states = sa.case(
        (sa.and_(j.status == "excluded", j.answer == "unknown"), unknown), (j.status == "excluded", counted),
        *((j.status == status, at) for at, status in enumerate(_STATUSES)), else_=-1,
    )  # fmt: skip
    judged: sa.Select[Any] = (
        sa.select(j.assignment_id, j.question_id, codes if kind is COMPARISON else j.answer, states)
        .join(t.assignment, a.id == j.assignment_id)
        .join(t.voter, t.voter.c.id == a.voter_id)
        .where(*here, j.status != "withdrawn", j.source == "person")
    )
    found = fetch_rows(conn, judged)
    if kind is not COMPARISON:
        number_of = {answer: at for at, answer in enumerate(answers)}
        found = [(assignment, question, number_of[answer], state) for assignment, question, answer, state in found]
    rows = np.array(found, dtype=np.int64).reshape(-1, 4)
    at = pd.Index(assignments["id"]).get_indexer(pd.Index(rows[:, 0]))
    told = {name: assignments[name].astype("str").array.take(at) for name in assignments.columns if name != "id"}
    frame = pd.DataFrame(told).assign(
        question_id=rows[:, 1],
        answer=pd.Series(answers, dtype="str").array.take(rows[:, 2]),
        status=pd.Series(_STATUSES, dtype="str").array.take(rows[:, 3]),
    )
    return KNOWN.check(frame[list(KNOWN.columns)])


def _different_answers(conn: sa.Connection, ballot_id: int) -> tuple[str, ...]:
    """The answers that occur in a round, each once."""
    query = (
        sa.select(t.judgement.c.answer)
        .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
        .where(t.assignment.c.ballot_id == ballot_id)
        .distinct()
    )
    return tuple(sorted(answer for (answer,) in fetch_rows(conn, query)))


def as_stored(conn: sa.Connection, project_id: str, results: ResultFile) -> ResultFile:
    """The file with voters as the store has them: readers take the `usual_id`, earlier versions didn't."""
    query = sa.select(t.voter.c.external_id).where(
        t.voter.c.project_id == project_id, t.voter.c.platform == results.platform
    )
    stored: dict[str, str] = {}
    for (voter,) in fetch_rows(conn, query.order_by(t.voter.c.id)):
        stored.setdefault(usual_id(voter), voter)
    stored = {usual: voter for usual, voter in stored.items() if usual != voter}
    if not stored:
        return results
    voters = results.answers["voter"].replace(to_replace=stored)
    return replace(results, answers=results.answers.assign(voter=voters))


def left_out_of(conn: sa.Connection, project_id: str, platform: str) -> frozenset[str]:
    """The platform's ids of the voters whom the owner left out."""
    query = (
        sa.select(t.voter.c.external_id)
        .join(t.exclusion, t.exclusion.c.voter_id == t.voter.c.id)
        .where(t.voter.c.project_id == project_id, t.voter.c.platform == platform, t.exclusion.c.undone_at.is_(None))
    )
    return frozenset(voter for (voter,) in fetch_rows(conn, query))


def write_judgements(change: Change, ballot_id: int, upload_id: int, platform: str, preview: ClassifiedAnswers) -> None:
    """Write the assignments and judgements of a preview.

    A judgement that is there already (withdrawn, or changed by this file) is brought up to date, never doubled.
    """
    conn, rows = change.conn, preview.rows
    taken = rows[rows["becomes"] != ""]
    others = preview.others
    named = pd.concat([taken["voter"], others["voter"]]).unique().tolist()
    voters = voter_ids(change, named, platform, "person")
    assignments, first_new = _write_assignments(conn, ballot_id, upload_id, taken, voters)
    questions = taken["question_id"].to_numpy(dtype=np.int64).tolist()
    answers, statuses = _texts(taken["answer"]), _texts(taken["becomes"])
    seconds = [None if time != time else time for time in taken["seconds"].tolist()]  # NaN differs from itself
    kind = kind_of_ballot(conn, ballot_id)
    value_of = {answer: None if answer == UNKNOWN else kind.value(answer) for answer in set(answers)}
    values = [value_of[answer] for answer in answers]
    there = _judged(conn, ballot_id) if min(assignments, default=first_new) < first_new else frozenset()
    source = ["person"] * len(questions)
    told = list(zip(assignments, questions, answers, values, seconds, statuses, source, strict=True))
    new = [row for row in told if row[:2] not in there] if there else told
    again = [(*row[2:], *row[:2]) for row in told if row[:2] in there] if there else []
    fields = ["answer", "value", "seconds", "status", "source"]
    insert_rows(conn, t.judgement, ["assignment_id", "question_id", *fields], new)
    update_rows(conn, t.judgement, fields, ["assignment_id", "question_id"], again)
    if len(others):
        _write_others(conn, ballot_id, others, voters)


def _texts(column: pd.Series) -> list[str]:
    """A column of texts as a list; pandas hands its own strings out one by one, which takes ten times as long."""
    return column.to_numpy(dtype=object).tolist()


def _judged(conn: sa.Connection, ballot_id: int) -> frozenset[tuple[int, int]]:
    """Assignment and question of each judgement of a ballot."""
    query = (
        sa.select(t.judgement.c.assignment_id, t.judgement.c.question_id)
        .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
        .where(t.assignment.c.ballot_id == ballot_id)
    )
    return frozenset(fetch_rows(conn, query))


def _write_assignments(
    conn: sa.Connection, ballot_id: int, upload_id: int, taken: pd.DataFrame, voters: dict[str, int]
) -> tuple[list[int], int]:
    """The id of each row's assignment, and from which id on they are new.

    New assignments are inserted, known ones (by voter and external id) brought up to date.
    """
    tasks = dict(fetch_rows(conn, sa.select(t.task.c.code, t.task.c.id).where(t.task.c.ballot_id == ballot_id)))
    columns = (t.assignment.c.voter_id, t.assignment.c.external_id, t.assignment.c.id)
    query = sa.select(*columns).where(t.assignment.c.ballot_id == ballot_id)
    known = {(voter, external): id_ for voter, external, id_ in fetch_rows(conn, query)}
    free = first_new = next_id(conn, t.assignment)
    of_row = taken.groupby(["voter", "assignment_id"], sort=False).ngroup().to_numpy()
    told = taken.iloc[np.unique(of_row, return_index=True)[1]]
    ids: list[int] = []
    new: list[tuple] = []
    again: list[tuple] = []
    columns_told = (_texts(told[name]) for name in ("voter", "assignment_id", "task_id", "status", "submitted_at"))
    for voter, external, code, status, submitted in zip(*columns_told, strict=True):
        id_ = known.get((voters[voter], external))
        if id_ is None:
            id_, free = free, free + 1
            new.append((id_, ballot_id, voters[voter], upload_id, tasks.get(code), external, status, submitted or None))
        else:
            again.append((status, submitted or None, upload_id, None, id_))
        ids.append(id_)
    names = ["id", "ballot_id", "voter_id", "upload_id", "task_id", "external_id", "status", "submitted_at"]
    insert_rows(conn, t.assignment, names, new)
    update_rows(conn, t.assignment, ["status", "submitted_at", "upload_id", "seal_id"], ["id"], again)
    return np.array(ids, dtype=np.int64)[of_row].tolist(), first_new


def _write_others(conn: sa.Connection, ballot_id: int, others: pd.DataFrame, voters: dict[str, int]) -> None:
    """Bring judgements up to date that change with a file without being in it: first votes and repeats."""
    columns = (t.assignment.c.voter_id, t.assignment.c.external_id, t.assignment.c.id)
    query = sa.select(*columns).where(t.assignment.c.ballot_id == ballot_id)
    ids = {(voter, external): id_ for voter, external, id_ in fetch_rows(conn, query)}
    told = zip(*(others[name].tolist() for name in ("voter", "assignment_id", "question_id", "becomes")), strict=True)
    rows = [(becomes, ids[voters[voter], external], question) for voter, external, question, becomes in told]
    update_rows(conn, t.judgement, ["status"], ["assignment_id", "question_id"], rows)


def voter_ids(change: Change, names: list[str], platform: str, kind: str) -> dict[str, int]:
    """The ids of the project's voters of these names, new ones made."""
    query = sa.select(t.voter.c.external_id, t.voter.c.id).where(
        t.voter.c.project_id == change.project_id, t.voter.c.platform == platform
    )
    ids = dict(change.conn.execute(query).fetchall())
    new = [name for name in names if name not in ids]
    start = next_id(change.conn, t.voter)
    rows = [(start + i, change.project_id, platform, name, kind) for i, name in enumerate(new)]
    insert_rows(change.conn, t.voter, ["id", "project_id", "platform", "external_id", "kind"], rows)
    ids |= {row[3]: row[0] for row in rows}
    return {name: ids[name] for name in names}
