"""A first visit: a fresh workspace opens on the demo with the tour, which ends where a project of one's own begins."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.server import Server
from tests.browser.visitor import TITLES, Visitor
from ui.tour import STOPS

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

PLACES = dict(zip(("project", *(title.lower() for title in TITLES[1:])), TITLES, strict=True))
SAID = re.compile(r"Tour, \d of \d\.")


def test_the_tour_is_followed_to_its_end_and_does_not_come_back(
    own_server: Server, visit: Callable[..., Visitor]
) -> None:
    own_server.start()
    visitor = visit(own_server)
    visitor.open()
    assert visitor.project_id == "demo"
    for number, (place, text) in enumerate(STOPS, 1):
        if number > 1:
            with visitor.a_run():
                visitor.main.get_by_role("link", name=f"Next stop: {PLACES[place]}").click()
            expect(visitor.main.get_by_role("heading", level=1)).to_have_text(PLACES[place])
        visitor.says(f"Tour, {number} of {len(STOPS)}.")
        visitor.says(text[:40])
        visitor.check_no_error()
    expect(visitor.main.get_by_role("link", name="Next stop:")).to_have_count(0)

    with visitor.a_run():
        visitor.main.get_by_role("button", name="End the tour").click()
    expect(visitor.main).not_to_contain_text(SAID)
    for again in (visitor, visit(own_server)):  # the same tab anew, and a tab of another session
        again.open("?project=demo")
        again.says("The way of the data")
        expect(again.main).not_to_contain_text(SAID)
    with again.a_run():
        again.main.get_by_role("button", name="Take the tour").click()
    again.says(f"Tour, 1 of {len(STOPS)}.")


@pytest.mark.release
def test_the_tour_ends_in_a_project_of_ones_own(own_server: Server, visit: Callable[..., Visitor]) -> None:
    own_server.start()
    visitor = visit(own_server)
    visitor.open("export?project=demo")
    with visitor.a_run():
        visitor.main.get_by_role("button", name="End it, begin a project of my own").click()
    expect(visitor.main).not_to_contain_text(SAID)
    expect(visitor.main.get_by_role("button", name="Create project")).to_be_visible()
    form = visitor.main.get_by_test_id("stForm").filter(has=visitor.page.get_by_role("button", name="Create project"))
    form.get_by_label("Name").fill("My own")
    with visitor.a_run():
        form.get_by_role("button", name="Create project").click()
    visitor.says("The project My own is made. Next: its token lists.")
    expect(visitor.picker).to_have_value("My own")
    expect(visitor.main).not_to_contain_text(SAID)
