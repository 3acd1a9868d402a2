"""Commands for whoever keeps a workspace: backup, restore, voters-role, tend."""

from __future__ import annotations

import time
from pathlib import Path

import click

from .shared import with_json, write_json


@click.command("backup")
@click.argument("target", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--embeddings", is_flag=True, help="The imported embeddings too, which are large and can be imported again."
)
@with_json
def backup_command(target: Path, embeddings: bool, as_json: bool) -> None:
    """Write the whole workspace (RUNOFF_WORKSPACE) to FILE, a zip; it may be in use."""
    from ..store import open_store
    from ..store.backups import back_up

    manifest = back_up(open_store(), target, embeddings=embeddings)
    if as_json:
        write_json({"file": str(target), "files": len(manifest["files"]), "schema": manifest["schema"]})
    else:
        click.echo(f"{target}: {len(manifest['files'])} files. It holds the links' secrets, so keep it to yourself.")


@click.command("restore")
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--replace", is_flag=True, help="The workspace has projects, which may go; a backup of them is written first."
)
@with_json
def restore_command(source: Path, replace: bool, as_json: bool) -> None:
    """Bring the workspace (RUNOFF_WORKSPACE) back as `backup` wrote it to FILE.

    Stop the app and the voting page first.
    """
    from ..store import open_store
    from ..store.backups import restore
    from ..store.engine import _open

    manifest = restore(open_store(), source, replace=replace)
    _open.cache_clear()
    open_store()  # brings an older schema up
    if as_json:
        write_json({"at": manifest["at"], "files": len(manifest["files"])})
    else:
        click.echo(f"The workspace is as it was at {manifest['at']}.")


@click.command("voters-role", hidden=True)
@click.argument("role", default="runoff_voters")
@click.option("--sql", is_flag=True, help="Write the statements for somebody else to run, and do nothing.")
@with_json
def voters_role_command(role: str, sql: bool, as_json: bool) -> None:
    """Make ROLE, by which the voting page's server reaches PostgreSQL, or renew its rights.

    Its address goes into RUNOFF_VOTING_DATABASE_URL. Run this once more after each update of Runoff. The role has no
    password: give it one in psql.
    """
    from ..store import open_store
    from ..store.voters_role import grant_role, role_sql

    if sql:
        click.echo(";\n".join(role_sql(role)) + ";")
        return
    grant_role(open_store(), role)
    if as_json:
        write_json({"role": role})
    else:
        click.echo(f"The role {role} may do what the voting page needs, and nothing else.")


@click.command("tend", hidden=True)
@click.option("--every", default=10.0, show_default=True, help="Seconds between two checks.")
@click.option("--once", is_flag=True, help="Check once.")
def tend_command(every: float, once: bool) -> None:
    """Close ballots that have their votes and open the next, where they do so by themselves.

    The voting page's server does this too, unless it has a role of its own.
    """
    from ..store import open_store
    from ..store.voting.tending import tend

    store, given_up = open_store(), set[int]()
    while True:
        for line in tend(store, given_up):
            click.echo(line)
        if once:
            return
        time.sleep(every)
