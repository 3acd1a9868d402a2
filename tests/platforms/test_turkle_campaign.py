"""A campaign over a real Turkle by our own client: published, voted on in a real browser, fetched, imported, scored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from campaigns import PLAN, longer_pair, make_project
from turkle_server import Browser, Turkle, running, sign_in

from core.errors import PlatformError
from core.platforms.turkle import TurkleSite
from core.store import Store
from core.store.ballots.ballot_rows import read_ballots
from core.store.ballots.drawing import draw_next_ballot
from core.store.projects.plans import PlanSettings
from core.store.scores.project_dataset import read_ballot_scores
from core.store.tokens.areas import read_items
from core.store.votes.intake import accept_upload, preview_upload
from core.store.votes.publications import fetch_from_turkle, finished_there, publish_on_turkle
from core.views.collect import tasks
from core.views.collect.collect_page import outgoing

pytest.importorskip("turkle", reason="needs the package turkle")

PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
SMALL = PlanSettings(n_ballots=2, keep=0.5, appearances=2, task_size=4, n_voters=3, seed=3)
# Turkle writes names into its results, and letters outside ASCII are what its interface stumbles over.
VOTERS = {"mouse-zoë": {}, "keys-ünal": {}, "phone-łukasz": PHONE}
Vote = tuple[frozenset[str], frozenset[str], str]


@pytest.fixture(scope="module")
def turkle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Turkle]:
    with running(tmp_path_factory.mktemp("turkle"), voters=VOTERS) as turkle:
        yield turkle


def published(store: Store, turkle: Turkle, *, voters: int, plan: PlanSettings = SMALL):
    """A project with an open ballot, published by our client."""
    project_id = make_project(store, plan=plan)
    draw_next_ballot(store, project_id)
    ballot = read_ballots(store, project_id)[0]
    pages = tasks.load(store, ballot, plan, "relatedness")
    out = outgoing(store, project_id, ballot, pages)
    site = TurkleSite(turkle.url, turkle.token)
    return project_id, publish_on_turkle(store, project_id, site, out, name="Tiere – größer", assignments=voters)


def vote_on_all(page: Any, turkle: Turkle, name: str, batch: int) -> list[Vote]:
    """Sign in and answer every task there is, by the hand that the name says; what was seen and chosen."""
    sign_in(page, turkle, name)
    page.goto(f"{turkle.url}/batch/{batch}/accept_next_task/")
    votes: list[Vote] = []
    while "/task/" in page.url:
        task = page.frame_locator("iframe")
        task.locator(".ro-progress").wait_for()
        address = page.url
        for comparison in task.locator("fieldset").all():
            texts = [text.inner_text() for text in comparison.locator(".ro-token").all()]
            shown = dict(zip(("left_a", "left_b", "right_a", "right_b"), texts, strict=True))
            choice = longer_pair(shown)
            votes.append((frozenset(texts[:2]), frozenset(texts[2:]), choice))
            answer(page, comparison, name, choice)
        submit = task.locator("[type=submit]")
        if name.startswith("keys"):
            page.keyboard.press("Enter")
        elif name.startswith("phone"):
            assert task.locator("html").evaluate("html => html.scrollWidth - html.clientWidth") == 0
            submit.tap()
        else:
            submit.click()
        page.wait_for_url(lambda url, address=address: url != address)
    return votes


def answer(page: Any, comparison: Any, name: str, choice: str) -> None:
    if name.startswith("keys"):
        page.keyboard.press({"left": "ArrowLeft", "right": "ArrowRight", "tie": "ArrowDown"}[choice])
        return
    place = {"left": ".ro-card >> nth=0", "right": ".ro-card >> nth=1", "tie": ".ro-small >> nth=0"}[choice]
    card = comparison.locator(place)
    if name.startswith("phone"):
        card.tap()
    else:
        card.click()


def check_scores(store: Store, project_id: str, votes: list[Vote]) -> None:
    """The tallies and x of every item, against points counted from what voters saw and chose."""
    points: dict[frozenset[str], list[float]] = {}
    for left, right, choice in votes:
        gain = {"left": 1.0, "right": 0.0, "tie": 0.5}[choice]
        points.setdefault(left, []).append(gain)
        points.setdefault(right, []).append(1 - gain)
    items = read_items(store, project_id).set_index("item")
    scores = read_ballot_scores(store, project_id)
    assert len(scores) == len(items)
    for row in scores.itertuples():
        gains = points[frozenset((items.loc[row.item, "token_a"], items.loc[row.item, "token_b"]))]
        assert (row.wins + row.ties / 2, row.wins + row.ties + row.losses) == (sum(gains), len(gains))


@pytest.mark.browser
@pytest.mark.release
def test_three_voters_in_a_real_browser(store: Store, turkle: Turkle, chromium: Any) -> None:
    project_id, there = published(store, turkle, voters=3)
    assert (there.n_tasks, there.assignments) == (6, 3)
    assert finished_there(store, project_id, there.id, turkle.token) == (0, 18)
    votes: list[Vote] = []
    for number, (name, device) in enumerate(VOTERS.items(), 1):
        context = chromium.new_context(**{"reduced_motion": "reduce"} | device)
        seen = vote_on_all(context.new_page(), turkle, name, there.batch)
        context.close()
        assert len(seen) == 21
        votes += seen
        data = fetch_from_turkle(store, project_id, there.id, turkle.token)
        counts = accept_upload(store, project_id, data, there.filename).counts
        assert counts == {"new": 21} | ({"known": 21 * (number - 1)} if number > 1 else {})
        check_scores(store, project_id, votes)
    assert finished_there(store, project_id, there.id, turkle.token) == (18, 18)
    again = fetch_from_turkle(store, project_id, there.id, turkle.token)
    preview = preview_upload(store, project_id, again, there.filename)
    assert preview.counts == {"known": 63}
    assert not preview.issues
    # What Turkle's own length would have left of it: a cut row, which our client doesn't take.
    believed = turkle.api(f"/api/batches/{there.batch}/results/")
    assert len(believed) < len(again)
    assert again.startswith(believed)


@pytest.mark.release
def test_what_we_publish_is_never_cut(store: Store, turkle: Turkle) -> None:
    """With voters whose names are ASCII the whole file is, so that even a server that cuts by itself can't."""
    project_id, there = published(store, turkle, voters=1, plan=PLAN)
    Browser(turkle, "admin", "adminpw").answer(there.batch, lambda page: {f"choice_{n}": "left" for n in (1, 2, 3)})
    believed = turkle.api(f"/api/batches/{there.batch}/results/")
    assert believed.isascii()
    assert "caf&#xE9;" in believed.decode()
    assert believed == fetch_from_turkle(store, project_id, there.id, turkle.token)
    assert accept_upload(store, project_id, believed, there.filename).counts == {"new": 42}


@pytest.mark.release
def test_a_wrong_token_and_a_template_that_is_refused(turkle: Turkle) -> None:
    with pytest.raises(PlatformError, match="doesn't accept the token"):
        TurkleSite(turkle.url, "0" * 40).publish("x", "<input>", "a\n1\n")
    site = TurkleSite(turkle.url, turkle.token)
    with pytest.raises(PlatformError, match=r"refuses this \(400\)"):
        site.publish("x", "<p>no field</p>", "a\n1\n")
    with pytest.raises(PlatformError, match=r"missing fields.*left_a.*is there now, without a batch"):
        site.publish("x", "<input>${left_a}", "a\n1\n")
    with pytest.raises(PlatformError, match="no such page"):
        site.results(999_999)
    with pytest.raises(PlatformError, match="another page"):
        TurkleSite(turkle.url + "/admin", turkle.token).finished(1)
