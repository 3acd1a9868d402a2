"""The words of an array that has none: a list of them in a file of its own."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from ..base.file_names import shown_name
from ..errors import InputError
from ..tabular.json_texts import parse_json
from .containers import open_content
from .formats import BOM, Head, read_head
from .options import EncodingError, Options, suggest_encoding
from .readers.text_recognition import recognise
from .undressing import without_marks

BESIDE = ("vocab.txt", "vocab.json")
SUFFIXES = (".txt", ".vocab", ".json")
_MAX_BYTES = 2 << 30
_COUNTED = re.compile(r"(.*\S)[ \t](\d+)")


@dataclass(frozen=True)
class Vocabulary:
    """The words in the order of the array's rows, the hash of their file, and remarks for people."""

    words: list[str]
    sha256: str
    notes: tuple[str, ...] = ()


def find_vocabulary(path: Path) -> Path | None:
    """The file of words that lies beside an array: of the same stem, or called vocab.txt or vocab.json."""
    stem = path.name.split(".npy")[0].removesuffix(".npz")
    for name in [*(stem + suffix for suffix in SUFFIXES), *BESIDE]:
        candidate = path.with_name(name)
        if candidate != path and candidate.is_file() and not _is_embedding(candidate):
            return candidate
    return None


def _is_embedding(path: Path) -> bool:
    """Whether a file has vectors beside its words: then it isn't a list of words."""
    try:
        head = read_head(path)
        return recognise(head) is not None
    except InputError:
        return False


def read_vocabulary_file(path: Path, options: Options, n_rows: int | None = None) -> Vocabulary:
    """The words in the file at `path`: one per line, or a JSON list of them, or a JSON object of word and row.

    Counts after the words (as GloVe's vocab.txt has them), and R's quotation marks and numbers of rows are left out.
    Lines end at line feeds; where that doesn't make `n_rows` words, or there are none, at carriage returns too.
    Raises `InputError` for what is no list.
    """
    name = shown_name(path)
    if _is_embedding(path):
        raise InputError(f"{name} has vectors beside its words: choose it as the embedding itself.")
    with open_content(path, name) as content:
        data = content.read(_MAX_BYTES)
        if content.read(1):
            raise InputError(f"{name} is over {_MAX_BYTES >> 30} GB long, too much for a list of words.")
    text = _decode(Head(path, len(data), data, name, options=options))
    digest = hashlib.sha256(data).hexdigest()
    if text.lstrip()[:1] in ("[", "{"):
        words = _from_json(name, text)
        if words is not None:
            return Vocabulary(words, digest)
    lines = _lines(text, n_rows)
    counted = _without_counts(lines)
    if counted is not None:
        return Vocabulary(counted, digest, (f"the counts after the words of {name} were left out",))
    undressed = without_marks(lines)
    if undressed is not None:
        note = f"the words of {name} stand in quotation marks or after the numbers of their rows: these were left out"
        return Vocabulary(undressed, digest, (note,))
    return Vocabulary(lines, digest)


def _lines(text: str, n_rows: int | None) -> list[str]:
    text = text.replace("\r\n", "\n")
    lines = text.rstrip("\n").split("\n")
    if "\r" in text and len(lines) != n_rows:
        by_all = text.replace("\r", "\n").rstrip("\n").split("\n")
        if len(lines) == 1 or len(by_all) == n_rows:
            return by_all
    return lines


def _decode(head: Head) -> str:
    data = head.start.removeprefix(BOM)
    try:
        return data.decode(head.options.codec, head.options.errors)
    except UnicodeDecodeError as error:
        number, suggested = data.count(b"\n", 0, error.start) + 1, suggest_encoding(data)
        line = data.split(b"\n")[number - 1].decode(suggested, "replace").strip()
        raise EncodingError(
            f"{head.name}, line {number}: the word isn't valid {head.options.encoding.upper()}; in {suggested} it "
            f"would be {line[:40]!r}. Choose the encoding {suggested} if that is right, else another one.",
            suggested,
        ) from error


def _from_json(name: str, text: str) -> list[str] | None:
    """The words of a JSON list or object; None if the text isn't JSON, but a list whose first word is a bracket."""
    try:
        found = parse_json(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, dict):
        rows = list(found.values())
        if all(type(row) is int for row in rows) and sorted(rows) == list(range(len(rows))):
            return sorted(found, key=found.__getitem__)
        raise InputError(f"{name}: each word must have its row, 0 to {len(rows) - 1}, each once. Correct the file.")
    if isinstance(found, list) and all(isinstance(word, str) for word in found):
        return found
    raise InputError(f"{name} isn't a JSON list of words, nor an object that gives each word its row.")


def _without_counts(lines: list[str]) -> list[str] | None:
    """The words of lines "word count" with counts that never rise; None for any other lines."""
    words, previous = [], None
    for line in lines:
        match = _COUNTED.fullmatch(line)
        if match is None or len(match[2]) > 18 or (previous is not None and int(match[2]) > previous):
            return None
        words.append(match[1])
        previous = int(match[2])
    return words if len(words) > 1 else None
