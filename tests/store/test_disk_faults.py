"""A damaged database, a folder that may only be read, a full disk, a clock set back: told in words, nothing lost."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from campaigns import answer_batch, draw_batch, make_project

from core.commands.integrity import check_store
from core.errors import RunoffError, StoreError
from core.jobs import lifecycle
from core.store import engine as engine_module
from core.store import open_store
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots
from core.store.ballots.closing import close_ballot
from core.store.engine import _open, open_apart
from core.store.projects.project_commands import create_project, get_project, list_projects, read_log
from core.store.projects.releases import keep_release
from core.store.scores.project_dataset import read_project_dataset
from core.store.votes.intake import accept_upload

pytestmark = pytest.mark.sqlite
ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits and rights of Linux")
NOBODY = 65534


def in_a_process(work, *arguments) -> str:
    """What a forked process is told: the message of the `RunoffError` that the work raises, "" where none."""
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=_tell, args=(there, work, *arguments))
    child.start()
    told = here.recv() if here.poll(60) else "no answer"
    child.join()
    return told


def _tell(pipe, work, *arguments) -> None:
    try:
        work(*arguments)
    except RunoffError as error:
        pipe.send(str(error))
    else:
        pipe.send("")


# A damaged database


@pytest.fixture
def damaged(store):
    """A workspace whose database has its first page, and noise after it."""
    project_id = make_project(store)
    store.engine.dispose()
    _open.cache_clear()
    path = store.folder / "runoff.sqlite"
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + bytes(range(256)) * ((len(whole) - 4096) // 256))
    return store.folder, project_id, path.read_bytes()


def test_a_database_damaged_in_its_midst_is_told_in_words(damaged):
    folder, project_id, content = damaged
    with pytest.raises(StoreError, match=r"can't be read.*backups"), open_apart(folder) as store:
        read_project_dataset(store, project_id)
    assert (folder / "runoff.sqlite").read_bytes() == content  # left as it is, for whoever mends it


def test_the_check_says_that_it_is_damaged(store):
    """A page of an index that no look at the tables needs."""
    make_project(store)
    with store.read() as conn:
        root = conn.execute(sa.text("SELECT rootpage FROM sqlite_master WHERE name = 'ix_job_project_id'")).scalar_one()
        size = conn.execute(sa.text("PRAGMA page_size")).scalar_one()
    store.engine.dispose()
    path = store.folder / "runoff.sqlite"
    whole = bytearray(path.read_bytes())
    whole[(root - 1) * size : root * size] = b"\x07" * size
    path.write_bytes(whole)
    with open_apart(store.folder) as opened:
        (fault,) = check_store(opened).faults
    assert fault.rule.name == "database"
    assert "backup" in fault.rule.advice


# A folder without the right to write


@ON_LINUX
def test_a_folder_that_may_only_be_read_is_told_in_words():
    room = Path(tempfile.mkdtemp())
    try:
        folder = room / "workspace"
        with open_apart(folder) as store:
            create_project(store, "Kept")
        before = (folder / "runoff.sqlite").read_bytes()
        room.chmod(0o755)
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        told = in_a_process(_as_nobody, folder)
        assert "RUNOFF_WORKSPACE" in told or "Look at the rights" in told
        assert str(folder) in told
        assert (folder / "runoff.sqlite").read_bytes() == before
    finally:
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o755)
        shutil.rmtree(room)


def _as_nobody(folder: Path) -> None:
    if os.getuid() == 0:  # root may write anywhere
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    with open_apart(folder) as store:
        create_project(store, "New")


# A full disk


def _with_room(limit: int, folder: Path, work, *arguments) -> None:
    """Work where no file can grow beyond so many bytes: writes fail as on a full disk."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open_apart(folder) as store:
        list_projects(store)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        work(store, *arguments)


@ON_LINUX
def test_on_a_full_disk_an_upload_changes_nothing_and_comes_in_later(store):
    project_id = make_project(store)
    data = answer_batch(draw_batch(store, project_id))
    store.engine.dispose()  # the journal is written into the database, and starts anew

    told = in_a_process(_with_room, 40_000, store.folder, accept_upload, project_id, data, "results.csv")
    assert "make room" in told
    assert "nothing was changed" in told
    assert check_store(store).is_fine
    with store.read() as conn:
        assert conn.execute(sa.select(sa.func.count()).select_from(t.upload)).scalar() == 0
    accept_upload(store, project_id, data, "results.csv")
    close_ballot(store, project_id)
    assert read_ballots(store, project_id)[0].state == "closed"
    assert check_store(store).is_fine


@ON_LINUX
def test_on_a_full_disk_a_file_is_not_kept_by_half(store):
    project_id = make_project(store)
    revision = get_project(store, project_id).revision
    store.engine.dispose()

    def keep(opened):
        keep_release(opened, project_id, "1", os.urandom(2_000_000), detail={}, made_at=revision)

    told = in_a_process(_with_room, 1_000_000, store.folder, keep)
    assert "can't be kept" in told
    assert "Nothing was changed" in told
    assert list(store.uploads.iterdir()) == []
    assert list(store.incoming.iterdir()) == []
    assert check_store(store).is_fine


# A clock that is set back


def test_a_clock_set_back_loses_nothing(store, monkeypatch):
    project_id = make_project(store)
    data = answer_batch(draw_batch(store, project_id))
    earlier = (datetime.now(UTC) - timedelta(days=400)).isoformat(timespec="microseconds")
    for module in (engine_module, sys.modules["core.store.command"], sys.modules["core.store.votes.intake"]):
        monkeypatch.setattr(module, "now", lambda: earlier)
    accept_upload(store, project_id, data, "results.csv")
    close_ballot(store, project_id)
    assert check_store(store).is_fine
    entries = read_log(store, project_id)
    assert [entry["action"] for entry in entries[:2]] == ["close ballot", "accept upload"]
    assert len(list_projects(store)) == 1
    assert not read_project_dataset(store, project_id)["score"].isna().any()


def test_a_job_without_a_process_is_swept_though_its_clock_was_ahead(store):
    ahead = (datetime.now(UTC) + timedelta(days=3)).isoformat(timespec="microseconds")
    row = {"id": "x", "kind": "import_embedding", "params": {}, "state": "queued", "created_at": ahead}
    with store.write() as conn:
        conn.execute(sa.insert(t.job).values(**row))
    assert [fault.rule.name for fault in check_store(store).faults] == ["jobs"]
    assert lifecycle.sweep(store) == 1


def test_a_job_that_lives_is_not_swept_when_the_clock_is_set_back(store):
    ahead = (datetime.now(UTC) + timedelta(days=3)).isoformat(timespec="microseconds")
    row = {"id": "x", "kind": "import_embedding", "params": {}, "state": "running", "created_at": ahead}
    with store.write() as conn:
        conn.execute(sa.insert(t.job).values(**row, pid=os.getpid(), heartbeat_at=ahead))
    assert lifecycle.sweep(store) == 0
    assert check_store(store).is_fine


def test_a_workspace_that_can_be_opened_again(tmp_path):
    """After each of these faults the same process may open it: no broken store is remembered."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "runoff.sqlite").write_bytes(b"this is no database" * 300)
    with pytest.raises(StoreError, match="can't be read"):
        open_store(folder)
    (folder / "runoff.sqlite").unlink()
    create_project(open_store(folder), "New")
    open_store(folder).engine.dispose()
    _open.cache_clear()
