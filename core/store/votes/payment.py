"""The assignments of a ballot to decide on and pay, and what the owner's decisions do to their votes.

Prolific's list of submissions is held against the voting page: who voted, with which code, and what follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import sqlalchemy as sa

from ...errors import Issue, StoreError
from ...platforms.prolific import CASES, case_of, read_submissions
from ...tables import ASSIGNMENTS
from ...votes.payment import Review, check_review
from .. import schema as t
from ..ballots.ballot_rows import Ballot, every_ballot_of
from ..command import command, fetch_rows, note_judged, update_rows
from ..engine import Store
from ..projects.plans import ballot_named, belongs
from ..voting.owner_commands import hashed_id, voting_of
from .tallies import apply_reviews, write_tallies

_LATE = "\uffff"


@dataclass(frozen=True)
class ReviewChange:
    """What a decision did: assignments decided, votes that count no more, votes that count (again). In a closed ballot
    no vote moves."""

    decided: int
    out: int
    back: int


def read_assignments(store: Store, ballot_id: int) -> pd.DataFrame:
    """The assignments of people in a ballot (`tables.ASSIGNMENTS`), in the order they came.

    Those of withdrawn uploads are left out, and so are the planned repeats of the voting page: they are no task.
    """
    with store.read() as conn:
        return assignments_of(conn, ballot_id)


def assignments_of(conn: sa.Connection, ballot_id: int) -> pd.DataFrame:
    """See `read_assignments`."""
    a, v = t.assignment.c, t.voter.c
    query = (
        sa.select(a.id, v.external_id, v.platform, a.external_id, sa.func.coalesce(t.task.c.code, ""), a.status,
                  sa.func.coalesce(a.review, ""), sa.func.coalesce(a.review_reason, ""), a.task_id, a.upload_id,
                  sa.func.coalesce(a.submitted_at, _LATE))
        .join(t.voter, v.id == a.voter_id)
        .outerjoin(t.task, t.task.c.id == a.task_id)
        .outerjoin(t.upload, t.upload.c.id == a.upload_id)
        .where(a.ballot_id == ballot_id, v.kind == "person", t.upload.c.withdrawn_at.is_(None))
        .order_by(a.id)
    )  # fmt: skip
    names = ["assignment", "voter", "platform", "assignment_id", "task_id", "status", "review", "reason"]
    frame = pd.DataFrame(fetch_rows(conn, query), columns=[*names, "task", "upload", "time"])
    asked_on_page, repeats = _leased(conn, ballot_id)
    frame = frame[~frame["assignment"].isin(repeats)].reset_index(drop=True)
    frame["n_asked"] = frame["assignment"].map(asked_on_page).fillna(0).astype("int64")
    _ask_by_task(conn, ballot_id, frame)
    judged = _judged(conn, ballot_id)
    for column in ("n_answered", "n_votes", "checks_right", "checks_wrong"):
        frame[column] = frame["assignment"].map(judged[column]).fillna(0).astype("int64")
    frame["seconds"] = frame["assignment"].map(judged["seconds"]).astype("float64")
    texts = {name: "str" for name, kind in ASSIGNMENTS.columns.items() if kind == "text"}
    return ASSIGNMENTS.check(frame.astype(texts | {"assignment": "int64"})[list(ASSIGNMENTS.columns)])


def _ask_by_task(conn: sa.Connection, ballot_id: int, frame: pd.DataFrame) -> None:
    """How many comparisons the files' assignments had: all of the task in its first one; later ones may be a top-up."""
    sizes = dict(
        fetch_rows(
            conn,
            sa.select(t.task_question.c.task_id, sa.func.count())
            .join(t.task, t.task.c.id == t.task_question.c.task_id)
            .where(t.task.c.ballot_id == ballot_id)
            .group_by(t.task_question.c.task_id),
        )
    )
    whole = frame[frame["task"].notna() & frame["platform"].isin(["turkle", "mturk"])]
    first = whole.sort_values(["time", "assignment"]).drop_duplicates("task").index
    frame.loc[first, "n_asked"] = frame.loc[first, "task"].map(sizes).fillna(0).astype("int64")


def _leased(conn: sa.Connection, ballot_id: int) -> tuple[dict[int, int], set[int]]:
    """Of the voting page: how many comparisons each assignment's task had, and the assignments of planned repeats."""
    d = t.deal.c
    query = (
        sa.select(d.sitting_id, d.task, d.kind, d.assignment_id)
        .join(t.sitting, t.sitting.c.id == d.sitting_id)
        .join(t.voting, t.voting.c.id == t.sitting.c.voting_id)
        .where(t.voting.c.ballot_id == ballot_id)
    )
    leases = pd.DataFrame(fetch_rows(conn, query), columns=["sitting", "task", "kind", "assignment"])
    is_repeat = leases["kind"] == "repeat"
    repeats = set(leases.loc[is_repeat, "assignment"].dropna().astype(int))
    asked = leases[~is_repeat].groupby(["sitting", "task"])["kind"].transform("size")
    of = leases[~is_repeat].assign(asked=asked).dropna(subset="assignment").drop_duplicates("assignment")
    return dict(zip(of["assignment"].astype(int), of["asked"].astype(int), strict=True)), repeats


def _judged(conn: sa.Connection, ballot_id: int) -> pd.DataFrame:
    """What each assignment answered, by its id."""
    j = t.judgement.c
    query = (
        sa.select(j.assignment_id, j.answer, j.status, j.seconds, t.question.c.role, t.gold.c.answer)
        .join(t.assignment, t.assignment.c.id == j.assignment_id)
        .join(t.question, t.question.c.id == j.question_id)
        .outerjoin(t.gold, t.gold.c.question_id == j.question_id)
        .where(t.assignment.c.ballot_id == ballot_id)
    )
    names = ["assignment", "answer", "status", "seconds", "role", "right"]
    rows = pd.DataFrame(fetch_rows(conn, query), columns=names)
    is_check = rows["right"].notna() & (rows["answer"] != "unknown")
    rows["n_answered"] = 1
    rows["n_votes"] = ((rows["status"] == "counted") & (rows["role"] == "main")).astype(int)
    rows["checks_right"] = (is_check & (rows["answer"] == rows["right"])).astype(int)
    rows["checks_wrong"] = (is_check & (rows["answer"] != rows["right"])).astype(int)
    rows["seconds"] = rows["seconds"].astype("float64")
    grouped = rows.groupby("assignment")
    told = grouped[["n_answered", "n_votes", "checks_right", "checks_wrong"]].sum()
    return told.assign(seconds=grouped["seconds"].sum(min_count=1))


def review_assignments(
    store: Store,
    project_id: str,
    decisions: Mapping[int, Review | None],
    *,
    expected_revision: int | None = None,
) -> ReviewChange:
    """Approve or reject assignments of one ballot by their ids; None takes a decision back.

    The votes of a rejected assignment count no more, so that its comparisons want votes again; they come back when
    the rejection is taken back. The owner's decision goes before what a result file says. In a closed ballot the
    decision is kept and the votes stay as they were scored, until the ballot is reopened.
    Raises `InputError` for a rejection without a reason, `StoreError` for assignments of several ballots or none.
    """
    checked = {id_: None if review is None else check_review(review) for id_, review in decisions.items()}
    with command(store, project_id, "review assignments", expected_revision=expected_revision) as change:
        conn = change.conn
        ballot = _ballot_of(conn, project_id, list(checked))
        rows = [(r.decision if r else None, (r.reason or None) if r else None, id_) for id_, r in checked.items()]
        update_rows(conn, t.assignment, ["review", "review_reason"], ["id"], rows)
        note_judged(ballot.id)  # also of a closed ballot, whose votes stay
        out, back = apply_reviews(conn, ballot.id, list(checked))
        if ballot.is_open:  # also where no vote moved: answers "I don't know" and repeats are counted too
            write_tallies(conn, ballot.id)
        counts = {name: sum(r is not None and r.decision == name for r in checked.values()) for name in _DECISIONS}
        change.detail = ballot_named(conn, project_id, ballot.area_id, ballot.number, ballot.purpose)
        change.detail |= {"approved": counts["approve"], "rejected": counts["reject"]}
        change.detail |= {"decision taken back": sum(r is None for r in checked.values())}
        change.detail |= {"votes out": out, "votes back": back}
        change.detail |= {"reasons": sorted({r.reason for r in checked.values() if r is not None and r.reason})}
        return ReviewChange(len(checked), out, back)


_DECISIONS = ("approve", "reject")


def _ballot_of(conn: sa.Connection, project_id: str, ids: list[int]) -> Ballot:
    """The ballot that all these assignments are of."""
    found: set[tuple[int, int]] = set()
    for start in range(0, len(ids), 500):
        here = t.assignment.c.id.in_(ids[start : start + 500])
        found |= set(fetch_rows(conn, sa.select(t.assignment.c.id, t.assignment.c.ballot_id).where(here)))
    of = {ballot_id for _, ballot_id in found}
    ballots = [ballot for ballot in every_ballot_of(conn, project_id) if ballot.id in of]
    if len(found) != len(ids) or len(of) != 1 or not ballots:
        raise StoreError("These are not assignments of one ballot of this project. Load the page again.")
    return ballots[0]


COLUMNS = (
    "row", "participant", "submission", "status", "case", "proposal", "why", "code there", "code here", "tasks done",
    "votes", "minutes",
)  # fmt: skip


@dataclass(frozen=True)
class SubmissionCheck:
    """A row a submission (`COLUMNS`; `sitting` is its voter's on the page, <NA> for none), and who voted here from
    Prolific without being in the list."""

    rows: pd.DataFrame
    not_listed: tuple[str, ...]
    issues: tuple[Issue, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many submissions of each case there are, of those that occur, in the order of `CASES`."""
        found = self.rows["case"].value_counts()
        return {case: int(found[case]) for case in CASES if case in found}

    def ids(self, proposal: str) -> list[str]:
        """The participants for whom this is proposed (approve, reject or withdraw), in the order of the list."""
        return list(dict.fromkeys(self.rows.loc[self.rows["proposal"] == proposal, "participant"]))


def check_submissions(store: Store, project_id: str, ballot: Ballot, data: bytes, filename: str) -> SubmissionCheck:
    """Hold Prolific's export of a study against the voting page of a ballot. Nothing is changed.

    Raises `InputError` for a file of another kind, `StoreError` where the ballot has no voting page.
    """
    found = read_submissions(data, filename)
    with store.read() as conn:
        voting = voting_of(conn, ballot.id)
        if voting is None:
            raise StoreError("This ballot has no voting page, so nobody can have voted there. Open it first.")
        here = _sittings(conn, voting.id)
        secret = _secret(conn, project_id, ballot.area_id)
    shared = voting.settings.code if voting.settings.completion == "shared" else ""
    known = {session["external"]: session for session in here.to_dict("records")}
    rows, seen = [], set()
    for told in found.rows.to_dict("records"):
        names = (told["participant"], hashed_id(secret, "prolific", told["participant"]))
        name = next((name for name in names if name in known), None)
        seen.add(name)
        rows.append(_row(told, None if name is None else known[name], shared, voting.settings.tasks_per_voter))
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "sitting"]).astype({"sitting": "Int64"})
    others = here[~here["external"].isin(seen) & (here["votes"] > 0)]
    return SubmissionCheck(frame, tuple(others["external"]), found.issues)


_NOBODY: dict[str, Any] = {"state": "", "counts": True, "votes": 0, "n_done": 0, "code": "", "id": None}


def _row(told: Mapping[Any, Any], session: Mapping[Any, Any] | None, shared: str, n_tasks: int) -> tuple[Any, ...]:
    """What a submission says, what its participant did here, and what follows."""
    found = session or _NOBODY
    code = "" if session is None else (shared or found["code"] or "")
    case = case_of(
        told["status"],
        revoked=told["revoked"],
        known=session is not None,
        finished=found["state"] == "finished" or found["n_done"] >= n_tasks,  # all done, the last button not pressed
        set_aside=not found["counts"],
        n_votes=found["votes"],
        code_right=bool(code) and told["code"].casefold() == code.strip().casefold(),
    )
    proposal, why = CASES[case]
    if case == "consent revoked" and not found["votes"]:
        proposal, why = "", "withdrew consent; there are no votes here"
    facts = (told["row"], told["participant"], told["submission"], told["status"], case, proposal, why)
    done = (found["n_done"], found["votes"], round(told["seconds"] / 60, 1), found["id"])
    return (*facts, told["code"], code, *done)


def _sittings(conn: sa.Connection, voting_id: int) -> pd.DataFrame:
    """The voters of a voting page who came from Prolific, with their votes that weren't withdrawn."""
    s, d, j = t.sitting.c, t.deal.c, t.judgement.c
    votes = (
        sa.select(sa.func.count())
        .select_from(t.deal)
        .join(t.judgement, sa.and_(j.assignment_id == d.assignment_id, j.question_id == d.question_id))
        .where(d.sitting_id == s.id, j.status != "withdrawn")
        .scalar_subquery()
    )
    query = (
        sa.select(s.id, t.voter.c.external_id, t.voter.c.platform, s.state, s.counts, s.code, s.n_done, votes)
        .join(t.voter, t.voter.c.id == s.voter_id)
        .where(s.voting_id == voting_id, t.voter.c.platform == "prolific")
        .order_by(s.id)
    )
    names = ["id", "external", "platform", "state", "counts", "code", "n_done", "votes"]
    return pd.DataFrame(fetch_rows(conn, query), columns=names)


def _secret(conn: sa.Connection, project_id: str, area_id: int | None) -> str:
    link = t.voting_link.c
    query = sa.select(link.voter_secret).where(link.project_id == project_id, belongs(link.area_id, area_id))
    return str(conn.execute(query).scalar_one_or_none() or "")


def assignments_from_page(store: Store, sittings: list[int]) -> list[int]:
    """The assignments of some sessions of the voting page, for `payment.review_assignments`."""
    d = t.deal.c
    query = sa.select(d.assignment_id).where(d.sitting_id.in_(sittings), d.assignment_id.is_not(None))
    with store.read() as conn:
        return sorted({int(row[0]) for row in fetch_rows(conn, query)})
