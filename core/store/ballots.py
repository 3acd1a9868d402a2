"""Commands for the life of a ballot: draw, close, reopen, discard; and what stands in it."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ..ballots import DrawnBallot, draw_ballot, select_items
from ..errors import StoreError
from ..scores import BallotScores, Intervals, bootstrap_intervals, score_campaign
from . import schema as t
from .areas import items_of, n_items_of
from .command import Change, check_revision, command, fetch_rows, insert_one, insert_rows, project_row
from .comparisons import comparisons_of, insert_comparisons
from .engine import Store, now
from .plans import PlanSettings, settings_of
from .rankings import Ranking, ballot_named, belongs, ranking_of, read_rankings
from .tallies import Progress, ballot_votes
from .voting_rest import rests_voting

LEVEL = 0.9
RESAMPLES = 1000


@dataclass(frozen=True)
class Ballot:
    """A ballot as pages see it."""

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

    @property
    def is_open(self) -> bool:
        return self.state == "open"


_COLUMNS = [t.ballot.c[name] for name in Ballot.__annotations__]


def ballots_of(conn: sa.Connection, project_id: str, area_id: int | None = None) -> list[Ballot]:
    """The ballots of one ranking by number."""
    query = sa.select(*_COLUMNS).where(t.ballot.c.project_id == project_id, belongs(t.ballot.c.area_id, area_id))
    return [Ballot(*row) for row in conn.execute(query.order_by(t.ballot.c.number))]


def every_ballot_of(conn: sa.Connection, project_id: str) -> list[Ballot]:
    """The ballots of all rankings, in the order they were drawn."""
    query = sa.select(*_COLUMNS).where(t.ballot.c.project_id == project_id).order_by(t.ballot.c.id)
    return [Ballot(*row) for row in conn.execute(query)]


def read_ballots(store: Store, project_id: str, area_id: int | None = None) -> list[Ballot]:
    """The ballots of one ranking by number."""
    with store.read() as conn:
        return ballots_of(conn, project_id, area_id)


def open_ballot_of(conn: sa.Connection, project_id: str, area_id: int | None = None) -> Ballot:
    """The open ballot of a ranking; `StoreError` if there is none."""
    ballots = [ballot for ballot in ballots_of(conn, project_id, area_id) if ballot.is_open]
    if not ballots:
        ranking_of(conn, project_id, area_id)
        raise StoreError("No ballot is open. Draw one on the Collect page first.")
    return ballots[0]


def ballot_seed(project_seed: int, plan_seed: int, number: int, place: int | None = None) -> int:
    """The seed of ballot `number`: follows from the project's, the plan's, and the place of its area, if it has one."""
    parts = [project_seed, plan_seed, number] + ([] if place is None else [place + 1])
    return int(np.random.SeedSequence(parts).generate_state(1)[0] >> 1)


def draw_next_ballot(
    store: Store, project_id: str, *, area_id: int | None = None, expected_revision: int | None = None
) -> int:
    """Draw a ranking's next ballot by its plan, and return its number.

    Ballot 1 holds all its items; ballot k the N(k) items of ballot k−1 with the highest ȳ (ties at the cut by a
    seeded draw, reported). Raises `StoreError` where a ballot is open, all are drawn, or there is no plan.
    """
    with store.read() as conn:
        project = project_row(conn, project_id)
        check_revision(project, expected_revision)
        due = _due(conn, project, ranking_of(conn, project_id, area_id))
    # A large draw takes seconds: nobody else need wait for it. The revision says whether it still holds.
    size = due.settings.task_size
    drawn = draw_ballot(due.chosen.positions, due.appearances, task_size=size, seed=due.seed)
    with command(store, project_id, "draw ballot", expected_revision=project.revision) as change:
        _insert_ballot(change, due, drawn)
    return due.number


def draw_waiting(store: Store, project_id: str, *, expected_revision: int | None = None) -> int:
    """Draw the next ballot of every ranking that has a plan, no open ballot, and ballots left; returns how many.

    Each is a command of its own: where one is refused, those before it stay drawn.
    """
    n_drawn = 0
    for ranking in read_rankings(store, project_id):
        with store.read() as conn:
            found = settings_of(conn, project_id, ranking.area_id)
            ballots = ballots_of(conn, project_id, ranking.area_id)
        if found is None or len(ballots) >= found[1].n_ballots or (ballots and ballots[-1].is_open):
            continue
        draw_next_ballot(store, project_id, area_id=ranking.area_id, expected_revision=expected_revision)
        n_drawn, expected_revision = n_drawn + 1, None
    return n_drawn


@dataclass(frozen=True)
class _Chosen:
    """The items of a ballot: positions, ids and the scores that chose them, and the ties at the cut."""

    positions: np.ndarray
    ids: np.ndarray
    entry_scores: list[float | None]
    n_tied: int = 0
    n_tied_kept: int = 0


@dataclass(frozen=True)
class _Due:
    """What the next ballot will be made of."""

    ranking: Ranking
    plan_id: int
    settings: PlanSettings
    number: int
    appearances: int
    seed: int
    chosen: _Chosen


def _due(conn: sa.Connection, project: sa.Row, ranking: Ranking) -> _Due:
    """What the next ballot is by the plan; `StoreError` where none can be drawn now."""
    found = settings_of(conn, project.id, ranking.area_id)
    if found is None:
        raise StoreError("There is no plan yet. Save one on the Plan page first.")
    plan_id, settings = found
    ballots = ballots_of(conn, project.id, ranking.area_id)
    number = len(ballots) + 1
    if ballots and ballots[-1].is_open:
        raise StoreError(f"Ballot {ballots[-1].number} is still open. Close it before the next one is drawn.")
    plan = settings.plan(n_items_of(conn, project.id, ranking.area_id))
    if number > plan.n_ballots:
        raise StoreError(f"All {plan.n_ballots} ballots of the plan are drawn. The scores are final.")
    seed = ballot_seed(project.seed, settings.seed, number, ranking.position)
    chosen = _choose_items(conn, project.id, ranking, ballots, plan.sizes[number - 1], seed)
    return _Due(ranking, plan_id, settings, number, plan.appearances_by_ballot[number - 1], seed, chosen)


def _choose_items(
    conn: sa.Connection, project_id: str, ranking: Ranking, ballots: list[Ballot], size: int, seed: int
) -> _Chosen:
    if not ballots:
        items = items_of(conn, project_id, area_id=ranking.area_id)
        return _Chosen(items["item"].to_numpy(), items.index.to_numpy(), [None] * len(items))
    last = ballots[-1]
    query = (
        sa.select(t.item.c.position, t.item.c.id, t.ballot_item.c.mean)
        .join(t.item, t.item.c.id == t.ballot_item.c.item_id)
        .where(t.ballot_item.c.ballot_id == last.id)
        .order_by(t.item.c.position)
    )
    rows = np.array(fetch_rows(conn, query), dtype=float)
    positions, ids, mean = rows[:, 0].astype(int), rows[:, 1].astype(int), rows[:, 2]
    selection = select_items(positions, mean, size, rng=np.random.default_rng([seed, 1]))
    kept = np.isin(positions, selection.items)
    return _Chosen(positions[kept], ids[kept], mean[kept].tolist(), selection.n_tied, selection.n_tied_kept)


def _insert_ballot(change: Change, due: _Due, drawn: DrawnBallot) -> None:
    conn, chosen = change.conn, due.chosen
    code = _code(change.project_id, due, drawn)
    ballot_id = insert_one(
        conn,
        t.ballot,
        project_id=change.project_id,
        plan_id=due.plan_id,
        area_id=due.ranking.area_id,
        number=due.number,
        code=code,
        state="open",
        protocol=due.settings.protocol,
        appearances=due.appearances,
        seed=due.seed,
        n_items=len(chosen.positions),
        n_comparisons=len(drawn.first),
        n_tied=chosen.n_tied,
        n_tied_kept=chosen.n_tied_kept,
        drawn_at=now(),
        progress=asdict(Progress.before_votes(len(drawn.first), len(chosen.positions))),
    )
    entries = zip([ballot_id] * len(chosen.ids), chosen.ids.tolist(), chosen.entry_scores, strict=True)
    insert_rows(conn, t.ballot_item, ["ballot_id", "item_id", "entry_score"], list(entries))
    change.detail = ballot_named(conn, change.project_id, due.ranking.area_id, due.number) | {
        "items": len(chosen.positions),
        "comparisons": len(drawn.first),
        "tasks": insert_comparisons(conn, ballot_id, code, drawn, chosen.positions, chosen.ids),
        "seed": due.seed,
        "tied at the cut": chosen.n_tied,
    }


def _code(project_id: str, due: _Due, drawn: DrawnBallot) -> str:
    """The start of the ballot's task ids: the same for the same draw, another one for any other draw."""
    digest = hashlib.sha256(f"{project_id}/{due.number}/{due.seed}".encode())
    for part in (drawn.first, drawn.second, drawn.task, drawn.position, drawn.flipped):
        digest.update(np.ascontiguousarray(part).tobytes())
    return f"b{due.number}-{digest.hexdigest()[:8]}"


def discard_ballot(
    store: Store, project_id: str, *, area_id: int | None = None, expected_revision: int | None = None
) -> None:
    """Take back the newest ballot while it is open and has no answers at all."""
    with command(store, project_id, "discard ballot", expected_revision=expected_revision) as change:
        ballot = open_ballot_of(change.conn, project_id, area_id)
        answered = sa.select(t.assignment.c.id).where(t.assignment.c.ballot_id == ballot.id).limit(1)
        if change.conn.execute(answered).first() is not None:
            raise StoreError(f"Ballot {ballot.number} has answers, so it stays. Close it when its votes are in.")
        change.detail = ballot_named(change.conn, project_id, area_id, ballot.number)
        change.conn.execute(sa.delete(t.ballot).where(t.ballot.c.id == ballot.id))


@rests_voting
def close_ballot(
    store: Store, project_id: str, *, area_id: int | None = None, expected_revision: int | None = None
) -> None:
    """Close the open ballot and write its x, y, ȳ and 90 % intervals.

    Raises `StoreError` if it has no votes, or if an item of ballot 1 has none (then it would have no score).
    """
    with store.read() as conn:
        project = project_row(conn, project_id)
        check_revision(project, expected_revision)
        ballot = open_ballot_of(conn, project_id, area_id)
        votes = [ballot_votes(conn, b.id) for b in ballots_of(conn, project_id, area_id)]
        n_items = n_items_of(conn, project_id)
    n_votes = len(votes[-1].first)
    if n_votes == 0:
        raise StoreError(f"Ballot {ballot.number} has no votes yet. Upload results before it is closed.")
    scored = score_campaign(votes, n_items)[-1]
    unscored = int(np.isnan(scored.mean).sum())
    if unscored:
        raise StoreError(
            f"{unscored:,} of {ballot.n_items:,} items have no vote yet, so they would have no score. "
            "Collect more results before the ballot is closed."
        )
    rng = np.random.default_rng([ballot.seed, 2])
    intervals = bootstrap_intervals(votes, n_items, resamples=RESAMPLES, level=LEVEL, rng=rng)
    slope = None if np.isnan(scored.slope) or ballot.number == 1 else float(scored.slope)
    with command(store, project_id, "close ballot", expected_revision=project.revision) as change:
        _write_scores(change, ballot.id, scored, intervals)
        change.conn.execute(
            sa.update(t.ballot)
            .where(t.ballot.c.id == ballot.id)
            .values(state="closed", closed_at=now(), slope=slope, interval_note=intervals.reason or None)
        )
        counts = {"votes": n_votes, "comparisons": ballot.n_comparisons, "slope": slope}
        change.detail = ballot_named(change.conn, project_id, area_id, ballot.number) | counts


def _write_scores(change: Change, ballot_id: int, scored: BallotScores, intervals: Intervals) -> None:
    query = sa.select(t.item.c.position, t.item.c.id).where(t.item.c.project_id == change.project_id)
    ids = dict(fetch_rows(change.conn, query))
    columns = {
        "x": scored.x,
        "y": scored.y,
        "mean": scored.mean,
        "count": scored.count,
        "lower": intervals.lower[scored.items],
        "upper": intervals.upper[scored.items],
    }
    rows = []
    for place, position in enumerate(scored.items.tolist()):
        values = {f"new_{name}": column[place].item() for name, column in columns.items()}
        row = {name: None if np.isnan(value) else value for name, value in values.items()}
        rows.append({"of_item": ids[position], **row})
    statement = (
        sa.update(t.ballot_item)
        .where(t.ballot_item.c.ballot_id == ballot_id, t.ballot_item.c.item_id == sa.bindparam("of_item"))
        .values({name: sa.bindparam(f"new_{name}") for name in columns})
    )
    change.conn.execute(statement, rows)


def reopen_ballot(
    store: Store, project_id: str, *, area_id: int | None = None, expected_revision: int | None = None
) -> None:
    """Open the newest ballot again, as long as no later one is drawn; its scores are taken off."""
    with command(store, project_id, "reopen ballot", expected_revision=expected_revision) as change:
        ballots = ballots_of(change.conn, project_id, area_id)
        if not ballots or ballots[-1].is_open:
            raise StoreError("There is no closed ballot to reopen, or a later one is drawn already.")
        ballot = ballots[-1]
        change.detail = ballot_named(change.conn, project_id, area_id, ballot.number)
        blank = dict.fromkeys(("x", "y", "mean", "count", "lower", "upper"))
        change.conn.execute(sa.update(t.ballot_item).where(t.ballot_item.c.ballot_id == ballot.id).values(blank))
        change.conn.execute(
            sa.update(t.ballot)
            .where(t.ballot.c.id == ballot.id)
            .values(state="open", closed_at=None, slope=None, interval_note=None)
        )


def unanswered(store: Store, project_id: str, number: int, area_id: int | None = None) -> list[int]:
    """The question ids of a ranking's ballot `number` that have fewer votes than they want."""
    query = (
        sa.select(t.question.c.id)
        .join(t.ballot, t.ballot.c.id == t.question.c.ballot_id)
        .where(t.ballot.c.project_id == project_id, t.ballot.c.number == number, belongs(t.ballot.c.area_id, area_id))
        .where(t.question.c.n_votes < t.question.c.n_wanted)
        .order_by(t.question.c.id)
    )
    with store.read() as conn:
        return [row[0] for row in fetch_rows(conn, query)]


def read_comparisons(store: Store, project_id: str, number: int, area_id: int | None = None) -> pd.DataFrame:
    """The comparisons of a ranking's ballot `number` (schema COMPARISONS)."""
    with store.read() as conn:
        ballots = {ballot.number: ballot for ballot in ballots_of(conn, project_id, area_id)}
        if number not in ballots:
            raise StoreError(f"Ballot {number} isn't drawn yet.")
        return comparisons_of(conn, ballots[number].id, project_id)
