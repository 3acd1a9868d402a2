"""`python -m bench.token_prior`: what a prior by token effects would add to the fit of all votes, in small campaigns.

An item's θ is u_a + u_b of its two tokens plus its own e: u and e are normal about 0, with variances that the votes
tell (Laplace's approximation to their marginal likelihood, on a grid refined step by step). No model's vectors are
used. The items of a campaign are those of one of the demo's four areas (190 pairs of 20 tokens), with its cosines, or
with similarities that have nothing to do with tokens: exponential or power law in a drawn order.

Campaigns are those of the protocol "runoff", whose ballots are drawn by its own fit; only the last scores are fitted
anew, voters' effects as they are. “Own variance” is the same without tokens, so that what the variance alone adds is
seen. Campaign s has the seed (seed, s).
"""

from __future__ import annotations

import click
import numpy as np
import pandas as pd

from bench.cells import DEMO
from core.metrics import weighted_kendall, weighted_spearman
from core.protocols import Votes
from core.protocols.runoff import Runoff
from core.scores import BallotVotes
from core.scores.bradley_terry import BradleyTerry, fit_votes
from core.scores.voter_effects import Likelihood
from core.simulation import simulate_campaign
from core.tables import Floats
from core.voters.model import Panel, exponential, power_law

LAWS = {"cosines": None, "exponential": exponential, "power law": power_law}
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of a variance, looked at in each round
ROUNDS = 3
START = 2.0, 1.0  # variances of e and u
NEWTON_STEPS, LONGEST, SETTLED = 8, 3.0, 1e-3


def shared_tokens(area: pd.DataFrame) -> Floats:
    """How many tokens every two items share, (n_items, n_items); 2 on the diagonal."""
    tokens = pd.unique(area[["token_a", "token_b"]].to_numpy().ravel())
    has = np.array([[token in pair for token in tokens] for pair in zip(area.token_a, area.token_b, strict=True)])
    return np.asarray(has.astype(np.float64) @ has.T)


def most_likely(fit: BradleyTerry, covariance: Floats, theta: Floats) -> tuple[Floats, float]:
    """The most likely θ under a normal prior of this covariance, and the logarithm of its marginal likelihood.

    theta : where Newton's method starts; (n_items,). The voters' effects are those of the fit.
    """
    data, n = fit.likelihood.data, len(theta)
    precision = np.linalg.inv(covariance)
    for _ in range(NEWTON_STEPS):
        at = Likelihood(data, theta, fit.effects)
        pull, weight = at.score(), at.curvature(bounded=True)
        gradient = np.bincount(data.one, pull, n) - np.bincount(data.other, pull, n) - precision @ theta
        bend = np.zeros((n, n))
        for one, other, sign in (
            (data.one, data.one, 1),
            (data.other, data.other, 1),
            (data.one, data.other, -1),
            (data.other, data.one, -1),
        ):
            np.add.at(bend, (one, other), sign * weight)
        step = np.linalg.solve(bend + precision, gradient)
        largest = np.abs(step).max()
        theta = theta + step * min(1.0, LONGEST / largest)
        if largest < SETTLED:
            break
    cost = Likelihood(data, theta, fit.effects).cost()
    occam = np.linalg.slogdet(np.eye(n) + covariance @ bend)[1]
    return theta, float(-cost - 0.5 * theta @ precision @ theta - 0.5 * occam)


def with_prior(fit: BradleyTerry, shared: Floats | None) -> tuple[Floats, tuple[float, float]]:
    """θ under the prior whose variances (of e, of u) are the likeliest, and these; `shared` None: u is 0."""
    own, token = START if shared is not None else (START[0], 0.0)
    one, two = np.eye(len(fit.theta)), 0.0 if shared is None else shared
    theta = fit.theta
    for number in range(ROUNDS * (1 if shared is None else 2)):
        of_token = shared is not None and number % 2 == 1
        looked = []
        for factor in FACTORS:
            variances = (own, token * factor) if of_token else (own * factor, token)
            found, evidence = most_likely(fit, variances[0] * one + variances[1] * two, theta)
            looked.append((evidence, variances, found))
        _, (own, token), theta = max(looked, key=lambda row: row[0])
    return theta, (own, token)


def campaign(area: pd.DataFrame, law: str, votes: int, seed: tuple[int, int]) -> Floats:
    """ρ_w and τ_w of the fit, of own variance and of token effects, then the variances of e and u; (8,)."""
    made = LAWS[law]
    z = area.similarity.to_numpy()
    if made is not None:
        z = np.random.default_rng((*seed, 1)).permutation(made(len(area)))
    plan = Runoff().plan_within(len(z), 4, 0.5, votes)
    rng = np.random.default_rng(seed)
    held = simulate_campaign(z, plan, protocol=Runoff.name, rng=rng, panel=Panel(30)).held
    fit = fit_votes([BallotVotes(*Votes.of(ballot.votes)) for ballot in held]).fit
    tokens, variances = with_prior(fit, shared_tokens(area))
    truth = np.abs(z)
    scores = (fit.theta, with_prior(fit, None)[0], tokens)
    figures = [metric(one, truth) for one in scores for metric in (weighted_spearman, weighted_kendall)]
    return np.array([*figures, *variances])


@click.command()
@click.option("--votes", default=1071, show_default=True, help="At most, in four ballots, of 30 voters.")
@click.option("--campaigns", "n", default=40, show_default=True)
@click.option("--seed", default=29_941, show_default=True)
@click.option("--law", type=click.Choice(list(LAWS)), default="cosines", show_default=True)
def main(votes: int, n: int, seed: int, law: str) -> None:
    """Print ρ_w / τ_w of the three, the differences to the fit with standard errors, and median variances."""
    areas = [area for _, area in pd.read_csv(DEMO).groupby("area", sort=False)]
    found = np.array([campaign(areas[s % len(areas)], law, votes, (seed, s)) for s in range(n)])
    mean = found.mean(axis=0)
    cells = [f"{mean[k]:.3f} / {mean[k + 1]:.3f}" for k in (0, 2, 4)]
    for k in (2, 4):
        apart = found[:, k : k + 2] - found[:, :2]
        error = apart.std(axis=0, ddof=1) / np.sqrt(n)
        cells.append(" / ".join(f"{d:+.4f} ± {e:.4f}" for d, e in zip(apart.mean(axis=0), error, strict=True)))
    own, token = np.median(found[:, 6:], axis=0)
    click.echo(f"| {law}, {votes:,} votes | {n} | {' | '.join(cells)} | {own:g}, {token:g} |")


if __name__ == "__main__":
    main()
