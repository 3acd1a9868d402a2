"""The example notebooks run as they stand, cell by cell, in a process of their own and without a workspace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
NOTEBOOK = ROOT / "examples" / "compare-models.ipynb"
MOST_LINES = 17


def cells(path: Path = NOTEBOOK) -> list[str]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(code: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "RUNOFF_WORKSPACE": str(tmp_path / "nowhere"), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=env, check=False)


def test_it_is_short_and_kept_without_outputs() -> None:
    lines = [line for cell in cells() for line in cell.splitlines() if line.strip()]
    assert len(lines) <= MOST_LINES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_none_is_kept_with_outputs(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in notebook["cells"])


@pytest.mark.release
def test_a_dataset_is_built_without_a_workspace(tmp_path):
    """Believing in a model, the voters rank the items nearly as it does, and every vote is counted once."""
    path = ROOT / "examples" / "build-a-dataset.ipynb"
    asked = "print(len(read), read['votes'].sum(), figures.rho_w.estimate, int(read['score'].is_monotonic_decreasing))"
    done = run("\n".join([*cells(path), asked]), tmp_path)
    assert done.returncode == 0, done.stderr
    n_items, votes, rho_w, in_order = map(float, done.stdout.splitlines()[-1].split())
    assert (n_items, votes, in_order) == (190, 2 * 2856, 1.0)
    assert rho_w > 0.85
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.release
def test_a_campaign_is_planned_by_simulation(tmp_path):
    """The protocol runoff needs the fewest votes, and more votes give more."""
    path = ROOT / "examples" / "plan-a-campaign.ipynb"
    asked = "print(forecasts.to_json(orient='records'))"
    code = "\n".join([*cells(path), asked]).replace("n=6", "n=3")
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout.splitlines()[-1])
    best = {row["votes"]: row for row in rows if row["protocol"] == "runoff"}
    assert best[max(best)]["rho_w"] > best[min(best)]["rho_w"]
    for row in rows:
        assert row["rho_w"] <= best[row["votes"]]["rho_w"] + 0.02, row


@pytest.mark.release
def test_its_cells_run_and_give_the_command_lines_figures(tmp_path) -> None:
    code = "\n".join([*cells(), "print(figures.to_json(orient='index'))"])
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)["data/demo.bin"]
    command = [sys.executable, "-m", "core", "evaluate", "examples/jobs.csv", "data/demo.bin", "--json"]
    told = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    row = json.loads(told.stdout)["models"][0]
    for name in ("rho_w", "tau_w", "rho"):
        assert figures[name] == pytest.approx(row[name]["estimate"], abs=1e-9)
    assert figures["coverage"] == 1.0
    assert not (tmp_path / "nowhere").exists()


def test_a_model_under_the_bound_stops_it(tmp_path) -> None:
    code = "\n".join(cells()).replace('["data/demo.bin"], 0.1', '["data/demo.bin"], 0.99')
    done = run(code, tmp_path)
    assert done.returncode == 1
    assert "under 0.99: ['data/demo.bin']" in done.stderr
