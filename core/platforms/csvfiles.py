"""CSV files as they come back from people: any encoding, delimiter and line ending, some of them damaged.

A file is opened first (`open_csv`: encoding, delimiter, header) and then read once, keeping only the columns that
are wanted. Nothing is dropped silently: a row that can't be read becomes an `Issue` with its number.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from ..csv_reading import bounded
from ..errors import InputError, Issue

_DELIMITERS: tuple[str, ...] = (",", ";", "\t", "|")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
MOST_COLUMNS = 1 << 14  # of a table in every spreadsheet program; each of ours becomes an array
_NAMED, _LONG = 12, 40  # columns that a message names, and letters of each
# What no text of Windows-1252 holds, and most binary files do.
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")
# Files of another kind, known by how they begin, and what to do about them.
_STARTS = (
    (b"PK\x03\x04", "a spreadsheet or a zip archive. Open it and save the table as “CSV UTF-8”"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook. Open it and save the table as “CSV UTF-8”"),
    (b"\x1f\x8b", "a gzip archive. Unpack it first"),
    (b"%PDF", "a PDF. Download the results as CSV"),
    (b"\x89PNG", "a picture. Choose the file that holds the table"),
    (b"\xff\xd8\xff", "a picture. Choose the file that holds the table"),
    (b"GIF8", "a picture. Choose the file that holds the table"),
    (b"<!doctype", "a web page, probably a login page. Sign in to the platform again and repeat the download"),
    (b"<html", "a web page, probably a login page. Sign in to the platform again and repeat the download"),
    (b"[{", "a JSON file. Choose CSV when you export"),
    (b"{", "a JSON file. Choose CSV when you export"),
)


@dataclass(frozen=True)
class Decoded:
    """The text of a file, its encoding, what a person should know, and whether its last bytes were cut off."""

    text: str
    encoding: str
    notes: tuple[Issue, ...] = ()
    is_cut: bool = False


@dataclass(frozen=True)
class Rows:
    """The wanted columns of a file.

    `numbers` are the rows' numbers as a spreadsheet shows them (the header is row 1); `columns` has one list of
    texts a wanted column; `n_rows` counts all rows that aren't blank, `n_unreadable` those left out.
    """

    numbers: list[int]
    columns: list[list[str]]
    n_rows: int
    n_unreadable: int
    issues: tuple[Issue, ...]
    unread: tuple[Issue, ...] = ()  # of those left out, which are among the issues


@dataclass(frozen=True)
class CsvFile:
    """An opened CSV file: its header as written, its delimiter, notes on the encoding, and its text."""

    name: str
    header: tuple[str, ...]
    delimiter: str
    decoded: Decoded
    start: int = 0

    @property
    def shown_header(self) -> str:
        """The names of the columns for a message: the first of them, each cut where it is long.

        >>> open_csv(b"a,,b\\n", "x.csv").shown_header
        'a, b'
        """
        names = [name if len(name) <= _LONG else name[:_LONG] + "…" for name in self.header if name]
        more = len(names) - _NAMED
        return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")

    def read(self, wanted: Sequence[int], n_needed: int) -> Rows:
        """Read the columns at the positions `wanted`; a row with fewer than `n_needed` fields is unreadable.

        Rows between `n_needed` and the header's length are filled with empty texts (Mechanical Turk leaves off the
        last two fields), longer rows are readable if what is over is empty (spreadsheets add delimiters).
        """
        return _read(self, wanted, n_needed)


def decode_bytes(data: bytes, name: str) -> Decoded:
    """Find the encoding of `data` (UTF-8 with or without mark, UTF-16, else Windows-1252 with a note) and decode it.

    A UTF-8 file that ends inside a character is decoded without that character, and marked as cut.
    Raises `InputError` for an empty file, for another kind of file, and where no encoding fits.
    """
    if not data.strip():
        raise InputError(f"{name} is empty. Download it again.")
    beginning = data[:512].lstrip().lower()
    for start, kind in _STARTS:
        if data.startswith(start) or beginning.startswith(start):
            raise InputError(f"{name} is not a CSV file but {kind}.")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _decode_utf16(data, "utf-16", name)
    sample = data[:2000]
    if sample[1::2].count(0) > len(sample) // 4:
        return _decode_utf16(data, "utf-16-le", name)
    if sample[0::2].count(0) > len(sample) // 4:
        return _decode_utf16(data, "utf-16-be", name)
    try:
        return Decoded(data.decode("utf-8-sig"), "utf-8")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and error.end == len(data):
            return Decoded(data[: error.start].decode("utf-8-sig"), "utf-8", is_cut=True)
    return _decode_windows(data, name)


def open_csv(data: bytes, name: str) -> CsvFile:
    """Open a CSV file: decode it, find its delimiter (comma, semicolon or tab) and read its header.

    Raises `InputError` where this is no CSV file with a header (see `decode_bytes`).

    >>> open_csv(b"area;token\\r\\nsea;ship\\r\\n", "tokens.csv").header
    ('area', 'token')
    """
    decoded = decode_bytes(data, name)
    start, candidates = 0, _DELIMITERS
    if decoded.text[:4].lower() == "sep=" and decoded.text[4:5] in _DELIMITERS:
        # Excel writes its delimiter in a line of its own, and doesn't count that line.
        candidates = (decoded.text[4],)
        start = len(decoded.text[:5]) + len(_line_end(decoded.text[5:7]))
    headers = {delimiter: _first_record(decoded.text, delimiter, start, name) for delimiter in candidates}
    delimiter = max(candidates, key=lambda candidate: len(headers[candidate]))
    header = tuple(field.strip().lstrip("\ufeff") for field in headers[delimiter])
    if not any(header):
        raise InputError(f"{name} has no header: its first row is blank. The first row must name the columns.")
    return CsvFile(name, header, delimiter, decoded, start)


def _decode_utf16(data: bytes, encoding: str, name: str) -> Decoded:
    is_cut = len(data) % 2 == 1
    try:
        text = data[: len(data) - is_cut].decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} looks like UTF-16, but byte {error.start + 1} doesn't fit. Save the file as “CSV UTF-8”."
        ) from error
    return Decoded(text.removeprefix("\ufeff"), "utf-16", is_cut=is_cut)


def _decode_windows(data: bytes, name: str) -> Decoded:
    if _BINARY.search(data):
        raise InputError(f"{name} is not a text file. Choose a table or a list saved as text, such as “CSV UTF-8”.")
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError as error:
        line = data[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n") + 1
        raise InputError(
            f"{name} is neither UTF-8 nor Windows-1252 text: line {line} holds the byte 0x{data[error.start]:02x}. "
            "Save the file as “CSV UTF-8”."
        ) from error
    line = next(number for number, text_line in enumerate(text.splitlines(), 1) if not text_line.isascii())
    note = Issue(
        f"the file is not UTF-8; it was read as Windows-1252 (Western European). Check the letters in line {line}; "
        "if they are wrong, save the file as “CSV UTF-8”"
    )
    return Decoded(text, "cp1252", (note,))


def _line_end(text: str) -> str:
    return text if text == "\r\n" else text[:1] if text[:1] in ("\r", "\n") else ""


def _lines(text: str, start: int) -> Iterator[str]:
    """The lines with their ends (LF, CR or CRLF, as the csv module wants them), without a copy of the whole text."""
    return (match[0] for match in _LINE.finditer(text, start))


def _first_record(text: str, delimiter: str, start: int, name: str) -> list[str]:
    try:
        return next(csv.reader(bounded(_lines(text, start), MOST_COLUMNS, name, delimiter), delimiter=delimiter), [])
    except csv.Error:
        return []


def records(file: CsvFile) -> Iterator[list[str] | csv.Error]:
    """The records after the header; a record that breaks the rules of quoting comes as its error."""
    reader = csv.reader(_lines(file.decoded.text, file.start), delimiter=file.delimiter, strict=True)
    is_header = True
    while True:
        try:
            for record in reader:
                if not is_header:
                    yield record
                is_header = False
            return
        except csv.Error as error:
            if not is_header:
                yield error
            is_header = False


def _read(file: CsvFile, wanted: Sequence[int], n_needed: int) -> Rows:
    # itemgetter of one position gives a bare value, hence the doubled last position.
    pick = itemgetter(*wanted, wanted[-1])
    width = len(file.header)
    numbers: list[int] = []
    values: list[tuple[str, ...]] = []
    issues = list(file.decoded.notes)
    unread: list[Issue] = []
    n_rows = n_unreadable = last_length = previous_length = 0
    for number, record in enumerate(records(file), 2):
        if isinstance(record, list) and len(record) == width:
            n_rows, previous_length, last_length = n_rows + 1, last_length, width
            numbers.append(number)
            values.append(pick(record))
            continue
        if isinstance(record, list) and not any(record):
            continue
        n_rows += 1
        reason = _unreadable(record, width, n_needed)
        if reason:
            n_unreadable += 1
            unread.append(Issue(reason, row=number))
            issues.append(unread[-1])
            previous_length, last_length = last_length, 0
        elif isinstance(record, list):
            previous_length, last_length = last_length, len(record)
            numbers.append(number)
            values.append(pick(record + [""] * (width - len(record))))
    if n_rows and _ends_early(file, last_length, previous_length):
        text = (
            "the file seems to end in the middle of its last row, so there may be rows missing. Download it again "
            "(from Turkle: on the admin site, whose file is whole)"
        )
        issues.append(Issue(text, row=numbers[-1] if last_length else None))
    columns = [list(column) for column in zip(*values, strict=True)][: len(wanted)] or [[] for _ in wanted]
    return Rows(numbers, columns, n_rows, n_unreadable, tuple(issues), tuple(unread))


def _unreadable(record: list[str] | csv.Error, width: int, n_needed: int) -> str:
    if isinstance(record, csv.Error):
        if "unexpected end of data" in str(record):
            return (
                "a quoted field is never closed, so nothing from here on can be read: the file is cut, "
                "or a quotation mark is missing"
            )
        return f"the quotation marks don't fit ({record})"
    if len(record) < n_needed:
        return f"the row stops after {len(record)} fields, but its answers need {n_needed}: the row is cut"
    if any(record[width:]):
        return f"the row has {len(record)} fields, more than the header's {width}"
    return ""


def _ends_early(file: CsvFile, last_length: int, previous_length: int) -> bool:
    if file.decoded.is_cut:
        return True
    ends_open = not file.decoded.text.endswith(("\n", "\r"))
    return ends_open and last_length < max(previous_length, 1)
