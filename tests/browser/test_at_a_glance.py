"""Pages answer at a glance: Evaluate on one screen, Scores in 1,600 pixels, every page by its first line; nothing of
their tabs is cut, on a phone what matters most isn't, and what was done is said once, where it is seen."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from core.store import open_store
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas
from core.tokens.lists import AreaTokens
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
FILE = "CSV, TSV or Excel with the columns area and token, or a list of one token per line"
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


@pytest.mark.release
def test_scores_are_short_and_nothing_behind_them_is_cut(server: Server, visit: Callable[..., Visitor]) -> None:
    visitor = open_page(visit, server, "scores", DESK, color_scheme="dark")
    visitor.says("points")  # of trust
    assert visitor.page.evaluate(_HEIGHT) <= 1600
    check_tabs(visitor, "scores")


@pytest.mark.release
@pytest.mark.parametrize("page", ["evaluate", "scores"])
def test_no_tab_has_a_serious_fault_in_light_either(server: Server, visit: Callable[..., Visitor], page: str) -> None:
    visitor = open_page(visit, server, page, DESK, color_scheme="light")
    check_tabs(visitor, page)


def check_tabs(visitor: Visitor, page: str) -> None:
    """Every tab has its tables and charts whole, and no serious fault."""
    for tab in TABS[page]:
        with visitor.a_run():
            visitor.turn_to(tab)
        assert visitor.page.evaluate(_CUT, LEAST_PLOT) == [], tab
        assert faults(visitor.page) == [], tab


@pytest.mark.release
@pytest.mark.parametrize("size", [DESK, PHONE])
def test_a_message_moves_nothing_and_covers_nothing(
    own_server: Server, visit: Callable[..., Visitor], size: dict[str, int]
) -> None:
    own_server.start()
    visitor = open_page(visit, own_server, "", size)
    title = visitor.main.get_by_role("heading", level=1)
    before = box_of(title)
    visitor.unfold("Settings of this project")
    visitor.press("Save")  # from far below the title
    notice = visitor.main.get_by_role("status").filter(has_text="The settings are saved.")
    expect(notice).to_be_in_viewport()
    assert box_of(title) == before
    assert box_of(notice)["bottom"] <= before["y"]
    toggle = visitor.page.get_by_test_id("stExpandSidebarButton")
    if toggle.is_visible():  # on a phone, beside the message
        assert box_of(toggle)["right"] <= box_of(notice)["x"]


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


@pytest.mark.release
@pytest.mark.parametrize(
    ("page", "tab", "table", "cells"),
    [
        ("evaluate", "All figures", "Embeddings over all areas", 3),  # name, ρ_w, τ_w
        pytest.param("evaluate", "Disagreements", "The worst disagreements", 3, marks=pytest.mark.release),
    ],
)
def test_behind_a_tab_a_phone_shows_name_and_figure(
    server: Server, visit: Callable[..., Visitor], page: str, tab: str, table: str, cells: int
) -> None:
    visitor = open_page(visit, server, page, PHONE)
    with visitor.a_run():
        visitor.turn_to(tab)
    rows = visitor.main.get_by_role("table", name=table).first.get_by_role("row").all()
    assert len(rows) > 1
    for row in rows:
        assert box_of(row.locator("th, td").nth(cells - 1))["right"] <= PHONE["width"]


@pytest.mark.release
def test_every_page_says_first_where_things_stand(server: Server, visit: Callable[..., Visitor]) -> None:
    visitor = visit(server, viewport=DESK)
    for page, said in {
        "tokens": "760 items from 80 tokens in 4 areas",
        "plan": " votes in 5 ballots, ",
        "collect": "All ballots are closed: the plan is complete, with ",
        "voters": " of 60 simulated voters ",
        "export": "760 items with scores, from ",
    }.items():
        visitor.open(f"{page}?project=demo")
        line = visitor.main.get_by_test_id("stMarkdown").filter(has_text=said).first
        assert box_of(line)["bottom"] <= 300, page


@pytest.mark.release
def test_what_was_done_is_said_once_and_where_it_is_seen(server: Server, visit: Callable[..., Visitor]) -> None:
    """A button far down a phone's page: the page goes to the message, which covers nothing."""
    store = open_store(server.workspace)
    project_id = create_project(store, "Said once")
    add_areas(store, project_id, [AreaTokens("Kitchen", ("bread", "butter", "salt"))])
    visitor = visit(server, viewport={**PHONE, "height": 500})
    visitor.open(f"tokens?project={project_id}")
    tokens = visitor.main.get_by_label(re.compile(r"^Tokens, one per line \("))
    tokens.fill("bread\nbutter\nsalt\nknife")
    with visitor.a_run():
        tokens.press("Tab")
    visitor.main.get_by_role("button", name="Save changes").scroll_into_view_if_needed()
    expect(visitor.main.get_by_role("heading", level=1)).not_to_be_in_viewport()
    visitor.press("Save changes")
    said = visitor.page.get_by_text("Saved: Kitchen.", exact=True)
    expect(said).to_have_count(1)
    expect(said).to_be_in_viewport()
    expect(visitor.page.get_by_test_id("stToast")).to_have_count(0)


def test_a_result_file_is_no_token_list(server: Server, visit: Callable[..., Visitor]) -> None:
    """It is named, with the page where it belongs, and nothing is made of it."""
    project_id = create_project(open_store(server.workspace), "Told apart")
    visitor = visit(server, viewport=DESK)
    visitor.open(f"tokens?project={project_id}")
    visitor.turn_to("From a file")
    header = "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.task_id,Input.left_a,Input.left_b,Answer.choice"
    rows = "\n".join(f"h{n},a{n},w,Submitted,t{n},bread,butter,left" for n in range(5))
    visitor.upload(FILE, "results.csv", f"{header}\n{rows}\n".encode())
    visitor.says("results.csv is a file of results with votes, not a token list.")
    visitor.says("Bring it on the Collect page, under “Upload results”")


# Contrast of a chart's words with the page, as WCAG 2 defines it, of those that a mark draws.
_CONTRASTS = """() => {
  const rgb = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = colour => [.2126, .7152, .0722].reduce((sum, weight, n) => {
    const value = colour[n] / 255;
    return sum + weight * (value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4);
  }, 0);
  const ground = rgb(getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor);
  return [...document.querySelectorAll('[data-testid="stVegaLiteChart"] .mark-text text')].map(text => {
    const look = getComputedStyle(text), opacity = Number(look.fillOpacity);
    const seen = rgb(look.fill).slice(0, 3).map((value, n) => value * opacity + ground[n] * (1 - opacity));
    const [low, high] = [light(seen), light(ground)].sort((a, b) => a - b);
    return (high + .05) / (low + .05);
  });
}"""


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.release)])
def test_words_of_charts_stand_out(server: Server, visit: Callable[..., Visitor], scheme: str) -> None:
    visitor = open_page(visit, server, "scores", DESK, color_scheme=scheme)
    visitor.main.get_by_test_id("stVegaLiteChart").first.locator(".mark-text text").first.wait_for()
    visitor.still()
    found = visitor.page.evaluate(_CONTRASTS)
    assert len(found) > 10
    assert min(found) >= 4.5
