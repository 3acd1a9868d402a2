"""Tables as Excel workbooks: written as texts that no program takes for formulas."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence

from .workbook import escaped
from .zips import pack

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
