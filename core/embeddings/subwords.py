"""fastText's vectors of words from their parts.

A word w is put between "<" and ">", and G_w are its n-grams of min_n to max_n characters (of UTF-8, never cut
inside one), without "<" and ">" by themselves. Each n-gram has the row hash(n-gram) mod n_buckets of the matrix z:

    vector(w) = (u_w + Σ_{g ∈ G_w} z_g) / (1 + |G_w|)    for a word of the vocabulary with its own row u_w
    vector(w) = Σ_{g ∈ G_w} z_g / |G_w|                  for any other word

The hash is FNV-1a of 32 bits over the bytes taken as signed, as fastText has it.

Reference: Bojanowski, Grave, Joulin, Mikolov (2017), "Enriching word vectors with subword information", TACL 5.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from .formats import Subwords

_FNV_OFFSET, _FNV_PRIME = np.uint32(2166136261), np.uint32(16777619)
# So many float32 of n-gram rows are gathered at once.
_MAX_VALUES = 1 << 23
_WORDS = 20_000


def hash_ngrams(words: Sequence[bytes], min_n: int, max_n: int, n_buckets: int) -> tuple[np.ndarray, np.ndarray]:
    """The buckets of all n-grams of `words` (UTF-8), and for each the position of the word that it is of.

    >>> buckets, owners = hash_ngrams([b"an", b"i"], 3, 3, 2_000_000)
    >>> owners.tolist()  # <an and an>, <i>
    [0, 0, 1]
    """
    if not words:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    marked = [b"<" + word + b">" for word in words]
    data = np.frombuffer(b"".join(marked), dtype=np.int8)
    starts = np.flatnonzero((data.view(np.uint8) & 0xC0) != 0x80)
    word_ends = np.cumsum([len(word) for word in marked])
    owners = np.searchsorted(word_ends, starts, side="right")
    # In characters: where each character's word ends, and (in bytes) where each character begins.
    last = np.searchsorted(starts, word_ends)[owners]
    first = np.concatenate([[0], np.searchsorted(starts, word_ends)])[owners]
    at_byte = np.append(starts, len(data))
    begin = np.arange(len(starts))
    hashes = np.full(len(starts), _FNV_OFFSET, dtype=np.uint32)
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    n = 0
    while n < max_n:
        n += 1
        inside = begin + n <= last[begin]
        begin, hashes = begin[inside], hashes[inside]
        if not len(begin):
            break
        hashes = _extend(hashes, data, at_byte[begin + n - 1], at_byte[begin + n])
        if n >= min_n:
            whole = (begin != first[begin]) & (begin + 1 != last[begin]) if n == 1 else slice(None)
            parts.append(((hashes % np.uint32(n_buckets))[whole], owners[begin][whole]))
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return (
        np.concatenate([buckets for buckets, _ in parts]).astype(np.int64),
        np.concatenate([owner for _, owner in parts]).astype(np.int64),
    )


def _extend(hashes: np.ndarray, data: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The hashes after the bytes from `begin` to `end` of `data` (int8), which are those of one character each."""
    lengths = end - begin
    for place in range(int(lengths.max())):
        longer = lengths > place
        values = data[begin[longer] + place].astype(np.int32).view(np.uint32)
        hashes[longer] = (hashes[longer] ^ values) * _FNV_PRIME
    return hashes


def sum_ngrams(words: Sequence[bytes], subwords: Subwords) -> tuple[np.ndarray, np.ndarray]:
    """The sums of the words' n-gram rows (n_words × dimensions, float32), and how many there are of each (n_words)."""
    dimensions = subwords.ngrams.shape[1]
    sums = np.zeros((len(words), dimensions), dtype=np.float32)
    counts = np.zeros(len(words), dtype=np.int64)
    for start in range(0, len(words), _WORDS):
        part = slice(start, start + _WORDS)
        buckets, owners = hash_ngrams(words[part], subwords.min_n, subwords.max_n, len(subwords.ngrams))
        _add_rows(sums[part], buckets, owners, subwords.ngrams)
        counts[part] = np.bincount(owners, minlength=len(counts[part]))
    return sums, counts


def _add_rows(sums: np.ndarray, buckets: np.ndarray, owners: np.ndarray, ngrams: np.ndarray) -> None:
    order = np.argsort(owners, kind="stable")
    buckets, owners = buckets[order], owners[order]
    step = max(1, _MAX_VALUES // sums.shape[1])
    for start in range(0, len(buckets), step):
        rows, places = np.unique(buckets[start : start + step], return_inverse=True)
        first, last = owners[start], owners[min(start + step, len(owners)) - 1] + 1
        shape = (int(last - first), len(rows))
        ones = np.ones(len(places), dtype=np.float32)
        which = sparse.csr_matrix((ones, (owners[start : start + step] - first, places)), shape=shape)
        # Values that aren't finite are found later, by their norms.
        with np.errstate(over="ignore", invalid="ignore"):
            sums[first:last] += which @ np.ascontiguousarray(ngrams[rows])


def vectors_of_others(words: Sequence[str], subwords: Subwords) -> np.ndarray:
    """Vectors (n × dimensions, float32) of words that aren't in the vocabulary; NaN for one without any n-gram."""
    sums, counts = sum_ngrams([word.encode(subwords.encoding, "replace") for word in words], subwords)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return (sums / counts[:, None]).astype(np.float32)
