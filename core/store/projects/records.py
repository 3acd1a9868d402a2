"""The record of a campaign as tables, written into the files of a published dataset and read back.

It has what scores were computed from, what was stored, and who voted.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
import sqlalchemy as sa

from ...dataset.published import (
    BALLOT_ITEMS,
    COMPARED,
    FILES,
    FIT_SCORES,
    PLAN_FILE,
    TASKS,
    VOTERS,
    VOTES,
    read_table,
    write_table,
)
from ...errors import InputError
from ...tables import ITEMS, Schema
from ...tabular.json_files import parse_json
from ...tabular.zips import MAX_JSON
from .. import schema as t
from ..ballots.ballot_rows import Ballot, ballots_of, pilot_of
from ..command import fetch_rows, project_row
from ..engine import Store
from ..tokens.areas import items_of
from .plans import Ranking, rankings_of, registration_of

_PRIVATE = ("id", "project_id", "area_id", "scheme", "stored", "purpose")  # ids of the workspace say nothing outside


@dataclass(frozen=True, eq=False)
class CampaignRecord:
    """A campaign's tables (see `record_of`), and `plan`: project, plans, seeds, ballots, policy, registration."""

    items: pd.DataFrame
    ballot_items: pd.DataFrame
    fit_scores: pd.DataFrame
    comparisons: pd.DataFrame
    tasks: pd.DataFrame
    votes: pd.DataFrame
    voters: pd.DataFrame
    plan: dict[str, Any]


def voter_secret(store: Store, project_id: str) -> str:
    """What the project's voters are hashed with: drawn once, kept in the workspace, published nowhere."""
    with store.read() as conn:
        secret = project_row(conn, project_id).voter_secret
    if secret:
        return str(secret)
    with store.write(project_id) as conn:  # no command: nothing that a page shows depends on it
        secret = project_row(conn, project_id).voter_secret or secrets.token_hex(32)
        conn.execute(sa.update(t.project).where(t.project.c.id == project_id).values(voter_secret=secret))
    return str(secret)


def pseudonym(secret: str, platform: str, external_id: str) -> str:
    """A voter's name in published files: v and 64 bits of HMAC-SHA256 over platform and id, by the project's secret.

    The same voter has the same pseudonym in all versions of a project's dataset, and another one in other projects.
    Without the secret nobody can hash a list of known ids and compare.

    >>> pseudonym("s", "mturk", "A1")
    'vb2649c1e360be33f'
    """
    digest = hmac.new(secret.encode("utf-8"), f"{platform}\0{external_id}".encode(), hashlib.sha256).hexdigest()
    return f"v{digest[:16]}"


def record_of(conn: sa.Connection, project_id: str, secret: str) -> CampaignRecord:
    """The record of a project, with its voters hashed by `secret`."""
    project = project_row(conn, project_id)
    items = items_of(conn, project_id).reset_index(drop=True)[list(ITEMS.columns)]
    rankings = rankings_of(conn, project_id)
    drawn = [(ranking, ballot) for ranking in rankings for ballot in _every(conn, project_id, ranking)]
    voters, names = _voters(conn, project_id, [ballot.id for _, ballot in drawn], secret)
    registered = registration_of(conn, project_id)
    plan = {
        "project": {
            "name": project.name,
            "kind": project.kind,
            "notion": project.notion,
            "ranking": project.ranking,
            "seed": project.seed,
        },
        "policy": project.policy,
        "item_rules": project.item_rules,
        "registration": registered.content if registered else None,
        "rankings": [_ranking(conn, project_id, ranking) for ranking in rankings],
    }

    def each(schema: Schema, read: Callable[[sa.Connection, Ballot], pd.DataFrame]) -> pd.DataFrame:
        # Of their types before they are put together: a ballot without votes has none, nor has a column that is blank.
        types = {name: _TYPES[kind] for name, kind in schema.columns.items()}
        frames = [
            read(conn, ballot).assign(ranking=ranking.area, ballot=ballot.number)[list(types)].astype(types)
            for ranking, ballot in drawn
        ]
        return schema.check(pd.concat(frames, ignore_index=True) if frames else schema.empty())

    return CampaignRecord(
        items,
        each(BALLOT_ITEMS, _ballot_items),
        each(FIT_SCORES, _fit_scores),
        each(COMPARED, _comparisons),
        each(TASKS, _tasks),
        each(VOTES, lambda conn, ballot: _votes(conn, ballot, names)),
        voters,
        json.loads(json.dumps(plan)),
    )


_TYPES = {"text": "str", "int": "int64", "float": "float64"}


def _every(conn: sa.Connection, project_id: str, ranking: Ranking) -> list[Ballot]:
    pilot = pilot_of(conn, project_id, ranking.area_id)
    return [*([pilot] if pilot else []), *ballots_of(conn, project_id, ranking.area_id)]


def _ranking(conn: sa.Connection, project_id: str, ranking: Ranking) -> dict[str, Any]:
    """What was planned and drawn for a ranking; a ballot's plan is the one it was drawn by."""
    ballots = _every(conn, project_id, ranking)
    of = t.ballot.c
    query = sa.select(of.id, of.plan_id, of.fit).where(of.project_id == project_id)
    rows = {row.id: row for row in conn.execute(query)}
    plans = {row.id: row for row in conn.execute(sa.select(t.plan).where(t.plan.c.project_id == project_id))}
    used = [rows[ballot.id].plan_id for ballot in ballots]
    order = list(dict.fromkeys(used))
    ballots_told = []
    for ballot in ballots:
        about = {name: value for name, value in asdict(ballot).items() if name not in _PRIVATE}
        fit = {name: value for name, value in (rows[ballot.id].fit or {}).items() if name != "another"}
        ballots_told.append(about | {"plan": order.index(rows[ballot.id].plan_id), "fit": fit})
    described = [{name: v for name, v in plans[id_]._mapping.items() if name not in _PRIVATE} for id_ in order]
    for plan in described:
        if plan["aim"] is None:
            del plan["aim"]  # plans had none before
    return {"area": ranking.area, "plans": described, "ballots": ballots_told}


def _frame(conn: sa.Connection, query: sa.Select[Any], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(fetch_rows(conn, query), columns=list(columns))


def _ballot_items(conn: sa.Connection, ballot: Ballot) -> pd.DataFrame:
    names = [name for name in BALLOT_ITEMS.columns if name not in ("ranking", "ballot", "item")]
    b = t.ballot_item.c
    query = sa.select(t.item.c.position, *(b[name] for name in names)).join(t.item, t.item.c.id == b.item_id)
    return _frame(conn, query.where(b.ballot_id == ballot.id).order_by(t.item.c.position), ["item", *names])


def _fit_scores(conn: sa.Connection, ballot: Ballot) -> pd.DataFrame:
    names = [name for name in FIT_SCORES.columns if name not in ("ranking", "ballot", "item")]
    s = t.item_score.c
    query = sa.select(t.item.c.position, *(s[name] for name in names)).join(t.item, t.item.c.id == s.item_id)
    return _frame(conn, query.where(s.ballot_id == ballot.id).order_by(t.item.c.position), ["item", *names])


def _numbers(conn: sa.Connection, ballot: Ballot) -> dict[int, int]:
    """The number of each comparison of a ballot by its question's id, checks among them."""
    query = sa.select(t.question.c.id).where(t.question.c.ballot_id == ballot.id).order_by(t.question.c.id)
    return {row[0]: number for number, row in enumerate(fetch_rows(conn, query), 1)}


def _comparisons(conn: sa.Connection, ballot: Ballot) -> pd.DataFrame:
    one, two = t.question_option.alias("one"), t.question_option.alias("two")
    first, second = t.item.alias("first_item"), t.item.alias("second_item")
    query = (
        sa.select(
            t.question.c.id,
            t.question.c.role,
            first.c.position,
            second.c.position,
            sa.func.coalesce(t.gold.c.answer, ""),
            sa.case((t.question.c.role == "main", ""), else_=sa.func.coalesce(t.check_question.c.kind, "gold")),
        )
        .join(one, sa.and_(one.c.question_id == t.question.c.id, one.c.position == 0))
        .join(two, sa.and_(two.c.question_id == t.question.c.id, two.c.position == 1))
        .join(first, first.c.id == one.c.item_id)
        .join(second, second.c.id == two.c.item_id)
        .outerjoin(t.gold, t.gold.c.question_id == t.question.c.id)
        .outerjoin(t.check_question, t.check_question.c.question_id == t.question.c.id)
        .where(t.question.c.ballot_id == ballot.id)
        .order_by(t.question.c.id)
    )
    frame = _frame(conn, query, ["comparison", "role", "first", "second", "expected", "check"])
    return frame.assign(comparison=frame["comparison"].map(_numbers(conn, ballot)))


def _tasks(conn: sa.Connection, ballot: Ballot) -> pd.DataFrame:
    place = t.task_question.c
    shown = (place.n, place.question_id, place.flipped, place.left_swapped, place.right_swapped)
    query = sa.select(t.task.c.position + 1, *shown).join(t.task, t.task.c.id == place.task_id)
    query = query.where(t.task.c.ballot_id == ballot.id).order_by(t.task.c.position, place.n)
    columns = ["task", "n", "comparison", "flipped", "left_swapped", "right_swapped"]
    frame = _frame(conn, query, columns)
    return frame.assign(comparison=frame["comparison"].map(_numbers(conn, ballot)))


def _votes(conn: sa.Connection, ballot: Ballot, names: dict[int, str]) -> pd.DataFrame:
    """Every judgement of a ballot, counted or not, in the order in which scores are computed from them."""
    j, a = t.judgement.c, t.assignment.c
    showing = sa.and_(t.task_question.c.task_id == a.task_id, t.task_question.c.question_id == j.question_id)
    dealt = sa.and_(t.deal.c.assignment_id == a.id, t.deal.c.question_id == j.question_id)
    flipped = sa.func.coalesce(t.deal.c.flipped, t.task_question.c.flipped)
    query = (
        sa.select(j.question_id, a.voter_id, j.answer, j.value, j.seconds, j.status, j.source, flipped)
        .join(t.assignment, a.id == j.assignment_id)
        .outerjoin(t.task_question, showing)
        .outerjoin(t.deal, dealt)
        .where(a.ballot_id == ballot.id)
        .order_by(j.question_id, j.id)
    )
    columns = ["comparison", "voter", "answer", "value", "seconds", "status", "source", "flipped"]
    frame = _frame(conn, query, columns)
    return frame.assign(comparison=frame["comparison"].map(_numbers(conn, ballot)), voter=frame["voter"].map(names))


def _voters(
    conn: sa.Connection, project_id: str, ballot_ids: Sequence[int], secret: str
) -> tuple[pd.DataFrame, dict[int, str]]:
    """The voters with an answer in these ballots in the order of their ids, and their pseudonyms by id."""
    v = t.voter.c
    answered = sa.select(t.assignment.c.voter_id).where(t.assignment.c.ballot_id.in_(list(ballot_ids)))
    query = sa.select(v.id, v.platform, v.external_id, v.kind).where(v.project_id == project_id, v.id.in_(answered))
    rows = fetch_rows(conn, query.order_by(v.id))
    names = {id_: pseudonym(secret, platform, name) for id_, platform, name, _ in rows}
    frame = pd.DataFrame(
        [(names[id_], platform, kind) for id_, platform, _, kind in rows], columns=list(VOTERS.columns), dtype="str"
    )
    return VOTERS.check(frame), names


_NAMES = ("items", "ballot_items", "fit_scores", "comparisons", "tasks", "votes", "voters")  # in the order of FILES


def record_files(record: CampaignRecord) -> dict[str, bytes]:
    """The files of a record by name; the same record gives the same bytes."""
    files = {
        name: write_table(getattr(record, part), schema)
        for part, (name, schema) in zip(_NAMES, FILES.items(), strict=True)
    }
    files[PLAN_FILE] = (json.dumps(record.plan, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode("utf-8")
    return files


def record_from(files: Mapping[str, bytes]) -> CampaignRecord:
    """The record that these files hold; `InputError` naming a file that is missing or can't be read."""
    missing = [name for name in (*FILES, PLAN_FILE) if name not in files]
    if missing:
        raise InputError(f"The published dataset lacks {', '.join(missing)}, so its scores can't be recomputed.")
    tables = {
        part: read_table(files[name], schema, name) for part, (name, schema) in zip(_NAMES, FILES.items(), strict=True)
    }
    try:
        plan: Any = parse_json(files[PLAN_FILE].decode("utf-8"), most=MAX_JSON)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{PLAN_FILE} can't be read: {error}.") from error
    if not isinstance(plan, dict):
        raise InputError(f"{PLAN_FILE} must be one JSON object.")
    return CampaignRecord(**tables, plan=plan)
