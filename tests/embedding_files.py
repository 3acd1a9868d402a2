"""Embedding files that tests write, byte by byte from the formats' descriptions."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np


def binary(
    words: Sequence[str | bytes], matrix: np.ndarray, *, n_words: int | None = None, newline: bytes = b"\n"
) -> bytes:
    """word2vec's binary format; `n_words` is what the header claims."""
    parts = [f"{len(words) if n_words is None else n_words} {matrix.shape[1]}\n".encode()]
    for word, row in zip(words, matrix.astype("<f4"), strict=True):
        parts.append((word.encode() if isinstance(word, str) else word) + b" " + row.tobytes() + newline)
    return b"".join(parts)


def text(words: list[str], matrix: np.ndarray, *, header: bool = True, separator: str = " ", end: str = "\n") -> bytes:
    """word2vec's (with a header) or GloVe's (without) text format."""
    lines = [f"{len(words)} {matrix.shape[1]}"] if header else []
    lines += [
        separator.join([word, *(repr(float(value)) for value in row)]) for word, row in zip(words, matrix, strict=True)
    ]
    return "".join(line + end for line in lines).encode()


def write(folder: Path, content: bytes, name: str = "model.bin") -> Path:
    """A file of that content."""
    path = folder / name
    path.write_bytes(content)
    return path


def numbers(n_words: int, dimensions: int, seed: int = 0) -> np.ndarray:
    """A float32 matrix of ordinary values."""
    return np.random.default_rng(seed).normal(size=(n_words, dimensions)).astype(np.float32)


def tarred(content: bytes) -> bytes:
    """A tar archive of one file."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo("model.vec")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()
