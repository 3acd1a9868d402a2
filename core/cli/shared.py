"""What the commands share: the option `--json`, tables of text, options that need reading."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from ..errors import InputError


def with_json(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option `--json`, as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Write one JSON object and nothing else.")(command)


def with_encoding(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option `--encoding`, of the files that it reads."""
    help_text = "Of the files, such as cp1252 or gbk; detected where it isn't given."
    return click.option("--encoding", help=help_text)(command)


def _plain(value: Any) -> Any:
    """`value` as JSON can hold it: NaN and infinities become null."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def write_json(value: dict[str, Any]) -> None:
    """Write one JSON object in one line; NaN and infinities become null."""
    click.echo(json.dumps(_plain(value), ensure_ascii=False, allow_nan=False))


def read_file(path: str, place: str = "") -> bytes:
    """The bytes of a file a person named; `InputError` for one of another kind than the place takes
    (`views.file_kinds`)."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}. Check the path.") from error
    if place:
        from ..views import file_kinds

        file_kinds.check(place, data, Path(path).name)
    return data


def write_file(path: str, data: bytes) -> None:
    """Write a file where a person wants it; one that is there is replaced."""
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror}. Check the folder.") from error


def cell(value: Any) -> str:
    """A value of a table as text: numbers with a fraction to three digits, a dash where there is none."""
    if isinstance(value, float):
        return "–" if value != value else f"{value:.3f}"
    return str(value)


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns padded to equal width, the first to the left and the others to the right."""
    cells = [list(header), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))).rstrip()
        for row in cells
    )


def appearances_of(text: str) -> int | tuple[int, ...]:
    """M as the command line has it: one whole number, or one a ballot with commas between."""
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(f"--appearances is a whole number or one per ballot, as 20,20,40; found {text!r}.") from error
    return numbers[0] if len(numbers) == 1 else numbers
