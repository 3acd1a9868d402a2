"""Areas edited in a table, and tokens that an embedding proposes, in a real browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from core.store import Store, open_store
from core.store.projects.embedding_library import add_embedding, read_embeddings
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas, origins_of, read_areas
from core.tokens.files import AreaTokens
from tests.browser.server import Server
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser"), pytest.mark.release]

Visit = Callable[..., Visitor]
AREAS = (AreaTokens("Market", ("sales", "marketing", "<b>**x**</b>")), AreaTokens("Sea", ("ship", "$x$", ":smile:")))
TABLE = "Areas and tokens to edit"


@pytest.fixture
def project(server: Server) -> tuple[Store, str]:
    """A project with two areas and the demo's embedding."""
    store = open_store(server.workspace)
    project_id = create_project(store, "Tables", kind="trial", seed=2)
    add_areas(store, project_id, AREAS)
    add_embedding(store, project_id, read_embeddings(store, "demo")[0].id)
    return store, project_id


def type_into(visitor: Visitor, row: int, column: int, text: str) -> None:
    """Write into a cell of the table, by mouse and keyboard as a person would."""
    grid = visitor.main.get_by_test_id("stDataFrame").filter(has=visitor.page.get_by_role("region", name=TABLE))
    grid.scroll_into_view_if_needed()
    visitor.still()
    box = grid.bounding_box()
    assert box is not None
    # A narrow column of row marks, then two columns of equal width; rows of 35 pixels below the head.
    width = (box["width"] - 35) / 2
    visitor.page.mouse.dblclick(box["x"] + 35 + width * (column + 0.5), box["y"] + 35 * (row + 1.5))
    editor = visitor.page.locator("#portal textarea, #portal input").first
    editor.wait_for()
    editor.fill(text)
    with visitor.a_run():
        editor.press("Enter")


def test_a_table_of_all_areas_is_edited_checked_and_saved(
    server: Server, visit: Visit, project: tuple[Store, str]
) -> None:
    store, project_id = project
    visitor = visit(server)
    visitor.open(f"tokens?project={project_id}")
    visitor.choose("Table")
    assert [row[-2:] for row in visitor.cells(TABLE)][:6] == [
        [area.name, token] for area in AREAS for token in area.tokens
    ]
    save = visitor.main.get_by_role("button", name="Save the table", exact=True)
    expect(save).to_be_disabled()
    type_into(visitor, 1, 1, "sales")  # there already
    visitor.says("Market has this token in row 1 already")
    expect(save).to_be_disabled()
    type_into(visitor, 1, 1, "mark & *eting*")
    type_into(visitor, 4, 1, "boat")  # a second edit, after the first has been drawn
    assert read_areas(store, project_id) == list(AREAS)  # nothing is saved yet
    visitor.press("Save the table")
    visitor.says("Saved: Market, Sea.")
    assert read_areas(store, project_id) == [
        AreaTokens("Market", ("sales", "mark & *eting*", "<b>**x**</b>")),
        AreaTokens("Sea", ("ship", "boat", ":smile:")),
    ]
    expect(save).to_be_disabled()
    visitor.check_no_error()


def test_near_tokens_are_ticked_and_told_when_their_model_is_evaluated(
    server: Server, visit: Visit, project: tuple[Store, str]
) -> None:
    store, project_id = project
    visitor = visit(server)
    visitor.open(f"tokens?project={project_id}")
    visitor.unfold("Add near tokens")
    visitor.press("Propose tokens")
    box = visitor.main.get_by_role("checkbox").filter(visible=True).first
    name = box.evaluate("element => element.getAttribute('aria-label') || element.closest('label').innerText")
    box.locator("xpath=ancestor::label").click()
    expect(box).to_be_checked()
    visitor.press("Add the ticked tokens")
    visitor.says("1 token added to Market, marked as proposed by")
    token = name.split(" (")[0]
    assert read_areas(store, project_id)[0].tokens == (*AREAS[0].tokens, token)
    with store.read() as conn:
        assert list(origins_of(conn, project_id)) == [("Market", token)]
    visitor.says("1 token proposed by an embedding:")
    visitor.check_no_error()
