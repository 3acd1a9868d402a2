"""Bringing an embedding in, against gensim reading the same file."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors

from bench.table import Line, measure
from core.embeddings import import_embedding, open_embedding


def lines(*, quick: bool) -> Iterator[Line]:
    """A text file and a binary file of the same embedding; `quick` makes them a hundredth of their size."""
    n_words, dimensions = 200_000 // (100 if quick else 1), 300
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = write_text(folder / "text.txt", n_words, dimensions)
        yield compare(text, False, f"import {n_words:,} × {dimensions}, text")
        if sys.platform == "linux":
            yield peak_memory(text, 4 * n_words * dimensions)
        yield compare(
            write_binary(folder / "binary.bin", n_words, dimensions), True, f"import {n_words:,} × 300, binary"
        )
        yield reopening(folder / "text.imported", n_words)


def compare(path: Path, is_binary: bool, what: str) -> Line:
    """Our import, which leaves a folder on disk that opens at once, against gensim's reading into memory."""
    target = path.with_suffix(".imported")

    def ours() -> None:
        shutil.rmtree(target, ignore_errors=True)
        import_embedding(path, target)

    def gensims() -> None:
        KeyedVectors.load_word2vec_format(str(path), binary=is_binary)

    mine, other = measure(ours, gensims, rounds=3 if is_binary else 1)
    return Line(what, mine, other, "gensim", least_ratio=1 if is_binary else 10)


# The peak of a process's own memory. ru_maxrss won't do on Linux: a child starts with its parent's.
_PEAK = """
import sys
from core.embeddings import import_embedding
if len(sys.argv) > 1:
    import_embedding(sys.argv[1], sys.argv[2])
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


def peak_memory(path: Path, matrix: int) -> Line:
    """The peak memory of a process that imports the file, above one that only loads the code (Linux)."""
    target = path.with_suffix(".measured")
    idle, busy = (
        int(subprocess.run([sys.executable, "-c", _PEAK, *paths], capture_output=True, check=True).stdout)
        for paths in ((), (path, target))
    )
    return Line("peak memory of that, text", (busy - idle) * 1024 / 1e6, limit=2 * matrix / 1e6, unit="MB")


def reopening(folder: Path, n_words: int) -> Line:
    """Opening the imported embedding and looking a word up."""
    (mine,) = measure(lambda: open_embedding(folder).missing([f"word{n_words - 1}"]), rounds=5)
    return Line(f"reopening {n_words:,} × 300", mine, limit=0.1)


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
