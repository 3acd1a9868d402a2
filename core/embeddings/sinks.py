"""An embedding collected in memory, and the memory it may take."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..errors import InputError
from .formats import Block, Recognised
from .storage import EmbeddingInfo, compact, describe, first_positions, norms_of


def available_memory() -> int | None:
    """Bytes of memory that a program can still have; None where the system doesn't say."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def check_memory(name: str, n_bytes: int) -> None:
    """Raise `InputError` if `n_bytes` for the file called `name` are more than the memory that is free."""
    available = available_memory()
    if available is not None and n_bytes > available:
        raise InputError(
            f"{name} needs about {n_bytes / 1e9:.1f} GB of memory and {available / 1e9:.1f} GB are free. "
            "Import it instead (it then stays on disk), or name the tokens that are needed."
        )


class MemorySink:
    """Collects blocks in memory; `whole` makes room for all the words at once."""

    def __init__(self, name: str, recognised: Recognised, *, whole: bool) -> None:
        self._name = name
        self._matrix = np.empty((recognised.n_expected if whole else 0, recognised.dimensions), dtype=np.float32)
        self._words: list[pa.StringArray] = []
        self._norms: list[np.ndarray] = []
        self._n_words = 0

    @property
    def dimensions(self) -> int:
        """The length of the vectors."""
        return int(self._matrix.shape[1])

    def add(self, block: Block) -> None:
        """Append the words of `block`."""
        n_words = self._n_words + len(block.words)
        if n_words > len(self._matrix) or block.vectors.shape[1] != self._matrix.shape[1]:
            self._grow(max(n_words, int(1.2 * len(self._matrix))), block.vectors.shape[1])
        self._matrix[self._n_words : n_words] = block.vectors
        if len(block.words):
            self._words.append(block.words)
            self._norms.append(norms_of(block.vectors))
        self._n_words = n_words

    def _grow(self, n_words: int, dimensions: int) -> None:
        check_memory(self._name, 4 * n_words * dimensions)
        larger = np.empty((n_words, dimensions), dtype=np.float32)
        larger[: self._n_words] = self._matrix[: self._n_words].reshape(self._n_words, dimensions)
        self._matrix = larger

    def finish(self, info: EmbeddingInfo) -> tuple[EmbeddingInfo, pa.ChunkedArray, np.ndarray, np.ndarray]:
        """The completed info, words, vectors and norms; of a word that stood several times the first is kept."""
        words = pa.chunked_array(self._words, pa.string())
        matrix, norms = self._matrix[: self._n_words], np.concatenate([np.empty(0, np.float32), *self._norms])
        kept = first_positions(words)
        if kept is not None:
            words, matrix, norms = words.take(pa.array(kept)), compact(matrix, kept), norms[kept]
        n_duplicates = self._n_words - len(words)
        info = replace(info, n_words=info.n_words - n_duplicates, n_duplicates=n_duplicates)
        return describe(info, words, norms), words, matrix, norms
