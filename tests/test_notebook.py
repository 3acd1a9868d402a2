"""The example notebook runs as it stands, cell by cell, in a process of its own and without a workspace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "examples" / "compare-models.ipynb"
MOST_LINES = 17


def cells() -> list[str]:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(code: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "RUNOFF_WORKSPACE": str(tmp_path / "nowhere"), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=env, check=False)


def test_it_is_short_and_kept_without_outputs() -> None:
    lines = [line for cell in cells() for line in cell.splitlines() if line.strip()]
    assert len(lines) <= MOST_LINES
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert all(not cell.get("outputs") for cell in notebook["cells"])


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
