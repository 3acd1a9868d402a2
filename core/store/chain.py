"""The chain of hashes over a project's log and votes: what was once said can't be changed unseen.

Each entry of the log has a head, the SHA-256 of the head before it, of the entry itself, and of what it seals: the
state of every assignment that is new, or was decided on otherwise, since the entry before. A state names ballot, voter
and assignment, what the platform and the owner say of it, and each answer with the items that it is about and whether
it counts. Who knows a head that has left this machine (it stands in published datasets) can tell whether anything up to
its entry was changed since: to change it, every later head must become another, this one too.

A vote of the voting page is written without a look at the chain, so that voters wait for nothing: its assignment points
to no seal, and the project's next command seals it. Until then it isn't in the chain, which is told (`ChainState`).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from . import dialects
from . import schema as t

PART = 5_000  # assignments that are looked at together
SPREAD = 4  # ids are read as a range where that holds at most so many times as many
_A, _J, _S, _L = t.assignment.c, t.judgement.c, t.seal.c, t.log.c
# What the first line of a state has, in order; the first five name the assignment.
_HEADER = ("ballot", "ballot's code", "platform", "voter", "assignment", "status", "decision", "reason")
_N_NAMES = 5
# Each other line is an answer: items, answer, standing, source and seconds, with tabs between.
_as_json = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` makes an encoder for each call


@dataclass(frozen=True)
class ChainState:
    """How far a project's chain reaches: its newest entry with that entry's head (64 hexadecimal digits).

    n_unsealed : assignments that aren't in it yet: the next command seals them
    n_said_anew : assignments that were sealed more than once, with an answer that was another one before
    """

    project_id: str
    entry: int
    head: str
    n_unsealed: int
    n_said_anew: int


@dataclass(frozen=True)
class ChainFault:
    """A link that breaks: the log's entry (its revision; None where there is none), where, and what differs."""

    entry: int | None
    where: str
    what: str

    def __str__(self) -> str:
        at = f"entry {self.entry}, " if self.entry is not None else ""
        return f"{at}{self.where}: {self.what}"


def head_of(before: str, entry: tuple[int, str, str, str, Any], sealed: str) -> str:
    """The head of an entry (revision, time, who, action, detail as JSON's objects) after the head `before`.

    sealed : the SHA-256 of the states that it seals, "" where it seals none
    """
    told = json.dumps([before, *entry, sealed], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def newest_head(conn: sa.Connection, project_id: str) -> tuple[int, str] | None:
    """The newest entry of the log that has a head, and the head; None for a project without a chain."""
    query = sa.select(_L.revision, _L.head).where(_L.project_id == project_id, _L.head.is_not(None))
    row = conn.execute(query.order_by(_L.revision.desc()).limit(1)).one_or_none()
    return None if row is None else (int(row.revision), str(row.head))


# What changes nothing that a dataset says: where a dataset or a project went.
_PASSING = ("release dataset", "import project", "duplicate project")


def dataset_head(conn: sa.Connection, project_id: str) -> tuple[int, str] | None:
    """The newest entry on which the dataset may hang, and its head: the same in a copy, and after a release."""
    seals_some = sa.exists().where(_S.project_id == project_id, _S.revision == _L.revision)
    query = sa.select(_L.revision, _L.head).where(_L.project_id == project_id, _L.head.is_not(None))
    query = query.where(sa.or_(_L.action.not_in(_PASSING), seals_some))
    row = conn.execute(query.order_by(_L.revision.desc()).limit(1)).one_or_none()
    return None if row is None else (int(row.revision), str(row.head))


def n_unsealed(conn: sa.Connection, project_id: str) -> int:
    """How many assignments of a project aren't in its chain yet."""
    n = sa.select(sa.func.count()).select_from(t.assignment).join(t.ballot, t.ballot.c.id == _A.ballot_id)
    return int(conn.execute(n.where(t.ballot.c.project_id == project_id, _A.seal_id.is_(None))).scalar_one())


def entries_with(conn: sa.Connection, head: str) -> list[tuple[str, int]]:
    """The projects and entries that have a head."""
    return [(row.project_id, row.revision) for row in conn.execute(sa.select(t.log).where(_L.head == head))]


# Sealing


def seal(conn: sa.Connection, project_id: str, revision: int, judged: Collection[int]) -> str:
    """Seal what is new for the log's entry `revision`; the SHA-256 of the states that were, "" for none.

    judged : ballots some of whose answers may stand otherwise now

    Of an assignment that points to a seal only the standing may have changed. Where an answer differs it was written
    past the store: then it keeps its old seal, which `faults_of` holds against it.
    """
    own = t.ballot.alias("own")
    of = sa.select(own.c.project_id).where(own.c.id == _A.ballot_id).correlate(t.assignment).scalar_subquery()
    found = hashlib.sha256()
    is_new = sa.and_(_A.seal_id.is_(None), of == project_id)  # led by the index of seals, however many are sealed
    n_sealed = 0
    for ballot_id in sorted(judged):
        stands_otherwise = sa.and_(_A.ballot_id == ballot_id, _A.seal_id.is_not(None))
        n_sealed += _seal(conn, project_id, revision, stands_otherwise, found)
    n_sealed += _seal(conn, project_id, revision, is_new, found)
    return found.hexdigest() if n_sealed else ""


def _seal(conn: sa.Connection, project_id: str, revision: int, which: sa.ColumnElement[bool], found: Any) -> int:
    n_sealed = 0
    for states in _parts(conn, which):
        sealed = sorted(seal_id for _, seal_id, _ in states if seal_id is not None)
        old = dict(_with_ids(conn, sa.select(_S.id, _S.content), _S.id, sealed))
        new = [
            (id_, content)
            for id_, seal_id, content in states
            if seal_id is None or (content != old[seal_id] and _said(content) == _said(old[seal_id]))
        ]
        if not new:
            continue
        start = dialects.next_id(conn, t.seal, len(new))
        rows = [(start + at, project_id, revision, content) for at, (_, content) in enumerate(new)]
        dialects.insert_many(conn, t.seal, ["id", "project_id", "revision", "content"], rows)
        _point(conn, [id_ for id_, _ in new], start)
        for _, content in new:
            found.update(_for_hash(content))
        n_sealed += len(new)
    return n_sealed


def _point(conn: sa.Connection, ids: Sequence[int], start: int) -> None:
    """Let assignments, by their ids in order, point to the seals from `start` on.

    Ids that follow each other, as those of a file just read do, take one statement and a fifth of the time.
    """
    if ids[-1] - ids[0] == len(ids) - 1:
        moved = sa.update(t.assignment).values(seal_id=_A.id + (start - ids[0]))
        conn.execute(moved.where(_A.id.between(ids[0], ids[-1])))
    else:
        pointers = [(start + at, id_) for at, id_ in enumerate(ids)]
        dialects.update_many(conn, t.assignment, ["seal_id"], ["id"], pointers)


_UNSEAL = sa.update(t.assignment).where(_A.id == sa.bindparam("of"), _A.seal_id.is_not(None)).values(seal_id=None)


def unseal(conn: sa.Connection, assignment_id: int) -> None:
    """Let an assignment point to no seal, as what was answered in it is written anew; the seals themselves stay."""
    conn.execute(_UNSEAL, {"of": assignment_id})


def _for_hash(content: str) -> bytes:
    return content.encode("utf-8", "surrogatepass") + b"\0"


def _parts(conn: sa.Connection, which: sa.ColumnElement[bool]) -> Iterator[list[tuple[int, int | None, str]]]:
    """The id, the seal and the state of assignments, by their ids, `PART` at a time."""
    ids = [id_ for (id_,) in dialects.fetch(conn, sa.select(_A.id).where(which).order_by(_A.id))]
    for start in range(0, len(ids), PART):
        yield _states(conn, ids[start : start + PART])


def _with_ids(conn: sa.Connection, query: sa.Select[Any], column: Any, ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """The rows of a query that have one of these ids, which are sorted; perhaps some that have another.

    Ids that lie close together are read as a range, which takes a third of the time of a list.
    """
    if ids and ids[-1] - ids[0] < SPREAD * len(ids):
        return dialects.fetch(conn, query.where(column.between(ids[0], ids[-1])))
    parts = (ids[start : start + PART] for start in range(0, len(ids), PART))
    return [row for part in parts for row in dialects.fetch(conn, query.where(column.in_(part)))]


def _states(conn: sa.Connection, ids: Sequence[int]) -> list[tuple[int, int | None, str]]:
    """The id, the seal and the state of assignments."""
    votes: dict[int, list[str]] = {id_: [] for id_ in ids}
    said = _J.answer + "\t" + _J.status + "\t" + _J.source  # one text for the driver to hand over in place of three
    judged = sa.select(_J.assignment_id, _J.question_id, said, _J.seconds)
    rows = _with_ids(conn, judged, _J.assignment_id, ids)
    items = _items(conn, sorted({row[1] for row in rows}))
    for id_, question_id, told, seconds in rows:
        if id_ in votes:
            took = "" if seconds is None else repr(float(seconds))
            votes[id_].append(f"{items.get(question_id, '')}\t{told}\t{took}")
    b, v = t.ballot.c, t.voter.c
    about = (
        sa.select(
            _A.id, _A.seal_id, b.purpose, b.ordinal, b.code, v.platform, v.external_id, _A.external_id, _A.status,
            _A.review, _A.review_reason,
        )
        .join(t.ballot, b.id == _A.ballot_id).join(t.voter, v.id == _A.voter_id).order_by(_A.id)
    )  # fmt: skip
    states = []
    for id_, seal_id, purpose, ordinal, code, platform, voter, name, *decided in _with_ids(conn, about, _A.id, ids):
        if id_ in votes:
            # Names that hold ids of this workspace's are others in a copy.
            named = "simulated" if name.startswith("simulated-") and platform == "simulated" else name
            header = [f"{purpose} {ordinal}", code, platform, voter, named, *decided]
            states.append((id_, seal_id, "\n".join([_as_json(header), *sorted(votes[id_])])))
    return states


def _items(conn: sa.Connection, question_ids: Sequence[int]) -> dict[int, str]:
    """The items that questions are about: their positions in the project, with a blank between."""
    option, item = t.question_option.c, t.item.c
    # An item that is gone isn't there, and is told as another fault.
    asked = sa.select(option.question_id, item.position).join(t.item, item.id == option.item_id)
    asked = asked.order_by(option.question_id, option.position)
    items: dict[int, str] = {}
    for question_id, position in _with_ids(conn, asked, option.question_id, question_ids):
        items[question_id] = f"{items[question_id]} {position}" if question_id in items else str(position)
    return items


def _header(content: str) -> list[Any]:
    """The first line of a state, as long as it should be, whatever stands there in a project from elsewhere."""
    line = content.partition("\n")[0]
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, list) and len(found) == len(_HEADER) else [line, *[""] * (len(_HEADER) - 1)]


def _named(content: str) -> tuple[str, ...]:
    return tuple(str(part) for part in _header(content)[:_N_NAMES])


def _votes(content: str) -> list[tuple[str, str, str, str, str]]:
    """The answers of a state: items, answer, standing, source, seconds."""
    found = []
    for line in content.split("\n")[1:]:
        items, answer, standing, source, seconds, *_ = (*line.split("\t"), "", "", "", "")
        found.append((items, answer, standing, source, seconds))
    return found


def _said(content: str) -> tuple[Any, ...]:
    """What of a state no decision changes: who answered what."""
    votes = _votes(content)
    return _named(content), sorted((items, answer, source, seconds) for items, answer, _, source, seconds in votes)


# Looking


def state_of(conn: sa.Connection, project_id: str) -> ChainState | None:
    """How far a project's chain reaches; None where it has none, as no command was carried out since chains began."""
    newest = newest_head(conn, project_id)
    if newest is None:
        return None
    return ChainState(project_id, *newest, n_unsealed(conn, project_id), _n_said_anew(conn, project_id))


def _n_said_anew(conn: sa.Connection, project_id: str) -> int:
    """How many assignments have an answer in an earlier seal that isn't in the next."""
    is_newest = sa.exists().where(_A.seal_id == _S.id)
    former = sa.select(_S.id).where(_S.project_id == project_id, ~is_newest).limit(1)
    if conn.execute(former).first() is None:
        return 0
    once: set[bytes] = set()
    twice: set[bytes] = set()
    for *_, content in _seals(conn, project_id):
        key = _key(content)
        (twice if key in once else once).add(key)
    before: dict[bytes, set[tuple[str, str]]] = {}
    anew = set()
    for *_, content in _seals(conn, project_id):
        if (key := _key(content)) not in twice:
            continue
        said = {(items, answer) for items, answer, *_ in _votes(content)}
        if before.get(key, set()) - said:
            anew.add(key)
        before[key] = said
    return len(anew)


def _seals(conn: sa.Connection, project_id: str) -> Iterator[tuple[int, int, str]]:
    """The id, the entry and the state of all seals of a project, in order, read `PART` at a time: they may hold
    millions of answers."""
    entries = sa.select(_S.revision).where(_S.project_id == project_id).distinct().order_by(_S.revision)
    for (revision,) in dialects.fetch(conn, entries):
        query = sa.select(_S.id, _S.revision, _S.content).where(_S.project_id == project_id, _S.revision == revision)
        query, after = query.order_by(_S.id).limit(PART), -1
        while rows := dialects.fetch(conn, query.where(_S.id > after)):
            yield from rows
            after = rows[-1][0]


def _key(content: str) -> bytes:
    """Stands for the names of a state, in little memory."""
    return hashlib.sha256(_as_json(_named(content)).encode("utf-8", "surrogatepass")).digest()


def faults_of(conn: sa.Connection, project_id: str) -> Iterator[ChainFault]:
    """The links of a project's chain that break, in the order of the log; nothing for a project without a chain.

    Each head is computed anew from its entry and what that seals, and each assignment held against its newest seal.
    """
    if newest_head(conn, project_id) is None:
        return
    sealed: dict[int, Any] = {}
    gone: set[bytes] = set()
    for _, revision, content in _seals(conn, project_id):
        sealed.setdefault(revision, hashlib.sha256()).update(_for_hash(content))
        gone.add(_key(content))
    yield from _broken_entries(conn, project_id, {revision: found.hexdigest() for revision, found in sealed.items()})
    of = sa.select(t.ballot.c.id).where(t.ballot.c.project_id == project_id)
    broken = []
    for part in _parts(conn, _A.ballot_id.in_(of)):
        pointed = sorted(seal_id for _, seal_id, _ in part if seal_id is not None)
        query = sa.select(_S.id, _S.revision, _S.content).where(_S.project_id == project_id)
        sealed_as = {id_: (entry, state) for id_, entry, state in _with_ids(conn, query, _S.id, pointed)}
        for _, seal_id, content in part:
            gone.discard(_key(content))
            if seal_id is None:
                continue
            entry, before = sealed_as.get(seal_id, (None, content))
            if entry is None or before != content:
                broken.append((entry or 0, ChainFault(entry, _where(content), _difference(before, content))))
    yield from (fault for _, fault in sorted(broken, key=lambda found: found[0]))
    states = _seals(conn, project_id) if gone else ()
    sealed_at = {_named(content): revision for _, revision, content in states if _key(content) in gone}
    for name, revision in sorted(sealed_at.items()):
        yield ChainFault(revision, ", ".join(_of_names(name)), "it is sealed, and gone")
    by_page = sa.exists().where(t.deal.c.assignment_id == _A.id)
    unsealed = sa.and_(_A.ballot_id.in_(of), _A.seal_id.is_(None), ~by_page)
    for part in _parts(conn, unsealed):
        for _, _, content in part:
            yield ChainFault(None, _where(content), "no voter of the voting page gave it, and it isn't sealed")


def _broken_entries(conn: sa.Connection, project_id: str, sealed: dict[int, str]) -> Iterator[ChainFault]:
    """The entries of the log whose head isn't the one that follows."""
    query = sa.select(_L.revision, _L.at, _L.who, _L.action, _L.detail, _L.head).where(_L.project_id == project_id)
    before = ""
    for *entry, detail, head in dialects.fetch(conn, query.order_by(_L.id)):
        revision, where = entry[0], f"“{entry[3]}” of {entry[1]}"
        own = sealed.pop(revision, "")
        if head is None:
            if before or own:
                yield ChainFault(revision, where, "it has no head")
        elif head != head_of(before, (*entry, json.loads(detail)), own):
            said = "what it says, what it seals or the entry before it isn't what its head was computed from"
            yield ChainFault(revision, where, said)
        before = head or before
    for revision in sorted(sealed):
        yield ChainFault(revision, "the log", "the entry is gone, and what it sealed is there")


def _of_names(names: tuple[str, ...]) -> tuple[str, str, str]:
    ballot, code, platform, voter, assignment = names
    return f"ballot {code} ({ballot})", f"assignment {assignment}", f"voter {voter} of {platform}"


def _where(content: str) -> str:
    return ", ".join(_of_names(_named(content)))


def _difference(before: str, now: str) -> str:
    """The first thing in which a state differs from its seal."""
    one, two = _header(before), _header(now)
    for name, was, is_ in zip(_HEADER, one, two, strict=True):
        if was != is_:
            return f"its {name} was {was!r}, and is {is_!r}"
    was, is_ = Counter(_votes(before)), Counter(_votes(now))
    gone, new = sorted((was - is_).elements()), sorted((is_ - was).elements())
    if not gone:
        return f"an answer more: {_read(new[0])}" if new else "it points to a seal that isn't there"
    other = next((vote for vote in new if vote[0] == gone[0][0]), None)
    return f"{_read(gone[0])} was sealed, and there is {_read(other) if other else 'none'}"


def _read(vote: tuple[str, str, str, str, str]) -> str:
    items, answer, standing, source, seconds = vote
    about = " and ".join(items.split()) if len(items.split()) == 2 else items.replace(" ", ", ")
    return f"“{answer}” on items {about} ({standing}, {source}{f', {seconds} s' if seconds else ''})"
