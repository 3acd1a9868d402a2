"""The whole way over a real Turkle: a batch goes in, voters answer it over HTTP, their votes come out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest
from turkle_server import PASSWORD, Browser, Turkle, running

from core.platforms import read_results, template, write_batch
from core.questions.comparison_page import Wording, standard_examples
from core.tables import KNOWN
from core.votes.classify import classify

pytest.importorskip("turkle", reason="needs the package turkle")

TEXTS = ["left_a", "left_b", "right_a", "right_b"]
# What breaks pages and CSV files: markup, template variables, quotes, emoji, a line end, right-to-left letters.
TOKENS = [
    '<b>fig</b> & "date"',
    "${right_a_1}",
    "it's",
    "fire 🔥",
    "two\nlines",
    "שלום",
    "AT&amp;T",
    "a,b;c",
    "=2+3",
    "été",
    "x y",
    "plain",
]


@pytest.fixture(scope="module")
def turkle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Turkle]:
    with running(tmp_path_factory.mktemp("turkle")) as turkle:
        yield turkle


def publish(turkle: Turkle, name: str, page: str, ballot: pd.DataFrame, voters: int) -> int:
    project = json.loads(
        turkle.api(
            "/api/projects/",
            {"name": name, "html_template": page, "filename": "template.html", "assignments_per_task": voters},
        )
    )
    batch = json.loads(
        turkle.api(
            "/api/batches/",
            {
                "name": name,
                "project": project["id"],
                "filename": "batch.csv",
                "assignments_per_task": voters,
                "csv_text": write_batch(ballot).decode("utf-8"),
            },
        )
    )
    return int(batch["id"])


def ballot() -> pd.DataFrame:
    """Five comparisons in three tasks, the last task short of one; every odd one flipped."""
    rows = []
    for at in range(5):
        texts = [TOKENS[(3 * at + step) % len(TOKENS)] for step in range(4)]
        rows.append(
            {
                "question_id": 100 + at,
                "task_id": f"b1-{at // 2 + 1}",
                "n": at % 2 + 1,
                "first": at,
                "second": at + 1,
                "flipped": bool(at % 2),
                "area_left": "R&D <x>",
                "area_right": "R&D <x>",
                **dict(zip(TEXTS, texts, strict=True)),
            }
        )
    return pd.DataFrame(rows)


@pytest.mark.release
def test_votes_come_back(turkle: Turkle) -> None:
    frame = ballot()
    batch = publish(
        turkle, "pairs", template(n_comparisons=2, notion="relatedness", ties_allowed=True), frame, voters=2
    )
    seen = []
    for name, choice in (("ada", "left"), ("bob", "tie")):
        turkle.api("/api/users/", {"username": name, "password": PASSWORD})
        # The browser of a real voter sends nothing for the comparison that the page's script removed.
        seen += Browser(turkle, name, PASSWORD).answer(
            batch,
            lambda page, choice=choice: {
                "choice_1": choice,
                **({"choice_2": "unknown"} if page.count('dir="auto"></bdi>') == 0 else {}),
            },
        )
    assert len(seen) == 6
    assert all('type="submit"' in page.lower() for page in seen)
    assert not any("${" in page.replace("&#x24;", "") for page in seen)
    assert any("&lt;b&gt;fig&lt;/b&gt;" in page for page in seen)

    _, whole = Browser(turkle, "admin", "adminpw").get(f"/admin/turkle/batch/{batch}/download/")
    file = read_results(whole, "results.csv")
    assert (file.platform, file.n_rows, file.n_unreadable, file.issues) == ("turkle", 6, 0, ())
    preview = classify(file.answers, frame, KNOWN.empty())
    assert {kind: n for kind, n in preview.counts().items() if n} == {"new": 6, "unknown": 4}
    rows = preview.rows
    for text in TEXTS:
        expected = frame.set_index("question_id")[text]
        assert (rows[text].to_numpy() == expected.loc[rows["question_id"].astype("int64")].to_numpy()).all()
    votes = rows[rows["kind"] == "new"]
    assert sorted(zip(votes["question_id"], votes["answer"], strict=True)) == [
        (question, answer) for question in (100, 102, 104) for answer in ("first", "tie")
    ]
    assert rows["submitted_at"].str.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ").all()

    # Turkle's API cuts its file short where it holds other than ASCII letters: what is there is right.
    from_api = read_results(turkle.api(f"/api/batches/{batch}/results/"), "results.csv")
    assert len(from_api.answers) < len(file.answers)
    assert from_api.n_unreadable == 1
    assert any("Download it again" in issue.message for issue in from_api.issues)
    assert set(from_api.answers["choice"]) <= {"left", "tie", "unknown"}


PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
EXAMPLES = standard_examples("relatedness", ties_allowed=True)


def by_mouse(page: Any, task: Any, n: int) -> None:
    """The left card of the first comparison, the right one of the second, and Turkle's own Submit button."""
    task.locator(".ro-card").nth(0).click()
    if n == 2:
        task.locator(".ro-card").nth(3).click()
    task.locator("[type=submit]").click()


def by_keys(page: Any, task: Any, n: int) -> None:
    """Without a single click: the page has the keys as soon as it is there, and ends on the Submit button."""
    for key in ("ArrowLeft", "ArrowRight")[:n]:
        page.keyboard.press(key)
    page.keyboard.press("Enter")


def by_touch(page: Any, task: Any, n: int) -> None:
    """On a phone: the examples are folded, nothing runs over the edge, and fingers reach everything."""
    assert task.locator("summary").is_visible()
    assert not task.locator(".ro-example").first.is_visible()
    assert task.locator("html").evaluate("html => html.scrollWidth - html.clientWidth") == 0
    assert task.locator(".ro-card").nth(0).get_by_role("radio", name=re.compile("^Upper pair: ")).count() == 1
    task.locator(".ro-card").nth(0).tap()
    if n == 2:
        task.locator(".ro-card").nth(3).tap()
    task.locator("[type=submit]").tap()


@pytest.mark.release
@pytest.mark.browser
@pytest.mark.parametrize(("way", "device"), [(by_mouse, {}), (by_keys, {}), (by_touch, PHONE)])
def test_a_voter_with_a_real_browser(turkle: Turkle, chromium: Any, way: Callable[..., None], device: dict) -> None:
    frame = ballot()
    page_text = template(n_comparisons=2, notion="relatedness", ties_allowed=True, wording=Wording("", "", EXAMPLES))
    batch = publish(turkle, way.__name__, page_text, frame, voters=1)
    context = chromium.new_context(**{"reduced_motion": "reduce"} | device)
    page = context.new_page()
    page.goto(f"{turkle.url}/login/")
    page.fill("[name=username]", "admin")
    page.fill("[name=password]", "adminpw")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "login" not in url)
    page.goto(f"{turkle.url}/batch/{batch}/accept_next_task/")
    for n_comparisons in (2, 2, 1):
        task = page.frame_locator("iframe")
        task.locator("fieldset").nth(n_comparisons - 1).wait_for()
        assert task.locator("fieldset").count() == n_comparisons
        assert task.locator("summary").inner_text() == "Examples"
        address = page.url
        way(page, task, n_comparisons)
        page.wait_for_url(lambda url, address=address: url != address)
    context.close()
    _, data = Browser(turkle, "admin", "adminpw").get(f"/admin/turkle/batch/{batch}/download/")
    rows = classify(read_results(data, "results.csv").answers, frame, KNOWN.empty()).rows
    assert list(rows["kind"]) == ["new"] * 5
    # Left in the first comparison of a task, right in the second, which is flipped.
    assert dict(zip(rows["question_id"], rows["answer"], strict=True)) == dict.fromkeys(range(100, 105), "first")


@pytest.mark.release
def test_a_single_comparison_and_mechanical_turks_variant(turkle: Turkle) -> None:
    frame = ballot().iloc[[0]]
    for target in ("turkle", "mturk"):
        page = template(n_comparisons=1, notion="similarity", ties_allowed=False, target=target)
        batch = publish(turkle, target, page, frame, voters=1)
        pages = Browser(turkle, "admin", "adminpw").answer(batch, lambda page: {"choice": "right"})
        assert len(pages) == 1
        _, data = Browser(turkle, "admin", "adminpw").get(f"/admin/turkle/batch/{batch}/download/")
        preview = classify(read_results(data, "results.csv").answers, frame, KNOWN.empty())
        assert list(zip(preview.rows["kind"], preview.rows["answer"], strict=True)) == [("new", "second")]
