"""A fitted panel in words and as a table."""

from __future__ import annotations

import pandas as pd

from ..panel_fit import FittedRange
from ..spoken import say, say_many, to_say
from ..store.panel_fits import StoredFit
from .words import estimated, many

# What stands in the table of a fit.
ROWS = {"nonconformity": to_say("σ*, differences of opinion"), "oversight": to_say("ε, share of slips")}


def fit_table(stored: StoredFit) -> pd.DataFrame:
    """A row each for σ* and ε: the mean over the voters and the width of their range, with 90 % intervals."""
    rows = []
    for name, label in ROWS.items():
        found: FittedRange | None = getattr(stored.fit, name, None)
        if found is not None:
            rows.append({"": say(label), "mean": estimated(found.mean), "width of the range": estimated(found.width)})
    return pd.DataFrame(rows, columns=["", "mean", "width of the range"])


def rests_on(stored: StoredFit) -> str:
    """What a fit rests on: voters, votes, ties, what it is conditional on, and why anything is missing."""
    fit = stored.fit
    if fit is None:
        return stored.reason
    votes, voters = many(fit.n_votes, "vote"), many(fit.n_voters, "voter")
    parts = [say("From {votes} of {voters}; ties are left out.", votes=votes, voters=voters)]
    if fit.ties.count:
        parts[0] = say(
            "From {votes} of {voters}; ties are left out ({n:,} of {of:,}).",
            votes=votes,
            voters=voters,
            n=fit.ties.count,
            of=fit.ties.total,
        )
    if fit.n_unplaced:
        parts.append(say("{votes} on items without a similarity left out.", votes=many(fit.n_unplaced, "vote")))
    parts.append(fit.basis if fit.basis.endswith(".") else f"{fit.basis}.")
    missing = (fit.nonconformity.mean, fit.nonconformity.width, fit.oversight.mean, fit.oversight.width)
    parts += dict.fromkeys(each.reason for each in missing if each.reason)
    if fit.guessers:
        parts.append(
            say_many(
                len(fit.guessers),
                "{n} voter answered like tossed coins, which widens the range of ε.",
                "{n} voters answered like tossed coins, which widens the range of ε.",
            )
        )
    if stored.simulated:
        parts.append(say("Some of these votes were given by simulated voters."))
    return " ".join(parts)
