"""Rare tokens by area, and what to do about them (footnote 2 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..base.percent import percent
from ..base.plurals import plural
from ..tables import Schema
from .files import AreaTokens
from .frequencies import KINDS, RARITY, Frequencies

RARE_BY_AREA = Schema(
    "rare tokens by area",
    {"area": "text", "n_tokens": "int", "n_rare": "int", "n_unknown": "int", "share": "float", "advice": "text"},
)


def rare_by_area(areas: Sequence[AreaTokens], rarity: pd.DataFrame, frequencies: Frequencies) -> pd.DataFrame:
    """How many tokens of each area are rare, with a sentence of advice: a table of `RARE_BY_AREA`.

    The paper wants "a relevant fraction" of rare tokens (§2.1) and names no number; neither does the advice.
    `rarity` is what `rare` returned for (at least) the areas' tokens.
    """
    known = dict(zip(RARITY.check(rarity)["token"], rarity["rare"], strict=True))
    rows = []
    for area in areas:
        judged = [known.get(token, pd.NA) for token in area.tokens]
        n_unknown = sum(value is pd.NA for value in judged)
        n_rare = sum(value is not pd.NA and bool(value) for value in judged)
        n_known = len(judged) - n_unknown
        advice = _advice(n_rare, n_known, n_unknown, frequencies)
        rows.append((area.name, len(judged), n_rare, n_unknown, n_rare / n_known if n_known else np.nan, advice))
    frame = pd.DataFrame(rows, columns=list(RARE_BY_AREA.columns))
    return RARE_BY_AREA.check(frame.astype({"area": "str", "share": "float64", "advice": "str"}))


def _advice(n_rare: int, n_known: int, n_unknown: int, frequencies: Frequencies) -> str:
    """A sentence or three on an area's rare tokens."""
    if not n_known:
        return f"{frequencies.label} doesn't tell for any of the tokens whether it is rare. Choose another source."
    if n_rare:
        said = [
            plural(
                n_rare,
                "{n} of {of} tokens ({share}) is rare.",
                "{n} of {of} tokens ({share}) are rare.",
                of=n_known,
                share=percent(n_rare / n_known),
            )
        ]
    else:
        said = [f"None of {n_known} tokens is rare."]
    said.append(
        "Rare tokens show whether a model takes a few common ones for everything's neighbours; "
        "the paper wants a relevant fraction of them, and names no number."
    )
    if not n_rare:
        said.append("Add some.")
    if n_unknown:
        said.append(f"{n_unknown} can't be told.")
    if frequencies.is_proxy:
        said.append(f"Frequencies were {KINDS[frequencies.kind]}.")
    return " ".join(said)
