"""What the evaluate page shows: every embedding of the project against its dataset."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pandas as pd

from ..embeddings import Embedding
from ..errors import RunoffError
from ..evaluation import TOP_K, Comparison, Correlations, Evaluation, compare
from ..evaluation_intervals import Difference, Resampled, with_intervals
from ..interval_rules import FIGURES as OF_VOTES
from ..metrics import first_rank_share, rounded_scores
from ..progress import Progress
from ..store import Store
from ..store.library import embeddings_of, open_library
from ..store.scores import dataset_of
from .draws import DatasetDraws

FIGURES = (
    ("rho_w", "ρ_w"), ("tau_w", "τ_w"), ("rho", "ρ"), ("tau", "τ"), ("pearson", "Pearson"),
    ("precision", "top k"),
)  # fmt: skip
NAMED_FROM = 0.5  # of the items: below it no embedding is called the best
_COLUMNS = ["embedding", "area", "items", "covered", "coverage", *dict(FIGURES).values()]
# Beside a figure as it was measured: without the noise of the votes, and the interval about that.
ENDS = ("corrected", "lower", "upper")
BOUNDS = tuple(f"{label} {end}" for name, label in FIGURES if name in OF_VOTES for end in ENDS)


@dataclass(frozen=True)
class EvaluateView:
    """The evaluations, and their figures as tables with a row an embedding (and an area).

    `common` is over the items that all embeddings cover, and empty where each covers the same. `without_proposed` is
    over the items that hold no token which one of the embeddings proposed, and empty where none did. `undefined` says
    why a figure is blank, `problems` why an embedding can't be opened. `models` are the embeddings as they were opened,
    in the order of `evaluations`.
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
    compared: Comparison | None = None
    models: tuple[Embedding, ...] = field(default=(), repr=False, compare=False)

    @property
    def key(self) -> tuple[float, str, str, int]:
        """The settings that the view was loaded with."""
        return self.n0, self.notion, self.policy, self.top

    @property
    def top(self) -> int:
        """The k of the precision among the top k."""
        return self.evaluations[0].overall.top if self.evaluations else TOP_K

    @property
    def policy(self) -> str:
        """What is done about tokens that an embedding lacks, of `evaluation.POLICIES`."""
        return self.compared.policy if self.compared else "common"

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
    def ranked_apart(self) -> bool:
        """Each area has a ranking of its own: overall figures are means over areas."""
        return bool(self.dataset.attrs.get("ranking") == "area")

    @property
    def leaders(self) -> pd.DataFrame:
        """The rows with the highest ρ_w under the policy; none where it is undefined."""
        rows = self.chosen.dropna(subset=["ρ_w"])
        rounded = rounded_scores(rows["ρ_w"], largest=1)
        return rows[rounded == rounded.max(initial=-1)]

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
    """Evaluate all embeddings of a project with the offset n₀ under a notion (relatedness or similarity).

    `policy` is what is done about tokens that one lacks, `top` the k of the precision among the top k. `dataset` is
    `dataset_of` the project as it stands, where it has been read already.
    """
    with store.read() as conn:
        dataset = dataset_of(conn, project_id) if dataset is None else dataset
        imported = embeddings_of(conn, project_id)
    opened: list[tuple[str, Embedding]] = []
    problems = []
    for embedding in imported:
        try:
            opened.append((embedding.name, open_library(store, embedding)))
        except RunoffError as error:
            problems.append(f"{embedding.name}: {error}")
    compared: Comparison | None = None
    if len(dataset) and opened:
        compared = compare(dataset, [e for _, e in opened], n0=n0, notion=notion, policy=policy, top=top)
        named = zip(compared.evaluations, opened, strict=True)
        compared = replace(compared, evaluations=tuple(replace(e, model=name) for e, (name, _) in named))
    models = tuple(embedding for _, embedding in opened)
    return replace(view_of(dataset, compared, n0, notion), problems=tuple(problems), models=models)


def view_of(dataset: pd.DataFrame, compared: Comparison | None, n0: float, notion: str) -> EvaluateView:
    """The tables of a comparison with a dataset, taken with these settings; None for none."""
    overall, by_area, common, without = [], [], [], []
    undefined: list[str] = []
    evaluations: tuple[Evaluation, ...] = ()
    policy = compared.policy if compared else "common"
    if compared is not None:
        evaluations, names = compared.evaluations, compared.names
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
        dataset=dataset,
        evaluations=evaluations,
        overall=of_all,
        by_area=_table(by_area),
        common=_table(common),
        without_proposed=_table(without),
        undefined=tuple(undefined),
        problems=(),
        n0=n0,
        notion=notion,
        first_rank_share=first_rank_share(n0),
        compared=compared,
    )


@dataclass(frozen=True)
class IntervalsView:
    """The 90 % intervals of an evaluation: an `EvaluateView` whose tables have the columns `BOUNDS`, what is known of
    every two embeddings, from how many resamples, and why there are none, or ""."""

    view: EvaluateView
    differences: tuple[Difference, ...]
    resamples: int
    problem: str
    compared: Comparison | None = None


def load_intervals(view: EvaluateView, draws: DatasetDraws, *, progress: Progress | None = None) -> IntervalsView:
    """Intervals by resampled voters; none, and why, where the protocol has none or voters can't be resampled."""
    if draws.problem or view.compared is None:
        return intervals_of(view, None, (), 0, draws.problem)
    rows = view.dataset[view.dataset["score"].notna()]
    apart = rows["area"].to_numpy() if view.ranked_apart else None
    found, differences = with_intervals(view.compared, Resampled(draws.columns_of(rows), apart), progress=progress)
    return intervals_of(view, found, differences, len(draws.drawn), "")


def intervals_of(
    view: EvaluateView, found: Comparison | None, differences: tuple[Difference, ...], resamples: int, problem: str
) -> IntervalsView:
    """The intervals of a comparison `found` beside a view; None for none."""
    return IntervalsView(_with_bounds(view, found), differences, resamples, problem, found)


def _with_bounds(view: EvaluateView, found: Comparison | None) -> EvaluateView:
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
