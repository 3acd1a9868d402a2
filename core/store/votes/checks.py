"""Votes read from the store for checks of their quality, and the checks with a known answer.

Read are all answers of a ranking's voters, sides as shown, and answers to the same comparisons. Checks with a known
answer show whether a voter reads, and never enter scores; they are proposed by the votes, typed, or the plan's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...ballots.checks import KINDS, CheckSettings, clear_pairs, read_gold_pairs
from ...errors import DisconnectedError, InputError, Issue, NotConvergedError, StoreError
from ...questions import COMPARISON
from ...scores.borda import VotesOf
from ...scores.bradley_terry import FittedVotes, fit_votes
from ...tables import VOTER_ANSWERS
from .. import schema as t
from ..ballots.ballot_rows import FOR_PROPOSED_GOLD, closed_ballots_of, open_ballot_of
from ..command import Change, command, fetch_integers, fetch_numbers, fetch_rows, insert_one, insert_rows
from ..engine import Store
from ..projects.plans import ballot_named
from ..tokens.areas import items_of
from .tallies import ballot_votes

_ANSWERS = {"first": 1.0, "second": 0.0, "tie": 0.5, "unknown": -1.0}
_STATUSES = ("counted", "unknown", "excluded", "repeat", "rejected")
_GOLD = {"first": 1.0, "second": 0.0, "tie": 0.5}


def voter_answers(conn: sa.Connection, ballot_ids: Sequence[int]) -> pd.DataFrame:
    """Every answer to the comparisons of some ballots that wasn't withdrawn (schema VOTER_ANSWERS), in a fixed order.

    Half a million take some seconds.
    """
    rows = fetch_numbers(conn, _query(ballot_ids))
    first, second = (_items(conn, ballot_ids, side) for side in (0, 1))
    question = rows[:, 0].astype(np.int64)
    at = np.searchsorted(first[:, 0], question)
    answer, flipped = rows[:, 2], rows[:, 4]
    left = np.where(flipped == 1, 1 - answer, answer)
    left[~np.isin(answer, (0.0, 1.0)) | np.isnan(flipped)] = np.nan
    frame = pd.DataFrame(
        {
            "voter_id": rows[:, 1].astype(np.int64),
            "comparison": rows[:, 8].astype(np.int64),
            "first": first[at, 1],
            "second": second[at, 1],
            "answer": np.where(answer < 0, np.nan, answer),
            "left": left,
            "seconds": rows[:, 5],
            "status": pd.Series(np.array(_STATUSES, dtype=object)[rows[:, 3].astype(int)], dtype="str"),
            "main": rows[:, 6] == 1,
            "gold": rows[:, 7],
        }
    )
    return VOTER_ANSWERS.check(frame)


def _query(ballot_ids: Sequence[int]) -> sa.Select:
    j, q = t.judgement.c, t.question.c
    showing = (t.task_question.c.task_id == t.assignment.c.task_id) & (t.task_question.c.question_id == j.question_id)
    dealt = (t.deal.c.assignment_id == t.assignment.c.id) & (t.deal.c.question_id == j.question_id)
    status = sa.case(*((j.status == name, place) for place, name in enumerate(_STATUSES)))
    return (
        sa.select(
            j.question_id,
            t.assignment.c.voter_id,
            sa.case(*((j.answer == name, value) for name, value in _ANSWERS.items())),
            status,
            sa.func.coalesce(t.deal.c.flipped, t.task_question.c.flipped),
            j.seconds,
            sa.case((q.role == "main", 1), else_=0),
            sa.case(*((t.gold.c.answer == name, value) for name, value in _GOLD.items())),
            sa.func.coalesce(t.check_question.c.of_id, j.question_id),  # a check may repeat a comparison
        )
        .select_from(t.judgement)
        .join(t.assignment, t.assignment.c.id == j.assignment_id)
        .join(t.question, q.id == j.question_id)
        .outerjoin(t.gold, t.gold.c.question_id == q.id)
        .outerjoin(t.check_question, t.check_question.c.question_id == q.id)
        .outerjoin(t.task_question, showing)
        .outerjoin(t.deal, dealt)
        .where(t.assignment.c.ballot_id.in_(list(ballot_ids)), j.status.in_(_STATUSES), q.kind == COMPARISON.name)
        # A voter's first answer to a comparison comes before repeats of it.
        .order_by(t.assignment.c.ballot_id, sa.case((j.status == "repeat", 1), else_=0), j.question_id, j.id)
    )


def _items(conn: sa.Connection, ballot_ids: Sequence[int], side: int) -> np.ndarray:
    """Question and item position on one side (0 first, 1 second) of every comparison, by question."""
    option = t.question_option.c
    query = (
        sa.select(option.question_id, t.item.c.position)
        .join(t.question, t.question.c.id == option.question_id)
        .join(t.item, t.item.c.id == option.item_id)
        .where(t.question.c.ballot_id.in_(list(ballot_ids)), option.position == side)
        .order_by(option.question_id)
    )
    return fetch_integers(conn, query)


def voter_names(conn: sa.Connection, project_id: str) -> pd.DataFrame:
    """The voters of a project: voter_id, platform, name (the platform's own id, as stored), kind; by voter_id."""
    v = t.voter.c
    query = sa.select(v.id, v.platform, v.external_id, v.kind).where(v.project_id == project_id).order_by(v.id)
    frame = pd.DataFrame(fetch_rows(conn, query), columns=["voter_id", "platform", "name", "kind"])
    return frame.astype({"voter_id": "int64", "platform": "str", "name": "str", "kind": "str"})


MAX_GOLD = 100
Pairs = list[tuple[int, int]]  # of positions of items, the right one first


@dataclass(frozen=True)
class Gold:
    """A check: two items by position, of which `more` is the right answer; how voters answered it so far."""

    question_id: int
    more: int
    less: int
    n_right: int = 0
    n_wrong: int = 0


def add_gold(
    store: Store,
    project_id: str,
    pairs: Sequence[tuple[int, int]],
    *,
    area_id: int | None = None,
    code: str | None = None,
    expected_revision: int | None = None,
) -> int:
    """Add checks to the open ballot; each pair has the positions of the item to choose and of the other one.

    `code` is that of the ballot which is meant (`ballot_rows.check_meant`).

    Returns how many are new. Raises `InputError` for items that don't exist or stand against themselves, or too many.
    """
    with command(store, project_id, "add checks", expected_revision=expected_revision) as change:
        ballot = open_ballot_of(change.conn, project_id, area_id, code)
        known = {frozenset((gold.more, gold.less)) for gold in gold_of(change.conn, ballot.id)}
        new = [pair for pair in dict.fromkeys(pairs) if frozenset(pair) not in known]
        ids = _item_ids(change, new)
        if len(known) + len(new) > MAX_GOLD:
            raise InputError(f"A ballot can have {MAX_GOLD} checks at most; there would be {len(known) + len(new)}.")
        for more, less in new:
            values = {"kind": COMPARISON.name, "role": "check", "n_wanted": 0}
            question_id = insert_one(change.conn, t.question, ballot_id=ballot.id, **values)
            options = [(question_id, 0, ids[more]), (question_id, 1, ids[less])]
            insert_rows(change.conn, t.question_option, ["question_id", "position", "item_id"], options)
            change.conn.execute(sa.insert(t.gold).values(question_id=question_id, answer="first"))
        change.detail = ballot_named(change.conn, project_id, area_id, ballot.number, ballot.purpose) | {
            "checks": len(new)
        }
        return len(new)


def _item_ids(change: Change, pairs: Sequence[tuple[int, int]]) -> dict[int, int]:
    positions = sorted({position for pair in pairs for position in pair})
    i = t.item.c
    query = sa.select(i.position, i.id).where(i.project_id == change.project_id, i.position.in_(positions))
    ids = dict(fetch_rows(change.conn, query))
    issues = [Issue("there is no such item", found=str(position)) for position in positions if position not in ids]
    issues += [Issue("stands against itself", found=str(more)) for more, less in pairs if more == less]
    if issues:
        raise InputError("These checks can't be made.", issues)
    return ids


def remove_gold(
    store: Store,
    project_id: str,
    question_id: int,
    *,
    area_id: int | None = None,
    code: str | None = None,
    expected_revision: int | None = None,
) -> None:
    """Remove a check that nobody was given yet; `StoreError` once somebody was, or where it stands in tasks.

    `code` is that of the ballot which is meant (`ballot_rows.check_meant`).
    """
    with command(store, project_id, "remove check", expected_revision=expected_revision) as change:
        ballot = open_ballot_of(change.conn, project_id, area_id, code)
        if question_id not in {gold.question_id for gold in gold_of(change.conn, ballot.id)}:
            raise StoreError("This ballot has no such check.")
        given = sa.select(t.deal.c.id).where(t.deal.c.question_id == question_id).limit(1)
        if change.conn.execute(given).first() is not None:
            raise StoreError("Voters were given this check, so it stays.")
        placed = sa.select(t.task_question.c.n).where(t.task_question.c.question_id == question_id).limit(1)
        if change.conn.execute(placed).first() is not None:
            raise StoreError("This check stands in the ballot's tasks, so it stays.")
        change.conn.execute(sa.delete(t.question).where(t.question.c.id == question_id))
        change.detail = ballot_named(change.conn, project_id, area_id, ballot.number, ballot.purpose)


def gold_of(conn: sa.Connection, ballot_id: int) -> list[Gold]:
    """The checks of a ballot, in the order they were added."""
    one, two = t.question_option.alias("one"), t.question_option.alias("two")
    more, less = t.item.alias("more"), t.item.alias("less")
    j = t.judgement.c
    n = sa.select(sa.func.count()).where(j.question_id == t.question.c.id, j.status != "withdrawn")
    query = (
        sa.select(
            t.question.c.id,
            more.c.position,
            less.c.position,
            n.where(j.answer == t.gold.c.answer).scalar_subquery(),
            n.where(j.answer != t.gold.c.answer).scalar_subquery(),
        )
        .join(t.gold, t.gold.c.question_id == t.question.c.id)
        .join(one, sa.and_(one.c.question_id == t.question.c.id, one.c.position == 0))
        .join(two, sa.and_(two.c.question_id == t.question.c.id, two.c.position == 1))
        .join(more, more.c.id == one.c.item_id)
        .join(less, less.c.id == two.c.item_id)
        .where(t.question.c.ballot_id == ballot_id)
        .order_by(t.question.c.id)
    )
    return [Gold(*row) for row in fetch_rows(conn, query)]


def fit_if_possible(votes: Sequence[VotesOf]) -> FittedVotes | None:
    """The fit of the votes of all ballots so far; None without a ballot, and where they can't be fitted."""
    try:
        return fit_votes(votes) if votes else None
    except (DisconnectedError, NotConvergedError):
        return None


def propose_gold(store: Store, project_id: str, *, area_id: int | None = None, n: int = 12, seed: int = 0) -> Pairs:
    """Up to `n` pairs of a ranking's items whose order its closed ballots leave no doubt about, the right one first.

    Under every protocol by `clear_pairs`, as gold is found when a ballot is drawn. Reads all votes and fits them: what
    a page shows of it is to be kept. Empty before a ballot is closed, and where the votes can't be fitted.
    """
    with store.read() as conn:
        votes = [ballot_votes(conn, ballot.id) for ballot in closed_ballots_of(conn, project_id, area_id)]
    fitted = fit_if_possible(votes)
    return [] if fitted is None else clear_pairs(fitted, n, rng=np.random.default_rng([seed, FOR_PROPOSED_GOLD]))


def typed_gold(store: Store, project_id: str, text: str, *, area_id: int | None = None) -> Pairs:
    """Known answers typed as `read_gold_pairs` reads them, as positions of items, the right one first.

    Raises `PlanError` for a line that is none, `InputError` naming pairs of tokens that are no items of the ranking.
    """
    typed = read_gold_pairs(text)
    with store.read() as conn:
        position = _positions(conn, project_id, area_id)
    named = [tokens for pair in typed for tokens in (pair.more, pair.less)]
    strange = [tokens for tokens in dict.fromkeys(named) if frozenset(tokens) not in position]
    if strange:
        raise InputError(
            "These known answers can't be asked.", [Issue("is no item here", found=" – ".join(s)) for s in strange]
        )
    return [(position[frozenset(pair.more)], position[frozenset(pair.less)]) for pair in typed]


def gold_by_hand(conn: sa.Connection, project_id: str, area_id: int | None, settings: CheckSettings | None) -> Pairs:
    """The plan's own comparisons with a known answer as positions of items; those that aren't items are left out."""
    if settings is None or not settings.gold_pairs:
        return []
    position = _positions(conn, project_id, area_id)
    pairs = [(position.get(frozenset(p.more)), position.get(frozenset(p.less))) for p in settings.gold_pairs]
    return [(more, less) for more, less in pairs if more is not None and less is not None]


def strange_gold(
    store: Store, project_id: str, area_id: int | None, settings: CheckSettings | None
) -> tuple[tuple[str, str], ...]:
    """The pairs of tokens in the plan's comparisons with a known answer that are no items of the ranking."""
    if settings is None or not settings.gold_pairs:
        return ()
    with store.read() as conn:
        position = _positions(conn, project_id, area_id)
    named = [tokens for pair in settings.gold_pairs for tokens in (pair.more, pair.less)]
    return tuple(dict.fromkeys(tokens for tokens in named if frozenset(tokens) not in position))


def _positions(conn: sa.Connection, project_id: str, area_id: int | None) -> dict[frozenset[str], int]:
    """The positions of a ranking's items by their two tokens."""
    items = items_of(conn, project_id, area_id=area_id)
    rows = items[["item", "token_a", "token_b"]].itertuples(index=False, name=None)
    return {frozenset(tokens): item for item, *tokens in rows}


def counted_votes(conn: sa.Connection, ballot_ids: Sequence[int]) -> pd.DataFrame:
    """The counted votes of some ballots' comparisons, in a fixed order.

    Columns: question_id; voter, the platform's own id (with the platform where two voters share one); value, 1 where
    the first item won, 0 the second, .5 a tie; left, 1 where the left side was chosen, 0 the right, NaN for a tie or
    where the task that was shown isn't known.
    """
    showing = (t.task_question.c.task_id == t.assignment.c.task_id) & (
        t.task_question.c.question_id == t.judgement.c.question_id
    )
    # The voting page gives voters comparisons, not tasks, and shows them either way round.
    dealt = sa.and_(t.deal.c.assignment_id == t.assignment.c.id, t.deal.c.question_id == t.judgement.c.question_id)
    flipped_here = sa.func.coalesce(t.deal.c.flipped, t.task_question.c.flipped)
    query = (
        sa.select(t.judgement.c.question_id, t.assignment.c.voter_id, t.judgement.c.value, flipped_here)
        .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
        .join(t.question, t.question.c.id == t.judgement.c.question_id)
        .outerjoin(t.task_question, showing)
        .outerjoin(t.deal, dealt)
        .where(t.assignment.c.ballot_id.in_(list(ballot_ids)))
        .where(t.judgement.c.status == "counted", t.question.c.role == "main")
        .order_by(t.judgement.c.question_id, t.judgement.c.id)
    )
    rows = fetch_numbers(conn, query)
    value, flipped = rows[:, 2], rows[:, 3]
    left = np.where(flipped == 1, 1 - value, value)
    left[(value == 0.5) | np.isnan(flipped)] = np.nan
    names = _voter_names(conn, ballot_ids, np.unique(rows[:, 1]).astype(int).tolist())
    codes, places = np.unique(rows[:, 1].astype(int), return_inverse=True)
    voter = np.array([names[code] for code in codes.tolist()], dtype=object)[places]
    return pd.DataFrame(
        {
            "question_id": rows[:, 0].astype("int64"),
            "voter": pd.Series(voter, dtype="str"),
            "value": value,
            "left": left,
        }
    )


def voted_pairs(conn: sa.Connection, ballot_ids: Sequence[int]) -> np.ndarray:
    """The positions of the first and the second item of every comparison of some ballots that has a vote, (n, 2).

    By the tallies, in the order of the questions.
    """
    option, q = t.question_option.c, t.question.c
    query = (
        sa.select(t.item.c.position)
        .select_from(t.question)
        .join(t.question_option, option.question_id == q.id)
        .join(t.item, t.item.c.id == option.item_id)
        .where(q.ballot_id.in_(list(ballot_ids)), q.role == "main", q.n_votes > 0)
        .order_by(q.id, option.position)
    )
    return fetch_integers(conn, query).reshape(-1, 2)


def _voter_names(conn: sa.Connection, ballot_ids: Sequence[int], ids: list[int]) -> dict[int, str]:
    """Voters of the ballots' project by their ids on the platform; those that two platforms share get the platform's
    name too."""
    wanted = set(ids)
    projects = sa.select(t.ballot.c.project_id).where(t.ballot.c.id.in_(list(ballot_ids)))
    query = sa.select(t.voter.c.id, t.voter.c.platform, t.voter.c.external_id)
    query = query.where(t.voter.c.project_id.in_(projects)).order_by(t.voter.c.id)
    rows = [row for row in fetch_rows(conn, query) if row[0] in wanted]
    doubled = pd.Series([row[2] for row in rows], dtype="str").duplicated(keep=False)
    return {
        id_: f"{name} ({platform})" if twice else name
        for (id_, platform, name), twice in zip(rows, doubled, strict=True)
    }


@dataclass(frozen=True)
class CheckAnswers:
    """How checks were answered in some ballots; a row each, withdrawn answers and “I don't know” left out.

    gold : voter_id, question_id, right. repeats : voter_id, question_id (of the comparison that counts), same: whether
    a further answer of the voter to the same comparison was the first one's. overlap : question_id (as there),
    voter_id, value (1, 0, .5), counted: the answers to comparisons that at least two voters answered, one per voter.
    """

    gold: pd.DataFrame
    repeats: pd.DataFrame
    overlap: pd.DataFrame


def check_answers(conn: sa.Connection, ballot_ids: Sequence[int]) -> CheckAnswers:
    """The answers to checks of some ballots, of voters whose votes don't count too; reads all their votes.

    Repeats are those that were planned, in a task or on the voting page, and answers to a comparison that came to
    the voter a second time by chance.
    """
    j, q, c = t.judgement.c, t.question.c, t.check_question.c
    query = (
        sa.select(
            sa.func.coalesce(c.of_id, q.id),
            t.assignment.c.voter_id,
            j.value,
            sa.case((j.status == "counted", 1), else_=0),
        )
        .select_from(t.judgement)
        .join(t.assignment, t.assignment.c.id == j.assignment_id)
        .join(t.question, q.id == j.question_id)
        .outerjoin(t.check_question, c.question_id == q.id)
        .where(t.assignment.c.ballot_id.in_(list(ballot_ids)), j.status != "withdrawn", j.value.is_not(None))
        .where(sa.or_(q.role == "main", c.of_id.is_not(None)))
        .order_by(sa.case((q.role == "main", 0), else_=1), sa.case((j.status == "repeat", 1), else_=0), j.id)
    )
    rows = fetch_numbers(conn, query)
    kinds = {"question_id": "int64", "voter_id": "int64", "value": "float64", "counted": "bool"}
    frame = pd.DataFrame(rows, columns=list(kinds)).astype(kinds)
    keys = ["question_id", "voter_id"]
    again = frame.duplicated(keys)
    first = frame[~again]
    repeats = frame[again].merge(first[[*keys, "value"]], on=keys, suffixes=("", "_first"))
    repeats = repeats.assign(same=repeats["value"] == repeats["value_first"])[["voter_id", "question_id", "same"]]
    shared = first[first.duplicated("question_id", keep=False)].sort_values(keys, ignore_index=True)
    return CheckAnswers(_gold_answers(conn, ballot_ids), repeats, shared)


def _gold_answers(conn: sa.Connection, ballot_ids: Sequence[int]) -> pd.DataFrame:
    j = t.judgement.c
    query = (
        sa.select(t.assignment.c.voter_id, j.question_id, sa.case((j.answer == t.gold.c.answer, 1), else_=0))
        .join(t.assignment, t.assignment.c.id == j.assignment_id)
        .join(t.gold, t.gold.c.question_id == j.question_id)
        .where(t.assignment.c.ballot_id.in_(list(ballot_ids)), j.status != "withdrawn", j.answer != "unknown")
        .order_by(j.id)
    )
    rows = fetch_integers(conn, query)
    return pd.DataFrame(rows, columns=["voter_id", "question_id", "right"]).astype({"right": "bool"})


def check_progress(conn: sa.Connection, ballot_id: int) -> pd.DataFrame:
    """The checks of a ballot by kind: columns kind, checks (answers asked for in its tasks), answers (that came).

    Gold chosen for the voting page alone is asked for as often as voters come, so only its answers are counted.
    """
    q, c = t.question.c, t.check_question.c
    kind = sa.func.coalesce(c.kind, sa.literal_column("'gold'"))
    of = sa.and_(q.ballot_id == ballot_id, q.role == "check")
    asked: sa.Select = (
        sa.select(kind, sa.func.count(t.task_question.c.task_id))
        .select_from(t.question)
        .outerjoin(t.check_question, c.question_id == q.id)
        .outerjoin(t.task_question, t.task_question.c.question_id == q.id)
        .where(of)
        .group_by(kind)
    )
    came: sa.Select = (
        sa.select(kind, sa.func.count())
        .select_from(t.judgement)
        .join(t.question, q.id == t.judgement.c.question_id)
        .outerjoin(t.check_question, c.question_id == q.id)
        .where(of, t.judgement.c.status != "withdrawn")
        .group_by(kind)
    )
    answers: dict[str, int] = dict(fetch_rows(conn, came))
    repeated = _page_repeats(conn, ballot_id)
    rows = [(kind, n, answers.get(kind, 0)) for kind, n in fetch_rows(conn, asked)]
    if repeated and not any(kind == "repeat" for kind, *_ in rows):
        rows.append(("repeat", 0, 0))
    rows = [(kind, n, came + repeated * (kind == "repeat")) for kind, n, came in rows]
    order = {kind: place for place, kind in enumerate(KINDS)}
    rows.sort(key=lambda row: order[row[0]])
    return pd.DataFrame(rows, columns=["kind", "checks", "answers"])


def _page_repeats(conn: sa.Connection, ballot_id: int) -> int:
    d, q = t.deal.c, t.question.c
    query = sa.select(sa.func.count()).select_from(t.deal).join(t.question, q.id == d.question_id)
    query = query.where(q.ballot_id == ballot_id, d.kind == "repeat", d.state == "answered")
    return int(conn.execute(query).scalar_one())
