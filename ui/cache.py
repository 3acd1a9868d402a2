"""Views kept between runs. The key is the project's stamp, which every command and every vote raises, and
the language, as views hold sentences.

A cached value is shared by all sessions and must not be changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import pandas as pd
import streamlit as st

from core.dataset_diff import DatasetDiff
from core.evaluation import TOP_K
from core.foresight import Foresight
from core.planning import Guess, PanelCeiling
from core.publishing import Publication, publish
from core.settlement import Rules
from core.store import Store
from core.store.at_stake import AtStake, of_project, of_upload
from core.store.ballots import Ballot
from core.store.forecasts import GuessSource, read_ceiling, read_guess
from core.store.panel_fits import StoredFit, fit_stored, votes_to_fit
from core.store.projects import Project
from core.views import (
    checks,
    checks_job,
    collect,
    dealing,
    embedding,
    evaluate,
    export,
    near_tokens,
    overview,
    paper_figures,
    pilot,
    preview_job,
    scores,
    settlement,
    settlement_job,
    settling,
    tokens,
    trust,
    trust_job,
    voter_preview,
    voters,
    voters_job,
)

_KEEP = 32
Asked = ParamSpec("Asked")
View = TypeVar("View")


def _load(
    view: Callable[Concatenate[Store, str, Asked], View],
    store: Store,
    project: Project,
    *args: Asked.args,
    **named: Asked.kwargs,
) -> View:
    key = (f"{view.__module__}.{view.__name__}", str(store.folder), project.id, project.stamp)
    found: View = _cached(*key, args, view, store, tuple(named.items()))
    return found


@st.cache_resource(max_entries=_KEEP, show_spinner=False)
def _cached(
    name: str,
    folder: str,
    project_id: str,
    stamp: int,
    args: tuple[object, ...],
    _view: Callable[..., Any],
    _store: Store,
    named: tuple[tuple[str, object], ...] = (),
) -> Any:
    return _view(_store, project_id, *args, **dict(named))


def load_at_stake(store: Store, project: Project, upload_id: int | None = None) -> AtStake:
    """What goes when the project is deleted, or an upload of it is withdrawn."""
    return _load(of_project, store, project) if upload_id is None else _load(of_upload, store, project, upload_id)


def load_overview(store: Store, project: Project) -> overview.Overview:
    return _load(overview.load, store, project)


def load_tokens(store: Store, project: Project) -> tokens.TokensView:
    return _load(tokens.load, store, project)


def load_guess(store: Store, project: Project, area_id: int | None, source: GuessSource) -> Guess:
    return _load(read_guess, store, project, area_id, source)


def load_votes_to_fit(store: Store, project: Project, area_id: int | None) -> dict[str, int]:
    return _load(votes_to_fit, store, project, area_id)


def load_panel_fit(store: Store, project: Project, area_id: int | None, similarity: str, which: str) -> StoredFit:
    return _load(fit_stored, store, project, area_id, similarity, which)


def load_settling(store: Store, project: Project, area_id: int | None) -> settling.SettlingView:
    def of_scores(store: Store, project_id: str, *_: Any) -> settling.SettlingView:
        return settling.load(store, project_id, area_id, scored=load_scores(store, project, area_id).scored)

    of_scores.__name__ = "settling"
    return _load(of_scores, store, project, area_id)


def load_pilot(store: Store, project: Project, area_id: int | None = None) -> pilot.PilotView:
    return _load(pilot.load, store, project, area_id)


def load_paper_figures(store: Store, project: Project) -> paper_figures.PaperFigures:
    return _load(paper_figures.load, store, project)


def load_ceiling(store: Store, project: Project, area_id: int | None, source: GuessSource) -> PanelCeiling:
    return _load(read_ceiling, store, project, area_id, source)


def load_standings(store: Store, project: Project) -> tuple[overview.Standing, ...]:
    return _load(overview.load_standings, store, project)


def load_round(view: Any, store: Store, project: Project, found: Ballot) -> Any:
    """What a view of `core.views.rounds` says of a round."""
    named = getattr(view, "func", view)
    return _cached(f"{named.__module__}.{named.__name__}", str(store.folder), project.id, project.stamp,
                   (found.id,), lambda store, project_id, _: view(store, project_id, found), store)  # fmt: skip


def load_items(store: Store, project: Project) -> pd.DataFrame:
    return _load(tokens.load_items, store, project)


def load_spellings(store: Store, project: Project, embedding_id: str) -> tokens.Coverage:
    return _load(tokens.load_spellings, store, project, embedding_id)


def load_proposed(store: Store, project: Project, embedding_id: str, area: str) -> near_tokens.ProposedView:
    return _load(near_tokens.load_proposed, store, project, embedding_id, area)


def load_hubness(store: Store, project: Project, embedding_id: str, k: int) -> near_tokens.HubnessView:
    return _load(near_tokens.load_hubness, store, project, embedding_id, k)


def load_collect(store: Store, project: Project, area_id: int | None = None) -> collect.CollectView:
    return _load(collect.load, store, project, area_id)


def load_dealt(store: Store, project: Project, ballot_id: int, most: int) -> pd.DataFrame:
    def dealt(store: Store, _project_id: str, *of: Any) -> pd.DataFrame:
        return dealing.read_voters(store, *of)

    return _load(dealt, store, project, ballot_id, most)


def load_settlement(store: Store, project: Project, ballot_id: int, rules: Rules) -> settlement.SettlementView:
    return _load(settlement.load, store, project, ballot_id, rules)


def load_settlement_of(
    store: Store, project: Project, ballot_id: int, rules: Rules, job_id: str
) -> settlement.SettlementView:
    """By the assignments that a job has read; votes that come in since don't change them. They are read once for all
    rules."""
    here = (str(store.folder), project.id, project.revision)
    read = settlement_job.FIGURES.of_job
    assignments = _cached("assignments of a job", *here, (job_id,), lambda store, _, id_: read(store, id_), store)

    def settled(store: Store, project_id: str, *_: Any) -> settlement.SettlementView:
        return settlement.load(store, project_id, ballot_id, rules, assignments=assignments)

    return _cached("settlement of a job", *here, (ballot_id, rules, job_id), settled, store)


def load_checks(store: Store, project: Project, area_id: int | None = None) -> checks.VoteChecks:
    return _load(checks.load, store, project, area_id)


def load_checks_of(store: Store, project: Project, area_id: int | None, job_id: str) -> checks.VoteChecks:
    return _load(checks_job.load, store, project, area_id, job_id)


def load_voters(store: Store, project: Project, area_id: int | None = None) -> voters.VotersView:
    return _load(voters.load, store, project, area_id)


def load_voters_of(store: Store, project: Project, area_id: int | None, job_id: str) -> voters.VotersView:
    return _load(voters_job.load, store, project, area_id, job_id)


def load_voter_preview(
    store: Store, project: Project, area_id: int | None, voter_ids: tuple[int, ...]
) -> voter_preview.Preview:
    return _load(voter_preview.load, store, project, area_id, voter_ids)


def load_voter_preview_of(store: Store, project: Project, area_id: int | None, job_id: str) -> voter_preview.Preview:
    return _load(preview_job.load, store, project, area_id, job_id)


def load_scores(store: Store, project: Project, area_id: int | None = None) -> scores.ScoresView:
    return _load(scores.load, store, project, area_id)


def load_export(store: Store, project: Project) -> export.ExportView:
    def of_scores(store: Store, project_id: str, *_: Any) -> export.ExportView:
        return export.load(store, project_id, dataset=load_scores(store, project).dataset)

    of_scores.__name__ = "export"
    return _load(of_scores, store, project)


def load_publication(store: Store, project: Project) -> Publication:
    return _load(publish, store, project)


def load_diff(store: Store, project: Project, before: int, after: int) -> DatasetDiff:
    return _load(export.load_diff, store, project, before, after)


def load_trust(store: Store, project: Project, area_id: int | None = None) -> trust.TrustView:
    return _load(trust.load, store, project, area_id)


def load_trust_of(store: Store, project: Project, area_id: int | None, job_id: str) -> trust.TrustView:
    return _load(trust_job.load, store, project, area_id, job_id)


def load_foresight(store: Store, project: Project, area_id: int | None = None) -> tuple[Foresight | None, int, bool]:
    return _load(trust.load_foresight, store, project, area_id)


def load_embedding(store: Store, project: Project, embedding_id: str) -> embedding.EmbeddingView:
    return _load(embedding.load, store, project, embedding_id)


def load_figure3(store: Store, project: Project, embedding_id: str) -> embedding.Figure3:
    return _load(embedding.load_figure3, store, project, embedding_id)


def load_evaluation(
    store: Store, project: Project, n0: float, notion: str, policy: str = "common", top: int = TOP_K
) -> evaluate.EvaluateView:
    def of_scores(store: Store, project_id: str, *_: Any) -> evaluate.EvaluateView:
        dataset = load_scores(store, project).dataset
        return evaluate.load(store, project_id, n0, notion, policy, top, dataset=dataset)

    of_scores.__name__ = "evaluation"
    return _load(of_scores, store, project, n0, notion, policy, top)


def of_evaluation(made: Any, store: Store, project: Project, view: evaluate.EvaluateView, *args: Any) -> Any:
    """What `made(store, project_id, view, *args)` makes of an evaluation, kept by the evaluation's settings."""

    def of_view(store: Store, project_id: str, *_: Any) -> Any:
        return made(store, project_id, view, *args)

    of_view.__name__ = f"{made.__module__}.{made.__name__}"
    return _load(of_view, store, project, *view.key, *args)
