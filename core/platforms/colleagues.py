"""Files for colleagues: the comparisons as tables to fill in, one for all or one for each, as CSV or for Excel.

They come back as a plain table of votes (`plain`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd

from ..errors import InputError, Issue
from ..questions.batch import FIELDS
from ..tables import COMPARISONS
from ..tabular.csv_writing import for_spreadsheets
from ..tabular.workbooks import MIME, write_workbook
from ..votes.platform import Outgoing, PlatformFile
from .plain import comparison_ids

HEADER = ("comparison_id", *FIELDS, "voter", "choice")
MAX_COLLEAGUES, MAX_NAME = 200, 80
# A spreadsheet, and whoever opens the file in one, should see the words, not run them.


def deal_out(
    comparisons: pd.DataFrame, names: Sequence[str], *, everybody_all: bool = False
) -> dict[str, pd.DataFrame]:
    """The comparisons of each colleague: whole tasks, dealt evenly within one and in order; or all to everybody.

    `comparisons` is a table of schema COMPARISONS. Colleagues who would get nothing are left out. Raises `InputError`
    for no name, one that comes twice, one too long, or more than 200.
    """
    COMPARISONS.check(comparisons)
    tidy = [" ".join(name.split()) for name in names if name.strip()]
    issues = [Issue("is there twice", found=name) for name in dict.fromkeys(tidy) if tidy.count(name) > 1]
    issues += [Issue(f"is longer than {MAX_NAME} letters", found=name) for name in tidy if len(name) > MAX_NAME]
    if issues or not 1 <= len(tidy) <= MAX_COLLEAGUES:
        raise InputError(f"Give each colleague a name of their own, 1 to {MAX_COLLEAGUES} of them.", issues)
    if everybody_all:
        return dict.fromkeys(tidy, comparisons)
    tasks = comparisons["task_id"].drop_duplicates()
    owner = dict(zip(tasks, (at * len(tidy) // max(len(tasks), 1) for at in range(len(tasks))), strict=True))
    of_row = comparisons["task_id"].map(owner)
    parts = {name: comparisons[of_row == place].reset_index(drop=True) for place, name in enumerate(tidy)}
    return {name: part for name, part in parts.items() if len(part)}


def write_comparisons(
    comparisons: pd.DataFrame, *, voter: str = "", ties_allowed: bool = True, excel: bool = False
) -> bytes:
    """The comparisons as a table to fill in: `comparison_id`, the texts as shown, `voter`, and an empty `choice`.

    CSV is UTF-8 with a byte order mark; texts that a spreadsheet would take for formulas get an apostrophe there,
    which does no harm: votes are matched by the id. A workbook holds them as they are and offers the choices.
    """
    COMPARISONS.check(comparisons)
    columns = [comparison_ids(comparisons), *(comparisons[field] for field in FIELDS)]
    rows = [[*texts, voter, ""] for texts in zip(*columns, strict=True)]
    if excel:
        choices = ["left", "right", *(["tie"] if ties_allowed else []), "unknown"]
        return write_workbook("Comparisons", HEADER, rows, choices={"choice": choices})
    return for_spreadsheets(HEADER, rows)


def write_tables(
    parts: dict[str, pd.DataFrame], *, name: str, ties_allowed: bool = True, excel: bool = False
) -> dict[str, bytes]:
    """A file for each colleague, by its name; the colleague stands in the column `voter`.

    Files are numbered, as names of people may hold anything.
    """
    ending = "xlsx" if excel else "csv"
    return {
        f"{name}-colleague-{number:03d}.{ending}": write_comparisons(
            part, voter=voter, ties_allowed=ties_allowed, excel=excel
        )
        for number, (voter, part) in enumerate(parts.items(), 1)
    }


def table_files(ballot: Outgoing) -> tuple[PlatformFile, ...]:
    """One table for all colleagues, as CSV and as a workbook."""

    def make(excel: bool) -> bytes:
        return write_comparisons(ballot.asked(), ties_allowed=ballot.ties_allowed, excel=excel)

    labels = ("Comparisons as a table (CSV)", "Comparisons as a table (XLSX)")
    if ballot.is_top_up:
        labels = ("Comparisons without a vote (CSV)", "Comparisons without a vote (XLSX)")
    note = "A row each, with its id: left or right is what the table shows there. Whoever fills it in writes a name."
    return (
        PlatformFile(f"{ballot.part}-comparisons.csv", labels[0], note, "text/csv", partial(make, False)),
        PlatformFile(
            f"{ballot.part}-comparisons.xlsx",
            labels[1],
            "The same for Excel: choices from a list, and no text is taken for a formula.",
            MIME,
            partial(make, True),
        ),
    )
