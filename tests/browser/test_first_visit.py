"""A first visit: a fresh workspace opens on the demo's answer, whose tour ends where a project of one's own begins."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.server import Server
from tests.browser.visitor import TITLES, Visitor
from ui.project.demo_box import PURPOSE, STOPS

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

PLACES = dict(zip(("project", *(title.lower() for title in TITLES[1:])), TITLES, strict=True))
SAID = re.compile(r"Tour, \d of \d\.")


def test_the_answer_comes_first_and_the_tour_is_followed_to_its_end(
    own_server: Server, visit: Callable[..., Visitor]
) -> None:
    own_server.start()
    visitor = visit(own_server)
    visitor.open()
    assert visitor.project_id == "demo"
    visitor.says(PURPOSE)
    leads = r"MiniLM .* leads: ρ_w = 0\.\d{3} \(90% with other voters: .*Told apart from all others with other voters"
    visitor.says(re.compile(leads))
    for shown in ("See how", "Start my own"):
        expect(visitor.main.get_by_role("button", name=shown)).to_be_in_viewport()
    expect(visitor.main.get_by_test_id("stVegaLiteChart")).to_be_in_viewport()
    expect(visitor.main).not_to_contain_text(SAID)
    phone = visit(own_server, viewport={"width": 390, "height": 844}, has_touch=True)
    phone.open()
    for shown in ("See how", "Start my own"):
        expect(phone.main.get_by_role("button", name=shown)).to_be_in_viewport()

    visitor.press("See how")
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
    visitor.go("Project")
    visitor.says("Steps")
    expect(visitor.main).not_to_contain_text(SAID)


@pytest.mark.release
def test_the_tour_ends_in_a_project_of_ones_own(own_server: Server, visit: Callable[..., Visitor]) -> None:
    own_server.start()
    visitor = visit(own_server)
    visitor.open("?project=demo")
    visitor.press("See how")
    visitor.go("Export")
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
