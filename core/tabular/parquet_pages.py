"""How much the pages of a Parquet file unpack to, by their own headers: what the file's end says of it may be a lie.

A page's header is a struct in Thrift's compact protocol; its fields 2 and 3 are the page's bytes unpacked and packed.
Reference: https://github.com/apache/parquet-format (parquet.thrift), Apache Thrift's compact protocol.
"""

from __future__ import annotations

import pyarrow.parquet as pq

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
        header = _Header(data, at)
        sizes = header.struct(_DEEPEST)
        if min(sizes.get(_PACKED, -1), sizes.get(_UNPACKED, -1)) < 0:
            raise ValueError("a page states no size")
        total += sizes[_UNPACKED]
        at = header.at + sizes[_PACKED]
    return total


class _Header:
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
                raise ValueError("a page's header has a number of no end")
        return value | byte << shift

    def _signed(self) -> int:
        value = self._number()
        return value >> 1 ^ -(value & 1)

    def struct(self, depth: int) -> dict[int, int]:
        """The whole numbers among the fields; the others are passed over."""
        if not depth:
            raise ValueError("a page's header is too deep")
        found: dict[int, int] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            if head & 15 in _WHOLE:
                found[field] = self._signed()
            else:
                self._pass(head & 15, depth)
        return found

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
