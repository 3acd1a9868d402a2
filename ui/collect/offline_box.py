"""The ballot as web pages that need no server."""

from __future__ import annotations

import streamlit as st

from core.i18n import language
from core.platforms.plain import MAX_FILES, write_offline
from core.questions.voting_settings import CONSENT
from core.store import Store
from core.store.ballots.ballot_rows import Ballot, read_comparisons
from core.store.projects.plans import PlanSettings
from core.store.projects.project_commands import Project
from core.tabular.zips import pack


def offline_box(store: Store, project: Project, ballot: Ballot, plan: PlanSettings) -> None:
    """How many files, and their download."""
    with st.expander("Let people vote without a server (a page in a file)", icon=":material/draft:"):
        st.caption(
            "Each file holds a part of the ballot, works from a disk or any web host, keeps the answers in the "
            "browser, and ends with a CSV to send back to you. Upload that below."
        )
        most = min(MAX_FILES, max(1, ballot.n_comparisons // plan.task_size))
        about = "The ballot's tasks are dealt out to this many files."
        n_files = int(st.number_input("For how many voters", 1, most, 1, help=about))

        standard = language(plan.wording.language).text(CONSENT)
        consent = st.text_area("Consent, shown before the first comparison", standard, key=f"offline-{ballot.id}")

        def files() -> dict[str, bytes]:
            return write_offline(
                read_comparisons(store, project.id, ballot.number, ballot.area_id),
                name=ballot.code,
                notion=project.notion,
                ties_allowed=plan.ties_allowed,
                wording=plan.wording,
                consent=consent,
                n_files=n_files,
            )

        if n_files == 1:
            st.download_button(
                "Web page (HTML)",
                lambda: next(iter(files().values())),
                f"{ballot.code}-ballot.html",
                "text/html",
                on_click="ignore",
            )
        else:
            name = f"{ballot.code}-ballot.zip"
            st.download_button(
                "Web pages (ZIP)", lambda: pack(files().items()), name, "application/zip", on_click="ignore"
            )
