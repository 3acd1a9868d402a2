"""The answers of Mechanical Turk's templates, each in its layout, as one column per question.

Answer.choice.a = true, Answer.choice.b = false   →   Answer.choice = a
Answer.a.on = true, Answer.b.on = false           →   Answer.on = a
Answer.taskAnswers = [{"choice": {"a": true, …}}] →   Answer.choice = a
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..errors import Issue
from ..tabular import SourceTable, Texts, refuse_doubled, same_name
from ..tabular.json_texts import parse_json
from ..votes.answers import joined

_OPTION = re.compile(r"(answer\.[^.]+)\.(?!label$)([^.]+)", re.IGNORECASE)
_ON = re.compile(r"(answer)\.([^.]+)\.on", re.IGNORECASE)
_JSON = "answer.taskanswers"


@dataclass(frozen=True)
class NormalisedTable:
    """A table with further columns at its end: `options[name]` are the positions of the columns that name an option
    each; `questions` are fields of the JSON in the column `json`."""

    base: SourceTable
    options: dict[str, dict[str, int]]
    json: int | None
    questions: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.base.name

    @property
    def header(self) -> tuple[str, ...]:
        return (*self.base.header, *self.options, *self.questions)

    @property
    def notes(self) -> tuple[Issue, ...]:
        return self.base.notes

    def texts(self, wanted: Sequence[int], n_needed: int) -> Texts:
        """The columns at the positions `wanted`, made where they are the further ones."""
        width = len(self.base.header)
        of_base = sorted({at for position in wanted for at in self._sources(position)})
        # Columns after the last answer may be left off in a row.
        last = max(at for options in self.options.values() for at in options.values()) if self.options else 0
        made = max(last, self.json or 0) + 1
        rows = self.base.texts(of_base, made if n_needed > width else n_needed)
        cell = dict(zip(of_base, rows.columns, strict=True))
        columns = [cell[at] if at < width else self._made(at - width, cell) for at in wanted]
        return Texts(rows.numbers, columns, rows.n_rows, rows.unread, rows.issues)

    def head(self, n: int) -> list[list[str]]:
        """The first n rows, with the further columns."""
        width = len(self.base.header)
        rows = [row + [""] * (width - len(row)) for row in self.base.head(n)]
        cell = {at: pd.Series([row[at] for row in rows], dtype="str") for at in range(width)}
        made = [self._made(at, cell).tolist() for at in range(len(self.header) - width)]
        return [[*row[:width], *(column[at] for column in made)] for at, row in enumerate(rows)]

    def _sources(self, position: int) -> list[int]:
        at = position - len(self.base.header)
        if at < 0:
            return [position]
        if at < len(self.options):
            return list(list(self.options.values())[at].values())
        return [] if self.json is None else [self.json]

    def _made(self, at: int, cell: Mapping[int, pd.Series]) -> pd.Series:
        if at < len(self.options):
            options = list(self.options.values())[at]
            columns = {option: cell[place].to_numpy(dtype=object).tolist() for option, place in options.items()}
            length = len(next(iter(columns.values())))
            return pd.Series(joined(columns, length), dtype="str")
        question = self.questions[at - len(self.options)].split(".", 1)[1]
        cells = cell[self.json if self.json is not None else 0]
        codes, different = cells.factorize()
        told = pd.Series([_answer(text, question) for text in different], dtype="str")
        return pd.Series(told.array.take(codes)) if len(told) else cells


def normalised(table: SourceTable) -> SourceTable:
    """The table with its answers as one column per question; the table itself where they are so already."""
    options: dict[str, dict[str, int]] = {}
    at_json = None
    for at, column in enumerate(table.header):
        name = column.strip()
        if name.casefold() == _JSON:
            at_json = at
        elif match := _ON.fullmatch(name):
            options.setdefault(f"{match[1]}.on", {})[match[2]] = at
        elif match := _OPTION.fullmatch(name):
            options.setdefault(match[1], {})[match[2]] = at
    used = [at for at, column in enumerate(table.header) if same_name(column).startswith("answer.")]
    if options or at_json is not None:
        refuse_doubled(table, used)
    options = {name: found for name, found in options.items() if len(found) > 1 or name.endswith(".on")}
    options = {name: found for name, found in options.items() if name not in table.header}
    questions: tuple[str, ...] = ()
    if at_json is not None:
        cells = [row[at_json] for row in table.head(50) if len(row) > at_json]
        names = dict.fromkeys(name for cell in cells for name in _fields(cell))
        questions = tuple(f"Answer.{name}" for name in names if f"Answer.{name}" not in table.header)
    return NormalisedTable(table, options, at_json, questions) if options or questions else table


def _objects(text: str) -> list[Any]:
    try:
        found = parse_json(text) if text.strip() else []
    except (ValueError, RecursionError):
        return []
    return [part for part in (found if isinstance(found, list) else [found]) if isinstance(part, Mapping)]


def _fields(text: str) -> list[str]:
    return [str(name) for part in _objects(text) for name in part]


def _answer(text: str, question: str) -> str:
    """What one field of the JSON says: the option that is true, or the text itself."""
    for part in _objects(text):
        if question in part:
            value = part[question]
            if isinstance(value, Mapping):
                chosen = [str(option) for option, is_chosen in value.items() if is_chosen in (True, "true")]
                return "+".join(chosen)
            return "" if value is None else str(value)
    return ""
