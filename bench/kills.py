"""`python -m bench.kills --kills 200`: Runoff is killed at random moments of its commands, and must stay whole.

A process runs a command on a copy of a small workspace and gets SIGKILL: in turn after a random part of the time that
the command takes, and just before one of its steps (a statement, a commit, a file opened, moved or removed). Then the
workspace is opened again, as at the next start: all its rules must hold (`python -m core check`), its tables must be
those before the command or those after it (times aside; a job must say the same), and where they are those before,
the command must come to its end when it is given once more. A migration is killed at steps spread evenly from its
first to its last; before the next start the tables must be of the schema before with every row as it was, or of the
newest, after it what an upgrade without a kill gives, and each backup must hold every row from before. Exits with 1
where something doesn't hold. With `--database postgresql` the tables are on a server of the bench's own, whose client
is killed.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa

from bench.kill_places import InFolders, OnPostgres, Rows
from bench.kill_scenarios import MIGRATE, ON_POSTGRESQL, RESTORE, SCENARIOS, Given
from core.commands.integrity import check_store
from core.jobs.lifecycle import sweep
from core.store import Store
from core.store import schema as t
from core.store.command import fetch_rows
from core.store.dialects import DATABASE
from core.store.engine import HEAD
from core.store.stored_files import KEEPERS, blobs_of

PATIENCE = 600.0  # seconds that a command may take when nobody kills it, on a machine that does much else
OF_MACHINE = (t.job, t.simulation)  # jobs tell of the process, not of the project
CONTEXT = multiprocessing.get_context("forkserver")


def digest(store: Store) -> str:
    """A hash of all rows but for times and what is drawn at random (ids of projects): equal for equal contents."""
    found = hashlib.sha256()
    with store.read() as conn:
        first = sa.func.min(t.log.c.id)
        order = fetch_rows(conn, sa.select(t.log.c.project_id, first).group_by(t.log.c.project_id).order_by(first))
        for table in t.metadata.sorted_tables:
            if table in OF_MACHINE:
                continue
            # A head hangs on the times of its entries.
            kept = (column for column in table.c if column.name not in ("at", "head"))
            columns = [column for column in kept if not column.name.endswith("_at")]
            rows = [repr(row) for row in fetch_rows(conn, sa.select(*columns))]
            for number, (project_id, _) in enumerate(order):
                rows = [row.replace(project_id, f"project {number}") for row in rows]
            found.update(f"{table.name} {json.dumps(sorted(rows))}\n".encode())
    return found.hexdigest()


class Steps:
    """Counts what a command does to its workspace (statements, commits, files), and kills its process at a step."""

    def __init__(self, folder: str, count: Any, last: int) -> None:
        self._folder, self._count, self._last = folder, count, last
        sa.event.listen(sa.Engine, "before_cursor_execute", self._step)
        sa.event.listen(sa.Engine, "commit", self._step)
        sys.addaudithook(self._on_file)

    def _step(self, *_: Any) -> None:
        self._count.value += 1
        if self._count.value == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def _on_file(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir") and self._folder in str(arguments[0]):
            self._step()


def work(name: str, folder: str, url: str, given: Given, started: Any, done: Any, count: Any, last: int) -> None:
    """A process: do the command once, then wait to be killed, unless it was at the step `last` (0: at none)."""
    os.environ[DATABASE] = url
    Steps(folder, count, last)
    started.set()
    SCENARIOS[name].run(Path(folder), given)
    done.set()
    time.sleep(PATIENCE)


@dataclass
class Prepared:
    """A command with the workspace it starts from, and the digests before and after it."""

    name: str
    folder: Path
    given: Given
    before: str
    after: str
    seconds: float
    version: str | None
    place: InFolders
    rows: Rows = field(default_factory=dict)  # before a migration
    n_steps: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, name: str, room: Path, place: InFolders | None = None) -> Prepared:
        """Prepare a command, and do it to its end for the digest after it and for the time it takes."""
        folder = room / "template"
        place = InFolders() if place is None else place
        place.make(folder)
        with place.at(folder):
            given = SCENARIOS[name].prepare(folder)
        version = place.version(folder)
        prepared = cls(name, folder, given, "", "", 0.0, version, place)
        if prepared.migrates:
            prepared.rows = place.rows(folder)
        else:
            with prepared.copied("before") as copy, place.opened(copy) as store:
                prepared.before = digest(store)
        with prepared.copied("after") as copy:
            prepared.seconds, prepared.n_steps = prepared.finish(copy)
            with place.opened(copy) as store:
                sweep(store)  # a kept workspace has jobs whose processes are gone
                prepared.after = digest(store)
        if prepared.before == prepared.after:
            raise RuntimeError(f"{name} changes nothing.")
        return prepared

    @contextmanager
    def copied(self, name: str) -> Iterator[Path]:
        """A copy of the workspace for a while."""
        copy = self.folder.with_name(name)
        self.place.copy(self.folder, copy)
        try:
            yield copy
        finally:
            self.place.remove(copy)

    def _started(self, folder: Path, last: int = 0) -> tuple[Any, Any, Any]:
        started, done, count = CONTEXT.Event(), CONTEXT.Event(), CONTEXT.Value("i", 0, lock=False)
        arguments = (self.name, str(folder), self.place.url(folder), self.given, started, done, count, last)
        child = CONTEXT.Process(target=work, args=arguments)
        child.start()
        if not started.wait(PATIENCE):
            raise RuntimeError(f"{self.name}: its process doesn't start.")
        return child, done, count

    def finish(self, folder: Path) -> tuple[float, int]:
        """Do the command to its end; the seconds and steps it took."""
        child, done, count = self._started(folder)
        begun = time.perf_counter()
        is_done = done.wait(PATIENCE)
        took = time.perf_counter() - begun
        _kill(child)
        if not is_done:
            raise RuntimeError(f"{self.name} didn't come to its end.")
        return took, count.value

    @property
    def migrates(self) -> bool:
        """Whether the command is the next start, with tables of an earlier schema."""
        return self.name.startswith(MIGRATE)

    def spread(self, n: int) -> list[int]:
        """`n` steps of the command, evenly from the first to the last."""
        return [round(1 + at * (self.n_steps - 1) / max(n - 1, 1)) for at in range(n)]

    def kill_once(self, rng: random.Random, *, at_step: bool) -> str:
        """Kill the command once, at a random moment or at a random step; "before", "after", or what is wrong."""
        return self.kill_at(rng.randint(1, self.n_steps)) if at_step else self._kill_after(rng.uniform(0, 1.3))

    def kill_at(self, step: int) -> str:
        """Kill the command just before a step of it (1, 2, …); "before", "after", or what is wrong."""
        with self.copied("killed") as copy:
            child, done, _ = self._started(copy, step)
            while child.is_alive() and not done.is_set():
                child.join(0.01)
            _kill(child)
            return self._note(self.outcome(copy))

    def _kill_after(self, share: float) -> str:
        """Kill the command after a share of the time that it takes."""
        with self.copied("killed") as copy:
            child, _, _ = self._started(copy)
            time.sleep(share * self.seconds)
            _kill(child)
            return self._note(self.outcome(copy))

    def _note(self, outcome: str) -> str:
        self.outcomes[outcome if outcome in ("before", "after") else "fault"] += 1
        if outcome not in ("before", "after"):
            self.faults.append(f"{self.name}: {outcome}")
        return outcome

    def outcome(self, copy: Path) -> str:
        """What the workspace is at the next start."""
        self.place.settle(copy)
        version = self.place.version(copy)
        if version not in (self.version, HEAD):
            return f"the schema is {version}"
        if self.migrates:
            if version == self.version and self.place.rows(copy) != self.rows:
                return "rows were changed, and the schema wasn't"
            damaged = [name for name, rows in self.place.backups(copy) if rows != self.rows]
            if damaged:
                return f"another content in {', '.join(damaged)}"
        _make_older(copy)
        with self.place.opened(copy) as store:
            sweep(store)
            checked, left = check_store(store), leftovers(store)
            found, failed = digest(store), _failed(store)
        if left:
            return f"{', '.join(left)} left"
        if not checked.is_fine:
            return "; ".join(f"{fault.rule.name} ({fault.found[0]})" for fault in checked.faults)
        if self.migrates:  # opening it has brought it to the newest schema, whatever was there
            return ("after" if version == HEAD else "before") if found == self.after else "another content"
        if found == self.after:
            return "it happened, and its job says that it failed" if failed else "after"
        if found != self.before:
            return "happened in part"
        self.finish(copy)
        with self.place.opened(copy) as store:
            return "before" if digest(store) == self.after and check_store(store).is_fine else "can't be done again"


def _failed(store: Store) -> bool:
    """Whether a job says that it didn't come to its end."""
    with store.read() as conn:
        return conn.execute(sa.select(t.job.c.id).where(t.job.c.state != "done")).first() is not None


def leftovers(store: Store) -> list[str]:
    """Files of the workspace that nothing needs."""
    with store.read() as conn:
        needed = {digest for table in KEEPERS for digest in conn.execute(blobs_of(table)).scalars()}
        needed |= set(conn.execute(sa.select(t.embedding.c.id)).scalars())
    parts = [*store.uploads.iterdir(), *store.embeddings.iterdir()]
    halves = [*store.incoming.iterdir(), *(store.folder / "backups").glob("*.part")]
    return [str(path.relative_to(store.folder)) for path in parts if path.name not in needed] + [
        str(path.relative_to(store.folder)) for path in halves
    ]


def _make_older(folder: Path) -> None:
    """Let the next start be two days later: what is younger could still be somebody's."""
    then = time.time() - 2 * 24 * 3600
    for path in folder.glob("*/**/*"):
        os.utime(path, (then, then))


def _kill(child: Any) -> None:
    child.kill()
    child.join()


@click.command()
@click.option("--kills", default=200, show_default=True, help="In all, spread over the commands.")
@click.option("--seed", default=1, show_default=True, help="Of the moments.")
@click.option("--only", help="One command alone.")
@click.option("--database", type=click.Choice(["sqlite", "postgresql"]), default="sqlite", show_default=True)
def main(kills: int, seed: int, only: str | None, database: str) -> None:
    """Kill, look, count."""
    if database == "sqlite":
        names = [only] if only else list(SCENARIOS)
        faults = kill_all(names, kills, random.Random(seed), InFolders())
    else:
        from tests.postgres_server import postgres_server

        of_both = [name for name in SCENARIOS if name != RESTORE and not name.startswith(MIGRATE)]
        names = [only] if only else [*of_both, ON_POSTGRESQL]
        with postgres_server() as server:
            faults = kill_all(names, kills, random.Random(seed), OnPostgres(server))
    sys.exit(1 if faults else 0)


def kill_all(names: list[str], kills: int, rng: random.Random, place: InFolders) -> list[str]:
    """Kill each command its share of times, and tell of it; returns what was wrong."""
    faults, total = list[str](), Counter[str]()
    CONTEXT.set_forkserver_preload(["bench.kill_scenarios"])
    click.echo(
        "| command | it takes | steps | kills | not happened | happened | broken |\n|---|---|---|---|---|---|---|"
    )
    for number, name in enumerate(names):
        with tempfile.TemporaryDirectory() as room:
            prepared = Prepared.of(name, Path(room), place)
            n = kills // len(names) + (number < kills % len(names))
            for step in prepared.spread(n) if prepared.migrates else ():
                prepared.kill_at(step)
            for turn in range(0 if prepared.migrates else n):
                prepared.kill_once(rng, at_step=turn % 2 == 1)
        counts = [prepared.outcomes[kind] for kind in ("before", "after", "fault")]
        click.echo(
            f"| {name} | {prepared.seconds * 1000:.0f} ms | {prepared.n_steps} | {n} | {' | '.join(map(str, counts))} |"
        )
        total += prepared.outcomes
        faults += prepared.faults
    click.echo(f"| all | | | {total.total()} | {total['before']} | {total['after']} | {total['fault']} |")
    click.echo("\n".join(faults) or "Every workspace was whole, and every command happened wholly or not at all.")
    return faults


if __name__ == "__main__":
    main()
