"""The paper's Figures 2, 3 and 4 from simulated campaigns, and Figure 3 with the project's embedding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...simulation.table2 import FIGURE_2_PANEL, Figure2, example_campaign, figure_2, figure_4
from ...store import Store
from ...store.command import project_row
from ...store.projects.embedding_library import embeddings_of, open_library
from ...store.tokens.areas import items_of
from ...voters.model import exponential, power_law
from ..evaluate.embedding import N_RANDOM, SEED, curves_of

N_ITEMS = 990  # of the paper's distributions


@dataclass(frozen=True)
class PaperFigures:
    """Figure 2 (one ballot, σ* = .1 and ε = .01 for all voters), the rows of Figure 4, and the curves of Figure 3.

    `curves` has a row a point: pairs (which distribution), share and value; `value` names the value.
    """

    rescaling: Figure2
    by_ballot: pd.DataFrame
    curves: pd.DataFrame
    value: str


def load(store: Store, project_id: str) -> PaperFigures:
    """The figures; the embedding is the project's first with vectors, and without one Figure 3 has two curves."""
    with store.read() as conn:
        notion = project_row(conn, project_id).notion
        imported = embeddings_of(conn, project_id)
        items = items_of(conn, project_id)
    distributions = {"exponential": exponential(N_ITEMS), "power law": power_law(N_ITEMS)}
    for one in imported:
        embedding = open_library(store, one)
        if embedding.kind != "vectors":
            continue
        cosines = embedding.cosines(items["token_a"].tolist(), items["token_b"].tolist())
        there = np.isfinite(cosines)
        first = items["area"].iloc[0] if len(items) else ""
        distributions["embedding, all items"] = cosines[there]
        distributions[f"embedding, {first}"] = cosines[there & (items["area"] == first).to_numpy()]
        distributions["embedding, random pairs"] = embedding.random_cosines(N_RANDOM, rng=np.random.default_rng(SEED))
        break
    return PaperFigures(
        figure_2(example_campaign(panel=FIGURE_2_PANEL)),
        figure_4(example_campaign()),
        curves_of({name: values for name, values in distributions.items() if len(values)}, notion),
        "|cos|" if notion == "relatedness" else "cos",
    )
