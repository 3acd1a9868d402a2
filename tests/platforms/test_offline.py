"""Ballots as single web pages: they hold every comparison once, need nothing else, and their CSV comes back."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from dataclasses import replace

import pytest
from campaigns import AREAS, PLAN
from playwright.sync_api import expect

from core.errors import InputError
from core.platforms.plain import comparison_ids, write_offline
from core.questions.comparison_page import Example, Wording
from core.store.ballots.ballot_rows import read_comparisons
from core.store.ballots.drawing import draw_next_ballot
from core.store.projects.plans import save_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas
from core.store.votes.intake import accept_upload, preview_upload
from core.tokens.files import AreaTokens

WORDING = {"notion": "relatedness", "ties_allowed": True}


@pytest.fixture
def drawn(store):
    project_id = create_project(store, "Offline", seed=11)
    strange = AreaTokens("</script>", ("<b>x</b>", "R&D", "שלום", "猫", "a,b", 'q"q'))
    add_areas(store, project_id, [*AREAS, strange])
    save_plan(store, project_id, replace(PLAN, appearances=2))
    draw_next_ballot(store, project_id)
    return store, project_id, read_comparisons(store, project_id, 1)


def data_of(page: bytes) -> dict:
    """The comparisons in a page, as its script reads them."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page.decode("utf-8"), re.S)
    return json.loads(text)


@pytest.mark.parametrize("n_files", [1, 3, 100])
def test_every_comparison_is_in_one_file(drawn, n_files):
    _, _, comparisons = drawn
    pages = write_offline(comparisons, name="b1", n_files=n_files, **WORDING)
    shown = [row for page in pages.values() for row in data_of(page)["comparisons"]]
    assert [row["id"] for row in shown] == comparison_ids(comparisons).tolist()
    assert [row["left_a"] for row in shown] == comparisons["left_a"].tolist()
    n_tasks = comparisons["task_id"].nunique()
    assert len(pages) == min(n_files, n_tasks)
    tasks = [len({row["id"].rsplit("-", 1)[0] for row in data_of(page)["comparisons"]}) for page in pages.values()]
    assert max(tasks) - min(tasks) <= 1
    assert pages == write_offline(comparisons, name="b1", n_files=n_files, **WORDING)


def test_a_page_needs_nothing_else(drawn):
    _, _, comparisons = drawn
    (page,) = write_offline(comparisons, name="b1", **WORDING).values()
    markup = re.sub(r"<script.*?</script>|<style>.*?</style>", "", page.decode("utf-8"), flags=re.S)
    assert not re.search(r"(?:src|href)=|https?://|url\(", markup)
    assert "<b>x</b>" not in page.decode("utf-8")


def test_consent_and_examples_stand_before_the_first_comparison(drawn):
    _, _, comparisons = drawn
    example = Example(("sun", "moon"), ("<i>", "fork"), "left", "both in the sky")
    more = {"consent": "You may stop.\n\nNothing & nobody.", "wording": Wording(examples=(example,))}
    (page,) = write_offline(comparisons, name="b1", **WORDING, **more).values()
    (form,) = re.findall(r'<form id="begin".*?</form>', page.decode("utf-8"), re.S)
    assert "<p>You may stop.</p>\n<p>Nothing &amp; nobody.</p>" in form
    assert "both in the sky" in form
    assert "&lt;i&gt;" in form
    assert ">I agree: begin</button>" in form
    (bare,) = write_offline(comparisons, name="b1", **WORDING).values()
    assert b">Begin</button>" in bare


def test_words_of_the_owner_are_text_in_every_place(drawn):
    _, _, comparisons = drawn
    odd = "<b>\"x\"</b> & 'y' ${left_a} {{ 7 * 7 }} {% raw %} </script>"
    example = Example((odd, "moon"), ("spoon", odd), "right", odd)
    more = {"wording": Wording(odd, odd, (example,)), "consent": odd}
    (page,) = write_offline(comparisons, name="b1", **WORDING, **more).values()
    markup = re.sub(r"<script.*?</script>|<style>.*?</style>", "", page.decode("utf-8"), flags=re.S)
    assert "<b>" not in markup
    assert html.unescape(markup).count(odd) == 8


def test_refused(drawn):
    _, _, comparisons = drawn
    for wrong in (0, 501):
        with pytest.raises(InputError):
            write_offline(comparisons, name="b1", n_files=wrong, **WORDING)
    with pytest.raises(InputError):
        write_offline(comparisons.iloc[:0], name="b1", **WORDING)


def two_tabs(context, drawn, tmp_path) -> list:
    """One ballot's page, opened twice in a browser."""
    _, _, comparisons = drawn
    name, page_bytes = next(iter(write_offline(comparisons, name="b1", n_files=12, **WORDING).items()))
    (tmp_path / name).write_bytes(page_bytes)
    tabs = [context.new_page(), context.new_page()]
    for tab in tabs:
        tab.clock.install()
        tab.goto((tmp_path / name).as_uri())
    return tabs


@pytest.mark.browser
def test_two_tabs_of_one_ballot_go_on_together(drawn, tmp_path, chromium):
    """Or each would write over the other's answers."""
    context = chromium.new_context()
    tabs = two_tabs(context, drawn, tmp_path)
    tabs[0].get_by_label("Your name").fill("Anna")
    tabs[0].get_by_role("button", name="Begin").click()
    for at, tab in enumerate((*tabs, tabs[0])):
        expect(tab.locator("#count:visible")).to_have_text(f"{at + 1} of 3")
        tab.clock.run_for(300)  # quicker answers count as slips
        tab.locator("#vote").press("ArrowLeft")
    for tab in tabs:
        expect(tab.get_by_role("button", name="Save the answers")).to_be_visible()
        assert tab.get_by_label("The answers so far").input_value().count("left") == 3
    context.close()


@pytest.mark.browser
def test_a_tab_that_heard_nothing_of_another_writes_over_none_of_its_answers(drawn, tmp_path, chromium):
    context = chromium.new_context()
    context.add_init_script("delete window.BroadcastChannel")
    tabs = two_tabs(context, drawn, tmp_path)
    for tab, voter in zip(tabs, ("Anna", "Berta"), strict=True):
        tab.get_by_label("Your name").fill(voter)
        tab.get_by_role("button", name="Begin").click()
        expect(tab.locator("#count:visible")).to_have_text("1 of 3")
        tab.clock.run_for(300)
    tabs[0].locator("#vote").press("ArrowLeft")
    expect(tabs[0].locator("#count:visible")).to_have_text("2 of 3")
    tabs[1].locator("#vote").press("ArrowRight")  # the comparison that the other tab has answered
    expect(tabs[1].locator("#count:visible")).to_have_text("2 of 3")
    answers = tabs[1].get_by_label("The answers so far").input_value()
    assert (answers.count('"Anna","left"'), answers.count("right"), answers.count("Berta")) == (1, 0, 0)
    context.close()


@pytest.mark.browser
def test_keys_answer_nothing_before_the_voter_has_begun(drawn, tmp_path, chromium):
    """They scroll through the consent; once they named a winner of the first comparison, which nobody had seen."""
    context = chromium.new_context()
    tab, _ = two_tabs(context, drawn, tmp_path)
    expect(tab.get_by_role("button", name="Begin")).to_be_visible()
    for key in ("ArrowDown", "1"):
        tab.clock.run_for(300)
        tab.keyboard.press(key)
    tab.get_by_label("Your name").fill("Anna")
    tab.get_by_role("button", name="Begin").click()
    expect(tab.locator("#count:visible")).to_have_text("1 of 3")
    assert tab.get_by_label("The answers so far").input_value().count("\n") == 1  # the names of the columns
    context.close()


@pytest.mark.browser
def test_voted_in_chromium_from_the_disk_and_taken_back(drawn, tmp_path, chromium):
    store, project_id, comparisons = drawn
    pages = write_offline(comparisons, name="b1", n_files=12, **WORDING)
    name, page_bytes = next(iter(pages.items()))
    shown = data_of(page_bytes)["comparisons"]
    (tmp_path / name).write_bytes(page_bytes)
    address = (tmp_path / name).as_uri()
    faults = []
    context = chromium.new_context(viewport={"width": 390, "height": 844}, accept_downloads=True)
    page = context.new_page()
    page.clock.install()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.append(request.url) if request.url[:4] == "http" else None)
    page.goto(address)
    page.get_by_label("Your name").fill('=Anna, "A"')
    page.get_by_role("button", name="Begin").click()
    for at, row in enumerate(shown):
        expect(page.locator("#count:visible")).to_have_text(f"{at + 1} of {len(shown)}")
        assert page.locator(".ro-token").first.inner_text() == row["left_a"]
        page.clock.run_for(300)  # quicker answers count as slips
        page.keyboard.press(("ArrowLeft", "ArrowRight", "ArrowDown")[at % 3])
        expect(page.locator("#said")).to_have_text("Saved in this browser.")
        if at == 1:
            page.get_by_role("button", name="Undo").click()
            expect(page.locator("#said")).to_have_text("Your last answer is taken back.")
            page.goto(address)  # closed and opened again: at the same place
            expect(page.locator("#count:visible")).to_have_text(f"2 of {len(shown)}")
            page.clock.run_for(300)
            page.keyboard.press("ArrowRight")
    with page.expect_download() as caught:
        page.get_by_role("button", name="Save the answers").click()
    data = caught.value.path().read_bytes()
    assert page.get_by_label("The answers so far").input_value().encode() in data.replace(b"\r\n", b"\n")
    context.close()
    assert faults == []
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
    assert [row["choice"] for row in rows] == [("left", "right", "tie")[at % 3] for at in range(len(shown))]
    assert preview_upload(store, project_id, data, "answers.csv").counts == {"new": len(shown)}
    accept_upload(store, project_id, data, "answers.csv")
