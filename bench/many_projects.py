"""`python -m bench.many_projects`: pages and commands of a project alone in its workspace, and among twenty.

Each has 100,000 votes: a closed ballot, and one that is collected by files and on the voting page. What the
pages take of a processor is told, and what they ask of the database: on SQLite the steps of its virtual machine, on
PostgreSQL the rows that were read. The latter hardly changes from run to run, so that it has a limit: whatever
reads the rows of other projects has up to twenty times as much to do. Commands are those that make a project, of the
first one and of the last. With `--database postgresql` the tables are on a server of the bench's own.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import sqlalchemy as sa
import streamlit as st

from bench import large_clicks
from bench.scale import PAGES, add_embedding, page_of, run_page
from core.jobs.lifecycle import sweep
from core.platforms.plain import comparison_ids
from core.questions.voting_settings import VotingSettings
from core.store import Store, open_store
from core.store.ballots.ballot_rows import read_comparisons
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.command import insert_done
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas
from core.store.votes.exclusions import exclude_voters
from core.store.votes.intake import accept_upload
from core.store.voting.housekeeping import do_housekeeping
from core.store.voting.owner_commands import open_voting
from core.tokens.files import AreaTokens
from core.voting import api
from tests.postgres_server import PostgresServer, postgres_server

N_AREAS = 10
APPEARANCES = 36  # of an item in a ballot, about
N_VOTERS = 200  # of files
SECOND = 0.5  # of the second ballot's comparisons a file has votes on
N_KEPT, KEPT_BYTES = 10, 100_000  # results of jobs that a project keeps, and how long each is
MOST = 1.2  # as much asked of the database as alone
SLACK = 3_000  # steps or rows, so that what asks for next to nothing isn't judged by its ratio
TICK = 100  # steps


@dataclass(frozen=True)
class Cost:
    """Seconds of a processor, the database's included, and how much was asked of the database."""

    seconds: float
    asked: int


class OnSqlite:
    """Counts the steps of SQLite's virtual machine, in all connections of this process."""

    unit = "steps of SQLite"

    def __init__(self) -> None:
        self._steps = 0

        def tick() -> int:
            self._steps += TICK
            return 0

        sa.event.listen(sa.Engine, "connect", lambda dbapi, _: dbapi.set_progress_handler(tick, TICK))

    def cost(self, store: Store, action: Callable[[], Any]) -> Cost:
        """What an action costs."""
        steps, worked = self._steps, time.process_time()
        action()
        return Cost(time.process_time() - worked, self._steps - steps)


class OnPostgres:
    """Asks the server what its sessions did, once they are closed."""

    unit = "rows read by PostgreSQL"

    def __init__(self, server: PostgresServer, database: str) -> None:
        self._server, self._name = server, database

    def cost(self, store: Store, action: Callable[[], Any]) -> Cost:
        """What an action costs, with the start of its sessions."""
        (rows, server), worked = self._told(store), time.process_time()
        action()
        worked = time.process_time() - worked
        later, after = self._told(store)
        return Cost(worked + after - server, later - rows)

    def _told(self, store: Store) -> tuple[int, float]:
        store.engine.dispose()
        with self._server.admin().connect() as conn:
            theirs = {"name": self._name}
            here = sa.text("SELECT count(*) FROM pg_stat_activity WHERE datname = :name")
            while conn.execute(here, theirs).scalar_one():
                time.sleep(0.01)
            read = sa.text("SELECT tup_returned + tup_fetched FROM pg_stat_database WHERE datname = :name")
            return int(conn.execute(read, theirs).scalar_one()), self._server.seconds_of_ended()


Meter = OnSqlite | OnPostgres


def size_of(votes: int) -> tuple[int, int]:
    """Tokens of an area and appearances of an item, for about so many votes in both ballots.

    >>> size_of(100_000), size_of(2_000)
    ((30, 37), (5, 32))
    """
    per_item = (1 + SECOND * SECOND) / 2  # comparisons that are voted on, for each of its appearances
    n_tokens = max(4, round(0.5 + math.sqrt(2 * votes / (N_AREAS * APPEARANCES * per_item))))
    return n_tokens, round(votes / (N_AREAS * n_tokens * (n_tokens - 1) / 2 * per_item))


@dataclass
class Made:
    """A project of the bench, what its commands cost, and a voter of its page under way."""

    id: str
    costs: dict[str, Cost]
    code: str
    view: Any

    def vote(self) -> None:
        """The voter answers once more."""
        place, form = self.view.place, self.view.form
        at = {"task": place.task, "n": place.n}
        self.view = api.vote(open_store(), self.code, self.view.cookie, form, choice="left", **at)


def make(store: Store, meter: Meter, number: int, size: tuple[int, int]) -> Made:
    """Make a project of this number by its commands, each measured; `size` as by `size_of`."""
    n_tokens, appearances = size
    costs: dict[str, Cost] = {}

    def measured(name: str, action: Callable[[], Any]) -> None:
        costs[name] = meter.cost(store, action)

    project = create_project(store, f"Project {number}", seed=6)
    words = [AreaTokens(f"Area {a}", tuple(f"token {a}-{n}" for n in range(n_tokens))) for a in range(N_AREAS)]
    measured("adding areas", lambda: add_areas(store, project, words))
    plan = PlanSettings(n_ballots=2, keep=0.5, appearances=appearances, seed=7, protocol="paper")
    measured("saving the plan", lambda: save_plan(store, project, plan))
    for ballot, share in ((1, 1.0), (2, SECOND)):
        measured(f"drawing ballot {ballot}", lambda: draw_next_ballot(store, project))
        data = _votes(store, project, ballot, share)
        name = f"a file of {data.count(b'W'):,} votes"
        measured(name, lambda data=data: accept_upload(store, project, data, "votes.csv"))  # type: ignore[misc]
        if ballot == 1:
            measured("closing ballot 1", lambda: close_ballot(store, project))
    with store.read() as conn:
        voter = conn.execute(
            sa.select(sa.func.min(_voters().c.id)).where(_voters().c.project_id == project)
        ).scalar_one()
    measured("leaving a voter out", lambda: exclude_voters(store, project, [voter], "answers at random"))
    settings = VotingSettings(task_size=50, tasks_per_voter=5, examples=False)
    made = Made(project, costs, "", None)

    def opened() -> None:
        made.code = open_voting(store, project, settings)

    measured("opening the voting page", opened)
    view = api.look(store, made.code, "", "visit", api.Visitor())
    made.view = api.begin(store, made.code, "visit", view.form, api.Visitor(), name="Anna")
    measured("a vote on the voting page", made.vote)
    with store.write(project) as conn:
        for n in range(N_KEPT):
            insert_done(conn, project, "figure", {"figure": "of the bench", "n": n}, {"found": "x" * KEPT_BYTES})
    return made


def _voters() -> sa.Table:
    from core.store import schema

    return schema.voter


def _votes(store: Store, project: str, ballot: int, share: float) -> bytes:
    """A table of votes at random on a share of a ballot's comparisons, voters in turn by task."""
    comparisons = read_comparisons(store, project, ballot)
    choices = np.random.default_rng(ballot).choice(["left", "right", "tie"], size=len(comparisons)).tolist()
    voters = (comparisons["task_id"].factorize()[0] % N_VOTERS).tolist()
    n = round(share * len(comparisons))
    rows = zip(comparison_ids(comparisons).tolist()[:n], voters, choices, strict=False)
    return ("comparison_id,voter,choice\n" + "".join(f"{id_},W{who},{said}\n" for id_, who, said in rows)).encode()


def looked_at(store: Store, meter: Meter, project: str) -> dict[str, Cost]:
    """What each page costs at first, with nothing kept by the app, and a run later."""
    st.cache_resource.clear()
    costs = {}
    for when in ("at first", "a run later"):
        for key in PAGES:
            app = page_of(project, key)
            costs[f"{key}, {when}"] = meter.cost(store, lambda app=app: run_page(app))  # type: ignore[misc]
            large_clicks.end_jobs(project)
    return costs


def around(store: Store, meter: Meter) -> dict[str, Cost]:
    """What is done for the workspace as a whole: at the app's start, and by the voters' server now and then."""
    return {
        "the start's look for what a crash left": meter.cost(store, lambda: sweep(store)),
        "housekeeping of the voters' server": meter.cost(store, lambda: do_housekeeping(store, set())),
    }


@contextmanager
def _workspace(database: str) -> Iterator[tuple[Store, Meter]]:
    """A workspace in a folder of its own, and what measures there."""
    with tempfile.TemporaryDirectory() as name:
        os.environ["RUNOFF_WORKSPACE"] = str(Path(name) / "workspace")
        if database == "sqlite":
            meter = OnSqlite()
            yield open_store(), meter
            return
        with postgres_server(in_memory=False) as server:
            of = server.create()
            os.environ["RUNOFF_DATABASE_URL"] = server.url(of).render_as_string()
            store = open_store()
            yield store, OnPostgres(server, of)
            store.engine.dispose()


def table(alone: dict[str, Cost], among: dict[str, Cost], unit: str) -> tuple[list[str], list[str]]:
    """The rows of the table, and what asks for more among others than it may."""
    rows = [
        f"| what | alone | among others | ratio | {unit}, alone | among others | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    grown = []
    for name, one in alone.items():
        other = among[name]
        ratios = [b / a if a else 1.0 for a, b in ((one.seconds, other.seconds), (one.asked, other.asked))]
        is_over = other.asked > MOST * one.asked + SLACK
        cells = [
            f"{one.seconds:.2f} s",
            f"{other.seconds:.2f} s",
            f"{ratios[0]:.2f}",
            f"{one.asked:,}",
            f"{other.asked:,}",
        ]
        rows.append(f"| {name} | {' | '.join(cells)} | {ratios[1]:.2f}{' GROWS' if is_over else ''} |")
        if is_over:
            grown.append(name)
    return rows, grown


@click.command()
@click.option("--projects", default=20, show_default=True)
@click.option("--votes", default=100_000, show_default=True, help="Of each project, about.")
@click.option("--database", type=click.Choice(["sqlite", "postgresql"]), default="sqlite", show_default=True)
def main(projects: int, votes: int, database: str) -> None:
    """Measure the first project, make the others, and measure again."""
    size = size_of(votes)
    with _workspace(database) as (store, meter):
        first = make(store, meter, 1, size)
        for name in ("one", "two"):
            add_embedding(store, first.id, name)
        looked_at(store, meter, first.id)  # imports, and what is worked out once a process
        alone = looked_at(store, meter, first.id) | around(store, meter)
        alone["a vote on the voting page"] = meter.cost(store, first.vote)
        last = first
        for number in range(2, projects + 1):
            last = make(store, meter, number, size)
            click.echo(f"{number} of {projects} projects", err=True)
        among = looked_at(store, meter, first.id) | around(store, meter)
        among["a vote on the voting page"] = meter.cost(store, first.vote)
    grown = []
    for one, other in ((first.costs, last.costs), (alone, among)):
        rows, over = table(one, other, meter.unit)
        click.echo("\n".join(rows) + "\n")
        grown += over
    if grown:
        raise SystemExit(f"More is asked of the database among {projects} projects: {', '.join(grown)}.")


if __name__ == "__main__":
    main()
