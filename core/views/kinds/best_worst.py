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


def headline(report: BestWorstReport) -> str:
    """The file in a sentence."""
    read = report.read
    voters = many(len(read.voters), "voter") if read.voters else "voters it doesn't name"
    judgements, items = many(read.n_judgements, "judgement"), many(len(read.items), "item")
    return f"{read.name}: {judgements} of {items}, {read.answers.shown.shape[1]} at a time, by {voters}."


def figures(report: BestWorstReport) -> list[tuple[str, str, str]]:
    """Label, value and help of the figures at the top; "–" where undefined."""
    return [
        ("ρ, halves of the judgements", _halves_text(report.by_judgement), HALVES_HELP),
        ("ρ, halves of the voters", _halves_text(report.by_voter), f"{HALVES_HELP} Nobody judges in both halves."),
    ]


def _halves_text(halves: Halves) -> str:
    if halves.spearman is None:
        return "–"
    return estimated(Estimate(halves.spearman, halves.lower, halves.upper))


def reasons(report: BestWorstReport) -> list[str]:
    """Why figures or intervals are missing."""
    reason_of = [
        ("Halves of the judgements", report.by_judgement.reason),
        ("Halves of the voters", report.by_voter.reason),
        ("Counts", report.counts.reason),
        ("θ", report.theta.reason),
    ]
    return [f"{what}: {reason}." for what, reason in reason_of if reason]


def table(report: BestWorstReport) -> pd.DataFrame:
    """A row per item, the highest θ first, else the highest count; empty columns left out."""
    columns = {
        "item": report.read.items,
        "θ": report.theta.score,
        "θ, lower": report.theta.lower,
        "θ, upper": report.theta.upper,
        "count": report.counts.score,
        "count, lower": report.counts.lower,
        "count, upper": report.counts.upper,
        "shown": report.shown,
        "best": report.best,
        "worst": report.worst,
    }
    frame = pd.DataFrame(columns).dropna(axis="columns", how="all")
    by = "θ" if "θ" in frame else "count"
    return frame.iloc[np.argsort(-frame[by].to_numpy(), kind="stable")].reset_index(drop=True)
