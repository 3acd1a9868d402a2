"""What a visitor waits for, in Chromium: the installation, the first start, and a click on each page of the demo."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, sync_playwright

from bench.table import Line, duration
from tests.browser.installation import InstalledServer, copy_sources, make_environment, pip_install
from tests.browser.server import CHROMIUM_ARGUMENTS, Server, find_chromium
from tests.browser.visitor import TITLES, Visitor

LIMIT = 0.3  # seconds a click may take
INSTALLED = 40.0  # seconds from `pip install .` to the first page
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


def installation() -> Iterator[Line]:
    """One line: the environment is there, and what pip downloads is in its cache."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder)
        sources = copy_sources(home / "sources")
        pip_install(make_environment(home / "before"), sources)  # fills pip's cache, should it be empty
        programs = make_environment(home / "environment")
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS)
        start = time.perf_counter()
        pip_install(programs, sources)
        installed = time.perf_counter() - start
        server = InstalledServer(home / "given" / "workspace", programs)
        try:
            server.start()
            Visitor(browser.new_page(), server.url).open()
            taken = time.perf_counter() - start
        finally:
            server.kill()
            browser.close()
    note = f"pip install {duration(installed)}, the rest its first start"
    yield Line("from `pip install .` to the demo's first page", taken, limit=INSTALLED, note=note)
