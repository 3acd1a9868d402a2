"""An archived MTurk campaign by the pages alone: result files in, scores, an evaluated model, a dataset out."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from gensim.models import KeyedVectors
from playwright.sync_api import expect
from scipy.stats import spearmanr

from core.__main__ import cli
from core.store import open_store
from core.store.ballots.closing import close_ballot
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas
from core.store.votes.intake import accept_upload
from core.tokens.files import AreaTokens
from tests.browser.results import Pair, paper_scores, votes_of
from tests.browser.server import ROOT, Server
from tests.browser.visitor import Visitor
from tests.campaigns import answer_batch, draw_batch

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

TOKENS = ("programmer", "developer", "manager", "supervisor", "wage", "salary", "pension", "retirement")
N_ITEMS = 28
NAMES = ("Batch_2604_batch_results.csv", "Batch_2611_batch_results.csv")
VECTORS = KeyedVectors.load_word2vec_format(str(ROOT / "data" / "demo.bin"), binary=True)


def closer(shown: dict[str, str]) -> str:
    """A voter who goes by the letters that two tokens share, so that votes are clear and need no model."""
    left, right = (len(set(shown[f"{side}_a"]) & set(shown[f"{side}_b"])) for side in ("left", "right"))
    return "tie" if left == right else "left" if left > right else "right"


def campaign(folder: Path) -> list[bytes]:
    """Two ballots' result files in Mechanical Turk's format; one assignment of the first is rejected."""
    store = open_store(folder)
    project_id = create_project(store, "Long ago", seed=3)
    add_areas(store, project_id, (AreaTokens("Work", TOKENS),))
    plan = PlanSettings(n_ballots=2, keep=0.5, appearances=6, task_size=4, n_voters=6, seed=7, protocol="paper")
    save_plan(store, project_id, plan)
    files = []
    for number in (1, 2):
        files.append(answer_batch(draw_batch(store, project_id), choose=closer, tag=f"A{number}-"))
        accept_upload(store, project_id, files[-1], f"{number}.csv")
        close_ballot(store, project_id)
    store.engine.dispose()
    return files


@pytest.mark.release
def test_from_archived_files_to_a_dataset(own_server: Server, visit: Callable[..., Visitor], tmp_path: Path) -> None:
    files = campaign(tmp_path / "long ago")
    own_server.start()
    visitor = visit(own_server)
    import_results(visitor, files)
    scores, _ = paper_scores([[data] for data in files])
    look_at_scores(visitor, scores, n_votes=sum(len(votes_of(data)) for data in files))
    add_model(visitor)
    rho = evaluate(visitor)
    assert rho == pytest.approx(expected_rho(scores), abs=5e-4)
    export(visitor, scores, tmp_path)
    visitor.check_no_error()


def import_results(visitor: Visitor, files: list[bytes]) -> None:
    visitor.open()
    visitor.unfold("New project, import")
    visitor.check("From archived results")
    box = visitor.main.get_by_test_id("stFileUploader").filter(
        has=visitor.page.get_by_label("Result files of the campaign")
    )
    with visitor.a_run():
        box.locator("input[type=file]").set_input_files(
            [{"name": name, "mimeType": "text/csv", "buffer": data} for name, data in zip(NAMES, files, strict=True)]
        )
    visitor.check("Each file is a ballot of its own, in this order")
    visitor.says(re.compile(rf"Found: 1 area, {len(TOKENS)} tokens, {N_ITEMS} items, \d+ comparisons\."))
    visitor.main.get_by_label("Name of the project").fill("Long ago")
    visitor.main.get_by_text("Opponents were drawn at random", exact=True).click()
    expect(visitor.main.get_by_role("checkbox", name="Opponents were drawn at random")).to_be_checked()
    visitor.press("Make the project")
    visitor.says("All votes are scored.")
    expect(visitor.main.get_by_role("heading", level=1)).to_have_text("Long ago")


def look_at_scores(visitor: Visitor, scores: dict[Pair, float], n_votes: int) -> None:
    visitor.go("Scores")
    visitor.says(f"by {n_votes:,} votes of 6 people on {N_ITEMS} items.")
    rows = visitor.cells("Ranking of the items")
    best = max(scores.values())
    top = {item for item, score in scores.items() if abs(score - best) < 1e-9}
    assert {frozenset(row[2:4]) for row in rows[: len(top)]} == top


def add_model(visitor: Visitor) -> None:
    visitor.go("Embeddings")
    visitor.says("An embedding gives each word a vector.")
    visitor.press("Use it here")  # the demo's lies in the workspace already
    visitor.says("is used in this project.")
    visitor.says("1 embedding is compared in this project.")


def evaluate(visitor: Visitor) -> float:
    """ρ by |cos|, from the table as downloaded."""
    visitor.go("Evaluate")
    visitor.says(re.compile(rf"reaches ρ_w = .?0\.\d{{3}} and τ_w = .?0\.\d{{3}} on {N_ITEMS} of {N_ITEMS} items\."))
    rows = csv.DictReader(io.StringIO(visitor.download("Download all figures (CSV)").decode("utf-8-sig")))
    return next(float(row["ρ"]) for row in rows if row["part"] == "overall")


def expected_rho(scores: dict[Pair, float]) -> float:
    """The same by gensim's cosines and SciPy's ρ."""
    pairs = [tuple(pair) for pair in scores]
    cosines = [abs(float(VECTORS.similarity(*pair))) for pair in pairs]
    return float(spearmanr(np.round(list(scores.values()), 12), np.round(cosines, 12)).statistic)


def export(visitor: Visitor, scores: dict[Pair, float], folder: Path) -> None:
    """The zip, whose scores are the ones worked out by hand, and are computed again from its votes."""
    visitor.go("Export")
    path = folder / "long-ago.zip"
    path.write_bytes(visitor.publication())
    told = CliRunner().invoke(cli, ["replay", str(path), "--json"])
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["passed"]
    visitor.unfold("Single files and other formats")
    rows = csv.DictReader(io.StringIO(visitor.download("Dataset (CSV)").decode("utf-8")))
    exported = {frozenset((row["token_a"], row["token_b"])): float(row["score"]) for row in rows}
    assert exported == pytest.approx(scores, abs=1e-12)
