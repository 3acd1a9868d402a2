"""What leaving voters out would change, before it is decided: votes, scores, the project's embeddings."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ...base.plurals import many, plural
from ...base.progress import Progress
from ...embeddings import Embedding
from ...errors import RunoffError
from ...evaluation import compare
from ...store import Store
from ...store.projects.library import embeddings_of, open_library
from ...store.scores.scores import dataset_of
from ...store.scores.without_voters import Counted, chosen_otherwise, counted_without, dataset_without
from ...store.votes.laid_aside import excluded_ids
from ...votes.effects import N_TOP
from .votes import OfRanking

KEYS = ["area", "token_a", "token_b"]


@dataclass(frozen=True)
class Preview:
    """What leaving some voters out would change.

    before, after : counts over all ballots. changes : items among the first `n_top` that would be others (summed over
    areas where each has a ranking of its own). models : embedding, ρ_w and τ_w now and then, NaN where undefined.
    otherwise : of drawn ballots, how many of their items would not have gone on. problem : why there are no scores
    without these voters, or "".
    """

    voters: int
    before: Counted
    after: Counted
    n_top: int
    changes: int
    models: pd.DataFrame
    otherwise: tuple[tuple[int, int], ...]
    problem: str

    @property
    def said(self) -> tuple[str, ...]:
        """The changes in sentences."""
        votes = plural(
            self.voters,
            "Without this voter: votes {before:,} → {after:,}; comparisons without a vote {was:,} → {becomes:,}.",
            "Without these {n} voters: votes {before:,} → {after:,}; comparisons without a vote {was:,} → {becomes:,}.",
            before=self.before.votes,
            after=self.after.votes,
            was=self.before.unvoted,
            becomes=self.after.unvoted,
        )
        if self.problem:
            return (votes,)
        told = [f"The top {self.n_top} stays the same."]
        if self.changes:
            told = [f"The top {self.n_top} changes in {many(self.changes, 'item')}."]
        moved = [
            f"ρ_w of {name} from {was:.3f} to {becomes:.3f}"
            for name, was, becomes in self.models[["embedding", "ρ_w now", "ρ_w then"]].itertuples(index=False)
            if was == was and becomes == becomes
        ]
        if moved:
            told.append(f"{'; '.join(moved)}.")
        others = [f"{many(n, 'item')} of ballot {number}" for number, n in self.otherwise if n]
        if others:
            items = ", ".join(others)
            told.append(f"Who went on stays as decided; by these votes {items} would be others.")
        return votes, " ".join(told)


@dataclass(frozen=True)
class WithoutVoters(OfRanking[Preview]):
    """The preview of leaving voters out besides those who are left out already."""

    name = "voter_preview"
    version = 3
    doing = "Scoring without them"
    voter_ids: tuple[int, ...]

    def measure(self, store: Store, progress: Progress | None) -> tuple[Preview, None]:
        return _preview(store, self.project_id, self.area_id, self.voter_ids), None


def _preview(store: Store, project_id: str, area_id: int | None, voter_ids: tuple[int, ...]) -> Preview:
    with store.read() as conn:
        out = excluded_ids(conn, project_id)
        then = out | set(voter_ids)
        counts = counted_without(conn, project_id, out), counted_without(conn, project_id, then)
        before = dataset_of(conn, project_id)
        imported = embeddings_of(conn, project_id)
        nothing = pd.DataFrame(columns=["embedding", "ρ_w now", "ρ_w then", "τ_w now", "τ_w then"])
        try:
            after = dataset_without(conn, project_id, then)
            otherwise = tuple(chosen_otherwise(conn, project_id, then, area_id))
        except RunoffError as error:
            return Preview(len(voter_ids), *counts, N_TOP, 0, nothing, (), str(error))
    opened = []
    for embedding in imported:
        try:
            opened.append((embedding.name, open_library(store, embedding)))
        except RunoffError:
            continue  # the Evaluate page says which can't be opened, and why
    models = _models(before, after, opened) if opened and len(before) and len(after) else nothing
    changes = _changes(before, after)
    return Preview(len(voter_ids), *counts, min(N_TOP, len(before)), changes, models, otherwise, "")


def _models(before: pd.DataFrame, after: pd.DataFrame, opened: list[tuple[str, Embedding]]) -> pd.DataFrame:
    embeddings = [embedding for _, embedding in opened]
    figures = [[e.overall for e in compare(dataset, embeddings).evaluations] for dataset in (before, after)]
    rows = [
        (name, *(getattr(f, figure).estimate for figure in ("rho_w", "tau_w") for f in both))
        for (name, _), both in zip(opened, zip(*figures, strict=True), strict=True)
    ]
    names = ["embedding", "ρ_w now", "ρ_w then", "τ_w now", "τ_w then"]
    return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[1:], "float64"))


def _changes(before: pd.DataFrame, after: pd.DataFrame) -> int:
    """How many of the first items would be others; ties at the end of the top may make it longer."""
    apart = before.attrs["ranking"] == "area"
    return len(_top(before, apart) - _top(after, apart))


def _top(dataset: pd.DataFrame, apart: bool) -> set[tuple[str, ...]]:
    first = dataset.groupby("area", sort=False).head(N_TOP) if apart else dataset.head(N_TOP)
    return set(first[KEYS].itertuples(index=False, name=None))
