"""Figures over parts of the items and along n₀; the same vectors compared in other ways."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from core.base.durable import file_stem
from core.charts import evaluation
from core.commands.figures.evaluation_inputs import FIGURES
from core.encoders import ENCODED
from core.evaluation.causes import WHAT
from core.tabular.csv_writing import table_for_spreadsheets
from core.views.evaluate import why
from core.views.evaluate.leaderboard import NO_FIGURE
from ui.evaluate import tables
from ui.evaluate.jobs import Visit
from ui.evaluate.settings import Settings
from ui.shared import cache, chart_files, choosers, frame


def show(visit: Visit, settings: Settings) -> None:
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
    bands = cache.of_evaluation(why.load_bands, frame.store(), visit.project, view)
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
    chart = partial(evaluation.offset_curve, curve, label, view.n0)
    name = f"{file_stem(view.dataset.attrs)}-offsets-{'rho' if label == 'ρ_w' else 'tau'}"
    chart_files.show(chart, curve, name=name, alt=f"{label} along n₀")
    st.caption("Where lines cross, the winner depends on how hard one looks at the top. Dashed: the settings' n₀.")


def _of_figure(visit: Visit, table: pd.DataFrame, label: str, alt: str, file: str) -> None:
    """One figure of a table of all, which is there as a file."""
    others = [name for _, name in FIGURES if name != label]
    named = visit.view.named(label)
    shown = table.drop(columns=others).rename(columns={"n": "number", label: named})
    shown[named] = [NO_FIGURE if pd.isna(value) else f"{value:.3f}" for value in shown[named]]
    tables.of_cells(shown, alt)
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
