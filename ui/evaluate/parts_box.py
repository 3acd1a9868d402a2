"""Figures over parts of the items and along n₀; the same vectors compared in other ways."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.base.durable import file_stem
from core.charts import evaluation
from core.commands.figures.evaluated import FIGURES
from core.encoders import ENCODED
from core.evaluation.causes import WHAT
from core.views.evaluate import why
from ui.evaluate.jobs import Visit
from ui.shared import cache, chart_files, frame


def show(visit: Visit) -> None:
    """The n₀ curve, and bands of relatedness and frequency."""
    view, project = visit.view, visit.project
    st.subheader("Along n₀")
    curve: pd.DataFrame | None = visit.figure("curve", "Draw the curves")
    if visit.is_coming("curve"):
        st.caption("The curves are being drawn.")
    elif curve is not None and curve.empty:
        st.caption("With so many items the curve takes too long; change n₀ above.")
    elif curve is not None:
        left, right = st.columns(2, gap="large")
        for column, label in ((left, "ρ_w"), (right, "τ_w")):
            with column:
                chart = evaluation.offset_curve(curve, label, view.n0)
                name = f"{file_stem(view.dataset.attrs)}-offsets-{'rho' if label == 'ρ_w' else 'tau'}"
                chart_files.show(chart, curve, name=name, alt=f"{label} along n₀")
        st.caption("Where lines cross, the winner depends on how hard one looks at the top. Dashed: the n₀ above.")
    st.subheader("By part of the items")
    bands = cache.of_evaluation(why.load_bands, frame.store(), project, view)
    st.caption(
        "Over the items that all cover; ranks are taken within a part. A part is narrower than the whole, so its "
        "figures are lower: compare embeddings within a part."
    )
    _parts(bands.related, "Figures by relatedness")
    if len(bands.frequency):
        _parts(bands.frequency, "Figures by frequency")
    st.caption(frame.plain(bands.source))


def _parts(table: pd.DataFrame, alt: str) -> None:
    st.dataframe(table, hide_index=True, column_config=_config(), alt=alt)


def variants(visit: Visit) -> None:
    """Other cosines of the same vectors."""
    st.subheader("Would other cosines do better?")
    st.caption(
        "Each is tried on the embedding's own items and only shown here; nothing else uses it. The best of many "
        "tries looks better than it is: choose on one dataset, and report another."
    )
    table: pd.DataFrame | None = visit.figure("variants", "Try them")
    if table is None:
        if visit.is_coming("variants"):
            st.caption("They are being tried.")
        return
    shown = table.drop(columns="what it is")
    st.dataframe(shown, hide_index=True, column_config=_config(), alt="Variants")
    if any(model.info.format == ENCODED for model in visit.view.models):
        st.caption(
            "Of an encoder only the project's tokens are known: their mean, and what they have most in common, is "
            "what relates them, so that taking it away does harm."
        )
    with st.expander("What they are"):
        for name, text in WHAT.items():
            st.markdown(f"**{name}**: {text}")


def _config() -> dict:
    return {name: st.column_config.NumberColumn(format="%.3f") for _, name in FIGURES}
