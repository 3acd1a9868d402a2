"""The paper's figures as the planner shows them: five curves with an embedding, two without."""

from __future__ import annotations

import numpy as np
import pytest
from campaigns import make_project

from core.store.projects.demo import DEMO_ID, ensure_demo
from core.views.scores import scores_page
from core.voters.model import exponential, power_law


def test_without_an_embedding_the_two_distributions_are_drawn(store):
    found = scores_page.load_paper_figures(store, make_project(store))
    assert list(dict.fromkeys(found.curves["pairs"])) == ["exponential", "power law"]
    assert found.value == "|cos|"
    for name, z in (("exponential", exponential(990)), ("power law", power_law(990))):
        values = found.curves.loc[found.curves["pairs"] == name, "value"].to_numpy()
        assert values[0] == pytest.approx(np.abs(z).max())
        assert values[-1] == pytest.approx(np.abs(z).min())
        assert (np.diff(values) <= 0).all()


@pytest.mark.release
def test_with_the_demos_embedding_there_are_five(store):
    ensure_demo(store)
    found = scores_page.load_paper_figures(store, DEMO_ID)
    names = list(dict.fromkeys(found.curves["pairs"]))
    assert names[:2] == ["exponential", "power law"]
    assert names[2:] == ["embedding, all items", "embedding, Sales & marketing", "embedding, random pairs"]
    medians = found.curves.groupby("pairs")["value"].median()
    assert medians["embedding, all items"] > medians["embedding, random pairs"]


def test_figure_2_is_of_voters_alike_and_figure_4_of_the_papers_campaign(store):
    found = scores_page.load_paper_figures(store, make_project(store))
    assert len(found.rescaling.points) == 495
    assert 0 < found.rescaling.slope < 1
    assert sorted(found.by_ballot["ballot"].unique()) == [1, 2, 3, 4, 5]
    assert len(found.by_ballot) == 990 + 495 + 248 + 124 + 62
