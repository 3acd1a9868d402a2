"""Bradley–Terry: the fit beside choix and a noisy variant, large fits, near neighbours, resampled voters."""

from __future__ import annotations

from collections.abc import Iterator

import choix
import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from bench.table import Line, measure
from core.ballots.pairing import draw_near_comparisons
from core.scores import fit_bradley_terry
from core.scores.uncertainty import resample_voters
from core.tables import Floats, Ints

HELD_OUT = 5  # one vote in so many is predicted


def lines(*, quick: bool) -> Iterator[Line]:
    """All lines of this part; `quick` makes everything a hundredth of its size."""
    share = 100 if quick else 1
    items = 990 // (20 if quick else 1)
    yield fit_beside_choix(items, 19_640 // share * (5 if quick else 1))
    yield large_fit(100_000 // share, 2_000_000 // share)
    yield noisy(items, 19_640 // share * (5 if quick else 1), steps=1 if quick else 100)
    yield near_neighbours(100_000 // share)
    yield resampling(items, 20_000 // share * (5 if quick else 1), 1000 // share)


def votes(n_items: int, n_votes: int, n_voters: int = 100) -> tuple[Ints, Ints, Floats, Ints]:
    """Votes of voters of unequal sharpness who slip now and then: first, second, outcome, voter."""
    rng = np.random.default_rng(1)
    strength = rng.normal(0, 3, n_items)
    first = rng.permutation(np.arange(n_votes) % n_items)
    second = (first + rng.integers(1, n_items, n_votes)) % n_items
    voter = rng.integers(n_voters, size=n_votes)
    sharp, lapse = rng.lognormal(0, 0.5, n_voters), rng.uniform(0.005, 0.05, n_voters)
    gap = sharp[voter] * (strength[first] - strength[second])
    p = lapse[voter] + (1 - 2 * lapse[voter]) * expit(gap)
    return first, second, (rng.random(n_votes) < p).astype(float), voter


def fit_beside_choix(n_items: int, n_votes: int) -> Line:
    """Scores alone, which is all that choix gives; its model is the plain one, with a little regularisation."""
    first, second, outcome, _ = votes(n_items, n_votes)
    won = [(int(a), int(b)) if y else (int(b), int(a)) for a, b, y in zip(first, second, outcome, strict=True)]
    own, other = measure(
        lambda: fit_bradley_terry(first, second, outcome, n_items=n_items),
        lambda: choix.ilsr_pairwise(n_items, won, alpha=0.01),
    )
    what = f"Bradley–Terry of {n_items:,} items, {n_votes:,} votes"
    return Line(what, own, other, "choix.ilsr_pairwise", least_ratio=10.0)


def large_fit(n_items: int, n_votes: int) -> Line:
    """The fit alone."""
    first, second, outcome, _ = votes(n_items, n_votes)
    (own,) = measure(lambda: fit_bradley_terry(first, second, outcome, n_items=n_items), rounds=1)
    return Line(f"Bradley–Terry of {n_items:,} items, {n_votes:,} votes", own, limit=60.0)


def noisy(n_items: int, n_votes: int, steps: int) -> Line:
    """Voters with effects of their own; the other is the noisy Bradley–Terry of crowd-kit as a loop over votes.

    It does 100 iterations, crowd-kit's default, with the right gradient. crowd-kit itself isn't installed for this:
    docs/runoff.md has its own time, measured by hand. Both predict the same held-out votes; the note has the mean
    log-likelihood of each.
    """
    first, second, outcome, voter = votes(n_items, n_votes)
    held = np.arange(n_votes) % HELD_OUT == 0
    seen = first[~held], second[~held], outcome[~held], voter[~held]
    found: dict[str, Floats] = {}

    def ours() -> None:
        fit = fit_bradley_terry(*seen[:3], n_items=n_items, voter=seen[3], ridge=0.1, by_part=True)
        theta, who = np.nan_to_num(fit.theta), voter[held]
        gap = fit.voter_sharpness[who] * (theta[first[held]] - theta[second[held]])
        found["ours"] = fit.voter_lapse[who] + (1 - 2 * fit.voter_lapse[who]) * expit(gap)

    def theirs() -> None:
        score, skill = noisy_bradley_terry(*seen, n_items, steps)
        chance = expit(skill[voter[held]])
        found["theirs"] = chance * expit(score[first[held]] - score[second[held]]) + (1 - chance) * 0.5

    own, other = measure(ours, theirs, rounds=1)
    y = outcome[held]
    mean = {name: float(np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))) for name, p in found.items()}
    note = f"held-out log-likelihood {mean['ours']:.3f}, theirs {mean['theirs']:.3f}"
    return Line("… with voters' effects", own, other, "noisy Bradley–Terry", least_ratio=20.0, note=note)


def noisy_bradley_terry(
    first: Ints, second: Ints, outcome: Floats, voter: Ints, n_items: int, steps: int
) -> tuple[Floats, Floats]:
    """Scores and skills (log odds) by P = f(γ)·f(s_i − s_j) + (1 − f(γ))/2, f logistic, vote by vote, L-BFGS.

    Chen, Bennett, Collins-Thompson, Horvitz (2013), WSDM, as crowd-kit has it, without the bias to a side.
    """
    n_voters = int(voter.max()) + 1
    rows = list(zip(first.tolist(), second.tolist(), outcome.tolist(), voter.tolist(), strict=True))

    def cost(x: Floats) -> tuple[float, Floats]:
        total, gradient = 0.005 * float(np.sum(x * x)), 0.01 * x
        for a, b, y, v in rows:
            f, g = 1 / (1 + np.exp(x[b] - x[a])), 1 / (1 + np.exp(-x[n_items + v]))
            p = min(max(g * f + (1 - g) * 0.5, 1e-12), 1 - 1e-12)
            total -= y * np.log(p) + (1 - y) * np.log(1 - p)
            pull = (y - p) / (p * (1 - p))
            slope = pull * g * f * (1 - f)
            gradient[a] -= slope
            gradient[b] += slope
            gradient[n_items + v] -= pull * (f - 0.5) * g * (1 - g)
        return total, gradient

    start = np.concatenate((np.zeros(n_items), np.ones(n_voters)))
    x = minimize(cost, start, jac=True, method="L-BFGS-B", options={"maxiter": steps}).x
    return x[:n_items], x[n_items:]


def near_neighbours(n_items: int, appearances: int = 20) -> Line:
    """Drawing a later ballot's comparisons."""
    score, spread = np.arange(n_items) * 0.05, np.full(n_items, 0.4)

    def draw() -> None:
        draw_near_comparisons(np.arange(n_items), appearances, score=score, spread=spread, rng=np.random.default_rng(1))

    (own,) = measure(draw, rounds=1)
    return Line(f"near neighbours of {n_items:,} items × M {appearances}", own, limit=30.0)


def resampling(n_items: int, n_votes: int, resamples: int) -> Line:
    """Scores with other voters, whose effects move too."""
    first, second, outcome, voter = votes(n_items, n_votes)
    voter = np.unique(voter, return_inverse=True)[1]
    fit = fit_bradley_terry(first, second, outcome, n_items=n_items, voter=voter, ridge=0.1)

    def draw() -> None:
        resample_voters(fit, (first, second, outcome, voter), resamples=resamples, rng=np.random.default_rng(1))

    (own,) = measure(draw, rounds=1)
    return Line(f"resampled voters: {n_votes:,} votes × {resamples:,}", own, limit=30.0)
