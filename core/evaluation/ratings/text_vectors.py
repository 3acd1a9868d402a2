"""Similarities of texts of any size by an embedding of words: a text it lacks is the mean of its words' vectors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...embeddings import Embedding
from ...metrics import rounded_scores

_WORD = re.compile(r"\w+(?:['’\-]\w+)*")


def words_of(texts: Iterable[str]) -> set[str]:
    """All that `text_similarities` looks up: the texts themselves, their words, and these in lower case."""
    whole = set(texts)
    words = {word for text in whole for word in _WORD.findall(text)}
    return whole | words | {word.lower() for word in words}


def text_similarities(embedding: Embedding, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
    """Cosines of equally many first and second texts, −1 to 1, NaN where there is none.

    A text that the embedding knows as a whole is looked up so; else the vectors of its words, in lower case where only
    that is known, are averaged, words that it lacks left out. NaN for a text without a known word, or a mean of zeros.
    A table of similarities gives those of whole texts only.
    """
    if embedding.kind != "vectors":
        return embedding.cosines(first, second)
    texts = list(dict.fromkeys([*first, *second]))
    vectors = embedding.vectors(texts).astype(np.float64)
    lacking = np.flatnonzero(np.isnan(vectors).any(axis=1)).tolist()
    parts = {at: _WORD.findall(texts[at]) for at in lacking}
    words = list(dict.fromkeys(word for some in parts.values() for each in some for word in (each, each.lower())))
    of_word = dict(zip(words, embedding.vectors(words).astype(np.float64), strict=True)) if words else {}
    for at, some in parts.items():
        known = [next((v for v in (of_word[w], of_word[w.lower()]) if np.isfinite(v).all()), None) for w in some]
        there = [vector for vector in known if vector is not None]
        if there:
            vectors[at] = np.mean(there, axis=0)
    norms = np.linalg.norm(vectors, axis=1)
    place = {text: at for at, text in enumerate(texts)}
    a, b = (np.array([place[text] for text in side], dtype=np.int64) for side in (first, second))
    usable = (norms[a] > 0) & (norms[b] > 0)
    result = np.full(len(a), np.nan)
    products = np.einsum("ij,ij->i", vectors[a[usable]], vectors[b[usable]])
    result[usable] = rounded_scores(np.clip(products / (norms[a[usable]] * norms[b[usable]]), -1, 1), largest=1)
    return result
