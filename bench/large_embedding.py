"""`python -m bench.large_embedding`: a word2vec binary of 3,000,000 × 300, imported, reopened, asked; and a large text.

It is apart from `make bench`, as it writes some 9 GB and takes minutes. `--quick` takes a hundredth of each.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

from bench.imports import write_text
from bench.table import Line, print_lines
from core.embeddings import Embedding, open_embedding
from core.tokens.hubness import hubness, sample_words

N_WORDS, DIMENSIONS, N_VECTORS = 3_000_000, 300, 50_000
TEXT_BYTES = 500_000_000  # a tenth of 5 GB

# What a process of its own takes, and its memory beside what the file system keeps of files (Linux).
_IMPORT = """
import sys, time
from pathlib import Path
from core.embeddings import import_embedding
start = time.perf_counter()
import_embedding(Path(sys.argv[1]), Path(sys.argv[2]))
taken = time.perf_counter() - start
print(taken)
"""


def lines(*, quick: bool, folder: Path) -> Iterator[Line]:
    """The measurements; files go to `folder`."""
    n_words = N_WORDS // (100 if quick else 1)
    size = f"{n_words:,} × {DIMENSIONS}"
    path = write_varied(folder / "large.bin", n_words)
    seconds, memory = imported(path, folder / "large")
    yield Line(f"import {size}, binary, {path.stat().st_size / 1e9:.2f} GB", seconds)
    if memory is not None:
        yield Line("memory of its own at most", memory, limit=1500.0, unit="MB")
    path.unlink()
    seconds = reopened(folder / "large", n_words)
    yield Line(f"reopening {size} in a new process and looking a word up", seconds, limit=1.0)
    embedding = open_embedding(folder / "large")
    rng = np.random.default_rng(3)
    tokens = [f"word{row}" for row in rng.choice(n_words, 100, replace=False)]
    embedding.neighbours_of(tokens[:1])  # the file system has read it then
    start = time.perf_counter()
    together = embedding.neighbours_of(tokens, 10)
    yield Line(f"the 10 neighbours of 100 tokens in {size}", time.perf_counter() - start, limit=6.0)
    start = time.perf_counter()
    product(embedding, tokens)
    yield Line("the product alone", time.perf_counter() - start)
    if together[:2] != [embedding.neighbours(token, 10) for token in tokens[:2]]:
        raise SystemExit("Neighbours found together are not those found one by one.")
    yield hubs(embedding, n_words, rng)
    n_text = (TEXT_BYTES // (100 if quick else 1)) // 2_730
    text = write_text(folder / "large.txt", n_text, DIMENSIONS)
    gigabytes = text.stat().st_size / 1e9
    seconds, _ = imported(text, folder / "text")
    note = f"5 GB at this rate: {5 / gigabytes * seconds:.0f} s"
    yield Line(f"a text of {gigabytes:.2f} GB", seconds, limit=120 * gigabytes, note=note)


def write_varied(path: Path, n_words: int) -> Path:
    """An embedding in word2vec's binary format, every vector another: sums of two out of 50,000."""
    rng = np.random.default_rng(5)
    base = rng.standard_normal((N_VECTORS, DIMENSIONS), dtype=np.float32)
    with path.open("wb") as file:
        file.write(f"{n_words} {DIMENSIONS}\n".encode())
        for start in range(0, n_words, 10_000):
            stop = min(start + 10_000, n_words)
            rows = base[np.arange(start, stop) % N_VECTORS] + 0.5 * base[rng.integers(0, N_VECTORS, stop - start)]
            file.writelines(b"word%d %s\n" % (start + at, row.tobytes()) for at, row in enumerate(rows))
    return path


def imported(path: Path, target: Path) -> tuple[float, float | None]:
    """Seconds of an import in a process of its own, and the most memory of its own (MB) it had meanwhile (Linux)."""
    process = subprocess.Popen(
        [sys.executable, "-c", _IMPORT, str(path), str(target)], stdout=subprocess.PIPE, text=True
    )
    status, most = Path(f"/proc/{process.pid}/status"), 0
    while process.poll() is None:
        if status.exists():
            most = max(most, _anonymous(status))
        time.sleep(0.02)
    if process.returncode:
        raise SystemExit(f"The import of {path.name} failed.")
    return float(process.communicate()[0]), most / 1000 if most else None


def _anonymous(status: Path) -> int:
    """Memory of a process in kB that isn't a part of a file."""
    try:
        text = status.read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("RssAnon")), 0)


_REOPEN = """
import sys, time
from core.embeddings import Embedding, open_embedding
from core.tokens.hubness import hubness, sample_words
start = time.perf_counter()
missing = open_embedding(sys.argv[1]).missing([sys.argv[2]])
print(time.perf_counter() - start)
sys.exit(bool(missing))
"""


def reopened(folder: Path, n_words: int) -> float:
    """Seconds that opening it and looking its last word up take in a new process."""
    command = [sys.executable, "-c", _REOPEN, str(folder), f"word{n_words - 1}"]
    return float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def product(embedding: Embedding, tokens: list[str]) -> None:
    """All dot products of the vectors of some tokens, and nothing else."""
    units = embedding.vectors(tokens)
    for start in range(0, len(embedding._matrix), 16_384):
        _ = embedding._matrix[start : start + 16_384] @ units.T


def hubs(embedding: Embedding, n_words: int, rng: np.random.Generator) -> Line:
    """Hubness of 2,000 tokens over themselves and 50,000 words of the vocabulary."""
    n_tokens, n_sample = (2_000, 50_000) if n_words > 100_000 else (200, 2_000)
    tokens = [f"word{row}" for row in rng.choice(n_words, n_tokens, replace=False)]
    start = time.perf_counter()
    words = sample_words(embedding.vocabulary, n_sample, tokens, rng=rng)
    found = hubness(embedding, tokens, words)
    seconds = time.perf_counter() - start
    return Line(f"hubness of {n_tokens:,} tokens over {found.n_queries:,} points", seconds, limit=180.0)


@click.command()
@click.option("--quick", is_flag=True, help="A hundredth of the sizes, to see that everything runs.")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Where the files go; 9 GB. Default: a temporary folder."
)
def main(quick: bool, folder: Path | None) -> None:
    """Measure what a large embedding takes."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        print_lines(lines(quick=quick, folder=Path(name)), quick=quick)


if __name__ == "__main__":
    main()
