"""Which columns of a table hold the areas and the tokens: found by their names, guessed, or chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import InputError
from ..tabular import Table, same_name

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
    Where several columns have the name of the tokens or of the areas, they are its `twins`, neither is guessed, and a
    person has to choose: `token` is None then.
    """

    token: int | None
    area: int | None
    is_certain: bool
    token_twins: tuple[int, ...] = ()
    area_twins: tuple[int, ...] = ()


def guess_columns(header: Sequence[str], sample: Sequence[Sequence[str]]) -> Guess:
    """Which columns hold the tokens and the areas, by the header's names, else by what a sample of rows holds.

    Tokens: the column with the most distinct texts. Areas: of the others the one with the fewest, if they repeat.
    Columns of numbers only are neither; ties go to the left. Raises `InputError` for a header without columns.

    >>> guess_columns(["id", "what", "where"], [["1", "ship", "sea"], ["2", "boat", "sea"], ["3", "car", "road"]])
    Guess(token=1, area=2, is_certain=False, token_twins=(), area_twins=())
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
    tokens, areas = _twins(names, token), _twins(names, area)
    if token is None:
        candidates = [at for at in texts if at != area] or [at for at in range(len(names)) if at != area]
        token = max(candidates, key=lambda at: (len(set(columns[at])), -at))
    if area is None:
        repeated = [at for at in texts if at != token and len(set(columns[at])) < len(columns[at])]
        area = min(repeated, key=lambda at: (len(set(columns[at])), at), default=None)
    is_certain = is_certain and not tokens and not areas
    return Guess(None if tokens else token, None if areas else area, is_certain, tokens, areas)


def _twins(names: Sequence[str], place: int | None) -> tuple[int, ...]:
    """The positions of the columns that have the name of this one, where there are others."""
    found = [] if place is None else [at for at, name in enumerate(names) if name == names[place]]
    return tuple(found) if len(found) > 1 else ()


def position(table: Table, column: Column) -> int:
    """The position of a column given by its name (any case) or position; raises `InputError` where there is none, and
    where several have the name."""
    if isinstance(column, int):
        if 0 <= column < len(table.header):
            return column
        raise InputError(f"{table.name} has no column {column}: it has {len(table.header)}, counted from 0.")
    for written in (same_name, _plain):
        if found := [at for at, name in enumerate(table.header) if written(name) == written(column)]:
            return only(table, found)
    raise InputError(
        f"{table.name} has no column {column!r}. Its columns are {', '.join(map(repr, table.header[:8]))}."
    )


def only(table: Table, found: Sequence[int]) -> int:
    """The only one of these columns, which have one name; raises `InputError` that names them where there are more."""
    if len(found) > 1:
        names = " and ".join(f"{table.header[at]!r} (column {at + 1})" for at in found)
        raise InputError(
            f"{table.name} has several columns of one name: {names}. Choose one of them by its place, or give each a "
            "name of its own."
        )
    return found[0]


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
