"""Cross-encoders: models that read two texts together and give them a similarity, and neither of them a vector.

What such a model says of a pair hangs on the order of the two, so the mean of both orders is taken:

    s(a, b) = (f(a, b) + f(b, a)) / 2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError


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
    found = np.asarray(scorer.predict(asked, show_progress_bar=False), dtype=np.float64)
    if found.shape != (len(asked),) or not np.isfinite(found).all():
        raise InputError(
            f"{name} must give each pair one finite number; of {len(asked):,} pairs it gave an array of the shape "
            f"{found.shape}, with {int((~np.isfinite(found)).sum()):,} that are none."
        )
    return np.asarray(found.reshape(2, -1).mean(axis=0))


def cross_encoder(path: str) -> PairScorer:
    """The cross-encoder that lies in a folder, by the package sentence-transformers; nothing is fetched.

    Raises `InputError` where the package isn't installed or the folder holds no such model.
    """
    try:
        from sentence_transformers import CrossEncoder
    except ImportError as error:
        raise InputError(
            "Cross-encoders need the package sentence-transformers, which is optional and large: "
            f"pip install sentence-transformers ({error})."
        ) from error
    try:
        return CrossEncoder(path, device="cpu", local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path} holds no cross-encoder that can be opened: {error}") from error
