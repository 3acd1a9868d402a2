"""What must not change the dataset, tried on the whole way from tokens to the dataset.

Drawing goes by positions: with the tokens in the same order it is the same ballot, whatever they are called. With
another order it is another ballot, so there every pair of items meets and voters go by one truth: then scores and ranks
are the same, votes and ballots too, and the intervals are not, for they follow who voted on what.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from campaigns import answer_batch
from embedding_files import numbers, text

from core.dataset.files import to_csv
from core.embeddings import import_embedding
from core.questions.comparison_page import write_batch
from core.store import Store
from core.store.ballots.ballot_rows import read_comparisons
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.engine import open_apart
from core.store.projects.embedding_library import add_embedding, adopt_import, record_import
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project
from core.store.scores.project_dataset import read_project_dataset
from core.store.tokens.areas import add_areas
from core.store.votes.intake import accept_upload
from core.tokens.files import AreaTokens

ROOT = Path(__file__).resolve().parents[1]
AREAS = (AreaTokens("Animals", ("cat", "dog", "horse", "mouse", "cow")), AreaTokens("Tools", ("hammer", "saw", "awl")))
N_ITEMS = 10 + 3
PLAN = PlanSettings(n_ballots=2, keep=0.5, appearances=4, task_size=3, n_voters=6, seed=7)
# Every pair of items meets: 13 items, then 7.
ALL_MEET = PlanSettings(n_ballots=2, keep=0.5, appearances=(12, 6), task_size=3, n_voters=6, seed=7)
Names = dict[str, str]
Change = Callable[[bytes], Sequence[bytes]]


def truth(pair: frozenset[str]) -> int:
    """How related two tokens are: any order without ties will do, as long as it isn't that of the names."""
    return int.from_bytes(hashlib.sha256(" ".join(sorted(pair)).encode()).digest()[:4], "big")


@dataclass(frozen=True)
class Run:
    """A finished campaign: its batches as they went out (but for the ballot's code, drawn at random so that no file is
    taken for another project's), and its dataset."""

    batches: tuple[bytes, ...]
    dataset: pd.DataFrame

    @property
    def csv(self) -> bytes:
        return to_csv(self.dataset)


def campaign(
    store: Store,
    areas: Sequence[AreaTokens] = AREAS,
    *,
    plan: PlanSettings = PLAN,
    old: Names | None = None,
    uploads: Change = lambda data: [data],
    before_draw: Callable[[str], object] = lambda project_id: None,
) -> Run:
    """Two ballots, answered by the truth about the `old` names of tokens and closed; `uploads` makes the files."""
    names = old or {}

    def choose(shown: dict[str, str]) -> str:
        left, right = (
            truth(frozenset(names.get(shown[f"{side}_{at}"], shown[f"{side}_{at}"]) for at in "ab"))
            for side in ("left", "right")
        )
        return "left" if left > right else "right"

    project_id = create_project(store, "Test", seed=11)
    add_areas(store, project_id, areas)
    save_plan(store, project_id, plan)
    batches = []
    for number in (1, 2):
        before_draw(project_id)
        draw_next_ballot(store, project_id)
        batches.append(write_batch(read_comparisons(store, project_id, number)))
        for at, data in enumerate(uploads(answer_batch(batches[-1], choose=choose, tag=f"A{number}-"))):
            accept_upload(store, project_id, data, f"results-{number}-{at}.csv")
        close_ballot(store, project_id)
    without_code = (re.sub(rb"(?m)^(b\d+-)[0-9a-f]{8}", rb"\1", batch) for batch in batches)
    return Run(tuple(without_code), read_project_dataset(store, project_id))


def by_item(dataset: pd.DataFrame, names: Names, columns: Sequence[str]) -> dict[frozenset[str], tuple[object, ...]]:
    """The rows by their items, under the old names."""
    items = [
        frozenset((names.get(a, a), names.get(b, b)))
        for a, b in zip(dataset["token_a"], dataset["token_b"], strict=True)
    ]
    return dict(zip(items, dataset[list(columns)].itertuples(index=False, name=None), strict=True))


NUMBERS = ("score", "rank", "lower", "upper", "votes", "ballots")


def renamed(old_to_new: Callable[[str], str]) -> tuple[list[AreaTokens], Names]:
    areas = [AreaTokens(area.name, tuple(map(old_to_new, area.tokens))) for area in AREAS]
    return areas, {old_to_new(token): token for area in AREAS for token in area.tokens}


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> Run:
    """The campaign as it is, carried out once for all that it is held against."""
    with open_apart(tmp_path_factory.mktemp("plain")) as store:
        return campaign(store)


@pytest.fixture(scope="module")
def all_met(tmp_path_factory) -> Run:
    with open_apart(tmp_path_factory.mktemp("met")) as store:
        return campaign(store, plan=ALL_MEET)


def test_the_campaign_is_one(plain):
    """Else the tests below would compare nothing."""
    assert len(plain.dataset) == N_ITEMS
    assert plain.dataset["ballots"].value_counts().to_dict() == {1: 6, 2: 7}
    assert plain.dataset["score"].nunique() > 5
    assert plain.dataset["lower"].notna().all()


@pytest.mark.parametrize(
    "new",
    [
        lambda token: token[::-1].upper(),
        lambda token: f'<b>{token}</b>, "$x$"',
        lambda token: f"=SUM({token})",
        lambda token: f"{truth(frozenset([token]))} 猫",
    ],
)
def test_other_names_of_tokens(store, plain, new):
    """Scores, ranks, intervals, votes and ballots stay, bit for bit; so does what is drawn."""
    areas, old = renamed(new)
    other = campaign(store, areas, old=old)
    assert by_item(other.dataset, old, NUMBERS) == by_item(plain.dataset, {}, NUMBERS)


def test_other_names_of_areas(store, plain):
    other = campaign(store, [AreaTokens(f"zz {area.name[::-1]}", area.tokens) for area in AREAS])
    assert by_item(other.dataset, {}, NUMBERS) == by_item(plain.dataset, {}, NUMBERS)
    assert set(other.dataset["area"]) == {"zz slaminA", "zz slooT"}


@pytest.mark.parametrize("seed", range(3))
def test_another_order_of_areas_and_tokens(store, all_met, seed):
    """Scores, ranks, votes and ballots stay where all pairs of items meet."""
    rng = np.random.default_rng(seed)
    shuffled = [AreaTokens(area.name, tuple(rng.permutation(area.tokens).tolist())) for area in AREAS]
    rng.shuffle(shuffled)
    assert [area.tokens for area in shuffled] != [area.tokens for area in AREAS]
    one, other = all_met, campaign(store, shuffled, plan=ALL_MEET)
    columns = ("score", "rank", "votes", "ballots")
    assert by_item(other.dataset, {}, columns) == by_item(one.dataset, {}, columns)
    best = max(by_item(one.dataset, {}, columns), key=truth)
    assert by_item(one.dataset, {}, columns)[best][1] == 1


# Uploads


def rows_of(data: bytes) -> tuple[list[str], list[dict[str, str]]]:
    reader = csv.DictReader(io.StringIO(data.decode("utf-8")))
    return list(reader.fieldnames or ()), list(reader)


def file_of(header: list[str], rows: Sequence[dict[str, str]]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, header, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: row[name] or "" for name in header} for row in rows)
    return out.getvalue().encode("utf-8")


def in_two(data: bytes) -> list[bytes]:
    header, rows = rows_of(data)
    return [file_of(header, rows[1::2]), file_of(header, rows[::2])]


def overlapping(data: bytes) -> list[bytes]:
    header, rows = rows_of(data)
    return [file_of(header, rows[3:]), file_of(header, rows[:6])]


def backwards(data: bytes) -> list[bytes]:
    header, rows = rows_of(data)
    return [file_of(header[::-1], rows[::-1])]


def doubled_rows(data: bytes) -> list[bytes]:
    header, rows = rows_of(data)
    return [file_of(header, [*rows, *rows])]


def one_by_one(data: bytes) -> list[bytes]:
    header, rows = rows_of(data)
    return [file_of(header, [row]) for row in rows[::-1]]


@pytest.mark.parametrize(
    "uploads", [in_two, overlapping, backwards, doubled_rows, one_by_one], ids=lambda f: f.__name__
)
def test_votes_in_other_files(store, plain, uploads):
    """The same bytes of batches and dataset but for the intervals: voters are drawn for them by their numbers, which
    they get as they come. Where they come in the same order, the intervals are the same too."""
    other = campaign(store, uploads=uploads)
    assert other.batches == plain.batches
    if uploads is doubled_rows:
        assert other.csv == plain.csv
    intervals = ["lower", "upper"]
    assert to_csv(other.dataset.drop(columns=intervals)) == to_csv(plain.dataset.drop(columns=intervals))
    assert np.abs(other.dataset[intervals].to_numpy() - plain.dataset[intervals].to_numpy()).max() < 0.3


def swapped(data: bytes, *, sides: bool) -> list[bytes]:
    """The file as if each comparison had been shown the other way round: its sides, or the tokens of its pairs."""
    header, rows = rows_of(data)
    suffixes = [name.removeprefix("Input.left_a") for name in header if name.startswith("Input.left_a")]
    for row in rows:
        for end in suffixes:
            left, right = (tuple(row[f"Input.{side}_{at}{end}"] for at in "ab") for side in ("left", "right"))
            first, second = (right, left) if sides else (left[::-1], right[::-1])
            for side, pair in (("left", first), ("right", second)):
                row[f"Input.{side}_a{end}"], row[f"Input.{side}_b{end}"] = pair
            if sides and row[f"Answer.choice{end}"]:
                row[f"Answer.choice{end}"] = {"left": "right", "right": "left"}[row[f"Answer.choice{end}"]]
    return [file_of(header, rows)]


@pytest.mark.parametrize("sides", [True, False])
def test_the_other_way_round(store, plain, sides):
    """Sides swapped with the answers, or the two tokens of each pair: the same dataset, byte for byte."""
    assert campaign(store, uploads=lambda data: swapped(data, sides=sides)).csv == plain.csv


def test_answers_swapped_alone_are_another_dataset(store, plain):
    """The test above sees the sides."""

    def turned(data: bytes) -> list[bytes]:
        header, rows = rows_of(data)
        answers = [name for name in header if name.startswith("Answer.choice")]
        for row in rows:
            row.update({name: {"left": "right", "right": "left"}.get(row[name], "") for name in answers})
        return [file_of(header, rows)]

    assert campaign(store, uploads=turned).csv != plain.csv


def test_a_model_that_nobody_asked(store, plain, tmp_path):
    """An embedding in the project changes neither ballots nor dataset."""
    words = [token for area in AREAS for token in area.tokens]
    path = tmp_path / "model.txt"
    path.write_bytes(text(words, numbers(len(words), 4)))
    info = import_embedding(path, store.incoming / "work")
    model = adopt_import(store, store.incoming / "work", info.identity)
    with store.write() as conn:
        record_import(conn, model, name="Model", source=str(path), info=info)
    other = campaign(store, before_draw=lambda project_id: add_embedding(store, project_id, model))
    assert other.batches == plain.batches
    assert other.csv == plain.csv


# The machine

PROGRAM = """
import hashlib, sys, tempfile
from pathlib import Path
sys.path[:0] = [{root!r}, {tests!r}]
from core.store.engine import open_apart
from test_metamorphic import campaign
with tempfile.TemporaryDirectory() as folder, open_apart(Path(folder)) as store:
    run = campaign(store)
print(*(hashlib.sha256(data).hexdigest() for data in (*run.batches, run.csv)))
"""


@pytest.mark.release
@pytest.mark.sqlite
def test_another_machine(plain):
    """Other time zone, language, order of sets: the same bytes."""
    here = " ".join(hashlib.sha256(data).hexdigest() for data in (*plain.batches, plain.csv))
    program = PROGRAM.format(root=str(ROOT), tests=str(ROOT / "tests"))
    machines = (
        {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "PYTHONHASHSEED": "1"},
        {"TZ": "America/St_Johns", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "77", "LANG": "tr_TR.UTF-8"},
    )
    for machine in machines:
        done = subprocess.run([sys.executable, "-c", program], env=os.environ | machine, capture_output=True, text=True)
        assert done.stdout.strip() == here, done.stderr[-2000:]
