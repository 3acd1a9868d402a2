"""A fitted panel in words and as a table."""

from __future__ import annotations

import pandas as pd

from ...base.plurals import many, plural
from ...store.scores.panel_fits import StoredFit
from ...voters.panel_fit import FittedRange
from ..words import estimated

# What stands in the table of a fit.
ROWS = {"nonconformity": "σ*, differences of opinion", "oversight": "ε, share of slips"}


def fit_table(stored: StoredFit) -> pd.DataFrame:
    """A row each for σ* and ε: the mean over the voters and the width of their range, with 90 % intervals."""
    rows = []
    for name, label in ROWS.items():
        found: FittedRange | None = getattr(stored.fit, name, None)
        if found is not None:
            rows.append({"": label, "mean": estimated(found.mean), "width of the range": estimated(found.width)})
    return pd.DataFrame(rows, columns=["", "mean", "width of the range"])


def rests_on(stored: StoredFit) -> str:
    """What a fit rests on: voters, votes, ties, what it is conditional on, and why anything is missing."""
    fit = stored.fit
    if fit is None:
        return stored.reason
    votes, voters = many(fit.n_votes, "vote"), many(fit.n_voters, "voter")
    parts = [f"From {votes} of {voters}; ties are left out."]
    if fit.ties.count:
        parts[0] = f"From {votes} of {voters}; ties are left out ({fit.ties.count:,} of {fit.ties.total:,})."
    if fit.n_unplaced:
        parts.append(f"{many(fit.n_unplaced, 'vote')} on items without a similarity left out.")
    parts.append(fit.basis if fit.basis.endswith(".") else f"{fit.basis}.")
    missing = (fit.nonconformity.mean, fit.nonconformity.width, fit.oversight.mean, fit.oversight.width)
    parts += dict.fromkeys(each.reason for each in missing if each.reason)
    if fit.guessers:
        parts.append(
            plural(
                len(fit.guessers),
                "{n} voter answered like tossed coins, which widens the range of ε.",
                "{n} voters answered like tossed coins, which widens the range of ε.",
            )
        )
    if stored.simulated:
        parts.append("Some of these votes were given by simulated voters.")
    return " ".join(parts)
