"""Further tokens for an area: the words of an embedding that lie nearest to the tokens it has.

Whatever an embedding proposes suits that embedding: see `core.evaluation.proposals` for what follows at its evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

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
    there = {clean_token(token) for token in area.tokens}
    usable = [token for token in reversed(written) if token not in there and _is_usable(token)][:n]
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
