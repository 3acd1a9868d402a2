"""One ballot by the pages alone: it is planned, drawn, looked at, tried, answered in part, and topped up."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import FrameLocator, expect

from core.store import open_store
from core.store.ballots.ballot_rows import unanswered
from tests.browser.server import Server
from tests.browser.visitor import Visitor
from tests.campaigns import answer_batch, longer_pair, make_project

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser"), pytest.mark.release]

UPLOAD = "Result files of Turkle, Mechanical Turk's format, Label Studio, Potato, Toloka, Appen, or any table"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def test_a_ballot_is_planned_drawn_looked_at_tried_and_topped_up(server: Server, visit: Callable[..., Visitor]) -> None:
    project_id = make_project(open_store(server.workspace), plan=None)
    visitor = visit(server)
    visitor.open(f"plan?project={project_id}")
    plan(visitor)
    visitor.go("Collect")
    visitor.press("Draw ballot 1")
    visitor.says("Ballot 1 of 2 is open: 0 of 42 comparisons have a vote.")
    visitor.check("Turkle")
    batch = visitor.download("Batch (CSV)")
    look_at_tasks(visitor, tasks_of(batch))
    try_it(visitor)
    visitor.page.reload()
    visitor.ready()
    visitor.says("Ballot 1 of 2 is open: 0 of 42 comparisons have a vote.")  # a trial counts for nothing
    visitor.check("Turkle")
    top_up(visitor, server, project_id, batch)
    visitor.check_no_error()


def plan(visitor: Visitor) -> None:
    """Two ballots, tasks of three, the standard examples, and a wage to reach."""
    for label, text in (("Ballots, n_b", "2"), ("Appearances, M", "4"), ("Comparisons per task", "3"), ("Voters", "6")):
        visitor.fill(label, text)
    visitor.check("Checks in the ballots")  # off: each task has three comparisons, no more
    visitor.fill("Wage to reach, per hour", "60")
    visitor.says("A task of 3 comparisons at 6 s each needs a reward of 0.30; it is 0.25.")
    visitor.press("Set the reward to 0.30")
    visitor.says("which reaches it.")
    visitor.unfold("What voters read")
    visitor.press("Fill in the standard examples")
    visitor.press("Save this plan")
    visitor.says("The plan is saved.")


def tasks_of(batch: bytes) -> list[dict[str, str]]:
    rows = csv.DictReader(io.StringIO(batch.decode("utf-8")))
    return [{name: html.unescape(value) for name, value in row.items()} for row in rows]


def look_at_tasks(visitor: Visitor, tasks: list[dict[str, str]]) -> None:
    """The preview shows the batch's tasks one by one, on a phone and in the dark as well."""
    with visitor.a_run():
        visitor.unfold("See a task as voters see it")
    task = visitor.page.frame_locator("iframe[title^='Task ']")
    expect(task.get_by_role("heading", level=1)).to_have_text("Which two words are more related?")
    expect(task.locator("summary")).to_have_text("Examples")
    expect(task.locator(".ro-token")).to_have_text(in_file(tasks[0]))
    visitor.press("Next")
    expect(visitor.page.locator("iframe[title='Task 2 of the ballot']")).to_be_visible()
    task = visitor.page.frame_locator("iframe[title='Task 2 of the ballot']")
    expect(task.locator(".ro-token")).to_have_text(in_file(tasks[1]))
    light = ground(task)
    visitor.choose("Dark")
    expect(task.locator(".ro")).to_have_css("color-scheme", "dark")
    visitor.choose("Phone")
    expect(task.get_by_role("radio", name=re.compile("^Upper pair: ")).first).to_be_visible()
    assert ground(task) < 50 < light
    assert task.locator("html").evaluate("html => html.scrollWidth - html.clientWidth") == 0


def in_file(row: dict[str, str]) -> list[str]:
    return [row[f"{place}_{n}"] for n in (1, 2, 3) for place in ("left_a", "left_b", "right_a", "right_b")]


def ground(task: FrameLocator) -> int:
    """How light the page's ground is, 0 to 255."""
    colour = task.locator(".ro").evaluate("page => getComputedStyle(page).backgroundColor")
    return int(re.findall(r"\d+", colour)[0])


def try_it(visitor: Visitor) -> None:
    """Twenty comparisons by keys alone, from the first to the last: six whole tasks and a shorter one."""
    with visitor.a_run():
        visitor.unfold("Try it yourself")
    visitor.main.get_by_role("button", name="Begin").press("Enter")
    for number in range(1, 8):
        frame = visitor.page.locator(f"iframe[title='Trial: task {number} of 7']")
        task = frame.content_frame
        n = 3 if number < 7 else 2
        expect(task.locator("fieldset")).to_have_count(n)
        expect(task.locator("[role=status]").first).to_have_text(f"0 of {n} answered.")
        # The keys go to the new page by themselves, and are listened to once it is loaded.
        page = frame.element_handle().content_frame()
        page.wait_for_load_state("load")
        page.wait_for_function("document.hasFocus()")
        for key in ("ArrowLeft", "ArrowDown", "0")[:n]:
            visitor.page.keyboard.press(key)
        expect(task.locator("[type=submit]")).to_be_focused()
        visitor.page.keyboard.press("Enter")
    visitor.says("You answered 20 comparisons. Nothing was counted.")
    visitor.says(re.compile(r"Equal\D*7\D"))
    visitor.says(re.compile(r"Unknown words\D*6\D"))
    visitor.press("Try other comparisons")
    expect(visitor.main.get_by_role("button", name="Begin")).to_be_visible()


def top_up(visitor: Visitor, server: Server, project_id: str, batch: bytes) -> None:
    """What two voters left open comes again, and nothing else; its answers complete the ballot."""
    asked = iter(range(1000))
    results = answer_batch(batch, choose=lambda task: "unknown" if next(asked) % 4 == 1 else longer_pair(task))
    take(visitor, "most.csv", results)
    visitor.says("Ballot 1 of 2 is open: 31 of 42 comparisons have a vote.")
    missing = visitor.download("Top-up batch (CSV)")
    whole, again = ({row["task_id"]: row for row in tasks_of(data)} for data in (batch, missing))
    open_places = [(at // 3, at % 3 + 1) for at in range(42) if at % 4 == 1]
    codes = list(whole)
    filled = [
        (codes.index(code), n) for code, row in again.items() for n in (1, 2, 3) if any(in_file(row)[4 * n - 4 : 4 * n])
    ]
    assert filled == open_places
    assert len(unanswered(open_store(server.workspace), project_id, 1)) == len(open_places) == 11
    for code, row in again.items():
        assert all(value in ("", whole[code][name]) for name, value in row.items())
    take(visitor, "rest.csv", answer_batch(missing, voters=("W7", "W8", "W9"), tag="B"))
    visitor.says("Ballot 1 of 2 is open: 42 of 42 comparisons have a vote.")
    expect(visitor.main.get_by_role("button", name="Top-up batch (CSV)")).to_have_count(0)
    visitor.press("Close ballot 1")
    visitor.says("Ballot 1 is closed")


def take(visitor: Visitor, name: str, results: bytes) -> None:
    visitor.upload(UPLOAD, name, results)
    visitor.press("Accept these votes")
    visitor.says(f"{name} is accepted")


def test_a_trial_on_a_phone(server: Server, visit: Callable[..., Visitor]) -> None:
    visitor = visit(server, **PHONE)
    visitor.open("collect?project=demo-open")
    with visitor.a_run():
        visitor.main.get_by_text("Try it yourself").tap()
    visitor.main.get_by_role("button", name="Begin").tap()
    for number in (1, 2):
        frame = visitor.page.locator(f"iframe[title='Trial: task {number} of 2']")
        task = frame.content_frame
        expect(task.locator("fieldset")).to_have_count(10)
        frame.element_handle().content_frame().wait_for_load_state("load")
        visitor.still()  # the box grows with the task in it
        for comparison in task.locator("fieldset").all():
            card = comparison.locator(".ro-card").nth(number - 1)
            card.tap()
            expect(card.locator("input")).to_be_checked()
        task.get_by_role("button", name="Submit").tap()
    visitor.says("You answered 20 comparisons. Nothing was counted.")
    visitor.says(re.compile(r"Left, right\D*10, 10"))
    wider = visitor.page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth")
    assert wider == 0
