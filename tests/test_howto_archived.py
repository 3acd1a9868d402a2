"""The commands of docs/howto/archived.md make projects of files such as it speaks of."""

from __future__ import annotations

import csv
import json
import re
import shlex
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.__main__ import cli

PAGE = Path(__file__).resolve().parents[1] / "docs" / "howto" / "archived.md"
COMMANDS = [
    shlex.split(line) for line in re.findall(r"(?m)^    (python -m core .*)$", PAGE.read_text(encoding="utf-8"))
]
PAIRS = [("cup", "tea"), ("cup", "pot"), ("tea", "pot")]


def results(path: Path, names: tuple[str, str, str, str], choices: tuple[str, str], answer: str) -> None:
    """Each two items before five voters, the left one chosen."""
    rows = [
        (f"A{voter}-{n}", f"W{voter}", "Approved", *left, *right, choices[0])
        for voter in range(5)
        for n, (left, right) in enumerate(combinations(PAIRS, 2))
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["AssignmentId", "WorkerId", "AssignmentStatus", *(f"Input.{name}" for name in names), answer])
        out.writerows(rows)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[words.index("--name") + 1])
def test_its_commands_make_a_project(words, tmp_path, monkeypatch):
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.chdir(tmp_path)
    by_hand = "--column" in words
    names = ("word1", "word2", "word3", "word4") if by_hand else ("left_a", "left_b", "right_a", "right_b")
    for name in (word for word in words if word.endswith(".csv")):
        results(tmp_path / name, names, ("a", "b") if by_hand else ("left", "right"), "Answer.choice")
    done = CliRunner().invoke(cli, [*words[3:], "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["tokens"], told["items"], told["open"]) == (3, 3, None)
    assert list(told["answers"].values()) == [{"new": 15}] * (1 if by_hand else 2)


def test_the_page_has_commands():
    assert len(COMMANDS) == 2
