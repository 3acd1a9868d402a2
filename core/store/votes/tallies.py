"""Which judgements count, and the tallies that commands keep of them, so that pages need not read votes.

Votes come as arrays: bulk reads go through the driver's cursor, half a million votes in well under a second. The one
look-up behind every count of voters stands here too.

What counts follows from files and voters, and from what the owner decided. Decisions on assignments go before what
files and voters say. A judgement that would count, as a vote or as "I don't know a word here", has the status
`excluded` while its voter is left out; rejected, repeated and withdrawn ones stay what they are. So what a judgement is
without any exclusion can always be told, files are read against that, and exclusions are applied to it afterwards:
files and exclusions may come in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...base.numbers_in_words import VoterCount
from ...questions import COMPARISON, QuestionKind, RoundKind, kind_of
from ...scores import BallotVotes
from .. import schema as t
from ..ballots.ballot_rows import Ballot, ballots_of, closed_ballots_of, pilot_of
from ..command import fetch_integers, fetch_numbers, fetch_rows, note_judged, update_rows
from ..engine import Store
from ..projects.plans import rankings_of
from ..voting.leases import has_voting, write_lease_counts

_LATE = "\uffff"
# The statuses that a decision may change. Of voters who are left out it is kept what their answers would be.
_MOVABLE = ("counted", "unknown", "rejected", "repeat", "excluded")


def apply_reviews(conn: sa.Connection, ballot_id: int, changed: Sequence[int] = ()) -> tuple[int, int]:
    """Bring the judgements of an open ballot in line with the decisions: how many count no more, how many count again.

    Of a voter's votes on a comparison, in assignments that aren't rejected, one counts: the earliest submitted, or as
    the project's policy has it. Withdrawn judgements stay so, and so do planned repeats and the votes of voters set
    aside by the voting page. `changed` are assignments whose decision was just changed, perhaps taken back.
    `write_tallies` calls this, so that decisions outlive whatever writes judgements.
    """
    a, b = t.assignment.c, t.ballot.c
    is_open = conn.execute(sa.select(b.state == "open").where(b.id == ballot_id)).scalar_one_or_none()
    is_decided = fetch_rows(conn, sa.select(a.id).where(a.ballot_id == ballot_id, a.review.is_not(None)))
    decided = {row[0] for row in is_decided} | set(changed)
    if not decided or not is_open:
        return 0, 0
    rows = _judgements(conn, ballot_id)
    keys = pd.MultiIndex.from_frame(rows[["voter", "question"]])
    rows = rows[keys.isin(keys[rows["assignment"].isin(decided)])]
    query = sa.select(t.project.c.policy).join(t.ballot, b.project_id == t.project.c.id).where(b.id == ballot_id)
    policy = conn.execute(query).scalar_one_or_none() or {}
    after = _standing(rows, policy, *_kept_aside(conn, ballot_id))
    is_left_out = (rows["status"] == "excluded") & after.isin(["counted", "unknown"])
    after = after.mask(is_left_out, "excluded")
    moved = rows.assign(after=after)[after != rows["status"]]
    values = list(zip(moved["after"].tolist(), moved["id"].tolist(), strict=True))
    update_rows(conn, t.judgement, ["status"], ["id"], values)
    return int((moved["status"] == "counted").sum()), int((moved["after"] == "counted").sum())


def _judgements(conn: sa.Connection, ballot_id: int) -> pd.DataFrame:
    """The answers of people in a ballot, with what decides on them."""
    a, j, v = t.assignment.c, t.judgement.c, t.voter.c
    columns = {
        "id": j.id,
        "question": j.question_id,
        "answer": j.answer,
        "status": j.status,
        "assignment": a.id,
        "voter": a.voter_id,
        "external": a.external_id,
        "told": a.status,
        "review": a.review,
        "time": sa.func.coalesce(a.submitted_at, _LATE),
    }
    query = (
        sa.select(*columns.values())
        .select_from(t.judgement)
        .join(t.assignment, a.id == j.assignment_id)
        .join(t.voter, v.id == a.voter_id)
        .where(a.ballot_id == ballot_id, v.kind == "person", j.status.in_(_MOVABLE))
    )
    return pd.DataFrame(fetch_rows(conn, query), columns=list(columns))


def _standing(rows: pd.DataFrame, policy: Mapping[str, Any], aside: set[int], repeats: set[int]) -> pd.Series:
    """The status of each judgement by the decisions and the policy for rejected answers and repeats."""
    by_platform = (rows["told"] == "rejected") & (rows["review"] != "approve")
    is_rejected = (rows["review"] == "reject") | by_platform
    is_rejected = (is_rejected & (policy.get("rejected") != "count")) | rows["voter"].isin(aside)
    voting = rows[~is_rejected & (rows["answer"] != "unknown") & ~rows["assignment"].isin(repeats)]
    keys = ["voter", "question"]
    if policy.get("repeats") == "none":
        first = voting.drop_duplicates(keys, keep=False).index
    elif policy.get("repeats") == "latest":
        known = voting.assign(time=voting["time"].replace(_LATE, ""))
        first = known.sort_values(["time", "external"]).drop_duplicates(keys, keep="last").index
    else:
        first = voting.sort_values(["time", "external"]).drop_duplicates(keys).index
    after = pd.Series("repeat", index=rows.index, dtype="str")
    after[first] = "counted"
    after[(rows["answer"] == "unknown") & ~rows["assignment"].isin(repeats)] = "unknown"
    after[is_rejected] = "rejected"
    return after


def _kept_aside(conn: sa.Connection, ballot_id: int) -> tuple[set[int], set[int]]:
    """Voters whose votes the voting page keeps and doesn't count, and the assignments of its planned repeats."""
    s, d = t.sitting.c, t.deal.c
    here = t.voting.c.ballot_id == ballot_id
    query = sa.select(s.voter_id).join(t.voting, t.voting.c.id == s.voting_id).where(here, s.counts.is_(False))
    repeats = (
        sa.select(d.assignment_id)
        .join(t.sitting, s.id == d.sitting_id)
        .join(t.voting, t.voting.c.id == s.voting_id)
        .where(here, d.kind == "repeat", d.assignment_id.is_not(None))
    )
    return {row[0] for row in fetch_rows(conn, query)}, {row[0] for row in fetch_rows(conn, repeats)}


_J = t.judgement.c
_WITHOUT_EXCLUSION = sa.case((_J.answer == "unknown", "unknown"), else_="counted")


def excluded_ids(conn: sa.Connection, project_id: str) -> frozenset[int]:
    """The voters of a project who are left out."""
    e = t.exclusion.c
    query = sa.select(e.voter_id).where(e.project_id == project_id, e.undone_at.is_(None))
    return frozenset(conn.execute(query).scalars())


_EXCLUDED = sa.select(t.exclusion.c.id).where(
    t.exclusion.c.voter_id == sa.bindparam("voter"), t.exclusion.c.undone_at.is_(None)
)


def is_excluded(conn: sa.Connection, voter_id: int) -> bool:
    """Whether a voter is left out."""
    return conn.execute(_EXCLUDED, {"voter": voter_id}).first() is not None


def apply_exclusions(conn: sa.Connection, ballot_id: int) -> None:
    """Bring the judgements of a ballot in line with who is left out; the tallies must follow."""
    e = t.exclusion.c
    of = sa.select(t.ballot.c.project_id).where(t.ballot.c.id == ballot_id).scalar_subquery()
    ever = set(conn.execute(sa.select(e.voter_id).where(e.project_id == of)).scalars())
    if not ever:
        return
    out = set(conn.execute(sa.select(e.voter_id).where(e.project_id == of, e.undone_at.is_(None))).scalars())
    aside = sa.update(t.judgement).where(_of_voters(ballot_id, out), _J.status.in_(["counted", "unknown"]))
    conn.execute(aside.values(status="excluded"))
    back = sa.update(t.judgement).where(_of_voters(ballot_id, ever - out), _J.status == "excluded")
    conn.execute(back.values(status=_WITHOUT_EXCLUSION))


def _of_voters(ballot_id: int, voter_ids: Iterable[int]) -> sa.ColumnElement[bool]:
    a = t.assignment.c
    theirs = sa.select(a.id).where(a.ballot_id == ballot_id, a.voter_id.in_(sorted(voter_ids)))
    return _J.assignment_id.in_(theirs)


def of_voters(project_id: str, voter_ids: Iterable[int]) -> sa.ColumnElement[bool]:
    """Which assignments are of these voters of a project; by its ballots, from which an index leads."""
    a = t.assignment.c
    ballots = sa.select(t.ballot.c.id).where(t.ballot.c.project_id == project_id)
    return sa.and_(a.ballot_id.in_(ballots), a.voter_id.in_(sorted(voter_ids)))


def ballots_with(conn: sa.Connection, project_id: str, voter_ids: Iterable[int]) -> set[int]:
    """The ballots and rounds of a project in which any of these voters has an assignment."""
    query = sa.select(t.assignment.c.ballot_id).where(of_voters(project_id, voter_ids)).distinct()
    return set(conn.execute(query).scalars())


def count_voters(conn: sa.Connection, project_id: str, ballot_ids: Sequence[int]) -> VoterCount:
    """The voters of a project with a vote that counts in some ballots; the votes themselves aren't read."""
    voted = (
        sa.select(t.judgement.c.id)
        .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
        .join(t.question, t.question.c.id == t.judgement.c.question_id)
        .where(t.assignment.c.ballot_id.in_(ballot_ids), t.assignment.c.voter_id == t.voter.c.id)
        .where(t.judgement.c.status == "counted", t.question.c.role == "main")
        .exists()
    )
    query = (
        sa.select(t.voter.c.kind, sa.func.count())
        .where(t.voter.c.project_id == project_id, voted)
        .group_by(t.voter.c.kind)
    )
    found = dict(fetch_rows(conn, query))
    out = len(excluded_ids(conn, project_id))
    return VoterCount(found.get("person", 0), found.get("simulated", 0), out)


def scored_ballots(conn: sa.Connection, project_id: str, area_id: int | None = None) -> list[int]:
    """The ballots whose votes are in the scores: of each ranking, or of one, the closed ones, else the open one."""
    found: list[int] = []
    for ranking in rankings_of(conn, project_id):
        if area_id is None or ranking.area_id == area_id:
            ballots = ballots_of(conn, project_id, ranking.area_id)
            found += [ballot.id for ballot in [b for b in ballots if not b.is_open] or ballots]
    return found


def voted_ballots(conn: sa.Connection, project_id: str) -> list[int]:
    """All the ballots of a project's rankings, the open ones too; of a ranking without any, its pilot."""
    found: list[int] = []
    for ranking in rankings_of(conn, project_id):
        pilot = pilot_of(conn, project_id, ranking.area_id)
        found += [b.id for b in ballots_of(conn, project_id, ranking.area_id) or ([pilot] if pilot else [])]
    return found


def _positions_of(conn: sa.Connection, ballot_id: int) -> np.ndarray:
    """The positions of a ballot's items, in order."""
    query = (
        sa.select(t.item.c.position)
        .join(t.ballot_item, t.ballot_item.c.item_id == t.item.c.id)
        .where(t.ballot_item.c.ballot_id == ballot_id)
        .order_by(t.item.c.position)
    )
    return fetch_integers(conn, query)[:, 0]


def _main_options(conn: sa.Connection, ballot_id: int, side: int) -> np.ndarray:
    """The item on one side (0 first, 1 second) of each main question: columns question, item position; by question."""
    option = t.question_option.c
    query = (
        sa.select(option.question_id, t.item.c.position)
        .join(t.question, t.question.c.id == option.question_id)
        .join(t.item, t.item.c.id == option.item_id)
        .where(t.question.c.ballot_id == ballot_id, t.question.c.role == "main", option.position == side)
        .order_by(option.question_id)
    )
    return fetch_integers(conn, query)


def _is_main(ballot_id: int) -> sa.ColumnElement[bool]:
    """Whether a judgement is of a main question of its ballot: not of one of the few checks, so that no question is
    looked up for each of millions."""
    q = t.question.c
    return _J.question_id.not_in(sa.select(q.id).where(q.ballot_id == ballot_id, q.role != "main"))


def _counted(conn: sa.Connection, ballot_id: int, without: frozenset[int] | None) -> np.ndarray:
    """The counted judgements of main questions: columns question, value, voter id; in a fixed order."""
    j = t.judgement.c
    counted = j.status == "counted" if without is None else j.status.in_(["counted", "excluded"])
    query = (
        sa.select(t.judgement.c.question_id, t.judgement.c.value, t.assignment.c.voter_id)
        .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
        .where(t.assignment.c.ballot_id == ballot_id, counted, j.value.is_not(None), _is_main(ballot_id))
        .order_by(t.judgement.c.question_id, t.judgement.c.id)
    )
    votes = fetch_numbers(conn, query)
    return votes if without is None else votes[~np.isin(votes[:, 2], sorted(without))]


def ballot_votes(conn: sa.Connection, ballot_id: int, *, without: frozenset[int] | None = None) -> BallotVotes:
    """The counted votes of a ballot's main questions. Voters are coded by their ids (not 0…V−1).

    `without` names the voters to leave out in place of those who are: what would count then.
    """
    firsts, seconds = (_main_options(conn, ballot_id, side) for side in (0, 1))
    votes = _counted(conn, ballot_id, without)
    at = np.searchsorted(firsts[:, 0], votes[:, 0].astype(int))
    return BallotVotes(
        items=_positions_of(conn, ballot_id),
        first=firsts[at, 1],
        second=seconds[at, 1],
        outcome=votes[:, 1],
        voter=votes[:, 2].astype(int),
    )


def write_tallies(conn: sa.Connection, ballot_id: int) -> None:
    """Bring a ballot's tallies in line with its judgements: every command that changes judgements ends with this.

    They are the votes of each question, the wins, ties, losses and unknowns of each item, and the ballot's progress.
    The owner's decisions on assignments are applied to the judgements first, and then those of voters who are left out
    are excluded.
    """
    note_judged(ballot_id)
    apply_reviews(conn, ballot_id)
    apply_exclusions(conn, ballot_id)
    j, q, b = t.judgement.c, t.question.c, t.ballot_item.c
    votes = sa.select(sa.func.count()).where(j.question_id == q.id, j.status == "counted").scalar_subquery()
    stale = sa.update(t.question).where(q.ballot_id == ballot_id, q.n_votes != votes)
    conn.execute(stale.values(n_votes=votes))
    kept = sa.select(b.item_id, b.wins, b.ties, b.losses, b.unknowns).where(b.ballot_id == ballot_id)
    before = fetch_integers(conn, kept.order_by(b.item_id))
    items = before[:, 0]
    counts = _item_counts(conn, ballot_id, kind_of_ballot(conn, ballot_id), items)
    after = np.column_stack([items, counts])
    changed = after[(after != before).any(axis=1)]
    rows = [(*tallies, ballot_id, item) for item, *tallies in changed.tolist()]
    update_rows(conn, t.ballot_item, ["wins", "ties", "losses", "unknowns"], ["ballot_id", "item_id"], rows)
    write_progress(conn, ballot_id)
    if has_voting(conn, ballot_id):
        write_lease_counts(conn, ballot_id)


def kind_of_ballot(conn: sa.Connection, ballot_id: int) -> QuestionKind:
    """What the questions of a ballot are."""
    return kind_of(str(conn.execute(sa.select(t.ballot.c.kind).where(t.ballot.c.id == ballot_id)).scalar_one()))


def _item_counts(conn: sa.Connection, ballot_id: int, kind: QuestionKind, items: np.ndarray) -> np.ndarray:
    """Wins, ties, losses and unknowns of a ballot's items (ids, ascending), shape (n_items, 4).

    A counted answer counts once for every item that it shows (`QuestionKind.counts_as`).
    """
    if kind is COMPARISON:  # of which there may be millions
        first, second, outcome = _outcomes(conn, ballot_id).T
        low, high = (items[0], items[-1]) if len(items) else (0, 0)
        place = np.concatenate([first, second]) - low
        outcomes = np.concatenate([outcome, np.array([2, 1, 0, 3])[outcome]])
        return np.bincount(4 * place + outcomes, minlength=4 * (high - low + 1)).reshape(-1, 4)[items - low]
    j, option = t.judgement.c, t.question_option.c
    query: sa.Select[Any] = (
        sa.select(option.item_id, option.position, j.status, j.answer, sa.func.count())
        .select_from(t.judgement)
        .join(t.question, t.question.c.id == j.question_id)
        .join(t.question_option, option.question_id == j.question_id)
        .where(t.question.c.ballot_id == ballot_id, t.question.c.role == "main", j.status.in_(["counted", "unknown"]))
        .group_by(option.item_id, option.position, j.status, j.answer)
    )
    counts = np.zeros((len(items), 4), dtype=np.int64)
    for item, place, status, answer, n in fetch_rows(conn, query):
        counts[np.searchsorted(items, item), 3 if status == "unknown" else kind.counts_as(answer, place)] += n
    return counts


def standing_scores(conn: sa.Connection, ballot_id: int, kind: RoundKind) -> dict[int, float]:
    """What an open round says of its items so far, by item id."""
    b, j, option = t.ballot_item.c, t.judgement.c, t.question_option.c
    means: sa.Select[Any] = (
        sa.select(option.item_id, sa.func.avg(j.value))
        .select_from(t.judgement)
        .join(t.question, t.question.c.id == j.question_id)
        .join(t.question_option, option.question_id == j.question_id)
        .where(t.question.c.ballot_id == ballot_id, j.status == "counted", j.value.is_not(None))
        .group_by(option.item_id)
    )
    mean_of = dict(fetch_rows(conn, means))
    counts = fetch_integers(conn, sa.select(b.item_id, b.wins, b.ties, b.losses).where(b.ballot_id == ballot_id))
    items = counts[:, 0].tolist()
    mean_value = np.array([mean_of.get(item, np.nan) for item in items], dtype=float)
    wins, ties, losses = counts[:, 1:].T
    found = kind.standing(wins, ties, losses, mean_value)
    return {item: score for item, score in zip(items, found.tolist(), strict=True) if score == score}


def _outcomes(conn: sa.Connection, ballot_id: int) -> np.ndarray:
    """The ids of the first and the second item of each answer, and what it is to the first: 0 a win, 1 a tie, 2 a loss,
    3 an "I don't know"."""
    one, two = t.question_option.alias("one"), t.question_option.alias("two")
    j = t.judgement.c
    is_vote = sa.and_(j.status == "counted", j.value.is_not(None))
    query = (
        sa.select(one.c.item_id, two.c.item_id, sa.case((is_vote, sa.cast(2 - 2 * j.value, sa.Integer)), else_=3))
        .select_from(t.judgement)
        .join(t.assignment, t.assignment.c.id == j.assignment_id)
        .join(one, sa.and_(one.c.question_id == j.question_id, one.c.position == 0))
        .join(two, sa.and_(two.c.question_id == j.question_id, two.c.position == 1))
        .where(t.assignment.c.ballot_id == ballot_id, _is_main(ballot_id), j.status.in_(["counted", "unknown"]))
    )
    return fetch_integers(conn, query)


@dataclass(frozen=True)
class Progress:
    """How far a ballot has come.

    `answered` of `wanted` comparisons have a vote; `votes` are counted in all (more than `answered` where voters
    answered the same comparison), `simulated` of them. `short_items` have fewer votes than M; `top_share` is the
    largest share of one voter, `effective_voters` is 1/Σp²; `seconds` is the median time of a counted answer, None
    where no file told. `excluded` are the answers of voters who are left out.
    """

    answered: int
    wanted: int
    votes: int
    simulated: int
    voters: int
    short_items: int
    unvoted_items: int
    unknown: int
    rejected: int
    repeats: int
    withdrawn: int
    top_share: float | None
    effective_voters: float | None
    seconds: float | None
    excluded: int = 0

    @property
    def share(self) -> float:
        """The answered share of the comparisons, 0 to 1."""
        return self.answered / self.wanted if self.wanted else 0.0

    @property
    def is_complete(self) -> bool:
        """Every comparison has the votes it wants."""
        return self.answered >= self.wanted

    @property
    def untouched(self) -> bool:
        """Nothing at all was answered yet."""
        return not any((self.votes, self.unknown, self.rejected, self.repeats, self.withdrawn, self.excluded))

    @classmethod
    def before_votes(cls, n_comparisons: int, n_items: int) -> Progress:
        """The progress of a ballot that was just drawn, where each comparison wants one vote."""
        counts: dict[str, Any] = dict.fromkeys((f.name for f in fields(cls)), 0)
        counts |= dict.fromkeys(("top_share", "effective_voters", "seconds"))
        return cls(**counts | {"wanted": n_comparisons, "short_items": n_items, "unvoted_items": n_items})


def progress_of(conn: sa.Connection, ballot_id: int) -> Progress:
    """The progress of one ballot, as the last command wrote it; counted where none has (an older workspace)."""
    stored = conn.execute(sa.select(t.ballot.c.progress).where(t.ballot.c.id == ballot_id)).scalar_one_or_none()
    if stored is None or set(stored) != {f.name for f in fields(Progress)}:
        return count_progress(conn, ballot_id)
    return Progress(**stored)


def write_progress(conn: sa.Connection, ballot_id: int) -> None:
    """Write a ballot's progress for `progress_of`, counted from what the transaction has written so far."""
    row = sa.update(t.ballot).where(t.ballot.c.id == ballot_id)
    conn.execute(row.values(progress=asdict(count_progress(conn, ballot_id))))


def count_progress(conn: sa.Connection, ballot_id: int) -> Progress:
    """The progress of one ballot, from its tallies and a few counts; about a second for a million comparisons."""
    q = t.question.c
    answered = sa.func.sum(sa.case((q.n_votes < q.n_wanted, q.n_votes), else_=q.n_wanted))
    totals = sa.select(sa.func.coalesce(answered, 0), sa.func.coalesce(sa.func.sum(q.n_wanted), 0))
    n_answered, wanted = conn.execute(totals.where(q.ballot_id == ballot_id, q.role == "main")).one()
    b = t.ballot_item.c
    tallies = fetch_rows(
        conn,
        sa.select(b.wins + b.ties + b.losses, t.ballot.c.appearances)
        .join(t.ballot, t.ballot.c.id == b.ballot_id)
        .where(b.ballot_id == ballot_id),
    )
    counts, voters, simulated = _judgements_by_status(conn, ballot_id)
    votes = sum(voters.values())
    shares = np.array(sorted(voters.values()), dtype=float) / max(votes, 1)  # databases group in orders of their own
    return Progress(
        answered=int(n_answered),
        wanted=int(wanted),
        votes=votes,
        simulated=simulated,
        voters=len(voters),
        short_items=sum(n < m for n, m in tallies),
        unvoted_items=sum(n == 0 for n, _ in tallies),
        unknown=counts.get("unknown", 0),
        rejected=counts.get("rejected", 0),
        repeats=counts.get("repeat", 0),
        withdrawn=counts.get("withdrawn", 0),
        top_share=float(shares.max()) if len(shares) else None,
        effective_voters=float(1 / (shares**2).sum()) if len(shares) else None,
        seconds=_median_seconds(conn, ballot_id),
        excluded=counts.get("excluded", 0),
    )


def _judgements_by_status(conn: sa.Connection, ballot_id: int) -> tuple[dict[str, int], dict[int, int], int]:
    """Judgements of each status, counted votes of each voter, and how many of these are simulated."""
    j, voter = t.judgement.c, t.assignment.c.voter_id
    query = (
        sa.select(j.status, j.source, voter, sa.func.count())
        .join(t.assignment, t.assignment.c.id == j.assignment_id)
        .where(t.assignment.c.ballot_id == ballot_id, _is_main(ballot_id))
        .group_by(j.status, j.source, voter)
    )
    counts: dict[str, int] = {}
    voters: dict[int, int] = {}
    simulated = 0
    for status, source, voter_id, n in fetch_rows(conn, query):
        counts[status] = counts.get(status, 0) + n
        if status == "counted":
            voters[voter_id] = voters.get(voter_id, 0) + n
            simulated += n if source == "simulated" else 0
    return counts, voters, simulated


def _median_seconds(conn: sa.Connection, ballot_id: int) -> float | None:
    j = t.judgement.c
    query = (
        sa.select(j.seconds)
        .join(t.assignment, t.assignment.c.id == j.assignment_id)
        .where(t.assignment.c.ballot_id == ballot_id, j.seconds.is_not(None), j.status.in_(["counted", "unknown"]))
    )
    seconds = [row[0] for row in fetch_rows(conn, query)]
    return float(np.median(seconds)) if seconds else None


def closed_votes(store: Store, project_id: str, area_id: int | None) -> tuple[list[Ballot], list[BallotVotes]]:
    """The closed ballots of a ranking in order, and their votes."""
    with store.read() as conn:
        return closed_votes_of(conn, project_id, area_id)


def closed_votes_of(
    conn: sa.Connection, project_id: str, area_id: int | None
) -> tuple[list[Ballot], list[BallotVotes]]:
    """As `closed_votes`, in a look at the store that is under way."""
    ballots = closed_ballots_of(conn, project_id, area_id)
    return ballots, [ballot_votes(conn, ballot.id) for ballot in ballots]
