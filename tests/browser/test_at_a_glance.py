"""Evaluate answers on one screen and Scores in 1,600 pixels; nothing of their tabs is cut, and on a phone what matters
most isn't."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator

from tests.browser.server import Server
from tests.browser.test_accessibility import faults
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
TABS = {
    "evaluate": ("Differences", "Disagreements", "Parts", "Variants", "All figures", "Areas"),
    "scores": ("How it settled", "Ballot by ballot", "Random pairs", "Checks", "All items"),
}
LEAST_PLOT = 200
_HEIGHT = """() => document.querySelector('[data-testid="stMainBlockContainer"]').scrollHeight"""
# The tables that are wider than their place, and the charts whose plot is too low or under a higher legend.
_CUT = """least => {
  const box = element => element.getBoundingClientRect();
  const tables = '[data-testid="stTable"] > div, [data-testid="stDataFrame"] .dvn-scroller';
  const wide = [...document.querySelectorAll(tables)]
    .filter(element => element.scrollWidth > element.clientWidth + 1).map(element => `wide: ${element.innerText}`);
  const low = [...document.querySelectorAll('[data-testid="stVegaLiteChart"] svg')].filter(svg => {
    const plot = box(svg.querySelector(".role-frame .background")).height;
    const legend = svg.querySelector(".role-legend");
    return plot < least || (legend && box(legend).height > plot);
  }).map(svg => `low: ${svg.textContent}`);
  return [...wide, ...low];
}"""


def box_of(found: Locator) -> dict[str, Any]:
    """Where an element lies on the screen."""
    box = found.bounding_box()
    assert box is not None
    return {**box, "right": box["x"] + box["width"], "bottom": box["y"] + box["height"]}


def open_page(visit: Callable[..., Visitor], server: Server, page: str, size: dict[str, int], **how: Any) -> Visitor:
    visitor = visit(server, viewport=size, **how)
    visitor.open(f"{page}?project=demo")
    return visitor


def test_evaluate_answers_on_one_screen_and_nothing_behind_it_is_cut(
    server: Server, visit: Callable[..., Visitor]
) -> None:
    visitor = open_page(visit, server, "evaluate", DESK, color_scheme="dark")
    visitor.says("leads: ρ_w = ")
    visitor.says("items, those that all cover")
    board = visitor.main.get_by_role("table", name="Leaderboard")
    parts = [visitor.main.get_by_text("leads: ρ_w = "), visitor.main.get_by_test_id("stVegaLiteChart").first, board]
    assert [box_of(part)["bottom"] <= DESK["height"] for part in parts] == [True] * 3
    check_tabs(visitor, "evaluate")


def test_scores_are_short_and_nothing_behind_them_is_cut(server: Server, visit: Callable[..., Visitor]) -> None:
    visitor = open_page(visit, server, "scores", DESK, color_scheme="dark")
    visitor.says("points")  # of trust
    assert visitor.page.evaluate(_HEIGHT) <= 1600
    check_tabs(visitor, "scores")


def check_tabs(visitor: Visitor, page: str) -> None:
    """Every tab has its tables and charts whole, and no serious fault."""
    for tab in TABS[page]:
        with visitor.a_run():
            visitor.turn_to(tab)
        assert visitor.page.evaluate(_CUT, LEAST_PLOT) == [], tab
        assert faults(visitor.page) == [], tab


def test_a_phone_shows_model_figure_and_interval_pair_and_score(server: Server, visit: Callable[..., Visitor]) -> None:
    visitor = open_page(visit, server, "evaluate", PHONE)
    board = visitor.main.get_by_role("table", name="Leaderboard")
    for row in board.get_by_role("row").all():
        assert box_of(row.locator("th, td").nth(2))["right"] <= PHONE["width"]
    assert visitor.page.evaluate(_CUT, 0) == []
    visitor = open_page(visit, server, "scores", PHONE)
    lead = visitor.main.get_by_text("Most related: ")
    assert "0." in lead.inner_text()
    assert box_of(lead)["bottom"] <= PHONE["height"]
    first = visitor.main.get_by_test_id("stVegaLiteChart").first.locator(".role-axis-label text").last
    assert box_of(first)["bottom"] <= 2 * PHONE["height"]
