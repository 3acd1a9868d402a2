"""Commands that draw a ballot or a round with its checks, or take a draw back.

Which checks there are follows from the plan; they are written with the ballot. Known answers are found in
`store.votes.checks`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...ballots.audit import draw_audit
from ...ballots.checks import (
    AUDIT,
    GOLD,
    CheckSettings,
    DrawnChecks,
    clear_pairs,
    draw_checks,
    n_gold_places,
)
from ...ballots.draw import DrawnBallot, draw_ballot
from ...errors import StoreError
from ...metrics import rounded_scores
from ...plan.campaign_plan import n_kept
from ...protocols import Held, Protocol, Scored, Votes, protocol_of
from ...protocols.base import N_TOP, balanced
from ...questions import COMPARISON, RoundSettings, round_kind, round_kinds
from ...questions.base import DrawnRound
from ...scores.bradley_terry import FittedVotes
from ...scores.posterior import item_posteriors
from .. import schema as t
from ..command import (
    Change,
    check_revision,
    command,
    fetch_numbers,
    fetch_rows,
    insert_one,
    insert_rows,
    next_id,
    project_row,
)
from ..engine import Store, now
from ..projects.plans import PlanSettings, Ranking, ballot_named, ranking_of, read_rankings, settings_of
from ..schema.ballots import CAMPAIGN, ROUND
from ..scores.scoring import fitted_items
from ..tokens.areas import items_of, n_items_of
from ..votes.checks import MAX_GOLD, Pairs, fit_if_possible, gold_by_hand
from ..votes.model_answers import has_model_answers
from ..votes.tallies import Progress, ballot_votes, write_progress
from .ballot_rows import (
    FOR_CHECKS,
    FOR_ROUND,
    FOR_SELECTION,
    Ballot,
    ballot_seed,
    ballots_of,
    open_ballot_of,
    pilot_of,
    round_of,
    rounds_of,
    sentence_start,
)
from .comparisons import NewQuestions, drawn_comparisons, insert_questions


@dataclass(frozen=True)
class CheckContext:
    """What checks need to know of a ballot: its plan's checks and voters, the seed, the items of the ballot before it
    (none for ballot 1) and its own, the fit of the votes so far (None where there is none), gold given by hand."""

    settings: CheckSettings
    n_voters: int
    seed: int
    before: np.ndarray
    items: np.ndarray
    fitted: FittedVotes | None
    by_hand: Pairs


def draw_for(coming: CheckContext, drawn: DrawnBallot) -> DrawnChecks:
    """Draw the checks of a ballot. Without a fit there is no gold but that given by hand, and no audit."""
    rng = np.random.default_rng([coming.seed, FOR_CHECKS])
    settings, fitted = coming.settings, coming.fitted
    gold = list(coming.by_hand)
    n_places = n_gold_places(settings, drawn.n_tasks, coming.n_voters)
    if fitted is not None and n_places:
        known = {frozenset(pair) for pair in gold}
        clear = clear_pairs(fitted, min(MAX_GOLD, n_places) - len(gold), rng=rng)
        gold += [pair for pair in clear if frozenset(pair) not in known]
    audits = _audits(coming, rng) if fitted is not None else []
    return draw_checks(drawn, settings, gold=gold, audits=audits, n_voters=coming.n_voters, rng=rng)


def _audits(coming: CheckContext, rng: np.random.Generator) -> list[tuple[int, int, float]]:
    """The audited items against their opponents, as positions in the project, with probabilities of inclusion."""
    fitted, settings = coming.fitted, coming.settings
    cut = np.setdiff1d(coming.before, coming.items)
    if fitted is None or not settings.audit_items or not len(cut):
        return []
    audit = draw_audit(
        item_posteriors(fitted.fit),
        np.searchsorted(fitted.items, cut),
        np.searchsorted(fitted.items, np.sort(coming.items)),
        n_top=min(N_TOP, len(coming.items)),
        n_items=settings.audit_items,
        n_votes=settings.audit_votes,
        rng=rng,
    )
    inclusion = dict(zip(audit.items.tolist(), audit.inclusion.tolist(), strict=True))
    return [
        (int(fitted.items[item]), int(fitted.items[other]), inclusion[item])
        for item, other in rng.permutation(audit.pairs).tolist()
    ]


def insert_checks(conn: sa.Connection, ballot_id: int, checks: DrawnChecks, rows: WrittenIds) -> None:
    """Write the checks of a ballot whose tasks and comparisons are written already (`rows` says under which ids)."""
    start = next_id(conn, t.question)
    ids = range(start, start + len(checks.checks))
    items = rows.item_ids(sorted({item for check in checks.checks for item in (check.first, check.second)}))
    kinds = [check.kind for check in checks.checks]
    # Gold is shown in several tasks, and on the voting page to whoever comes: there is no number of votes it wants.
    questions = [
        (i, ballot_id, COMPARISON.name, "check", 0 if kind == GOLD else 1) for i, kind in zip(ids, kinds, strict=True)
    ]
    insert_rows(conn, t.question, ["id", "ballot_id", "kind", "role", "n_wanted"], questions)
    options = [
        (i, place, items[item])
        for i, check in zip(ids, checks.checks, strict=True)
        for place, item in enumerate((check.first, check.second))
    ]
    insert_rows(conn, t.question_option, ["question_id", "position", "item_id"], options)
    check_rows = [
        (i, check.kind, rows.first_question + check.of if check.of >= 0 else None, check.inclusion)
        for i, check in zip(ids, checks.checks, strict=True)
    ]
    insert_rows(conn, t.check_question, ["question_id", "kind", "of_id", "inclusion"], check_rows)
    golden = [(i, "first") for i, kind in zip(ids, kinds, strict=True) if kind == GOLD]
    insert_rows(conn, t.gold, ["question_id", "answer"], golden)
    showings = [
        (rows.first_task + s.task, place + 1, start + s.check, s.flipped, s.left_swapped, s.right_swapped)
        for s, place in zip(checks.showings, checks.showing_place.tolist(), strict=True)
    ]
    columns = ["task_id", "n", "question_id", "flipped", "left_swapped", "right_swapped"]
    insert_rows(conn, t.task_question, columns, showings)


@dataclass(frozen=True)
class WrittenIds:
    """Under which ids a ballot's tasks and comparisons were written."""

    conn: sa.Connection
    project_id: str
    first_task: int
    first_question: int

    def item_ids(self, positions: Sequence[int]) -> dict[int, int]:
        """The ids of items by their positions."""
        i = t.item.c
        query: sa.Select = sa.select(i.position, i.id).where(i.project_id == self.project_id)
        return dict(fetch_rows(self.conn, query.where(i.position.in_(list(positions)))))


def checks_log_entry(coming: CheckContext | None, checks: DrawnChecks | None) -> dict[str, Any]:
    """What the log says of a ballot's checks."""
    if coming is None or checks is None:
        return {}
    detail: dict[str, Any] = {"checks": checks.counts}
    settings = coming.settings
    if settings.gold and (len(coming.before) or settings.gold_pairs) and GOLD not in checks.counts:
        detail["no gold"] = "no difference is clear beyond doubt"
    if settings.audit_items and len(coming.before) and AUDIT not in checks.counts:
        detail["no audit"] = "the votes can't be fitted" if coming.fitted is None else "nothing was cut"
    return detail


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
        change.detail |= checks_log_entry(coming, checks)
    return due.number


def draw_waiting(store: Store, project_id: str, *, expected_revision: int | None = None) -> int:
    """Draw the next ballot of every ranking that has a plan, no open ballot, and ballots left; returns how many.

    Each is a command of its own: where one is refused, those before it stay drawn.
    """
    n_drawn = 0
    for ranking in read_rankings(store, project_id):
        with store.read() as conn:
            planned = settings_of(conn, project_id, ranking.area_id)
            ballots = ballots_of(conn, project_id, ranking.area_id)
            pilot = pilot_of(conn, project_id, ranking.area_id)
        if planned is None or len(ballots) >= planned[1].n_ballots or (ballots and ballots[-1].is_open):
            continue
        if pilot is not None and pilot.is_open:
            continue
        draw_next_ballot(store, project_id, area_id=ranking.area_id, expected_revision=expected_revision)
        n_drawn, expected_revision = n_drawn + 1, None
    return n_drawn


@dataclass(frozen=True)
class BallotItems:
    """The items of a ballot: positions, ids and the scores that chose them, and the ties at the cut."""

    positions: np.ndarray
    ids: np.ndarray
    entry_scores: list[float | None]
    n_tied: int = 0
    n_tied_kept: int = 0
    lost: float | None = None  # how many of the true top 10 aren't among them, expected


@dataclass(frozen=True)
class BallotToDraw:
    """What a ballot of the campaign will be made of, or a pilot, whose `number` is 0."""

    project_id: str
    ranking: Ranking
    plan_id: int
    settings: PlanSettings
    number: int
    appearances: int
    seed: int
    size: int
    chosen: BallotItems
    purpose: str = CAMPAIGN


def _due(conn: sa.Connection, project: sa.Row, ranking: Ranking) -> BallotToDraw:
    """What the next ballot is by the plan; `StoreError` where none can be drawn now."""
    planned = settings_of(conn, project.id, ranking.area_id)
    if planned is None:
        raise StoreError("There is no plan yet. Save one on the Plan page first.")
    plan_id, settings = planned
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
    chosen = BallotItems(items["item"].to_numpy(), items.index.to_numpy(), [None] * len(items))
    return BallotToDraw(
        project.id, ranking, plan_id, settings, number, plan.appearances_by_ballot[number - 1], seed, size, chosen
    )


def _held(conn: sa.Connection, due: BallotToDraw, protocol: Protocol) -> list[Held]:
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
    query = query.where(b.ballot_id == ballot.id).order_by(t.item.c.position)
    items, mean, count = fetch_numbers(conn, query).T
    return Scored(items.astype(np.int64), mean, mean, {"mean": mean, "count": np.nan_to_num(count).astype(np.int64)})


def _coming(due: BallotToDraw, held: Sequence[Held], by_hand: Pairs) -> CheckContext | None:
    """What the checks of a ballot go by; None where the plan has no checks."""
    settings, items = due.settings, due.chosen.positions
    if settings.checks is None:
        return None
    before = held[-1].votes.items if held else np.empty(0, dtype=np.int64)
    return CheckContext(settings.checks, settings.n_voters, due.seed, before, items, _fitted(held), by_hand)


def _fitted(held: Sequence[Held]) -> FittedVotes | None:
    """The fit of all votes so far; None without votes, and where they can't be fitted."""
    if not held:
        return None
    scores = held[-1].scores
    if scores is not None and isinstance(scores.state, FittedVotes):
        return scores.state
    return fit_if_possible([ballot.votes for ballot in held])


def _chosen_by(protocol: Protocol, held: Sequence[Held], due: BallotToDraw) -> BallotItems:
    """Who goes on; `due.chosen` has all items of the ranking."""
    chosen = protocol.select(held, due.size, np.random.default_rng([due.seed, FOR_SELECTION]))
    ids = due.chosen.ids[np.searchsorted(due.chosen.positions, chosen.items)]
    return BallotItems(chosen.items, ids, chosen.entry.tolist(), chosen.n_tied, chosen.n_tied_kept, chosen.lost)


def insert_ballot(change: Change, due: BallotToDraw, drawn: DrawnBallot, checks: DrawnChecks | None = None) -> None:
    """Write a drawn ballot with its items, tasks, comparisons and checks, and say so in the log."""
    conn, chosen = change.conn, due.chosen
    code = ballot_code(change.project_id, due.number, due.seed, drawn, checks)
    ballot_id = insert_one(
        conn,
        t.ballot,
        project_id=change.project_id,
        plan_id=due.plan_id,
        area_id=due.ranking.area_id,
        purpose=due.purpose,
        kind=COMPARISON.name,
        ordinal=due.number,
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
    questions = drawn_comparisons(drawn, chosen.positions, chosen.ids, place)
    n_tasks, *first_ids = insert_questions(conn, ballot_id, code, questions)
    if checks is not None and checks.checks:
        insert_checks(conn, ballot_id, checks, WrittenIds(conn, change.project_id, *first_ids))
    change.detail = (
        ballot_named(conn, change.project_id, due.ranking.area_id, due.number, due.purpose)
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
    """Take back the newest ballot, the pilot or a round, while it is open and has no answers at all.

    `code` is that of the one which is meant (`ballot_rows.open_ballot_of`).
    """
    with command(store, project_id, "discard ballot", expected_revision=expected_revision) as change:
        ballot = open_ballot_of(change.conn, project_id, area_id, code)
        if _has_answers(change.conn, ballot):
            raise StoreError(
                f"{sentence_start(ballot.called)} has answers, so it stays. Close it when its votes are in."
            )
        if has_model_answers(change.conn, ballot.id):
            raise StoreError(
                f"{sentence_start(ballot.called)} has answers of a language model, which were paid for, so it stays."
            )
        change.detail = ballot_named(change.conn, project_id, area_id, ballot.number, ballot.purpose)
        change.conn.execute(sa.delete(t.ballot).where(t.ballot.c.id == ballot.id))
        if ballot.is_round:
            change.action = "discard round"
            change.detail |= {"scheme": ballot.scheme}


# Rounds


def draw_round(
    store: Store,
    project_id: str,
    settings: RoundSettings,
    *,
    area_id: int | None = None,
    after: int | None = None,
    expected_revision: int | None = None,
) -> int:
    """Draw a round of the ranking by these settings, and return its number.

    Its kind asks about the items of the ranking as it likes (`RoundKind.draw`); `after` a closed round of a kind whose
    rounds rest on each other, about the share `settings.keep` of its items with the highest scores. The seed follows
    from the project's, the settings' and the number: the same give the same round. Raises `StoreError` while another
    round of the kind is open, `InputError` for groups that aren't items, `PlanError` for settings that make no sense.
    """
    kind = round_kind(settings.scheme)
    kind.checked(settings)
    with store.read() as conn:
        project = project_row(conn, project_id)
        check_revision(project, expected_revision)
        ranking = ranking_of(conn, project_id, area_id)
        rounds = rounds_of(conn, project_id, area_id)
        waiting = [found for found in rounds if found.is_open and found.scheme == settings.scheme]
        if waiting:
            raise StoreError(f"{waiting[0].title}, is still open. Close it before the next one is drawn.")
        number = max((found.number for found in rounds), default=0) + 1
        items = items_of(conn, project_id, area_id=area_id)
        before = None if after is None else round_of(conn, project_id, after, area_id)
        entry = None if before is None else _leading(conn, before, settings)
    seed = round_seed(project.seed, settings.seed, number, ranking.position)
    asked = items if entry is None else items[items["item"].isin(entry.index)]
    scores = None if entry is None else entry["theta"].to_numpy()
    drawn = kind.questions(asked, settings, np.random.default_rng([seed, FOR_ROUND]), scores)
    with command(store, project_id, "draw round", expected_revision=project.revision) as change:
        _insert_round(change, _NewRound(ranking, number, seed, settings, drawn, items, entry))
    return number


def round_seed(project_seed: int, own_seed: int, number: int, place: int | None = None) -> int:
    """The seed of a round: it follows from the project's, the settings', its number, and the place of its area."""
    parts = [project_seed, own_seed, number, 7] + ([] if place is None else [place + 1])
    return int(np.random.SeedSequence(parts).generate_state(1)[0] >> 1)


def _leading(conn: sa.Connection, before: Ballot, settings: RoundSettings) -> pd.DataFrame:
    """Score and θ of the items that go on after a round, by position; ties at the cut are broken by position."""
    if before.scheme != settings.scheme or not before.kind.about.pools:
        among = " and ".join(kind.about.label for kind in round_kinds().values() if kind.about.pools)
        raise StoreError(f"Only {among} goes on with the leading items of a round.")
    if before.is_open:
        raise StoreError(f"{before.title}, is still open. Close it first: its scores say which items go on.")
    fitted = fitted_items(conn, before.id)
    size = n_kept(before.n_items, settings.keep)
    if size < settings.size:
        raise StoreError(f"{size} items would go on, and a tuple needs {settings.size}. Keep a larger share.")
    leading = np.argsort(-rounded_scores(fitted["score"]), kind="stable")[:size]
    return fitted.iloc[leading].sort_index()


@dataclass(frozen=True)
class _NewRound:
    """A drawn round that isn't written yet; items : the ranking's; entry : of those that go on after another round."""

    ranking: Ranking
    number: int
    seed: int
    settings: RoundSettings
    drawn: DrawnRound
    items: pd.DataFrame
    entry: pd.DataFrame | None


def _insert_round(change: Change, new: _NewRound) -> None:
    """Write a drawn round with its items, tasks and questions, and say so in the log."""
    number, seed, settings, drawn = new.number, new.seed, new.settings, new.drawn
    conn, positions, n = change.conn, drawn.items, len(drawn.options)
    code = round_code(change.project_id, number, seed, drawn)
    ids = dict(zip(new.items["item"].tolist(), new.items.index.tolist(), strict=True))
    ballot_id = insert_one(
        conn,
        t.ballot,
        project_id=change.project_id,
        area_id=new.ranking.area_id,
        purpose=ROUND,
        kind=settings.scheme,
        ordinal=number,
        code=code,
        state="open",
        protocol=settings.scheme,
        appearances=round_kind(settings.scheme).wanted_of_item(settings),
        seed=seed,
        n_items=len(positions),
        n_comparisons=n,
        drawn_at=now(),
        settings=settings.stored(),
    )
    entry = new.entry
    score_of = {} if entry is None else dict(zip(entry.index.tolist(), entry["score"].tolist(), strict=True))
    entries = [(ballot_id, ids[p], score_of.get(p)) for p in positions.tolist()]
    insert_rows(conn, t.ballot_item, ["ballot_id", "item_id", "entry_score"], entries)
    n_shown = [len(shown) for shown in drawn.options]
    options = (
        np.repeat(np.arange(n), n_shown),
        np.concatenate([np.arange(length) for length in n_shown]),
        np.array([ids[item] for shown in drawn.options for item in shown]),
    )
    questions = NewQuestions(
        settings.scheme, settings.raters, options, drawn.task, drawn.place, False, drawn.swapped, False
    )
    n_tasks, *_ = insert_questions(conn, ballot_id, code, questions)
    write_progress(conn, ballot_id)
    described = {"scheme": settings.scheme, "items": len(positions), "questions": n, "tasks": n_tasks, "seed": seed}
    change.detail = ballot_named(conn, change.project_id, new.ranking.area_id, number, ROUND) | described


def round_code(project_id: str, number: int, seed: int, drawn: DrawnRound) -> str:
    """The start of the round's task ids: the same for the same draw, another one for any other draw."""
    digest = hashlib.sha256(f"{project_id}/round {number}/{seed}".encode())
    digest.update(repr((drawn.options, drawn.swapped.tolist(), drawn.task.tolist(), drawn.place.tolist())).encode())
    return f"r{number}-{digest.hexdigest()[:8]}"


def _has_answers(conn: sa.Connection, ballot: Ballot) -> bool:
    answered = sa.select(t.assignment.c.id).where(t.assignment.c.ballot_id == ballot.id).limit(1)
    return conn.execute(answered).first() is not None
