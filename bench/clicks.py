"""What a visitor waits for, measured in Chromium: the first start, and a click on each page of the demo."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, sync_playwright

from bench.table import Line, duration
from tests.browser.server import CHROMIUM_ARGUMENTS, Server, find_chromium
from tests.browser.visitor import TITLES, Visitor

LIMIT = 0.3  # seconds a click may take
ROUNDS = 9
# From the click on a link of the navigation until the page's title is there and its run is over, in milliseconds.
_CLICK = """([title, heading]) => new Promise(done => {
  const link = document.querySelector(`[data-testid="stSidebarNav"] [label="${title}"]`).closest("a");
  const start = performance.now();
  const look = () => {
    const shown = document.querySelector('[data-testid="stMain"] h1')?.textContent.includes(heading);
    const state = document.querySelector('[data-testid="stApp"]').dataset.testScriptState;
    shown && state === "notRunning" ? done(performance.now() - start) : requestAnimationFrame(look);
  };
  link.click();
  requestAnimationFrame(look);
})"""
_IDLE = "() => new Promise(done => requestIdleCallback(done))"


def lines() -> Iterator[Line]:
    """The first start, the first sight of the demo, and the clicks."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "workspace")
        start = time.perf_counter()
        server.start()
        yield Line("first start: from nothing to the demo being served", time.perf_counter() - start, limit=10.0)
        try:
            yield from _visit(server)
        finally:
            server.kill()


def _visit(server: Server) -> Iterator[Line]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS)
        visitor = Visitor(browser.new_page(), server.url)
        start = time.perf_counter()
        visitor.open("?project=demo")
        yield Line("the demo's first page in a fresh browser", time.perf_counter() - start)
        # Each round begins with the second page, so that every page is left and entered once.
        rounds = [{title: _click(visitor.page, title) for title in (*TITLES[1:], TITLES[0])} for _ in range(ROUNDS)]
        browser.close()
    first, later = rounds[0], rounds[1:]
    slowest = max(first, key=first.__getitem__)
    yield Line(f"slowest first click in a fresh browser: {slowest}", first[slowest])
    for title in TITLES:
        times = [taken[title] for taken in later]
        yield Line(
            f"click on {title}", median(times), limit=LIMIT, note=f"median of {len(times)}, most {duration(max(times))}"
        )


def _click(page: Page, title: str) -> float:
    page.evaluate(_IDLE)
    heading = "Demo" if title == "Project" else title
    return page.evaluate(_CLICK, [title, heading]) / 1000
