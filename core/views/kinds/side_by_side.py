"""What is shown of two kinds of question side by side."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ...base.numbers_in_words import many
from ...charts.campaign_charts import BLUE, GREY, ORANGE, Chart, thin
from ...dataset.side_by_side import SideBySide
from ..wording import ends

N_MARKED = 20
HELP = {
    "item": "The item, with the texts of the first.",
    "gap": "Rank by the second minus rank by the first: above 0 the first puts it higher.",
    "rank, first": "Rank by the first, among the items both scored; 1 is the top, ties share their average rank.",
    "rank, second": "Rank by the second.",
    "score, first": "Score of the first, on its own scale.",
    "score, second": "Score of the second, on its own scale.",
}
FIGURE_HELP = {
    "figure": "Rank correlations: 1 is the same order, 0 none, −1 the opposite one.",
    "value": "Over the items both scored.",
    "90% interval": "Would other tokens, or items, of these kinds have said the same?",
    "what counts": "Which ranks weigh most.",
}
FIGURES = {
    "rho": ("Spearman's ρ", "All ranks count alike."),
    "rho_w": ("ρ_w", "The tops of both count most (Eqs. 8 and 9, n₀ = 2)."),
    "rho_w_one": ("ρ_w, top of the first", "Only the first's top counts most: does the second find it again?"),
    "rho_w_other": ("ρ_w, top of the second", "Only the second's top counts most: does the first find it again?"),
    "tau": ("Kendall's τ", "Share of pairs of items in the same order minus share in the other."),
}


def headline(compared: SideBySide) -> str:
    """The two in a sentence."""
    one, other = compared.names
    return f"{many(compared.n, 'item')} scored by both {one} and {other}."


def figures(compared: SideBySide) -> pd.DataFrame:
    """A row a figure: its value, the interval in words, and what it looks at."""
    rows = []
    for name, (label, about) in FIGURES.items():
        figure = compared.figures[name]
        interval = "" if figure.lower is None or figure.upper is None else ends(figure.lower, figure.upper)
        rows.append((label, figure.estimate, interval, about))
    return pd.DataFrame(rows, columns=list(FIGURE_HELP)).astype({"value": "float64"})


def why_undefined(compared: SideBySide) -> list[str]:
    """Each reason once."""
    reasons = {figure.reason for figure in compared.figures.values() if figure.reason}
    return [f"{reason[0].upper()}{reason[1:].rstrip('.')}." for reason in sorted(reasons)]


def table(compared: SideBySide) -> pd.DataFrame:
    """The items both scored, those that part most first."""
    names = {"item": "item", "gap": "gap", "rank_one": "rank, first", "rank_other": "rank, second"}
    names |= {"one": "score, first", "other": "score, second"}
    return compared.table[list(names)].rename(columns=names)


def only(compared: SideBySide) -> pd.DataFrame:
    """Items that one of the two has only."""
    one, other = compared.names
    rows = [(item, one) for item in compared.only_one] + [(item, other) for item in compared.only_other]
    return pd.DataFrame(rows, columns=["item", "only in"])


def points(compared: SideBySide) -> pd.DataFrame:
    """The rows behind the chart: item, both ranks, gap, and whether the item is among those that part most."""
    rows = compared.table[["item", "rank_one", "rank_other", "gap"]].copy()
    rows["marked"] = np.where((np.arange(len(rows)) < N_MARKED) & (rows["gap"] != 0), "part most", "other")
    return rows


def chart(compared: SideBySide) -> Chart:
    """Rank against rank; on the diagonal both agree. Items that part most are marked; names on hover."""
    rows = points(compared)
    kinds = ["other", "part most"]
    rows["marked"] = np.where(rows["marked"] == "part most", kinds[1], kinds[0])
    marked = rows[rows["marked"] == kinds[1]]
    drawn = pd.concat([thin(rows[rows["marked"] != kinds[1]].sort_values("rank_one")), marked])
    top = float(max(rows["rank_one"].max(), rows["rank_other"].max())) if len(rows) else 1.0
    scale = alt.Scale(nice=False, domain=[0, top + 1])
    how: dict[str, Any] = {"title": None, "legend": alt.Legend(orient="top")}
    tooltip = [
        alt.Tooltip("item:N", title="Item"),
        alt.Tooltip("rank_one:Q", title="Rank, first"),
        alt.Tooltip("rank_other:Q", title="Rank, second"),
        alt.Tooltip("gap:Q", title="Gap", format="+"),
    ]
    one, other = (name if len(name) < 40 else name[:38] + "…" for name in compared.names)
    dots = (
        alt.Chart(drawn)
        .mark_point(filled=True, size=40)
        .encode(
            x=alt.X("rank_one:Q", title=f"Rank by {one} (1 = most related)", scale=scale),
            y=alt.Y("rank_other:Q", title=f"Rank by {other}", scale=scale),
            color=alt.Color("marked:N", scale=alt.Scale(domain=kinds, range=[BLUE, ORANGE]), **how),
            opacity=alt.Opacity("marked:N", scale=alt.Scale(domain=kinds, range=[0.5, 1.0]), **how),
            shape=alt.Shape("marked:N", scale=alt.Scale(domain=kinds, range=["circle", "diamond"]), **how),
            tooltip=tooltip,
        )
    )
    ends = pd.DataFrame({"rank_one": [1.0, top], "rank_other": [1.0, top]})
    line = alt.Chart(ends).mark_line(color=GREY, strokeDash=[4, 4]).encode(x="rank_one:Q", y="rank_other:Q")
    return alt.layer(line, dots).properties(height=400)
