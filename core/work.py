"""What jobs do, in the process that `jobs` starts for them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from .embeddings import import_embedding
from .jobs import Job, Reporter, mark_done, remove_upload
from .store import Store
from .store.command import command
from .store.library import adopt_import, link_embedding, record_import


def _import_embedding(store: Store, job: Job, report: Reporter) -> None:
    source = Path(job.params["path"])
    work = store.incoming / f"job-{job.id}"
    shown = job.params.get("shown", str(source))
    info = import_embedding(
        source,
        work,
        progress=lambda done, total: report(done, total, "bytes read"),
        name=re.split(r"[/\\]", shown)[-1],
        trusted=bool(job.params.get("trusted", False)),
        encoding=job.params.get("encoding") or "utf-8",
        vocabulary=job.params.get("vocabulary") or None,
    )
    embedding_id = adopt_import(store, work, info.identity)
    name = job.params.get("name") or source.stem
    result = {"embedding_id": embedding_id, "n_words": info.n_words, "dimensions": info.dimensions}
    if job.project_id is None:
        with store.write() as conn:
            record_import(conn, embedding_id, name=name, source=shown, info=info)
            mark_done(conn, job.id, result)
    else:
        with command(store, job.project_id, "import embedding") as change:
            change.detail = {"embedding": embedding_id, "name": name, "source": shown}
            record_import(change.conn, embedding_id, name=name, source=shown, info=info)
            result["name"] = link_embedding(change.conn, job.project_id, embedding_id, name)
            mark_done(change.conn, job.id, result)
    remove_upload(store, job.params)


WORK: dict[str, Callable[[Store, Job, Reporter], None]] = {"import_embedding": _import_embedding}
