"""The rows and charts of the paper's Figures 2 and 4."""

from __future__ import annotations

import numpy as np
import pytest

from core.charts import campaign_charts
from core.errors import InputError
from core.simulation.table2 import FIGURE_2_PANEL, example_campaign, figure_2, figure_4
from core.voters.model import PAPER_PANEL


@pytest.fixture(scope="module")
def campaign():
    return example_campaign(seed=3, panel=FIGURE_2_PANEL)


def test_figure_2_has_the_panel_of_its_caption():
    assert FIGURE_2_PANEL.nonconformity == (0.1, 0.1)
    assert FIGURE_2_PANEL.oversight == (0.01, 0.01)
    assert FIGURE_2_PANEL.n_voters == 100


def test_figure_2(campaign):
    figure = figure_2(campaign)
    assert len(figure.points) == 495
    first, second = campaign.ballots[:2]
    x, previous = (
        dict(zip(ballot.items.tolist(), values.tolist(), strict=True))
        for ballot, values in ((second, second.x), (first, first.x))  # ȳ(1) = x(1)
    )
    for item, shown, before in figure.points[["item", "x", "previous"]].itertuples(index=False):
        assert (shown, before) == (x[item], previous[item])
    # The line of least squares through (1, 1), fitted by another program.
    gap = np.array([[1 - value] for value in figure.points["x"]])
    slope = np.linalg.lstsq(gap, 1 - figure.points["previous"].to_numpy(), rcond=None)[0][0]
    assert figure.slope == pytest.approx(slope)
    assert figure.line["x"].tolist() == [figure.points["x"].min(), 1]
    assert figure.line["previous"].tolist() == pytest.approx([1 - slope * (1 - figure.points["x"].min()), 1])
    # As the paper's figure has it: opponents get stronger, so x falls and the slope is below 1.
    assert 0.5 < slope < 0.9
    assert (figure.points["x"] <= figure.points["previous"]).mean() > 0.8


def test_figure_2_of_a_later_ballot(campaign):
    figure = figure_2(campaign, 4)
    assert len(figure.points) == 124
    third = campaign.ballots[2]
    known = dict(zip(third.items.tolist(), third.mean.tolist(), strict=True))
    assert figure.points["previous"].tolist() == [known[item] for item in figure.points["item"]]


@pytest.mark.parametrize("ballot", [1, 8])
def test_figure_2_of_a_ballot_that_has_none(campaign, ballot):
    with pytest.raises(InputError, match="from 2 to 7"):
        figure_2(campaign, ballot)


def test_figure_4(campaign):
    frame = figure_4(campaign)
    assert sorted(set(frame["ballot"])) == [1, 2, 3, 4, 5]
    assert len(frame) == 990 + 495 + 248 + 124 + 62
    assert not frame.isna().any().any()
    truth = campaign.truth
    for row in frame.sample(50, random_state=1).itertuples():
        held = campaign.ballots[row.ballot - 1]
        place = held.items.tolist().index(row.item)
        assert (row.x, row.mean, row.final) == (held.x[place], held.mean[place], campaign.scores[row.item])
        assert row.rank == 1 + (truth > truth[row.item]).sum()
    assert frame["rank"].is_monotonic_increasing


def test_charts_of_the_figures(campaign):
    figure = figure_2(campaign)
    drawn = campaign_charts.rescaling(figure.points, figure.line, figure.ballot).to_dict()
    assert len(drawn["layer"]) == 2
    chart = campaign_charts.scores_by_ballot(figure_4(campaign), "Theoretical rank").to_dict()
    assert chart["encoding"]["x"]["title"] == "Theoretical rank"
    (rows,) = chart["datasets"].values()
    assert {row["series"] for row in rows} == {"ȳ, final", *(f"x, ballot {number}" for number in range(1, 6))}


def test_the_default_panel_is_the_paper_s():
    assert example_campaign(seed=1).scores.tobytes() == example_campaign(seed=1, panel=PAPER_PANEL).scores.tobytes()
