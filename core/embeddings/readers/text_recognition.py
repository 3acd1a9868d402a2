"""How a text file of vectors is told from other text, and the length of its vectors found.

Words as R's write.table and the like leave them: in quotation marks, after numbers of rows. Told by a file's
beginning, taken off all of its words, and said.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from ...errors import InputError
from ..formats import BOM, HEADER, FileHead, Recognised, check_dimensions, suggest_encoding

_ROW_NUMBER = r'^("[0-9]{1,18}"|[0-9]{1,18})[ \t]+'
_MARKED = r'^".+"$'
_ESCAPED = ('\\"', '""')  # R's two ways to write a mark within marks
_N_SHOWN = 5


class QuoteRemover:
    """Takes off words what stands around all of them: `quoting` is that of `Recognised`. Called with one block of words
    after the other."""

    def __init__(self, name: str, quoting: str) -> None:
        self._name, self._dress = name, quoting
        self._n_kept, self._kept = 0, list[str]()

    def __call__(self, words: pa.StringArray) -> pa.StringArray:
        """The words without it; raises `InputError` for one that has no number of its row where all should."""
        if "numbers" in self._dress:
            numbered = pc.match_substring_regex(words, _ROW_NUMBER)
            others = words.filter(pc.invert(numbered))
            if len(others):
                odd = others[0].as_py()
                raise InputError(
                    f"{self._name}: the first words stand after the numbers of their rows, {odd[:40]!r} doesn't. Write "
                    "the file without a column of row numbers (in R: row.names = FALSE)."
                )
            words = pc.replace_substring_regex(words, _ROW_NUMBER, "")
        marked = pc.match_substring_regex(words, _MARKED)
        if "quotes" in self._dress:
            inner = pc.utf8_slice_codeunits(words, 1, -1)
            one, other = (pc.replace_substring(inner, escaped, '"') for escaped in _ESCAPED)
            inner = pc.if_else(pc.match_substring(inner, _ESCAPED[0]), one, other)
            words = pc.if_else(marked, inner, words)
            marked = pc.invert(marked)
        self._keep(words.filter(marked))
        return words

    def _keep(self, words: pa.StringArray) -> None:
        self._n_kept += len(words)
        self._kept += words[: _N_SHOWN - len(self._kept)].to_pylist()

    def note(self, notes: list[str]) -> None:
        """Add a remark on words that aren't as the others, if there are any."""
        if self._n_kept:
            stand = "without quotation marks" if "quotes" in self._dress else "in quotation marks, which are kept"
            shown = ", ".join(self._kept)
            notes.append(f"words that stand {stand}: {self._n_kept:,} ({shown})")


def without_marks(lines: list[str]) -> list[str] | None:
    """The words of lines that all are in quotation marks, perhaps after the numbers of their rows; None for others."""
    numbered = [re.match(_ROW_NUMBER, line) for line in lines]
    rows = [int(match[1].strip('"')) for match in numbered if match]
    if len(lines) > 1 and len(rows) == len(lines) and all(after == before + 1 for before, after in pairwise(rows)):
        lines = [line[match.end() :] for line, match in zip(lines, numbered, strict=True) if match]
    elif not all(re.fullmatch(_MARKED, line) for line in lines):
        return None
    if len(lines) < 2:
        return None
    if all(re.fullmatch(_MARKED, line) for line in lines):
        lines = [line[1:-1].replace(_ESCAPED[_ESCAPED[0] not in line[1:-1]], '"') for line in lines]
    return lines


FORMAT = "word2vec text"
_SAMPLE_LINES = 100
_LONE_CR = re.compile(rb"\r(?!\n)")
# Words as R's write.table leaves them: in quotation marks, after the numbers of rows, or both.
_QUOTED = re.compile(rb'".+"')
_NUMBERED = re.compile(rb'(?:"(\d{1,18})"|(\d{1,18}))[ \t]+(\S.*)')


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
    """The commonest number of values per line, None where most lines don't end in that many numbers.

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


def with_line_feeds(data: bytes) -> bytes:
    """The data with a line feed for each line end, of whatever kind."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _ends_in_cr(body: bytes, whole: bool) -> bool:
    """Whether a carriage return alone ends lines here, and doesn't belong to words: most of the lines that it makes
    are whole ones, with a word and as many values as the others."""
    if not _LONE_CR.search(body):
        return False
    body = body.replace(b"\r\n", b"\n")
    by_feeds, by_all = (_sample(each, whole) for each in (body, body.replace(b"\r", b"\n")))
    found = _dimensions(by_all)
    if found is None or (found < 2 and len(by_all) < 2):
        return False
    ended = [part for line in by_feeds or [body] for part in line.split(b"\r")[:-1] if part.strip()][:_SAMPLE_LINES]
    return 2 * sum(n_values(part) == found for part in ended) > len(ended)


def _without_values(line: bytes, dimensions: int) -> bytes:
    """The word of a line, with all that stands around it."""
    return line.rsplit(None, dimensions)[0].strip(b" \t")


def _quoting(lines: list[bytes], dimensions: int) -> str:
    """What stands around all of the words; see `Recognised`."""
    words = [_without_values(line, dimensions) for line in lines if n_values(line) == dimensions]
    numbered = [_NUMBERED.fullmatch(word) for word in words]
    if len(words) > 1 and all(numbered):
        found = [match for match in numbered if match]
        rows = [int(match[1] or match[2]) for match in found]
        if all(after == before + 1 for before, after in pairwise(rows)):
            return "numbers and quotes" if all(_QUOTED.fullmatch(match[3]) for match in found) else "numbers"
    return "quotes" if len(words) > 1 and all(_QUOTED.fullmatch(word) for word in words) else ""


def _names_columns(line: bytes, dimensions: int) -> bool:
    """Whether a line could be R's or pandas' names of the columns: as many fields, and no value among them."""
    fields = line.split()
    return dimensions <= len(fields) <= dimensions + 2 and all(numbers([text.strip(b'"')]) is None for text in fields)


def _with_encoding(head: FileHead, recognised: Recognised) -> Recognised:
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


_QUOTING_NOTES = {
    "quotes": "its words stand in quotation marks, as R writes them: the marks were left out",
    "numbers": "its first column has the numbers of the rows, which were left out",
    "numbers and quotes": "its first column has the numbers of the rows, and its words stand in quotation marks: both "
    "were left out",
}


def recognise(head: FileHead) -> Recognised | None:
    """A text file of vectors; see `Reader.recognise`."""
    recognised = _recognise(head)
    if recognised is None:
        return None
    shown = replace(head, start=with_line_feeds(head.start)) if recognised.ends_in_cr else head
    return _with_encoding(shown, recognised)


def _recognise(head: FileHead) -> Recognised | None:
    """A file of lines that end in equally many numbers.

    The first line is a header if it is two whole numbers and the other lines aren't all as short.
    """
    skipped = len(BOM) if head.start.startswith(BOM) else 0
    start = head.start[skipped:]
    match = HEADER.match(start)
    body = start[match.end() :] if match else start
    ends_in_cr = _ends_in_cr(body, head.is_whole)
    lines = _sample(with_line_feeds(body) if ends_in_cr else body, head.is_whole)
    found = _dimensions(lines)
    if found is None or (found < 2 and not match):
        return None
    notes: tuple[str, ...] = ("a byte order mark at its beginning was skipped",) if skipped else ()
    offset = skipped + (match.end() if match else 0)
    if not match and _names_columns(lines[0], found):
        first = re.match(rb"\s*[^\r\n]*(?:\r*\n|\r)" if ends_in_cr else rb"\s*[^\n]*\n", body)
        if first is not None and lines[1:]:
            offset += first.end()
            notes += ("its first line names the columns, and was left out",)
            lines = lines[1:]
    quoting = _quoting(lines, found)
    notes += (_QUOTING_NOTES[quoting],) if quoting else ()
    n_bytes = sum(len(line) + 1 for line in lines)
    n_estimated = max(1, round((head.size - skipped) * len(lines) / n_bytes))
    separator = _separator(lines, found)
    if match is None:
        name = f"{FORMAT}, no header"
        return Recognised(name, None, found, False, notes, offset, separator, ends_in_cr, quoting, n_estimated)
    n_words, dimensions = int(match[1]), int(match[2])
    check_dimensions(head, dimensions)
    if dimensions != found:
        raise InputError(
            f"{head.name}: the first line says {dimensions} dimensions, the lines after it have {found} values. "
            "Correct the first line, or fetch the file again."
        )
    return Recognised(FORMAT, n_words, dimensions, True, notes, offset, separator, ends_in_cr, quoting, n_estimated)
