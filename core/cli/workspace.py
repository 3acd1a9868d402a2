"""Commands of the terminal that open, serve, check and keep a workspace.

Bare `runoff` opens the app, `runoff vote` serves voters, and `runoff rehearse` tries that first. `runoff check` holds
what must be true of a workspace against it; `runoff import-archived` makes a new project of archived results. For
whoever keeps the workspace there are `backup`, `restore`, `voters-role` and `housekeeping`.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ..base.durable import shown_name
from ..base.numbers_in_words import many
from ..base.processes import free_port, refused
from ..errors import InputError, RunoffError, StoreError
from ..installed import HOME, VOTING
from .shared import cell, text_table, with_json, write_json

if TYPE_CHECKING:
    from ..commands.figures.rehearsal import Rehearsed
    from ..commands.integrity import BrokenRule, IntegrityReport
    from ..store import Store
    from ..store.chain import ChainState
    from ..votes.meanings import ValueQuestion


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


@click.command("rehearse")
@click.argument("project")
@click.option("--voters", default=20, show_default=True, help="How many, 1 to 200.")
@click.option("--area", help="The area, where each has a ranking of its own.")
@click.option("--round", "number", type=int, help="The number of an open round, where a ballot is open, too.")
@click.option("--browser", is_flag=True, help="One more, on a phone in Chromium (needs Playwright).")
@with_json
def rehearse_command(
    project: str, voters: int, area: str | None, number: int | None, browser: bool, as_json: bool
) -> None:
    """Rehearse the voting page of a PROJECT's open ballot or round (its id or name) on a copy, by voters of Eq. 11.

    A round of any kind is rehearsed where no ballot is open, or where --round names it. Nothing of the project changes.
    Exits with 1 where something isn't as it must be.
    """
    from ..commands.base import to_json
    from ..commands.figures.base import measure_now
    from ..store import open_store
    from ..views.collect.voting import rehearsal_of
    from .rounds import area_named, found_round, project_named

    store = open_store()
    project_id = project_named(store, project)
    area_id = area_named(store, project_id, area)
    code = None if number is None else found_round(store, project_id, number, area_id).code
    wanted = rehearsal_of(store, project_id, area_id, code, n_voters=voters, browser=browser)
    rehearsed = measure_now(store, wanted).result
    if as_json:
        write_json(to_json(rehearsed) | {"fine": rehearsed.is_fine})
    else:
        click.echo(_rehearsed_text(rehearsed))
    if not rehearsed.is_fine:
        sys.exit(1)


def _rehearsed_text(found: Rehearsed) -> str:
    from ..views.collect.voting import rehearsal_view

    view = rehearsal_view(found)
    screens = [(heading, f"{n_words:,}", buttons) for heading, n_words, buttons in view.screens.itertuples(index=False)]
    rows = [[cell(value) for value in row] for row in found.exported.itertuples(index=False, name=None)]
    parts = [
        view.outcome,
        "\n".join(found.problems),
        "What a voter sees, in order:\n" + text_table(tuple(view.screens.columns), screens),
        view.pay,
        view.exported and f"{view.exported}\n" + text_table([f"{name} ({kind})" for name, kind in found.columns], rows),
        found.browser,
        view.untouched,
    ]
    return "\n\n".join(filter(None, parts))


SHOWN = 5


@click.command("check")
@click.option("--workspace", type=click.Path(path_type=Path), help="The folder; else RUNOFF_WORKSPACE.")
@click.option("--head", help="A head of a project's chain that left this machine: must be in the chain still.")
@with_json
def check_command(workspace: Path | None, head: str | None, as_json: bool) -> None:
    """Check whether a workspace is whole: votes, tallies, scores, files, jobs. Exits with 1 where it isn't.

    With --head, as a published dataset has it (`replay` shows it), also where no project's chain has that head.
    """
    from ..commands.integrity import check_store
    from ..store import default_workspace, open_store

    folder = default_workspace() if workspace is None else workspace.expanduser().resolve()
    if not any((folder / name).is_file() for name in ("runoff.sqlite", "database.json")):
        raise StoreError(f"There is no workspace in {folder}. Name its folder with --workspace or RUNOFF_WORKSPACE.")
    store = open_store(folder)
    checked = check_store(store)
    entries = [] if head is None else _entries_with(store, head)
    if as_json:
        named = {} if head is None else {"head": head, "entries": [{"project": p, "entry": n} for p, n in entries]}
        write_json(_json(folder, checked) | named)
    else:
        lines = [f"The head {head} is that of entry {n} of the project {project}." for project, n in entries]
        missing = [] if head is None or entries else [f"No project's chain has the head {head}."]
        click.echo("\n".join([_text(folder, checked), *lines, *missing]))
    if not checked.is_fine or (head is not None and not entries):
        sys.exit(1)


def _entries_with(store: Store, head: str) -> list[tuple[str, int]]:
    from ..store.chain import entries_with

    with store.read() as conn:
        return entries_with(conn, head.strip().lower())


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
        "chains": [{"name": name, **asdict(state)} for name, state in checked.chains],
    }


def _text(folder: Path, checked: IntegrityReport) -> str:
    if checked.is_fine:
        return "\n".join([f"{folder} is whole: {len(checked.rules)} rules hold.", *starmap(_chain, checked.chains)])
    parts = [f"{folder}: {len(checked.faults)} of {len(checked.rules)} rules don't hold."]
    return "\n\n".join([*parts, *map(_report_text, checked.faults)])


def _chain(name: str, state: ChainState) -> str:
    n, anew = state.n_unsealed, state.n_said_anew
    return (
        f"  {name}: the chain reaches to entry {state.entry}, with the head {state.head}"
        + (f"; {many(n, 'assignment')} since, to be sealed by the next command" if n else "")
        + (f"; {many(anew, 'assignment')} answered otherwise after being sealed" if anew else "")
    )


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
    from ..store.postgresql import grant_role, role_sql

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


@click.command("import-archived")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option("--name", required=True, help="Name of the new project.")
@click.option(
    "--column", "columns", multiple=True, metavar="ROLE=COLUMN",
    help="Which column is which, such as left_a=Input.word1; {n} stands for the comparison's number. Can be repeated.",
)  # fmt: skip
@click.option("--choice", "choices", multiple=True, metavar="VALUE=MEANING",
              help="What a choice means: left, right, tie or unknown. Can be repeated.")  # fmt: skip
@click.option("--status", "statuses", multiple=True, metavar="VALUE=MEANING",
              help="What a status means: submitted, approved or rejected. Can be repeated.")  # fmt: skip
@click.option("--approve", "marks", multiple=True, metavar="VALUE=MEANING",
              help="Whether a word in Approve is a mark: yes or no. Can be repeated.")  # fmt: skip
@click.option("--separator", help="What stands between the two tokens, where a column holds a whole pair.")
@click.option("--notion", type=click.Choice(["relatedness", "similarity"]), default="relatedness", show_default=True)
@click.option("--random-opponents", is_flag=True, help="Opponents were drawn uniformly: Borda scores as in the paper.")
@click.option(
    "--encoding", help="Of the files' texts, such as gbk, where the one that is detected automatically is wrong."
)
@click.option("--ballot-per-file", is_flag=True, help="Each file is a ballot, in this order; else all are one.")
@with_json
def archived_command(
    files: tuple[str, ...],
    name: str,
    columns: tuple[str, ...],
    choices: tuple[str, ...],
    statuses: tuple[str, ...],
    marks: tuple[str, ...],
    separator: str | None,
    notion: str,
    random_opponents: bool,
    encoding: str | None,
    ballot_per_file: bool,
    as_json: bool,
) -> None:
    """Make a project of archived result FILEs: tokens and comparisons rebuilt from the words shown, votes, scores."""
    from dataclasses import replace

    from ..commands.archived import archive_mapping, import_archived
    from ..platforms import open_results
    from ..platforms.mapped_tables import ROLES
    from ..store import open_store
    from ..store.projects.project_commands import get_project
    from ..tabular import in_utf8
    from ..views import file_kinds
    from ..votes.meanings import OpenQuestionsError, ValueMeanings

    read = [(name, in_utf8(data, name, encoding)) for name, data in map(_read, files)]
    for name, data in read:
        file_kinds.check("archived results", data, name)
    columns_of: dict[str, Any] = _pairs(columns, "--column", set(ROLES))
    if separator:
        columns_of["separator"] = separator
    mapping = replace(archive_mapping(open_results(read[0][1], read[0][0])), **columns_of)
    mapping = mapping.saying(
        ValueMeanings(
            choices=tuple(_pairs(choices, "--choice", None).items()),
            statuses=tuple(_pairs(statuses, "--status", None).items()),
            marks=tuple(_pairs(marks, "--approve", None).items()),
        )
    )
    try:
        done = import_archived(
            open_store(),
            name,
            read,
            mapping=mapping,
            notion=notion,
            random_opponents=random_opponents,
            ballot_per_file=ballot_per_file,
        )
    except OpenQuestionsError as error:
        raise InputError(f"{error} {_say_it_with(error.questions)}") from error
    project_name = get_project(open_store(), done.project_id).name
    if as_json:
        answer = {"project": done.project_id, "name": project_name, "tokens": done.n_tokens, "items": done.n_items}
        answer |= {"comparisons": done.n_comparisons, "answers": done.counts, "open": done.why_open or None}
        write_json(answer | {"notes": [str(note) for note in done.notes]})
        return
    click.echo(f"{project_name}: {done.n_tokens:,} tokens, {done.n_items:,} items, {done.n_comparisons:,} comparisons.")
    rows = [(file, kind, f"{n:,}") for file, counts in done.counts.items() for kind, n in counts.items()]
    click.echo(text_table(("file", "answers", "number"), rows))
    for note in (*map(str, done.notes), done.why_open):
        if note:
            click.echo(note)


def _say_it_with(questions: Sequence[ValueQuestion]) -> str:
    """How to answer questions on the command line."""
    from ..votes.meanings import MEANT

    examples = {
        "choice": ("--choice", ("left", "right")),
        "status": ("--status", ("rejected",)),
        "approve": ("--approve", ("yes",)),
    }
    options, known = [], []
    for role, (option, meanings) in examples.items():
        values = sorted(question.value for question in questions if question.role == role)
        options += [shlex.join([option, f"{value}={meanings[at % len(meanings)]}"]) for at, value in enumerate(values)]
        if values:
            known.append(f"{option} takes {', '.join(filter(None, MEANT[role]))}")
    return f"Say it, for example with {' '.join(options)}, where that is what they mean ({'; '.join(known)})."


def _read(path: str) -> tuple[str, bytes]:
    try:
        return shown_name(path), Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror}).") from error


def _pairs(given: tuple[str, ...], option: str, known: set[str] | None) -> dict[str, str]:
    pairs = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or (known is not None and name not in known):
            roles = f"; the roles are {', '.join(sorted(known))}" if known else ""
            raise InputError(f"{option} takes NAME=VALUE, found {text!r}{roles}.")
        pairs[name] = value
    return pairs
