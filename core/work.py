"""What jobs do, in the process that `jobs` starts for them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .commands import executor
from .embeddings import import_embedding
from .encoders import digest_of, encode_into, encoder_of, look_at, open_encoder
from .file_names import shown_path
from .jobs import JOBS, Job, Reporter, remove_upload
from .panel import Panel
from .plan import Plan
from .planning import Guess, at_other_budgets
from .store import Store
from .store.areas import areas_of
from .store.command import command
from .store.forecasts import GuessSource, make_forecast, make_search, read_guess
from .store.job_rows import mark_done
from .store.library import adopt_import, embeddings_of, link_embedding, record_import, unlink_embedding
from .store.scheme_runs import SchemeQuestion, as_result, run_schemes
from .views.evaluate_needed import simulate


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
            change.detail = {"embedding": embedding_id, "name": name, "source": shown}
            record_import(change.conn, embedding_id, name=name, source=shown, info=info)
            result["name"] = link_embedding(change.conn, job.project_id, embedding_id, name)
            mark_done(change.conn, job.id, result)
    remove_upload(store, job.params)


def _encode_tokens(store: Store, job: Job, report: Reporter) -> None:
    """A sentence encoder's vectors of the project's tokens; what it made of earlier token lists goes."""
    project_id = str(job.project_id)
    found = look_at(job.params["path"])
    with store.read() as conn:
        tokens = [token for area in areas_of(conn, project_id) for token in area.tokens]
    encoder, digest = open_encoder(found, trusted=bool(job.params.get("trusted", False))), digest_of(found)
    work, source = store.incoming / f"job-{job.id}", str(found.folder)
    info = encode_into(
        work,
        encoder,
        tokens,
        source=found.name,
        digest=digest,
        progress=lambda done, total: report(done, total, "tokens encoded"),
    )
    embedding_id = adopt_import(store, work, info.identity)
    result: dict[str, Any] = {"n_words": info.n_words, "dimensions": info.dimensions, "embedding_id": embedding_id}
    with command(store, project_id, "encode tokens") as change:
        change.detail = {"embedding": embedding_id, "name": job.params["name"], "source": source}
        record_import(change.conn, embedding_id, name=job.params["name"], source=source, info=info)
        for before in embeddings_of(change.conn, project_id):
            if before.id != embedding_id and encoder_of(before.info) == digest:
                unlink_embedding(change.conn, project_id, before.id)
        result["name"] = link_embedding(change.conn, project_id, embedding_id, job.params["name"])
        mark_done(change.conn, job.id, result)


def _plan_curve(store: Store, job: Job, report: Reporter) -> None:
    """Forecasts of a plan's ballots at other budgets, by each protocol; those known already are passed over."""
    guess, plan = _guess(store, job), Plan(**job.params["plan"])
    wanted = [(other, protocol) for other in at_other_budgets(plan) for protocol in job.params["protocols"]]
    for done, (other, protocol) in enumerate(wanted):
        report(done, len(wanted), f"{other.n_comparisons:,} votes")
        make_forecast(store, guess, other, protocol, workers=None)
    with store.write(JOBS) as conn:
        mark_done(conn, job.id, {"forecasts": len(wanted)})


def _plan_search(store: Store, job: Job, report: Reporter) -> None:
    """The search for the plan that makes most of a budget."""
    made = make_search(
        store,
        _guess(store, job),
        job.params["n_comparisons"],
        job.params["protocol"],
        job.params["goal"],
        workers=None,
        progress=lambda done, total: report(done, total, "campaigns simulated"),
    )
    with store.write(JOBS) as conn:
        mark_done(conn, job.id, {"plans": made.n_tried if made else 0})


def _scheme_table(store: Store, job: Job, report: Reporter) -> None:
    """The schemes side by side; the rows are the job's result."""
    asked = SchemeQuestion.of(job.params)
    rows = run_schemes(
        store, str(job.project_id), asked, progress=lambda done, total: report(done, total, "panels simulated")
    )
    with store.write() as conn:
        mark_done(conn, job.id, as_result(rows))


def _needed(store: Store, job: Job, report: Reporter) -> None:
    """How many votes and tokens tell two embeddings apart; the answer is the job's result."""
    found = simulate(
        store, str(job.project_id), job.params, progress=lambda done, total: report(done, total, "simulated")
    )
    with store.write() as conn:
        mark_done(conn, job.id, found)


def _command(store: Store, job: Job, report: Reporter) -> None:
    executor.carry_out(store, job)


def _figure(store: Store, job: Job, report: Reporter) -> None:
    executor.measure(store, job, report)


def _guess(store: Store, job: Job) -> Guess:
    params = job.params["guess"]
    panel: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in params["panel"].items()}
    source = GuessSource(params["similarity"], Panel(**panel))
    return read_guess(store, str(job.project_id), job.params["area_id"], source)


WORK: dict[str, Callable[[Store, Job, Reporter], None]] = {
    "import_embedding": _import_embedding,
    "encode_tokens": _encode_tokens,
    "plan_curve": _plan_curve,
    "plan_search": _plan_search,
    "scheme_table": _scheme_table,
    "needed": _needed,
    executor.KIND: _command,
    **dict.fromkeys({figure.kind for figure in executor.FIGURES.values()}, _figure),
}
