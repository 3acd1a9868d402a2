"""What is shown of one embedding: the paper's Figure 3, neighbours, lengths and equal vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..embeddings import DuplicateVectors, Embedding, NormsSummary
from ..errors import InputError, RunoffError
from ..store import Store
from ..store.areas import items_of
from ..store.command import project_row
from ..store.library import Imported, embeddings_of, open_library

N_RANDOM = 5000
SEED = 3


@dataclass(frozen=True)
class EmbeddingView:
    """One embedding of a project; what it can't give is None, and `problem` says why.

    `curves` has the relatedness (|cos|, or cos in a project of similarity) of items and of random pairs of the
    vocabulary, each sorted downwards over the share of pairs (0 to 1): the paper's Figure 3.
    """

    imported: Imported
    embedding: Embedding | None
    curves: pd.DataFrame
    n_items: int
    norms: NormsSummary | None
    duplicates: DuplicateVectors | None
    problem: str = ""

    @property
    def medians(self) -> dict[str, float]:
        """The median of each curve."""
        return {str(name): float(part["value"].median()) for name, part in self.curves.groupby("pairs")}


def load(store: Store, project_id: str, embedding_id: str) -> EmbeddingView:
    """The view of one embedding of a project."""
    with store.read() as conn:
        notion = project_row(conn, project_id).notion
        imported = next((e for e in embeddings_of(conn, project_id) if e.id == embedding_id), None)
        items = items_of(conn, project_id)
    if imported is None:
        raise InputError("This embedding is not compared in the project any more.")
    empty = pd.DataFrame({"pairs": [], "share": [], "value": []})
    try:
        embedding = open_library(store, imported)
    except RunoffError as error:
        return EmbeddingView(imported, None, empty, 0, None, None, str(error))
    within = embedding.cosines(items["token_a"].tolist(), items["token_b"].tolist())
    within = within[np.isfinite(within)]
    if embedding.kind != "vectors":
        curves = _curves({"items": within}, notion)
        return EmbeddingView(imported, embedding, curves, len(within), None, None)
    try:
        random = embedding.random_cosines(N_RANDOM, rng=np.random.default_rng(SEED))
    except InputError:
        random = np.array([])  # hardly a word in it
    curves = _curves({"items": within, "random pairs": random}, notion)
    return EmbeddingView(
        imported, embedding, curves, len(within), embedding.norms_summary(), embedding.duplicate_vectors()
    )


def _curves(cosines: dict[str, np.ndarray], notion: str, points: int = 500) -> pd.DataFrame:
    """Each distribution as at most `points` of its sorted values."""
    parts = []
    for name, values in cosines.items():
        ordered = np.sort(np.abs(values) if notion == "relatedness" else values)[::-1]
        if len(ordered):
            at = np.unique(np.linspace(0, len(ordered) - 1, min(points, len(ordered))).astype(int))
            share = at / max(len(ordered) - 1, 1)
            parts.append(pd.DataFrame({"pairs": name, "share": share, "value": ordered[at]}))
    return pd.concat(parts) if parts else pd.DataFrame({"pairs": [], "share": [], "value": []})
