"""The plan of a project: how it is saved and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import sqlalchemy as sa

from ...ballots.checks import CheckCount, CheckSettings, check_checks, count_checks, proposed_checks
from ...errors import PlanError
from ...i18n import LANGUAGES, STANDARD
from ...plan import Plan
from ...plan.budgets import appearances_for_cost
from ...plan.plan import Cost, cost
from ...plan.values import check_limits
from ...protocols import collectable, protocol_of
from ...protocols.paper import Paper
from ...questions.examples import Example, check_examples
from .. import schema as t
from ..command import command
from ..engine import Store, now
from ..tokens.areas import n_items_of, refuse_after_draw
from .rankings import belongs, ranking_of

MAX_TASK_SIZE = 50
DEFAULT = Paper.name  # of plans that say nothing: until 0003 there was no other


@dataclass(frozen=True)
class Wording:
    """What voters read. An empty question or instruction means the standard text of the project's notion, in `language`
    (a code of `LANGUAGES`), as all other standard texts are.
    """

    question: str = ""
    instructions: str = ""
    examples: tuple[Example, ...] = ()
    language: str = STANDARD

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Wording:
        """A wording as JSON keeps it; what an older version didn't know has its default. TypeError or ValueError for
        others."""
        texts = {name: value for name, value in stored.items() if name != "examples"}
        if texts.get("language", STANDARD) not in LANGUAGES:
            raise ValueError(f"There is no language {texts['language']!r}.")
        return cls(**texts, examples=tuple(Example.of(example) for example in stored.get("examples", ())))

    def stored(self) -> dict[str, Any]:
        """For JSON; as it always was where voters read English, so that what was registered stays the same."""
        row = asdict(self)
        if self.language == STANDARD:
            del row["language"]
        return row


@dataclass(frozen=True)
class PlanSettings:
    """Everything the plan page asks for; the defaults are those of a new project.

    `keep` is α, `appearances` is M (one number, or one per ballot); `reward` is paid a task, `fee` is the
    platform's share of it; `seconds_per_comparison` is t̄ of Eq. 10.
    """

    n_ballots: int = 5
    keep: float = 0.5
    appearances: int | tuple[int, ...] = 22
    task_size: int = 10
    ties_allowed: bool = True
    n_voters: int = 50
    seconds_per_comparison: float = 6.0
    reward: float = 0.25
    fee: float = 0.2
    seed: int = 0
    wording: Wording = field(default_factory=Wording)
    protocol: str = DEFAULT  # see `core/protocols`
    checks: CheckSettings | None = None

    def plan(self, n_items: int) -> Plan:
        """The plan for so many items; `PlanError` if no campaign could follow it."""
        return Plan(n_items, self.n_ballots, self.keep, self.appearances)

    def cost(self, plan: Plan) -> Cost:
        """What the whole campaign costs in hours and money, checks counted (Eq. 10)."""
        return cost(
            plan,
            seconds_per_comparison=self.seconds_per_comparison,
            comparisons_per_task=self.task_size,
            reward=self.reward,
            fee=self.fee,
            check_votes=sum(count.total for count in self.check_counts(plan)),
        )

    def check_counts(self, plan: Plan) -> tuple[CheckCount, ...]:
        """The check votes of each ballot; none without checks."""
        return count_checks(plan, self.checks, task_size=self.task_size, n_voters=self.n_voters)

    def stored(self) -> dict[str, Any]:
        """By column, as JSON; without a plan's checks where it has none."""
        row = asdict(self) | {"wording": self.wording.stored()}
        del row["checks"]
        return row if self.checks is None else row | {"checks": self.checks.stored()}


def check_settings(settings: PlanSettings) -> PlanSettings:
    """The settings unchanged; `PlanError` naming the first one that makes no sense."""
    limits = {
        "task_size": (1, MAX_TASK_SIZE, "Comparisons a task"),
        "n_voters": (1, 1_000_000, "The number of voters"),
        "seconds_per_comparison": (0.1, 3600, "Seconds a comparison"),
        "reward": (0, 10_000, "The reward"),
        "fee": (0, 10, "The fee"),
        "seed": (0, 2**31 - 1, "The seed"),
    }
    check_limits(settings, limits)
    if settings.protocol not in collectable():
        raise PlanError(f"The protocol is one of {', '.join(collectable())}, found {settings.protocol!r}.")
    if settings.checks is not None:
        check_checks(settings.checks)
    if settings.wording.language not in LANGUAGES:
        raise PlanError(f"Voters read one of {', '.join(LANGUAGES)}, found {settings.wording.language!r}.")
    check_examples(settings.wording.examples, ties_allowed=settings.ties_allowed)
    return settings


def save_plan(
    store: Store,
    project_id: str,
    settings: PlanSettings,
    *,
    area_ids: Sequence[int | None] = (None,),
    expected_revision: int | None = None,
) -> None:
    """Make these settings the plan of the project, or of each of the areas that have rankings of their own.

    Raises `StoreError` once ballot 1 is drawn (nothing is saved then), `PlanError` if no campaign could follow it.
    """
    check_settings(settings)
    with command(store, project_id, "save plan", expected_revision=expected_revision) as change:
        row = settings.stored()
        saved = {}
        for area_id in area_ids:
            ranking = ranking_of(change.conn, project_id, area_id)
            refuse_after_draw(change.conn, project_id, "The plan", ranking.area_id, pilot=False)
            n_items = n_items_of(change.conn, project_id, area_id)
            try:
                sizes = settings.plan(n_items).sizes
            except PlanError as error:
                raise PlanError(f"{ranking.area}: {error}" if ranking.area else str(error)) from error
            values = {"project_id": project_id, "area_id": area_id, "n_items": n_items, "created_at": now(), **row}
            change.conn.execute(sa.insert(t.plan).values(values))
            saved[ranking.area] = {"n_items": n_items, "sizes": list(sizes)}
        change.detail = row | saved.get("", {"areas": saved})


def settings_of(conn: sa.Connection, project_id: str, area_id: int | None = None) -> tuple[int, PlanSettings] | None:
    """The id and settings of a ranking's newest plan, or None where none was saved."""
    query = sa.select(t.plan).where(t.plan.c.project_id == project_id, belongs(t.plan.c.area_id, area_id))
    row = conn.execute(query.order_by(t.plan.c.id.desc()).limit(1)).one_or_none()
    return None if row is None else (row.id, _settings(row))


def is_last(conn: sa.Connection, project_id: str, area_id: int | None, number: int) -> bool:
    """Whether the plan has no ballot after this one."""
    found = settings_of(conn, project_id, area_id)
    return found is not None and number >= found[1].n_ballots


def settings_for(conn: sa.Connection, ballot_id: int) -> PlanSettings:
    """The settings a ballot was drawn by; a round has its own (`Ballot.settings`). A pilot keeps its plan, wording and
    ties too, when the plan changes."""
    query = sa.select(t.plan).join(t.ballot, t.ballot.c.plan_id == t.plan.c.id).where(t.ballot.c.id == ballot_id)
    return _settings(conn.execute(query).one())


def _settings(row: sa.Row) -> PlanSettings:
    read = ("appearances", "wording", "checks")
    values = {f.name: getattr(row, f.name) for f in fields(PlanSettings) if f.name not in read}
    appearances = tuple(row.appearances) if isinstance(row.appearances, list) else row.appearances
    values |= {"appearances": appearances, "wording": Wording.of(row.wording), "checks": CheckSettings.of(row.checks)}
    return PlanSettings(**values)


def read_plan(store: Store, project_id: str, area_id: int | None = None) -> PlanSettings | None:
    """A ranking's plan, or None where none was saved."""
    with store.read() as conn:
        found = settings_of(conn, project_id, area_id)
    return None if found is None else found[1]


def proposed_plan(n_items: int, seed: int) -> PlanSettings:
    """A first plan for so many items: the protocol "runoff" with the votes of five halvings at M = 22.

    Five halvings with M = 22 keep to all the advice of §2.7. Few items get fewer ballots, so that two at least are left
    for the last one. Checks are those of `proposed_checks`.
    """
    n_ballots = next((n for n in (5, 4, 3, 2) if n_items * 0.5 ** (n - 1) >= 2), 1)
    settings = replace(PlanSettings(), n_ballots=n_ballots, seed=seed % 2**31, protocol=next(iter(collectable())))
    settings = replace(settings, checks=proposed_checks(settings.plan(n_items)))
    return with_budget(settings, n_items, settings.plan(n_items).n_comparisons)


def with_budget(settings: PlanSettings, n_items: int, n_comparisons: int) -> PlanSettings:
    """The settings with the appearances that spend so many comparisons as their protocol likes them.

    Raises `PlanError` where the budget is too small.
    """
    plan = protocol_of(settings.protocol).plan_within(n_items, settings.n_ballots, settings.keep, n_comparisons)
    return replace(settings, appearances=plan.appearances)


def within_cost(
    settings: PlanSettings, n_items: int, *, total: float | None = None, hours: float | None = None
) -> PlanSettings:
    """The settings with the most appearances whose cost is within `total` (money) or `hours` (voters' time).

    Raises `PlanError` where even two appearances per item cost more, or where nothing bounds the votes.
    """
    terms = {
        "seconds_per_comparison": settings.seconds_per_comparison,
        "comparisons_per_task": settings.task_size,
        "reward": settings.reward,
        "fee": settings.fee,
    }
    # The same M in every ballot bounds the votes from below, and says in words where nothing fits.
    most = appearances_for_cost(n_items, settings.n_ballots, settings.keep, total=total, hours=hours, **terms)
    if not protocol_of(settings.protocol).about.own_appearances and settings.checks is None:
        return replace(settings, appearances=most)
    least = Plan(n_items, settings.n_ballots, settings.keep, 2).n_comparisons

    def fits(n_comparisons: int) -> bool:
        price = settings.cost(with_budget(settings, n_items, n_comparisons).plan(n_items))
        return (total is None or price.total <= total) and (hours is None or price.hours <= hours)

    if not fits(least):
        raise PlanError("Even two appearances per item cost more once the checks are counted. Take fewer checks.")
    low, high = least, least * (most // 2 + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return with_budget(settings, n_items, low)
