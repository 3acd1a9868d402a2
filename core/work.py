"""What jobs do, in the process that `jobs` starts for them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from .commands import executor
from .embeddings import import_embedding
from .encoders import digest_of, encode_into, encoder_of, look_at, open_encoder
from .figures import tidy
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
from .views import (
    checks_job,
    evaluate_jobs,
    preview_job,
    project_file_job,
    publication_job,
    settlement_job,
    trust_job,
    upload_jobs,
    voters_job,
)
from .views.evaluate_needed import simulate
from .views.kept_figures import KeptFigures


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


def _evaluation_figure(store: Store, job: Job, report: Reporter) -> None:
    """A figure of the Evaluate page; what was found is the job's result."""
    project_id, said = str(job.project_id), evaluate_jobs.SLOW[job.params["figure"]].label
    result = evaluate_jobs.carry_out(store, project_id, job.params, lambda done, total: report(done, total, said))
    with store.write(JOBS) as conn:
        mark_done(conn, job.id, result)
        tidy(conn, project_id, evaluate_jobs.KIND, job.params["revision"])


def _evaluation_figures(store: Store, job: Job, report: Reporter) -> None:
    """All that a first visit of the Evaluate page wants; each figure is kept as soon as it is there."""
    project_id, revision = str(job.project_id), job.params["revision"]
    n0, notion, policy, top = job.params["settings"]
    made = evaluate_jobs.keep_figures(
        store,
        project_id,
        (n0, notion, policy, top),
        most_seconds=evaluate_jobs.BY_ITSELF,
        revision=revision,
        progress=lambda done, total: report(done, total, "figures measured"),
    )
    with store.write(JOBS) as conn:
        mark_done(conn, job.id, {"figures": made})
        tidy(conn, project_id, evaluate_jobs.SEVERAL, revision)


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


def _upload_preview(store: Store, job: Job, report: Reporter) -> None:
    """What a large result file holds; what a page shows of it is the job's result."""
    found = upload_jobs.preview(store, str(job.project_id), job.params, job.id)
    with store.write(JOBS) as conn:
        mark_done(conn, job.id, {"found": found})


def _votes_figures(figures: KeptFigures, store: Store, job: Job, report: Reporter) -> None:
    """Figures of the votes of a ranking; they are the job's result."""
    found = figures.carry_out(store, str(job.project_id), job.params, job.id)
    with store.write(JOBS) as conn:
        mark_done(conn, job.id, found)


def _guess(store: Store, job: Job) -> Guess:
    params = job.params["guess"]
    panel: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in params["panel"].items()}
    source = GuessSource(params["similarity"], Panel(**panel))
    return read_guess(store, str(job.project_id), job.params["area_id"], source)


WORK: dict[str, Callable[[Store, Job, Reporter], None]] = {
    "import_embedding": _import_embedding,
    "encode_tokens": _encode_tokens,
    "evaluation_figure": _evaluation_figure,
    "evaluation_figures": _evaluation_figures,
    "plan_curve": _plan_curve,
    "plan_search": _plan_search,
    "scheme_table": _scheme_table,
    "needed": _needed,
    executor.KIND: _command,
    upload_jobs.KIND: _upload_preview,
    **{
        part.FIGURES.kind: partial(_votes_figures, part.FIGURES)
        for part in (
            *(voters_job, checks_job, trust_job, preview_job),
            *(settlement_job, publication_job, project_file_job),
        )
    },
}
