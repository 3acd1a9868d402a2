"""A dataset in the layouts that other programs read: Parquet, JSON, SimLex-like word pairs, MTEB's STS.

For programs that look words up as they stand, tokens are spelled as embeddings spell them: rolling_pin for rolling pin.
Where embeddings spell a token in two ways there are several spellings of the dataset, and a file for each.

Before a Parquet file is read, the headers of its pages say how much they unpack to; what the file's end says of it may
be a lie. A page's header is a struct in Thrift's compact protocol; its fields 2 and 3 are the page's bytes unpacked and
packed. Reference: https://github.com/apache/parquet-format (parquet.thrift), Apache Thrift's compact protocol.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..errors import InputError, Issue
from ..tables import DATASET, Schema
from ..tabular import check_cells
from ..tabular.json_files import parse_json
from ..tabular.zips import MAX_JSON, most_unpacked
from .files import to_json

_DEEPEST = 8  # a page's header has structs in structs, three deep
_UNPACKED, _PACKED = 2, 3
_WHOLE = range(4, 7)  # i16, i32, i64
_WIDTHS = {1: 0, 2: 0, 3: 1, 7: 8}  # bytes of a truth (in the field's own head), a byte, a double
_TEXT, _STRUCT = 8, 12


def unpacked_bytes(data: bytes, described: pq.FileMetaData) -> int:
    """The bytes that all pages of all columns unpack to; ValueError for a file that is damaged."""
    chunks = (described.row_group(group).column(at) for group in range(described.num_row_groups)
              for at in range(described.num_columns))  # fmt: skip
    return sum(_of_chunk(data, chunk) for chunk in chunks)


def _of_chunk(data: bytes, chunk: pq.ColumnChunkMetaData) -> int:
    begins = [offset for offset in (chunk.dictionary_page_offset, chunk.data_page_offset) if offset]
    at, total = min(begins, default=0), 0
    end = at + chunk.total_compressed_size
    if not 0 <= at <= end <= len(data):
        raise ValueError("a column lies outside the file")
    while at < end:
        header = _PageHeader(data, at)
        sizes = header.struct(_DEEPEST)
        if min(sizes.get(_PACKED, -1), sizes.get(_UNPACKED, -1)) < 0:
            raise ValueError("a page states no size")
        total += sizes[_UNPACKED]
        at = header.at + sizes[_PACKED]
    return total


class _PageHeader:
    """The header of a page at a place of the file; `at` is where it has been read to."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self.at = data, at

    def _byte(self) -> int:
        if self.at >= len(self._data):
            raise ValueError("a page's header has no end")
        self.at += 1
        return self._data[self.at - 1]

    def _number(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a page's header has a number without an end")
        return value | byte << shift

    def _signed(self) -> int:
        value = self._number()
        return value >> 1 ^ -(value & 1)

    def struct(self, depth: int) -> dict[int, int]:
        """The whole numbers among the fields; the others are passed over."""
        if not depth:
            raise ValueError("a page's header is too deep")
        fields: dict[int, int] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            if head & 15 in _WHOLE:
                fields[field] = self._signed()
            else:
                self._pass(head & 15, depth)
        return fields

    def _pass(self, kind: int, depth: int) -> None:
        if kind in _WIDTHS:
            self.at += _WIDTHS[kind]
        elif kind in _WHOLE:
            self._number()
        elif kind == _TEXT:
            length = self._number()
            self.at += length
        elif kind == _STRUCT:
            self.struct(depth - 1)
        else:  # lists and maps, which no page's header has
            raise ValueError(f"a page's header has a field of the kind {kind}")


_ARROW = {"text": pa.string(), "int": pa.int64(), "float": pa.float64()}
_LONGEST_NUMBER = 32  # bytes
_CELLS_A_COLUMN = 1000  # that it takes as much room as, without a row too
_PANDAS = {"text": "str", "int": "int64", "float": "float64"}


def to_parquet(dataset: pd.DataFrame) -> bytes:
    """The dataset as one Parquet file; what isn't there is null. The description stands in its metadata, key `runoff`.

    The same dataset gives the same bytes by the same version of pyarrow.
    """
    DATASET.check(dataset)
    schema = {name: DATASET.columns.get(name, "text") for name in dataset.columns}
    about = {b"runoff": to_json({str(key): value for key, value in dataset.attrs.items()})} if dataset.attrs else {}
    return parquet(dataset, Schema("dataset", schema), about)


def parquet(frame: pd.DataFrame, schema: Schema, metadata: dict[bytes, bytes] | None = None) -> bytes:
    """A table of a schema as Parquet, columns in the schema's order."""
    fields = [pa.field(name, _ARROW[kind]) for name, kind in schema.columns.items()]
    columns = [pa.array(frame[field.name], type=field.type, from_pandas=True) for field in fields]
    table = pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata=metadata or None))
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()


def table_of(data: bytes, schema: Schema) -> pd.DataFrame:
    """The table of a schema that `parquet` wrote."""
    frame = pq.read_table(pa.BufferReader(data)).to_pandas(ignore_metadata=True)
    return schema.check(frame.astype({name: _PANDAS[kind] for name, kind in schema.columns.items()}))


def from_parquet(data: bytes, name: str) -> pd.DataFrame:
    """The dataset of a Parquet file with the columns of DATASET; `InputError` for another one."""
    try:
        table = _bounded_table(data, name)
        about = parse_json((table.schema.metadata or {}).get(b"runoff", b"{}"), most=MAX_JSON)
        frame = table.to_pandas(ignore_metadata=True)  # what pandas noted there could be anything
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{name} can't be read as Parquet: {error}.") from error
    missing = [column for column in ("token_a", "token_b", "score") if column not in frame]
    if missing:
        raise InputError(f"{name} is not a dataset: it lacks the columns {', '.join(missing)}.")
    if "area" not in frame:
        frame.insert(0, "area", "")
    try:
        frame = frame.astype({column: _PANDAS[kind] for column, kind in DATASET.columns.items() if column in frame})
    except (ValueError, TypeError) as error:
        raise InputError(f"{name} is not a dataset: a column is of another kind ({error}).") from error
    if not isinstance(about, dict):
        raise InputError(f"{name}: its description is no JSON object.")
    frame.attrs = {"notes": [], **about}
    return DATASET.check(frame)


def _bounded_table(data: bytes, name: str) -> pa.Table:
    """The table of a Parquet file; `InputError` for one that holds more than its size lets expect.

    A value that repeats stands in the file once: a few bytes can say a hundred million rows, or long texts.
    """
    described, most = pq.read_metadata(pa.BufferReader(data)), most_unpacked(len(data))
    check_cells(max(described.num_rows, _CELLS_A_COLUMN) * described.num_columns, name)
    texts = [field.name for field in described.schema.to_arrow_schema() if _is_text(field.type)]
    file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
    columns = [file.schema.column(at) for at in range(described.num_columns)]
    if any(column.max_repetition_level or column.length > _LONGEST_NUMBER for column in columns):
        raise InputError(f"{name} is not a dataset: a column holds lists.")
    table = file.read() if unpacked_bytes(data, described) <= most else None
    if table is None or sum(map(_n_letters, table.columns)) > most:
        raise InputError(f"{name} has {len(data):,} bytes and holds over {most:,}. Write it again without packing it.")
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(field.type.value_type))
    return table


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind))


def _n_letters(column: pa.ChunkedArray) -> int:
    """How many bytes the texts of a column will take that is kept as a dictionary of them yet, 0 for another column."""
    if not pa.types.is_dictionary(column.type) or not _is_text(column.type.value_type):
        return 0
    n_bytes = [pc.sum(pc.binary_length(part.dictionary).take(part.indices)).as_py() for part in column.chunks]
    return sum(n or 0 for n in n_bytes)


def to_records(dataset: pd.DataFrame) -> bytes:
    """The items as a JSON list of objects, best first; null where a value is missing."""
    DATASET.check(dataset)
    rows: list[dict[str, Any]] = [
        {str(key): None if isinstance(value, float) and math.isnan(value) else value for key, value in row.items()}
        for row in dataset.to_dict("records")
    ]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    return f"[\n{lines}\n]\n".encode()


def for_simlex(dataset: pd.DataFrame) -> bytes:
    """Word pairs as SimLex-999 writes them: a header, tabs, no quotes; columns word1, word2, score and what there is of
    lower, upper, votes, area.

    Scores stay on their own scale (SimLex-999's is 0 to 10). Items without a score are left out. Raises `InputError`
    naming tokens with a tab or a line end in them, or that begin with a quotation mark: some readers of such files
    take it for one that goes around a cell, and lose the rows to the next one; others take any for a part of the word.
    """
    known = _without_gaps(dataset, "SimLex-999's format", with_marks=False)
    names = ["token_a", "token_b", "score", *(n for n in ("lower", "upper", "votes", "area") if n in known)]
    header = "\t".join(["word1", "word2", *names[2:]])
    rows = zip(*(_cells(known[name]) for name in names), strict=True)
    return ("\n".join([header, *("\t".join(row) for row in rows)]) + "\n").encode("utf-8")


def for_mteb(dataset: pd.DataFrame) -> bytes:
    """Lines of JSON with sentence1, sentence2 and score: what MTEB's tasks of the kind STS load as their split `test`.

    Scores stay on their own scale; items without one are left out. MTEB ranks by cos, not |cos|.
    """
    DATASET.check(dataset)
    known = dataset.dropna(subset=["score"])
    rows = zip(known["token_a"], known["token_b"], known["score"], strict=True)
    lines = [
        json.dumps({"sentence1": a, "sentence2": b, "score": float(score)}, ensure_ascii=False) for a, b, score in rows
    ]
    return ("\n".join(lines) + "\n" if lines else "").encode("utf-8")


def mteb_bounds(dataset: pd.DataFrame) -> tuple[float, float]:
    """The lowest and the highest score: `min_score` and `max_score` of an MTEB task. `InputError` without a score."""
    known = dataset["score"].dropna()
    if known.empty:
        raise InputError("No item has a score, so there is nothing to evaluate.")
    return float(known.min()), float(known.max())


def _without_gaps(dataset: pd.DataFrame, called: str, *, with_marks: bool = True) -> pd.DataFrame:
    """The items with a score; `InputError` where a token, or an area, has a tab or a line end in it, or begins with a
    quotation mark and not `with_marks`."""
    DATASET.check(dataset)
    known = dataset.dropna(subset=["score"])
    issues = [
        Issue(f"a token {reason} can't be written", row, column, token)
        for column in ("token_a", "token_b", "area")
        for row, token in enumerate(known[column], 2)
        for reason in _why_not(token, with_marks=with_marks)
    ]
    if issues:
        raise InputError(f"{called} can't hold this dataset; use the CSV.", issues)
    return known


def _why_not(token: str, *, with_marks: bool) -> list[str]:
    """What keeps a token out of a file without quotes; nothing for most."""
    if re.search(r"[\t\r\n]", token):
        return ["with a tab or a line end in it"]
    return ["that begins with a quotation mark"] if token.startswith('"') and not with_marks else []


def _cells(values: pd.Series) -> list[str]:
    if pd.api.types.is_float_dtype(values.dtype):
        return ["" if math.isnan(value) else repr(float(value)) for value in values]
    return [str(value) for value in values]


@dataclass(frozen=True)
class Speller:
    """How an embedding spells tokens: `words[i]` is the word of its vocabulary that token i is found as, None where
    there is none (or a mean stands for it); `holds` are those words of any embedding that its vocabulary has."""

    words: Sequence[str | None]
    holds: Set[str]

    def takes(self, way: Mapping[str, str], tokens: Sequence[str]) -> bool:
        """Whether a program that looks up the words of this way finds in the vocabulary what was found here, no more
        and no less."""
        pairs = zip(tokens, self.words, strict=True)
        return all(way.get(token, word) == word if word is not None else way.get(token) not in self.holds
                   for token, word in pairs)  # fmt: skip


def ways(tokens: Sequence[str], spellers: Iterable[Speller]) -> tuple[dict[str, str], ...]:
    """The spellings that come from joining the embeddings one by one, each as what it spells otherwise.

    One that agrees with an earlier spelling joins it. Without any difference there is one, empty.

    >>> pins = [Speller(["rolling_pin", None], {"rolling_pin"}), Speller([None, "sea"], {"sea"}),
    ...         Speller(["rolling-pin", "sea"], {"rolling-pin", "sea"})]
    >>> ways(["rolling pin", "sea"], pins)
    ({'rolling pin': 'rolling_pin'}, {'rolling pin': 'rolling-pin'})
    """
    joined: list[tuple[dict[str, str], list[Speller]]] = []
    for speller in spellers:
        new = {token: word for token, word in zip(tokens, speller.words, strict=True) if word is not None}
        for known, members in joined:
            both = known | new
            if all(one.takes(both, tokens) for one in (*members, speller)):
                known.update(new)
                members.append(speller)
                break
        else:
            joined.append((new, [speller]))
    renamed = [{token: word for token, word in way.items() if word != token} for way, _ in joined]
    return tuple(renamed) or ({},)


def spelled(dataset: pd.DataFrame, way: Mapping[str, str]) -> pd.DataFrame:
    """The dataset with its tokens in a spelling."""
    if not way:
        return dataset
    columns = {name: dataset[name].map(lambda token: way.get(token, token)) for name in ("token_a", "token_b")}
    return dataset.assign(**{name: column.astype(dataset[name].dtype) for name, column in columns.items()})


def example(way: Mapping[str, str]) -> str:
    """A token as it is spelled, to know the way by; "" where all are as in the dataset."""
    return next(iter(way.values()), "")


def endings(spellings: Sequence[Mapping[str, str]]) -> list[str]:
    """What the file of each spelling has in its name: nothing, -2, -3, …

    >>> endings([{}, {}])
    ['', '-2']
    """
    return ["" if n == 1 else f"-{n}" for n in range(1, len(spellings) + 1)]
