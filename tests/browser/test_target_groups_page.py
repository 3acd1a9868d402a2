"""Target groups in Hebrew in a real browser: right to left, scored, the worst comparisons, and what is downloaded."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.embeddings import import_embedding
from core.store import Store, open_store
from core.store.command import command
from core.store.projects.embedding_library import adopt_import, link_embedding, record_import
from tests.browser.server import Server
from tests.browser.visitor import Visitor
from tests.campaigns import make_project

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser"), pytest.mark.release]

SONG, SINGER, TUNE, DANCE, APPLE = "שיר", "זמר", "לחן", "ריקוד", "תפוח"
GROUPS = (
    f"{SONG}\n{SINGER},0.20,{TUNE},0.80\ndistractors\n{TUNE},1.00,{DANCE},0.00\nrandoms\n{SINGER},1.00,{APPLE},0.00\n"
)
# cosines with the target: singer .9, tune .5, dance .7, apple 0; so it has two of three wrong (.6 + 1 of 2.6)
MODEL = {
    SONG: (1, 0),
    SINGER: (0.9, np.sqrt(0.19)),
    TUNE: (0.5, np.sqrt(0.75)),
    DANCE: (0.7, np.sqrt(0.51)),
    APPLE: (0, 1),
}
_LEFT = """(word) => { const found = [...document.querySelectorAll('bdi')].filter(e => e.textContent === word);
  return found.map(e => e.getBoundingClientRect().left) }"""


def with_model(store: Store, project_id: str, folder: Path) -> None:
    """The project has a model of the five words."""
    path = folder / "hebrew.vec"
    lines = [f"{len(MODEL)} 2", *(f"{word} {x:.6f} {y:.6f}" for word, (x, y) in MODEL.items())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    info = import_embedding(path, store.incoming / "hebrew")
    embedding_id = adopt_import(store, store.incoming / "hebrew", info.identity)
    with command(store, project_id, "import embedding") as change:
        record_import(change.conn, embedding_id, name="Hebrew", source=path.name, info=info)
        link_embedding(change.conn, project_id, embedding_id, "Hebrew")


@pytest.mark.parametrize("width", [1280, 390])
def test_hebrew_groups_run_right_to_left_and_are_scored(
    server: Server, visit: Callable[..., Visitor], tmp_path: Path, width: int
) -> None:
    store = open_store(server.workspace)
    project_id = make_project(store, plan=None)
    with_model(store, project_id, tmp_path)
    visitor = visit(server, viewport={"width": width, "height": 900})
    visitor.open(f"scores?project={project_id}&kind=order")
    visitor.turn_to("Files of groups and orders")
    visitor.upload("File of target groups", "groups.txt", GROUPS.encode("utf-8"))
    visitor.says("1 target group, 3 comparisons (1 positive, 1 distractor, 1 random).")
    visitor.main.get_by_role("region", name="Worst comparisons").wait_for(state="attached")
    visitor.still()
    # The first positive of the file, the preferred one, stands right of the second.
    (tune,), (singer,) = (visitor.page.evaluate(_LEFT, word) for word in (TUNE, SINGER))
    assert tune > singer
    assert visitor.cells("Groups of the file", 1)[0] == [SONG, f"{TUNE}, {SINGER}", DANCE, APPLE]
    model, *figures = visitor.cells("Scores of the models", 1)[0][:5]
    assert model == "Hebrew"
    assert [float(figure) for figure in figures] == pytest.approx([1 / 2.6, 0, 0, 1])
    worst = visitor.cells("Worst comparisons", 2)
    assert [row[:4] for row in worst] == [[SONG, TUNE, DANCE, "distractor"], [SONG, TUNE, SINGER, "positive"]]
    rows = list(csv.reader(io.StringIO(visitor.download("Download the scores (CSV)").decode("utf-8"))))
    assert float(rows[1][1]) == pytest.approx(1 / 2.6)
    assert visitor.page.evaluate("document.documentElement.scrollWidth") == width
    visitor.check_no_error()
