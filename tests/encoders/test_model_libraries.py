"""Static models, cross-encoders and mteb's files against the libraries that write them, on tiny models made here.

Each runs in an environment of its own (the fixtures `libraries` and `mteb`).
"""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "PYTHONPATH": str(ROOT)}
WORDS = [
    *("sea", "tide", "wave", "surf", "beach", "sand", "reef", "shore"),
    *("gull", "salt", "fish", "boat", "sail", "mast", "deck", "port"),
]

pytestmark = pytest.mark.libraries


def said_by(interpreter: Path, script: str, *arguments: object, cwd: Path = ROOT) -> str:
    """What a script prints last, run by an interpreter that has the libraries."""
    command = [str(interpreter), "-c", script, *map(str, arguments)]
    found = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env={**os.environ, **OFFLINE})
    assert found.returncode == 0, found.stderr[-3000:]
    return found.stdout.strip().splitlines()[-1]


STATIC = """
import sys
import numpy as np
from pathlib import Path
from model2vec import StaticModel
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Normalize, StaticEmbedding
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from core.encoders import inspect, open_encoder

folder, rng = Path(sys.argv[1]), np.random.default_rng(5)
pieces = ["[PAD]", "[UNK]", "sea", "##side", "machine", "learn", "##ing", "tea", "t", "##a", "##e", "é"]
texts = ["sea", "Seaside", "machine learning", "tea", "tae é", "xyzzy", "sea xyzzy", "", "  ", "tea " * 600, "東京"]

def tokenizer(kind):
    if kind == "unigram":
        made = Tokenizer(models.Unigram([("<unk>", 0.0), *((p, -float(i)) for i, p in enumerate("asetimchnr", 1))], 0))
        made.pre_tokenizer = pre_tokenizers.Whitespace()
        return made
    made = Tokenizer(models.WordPiece({p: i for i, p in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    made.enable_padding(pad_id=0, pad_token="[PAD]")
    return made

worst = 0.0
for number in range(12):
    kind = "unigram" if number % 3 == 0 else "pieces"
    cut = tokenizer(kind)
    n, shared = cut.get_vocab_size(), number % 4 == 1
    rows = rng.normal(size=(5 if shared else n, 16)).astype(np.float16 if number % 5 == 2 else np.float32)
    model = StaticModel(
        rows, cut, normalize=bool(number % 2), max_length=[512, 3, None][number % 3],
        weights=rng.uniform(0.1, 2, n).astype(np.float32) if number % 4 else None,
        token_mapping=rng.integers(0, 5, n) if shared else None,
    )
    model.save_pretrained(folder / f"m{number}")
    theirs, ours = model.encode(texts), open_encoder(folder / f"m{number}").encode(texts)
    worst = max(worst, float(np.abs(theirs.astype(float) - ours).max()) / (500 if rows.dtype == np.float16 else 1))

parts = [StaticEmbedding(tokenizer("pieces"), embedding_weights=rng.normal(size=(len(pieces), 16)).astype(np.float32))]
for number, modules in enumerate((parts, [*parts, Normalize()])):
    made = SentenceTransformer(modules=modules, device="cpu")
    made.save(str(folder / f"s{number}"))
    found = inspect(folder / f"s{number}")
    assert (found.kind, found.normalised) == ("StaticEmbedding", bool(number)), found
    theirs, ours = np.asarray(made.encode(texts)), open_encoder(found).encode(texts)
    worst = max(worst, float(np.abs(theirs - ours).max()))
print(worst)
"""


def test_static_models_are_read_as_their_packages_read_them(libraries: Path, tmp_path: Path) -> None:
    assert float(said_by(libraries, STATIC, tmp_path)) < 2e-6


CROSS = """
import sys, numpy as np, torch
from pathlib import Path
from sentence_transformers import CrossEncoder
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast
from core.encoders import inspect, open_scorer
from core.encoders.encoding import both_orders

torch.manual_seed(3)
folder = Path(sys.argv[1])
pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "sea", "tea", "boat", "##s"]
BertTokenizerFast(vocab={p: i for i, p in enumerate(pieces)}).save_pretrained(folder / "base")
config = BertConfig(vocab_size=len(pieces), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=32, num_labels=1, initializer_range=0.5)
BertForSequenceClassification(config).save_pretrained(folder / "base")
model = CrossEncoder(str(folder / "base"), device="cpu", local_files_only=True)
model.save_pretrained(str(folder / "saved"))
pairs = [("sea", "boats"), ("tea", "sea"), ("boat", "boat")]
one, other = model.predict(pairs), model.predict([(b, a) for a, b in pairs])
for name in ("base", "saved"):
    found = inspect(folder / name)
    assert found.scores_pairs, found
    np.testing.assert_allclose(both_orders(open_scorer(found), pairs, name=name), (one + other) / 2, atol=1e-6)
print(float(np.abs(one - other).max()))
"""


def test_a_cross_encoder_is_the_mean_of_both_orders(libraries: Path, tmp_path: Path) -> None:
    assert float(said_by(libraries, CROSS, tmp_path)) > 1e-4  # the order matters to it


TASK = """
import json, sys
import numpy as np
from pathlib import Path
import mteb
from datasets import Dataset, DatasetDict
from mteb.abstasks.sts import AbsTaskSTS
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.cache import ResultCache
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers

folder = Path(sys.argv[1])
rows = json.loads((folder / "rows.json").read_text())
words = sorted({word for a, b, _ in rows for word in (a, b)})

class Shore(AbsTaskSTS):
    metadata = TaskMetadata(
        name="Shore", description="Words of the shore.", dataset={"path": "json", "revision": "1"}, type="STS",
        category="t2t", modalities=["text"], eval_splits=["test"], eval_langs=["eng-Latn"],
        main_score="cosine_spearman", license="cc0-1.0", annotations_creators="derived", sample_creation="created",
        bibtex_citation="",
    )
    min_score, max_score = -10, 10

    def load_data(self, num_proc=None, **kwargs):
        columns = dict(zip(("sentence1", "sentence2", "score"), map(list, zip(*rows))))
        self.dataset = DatasetDict({"test": Dataset.from_dict(columns)})
        self.data_loaded = True

cut = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)} | {"[UNK]": len(words)}, unk_token="[UNK]"))
cut.pre_tokenizer = pre_tokenizers.Whitespace()
vectors = np.random.default_rng(8).normal(size=(len(words) + 1, 12)).astype(np.float32)
SentenceTransformer(modules=[StaticEmbedding(cut, embedding_weights=vectors)], device="cpu").save(str(folder / "tiny"))
mteb.evaluate(
    mteb.SentenceTransformerEncoderWrapper(str(folder / "tiny"), device="cpu"), Shore(),
    cache=ResultCache(cache_path=folder / "cache"), prediction_folder=folder / "predictions",
)
print("done")
"""


def test_files_that_mteb_wrote_get_intervals(mteb: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    rows = [(a, b, float(rng.normal())) for i, a in enumerate(WORDS) for b in WORDS[i + 1 :]]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    table = ["token_a,token_b,score", *(f"{a},{b},{score!r}" for a, b, score in rows)]
    (tmp_path / "shore.csv").write_text("\n".join(table))
    assert said_by(mteb, TASK, tmp_path, cwd=tmp_path) == "done"
    command = [sys.executable, "-m", "core", "evaluate", tmp_path / "shore.csv", "--notion", "similarity", "--json"]
    command += ["--mteb", tmp_path / "cache", "--mteb", tmp_path / "predictions", "--leaderboard", tmp_path / "board"]
    found = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr + found.stdout
    told = json.loads(found.stdout)
    (reported,) = told["result_files"]
    (model,) = (row for row in told["models"] if row["area"] is None)
    assert model["rho"]["estimate"] == pytest.approx(reported["spearman"], abs=1e-6)
    assert any("that of its result file" in note for note in told["notes"])
    csv_rows = list(csv.DictReader(io.StringIO((tmp_path / "board.csv").read_text(encoding="utf-8-sig"))))
    assert float(csv_rows[0]["rho_tokens_lower"]) <= float(csv_rows[0]["rho_tokens"])
    assert float(csv_rows[1]["rho_n_lower"]) < reported["spearman"] < float(csv_rows[1]["rho_n_upper"])
