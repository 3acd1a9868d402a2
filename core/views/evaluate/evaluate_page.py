"""What the evaluate page shows: every embedding of the project against its dataset, and why each does as it does.

The reasons are hubs, where tokens lie, figures over parts of the items, n₀ along a curve, and variants of the cosine.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...commands.figures import evaluation_inputs
from ...commands.figures.evaluation import VOTES_ENDS, VotesFound, estimates, with_bounds
from ...commands.figures.evaluation_inputs import FIGURES, Evaluated
from ...encoders import ENCODED
from ...errors import InputError, RunoffError, UndefinedMetricError
from ...evaluation import TOP_K, Correlations, Evaluation, ModelComparison
from ...evaluation.causes import (
    ORDER,
    by_frequency,
    by_rarity,
    by_relatedness,
    crowding,
    hub_skewness,
    over_bands,
    with_hubs,
)
from ...evaluation.vote_intervals import FIGURES as OF_VOTES
from ...evaluation.vote_intervals import ModelDifference
from ...metrics import first_rank_share, rounded_scores
from ...scores.reliability import COIN_TOSSES
from ...store import Store
from ...store.tokens.frequencies import frequencies_of, source_of
from ...tokens.frequencies import KINDS, rare
from ..embeddings import N_RANDOM, SEED, curves_of

NAMED_FROM = 0.5  # of the items: below it no embedding is called the best
_COLUMNS = ["embedding", "area", "items", "covered", "coverage", *dict(FIGURES).values()]
# Beside a figure as it was measured: without the noise of the votes, and the interval about that.
ENDS = ("corrected", "lower", "upper")
BOUNDS = tuple(f"{label} {end}" for name, label in FIGURES if name in OF_VOTES for end in ENDS)


class Blank(NamedTuple):
    """The label of a figure that is blank, whether it is of an area, and why, with whose it is."""

    label: str
    by_area: bool
    why: str


@dataclass(frozen=True)
class EvaluateView(Evaluated):
    """The evaluations, and their figures as tables with a row an embedding (and an area).

    `common` is over the items that all embeddings cover, and empty where each covers the same. `without_proposed` is
    over the items that hold no token which one of the embeddings proposed, and empty where none did. `undefined` says
    why figures are blank.
    """

    overall: pd.DataFrame
    by_area: pd.DataFrame
    common: pd.DataFrame
    without_proposed: pd.DataFrame
    undefined: tuple[Blank, ...]
    first_rank_share: float

    def blanks(self, labels: Collection[str], *, by_area: bool) -> list[str]:
        """Why figures of these labels are blank, of areas or of all items, each reason once."""
        reasons = [blank.why for blank in self.undefined if blank.label in labels and blank.by_area is by_area]
        return list(dict.fromkeys(reasons))

    @property
    def chosen(self) -> pd.DataFrame:
        """The rows that the policy compares: over the common items, or each embedding's own."""
        return self.common if len(self.common) else self.overall

    @cached_property
    def unfair(self) -> str:
        """Which embeddings' figures are over fewer items than others', in a sentence; empty where none is."""
        if self.compared is None:
            return ""
        gaps = []
        for place, name in enumerate(self.compared.names):
            if others := self.compared.fewer(place):
                gaps.append(
                    f"{name} lacks items that {others[0]} must rank"
                    if len(others) == 1
                    else f"{name} lacks items that {others[0]} and others must rank"
                )
        return f"{'; '.join(gaps)}: a higher figure over fewer items is no win." if gaps else ""

    @cached_property
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

    @cached_property
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


def shown(evaluated: Evaluated) -> EvaluateView:
    """The tables of an evaluation."""
    overall, by_area, common, without = [], [], [], []
    undefined: list[Blank] = []
    compared, evaluations, policy = evaluated.compared, evaluated.evaluations, evaluated.policy
    if compared is not None:
        names = compared.names
        for evaluation in evaluations:
            overall.append(_row(evaluation.model, "", evaluation.overall))
            undefined += _reasons(evaluation.model, evaluation.overall)
            for area, figures in evaluation.areas.items():
                by_area.append(_row(evaluation.model, area, figures))
                undefined += _reasons(f"{evaluation.model}, {area}", figures, by_area=True)
        if not compared.is_even and policy in ("common", "parts"):
            for name, figures in zip(names, compared.common, strict=True):
                common.append(_row(name, "", figures))
                undefined += _reasons(f"{name}, items that all cover", figures)
        for name, figures in zip(names, compared.without_proposed, strict=False):
            without.append(_row(name, "", figures))
            undefined += _reasons(f"{name}, without proposed tokens", figures)
    overall_table = _table(overall)
    if compared is not None and policy == "own" and not compared.is_even:
        overall_table["lacks items of"] = [", ".join(compared.fewer(place)) for place in range(len(evaluations))]
    return EvaluateView(
        *(evaluated.dataset, evaluated.compared, evaluated.models, evaluated.problems, evaluated.n0, evaluated.notion),
        overall=overall_table,
        by_area=_table(by_area),
        common=_table(common),
        without_proposed=_table(without),
        undefined=tuple(undefined),
        first_rank_share=first_rank_share(evaluated.n0),
    )


@dataclass(frozen=True)
class IntervalsView:
    """The 90% intervals of an evaluation: an `EvaluateView` whose tables have the columns `BOUNDS`, what is known of
    every two embeddings, from how many resamples, and why there are none, or ""."""

    view: EvaluateView
    differences: tuple[ModelDifference, ...]
    resamples: int
    problem: str
    compared: ModelComparison | None = None


def intervals(view: EvaluateView, resampled: VotesFound) -> IntervalsView:
    """The intervals of a view, of its figures by resampled votes."""
    compared = with_bounds(view.compared, resampled.bounds, VOTES_ENDS)
    return intervals_of(view, compared, resampled.differences, resampled.resamples, resampled.problem)


def intervals_of(
    view: EvaluateView,
    compared: ModelComparison | None,
    differences: tuple[ModelDifference, ...],
    resamples: int,
    problem: str,
) -> IntervalsView:
    """A view with the intervals of the comparison `compared`; None where there are none."""
    return IntervalsView(_with_bounds(view, compared), differences, resamples, problem, compared)


def _with_bounds(view: EvaluateView, compared: ModelComparison | None) -> EvaluateView:
    """The view with the columns `BOUNDS` in its tables, blank without the tokens that an embedding proposed."""
    overall = [e.overall for e in compared.evaluations] if compared else []
    areas = [figures for e in compared.evaluations for figures in e.areas.values()] if compared else []
    common = list(compared.common) if compared and len(view.common) else []
    return replace(
        view,
        overall=view.overall.assign(**_bounds(overall, len(view.overall))),
        common=view.common.assign(**_bounds(common, len(view.common))),
        by_area=view.by_area.assign(**_bounds(areas, len(view.by_area))),
        without_proposed=view.without_proposed.assign(**_bounds([], len(view.without_proposed))),
    )


def _bounds(figures: list[Correlations], n: int) -> dict[str, list[float]]:
    """The columns `BOUNDS` of a table with these figures in its `n` rows; NaN where there are no figures."""
    none = [float("nan")] * n
    if not figures:
        return dict.fromkeys(BOUNDS, none)
    rows = [[value for name in OF_VOTES for value in getattr(c, name).by_votes] for c in figures]
    columns = zip(*rows, strict=True)
    return {
        name: [float("nan") if v is None else v for v in column] for name, column in zip(BOUNDS, columns, strict=True)
    }


def _table(rows: list[tuple]) -> pd.DataFrame:
    """Rows of `_row`; a figure is a number, or NaN, also where it is undefined in all of them."""
    return pd.DataFrame(rows, columns=_COLUMNS).astype(dict.fromkeys(("coverage", *dict(FIGURES).values()), "float64"))


def _row(model: str, area: str, figures: Correlations) -> tuple:
    """A row of `_table`."""
    values = [getattr(figures, name).estimate for name, _ in FIGURES]
    return (model, area, figures.n_items, figures.n_covered, figures.coverage, *values)


def _reasons(what: str, figures: Correlations, *, by_area: bool = False) -> list[Blank]:
    """Why figures are blank, of those that are."""
    labelled = [(label, getattr(figures, name)) for name, label in FIGURES]
    return [Blank(label, by_area, f"{what}: {f.reason}") for label, f in labelled if f.estimate is None and f.reason]


TOP_SHARE = 0.1  # of the items are the top that hubs crowd
N_WORST = 15  # disagreements shown
ALL_ITEMS = "all items"


@dataclass(frozen=True)
class WhyView:
    """Of one embedding: its worst disagreements with the hubs among their tokens, all tokens by how far they crowd the
    model's `top` highest items, and the skewness of that, None where it is undefined."""

    evaluation: Evaluation
    worst: pd.DataFrame
    crowded: pd.DataFrame
    top: int
    skewness: float | None


def load_why(view: EvaluateView, place: int) -> WhyView:
    """Why embedding number `place` disagrees with people."""
    evaluation = view.evaluations[place]
    top = max(1, round(TOP_SHARE * evaluation.overall.n_covered))
    crowded = crowding(evaluation, top)
    try:
        skew: float | None = hub_skewness(crowded)
    except UndefinedMetricError:
        skew = None
    return WhyView(evaluation, with_hubs(evaluation.worst(N_WORST), crowded), crowded, top, skew)


def contrast(view: EvaluateView, place: int) -> pd.DataFrame:
    """The paper's Figure 3 for each area: sorted values of its items beside random pairs of the vocabulary.

    Columns pairs, share, value, as `campaign_charts.similarity_curves` takes them.
    """
    evaluation, model = view.evaluations[place], view.models[place]
    pairs = evaluation.pairs.dropna(subset=["cosine"])
    cosines = {str(area) or ALL_ITEMS: part["cosine"].to_numpy() for area, part in pairs.groupby("area", sort=False)}
    if model.kind == "vectors" and model.info.format != ENCODED:  # which has no other words
        with suppress(InputError):  # where it has hardly a word
            cosines["random pairs"] = model.random_cosines(N_RANDOM, rng=np.random.default_rng(SEED))
    return curves_of(cosines, view.notion, points=200)


@dataclass(frozen=True)
class BandsView:
    """Figures over parts of the items that all embeddings cover, a row an embedding and part; `source` says where
    frequencies come from, or why there are none."""

    related: pd.DataFrame
    frequency: pd.DataFrame
    source: str


def load_bands(store: Store, project_id: str, view: EvaluateView) -> BandsView:
    """Figures by how related and how frequent the tokens are."""
    pairs = view.evaluations[0].pairs
    related = _bands(view, by_relatedness(pairs["score"].to_numpy()))
    tokens = list(dict.fromkeys([*pairs["token_a"], *pairs["token_b"]]))
    with store.read() as conn:
        source = source_of(conn, project_id)
        if source is None:
            why = "Choose a source of frequencies on the Tokens page to see rare tokens apart."
            return BandsView(related, pd.DataFrame(), why)
        try:
            frequencies = frequencies_of(store, conn, project_id, source)
        except RunoffError as error:
            return BandsView(related, pd.DataFrame(), str(error))
    rarity = rare(tokens, frequencies, share=source.share, lower=source.lower)
    is_rare = {t: None if pd.isna(r) else bool(r) for t, r in zip(rarity["token"], rarity["rare"], strict=True)}
    known = {t: f for t, f in zip(rarity["token"], rarity["frequency"], strict=True) if not np.isnan(f)}
    parts = [_bands(view, by_rarity(pairs, is_rare)), _bands(view, by_frequency(pairs, known))]
    frequency = pd.concat(parts, ignore_index=True)
    description = f"{source.label}: {KINDS[frequencies.kind]}. With a rare token is one of two."
    return BandsView(related, frequency, description)


def _bands(view: EvaluateView, bands: np.ndarray) -> pd.DataFrame:
    every = np.logical_and.reduce([~np.isnan(e.values) for e in view.evaluations])
    rows = [
        [name, evaluation.model, figures.n_items, *estimates(figures)]
        for evaluation in view.evaluations
        for name, figures in over_bands(evaluation, bands, items=every, apart=view.ranked_apart).items()
    ]
    table = pd.DataFrame(rows, columns=["items", "embedding", "n", *(label for _, label in FIGURES)])
    order = {name: place for place, name in enumerate(ORDER)}
    return table.sort_values("items", key=lambda names: names.map(order), kind="stable").reset_index(drop=True)
