"""What an evaluation is made of: a figure with its intervals, the figures of a model, a model's evaluation, several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from .. import metrics
from ..errors import InputError

NOTIONS = ("relatedness", "similarity")
WHY_NO_INTERVALS = (
    "Intervals over voters need the votes, which a dataset file doesn't hold: evaluate in the project or its export."
)
FEW_ITEMS = 10
# What to do about tokens that a model lacks.
POLICIES: Mapping[str, str] = {
    "common": "only the items that all models cover",
    "own": "each model's own items",
    "lowest": "an item that a model lacks is ranked lowest by it",
    "parts": "a token that a model lacks is the mean of its parts; then the items that all cover",
}

Ends = tuple[float | None, float | None, float | None]  # an estimate, and the ends of the interval about it


@dataclass(frozen=True)
class FigureEstimate:
    """A correlation or the like: its estimate and the bounds of its two intervals, each None where there is none.

    `lower` and `upper` say what other *votes* on these items would have given (of a random ranking: where the middle 90
    % of such rankings lie), `token_lower` and `token_upper` what other *tokens* would. `reason` says why the estimate
    is undefined, and is empty where it is defined.

    Neither interval is about `estimate`, the figure as it was measured, but about the figure without what resampling
    shows to be its bias: `corrected` (the noise of the votes taken out) and `token_corrected`. An interval is shown
    beside its own of these. Raises `InputError` for one that lies outside.
    """

    estimate: float | None
    lower: float | None = None
    upper: float | None = None
    reason: str = ""
    token_lower: float | None = None
    token_upper: float | None = None
    corrected: float | None = None
    token_corrected: float | None = None

    def __post_init__(self) -> None:
        for value, lower, upper in (self.by_votes, self.by_tokens):
            if value is not None and not (lower is not None and upper is not None and lower <= value <= upper):
                raise InputError(f"The interval from {lower} to {upper} excludes its own estimate, {value}.")

    @property
    def by_votes(self) -> Ends:
        """The estimate without the noise of the votes, and the interval about it; None for none."""
        return self.corrected, self.lower, self.upper

    @property
    def by_tokens(self) -> Ends:
        """The estimate that the interval over tokens is about, and the interval; None for none."""
        return self.token_corrected, self.token_lower, self.token_upper

    def with_votes(self, corrected: float, lower: float, upper: float) -> FigureEstimate:
        """The figure with an interval over votes about `corrected`, which is cut like the interval."""
        return replace(self, corrected=min(max(corrected, lower), upper), lower=lower, upper=upper)

    def with_tokens(self, corrected: float, lower: float, upper: float) -> FigureEstimate:
        """The figure with an interval over tokens about `corrected`, which is cut like the interval."""
        inside = min(max(corrected, lower), upper)
        return replace(self, token_corrected=inside, token_lower=lower, token_upper=upper)


NOT_TAKEN = FigureEstimate(None, reason="It wasn't asked for.")


@dataclass(frozen=True)
class Correlations:
    """How far a model ranks a dataset's items as people do, by six figures, higher = better.

    `rho_w` and `tau_w` weigh the first ranks most, `rho` is Spearman's, `tau` Kendall's τ-b, `pearson` takes the
    scores themselves; these are in [−1, 1]. `precision` is the share of people's `top` highest items that are among
    the model's, ties at the cut in part, from 0 to 1. Where each area of the dataset has a ranking of its own, figures
    over several areas are the plain means over the `n_areas` areas with a covered item (0 otherwise), undefined if
    they are in one of them. They are taken over `n_covered` of `n_items` items, and over `n_lowest` more that the
    model doesn't cover and that count as its lowest; `coverage` is the covered share, 0 where there are no items.
    `remark` warns of too few items, or says of how many areas the figures are means.
    """

    n_items: int
    n_covered: int
    rho_w: FigureEstimate
    tau_w: FigureEstimate
    rho: FigureEstimate
    tau: FigureEstimate
    n_areas: int = 0
    pearson: FigureEstimate = NOT_TAKEN
    precision: FigureEstimate = NOT_TAKEN
    top: int = 0
    n_lowest: int = 0

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
    token_b, score, rank, cosine, model_rank, gap, a row per item: the ranks are average ranks among the covered
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

    @property
    def values(self) -> np.ndarray:
        """The model's scores of the items by its notion, shape (n,), NaN where it lacks one."""
        return model_scores(self.pairs["cosine"].to_numpy(), self.notion)

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
class ModelComparison:
    """Several models on one dataset: each by itself, and all of them over the `n_common` items that all cover.

    `policy`, one of `POLICIES`, says what is done about tokens that a model lacks, and `figures` follows it. Under
    "lowest" an item that a model lacks has the lowest possible score in its `pairs`; under "parts" its `pairs` hold
    what the parts give. `without_proposed` has all models over the items that hold no token which one of them
    proposed; it is empty where none did. `apart` says that each area has a ranking of its own.
    """

    evaluations: tuple[Evaluation, ...]
    common: tuple[Correlations, ...]
    n_common: int
    without_proposed: tuple[Correlations, ...] = ()
    policy: str = "common"
    apart: bool = False

    @property
    def is_even(self) -> bool:
        """Whether all models cover the same items, so that their own figures can stand side by side."""
        return all(evaluation.overall.n_covered == self.n_common for evaluation in self.evaluations)

    @property
    def figures(self) -> tuple[Correlations, ...]:
        """The models' figures under the policy, in the order of `evaluations`."""
        if self.policy in ("own", "lowest"):
            return tuple(evaluation.overall for evaluation in self.evaluations)
        return self.common

    @property
    def names(self) -> tuple[str, ...]:
        """The models' names."""
        return tuple(evaluation.model for evaluation in self.evaluations)

    def fewer(self, place: int) -> tuple[str, ...]:
        """Which models cover items that model number `place` lacks, where the policy lets that change a figure.

        Such a model's figure is over fewer items than theirs: it doesn't win by being higher.
        """
        if self.policy != "own":
            return ()
        covered = [evaluation.pairs["cosine"].notna().to_numpy() for evaluation in self.evaluations]
        others = zip(self.names, covered, strict=True)
        return tuple(name for name, there in others if (there & ~covered[place]).any())


def model_scores(cosines: np.ndarray, notion: str) -> np.ndarray:
    """A model's scores of items by their cosines, higher = more related: |cos| for relatedness, cos for similarity."""
    return np.abs(cosines) if notion == "relatedness" else cosines
