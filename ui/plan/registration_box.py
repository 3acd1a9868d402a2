"""The registration of a plan: freeze it before the first vote, and say later what was kept."""

from __future__ import annotations

import streamlit as st

from core.base.durable import slug
from core.store.projects.plans import read_registration, register_plan
from core.store.projects.project_commands import Project
from core.views.wording import moment
from ui.shared import frame


def registration_box(project: Project, *, planned: bool, locked: bool) -> None:
    """Register the saved plan (`planned`: there is one) until ballot 1 is drawn (`locked`), and show what was."""
    registration = read_registration(frame.store(), project.id)
    if registration is None and (locked or not planned):
        return
    with st.expander("Registration" if registration else "Register this plan before the first vote"):
        if registration is not None:
            when = moment(registration.at)
            st.markdown(f"**Registered on {when} UTC.** SHA-256 `{registration.sha256}`")
            if registration.is_kept:
                st.success("So far the registration has been kept to.", icon=":material/check_circle:")
            else:
                st.warning("What differs from the registration is told in the dataset's description too.")
                rows = [
                    {"part": part.part, "registered": part.registered, "now": part.found}
                    for part in registration.kept
                    if not part.same
                ]
                alt = "What differs from the registration"
                st.dataframe(rows, hide_index=True, alt=alt)
            st.download_button(
                "Download the registration (JSON)",
                registration.content,
                f"{slug(project.name)}-registration-{registration.sha256[:8]}.json",
                "application/json",
                icon=":material/download:",
                on_click="ignore",
                help="Publish it, or its SHA-256, where it gets a date that others trust.",
            )
        if not locked and planned:
            _register(project, again=registration is not None)


def _register(project: Project, *, again: bool) -> None:
    st.caption(
        "Freezes the saved plan, its seeds, the items, what voters read, n₀ and your rules for leaving votes out. "
        "Whoever reads the dataset can then see that nothing was chosen after the votes were known."
    )
    with st.form(f"register-{project.id}"):
        exclusions = st.text_area(
            "Rules for leaving out votes or voters",
            placeholder="For example: voters who fail two of five checks are left out.",
            max_chars=4000,
        )
        n0 = st.number_input("Offset n₀ of the weights", 0.0, 1000.0, 2.0, 1.0)
        if st.form_submit_button("Register again" if again else "Register"):
            frame.carry_out(
                register_plan,
                frame.store(),
                project.id,
                n0=float(n0),
                exclusions=exclusions,
                expected_revision=frame.expected(),
                done="The plan is registered. Download the file, and publish it or its SHA-256.",
            )
