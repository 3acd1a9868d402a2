"""What is shown of one embedding: the paper's Figure 3, neighbours, lengths and equal vectors."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..embeddings import DuplicateVectors, Embedding, NormsSummary
from ..encoders import ENCODED
from ..errors import InputError, RunoffError
from ..store import Store
from ..store.command import project_row
from ..store.projects.embedding_library import Imported, embeddings_of, open_library
from ..store.tokens.areas import items_of

N_RANDOM = 5000
SEED = 3
ITEMS, RANDOM = "items", "random pairs"  # names of curves


@dataclass(frozen=True)
class Figure3:
    """The paper's Figure 3 of one embedding; where it can't be drawn `curves` is empty and `problem` may say why.

    `curves` has the relatedness (|cos|, or cos in a project of similarity) of items and of random pairs of the
    vocabulary, each sorted downwards over the share of pairs (0 to 1). `n_items` have a value.
    """

    curves: pd.DataFrame
    n_items: int
    notion: str
    problem: str = ""

    @property
    def medians(self) -> dict[str, float]:
        """The median of each curve."""
        return {str(name): float(part["value"].median()) for name, part in self.curves.groupby("pairs")}


@dataclass(frozen=True)
class EmbeddingView:
    """One embedding of a project; what it can't give is None, and `problem` says why."""

    imported: Imported
    embedding: Embedding | None
    figure3: Figure3
    norms: NormsSummary | None
    duplicates: DuplicateVectors | None
    problem: str = ""


def load(store: Store, project_id: str, embedding_id: str) -> EmbeddingView:
    """The view of one embedding of a project."""
    imported, embedding, figure3 = _opened(store, project_id, embedding_id)
    if embedding is None:
        return EmbeddingView(imported, None, figure3, None, None, figure3.problem)
    if embedding.kind != "vectors":
        return EmbeddingView(imported, embedding, figure3, None, None)
    return EmbeddingView(imported, embedding, figure3, embedding.norms_summary(), embedding.duplicate_vectors())


def load_figure3(store: Store, project_id: str, embedding_id: str) -> Figure3:
    """Figure 3 of one embedding of a project, without the rest, which takes long for large ones."""
    return _opened(store, project_id, embedding_id)[2]


def _opened(store: Store, project_id: str, embedding_id: str) -> tuple[Imported, Embedding | None, Figure3]:
    """The embedding, opened, and its Figure 3, which says why where the embedding can't be opened (None)."""
    with store.read() as conn:
        notion = project_row(conn, project_id).notion
        imported = next((e for e in embeddings_of(conn, project_id) if e.id == embedding_id), None)
        items = items_of(conn, project_id)
    if imported is None:
        raise InputError("This embedding is no longer compared in the project.")
    try:
        embedding = open_library(store, imported)
    except RunoffError as error:
        return imported, None, Figure3(curves_of({}, notion), 0, notion, str(error))
    within = embedding.cosines(items["token_a"].tolist(), items["token_b"].tolist())
    cosines = {ITEMS: within[np.isfinite(within)]}
    if embedding.kind == "vectors" and embedding.info.format != ENCODED:  # of no other words
        with suppress(InputError):  # where it has hardly a word
            cosines[RANDOM] = embedding.random_cosines(N_RANDOM, rng=np.random.default_rng(SEED))
    return imported, embedding, Figure3(curves_of(cosines, notion), len(cosines[ITEMS]), notion)


def curves_of(cosines: dict[str, np.ndarray], notion: str, points: int = 500) -> pd.DataFrame:
    """Each distribution as at most `points` of its sorted values."""
    parts = []
    for name, values in cosines.items():
        ordered = np.sort(np.abs(values) if notion == "relatedness" else values)[::-1]
        if len(ordered):
            at = np.unique(np.linspace(0, len(ordered) - 1, min(points, len(ordered))).astype(int))
            share = at / max(len(ordered) - 1, 1)
            parts.append(pd.DataFrame({"pairs": name, "share": share, "value": ordered[at]}))
    return pd.concat(parts) if parts else pd.DataFrame({"pairs": [], "share": [], "value": []})
