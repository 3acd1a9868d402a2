"""Excel workbooks that tests write: with openpyxl, and part by part where a program would write what it doesn't."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

from openpyxl import Workbook


def workbook(sheets: Mapping[str, Sequence[Sequence[object]]], formats: Mapping[str, str] | None = None) -> bytes:
    """A workbook of some sheets; texts are written as texts even where they look like formulas. `formats` gives the
    number format of cells of the first sheet."""
    book = Workbook()
    del book[book.sheetnames[0]]
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row, values in enumerate(rows, start=1):
            for column, value in enumerate(values, start=1):
                cell = sheet.cell(row, column)
                cell.value = value
                if isinstance(value, str) and value:
                    cell.data_type = "s"
    for place, shown in (formats or {}).items():
        book.worksheets[0][place].number_format = shown
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def with_cells(data: bytes, cells: str, extent: str = "") -> bytes:
    """The same workbook with `cells` (XML of rows) in place of its first sheet's, and a written extent."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(target, "w") as copy:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename == "xl/worksheets/sheet1.xml":
                dimension = f'<dimension ref="{extent}"/>' if extent else ""
                content = (
                    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
                    f"{dimension}<sheetData>{cells}</sheetData></worksheet>"
                ).encode()
            copy.writestr(entry.filename, content)
    return target.getvalue()
