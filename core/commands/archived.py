"""Archived results as a new project: its tokens, items and ballots rebuilt, its votes taken, its ballots closed."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ..errors import Issue, RunoffError, StoreError
from ..platforms import Mapping, open_results
from ..questions import COMPARISON
from ..store import schema as t
from ..store.ballots.ballots import ballot_seed
from ..store.ballots.closing import close_ballot
from ..store.command import Change, command, fetch_rows, insert_one, insert_rows, next_id
from ..store.engine import Store, now
from ..store.projects.plans import PlanSettings
from ..store.projects.projects import create_project
from ..store.schema.ballots import CAMPAIGN
from ..store.votes.tallies import Progress
from ..store.votes.votes import accept_upload
from .archived_results import Archived, ArchivedBallot, archive_mapping, rebuild


@dataclass(frozen=True)
class ImportedArchive:
    """What became of archived results: the answers of each file by class (`row_classes`), what a person should know,
    and why the last ballot is still open, "" where all are closed."""

    project_id: str
    n_tokens: int
    n_items: int
    n_comparisons: int
    counts: dict[str, dict[str, int]]
    notes: tuple[Issue, ...]
    why_open: str = ""


def import_archived(
    store: Store,
    name: str,
    files: Sequence[tuple[str, bytes]],
    *,
    mapping: Mapping | None = None,
    notion: str = "relatedness",
    random_opponents: bool = False,
    ballot_per_file: bool = False,
    seed: int | None = None,
) -> ImportedArchive:
    """Make a project of archived result files (name, bytes), with their votes and scores.

    `mapping` says which column is which (by default the likeliest, see `archived.archive_mapping`). Scores are the
    Bradley–Terry ones of the protocol "runoff", which ask nothing of how opponents were chosen; with
    `random_opponents`, drawn uniformly, they are Borda scores as in the paper. A ballot whose votes leave items
    apart, or without any, stays open and says why.
    Raises `InputError` where the files don't say which words were shown, `OpenQuestionsError` where somebody must say
    what values mean; nothing is made then.
    """
    tables = [open_results(data, filename) for filename, data in files]
    if mapping is None:
        mapping = archive_mapping(tables[0])
    found = rebuild(tables, mapping, ballot_per_file=ballot_per_file)
    protocol = "paper" if random_opponents else "runoff"
    settings = _settings(found, protocol)
    project_id = create_project(store, name, notion=notion, seed=secrets.randbelow(2**31) if seed is None else seed)
    with command(store, project_id, "import archived") as change:
        token_ids = _write_tokens(change, found)
        item_ids = _write_items(change, found, token_ids)
        plan_id = _write_plan(change, settings, len(found.items))
        change.detail = {"files": [filename for filename, _ in files], "items": len(found.items)}
        change.detail |= {"columns": mapping.named(), "protocol": protocol}
        change.detail |= {"said": mapping.told} if mapping.told else {}
    names = _told_apart([filename for filename, _ in files])
    counts: dict[str, dict[str, int]] = {}
    why_open, notes = "", list(found.notes)
    for number, ballot in enumerate(found.ballots, 1):
        if why_open:
            why_open += f" Ballot {number} was therefore left out, with {', '.join(ballot.files)}."
            break
        with command(store, project_id, "draw ballot") as change:
            _write_ballot(change, number, plan_id, settings, ballot, item_ids)
        for at, (filename, data) in enumerate(files):
            if not ballot_per_file or at == number - 1:
                of_file = replace(mapping, server=found.servers[at] or "1")
                try:
                    counts[names[at]] = accept_upload(store, project_id, data, filename, mapping=of_file).counts
                except StoreError as error:
                    notes.append(Issue(str(error)))
        why_open = _closed(store, project_id)
    n_tokens = sum(map(len, found.areas.values()))
    n_comparisons = sum(len(ballot.comparisons) for ballot in found.ballots)
    return ImportedArchive(project_id, n_tokens, len(found.items), n_comparisons, counts, tuple(notes), why_open)


def _told_apart(names: Sequence[str]) -> list[str]:
    """Names of files, with a number behind those that are there already.

    >>> _told_apart(["a.csv", "a.csv"])
    ['a.csv', 'a.csv (2)']
    """
    return [
        name if names.index(name) == at else f"{name} ({names[: at + 1].count(name)})" for at, name in enumerate(names)
    ]


def _closed(store: Store, project_id: str) -> str:
    """Close the open ballot; why that isn't possible, or ""."""
    try:
        close_ballot(store, project_id)
    except RunoffError as error:
        return str(error)
    return ""


def _settings(found: Archived, protocol: str) -> PlanSettings:
    """A plan that describes what was collected, as near as one can."""
    sizes = [len(ballot.items) for ballot in found.ballots]
    appearances = tuple(
        max(1, round(2 * len(ballot.comparisons) / size)) for ballot, size in zip(found.ballots, sizes, strict=True)
    )
    keep = (sizes[-1] / sizes[0]) ** (1 / (len(sizes) - 1)) if len(sizes) > 1 else 0.5
    task_size = max(int(ballot.comparisons["n"].max()) for ballot in found.ballots)
    return PlanSettings(
        n_ballots=len(sizes),
        keep=min(max(keep, 0.01), 0.99),
        appearances=appearances,
        task_size=min(task_size, 50),
        ties_allowed=found.has_ties,
        protocol=protocol,
    )


def _write_tokens(change: Change, found: Archived) -> dict[tuple[str, str], int]:
    area_id, token_id = next_id(change.conn, t.area), next_id(change.conn, t.token)
    areas, tokens, ids = [], [], {}
    for place, (area, texts) in enumerate(found.areas.items()):
        areas.append((area_id + place, change.project_id, area, place))
        for at, text in enumerate(texts):
            ids[area, text] = token_id
            tokens.append((token_id, area_id + place, text, at, "given"))
            token_id += 1
    insert_rows(change.conn, t.area, ["id", "project_id", "name", "position"], areas)
    insert_rows(change.conn, t.token, ["id", "area_id", "text", "position", "origin"], tokens)
    return ids


def _write_items(change: Change, found: Archived, token_ids: dict[tuple[str, str], int]) -> np.ndarray:
    """Only the pairs that were shown are items."""
    query = sa.select(t.area.c.name, t.area.c.id).where(t.area.c.project_id == change.project_id)
    areas = dict(fetch_rows(change.conn, query))
    start = next_id(change.conn, t.item)
    rows = [
        (start + at, change.project_id, areas[area], at, token_ids[area, a], token_ids[area, b])
        for at, area, a, b in found.items.itertuples(index=False, name=None)
    ]
    columns = ["id", "project_id", "area_id", "position", "token_a_id", "token_b_id"]
    insert_rows(change.conn, t.item, columns, rows)
    return start + np.arange(len(rows))


def _write_plan(change: Change, settings: PlanSettings, n_items: int) -> int:
    row = {"project_id": change.project_id, "n_items": n_items, "created_at": now(), **asdict(settings)}
    return insert_one(change.conn, t.plan, **row)


def _write_ballot(
    change: Change, number: int, plan_id: int, settings: PlanSettings, ballot: ArchivedBallot, item_ids: np.ndarray
) -> None:
    conn, frame, items = change.conn, ballot.comparisons, ballot.items
    ballot_id = insert_one(
        conn,
        t.ballot,
        project_id=change.project_id,
        plan_id=plan_id,
        purpose=CAMPAIGN,
        kind=COMPARISON.name,
        ordinal=number,
        code=f"a{number}-{ballot.code}",
        state="open",
        protocol=settings.protocol,
        appearances=max(1, round(2 * len(frame) / len(items))),
        seed=ballot_seed(change.project.seed, settings.seed, number),
        n_items=len(items),
        n_comparisons=len(frame),
        n_tied=0,
        n_tied_kept=0,
        drawn_at=now(),
        progress=asdict(Progress.before_votes(len(frame), len(items))),
    )
    insert_rows(conn, t.ballot_item, ["ballot_id", "item_id"], [(ballot_id, id_) for id_ in item_ids[items].tolist()])
    _write_comparisons(conn, ballot_id, frame, item_ids)
    change.detail = {"ballot": number, "items": len(items), "comparisons": len(frame)}


def _write_comparisons(conn: sa.Connection, ballot_id: int, frame: pd.DataFrame, item_ids: np.ndarray) -> None:
    place, codes = pd.factorize(frame["task"])
    task, question = next_id(conn, t.task), next_id(conn, t.question)
    tasks = [(task + at, ballot_id, at, code) for at, code in enumerate(codes.tolist())]
    insert_rows(conn, t.task, ["id", "ballot_id", "position", "code"], tasks)
    ids = range(question, question + len(frame))
    rows = [(id_, ballot_id, COMPARISON.name, "main", 1) for id_ in ids]
    insert_rows(conn, t.question, ["id", "ballot_id", "kind", "role", "n_wanted"], rows)
    first, second = (item_ids[frame[name].to_numpy()].tolist() for name in ("first", "second"))
    options = [row for id_, one, two in zip(ids, first, second, strict=True) for row in ((id_, 0, one), (id_, 1, two))]
    insert_rows(conn, t.question_option, ["question_id", "position", "item_id"], options)
    shown = (frame[name].tolist() for name in ("n", "flipped", "left_swapped", "right_swapped"))
    n, *ways = shown
    columns = ["task_id", "n", "question_id", "flipped", "left_swapped", "right_swapped"]
    showings = zip((task + place).tolist(), n, ids, *ways, strict=True)
    insert_rows(conn, t.task_question, columns, list(showings))
