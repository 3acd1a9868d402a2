"""What changed from one version of a dataset to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..errors import UndefinedMetricError
from ..metrics import average_ranks, kendall, spearman, weighted_kendall, weighted_spearman
from ..tables import DATASET

_KEYS = ["area", "token_a", "token_b"]
_MOVED = [
    *_KEYS,
    "score_before",
    "score",
    "score_change",
    "rank_before",
    "rank",
    "rank_change",
    "votes_before",
    "votes",
]
_METRICS = {"rho_w": weighted_spearman, "tau_w": weighted_kendall, "rho": spearman, "tau": kendall}


@dataclass(frozen=True, eq=False)
class DatasetDiff:
    """Two versions held against each other.

    `added` and `removed` are rows of the later and the earlier version whose item (area and unordered pair of tokens)
    the other lacks. `moved` has the items that both have, one row each: area, token_a, token_b, score_before, score,
    score_change, rank_before, rank, rank_change (below 0: up), votes_before, votes; those that moved furthest in rank
    first. Ranks are among the items that have a score in both, within an area where each has a ranking of its own.
    `figures` are ρ_w, τ_w, ρ and τ between the two scores, None where undefined (`why_undefined` says why).
    `described` has what both descriptions say differently.
    """

    added: pd.DataFrame
    removed: pd.DataFrame
    moved: pd.DataFrame
    figures: dict[str, float | None]
    why_undefined: dict[str, str]
    described: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def n_scores_moved(self) -> int:
        """Items whose score differs at all; a score that comes or goes differs."""
        return int((self.moved["score_before"].fillna(np.inf) != self.moved["score"].fillna(np.inf)).sum())

    @property
    def n_ranks_moved(self) -> int:
        return int((self.moved["rank_change"].fillna(0) != 0).sum())

    @property
    def same(self) -> bool:
        """The same items with the same scores."""
        return not len(self.added) and not len(self.removed) and not self.n_scores_moved

    def told(self, labels: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
        """The counts and the figures in words; `labels` name the figures otherwise than by their keys."""
        names = labels or {}
        return [
            ("items in both", f"{len(self.moved):,}"),
            ("items added", f"{len(self.added):,}"),
            ("items removed", f"{len(self.removed):,}"),
            ("scores moved", f"{self.n_scores_moved:,}"),
            ("ranks moved", f"{self.n_ranks_moved:,}"),
            *((names.get(name, name), "–" if v is None else f"{v:.4f}") for name, v in self.figures.items()),
        ]


def diff(before: pd.DataFrame, after: pd.DataFrame) -> DatasetDiff:
    """Hold two datasets (schema DATASET) against each other; see `DatasetDiff`.

    Of rows that repeat an item the first counts. Raises `InputError` for tables of another kind.

    >>> one = pd.DataFrame({"area": "x", "token_a": ["a", "a"], "token_b": ["b", "c"], "score": [0.9, 0.1]})
    >>> two = pd.DataFrame({"area": "x", "token_a": ["b", "a"], "token_b": ["a", "d"], "score": [0.8, 0.3]})
    >>> found = diff(one, two)
    >>> len(found.added), len(found.removed), found.moved["score_change"].round(12).tolist()
    (1, 1, [-0.1])
    """
    one, two = _keyed(before), _keyed(after)
    common = two.index.intersection(one.index, sort=False)
    moved = two.loc[common, _KEYS].copy()
    for name in ("score", "votes"):
        for frame, ending in ((one, "_before"), (two, "")):
            moved[f"{name}{ending}"] = frame.loc[common, name] if name in frame else np.nan
    by_area = after.attrs.get("ranking") == "area"
    known = moved.dropna(subset=["score_before", "score"])
    for ending in ("_before", ""):
        scores = known.groupby(known["area"] if by_area else np.zeros(len(known)))[f"score{ending}"]
        moved[f"rank{ending}"] = scores.transform(average_ranks).reindex(moved.index)
    for name in ("score", "rank"):
        moved[f"{name}_change"] = moved[name] - moved[f"{name}_before"]
    order = np.argsort(-moved["rank_change"].abs().fillna(0).to_numpy(), kind="stable")
    figures, why = _figures(moved)
    return DatasetDiff(
        two[~two.index.isin(one.index)].reset_index(drop=True),
        one[~one.index.isin(two.index)].reset_index(drop=True),
        moved.iloc[order].reset_index(drop=True)[_MOVED],
        figures,
        why,
        _described(before.attrs, after.attrs),
    )


def _keyed(dataset: pd.DataFrame) -> pd.DataFrame:
    DATASET.check(dataset)
    a, b = dataset["token_a"], dataset["token_b"]
    ordered = a <= b
    key = pd.MultiIndex.from_arrays([dataset["area"], a.where(ordered, b), b.where(ordered, a)])
    frame = dataset.set_axis(key, axis=0)
    return frame[~frame.index.duplicated()]


def _figures(moved: pd.DataFrame) -> tuple[dict[str, float | None], dict[str, str]]:
    known = moved.dropna(subset=["score_before", "score"])
    figures: dict[str, float | None] = {}
    why = {}
    for name, metric in _METRICS.items():
        try:
            figures[name] = float(metric(known["score_before"].to_numpy(), known["score"].to_numpy()))
        except UndefinedMetricError as error:
            figures[name], why[name] = None, str(error)
    return figures, why


# What people want to know of two versions; seeds and machines they don't.
_TOLD = ("votes", "voters", "ballots_closed", "provisional", "simulated_votes", "notion", "estimator", "version")


def _described(before: dict, after: dict) -> dict[str, tuple[Any, Any]]:
    pairs = {name: (before.get(name), after.get(name)) for name in _TOLD if name in before or name in after}
    return {
        name: pair
        for name, pair in pairs.items()
        if pair[0] != pair[1] and any(part not in (None, "") for part in pair)
    }
