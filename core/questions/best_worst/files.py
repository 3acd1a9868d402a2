"""Best–worst judgements as tables: read with a row per judgement, written as a form to fill in, and reported on.

Columns are told by their names, in any case and whatever stands between their parts:

* **items**: item_1, item_2, … (Kiritchenko and Mohammad's Item1…Item4), or option1, option2, … ;
* **best**, **worst**: best and worst, or BestItem and WorstItem: the item named, or its place, 1 the first. Where the
  items are numbers themselves a cell can mean both; the file's other cells decide, or somebody says (`named`);
* **voter**: voter, annotator, worker, participant, … ; without one nothing can be told of other voters.

Items are compared as they stand, but for white space. Nothing is dropped silently: a row that isn't taken is an
`Issue`, and columns that aren't read are named. Rows with an empty best and worst, as in a file that is to be filled
in, are counted.

The report has counts and Bradley–Terry scores with intervals, and how reliable they are. Intervals (90%) draw whole
voters anew: a voter's judgements hang together. A count that is undefined in more than a fifth of the resamples has
none. Reliability is Spearman's ρ (Pearson's r beside it) between the scores of two random halves, the mean over splits:

* **of the judgements** of each tuple, as Kiritchenko and Mohammad halve them: tuples judged once are left out;
* **of the voters**: nobody's judgements stand in both halves.

A half has half the judgements, so all of them together are more reliable than either figure.

Reference: Kiritchenko, Mohammad (2016), Capturing reliable fine-grained sentiment associations by crowdsourcing and
best-worst scaling, NAACL (counts, halves of the judgements).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...base.estimates import LEVEL, widened_tails
from ...errors import InputError, Issue, RunoffError
from ...metrics import average_ranks
from ...scores.uncertainty import MOST_UNDEFINED, resample_voters
from ...tables import Floats, Ints
from ...tabular import (
    SourceTable,
    Texts,
    bare_name,
    find_column,
    is_workbook,
    lacking,
    open_table,
    read_lines,
    refuse_doubled,
)
from ...tabular.csv_writing import csv_text
from ...votes.reading import usual_id, why_lost
from ..rating.files import NAMES, has_texts
from ..rating.statistics import pearson
from .kind import BestWorst

Named = Literal["items", "places"]  # what a cell of best and worst names
NAMED: tuple[Named, ...] = get_args(Named)

_ITEM = re.compile(r"(?:item|option|choice|term|word)([0-9]{1,9})")
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
    names = [bare_name(title) for title in header]
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
    at_ends = {role: _end_place(table, role) for role in _ENDS}
    at_voter = find_column(table, NAMES["voter"])
    missing = [f"item_{n}" for n in (1, 2) if n > len(at_items)]
    missing += [role for role, at in at_ends.items() if at is None]
    if missing:
        others = "They may also be called Item1, …, BestItem and WorstItem; voter says who judged, where it is known."
        raise lacking(table, missing, then=others)
    known_columns = [*at_items, *(at for at in (*at_ends.values(), at_voter) if at is not None)]
    texts = table.texts(known_columns, max(known_columns[: len(at_items) + 2]) + 1)
    unread = [title for at, title in enumerate(table.header) if title and at not in known_columns]
    notes = [f"Columns that aren't read: {', '.join(unread)}."] if unread else []
    return _collect(name, texts, len(at_items), at_voter is not None, notes, named)


def _item_places(table: SourceTable) -> list[int]:
    """The columns of the items, by their numbers; two of one number, such as item_1 and option1, are refused."""
    numbers = {at: int(f[1]) for at, title in enumerate(table.header) if (f := _ITEM.fullmatch(bare_name(title)))}
    refuse_doubled(table, numbers, named=lambda title: f"item {int(_number_of(title))}")
    return sorted(numbers, key=lambda at: numbers[at])


def _number_of(title: str) -> str:
    match = _ITEM.fullmatch(bare_name(title))
    return match[1] if match else "0"


def _end_place(table: SourceTable, role: str) -> int | None:
    """The column of best or worst; two of them, such as best and BestItem, are refused: they may say different
    things."""
    places = [at for at, title in enumerate(table.header) if bare_name(title) in _ENDS[role]]
    refuse_doubled(table, places, named=lambda _: role)
    return places[0] if places else None


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
        named, naming = _named(name, answers)
        notes = [*notes, *naming]
    n_open = 0
    for (row, shown, ends), texts in zip(answers, tidy, strict=True):
        who = usual_id(texts[-1]) if has_voter else ""
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
    places = []
    for text, role in zip(ends, _ENDS, strict=True):
        if not text:
            raise InputError(f"the {role} is missing")
        place = _place(text, len(shown))
        if named != "places" and text in shown:
            places.append(shown.index(text))
        elif named != "items" and place is not None:
            places.append(place)
        elif named == "places":
            raise InputError(f"the {role} is no place from 1 to {len(shown)}")
        else:
            raise InputError(f"the {role} is none of the items")
    if places[0] == places[1]:
        raise InputError("the same item is named best and worst")
    return places[0], places[1]


@dataclass(frozen=True)
class ItemList:
    """Items to draw tuples of, in the file's order, and what else a reader should know."""

    items: tuple[str, ...]
    notes: tuple[str, ...] = ()


def read_item_list(data: bytes, name: str, *, encoding: str | None = None) -> ItemList:
    """The items to draw tuples of: one per line, or a table's pairs of tokens as “token_a – token_b”.

    Raises `InputError` for items that stand twice, naming their rows, and for fewer than two.

    >>> read_item_list(b"token_a,token_b\\nsea,ship\\ntax,law\\n", "items.csv").items
    ('sea – ship', 'tax – law')
    >>> read_item_list(b"sea\\nrock, paper\\n", "items.txt").items
    ('sea', 'rock, paper')
    """
    rows, notes = _item_rows(data, name, encoding)
    numbers: dict[str, int] = {}
    issues = []
    for row, text in rows:
        if text and text in numbers:
            issues.append(Issue(f"stands in row {numbers[text]} already", row=row, found=text))
        elif text:
            numbers[text] = row
    if issues:
        raise InputError(f"{name} has items more than once.", issues)
    if len(numbers) < 2:
        raise InputError(f"{name} has {len(numbers)} items, and tuples need two at least.")
    return ItemList(tuple(numbers), notes)


def _item_rows(data: bytes, name: str, encoding: str | None) -> tuple[list[tuple[int, str]], tuple[str, ...]]:
    """Row and text of each item, and notes: of a table with two columns of tokens, else of the lines."""
    table = _item_table(data, name, encoding)
    if table is None:
        lines = read_lines(data, name, encoding=encoding)
        items = [" ".join(text.split()) for text in lines.texts]
        return list(zip(lines.numbers, items, strict=True)), tuple(map(str, lines.notes))
    places = {role: at for role in ("first", "second") if (at := find_column(table, NAMES[role])) is not None}
    wanted = list(places.values())
    if len(wanted) < 2:
        missing = [title for role, title in (("first", "token_a"), ("second", "token_b")) if role not in places]
        raise lacking(table, missing, then="A list of one item per line is read from a text file.")
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


FEWEST_VOTERS = 5
RESAMPLES, SPLITS = 200, 100


@dataclass(frozen=True, eq=False)
class Scores:
    """A score of each item (n_items,), NaN where there is none, with the bounds of its interval; why some lack them."""

    score: Floats
    lower: Floats
    upper: Floats
    reason: str = ""


@dataclass(frozen=True)
class Halves:
    """Mean Spearman's ρ and Pearson's r over `n_splits` splits, None with the reason where undefined.

    lower and upper are the quantiles .05 and .95 of ρ over the splits: how much the split decides, no interval.
    """

    spearman: float | None
    pearson: float | None
    lower: float | None
    upper: float | None
    n_splits: int
    reason: str = ""


@dataclass(frozen=True, eq=False)
class BestWorstReport:
    """shown, best, worst : how often each item was shown, and named either; counts in [−1, 1], theta in logits."""

    read: BestWorstSet
    shown: Ints
    best: Ints
    worst: Ints
    counts: Scores
    theta: Scores
    by_judgement: Halves
    by_voter: Halves


def report(read: BestWorstSet, *, seed: int = 0, resamples: int = RESAMPLES, splits: int = SPLITS) -> BestWorstReport:
    """Work judgements out. Nothing raises: what is undefined says so. Same seed, same figures."""
    answers, n = read.answers, len(read.items)
    rows = np.arange(len(answers.shown))
    named = [np.bincount(answers.shown[rows, place], minlength=n) for place in (answers.best, answers.worst)]
    return BestWorstReport(
        read,
        np.bincount(answers.shown.ravel(), minlength=n),
        named[0],
        named[1],
        _counts(read, resamples, np.random.default_rng([seed, 1])),
        _theta(read, resamples, np.random.default_rng([seed, 2])),
        _halves(read, _HalfOfJudgements(answers, np.random.default_rng([seed, 3])), splits),
        _halves(read, _HalfOfVoters(read, np.random.default_rng([seed, 4])), splits),
    )


def _too_few(read: BestWorstSet) -> str:
    if not read.voters:
        return "no interval: the file doesn't say who judged"
    n = len(read.voters)
    if n >= FEWEST_VOTERS:
        return ""
    return f"no interval: {n} voters, and {FEWEST_VOTERS} are needed"


def _counts(read: BestWorstSet, resamples: int, rng: np.random.Generator) -> Scores:
    answers, n = read.answers, len(read.items)
    counts, nothing = answers.counts(n), np.full(n, np.nan)
    why = _too_few(read)
    if why:
        return Scores(counts, nothing, nothing, why)
    net, times = np.zeros((2, len(read.voters), n))
    rows = np.arange(len(answers.shown))
    np.add.at(net, (read.voter, answers.shown[rows, answers.best]), 1)
    np.add.at(net, (read.voter, answers.shown[rows, answers.worst]), -1)
    np.add.at(times, (read.voter[:, None], answers.shown), 1)
    m = len(read.voters)
    drawn = rng.multinomial(m, np.full(m, 1 / m), resamples).astype(np.float64)
    n_shown = drawn @ times
    values = np.divide(drawn @ net, n_shown, out=np.full(n_shown.shape, np.nan), where=n_shown > 0)
    # An item that one voter judged has the same count in every resample that has it: that is no interval.
    known = np.isnan(values).mean(axis=0) <= MOST_UNDEFINED
    lower, upper = nothing.copy(), nothing.copy()
    if known.any():
        lower[known], upper[known] = np.nanquantile(values[:, known], widened_tails(m, LEVEL), axis=0)
    few = "no interval where too few voters judged an item" if (known < ~np.isnan(counts)).any() else ""
    return Scores(counts, lower, upper, few)


def _theta(read: BestWorstSet, resamples: int, rng: np.random.Generator) -> Scores:
    n = len(read.items)
    nothing = np.full(n, np.nan)
    try:
        fit = read.answers.fit(n)
        why = _too_few(read)
        if why:
            return Scores(fit.theta, nothing, nothing, why)
        winner, loser, row = read.answers.implied()
        ones = np.ones(len(winner))
        drawn = resample_voters(fit, (winner, loser, ones, read.voter[row]), resamples=resamples, rng=rng, workers=None)
        lower, upper = np.quantile(drawn.theta, widened_tails(len(read.voters), LEVEL), axis=0)
        return Scores(fit.theta, lower, upper)
    except RunoffError as error:
        return Scores(nothing, nothing, nothing, str(error).rstrip("."))


class _HalfOfJudgements:
    """A random half of the judgements of each tuple; None where every tuple was judged once."""

    def __init__(self, answers: BestWorst, rng: np.random.Generator) -> None:
        _, code, n = np.unique(np.sort(answers.shown, axis=1), axis=0, return_inverse=True, return_counts=True)
        self.code, self.n, self.rng = code.ravel(), n, rng
        self.reason = "" if (n > 1).any() else "every tuple was judged once"
        self.used = n[self.code] > 1

    def __call__(self) -> NDArray[np.bool_]:
        order = np.lexsort((self.rng.random(len(self.code)), self.code))
        start = np.cumsum(self.n) - self.n
        turn = np.empty(len(order), dtype=np.int64)
        turn[order] = np.arange(len(order)) - start[self.code[order]]
        return np.asarray((turn + self.rng.integers(0, 2, len(self.n))[self.code]) % 2 == 0)


class _HalfOfVoters:
    """A random half of the voters, with all their judgements."""

    def __init__(self, read: BestWorstSet, rng: np.random.Generator) -> None:
        self.voter, self.m, self.rng = read.voter, len(read.voters), rng
        self.reason = "the file doesn't say who judged" if not self.m else "there is one voter" if self.m < 2 else ""
        self.used = np.ones(len(self.voter), dtype=bool)

    def __call__(self) -> NDArray[np.bool_]:
        return np.asarray((self.rng.permutation(self.m) < self.m // 2)[self.voter])


def _halves(read: BestWorstSet, half: _HalfOfJudgements | _HalfOfVoters, splits: int) -> Halves:
    if half.reason:
        return Halves(None, None, None, None, 0, half.reason)
    n, correlations = len(read.items), []
    reason = ""
    for _ in range(splits):
        first = half()
        one, other = (_part(read.answers, rows & half.used).counts(n) for rows in (first, ~first))
        both = ~np.isnan(one) & ~np.isnan(other)
        r, reason = pearson(one[both], other[both])
        rho, _why = pearson(average_ranks(one[both]), average_ranks(other[both]))
        if r is not None and rho is not None:
            correlations.append((rho, r))
    if len(correlations) < 0.8 * splits:
        return Halves(None, None, None, None, 0, reason or "too few splits have two halves that differ")
    rho_of, r_of = np.array(correlations).T
    lower, upper = np.quantile(rho_of, [0.05, 0.95]).tolist()
    return Halves(float(rho_of.mean()), float(r_of.mean()), lower, upper, len(correlations))


def _part(answers: BestWorst, rows: NDArray[np.bool_]) -> BestWorst:
    return replace(answers, shown=answers.shown[rows], best=answers.best[rows], worst=answers.worst[rows])
