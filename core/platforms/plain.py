"""Votes in plain tables, a comparison, voter and choice in each row, and the files that collect such votes.

    comparison_id,voter,choice[,seconds][,submitted_at]
    b1-0a1b2c3d-00001-1,anna,left

The comparisons go out as tables too, so that votes can be collected with anything that holds rows: a form, a
spreadsheet, a script. Tables for colleagues, one for all or one for each, are CSV or for Excel.

Or they go out as web pages that need no server: each file works from a disk or any web host, and renders the template
of all platforms. The answers stay in the browser until the voter sends back the CSV with which the page ends, which is
such a table.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import InputError, Issue
from ..i18n import language as language_of
from ..questions.comparison_page import FIELDS, NO_WORDING, Wording, fill, paragraphs_of, render, template
from ..tables import COMPARISONS
from ..tabular import SourceTable, lacking, places_of
from ..tabular.csv_writing import for_spreadsheets
from ..tabular.workbook_reading import MIME, write_workbook
from ..votes.answers import TEXTS
from ..votes.meanings import ValueMeanings
from ..votes.platform import Outgoing, PlatformFile, ResultFile
from ..votes.reading import damaged_voters, result_file, seconds_of, utc_times

NEEDED = ("comparison_id", "voter", "choice")
OPTIONAL = ("seconds", "submitted_at")


def comparison_ids(comparisons: pd.DataFrame) -> pd.Series:
    """The public id of each comparison: its task's id and its number there, such as `b1-0a1b2c3d-00001-1`."""
    return comparisons["task_id"] + "-" + comparisons["n"].astype("str")


@dataclass(frozen=True)
class Plain:
    """A table of votes: `comparison_id`, `voter`, `choice`, and `seconds`, `submitted_at` where they are known."""

    name: str = "plain"
    label: str = "Plain table"
    download_hint: str = "A table of votes needs the columns comparison_id, voter and choice."
    steps: tuple[str, ...] = (
        "Give each colleague a file, or one file to all. The choice is left, right, tie or unknown.",
        "Upload what comes back under 2, in any order. A file that is only begun may be uploaded too.",
    )

    def files(self, ballot: Outgoing) -> tuple[PlatformFile, ...]:
        """The comparisons as one table for all, as CSV and for Excel (`split_among_colleagues` says who gets which)."""

        return table_files(ballot)

    def recognises(self, columns: Collection[str]) -> bool:
        """A file with the comparison's id and a choice."""
        return {"comparison_id", "choice"} <= set(columns)

    def read(self, file: SourceTable, said: ValueMeanings) -> ResultFile:
        """Read the file. A voter's rows of one task are one assignment, where no times are told."""
        places = places_of(file, (*NEEDED, *OPTIONAL))
        missing = [name for name in NEEDED if name not in places]
        if missing:
            raise lacking(file, missing, then=self.download_hint)
        rows = file.texts(list(places.values()), max(places[name] for name in NEEDED) + 1)
        cell = dict(zip(places, rows.columns, strict=True))
        comparison, voter, choice = (cell[name].str.strip() for name in NEEDED)
        task, n = split_ids(comparison)
        is_filled = ((voter != "") | (choice != "")).to_numpy()  # else nobody has filled the row in yet
        unread = _unread(rows.numbers, comparison, (n == 0) & is_filled, (voter == "").to_numpy() & is_filled)
        unread += [] if said.former else damaged_voters(rows.numbers, voter, file.header[places["voter"]])
        is_vote = (n > 0) & (voter != "").to_numpy() & is_filled
        frame, notices = plain_answers(rows.numbers, cell, task, n, choice)
        answers = frame if is_vote.all() else frame[is_vote].reset_index(drop=True)
        return result_file(self.name, rows, answers, unread, notices, shows_texts=False)


def plain_answers(
    numbers: npt.NDArray[np.int64], cell: Mapping[str, pd.Series], task: pd.Series, n: npt.NDArray[np.int64],
    choice: pd.Series,
) -> tuple[pd.DataFrame, list[Issue]]:  # fmt: skip
    """The rows of a plain table as answers, and notices on their times; `cell` are its columns by name."""
    times, notices = utc_times(cell.get("submitted_at"), "submitted_at")
    columns = {
        "row": numbers,
        "assignment_id": "",  # of its task, voter and time
        "voter": cell["voter"].str.strip(),
        "task_id": task,
        "n": n,
        "choice": choice.str.lower(),
        "seconds": seconds_of(cell.get("seconds")),
        "submitted_at": times,
        "status": "submitted",
    }
    return pd.DataFrame(columns).assign(**dict.fromkeys((*TEXTS, "note"), "")), notices


def split_ids(comparison: pd.Series) -> tuple[pd.Series, npt.NDArray[np.int64]]:
    """The task and the number of each comparison's id, "" and 0 where it is none. A leading apostrophe is left out.

    >>> split_ids(pd.Series(["b1-0a1b2c3d-00001-2", "nonsense"]))[1].tolist()
    [2, 0]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    clean = pc.ascii_ltrim(pa.array(comparison, type=pa.large_string()), characters="'")
    parts = pc.split_pattern(clean, "-", max_splits=1, reverse=True)
    lengths = np.asarray(pc.list_value_length(parts), dtype=np.int64)
    flat, ends = pc.list_flatten(parts), lengths.cumsum()
    task, number = flat.take(pa.array(ends - lengths)), flat.take(pa.array(ends - 1))
    is_number = np.asarray(pc.match_substring_regex(number, "^[0-9]{1,9}$"))
    is_id = is_number & (lengths == 2) & (np.asarray(pc.binary_length(task)) > 0)
    n = np.asarray(pc.cast(pc.if_else(pa.array(is_id), number, "0"), pa.int64()))
    return pd.Series(pc.if_else(pa.array(n > 0), task, "").to_pandas(), comparison.index, dtype="str"), n


def _unread(
    numbers: npt.NDArray[np.int64],
    comparison: pd.Series,
    without_id: npt.NDArray[np.bool_],
    without_voter: npt.NDArray[np.bool_],
) -> list[Issue]:
    issues = []
    for at in np.flatnonzero(without_id | without_voter).tolist():
        what, column = ("no id of a comparison", "comparison_id") if without_id[at] else ("no voter", "voter")
        issues.append(Issue(what, row=int(numbers[at]), column=column, found=comparison.iloc[at]))
    return issues


PLAIN = Plain()


HEADER = ("comparison_id", *FIELDS, "voter", "choice")
MAX_COLLEAGUES, MAX_NAME = 200, 80
# A spreadsheet, and whoever opens the file in one, should see the words, not run them.


def split_among_colleagues(
    comparisons: pd.DataFrame, names: Sequence[str], *, everybody_all: bool = False
) -> dict[str, pd.DataFrame]:
    """The comparisons of each colleague: whole tasks, split evenly within one and in order; or all to everybody.

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


MAX_FILES = 500


def write_offline(
    comparisons: pd.DataFrame,
    *,
    name: str,
    notion: str,
    ties_allowed: bool,
    wording: Wording = NO_WORDING,
    consent: str = "",
    n_files: int = 1,
) -> dict[str, bytes]:
    """The files by name: the ballot's tasks split evenly within one task, whole and in order, `n_files` at most.

    `comparisons` is a table of schema COMPARISONS, `name` begins the files' names. `consent` (plain text; a blank line
    begins a paragraph) and the examples of `wording` stand before the first comparison; a voter who begins agrees. The
    CSV that comes back is the same in each language. Raises `InputError` for no
    comparison, or a number of files that isn't between 1 and `MAX_FILES`.

    >>> columns = {"question_id": 7, "task_id": "t", "n": 1, "first": 0, "second": 1, "flipped": False}
    >>> row = columns | dict.fromkeys(FIELDS, "</script>")
    >>> (page,) = write_offline(pd.DataFrame([row]), name="b1", notion="relatedness", ties_allowed=True).values()
    >>> page.count(b"</script>")
    3
    """
    COMPARISONS.check(comparisons)
    if comparisons.empty or not 1 <= n_files <= MAX_FILES:
        raise InputError(f"A ballot with comparisons makes 1 to {MAX_FILES} files, not {n_files}.")
    text = language_of(wording.language).text
    plain = replace(wording, examples=())  # these stand before the first comparison
    body = template(n_comparisons=1, notion=notion, ties_allowed=ties_allowed, wording=plain, target="page")
    rows = comparisons.assign(id=comparison_ids(comparisons))[["task_id", "id", *FIELDS]]
    tasks = rows["task_id"].drop_duplicates()
    file_of = dict(zip(tasks, (at * n_files // len(tasks) for at in range(len(tasks))), strict=True))
    pages = {}
    for number, part in rows.groupby(rows["task_id"].map(file_of), sort=True):
        file_id = f"{name}-part-{int(str(number)) + 1:03d}"
        records = part.drop(columns="task_id").to_dict("records")
        page = render(
            "offline",
            wording.language,
            consent=paragraphs_of(text(consent)),
            examples=wording.examples,
            first=fill(body, {field: str(records[0][field]) for field in FIELDS}),
            data=_json({"id": file_id, "comparisons": records}),
        )
        pages[f"{file_id}.html"] = page.encode("utf-8")
    return pages


def _json(value: object) -> str:
    """Data for a script element, which only "<" could end; JSON may write it in another way."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
