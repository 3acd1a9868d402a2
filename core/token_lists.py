"""Token lists: tokens and semantic areas, and what rows of texts must be like to become them.

A token is kept as it was written, in Unicode normal form C and without white space at its ends; case,
digits, quotes and words such as `NA` or `null` stay text. What was changed or left out is reported.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .errors import InputError, Issue

MAX_TOKEN_LENGTH = 200
# Characters that print nothing and make two equal-looking tokens differ. Joiners (U+200C, U+200D) belong
# to the spelling of some scripts, so they are reported and kept.
_INVISIBLE = {"Cf", "Zl", "Zp"}


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


def holds_breaks(text: str) -> bool:
    """Whether a text holds a tab, a line break or another control character: they end a field or a line in most
    files, so no token may. Nor half a character (a lone surrogate), which no file can hold."""
    return any(unicodedata.category(character) in ("Cc", "Cs") for character in text)


def checked(rows: Sequence[tuple[str, str]]) -> tuple[AreaTokens, ...]:
    """Areas from the rows (area, token) of a table that a person edits; blank rows are passed over.

    Raises `InputError` with every row, counted from 1, that can't be saved: without an area or a token, with a token
    that its area has already, with a control character, or too long; and if no token is left.

    >>> checked([("sea", " ship"), ("", ""), ("sea", "boat")])
    (AreaTokens(name='sea', tokens=('ship', 'boat')),)
    """
    areas: dict[str, dict[str, int]] = {}
    issues: list[Issue] = []
    for number, (raw_area, raw_token) in enumerate(rows, start=1):
        area, token = clean_token(raw_area), clean_token(raw_token)
        if not area and not token:
            continue
        before = areas.get(area, {}).get(token)
        if not area or not token:
            issues.append(Issue(f"the row has no {'token' if area else 'area'}", row=number, found=area or token))
        elif holds_breaks(token + area):
            issues.append(Issue("holds a tab, a line break or another control character", row=number, found=token))
        elif max(len(token), len(area)) > MAX_TOKEN_LENGTH:
            issues.append(Issue(f"is longer than {MAX_TOKEN_LENGTH} characters", row=number))
        elif before is not None:
            issues.append(Issue(f"{area} has this token in row {before} already", row=number, found=token))
        else:
            areas.setdefault(area, {})[token] = number
    if issues:
        raise InputError("These rows can't be saved.", issues)
    if not areas:
        raise InputError("There is no token left. To do without an area, delete it.")
    return tuple(AreaTokens(name, tuple(tokens)) for name, tokens in areas.items())


def collect(rows: Iterable[tuple[int, str, str]], *, source: str) -> TokenLists:
    """Areas from rows of (row number, area, token) as they were written; `source` names them in messages.

    Raises `InputError` if a token or area holds control characters, or no token is left.
    """
    areas: dict[str, dict[str, None]] = {}
    notes: list[Issue] = []
    broken: list[Issue] = []
    for number, raw_area, raw_token in rows:
        area, token = clean_token(raw_area), clean_token(raw_token)
        if not token:
            continue
        if holds_breaks(token + area):
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
