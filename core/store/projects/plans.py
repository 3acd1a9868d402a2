"""The plan of a project, how it is saved and read, and plans registered before the first vote.

One ranking goes over all areas of a project, or one over each: then plans, ballots and scores belong to an area.
`area_id` is None for the ranking over all areas, here and in every look-up and command that takes it.

Whoever chooses plan, exclusions or n₀ after seeing votes can find what was hoped for. A registration freezes the plan
before ballot 1: it holds what was chosen, with its hash, and tells in the end what was kept of it. Anybody can hash the
file again and compare.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import sqlalchemy as sa

from ...ballots.checks import CheckCount, CheckSettings, check_checks, count_checks, proposed_checks
from ...errors import InputError, PlanError, StoreError
from ...i18n import LANGUAGES
from ...plan import Plan
from ...plan.budgets import appearances_for_cost
from ...plan.campaign_plan import Cost, check_limits, cost
from ...protocols import collectable, protocol_of
from ...protocols.base import AIMS, BOTH, GOALS
from ...protocols.paper import Paper
from ...questions import round_kinds
from ...questions.comparison_page import Wording, check_examples
from .. import schema as t
from ..command import command, project_row
from ..engine import Store, now
from ..schema.ballots import CAMPAIGN, ROUND
from ..tokens.areas import ItemRules, items_of, n_items_of, refuse_after_draw

PILOT = 0  # the number of a pilot; the campaign's ballots have 1, 2, …, and rounds 1, 2, … of their own


@dataclass(frozen=True)
class Ranking:
    """A ranking of its own: of one area (with its id, name and place among the areas), or of all of them."""

    area_id: int | None = None
    area: str = ""
    position: int | None = None


def rankings_of(conn: sa.Connection, project_id: str) -> list[Ranking]:
    """The project's rankings: one over all areas, or one an area in the order of the areas."""
    if project_row(conn, project_id).ranking == "all":
        return [Ranking()]
    query = sa.select(t.area.c.id, t.area.c.name, t.area.c.position).where(t.area.c.project_id == project_id)
    return [Ranking(*row) for row in conn.execute(query.order_by(t.area.c.position))]


def read_rankings(store: Store, project_id: str) -> list[Ranking]:
    """The project's rankings; see `rankings_of`."""
    with store.read() as conn:
        return rankings_of(conn, project_id)


def ranking_of(conn: sa.Connection, project_id: str, area_id: int | None) -> Ranking:
    """The ranking of an area (or of all); `StoreError` if the project has no such one."""
    by_area = {ranking.area_id: ranking for ranking in rankings_of(conn, project_id)}
    if area_id not in by_area:
        raise StoreError(
            "Each area of this project has a ranking of its own: choose one of its areas."
            if area_id is None
            else "This project has no ranking of that area. Choose another area on the page."
        )
    return by_area[area_id]


def belongs(column: sa.ColumnElement[int], area_id: int | None) -> sa.ColumnElement[bool]:
    """Whether a plan or ballot is one of the ranking."""
    return column.is_(None) if area_id is None else column == area_id


def is_comparison() -> sa.ColumnElement[bool]:
    """Whether a row of `ballot` asks comparisons: a ballot of the campaign or a pilot, no round of another kind.

    Whatever speaks of a ranking's ballots asks for this; the look-ups of `ballots` do.
    """
    return t.ballot.c.purpose != ROUND


def in_campaign() -> sa.ColumnElement[bool]:
    """Whether a row of `ballot` is of the campaign: no pilot and no round."""
    return t.ballot.c.purpose == CAMPAIGN


def set_ranking(store: Store, project_id: str, ranking: str, *, expected_revision: int | None = None) -> None:
    """Rank all items together ("all") or each area for itself ("area"); fixed once a ballot is drawn.

    The plans made for the other way are kept, and are there again after a change back.
    """
    if ranking not in ("all", "area"):
        raise StoreError(f"A project has one ranking over all areas or one per area, not {ranking!r}.")
    with command(store, project_id, "set ranking", expected_revision=expected_revision) as change:
        refuse_after_draw(change.conn, project_id, "How areas are ranked")
        change.detail = {"ranking": ranking}
        change.conn.execute(sa.update(t.project).where(t.project.c.id == project_id).values(ranking=ranking))


def ballot_named(
    conn: sa.Connection, project_id: str, area_id: int | None, number: int, purpose: str
) -> dict[str, Any]:
    """How the log names a ballot or a round: by its number, and its area where each has a ranking of its own."""
    area = ranking_of(conn, project_id, area_id).area
    return ({"area": area} if area else {}) | {"round" if purpose == ROUND else "ballot": number}


MAX_TASK_SIZE = 50
DEFAULT = Paper.name  # of plans that say nothing: until 0003 there was no other


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
    aim: str = BOTH  # of `AIMS`; another one is for protocols with appearances of their own

    @property
    def goal(self) -> str:
        """What of `GOALS` the aim is for."""
        return self.aim if self.aim in GOALS else BOTH

    def plan(self, n_items: int) -> Plan:
        """The plan for so many items; `PlanError` if no campaign could follow it."""
        return Plan(n_items, self.n_ballots, self.keep, self.appearances, protocol_of(self.protocol).uncut(self.aim))

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
        """By column, as JSON; without a plan's checks where it has none, and without its aim where that is both."""
        row = asdict(self) | {"wording": self.wording.stored()}
        del row["checks"]
        if self.aim == BOTH:
            del row["aim"]
        return row if self.checks is None else row | {"checks": self.checks.stored()}


def check_settings(settings: PlanSettings) -> PlanSettings:
    """The settings unchanged; `PlanError` naming the first one that makes no sense."""
    limits = {
        "task_size": (1, MAX_TASK_SIZE, "Comparisons per task"),
        "n_voters": (1, 1_000_000, "The number of voters"),
        "seconds_per_comparison": (0.1, 3600, "Seconds per comparison"),
        "reward": (0, 10_000, "The reward"),
        "fee": (0, 10, "The fee"),
        "seed": (0, 2**31 - 1, "The seed"),
    }
    check_limits(settings, limits)
    if settings.protocol not in collectable():
        raise PlanError(f"The protocol is one of {', '.join(collectable())}, found {settings.protocol!r}.")
    if settings.aim not in AIMS:
        raise PlanError(f"The aim is one of {', '.join(AIMS)}, found {settings.aim!r}.")
    if settings.aim != BOTH and not protocol_of(settings.protocol).about.own_appearances:
        raise PlanError(
            "A plan with an aim of its own needs a protocol that spreads appearances by it: choose another."
        )
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


def of_comparisons() -> sa.ColumnElement[bool]:
    """Whether a row of `plan` is of comparisons: one of another kind of question has the kind's name for a protocol,
    and in its wording the settings of its rounds (`ballots.round_plans`)."""
    return t.plan.c.protocol.not_in(list(round_kinds()))


def settings_of(conn: sa.Connection, project_id: str, area_id: int | None = None) -> tuple[int, PlanSettings] | None:
    """The id and settings of a ranking's newest plan of comparisons, or None where none was saved."""
    query = sa.select(t.plan).where(t.plan.c.project_id == project_id, belongs(t.plan.c.area_id, area_id))
    query = query.where(of_comparisons())
    row = conn.execute(query.order_by(t.plan.c.id.desc()).limit(1)).one_or_none()
    return None if row is None else (row.id, _settings(row))


def is_last(conn: sa.Connection, project_id: str, area_id: int | None, number: int) -> bool:
    """Whether the plan has no ballot after this one."""
    planned = settings_of(conn, project_id, area_id)
    return planned is not None and number >= planned[1].n_ballots


def settings_for(conn: sa.Connection, ballot_id: int) -> PlanSettings:
    """The settings a ballot was drawn by; a round has its own (`Ballot.settings`). A pilot keeps its plan, wording and
    ties too, when the plan changes."""
    query = sa.select(t.plan).join(t.ballot, t.ballot.c.plan_id == t.plan.c.id).where(t.ballot.c.id == ballot_id)
    return _settings(conn.execute(query).one())


def _settings(row: sa.Row) -> PlanSettings:
    read = ("appearances", "wording", "checks", "aim")
    values = {f.name: getattr(row, f.name) for f in fields(PlanSettings) if f.name not in read}
    appearances = tuple(row.appearances) if isinstance(row.appearances, list) else row.appearances
    values |= {"appearances": appearances, "wording": Wording.of(row.wording), "checks": CheckSettings.of(row.checks)}
    values["aim"] = row.aim or BOTH
    return PlanSettings(**values)


def read_plan(store: Store, project_id: str, area_id: int | None = None) -> PlanSettings | None:
    """A ranking's plan, or None where none was saved."""
    with store.read() as conn:
        planned = settings_of(conn, project_id, area_id)
    return None if planned is None else planned[1]


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
    asked, aim = protocol_of(settings.protocol), settings.aim
    plan = asked.plan_within(n_items, settings.n_ballots, settings.keep, n_comparisons, aim)
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
    least = replace(settings, appearances=2).plan(n_items).n_comparisons

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


@dataclass(frozen=True)
class Registration:
    """A registered plan: the text, its SHA-256, when it was registered, and what became of each part."""

    sha256: str
    content: str
    at: str
    kept: tuple[RegisteredPart, ...]

    @property
    def is_kept(self) -> bool:
        """Nothing differs from what was registered."""
        return all(part.same for part in self.kept)

    def described(self) -> dict[str, Any]:
        """What a dataset's description says of it."""
        changed = [asdict(part) for part in self.kept if not part.same]
        return {"sha256": self.sha256, "at": self.at, "kept": self.is_kept, "changed": changed}


def register_plan(
    store: Store, project_id: str, *, n0: float = 2.0, exclusions: str = "", expected_revision: int | None = None
) -> str:
    """Freeze plan, seeds, rules and n₀ as they are now, and return the SHA-256 of the text.

    `exclusions` are the owner's rules for leaving out votes or voters, in words. Raises `StoreError` once ballot 1 is
    drawn, or where a ranking has no plan. Registering again keeps the earlier ones too; the newest counts.
    """
    with command(store, project_id, "register plan", expected_revision=expected_revision) as change:
        refuse_after_draw(change.conn, project_id, "The registration", pilot=False)
        parts = _parts(change.conn, project_id, n0, exclusions.strip())
        content = content_of(change.project.name, parts)
        digest = digest_of(content)
        change.detail = {"sha256": digest}
        change.conn.execute(
            sa.insert(t.registration).values(project_id=project_id, sha256=digest, content=content, at=now())
        )
    return digest


def registration_of(conn: sa.Connection, project_id: str, *, n0: float = 2.0) -> Registration | None:
    """The newest registration with what was kept of it, None where there is none. `n0` is the one in use now."""
    query = sa.select(t.registration).where(t.registration.c.project_id == project_id)
    row = conn.execute(query.order_by(t.registration.c.id.desc()).limit(1)).one_or_none()
    if row is None:
        return None
    # Exclusions are words: nobody can say by looking whether they were kept to, so they stand as registered.
    exclusions = _exclusions(row.content)
    kept = registered_parts(row.content, _parts(conn, project_id, n0, exclusions))
    return Registration(row.sha256, row.content, row.at, kept)


def read_registration(store: Store, project_id: str, *, n0: float = 2.0) -> Registration | None:
    """The newest registration; see `registration_of`."""
    with store.read() as conn:
        return registration_of(conn, project_id, n0=n0)


def _exclusions(content: str) -> str:
    return str(json.loads(content)["parts"]["exclusions"])


def _parts(conn: sa.Connection, project_id: str, n0: float, exclusions: str) -> dict[str, Any]:
    project = project_row(conn, project_id)
    plans, wordings = {}, {}
    for ranking in rankings_of(conn, project_id):
        found = settings_of(conn, project_id, ranking.area_id)
        if found is None:
            where = f" for {ranking.area}" if ranking.area else ""
            raise StoreError(f"There is no plan{where} to register. Save one first.")
        plan = replace(found[1], wording=Wording()).stored()
        del plan["wording"]
        plans[ranking.area] = plan
        wordings[ranking.area] = found[1].wording.stored()
    items = items_of(conn, project_id)
    lines = "\n".join("\t".join(row) for row in items[["area", "token_a", "token_b"]].itertuples(index=False))
    return {
        "notion": project.notion,
        "ranking": project.ranking,
        "items": {"number": len(items), "sha256": hashlib.sha256(lines.encode("utf-8")).hexdigest()},
        "item_rules": ItemRules.of(project.item_rules).stored(),
        "plans": plans,
        "wording": wordings,
        "seeds": {"project": project.seed},
        "n0": float(n0),
        "exclusions": exclusions,
    }


FORMAT = "runoff registration 1"
# What is compared later, and what people call it. The date, the project's name and versions may change freely.
PARTS = {
    "notion": "what voters judge",
    "ranking": "one ranking over all areas or one per area",
    "items": "the items",
    "item_rules": "which pairs become items",
    "plans": "the plan",
    "wording": "what voters read",
    "seeds": "the seeds",
    "n0": "n₀",
    "exclusions": "the rules for leaving votes out",
}


@dataclass(frozen=True)
class RegisteredPart:
    """What became of a registered part: `same` or not, and what was registered and found where it differs."""

    part: str
    same: bool
    registered: str = ""
    found: str = ""


def content_of(project: str, parts: Mapping[str, Any]) -> str:
    """The text that is registered: JSON with sorted keys, the same for the same parts.

    Raises `InputError` unless `parts` has exactly the keys of `PARTS`.
    """
    if set(parts) != set(PARTS):
        odd = ", ".join(sorted(set(parts) ^ set(PARTS)))
        raise InputError(f"A registration has a fixed list of parts; missing or unknown: {odd}.")
    whole = {"format": FORMAT, "project": project, "parts": dict(parts)}
    return json.dumps(whole, ensure_ascii=False, sort_keys=True, indent=1, allow_nan=False) + "\n"


def digest_of(content: str) -> str:
    """SHA-256 of a registered text in UTF-8, in hex digits.

    >>> digest_of("")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


def registered_parts(content: str, parts: Mapping[str, Any]) -> tuple[RegisteredPart, ...]:
    """Part by part, whether what was registered is found now. Raises `InputError` for a text of another kind."""
    try:
        whole = json.loads(content)
        registered = whole["parts"]
        format_ = whole["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"This isn't a registration of a plan ({error!r}).") from error
    if format_ != FORMAT or not isinstance(registered, dict):
        raise InputError(f"This registration of a plan has a format that this Runoff doesn't know: {format_!r}.")
    parts_registered = json.loads(content_of("", parts))["parts"]
    result = []
    for name, label in PARTS.items():
        before, after = registered.get(name), parts_registered[name]
        if before == after:
            result.append(RegisteredPart(label, True))
        else:
            result.append(RegisteredPart(label, False, _short(before), _short(after)))
    return tuple(result)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 200 else text[:199] + "…"
