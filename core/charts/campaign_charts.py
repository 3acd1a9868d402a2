"""Altair charts made of a campaign's views, among them how the ranking became stable.

Colours can be told apart by colour-blind eyes and on light and dark grounds.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

Chart = alt.Chart | alt.LayerChart | alt.FacetChart
MAX_POINTS = 5000
ROW = 20  # pixels of a named item
# Of an axis whose last label would be cut at the chart's edge: it ends some pixels before it.
FLUSH: dict[str, Any] = {"labelFlush": True, "labelFlushOffset": -4}
GREY = "#808080"  # stands out on white and on near-black
# Of words on paper: no grey has 4.5 : 1 on white and on near-black, so pages give words a colour of their theme.
NOTE = "#6a6a6a"
# After Okabe and Ito's palette (2008); all stand out on white and on near-black, and any two from each other for eyes
# without green cones too. tests/charts/test_palette.py measures both.
BLUE, ORANGE, GREEN, PURPLE = "#3D8FD1", "#D9730D", "#1A9E77", "#B565A7"
BALLOT_COLOURS = [BLUE, ORANGE, GREEN, PURPLE, "#726822", "#9326FF", "#E96969", "#33726A", "#7D6CF0", "#759E2F"]
BALLOT_SHAPES = [
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "stroke",
    "wedge",
    "arrow",
    "triangle",
]


def ballot_sizes(sizes: tuple[int, ...], appearances: tuple[int, ...]) -> Chart:
    """How many items each ballot holds, with the votes that an item that stays has gathered by then."""
    frame = pd.DataFrame(
        {
            "ballot": [str(k) for k in range(1, len(sizes) + 1)],
            "items": sizes,
            "gathered": np.cumsum(appearances),
        }
    )
    base = alt.Chart(frame).encode(
        x=alt.X("ballot:O", title="Ballot", axis=alt.Axis(labelAngle=0)),
        tooltip=[
            alt.Tooltip("ballot:O", title="Ballot"),
            alt.Tooltip("items:Q", title="Items", format=","),
            alt.Tooltip("gathered:Q", title="Votes per item by then", format=","),
        ],
    )
    bars = base.mark_bar(color=BLUE).encode(y=alt.Y("items:Q", title="Items"))
    text = base.mark_text(dy=-8, color=NOTE).encode(y="items:Q", text=alt.Text("items:Q", format=","))
    return (bars + text).properties(height=280)


def votes_along_ranks(sizes: tuple[int, ...], appearances: tuple[int, ...], uniform: float) -> Chart:
    """How often an item is shown, by its rank: each ballot adds a layer as wide as its items and M high.

    The dashed line is M_unif, what every item would get if all were treated alike.
    """
    top = np.cumsum(appearances)
    frame = pd.DataFrame(
        {
            "ballot": [str(number) for number in range(1, len(sizes) + 1)],
            "from_rank": 1,
            "to_rank": sizes,
            "from_votes": top - np.array(appearances),
            "to_votes": top,
        }
    )
    ranks = alt.Scale(type="log", domain=[1, max(sizes)], nice=False)
    names = list(frame["ballot"])
    layers = (
        alt.Chart(frame)
        .mark_rect(stroke=GREY, strokeWidth=0.5)
        .encode(
            x=alt.X("from_rank:Q", title="Rank of the item (1 = top), logarithmic", scale=ranks),
            x2="to_rank:Q",
            y=alt.Y("from_votes:Q", title="Votes on the item"),
            y2="to_votes:Q",
            color=alt.Color(
                "ballot:N",
                title="Ballot",
                sort=names,
                legend=alt.Legend(orient="top", columns=10, titleOrient="left", symbolStrokeWidth=0.5),
                scale=alt.Scale(
                    domain=names, range=[BALLOT_COLOURS[k % len(BALLOT_COLOURS)] for k in range(len(names))]
                ),
            ),
            tooltip=[
                alt.Tooltip("ballot:N", title="Ballot"),
                alt.Tooltip("to_rank:Q", title="Items, N(k)", format=","),
                alt.Tooltip("to_votes:Q", title="Votes per item by then", format=","),
            ],
        )
    )
    even = alt.Chart(pd.DataFrame({"votes": [uniform]})).encode(y="votes:Q")
    line = even.mark_rule(color=GREY, strokeDash=[6, 4], strokeWidth=2)
    return alt.layer(layers, line).properties(height=280)


def rescaling(points: pd.DataFrame, line: pd.DataFrame, ballot: int) -> Chart:
    """The paper's Figure 2: scores before the ballot against win ratios in it, with the line of Eq. 6."""
    thinned = thin(points.sort_values("previous", ascending=False))
    dots = (
        alt.Chart(thinned)
        .mark_point(filled=True, opacity=0.55, size=36, color=BLUE)
        .encode(
            x=alt.X("x:Q", title=f"x in ballot {ballot}", scale=alt.Scale(zero=False)),
            y=alt.Y("previous:Q", title=f"ȳ after ballot {ballot - 1}", scale=alt.Scale(zero=False)),
            tooltip=[
                alt.Tooltip("pair:N", title="Item"),
                alt.Tooltip("x:Q", title="x in the ballot", format=".3f"),
                alt.Tooltip("previous:Q", title="ȳ before", format=".3f"),
            ],
        )
    )
    layers = [dots]
    if len(line):
        layers.append(alt.Chart(line).mark_line(color=ORANGE, strokeWidth=2.5).encode(x="x:Q", y="previous:Q"))
    return alt.layer(*layers).properties(height=320)


def scores_by_ballot(by_ballot: pd.DataFrame, rank_title: str = "Rank") -> Chart:
    """The paper's Figure 4: x of every ballot and the final ȳ along the ranks, named by `rank_title`."""
    by_ballot = bare(by_ballot)
    final = by_ballot.drop_duplicates("item")[["rank", "pair", "final"]].rename(columns={"final": "score"})
    last = "ȳ, final"
    final = final.assign(series=last)
    drawn = by_ballot[by_ballot["ballot"] <= len(BALLOT_COLOURS)]  # later ballots are small and would hide each other
    points = drawn.rename(columns={"x": "score"})
    names = {ballot: f"x, ballot {ballot}" for ballot in sorted(points["ballot"].unique())}
    points = points.assign(series=points["ballot"].map(names))[["rank", "pair", "score", "series"]]
    series = [*names.values(), last]
    colours = [*BALLOT_COLOURS[: len(series) - 1], "#6b6b6b"]
    parts = [part.sort_values("rank") for part in (points.dropna(), final)]
    limit = MAX_POINTS if sum(map(len, parts)) <= MAX_POINTS else MAX_POINTS // 2
    frame = pd.concat([thin(part, limit) for part in parts])
    return (
        alt.Chart(frame)
        .mark_point(filled=True, opacity=0.6, size=26)
        .encode(
            x=alt.X("rank:Q", title=rank_title, scale=alt.Scale(nice=False, zero=False)),
            y=alt.Y("score:Q", title="Score", scale=alt.Scale(zero=False)),
            color=alt.Color(
                "series:N",
                title=None,
                legend=alt.Legend(orient="top", columns=3),
                scale=alt.Scale(domain=series, range=colours),
            ),
            shape=alt.Shape(
                "series:N",
                title=None,
                scale=alt.Scale(domain=series, range=[*BALLOT_SHAPES[: len(series) - 1], "circle"]),
            ),
            tooltip=[
                alt.Tooltip("pair:N", title="Item"),
                alt.Tooltip("series:N", title="Score of"),
                alt.Tooltip("rank:Q", title="Rank"),
                alt.Tooltip("score:Q", title="Score", format=".3f"),
            ],
        )
        .properties(height=360)
    )


def bare(frame: pd.DataFrame) -> pd.DataFrame:
    """The same rows without what describes them (`attrs`), which pandas copies, deep, with each look at a column."""
    copy = frame.copy(deep=False)
    copy.attrs = {}
    return copy


def thin(frame: pd.DataFrame, limit: int = MAX_POINTS) -> pd.DataFrame:
    """At most `limit` rows: the first half as they are, the rest evenly spaced, so that the top stays whole."""
    if len(frame) <= limit:
        return frame
    head = limit // 2
    rest = np.linspace(head, len(frame) - 1, limit - head).astype(int)
    return frame.iloc[np.concatenate([np.arange(head), rest])]


def similarity_curves(curves: pd.DataFrame, value: str) -> Chart:
    """The paper's Figure 3: values of items, of random pairs and the like, sorted, over the share of pairs."""
    names = list(dict.fromkeys(curves["pairs"]))
    legend = alt.Legend(orient="top", columns=2)  # more side by side would be cut in half of a page
    dashes = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 3]]
    return (
        alt.Chart(curves)
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("share:Q", title="Share of pairs, the most related first", axis=alt.Axis(format="%")),
            y=alt.Y("value:Q", title=value),
            color=alt.Color(
                "pairs:N",
                title=None,
                legend=legend,
                scale=alt.Scale(domain=names, range=BALLOT_COLOURS[: len(names)]),
            ),
            strokeDash=alt.StrokeDash("pairs:N", title=None, scale=alt.Scale(domain=names, range=dashes[: len(names)])),
            tooltip=[
                alt.Tooltip("pairs:N", title="Pairs"),
                alt.Tooltip("share:Q", title="Share of pairs", format=".0%"),
                alt.Tooltip("value:Q", title=value, format=".3f"),
            ],
        )
        .properties(height=300 + 32 * (len(names) // 2 + len(names) % 2))
    )


def accuracy_by_budget(curve: pd.DataFrame, figure: str, votes: int) -> Chart:
    """A figure (ρ_w or τ_w) against the votes of a campaign, a line and band a protocol; dashed: the plan's votes.

    `curve` has the columns protocol, figure, votes, mean, lower and upper.
    """
    names = list(dict.fromkeys(curve["protocol"]))
    colours = alt.Scale(domain=names, range=BALLOT_COLOURS[: len(names)])
    dashes = alt.Scale(domain=names, range=[[1, 0], [6, 3], [2, 2]][: len(names)])
    x = alt.X("votes:Q", title="Votes of the campaign", axis=alt.Axis(format="~s", tickCount=6))
    base = alt.Chart(curve[curve["figure"] == figure]).encode(
        x=x, color=alt.Color("protocol:N", title=None, scale=colours, legend=alt.Legend(orient="top"))
    )
    band = base.mark_area(opacity=0.2).encode(
        y=alt.Y("lower:Q", title=figure, scale=alt.Scale(zero=False)), y2="upper:Q"
    )
    line = base.mark_line(point=True).encode(
        y="mean:Q",
        strokeDash=alt.StrokeDash("protocol:N", title=None, scale=dashes, legend=alt.Legend(orient="top")),
        tooltip=[
            alt.Tooltip("protocol:N", title="Protocol"),
            alt.Tooltip("votes:Q", title="Votes", format=","),
            alt.Tooltip("mean:Q", title="Mean", format=".3f"),
            alt.Tooltip("lower:Q", title="90% from", format=".3f"),
            alt.Tooltip("upper:Q", title="to", format=".3f"),
        ],
    )
    here = alt.Chart(pd.DataFrame({"votes": [votes]})).mark_rule(color=GREY, strokeDash=[6, 4])
    return alt.layer(band, line, here.encode(x=x)).properties(height=260)


def top_intervals(top: pd.DataFrame) -> Chart:
    """The first items with scores, the intervals of these where there are any, and votes.

    `top` has pair, rank, score, lower, upper and votes.
    """
    top = bare(top)
    labelled = top.assign(shown=[f"{pair}  {score:.3f}" for pair, score in zip(top["pair"], top["score"], strict=True)])
    pairs = alt.Y(
        "shown:N",
        title=None,
        sort=list(labelled["shown"]),
        axis=alt.Axis(labelLimit=260, labelOverlap=False, labelFlush=False),
    )
    tooltip = [
        alt.Tooltip("pair:N", title="Item"),
        alt.Tooltip("rank:Q", title="Rank"),
        alt.Tooltip("score:Q", title="Score", format=".3f"),
        alt.Tooltip("lower:Q", title="90% from", format=".3f"),
        alt.Tooltip("upper:Q", title="to", format=".3f"),
        alt.Tooltip("votes:Q", title="Votes", format=","),
    ]
    base = alt.Chart(labelled).encode(y=pairs, tooltip=tooltip)
    has_intervals = labelled["lower"].notna().any()
    x: dict[str, Any] = {
        "title": "Score with its 90% interval" if has_intervals else "Score",
        "scale": alt.Scale(zero=False),
        "axis": alt.Axis(**FLUSH, tickCount=6),
    }
    bars = base.transform_filter("isValid(datum.lower)").mark_rule(color=BLUE, strokeWidth=3, opacity=0.5)
    bars = bars.encode(x=alt.X("lower:Q", **x), x2="upper:Q")
    dots = base.mark_point(color=BLUE, filled=True, size=60, opacity=1).encode(x=alt.X("score:Q", **x))
    beside: dict[str, Any] = {"align": "left", "dx": 8, "color": NOTE, "fontSize": 11}
    votes = base.mark_text(**beside).encode(x=alt.value("width"), text=alt.Text("votes:Q", format=","))
    head = alt.Chart(pd.DataFrame({"head": ["votes"]})).mark_text(**beside, baseline="bottom")
    head = head.encode(x=alt.value("width"), y=alt.value(-2), text="head:N")
    layers = (bars, dots) if has_intervals else (dots,)  # an empty layer is a picture without a name
    return alt.layer(*layers, votes, head).properties(height=70 + ROW * len(labelled))


N_COLOURED = 10
STEP = 17  # height a named item needs
LINE, BELOW = 13, 50  # pixels of a line of text, and of the axis below what is plotted


def places_by_ballot(history: pd.DataFrame) -> Chart:
    """The place of each leading item after each ballot, a line an item; the first ten of now are blue, the others grey.

    `history` has the columns of
    `core.views.scores.scores_page.STABILISATION_COLUMNS`. Places run down a logarithmic axis, as
    top places weigh more. A bar is the 90% interval of the place, where there is one. The item under the pointer is
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
    text = alt.Chart(named).mark_text(align="left", dx=9, fontSize=11, limit=190, color=NOTE)
    return text.encode(x=x, y=alt.Y("at:Q"), text="pair:N")


def _apart(ranks: np.ndarray, lowest: float, height: int) -> np.ndarray:
    """Ranks in ascending order, moved down a logarithmic axis from 1 to `lowest` so far that lines of text fit."""
    pixels = np.log(ranks) / np.log(lowest) * (height - BELOW)
    for place in range(1, len(pixels)):
        pixels[place] = max(pixels[place], pixels[place - 1] + LINE)
    return np.asarray(np.exp(pixels / (height - BELOW) * np.log(lowest)))


def _first_of(pairs: pd.Series) -> str:
    """The first pair, and how many more share its place."""
    return str(pairs.iloc[0]) + (f" + {len(pairs) - 1}" if len(pairs) > 1 else "")


def _tooltip(frame: pd.DataFrame) -> list[alt.Tooltip]:
    bounds = [
        alt.Tooltip("rank_lower:Q", title="90% from", format=".1f"),
        alt.Tooltip("rank_upper:Q", title="to", format=".1f"),
    ]
    return [
        alt.Tooltip("pair:N", title="Item"),
        alt.Tooltip("ballot:O", title="After ballot"),
        alt.Tooltip("rank:Q", title="Place"),
        *(bounds if frame["rank_lower"].notna().any() else []),
        alt.Tooltip("score:Q", title="Score", format=".3f"),
    ]
