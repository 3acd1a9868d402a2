"""Models of any kind: whatever gives pairs of tokens a cosine, or another similarity.

An `Embedding` is one, and so are similarities from a file. `encoded` makes one of a sentence encoder, by a protocol of
one method; `given` of vectors that are there already.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ..embeddings import Embedding, EmbeddingInfo
from ..embeddings.storage import norms_of
from ..embeddings.vectors import parts_of
from ..errors import InputError


class Model(Protocol):
    """What can be evaluated; `Embedding` says what each part means."""

    @property
    def name(self) -> str: ...

    @property
    def info(self) -> EmbeddingInfo: ...

    def cosines(self, a_tokens: Sequence[str], b_tokens: Sequence[str]) -> np.ndarray: ...

    def reasons(self, tokens: Iterable[str]) -> Mapping[str, str]: ...

    def found_as(self, tokens: Sequence[str]) -> list[str]: ...


class Encoder(Protocol):
    """Whatever turns texts into vectors, such as a `sentence_transformers.SentenceTransformer`.

    `encode` takes a list of tokens and returns an array (n × dimensions) in their order.
    """

    def encode(self, tokens: list[str]) -> Any: ...


def given(tokens: Sequence[str], vectors: np.ndarray, *, name: str, info: EmbeddingInfo | None = None) -> Embedding:
    """An embedding of `vectors` (n × dimensions, taken as float32) of distinct `tokens`, and of nothing else.

    A row with a NaN, or of zeros, is a token without a vector. `info` is that of the embedding they come from.
    Raises `InputError` where rows and tokens don't fit.
    """
    matrix = np.ascontiguousarray(np.asarray(vectors, dtype=np.float32))
    if matrix.ndim != 2 or len(matrix) != len(tokens) or len(set(tokens)) != len(tokens):
        raise InputError(
            f"{name}: there must be one vector per token, in rows: {len(tokens)} tokens ({len(set(tokens))} distinct), "
            f"and an array of shape {np.shape(vectors)}."
        )
    if info is None:
        info = EmbeddingInfo(
            "vectors", len(tokens), matrix.shape[1], hashlib.sha256(matrix.tobytes()).hexdigest(), name, 0
        )
    vocabulary = pa.chunked_array([pa.array(list(tokens), pa.string())])
    return Embedding(replace(info, source=name), vocabulary, matrix, norms_of(matrix), partial=True)


def encoded(encoder: Encoder, tokens: Sequence[str], *, name: str) -> Embedding:
    """An embedding of what an encoder makes of each of the distinct `tokens`, read as one short text.

    Raises `InputError` where it doesn't return one vector per token.
    """
    distinct = list(dict.fromkeys(tokens))
    vectors = np.asarray(encoder.encode(distinct))
    return given(distinct, vectors, name=name)


def sentence_transformer(path: str) -> Encoder:
    """The encoder of the package sentence-transformers that lies in a folder; nothing is fetched from a network.

    Raises `InputError` where the package isn't installed (the extra `encoders`) or the folder holds no model.
    """
    encoder: Encoder = by_sentence_transformers("SentenceTransformer", path, "sentence encoder")
    return encoder


def by_sentence_transformers(of: str, path: str, what: str) -> Any:
    """The model in a folder, opened by this class of the package sentence-transformers; nothing is fetched.

    what : a model of this class as errors name it, "sentence encoder". Raises `InputError` as `sentence_transformer`.
    """
    try:
        import sentence_transformers

        opened = getattr(sentence_transformers, of)
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"{what.capitalize()}s need the package sentence-transformers, which is optional and large: "
            f"pip install sentence-transformers ({error})."
        ) from error
    try:
        return opened(path, device="cpu", local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path} holds no {what} that can be opened: {error}") from error


def words_of(tokens: Iterable[str]) -> list[str]:
    """Tokens and the parts of those of several words: what an embedding must be loaded for under the policy "parts".

    >>> words_of(["sea", "machine learning"])
    ['sea', 'machine learning', 'machine', 'learning']
    """
    listed = list(tokens)
    return list(
        dict.fromkeys([*listed, *(part for token in listed if len(parts_of(token)) > 1 for part in parts_of(token))])
    )


def with_parts(model: Model, tokens: Sequence[str]) -> Model:
    """A model in which the mean of its parts stands for a token of several words that it lacks.

    All parts must have a vector. A model without vectors stays as it is.
    """
    lacking = [token for token in model.reasons(tokens) if len(parts_of(token)) > 1]
    if not lacking or not isinstance(model, Embedding) or model.kind != "vectors":
        return model
    by_parts = model.with_look_up(replace(model.look_up, multiword="mean of parts"))
    return _Mended(model, by_parts, frozenset(lacking))


class _Mended:
    """An embedding that looks some tokens up by their parts, and all others as before."""

    def __init__(self, model: Embedding, by_parts: Embedding, tokens: frozenset[str]) -> None:
        self.name, self.info = model.name, model.info
        self._model, self._by_parts, self._tokens = model, by_parts, tokens

    def _split(self, tokens: Iterable[str]) -> tuple[list[str], list[str]]:
        listed = list(dict.fromkeys(tokens))
        return [t for t in listed if t not in self._tokens], [t for t in listed if t in self._tokens]

    def vectors(self, tokens: Sequence[str]) -> np.ndarray:
        plain, mended = self._split(tokens)
        at = {token: place for place, token in enumerate([*plain, *mended])}
        vectors = np.concatenate([self._model.vectors(plain), self._by_parts.vectors(mended)])
        return vectors[[at[token] for token in tokens]]

    def cosines(self, a_tokens: Sequence[str], b_tokens: Sequence[str]) -> np.ndarray:
        distinct = list(dict.fromkeys([*a_tokens, *b_tokens]))
        return given(distinct, self.vectors(distinct), name=self.name).cosines(a_tokens, b_tokens)

    def reasons(self, tokens: Iterable[str]) -> Mapping[str, str]:
        listed = list(dict.fromkeys(tokens))
        plain, mended = self._split(listed)
        reasons = {**self._model.reasons(plain), **self._by_parts.reasons(mended)}
        return {token: reasons[token] for token in listed if token in reasons}

    def found_as(self, tokens: Sequence[str]) -> list[str]:
        plain, mended = self._split(tokens)
        names = zip([*plain, *mended], [*self._model.found_as(plain), *self._by_parts.found_as(mended)], strict=True)
        words = dict(names)
        return [words[token] for token in tokens]
