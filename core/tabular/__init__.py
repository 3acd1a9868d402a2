"""Tables from elsewhere: CSV, workbooks, lists, JSON; opened by one way, with a report of what was decided.

bytes → text (`encoding`) → rows of cells (`dialect`, `workbook_reading`, `json_files`) → a table with a header
(`table`, with what cells say that are no texts). What the columns mean is for the reader that asks for them.
"""

from __future__ import annotations

from .dialect import SPARE_CELLS, Dialect, bounded, find_dialect, is_unclosed, lines, records
from .encoding import ENCODINGS, Decoded, decode_bytes, in_utf8, known_encoding
from .json_files import RowsOfJson, is_json, json_records, json_table
from .table import (
    MISSING,
    NO_NUMBER,
    ColumnLists,
    CsvTable,
    Lines,
    Numbers,
    RowTable,
    SourceTable,
    Texts,
    choose_sheet,
    column_numbers,
    csv_of,
    is_blank,
    is_missing,
    open_csv,
    open_table,
    places_of,
    read_lines,
    refuse_doubled,
    same_name,
    sheet_table,
    shown_header,
    trimmed,
)
from .workbook_reading import MOST_CELLS, Sheet, check_cells, is_spreadsheet, is_workbook, read_workbook

__all__ = [
    "ENCODINGS",
    "MISSING",
    "MOST_CELLS",
    "NO_NUMBER",
    "SPARE_CELLS",
    "CsvTable",
    "Decoded",
    "Dialect",
    "Lines",
    "Numbers",
    "RowTable",
    "ColumnLists",
    "RowsOfJson",
    "Sheet",
    "SourceTable",
    "Texts",
    "bounded",
    "check_cells",
    "choose_sheet",
    "column_numbers",
    "csv_of",
    "decode_bytes",
    "find_dialect",
    "in_utf8",
    "is_blank",
    "is_json",
    "is_missing",
    "is_spreadsheet",
    "is_unclosed",
    "is_workbook",
    "json_records",
    "json_table",
    "known_encoding",
    "lines",
    "open_csv",
    "open_table",
    "places_of",
    "read_lines",
    "read_workbook",
    "records",
    "refuse_doubled",
    "same_name",
    "sheet_table",
    "shown_header",
    "trimmed",
]
