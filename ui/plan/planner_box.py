"""The planner: what the plan's votes would give, over budgets too, and the search for a better plan."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.base.durable import slug
from core.base.numbers_in_words import many, with_decimals
from core.charts import campaign_charts
from core.commands.figures.base import job_of
from core.commands.figures.simulations import OtherBudgets, PlanOutlook
from core.errors import RunoffError
from core.plan import Plan
from core.simulation.forecast import RELIABLE, Forecast
from core.store.projects.embedding_library import read_embeddings
from core.store.projects.plans import PlanSettings
from core.store.projects.project_commands import Project
from core.store.scores.forecasts import BALLOT_VOTES, PILOT_VOTES, GuessSource, StoredFit
from core.views import plan as planner
from core.views.plan import fit_table, rests_on
from core.voters.model import PAPER_PANEL, Panel
from ui.plan import planner_jobs
from ui.shared import cache, chart_files, choosers, frame, jobs

PANELS: dict[str, tuple[str, Panel]] = {
    "paper": ("as in the paper", PAPER_PANEL),
    "noisy": ("with twice the differences of opinion", replace(PAPER_PANEL, nonconformity=(0.04, 0.4))),
    "careless": ("with 10% random clickers", replace(PAPER_PANEL, random_clickers=0.1)),
}
FITTED = {PILOT_VOTES: "as fitted to the pilot's votes", BALLOT_VOTES: "as fitted to this project's votes"}
EAGER = 5_000  # votes that are fitted before anybody asks, in a fraction of a second
SHAPES_OF_SIMILARITY = {"exponential": "exponential (few items stand out)", "power_law": "power law (very few do)"}

# Of the columns of the outlook: what each is called and what it means.
COLUMNS = {
    "protocol": ("protocol", None),
    "votes": ("votes", None),
    "ρ_w": (
        "ρ_w",
        "Between the scores and the true ranking: the mean over campaigns, and in brackets where 90% of them lie.",
    ),
    "τ_w": ("τ_w", "The same for τ_w."),
    "top items cut": ("top items cut", "Share of the true top items that aren't in the last ballot any more."),
    "tells apart": (
        "tells apart",
        (
            "The smallest difference in ρ_w of two models that shows in 80% of campaigns, tested at 5%, two-sided. "
            "The items are taken as given."
        ),
    ),
    "campaigns": ("campaigns", "How many campaigns were simulated."),
}


def planner_box(
    project: Project, area_id: int | None, settings: PlanSettings, plan: Plan, *, key: str, locked: bool, unasked: bool
) -> tuple[Forecast | None, GuessSource]:
    """The whole of it; the forecast of the plan by its own protocol, once it is there, and what it guesses.

    `key` is that of the plan's widgets, which a plan found is put into; `unasked`: the plan is simulated before anybody
    asks, as it is a saved or proposed one and no draft that changes by the minute.
    """
    st.subheader(
        "What these votes would give", help="From campaigns that simulated voters answered (section 4.1 of the paper)."
    )
    source = guess_source(project, area_id, min(settings.n_voters, 1000))
    try:
        guess = cache.load_guess(frame.store(), project, area_id, source)
    except RunoffError as error:
        frame.show_error(error)
        return None, source
    request = planner_jobs.PlannerRequest(project, area_id, settings, plan, source, guess, key)
    ours = _outlook(request, unasked)
    _curve(request)
    planner_jobs.search_box(request, locked=locked)
    planner_jobs.watch(project)
    _paper_figures(project)
    return ours, source


def guess_source(project: Project, area_id: int | None, n_voters: int) -> GuessSource:
    """The choice of what items and voters are guessed to be; every page that asks it shows the same choice."""
    left, right = st.columns(2)
    guesses = dict(SHAPES_OF_SIMILARITY)
    for imported in read_embeddings(frame.store(), project.id):
        guesses[imported.id] = f"cosines of {imported.name}"
    similarity = choosers.selectbox(
        "Assumed relatedness",
        guesses,
        place=left,
        key=f"guess-{project.id}",
        persist_state="session",
        help=(
            "How related the items truly are, which nobody knows beforehand. Try more than one: a good plan is good "
            "under each. An embedding's cosines only shape the guess; its ranking isn't used for the dataset."
        ),
    )
    key = f"panel-{project.id}"
    fits, reasons = _fits_offered(project, area_id, similarity, st.session_state.get(key))
    names = {name: words for name, (words, _) in PANELS.items()} | fits
    if st.session_state.get(key, "paper") not in names:
        st.session_state[key] = "paper"
    panel = choosers.selectbox(
        "Assumed voters",
        names,
        place=right,
        key=key,
        persist_state="session",
        help=(
            "How much opinions differ (σ* from .02 to .2 in the paper) and how often a voter slips (ε from .005 to "
            ".05). The plan's number of voters answers."
        ),
    )
    for reason in reasons:
        st.caption(frame.plain(reason))
    fit = _fitted(project, area_id, similarity, panel, n_voters) if panel in fits else None
    guessed = PANELS[panel if panel in PANELS else "paper"][1]
    return GuessSource(similarity, fit or replace(guessed, n_voters=n_voters))


def _outlook(request: planner_jobs.PlannerRequest, unasked: bool) -> Forecast | None:
    """The forecast of the plan as it stands: known, under way, or on request."""
    outlook = planner.load_outlook(frame.store(), request.guess, request.plan)
    if not outlook.is_complete:
        figure = planner_jobs.forecasts(PlanOutlook, request)
        job = job_of(frame.store(), figure)
        if unasked and job is None:
            begin_unasked(figure)
            job = job_of(frame.store(), figure)
        if job is not None and not job.ended:
            jobs.watch(job.id, partial(jobs.so_far, figure.doing), f"outlook-{request.key}")
        elif not unasked or job is not None:
            about = "This takes a few seconds in the background. What was simulated once is kept, and shown at once."
            planner_jobs.job_button("Simulate this plan", figure, request, help=about)
        return None
    ours = outlook.forecasts[request.settings.protocol]
    if not math.isnan(ours.rho_w.mean):
        st.markdown(
            f"**About ρ_w = {with_decimals(ours.rho_w.mean, 2)} and τ_w = {with_decimals(ours.tau_w.mean, 2)} from "
            f"{many(ours.n_comparisons, 'vote')}. Two models are told apart in 8 of 10 campaigns if their ρ_w "
            f"differ by {ours.separable:.2f}.**"
        )
    st.dataframe(outlook.table(), hide_index=True, column_config=_columns(), alt="Forecast of the plan by protocol")
    _ceiling(request)
    if ours.n_items < request.plan.n_items:
        st.caption(f"{ours.n_items:,} items stand for the {request.plan.n_items:,}, each shown as often as planned.")
    return ours


def begin_unasked(figure: PlanOutlook) -> None:
    """Start the job that simulates a plan nobody asked about yet; within this run, as a rerun cuts messages short."""
    jobs.start(figure)


def _columns() -> dict[str, Any]:
    plain = {"protocol", "votes", "campaigns"}  # as Streamlit has them: text to the left, numbers to the right
    return {
        name: (st.column_config.Column if name in plain else st.column_config.TextColumn)(label, help=about)
        for name, (label, about) in COLUMNS.items()
    }


def _ceiling(request: planner_jobs.PlannerRequest) -> None:
    """What no plan gets past with such voters."""
    ceiling = cache.load_ceiling(frame.store(), request.project, request.area_id, request.source)
    if math.isnan(ceiling.rho_w):
        return
    if ceiling.is_reliable:
        st.caption(
            f"Ceiling: if each of the {ceiling.n_voters:,} voters judged every item, their median opinion would "
            f"reach ρ_w = {with_decimals(ceiling.rho_w)} and τ_w = {with_decimals(ceiling.tau_w)}."
        )
        return
    cure = (
        f"{ceiling.enough:,} such voters would reach {RELIABLE}."
        if ceiling.enough
        else "Eight times as many such voters wouldn't be enough either: find voters who agree more, or clearer items."
    )
    st.warning(
        f"This panel can't give you a reliable top: even the median opinion of all {ceiling.n_voters:,} voters on "
        f"every item reaches only ρ_w = {with_decimals(ceiling.rho_w, 2)}. {cure}"
    )


def _curve(request: planner_jobs.PlannerRequest) -> None:
    """Accuracy against budget, with bands."""
    curve = planner.load_curve(frame.store(), request.guess, request.plan)
    budgets = curve["votes"].nunique()
    if budgets > 1:
        for column, (key, figure) in zip(st.columns(2, gap="large"), planner.CURVES.items(), strict=True):
            with column:
                chart = partial(campaign_charts.accuracy_by_budget, curve, figure, request.plan.n_comparisons)
                table = curve[curve["figure"] == figure]
                chart_files.show(chart, table, name=f"{slug(request.project.name)}-{key}", alt=f"{figure} by budget")
        st.caption("Lines are means, bands hold 90% of the campaigns. The dashed line is this plan.")
    if len(curve) < planner.n_wanted(request.plan) * len(planner.CURVES):
        other_budgets = planner_jobs.forecasts(OtherBudgets, request)
        about = "A quarter to three times these votes."
        planner_jobs.job_button("Simulate other budgets", other_budgets, request, help=about)


def _fits_offered(
    project: Project, area_id: int | None, similarity: str, chosen: str | None
) -> tuple[dict[str, str], list[str]]:
    """The fitted panels to choose from, with their names, and why others can't be.

    With many votes the fit takes seconds, so it is made once its choice is `chosen`.
    """
    offered: dict[str, str] = {}
    reasons: list[str] = []
    votes = cache.load_votes_to_fit(frame.store(), project, area_id)
    for which, name in FITTED.items():
        if not votes[which]:
            continue
        if votes[which] > EAGER and chosen != which:
            offered[which] = name
            continue
        fitted = _fit(project, area_id, similarity, which)
        if fitted.fit is not None and fitted.fit.panel() is not None:
            offered[which] = name
        else:
            reasons.append(f"Voters {name} aren't offered: {fitted.reason}")
    return offered, reasons


def _fitted(project: Project, area_id: int | None, similarity: str, which: str, n_voters: int) -> Panel | None:
    """The panel of a fit, shown with what it rests on; None, with the reason, where there is none."""
    fitted = _fit(project, area_id, similarity, which)
    panel = None if fitted.fit is None else fitted.fit.panel(n_voters)
    if panel is None:
        message = f"Voters {FITTED[which]}: {fitted.reason} The paper's voters are taken."
        st.warning(frame.plain(message))
        return None
    config = {
        "mean": st.column_config.TextColumn("mean", help="Over the voters, with a 90% interval, voters resampled."),
        "width of the range": st.column_config.TextColumn(
            "width of the range",
            help="Voters are taken to lie evenly on a range of this width around the mean. Without a width, all alike.",
        ),
    }
    st.dataframe(fit_table(fitted), hide_index=True, column_config=config, alt="The fitted panel")
    st.caption(frame.plain(rests_on(fitted)))
    return panel


def _fit(project: Project, area_id: int | None, similarity: str, which: str) -> StoredFit:
    try:
        return cache.load_panel_fit(frame.store(), project, area_id, similarity, which)
    except RunoffError as error:
        return StoredFit(None, str(error))


def _paper_figures(project: Project) -> None:
    """The figures behind a toggle, since few need them while they plan."""
    if not st.toggle("Show the paper's Figures 2, 3 and 4, simulated", key=f"paper-figures-{project.id}"):
        return
    figures = cache.load_paper_figures(frame.store(), project)
    stem = slug(project.name)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Figure 2: bringing ballot 2 to the scale of ballot 1**")
        two = figures.rescaling
        chart = partial(campaign_charts.rescaling, two.points, two.line, two.ballot)
        alt = "Rescaling of a simulated ballot"
        chart_files.show(chart, two.points, name=f"{stem}-simulated-figure-2", alt=alt)
        st.caption(
            f"{many(len(two.points), 'item')} of a simulated campaign, σ* = .1 and ε = .01 for all voters; the "
            f"slope is b̂ = {two.slope:.3f}.",
            help="Equation 6 of the paper.",
        )
    with right:
        st.markdown("**Figure 4: scores by ballot along the true ranks**")
        chart = partial(campaign_charts.scores_by_ballot, figures.by_ballot, rank_title="True rank (1 = most related)")
        alt = "Scores of simulated ballots"
        chart_files.show(chart, figures.by_ballot, name=f"{stem}-simulated-figure-4", alt=alt)
        st.caption("990 items, exponential, the paper's plan and panel: win ratios x of the first five ballots.")
    st.markdown("**Figure 3: distributions of the underlying values**")
    chart = partial(campaign_charts.similarity_curves, figures.curves, figures.value)
    alt = "Distributions of the underlying values"
    chart_files.show(chart, figures.curves, name=f"{stem}-figure-3", alt=alt)
    st.caption(
        "What the simulations take for true, beside an embedding's values within the areas, within one area, and "
        "between random pairs of its vocabulary."
    )
