"""Items made by writing: of a larger text people write a smaller one that should get a wanted rating.

So ratings cover their scale evenly. Wanted are 1 to 4, each equally often in a genre; pairs for 0 aren't written but
drawn: a larger text with a smaller one of the same genre (and level) from a pool. What was written then goes to raters
in a random order and without what was wanted, since their ratings decide.

Texts are tables: `text`, optional `genre` and `level`. The form has larger, smaller, genre, level, wanted, meaning.

Reference: Jurgens, Pilehvar, Navigli (2016), Cross Level Semantic Similarity, section 4.2, phase 1.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, Issue
from ..platforms.csvfiles import open_csv
from .scales import CLSS, RatingScale

Ints = NDArray[np.int64]
FORM = ("larger", "smaller", "genre", "level", "wanted", "meaning")


@dataclass(frozen=True)
class Text:
    """A text with its genre and level, "" where the table has none."""

    text: str
    genre: str = ""
    level: str = ""

    @property
    def kind(self) -> tuple[str, str]:
        """Genre and level: only texts of one kind are paired."""
        return self.genre, self.level


def read_texts(data: bytes, name: str) -> list[Text]:
    """Texts of a table. Raises `InputError` without a column text, for a text that stands twice, and for none."""
    columns, numbers = _columns(data, name, ("text",), ("genre", "level"))
    found: dict[Text, int] = {}
    issues = []
    for row, text, genre, level in zip(numbers, *columns, strict=True):
        one = Text(text, genre, level)
        if text and one in found:
            issues.append(Issue(f"stands in row {found[one]} already", row=row, found=text))
        elif text:
            found[one] = row
    if issues:
        raise InputError(f"{name} has texts more than once.", issues)
    if not found:
        raise InputError(f"{name} has no text.")
    return list(found)


def _columns(
    data: bytes, name: str, needed: Sequence[str], optional: Sequence[str]
) -> tuple[list[list[str]], list[int]]:
    """The named columns, white space tidied, and the rows' numbers; optional ones are empty where they are missing."""
    file = open_csv(data, name)
    titles = [title.casefold().strip() for title in file.header]
    missing = [title for title in needed if title not in titles]
    if missing:
        raise InputError(f"{name} lacks {', '.join(missing)}. Its columns are {', '.join(filter(None, file.header))}.")
    at = {title: titles.index(title) for title in (*needed, *optional) if title in titles}
    rows = file.read(list(at.values()), max(at[title] for title in needed) + 1)
    if rows.unread:
        raise InputError(f"{name} has rows that can't be read.", rows.unread)
    tidy = {title: [" ".join(cell.split()) for cell in column] for title, column in zip(at, rows.columns, strict=True)}
    empty = [""] * len(rows.numbers)
    return [tidy.get(title, empty) for title in (*needed, *optional)], rows.numbers


def wanted_ratings(kinds: Sequence[object], values: Sequence[float], *, rng: np.random.Generator) -> list[float]:
    """A value for each text, within each kind every one equally often, within one; which text gets which is drawn.

    >>> found = wanted_ratings(["news"] * 8, [1, 2, 3, 4], rng=np.random.default_rng(1))
    >>> sorted(found)
    [1, 1, 2, 2, 3, 3, 4, 4]
    """
    if not values:
        raise InputError("There must be a rating to want.")
    result: list[float] = [0.0] * len(kinds)
    for kind in dict.fromkeys(kinds):
        places = [at for at, other in enumerate(kinds) if other == kind]
        order = rng.permutation(len(places))
        turn = rng.permutation(len(values))
        for number, place in enumerate(order.tolist()):
            result[places[place]] = values[int(turn[number % len(values)])]
    return result


def pair_at_random(larger: Sequence[object], pool: Sequence[object], *, rng: np.random.Generator) -> Ints:
    """For the kind of each larger text a position in the pool of the same kind, −1 where there is none.

    Nothing of the pool is taken twice before all of its kind were.
    """
    result = np.full(len(larger), -1, dtype=np.int64)
    for kind in dict.fromkeys(larger):
        mine = [at for at, other in enumerate(larger) if other == kind]
        there = np.array([at for at, other in enumerate(pool) if other == kind], dtype=np.int64)
        if len(there):
            rounds = -(-len(mine) // len(there))
            result[mine] = np.concatenate([rng.permutation(there) for _ in range(rounds)])[: len(mine)]
    return result


def writing_form(
    texts: Sequence[Text], pool: Sequence[Text] = (), *, rng: np.random.Generator, scale: RatingScale = CLSS
) -> bytes:
    """A CSV to be filled in: each larger text with a wanted rating and its meaning, in random order.

    With a `pool` of smaller texts 0 is wanted as often as each other rating, and those pairs are complete; where the
    pool has no text of the kind, or there is no pool, only what must be written is wanted.
    """
    kinds = [text.kind for text in texts]
    fillable = {text.kind for text in pool}
    written = [anchor.value for anchor in scale.anchors if anchor.value > scale.low]
    wanted = np.zeros(len(texts))
    for values, places in (
        ([scale.low, *written], [at for at, kind in enumerate(kinds) if kind in fillable]),
        (written, [at for at, kind in enumerate(kinds) if kind not in fillable]),
    ):
        wanted[places] = wanted_ratings([kinds[at] for at in places], values, rng=rng)
    zeros = np.flatnonzero(wanted == scale.low).tolist()
    drawn = pair_at_random([kinds[at] for at in zeros], [text.kind for text in pool], rng=rng)
    smaller = {at: pool[place].text for at, place in zip(zeros, drawn.tolist(), strict=True)}
    rows = [
        (text.text, smaller.get(at, ""), text.genre, text.level, f"{wanted[at]:g}", scale.describe(float(wanted[at])))
        for at, text in enumerate(texts)
    ]
    return _csv(FORM, [rows[at] for at in rng.permutation(len(rows)).tolist()])


def items_to_rate(data: bytes, name: str, *, rng: np.random.Generator) -> tuple[bytes, int]:
    """The pairs of a form that came back, without what was wanted, in random order; and how many were left blank.

    Raises `InputError` for a table that isn't the form, a pair that stands twice, and where all were left blank.
    """
    columns, numbers = _columns(data, name, ("larger", "smaller"), ("genre", "level"))
    found: dict[tuple[str, ...], int] = {}
    issues, blank = [], 0
    for row, *cells in zip(numbers, *columns, strict=True):
        key = tuple(cells)
        if not cells[0] or not cells[1]:
            blank += 1
        elif key in found:
            issues.append(Issue(f"this pair stands in row {found[key]} already", row=row, found=cells[1]))
        else:
            found[key] = row
    if issues:
        raise InputError(f"{name} has pairs more than once.", issues)
    if not found:
        raise InputError(f"{name} has no pair of texts: all were left blank.")
    rows = list(found)
    return _csv(("text_a", "text_b", "genre", "level"), [rows[at] for at in rng.permutation(len(rows)).tolist()]), blank


def _csv(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().encode("utf-8")
