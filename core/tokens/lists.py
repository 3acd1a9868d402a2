"""Token lists: tokens and semantic areas, what rows of texts must be like to become them, and which columns hold them.

A token is kept as it was written, in Unicode normal form C and without white space at its ends; case, digits, quotes
and words such as `NA` or `null` stay text. What was changed or left out is reported.

The columns of a table that hold the areas and the tokens are found by their names, guessed, or chosen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..base.numbers_in_words import plural
from ..errors import InputError, Issue
from ..tabular import bare_name, positions

Column = str | int
TOKEN_NAMES = ("token", "tokens", "word", "words", "term", "terms", "expression", "concept", "keyword", "label", "name")
AREA_NAMES = (
    "area",
    "areas",
    "semantic area",
    "category",
    "domain",
    "field",
    "topic",
    "group",
    "class",
    "list",
    "theme",
)


@dataclass(frozen=True)
class GuessedColumns:
    """Positions of the columns that seem to hold the tokens and the areas (None: there is none, so one area).

    `is_certain` where the header names both, or there is but one column; otherwise a person should look at it.
    Where several columns have the name of the tokens or of the areas, they are `token_twins` or `area_twins`, neither
    is guessed, and a person has to choose: `token` is None then.
    """

    token: int | None
    area: int | None
    is_certain: bool
    token_twins: tuple[int, ...] = ()
    area_twins: tuple[int, ...] = ()


def guess_columns(header: Sequence[str], sample: Sequence[Sequence[str]]) -> GuessedColumns:
    """Which columns hold the tokens and the areas, by the header's names, else by what a sample of rows holds.

    Tokens: the column with the most distinct texts. Areas: of the others the one with the fewest, if they repeat.
    Columns of numbers only are neither; ties go to the left. Raises `InputError` for a header without columns.

    >>> guess_columns(["id", "what", "where"], [["1", "ship", "sea"], ["2", "boat", "sea"], ["3", "car", "road"]])
    GuessedColumns(token=1, area=2, is_certain=False, token_twins=(), area_twins=())
    """
    names = list(map(bare_name, header))
    if not names:
        raise InputError("The table has no columns.")
    if len(names) == 1:
        return GuessedColumns(0, None, True)
    columns = [[row[at].strip() for row in sample if at < len(row) and row[at].strip()] for at in range(len(names))]
    texts = [at for at, values in enumerate(columns) if values and not all(map(_is_number, values))]
    tokens, areas = positions(header, TOKEN_NAMES), positions(header, AREA_NAMES)
    token, area = (places[0] if places else None for places in (tokens, areas))
    token_twins, area_twins = (places if len(places) > 1 else () for places in (tokens, areas))
    if token is None:
        candidates = [at for at in texts if at != area] or [at for at in range(len(names)) if at != area]
        token = max(candidates, key=lambda at: (len(set(columns[at])), -at))
    if area is None:
        repeated = [at for at in texts if at != token and len(set(columns[at])) < len(columns[at])]
        area = min(repeated, key=lambda at: (len(set(columns[at])), at), default=None)
    is_certain = "token" in names and "area" in names and not token_twins and not area_twins
    return GuessedColumns(
        None if token_twins else token, None if area_twins else area, is_certain, token_twins, area_twins
    )


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    # float() takes "nan" and "infinity" too, which are words.
    return any(character.isdigit() for character in text)


MAX_TOKEN_LENGTH = 200
_NO_ROW = 1 << 60  # after all that have one
# Characters that print nothing and make two equal-looking tokens differ. Joiners (U+200C, U+200D) belong
# to the spelling of some scripts, so they are reported and kept.
_INVISIBLE = {"Cf", "Zl", "Zp"}
_BREAKS = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\ud800-\\udfff]")  # control characters and half ones (Cc, Cs)
_MONTH = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
# What spreadsheets save in place of texts that they take for dates, times, numbers, truth values or formulas.
_MADE_BY_SPREADSHEETS = re.compile(
    rf"\d{{1,2}}-(?:{_MONTH})(?:-\d{{2,4}})?|(?:{_MONTH})-\d{{2}}|\d{{4}}-\d{{2}}-\d{{2}}(?: 00:00:00)?|"
    r"\d{1,2}/\d{1,2}/\d{2,4}|\d(?:\.\d+)?E\+\d{2,}|TRUE|FALSE|#(?:N/A|NAME\?|REF!|VALUE!|DIV/0!|NUM!|NULL!)"
)


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


# What stands between several words of a list on one line: a comma before a space or between letters (not 1,000 or
# 2,4-D), or a semicolon.
_BETWEEN = re.compile(r"\s*;\s*|\s*,\s+|(?<=[^\W\d]),(?=[^\W\d])")


def split_tokens(text: str) -> list[str]:
    """What a line says if it lists several tokens; itself alone where it doesn't look like that.

    >>> split_tokens("salt, pepper"), split_tokens("2,4-D"), split_tokens("rock;")
    (['salt', 'pepper'], ['2,4-D'], ['rock;'])
    """
    parts = [part.strip() for part in _BETWEEN.split(text) if part.strip()]
    return parts if len(parts) > 1 else [text]


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
    return _BREAKS.search(text) is not None


def is_several(token: str) -> bool:
    """Whether a token looks like a list of several."""
    return len(split_tokens(token)) > 1


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


def collect(
    rows: Iterable[tuple[int, str, str]], *, source: str, told: Collection[int | None] = (), split: bool | None = None
) -> TokenLists:
    """Areas from rows of (row number, area, token) as they were written; `source` names them in messages.

    What was left out is noted with its row, and so is what a person should look at: areas of one name, and tokens of an
    area, that differ in case or spaces only (nothing is merged), and what a spreadsheet seems to have made of a text.
    Areas of one token, which make no item, are left out if there are others. `told` are rows that something was said
    of already: nothing is added on a blank or a date in them. `split` makes several tokens of one that lists them
    (`split_tokens`), or (False) leaves it; None leaves it too, and notes it.
    Raises `InputError` if a token or area holds control characters, or no token is left.
    """
    areas: dict[str, dict[str, int]] = {}
    first: dict[str, int] = {}
    notes: list[Issue] = []
    broken: list[Issue] = []
    if split:
        rows = [(number, area, part) for number, area, text in rows for part in split_tokens(text)]
    for number, raw_area, raw_token in rows:
        area, token = clean_token(raw_area), clean_token(raw_token)
        if fault := next((text for text in (token, area) if holds_breaks(text)), ""):
            broken.append(Issue("holds a tab, a line break or another control character", row=number, found=fault))
        elif not token:
            if number not in told:
                notes.append(Issue("the row has no token and was left out", row=number, found=area or None))
        elif not area:
            notes.append(Issue("token has no area and was left out", row=number, found=token))
        elif max(len(token), len(area)) > MAX_TOKEN_LENGTH:
            what = "token" if len(token) > MAX_TOKEN_LENGTH else "area"
            notes.append(Issue(f"{what} is longer than {MAX_TOKEN_LENGTH} characters and was left out", row=number))
        elif (before := areas.setdefault(area, {}).get(token)) is not None:
            notes.append(Issue(f"token is in {area} already (row {before}) and was kept once", row=number, found=token))
        else:
            areas[area][token] = number
            notes += _looked_at(token, number, number in told)
            first.setdefault(area, number)
    numbered = [(number, token) for tokens in areas.values() for token, number in tokens.items()]
    lists = [row for row in numbered if is_several(row[1])]
    if lists and split is None:
        one = "{n} token holds a comma or a semicolon, and is one token; split it if it is meant as several"
        more = "{n} tokens hold commas or semicolons, and each is one token; split them if they are meant as several"
        notes.append(Issue(plural(len(lists), one, more), row=lists[0][0], found=lists[0][1]))
    joined = [row for row in numbered if "_" in row[1].strip("_")]
    if joined:
        one = "{n} token holds “_”, which voters will read; write a space instead: embeddings are searched for both"
        more = "{n} tokens hold “_”, which voters will read; write spaces instead: embeddings are searched for both"
        notes.append(Issue(plural(len(joined), one, more), row=joined[0][0], found=joined[0][1]))
    if broken:
        raise InputError(
            f"Nothing was taken from {source}: no token or area may hold a tab or a line break. "
            "Take them out of these rows.",
            broken,
        )
    for area, number in first.items():
        # An area alone is mostly named after the file.
        notes += _looked_at(area, number, number in told or len(first) == 1, "area")
    notes += _alike(first, "the area's name", "they are two areas. If they are meant to be one, write both alike")
    for area, tokens in areas.items():
        notes += _alike(tokens, f"token of {area}", "both were kept. If they are one token, leave one out")
    if not any(areas.values()):
        raise InputError(f"There are no tokens in {source}. Give one token per line.", notes)
    return TokenLists(*_large_enough(areas, notes))


def _looked_at(text: str, number: int, told: bool, what: str = "token") -> Iterator[Issue]:
    """What a person should know about one text that was taken."""
    if hidden := invisible_characters(text):
        names = ", ".join(hidden)
        yield Issue(f"{what} holds characters that can't be seen: {names}", row=number, found=text)
    if not told and _MADE_BY_SPREADSHEETS.fullmatch(text):
        yield Issue(
            f"{what} looks like what a spreadsheet makes of a text (1-2 becomes 02-Jan); if so, format the column as "
            "text and type it again",
            row=number,
            found=text,
        )


def alike(texts: Iterable[str]) -> list[tuple[str, ...]]:
    """The groups of texts that differ in case or spaces only.

    >>> alike(["Birds", "sea", "birds", "b irds"])
    [('Birds', 'birds', 'b irds')]
    """
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault("".join(text.casefold().split()), []).append(text)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def _alike(rows: Mapping[str, int], what: str, then: str) -> Iterator[Issue]:
    """A note on each text, with its row, that differs from an earlier one in case or spaces only."""
    for twin, *others in alike(rows):
        for text in others:
            message = f"{what} differs from {twin!r} (row {rows[twin]}) in case or spaces only; {then}"
            yield Issue(message, row=rows[text], found=text)


def _large_enough(
    areas: Mapping[str, Mapping[str, int]], notes: Sequence[Issue]
) -> tuple[tuple[AreaTokens, ...], tuple[Issue, ...]]:
    """The areas that make items, all of them if none does, so that saving them says why; and the notes with those on
    areas of one token or two."""
    read = [AreaTokens(name, tuple(tokens)) for name, tokens in areas.items() if tokens]
    several = [area for area in read if len(area.tokens) > 1]
    alone = [
        Issue(
            f"the area {area.name} has this token only and was left out: it makes no item. Add a second token to it",
            row=areas[area.name][area.tokens[0]],
            found=area.tokens[0],
        )
        for area in read
        if len(area.tokens) == 1 and several
    ]
    pairs = [area.name for area in several if len(area.tokens) == 2]
    if pairs:
        named = ", ".join(pairs[:5]) + (", …" if len(pairs) > 5 else "")
        message = plural(
            len(pairs),
            "the area {named} has two tokens, which is one item; add tokens to it if there should be more",
            "{n} areas have two tokens, which is one item each; add tokens if there should be more: {named}",
            named=named,
        )
        alone.append(Issue(message))
    return tuple(several or read), tuple(sorted([*notes, *alone], key=lambda note: note.row or _NO_ROW))
