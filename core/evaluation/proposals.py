"""Tokens that an embedding proposed for the dataset: they favour that embedding when it is evaluated (§2.2).

A dataset says in `attrs["tokens_proposed_by"]` which tokens are an embedding's own proposals:

    [{"name": …, "source": file name, "sha256": …, "content_hash": …, "tokens": [{"area": …, "token": …}, …]}, …]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..embeddings import EmbeddingInfo
from ..errors import InputError

KEY = "tokens_proposed_by"
Token = tuple[str, str]  # area, token


def proposed_by(dataset: pd.DataFrame, info: EmbeddingInfo) -> tuple[Token, ...]:
    """The tokens of a dataset that an embedding proposed, as (area, token): none where the dataset doesn't say.

    It is the same embedding if its content or its file is the same, or if the file has the same name: a model of
    another version would have proposed much the same. Raises `InputError` for a description that can't be read.
    """
    try:
        return tuple(
            (str(token["area"]), str(token["token"]))
            for entry in dataset.attrs.get(KEY) or ()
            if _is_same(entry, info)
            for token in entry["tokens"]
        )
    except (TypeError, KeyError, AttributeError) as error:
        raise InputError(
            f"The dataset's description doesn't say which tokens were proposed by whom: {KEY} must be a list of "
            "embeddings with their tokens. Export the dataset again."
        ) from error


def _is_same(entry: Mapping[str, Any], info: EmbeddingInfo) -> bool:
    return (
        info.identity == entry.get("content_hash")
        or info.identity[:16] == entry.get("embedding")
        or info.sha256 == entry.get("sha256")
        or info.source == entry.get("source")
    )


def items_with(pairs: pd.DataFrame, tokens: Iterable[Token]) -> NDArray[np.bool_]:
    """Which items (rows with area, token_a, token_b) hold one of the tokens; an item without an area, in any area.

    >>> pairs = pd.DataFrame({"area": ["x", "y"], "token_a": ["a", "a"], "token_b": ["b", "b"]})
    >>> items_with(pairs, [("x", "a")]).tolist()
    [True, False]
    """
    if not (tokens := list(tokens)):
        return np.zeros(len(pairs), dtype=bool)
    wanted = set(tokens) | {("", token) for _, token in tokens}
    rows = pairs[["area", "token_a", "token_b"]].itertuples(index=False, name=None)
    return np.array([(area, a) in wanted or (area, b) in wanted for area, a, b in rows], dtype=bool)
