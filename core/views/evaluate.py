"""What the evaluate page shows: every embedding of the project against its dataset."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from ..embeddings import Embedding
from ..errors import RunoffError
from ..evaluation import Correlations, Evaluation, compare
from ..metrics import first_rank_share
from ..store import Store
from ..store.library import embeddings_of, open_library
from ..store.scores import dataset_of

FIGURES = (("rho_w", "ρ_w"), ("tau_w", "τ_w"), ("rho", "ρ"), ("tau", "τ"))
_COLUMNS = ["embedding", "area", "items", "covered", "coverage", *dict(FIGURES).values()]


@dataclass(frozen=True)
class EvaluateView:
    """The evaluations, and their figures as tables with a row an embedding (and an area).

    `common` is over the items that all embeddings cover, and empty where each covers the same. `without_proposed` is
    over the items that hold no token which one of the embeddings proposed, and empty where none did. `undefined` says
    why a figure is blank, `problems` why an embedding can't be opened.
    """

    dataset: pd.DataFrame
    evaluations: tuple[Evaluation, ...]
    overall: pd.DataFrame
    by_area: pd.DataFrame
    common: pd.DataFrame
    without_proposed: pd.DataFrame
    undefined: tuple[str, ...]
    problems: tuple[str, ...]
    n0: float
    notion: str
    first_rank_share: float

    @property
    def ranked_apart(self) -> bool:
        """Each area has a ranking of its own: overall figures are means over areas."""
        return bool(self.dataset.attrs.get("ranking") == "area")

    @property
    def leaders(self) -> pd.DataFrame:
        """The rows with the highest ρ_w, over the items that all cover; none where it is undefined."""
        rows = (self.common if len(self.common) else self.overall).dropna(subset=["ρ_w"])
        rounded = rows["ρ_w"].round(12)
        return rows[rounded == rounded.max()]

    @property
    def table(self) -> pd.DataFrame:
        """All figures in one table: `part` says overall, common, without proposed or area."""
        parts = {
            "overall": self.overall,
            "common": self.common,
            "without proposed": self.without_proposed,
            "area": self.by_area,
        }
        return pd.concat([frame.assign(part=part) for part, frame in parts.items() if len(frame)] or [self.overall])


def load(store: Store, project_id: str, n0: float, notion: str) -> EvaluateView:
    """Evaluate all embeddings of a project with the offset n₀ under a notion (relatedness or similarity)."""
    with store.read() as conn:
        dataset = dataset_of(conn, project_id)
        imported = embeddings_of(conn, project_id)
    opened: list[tuple[str, Embedding]] = []
    problems = []
    for embedding in imported:
        try:
            opened.append((embedding.name, open_library(store, embedding)))
        except RunoffError as error:
            problems.append(f"{embedding.name}: {error}")
    overall, by_area, common, without = [], [], [], []
    undefined: list[str] = []
    evaluations: tuple[Evaluation, ...] = ()
    if len(dataset) and opened:
        compared = compare(dataset, [embedding for _, embedding in opened], n0=n0, notion=notion)
        names = [name for name, _ in opened]
        evaluations = tuple(replace(e, model=name) for e, name in zip(compared.evaluations, names, strict=True))
        for evaluation in evaluations:
            overall.append(_row(evaluation.model, "", evaluation.overall))
            undefined += _reasons(evaluation.model, evaluation.overall)
            for area, figures in evaluation.areas.items():
                by_area.append(_row(evaluation.model, area, figures))
                undefined += _reasons(f"{evaluation.model}, {area}", figures)
        if not compared.is_even:
            for name, figures in zip(names, compared.common, strict=True):
                common.append(_row(name, "", figures))
                undefined += _reasons(f"{name}, items that all cover", figures)
        for name, figures in zip(names, compared.without_proposed, strict=False):
            without.append(_row(name, "", figures))
            undefined += _reasons(f"{name}, without proposed tokens", figures)
    return EvaluateView(
        dataset=dataset,
        evaluations=evaluations,
        overall=pd.DataFrame(overall, columns=_COLUMNS),
        by_area=pd.DataFrame(by_area, columns=_COLUMNS),
        common=pd.DataFrame(common, columns=_COLUMNS),
        without_proposed=pd.DataFrame(without, columns=_COLUMNS),
        undefined=tuple(undefined),
        problems=tuple(problems),
        n0=n0,
        notion=notion,
        first_rank_share=first_rank_share(n0),
    )


def _row(model: str, area: str, figures: Correlations) -> tuple:
    values = [getattr(figures, name).estimate for name, _ in FIGURES]
    return (model, area, figures.n_items, figures.n_covered, figures.coverage, *values)


def _reasons(what: str, figures: Correlations) -> list[str]:
    found = [getattr(figures, name) for name, _ in FIGURES]
    return [f"{what}: {reason}" for reason in dict.fromkeys(f.reason for f in found if f.estimate is None and f.reason)]
