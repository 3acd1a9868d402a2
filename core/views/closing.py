"""Closing a ballot of many votes as a job: its intervals take minutes, or hours."""

from __future__ import annotations

from typing import Any

from .. import jobs
from ..jobs import Job
from ..protocols import protocol_of
from ..store import Store
from ..store.voting import read_voting
from .collect import CollectView, DrawnStage

KIND = "close_ballot"
AT_ONCE = 4.0  # seconds


def takes_long(view: CollectView, stage: DrawnStage) -> bool:
    """Whether closing the open ballot takes more than a few seconds: by the votes that its scores are made from."""
    if stage.ballot.is_pilot:
        return False
    protocol = protocol_of(stage.ballot.protocol)
    scored = view.drawn if protocol.about.whole_field else [stage]
    return protocol.seconds(sum(each.progress.votes for each in scored)) > AT_ONCE


def params_of(stage: DrawnStage, area_id: int | None, revision: int) -> dict[str, Any]:
    """What a job needs to close a ballot as it stood at a revision of the project."""
    return {"area_id": area_id, "ballot": stage.number, "code": stage.ballot.code, "revision": revision}


def newest(store: Store, project_id: str, stage: DrawnStage, area_id: int | None, revision: int) -> Job | None:
    """The job that closes this ballot, or the last one that tried to at this revision; None without one."""
    for job in jobs.project_jobs(store, project_id, KIND, limit=1_000):
        same = job.params["area_id"] == area_id and job.params["ballot"] == stage.number
        if same and (not job.ended or job.params["revision"] == revision):
            return job
    return None


def is_resting(store: Store, stage: DrawnStage) -> bool:
    """Whether the ballot's voting page is paused only while the ballot is closed."""
    voting = read_voting(store, stage.ballot.id)
    return voting is not None and voting.is_resting


def ended_said(store: Store, stage: DrawnStage, job: Job) -> str:
    """What is to be known of a closing that ended before its time: that, why, and whether voting goes on."""
    message = "Closing {ballot} is stopped; the ballot is as it was."
    if job.state != "cancelled":
        message = "Closing {ballot} ended early; the ballot is as it was."
    voting = read_voting(store, stage.ballot.id)
    said = [message.format(ballot=stage.called), job.error if job.state == "failed" else ""]
    if voting is not None and voting.state != "closed":
        said.append("Voting goes on." if voting.state == "open" else "Voting is still paused.")
    return " ".join(filter(None, said))
