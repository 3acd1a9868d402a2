"""Fixtures of the browser tests: the app with its demo, one Chromium, and visitors whose faults fail the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.server import Server
from tests.browser.visitor import TIMEOUT_MS, Visitor

# Playwright's own 5 s are too few for what is drawn while another worker has the processors.
expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app on a fresh workspace, which holds the demo after its first start."""
    started = Server(tmp_path_factory.mktemp("browser") / "workspace")
    started.start()
    yield started
    started.kill()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """The app on a workspace of the test's own, not started yet."""
    mine = Server(tmp_path / "workspace")
    yield mine
    mine.kill()


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Callable[..., Visitor]]:
    """Opens tabs, each in a session of its own; at the end none of them may have met a fault."""
    visitors: list[Visitor] = []

    def make(server: Server, **options: Any) -> Visitor:
        # A finger that comes down while a page still glides to the next question only stops it.
        context = chromium.new_context(**{"reduced_motion": "reduce"} | options)
        visitors.append(Visitor(context.new_page(), server.url))
        return visitors[-1]

    yield make
    for visitor in visitors:
        visitor.page.context.close()
    assert [fault for visitor in visitors for fault in visitor.faults] == []
