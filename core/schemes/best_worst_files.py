"""Best–worst judgements read from a table, a row a judgement; tuples written as one to be filled in.

Columns are told by their names, in any case and whatever stands between their parts:

* **items**: item_1, item_2, … (Kiritchenko and Mohammad's Item1…Item4), or option1, option2, … ;
* **best**, **worst**: best and worst, or BestItem and WorstItem: the item named, else its place, 1 the first;
* **voter**: voter, annotator, worker, participant, … ; without one nothing can be told of other voters.

Items are compared as they stand, but for white space. Nothing is dropped silently: a row that isn't taken is an
`Issue`, and columns that aren't read are named. Rows with an empty best and worst, as in a file that is to be filled
in, are counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..csv_writing import csv_text
from ..errors import InputError, Issue
from ..platforms.reading import composed, why_lost
from ..tabular import CsvTable, Rows, decode_bytes, open_csv
from .best_worst import BestWorst
from .rating_columns import NAMES, place_of, plain_title

Ints = NDArray[np.int64]

_ITEM = re.compile(r"(?:item|option|choice|term|word)(\d{1,9})")
_ENDS = {"best": ("best", "bestitem", "most", "mostitem"), "worst": ("worst", "worstitem", "least", "leastitem")}


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


def is_best_worst(file: CsvTable) -> bool:
    """Whether a table's columns are those of best–worst judgements."""
    names = [plain_title(title) for title in file.header]
    return sum(bool(_ITEM.fullmatch(name)) for name in names) > 1 and all(
        any(name in known for name in names) for known in _ENDS.values()
    )


def read_best_worst(data: bytes, name: str) -> BestWorstSet:
    """Read best–worst judgements.

    Raises `InputError` for a file that is no table, lacks columns, or has no judgement that can be used, with its rows.

    >>> read = read_best_worst(b"Item1,Item2,Item3,BestItem,WorstItem,Annotator\\nsea,ship,tax,sea,tax,A\\n", "x.csv")
    >>> read.items, read.answers.best.tolist(), read.voters
    (('sea', 'ship', 'tax'), [0], ('A',))
    """
    file = open_csv(data, name)
    names = [plain_title(title) for title in file.header]
    numbered = {int(found[1]): at for at, title in enumerate(names) if (found := _ITEM.fullmatch(title))}
    at_items = [numbered[number] for number in sorted(numbered)]
    ends = {role: next((names.index(known) for known in of if known in names), None) for role, of in _ENDS.items()}
    at_voter = next((at for at, title in enumerate(names) if title in NAMES["voter"]), None)
    if len(at_items) < 2 or None in ends.values():
        raise InputError(
            f"{name} needs columns item_1, item_2, … and best and worst (or Item1, …, BestItem, WorstItem), and voter "
            f"where it is known. Its columns are {', '.join(filter(None, file.header))}."
        )
    taken = [*at_items, *(at for at in (*ends.values(), at_voter) if at is not None)]
    rows = file.read(taken, max(taken[: len(at_items) + 2]) + 1)
    unread = [title for at, title in enumerate(file.header) if title and at not in taken]
    notes = [f"Columns that aren't read: {', '.join(unread)}."] if unread else []
    return _collect(name, rows, len(at_items), at_voter is not None, notes)


def _collect(name: str, rows: Rows, size: int, has_voter: bool, notes: list[str]) -> BestWorstSet:
    places: dict[str, int] = {}
    voters: dict[str, int] = {}
    seen: dict[tuple[str, frozenset[str]], int] = {}
    judged: list[tuple[list[int], int, int, int]] = []
    issues = list(rows.issues)
    n_open = 0
    for row, *cells in zip(rows.numbers, *rows.columns, strict=True):
        texts = [" ".join(cell.split()) for cell in cells]
        shown, ends, who = texts[:size], texts[size : size + 2], composed(texts[-1]) if has_voter else ""
        if not any(ends):
            n_open += 1
            continue
        try:
            best, worst = _places(shown, ends)
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
    answers = BestWorst(shown_at, best_at, worst_at)
    return BestWorstSet(name, tuple(places), answers, tuple(voters), code_of, tuple(issues), tuple(notes))


def _places(shown: Sequence[str], ends: Sequence[str]) -> tuple[int, int]:
    if not all(shown):
        raise InputError("an item is empty")
    if len(set(shown)) < len(shown):
        raise InputError("an item stands twice")
    found = []
    for text, role in zip(ends, _ENDS, strict=True):
        if text in shown:
            found.append(shown.index(text))
        elif text.isdecimal() and len(text) < 10 and 1 <= int(text) <= len(shown):
            found.append(int(text) - 1)
        else:
            raise InputError(f"the {role} is none of the items" if text else f"the {role} is missing")
    if found[0] == found[1]:
        raise InputError("the same item is named best and worst")
    return found[0], found[1]


def read_items(data: bytes, name: str) -> list[str]:
    """The items to draw tuples of: one a line, or a table's pairs of tokens as “token_a – token_b”.

    Raises `InputError` for items that stand twice, naming their rows, and for fewer than two.

    >>> read_items(b"token_a,token_b\\nsea,ship\\ntax,law\\n", "items.csv"), read_items(b"sea\\nship\\n", "items.txt")
    (['sea – ship', 'tax – law'], ['sea', 'ship'])
    """
    file = open_csv(data, name)
    at = [place_of(file.header, role) for role in ("first", "second")]
    if None in at or at[0] == at[1]:
        lines = enumerate(decode_bytes(data, name).text.splitlines(), 1)
        texts = [(row, " ".join(line.split())) for row, line in lines]
    else:
        wanted = [place for place in at if place is not None]
        rows = file.read(wanted, max(wanted) + 1)
        pairs = zip(rows.numbers, *rows.columns, strict=True)
        texts = [(row, " – ".join(" ".join(part.split()) for part in pair)) for row, *pair in pairs]
    found: dict[str, int] = {}
    issues = []
    for row, text in texts:
        if text and text in found:
            issues.append(Issue(f"stands in row {found[text]} already", row=row, found=text))
        elif text:
            found[text] = row
    if issues:
        raise InputError(f"{name} has items more than once.", issues)
    if len(found) < 2:
        raise InputError(f"{name} has {len(found)} items, and tuples need two at least.")
    return list(found)


def write_tuples(items: Sequence[str], tuples: Ints) -> bytes:
    """Tuples (positions, (n, size)) as a CSV with empty columns best, worst and voter: a form to fill in."""
    header = ["tuple", *(f"item_{place}" for place in range(1, tuples.shape[1] + 1)), "best", "worst", "voter"]
    rows = ([number, *(items[at] for at in row), "", "", ""] for number, row in enumerate(tuples.tolist(), 1))
    return csv_text(header, rows).encode("utf-8")
