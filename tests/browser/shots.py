"""Pictures of every page of the demo, run by hand: `python -m tests.browser.shots [FOLDER]`.

Each page is taken in full height, light and dark, 1280 and 390 pixels wide, into tests/browser/shots/, which
git ignores.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

from tests.browser.server import CHROMIUM_ARGUMENTS, Server, find_chromium
from tests.browser.visitor import TITLES, Visitor

Scheme = Literal["light", "dark"]
WIDTHS = (1280, 390)
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
_FULL_HEIGHT = """() => Math.ceil(document.querySelector('[data-testid="stMainBlockContainer"]').scrollHeight)"""
QUIET = "() => document.querySelectorAll('[data-testid=\"stSkeleton\"]').length === 0"


@contextmanager
def demo_visited() -> Iterator[tuple[Server, Browser]]:
    """The app with its demo on a workspace that is gone afterwards, and a Chromium to visit it."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder) / "workspace")
        server.start()
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS)
        try:
            yield server, browser
        finally:
            browser.close()
            server.kill()


def take(browser: Browser, server: Server, folder: Path, width: int, scheme: Scheme) -> None:
    """Every page at one width in one theme."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    for title in TITLES:
        visitor = Visitor(context.new_page(), server.url)
        visitor.open(f"{'' if title == 'Project' else title.split()[-1].lower()}?project=demo")
        visitor.page.wait_for_function(QUIET)
        # The page scrolls inside the app, so the window is made as high as what is in it.
        height = visitor.page.evaluate(_FULL_HEIGHT)
        visitor.page.set_viewport_size({"width": width, "height": max(900, min(height, 8000))})
        visitor.page.wait_for_load_state("networkidle")
        visitor.settle()
        visitor.page.screenshot(path=folder / f"{title.split()[-1].lower()}-{width}-{scheme}.png")
        visitor.page.close()
    context.close()


def main(folder: Path) -> None:
    """Take all pictures on a workspace of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    with demo_visited() as (server, browser):
        for width in WIDTHS:
            for scheme in SCHEMES:
                take(browser, server, folder, width, scheme)
    print(f"{len(TITLES) * len(WIDTHS) * len(SCHEMES)} pictures are in {folder}.")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("shots"))
