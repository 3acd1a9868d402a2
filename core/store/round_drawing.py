"""Commands that draw a round of another scheme, or take a draw back."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ..errors import InputError, Issue, StoreError
from ..metrics import rounded_scores
from ..plan_values import kept
from ..schemes.collected import BEST_WORST, ORDER, RoundSettings, check_round
from ..schemes.round_drawing import DrawnRound, draw_questions
from ..schemes.target_groups import TargetGroup
from . import schema as t
from .areas import items_of
from .ballots import sentence_start
from .command import Change, check_revision, command, insert_one, insert_rows, next_id, project_row
from .engine import Store, now
from .plans import PlanSettings, Wording
from .rankings import Ranking, ballot_named, ranking_of
from .round_scores import fitted_items
from .rounds import Round, round_of, rounds_of
from .tallies import write_progress


def draw_round(
    store: Store,
    project_id: str,
    settings: RoundSettings,
    *,
    area_id: int | None = None,
    after: int | None = None,
    expected_revision: int | None = None,
) -> int:
    """Draw a round of the ranking by these settings, and return its number.

    Ratings and best–worst take all items of the ranking; best–worst `after` a closed round of best–worst takes the
    share `settings.keep` of its items with the highest scores, and near ones meet. Orders ask one question a target
    group; every positive must be an item with its target. The seed follows from the project's, the settings' and the
    number: the same give the same round. Raises `StoreError` while another round of the scheme is open, `InputError`
    for groups that aren't items, `PlanError` for settings that make no sense.
    """
    check_round(settings)
    with store.read() as conn:
        project = project_row(conn, project_id)
        check_revision(project, expected_revision)
        ranking = ranking_of(conn, project_id, area_id)
        rounds = rounds_of(conn, project_id, area_id)
        waiting = [found for found in rounds if found.is_open and found.scheme == settings.scheme]
        if waiting:
            raise StoreError(f"{waiting[0].title}, is still open. Close it before the next one is drawn.")
        number = max((found.number for found in rounds), default=0) + 1
        items = items_of(conn, project_id, area_id=area_id)
        groups = groups_as_items(settings.groups, items) if settings.scheme == ORDER else []
        entry = (
            None if after is None else _leading(conn, project_id, round_of(conn, project_id, after, area_id), settings)
        )
    seed = round_seed(project.seed, settings.seed, number, ranking.position)
    rng = np.random.default_rng([seed, 11])
    positions = items["item"].to_numpy() if entry is None else entry.index.to_numpy()
    scores = None if entry is None else entry["theta"].to_numpy()
    drawn = draw_questions(positions, settings, rng=rng, groups=groups, scores=scores)
    with command(store, project_id, "draw round", expected_revision=project.revision) as change:
        _insert(change, ranking, number, seed, settings, drawn, items, entry)
    return number


def round_seed(project_seed: int, own_seed: int, number: int, place: int | None = None) -> int:
    """The seed of a round: it follows from the project's, the settings', its number, and the place of its area."""
    parts = [project_seed, own_seed, number, 7] + ([] if place is None else [place + 1])
    return int(np.random.SeedSequence(parts).generate_state(1)[0] >> 1)


def groups_as_items(groups: Sequence[TargetGroup], items: pd.DataFrame) -> list[list[int]]:
    """The item position of each positive of each group, in the order of the group.

    Where several areas have the target with all its positives, the first of them. Raises `InputError` naming each
    group with a positive that is no item with its target.
    """
    at: dict[str, dict[frozenset[str], int]] = {}
    for area, item, a, b in items[["area", "item", "token_a", "token_b"]].itertuples(index=False, name=None):
        at.setdefault(area, {})[frozenset((a, b))] = item
    found, issues = [], []
    for row, group in enumerate(groups, 1):
        pairs = [frozenset((group.target, word)) for word in group.positives]
        here = next((pairs_of for pairs_of in at.values() if all(pair in pairs_of for pair in pairs)), None)
        if here is None:
            missing = [
                w for w, pair in zip(group.positives, pairs, strict=True) if not any(pair in x for x in at.values())
            ]
            told = f"no item with the target: {', '.join(missing)}" if missing else "its positives are of several areas"
            issues.append(Issue(told, row=row, found=group.target))
        else:
            found.append([here[pair] for pair in pairs])
    if issues:
        raise InputError(
            "Some groups have positives that aren't items of the project with their target. Take positives from the "
            "area of the target.", issues,
        )  # fmt: skip
    return found


def _leading(conn: sa.Connection, project_id: str, before: Round, settings: RoundSettings) -> pd.DataFrame:
    """Score and θ of the items that go on after a round, by position; ties at the cut are broken by position."""
    if before.scheme != BEST_WORST or settings.scheme != BEST_WORST:
        raise StoreError("Only best–worst goes on with the leading items of a round.")
    if before.is_open:
        raise StoreError(f"{before.title}, is still open. Close it first: its scores say which items go on.")
    fitted = fitted_items(conn, before.id)
    size = kept(before.ballot.n_items, settings.keep)
    if size < settings.size:
        raise StoreError(f"{size} items would go on, and a tuple needs {settings.size}. Keep a larger share.")
    leading = np.argsort(-rounded_scores(fitted["score"]), kind="stable")[:size]
    return fitted.iloc[leading].sort_index()


def _plan_row(change: Change, ranking: Ranking, settings: RoundSettings, n_items: int) -> int:
    """The row of `plan` that a round has as every ballot does: what money and wording are read from."""
    row = PlanSettings(
        n_ballots=1,
        keep=settings.keep,
        appearances=settings.wanted_of_item,
        task_size=settings.task_size,
        ties_allowed=False,
        n_voters=max(settings.raters, 20),
        seconds_per_comparison=settings.seconds,
        reward=settings.reward,
        fee=settings.fee,
        seed=settings.seed,
        wording=Wording(settings.question, settings.instructions, language=settings.language),
        protocol=settings.scheme,
    ).stored()
    about = {"project_id": change.project_id, "area_id": ranking.area_id, "n_items": n_items, "created_at": now()}
    return insert_one(change.conn, t.plan, **about, **row)


def _insert(
    change: Change,
    ranking: Ranking,
    number: int,
    seed: int,
    settings: RoundSettings,
    drawn: DrawnRound,
    items: pd.DataFrame,
    entry: pd.DataFrame | None,
) -> None:
    """Write a drawn round with its items, tasks and questions, and say so in the log."""
    conn, positions, n = change.conn, drawn.items, len(drawn.options)
    code = round_code(change.project_id, number, seed, drawn)
    ids = dict(zip(items["item"].tolist(), items.index.tolist(), strict=True))
    ballot_id = insert_one(
        conn,
        t.ballot,
        project_id=change.project_id,
        plan_id=_plan_row(change, ranking, settings, len(positions)),
        area_id=ranking.area_id,
        number=-number,
        code=code,
        state="open",
        protocol=settings.scheme,
        appearances=settings.wanted_of_item,
        seed=seed,
        n_items=len(positions),
        n_comparisons=n,
        drawn_at=now(),
        scheme=settings.scheme,
        settings=settings.stored(),
    )
    score_of = {} if entry is None else dict(zip(entry.index.tolist(), entry["score"].tolist(), strict=True))
    entries = [(ballot_id, ids[p], score_of.get(p)) for p in positions.tolist()]
    insert_rows(conn, t.ballot_item, ["ballot_id", "item_id", "entry_score"], entries)
    n_tasks = int(drawn.task.max()) + 1
    first_task, first_question = next_id(conn, t.task), next_id(conn, t.question)
    tasks = [(first_task + at, ballot_id, at, f"{code}-{at + 1:05d}") for at in range(n_tasks)]
    insert_rows(conn, t.task, ["id", "ballot_id", "position", "code"], tasks)
    questions = [(first_question + at, ballot_id, settings.scheme, "main", settings.raters) for at in range(n)]
    insert_rows(conn, t.question, ["id", "ballot_id", "kind", "role", "n_wanted"], questions)
    options = [
        (first_question + at, place, ids[item])
        for at, shown in enumerate(drawn.options)
        for place, item in enumerate(shown)
    ]
    insert_rows(conn, t.question_option, ["question_id", "position", "item_id"], options)
    showings = [
        (first_task + task, place + 1, first_question + at, False, swapped, False)
        for at, (task, place, swapped) in enumerate(
            zip(drawn.task.tolist(), drawn.place.tolist(), drawn.swapped.tolist(), strict=True)
        )
    ]
    columns = ["task_id", "n", "question_id", "flipped", "left_swapped", "right_swapped"]
    insert_rows(conn, t.task_question, columns, showings)
    write_progress(conn, ballot_id)
    told = {"scheme": settings.scheme, "items": len(positions), "questions": n, "tasks": n_tasks, "seed": seed}
    change.detail = ballot_named(conn, change.project_id, ranking.area_id, -number) | told


def round_code(project_id: str, number: int, seed: int, drawn: DrawnRound) -> str:
    """The start of the round's task ids: the same for the same draw, another one for any other draw."""
    digest = hashlib.sha256(f"{project_id}/round {number}/{seed}".encode())
    digest.update(repr((drawn.options, drawn.swapped.tolist(), drawn.task.tolist(), drawn.place.tolist())).encode())
    return f"r{number}-{digest.hexdigest()[:8]}"


def discard_round(
    store: Store, project_id: str, number: int, *, area_id: int | None = None, expected_revision: int | None = None
) -> None:
    """Take back a round while it is open and has no answers at all."""
    with command(store, project_id, "discard round", expected_revision=expected_revision) as change:
        found = round_of(change.conn, project_id, number, area_id)
        if not found.is_open:
            raise StoreError(f"{sentence_start(found.ballot.called)} is closed, so it stays.")
        answered = sa.select(t.assignment.c.id).where(t.assignment.c.ballot_id == found.id).limit(1)
        if change.conn.execute(answered).first() is not None:
            raise StoreError(f"{sentence_start(found.ballot.called)} has answers, so it stays.")
        plan_id = sa.select(t.ballot.c.plan_id).where(t.ballot.c.id == found.id).scalar_subquery()
        plan = change.conn.execute(sa.select(plan_id)).scalar_one()
        change.detail = ballot_named(change.conn, project_id, area_id, -number) | {"scheme": found.scheme}
        change.conn.execute(sa.delete(t.ballot).where(t.ballot.c.id == found.id))
        change.conn.execute(sa.delete(t.plan).where(t.plan.c.id == plan))


def next_settings(found: Round) -> RoundSettings:
    """Settings for the round that follows one: as it was, with another seed."""
    return replace(found.settings, seed=(found.settings.seed + 1) % 2**31)
