"""What must be there after a power cut is on the disk before anything goes by it: bytes, then names, then rows."""

from __future__ import annotations

import ast
import errno
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sqlalchemy as sa
from campaigns import answer_batch, draw_batch, make_project
from embedding_files import text
from old_workspaces import OLD, make_old_workspace

from core.base import durable
from core.base.durable import make_folder, put, sync_folder
from core.store import backups
from core.store.engine import open_apart
from core.store.projects.archive import delete_project, export_project, import_project
from core.store.projects.embedding_library import import_into
from core.store.projects.project_commands import get_project
from core.store.votes.intake import accept_upload
from tests.syntax import nodes, reads_the_code

pytestmark = [pytest.mark.sqlite, pytest.mark.skipif(sys.platform != "linux", reason="asks /proc what is synced")]
ROOT = Path(__file__).resolve().parents[2]
Event = tuple[str, ...]


@pytest.fixture
def events(monkeypatch) -> Iterator[list[Event]]:
    """What the system was told, in its order: sync, name (from, to), made, gone, commit."""
    told: list[Event] = []
    real = SimpleNamespace(**{name: getattr(os, name) for name in ("fsync", "replace", "rename", "mkdir", "unlink")})

    def fsync(handle: int) -> None:
        told.append(("sync", os.readlink(f"/proc/self/fd/{handle}")))
        real.fsync(handle)

    def replace(source, target, **options) -> None:
        told.append(("name", str(source), str(target)))
        real.replace(source, target, **options)

    def mkdir(path, *args, **options) -> None:
        real.mkdir(path, *args, **options)
        told.append(("made", str(path)))

    def unlink(path, *args, **options) -> None:
        told.append(("gone", str(path)))
        real.unlink(path, *args, **options)

    def commit(conn: sa.Connection) -> None:
        if conn.get_execution_options().get("runoff_write"):
            told.append(("commit",))

    fakes = {"fsync": fsync, "replace": replace, "rename": replace, "mkdir": mkdir, "unlink": unlink}
    for name, fake in fakes.items():
        monkeypatch.setattr(os, name, fake)
    sa.event.listen(sa.Engine, "commit", commit)
    yield told
    sa.event.remove(sa.Engine, "commit", commit)


def on_disk(events: list[Event], target: Path, before: Event) -> None:
    """A file's bytes were synced, then it got its name, then its folder was synced, and all that `before` the rest."""
    named = next(at for at, event in enumerate(events) if event[0] == "name" and event[2] == str(target))
    later = events.index(before, named)
    assert ("sync", events[named][1]) in events[:named], "the bytes weren't on the disk when it was named"
    assert ("sync", str(target.parent)) in events[named:later], "the name wasn't on the disk"


@pytest.fixture
def campaign(store) -> str:
    project_id = make_project(store)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "votes.csv")
    return project_id


def test_a_project_is_deleted_once_its_backup_is_on_the_disk(store, campaign, events):
    (kept,) = store.uploads.iterdir()
    backup = delete_project(store, campaign, get_project(store, campaign).name)
    on_disk(events, backup, ("commit",))
    assert events.index(("commit",)) < events.index(("gone", str(kept)))


def test_votes_are_taken_once_their_file_is_on_the_disk(store, events):
    project_id = make_project(store)
    data = answer_batch(draw_batch(store, project_id))
    events.clear()
    accept_upload(store, project_id, data, "votes.csv")
    (kept,) = store.uploads.iterdir()
    on_disk(events, kept, ("commit",))
    # Another process may have named the same file a moment ago, and not come further.
    data = export_project(store, project_id)
    events.clear()
    import_project(store, data)
    assert ("sync", str(store.uploads)) in events[: events.index(("commit",))]


def test_the_database_is_migrated_once_its_backup_is_on_the_disk(tmp_path, events):
    make_old_workspace(tmp_path / "old", OLD[-1])
    events.clear()
    with open_apart(tmp_path / "old") as store:
        (backup,) = (store.folder / "backups").iterdir()
    on_disk(events, backup, ("commit",))


def test_a_backup_is_on_the_disk_when_it_is_said_to_be_there(store, campaign, tmp_path, events):
    backups.back_up(store, tmp_path / "whole.zip")
    on_disk([*events, ("said",)], tmp_path / "whole.zip", ("said",))


def test_a_database_is_put_back_once_its_files_are_on_the_disk(store, campaign, tmp_path, events, monkeypatch):
    put_vectors(store, campaign, tmp_path)
    backups.back_up(store, tmp_path / "whole.zip", embeddings=True)
    real = backups._put_back

    def put_back(*args) -> None:
        events.append(("put back",))
        real(*args)

    monkeypatch.setattr(backups, "_put_back", put_back)
    with open_apart(tmp_path / "elsewhere") as other:
        events.clear()
        backups.restore(other, tmp_path / "whole.zip")
        kept = [path for folder in (other.uploads, other.embeddings) for path in folder.rglob("*") if path.is_file()]
        assert len(kept) == 5
        for path in kept:
            on_disk(events, path, ("put back",))
        (embedding,) = other.embeddings.iterdir()
        made = events.index(("made", str(embedding)))
        assert ("sync", str(other.embeddings)) in events[made : events.index(("put back",))]


def test_a_database_that_is_put_back_is_on_the_disk_whatever_sqlite_was_built_with(
    store, campaign, tmp_path, monkeypatch
):
    """macOS has a SQLite whose commits to a journal of this kind (WAL) aren't synced unless that is asked for."""
    backups.back_up(store, tmp_path / "whole.zip")
    asked = []

    class Connection(sqlite3.Connection):
        def backup(self, target, **options) -> None:
            asked.append(target.execute("PRAGMA synchronous").fetchone()[0])
            super().backup(target, **options)

    def connect(path) -> sqlite3.Connection:
        connection = sqlite3.connect(path, factory=Connection)
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection

    with open_apart(tmp_path / "elsewhere") as other:
        monkeypatch.setattr(backups, "sqlite3", SimpleNamespace(connect=connect, DatabaseError=sqlite3.DatabaseError))
        backups.restore(other, tmp_path / "whole.zip")
    assert asked == [2]


def put_vectors(store, project_id: str, tmp_path: Path) -> None:
    path = tmp_path / "model.vec"
    path.write_bytes(text(["anvil", "barge", "dune"], np.eye(3, 4, dtype=np.float32) + 0.5))
    import_into(store, project_id, path)


def test_an_embedding_is_recorded_once_its_vectors_are_on_the_disk(store, tmp_path, events):
    project_id = make_project(store)
    events.clear()
    put_vectors(store, project_id, tmp_path)
    (folder,) = store.embeddings.iterdir()
    on_disk(events, folder, ("commit",))
    named = next(at for at, event in enumerate(events) if event[0] == "name" and event[2] == str(folder))
    synced = {Path(event[1]).name for event in events[:named] if event[0] == "sync"}
    assert {path.name for path in folder.iterdir()} <= synced


def test_a_new_workspace_is_on_the_disk_with_all_its_folders(tmp_path, events):
    folder = tmp_path / "above" / "workspace"
    with open_apart(folder):
        pass
    database = events.index(("commit",))
    for made in (folder.parent, folder, *(folder / part for part in ("uploads", "embeddings", "incoming", "backups"))):
        assert ("sync", str(made.parent)) in events[events.index(("made", str(made))) : database], made


def test_folders_that_are_there_cost_nothing(tmp_path, events):
    make_folder(tmp_path / "a" / "b")
    events.clear()
    make_folder(tmp_path / "a" / "b")
    assert events == []


def test_a_drive_that_syncs_no_folder_is_taken_and_one_that_fails_is_not(tmp_path, monkeypatch):
    def failing(number: int):
        def fsync(handle: int) -> None:
            raise OSError(number, os.strerror(number))

        return fsync

    monkeypatch.setattr(os, "fsync", failing(errno.EINVAL))
    sync_folder(tmp_path)
    monkeypatch.setattr(os, "fsync", failing(errno.EIO))
    with pytest.raises(OSError, match="error"):
        sync_folder(tmp_path)


def test_a_folder_takes_no_others_place(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    with pytest.raises(OSError, match="not empty"):
        put(tmp_path / "one", tmp_path / "two")
    assert (tmp_path / "two" / "file").read_text() == "two"
    shutil.rmtree(tmp_path / "two")
    put(tmp_path / "one", tmp_path / "two")
    assert (tmp_path / "two" / "file").read_text() == "one"


# What needn't be there after a power cut, or isn't in its place yet.
PASSING = {
    ("core/embeddings/storage.py", "fresh.replace(folder / VOCABULARY)"),
    ("core/embeddings/storage.py", "(folder / INFO).write_text(info.to_json(), encoding='utf-8')"),
    ("core/store/projects/embedding_library.py", "target.rename(damaged)"),
    ("core/voting/process.py", "part.replace(store.folder / f'voting.json.{running.key}')"),
}


@reads_the_code
def test_files_get_their_names_in_one_place():
    """Nothing in the workspace is named, written or copied past `core.base.durable`."""
    found = set()
    for path in [
        *(ROOT / "core").glob("*.py"),
        *(ROOT / "core" / "base").rglob("*.py"),
        *(ROOT / "core" / "jobs").rglob("*.py"),
        *(ROOT / "core" / "voting").rglob("*.py"),
        *(ROOT / "core" / "worker").rglob("*.py"),
        *(ROOT / "core" / "store").rglob("*.py"),
        *(ROOT / "core" / "embeddings").rglob("*.py"),
    ]:
        for node in nodes(path):
            if (
                not isinstance(node, ast.Call)
                or not isinstance(node.func, ast.Attribute)
                or path == Path(durable.__file__)
            ):
                continue
            name, of = node.func.attr, ast.unparse(node.func.value)
            alone = len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Dict)
            named = (name in ("replace", "rename") and alone) or name in ("write_bytes", "write_text")
            if named or (of in ("os", "shutil") and name in ("replace", "rename", "link", "copy", "copy2", "move")):
                found.add((path.relative_to(ROOT).as_posix(), ast.unparse(node)))
    assert found == PASSING
