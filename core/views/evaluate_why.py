"""Why an embedding does as it does: hubs, where tokens lie, parts of the items, n₀ along a curve, variants."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..embeddings import Embedding
from ..encoders import ENCODED
from ..errors import InputError, RunoffError, UndefinedMetricError
from ..evaluation import Correlations, Evaluation, correlations
from ..evaluation.bands import ORDER, by_frequency, by_rarity, by_relatedness, over_bands
from ..evaluation.causes import crowding, hub_skewness, layout, with_hubs
from ..evaluation.variants import WHAT, variants
from ..frequencies import KINDS, rare
from ..progress import Progress
from ..store import Store
from ..store.areas import areas_of
from ..store.frequencies import frequencies_of, source_of
from .embedding import N_RANDOM, SEED, curves_of
from .evaluate import FIGURES, EvaluateView
from .evaluate_tokens import seeded

OFFSETS = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0, 40.0, 50.0)
MOST_ITEMS = 50_000  # items beyond which the curve is not drawn
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

    Columns pairs, share, value, as `charts.similarity_curves` takes them.
    """
    evaluation, model = view.evaluations[place], view.models[place]
    pairs = evaluation.pairs.dropna(subset=["cosine"])
    cosines = {str(area) or ALL_ITEMS: part["cosine"].to_numpy() for area, part in pairs.groupby("area", sort=False)}
    if model.kind == "vectors" and model.info.format != ENCODED:  # which has no other words
        with suppress(InputError):  # where it has hardly a word
            cosines["random pairs"] = model.random_cosines(N_RANDOM, rng=np.random.default_rng(SEED))
    return curves_of(cosines, view.notion, points=200)


def tokens_map(store: Store, project_id: str, model: Embedding, area: str) -> tuple[pd.DataFrame, float]:
    """Where the tokens of an area lie in the plane, as `causes.layout` has it. Raises `InputError` for too few."""
    with store.read() as conn:
        tokens = next((list(each.tokens) for each in areas_of(conn, project_id) if each.name == area), [])
    return layout(model, tokens)


def curve(view: EvaluateView) -> pd.DataFrame:
    """ρ_w and τ_w of each embedding along n₀ from 0 to 50, over the items that the policy compares.

    Columns embedding, figure, n0, value. Empty for more than 50,000 items.
    """
    rows: list[tuple[str, str, float, float | None]] = []
    columns = ["embedding", "figure", "n0", "value"]
    if view.compared is None or len(view.evaluations[0].pairs) > MOST_ITEMS:
        return pd.DataFrame(rows, columns=columns)
    own = view.policy in ("own", "lowest")
    every = np.logical_and.reduce([~np.isnan(e.values) for e in view.evaluations])
    for evaluation in view.evaluations:
        kept = ~np.isnan(evaluation.values) if own else every
        values, scores = evaluation.values[kept], evaluation.pairs["score"].to_numpy()[kept]
        areas = evaluation.pairs["area"].to_numpy()[kept] if view.ranked_apart else None
        for n0 in OFFSETS:
            found = correlations(scores, values, n0=n0, apart=areas, names=("rho_w", "tau_w"))
            rows += [(evaluation.model, label, n0, getattr(found, key).estimate) for key, label in FIGURES[:2]]
    return pd.DataFrame(rows, columns=columns).astype({"value": "float64"})


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
        [name, evaluation.model, figures.n_items, *_estimates(figures)]
        for evaluation in view.evaluations
        for name, figures in over_bands(evaluation, bands, items=every, apart=view.ranked_apart).items()
    ]
    table = pd.DataFrame(rows, columns=["items", "embedding", "n", *(label for _, label in FIGURES)])
    order = {name: place for place, name in enumerate(ORDER)}
    return table.sort_values("items", key=lambda names: names.map(order), kind="stable").reset_index(drop=True)


def _estimates(figures: Correlations) -> list[float]:
    found = [getattr(figures, key).estimate for key, _ in FIGURES]
    return [np.nan if value is None else value for value in found]


def load_variants(
    store: Store, project_id: str, view: EvaluateView, *, progress: Progress | None = None
) -> pd.DataFrame:
    """Each embedding's variants with their figures over its own items; those without vectors are left out.

    `progress` is told how many embeddings are done.
    """
    rows = []
    for number, (evaluation, model) in enumerate(zip(view.evaluations, view.models, strict=True)):
        if progress is not None:
            progress(number, len(view.evaluations))
        if model.kind != "vectors" or len(evaluation.pairs) > MOST_ITEMS:
            continue
        for found in variants(evaluation, model, apart=view.ranked_apart, rng=seeded(store, project_id, 4)):
            rows.append([evaluation.model, found.name, *_estimates(found.figures), WHAT[found.name]])
    return pd.DataFrame(rows, columns=["embedding", "cosines", *(label for _, label in FIGURES), "what it is"])
