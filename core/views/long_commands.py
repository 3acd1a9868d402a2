"""Commands that take more than a second where there are many votes: carried out at once, or by a job.

Each takes JSON and gives JSON, so that a process of its own can carry it out and any tab can say what it did. A
job says to have ended in a transaction of its own: where its process dies just before that, the command happened and
the log says so, and asking for it once more is told that the project changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from ..jobs import Job, running_jobs
from ..protocols import protocol_of
from ..store import Store
from ..store import schema as t
from .command_list import COMMANDS, Values
from .overview import Standing

KIND = "command"
MANY = 50_000  # comparisons that are drawn, or whose votes are counted anew, in about a second
FITTED = 20_000  # votes that the protocol runoff fits, with its resamples, in a few seconds


def params_of(name: str, arguments: Values, revision: int) -> dict[str, Any]:
    """What a job needs to carry a command out on the project as it stood at a revision."""
    return {"command": name, "arguments": dict(arguments), "revision": revision}


def carry_out(store: Store, project_id: str, name: str, arguments: Values, revision: int) -> Any:
    """Do it, and tell in JSON what came of it; errors as of the command."""
    return COMMANDS[name].act(store, project_id, arguments, revision)


def done_said(job: Job) -> str:
    """What a job that is done did."""
    return COMMANDS[job.params["command"]].said((job.result or {})["found"], job.params["arguments"])


def ended_said(job: Job) -> str:
    """That a command was stopped, or ended early, and why."""
    command = COMMANDS[job.params["command"]]
    doing = command.doing
    if job.state == "cancelled" and command.in_parts:
        return f"{doing} was stopped. What was done before stands in the log."
    if job.state == "cancelled":
        return f"{doing} was stopped; nothing was changed."
    return f"{doing} ended early. {job.error or ''}"


def under_way(store: Store, project_id: str | None) -> list[Job]:
    """The commands of a project, and of the workspace, that jobs carry out now."""
    here = sa.or_(t.job.c.project_id == project_id, t.job.c.project_id.is_(None))
    with store.read() as conn:
        return running_jobs(conn, here, t.job.c.kind == KIND)


def is_many(n: int) -> bool:
    """Whether a command over so many comparisons takes more than about a second."""
    return n > MANY


def rescoring_is_long(standings: Sequence[Standing]) -> bool:
    """Whether scoring a project's closed ballots anew takes more than a few seconds: by the size of all its ballots."""
    ballots = [ballot for standing in standings for ballot in standing.ballots]
    most = FITTED if any(protocol_of(ballot.protocol).about.whole_field for ballot in ballots) else MANY
    return sum(ballot.n_comparisons for ballot in ballots) > most
