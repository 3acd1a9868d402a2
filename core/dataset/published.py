"""A published dataset: one zip, its manifest with checksums, and how one is read that comes from elsewhere.

manifest.json     format, version of Runoff, version and title of the dataset, size and SHA-256 of every other file
README.md         the card; with data/ it is a folder that Hugging Face `datasets` loads
dataset.csv       the items with their scores, and dataset.json, what they mean
datasheet.md      and datasheet.html
data/             the same as Parquet, a file per split
formats/          for gensim, SimLex-999's readers, MTEB
campaign/         items, ballots, comparisons, votes under pseudonyms, plan and seeds: what `replay` goes by

The same contents give the same bytes.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from .. import __version__
from ..errors import InputError, Issue
from ..tabular.json_texts import parse_json
from ..tabular.zips import DAMAGED, MAX_JSON, check_sizes, checksum, pack, read_member, sums
from .files import read_dataset

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
            found = parse_json(read_member(archive, archive.getinfo(MANIFEST), MAX_JSON))
    except DAMAGED:
        return False
    return isinstance(found, dict) and found.get("format") == FORMAT


def _manifest(data: bytes) -> dict[str, Any]:
    try:
        found = parse_json(data)
        listed = {str(name): (int(m["bytes"]), str(m["sha256"])) for name, m in found["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{MANIFEST} isn't that of a published dataset ({error!r}).") from error
    if found.get("format") != FORMAT:
        raise InputError(f"This dataset has the format {found.get('format')!r}; this Runoff reads {FORMAT!r}.")
    return {**found, "files": listed}


def _compare(files: Mapping[str, bytes], listed: Mapping[str, tuple[int, str]]) -> None:
    issues = [Issue("is missing", column=name) for name in sorted(set(listed) - set(files))]
    issues += [Issue("isn't in the manifest", column=name) for name in sorted(set(files) - set(listed))]
    for name in sorted(set(files) & set(listed)):
        if (len(files[name]), checksum(files[name])) != listed[name]:
            issues.append(Issue("was changed or damaged: its size or checksum isn't the manifest's", column=name))
    if issues:
        raise InputError("The published dataset isn't as it was written. Fetch it again.", issues)
