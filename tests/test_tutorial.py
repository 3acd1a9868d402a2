"""Every command of docs/tutorial.md is run, in order, in one workspace; what it shows as printed is what is printed."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs_code import Block, blocks

pytestmark = [pytest.mark.release, pytest.mark.sqlite]

ROOT = Path(__file__).resolve().parents[1]
TUTORIAL = ROOT / "docs" / "tutorial.md"


def shell(block: Block, folder: Path) -> str:
    """What the commands of a block print; each must be one of the command line, and succeed."""
    said = ""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    for line in block.text.strip().splitlines():
        words = shlex.split(line)
        assert words[:3] == ["python", "-m", "core"], line
        done = subprocess.run([sys.executable, *words[1:]], cwd=folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        # Scores of another process on the same machine: no other last bits, however many threads it takes.
        assert words[3] != "replay" or "the same, bit for bit" in done.stdout, done.stdout
        said += done.stdout
    return said


def python(block: Block, names: dict) -> str:
    """What a block prints, run after those before it."""
    said = io.StringIO()
    code = compile("\n" * (block.line - 1) + block.text, str(TUTORIAL), "exec")
    with contextlib.redirect_stdout(said):
        exec(code, names)
    return said.getvalue()


@pytest.mark.release
def test_the_tutorial_ends_in_a_dataset_that_replays(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("data", "examples"):
        (folder / name).symlink_to(ROOT / name)
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.chdir(folder)
    names: dict = {}
    said = {}
    for block in blocks(TUTORIAL):
        said[block.line] = shell(block, folder) if block.language == "sh" else python(block, names)
        if block.printed is not None:
            shown = [line.rstrip() for line in block.printed.splitlines()]
            assert [line.rstrip() for line in said[block.line].splitlines()] == shown, f"line {block.line}"
    assert names["made"].detail["provisional"] is False
    assert not list((tmp_path / "workspace" / "incoming").iterdir())
