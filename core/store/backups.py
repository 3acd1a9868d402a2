"""Backups: of the database before each migration, and of a whole workspace when somebody asks for one.

A workspace's backup is a zip: `manifest.json` names every other file with its SHA-256; `runoff.sqlite`, or for
PostgreSQL `database.pgdump` (pg_dump's own format); the files under `uploads/` and `answers/`, which were paid for;
with `embeddings` those too.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import sqlite3
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from .. import __version__
from ..base.durable import make_folder, private, put, rights_in
from ..errors import InputError, StoreError
from ..tabular.zips import DAMAGED, check_sizes, read_member
from . import dialects
from .engine import HEAD, Store, now, schema_version

SQLITE, DUMP = "runoff.sqlite", "database.pgdump"
UNSAVED = "RUNOFF_MIGRATE_WITHOUT_BACKUP"
_BLOCK = 1 << 20
_MAX_MANIFEST = 1 << 24  # names 100,000 files


def before_migration(store: Store, version: str) -> Path | None:
    """Copy the database into `backups/`; returns the copy's path.

    On PostgreSQL that takes pg_dump. Raises `StoreError` where it isn't there, unless `RUNOFF_MIGRATE_WITHOUT_BACKUP`
    is 1: then None is returned.
    """
    stamp = now().replace(":", "").replace("+0000", "")
    on_server = dialects.is_postgresql(store.engine)
    if on_server and os.environ.get(UNSAVED) == "1":
        return None
    target = store.folder / "backups" / f"{stamp}-before-{version}.{'pgdump' if on_server else 'sqlite'}"
    make_folder(target.parent, 0o700)
    part = target.with_suffix(".part")
    with open(part, "wb", opener=private):  # the programs that write into it would make it readable for everybody
        pass
    _copy_database(store, part)
    put(part, target)
    return target


def _copy_database(store: Store, target: Path) -> None:
    """A consistent copy of a database that may be in use."""
    if dialects.is_postgresql(store.engine):
        run_program(
            "pg_dump", store.engine.url, ["--format=custom", "--no-owner", "--no-privileges", f"--file={target}"]
        )
        return
    with closing(sqlite3.connect(store.folder / SQLITE)) as source, closing(sqlite3.connect(target)) as copy, copy:
        source.backup(copy)


def find_program(name: str) -> str | None:
    """PostgreSQL's program of a name, the newest that is installed; None where there is none."""
    debian = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    return str(debian[-1]) if debian else shutil.which(name)


def run_program(name: str, url: sa.URL, options: list[str]) -> None:
    """Run one of PostgreSQL's programs on a database; its password is in no command line.

    Raises `StoreError` where the program isn't there or doesn't get through.
    """
    program = find_program(name)
    if program is None:
        raise StoreError(
            f"A backup of {dialects.shown(url)} takes the program {name}, which isn't installed (Debian: apt install "
            f"postgresql-client). Nothing was changed. To go on without one, set {UNSAVED}=1, once you have a backup."
        )
    address = dialects.without_password(url).render_as_string()
    # Whoever waits for a command under way gives up as the store does.
    environment = {"PGOPTIONS": "-c lock_timeout=30000", **os.environ}
    environment |= {"PGPASSWORD": str(url.password)} if url.password else {}
    done = subprocess.run(
        [program, *options, f"--dbname={address}"],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[0]
        raise StoreError(f"{name} did not get through ({said}). Nothing was changed.")


# When asked


_ROOTS = (SQLITE, DUMP, "uploads", "answers", "embeddings")  # what a backup may hold


def back_up(store: Store, target: Path, *, embeddings: bool = False) -> dict[str, Any]:
    """Write a backup of the workspace to `target`, for nobody else to read; what stands in its manifest.

    The workspace may be in use. Raises `StoreError` where the file is there already or can't be written.
    """
    if target.exists():
        raise StoreError(f"{target} is there already. Choose another name, or delete it first.")
    # A name that nobody else can have put a file or a link of theirs under, in a folder of all.
    part = target.with_name(f"{target.name}.{secrets.token_hex(8)}.part")
    with store.read() as conn:
        manifest: dict[str, Any] = {"runoff": __version__, "schema": schema_version(conn), "at": now(), "files": {}}
    try:
        with tempfile.TemporaryDirectory(dir=store.incoming) as folder:
            database = Path(folder) / (DUMP if dialects.is_postgresql(store.engine) else SQLITE)
            # The database first: a file that it names was written before it.
            _copy_database(store, database)
            part.touch(mode=0o600, exist_ok=False)
            with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                for path, name in [(database, database.name), *_kept(store, embeddings)]:
                    manifest["files"][name] = _digest(path)
                    archive.write(path, name)
                archive.writestr("manifest.json", json.dumps(manifest, indent=1))
        put(part, target)
    except OSError as error:
        raise StoreError(f"The backup can't be written to {target} ({error.strerror}).") from error
    finally:
        with suppress(OSError):
            part.unlink()
    return manifest


def _kept(store: Store, embeddings: bool) -> Iterator[tuple[Path, str]]:
    for folder in (store.uploads, store.answers, *((store.embeddings,) if embeddings else ())):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != ".part":  # an answer that is being written
                yield path, path.relative_to(store.folder).as_posix()


def _digest(path: Path) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def restore(store: Store, source: Path, *, replace: bool = False) -> dict[str, Any]:
    """Bring a workspace back as it was when `back_up` wrote `source`; what stands in its manifest.

    A workspace with projects is refused unless `replace` says otherwise; what it holds is then written to `backups/`
    first. Raises `InputError` for a file that isn't a whole and unchanged backup, `StoreError` where it is of the other
    kind of database or of a newer schema; nothing is changed then. Embeddings that the file lacks stay as they are.
    """
    name = DUMP if dialects.is_postgresql(store.engine) else SQLITE
    with tempfile.TemporaryDirectory(dir=store.incoming) as folder:
        manifest = _unpacked(source, Path(folder))
        if name not in manifest["files"]:
            raise StoreError(
                f"{source.name} is a backup of the other kind of database, and {dialects.name_of(store.engine)} can't "
                "take it. Restore it where it came from, and move projects as exported files."
            )
        if str(manifest.get("schema")) > HEAD:
            raise StoreError(f"{source.name} is of a newer Runoff (schema {manifest['schema']}). Update Runoff first.")
        _make_room(store, replace)
        for kept in manifest["files"]:
            if kept != name:
                make_folder((store.folder / kept).parent, rights_in(store.folder))
                put(Path(folder) / kept, store.folder / kept)
        _put_back(store, Path(folder) / name)
    return manifest


def _unpacked(source: Path, folder: Path) -> dict[str, Any]:
    """A backup's files in a folder, each checked against the manifest."""
    rights = rights_in(folder.parent) & 0o666  # the workspace's; the folder itself is for this process alone

    def shared(path: str, flags: int) -> int:
        return os.open(path, flags, rights)

    damaged = InputError(f"{source.name} is no whole and unchanged backup of a workspace. Choose another one.")
    try:
        with zipfile.ZipFile(source) as archive:
            check_sizes(archive, source.stat().st_size, shutil.disk_usage(folder).free)
            manifest = json.loads(read_member(archive, archive.getinfo("manifest.json"), _MAX_MANIFEST))
            for name, digest in manifest["files"].items():
                parts = Path(name).parts
                if parts[0] not in _ROOTS or ".." in parts or Path(name).is_absolute():
                    raise damaged
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(name) as packed, open(target, "wb", opener=shared) as handle:
                    shutil.copyfileobj(packed, handle, _BLOCK)
                if _digest(target) != digest:
                    raise damaged
    except InputError:
        raise
    except OSError as error:
        raise StoreError(f"{source} can't be read ({error.strerror}).") from error
    except (*DAMAGED, TypeError, AttributeError) as error:
        raise damaged from error
    return dict(manifest)


def _make_room(store: Store, replace: bool) -> None:
    from . import schema as t

    with store.read() as conn:
        n_projects = len(conn.execute(sa.select(t.project.c.id)).all())
    if n_projects and not replace:
        raise StoreError(
            f"The workspace {store.folder} has {n_projects} projects, which would be gone. Choose an empty one with "
            "RUNOFF_WORKSPACE, or say --replace: then it is saved to its folder backups/ first."
        )
    if n_projects:
        stamp = now().replace(":", "").replace("+0000", "")
        back_up(store, store.folder / "backups" / f"{stamp}-before-restore.zip")


def _put_back(store: Store, copy: Path) -> None:
    """Put a database's copy in the place of the database, in one step, also for others who have it open."""
    if dialects.is_postgresql(store.engine):
        with store.read() as conn:
            badge = dialects.postgresql().badge(conn)
        clean = ["--clean", "--if-exists", "--single-transaction", "--no-owner", "--no-privileges", "--exit-on-error"]
        store.engine.dispose()
        run_program("pg_restore", store.engine.url, [*clean, str(copy)])
        if badge:
            with store.write() as conn:
                dialects.postgresql().write_badge(conn, badge)  # the folder stays this one
        return
    try:
        with closing(sqlite3.connect(copy)) as source, closing(sqlite3.connect(store.folder / SQLITE)) as target:
            if source.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                raise InputError("The database in the backup is damaged. Choose another one.")
            target.execute("PRAGMA synchronous=FULL")  # SQLite is built with NORMAL too, by which this could be lost
            source.backup(target)
    except sqlite3.DatabaseError as error:
        raise StoreError(f"The database can't be put back ({error}).") from error
