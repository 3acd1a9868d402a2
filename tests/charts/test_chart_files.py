"""Charts as SVG and PNG: what is written in them, how large they are, and that odd tokens stay text."""

from __future__ import annotations

import struct
import threading
from xml.etree import ElementTree

import altair as alt
import numpy as np
import pandas as pd
import pytest

from core.charts import campaign_charts, evaluation
from core.charts.files import COLUMN, PPI, WIDTH, specification, to_png, to_svg

ODD = ("<b>**x**</b>", "$x_1$", "R&amp;D", "[a](http://b)", '"q"')


def pairs(n: int = 40) -> pd.DataFrame:
    """Ranks of n items by people and, in a fixed disorder, by a model; the first items have odd names."""
    rng = np.random.default_rng(4)
    names = [ODD[i] if i < len(ODD) else f"token {i}" for i in range(n)]
    ranks = np.arange(1.0, n + 1)
    table = pd.DataFrame({"area": "x", "token_a": names, "token_b": [f"b{i}" for i in range(n)]})
    return table.assign(rank=ranks, model_rank=rng.permutation(ranks), cosine=rng.random(n))


def by_ballot(n: int) -> pd.DataFrame:
    table = pd.DataFrame({"item": range(n), "pair": [f"i {i}" for i in range(n)], "rank": range(1, n + 1)})
    return pd.concat([table.assign(ballot=k, x=0.5, final=table["rank"] / n) for k in (1, 2)], ignore_index=True)


CHARTS = {
    "plan": (campaign_charts.ballot_sizes((21, 11, 6), (4, 4, 4)), ["Ballot", "Items", "21"]),
    "rescaling": (
        campaign_charts.rescaling(
            pd.DataFrame({"pair": ODD, "x": [0.2, 0.4, 0.5, 0.8, 1.0], "previous": [0.6, 0.7, 0.75, 0.9, 1.0]}),
            pd.DataFrame({"x": [0.2, 1.0], "previous": [0.6, 1.0]}),
            2,
        ),
        ["x in ballot 2", "ȳ after ballot 1"],
    ),
    "scores": (
        campaign_charts.scores_by_ballot(by_ballot(30)),
        ["Rank", "Score", "x, ballot 1", "x, ballot 2", "ȳ, final"],
    ),
    "scatter": (
        evaluation.rank_scatter(pairs(), pairs().head(5)),
        ["Rank by people (1 = most related)", "Rank by the embedding", "among the worst"],
    ),
    "curves": (
        campaign_charts.similarity_curves(
            pd.DataFrame({"pairs": ["items", "items", "random pairs"], "share": [0, 1, 0.5], "value": [0.9, 0.2, 0.1]}),
            "|cos|",
        ),
        ["Share of pairs, the most related first", "|cos|", "items", "random pairs"],
    ),
}


# A chart with a legend beside it and one without; the others' pictures wait for a release, as each takes long to draw.
DRAWN = [name if name in ("rescaling", "scatter") else pytest.param(name, marks=pytest.mark.release) for name in CHARTS]


def texts(svg: bytes) -> list[str]:
    """What a reader of the picture reads."""
    return [element.text or "" for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("name", CHARTS)
def test_titles_and_legends_are_in_the_picture(name):
    chart, expected = CHARTS[name]
    found = texts(to_svg(chart))
    assert [text for text in expected if text not in found] == []


def test_odd_tokens_are_shown_literally():
    svg = to_svg(CHARTS["scatter"][0])
    assert set(texts(svg)) >= {f"{token} – b{i}" for i, token in enumerate(ODD[: evaluation.N_NAMED])}
    assert b"<b>" not in svg
    assert b"&lt;b&gt;**x**&lt;/b&gt;" in svg
    assert b"R&amp;amp;D" in svg


@pytest.mark.parametrize("name", DRAWN)
def test_a_png_is_as_large_as_a_page_is_wide(name):
    png = to_png(CHARTS[name][0])
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    assert width == pytest.approx(WIDTH * PPI / 72, abs=2)  # axes and legends included
    assert height >= 220 * PPI // 72
    small = to_png(CHARTS[name][0], ppi=72)
    assert struct.unpack(">II", small[16:24])[0] == pytest.approx(width * 72 / PPI, abs=1)


@pytest.mark.parametrize("name", DRAWN)
def test_a_png_fits_a_papers_column(name):
    chart, expected = CHARTS[name]
    png = to_png(chart, width=COLUMN)
    width, height = struct.unpack(">II", png[16:24])
    assert width == pytest.approx(COLUMN * PPI / 72, abs=2)
    assert height <= 1.5 * width
    assert [text for text in expected if text not in texts(to_svg(chart, width=COLUMN))] == []


def test_rows_keep_their_height_in_a_column():
    top = pd.DataFrame({"pair": [f"i {n}" for n in range(30)], "rank": range(30), "score": 0.5, "lower": 0.4})
    chart = campaign_charts.top_intervals(top.assign(upper=0.6, votes=20))
    assert specification(chart, width=COLUMN)["height"] == specification(chart)["height"] == 70 + 20 * 30


@pytest.mark.parametrize("make", [to_svg, to_png])
def test_the_same_chart_gives_the_same_bytes(make):
    first, again = (make(evaluation.rank_scatter(pairs(), pairs().head(5))) for _ in range(2))
    assert first == again


def test_files_are_light_whatever_the_theme():
    svg = to_svg(CHARTS["plan"][0]).decode()
    assert 'fill="white"' in svg
    assert "Liberation Sans" in svg


def test_nothing_can_be_fetched():
    """Data at an address would have to be fetched; it is refused, and no request is tried."""
    chart = alt.Chart(alt.UrlData(url="http://127.0.0.1:9/data.csv")).mark_point().encode(x="x:Q")
    with pytest.raises(ValueError, match="not allowed"):
        to_svg(chart)


@pytest.mark.release
def test_more_rows_than_altair_takes_by_itself():
    chart = alt.Chart(by_ballot(4000)).mark_point().encode(x=alt.X("rank:Q", title="Rank"), y="x:Q")
    with pytest.raises(alt.MaxRowsError):
        chart.to_dict()
    assert sum(map(len, specification(chart)["datasets"].values())) == 8000
    assert "Rank" in texts(to_svg(chart))


def test_a_page_sends_at_most_5000_points_of_the_scores_by_ballot_and_the_top_is_whole():
    (rows,) = campaign_charts.scores_by_ballot(by_ballot(4000)).to_dict()["datasets"].values()
    assert len(rows) == 5000
    for series, n in (("x, ballot 1", 625), ("x, ballot 2", 625), ("ȳ, final", 1250)):
        ranks = {row["rank"] for row in rows if row["series"] == series}
        assert set(range(1, n + 1)) <= ranks
        assert max(ranks) > 3990
    (rows,) = campaign_charts.scores_by_ballot(by_ballot(1500)).to_dict()["datasets"].values()
    assert len(rows) == 4500  # as many as there are


def test_the_data_are_inside_whatever_another_thread_sets_for_altair():
    alt.data_transformers.register("elsewhere", lambda data, **_: {"url": "elsewhere"})
    made = []
    with alt.data_transformers.enable("elsewhere"):
        other = threading.Thread(target=lambda: made.append(to_svg(CHARTS["plan"][0])))
        other.start()
        other.join()
    assert made == [to_svg(CHARTS["plan"][0])]
    assert b"elsewhere" not in made[0]


def test_the_chart_on_the_page_stays_as_it_was():
    chart = evaluation.rank_scatter(pairs(), pairs().head(5))
    before = chart.to_dict()
    to_svg(chart)
    assert chart.to_dict() == before
