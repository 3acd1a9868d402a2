"""Commands and look-ups for projects; one can be made from a template, for a first campaign in a few clicks."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import sqlalchemy as sa

from ...errors import InputError
from ...questions import COMPARISON, RoundKind, kind_of
from ...tokens.files import AreaTokens
from .. import dialects
from .. import schema as t
from ..ballots.pilots import draw_pilot
from ..ballots.round_plans import save_round_plan
from ..command import command, project_row, write_entry
from ..engine import Store, now
from ..tokens.areas import add_areas, read_items
from .plans import proposed_plan, save_plan

_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"  # without l, o, 0 and 1
MAX_NAME = 100
_NAMES = "names of projects"  # the turn of those who give one


@dataclass(frozen=True)
class Project:
    """A project as pages see it."""

    id: str
    name: str
    kind: str
    notion: str
    seed: int
    revision: int
    created_at: str
    ranking: str = "all"  # or "area": each area has a ranking of its own
    pulse: int = 0  # the vote counter: votes given and taken back on the voting page

    @property
    def cache_key(self) -> int:
        """Goes up with every command and every vote on the voting page: the key of what is computed from both."""
        return self.revision + self.pulse

    @property
    def may_simulate(self) -> bool:
        """Simulated voters may answer its ballots."""
        return self.kind in ("demo", "trial")


_COLUMNS = [t.project.c[name] for name in Project.__annotations__]


def list_projects(store: Store) -> list[Project]:
    """All projects that aren't archived, the oldest first."""
    query = (
        sa.select(*_COLUMNS).where(t.project.c.archived_at.is_(None)).order_by(t.project.c.created_at, t.project.c.id)
    )
    with store.read() as conn:
        return [Project(*row) for row in conn.execute(query)]


def get_project(store: Store, project_id: str) -> Project:
    """One project; `StoreError` if it isn't there."""
    with store.read() as conn:
        row = project_row(conn, project_id)
    return Project(**{column.name: getattr(row, column.name) for column in _COLUMNS})


def new_project_id() -> str:
    """An id for a new project: eight letters and digits that nobody mistakes for others."""
    return "".join(secrets.choice(_LETTERS) for _ in range(8))


def check_name(name: str) -> str:
    """A project's name as stored; `InputError` if it is empty or too long."""
    name = " ".join(name.split())
    if not name:
        raise InputError("The project has no name. Type one, for example the domain it is about.")
    if len(name) > MAX_NAME:
        raise InputError(f"The name has {len(name)} characters; {MAX_NAME} are allowed. Shorten it.")
    return name


def free_name(conn: sa.Connection, name: str, *, but: str | None = None) -> str:
    """The name, or where a listed project other than `but` has it, “… (2)”, “… (3)”: people choose by names.

    Whoever asks has a turn that ends with the transaction, so that the name is free until it is written. PostgreSQL's
    writers of different projects don't wait for each other otherwise; ask last, as others wait.
    """
    dialects.lock(conn, _NAMES)
    listed = sa.select(t.project.c.name).where(t.project.c.archived_at.is_(None), t.project.c.id.is_distinct_from(but))
    names, free, n = set(conn.execute(listed).scalars()), name, 1
    while free in names:
        n += 1
        free = f"{name[: MAX_NAME - len(f' ({n})')].rstrip()} ({n})"
    return free


def named(given: str, wished: str) -> dict[str, str]:
    """How the log tells of a name: as it was given, and what was asked for where a project had that already."""
    return {"name": given} if given == wished else {"name": given, "name asked for": wished}


def list_again(conn: sa.Connection, project_id: str, name: str) -> str:
    """List a project that is put away by this name, or the next that is free; returns the name it has then."""
    given_name = free_name(conn, name, but=project_id)
    conn.execute(sa.update(t.project).where(t.project.c.id == project_id).values(archived_at=None, name=given_name))
    return given_name


def create_project(
    store: Store,
    name: str,
    *,
    kind: str = "real",
    notion: str = "relatedness",
    seed: int | None = None,
    project_id: str | None = None,
    asks: str = COMPARISON.name,
) -> str:
    """Make a project and return its id.

    `kind` is real, trial (simulated voters allowed) or demo; `notion` says what voters judge; `asks` names the kind of
    question, which can be changed until something is drawn. The seed is drawn unless it is given; every draw of the
    project follows from it. Where a listed project has the name already, the new one is called “… (2)”.
    """
    asked = kind_of(asks)
    project_id = project_id or new_project_id()
    seed = secrets.randbelow(2**31) if seed is None else seed
    row = {
        "id": project_id,
        "name": (wished := check_name(name)),
        "kind": kind,
        "notion": notion,
        "seed": seed,
        "revision": 1,
        "created_at": now(),
    }
    with store.write(project_id) as conn:
        row["name"] = given_name = free_name(conn, wished)
        conn.execute(sa.insert(t.project).values(row))
        detail = named(given_name, wished) | {"kind": kind, "seed": seed}
        write_entry(conn, project_id, 1, "create project", detail)
    if isinstance(asked, RoundKind):
        save_round_plan(store, project_id, asked.default_settings(seed=seed))
    return project_id


def change_project(store: Store, project_id: str, *, name: str, notion: str, expected_revision: int) -> str:
    """Rename a project or change what its voters judge; the notion is fixed once ballot 1 is drawn.

    Returns the name it has then: “… (2)” where another listed project has that already.
    """
    from ..tokens.areas import refuse_after_draw

    wished = given_name = check_name(name)
    with command(store, project_id, "change project", expected_revision=expected_revision) as change:
        if notion != change.project.notion:
            refuse_after_draw(change.conn, project_id, "What voters judge")
        if change.project.archived_at is None:
            given_name = free_name(change.conn, wished, but=project_id)
        change.detail = named(given_name, wished) | {"notion": notion}
        update = sa.update(t.project).where(t.project.c.id == project_id)
        change.conn.execute(update.values(name=given_name, notion=notion))
        return given_name


def read_log(store: Store, project_id: str, limit: int = 200) -> list[dict]:
    """The newest log entries: at, who, action, detail, revision."""
    query = sa.select(t.log).where(t.log.c.project_id == project_id).order_by(t.log.c.id.desc()).limit(limit)
    with store.read() as conn:
        return [dict(row._mapping) for row in conn.execute(query)]


# Everyday words, so that anybody can vote on them at once.
TEMPLATE = (
    AreaTokens("Kitchen", ("kettle", "teapot", "saucepan", "ladle", "recipe", "oven", "dough", "pepper", "appetite")),
    AreaTokens(
        "Weather", ("drizzle", "downpour", "umbrella", "thunder", "frost", "icicle", "breeze", "forecast", "sky")
    ),
)
PILOT_COMPARISONS = 50


def create_from_template(
    store: Store,
    name: str,
    *,
    kind: str = "real",
    notion: str = "relatedness",
    seed: int | None = None,
    asks: str = COMPARISON.name,
) -> str:
    """Make a project of two areas with the proposed plan and a drawn pilot of 50 comparisons, and return its id.

    One that asks another kind of question has that kind's usual plan, and nothing is drawn. Everything can be changed
    until ballot 1 is drawn, once the pilot is discarded. Raises as `create_project`.
    """
    project_id = create_project(store, name, kind=kind, notion=notion, seed=seed, asks=asks)
    add_areas(store, project_id, TEMPLATE)
    if isinstance(kind_of(asks), RoundKind):
        return project_id
    project = get_project(store, project_id)
    save_plan(store, project_id, proposed_plan(len(read_items(store, project_id)), project.seed))
    draw_pilot(store, project_id, PILOT_COMPARISONS)
    return project_id


def is_untouched(store: Store, project_id: str) -> bool:
    """Whether nothing came from voters yet: no upload, no voting page, no voter; then making it can be undone."""
    with store.read() as conn:
        gone = sa.select(sa.literal(1)).where(
            sa.or_(
                sa.exists().where(t.voter.c.project_id == project_id),
                sa.exists().where(t.voting_link.c.project_id == project_id),
                sa.exists().where(t.upload.c.ballot_id == t.ballot.c.id, t.ballot.c.project_id == project_id),
            )
        )
        return conn.execute(gone).first() is None
