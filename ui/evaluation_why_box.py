"""Why an embedding disagrees with people: ranks, worst disagreements, hubs, distances, a map of its tokens."""

from __future__ import annotations

import streamlit as st

from core import charts, evaluation_charts
from core.errors import InputError
from core.spoken import say, say_many
from core.store.projects import Project
from core.views import evaluate_why
from core.views.evaluate import EvaluateView
from core.views.evaluate_why import WhyView
from core.views.scores import file_stem, pair_label
from core.views.words import many, slug
from ui import cache, chart_files, choosers, evaluation_jobs, frame
from ui.shares import in_percent, share_column
from ui.tables import columns as shown_as


def show(view: EvaluateView, project: Project) -> None:
    """All of it, of one chosen embedding."""
    st.subheader(say("Where people and embedding disagree"))
    names = [evaluation.model for evaluation in view.evaluations]
    place = 0
    if len(names) > 1:
        by_name = {name: name for name in names}  # of a project no two embeddings have one
        place = names.index(choosers.selectbox(say("Embedding"), by_name, key=f"model-{project.id}"))
    why = cache.of_evaluation(_why, frame.store(), project, view, place)
    stem = f"{file_stem(view.dataset.attrs)}-{slug(names[place])}"
    left, right = st.columns(2, gap="large")
    with left:
        pairs = why.evaluation.pairs
        chart_files.show(
            evaluation_charts.rank_scatter(pairs, why.worst),
            pairs,
            name=f"{stem}-ranks",
            alt=say("Ranks by people and by the embedding"),
        )
    with right:
        _worst(why)
    _hubs(why, view)
    left, right = st.columns(2, gap="large")
    with left:
        _contrast(view, place, stem, project)
    with right:
        _map(view, place, stem, project)
    _spellings(why)


def _why(_store, _project_id: str, view: EvaluateView, place: int) -> WhyView:
    return evaluate_why.load(view, place)


def _contrast_of(_store, _project_id: str, view: EvaluateView, place: int):
    return evaluate_why.contrast(view, place)


def _worst(why: WhyView) -> None:
    shown = why.worst.assign(pair=pair_label(why.worst), share=why.worst["disagreement"])
    columns = ["pair", "rank", "model_rank", "share", "cosine"] + ["hubs"] * bool((shown["hubs"] != "").any())
    table = in_percent(shown[columns], "share").rename(columns={"rank": "by people", "model_rank": "by embedding"})
    config = {
        "cosine": st.column_config.NumberColumn(format="%.3f"),
        "pair": st.column_config.Column(width="medium"),
        "share": share_column(digits=1, help=say("Of all that keeps ρ_w under 1: Σ w·gap² over the items.")),
        "hubs": st.column_config.Column(help=say("Tokens that the embedding puts into too many of its top items.")),
    }
    alt = say("The worst disagreements")
    st.dataframe(table, hide_index=True, column_config=shown_as(table, config), height=420, alt=alt)
    st.caption(say("The items that cost the most, top ranks weighing more."))


def _hubs(why: WhyView, view: EvaluateView) -> None:
    st.markdown(say("##### Hubs"))
    found = why.crowded[why.crowded["is_hub"]]
    about = say(
        "Asked of the {items} by the embedding, a tenth of all it covers: how many of them is each token in?",
        items=many(why.top, "highest item"),
    )
    if why.skewness is not None:
        skew = say("The skewness of their numbers is {skewness:.2f}; 0 has no hubs.", skewness=why.skewness)
        about = f"{about} {skew}"
    if not len(found):
        st.caption(f"{about} {say('No token is in twice as many as by people.')}")
        return
    st.caption(f"{about} {say('These are in at least twice as many as by people:')}")
    three = st.column_config.NumberColumn(format="%.1f")
    named = found.head(10).drop(columns="is_hub").rename(columns={"by_model": "by embedding", "by_people": "by people"})
    config = dict.fromkeys(("by embedding", "by people", "more"), three)
    st.dataframe(named, hide_index=True, column_config=shown_as(named, config), alt=say("Hubs of the embedding"))


def _contrast(view: EvaluateView, place: int, stem: str, project: Project) -> None:
    st.markdown(say("##### Items of each area against random pairs"))
    curves = cache.of_evaluation(_contrast_of, frame.store(), project, view, place)
    if curves.empty:
        st.caption(say("The embedding has none of the items."))
        return
    value = "|cos|" if view.notion == "relatedness" else "cos"
    if curves["pairs"].nunique() > 5:  # more lines can't be told from each other
        kept = [*list(dict.fromkeys(curves["pairs"]))[:4], "random pairs"]
        st.caption(say("The first four areas."))
        curves = curves[curves["pairs"].isin(kept)]
    alt = say("Values by area and of random pairs")
    chart_files.show(charts.similarity_curves(curves, value), curves, name=f"{stem}-areas", alt=alt)
    st.caption(
        say("Figure 3 of the paper. Where an area lies no higher than random pairs, the embedding hardly knows it.")
    )


def _map(view: EvaluateView, place: int, stem: str, project: Project) -> None:
    st.markdown(say("##### A map of an area's tokens"))
    areas = {area: area for area in view.evaluations[place].pairs["area"] if area}
    area = choosers.selectbox(say("Area"), areas, key=f"map-{project.id}")
    if area is None:
        return
    try:
        found = evaluation_jobs.figure("map", say("Draw the map"), view, project, place, area)
    except InputError as error:
        frame.show_error(error)
        return
    if found is None:
        return
    points, kept = found
    chart_files.show(
        evaluation_charts.layout_map(points),
        points,
        name=f"{stem}-{slug(area)}-map",
        alt=say("Tokens of {area} in the plane", area=area),
    )
    st.caption(
        say(
            "Near by cosine is near here, as well as two dimensions can: they keep {share:.0%} of the squared "
            "distances. The axes mean nothing.",
            share=kept,
        )
    )


def _spellings(why: WhyView) -> None:
    evaluation = why.evaluation
    if evaluation.missing:
        n = len(evaluation.missing)
        with st.expander(say_many(n, "{n} token without a vector", "{n} tokens without a vector")):
            rows = [{"token": token, "reason": say(reason)} for token, reason in evaluation.missing.items()]
            config, alt = shown_as(("token", "reason")), say("Tokens without a vector")
            st.dataframe(rows, hide_index=True, column_config=config, alt=alt)
    if evaluation.found_as:
        n = len(evaluation.found_as)
        label = say_many(n, "{n} token found under another spelling", "{n} tokens found under another spelling")
        with st.expander(label):
            found = [{"token": token, "found as": name} for token, name in evaluation.found_as.items()]
            config, alt = shown_as(("token", "found as")), say("Tokens found under another spelling")
            st.dataframe(found, hide_index=True, column_config=config, alt=alt)
