"""The export page in a real browser: the zip as it is downloaded holds, replays, and its page is calm on a phone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.commands.recompute import replay_record
from core.dataset.files import read_dataset
from core.dataset.published import read_published
from core.store.projects.records import record_from
from tests.browser.server import Server
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser"), pytest.mark.release]


def test_the_zip_is_made_on_request_and_replays(server: Server, visit: Callable[..., Visitor]) -> None:
    visitor = visit(server)
    visitor.open("export?project=demo")
    published = read_published(visitor.publication())
    assert replay_record(record_from(published.files), published.dataset()).outcome in (
        "same",
        "last bits",
    )  # the demo was made on another machine
    page = visitor.download("Datasheet (page)")
    assert page == published.files["datasheet.html"]
    visitor.unfold("Single files and other formats")
    assert read_dataset(visitor.download("Dataset (Parquet)"))["score"].tolist() == (
        published.dataset()["score"].tolist()
    )
    visitor.check_no_error()


def test_the_datasheet_loads_nothing_and_fits_a_phone(server: Server, visit: Callable[..., Visitor]) -> None:
    visitor = visit(server)
    visitor.open("export?project=demo")
    visitor.publication()
    page = visitor.download("Datasheet (page)").decode("utf-8")
    asked = []
    for scheme, ground in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 27)")):
        browser = visitor.page.context.browser
        assert browser is not None
        sheet = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme=scheme)
        sheet.on("request", lambda request: asked.append(request.url))
        sheet.set_content(page)
        assert sheet.evaluate("document.documentElement.scrollWidth") == 390
        assert sheet.evaluate("getComputedStyle(document.body).backgroundColor") == ground
        sheet.close()
    assert asked == []
