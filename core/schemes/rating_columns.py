"""The columns of a file of ratings: which is which by its name, with a header put before a table that has none."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace

from ..tabular import CsvTable, Rows, csv_of, open_csv

_FIRST = "tokena worda word1 texta text1 sentencea sentence1 itema item1 token1 first a larger"
_SECOND = "tokenb wordb word2 textb text2 sentenceb sentence2 itemb item2 token2 second b smaller"
_VOTER = "voter person rater annotator worker workerid voterid annotatorid participant subject"
NAMES: dict[str, frozenset[str]] = {
    "first": frozenset(_FIRST.split()),
    "second": frozenset(_SECOND.split()),
    "voter": frozenset(_VOTER.split()),
    "rating": frozenset(["rating"]),
    "mean": frozenset(
        ["mean", "humanmean", "score", "goldscore", "gold", "similarity", "relatedness", "average", "simlex999"]
    ),
    "sd": frozenset(["sd", "std", "stdev", "sdsimlex", "standarddeviation"]),
    "level": frozenset(["level"]),
    "genre": frozenset(["genre", "domain"]),
    "condition": frozenset(["condition"]),
    "order": frozenset(["order"]),
}
# Numbers of an item that aren't ratings: numbering, years, frequencies, SimLex-999's concreteness and association.
_NO_PEOPLE = frozenset(
    [
        "index",
        "id",
        "itemid",
        "pairid",
        "oldindex",
        "year",
        "n",
        "count",
        "freq",
        "frequency",
        "concw1",
        "concw2",
        "concq",
        "assocusf",
        "simassoc333",
    ]
)


def people_columns(header: tuple[str, ...], places: Mapping[str, int], rows: Rows) -> list[int]:
    """The columns that are a person's ratings: those of numbers with no other meaning."""
    taken = {at for role, at in places.items() if role != "rating"}
    return [
        at
        for at, title in enumerate(header)
        if title and at not in taken and plain_title(title) not in _NO_PEOPLE and _mostly_numbers(rows.columns[at])
    ]


def plain_title(title: str) -> str:
    """A column's title by its letters and digits alone, in lower case."""
    return re.sub(r"[\W_]+", "", title.casefold())


def place_of(header: tuple[str, ...], role: str) -> int | None:
    """The first column whose name says that role, None where none does."""
    for at, title in enumerate(header):
        if plain_title(title) in NAMES[role]:
            return at
    return None


def open_ratings(data: bytes, name: str) -> tuple[CsvTable, int]:
    """A file, and 1 where a header was put before its first row. Raises `InputError` for what is no table."""
    file = open_csv(data, name)
    if '"' in file.decoded.text and file.delimiter == "\t" and not _quoted(file):
        file = _unquoted(file)  # the STS benchmark's tables hold quotation marks as they stood in the sentences
    numeric = [at for at, title in enumerate(file.header) if is_number(title)]
    known = any(place_of(file.header, role) is not None for role in ("first", "second"))
    width = len(file.header)
    if known or not numeric or width < 3:
        return file, 0
    titles = [f"column {at}" for at in range(1, width + 1)]
    if width == 3:
        at = numeric[0] if numeric[0] in (0, 2) else 0
        names = {at: "score", (1 if at == 0 else 0): "sentence1", (2 if at == 0 else 1): "sentence2"}
    else:
        after = [at for at in numeric if at + 2 < width]
        at = after[-1] if after else width - 3
        names = {0: "genre", at: "score", at + 1: "sentence1", at + 2: "sentence2"}
    header = tuple(names.get(place, title) for place, title in enumerate(titles))
    text = file.delimiter.join(header) + "\n" + file.decoded.text[file.dialect.start :]
    return csv_of(replace(file.decoded, text=text), name), 1


def is_number(text: str) -> bool:
    """Whether a text is a finite number; a comma may stand for the decimal point."""
    try:
        return math.isfinite(float(text.replace(",", ".")))
    except ValueError:
        return False


def _quoted(file: CsvTable) -> bool:
    """Whether quotation marks enclose fields of a table with tabs, rather than being part of them."""
    cells = [cell for line in file.decoded.text.splitlines() for cell in line.split("\t") if '"' in cell]
    return all(len(cell) > 1 and cell[0] == cell[-1] == '"' and cell[1:-1].count('"') % 2 == 0 for cell in cells)


def _unquoted(file: CsvTable) -> CsvTable:
    """The same with every field in quotation marks, so that those inside are read as they are."""
    lines = [
        "\t".join('"' + cell.replace('"', '""') + '"' for cell in line.split("\t")) if line else ""
        for line in re.split(r"\r\n|\r|\n", file.decoded.text[file.dialect.start :])
    ]
    return csv_of(replace(file.decoded, text="\n".join(lines)), file.name)


def _mostly_numbers(column: list[str]) -> bool:
    cells = [cell.strip() for cell in column if cell.strip()]
    return bool(cells) and 2 * sum(map(is_number, cells)) >= len(cells)
