"""Tokens inside a batch file: written so that no platform changes them, read back exactly.

A batch value ends up in the middle of a web page, and neither platform treats it kindly: Turkle puts it
there unescaped and replaces `${names}` one after the other, so a token that holds `<b>` or `${left_b}`
would change the page; Mechanical Turk refuses characters outside the Basic Multilingual Plane (emoji,
rare CJK). So everything with a meaning in HTML or in a template is written as a character reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html.entities import html5

from ..tabular.csv_writing import csv_text

# Markup and template characters; control characters, which would break a CSV row or vanish in a page; and
# all code points that UTF-8 writes with four bytes. Lone surrogates can't be written to a file at all.
_UNSAFE = re.compile("[&<>\"'$\x00-\x1f\x7f\ud800-\udfff\U00010000-\U0010ffff]")
_OUTSIDE_ASCII = re.compile("[\x80-\U0010ffff]")
_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_REFERENCE = re.compile(r"&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([A-Za-z][A-Za-z0-9]{1,31}));")


def encode(text: str) -> str:
    """Write `text` for a batch file; `decode` gives it back unchanged, whatever it holds.

    >>> encode("R&D 🔥")
    'R&amp;D &#x1F525;'
    """
    return _UNSAFE.sub(_reference, text)


def to_ascii(text: str) -> str:
    """Write what is left outside ASCII in an encoded text as references too; `decode` undoes both at once.

    >>> to_ascii(encode("café & 🔥"))
    'caf&#xE9; &amp; &#x1F525;'
    """
    return text if text.isascii() else _OUTSIDE_ASCII.sub(_reference, text)


def batch_bytes(header: Iterable[str], rows: Iterable[Sequence[str]], *, ascii_only: bool) -> bytes:
    """A batch file of encoded cells, in UTF-8, or in ASCII alone."""
    text = csv_text(header, rows)
    return (to_ascii(text) if ascii_only else text).encode("utf-8")


def needs_references(text: str) -> bool:
    """Whether a text holds characters that Mechanical Turk refuses as they are, such as emoji.

    >>> needs_references("fire 🔥"), needs_references("não")
    (True, False)
    """
    return any(ord(character) > 0xFFFF for character in text)


def decode(text: str) -> str:
    """Undo the character references in a field of a result file, once.

    Only complete references (`&amp;`, `&#x1F525;`, `&#233;`) are replaced, in one pass: a text that was never
    encoded, such as `AT&T` or `<b>`, stays as it is.

    >>> decode("R&amp;D &#x1F525; AT&T")
    'R&D 🔥 AT&T'
    >>> decode(encode("&amp;"))
    '&amp;'
    """
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _reference(match: re.Match[str]) -> str:
    character = match[0]
    return _NAMED.get(character) or f"&#x{ord(character):X};"


def _character(match: re.Match[str]) -> str:
    if match[3] is not None:
        return html5.get(match[3] + ";", match[0])
    code = int(match[1], 16) if match[1] is not None else int(match[2])
    # A half of a surrogate pair is no character, and no file could hold it.
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else match[0]
