"""The commands that may take long over many votes: what each does, from JSON to JSON, and says.

Each is checked against the revision that its visitor saw, but for those on uploads, which are read against the store as
it is, and those of the workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..effects import Effect
from ..plurals import many, plural
from ..policy import Policy
from ..publishing import release
from ..settlement import Review
from ..store import Store
from ..store.archive import delete_project, duplicate_project, import_project
from ..store.ballots import PILOT
from ..store.brought_files import brought
from ..store.closing import reopen_ballot
from ..store.drawing import discard_ballot, draw_next_ballot, draw_waiting
from ..store.exclusions import Moved, exclude_voters, readmit_voters
from ..store.policies import set_policy
from ..store.projects import get_project, read_log
from ..store.settlement import Reviewed, review_assignments
from ..store.simulated import simulate_votes
from ..store.uploads import withdraw_upload
from ..store.voting import open_voting, withdraw_voters
from ..voting_settings import VotingSettings
from . import upload_jobs
from .upload_words import withdrawn_said
from .words import other_name_said

Values = Mapping[str, Any]


@dataclass(frozen=True)
class LongCommand:
    """A command by name. `doing` says what goes on; `act(store, project_id, arguments, revision)` does it, checked
    against that revision, and tells in JSON what came of it; `said(result, arguments)` says that.

    A command on projects as such is the workspace's: its job has no project, which may come or go. `opens(result)` is
    the project that whoever asked for it wants to see then. `in_parts`: several transactions, of which some may be done
    where it is stopped.
    """

    doing: str
    act: Callable[[Store, str, Values, int], Any]
    said: Callable[[Any, Values], str]
    opens: Callable[[Any], str] | None = None
    in_parts: bool = False


# Ballots


def _draw(store: Store, project_id: str, of: Values, revision: int) -> int:
    return draw_next_ballot(store, project_id, area_id=of["area_id"], expected_revision=revision)


def _draw_said(number: int, of: Values) -> str:
    return f"Ballot {number} is drawn. Next: give it to voters."


def _draw_waiting(store: Store, project_id: str, of: Values, revision: int) -> int:
    return draw_waiting(store, project_id, expected_revision=revision)


def _draw_waiting_said(n: int, of: Values) -> str:
    return f"{n} ballots are drawn. Choose an area for its batch."


def _discard(store: Store, project_id: str, of: Values, revision: int) -> None:
    discard_ballot(store, project_id, area_id=of["area_id"], code=of["code"], expected_revision=revision)


def _discard_said(_: Any, of: Values) -> str:
    return "The pilot is discarded." if of["number"] == PILOT else f"Ballot {of['number']} is discarded."


def _reopen(store: Store, project_id: str, of: Values, revision: int) -> None:
    reopen_ballot(store, project_id, area_id=of["area_id"], code=of["code"], expected_revision=revision)


def _reopen_said(_: Any, of: Values) -> str:
    return f"Ballot {of['number']} is open again."


def _simulate(store: Store, project_id: str, of: Values, revision: int) -> int:
    return simulate_votes(store, project_id, area_id=of["area_id"], code=of["code"], expected_revision=revision)


def _simulate_said(n: int, of: Values) -> str:
    return f"Simulated voters gave {n:,} votes, marked as simulated."


def _open_voting(store: Store, project_id: str, of: Values, revision: int) -> str:
    # Not `VotingSettings.of`, which leaves out silently what it doesn't take.
    settings = VotingSettings(**of["settings"] | {"ask": tuple(of["settings"]["ask"])})
    of_ballot = {"area_id": of["area_id"], "code": of["code"]}
    return open_voting(store, project_id, settings, **of_ballot, expected_revision=revision)


def _voting_said(_: str, of: Values) -> str:
    return "Voting is open."


# Voters


def _exclude(store: Store, project_id: str, of: Values, revision: int) -> dict[str, int]:
    detail = {int(id_): about for id_, about in of["detail"].items()}
    return asdict(exclude_voters(store, project_id, of["voter_ids"], of["reason"], detail, expected_revision=revision))


def _readmit(store: Store, project_id: str, of: Values, revision: int) -> dict[str, int]:
    return asdict(readmit_voters(store, project_id, of["voter_ids"], expected_revision=revision))


def _withdraw_voters(store: Store, project_id: str, of: Values, revision: int) -> int:
    return withdraw_voters(store, project_id, of["sitting_ids"], expected_revision=revision)


def _voters_withdrawn_said(n: int, of: Values) -> str:
    return f"{many(n, 'answer')} marked as withdrawn."


def _excluded_said(result: Values, of: Values) -> str:
    moved = Moved(**result)
    message = plural(
        moved.voters, "{voters} is left out: {answers}.", "{voters} are left out: {answers}.", **_counts(moved)
    )
    return _with_rescored(message, moved)


def _readmitted_said(result: Values, of: Values) -> str:
    moved = Moved(**result)
    message = plural(
        moved.voters, "{voters} is readmitted: {answers}.", "{voters} are readmitted: {answers}.", **_counts(moved)
    )
    return _with_rescored(message, moved)


def _counts(moved: Moved) -> dict[str, str]:
    return {"voters": many(moved.voters, "voter"), "answers": many(moved.answers, "answer")}


def _with_rescored(message: str, moved: Moved) -> str:
    if not moved.rescored:
        return message
    return f"{message} {many(moved.rescored, 'closed ballot')} scored anew."


# Answers


def _take(store: Store, project_id: str, of: Values, revision: int) -> list[dict[str, Any]]:
    return upload_jobs.take(store, project_id, of)  # read against the store as it is now, whatever the revision


def _taken_said(done: list[dict[str, Any]], of: Values) -> str:
    return upload_jobs.said(done)


def _withdraw(store: Store, project_id: str, of: Values, revision: int) -> dict[str, Any]:
    done = withdraw_upload(store, project_id, of["upload_id"])
    return {"n": done.judgements, "effect": done.effect.stored()}


def _withdrawn_said(result: Values, of: Values) -> str:
    return withdrawn_said(of["filename"], result["n"], Effect.from_stored(result["effect"]) or Effect(0))


def _set_policy(store: Store, project_id: str, of: Values, revision: int) -> int:
    return set_policy(store, project_id, Policy(of["rejected"], of["repeats"]), expected_revision=revision)


def _policy_said(n: int, of: Values) -> str:
    return f"Saved: {many(n, 'answer')} counted anew."


def decisions_kept(decisions: Mapping[int, Review | None]) -> list[list[Any]]:
    """Decisions on assignments as JSON: id, decision, reason; a decision of None takes one back."""
    return [[id_, *((None, "") if one is None else (one.decision, one.reason))] for id_, one in decisions.items()]


def _review(store: Store, project_id: str, of: Values, revision: int) -> dict[str, Any]:
    decisions = {id_: None if decision is None else Review(decision, why) for id_, decision, why in of["decisions"]}
    return asdict(review_assignments(store, project_id, decisions, expected_revision=revision))


def _reviewed_said(result: Values, of: Values) -> str:
    done = Reviewed(**result)
    message = "{assignments} decided."
    if done.out and done.back:
        message = (
            "{assignments} decided; {out} left out; {back} came in. What they answered wants votes again: see the "
            "top-up."
        )
    elif done.out:
        message = "{assignments} decided; {out} left out. What they answered wants votes again: see the top-up."
    elif done.back:
        message = "{assignments} decided; {back} came in."
    out, back = many(done.out, "vote"), many(done.back, "vote")
    return message.format(assignments=many(done.decided, "assignment"), out=out, back=back)


# Versions


def _release(store: Store, project_id: str, of: Values, revision: int) -> str:
    return release(store, project_id, of["version"], of["note"], expected_revision=revision).version


def _release_said(version: str, of: Values) -> str:
    return f"Version {version} is released and kept."


# Projects as such


def _copy(store: Store, _: str, of: Values, revision: int) -> dict[str, str]:
    project_id = duplicate_project(store, of["project_id"], of["name"])
    return {"project_id": project_id, "name": get_project(store, project_id).name}


def _copied_said(result: Values, of: Values) -> str:
    done = f"{result['name']} is a copy of {of['original']}."
    return f"{done} {other_name_said(result['name'], of['name'])}".rstrip()


def _opens(result: Values) -> str:
    return str(result["project_id"])


def _delete(store: Store, _: str, of: Values, revision: int) -> None:
    delete_project(store, of["project_id"], of["name"], expected_revision=of["revision"])


def _deleted_said(_: Any, of: Values) -> str:
    return f"{of['name']} is deleted. A copy lies in the workspace's folder backups."


def _import(store: Store, _: str, of: Values, revision: int) -> dict[str, Any]:
    return imported(store, brought(store, of["sha256"], of["filename"]))


def imported(store: Store, data: bytes) -> dict[str, Any]:
    """Take a project in: its id, its name here and in the file, and the embeddings that this workspace lacks."""
    project_id = import_project(store, data)
    detail = read_log(store, project_id, 1)[0]["detail"]
    names = {"name": detail["name"], "wished": detail.get("name asked for", detail["name"])}
    return {"project_id": project_id, "missing": list(detail.get("embeddings missing", {}).values())} | names


def imported_said(result: Values, of: Values) -> str:
    """That a project is imported, what it is called, and which embeddings this workspace lacks."""
    done = f"The project is imported. {other_name_said(result['name'], result['wished'])}".rstrip()
    if not result["missing"]:
        return done
    lacks = f"Embeddings that this workspace lacks: {', '.join(result['missing'])}."
    return f"{done} {lacks}"


COMMANDS = {
    "draw_ballot": LongCommand("Drawing the ballot", _draw, _draw_said),
    "draw_waiting": LongCommand("Drawing the ballots", _draw_waiting, _draw_waiting_said, in_parts=True),
    "discard_ballot": LongCommand("Discarding the draw", _discard, _discard_said),
    "reopen_ballot": LongCommand("Reopening the ballot", _reopen, _reopen_said),
    "simulate_votes": LongCommand("Letting simulated voters answer", _simulate, _simulate_said),
    "open_voting": LongCommand("Opening the voting page", _open_voting, _voting_said),
    "exclude_voters": LongCommand("Leaving voters out", _exclude, _excluded_said),
    "readmit_voters": LongCommand("Letting voters count again", _readmit, _readmitted_said),
    "withdraw_voters": LongCommand("Taking voters out", _withdraw_voters, _voters_withdrawn_said),
    "take_uploads": LongCommand("Taking the votes", _take, _taken_said, in_parts=True),
    "withdraw_upload": LongCommand("Withdrawing the upload", _withdraw, _withdrawn_said),
    "set_policy": LongCommand("Counting answers anew", _set_policy, _policy_said),
    "review": LongCommand("Deciding on assignments", _review, _reviewed_said),
    "release_version": LongCommand("Releasing the version", _release, _release_said),
    "copy_project": LongCommand("Copying the project", _copy, _copied_said, _opens),
    "delete_project": LongCommand("Deleting the project", _delete, _deleted_said),
    "import_project": LongCommand("Importing the project", _import, imported_said, _opens),
}
