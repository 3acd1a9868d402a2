"""Rounds over a real Turkle: batch and task page published, answered in a real browser, results taken in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from campaigns import make_project
from rounds_of_people import SMALL, round_id
from turkle_server import Turkle, running, sign_in

from core.platforms.round_files import write_round
from core.platforms.turkle import TurkleSite
from core.questions import round_kind
from core.questions.rating.scales import STSS
from core.questions.writing import task_page
from core.store import schema as t
from core.store.ballots.comparisons import read_shown
from core.store.ballots.drawing import draw_round
from tests.rounds_of_people import RATING, accept_answers, preview_answers, round_progress

pytest.importorskip("turkle", reason="needs the package turkle")

VOTERS = ("anna",)


@pytest.fixture(scope="module")
def turkle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Turkle]:
    with running(tmp_path_factory.mktemp("turkle"), voters=VOTERS) as turkle:
        yield turkle


def answer_all(page: Any, turkle: Turkle, batch: int, name: str, keys: dict[str, tuple[str, ...]], scheme: str) -> int:
    """Sign in and answer every task by keys; how many tasks there were."""
    sign_in(page, turkle, name)
    page.goto(f"{turkle.url}/batch/{batch}/accept_next_task/")
    n = 0
    while "/task/" in page.url:
        task, address = page.frame_locator("iframe"), page.url
        task.locator(".ro-progress").wait_for()
        page.wait_for_timeout(200)
        for number in range(task.locator("fieldset").count()):
            if scheme == "order" and number == 0:
                page.keyboard.press("ArrowDown")  # to the first word
            for key in keys[scheme]:
                page.keyboard.press(key)
        if scheme == "sort-then-rate":
            page.keyboard.press("Enter")  # on the button that begins the rating
            task.locator("[type=submit]").click()
        else:
            page.keyboard.press("Enter")
        page.wait_for_url(lambda url, address=address: url != address)
        n += 1
    return n


KEYS = {
    "rating": ("2", "ArrowRight", "Enter"),
    "sort-then-rate": ("3",),
    "best-worst": ("2", "4"),
    "order": ("Shift+ArrowDown", "Enter"),
}
ANSWERS = {"rating": {"2.25"}, "sort-then-rate": {"3"}, "best-worst": {"best=2;worst=4"}, "order": {"2 1 3", "2 1"}}


@pytest.mark.release
@pytest.mark.browser
@pytest.mark.parametrize("way", ["rating", "sort-then-rate", "best-worst", "order"])
def test_from_the_batch_to_the_answers(store, turkle: Turkle, chromium: Any, way: str) -> None:
    scheme = RATING if way == "sort-then-rate" else way
    settings = SMALL[scheme]
    if way == "sort-then-rate":
        settings = replace(settings, scale=STSS)
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, settings)
    ballot_id = round_id(store, project_id)
    batch = write_round(read_shown(store, project_id, ballot_id), round_kind(scheme), ascii_only=True)
    page = task_page(scheme, settings.stored(), task_size=int(read_shown(store, project_id, ballot_id)["n"].max()))
    number = TurkleSite(turkle.url, turkle.token).publish(way, page, batch.decode()).batch
    context = chromium.new_context(reduced_motion="reduce")
    tab = context.new_page()
    tab.set_default_timeout(8000)
    n_tasks = answer_all(tab, turkle, number, VOTERS[0], KEYS, way)
    context.close()
    results = turkle.api(f"/api/batches/{number}/results/")
    found = preview_answers(store, project_id, results, "results.csv", ballot_id=ballot_id)
    accept_answers(store, project_id, results, "results.csv", found=found, ballot_id=ballot_id)
    progress = round_progress(store, ballot_id)
    with store.read() as conn:
        given = conn.execute(sa.select(t.judgement.c.answer)).scalars().all()
        n_questions = conn.execute(sa.select(sa.func.count()).select_from(t.question)).scalar_one()
    assert n_tasks == len(batch.decode().splitlines()) - 1
    assert progress.answered == len(given) == n_questions
    assert set(given) <= ANSWERS[way]
