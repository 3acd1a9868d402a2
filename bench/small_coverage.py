"""`python -m bench.small_coverage FOLDER`: how often intervals hold in small campaigns: of scores, ranks, ρ_w and τ_w.

Twelve cells, the paper's panel, α = ½. The similarities of campaign s are exponential, power law, or drawn from the
demo's cosines, in turn; its seed is (seed, s, cell). Ranks are the true ones; the true score of an item is the share of
votes it would win against all others from the population that the voters were drawn from (1,000 voters). ρ_w and τ_w:
intervals of six models against the true ranking, and of the differences of each and the next
(`bench.votes_coverage`). The intervals that one campaign gives hang together, so standard errors are of the means of
campaigns. --student: those of ρ_w and τ_w as they would hold if they were drawn out by Student's quantile too, as up to
0.12, and not by √(V/(V−1)) alone, V voters. --protocol paper: the intervals around ȳ, as closing an item's last ballot
left them; --bounds widened: as they were made before.

Figures go to FOLDER, a file a cell, a line a campaign; what is there is not made again, and two runs of unlike --cell
may go on beside each other. All resamples are refitted at once (`refit`), as many as --resamples, with the rules of
`Resamples` and `vote_intervals` on what they give; --exact takes the program's own refits one by one, five times as
long.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit, ndtri, stdtrit

from bench.cells import DEMO, read_similarities
from bench.votes_coverage import NOISE, Kind
from core.evaluation.vote_intervals import interval
from core.metrics import average_ranks, rank_weights, weighted_kendall, weighted_spearman
from core.protocols import Held, Votes, protocol_of
from core.protocols.base import FITTED, WIDENED
from core.protocols.runoff import Runoff
from core.scores import BallotVotes
from core.scores.bradley_terry import BradleyTerry, expected_borda, fit_votes, joined
from core.scores.uncertainty import ABSENT, N_STEPS, Resamples, resample_voters
from core.scores.voter_effects import SPREAD_OF_LAPSE, SPREAD_OF_SHARPNESS
from core.simulation import simulate_campaign
from core.tables import Floats
from core.voters.model import Panel, draw_panel, opinions

Singles = NDArray[Any]  # of single precision

# items, ballots, votes, voters
CELLS = (
    (20, 2, 300, 5), (20, 2, 300, 30), (20, 2, 900, 10),
    (60, 3, 840, 5), (60, 3, 840, 10), (60, 3, 840, 30), (60, 3, 1680, 30),
    (190, 4, 1071, 30), (190, 4, 2142, 30), (190, 4, 4000, 10),
    (300, 4, 2400, 30), (300, 4, 4000, 30),
)  # fmt: skip
SIMILARITIES = ("exponential", "power law", "embedding")
POPULATION = 1_000
FIGURES = ("rho_w", "tau_w")
COLUMNS = {
    "runoff": (
        "score", "rank", "ρ_w", "difference of two", "τ_w", "difference of two", "score of the first ten",
        "rank of the first ten",
    ),
    "paper": ("score", "score of the first ten"),
}  # fmt: skip
CG_STEPS, ROUGHLY = 12, 1e-6
CONCAVE = 0.1  # least second derivative in a voter's effects, of what the priors give, that is stepped by


def population_scores(z: Floats, rng: np.random.Generator) -> Floats:
    """The share of votes each item would win against all others, (n,)."""
    voters = draw_panel(Panel(POPULATION), rng)
    held = opinions(z, voters, seed=int(rng.integers(2**31)))
    won = np.argsort(np.argsort(held, axis=1), axis=1) / (len(z) - 1)
    clear = 1 - 2 * voters.oversight
    return np.asarray((clear[:, None] * won + voters.oversight[:, None]).mean(axis=0))


def refit(fit: BradleyTerry, times: Floats) -> Floats:
    """θ of each resample, (resamples, n_items), near where `resample_voters` lands: the same steps, all at once.

    times : how often each voter counts, (n_voters, resamples). Steps aren't halved, curvature is bounded as far from
    the end. Single precision.
    """
    data, effects = fit.likelihood.data, fit.effects
    n, m = len(fit.theta), len(data.one)
    single = np.float32
    ends = (np.repeat(np.arange(m), 2), np.stack((data.one, data.other), axis=1).ravel())
    gaps = csr_array((np.tile([1.0, -1.0], m).astype(single), ends), shape=(m, n))
    add_up, ends_of = gaps.T.tocsr(), abs(gaps.T.tocsr())
    by_voter = csr_array((np.ones(m, single), (data.voter, np.arange(m))), shape=(len(times), m))
    drawn = times.astype(single)
    counted, votes = np.maximum(drawn, single(ABSENT)), drawn[data.voter]
    theta: Singles = np.repeat(fit.theta[:, None], times.shape[1], axis=1).astype(single)
    sharp: Singles
    lapse: Singles
    sharp, lapse = (np.repeat(row[:, None], times.shape[1], axis=1).astype(single) for row in effects.values[:2])
    sharp -= (counted * sharp).sum(axis=0) / counted.sum(axis=0)
    won, lost = data.points[:, None].astype(single), (1 - data.points)[:, None].astype(single)
    for _ in range(N_STEPS):
        at = _Look(gaps @ theta, sharp[data.voter], lapse[data.voter], won, lost)
        gradient = add_up @ (votes * at.pull * at.slope * at.sharp) - single(fit.ridge) * theta
        seen = (won / at.win**2 + lost / at.loss**2) * at.slope**2 - at.pull * at.slope * (at.q - at.p)
        weight = votes * at.sharp**2 * np.maximum(seen, single(0.2) * at.slope**2 / (at.win * at.loss))
        theta = theta + _solved(gaps, add_up, ends_of, weight, gradient, single(fit.ridge))
        at = _Look(gaps @ theta, sharp[data.voter], lapse[data.voter], won, lost)
        turn = _effects_step(at, by_voter, votes, counted, (sharp, lapse - single(effects.centre[1])))
        sharp, lapse = sharp + turn[0], lapse + turn[1]
        sharp -= (counted * sharp).sum(axis=0) / counted.sum(axis=0)
    return np.asarray(theta.T, dtype=np.float64)


class _Look:
    """Probabilities of each vote in each resample, (n_votes, resamples); as in `Likelihood`."""

    def __init__(self, gap: Singles, sharp: Singles, lapse: Singles, won: Singles, lost: Singles) -> None:
        self.sharp, self.lapse = np.exp(sharp), np.float32(0.5) * expit(lapse)
        self.clear = 1 - 2 * self.lapse
        self.gap = self.sharp * gap
        self.p = expit(self.gap)
        self.q = 1 - self.p
        self.win = np.maximum(self.clear * self.p + self.lapse, np.float32(1e-12))
        self.loss = np.maximum(self.clear * self.q + self.lapse, np.float32(1e-12))
        self.slope = self.clear * self.p * self.q
        self.curve = won / self.win**2 + lost / self.loss**2
        self.pull = won / self.win - lost / self.loss


def _solved(
    gaps: csr_array, add_up: csr_array, ends_of: csr_array, weight: Singles, right: Singles, ridge: np.float32
) -> Singles:
    """Conjugate gradients with the diagonal as preconditioner, of every resample at once; no move beyond 4."""
    inverse = 1 / (ends_of @ weight + ridge)
    x, residual = np.zeros_like(right), right.copy()
    direction = inverse * residual
    power = (residual * direction).sum(axis=0)
    goal, least = ROUGHLY * power, np.float32(1e-20)
    for _ in range(CG_STEPS):
        image = add_up @ (weight * (gaps @ direction)) + ridge * direction
        length = power / np.maximum((direction * image).sum(axis=0), least)
        x += length * direction
        residual -= length * image
        scaled = inverse * residual
        after = (residual * scaled).sum(axis=0)
        if (after <= goal).all():
            break
        direction = scaled + after / np.maximum(power, least) * direction
        power = after
    return np.asarray(x * np.minimum(1, 4 / np.maximum(np.abs(x).max(axis=0), least)))


def _effects_step(
    at: _Look, by_voter: csr_array, votes: Singles, counted: Singles, off: tuple[Singles, Singles]
) -> tuple[Singles, Singles]:
    """The step of log sharpness and lapse, (n_voters, resamples) each; see `Likelihood.effects_step`."""
    prior = np.float32(1 / SPREAD_OF_SHARPNESS**2), np.float32(1 / SPREAD_OF_LAPSE**2)
    guess, turn = at.lapse * at.clear, at.q - at.p
    rates = at.slope * at.gap, guess * (1 - 2 * at.p)
    bends = (
        at.slope * at.gap * (1 + at.gap * turn),
        -2 * guess * at.p * at.q * at.gap,
        guess * (1 - 4 * at.lapse) * (1 - 2 * at.p),
    )
    pull, curve, sure = votes * at.pull, votes * at.curve, votes / (at.win * at.loss)
    pairs = ((0, 0), (1, 0), (1, 1))
    own = [counted * prior[0], np.zeros_like(counted), counted * prior[1]]
    a, c, e = (by_voter @ (curve * rates[i] * rates[j] - pull * bends[k]) + own[k] for k, (i, j) in enumerate(pairs))
    bent = 0.5 * (a + e) - np.sqrt(0.25 * (a - e) ** 2 + c * c) < CONCAVE * counted
    if bent.any():
        expected = [by_voter @ (sure * rates[i] * rates[j]) + own[k] for k, (i, j) in enumerate(pairs)]
        a, c, e = (np.where(bent, other, one) for one, other in zip((a, c, e), expected, strict=True))
    first, second = (by_voter @ (pull * rates[k]) - counted * prior[k] * off[k] for k in (0, 1))
    area = a * e - c * c
    along = (counted * (e * first - c * second) / area).sum(axis=0) / (counted**2 * e / area).sum(axis=0)
    first = first - along * counted
    step = (e * first - c * second) / area, (a * second - c * first) / area
    largest = np.maximum(*(np.abs(part).max(axis=0) for part in step))
    share = np.minimum(1, 2 / np.maximum(largest, np.float32(2)))
    return share * step[0], share * step[1]


def figures_of(models: Floats, scores: Floats) -> Floats:
    """ρ_w and τ_w of each model (k, n) with each row of scores (m, n), no ties; (2, k, m).

    As `weighted_spearman` and `weighted_kendall` have them, many at once: n² for a pair, quick for few items.
    """
    ranks = [np.argsort(np.argsort(-rows, axis=1), axis=1) + 1.0 for rows in (models, scores)]
    above = [np.sign(row[:, None] - row).astype(np.float32) for row in ranks[0]]
    found = np.empty((2, len(models), len(scores)))
    for column, other in enumerate(ranks[1]):
        agrees = np.sign(other[:, None] - other).astype(np.float32)
        for row, own in enumerate(ranks[0]):
            weight = rank_weights(own) + rank_weights(other)
            weight /= weight.sum()
            one, two = own - np.sum(weight * own), other - np.sum(weight * other)
            found[0, row, column] = np.sum(weight * one * two) / np.sqrt(
                np.sum(weight * one**2) * np.sum(weight * two**2)
            )
            light = weight.astype(np.float32)
            found[1, row, column] = np.sum(light * ((above[row] * agrees) @ light)) / (1 - np.sum(weight**2))
    return found


def _held(kind: Kind, z: Floats, protocol: str, rng: np.random.Generator) -> list[BallotVotes]:
    plan = protocol_of(protocol).plan_within(kind.items, kind.ballots, 0.5, kind.votes)
    found = simulate_campaign(z, plan, protocol=protocol, rng=rng, panel=Panel(kind.voters))
    return [BallotVotes(*Votes.of(ballot.votes)) for ballot in found.held]


def _resampled(votes: list[BallotVotes], resamples: int, exact: bool, rng: np.random.Generator) -> Resamples:
    fitted = fit_votes(votes)
    n = len(fitted.fit.effects.times)
    if exact or n == 1:  # of one voter's effects: they didn't settle
        return resample_voters(fitted.fit, joined(votes, fitted.items), resamples=resamples, rng=rng)
    times = rng.multinomial(n, np.full(n, 1 / n), size=resamples).T.astype(np.float64)
    return Resamples(fitted.fit, refit(fitted.fit, times), n)


def campaign(kind: Kind, pool: Floats, rng: np.random.Generator, resamples: int, exact: bool) -> dict[str, Any]:
    """Shares of one campaign's intervals that held, `COLUMNS`, and mean widths of those of scores and ranks."""
    z = kind.draw(pool, rng)
    truth = np.abs(z)
    score, rank = population_scores(z, rng), average_ranks(truth)
    top = rank <= 10
    moved = _resampled(_held(kind, z, Runoff.name, rng), resamples, exact, rng)
    fit = moved.fit
    own = expected_borda(fit.theta, lapse=fit.lapse)
    lower, upper = moved.borda_intervals(own)
    best, worst = moved.rank_intervals()
    held = np.array([(lower <= score) & (score <= upper), (best <= rank) & (rank <= worst)])
    normal = -ndtri((rank - 0.5) / kind.items)
    models = [normal + noise * rng.standard_normal(kind.items) for noise in NOISE]
    exactly = truth + 1e-12 * rng.random(kind.items)  # without ties
    found = figures_of(np.array([*models, fit.theta]), np.array([fit.theta, exactly, *moved.theta]))
    shares, wider = [], []
    student = float(stdtrit(kind.voters - 1, 0.95))
    for name, of in zip(FIGURES, found, strict=True):
        values, of_scores = of[:-1], of[-1, 2:]
        for pair in (False, True):
            values = values[:-1] - values[1:] if pair else values
            bands = [
                interval(
                    one[0],
                    one[2:],
                    of_scores,
                    name=name,
                    of_difference=pair,
                    n_items=kind.items,
                    n_voters=kind.voters,
                )
                for one in values
            ]
            reach = np.array([np.nan if b is None else ndtri(0.95) * b.error for b in bands])
            missed = np.array(
                [np.nan if b is None else abs(t - b.corrected) for b, t in zip(bands, values[:, 1], strict=True)]
            )
            shares.append(float(np.mean(missed <= reach)))
            wider.append(float(np.mean(missed <= reach * student / ndtri(0.95))))
    return {
        "held": [*held.mean(axis=1), *shares, *held[:, top].mean(axis=1)],
        "width": [float(np.mean(upper - lower)), float(np.mean(worst - best))],
        "figures": found[:, -1, 1].tolist(),
        "student": wider,
    }


def paper_campaign(kind: Kind, pool: Floats, rng: np.random.Generator, bounds: str) -> dict[str, Any]:
    """The same of a campaign by the paper's protocol: shares of intervals around ȳ that held, and their mean width.

    Those of an item are made when its last ballot is closed, by the votes of the ballots up to then.
    """
    z = kind.draw(pool, rng)
    score, rank = population_scores(z, rng), average_ranks(np.abs(z))
    paper, held = protocol_of("paper"), list[Held]()
    ends = np.full((2, kind.items), np.nan)
    for votes in _held(kind, z, "paper", rng):
        scored = paper.score(votes, held)
        held.append(Held(votes, scored))
        columns = paper.intervals([ballot.votes for ballot in held], scored, 0.9, rng, bounds=bounds).columns
        ends[:, scored.items] = columns["lower"], columns["upper"]
    inside = (ends[0] <= score) & (score <= ends[1])
    found = paper.field(held).rank_by
    return {
        "held": [float(np.mean(inside)), float(np.mean(inside[rank <= 10]))],
        "width": [float(np.nanmean(ends[1] - ends[0]))],
        "figures": [weighted_spearman(found, np.abs(z)), weighted_kendall(found, np.abs(z))],
    }


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--campaigns", "n", default=60, show_default=True, help="Of each cell.")
@click.option("--seed", default=29_401, show_default=True)
@click.option("--cell", "cells", multiple=True, type=int, help="Only this cell, from 0. Repeatable.")
@click.option("--protocol", type=click.Choice(list(COLUMNS)), default="runoff", show_default=True)
@click.option("--bounds", type=click.Choice([FITTED, WIDENED]), default=FITTED, help="Of paper: today's, or 0.9's.")
@click.option("--student", is_flag=True, help="Of runoff: ρ_w and τ_w drawn out by Student's quantile too.")
@click.option("--resamples", default=100, show_default=True, help="The program takes 300 for scores and ranks.")
@click.option("--exact", is_flag=True, help="The program's own refits, one by one.")
@click.option("--seconds", default=500.0, show_default=True, help="No campaign is begun after so many.")
def main(
    folder: Path,
    n: int,
    seed: int,
    cells: tuple[int, ...],
    protocol: str,
    bounds: str,
    student: bool,
    resamples: int,
    exact: bool,
    seconds: float,
) -> None:
    """Simulate the campaigns that FOLDER lacks, one of each at a time, and print how often 90% intervals held."""
    pool, start = read_similarities(DEMO), time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    chosen = cells or tuple(range(len(CELLS)))
    how = f"{bounds}-{seed}" if protocol == "paper" else f"{resamples}{'-exact' * exact}-{seed}"
    paths = {cell: folder / f"{'-'.join(map(str, CELLS[cell]))}-{protocol}-{how}.jsonl" for cell in chosen}
    for number in range(n):
        for cell, path in paths.items():
            there = path.read_text().count("\n") if path.exists() else 0
            if there > number or time.monotonic() - start > seconds:
                continue
            kind = Kind(SIMILARITIES[number % 3], *CELLS[cell])
            rng = np.random.default_rng((seed, number, cell))
            if protocol == "paper":
                found = paper_campaign(kind, pool, rng, bounds)
            else:
                found = campaign(kind, pool, rng, resamples, exact)
            with path.open("a") as file:
                file.write(json.dumps(found) + "\n")
    columns = " | ".join(COLUMNS[protocol])
    click.echo(f"| | campaigns | {columns} | ρ_w, τ_w of the scores |\n" + "|---" * (3 + len(COLUMNS[protocol])) + "|")
    for cell, path in paths.items():
        rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        if len(rows) < 2:
            continue
        held = np.array([row["held"] for row in rows])
        if student:
            held[:, 2:6] = [row["student"] for row in rows]
        error = held.std(axis=0, ddof=1) / np.sqrt(len(rows))
        accuracy = np.mean([row["figures"] for row in rows], axis=0)
        size, ballots, votes, voters = CELLS[cell]
        shares = " | ".join(f"{m:.3f} ± {e:.3f}" for m, e in zip(held.mean(axis=0), error, strict=True))
        click.echo(
            f"| {size} items, {votes:,} votes, {voters} voters, {ballots} ballots | {len(rows)} | {shares} "
            f"| {accuracy[0]:.3f}, {accuracy[1]:.3f} |"
        )


if __name__ == "__main__":
    main()
