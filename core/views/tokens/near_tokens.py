"""What is shown of the tokens that an embedding proposes for an area, and of hubness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...errors import InputError, RunoffError
from ...store import Store
from ...store.command import project_row
from ...store.projects.library import Imported, embeddings_of, open_library
from ...store.tokens.areas import areas_of
from ...tokens.files import AreaTokens
from ...tokens.hubness import Hubness, hubness, sample_words
from ...tokens.near_tokens import PROPOSED, near_tokens

N_PROPOSED = 20
N_SAMPLED = 2000  # words of the vocabulary that are asked beside the tokens


@dataclass(frozen=True)
class ProposedView:
    """The proposals of an embedding for an area (table `PROPOSED`); `problem` says why there are none."""

    area: AreaTokens
    imported: Imported
    proposed: pd.DataFrame
    problem: str = ""


@dataclass(frozen=True)
class HubnessView:
    """Hubness of the project's tokens in an embedding; `by_tokens` has them with N_k, the greatest first.

    `n_tokens` and `n_sampled` are asked for their neighbours, as far as they have a vector.
    """

    found: Hubness | None
    by_tokens: pd.DataFrame
    n_tokens: int
    n_sampled: int
    problem: str = ""


def load_proposed(store: Store, project_id: str, embedding_id: str, area: str) -> ProposedView:
    """The words of an embedding nearest to the tokens of an area."""
    with store.read() as conn:
        areas = {each.name: each for each in areas_of(conn, project_id)}
        imported = _imported(embeddings_of(conn, project_id), embedding_id)
    if area not in areas:
        raise InputError(f"There is no area {area} any more.")
    try:
        proposed, problem = near_tokens(areas[area], open_library(store, imported), N_PROPOSED), ""
    except RunoffError as error:
        proposed, problem = PROPOSED.empty(), str(error)
    return ProposedView(areas[area], imported, proposed, problem)


def load_hubness(store: Store, project_id: str, embedding_id: str, k: int) -> HubnessView:
    """Hubness over the project's tokens and a sample of the vocabulary, which follows from the project's seed."""
    with store.read() as conn:
        tokens = list(dict.fromkeys(token for area in areas_of(conn, project_id) for token in area.tokens))
        imported = _imported(embeddings_of(conn, project_id), embedding_id)
        seed = project_row(conn, project_id).seed
    try:
        embedding = open_library(store, imported)
        there = [word for word in embedding.spelling(tokens) if word is not None]
        rng = np.random.default_rng([seed, 1, 7])
        words = sample_words(embedding.vocabulary, N_SAMPLED, [*tokens, *there], rng=rng)
        found = hubness(embedding, tokens, words, k=k)
    except RunoffError as error:
        return HubnessView(None, pd.DataFrame(), len(tokens), 0, str(error))
    shown = found.tokens.dropna(subset=["n_k"]).sort_values(["n_k", "token"], ascending=[False, True])
    n_words = int(found.words["n_k"].notna().sum())
    return HubnessView(found, shown[["token", "n_k"]].reset_index(drop=True), len(shown), n_words)


def _imported(embeddings: list[Imported], embedding_id: str) -> Imported:
    for embedding in embeddings:
        if embedding.id == embedding_id:
            return embedding
    raise InputError("This embedding is not compared in the project any more.")
