"""Campaigns on simulated voters, from the first ballot to the scores and their accuracy: one, or many of a setting.

Many campaigns are split over processor cores or machines, and are the same whoever computes them.

Comparisons are drawn by `ballots.quick_draw`, in a fraction of the time of real ballots, or as the paper's authors'
released code draws them. Where plans are compared, the protocol goes its quick way (both in `conventions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .. import metrics
from ..ballots.draw import balanced_sides
from ..ballots.quick_draw import quick_comparisons
from ..base.parallel import Switch, check_workers, spread, workers_for
from ..errors import InputError, UndefinedMetricError
from ..plan import Plan
from ..protocols import Held, Mode, Protocol, Votes, protocol_of
from ..protocols.paper import borda_of
from ..scores.borda import BallotScores
from ..tables import Floats, Ints
from ..voters.model import (
    CELLS,
    PAPER_PANEL,
    Panel,
    VoterKind,
    Voters,
    checked_similarity,
    draw_panel,
    opinions,
    opinions_asked,
    overrule,
)
from .conventions import Convention, convention_of, method_of


class Accuracy(NamedTuple):
    """How near the ranking by scores is to the true one: ρ_w, τ_w, ρ, τ of `core.metrics`, each in [−1, 1]."""

    rho_w: float
    tau_w: float
    rho: float
    tau: float


def accuracy_between(scores: ArrayLike, truth: ArrayLike, n0: float = 2.0) -> Accuracy:
    """ρ_w, τ_w, ρ, τ between two scores of the same items; errors as in `core.metrics`."""
    return Accuracy(
        metrics.weighted_spearman(scores, truth, n0=n0),
        metrics.weighted_kendall(scores, truth, n0=n0),
        metrics.spearman(scores, truth),
        metrics.kendall(scores, truth),
    )


@dataclass(frozen=True, eq=False)
class Campaign:
    """What a simulated campaign came to.

    scores : of all items, higher = more related, shape (n_items,); truth : what they should be ranked by, |z| for
    relatedness and z for similarity, same shape.
    held : the ballots in order, each with its votes and its scores.
    """

    protocol: str
    convention: str
    notion: str
    scores: Floats
    truth: Floats
    held: tuple[Held, ...]

    @property
    def n_comparisons(self) -> int:
        """Comparisons asked, one vote each, over all ballots."""
        return sum(len(ballot.votes.first) for ballot in self.held)

    @property
    def ballots(self) -> tuple[BallotScores, ...]:
        """Scores ballot by ballot: items, x, y, ȳ (`mean`) and slope b̂ of each; see `BallotScores`."""
        return tuple(_ballot_scores(number, ballot) for number, ballot in enumerate(self.held, start=1))

    @property
    def slopes(self) -> tuple[float, ...]:
        """b̂ of each ballot; that of the first is 1."""
        return tuple(ballot.slope for ballot in self.ballots)

    def accuracy(self, n0: float = 2.0) -> Accuracy:
        """ρ_w, τ_w, ρ, τ between the scores and the truth, by the rules of the campaign's convention.

        Raises `UndefinedMetricError` where all scores, or all true values, are equal.
        """
        x, y = convention_of(self.convention).rankings(self.scores, self.truth, self.ballots[0].items)
        return accuracy_between(x, y, n0)


def _ballot_scores(number: int, held: Held) -> BallotScores:
    """What a ballot says of its own items; where the protocol doesn't rescale only x, its win ratio, and who was in."""
    votes, scores = held
    if scores is None or "y" not in scores.columns:
        x, times = borda_of(votes)
        none = np.full(len(x), np.nan)
        return BallotScores(number, votes.items, x, none, none, np.zeros(len(x), dtype=np.int64), np.nan, times)
    x, y, mean, count, times = (scores.columns[name] for name in ("x", "y", "mean", "count", "votes"))
    slope = scores.slope if scores.slope is not None else 1.0 if number == 1 else np.nan
    return BallotScores(number, scores.items, x, y, mean, count, slope, times)


def simulate_campaign(
    similarity: ArrayLike,
    plan: Plan,
    *,
    protocol: str,
    rng: np.random.Generator,
    panel: Panel | Voters = PAPER_PANEL,
    convention: str = "paper",
    notion: str = "relatedness",
) -> Campaign:
    """Simulate a campaign: ballots are drawn, a panel's voters answer, the best items go on.

    The voters and their opinions are drawn first, so that generators of the same seed give every protocol the same
    voters with the same opinions.

    Parameters
    ----------
    similarity : the underlying z of the items, in [−1, 1], shape (plan.n_items,).
    protocol : "uniform", "paper", or another of `conventions`.
    rng : source of everything random.
    panel : the population voters are drawn from, or the voters themselves.
    convention : "paper", or "released" for that of the authors' code (docs/method.md), or "planning": as "paper", and
        each protocol by its quick way, other random numbers and all.
    notion : "relatedness" or "similarity".

    Raises `InputError` for values that don't fit.

    >>> from core.voters.model import exponential
    >>> campaign = simulate_campaign(
    ...     exponential(40), Plan(40, 3, 0.5, 10), protocol="paper", rng=np.random.default_rng(1)
    ... )
    >>> campaign.n_comparisons, [len(ballot.items) for ballot in campaign.ballots]
    (350, [40, 20, 10])
    """
    z, rules = checked_similarity(similarity), convention_of(convention)
    method = method_of(rules, protocol)
    if len(z) != plan.n_items:
        raise InputError(f"The plan is for {plan.n_items} items, and there are {len(z)} similarities.")
    if notion not in ("relatedness", "similarity"):
        raise InputError(f'The notion must be "relatedness" or "similarity", found {notion!r}.')
    voters = draw_panel(panel, rng) if isinstance(panel, Panel) else panel
    crowd = Crowd(z, voters, notion, rules, rng)
    held = hold_ballots(method, plan, crowd.asked_by(method, rng), rng=rng)
    truth = np.abs(z) if notion == "relatedness" else z
    return Campaign(protocol, convention, notion, method.field(held, Mode.QUICK).rank_by, truth, tuple(held))


def hold_ballots(
    protocol: Protocol, plan: Plan, ask: Callable[[Ints, Ints, Sequence[Held]], Votes], *, rng: np.random.Generator
) -> list[Held]:
    """The ballots of a campaign: drawn by the protocol, answered by `ask`, scored, and the best go on.

    ask : the votes on comparisons between some items, (n, 2), after the ballots that were held.
    """
    held: list[Held] = []
    items = np.arange(plan.n_items)
    for number, (size, n_comparisons) in enumerate(protocol.sizes(plan)):
        if number:
            items = protocol.select(held, size, rng).items
        votes = ask(items, protocol.draw(items, n_comparisons, held, rng, quick_comparisons), tuple(held))
        held.append(Held(votes, protocol.score(votes, held, Mode.QUICK)))
    return held


class Crowd:
    """The voters of one campaign with their opinions, which hold from the first ballot to the last.

    Up to `CELLS` opinions (voters × items) are kept; of more, those asked for are made again for each ballot.
    """

    def __init__(self, z: Floats, voters: Voters, notion: str, rules: Convention, rng: np.random.Generator) -> None:
        self.z, self.voters, self.notion, self.rules = z, voters, notion, rules
        self.amplitude = rules.amplitude(z)
        self.seed = int(rng.integers(2**63))
        self.n_items = len(z)
        self.kept = self._opinions(rng).ravel() if len(voters) * self.n_items <= CELLS else None

    @property
    def opinions(self) -> Floats:
        """All opinions, shape (n_voters, n_items), as they answer by."""
        if self.kept is not None:
            return self.kept.reshape(len(self.voters), self.n_items)
        return opinions(self.z, self.voters, seed=self.seed, notion=self.notion, amplitude=self.amplitude)

    def _opinions(self, rng: np.random.Generator) -> Floats:
        """All opinions, drawn at once: Eq. 11 with the convention's amplitude."""
        held = rng.standard_normal((len(self.voters), self.n_items))
        held *= self.voters.nonconformity[:, None]
        held *= self.amplitude
        held += self.z
        np.clip(held, -1.0, 1.0, out=held)
        return np.abs(held, out=held) if self.notion == "relatedness" else held

    def answer(self, items: Ints, pairs: Ints, rng: np.random.Generator, voter: Ints | None = None) -> Votes:
        """The votes on these comparisons by their voters; without `voter` the convention assigns them."""
        first, second = pairs[:, 0], pairs[:, 1]
        if voter is None:
            voter = self.rules.assign(len(pairs), len(self.voters), rng)
        one, other = self._asked(first, second, voter)
        outcome = self.rules.decide(one, other, self.voters.oversight[voter], rng)
        flipped = balanced_sides(pairs, rng) if self.voters.has(VoterKind.ALWAYS_LEFT) else None
        outcome = overrule(outcome, voter, self.voters, rng, flipped=flipped)
        return Votes(items, first, second, outcome, voter)

    def asked_by(self, protocol: Protocol, rng: np.random.Generator) -> Callable[[Ints, Ints, Sequence[Held]], Votes]:
        """What `hold_ballots` asks: the votes on comparisons by the voters whom the protocol assigns."""

        def ask(items: Ints, pairs: Ints, held: Sequence[Held]) -> Votes:
            return self.answer(items, pairs, rng, protocol.assign(pairs, held, len(self.voters), rng))

        return ask

    def _asked(self, first: Ints, second: Ints, voter: Ints) -> tuple[Floats, Floats]:
        if self.kept is not None:
            row = voter * self.n_items
            return self.kept[row + first], self.kept[row + second]
        one, other = opinions_asked(
            self.z, first, second, voter, self.voters, seed=self.seed, notion=self.notion, amplitude=self.amplitude
        )
        return one, other


T = TypeVar("T")
BATCH_VOTES = 160_000  # votes simulated between two looks at `stop`: some 40 ms
WORTH_VOTES = 10_000_000  # votes from which on more processes are started: some 2.5 s of one core
UNDEFINED = Accuracy(np.nan, np.nan, np.nan, np.nan)


def accuracy_of(campaign: Campaign) -> Accuracy:
    """The campaign's accuracy; all NaN where its scores or the truth are all equal."""
    try:
        return campaign.accuracy()
    except UndefinedMetricError:
        return UNDEFINED


@dataclass(frozen=True)
class Run(Generic[T]):
    """Results of campaigns 0, 1, 2, …, in order; fewer than the `n_wanted` only where the run was stopped."""

    results: tuple[T, ...]
    n_wanted: int

    @property
    def is_complete(self) -> bool:
        """Whether no campaign is missing."""
        return len(self.results) == self.n_wanted


def simulate_campaigns(
    similarity: ArrayLike,
    plan: Plan,
    *,
    protocol: str,
    n: int,
    seed: int,
    workers: int | None = 1,
    panel: Panel | Voters = PAPER_PANEL,
    convention: str = "paper",
    notion: str = "relatedness",
    measure: Callable[[Campaign], Any] = accuracy_of,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
    backend: str = "loky",
) -> Run[Any]:
    """Simulate `n` campaigns and measure each; see `simulate_campaign` for what isn't named here.

    Campaign s draws from `SeedSequence(seed, spawn_key=(s,))`. So results depend neither on the number of workers nor
    on `n`, and campaign s has the same voters with the same opinions under every protocol.

    Parameters
    ----------
    n : number of campaigns, at least 1; seed : from 0 on.
    workers : processes to use; 1 stays in this one, None takes a process for each free core where that pays.
    measure : what is kept of a campaign; it runs where the campaign did, so it must be a function of a module.
    progress : called in this process with the numbers of campaigns done and wanted, whenever some are done.
    stop : asked in this process now and then; once it says True no more campaigns begin, and those done are returned.
    backend : "loky" for processes of this machine, or "dask" for the workers of a Dask cluster: the client of
        `dask.distributed` that is there, else one of its own on this machine. `workers` doesn't matter then.

    Raises `InputError` for values that don't fit, or if Dask is asked for and isn't installed.
    """
    method_of(convention_of(convention), protocol)
    check_workers(workers, backend)
    for name, value, least in (("n", n, 1), ("seed", seed, 0)):
        if value < least:
            raise InputError(f"{name} must be a whole number from {least} on, found {value!r}.")
    job = CampaignSeries(checked_similarity(similarity), plan, protocol, seed, panel, convention, notion, measure)
    size = max(1, BATCH_VOTES // plan.n_comparisons)
    work = n * plan.n_comparisons * protocol_of(protocol).about.effort
    n_workers = workers_for(work, WORTH_VOTES, workers)
    size = min(size, -(-n // n_workers))
    batches = [range(start, min(start + size, n)) for start in range(0, n, size)]
    results: list[Any] = []
    switch = Switch(stop)
    for part in spread(job, switch.until(batches), workers=n_workers, backend=backend):
        results.extend(part)
        if progress is not None:
            progress(len(results), n)
        switch.look()
    return Run(tuple(results), n)


@dataclass(frozen=True, eq=False)
class CampaignSeries:
    """What every campaign of a run has in common; called with the numbers of some campaigns, it simulates them."""

    similarity: Floats
    plan: Plan
    protocol: str
    seed: int
    panel: Panel | Voters
    convention: str
    notion: str
    measure: Callable[[Campaign], Any]

    def __call__(self, numbers: Iterable[int]) -> list[Any]:
        return [self.measure(self.campaign(number)) for number in numbers]

    def campaign(self, number: int) -> Campaign:
        """The campaign of this number, from 0."""
        return simulate_campaign(
            self.similarity,
            self.plan,
            protocol=self.protocol,
            rng=np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,))),
            panel=self.panel,
            convention=self.convention,
            notion=self.notion,
        )
