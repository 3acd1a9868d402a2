"""The settings that the Evaluate page's answer follows from, folded: which figure is looked at, and how it is taken."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.commands.figures.evaluation_inputs import FIGURES
from core.evaluation import POLICIES, TOP_K
from core.store.projects.project_commands import Project
from ui.shared import choosers

MANY = 1000  # resamples on request
SHORT = {
    "common": "items that all cover",
    "own": "each its own items",
    "lowest": "missing = lowest",
    "parts": "missing = mean of parts",
}
NOTIONS = {"relatedness": "|cos| (relatedness)", "similarity": "cos (similarity)"}
HELP = {
    "ρ_w": "Spearman's ρ with more weight on top ranks (Eq. 8). 1 is full agreement.",
    "τ_w": "Kendall's τ with more weight on top ranks (Eq. 8). It counts pairs of items in the right order.",
    "ρ": "Spearman's rank correlation: all ranks weigh the same.",
    "τ": "Kendall's rank correlation (tau-b): all ranks weigh the same.",
    "Pearson": "The correlation of the scores themselves, which depends on their scales.",
    "top k": "Precision: the share of people's highest items that are among the embedding's highest.",
}


@dataclass(frozen=True)
class Settings:
    """What is chosen: the label of the figure that is looked at; n₀, the notion, the policy for tokens that an
    embedding lacks and the k of the precision; whether intervals have more resamples."""

    figure: str
    n0: float
    notion: str
    policy: str
    top: int
    has_more: bool


def show(project: Project) -> Settings:
    """The controls in their box."""
    with st.popover("Settings", icon=":material/tune:", key=f"evaluate-settings-{project.id}"):
        first = st.container()  # the figure, whose name holds how many are the top
        with st.container(horizontal=True, vertical_alignment="bottom"):
            n0 = st.number_input(
                "Offset n₀", 0.0, 1000.0, 2.0, 1.0, key=f"n0-{project.id}", persist_state="session", width=140,
                help="Rank n weighs 1/(n + n₀)². A small n₀ puts nearly all weight on the first ranks; the paper takes "
                "2.",
            )  # fmt: skip
            top = st.number_input(
                "Items at the top", 1, 10_000, TOP_K, key=f"top-{project.id}", persist_state="session", width=140,
                help="For the precision: how many of people's highest items are among as many of an embedding's.",
            )  # fmt: skip
        notion = choosers.segmented_control(
            "Models rank by", dict(NOTIONS), project.notion,
            key=f"notion-{project.id}",
            help="The project's own notion is chosen at first.",
        )  # fmt: skip
        policy = choosers.selectbox(
            "Tokens that an embedding lacks", {key: SHORT[key] for key in POLICIES},
            key=f"policy-{project.id}",
            help="\n\n".join(f"**{SHORT[name]}**: {text}." for name, text in POLICIES.items()),
        )  # fmt: skip
        has_more = st.toggle(
            f"Resample {MANY:,} times", key=f"more-{project.id}", persist_state="session",
            help="Steadier bounds of the intervals, half a minute or more.",
        )  # fmt: skip
        labels = {label: f"top {top}" if label == "top k" else label for _, label in FIGURES}
        with first:
            figure = choosers.segmented_control(
                "Figure", labels, "ρ_w", key=f"figure-{project.id}",
                help="\n\n".join(f"**{labels[name]}**: {text}" for name, text in HELP.items()),
            )  # fmt: skip
    return Settings(figure, float(n0), notion, policy, int(top), has_more)
