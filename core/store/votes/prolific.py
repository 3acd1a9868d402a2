"""Prolific's list of submissions held against the voting page: who voted, with which code, and what follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import sqlalchemy as sa

from ...errors import Issue, StoreError
from ...platforms.prolific import CASES, case_of, read_submissions
from .. import schema as t
from ..ballots.ballot_rows import Ballot
from ..command import fetch_rows
from ..engine import Store
from ..projects.plans import belongs
from ..voting.owner_commands import hashed_id, voting_of

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
