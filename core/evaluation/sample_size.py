"""How many votes, or tokens, tell two models apart with a probability of 80%, by simulation.

Votes: campaigns of the protocol "runoff" are simulated, with simulated voters (`core.voters.model`) who go by the
dataset's ranking, and the two models as they are. Each campaign's votes are resampled and the paired interval of the
difference (`core.evaluation.vote_intervals`) is taken as the Evaluate page takes it; it tells the two apart where it
leaves 0 out, on the side of the true difference. Tokens: the same for subsets of the dataset's tokens, scores as they
are, with the intervals of `core.evaluation.token_intervals`; more tokens than there are can't be tried.

With n of either, two are told apart with about the probability Φ(a·√n − b), as errors shrink with the root of n; b is
near 1.645. Both are fitted to all that was tried, b with a normal prior about 1.645, and the answer is where the curve
meets 80%, with the interval that the number of simulations leaves: 1.645 times the posterior's spread about it, over a
grid of a and b, on the scale of logarithms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri

from ..base.estimates import MIN_VOTERS
from ..errors import InputError
from ..plan import Plan
from ..protocols import Votes
from ..protocols.runoff import spread_appearances
from ..scores import BallotVotes
from ..simulation import simulate_campaign
from ..tables import Floats
from ..voters.model import PAPER_PANEL, Panel
from ..voters.panel_fit import similarity_from_ranks
from . import TOP_K, correlations
from .figures import FigureSettings
from .token_intervals import FEWEST_TOKENS, POWER, Coded, draw_tokens
from .vote_intervals import FIGURES, difference_interval, draw_scores

Progress = Callable[[int, int], None]

EXPECTED_B, PRIOR = 1.645, 0.5  # of b's normal prior: its mean, and its standard deviation
NORMAL_90 = 1.645  # standard errors on either side that hold 90% of a normal distribution
ROUGH, FINE = 6, 20  # tries of each amount while the place is sought, and about it
RESAMPLES = 40
WEIGHTED = FigureSettings(names=("rho_w",))
SUBSETS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # of the tokens


@dataclass(frozen=True)
class VotingScenario:
    """How votes are collected in the simulation: who votes, how many votes each gives, in how many ballots.

    votes_each : more votes come from more voters; family : how relatedness falls with the rank, of
    `panel_fit.FAMILIES`.
    """

    panel: Panel = PAPER_PANEL
    votes_each: int = 200
    n_ballots: int = 7
    keep: float = 0.5
    family: str = "exponential"
    notion: str = "relatedness"


@dataclass(frozen=True)
class PowerEstimate:
    """`told` of `n` simulations of this `amount` of votes or tokens told the two models apart."""

    amount: int
    told: int
    n: int


@dataclass(frozen=True)
class Needed:
    """What tells two models apart with 80%: `amount` votes or tokens, `lower` to `upper` by 90% simulation error.

    amount is None where it lies outside of what was tried: above `most` where `is_more`, else at or under `least`.
    """

    unit: str
    figure: str
    difference: float
    amount: int | None
    lower: int | None
    upper: int | None
    least: int
    most: int
    is_more: bool
    tried: tuple[PowerEstimate, ...]

    def __str__(self) -> str:
        if self.amount is None:
            return f"more than {self.most:,} {self.unit}" if self.is_more else f"{self.least:,} {self.unit} or fewer"
        return f"{self.amount:,} {self.unit} ({self.lower:,} to {self.upper:,} by simulation error)"

    @property
    def simulations(self) -> int:
        return sum(each.n for each in self.tried)


def votes_needed(
    scores: Floats,
    models: tuple[Floats, Floats],
    taken: FigureSettings = WEIGHTED,
    *,
    votes: tuple[int, int],
    voting: VotingScenario | None = None,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Needed:
    """How many votes tell two models apart with 80%, were the dataset's ranking the true one.

    Parameters
    ----------
    scores : of the items that both models cover; models : what each says of them; all (n,), higher = more related,
    without NaN. taken : one figure that has intervals over votes (`vote_intervals.FIGURES`); of the precision the top
    has to be `TOP_K`.
    votes : where the search begins, such as the votes there are, and the largest number that is tried. progress : told
    (done, about how many).

    Raises `InputError` for another figure, models of which one's figure is undefined, or a `most` too small for a plan;
    `PlanError` for ballots that so few items don't fill.
    """
    (one, other), (n_votes, most), (figure,) = models, votes, taken.names
    if figure not in FIGURES:
        raise InputError(f"Votes have no interval of {figure!r}; there are {', '.join(FIGURES)}.")
    if figure == "precision" and taken.top != TOP_K:
        raise InputError(f"Votes have an interval of the precision among the top {TOP_K} only, found {taken.top}.")
    voting = voting or VotingScenario()
    gap = _gap(scores, models, taken)
    z = similarity_from_ranks(scores, voting.family, notion=voting.notion).z
    least = _fewest(len(scores), voting)
    if most < least:
        raise InputError(f"A campaign on {len(scores):,} items takes at least {least:,} votes; allow that many.")

    def tells_apart(amount: int) -> bool:
        plan = spread_appearances(len(scores), voting.n_ballots, voting.keep, amount)
        n_voters = max(MIN_VOTERS, round(plan.n_comparisons / voting.votes_each))
        panel = Panel(n_voters, voting.panel.nonconformity, voting.panel.oversight)
        ballots = simulate_campaign(z, plan, protocol="runoff", notion=voting.notion, rng=rng, panel=panel).held
        cast = [BallotVotes(*Votes.of(ballot.votes)) for ballot in ballots]
        drawn = draw_scores(cast, "runoff", resamples=RESAMPLES, rng=rng)
        difference = difference_interval(drawn, one, other, figure, n0=taken.n0)
        return difference is not None and (difference.lower > 0 if gap > 0 else difference.upper < 0)

    amounts = _doubled(n_votes, least, most)
    return _search("votes", figure, gap, tells_apart, amounts, progress)


def tokens_needed(
    pairs: pd.DataFrame,
    models: tuple[Floats, Floats],
    taken: FigureSettings = WEIGHTED,
    *,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Needed:
    """How many of the dataset's tokens tell two models apart with 80%, by subsets of them, each area's in proportion.

    pairs : area, token_a, token_b and score of the items that both models cover; models : what they say, each (n,);
    taken : one figure, and how. Raises the errors of `draw_tokens`.
    """
    (figure,) = taken.names
    gap = _gap(pairs["score"].to_numpy(dtype=np.float64), models, taken, pairs["area"].to_numpy())
    coded = Coded(pairs)
    amounts = sorted({coded.taken(share) for share in SUBSETS} - set(range(FEWEST_TOKENS)))
    if not amounts:
        raise InputError(
            f"Subsets of tokens need more than {FEWEST_TOKENS} of them; these items have {coded.n_tokens}."
        )
    share_of = {coded.taken(share): share for share in SUBSETS}

    def tells_apart(amount: int) -> bool:
        rows = coded.subset(share_of[amount], rng)
        drawn = draw_tokens(pairs[rows], [model[rows] for model in models], taken, resamples=100, rng=rng)
        difference = drawn.interval(figure, 0, 1)
        return difference is not None and (difference.lower > 0 if gap > 0 else difference.upper < 0)

    return _search("tokens", figure, gap, tells_apart, amounts, progress, most=coded.n_tokens)


def _gap(
    scores: Floats, models: tuple[Floats, Floats], taken: FigureSettings, areas: NDArray[Any] | None = None
) -> float:
    (figure,) = taken.names
    apart = areas if taken.apart else None
    figures = [
        getattr(correlations(scores, model, n0=taken.n0, apart=apart, top=taken.top, names=[figure]), figure)
        for model in models
    ]
    undefined = [each.reason for each in figures if each.estimate is None]
    if undefined:
        raise InputError(f"The two models can't be told apart: {undefined[0]}")
    return float(figures[0].estimate - figures[1].estimate)


def _fewest(n_items: int, voting: VotingScenario) -> int:
    """The smallest number of comparisons that a plan of these ballots takes; `PlanError` where there is none."""
    return Plan(n_items, voting.n_ballots, voting.keep, (2,) * voting.n_ballots).n_comparisons


def _doubled(start: int, least: int, most: int) -> list[int]:
    """`start` doubled and halved as far as the bounds allow, and the bounds; ascending."""
    amounts = [start * 2.0**step for step in range(-6, 12)]
    return sorted({least, most, *(round(each) for each in amounts if least * 1.2 < each < most / 1.2)})


def _search(
    unit: str,
    figure: str,
    gap: float,
    tells_apart: Callable[[int], bool],
    amounts: list[int],
    progress: Progress | None,
    most: int | None = None,
) -> Needed:
    """Find the two amounts between which 80% are reached, try more there, and read it off the curve."""
    counts: dict[int, list[int]] = {}
    most = most or amounts[-1]
    total = 4 * ROUGH + 4 * FINE

    def attempt(amount: int, n: int) -> float:
        tried = counts.setdefault(amount, [0, 0])
        for _ in range(n):
            tried[0] += tells_apart(amount)
            tried[1] += 1
            if progress is not None:
                done = sum(each[1] for each in counts.values())
                progress(done, max(total, done + 1))
        return tried[0] / tried[1]

    if gap == 0:
        return Needed(unit, figure, gap, None, None, None, amounts[0], most, True, ())
    low, high = 0, len(amounts) - 1
    while high - low > 1:  # the share rises with the amount, but for chance
        middle = (low + high) // 2
        low, high = (middle, high) if attempt(amounts[middle], ROUGH) < POWER else (low, middle)
    for place in range(max(low - 1, 0), min(high + 1, len(amounts) - 1) + 1):
        if low - 1 < place < high + 1 or amounts[place] in counts:
            attempt(amounts[place], FINE)
    tried = tuple(PowerEstimate(amount, *counts[amount]) for amount in sorted(counts))
    return _read_off(unit, figure, gap, tried, most)


def _read_off(unit: str, figure: str, gap: float, tried: tuple[PowerEstimate, ...], most: int) -> Needed:
    place, error = at_power(tried)
    least, last = tried[0], tried[-1]
    above = not np.isfinite(place) or place > most
    below = place < least.amount and least.told >= POWER * least.n
    if above or below:
        return Needed(unit, figure, gap, None, None, None, least.amount, max(most, last.amount), above, tried)
    reach = float(np.exp(NORMAL_90 * error))
    amounts = (round(place), round(place / reach), round(place * reach))
    return Needed(unit, figure, gap, *amounts, least.amount, max(most, last.amount), False, tried)


def at_power(tried: Iterable[PowerEstimate]) -> tuple[float, float]:
    """Where Φ(a·√n − b) meets `POWER`, and the standard error of its logarithm; infinite where it never does.

    a ≥ 0 and b are the likeliest under the prior of the module, of a grid; the error is that of the posterior on it, so
    that shares of 0 and 1 need no care.

    >>> amount, error = at_power([PowerEstimate(100, 20, 100), PowerEstimate(400, 80, 100), PowerEstimate(900, 99,
    ... 100)])
    >>> 350 < amount < 450, 0 < error < 0.3
    (True, True)
    """
    every = [each for each in tried if each.n]
    root = np.sqrt([each.amount for each in every])
    told, n = np.array([each.told for each in every], float), np.array([each.n for each in every], float)
    scale = root.max()

    a, b = np.linspace(0, 12, 241)[:, None], np.linspace(EXPECTED_B - 3 * PRIOR, EXPECTED_B + 3 * PRIOR, 61)[None]
    costs = ((b - EXPECTED_B) / PRIOR) ** 2 / 2 + np.zeros_like(a)
    for hits, times, at in zip(told, n, root / scale, strict=True):
        costs -= hits * log_ndtr(a * at - b) + (times - hits) * log_ndtr(b - a * at)
    weight = np.exp(costs.min() - costs)
    with np.errstate(divide="ignore"):
        logs = 2 * np.log((b + ndtri(POWER)) * scale / a)
    best = np.unravel_index(np.argmin(costs), costs.shape)
    if not np.isfinite(logs[best]):
        return float("inf"), float("inf")
    known = np.isfinite(logs)
    center = float(logs[best])
    spread = float(np.sqrt((weight[known] * (logs[known] - center) ** 2).sum() / weight[known].sum()))
    return float(np.exp(center)), spread
