"""Task pages of other schemes: their HTML, settings and qualification. `browser/test_scheme_pages.py` works on them."""

from __future__ import annotations

import re

import pytest
from test_template import Tags

from core.errors import InputError
from core.platforms.answer_files import read_gold
from core.questions.rating.kind import read_qualification
from core.questions.rating.scales import STSS
from core.questions.task_page import columns_of, scale_of
from core.questions.writing import page_settings, task_page
from tests.rounds_of_people import PAGES

GOLD = [{"first": f"one {n}", "second": "<two>", "rating": n} for n in range(5)]
FIELDS = {
    "rating": ["rating_{n}", "unknown_{n}"],
    "sort-then-rate": ["rating_{n}", "unknown_{n}"],
    "best-worst": [*["best_{n}", "worst_{n}"] * 4, "unknown_{n}"],
    "order": ["order_{n}", "unknown_{n}"],
    "writing": ["text_{n}", "unknown_{n}"],
}


@pytest.mark.parametrize("scheme", PAGES)
@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("target", ["turkle", "mturk"])
def test_structure(scheme: str, n: int, target: str) -> None:
    settings = {"words": 6}
    page = task_page(scheme, settings, task_size=n, target=target)
    tags = Tags(page)
    assert tags.open == []
    assert not tags.named("form")
    named = [tag for name in ("input", "textarea") for tag in tags.named(name) if tag.get("name")]
    wanted = [field.format(n=at) for at in range(1, n + 1) for field in FIELDS[scheme]]
    assert sorted(str(tag["name"]) for tag in named) == sorted(wanted)
    assert len(tags.named("fieldset")) == len(tags.named("legend")) == n
    assert set(re.findall(r"\$\{(\w+)\}", page)) == set(columns_of(page_settings(scheme, settings), n))
    external = re.findall(r"(?:src|href|url)\s*[=(]\s*\S+|https?://\S+|@import", page)
    assert len(external) == (target == "mturk")


@pytest.mark.parametrize("scheme", PAGES)
def test_own_wording_is_text_not_markup(scheme: str) -> None:
    own = {"question": "<i>How</i> ${x}?", "instructions": "First & foremost.\n\nSecond {adjective}", "smaller": "<b>"}
    page = task_page(scheme, own, task_size=1)
    assert "&lt;i&gt;How&lt;/i&gt; &#x24;{x}?" in page
    assert "<p>First &amp; foremost.</p>\n<p>Second {adjective}</p>" in page
    assert "<i>" not in page
    assert "<b></label>" not in page


def test_an_own_scale_with_markup_in_its_anchors() -> None:
    scale = {"low": 1, "high": 7, "step": 1, "anchors": [[1, "<script>alert(1)</script>"], [7, "${token_a_1} & all"]]}
    page = task_page("rating", {"scale": scale}, task_size=1)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&#x24;{token_a_1} &amp; all" in page
    assert page.count("<script") == 1
    assert 'min="1" max="7" step="1"' in page


def test_the_notion_chooses_the_words() -> None:
    for scheme in ("rating", "best-worst", "order"):
        pages = [task_page(scheme, {"notion": notion}, task_size=1) for notion in ("relatedness", "similarity")]
        texts = [re.sub(r"<style>.*?</style>|<script>.*?</script>", "", page, flags=re.S) for page in pages]
        assert "similar" not in texts[0]
        assert "related" not in texts[1]


def test_gold_pairs_come_first_and_without_their_ratings() -> None:
    gold = [{"first": "car", "second": "auto", "rating": 3.75}, {"first": "R&D", "second": "fig", "rating": 0.25}]
    page = task_page("rating", {"scale": "CLSS", "gold": gold}, task_size=2)
    names = [str(tag["name"]) for tag in Tags(page).named("input") if tag.get("type") == "number"]
    assert names == ["gold_1", "gold_2", "rating_1", "rating_2"]
    assert "3.75" not in page
    assert "R&amp;D" in page


@pytest.mark.parametrize(
    ("given", "passed", "within"),
    [
        ({f"gold_{n}": str(n - 1) for n in range(1, 6)}, True, 5),
        ({f"Answer.gold_{n}": f"{max(0, n - 2)}" for n in range(1, 6)}, True, 5),  # each a point too low: still within
        ({"gold_1": "1,5", "gold_2": "1", "gold_3": "2", "gold_4": "3", "gold_5": "4"}, False, 4),
        ({"gold_1": "0", "gold_2": "1", "gold_3": "2", "gold_4": "3"}, False, 4),
        ({"gold_1": "0", "gold_2": "1", "gold_3": "2", "gold_4": "3", "gold_5": "4.1"}, False, 4),  # off the scale
    ],
)
def test_qualification(given: dict[str, str], passed: bool, within: int) -> None:
    found = read_qualification(given, {"scale": "STSS", "gold": GOLD})
    assert (found.passed, found.n_within, found.n) == (passed, within, 5)


def test_without_gold_nobody_qualifies() -> None:
    with pytest.raises(InputError, match="no gold pairs"):
        read_qualification({}, {"scale": "STSS"})


def test_gold_is_read_from_a_result_file() -> None:
    stored = {"scale": "STSS", "gold": GOLD[:2]}
    data = (
        b"AssignmentId,WorkerId,Answer.gold_1,Answer.gold_2,Answer.rating_1\n"
        b"a1,W1,0.4,1.9,3\na2,W2,0.4,2.1,3\na3,W1,4,4,3\na4,W3,,1,2\na5,,0,1,2\n"
    )
    found = read_gold(data, "results.csv", stored)
    assert [(one.voter, one.result.passed, one.result.n_within, one.missing) for one in found] == [
        ("W1", True, 2, 0), ("W2", False, 1, 0), ("W3", False, 1, 1),
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"Answer.gold_3"):
        read_gold(data, "results.csv", {"scale": "STSS", "gold": GOLD[:3]})
    with pytest.raises(InputError, match="says nothing of the gold pairs"):
        read_gold(data, "results.csv", {"scale": "STSS"})


def test_a_scale_as_json_keeps_it() -> None:
    stored = {"name": "own", "low": 0, "high": 4, "step": 0.1, "anchors": [[a.value, a.text] for a in STSS.anchors]}
    assert scale_of(stored).values == STSS.values
    assert scale_of(stored).anchors == STSS.anchors
    assert scale_of("STSS") is STSS


def test_sorting_first_is_a_matter_of_the_scale_or_of_a_flag() -> None:
    asked = [{"scale": "STSS"}, {"scale": "CLSS"}, {"scale": "STSS", "sort_first": False}, {"sort_first": True}]
    found = [page_settings("rating", settings).scheme for settings in asked]
    assert found == ["sort-then-rate", "rating", "rating", "sort-then-rate"]


@pytest.mark.parametrize(
    ("scheme", "wrong", "what"),
    [
        ("ranking", {}, "no task page for the scheme 'ranking'"),
        ("rating", {"notion": "closeness"}, "relatedness, similarity"),
        ("rating", {"scale": "Likert"}, "no scale 'Likert'"),
        ("rating", {"scale": {"low": 0}}, "low, high and step"),
        ("rating", {"scale": {"low": 0, "high": 1, "step": 0.3}}, "don't lead"),
        ("sort-then-rate", {"scale": {"low": 0, "high": 1, "step": 0.5}}, "fewer than two anchors"),
        ("rating", {"gold": [{"first": "a"}]}, "first, second and rating"),
        ("rating", {"gold": [{"first": "a", "second": "b", "rating": 9}]}, "off the scale"),
        ("rating", {"gold": GOLD * 3}, "10 pairs are the most"),
        ("rating", {"tolerance": -1}, "points of the scale"),
        ("best-worst", {"size": 2}, "between 3 and 50"),
        ("order", {"words": "six"}, "between 2 and 50"),
    ],
)
def test_refused(scheme: str, wrong: dict, what: str) -> None:
    with pytest.raises(InputError, match=what):
        task_page(scheme, wrong, task_size=1)


def test_all_faults_are_named_at_once() -> None:
    with pytest.raises(InputError) as found:
        page_settings("best-worst", {"notion": "x", "size": 1, "tolerance": "y"})
    assert {issue.column for issue in found.value.issues} == {"notion", "size", "tolerance"}


@pytest.mark.parametrize(("size", "target"), [(0, "turkle"), (1, "toloka")])
def test_a_page_of_nothing_or_for_nobody(size: int, target: str) -> None:
    with pytest.raises(InputError):
        task_page("order", {}, task_size=size, target=target)
