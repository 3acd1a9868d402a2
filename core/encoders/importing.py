"""A project's tokens, encoded once and kept like any imported embedding."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..embeddings import EmbeddingInfo
from ..embeddings.formats import Block
from ..embeddings.storage import FolderSink
from ..errors import InputError
from ..evaluation.models import Encoder, given

ENCODED = "sentence encoder"  # its format
KEY = "encoder"  # of the hash of its files, among its companions
STEP = 256  # tokens between two signs of progress


def encode_into(
    folder: Path,
    encoder: Encoder,
    tokens: Sequence[str],
    *,
    source: str,
    digest: str,
    progress: Callable[[int, int], None] | None = None,
) -> EmbeddingInfo:
    """Write what an encoder makes of distinct tokens, each read as one short text, into a new folder.

    `source` is what people call the encoder, `digest` the hash of its files; with the tokens it is the identity. Raises
    `InputError` for no token, or where the encoder doesn't return one vector of the same length a token.
    """
    distinct = list(dict.fromkeys(tokens))
    if not distinct:
        raise InputError("There is no token to encode yet. Add token lists first.")
    parts: list[np.ndarray] = []
    for start in range(0, len(distinct), STEP):
        if progress is not None:
            progress(start, len(distinct))
        some = distinct[start : start + STEP]
        parts.append(np.asarray(encoder.encode(some), dtype=np.float32))
        given(some, parts[-1], name=source)  # which checks their number
        if parts[-1].shape[1] != parts[0].shape[1]:
            raise InputError(f"{source} returns vectors of different lengths for different tokens.")
    vectors = np.concatenate(parts)
    folder.mkdir(parents=True)
    sink = FolderSink(folder)
    try:
        sink.add(Block(pa.array(distinct, pa.string()), np.ascontiguousarray(vectors)))
    finally:
        sink.close()
    info = EmbeddingInfo(
        format=ENCODED,
        n_words=len(distinct),
        dimensions=vectors.shape[1],
        sha256=hashlib.sha256("\n".join(distinct).encode()).hexdigest(),
        source=source,
        n_bytes=vectors.nbytes,
        notes=(f"vectors of {len(distinct):,} tokens of the project, each read as one short text; of no other words",),
        companions=((KEY, digest),),
    )
    return sink.finish(info)


def encoder_of(info: dict) -> str:
    """The hash of the encoder that an imported embedding (`Imported.info`) came from, "" for other embeddings."""
    return next((digest for name, digest in info.get("companions", ()) if name == KEY), "")
