"""Rating sets that exist already: read from tables of three layouts, and held against gold ratings.

Which column is which is known by its name; a table without a header gets one put before it. The layouts are told apart
by these names:

* **long**, a row per rating: two texts, voter, rating (SimVerb's). Optional: level, genre, condition, order (A or B);
* **wide**, a row per item, a column per person: two texts, then people (WordSim-353's). `mean` is only compared;
* **means**, a row per item: two texts and a score, perhaps with SD (SimLex-999's); also the STS benchmark's tables
  without a header, where the two sentences follow the score.

Nothing is dropped silently: a row or cell that isn't taken is an `Issue` with its row.

Held against gold, ratings show who passes a qualification, and how far a crowd lies from experts, by genre. Both sides
are rating sets (`RatingSet`); items are matched by their two texts, in either order, and by their level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ...errors import InputError, Issue
from ...tables import Floats
from ...tabular import (
    NO_NUMBER,
    CsvTable,
    Numbers,
    RowTable,
    SourceTable,
    Texts,
    bare_name,
    column_numbers,
    csv_of,
    find_column,
    is_missing,
    lacking,
    open_table,
)
from ...votes.reading import usual_id, why_lost
from .scales import Qualified, RatingScale, RatingSet, qualify
from .statistics import Deviation, deviation_by_group, item_ratings

# Accepted names by role, bare (`tabular.bare_name`), in the order of preference.
_FIRST = "tokena worda word1 texta text1 sentencea sentence1 itema item1 token1 first a larger"
_SECOND = "tokenb wordb word2 textb text2 sentenceb sentence2 itemb item2 token2 second b smaller"
_VOTER = "voter person rater annotator worker workerid voterid annotatorid participant subject"
NAMES: dict[str, tuple[str, ...]] = {
    "first": tuple(_FIRST.split()),
    "second": tuple(_SECOND.split()),
    "voter": tuple(_VOTER.split()),
    "rating": ("rating",),
    "mean": ("mean", "humanmean", "score", "goldscore", "gold", "similarity", "relatedness", "average", "simlex999"),
    "sd": ("sd", "std", "stdev", "sdsimlex", "standarddeviation"),
    "level": ("level",),
    "genre": ("genre", "domain"),
    "condition": ("condition",),
    "order": ("order",),
}
# Numbers of an item that aren't ratings: numbering, years, frequencies, SimLex-999's concreteness and association.
_NO_PEOPLE = frozenset(
    [
        "index",
        "id",
        "itemid",
        "pairid",
        "oldindex",
        "year",
        "n",
        "count",
        "freq",
        "frequency",
        "concw1",
        "concw2",
        "concq",
        "assocusf",
        "simassoc333",
    ]
)


@dataclass(frozen=True)
class Cells:
    """A file's columns, all of them: `titles`, the rows' `numbers`, the texts of each column, and its numbers.

    issues : rows that weren't taken, and what else to say of the file.
    """

    name: str
    titles: tuple[str, ...]
    numbers: list[int]
    columns: list[list[str]]
    issues: tuple[Issue, ...]

    @cached_property
    def _read(self) -> dict[int, Numbers]:
        return {}

    @cached_property
    def _faults(self) -> dict[int, dict[int | None, str]]:
        return {}

    def values(self, at: int) -> Numbers:
        """The numbers of a column, whose commas are read by all of its cells."""
        if at not in self._read:
            self._read[at] = column_numbers(self.columns[at], self.numbers, self.titles[at])
        return self._read[at]

    def faults(self, at: int) -> Mapping[int | None, str]:
        """What is wrong with cells of a column that hold something else than a number, by their rows."""
        if at not in self._faults:
            self._faults[at] = {issue.row: issue.message for issue in self.values(at).bad}
        return self._faults[at]


def people_columns(cells: Cells, places: Mapping[str, int]) -> list[int]:
    """The columns that are a person's ratings: those of numbers with no other meaning."""
    known_columns = {at for role, at in places.items() if role != "rating"}
    others = _NO_PEOPLE.union(NAMES["mean"], NAMES["sd"])
    return [
        at
        for at, title in enumerate(cells.titles)
        if title and at not in known_columns and bare_name(title) not in others and _mostly_numbers(cells, at)
    ]


def has_texts(header: Sequence[str]) -> bool:
    """Whether a table's columns name the two texts of an item."""
    titles = set(map(bare_name, header))
    return not (titles.isdisjoint(NAMES["first"]) or titles.isdisjoint(NAMES["second"]))


def open_ratings(data: bytes, name: str, *, encoding: str | None = None) -> tuple[SourceTable, bool]:
    """A file, and whether a header was put before its first row. Raises `InputError` for what is no table."""
    table = open_table(data, name, encoding=encoding, fits=(has_texts,))
    numeric = [at for at, title in enumerate(table.header) if is_number(title)]
    titles = set(map(bare_name, table.header))
    width = len(table.header)
    if not titles.isdisjoint(NAMES["first"] + NAMES["second"]) or not numeric or width < 3:
        return table, False
    if width == 3:
        at = numeric[0] if numeric[0] in (0, 2) else 0
        names = {at: "score", (1 if at == 0 else 0): "sentence1", (2 if at == 0 else 1): "sentence2"}
    else:
        after = [at for at in numeric if at + 2 < width]
        at = after[-1] if after else width - 3
        names = {0: "genre", at: "score", at + 1: "sentence1", at + 2: "sentence2"}
    return _titled(table, tuple(names.get(place, f"column {place + 1}") for place in range(width))), True


def read_cells(table: SourceTable, n_needed: int) -> Cells:
    """All columns of a table; a row with fewer than `n_needed` fields isn't taken."""
    texts = table.texts(range(len(table.header)), n_needed)
    return Cells(table.name, table.header, texts.numbers.tolist(), texts.lists, texts.issues)


def is_number(text: str) -> bool:
    """Whether a text is a number by itself."""
    return bool(np.isfinite(column_numbers([text], [0], "").values[0]))


@dataclass(frozen=True)
class _Titled:
    """A text whose first row is no header, under titles of ours: its rows count from 1, as do its `notes`."""

    table: CsvTable
    notes: tuple[Issue, ...]

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def header(self) -> tuple[str, ...]:
        return self.table.header

    def texts(self, wanted: Sequence[int], n_needed: int) -> Texts:
        texts = self.table.texts(wanted, n_needed)
        unread = tuple(map(_earlier, texts.unread))
        issues = [_earlier(issue) for issue in texts.issues if issue not in self.table.notes]
        return replace(texts, numbers=texts.numbers - 1, unread=unread, issues=(*self.notes, *issues))

    def head(self, n: int) -> list[list[str]]:
        return self.table.head(n)


def _earlier(issue: Issue) -> Issue:
    return issue if issue.row is None else replace(issue, row=issue.row - 1)


def _titled(table: SourceTable, titles: tuple[str, ...]) -> SourceTable:
    """A table without a header under these titles, its first row among the others."""
    if isinstance(table, CsvTable):
        text = table.delimiter.join(titles) + "\n" + table.decoded.text[table.dialect.start :]
        return _Titled(csv_of(replace(table.decoded, text=text), table.name), table.notes)
    if isinstance(table, RowTable):
        first = table.numbers[0] - 1 if table.numbers else 1
        return replace(table, header=titles, numbers=(first, *table.numbers), rows=[table.header, *table.rows])
    raise InputError(f"{table.name} has no header: its first row must name the columns.")


def _mostly_numbers(cells: Cells, at: int) -> bool:
    n_filled = sum(not is_missing(cell) for cell in cells.columns[at])
    return n_filled > 0 and 2 * int(np.isfinite(cells.values(at).values).sum()) >= n_filled


def gold_of(ratings: RatingSet, gold: RatingSet) -> Floats:
    """The gold rating of each item of `ratings` (its mean over experts), NaN where it is no gold item."""
    means = item_ratings(gold.table).mean if gold.has_people else gold.mean
    known = {
        _key(first, second, level): value
        for first, second, level, value in zip(gold.first, gold.second, gold.level, means.tolist(), strict=True)
    }
    keys = [_key(*texts) for texts in zip(ratings.first, ratings.second, ratings.level, strict=True)]
    return np.array([known.get(key, known.get((key[0], ""), np.nan)) for key in keys])


def _key(first: str, second: str, level: str) -> tuple[tuple[str, str], str]:
    low, high = sorted((first, second))
    return (low, high), level


def qualify_people(ratings: RatingSet, gold: RatingSet, *, tolerance: float = 1.0) -> list[Qualified]:
    """Who rated all gold pairs within ±`tolerance`, in the order of the file; a pair that somebody left out isn't.

    Raises `InputError` where the ratings name nobody, the tolerance isn't above 0, or no gold pair was rated.
    """
    if not ratings.has_people:
        raise InputError(f"{ratings.name} doesn't say who rated what, so nobody can be qualified.")
    if not tolerance > 0:
        raise InputError(f"The tolerance must be above 0, found {tolerance:g}.")
    wanted = gold_of(ratings, gold)
    at = np.flatnonzero(~np.isnan(wanted))
    if not len(at):
        raise InputError(f"No item of {gold.name} was rated in {ratings.name}: the texts must be the same.")
    table = ratings.table[:, at]
    return [
        Qualified(voter, qualify(row, wanted[at], tolerance=tolerance), int(np.isnan(row).sum()))
        for voter, row in zip(ratings.people, table, strict=True)
    ]


def crowd_minus_experts(crowd: RatingSet, experts: RatingSet) -> Mapping[str, Deviation | None]:
    """Mean crowd rating minus expert rating, by genre (“all” where the crowd's file has none), and over all items.

    Raises `InputError` where the two have no item in common.
    """
    gold = gold_of(crowd, experts)
    if np.isnan(gold).all():
        raise InputError(f"{crowd.name} and {experts.name} have no item in common: the texts must be the same.")
    means = item_ratings(crowd.table).mean if crowd.has_people else crowd.mean
    whole = deviation_by_group(means, gold, ["all"] * crowd.n_items)
    if not any(crowd.genre):
        return whole
    by_genre = deviation_by_group(means, gold, [name or "(none)" for name in crowd.genre])
    return {**whole, **by_genre}


@dataclass
class _Collected:
    """What has been read so far."""

    name: str
    scale: RatingScale | None
    places: dict[tuple[str, str, str, str], int] = field(default_factory=dict)
    people: dict[str, int] = field(default_factory=dict)
    ratings: dict[tuple[int, int, str], tuple[float, str]] = field(default_factory=dict)
    rows: dict[tuple[int, int, str], int] = field(default_factory=dict)
    means: dict[int, tuple[float, float]] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def item(self, first: str, second: str, level: str, genre: str) -> int:
        return self.places.setdefault((first, second, level, genre), len(self.places))

    def rating(self, cells: Cells, column: int, at: int, title: str) -> float:
        """The rating in row `at` of a column, NaN with its issue where it is none or lies outside the scale."""
        value, row, text = float(cells.values(column).values[at]), cells.numbers[at], cells.columns[column][at]
        if math.isnan(value):
            self.issues.append(Issue(_why_none(cells, column, row), row=row, column=title, found=text))
        elif self.scale is not None and not self.scale.allows(value):
            allowed = f"{self.scale.low:g} to {self.scale.high:g} in steps of {self.scale.step:g}"
            self.issues.append(Issue(f"is outside the scale ({allowed})", row=row, column=title, found=text))
            return math.nan
        return value

    def rate(self, item: int, voter: str, value: float, row: int, condition: str = "", order: str = "") -> int:
        """Keep a rating, 0; or the row of an earlier one of this person, item and condition, which counts."""
        person = self.people.setdefault(voter, len(self.people))
        key = (person, item, condition)
        if key in self.ratings:
            return self.rows[key]
        self.ratings[key], self.rows[key] = (value, order), row
        return 0

    def finish(self) -> RatingSet:
        """The set; items in the order in which they came."""
        n = len(self.places)
        first, second, level, genre = zip(*self.places, strict=True) if n else ((), (), (), ())
        twice = len(self.ratings) - len({key[:2] for key in self.ratings})
        if twice:
            self.notes.append(
                f"{twice:,} ratings are of an item that the same person rated in another condition too: where "
                "conditions are taken together, the mean of the person's ratings stands for them."
            )
        stated = np.full((2, n), np.nan)
        for position, pair in self.means.items():
            stated[:, position] = pair
        keys = list(self.ratings)
        return RatingSet(
            self.name,
            first,
            second,
            level,
            genre,
            tuple(self.people),
            np.array([person for person, _, _ in keys], dtype=np.int64),
            np.array([item for _, item, _ in keys], dtype=np.int64),
            np.array([value for value, _ in self.ratings.values()]),
            tuple(condition for *_, condition in keys),
            tuple(order for _, order in self.ratings.values()),
            stated[0],
            stated[1],
            tuple(self.issues),
            tuple(self.notes),
        )


def read_ratings(data: bytes, name: str, *, scale: RatingScale | None = None, encoding: str | None = None) -> RatingSet:
    """Read a rating set from a CSV, TSV or Excel file; with `scale`, ratings that it doesn't allow are left out and
    reported.

    Raises `InputError` for a file that is no table, lacks the columns or has one of them twice, or has fewer than two
    items with a rating.

    >>> found = read_ratings(b"word1,word2,Human (mean),1,2\\nlove,sex,8,9,7\\ntiger,cat,7,7,\\n", "wide.csv")
    >>> found.people, found.table.tolist()
    (('1', '2'), [[9.0, 7.0], [7.0, nan]])
    """
    table, is_titled = open_ratings(data, name, encoding=encoding)
    places = {role: at for role in NAMES if (at := find_column(table, NAMES[role])) is not None}
    if not {"first", "second"} <= places.keys():
        missing = [title for role, title in (("first", "token_a"), ("second", "token_b")) if role not in places]
        others = "The two texts of an item may also be called word1 and word2, or sentence1 and sentence2."
        raise lacking(table, missing, then=others)
    cells = read_cells(table, max(places["first"], places["second"]) + 1)
    collected = _Collected(name, scale)
    collected.issues += cells.issues
    read = _read_means if is_titled else _layout(cells, places)
    read(collected, cells, places)
    return collected.finish()


def _why_none(cells: Cells, column: int, row: int) -> str:
    """Why a cell is no number: of its own, or because the column's others are written otherwise."""
    fault = cells.faults(column).get(row, NO_NUMBER)
    return "is no number, so there is no rating" if fault == NO_NUMBER else fault


def _layout(cells: Cells, places: Mapping[str, int]) -> Callable[..., None]:
    if "voter" in places:
        return _read_long
    people = people_columns(cells, places)
    return _read_wide if "sd" not in places and len(people) > 1 else _read_means


def _texts(collected: _Collected, cells: Cells, places: Mapping[str, int], at: int) -> int | None:
    """The item of a row, None with its issue where a text is missing."""
    first, second = (" ".join(cells.columns[places[role]][at].split()) for role in ("first", "second"))
    if not first or not second:
        collected.issues.append(Issue("one of the two texts is empty", row=cells.numbers[at]))
        return None
    level, genre = (cells.columns[places[role]][at].strip() if role in places else "" for role in ("level", "genre"))
    return collected.item(first, second, level, genre)


def _read_long(collected: _Collected, cells: Cells, places: Mapping[str, int]) -> None:
    column = places.get("rating", places.get("mean"))
    if column is None:
        raise InputError(f"{cells.name} has a column of voters, but none named rating.")
    _tell_unread(collected, cells, [*(at for role, at in places.items() if role not in ("mean", "sd")), column])
    _tell_numbers(collected, cells, [column])
    for at, row in enumerate(cells.numbers):
        voter = usual_id(cells.columns[places["voter"]][at].strip())
        order = cells.columns[places["order"]][at].strip().upper() if "order" in places else ""
        if not voter:
            collected.issues.append(Issue("says not whose rating it is", row=row, column=cells.titles[places["voter"]]))
            continue
        if lost := why_lost(voter):
            collected.issues.append(Issue(lost, row=row, column=cells.titles[places["voter"]], found=voter))
            continue
        if order not in ("", "A", "B"):
            collected.issues.append(Issue("must be A or B", row=row, column=cells.titles[places["order"]], found=order))
            continue
        value = collected.rating(cells, column, at, cells.titles[column])
        if math.isnan(value):
            continue
        item = _texts(collected, cells, places, at)
        if item is not None:
            condition = cells.columns[places["condition"]][at].strip() if "condition" in places else ""
            earlier = collected.rate(item, voter, value, row, condition, order)
            if earlier:
                what = f"{voter} rated this item already, in row {earlier}, whose rating counts"
                collected.issues.append(Issue(what, row=row, found=f"{value:g}"))


def _read_wide(collected: _Collected, cells: Cells, places: Mapping[str, int]) -> None:
    known_columns = {at for role, at in places.items() if role != "rating"}
    people = people_columns(cells, places)
    _tell_unread(collected, cells, [*known_columns, *people])
    _tell_numbers(collected, cells, [*people, *(at for role, at in places.items() if role == "mean")])
    titles = [cells.titles[at] for at in people]
    named = {
        at: f"{title} (column {at + 1})" if titles.count(title) > 1 else title
        for at, title in zip(people, titles, strict=True)
    }
    rows_seen: set[int] = set()
    for at, row in enumerate(cells.numbers):
        before = len(collected.places)
        item = _texts(collected, cells, places, at)
        if item is None:
            continue
        rated_by = [column for column in people if not is_missing(cells.columns[column][at])]
        earlier = []
        for column in rated_by:
            value = collected.rating(cells, column, at, named[column])
            if not math.isnan(value):
                earlier.append(collected.rate(item, named[column], value, row))
        if any(earlier):
            who = f"{sum(map(bool, earlier))} of {len(earlier)} people"
            what = f"{who} rated this item already, in row {max(earlier)}, whose ratings count"
            collected.issues.append(Issue(what, row=row))
        if not rated_by and item == before:
            collected.issues.append(Issue("has no rating; the item is kept", row=row))
        if item not in rows_seen and "mean" in places and not is_missing(text := cells.columns[places["mean"]][at]):
            mean = float(cells.values(places["mean"]).values[at])
            if math.isnan(mean):
                collected.issues.append(Issue("is no number", row=row, column=cells.titles[places["mean"]], found=text))
            else:
                collected.means[item] = (mean, math.nan)
        rows_seen.add(item)


def _read_means(collected: _Collected, cells: Cells, places: Mapping[str, int]) -> None:
    column = places.get("rating", places.get("mean"))
    if column is None:
        raise InputError(
            f"{cells.name} has no ratings: it needs a column voter with a column rating, or a column for each person, "
            "or one column of scores."
        )
    sd_column = places.get("sd")
    _tell_unread(collected, cells, [at for role, at in places.items() if role != "mean"] + [column])
    _tell_numbers(collected, cells, [column] if sd_column is None else [column, sd_column])
    for at, row in enumerate(cells.numbers):
        value = collected.rating(cells, column, at, cells.titles[column])
        if math.isnan(value):
            continue
        item = _texts(collected, cells, places, at)
        if item is None:
            continue
        if item in collected.means:
            what = "this item stands in an earlier row, whose score counts"
            collected.issues.append(Issue(what, row=row, found=f"{value:g}"))
            continue
        text = "" if sd_column is None else cells.columns[sd_column][at].strip()
        sd = math.nan if sd_column is None else float(cells.values(sd_column).values[at])
        if not is_missing(text) and (math.isnan(sd) or sd < 0):
            collected.issues.append(Issue("is no SD", row=row, column=cells.titles[sd_column or 0], found=text))
            sd = math.nan
        collected.means[item] = (value, sd)


def _tell_numbers(collected: _Collected, cells: Cells, columns: list[int]) -> None:
    """How commas of these columns were read, where it isn't plain."""
    collected.issues += [issue for at in columns for issue in cells.values(at).notes]


def _tell_unread(collected: _Collected, cells: Cells, taken: list[int]) -> None:
    unread = [title for at, title in enumerate(cells.titles) if title and at not in taken]
    if unread:
        collected.notes.append(f"Columns that aren't read: {', '.join(unread)}.")
