"""docs/first-dataset.md followed word by word: two phones vote, and the zip that comes out is computed again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Download, Page, expect

from core.__main__ import cli
from tests.browser.server import ROOT, Server, free_port
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.release]

PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
    "reduced_motion": "reduce",
}
TUTORIAL = ROOT / "docs" / "first-dataset.md"
TOKENS = "bread\nbutter\nknife\noven\nsalt\nspoon"
QUICK_MS = 300  # a little more than the voting page takes for the second half of a double click


class Text:
    """The page's text, and which of what it names in italics was met."""

    def __init__(self) -> None:
        text = TUTORIAL.read_text(encoding="utf-8")
        self.named = set(re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", text))
        self.met: set[str] = set()

    def __call__(self, label: str) -> str:
        """A label, which the text must have named."""
        assert label in self.named
        self.met.add(label)
        return label


def vote(phone: Page, text: Text) -> int:
    """Answer what there is by one opinion, that more letters are more related, and end; the number of answers."""
    n = 0
    while True:
        cards = phone.locator(".ro-card")
        card, more = cards.first, phone.get_by_role("button", name=text("Go on with more"))
        end = phone.get_by_role("button", name=text("Finish"))
        expect(card.or_(more).or_(end).first).to_be_visible()
        if card.is_visible():
            phone.wait_for_timeout(QUICK_MS)
            before = phone.locator("#count").inner_text()
            letters = [sorted(text) for text in cards.all_inner_texts()]
            cards.nth(max(range(len(letters)), key=lambda at: (len(letters[at]), letters[at]))).tap()
            phone.wait_for_function("before => document.querySelector('#count')?.innerText !== before", arg=before)
            n += 1
        elif more.is_visible():
            more.tap()
            expect(more).to_have_count(0)
        else:
            return n


def follow(visitor: Visitor, phones: list[Page]) -> Download:
    """All steps between the start and the zip."""
    text = Text()
    visitor.open()
    with visitor.a_run():
        visitor.page.get_by_test_id("stSidebar").get_by_role("button", name=text("New project")).click()
    form = visitor.main.get_by_test_id("stForm").filter(has=visitor.page.get_by_role("button", name="Create project"))
    form.get_by_label(text("Name")).fill("Kitchen")
    with visitor.a_run():
        form.get_by_role("button", name=text("Create project")).click()
    visitor.go(text("Embeddings"))
    visitor.says(text("From another project"))
    visitor.press(text("Use it here"))
    visitor.says("GloVe 50d is used in this project.")  # “partly circular” is so in the demo alone
    visitor.go(text("Tokens"))
    visitor.main.get_by_label(text("Area"), exact=True).and_(visitor.page.locator("input[type=text]")).last.fill(
        "Kitchen"
    )
    visitor.main.get_by_label(text("Tokens, one per line"), exact=True).fill(TOKENS)
    visitor.press(text("Add area"))
    visitor.says("15 items from 6 tokens in 1 area")
    visitor.go(text("Plan"))
    visitor.fill(text("Ballots, n_b"), "2")
    visitor.fill(text("Appearances, M"), "4")
    visitor.fill(text("Voters"), "2")
    visitor.fill(text("Reward per task"), "0")
    visitor.check(text("Checks in the ballots"))
    visitor.says("46 votes in 2 ballots")
    visitor.press(text("Save this plan"))
    visitor.go(text("Collect"))
    visitor.press(text("Draw ballot 1"))
    switch = visitor.main.get_by_text(text("People on this network may vote"), exact=True)
    if visitor.main.get_by_role("switch", name="People on this network may vote").is_enabled():
        with visitor.a_run():
            switch.click()
    visitor.press(text("Open the voting page"))
    link = visitor.main.get_by_role("link", name="Open", exact=True).get_attribute("href")
    given = 0
    for name, phone in zip(("Ada", "Bob"), phones, strict=True):
        phone.goto(link or "")
        phone.get_by_label("Your name").fill(name)
        phone.get_by_role("button", name=text("I agree, begin")).tap()
        given += vote(phone, text)
    assert given == 30
    visitor.says("30 of 30 comparisons have a vote")
    visitor.press(text("Close ballot 1"))
    visitor.press(text("Draw ballot 2"))
    visitor.press("Open the voting page")
    given = 0
    for phone in phones:
        phone.goto(link or "")
        given += vote(phone, text)
    assert given == 16
    visitor.says("16 of 16 comparisons have a vote")
    visitor.press(text("Close ballot 2"))
    text("Voters")  # where the Collect page sends whoever's votes look like coin tosses
    visitor.go(text("Scores"))
    visitor.says(text("How far to trust it"))
    visitor.go(text("Evaluate"))
    visitor.says(re.compile(r"reaches ρ_w|can't be told from coin tosses"))  # 46 votes, drawn by a seed of the day
    visitor.go(text("Export"))
    visitor.unfold(text("What the datasheet says in your words"))
    visitor.main.get_by_label(text("Title"), exact=True).fill("Kitchen: 15 pairs of words")
    visitor.pick(text("Licence"), "Creative Commons Attribution 4.0", in_form=True)
    visitor.press(text("Save the datasheet"))
    text("Make the dataset to publish (zip)")
    text("Download the dataset (zip)")
    made = visitor.published()
    assert text.named == text.met
    visitor.check_no_error()
    return made


@pytest.fixture
def phones(chromium: Browser) -> Iterator[list[Page]]:
    contexts = [chromium.new_context(**PHONE) for _ in range(2)]
    yield [context.new_page() for context in contexts]
    for context in contexts:
        context.close()


def test_whoever_follows_the_page_gets_a_dataset(
    own_server: Server,
    visit: Callable[..., Visitor],
    phones: list[Page],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RUNOFF_VOTING_PORT", str(free_port()))
    own_server.start()
    saved = follow(visit(own_server), phones)
    assert f"runoff replay {saved.suggested_filename} " in TUTORIAL.read_text(encoding="utf-8")
    made = tmp_path / saved.suggested_filename
    saved.save_as(made)
    result = CliRunner().invoke(cli, ["replay", str(made)])
    assert result.exit_code == 0, result.output
    assert "All of them are the same, bit for bit." in result.output
