"""The voters of a ranking with many votes: the button that asks for their figures, or the job's sign."""

from __future__ import annotations

import streamlit as st

from core import jobs
from core.errors import RunoffError
from core.spoken import say, to_say
from core.store.projects import Project
from core.views import voters_job
from core.views.voters import VotersView
from ui import cache, evaluation_jobs, frame

HELP = to_say("It measures every voter in the background, which may take a minute or two. You may leave this page.")


def figures(project: Project, area_id: int | None) -> VotersView | None:
    """The voters with their figures; None as long as these aren't there: the button or the job is shown."""
    store, key = frame.store(), f"voters-{project.id}-{area_id}"
    job = voters_job.known(store, project.id, area_id, project.stamp)
    if job is not None and job.state == "done":
        return cache.load_voters_of(store, project, area_id, job.id)
    if job is not None and not job.ended:
        evaluation_jobs.watch(store, job.id, voters_job.LABEL, key)
        return None
    if job is not None and job.state == "failed":
        st.warning(frame.plain(say("{what} ended early. {error}", what=say(voters_job.LABEL), error=job.error)))
    if st.button(say("Read all votes"), key=f"read-{key}", icon=":material/calculate:", help=say(HELP)):
        try:
            params = voters_job.params_of(area_id, project.stamp)
            jobs.start(store, voters_job.KIND, params, project_id=project.id, once=True)
        except RunoffError as error:
            frame.show_error(error)
            return None
        st.rerun()
    return None
