"""A static model by its folder and a model behind a server join a project, and stand in its leaderboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from core.store import open_store
from tests.browser.server import Server
from tests.browser.visitor import Visitor
from tests.half_way import make_half_way
from tests.models_server import models_server
from tests.static_folders import make_letters_model

PROJECT = "half-way"

pytestmark = [pytest.mark.browser, pytest.mark.release]
pytest.importorskip("tokenizers", reason="needs the package tokenizers (the extra models)")


def test_a_static_model_and_a_servers_model_join(
    own_server: Server, visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    static = make_letters_model(tmp_path / "static letters")
    store = open_store(own_server.workspace)
    make_half_way(store, PROJECT)
    store.engine.dispose()
    own_server.start()
    visitor = visit(own_server)
    with models_server() as models:
        visitor.open(f"embeddings?project={PROJECT}")
        visitor.turn_to("A model's folder")
        visitor.fill("Folder of the model", str(static))
        visitor.says("a static model (model2vec, 6 dimensions), computed here")
        visitor.press("Encode 80 tokens")
        visitor.says("static letters is added: 80 encoded tokens.")

        visitor.turn_to("A model on a server")
        visitor.says("Nothing is sent until you switch it on for this project")
        visitor.fill("Address of the server", f"{models.url}/v1")
        visitor.fill("Model, as the server calls it", "letters")
        visitor.says(f"The project's 80 tokens, each as it is, and the model's name go to {models.url}/v1/embeddings")
        ask = visitor.main.get_by_role("button", name="Ask for 80 vectors")
        expect(ask).to_be_disabled()
        assert models.asked == []
        visitor.check("Let this project send its tokens there")
        visitor.says("Tokens of this project may be sent there now.")
        visitor.turn_to("A model on a server")
        expect(ask).to_be_enabled()
        visitor.press("Ask for 80 vectors")
        visitor.says("letters is added: 80 encoded tokens.")
        assert sorted(len(texts) for texts in models.texts) == [16, 64]

        visitor.turn_to("A model on a server")
        visitor.says("80 answers are kept from before, and aren't asked for again.")
    visitor.pick("Embedding", "letters")
    visitor.says(re.compile(rf"How it was made\. model: letters; server: {models.url}; answered as: letters-1"))
    visitor.go("Evaluate")
    board = visitor.main.get_by_role("table").first
    for name in ("static letters", "letters", "GloVe 6B 50d, 20,000 words"):
        row = board.get_by_role("row").filter(has=visitor.page.get_by_role("cell", name=name, exact=True))
        expect(row).to_contain_text(re.compile(r"\d to \d|to come"))
        expect(row).to_contain_text(re.compile(r"[-−]?0\.\d{3}"))
    visitor.check_no_error()
