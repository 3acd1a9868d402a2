"""A page on paper: without the way through the app, and dark on light in both themes."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.server import Server
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser"), pytest.mark.release]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_printed_page_is_dark_on_light_and_has_no_side_bar(
    server: Server, visit: Callable[..., Visitor], scheme: str
) -> None:
    visitor = visit(server, color_scheme=scheme)
    visitor.open("scores?project=demo")
    expect(visitor.page.get_by_test_id("stSidebar")).to_be_visible()
    visitor.page.emulate_media(media="print", color_scheme=scheme)
    expect(visitor.page.get_by_test_id("stSidebar")).to_be_hidden()
    visitor.still()
    picture = Image.open(io.BytesIO(visitor.page.screenshot())).convert("L")
    light = sorted(picture.tobytes())
    assert light[len(light) // 2] > 200  # the ground
    assert light[0] < 60  # the words
