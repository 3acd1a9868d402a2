"""Scores of items out of a file of any scheme: a dataset, ratings in any layout, or best–worst judgements.

The score of an item is the dataset's, the mean rating, or the Bradley–Terry score of the best–worst choices (counts
where those don't link all items). Two files' items are matched by their two texts in either order; a best–worst item
is split where its text has one “ – ”.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..errors import Issue
from ..questions.best_worst.files import Named, is_best_worst, read_best_worst
from ..questions.best_worst.report import report as report_best_worst
from ..questions.rating.columns import has_texts
from ..questions.rating.files import read_ratings
from ..questions.rating.statistics import item_ratings
from ..tabular import is_spreadsheet, open_table, same_name
from .files import has_columns, read_dataset
from .side_by_side import SideBySide, compare_schemes

Floats = NDArray[np.float64]
DASH = " – "
_PACKED = (b"PK\x03\x04", b"PAR1")
_OF_DATASETS = {"rank", "lower", "upper", "votes", "ballots", "area"}


@dataclass(frozen=True, eq=False)
class Scored:
    """Items with their scores, NaN where there is none: first and second text ("" for an item of one text).

    scheme : what the scores are, in words. Higher = more related.
    """

    name: str
    scheme: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    score: Floats
    issues: tuple[Issue, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Of name, items and scores: equal ones are compared alike."""
        texts = "\x1f".join([self.name, *self.first, *self.second])
        return hashlib.sha256(texts.encode("utf-8", "surrogatepass") + self.score.tobytes()).hexdigest()


def read_scored(data: bytes, name: str, *, named: Named | None = None, encoding: str | None = None) -> Scored:
    """Read scores from a file of any scheme; raises `InputError` as the reader of its layout.

    `named` says what best and worst name in a file of best–worst judgements (`read_best_worst`).
    """
    if data.startswith(_PACKED) and not is_spreadsheet(data):
        return of_dataset(read_dataset(data), name)
    header = open_table(data, name, encoding=encoding, fits=(is_best_worst, has_texts)).header
    if is_best_worst(header):
        read = read_best_worst(data, name, named=named, encoding=encoding)
        found = report_best_worst(read, resamples=1, splits=1)
        fitted = not found.theta.reason or not np.isnan(found.theta.score).all()
        scores, what = (found.theta, "Bradley–Terry") if fitted else (found.counts, "counts")
        pairs = [item.split(DASH) if item.count(DASH) == 1 else [item, ""] for item in read.items]
        first, second = zip(*pairs, strict=True)
        return Scored(name, f"best–worst ({what})", first, second, scores.score, read.issues, read.notes)
    if is_dataset(header):
        return of_dataset(read_dataset(data, encoding=encoding), name)
    ratings = read_ratings(data, name, encoding=encoding)
    means = item_ratings(ratings.table).mean if ratings.has_people else ratings.mean
    what = "mean rating" if ratings.has_people else "score"
    return Scored(name, what, ratings.first, ratings.second, means, ratings.issues, ratings.notes)


def is_dataset(header: Sequence[str]) -> bool:
    """Whether a table's columns are those of a dataset, and not of ratings."""
    titles = set(map(same_name, header))
    return has_columns(header) and bool(titles & _OF_DATASETS) and "voter" not in titles


def of_dataset(dataset: pd.DataFrame, name: str) -> Scored:
    """The scores of a dataset (`tables.DATASET`)."""
    first, second = (tuple(dataset[column].astype(str)) for column in ("token_a", "token_b"))
    notes = tuple(str(note) for note in dataset.attrs.get("notes", ()))
    return Scored(name, "score", first, second, dataset["score"].to_numpy(dtype=np.float64), notes=notes)


def side_by_side(one: Scored, other: Scored, *, seed: int = 0) -> tuple[SideBySide, tuple[str, ...]]:
    """Two files' scores of the same items, and notes on items that stand in a file more than once: their mean counts.

    Items keep the texts of the first file. Intervals are over tokens where every item has two.
    """
    notes = []
    tables = []
    for scored in (one, other):
        table, n_twice = _by_item(scored)
        tables.append(table)
        if n_twice:
            notes.append(f"{scored.name}: {n_twice:,} rows are of an item that stands in it already; the mean counts.")
    keys = list(dict.fromkeys([*tables[0], *tables[1]]))
    texts = [(tables[0].get(key) or tables[1][key])[:2] for key in keys]
    scores = [[table[key][2] if key in table else np.nan for key in keys] for table in tables]
    ids = [DASH.join(filter(None, pair)) for pair in texts]
    first, second = zip(*texts, strict=True) if texts else ((), ())
    tokens = (first, second) if all(second) else None
    names = (one.name, other.name) if one.name != other.name else (f"{one.name} (1)", f"{other.name} (2)")
    return compare_schemes(_unique(ids), scores[0], scores[1], names=names, tokens=tokens, seed=seed), tuple(notes)


def _by_item(scored: Scored) -> tuple[dict[tuple[str, str], tuple[str, str, float]], int]:
    found: dict[tuple[str, str], list[tuple[str, str, float]]] = {}
    for first, second, score in zip(scored.first, scored.second, scored.score.tolist(), strict=True):
        low, high = sorted((first, second))
        found.setdefault((low, high), []).append((first, second, score))
    means = {}
    for key, rows in found.items():
        known = [score for *_, score in rows if score == score]
        means[key] = (*rows[0][:2], float(np.mean(known)) if known else float("nan"))
    return means, len(scored.first) - len(found)


def _unique(ids: Iterable[str]) -> list[str]:
    """Ids, the second of two equal ones with a number: texts with a dash inside can look alike."""
    seen: dict[str, int] = {}
    result = []
    for name in ids:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return result
