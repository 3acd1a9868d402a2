"""The Tokens page of a large project: what the server does at a click, without a browser."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from unittest.mock import patch

import numpy as np
from streamlit.testing.v1 import AppTest

from bench.table import Line, duration
from core.embeddings import import_embedding
from core.store import Store, open_store
from core.store.projects.embedding_library import add_embedding, adopt_import, record_import
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas, read_areas
from core.tokens.files import AreaTokens
from tests.embedding_files import binary, write

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 1.0  # seconds a click may take
N_AREAS, DIMENSIONS = 20, 100


def lines(*, quick: bool) -> Iterator[Line]:
    """2,000 tokens in 20 areas, one in 19 of them missing in 400,000 words; `quick` takes a tenth of each."""
    n_tokens, n_words = (10, 4_000) if quick else (100, 400_000)
    with tempfile.TemporaryDirectory() as name:
        store = open_store(Path(name) / "workspace")
        project_id = _project(store, Path(name), n_tokens, n_words)
        n_items = sum(area.n_items for area in read_areas(store, project_id))
        of = f"of {N_AREAS * n_tokens:,} tokens, {n_items:,} items, {n_words:,} words"
        with patch.dict(os.environ, {"RUNOFF_WORKSPACE": str(store.folder)}):
            for what, times in _clicks(project_id).items():
                limit = None if what.startswith("counting") else LIMIT  # asked for, with a sign that it is at work
                yield Line(f"Tokens page {of}: {what}", median(times), limit=limit, note=f"most {duration(max(times))}")
        store.engine.dispose()


def _word(number: int) -> str:
    letters = "etaoinshrdlucmfwypvbgkjq"
    return letters[number % 24] + (_word(number // 24) if number >= 24 else "")


def _project(store: Store, folder: Path, n_tokens: int, n_words: int) -> str:
    """A project with the areas and the embedding."""
    rng = np.random.default_rng(7)
    words = [_word(number) for number in range(n_words)]
    vectors = rng.standard_normal((n_words, DIMENSIONS), dtype=np.float32)
    info = import_embedding(write(folder, binary(words, vectors)), store.incoming / "work")
    embedding_id = adopt_import(store, store.incoming / "work", info.identity)
    with store.write() as conn:
        record_import(conn, embedding_id, name="large", source="model.bin", info=info)
    project_id = create_project(store, "Large", seed=1)
    add_embedding(store, project_id, embedding_id)
    chosen = rng.choice(n_words, N_AREAS * n_tokens, replace=False)
    tokens = [words[place] + ("zzz" if at % 19 == 0 else "") for at, place in enumerate(chosen)]
    areas = [tuple(tokens[at::N_AREAS]) for at in range(N_AREAS)]
    add_areas(store, project_id, [AreaTokens(f"Area {at + 1}", area) for at, area in enumerate(areas)])
    return project_id


def _clicks(project_id: str) -> dict[str, list[float]]:
    """Seconds of the runs that clicks start, by what is clicked."""
    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=120)
    app.query_params["project"] = project_id
    app.run()
    times = {"opening it": [_timed(lambda: app.switch_page("../pages/tokens.py").run())]}
    times["any click"] = [_timed(app.run) for _ in range(5)]
    times["choosing the table of all areas"] = [_timed(lambda: app.button_group[0].set_value("Table").run())]
    app.button_group[0].set_value("Text").run()
    times["saving a changed area"] = [_save(app) for _ in range(3)]
    times["proposing tokens"] = [_timed(lambda: _press(app, "Propose tokens"))]
    times["counting neighbours for hubness"] = [_timed(lambda: _press(app, "Count the neighbours"))]
    if app.exception or app.error:
        raise RuntimeError(f"The page failed: {[failed.value for failed in (*app.exception, *app.error)]}")
    return times


def _timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()


def _save(app: AppTest) -> float:
    """Add a token to the first area: seconds of the run that saves it and of the one that draws the page anew."""
    box = next(box for box in app.text_area if box.label.startswith("Tokens, one per line ("))
    tokens = box.value or ""
    box.set_value(f"{tokens}\nnew {len(tokens)}").run()
    return _timed(lambda: _press(app, "Save changes"))
