"""`python -m bench.owners --minutes 10`: two owners press everything at once, and no edit is lost without being told.

Each owner is a process. It looks at a project, as a page does, and then gives one of all commands with the revision it
saw, at random; now and then it runs a page and presses one of its buttons, and a voter votes. Both work on the same
project most of the time. After each step all rules of a workspace must hold (`python -m core check`). A command is
either carried out, or refused with a sentence: no error of the program, no deadlock, no locked database. At the end
the log is read. What was carried out against a revision must be its very next entry, so that nothing came between the
look and the deed; everything else that was carried out is an entry, once. And what the entries set one after the other
must be what the tables hold. Exits with 1 where something of this doesn't hold.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa

from bench.owner_commands import COMMANDS, PAGES, UNKNOWN, Press, begin, look, standing
from core.commands.integrity import check_store
from core.errors import BusyError, RunoffError, StaleError
from core.store import Store, open_store
from core.store import schema as t
from core.store.dialects import DATABASE
from core.store.projects.project_commands import list_projects

CONTEXT = multiprocessing.get_context("forkserver")
ELSEWHERE = 0.15  # how often an owner works on another project than the oldest
OF_DATABASE = re.compile(r"lock|Traceback|sqlite|psycopg", re.IGNORECASE)  # no word for an owner
PATIENCE = 300.0  # seconds after the end that an owner's last step may take


@dataclass
class Step:
    """A line of an owner's journal: what was pressed where, and what came of it."""

    owner: int
    project: str
    name: str
    outcome: str  # done, stale, refused, or fault
    said: str = ""
    revision: int = 0  # that the owner saw
    checked: bool = False  # against it
    action: str = ""  # of its entry in the log; "" where it has none
    tag: str = ""  # that the entry's detail holds
    sets: dict[str, Any] = field(default_factory=dict)


class Owner:
    """One of them: its dice, and its journal."""

    def __init__(self, store: Store, number: int, seed: int, journal: Path, *, pages: float) -> None:
        self.store, self.number, self.pages = store, number, pages
        self.rng = random.Random(f"{seed}-{number}")
        self._journal = journal

    def step(self) -> None:
        """Look, press, check, and write it down."""
        projects = list_projects(self.store)
        if not projects:
            begin(self.store, f"Main of {self.number}", self.rng.randrange(1000))
            return
        place = self.rng.randrange(len(projects)) if self.rng.random() < ELSEWHERE else 0
        project = projects[place].id
        if self.rng.random() < self.pages:
            self._write(self._page(project))
        else:
            self._write(self._command(project))
        broken = check_store(self.store).faults
        for fault in broken:
            self._write(Step(self.number, project, "check", "fault", f"{fault.rule.name}: {fault.found[0]}"))

    def _command(self, project: str) -> Step:
        """Look at a project and give a command that fits what was seen."""
        name = "look"
        try:
            seen = look(self.store, project)
            possible = [command for command in COMMANDS if command.fits(seen)]
            command = self.rng.choices(possible, [command.weight for command in possible])[0]
            name = command.name
            press = command.press(seen, self.rng, f"{self.number}-{self.rng.randrange(10**9)}")
        except RunoffError as error:  # the project went in the meantime
            return self._refused(Step(self.number, project, name, "refused", str(error)), error)
        except Exception:  # noqa: BLE001 - any is what is looked for
            return Step(self.number, project, name, "fault", traceback.format_exc())
        step = Step(
            self.number, project, name, "done", revision=seen.project.revision, checked=press.checked,
            action=press.action, tag=press.tag, sets=press.sets,
        )  # fmt: skip
        return self._carried_out(step, press)

    def _carried_out(self, step: Step, press: Press) -> Step:
        try:
            step.sets = {**step.sets, **(press.run(self.store) or {})}
        except RunoffError as error:
            return self._refused(step, error)
        except Exception:  # noqa: BLE001
            step.outcome, step.said = "fault", traceback.format_exc()
        return step

    def _refused(self, step: Step, error: RunoffError) -> Step:
        step.outcome, step.said = "stale" if isinstance(error, StaleError) else "refused", str(error)
        if isinstance(error, BusyError) or OF_DATABASE.search(step.said) or not step.said.rstrip().endswith((".", "?")):
            step.outcome = "fault"
        return step

    def _page(self, project: str) -> Step:
        """Run a page, and press one of its buttons; the jobs it begins are only written down."""
        from bench import large_clicks
        from bench.scale import page_of

        key = self.rng.choice(PAGES)
        step = Step(self.number, project, f"page {key}", "done")
        try:
            with large_clicks.only_written_down():
                app = page_of(project, key)
                app.run()
                buttons = [one for one in app.button if not one.disabled and not NOT_HERE.search(one.label)]
                if buttons and not app.exception and self.rng.random() < 0.7:
                    button = self.rng.choice(buttons)
                    step.name += f": {button.label}"
                    button.click().run()
            if app.exception:
                step.outcome, step.said = "fault", "\n".join([app.exception[0].value, *app.exception[0].stack_trace])
            large_clicks.end_jobs(project)
        except RunoffError as error:
            return self._refused(step, error)
        except Exception:  # noqa: BLE001
            step.outcome, step.said = "fault", traceback.format_exc()
        return step

    def _write(self, step: Step) -> None:
        with self._journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps(vars(step)) + "\n")


# Buttons that reach out of the workspace, or begin processes that outlive the walk.
NOT_HERE = re.compile(r"Turkle|rehears|[Ss]erve|demo|Show me|Stop|Cancel|Read folder|Import|Encode", re.IGNORECASE)


def walk(folder: str, url: str, number: int, seed: int, until: float, n_steps: int, pages: float, ready: Any) -> None:
    """A process: an owner who presses until a time (of the clock) or for so many steps, whichever is first."""
    os.environ[DATABASE], os.environ["RUNOFF_WORKSPACE"] = url, folder
    store = open_store()
    owner = Owner(store, number, seed, Path(folder) / f"owner-{number}.jsonl", pages=pages)
    ready.wait(PATIENCE)
    for _ in range(n_steps):
        if time.time() > until:
            break
        owner.step()
    store.engine.dispose()


def two_owners(store: Store, *, seed: int, seconds: float, n_steps: int = 10**9, pages: float = 0.0) -> Counter[str]:
    """Let two owners press; how often what came of it, and under "fault: …" what doesn't hold."""
    begin(store, "Main", seed)
    begin(store, "Another", seed + 1)
    CONTEXT.set_forkserver_preload(["bench.owner_commands"])
    ready = CONTEXT.Barrier(2)
    url, until = store.environment[DATABASE], time.time() + seconds
    args = [(str(store.folder), url, number, seed, until, n_steps, pages, ready) for number in (1, 2)]
    owners = [CONTEXT.Process(target=walk, args=one) for one in args]
    for owner in owners:
        owner.start()
    found: Counter[str] = Counter()
    for number, owner in enumerate(owners, 1):
        owner.join(seconds + PATIENCE)
        if owner.is_alive():
            owner.kill()
            owner.join()
            found[f"fault: owner {number} stands still"] += 1
        elif owner.exitcode:
            found[f"fault: owner {number} ended with {owner.exitcode}"] += 1
    steps = journal(store.folder)
    for step in steps:
        found[step.outcome] += 1
        name = "a page, and a button of it" if step.name.startswith("page ") else step.name
        found[f"{name}: {step.outcome}"] += 1
        if step.outcome == "fault":
            found[f"fault: {step.name}: {step.said}"] += 1
    for said in lost(store, steps):
        found[f"fault: {said}"] += 1
    return found


def journal(folder: Path) -> list[Step]:
    """What both owners did."""
    paths = sorted(folder.glob("owner-*.jsonl"))
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [Step(**json.loads(line)) for line in lines]


def lost(store: Store, steps: list[Step]) -> Iterator[str]:
    """Edits that were carried out and are no entry of the log, or that the tables don't hold."""
    with store.read() as conn:
        there = list(conn.execute(sa.select(t.project.c.id)).scalars())
        for project in there:
            done = [step for step in steps if step.project == project and step.outcome == "done" and step.action]
            query = sa.select(t.log).where(t.log.c.project_id == project).order_by(t.log.c.id)
            entries = [row._asdict() for row in conn.execute(query)]
            yield from _lost_of(entries, done, standing(conn, project))


def _lost_of(entries: list[dict[str, Any]], done: list[Step], holds: dict[str, Any]) -> Iterator[str]:
    of_entry: dict[int, Step] = {}
    for step in sorted(done, key=lambda step: not step.checked):
        after = [e for e in entries if e["action"] == step.action and e["id"] not in of_entry and _fits(e, step)]
        if not after:
            yield f"{step.name} of owner {step.owner} at revision {step.revision} was carried out and is no entry"
        else:
            of_entry[after[0]["id"]] = step
    set_last: dict[str, tuple[Any, Step]] = {}
    for entry in entries:
        step_of = of_entry.get(entry["id"])
        if step_of is None:  # of a page, or from before
            set_last = {key: kept for key, kept in set_last.items() if not _touches(entry["action"], kept[1])}
            continue
        set_last |= {key: (value, step_of) for key, value in step_of.sets.items()}
    for key, (value, step) in set_last.items():
        held = json.loads(json.dumps(holds.get(key)))
        if held != value and value != UNKNOWN:
            yield f"{step.name} of owner {step.owner} set {key} to {value!r}, which is {held!r} now"


def _fits(entry: dict[str, Any], step: Step) -> bool:
    if step.checked:
        return bool(entry["revision"] == step.revision + 1)
    return bool(entry["revision"] > step.revision) and step.tag in json.dumps(entry["detail"], ensure_ascii=False)


# Actions that set the same things.
_ALIKE = (
    {"exclude voters", "readmit voters"},
    {"archive project", "restore project"},
    {"accept upload", "withdraw upload"},
    {"map columns", "forget columns"},
    {"switch server on", "switch server off"},
    {"open voting", "discard ballot", "draw ballot", "close ballot", "reopen ballot"},
    {"add embedding", "remove embedding", "import embedding", "set look-up", "set subwords", "apply remedy"}
    | {"take remedy back"},
    {"add areas", "change area", "change areas", "add near tokens", "delete area", "bring area back"}
    | {"correct spelling"},
)


def _touches(action: str, step: Step) -> bool:
    """Whether an entry that no step wrote may have set what the step set."""
    return action == step.action or any({action, step.action} <= alike for alike in _ALIKE)


@contextmanager
def workspace(database: str) -> Iterator[Store]:
    """A new workspace on a database, for a while."""
    with tempfile.TemporaryDirectory() as name:
        os.environ["RUNOFF_WORKSPACE"] = str(Path(name) / "workspace")
        if database == "sqlite":
            yield open_store()
            return
        from tests.postgres_server import SAFE, postgres_server

        with postgres_server(SAFE, in_memory=False) as server:
            os.environ[DATABASE] = server.url(server.create()).render_as_string()
            store = open_store()
            yield store
            store.engine.dispose()


@click.command()
@click.option("--minutes", default=10.0, show_default=True)
@click.option("--seed", default=1, show_default=True, help="Of both owners' dice.")
@click.option("--pages", default=0.1, show_default=True, help="How often a page is run and pressed.")
@click.option("--database", type=click.Choice(["sqlite", "postgresql"]), default="sqlite", show_default=True)
def main(minutes: float, seed: int, pages: float, database: str) -> None:
    """Let two owners press, and tell what came of it."""
    with workspace(database) as store:
        found = two_owners(store, seed=seed, seconds=60 * minutes, pages=pages)
        checked = check_store(store)
    names = sorted({name.rpartition(": ")[0] for name in found if ": " in name and not name.startswith("fault: ")})
    kinds = ("done", "stale", "refused", "fault")
    click.echo("| command | carried out | changed meanwhile | refused | fault |\n|---|---|---|---|---|")
    for name in [*names, ""]:
        counts = " | ".join(str(found[f"{name}: {kind}" if name else kind]) for kind in kinds)
        click.echo(f"| {name or 'all'} | {counts} |")
    faults = [name for name in found if name.startswith("fault: ")]
    faults += [f"at the end: {fault.rule.name} ({fault.found[0]})" for fault in checked.faults]
    click.echo("\n".join(faults) or "All rules held after every step, and no edit was lost without being told.")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
