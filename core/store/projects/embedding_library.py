"""The workspace's embeddings, and which of them a project compares."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

import sqlalchemy as sa

from ...base.durable import put, shown_path
from ...embeddings import (
    REMEDIES,
    Embedding,
    EmbeddingInfo,
    LookUp,
    Remedy,
    as_mode,
    import_embedding,
    open_embedding,
)
from ...errors import InputError, RunoffError, StoreError
from .. import schema as t
from ..command import Change, command, insert_missing
from ..engine import Store, now
from .project_commands import get_project


@dataclass(frozen=True)
class Imported:
    """An imported embedding as pages see it; `info` holds what the import noticed.

    `subwords` says that the project lets it make vectors of words outside its vocabulary (fastText only); `lower` and
    `multiword` how the project looks tokens up in it (see `embeddings.LookUp`).
    """

    id: str
    name: str
    format: str
    n_words: int
    dimensions: int
    source: str
    info: dict
    imported_at: str
    subwords: bool = False
    lower: bool = False
    multiword: str = "as they are"

    @property
    def look_up(self) -> LookUp:
        """How the project looks tokens up in it."""
        return LookUp(self.lower, as_mode(self.multiword))

    @property
    def has_vectors(self) -> bool:
        """It is no table of similarities."""
        return self.info.get("kind") != "similarities"

    @property
    def has_subwords(self) -> bool:
        """It could make vectors of words outside its vocabulary."""
        return bool(self.info.get("n_buckets"))


_OPTIONS = [t.project_embedding.c[name] for name in ("subwords", "lower", "multiword")]
_COLUMNS = [t.embedding.c[name] for name in Imported.__annotations__ if name in t.embedding.c]
_NAMED = [t.project_embedding.c.name if column.name == "name" else column for column in _COLUMNS] + _OPTIONS


def embeddings_of(conn: sa.Connection, project_id: str) -> list[Imported]:
    """The project's embeddings, in the order they were added."""
    query = (
        sa.select(*_NAMED)
        .join(t.project_embedding, t.project_embedding.c.embedding_id == t.embedding.c.id)
        .where(t.project_embedding.c.project_id == project_id)
        .order_by(t.project_embedding.c.added_at, t.embedding.c.id)
    )
    return [Imported(*row) for row in conn.execute(query)]


def read_embeddings(store: Store, project_id: str) -> list[Imported]:
    """The project's embeddings, in the order they were added."""
    with store.read() as conn:
        return embeddings_of(conn, project_id)


def other_embeddings(store: Store, project_id: str) -> list[Imported]:
    """Embeddings of the workspace that the project doesn't use yet."""
    with store.read() as conn:
        own = {embedding.id for embedding in embeddings_of(conn, project_id)}
        rows = conn.execute(sa.select(*_COLUMNS).order_by(t.embedding.c.imported_at))
        return [Imported(*row) for row in rows if row.id not in own]


def import_into(store: Store, project_id: str, path: str | Path, *, name: str = "", trusted: bool = False) -> str:
    """Import the embedding in a file here and now, as the app does by a job, use it in a project, and return the name
    that it has there.

    name : by default the file's, without its ending; a number is added where another embedding of the project has it.
    trusted : open gensim's own files, which are pickles and could run a program.

    What is known already by its content isn't stored twice. Raises `InputError` for a file that is no embedding,
    `StoreError` for an unknown project; the workspace is then as it was.
    """
    get_project(store, project_id)
    source = Path(path)
    shown, called = shown_path(source), name or shown_path(source.stem)
    work = store.incoming / f"import-{uuid4().hex}"
    try:
        info = import_embedding(source, work, trusted=trusted)
        embedding_id = adopt_import(store, work, info.identity)
        with command(store, project_id, "import embedding") as change:
            return take_import(change, embedding_id, info, name=called, source=shown)
    finally:
        for left in store.incoming.glob(f"{work.name}*"):
            shutil.rmtree(left, ignore_errors=True)


def adopt_import(store: Store, work: Path, identity: str) -> str:
    """Move a finished import from `work` to its place, named by its content; returns the id it has there.

    What is there already stays, unless it is damaged: then the new import takes its place.
    """
    embedding_id = identity[:16]
    target = store.embeddings / embedding_id
    damaged = work.with_name(f"{work.name}-damaged.part")
    if target.exists() and not _is_sound(target):
        with suppress(FileNotFoundError):  # another import of the same file may have been quicker
            target.rename(damaged)
    try:
        put(work, target)
    except OSError:
        if not _is_sound(target):
            raise
        shutil.rmtree(work)  # the same content was imported before, or at the same time
    shutil.rmtree(damaged, ignore_errors=True)
    return embedding_id


def _is_sound(folder: Path) -> bool:
    """Whether an imported embedding opens."""
    try:
        open_embedding(folder)
    except RunoffError:
        return False
    return True


def record_import(conn: sa.Connection, embedding_id: str, *, name: str, source: str, info: EmbeddingInfo) -> None:
    """Write an imported embedding's row, unless the same content is there already."""
    insert_missing(
        conn,
        t.embedding,
        id=embedding_id,
        name=name,
        format=info.format,
        n_words=info.n_words,
        dimensions=info.dimensions,
        content_hash=info.identity,
        source=source,
        info={**asdict(info), "identity": info.identity},
        imported_at=now(),
    )


def take_import(change: Change, embedding_id: str, info: EmbeddingInfo, *, name: str, source: str) -> str:
    """Record an import and use it in the command's project; the name that it has there."""
    change.detail = {"embedding": embedding_id, "name": name, "source": source}
    record_import(change.conn, embedding_id, name=name, source=source, info=info)
    return link_embedding(change.conn, change.project_id, embedding_id, name)


def link_embedding(conn: sa.Connection, project_id: str, embedding_id: str, name: str) -> str:
    """Add an embedding to a project, and return the name it has there.

    One that is there already gets the name. A name that another embedding of the project has gets a number.
    """
    others = {e.name for e in embeddings_of(conn, project_id) if e.id != embedding_id}
    free = next(n for n in (name, *(f"{name} ({k})" for k in range(2, len(others) + 3))) if n not in others)
    key = {"project_id": project_id, "embedding_id": embedding_id}
    is_linked = sa.select(t.project_embedding.c.added_at).filter_by(**key)
    if conn.execute(is_linked).first() is None:
        conn.execute(sa.insert(t.project_embedding).values(**key, name=free, added_at=now()))
    else:
        conn.execute(sa.update(t.project_embedding).filter_by(**key).values(name=free))
    return free


def add_embedding(store: Store, project_id: str, embedding_id: str) -> None:
    """Use an embedding of the workspace in a project."""
    with command(store, project_id, "add embedding") as change:
        query = sa.select(t.embedding.c.name).where(t.embedding.c.id == embedding_id)
        name = change.conn.execute(query).scalar_one_or_none()
        if name is None:
            raise StoreError("There is no such embedding in this workspace. Import it.")
        change.detail = {"embedding": embedding_id, "name": name}
        link_embedding(change.conn, project_id, embedding_id, name)


def remove_embedding(store: Store, project_id: str, embedding_id: str) -> None:
    """Use an embedding no longer in a project; the import stays in the workspace."""
    with command(store, project_id, "remove embedding") as change:
        change.detail = {"embedding": embedding_id}
        unlink_embedding(change.conn, project_id, embedding_id)


def unlink_embedding(conn: sa.Connection, project_id: str, embedding_id: str) -> None:
    """Take an embedding out of a project, inside a command."""
    key = {"project_id": project_id, "embedding_id": embedding_id}
    conn.execute(sa.delete(t.project_embedding).filter_by(**key))


def set_subwords(
    store: Store, project_id: str, embedding_id: str, use: bool, *, expected_revision: int | None = None
) -> None:
    """Let an embedding make vectors of words outside its vocabulary in this project, or not."""
    with command(store, project_id, "set subwords", expected_revision=expected_revision) as change:
        _compared(change.conn, project_id, embedding_id)
        change.detail = {"embedding": embedding_id, "subwords": use}
        key = {"project_id": project_id, "embedding_id": embedding_id}
        change.conn.execute(sa.update(t.project_embedding).filter_by(**key).values(subwords=use))


def set_lookup(
    store: Store, project_id: str, embedding_id: str, look_up: LookUp, *, expected_revision: int | None = None
) -> None:
    """Say how tokens are looked up in an embedding in this project.

    Raises `InputError` for the mean of parts in a table of similarities, which has no vectors.
    """
    with command(store, project_id, "set look-up", expected_revision=expected_revision) as change:
        of = _compared(change.conn, project_id, embedding_id)
        if look_up.takes_means and not of.has_vectors:
            raise InputError(f"{of.name} gives similarities of pairs; it has no vectors to take a mean of.")
        values = {"lower": look_up.lower, "multiword": look_up.multiword}
        change.detail = {"embedding": embedding_id, "name": of.name, **values}
        key = {"project_id": project_id, "embedding_id": embedding_id}
        change.conn.execute(sa.update(t.project_embedding).filter_by(**key).values(**values))


def _compared(conn: sa.Connection, project_id: str, embedding_id: str) -> Imported:
    """An embedding of the project; `StoreError` where it isn't one any more."""
    embedding = next((e for e in embeddings_of(conn, project_id) if e.id == embedding_id), None)
    if embedding is None:
        raise StoreError("This embedding is no longer compared in the project. Add it again first.")
    return embedding


def set_remedy(
    store: Store, project_id: str, remedy: Remedy, on: bool, *, expected_revision: int | None = None
) -> tuple[str, ...]:
    """Look missing tokens up in this way too in every embedding of the project that can, or in none of them any more;
    returns the names of those for which that is new. Tokens that are found keep their vectors."""
    action = "apply remedy" if on else "take remedy back"
    with command(store, project_id, action, expected_revision=expected_revision) as change:
        changed = []
        for of in embeddings_of(change.conn, project_id):
            if remedy == "mean" and not of.has_vectors:
                continue
            new = of.look_up.with_remedy(remedy) if on else of.look_up.without_remedy(remedy)
            if new != of.look_up:
                key = {"project_id": project_id, "embedding_id": of.id}
                values = {"lower": new.lower, "multiword": new.multiword}
                change.conn.execute(sa.update(t.project_embedding).filter_by(**key).values(**values))
                changed.append(of.name)
        if not changed:
            raise InputError("No embedding of the project looks tokens up in another way after that.")
        change.detail = {"remedy": REMEDIES[remedy], "embeddings": changed}
        return tuple(changed)


def open_library(store: Store, imported: Imported) -> Embedding:
    """An imported embedding as a project uses it, memory-mapped; opened once a process."""
    folder = store.embeddings / imported.id
    if not folder.is_dir():
        raise StoreError(
            f"The files of this embedding are gone from {folder}. Import it again, or remove it on the Embeddings page."
        )
    opened = _opened(folder, folder.stat().st_mtime_ns, imported.subwords and imported.has_subwords)
    return opened if imported.look_up == LookUp() else _looked_up(opened, imported.look_up)


@lru_cache(maxsize=32)
def _opened(folder: Path, _moment: int, subwords: bool) -> Embedding:
    return open_embedding(folder, subwords=subwords)


@lru_cache(maxsize=32)
def _looked_up(opened: Embedding, look_up: LookUp) -> Embedding:
    return opened.with_look_up(look_up)  # shares the maps, and remembers the rows it has looked up
