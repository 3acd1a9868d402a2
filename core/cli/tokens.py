"""A token list as a project would take it: areas, tokens, remarks; and which tokens are rare."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.numbers_in_words import many
from ..errors import Issue
from .shared import cell, read_file, text_table, with_json, write_file, write_json

if TYPE_CHECKING:
    import pandas as pd

    from ..tokens.files import TokenLists
    from ..tokens.lists import Column


@click.command("tokens")
@click.argument("file", type=click.Path())
@click.option("--encoding", help="Of FILE, such as gbk; detected by its content otherwise.")
@click.option("--area", help="The column of the areas, by its name, or by its number from 1 on.")
@click.option("--token", help="The column of the tokens, by its name, or by its number from 1 on.")
@click.option("--sheet", help="The sheet of a workbook, where several hold tables.")
@click.option("--lines", "by_lines", is_flag=True, help="One token per line, whatever marks and commas are in it.")
@click.option("--split", is_flag=True, help="Several tokens where commas or semicolons stand between them.")
@click.option("--frequencies", help="A list of words and their counts, which tells the rare tokens.")
@click.option("--frequencies-encoding", help="Of that list; detected by its content otherwise.")
@click.option("--output", help="Write the areas and tokens into this file, as CSV in UTF-8.")
@with_json
def tokens_command(
    file: str,
    encoding: str | None,
    area: str | None,
    token: str | None,
    sheet: str | None,
    by_lines: bool,
    split: bool,
    frequencies: str | None,
    frequencies_encoding: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Read a token list FILE as a project would, and tell what was left out or looks odd."""
    from ..tokens.files import open_list, write_list

    opened = open_list(
        read_file(file, "tokens"), Path(file).name, sheet=sheet, encoding=encoding, by_lines=by_lines or None
    )
    columns: tuple[Column | None, Column] | None = None
    if token is not None:
        columns = None if area is None else _column(area, opened.header), _column(token, opened.header)
    elif area is not None:
        raise click.UsageError("--area needs --token: say which column has the tokens.")
    lists = opened.read(columns, split=split or None)
    rare, remarks = _rare(lists, frequencies, frequencies_encoding) if frequencies else (None, ())
    if output:
        write_file(output, write_list(lists.areas))
    if as_json:
        answer: dict[str, Any] = {
            "file": file,
            "areas": [{"name": each.name, "tokens": list(each.tokens), "items": each.n_items} for each in lists.areas],
            "notes": [asdict(note) for note in lists.notes],
        }
        if rare is not None:
            answer["rare"] = rare.to_dict("records")
            answer["frequency_notes"] = [asdict(note) for note in remarks]
        write_json(answer)
        return
    for each in lists.areas:
        click.echo(f"{each.name} ({many(len(each.tokens), 'token')}): {', '.join(each.tokens)}")
    for note in (*lists.notes, *remarks):
        click.echo(f"Note: {note}.")
    if rare is not None:
        names = ["area", "n_tokens", "n_rare", "n_unknown", "share"]
        rows = [[cell(value) for value in row] for row in rare[names].itertuples(index=False, name=None)]
        click.echo(text_table(["area", "tokens", "rare", "unknown", "share rare"], rows))


def _column(text: str, header: tuple[str, ...]) -> Column:
    """A column by its name, else by its number from 1 on."""
    is_number = text.isdecimal() and text not in header and 1 <= int(text) <= len(header)
    return int(text) - 1 if is_number else text


def _rare(lists: TokenLists, path: str, encoding: str | None) -> tuple[pd.DataFrame, tuple[Issue, ...]]:
    """Rare tokens by area, and the remarks on the list of frequencies."""
    from ..tokens.frequencies import rare, rare_by_area, read_frequencies

    source = read_frequencies(read_file(path, "frequencies"), Path(path).name, encoding=encoding)
    judged = rare(list(dict.fromkeys(token for area in lists.areas for token in area.tokens)), source)
    return rare_by_area(lists.areas, judged, source), source.notes
