"""Tokens and semantic areas: how texts become token lists.

A token is kept as it was written, in Unicode normal form C and without white space at its ends; case,
digits, quotes and words such as `NA` or `null` stay text. What was changed or left out is reported.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from .errors import InputError, Issue
from .platforms.csvfiles import open_csv

MAX_TOKEN_LENGTH = 200
# Characters that print nothing and make two equal-looking tokens differ. Joiners (U+200C, U+200D) belong
# to the spelling of some scripts, so they are reported and kept.
_INVISIBLE = {"Cf", "Zl", "Zp"}
# Tabs, line breaks and control characters end a field or a line in most files: no token holds one.
_BREAKS = {"Cc"}


@dataclass(frozen=True)
class AreaTokens:
    """A semantic area: its name and its tokens in order."""

    name: str
    tokens: tuple[str, ...]

    @property
    def n_items(self) -> int:
        return len(self.tokens) * (len(self.tokens) - 1) // 2


@dataclass(frozen=True)
class TokenLists:
    """Areas read from somewhere, with what a person should know about the reading."""

    areas: tuple[AreaTokens, ...]
    notes: tuple[Issue, ...] = field(default=())


def clean_token(text: str) -> str:
    """The token as it is stored: normal form C, without white space at the ends.

    >>> clean_token("  cafe\\u0301 ")
    'café'
    """
    return unicodedata.normalize("NFC", text).strip()


def invisible_characters(token: str) -> list[str]:
    """The names of the characters in a token that a reader can't see, such as ZERO WIDTH SPACE.

    >>> invisible_characters("so\\u200bft")
    ['ZERO WIDTH SPACE']
    """
    return [
        unicodedata.name(character, f"U+{ord(character):04X}")
        for character in token
        if unicodedata.category(character) in _INVISIBLE
    ]


def read_pasted(name: str, text: str) -> TokenLists:
    """One area from a text box: one token a line.

    Empty lines are passed over; a token given twice is kept once and reported.

    Raises `InputError` if there are no tokens, or one holds a tab or another control character.
    """
    rows = ((number, name, line) for number, line in enumerate(text.splitlines(), start=1))
    return _collect(rows, source="the text")


def read_areas_file(data: bytes, filename: str) -> TokenLists:
    """Areas from a CSV or TSV with the columns `area` and `token` (any case, any order).

    A table of one column, or a plain list, is one area named after the file.

    Raises `InputError` if there are no such columns or no usable area.
    """
    table = open_csv(data, filename)
    header = [column.strip().lower() for column in table.header]
    if "token" in header and "area" in header:
        rows = table.read([header.index("area"), header.index("token")], len(header))
        lists = _collect(zip(rows.numbers, *rows.columns, strict=True), source=filename)
        return TokenLists(lists.areas, (*table.decoded.notes, *rows.issues, *lists.notes))
    if len(header) == 1:
        stem = filename.rsplit("/", 1)[-1].rsplit(".", 1)[0] or "Area"
        rows = table.read([0], 1)
        first = [] if header == ["token"] else [(1, stem, table.header[0])]
        rest = [(number, stem, token) for number, token in zip(rows.numbers, rows.columns[0], strict=True)]
        lists = _collect([*first, *rest], source=filename)
        return TokenLists(lists.areas, (*table.decoded.notes, *rows.issues, *lists.notes))
    raise InputError(
        f"{filename} has no columns named area and token. "
        f"Its columns are {', '.join(map(repr, table.header[:8]))}; name two of them area and token."
    )


def _collect(rows: Iterable[tuple[int, str, str]], *, source: str) -> TokenLists:
    areas: dict[str, dict[str, None]] = {}
    notes: list[Issue] = []
    broken: list[Issue] = []
    for number, raw_area, raw_token in rows:
        area, token = clean_token(raw_area), clean_token(raw_token)
        if not token:
            continue
        if any(unicodedata.category(character) in _BREAKS for character in token + area):
            broken.append(Issue("holds a tab, a line break or another control character", row=number, found=token))
            continue
        if not area:
            notes.append(Issue("token has no area and was left out", row=number, found=token))
            continue
        if len(token) > MAX_TOKEN_LENGTH:
            notes.append(Issue(f"token is longer than {MAX_TOKEN_LENGTH} characters and was left out", row=number))
            continue
        if token in areas.setdefault(area, {}):
            notes.append(Issue(f"token is in {area} already and was kept once", row=number, found=token))
            continue
        hidden = invisible_characters(token)
        if hidden:
            notes.append(
                Issue(f"token holds characters that can't be seen: {', '.join(hidden)}", row=number, found=token)
            )
        areas[area][token] = None
    if broken:
        raise InputError(f"Nothing was taken from {source}: give one token a line, without tabs.", broken)
    if not areas:
        raise InputError(f"There are no tokens in {source}. Give one token a line.", notes)
    return TokenLists(tuple(AreaTokens(name, tuple(tokens)) for name, tokens in areas.items()), tuple(notes))
