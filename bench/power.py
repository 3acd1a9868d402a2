"""`python -m bench.power --cuts 200`: the power is lost in the midst of commands, and Runoff must stay whole.

Each command of `bench.kills` is carried out once on a copy of its workspace, by a process in which `power_shim.c`
(built here with the C compiler that is there) writes down what it does to files, and what of it is synced; so are votes
on the voting page, one after another, with SQLite's journal copied between them. From that `power_player.py` builds the
folder as a bad disk may hold it after a cut at a step: half of the cuts at any step, half beside a sync, a name or a
confirmation; what wasn't synced is kept, lost or torn at random. Then the workspace is opened as after a kill: all its
rules must hold, and the command must have happened wholly or not at all. Beyond that, what was confirmed before the cut
must be there, and a stored file has its name only with all its bytes. Exits with 1 where something doesn't hold.

The tables are SQLite's. Those in PostgreSQL are synced by its server; the stored files beside it are written as here.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa

from bench.kill_places import opened
from bench.kill_scenarios import SCENARIOS, Given, Scenario, at_the_page, vote
from bench.kills import CONTEXT, Prepared, leftovers
from bench.power_player import Disk, Loss, Recording, Watched, lay_out, record_of
from core.commands.integrity import check_store
from core.errors import RunoffError
from core.store import open_store
from core.store import schema as t
from core.store.dialects import DATABASE
from core.voting import api

SHIM = Path(__file__).with_name("power_shim.c")
VOTES = "votes on the page"
N_VOTES = 36  # of 41 that the ballot still wants
_STORED = re.compile(r"(uploads|embeddings|backups|answers)/|incoming/(upload|made)-")


def why_not() -> str | None:
    """What is lacking here to record a process; None where it can be done."""
    if not sys.platform.startswith("linux"):
        return "power_shim.c is written for Linux"
    return None if _compiler() else "there is no C compiler (cc, gcc, clang)"


def _compiler() -> str | None:
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def build_shim(folder: Path) -> Path:
    """Compile the shim into a folder; raises `RuntimeError` with what the compiler said."""
    target = folder / "power_shim.so"
    command = [str(_compiler()), "-shared", "-fPIC", "-O1", "-o", str(target), str(SHIM), "-ldl", "-lpthread"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{SHIM.name} isn't compiled: {done.stderr}")
    return target


@contextmanager
def preloaded(shim: Path) -> Iterator[None]:
    """Processes that begin from scratch meanwhile have the shim in them."""
    before = os.environ.get("LD_PRELOAD")
    os.environ["LD_PRELOAD"] = str(shim)
    try:
        yield
    finally:
        del os.environ["LD_PRELOAD"]
        if before is not None:
            os.environ["LD_PRELOAD"] = before


def watch(folder: Path, journal: Path) -> None:
    """Let the shim in this process write down from now on what happens in a folder."""
    ctypes.CDLL(None).power_begin(os.fsencode(folder), os.fsencode(journal))


def confirm(text: str = "done") -> None:
    """Have it written down that something was said to be done."""
    ctypes.CDLL(None).power_mark(text.encode())


class Recorder:
    """A process with the shim in it, in whose children commands are carried out; `close` ends it."""

    def __init__(self, room: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        with preloaded(build_shim(room)):
            self._process = context.Process(target=_serve, args=(there,))
            self._process.start()

    def close(self) -> None:
        """End the process."""
        self._here.send(None)
        self._process.join()

    def record(self, name: str, folder: Path, given: Given) -> Recording:
        """Carry a command out in a folder, and then close its database; all that was done there.

        Raises `RuntimeError` where the command fails, ValueError where the shim didn't see all of it.
        """
        before, journal = Watched.of(folder), folder.with_name("journal")
        self._here.send((name, folder, given, journal))
        if self._here.recv() != 0:
            raise RuntimeError(f"{name} didn't come to its end.")
        recording = record_of(journal, before)
        recording.check(folder)
        return recording


def _serve(pipe: Any) -> None:
    del os.environ["LD_PRELOAD"]
    os.environ[DATABASE] = ""
    while (wanted := pipe.recv()) is not None:
        child = multiprocessing.get_context("fork").Process(target=_work, args=wanted)
        child.start()
        child.join()
        pipe.send(child.exitcode)


def _work(name: str, folder: Path, given: Given, journal: Path) -> None:
    watch(folder, journal)
    (_VOTES if name == VOTES else SCENARIOS[name]).run(folder, given)
    if name != VOTES:  # it confirms each of them
        confirm()
    open_store(folder).engine.dispose()  # SQLite copies its journal into the database, and deletes it


def _prepare_votes(folder: Path) -> Given:
    with opened(folder) as store:
        return at_the_page(store)


def _vote_on(folder: Path, given: Given) -> None:
    """Votes as the voters' server takes them: each is said to be saved, and the journal is copied beside them."""
    os.environ["RUNOFF_WORKSPACE"] = str(folder)
    api.LARGE_JOURNAL = 200_000
    store = api.open_voters_store()
    for n in range(N_VOTES):
        vote(store, given, _choice(n))
        confirm(f"vote {n}")
        api.tidy(store)
        if n % 5 == 4:
            api.shorten(store)


def _choice(n: int) -> str:
    return ("left", "right", "tie", "unknown")[n * n % 7 % 4]


_VOTES = Scenario(VOTES, _prepare_votes, _vote_on)


@dataclass
class Recorded:
    """A command that was carried out once, and what `look` finds in a folder after so many confirmations."""

    name: str
    recording: Recording
    room: Path
    look: Callable[[Path, int], str]
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, name: str, room: Path, recorder: Recorder) -> Recorded:
        """Prepare a command in an empty folder, and carry it out."""
        copy = room / "recorded"
        if name == VOTES:
            recording = recorder.record(name, copy, _VOTES.prepare(copy))
            return cls(name, recording, room, _look_for_votes(_answers(copy)))
        prepared = Prepared.of(name, room)
        prepared.place.copy(prepared.folder, copy)
        return cls(name, recorder.record(name, copy, prepared.given), room, _look_for_all(prepared))

    def cut(self, rng: random.Random) -> str:
        """Lose the power once, somewhere; "before", "after", or what is wrong."""
        turns, n_steps = self.recording.turns, len(self.recording.steps)
        return self.cut_at(rng.choice(turns) if rng.random() < 0.5 else rng.randint(0, n_steps), Loss.drawn(rng), rng)

    def cut_at(self, step: int, loss: Loss, rng: random.Random) -> str:
        """Lose the power just before a step; "before", "after", or what is wrong."""
        disk = self.recording.disk(step, loss, rng)
        outcome = self._damaged(disk) or self._outcome(disk, step)
        self.outcomes[outcome if outcome in ("before", "after") else "fault"] += 1
        if outcome not in ("before", "after"):
            self.faults.append(f"{self.name}, step {step}, {loss}: {outcome}")
        return outcome

    def _outcome(self, disk: Disk, step: int) -> str:
        copy = self.room / "cut"
        lay_out(disk, copy)
        try:
            return self.look(copy, self.recording.n_marks(step))
        except (RunoffError, sa.exc.SQLAlchemyError, OSError, ValueError) as error:
            return f"{type(error).__name__}: {error}"
        finally:
            shutil.rmtree(copy)

    def _damaged(self, disk: Disk) -> str | None:
        """A stored file that has its name, and not its bytes."""
        began, ended = self.recording.began, self.recording.ended
        named = [path for path in disk if _STORED.match(path) and ".part" not in path]
        damaged = (path for path in named if disk[path] not in (began.get(path), ended.get(path)))
        return next((f"{path} has its name, and not its bytes" for path in damaged), None)


def _look_for_all(prepared: Prepared) -> Callable[[Path, int], str]:
    def look(copy: Path, n_marks: int) -> str:
        outcome = prepared.outcome(copy)
        return "it was confirmed, and is gone" if n_marks and outcome == "before" else outcome

    return look


def _look_for_votes(all_of_them: list[tuple[int, str]]) -> Callable[[Path, int], str]:
    def look(copy: Path, n_marks: int) -> str:
        with opened(copy) as store:
            checked, left = check_store(store), leftovers(store)
        answers = _answers(copy)
        if left or not checked.is_fine:
            return ", ".join(left) or "; ".join(f"{fault.rule.name} ({fault.found[0]})" for fault in checked.faults)
        if answers != all_of_them[: len(answers)]:
            return "other votes than were given"
        n_known = len(answers) - (len(all_of_them) - N_VOTES)
        if n_known not in (n_marks, n_marks + 1):
            return f"{n_marks} votes were confirmed, and {n_known} are there"
        return "before" if n_known == n_marks else "after"

    return look


def _answers(folder: Path) -> list[tuple[int, str]]:
    """The votes of the page, in the order in which they were given."""
    d, j = t.deal.c, t.judgement.c
    same = sa.and_(j.assignment_id == d.assignment_id, j.question_id == d.question_id)
    query = sa.select(j.question_id, j.answer).join_from(t.deal, t.judgement, same).order_by(d.answer_n)
    with opened(folder) as store, store.read() as conn:
        return [(row.question_id, row.answer) for row in conn.execute(query)]


@click.command()
@click.option("--cuts", default=200, show_default=True, help="In all, spread over the commands.")
@click.option("--seed", default=1, show_default=True, help="Of the cuts and losses.")
@click.option("--only", help="One command alone.")
def main(cuts: int, seed: int, only: str | None) -> None:
    """Lose the power, look, count."""
    if (reason := why_not()) is not None:
        raise click.ClickException(f"No power can be lost here: {reason}.")
    names = [only] if only else [VOTES, *SCENARIOS]
    faults, total = list[str](), Counter[str]()
    click.echo("| command | steps | syncs | cuts | not happened | happened | broken |\n|---|---|---|---|---|---|---|")
    CONTEXT.set_forkserver_preload(["bench.kill_scenarios"])
    with tempfile.TemporaryDirectory() as folder, closing(Recorder(Path(folder))) as recorder:
        for number, name in enumerate(names):
            n = cuts // len(names) + (number < cuts % len(names))
            with tempfile.TemporaryDirectory() as room:
                recorded = Recorded.of(name, Path(room), recorder)
                for turn in range(n):
                    recorded.cut(random.Random(f"{seed} {name} {turn}"))
            counts = " | ".join(str(recorded.outcomes[kind]) for kind in ("before", "after", "fault"))
            done = recorded.recording
            click.echo(f"| {name} | {len(done.steps)} | {done.n_syncs} | {n} | {counts} |")
            total += recorded.outcomes
            faults += recorded.faults
    click.echo(f"| all | | | {total.total()} | {total['before']} | {total['after']} | {total['fault']} |")
    click.echo("\n".join(faults) or "Every workspace was whole, and nothing that was confirmed was lost.")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
