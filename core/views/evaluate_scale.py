"""The floor and the top of a table of embeddings: random rankings and spellings; halves of the voters, the ceiling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from .. import reliability
from ..errors import InputError, RunoffError
from ..evaluation import evaluate
from ..evaluation.baselines import SPELLINGS, Spelling, random_ranking
from ..evaluation.chance import shares_of
from ..progress import Progress
from ..scores.fit import fit_votes
from ..scores.reliability import Agreement
from ..store import Store
from ..store.rankings import read_rankings
from .draws import closed_votes
from .evaluate import FIGURES, EvaluateView
from .evaluate_tokens import seeded

RANDOM, HALVES = "a random ranking", "half of the voters against the other"
CEILING = "a perfect model"
NO_SHARE = "No share from chance to the best that the votes allow:"
SHARE = "share"  # of a figure's name, in tables: from chance to the best that the votes allow
SPELLING = "spelling: "


@dataclass(frozen=True)
class Scale:
    """`floor` has a row a baseline with the figures, and bounds of the random one's ρ_w; `top` a row a yardstick with
    ρ_w and τ_w, lower and upper of each (middle 90 % of its draws); `problems` say what can't be told."""

    floor: pd.DataFrame
    top: pd.DataFrame
    problems: tuple[str, ...] = ()

    @property
    def ceilings(self) -> dict[str, float]:
        """What a perfect model gets, by figure; empty where nothing can be said."""
        rows = self.top[self.top["model"] == CEILING] if len(self.top) else self.top
        return {key: float(rows[label].iloc[0]) for key, label in FIGURES[:2] if len(rows)}

    def band(self, label: str) -> tuple[float, float] | None:
        """Between what bounds nine of ten random rankings are in one figure."""
        rows = self.floor[self.floor["model"] == RANDOM] if len(self.floor) else self.floor
        if not len(rows) or np.isnan(rows[f"{label} lower"].iloc[0]):
            return None
        return float(rows[f"{label} lower"].iloc[0]), float(rows[f"{label} upper"].iloc[0])


def load_floor(store: Store, project_id: str, view: EvaluateView, *, progress: Progress | None = None) -> Scale:
    """Baselines over all items of the dataset; `progress` is told how many of them are measured."""
    columns = ["model", *(column for _, label in FIGURES for column in (label, f"{label} lower", f"{label} upper"))]
    if view.compared is None:
        return Scale(pd.DataFrame(columns=columns), pd.DataFrame())
    pairs, first = view.evaluations[0].pairs, view.evaluations[0]
    top, problems = first.overall.top, []
    drawn = random_ranking(pairs, n0=view.n0, top=top, apart=view.ranked_apart, rng=seeded(store, project_id, 3))
    rows = [_row(RANDOM, drawn.expected)]
    try:
        for name in SPELLINGS:
            if progress is not None:
                progress(len(rows), 1 + len(SPELLINGS))
            found = evaluate(view.dataset, Spelling(name), n0=view.n0, notion="similarity", top=top)
            rows.append(_row(f"{SPELLING}{name}", found.overall))
    except InputError as error:
        problems.append(str(error))
    return Scale(pd.DataFrame(rows, columns=columns), pd.DataFrame(), tuple(problems))


def _row(name: str, figures: object) -> list:
    found = [getattr(figures, key) for key, _ in FIGURES]
    values = [value for figure in found for value in (figure.estimate, figure.lower, figure.upper)]
    return [name, *(np.nan if value is None else value for value in values)]


def load_top(store: Store, project_id: str, n0: float, *, progress: Progress | None = None) -> Scale:
    """ρ_w and τ_w of halves of the voters against each other, and of a perfect model, with the offset n₀.

    Where each area has a ranking of its own, the means over areas. A second for 20,000 votes; `progress` is told how
    far it is.
    """
    problems: list[str] = []
    kinds: dict[str, list[np.ndarray]] = {HALVES: [], CEILING: []}
    rankings = read_rankings(store, project_id)
    for number, ranking in enumerate(rankings):
        ballots, votes = closed_votes(store, project_id, ranking.area_id)
        if not ballots:
            continue

        metric = partial(reliability.both_weighted, n0=n0)
        made: dict[str, tuple[Callable[..., Agreement], int]] = {
            HALVES: (reliability.halves, reliability.HALVES_SEED),
            CEILING: (reliability.ceiling, reliability.CEILING_SEED),
        }
        try:
            fitted = fit_votes(votes)
            for place, (name, (of, seed)) in enumerate(made.items()):
                if progress is not None:
                    progress(number + place / len(made), len(rankings))
                rng = np.random.default_rng([ballots[-1].seed, seed])
                kinds[name].append(of(votes, ballots[-1].protocol, fitted, metric=metric, rng=rng).values)
        except RunoffError as error:
            problems.append(f"{ranking.area}: {error}" if ranking.area else str(error))
    rows = []
    for name, parts in kinds.items():
        if parts and not problems:
            values = np.mean([part[: min(map(len, parts))] for part in parts], axis=0)
            ends = np.quantile(values, [0.05, 0.95], axis=0)
            rows.append((name, *np.vstack([values.mean(axis=0), ends]).T.ravel().tolist()))
    columns = [f"{label}{end}" for _, label in FIGURES[:2] for end in ("", " lower", " upper")]
    return Scale(pd.DataFrame(), pd.DataFrame(rows, columns=["model", *columns]), tuple(problems))


def with_shares(view: EvaluateView, top: Scale) -> tuple[EvaluateView, tuple[str, ...]]:
    """The view with the shares of ρ_w and τ_w beside them, overall and over common items, and why some are blank.

    The ceiling is that of all items. Without any the view is as it was, and the reasons say why there is none.
    """
    compared, ceilings = view.compared, top.ceilings
    if compared is None or not ceilings:
        return view, tuple(f"{NO_SHARE} {problem}" for problem in top.problems)
    tables, reasons = {"overall": view.overall, "common": view.common}, []
    for name, found in shares_of(compared, ceilings).items():
        if not len(tables[name]):
            continue
        for key, label in FIGURES[:2]:
            column = f"{label} {SHARE}"
            values = [np.nan if (value := of[key].value) is None else value for of in found]
            place = list(tables[name].columns).index(label) + 1
            tables[name] = tables[name].copy()
            tables[name].insert(place, column, values)
            named = zip(compared.names, found, strict=True)
            reasons += [f"{model}, {column}: {of[key].reason}" for model, of in named if of[key].reason]
    return replace(view, overall=tables["overall"], common=tables["common"]), tuple(dict.fromkeys(reasons))
