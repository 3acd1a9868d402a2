"""The voters' page: its HTML, and how it works in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from core.errors import InputError
from core.platforms import render_preview, template
from core.questions.comparison_page import FIELDS, Example, Wording, standard_examples, suffixes

TOKENS = [
    "ship",
    "boat",
    "salt",
    "telecommunications infrastructure",
    "<b>bold</b>",
    "${left_b_1}",
    "R&D",
    "🔥",
    "שלום",
    "a",
    "b",
    "c",
]
SIDES = ("left_a", "left_b", "right_a", "right_b")
WIDE = dict.fromkeys((field + suffix for suffix in suffixes(3) for field in FIELDS), "Sprachen & 言語") | dict(
    zip(
        (f"{side}_{n}" for n in (1, 2, 3) for side in SIDES),
        (
            *("電気自動車", "充電器", "人工知能" * 12, "機械学習"),
            *("مدرسة عليا للهندسة", "مهندس", "חינוך", "מורה" * 25),
            *(
                "x" * 100,
                "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
                "W" * 100,
                "i",
            ),
        ),
        strict=True,
    )
)


def values(n_filled: int, n: int) -> dict[str, str]:
    """A batch's row with `n_filled` of `n` comparisons."""
    row = {}
    for at, suffix in enumerate(suffixes(n)):
        for place, field in enumerate(FIELDS):
            text = "Sea & <sky>" if field.startswith("area") else TOKENS[(4 * at + place) % len(TOKENS)]
            row[f"{field}{suffix}"] = text if at < n_filled else ""
    return row


class Tags(HTMLParser):
    """All tags with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("input", "meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


class TestHtml:
    @pytest.mark.parametrize("notion", ["relatedness", "similarity"])
    @pytest.mark.parametrize("ties_allowed", [True, False])
    @pytest.mark.parametrize("n", [1, 2, 20])
    @pytest.mark.parametrize("target", ["turkle", "mturk"])
    def test_structure(self, notion: str, ties_allowed: bool, n: int, target: str) -> None:
        page = template(n_comparisons=n, notion=notion, ties_allowed=ties_allowed, target=target)
        tags = Tags(page)
        assert tags.open == []
        assert not tags.named("form")
        assert len(tags.named("fieldset")) == len(tags.named("legend")) == n
        radios = tags.named("input")
        names = ["choice"] if n == 1 else [f"choice_{at}" for at in range(1, n + 1)]
        options = ["left", "right", "tie", "unknown"] if ties_allowed else ["left", "right", "unknown"]
        assert [(radio["name"], radio["value"]) for radio in radios] == [
            (name, option) for name in names for option in options
        ]
        assert all(radio["type"] == "radio" and "required" in radio for radio in radios)
        assert len(tags.named("label")) == len(radios)
        assert set(re.findall(r"\$\{(\w+)\}", page)) == {field + suffix for suffix in suffixes(n) for field in FIELDS}
        external = re.findall(r"(?:src|href|url)\s*[=(]\s*\S+|https?://\S+|@import", page)
        assert len(external) == (target == "mturk")
        assert ('<crowd-form answer-format="flatten-objects">' in page) == (target == "mturk")

    def test_the_variants_differ_by_a_wrapper_only(self) -> None:
        turkle, mturk = (
            template(n_comparisons=3, notion="similarity", ties_allowed=True, target=target)
            for target in ("turkle", "mturk")
        )
        assert turkle in mturk
        assert len(mturk) - len(turkle) < 200

    def test_it_fits_into_turkle(self) -> None:
        assert len(template(n_comparisons=30, notion="relatedness", ties_allowed=True)) < 64 * 1024

    def test_own_wording_is_text_not_markup(self) -> None:
        page = template(
            n_comparisons=1,
            notion="relatedness",
            ties_allowed=True,
            wording=Wording("<i>Closer</i> to ${x}?", "First & foremost.\n\nSecond\nline."),
        )
        assert "&lt;i&gt;Closer&lt;/i&gt; to &#x24;{x}?" in page
        assert "<p>First &amp; foremost.</p>\n<p>Second" in page

    def test_the_wording_follows_the_notion(self) -> None:
        related, similar = (
            template(n_comparisons=1, notion=notion, ties_allowed=True) for notion in ("relatedness", "similarity")
        )
        assert "Which two words are more related?" in related
        assert "similar" not in re.sub(r"<style>.*?</style>|<script>.*?</script>", "", related, flags=re.S)
        assert "more similar in meaning?" in similar
        assert "Both equally similar" in similar

    def test_examples_stand_between_the_instructions_and_the_first_comparison(self) -> None:
        examples = (
            Example(("<b>fig</b>", "${left_a_1}"), ("R&D", "fire 🔥"), "right", 'Say "so" & why.'),
            Example(("one", "two"), ("three", "four"), "tie"),
        )
        page = template(
            n_comparisons=2, notion="similarity", ties_allowed=True, wording=Wording("", "Read this.", examples)
        )
        assert Tags(page).open == []
        places = [
            page.index(text) for text in ("Read this.", "<summary>Examples</summary>", "With a keyboard", "<fieldset")
        ]
        assert places == sorted(places)
        text = re.sub(r"<[^>]+>", "", page[places[1] : places[2]])
        assert "Answer: R&amp;D and fire &#x1F525;. Say &quot;so&quot; &amp; why." in text
        assert "Answer: both equally." in text
        assert "&lt;b&gt;fig&lt;/b&gt; and &#x24;{left_a_1}" in text
        assert set(re.findall(r"\$\{(\w+)\}", page)) == {field + suffix for suffix in suffixes(2) for field in FIELDS}
        chosen = re.findall(r'class="ro-shown( ro-chosen)?"', page)
        assert chosen == ["", " ro-chosen", " ro-chosen", " ro-chosen"]

    def test_without_examples_there_is_no_place_for_them(self) -> None:
        page = template(n_comparisons=2, notion="similarity", ties_allowed=True)
        assert "<details" not in page

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_a_preview_in_one_scheme_asks_the_browser_for_none(self, scheme: str) -> None:
        page = template(n_comparisons=1, notion="relatedness", ties_allowed=True)
        shown = render_preview(page, values(1, 1), scheme=scheme)
        assert "prefers-color-scheme" in render_preview(page, values(1, 1))
        assert "prefers-color-scheme" not in shown
        assert f"color-scheme: {scheme};" in shown

    @pytest.mark.parametrize(
        ("wrong", "what"),
        [
            ({"n_comparisons": 0}, "at least one comparison"),
            ({"notion": "closeness"}, "relatedness, similarity"),
            ({"target": "toloka"}, "turkle or mturk"),
        ],
    )
    def test_refused(self, wrong: dict, what: str) -> None:
        with pytest.raises(InputError, match=what):
            template(**{"n_comparisons": 1, "notion": "relatedness", "ties_allowed": True, **wrong})

    def test_a_preview_lacks_values(self) -> None:
        page = template(n_comparisons=2, notion="relatedness", ties_allowed=True)
        with pytest.raises(InputError, match=r"left_b_2 *: no value|column left_b_2"):
            render_preview(page, {name: text for name, text in values(2, 2).items() if name != "left_b_2"})
        with pytest.raises(InputError, match="area_left_1"):
            render_preview(page, values(1, 1))

    def test_a_preview_of_a_short_task(self) -> None:
        page = template(n_comparisons=2, notion="relatedness", ties_allowed=True)
        row = {name: text for name, text in values(2, 2).items() if name.endswith("_1")}
        assert render_preview(page, row) == render_preview(page, row | dict.fromkeys(set(values(2, 2)) - set(row), ""))

    def test_a_preview_fills_in_text_once(self) -> None:
        page = render_preview("<p>${a} ${b}</p>", {"a": "${b}", "b": "<hr>"})
        assert "<p>&#x24;{b} &lt;hr&gt;</p>" in page


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio (WCAG 2.2, 1.4.3)."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_contrast(dark: bool) -> None:
    page = template(n_comparisons=1, notion="relatedness", ties_allowed=True)
    parts = re.findall(r"--ro-([a-z-]+): (#[0-9a-f]{6})", page)
    colour = dict(parts[len(parts) // 2 :] if dark else parts[: len(parts) // 2])
    assert len(colour) == 9
    for ink in ("ink", "soft", "fault"):
        for ground in ("page", "card", "pick-card"):
            assert contrast(colour[ink], colour[ground]) >= 4.5, (ink, ground)
    for mark in ("line", "pick", "focus"):
        for ground in ("page", "card"):
            assert contrast(colour[mark], colour[ground]) >= 3, (mark, ground)


@pytest.fixture
def show(chromium, tmp_path: Path) -> Iterator:
    """Open a preview of a task in a new page; faults of its script fail the test."""
    faults: list[str] = []
    contexts = []

    def open_page(n_filled=3, n=3, *, ties_allowed=True, examples=(), row=None, scheme=None, **context):
        file = tmp_path / "task.html"
        page_text = template(
            n_comparisons=n, notion="relatedness", ties_allowed=ties_allowed, wording=Wording("", "", examples)
        )
        shown = render_preview(page_text, row or values(n_filled, n), scheme=scheme)
        file.write_text(shown, encoding="utf-8")
        contexts.append(chromium.new_context(**{"reduced_motion": "reduce"} | context))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: faults.append(request.url) if not request.url.startswith("file:") else None)
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


def chosen(page) -> dict[str, str]:
    return page.evaluate("Object.fromEntries(new FormData(document.querySelector('form')))")


def sent(page) -> str:
    return page.locator("#sent").inner_text()


# The narrowest and the widest page, each in another scheme; what lies between waits for a release.
EDGES = [
    (320, "light"), (1100, "dark"),
    *(pytest.param(width, scheme, marks=pytest.mark.release) for width, scheme in (
        (320, "dark"), (360, "light"), (360, "dark"), (480, "light"), (480, "dark"), (1100, "light"),
    )),
]  # fmt: skip


@pytest.mark.browser
class TestBrowser:
    def test_by_keyboard(self, show) -> None:
        page = show(4, 4)
        for key in ("ArrowLeft", "ArrowRight", "ArrowDown", "0"):
            page.keyboard.press(key)
        assert chosen(page) == {"choice_1": "left", "choice_2": "right", "choice_3": "tie", "choice_4": "unknown"}
        assert page.evaluate("document.activeElement.type") == "submit"
        assert "4 of 4 answered. You can submit now" in page.locator("[role=status]").first.inner_text()
        page.keyboard.press("Enter")
        assert sent(page) == "A preview: nothing was sent."

    def test_by_digits_and_back(self, show) -> None:
        page = show(2, 2)
        page.keyboard.press("1")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("2")
        page.keyboard.press("3")
        assert chosen(page) == {"choice_1": "right", "choice_2": "tie"}

    def test_by_tab_and_space(self, show) -> None:
        page = show(1, 1)
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        assert chosen(page) == {"choice": "left"}

    def test_by_mouse(self, show) -> None:
        page = show()
        page.get_by_text("boat", exact=True).click()
        page.locator(".ro-comparison").nth(2).get_by_text("I don’t know a word here").click()
        assert chosen(page) == {"choice_1": "left", "choice_3": "unknown"}
        page.get_by_role("button", name="Submit").click()
        assert sent(page) == "", "a comparison is open, so the browser must not submit"
        page.keyboard.press("ArrowRight")
        assert chosen(page)["choice_2"] == "right"
        page.get_by_role("button", name="Submit").click()
        assert sent(page) != ""

    def test_mouse_then_keyboard_changes_the_comparison_clicked(self, show) -> None:
        page = show()
        page.locator(".ro-comparison").nth(1).locator(".ro-card").nth(0).click()
        page.keyboard.press("ArrowRight")
        assert chosen(page) == {"choice_2": "right"}

    def test_after_the_last_comparison_the_open_one_comes(self, show) -> None:
        page = show()
        page.locator(".ro-comparison").nth(2).locator(".ro-card").nth(0).click()
        page.keyboard.press("1")
        page.keyboard.press("2")
        assert chosen(page) == {"choice_1": "right", "choice_3": "left"}

    def test_empty_comparisons_are_gone_and_dont_block(self, show) -> None:
        page = show(2, 5)
        assert page.locator("fieldset").count() == 2
        assert [text.split()[:3] for text in page.locator("legend").all_inner_texts()] == [
            ["1", "of", "2"],
            ["2", "of", "2"],
        ]
        page.keyboard.press("1")
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        assert chosen(page) == {"choice_1": "left", "choice_2": "left"}
        assert sent(page) != ""

    def test_no_tie_where_none_is_allowed(self, show) -> None:
        page = show(2, 2, ties_allowed=False)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("3")
        assert chosen(page) == {}

    def test_keys_with_modifiers_and_held_keys_do_nothing(self, show) -> None:
        page = show()
        page.keyboard.press("Control+ArrowLeft")
        page.keyboard.press("Alt+1")
        page.keyboard.down("ArrowLeft")
        page.keyboard.down("ArrowLeft")
        page.keyboard.down("ArrowLeft")
        assert chosen(page) == {"choice_1": "left"}

    def test_tokens_are_shown_as_they_are(self, show) -> None:
        page = show()
        shown = page.locator(".ro-token").all_inner_texts()
        assert shown == TOKENS
        assert page.locator(".ro-token b").count() == 0
        assert page.locator(".ro-area").first.inner_text() == "Sea & <sky>"
        assert page.evaluate("getComputedStyle(document.querySelectorAll('.ro-token')[8]).direction") == "rtl"

    def test_names_for_a_screen_reader(self, show) -> None:
        page = show()
        group = page.get_by_role("group", name=re.compile("1 of 3.*Which two words are more related"))
        assert group.get_by_role("radio", name="Left pair: ship and boat").count() == 1
        assert group.get_by_role("radio", name=re.compile("^Right pair: salt and telecomm")).count() == 1
        assert group.get_by_role("radio", name="Both equally related").count() == 1
        assert page.locator("input[type=radio]").evaluate_all("all => all.every(one => one.labels.length === 1)")

    def test_no_side_is_marked_before_the_choice(self, show) -> None:
        page = show()
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(50)
        assert page.evaluate("document.activeElement.tagName") == "FIELDSET"
        left, right = page.locator(".ro-comparison").nth(1).locator(".ro-card").all()
        style = """card => {
            const style = getComputedStyle(card);
            return [style.borderColor, style.backgroundColor, style.outlineStyle, card.offsetWidth].join();
        }"""
        assert left.evaluate(style) == right.evaluate(style)

    @pytest.mark.parametrize(("width", "scheme"), EDGES)
    def test_nothing_runs_over_the_edge(self, show, width: int, scheme: str) -> None:
        page = show(3, 3, viewport={"width": width, "height": 700}, color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for card in page.locator(".ro-card, .ro-small").all():
            box = card.bounding_box()
            assert box["height"] >= 44
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        ground = page.evaluate("getComputedStyle(document.querySelector('.ro')).backgroundColor")
        red, green, blue = map(int, re.findall(r"\d+", ground)[:3])
        dark = luminance(f"#{red:02x}{green:02x}{blue:02x}") < 0.1
        assert dark == (scheme == "dark")

    def test_text_twice_as_large(self, show) -> None:
        page = show(3, 3, viewport={"width": 640, "height": 700})
        page.add_style_tag(content="html { font-size: 200% }")
        assert page.evaluate("document.documentElement.scrollWidth") <= 640

    @pytest.mark.parametrize("width", [360, pytest.param(1100, marks=pytest.mark.release)])
    def test_long_right_to_left_and_east_asian_tokens(self, show, width: int) -> None:
        page = show(3, 3, row=WIDE, viewport={"width": width, "height": 800})
        assert page.locator(".ro-token").all_inner_texts() == [WIDE[f"{side}_{n}"] for n in (1, 2, 3) for side in SIDES]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        # Every letter is inside its card: nothing is clipped, nothing runs over the frame.
        over = page.locator(".ro-card").evaluate_all(
            """cards => cards.filter(card => {
                const frame = card.getBoundingClientRect();
                const range = document.createRange();
                range.selectNodeContents(card.querySelector(".ro-pair"));
                return [...range.getClientRects()].some(box => box.left < frame.left || box.right > frame.right
                    || box.top < frame.top || box.bottom > frame.bottom);
            }).length"""
        )
        assert over == 0
        directions = page.locator(".ro-token").evaluate_all("all => all.map(one => getComputedStyle(one).direction)")
        assert directions == ["ltr"] * 4 + ["rtl"] * 4 + ["ltr"] * 4

    def test_by_touch_on_a_phone(self, show) -> None:
        page = show(3, 3, viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True)
        lower = page.get_by_role("radio", name="Lower pair: salt and telecommunications infrastructure")
        page.locator(".ro-card").filter(has=lower).tap()
        assert "Lower pair. 1 of 3 answered." in page.locator("[role=status]").first.inner_text()
        page.locator(".ro-comparison").nth(1).get_by_text("Both equally related").tap()
        page.locator(".ro-comparison").nth(2).get_by_text("I don’t know a word here").tap()
        page.get_by_role("button", name="Submit").tap()
        assert chosen(page) == {"choice_1": "right", "choice_2": "tie", "choice_3": "unknown"}
        assert sent(page) == "A preview: nothing was sent."

    def test_examples_are_open_on_a_computer_and_folded_on_a_phone(self, show) -> None:
        examples = standard_examples("relatedness", ties_allowed=True)
        for width, is_open in ((1100, True), (360, False)):
            page = show(2, 2, examples=examples, viewport={"width": width, "height": 800})
            assert page.locator("details").evaluate("details => details.open") == is_open
            assert page.locator(".ro-example").first.is_visible() == is_open
            page.locator("summary").focus()
            page.keyboard.press("Enter")
            page.keyboard.press("Space")
            page.keyboard.press("Enter")
            assert page.locator(".ro-example").first.is_visible() != is_open
            assert chosen(page) == {}, "keys on the heading answer nothing"
            page.keyboard.press("1")
            assert chosen(page) == {"choice_1": "left"}
            assert page.evaluate("document.documentElement.scrollWidth") <= width

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_the_focus_is_seen_wherever_it_is(self, show, scheme: str) -> None:
        examples = standard_examples("relatedness", ties_allowed=True)[:1]
        page = show(1, 1, examples=examples, color_scheme=scheme)
        seen = []
        for _ in range(3):
            page.keyboard.press("Tab")
            seen.append(
                page.evaluate(
                    """() => {
                        const focused = document.activeElement;
                        const style = getComputedStyle(focused.closest("label") || focused);
                        return [focused.localName, style.outlineStyle, parseFloat(style.outlineWidth) >= 2].join();
                    }"""
                )
            )
        assert seen == ["summary,solid,true", "input,solid,true", "input,solid,true"]

    @pytest.mark.release
    @pytest.mark.parametrize(("browser_has", "asked"), [("light", "dark"), ("dark", "light")])
    def test_a_preview_in_the_other_scheme(self, show, browser_has: str, asked: str) -> None:
        page = show(1, 1, scheme=asked, color_scheme=browser_has)
        ground = page.evaluate("getComputedStyle(document.querySelector('.ro')).backgroundColor")
        red, green, blue = map(int, re.findall(r"\d+", ground)[:3])
        assert (luminance(f"#{red:02x}{green:02x}{blue:02x}") < 0.1) == (asked == "dark")
