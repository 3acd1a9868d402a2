"""What the Scores page says of a ranking: its leader, and the items that a search leaves."""

from __future__ import annotations

import pandas as pd
import pytest

from core.charts.campaign_charts import top_intervals
from core.views.scores.scores_page import ScoresView, top_of

DATASET = pd.DataFrame(
    {
        "area": "Things",
        "token_a": ["Ship", "cat", "R&D", "dog"],
        "token_b": ["boat", "shipyard", "a.b", "cat"],
        "score": [0.9, 0.9, 0.5, 0.1],
        "rank": [1.5, 1.5, 3.0, 4.0],
        "item": [3, 1, 0, 2],
    }
)


def view_of(dataset: pd.DataFrame) -> ScoresView:
    return ScoresView(dataset, pd.DataFrame(), (), (), None)


def test_the_leader_says_how_many_are_tied():
    assert view_of(DATASET).leader == "Ship – boat, 0.900 and 1 more, tied"
    assert view_of(DATASET.iloc[2:]).leader == "R&D – a.b, 0.500"
    known = DATASET.iloc[2:].assign(lower=0.25, upper=0.625)
    assert view_of(known).leader == "R&D – a.b, 0.500 (90%: 0.250 to 0.625)"


def test_items_of_two_areas_with_the_same_tokens_are_told_apart():
    """They would share one row of the chart, and one name where the leaders are named."""
    both = pd.concat([DATASET, DATASET.head(1).assign(area="Boats", score=0.8, rank=3.0)], ignore_index=True)
    top = top_of(both.assign(lower=0.0, upper=1.0, votes=9), n=4)
    assert top["pair"].tolist() == ["Ship – boat (Things)", "cat – shipyard", "R&D – a.b", "dog – cat"]
    top = top_of(both.assign(lower=0.0, upper=1.0, votes=9))
    rows = top_intervals(top).to_dict()["layer"][0]["encoding"]["y"]["sort"]
    assert len(set(rows)) == len(both)
    assert view_of(both).leader == "Ship – boat (Things), 0.900 and 1 more, tied"


@pytest.mark.parametrize(
    ("word", "rows"), [("", [0, 1, 2, 3]), (" SHIP ", [0, 1]), ("cat", [1, 3]), (".", [2]), ("whale", [])]
)
def test_a_search_looks_at_both_tokens_and_takes_signs_as_they_are(word, rows):
    found = view_of(DATASET).ranking(word)
    assert found.index.tolist() == rows
    assert list(found) == ["rank", "score", "token_a", "token_b", "area"]
