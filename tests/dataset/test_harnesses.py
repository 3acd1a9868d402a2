"""What evaluates models on a published dataset: the comparisons in both orders, the programs, Croissant's description.

What each library itself makes of them is in tests/dataset/test_harnesses_by_libraries.py.
"""

from __future__ import annotations

import ast
import io
import json
import math
import sys
from dataclasses import replace
from types import ModuleType
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from campaigns import PLAN, make_project, run_people

from core.commands.publishing import publish
from core.dataset.datasheet.facts import SheetFields
from core.dataset.harnesses.programs import BOTH_ORDERS, MTEB_LANGUAGES, both_orders, mteb_language, task_name
from core.dataset.published import COMPARED, VOTES, read_published
from core.metrics import weighted_kendall, weighted_spearman
from core.store.engine import open_apart
from core.store.projects.releases import save_fields
from core.tabular.zips import checksum

ODD = SheetFields(
    title='A "title": of *tokens* {{ 7 * 7 }} {% if %} \'\'\' \\ """ # “più”',
    authors="Ada Author",
    licence="cc-by-4.0",
    language="it",
    purpose="To test.\n\nTwice: {{ x }}",
    token_source="From a book.",
    voters_note="Students of one town.",
    consent="All agreed.",
    contact="ada@example.org",
    citation="@misc{ada}",
    dev_share=0.4,
    split_seed=3,
)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A dataset with all that an owner may say, in odd letters, and one without a word: the files by path."""
    with open_apart(tmp_path_factory.mktemp("published") / "workspace") as store:
        project_id = make_project(store)
        run_people(store, project_id, 2)
        bare = read_published(publish(store, project_id).data).files
        save_fields(store, project_id, ODD)
        made = publish(store, project_id, "1.0")
        assert made.data == publish(store, project_id, "1.0").data
    return read_published(made.data).files, bare


def test_the_comparisons_in_both_orders_by_hand():
    """Comparison 1 is won by its first item 2 : 1, 2 by its second by a tie and a vote, 3 is undecided; 4 is a check,
    and the pilot's doesn't count, nor does a vote that isn't counted."""
    items = pd.DataFrame({"item": [0, 1, 2], "area": "x", "token_a": ["a", "b", "c"], "token_b": ["d", "e", "f"]})
    asked = [
        (0, 1, "main", 0, 1),
        (1, 1, "main", 0, 1),
        (1, 2, "main", 1, 2),
        (1, 3, "main", 0, 2),
        (1, 4, "check", 0, 1),
    ]
    comparisons = pd.DataFrame(
        [("", ballot, n, role, first, second, "", "") for ballot, n, role, first, second in asked],
        columns=list(COMPARED.columns),
    )
    given = [
        *((1, 1, 1.0, "counted"), (1, 1, 0.0, "counted"), (1, 1, 1.0, "counted"), (1, 1, 0.0, "excluded")),
        *((1, 2, 0.5, "counted"), (1, 2, 0.0, "counted"), (1, 3, 0.0, "counted"), (1, 3, 1.0, "counted")),
        *((1, 4, 1.0, "counted"), (0, 1, 1.0, "counted")),
    ]
    votes = pd.DataFrame(
        [("", ballot, n, "v", "first", value, 1.0, status, "person", 0.0) for ballot, n, value, status in given],
        columns=list(VOTES.columns),
    )
    dataset = pd.DataFrame({"area": "x", "token_a": ["a", "b"], "token_b": ["d", "e"], "score": [0.75, 0.5]})
    table = both_orders(items, comparisons, votes, dataset, "Which?")
    first, second, third = "a – d", "b – e", "c – f"
    assert table[["pair", "order", "choice_a", "choice_b", "answer", "votes"]].values.tolist() == [
        [1, 1, first, second, "A", 3],
        [1, 2, second, first, "B", 3],
        [2, 1, second, third, "B", 2],
        [2, 2, third, second, "A", 2],
    ]
    assert table["share"].tolist() == pytest.approx([2 / 3, 2 / 3, 0.75, 0.75])
    assert table["gap"].tolist()[:2] == [0.25, 0.25]
    assert table["gap"].isna().tolist() == [False, False, True, True]  # c – f has no score
    assert set(table["question"]) == {"Which?"}
    assert both_orders(items, comparisons.head(1), votes, dataset, "Which?").equals(BOTH_ORDERS.empty())


def test_the_published_comparisons_are_those_of_the_votes(published):
    files, _ = published
    table = pd.read_parquet(io.BytesIO(files["data/both_orders.parquet"]))
    votes = pd.read_csv(io.BytesIO(files["campaign/votes.csv"]), keep_default_na=False, dtype={"ranking": str})
    compared = pd.read_csv(io.BytesIO(files["campaign/comparisons.csv"]), keep_default_na=False)
    items = pd.read_csv(io.BytesIO(files["campaign/items.csv"]), keep_default_na=False)
    at = {(row.ballot, row.comparison): row for row in compared.itertuples()}
    wins: dict[tuple[int, int], list[float]] = {}
    for vote in votes.itertuples():
        place = (vote.ballot, vote.comparison)
        if vote.status == "counted" and at[place].role == "main" and vote.ballot > 0:
            wins.setdefault(place, []).append(float(vote.value))
    decided = {place: sum(values) / len(values) for place, values in wins.items()}
    decided = {place: won for place, won in decided.items() if won != 0.5}
    assert len(decided) > 20
    assert len(table) == 2 * len(decided)
    for row in table.itertuples():
        place = (row.ballot, row.comparison)
        better = at[place].first if decided[place] > 0.5 else at[place].second
        named = "{0.token_a} – {0.token_b}".format(items.iloc[better])
        assert {"A": row.choice_a, "B": row.choice_b}[row.answer] == named
    assert "Which two words are more related?" in table["question"][0]


def test_what_only_ties_say_is_left_out_with_the_reason(tmp_path):
    with open_apart(tmp_path / "workspace") as store:
        project_id = make_project(store, plan=replace(PLAN, n_ballots=1))
        run_people(store, project_id, 1, lambda shown: "tie")
        made = publish(store, project_id)
    files = read_published(made.data).files
    assert made.left_out == {
        "data/both_orders.parquet": "No comparison has more votes for one side than for the other."
    }
    assert not [path for path in files if "lm_eval" in path or "inspect" in path or path == "eval.yaml"]
    card = files["README.md"].decode()
    assert "Not in it: data/both_orders.parquet" in card
    assert "both_orders\n" not in card.split("---")[1]
    assert "mteb_task.py" in card
    assert "lm_eval" not in card


class _Yaml(yaml.SafeLoader):
    """YAML in which lm_eval's functions are their names."""


_Yaml.add_constructor("!function", lambda loader, node: f"!{loader.construct_scalar(node)}")


def test_what_is_put_into_programs_is_a_literal_whatever_a_text_holds(published):
    files, _ = published
    task = ast.parse(files["evaluation/mteb_task.py"])
    given = {
        word.arg: ast.literal_eval(word.value)
        for call in ast.walk(task)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "TaskMetadata"
        for word in call.keywords
    }
    scores = pd.read_csv(io.BytesIO(files["dataset.csv"]))["score"]
    assert given["name"] == "test_provisional_1_0"
    assert given["eval_langs"] == ["ita-Latn"]
    assert given["main_score"] == "abs_cosine_rho_w"  # a dataset of relatedness
    assert given["license"] == "cc-by-4.0"
    assert given["dataset"]["revision"] == "1.0"
    bounds = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.walk(task)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("min_score", "max_score")
    }
    assert bounds == {"min_score": scores.min(), "max_score": scores.max()}
    for path in ("evaluation/inspect_task.py", "evaluation/lm_eval/both_orders.py"):
        ast.parse(files[path])
    hub = yaml.safe_load(files["eval.yaml"])
    assert hub["name"] == ODD.title
    [asked] = hub["tasks"]
    header = yaml.safe_load(files["README.md"].decode().split("---")[1])
    [config] = [one for one in header["configs"] if one["config_name"] == asked["config"]]
    assert config["data_files"] == [{"split": asked["split"], "path": "data/both_orders.parquet"}]
    columns = pq.read_table(io.BytesIO(files["data/both_orders.parquet"])).column_names
    spec = asked["field_spec"]
    assert {spec["input"], spec["target"], *spec["choices"], *spec["metadata"]} <= set(columns)
    harness = yaml.load(files["evaluation/lm_eval/comparisons.yaml"], _Yaml)
    assert harness["task"] == "test_provisional_1_0"
    called = [value for value in [*harness.values(), harness["metric_list"][1]["aggregation"]] if str(value)[:1] == "!"]
    defined = {node.name for node in ast.walk(ast.parse(files["evaluation/lm_eval/both_orders.py"]))
               if isinstance(node, ast.FunctionDef)}  # fmt: skip
    assert {name.removeprefix("!both_orders.") for name in called} <= defined
    assert len(called) == 5


def carried_out(code: bytes, monkeypatch, **modules: dict) -> dict:
    """What a program defines, where the libraries that it imports are stand-ins."""
    for name, values in modules.items():
        dotted = name.replace("__", ".")
        module = ModuleType(dotted)
        for key, value in values.items():
            setattr(module, key, value)
        monkeypatch.setitem(sys.modules, dotted, module)
    found: dict = {"__file__": "/somewhere/evaluation/lm_eval/program.py"}
    exec(compile(code, "program.py", "exec"), found)
    return found


def test_the_figures_of_the_task_for_mteb_are_runoffs(published, monkeypatch):
    files, _ = published
    made = carried_out(
        files["evaluation/mteb_task.py"],
        monkeypatch,
        datasets={"Dataset": object, "DatasetDict": dict},
        mteb={},
        mteb__abstasks={},
        mteb__abstasks__sts={"AbsTaskSTS": object},
        mteb__abstasks__task_metadata={"TaskMetadata": dict},
    )
    rng = np.random.default_rng(4)
    for n in (2, 3, 40):
        for x, y in ((rng.normal(size=n), rng.normal(size=n)), (np.arange(n) // 2, rng.integers(0, 3, n))):
            y = np.asarray(y, dtype=float) + np.linspace(0, 1e-14, n)  # noise makes no ranks
            if len({*np.round(x, 9)}) < 2 or len({*np.round(y, 9)}) < 2:
                continue
            wanted = weighted_spearman(x, y), weighted_kendall(x, y)
            assert made["rho_w_and_tau_w"](x, y) == pytest.approx(wanted, abs=1e-12)
    for x, y in (([1.0], [1.0]), ([1, 2], [3, 3]), ([1, math.nan], [1, 2])):
        assert all(map(math.isnan, made["rho_w_and_tau_w"](x, y)))


def test_the_answers_to_both_orders_are_judged_by_hand(published, monkeypatch):
    """Three comparisons: one by its place, one not, one with an answer that can't be used."""
    files, _ = published
    harness = carried_out(files["evaluation/lm_eval/both_orders.py"], monkeypatch, datasets={"Dataset": object})
    doc = {"question": "Which?", "choice_a": "x", "choice_b": "y", "answer": "B", "pair": 7, "order": 2}
    assert harness["prompt"](doc) == "Which?\n\nA. x\nB. y\nAnswer:"
    assert harness["results"](doc, [(-2.0, False), (-1.0, True)]) == {"acc": 1.0, "flip_rate": (7, 2, 1)}
    answers = [(1, 1, 0), (1, 2, 0), (2, 1, 0), (2, 2, 1), (3, 1, 0)]
    assert harness["flip_rate"](answers) == 0.5
    assert math.isnan(harness["flip_rate"]([(3, 1, 0)]))

    def plain(function):
        return function

    inspect = carried_out(
        files["evaluation/inspect_task.py"],
        monkeypatch,
        inspect_ai={"Task": object, "task": plain},
        inspect_ai__dataset={"MemoryDataset": object, "Sample": object},
        inspect_ai__scorer=dict.fromkeys(("SampleScore", "accuracy", "choice", "metric", "stderr"), plain),
        inspect_ai__solver={"multiple_choice": plain},
    )
    given = [(1, 1, "A"), (1, 2, "A"), (2, 1, "A"), (2, 2, "B"), (3, 1, "A"), (3, 2, "")]
    scores = [MagicMock(sample_metadata={"pair": p, "order": o}, score=MagicMock(answer=said)) for p, o, said in given]
    assert inspect["flip_rate"]()(scores) == 0.5
    assert inspect["answered_both"]()(scores) == 2.0
    assert math.isnan(inspect["flip_rate"]()(scores[4:]))


def test_names_and_languages_of_tasks():
    assert task_name("–") == "dataset"
    assert mteb_language("zz") == mteb_language("und") == "und-Zyyy"
    assert mteb_language("zh-Hant") == "zho-Hant"
    assert all(len(key) == 2 and len(value) == 8 for key, value in MTEB_LANGUAGES.items())


def test_croissant_has_the_files_the_columns_and_what_the_datasheet_says(published):
    files, _ = published
    text = files["croissant.json"].decode()
    told = json.loads(text)
    assert text.startswith('{\n "@context"')
    assert told["conformsTo"] == ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
    assert told["name"] == {"en": ODD.title}
    assert told["license"] == "https://creativecommons.org/licenses/by/4.0/"
    for file in told["distribution"]:
        data = files[file["@id"]]
        assert (file["contentUrl"], file["contentSize"]) == (file["@id"], f"{len(data)} B")
        assert file["sha256"] == checksum(data)
    described = {file["@id"] for file in told["distribution"]}
    assert described == {path for path in files if path.startswith(("data/", "campaign/"))} | {
        "dataset.csv",
        "dataset.json",
    }
    sets = {one["@id"]: one for one in told["recordSet"]}
    assert list(sets) == ["items", "dev", "test", "votes", "comparisons", "both_orders"]
    for one in sets.values():
        [path] = {field["source"]["fileObject"]["@id"] for field in one["field"]}
        columns = pq.read_table(io.BytesIO(files[path])).column_names
        assert [field["source"]["extract"]["column"] for field in one["field"]] == columns
        assert all(field["description"]["en"] for field in one["field"])
    said = {key: json.dumps(value, ensure_ascii=False) for key, value in told.items() if key.startswith("rai:")}
    for key, part in (
        ("dataCollection", ODD.token_source),
        ("dataUseCases", "To test."),
        ("annotatorDemographics", ODD.voters_note),
        ("personalSensitiveInformation", ODD.consent),
        ("personalSensitiveInformation", "pseudonyms"),
        ("dataAnnotationProtocol", "Which two words are more related?"),
        ("dataAnnotationPlatform", "mturk"),
        ("annotationsPerItem", "4 to 8 votes per item, 8 in the median of 21 items"),
        ("dataReleaseMaintenancePlan", ODD.contact),
        ("dataLimitations", "Provisional"),
        ("dataBiases", "effective number of voters"),
    ):
        assert part in said[f"rai:{key}"], key


def test_croissant_leaves_out_what_nobody_said(published):
    _, bare = published
    told = json.loads(bare["croissant.json"])
    assert not {"license", "version", "creator", "citeAs", "inLanguage", "rai:dataReleaseMaintenancePlan"} & set(told)
    assert [one["@id"] for one in told["recordSet"]] == ["items", "votes", "comparisons", "both_orders"]

    def empty(value, place=""):
        if isinstance(value, dict | list):
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            return [place] * (not value) + [found for key, one in parts for found in empty(one, f"{place}/{key}")]
        return [place] if value in ("", None) else []

    assert empty(told) == []
