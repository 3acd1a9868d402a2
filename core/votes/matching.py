"""Which comparison of the ballot an answer belongs to: by the task's id, or by the words that the voter saw."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..tables import Bools, Ints, Objects
from .answers import TEXTS
from .reading import decode

_OTHER_WORDS = "the task is of this ballot, but the file shows other tokens in it"
_MOST_NAMED = 10_000  # answers whose other words are named
_AMBIGUOUS = "the ballot shows these tokens in two comparisons, and the file has no task_id to tell them apart"


@dataclass(frozen=True)
class Match:
    """For each answer the position of its comparison or −1; whether the file shows its sides the other way round; and
    kind and reason where no comparison fits ("" elsewhere). All of shape (n,)."""

    place: Ints
    is_turned: Bools
    kind: Objects
    reason: Objects


def match(rows: pd.DataFrame, comparisons: pd.DataFrame, *, shows_texts: bool = True) -> Match:
    """Find the comparison of each answer.

    With a task id, its task and number decide, and the four texts must name the same two items (see `text_key`), in
    any order: sides that are the other way round in the file are turned back. Without one the texts alone decide, as
    they are shown if a comparison shows them so, else in any order; texts that stand for two comparisons are
    `unreadable`. With `shows_texts` False the file has ids only, and no text is looked at.

    `rows` has the columns of `tables.ANSWERS`, `comparisons` those of `tables.COMPARISONS`.
    """
    n = len(rows)
    tasks = _codes([rows["task_id"], comparisons["task_id"]], str.strip)
    places = combined([np.concatenate(tasks), np.concatenate([rows["n"].to_numpy(), comparisons["n"].to_numpy()])])
    by_task = pd.Index(places[n:]).get_indexer(pd.Index(places[:n]))
    has_task = _has_text(rows["task_id"])
    matched = Match(by_task, np.zeros(n, dtype=bool), np.full(n, "", dtype=object), np.full(n, "", dtype=object))
    strange = has_task & (by_task < 0)
    matched.kind[strange] = "other_ballot"
    matched.reason[strange] = [
        f"this ballot has no comparison {number} in a task {task!r}"
        for number, task in rows.loc[strange, ["n", "task_id"]].itertuples(index=False, name=None)
    ]
    if not shows_texts:
        matched.kind[~has_task] = "unreadable"
        matched.reason[~has_task] = "neither the id of a comparison nor its tokens"
    else:
        texts = _shown(rows, comparisons)
        other = _hold_against_texts(matched, texts, np.flatnonzero(has_task & (by_task >= 0)))
        named = other[:_MOST_NAMED]
        matched.reason[named] = _other_words(rows, comparisons, named, matched.place[named])
        _find_by_texts(matched, texts, np.flatnonzero(~has_task), comparisons["question_id"].to_numpy())
    matched.place[matched.kind != ""] = -1
    return matched


def _has_text(column: pd.Series) -> Bools:
    return (column.str.strip() != "").to_numpy(dtype=bool)


@dataclass(frozen=True)
class _Shown:
    """What answers and comparisons show, as numbers: `exact` word for word, `items` the two items left and right in any
    order of their words, `turned` the same with the sides exchanged. Each a pair: of the answers, of the ballot."""

    exact: tuple[Ints, Ints]
    items: tuple[Ints, Ints]
    turned: tuple[Ints, Ints]


def _shown(rows: pd.DataFrame, comparisons: pd.DataFrame) -> _Shown:
    n = len(rows)
    texts = _codes([frame[text] for text in TEXTS for frame in (rows, comparisons)], text_key)
    left_a, left_b, right_a, right_b = (np.concatenate(texts[2 * at : 2 * at + 2]) for at in range(4))
    one, other = np.concatenate([left_a, right_a]), np.concatenate([left_b, right_b])
    left, right = np.split(combined([np.minimum(one, other), np.maximum(one, other)]), 2)
    both = combined([np.concatenate([left, right]), np.concatenate([right, left])])
    items, turned = np.split(both, 2)
    exact = combined([left_a, left_b, right_a, right_b])
    return _Shown((exact[:n], exact[n:]), (items[:n], items[n:]), (turned[:n], turned[n:]))


def _hold_against_texts(found: Match, shown: _Shown, those: Ints) -> Ints:
    """Answers with a task of this ballot: the file must show its words. Returns those that show others."""
    ballot = shown.items[1][found.place[those]]
    same, turned = shown.items[0][those] == ballot, shown.turned[0][those] == ballot
    found.is_turned[those[turned & ~same]] = True
    other = those[~same & ~turned]
    found.kind[other] = "other_ballot"
    found.reason[other] = _OTHER_WORDS
    return other


def _other_words(rows: pd.DataFrame, comparisons: pd.DataFrame, those: Ints, place: Ints) -> list[str]:
    """Why answers with a task of this ballot were not taken: words of the file in place of words of the ballot."""
    if not len(those):
        return []  # pandas 2.2 can't factorize an index of several levels without rows
    texts = list(TEXTS)
    in_file = rows[texts].iloc[those].reset_index(drop=True)
    in_ballot = comparisons[texts].iloc[place].reset_index(drop=True)
    both = pd.concat([in_file, in_ballot.add_suffix("_there")], axis=1)
    codes, different = pd.MultiIndex.from_frame(both).factorize()
    sentences = []
    for words in different:
        file, ballot = ({text_key(text): text for text in part} for part in (words[:4], words[4:]))
        new = [text or "nothing" for key, text in file.items() if key not in ballot]
        gone = [text for key, text in ballot.items() if key not in file]
        shows = f": {', '.join(new)} where the ballot shows {', '.join(gone)}" if new and gone else ", paired otherwise"
        sentences.append(_OTHER_WORDS + shows)
    return [sentences[code] for code in codes]


def _find_by_texts(found: Match, shown: _Shown, those: Ints, question: Ints) -> None:
    """Answers without a task: the words decide, as shown, then in any order, then with the sides exchanged."""
    if not len(those):
        return
    found.place[those] = -1
    found.kind[those] = "other_ballot"
    found.reason[those] = "no comparison of this ballot shows these tokens"
    ways = ((shown.exact, shown.exact, False), (shown.items, shown.items, False), (shown.turned, shown.items, True))
    for of_rows, of_ballot, is_turned in ways:
        left = those[(found.place[those] < 0) & (found.kind[those] == "other_ballot")]
        if not len(left):
            return
        place, is_ambiguous = _look_up(of_rows[0][left], of_ballot[1], question)
        is_found = place >= 0
        found.place[left[is_found]] = place[is_found]
        found.is_turned[left[is_found]] = is_turned
        found.kind[left[is_found]], found.reason[left[is_found]] = "", ""
        found.kind[left[is_ambiguous]], found.reason[left[is_ambiguous]] = "unreadable", _AMBIGUOUS


def _look_up(shown: Ints, ballot: Ints, question: Ints) -> tuple[Ints, Bools]:
    """The place of each text in the ballot or −1, and which of them stand for several comparisons."""
    first = pd.DataFrame({"shown": ballot, "question": question})
    several = first.groupby("shown")["question"].nunique()
    unique = first.drop_duplicates("shown")
    at = pd.Index(unique["shown"]).get_indexer(pd.Index(shown))
    place = np.where(at >= 0, unique.index.to_numpy()[at], -1) if len(unique) else at
    return place, np.isin(shown, several.index[several > 1].to_numpy())


def text_key(text: str) -> str:
    """What two texts must share to be the same to a reader: NFC, character references undone, white space evened out.

    >>> text_key("  cafe\\u0301  au lait ") == text_key("caf&eacute; au lait")
    True
    """
    return " ".join(unicodedata.normalize("NFC", decode(text)).split())


def _codes(columns: Sequence[pd.Series], key: Callable[[str], str]) -> list[Ints]:
    """Number the texts of several columns, the same number for the same key; the key is computed once a text."""
    codes, uniques = pd.factorize(pd.concat(columns, ignore_index=True))
    keys, _ = pd.factorize(pd.Series([key(text) for text in uniques], dtype="str"))
    merged = keys[codes] if len(codes) else codes
    return np.split(merged, np.cumsum([len(column) for column in columns])[:-1])


def combined(codes: Sequence[Ints]) -> Ints:
    """One number for each combination of numbers. Renumbering after each step keeps the product inside 64 bits."""
    merged = codes[0].astype(np.int64)
    for code in codes[1:]:
        merged, _ = pd.factorize(merged * (int(code.max(initial=0)) + 1) + code)
    return merged


def first_of(whole: pd.DataFrame, those: pd.DataFrame, keys: list[str], more: list[str]) -> tuple[Ints, Ints]:
    """The place in `whole` of the first row with the keys of each of `those`, and with `more` keys besides; −1 where
    there is none."""
    both = [(whole[key], those[key]) for key in (*keys, *more)]
    codes = []
    for pair in both:
        is_text = not pd.api.types.is_numeric_dtype(pair[0])
        same = [part.astype("str") if is_text else part.astype("int64") for part in pair]
        codes.append(pd.factorize(pd.concat(same, ignore_index=True))[0])
    parts = []
    for n in (len(keys), len(keys) + len(more)):
        merged = combined(codes[:n])
        first = pd.Series(merged[: len(whole)]).drop_duplicates()
        at = pd.Index(first).get_indexer(pd.Index(merged[len(whole) :]))
        parts.append(np.where(at >= 0, np.append(first.index.to_numpy(), -1)[at], -1))
    return parts[0], parts[1]
