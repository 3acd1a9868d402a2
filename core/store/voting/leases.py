"""The questions of a voter's next task: the comparisons with the fewest votes, leased for a while, and checks.

The tallies that follow each vote by itself are kept here too.

All of this happens inside a write transaction, without a recount of the ballot: a comparison's last missing vote is
leased to one voter at a time.

`question.n_dealt` is what the page gives comparisons out by, the fewest first: the votes a comparison has, the leases
on it, and the answers "I don't know a word here" beyond the second. A comparison that nobody knows is thus given up in
the end.

The statements of each answer are built once, with their values left open: building one takes SQLAlchemy five times as
long as carrying it out, and all voters wait for the one who writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import sqlalchemy as sa

from ...ballots.checks import MOST_OVERLAP_VOTERS
from ...questions import RoundKind, RoundSettings, kind_of, round_kind
from ...questions.voting_settings import VotingSettings
from .. import schema as t
from ..command import insert_rows
from ..engine import now

UNKNOWN_ALLOWED = 2  # so many voters may not know a word before their answers stand for votes: another may know it
LEASED, COUNTED, UNKNOWN, ASIDE = "leased", "counted", "unknown", "aside"


def write_lease_counts(conn: sa.Connection, ballot_id: int) -> None:
    """Bring `n_dealt` of a ballot's comparisons in line with its judgements and leases."""
    q, j, d = t.question.c, t.judgement.c, t.deal.c
    unknown = sa.select(sa.func.count()).where(j.question_id == q.id, j.status == "unknown").scalar_subquery()
    leases = sa.select(sa.func.count()).where(d.question_id == q.id, d.state == "open", d.kind == "main")
    unknown_beyond = sa.case((unknown > UNKNOWN_ALLOWED, unknown - UNKNOWN_ALLOWED), else_=0)
    dealt = q.n_votes + unknown_beyond + leases.scalar_subquery()
    rows = sa.update(t.question).where(q.ballot_id == ballot_id, q.role == "main", q.n_dealt != dealt)
    conn.execute(rows.values(n_dealt=dealt))
    # A check is done with any answer: "I don't know" isn't asked of somebody else.
    answers = sa.select(sa.func.count()).where(j.question_id == q.id, j.status.in_(["counted", "unknown"]))
    open_leases = sa.select(sa.func.count()).where(d.question_id == q.id, d.state == "open")
    dealt = answers.scalar_subquery() + open_leases.scalar_subquery()
    checks = sa.update(t.question).where(q.ballot_id == ballot_id, q.role == "check", q.n_wanted > 0)
    conn.execute(checks.where(q.n_dealt != dealt).values(n_dealt=dealt))


def has_voting(conn: sa.Connection, ballot_id: int) -> bool:
    """Whether the ballot was ever put on the voting page."""
    return conn.execute(sa.select(t.voting.c.id).where(t.voting.c.ballot_id == ballot_id)).first() is not None


_QUESTION, _LEASE, _OPTION, _BALLOT_ITEM = t.question.c, t.deal.c, t.question_option.c, t.ballot_item.c
# Of one row; what is set is named when one is carried out.
CHANGE_SESSION = sa.update(t.sitting).where(t.sitting.c.id == sa.bindparam("of"))
CHANGE_LEASE = sa.update(t.deal).where(_LEASE.id == sa.bindparam("of"))
_ADD_TO_QUESTION = (
    sa.update(t.question)
    .where(_QUESTION.id == sa.bindparam("of"))
    .values(n_votes=_QUESTION.n_votes + sa.bindparam("votes"), n_dealt=_QUESTION.n_dealt + sa.bindparam("dealt"))
)
_TALLIES = ("wins", "ties", "losses", "unknowns")
_ADD_TO_ITEM = (
    sa.update(t.ballot_item)
    .where(_BALLOT_ITEM.ballot_id == sa.bindparam("of_ballot"), _BALLOT_ITEM.item_id == sa.bindparam("of_item"))
    .values({name: _BALLOT_ITEM[name] + sa.bindparam(f"d_{name}") for name in _TALLIES})
)


def move_tallies(conn: sa.Connection, ballot_id: int, question_id: int, answer: str, before: str, after: str) -> None:
    """Follow one answer to a question that is scored from one standing to another; the judgement is written already.

    The standings are LEASED (open, no answer), COUNTED, UNKNOWN ("I don't know a word here") and ASIDE (not counted).
    """
    votes = (after == COUNTED) - (before == COUNTED)
    dealt = (after in (LEASED, COUNTED)) - (before in (LEASED, COUNTED))
    unknowns = (after == UNKNOWN) - (before == UNKNOWN)
    if unknowns:
        n_now = _n_unknown(conn, question_id)
        dealt += unknowns * (max(n_now, n_now - unknowns) > UNKNOWN_ALLOWED)
    if votes or dealt:
        conn.execute(_ADD_TO_QUESTION, {"of": question_id, "votes": votes, "dealt": dealt})
    if votes or unknowns:
        conn.execute(_ADD_TO_ITEM, _tally_changes(conn, ballot_id, question_id, answer, votes, unknowns))


def move_check(conn: sa.Connection, question_id: int, before: str, after: str) -> None:
    """Follow one answer to an overlap or an audit, which are in no item's tallies; standings as in
    `move_tallies`."""
    votes = (after == COUNTED) - (before == COUNTED)
    dealt = (after != ASIDE) - (before != ASIDE)
    if votes or dealt:
        conn.execute(_ADD_TO_QUESTION, {"of": question_id, "votes": votes, "dealt": dealt})


def stands_for_vote(conn: sa.Connection, question_id: int) -> bool:
    """Whether the newest "I don't know a word here" of a comparison stands for a vote."""
    return _n_unknown(conn, question_id) > UNKNOWN_ALLOWED


def _n_unknown(conn: sa.Connection, question_id: int) -> int:
    """How many answers "I don't know a word here" a question has."""
    j = t.judgement.c
    query = sa.select(sa.func.count()).where(j.question_id == question_id, j.status == "unknown")
    return int(conn.execute(query).scalar_one())


_SHOWN_ITEMS = (
    sa.select(_OPTION.item_id, _QUESTION.kind)
    .join(t.question, _QUESTION.id == _OPTION.question_id)
    .where(_OPTION.question_id == sa.bindparam("question"))
    .order_by(_OPTION.position)
)


def _tally_changes(
    conn: sa.Connection, ballot_id: int, question_id: int, answer: str, votes: int, unknowns: int
) -> list[dict[str, int]]:
    """What changes in the tallies of the items that the question shows."""
    changes = []
    for side, (item_id, kind) in enumerate(conn.execute(_SHOWN_ITEMS, {"question": question_id})):
        change = {"of_ballot": ballot_id, "of_item": item_id}
        change |= dict.fromkeys(("d_wins", "d_ties", "d_losses"), 0) | {"d_unknowns": unknowns}
        if votes:
            change[f"d_{_TALLIES[kind_of(kind).counts_as(answer, side)]}"] = votes
        changes.append(change)
    return changes


@dataclass(frozen=True)
class VotingPage:
    """The voting page whose comparisons are leased: its ballot and settings; of a round, the round's."""

    voting_id: int
    ballot_id: int
    settings: VotingSettings
    round: RoundSettings | None = None

    @property
    def asks(self) -> RoundKind | None:
        """What the questions of a round are; None for comparisons."""
        return None if self.round is None else round_kind(self.round.scheme)

    def expires(self) -> str:
        """When a lease taken now expires."""
        after = datetime.now(UTC) + timedelta(minutes=self.settings.minutes_per_task)
        return after.isoformat(timespec="microseconds")


def change_lease_counts(conn: sa.Connection, question_ids: list[int], change: int) -> None:
    if question_ids:
        conn.execute(_ADD_TO_QUESTION, [{"of": id_, "votes": 0, "dealt": change} for id_ in question_ids])


SIDES = ("flipped", "left_swapped", "right_swapped")


def _was_given(question_id: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    """Whether the voter of `session` was given a comparison, or a check that is the same one put before further
    voters."""
    d, c = t.deal.c, t.check_question.alias("same").c  # an alias, so that no query around it is meant
    mine = d.sitting_id == sa.bindparam("session")
    itself = sa.exists().where(mine, d.question_id == question_id)
    as_check = sa.exists().where(mine, d.question_id == c.question_id, c.of_id == question_id)
    return sa.or_(itself, as_check)


def _lacking(*columns: Any, of_round: bool) -> sa.Select:
    """The first `most` questions of a ballot that lack votes which aren't being given, and that are new to the voter of
    `session`: those with the fewest votes first. The answers wanted of each: of a round `n_wanted`, else `wanted`."""
    q = t.question.c
    lacks = q.n_dealt < (q.n_wanted if of_round else sa.bindparam("wanted"))
    query = sa.select(*columns).where(q.ballot_id == sa.bindparam("ballot"), q.role == "main", lacks, ~_was_given(q.id))
    return query.order_by(q.n_dealt, q.id).limit(sa.bindparam("most", type_=sa.Integer))


_LACKING = {of_round: _lacking(t.question.c.id, of_round=of_round) for of_round in (False, True)}


def _parameters(page: VotingPage, session_id: int, most: int) -> dict[str, int]:
    """The bind parameters of `_lacking`."""
    wanted = page.settings.votes_per_comparison
    return {"session": session_id, "ballot": page.ballot_id, "wanted": wanted, "most": most}


def is_anything_left(conn: sa.Connection, page: VotingPage, session_id: int) -> bool:
    """Whether there is a question or a check that lacks an answer and is new to the voter."""
    query = _LACKING[page.round is not None]
    if conn.execute(query, _parameters(page, session_id, 1)).first() is not None:
        return True
    return bool(_open_checks(conn, page, session_id, 1))


SPARE = 1.1  # checks are given a little more densely than they are wanted, so that they are there before the last vote


_CHECK, _ORIGINAL = t.check_question.c, t.question.alias("original")
# The kinds that want one answer each; no overlap where comparisons have several votes anyhow.
_IS_CHECK = sa.and_(
    _QUESTION.ballot_id == sa.bindparam("ballot"),
    _QUESTION.role == "check",
    sa.or_(_CHECK.kind == "audit", sa.and_(_CHECK.kind == "overlap", sa.bindparam("wanted", type_=sa.Integer) == 1)),
)
_N_CHECKS = (
    sa.select(sa.func.count())
    .select_from(t.question)
    .join(t.check_question, _CHECK.question_id == _QUESTION.id)
    .where(_IS_CHECK)
)
# An overlap waits for the vote that counts: else its voters might be the only ones left who could have given that.
_IS_TIME = sa.or_(_CHECK.of_id.is_(None), sa.and_(_ORIGINAL.c.n_votes > 0, ~_was_given(_CHECK.of_id)))
_OPEN_CHECKS = (
    sa.select(_QUESTION.id, _CHECK.kind, _CHECK.of_id)
    .join(t.check_question, _CHECK.question_id == _QUESTION.id)
    .outerjoin(_ORIGINAL, _ORIGINAL.c.id == _CHECK.of_id)
    .where(_IS_CHECK, _QUESTION.n_dealt < _QUESTION.n_wanted, ~_was_given(_QUESTION.id), _IS_TIME)
    .order_by(_QUESTION.n_dealt, _QUESTION.id)
    .limit(sa.bindparam("most", type_=sa.Integer))
)


def n_checks_for(conn: sa.Connection, page: VotingPage, n_fresh: int, rng: np.random.Generator) -> int:
    """How many overlaps and audits go with `n_fresh` comparisons, in proportion to the ballot's; rounded at random."""
    parameters = {"ballot": page.ballot_id, "wanted": page.settings.votes_per_comparison}
    if not (n_checks := conn.execute(_N_CHECKS, parameters).scalar_one()):
        return 0
    comparisons = sa.select(t.ballot.c.n_comparisons).where(t.ballot.c.id == page.ballot_id)
    votes = conn.execute(comparisons).scalar_one() * page.settings.votes_per_comparison
    n_expected = SPARE * n_checks * n_fresh / votes
    return int(n_expected) + int(rng.random() < n_expected % 1)


def _open_checks(conn: sa.Connection, page: VotingPage, session_id: int, most: int) -> list[sa.Row]:
    """Up to `most` overlaps and audits that lack their answer and are new to a voter: id, kind, and the comparison that
    counts."""
    return list(conn.execute(_OPEN_CHECKS, _parameters(page, session_id, most)))


def lease_checks(
    conn: sa.Connection, page: VotingPage, session_id: int, n: int, shown: set[int], rng: np.random.Generator
) -> list[tuple[dict[str, Any], str]]:
    """Lease up to `n` overlaps and audits, none of the same comparison as another or as those `shown` in the task."""
    if not n:
        return []
    drawn: list[tuple[dict[str, Any], str]] = []
    originals: set[int | None] = set(shown)
    for id_, kind, original in _open_checks(conn, page, session_id, n * MOST_OVERLAP_VOTERS + len(shown)):
        if len(drawn) < n and (original is None or original not in originals):
            originals.add(original)
            sides = dict(zip(SIDES, map(bool, rng.integers(0, 2, 3)), strict=True))
            drawn.append(({"question_id": id_, **sides}, kind))
    change_lease_counts(conn, [row["question_id"] for row, _ in drawn], 1)
    return drawn


def draw_gold(conn: sa.Connection, page: VotingPage, session_id: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Checks that the voter hasn't met, with sides at random."""
    if not page.settings.n_gold:
        return []
    q = t.question.c
    already_leased = sa.exists().where(t.deal.c.sitting_id == session_id, t.deal.c.question_id == q.id)
    query = sa.select(q.id).where(q.ballot_id == page.ballot_id, q.role == "check", ~already_leased).order_by(q.id)
    ids = conn.execute(query.join(t.gold, t.gold.c.question_id == q.id)).scalars().all()
    chosen = rng.permutation(np.array(ids, dtype=int))[: page.settings.n_gold]
    return [
        {"question_id": int(id_), **dict(zip(SIDES, map(bool, rng.integers(0, 2, 3)), strict=True))} for id_ in chosen
    ]


def draw_repeats(conn: sa.Connection, session_id: int, n: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Comparisons that the voter answered in earlier tasks and that weren't repeated yet, with sides exchanged."""
    if not n:
        return []
    again = t.deal.alias("again")
    d = t.deal.c
    repeated = sa.exists().where(
        again.c.sitting_id == session_id, again.c.question_id == d.question_id, again.c.kind == "repeat"
    )
    query = sa.select(t.deal).where(d.sitting_id == session_id, d.kind == "main", d.state == "answered", ~repeated)
    rows = conn.execute(query.order_by(d.id)).all()
    chosen = [rows[at] for at in rng.permutation(len(rows))[:n]]
    return [
        {
            "question_id": row.question_id,
            "flipped": not row.flipped,
            "left_swapped": row.right_swapped,
            "right_swapped": row.left_swapped,
        }
        for row in chosen
    ]


RELEASE_AT_ONCE = 500
LEASED_KINDS = ("main", "overlap", "audit")  # of which a comparison wants so many votes and no more


_EXPIRED = (
    sa.select(_LEASE.id, _LEASE.question_id, _LEASE.kind)
    .join(t.sitting, t.sitting.c.id == _LEASE.sitting_id)
    .where(_LEASE.state == "open", _LEASE.expires_at < sa.bindparam("now"))
    .where(t.sitting.c.voting_id == sa.bindparam("voting"))
    .order_by(_LEASE.expires_at)
    .limit(RELEASE_AT_ONCE)
)


def release_expired(conn: sa.Connection, voting_id: int) -> int:
    """Put a page's comparisons whose time is over back into the pool, so many at once at most; returns how many.

    Those of other pages may be of other projects, whose writers come in another line (`Store.write`).
    """
    rows = conn.execute(_EXPIRED, {"now": now(), "voting": voting_id}).all()
    if rows:
        conn.execute(CHANGE_LEASE, [{"of": row.id, "state": "released"} for row in rows])
        change_lease_counts(conn, [row.question_id for row in rows if row.kind in LEASED_KINDS], -1)
    return len(rows)


def lease_again(conn: sa.Connection, page: VotingPage, lease: sa.Row) -> bool:
    """Give a released comparison back to the voter who had it, if it still lacks a vote; whether that was so."""
    if lease.kind in LEASED_KINDS:
        q = t.question.c
        missing = sa.update(t.question).where(q.id == lease.question_id, q.n_dealt < q.n_wanted)
        if conn.execute(missing.values(n_dealt=q.n_dealt + 1)).rowcount == 0:
            return False
    conn.execute(CHANGE_LEASE, {"of": lease.id, "state": "open", "expires_at": page.expires()})
    return True


_TASK_LEASES = (
    sa.select(t.deal)
    .where(_LEASE.sitting_id == sa.bindparam("session"), _LEASE.task == sa.bindparam("task"))
    .order_by(_LEASE.n)
)


def task_leases(conn: sa.Connection, session_id: int, task: int) -> list[sa.Row]:
    """All leases of a voter's task, in order. Open ones are in the newest task of a session."""
    return list(conn.execute(_TASK_LEASES, {"session": session_id, "task": task}))


def open_lease(leases: Sequence[sa.Row]) -> sa.Row | None:
    """The first of a task's comparisons that the voter holds and hasn't answered."""
    return next((lease for lease in leases if lease.state == "open"), None)


def last_answer(leases: Sequence[sa.Row]) -> sa.Row | None:
    """The voter's last answer in a task, by the order of answers, whatever the clock said."""
    answered = [lease for lease in leases if lease.state == "answered"]
    # Answers from before these were counted came in the order of their places, and first.
    return max(answered, key=lambda lease: (lease.answer_n or 0, lease.n), default=None)


def resume_task(conn: sa.Connection, page: VotingPage, session: sa.Row) -> None:
    """After its time was over: give the voter's task back as far as it is still wanted, and others for the rest."""
    release_expired(conn, page.voting_id)
    leases = task_leases(conn, session.id, session.n_tasks)
    lost = [lease for lease in leases if lease.state == "released" and not lease_again(conn, page, lease)]
    if lost:
        fresh = _draw_main(conn, page, session.id, len(lost), _items_of(conn, leases))
        _insert(conn, page, session.id, session.n_tasks, len(leases), [(row, "main") for row in fresh])


def lease_task(conn: sa.Connection, page: VotingPage, session: sa.Row) -> bool:
    """Give the voter a new task; False where nothing is left that lacks votes and is new to the voter.

    Once no comparison is left that counts, tasks hold what overlaps and audits are still open.
    """
    release_expired(conn, page.voting_id)
    settings, task = page.settings, session.n_tasks + 1
    rng = np.random.default_rng([page.voting_id, session.id, task])
    repeats = draw_repeats(conn, session.id, settings.n_repeats, rng)
    fresh = _draw_main(conn, page, session.id, settings.task_size, set())
    if fresh:
        rows = [(row, "main") for row in fresh]
        checks = [(row, "gold") for row in draw_gold(conn, page, session.id, rng)]
        shown = {row["question_id"] for row in fresh}
        n = n_checks_for(conn, page, len(fresh), rng)
        for check in checks + lease_checks(conn, page, session.id, n, shown, rng):
            rows.insert(int(rng.integers(0, len(rows) + 1)), check)
        rows += [(row, "repeat") for row in repeats]
    else:
        rows = lease_checks(conn, page, session.id, settings.task_size, set(), rng)
    if not rows:
        return False
    _insert(conn, page, session.id, task, 0, rows)
    conn.execute(CHANGE_SESSION, {"of": session.id, "n_tasks": task, "seen_at": now()})
    return True


_TASK, _ONE, _TWO = t.task_question.c, t.question_option.alias("one"), t.question_option.alias("two")
_COMPARISONS = (
    _lacking(
        *(_QUESTION.id, _QUESTION.n_dealt, _TASK.flipped, _TASK.left_swapped, _TASK.right_swapped),
        *(_ONE.c.item_id, _TWO.c.item_id),
        of_round=False,
    )
    .join(t.task_question, _TASK.question_id == _QUESTION.id)
    .join(_ONE, sa.and_(_ONE.c.question_id == _QUESTION.id, _ONE.c.position == 0))
    .join(_TWO, sa.and_(_TWO.c.question_id == _QUESTION.id, _TWO.c.position == 1))
)
_OF_ROUND = _lacking(_QUESTION.id, _QUESTION.n_dealt, _TASK.left_swapped, of_round=True)
_OF_ROUND = _OF_ROUND.join(t.task_question, _TASK.question_id == _QUESTION.id)


def _draw_main(
    conn: sa.Connection, page: VotingPage, session_id: int, n: int, shown: set[frozenset[int]]
) -> list[dict[str, Any]]:
    """Lease up to `n` comparisons that lack votes and that the voter was never given, the fewest votes first.

    No two items meet twice in a task. What was drawn for one task stands together, as it does in a batch.
    """
    if page.round is not None:
        return _draw_of_round(conn, page, session_id, n)
    rows = conn.execute(_COMPARISONS, _parameters(page, session_id, 2 * n + 10))
    drawn: list[dict[str, Any]] = []
    for id_, n_dealt, flipped, left, right, first, second in rows:
        pair = frozenset((first, second))
        if len(drawn) < n and pair not in shown:
            shown.add(pair)
            # Every other voter sees the sides the other way round.
            sides = (not flipped, right, left) if n_dealt % 2 else (flipped, left, right)
            drawn.append({"question_id": id_, **dict(zip(SIDES, sides, strict=True))})
    change_lease_counts(conn, [row["question_id"] for row in drawn], 1)
    return drawn


def _draw_of_round(conn: sa.Connection, page: VotingPage, session_id: int, n: int) -> list[dict[str, Any]]:
    """Lease up to `n` questions of a round that lack answers and are new to the voter, the fewest answers first.

    Every other person sees the tokens of an item the other way round, where the round exchanges them at all.
    """
    rows = conn.execute(_OF_ROUND, _parameters(page, session_id, n)).all()
    kind, settings = page.asks, page.round
    swaps = kind is not None and settings is not None and kind.swaps(settings)
    change_lease_counts(conn, [row.id for row in rows], 1)
    sides = [(False, bool(row.left_swapped) != (swaps and row.n_dealt % 2 == 1), False) for row in rows]
    return [{"question_id": row.id, **dict(zip(SIDES, of, strict=True))} for row, of in zip(rows, sides, strict=True)]


def _items_of(conn: sa.Connection, leases: list[sa.Row]) -> set[frozenset[int]]:
    """The pairs of items that the questions of these leases show."""
    option = t.question_option.c
    query = sa.select(option.question_id, option.item_id).where(option.question_id.in_([d.question_id for d in leases]))
    items: dict[int, set[int]] = {}
    for question_id, item_id in conn.execute(query):
        items.setdefault(question_id, set()).add(item_id)
    return {frozenset(pair) for pair in items.values()}


def _insert(
    conn: sa.Connection,
    page: VotingPage,
    session_id: int,
    task: int,
    after: int,
    rows: list[tuple[dict[str, Any], str]],
) -> None:
    expires = page.expires()
    columns = ["sitting_id", "task", "n", "kind", "question_id", *SIDES, "state", "expires_at"]
    insert_rows(
        conn,
        t.deal,
        columns,
        [
            (session_id, task, after + n, kind, row["question_id"], *(row[s] for s in SIDES), "open", expires)
            for n, (row, kind) in enumerate(rows, start=1)
        ],
    )


def is_complete(conn: sa.Connection, ballot_id: int, wanted: int) -> bool:
    """Whether no comparison lacks a vote and none is being answered (or was given up as unknown to voters)."""
    q, d = t.question.c, t.deal.c
    lacking = sa.select(q.id).where(q.ballot_id == ballot_id, q.role == "main", q.n_dealt < wanted).limit(1)
    if conn.execute(lacking).first() is not None:
        return False
    open_leases = (
        sa.select(d.id)
        .join(t.question, q.id == d.question_id)
        .where(d.state == "open", d.kind == "main", q.ballot_id == ballot_id)
        .limit(1)
    )
    return conn.execute(open_leases).first() is None
