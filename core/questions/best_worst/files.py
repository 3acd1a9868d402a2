"""Best–worst judgements read from a table, a row per judgement; tuples written as one to be filled in.

Columns are told by their names, in any case and whatever stands between their parts:

* **items**: item_1, item_2, … (Kiritchenko and Mohammad's Item1…Item4), or option1, option2, … ;
* **best**, **worst**: best and worst, or BestItem and WorstItem: the item named, or its place, 1 the first. Where the
  items are numbers themselves a cell can mean both; the file's other cells decide, or somebody says (`named`);
* **voter**: voter, annotator, worker, participant, … ; without one nothing can be told of other voters.

Items are compared as they stand, but for white space. Nothing is dropped silently: a row that isn't taken is an
`Issue`, and columns that aren't read are named. Rows with an empty best and worst, as in a file that is to be filled
in, are counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ...errors import InputError, Issue
from ...tables import Ints
from ...tabular import SourceTable, Texts, is_workbook, open_table, read_lines, refuse_doubled, shown_header
from ...tabular.csv_writing import csv_text
from ...votes.reading import composed, why_lost
from ..rating.columns import NAMES, has_texts, place_among, place_of, plain_title
from .tuples import BestWorst

Named = Literal["items", "places"]  # what a cell of best and worst names
NAMED: tuple[Named, ...] = get_args(Named)

_ITEM = re.compile(r"(?:item|option|choice|term|word)(\d{1,9})")
_ENDS = {"best": ("best", "bestitem", "most", "mostitem"), "worst": ("worst", "worstitem", "least", "leastitem")}


class NamedError(InputError):
    """Best and worst can be items or places of items, and nobody has said which."""


@dataclass(frozen=True, eq=False)
class BestWorstSet:
    """Judgements as they were read: `items` (texts) are what positions in `answers` mean.

    voter : who gave each judgement, codes into `voters`; `voters` is empty where the file names none.
    issues : rows that weren't taken; notes : what else a reader should know.
    """

    name: str
    items: tuple[str, ...]
    answers: BestWorst
    voters: tuple[str, ...]
    voter: Ints
    issues: tuple[Issue, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def n_judgements(self) -> int:
        """Number of judgements."""
        return len(self.answers.shown)


def is_best_worst(header: Sequence[str]) -> bool:
    """Whether a table's columns are those of best–worst judgements."""
    names = [plain_title(title) for title in header]
    return sum(bool(_ITEM.fullmatch(name)) for name in names) > 1 and all(
        any(name in known for name in names) for known in _ENDS.values()
    )


def read_best_worst(data: bytes, name: str, *, named: Named | None = None, encoding: str | None = None) -> BestWorstSet:
    """Read best–worst judgements from a CSV, TSV or Excel file.

    `named` says what best and worst name, items or places; None takes what the file's cells say by themselves.
    Raises `InputError` for a file that is no table, lacks columns or has one twice, or has no judgement that can be
    used, with its rows; `NamedError` where cells can mean both and no other cell of the file decides.

    >>> read = read_best_worst(b"Item1,Item2,Item3,BestItem,WorstItem,Annotator\\nsea,ship,tax,sea,tax,A\\n", "x.csv")
    >>> read.items, read.answers.best.tolist(), read.voters
    (('sea', 'ship', 'tax'), [0], ('A',))
    """
    table = open_table(data, name, encoding=encoding, fits=(is_best_worst,))
    at_items = _item_places(table)
    at_ends = [_one_place(table, known) for known in _ENDS.values()]
    at_voter = place_among(table, NAMES["voter"])
    if len(at_items) < 2 or None in at_ends:
        raise InputError(
            f"{name} needs columns item_1, item_2, … and best and worst (or Item1, …, BestItem, WorstItem), and voter "
            f"where it is known. Its columns are {shown_header(table)}."
        )
    taken = [*at_items, *(at for at in (*at_ends, at_voter) if at is not None)]
    texts = table.texts(taken, max(taken[: len(at_items) + 2]) + 1)
    unread = [title for at, title in enumerate(table.header) if title and at not in taken]
    notes = [f"Columns that aren't read: {', '.join(unread)}."] if unread else []
    return _collect(name, texts, len(at_items), at_voter is not None, notes, named)


def _item_places(table: SourceTable) -> list[int]:
    """The columns of the items, by their numbers; two of one number, such as item_1 and option1, are refused."""
    numbers = {at: int(f[1]) for at, title in enumerate(table.header) if (f := _ITEM.fullmatch(plain_title(title)))}
    refuse_doubled(table, numbers, named=lambda title: f"item {int(_number_of(title))}")
    return sorted(numbers, key=lambda at: numbers[at])


def _number_of(title: str) -> str:
    found = _ITEM.fullmatch(plain_title(title))
    return found[1] if found else "0"


def _one_place(table: SourceTable, known: Sequence[str]) -> int | None:
    """The column that has one of those names; several of them, such as best and BestItem, are refused."""
    found = [at for at, title in enumerate(table.header) if plain_title(title) in known]
    refuse_doubled(table, found, named=lambda _: known[0])
    return found[0] if found else None


def _collect(name: str, read: Texts, size: int, has_voter: bool, notes: list[str], named: Named | None) -> BestWorstSet:
    places: dict[str, int] = {}
    voters: dict[str, int] = {}
    seen: dict[tuple[str, frozenset[str]], int] = {}
    judged: list[tuple[list[int], int, int, int]] = []
    issues = list(read.issues)
    tidy = [[" ".join(cell.split()) for cell in cells] for cells in zip(*read.lists, strict=True)]
    rows = zip(read.numbers.tolist(), tidy, strict=True)
    answers = [(row, texts[:size], texts[size : size + 2]) for row, texts in rows]
    if named is None:
        named, told = _named(name, answers)
        notes = [*notes, *told]
    n_open = 0
    for (row, shown, ends), texts in zip(answers, tidy, strict=True):
        who = composed(texts[-1]) if has_voter else ""
        if not any(ends):
            n_open += 1
            continue
        try:
            best, worst = _places(shown, ends, named)
            if has_voter and not who:
                raise InputError("says not who judged")
            if lost := why_lost(who):
                raise InputError(lost)
            key = (who, frozenset(shown))
            if has_voter and key in seen:
                raise InputError(f"{who} judged these items already, in row {seen[key]}, which counts")
        except InputError as error:
            issues.append(Issue(str(error).rstrip("."), row=row, found=", ".join([*shown, *ends])))
            continue
        seen[key] = row
        code = voters.setdefault(who, len(voters)) if has_voter else 0
        judged.append(([places.setdefault(text, len(places)) for text in shown], best, worst, code))
    if n_open:
        notes.append(f"Rows without an answer: {n_open:,}.")
    if not judged:
        raise InputError(f"{name} has no judgement that can be used.", issues)
    shown_at, best_at, worst_at, code_of = (np.array(column, dtype=np.int64) for column in zip(*judged, strict=True))
    choices = BestWorst(shown_at, best_at, worst_at)
    return BestWorstSet(name, tuple(places), choices, tuple(voters), code_of, tuple(issues), tuple(notes))


def _named(name: str, answers: Sequence[tuple[int, list[str], list[str]]]) -> tuple[Named | None, list[str]]:
    """What best and worst name where cells can mean both, with a note; None where each cell says it by itself.

    A cell that can be one only decides for the others. Raises `NamedError` where none does, or where some are items
    and others places.
    """
    both: tuple[int, list[str], str, str] | None = None
    only: dict[Named, tuple[int, str]] = {}
    for row, shown, ends in answers:
        for text, role in zip(ends, _ENDS, strict=True):
            place = _place(text, len(shown))
            if text in shown and place is not None:
                if shown.index(text) != place:
                    both = both or (row, shown, text, role)
            elif text in shown:
                only.setdefault("items", (row, text))
            elif place is not None:
                only.setdefault("places", (row, text))
    if both is None:
        return None, []
    if len(only) == 1:
        ((found, (row, text)),) = only.items()
        what = "no place" if found == "items" else "none of its items"
        return found, [f"Best and worst are read as {found}: row {row} names {text!r}, which is {what}."]
    row, shown, text, role = both
    raise NamedError(
        f"In {name} best and worst can be items or places: row {row} shows {', '.join(shown)}, and its {role} is "
        f"{text}, which stands at place {shown.index(text) + 1}, while place {text} holds {shown[int(text) - 1]}. Say "
        "whether they are items or places."
    )


def _place(text: str, n_shown: int) -> int | None:
    """The position, from 0, of a place from 1 to `n_shown`; None where a text is none."""
    is_place = text.isdecimal() and len(text) < 10 and 1 <= int(text) <= n_shown
    return int(text) - 1 if is_place else None


def _places(shown: Sequence[str], ends: Sequence[str], named: Named | None) -> tuple[int, int]:
    if not all(shown):
        raise InputError("an item is empty")
    if len(set(shown)) < len(shown):
        raise InputError("an item stands twice")
    found = []
    for text, role in zip(ends, _ENDS, strict=True):
        if not text:
            raise InputError(f"the {role} is missing")
        place = _place(text, len(shown))
        if named != "places" and text in shown:
            found.append(shown.index(text))
        elif named != "items" and place is not None:
            found.append(place)
        elif named == "places":
            raise InputError(f"the {role} is no place from 1 to {len(shown)}")
        else:
            raise InputError(f"the {role} is none of the items")
    if found[0] == found[1]:
        raise InputError("the same item is named best and worst")
    return found[0], found[1]


@dataclass(frozen=True)
class ItemList:
    """Items to draw tuples of, in the file's order, and what else a reader should know."""

    items: tuple[str, ...]
    notes: tuple[str, ...] = ()


def read_items(data: bytes, name: str, *, encoding: str | None = None) -> ItemList:
    """The items to draw tuples of: one per line, or a table's pairs of tokens as “token_a – token_b”.

    Raises `InputError` for items that stand twice, naming their rows, and for fewer than two.

    >>> read_items(b"token_a,token_b\\nsea,ship\\ntax,law\\n", "items.csv").items
    ('sea – ship', 'tax – law')
    >>> read_items(b"sea\\nrock, paper\\n", "items.txt").items
    ('sea', 'rock, paper')
    """
    rows, notes = _item_rows(data, name, encoding)
    found: dict[str, int] = {}
    issues = []
    for row, text in rows:
        if text and text in found:
            issues.append(Issue(f"stands in row {found[text]} already", row=row, found=text))
        elif text:
            found[text] = row
    if issues:
        raise InputError(f"{name} has items more than once.", issues)
    if len(found) < 2:
        raise InputError(f"{name} has {len(found)} items, and tuples need two at least.")
    return ItemList(tuple(found), notes)


def _item_rows(data: bytes, name: str, encoding: str | None) -> tuple[list[tuple[int, str]], tuple[str, ...]]:
    """Row and text of each item, and notes: of a table with two columns of tokens, else of the lines."""
    table = _item_table(data, name, encoding)
    if table is None:
        lines = read_lines(data, name, encoding=encoding)
        items = [" ".join(text.split()) for text in lines.texts]
        return list(zip(lines.numbers, items, strict=True)), tuple(map(str, lines.notes))
    wanted = [at for role in ("first", "second") if (at := place_of(table, role)) is not None]
    if len(wanted) < 2:
        raise InputError(
            f"{name} needs two columns with the tokens of an item, such as token_a and token_b; its columns are "
            f"{shown_header(table)}. A list of one item a line is read from a text file."
        )
    texts = table.texts(wanted, max(wanted) + 1)
    if texts.unread:
        raise InputError(f"{name} has rows that can't be read.", texts.unread)
    pairs = zip(texts.numbers.tolist(), *texts.lists, strict=True)
    rows = [(row, " – ".join(" ".join(part.split()) for part in pair)) for row, *pair in pairs]
    return rows, tuple(map(str, texts.remarks))


def _item_table(data: bytes, name: str, encoding: str | None) -> SourceTable | None:
    """The table of a workbook, or of a text whose columns name tokens; None for a text that is a list of lines."""
    if is_workbook(data):
        return open_table(data, name, fits=(has_texts,))
    try:
        table = open_table(data, name, encoding=encoding)
    except InputError:  # no table: what else it may be, the reader of lines says
        return None
    return table if has_texts(table.header) else None


def write_tuples(items: Sequence[str], tuples: Ints) -> bytes:
    """Tuples (positions, (n, size)) as a CSV with empty columns best, worst and voter: a form to fill in."""
    header = ["tuple", *(f"item_{place}" for place in range(1, tuples.shape[1] + 1)), "best", "worst", "voter"]
    rows = ([number, *(items[at] for at in row), "", "", ""] for number, row in enumerate(tuples.tolist(), 1))
    return csv_text(header, rows).encode("utf-8")
