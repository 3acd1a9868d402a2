"""`python -m bench.interval_coverage FOLDER`: how often intervals of ρ_w and τ_w hold the truth, on simulated voters.

The paper's setting: 990 items, seven ballots, α = ½, 100 voters (Lombardo et al. 2020, section 4.2). Each campaign is
compared with eight models whose true ρ_w is about .13 to .97: normal scores of the true ranks plus normal noise. Its
figures are written to FOLDER, one file a campaign; files that are there are not made again, so that a run may be broken
off, and rules be compared without it. Campaign s of v votes has the seed (seed, v, s). --similarity NAME=FILE adds the
similarities in the last column of a CSV file. Differences are of each model and the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bench.runoff_table import PAPER, read_similarities
from core.evaluation.vote_intervals import interval
from core.metrics import average_ranks, weighted_kendall, weighted_spearman
from core.protocols.runoff import Runoff, spread_appearances
from core.scores.uncertainty import resample_voters
from core.simulation import simulate_campaign
from core.voters.model import Panel, draw_panel, exponential, power_law

Floats = NDArray[np.float64]

NOISE = (0.21, 0.3, 0.4, 0.5, 0.6, 0.75, 0.95, 1.25)  # of the models
METRICS = (weighted_spearman, weighted_kendall)


def figures_of(similarity: Floats, n_comparisons: int, seed: tuple[int, ...], resamples: int) -> dict[str, Floats]:
    """One campaign of the protocol "runoff".

    truth, estimate : ρ_w and τ_w of each model with the true ranking and with the scores, (2, models); drawn : the same
    with each resample, (2, models, resamples); own : of the scores with each resample, (2, resamples); ceiling : of the
    scores with the truth, (2,).
    """
    rng = np.random.default_rng(seed)
    truth = np.abs(similarity)
    voters = draw_panel(Panel(100), rng)
    plan = spread_appearances(len(truth), 7, 0.5, n_comparisons)
    held = simulate_campaign(similarity, plan, protocol=Runoff.name, rng=rng, panel=voters).held
    fit = Runoff().field(held).state.fit
    normal = -ndtri((average_ranks(truth) - 0.5) / len(truth))
    models = [normal + noise * rng.standard_normal(len(truth)) for noise in NOISE]
    votes = fit.likelihood.data
    drawn = resample_voters(
        fit, (votes.one, votes.other, votes.points, votes.voter), resamples=resamples, rng=rng
    ).theta
    return {
        "truth": np.array([[metric(truth, model) for model in models] for metric in METRICS]),
        "estimate": np.array([[metric(fit.theta, model) for model in models] for metric in METRICS]),
        "drawn": np.array([[[metric(theta, model) for theta in drawn] for model in models] for metric in METRICS]),
        "own": np.array([[metric(theta, fit.theta) for theta in drawn] for metric in METRICS]),
        "ceiling": np.array([metric(truth, fit.theta) for metric in METRICS]),
        "n_votes": np.array(len(votes.one)),
        "theta": fit.theta.astype(np.float32),
        "thetas": drawn.astype(np.float32),
        "models": np.array(models, dtype=np.float32),
        "surprise": np.array([fit.likelihood.cost(), entropy(fit.likelihood.win)]),
    }


def entropy(chance: Floats) -> float:
    """Minus the log-likelihood that votes of these chances are expected to have."""
    return float(-np.sum(chance * np.log(chance) + (1 - chance) * np.log(1 - chance)))


def campaigns(
    folder: Path, similarities: dict[str, Floats], votes: tuple[int, ...], seed: int, numbers: range, resamples: int
) -> Iterator[Path]:
    """The files of all campaigns, those that are missing made first; one number after the other, so that a run that is
    broken off has as many of each."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        for n_comparisons in votes:
            for name, similarity in similarities.items():
                path = folder / f"{name}-{n_comparisons}-{seed}-{number}.npz"
                if not path.exists():
                    found: dict[str, Any] = figures_of(
                        similarity, n_comparisons, (seed, n_comparisons, number), resamples
                    )
                    np.savez(path.with_suffix(".part.npz"), **found)
                    path.with_suffix(".part.npz").rename(path)
                yield path


@dataclass(frozen=True)
class Coverage:
    """Shares of intervals that held the truth: of the rule by model, of reflected percentiles, of percentiles."""

    held: Floats
    reflected: float
    percentile: float

    @classmethod
    def of(cls, found: list[dict[str, Floats]], row: int, *, of_difference: bool) -> Coverage:
        """Over campaigns; row 0 is ρ_w, 1 is τ_w."""
        hits, others = [], []
        for one in found:
            truth, estimate, drawn = one["truth"][row], one["estimate"][row], one["drawn"][row]
            if of_difference:
                truth, estimate, drawn = (part[:-1] - part[1:] for part in (truth, estimate, drawn))
            tails = np.quantile(drawn, (0.05, 0.95), axis=1)
            mirrored = 2 * estimate - tails[::-1]
            others.append([(low <= truth) & (truth <= high) for low, high in (mirrored, tails)])
            for number, values in enumerate(zip(estimate, drawn, strict=True)):
                bounds = interval(*values, one["own"][row], name=("rho_w", "tau_w")[row], of_difference=of_difference)
                hits.append(bounds is not None and bounds.lower <= truth[number] <= bounds.upper)
        return cls(np.reshape(hits, (len(found), -1)).mean(axis=0), *np.mean(others, axis=(0, 2)).tolist())


def table(paths: list[Path]) -> Iterator[str]:
    """The lines of the table in docs/runoff.md, one for each similarity and number of votes."""
    figures = "ρ_w | … by model | difference of two ρ_w | τ_w | … by model | difference of two τ_w"
    yield f"| | campaigns | {figures} | reflected, ρ_w / τ_w | percentile, ρ_w / τ_w |"
    yield "|---" * 10 + "|"
    kinds: dict[tuple[str, ...], list[Path]] = {}
    for path in paths:
        kinds.setdefault(tuple(path.stem.rsplit("-", 3)[:2]), []).append(path)
    for (name, _), of_kind in kinds.items():
        found = [dict(np.load(path)) for path in of_kind]
        cells, plain = [f"{name}, {int(found[0]['n_votes']):,} votes", f"{len(found)}"], []
        for row in (0, 1):
            single, pair = (Coverage.of(found, row, of_difference=of_pair) for of_pair in (False, True))
            by_model = " ".join(f"{share:.2f}".removeprefix("0") for share in single.held)
            cells += [f"{single.held.mean():.3f}", by_model, f"{pair.held.mean():.3f}"]
            plain.append(single)
        cells += [" / ".join(f"{part.reflected:.2f}" for part in plain)]
        cells += [" / ".join(f"{part.percentile:.2f}" for part in plain)]
        yield f"| {' | '.join(cells)} |"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--similarity", "files", multiple=True, help="NAME=FILE.csv")
@click.option("--votes", multiple=True, type=int, default=(PAPER, PAPER // 2), show_default=True)
@click.option("--campaigns", "n", default=200, show_default=True, help="Of each kind.")
@click.option("--first", default=0, show_default=True, help="Number of the first campaign.")
@click.option("--seed", default=90_001, show_default=True)
@click.option("--resamples", default=60, show_default=True)
def main(
    folder: Path, files: tuple[str, ...], votes: tuple[int, ...], n: int, first: int, seed: int, resamples: int
) -> None:
    """Simulate the campaigns that FOLDER lacks, and print how often intervals held the truth."""
    similarities = {"exponential": exponential(990), "power law": power_law(990)}
    similarities |= {name: read_similarities(Path(path)) for name, _, path in (file.partition("=") for file in files)}
    paths = list(campaigns(folder, similarities, votes, seed, range(first, first + n), resamples))
    click.echo("\n".join(table(sorted(paths, key=lambda path: path.name))))


if __name__ == "__main__":
    main()
