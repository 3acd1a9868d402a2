"""Static models: a text's vector is what the package that wrote the model makes of it; damaged folders are told.

`reference/tiny_static.json` is what model2vec makes of texts with the models in `reference/tiny_static/`
(`reference/make_tiny_static.py`).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from core.encoders import ModelSource, digest_of, encode_into, inspect, open_encoder
from core.encoders.static import open_tensors
from core.errors import InputError
from tests.static_folders import make_letters_model, write_tensors

REFERENCE = Path(__file__).parents[1] / "reference"
TINY = REFERENCE / "tiny_static"
pytest.importorskip("tokenizers", reason="needs the package tokenizers (the extra models)")


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return shutil.copytree(TINY / "plain", tmp_path / "static")


def test_vectors_are_those_of_model2vec() -> None:
    expected = json.loads((REFERENCE / "tiny_static.json").read_text())
    for name, exact in (("plain", 1e-6), ("shared", 1e-3)):  # of half-precision rows model2vec rounds the mean again
        found = inspect(TINY / name)
        assert (found.kind, found.dimensions, found.why_not, found.package) == ("model2vec", 8, "", "tokenizers")
        vectors = open_encoder(found).encode(list(expected[name]))
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, list(expected[name].values()), rtol=exact, atol=exact)
        assert not vectors[list(expected[name]).index("xyzzy")].any()  # nothing is known of it: zeros, no guess
    assert dict(inspect(TINY / "shared").recipe("0" * 64))["pooling"] == "weighted mean of the subwords"


def test_a_static_embedding_takes_all_subwords(copied: Path) -> None:
    """sentence-transformers keeps what isn't known in the mean, and says in modules.json whether lengths are 1."""
    rows = open_tensors(copied / "model.safetensors")["embeddings"].floats()
    write_tensors(copied / "model.safetensors", embedding__weight=rows)
    (copied / "config.json").unlink()
    parts = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.StaticEmbedding"}]
    (copied / "modules.json").write_text(json.dumps(parts))
    found = inspect(copied)
    assert (found.kind, found.normalised) == ("StaticEmbedding", False)
    vector = open_encoder(found).encode(["sea xyzzy"])[0]
    np.testing.assert_allclose(vector, (rows[2] + rows[1]) / 2, rtol=1e-6)  # [UNK] is subword 1, sea subword 2

    inside = copied / "0_StaticEmbedding"  # where it may put the files too
    inside.mkdir()
    for name in ("model.safetensors", "tokenizer.json"):
        (copied / name).rename(inside / name)
    normalize = {"idx": 1, "name": "1", "path": "1_Normalize", "type": "sentence_transformers.models.Normalize"}
    (copied / "modules.json").write_text(json.dumps([{**parts[0], "path": "0_StaticEmbedding"}, normalize]))
    found = inspect(copied)
    assert found.normalised
    np.testing.assert_allclose(open_encoder(found).encode(["sea xyzzy"])[0], vector / np.linalg.norm(vector), rtol=1e-6)
    (copied / "modules.json").write_text(json.dumps([{**parts[0], "path": "../elsewhere"}]))
    with pytest.raises(InputError, match="outside of the folder"):
        inspect(copied)


def test_what_doesnt_fit_is_told(copied: Path) -> None:
    rows = open_tensors(copied / "model.safetensors")["embeddings"].floats()
    path = copied / "model.safetensors"
    for arrays, said in (
        ({"embeddings": rows[:5]}, "5 subwords have a vector, and the tokenizer has 19"),
        ({"embeddings": rows[:5], "mapping": np.full(19, 5)}, "don't fit"),
        ({"embeddings": rows[:5], "mapping": np.full(19, -1)}, "don't fit"),
        ({"embeddings": rows[:5], "mapping": np.zeros(18, dtype=np.int64)}, "don't fit"),
        ({"embeddings": rows, "weights": np.ones(3, dtype=np.float32)}, "don't fit"),
        ({"embeddings": rows, "weights": np.ones((19, 1), dtype=np.float32)}, "can't be read"),
        ({"embeddings": rows, "mapping": np.ones(19, dtype=np.float32)}, "can't be read"),
    ):
        write_tensors(path, **arrays)
        with pytest.raises(InputError, match=said):
            open_encoder(copied)
    write_tensors(path, embeddings=rows)
    (copied / "tokenizer.json").write_text('{"model": 3}')
    with pytest.raises(InputError, match="can't be read by the package tokenizers"):
        open_encoder(copied)
    change(copied / "config.json", max_length="long")
    with pytest.raises(InputError, match="max_length"):
        inspect(copied)
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(InputError, match="no whole file of weights"):
        inspect(copied)


def test_long_texts_are_cut_as_config_says(copied: Path) -> None:
    change(copied / "config.json", max_length=2)
    short, cut = open_encoder(copied).encode(["sea tea", "sea tea wave"])
    np.testing.assert_array_equal(short, cut)
    change(copied / "config.json", max_length=None)
    whole = open_encoder(copied).encode(["sea tea wave"])[0]
    assert np.abs(whole - short).max() > 0.1


def test_a_missing_package_is_told(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.encoders.static.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"static model.*pip install tokenizers"):
        inspect(copied)


def test_how_its_vectors_are_made_is_kept_with_them(tmp_path: Path) -> None:
    hub = tmp_path / "models--minishlab--tiny" / "snapshots" / "bf8b056"
    shutil.copytree(TINY / "plain", hub)
    found = inspect(hub)
    digest = digest_of(found)
    recipe = found.recipe(digest)
    info = encode_into(tmp_path / "e", open_encoder(found), ["sea", "xyzzy"], ModelSource(found.name, digest, recipe))
    assert found.name == "minishlab/tiny"
    assert (info.n_zero, info.unusable) == (1, ("xyzzy",))
    assert info.from_json(info.to_json()) == info
    assert info.recipe == (
        ("model", "static model (model2vec)"),
        ("computed by", "Runoff"),
        ("pooling", "mean of the subwords"),
        ("lengths", "made 1"),
        ("text", "{token}"),
        ("revision", "bf8b056"),
    )


def test_one_made_by_hand_reads_any_word(tmp_path: Path) -> None:
    vectors = open_encoder(make_letters_model(tmp_path / "letters")).encode(["sea", "SEA", "es"])
    np.testing.assert_array_equal(vectors[0], vectors[1])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    assert np.abs(vectors[0] - vectors[2]).max() > 0.1
