"""A published dataset: one zip with a manifest of checksums, how it is written, and how one from elsewhere is read.

manifest.json     format, version of Runoff, version and title of the dataset, size and SHA-256 of every other file
README.md         the card; with data/ it is a folder that Hugging Face `datasets` loads
dataset.csv       the items with their scores, and dataset.json, what they mean
datasheet.md      and datasheet.html
data/             the same as Parquet, a file per split
formats/          for gensim, SimLex-999's readers, MTEB
campaign/         items, ballots, comparisons, votes under pseudonyms, plan and seeds: what `replay` goes by

The same contents give the same bytes.

The tables in campaign/ tell how the dataset came about. They hold no time of a day, no id of a platform, no text that a
voter wrote. `ranking` is the area that has a ranking of its own, "" where one ranking holds all areas; `ballot` is its
number, 0 for a pilot; `item` is a row of ITEMS; `comparison` counts the comparisons of a ballot from 1, checks among
them; `voter` is a pseudonym.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .. import __version__
from ..errors import InputError, Issue
from ..tables import ITEMS, Schema
from ..tabular import SPARE_CELLS, bounded
from ..tabular.json_files import parse_json
from ..tabular.zips import DAMAGED, MAX_JSON, check_sizes, checksum, pack, read_member, sums
from .files import quoted, read_dataset

FORMAT = "runoff dataset 1"
MANIFEST = "manifest.json"
MAX_BYTES = 2**31
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")


@dataclass(frozen=True)
class PublishedDataset:
    """A published dataset: its manifest and its files by path."""

    manifest: dict[str, Any]
    files: Mapping[str, bytes]

    @property
    def version(self) -> str:
        return str(self.manifest.get("version") or "")

    @property
    def runoff(self) -> str:
        return str(self.manifest.get("runoff") or "")

    def dataset(self) -> pd.DataFrame:
        """The dataset with its description; `InputError` where it has none that can be read."""
        if "dataset.csv" not in self.files:
            raise InputError("This published dataset has no dataset.csv.")
        frame = read_dataset(self.files["dataset.csv"])
        try:
            about = parse_json(self.files.get("dataset.json", b"{}"), most=MAX_JSON)
        except (ValueError, RecursionError) as error:
            raise InputError(f"dataset.json can't be read: {error}.") from error
        if not isinstance(about, dict):
            raise InputError("dataset.json must be one JSON object.")
        frame.attrs = {**about, "version": self.version, "notes": frame.attrs["notes"]}
        return frame


def write_published(files: Mapping[str, bytes], *, version: str, title: str) -> bytes:
    """The zip of these files with their manifest; the same files give the same bytes."""
    manifest = {
        "format": FORMAT,
        "runoff": __version__,
        "version": version,
        "title": title,
        "files": sums(dict(sorted(files.items()))),
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    return pack([(MANIFEST, text.encode("utf-8")), *sorted(files.items())])


def read_published(data: bytes) -> PublishedDataset:
    """What a zip of `write_published` holds, checked: names, sizes, checksums, nothing missing and nothing more.

    Raises `InputError` for any other file. Nothing is unpacked to the disk, and no more than `MAX_BYTES` in memory.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            if len(entries) != len(archive.infolist()):
                raise InputError("This zip file has a member twice. Fetch the dataset again.")
            check_sizes(archive, len(data), MAX_BYTES)
            if MANIFEST not in entries:
                raise InputError(f"This zip file has no {MANIFEST}, so it isn't a published dataset of Runoff.")
            files = {}
            for name, entry in entries.items():
                if not _NAME.fullmatch(name) or entry.flag_bits & 1:
                    raise InputError(f"No part of a published dataset has such a name or a password: {name[:100]!r}.")
                files[name] = read_member(archive, entry, MAX_JSON if name == MANIFEST else entry.file_size)
    except InputError:
        raise
    except DAMAGED as error:
        raise InputError(
            f"This file isn't a zip file, or a truncated or damaged one ({error}). Fetch it again."
        ) from error
    manifest = _manifest(files.pop(MANIFEST))
    _compare(files, manifest["files"])
    return PublishedDataset(manifest, files)


def is_published(data: bytes) -> bool:
    """Whether a file is a zip with the manifest of a published dataset; nothing else of it is checked."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_sizes(archive, len(data), MAX_BYTES)
            manifest = parse_json(read_member(archive, archive.getinfo(MANIFEST), MAX_JSON))
    except DAMAGED:
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT


def chain_told(data: bytes) -> tuple[int, str] | None:
    """The entry of its project's log at which a published dataset was made, with the head of the chain there.

    None where it tells none, as it was made before chains. Raises `InputError` for what isn't a published dataset.
    """
    try:
        head = parse_json(read_published(data).files["dataset.json"].decode("utf-8")).get("chain")
        return None if head is None else (int(head["entry"]), str(head["head"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"What the published dataset says of its chain can't be read ({error!r}).") from error


def _manifest(data: bytes) -> dict[str, Any]:
    try:
        manifest = parse_json(data)
        listed = {str(name): (int(m["bytes"]), str(m["sha256"])) for name, m in manifest["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{MANIFEST} isn't that of a published dataset ({error!r}).") from error
    if manifest.get("format") != FORMAT:
        raise InputError(f"This dataset has the format {manifest.get('format')!r}; this Runoff reads {FORMAT!r}.")
    return {**manifest, "files": listed}


def _compare(files: Mapping[str, bytes], listed: Mapping[str, tuple[int, str]]) -> None:
    issues = [Issue("is missing", column=name) for name in sorted(set(listed) - set(files))]
    issues += [Issue("isn't in the manifest", column=name) for name in sorted(set(files) - set(listed))]
    for name in sorted(set(files) & set(listed)):
        if (len(files[name]), checksum(files[name])) != listed[name]:
            issues.append(Issue("was changed or damaged: its size or checksum isn't the manifest's", column=name))
    if issues:
        raise InputError("The published dataset isn't as it was written. Fetch it again.", issues)


_BALLOT = {"ranking": "text", "ballot": "int"}
_TALLIES = {"wins": "int", "ties": "int", "losses": "int", "unknowns": "int"}

# Of each item of each ballot: the score that let it in, its tallies, and x, y, ȳ with its interval (paper's protocol).
BALLOT_ITEMS = Schema(
    "ballot items",
    _BALLOT
    | {"item": "int", "entry_score": "float"}
    | _TALLIES
    | {"x": "float", "y": "float", "mean": "float", "count": "float", "lower": "float", "upper": "float"},
)
# What the protocol "runoff" wrote of every item when a ballot was closed.
FIT_SCORES = Schema(
    "fitted scores",
    _BALLOT
    | {"item": "int", "theta": "float", "error": "float", "score": "float", "lower": "float", "upper": "float"}
    | {"rank_lower": "float", "rank_upper": "float"},
)
# `role` is main or check; `expected` is the right answer of a check, "" where there is none; `check` is its kind (gold,
# repeat, overlap, audit), "" for a main comparison and all through datasets that were published before the column.
COMPARED = Schema(
    "comparisons",
    _BALLOT
    | {"comparison": "int", "role": "text", "first": "int", "second": "int", "expected": "text", "check": "text"},
    optional=frozenset({"check"}),
)
# Which comparisons stand in a task, where each is shown, and how.
TASKS = Schema(
    "tasks",
    _BALLOT
    | {"task": "int", "n": "int", "comparison": "int", "flipped": "int", "left_swapped": "int", "right_swapped": "int"},
)
# `answer` is first, second, tie or unknown; `value` 1, 0, .5 or nothing; `status` says whether it counts, and why not;
# `flipped` is 1 where the first item stood on the right, empty where that isn't known.
VOTES = Schema(
    "votes",
    _BALLOT
    | {"comparison": "int", "voter": "text", "answer": "text", "value": "float", "seconds": "float"}
    | {"status": "text", "source": "text", "flipped": "float"},
)
# In the order in which the workspace came to know them: resampling draws by it.
VOTERS = Schema("voters", {"voter": "text", "platform": "text", "kind": "text"})

FILES = {
    "campaign/items.csv": ITEMS,
    "campaign/ballot_items.csv": BALLOT_ITEMS,
    "campaign/fitted_scores.csv": FIT_SCORES,
    "campaign/comparisons.csv": COMPARED,
    "campaign/tasks.csv": TASKS,
    "campaign/votes.csv": VOTES,
    "campaign/voters.csv": VOTERS,
}
PLAN_FILE = "campaign/plan.json"


def write_table(frame: pd.DataFrame, schema: Schema) -> bytes:
    """A table as CSV: UTF-8, LF, the schema's columns, floats with all their digits, NaN as empty cells."""
    schema.check(frame)
    columns = []
    for name, kind in schema.columns.items():
        values = frame[name].tolist()
        if kind == "float":
            columns.append(["" if math.isnan(value) else _number(value) for value in values])
        elif kind == "int":
            columns.append([str(value) for value in values])
        else:
            cells = {value: quoted(value) for value in set(values)}
            columns.append([cells[value] for value in values])
    lines = [",".join(schema.columns), *(",".join(row) for row in zip(*columns, strict=True))]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _number(value: float) -> str:
    # Whole numbers of a column that may be empty, such as counts, read better without ".0"; -0.0 keeps its sign.
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 and str(value) != "-0.0" else repr(value)


def read_table(data: bytes, schema: Schema, where: str) -> pd.DataFrame:
    """The table that `write_table` wrote, bit for bit; `InputError` naming `where` for anything else.

    An optional column of text that the file lacks is empty.
    """
    kinds = {"text": "str", "int": "int64", "float": "str"}
    types = {name: kinds[kind] for name, kind in schema.columns.items()}
    try:
        # Each column costs a kilobyte, however empty it is; a row that is longer than the header makes none.
        text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
        next(csv.reader(bounded(text, len(schema.columns) + SPARE_CELLS, where)), None)
        frame = pd.read_csv(io.BytesIO(data), dtype=types, keep_default_na=False, na_filter=False, index_col=False)
        for name in sorted(schema.optional.difference(frame.columns)):
            frame[name] = pd.Series("", index=frame.index, dtype="str")
        for name in frame.columns:
            if schema.columns.get(name) == "float":
                # Python reads the digits back bit for bit, whatever pandas' own reader does.
                frame[name] = np.array([float(text) if text else math.nan for text in frame[name]], dtype=np.float64)
    except (ValueError, csv.Error, pd.errors.ParserError, OverflowError) as error:
        raise InputError(f"{where} can't be read as a table of {schema.name}: {error}.") from error
    return schema.check(frame)
