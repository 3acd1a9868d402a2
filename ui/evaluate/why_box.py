"""Why an embedding disagrees with people, as tables and charts: ranks, worst disagreements, hubs, distances, a map.

Beside them stand its figures over parts of the items and along n₀, and the same vectors compared in other ways.
"""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from core.base.durable import file_stem, slug
from core.base.numbers_in_words import many, percent, plural, with_decimals
from core.charts import campaign_charts
from core.charts import evaluation as evaluation_charts
from core.commands.figures.evaluation_inputs import FIGURES
from core.encoders import ENCODED
from core.evaluation.causes import WHAT
from core.store import Store
from core.store.projects.project_commands import Project
from core.tabular.csv_writing import table_for_spreadsheets
from core.tokens.items import pair_label
from core.views.evaluate import evaluate_page
from core.views.evaluate.evaluate_page import EvaluateView, WhyView
from ui.evaluate import jobs, tables
from ui.evaluate.jobs import Visit
from ui.evaluate.settings import Settings
from ui.evaluate.tables import of_cells
from ui.shared import cache, chart_files, choosers, frame


def show_parts(visit: Visit, settings: Settings) -> None:
    """The n₀ curve, and bands of relatedness and frequency."""
    view = visit.view
    st.markdown("##### Along n₀")
    curve: pd.DataFrame | None = visit.figure("curve", "Draw the curves")
    if visit.is_coming("curve"):
        st.caption("The curves are being drawn.")
    elif curve is not None and curve.empty:
        st.caption("With so many items the curve takes too long; change n₀ in the settings.")
    elif curve is not None:
        _curve(visit, curve, settings.figure)
    st.markdown("##### By part of the items")
    bands = cache.of_evaluation(evaluate_page.load_bands, frame.store(), visit.project, view)
    st.caption(
        "Over the items that all cover; ranks are taken within a part. A part is narrower than the whole, so its "
        "figures are lower: compare embeddings within a part."
    )
    stem = f"{file_stem(view.dataset.attrs)}-parts"
    _of_figure(visit, bands.related, settings.figure, "Figures by relatedness", f"{stem}-relatedness.csv")
    if len(bands.frequency):
        _of_figure(visit, bands.frequency, settings.figure, "Figures by frequency", f"{stem}-frequency.csv")
    st.caption(frame.plain(bands.source))


def _curve(visit: Visit, curve: pd.DataFrame, chosen: str) -> None:
    view, labels = visit.view, {label: label for label in ("ρ_w", "τ_w")}
    first = chosen if chosen in labels else "ρ_w"
    label = choosers.segmented_control("Figure along n₀", labels, first, key=f"curve-{visit.project.id}")
    chart = partial(evaluation_charts.offset_curve, curve, label, view.n0)
    name = f"{file_stem(view.dataset.attrs)}-offsets-{'rho' if label == 'ρ_w' else 'tau'}"
    chart_files.show(chart, curve, name=name, alt=f"{label} along n₀")
    st.caption("Where lines cross, the winner depends on how hard one looks at the top. Dashed: the settings' n₀.")


def _of_figure(visit: Visit, table: pd.DataFrame, label: str, alt: str, file: str) -> None:
    """One figure of a table of all, which is there as a file."""
    others = [name for _, name in FIGURES if name != label]
    named = visit.view.named(label)
    texts = table.drop(columns=others).rename(columns={"n": "number", label: named})
    texts[named] = [with_decimals(value) for value in texts[named]]
    tables.of_cells(texts, alt)
    st.download_button(
        "All figures of this table (CSV)", partial(table_for_spreadsheets, table), file, "text/csv",
        key=f"file-{file}", on_click="ignore", icon=":material/download:", type="tertiary",
    )  # fmt: skip


def variants(visit: Visit, settings: Settings) -> None:
    """Other cosines of the same vectors."""
    st.markdown("##### Would other cosines do better?")
    st.caption(
        "Each is tried on the embedding's own items and only shown here; nothing else uses it. The best of many "
        "tries looks better than it is: choose on one dataset, and report another."
    )
    table: pd.DataFrame | None = visit.figure("variants", "Try them")
    if table is None:
        if visit.is_coming("variants"):
            st.caption("They are being tried.")
        return
    stem = file_stem(visit.view.dataset.attrs)
    _of_figure(visit, table.drop(columns="what it is"), settings.figure, "Variants", f"{stem}-variants.csv")
    if any(model.info.format == ENCODED for model in visit.view.models):
        st.caption(
            "Of an encoder only the project's tokens are known: their mean, and what they have most in common, is "
            "what relates them, so that taking it away does harm."
        )
    with st.expander("What they are"):
        for name, text in WHAT.items():
            st.markdown(f"**{name}**: {text}")


def show_why(view: EvaluateView, project: Project) -> None:
    """All of it, of one chosen embedding."""
    st.markdown("##### Where people and embedding disagree")
    names = [evaluation.model for evaluation in view.evaluations]
    place = 0
    if len(names) > 1:
        by_name = {name: name for name in names}  # of a project no two embeddings have one
        place = names.index(choosers.selectbox("Embedding", by_name, key=f"model-{project.id}"))
    why = cache.of_evaluation(_why, frame.store(), project, view, place)
    stem = f"{file_stem(view.dataset.attrs)}-{slug(names[place])}"
    left, right = st.columns(2, gap="large")
    with left:
        pairs = why.evaluation.pairs
        chart_files.show(
            partial(evaluation_charts.rank_scatter, pairs, why.worst),
            pairs,
            name=f"{stem}-ranks",
            alt="Ranks by people and by the embedding",
        )
    with right:
        _hubs(why, view)
    _worst(why)
    left, right = st.columns(2, gap="large")
    with left:
        _contrast(view, place, stem, project)
    with right:
        _map(view, place, stem, project)
    _spellings(why)


def _why(_store: Store, _project_id: str, view: EvaluateView, place: int) -> WhyView:
    return evaluate_page.load_why(view, place)


def _contrast_of(_store: Store, _project_id: str, view: EvaluateView, place: int) -> pd.DataFrame:
    return evaluate_page.contrast(view, place)


def _worst(why: WhyView) -> None:
    worst = why.worst
    table = pd.DataFrame(
        {
            "item": pair_label(worst),
            "rank by people": [f"{rank:g}" for rank in worst["rank"]],
            "by embedding": [f"{rank:g}" for rank in worst["model_rank"]],
            "lost": [percent(share, 1) for share in worst["disagreement"]],
            "cos": [with_decimals(cosine, 2) for cosine in worst["cosine"]],
        }
    )
    if (worst["hubs"] != "").any():
        table["hubs"] = worst["hubs"].to_numpy()
    of_cells(table, "The worst disagreements")
    st.caption(
        "The items that cost the most, top ranks weighing more. Lost: their share of all that keeps ρ_w under 1 "
        "(Σ w·gap² over the items). Hubs: tokens that the embedding puts into too many of its top items."
    )


def _hubs(why: WhyView, view: EvaluateView) -> None:
    st.markdown("##### Hubs")
    hubs = why.crowded[why.crowded["is_hub"]]
    about = (
        f"Of the {many(why.top, 'item')} that the embedding ranks highest, a tenth of all it covers: how many hold "
        "each token?"
    )
    if why.skewness is not None:
        skew = f"The skewness of these numbers is {with_decimals(why.skewness, 2)}; 0 has no hubs."
        about = f"{about} {skew}"
    if not len(hubs):
        st.caption(f"{about} No token is in twice as many of them as of people's highest.")
        return
    st.caption(f"{about} These tokens are in at least twice as many of them as of people's highest:")
    three = st.column_config.NumberColumn(format="%.1f")
    named = hubs.head(10).drop(columns="is_hub").rename(columns={"by_model": "by embedding", "by_people": "by people"})
    config = dict.fromkeys(("by embedding", "by people", "more"), three)
    st.dataframe(named, hide_index=True, column_config=config, alt="Hubs of the embedding")


def _contrast(view: EvaluateView, place: int, stem: str, project: Project) -> None:
    st.markdown("##### Items of each area against random pairs")
    curves = cache.of_evaluation(_contrast_of, frame.store(), project, view, place)
    if curves.empty:
        st.caption("The embedding has none of the items.")
        return
    value = "|cos|" if view.notion == "relatedness" else "cos"
    if curves["pairs"].nunique() > 5:  # more lines can't be told from each other
        first_curves = [*list(dict.fromkeys(curves["pairs"]))[:4], "random pairs"]
        st.caption("The first four areas.")
        curves = curves[curves["pairs"].isin(first_curves)]
    alt = "Values by area and of random pairs"
    chart_files.show(partial(campaign_charts.similarity_curves, curves, value), curves, name=f"{stem}-areas", alt=alt)
    st.caption(
        "Where an area lies no higher than random pairs, the embedding hardly knows it.", help="Figure 3 of the paper."
    )


def _map(view: EvaluateView, place: int, stem: str, project: Project) -> None:
    st.markdown("##### A map of an area's tokens")
    areas = {area: area for area in view.evaluations[place].pairs["area"] if area}
    area = choosers.selectbox("Area", areas, key=f"map-{project.id}")
    if area is None:
        return
    layout = jobs.figure("map", "Draw the map", view, project, place, area)
    if layout is None:
        return
    points, share = layout.points, layout.share
    chart_files.show(
        partial(evaluation_charts.layout_map, points),
        points,
        name=f"{stem}-{slug(area)}-map",
        alt=f"Tokens of {area} in the plane",
    )
    st.caption(
        f"What is near by cosine is near here, as far as two dimensions allow: they keep {percent(share)} of the "
        "squared distances. The axes mean nothing."
    )


def _spellings(why: WhyView) -> None:
    evaluation = why.evaluation
    if evaluation.missing:
        n = len(evaluation.missing)
        with st.expander(plural(n, "{n} token without a vector", "{n} tokens without a vector")):
            rows = [{"token": token, "reason": reason} for token, reason in evaluation.missing.items()]
            alt = "Tokens without a vector"
            st.dataframe(rows, hide_index=True, alt=alt)
    if evaluation.found_as:
        n = len(evaluation.found_as)
        label = plural(n, "{n} token found under another spelling", "{n} tokens found under another spelling")
        with st.expander(label):
            respelled = [{"token": token, "found as": name} for token, name in evaluation.found_as.items()]
            alt = "Tokens found under another spelling"
            st.dataframe(respelled, hide_index=True, alt=alt)
