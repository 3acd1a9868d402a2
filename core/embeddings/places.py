"""Which row of a vocabulary a token is: one pass over the Arrow column for many tokens at once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .look_up import LookUp

MAX_REMEMBERED = 500_000


class Places:
    """The rows of tokens in a vocabulary, by a way of looking them up; what was asked once is remembered."""

    def __init__(self, vocabulary: pa.ChunkedArray, look_up: LookUp) -> None:
        self._vocabulary, self._look_up = vocabulary, look_up
        self._found: dict[str, int] = {}

    def rows(self, tokens: Iterable[str]) -> np.ndarray:
        """The row of each token, int64 of shape (n,); −1 where the vocabulary hasn't it, or a mean stands for it."""
        tokens = list(tokens)
        asked = [token for token in dict.fromkeys(tokens) if token not in self._found]
        if asked:
            if len(self._found) + len(asked) > MAX_REMEMBERED:
                self._found.clear()
                asked = list(dict.fromkeys(tokens))
            self._found.update(self._search(asked))
        return np.array([self._found[token] for token in tokens], dtype=np.int64)

    def _search(self, tokens: list[str]) -> dict[str, int]:
        """The row of each of `tokens` (distinct), by one pass over the vocabulary."""
        options = {token: () if self._look_up.parts(token) else self._look_up.spellings(token) for token in tokens}
        wanted = list(dict.fromkeys(word for words in options.values() for word in words))
        index = pc.index_in(self._vocabulary, value_set=pa.array(wanted, pa.string()))
        which = pc.fill_null(index, -1).to_numpy()
        rows = np.flatnonzero(which >= 0)
        found = {wanted[which[row]]: int(row) for row in rows}
        return {token: next((found[word] for word in options[token] if word in found), -1) for token in tokens}
