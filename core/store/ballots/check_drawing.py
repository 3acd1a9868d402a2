"""The checks of a ballot about to be drawn: which there are by its plan, and how they are written with it. Known
answers for a ballot that is open are proposed in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
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
    read_gold_pairs,
)
from ...ballots.draw import DrawnBallot
from ...errors import DisconnectedError, InputError, Issue, NotConvergedError
from ...protocols.base import N_TOP
from ...questions import COMPARISON
from ...scores.borda import VotesOf
from ...scores.bradley_terry import FittedVotes, fit_votes
from ...scores.posterior import item_posteriors
from .. import schema as t
from ..command import fetch_rows, insert_rows, next_id
from ..engine import Store
from ..tokens.areas import items_of
from ..votes.checks import MAX_GOLD
from ..votes.tallies import ballot_votes
from .ballot_rows import FOR_CHECKS, FOR_PROPOSED_GOLD, closed_ballots_of

Pairs = list[tuple[int, int]]


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


def fit_if_possible(votes: Sequence[VotesOf]) -> FittedVotes | None:
    """The fit of the votes of all ballots so far; None without a ballot, and where they can't be fitted."""
    try:
        return fit_votes(votes) if votes else None
    except (DisconnectedError, NotConvergedError):
        return None


def propose_gold(store: Store, project_id: str, *, area_id: int | None = None, n: int = 12, seed: int = 0) -> Pairs:
    """Up to `n` pairs of a ranking's items whose order its closed ballots leave no doubt about, the right one first.

    Under every protocol by `clear_pairs`, as gold is found when a ballot is drawn. Reads all votes and fits them: what
    a page shows of it is to be kept. Empty before a ballot is closed, and where the votes can't be fitted.
    """
    with store.read() as conn:
        votes = [ballot_votes(conn, ballot.id) for ballot in closed_ballots_of(conn, project_id, area_id)]
    fitted = fit_if_possible(votes)
    return [] if fitted is None else clear_pairs(fitted, n, rng=np.random.default_rng([seed, FOR_PROPOSED_GOLD]))


def typed_gold(store: Store, project_id: str, text: str, *, area_id: int | None = None) -> Pairs:
    """Known answers typed as `read_gold_pairs` reads them, as positions of items, the right one first.

    Raises `PlanError` for a line that is none, `InputError` naming pairs of tokens that are no items of the ranking.
    """
    typed = read_gold_pairs(text)
    with store.read() as conn:
        position = _positions(conn, project_id, area_id)
    named = [tokens for pair in typed for tokens in (pair.more, pair.less)]
    strange = [tokens for tokens in dict.fromkeys(named) if frozenset(tokens) not in position]
    if strange:
        raise InputError(
            "These known answers can't be asked.", [Issue("is no item here", found=" – ".join(s)) for s in strange]
        )
    return [(position[frozenset(pair.more)], position[frozenset(pair.less)]) for pair in typed]


def gold_by_hand(conn: sa.Connection, project_id: str, area_id: int | None, settings: CheckSettings | None) -> Pairs:
    """The plan's own comparisons with a known answer as positions of items; those that aren't items are left out."""
    if settings is None or not settings.gold_pairs:
        return []
    position = _positions(conn, project_id, area_id)
    pairs = [(position.get(frozenset(p.more)), position.get(frozenset(p.less))) for p in settings.gold_pairs]
    return [(more, less) for more, less in pairs if more is not None and less is not None]


def strange_gold(
    store: Store, project_id: str, area_id: int | None, settings: CheckSettings | None
) -> tuple[tuple[str, str], ...]:
    """The pairs of tokens in the plan's comparisons with a known answer that are no items of the ranking."""
    if settings is None or not settings.gold_pairs:
        return ()
    with store.read() as conn:
        position = _positions(conn, project_id, area_id)
    named = [tokens for pair in settings.gold_pairs for tokens in (pair.more, pair.less)]
    return tuple(dict.fromkeys(tokens for tokens in named if frozenset(tokens) not in position))


def _positions(conn: sa.Connection, project_id: str, area_id: int | None) -> dict[frozenset[str], int]:
    """The positions of a ranking's items by their two tokens."""
    items = items_of(conn, project_id, area_id=area_id)
    rows = items[["item", "token_a", "token_b"]].itertuples(index=False, name=None)
    return {frozenset(tokens): item for item, *tokens in rows}


def draw_for(coming: CheckContext, drawn: DrawnBallot) -> DrawnChecks:
    """Draw the checks of a ballot. Without a fit there is no gold but that given by hand, and no audit."""
    rng = np.random.default_rng([coming.seed, FOR_CHECKS])
    settings, fitted = coming.settings, coming.fitted
    gold = list(coming.by_hand)
    n_places = n_gold_places(settings, drawn.n_tasks, coming.n_voters)
    if fitted is not None and n_places:
        known = {frozenset(pair) for pair in gold}
        found = clear_pairs(fitted, min(MAX_GOLD, n_places) - len(gold), rng=rng)
        gold += [pair for pair in found if frozenset(pair) not in known]
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
    told = [
        (i, check.kind, rows.first_question + check.of if check.of >= 0 else None, check.inclusion)
        for i, check in zip(ids, checks.checks, strict=True)
    ]
    insert_rows(conn, t.check_question, ["question_id", "kind", "of_id", "inclusion"], told)
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
