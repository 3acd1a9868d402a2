"""How far the scores of a ranking can be trusted, and what another ballot would change: for Scores and Collect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa

from .. import reliability, trust
from ..errors import RunoffError
from ..foresight import CHANGES, MOVE_RHO_W, MOVE_TAU_W, Foresight
from ..plurals import many
from ..protocols import protocol_of
from ..protocols.base import N_TOP
from ..resampled import draw_scores, number_of_resamples
from ..scores import BallotVotes
from ..scores.borda import tally
from ..scores.connection import connected_parts
from ..scores.fit import FittedVotes, fit_votes, joined
from ..scores.posterior import item_posteriors
from ..store import Store
from ..store.areas import items_of
from ..store.audits import read_audit
from ..store.ballots import Ballot, ballots_of
from ..store.foresights import closed_fit_of, stored_foresight
from ..store.plans import settings_of
from ..trust import Line
from . import checks
from .draws import closed_votes
from .scores import pair_label

QUICK = 20_000  # votes that are looked at without being asked to, in a second or two: more are by a job (`trust_job`)
_NAMED = {trust.RED: "bad", trust.AMBER: "weak"}


@dataclass(frozen=True)
class TrustView:
    """The lines, and the worth of another ballot after ballot `after`; no lines before a ballot is closed.

    is_last : the plan has no ballot after that one.
    """

    lines: tuple[Line, ...]
    foresight: Foresight | None
    after: int
    is_last: bool


def headline(lines: Sequence[Line]) -> str:
    """How many of the lines that are shown have each level, in a sentence.

    >>> headline([Line("a", trust.RED, ""), Line("b", trust.GREEN, "")]), headline([Line("b", trust.GREEN, "")])
    ('1 bad of 2 points; the rest is good.', 'The only point is good.')
    """
    count = Counter(line.level for line in lines)
    named = " and ".join(f"{count[level]} {word}" for level, word in _NAMED.items() if count[level])
    if not named:
        return f"All {len(lines)} points are good." if len(lines) > 1 else "The only point is good."
    rest = "; the rest is good" if count[trust.GREEN] else ""
    return f"{named} of {len(lines)} points{rest}."


def load(
    store: Store, project_id: str, area_id: int | None = None, *, lines: tuple[Line, ...] | None = None
) -> TrustView:
    """The trust view of a ranking, by the lines where these are there already, else by `measured`."""
    found = measured(store, project_id, area_id) if lines is None else lines
    return TrustView(found, *load_foresight(store, project_id, area_id))


def measured(store: Store, project_id: str, area_id: int | None = None) -> tuple[Line, ...]:
    """All lines of a ranking, by its closed ballots; none before one is closed.

    Reads all their votes, fits them once, and scores them again some twenty times.
    """
    ballots, votes = closed_votes(store, project_id, area_id)
    if not ballots:
        return ()
    with store.read() as conn:
        foresight = stored_foresight(conn, ballots[-1].id)
        items = items_of(conn, project_id, area_id=area_id)
        audit = read_audit(conn, ballots[-1].id)
        tied = closed_fit_of(conn, ballots[-1].id).get("tied_for_first", [])
        is_last = _is_last(conn, project_id, area_id, ballots[-1].number)
        agreed = checks.agreement_of(conn, [ballot.id for ballot in ballots_of(conn, project_id, area_id)])
    names = dict(zip(items["item"], pair_label(items), strict=True))
    lines = _vote_lines(ballots, votes, is_last)
    fitted = _fitted(votes)
    if isinstance(fitted, FittedVotes):
        try:
            lines += _ranking_lines(ballots[-1], votes, fitted, tied, names, foresight, is_last)
        except RunoffError as error:
            lines.append(_no_ranking(str(error)))
    else:
        lines.append(_no_ranking(fitted))
    if len(ballots) > 1 and (cut := trust.cut_lost(foresight, audit)) is not None:  # ballot 1 holds all: nothing is cut
        lines.append(cut)
    return (*lines, trust.agreement(*agreed), *_reliability_lines(ballots[-1], votes, fitted))


def _fitted(votes: list[BallotVotes]) -> FittedVotes | str:
    """The fit of all votes, or why there is none."""
    try:
        return fit_votes(votes)
    except RunoffError as error:
        return str(error)


def _no_ranking(error: str) -> Line:
    why = f"There is no ranking of all items: {error}"
    return Line("The top", trust.RED, why, "See the lines above.")


def _vote_lines(ballots: list[Ballot], votes: list[BallotVotes], is_last: bool) -> list[Line]:
    """What the votes allow at all: how many, won and lost, joined."""
    items = np.sort(votes[0].items)
    first, second, outcome, _ = joined(votes, items)
    points, times = tally(first, second, outcome, n_items=len(items))
    planned = np.zeros(len(items), dtype=np.int64)
    for ballot, held in zip(ballots, votes, strict=True):
        planned[np.searchsorted(items, held.items)] += ballot.appearances
    parts = connected_parts(first, second, len(items))
    top = np.argsort(-points / np.maximum(times, 1), kind="stable")[:N_TOP]
    return [
        trust.one_graph([len(part) for part in parts], int((times == 0).sum())),
        trust.enough_votes(times, planned),
        trust.won_and_lost(points, times, top, is_last=is_last),
    ]


def _ranking_lines(
    ballot: Ballot,
    votes: list[BallotVotes],
    fitted: FittedVotes,
    tied: list[int],
    names: dict[int, str],
    foresight: Foresight | None,
    is_last: bool,
) -> list[Line]:
    """What is known of the ranking: its top, its first, contradictions, and what was cut."""
    n_top = min(N_TOP, len(fitted.items) - 1)
    if protocol_of(ballot.protocol).of_fit(fitted) is not None:
        probability = item_posteriors(fitted.fit).top_probability(n_top)
    else:
        rng = np.random.default_rng([ballot.seed, 4])
        n_votes = sum(len(held.first) for held in votes)
        draws = draw_scores(votes, ballot.protocol, resamples=number_of_resamples(n_votes), rng=rng)
        probability, tied = draws.top_probability(n_top), draws.tied_for_first().tolist()
    lines = [trust.certain_top(probability, n_top, is_last=is_last)]
    if tied:
        lines.append(trust.first_place([names[item] for item in tied], is_last=is_last))
    if (found := trust.no_circles(foresight)) is not None:
        lines.append(found)
    return lines


def _reliability_lines(ballot: Ballot, votes: list[BallotVotes], fitted: FittedVotes | str) -> list[Line]:
    """Halves of the voters and the noise ceiling."""
    measures = (
        (trust.halves, reliability.halves, reliability.HALVES_SEED),
        (trust.ceiling, reliability.ceiling, reliability.CEILING_SEED),
    )
    lines = []
    for line, measure, number in measures:
        if isinstance(fitted, str):
            lines.append(line(None, fitted))
            continue
        try:
            rng = np.random.default_rng([ballot.seed, number])
            lines.append(line(measure(votes, ballot.protocol, fitted, rng=rng), ""))
        except RunoffError as error:
            lines.append(line(None, str(error)))
    return lines


def load_foresight(store: Store, project_id: str, area_id: int | None = None) -> tuple[Foresight | None, int, bool]:
    """The worth of another ballot as the last closed one stored it, that ballot's number (0: none is closed), and
    whether it is the plan's last."""
    with store.read() as conn:
        closed = [ballot for ballot in ballots_of(conn, project_id, area_id) if not ballot.is_open]
        if not closed:
            return None, 0, False
        last = closed[-1]
        return stored_foresight(conn, last.id), last.number, _is_last(conn, project_id, area_id, last.number)


def _is_last(conn: sa.Connection, project_id: str, area_id: int | None, number: int) -> bool:
    """Whether the plan has no ballot after this one."""
    found = settings_of(conn, project_id, area_id)
    return found is not None and number >= found[1].n_ballots


def worth_said(foresight: Foresight, after: int, *, is_last: bool = False) -> str:
    """What another ballot would change and whether to stop, in a sentence or two; after the plan's last one there is
    nothing to go on with.

    >>> worth_said(Foresight(4, 8, 3, 0.2, 0.3, 1.0, 0.1, False, 0, 10), 1)
    'Another ballot (8 comparisons) is expected to move the ranking by 0.200 in ρ_w and 0.300 in τ_w and to change 1.0 \
of the first 3: go on.'
    >>> worth_said(Foresight(4, 8, 3, 0.2, 0.3, 1.0, 0.1, False, 0, 10), 1, is_last=True)[-49:]
    'not settled yet, but the plan has no ballot left.'
    """
    f = foresight
    if f.circles or f.level or f.rho_w is None:
        if f.circles:
            return (
                f"The ranking isn't settled after ballot {after}: votes at the top go round in a circle. Look at "
                "the Scores page before more is spent."
            )
        return (
            f"The ranking isn't settled after ballot {after}: the first items have the same score. Look at the "
            "Scores page before more is spent."
        )
    advice = "you may stop" if f.settled else "go on"
    if is_last:
        advice = "the ranking is settled" if f.settled else "not settled yet, but the plan has no ballot left"
    return (
        f"Another ballot ({many(f.n_comparisons, 'comparison')}) is expected to move the ranking by "
        f"{f.rho_w:.3f} in ρ_w and {f.tau_w:.3f} in τ_w and to change {f.changes:.1f} of the first {f.n_top}: "
        f"{advice}."
    )


def bounds_said() -> str:
    """By what bounds it is advised to stop."""
    return (
        f"Advice to stop: the ranking would move by at most {MOVE_RHO_W:g} in ρ_w (1 − the correlation of now "
        f"and then) and {MOVE_TAU_W:g} in τ_w, and at most {CHANGES:g} of the first {N_TOP} would change. "
        "Simulated from the votes: true scores as the votes leave them possible, answered by these voters."
    )
