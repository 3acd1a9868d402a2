"""Token lists: tokens and semantic areas, and what rows of texts must be like to become them.

A token is kept as it was written, in Unicode normal form C and without white space at its ends; case,
digits, quotes and words such as `NA` or `null` stay text. What was changed or left out is reported.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
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
    files, so no token may."""
    return any(unicodedata.category(character) == "Cc" for character in text)


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
