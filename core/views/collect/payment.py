"""What the payment of voters shows of a ballot: assignments with proposals, payments, the files that can be
reviewed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import sqlalchemy as sa

from ...base.numbers_in_words import many
from ...errors import StoreError
from ...store import Store
from ...store import schema as t
from ...store.ballots.ballot_rows import every_ballot_of
from ...store.projects.plans import settings_for
from ...store.stored_files import read_blob
from ...store.votes.payment import assignments_of
from ...votes.payment import Review, Rules, payments, propose, write_review

MTURK = "mturk"


@dataclass(frozen=True)
class PaymentView:
    """`assignments` (`tables.ASSIGNMENTS` with `proposal`, the reason to reject, or ""), `payments`, and the uploads
    (id, file's name) for which a review file can be written. What follows from them is found once for each view."""

    assignments: pd.DataFrame
    payments: pd.DataFrame
    uploads: tuple[tuple[int, str], ...]

    @cached_property
    def table(self) -> pd.DataFrame:
        """The assignments for people."""
        frame = self.assignments
        checks = frame["checks_right"] + frame["checks_wrong"]
        each = frame["seconds"] / frame["n_answered"].where(frame["n_answered"] > 0)
        told = {
            "voter": frame["voter"],
            "assignment": frame["assignment_id"],
            "task": frame["task_id"],
            "answered": _shares(frame["n_answered"], frame["n_asked"], str),
            "checks right": _shares(frame["checks_right"], checks, lambda _: ""),
            "seconds each": each.round(1),
            "against it": frame["proposal"],
            "decision": frame["review"].map(_DECISIONS),
            "reason": frame["reason"],
            "platform says": frame["status"],
        }
        return pd.DataFrame(told)

    @cached_property
    def undecided(self) -> pd.DataFrame:
        return self.assignments[self.assignments["review"] == ""]

    @cached_property
    def fine(self) -> list[int]:
        """Undecided assignments against which nothing speaks."""
        return self.undecided.loc[self.undecided["proposal"] == "", "assignment"].tolist()

    @cached_property
    def doubtful(self) -> dict[int, str]:
        """Undecided assignments that are proposed for rejection, with the reason."""
        rows = self.undecided[self.undecided["proposal"] != ""]
        return dict(zip(rows["assignment"].tolist(), rows["proposal"].tolist(), strict=True))

    @cached_property
    def headline(self) -> str:
        """How far it is, in a sentence."""
        reviews = self.assignments["review"].value_counts()
        n = {name: int(reviews.get(name, 0)) for name in ("approve", "reject", "")}
        told = (
            f"{many(len(self.assignments), 'assignment')} of {many(len(self.payments), 'voter')}: "
            f"{n['approve']:,} approved, {n['reject']:,} rejected, {n['']:,} undecided"
        )
        if not self.doubtful:
            return f"{told}."
        return f"{told}, {len(self.doubtful):,} of these with something against them."


def _shares(n: pd.Series, of: pd.Series, alone: Callable[[int], str]) -> list[str]:
    """“n of of” for each row, `alone(n)` where `of` is 0; there are many rows and few different ones."""
    pairs = list(zip(n.tolist(), of.tolist(), strict=True))
    said = {pair: f"{pair[0]} of {pair[1]}" if pair[1] else alone(pair[0]) for pair in set(pairs)}
    return [said[pair] for pair in pairs]


_DECISIONS = {"approve": "approved", "reject": "rejected", "": ""}


def load(
    store: Store, project_id: str, ballot_id: int, rules: Rules, *, assignments: pd.DataFrame | None = None
) -> PaymentView:
    """The payment of a ballot. A project's other ballots are paid for themselves.

    assignments : those of the ballot, where they have been read already.
    """
    with store.read() as conn:
        frame = assignments_of(conn, ballot_id) if assignments is None else assignments
        ballot = next(one for one in every_ballot_of(conn, project_id) if one.id == ballot_id)
        terms = ballot.settings if ballot.is_round else settings_for(conn, ballot_id)
        u = t.upload.c
        query = sa.select(u.id, u.filename).where(
            u.ballot_id == ballot_id, u.platform == MTURK, u.withdrawn_at.is_(None)
        )
        uploads = tuple((int(id_), str(name)) for id_, name in conn.execute(query.order_by(u.id)))
    frame = frame.assign(proposal=propose(frame, rules))
    due = payments(frame, reward=terms.reward, task_size=terms.task_size)
    return PaymentView(frame, due, uploads)


def review_file(store: Store, upload_id: int, view: PaymentView) -> bytes:
    """The stored file of an upload with the decisions in it; see `payment.write_review`."""
    with store.read() as conn:
        row = conn.execute(sa.select(t.upload).where(t.upload.c.id == upload_id)).one_or_none()
    if row is None:
        raise StoreError("This upload no longer exists.")
    data = read_blob(store, row.sha256, f"The kept copy of {row.filename}")
    decided = view.assignments[(view.assignments["platform"] == MTURK) & (view.assignments["review"] != "")]
    columns = (decided[name].tolist() for name in ("assignment_id", "review", "reason"))
    reviews = {id_: Review(review, reason) for id_, review, reason in zip(*columns, strict=True)}
    return write_review(data, row.filename, reviews)
