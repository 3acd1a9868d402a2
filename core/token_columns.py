"""Which columns of a table hold the areas and the tokens: found by their names, guessed, or chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .errors import InputError

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
class Guess:
    """Positions of the columns that seem to hold the tokens and the areas (None: there is none, so one area).

    `is_certain` where the header names both, or there is but one column; otherwise a person should look at it.
    """

    token: int
    area: int | None
    is_certain: bool


def guess_columns(header: Sequence[str], sample: Sequence[Sequence[str]]) -> Guess:
    """Which columns hold the tokens and the areas, by the header's names, else by what a sample of rows holds.

    Tokens: the column with the most distinct texts. Areas: of the others the one with the fewest, if they repeat.
    Columns of numbers only are neither; ties go to the left. Raises `InputError` for a header without columns.

    >>> guess_columns(["id", "what", "where"], [["1", "ship", "sea"], ["2", "boat", "sea"], ["3", "car", "road"]])
    Guess(token=1, area=2, is_certain=False)
    """
    names = [_plain(name) for name in header]
    if not names:
        raise InputError("The table has no columns.")
    if len(names) == 1:
        return Guess(0, None, True)
    columns = [[row[at].strip() for row in sample if at < len(row) and row[at].strip()] for at in range(len(names))]
    texts = [at for at, values in enumerate(columns) if values and not all(map(_is_number, values))]
    token, area = _named(names, TOKEN_NAMES), _named(names, AREA_NAMES)
    is_certain = "token" in names and "area" in names
    if token is None:
        candidates = [at for at in texts if at != area] or [at for at in range(len(names)) if at != area]
        token = max(candidates, key=lambda at: (len(set(columns[at])), -at))
    if area is None:
        repeated = [at for at in texts if at != token and len(set(columns[at])) < len(columns[at])]
        area = min(repeated, key=lambda at: (len(set(columns[at])), at), default=None)
    return Guess(token, area, is_certain)


def position(header: Sequence[str], column: Column, source: str) -> int:
    """The position of a column given by its name (any case) or position; raises `InputError` where there is none."""
    if isinstance(column, int):
        if 0 <= column < len(header):
            return column
        raise InputError(f"{source} has no column {column}: it has {len(header)}, counted from 0.")
    for names, wanted in ((list(header), column), ([_plain(name) for name in header], _plain(column))):
        if wanted in names:
            return names.index(wanted)
    raise InputError(f"{source} has no column {column!r}. Its columns are {', '.join(map(repr, header[:8]))}.")


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").split()).lower()


def _named(names: Sequence[str], known: Sequence[str]) -> int | None:
    return next((names.index(name) for name in known if name in names), None)


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    # float() takes "nan" and "infinity" too, which are words.
    return any(character.isdigit() for character in text)
