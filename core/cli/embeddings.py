"""`runoff embeddings`: models join a project of the workspace, by a job as on the Embeddings page."""

from __future__ import annotations

import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError, StoreError
from .rounds import project_named
from .shared import text_table, with_json, write_json

if TYPE_CHECKING:
    from ..jobs.lifecycle import Job
    from ..store import Store

LOOK_SECONDS = 0.2


@click.group("embeddings")
def embeddings_command() -> None:
    """The embeddings that a project compares."""


@embeddings_command.command("list")
@click.argument("project", metavar="PROJECT")
@with_json
def list_command(project: str, as_json: bool) -> None:
    """The embeddings of a PROJECT (its id or name), and how they were made."""
    from ..store import open_store
    from ..store.projects.embedding_library import read_embeddings

    store = open_store()
    embeddings = read_embeddings(store, project_named(store, project))
    if as_json:
        records = [
            {
                "name": each.name,
                "format": each.format,
                "words": each.n_words,
                "dimensions": each.dimensions,
                "from": each.source,
                "recipe": dict(each.info.get("recipe", ())),
            }
            for each in embeddings
        ]
        write_json({"embeddings": records})
        return
    rows = [[each.name, each.format, f"{each.n_words:,}", str(each.dimensions)] for each in embeddings]
    recipes = [
        f"{each.name}: " + "; ".join(f"{name} {value}" for name, value in each.info["recipe"])
        for each in embeddings
        if each.info.get("recipe")
    ]
    click.echo("\n\n".join([text_table(["embedding", "format", "words", "dimensions"], rows), *recipes]))


@embeddings_command.command("add")
@click.argument("project", metavar="PROJECT")
@click.argument("model", metavar="MODEL")
@click.option("--name", help="Its name in the project; else that of the file, the folder or the model.")
@click.option("--trust", is_flag=True, help="Open files that are pickles and could run a program.")
@click.option("--server", metavar="ADDRESS", help="The server that has the MODEL, and speaks /v1/embeddings.")
@click.option("--send", is_flag=True, help="With --server: let the project send its tokens there.")
@click.option("--template", default="{token}", show_default=True, help="With --server: the text of a token.")
@click.option("--batch", type=int, default=64, show_default=True, help="With --server: texts in a request.")
@click.option("--anew", is_flag=True, help="With --server: forget the answers that are kept, and ask for all.")
@with_json
def add_command(
    project: str,
    model: str,
    name: str | None,
    trust: bool,
    server: str | None,
    send: bool,
    template: str,
    batch: int,
    anew: bool,
    as_json: bool,
) -> None:
    """Add a MODEL to a PROJECT (its id or name): a file of vectors, a model's folder, or a server's model."""
    from ..store import open_store

    store = open_store()
    project_id = project_named(store, project)
    kind, params = "encode_tokens", {}
    if server is not None:
        params = _of_server(store, project_id, server, model, template, batch, send) | {"anew": anew}
        name = name or model
    elif send or anew:
        raise InputError("--send and --anew belong to --server ADDRESS.")
    else:
        kind, params, recognised = _of_path(Path(model))
        params["trusted"] = trust
        name = name or recognised
    job = _carried_out(store, project_id, kind, {**params, "name": name})
    result = job.result or {}
    if as_json:
        write_json({key: result.get(key) for key in ("name", "n_words", "dimensions", "embedding_id")})
    else:
        click.echo(f"{result['name']} is added: {result['n_words']:,} words or tokens.")


def _of_server(
    store: Store, project_id: str, address: str, model: str, template: str, batch: int, send: bool
) -> dict[str, Any]:
    """What a job asks a server for; says what goes where, and refuses unless the project may send it."""
    from ..encoders import EmbeddingServer
    from ..store.projects.model_servers import allow_server, allowed_servers
    from ..store.tokens.areas import areas_of

    server = EmbeddingServer(address, model, template, batch)
    with store.read() as conn:
        n_tokens = len({token for area in areas_of(conn, project_id) for token in area.tokens})
    says = server.says(n_tokens)
    if server.address not in allowed_servers(store, project_id):
        if not send:
            raise InputError(f"Nothing was sent. {says} With --send it is.")
        allow_server(store, project_id, server.address, True)
    click.echo(says, err=True)
    return {"server": server.request}


def _of_path(path: Path) -> tuple[str, dict[str, Any], str]:
    """The kind of job that takes a file or a folder in, its parameters, and what the model is called."""
    from ..base.durable import shown_path
    from ..encoders import inspect

    if path.is_dir():
        return "encode_tokens", {"path": str(path.resolve())}, inspect(path).name
    return "import_embedding", {"path": str(path.resolve()), "shown": shown_path(path)}, shown_path(path.stem)


def _carried_out(store: Store, project_id: str, kind: str, params: dict[str, Any]) -> Job:
    """The job, once it is done; its progress goes to stderr. Ends it where the command is stopped."""
    from ..jobs import lifecycle

    job_id = lifecycle.start(store, kind, params, project_id=project_id, once=True)
    message = ""
    try:
        for looks in count():
            if (job := lifecycle.read_job(store, job_id)).ended:
                break
            if looks % 25 == 0:
                lifecycle.sweep(store)  # finds out a process that is gone
            if job.message and job.message != message and job.total:
                message = job.message
                click.echo(f"{job.done:,.0f} of {job.total:,.0f} {message}", err=True)
            time.sleep(LOOK_SECONDS)
    except KeyboardInterrupt:
        lifecycle.cancel(store, job_id)
        raise
    if job.state != "done":
        raise StoreError(job.error or "It was cancelled.")
    return job
