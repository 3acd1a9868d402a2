"""A project's tokens encoded by a model once, and kept like any imported embedding: vectors, or similarities of pairs.

How they were made (the model, its revision, the pooling, the text that stood for a token, the server) is kept with
them: `EmbeddingInfo.recipe`.

Cross-encoders read two texts together and give them a similarity, and neither of them a vector. What such a model says
of a pair depends on the order of the two, so the mean of both orders is taken:

    s(a, b) = (f(a, b) + f(b, a)) / 2
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..embeddings import EmbeddingInfo, Similarities
from ..embeddings.formats import SIMILARITIES, Block
from ..embeddings.similarities import SimilarityPairs, described, pairs_of, write
from ..embeddings.storage import FolderSink
from ..errors import InputError
from ..evaluation.models import Encoder, by_sentence_transformers, given


class PairScorer(Protocol):
    """Whatever gives pairs of texts a number each, such as a `sentence_transformers.CrossEncoder`."""

    def predict(self, sentences: Any, *, show_progress_bar: bool | None = None) -> Any: ...


def both_orders(scorer: PairScorer, pairs: Sequence[tuple[str, str]], *, name: str) -> NDArray[np.float64]:
    """The similarity of each pair, (n,), higher = more alike, in the model's own units.

    Raises `InputError` where the model, called `name`, doesn't give one finite number a pair and order.
    """
    asked = [*pairs, *((b, a) for a, b in pairs)]
    if not asked:
        return np.empty(0)
    scores = np.asarray(scorer.predict(asked, show_progress_bar=False), dtype=np.float64)
    if scores.shape != (len(asked),) or not np.isfinite(scores).all():
        raise InputError(
            f"{name} must give each pair one finite number; of {len(asked):,} pairs it gave an array of the shape "
            f"{scores.shape}, with {int((~np.isfinite(scores)).sum()):,} that are none."
        )
    return np.asarray(scores.reshape(2, -1).mean(axis=0))


def cross_encoder(path: str) -> PairScorer:
    """The cross-encoder that lies in a folder, by the package sentence-transformers; nothing is fetched.

    Raises `InputError` where the package isn't installed or the folder holds no such model.
    """
    scorer: PairScorer = by_sentence_transformers("CrossEncoder", path, "cross-encoder")
    return scorer


# The formats of what is made here.
ENCODED, STATIC_MODEL, SCORED, SERVED = "sentence encoder", "static model", "cross-encoder", "a server's model"
FORMATS = (ENCODED, STATIC_MODEL, SCORED, SERVED)
KEY = "encoder"  # of the hash of its files, among its companions
STEP = 256  # tokens, or pairs, between two signs of progress
Recipe = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ModelSource:
    """The model that an embedding was made by: what people call it, the hash of its files, how it was used, and the
    embedding's format."""

    name: str
    digest: str
    recipe: Recipe = ()
    format: str = ENCODED


def encode_into(
    folder: Path,
    encoder: Encoder,
    tokens: Sequence[str],
    source: ModelSource,
    progress: Callable[[int, int], None] | None = None,
) -> EmbeddingInfo:
    """Write what an encoder makes of distinct tokens, each read as one short text, into a new folder.

    The hash of its files is with the tokens the embedding's identity. Raises
    `InputError` for no token, or where the encoder doesn't return one vector of the same length a token.
    """
    distinct = _distinct(tokens)
    parts: list[np.ndarray] = []
    for start in range(0, len(distinct), STEP):
        if progress is not None:
            progress(start, len(distinct))
        some = distinct[start : start + STEP]
        parts.append(np.asarray(encoder.encode(some), dtype=np.float32))
        given(some, parts[-1], name=source.name)  # which checks their number
        if parts[-1].shape[1] != parts[0].shape[1]:
            raise InputError(f"{source.name} returns vectors of different lengths for different tokens.")
    description = f"vectors of {len(distinct):,} tokens of the project, each read as one short text; of no other words"
    return write_vectors(folder, distinct, np.concatenate(parts), source, note=description)


def write_vectors(
    folder: Path,
    tokens: Sequence[str],
    vectors: np.ndarray,
    source: ModelSource,
    *,
    note: str,
    others: Sequence[tuple[str, str]] = (),
) -> EmbeddingInfo:
    """Write the float32 `vectors` (n × dimensions) of distinct tokens into a new folder.

    others : names and hashes of what decided them beside the model's own hash.
    """
    folder.mkdir(parents=True)
    sink = FolderSink(folder)
    try:
        sink.add(Block(pa.array(tokens, pa.string()), np.ascontiguousarray(vectors)))
    finally:
        sink.close()
    info = EmbeddingInfo(
        format=source.format,
        n_words=len(tokens),
        dimensions=vectors.shape[1],
        sha256=hashlib.sha256("\n".join(tokens).encode()).hexdigest(),
        source=source.name,
        n_bytes=vectors.nbytes,
        notes=(note,),
        companions=((KEY, source.digest), *others),
        recipe=source.recipe,
    )
    return sink.finish(info)


def score_into(
    folder: Path,
    scorer: PairScorer,
    pairs: Sequence[tuple[str, str]],
    source: ModelSource,
    progress: Callable[[int, int], None] | None = None,
) -> EmbeddingInfo:
    """Write the similarities that a cross-encoder gives pairs of tokens into a new folder; else as `encode_into`."""
    pairs_scored, info = _scored(scorer, pairs, source, progress)
    folder.mkdir(parents=True)
    return write(folder, pairs_scored, info)


def scored(scorer: PairScorer, pairs: Sequence[tuple[str, str]], *, name: str, recipe: Recipe = ()) -> Similarities:
    """The similarities that a cross-encoder gives pairs of tokens, in memory."""
    pairs_scored, info = _scored(scorer, pairs, ModelSource(name, name, recipe), None)
    return Similarities(described(info, pairs_scored), pairs_scored)


def _scored(
    scorer: PairScorer,
    pairs: Sequence[tuple[str, str]],
    source: ModelSource,
    progress: Callable[[int, int], None] | None,
) -> tuple[SimilarityPairs, EmbeddingInfo]:
    distinct = _distinct_pairs(pairs)
    values: list[np.ndarray] = []
    for start in range(0, len(distinct), STEP):
        if progress is not None:
            progress(start, len(distinct))
        values.append(both_orders(scorer, distinct[start : start + STEP], name=source.name))
    scored_pairs = pairs_of([a for a, _ in distinct], [b for _, b in distinct], np.concatenate(values))
    info = EmbeddingInfo(
        format=SCORED,
        n_words=0,
        dimensions=0,
        sha256=hashlib.sha256("\n".join(f"{a}\t{b}" for a, b in distinct).encode()).hexdigest(),
        source=source.name,
        n_bytes=scored_pairs.values.nbytes,
        notes=(f"similarities of {len(distinct):,} pairs of the project, each the mean of both orders; of no others",),
        kind=SIMILARITIES,
        companions=((KEY, source.digest),),
        recipe=source.recipe,
    )
    return scored_pairs, info


def encoder_of(info: dict) -> str:
    """The hash of the encoder that an imported embedding (`Imported.info`) came from, "" for other embeddings."""
    return next((digest for name, digest in info.get("companions", ()) if name == KEY), "")


def _distinct(tokens: Sequence[str]) -> list[str]:
    if not tokens:
        raise InputError("There is no token to encode yet. Add token lists first.")
    return list(dict.fromkeys(tokens))


def _distinct_pairs(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Each unordered pair once."""
    by_tokens = {frozenset(pair): pair for pair in reversed(pairs)}
    if not by_tokens:
        raise InputError("There is no pair of tokens yet. Add token lists first.")
    return list(reversed(by_tokens.values()))
