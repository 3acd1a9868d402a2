"""JSON from elsewhere: as texts that can be written again, as settings of this version, and as rows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ..errors import InputError, Issue
from .table import RowTable
from .workbook_reading import check_cells

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def parse_json(text: str | bytes, *, most: int | None = None) -> Any:
    """`json.loads`, but half characters (`"\\ud800"` alone), which no file can hold, become the mark U+FFFD.

    Raises ValueError or RecursionError for what is no JSON, and where it is longer than `most`.

    >>> parse_json('["\\\\ud83d\\\\ude00", "a\\\\ud800"]')
    ['😀', 'a\ufffd']
    """
    if most is not None and len(text) > most:
        raise ValueError(f"it is longer than {most:,} characters")
    value = json.loads(text)
    if b"\\ud" in text.lower() if isinstance(text, bytes) else "\\ud" in text.lower():
        whole = json.dumps(value, ensure_ascii=False)
        value = json.loads(whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
    return value


def known_values(cls: type[DataclassInstance], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Of settings as JSON keeps them the fields that `cls` has; what another version has besides is left out."""
    names = {field.name for field in fields(cls)}
    return {name: value for name, value in stored.items() if name in names}


_LINE_ENDS = re.compile("\r\n|\n")  # others, such as U+2028 or U+0085, may stand inside a text as they are


@dataclass(frozen=True)
class RowsOfJson:
    """The objects of a file, their numbers counted from 1 (of lines: the lines that aren't blank), and the lines that
    hold none."""

    records: list[Mapping[str, Any]]
    numbers: tuple[int, ...]
    unread: tuple[Issue, ...] = ()


def is_json(data: bytes) -> bool:
    """Whether a file begins as JSON of objects does."""
    return data[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"[", b"{"))


def json_records(data: bytes, name: str) -> RowsOfJson:
    """The objects of a JSON list, of one object, or of lines with one object each; lines end at LF or CRLF only.

    Raises `InputError` for what is no JSON, and for JSON that isn't of objects.

    >>> json_records('{"a": "x\\u2028y"}\\n{"a": 1}\\n'.encode(), "x.jsonl").numbers
    (1, 2)
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is JSON, but byte {error.start + 1} is no UTF-8. Export it again.") from error
    try:
        records = parse_json(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip().startswith("{") and "\n" in text.strip():
            return _lines(text)
        raise InputError(
            f"{name} can't be read as JSON ({error}): it is cut or was changed. Export it again."
        ) from error
    records = records if isinstance(records, list) else [records]
    if not records or not all(isinstance(record, Mapping) for record in records):
        raise InputError(f"{name} is JSON, but no list of answers. Choose an export of annotations.")
    return RowsOfJson(records, tuple(range(1, len(records) + 1)))


def json_table(rows: RowsOfJson, name: str) -> RowTable:
    """Objects as a table: a column per field, inner ones with dotted names; lists stay JSON.

    >>> json_table(json_records(b'[{"voter": "anna", "labels": {"choice": "left"}}]', "x"), "x").header
    ('voter', 'labels.choice')
    """
    flat = [_flat(record) for record in rows.records]
    header = tuple(dict.fromkeys(column for record in flat for column in record))
    if not header:
        raise InputError(f"{name} holds no answers.")
    check_cells(len(header) * len(flat), name)
    cells: Sequence[Sequence[str]] = [[record.get(column, "") for column in header] for record in flat]
    return RowTable(name, header, rows.numbers, cells, (), rows.unread)


def _lines(text: str) -> RowsOfJson:
    records: list[Mapping[str, Any]] = []
    numbers: list[int] = []
    unread: list[Issue] = []
    for number, line in enumerate((line for line in _LINE_ENDS.split(text) if line.strip()), 1):
        try:
            record = parse_json(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, Mapping):
            records.append(record)
            numbers.append(number)
        else:
            unread.append(Issue("the line is no JSON object: it is cut, or damaged", row=number))
    return RowsOfJson(records, tuple(numbers), tuple(unread))


def _flat(record: Mapping[str, Any]) -> dict[str, str]:
    """An object as texts by dotted names; lists stay JSON."""
    flat: dict[str, str] = {}
    stack: list[tuple[str, Any]] = [(str(key), value) for key, value in reversed(list(record.items()))]
    while stack:
        name, value = stack.pop()
        if isinstance(value, Mapping):
            stack += [(f"{name}.{key}", inner) for key, inner in reversed(list(value.items()))]
        elif isinstance(value, list):
            flat[name] = json.dumps(value, ensure_ascii=False)
        elif isinstance(value, bool):
            flat[name] = "true" if value else "false"
        else:
            flat[name] = "" if value is None else str(value)
    return flat
