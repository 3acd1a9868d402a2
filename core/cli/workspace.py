"""Commands for whoever keeps a workspace: backup, restore, voters-role, housekeeping.

Bare `runoff`, which opens the app, and `runoff vote`, which serves voters.

`runoff check`: what must hold in a workspace, held against it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ..base.processes import free_port, refused
from ..errors import RunoffError, StoreError
from ..installed import HOME, VOTING
from .shared import with_json, write_json

if TYPE_CHECKING:
    from ..commands.integrity import BrokenRule, IntegrityReport


PORT = 8501
HOST = "127.0.0.1"
# Streamlit's command line, which says “Aborted!” of an orderly end by Ctrl-C unless that comes as an exit.
STREAMLIT = """import signal, sys
signal.signal(signal.SIGINT, lambda *_: sys.exit())
from streamlit.web.cli import main
main(prog_name="streamlit")"""


def open_app(port: int = PORT, *, browser: bool = True) -> NoReturn:
    """Become the app's server, which tells its address and opens a browser. `RunoffError` where it can't listen."""
    _free(port)
    # Streamlit reads the settings that lie beside app.py. -P: a file of the folder where this was typed is no module.
    command = [sys.executable, "-P", "-c", STREAMLIT, "run", str(HOME / "app.py"), "--server.port", str(port)]
    command += ["--", "--browser"] if browser else []
    sys.stdout.flush()
    if os.name == "posix":
        os.execv(sys.executable, command)
    # On Windows a process can't become another one: both get Ctrl-C, and this one waits for the other's end.
    with subprocess.Popen(command) as server:
        while True:
            try:
                sys.exit(server.wait())
            except KeyboardInterrupt:
                continue


def _free(port: int) -> None:
    """Nothing, where the port can be listened on; else a sentence with one that can."""
    if (reason := refused(HOST, port)) is None:
        return
    other = free_port(HOST, port + 1)
    choose = "Choose another with --port" if other is None else f"Choose another: --port {other}"
    raise RunoffError(
        f"Port {port} can't be listened on ({reason}). Runoff may be open there already: http://localhost:{port}. "
        f"{choose}."
    )


@click.command("vote", add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def vote_command(arguments: tuple[str, ...]) -> None:
    """Serve the voting page to voters, by a link (`runoff vote --help`)."""
    serve = import_module(f"{VOTING}.__main__").main
    serve.main(args=list(arguments), prog_name="runoff vote", standalone_mode=False)


SHOWN = 5


@click.command("check")
@click.option("--workspace", type=click.Path(path_type=Path), help="The folder; else RUNOFF_WORKSPACE.")
@with_json
def check_command(workspace: Path | None, as_json: bool) -> None:
    """Check whether a workspace is whole: votes, tallies, scores, files, jobs. Exits with 1 where it isn't."""
    from ..commands.integrity import check_store
    from ..store import default_workspace, open_store

    folder = default_workspace() if workspace is None else workspace.expanduser().resolve()
    if not any((folder / name).is_file() for name in ("runoff.sqlite", "database.json")):
        raise StoreError(f"There is no workspace in {folder}. Name its folder with --workspace or RUNOFF_WORKSPACE.")
    checked = check_store(open_store(folder))
    if as_json:
        write_json(_json(folder, checked))
    else:
        click.echo(_text(folder, checked))
    if not checked.is_fine:
        sys.exit(1)


def _json(folder: Path, checked: IntegrityReport) -> dict[str, Any]:
    broken = {fault.rule.name: fault.n for fault in checked.faults}
    return {
        "workspace": str(folder),
        "fine": checked.is_fine,
        "rules": [{"name": r.name, "holds": r.holds, "broken": broken.get(r.name, 0)} for r in checked.rules],
        "faults": [
            {
                "rule": fault.rule.name,
                "n": fault.n,
                "found": [{"where": found.where, "what": found.what} for found in fault.found],
                "advice": fault.rule.advice,
            }
            for fault in checked.faults
        ],
    }


def _text(folder: Path, checked: IntegrityReport) -> str:
    if checked.is_fine:
        return f"{folder} is whole: {len(checked.rules)} rules hold."
    parts = [f"{folder}: {len(checked.faults)} of {len(checked.rules)} rules don't hold."]
    return "\n\n".join([*parts, *map(_report_text, checked.faults)])


def _report_text(fault: BrokenRule) -> str:
    lines = [f"{fault.rule.name}: {fault.rule.holds}"]
    lines += [f"  {found.where}: {found.what}" for found in fault.found[:SHOWN]]
    rest = fault.n - min(fault.n, SHOWN)
    return "\n".join([*lines, *([f"  and {rest:,} more"] if rest else []), f"  → {fault.rule.advice}"])


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


@click.command("housekeeping", hidden=True)
@click.option("--every", default=10.0, show_default=True, help="Seconds between two checks.")
@click.option("--once", is_flag=True, help="Check once.")
def housekeeping_command(every: float, once: bool) -> None:
    """Close ballots that have their votes and open the next, where they do so by themselves.

    The voting page's server does this too, unless it has a role of its own.
    """
    from ..store import open_store
    from ..store.voting.housekeeping import do_housekeeping

    store, given_up = open_store(), set[int]()
    while True:
        for line in do_housekeeping(store, given_up):
            click.echo(line)
        if once:
            return
        time.sleep(every)
