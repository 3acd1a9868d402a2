"""Small rounds for tests: projects with rounds of other schemes, and people who answer their batch files."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from core.i18n import Language
from core.platforms.round_files import write_round
from core.questions import RoundSettings, default_settings, round_kind, round_kinds
from core.questions.order.groups import TargetGroup
from core.questions.rating.kind import RatedItems
from core.questions.rating.kind import rated_items as rated
from core.questions.voting_settings import VotingSettings
from core.questions.writing import pages
from core.store import Store
from core.store.ballots.ballot_rows import Ballot, answers_of, round_by_id, round_of, rounds_of
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.comparisons import read_shown
from core.store.ballots.drawing import discard_ballot, draw_round
from core.store.ballots.round_plans import QuestionKinds, asked_of
from core.store.ballots.simulated import simulate_votes
from core.store.votes.intake import Accepted, UploadPreview, accept_upload, preview_upload
from core.store.votes.tallies import Progress, progress_of
from core.store.voting.owner_commands import open_voting, round_voting_settings, set_voting_state
from tests.campaigns import make_project

RATING, BEST_WORST, ORDER = SCHEMES = tuple(round_kinds())
PAGES = tuple(pages())
GROUPS = (
    TargetGroup("cat", ("dog", "horse", "mouse"), ("lion", "kennel"), ("hammer",)),
    TargetGroup("hammer", ("saw", "007"), ("nail",)),
)
SMALL = {
    RATING: replace(default_settings(RATING, seed=3), raters=3, task_size=4),
    BEST_WORST: replace(default_settings(BEST_WORST, seed=3), appearances=4, task_size=3),
    ORDER: replace(default_settings(ORDER, seed=3), raters=3, groups=GROUPS),
}
Answer = Callable[[str, int, Sequence[tuple[str, str]]], Mapping[str, str]]  # voter, n, shown → fields without _n


def read_rounds(store: Store, project_id: str, area_id: int | None = None) -> list[Ballot]:
    """The rounds of a ranking in the order they were drawn."""
    with store.read() as conn:
        return rounds_of(conn, project_id, area_id)


def read_asked(store: Store, project_id: str, area_id: int | None = None) -> QuestionKinds:
    with store.read() as conn:
        return asked_of(conn, project_id, area_id)


def letters(pair: tuple[str, str]) -> int:
    return len(pair[0]) + len(pair[1])


def by_letters(voter: str, n: int, shown: Sequence[tuple[str, str]]) -> dict[str, str]:
    """A person who finds longer words more related; of equal ones the first shown. Voters whose names end in an odd
    number rate half a point higher."""
    order = sorted(range(len(shown)), key=lambda at: (-letters(shown[at]), at))
    rating = min(4.0, max(0.0, (letters(shown[0]) - 4) / 2 + 0.5 * (int(voter[1:]) % 2)))
    return {
        "rating": f"{rating:g}",
        "best": str(order[0] + 1),
        "worst": str(order[-1] + 1),
        "order": " ".join(str(at + 1) for at in order),
    }


FIELDS = {name: kind.fields for name, kind in round_kinds().items()}


def answer_round(
    batch: bytes,
    scheme: str,
    *,
    voters: Sequence[str] = ("W1", "W2", "W3"),
    per_task: int = 1,
    answer: Answer = by_letters,
    status: str = "Approved",
    tag: str = "R",
) -> bytes:
    """A result file in Mechanical Turk's format: `per_task` of the voters answer each task, taking turns."""
    tasks = list(csv.DictReader(io.StringIO(batch.decode("utf-8"))))
    inputs = list(tasks[0])
    width = max(int(name.split("_")[-1 if scheme == RATING else 1]) for name in inputs if "item_id" in name)
    fixed = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "SubmitTime", "WorkTimeInSeconds"]
    names = [f"{field}_{n}" for n in range(1, width + 1) for field in (*FIELDS[scheme], "unknown")]
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow([*fixed, *(f"Input.{name}" for name in inputs), *(f"Answer.{name}" for name in names)])
    turn = 0
    for number, task in enumerate(tasks):
        shown = {name: html.unescape(value) for name, value in task.items()}
        for copy in range(per_task):
            voter = voters[turn % len(voters)]
            turn += 1
            given: dict[str, str] = {}
            for n in range(1, width + 1):
                pairs = texts_of(shown, scheme, n)
                if pairs:
                    given |= {f"{field}_{n}": value for field, value in answer(voter, n, pairs).items()}
            minute = f"2026-10-0{1 + copy}T10:{number % 60:02d}:00Z"
            about = [f"H{number}", f"{tag}{number}-{copy}", voter, status, minute, "60"]
            writer.writerow([*about, *shown.values(), *(given.get(name, "") for name in names)])
    return out.getvalue().encode("utf-8")


def texts_of(shown: Mapping[str, str], scheme: str, n: int) -> list[tuple[str, str]]:
    """What question n of a task shows, in its places."""
    if scheme == RATING:
        return [(shown[f"token_a_{n}"], shown[f"token_b_{n}"])] if shown.get(f"item_id_{n}") else []
    pairs = []
    for place in range(1, 11):
        if scheme == BEST_WORST and shown.get(f"tuple_{n}_item_id_{place}"):
            pairs.append((shown[f"tuple_{n}_token_a_{place}"], shown[f"tuple_{n}_token_b_{place}"]))
        if scheme == ORDER and shown.get(f"order_{n}_item_id_{place}"):
            pairs.append((shown[f"order_{n}_target"], shown[f"order_{n}_word_{place}"]))
    return pairs


def batch_of(store: Store, project_id: str, number: int = 1) -> bytes:
    """The batch file of a round."""
    found = next(one for one in read_rounds(store, project_id) if one.number == number)
    return write_round(read_shown(store, project_id, found.id), found.asks, ascii_only=False)


def read_answer(settings: RoundSettings, given: str, n_shown: int, spoken: Language | None = None) -> str:
    return round_kind(settings.scheme).answer(settings, given, n_shown, spoken)


def rated_items(conn: sa.Connection, project_id: str, ballot_id: int) -> RatedItems:
    return rated(answers_of(conn, project_id, round_by_id(conn, project_id, ballot_id)))


def code_of(store: Store, project_id: str, number: int, area_id: int | None = None) -> str:
    with store.read() as conn:
        return round_of(conn, project_id, number, area_id).code


def accept_answers(store: Store, project_id: str, data: bytes, name: str, *, ballot_id: int, **more: Any) -> Accepted:
    return accept_upload(store, project_id, data, name, **_of_round(store, project_id, ballot_id), **more)


def preview_answers(
    store: Store, project_id: str, data: bytes, name: str, *, ballot_id: int, **more: Any
) -> UploadPreview:
    return preview_upload(store, project_id, data, name, **_of_round(store, project_id, ballot_id), **more)


def _of_round(store: Store, project_id: str, ballot_id: int) -> dict[str, Any]:
    with store.read() as conn:
        found = round_by_id(conn, project_id, ballot_id)
    return {"area_id": found.area_id, "code": found.code}


def _by_number(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command of a ballot as one of a round by its number."""

    def of_round(store: Store, project_id: str, number: int, *args: Any, **more: Any) -> Any:
        code = code_of(store, project_id, number, more.get("area_id"))
        return command(store, project_id, *args, code=code, **more)

    return of_round


close_round, reopen_round, discard_round = (_by_number(one) for one in (close_ballot, reopen_ballot, discard_ballot))
simulate_round, set_round_voting_state = _by_number(simulate_votes), _by_number(set_voting_state)


def open_round_voting(
    store: Store, project_id: str, number: int, settings: VotingSettings | None = None, **more: Any
) -> str:
    if settings is None:
        with store.read() as conn:
            settings = round_voting_settings(round_of(conn, project_id, number, more.get("area_id")))
    return _by_number(open_voting)(store, project_id, number, settings, **more)


def round_progress(store: Store, ballot_id: int) -> Progress:
    with store.read() as conn:
        return progress_of(conn, ballot_id)


def round_id(store: Store, project_id: str, number: int = 1) -> int:
    return next(one.id for one in read_rounds(store, project_id) if one.number == number)


def collected(store: Store, scheme: str, settings: RoundSettings | None = None) -> str:
    """A project with an open round of a scheme that has all its answers."""
    project_id = make_project(store, plan=None)
    add_round(store, project_id, settings or SMALL[scheme])
    return project_id


def add_round(store: Store, project_id: str, settings: RoundSettings, **choices: int) -> int:
    """Draw a round and answer it in full; returns its number."""
    number = draw_round(store, project_id, settings, **choices)
    data = answer_round(
        batch_of(store, project_id, number), settings.scheme, per_task=settings.raters, tag=f"R{number}-"
    )
    accept_answers(store, project_id, data, f"round-{number}.csv", ballot_id=round_id(store, project_id, number))
    return number
