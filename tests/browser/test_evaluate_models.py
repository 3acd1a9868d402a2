"""Three models on the Evaluate page: from adding them to the table, the groups, the causes and the download."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from core.store import open_store
from tests.browser.server import Server
from tests.browser.visitor import Visitor
from tests.half_way import make_half_way

ROOT = Path(__file__).resolve().parents[2]
ENCODER = ROOT / "tests" / "reference" / "tiny_encoder"
NAMES = {"GloVe 6B 50d, 20,000 words", "similarity", "tiny_encoder"}
PROJECT = "half-way"

pytestmark = pytest.mark.browser


@pytest.mark.release
def test_three_models_from_adding_to_the_download(own_server: Server, visit: Callable[..., Visitor]) -> None:
    store = open_store(own_server.workspace)
    make_half_way(store, PROJECT)
    store.engine.dispose()
    own_server.start()
    visitor = visit(own_server)
    add_similarities(visitor)
    visitor.go("Evaluate")
    add_encoder(visitor)
    leads = r"similarity leads: ρ_w = 0\.\d{3} on [\d,]+ of [\d,]+ items, those that all cover\. Told apart from all"
    visitor.says(re.compile(leads))

    turn_to(visitor, "Differences")
    visitor.says("With other tokens: would they")
    visitor.says("A line joins those that aren't")
    visitor.press("Compute p-values")
    visitor.says("Permuting the tokens in the background")
    other = visit(own_server)  # a second tab finds the same work, and then its result
    other.open(f"evaluate?project={PROJECT}")
    turn_to(other, "Differences")
    for tab in (visitor, other):
        expect(tab.main.get_by_role("table", name="p-values by permuted tokens")).to_be_visible()
    expect(visitor.page.get_by_role("tab", name="Differences")).to_have_attribute("aria-selected", "true")
    visitor.page.reload()
    visitor.ready()
    turn_to(visitor, "Differences")
    expect(visitor.main.get_by_role("table", name="p-values by permuted tokens")).to_be_visible()
    expect(visitor.main.get_by_role("button", name="Compute p-values")).to_have_count(0)

    turn_to(visitor, "Disagreements")
    visitor.says("Where people and embedding disagree")
    visitor.says("Of the 72 items that the embedding ranks highest")
    turn_to(visitor, "Variants")
    visitor.says("Of an encoder only the project's tokens are known")

    table = visitor.download("Download all figures (CSV)").decode("utf-8-sig")
    rows = [row for row in csv.DictReader(io.StringIO(table)) if row["part"] == "overall"]
    assert {row["embedding"] for row in rows} == NAMES
    assert [row["covered"] for row in sorted(rows, key=lambda row: row["embedding"])] == ["722", "760", "760"]
    best = max(rows, key=lambda row: float(row["ρ"]))
    assert best["embedding"] == "similarity"


def turn_to(visitor: Visitor, tab: str) -> None:
    """Open a tab that is drawn once it is open."""
    with visitor.a_run():
        visitor.turn_to(tab)


def add_similarities(visitor: Visitor) -> None:
    """What the project's voters go by, as a table of similarities by its path."""
    visitor.open(f"embeddings?project={PROJECT}")
    visitor.fill("Path of the file", str(ROOT / "data" / "similarity.csv"))
    visitor.says("Recognised:")
    visitor.press("Import")
    visitor.says("similarity is imported: 80 words.")


def add_encoder(visitor: Visitor) -> None:
    """A tiny sentence encoder by its folder, after one that isn't there."""
    visitor.unfold("Add a model")
    visitor.fill("Folder of the model", str(ENCODER.parent / "none"))
    visitor.says("is not there")
    visitor.fill("Folder of the model", str(ENCODER))
    visitor.says("a sentence encoder (bert, 16 dimensions), computed here")
    visitor.press("Encode 80 tokens")
    expect(visitor.main.get_by_text("tiny_encoder is added: 80 encoded tokens")).to_be_visible()
