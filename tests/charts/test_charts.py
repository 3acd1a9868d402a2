"""What every chart has: axes with titles, tooltips with names, few enough points at 20 and at 100,000 items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.charts import campaign_charts, evaluation
from core.charts.campaign_charts import places_by_ballot
from core.charts.files import specification, to_svg

ROOT = Path(__file__).resolve().parents[2]
SIZES = (20, pytest.param(100_000, marks=pytest.mark.release))


def items(n: int) -> pd.DataFrame:
    """n items with ranks, scores and what else charts of items need."""
    rng = np.random.default_rng(n)
    score = np.sort(rng.random(n))[::-1]
    table = pd.DataFrame({"area": "x", "token_a": [f"a{i}" for i in range(n)], "token_b": [f"b{i}" for i in range(n)]})
    table = table.assign(pair=table["token_a"] + " – " + table["token_b"], item=range(n), rank=np.arange(1.0, n + 1))
    table = table.assign(score=score, lower=score - 0.1, upper=score + 0.1, votes=20, final=score, x=score, mean=score)
    return table.assign(previous=score, model_rank=rng.permutation(table["rank"]), cosine=score)


def history(n: int) -> pd.DataFrame:
    """Places of n items after two ballots."""
    table = items(n).head(30).assign(place=range(1, min(n, 30) + 1), in_ballot=True, rank_lower=1.0, rank_upper=40.0)
    return pd.concat([table.assign(ballot=k) for k in (1, 2)], ignore_index=True)


def models() -> pd.DataFrame:
    """Two models with both intervals."""
    ends = {"corrected": 0.45, "lower": 0.2, "upper": 0.6}
    ends |= {"token corrected": 0.4, "token lower": 0.1, "token upper": 0.7}
    return pd.DataFrame({"embedding": ["a", "b"], "estimate": [0.4, 0.5], **ends})


def made(n: int) -> dict[str, Any]:
    table = items(n)
    by_ballot = pd.concat([table.drop(columns="score").assign(ballot=k) for k in (1, 2, 3)], ignore_index=True)
    sizes = (n, n // 2, n // 4)
    budget = pd.DataFrame({"protocol": "paper", "figure": "ρ_w", "votes": [n, 2 * n], "mean": 0.8})
    curves = pd.DataFrame({"pairs": "items", "share": np.linspace(0, 1, 200), "value": np.linspace(1, 0, 200)})
    return {
        "sizes": campaign_charts.ballot_sizes(sizes, (20, 20, 20)),
        "votes": campaign_charts.votes_along_ranks(sizes, (20, 20, 20), 35.0),
        "rescaling": campaign_charts.rescaling(table, pd.DataFrame({"x": [0.0, 1], "previous": [0.0, 1]}), 2),
        "by ballot": campaign_charts.scores_by_ballot(by_ballot),
        "scatter": evaluation.rank_scatter(table, table.head(5)),
        "curves": campaign_charts.similarity_curves(curves, "|cos|"),
        "budget": campaign_charts.accuracy_by_budget(budget.assign(lower=0.7, upper=0.9), "ρ_w", n),
        "top": campaign_charts.top_intervals(table.head(30)),
        "settling": places_by_ballot(history(n)),
        "groups": evaluation.told_apart(pd.DataFrame({"group": list("112"), "embedding": list("abc")}), "abc"),
        "models": evaluation.figures_by_model(models(), "ρ_w", (-0.5, 0.2), pd.DataFrame({"model": ["v"], "ρ_w": 0.9})),
        "n₀": evaluation.offset_curve(
            pd.DataFrame({"embedding": "a", "figure": "ρ_w", "n0": [0.0, 2.0], "value": [0.3, 0.4]}), "ρ_w", 2.0
        ),
    }


@pytest.fixture(scope="module", params=SIZES)
def specs(request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    return {name: specification(chart) for name, chart in made(request.param).items()}


def encodings(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield spec.get("encoding", {})
    for layer in spec.get("layer", ()):
        yield from encodings(layer)


def test_every_axis_says_what_it_shows(specs):
    for name, spec in specs.items():
        for axis in ("x", "y"):
            shown = [found[axis] for found in encodings(spec) if axis in found]
            titles = [channel["title"] for channel in shown if channel.get("title")]
            is_names = all(channel.get("type") == "nominal" for channel in shown if "type" in channel)
            assert titles or is_names, (name, axis)  # an axis of names, such as items, says it by itself


def test_every_line_of_a_tooltip_has_a_name(specs):
    for name, spec in specs.items():
        told = [line for found in encodings(spec) for line in np.atleast_1d(found.get("tooltip", []))]
        assert told, name
        unnamed = [line.get("field") for line in told if not line.get("title")]
        assert unnamed == [], name
        assert not [line for line in told if "_" in line["title"].replace("ρ_w", "")], name


def test_no_chart_draws_more_points_than_can_be_seen(specs):
    for name, spec in specs.items():
        for rows in spec["datasets"].values():
            assert len(rows) <= 2 * campaign_charts.MAX_POINTS, name


def test_thinning_keeps_the_top_and_the_ends():
    table = items(100_000)
    kept = campaign_charts.thin(table)
    assert len(kept) == campaign_charts.MAX_POINTS
    assert list(kept["item"][:2500]) == list(range(2500))
    assert (kept["item"].iloc[-1], kept["item"].is_monotonic_increasing) == (99_999, True)
    assert campaign_charts.thin(table.head(20)).equals(table.head(20))


def test_every_chart_of_the_pages_can_be_saved():
    """Charts are drawn by `ui/shared/chart_files.py` alone, which offers them as files."""
    drawn = re.compile(
        r"\bst\.(altair|vega_lite|bar|line|area|scatter|plotly|pydeck)_?(chart|lite_chart)?\(|\.pyplot\("
    )
    found = [
        str(path.relative_to(ROOT))
        for folder in ("ui", "pages")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if drawn.search(path.read_text(encoding="utf-8"))
    ]
    assert found == ["ui/shared/chart_files.py"]


def test_intervals_that_are_to_come_have_their_place_in_the_legend() -> None:
    """Nothing moves when they are there."""
    there = models()
    ends = ["corrected", "lower", "upper", "token corrected", "token lower", "token upper"]
    blank = there.assign(**dict.fromkeys(ends, np.nan))
    kinds = [evaluation.VOTES, evaluation.TOKENS]
    charts_ = [evaluation.figures_by_model(table, "ρ_w", None, pd.DataFrame(), kinds) for table in (there, blank)]
    legends = [
        {
            tuple(of["color"]["scale"]["domain"])
            for of in encodings(specification(chart))
            if "scale" in of.get("color", {})
        }
        for chart in charts_
    ]
    assert legends == [{tuple(kinds)}] * 2


def test_the_axis_of_a_correlation_ends_at_one_unless_a_value_is_above() -> None:
    top = pd.DataFrame({"model": ["v"], "ρ_w": [0.98]})
    for most, ends in ((0.6, [-0.6, 1.0]), (1.0, [-0.6, 1.0]), (1.04, [-0.6, 1.1])):
        spec = specification(evaluation.figures_by_model(models().assign(upper=most), "ρ_w", (-0.5, 0.2), top))
        domains = {tuple(of["x"]["scale"]["domain"]) for of in encodings(spec) if "scale" in of.get("x", {})}
        assert domains == {tuple(ends)}
    spec = specification(evaluation.standings(models(), "ρ_w"))
    assert {tuple(of["x"]["scale"]["domain"]) for of in encodings(spec) if "scale" in of.get("x", {})} == {(0.0, 0.8)}


def test_each_model_is_labelled_with_its_own_figure() -> None:
    spec = specification(evaluation.standings(models().assign(corrected=[-0.1, 0.5]), "ρ_w"))
    labels = {(row["embedding"], row["said"]) for rows in spec["datasets"].values() for row in rows}
    assert labels == {("a", "−0.10"), ("b", "0.50")}


def test_of_many_models_the_first_are_drawn_and_the_last_label_is_not_cut() -> None:
    names = [f"model {number}" for number in range(120)]
    table = pd.concat([models().head(1)] * 120).assign(embedding=names, estimate=np.linspace(0.1, 0.9, 120))
    spec = specification(evaluation.figures_by_model(table, "ρ_w", None, pd.DataFrame()))
    orders = {tuple(of["y"]["sort"]) for of in encodings(spec) if "sort" in of.get("y", {})}
    assert orders == {tuple(reversed(names[-evaluation.MOST_MODELS :]))}
    assert spec["height"] <= 500  # with the headline above it half of a screen; the table begins below
    bare = table.assign(lower=np.nan, upper=np.nan, **{"token lower": np.nan, "token upper": np.nan})
    for shown in (table, bare):  # with intervals and without any
        spec = specification(evaluation.figures_by_model(shown, "ρ_w", None, pd.DataFrame()))
        axes = [of["x"]["axis"] for of in encodings(spec) if "axis" in of.get("x", {})]
        assert {axis["labelFlushOffset"] for axis in axes} == {-4}
    groups = pd.DataFrame({"group": "A", "embedding": names})
    assert specification(evaluation.told_apart(groups, names))["height"] < 1200


def test_a_chart_of_rows_is_as_high_as_its_rows_need() -> None:
    """One model isn't a dot in half a screen; rows of a few are higher than those of many."""

    def height(n: int) -> int:
        table = pd.concat([models().head(1)] * n).assign(embedding=[str(number) for number in range(n)])
        return specification(evaluation.figures_by_model(table, "ρ_w", None, pd.DataFrame()))["height"]

    assert [height(n) - evaluation.AROUND for n in (1, 2, 4, 6, 7)] == [60, 120, 200, 276, 200]
    groups = pd.DataFrame({"group": ["A", "A"], "embedding": ["a", "b"]})
    assert specification(evaluation.told_apart(groups, ["a", "b"]))["height"] == 85 + 120


def test_names_of_lines_and_band_stand_above_what_is_plotted() -> None:
    """Each line's at a height of its own, and none on a model's interval."""
    yardsticks = pd.DataFrame({"model": ["v", "w"], "ρ_w": [0.8, 0.9]})
    spec = specification(evaluation.figures_by_model(models(), "ρ_w", (-0.5, 0.2), yardsticks))
    places = [of["y"]["value"] for of in encodings(spec) if "text" in of]
    assert places == [-3, -16, -3]


def test_names_of_near_places_lie_a_line_of_text_apart() -> None:
    """The first ten places of a ranking of hundreds lie close together on a logarithmic axis."""
    ranks, height = np.arange(1.0, 11.0), 510
    moved = campaign_charts._apart(ranks, 700.0, height)
    pixels = np.log(moved) / np.log(700.0) * (height - campaign_charts.BELOW)
    assert np.diff(pixels).min() >= campaign_charts.LINE - 1e-9
    assert moved[:3].tolist() == pytest.approx([1.0, 2.0, 3.0])  # far enough apart already
    assert (moved >= ranks - 1e-9).all()


def test_items_without_intervals_are_in_the_chart_of_the_top() -> None:
    spec = specification(campaign_charts.top_intervals(items(20).head(15).assign(lower=np.nan, upper=np.nan)))
    titles = {of["x"].get("title") for of in encodings(spec) if "field" in of.get("x", {})}
    assert titles == {"Score"}
    (rows,) = [rows for rows in spec["datasets"].values() if len(rows) == 15]
    assert [row["shown"].split("  ")[1] for row in rows] == [f"{row['score']:.3f}" for row in rows]


def test_what_has_no_interval_leaves_no_picture_without_a_name() -> None:
    """An empty layer would be told to whoever can't see it, as something without a name."""
    ends = ["corrected", "lower", "upper", "token corrected", "token lower", "token upper"]
    blank, none = models().assign(**dict.fromkeys(ends, np.nan)), pd.DataFrame()
    coming = [evaluation.VOTES, evaluation.TOKENS]
    top, first = items(20), items(20).head(3)
    charts_ = [
        *made(20).values(),
        evaluation.figures_by_model(blank, "ρ_w", None, none, coming),
        evaluation.figures_by_model(blank, "ρ_w", None, none),
        evaluation.standings(blank, "ρ_w"),
        evaluation.standings(models().assign(**dict.fromkeys(ends[3:], np.nan)), "ρ_w"),
        evaluation.rank_scatter(top, first),  # named on one side alone
        campaign_charts.top_intervals(first.assign(lower=np.nan, upper=np.nan)),
    ]
    for chart in charts_:
        assert re.findall(r'<g [^>]*role="graphics-object"[^>]*(?:/>|></g>)', to_svg(chart).decode()) == []


def test_signs_are_explained_where_they_are_drawn() -> None:
    blank = models().assign(**{"lower": np.nan, "token lower": np.nan})
    top = pd.DataFrame({"model": ["v"], "ρ_w": [0.9]})
    assert evaluation.signs_said(blank, "ρ_w", None, pd.DataFrame()) == "Dots: as measured."
    everything = "Bars: 90% intervals. Grey: as measured. Shaded: nine of ten random rankings. "
    coming = evaluation.signs_said(blank, "ρ_w", None, pd.DataFrame(), coming={"bars", "floor", "top"})
    assert coming == f"{everything}Dashed: ceilings by the votes."
    assert evaluation.signs_said(models(), "ρ_w", (-0.5, 0.2), top) == f"{everything}Dashed: ceilings by the votes."
    assert evaluation.signs_said(models(), "ρ", (-0.5, 0.2), top) == everything.strip()
