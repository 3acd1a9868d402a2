"""What the evaluate page shows: every embedding of the project against its dataset."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from ...commands.figures import evaluation_inputs
from ...commands.figures.evaluation import VOTES_ENDS, VotesFound, with_bounds
from ...commands.figures.evaluation_inputs import FIGURES, Evaluated
from ...evaluation import TOP_K, Correlations, ModelComparison
from ...evaluation.vote_intervals import FIGURES as OF_VOTES
from ...evaluation.vote_intervals import ModelDifference
from ...metrics import first_rank_share, rounded_scores
from ...scores.signal_test import COIN_TOSSES
from ...store import Store

NAMED_FROM = 0.5  # of the items: below it no embedding is called the best
_COLUMNS = ["embedding", "area", "items", "covered", "coverage", *dict(FIGURES).values()]
# Beside a figure as it was measured: without the noise of the votes, and the interval about that.
ENDS = ("corrected", "lower", "upper")
BOUNDS = tuple(f"{label} {end}" for name, label in FIGURES if name in OF_VOTES for end in ENDS)


@dataclass(frozen=True)
class EvaluateView(Evaluated):
    """The evaluations, and their figures as tables with a row an embedding (and an area).

    `common` is over the items that all embeddings cover, and empty where each covers the same. `without_proposed` is
    over the items that hold no token which one of the embeddings proposed, and empty where none did. `undefined` says
    why a figure is blank.
    """

    overall: pd.DataFrame
    by_area: pd.DataFrame
    common: pd.DataFrame
    without_proposed: pd.DataFrame
    undefined: tuple[str, ...]
    first_rank_share: float

    @property
    def chosen(self) -> pd.DataFrame:
        """The rows that the policy compares: over the common items, or each embedding's own."""
        return self.common if len(self.common) else self.overall

    @property
    def unfair(self) -> str:
        """Which embeddings' figures are over fewer items than others', in a sentence; empty where none is."""
        if self.compared is None:
            return ""
        told = []
        for place, name in enumerate(self.compared.names):
            if others := self.compared.fewer(place):
                told.append(
                    f"{name} lacks items that {others[0]} must rank"
                    if len(others) == 1
                    else f"{name} lacks items that {others[0]} and others must rank"
                )
        return f"{'; '.join(told)}: a higher figure over fewer items is no win." if told else ""

    @property
    def leaders(self) -> pd.DataFrame:
        """The rows with the highest ρ_w under the policy; none where it is undefined."""
        rows = self.chosen.dropna(subset=["ρ_w"])
        rounded = rounded_scores(rows["ρ_w"], largest=1)
        return rows[rounded == rounded.max(initial=-1)]

    def named(self, label: str) -> str:
        """A figure's label as people read it: "top 20" for the precision among the top k."""
        return f"top {self.top}" if label == dict(FIGURES)["precision"] else label

    @property
    def n_items(self) -> int:
        """The dataset's items that have a score."""
        return int(self.overall["items"].iloc[0]) if len(self.overall) else 0

    @property
    def n_compared(self) -> int:
        """Of `n_items` those that the leaders' figures rest on: what all cover, or the leader that covers fewest."""
        rows = self.leaders
        if not len(rows):
            return 0
        return int(rows["items" if len(self.common) else "covered"].min())

    @property
    def names_winner(self) -> bool:
        """Whether one embedding can be called the best: voters share an opinion, and half of the items are compared."""
        return not self.is_by_chance and self.n_compared >= NAMED_FROM * self.n_items

    @property
    def why_no_winner(self) -> str:
        """Why no embedding can be called the best, in a clause; "" where votes say enough, however few items they are
        on."""
        return COIN_TOSSES if self.is_by_chance else ""

    @property
    def is_by_chance(self) -> bool:
        """Whether different voters agree no more than coin tosses would, so that their scores rank nothing."""
        return bool(self.dataset.attrs.get("by_chance"))

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


def load(
    store: Store,
    project_id: str,
    n0: float,
    notion: str,
    policy: str = "common",
    top: int = TOP_K,
    *,
    dataset: pd.DataFrame | None = None,
) -> EvaluateView:
    """Evaluate all embeddings of a project; the parameters are those of `evaluation_inputs.load`."""
    return shown(evaluation_inputs.load(store, project_id, n0, notion, policy, top, dataset=dataset))


def shown(found: Evaluated) -> EvaluateView:
    """The tables of an evaluation."""
    overall, by_area, common, without = [], [], [], []
    undefined: list[str] = []
    compared, evaluations, policy = found.compared, found.evaluations, found.policy
    if compared is not None:
        names = compared.names
        for evaluation in evaluations:
            overall.append(_row(evaluation.model, "", evaluation.overall))
            undefined += _reasons(evaluation.model, evaluation.overall)
            for area, figures in evaluation.areas.items():
                by_area.append(_row(evaluation.model, area, figures))
                undefined += _reasons(f"{evaluation.model}, {area}", figures)
        if not compared.is_even and policy in ("common", "parts"):
            for name, figures in zip(names, compared.common, strict=True):
                common.append(_row(name, "", figures))
                undefined += _reasons(f"{name}, items that all cover", figures)
        for name, figures in zip(names, compared.without_proposed, strict=False):
            without.append(_row(name, "", figures))
            undefined += _reasons(f"{name}, without proposed tokens", figures)
    of_all = _table(overall)
    if compared is not None and policy == "own" and not compared.is_even:
        of_all["lacks items of"] = [", ".join(compared.fewer(place)) for place in range(len(evaluations))]
    return EvaluateView(
        *(found.dataset, found.compared, found.models, found.problems, found.n0, found.notion),
        overall=of_all,
        by_area=_table(by_area),
        common=_table(common),
        without_proposed=_table(without),
        undefined=tuple(undefined),
        first_rank_share=first_rank_share(found.n0),
    )


@dataclass(frozen=True)
class IntervalsView:
    """The 90 % intervals of an evaluation: an `EvaluateView` whose tables have the columns `BOUNDS`, what is known of
    every two embeddings, from how many resamples, and why there are none, or ""."""

    view: EvaluateView
    differences: tuple[ModelDifference, ...]
    resamples: int
    problem: str
    compared: ModelComparison | None = None


def intervals(view: EvaluateView, found: VotesFound) -> IntervalsView:
    """The intervals of a view, as they were found."""
    compared = with_bounds(view.compared, found.bounds, VOTES_ENDS)
    return intervals_of(view, compared, found.differences, found.resamples, found.problem)


def intervals_of(
    view: EvaluateView,
    found: ModelComparison | None,
    differences: tuple[ModelDifference, ...],
    resamples: int,
    problem: str,
) -> IntervalsView:
    """The intervals of a comparison `found` beside a view; None for none."""
    return IntervalsView(_with_bounds(view, found), differences, resamples, problem, found)


def _with_bounds(view: EvaluateView, found: ModelComparison | None) -> EvaluateView:
    """The view with the columns `BOUNDS` in its tables, blank without the tokens that an embedding proposed."""
    overall = [e.overall for e in found.evaluations] if found else []
    areas = [figures for e in found.evaluations for figures in e.areas.values()] if found else []
    common = list(found.common) if found and len(view.common) else []
    return replace(
        view,
        overall=view.overall.assign(**_bounds(overall, len(view.overall))),
        common=view.common.assign(**_bounds(common, len(view.common))),
        by_area=view.by_area.assign(**_bounds(areas, len(view.by_area))),
        without_proposed=view.without_proposed.assign(**_bounds([], len(view.without_proposed))),
    )


def _bounds(figures: list[Correlations], n: int) -> dict[str, list[float]]:
    none = [float("nan")] * n
    if not figures:
        return dict.fromkeys(BOUNDS, none)
    found = [[value for name in OF_VOTES for value in getattr(c, name).by_votes] for c in figures]
    columns = zip(*found, strict=True)
    return {
        name: [float("nan") if v is None else v for v in column] for name, column in zip(BOUNDS, columns, strict=True)
    }


def _table(rows: list[tuple]) -> pd.DataFrame:
    """Rows of `_row`; a figure is a number, or NaN, also where it is undefined in all of them."""
    return pd.DataFrame(rows, columns=_COLUMNS).astype(dict.fromkeys(("coverage", *dict(FIGURES).values()), "float64"))


def _row(model: str, area: str, figures: Correlations) -> tuple:
    values = [getattr(figures, name).estimate for name, _ in FIGURES]
    return (model, area, figures.n_items, figures.n_covered, figures.coverage, *values)


def _reasons(what: str, figures: Correlations) -> list[str]:
    found = [getattr(figures, name) for name, _ in FIGURES]
    return [f"{what}: {reason}" for reason in dict.fromkeys(f.reason for f in found if f.estimate is None and f.reason)]
