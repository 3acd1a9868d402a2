"""No serious fault by axe-core (WCAG 2 A and AA and its good practices) on any page, light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, Page, expect
from voting_server import VotingServer, make_voting

from core.questions.comparison_page import render_preview, template
from core.questions.voting_settings import VotingSettings
from core.store import Store, open_store
from core.store.ballots.drawing import draw_round
from core.store.ballots.round_plans import save_round_plan
from core.store.engine import _open
from tests.browser.server import Server
from tests.browser.test_demo import address
from tests.browser.visitor import TITLES, Visitor
from tests.campaigns import make_project
from tests.rounds_of_people import SCHEMES, SMALL, close_round, simulate_round

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

QUICK_MS = 300  # a little more than the page takes for the second half of a double click
DEPTH = 3  # of boxes in boxes
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
# Colours of a control that is switched off need not stand out (WCAG 2.2, 1.4.3); axe knows that of its text, not of
# the label that Streamlit fades with it. A formula wider than the page is scrolled by keys in Chromium and Firefox,
# which let the keyboard reach whatever scrolls; axe asks for a tabindex all the same.
_RUN = """async () => {
  const found = await axe.run(document, {resultTypes: ["violations"]});
  const isOff = (selector) => {
    const widget = document.querySelector(selector)?.closest('[data-testid="stElementContainer"]');
    return !!widget?.querySelector(':disabled, [aria-disabled="true"]');
  };
  return found.violations.filter(fault => ["serious", "critical"].includes(fault.impact)).flatMap(fault => fault.nodes
    .filter(node => !(fault.id === "color-contrast" && isOff(node.target.at(-1))))
    .filter(node => !(fault.id === "scrollable-region-focusable" && node.html.includes("katex-display")))
    .map(node => `${fault.id}: ${node.html.slice(0, 200)} ${node.failureSummary ?? ""}`));
}"""


def faults(page: Page) -> list[str]:
    page.evaluate(AXE)
    return page.evaluate(_RUN)


def unfold_all(visitor: Visitor) -> None:
    """Open all boxes, so that what stands in them is looked at too."""
    closed = visitor.main.locator("details:not([open]) > summary:visible")  # not in a tab behind
    for _ in range(DEPTH):
        for at in reversed(range(closed.count())):  # what opens moves what is below it
            closed.nth(at).click()
        visitor.still()
    expect(closed).to_have_count(0)


@pytest.mark.parametrize("title", ["Project", "Collect", "Evaluate"])
def test_the_pages_that_hold_most_have_no_serious_fault(
    server: Server, visit: Callable[..., Visitor], title: str
) -> None:
    """Light, their boxes closed: a sign of life of the sweep below."""
    visitor = visit(server)
    visitor.open(address(title))
    assert faults(visitor.page) == []


@pytest.mark.release
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_of_the_owner_has_a_serious_fault(server: Server, visit: Callable[..., Visitor], scheme: str) -> None:
    visitor = visit(server, color_scheme=scheme)
    found: dict[str, list[str]] = {}
    for title in TITLES:
        visitor.open(address(title))
        unfold_all(visitor)
        if there := faults(visitor.page):
            found[title] = there
    assert found == {}


@pytest.mark.release
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_of_another_kind_of_question_has_a_serious_fault(
    server: Server, visit: Callable[..., Visitor], scheme: str
) -> None:
    """Each kind with a closed round and an open one, its boxes and tabs open; on a phone nothing is wider than it."""
    store = open_store(server.workspace)
    visitor = visit(server, color_scheme=scheme, viewport={"width": 390, "height": 844})
    found: dict[str, list[str]] = {}
    for kind in SCHEMES:
        project_id = with_rounds(store, kind)
        for title in ("Plan", "Collect", "Voters", "Scores", "Evaluate", "Export"):
            visitor.open(f"{title.lower()}?project={project_id}")
            visitor.check_no_error()
            unfold_all(visitor)
            if there := faults(visitor.page):
                found[f"{kind}, {title}"] = there
            assert visitor.page.evaluate("document.documentElement.scrollWidth") == 390, f"{kind}, {title}"
    assert found == {}


def with_rounds(store: Store, kind: str) -> str:
    """A project with a closed round of a kind, and an open one."""
    project_id = make_project(store, kind="trial", plan=None, name=f"A project of {kind}")
    for number in (1, 2):
        draw_round(store, project_id, SMALL[kind])
        simulate_round(store, project_id, number)
        if number == 1:
            close_round(store, project_id, number)
    save_round_plan(store, project_id, SMALL[kind])
    return project_id


@pytest.mark.release
def test_a_fault_would_be_found(server: Server, visit: Callable[..., Visitor]) -> None:
    visitor = visit(server)
    visitor.open(address("Help"))
    visitor.page.evaluate(
        "document.querySelector('h1').innerHTML += '<img src=\"data:,\">'"
        " + '<small style=\"color:#ccc\">faint words</small>'"
    )
    assert {fault.split(":")[0] for fault in faults(visitor.page)} == {"image-alt", "color-contrast"}


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Links of a voting page with examples, and of one without."""
    store = open_store(tmp_path_factory.mktemp("accessible") / "workspace")
    server = VotingServer(store.folder)
    server.start()
    found = {}
    for name, examples in (("examples", True), ("none", False)):
        settings = VotingSettings(task_size=2, tasks_per_voter=1, completion="shared", code="C1X2", examples=examples)
        _, code = make_voting(store, settings, tokens=("cat", "dog", "ship", "שלום", "salt"), appearances=2)
        found[name] = f"{server.url}/v/{code}"
    yield found
    server.kill()
    store.engine.dispose()
    _open.cache_clear()


@pytest.mark.release
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_of_a_voter_has_a_serious_fault(links: dict[str, str], chromium: Browser, scheme: str) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    context.clock.install()
    page = context.new_page()
    found: dict[str, list[str]] = {}
    page.goto(links["examples"])
    found["welcome"] = faults(page)
    begin(page, f"Anna {scheme}")
    found["example"] = faults(page)
    page.goto(links["none"])
    begin(page, f"Anna {scheme}")
    for number in (1, 2):
        expect(page.locator("#count")).to_have_text(f"{number} of 2")
        found[f"comparison {number}"] = faults(page)
        page.clock.fast_forward(QUICK_MS)
        page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Finish").click()
    expect(page.locator(".ro-code")).to_have_text("C1X2")
    found["end"] = faults(page)
    context.close()
    assert {name: there for name, there in found.items() if there} == {}


def begin(page: Page, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="I agree, begin").click()
    expect(page.get_by_label("Your name")).to_have_count(0)  # the form is sent in the background, then the page goes on
    page.locator("form").first.wait_for()


@pytest.mark.release
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_task_page_of_a_batch_has_a_serious_fault(chromium: Browser, scheme: str) -> None:
    page_text = template(n_comparisons=3, notion="relatedness", ties_allowed=True)
    row = {f"area_{side}_{n}": "Kitchen" for n in range(1, 4) for side in ("left", "right")} | {
        f"{side}_{token}_{n}": word
        for n in range(1, 4)
        for side in ("left", "right")
        for token, word in (("a", "kettle"), ("b", "teapot"))
    }
    context = chromium.new_context(color_scheme=scheme)
    page = context.new_page()
    page.set_content(render_preview(page_text, row))
    there = faults(page)
    context.close()
    assert there == []
