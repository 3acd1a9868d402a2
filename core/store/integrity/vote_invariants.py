"""Rules about votes, and about what is counted from them: each figure is counted again from the judgements."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa

from ...dataset.published import chain_told
from ...errors import InputError, PlanError, RunoffError
from ...judges.prompt import REASONS, outcome_of, read_choice
from ...protocols import PROTOCOLS
from ...questions import COMPARISON, KINDS, RoundSettings, check_round, round_kind
from ...questions.base import UNKNOWN
from ...questions.comparison import VALUES
from .. import schema as t
from ..chain import entries_with, faults_of
from ..projects.releases import release_bytes, releases_of
from ..schema.ballots import TRIAL
from ..votes.judgements import policy_of
from ..votes.tallies import count_progress
from ..voting.leases import UNKNOWN_ALLOWED
from .structure_invariants import IntegrityContext, Violation

_J, _A, _Q = t.judgement.c, t.assignment.c, t.question.c
_TALLIES = ("wins", "ties", "losses", "unknowns")


def _judged(*columns: Any) -> sa.Select[Any]:
    """These columns of judgements with their assignments and questions."""
    return (
        sa.select(*columns)
        .select_from(t.judgement)
        .join(t.assignment, _A.id == _J.assignment_id)
        .join(t.question, _Q.id == _J.question_id)
    )


def chain(context: IntegrityContext) -> Iterator[Violation]:
    """Links of projects' chains that break, the first of each first; and released heads that aren't in the chain."""
    for project_id in sorted(context.projects):
        for fault in faults_of(context.conn, project_id):
            at = "" if fault.entry is None else f", entry {fault.entry} of the log"
            yield Violation(f"{context.project(project_id)}{at}, {fault.where}", fault.what)
        for release in releases_of(context.conn, project_id):
            try:
                told = chain_told(release_bytes(context.store, release))
            except RunoffError:
                continue  # gone or damaged, which is another rule's
            if told is not None and (project_id, told[0]) not in entries_with(context.conn, told[1]):
                where = f"{context.project(project_id)}, entry {told[0]} of the log, version {release.version}"
                yield Violation(where, f"was released with the head {told[1]}, and the entry has another one")


def of_their_ballot(context: IntegrityContext) -> Iterator[Violation]:
    """Judgements whose question is of another ballot than their assignment."""
    for id_, of, asked in context.rows(_judged(_J.id, _A.ballot_id, _Q.ballot_id).where(_A.ballot_id != _Q.ballot_id)):
        yield Violation(f"{context.ballot(of)}, judgement {id_}", f"its question is of {context.ballot(asked)}")


def values(context: IntegrityContext) -> Iterator[Violation]:
    """Judgements whose value isn't that of their answer (1 first, 0 second, .5 tie), and counted ones without.

    Of rounds: answers that aren't written as the round's settings have them, and ratings with another value.
    """
    right = [sa.and_(_J.answer == answer, _J.value == value) for answer, value in VALUES.items()]
    is_right = sa.or_(*right, sa.and_(_J.answer == "unknown", _J.value.is_(None), _J.status != "counted"))
    query = _judged(_A.ballot_id, _J.id, _J.answer, _J.value, _J.status).where(_Q.kind == COMPARISON.name)
    # NULL counts as wrong: a value that is missing makes the comparison undefined, not false.
    for ballot_id, id_, answer, value, status in context.rows(query.where(sa.case((is_right, 0), else_=1) == 1)):
        yield Violation(f"{context.ballot(ballot_id)}, judgement {id_}", f"{status}: {answer} with the value {value}")
    yield from _values_of_rounds(context)


def _values_of_rounds(context: IntegrityContext) -> Iterator[Violation]:
    of, option = t.ballot.c, t.question_option.c
    query = sa.select(of.id, of.kind, of.settings).where(of.kind != COMPARISON.name)
    for row in context.conn.execute(query).all():
        try:
            settings = check_round(RoundSettings.of({**row.settings, "scheme": row.kind}))
        except (PlanError, TypeError, ValueError, KeyError, AttributeError) as error:
            yield Violation(context.ballot(row.id), f"its settings can't be read: {error}")
            continue
        shown = sa.select(sa.func.count()).where(option.question_id == _Q.id).scalar_subquery()
        answers = _judged(_J.answer, _J.value, _J.status, shown, sa.func.min(_J.id)).where(_Q.ballot_id == row.id)
        for answer, value, status, n_shown, id_ in context.rows(
            answers.group_by(_J.answer, _J.value, _J.status, _Q.id)
        ):
            if not _is_written(settings, answer, value, status, n_shown):
                yield Violation(
                    f"{context.ballot(row.id)}, judgement {id_}", f"{status}: {answer} with the value {value}"
                )


def _is_written(settings: RoundSettings, answer: str, value: float | None, status: str, n_shown: int) -> bool:
    kind = round_kind(settings.scheme)
    try:
        same = kind.answer(settings, answer, n_shown) == answer
    except InputError:
        return False
    right = None if answer == UNKNOWN else kind.value(answer)
    return same and value == right and (answer != UNKNOWN or status != "counted")


def one_each(context: IntegrityContext) -> Iterator[Violation]:
    """Voters with several counted votes on one comparison."""
    n = sa.func.count()
    query = _judged(_Q.ballot_id, _A.voter_id, _J.question_id, n).where(_J.status == "counted", _Q.role == "main")
    for ballot_id, voter, question, n_votes in context.rows(
        query.group_by(_Q.ballot_id, _A.voter_id, _J.question_id).having(n > 1)
    ):
        yield Violation(
            f"{context.ballot(ballot_id)}, question {question}", f"{n_votes} counted votes of voter {voter}"
        )


def exclusions(context: IntegrityContext) -> Iterator[Violation]:
    """Voters who are left out and whose answers count, and voters who aren't and whose answers are excluded."""
    e = t.exclusion.c
    out = sa.select(e.voter_id).where(e.undone_at.is_(None))
    counts = _J.status.in_(["counted", "unknown"])
    for wrong, told in (
        (sa.and_(counts, _A.voter_id.in_(out)), "left out, and {} answers count"),
        (sa.and_(_J.status == "excluded", _A.voter_id.not_in(out)), "not left out, and {} answers are kept aside"),
    ):
        query = _judged(_A.ballot_id, _A.voter_id, sa.func.count()).where(wrong)
        for ballot_id, voter, n in context.rows(query.group_by(_A.ballot_id, _A.voter_id)):
            yield Violation(f"{context.ballot(ballot_id)}, voter {voter}", told.format(n))


def rejections(context: IntegrityContext) -> Iterator[Violation]:
    """Answers in open ballots that count although their assignment is rejected; the owner's word goes first."""
    is_rejected = sa.or_(_A.review == "reject", sa.and_(_A.status == "rejected", _A.review.is_(None)))
    query = (
        _judged(t.ballot.c.project_id, _A.ballot_id, _A.external_id, sa.func.count())
        .join(t.ballot, t.ballot.c.id == _A.ballot_id)
        .join(t.voter, t.voter.c.id == _A.voter_id)
        .where(t.ballot.c.state == "open", is_rejected, t.voter.c.kind == "person")
        .where(_J.status.in_(["counted", "unknown"]))
        .group_by(t.ballot.c.project_id, _A.ballot_id, _A.external_id)
    )
    for project_id, ballot_id, name, n in context.rows(query):
        if not policy_of(context.conn, project_id).counts_rejected:
            yield Violation(f"{context.ballot(ballot_id)}, assignment {name}", f"rejected, and {n} answers count")


def _number_of(*where: Any) -> sa.Subquery:
    """How many judgements a question has of some kind."""
    query = sa.select(_J.question_id.label("of"), sa.func.count().label("n")).where(*where)
    return query.group_by(_J.question_id).subquery()


def question_tallies(context: IntegrityContext) -> Iterator[Violation]:
    """Questions with another number of counted votes than they say. Known answers of the voting page say none."""
    votes = _number_of(_J.status == "counted")
    n = sa.func.coalesce(votes.c.n, 0)
    query = sa.select(_Q.ballot_id, _Q.id, _Q.n_votes, n).outerjoin(votes, votes.c.of == _Q.id)
    for ballot_id, id_, stored, recount in context.rows(
        query.where(_Q.n_votes != n, sa.or_(_Q.role == "main", _Q.n_wanted > 0))
    ):
        yield Violation(f"{context.ballot(ballot_id)}, question {id_}", f"n_votes is {stored}, counted are {recount}")


def lease_counts(context: IntegrityContext) -> Iterator[Violation]:
    """Questions of ballots with a voting page whose count of leases isn't votes, leases and spare unknowns."""
    d = t.deal.c
    is_main = _Q.role == "main"
    unknown = _number_of(_J.status == "unknown")
    query = sa.select(d.question_id.label("of"), sa.func.count().label("n")).join(t.question, _Q.id == d.question_id)
    leases = query.where(d.state == "open", sa.or_(d.kind == "main", ~is_main)).group_by(d.question_id).subquery()
    n_unknown, n_leases = (sa.func.coalesce(part.c.n, 0) for part in (unknown, leases))
    allowed = sa.case((is_main, UNKNOWN_ALLOWED), else_=0)
    n = _Q.n_votes + n_leases + sa.case((n_unknown > allowed, n_unknown - allowed), else_=0)
    found = (
        sa.select(_Q.ballot_id, _Q.id, _Q.n_dealt, n)
        .join(t.voting, t.voting.c.ballot_id == _Q.ballot_id)
        .outerjoin(unknown, unknown.c.of == _Q.id)
        .outerjoin(leases, leases.c.of == _Q.id)
        .where(_Q.n_dealt != n, sa.or_(is_main, _Q.n_wanted > 0))
    )
    for ballot_id, id_, stored, recount in context.rows(found):
        where = f"{context.ballot(ballot_id)}, question {id_}"
        yield Violation(where, f"n_dealt is {stored}, a recount gives {recount}")


def item_tallies(context: IntegrityContext) -> Iterator[Violation]:
    """Items with other wins, ties, losses or unknowns than the answers to main questions give."""
    option = t.question_option.c
    keys = (_Q.ballot_id, option.item_id, option.position, _Q.kind, _J.status, _J.answer)
    query = (
        _judged(*keys, sa.func.count())
        .join(t.question_option, option.question_id == _Q.id)
        .where(_Q.role == "main", _J.status.in_(["counted", "unknown"]))
        .group_by(*keys)
    )
    counted: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for ballot_id, item_id, side, kind, status, answer, n in context.rows(query):
        place = 3 if status == "unknown" else _counts_as(kind, answer, side)
        if place is not None:
            counted[ballot_id, item_id][place] += n
    b = t.ballot_item.c
    for ballot_id, item_id, *stored in context.rows(sa.select(b.ballot_id, b.item_id, *(b[name] for name in _TALLIES))):
        recount = counted.get((ballot_id, item_id), [0, 0, 0, 0])
        if stored != recount:
            both = zip(_TALLIES, stored, recount, strict=True)
            differences = ", ".join(f"{n} {name} (recount {m})" for name, n, m in both)
            yield Violation(f"{context.ballot(ballot_id)}, item {item_id}", differences)


def _counts_as(kind: str, answer: str, side: int) -> int | None:
    """As what an answer counts; None for one that can't be read, which is a break of another rule."""
    try:
        return KINDS[kind].counts_as(answer, side)
    except (InputError, KeyError):
        return None


def progress(context: IntegrityContext) -> Iterator[Violation]:
    """Ballots whose kept progress isn't what a recount gives; what an earlier version kept may lack parts."""
    for ballot_id, stored in context.conn.execute(sa.select(t.ballot.c.id, t.ballot.c.progress)).all():
        known = json.loads(stored) if isinstance(stored, str) else stored
        recount = asdict(count_progress(context.conn, ballot_id)) if known else {}
        for name in sorted(set(known or ()) & set(recount)):
            if not _same(known[name], recount[name]):
                yield Violation(context.ballot(ballot_id), f"{name} is {known[name]}, a recount gives {recount[name]}")


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def scores(context: IntegrityContext) -> Iterator[Violation]:
    """Items of closed ballots without a score (of the protocol), and of open ballots and pilots with one."""
    b, i, s = t.ballot.c, t.ballot_item.c, t.item_score.c
    fitted = sa.select(s.ballot_id, sa.func.count().label("n")).group_by(s.ballot_id).subquery()
    per_item = sa.and_(s.ballot_id == i.ballot_id, s.item_id == i.item_id)
    counts = (sa.func.count(i.mean), sa.func.count(s.item_id), sa.func.max(sa.func.coalesce(fitted.c.n, 0)))
    query = (
        sa.select(b.id, b.purpose, b.state, b.protocol, b.n_items, *counts, sa.func.max(b.kind))
        .join(t.ballot_item, i.ballot_id == b.id)
        .outerjoin(t.item_score, per_item)
        .outerjoin(fitted, fitted.c.ballot_id == b.id)
        .group_by(b.id, b.purpose, b.state, b.protocol, b.n_items)
    )
    for ballot_id, purpose, state, protocol, n_items, with_mean, with_fit, fits, scheme in context.rows(query):
        kind = KINDS.get(scheme, COMPARISON)
        if state == "open" or purpose == TRIAL or not kind.about.scores_items:
            if with_mean or fits:
                yield Violation(context.ballot(ballot_id), f"{state}, with {max(with_mean, fits)} scores")
            continue
        by_field = kind.about.pools or (protocol in PROTOCOLS and PROTOCOLS[protocol].about.whole_field)
        n = with_fit if by_field else with_mean
        if n != n_items:
            yield Violation(context.ballot(ballot_id), f"closed, and {n} of {n_items} items have a score")


def model_answers(context: IntegrityContext) -> Iterator[Violation]:
    """Answers of language models to what isn't a comparison that counts, and votes that their own words don't give."""
    a, judge = t.model_answer.c, t.model_judge.c
    query = (
        sa.select(judge.ballot_id, a.id, a.answer, a.raw, a.flipped, a.reason, t.plan.c.ties_allowed, _Q.role, _Q.kind)
        .select_from(t.model_answer)
        .join(t.model_judge, judge.id == a.model_judge_id)
        .join(t.question, _Q.id == a.question_id)
        .join(t.ballot, t.ballot.c.id == judge.ballot_id)
        .outerjoin(t.plan, t.plan.c.id == t.ballot.c.plan_id)
    )
    for ballot_id, id_, answer, raw, flipped, reason, ties, role, kind in context.rows(query):
        where = f"{context.ballot(ballot_id)}, answer {id_} of a language model"
        if role != "main" or kind != COMPARISON.name:
            yield Violation(where, f"it is about a {kind} ({role})")
        if reason is not None and reason not in REASONS:
            yield Violation(where, f"no vote because of {reason!r}")
        letter = read_choice(raw, ties_allowed=bool(ties)).letter
        if answer is not None and (letter is None or outcome_of(letter, flipped=bool(flipped)) != answer):
            yield Violation(where, f"{answer}, and it said {raw[:40]!r}")
