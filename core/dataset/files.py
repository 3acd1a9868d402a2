"""The finished dataset as files: written so that it reads back exactly, and read from wherever it comes.

A dataset file is a CSV (or TSV) with the columns of `tables.DATASET`; a JSON file of the same name beside it says
what the scores mean (notion, estimator, scale, interval, n₀, plan, seeds, versions).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError, Issue
from ..tables import DATASET
from ..tabular import (
    CsvTable,
    SourceTable,
    column_numbers,
    is_spreadsheet,
    lacking,
    open_table,
    refuse_doubled,
    same_name,
)
from ..tabular.csv_writing import harmless
from ..tabular.json_files import parse_json

_PACKED = (b"PK\x03\x04", b"PAR1")
_NEEDED = ("token_a", "token_b", "score")
# First characters at which a spreadsheet takes a cell for a formula (OWASP, “CSV Injection”), also in full width.
_SPECIAL = re.compile(r'[",\t\r\n]|^\s|\s$')


def to_csv(dataset: pd.DataFrame, *, spreadsheet: bool = False) -> bytes:
    """Write a dataset as CSV: UTF-8, lines end in LF, floats with all their digits, missing values as empty cells.

    The file reads back exactly (`read_dataset`), but for white space at the ends of texts, and equal datasets give
    equal bytes. With `spreadsheet=True` it is a copy for people instead: a text that a spreadsheet would take for a
    formula (it begins with =, +, −, @, a tab or a line end) gets an apostrophe before it, and a byte order mark makes
    Excel read UTF-8.
    Raises `InputError` where `dataset` is not of the schema `tables.DATASET`.

    >>> table = pd.DataFrame({"area": ["odd"], "token_a": ["=2+3"], "token_b": ["-er"], "score": [0.5]})
    >>> to_csv(table), to_csv(table, spreadsheet=True).decode("utf-8-sig")
    (b'area,token_a,token_b,score\\nodd,=2+3,-er,0.5\\n', "area,token_a,token_b,score\\nodd,'=2+3,'-er,0.5\\n")
    """
    return _write(dataset, ",", spreadsheet)


def to_tsv(dataset: pd.DataFrame, *, spreadsheet: bool = False) -> bytes:
    """Write a dataset as TSV; otherwise as `to_csv`."""
    return _write(dataset, "\t", spreadsheet)


def to_json(meta: Mapping[str, Any]) -> bytes:
    """Write what goes with a dataset: sorted keys, UTF-8; equal contents give equal bytes.

    NumPy numbers and arrays, decimals and sets are written as numbers and lists. Raises `InputError` naming a value
    that JSON has no form for, NaN and infinity among them (leave out what is undefined, or write null).
    """
    plain = _plain(meta, "the top")
    return (json.dumps(plain, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False) + "\n").encode("utf-8")


def for_gensim(dataset: pd.DataFrame) -> bytes:
    """Write word pairs and scores for gensim's `KeyedVectors.evaluate_word_pairs` (tab between the three fields).

    Scores are as they are (higher = more related). gensim takes a line that begins with # for a comment, so the tokens
    of such a pair change places (a pair has no order). Items without a score are left out, and a comment says how many.
    Raises `InputError` naming tokens that the format can't hold: with a tab or a line end in them, or both beginning
    with #.

    >>> for_gensim(pd.DataFrame({"area": ["sea"], "token_a": ["#boat"], "token_b": ["ship"], "score": [0.9]}))
    b'ship\\t#boat\\t0.9\\n'
    """
    DATASET.check(dataset)
    issues: list[Issue] = []
    lines: list[str] = []
    columns = (dataset[name] for name in ("token_a", "token_b", "score"))
    n_missing = 0
    for row, (first, second, score) in enumerate(zip(*columns, strict=True), 2):
        for column, token in (("token_a", first), ("token_b", second)):
            if re.search(r"[\t\r\n]", token):
                issues.append(Issue("a token with a tab or a line end in it can't be written", row, column, token))
        if first.startswith("#"):
            first, second = second, first
        if first.startswith("#"):
            issues.append(Issue("both tokens begin with #, which gensim takes for a comment", row, "token_a", first))
        if math.isnan(score):
            n_missing += 1
        else:
            lines.append(f"{first}\t{second}\t{float(score)!r}\n")
    if issues:
        raise InputError("gensim's format for word pairs can't hold this dataset; use the CSV.", issues)
    note = f"# {n_missing} item{'s' * (n_missing != 1)} without a score left out\n" if n_missing else ""
    return (note + "".join(lines)).encode("utf-8")


def check_for_gensim(dataset: pd.DataFrame) -> None:
    """Raise `InputError` where `for_gensim` would; of a large dataset that can be written it is much faster."""
    DATASET.check(dataset)
    tokens = (dataset["token_a"], dataset["token_b"])
    broken = [column.str.contains(r"[\t\r\n]", regex=True) for column in tokens]
    comments = [column.str.startswith("#") for column in tokens]
    if (broken[0] | broken[1] | (comments[0] & comments[1])).any():
        for_gensim(dataset)


def read_dataset(source: str | Path | bytes, *, encoding: str | None = None) -> pd.DataFrame:
    """Read a dataset from a CSV, TSV, Excel or Parquet file or a published zip (by its beginning), or from such bytes.

    Needed are the columns token_a, token_b and score; area, rank, lower, upper, votes and ballots where there are any
    (names in any case; a missing area is ""). Other columns are kept as text. White space around texts is left off.
    Encoding, delimiter, quotation marks and decimal commas are found by looking (`core.tabular`), the encoding unless
    it is given. The JSON file of the same name, if it is there, becomes `.attrs` (its key "notion", for one); what a
    person should know about the reading stands in `.attrs["notes"]`.

    Returns a table of `tables.DATASET`. Raises `InputError` with the row of each value that can't be used, and for two
    columns of one name.

    >>> read_dataset(b"token_a, token_b, score\\nship, boat, 0.9\\n")["token_b"].tolist()
    ['boat']
    """
    if isinstance(source, bytes):
        return _of_bytes(source, "The dataset", encoding)
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}. Check the path.") from error
    return _of_bytes(data, path.name, encoding, path.with_suffix(".json"))


def has_columns(header: Iterable[str]) -> bool:
    """Whether a table's columns are those that a dataset needs."""
    return set(_NEEDED) <= set(map(same_name, header))


def _of_bytes(data: bytes, name: str, encoding: str | None, about: Path | None = None) -> pd.DataFrame:
    if data[:4] in _PACKED and not is_spreadsheet(data):
        return _packed(data, name)
    return _read(data, name, {} if about is None else _read_meta(about), encoding)


def _packed(data: bytes, name: str) -> pd.DataFrame:
    """The dataset of a published zip, or of a Parquet file; both bring their description along."""
    from .formats import from_parquet
    from .published import read_published

    return from_parquet(data, name) if data[:4] == b"PAR1" else read_published(data).dataset()


def _write(dataset: pd.DataFrame, delimiter: str, spreadsheet: bool) -> bytes:
    DATASET.check(dataset)
    columns = []
    for name in dataset.columns:
        values = dataset[name]
        if DATASET.columns.get(name) == "float":
            columns.append(["" if math.isnan(value) else repr(float(value)) for value in values])
        elif DATASET.columns.get(name) == "int":
            columns.append([str(int(value)) for value in values])
        else:
            columns.append([quoted(str(value), spreadsheet) for value in values])
    header = delimiter.join(quoted(str(name), spreadsheet) for name in dataset.columns)
    lines = [header, *(delimiter.join(row) for row in zip(*columns, strict=True))]
    return ("\n".join(lines) + "\n").encode("utf-8-sig" if spreadsheet else "utf-8")


def quoted(text: str, spreadsheet: bool = False) -> str:
    """A cell of a CSV or TSV file: quoted where it must be; for a spreadsheet, with an apostrophe before a formula."""
    # The csv module of Python 3.11 leaves a bare CR unquoted, at which other readers would end the row.
    if spreadsheet:
        text = harmless(text)
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


def _plain(value: Any, where: str) -> Any:
    """`value` in JSON's own types."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, f"{key!r}") for key, inner in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(inner, where) for inner in value), key=repr)
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(inner, where) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal):
        value = float(value)
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise InputError(f"The dataset's description holds a value that JSON has no form for, at {where}: {value!r}.")


def _read_meta(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        meta = parse_json(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path.name}, which describes the dataset, can't be read: {error}. Repair it or move it away."
        ) from error
    if not isinstance(meta, dict):
        raise InputError(f"{path.name}, the dataset's description, must be one JSON object. Repair it or move it away.")
    return meta


def _read(data: bytes, name: str, meta: dict[str, Any], encoding: str | None) -> pd.DataFrame:
    table = open_table(data, name, encoding=encoding, fits=(has_columns,))
    names = _column_names(table)
    texts = table.texts(range(len(names)), len(names))
    rows = texts.numbers.tolist()
    issues = list(texts.unread)
    notes = list(map(str, texts.remarks))
    if isinstance(table, CsvTable) and table.decoded.is_cut:
        issues.append(Issue("the file ends in the middle of a letter, so there may be rows missing: fetch it again"))
    frame = pd.DataFrame(index=range(len(rows)))
    for column, values in zip(names, texts.columns, strict=True):
        kind = DATASET.columns.get(column)
        if kind in ("float", "int"):
            frame[column], problems, remarks = _numbers(values.tolist(), rows, column)
            issues += problems
            notes += remarks
        else:
            frame[column] = pd.Series(values.str.strip(), dtype="str")
    for column in ("token_a", "token_b"):
        blank = [number for number, text in zip(rows, frame[column], strict=True) if not text]
        issues += [Issue("the token is missing", row=number, column=column) for number in blank]
    if issues:
        raise InputError(f"{name} can't be used as a dataset.", issues)
    notes += _notes(frame)
    if "area" not in frame:
        frame.insert(0, "area", pd.Series([""] * len(frame), dtype="str"))
    # What the description says comes first: a dataset read and written again keeps it.
    frame.attrs.update(meta)
    frame.attrs["notes"] = [*meta["notes"], *notes] if isinstance(meta.get("notes"), list) else notes
    return DATASET.check(frame)


def _column_names(table: SourceTable) -> list[str]:
    """The header with the schema's own spelling where a name differs only by case; all of one name once."""
    names = [same_name(name) if same_name(name) in DATASET.columns else name for name in table.header]
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise lacking(table, missing, then="Rename the columns that hold the two tokens and their score.")
    refuse_doubled(table)
    return [name or f"column {position}" for position, name in enumerate(names, 1)]


def _numbers(values: list[str], rows: list[int], column: str) -> tuple[pd.Series, list[Issue], list[str]]:
    """The numbers of a column, what is wrong with them, and how commas were read.

    An empty cell is missing, which only votes and ballots can't be.
    """
    read = column_numbers(values, rows, column)
    if DATASET.columns[column] != "int":
        return pd.Series(read.values), list(read.bad), list(map(str, read.notes))
    broken = [
        Issue("must be a whole number", row=row, column=column, found=text)
        for row, text, value in zip(rows, values, read.values.tolist(), strict=True)
        if not value.is_integer()
    ]
    whole = np.where(np.isfinite(read.values), read.values, 0.0).astype("int64")
    return pd.Series(whole), broken, list(map(str, read.notes))


def _notes(frame: pd.DataFrame) -> list[str]:
    """What isn't wrong, but should be known."""
    notes = []
    if "area" not in frame:
        notes.append("the file has no column area: all items are taken as one")
    areas: Iterable[str] = frame["area"] if "area" in frame else [""] * len(frame)
    items = [(area, *sorted(pair)) for area, *pair in zip(areas, frame["token_a"], frame["token_b"], strict=True)]
    n_doubled = len(items) - len(set(items))
    if n_doubled:
        notes.append(f"rows that repeat an item: {n_doubled}; each row counts for itself")
    n_missing = int(frame["score"].isna().sum())
    if n_missing:
        notes.append(f"items without a score: {n_missing}")
    return notes
