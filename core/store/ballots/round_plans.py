"""What a ranking asks: its kind of question, and by which settings its next round is drawn.

A project begins with comparisons, whose plan is `projects.plans`. Another kind is chosen by saving settings for its
rounds: a row of `plan` too, whose protocol is the kind's name, and whose wording holds the settings. The newest row
says the kind until something is drawn; from then on what was drawn says it, and rounds of other kinds stand beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa

from ...errors import PlanError
from ...questions import COMPARISON, QuestionKind, RoundSettings, check_round, kind_of, round_kind, round_kinds
from .. import schema as t
from ..command import command
from ..engine import Store, now
from ..projects.plans import PlanSettings, of_comparisons, ranking_of
from ..tokens.areas import n_items_of
from .ballot_rows import Ballot, ballots_of, pilot_of, rounds_of


@dataclass(frozen=True)
class QuestionKinds:
    """The kinds of question of a ranking.

    kind : its own. kinds : all of which something is drawn, and the one planned last; its own comes first. rounds : in
    the order they were drawn. plans : the settings saved last for rounds of a kind, by its name.
    """

    kind: QuestionKind = COMPARISON
    kinds: tuple[QuestionKind, ...] = (COMPARISON,)
    rounds: tuple[Ballot, ...] = ()
    plans: dict[str, RoundSettings] = field(default_factory=dict)


def asked_of(conn: sa.Connection, project_id: str, area_id: int | None = None) -> QuestionKinds:
    """What a ranking asks.

    Its own kind is that of its ballots or its pilot; without any, that of its first round; while nothing is drawn, that
    of the plan saved last.
    """
    pilot = pilot_of(conn, project_id, area_id)
    rounds = rounds_of(conn, project_id, area_id)
    drawn = [*ballots_of(conn, project_id, area_id), *([pilot] if pilot else []), *rounds]
    plans = _plans(conn, project_id, area_id)
    planned = [kind_of(name) if name in round_kinds() else COMPARISON for name in list(plans)[-1:]]
    kinds = tuple(dict.fromkeys([*(ballot.kind for ballot in drawn), *planned])) or (COMPARISON,)
    settings = {name: found for name, found in plans.items() if found is not None}
    return QuestionKinds(kinds[0], kinds, tuple(rounds), settings)


def _plans(conn: sa.Connection, project_id: str, area_id: int | None) -> dict[str, RoundSettings | None]:
    """The plans saved for a ranking by the name of their kind, the newest last and of each kind the newest; None in
    place of settings for comparisons. A kind that was chosen for the whole project is that of each area's ranking."""
    of = t.plan.c
    of_ranking = of.area_id.is_(None) if area_id is None else sa.or_(of.area_id == area_id, of.area_id.is_(None))
    rows = conn.execute(sa.select(of.protocol, of.wording, of.area_id).where(of.project_id == project_id, of_ranking)
                        .order_by(of.area_id.is_not(None), of.id))  # fmt: skip
    plans: dict[str, RoundSettings | None] = {}
    for row in rows:
        is_round = row.protocol in round_kinds()
        if not is_round and row.area_id != area_id:
            continue
        name = row.protocol if is_round else COMPARISON.name
        plans.pop(name, None)
        plans[name] = RoundSettings.of(row.wording) if is_round else None
    return plans


def save_round_plan(
    store: Store,
    project_id: str,
    settings: RoundSettings,
    *,
    area_ids: Sequence[int | None] = (None,),
    expected_revision: int | None = None,
) -> None:
    """Make these settings those by which the next rounds of their kind are drawn, in each of these rankings.

    While nothing is drawn there, the kind is the ranking's from now on. Groups may still be missing. Raises `PlanError`
    for settings that make no sense.
    """
    kind = round_kind(settings.scheme)
    kind.checked(settings, with_groups=bool(settings.groups))
    with command(store, project_id, "plan round", expected_revision=expected_revision) as change:
        stored = settings.stored()
        # A plan of comparisons has these, and says nothing of rounds by them.
        unused = PlanSettings(seed=settings.seed).stored() | {"protocol": kind.name, "wording": stored}
        for area_id in area_ids:
            ranking_of(change.conn, project_id, area_id)
            n_items = n_items_of(change.conn, project_id, area_id)
            values = {"project_id": project_id, "area_id": area_id, "n_items": n_items, "created_at": now(), **unused}
            change.conn.execute(sa.insert(t.plan).values(values))
        change.detail = {"kind": kind.about.label, "settings": stored}


def check_round_plans(conn: sa.Connection, project_id: str) -> None:
    """Raise `ValueError`, `TypeError` or `KeyError` for settings saved for rounds that make no sense."""
    of = t.plan.c
    query = sa.select(of.protocol, of.wording).where(of.project_id == project_id, sa.not_(of_comparisons()))
    for row in conn.execute(query):
        found = RoundSettings.of(row.wording)
        if found.scheme != row.protocol:
            raise ValueError(f"a plan of the kind {row.protocol!r} has settings of {found.scheme!r}")
        try:
            check_round(found, with_groups=False)
        except PlanError as error:
            raise ValueError(str(error)) from error
