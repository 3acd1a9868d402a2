"""Frequency lists as files: a word and its count in each row, as corpus tools write them.

Comma, semicolon, tab or a space between them, with or without a header, in any order and any encoding; rows go by one
at a time and are kept as Arrow columns.
"""

from __future__ import annotations

import csv
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

import numpy as np
import pyarrow as pa

from .errors import InputError, Issue
from .frequencies import Frequencies, from_counts
from .platforms.csvfiles import CsvFile, open_csv

TOKEN_NAMES = ("token", "word", "term", "type", "lemma", "form", "ngram", "item")
COUNT_NAMES = ("count", "frequency", "freq", "n", "occurrences", "hits", "tokens", "absolute frequency")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_SAMPLE, _BLOCK, _MAX_ISSUES = 200, 100_000, 20
_NUMBER = re.compile(r"\d[\d.,]*(?:[eE][-+]?\d+)?|\.\d+")


def read_frequencies(
    data: bytes, name: str, *, label: str = "", columns: tuple[str | int, str | int] | None = None
) -> Frequencies:
    """A frequency list of one's own, of kind "corpus"; the mean is over the whole list.

    Parameters
    ----------
    data, name : the file's bytes and name. UTF-8, UTF-16 or Windows-1252.
    label : names the source for people; the file's name by default.
    columns : the columns of the words and of the counts, by name or position from 0; found by themselves by default
        (by their names, else the only column of numbers that doesn't just count the rows).

    Rows that can't be read are reported in the notes and left out. Raises `InputError` if the columns can't be found,
    a quotation mark is never closed, or no row can be read.

    >>> read_frequencies(b"word,count\\nsea,30\\nship,10\\n", "counts.csv").mean
    20.0
    """
    file = open_csv(data, name)
    delimiter = _delimiter(file)
    try:
        sample = list(islice(_records(file, delimiter), _SAMPLE))
    except csv.Error as error:
        raise InputError(f"The first rows of {name} can't be read: {error}. Check its quotation marks.") from error
    word, count, has_header = _columns(name, sample, columns)
    words, counts, issues = _read(_records(file, delimiter), word, count, name, has_header)
    return from_counts(words, counts, label or name, notes=(*file.decoded.notes, *issues))


def _delimiter(file: CsvFile) -> str:
    """The delimiter: a tab wherever there is one, since words may hold commas; a space where there is nothing else."""
    line = next(_LINE.finditer(file.decoded.text, file.start))[0].rstrip("\r\n")
    if "\t" in line.strip():
        return "\t"
    return file.delimiter if len(file.header) > 1 else " "


def _records(file: CsvFile, delimiter: str) -> Iterator[list[str]]:
    """The rows' fields, the first row included; blank ones come as []."""
    lines = (match[0] for match in _LINE.finditer(file.decoded.text, file.start))
    if delimiter == " ":
        return (_by_space(line) for line in lines)
    if delimiter == "\t":
        # Lists of words have the quotation mark as one of them; so it is taken as it is.
        return ([_unquoted(field) for field in line.rstrip("\r\n").split("\t")] for line in lines)
    return csv.reader(lines, delimiter=delimiter)


def _by_space(line: str) -> list[str]:
    """`word count` as word2vec writes it, or `count word` as `uniq -c` does."""
    before, _, after = line.strip().rpartition(" ")
    if _NUMBER.fullmatch(after):
        return [before.strip(), after]
    before, _, after = line.strip().partition(" ")
    return [after.strip(), before] if _NUMBER.fullmatch(before) else [line.strip()] if line.strip() else []


def _unquoted(field: str) -> str:
    return field[1:-1].replace('""', '"') if len(field) > 2 and field[0] == field[-1] == '"' else field


def _columns(name: str, sample: list[list[str]], columns: tuple[str | int, str | int] | None) -> tuple[int, int, bool]:
    """The positions of the words and the counts, and whether the first row is a header."""
    header = [field.strip().lower().removeprefix("\ufeff") for field in sample[0]]
    named = columns is not None and any(isinstance(column, str) for column in columns)
    if columns is not None:
        word, count = (_position(name, header, column) for column in columns)
    elif found := _by_names(header):
        (word, count), named = found, True
    else:
        word, count = _by_content(name, sample)
    first = sample[0][count] if count < len(sample[0]) else ""
    return word, count, named or math.isnan(_number(first))


def _position(name: str, header: list[str], column: str | int) -> int:
    if isinstance(column, int):
        if 0 <= column < len(header):
            return column
        raise InputError(f"{name} has no column {column}; it has {len(header)}, counted from 0.")
    if column.strip().lower() not in header:
        raise InputError(f"{name} has no column {column!r}. Its first row is {', '.join(map(repr, header[:8]))}.")
    return header.index(column.strip().lower())


def _by_names(header: list[str]) -> tuple[int, int] | None:
    word = next((header.index(known) for known in TOKEN_NAMES if known in header), None)
    count = next((header.index(known) for known in COUNT_NAMES if known in header), None)
    return None if word is None or count is None else (word, count)


def _by_content(name: str, sample: list[list[str]]) -> tuple[int, int]:
    rows = [row for row in sample if any(row)]
    body = rows[1:] or rows
    width = min(map(len, body))
    columns = [[row[at] for row in body] for at in range(width)]
    numeric = [at for at, values in enumerate(columns) if all(not math.isnan(_number(value)) for value in values)]
    counts = [at for at in numeric if not _is_rank(columns[at])] if len(numeric) > 1 else numeric
    words = [at for at in range(width) if at not in numeric]
    if len(counts) != 1 or not words:
        first = ", ".join(map(repr, rows[0][:8]))
        raise InputError(
            f"In {name} it is not clear which column has the words and which their counts: its first row is {first}. "
            "Name two of the columns word and count."
        )
    return words[0], counts[0]


def _is_rank(values: list[str]) -> bool:
    """Whether a column counts the rows: 0 or 1 and on by ones."""
    numbers = [_number(value) for value in values]
    return numbers[0] in (0, 1, 2) and all(b - a == 1 for a, b in pairwise(numbers))


def _number(text: str) -> float:
    """A count, NaN if it is none; "1,234" is 1234 and "0,5" is 0.5 (thousands come in threes)."""
    text = text.strip()
    try:
        return float(text) if text[:1] not in "-+_in" and "_" not in text else math.nan
    except ValueError:
        pass
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", text):
        return float(text.replace(",", ""))
    if re.fullmatch(r"\d{1,3}(\.\d{3}){2,}|\d{1,3}([ \u00a0\u202f]\d{3})+", text):
        return float(re.sub(r"[.\s\u00a0\u202f]", "", text))
    return float(text.replace(",", ".")) if re.fullmatch(r"\d+,\d+", text) else math.nan


def _read(
    records: Iterator[list[str]], word: int, count: int, name: str, has_header: bool
) -> tuple[pa.ChunkedArray, np.ndarray, list[Issue]]:
    """Words in normal form C, their counts, and what couldn't be read."""
    chunks: list[pa.Array] = []
    counts: list[np.ndarray] = []
    unreadable = _Unreadable()
    number = 0
    if has_header:
        next(records)
        number = 1
    try:
        while block := list(islice(records, _BLOCK)):
            _check_quotes(block, word, name, number)
            words, values = _parse(block, word, count, number, unreadable)
            chunks.append(pa.array([unicodedata.normalize("NFC", word) for word in words], pa.string()))
            counts.append(values)
            number += len(block)
    except csv.Error as error:
        raise InputError(f"{name} can't be read after row {number:,}: {error}. Check its quotation marks.") from error
    column = pa.chunked_array(chunks, pa.string())
    return column, np.concatenate(counts) if counts else np.empty(0), unreadable.issues()


class _Unreadable:
    """Rows that can't be read: all counted, the first ones listed."""

    def __init__(self) -> None:
        self.n = 0
        self.first: list[Issue] = []

    def add(self, row: int, record: Sequence[str]) -> None:
        self.n += 1
        if self.n <= _MAX_ISSUES:
            self.first.append(Issue("no word with a count; the row was left out", row=row, found=" ".join(record)[:60]))

    def issues(self) -> list[Issue]:
        rest = self.n - len(self.first)
        return [*self.first, Issue(f"and {rest:,} more rows without a word and a count")] if rest else self.first


def _check_quotes(block: list[list[str]], word: int, name: str, before: int) -> None:
    for place, record in enumerate(block, start=before + 1):
        if len(record) > word and "\n" in record[word].rstrip("\r\n"):
            raise InputError(
                f"In row {place:,} of {name} a quotation mark is never closed, so that rows run together. Save the "
                "list with tabs between its columns, or with its quotation marks doubled."
            )


def _parse(
    block: list[list[str]], word: int, count: int, before: int, unreadable: _Unreadable
) -> tuple[list[str], np.ndarray]:
    width = max(word, count)
    words, values = [], []
    for place, record in enumerate(block, start=before + 1):
        text, raw = (record[word].strip(), record[count]) if len(record) > width else ("", "")
        value = float(raw) if raw.isdecimal() else _number(raw)
        if text and 0 <= value < math.inf:
            words.append(text)
            values.append(value)
        elif any(record):
            unreadable.add(place, record)
    return words, np.array(values, dtype=np.float64)
