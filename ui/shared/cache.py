"""Views kept in a cache between runs of the pages, until a command or a vote changes the project.

The key is the project's cache key, which every command and every vote raises, and the language, as views hold
sentences. A view is loaded by revision by one way, `by_revision`; the functions below it put several views together.

A cached value is shared by all sessions and must not be changed.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import pandas as pd
import streamlit as st

from core.commands.figures.base import Figure, MeasuredFigure, kept_or_measured, params_of, read
from core.commands.figures.votes import VoteChecks
from core.dataset.formats import table_of
from core.evaluation import TOP_K
from core.jobs.lifecycle import Job
from core.store import Store
from core.store.ballots.ballot_rows import Ballot
from core.store.projects.project_commands import Project
from core.store.scores.forecasts import fit_stored, read_ceiling, read_guess, votes_to_fit
from core.store.votes.checks import propose_gold
from core.store.votes.uploads import of_project, of_upload
from core.tables import ASSIGNMENTS
from core.trust.report import TrustCheck
from core.trust.voter_quality import VoterQuality
from core.views import embeddings, export, overview, plan, tokens, voters
from core.views.collect import collect_page
from core.views.evaluate import evaluate_page
from core.views.kinds import rounds
from core.views.scores import scores_page, trust
from core.votes.payment import Rules

_KEEP = 32
Asked = ParamSpec("Asked")
View = TypeVar("View")
R = TypeVar("R")


def by_revision(
    view: Callable[Concatenate[Store, str, Asked], View],
) -> Callable[Concatenate[Store, Project, Asked], View]:
    """A view of a project as a function of the store and the project, whose values are kept until the project changes.

    The values that a view is asked with are its key, whether they are given or its defaults.
    """
    name, parameters = f"{view.__module__}.{view.__name__}", inspect.signature(view)

    def load(store: Store, project: Project, /, *args: Asked.args, **named: Asked.kwargs) -> View:
        bound = parameters.bind(store, project.id, *args, **named)
        bound.apply_defaults()
        values = tuple(bound.arguments.items())[2:]
        return _kept_value(name, store, project, values, lambda: view(store, project.id, *args, **named))

    return load


def _kept_value(
    name: str, store: Store, project: Project, of: tuple[object, ...], make: Callable[[], View], at: int | None = None
) -> View:
    """The value of `make`, cached under name and values until the project changes; `at` replaces its cache key."""
    key = (name, str(store.folder), project.id, project.cache_key if at is None else at, of)
    value: View = _cached(key, make)
    return value


@st.cache_resource(max_entries=_KEEP, show_spinner=False)
def _cached(key: tuple[object, ...], _make: Callable[[], Any]) -> Any:
    """By one key, as Streamlit looks up the signature of a cached function once per argument at each call."""
    return _make()


def measured(store: Store, project: Project, figure: Figure[R]) -> MeasuredFigure[R]:
    """A figure of the project and its votes as they are, measured at once unless it is kept."""
    parameters = json.dumps(params_of(figure))
    return _kept_value(figure.name, store, project, (parameters,), lambda: kept_or_measured(store, figure, project))


def kept(store: Store, project: Project, figure: Figure[R], job: Job) -> MeasuredFigure[R]:
    """A figure that a job has found."""
    return _kept_value(figure.name, store, project, (job.id,), lambda: read(store, figure, job), project.revision)


def of_figure(
    name: str, store: Store, project: Project, figure: MeasuredFigure[Any], make: Callable[[], View], *of: Any
) -> View:
    """What `make` computes from a figure and some values; votes that come in after the figure's job don't change it."""
    at = None if figure.job is None else project.revision
    return _kept_value(f"{name}, shown", store, project, (figure.key, *of), make, at)


# Each view that pages show as it is.
load_ceiling = by_revision(read_ceiling)
load_collect = by_revision(collect_page.load)
load_diff = by_revision(export.load_diff)
load_embedding = by_revision(embeddings.load)
load_figure3 = by_revision(embeddings.load_figure3)
load_guess = by_revision(read_guess)
load_hubness = by_revision(tokens.load_hubness)
load_items = by_revision(tokens.load_items)
load_next_ballot_value = by_revision(trust.load_next_ballot_value)
load_overview = by_revision(overview.load)
load_panel_fit = by_revision(fit_stored)
load_paper_figures = by_revision(scores_page.load_paper_figures)
load_pilot = by_revision(plan.load)
load_proposed = by_revision(tokens.load_proposed)
load_rounds = by_revision(rounds.load)
load_scores = by_revision(scores_page.load)
load_spellings = by_revision(tokens.load_spellings)
load_standings = by_revision(overview.load_standings)
load_tokens = by_revision(tokens.load)
load_votes_to_fit = by_revision(votes_to_fit)
# What goes when the project is deleted, or an upload of it is withdrawn.
load_stake_of_project = by_revision(of_project)
load_stake_of_upload = by_revision(of_upload)


def load_rank_stabilisation(store: Store, project: Project, area_id: int | None) -> scores_page.RankStabilisationView:
    def make() -> scores_page.RankStabilisationView:
        return scores_page.load_rank_stabilisation(
            store, project.id, area_id, scored=load_scores(store, project, area_id).scored
        )

    return _kept_value("settling", store, project, (area_id,), make)


def load_round(view: Any, store: Store, project: Project, ballot: Ballot) -> Any:
    """A view of `core.views.kinds.rounds`, of one round."""
    function = getattr(view, "func", view)
    name = f"{function.__module__}.{function.__name__}"
    return _kept_value(name, store, project, (ballot.id,), lambda: view(store, project.id, ballot))


def load_proposed_gold(store: Store, project: Project, ballot: Ballot) -> list[tuple[int, int]]:
    """Kept while votes come in: proposals rest on ballots that are closed."""

    def make() -> list[tuple[int, int]]:
        return propose_gold(store, project.id, area_id=ballot.area_id, seed=ballot.seed)

    return _kept_value("proposed gold", store, project, (ballot.id,), make, project.revision)


def load_payment_votes(store: Store, project: Project, ballot_id: int, most: int) -> pd.DataFrame:
    of = (ballot_id, most)
    return _kept_value("dealt", store, project, of, lambda: collect_page.read_voters(store, *of))


def load_payment(
    store: Store, project: Project, ballot_id: int, rules: Rules, *, figure: MeasuredFigure[int]
) -> collect_page.PaymentView:
    """By the assignments that were read, once for all rules."""

    def assignments() -> pd.DataFrame:
        return table_of(figure.read_file(), ASSIGNMENTS)

    def make() -> collect_page.PaymentView:
        table = of_figure("assignments", store, project, figure, assignments)
        return collect_page.load_payment(store, project.id, ballot_id, rules, assignments=table)

    return of_figure("settlement", store, project, figure, make, ballot_id, rules)


def load_checks(
    store: Store, project: Project, area_id: int | None, figure: MeasuredFigure[VoteChecks]
) -> trust.ChecksView:
    def make() -> trust.ChecksView:
        return trust.load_checks(store, project.id, area_id, measured=figure.result)

    return of_figure("checks", store, project, figure, make, area_id)


def load_voters(
    store: Store, project: Project, area_id: int | None, figure: MeasuredFigure[VoterQuality]
) -> voters.VotersView:
    def make() -> voters.VotersView:
        return voters.load(store, project.id, area_id, quality=figure.result)

    return of_figure("voters", store, project, figure, make, area_id)


def load_export(store: Store, project: Project) -> export.ExportView:
    def make() -> export.ExportView:
        return export.load(store, project.id, dataset=load_scores(store, project).dataset)

    return _kept_value("export", store, project, (), make)


def load_trust(
    store: Store, project: Project, area_id: int | None, figure: MeasuredFigure[tuple[TrustCheck, ...]]
) -> trust.TrustView:
    def make() -> trust.TrustView:
        return trust.load(store, project.id, area_id, lines=figure.result)

    return of_figure("trust", store, project, figure, make, area_id)


def load_evaluation(
    store: Store, project: Project, n0: float, notion: str, policy: str = "common", top: int = TOP_K
) -> evaluate_page.EvaluateView:
    def make() -> evaluate_page.EvaluateView:
        dataset = load_scores(store, project).dataset
        return evaluate_page.load(store, project.id, n0, notion, policy, top, dataset=dataset)

    return _kept_value("evaluation", store, project, (n0, notion, policy, top), make)


def of_evaluation(make: Any, store: Store, project: Project, view: evaluate_page.EvaluateView, *args: Any) -> Any:
    """What `make(store, project_id, view, *args)` computes from an evaluation, kept by the evaluation's settings."""
    name = f"{make.__module__}.{make.__name__}"
    return _kept_value(name, store, project, (*view.key, *args), lambda: make(store, project.id, view, *args))
