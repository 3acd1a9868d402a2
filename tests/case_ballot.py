"""A small open ballot, and files of `cases/second` as answers to it: its ids and words are put into the templates.

`b1-00000000-00002-1` stands for the id of comparison 1 of task 2, `b1-00000000-00002` for the task's, `{2.1 left_a}`
for a word that it shows, with `!excel` as a spreadsheet leaves it.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.store import Store
from core.store.ballots.ballot_rows import read_comparisons
from core.store.ballots.drawing import draw_next_ballot
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas
from core.tokens.files import AreaTokens

AREAS = (("Tools", ("anvil", "barge", "candle", "dune")), ("Sea", ("ship", "fenêtre", "R&B", "1-2")))
_ID = re.compile(rb"b1-00000000-(\d{5})(-\d+)?")
_WORD = re.compile(rb"\{(\d+)\.(\d+) (\w+)(?:!(\w+))?\}")


@dataclass(frozen=True)
class CaseBallot:
    """Six tasks of two comparisons, open in a store."""

    store: Store
    project_id: str
    comparisons: list[dict[str, Any]]

    def filled(self, template: bytes) -> bytes:
        """A template with the ballot's ids and words."""
        tasks = list(dict.fromkeys(row["task_id"] for row in self.comparisons))
        shown = {(tasks.index(row["task_id"]) + 1, row["n"]): row for row in self.comparisons}

        def word(found: re.Match[bytes]) -> bytes:
            text = html.escape(shown[int(found[1]), int(found[2])][found[3].decode()], quote=False)
            return (text if found[4] != b"excel" else {"1-2": "02-Jan"}.get(text, text)).encode()

        def id_(found: re.Match[bytes]) -> bytes:
            return tasks[int(found[1]) - 1].encode() + (found[2] or b"")

        return _WORD.sub(word, _ID.sub(id_, template))

    def file(self, name: str) -> bytes:
        """A file of `cases/second` as answers to this ballot."""
        return self.filled((Path(__file__).parent / "cases" / "second" / name).read_bytes())


def open_case_ballot(store: Store) -> CaseBallot:
    """Draw the ballot."""
    project_id = create_project(store, "trial", kind="real", seed=11)
    add_areas(store, project_id, [AreaTokens(name, tokens) for name, tokens in AREAS])
    save_plan(store, project_id, PlanSettings(n_ballots=1, keep=0.5, appearances=2, task_size=2, n_voters=6, seed=7))
    draw_next_ballot(store, project_id)
    rows = read_comparisons(store, project_id, 1).to_dict("records")
    return CaseBallot(store, project_id, [{str(name): cell for name, cell in row.items()} for row in rows])
