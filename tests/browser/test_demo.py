"""The demo in a real browser: every page, deep links, a phone's width, the dark theme, the keyboard, odd tokens."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from core.store import Store, open_store
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.projects.demo import OPEN_ID
from core.store.projects.embedding_library import read_embeddings, remove_embedding
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas
from core.store.votes.intake import accept_upload
from core.tokens.files import AreaTokens
from tests.browser.server import Server
from tests.browser.visitor import TITLES, Visitor
from tests.campaigns import answer_batch, draw_batch

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser"), pytest.mark.release]

Visit = Callable[..., Visitor]
DEMO = "Demo: jobs and skills"
ODD_TOKENS = ("<b>**x**</b>", "$x$", ":smile:", "[a](http://b)", ":red[y]", "R&amp;D")


def address(title: str, project: str = "demo") -> str:
    """The address of a page."""
    return f"{'' if title == 'Project' else title.split()[-1].lower()}?project={project}"


def test_the_first_start_shows_the_demo_and_every_page_opens_by_a_click(server: Server, visit: Visit) -> None:
    visitor = visit(server)
    visitor.open()
    expect(visitor.main.get_by_role("heading", level=1)).to_contain_text(DEMO)
    assert visitor.project_id == "demo"
    for title in (*TITLES[1:], "Project"):
        visitor.go(title)
        expect(visitor.main.get_by_role("heading", level=1)).to_contain_text(DEMO if title == "Project" else title)
        assert visitor.project_id == "demo"
        visitor.check_no_error()


def test_a_deep_link_on_a_fresh_server_shows_the_navigation(own_server: Server, visit: Visit) -> None:
    own_server.start()
    visitor = visit(own_server)
    visitor.open("tokens?project=demo")
    expect(visitor.page.get_by_test_id("stSidebarNav").get_by_role("link")).to_have_text(
        [re.compile(f"{title}$") for title in TITLES]
    )
    expect(visitor.picker).to_have_value(DEMO)
    visitor.says("760 items from 80 tokens in 4 areas")


def test_no_page_scrolls_sideways_on_a_phone(server: Server, visit: Visit) -> None:
    visitor = visit(server, viewport={"width": 390, "height": 844}, has_touch=True)
    for title in TITLES:
        visitor.open(address(title))
        wider = visitor.page.evaluate(
            """() => [document.scrollingElement, document.querySelector('[data-testid="stMain"]')]
                 .map(element => element.scrollWidth - element.clientWidth)"""
        )
        assert wider == [0, 0], title


def test_a_new_project_has_a_page_that_the_side_bar_leaves_free_on_a_phone(server: Server, visit: Visit) -> None:
    """A reload stays there, and a click on *Project* leads back."""
    visitor = visit(server, viewport={"width": 390, "height": 844}, has_touch=True)
    visitor.open(address("Project"))
    side = visitor.page.get_by_test_id("stSidebar")
    visitor.page.get_by_test_id("stExpandSidebarButton").click()
    with visitor.a_run():
        side.get_by_role("button", name="New project").click()
    heading = visitor.main.get_by_role("heading", level=1)
    expect(heading).to_have_text("New project")
    expect(side).to_have_attribute("data-collapsed", "true")
    visitor.page.reload()
    expect(heading).to_have_text("New project")
    visitor.page.get_by_test_id("stExpandSidebarButton").click()
    side.get_by_test_id("stSidebarNav").get_by_role("link", name="Project").click()
    expect(heading).to_contain_text(DEMO)


def test_the_buttons_of_a_table_cover_no_words_on_a_phone(server: Server, visit: Visit) -> None:
    """Under a finger they are always there, above their table, which lies on no words below it for that."""
    visitor = visit(server, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    for title in ("Embeddings", "Tokens", "Voters", "Scores"):
        visitor.open(address(title))
        visitor.main.get_by_test_id("stElementToolbar").first.wait_for()
        covered = visitor.main.evaluate(
            """main => {
              const words = [...main.querySelectorAll("p, label, h1, h2, h3, input")]
                .filter(e => e.checkVisibility()).map(e => e.getBoundingClientRect());
              const bars = [...main.querySelectorAll('[data-testid="stElementToolbarButtonContainer"]')]
                .map(e => e.getBoundingClientRect()).filter(bar => bar.width);
              const tables = [...main.querySelectorAll('[data-testid="stDataFrame"]')]
                .map(e => e.getBoundingClientRect());
              const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
              const covered = box => words.filter(word => word.width && meet(box, word)).map(word => [box, word]);
              return [bars.length, [...bars, ...tables].flatMap(covered)];
            }"""
        )
        assert covered[0] > 0
        assert covered[1] == [], title


def test_the_dark_theme_is_dark_and_the_light_one_light(server: Server, visit: Visit) -> None:
    for scheme, is_dark in (("dark", True), ("light", False)):
        visitor = visit(server, color_scheme=scheme)
        visitor.open(address("Scores"))
        visitor.check_no_error()
        app, text = visitor.page.get_by_test_id("stApp"), visitor.main.get_by_role("heading", level=1)
        ground = luminance(app.evaluate("element => getComputedStyle(element).backgroundColor"))
        letters = luminance(text.evaluate("element => getComputedStyle(element).color"))
        lighter, darker = max(ground, letters), min(ground, letters)
        assert (ground < letters) == is_dark
        assert (lighter + 0.05) / (darker + 0.05) > 7


def luminance(colour: str) -> float:
    """Relative luminance of a CSS colour, as WCAG 2 defines it."""
    channels = np.array([int(part) for part in re.findall(r"\d+", colour)[:3]]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_the_batch_is_reached_and_downloaded_by_the_keyboard(server: Server, visit: Visit) -> None:
    visitor = visit(server)
    visitor.open(address("Project", OPEN_ID))
    tab_to(visitor, "Collect", within="stSidebarNav")
    with visitor.a_run():
        visitor.page.keyboard.press("Enter")
    expect(visitor.main.get_by_role("heading", level=1)).to_contain_text("Collect")
    visitor.check("Turkle")
    tab_to(visitor, "Batch (CSV)", within="stMain")
    with visitor.page.expect_download() as caught:
        visitor.page.keyboard.press("Enter")
    assert Path(caught.value.path()).read_bytes().startswith(b"task_id,")


def tab_to(visitor: Visitor, label: str, *, within: str) -> None:
    """Press Tab until the element with that text has the focus."""
    for _ in range(80):
        visitor.page.keyboard.press("Tab")
        focused = visitor.page.get_by_test_id(within).locator(":focus")
        if focused.count() and focused.inner_text().endswith(label):
            return
    pytest.fail(f"{label} can't be reached by Tab.")


def test_a_large_import_shows_its_progress_and_comes_to_its_end(server: Server, visit: Visit, tmp_path: Path) -> None:
    path = large_embedding(tmp_path / "hundred.txt", n_bytes=100_000_000)
    visitor = visit(server)
    visitor.open(address("Embeddings"))
    visitor.fill("Path of the file", str(path))
    visitor.says("Recognised: word2vec text")
    visitor.press("Import")
    visitor.says("Importing hundred")
    expect(visitor.main.get_by_role("progressbar")).to_be_visible()
    visitor.says(re.compile(r"hundred is imported: \d\d,\d{3} words\."))
    visitor.says("5 embeddings are compared in this project")
    store = open_store(server.workspace)
    (imported,) = [found for found in read_embeddings(store, "demo") if found.name == "hundred"]
    remove_embedding(store, "demo", imported.id)  # the tests share their server
    visitor.page.reload()
    visitor.says("4 embeddings are compared in this project")


def test_a_cancelled_import_leaves_nothing(server: Server, visit: Visit, tmp_path: Path) -> None:
    path = large_embedding(tmp_path / "large.txt", n_bytes=300_000_000, word="w x")  # spaces: read the slow way
    before = sorted(file.name for file in server.workspace.joinpath("embeddings").iterdir())
    incoming = server.workspace / "incoming"
    waiting = set(incoming.iterdir())  # results that other tests uploaded wait there for a day
    visitor = visit(server)
    visitor.open(address("Embeddings"))
    visitor.fill("Path of the file", str(path))
    visitor.says("Recognised: word2vec text")
    visitor.press("Import")
    visitor.says(re.compile(r"[1-9]\d* of 3\d\d MB"))
    assert set(incoming.iterdir()) - waiting
    visitor.press("Cancel")
    visitor.says("The import of large was cancelled; nothing of it is left.")
    assert set(incoming.iterdir()) <= waiting
    assert sorted(file.name for file in server.workspace.joinpath("embeddings").iterdir()) == before
    visitor.says("4 embeddings are compared in this project")


def large_embedding(path: Path, *, n_bytes: int, dimensions: int = 300, word: str = "w") -> Path:
    """A text embedding of about that size; its vectors repeat after a thousand words."""
    values = np.random.default_rng(3).normal(size=(1000, dimensions))
    vectors = [" ".join(f"{value:.6f}" for value in row) for row in values]
    n_words = n_bytes // (len(vectors[0]) + 9)
    with path.open("w", encoding="ascii") as file:
        file.write(f"{n_words} {dimensions}\n")
        for start in range(0, n_words, 1000):
            file.write(
                "".join(f"{word}{n:07d} {vectors[n % 1000]}\n" for n in range(start, min(start + 1000, n_words)))
            )
    return path


def odd_project(store: Store) -> str:
    """A project of tokens that look like Markdown, HTML and LaTeX; ballot 1 is closed, ballot 2 open."""
    project_id = create_project(store, "Odd :smile: $x$ <b>**x**</b>", seed=5)
    add_areas(store, project_id, (AreaTokens("Odd :smile: <i>*a*</i>", ODD_TOKENS),))
    save_plan(store, project_id, PlanSettings(n_ballots=2, keep=0.5, appearances=4, task_size=3, n_voters=6, seed=7))
    # The pair of the first two tokens wins whenever it is shown.
    batch = draw_batch(store, project_id)
    accept_upload(
        store, project_id, answer_batch(batch, choose=lambda shown: prefer(shown, set(ODD_TOKENS[:2]))), "r.csv"
    )
    close_ballot(store, project_id)
    draw_next_ballot(store, project_id)
    return project_id


def prefer(shown: dict[str, str], favourite: set[str]) -> str:
    """The choice of a voter for whom one pair is above all others, and those are equal."""
    for side in ("left", "right"):
        if {shown[f"{side}_a"], shown[f"{side}_b"]} == favourite:
            return side
    return "tie"


def test_odd_tokens_are_shown_as_they_are(server: Server, visit: Visit) -> None:
    project_id = odd_project(open_store(server.workspace))
    visitor = visit(server)
    visitor.open(address("Tokens", project_id))
    assert [row[-1] for row in visitor.cells("Tokens of the area", len(ODD_TOKENS))] == list(ODD_TOKENS)
    visitor.unfold("All 15 items")
    assert visitor.cells("All items")[0][1:] == ["<b>**x**</b>", "$x$"]
    nothing_rendered(visitor)
    visitor.open(address("Scores", project_id))
    visitor.says(re.compile(re.escape("Most related: ") + r"(.* – )?" + re.escape("<b>**x**</b> – $x$")))
    assert visitor.cells("Ranking of the items")[0][2:4] == ["<b>**x**</b>", "$x$"]
    nothing_rendered(visitor)
    visitor.open(address("Collect", project_id))
    visitor.unfold("See a task as voters see it")
    task = visitor.page.frame_locator("iframe")
    expect(task.get_by_role("heading", level=1)).to_have_text("Which two words are more related?")
    first = task.get_by_role("group").first
    expect(first.get_by_role("radio", name="Left pair")).to_be_visible()
    assert first.locator("b, i, a").count() == 0
    for text in ("<b>**x**</b>", "$x$", ":smile:", "Odd :smile: <i>*a*</i>"):
        expect(task.locator("body")).to_contain_text(text)
    nothing_rendered(visitor)


def nothing_rendered(visitor: Visitor) -> None:
    """No token became markup, a formula or a picture, and the project's name neither."""
    expect(visitor.picker).to_have_value("Odd :smile: $x$ <b>**x**</b>")
    assert visitor.main.locator("b, .katex, a[href='http://b']").count() == 0
    assert "😄" not in visitor.main.inner_text()
