"""The embeddings of a project against its dataset: what the figures of an evaluation are measured of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from ...embeddings import Embedding
from ...errors import RunoffError
from ...evaluation import TOP_K, Comparison, Evaluation, compare
from ...store import Store
from ...store.command import project_row
from ...store.projects.library import embeddings_of, open_library
from ...store.scores.scores import dataset_of

FIGURES = (
    ("rho_w", "ρ_w"), ("tau_w", "τ_w"), ("rho", "ρ"), ("tau", "τ"), ("pearson", "Pearson"),
    ("precision", "top k"),
)  # fmt: skip
Settings = tuple[float, str, str, int]  # n₀, notion, policy, k of the precision


@dataclass(frozen=True)
class Evaluated:
    """A comparison with a dataset, None where there is nothing to compare. `models` are the embeddings as they were
    opened, in the order of `evaluations`; `problems` say why one can't be opened."""

    dataset: pd.DataFrame
    compared: Comparison | None
    models: tuple[Embedding, ...] = field(repr=False, compare=False)
    problems: tuple[str, ...]
    n0: float
    notion: str

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """One for each embedding."""
        return self.compared.evaluations if self.compared else ()

    @property
    def key(self) -> Settings:
        """The settings that it was made with."""
        return self.n0, self.notion, self.policy, self.top

    @property
    def top(self) -> int:
        """The k of the precision among the top k."""
        return self.evaluations[0].overall.top if self.evaluations else TOP_K

    @property
    def policy(self) -> str:
        """What is done about tokens that an embedding lacks, of `evaluation.POLICIES`."""
        return self.compared.policy if self.compared else "common"

    @property
    def ranked_apart(self) -> bool:
        """Each area has a ranking of its own: overall figures are means over areas."""
        return bool(self.dataset.attrs.get("ranking") == "area")


def load(
    store: Store,
    project_id: str,
    n0: float,
    notion: str,
    policy: str = "common",
    top: int = TOP_K,
    *,
    dataset: pd.DataFrame | None = None,
) -> Evaluated:
    """Evaluate all embeddings of a project with the offset n₀ under a notion (relatedness or similarity).

    `policy` is what is done about tokens that one lacks, `top` the k of the precision among the top k. `dataset` is
    `dataset_of` the project as it stands, where it has been read already.
    """
    with store.read() as conn:
        dataset = dataset_of(conn, project_id) if dataset is None else dataset
        imported = embeddings_of(conn, project_id)
    opened: list[tuple[str, Embedding]] = []
    problems = []
    for embedding in imported:
        try:
            opened.append((embedding.name, open_library(store, embedding)))
        except RunoffError as error:
            problems.append(f"{embedding.name}: {error}")
    compared: Comparison | None = None
    if len(dataset) and opened:
        compared = compare(dataset, [e for _, e in opened], n0=n0, notion=notion, policy=policy, top=top)
        named = zip(compared.evaluations, opened, strict=True)
        compared = replace(compared, evaluations=tuple(replace(e, model=name) for e, (name, _) in named))
    return Evaluated(dataset, compared, tuple(embedding for _, embedding in opened), tuple(problems), n0, notion)


BASELINES = 3  # what the draws of the random ranking are seeded with, on pages and in the published card


def seeded(store: Store, project_id: str, what: int) -> np.random.Generator:
    """A generator that follows from the project's seed and a number of its own for each use."""
    with store.read() as conn:
        return np.random.default_rng([project_row(conn, project_id).seed, 11, what])
