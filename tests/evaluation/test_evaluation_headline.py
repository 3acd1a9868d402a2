"""What the Evaluate page says first: who leads, on how many of how many items, and when nobody is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.commands.figures.evaluation_inputs import Evaluated
from core.evaluation import Model, ModelComparison, compare, given
from core.views.evaluate.evaluate_page import BOUNDS, EvaluateView, IntervalsView, intervals_of, shown
from ui.evaluate.headline import answer

TOKENS = list("abcdefghij")


def dataset() -> pd.DataFrame:
    """Ten items, of the token x with each of the others; the first is the most related."""
    scores = np.arange(10.0, 0, -1)
    return pd.DataFrame({"area": "A", "token_a": "x", "token_b": TOKENS, "score": scores})


def model(name: str, tokens: Sequence[str], sign: int) -> Model:
    """Ranks the items of its tokens as people do for a sign of 1, the other way round for −1."""
    angles = [0.7 + sign * 0.05 * TOKENS.index(token) for token in tokens]
    vectors = np.array([(1.0, 0.0), *((np.cos(angle), np.sin(angle)) for angle in angles)])
    return given(["x", *tokens], vectors, name=name)


def view_of(items: pd.DataFrame, compared: ModelComparison) -> EvaluateView:
    """The tables of a comparison with a dataset of relatedness, n₀ = 2."""
    return shown(Evaluated(items, compared, (), (), 2.0, "relatedness"))


def seen(good: Sequence[str], poor: Sequence[str], policy: str = "common") -> EvaluateView:
    compared = compare(dataset(), [model("Good", good, 1), model("Poor", poor, -1)], policy=policy)
    return view_of(dataset(), compared)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (10, "on 10 of 10 items."),
        (6, "on 6 of 10 items, those that all cover."),
        (5, "on 5 of 10 items, those that all cover."),
    ],
)
def test_the_leader_is_named_with_the_items_it_leads_on(held: int, said: str) -> None:
    assert answer(seen(TOKENS, TOKENS[:held]), None, None) == f"**Good leads: ρ_w = 1.000** {said}"


def test_below_half_of_the_items_no_winner_is_named() -> None:
    text = answer(seen(TOKENS, TOKENS[:4]), None, None)
    assert "4 of 10 items, less than half" in text
    assert "Good" not in text
    assert "leads" not in text


def test_by_votes_that_are_coin_tosses_no_winner_is_named() -> None:
    view = seen(TOKENS, TOKENS)
    view.dataset.attrs["by_chance"] = True
    assert answer(view, None, None) == "**No embedding is named the best**: the votes can't be told from coin tosses."


def test_a_leader_of_its_own_items_needs_half_of_all_too() -> None:
    named = answer(seen(TOKENS[:5], TOKENS, "own"), None, None)
    assert named == "**Good leads, over fewer items than Poor: ρ_w = 1.000** on 5 of 10 items."
    assert "4 of 10 items, less than half" in answer(seen(TOKENS[:4], TOKENS, "own"), None, None)
    # Items that it lacks count as its lowest, and still say nothing of what it knows.
    assert "4 of 10 items, less than half" in answer(seen(TOKENS[:4], TOKENS[:4], "lowest"), None, None)


def test_a_single_model_says_its_items_and_wins_nothing() -> None:
    compared = compare(dataset(), [model("Good", TOKENS[:4], 1)])
    text = answer(view_of(dataset(), compared), None, None)
    assert text == "**Good reaches ρ_w = 1.000 and τ_w = 1.000** on 4 of 10 items."


def with_an_interval_above(view: EvaluateView, *labels: str) -> IntervalsView:
    """The view's intervals, each about .838 though less was measured: noise takes away from a figure."""
    assert view.compared is not None
    keys = {"ρ_w": "rho_w", "τ_w": "tau_w"}
    common = [
        replace(of, **{keys[label]: replace(getattr(of, keys[label]), estimate=0.811) for label in labels})
        for of in view.compared.common
    ]
    common = [
        replace(of, **{keys[label]: getattr(of, keys[label]).with_votes(0.838, 0.82, 0.856) for label in labels})
        for of in common
    ]
    found = replace(view.compared, common=tuple(common))
    return intervals_of(view_of(view.dataset, found), found, (), 400, "")


def test_a_figure_and_the_interval_beside_it_are_of_one_kind() -> None:
    found = with_an_interval_above(seen(TOKENS, TOKENS[:9]), "ρ_w")
    text = answer(found.view, found, None)
    assert text == (
        "**Good and Poor lead: ρ_w = 0.838** (90% with other voters: 0.820 to 0.856) on 9 of 10 items, those "
        "that all cover."
    )
    common = found.view.common
    assert common["ρ_w"].tolist() == [0.811, 0.811]  # as measured, in the table
    assert common["ρ_w corrected"].tolist() == [0.838, 0.838]
    assert (common["ρ_w lower"] <= common["ρ_w corrected"]).all()
    assert set(BOUNDS) <= set(found.view.table.columns)


def test_of_a_single_model_each_interval_stands_beside_its_figure() -> None:
    compared = compare(dataset(), [model("Good", TOKENS, 1)])
    found = with_an_interval_above(view_of(dataset(), compared), "ρ_w", "τ_w")
    interval = "0.838 (90% with other voters: 0.820 to 0.856)"
    assert answer(found.view, found, None) == (
        f"**Good reaches ρ_w = {interval} and τ_w = {interval}** on 10 of 10 items. "
        "The noise of the votes is taken out of ρ_w and τ_w."
    )


@pytest.mark.parametrize("why", ["Intervals are being computed", "Intervals haven't been computed"])
def test_no_winner_is_named_before_the_intervals_are_there(why: str) -> None:
    text = answer(seen(TOKENS, TOKENS[:9]), None, None, why)
    assert text == (
        "**2 embeddings: ρ_w from −1.000 to 1.000**, as measured, on 9 of 10 items, those that all cover. "
        f"{why}: until they are there, no embedding is named the best."
    )
    assert answer(seen(TOKENS, TOKENS[:4]), None, None, why) == answer(seen(TOKENS, TOKENS[:4]), None, None)


def test_a_single_model_says_that_its_intervals_are_to_come() -> None:
    view = view_of(dataset(), compare(dataset(), [model("Good", TOKENS, 1)]))
    assert answer(view, None, None, "Intervals are being computed") == (
        "**Good reaches ρ_w = 1.000 and τ_w = 1.000** on 10 of 10 items, as measured. Intervals are being computed."
    )
