"""Backups of a whole workspace: what comes back is what was, and nothing damaged does."""

from __future__ import annotations

import json
import os
import stat
import zipfile

import pytest
from campaigns import answer_batch, draw_batch, make_project
from click.testing import CliRunner

from core.__main__ import cli
from core.errors import InputError, StoreError
from core.store import backups, open_store
from core.store.backups import back_up, restore
from core.store.engine import _open
from core.store.projects.archive import export_project
from core.store.projects.project_commands import create_project, list_projects
from core.store.votes.intake import accept_upload

DATABASES = {"sqlite": "runoff.sqlite", "postgresql": "database.pgdump"}


@pytest.fixture
def kept(store, tmp_path):
    """A workspace with votes in it, its backup, and the project as it was exported then."""
    project_id = make_project(store)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "r.csv")
    target = tmp_path / "backup.zip"
    back_up(store, target)
    return store, target, project_id, export_project(store, project_id)


def test_a_backup_comes_back_in_an_empty_workspace(kept, tmp_path, database):
    _, target, project_id, exported = kept
    with zipfile.ZipFile(target) as archive:
        names = archive.namelist()
    assert names[0] == DATABASES[database]
    assert len(names) == 3  # one upload, and the manifest
    if os.name == "posix":
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
    other = open_store(tmp_path / "other")
    restore(other, target)
    assert export_project(other, project_id) == exported
    assert list(other.incoming.iterdir()) == []
    other.engine.dispose()


def test_a_workspace_with_projects_is_replaced_only_when_told_and_saved_before(kept):
    store, target, project_id, exported = kept
    later = create_project(store, "Later")
    (store.uploads / "later").write_bytes(b"kept")
    with pytest.raises(StoreError, match="has 2 projects"):
        restore(store, target)
    assert len(list_projects(store)) == 2
    restore(store, target, replace=True)
    assert [project.id for project in list_projects(store)] == [project_id]
    assert export_project(store, project_id) == exported
    (saved,) = (store.folder / "backups").glob("*-before-restore.zip")
    restore(store, saved, replace=True)
    assert {project.id for project in list_projects(store)} == {project_id, later}


@pytest.mark.parametrize("damage", ["short", "no manifest", "another file", "outside", "no zip"])
def test_a_damaged_backup_changes_nothing(kept, tmp_path, damage):
    store, target, project_id, exported = kept
    broken = tmp_path / "broken.zip"
    with zipfile.ZipFile(target) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(files["manifest.json"])
    upload = next(name for name in files if name.startswith("uploads/"))
    if damage == "another file":
        files[upload] += b"x"
    if damage == "outside":
        files["uploads/../../x"] = files[upload]
        manifest["files"]["uploads/../../x"] = manifest["files"][upload]
        files["manifest.json"] = json.dumps(manifest).encode()
    if damage == "no manifest":
        del files["manifest.json"]
    with zipfile.ZipFile(broken, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    if damage == "short":
        broken.write_bytes(broken.read_bytes()[:-2000])
    if damage == "no zip":
        broken.write_bytes(b"")
    with pytest.raises(InputError, match="no whole and unchanged backup"):
        restore(store, broken, replace=True)
    assert export_project(store, project_id) == exported
    assert not (tmp_path / "x").exists()


def test_what_another_kind_of_database_or_a_newer_runoff_wrote_is_refused(kept, tmp_path, database):
    store, target, *_ = kept
    other = "postgresql" if database == "sqlite" else "sqlite"
    for change, said in (({}, "other kind of database"), ({"schema": "9999"}, "newer Runoff")):
        odd = tmp_path / "odd.zip"
        with zipfile.ZipFile(target) as archive:
            manifest = json.loads(archive.read("manifest.json"))
            name = DATABASES[other if not change else database]
            manifest = {**manifest, "files": {name: manifest["files"][DATABASES[database]]}, **change}
            with zipfile.ZipFile(odd, "w") as out:
                out.writestr(name, archive.read(DATABASES[database]))
                out.writestr("manifest.json", json.dumps(manifest))
        with pytest.raises(StoreError, match=said):
            restore(store, odd, replace=True)


def test_a_file_is_never_written_over(kept, tmp_path):
    store, target, *_ = kept
    with pytest.raises(StoreError, match="is there already"):
        back_up(store, target)
    with pytest.raises(StoreError, match="can't be written"):
        back_up(store, tmp_path / "no folder" / "b.zip")
    with pytest.raises(StoreError, match="can't be read"):
        restore(store, tmp_path / "none.zip", replace=True)


def test_without_postgresqls_programs_it_is_told(kept, tmp_path, database, monkeypatch):
    if database == "sqlite":
        pytest.skip("SQLite needs no program")
    store, *_ = kept
    monkeypatch.setattr(backups, "find_program", lambda name: None)
    with pytest.raises(StoreError, match="pg_dump, which isn't installed"):
        back_up(store, tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


def test_the_commands(kept, tmp_path, monkeypatch):
    store, _, project_id, exported = kept
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(store.folder))
    file = tmp_path / "by-command.zip"
    made = CliRunner().invoke(cli, ["backup", str(file), "--json"], catch_exceptions=False)
    assert json.loads(made.output)["files"] == 2
    create_project(store, "Later")
    store.engine.dispose()
    done = CliRunner().invoke(cli, ["restore", str(file), "--replace"], catch_exceptions=False)
    assert "is as it was at" in done.output
    _open.cache_clear()
    again = open_store(store.folder)
    assert [project.id for project in list_projects(again)] == [project_id]
    assert export_project(again, project_id) == exported
