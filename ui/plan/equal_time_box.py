"""Which kind of question? The kinds on the same simulated voters and hours, as a job with its progress."""

from __future__ import annotations

import streamlit as st

from core.base.durable import slug
from core.base.numbers_in_words import many, percent
from core.commands.figures.simulations import SchemesAtEqualCost
from core.errors import RunoffError
from core.simulation.schemes import SchemeRow
from core.store.projects.plans import PlanSettings, read_plan
from core.store.projects.project_commands import Project
from core.store.scores.forecasts import MOST_TOKENS, GuessSource, SchemeQuestion, share_simulated
from core.views.kinds import scheme_comparison
from ui.plan.planner_box import guess_source
from ui.shared import chart_files, choosers, frame, jobs
from ui.shared.tables import named


def equal_time_box(
    project: Project, area_id: int | None, n_items: int, settings: PlanSettings | None, source: GuessSource | None
) -> None:
    """All of it. settings : of comparisons as they stand on the page, else the saved ones are taken; source : what the
    page guesses of items and voters already, else it is asked here."""
    box = st.expander(
        "Which kind of question? Compare them at equal time", key=f"schemes-{project.id}", on_change="rerun"
    )
    if box.open:
        with box:
            _box(project, area_id, n_items, settings or read_plan(frame.store(), project.id, area_id), source)


def _box(
    project: Project, area_id: int | None, n_items: int, settings: PlanSettings | None, source: GuessSource | None
) -> None:
    st.markdown("**Every kind asks the same simulated voters for the same person-hours.**")
    asked = _asked(project, area_id, n_items, settings, source)
    if asked is None:
        return
    try:
        wanted = SchemesAtEqualCost.of(frame.store(), project.id, asked)
    except RunoffError as error:
        frame.show_error(error)
        return
    found = jobs.figure(
        wanted, project, "Compare the kinds", key=f"schemes-go-{project.id}", type="primary",
        icon=":material/science:", help=None,
    )  # fmt: skip
    if found is not None:
        n = n_items if not asked.tokens else asked.tokens * (asked.tokens - 1) // 2
        _result(project, asked, list(found.result), n)


def _asked(
    project: Project, area_id: int | None, n_items: int, settings: PlanSettings | None, source: GuessSource | None
) -> SchemeQuestion | None:
    """The question as the widgets have it, None where it makes no sense, which is told."""
    words = {"tokens": "a number of tokens"}
    if n_items >= 4:
        words = {"project": f"this project ({many(n_items, 'item')})"} | words
    with st.container(horizontal=True, vertical_alignment="bottom"):
        items = choosers.selectbox("Items of", words, key=f"schemes-items-{project.id}", width=260)
        tokens = 0
        if items == "tokens":
            tokens = st.number_input(
                "Tokens", 4, MOST_TOKENS, 45, key=f"schemes-tokens-{project.id}", width=120,
                help="Items are all pairs of so many tokens: 45 make 990.",
            )  # fmt: skip
        n = tokens * (tokens - 1) // 2 if tokens else n_items
        usual = _usual_hours(settings, n_items if not tokens else 0, n)
        hours = st.number_input(
            "Person-hours", 0.1, 100_000.0, usual, key=f"schemes-hours-{project.id}-{n}-{usual}", width=150,
            help="What every kind may take in all. At first: those of the project's plan, or 89 s per item.",
        )  # fmt: skip
        simulations = st.number_input(
            "Panels", 2, 200, 10, key=f"schemes-panels-{project.id}", width=110,
            help=("How many panels of voters are simulated for each kind: more make surer means. "
            "10 on 1,000 items take about a minute."),
        )  # fmt: skip
    read, decide = _times(project, settings)
    n_voters = min(settings.n_voters if settings else PlanSettings().n_voters, 1000)
    source = source or guess_source(project, area_id, n_voters)
    try:
        return SchemeQuestion(area_id, int(tokens), float(hours), read, decide, int(simulations), source)
    except RunoffError as error:
        frame.show_error(error)
        return None


def _times(project: Project, settings: PlanSettings | None) -> tuple[float, float]:
    start = min(600.0, max(0.1, round(settings.seconds_per_comparison / 3, 2))) if settings else 3.0
    with st.container(horizontal=True, vertical_alignment="bottom"):
        read = st.number_input(
            "Seconds to read an item", 0.1, 600.0, start, 0.5, key=f"schemes-read-{project.id}-{start}", width=200,
            help="A comparison shows 2 items, a rating 1, a best–worst tuple 4, a group all its words.",
        )  # fmt: skip
        decide = st.number_input(
            "Seconds to decide once",
            0.1,
            600.0,
            start,
            0.5,
            key=f"schemes-decide-{project.id}-{start}",
            width=200,
            help="A comparison and a rating take 1 decision, a tuple 2, a group one for each word.",
        )
    assumed = "Both are assumptions, which decide much: we know of no source that times all kinds on the same items."
    told = {"comparison": 2 * read + decide, "rating": read + decide, "of_tuple": 4 * read + 2 * decide}
    if settings:
        by_them = (
            "By them a comparison takes {comparison:g} s (the plan counts {planned:g} s), a rating {rating:g} "
            "s, a tuple {of_tuple:g} s. Try others."
        ).format(planned=settings.seconds_per_comparison, **told)
    else:
        by_them = (
            "By them a comparison takes {comparison:g} s, a rating {rating:g} s, a tuple {of_tuple:g} s. Try others."
        ).format(**told)
    st.caption(f"{assumed} {by_them}")
    return float(read), float(decide)


def _usual_hours(settings: PlanSettings | None, n_project: int, n: int) -> float:
    if settings is not None and n_project:
        return max(0.1, round(settings.cost(settings.plan(n_project)).hours, 1))
    return max(0.1, round(n * 89 / 3600, 1))


def _result(project: Project, asked: SchemeQuestion, rows: list[SchemeRow], n_items: int) -> None:
    share = share_simulated(n_items)
    st.markdown(f"**{frame.plain(scheme_comparison.headline(rows))}**")
    about = scheme_comparison.HELP
    config = named(about)
    config["hours"] = st.column_config.NumberColumn("hours", help=about["hours"], format="%.1f")
    for name in ("judgements", "panels"):
        config[name] = st.column_config.NumberColumn(name, help=about[name], format="localized")
    config["scheme"] = st.column_config.TextColumn("scheme", help=about["scheme"], pinned=True)
    found = scheme_comparison.table(rows, share)
    st.dataframe(found, hide_index=True, column_config=config, placeholder="–", alt="Kinds of question at equal cost")
    points = scheme_comparison.points(rows)
    if len(points):
        name = f"{slug(project.name)}-schemes"
        chart_files.show(scheme_comparison.chart(points), points, name=name, alt="Accuracy of the kinds of question")
    st.caption(
        f"{many(n_items, 'item')}, {asked.hours:g} person-hours, {asked.source.panel.n_voters:,} voters a panel. "
        "± is the standard deviation over panels: what one campaign may differ by, not the error of the mean."
    )
    if share < 1:
        st.caption(f"{percent(share)} of the items were simulated, drawn, with that share of the hours.")
    for reason in scheme_comparison.reasons(rows):
        st.caption(frame.plain(reason))
