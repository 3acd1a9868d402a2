"""`python -m core import-archived`: archived results as a new project."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.durable import shown_name
from ..errors import InputError
from .shared import text_table, with_json, write_json

if TYPE_CHECKING:
    from ..votes.meanings import ValueQuestion


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
    said: dict[str, Any] = _pairs(columns, "--column", set(ROLES))
    if separator:
        said["separator"] = separator
    mapping = replace(archive_mapping(open_results(read[0][1], read[0][0])), **said)
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
    given = get_project(open_store(), done.project_id).name
    if as_json:
        told = {"project": done.project_id, "name": given, "tokens": done.n_tokens, "items": done.n_items}
        told |= {"comparisons": done.n_comparisons, "answers": done.counts, "open": done.why_open or None}
        write_json(told | {"notes": [str(note) for note in done.notes]})
        return
    click.echo(f"{given}: {done.n_tokens:,} tokens, {done.n_items:,} items, {done.n_comparisons:,} comparisons.")
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
    told, known = [], []
    for role, (option, meanings) in examples.items():
        values = sorted(question.value for question in questions if question.role == role)
        told += [shlex.join([option, f"{value}={meanings[at % len(meanings)]}"]) for at, value in enumerate(values)]
        if values:
            known.append(f"{option} takes {', '.join(filter(None, MEANT[role]))}")
    return f"Say it, for example with {' '.join(told)}, where that is what they mean ({'; '.join(known)})."


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
