"""What a voter of the voting page sees next, read from the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa

from ...i18n import STANDARD, Language, language
from ...questions import RoundKind, RoundSettings
from ...questions.voting_settings import VotingSettings
from .. import schema as t
from ..engine import now
from .leases import is_anything_left, last_answer, lease_task, open_lease, resume_task, task_leases
from .visits import LinkTarget, cookie_of, read_session, with_nonce


@dataclass(frozen=True)
class TaskPlace:
    """A comparison before the voter: its place in the task, the texts by variable of the template, and the area of the
    ballot's items where all are of one."""

    task: int
    n: int
    of: int
    texts: Mapping[str, str]
    area: str = ""


@dataclass(frozen=True)
class VoterView:
    """What the page shows.

    `kind`: nothing (no such link), preview, paused, next (between two ballots), closed (after the last), uninvited,
    entry, example, vote, between (a task is done), full (nothing left for this voter), finished, stopped. `cookie` is
    to be set where it isn't None. `said` is a sentence about what was just done.
    """

    kind: str
    project_id: str = ""
    ballot_id: int = 0
    notion: str = "relatedness"
    wording: Mapping[str, Any] | None = None
    settings: VotingSettings = field(default_factory=VotingSettings)
    round: RoundSettings | None = None  # where the page asks for something else than comparisons
    form: str = ""  # the token that a form of this view must send
    cookie: str | None = None
    place: TaskPlace | None = None
    example: int = 0
    asks_name: bool = False
    asks_word: bool = False
    keeps_address: bool = False
    may_more: bool = False
    last: tuple[int, int] | None = None  # the place (task, n) of the answer that can be taken back
    code: str = ""
    said: str = ""

    @property
    def language(self) -> Language:
        """The language of the texts that aren't the owner's."""
        return language((self.wording or {}).get("language", STANDARD))


def make_view(at: LinkTarget, kind: str, seal: str, **more: Any) -> VoterView:
    values: dict[str, Any] = {"project_id": at.project_id, "ballot_id": at.page.ballot_id, "notion": at.notion}
    values["keeps_address"] = at.address_salt is not None
    return VoterView(
        kind,
        **values,
        wording=at.wording,
        settings=at.page.settings,
        round=at.page.round,
        form=at.form(seal),
        **more,
    )


def next_view(conn: sa.Connection, at: LinkTarget, session: sa.Row, said: str = "") -> VoterView:
    """The view of a session, inside a transaction that may write."""
    view = show(conn, at, session, writes=True)
    if view is None:
        raise RuntimeError("A view that may write is always there.")
    return replace(view, said=said)


def show(conn: sa.Connection, at: LinkTarget, session: sa.Row, *, writes: bool) -> VoterView | None:
    """The view of a session; None where something must be written first (a nonce, what is given) and may not."""
    if session.nonce is None:
        if not writes:
            return None
        session = with_nonce(conn, at, session)
    cookie = cookie_of(at, session.nonce)
    if session.state != "voting":
        return make_view(at, session.state, cookie, cookie=cookie, code=session.code or "")
    if session.n_examples < len(at.examples):
        return make_view(at, "example", cookie, cookie=cookie, example=session.n_examples)
    leases = task_leases(conn, session.id, session.n_tasks)
    lease = open_lease(leases)
    over = session.n_tasks > 0 and all(lease.state == "answered" for lease in leases)
    if not over and (lease is None or lease.expires_at < now()):
        if not writes:
            return None
        if session.n_tasks:
            resume_task(conn, at.page, session)
        elif not lease_task(conn, at.page, session):
            return make_view(at, "full", cookie, cookie=cookie)
        session = read_session(conn, session.id) or session
        leases = task_leases(conn, session.id, session.n_tasks)
        lease = open_lease(leases)
    answered = last_answer(leases)
    last = (answered.task, answered.n) if answered is not None else None
    if lease is None:
        more = _may_more(conn, at, session)
        return make_view(at, "between", cookie, cookie=cookie, may_more=more, last=last)
    return make_view(at, "vote", cookie, cookie=cookie, place=_place(conn, at, leases, lease), last=last)


def _may_more(conn: sa.Connection, at: LinkTarget, session: sa.Row) -> bool:
    """Whether the voter may have another task and there is anything left to give."""
    return session.n_tasks < at.page.settings.tasks_per_voter and is_anything_left(conn, at.page, session.id)


def _place(conn: sa.Connection, at: LinkTarget, leases: Sequence[sa.Row], lease: sa.Row) -> TaskPlace:
    """The place of a lease in its task, with the texts to show there."""
    active = [row for row in leases if row.state != "released"]
    n_done = sum(row.state == "answered" for row in active)
    kind = at.page.asks
    if kind is not None:
        return TaskPlace(lease.task, lease.n, len(active), _texts_of_round(conn, lease, kind) | {"at": str(n_done + 1)})
    texts = _texts(conn, lease)
    area = texts["area_left"] if _is_of_one_area(conn, at) else ""
    return TaskPlace(lease.task, lease.n, len(active), texts | {"at": str(n_done + 1)}, area)


# Of voting pages, by their database and when they were opened: a ballot keeps its items.
_OF_ONE_AREA: dict[tuple[str, int, str], bool] = {}


def _is_of_one_area(conn: sa.Connection, at: LinkTarget) -> bool:
    """Whether all items of a page's ballot are of one area; looked up once, as voters ask again with each vote."""
    key = (str(conn.engine.url), at.page.voting_id, at.opened_at)
    if key not in _OF_ONE_AREA:
        items = sa.select(sa.func.count(t.item.c.area_id.distinct())).join(
            t.ballot_item, t.ballot_item.c.item_id == t.item.c.id
        )
        n_areas = conn.execute(items.where(t.ballot_item.c.ballot_id == at.page.ballot_id)).scalar_one()
        _OF_ONE_AREA[key] = n_areas == 1
    return _OF_ONE_AREA[key]


_A, _B, _OPTION = t.token.alias("a"), t.token.alias("b"), t.question_option.c
_WORDS = (
    sa.select(_A.c.text, _B.c.text, t.area.c.name)
    .select_from(t.question_option)
    .join(t.item, t.item.c.id == _OPTION.item_id)
    .join(_A, _A.c.id == t.item.c.token_a_id)
    .join(_B, _B.c.id == t.item.c.token_b_id)
    .join(t.area, t.area.c.id == t.item.c.area_id)
    .where(_OPTION.question_id == sa.bindparam("question"))
    .order_by(_OPTION.position)
)


def _texts(conn: sa.Connection, lease: sa.Row) -> dict[str, str]:
    """The words on both sides, by variable of the template."""
    first, second = conn.execute(_WORDS, {"question": lease.question_id}).all()
    texts: dict[str, str] = {}
    for side, row in zip(("left", "right"), (second, first) if lease.flipped else (first, second), strict=True):
        pair = (row[1], row[0]) if getattr(lease, f"{side}_swapped") else (row[0], row[1])
        texts |= {f"{side}_a": pair[0], f"{side}_b": pair[1], f"area_{side}": row[2]}
    return texts


def _texts_of_round(conn: sa.Connection, lease: sa.Row, kind: RoundKind) -> dict[str, str]:
    """The words of a round's question, by variable of its page."""
    pairs = [(row[0], row[1]) for row in conn.execute(_WORDS, {"question": lease.question_id})]
    return kind.variables(pairs, bool(lease.left_swapped))
