"""Files that are neither a table nor a list nor an embedding: pictures, documents, archives, web pages; told by how
they begin, in one place for all readers. What to do about one is for the reader to say, by the kind's key."""

from __future__ import annotations

import re

WEB_PAGE, PICTURE, PDF, OLD_OFFICE, GZIP = "web page", "picture", "PDF", "old office", "gzip"
PARQUET, LFS, ARCHIVE = "Parquet", "Git LFS", "archive"
# Bytes at an offset, the kind's key, and what people call it. The longest come first where they overlap.
_STARTS: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"version https://git-lfs", LFS, "a Git LFS pointer, not the file itself"),
    (0, b"\x89PNG", PICTURE, "a picture"),
    (0, b"\xff\xd8\xff", PICTURE, "a picture"),
    (0, b"GIF8", PICTURE, "a picture"),
    (8, b"WEBP", PICTURE, "a picture"),
    (0, b"II*\x00", PICTURE, "a picture"),
    (0, b"MM\x00*", PICTURE, "a picture"),
    (4, b"ftyphei", PICTURE, "a picture"),
    (0, b"%PDF", PDF, "a PDF document"),
    (0, b"{\\rtf", PDF, "a text document (RTF)"),
    (0, b"\xd0\xcf\x11\xe0", OLD_OFFICE, "an old Excel workbook"),
    (0, b"\x1f\x8b", GZIP, "a gzip archive"),
    (0, b"\x28\xb5\x2f\xfd", ARCHIVE, "compressed (zstandard)"),
    (0, b"7z\xbc\xaf", ARCHIVE, "a 7z archive"),
    (0, b"Rar!\x1a\x07", ARCHIVE, "a RAR archive"),
    (257, b"ustar", ARCHIVE, "a tar archive"),
    (0, b"\x89HDF", "HDF5", "an HDF5 file"),
    (0, b"SQLite format 3", "SQLite", "an SQLite database (a Magnitude file, perhaps)"),
    (0, b"PAR1", PARQUET, "a Parquet file"),
    (0, b"ARROW1", "Arrow", "an Arrow file"),
)
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html|\?xml)", re.IGNORECASE)
_DRAWING = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<svg", re.IGNORECASE)


def foreign(start: bytes) -> tuple[str, str] | None:
    """The key and the name of such a file by its first bytes (300 are enough), None for any other.

    >>> foreign(b"%PDF-1.7"), foreign(b"area,token")
    (('PDF', 'a PDF document'), None)
    """
    for offset, magic, key, what in _STARTS:
        if start.startswith(magic, offset):
            return key, what
    if _DRAWING.match(start):
        return PICTURE, "a picture"
    return (WEB_PAGE, "a web page") if _PAGE.match(start) else None
