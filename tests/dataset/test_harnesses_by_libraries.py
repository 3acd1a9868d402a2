"""What other libraries make of a published dataset, each in an environment of its own (`make test-libraries`)."""

from __future__ import annotations

import io
import json
import math
import os
import re
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from campaigns import make_project, run_people
from test_harnesses import ODD
from test_published import blocks_of, unpacked

from core.commands.publishing import publish
from core.dataset.published import read_published
from core.metrics import weighted_kendall, weighted_spearman
from core.store.engine import open_apart
from core.store.projects.releases import save_fields

pytestmark = [pytest.mark.libraries, pytest.mark.sqlite]

ROOT = Path(__file__).resolve().parents[2]
# A model made on the spot: a vector for each word that it has learned nothing of, by its place among the tokens.
TINY = """
import json, os, sys
import numpy as np
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import StaticEmbedding
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
words = json.loads(sys.argv[1])
rows = np.random.default_rng(5).normal(size=(len(words), 4)).astype("float32")
tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(words)}, unk_token=words[0]))
model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=rows)], device="cpu")
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Path, dict[str, bytes]]:
    """A published dataset, unpacked, and its files."""
    folder = tmp_path_factory.mktemp("published")
    with open_apart(folder / "workspace") as store:
        project_id = make_project(store)
        run_people(store, project_id, 2)
        save_fields(store, project_id, ODD)
        published = publish(store, project_id, "1.0")
    return unpacked(published.data, folder, "the-unpacked-folder"), read_published(published.data).files


def shown(holds: str) -> str:
    """The one piece of Python of docs/dataset.md that has this in it; it runs beside the unpacked folder."""
    pieces = re.findall(r"(?:^    .*\n)+", (ROOT / "docs" / "dataset.md").read_text("utf-8"), re.MULTILINE)
    [piece] = [piece for piece in pieces if holds in piece]
    return "import os\nos.chdir('..')\n" + textwrap.dedent(piece)


def said_by(interpreter: Path, code: str, folder: Path, *arguments: str) -> Any:
    """What a program says as JSON in its last line, run in a folder with nothing of the net to be had."""
    env = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(folder.parent / "cache"),
        "TOKENIZERS_PARALLELISM": "false",
        "MTEB_CACHE": str(folder.parent / "mteb"),
        "INSPECT_LOG_DIR": str(folder.parent / "logs"),
        "INSPECT_DISPLAY": "none",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    run = subprocess.run(
        [interpreter, "-c", code, *arguments], capture_output=True, text=True, env=env, cwd=folder, timeout=900
    )
    assert run.returncode == 0, run.stderr[-5000:]
    return json.loads(run.stdout.splitlines()[-1])


def test_mlcroissant_finds_no_fault_and_reads_every_record(harnesses, made):
    folder, files = made
    code = """
import json, logging
import mlcroissant
dataset = mlcroissant.Dataset(jsonld="croissant.json")
told = dataset.metadata
def plain(value):
    return value.decode() if isinstance(value, bytes) else value.item() if hasattr(value, "item") else value
records = {
    of.id: [{name.split("/")[1]: plain(value) for name, value in row.items()} for row in dataset.records(of.id)]
    for of in told.record_sets
}
rai = {name: getattr(told, name) for name in (
    "data_collection", "data_collection_type", "data_collection_missing_data", "data_collection_raw_data",
    "data_preprocessing_protocol", "data_annotation_protocol", "data_annotation_platform", "data_annotation_analysis",
    "annotations_per_item", "annotator_demographics", "machine_annotation_tools", "data_biases", "data_use_cases",
    "data_limitations", "personal_sensitive_information", "data_release_maintenance_plan")}
issues = told.ctx.issues
print(json.dumps([sorted(issues.errors), sorted(issues.warnings), told.name, told.conforms_to, rai, records]))
"""
    errors, warnings, name, conforms, rai, records = said_by(harnesses, code, folder)
    assert errors == []
    assert [warning for warning in warnings if "datePublished" not in warning] == []  # not known when it is made
    assert name in (ODD.title, {"en": ODD.title})
    assert "http://mlcommons.org/croissant/1.1" in conforms
    assert all(rai.values()), rai
    assert sorted(records) == ["both_orders", "comparisons", "dev", "items", "test", "votes"]
    for of, path in (("items", "all"), ("dev", "dev"), ("test", "test"), ("votes", "votes"), ("both_orders",) * 2):
        frame = pd.read_parquet(io.BytesIO(files[f"data/{path}.parquet"]))
        wanted = json.loads(frame.to_json(orient="records", double_precision=15))
        assert len(records[of]) == len(wanted)
        for found, row in zip(records[of], wanted, strict=True):
            assert list(found) == list(row)
            for key, value in row.items():
                if value is None:
                    assert found[key] is None or math.isnan(found[key])
                else:
                    assert found[key] == (pytest.approx(value) if isinstance(value, float) else value)


def test_the_documentation_reads_the_records(harnesses, made):
    folder, files = made
    code = shown("mlcroissant.Dataset(") + "import json\nprint(json.dumps(len(items)))"
    assert said_by(harnesses, code, folder) == len(pd.read_parquet(io.BytesIO(files["data/all.parquet"])))


def test_datasets_loads_every_configuration(harnesses, made):
    folder, files = made
    code = """
import json, os
from datasets import get_dataset_config_names, load_dataset
here = os.getcwd()
names = get_dataset_config_names(here)
print(json.dumps({name: {split: part.to_list() for split, part in load_dataset(here, name).items()} for name in names}))
"""
    found = said_by(harnesses, code, folder)
    assert {name: set(splits) for name, splits in found.items()} == {
        "default": {"dev", "test"},
        "all": {"test"},
        "votes": {"train"},
        "comparisons": {"train"},
        "both_orders": {"test"},
    }
    asked = pd.read_parquet(io.BytesIO(files["data/both_orders.parquet"]))
    rows = found["both_orders"]["test"]
    assert [row["answer"] for row in rows] == asked["answer"].tolist()
    assert [row["choice_a"] for row in rows] == asked["choice_a"].tolist()


# Three judges: one that agrees with the votes, one that always says A, one that can't be understood.
INSPECT = """
import json, sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
sys.path.insert(0, "evaluation")
from inspect_task import comparisons, samples
right = {(sample.choices[0], sample.choices[1]): sample.target for sample in samples()}
def said(judge):
    def answer(messages, tools, choice, config):
        lines = messages[-1].text.splitlines()
        a, b = ([line[3:] for line in lines if line.startswith(mark)][-1] for mark in ("A) ", "B) "))
        told = {"agrees": f"ANSWER: {right[a, b]}", "place": "ANSWER: A", "talks": "Both are equal."}[judge]
        output = ModelOutput.from_content("mockllm/model", told)
        output.usage = ModelUsage()  # else tokens are counted, by a list that is fetched
        return output
    return answer
found = {}
for judge in ("agrees", "place", "talks"):
    [log] = eval(comparisons(), model=get_model("mockllm/model", custom_outputs=said(judge), memoize=False))
    assert log.status == "success", log.error
    found[judge] = {name: value.value for score in log.results.scores for name, value in score.metrics.items()}
    found[judge]["samples"] = log.results.completed_samples
print(json.dumps(found))
"""


def test_inspect_asks_both_orders(harnesses, made):
    folder, files = made
    asked = pd.read_parquet(io.BytesIO(files["data/both_orders.parquet"]))
    found = said_by(harnesses, INSPECT, folder)
    n_pairs = asked["pair"].nunique()
    assert {found[judge]["samples"] for judge in found} == {2 * n_pairs}
    assert (found["agrees"]["accuracy"], found["agrees"]["flip_rate"]) == (1.0, 0.0)
    assert (found["place"]["accuracy"], found["place"]["flip_rate"]) == (0.5, 1.0)
    assert found["place"]["stderr"] == pytest.approx(0.0, abs=1e-12)  # each comparison is half right: one cluster
    assert found["agrees"]["answered_both"] == n_pairs
    assert (found["talks"]["accuracy"], found["talks"]["answered_both"]) == (0.0, 0.0)
    assert math.isnan(found["talks"]["flip_rate"])


def test_inspect_takes_the_benchmark_as_the_hub_gives_it(harnesses, made):
    """By Inspect's own reader of eval.yaml; the folder stands for the Hub."""
    folder, files = made
    code = """
import json, os
from inspect_ai._eval.task import hf
import huggingface_hub
huggingface_hub.hf_hub_download = lambda repo_id, filename, **_: filename
load = hf.hf_dataset
hf.hf_dataset = lambda path, revision, **more: load(path=os.getcwd(), **more)
[task] = hf.task_create_from_hf("hf/owner/name")
print(json.dumps([[sample.input, sample.choices, sample.target] for sample in task.dataset]))
"""
    asked = pd.read_parquet(io.BytesIO(files["data/both_orders.parquet"]))
    wanted = [[row.question, [row.choice_a, row.choice_b], row.answer] for row in asked.itertuples()]
    assert said_by(harnesses, code, folder) == wanted


LM_EVAL = """
import json
import lm_eval
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager
class Judge(LM):
    def __init__(self, says):
        super().__init__()
        self.says = says
    def loglikelihood(self, requests, **_):
        return [(self.says(*request.args), False) for request in requests]
    def loglikelihood_rolling(self, requests, **_):
        raise NotImplementedError
    generate_until = loglikelihood_rolling
def shorter(prompt, letter):
    [offered] = [line[3:] for line in prompt.splitlines() if line.startswith(f"{letter.strip()}. ")]
    return -float(len(offered))
judges = {"place": lambda prompt, letter: 0.0 if letter.strip() == "A" else -1.0, "shorter": shorter}
[name] = TaskManager(include_path="evaluation/lm_eval", include_defaults=False).all_tasks
manager = TaskManager(include_path="evaluation/lm_eval", include_defaults=False)
found = {}
for judge, says in judges.items():
    told = lm_eval.simple_evaluate(model=Judge(says), tasks=[name], task_manager=manager, bootstrap_iters=0)
    found[judge] = {key.split(",")[0]: value for key, value in told["results"][name].items()}
    found[judge]["samples"] = told["n-samples"][name]["effective"]
print(json.dumps([name, found], default=str))
"""


def test_the_lm_evaluation_harness_asks_both_orders(harnesses, made):
    folder, files = made
    asked = pd.read_parquet(io.BytesIO(files["data/both_orders.parquet"]))
    name, found = said_by(harnesses, LM_EVAL, folder)
    assert name == "test_provisional_1_0"
    assert {of["samples"] for of in found.values()} == {len(asked)}
    assert (found["place"]["acc"], found["place"]["flip_rate"]) == (0.5, 1.0)
    lengths = asked["choice_a"].str.len() - asked["choice_b"].str.len()
    said = np.where(lengths <= 0, "A", "B")  # of two that are as likely the first
    assert found["shorter"]["acc"] == pytest.approx((said == asked["answer"]).mean())
    assert found["shorter"]["flip_rate"] == pytest.approx((lengths == 0).mean())


def test_mteb_runs_the_task(mteb, made):
    folder, files = made
    rows = [json.loads(line) for line in files["formats/mteb-sts/test.jsonl"].splitlines()]
    words = sorted({row[key] for row in rows for key in ("sentence1", "sentence2")})
    lines = shown("mteb_task import RunoffTask").replace("print(", "result = (")
    lines = re.sub(r"mteb\.get_model\(.*\)", "model", lines)
    code = (
        TINY
        + lines
        + """
task = RunoffTask()
task.load_data()
pairs = task.dataset["test"]
a, b = (model.encode(list(pairs[side])) for side in ("sentence1", "sentence2"))
cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
[scores] = result["test"]
print(json.dumps([scores, cosines.tolist(), pairs.to_list(), task.metadata.bcp47_codes]))
"""
    )
    scores, cosines, pairs, languages = said_by(mteb, code, folder, json.dumps(words))
    assert pairs == rows
    assert languages == ["ita-Latn"]
    gold = [row["score"] for row in rows]
    for name, values in (("cosine", cosines), ("abs_cosine", np.abs(cosines))):
        assert scores[f"{name}_rho_w"] == pytest.approx(weighted_spearman(gold, values), abs=1e-6)
        assert scores[f"{name}_tau_w"] == pytest.approx(weighted_kendall(gold, values), abs=1e-6)
    assert scores["main_score"] == scores["abs_cosine_rho_w"]
    plain = pd.Series(gold).corr(pd.Series(np.abs(cosines)), method="spearman")
    assert scores["abs_cosine_spearman"] == pytest.approx(plain, abs=1e-6)
    assert scores["cosine_spearman"] == pytest.approx(pd.Series(gold).corr(pd.Series(cosines), method="spearman"))


def test_sentence_transformers_evaluates_by_the_lines_of_the_card(mteb, made):
    folder, files = made
    [lines] = [code for code in blocks_of(files["README.md"]) if "EmbeddingSimilarityEvaluator(" in code]
    lines = lines.replace("load_dataset(", "load_dataset(os.getcwd() or ").replace(
        'evaluator(SentenceTransformer("sentence-transformers/all-MiniLM-L6-v2"))', "found = evaluator(model)"
    )
    assert "found = " in lines
    dev = pd.read_parquet(io.BytesIO(files["data/dev.parquet"]))
    words = sorted({*dev["token_a"], *dev["token_b"]})
    code = TINY + lines + "\nprint(json.dumps([found, model.encode(words).tolist()]))"
    found, vectors = said_by(mteb, code, folder, json.dumps(words))
    of = dict(zip(words, np.array(vectors), strict=True))
    cosines = [
        of[a] @ of[b] / np.linalg.norm(of[a]) / np.linalg.norm(of[b])
        for a, b in zip(dev["token_a"], dev["token_b"], strict=True)
    ]
    assert found["spearman_cosine"] == pytest.approx(dev["score"].corr(pd.Series(cosines), method="spearman"))
