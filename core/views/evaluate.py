"""What the evaluate page shows: every embedding of the project against its dataset."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from ..evaluation import Correlations, Evaluation, evaluate
from ..metrics import first_rank_share
from ..store import Store
from ..store.library import open_library, read_embeddings
from ..store.scores import read_dataset

FIGURES = (("rho_w", "ρ_w"), ("tau_w", "τ_w"), ("rho", "ρ"), ("tau", "τ"))


@dataclass(frozen=True)
class EvaluateView:
    """The evaluations, and a table with a row an embedding and area (area "all" is the whole dataset)."""

    dataset: pd.DataFrame
    evaluations: tuple[Evaluation, ...]
    table: pd.DataFrame
    undefined: tuple[str, ...]
    n0: float
    notion: str
    first_rank_share: float

    @property
    def different_items(self) -> bool:
        """The embeddings cover different items, so their figures don't compare directly."""
        covered = [frozenset(e.pairs.index[e.pairs["cosine"].notna()]) for e in self.evaluations]
        return len(set(covered)) > 1


def load(store: Store, project_id: str, n0: float, notion: str) -> EvaluateView:
    """Evaluate all embeddings of a project with the offset n₀ under a notion (relatedness or similarity)."""
    dataset = read_dataset(store, project_id)
    evaluations = []
    if len(dataset):
        for imported in read_embeddings(store, project_id):
            embedding = open_library(store, imported.id)
            evaluation = evaluate(dataset, embedding, n0=n0, notion=notion)
            evaluations.append(replace(evaluation, model=imported.name))
    rows, undefined = [], []
    for evaluation in evaluations:
        for area, figures in {"all": evaluation.overall, **evaluation.areas}.items():
            rows.append(_row(evaluation.model, area, figures))
            undefined += _reasons(evaluation.model, area, figures)
    table = pd.DataFrame(rows, columns=["embedding", "area", "items", "covered", "coverage", *dict(FIGURES).values()])
    return EvaluateView(dataset, tuple(evaluations), table, tuple(undefined), n0, notion, first_rank_share(n0))


def _row(model: str, area: str, figures: Correlations) -> tuple:
    values = [getattr(figures, name).estimate for name, _ in FIGURES]
    return (model, area, figures.n_items, figures.n_covered, figures.coverage, *values)


def _reasons(model: str, area: str, figures: Correlations) -> list[str]:
    reasons = dict.fromkeys(
        figure.reason for name, _ in FIGURES if (figure := getattr(figures, name)).estimate is None and figure.reason
    )
    return [f"{model}, {area}: {reason}" for reason in reasons]
