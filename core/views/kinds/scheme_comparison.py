"""What the comparison of kinds at equal time shows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
import pandas as pd

from ...charts.campaign_charts import BLUE, GREEN, ORANGE, PURPLE, Chart
from ...protocols import protocol_of
from ...simulation.schemes import SchemeRow, all_schemes
from ...simulation.table2 import Spread

OTHERS = {
    "ratings": "ratings",
    "best-worst": "best–worst",
    "best-worst rounds": "best–worst, rounds",
    "target groups": "target groups",
}
FIGURES = {"rho_w": "ρ_w", "tau_w": "τ_w", "rho": "ρ", "within": "ρ within targets"}
BEST = {"rho_w": "{scheme} for the top (ρ_w): {value}", "rho": "{scheme} for all ranks alike (ρ): {value}"}
HELP = {
    "scheme": (
        "Comparisons: which of two items; each shown equally often, by the paper's protocol, or by Runoff's own. "
        "Ratings: one item on a scale. Best–worst: the most and the least related of four, in rounds among the best. "
        "Target groups: up to six words of a target put into order."
    ),
    "judgements": "Comparisons, ratings, tuples or orders that the hours pay for; the mean over panels.",
    "hours": "Person-hours that these take: what is left doesn't pay for a whole round.",
    "ρ_w": (
        "Weighted Spearman's ρ of the scores with the true ranking: the top counts most. Mean ± standard deviation "
        "over panels."
    ),
    "τ_w": "Weighted Kendall's τ: the right order of the very top counts most.",
    "ρ": "Spearman's ρ with the true ranking: all ranks count alike.",
    "ρ within targets": (
        "Mean Spearman's ρ among the items of one token. Target groups give no other: they don't "
        "compare items of different targets."
    ),
    "panels": "How many panels of voters were simulated.",
}


def called(scheme: str) -> str:
    """What a scheme is called."""
    return OTHERS.get(scheme) or protocol_of(scheme).about.in_table


def table(rows: Sequence[SchemeRow], share: float = 1.0) -> pd.DataFrame:
    """A row a scheme, as people read it; counts and hours are of all items where a `share` of them was simulated."""
    return pd.DataFrame(
        {
            "scheme": called(row.scheme),
            **{label: mean_text(getattr(row, name)) for name, label in FIGURES.items()},
            "judgements": round(row.n_judgements / share) if row.simulations else None,
            "hours": row.hours / share if row.simulations else None,
            "panels": row.simulations,
        }
        for row in rows
    )


def mean_text(spread: Spread) -> str:
    """Mean ± SD, or a dash."""
    if math.isnan(spread.mean):
        return "–"
    mean = f"{spread.mean:.3f}"
    return mean if math.isnan(spread.sd) else f"{mean} ± {spread.sd:.3f}"


def reasons(rows: Sequence[SchemeRow]) -> list[str]:
    """Why schemes have no figures."""
    return [f"{called(row.scheme).capitalize()}: {row.reason}" for row in rows if row.reason]


def headline(rows: Sequence[SchemeRow]) -> str:
    """The scheme that is best at the top, and the one that is best over all ranks, each with its SD."""
    parts = []
    for name, sentence in BEST.items():
        known = [row for row in rows if not math.isnan(getattr(row, name).mean)]
        if known:
            best = max(known, key=lambda row: getattr(row, name).mean)
            parts.append(sentence.format(scheme=called(best.scheme), value=mean_text(getattr(best, name))))
    return f"Best in these simulations: {'; '.join(parts)}." if parts else "No scheme has a figure."


def points(rows: Sequence[SchemeRow]) -> pd.DataFrame:
    """Long table behind the chart: scheme, figure, mean, lower and upper (mean ∓ SD), panels."""
    found = []
    for row in rows:
        for name, label in FIGURES.items():
            spread: Spread = getattr(row, name)
            if not math.isnan(spread.mean):
                sd = 0.0 if math.isnan(spread.sd) else spread.sd
                found.append(
                    (called(row.scheme), label, spread.mean, spread.mean - sd, spread.mean + sd, row.simulations)
                )
    return pd.DataFrame(found, columns=["scheme", "figure", "mean", "lower", "upper", "panels"])


def chart(data: pd.DataFrame) -> Chart:
    """A dot a scheme and figure with a bar of one standard deviation each way."""
    labels = list(FIGURES.values())
    figures = [label for label in labels if label in set(data["figure"])]
    colours = alt.Scale(domain=labels, range=[BLUE, ORANGE, GREEN, PURPLE])
    shapes = alt.Scale(domain=labels, range=["circle", "square", "triangle-up", "diamond"])
    tooltip = [
        alt.Tooltip("scheme:N", title="Scheme"),
        alt.Tooltip("figure:N", title="Figure"),
        alt.Tooltip("mean:Q", title="Mean", format=".3f"),
        alt.Tooltip("lower:Q", title="− SD", format=".3f"),
        alt.Tooltip("upper:Q", title="+ SD", format=".3f"),
    ]
    base = alt.Chart(data).encode(
        y=alt.Y(
            "scheme:N", title=None, sort=[called(scheme) for scheme in all_schemes()], axis=alt.Axis(labelLimit=190)
        ),
        yOffset=alt.YOffset("figure:N", sort=figures),
        color=alt.Color(
            "figure:N", title=None, scale=colours, legend=alt.Legend(orient="top", columns=2, values=figures)
        ),
        tooltip=tooltip,
    )
    bars = base.mark_rule(strokeWidth=2.5, opacity=0.6).encode(
        x=alt.X("lower:Q", title="Mean ± SD", scale=alt.Scale(nice=False)), x2="upper:Q"
    )
    shape = alt.Shape("figure:N", title=None, scale=shapes, legend=alt.Legend(orient="top", columns=2, values=figures))
    return alt.layer(bars, base.mark_point(filled=True, size=70).encode(x="mean:Q", shape=shape)).properties(
        height=alt.Step(14)
    )
