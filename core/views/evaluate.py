"""What the evaluate page shows: every embedding of the project against its dataset."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from ..evaluation import Correlations, Evaluation, compare
from ..metrics import first_rank_share
from ..store import Store
from ..store.library import open_library, read_embeddings
from ..store.scores import read_dataset

FIGURES = (("rho_w", "ρ_w"), ("tau_w", "τ_w"), ("rho", "ρ"), ("tau", "τ"))


@dataclass(frozen=True)
class EvaluateView:
    """The evaluations, and a table with a row an embedding and area (area "all" is the whole dataset).

    `common` has a row an embedding over the items that all of them cover; it is empty where each covers the same.
    """

    dataset: pd.DataFrame
    evaluations: tuple[Evaluation, ...]
    table: pd.DataFrame
    common: pd.DataFrame
    undefined: tuple[str, ...]
    n0: float
    notion: str
    first_rank_share: float


def load(store: Store, project_id: str, n0: float, notion: str) -> EvaluateView:
    """Evaluate all embeddings of a project with the offset n₀ under a notion (relatedness or similarity)."""
    dataset = read_dataset(store, project_id)
    rows: list[tuple] = []
    common: list[tuple] = []
    undefined: list[str] = []
    evaluations: tuple[Evaluation, ...] = ()
    imported = read_embeddings(store, project_id)
    if len(dataset) and imported:
        compared = compare(dataset, (open_library(store, e.id) for e in imported), n0=n0, notion=notion)
        named = zip(compared.evaluations, imported, strict=True)
        evaluations = tuple(replace(evaluation, model=e.name) for evaluation, e in named)
        for evaluation in evaluations:
            for area, figures in {"all": evaluation.overall, **evaluation.areas}.items():
                rows.append(_row(evaluation.model, area, figures))
                undefined += _reasons(evaluation.model, area, figures)
        if not compared.is_even:
            common = [_row(e.name, "common", f) for e, f in zip(imported, compared.common, strict=True)]
    return EvaluateView(
        dataset, evaluations, _table(rows), _table(common), tuple(undefined), n0, notion, first_rank_share(n0)
    )


def _table(rows: list[tuple]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["embedding", "area", "items", "covered", "coverage", *dict(FIGURES).values()])


def _row(model: str, area: str, figures: Correlations) -> tuple:
    values = [getattr(figures, name).estimate for name, _ in FIGURES]
    return (model, area, figures.n_items, figures.n_covered, figures.coverage, *values)


def _reasons(model: str, area: str, figures: Correlations) -> list[str]:
    reasons = dict.fromkeys(
        figure.reason for name, _ in FIGURES if (figure := getattr(figures, name)).estimate is None and figure.reason
    )
    return [f"{model}, {area}: {reason}" for reason in reasons]
