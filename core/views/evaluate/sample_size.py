"""How many votes and tokens would tell two of a project's embeddings apart, in words."""

from __future__ import annotations

from ...evaluation.sample_size import Needed


def sentence(needed: Needed, first: str, second: str, now: int) -> str:
    """What is needed, in a sentence; `now` is what there is."""
    if needed.tried:
        return f"To tell {first} and {second} apart with 80 % takes {needed}; there are {now:,} now."
    return f"{first} and {second} don't differ at all, so no number of {needed.unit} tells them apart."


def simulated(needed: Needed) -> str:
    """How much was simulated, in a sentence."""
    return f"{needed.simulations:,} simulations of {needed.least:,} to {needed.most:,} {needed.unit}."
