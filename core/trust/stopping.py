"""What another ballot would change, and whether to stop.

Nobody knows the true scores, so they are drawn from what the votes so far leave possible (`scores.posterior`). Under
each draw the next ballot is drawn as the protocol does, answered by the voters as the fit knows them, and all votes are
scored again: how far the ranking then moves is what the ballot is worth.

Reference: Raiffa, Schlaifer (1961), Applied Statistical Decision Theory, chapter 4 (preposterior analysis).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import bdtrc

from .. import metrics
from ..errors import InputError, UndefinedMetricError
from ..protocols import Held, Mode, Protocol, Votes, protocol_of
from ..protocols.base import N_TOP, balanced
from ..scores import BallotVotes
from ..scores.bradley_terry import BradleyTerry, FittedVotes, joined
from ..scores.posterior import Posteriors, item_posteriors, likely_scores, simulated_outcomes
from ..scores.reliability import by_chance
from ..tables import Floats, Ints
from .camps import find_camps

SIMULATIONS = 10
MOVE_RHO_W, MOVE_TAU_W, CHANGES = 0.005, 0.01, 0.5  # what a further ballot must promise not to stop
MAJORITY_LEVEL = 0.05  # of the test for a clear majority
LEVEL_GAP = 1e-4  # standard errors by which the first must be ahead of the second for there to be an order


@dataclass(frozen=True)
class NextBallotValue:
    """The worth of one more ballot of `n_items` items, `n_comparisons` comparisons in all.

    rho_w, tau_w : expected move, 1 − the correlation of the ranking now with that after the ballot, from 0 on.
    changes : expected number of the first `n_top` items that would not be among them any more.
    lost : expected number of the true first `n_top` that aren't among the items of the newest ballot.
    level : the first items have the same score, so there is no ranking yet; circles : items of the top whose votes go
    round in a cycle, more than by chance. simulations : behind the means. by_chance : different voters agree no more
    than coin tosses would (`scores.reliability.by_chance`). camps : voters of the larger and the smaller of two camps,
    None for one panel, or where nobody can tell.
    """

    n_items: int
    n_comparisons: int
    n_top: int
    rho_w: float | None
    tau_w: float | None
    changes: float | None
    lost: float
    level: bool
    circles: int
    simulations: int
    by_chance: bool = False
    camps: tuple[int, int] | None = None

    @property
    def settled(self) -> bool:
        """Whether the ranking would hardly move, votes don't contradict each other, and voters share an opinion."""
        if self.by_chance or self.level or self.circles:
            return False
        if self.rho_w is None or self.tau_w is None or self.changes is None:
            return False
        return self.rho_w <= MOVE_RHO_W and self.tau_w <= MOVE_TAU_W and self.changes <= CHANGES

    def stored(self) -> dict[str, Any]:
        """As JSON, without camps where there are none."""
        return {name: value for name, value in asdict(self).items() if name != "camps" or value is not None}

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None) -> NextBallotValue | None:
        """As it was stored; None where nothing was, or by another version. Older ones don't know of `by_chance`."""
        if not stored or {*stored, "by_chance", "camps"} != {field.name for field in fields(cls)}:
            return None
        camps = stored.get("camps")
        return cls(**{**stored, "camps": None if camps is None else tuple(camps)})


def value_of_next(
    votes: Sequence[BallotVotes],
    protocol: str,
    fitted: FittedVotes,
    *,
    n_keep: int,
    appearances: int,
    simulations: int = SIMULATIONS,
    rng: np.random.Generator,
) -> NextBallotValue:
    """Simulate the next ballot: `n_keep` items, each in `appearances` comparisons.

    votes : of all ballots so far; protocol : "runoff" or "paper"; fitted : of all these votes, whatever the protocol.
    Raises `InputError` for sizes that don't fit. Votes that leave items apart have no fit, and so no value of a next
    ballot.
    """
    if not 2 <= n_keep <= len(fitted.items) or simulations < 1:
        raise InputError(f"A ballot of {n_keep} of {len(fitted.items)} items can't be simulated {simulations} times.")
    fit, posteriors = fitted.fit, item_posteriors(fitted.fit)
    n_top = min(N_TOP, len(fitted.items) - 1)
    asked = protocol_of(protocol)
    held = _held(asked, votes, fitted)
    now = asked.field(held).rank_by
    most = len(fitted.items) if asked.about.whole_field else len(votes[-1].items)
    items = asked.select(held, min(n_keep, most), rng).items
    changes: list[tuple[float, float, float]] = []
    n_comparisons = 0
    for _ in range(simulations):
        ballot = _answered(asked, held, fitted, posteriors, items, appearances, rng)
        n_comparisons = len(ballot.first)
        try:
            changes.append(_move(now, asked.field([*held, Held(ballot)], Mode.QUICK).rank_by, n_top))
        except UndefinedMetricError:
            break  # all scores are equal now: there is no ranking that could move
    moves = np.mean(changes, axis=0).tolist() if len(changes) == simulations else [None] * 3
    first, second, outcome, _ = joined(votes, fitted.items)
    tossed = bool(by_chance(votes))
    camps = None if tossed else find_camps(votes, fitted)
    return NextBallotValue(
        n_items=len(items),
        n_comparisons=n_comparisons,
        n_top=n_top,
        rho_w=moves[0],
        tau_w=moves[1],
        changes=moves[2],
        lost=expected_lost(posteriors, fitted.items, votes[-1].items, n_top),
        level=is_level(fit, now),
        circles=items_in_preference_cycles(first, second, outcome, _top(now, N_TOP)),
        simulations=simulations,
        by_chance=tossed,
        camps=camps.sizes if camps is not None and camps.are_two else None,
    )


def _move(now: Floats, after: Floats, n_top: int) -> tuple[float, float, float]:
    """How far a ranking moved: in ρ_w, in τ_w, and how many of its first items are others."""
    stayed = np.isin(_top(now, n_top), _top(after, n_top)).sum()
    return (
        1.0 - metrics.weighted_spearman(now, after),
        1.0 - metrics.weighted_kendall(now, after),
        float(n_top - stayed),
    )


def expected_lost(posteriors: Posteriors, items: Ints, kept: Ints, n_top: int) -> float:
    """Expected number of the true first `n_top` that aren't among the `kept` of `items` (positions in the project)."""
    probability = np.nan_to_num(posteriors.top_probability(n_top))
    return float(probability[~np.isin(items, kept)].sum())


def is_level(fit: BradleyTerry, scores: Floats) -> bool:
    """Whether the two highest of `scores` are the same: then votes say nothing of who is first, or they contradict.

    Scores of a fit count as the same where they differ by under a ten-thousandth of their standard error.
    """
    first, second = np.argsort(-scores, kind="stable")[:2]
    error = np.sqrt(1.0 / fit.graph.diagonal[first] + 1.0 / fit.graph.diagonal[second])
    theta = fit.theta
    compared = metrics.rounded_scores(scores)
    return bool(compared[first] <= compared[second] or abs(theta[first] - theta[second]) < LEVEL_GAP * error)


def _top(scores: Floats, n: int) -> Ints:
    return np.argsort(-scores, kind="stable")[:n]


def _held(protocol: Protocol, votes: Sequence[BallotVotes], fitted: FittedVotes) -> list[Held]:
    """The ballots with the scores after them; a protocol that scores by a fit of all votes needs no second one."""
    held = [Held(ballot) for ballot in votes]
    known = protocol.of_fit(fitted)
    return protocol.scored(held) if known is None else [*held[:-1], Held(votes[-1], known)]


def _answered(
    protocol: Protocol,
    held: Sequence[Held],
    fitted: FittedVotes,
    posteriors: Posteriors,
    items: Ints,
    appearances: int,
    rng: np.random.Generator,
) -> Votes:
    """The next ballot, drawn and answered: every voter gives as many votes as the others, within one."""
    pairs = protocol.draw(items, -(-appearances * len(items) // 2), held, rng, balanced)
    codes = np.unique(np.concatenate([ballot.votes.voter for ballot in held]))
    voter = rng.permutation(np.resize(rng.permutation(len(codes)), len(pairs)))
    first, second = pairs[:, 0], pairs[:, 1]
    truth = likely_scores(posteriors, rng)
    one, other = np.searchsorted(fitted.items, pairs).T
    outcome = simulated_outcomes(fitted.fit, truth, one, other, voter, rng)
    return Votes(items, first, second, outcome, codes[voter])


def items_in_preference_cycles(first: ArrayLike, second: ArrayLike, outcome: ArrayLike, items: Ints) -> int:
    """How many of some items stand in a cycle of clear majorities.

    Of two items one has a clear majority where so uneven a split has a chance below `MAJORITY_LEVEL` (exact sign test,
    two-sided; ties are left out). An item is in a cycle where majorities lead from it back to it. Of a cycle of
    single votes this says nothing: there the scores are equal (`is_level`).

    Parameters: votes as for `project_dataset.borda`; items : the positions looked at.

    >>> items_in_preference_cycles([0] * 6 + [1] * 6 + [2] * 6, [1] * 6 + [2] * 6 + [0] * 6, [1] * 18, np.array([0, 1,
    ... 2]))
    3
    """
    one, other = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    won = np.asarray(outcome, dtype=np.float64)
    used = np.isin(one, items) & np.isin(other, items) & (won != 0.5)
    if not used.any():
        return 0
    one, other, won = one[used], other[used], won[used] == 1.0
    winner, loser = np.where(won, one, other), np.where(won, other, one)
    n = int(max(winner.max(), loser.max())) + 1
    beaten = csr_array((np.ones(len(winner), dtype=np.int64), (winner, loser)), shape=(n, n))
    met = beaten + beaten.T
    high, low = beaten.nonzero()
    wins = np.asarray(beaten[high, low]).ravel()
    total = np.asarray(met[high, low]).ravel()
    clear = (2 * wins > total) & (2 * bdtrc(wins - 1, total, 0.5) < MAJORITY_LEVEL)
    majority = csr_array((np.ones(int(clear.sum())), (high[clear], low[clear])), shape=(n, n))
    _, label = connected_components(majority, directed=True, connection="strong")
    sizes = np.bincount(label)
    return int(sizes[sizes > 1].sum())
