"""Words of an embedding that are suggested for tokens: near spellings of a missing token, further tokens for an area.

Near spellings say what a missing token may have been meant to be. Every word is compared, block by block, so that the
result is exact and no vocabulary is held as Python objects.

Further tokens are the words of the embedding that lie nearest to the tokens an area has. Whatever an embedding proposes
suits that embedding: see `core.evaluation.compare` for what follows at its evaluation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from ..embeddings import Embedding
from ..errors import InputError
from ..metrics import rounded_scores
from ..tables import Schema
from .files import MAX_TOKEN_LENGTH, AreaTokens, clean_token
from .items import near_duplicates

# A word as a token would be written, its cosine with the middle of the area's tokens, the token that is nearest to it,
# and the token or other proposal that it hardly differs from ("" for none).
PROPOSED = Schema("proposed tokens", {"token": "text", "cosine": "float", "nearest": "text", "like": "text"})


def near_tokens(area: AreaTokens, embedding: Embedding, n: int = 20) -> pd.DataFrame:
    """Up to `n` words nearest to an area's tokens, nearest first, as further tokens of it.

    Nearest by the cosine with the centroid: the mean of the unit vectors of those of the area's tokens that the
    embedding has, so that each of them counts alike. Left out are the tokens themselves, in whatever spelling the
    embedding has them, and what holds no letter or digit. "_" in a word is written as a space where the project would
    find the word again.

    Returns a table of `PROPOSED`. Raises `InputError` where the embedding has none of the tokens, or no vectors.
    """
    tokens = [token for token in area.tokens if token not in embedding.reasons(area.tokens)]
    if not tokens:
        raise InputError(f"{embedding.name} has none of the tokens of {area.name}, so it can't say what is near them.")
    units = _units(embedding.vectors(tokens))
    centroid = units.mean(axis=0)
    if not np.abs(centroid).max() > 0:
        raise InputError(f"The vectors of the tokens of {area.name} cancel out, so nothing is near their middle.")
    # Some of what is found will be left out.
    found = embedding.nearest(centroid, 2 * n + 20, leave_out=area.tokens)
    texts = _written([word for word, _ in found], embedding)
    written = {text: cosine for text, (_, cosine) in reversed(list(zip(texts, found, strict=True)))}
    known = {clean_token(token) for token in area.tokens}
    usable = [token for token in reversed(written) if token not in known and _is_usable(token)][:n]
    like = _like(area, usable)
    nearest = _units(embedding.vectors(usable)) @ units.T if usable else np.empty((0, len(tokens)))
    rows = [
        (token, written[token], tokens[int(place)], like.get(token, ""))
        for token, place in zip(usable, rounded_scores(nearest, largest=1).argmax(axis=1), strict=True)
    ]
    frame = pd.DataFrame(rows, columns=list(PROPOSED.columns))
    return PROPOSED.check(frame.astype({"token": "str", "cosine": "float64", "nearest": "str", "like": "str"}))


def _units(vectors: np.ndarray) -> np.ndarray:
    wide = vectors.astype(np.float64)
    return wide / np.sqrt(np.einsum("ij,ij->i", wide, wide))[:, None]


def _written(words: list[str], embedding: Embedding) -> list[str]:
    """Words of the vocabulary as tokens."""
    spaced = [clean_token(word.replace("_", " ")) for word in words]
    again = embedding.spelling(spaced)
    return [
        text if found == word else clean_token(word) for word, text, found in zip(words, spaced, again, strict=True)
    ]


def _is_usable(token: str) -> bool:
    return token.isprintable() and len(token) <= MAX_TOKEN_LENGTH and any(map(str.isalnum, token))


def _like(area: AreaTokens, proposed: Sequence[str]) -> dict[str, str]:
    """The proposals that hardly differ from a token of the area, or from a nearer proposal, with that one."""
    order = {token: place for place, token in enumerate((*area.tokens, *proposed))}
    near = near_duplicates([AreaTokens(area.name, (*area.tokens, *proposed))])
    like: dict[str, str] = {}
    for a, b in near[["token_a", "token_b"]].itertuples(index=False, name=None):
        first, second = sorted((a, b), key=order.__getitem__)
        if order[second] >= len(area.tokens):
            like.setdefault(second, first)
    return like


CASE, SEPARATORS, LETTERS = "case", "separators", "letters"
_KINDS = (CASE, SEPARATORS, LETTERS)
# In the order of rank; `kind` is how the word differs, `distance` the number of edits.
SPELLINGS = Schema("near spellings", {"token": "text", "word": "text", "kind": "text", "distance": "int"})
_BLOCK = 65_536
_TOKENS = 256
_MARKERS = ("</s>", "<s>", "<unk>", "<pad>")
_SEPARATORS = str.maketrans("", "", " _-\u00a0\u2010\u2011\u2013")
_HAS_SEPARATOR = r"[ _\-\x{00a0}\x{2010}\x{2011}\x{2013}]"


def furthest(token: str) -> int:
    """The most edits at which a word still counts as a near spelling: 1 up to 4 letters, 2 up to 9, then 3.

    >>> [furthest(token) for token in ("ship", "marketing", "recruitment")]
    [1, 2, 3]
    """
    return 1 if len(token) <= 4 else 2 if len(token) <= 9 else 3


def near_spellings(tokens: Iterable[str], vocabulary: pa.ChunkedArray | Sequence[str], n: int = 5) -> pd.DataFrame:
    """Up to `n` near spellings of each token in a vocabulary.

    First the words that differ in case only, then those that differ in spaces, "_" and hyphens (and case), then by
    the number of edits of the words in lower case (a letter put in, left out or replaced, or two neighbours swapped;
    optimal string alignment, at most `furthest`). Ties stand in the vocabulary's order, which mostly is that of
    frequency. The token itself and markers such as `</s>` are no suggestions.

    Returns a table of `SPELLINGS`, tokens in the order given (each once). Raises `InputError` if `n` < 1.

    >>> near_spellings(["Candel"], ["candy", "candle", "CANDEL", "can-del", "canal"])["word"].tolist()
    ['CANDEL', 'can-del', 'candle', 'candy', 'canal']
    """
    if n < 1:
        raise InputError(f"At least 1 spelling must be asked for, found {n}.")
    distinct = list(dict.fromkeys(tokens))
    words = vocabulary if isinstance(vocabulary, pa.ChunkedArray) else pa.chunked_array([pa.array(vocabulary)])
    rows = [
        row
        for start in range(0, len(distinct), _TOKENS)
        for row in _near(distinct[start : start + _TOKENS], words.cast(pa.string()), n)
    ]
    frame = pd.DataFrame(rows, columns=list(SPELLINGS.columns))
    return SPELLINGS.check(frame.astype({"token": "str", "word": "str", "kind": "str", "distance": "int64"}))


def _near(tokens: list[str], words: pa.ChunkedArray, n: int) -> list[tuple[str, str, str, int]]:
    """Rows of `SPELLINGS` for some tokens, by one pass over the vocabulary."""
    lowered = [_lowered(token) for token in tokens]
    bare = [_bare(text) for text in lowered]
    best: list[list[tuple[int, int, int, str]]] = [[] for _ in tokens]
    at = 0
    for block in _blocks(words):
        raw = _Block(block)
        near = [*raw.within(lowered, [furthest(token) for token in tokens]), *raw.same_but_for_separators(bare)]
        for which, place in near:
            word = raw.words[place].as_py()
            kind = _kind(lowered[which], bare[which], word)
            distance = OSA.distance(lowered[which], _lowered(word))
            if word != tokens[which] and word not in _MARKERS:
                best[which].append((_KINDS.index(kind), distance, at + place, word))
        best = [sorted(set(options))[:n] for options in best]
        at += len(block)
    return [
        (token, word, _KINDS[kind], distance)
        for token, options in zip(tokens, best, strict=True)
        for kind, distance, _, word in options
    ]


class _Block:
    """Words of a vocabulary, in lower case and normal form C."""

    def __init__(self, words: pa.Array) -> None:
        self.words = words
        # Not pyarrow's utf8_normalize, which gave normal form D until its version 26.
        composed = [unicodedata.normalize("NFC", word) for word in words.to_pylist()]
        self._lowered = pc.utf8_lower(pa.array(composed, pa.string()))
        self._texts: list[str] = self._lowered.to_pylist()

    def within(self, tokens: list[str], furthest: list[int]) -> Iterator[tuple[int, int]]:
        """Token and word, where their distance isn't above the token's bound."""
        most = max(furthest, default=0)
        # What is further than the cutoff comes as cutoff + 1.
        distances = cdist(tokens, self._texts, scorer=OSA.distance, score_cutoff=most, dtype=np.uint8)
        which, places = np.nonzero(distances <= np.array(furthest, dtype=np.uint8)[:, None])
        yield from zip(which.tolist(), places.tolist(), strict=True)

    def same_but_for_separators(self, bare: list[str]) -> Iterator[tuple[int, int]]:
        """Token and word, where both are the same without spaces, "_" and hyphens."""
        separated = np.flatnonzero(pc.match_substring_regex(self._lowered, _HAS_SEPARATOR).to_numpy(False))
        texts = [_bare(self._texts[place]) for place in separated.tolist()]
        wanted: dict[str, list[int]] = {}
        for which, text in enumerate(bare):
            if text:
                wanted.setdefault(text, []).append(which)
        # Words without separators are their own bare text.
        index = pc.fill_null(pc.index_in(self._lowered, value_set=pa.array(list(wanted), pa.string())), -1).to_numpy()
        plain = [(place, self._texts[place]) for place in np.flatnonzero(index >= 0).tolist()]
        for place, text in [*plain, *zip(separated.tolist(), texts, strict=True)]:
            for which in wanted.get(text, ()):
                yield which, place


def _blocks(words: pa.ChunkedArray) -> Iterator[pa.Array]:
    for chunk in words.chunks:
        for start in range(0, len(chunk), _BLOCK):
            yield chunk.slice(start, _BLOCK)


def _lowered(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower()


def _bare(text: str) -> str:
    return text.translate(_SEPARATORS)


def _kind(token: str, bare: str, word: str) -> str:
    """How `word` differs from a token given in lower case and without separators."""
    text = _lowered(word)
    if text == token or text.casefold() == token.casefold():
        return CASE
    # Of a token that is nothing but separators, no word differs in those alone.
    return SEPARATORS if bare and _bare(text) == bare else LETTERS
