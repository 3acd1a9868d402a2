"""Rounds of other schemes on the voting page, in a real browser: by keys, on a phone, incomplete, taken back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from campaigns import make_project
from playwright.sync_api import Browser, Page, expect
from rounds_of_people import SMALL
from test_round_voting import answers
from voting_server import VotingServer, serving

from core.questions.voting_settings import VotingSettings
from core.store import Store
from core.store.ballots.drawing import draw_round
from tests.browser.visitor import TIMEOUT_MS
from tests.rounds_of_people import BEST_WORST, ORDER, RATING, SCHEMES, open_round_voting

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser"), pytest.mark.release]

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
N_ASKED = {RATING: 3, BEST_WORST: 3, ORDER: 2}  # of a voter's first task
ROOM = dict.fromkeys(SCHEMES, VotingSettings(task_size=3, tasks_per_voter=1, completion="shared", code="C<1>"))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, VotingServer]]:
    with serving(tmp_path_factory.mktemp("rounds") / "workspace") as both:
        yield both


@pytest.fixture
def begin(chromium: Browser, running: tuple[Store, VotingServer]) -> Iterator[Callable[..., tuple[Page, str]]]:
    """Opens the page of a new round for somebody who has begun; at the end no script may have met an error."""
    faults: list[str] = []
    contexts = []
    store, server = running

    def make(scheme: str, **options) -> tuple[Page, str]:
        project_id = make_project(store, plan=None)
        draw_round(store, project_id, SMALL[scheme])
        code = open_round_voting(store, project_id, 1, ROOM[scheme])
        contexts.append(chromium.new_context(reduced_motion="reduce", **options))
        page = contexts[-1].new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("request", lambda asked: faults.append(asked.url) if "//localhost:" not in asked.url else None)
        page.goto(f"{server.url}/v/{code}")
        page.get_by_label("Your name").fill("Anna")
        page.get_by_role("button", name="I agree, begin").click()
        at(page, 1, N_ASKED[scheme])
        return page, project_id

    yield make
    for context in contexts:
        context.close()
    assert faults == []


def at(page: Page, number: int, of: int) -> None:
    expect(page.locator("#count")).to_have_text(f"{number} of {of}")
    page.wait_for_load_state("load")


def given(running: tuple[Store, VotingServer], project_id: str) -> list[str]:
    return [row[1] for row in answers(running[0], project_id) if row[3] in ("counted", "unknown")]


def test_ratings_by_keys_with_undo_and_a_reload(running, begin) -> None:
    page, project_id = begin(RATING)
    page.keyboard.press("3")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    at(page, 2, 3)
    page.reload()
    at(page, 2, 3)
    page.keyboard.press("u")
    at(page, 3, 3)
    page.get_by_role("button", name="Undo my last answer").click()
    at(page, 2, 3)
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    at(page, 3, 3)
    page.locator("#rating_1").fill("1.5")
    page.get_by_role("button", name="Send").click()
    page.get_by_role("button", name="Finish").click()
    expect(page.locator(".ro-code")).to_have_text("C<1>")
    assert given(running, project_id) == ["2.75", "0", "1.5"]


def test_best_and_worst_by_keys(running, begin) -> None:
    page, project_id = begin(BEST_WORST)
    for number, (most, least) in enumerate((("1", "4"), ("3", "2"), ("2", "3")), 1):
        at(page, number, 3)
        page.keyboard.press(most)
        page.keyboard.press(least)
    page.get_by_role("button", name="Finish").click()
    expect(page.locator(".ro-code")).to_have_text("C<1>")
    assert given(running, project_id) == ["best=1;worst=4", "best=3;worst=2", "best=2;worst=3"]


def test_orders_by_keys(running, begin) -> None:
    page, project_id = begin(ORDER)
    shown = page.locator(".ro-row").count()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Enter")
    at(page, 2, 2)
    page.keyboard.press("u")
    page.get_by_role("button", name="Finish").click()
    expect(page.locator(".ro-code")).to_have_text("C<1>")
    assert given(running, project_id) == [" ".join(["2", "1", "3"][:shown]), "unknown"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_on_a_phone_nothing_incomplete_is_sent(running, begin, scheme: str) -> None:
    page, project_id = begin(scheme, color_scheme="dark", **PHONE)
    page.get_by_role("button", name="Send").tap()
    expect(page.get_by_role("alert")).to_have_text(re.compile("Give this one|Choose the most|Put the words"))
    at(page, 1, N_ASKED[scheme])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    if scheme == RATING:
        page.locator(".ro-anchor").nth(2).tap()
        expect(page.locator("#rating_1")).to_have_value("2.00")
    elif scheme == BEST_WORST:
        for end in (page.locator(".ro-end-most").nth(0), page.locator(".ro-end-least").nth(1)):
            end.tap()
            expect(end.locator("input")).to_be_checked()
    else:
        page.locator(".ro-down").first.tap()
        page.locator(".ro-sure").tap()
        expect(page.locator(".ro-sure input")).to_be_checked()
    page.get_by_role("button", name="Send").tap()
    at(page, 2, N_ASKED[scheme])
    (answer,) = given(running, project_id)
    assert answer in ("2", "best=1;worst=2", "2 1", "2 1 3")
