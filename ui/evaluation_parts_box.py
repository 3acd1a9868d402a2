"""Figures over parts of the items and along n₀; the same vectors compared in other ways."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core import evaluation_charts
from core.encoders import ENCODED
from core.evaluation.variants import WHAT
from core.spoken import say
from core.store.projects import Project
from core.views import evaluate_why
from core.views.evaluate import FIGURES, EvaluateView
from core.views.scores import file_stem
from ui import cache, chart_files, evaluation_jobs, frame
from ui.tables import columns


def show(view: EvaluateView, project: Project) -> None:
    """The n₀ curve, and bands of relatedness and frequency."""
    st.subheader(say("Along n₀"))
    curve: pd.DataFrame | None = evaluation_jobs.figure("curve", say("Draw the curves"), view, project)
    if curve is not None and curve.empty:
        st.caption(say("With so many items the curve takes too long; change n₀ above."))
    elif curve is not None:
        left, right = st.columns(2, gap="large")
        for column, label in ((left, "ρ_w"), (right, "τ_w")):
            with column:
                chart = evaluation_charts.offset_curve(curve, label, view.n0)
                name = f"{file_stem(view.dataset.attrs)}-offsets-{'rho' if label == 'ρ_w' else 'tau'}"
                chart_files.show(chart, curve, name=name, alt=say("{figure} along n₀", figure=label))
        st.caption(say("Where lines cross, the winner depends on how hard one looks at the top. Dashed: the n₀ above."))
    st.subheader(say("By part of the items"))
    bands = cache.of_evaluation(evaluate_why.load_bands, frame.store(), project, view)
    st.caption(
        say(
            "Over the items that all cover; ranks are taken within a part. A part is narrower than the whole, so its "
            "figures are lower: compare embeddings within a part."
        )
    )
    _parts(bands.related, say("Figures by relatedness"))
    if len(bands.frequency):
        _parts(bands.frequency, say("Figures by frequency"))
    st.caption(frame.plain(bands.source))


def _parts(table: pd.DataFrame, alt: str) -> None:
    shown = table.assign(items=table["items"].map(say))
    st.dataframe(shown, hide_index=True, column_config=columns(shown, _config()), alt=alt)


def variants(view: EvaluateView, project: Project) -> None:
    """Other cosines of the same vectors, on request."""
    st.subheader(say("Would other cosines do better?"))
    st.caption(
        say(
            "Each is tried on the embedding's own items and only shown here; nothing else uses it. The best of many "
            "tries looks better than it is: choose on one dataset, and report another."
        )
    )
    table: pd.DataFrame | None = evaluation_jobs.figure("variants", say("Try them"), view, project)
    if table is None:
        return
    shown = table.drop(columns="what it is").assign(cosines=table["cosines"].map(say))
    st.dataframe(shown, hide_index=True, column_config=columns(shown, _config()), alt=say("Variants"))
    if any(model.info.format == ENCODED for model in view.models):
        st.caption(
            say(
                "Of an encoder only the project's tokens are known: their mean, and what they have most in common, is "
                "what relates them, so that taking it away does harm."
            )
        )
    with st.expander(say("What they are")):
        for name, text in WHAT.items():
            st.markdown(f"**{say(name)}**: {say(text)}")


def _config() -> dict:
    return {name: st.column_config.NumberColumn(format="%.3f") for _, name in FIGURES}
