"""Task pages of other schemes in a real browser: by mouse, by keys alone, on a phone, and incomplete."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from core.platforms import render_preview
from core.questions.task_page import columns_of
from core.questions.writing import page_settings, task_page
from tests.browser.visitor import TIMEOUT_MS
from tests.rounds_of_people import PAGES

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser"), pytest.mark.release]

WORDS = ("ship", "boat", "telecommunications infrastructure", "<b>bold</b>", "${token_a_1}", 'R&D "x"', "🔥", "שלום")
LONG = "The committee met twice before the summer and decided, after a long debate, to put the matter off. " * 3
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
Open = Callable[..., Page]


def row_of(scheme: str, settings: Mapping[str, Any], n: int, filled: int | None = None) -> dict[str, str]:
    """A batch's row of `filled` places of `n`."""
    found, row = page_settings(scheme, settings), {}
    for at, name in enumerate(columns_of(found, n)):
        number = int(re.findall(r"\d+", name)[0])
        text = WORDS[at % len(WORDS)] + (f" {at}" if scheme == "order" else "")
        if scheme == "writing":
            text = {"larger": LONG, "wanted": "3", "anchor": found.scale.describe(3)}[name.split("_")[0]]
        row[name] = text if filled is None or number <= filled else ""
    return row


@pytest.fixture
def task(chromium: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open a task in a page of its own; faults of its script, and requests, fail the test."""
    faults: list[str] = []
    contexts = []

    def open_page(
        scheme: str,
        settings: Mapping[str, Any] | None = None,
        n: int = 2,
        *,
        filled: int | None = None,
        row: Mapping[str, str] | None = None,
        **context: Any,
    ) -> Page:
        settings = settings or {}
        html = render_preview(task_page(scheme, settings, task_size=n), row or row_of(scheme, settings, n, filled))
        file = tmp_path / "task.html"
        file.write_text(html, encoding="utf-8")
        contexts.append(chromium.new_context(reduced_motion="reduce", **context))
        page = contexts[-1].new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda asked: None if asked.url.startswith("file:") else faults.append(asked.url))
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


def fields(page: Page) -> dict[str, str]:
    found = page.evaluate("Object.fromEntries(new FormData(document.querySelector('form')))")
    return {name: value for name, value in found.items() if value != ""}


def boxes(page: Page) -> Locator:
    return page.locator(".ro-comparison")


def submit(page: Page) -> None:
    page.get_by_role("button", name="Submit").click()


def is_sent(page: Page) -> bool:
    return page.locator("#sent").inner_text() != ""


def expect_sent(page: Page) -> None:
    expect(page.locator("#sent")).not_to_be_empty()


def keys(page: Page, *names: str) -> None:
    for name in names:
        page.keyboard.press(name)


def in_words(page: Page, *, within: str) -> list[str]:
    return page.locator(f"{within} .ro-token").all_inner_texts()


# Another language


def test_ratings_in_italian(task: Open) -> None:
    page = task("rating", {"scale": "CLSS", "language": "it"}, 2)
    expect(page.locator("main .ro")).to_have_attribute("lang", "it")
    expect(page.locator(".ro-progress")).to_have_text("Risposte date: 0 di 2.")
    submit(page)
    expect(boxes(page).nth(0).get_by_role("alert")).to_have_text("Dai un numero da 0 a 4, a passi di 0,25.")
    expect(page.locator(".ro-progress")).to_have_text("Non inviato: mancano 2 risposte.")
    boxes(page).nth(0).get_by_role("spinbutton").fill("2.25")
    expect(boxes(page).nth(0).locator(".ro-meaning")).to_have_text("Tra 2 e 3.")
    expect(page.locator(".ro-progress")).to_have_text("Punteggio 2,25. Risposte date: 1 di 2.")
    assert fields(page)["rating_1"] == "2.25"


def test_sorting_best_and_worst_orders_and_writing_in_italian(task: Open) -> None:
    page = task("sort-then-rate", {"scale": "STSS", "language": "it"}, 2)
    expect(page.get_by_role("heading", name="Schede da smistare")).to_be_visible()
    keys(page, "3")
    expect(page.locator(".ro-progress")).to_have_text("Nella pila 3. Smistate: 1 di 2.")
    page = task("best-worst", {"language": "it"}, 1)
    keys(page, "1", "1")
    expect(page.get_by_role("alert")).to_have_text(
        "La stessa coppia non può stare ai due estremi. Scegline un’altra per il minimo."
    )
    page = task("order", {"language": "it", "words": 3}, 1)
    page.get_by_role("button", name=re.compile("^Sposta giù: ")).nth(0).click()
    expect(page.locator(".ro-progress")).to_have_text(re.compile(r" è al numero 2\. Risposte date: 0 di 1\.$"))
    page = task("writing", {"language": "it"}, 1)
    expect(page.get_by_role("textbox", name="Il tuo testo (frase)")).to_be_visible()


# Ratings


def test_ratings_by_mouse(task: Open) -> None:
    page = task("rating", {"scale": "CLSS"}, 3)
    boxes(page).nth(0).get_by_role("button", name=re.compile("^3: ")).click()
    expect(boxes(page).nth(0).locator(".ro-meaning")).to_have_text(re.compile("^Nearly the same"))
    boxes(page).nth(1).get_by_role("spinbutton").fill("2.25")
    expect(boxes(page).nth(1).locator(".ro-meaning")).to_have_text("Between 2 and 3.")
    submit(page)
    assert not is_sent(page)
    expect(boxes(page).nth(2).get_by_role("alert")).to_have_text("Give this one a number, 0 to 4 in steps of 0.25.")
    expect(boxes(page).nth(2)).to_be_focused()
    expect(boxes(page).nth(0).get_by_role("alert")).to_be_hidden()
    expect(page.locator(".ro-progress")).to_have_text("Not sent: 1 answer is missing.")
    boxes(page).nth(2).get_by_text("I don’t know a word here").click()
    expect(boxes(page).nth(2).get_by_role("alert")).to_be_hidden()
    submit(page)
    expect_sent(page)
    assert fields(page) == {"rating_1": "3.00", "rating_2": "2.25", "unknown_3": "1"}


def test_ratings_by_slider(task: Open) -> None:
    page = task("rating", {"scale": "STSS", "sort_first": False}, 1)
    slide = boxes(page).get_by_role("slider")
    assert fields(page) == {}
    expect(slide).to_have_attribute("aria-valuetext", "not rated yet")
    slide.focus()
    keys(page, "ArrowRight", "ArrowRight")
    assert fields(page) == {"rating_1": "2.2"}
    expect(slide).to_have_attribute("aria-valuetext", "2.2, Between 2 and 3.")


def test_ratings_by_keys(task: Open) -> None:
    page = task("rating", {"scale": "STSS", "sort_first": False}, 4)
    keys(page, "3", "ArrowRight", "ArrowRight", "Enter", "0", "ArrowLeft", "ArrowDown", "u", "9", "4", "ArrowUp", "u")
    assert fields(page) == {"rating_1": "3.2", "rating_2": "0.0", "rating_4": "4.0"}
    keys(page, "1", "Enter")
    expect(boxes(page).nth(3)).to_be_focused()
    keys(page, "Enter")
    expect(page.locator("[type=submit]")).to_be_focused()
    keys(page, "Enter")
    expect_sent(page)
    assert fields(page) == {"rating_1": "3.2", "rating_2": "0.0", "rating_3": "1.0", "rating_4": "4.0"}


def test_a_number_that_is_typed_stays_what_was_typed(task: Open) -> None:
    page = task("rating", {"scale": "CLSS"}, 2)
    page.locator("#rating_1").click()
    page.keyboard.type("3.1")
    keys(page, "Enter")
    assert not is_sent(page), "Enter in the field goes on, and sends nothing"
    submit(page)
    expect(boxes(page).nth(0).get_by_role("alert")).to_have_text("A number here is 0 to 4 in steps of 0.25.")
    page.locator("#rating_1").fill("3.25")
    expect(boxes(page).nth(0).get_by_role("alert")).to_be_hidden()


def test_gold_pairs_are_rated_first(task: Open) -> None:
    gold = [{"first": "car", "second": "<i>auto</i>", "rating": 4}, {"first": "fig", "second": "law", "rating": 0}]
    page = task("rating", {"scale": "CLSS", "gold": gold}, 1)
    assert in_words(page, within=".ro-gold") == ["car", "<i>auto</i>", "fig", "law"]
    keys(page, "4", "Enter", "0", "Enter", "2", "Enter", "Enter")
    expect_sent(page)
    assert fields(page) == {"gold_1": "4.00", "gold_2": "0.00", "rating_1": "2.00"}


# Sort, then rate


def test_cards_are_sorted_and_rated_by_keys_alone(task: Open) -> None:
    page = task("sort-then-rate", {"scale": "STSS"}, 4)
    keys(page, "3", "0")
    submit(page)
    assert not is_sent(page)
    expect(page.get_by_text("Put this card into a pile.")).to_have_count(2)
    keys(page, "4", "u")
    expect(page.get_by_role("button", name="Rate the cards")).to_be_focused()
    submit(page)
    assert not is_sent(page), "sorted cards must be rated as well"
    expect(page.get_by_text("The cards are sorted. Now rate them.")).to_be_visible()
    page.get_by_role("button", name="Rate the cards").press("Enter")
    # The highest pile comes first; each card begins at its pile's value.
    keys(page, "ArrowLeft", "Enter", "ArrowRight", "ArrowRight", "Enter")
    page.locator("[type=submit]").press("Enter")
    expect_sent(page)
    assert fields(page) == {"rating_1": "3.2", "rating_2": "0.0", "rating_3": "3.9", "unknown_4": "1"}


def test_cards_are_dragged_into_piles_and_back(task: Open) -> None:
    page = task("sort-then-rate", {"scale": "STSS"}, 2, viewport={"width": 1280, "height": 1400})
    drag(page, page.locator(".ro-grip").nth(0), page.locator(".ro-zone").filter(has_text="Much of what"))
    drag(page, boxes(page).first.locator(".ro-texts"), page.locator(".ro-zone").filter(has_text="They mean the same"))
    expect(page.locator(".ro-zone").filter(has_text="Much of what").locator(".ro-comparison")).to_have_count(1)
    page.get_by_role("button", name="Rate the cards").click()
    assert fields(page) == {"rating_1": "2.0", "rating_2": "4.0"}
    slide = page.locator(".ro-comparison", has_text="ship").get_by_role("slider")
    assert (slide.get_attribute("min"), slide.get_attribute("max")) == ("1", "3")
    page.get_by_role("button", name="Back to sorting").click()
    drag(page, page.locator(".ro-grip").nth(0), page.locator(".ro-zone").first)
    expect(page.get_by_role("button", name="Rate the cards")).to_be_disabled()


def drag(page: Page, what: Locator, to: Locator) -> None:
    what.scroll_into_view_if_needed()
    start, end = what.bounding_box(), to.bounding_box()
    assert start
    assert end
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + 40, end["y"] + 20, steps=5)
    page.mouse.up()


def test_cards_are_sorted_on_a_phone(task: Open) -> None:
    page = task("sort-then-rate", {"scale": "STSS"}, 3, **PHONE)
    for name in ("Pile 1", "Pile 4"):
        page.locator(".ro-zone").first.get_by_role("button", name=re.compile(name)).first.tap()
    page.locator(".ro-zone").first.get_by_text("I don’t know a word here").first.tap()
    page.get_by_role("button", name="Rate the cards").tap()
    page.get_by_role("button", name="Submit").tap()
    expect_sent(page)
    assert fields(page) == {"rating_1": "1.0", "rating_2": "4.0", "unknown_3": "1"}


def test_a_card_that_is_known_after_all_is_sorted_again(task: Open) -> None:
    page = task("sort-then-rate", {"scale": "STSS"}, 1)
    keys(page, "u")
    page.get_by_label("I don’t know a word here").uncheck()
    expect(page.locator(".ro-zone").first.locator(".ro-comparison")).to_have_count(1)
    page.locator(".ro-comparison").get_by_role("button", name=re.compile("Pile 2")).click()
    page.get_by_role("button", name="Rate the cards").click()
    submit(page)
    assert fields(page) == {"rating_1": "2.0"}


# Best and worst


def test_best_and_worst_by_mouse(task: Open) -> None:
    page = task("best-worst", {}, 2)
    first, second = boxes(page).nth(0), boxes(page).nth(1)
    first.get_by_role("radio", name="Most related: ship and boat").check()
    first.get_by_role("radio", name="Least related: ship and boat").check()
    expect(first.get_by_role("alert")).to_have_text(re.compile("^The same one can’t be both"))
    assert fields(page) == {"worst_1": "1"}, "the last choice stands"
    submit(page)
    assert not is_sent(page)
    expect(first.get_by_role("alert")).to_have_text("Choose the most here.")
    expect(second.get_by_role("alert")).to_have_text("Choose the most and the least here.")
    first.get_by_role("radio", name="Most related: 🔥 and שלום").check()
    second.get_by_label("I don’t know a word here").check()
    submit(page)
    expect_sent(page)
    assert fields(page) == {"best_1": "4", "worst_1": "1", "unknown_2": "1"}


def test_best_and_worst_by_keys(task: Open) -> None:
    page = task("best-worst", {}, 3)
    keys(page, "3", "3", "1", "2", "4", "0")
    assert fields(page) == {"best_1": "3", "worst_1": "1", "best_2": "2", "worst_2": "4", "unknown_3": "1"}
    expect(page.locator("[type=submit]")).to_be_focused()
    boxes(page).nth(0).focus()
    keys(page, "4", "2")
    assert fields(page) == {"best_1": "4", "worst_1": "2", "best_2": "2", "worst_2": "4", "unknown_3": "1"}
    keys(page, "Control+1", "Alt+2")
    submit(page)
    expect_sent(page)


def test_a_tuple_may_have_fewer_items(task: Open) -> None:
    row = row_of("best-worst", {}, 2, filled=1) | {"tuple_1_token_a_4": "", "tuple_1_token_b_4": ""}
    page = task("best-worst", {}, 2, row=row)
    expect(boxes(page)).to_have_count(1)
    expect(page.locator(".ro-row")).to_have_count(3)
    keys(page, "4", "1", "2", "Enter")
    expect_sent(page)
    assert fields(page) == {"best_1": "1", "worst_1": "2"}


# Orders


def test_an_order_by_buttons_and_dragging(task: Open) -> None:
    page = task("order", {"words": 4}, 1, viewport={"width": 1000, "height": 1000})
    shown = in_words(page, within=".ro-words")
    submit(page)
    assert not is_sent(page), "the order that is shown at first is nobody's"
    expect(page.get_by_role("alert")).to_have_text("Put the words into your order, then tick “This is my order”.")
    page.get_by_role("button", name=f"Move up: {shown[2]}").click()
    page.get_by_role("button", name=f"Move up: {shown[2]}").click()
    assert in_words(page, within=".ro-words") == [shown[2], shown[0], shown[1], shown[3]]
    drag_row(page, 3, 1)
    assert in_words(page, within=".ro-words") == [shown[2], shown[3], shown[0], shown[1]]
    drag_row(page, 0, 3)
    assert fields(page) == {}
    page.get_by_label("This is my order").check()
    submit(page)
    expect_sent(page)
    assert fields(page) == {"order_1": "4 1 2 3"}


def drag_row(page: Page, at: int, to: int) -> None:
    """By its handle, to where another row is; past its middle."""
    grip, row = page.locator(".ro-grip").nth(at).bounding_box(), page.locator(".ro-row").nth(to).bounding_box()
    assert grip
    assert row
    page.mouse.move(grip["x"] + 10, grip["y"] + 10)
    page.mouse.down()
    page.mouse.move(grip["x"] + 10, row["y"] + row["height"] * (0.9 if to > at else 0.1), steps=5)
    page.mouse.up()


def test_an_order_by_keys(task: Open) -> None:
    page = task("order", {"words": 4}, 3, filled=2)
    expect(boxes(page)).to_have_count(2)
    keys(page, "ArrowDown", "Shift+ArrowDown", "Shift+ArrowDown", "ArrowUp", "1", "Enter")
    assert fields(page) == {"order_1": "3 2 1 4"}
    expect(boxes(page).nth(1).locator(".ro-row").first).to_be_focused()
    keys(page, "u")
    keys(page, "Enter")
    page.locator("[type=submit]").press("Enter")
    expect_sent(page)
    assert fields(page)["unknown_2"] == "1"
    assert "order_2" not in fields(page)


def test_a_shorter_order_keeps_the_places_of_the_batch(task: Open) -> None:
    row = row_of("order", {"words": 4}, 1) | {"order_1_word_2": ""}
    page = task("order", {"words": 4}, 1, row=row)
    keys(page, "ArrowDown", "ArrowDown", "1", "Enter")
    found = fields(page)["order_1"].split()
    assert sorted(found) == ["1", "3", "4"]


# Writing


def test_writing_asks_for_a_text_that_is_another_one(task: Open) -> None:
    page = task("writing", {"smaller": "phrase"}, 3)
    texts = [boxes(page).nth(n).get_by_label("Your phrase") for n in range(3)]
    texts[0].fill("   ")
    texts[1].fill(LONG.upper())
    submit(page)
    assert not is_sent(page)
    alerts = [boxes(page).nth(n).get_by_role("alert") for n in range(3)]
    expect(alerts[0]).to_have_text("Write a text here, or say that you can’t.")
    expect(alerts[1]).to_have_text("This is the text above. Write another one, in your own words.")
    expect(texts[0]).to_be_focused()
    page.keyboard.type("put off, u know")
    expect(alerts[0]).to_be_hidden()
    texts[1].fill("delayed again")
    boxes(page).nth(2).get_by_label("I can’t write one for this text").check()
    submit(page)
    expect_sent(page)
    assert fields(page) == {"text_1": "   put off, u know", "text_2": "delayed again", "unknown_3": "1"}


# All of them


@pytest.mark.parametrize("scheme", PAGES)
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_runs_over_the_edge(task: Open, scheme: str, colours: str, width: int) -> None:
    row = row_of(scheme, {}, 2)
    long = dict.fromkeys(list(row)[:2], LONG) | {list(row)[-1]: "W" * 100}
    page = task(scheme, {}, 2, row=row | long, viewport={"width": width, "height": 844}, color_scheme=colours)
    submit(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = page.locator(".ro button:visible, .ro label.ro-small:visible, .ro-table label:visible")
    sizes = small.evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert min(sizes, default=44) >= 43.5
    ground = page.locator(".ro").evaluate("page => getComputedStyle(page).backgroundColor")
    assert (int(re.findall(r"\d+", ground)[0]) < 50) == (colours == "dark")


@pytest.mark.parametrize("scheme", PAGES)
def test_texts_are_shown_as_they_are(task: Open, scheme: str) -> None:
    row = row_of(scheme, {}, 2)
    page = task(scheme, {}, 2)
    shown = [text.strip() for text in page.locator(".ro-token").all_inner_texts()]
    wanted = [text for name, text in row.items() if not name.startswith(("wanted", "anchor"))]
    assert shown == [text.strip() for text in wanted]
    assert page.locator(".ro-token b").count() == 0
    rtl = page.locator(".ro-token", has_text="שלום")
    assert set(rtl.evaluate_all("all => all.map(one => getComputedStyle(one).direction)")) <= {"rtl"}


@pytest.mark.parametrize("scheme", ["rating", "best-worst", "order", "writing"])
def test_who_knows_none_of_it_can_say_so(task: Open, scheme: str) -> None:
    page = task(scheme, {"sort_first": False}, 2, **PHONE)
    for box in boxes(page).all():
        box.locator(".ro-unknown").tap()
    page.get_by_role("button", name="Submit").tap()
    expect_sent(page)
    assert fields(page) == {"unknown_1": "1", "unknown_2": "1"}
