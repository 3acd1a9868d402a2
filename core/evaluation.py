"""How well an embedding ranks the items of a dataset, most of all at the top.

The model's score of an item is |cos| of its two tokens for a dataset of relatedness (antonyms are related) and
cos for one of similarity. Items with a token that the model lacks are left out and counted: a figure over part
of the dataset says nothing against one over all of it (`compare` gives the figures over the common items).

Reference: Lombardo et al. (2020), EMNLP, sections 2.6 and 4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from . import metrics
from .embeddings import Embedding
from .errors import InputError, Issue, UndefinedMetricError
from .proposals import items_with, proposed_by
from .tables import DATASET

NOTIONS = ("relatedness", "similarity")
WHY_NO_INTERVALS = (
    "Intervals over voters need the votes, which a dataset file doesn't hold: evaluate in the project or its export."
)
FEW_ITEMS = 10


@dataclass(frozen=True)
class Figure:
    """A correlation: its estimate and the bounds of its interval, each None where there is none.

    `reason` says why the estimate is undefined, and is empty where it is defined.
    """

    estimate: float | None
    lower: float | None = None
    upper: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Correlations:
    """Four rank correlations between a dataset's scores and a model's, in [−1, 1], higher = better.

    Where each area of the dataset has a ranking of its own, those over several areas are the plain means over the
    `n_areas` areas with a covered item (0 otherwise), undefined if they are in one of them. `rho_w` and `tau_w` weigh
    the first ranks most, `rho` is Spearman's, `tau` Kendall's τ-b. They are taken over `n_covered` of `n_items` items;
    `coverage` is their ratio, 0 where there are no items. `remark` warns of too few items, or says of how many areas
    the figures are means.
    """

    n_items: int
    n_covered: int
    rho_w: Figure
    tau_w: Figure
    rho: Figure
    tau: Figure
    n_areas: int = 0

    @property
    def coverage(self) -> float:
        """The covered share of the items, 0 to 1."""
        return self.n_covered / self.n_items if self.n_items else 0.0

    @property
    def remark(self) -> str:
        """A warning for people, empty where there is none."""
        if self.n_areas:
            return f"mean over {self.n_areas} area{'s' * (self.n_areas != 1)}"
        if self.n_covered >= FEW_ITEMS:
            return ""
        if self.n_covered == 0:
            return "no item is covered"
        return "over 1 item only" if self.n_covered == 1 else f"over {self.n_covered} items only"


@dataclass(frozen=True)
class Evaluation:
    """One model on one dataset; made by `evaluate`.

    `overall` and `areas` (one entry an area in the dataset's order, none if no area has a name) are under
    `notion`; `other_notion` is the overall result under the other one. `pairs` has the columns area, token_a,
    token_b, score, rank, cosine, model_rank, gap, a row an item: the ranks are average ranks among the covered
    items, 1 = the top, and gap = model_rank − rank, so that it is positive where the model puts an item too low;
    all of them are NaN where the model lacks a token. `missing` has the reason for each such token, `found_as` the
    spelling or the parts by which others were found that the model hasn't as they are written. `n_unscored`
    items of the dataset had no score and were left out of everything. `notes` are remarks on the model's file.
    `proposed` are the tokens (area, token) that this very model proposed, which favours it (§2.2), and
    `without_proposed` the result over the items that hold none of them; None where there are no such tokens.
    """

    model: str
    notion: str
    n0: float
    overall: Correlations
    areas: Mapping[str, Correlations]
    other_notion: Correlations
    pairs: pd.DataFrame = field(repr=False, compare=False)
    missing: Mapping[str, str] = field(default_factory=dict)
    n_unscored: int = 0
    notes: tuple[str, ...] = ()
    found_as: Mapping[str, str] = field(default_factory=dict)
    proposed: tuple[tuple[str, str], ...] = ()
    without_proposed: Correlations | None = None

    def worst(self, n: int = 20) -> pd.DataFrame:
        """The `n` covered items on which dataset and model disagree most where it matters, worst first.

        Adds the column disagreement_i = w_i·gap_i² / Σ w·gap², with the weights of ρ_w: the item's share of all
        disagreement (0 if there is none). Ties keep the dataset's order.
        """
        covered = self.pairs[self.pairs["gap"].notna()]
        ranks, model_ranks = covered["rank"].to_numpy(), covered["model_rank"].to_numpy()
        parts = np.zeros(len(covered))
        if len(covered):
            parts = metrics.weights(ranks, model_ranks, self.n0) * (model_ranks - ranks) ** 2
        total = parts.sum()
        shares = parts / total if total > 0 else parts
        return covered.assign(disagreement=shares).sort_values("disagreement", ascending=False, kind="stable").head(n)


@dataclass(frozen=True)
class Comparison:
    """Several models on one dataset: each by itself, and all of them over the `n_common` items that all cover.

    `without_proposed` has all models over the items that hold no token which one of them proposed; it is empty where
    none did.
    """

    evaluations: tuple[Evaluation, ...]
    common: tuple[Correlations, ...]
    n_common: int
    without_proposed: tuple[Correlations, ...] = ()

    @property
    def is_even(self) -> bool:
        """Whether all models cover the same items, so that their own figures can stand side by side."""
        return all(evaluation.overall.n_covered == self.n_common for evaluation in self.evaluations)


def evaluate(dataset: pd.DataFrame, embedding: Embedding, *, n0: float = 2.0, notion: str | None = None) -> Evaluation:
    """Compare an embedding's ranking of the items with the dataset's.

    Parameters
    ----------
    dataset : table `DATASET`; of its columns token_a, token_b and score are needed (higher = more related), and
        area is taken as one area where it is absent. Items without a score (NaN) are left out and counted.
    embedding : one that holds the dataset's tokens, such as `load(path, tokens=tokens_of(dataset))`.
    n0 : offset of the weights, above −1 (`metrics.first_rank_share`).
    notion : "relatedness" (|cos|) or "similarity" (cos); None takes the dataset's, `dataset.attrs["notion"]`,
        and relatedness if it doesn't say.

    A correlation that is undefined (fewer than two covered items, or all scores equal) has no estimate, and a
    reason. Raises `InputError` for a table, notion or n0 that can't be.
    """
    dataset = _checked(dataset)
    notion = _notion(dataset, notion)
    scored = dataset[dataset["score"].notna()]
    tokens_a, tokens_b = scored["token_a"].tolist(), scored["token_b"].tolist()
    cosines = embedding.cosines(tokens_a, tokens_b)
    scores = scored["score"].to_numpy(dtype=np.float64)
    values = model_scores(cosines, notion)
    other = NOTIONS[1 - NOTIONS.index(notion)]
    areas = scored["area"].to_numpy()
    names = dict.fromkeys(areas)
    apart = _ranked_apart(dataset)
    proposed = proposed_by(dataset, embedding.info)
    free = ~items_with(scored, proposed)
    tokens = list(dict.fromkeys([*tokens_a, *tokens_b]))
    found = zip(tokens, embedding.found_as(tokens), strict=True)
    return Evaluation(
        model=embedding.name,
        notion=notion,
        n0=float(n0),
        overall=correlations(scores, values, n0=n0, apart=areas if apart else None),
        areas={
            name: correlations(scores[areas == name], values[areas == name], n0=n0)
            for name in names
            if list(names) != [""]
        },
        other_notion=correlations(scores, model_scores(cosines, other), n0=n0, apart=areas if apart else None),
        pairs=_pairs(scored, scores, cosines, values, apart=apart),
        missing=embedding.reasons(tokens),
        n_unscored=len(dataset) - len(scored),
        notes=embedding.info.notes,
        found_as={token: name for token, name in found if name not in ("", token)},
        proposed=proposed,
        without_proposed=correlations(scores[free], values[free], n0=n0, apart=areas[free] if apart else None)
        if proposed
        else None,
    )


def compare(
    dataset: pd.DataFrame, embeddings: Iterable[Embedding], *, n0: float = 2.0, notion: str | None = None
) -> Comparison:
    """`evaluate` several models; also over the items that all of them cover, where they can be ranked fairly.

    `embeddings` may be a generator: only one of them is needed at a time.
    """
    evaluations = tuple(evaluate(dataset, embedding, n0=n0, notion=notion) for embedding in embeddings)
    if not evaluations:
        raise InputError("No model to compare. Name at least one.")
    covered = np.logical_and.reduce([e.pairs["cosine"].notna().to_numpy() for e in evaluations])
    apart = _ranked_apart(dataset)
    n_common = int(covered.sum())
    common = tuple(
        replace(e.overall, n_items=n_common)  # it covers no more than all do, so its figures are these
        if e.overall.n_covered == n_common
        else _over(e, covered, apart)
        for e in evaluations
    )
    proposed = [token for e in evaluations for token in e.proposed]
    free = ~items_with(evaluations[0].pairs, proposed)
    without = tuple(_over(e, free, apart) for e in evaluations) if proposed else ()
    return Comparison(evaluations, common, n_common, without)


def _over(evaluation: Evaluation, items: np.ndarray, apart: bool) -> Correlations:
    """An evaluation's figures over some of the items (n,), True for those that take part."""
    pairs = evaluation.pairs[items]
    values = model_scores(pairs["cosine"].to_numpy(), evaluation.notion)
    areas = pairs["area"].to_numpy() if apart else None
    return correlations(pairs["score"].to_numpy(), values, n0=evaluation.n0, apart=areas)


def correlations(
    scores: np.ndarray, values: np.ndarray, *, n0: float = 2.0, apart: np.ndarray | None = None
) -> Correlations:
    """The four correlations of a dataset's `scores` (n,) and a model's `values` (n,), both higher = more related.

    NaN in `values` marks items that the model doesn't cover. `apart` (n,) has the area of each item where every area
    has a ranking of its own: scores of different areas then don't compare, and the figures are means over areas.

    >>> import numpy as np
    >>> result = correlations(np.array([1.0, 0.8, 0.6, 0.4, 0.2]), np.array([np.nan, 0.7, 0.9, 0.3, 0.1]))
    >>> result.n_covered, result.coverage, round(result.rho.estimate, 12)
    (4, 0.8, 0.8)
    """
    covered = ~np.isnan(values)
    x, y = scores[covered], values[covered]
    if apart is not None:
        of = apart[covered]
        parts = {str(area): correlations(x[of == area], y[of == area], n0=n0) for area in dict.fromkeys(of)}
        means = {name: _mean_figure(parts, name) for name in ("rho_w", "tau_w", "rho", "tau")}
        return Correlations(len(scores), len(x), **means, n_areas=len(parts))
    return Correlations(
        n_items=len(scores),
        n_covered=len(x),
        rho_w=_figure(lambda: metrics.weighted_spearman(x, y, n0=n0)),
        tau_w=_figure(lambda: metrics.weighted_kendall(x, y, n0=n0)),
        rho=_figure(lambda: metrics.spearman(x, y)),
        tau=_figure(lambda: metrics.kendall(x, y)),
    )


def _mean_figure(parts: Mapping[str, Correlations], name: str) -> Figure:
    """The mean of a figure over areas; undefined where it is in one of them, or where there is none."""
    figures = {area: getattr(part, name) for area, part in parts.items()}
    undefined = [f"{area}: {figure.reason}" for area, figure in figures.items() if figure.estimate is None]
    if undefined or not figures:
        return Figure(None, reason=undefined[0] if undefined else "No item is covered.")
    return Figure(float(np.mean([figure.estimate for figure in figures.values()])))


def tokens_of(dataset: pd.DataFrame) -> list[str]:
    """The distinct tokens of a dataset, in order of appearance: what an embedding must be loaded for."""
    dataset = _checked(dataset)
    return list(dict.fromkeys([*dataset["token_a"], *dataset["token_b"]]))


def _figure(metric: Callable[[], float]) -> Figure:
    try:
        return Figure(metric())
    except UndefinedMetricError as error:
        return Figure(None, reason=str(error))


def _checked(dataset: pd.DataFrame) -> pd.DataFrame:
    """The dataset with an area and finite scores (or NaN)."""
    if "area" not in dataset.columns:
        attrs = dataset.attrs
        dataset = dataset.assign(area=pd.Series("", index=dataset.index, dtype="str"))
        dataset.attrs = attrs
    DATASET.check(dataset)
    infinite = np.flatnonzero(np.isinf(dataset["score"].to_numpy(dtype=np.float64)))
    if len(infinite):
        # The row that a spreadsheet shows, whose first row is the header.
        issues = [Issue("the score is infinite", row=int(i) + 2, column="score") for i in infinite]
        raise InputError("Scores must be finite numbers; correct these or leave them empty.", issues)
    return dataset


def _notion(dataset: pd.DataFrame, notion: str | None) -> str:
    chosen = notion or dataset.attrs.get("notion") or NOTIONS[0]
    if chosen not in NOTIONS:
        raise InputError(f"The notion is {' or '.join(NOTIONS)}, found {chosen!r}.")
    return str(chosen)


def model_scores(cosines: np.ndarray, notion: str) -> np.ndarray:
    """A model's scores of items by their cosines, higher = more related: |cos| for relatedness, cos for similarity."""
    return np.abs(cosines) if notion == "relatedness" else cosines


def _ranked_apart(dataset: pd.DataFrame) -> bool:
    """Whether each area of the dataset has a ranking of its own."""
    return dataset.attrs.get("ranking") == "area"


def _pairs(
    scored: pd.DataFrame, scores: np.ndarray, cosines: np.ndarray, values: np.ndarray, *, apart: bool
) -> pd.DataFrame:
    """The table `Evaluation.pairs`; ranks within each area where the areas are ranked apart."""
    covered = ~np.isnan(values)
    ranks, model_ranks = np.full(len(scores), np.nan), np.full(len(scores), np.nan)
    areas = scored["area"].to_numpy() if apart else np.zeros(len(scores))
    for area in dict.fromkeys(areas[covered]):
        here = covered & (areas == area)
        ranks[here] = metrics.average_ranks(scores[here])
        model_ranks[here] = metrics.average_ranks(values[here])
    pairs = scored[["area", "token_a", "token_b"]].reset_index(drop=True)
    return pairs.assign(score=scores, rank=ranks, cosine=cosines, model_rank=model_ranks, gap=model_ranks - ranks)
