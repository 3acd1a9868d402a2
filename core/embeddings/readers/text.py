"""A reader of word2vec's and GloVe's text format: a line a word, the word and then its values; a header line or none.

The beginning of a file tells it from other text, and how long its vectors are. Ordinary lines are parsed by pyarrow a
block at a time; lines that it can't split (a word that holds spaces) one at a time: **the last D fields are the vector,
the rest is the word**. Blank lines are skipped.

R's write.table and the like put words into quotation marks, after numbers of rows. The beginning of a file shows it
too; both are then taken off all of its words, which is said.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from ...errors import InputError
from ...tabular.encoding import MENDED
from ..formats import (
    BOM,
    HEADER,
    Block,
    EncodingError,
    FileHead,
    Options,
    Reader,
    Recognised,
    Source,
    check_dimensions,
    note_broken,
    suggest_encoding,
)

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
    n_dimensions = _dimensions(by_all)
    if n_dimensions is None or (n_dimensions < 2 and len(by_all) < 2):
        return False
    ended = [part for line in by_feeds or [body] for part in line.split(b"\r")[:-1] if part.strip()][:_SAMPLE_LINES]
    return 2 * sum(n_values(part) == n_dimensions for part in ended) > len(ended)


def _without_values(line: bytes, dimensions: int) -> bytes:
    """The word of a line, with all that stands around it."""
    return line.rsplit(None, dimensions)[0].strip(b" \t")


def _quoting(lines: list[bytes], dimensions: int) -> str:
    """What stands around all of the words; see `Recognised`."""
    words = [_without_values(line, dimensions) for line in lines if n_values(line) == dimensions]
    numbered = [_NUMBERED.fullmatch(word) for word in words]
    if len(words) > 1 and all(numbered):
        matches = [match for match in numbered if match]
        rows = [int(match[1] or match[2]) for match in matches]
        if all(after == before + 1 for before, after in pairwise(rows)):
            return "numbers and quotes" if all(_QUOTED.fullmatch(match[3]) for match in matches) else "numbers"
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
    n_dimensions = _dimensions(lines)
    if n_dimensions is None or (n_dimensions < 2 and not match):
        return None
    notes: tuple[str, ...] = ("a byte order mark at its beginning was skipped",) if skipped else ()
    offset = skipped + (match.end() if match else 0)
    if not match and _names_columns(lines[0], n_dimensions):
        first = re.match(rb"\s*[^\r\n]*(?:\r*\n|\r)" if ends_in_cr else rb"\s*[^\n]*\n", body)
        if first is not None and lines[1:]:
            offset += first.end()
            notes += ("its first line names the columns, and was left out",)
            lines = lines[1:]
    quoting = _quoting(lines, n_dimensions)
    notes += (_QUOTING_NOTES[quoting],) if quoting else ()
    n_bytes = sum(len(line) + 1 for line in lines)
    n_estimated = max(1, round((head.size - skipped) * len(lines) / n_bytes))
    separator = _separator(lines, n_dimensions)
    if match is None:
        name = f"{FORMAT}, no header"
        return Recognised(name, None, n_dimensions, False, notes, offset, separator, ends_in_cr, quoting, n_estimated)
    n_words, dimensions = int(match[1]), int(match[2])
    check_dimensions(head, dimensions)
    if dimensions != n_dimensions:
        raise InputError(
            f"{head.name}: the first line says {dimensions} dimensions, the lines after it have {n_dimensions} values. "
            "Correct the first line, or fetch the file again."
        )
    return Recognised(FORMAT, n_words, dimensions, True, notes, offset, separator, ends_in_cr, quoting, n_estimated)


CHUNK_BYTES = 4 << 20
MAX_LINE_BYTES = 64 << 20
MOST_WAITING = 4  # chunks, parsed or not, that lie in memory at once beside the one that is read


@dataclass(frozen=True)
class _Chunk:
    """Some whole lines of the file; `first_line` is the number of the first, counted from 1."""

    data: bytes
    first_line: int
    is_last: bool = False


@dataclass(frozen=True)
class _Line:
    word: str
    values: list[float]


@dataclass(frozen=True)
class _Parsed:
    """The block of a chunk; how many lines had values but no word, and how many pyarrow couldn't split; whether the
    last line has no end."""

    block: Block
    n_nameless: int = 0
    n_odd: int = 0
    is_open_ended: bool = False


def _chunks(source: Source, recognised: Recognised) -> Iterator[_Chunk]:
    """Cut the file at line ends into chunks of about `CHUNK_BYTES`."""
    skipped = source.read(recognised.offset)
    line, rest = 1 + (with_line_feeds(skipped) if recognised.ends_in_cr else skipped).count(b"\n"), b""
    for data in _pieces(source, recognised.ends_in_cr):
        cut = data.rfind(b"\n") + 1
        if cut == 0:
            rest += data
            if len(rest) > MAX_LINE_BYTES:
                raise InputError(f"{source.name}, line {line}, is over {MAX_LINE_BYTES >> 20} MB long.")
            continue
        whole, rest = rest + data[:cut], data[cut:]
        yield _Chunk(whole, line)
        line += whole.count(b"\n")
    if rest.strip():
        yield _Chunk(rest + b"\n", line, is_last=True)


def _pieces(source: Source, ends_in_cr: bool) -> Iterator[bytes]:
    """The file as it is, or with line feeds for all line ends."""
    rest = b""
    while data := source.read(CHUNK_BYTES):
        if ends_in_cr:
            data = rest + data
            rest = b"\r" if data.endswith(b"\r") else b""  # a line feed may follow
            data = with_line_feeds(data.removesuffix(rest))
        yield data
    if rest:
        yield b"\n"


def _tidy(data: bytes, separator: str) -> bytes:
    """Windows line ends, blanks at line ends and mixed separators brought into one form."""
    data = data.replace(b"\r\n", b"\n")
    if separator == "mixed":
        data = data.replace(b"\t", b" ")
    blank = b"\t\n" if separator == "\t" else b" \n"
    while blank in data:
        data = data.replace(blank, b"\n")
    return data


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


class _Parser:
    """Parses chunks of one file; safe to use from several threads."""

    def __init__(self, name: str, recognised: Recognised, options: Options) -> None:
        self._name, self._recognised, self._options = name, recognised, options
        values = [str(i) for i in range(recognised.dimensions)]
        self._columns = ["word", *values]
        self._seems_tidy = recognised.separator != "mixed"
        self._types = {"word": pa.string(), **dict.fromkeys(values, pa.float32())}

    def parse(self, chunk: _Chunk) -> _Parsed:
        """The chunk's words and vectors; raises `InputError` naming the line that can't be read."""
        data = chunk.data if self._options.is_utf8 else self._recode(chunk)
        # Looking for blanks at line ends takes half as long as parsing: it is done once a line was odd.
        is_tidy = self._seems_tidy and b"\r" not in data
        if not is_tidy:
            data = _tidy(data, self._recognised.separator)
        # For pyarrow a lone carriage return ends a line, and odd lines that aren't UTF-8 are dropped without a word.
        parsed = self._parse_fast(data) if b"\r" not in data and _is_utf8(data) else None
        if is_tidy and (parsed is None or parsed.n_odd):
            tidied = _tidy(data, self._recognised.separator)
            if tidied != data:
                self._seems_tidy, data = False, tidied
                parsed = self._parse_fast(data) if _is_utf8(data) else None
        return replace(parsed or self._parse_slowly(data, chunk), is_open_ended=chunk.is_last)

    def _recode(self, chunk: _Chunk) -> bytes:
        """The chunk in UTF-8."""
        try:
            return chunk.data.decode(self._options.codec, self._options.errors).encode()
        except UnicodeDecodeError as error:
            number = chunk.first_line + chunk.data.count(b"\n", 0, error.start)
            line = chunk.data.split(b"\n")[number - chunk.first_line]
            raise self._misread(number, line) from error
        except UnicodeEncodeError as error:
            raise InputError(
                f"{self._name} isn't text in {self._options.encoding}; choose another encoding."
            ) from error

    def _parse_fast(self, data: bytes) -> _Parsed | None:
        """Parse by pyarrow; None if there is a line that only a close look can judge."""
        odd: list[tuple[int, str]] = []

        def keep(row: pacsv.InvalidRow) -> str:
            odd.append((row.number - 1, row.text))
            return "skip"

        separator = "\t" if self._recognised.separator == "\t" else " "
        try:
            table = pacsv.read_csv(
                pa.BufferReader(data),
                pacsv.ReadOptions(use_threads=False, column_names=self._columns, block_size=len(data) + 1),
                pacsv.ParseOptions(delimiter=separator, quote_char=False, invalid_row_handler=keep),
                pacsv.ConvertOptions(column_types=self._types, null_values=[], check_utf8=False),
            )
        except pa.ArrowInvalid:
            return None
        columns = table.combine_chunks().columns
        vectors = np.empty((table.num_rows, self._recognised.dimensions), dtype=np.float32)
        if table.num_rows:
            # A block of columns lies in the cache, so that one transposing copy is cheap.
            vectors[...] = np.stack([column.chunk(0).to_numpy() for column in columns[1:]]).T
            words = columns[0].chunk(0)
        else:
            words = pa.array([], pa.string())
        odd_lines = [self._line(text.encode()) for _, text in odd]
        if any(line is None for line in odd_lines) or pc.any(pc.equal(words, "")).as_py():
            return None
        return _put_back(Block(words, vectors), [place for place, _ in odd], [line for line in odd_lines if line])

    def _line(self, line: bytes) -> _Line | None:
        """The word and the values of one line, None if it hasn't both."""
        fields = line.rsplit(None, self._recognised.dimensions)
        if len(fields) <= self._recognised.dimensions:
            return None
        values, word = numbers(fields[1:]), fields[0].strip(b" \t")
        return None if values is None or not word else _Line(word.decode(), values)

    def _parse_slowly(self, data: bytes, chunk: _Chunk) -> _Parsed:
        """Parse line by line, and name the line that can't be read."""
        words: list[str] = []
        values: list[list[float]] = []
        nameless = 0
        for number, line in self._lines(data, chunk.first_line):
            if not line.strip():
                continue
            try:
                read = self._line(line)
            except UnicodeDecodeError as error:
                raise self._misread(number, line) from error
            if read is not None:
                words.append(read.word)
                values.append(read.values)
            # (A last line without an end was rather cut off.)
            elif not chunk.is_last and n_values(b"word " + line) == len(line.split()) == self._recognised.dimensions:
                nameless += 1
            else:
                raise self._unreadable(number, line, chunk.is_last)
        vectors = np.array(values, dtype=np.float32).reshape(len(words), self._recognised.dimensions)
        return _Parsed(Block(pa.array(words, pa.string()), vectors), nameless)

    def _lines(self, data: bytes, first: int) -> Iterator[tuple[int, bytes]]:
        """The lines with their numbers; carriage returns end lines where each part that they make is a whole one."""
        for number, line in enumerate(data.split(b"\n"), start=first):
            parts = [part for part in line.split(b"\r") if part.strip()]
            is_whole = all(n_values(part) == self._recognised.dimensions for part in parts)
            yield from ((number, part) for part in (parts if len(parts) > 1 and is_whole else [line]))

    def _misread(self, number: int, line: bytes) -> InputError:
        suggested = suggest_encoding(line)
        word = line.rsplit(None, self._recognised.dimensions)[0].decode(suggested, "replace")
        read_as, name = self._options.encoding.upper(), {"latin-1": "Latin-1"}.get(suggested, suggested)
        return EncodingError(
            f"{self._name}, line {number}: the word isn't valid {read_as}; read as {name} it would be {word[:40]!r}. "
            f"Choose the encoding {suggested} if that is right, else another one; {MENDED} puts a mark in place of "
            "what can't be read.",
            suggested,
        )

    def _unreadable(self, number: int, line: bytes, is_last: bool) -> InputError:
        expected, n_found = self._recognised.dimensions, n_values(line)
        beginning = line[:40].decode("utf-8", "replace")
        if is_last and n_found < expected:
            return InputError(
                f"{self._name}, line {number}: the file is truncated, its last line has {n_found} of {expected} "
                "values. Fetch it again."
            )
        return InputError(
            f"{self._name}, line {number}: {expected} numbers with a word before them are expected, the line ends in "
            f"{n_found} (it begins {beginning!r}). Correct the line or fetch the file again."
        )


def _put_back(block: Block, places: list[int], lines: list[_Line]) -> _Parsed:
    """The block with the odd lines where they stood; `places` are their positions in the whole, ascending."""
    if not places:
        return _Parsed(block)
    n_words = len(block.words) + len(places)
    is_odd = np.zeros(n_words, dtype=bool)
    is_odd[places] = True
    vectors = np.empty((n_words, block.vectors.shape[1]), dtype=np.float32)
    vectors[~is_odd] = block.vectors
    vectors[is_odd] = [line.values for line in lines]
    order = np.empty(n_words, dtype=np.int64)
    order[~is_odd] = np.arange(len(block.words))
    order[is_odd] = np.arange(len(block.words), n_words)
    words = pa.concat_arrays([block.words, pa.array([line.word for line in lines], pa.string())])
    return _Parsed(Block(words.take(pa.array(order)), vectors), n_odd=len(places))


def _parsed(source: Source, recognised: Recognised) -> Iterator[_Parsed]:
    """The file's chunks parsed, several at a time and yielded in order."""
    parser = _Parser(source.name, recognised, source.options)
    waiting: deque[Future[_Parsed]] = deque()
    for chunk in _chunks(source, recognised):
        waiting.append(source.threads.submit(parser.parse, chunk))
        if len(waiting) > MOST_WAITING:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def read(source: Source, recognised: Recognised, notes: list[str]) -> Iterator[Block]:
    """Yield the file's words and vectors; see `Reader.read`."""
    n_words = n_nameless = 0
    is_open_ended = False
    broken: list[str] = []
    undressed = QuoteRemover(source.name, recognised.dress)
    for parsed in _parsed(source, recognised):
        n_words += len(parsed.block.words)
        n_nameless += parsed.n_nameless
        is_open_ended = parsed.is_open_ended
        if source.options.encoding == MENDED:
            marked = pc.match_substring(parsed.block.words, "\ufffd")
            broken += parsed.block.words.filter(marked).to_pylist()
        yield replace(parsed.block, words=undressed(parsed.block.words))
    if recognised.n_words is not None and recognised.n_words != n_words + n_nameless:
        notes.append(f"the first line says {recognised.n_words} words, {n_words + n_nameless} were found")
    if is_open_ended:
        notes.append("the last line has no line end: if the file was cut off, its last value may be too short")
    if n_nameless:
        notes.append(f"lines without a word, left out: {n_nameless:,}")
    note_broken(broken, source.options, notes)
    undressed.note(notes)


READER = Reader(FORMAT, recognise, read)
