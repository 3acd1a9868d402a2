"""The floor and the top of a table of embeddings: random rankings and spellings; halves of the voters, the ceiling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import metrics, reliability
from ..errors import InputError, RunoffError
from ..evaluation import evaluate
from ..evaluation.baselines import SPELLINGS, Spelling, random_ranking
from ..runoff import fit_votes
from ..scores.reliability import Agreement
from ..store import Store
from ..store.rankings import read_rankings
from .draws import closed_votes
from .evaluate import FIGURES, EvaluateView
from .evaluate_tokens import seeded

RANDOM, HALVES = "a random ranking", "half of the voters against the other"
CEILING = "a perfect model"
SPELLING = "spelling: "


@dataclass(frozen=True)
class Scale:
    """`floor` has a row a baseline with the figures, and bounds of the random one's ρ_w; `top` a row a yardstick with
    ρ_w, lower and upper (middle 90 % of its draws); `problems` say what can't be told."""

    floor: pd.DataFrame
    top: pd.DataFrame
    problems: tuple[str, ...] = ()

    def band(self, label: str) -> tuple[float, float] | None:
        """Between what bounds nine of ten random rankings are in one figure."""
        rows = self.floor[self.floor["model"] == RANDOM] if len(self.floor) else self.floor
        if not len(rows) or np.isnan(rows[f"{label} lower"].iloc[0]):
            return None
        return float(rows[f"{label} lower"].iloc[0]), float(rows[f"{label} upper"].iloc[0])


def load_floor(store: Store, project_id: str, view: EvaluateView) -> Scale:
    """Baselines over all items of the dataset."""
    columns = ["model", *(column for _, label in FIGURES for column in (label, f"{label} lower", f"{label} upper"))]
    if view.compared is None:
        return Scale(pd.DataFrame(columns=columns), pd.DataFrame())
    pairs, first = view.evaluations[0].pairs, view.evaluations[0]
    top, problems = first.overall.top, []
    drawn = random_ranking(pairs, n0=view.n0, top=top, apart=view.ranked_apart, rng=seeded(store, project_id, 3))
    rows = [_row(RANDOM, drawn.expected)]
    try:
        for name in SPELLINGS:
            found = evaluate(view.dataset, Spelling(name), n0=view.n0, notion="similarity", top=top)
            rows.append(_row(f"{SPELLING}{name}", found.overall))
    except InputError as error:
        problems.append(str(error))
    return Scale(pd.DataFrame(rows, columns=columns), pd.DataFrame(), tuple(problems))


def _row(name: str, figures: object) -> list:
    found = [getattr(figures, key) for key, _ in FIGURES]
    values = [value for figure in found for value in (figure.estimate, figure.lower, figure.upper)]
    return [name, *(np.nan if value is None else value for value in values)]


def load_top(store: Store, project_id: str, n0: float) -> Scale:
    """ρ_w of halves of the voters against each other, and of a perfect model, with the offset n₀.

    Where each area has a ranking of its own, the means over areas. A second for 20,000 votes.
    """
    problems: list[str] = []
    kinds: dict[str, list[np.ndarray]] = {HALVES: [], CEILING: []}
    for number, ranking in enumerate(read_rankings(store, project_id)):
        ballots, votes = closed_votes(store, project_id, ranking.area_id)
        if not ballots:
            continue

        def metric(x: np.ndarray, y: np.ndarray) -> float:
            return metrics.weighted_spearman(x, y, n0=n0)

        made: dict[str, Callable[..., Agreement]] = {HALVES: reliability.halves, CEILING: reliability.ceiling}
        try:
            fitted = fit_votes(votes)
            for place, (name, of) in enumerate(made.items()):
                rng = np.random.default_rng([ballots[-1].seed, 6 + place, number])
                kinds[name].append(of(votes, ballots[-1].protocol, fitted, metric=metric, rng=rng).values)
        except RunoffError as error:
            problems.append(f"{ranking.area}: {error}" if ranking.area else str(error))
    rows = []
    for name, parts in kinds.items():
        if parts and not problems:
            values = np.mean([part[: min(map(len, parts))] for part in parts], axis=0)
            lower, upper = np.quantile(values, [0.05, 0.95])
            rows.append((name, float(values.mean()), float(lower), float(upper)))
    top = pd.DataFrame(rows, columns=["model", "ρ_w", "ρ_w lower", "ρ_w upper"])
    return Scale(pd.DataFrame(), top, tuple(problems))
