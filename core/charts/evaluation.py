"""Charts of the Evaluate page: figures with both intervals, groups that aren't told apart, n₀ curves, a map."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ..base.numbers_in_words import with_decimals
from .campaign_charts import BALLOT_COLOURS, BLUE, FLUSH, GREY, NOTE, ORANGE, Chart, bare, thin

N_NAMED = 3  # items that are named at the top of the scatter
BAND = "random rankings"
VOTES, TOKENS = "other voters", "other tokens"
LEAST_PLOT = 200  # pixels of what is plotted, without axes and legends; of a few rows so many are enough:
HIGH_ROW = 60
LEGEND = 32  # pixels of a line of a legend
NAME, LONG_NAME = 18, 26  # characters of a model's name in a line of an axis, in high rows and in low ones
PADDING = 0.02  # of a figure, left beside the outermost value
MOST_MODELS = 12  # that a chart shows, the first ones, so that the table below it begins on the first screen
ROW, AROUND = 46, 150  # pixels of a model, and of axis, legend and the names above what is plotted
FEW, LOW_ROW = 6, 27  # models that have so high a row; pixels of a row of more


def figures_by_model(
    table: pd.DataFrame,
    figure: str,
    floor: tuple[float, float] | None,
    top: pd.DataFrame,
    coming: Sequence[str] = (),
    *,
    title: str = "",
) -> Chart:
    """One figure of each model as a dot, with the intervals over votes and over tokens, the best at the top.

    `table` has embedding, estimate, corrected, lower, upper, "token corrected", "token lower" and "token upper"; each
    interval has the estimate it is about on it, and the grey dot is the figure as it was measured. `floor` is where
    nine of ten random rankings lie, shaded; `top` has yardsticks (model, and the figure), drawn as dashed lines; both
    are labelled above what is plotted, each at a height of its own, as they may lie close together. `coming` are kinds
    of intervals that aren't there yet and have their place in the legend already. `title` is the figure's name where it
    isn't `figure`. Of more than `MOST_MODELS` models only the first are drawn.
    """
    rows = table.dropna(subset=["estimate"]).sort_values("estimate", ascending=False).head(MOST_MODELS)
    names, named = list(rows["embedding"]), title or figure
    row, letters = (ROW, NAME) if len(names) <= FEW else (LOW_ROW, LONG_NAME)
    y = alt.Y("embedding:N", sort=names, title=None, axis=_wrapped(letters))
    ends = {VOTES: ("corrected", "lower", "upper"), TOKENS: ("token corrected", "token lower", "token upper")}
    long = pd.concat(
        [
            pd.DataFrame({"embedding": rows["embedding"], "interval": kind, "at": rows[at]}).assign(
                **{"from": rows[low], "to": rows[high]}
            )
            for kind, (at, low, high) in ends.items()
        ]
    ).dropna()
    plotted = [rows["estimate"], *(long[name] for name in ("at", "from", "to")), pd.Series(floor or (), dtype=float)]
    if len(top) and figure in top:
        plotted.append(top[figure])
    axis = alt.Axis(**FLUSH, tickCount=8)
    x, height = _up_to_one(plotted), AROUND + _plot_of_rows(len(names), row)
    layers: list[alt.Chart] = []
    if floor:
        band = pd.DataFrame({"from": [floor[0]], "to": [floor[1]]})
        layers.append(alt.Chart(band).mark_rect(color=GREY, opacity=0.18).encode(x=alt.X("from:Q", scale=x), x2="to:Q"))
        layers.append(_label(band.assign(at=sum(floor) / 2, label=BAND), 0).encode(x=alt.X("at:Q", scale=x)))
    if len(top) and figure in top:
        lines = pd.DataFrame({"value": top[figure], "yardstick": top["model"]})
        layers.append(
            alt.Chart(lines)
            .mark_rule(strokeDash=[5, 4], color=GREY, strokeWidth=2)
            .encode(
                x="value:Q", tooltip=[alt.Tooltip("yardstick:N", title="Yardstick"), _figure_tooltip("value", figure)]
            )
        )
        for place in range(len(lines)):
            label = lines.iloc[[place]].rename(columns={"value": "at", "yardstick": "label"})
            layers.append(_label(label, len(lines) - 1 - place, is_left=True).encode(x=alt.X("at:Q", scale=x)))
    kinds = [kind for kind in ends if kind in {*long["interval"], *coming}]
    colours = alt.Scale(domain=kinds, range=[{VOTES: BLUE, TOKENS: ORANGE}[kind] for kind in kinds])
    for kind in kinds:
        aside = -6 if kind == VOTES else 6
        of_kind = alt.Chart(long[long["interval"] == kind])
        tooltip = [_model(), alt.Tooltip("interval:N", title="90% with"), _figure_tooltip("at", "Without its bias")]
        tooltip += [_figure_tooltip("from", "From"), _figure_tooltip("to", "To")]
        legend = alt.Legend(orient="top", offset=34)  # above the names of lines
        colour = alt.Color("interval:N", title=None, scale=colours, legend=legend)
        across = alt.X("from:Q", title=named, scale=x, axis=axis)
        is_seen = bool((long["interval"] == kind).any())  # else it would be a picture without a name
        line = of_kind.mark_rule(strokeWidth=3, yOffset=aside, aria=is_seen)
        layers.append(line.encode(y=y, x=across, x2="to:Q", color=colour, tooltip=tooltip))
        dot = of_kind.mark_point(filled=True, size=70, opacity=1, yOffset=aside, aria=is_seen)
        layers.append(dot.encode(y=y, x=alt.X("at:Q", title=named, scale=x), color=colour, tooltip=tooltip))
    dots = alt.Chart(rows).mark_point(filled=True, size=70, color=GREY, opacity=1)
    measured = alt.X("estimate:Q", title=named, scale=x, axis=axis)
    layers.append(dots.encode(y=y, x=measured, tooltip=[_model(), _figure_tooltip("estimate", named)]))
    return alt.layer(*layers).properties(height=height)


def signs_said(
    table: pd.DataFrame,
    figure: str,
    floor: tuple[float, float] | None,
    top: pd.DataFrame,
    coming: Collection[str] = (),
) -> str:
    """What the signs of `figures_by_model` mean, of those that it draws or will once what is `coming` is there ("bars",
    "floor", "top"): the line is as long before as after, so that nothing below it moves."""
    has_bars = "bars" in coming or table[["lower", "token lower"]].notna().any(axis=None)
    sentences = ["Bars: 90% intervals. Grey: as measured."] if has_bars else ["Dots: as measured."]
    sentences += ["Shaded: nine of ten random rankings."] if floor or "floor" in coming else []
    sentences += ["Dashed: ceilings by the votes."] if "top" in coming or (len(top) and figure in top) else []
    return " ".join(sentences)


def standings(table: pd.DataFrame, figure: str) -> Chart:
    """One figure of each model, with its intervals over votes and over tokens where it has them; the best at the top.

    `table` is as for `figures_by_model`: the dot is what the interval over votes is about.
    """
    rows = table.assign(at=table["corrected"].fillna(table["estimate"])).dropna(subset=["at"])
    rows = rows.rename(columns={"token lower": "from", "token upper": "to"})
    rows = rows.sort_values("at", ascending=False)
    rows["said"] = [with_decimals(at, 2) for at in rows["at"]]
    y = alt.Y("embedding:N", sort=list(rows["embedding"]), title=None, axis=alt.Axis(labelLimit=180))
    scale = _up_to_one([rows[name] for name in ("at", "lower", "upper", "from", "to")], zero=True)
    x = alt.X("at:Q", title=f"{figure}: 1 is full agreement", scale=scale, axis=alt.Axis(**FLUSH, tickCount=6))
    base = alt.Chart(rows).encode(y=y, tooltip=[_model(), _figure_tooltip("at", figure), *_ends()])
    dots = base.mark_point(filled=True, size=90, color=BLUE, opacity=1).encode(x=x)
    words = base.mark_text(dy=-11, color=NOTE, fontSize=11).encode(x="at:Q", text="said:N")
    bars = [
        base.transform_filter(f"isValid(datum.{low})").mark_rule(strokeWidth=3, **look).encode(x=f"{low}:Q", x2=high)
        for low, high, look in (("from", "to", {"color": ORANGE, "yOffset": 9}), ("lower", "upper", {"color": BLUE}))
        if rows[low].notna().any()  # an empty layer is a picture without a name
    ]
    return alt.layer(*bars, dots, words).properties(height=85 + 36 * len(rows))


def _up_to_one(plotted: Sequence[pd.Series], *, zero: bool = False) -> alt.Scale:
    """An axis of figures that are 1 at most: it ends at a tenth, and above 1 only where a value is; from 0 on, or below
    the least value. Nothing where nothing is plotted."""
    values = pd.concat(list(plotted)).dropna().to_numpy(dtype=float)
    if not len(values):
        return alt.Scale(zero=zero)
    low, high = values.min() - PADDING, values.max()
    ends = [np.floor(10 * min(low, 0.0 if zero else low)) / 10, np.ceil(10 * (high + PADDING)) / 10]
    return alt.Scale(domain=[float(ends[0]), float(min(ends[1], 1.0) if high <= 1 else ends[1])], nice=False)


def _plot_of_rows(n_rows: int, row: int) -> int:
    """The height of what is plotted in a chart of rows: `row` pixels each, and where there are few of them more, up to
    `LEAST_PLOT` in all. One row is no chart of half a screen."""
    return max(row * n_rows, min(LEAST_PLOT, HIGH_ROW * n_rows))


def _wrapped(letters: int) -> alt.Axis:
    """An axis of names that are broken into lines, so that what is plotted keeps its room on a phone."""
    broken = f"split(replace(datum.label, /(.{{1,{letters}}})(\\s+|$)/g, '$1\\n'), '\\n')"
    return alt.Axis(labelLimit=140, labelOverlap=False, labelExpr=broken, labelLineHeight=12)


def _ends() -> list[alt.Tooltip]:
    """Tooltips of the bounds of both intervals."""
    ends = {"lower": "90% with other voters, from", "upper": "to", "from": "With other tokens, from", "to": "to "}
    return [_figure_tooltip(name, title) for name, title in ends.items()]


def _label(rows: pd.DataFrame, line: int, *, is_left: bool = False) -> alt.Chart:
    """The name of a dashed line, ending at it, or of a band, about its middle, above what is plotted; line 0 is next to
    it, and each further one higher by a line of text."""
    style: dict[str, Any] = {"align": "right", "dx": 2} if is_left else {"align": "center"}
    mark = alt.Chart(rows).mark_text(color=NOTE, fontSize=11, baseline="bottom", **style)
    return mark.encode(text="label:N", y=alt.value(-3 - 13 * line))


def _model() -> alt.Tooltip:
    return alt.Tooltip("embedding:N", title="Embedding")


def _figure_tooltip(name: str, title: str) -> alt.Tooltip:
    """A tooltip of a figure, to three digits."""
    return alt.Tooltip(f"{name}:Q", title=title, format=".3f")


def told_apart(groups: pd.DataFrame, names: Sequence[str]) -> Chart:
    """Groups of models that aren't told apart: a line joins those of a group; the best model at the top, and
    `MOST_MODELS` of them at most."""
    names = list(names[:MOST_MODELS])
    groups = groups[groups["embedding"].isin(names)]
    ends = groups.assign(place=groups["embedding"].map({name: n for n, name in enumerate(names)}))
    spans = ends.groupby("group")["place"].agg(["min", "max"]).reset_index()
    spans = spans.assign(first=[names[n] for n in spans["min"]], last=[names[n] for n in spans["max"]])
    order = alt.Scale(domain=list(names))  # of both layers: a line from one to another would forget a sort
    y = alt.Y("embedding:N", scale=order, title=None, axis=alt.Axis(labelLimit=220, labelOverlap=False))
    x = alt.X("group:N", title="Groups that aren't told apart", axis=alt.Axis(labelAngle=0))
    lines = alt.Chart(spans).mark_rule(strokeWidth=5, color=BLUE)
    lines = lines.encode(y=alt.Y("first:N", scale=order), y2="last:N", x=x)
    dots = alt.Chart(groups).mark_point(filled=True, size=110, color=BLUE, opacity=1)
    dots = dots.encode(x=x, y=y, tooltip=[_model(), alt.Tooltip("group:N", title="Group")])
    return alt.layer(lines, dots).properties(height=85 + _plot_of_rows(len(names), 34))


def offset_curve(curve: pd.DataFrame, figure: str, n0: float) -> Chart:
    """A figure along n₀, a line a model; dashed: the n₀ that the page has."""
    names = list(dict.fromkeys(curve["embedding"]))
    rows = curve[curve["figure"] == figure].dropna()
    x = alt.X("n0:Q", title="n₀: how far the weight reaches down the ranking", scale=alt.Scale(type="sqrt"))
    lines = (
        alt.Chart(rows)
        .mark_line(point=True)
        .encode(
            x=x,
            y=alt.Y("value:Q", title=figure, scale=alt.Scale(zero=False)),
            color=alt.Color(
                "embedding:N",
                title=None,
                scale=alt.Scale(domain=names, range=[BALLOT_COLOURS[n % 10] for n in range(len(names))]),
                legend=alt.Legend(orient="top", columns=1, labelLimit=240),
            ),
            tooltip=[_model(), alt.Tooltip("n0:Q", title="n₀"), _figure_tooltip("value", figure)],
        )
    )
    here = alt.Chart(pd.DataFrame({"n0": [n0]})).mark_rule(color=GREY, strokeDash=[6, 4]).encode(x=x)
    return alt.layer(here, lines).properties(height=105 + LEGEND * len(names) + max(LEAST_PLOT, LEGEND * len(names)))


def layout_map(points: pd.DataFrame) -> Chart:
    """Tokens where `causes.layout` puts them; one unit is as long across as it is up."""
    thinned = thin(points)
    spread = np.ptp(thinned[["x", "y"]].to_numpy(), axis=0).max() / 2 * 1.15 or 1.0
    middle = (thinned[["x", "y"]].max() + thinned[["x", "y"]].min()) / 2
    scales = {name: alt.Scale(domain=[middle[name] - spread, middle[name] + spread], nice=False) for name in ("x", "y")}
    x = alt.X("x:Q", title=None, axis=None, scale=scales["x"])
    y = alt.Y("y:Q", title=None, axis=None, scale=scales["y"])
    base = alt.Chart(thinned).encode(x=x, y=y, tooltip=[alt.Tooltip("token:N", title="Token")])
    dots = base.mark_point(filled=True, size=45, color=BLUE, opacity=0.9)
    return alt.layer(dots, base.mark_text(dy=-9, color=NOTE, limit=110).encode(text="token:N")).properties(height=420)


def rank_scatter(pairs: pd.DataFrame, worst: pd.DataFrame) -> Chart:
    """Ranks by people against ranks by a model; on the diagonal both agree.

    The worst disagreements are marked, and the first `N_NAMED` of them named.
    """
    worst = bare(worst)
    rows = thin(bare(pairs).dropna(subset=["model_rank"]).sort_values("rank"))
    rows = rows.assign(pair=rows["token_a"] + " – " + rows["token_b"])
    among, other = "among the worst", "other"
    rows = rows.assign(marked=np.where(rows.index.isin(worst.index), among, other))
    top = float(rows["rank"].max()) if len(rows) else 1.0
    diagonal = pd.DataFrame({"rank": [1.0, top], "model_rank": [1.0, top]})
    scale = alt.Scale(nice=False, domain=[0, top + 1])
    dots = (
        alt.Chart(rows)
        .mark_point(filled=True, opacity=0.5, size=32)
        .encode(
            x=alt.X("rank:Q", title="Rank by people (1 = most related)", scale=scale),
            y=alt.Y("model_rank:Q", title="Rank by the embedding", scale=scale),
            color=alt.Color(
                "marked:N",
                title=None,
                legend=alt.Legend(orient="top"),
                scale=alt.Scale(domain=[other, among], range=[BLUE, ORANGE]),
            ),
            shape=alt.Shape(
                "marked:N",
                title=None,
                scale=alt.Scale(domain=[other, among], range=["circle", "diamond"]),
            ),
            tooltip=[
                alt.Tooltip("pair:N", title="Item"),
                alt.Tooltip("area:N", title="Area"),
                alt.Tooltip("rank:Q", title="Rank by people"),
                alt.Tooltip("model_rank:Q", title="Rank by the embedding"),
                alt.Tooltip("cosine:Q", title="cos", format=".3f"),
            ],
        )
    )
    line = alt.Chart(diagonal).mark_line(color="#8c8c8c", strokeDash=[4, 4]).encode(x="rank:Q", y="model_rank:Q")
    return alt.layer(line, dots, *_names(worst.head(N_NAMED), top)).properties(height=420)


def _names(named: pd.DataFrame, top: float) -> list[alt.Chart]:
    """The pairs of some items beside their points, on the side where there is room."""
    named = named.assign(pair=named["token_a"] + " – " + named["token_b"])
    is_left = named["rank"] <= top / 2
    style: dict[str, Any] = {"fontSize": 11, "fontWeight": "bold", "color": NOTE, "limit": 220}
    sides: list[tuple[pd.DataFrame, dict[str, Any]]] = [
        (named[is_left], {"align": "left", "dx": 7}),
        (named[~is_left], {"align": "right", "dx": -7}),
    ]
    return [
        alt.Chart(there).mark_text(**side, **style).encode(x="rank:Q", y="model_rank:Q", text="pair:N")
        for there, side in sides
        if len(there)  # an empty layer is a picture without a name
    ]
