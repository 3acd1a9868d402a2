"""Long work in a process of its own: its result, its errors, cancelling, and what a crash leaves."""

from __future__ import annotations

import os
import signal
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from core.commands.integrity import check_store
from core.embeddings import import_embedding
from core.errors import StoreError
from core.jobs import lifecycle
from core.store import schema as t
from core.store.projects.embedding_library import adopt_import, open_library, read_embeddings
from core.store.projects.project_commands import create_project, get_project

DEMO = Path(__file__).resolve().parents[2] / "data" / "demo.bin"


def wait(store, job_id: str, condition=lambda job: job.ended, seconds: float = 180) -> lifecycle.Job:
    """The job once it is as `condition` wants."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        job = lifecycle.read_job(store, job_id)
        if condition(job):
            return job
        time.sleep(0.02)
    raise AssertionError(f"the job is still {lifecycle.read_job(store, job_id)}")


def big_file(path: Path, megabytes: int = 150) -> Path:
    """A text embedding that takes a while to read."""
    line = " ".join(["0.12345"] * 100).encode()
    block = b"".join(b"a word%07d " + line + b"\n" for _ in range(1000))  # with a space: read the slow way
    with open(path, "wb") as handle:
        for number in range(megabytes * 1_000_000 // (len(block) + 7000)):
            handle.write(block % tuple(range(number * 1000, number * 1000 + 1000)))
    return path


def leftovers(store) -> list[str]:
    return [entry.name for entry in (*store.incoming.iterdir(), *store.embeddings.iterdir())]


def test_an_import_runs_to_its_end(store):
    project_id = create_project(store, "One")
    job_id = lifecycle.start(store, "import_embedding", {"path": str(DEMO), "name": "Demo"}, project_id=project_id)
    job = wait(store, job_id)
    assert (job.state, job.error) == ("done", None)
    (imported,) = read_embeddings(store, project_id)
    assert (imported.name, imported.n_words, imported.dimensions) == ("Demo", job.result["n_words"], 50)
    embedding = open_library(store, imported)
    assert embedding.missing(["sales", "no such word"]) == ["no such word"]
    assert get_project(store, project_id).revision == 2
    assert leftovers(store) == [imported.id]


@pytest.mark.release
def test_a_file_whose_name_is_not_utf8_is_imported_and_shown_as_it_can_be(store, tmp_path):
    path = tmp_path / os.fsdecode(b"mod\xe8le.vec")
    path.write_bytes(b"a 1 2\nb 3 4\n")
    project_id = create_project(store, "One")
    job = wait(store, lifecycle.start(store, "import_embedding", {"path": str(path)}, project_id=project_id))
    assert (job.state, job.error) == ("done", None)
    (imported,) = read_embeddings(store, project_id)
    assert (imported.name, imported.source) == ("mod\ufffdle", str(tmp_path / "mod\ufffdle.vec"))
    assert lifecycle.recent_paths(store) == [str(path)]


@pytest.mark.release
def test_the_same_content_is_kept_once_for_two_projects(store):
    projects = [create_project(store, name) for name in ("One", "Two")]
    started = [
        lifecycle.start(store, "import_embedding", {"path": str(DEMO), "name": name}, project_id=project_id)
        for name, project_id in zip("ab", projects, strict=True)
    ]
    assert {wait(store, job_id).state for job_id in started} == {"done"}
    ids = {read_embeddings(store, project_id)[0].id for project_id in projects}
    assert len(ids) == 1
    assert leftovers(store) == list(ids)


@pytest.mark.release
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_two_files_imported_at_once_into_one_project_are_both_whole(store, tmp_path):
    """Two processes write embeddings, links and revisions at the same time; a third import is killed beside them."""
    project_id = create_project(store, "One")
    rng = np.random.default_rng(4)
    wanted = {name: rng.normal(size=(3_000, 20)).round(4) for name in ("a", "b")}
    for name, vectors in wanted.items():
        rows = (f"w{name}{i} {' '.join(map(str, row))}\n" for i, row in enumerate(vectors))
        (tmp_path / f"{name}.txt").write_text("".join(rows))
    files = {"a": tmp_path / "a.txt", "b": tmp_path / "b.txt", "big": big_file(tmp_path / "big.txt")}
    ids = {
        name: lifecycle.start(store, "import_embedding", {"path": str(path), "name": name}, project_id=project_id)
        for name, path in files.items()
    }
    killed = wait(store, ids.pop("big"), lambda job: job.ended or job.done > 0)
    os.kill(killed.pid, signal.SIGKILL)
    assert {wait(store, id_).state for id_ in ids.values()} == {"done"}
    found = {imported.name: imported for imported in read_embeddings(store, project_id)}
    assert sorted(found) == ["a", "b"]
    for name, vectors in wanted.items():
        embedding = open_library(store, found[name])
        np.testing.assert_allclose(embedding.vectors([f"w{name}{i}" for i in range(3_000)]), vectors, atol=1e-6)
    assert get_project(store, project_id).revision == 3
    end = time.monotonic() + 180
    while not lifecycle.sweep(store) and time.monotonic() < end:
        time.sleep(0.02)
    assert sorted(leftovers(store)) == sorted(imported.id for imported in found.values())
    assert check_store(store).faults == ()


def test_an_import_that_another_one_overtakes_is_the_same_one(store, monkeypatch):
    """The other one's folder comes into its place between the look and the move."""
    infos = [import_embedding(DEMO, store.incoming / name) for name in ("first", "second")]
    kept = adopt_import(store, store.incoming / "first", infos[0].identity)
    monkeypatch.setattr(Path, "exists", lambda self, **_: False)
    assert adopt_import(store, store.incoming / "second", infos[1].identity) == kept
    monkeypatch.undo()
    assert leftovers(store) == [kept]


def test_a_move_that_fails_for_another_reason_is_told(store):
    with pytest.raises(OSError, match="nothing there"):
        adopt_import(store, store.incoming / "nothing there", "0" * 64)


def test_a_file_that_is_no_embedding_fails_in_words(store, tmp_path):
    project_id = create_project(store, "One")
    path = tmp_path / "pointer.bin"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    job = wait(
        store, lifecycle.start(store, "import_embedding", {"path": str(path), "name": "x"}, project_id=project_id)
    )
    assert job.state == "failed"
    assert "Git LFS pointer" in job.error
    assert read_embeddings(store, project_id) == []
    assert leftovers(store) == []


def test_a_missing_file_fails_in_words(store, tmp_path):
    path = tmp_path / "nowhere.bin"
    job = wait(store, lifecycle.start(store, "import_embedding", {"path": str(path), "name": "x"}))
    assert job.state == "failed"
    assert "nowhere.bin" in job.error


@pytest.mark.release
def test_cancelling_ends_the_work_and_leaves_nothing(store, tmp_path):
    project_id = create_project(store, "One")
    path = big_file(tmp_path / "big.txt")
    job_id = lifecycle.start(store, "import_embedding", {"path": str(path), "name": "x"}, project_id=project_id)
    job = wait(store, job_id, lambda job: job.ended or job.done > 0)
    assert 0 < job.share < 1
    started = time.monotonic()
    lifecycle.cancel(store, job_id)
    assert time.monotonic() - started < 2
    assert lifecycle.read_job(store, job_id).state == "cancelled"
    assert leftovers(store) == []
    assert read_embeddings(store, project_id) == []
    lifecycle.cancel(store, job_id)  # once more changes nothing
    assert path.exists()


@pytest.mark.release
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_job_whose_process_was_killed_is_swept_at_the_next_start(store, tmp_path):
    project_id = create_project(store, "One")
    path = big_file(tmp_path / "big.txt")
    job_id = lifecycle.start(store, "import_embedding", {"path": str(path), "name": "x"}, project_id=project_id)
    job = wait(store, job_id, lambda job: job.ended or job.done > 0)
    os.kill(job.pid, signal.SIGKILL)
    end = time.monotonic() + 180
    while not lifecycle.sweep(store) and time.monotonic() < end:  # until the system has ended the process
        time.sleep(0.02)
    job = lifecycle.read_job(store, job_id)
    assert (job.state, "Start it again" in job.error) == ("failed", True)
    assert leftovers(store) == []
    assert lifecycle.sweep(store) == 0


@pytest.mark.release
def test_a_running_job_is_not_swept(store, tmp_path):
    job_id = lifecycle.start(store, "import_embedding", {"path": str(big_file(tmp_path / "big.txt")), "name": "x"})
    wait(store, job_id, lambda job: job.ended or job.done > 0)
    assert lifecycle.sweep(store) == 0
    assert not lifecycle.read_job(store, job_id).ended
    lifecycle.cancel(store, job_id)


def test_a_job_without_a_sign_of_life_is_swept(store):
    with store.write() as conn:
        row = {"id": "x", "kind": "import_embedding", "params": {}, "state": "running", "created_at": lifecycle.now()}
        long_ago = "2020-01-01T00:00:00.000000+00:00"
        conn.execute(sa.insert(t.job).values(**row, pid=os.getpid(), heartbeat_at=long_ago))
    assert lifecycle.sweep(store) == 1


def test_an_unknown_kind_of_job_is_refused(store):
    with pytest.raises(StoreError, match="no kind of job"):
        lifecycle.start(store, "make coffee", {})


@pytest.mark.release
def test_a_damaged_import_is_mended_by_importing_again(store):
    project_id = create_project(store, "One")
    params = {"path": str(DEMO), "name": "Demo"}
    assert wait(store, lifecycle.start(store, "import_embedding", params, project_id=project_id)).state == "done"
    (imported,) = read_embeddings(store, project_id)
    vectors = store.embeddings / imported.id / "vectors.f32"
    vectors.write_bytes(vectors.read_bytes()[:1000])
    assert wait(store, lifecycle.start(store, "import_embedding", params, project_id=project_id)).state == "done"
    assert open_library(store, imported).missing(["sales"]) == []
    assert leftovers(store) == [imported.id]


def test_a_job_that_slept_with_its_machine_is_not_given_up(store):
    with store.write() as conn:
        row = {"id": "x", "kind": "import_embedding", "params": {}, "state": "running", "created_at": lifecycle.now()}
        hour_ago = (datetime.now(UTC) - timedelta(hours=1)).isoformat(timespec="microseconds")
        conn.execute(sa.insert(t.job).values(**row, pid=os.getpid(), heartbeat_at=hour_ago))
    assert lifecycle.sweep(store) == 0


def test_folders_that_no_row_knows_are_removed_at_start(store):
    orphan = store.embeddings / "0123456789abcdef"
    orphan.mkdir()
    assert lifecycle.sweep(store) == 0
    assert orphan.exists()  # its process may just be about to write the row
    os.utime(orphan, (time.time() - 3600,) * 2)
    lifecycle.sweep(store)
    assert not orphan.exists()


def test_folders_of_killed_backups_restores_and_imports_are_removed_a_day_later(store):
    names = ("tmpabc123", "import-0123", "import-0123-damaged.part", "demo-import")
    for name in names:
        (store.incoming / name / "uploads").mkdir(parents=True)
        (store.incoming / name / "uploads" / "file").write_bytes(b"x")
    two_days_ago = (time.time() - 2 * lifecycle.LEFT_SECONDS,) * 2
    for path in store.incoming.rglob("*"):
        os.utime(path, two_days_ago)
    young = store.incoming / names[0] / "uploads" / "file"
    os.utime(young)
    lifecycle.sweep(store)
    assert [path.name for path in store.incoming.iterdir()] == [names[0]]  # somebody may still write there
    os.utime(young, two_days_ago)
    lifecycle.sweep(store)
    assert list(store.incoming.iterdir()) == []
