"""Sentence encoders: computed here as sentence-transformers computes them, looked at before, and told what is wrong.

`reference/tiny_encoder.json` is what sentence-transformers makes of texts with the random model in
`reference/tiny_encoder/` (`reference/make_tiny_encoder.py`).
"""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.embeddings import open_embedding
from core.encoders import ENCODED, ModelSource, digest_of, encode_into, encoder_of, inspect, open_encoder
from core.encoders.bert import WordPiece, read_word_pieces
from core.encoders.static import read_tensors
from core.errors import InputError

REFERENCE = Path(__file__).parents[1] / "reference"
TINY = REFERENCE / "tiny_encoder"


class Letters:
    """A tiny encoder: counts of six letters."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def encode(self, tokens: list[str]) -> list[list[int]]:
        self.asked.append(list(tokens))
        return [[token.count(letter) for letter in "aeiost"] for token in tokens]


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return shutil.copytree(TINY, tmp_path / "encoder")


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_vectors_are_those_of_sentence_transformers() -> None:
    expected = json.loads((REFERENCE / "tiny_encoder.json").read_text())
    found = inspect(TINY)
    assert (found.kind, found.dimensions, found.pooling, found.normalised, found.why_not) == (
        "bert", 16, "mean", True, "",
    )  # fmt: skip
    vectors = open_encoder(found).encode(list(expected))
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, list(expected.values()), atol=2e-6)


def test_vectors_dont_hang_on_what_else_is_encoded() -> None:
    encoder, texts = open_encoder(TINY), ["sea", "machine learning", "seaside", "ocean ocean"]
    together = encoder.encode(texts)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_allclose(encoder.encode([text])[0], vector, atol=1e-6)
    assert encoder.encode([]).shape == (0, 16)


def test_pooling_by_the_first_piece_and_no_norm(copied: Path) -> None:
    change(copied / "1_Pooling" / "config.json", pooling_mode="cls")
    modules = json.loads((copied / "modules.json").read_text())
    (copied / "modules.json").write_text(json.dumps(modules[:2]))
    found = inspect(copied)
    assert (found.pooling, found.normalised) == ("cls", False)
    encoder = open_encoder(found)
    numbers = np.array([encoder.words.numbers("seaside", 16)])
    np.testing.assert_allclose(encoder.encode(["seaside"])[0], encoder.model.hidden(numbers)[0, 0], atol=1e-6)


def test_the_tokenizer_may_lie_in_vocab_txt(copied: Path) -> None:
    vocabulary = json.loads((copied / "tokenizer.json").read_text())["model"]["vocab"]
    (copied / "tokenizer.json").unlink()
    (copied / "vocab.txt").write_text("\n".join(sorted(vocabulary, key=vocabulary.get)) + "\n", encoding="utf-8")
    texts = ["Seaside", "machine learning", "café", "ΣΣ"]
    np.testing.assert_array_equal(open_encoder(copied).encode(texts), open_encoder(TINY).encode(texts))


@settings(max_examples=60)
@given(st.text(max_size=40))
def test_any_text_has_pieces(text: str) -> None:
    words = read_word_pieces(TINY)
    numbers = words.numbers(text, 16)
    assert 2 <= len(numbers) <= 16
    assert (numbers[0], numbers[-1]) == (words.vocabulary["[CLS]"], words.vocabulary["[SEP]"])
    assert words.pieces(text) == words.pieces(f"  {text}\n")


def test_the_longest_piece_is_taken_first() -> None:
    words = WordPiece({p: n for n, p in enumerate(["[UNK]", "[CLS]", "[SEP]", "un", "u", "##n", "##known", "##k"])})
    assert words.pieces("unknown unk") == ["un", "##known", "un", "##k"]
    assert words.pieces("unknowns") == ["[UNK]"]


@pytest.mark.parametrize("kind", ["F64", "F16", "BF16"])
def test_other_number_formats(kind: str, tmp_path: Path) -> None:
    values = np.array([[1.5, -2.0], [0.25, 0.0]])
    stored = {
        "F64": values.astype("<f8").tobytes(),
        "F16": values.astype("<f2").tobytes(),
        "BF16": (values.astype("<f4").view(np.uint32) >> 16).astype("<u2").tobytes(),
    }[kind]
    header = json.dumps(
        {"__metadata__": {"format": "pt"}, "w": {"dtype": kind, "shape": [2, 2], "data_offsets": [0, len(stored)]}}
    ).encode()
    path = tmp_path / "w.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + stored)
    np.testing.assert_array_equal(read_tensors(path)["w"], values)


@pytest.mark.parametrize("damage", ["cut", "empty", "no header", "beyond", "negative"])
def test_damaged_weights_are_told(copied: Path, damage: str) -> None:
    path = copied / "model.safetensors"
    data = path.read_bytes()
    begin = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":'
    header = begin + (b"[0,400]}}" if damage == "beyond" else b"[-8,-4]}}")
    made = len(header).to_bytes(8, "little") + header + b"\0" * 4
    path.write_bytes({"cut": data[:9000], "empty": b"", "no header": b"\xff" * 64}.get(damage, made))
    with pytest.raises(InputError, match=r"no whole file of weights|don't fit"):
        open_encoder(copied)


def test_what_is_missing_is_told(tmp_path: Path, copied: Path) -> None:
    with pytest.raises(InputError, match="not there"):
        inspect(tmp_path / "none")
    with pytest.raises(InputError, match="is a file"):
        inspect(copied / "config.json")
    with pytest.raises(InputError, match=r"no config\.json"):
        inspect(tmp_path)
    (copied / "config.json").write_text("[1]")
    with pytest.raises(InputError, match="holds no settings"):
        inspect(copied)
    change(shutil.copytree(TINY, tmp_path / "other") / "config.json", intermediate_size=8, num_hidden_layers=3)
    with pytest.raises(InputError, match="don't fit"):
        open_encoder(tmp_path / "other")


@pytest.mark.parametrize(
    ("file", "values", "why"),
    [
        ("config.json", {"model_type": "mpnet"}, "kind mpnet"),
        ("config.json", {"hidden_act": "relu"}, "another activation"),
        ("1_Pooling/config.json", {"pooling_mode": "max"}, "another way than by their mean"),
        ("config_sentence_transformers.json", {"default_prompt_name": "query"}, "a prompt before"),
        ("tokenizer.json", {"normalizer": {"type": "NFC"}}, "another way than BERT"),
    ],
)
def test_what_isnt_computed_here_asks_for_the_package(
    copied: Path, file: str, values: dict, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(copied / file, **values)
    if find_spec("sentence_transformers") is None:
        with pytest.raises(InputError, match=f"{why}.*pip install sentence-transformers"):
            inspect(copied)
    monkeypatch.setattr("core.encoders.folder.find_spec", lambda name: object())
    found = inspect(copied)
    assert why in found.sentence()
    assert found.needs_trust == ""
    asked: list[str] = []
    monkeypatch.setattr("core.encoders.folder.sentence_transformer", lambda path: asked.append(path) or Letters())
    assert len(open_encoder(found).encode(["sea"])) == 1
    assert asked == [str(copied)]


def test_pickled_weights_need_trust(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (copied / "model.safetensors").rename(copied / "pytorch_model.bin")
    monkeypatch.setattr("core.encoders.folder.find_spec", lambda name: object())
    found = inspect(copied)
    assert "pytorch_model.bin could run a program" in found.needs_trust
    with pytest.raises(InputError, match="could run a program"):
        open_encoder(found)
    monkeypatch.setattr("core.encoders.folder.sentence_transformer", lambda path: Letters())
    assert len(open_encoder(found, trusted=True).encode(["sea"])) == 1


def test_encoded_tokens_are_an_embedding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.encoders.encoding.STEP", 2)
    encoder, told = Letters(), []
    tokens = ["sea", "taste", "machine learning", "sea", "xyz"]
    info = encode_into(
        tmp_path / "e", encoder, tokens, ModelSource("Letters", "d" * 64), progress=lambda *p: told.append(p)
    )
    assert encoder.asked == [["sea", "taste"], ["machine learning", "xyz"]]
    assert told == [(0, 4), (2, 4)]
    assert (info.format, info.n_words, info.dimensions, info.n_zero) == (ENCODED, 4, 6, 1)
    assert encoder_of({"companions": [list(pair) for pair in info.companions]}) == "d" * 64
    assert encoder_of({}) == ""
    opened = open_embedding(tmp_path / "e")
    expected = np.array([1, 1, 0, 0, 1, 0]) @ np.array([1, 1, 0, 0, 1, 2]) / np.sqrt(3 * 7)
    assert opened.cosines(["sea"], ["taste"])[0] == pytest.approx(expected)
    assert opened.missing(tokens) == ["xyz"]  # a vector of zeros
    other = encode_into(tmp_path / "f", Letters(), tokens[:2], ModelSource("Letters", "d" * 64))
    assert other.identity != info.identity
    with pytest.raises(InputError, match="no token"):
        encode_into(tmp_path / "g", encoder, [], ModelSource("x", "d"))


def test_the_hash_follows_the_weights(copied: Path) -> None:
    before = digest_of(inspect(copied))
    assert before == digest_of(inspect(TINY))
    data = bytearray((copied / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (copied / "model.safetensors").write_bytes(data)
    assert digest_of(inspect(copied)) != before


class Short:
    def encode(self, tokens: list[str]) -> np.ndarray:
        return np.ones((len(tokens) - 1, 4))


def test_an_encoder_that_loses_tokens_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one vector per token"):
        encode_into(tmp_path / "e", Short(), ["sea", "taste"], ModelSource("Short", "d"))
    assert not (tmp_path / "e").exists()


def test_a_folder_whose_name_says_nothing_is_called_after_the_one_above(tmp_path: Path) -> None:
    assert inspect(TINY).name == "tiny_encoder"
    assert inspect(shutil.copytree(TINY, tmp_path / "minilm" / "model")).name == "minilm"
