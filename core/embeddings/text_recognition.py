"""How a text file of vectors is told from other text, and the length of its vectors found."""

from __future__ import annotations

import codecs
from collections import Counter
from dataclasses import replace

from ..errors import InputError
from .formats import BOM, HEADER, Head, Recognised, check_dimensions
from .options import suggest_encoding

FORMAT = "word2vec text"
_SAMPLE_LINES = 100


def numbers(fields: list[bytes]) -> list[float] | None:
    """The numbers that the fields spell, None where one isn't a number."""
    try:
        return [float(text) for text in fields]
    except ValueError:
        return None


def _sample(body: bytes, whole: bool) -> list[bytes]:
    """The first lines of `body` that are surely complete and not blank."""
    lines = body.split(b"\n", _SAMPLE_LINES)
    if not whole or len(lines) > _SAMPLE_LINES:
        lines = lines[:-1]
    return [line for line in lines if line.strip()]


def n_values(line: bytes) -> int:
    """How many numbers the line ends in, its first field (the word) left out."""
    fields = line.split()[1:]
    for n, text in enumerate(reversed(fields)):
        if numbers([text]) is None:
            return n
    return len(fields)


def _dimensions(lines: list[bytes]) -> int | None:
    """The commonest number of values a line, None where most lines don't end in that many numbers.

    Most lines are whole, whatever their words look like; a cut line has fewer values, a number among the
    words of a multi-word token gives its line one more.
    """
    counts = Counter(map(n_values, lines))
    if not counts:
        return None
    dimensions, n_lines = counts.most_common(1)[0]
    return dimensions if dimensions >= 1 and 2 * n_lines >= len(lines) else None


def _separator(lines: list[bytes], dimensions: int) -> str:
    """What stands between the fields: a space, a tab, or either ("mixed")."""
    if not any(b"\t" in line for line in lines):
        return " "
    tabbed = sum(len(line.rstrip().split(b"\t")) == dimensions + 1 for line in lines)
    return "\t" if 2 * tabbed > len(lines) else "mixed"


def _with_encoding(head: Head, recognised: Recognised) -> Recognised:
    """`recognised` with an encoding that fits, if the file's beginning isn't in the one it is read as."""
    try:
        codecs.getincrementaldecoder(head.options.codec)(head.options.errors).decode(head.start)
    except UnicodeDecodeError as error:
        number = head.start.count(b"\n", 0, error.start) + 1
        word = head.start[head.start.rfind(b"\n", 0, error.start) + 1 :].split(maxsplit=1)[0]
        suggested = suggest_encoding(head.start)
        shown = word.decode(suggested, "replace")[:40]
        note = f"line {number}: not valid {head.options.encoding.upper()}; in {suggested} it begins {shown!r}"
        return replace(recognised, needs_encoding=suggested, notes=(*recognised.notes, note))
    return recognised


def recognise(head: Head) -> Recognised | None:
    """A text file of vectors; see `Reader.recognise`."""
    recognised = _recognise(head)
    return None if recognised is None else _with_encoding(head, recognised)


def _recognise(head: Head) -> Recognised | None:
    """A file of lines that end in equally many numbers.

    The first line is a header if it is two whole numbers and the other lines aren't all as short.
    """
    skipped = len(BOM) if head.start.startswith(BOM) else 0
    start = head.start[skipped:]
    match = HEADER.match(start)
    body = start[match.end() :] if match else start
    lines = _sample(body, head.is_whole)
    found = _dimensions(lines)
    if found is None or (found < 2 and not match):
        return None
    notes = ("a byte order mark at its beginning was skipped",) if skipped else ()
    n_bytes = sum(len(line) + 1 for line in lines)
    n_estimated = max(1, round((head.size - skipped) * len(lines) / n_bytes))
    separator = _separator(lines, found)
    if match is None:
        return Recognised(f"{FORMAT}, no header", None, found, False, notes, skipped, separator, n_estimated)
    n_words, dimensions = int(match[1]), int(match[2])
    check_dimensions(head, dimensions)
    if dimensions != found:
        raise InputError(
            f"{head.name}: the first line says {dimensions} dimensions, the lines after it have {found} values. "
            "Correct the first line, or fetch the file again."
        )
    offset = skipped + match.end()
    return Recognised(FORMAT, n_words, dimensions, True, notes, offset, separator, n_estimated)
