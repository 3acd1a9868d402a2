"""The rules of a workspace's structure: rows that point to each other, and the files beside the database.

Of rows they look at keys, projects, positions, numbers and the log; of files at uploads and releases under their hash,
and embeddings in their folders. What a check of a workspace looks at and finds, for these rules and all others, is
defined here too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from ...embeddings.storage import read_info
from ...errors import InputError
from ...questions import COMPARISON, KINDS
from .. import schema as t
from ..command import fetch_rows
from ..engine import Store
from ..schema.ballots import CAMPAIGN, ROUND
from ..stored_files import KEEPERS, blobs_of


@dataclass(frozen=True)
class Violation:
    """One break of a rule: where in the workspace, and what was found there."""

    where: str
    what: str


@dataclass(frozen=True)
class IntegrityContext:
    """A workspace and one state of its database."""

    store: Store
    conn: sa.Connection

    def rows(self, query: sa.Select[Any]) -> list[tuple[Any, ...]]:
        """The rows of a query as plain tuples."""
        return fetch_rows(self.conn, query)

    @cached_property
    def projects(self) -> dict[str, str]:
        """What a project is called, by its id."""
        return {id_: f"project {name} ({id_})" for id_, name in self.rows(sa.select(t.project.c.id, t.project.c.name))}

    @cached_property
    def ballots(self) -> dict[int, str]:
        """What a ballot is called, by its id."""
        b = t.ballot.c
        query = sa.select(b.id, b.project_id, b.ordinal, b.purpose, t.area.c.name).outerjoin(
            t.area, t.area.c.id == b.area_id
        )
        return {
            id_: f"{self.project(project)}, {f'round {number}' if purpose == ROUND else f'ballot {number}'}"
            + (f" of {area}" if area is not None else "")
            for id_, project, number, purpose, area in self.rows(query)
        }

    def project(self, project_id: str) -> str:
        """What a project is called, also one that is gone."""
        return self.projects.get(project_id, f"project {project_id}, which is gone")

    def ballot(self, ballot_id: int) -> str:
        """What a ballot is called, also one that is gone."""
        return self.ballots.get(ballot_id, f"ballot with the id {ballot_id}, which is gone")


_BLOCK = 1 << 20


def stored_files(context: IntegrityContext) -> Iterator[Violation]:
    """Files that the database names by their SHA-256 and that are gone, or aren't what they were."""
    needed: dict[str, str] = {}
    u, r, f = t.upload.c, t.release.c, t.frequency_source.c
    for ballot_id, filename, digest in context.rows(sa.select(u.ballot_id, u.filename, u.sha256)):
        needed[digest] = f"{context.ballot(ballot_id)}, file {filename}"
    for project_id, version, digest in context.rows(sa.select(r.project_id, r.version, r.sha256)):
        needed[digest] = f"{context.project(project_id)}, version {version}"
    for project_id, label, digest in context.rows(sa.select(f.project_id, f.label, f.sha256)):
        if digest is not None:
            needed[digest] = f"{context.project(project_id)}, frequencies {label}"
    for digest, where in needed.items():
        fault = _fault_of(context, digest)
        if fault and _is_named_now(context.store, digest):
            yield Violation(where, f"uploads/{digest} {fault}")


def _is_named_now(store: Store, digest: str) -> bool:
    """Whether a row names a kept file, in a look of its own: a project that was deleted since took its files along."""
    with store.read() as conn:
        rows = (conn.execute(blobs_of(table).where(table.c.sha256 == digest).limit(1)) for table in KEEPERS)
        return any(found.first() is not None for found in rows)


def _fault_of(context: IntegrityContext, digest: str) -> str:
    """What is wrong with a kept file, "" where nothing is."""
    found = hashlib.sha256()
    try:
        with open(context.store.uploads / digest, "rb") as handle:
            while block := handle.read(_BLOCK):
                found.update(block)
    except FileNotFoundError:
        return "is gone"
    except OSError as error:
        return f"can't be read ({error.strerror})"
    return "" if found.hexdigest() == digest else f"was changed: its SHA-256 is {found.hexdigest()}"


def embeddings(context: IntegrityContext) -> Iterator[Violation]:
    """Embeddings whose folder is gone, of another content, or whose files have other sizes.

    The hash is the one of the imported file, kept in both places; the numbers aren't hashed anew.
    """
    e = t.embedding.c
    for id_, name, digest in context.rows(sa.select(e.id, e.name, e.content_hash)):
        where = f"embedding {name} (embeddings/{id_})"
        try:
            info = read_info(context.store.embeddings / id_)
        except (InputError, ValueError) as error:
            yield Violation(where, str(error))
            continue
        if info.identity != digest or digest[: len(id_)] != id_:
            yield Violation(where, f"it holds {info.identity}, not {digest}")


def keys_lead_somewhere(context: IntegrityContext) -> Iterator[Violation]:
    """Rows whose foreign key names a row that isn't there; SQLite itself says quickly whether there are any."""
    if context.conn.dialect.name == "sqlite" and not context.conn.exec_driver_sql("PRAGMA foreign_key_check").first():
        return
    for table in t.metadata.sorted_tables:
        for key in table.foreign_keys:
            child, parent = key.parent, key.column.table.alias("parent")
            there = parent.c[key.column.name]
            query = sa.select(child, sa.func.count()).outerjoin(parent, there == child)
            for value, n in context.rows(query.where(child.is_not(None), there.is_(None)).group_by(child)):
                yield Violation(
                    f"{table.name}.{child.name}", f"{n} rows of {key.column.table.name} {value}, which is gone"
                )


def one_project(context: IntegrityContext) -> Iterator[Violation]:
    """Rows that join what is of different projects, or of different ballots of one."""
    for what, query in _joins().items():
        for ballot_id, id_ in context.rows(query):
            yield Violation(context.ballot(ballot_id), f"{what} {id_}")


def _joins() -> dict[str, sa.Select[Any]]:
    """For each kind of link the query for those that lead astray: ballot and row."""
    b, a, q, i = t.ballot.c, t.assignment.c, t.question.c, t.item.c
    item, option, put = t.ballot_item.c, t.question_option.c, t.task_question.c
    asked, judge = t.question.alias("asked"), t.model_judge.c
    return {
        "an assignment of another project's voter:": sa.select(b.id, a.id)
        .join(t.assignment, a.ballot_id == b.id)
        .join(t.voter, t.voter.c.id == a.voter_id)
        .where(t.voter.c.project_id != b.project_id),
        "an assignment from another ballot's file:": sa.select(a.ballot_id, a.id)
        .join(t.upload, t.upload.c.id == a.upload_id)
        .where(t.upload.c.ballot_id != a.ballot_id),
        "an assignment of another ballot's task:": sa.select(a.ballot_id, a.id)
        .join(t.task, t.task.c.id == a.task_id)
        .where(t.task.c.ballot_id != a.ballot_id),
        "another project's item": sa.select(b.id, item.item_id)
        .join(t.ballot_item, item.ballot_id == b.id)
        .join(t.item, i.id == item.item_id)
        .where(i.project_id != b.project_id),
        "a question about another project's item:": sa.select(b.id, q.id)
        .join(t.question, q.ballot_id == b.id)
        .join(t.question_option, option.question_id == q.id)
        .join(t.item, i.id == option.item_id)
        .where(i.project_id != b.project_id),
        "a task with another ballot's question:": sa.select(t.task.c.ballot_id, q.id)
        .join(t.task_question, put.task_id == t.task.c.id)
        .join(t.question, q.id == put.question_id)
        .where(q.ballot_id != t.task.c.ballot_id),
        "a check of another ballot's comparison:": sa.select(q.ballot_id, q.id)
        .join(t.check_question, t.check_question.c.question_id == q.id)
        .join(asked, asked.c.id == t.check_question.c.of_id)
        .where(asked.c.ballot_id != q.ballot_id),
        "a voter on the voting page who is another project's:": sa.select(b.id, t.voter.c.id)
        .join(t.voting, t.voting.c.ballot_id == b.id)
        .join(t.sitting, t.sitting.c.voting_id == t.voting.c.id)
        .join(t.voter, t.voter.c.id == t.sitting.c.voter_id)
        .where(t.voter.c.project_id != b.project_id),
        "a language model's answer to another ballot's question:": sa.select(judge.ballot_id, t.model_answer.c.id)
        .join(t.model_answer, t.model_answer.c.model_judge_id == judge.id)
        .join(t.question, q.id == t.model_answer.c.question_id)
        .where(q.ballot_id != judge.ballot_id),
        "another project's plan": sa.select(b.id, t.plan.c.id)
        .join(t.plan, t.plan.c.id == b.plan_id)
        .where(t.plan.c.project_id != b.project_id),
    }


def positions(context: IntegrityContext) -> Iterator[Violation]:
    """Projects whose items don't have the positions 0 to N − 1."""
    i = t.item.c
    spread = (sa.func.count(), sa.func.count(i.position.distinct()), sa.func.min(i.position), sa.func.max(i.position))
    for project_id, n, n_places, first, last in context.rows(sa.select(i.project_id, *spread).group_by(i.project_id)):
        if (n_places, first, last) != (n, 0, n - 1):
            yield Violation(context.project(project_id), f"{n} items at {n_places} positions from {first} to {last}")


def tokens_of_area(context: IntegrityContext) -> Iterator[Violation]:
    """Items with a token of another area, or twice the same."""
    i, one, two = t.item.c, t.token.alias("one"), t.token.alias("two")
    query = (
        sa.select(i.project_id, i.position, one.c.text, two.c.text)
        .join(one, one.c.id == i.token_a_id)
        .join(two, two.c.id == i.token_b_id)
        .join(t.area, t.area.c.id == i.area_id)
    )
    astray = (one.c.area_id != i.area_id, two.c.area_id != i.area_id, t.area.c.project_id != i.project_id)
    for project_id, position, *texts in context.rows(query.where(sa.or_(*astray, one.c.id == two.c.id))):
        yield Violation(f"{context.project(project_id)}, item {position}", f"{texts[0]!r} and {texts[1]!r}")


def ballot_numbers(context: IntegrityContext) -> Iterator[Violation]:
    """Rankings whose ballots have gaps in their numbers, or several of them open; ballots not made for their purpose.

    Rounds, and they alone, ask something else than comparisons, and have settings in place of a plan.
    """
    b = t.ballot.c
    is_round = b.purpose == ROUND
    apart = [(b.kind != COMPARISON.name) != is_round, b.plan_id.is_(None) != is_round, b.settings.is_(None) == is_round]
    for ballot_id, purpose, kind in context.rows(sa.select(b.id, b.purpose, b.kind).where(sa.or_(*apart))):
        yield Violation(
            context.ballot(ballot_id), f"the purpose {purpose} with the kind {kind}, its plan or its settings"
        )
    drawn: dict[tuple[str, int | None], list[tuple[int, str]]] = {}
    query = sa.select(b.project_id, b.area_id, b.ordinal, b.state).where(b.purpose == CAMPAIGN)
    for project_id, area_id, number, state in context.rows(query.order_by(b.project_id, b.ordinal)):
        drawn.setdefault((project_id, area_id), []).append((number, state))
    for (project_id, area_id), ballots in drawn.items():
        where = context.project(project_id) + ("" if area_id is None else f", area {area_id}")
        numbers = [number for number, _ in ballots]
        if numbers != list(range(1, len(numbers) + 1)):
            yield Violation(where, f"ballots {', '.join(map(str, numbers))}")
        if any(state == "open" for _, state in ballots[:-1]):
            yield Violation(where, "an earlier ballot than the newest is open")


def ballot_sizes(context: IntegrityContext) -> Iterator[Violation]:
    """Ballots that have other numbers of items or comparisons than they say."""
    b = t.ballot.c
    items = sa.select(sa.func.count()).where(t.ballot_item.c.ballot_id == b.id).scalar_subquery()
    asked = sa.select(sa.func.count()).where(t.question.c.ballot_id == b.id, t.question.c.role == "main")
    query = sa.select(b.id, b.n_items, items, b.n_comparisons, asked.scalar_subquery())
    for ballot_id, n_items, items_there, n_comparisons, comparisons_there in context.rows(query):
        if n_items != items_there:
            yield Violation(context.ballot(ballot_id), f"{items_there} items, not {n_items}")
        if n_comparisons != comparisons_there:
            yield Violation(context.ballot(ballot_id), f"{comparisons_there} comparisons, not {n_comparisons}")


def two_options(context: IntegrityContext) -> Iterator[Violation]:
    """Comparisons without exactly a first and a second item, and those that count with an item outside the ballot.

    Of other kinds as many items as the kind shows, all different, at places without gaps.
    """
    q, option, item = t.question.c, t.question_option.c, t.ballot_item.c
    places = sa.func.min(option.position), sa.func.max(option.position)
    items = sa.func.count(option.item_id), sa.func.count(option.item_id.distinct())
    for name, kind in KINDS.items():
        few, most = kind.n_shown()
        too_many = items[0] > most if most is not None else sa.false()
        query = (
            sa.select(q.ballot_id, q.id, *items, *places)
            .outerjoin(t.question_option, option.question_id == q.id)
            .where(q.kind == name)
            .group_by(q.ballot_id, q.id)
            .having(sa.or_(
                items[0] < few, too_many, items[0] != items[1], places[0] != 0, places[1] != items[0] - 1
            ))
        )  # fmt: skip
        for ballot_id, id_, n, n_items, *_ in context.rows(query):
            sides = "sides" if most == 2 else "places"
            yield Violation(
                f"{context.ballot(ballot_id)}, question {id_}", f"{n} {sides} with {n_items} different items"
            )
    outside = (
        sa.select(q.ballot_id, q.id, option.item_id)
        .join(t.question_option, option.question_id == q.id)
        .outerjoin(t.ballot_item, sa.and_(item.ballot_id == q.ballot_id, item.item_id == option.item_id))
        .where(q.role == "main", item.item_id.is_(None))
    )
    for ballot_id, id_, item_id in context.rows(outside):
        yield Violation(f"{context.ballot(ballot_id)}, question {id_}", f"item {item_id} isn't in the ballot")


def log_rises(context: IntegrityContext) -> Iterator[Violation]:
    """Projects whose log goes back, repeats a revision, or is ahead of the project."""
    entry, p = t.log.c, t.project.c
    query = sa.select(entry.project_id, entry.revision, p.revision).join(t.project, p.id == entry.project_id)
    last: dict[str, int] = {}
    for project_id, revision, newest in context.rows(query.order_by(entry.project_id, entry.id)):
        if not last.get(project_id, 0) < revision <= newest:
            fault = f"revision {revision} after {last.get(project_id, 0)}; the project is at {newest}"
            yield Violation(f"{context.project(project_id)}, log", fault)
        last[project_id] = revision
