"""`python -m bench.token_coverage`: how often intervals over tokens hold, and whether the tokens named as needed are.

Each seed draws tokens from a population: vectors that people go by, and two models' vectors that differ from them by
noise; what is to be held is the mean of a figure over samples of as many tokens, those of the seeds and others. Groups
of tokens ("clusters") belong to the population, so they are the same in each sample. The cases "demo" draw words of the
demo's embedding: people go by all 50 dimensions, the models by the first or the last of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np
import pandas as pd
from scipy.stats import binom

from core.embeddings import load
from core.evaluation import correlations
from core.evaluation.figures import NAMES, FigureSettings
from core.evaluation.token_intervals import LEVEL, PairwiseDifference, TokenDraws, by_tokens, draw_tokens, times_needed

LOW, HIGH = 0.86, 0.94
DEMO = Path(__file__).resolve().parents[1] / "data" / "demo.bin"


@dataclass(frozen=True)
class Case:
    """Tokens of some areas, the dimensions they differ in (0: the demo's words), and what the models do to them.

    clusters : how far groups of tokens lie apart; models : noise of each model's vectors, or the share of dimensions
    it sees; item_noise : standard deviation of what people's scores hold beyond the tokens' cosines.
    """

    name: str
    areas: int
    tokens: int
    dimensions: int
    models: tuple[float, float]
    clusters: float = 0.0
    item_noise: float = 0.0
    notion: str = "relatedness"


CASES = (
    Case("30 tokens", 1, 30, 10, (0.5, 0.7), notion="similarity"),
    Case("demo, 30 tokens", 1, 30, 0, (0.5, 0.6)),
    Case("45 tokens", 1, 45, 50, (0.7, 0.9)),
    Case("45 tokens, clusters, noisy scores", 1, 45, 20, (0.3, 0.5), 1.0, 0.25),
    Case("demo, 45 tokens", 1, 45, 0, (0.7, 0.5), notion="similarity"),
    Case("4 areas × 20, weak models", 4, 20, 10, (0.7, 0.9)),
    Case("4 areas × 20, good models, clusters", 4, 20, 20, (0.3, 0.4), 1.0, notion="similarity"),
    Case("demo, 4 areas × 20", 4, 20, 0, (0.5, 0.6)),
    Case("20 tokens", 1, 20, 10, (0.5, 0.7), item_noise=0.08, notion="similarity"),
    Case("15 tokens", 1, 15, 10, (0.4, 0.8)),
    Case("demo, 20 tokens", 1, 20, 0, (0.5, 0.6), notion="similarity"),
    Case("4 areas × 15", 4, 15, 10, (0.5, 0.9)),
    Case("2 areas × 30, clusters", 2, 30, 20, (0.4, 0.7), 1.0, notion="similarity"),
    Case("80 tokens", 1, 80, 30, (0.4, 0.7), item_noise=0.1),
    Case("demo, 80 tokens", 1, 80, 0, (0.6, 0.5)),
    Case("120 tokens", 1, 120, 30, (0.5, 0.8), notion="similarity"),
    Case("100 tokens, noisy scores", 1, 100, 30, (0.5, 0.7), item_noise=0.15),
    Case("2 areas × 50, clusters", 2, 50, 20, (0.4, 0.8), 1.0),
    Case("200 tokens", 1, 200, 30, (0.4, 0.6)),
)
POWER = (
    (Case("of 20 tokens", 1, 20, 10, (0.5, 1.0)), "rho"),
    (Case("of 30 tokens", 1, 30, 10, (0.5, 1.3)), "rho_w"),
)


def sample(case: Case, demo: np.ndarray, rng: np.random.Generator) -> tuple[pd.DataFrame, list[np.ndarray]]:
    """The items of fresh tokens with people's scores, and what the two models say."""
    parts, said = [], []
    for area in range(case.areas):
        people, *models = _vectors(case, area, demo, rng)
        a, b = np.triu_indices(case.tokens, 1)
        scores, *values = (_cosines(vectors, a, b) for vectors in (people, *models))
        scores = scores + case.item_noise * rng.standard_normal(len(a))
        names = np.array([f"{area}-{number}" for number in range(case.tokens)], dtype=object)
        parts.append(pd.DataFrame({"area": str(area), "token_a": names[a], "token_b": names[b], "score": scores}))
        said.append(values)
    pairs = pd.concat(parts, ignore_index=True)
    models_said = [np.concatenate(values) for values in zip(*said, strict=True)]
    if case.notion == "relatedness":
        return pairs.assign(score=pairs["score"].abs()), [np.abs(values) for values in models_said]
    return pairs, models_said


def _vectors(case: Case, area: int, demo: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
    if not case.dimensions:
        tokens = demo[rng.choice(len(demo), case.tokens, replace=False)]
        yield tokens
        yield tokens[:, : round(case.models[0] * tokens.shape[1])]
        yield tokens[:, round((1 - case.models[1]) * tokens.shape[1]) :]
        return
    scale = np.arange(1, case.dimensions + 1) ** -0.5
    # The kinds of tokens belong to the population, so that they are the same in every sample.
    centres = np.random.default_rng([5, area]).standard_normal((8, case.dimensions)) * scale
    tokens = rng.standard_normal((case.tokens, case.dimensions)) * scale
    tokens = tokens + case.clusters * centres[rng.integers(8, size=case.tokens)]
    yield tokens
    for noise in case.models:
        yield tokens + noise * rng.standard_normal(tokens.shape) * scale


def _cosines(vectors: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return (units @ units.T)[a, b]


def estimates(case: Case, demo: np.ndarray, n: int, names: Sequence[str]) -> np.ndarray:
    """The figures of both models by `n` samples of their own: shape (n, 2, figures)."""
    found = []
    for number in range(n):
        pairs, models = sample(case, demo, np.random.default_rng([number, 13]))
        scores = pairs["score"].to_numpy()
        by_model = [correlations(scores, values, names=names) for values in models]
        found.append([[getattr(figures, name).estimate for name in names] for figures in by_model])
    return np.array(found)


def coverage(
    case: Case, demo: np.ndarray, seeds: range, resamples: int, others: int, names: Sequence[str] = NAMES
) -> np.ndarray:
    """The share of intervals that hold: shape (3, figures), of both models and of their difference.

    What is to be held comes from the seeds' own samples and from `others` more.
    """
    draws: list[TokenDraws] = []
    for seed in seeds:
        rng = np.random.default_rng([seed, 11])
        pairs, models = sample(case, demo, rng)
        draws.append(draw_tokens(pairs, models, FigureSettings(tuple(names)), resamples=resamples, rng=rng))
    more = estimates(case, demo, others, names)
    held = np.zeros((3, len(names)))
    for column, name in enumerate(names):
        every = np.concatenate([np.array([drawn.estimates[name] for drawn in draws]), more[:, :, column]])
        truth = [*every.mean(axis=0), (every[:, 0] - every[:, 1]).mean()]
        for drawn in draws:
            found = [drawn.interval(name, 0), drawn.interval(name, 1), drawn.interval(name, 0, 1)]
            for row, (bounds, value) in enumerate(zip(found, truth, strict=True)):
                held[row, column] += bounds is not None and bounds.lower <= value <= bounds.upper
    return held / len(draws)


def by_chance(n: int) -> float:
    """How probably intervals that hold in 90% do so in 86 to 94% of n samples."""
    least, most = np.ceil(LOW * n - 1e-9), np.floor(HIGH * n + 1e-9)
    return float(binom.cdf(most, n, LEVEL) - binom.cdf(least - 1, n, LEVEL))


def summary(shares: np.ndarray, n: int) -> str:
    """How many shares of n samples lie where exact intervals' would, and from where to where they go."""
    rounded = np.round(shares, 9)
    inside, above = int(np.sum((rounded >= LOW) & (rounded <= HIGH))), int(np.sum(rounded > HIGH))
    return (
        f"{inside} of {len(shares)} shares from {LOW:.0%} to {HIGH:.0%}, {above} above; they go from "
        f"{shares.min():.1%} to {shares.max():.1%}. Of exact intervals {by_chance(n):.0%} would be inside."
    )


def power(case: Case, figure: str, demo: np.ndarray, seeds: range, resamples: int) -> tuple[int, float]:
    """How many tokens are named as needed, by the typical difference and error, and how often so many tell apart."""
    found = [_told(case, figure, demo, seed, resamples) for seed in seeds]
    error = float(np.median([told.error for told in found]))
    times = times_needed(float(np.mean([told.difference for told in found])), error)
    more = replace(case, tokens=round(case.tokens * times))
    apart = [_told(more, figure, demo, -1 - seed, resamples).is_apart for seed in seeds]
    return more.tokens * case.areas, float(np.mean(apart))


def _told(case: Case, figure: str, demo: np.ndarray, seed: int, resamples: int) -> PairwiseDifference:
    rng = np.random.default_rng([abs(seed), 12 + (seed < 0)])
    pairs, models = sample(case, demo, rng)
    (told,) = by_tokens(
        "ab", draw_tokens(pairs, models, FigureSettings((figure,)), resamples=resamples, rng=rng), figure
    )
    return told


@click.command()
@click.option("--seeds", default=200, show_default=True, help="Samples of tokens a case.")
@click.option("--first", default=1, show_default=True, help="The first seed.")
@click.option("--resamples", default=150, show_default=True)
@click.option("--others", default=400, show_default=True, help="Samples more that say what is to be held.")
@click.option("--case", "cases", multiple=True, help="Only these cases. Repeatable.")
@click.option("--figure", "figures", multiple=True, type=click.Choice(NAMES), help="Only these. Repeatable.")
@click.option("--power/--no-power", "with_power", default=True, help="Whether the tokens needed are looked at too.")
def main(
    seeds: int,
    first: int,
    resamples: int,
    others: int,
    cases: tuple[str, ...],
    figures: tuple[str, ...],
    with_power: bool,
) -> None:
    """Print how often 90% intervals over tokens hold, in percent: first model, second model, difference."""
    names = figures or NAMES
    embedding = load(DEMO)
    demo = embedding.vectors(embedding.vocabulary.to_pylist()[200:12_000]).astype(np.float64)
    every = range(first, first + seeds)
    click.echo("case | " + " | ".join(names) + " | mean")
    every_share: list[np.ndarray] = []
    for case in [each for each in CASES if not cases or each.name in cases]:
        held = coverage(case, demo, every, resamples, others, names)
        every_share.append(held)
        cells = (" ".join(f"{share:3.0%}" for share in column) for column in held.T)
        click.echo(f"{case.name} | {' | '.join(cells)} | {held.mean():.1%}")
    shares = np.array(every_share)
    click.echo("mean | " + " | ".join(f"{share:.1%}" for share in shares.mean(axis=(0, 1))) + f" | {shares.mean():.1%}")
    click.echo(summary(shares.ravel(), seeds))
    for case, figure in POWER if with_power else ():
        n_tokens, share = power(case, figure, demo, range(first, first + max(seeds // 2, 2)), resamples)
        click.echo(f"{case.name}, {figure}: {n_tokens} tokens are named, and tell the two apart in {share:.0%}")


if __name__ == "__main__":
    main()
