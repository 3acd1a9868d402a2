"""Small campaigns for tests: projects, and people who answer a batch file as it was downloaded."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable, Sequence

import pytest

from core.questions.comparison_page import write_batch
from core.store import Store
from core.store.ballots.ballot_rows import read_comparisons
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.ballots.simulated import simulate_votes
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas
from core.store.votes.intake import accept_upload
from core.tokens.files import AreaTokens

AREAS = (
    AreaTokens("Animals", ("cat", "dog", "horse", "mouse", "café", "=cow")),
    AreaTokens("Tools", ("hammer", "saw", "007", "NA")),
)
PLAN = PlanSettings(n_ballots=3, keep=0.5, appearances=4, task_size=3, n_voters=6, seed=7)
Choice = Callable[[dict[str, str]], str]
# Both protocols, for what must hold by either: closing by `runoff` takes seconds, so every change runs the paper's.
BOTH_PROTOCOLS = ("paper", pytest.param("runoff", marks=pytest.mark.release))


def make_project(
    store: Store, *, name: str = "Test", kind: str = "real", plan: PlanSettings | None = PLAN, seed: int = 11
) -> str:
    """A project of 21 items with a plan, no ballot drawn."""
    project_id = create_project(store, name, kind=kind, seed=seed)
    add_areas(store, project_id, AREAS)
    if plan is not None:
        save_plan(store, project_id, plan)
    return project_id


def draw_batch(store: Store, project_id: str) -> bytes:
    """Draw the next ballot and return its batch file."""
    number = draw_next_ballot(store, project_id)
    return write_batch(read_comparisons(store, project_id, number))


def longer_pair(shown: dict[str, str]) -> str:
    """A voter who finds the pair with more letters more related; equal lengths tie."""
    left, right = len(shown["left_a"] + shown["left_b"]), len(shown["right_a"] + shown["right_b"])
    return "tie" if left == right else "left" if left > right else "right"


def answer_batch(
    batch: bytes,
    *,
    voters: Sequence[str] = ("W1", "W2", "W3", "W4", "W5", "W6"),
    choose: Choice = longer_pair,
    status: str = "Approved",
    tag: str = "A",
) -> bytes:
    """A result file in Mechanical Turk's format: each task of the batch answered by the next of `voters` in turn."""
    tasks = list(csv.DictReader(io.StringIO(batch.decode("utf-8"))))
    inputs = list(tasks[0])
    suffixes = sorted({column.removeprefix("left_a") for column in inputs if column.startswith("left_a")}, key=len)
    suffixes = sorted(suffixes, key=lambda suffix: int(suffix[1:] or 0))
    fixed = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "SubmitTime", "WorkTimeInSeconds"]
    answers = [f"Answer.choice{suffix}" for suffix in suffixes]
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow([*fixed, *(f"Input.{column}" for column in inputs), *answers, "Approve", "Reject"])
    for number, task in enumerate(tasks):
        shown = {column: html.unescape(value) for column, value in task.items()}
        chosen = []
        for suffix in suffixes:
            names = ("left_a", "left_b", "right_a", "right_b")
            cells = {name: shown[name + suffix] for name in names}
            chosen.append(choose(cells) if cells["left_a"] else "")
        voter = voters[number % len(voters)]
        when = f"Mon Jan 05 10:{number // 60 % 60:02d}:{number % 60:02d} PST 2026"
        # Real rows stop after the last answer: two fields short of the header.
        writer.writerow([f"H{number}", f"{tag}{number}", voter, status, when, "30", *task.values(), *chosen])
    return out.getvalue().encode("utf-8")


def run_simulated(store: Store, project_id: str, n: int, area_id: int | None = None) -> None:
    """Draw, answer by simulated voters and close `n` ballots of a trial project's ranking."""
    for _ in range(n):
        draw_next_ballot(store, project_id, area_id=area_id)
        simulate_votes(store, project_id, area_id=area_id)
        close_ballot(store, project_id, area_id=area_id)


def run_people(store: Store, project_id: str, n: int, choose: Choice = longer_pair) -> None:
    """Draw, answer by result files of six people and close `n` ballots of a project."""
    for number in range(n):
        data = answer_batch(draw_batch(store, project_id), choose=choose, tag=f"A{number}-")
        accept_upload(store, project_id, data, f"results-{number}.csv")
        close_ballot(store, project_id)
