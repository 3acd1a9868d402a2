"""The pictures of the guide, from the demo: `python -m tests.browser.pictures [FOLDER]`, or `make screenshots`.

Every page in light, in the dark, and on a phone. The demo follows from its seeds, so the pictures change only when the
pages do. They are 1280 pixels wide (390 on the phone), with 128 colours, which keeps them small. A test holds that a
page shows each of them.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Literal, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, expect

from core.platforms.plain import write_offline
from core.store import open_store
from core.store.ballots.ballot_rows import read_comparisons
from core.store.projects.demo import DEMO_ID, OPEN_ID
from tests.browser.server import ROOT, Server
from tests.browser.shots import QUIET, demo_visited
from tests.browser.visitor import Visitor

FOLDER = ROOT / "docs" / "pictures"
DESK, PHONE, PHONE_HEIGHT = 1280, 390, 844
COLOURS = 128
WAIT_MS = 120_000  # for what a page computes
MOST_LOOKS = 20
DRAWN_MS = 3_000  # tables and charts draw themselves some time after the run that fills them, and say so nowhere


class Picture(NamedTuple):
    """One picture: its file's name, the page's address, and the window."""

    name: str
    address: str
    height: int
    width: int = DESK
    project: str = DEMO_ID
    scheme: Literal["light", "dark"] = "light"


PAGES = (
    Picture("project", "", 900),
    Picture("embeddings", "embeddings", 760),
    Picture("tokens", "tokens", 760),
    Picture("plan", "plan", 900),
    Picture("collect", "collect", 900, project=OPEN_ID),
    Picture("voters", "voters", 760),
    Picture("scores", "scores", 1000),
    Picture("evaluate", "evaluate", 900),
    Picture("export", "export", 760),
)
PICTURES = (
    *PAGES,
    *(page._replace(name=f"{page.name}-dark", scheme="dark") for page in PAGES),
    *(page._replace(name=f"{page.name}-phone", height=PHONE_HEIGHT, width=PHONE) for page in PAGES),
    Picture("plan-ratings", "plan?kind=rating", 860),
)


def take(browser: Browser, server: Server, picture: Picture) -> bytes:
    """One picture of the demo as PNG."""
    context = browser.new_context(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme=picture.scheme,
        reduced_motion="reduce",
    )
    visitor = Visitor(context.new_page(), server.url)
    visitor.open(f"{picture.address}{'&' if '?' in picture.address else '?'}project={picture.project}")
    wait_until_drawn(visitor)
    shot = visitor.page.screenshot(animations="disabled", caret="hide")
    context.close()
    return small(shot)


def wait_until_drawn(visitor: Visitor) -> None:
    """Wait until nothing is computed or loaded any more, and nothing new was begun for a while."""
    spinner = visitor.page.get_by_test_id("stSpinner")
    for _ in range(MOST_LOOKS):
        expect(spinner).to_have_count(0, timeout=WAIT_MS)
        visitor.settle()
        visitor.page.wait_for_timeout(DRAWN_MS)
        visitor.page.wait_for_function(QUIET)
        if spinner.count() == 0 and visitor.is_settled():
            return
    raise TimeoutError(f"{visitor.page.url} never comes to rest.")


def take_vote(browser: Browser, workspace: Path) -> bytes:
    """What a voter sees on a phone: the page that takes no server, which is made of the same template."""
    comparisons = read_comparisons(open_store(workspace), OPEN_ID, 1)
    pages = write_offline(comparisons, name="demo", notion="relatedness", ties_allowed=True)
    page = browser.new_page(viewport={"width": PHONE, "height": PHONE_HEIGHT}, color_scheme="light")
    page.set_content(next(data for name, data in pages.items() if name.endswith(".html")).decode("utf-8"))
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("radio").first.wait_for(state="attached")
    shot = page.screenshot(animations="disabled", caret="hide")
    page.close()
    return small(shot)


def small(png: bytes) -> bytes:
    """The same picture with few colours."""
    image = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def main(folder: Path) -> None:
    """Take all pictures on a workspace of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    with demo_visited() as (server, browser):
        made = {picture.name: take(browser, server, picture) for picture in PICTURES}
        made["vote-phone"] = take_vote(browser, server.workspace)
    for name, data in made.items():
        (folder / f"{name}.png").write_bytes(data)
    print(f"{len(made)} pictures, {sum(map(len, made.values())) / 1e6:.2f} MB, are in {folder}.")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
