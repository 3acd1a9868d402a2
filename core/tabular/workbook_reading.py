"""Excel workbooks (.xlsx) read as rows of texts, those typed as text unchanged, and tables written as workbooks.

Of formulas the value that the program stored last is taken. Numbers, dates, truth values and errors are no texts any
more: what they were turned into is reported by cell.

What is written are texts that no program takes for formulas.
"""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError
from xml.parsers import expat

from ..errors import InputError, Issue
from .zips import DAMAGED, check_sizes, check_stated, most_unpacked, pack

if TYPE_CHECKING:
    from openpyxl import Workbook


_MAX_BYTES = 500 << 20
MOST_CELLS = 20_000_000
MOST_ROWS = 1 << 20  # of a sheet in every spreadsheet program
MOST_ELEMENTS = 200_000  # of XML at once: of a row, a text, the styles; each becomes an object of a kilobyte or two
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main "
_ROW, _TEXT = f"{_MAIN}row", f"{_MAIN}si"  # what openpyxl forgets once it has read it
_PIECE = 1 << 16
_UNREADABLE = (*DAMAGED, ParseError, SyntaxError, TypeError, AttributeError)
_CONTENTS = "[Content_Types].xml"  # what every workbook holds
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
# How a workbook writes what XML can't hold, and what would be read so (ECMA-376, ST_Xstring).
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")


@dataclass(frozen=True)
class Sheet:
    """A sheet's rows that aren't blank: `numbers` as the program shows them (from 1), `rows` equally long texts,
    without columns that are blank throughout. `remarks` belong to a position in the rows."""

    name: str
    numbers: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[tuple[int, Issue], ...]

    @property
    def width(self) -> int:
        return len(self.rows[0]) if self.rows else 0

    def remarks_on(self, *columns: int) -> tuple[Issue, ...]:
        """The remarks on some columns."""
        return tuple(issue for column, issue in self.remarks if column in columns)


def is_workbook(data: bytes) -> bool:
    """Whether a file is an Excel workbook by its content: a new one (a zip archive), or an old or encrypted one."""
    return data.startswith((b"PK\x03\x04", _OLD_EXCEL))


def is_spreadsheet(data: bytes) -> bool:
    """Whether a zip archive is a workbook by what it holds, where it could be a published dataset as well."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _CONTENTS in archive.namelist()
    except DAMAGED:
        return False


def read_workbook(data: bytes, name: str) -> tuple[Sheet, ...]:
    """The sheets of a workbook that hold anything, hidden ones left out.

    Texts stay as they were typed (`007`, `1e5`, `true`); a number is written without needless digits, with the zeros
    that a format such as `000` or `0.00` shows; a date as 2020-03-01; cells with an error hold nothing.
    Raises `InputError` for another kind of file, a damaged one, or one that unpacks to more than 500 MB.
    """
    if data.startswith(_OLD_EXCEL):
        raise InputError(
            f"{name} is an old or a protected Excel workbook. Save it as “Excel workbook (.xlsx)” without a password."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if _CONTENTS not in archive.namelist():
                raise InputError(f"{name} is not an Excel workbook. Save the table as .xlsx or as “CSV UTF-8”.")
            check_sizes(archive, len(data), _MAX_BYTES)
            check_stated(archive)
            for entry in archive.infolist():
                with archive.open(entry) as part:
                    _check_part(part, name)
        return tuple(_sheets(data))
    except InputError:
        raise
    except _UNREADABLE as error:
        raise InputError(
            f"{name} can't be read as an Excel workbook ({error}). Save it again as .xlsx, or as “CSV UTF-8”."
        ) from error


def _check_part(part: IO[bytes], name: str) -> None:
    """Raise `InputError` for a part of a workbook that would become more objects than that of any table, or that counts
    its rows beyond a sheet's end. What is no XML passes: nobody reads it as such."""
    too_much = InputError(f"{name} holds more than a workbook can. Save the table again as .xlsx, or as “CSV UTF-8”.")
    n_elements, n_rows, depth, before = 0, 0, 0, 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal n_elements, n_rows, depth, before
        if tag in (_ROW, _TEXT):
            if not depth:
                before = n_elements
            depth += 1
            n_rows += tag == _ROW
            if n_rows > MOST_ROWS or float(attributes.get("r", 0)) > MOST_ROWS:
                raise too_much
        n_elements += 1 + len(attributes)
        if n_elements > MOST_ELEMENTS:
            raise too_much

    def end(tag: str) -> None:
        nonlocal n_elements, depth
        if tag in (_ROW, _TEXT):
            depth -= 1
            if not depth:
                n_elements = before

    def refuse(*_: object) -> None:
        raise too_much  # a document type can name texts that unfold without end, and no workbook has one

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler, parser.StartDoctypeDeclHandler = start, end, refuse
    try:
        while piece := part.read(_PIECE):
            parser.Parse(piece)
    except expat.ExpatError:
        return


def _sheets(data: bytes) -> Iterator[Sheet]:
    n_letters, most = 0, min(_MAX_BYTES, most_unpacked(len(data)))
    values, formulas = _open(data, True), _open(data, False)
    for sheet, other in zip(values.worksheets, formulas.worksheets, strict=True):
        if sheet.sheet_state == "visible":
            # Some programs write a wrong extent, which would cut the rows off.
            sheet.reset_dimensions()
            other.reset_dimensions()
            read = _sheet(sheet.title, zip(sheet.iter_rows(), other.iter_rows(), strict=True))
            # A text that many cells share stands in the file once, and in a table as often as it is shown.
            n_letters += sum(len(text) for row in read.rows for text in row)
            if n_letters > most:
                raise InputError(f"The sheet {read.name} shows more than {most:,} letters. Take out what isn't needed.")
            if read.rows:
                yield read
    values.close()
    formulas.close()


def _open(data: bytes, data_only: bool) -> Workbook:
    from openpyxl import load_workbook

    return load_workbook(io.BytesIO(data), read_only=True, data_only=data_only, keep_links=False)


def _sheet(name: str, cells: Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]) -> Sheet:
    numbers, rows, remarks, n_cells = [], [], [], 0
    for number, (values, formulas) in enumerate(cells, start=1):
        texts = []
        for column, (cell, formula) in enumerate(zip(values, formulas, strict=True)):
            text, remark = _text(cell, formula)
            texts.append(text)
            if remark:
                remarks.append((column, Issue(remark, row=number, found=text or str(formula.value))))
        n_cells += len(texts)
        check_cells(n_cells, f"The sheet {name}")
        if any(text.strip() for text in texts):
            numbers.append(number)
            rows.append(texts)
    width = max(map(len, rows), default=0)
    check_cells(width * len(rows), f"The sheet {name}")
    padded = [row + [""] * (width - len(row)) for row in rows]
    used = [column for column in range(width) if any(row[column].strip() for row in padded)]
    place = {column: at for at, column in enumerate(used)}
    return Sheet(
        name,
        tuple(numbers),
        tuple(tuple(row[column] for column in used) for row in padded),
        tuple((place.get(column, -1), issue) for column, issue in remarks),
    )


def check_cells(n: int, what: str) -> None:
    """Raise `InputError` for a table of more cells than any has: few rows that reach far out would fill the memory."""
    if n > MOST_CELLS:
        raise InputError(f"{what} has more than {MOST_CELLS:,} cells, most of them empty. Take out what isn't needed.")


def _text(cell: Any, formula: Any) -> tuple[str, str]:
    """A cell's text, and what a person should know about it."""
    value = cell.value
    if value is None:
        if isinstance(formula.value, str) and formula.data_type == "f":
            return "", "the formula has no stored value; open the file in your spreadsheet program and save it again"
        return "", ""
    if cell.data_type == "e":
        return "", "the cell shows an error and was left out; format the column as text and type it again"
    if isinstance(value, bool):
        text = "TRUE" if value else "FALSE"
        return text, "the cell holds a truth value, not text; format the column as text if it should read otherwise"
    if isinstance(value, int | float):
        return _number(value, cell.number_format), ""
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        return _moment(value), "the spreadsheet made a date or a time of this; format the column as text, type it again"
    return unescaped(str(value)), ""


def unescaped(text: str) -> str:
    """A cell's text as it was typed; half characters become the mark U+FFFD.

    >>> unescaped("ice_x000D_"), unescaped("_x005F_x0041_"), unescaped("_x0041_"), unescaped("_xD83D__xDE00_")
    ('ice\\r', '_x0041_', 'A', '😀')
    """
    if "_x" not in text:
        return text
    letters = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    return letters.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def escaped(text: str) -> str:
    """A text as a workbook holds it, so that every program shows it as it is.

    >>> escaped("_x0041_"), escaped("x_1")
    ('_x005F_x0041_', 'x_1')
    """
    return _ESCAPED.sub(lambda match: "_x005F" + match[0], text)


def _number(value: int | float, shown_as: str) -> str:
    """A number as text, such as 7, 0.5 or 1e+20; 007 with the format 000.

    >>> _number(7.0, "General"), _number(7, "000"), _number(3.1, "0.00"), _number(0.1 + 0.2, "General")
    ('7', '007', '3.10', '0.3')
    """
    if match := re.fullmatch(r"(0+)(?:\.(0+))?", shown_as):
        decimals = len(match[2] or "")
        width = len(match[1]) + (decimals + 1 if decimals else 0) + (value < 0)
        # A format that hides digits would change what was typed.
        if round(value, decimals) == value:
            return f"{value:0{width}.{decimals}f}"
    return str(value) if isinstance(value, int) else f"{value:.15g}"


def _moment(value: datetime.date | datetime.time | datetime.timedelta) -> str:
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    return str(value) if isinstance(value, datetime.timedelta) else value.isoformat()


_MODIFIED = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*")
MIME = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def write_workbook(
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str | int | float | None]],
    *,
    choices: Mapping[str, Sequence[str]] | None = None,
) -> bytes:
    """One sheet with a fixed header. Texts are stored as texts, also those that begin with "="; the same rows give the
    same bytes. `choices` names columns whose cells offer a list to choose from.
    """
    from openpyxl import Workbook
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = title[:31]
    n_rows = 1
    for n_rows, row in enumerate([header, *rows], 1):
        for column, value in enumerate(row, 1):
            cell = sheet.cell(n_rows, column)
            cell.value = escaped(_ILLEGAL.sub("\ufffd", value)) if isinstance(value, str) else value
            if isinstance(value, str):
                cell.data_type = "s"
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet.freeze_panes = "A2"
    for column, name in enumerate(header, 1):
        sheet.column_dimensions[get_column_letter(column)].width = 22 if name == "comparison_id" else 16
    for name, allowed in (choices or {}).items():
        rule = DataValidation(type="list", formula1=f'"{",".join(allowed)}"', allow_blank=True)
        letter = get_column_letter(list(header).index(name) + 1)
        rule.add(f"{letter}2:{letter}{max(n_rows, 2)}")
        sheet.add_data_validation(rule)
    out = io.BytesIO()
    book.save(out)
    return _without_clock(out.getvalue())


# What XML can't hold, and so no workbook.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def _without_clock(data: bytes) -> bytes:
    """The same workbook without the time at which it was written."""
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        members = {name: old.read(name) for name in old.namelist()}
    for name, content in members.items():
        if "core.xml" in name:
            members[name] = _MODIFIED.sub(rb"\g<1>1980-01-01T00:00:00Z", content)
    return pack(members.items())
