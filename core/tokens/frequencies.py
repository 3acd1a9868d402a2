"""How frequent tokens are, read from lists of word counts or proxies of them, and which tokens of an area are rare.

A token is rare if its frequency in a corpus of texts of the domain is under a share (10% by default) of the mean
frequency of that corpus's tokens: Lombardo et al. (2020), EMNLP, footnote 2, which also says what to do about them.
Only a frequency list of that corpus says so ("corpus"). Two proxies stand in where there is none, and are labelled: the
order of an embedding's vocabulary, and the package wordfreq.

A frequency list is a file with a word and its count in each row, as corpus tools write it: comma, semicolon, tab or a
space between them, with or without a header, in any order and any encoding. Rows go by one at a time and are kept as
Arrow columns.
"""

from __future__ import annotations

import csv
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from ..base.numbers_in_words import percent, plural
from ..errors import InputError, Issue
from ..tables import Schema
from ..tabular import (
    Decoded,
    Header,
    bare_name,
    chosen_column,
    decode_bytes,
    find_dialect,
    is_unclosed,
    lines,
    positions,
    records,
    refuse_doubled,
    trimmed,
)
from .files import AreaTokens

Kind = Literal["corpus", "rank", "wordfreq"]
KINDS: Mapping[Kind, str] = {
    "corpus": "counted in a corpus of one's own",
    "rank": "estimated from the order of an embedding's vocabulary, which is a proxy",
    "wordfreq": "taken from wordfreq, general texts of the language and so a proxy",
}
RARE_SHARE = 0.1

# What a source says of tokens: `frequency` NaN where it doesn't say, `rare` missing where that can't be told.
RARITY = Schema("rarity", {"token": "text", "frequency": "float", "rare": "bool", "reason": "text"})
# Rare tokens of each area; `share` = n_rare / (n_tokens − n_unknown), NaN if nothing is known.


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Frequencies of words, and where they come from.

    `words` (distinct, above 0) and `values` belong together; `label` names the source for people; `mean` is over all
    words of the list; `smallest` the least frequency; `is_complete` says that a word that isn't listed occurs nowhere
    (whole counts from 1 on), so that it isn't only too seldom for the list.
    """

    kind: Kind
    label: str
    words: pa.ChunkedArray
    values: NDArray[np.float64]
    notes: tuple[Issue, ...] = ()

    @property
    def n_words(self) -> int:
        return len(self.values)

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def smallest(self) -> float:
        return float(self.values.min())

    @property
    def is_proxy(self) -> bool:
        return self.kind != "corpus"

    @property
    def is_complete(self) -> bool:
        return self.kind == "corpus" and self.smallest == 1 and bool((self.values == np.floor(self.values)).all())

    def first(self, n: int) -> list[tuple[str, float]]:
        """The first n words of the list, with their frequencies."""
        return list(zip(self.words.slice(0, n).to_pylist(), self.values[:n].tolist(), strict=True))

    def of(self, words: Iterable[str]) -> dict[str, float]:
        """The frequencies of those of `words` that are listed exactly so."""
        wanted = list(dict.fromkeys(words))
        which = pc.fill_null(pc.index_in(self.words, value_set=pa.array(wanted, pa.string())), -1).to_numpy()
        return {wanted[which[row]]: float(self.values[row]) for row in np.flatnonzero(which >= 0)}


def from_counts(
    words: pa.ChunkedArray | Sequence[str], counts: ArrayLike, label: str, *, notes: Iterable[Issue] = ()
) -> Frequencies:
    """Frequencies counted in a corpus: a word that stands several times is summed, words counted 0 times are left out.

    `counts` (n,) are numbers from 0 on: counts, or frequencies in any unit. Raises `InputError` for others, and if no
    word is left.

    >>> counted = from_counts(["sea", "ship", "sea"], [5, 2, 1], "my corpus")
    >>> counted.of(["sea", "boat"]), counted.mean
    ({'sea': 6.0}, 4.0)
    """
    values = np.asarray(counts, dtype=np.float64)
    column = words if isinstance(words, pa.ChunkedArray) else pa.chunked_array([pa.array(words, pa.string())])
    if len(values) != len(column):
        raise InputError(f"There must be one count per word: {len(values)} counts, {len(column)} words.")
    if not (np.isfinite(values) & (values >= 0)).all():
        raise InputError("Counts must be numbers of 0 or more; one of them is negative, infinite or missing.")
    table = pa.table({"word": column, "value": values}).filter(pa.array(values > 0))
    n_rows = len(table)
    issues = list(notes)
    if n_zero := len(values) - n_rows:
        issues.append(Issue(f"words counted 0 times, which are not of the corpus: {n_zero:,}"))
    if not n_rows:
        raise InputError(f"{label} counts no word. Give a list with a word and its count in each row.")
    if len(pc.unique(table["word"])) < n_rows:
        table = table.group_by("word", use_threads=False).aggregate([("value", "sum")])
        issues.append(Issue(f"rows whose word stood there before; their counts were added up: {n_rows - len(table):,}"))
        table = table.rename_columns(["word", "value"])
    result = Frequencies("corpus", label, table["word"], table["value"].to_numpy(), tuple(issues))
    if not result.is_complete and result.smallest > 1:
        note = (
            f"the least frequency is {result.smallest:g}: rarer words seem to have been left out, which raises the mean"
        )
        return Frequencies("corpus", label, result.words, result.values, (*issues, Issue(note)))
    return result


def from_ranks(vocabulary: pa.ChunkedArray | Sequence[str], label: str) -> Frequencies:
    """A proxy from the order of an embedding's vocabulary, the most frequent word first: Zipf's law, exponent 1.

        f(r) = 1 / r,  so the mean over n words is (1 + 1/2 + … + 1/n) / n

    in units of the first word's frequency. Raises `InputError` for an empty vocabulary, or one in alphabetical order.

    >>> proxy = from_ranks(["the", "of", "sea", "ship"], "model.bin")
    >>> proxy.of(["sea"]), round(proxy.mean, 4)
    ({'sea': 0.3333333333333333}, 0.5208)
    """
    words = vocabulary if isinstance(vocabulary, pa.ChunkedArray) else pa.chunked_array([pa.array(vocabulary)])
    if not len(words):
        raise InputError(f"{label} has no words, so they have no order.")
    first = words.slice(0, 1000).to_pylist()
    if len(first) > 20 and first == sorted(first):
        raise InputError(f"{label} has its words in alphabetical order, which says nothing about their frequency.")
    return Frequencies("rank", label, words, 1 / np.arange(1, len(words) + 1, dtype=np.float64))


def wordfreq_languages() -> dict[str, str]:
    """The languages of the package wordfreq, with the size of list each has; empty where it isn't installed."""
    try:
        from wordfreq import available_languages
    except ImportError:
        return {}
    large = available_languages("large")
    return {code: "large" if code in large else "small" for code in sorted(available_languages("best"))}


def from_wordfreq(language: str = "en") -> Frequencies:
    """A proxy from wordfreq (Speer 2022): shares of general texts of a language; the mean is over its whole list.

    Its words are in lower case. Raises `InputError` where wordfreq isn't installed or doesn't know the language.
    """
    languages = wordfreq_languages()
    if not languages:
        raise InputError("The package wordfreq is not installed. Install it (pip install wordfreq), or give a list.")
    if language not in languages:
        raise InputError(f"wordfreq has no language {language!r}. It has {', '.join(languages)}.")
    from wordfreq import get_frequency_dict

    listed = get_frequency_dict(language, "best")
    label = f"wordfreq, {language}, {languages[language]} list of {len(listed):,} words"
    words = pa.chunked_array([pa.array(list(listed), pa.string())])
    return Frequencies("wordfreq", label, words, np.fromiter(listed.values(), np.float64, len(listed)))


def rare(
    tokens: Sequence[str], frequencies: Frequencies, share: float = RARE_SHARE, *, lower: bool = False
) -> pd.DataFrame:
    """Which tokens are rare: frequency < `share` × mean frequency of the source (footnote 2 of the paper).

    * A token is looked up as it is, in normal form C, and with "_" for its spaces; in lower case only with `lower`.
    * A token of several words that isn't listed as one has no frequency. It occurs at most as often as its rarest
      part: it is rare if a part is, and otherwise that can't be told.
    * A word that isn't listed occurs less often than any that is: it is rare if even the least frequent listed word
      is (or if the list is complete), and otherwise that can't be told.

    Returns a table of `RARITY`, one row a token in the order given. Raises `InputError` unless 0 < `share` ≤ 1.

    >>> counted = from_counts(["sea", "ship", "keel"], [200, 99, 1], "my corpus")  # mean 100, bound 10
    >>> rare(["sea", "keel", "sea ship"], counted)["rare"].tolist()
    [False, True, <NA>]
    """
    if not 0 < share <= 1:
        raise InputError(f"The share of the mean under which a token is rare must be over 0 and at most 1: {share!r}.")
    look_up = _LookUp(tokens, frequencies, share * frequencies.mean, lower)
    rows = [(token, *look_up.judge(token)) for token in tokens]
    frame = pd.DataFrame(rows, columns=list(RARITY.columns))
    kinds = {"token": "str", "frequency": "float64", "rare": "boolean", "reason": "str"}
    return RARITY.check(frame.astype(kinds))


class _LookUp:
    """All that tokens are looked up as, fetched at once."""

    def __init__(self, tokens: Iterable[str], frequencies: Frequencies, bound: float, lower: bool) -> None:
        self.bound, self.lower, self.complete = bound, lower, frequencies.is_complete
        # What isn't listed occurs at most so often.
        self.most_unlisted = 0.0 if self.complete else frequencies.smallest
        forms = {form for token in tokens for word in (token, *_parts(token)) for form in _forms(word, True)}
        self.found = frequencies.of(sorted(forms))

    def _of(self, word: str) -> tuple[str, float] | None:
        return next(((form, self.found[form]) for form in _forms(word, self.lower) if form in self.found), None)

    def _other_case(self, word: str) -> str | None:
        return next((form for form in _forms(word, True) if form in self.found), None)

    def judge(self, token: str) -> tuple[float, bool | None, str]:
        """Frequency, whether it is rare, and why, of a token."""
        if listed := self._of(token):
            form, value = listed
            return value, value < self.bound, "" if form == token else f"listed as {form}"
        parts = _parts(token)
        if len(parts) > 1:
            return self._judge_parts(parts)
        if other := self._other_case(token):
            return np.nan, None, f"listed only in other letters, as {other}"
        if self.complete:
            return np.nan, True, "not listed, so it doesn't occur in the corpus"
        if self.most_unlisted < self.bound:
            why = "not listed, so it is at most as frequent as the least frequent word, which is rare"
            return np.nan, True, why
        return np.nan, None, "not listed, and even the least frequent word of the list is not rare"

    def _judge_parts(self, parts: list[str]) -> tuple[float, bool | None, str]:
        for part in parts:
            listed = self._of(part)
            if listed is None and self._other_case(part) is None and self.most_unlisted < self.bound:
                why = f"not listed as one expression; its part {part} is not listed either, so rare"
                return np.nan, True, why
            if listed and listed[1] < self.bound:
                why = f"not listed as one expression; its part {listed[0]} is rare, so it is too"
                return np.nan, True, why
        why = "not listed as one expression; its parts are frequent enough, which says nothing about the whole"
        return np.nan, None, why


def _forms(word: str, lower: bool) -> list[str]:
    """What a word is looked up as, in this order."""
    composed = unicodedata.normalize("NFC", word)
    forms = [word, composed, "_".join(composed.split())]
    return list(dict.fromkeys(forms + [form.lower() for form in forms] if lower else forms))


def _parts(token: str) -> list[str]:
    return unicodedata.normalize("NFC", token).replace("_", " ").split()


RARE_BY_AREA = Schema(
    "rare tokens by area",
    {"area": "text", "n_tokens": "int", "n_rare": "int", "n_unknown": "int", "share": "float", "advice": "text"},
)


def rare_by_area(areas: Sequence[AreaTokens], rarity: pd.DataFrame, frequencies: Frequencies) -> pd.DataFrame:
    """How many tokens of each area are rare, with a sentence of advice: a table of `RARE_BY_AREA`.

    The paper wants "a relevant fraction" of rare tokens (§2.1) and names no number; neither does the advice.
    `rarity` is what `rare` returned for (at least) the areas' tokens.
    """
    known = dict(zip(RARITY.check(rarity)["token"], rarity["rare"], strict=True))
    rows = []
    for area in areas:
        judged = [known.get(token, pd.NA) for token in area.tokens]
        n_unknown = sum(value is pd.NA for value in judged)
        n_rare = sum(value is not pd.NA and bool(value) for value in judged)
        n_known = len(judged) - n_unknown
        advice = _advice(n_rare, n_known, n_unknown, frequencies)
        rows.append((area.name, len(judged), n_rare, n_unknown, n_rare / n_known if n_known else np.nan, advice))
    frame = pd.DataFrame(rows, columns=list(RARE_BY_AREA.columns))
    return RARE_BY_AREA.check(frame.astype({"area": "str", "share": "float64", "advice": "str"}))


def _advice(n_rare: int, n_known: int, n_unknown: int, frequencies: Frequencies) -> str:
    """A sentence or three on an area's rare tokens."""
    if not n_known:
        return f"{frequencies.label} doesn't tell for any of the tokens whether it is rare. Choose another source."
    if n_rare:
        sentences = [
            plural(
                n_rare,
                "{n} of {of} tokens ({share}) is rare.",
                "{n} of {of} tokens ({share}) are rare.",
                of=n_known,
                share=percent(n_rare / n_known),
            )
        ]
    else:
        sentences = [f"None of {n_known} tokens is rare."]
    sentences.append(
        "Rare tokens show whether a model takes a few common ones for everything's neighbours; "
        "the paper wants a relevant fraction of them, and names no number."
    )
    if not n_rare:
        sentences.append("Add some.")
    if n_unknown:
        sentences.append(f"{n_unknown} can't be told.")
    if frequencies.is_proxy:
        sentences.append(f"Frequencies were {KINDS[frequencies.kind]}.")
    return " ".join(sentences)


TOKEN_NAMES = ("token", "word", "term", "type", "lemma", "form", "ngram", "item")
COUNT_NAMES = ("count", "frequency", "freq", "n", "occurrences", "hits", "tokens", "absolute frequency")
_SAMPLE, _BLOCK, _MAX_ISSUES = 200, 100_000, 20
_NUMBER = re.compile(r"\d[\d.,]*(?:[eE][-+]?\d+)?|\.\d+")
_COMMA_GROUPS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"\d+,\d+")
_OTHER_GROUPS = re.compile(r"\d{1,3}(\.\d{3}){2,}|\d{1,3}([ \u00a0\u202f]\d{3})+")
_Record = list[str] | csv.Error


def read_frequencies(
    data: bytes,
    name: str,
    *,
    columns: tuple[str | int, str | int] | None = None,
    encoding: str | None = None,
) -> Frequencies:
    """A frequency list of one's own, of kind "corpus"; the mean is over the whole list.

    Parameters
    ----------
    data, name : the file's bytes and name.
    columns : the columns of the words and of the counts, by name or position from 0; found by themselves by default
        (by their names, else the only column of numbers that doesn't just count the rows).
    encoding : what a person chose; None to find it.

    Commas in counts mark thousands, unless one of them can't. Rows that can't be read are reported in the notes and
    left out. Raises `InputError` if the columns can't be found, several have one name, a quotation mark is never
    closed, or no row can be read.

    >>> read_frequencies(b"word,count\\nsea,30\\nship,10\\n", "counts.csv").mean
    20.0
    """
    decoded = decode_bytes(data, name, encoding=encoding, braces=True)
    rows, notes = _records(decoded, name)
    sample = list(islice(rows, _SAMPLE))
    word, count, has_header = _columns(name, [record for record in sample if isinstance(record, list)], columns)
    words, counts, issues = _read(chain(sample, rows), word, count, name, has_header)
    return from_counts(words, counts, name, notes=(*decoded.notes, *notes, *issues))


def _records(decoded: Decoded, name: str) -> tuple[Iterator[_Record], tuple[Issue, ...]]:
    """The rows' cells, the first row included, blank rows as []; and what to say of the quotation marks.

    A tab divides wherever there is one, since words may hold commas; a space where there is nothing else.
    """
    text = decoded.text
    if "\t" in next(lines(text), "").strip():
        dialect, header = find_dialect(text, name, delimiters=("\t",))
        rows: Iterator[_Record] = chain([header], records(text, dialect))
        if not dialect.quoted:
            # Such lists have the quotation mark as a word of its own, among others that are quoted.
            rows = ([_unquoted(cell) for cell in row] if isinstance(row, list) else row for row in rows)
        return rows, dialect.notes
    dialect, header = find_dialect(text, name)
    if len(header) > 1:
        return chain([header], records(text, dialect)), dialect.notes
    return (_by_space(line) for line in lines(text)), ()


def _by_space(line: str) -> list[str]:
    """`word count` as word2vec writes it, or `count word` as `uniq -c` does."""
    before, _, after = line.strip().rpartition(" ")
    if _NUMBER.fullmatch(after):
        return [before.strip(), after]
    before, _, after = line.strip().partition(" ")
    return [after.strip(), before] if _NUMBER.fullmatch(before) else [line.strip()] if line.strip() else []


def _unquoted(field: str) -> str:
    return field[1:-1].replace('""', '"') if len(field) > 2 and field[0] == field[-1] == '"' else field


def _columns(name: str, sample: list[list[str]], columns: tuple[str | int, str | int] | None) -> tuple[int, int, bool]:
    """The positions of the words and the counts, and whether the first row is a header."""
    first_row = Header(name, tuple(sample[0]) if sample else ())
    named = columns is not None and any(isinstance(column, str) for column in columns)
    accepted = [positions(first_row.header, names) for names in (TOKEN_NAMES, COUNT_NAMES)]
    if columns is not None:
        word, count = (chosen_column(first_row, column, then=", or choose one by its place") for column in columns)
    elif all(accepted):
        refuse_doubled(first_row, chain.from_iterable(accepted), named=bare_name)
        (word, *_), (count, *_), named = *accepted, True
    else:
        word, count = _by_content(name, sample)
    first = sample[0][count] if sample and count < len(sample[0]) else ""
    return word, count, named or not _is_number(first)


def _by_content(name: str, sample: list[list[str]]) -> tuple[int, int]:
    rows = [row for row in sample if any(row)]
    if not rows:
        raise InputError(f"{name} has no row that can be read. Give a list with a word and its count in each row.")
    body = rows[1:] or rows
    width = min(map(len, body))
    columns = [[row[at] for row in body] for at in range(width)]
    numeric = [at for at, values in enumerate(columns) if all(map(_is_number, values))]
    counts = [at for at in numeric if not _is_rank(columns[at])] if len(numeric) > 1 else numeric
    words = [at for at in range(width) if at not in numeric]
    if len(counts) != 1 or not words:
        first = ", ".join(map(repr, rows[0][:8]))
        raise InputError(
            f"In {name} it is not clear which column has the words and which their counts: its first row is {first}. "
            "Name two of the columns word and count."
        )
    return words[0], counts[0]


def _is_rank(values: list[str]) -> bool:
    """Whether a column counts the rows: 0 or 1 and on by ones."""
    numbers = [_number(value) for value in values]
    return numbers[0] in (0, 1, 2) and all(b - a == 1 for a, b in pairwise(numbers))


def _is_number(text: str) -> bool:
    return not (math.isnan(_number(text)) and math.isnan(_number(text, decimals=True)))


def _number(text: str, *, decimals: bool = False) -> float:
    """A count, NaN if it is none; "1,234" is 1234 unless its commas are `decimals`, and "0,5" then is 0.5."""
    text = text.strip()
    try:
        return float(text) if text[:1] not in "-+_in" and "_" not in text else math.nan
    except ValueError:
        pass
    if decimals:
        return float(text.replace(",", ".")) if _DECIMAL_COMMA.fullmatch(text) else math.nan
    if _COMMA_GROUPS.fullmatch(text):
        return float(text.replace(",", ""))
    return float(re.sub(r"[.\s\u00a0\u202f]", "", text)) if _OTHER_GROUPS.fullmatch(text) else math.nan


def _read(
    rows: Iterator[_Record], word: int, count: int, name: str, has_header: bool
) -> tuple[pa.ChunkedArray, NDArray[np.float64], list[Issue]]:
    """Words in normal form C, their counts, and what couldn't be read."""
    chunks: list[pa.Array] = []
    counts: list[NDArray[np.float64]] = []
    collected = _Found()
    number = 0
    if has_header:
        next(rows)
        number = 1
    while block := list(islice(rows, _BLOCK)):
        words, numbers = _parse(block, word, count, number, name, collected)
        chunks.append(pa.array([unicodedata.normalize("NFC", word) for word in words], pa.string()))
        counts.append(np.array(numbers, dtype=np.float64))
        number += len(block)
    column = pa.chunked_array(chunks, pa.string())
    values = np.concatenate(counts) if counts else np.empty(0)
    collected.settle(values)
    known = ~np.isnan(values)
    return column if known.all() else column.filter(pa.array(known)), values[known], collected.issues()


class _Found:
    """What is odd about a list: counts with commas, which are read when all are known; and rows that can't be read, all
    counted and the first ones listed."""

    def __init__(self) -> None:
        self.n = 0
        self.n_words = 0
        self.first: list[Issue] = []
        self.commas: list[tuple[int, int, str, str]] = []  # which word, row, count, the row's cells

    def add(self, row: int, shown: str) -> None:
        self.n += 1
        self.first.append(Issue("no word with a count; the row was left out", row=row, found=shown[:60]))
        if len(self.first) > 2 * _MAX_ISSUES:
            self._cut()

    def _cut(self) -> None:
        self.first = sorted(self.first, key=lambda issue: issue.row or 0)[:_MAX_ISSUES]

    def settle(self, values: NDArray[np.float64]) -> None:
        """Put the counts with commas among the others: decimals if one of them can be nothing else."""
        decimals = any(
            _DECIMAL_COMMA.fullmatch(text) and not _COMMA_GROUPS.fullmatch(text) for *_, text, _ in self.commas
        )
        for at, row, text, shown in self.commas:
            values[at] = _number(text, decimals=decimals)
            if math.isnan(values[at]):
                self.add(row, shown)

    def issues(self) -> list[Issue]:
        self._cut()
        rest = self.n - len(self.first)
        return [*self.first, Issue(f"and {rest:,} more rows without a word and a count")] if rest else self.first


def _parse(
    block: list[_Record], word: int, count: int, before: int, name: str, issues: _Found
) -> tuple[list[str], list[float]]:
    """The words and counts of some rows, NaN for a count with commas."""
    width = max(word, count)
    words: list[str] = []
    values: list[float] = []
    for place, record in enumerate(block, start=before + 1):
        if not isinstance(record, list):
            if is_unclosed(record):
                raise _never_closed(place, name)
            issues.add(place, "")
            continue
        text, raw = (trimmed(record[word]), record[count].strip()) if len(record) > width else ("", "")
        if "\n" in text or "\r" in text:
            raise _never_closed(place, name)
        value = float(raw) if raw.isdecimal() else _number(raw)
        if text and "," in raw:
            issues.commas.append((issues.n_words + len(words), place, raw, " ".join(record)))
            words.append(text)
            values.append(math.nan)
        elif text and 0 <= value < math.inf:
            words.append(text)
            values.append(value)
        elif any(map(str.strip, record)):
            issues.add(place, " ".join(record))
    issues.n_words += len(words)
    return words, values


def _never_closed(row: int, name: str) -> InputError:
    return InputError(
        f"In row {row:,} of {name} a quotation mark is never closed, so that rows run together. Save the list with "
        "tabs between its columns, or with its quotation marks doubled."
    )
