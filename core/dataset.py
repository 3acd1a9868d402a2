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

from .csv_writing import harmless
from .errors import InputError, Issue
from .json_texts import parse_json
from .tables import DATASET
from .tabular import CsvTable, Rows, open_csv

_PACKED = (b"PK\x03\x04", b"PAR1")
_TEXTS = ("area", "token_a", "token_b")
# First characters at which a spreadsheet takes a cell for a formula (OWASP, “CSV Injection”), also in full width.
_SPECIAL = re.compile(r'[",\t\r\n]|^\s|\s$')
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def to_csv(dataset: pd.DataFrame, *, spreadsheet: bool = False) -> bytes:
    """Write a dataset as CSV: UTF-8, lines end in LF, floats with all their digits, missing values as empty cells.

    The file reads back exactly (`read_dataset`), whatever characters the tokens hold, and equal datasets give equal
    bytes. With `spreadsheet=True` it is a copy for people instead: a text that a spreadsheet would take for a formula
    (it begins with =, +, −, @, a tab or a line end) gets an apostrophe before it, and a byte order mark makes Excel
    read UTF-8.
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


def read_dataset(source: str | Path | bytes) -> pd.DataFrame:
    """Read a dataset from a CSV, TSV or Parquet file or a published zip (by its beginning), or from such bytes.

    Needed are the columns token_a, token_b and score; area, rank, lower, upper, votes and ballots where there are any
    (names in any case; a missing area is ""). Other columns are kept as text. Encoding and delimiter are found by
    looking. The JSON file of the same name, if it is there, becomes `.attrs` (its key "notion", for one); what a person
    should know about the reading stands in `.attrs["notes"]`.

    Returns a table of `tables.DATASET`. Raises `InputError` with the row of each value that can't be used.

    >>> read_dataset(b"token_a,token_b,score\\nship,boat,0.9\\n")["score"].tolist()
    [0.9]
    """
    if isinstance(source, bytes):
        return _packed(source, "The dataset") if source[:4] in _PACKED else _read(source, "The dataset", {})
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}. Check the path.") from error
    if data[:4] in _PACKED:
        return _packed(data, path.name)
    return _read(data, path.name, _read_meta(path.with_suffix(".json")))


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


def _read(data: bytes, name: str, meta: dict[str, Any]) -> pd.DataFrame:
    file = open_csv(data, name)
    names = _column_names(file)
    rows = file.read(range(len(names)), len(names))
    issues = [issue for issue in rows.issues if issue.row is not None]
    frame = pd.DataFrame(index=range(len(rows.numbers)))
    for position, column in enumerate(names):
        values = rows.columns[position]
        kind = DATASET.columns.get(column)
        if kind in ("float", "int"):
            frame[column] = _numbers(values, column, file, rows, issues)
        else:
            frame[column] = pd.Series(values, dtype="str")
    for column in ("token_a", "token_b"):
        blank = [number for number, text in zip(rows.numbers, frame[column], strict=True) if not text.strip()]
        issues += [Issue("the token is missing", row=number, column=column) for number in blank]
    if issues:
        raise InputError(f"{name} can't be used as a dataset.", issues)
    notes = [str(issue) for issue in rows.issues if issue.row is None] + _notes(frame)
    if "area" not in frame:
        frame.insert(0, "area", pd.Series([""] * len(frame), dtype="str"))
    # What the description says comes first: a dataset read and written again keeps it.
    frame.attrs.update(meta)
    frame.attrs["notes"] = [*meta["notes"], *notes] if isinstance(meta.get("notes"), list) else notes
    return DATASET.check(frame)


def _column_names(file: CsvTable) -> list[str]:
    """The header with the schema's own spelling where a name differs only by case."""
    names = [name.lower() if name.lower() in DATASET.columns else name for name in file.header]
    missing = [name for name in ("token_a", "token_b", "score") if name not in names]
    if missing:
        raise InputError(
            f"{file.name} is not a dataset: it lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)} "
            f"(its columns are {file.shown_header}). Rename the columns that hold the two tokens and their score."
        )
    doubled = sorted({name for name in names if name in DATASET.columns and names.count(name) > 1})
    if doubled:
        raise InputError(f"{file.name} has two columns {', '.join(doubled)}. Keep one of each.")
    return [name or f"column {position}" for position, name in enumerate(names, 1)]


def _numbers(values: list[str], column: str, file: CsvTable, rows: Rows, issues: list[Issue]) -> pd.Series:
    """The numbers of a column; an empty cell is missing, which only votes and ballots can't be."""
    is_int = DATASET.columns[column] == "int"
    has_commas = file.delimiter != "," and any(_DECIMAL_COMMA.fullmatch(value.strip()) for value in values)
    numbers: list[float] = []
    for number, text in zip(rows.numbers, values, strict=True):
        try:
            value = float(text.strip().replace(",", ".") if has_commas else text) if text.strip() else math.nan
        except ValueError:
            value = math.inf
        if math.isinf(value) or (is_int and not value.is_integer()) or "_" in text:
            what = "must be a whole number" if is_int else "must be a number"
            issues.append(Issue(what, row=number, column=column, found=text))
            value = 0.0
        numbers.append(value)
    return pd.Series(numbers, dtype="float64").astype("int64" if is_int else "float64")


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
