"""What counts of rejected answers and of repeats: a choice, with the default stated."""

from __future__ import annotations

import streamlit as st

from core.commands.votes import SetPolicy
from core.policy import REJECTED, REPEATS
from core.store import Store
from core.store.policies import read_policy
from core.store.projects import Project
from ui import choosers, frame, jobs


def policy_box(store: Store, project: Project) -> None:
    """The policy of the project, and the form that changes it."""
    now = read_policy(store, project.id)
    st.caption(
        f"Answers of rejected assignments are {REJECTED[now.rejected]}; of a voter's several votes on one "
        f"comparison {REPEATS[now.repeats]}."
    )
    with st.expander("Change what counts"), st.form(f"policy-{project.id}"):
        rejected = choosers.radio(
            "Answers of rejected assignments are",
            {name: _choice(words, name == "leave out") for name, words in REJECTED.items()},
            now.rejected,
            key=f"rejected-{project.id}-{now.rejected}",
            help="The owner rejected them on the platform, or in the file's column Reject.",
        )
        repeats = choosers.radio(
            "Of a voter's several votes on one comparison",
            {name: _choice(words, name == "earliest") for name, words in REPEATS.items()},
            now.repeats,
            key=f"repeats-{project.id}-{now.repeats}",
            help="By the time they were submitted, in whatever order the files come. No vote is lost by any choice.",
        )
        st.caption("Open ballots are counted anew at once. Closed ones keep their count until they are reopened.")
        if st.form_submit_button("Save"):
            jobs.send(SetPolicy(project.id, frame.expected(), rejected, repeats))


def _choice(label: str, is_default: bool) -> str:
    return f"{label} (default)" if is_default else label
