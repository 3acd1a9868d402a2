"""Why an embedding does as it does: hubs, where tokens lie, parts of the items, n₀ along a curve, variants."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...commands.figures.evaluation import estimates
from ...commands.figures.evaluation_inputs import FIGURES
from ...encoders import ENCODED
from ...errors import InputError, RunoffError, UndefinedMetricError
from ...evaluation import Evaluation
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
from ...store import Store
from ...store.tokens.frequencies import frequencies_of, source_of
from ...tokens.frequencies import KINDS, rare
from ..embeddings import N_RANDOM, SEED, curves_of
from .evaluate_page import EvaluateView

TOP_SHARE = 0.1  # of the items are the top that hubs crowd
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


def load(view: EvaluateView, place: int, n_worst: int = 15) -> WhyView:
    """Why embedding number `place` disagrees with people."""
    evaluation = view.evaluations[place]
    top = max(1, round(TOP_SHARE * evaluation.overall.n_covered))
    crowded = crowding(evaluation, top)
    try:
        skew: float | None = hub_skewness(crowded)
    except UndefinedMetricError:
        skew = None
    return WhyView(evaluation, with_hubs(evaluation.worst(n_worst), crowded), crowded, top, skew)


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
            counted = frequencies_of(store, conn, project_id, source)
        except RunoffError as error:
            return BandsView(related, pd.DataFrame(), str(error))
    found = rare(tokens, counted, share=source.share, lower=source.lower)
    is_rare = {t: None if pd.isna(r) else bool(r) for t, r in zip(found["token"], found["rare"], strict=True)}
    known = {t: f for t, f in zip(found["token"], found["frequency"], strict=True) if not np.isnan(f)}
    parts = [_bands(view, by_rarity(pairs, is_rare)), _bands(view, by_frequency(pairs, known))]
    frequency = pd.concat(parts, ignore_index=True)
    said = f"{source.label}: {KINDS[counted.kind]}. With a rare token is one of two."
    return BandsView(related, frequency, said)


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
