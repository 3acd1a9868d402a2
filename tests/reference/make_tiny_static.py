"""Makes `tiny_static/` and `tiny_static.json` beside this file, with the real packages model2vec and tokenizers:

    pip install model2vec==0.10.0 && python make_tiny_static.py

Random static models of 8 dimensions: one as model2vec saves it; one with shared vectors (`mapping`), weights and
half-precision numbers; and what model2vec makes of texts with each.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from model2vec import StaticModel
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

HERE = Path(__file__).parent
WORDS = [
    *("sea", "ocean", "ma", "##chine", "learn", "##ing", "##side", "wave", "taste", "coffee", "cof", "##fee"),
    *("tea", "c", "##a", "##f", "##e"),
]
TEXTS = ["sea", "Seaside", "ocean wave", "machine learning", "café", "coffee tea xyzzy", "xyzzy", "", "tea " * 40]


def tokenizer() -> Tokenizer:
    pieces = ["[PAD]", "[UNK]", *WORDS]
    made = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made


def main() -> None:
    rng = np.random.default_rng(17)
    n = len(WORDS) + 2
    plain = StaticModel(rng.normal(size=(n, 8)).astype(np.float32), tokenizer(), normalize=True, max_length=16)
    shared = StaticModel(
        rng.normal(size=(6, 8)).astype(np.float16),
        tokenizer(),
        normalize=False,
        weights=rng.uniform(0.2, 2, size=n).astype(np.float32),
        token_mapping=rng.integers(0, 6, size=n),
    )
    found = {}
    for name, model in (("plain", plain), ("shared", shared)):
        model.save_pretrained(HERE / "tiny_static" / name)
        (HERE / "tiny_static" / name / "README.md").unlink(missing_ok=True)
        found[name] = {text: np.asarray(model.encode([text])[0], dtype=float).tolist() for text in TEXTS}
    (HERE / "tiny_static.json").write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
