"""Folders of static models, made without the packages that write them."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import numpy as np

KINDS = {"f4": "F32", "i8": "I64", "f2": "F16"}


def write_tensors(path: Path, **arrays: np.ndarray) -> None:
    """A file of the format safetensors; `__` in a name stands for a dot."""
    header, body = {}, b""
    for name, array in arrays.items():
        data = array.tobytes()
        offsets = [len(body), len(body) + len(data)]
        about = {"dtype": KINDS[array.dtype.str[1:]], "shape": list(array.shape), "data_offsets": offsets}
        header[name.replace("__", ".")] = about
        body += data
    told = json.dumps(header).encode()
    path.write_bytes(len(told).to_bytes(8, "little") + told + body)


def make_letters_model(folder: Path) -> Path:
    """A static model as model2vec writes it whose subwords are letters, each with a random vector of 6 numbers."""
    letters = ["[UNK]", *string.ascii_lowercase, *(f"##{letter}" for letter in string.ascii_lowercase)]
    folder.mkdir(parents=True)
    model = {
        "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
        "vocab": {letter: number for number, letter in enumerate(letters)},
    }  # fmt: skip
    lower = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None}
    told: dict[str, Any] = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "model": model,
        "normalizer": {**lower, "lowercase": True}, "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None, "decoder": None,
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(told), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": True}), encoding="utf-8")
    rows = np.random.default_rng(4).normal(size=(len(letters), 6)).astype(np.float32)
    write_tensors(folder / "model.safetensors", embeddings=rows)
    return folder
