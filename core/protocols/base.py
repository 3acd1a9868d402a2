"""What a protocol is: which items a ballot has, who meets whom, who is asked, and what votes make of scores.

Simulation, the store, pages, replay and forecasts all ask the same objects. A protocol says what only it knows
(`select`, `draw`, `score`); everything else has an answer here that holds for any, and that a protocol overrides where
it knows a better or a quicker one. Everything random comes from the generator passed in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..ballots.draw import draw_uniform
from ..base.estimates import MIN_VOTERS, widened_tails
from ..base.parallel import Progress, spread, workers_for
from ..errors import UndefinedMetricError
from ..plan import Plan
from ..plan.budgets import appearances_for_budget
from ..scores.borda import VotesOf
from ..scores.bradley_terry import FittedVotes
from ..scores.posterior import item_posteriors, likely_scores, simulated_outcomes
from ..scores.reliability import Metric, RepeatedCorrelation
from ..scores.uncertainty import quantiles
from ..tables import Floats, Ints

# Comparisons of items with opponents at random, (n, 2), from the items and n: the store's sampler balances the columns
# too, a simulation's is ten times as fast.
Sampler = Callable[[Ints, int, np.random.Generator], Ints]

BOTH, BOTH_MANY = "both", "both_many"
GOALS = {BOTH: "ρ_w and τ_w alike", "rho_w": "ρ_w", "tau_w": "τ_w"}  # what a plan is to get right
# What a plan's appearances are spread for; with many votes for an item, both at once take another shape.
AIMS = {BOTH: GOALS[BOTH], BOTH_MANY: "both, many votes", "rho_w": GOALS["rho_w"], "tau_w": GOALS["tau_w"]}
N_TOP = 10  # the top that is spoken of: what of it a cut may lose, what another ballot would change
FEWEST_VOTERS = 4  # fewest that have halves
RESAMPLES = 300  # of the voters, behind an interval
# How intervals' bounds are made, as a stored fit names it: percentiles of resampled scores as they are (no name), or
# widened for few voters and few votes; those, widened for what isn't known of the voters' lapse and curve; or by the
# standard errors of a fit of all votes.
PLAIN, WIDENED, BY_LAPSE, FITTED = "", "widened", "lapse", "fitted"
WORTH_VOTES = 4_000_000  # votes scored in all, from which on more processes are started


class Votes(NamedTuple):
    """The votes of a ballot, unchecked; positions in the campaign's items. See `BallotVotes`, which checks them.

    items : of the ballot, shape (n,); first, second, outcome (1 the first won, 0 the second, 0.5 a tie), voter
    (number of who answered): shape (n_votes,).
    """

    items: Ints
    first: Ints
    second: Ints
    outcome: Floats
    voter: Ints

    @classmethod
    def of(cls, votes: VotesOf) -> Votes:
        """The same votes, to take apart."""
        return cls(votes.items, votes.first, votes.second, votes.outcome, votes.voter)


class Mode(Enum):
    """How exactly votes are scored: FINAL from cold to the end; QUICK from the ballot before, far below their noise."""

    FINAL = "final"
    QUICK = "quick"


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores after a ballot: of its items, or of the whole field (`ProtocolInfo.whole_field`); arrays of shape (n,).

    items : positions; rank_by : what ranks and cuts them, higher = more related, NaN where votes say nothing; score :
    what is published of them (of a QUICK fit what ranks). columns : what is kept of each item, by name. slope : b̂,
    None where there is none. fit : what is kept with the ballot, as JSON; note : why there are no intervals, or "".
    state : the protocol's own, for the next ballot.
    """

    items: Ints
    rank_by: Floats
    score: Floats
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    slope: float | None = None
    fit: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    state: Any = None


class Held(NamedTuple):
    """A ballot that was held: its votes and, where they are known already, the scores after it."""

    votes: VotesOf
    scores: Scored | None = None


class SelectedItems(NamedTuple):
    """The items of the next ballot, ascending, with the scores that let them in, and what the cut was like.

    n_tied : items whose equal score lay on the cut, so that a draw decided; n_tied_kept : those of them that stayed.
    lost : how many of the true top aren't among them, expected; None where the protocol doesn't say.
    """

    items: Ints
    entry: Floats
    n_tied: int
    n_tied_kept: int
    lost: float | None = None


@dataclass(frozen=True)
class ProtocolInfo:
    """What is said of a protocol, and what others must know of its scores.

    label : on pages that name several; offered, advice : where a plan chooses one, and why one would. score : what one
    is, beside a ranking. estimator, scale : in a dataset's description.
    methods : how scores come about, pairs of "paragraph" or "formula" and a text.
    collectable : people can vote by it, not simulated voters alone.
    whole_field : a ballot's scores are those of all items, by the votes of all ballots; else of its own items.
    rescales : x, y, ȳ and b̂ exist; unrescaled : why they don't. by_scores : who goes on and who meets follows from the
    scores of closed ballots, without their votes.
    own_appearances : `plan_within` knows better than the same M in every ballot. weighs_voters : who votes carelessly
    counts less. in_words : how scores come about, for whoever reads no formula. effort : how many times as long a
    simulated campaign takes as one with opponents at random.
    """

    label: str
    offered: str
    advice: str
    score: str
    estimator: str
    scale: str
    methods: tuple[tuple[str, str], ...]
    collectable: bool = True
    whole_field: bool = False
    rescales: bool = False
    unrescaled: str = "By this protocol the paper's x, y and ȳ and its Figures 2 and 4 don't exist."
    by_scores: bool = False
    own_appearances: bool = False
    weighs_voters: bool = False
    effort: int = 1
    in_words: str = ""


class Protocol(ABC):
    """A protocol. `held` are the ballots so far, in order; the first has all items."""

    name: ClassVar[str]
    about: ClassVar[ProtocolInfo]
    resamples: ClassVar[int] = RESAMPLES
    bounds: ClassVar[str] = WIDENED  # how those of new intervals are made

    # What only a protocol knows

    @abstractmethod
    def select(self, held: Sequence[Held], n: int, rng: np.random.Generator) -> SelectedItems:
        """The `n` items of the next ballot; ties at the cut are drawn."""

    @abstractmethod
    def draw(self, items: Ints, n: int, held: Sequence[Held], rng: np.random.Generator, sampler: Sampler) -> Ints:
        """The `n` comparisons of a ballot of these items, shape (n, 2), in random order; each item equally often
        within one."""

    @abstractmethod
    def score(self, votes: VotesOf, held: Sequence[Held], mode: Mode = Mode.FINAL) -> Scored:
        """The scores after a ballot with these votes. Errors as of its estimator."""

    # What holds for any

    def sizes(self, plan: Plan) -> Sequence[tuple[int, int]]:
        """Numbers of items and comparisons of each ballot: the plan's (Eqs. 2, 3)."""
        return list(zip(plan.sizes, plan.comparisons, strict=True))

    def quick(self) -> Protocol:
        """The protocol that stands for this one where only accuracies are wanted: they are the same within their
        errors, in less time. Nobody's votes are scored by it."""
        return self

    def plan_within(self, n_items: int, n_ballots: int, keep: float, n_comparisons: int, aim: str = BOTH) -> Plan:
        """The plan that spends at most so many comparisons as the protocol likes them; `PlanError` for too few.

        aim : of `AIMS`, what votes are spread for; a protocol without appearances of its own has one plan for all.
        """
        return Plan(n_items, n_ballots, keep, appearances_for_budget(n_items, n_ballots, keep, n_comparisons))

    def shapes(self, goal: str, votes_per_item: float) -> tuple[str, ...]:
        """The `AIMS` that a search for one of `GOALS` looks at, at so many votes of the whole plan per item."""
        return ()

    def uncut(self, aim: str) -> int:
        """How many ballots have all items before the first cut, by an aim of `AIMS`."""
        return 1

    def assign(self, pairs: Ints, held: Sequence[Held], n_voters: int, rng: np.random.Generator) -> Ints | None:
        """Who of 0…n_voters−1 is asked which comparison, (n,); None leaves that to whoever collects."""
        return None

    def of_fit(self, fitted: FittedVotes) -> Scored | None:
        """The scores that the fit of all votes gives at once; None for a protocol that doesn't score by it."""
        return None

    def of_strangers(self) -> Protocol:
        """The same protocol where nobody can tell whose votes are whose."""
        return self

    def scored(self, held: Sequence[Held], mode: Mode = Mode.FINAL) -> list[Held]:
        """The same ballots, each with the scores after it."""
        done: list[Held] = []
        for ballot in held:
            known = ballot.scores is not None
            done.append(ballot if known else Held(ballot.votes, self.score(ballot.votes, done, mode)))
        return done

    def last_scores(self, held: Sequence[Held]) -> Scored:
        """The scores after the last ballot."""
        *before, last = held
        return last.scores or self.score(last.votes, self.scored(before), Mode.FINAL)

    def field(self, held: Sequence[Held], mode: Mode = Mode.FINAL) -> Scored:
        """The scores of all items, ascending, after the last ballot: each as of the last ballot that scored it."""
        done = self.scored(held, mode)
        items = np.sort(done[0].votes.items)
        rank_by, score = np.full(len(items), np.nan), np.full(len(items), np.nan)
        last = None
        for _, last in done:
            if last is not None:
                place = np.searchsorted(items, last.items)
                rank_by[place], score[place] = last.rank_by, last.score
        return Scored(items, rank_by, score, state=last.state if last else None)

    def resample(
        self,
        votes: Sequence[VotesOf],
        of_all: Scored,
        n: int,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Iterator[tuple[Ints, Floats]]:
        """Item positions with what ranks them in `n` resamples of whole voters (items × some or all resamples).

        of_all : `field` of these votes. Each block has other items, and all resamples. progress : is told how many
        resamples are done, where they are made one after the other.
        """
        codes = np.unique(np.concatenate([ballot.voter for ballot in votes]))
        drawn = np.full((len(of_all.items), n), np.nan)
        for column in range(n):
            times = rng.multinomial(len(codes), np.full(len(codes), 1 / len(codes)))
            again = [_taken(ballot, times[np.searchsorted(codes, ballot.voter)]) for ballot in votes]
            drawn[:, column] = self.field([Held(ballot) for ballot in again], Mode.QUICK).rank_by
            if progress is not None:
                progress(column + 1, n)
        yield of_all.items, drawn

    def intervals(
        self,
        votes: Sequence[VotesOf],
        scores: Scored,
        level: float,
        rng: np.random.Generator,
        *,
        bounds: str | None = None,
    ) -> Scored:
        """The scores after the last ballot with the columns `lower` and `upper`, or with a note why they are empty.

        bounds : how a stored fit says they were made, `PLAIN`, `WIDENED`, …; None as the protocol does now.
        """
        made = self.bounds if bounds is None else bounds
        n_voters = len(np.unique(np.concatenate([ballot.voter for ballot in votes])))
        lower, upper = np.full(len(scores.items), np.nan), np.full(len(scores.items), np.nan)
        note = too_few(n_voters)
        if not note:
            tails = ((1 - level) / 2, (1 + level) / 2) if made == PLAIN else widened_tails(n_voters, level)
            for items, drawn in self.resample(
                votes, self.field([Held(ballot) for ballot in votes]), self.resamples, rng
            ):
                place, there = np.searchsorted(items, scores.items), np.isin(scores.items, items)
                lower[there], upper[there] = quantiles(drawn[place[there]], tails)
        return replace(
            scores,
            columns={**scores.columns, "lower": lower, "upper": upper},
            fit=scores.fit | named_bounds(made),
            note=note,
        )

    def halves(
        self,
        votes: Sequence[VotesOf],
        fitted: FittedVotes,
        metric: Metric,
        repeats: int,
        rng: np.random.Generator,
        workers: int | None = None,
    ) -> RepeatedCorrelation:
        """`metric` between the scores of two random halves of the voters, `repeats` times.

        Items that one lacks are left out. fitted : of all these votes. Raises `UndefinedMetricError` for few voters.
        """
        voters = check_halves(votes)
        drawn = [rng.permutation(voters)[: len(voters) // 2] for _ in range(repeats)]
        job = partial(_agreement_of_halves, self, votes, fitted.items, metric)
        return RepeatedCorrelation(np.array(list(spread(job, drawn, workers=_workers(votes, repeats, workers)))))

    def ceiling(
        self,
        votes: Sequence[VotesOf],
        fitted: FittedVotes,
        metric: Metric,
        simulations: int,
        rng: np.random.Generator,
        workers: int | None = None,
    ) -> RepeatedCorrelation:
        """`metric` between the truth and the scores of votes like these: true scores and voters as the fit knows them,
        the same comparisons, scored as the protocol does."""
        posteriors = item_posteriors(fitted.fit)
        codes = np.unique(np.concatenate([ballot.voter for ballot in votes]))

        def simulated() -> Iterator[tuple[Floats, list[Votes]]]:
            for _ in range(simulations):
                truth = likely_scores(posteriors, rng)
                again = []
                for ballot in votes:
                    first, second = (np.searchsorted(fitted.items, side) for side in (ballot.first, ballot.second))
                    voter = np.searchsorted(codes, ballot.voter)
                    outcome = simulated_outcomes(fitted.fit, truth, first, second, voter, rng)
                    again.append(Votes(ballot.items, ballot.first, ballot.second, outcome, ballot.voter))
                yield truth, again

        return self.against_truth(simulated(), metric, _workers(votes, simulations, workers))

    def against_truth(
        self, simulated: Iterable[tuple[Floats, list[Votes]]], metric: Metric, workers: int = 1
    ) -> RepeatedCorrelation:
        """`metric` between true scores of all items and the scores of votes on them, for each pair of the two."""
        job = partial(_agreement_with_truth, self, metric)
        return RepeatedCorrelation(np.array(list(spread(job, simulated, workers=workers))))

    def seconds(self, n_votes: int) -> float:
        """How long scoring a ballot with its intervals takes, by the votes that are scored."""
        return n_votes / 50_000 * self.about.effort


def balanced(items: Ints, n: int, rng: np.random.Generator) -> Ints:
    """The store's sampler: every item equally often in either column too, within one."""
    return draw_uniform(items, n, rng=rng)


def named_bounds(made: str) -> dict[str, str]:
    """What a stored fit says of how its bounds were made; plain ones have no name."""
    return {} if made == PLAIN else {"bounds": made}


def too_few(n_voters: int) -> str:
    """Why so few voters make no interval, or ""."""
    return (
        "" if n_voters >= MIN_VOTERS else f"An interval needs votes of at least {MIN_VOTERS} voters; found {n_voters}."
    )


def check_halves(votes: Sequence[VotesOf]) -> Ints:
    """The voters, if there are enough of them for halves; else `UndefinedMetricError`."""
    voters = np.unique(np.concatenate([ballot.voter for ballot in votes]))
    if len(voters) < FEWEST_VOTERS:
        raise UndefinedMetricError(f"Halves of the voters need at least {FEWEST_VOTERS} voters; found {len(voters)}.")
    return voters


def _workers(votes: Sequence[VotesOf], times: int, workers: int | None) -> int:
    return workers_for(times * sum(len(ballot.first) for ballot in votes), WORTH_VOTES, workers)


def _taken(votes: VotesOf, times: Ints | NDArray[np.bool_]) -> Votes:
    """Each vote so many times."""
    rows = np.repeat(np.arange(len(times)), times)
    return Votes(votes.items, votes.first[rows], votes.second[rows], votes.outcome[rows], votes.voter[rows])


def _agreement_of_halves(protocol: Protocol, votes: Sequence[VotesOf], items: Ints, metric: Metric, half: Ints) -> Any:
    one, other = (
        protocol.field([Held(_taken(ballot, np.isin(ballot.voter, half) == inside)) for ballot in votes]).rank_by
        for inside in (True, False)
    )
    both = ~np.isnan(one) & ~np.isnan(other)
    return metric(one[both], other[both])


def _agreement_with_truth(protocol: Protocol, metric: Metric, simulated: tuple[Floats, list[Votes]]) -> Any:
    truth, votes = simulated
    scores = protocol.field([Held(ballot) for ballot in votes]).rank_by
    known = ~np.isnan(scores) & ~np.isnan(truth)
    return metric(truth[known], scores[known])
