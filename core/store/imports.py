"""An embedding imported from a file into a project, here and now; the app does the same as a job."""

from __future__ import annotations

import shutil
from pathlib import Path
from uuid import uuid4

from ..embeddings import import_embedding
from ..file_names import shown_path
from .command import command
from .engine import Store
from .library import adopt_import, link_embedding, record_import
from .projects import get_project


def import_into(store: Store, project_id: str, path: str | Path, *, name: str = "", trusted: bool = False) -> str:
    """Import the embedding in a file, use it in a project, and return the name that it has there.

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
            change.detail = {"embedding": embedding_id, "name": called, "source": shown}
            record_import(change.conn, embedding_id, name=called, source=shown, info=info)
            return link_embedding(change.conn, project_id, embedding_id, called)
    finally:
        for left in store.incoming.glob(f"{work.name}*"):
            shutil.rmtree(left, ignore_errors=True)
