"""How many votes and tokens would tell two of a project's embeddings apart, in words."""

from __future__ import annotations

from ..evaluation_needed import Needed


def sentence(needed: Needed, first: str, second: str, now: int) -> str:
    """What is needed, in a sentence; `now` is what there is."""
    two = {"first": first, "second": second}
    if needed.tried:
        return "To tell {first} and {second} apart with 80 % takes {needed}; there are {now:,} now.".format(
            needed=_amount(needed), now=now, **two
        )
    if needed.unit == "votes":
        return "{first} and {second} don't differ at all, so no number of votes tells them apart.".format(**two)
    return "{first} and {second} don't differ at all, so no number of tokens tells them apart.".format(**two)


def _amount(needed: Needed) -> str:
    """How many votes or tokens, as `str(needed)` has it."""
    n = {"amount": needed.amount, "lower": needed.lower, "upper": needed.upper}
    if needed.unit == "votes":
        if needed.amount is not None:
            return "{amount:,} votes ({lower:,} to {upper:,} by simulation error)".format(**n)
        if needed.is_more:
            return f"more than {needed.most:,} votes"
        return f"{needed.least:,} votes or fewer"
    if needed.amount is not None:
        return "{amount:,} tokens ({lower:,} to {upper:,} by simulation error)".format(**n)
    if needed.is_more:
        return f"more than {needed.most:,} tokens"
    return f"{needed.least:,} tokens or fewer"


def simulated(needed: Needed) -> str:
    """How much was simulated, in a sentence."""
    values = {"n": needed.simulations, "least": needed.least, "most": needed.most}
    if needed.unit == "votes":
        return "{n:,} simulations of {least:,} to {most:,} votes.".format(**values)
    return "{n:,} simulations of {least:,} to {most:,} tokens.".format(**values)
