"""A chart of how the ranking became stable, ballot by ballot."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from .campaign_charts import BLUE, GREY, ORANGE, Chart

N_COLOURED = 10
STEP = 17  # height a named item needs
LINE, BELOW = 13, 50  # pixels of a line of text, and of the axis below what is plotted


def places_by_ballot(history: pd.DataFrame) -> Chart:
    """The place of each leading item after each ballot, a line an item; the first ten of now are blue, the others grey.

    `history` has the columns of `core.views.scores.rank_stabilisation.COLUMNS`. Places run down a logarithmic axis, as
    top places weigh more. A bar is the 90 % interval of the place, where there is one. The item under the pointer is
    orange.
    """
    n_shown = int(history["place"].max()) if len(history) else 1
    last = int(history["ballot"].max()) if len(history) else 1
    lowest = float(max(history["rank"].max(), history["rank_upper"].max(skipna=True), 2)) if len(history) else 2.0
    near = alt.selection_point(name="near", fields=["pair"], on="pointerover", nearest=True, empty=False)
    frame = history.assign(group=["first" if place <= N_COLOURED else "rest" for place in history["place"]])
    x = alt.X(
        "ballot:O",
        title="After ballot",
        axis=alt.Axis(labelAngle=0),
        scale=alt.Scale(domain=list(range(1, last + 1)), padding=0.15),
    )
    y = alt.Y(
        "rank:Q",
        title="Place (1 = most related), logarithmic",
        scale=alt.Scale(type="log", domain=[lowest, 1], nice=False),
        axis=alt.Axis(grid=False),  # its lines would go through the names
    )
    colour = (
        alt.when(near)
        .then(alt.value(ORANGE))
        .when(alt.datum.group == "first")
        .then(alt.value(BLUE))
        .otherwise(alt.value(GREY))
    )
    base = alt.Chart(frame).encode(x=x, detail="pair:N", color=colour)
    strong = alt.when(near).then(alt.value(1.0)).otherwise(alt.value(0.55))
    lines = base.mark_line(strokeWidth=2).encode(y=y, opacity=strong)
    bars = base.mark_rule(strokeWidth=5).encode(
        y=alt.Y("rank_lower:Q"),
        y2="rank_upper:Q",
        opacity=alt.when(near).then(alt.value(0.6)).otherwise(alt.value(0.0)),
    )
    dots = (
        base.mark_point(filled=True, size=46, opacity=1)
        .encode(
            y=y,
            shape=alt.Shape(
                "in_ballot:N",
                title="In the ballot",
                legend=None,
                scale=alt.Scale(domain=[True, False], range=["circle", "stroke"]),
            ),
            tooltip=_tooltip(frame),
        )
        .add_params(near)
    )
    known = [bars] if frame["rank_lower"].notna().any() else []  # an empty layer is a picture without a name
    height = max(240, STEP * n_shown)
    names = _names(frame[frame["ballot"] == last], x, lowest, height)
    return alt.layer(lines, *known, dots, names).properties(height=height)


def _names(now: pd.DataFrame, x: alt.X, lowest: float, height: int) -> alt.Chart:
    """The first items' names right of the last ballot; tied items share a line, which names one and counts the rest,
    so that the lines keep their room on a phone. Names of places that lie close together are moved apart."""
    first = now[now["place"] <= N_COLOURED]
    named = first.groupby(["ballot", "rank"], as_index=False).agg(pair=("pair", _first_of))
    named = named.assign(at=_apart(named["rank"].to_numpy(), lowest, height))
    text = alt.Chart(named).mark_text(align="left", dx=9, fontSize=11, limit=190, color=GREY)
    return text.encode(x=x, y=alt.Y("at:Q"), text="pair:N")


def _apart(ranks: np.ndarray, lowest: float, height: int) -> np.ndarray:
    """Ranks in ascending order, moved down a logarithmic axis from 1 to `lowest` so far that lines of text fit."""
    pixels = np.log(ranks) / np.log(lowest) * (height - BELOW)
    for place in range(1, len(pixels)):
        pixels[place] = max(pixels[place], pixels[place - 1] + LINE)
    return np.asarray(np.exp(pixels / (height - BELOW) * np.log(lowest)))


def _first_of(pairs: pd.Series) -> str:
    return str(pairs.iloc[0]) + (f" + {len(pairs) - 1}" if len(pairs) > 1 else "")


def _tooltip(frame: pd.DataFrame) -> list[alt.Tooltip]:
    bounds = [
        alt.Tooltip("rank_lower:Q", title="90 % from", format=".1f"),
        alt.Tooltip("rank_upper:Q", title="to", format=".1f"),
    ]
    return [
        alt.Tooltip("pair:N", title="Item"),
        alt.Tooltip("ballot:O", title="After ballot"),
        alt.Tooltip("rank:Q", title="Place"),
        *(bounds if frame["rank_lower"].notna().any() else []),
        alt.Tooltip("score:Q", title="Score", format=".3f"),
    ]
