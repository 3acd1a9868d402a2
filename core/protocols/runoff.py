"""The protocol "runoff": more accuracy from a vote than random opponents and win ratios give.

Ballot 1 is drawn as the paper's, opponents at random. From then on one Bradley–Terry fit of all votes so far says who
goes on, and items meet that it can't tell apart yet; nobody is asked about the same item twice while others can be
(all three in `ballots.pairing`). The last fit's θ is the score. The method is described in docs/runoff.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..ballots.draw import select_items
from ..ballots.pairing import assign_to_voters, connected_or_redrawn, count_seen, draw_near_comparisons, select_leading
from ..ballots.quick_draw import quick_deal, quick_near
from ..base.parallel import Progress
from ..errors import PlanError
from ..plan import Plan
from ..plan.budgets import largest_within
from ..scores import reliability
from ..scores.borda import VotesOf
from ..scores.bradley_terry import RIDGE, FittedVotes, expected_borda, fit_votes, fit_with_voters, joined
from ..scores.newton import STEPS
from ..scores.pair_graph import checked_parts
from ..scores.quick_fit import QuickFit, Rows, quick_fit
from ..scores.reliability import Metric, RepeatedCorrelation
from ..scores.uncertainty import resample_voters
from ..tables import Floats, Ints
from .base import (
    AIMS,
    BOTH,
    BOTH_MANY,
    BY_LAPSE,
    N_TOP,
    PLAIN,
    RESAMPLES,
    Held,
    Mode,
    Protocol,
    ProtocolInfo,
    Sampler,
    Scored,
    SelectedItems,
    check_halves,
    named_bounds,
    too_few,
)
from .paper import REFERENCE

# Appearances ballot by ballot, relative to the first: the whole field has its share, and the top is seen often.
PROFILE = (1.0, 0.65, 0.5, 0.75, 1.1, 1.8, 2.2)


class Steepness(NamedTuple):
    """How a plan is spread by ranks: ballots of all items, γ of (rank + 2)^−γ, and the share of the first
    of several ballots of all items. `uncut` never changes under a name: stored plans have their sizes from it."""

    uncut: int
    gamma: float
    first: float


# Found by simulation, docs/runoff.md. ρ_w is lost all over the field, τ_w among the first few. With few votes a second
# ballot of all items leaves the first one too few: now and then it loses one of the best.
STEEP = {BOTH_MANY: Steepness(2, 0.45, 0.6), "rho_w": Steepness(2, 0.25, 0.4), "tau_w": Steepness(1, 0.6, 1.0)}
MANY_VOTES = 25  # per item, from which on a search tries `BOTH_MANY`
TOLERANCE, EXACT = 0.05, 1e-6  # of quick fits: far below the noise of the votes; and of all others

BRADLEY_TERRY = (
    "R. A. Bradley, M. E. Terry (1952): Rank Analysis of Incomplete Block Designs: I. The Method of Paired "
    "Comparisons. Biometrika 39."
)
METHODS = (
    (
        "paragraph",
        "Protocol “runoff”. Ballot 1 draws opponents at random; in later ballots items meet near neighbours of the "
        "ranking so far, and items that may still belong to the top go on. One model is fitted to the votes of all "
        "ballots, with a strength θ of each item and, for each voter v, how sharply (s) and how carelessly (ε) they "
        "decide; a tie counts as half a vote for each:",
    ),
    (
        "formula",
        "P(first item is chosen) = ε_v + (1 − 2·ε_v) / (1 + exp(−s_v·(θ_first − θ_second)))\n"
        "θ minimises −Σ[y·log P + (1 − y)·log(1 − P)] + 0.1/2·Σθ² + normal priors on log s_v and on "
        "the log-odds of 2·ε_v\n"
        "score of an item = mean of P against every other item",
    ),
    (
        "paragraph",
        "So a score is the share of votes that the item would win against the whole field, and lies between 0 and 1. "
        f"References: {BRADLEY_TERRY} The ballots and the focus on the top follow {REFERENCE}",
    ),
)


class Runoff(Protocol):
    """Near neighbours meet, who may matter most goes on, θ of all votes ranks every item."""

    name = "runoff"
    bounds = BY_LAPSE
    about = ProtocolInfo(
        label="Runoff's own",
        offered="Runoff’s own: near neighbours meet",
        advice=(
            "Runoff's own lets near neighbours meet from ballot 2 on and fits all votes together, which tells more per "
            "vote."
        ),
        score="The share of votes it would win against all other items, by one fit of the votes of all ballots.",
        estimator="Bradley–Terry with a lapse and a sharpness of each voter, on the votes of all ballots",
        scale="expected Borda score against the whole field; higher = more related; within 0 and 1",
        methods=METHODS,
        in_words=(
            "Later ballots let items meet that the votes can't tell apart yet, and one fit of all votes gives every "
            "score; it needs fewer votes for the same accuracy."
        ),
        whole_field=True,
        unrescaled=(
            "Items met near neighbours, so the paper's x, y and ȳ and its Figures 2 and 4 don't exist: a win against a "
            "neighbour isn't worth what one against any item is."
        ),
        own_appearances=True,
        weighs_voters=True,
        effort=4,
    )

    def __init__(self, *, alike: bool = False) -> None:
        """alike : all votes count alike, as of one voter; else each voter has a lapse and a sharpness of their own."""
        self.alike = alike

    def of_fit(self, fitted: FittedVotes) -> Scored:
        """Those of the fit."""
        return _scored(fitted, fitted.scores)

    def of_strangers(self) -> Runoff:
        """All votes count alike."""
        return Runoff(alike=True)

    def plan_within(self, n_items: int, n_ballots: int, keep: float, n_comparisons: int, aim: str = BOTH) -> Plan:
        """See `spread_appearances`."""
        return spread_appearances(n_items, n_ballots, keep, n_comparisons, aim)

    def shapes(self, goal: str, votes_per_item: float) -> tuple[str, ...]:
        """That for both figures, and that for the goal; with many votes the other one for both too."""
        many = (BOTH_MANY,) if goal == BOTH and votes_per_item >= MANY_VOTES else ()
        return tuple(dict.fromkeys((BOTH, goal))) + many

    def uncut(self, aim: str) -> int:
        """Two for ρ_w, which is lost all over the field, and with many votes."""
        return STEEP[aim].uncut if aim in STEEP else 1

    def select(self, held: Sequence[Held], n: int, rng: np.random.Generator) -> SelectedItems:
        """Those that may matter most to the top by all votes so far; items cut before may come back."""
        scores = self.field(held)
        fitted: FittedVotes = scores.state
        n_top = min(N_TOP, len(fitted.items) - 1)
        leading = select_leading(fitted.fit, n, rng=rng, n_top=n_top)
        places = np.sort(leading.selection.items)
        tied = (leading.selection.n_tied, leading.selection.n_tied_kept)
        return SelectedItems(fitted.items[places], scores.score[places], *tied, lost=leading.lost)

    def draw(self, items: Ints, n: int, held: Sequence[Held], rng: np.random.Generator, sampler: Sampler) -> Ints:
        """Opponents at random in ballot 1, so that all are joined; then near neighbours."""
        appearances = 2 * n // len(items)
        if not held:
            return connected_or_redrawn(sampler(items, n, rng), items, appearances, rng=rng)
        fitted: FittedVotes = self.field(held).state
        place = np.searchsorted(fitted.items, items)
        score, spread = fitted.fit.theta[place], fitted.spread[place]
        return draw_near_comparisons(items, appearances, score=score, spread=spread, rng=rng)

    def assign(self, pairs: Ints, held: Sequence[Held], n_voters: int, rng: np.random.Generator) -> Ints:
        """Equally many comparisons per voter within one, and items they haven't seen where possible."""
        n_items = int(max(pairs.max(initial=0), *(ballot.votes.items.max() for ballot in held), 0)) + 1
        times_seen = np.zeros((n_voters, n_items), dtype=np.int32)
        for votes, _ in held:
            met = np.stack((votes.first, votes.second), axis=1)
            times_seen += count_seen(met, votes.voter, n_voters=n_voters, n_items=n_items)
        return assign_to_voters(pairs, n_voters, seen=times_seen, n_items=n_items, rng=rng)

    def score(self, votes: VotesOf, held: Sequence[Held], mode: Mode = Mode.FINAL) -> Scored:
        """One fit of the votes of all ballots. Errors as of `fit_votes`."""
        every = [*(ballot.votes for ballot in held), votes]
        if mode is Mode.FINAL and not self.alike:
            return self.of_fit(fit_votes(every))
        items = np.sort(every[0].items)
        first, second, outcome, voter = joined(every, items)
        before = held[-1].scores if held else None
        fit = fit_with_voters(
            first,
            second,
            outcome,
            n_items=len(items),
            voter=None if self.alike else voter,
            start=before.state.fit if before is not None else None,
            tolerance=TOLERANCE if mode is Mode.QUICK else EXACT,
        )
        return _scored(FittedVotes(items, fit), fit.theta)

    def scored(self, held: Sequence[Held], mode: Mode = Mode.FINAL) -> list[Held]:
        """The last ballot has the scores of all items; those after earlier ones are history."""
        return [*held[:-1], Held(held[-1].votes, self.field(held, mode))] if held else []

    def field(self, held: Sequence[Held], mode: Mode = Mode.FINAL) -> Scored:
        """The scores after the last ballot, which are those of all items."""
        return held[-1].scores or self.score(held[-1].votes, held[:-1], mode)

    def resample(
        self,
        votes: Sequence[VotesOf],
        of_all: Scored,
        n: int,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Iterator[tuple[Ints, Floats]]:
        """A few Newton steps from the fit for each resample."""
        fitted: FittedVotes = of_all.state
        columns = joined(votes, fitted.items)
        moved = resample_voters(fitted.fit, columns, resamples=n, rng=rng, workers=None, progress=progress)
        yield fitted.items, moved.theta.T

    def intervals(
        self,
        votes: Sequence[VotesOf],
        scores: Scored,
        level: float,
        rng: np.random.Generator,
        *,
        bounds: str | None = None,
    ) -> Scored:
        """Intervals of scores and ranks, what the fit says of itself, and who can't be told from the first.

        The ridge draws the extremes of resamples in, so that an interval is widened where it would miss its own score.
        """
        fitted: FittedVotes = scores.state
        made = self.bounds if bounds is None else bounds
        plain = made == PLAIN
        first, second, outcome, voter = joined(votes, fitted.items)
        names = ("lower", "upper", "rank_lower", "rank_upper")
        columns = {name: np.full(len(fitted.items), np.nan) for name in names}
        note, tied = too_few(len(np.unique(voter))), list[int]()
        if not note:
            moved = resample_voters(
                fitted.fit, (first, second, outcome, voter), resamples=RESAMPLES, rng=rng, workers=None
            )
            if made == BY_LAPSE:
                columns |= dict(zip(names[:2], moved.borda_intervals(fitted.scores, level), strict=True))
            else:
                for name, theta, wider in zip(
                    names, moved.score_intervals(level, plain=plain), (np.minimum, np.maximum), strict=False
                ):
                    bound = expected_borda(theta, lapse=fitted.fit.lapse, field=fitted.fit.theta)
                    columns[name] = wider(bound, fitted.scores)
            columns |= dict(zip(names[2:], moved.rank_intervals(level, plain=plain), strict=True))
            tied = fitted.items[moved.tied_for_first(level)].tolist()
        columns = {**scores.columns, "error": fitted.fit.standard_error, **columns}
        fit = _described(fitted, votes) | named_bounds(made) | {"tied_for_first": tied}
        return replace(scores, columns=columns, fit=fit, note=note)

    def halves(
        self,
        votes: Sequence[VotesOf],
        fitted: FittedVotes,
        metric: Metric,
        repeats: int,
        rng: np.random.Generator,
        workers: int | None = None,
    ) -> RepeatedCorrelation:
        """Each half fitted on its own, without voters' effects: see `scores.reliability.split_half`."""
        check_halves(votes)
        return reliability.split_half(
            joined(votes, fitted.items), metric, n_items=len(fitted.items), repetitions=repeats, rng=rng,
            ridge=fitted.fit.ridge, workers=workers,
        )  # fmt: skip

    def ceiling(
        self,
        votes: Sequence[VotesOf],
        fitted: FittedVotes,
        metric: Metric,
        simulations: int,
        rng: np.random.Generator,
        workers: int | None = None,
    ) -> RepeatedCorrelation:
        """Refits of votes drawn from the fit: see `scores.reliability.noise_ceiling`."""
        return reliability.noise_ceiling(fitted.fit, metric, repetitions=simulations, rng=rng, workers=workers)

    def seconds(self, n_votes: int) -> float:
        """Three hundred fits of all votes."""
        return n_votes / 5_000

    def quick(self) -> Protocol:
        """See `QuickRunoff`."""
        return QuickRunoff()


SURELY_JOINED = 8  # appearances from which on random opponents leave no items apart, as good as always
CANDIDATES = 1.5, 20  # of the highest so many times the items that go on, and so many more, are weighed


class QuickRunoff(Runoff):
    """The same for simulations that plan, in a fraction of the time: accuracies are the same within their errors.

    Ballots are drawn by the same rules from other random numbers, without sides (`ballots.quick_draw`), and fits go on
    from one ballot to the next by a few steps (`scores.quick_fit`, the state of scores). Of the items only the highest
    are weighed for the next ballot. Votes of people are never scored so.
    """

    def select(self, held: Sequence[Held], n: int, rng: np.random.Generator) -> SelectedItems:
        """Those that may matter most, of the highest."""
        fit: QuickFit = super().field(held, Mode.QUICK).state
        likely = np.sort(np.argsort(-fit.theta)[: int(CANDIDATES[0] * n) + CANDIDATES[1]])
        chosen = select_items(likely, fit.expected_weights(likely), n, rng=rng)
        return SelectedItems(chosen.items, fit.theta[chosen.items], chosen.n_tied, chosen.n_tied_kept)

    def draw(self, items: Ints, n: int, held: Sequence[Held], rng: np.random.Generator, sampler: Sampler) -> Ints:
        """Opponents at random in ballot 1; then near neighbours."""
        if not held:
            surely = 2 * n >= SURELY_JOINED * len(items)
            return sampler(items, n, rng) if surely else super().draw(items, n, held, rng, sampler)
        fit: QuickFit = super().field(held, Mode.QUICK).state
        return quick_near(items, 2 * n // len(items), fit.theta[items], fit.spread[items], rng)

    def assign(self, pairs: Ints, held: Sequence[Held], n_voters: int, rng: np.random.Generator) -> Ints:
        """As few items as possible that a voter knows."""
        n_items = int(pairs.max()) + 1 if not held else len(held[0].votes.items)
        times_seen = [
            ballot.votes.voter * n_items + end for ballot in held for end in (ballot.votes.first, ballot.votes.second)
        ]
        return quick_deal(pairs, n_voters, n_items, np.concatenate(times_seen) if times_seen else None, rng)

    def score(self, votes: VotesOf, held: Sequence[Held], mode: Mode = Mode.FINAL) -> Scored:
        """Some steps from the fit of the ballots before. Errors as of `fit_votes`."""
        if mode is Mode.FINAL:
            return super().score(votes, held, mode)
        items = held[0].votes.items if held else votes.items
        if not held and len(votes.first) < len(items):  # else `draw` has joined them
            checked_parts(votes.first, votes.second, votes.outcome, len(items), RIDGE, False)
        before = None if not held else super().field(held, mode).state
        fit = quick_fit(Rows.of(votes.first, votes.second, votes.outcome, votes.voter), before, len(items))
        return Scored(items, fit.theta, fit.theta, state=fit)

    def field(self, held: Sequence[Held], mode: Mode = Mode.FINAL) -> Scored:
        """Those of the fit after the last ballot, some more steps on."""
        last = super().field(held, Mode.QUICK)
        return replace(last, rank_by=last.state.settled, score=last.state.settled)


def _scored(fitted: FittedVotes, scores: Floats) -> Scored:
    theta = fitted.fit.theta
    return Scored(fitted.items, theta, scores, {"theta": theta, "score": scores}, state=fitted)


def _described(fitted: FittedVotes, votes: Sequence[VotesOf]) -> dict[str, Any]:
    fit = fitted.fit
    return {
        "estimator": "Bradley–Terry with a lapse and a sharpness of each voter"
        if len(fit.voter_lapse) > 1
        else "Bradley–Terry with one lapse for all voters, whose own effects did not settle",
        "ridge": fit.ridge,
        "lapse": float(np.average(fit.voter_lapse)),
        "steps": STEPS,
        "iterations": fit.n_iterations,
        "gradient": fit.gradient_norm,
        "votes": int(sum(len(ballot.first) for ballot in votes)),
        "voters": len(np.unique(np.concatenate([ballot.voter for ballot in votes]))),
        "undefeated": fitted.items[fit.undefeated].tolist(),
        "winless": fitted.items[fit.winless].tolist(),
    }


def spread_appearances(n_items: int, n_ballots: int, keep: float, n_comparisons: int, aim: str = BOTH) -> Plan:
    """The plan of at most `n_comparisons` comparisons with appearances as the protocol likes them.

    For both ρ_w and τ_w (`BOTH`) M of ballot k is proportional to `PROFILE`, for another number of ballots interpolated
    between its ends. For the other `AIMS` an item of rank r is to appear in proportion to (r + 2)^−γ, the mean over the
    items that come to ballot k and go no further, and the first of the ballots of all items has its share (`STEEP`).
    Each M is at least 2 and as large as the budget allows; what whole numbers leave over goes to the later ballots
    first.

    Raises `PlanError` where even two appearances in each ballot cost more, or for none of the `AIMS`.

    >>> plan = spread_appearances(990, 7, 0.5, 19_660)
    >>> plan.appearances, plan.n_comparisons <= 19_660
    ((23, 15, 12, 18, 27, 44, 53), True)
    >>> plan = spread_appearances(990, 7, 0.5, 9_830, "rho_w")
    >>> plan.sizes[:3], plan.appearances
    ((990, 990, 495), (6, 10, 3, 3, 5, 6, 13))
    """
    if aim not in AIMS:
        raise PlanError(f"The aim is one of {', '.join(AIMS)}, found {aim!r}.")
    uncut = STEEP[aim].uncut if aim in STEEP else 1

    def plan_with(appearances: Sequence[int]) -> Plan:
        return Plan(n_items, n_ballots, keep, tuple(appearances), uncut)

    if aim in STEEP:
        shape = _shape(plan_with([2] * n_ballots).sizes, STEEP[aim])
    else:
        at = np.linspace(0, len(PROFILE) - 1, n_ballots) if n_ballots > 1 else np.zeros(1)
        shape = np.interp(at, np.arange(len(PROFILE)), PROFILE)

    def plan_of(scale: float) -> Plan:
        return plan_with([max(2, int(m)) for m in np.floor(scale * shape + 1e-9)])

    if plan_of(0.0).n_comparisons > n_comparisons:
        raise PlanError(
            f"{n_comparisons:,} comparisons are too few for {n_ballots} ballots of {n_items:,} items; "
            f"two appearances in each ballot need {plan_of(0.0).n_comparisons:,}."
        )
    appearances = list(largest_within(plan_of, n_comparisons).appearances_by_ballot)
    for ballot in reversed(range(n_ballots)):
        more = [*appearances[:ballot], appearances[ballot] + 1, *appearances[ballot + 1 :]]
        if plan_with(more).n_comparisons <= n_comparisons:
            appearances = more
    return plan_with(appearances)


def _shape(sizes: Sequence[int], steep: Steepness) -> Floats:
    """Appearances of each ballot, up to a factor: steps of (rank + 2)^−γ from those who go no further to the next."""
    uncut = min(steep.uncut, len(sizes))
    edges = [*sizes[uncut - 1 :], 0]
    wanted = [np.mean((np.arange(low, high) + 3.0) ** -steep.gamma) for high, low in pairwise(edges) if high > low]
    wanted += [wanted[-1]] * (len(edges) - 1 - len(wanted))
    steps = np.diff(wanted, prepend=0.0)
    first = steep.first if uncut > 1 else 1.0
    shares = [first] + [(1.0 - first) / max(uncut - 1, 1)] * (uncut - 1)
    return np.array([steps[0] * share for share in shares] + steps[1:].tolist())
