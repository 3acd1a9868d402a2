"""Makes `tiny_encoder/` and `tiny_encoder.json`: what sentence-transformers says, for `core.encoders` to agree with.

In an environment of its own: pip install '.[encoders]', then run this file.
The model is a BERT of random weights (seed 7): two layers, 16 dimensions, some forty word pieces. Made with
sentence-transformers 6.2.0, transformers 5.24.0 and torch 2.14.1.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Normalize, Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizerFast

HERE = Path(__file__).parent
PIECES = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh", *(f"##{c}" for c in "abcdefgh"), "sea", "##side"),
    *("machine", "learn", "##ing", "-", "'", "!", "cafe", "ocean", "un", "##known", "海", "σ", "##σ", "ß", "1", "##1"),
]
TEXTS = [
    *("sea", "seaside", "Machine Learning", "café", "sea-side", "unknown", "xyz", "海sea", "ΣΣ", "ß", "a!b'c"),
    *("sea\tocean\n", "abcdefgh" * 13, "sea\u200bocean", "[MASK] sea", "", "ocean " * 20, "11", "e\u0301cafe"),
]


def main() -> None:
    torch.manual_seed(7)
    folder = HERE / "tiny_encoder"
    shutil.rmtree(folder, ignore_errors=True)
    base = HERE / "base"
    base.mkdir()
    (base / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    BertTokenizerFast(vocab={piece: number for number, piece in enumerate(PIECES)}).save_pretrained(base)
    config = BertConfig(vocab_size=len(PIECES), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=32, max_position_embeddings=24, initializer_range=0.6)  # fmt: skip
    BertModel(config).save_pretrained(base)
    transformer = Transformer(str(base), max_seq_length=16)
    pooling = Pooling(transformer.get_embedding_dimension(), pooling_mode="mean")
    SentenceTransformer(modules=[transformer, pooling, Normalize()], device="cpu").save(str(folder))
    shutil.rmtree(base)
    for name in ("README.md", "1_Pooling/README.md"):
        (folder / name).unlink(missing_ok=True)
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    vectors = model.encode(TEXTS, convert_to_numpy=True).astype(float).round(7).tolist()
    told = dict(zip(TEXTS, vectors, strict=True))
    (HERE / "tiny_encoder.json").write_text(json.dumps(told, ensure_ascii=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
