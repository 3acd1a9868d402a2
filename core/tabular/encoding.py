"""Bytes decoded as text: which encoding a file is in, what in it doesn't fit, and which files are no text at all.

UTF-8 (with or without its mark) and UTF-16 are found by looking. A file in which some bytes are no UTF-8 stays UTF-8
where most of its lines with foreign letters are: the odd bytes alone are read as Windows-1252, each told with its line.
Where hardly any line is UTF-8 the whole file is Windows-1252.

Pictures, documents, archives and web pages are told by how they begin, in one place for all readers. What to do about
one is for the reader to say, by the kind's key.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from ..errors import InputError, Issue

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


UTF8 = "utf-8"
MENDED = "utf-8-replace"  # UTF-8 with U+FFFD in place of what isn't
# Offered where a file isn't UTF-8; any other that Python knows can be named too.
ENCODINGS = (
    UTF8,
    MENDED,
    "cp1252",
    "latin-1",
    "cp1250",
    "cp1251",
    "iso8859-2",
    "koi8-r",
    "cp932",
    "gb18030",
    "big5",
    "euc-kr",
)
# Before a text it says that this is Unicode. Programs that append to such a file, or save it twice, leave several.
_MARK = "\ufeff"
# Names that Python lists as encodings and no file of texts is in; some take time without bound.
_NO_FILES = frozenset({"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape", "utf-7"})
_MOST_TOLD = 20  # lines with odd bytes
# What no text of Windows-1252 holds, and most binary files do.
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")
# What becomes of a byte that isn't UTF-8 (Python's “surrogateescape”).
_ODD = re.compile("[\udc80-\udcff]")
# A line with a letter that isn't ASCII and was read.
_FOREIGN = re.compile("[^\r\n\x00-\x7f\udc80-\udcff][^\r\n]*")
_ODD_LINE = re.compile("[\udc80-\udcff][^\r\n]*")
_ZIP = "a spreadsheet or a zip archive. Open it and save the table as “CSV UTF-8”"
# What to do about files of another kind, by their keys in `foreign`.
_REMEDIES = {
    OLD_OFFICE: "Open it and save the table as “CSV UTF-8”",
    GZIP: "Unpack it first",
    PDF: "Download the results as CSV",
    WEB_PAGE: "It is probably a login page: sign in to the platform again and repeat the download",
}
_OTHER = "Choose the file that holds the table"
_JSON_STARTS = (b"[{", b"{")
_JSON = "a JSON file. Choose CSV when you export"


@dataclass(frozen=True)
class Decoded:
    """The text of a file, its encoding, what a person should know, and whether its last bytes were cut off."""

    text: str
    encoding: str
    notes: tuple[Issue, ...] = ()
    is_cut: bool = False


def known_encoding(name: str) -> str:
    """An encoding by the name that Python has for it; `InputError` where there is none of that name for texts.

    >>> known_encoding("GBK"), known_encoding("UTF8"), known_encoding("utf-8-replace")
    ('gbk', 'utf-8', 'utf-8-replace')
    """
    if name == MENDED:
        return name
    try:
        info = codecs.lookup(name)
        "".encode(info.name)  # refuses what isn't for texts, such as zip or rot13
    except (LookupError, UnicodeError, ValueError) as error:
        raise InputError(f"There is no text encoding {name!r}. Try one of: {', '.join(ENCODINGS)}.") from error
    if info.name.replace("-", "_") in {other.replace("-", "_") for other in _NO_FILES}:
        raise InputError(f"{name} isn't a text encoding. Try one of: {', '.join(ENCODINGS)}.")
    return UTF8 if info.name in ("utf-8-sig", "ascii") else info.name


def decode_bytes(data: bytes, name: str, *, encoding: str | None = None, braces: bool = False) -> Decoded:
    """The text of `data`, in the encoding that a person chose, else in the one that is found by looking.

    A UTF-8 file that ends inside a character is decoded without that character, and marked as cut. A file that begins
    as JSON does is refused, unless `braces` says that a text may.
    Raises `InputError` for an empty file, for another kind of file, and where no encoding fits.

    >>> decode_bytes("tè,té,t\\n".encode() + b"caff\\xe8\\n", "x.csv").text
    'tè,té,t\\ncaffè\\n'
    """
    if not data.strip():
        raise InputError(f"{name} is empty. Download it again.")
    _refuse_others(data, name, braces)
    if encoding is not None:
        return _chosen(data, known_encoding(encoding), name)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _decode_utf16(data, "utf-16", name)
    sample = data[:2000]
    if sample[1::2].count(0) > len(sample) // 4:
        return _decode_utf16(data, "utf-16-le", name)
    if sample[0::2].count(0) > len(sample) // 4:
        return _decode_utf16(data, "utf-16-be", name)
    try:
        return Decoded(data.decode(UTF8).lstrip(_MARK), UTF8)
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and error.end == len(data):
            return Decoded(data[: error.start].decode(UTF8).lstrip(_MARK), UTF8, is_cut=True)
    return _by_line(data, name)


def in_utf8(data: bytes, name: str, encoding: str | None) -> bytes:
    """A file in the encoding that a person chose as the same file in UTF-8, for what keeps files and reads them again;
    None leaves it as it is, and so does a zip archive, such as a workbook. Raises `InputError` as `decode_bytes`.

    >>> in_utf8("铁砧".encode("gbk"), "x.csv", "gbk").decode()
    '铁砧'
    """
    if encoding is None or data.startswith(b"PK\x03\x04"):
        return data
    return decode_bytes(data, name, encoding=encoding, braces=True).text.encode(UTF8)


def _refuse_others(data: bytes, name: str, braces: bool) -> None:
    beginning = data[:512]
    other = foreign(beginning)
    kind = "" if other is None else f"{other[1]}. {_REMEDIES.get(other[0], _OTHER)}"
    if data.startswith(b"PK\x03\x04"):
        kind = _ZIP
    elif not kind and not braces and beginning.lstrip().startswith(_JSON_STARTS):
        kind = _JSON
    if kind:
        raise InputError(f"{name} is not a CSV file but {kind}.")


def _chosen(data: bytes, encoding: str, name: str) -> Decoded:
    if encoding == MENDED:
        text = data.decode(UTF8, "replace").lstrip(_MARK)
        n_odd = text.count("\ufffd")
        notes = (Issue(f"{n_odd:,} places aren't UTF-8 and were read as the mark \ufffd"),) if n_odd else ()
        return Decoded(text, UTF8, notes)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not in the encoding {encoding}: line {_line_of(data, error.start)} holds the byte "
            f"0x{data[error.start]:02x}. Choose another encoding."
        ) from error
    except UnicodeError as error:
        raise InputError(f"{name} is not in the encoding {encoding} ({error}). Choose another encoding.") from error
    return Decoded(text.lstrip(_MARK), encoding)


def _decode_utf16(data: bytes, encoding: str, name: str) -> Decoded:
    is_cut = len(data) % 2 == 1
    try:
        text = data[: len(data) - is_cut].decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} looks like UTF-16, but byte {error.start + 1} doesn't fit. Save the file as “CSV UTF-8”."
        ) from error
    return Decoded(text.lstrip(_MARK), "utf-16", is_cut=is_cut)


def _by_line(data: bytes, name: str) -> Decoded:
    """A file that isn't wholly UTF-8: by the encoding that most of its lines with foreign letters are in."""
    if _BINARY.search(data):
        raise InputError(f"{name} is not a text file. Choose a table or a list saved as text, such as “CSV UTF-8”.")
    text = data.decode(UTF8, "surrogateescape").lstrip(_MARK)
    n_odd = sum(1 for _ in _ODD_LINE.finditer(text))
    n_utf8 = sum(1 for _ in _FOREIGN.finditer(text))
    if n_utf8 < n_odd:
        return _windows(data, name)
    return Decoded(_ODD.sub(lambda odd: _western(odd[0], text, odd.start(), name), text), UTF8, _odd_lines(text))


def _western(odd: str, text: str, at: int, name: str) -> str:
    byte = ord(odd) - 0xDC00
    try:
        return bytes([byte]).decode("cp1252")
    except UnicodeDecodeError as error:
        line = len(_line_ends(text[:at])) + 1
        raise _neither(name, line, byte) from error


def _odd_lines(text: str) -> tuple[Issue, ...]:
    """What is told of the lines that hold odd bytes."""
    issues: list[Issue] = []
    n_more, line, before = 0, 1, 0
    for found in _ODD_LINE.finditer(text):
        if len(issues) == _MOST_TOLD:
            n_more += 1
            continue
        line += len(_line_ends(text[before : found.start()]))
        before = found.start()
        byte = ord(found[0][0]) - 0xDC00
        letter = bytes([byte]).decode("cp1252")
        issues.append(
            Issue(
                f"line {line} holds the byte 0x{byte:02X}, which isn't UTF-8 as the rest of the file is; it was read "
                f"as Windows-1252 ({letter}). Check the line, or choose another encoding"
            )
        )
    if n_more:
        issues.append(Issue(f"{n_more:,} more lines hold bytes that aren't UTF-8"))
    return tuple(issues)


def _windows(data: bytes, name: str) -> Decoded:
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise _neither(name, _line_of(data, error.start), data[error.start]) from error
    line = next(number for number, text_line in enumerate(text.splitlines(), 1) if not text_line.isascii())
    note = Issue(
        f"the file is not UTF-8; it was read as Windows-1252 (Western European). Check the letters in line {line}; "
        "if they are wrong, choose another encoding, or save the file as “CSV UTF-8”"
    )
    return Decoded(text, "cp1252", (note,))


def _neither(name: str, line: int, byte: int) -> InputError:
    return InputError(
        f"{name} is neither UTF-8 nor Windows-1252 text: line {line} holds the byte 0x{byte:02x}. "
        "Choose its encoding, or save the file as “CSV UTF-8”."
    )


def _line_ends(text: str) -> list[str]:
    return re.findall("\r\n|\r|\n", text)


def _line_of(data: bytes, at: int) -> int:
    return data[:at].replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n") + 1
