"""Bringing an embedding in, against gensim reading the same file."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors

from bench.table import Line, measure
from core.embeddings import import_embedding


def lines(*, quick: bool) -> Iterator[Line]:
    """A text file and a binary file of the same embedding; `quick` makes them a hundredth of their size."""
    n_words, dimensions = 40_000 // (100 if quick else 1), 300
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, is_binary in (
            (write_text(folder / "text.txt", n_words, dimensions), False),
            (write_binary(folder / "binary.bin", n_words, dimensions), True),
        ):
            yield compare(path, is_binary, f"import {n_words:,} × {dimensions}, {path.stem}")


def compare(path: Path, is_binary: bool, what: str) -> Line:
    """Our import, which leaves a folder on disk that opens at once, against gensim's reading into memory."""
    target = path.with_suffix(".imported")

    def ours() -> None:
        shutil.rmtree(target, ignore_errors=True)
        import_embedding(path, target)

    def gensims() -> None:
        KeyedVectors.load_word2vec_format(str(path), binary=is_binary)

    mine, other = measure(ours, gensims, rounds=3 if is_binary else 1)
    return Line(what, mine, other, "gensim")


def _vectors(dimensions: int) -> np.ndarray:
    return np.random.default_rng(5).normal(size=(1000, dimensions)).astype("<f4")


def write_text(path: Path, n_words: int, dimensions: int) -> Path:
    """An embedding in word2vec's text format; the vectors repeat after a thousand words, which no reader minds."""
    texts = [" ".join(f"{value:.6f}" for value in row) for row in _vectors(dimensions).tolist()]
    with path.open("w", encoding="ascii") as file:
        file.write(f"{n_words} {dimensions}\n")
        file.writelines(f"word{number} {texts[number % 1000]}\n" for number in range(n_words))
    return path


def write_binary(path: Path, n_words: int, dimensions: int) -> Path:
    """The same in word2vec's binary format."""
    rows = [row.tobytes() for row in _vectors(dimensions)]
    with path.open("wb") as file:
        file.write(f"{n_words} {dimensions}\n".encode())
        file.writelines(b"word%d %s\n" % (number, rows[number % 1000]) for number in range(n_words))
    return path
