"""What is shown of a file of best–worst judgements."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...base.estimates import Estimate
from ...base.numbers_in_words import many
from ...questions.best_worst.files import BestWorstReport, Halves
from ..wording import estimated

HELP = {
    "item": "The item, as it stands in the file.",
    "θ": (
        "Bradley–Terry score of the choices, in logits: higher is more related. A choice of one best and one worst "
        "decides 5 of the 6 comparisons among four."
    ),
    "θ, lower": "Lower end of the 90% interval: voters drawn anew.",
    "θ, upper": "Upper end of the 90% interval: voters drawn anew.",
    "count": "(times best − times worst) / times shown, from −1 to 1.",
    "count, lower": "Lower end of the 90% interval: voters drawn anew.",
    "count, upper": "Upper end of the 90% interval: voters drawn anew.",
    "shown": "How often the item was shown.",
    "best": "How often it was named best.",
    "worst": "How often it was named worst.",
}
HALVES_HELP = (
    "Spearman's ρ between the counts of two random halves, the mean over 100 splits; in brackets where nine of ten "
    "splits lie. All judgements together are more reliable than a half."
)


def headline(found: BestWorstReport) -> str:
    """The file in a sentence."""
    read = found.read
    voters = many(len(read.voters), "voter") if read.voters else "voters it doesn't name"
    judgements, items = many(read.n_judgements, "judgement"), many(len(read.items), "item")
    return f"{read.name}: {judgements} of {items}, {read.answers.shown.shape[1]} at a time, by {voters}."


def figures(found: BestWorstReport) -> list[tuple[str, str, str]]:
    """Label, value and help of the figures at the top; "–" where undefined."""
    return [
        ("ρ, halves of the judgements", _said(found.by_judgement), HALVES_HELP),
        ("ρ, halves of the voters", _said(found.by_voter), f"{HALVES_HELP} Nobody judges in both halves."),
    ]


def _said(halves: Halves) -> str:
    if halves.spearman is None:
        return "–"
    return estimated(Estimate(halves.spearman, halves.lower, halves.upper))


def reasons(found: BestWorstReport) -> list[str]:
    """Why figures or intervals are missing."""
    said = [
        ("Halves of the judgements", found.by_judgement.reason),
        ("Halves of the voters", found.by_voter.reason),
        ("Counts", found.counts.reason),
        ("θ", found.theta.reason),
    ]
    return [f"{what}: {reason}." for what, reason in said if reason]


def table(found: BestWorstReport) -> pd.DataFrame:
    """A row per item, the highest θ first, else the highest count; empty columns left out."""
    columns = {
        "item": found.read.items,
        "θ": found.theta.score,
        "θ, lower": found.theta.lower,
        "θ, upper": found.theta.upper,
        "count": found.counts.score,
        "count, lower": found.counts.lower,
        "count, upper": found.counts.upper,
        "shown": found.shown,
        "best": found.best,
        "worst": found.worst,
    }
    shown = pd.DataFrame(columns).dropna(axis="columns", how="all")
    by = "θ" if "θ" in shown else "count"
    return shown.iloc[np.argsort(-shown[by].to_numpy(), kind="stable")].reset_index(drop=True)
