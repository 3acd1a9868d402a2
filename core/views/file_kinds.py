"""What kind of file somebody brings, told by its content, and whether it belongs where it was put.

Every uploader, and every command that reads a file, asks `check` before it reads. A file of another kind is refused by
what it is and where it belongs. What is of no known kind passes: the reader then says what it misses. Only the
beginning of a file is looked at, of an archive the names in it.

Where a table's columns are named by hand, this is what is shown of it: names to choose from, values of the choice, the
first rows as read.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ..dataset.published import is_published
from ..dataset.side_by_side import is_dataset
from ..embeddings.loading import recognise_start
from ..embeddings.readers.similarity_files import FORMAT as SIMILARITIES
from ..errors import InputError
from ..platforms import SourceTable, guess, normalised, open_results
from ..platforms.mapped_tables import Mapping, mapped_frame, unwrapped, usual_of
from ..platforms.mturk import MTURK
from ..platforms.presets import NAMES as OF_RESULTS
from ..platforms.presets import preset_of
from ..platforms.prolific import PROLIFIC
from ..platforms.turkle import TURKLE
from ..questions import round_kinds
from ..questions.best_worst.files import is_best_worst
from ..questions.order.orders import COLUMNS as ORDERS
from ..questions.rating.files import NAMES, has_texts
from ..tabular import (
    NUMBER,
    RowTable,
    decode_bytes,
    find_dialect,
    is_json,
    is_workbook,
    numbered_columns,
    positions,
    read_workbook,
    records,
    same_name,
)
from ..tabular.encoding import GZIP, PARQUET, foreign
from ..tabular.zips import DAMAGED
from ..tokens.frequencies import COUNT_NAMES, TOKEN_NAMES
from ..votes.meanings import CHOICES, key_of, meanings_by_value

if TYPE_CHECKING:
    from ..store import Store


_HEAD = 1 << 16
_MOST_OF_A_WORKBOOK = 2 << 20  # a larger one is left to its reader: a look at the first row unpacks all of it
_FEWEST_VALUES = 5  # in a line of vectors without a header; a table of ratings can end in a few numbers too
_LINES = 50


@dataclass(frozen=True)
class Kind:
    """A kind of file: what people call it, and where it belongs."""

    what: str
    where: str


def _where(kind: str, tab: str) -> str:
    """Where files of a kind of question are read, which is chosen on the Plan page."""
    return f"Choose {kind} on the Plan page, then read it on the Scores page, under “{tab}”."


KINDS = {
    "project file": Kind("a project file of Runoff", "Take it in on the Project page, under “New project, import”."),
    "dataset zip": Kind(
        "a published dataset of Runoff",
        "Compare its scores on the Plan page, under “Two kinds side by side”; `python -m core replay` computes them "
        "from its votes.",
    ),
    "part of a dataset": Kind(
        "a part of a published dataset",
        "It is read with the rest of its zip file: `python -m core replay` takes that.",
    ),
    "dataset": Kind(
        "a dataset with scores",
        "Compare it on the Plan page, under “Two kinds side by side”, or give it to `python -m core evaluate`.",
    ),
    "batch": Kind(
        "a batch file with tasks for voters, without an answer",
        "It goes to the platform. Once people have voted there, download the results and bring those.",
    ),
    "task page": Kind("a page that shows tasks to voters", "It goes to the platform, or to the voters themselves."),
    "results": Kind(
        "a file of results with votes",
        "Bring it on the Collect page, under “Upload results”; a campaign that Runoff didn't make, on the "
        "Project page, under “From archived results”.",
    ),
    "round results": Kind(
        "a file of results of a round",
        "Bring it on the Collect page, where the kind of question of its round is chosen at the top.",
    ),
    "submissions": Kind(
        "Prolific's list of submissions, which has no votes in it",
        "Check it on the Collect page, where Prolific is chosen as the way to collect.",
    ),
    "embedding": Kind("an embedding", "Import it on the Embeddings page."),
    "similarities": Kind(
        "a table of similarities, which is used like an embedding", "Import it on the Embeddings page."
    ),
    "tokens": Kind("a token list", "Add it on the Tokens page, under “From a file”."),
    "frequencies": Kind(
        "a list of words with their counts", "Use it on the Tokens page, under “Choose where frequencies come from”."
    ),
    "ratings": Kind("a file of ratings", _where("Ratings", "A file of ratings")),
    "best–worst": Kind("a file of best–worst judgements", _where("Best–worst", "A file of judgements")),
    "target groups": Kind("a file of target groups", _where("Orders of target groups", "Files of groups and orders")),
    "orders": Kind("a file of people's orders", _where("Orders of target groups", "Files of groups and orders")),
}  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Where files are brought: what is wanted there, in words and by kinds, and which file to choose instead."""

    wants: str
    takes: frozenset[str]
    choose: str


_TABLE = "Choose a table: CSV, TSV or Excel (.xlsx)."
_SCORES = ("dataset", "ratings", "best–worst", "similarities")
PLACES = {
    # A table may have any names of columns where they are chosen after it is opened.
    "tokens": Place(
        "a token list", frozenset({"tokens", "frequencies"}), "Choose a list of one token per line, or a table (CSV, "
        "TSV or Excel) with the columns area and token.",
    ),
    "frequencies": Place(
        "a list of words with their counts", frozenset({"frequencies"}),
        "Choose a CSV or TSV file with a word and its count per row.",
    ),
    "embeddings": Place(
        "an embedding", frozenset({"embedding", "similarities", GZIP}),  # its reader says what a gzip archive holds
        "Choose the file of a model: word2vec, GloVe, fastText, gensim or NumPy.",
    ),
    "results": Place(
        "a file of results with votes", frozenset({"results"}),
        "Choose the file of results that you downloaded from the platform.",
    ),
    "round results": Place(
        "a file of answers to this round", frozenset({"round results", "ratings", "best–worst", "orders"}),
        "Choose the file of results that you downloaded from the platform, or the table filled in.",
    ),
    "archived results": Place(
        "a file of results with votes", frozenset({"results"}),
        "Choose the file of results that you downloaded from the platform.",
    ),
    "submissions": Place(
        "Prolific's list of submissions", frozenset({"submissions"}),
        "On Prolific, open the study and choose More › Export data › demographic data.",
    ),
    "project": Place(
        "a project file of Runoff", frozenset({"project file"}),
        "Choose the zip file that “Download the project file” on the Project page gave.",
    ),
    "ratings": Place("a file of ratings", frozenset({"ratings", "dataset", "similarities"}), _TABLE),
    "best–worst": Place("a file of best–worst judgements", frozenset({"best–worst"}), _TABLE),
    "target groups": Place(
        "a file of target groups", frozenset({"target groups"}), "Choose a text file as Avraham and Goldberg's."
    ),
    "orders": Place("a file of people's orders", frozenset({"orders"}), _TABLE),
    "scores": Place(
        "a file of scores", frozenset({*_SCORES, "dataset zip", "dataset", PARQUET}),
        "Choose a dataset, ratings or best–worst judgements: CSV, TSV, Excel, Parquet or the published zip.",
    ),
}  # fmt: skip


def check(place: str, data: bytes | Path, name: str, store: Store | None = None, project_id: str = "") -> None:
    """Raise `InputError` for a file that is known to be of another kind than `place` takes, or results of another
    project.

    Parameters: `place`, a key of `PLACES`; `data`, the file's bytes, or where it lies; `name`, for messages; `store`
    and `project_id` to tell whose results they are.
    """
    accepting = PLACES[place]
    kind, what = _kind_of(data)
    if kind in KINDS and kind not in accepting.takes:
        raise InputError(f"{name} is {KINDS[kind].what}, not {accepting.wants}. {KINDS[kind].where}")
    if what and kind not in accepting.takes:
        raise InputError(f"{name} is {what}, not {accepting.wants}. {accepting.choose}")
    if store is not None and isinstance(data, bytes) and kind in ("results", "round results"):
        _check_whose(store, project_id, data, name)


def kind_of(data: bytes | Path) -> str:
    """The kind of a file, a key of `KINDS` or of `tabular.encoding.foreign`; "" where it is of none that is known.

    >>> kind_of(b"area,token\\nsea,ship\\n"), kind_of(b"task_id,left_a,left_b\\n"), kind_of(b"one thing,another\\n")
    ('tokens', 'batch', '')
    """
    return _kind_of(data)[0]


def _kind_of(data: bytes | Path) -> tuple[str, str]:
    """The kind, and its name where it is a foreign one."""
    start = data[:_HEAD] if isinstance(data, bytes) else _start_of(data)
    if other := foreign(start):
        return (other[0], other[1]) if not _is_task_page(start) else ("task page", "")
    if start.startswith(b"PK\x03\x04"):
        return _of_zip(data)
    if _is_task_page(start):
        return "task page", ""
    if is_json(start):
        kind = _of_json(start)
        if kind:
            return kind, ""
    kind = _of_rows(_rows_of(start))
    if kind:
        return kind, ""
    vectors = recognise_start(start, len(data) if isinstance(data, bytes) else data.stat().st_size)
    if vectors is not None and (vectors.header or vectors.dimensions >= _FEWEST_VALUES or "text" not in vectors.format):
        return ("similarities" if vectors.format == SIMILARITIES else "embedding"), ""
    return _of_lines(start), ""


def _start_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}. Check the path.") from error


_TASK_PAGE = re.compile(rb'class="ro[ "-]|</?crowd-form|<Pairwise')


def _is_task_page(start: bytes) -> bool:
    """Whether this is a page of Runoff's for voters, for a platform or to be opened as it is."""
    return start.lstrip()[:1] == b"<" and bool(_TASK_PAGE.search(start))


# What a zip archive is by a name in it.
_ZIPS = (
    ("word/document.xml", "a Word document"),
    ("ppt/presentation.xml", "a presentation"),
    ("content.xml", "an OpenDocument file"),
)


def _of_zip(data: bytes | Path) -> tuple[str, str]:
    """The kind of a zip archive by the names in it, and its name where it is a foreign one."""
    try:
        with zipfile.ZipFile(io.BytesIO(data) if isinstance(data, bytes) else data) as archive:
            names = archive.namelist()
    except DAMAGED:
        return "", ""
    if "manifest.json" in names and "tables/project.csv" in names:
        return "project file", ""
    if "manifest.json" in names and (isinstance(data, Path) or is_published(data)):
        return "dataset zip", ""
    for member, what in _ZIPS:
        if member in names:
            return member, what
    if "xl/workbook.xml" in names:
        return _of_workbook(data)
    files = [each for each in names if not each.endswith("/")]
    arrays = files and all(each.endswith((".npy", "data.pkl")) for each in files)
    return ("", "") if len(files) == 1 or arrays or any(each.endswith("data.pkl") for each in files) else (
        "zip archive", "a zip archive of several files"
    )  # fmt: skip


def _of_workbook(data: bytes | Path) -> tuple[str, str]:
    """The kind of the first sheet that is of a known one; a workbook of none is one all the same for those that take
    no table."""
    if isinstance(data, Path):
        return "workbook", "an Excel workbook"
    if len(data) > _MOST_OF_A_WORKBOOK or not is_workbook(data):
        return "", ""
    try:
        sheets = read_workbook(data, "")
    except InputError:
        return "", ""
    kinds = (_of_rows([list(row) for row in sheet.rows[:_LINES]]) for sheet in sheets)
    return next(filter(None, kinds), ""), ""


def _of_json(start: bytes) -> str:
    """Tasks and exports of the platforms, by the names of their fields."""
    names = set(re.findall(rb'"([A-Za-z_. ]{2,40})"\s*:', start))
    if {b"annotations", b"completions", b"annotator", b"instance_id_to_label_to_value"} & names:
        return "results"
    if b"left_a" in names and b"data" in names:
        return "batch"
    return _of_header([name.decode() for name in sorted(names)])


def _rows_of(start: bytes) -> list[list[str]]:
    """The first rows of a text as a table, the header among them; none where it is no text."""
    is_whole = len(start) < _HEAD
    try:
        text = decode_bytes(start if is_whole else start[: start.rfind(b"\n") + 1], "", braces=True).text
        dialect, header = find_dialect(text, "")
    except InputError:
        return []
    rows = (row for row in records(text, dialect) if isinstance(row, list))
    return list(chain([header], (row for row, _ in zip(rows, range(_LINES), strict=False))))


def _of_rows(rows: Sequence[Sequence[str]]) -> str:
    return _of_header(rows[0]) if rows else ""


_ROUND_ANSWER = re.compile(r"answer\.(?:{})(?:_[0-9]+)?(?:\..*)?".format("|".join(
    sorted({field for kind in round_kinds().values() for field in kind.fields})
)))  # fmt: skip
_GIVEN = {*OF_RESULTS["voter"], *OF_RESULTS["choice"]}  # columns of somebody's answers
_TASK_CELL = re.compile(r"(?:left_a|item_id|tuple|order)(?:_.*)?")


def _of_header(header: Sequence[str]) -> str:
    """The kind of a table by the names of its columns."""
    names = set(map(same_name, header))
    if PROLIFIC.recognises(names) and "status" in names:
        return "submissions"
    has_choice = any(name.startswith("answer.choice") for name in names)
    if {"question_id", "answer"} <= names or (any(map(_ROUND_ANSWER.fullmatch, names)) and not has_choice):
        return "round results"
    if TURKLE.recognises(names) or MTURK.recognises(names) or preset_of(header) is not None:
        return "results"
    if {"comparison_id", "choice"} <= names:
        return "results"
    if {"task_id", "comparison_id", "left_a"} & names and any(map(_TASK_CELL.fullmatch, names)) and not names & _GIVEN:
        return "batch"
    if {"area", "token"} <= names and not {"token_a", "token_b"} & names:
        return "tokens"
    if {"comparison", "voter", "answer"} <= names or {"entry_score", "item"} <= names:
        return "part of a dataset"
    if is_best_worst(header):
        return "best–worst"
    if set(ORDERS) <= names:
        return "orders"
    if is_dataset(header):
        return "dataset"
    return _of_plain(header, names)


def _of_plain(header: Sequence[str], names: set[str]) -> str:
    """Of tables of words with a number."""
    if {"token_a", "token_b", "similarity"} <= names:
        return "similarities"
    if (
        has_texts(header)
        and positions(header, NAMES["rating"] + NAMES["mean"])
        and not names & set(OF_RESULTS["choice"])
    ):
        return "ratings"
    if positions(header, TOKEN_NAMES) and positions(header, COUNT_NAMES) and "area" not in names:
        return "frequencies"
    return ""


_GROUPS = re.compile(
    r"[^,\r\n]+(?:\r\n|\r|\n)(?:positives(?:\r\n|\r|\n))?[^,\r\n]+,\s*[\d.]+\s*,[^,\r\n]+,\s*[\d.]+\s*$", re.M
)


def _of_lines(start: bytes) -> str:
    """Target groups, and lists of one token per line."""
    try:
        text = decode_bytes(start, "", braces=True).text
    except InputError:
        return ""
    if _GROUPS.match(text):
        return "target groups"
    lines = [line.strip() for line in text.splitlines()[:_LINES] if line.strip()]
    if len(lines) > 1 and all(_is_token(line) for line in lines):
        return "tokens"
    return ""


def _is_token(line: str) -> bool:
    return len(line) < 80 and len(line.split()) < 6 and not re.search(r"[,;\t|{}<>\"]|\d$", line)


_TASK_ID = re.compile(r"'?([bpr]\d+-[0-9a-f]{8})-\d{5}(?:-\d+)?")


def _check_whose(store: Store, project_id: str, data: bytes, name: str) -> None:
    """Raise `InputError` where the tasks of a file are another project's of this workspace."""
    from ..store.ballots.ballot_rows import projects_of_code

    task_id = _TASK_ID.search(data[:_HEAD].decode("utf-8", "replace"))
    if task_id is None:
        return
    owners = projects_of_code(store, task_id[1])
    if owners and project_id not in owners:
        whose = next(iter(owners.values()))
        raise InputError(
            f"{name} holds results of the project “{whose}”, not of this one. Choose that project in the side bar, and "
            "bring the file there."
        )


LOOKED_AT = 200
SHOWN = 5
MAX_VALUES = 12  # values of the choice that can be given a meaning
_SHOWN = {"row": "row", "voter": "voter", "task_id": "task", "n": "n", "choice": "choice", "status": "status",
          "submitted_at": "time (UTC)"}  # fmt: skip


@dataclass(frozen=True)
class Columns:
    """A table whose columns are to be named: `names` to choose from (those with numbers also with `{n}`), and the first
    rows as a table of their own."""

    header: tuple[str, ...]
    names: tuple[str, ...]
    sample: SourceTable
    guessed: Mapping

    def values(self, choice: str) -> list[str]:
        """The values of the column of the choice in the first rows, as somebody would name them."""
        places = numbered_columns(self.sample.header, choice)
        rows = self.sample.head(LOOKED_AT)
        distinct = dict.fromkeys(unwrapped(row[at]).strip() for at in places.values() for row in rows if len(row) > at)
        return [value for value in distinct if value][:MAX_VALUES]

    def preview(self, mapping: Mapping) -> pd.DataFrame:
        """The first rows under a mapping. Raises `InputError` where it lacks something."""
        rows = self.sample.head(SHOWN)
        few = RowTable(self.sample.name, self.sample.header, tuple(range(2, len(rows) + 2)), rows)
        _, frame, _, _ = mapped_frame(few, mapping)
        table = frame[list(_SHOWN)].rename(columns=_SHOWN)
        table["choice"] = [CHOICES.get(value, f"? {value}") for value in frame["choice"]]
        if mapping.shows_texts:
            table["left"] = frame["left_a"] + " – " + frame["left_b"]
            table["right"] = frame["right_a"] + " – " + frame["right_b"]
        return table


def load(data: bytes, name: str) -> Columns:
    """The columns of a result file. Raises `InputError` where it can't be opened."""
    table = normalised(open_results(data, name))
    rows = [row + [""] * (len(table.header) - len(row)) for row in table.head(LOOKED_AT)]
    sample = RowTable(name, table.header, tuple(range(2, len(rows) + 2)), rows)
    several = {re.sub(r"[1-9]\d*(?=\D*$)", NUMBER, column) for column in table.header}
    patterns = [name for name in sorted(several) if NUMBER in name and len(numbered_columns(table.header, name)) > 1]
    return Columns(table.header, (*table.header, *patterns), sample, guess(sample))


def meaning_of(value: str, mapping: Mapping, values: Sequence[str]) -> str:
    """What a value of a column with these `values` means by a mapping, else usually; "?" where neither says."""
    chosen = meanings_by_value(mapping.choices)
    return chosen.get(key_of(value), usual_of(values).get(key_of(value), "?"))
