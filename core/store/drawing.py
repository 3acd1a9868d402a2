"""Commands that draw a ballot, or take a draw back."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import sqlalchemy as sa

from ..ballots import DrawnBallot, draw_ballot
from ..check_drawing import DrawnChecks
from ..errors import DisconnectedError, NotConvergedError, StoreError
from ..protocols import Held, Protocol, Scored, Votes, protocol_of
from ..protocols.base import balanced
from ..scores.fit import FittedVotes, fit_votes
from . import schema as t
from .areas import items_of, n_items_of
from .ballots import Ballot, ballot_seed, ballots_of, open_ballot_of, pilot_of, sentence_start
from .check_drawing import Coming, Pairs, Rows, draw_for, gold_by_hand, insert_checks, told
from .command import Change, check_revision, command, fetch_rows, insert_one, insert_rows, project_row
from .comparisons import insert_comparisons
from .engine import Store, now
from .plans import PlanSettings, settings_of
from .rankings import Ranking, ballot_named, ranking_of, read_rankings
from .tallies import Progress, ballot_votes


def draw_next_ballot(
    store: Store, project_id: str, *, area_id: int | None = None, expected_revision: int | None = None
) -> int:
    """Draw a ranking's next ballot by its plan, and return its number.

    Ballot 1 holds all its items; the plan's protocol says which go on from there, and who meets whom. Ties at the cut
    are decided by a seeded draw, and reported. Raises `StoreError` where a ballot or the pilot is open, all are drawn,
    or there is no plan; `DisconnectedError` where the protocol fits the votes and they leave items apart.
    """
    with store.read() as conn:
        project = project_row(conn, project_id)
        check_revision(project, expected_revision)
        due = _due(conn, project, ranking_of(conn, project_id, area_id))
        protocol = protocol_of(due.settings.protocol)
        held = _held(conn, due, protocol)
        by_hand = gold_by_hand(conn, project_id, area_id, due.settings.checks)
    # A large draw takes seconds: nobody else need wait for it. The revision says whether it still holds.
    held = protocol.scored(held)
    due = replace(due, chosen=_chosen_by(protocol, held, due)) if held else due
    items, n_comparisons = due.chosen.positions, -(-due.appearances * len(due.chosen.positions) // 2)
    drawn = draw_ballot(
        items,
        due.appearances,
        task_size=due.settings.task_size,
        seed=due.seed,
        pairs_of=lambda rng: protocol.draw(items, n_comparisons, held, rng, balanced),
    )
    coming = _coming(due, held, by_hand)
    checks = None if coming is None else draw_for(coming, drawn)
    with command(store, project_id, "draw ballot", expected_revision=project.revision) as change:
        insert_ballot(change, due, drawn, checks)
        change.detail |= told(coming, checks)
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
            pilot = pilot_of(conn, project_id, ranking.area_id)
        if found is None or len(ballots) >= found[1].n_ballots or (ballots and ballots[-1].is_open):
            continue
        if pilot is not None and pilot.is_open:
            continue
        draw_next_ballot(store, project_id, area_id=ranking.area_id, expected_revision=expected_revision)
        n_drawn, expected_revision = n_drawn + 1, None
    return n_drawn


@dataclass(frozen=True)
class Chosen:
    """The items of a ballot: positions, ids and the scores that chose them, and the ties at the cut."""

    positions: np.ndarray
    ids: np.ndarray
    entry_scores: list[float | None]
    n_tied: int = 0
    n_tied_kept: int = 0
    lost: float | None = None  # how many of the true top 10 aren't among them, expected


@dataclass(frozen=True)
class Due:
    """What a ballot will be made of; `number` is 0 for a pilot."""

    project_id: str
    ranking: Ranking
    plan_id: int
    settings: PlanSettings
    number: int
    appearances: int
    seed: int
    size: int
    chosen: Chosen


def _due(conn: sa.Connection, project: sa.Row, ranking: Ranking) -> Due:
    """What the next ballot is by the plan; `StoreError` where none can be drawn now."""
    found = settings_of(conn, project.id, ranking.area_id)
    if found is None:
        raise StoreError("There is no plan yet. Save one on the Plan page first.")
    plan_id, settings = found
    ballots = ballots_of(conn, project.id, ranking.area_id)
    number = len(ballots) + 1
    pilot = pilot_of(conn, project.id, ranking.area_id)
    if pilot is not None and pilot.is_open:
        raise StoreError("The pilot is still open. Close it before ballot 1 is drawn.")
    if ballots and ballots[-1].is_open:
        raise StoreError(f"Ballot {ballots[-1].number} is still open. Close it before the next one is drawn.")
    plan = settings.plan(n_items_of(conn, project.id, ranking.area_id))
    if number > plan.n_ballots:
        raise StoreError(f"All {plan.n_ballots} ballots of the plan are drawn.")
    seed = ballot_seed(project.seed, settings.seed, number, ranking.position)
    size = plan.sizes[number - 1]
    items = items_of(conn, project.id, area_id=ranking.area_id)
    chosen = Chosen(items["item"].to_numpy(), items.index.to_numpy(), [None] * len(items))
    return Due(
        project.id, ranking, plan_id, settings, number, plan.appearances_by_ballot[number - 1], seed, size, chosen
    )


def _held(conn: sa.Connection, due: Due, protocol: Protocol) -> list[Held]:
    """The ballots so far, with their votes where the draw or its checks go by them, and the scores that were stored
    with them, where these are what the protocol scores."""
    ballots = ballots_of(conn, due.project_id, due.ranking.area_id)
    needs_votes = not protocol.about.by_scores or due.settings.checks is not None
    held = []
    for ballot in ballots:
        scores = None if protocol.about.whole_field else _stored_scores(conn, ballot)
        if needs_votes or scores is None:
            held.append(Held(ballot_votes(conn, ballot.id), scores))
        else:
            none = np.empty(0, dtype=np.int64)
            held.append(Held(Votes(scores.items, none, none, np.empty(0), none), scores))
    return held


def _stored_scores(conn: sa.Connection, ballot: Ballot) -> Scored:
    """What closing a ballot wrote of its items."""
    b = t.ballot_item.c
    query = sa.select(t.item.c.position, b.mean, b["count"]).join(t.item, t.item.c.id == b.item_id)
    rows = np.array(fetch_rows(conn, query.where(b.ballot_id == ballot.id).order_by(t.item.c.position)), dtype=float)
    items, mean, count = rows.reshape(-1, 3).T
    return Scored(items.astype(np.int64), mean, mean, {"mean": mean, "count": np.nan_to_num(count).astype(np.int64)})


def _coming(due: Due, held: Sequence[Held], by_hand: Pairs) -> Coming | None:
    """What the checks of a ballot go by; None where the plan has no checks."""
    settings, items = due.settings, due.chosen.positions
    if settings.checks is None:
        return None
    before = held[-1].votes.items if held else np.empty(0, dtype=np.int64)
    return Coming(settings.checks, settings.n_voters, due.seed, before, items, _fitted(held), by_hand)


def _fitted(held: Sequence[Held]) -> FittedVotes | None:
    """The fit of all votes so far; None without votes, and where they can't be fitted."""
    if not held:
        return None
    scores = held[-1].scores
    if scores is not None and isinstance(scores.state, FittedVotes):
        return scores.state
    try:
        return fit_votes([ballot.votes for ballot in held])
    except (DisconnectedError, NotConvergedError):
        return None


def _chosen_by(protocol: Protocol, held: Sequence[Held], due: Due) -> Chosen:
    """Who goes on; `due.chosen` has all items of the ranking."""
    chosen = protocol.select(held, due.size, np.random.default_rng([due.seed, 1]))
    ids = due.chosen.ids[np.searchsorted(due.chosen.positions, chosen.items)]
    return Chosen(chosen.items, ids, chosen.entry.tolist(), chosen.n_tied, chosen.n_tied_kept, chosen.lost)


def insert_ballot(change: Change, due: Due, drawn: DrawnBallot, checks: DrawnChecks | None = None) -> None:
    """Write a drawn ballot with its items, tasks, comparisons and checks, and say so in the log."""
    conn, chosen = change.conn, due.chosen
    code = ballot_code(change.project_id, due.number, due.seed, drawn, checks)
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
    place = None if checks is None else checks.place
    n_tasks, *first_ids = insert_comparisons(conn, ballot_id, code, drawn, chosen.positions, chosen.ids, place)
    if checks is not None and checks.checks:
        insert_checks(conn, ballot_id, checks, Rows(conn, change.project_id, *first_ids))
    change.detail = (
        ballot_named(conn, change.project_id, due.ranking.area_id, due.number)
        | {
            "items": len(chosen.positions),
            "comparisons": len(drawn.first),
            "tasks": n_tasks,
            "seed": due.seed,
            "tied at the cut": chosen.n_tied,
        }
        | ({} if chosen.lost is None else {"true top 10 cut, expected": round(chosen.lost, 2)})
    )


def ballot_code(project_id: str, number: int, seed: int, drawn: DrawnBallot, checks: DrawnChecks | None = None) -> str:
    """The start of the ballot's task ids: the same for the same draw, another one for any other draw."""
    digest = hashlib.sha256(f"{project_id}/{number}/{seed}".encode())
    for part in (drawn.first, drawn.second, drawn.task, drawn.position, drawn.flipped):
        digest.update(np.ascontiguousarray(part).tobytes())
    if checks is not None and checks.checks:
        digest.update(repr((checks.checks, checks.showings, checks.showing_place.tolist())).encode())
    return f"b{number}-{digest.hexdigest()[:8]}"


def discard_ballot(
    store: Store,
    project_id: str,
    *,
    area_id: int | None = None,
    code: str | None = None,
    expected_revision: int | None = None,
) -> None:
    """Take back the newest ballot, or the pilot, while it is open and has no answers at all.

    `code` is that of the one which is meant (`ballots.check_meant`).
    """
    with command(store, project_id, "discard ballot", expected_revision=expected_revision) as change:
        ballot = open_ballot_of(change.conn, project_id, area_id, code)
        answered = sa.select(t.assignment.c.id).where(t.assignment.c.ballot_id == ballot.id).limit(1)
        if change.conn.execute(answered).first() is not None:
            raise StoreError(
                f"{sentence_start(ballot.called)} has answers, so it stays. Close it when its votes are in."
            )
        change.detail = ballot_named(change.conn, project_id, area_id, ballot.number)
        change.conn.execute(sa.delete(t.ballot).where(t.ballot.c.id == ballot.id))
