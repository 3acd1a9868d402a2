"""The voting page on bad networks: it says the truth, goes on by itself, doubles nothing and loses nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from campaigns import make_project
from playwright.sync_api import Browser, BrowserContext, Page, expect
from rounds_of_people import RATING, SMALL, open_round_voting
from test_round_voting import answers
from voting_server import VotingServer, serving

from core.questions.voting_settings import VotingSettings
from core.store import Store
from core.store.ballots.drawing import draw_round
from core.store.voting.owner_commands import invite, read_invitations
from tests.bad_network import BadNetwork, Fault, bad_network
from tests.browser.test_voting_page import PHONE, Link, at, begin, new_context, press

pytestmark = pytest.mark.browser

# What a request of the page's script can meet; each alone, and all of them in turn.
FAULTS = [(fault,) for fault in Fault] + [tuple(Fault)]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, VotingServer]]:
    with serving(tmp_path_factory.mktemp("networks") / "workspace") as both:
        yield both


@pytest.fixture
def network(running) -> Iterator[BadNetwork]:
    with bad_network(running[1].port) as found:
        yield found


@pytest.fixture
def link(running, network) -> Link:
    found = Link(running)
    found.url = f"{network.url}/v/{found.code}"
    return found


@pytest.fixture
def phone(chromium: Browser) -> Iterator[BrowserContext]:
    context = new_context(chromium, reduced_motion="reduce", **PHONE)
    yield context
    context.close()


def opened(context: BrowserContext, url: str) -> Page:
    """A tab on the page; it writes down all that the page ever says, also what another text follows at once."""
    context.add_init_script(
        """new MutationObserver(() => {
            if (document.body) sessionStorage.heard = (sessionStorage.heard || "") + document.body.innerText;
        }).observe(document, {subtree: true, childList: true, characterData: true});"""
    )
    page = context.new_page()
    page.goto(url)
    return page


def never_unsaved(page: Page) -> None:
    heard = page.evaluate("sessionStorage.heard").lower()
    assert heard
    assert "not saved" not in heard
    assert "wasn’t saved" not in heard


def test_a_stored_vote_whose_answer_is_lost_is_saved_once_that_is_known(link, network, phone):
    page = opened(phone, link.url)
    begin(page)
    network.each(1, Fault.LOST_ANSWER, path="/vote")
    press(page, "ArrowLeft")
    expect(page.locator("#said")).to_contain_text("can’t be reached just now")
    assert len(link.votes()) == 1
    page.keyboard.press("ArrowRight")  # changes nothing any more
    network.well()
    at(page, 2)
    expect(page.locator("#said")).to_have_text("Saved. Now 2 of 4.")
    never_unsaved(page)
    assert len(link.votes()) == 1


@pytest.mark.release
@pytest.mark.parametrize("faults", FAULTS, ids=lambda kinds: "-".join(kind.name for kind in kinds))
def test_a_whole_task_goes_through_by_itself(link, network, phone, faults):
    """Each second request of every form meets a fault, from the consent to the code."""
    network.each(2, *faults, method="POST")
    page = opened(phone, link.url)
    page.get_by_label("Your name").fill("Anna")
    page.get_by_role("button", name="I agree, begin").click()
    page.locator("#count").wait_for()
    for number in range(1, 5):
        at(page, number)
        press(page, "3")
        if number == 2:
            at(page, 3)
            page.get_by_role("button", name="Undo my last answer").click()
            at(page, 2)
            press(page, "3")
    finish = page.get_by_role("button", name="Finish")
    finish.click()
    expect(page.locator(".ro-code")).to_have_text("C1X2")
    never_unsaved(page)
    assert sum(network.met.values()) >= 3
    assert link.votes() == [("tie", "counted")] * 4


@pytest.mark.release
@pytest.mark.parametrize("fault", [Fault.LOST_ANSWER, Fault.CUT, Fault.PORTAL_LOGIN], ids=lambda kind: kind.name)
def test_so_does_a_round(running, network, phone, fault):
    store, _ = running
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, SMALL[RATING])
    settings = VotingSettings(task_size=3, tasks_per_voter=1, completion="shared", code="C<1>")
    code = open_round_voting(store, project_id, 1, settings)
    page = opened(phone, f"{network.url}/v/{code}")
    begin(page, of=3)
    network.each(2, fault, method="POST")
    for number, key in enumerate(("3", "0", "1"), 1):
        at(page, number, of=3)
        page.wait_for_load_state("load")
        page.keyboard.press(key)
        page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Finish")).to_be_visible()
    assert network.met[fault]
    assert [row[3] for row in answers(store, project_id)] == ["counted"] * 3


@pytest.mark.release
def test_a_page_that_is_cut_off_comes_again_by_itself(link, network, phone):
    page = opened(phone, link.url)
    begin(page)
    cut = iter([True])
    network.faults = lambda method, path: Fault.CUT if path.startswith("/v/") and next(cut, False) else None
    page.goto(link.url, wait_until="commit")
    expect(page.locator("#end")).to_have_count(1)
    at(page, 1)
    assert network.met == {Fault.CUT: 1}


@pytest.mark.release
@pytest.mark.parametrize("script", ["send.js", "vote.js", "template.js"])
def test_where_a_script_does_not_come_through_the_button_votes(link, network, phone, script):
    network.faults = lambda _method, path: Fault.CUT if path.endswith(script) else None
    page = opened(phone, link.url)
    begin(page)
    page.locator(".ro-card").first.click()
    page.get_by_role("button", name="Send").click()
    at(page, 2)
    assert len(link.votes()) == 1


@pytest.mark.release
@pytest.mark.parametrize("fault", [Fault.LOST_REQUEST, Fault.LOST_ANSWER], ids=lambda kind: kind.name)
def test_a_voter_goes_on_elsewhere_by_the_link(running, network, phone, chromium, fault):
    """The phone is closed over an answer that got lost, and comes back after the same person has gone on elsewhere."""
    link = Link(running)
    invite(link.store, link.project_id, ["Anna"])
    ((_, token),) = read_invitations(link.store, link.project_id)
    url = f"{network.url}/v/{link.code}?i={token}"
    page = opened(phone, url)
    page.get_by_role("button", name="I agree, begin").click()
    at(page, 1)
    network.each(1, fault, path="/vote")
    press(page, "3")
    expect(page.locator("#said")).to_contain_text("can’t be reached just now")
    phone.set_offline(True)
    other = new_context(chromium)
    network.well()
    elsewhere = opened(other, url)
    is_stored = fault is Fault.LOST_ANSWER
    at(elsewhere, 2 if is_stored else 1)
    press(elsewhere, "0")
    at(elsewhere, 3 if is_stored else 2)
    phone.set_offline(False)
    at(page, 3 if is_stored else 2)
    said = page.locator("#said")
    expect(said).to_contain_text("Saved." if is_stored else "your first answer stands")
    expected = [("tie", "counted"), ("unknown", "unknown")]
    assert link.votes() == (expected if is_stored else expected[1:])
    never_unsaved(page)
    other.close()


@pytest.mark.release
def test_without_javascript_the_link_leads_on(link, network, chromium):
    """Each answer to a form is lost: the browser says so in its own words, and the link shows where things stand."""
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(link.url)
    begin(page)
    network.each(1, Fault.LOST_ANSWER, method="POST")
    for number in range(1, 5):
        page.close()
        page = context.new_page()
        page.goto(link.url)
        at(page, number)
        page.locator(".ro-card").first.click()
        with page.expect_event("requestfailed"):
            page.get_by_role("button", name="Send").click(no_wait_after=True)
    network.well()
    page.close()
    page = context.new_page()
    page.goto(link.url)
    expect(page.get_by_role("button", name="Finish")).to_be_visible()
    assert [status for _, status in link.votes()] == ["counted"] * 4
    context.close()
