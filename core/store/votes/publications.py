"""Ballots put on a platform through its interface, and their votes fetched from there. Tokens are never stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ...errors import InputError, StoreError
from ...platforms.mturk import page_of
from ...platforms.turkle import TurkleSite, clean_address
from ...questions.comparison_page import write_batch
from ...votes.platform import Outgoing
from .. import schema as t
from ..ballots.ballot_rows import open_ballot_of
from ..command import command, insert_one
from ..engine import Store, now
from ..projects.plans import ballot_named

MAX_ASSIGNMENTS = 100


@dataclass(frozen=True)
class Publication:
    """A batch of a ballot on a platform: where, its numbers there, and when votes were last fetched.

    Where `confirmed` is False the address came with an imported project: see `confirm_address`.
    """

    id: int
    ballot_id: int
    platform: str
    address: str
    project: int
    batch: int
    n_tasks: int
    assignments: int
    is_top_up: bool
    at: str
    fetched_at: str | None
    confirmed: bool

    def __post_init__(self) -> None:
        """Raise ValueError for what no publication holds: requests are made of it, and it may come from elsewhere."""
        numbers = (self.project, self.batch, self.n_tasks, self.assignments)
        if self.platform != "turkle" or not all(type(number) is int and number >= 0 for number in numbers):
            raise ValueError(f"a publication on {self.platform[:40]!r} isn't numbered as Turkle numbers them")
        clean_address(self.address)

    @property
    def filename(self) -> str:
        """What its results are called among the uploads."""
        return f"turkle-batch-{self.batch}-results.csv"


def publications_of(conn: sa.Connection, ballot_id: int) -> list[Publication]:
    """What was published of a ballot, the oldest first."""
    p = t.publication.c
    query = sa.select(t.publication).where(p.ballot_id == ballot_id).order_by(p.id)
    return [_publication(row) for row in conn.execute(query)]


def read_publications(store: Store, ballot_id: int) -> list[Publication]:
    """What was published of a ballot, the oldest first."""
    with store.read() as conn:
        return publications_of(conn, ballot_id)


def _publication(row: sa.Row) -> Publication:
    names = ("project", "batch", "n_tasks", "assignments", "is_top_up")
    told = {name: row.detail[name] for name in names}
    return Publication(
        row.id,
        row.ballot_id,
        row.platform,
        row.address,
        at=row.at,
        fetched_at=row.fetched_at,
        confirmed=bool(row.confirmed),
        **told,
    )


def publish_on_turkle(
    store: Store,
    project_id: str,
    site: TurkleSite,
    ballot: Outgoing,
    *,
    name: str,
    assignments: int = 1,
    area_id: int | None = None,
) -> Publication:
    """Put the ranking's open ballot (or what it lacks) on a Turkle, and remember where it is.

    `assignments` people are asked for each task. A further batch of a ballot goes into the project that is there
    already. Raises `PlatformError` where Turkle refuses: then nothing is remembered, and `StaleError` where another
    ballot is open.
    """
    if not 1 <= assignments <= MAX_ASSIGNMENTS:
        raise InputError(f"Each task can be asked of 1 to {MAX_ASSIGNMENTS} people, not of {assignments}.")
    with store.write(project_id) as conn:  # what couldn't be remembered must not be put there
        drawn = open_ballot_of(conn, project_id, area_id, ballot.code)
        before = publications_of(conn, drawn.id)
    there = [one.project for one in before if one.address == site.address and one.confirmed]
    frame, only = ballot.comparisons(), ballot.only()
    batch = write_batch(frame, only=only, ascii_only=True).decode("ascii")
    n_tasks = batch.count("\n") - 1
    if n_tasks < 1:
        raise InputError("There is no comparison to ask for: each has its votes.")
    # Turkle writes this name into each row of its results, so it is ASCII too.
    title = " ".join(name.encode("ascii", "replace").decode().split())[:100] or drawn.code
    page, project = page_of(ballot, "turkle"), there[-1] if there else None
    made = site.publish(title, page, batch, assignments=assignments, project=project)
    detail = {"project": made.project, "batch": made.batch, "n_tasks": n_tasks, "assignments": assignments}
    detail["is_top_up"] = ballot.is_top_up
    with command(store, project_id, "publish ballot") as change:
        values = {"platform": "turkle", "address": site.address, "detail": detail, "at": now()}
        id_ = insert_one(change.conn, t.publication, ballot_id=drawn.id, **values)
        change.detail = ballot_named(change.conn, project_id, area_id, drawn.number, drawn.purpose)
        change.detail |= {"platform": "Turkle", "address": site.address, "batch": made.batch, "tasks": n_tasks}
        return _publication(change.conn.execute(sa.select(t.publication).where(t.publication.c.id == id_)).one())


def fetch_from_turkle(store: Store, project_id: str, publication_id: int, token: str, **options: Any) -> bytes:
    """The result file of a publication as it is now, whole. It goes through the same preview as a file by hand.

    Raises `PlatformError` where Turkle can't be reached, refuses, or sends a file that lacks rows; `InputError` where
    the address isn't confirmed.
    """
    publication = _confirmed(store, project_id, publication_id)
    data = TurkleSite(publication.address, token, **options).results(publication.batch)
    with command(store, project_id, "fetch results") as change:
        row = sa.update(t.publication).where(t.publication.c.id == publication_id)
        change.conn.execute(row.values(fetched_at=now()))
        change.detail = {"platform": "Turkle", "address": publication.address, "batch": publication.batch}
        change.detail |= {"bytes": len(data)}
    return data


def finished_there(store: Store, project_id: str, publication_id: int, token: str, **options: Any) -> tuple[int, int]:
    """How many assignments of a publication are finished on the platform, and how many there are in all.

    Raises as `fetch_from_turkle` does.
    """
    publication = _confirmed(store, project_id, publication_id)
    done = TurkleSite(publication.address, token, **options).finished(publication.batch)
    return done, publication.n_tasks * publication.assignments


def confirm_address(
    store: Store, project_id: str, publication_id: int, *, expected_revision: int | None = None
) -> None:
    """Let the owner's token go to the address of a publication, and of all others of the project that have the same.

    It is asked for where the address came with a file: whoever made that could have written one of their own into it.
    """
    address = _one(store, project_id, publication_id).address
    with command(store, project_id, "confirm address", expected_revision=expected_revision) as change:
        ballots = sa.select(t.ballot.c.id).where(t.ballot.c.project_id == project_id)
        p = t.publication.c
        row = sa.update(t.publication).where(p.ballot_id.in_(ballots), p.address == address)
        change.conn.execute(row.values(confirmed=True))
        change.detail = {"platform": "Turkle", "address": address}


def _confirmed(store: Store, project_id: str, publication_id: int) -> Publication:
    publication = _one(store, project_id, publication_id)
    if not publication.confirmed:
        raise InputError(
            f"The address {publication.address} came with an imported project, and your token would go there. Say "
            "first, under Collect, that it is your Turkle. Nothing was sent."
        )
    return publication


def _one(store: Store, project_id: str, publication_id: int) -> Publication:
    with store.read() as conn:
        query = (
            sa.select(t.publication)
            .join(t.ballot, t.ballot.c.id == t.publication.c.ballot_id)
            .where(t.publication.c.id == publication_id, t.ballot.c.project_id == project_id)
        )
        row = conn.execute(query).one_or_none()
    if row is None:
        raise StoreError("This project has no such publication.")
    return _publication(row)
