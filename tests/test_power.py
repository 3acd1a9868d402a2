"""A loss of power: what was synced is there, the rest may be gone; `python -m bench.power` cuts two hundred times."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bench import power
from bench.kills import CONTEXT
from bench.power_player import ALL_KEPT, ALL_LOST, Loss, Mark, Recording, Sync, Watched, lay_out, record_of

LACKS = power.why_not()
pytestmark = [pytest.mark.sqlite, pytest.mark.skipif(LACKS is not None, reason=str(LACKS))]


@pytest.fixture(scope="module")
def shim(tmp_path_factory) -> Path:
    return power.build_shim(tmp_path_factory.mktemp("shim"))


# The player, on a few calls of the system


def recorded(shim: Path, room: Path, script: str, **files: bytes) -> Recording:
    """What a script did in a folder with these files."""
    folder, journal = room / "folder", room / "journal"
    folder.mkdir()
    for name, held in files.items():
        (folder / name).write_bytes(held)
    before = Watched.of(folder)
    begin = f"import ctypes, os\nos.chdir({str(folder)!r})\nshim = ctypes.CDLL(None)\n"
    begin += f"shim.power_begin({os.fsencode(folder)!r}, {os.fsencode(journal)!r})\n"
    subprocess.run([sys.executable, "-S", "-c", begin + script], env={"LD_PRELOAD": str(shim)}, check=True)
    recording = record_of(journal, before)
    recording.check(folder)
    return recording


def after(recording: Recording, names: float, data: float, sector: int = 512) -> dict[str, bytes | None]:
    """The folder after a loss of power at the end."""
    return recording.disk(len(recording.steps), Loss(names, data, sector), random.Random(1))


MADE = "f = os.open('a.part', os.O_WRONLY | os.O_CREAT)\nos.write(f, b'new')\n"
SYNC_FOLDER = "d = os.open('.', os.O_RDONLY)\nos.fsync(d)\n"


@pytest.mark.parametrize(
    ("script", "lost", "named"),
    [
        (MADE, {"a": b"old"}, {"a": b"old", "a.part": b""}),
        (f"{MADE}os.fsync(f)", {"a": b"old"}, {"a": b"old", "a.part": b"new"}),
        (f"{MADE}os.rename('a.part', 'a')", {"a": b"old"}, {"a": b""}),
        (f"{MADE}os.fsync(f)\nos.rename('a.part', 'a')", {"a": b"old"}, {"a": b"new"}),
        (f"{MADE}os.rename('a.part', 'a')\n{SYNC_FOLDER}", {"a": b""}, {"a": b""}),
        (f"{MADE}os.fsync(f)\nos.rename('a.part', 'a')\n{SYNC_FOLDER}", {"a": b"new"}, {"a": b"new"}),
        (f"os.unlink('a')\n{SYNC_FOLDER}os.mkdir('b')", {}, {"b": None}),
        ("open('a', 'wb').close()", {"a": b"old"}, {"a": b"old"}),  # what was cut off may still be there
        ("f = os.open('a', os.O_WRONLY)\nos.pwrite(f, b'x', 1)\nos.fdatasync(f)", {"a": b"oxd"}, {"a": b"oxd"}),
    ],
)
def test_what_was_synced_is_there_and_nothing_else_must(shim, tmp_path, script, lost, named):
    """`lost`: nothing but what was synced; `named`: names were written, and bytes weren't."""
    recording = recorded(shim, tmp_path, script, a=b"old")
    assert after(recording, 0, 0) == lost
    assert after(recording, 1, 0) == named


def test_a_write_is_torn_between_sectors_and_a_longer_file_has_zeros(shim, tmp_path):
    script = "f = os.open('a', os.O_WRONLY)\nos.pwrite(f, b'y' * 3000, 100)"
    recording = recorded(shim, tmp_path, script, a=b"x" * 1000)
    whole = b"x" * 100 + b"y" * 3000
    for seed in range(20):
        held = recording.disk(len(recording.steps), Loss(1, 0.5), random.Random(seed))["a"]
        for at in range(0, len(held), 512):
            old = (b"x" * 1000).ljust(4000, b"\0")
            assert held[at : at + 512] in (whole[at : min(at + 512, len(held))], old[at : min(at + 512, len(held))])
    held = {recording.disk(len(recording.steps), Loss(1, 0.5), random.Random(seed))["a"] for seed in range(20)}
    assert len(held) > 10
    held = [recording.disk(len(recording.steps), Loss(1, 0.5, 4096), random.Random(seed))["a"] for seed in range(20)]
    assert set(held) == {b"x" * 1000, whole, (b"x" * 1000).ljust(3100, b"\0")}  # one sector: nothing is torn


def test_what_comes_past_the_shim_is_noted_at_the_end_of_the_file_or_told(shim, tmp_path):
    memory = "import mmap\nf = os.open('a', os.O_RDWR)\nm = mmap.mmap(f, 3)\nm[:] = b'new'\n"
    for number, end in enumerate(("os.close(f)", "os.fsync(f)")):
        (tmp_path / str(number)).mkdir()
        recording = recorded(shim, tmp_path / str(number), memory + end, a=b"old")
        assert after(recording, 1, 0) == {"a": b"new" if "fsync" in end else b"old"}
    (tmp_path / "x").mkdir()
    with pytest.raises(ValueError, match="past the shim: a"):
        recorded(shim, tmp_path / "x", f"{memory}os._exit(0)", a=b"old")


ROWS = """
import sqlite3
db = sqlite3.connect('runoff.sqlite', isolation_level=None)
db.execute('PRAGMA journal_mode=WAL')
db.execute('PRAGMA synchronous={synchronous}')
db.execute('PRAGMA wal_autocheckpoint=20')
db.execute('CREATE TABLE t (n INTEGER, filler BLOB)')
for n in range(12):
    db.execute('INSERT INTO t VALUES (?, randomblob(9000))', (n,))
    shim.power_mark(b'row')
db.close()
"""


def lost_rows(recording: Recording, room: Path, n_cuts: int) -> tuple[int, int]:
    """Of so many random cuts, after how many a confirmed row was gone, and after how many the database was damaged."""
    n_lost = n_damaged = 0
    for seed in range(n_cuts):
        rng = random.Random(seed)
        cut = rng.choice(recording.turns)
        folder = room / f"cut-{seed}"
        lay_out(recording.disk(cut, Loss.drawn(rng), rng), folder)
        with closing(sqlite3.connect(folder / "runoff.sqlite")) as db:
            try:
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                numbers = [n for (n,) in db.execute("SELECT n FROM t ORDER BY n")]
                assert numbers == list(range(len(numbers)))
                n_lost += len(numbers) < recording.n_marks(cut)
            except sqlite3.OperationalError:  # no table yet
                n_lost += recording.n_marks(cut) > 0
            except (sqlite3.DatabaseError, AssertionError):
                n_damaged += 1
    return n_lost, n_damaged


def test_sqlite_keeps_what_it_promises_and_no_more(shim, tmp_path):
    """FULL, as Runoff has it, loses nothing; NORMAL loses commits since the last checkpoint, OFF the database."""
    found = {}
    for synchronous in ("FULL", "NORMAL", "OFF"):
        room = tmp_path / synchronous
        room.mkdir()
        found[synchronous] = lost_rows(recorded(shim, room, ROWS.format(synchronous=synchronous)), room, 60)
    assert found["FULL"] == (0, 0)
    assert found["NORMAL"][0] > 0
    assert found["NORMAL"][1] == 0
    assert found["OFF"][1] > 0


# Runoff's commands


@pytest.fixture(scope="module")
def recorder(tmp_path_factory) -> Iterator[power.Recorder]:
    CONTEXT.set_forkserver_preload(["bench.kill_scenarios"])
    with closing(power.Recorder(tmp_path_factory.mktemp("recorder"))) as recorder:
        yield recorder


def without(recorded: power.Recorded, *ends: str) -> power.Recorded:
    """The same command of a program that never syncs what has such paths."""
    paths = [path for path in recorded.recording.paths.values() if path.endswith(ends)]
    return power.Recorded(recorded.name, recorded.recording.without_syncs(*paths), recorded.room, recorded.look)


def test_an_upload_survives_a_loss_of_power_and_wouldnt_without_each_of_its_syncs(tmp_path, recorder):
    accept = power.Recorded.of("accept upload", tmp_path, recorder)
    for turn in range(5):
        accept.cut(random.Random(turn))
    last = len(accept.recording.steps)
    assert accept.cut_at(last, ALL_LOST, random.Random(1)) == "after"
    assert accept.faults == []

    (kept,) = [path for path in accept.recording.ended if path.startswith("uploads/")]
    confirmed = next(n for n, step in enumerate(accept.recording.steps, 1) if isinstance(step, Mark))
    names_alone = Loss(1.0, 0.0)
    for unsynced, loss, found in (
        ("runoff.sqlite-wal", ALL_LOST, "it was confirmed, and is gone"),
        ("uploads", ALL_LOST, "kept files ("),
        (kept, names_alone, f"{kept} has its name, and not its bytes"),
    ):
        assert found in without(accept, unsynced).cut_at(confirmed, loss, random.Random(1)), unsynced


def test_saved_votes_survive_a_loss_of_power_and_wouldnt_without_syncs(tmp_path, recorder):
    votes = power.Recorded.of(power.VOTES, tmp_path, recorder)
    for turn in range(8):
        votes.cut(random.Random(turn))
    assert votes.faults == []
    steps, paths = votes.recording.steps, votes.recording.paths
    n_copied = sum(isinstance(step, Sync) and paths[step.of] == "runoff.sqlite" for step in steps)
    assert n_copied > 2, "the journal is copied into the database between votes"
    tenth = [n for n, step in enumerate(steps, 1) if isinstance(step, Mark)][9]
    assert votes.cut_at(tenth, ALL_KEPT, random.Random(1)) == "before"
    lost = without(votes, "runoff.sqlite-wal").cut_at(tenth, ALL_LOST, random.Random(1))
    assert lost.startswith("10 votes were confirmed, and ")
