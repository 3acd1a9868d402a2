"""The voting page in a real browser: from a platform's link to the code, by keys, on a phone, in two tabs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import sqlalchemy as sa
from campaigns import PLAN, make_project
from playwright.sync_api import Browser, BrowserContext, Page, expect
from voting_server import VotingServer, make_voting, serving

from core.questions.comparison_page import Wording
from core.questions.voting_settings import VotingSettings
from core.store import Store, open_store
from core.store import schema as t
from core.store.ballots.drawing import draw_next_ballot
from core.store.engine import _open
from core.store.voting.owner_commands import open_voting
from core.voting.process import running_servers, stop_servers
from tests.browser.server import Server, free_port

pytestmark = pytest.mark.browser

TOKENS = ("cat", "dog", "<b>bold</b>", "שלום", "猫の手も借りたい", "telecommunications", "ship", "R&D", "salt")
SETTINGS = VotingSettings(task_size=4, tasks_per_voter=2, completion="shared", code="C1X2", examples=False)
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
QUICK_MS = 300  # a little more than the page takes for the second half of a double click


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, VotingServer]]:
    with serving(tmp_path_factory.mktemp("voting") / "workspace") as both:
        yield both


class Link:
    """A link of the test's own: its store, address and project."""

    def __init__(
        self, running: tuple[Store, VotingServer], settings: VotingSettings = SETTINGS, language: str = "en"
    ) -> None:
        self.store, server = running
        wording = Wording(language=language)
        self.project_id, self.code = make_voting(self.store, settings, tokens=TOKENS, appearances=4, wording=wording)
        self.url = f"{server.url}/v/{self.code}"

    def votes(self) -> list[tuple[str, str]]:
        """Answer and status of each judgement, in the order they were first given."""
        j = t.judgement.c
        query = sa.select(j.answer, j.status).join(t.question, t.question.c.id == j.question_id)
        query = query.join(t.ballot, t.ballot.c.id == t.question.c.ballot_id)
        with self.store.read() as conn:
            return [
                tuple(row) for row in conn.execute(query.where(t.ballot.c.project_id == self.project_id).order_by(j.id))
            ]

    def expire(self) -> None:
        with self.store.write() as conn:
            conn.execute(sa.update(t.deal).where(t.deal.c.state == "open").values(expires_at="2026-01-01"))


@pytest.fixture
def link(running) -> Link:
    return Link(running)


def new_context(chromium: Browser, **options) -> BrowserContext:
    """A browser whose clock a test can put forward."""
    context = chromium.new_context(**options)
    context.clock.install()
    return context


@pytest.fixture
def open_tab(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Opens tabs; at the end none of them may have met an error of a script, or a request to another host."""
    faults: list[str] = []
    contexts = []

    def make(url: str, *, beside: Page | None = None, **options) -> Page:
        context = beside.context if beside else new_context(chromium, **{"reduced_motion": "reduce"} | options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: faults.append(request.url) if "//localhost:" not in request.url else None)
        page.goto(url)
        return page

    yield make
    for context in contexts:
        context.close()
    assert faults == []


def begin(page: Page, name: str = "Anna", *, of: int = 4) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="I agree, begin").click()
    at(page, 1, of)


def at(page: Page, number: int, of: int = 4) -> None:
    expect(page.locator("#count")).to_have_text(f"{number} of {of}")


def unhurried(page: Page) -> None:
    """Until the page takes an answer: its script is there, and had the question long enough."""
    page.wait_for_load_state("load")
    page.clock.fast_forward(QUICK_MS)


def press(page: Page, key: str) -> None:
    unhurried(page)
    page.keyboard.press(key)


@pytest.mark.release
def test_a_prolific_visit_from_the_link_to_the_code(link, open_tab):
    query = "?PROLIFIC_PID=5f0c1&STUDY_ID=s1&SESSION_ID=x1"
    page = open_tab(link.url + query)
    assert page.get_by_label("Your name").count() == 0
    page.get_by_role("button", name="I agree, begin").click()
    at(page, 1)
    assert "PROLIFIC" not in page.url
    for number in range(1, 5):
        at(page, number)
        press(page, "ArrowLeft")
    page.get_by_role("button", name="Finish").click()
    expect(page.locator(".ro-code")).to_have_text("C1X2")
    assert [status for _, status in link.votes()] == ["counted"] * 4
    page.goto(link.url + query)
    expect(page.locator(".ro-code")).to_have_text("C1X2")


@pytest.mark.release
def test_a_vote_in_italian(running, open_tab):
    link = Link(running, language="it")
    page = open_tab(link.url, **PHONE, locale="en-GB")
    page.get_by_label("Il tuo nome").fill("Anna")
    page.get_by_role("button", name="Acconsento e comincio").click()
    expect(page.locator("#count")).to_have_text("1 di 4")
    expect(page.get_by_role("radio", name=re.compile("^Coppia in alto: "))).to_have_count(1)
    for key, said in (("1", "Salvato. Ora 2 di 4."), ("3", "Salvato. Ora 3 di 4.")):
        press(page, key)
        expect(page.locator("#said")).to_have_text(said)
    expect(page.locator("#count")).to_have_text("3 di 4")
    expect(page).to_have_title("3 di 4")
    page.get_by_role("button", name="Annulla la mia ultima risposta").click()
    expect(page.locator("#said")).to_have_text("La tua ultima risposta è stata annullata. Ora 2 di 4.")
    (vote, vote_status), (tie, tie_status) = link.votes()
    assert vote in ("first", "second")
    assert (vote_status, tie, tie_status) == ("counted", "tie", "withdrawn")


def test_by_keys_with_undo_and_back_to_the_same_place(link, open_tab):
    page = open_tab(link.url)
    begin(page)
    undo = page.get_by_role("button", name="Undo my last answer")
    expect(undo).to_have_count(0)  # nothing to undo, for eyes, keys and screen readers
    for number, key in enumerate(("ArrowLeft", "ArrowRight", "ArrowDown"), start=2):
        press(page, key)
        at(page, number)
    assert page.evaluate("document.activeElement.tagName") == "FIELDSET"
    expect(page.locator("#said")).to_have_text("Saved. Now 4 of 4.")
    undo.click()
    at(page, 3)
    assert link.votes()[2] == ("tie", "withdrawn")
    words = page.locator(".ro-token").all_inner_texts()
    again = open_tab(link.url, beside=page)
    page.close()
    at(again, 3)
    assert again.locator(".ro-token").all_inner_texts() == words
    press(again, "0")
    at(again, 4)
    assert link.votes()[2] == ("unknown", "unknown")


def test_a_double_click_is_one_vote(link, open_tab):
    page = open_tab(link.url)
    begin(page)
    page.wait_for_load_state("load")
    page.clock.pause_at(page.evaluate("Date.now()") + QUICK_MS)  # however slowly the second half comes
    page.locator(".ro-card").first.dblclick()
    at(page, 2)
    unhurried(page)
    at(page, 2)
    assert len(link.votes()) == 1
    assert page.locator("input:checked").count() == 0


def test_a_tap_before_the_script_is_there_counts(link, open_tab):
    page = open_tab(link.url)
    begin(page)
    waiting = []
    page.route("**/vote.js", lambda route: waiting.append(route))
    page.reload(wait_until="commit")
    page.locator(".ro-card").first.click()
    waiting[0].continue_()
    at(page, 2)
    unhurried(page)
    assert len(link.votes()) == 1


@pytest.mark.release
def test_on_a_slow_line_the_answer_that_is_being_saved_stays_marked(link, open_tab):
    """A second tap meanwhile would mark what nobody stores; and waiting is told."""
    page = open_tab(link.url, **PHONE)
    begin(page)
    waiting = []
    page.route("**/vote", lambda route: waiting.append(route))
    unhurried(page)
    first, second = (page.locator(".ro-card").nth(at) for at in (0, 1))
    first.tap()
    expect(page.locator("#vote")).to_have_attribute("aria-busy", "true")
    second.tap()
    expect(page.locator("#said")).to_have_text("Saving…")
    expect(first.locator("input")).to_be_checked()
    expect(second.locator("input")).not_to_be_checked()
    waiting[0].continue_()
    at(page, 2)
    expect(page.locator("#said")).to_have_text("Saved. Now 2 of 4.")
    assert len(waiting) == 1
    assert [status for _, status in link.votes()] == ["counted"]


def test_two_tabs_answer_the_same_comparison_once(link, open_tab):
    one = open_tab(link.url)
    begin(one)
    two = open_tab(link.url, beside=one)
    at(two, 1)
    press(one, "ArrowLeft")
    at(one, 2)
    press(two, "ArrowRight")
    at(two, 2)
    expect(two.locator("#said")).to_contain_text("answered already")
    assert len(link.votes()) == 1


@pytest.mark.release
def test_the_back_button_shows_what_comes_next(link, open_tab):
    page = open_tab(link.url)
    begin(page)
    press(page, "ArrowLeft")
    at(page, 2)
    page.go_back()
    at(page, 2)
    press(page, "ArrowLeft")
    at(page, 3)
    assert len(link.votes()) == 2


@pytest.mark.release
def test_an_expired_task_goes_to_somebody_else_and_the_voter_gets_others(link, open_tab):
    slow = open_tab(link.url)
    begin(slow, "Slow")
    words = slow.locator(".ro-token").all_inner_texts()
    link.expire()
    quick = open_tab(link.url)
    begin(quick, "Quick")
    assert quick.locator(".ro-token").all_inner_texts() == words
    press(slow, "ArrowLeft")
    expect(slow.locator("#said")).to_contain_text("somebody else has it now")
    assert slow.locator(".ro-token").all_inner_texts() != words
    assert link.votes() == []


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.release)])
def test_on_a_phone_by_touch(link, open_tab, scheme):
    page = open_tab(link.url, **PHONE, color_scheme=scheme)
    begin(page, f"Phone {scheme}")
    for number in range(1, 5):
        at(page, number)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        for button in page.locator(".ro-card, .ro-small, .ro-foot button:visible").all():
            assert button.bounding_box()["height"] >= 44
        card = page.locator(".ro-card").nth(1)
        assert card.bounding_box()["y"] + card.bounding_box()["height"] <= 740, "both cards fit on the screen"
        unhurried(page)
        card.tap()
    page.get_by_role("button", name="Go on with more").click()
    at(page, 1)


def test_on_a_phone_by_keys_alone_from_the_link_to_the_code(link, open_tab):
    """What a phone with a keyboard or a switch does: Tab, Space, Enter and arrows, no touch at all."""
    page = open_tab(link.url, **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    tab_to(page, "INPUT")
    page.keyboard.type("Keys")
    tab_to(page, "BUTTON", "I agree, begin")
    page.keyboard.press("Enter")
    at(page, 1)
    for number, key in enumerate(("ArrowLeft", "ArrowRight", "ArrowDown", "0"), start=1):
        at(page, number)
        press(page, key)
    expect(page.get_by_role("button", name="Finish")).to_be_visible()
    tab_to(page, "BUTTON", "Finish")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.keyboard.press("Enter")
    expect(page.locator(".ro-code")).to_have_text("C1X2")
    answers = [answer for answer, _ in link.votes()]
    assert {*answers[:2]} <= {"first", "second"}  # the sides are drawn
    assert answers[2:] == ["tie", "unknown"]


def tab_to(page: Page, tag: str, text: str = "") -> None:
    """Press Tab until such an element has the focus, with a focus that can be seen."""
    for _ in range(20):
        page.keyboard.press("Tab")
        found = page.evaluate("[document.activeElement.tagName, document.activeElement.textContent.trim()]")
        if found[0] == tag and found[1].startswith(text):
            shown = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert shown != "none", f"no outline around {text or tag}"
            return
    pytest.fail(f"{text or tag} can't be reached by Tab.")


@pytest.mark.release
def test_for_a_screen_reader(link, open_tab):
    page = open_tab(link.url)
    assert page.get_by_role("heading", level=1).count() == 1
    begin(page)
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.get_by_role("main").count() == 1
    assert page.get_by_role("progressbar", name="1 of 4").count() == 1
    assert page.get_by_role("group", name=re.compile("Which two words are more related")).count() == 1
    assert page.get_by_role("radio", name=re.compile("^Left pair: .+ and ")).count() == 1
    assert page.get_by_role("status").count() == 1
    unnamed = page.locator("input:not([type=hidden]), button, summary, select").evaluate_all(
        "all => all.filter(e => !(e.labels && e.labels.length) && !e.textContent.trim()).length"
    )
    assert unnamed == 0
    ids = page.locator("[id]").evaluate_all("all => all.map(e => e.id)")
    assert len(ids) == len(set(ids))
    page.emulate_media(reduced_motion="reduce")
    assert page.locator(".ro-cards").evaluate("e => getComputedStyle(e).transitionDuration") == "0s"


def test_without_javascript(link, open_tab):
    page = open_tab(link.url, java_script_enabled=False)
    begin(page)
    page.locator(".ro-card").first.click()
    page.get_by_role("button", name="Send").click()
    at(page, 2)
    page.get_by_role("button", name="Undo my last answer").click()
    at(page, 1)
    assert [status for _, status in link.votes()] == ["withdrawn"]


def test_a_lost_connection_is_told_and_the_answer_goes_by_itself_once_it_is_back(link, open_tab, chromium):
    context = new_context(chromium)
    page = context.new_page()
    page.goto(link.url)
    begin(page)
    context.set_offline(True)
    press(page, "ArrowLeft")
    expect(page.locator("#said")).to_contain_text("can’t be reached just now")
    assert link.votes() == []
    context.set_offline(False)
    page.clock.fast_forward(5_000)
    at(page, 2)
    expect(page.locator("#said")).to_have_text("Saved. Now 2 of 4.")
    assert len(link.votes()) == 1
    context.close()


def test_an_undo_whose_answer_is_lost_takes_one_vote(link, chromium):
    context = new_context(chromium)
    page = context.new_page()
    page.goto(link.url)
    begin(page)
    for number in (2, 3):
        press(page, "ArrowLeft")
        at(page, number)
    lost = []

    def lose(route) -> None:
        """The server does what it is asked, and nobody hears of it."""
        lost.append(route.fetch().status)
        route.abort()

    page.route("**/undo", lose)
    undo = page.get_by_role("button", name="Undo my last answer")
    undo.click()
    expect(page.locator("#said")).to_contain_text("can’t be reached just now")
    assert (lost, [status for _, status in link.votes()]) == ([200], ["counted", "withdrawn"])
    page.unroute("**/undo")
    page.clock.fast_forward(5_000)
    at(page, 2)
    expect(page.locator("#said")).to_have_text("Your last answer is taken back. Now 2 of 4.")
    assert [status for _, status in link.votes()] == ["counted", "withdrawn"]
    undo.click()
    at(page, 1)
    expect(undo).to_be_hidden()
    assert [status for _, status in link.votes()] == ["withdrawn"] * 2
    context.close()


@pytest.mark.release
def test_what_must_wait_is_sent_again_by_itself(link, chromium):
    """Another program holds the database, first while somebody begins and then while he or she votes."""
    context = new_context(chromium)
    page = context.new_page()
    page.goto(link.url)
    page.get_by_label("Your name").fill("Anna")
    with link.store.write():
        page.get_by_role("button", name="I agree, begin").click()
        expect(page.get_by_role("status")).to_have_text("One moment, this isn’t saved yet…")
    expect(page.locator("#count")).to_have_text("1 of 4")
    with link.store.write():
        press(page, "ArrowLeft")
        expect(page.locator("#said")).to_have_text("One moment, this isn’t saved yet…")
        page.keyboard.press("ArrowRight")  # changes nothing any more
    expect(page.locator("#count")).to_have_text("2 of 4")
    expect(page.locator("#said")).to_have_text("Saved. Now 2 of 4.")
    assert len(link.votes()) == 1
    context.close()


@pytest.mark.release
def test_examples_come_first_with_their_answers(running, open_tab):
    link = Link(running, replace(SETTINGS, examples=True))
    examples = [
        {"left": ["ship", "harbour"], "right": ["ship", "dentist"], "answer": "left", "why": "Ships <i>lie</i> there."}
    ]
    with link.store.write() as conn:
        row = sa.update(t.plan).where(t.plan.c.project_id == link.project_id)
        conn.execute(row.values(wording={"question": "", "instructions": "", "examples": examples}))
    open_voting(link.store, link.project_id, replace(SETTINGS, examples=True))
    page = open_tab(link.url)
    page.get_by_label("Your name").fill("Anna")
    page.get_by_role("button", name="I agree, begin").click()
    expect(page.get_by_text("Example 1 of 1.")).to_be_visible()
    press(page, "ArrowRight")
    expect(page.get_by_role("heading", level=1)).to_have_text("Most people would answer otherwise.")
    expect(page.get_by_text("Ships <i>lie</i> there.")).to_be_visible()
    page.get_by_role("link", name="Go on").click()
    at(page, 1)
    assert link.votes() == []


@pytest.fixture
def owners(tmp_path, monkeypatch) -> Iterator[tuple[Server, Store, str]]:
    """The owner's app on a project whose ballot is drawn: the app, its store, the project."""
    monkeypatch.setenv("RUNOFF_VOTING_PORT", str(free_port()))
    app = Server(tmp_path / "workspace")
    store = open_store(app.workspace)
    project_id = make_project(store)
    draw_next_ballot(store, project_id)
    app.start()
    yield app, store, project_id
    stop_servers(store)
    app.kill()
    store.engine.dispose()
    _open.cache_clear()


@pytest.mark.release
def test_three_clicks_from_a_drawn_ballot_to_a_phones_first_vote(owners, visit, open_tab):
    """One opens and serves the page, one agrees, one votes; and the page ends with the app, however that ends."""
    app, store, project_id = owners
    owner = visit(app)
    owner.open(f"collect?project={project_id}")
    owner.press("Open the voting page")
    owner.says("for this machine only. It stops when Runoff stops.")
    address = owner.main.get_by_role("link", name="Open", exact=True).get_attribute("href")
    voter = open_tab(address, **PHONE)
    begin(voter, "Anna", of=PLAN.task_size)
    unhurried(voter)
    voter.locator(".ro-card").first.tap()
    at(voter, 2, of=PLAN.task_size)
    owner.says("Ballot 1 of 3 is open: 1 of 42 comparisons have a vote.")
    owner.check_no_error()
    answer = voter.request.get(address.rsplit("/v/", 1)[0] + f"/collect?project={project_id}")
    assert answer.status == 404
    running = store.folder / f"voting.json.{running_servers(store)[0].key}"
    app.kill()
    owner.faults.clear()  # the tab has lost its server
    while running.exists():
        voter.wait_for_timeout(50)  # what ends writes off its file


@pytest.mark.release
def test_the_menu_pauses_voting_and_goes_on(owners, visit, open_tab):
    app, _, project_id = owners
    owner = visit(app)
    owner.open(f"collect?project={project_id}")
    owner.press("Open the voting page")
    address = owner.main.get_by_role("link", name="Open", exact=True).get_attribute("href")
    for label, heading in (("Pause voting", "A short break"), ("Resume voting", None), ("Close voting", None)):
        menu = owner.page.get_by_role("button", name="Pause or stop")
        if menu.get_attribute("aria-expanded") != "true":  # it stays open over the run of a press in it
            menu.click()
        with owner.a_run():
            owner.page.get_by_role("button", name=label).click()
        if heading:
            voter = open_tab(address)
            expect(voter.get_by_role("heading", level=1)).to_have_text(heading)
    owner.says("Voting is closed.")
    owner.check_no_error()
