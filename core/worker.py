"""What a job's process does: its work, with progress and a sign of life every few seconds."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from .base.durable import shown_path
from .commands import executor
from .embeddings import EmbeddingInfo, import_embedding
from .encoders import (
    EmbeddingServer,
    ModelSource,
    digest_of,
    encode_into,
    encoder_of,
    inspect,
    open_encoder,
    open_scorer,
    score_into,
)
from .encoders.encoding import ENCODED, STATIC_MODEL
from .encoders.server import serve_into
from .errors import RunoffError, StoreError
from .jobs.lifecycle import JOBS, Job, Reporter, clean_up, finish, read_job, remove_upload
from .store import Store, open_store
from .store import schema as t
from .store.command import command, mark_done
from .store.engine import now
from .store.projects.embedding_library import adopt_import, embeddings_of, record_import, take_import, unlink_embedding
from .store.projects.model_servers import check_allowed
from .store.tokens.areas import areas_of

BEAT_SECONDS = 5.0


@contextmanager
def _heartbeat(store: Store, job_id: str) -> Iterator[None]:
    """Say every few seconds that the process is alive, also while its work has nothing to report."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(BEAT_SECONDS):
            with store.write(JOBS) as conn:
                conn.execute(sa.update(t.job).where(t.job.c.id == job_id).values(heartbeat_at=now()))

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def run(job_id: str) -> None:
    """Carry out a job in this process: what `python -m core job ID` does."""
    store = open_store()
    job = read_job(store, job_id)
    if job.state != "queued":
        return
    with store.write(JOBS) as conn:
        conn.execute(
            sa.update(t.job)
            .where(t.job.c.id == job_id, t.job.c.state == "queued")
            .values(state="running", pid=os.getpid(), started_at=now(), heartbeat_at=now())
        )
    try:
        with _heartbeat(store, job_id):
            if job.kind not in WORK:
                raise StoreError(executor.OTHER_VERSION)
            WORK[job.kind](store, job, Reporter(store, job_id))
    except RunoffError as error:
        finish(store, job_id, state="failed", error=str(error))
        clean_up(store, job)
    except MemoryError:
        finish(store, job_id, state="failed", error="This machine has not enough free memory for it.")
        clean_up(store, job)
    except OSError as error:
        finish(store, job_id, state="failed", error=f"{error.strerror or error} ({error.filename or 'no file named'}).")
        clean_up(store, job)


def _import_embedding(store: Store, job: Job, report: Reporter) -> None:
    source = Path(job.params["path"])
    work = store.incoming / f"job-{job.id}"
    shown = shown_path(job.params.get("shown", source))
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
    name = job.params.get("name") or shown_path(source.stem)
    result = {"embedding_id": embedding_id, "n_words": info.n_words, "dimensions": info.dimensions}
    if job.project_id is None:
        with store.write(JOBS) as conn:
            record_import(conn, embedding_id, name=name, source=shown, info=info)
            mark_done(conn, job.id, result)
    else:
        with command(store, job.project_id, "import embedding") as change:
            result["name"] = take_import(change, embedding_id, info, name=name, source=shown)
            mark_done(change.conn, job.id, result)
    remove_upload(store, job.params)


def _encode_tokens(store: Store, job: Job, report: Reporter) -> None:
    """What a model makes of the project's tokens; what it made of earlier token lists goes."""
    project_id, work = str(job.project_id), store.incoming / f"job-{job.id}"
    with store.read() as conn:
        areas = areas_of(conn, project_id)
    tokens = [token for area in areas for token in area.tokens]
    if "server" in job.params:
        info, digest = _served(store, job, report, work, tokens)
        source = info.source
    else:
        pairs = [pair for area in areas for pair in combinations(area.tokens, 2)]
        info, digest = _from_folder(job, report, work, tokens, pairs)
        source = shown_path(job.params["path"])
    embedding_id = adopt_import(store, work, info.identity)
    result: dict[str, Any] = {"n_words": info.n_words, "dimensions": info.dimensions, "embedding_id": embedding_id}
    with command(store, project_id, "encode tokens") as change:
        for before in embeddings_of(change.conn, project_id):
            if before.id != embedding_id and encoder_of(before.info) == digest:
                unlink_embedding(change.conn, project_id, before.id)
        result["name"] = take_import(change, embedding_id, info, name=job.params["name"], source=source)
        mark_done(change.conn, job.id, result)


def _from_folder(
    job: Job, report: Reporter, work: Path, tokens: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> tuple[EmbeddingInfo, str]:
    """What the model of a folder makes of tokens, or of the pairs within each area; and the hash of its files."""
    model, trusted = inspect(job.params["path"]), bool(job.params.get("trusted", False))
    digest = digest_of(model)
    source = ModelSource(model.name, digest, model.recipe(digest), STATIC_MODEL if model.static else ENCODED)
    if model.scores_pairs:
        scorer = open_scorer(model, trusted=trusted)
        message = "pairs read in both orders"
        return score_into(work, scorer, pairs, source, lambda done, total: report(done, total, message)), digest
    encoder = open_encoder(model, trusted=trusted)
    message = "tokens encoded"
    return encode_into(work, encoder, tokens, source, lambda done, total: report(done, total, message)), digest


def _served(store: Store, job: Job, report: Reporter, work: Path, tokens: Sequence[str]) -> tuple[EmbeddingInfo, str]:
    """What a server makes of tokens, as long as the project lets them be sent there; and the hash of what it is."""
    server = EmbeddingServer(**job.params["server"])
    project_id = str(job.project_id)

    def told(done: int, total: int, message: str) -> None:
        check_allowed(store, project_id, server.address)
        report(done, total, message)

    check_allowed(store, project_id, server.address)
    anew = bool(job.params.get("anew", False))
    return serve_into(work, server, tokens, server.kept(store.answers), anew=anew, progress=told), server.digest


WORK: dict[str, Callable[[Store, Job, Reporter], None]] = {
    "import_embedding": _import_embedding,
    "encode_tokens": _encode_tokens,
    executor.KIND: executor.carry_out,
    **dict.fromkeys({figure.kind for figure in executor.FIGURES.values()}, executor.measure),
}
