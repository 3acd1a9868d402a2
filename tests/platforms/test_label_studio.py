"""Label Studio: its exports in all three formats, and the real converter on our own tasks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from campaigns import longer_pair, make_project
from filelock import FileLock

from core.errors import InputError
from core.platforms import read_results
from core.platforms.label_studio import LABEL_STUDIO, write_config, write_tasks
from core.questions.comparison_page import Example, Wording
from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.ballots.drawing import draw_next_ballot
from core.store.scores.project_dataset import read_ballot_scores
from core.store.votes.intake import accept_upload, preview_upload
from core.votes.platform import Outgoing

# The converter's own dependencies; the rest of the package's (500 MB) serves other parts of it.
SDK = "label-studio-sdk==2.1.2"
NEEDED = ("appdirs", "defusedxml", "ijson", "lxml", "nltk", "pandas>=3.1,<4", "Pillow", "PyJWT", "requests", "ujson")
CONVERT = """
import sys
from label_studio_sdk.converter import Converter
config, tasks, folder = sys.argv[1:]
converter = Converter(open(config, encoding="utf-8").read(), None, download_resources=False)
for name, kind in (("min", "JSON_MIN"), ("csv", "CSV"), ("json", "JSON")):
    converter.convert(tasks, f"{folder}/{name}", kind, is_dir=False)
"""


def outgoing(comparisons=None, **more):
    return Outgoing("b1-x", 3, "relatedness", True, lambda: comparisons, **{"wording": Wording(), **more})


def project(store):
    project_id = make_project(store)
    draw_next_ballot(store, project_id)
    return project_id, read_comparisons(store, project_id, 1)


def annotated(tasks: bytes, choose=longer_pair, people=("anna@example.com", "ben@example.com")) -> list[dict]:
    """The tasks as Label Studio exports them, each annotated by the next of `people`."""
    exported = []
    for n, task in enumerate(json.loads(tasks), 1):
        choice = choose(task["data"])
        result = []
        if choice in ("left", "right"):
            result = [{"from_name": "choice", "to_name": ["left", "right"], "type": "pairwise"}]
            result[0]["value"] = {"selected": choice}
        elif choice in ("tie", "unknown"):
            result = [{"from_name": "other", "to_name": "left", "type": "choices", "value": {"choices": [choice]}}]
        annotation = {
            "id": 100 + n,
            "completed_by": {"id": n % len(people), "email": people[n % len(people)]},
            "result": [entry | {"id": f"r{n}", "origin": "manual"} for entry in result],
            "was_cancelled": choice == "skip",
            "created_at": f"2026-11-01T10:{n // 60:02d}:{n % 60:02d}.000000Z",
            "updated_at": "2026-11-01T12:00:00.000000Z",
            "lead_time": 4.25,
            "task": n,
        }
        exported.append({"id": n, "annotations": [annotation], "predictions": [], "data": task["data"]})
    return exported


def test_what_annotators_see():
    example = Example(("a & b", "<c>"), ("d", '"e"'), "left", "since $x")
    config = write_config(outgoing(wording=Wording('Which "pair"?', "One.\n\nTwo\x07 & a half.", (example,))))
    root = ET.fromstring(config)
    texts = [header.get("value") for header in root.iter("Header")]
    assert texts[:3] == ['Which "pair"?', "One.", "Two\ufffd & a half."]
    assert texts[3].startswith("Example: a & b – <c> | d – ")
    assert "$" not in texts[3]
    pairwise = root.find("Pairwise")
    assert (pairwise.get("name"), pairwise.get("toName")) == ("choice", "left,right")
    assert [text.get("value") for text in root.iter("Text")] == ["$left", "$right"]
    assert [choice.get("alias") for choice in root.iter("Choice")] == ["tie", "unknown"]
    without_ties = write_config(Outgoing("b", 1, "similarity", False, lambda: None, Wording()))
    assert [choice.get("alias") for choice in ET.fromstring(without_ties).iter("Choice")] == ["unknown"]


def test_a_task_is_a_comparison_as_drawn(store):
    _, comparisons = project(store)
    tasks = json.loads(write_tasks(comparisons))
    assert len(tasks) == 42
    first, row = tasks[0]["data"], comparisons.iloc[0]
    assert first["comparison_id"] == f"{row['task_id']}-{row['n']}"
    assert first["left"] == f"{row['left_a']} – {row['left_b']}"
    assert first["area_right"] == row["area_right"]
    (_, tasks_file) = LABEL_STUDIO.files(outgoing(comparisons, only=lambda: [int(row["question_id"])], is_top_up=True))
    assert [task["data"] for task in json.loads(tasks_file.make())] == [first]
    assert tasks_file.name == "b1-x-top-up-label-studio.json"
    with pytest.raises(InputError, match="no comparison"):
        write_tasks(comparisons.iloc[:0])


def test_skipped_empty_and_contradicting_annotations(store):
    project_id, comparisons = project(store)
    choices = iter(["left", "skip", "", "tie", "unknown", *["right"] * 37])
    exported = annotated(write_tasks(comparisons), lambda data: next(choices))
    other = {"from_name": "other", "type": "choices", "value": {"choices": ["Both equally related"]}}
    exported[0]["annotations"][0]["result"].append(other)
    exported[6]["annotations"] = []
    exported[7]["annotations"].append(exported[7]["annotations"][0] | {"id": 999})
    preview = preview_upload(store, project_id, json.dumps(exported).encode(), "export.json")
    assert (preview.platform, preview.n_rows) == ("labelstudio", 42)
    assert preview.counts == {"unreadable": 1, "no_answer": 2, "new": 37, "unknown": 1, "repeat": 1}


def test_the_same_votes_again_in_another_format_are_known(store):
    project_id, comparisons = project(store)
    exported = annotated(write_tasks(comparisons))
    assert accept_upload(store, project_id, json.dumps(exported).encode(), "export.json").counts == {"new": 42}
    slim = [
        task["data"]
        | {
            "id": task["id"],
            "annotator": annotation["completed_by"]["email"],
            "annotation_id": annotation["id"],
            "created_at": annotation["created_at"],
            **{entry["from_name"]: [entry["value"]] for entry in annotation["result"]},
        }
        for task in exported
        for annotation in task["annotations"]
    ]
    preview = preview_upload(store, project_id, json.dumps(slim).encode(), "min.json")
    assert preview.counts == {"known": 42}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b'[{"id": 1, "annotations": [{"id": 2, "completed_by": 1, "result": []}], "data": {"x": "y"}}]',
            "nobody has chosen yet",
        ),
        (b'[{"id": 1, "annotations": [{"id": 2', "can't be read as JSON"),
        (b'{"a": 1}', "not a result file"),
        (b"annotation_id,annotator,pw\n1,a,x\n", "didn't make"),
    ],
)
def test_other_files_are_refused(data, said):
    with pytest.raises(InputError, match=said):
        read_results(data, "export.json")


def test_annotations_without_a_person_are_unreadable(store):
    project_id, comparisons = project(store)
    exported = annotated(write_tasks(comparisons))
    exported[3]["annotations"][0]["completed_by"] = None
    exported[4]["data"]["comparison_id"] = "nonsense"
    preview = preview_upload(store, project_id, json.dumps(exported).encode(), "export.json")
    assert preview.counts == {"new": 40, "other_ballot": 1, "unreadable": 1}
    assert [issue.row for issue in preview.issues] == [4]


@pytest.fixture(scope="session")
def converter(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with Label Studio's converter, made once and kept beside pytest's cache."""
    cache = getattr(request.config, "cache", None)
    folder = Path(cache.mkdir("label-studio")) if cache is not None else tmp_path_factory.mktemp("label-studio")
    python = folder / "bin" / "python"
    with FileLock(str(folder) + ".lock"):
        if not (folder / "made").exists():
            venv.create(folder, with_pip=True, clear=True)
            install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            for arguments in ([*NEEDED], ["--no-deps", SDK]):
                done = subprocess.run([*install, *arguments], capture_output=True, text=True, timeout=600)
                if done.returncode and os.environ.get("CI"):
                    pytest.fail(f"pip can't install {SDK}: {done.stderr[-500:]}")
                if done.returncode:
                    pytest.skip(f"pip can't install {SDK}: {done.stderr.strip().splitlines()[-1:]}")
            (folder / "made").touch()
    return python


@pytest.mark.release
@pytest.mark.release
def test_the_real_converter_writes_what_we_read(store, converter, tmp_path):
    project_id, comparisons = project(store)
    ballot = read_ballots(store, project_id)[0]
    asked = iter(range(1000))
    exported = annotated(write_tasks(comparisons), lambda data: "unknown" if next(asked) == 5 else longer_pair(data))
    (tmp_path / "config.xml").write_text(write_config(outgoing(comparisons)), encoding="utf-8")
    (tmp_path / "export.json").write_text(json.dumps(exported, ensure_ascii=False), encoding="utf-8")
    script = tmp_path / "convert.py"
    script.write_text(CONVERT, encoding="utf-8")
    arguments = [str(script), str(tmp_path / "config.xml"), str(tmp_path / "export.json"), str(tmp_path)]
    subprocess.run([str(converter), *arguments], check=True, capture_output=True, timeout=120, env=_clean())
    answers = {}
    for name in ("json", "min", "csv"):
        (path,) = (tmp_path / name).iterdir()
        file = read_results(path.read_bytes(), path.name)
        assert (file.platform, file.n_rows, file.n_unreadable, file.issues) == ("labelstudio", 42, 0, ())
        answers[name] = file.answers.drop(columns="row").sort_values("assignment_id", ignore_index=True)
    assert answers["min"].equals(answers["json"])
    assert answers["csv"].equals(answers["json"])
    (csv_file,) = (tmp_path / "csv").iterdir()
    accepted = accept_upload(store, project_id, csv_file.read_bytes(), csv_file.name)
    assert accepted.counts == {"new": 41, "unknown": 1}
    assert accepted.n_voters == 2
    points, n_votes = by_hand(exported)
    scores = read_ballot_scores(store, project_id)
    frame = comparisons.set_index("question_id")
    assert len(frame) == ballot.n_comparisons
    for item, wins, ties, losses in scores[["item", "wins", "ties", "losses"]].itertuples(index=False):
        texts = {
            frozenset((row.left_a, row.left_b) if (row.first == item) != row.flipped else (row.right_a, row.right_b))
            for row in comparisons[(comparisons["first"] == item) | (comparisons["second"] == item)].itertuples()
        }
        (pair,) = texts
        assert (wins + ties / 2, wins + ties + losses) == (points[pair], n_votes[pair])


def by_hand(exported: list[dict]) -> tuple[dict[frozenset, float], dict[frozenset, int]]:
    """Points and votes of each pair of tokens, straight from the export."""
    points: dict[frozenset, float] = {}
    n_votes: dict[frozenset, int] = {}
    for task in exported:
        data = task["data"]
        value = task["annotations"][0]["result"][0]["value"]
        choice = value.get("selected") or value["choices"][0]
        if choice == "unknown":
            continue
        for side in ("left", "right"):
            pair = frozenset((data[f"{side}_a"], data[f"{side}_b"]))
            points[pair] = points.get(pair, 0) + (0.5 if choice == "tie" else float(choice == side))
            n_votes[pair] = n_votes.get(pair, 0) + 1
    return points, n_votes


def _clean() -> dict[str, str]:
    """The environment without what would lead the converter's Python to other packages."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | {"PYTHONUTF8": "1"}


def test_it_runs_in_an_environment_of_its_own():
    assert "label_studio_sdk" not in sys.modules
