"""From nothing to the demo's first page: `pip install .` into an empty environment, from pip's cache, then `runoff`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

from bench.table import Line, duration
from tests.browser.installation import InstalledServer, copy_sources, make_environment, pip_install
from tests.browser.server import CHROMIUM_ARGUMENTS, find_chromium
from tests.browser.visitor import Visitor

LIMIT = 40.0  # seconds from the one line to the first page


def lines() -> Iterator[Line]:
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
    yield Line("from `pip install .` to the demo's first page", taken, limit=LIMIT, note=note)
