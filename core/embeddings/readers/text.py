"""word2vec's and GloVe's text format: a line a word, the word and then its values; a header line or none.

Ordinary lines are parsed by pyarrow a block at a time; lines that it can't split (a word that holds spaces)
one at a time: **the last D fields are the vector, the rest is the word**. Blank lines are skipped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from ...errors import InputError
from ...tabular.encoding import MENDED
from ..formats import Block, EncodingError, Options, Reader, Recognised, Source, note_broken, suggest_encoding
from .text_recognition import FORMAT, QuoteRemover, n_values, numbers, recognise, with_line_feeds

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
    held = b""
    while data := source.read(CHUNK_BYTES):
        if ends_in_cr:
            data = held + data
            held = b"\r" if data.endswith(b"\r") else b""  # a line feed may follow
            data = with_line_feeds(data.removesuffix(held))
        yield data
    if held:
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
        expected, found = self._recognised.dimensions, n_values(line)
        shown = line[:40].decode("utf-8", "replace")
        if is_last and found < expected:
            return InputError(
                f"{self._name}, line {number}: the file is truncated, its last line has {found} of {expected} values. "
                "Fetch it again."
            )
        return InputError(
            f"{self._name}, line {number}: {expected} numbers with a word before them are expected, the line ends in "
            f"{found} (it begins {shown!r}). Correct the line or fetch the file again."
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
