"""Frequency lists as files: a word and its count in each row, as corpus tools write them.

Comma, semicolon, tab or a space between them, with or without a header, in any order and any encoding; rows go by one
at a time and are kept as Arrow columns.
"""

from __future__ import annotations

import csv
import math
import re
import unicodedata
from collections.abc import Iterator
from itertools import chain, islice, pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import InputError, Issue
from ..tabular import Decoded, decode_bytes, find_dialect, is_unclosed, lines, records, same_name, trimmed
from .frequencies import Frequencies, from_counts

TOKEN_NAMES = ("token", "word", "term", "type", "lemma", "form", "ngram", "item")
COUNT_NAMES = ("count", "frequency", "freq", "n", "occurrences", "hits", "tokens", "absolute frequency")
_SAMPLE, _BLOCK, _MAX_ISSUES = 200, 100_000, 20
_NUMBER = re.compile(r"\d[\d.,]*(?:[eE][-+]?\d+)?|\.\d+")
_COMMA_GROUPS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"\d+,\d+")
_OTHER_GROUPS = re.compile(r"\d{1,3}(\.\d{3}){2,}|\d{1,3}([ \u00a0\u202f]\d{3})+")
_Record = list[str] | csv.Error


def read_frequencies(
    data: bytes,
    name: str,
    *,
    columns: tuple[str | int, str | int] | None = None,
    encoding: str | None = None,
) -> Frequencies:
    """A frequency list of one's own, of kind "corpus"; the mean is over the whole list.

    Parameters
    ----------
    data, name : the file's bytes and name.
    columns : the columns of the words and of the counts, by name or position from 0; found by themselves by default
        (by their names, else the only column of numbers that doesn't just count the rows).
    encoding : what a person chose; None to find it.

    Commas in counts mark thousands, unless one of them can't. Rows that can't be read are reported in the notes and
    left out. Raises `InputError` if the columns can't be found, several have one name, a quotation mark is never
    closed, or no row can be read.

    >>> read_frequencies(b"word,count\\nsea,30\\nship,10\\n", "counts.csv").mean
    20.0
    """
    decoded = decode_bytes(data, name, encoding=encoding, braces=True)
    rows, notes = _records(decoded, name)
    sample = list(islice(rows, _SAMPLE))
    word, count, has_header = _columns(name, [record for record in sample if isinstance(record, list)], columns)
    words, counts, issues = _read(chain(sample, rows), word, count, name, has_header)
    return from_counts(words, counts, name, notes=(*decoded.notes, *notes, *issues))


def _records(decoded: Decoded, name: str) -> tuple[Iterator[_Record], tuple[Issue, ...]]:
    """The rows' cells, the first row included, blank rows as []; and what to say of the quotation marks.

    A tab divides wherever there is one, since words may hold commas; a space where there is nothing else.
    """
    text = decoded.text
    if "\t" in next(lines(text), "").strip():
        dialect, header = find_dialect(text, name, delimiters=("\t",))
        rows: Iterator[_Record] = chain([header], records(text, dialect))
        if not dialect.quoted:
            # Such lists have the quotation mark as a word of its own, among others that are quoted.
            rows = ([_unquoted(cell) for cell in row] if isinstance(row, list) else row for row in rows)
        return rows, dialect.notes
    dialect, header = find_dialect(text, name)
    if len(header) > 1:
        return chain([header], records(text, dialect)), dialect.notes
    return (_by_space(line) for line in lines(text)), ()


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
    header = [same_name(field) for field in sample[0]] if sample else []
    named = columns is not None and any(isinstance(column, str) for column in columns)
    if columns is not None:
        word, count = (_position(name, header, column) for column in columns)
    elif found := _by_names(name, header):
        (word, count), named = found, True
    else:
        word, count = _by_content(name, sample)
    first = sample[0][count] if sample and count < len(sample[0]) else ""
    return word, count, named or not _is_number(first)


def _position(name: str, header: list[str], column: str | int) -> int:
    if isinstance(column, int):
        if 0 <= column < len(header):
            return column
        raise InputError(f"{name} has no column {column}; it has {len(header)}, counted from 0.")
    if same_name(column) not in header:
        raise InputError(f"{name} has no column {column!r}. Its first row is {', '.join(map(repr, header[:8]))}.")
    return _only(name, header, same_name(column))


def _by_names(name: str, header: list[str]) -> tuple[int, int] | None:
    word = next((known for known in TOKEN_NAMES if known in header), None)
    count = next((known for known in COUNT_NAMES if known in header), None)
    return None if word is None or count is None else (_only(name, header, word), _only(name, header, count))


def _only(name: str, header: list[str], column: str) -> int:
    """The position of the only column of this name."""
    found = [at for at, other in enumerate(header) if other == column]
    if len(found) > 1:
        places = " and ".join(f"{column!r} (column {at + 1})" for at in found)
        raise InputError(f"{name} has several columns of one name: {places}. Keep one of each.")
    return found[0]


def _by_content(name: str, sample: list[list[str]]) -> tuple[int, int]:
    rows = [row for row in sample if any(row)]
    if not rows:
        raise InputError(f"{name} has no row that can be read. Give a list with a word and its count in each row.")
    body = rows[1:] or rows
    width = min(map(len, body))
    columns = [[row[at] for row in body] for at in range(width)]
    numeric = [at for at, values in enumerate(columns) if all(map(_is_number, values))]
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


def _is_number(text: str) -> bool:
    return not (math.isnan(_number(text)) and math.isnan(_number(text, decimals=True)))


def _number(text: str, *, decimals: bool = False) -> float:
    """A count, NaN if it is none; "1,234" is 1234 unless its commas are `decimals`, and "0,5" then is 0.5."""
    text = text.strip()
    try:
        return float(text) if text[:1] not in "-+_in" and "_" not in text else math.nan
    except ValueError:
        pass
    if decimals:
        return float(text.replace(",", ".")) if _DECIMAL_COMMA.fullmatch(text) else math.nan
    if _COMMA_GROUPS.fullmatch(text):
        return float(text.replace(",", ""))
    return float(re.sub(r"[.\s\u00a0\u202f]", "", text)) if _OTHER_GROUPS.fullmatch(text) else math.nan


def _read(
    rows: Iterator[_Record], word: int, count: int, name: str, has_header: bool
) -> tuple[pa.ChunkedArray, NDArray[np.float64], list[Issue]]:
    """Words in normal form C, their counts, and what couldn't be read."""
    chunks: list[pa.Array] = []
    counts: list[NDArray[np.float64]] = []
    found = _Found()
    number = 0
    if has_header:
        next(rows)
        number = 1
    while block := list(islice(rows, _BLOCK)):
        words, numbers = _parse(block, word, count, number, name, found)
        chunks.append(pa.array([unicodedata.normalize("NFC", word) for word in words], pa.string()))
        counts.append(np.array(numbers, dtype=np.float64))
        number += len(block)
    column = pa.chunked_array(chunks, pa.string())
    values = np.concatenate(counts) if counts else np.empty(0)
    found.settle(values)
    known = ~np.isnan(values)
    return column if known.all() else column.filter(pa.array(known)), values[known], found.issues()


class _Found:
    """What is odd about a list: counts with commas, which are read when all are known; and rows that can't be read, all
    counted and the first ones listed."""

    def __init__(self) -> None:
        self.n = 0
        self.n_words = 0
        self.first: list[Issue] = []
        self.commas: list[tuple[int, int, str, str]] = []  # which word, row, count, the row's cells

    def add(self, row: int, shown: str) -> None:
        self.n += 1
        self.first.append(Issue("no word with a count; the row was left out", row=row, found=shown[:60]))
        if len(self.first) > 2 * _MAX_ISSUES:
            self._cut()

    def _cut(self) -> None:
        self.first = sorted(self.first, key=lambda issue: issue.row or 0)[:_MAX_ISSUES]

    def settle(self, values: NDArray[np.float64]) -> None:
        """Put the counts with commas among the others: decimals if one of them can be nothing else."""
        decimals = any(
            _DECIMAL_COMMA.fullmatch(text) and not _COMMA_GROUPS.fullmatch(text) for *_, text, _ in self.commas
        )
        for at, row, text, shown in self.commas:
            values[at] = _number(text, decimals=decimals)
            if math.isnan(values[at]):
                self.add(row, shown)

    def issues(self) -> list[Issue]:
        self._cut()
        rest = self.n - len(self.first)
        return [*self.first, Issue(f"and {rest:,} more rows without a word and a count")] if rest else self.first


def _parse(
    block: list[_Record], word: int, count: int, before: int, name: str, found: _Found
) -> tuple[list[str], list[float]]:
    """The words and counts of some rows, NaN for a count with commas."""
    width = max(word, count)
    words: list[str] = []
    values: list[float] = []
    for place, record in enumerate(block, start=before + 1):
        if not isinstance(record, list):
            if is_unclosed(record):
                raise _never_closed(place, name)
            found.add(place, "")
            continue
        text, raw = (trimmed(record[word]), record[count].strip()) if len(record) > width else ("", "")
        if "\n" in text or "\r" in text:
            raise _never_closed(place, name)
        value = float(raw) if raw.isdecimal() else _number(raw)
        if text and "," in raw:
            found.commas.append((found.n_words + len(words), place, raw, " ".join(record)))
            words.append(text)
            values.append(math.nan)
        elif text and 0 <= value < math.inf:
            words.append(text)
            values.append(value)
        elif any(map(str.strip, record)):
            found.add(place, " ".join(record))
    found.n_words += len(words)
    return words, values


def _never_closed(row: int, name: str) -> InputError:
    return InputError(
        f"In row {row:,} of {name} a quotation mark is never closed, so that rows run together. Save the list with "
        "tabs between its columns, or with its quotation marks doubled."
    )
