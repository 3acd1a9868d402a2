"""Two schemes' scores of the same items compared: how far they agree, and on which items they part most.

Scores come from a file of any scheme, a dataset, ratings in any layout, or best–worst judgements: the score of an item
is the dataset's, the mean rating, or the Bradley–Terry score of the best–worst choices (counts where those don't link
all items). Two files' items are matched by their two texts in either order; a best–worst item is split where its text
has one “ – ”.

Scales don't matter, ranks do: 1 is the top, ties share their average rank, over the items that both scored. Figures:
Spearman's ρ and Kendall's τ, all ranks alike; ρ_w with the weights of both tops (Eqs. 8, 9), and with those of one
scheme's top only, which asks whether the other finds again what stands at the top there.

Intervals (90%) are over tokens where they are known (`core.evaluation.token_intervals` states the correction), else
over items: would other items of these kinds have said the same? They take the scores as they are: other voters aren't
in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .. import metrics, rank_kernels
from ..base.estimates import LEVEL, Estimate, widened_tails
from ..errors import InputError, Issue, UndefinedMetricError
from ..evaluation.token_intervals import CORRECTIONS, FEWEST_TOKENS, MOST_ITEMS, Coded, bounds, number_of_resamples
from ..questions.best_worst.files import Named, is_best_worst, read_best_worst
from ..questions.best_worst.files import report as report_best_worst
from ..questions.rating.files import has_texts, read_ratings
from ..questions.rating.statistics import item_ratings
from ..tables import Floats
from ..tabular import is_spreadsheet, open_table, same_name
from .files import has_columns, read_dataset

MOST_UNDEFINED = 0.2
FIGURES = ("rho", "rho_w", "rho_w_one", "rho_w_other", "tau")
_CORRECTION = {"rho": "rho", "rho_w": "rho_w", "rho_w_one": "rho_w", "rho_w_other": "rho_w", "tau": "tau"}


@dataclass(frozen=True, eq=False)
class SideBySide:
    """What two schemes say of the same items.

    table : a row for each item both scored: item, one, other (scores), rank_one, rank_other, gap = rank_other −
    rank_one; above 0 the first scheme puts it higher. Largest gap first, equal ones in the order given.
    only_one, only_other : items that one scheme scored only; n_neither have no score at all.
    figures : by the names of `FIGURES`, undefined ones with the reason. over : "tokens" or "items", what the intervals
    resampled; "" where there are none.
    """

    names: tuple[str, str]
    table: pd.DataFrame
    only_one: tuple[str, ...]
    only_other: tuple[str, ...]
    n_neither: int
    figures: Mapping[str, Estimate]
    over: str

    @property
    def n(self) -> int:
        """Items that both scored."""
        return len(self.table)


N0 = 2.0  # offset of the weights of ρ_w and τ_w


def compare_schemes(
    ids: Sequence[str],
    one: ArrayLike,
    other: ArrayLike,
    *,
    names: tuple[str, str] = ("one", "other"),
    tokens: tuple[Sequence[str], Sequence[str]] | None = None,
    resamples: int = 0,
    seed: int = 0,
) -> SideBySide:
    """Compare two schemes.

    Parameters
    ----------
    ids : the items, all different, shape (n,). one, other : scores, higher = more related, NaN where a scheme has none.
    names : what the schemes are called. tokens : first and second token of each item, for intervals over tokens, which
        take fifteen tokens at least. resamples : 0 takes as many as a moment allows.

    Nothing raises because a figure is undefined; `InputError` for lengths that differ, ids that repeat, infinity.

    >>> found = compare_schemes(["a", "b", "c"], [3, 2, 1], [30, 10, 20], resamples=1)
    >>> found.figures["rho"].estimate, found.table["item"].tolist(), found.table["gap"].tolist()
    (0.5, ['b', 'c', 'a'], [1.0, -1.0, 0.0])
    """
    scores = [np.asarray(values, dtype=np.float64) for values in (one, other)]
    if any(values.shape != (len(ids),) for values in scores) or (tokens and {len(t) for t in tokens} != {len(ids)}):
        raise InputError(f"{len(ids)} items need a score of each scheme, or NaN, and two tokens where there are any.")
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if list(ids).count(name) > 1)
        raise InputError(f"Each item must stand once, and {twice!r} stands more often.")
    if any(np.isinf(values).any() for values in scores):
        raise InputError("A score is infinite; scores are numbers, or missing.")
    has_score = [~np.isnan(values) for values in scores]
    both = np.flatnonzero(has_score[0] & has_score[1])
    labels = np.array(ids, dtype=object)
    x, y = scores[0][both], scores[1][both]
    figures, over = _figures(x, y, names, _coded(tokens, both), resamples, np.random.default_rng(seed))
    return SideBySide(
        names,
        _table(labels[both], x, y),
        tuple(labels[has_score[0] & ~has_score[1]]),
        tuple(labels[has_score[1] & ~has_score[0]]),
        int((~has_score[0] & ~has_score[1]).sum()),
        figures,
        over,
    )


def _table(labels: NDArray[np.object_], x: Floats, y: Floats) -> pd.DataFrame:
    ranks = [metrics.average_ranks(values) if len(values) else values for values in (x, y)]
    gap = ranks[1] - ranks[0]
    table = pd.DataFrame(
        {"item": labels, "one": x, "other": y, "rank_one": ranks[0], "rank_other": ranks[1], "gap": gap}
    )
    return table.iloc[np.argsort(-np.abs(gap), kind="stable")].reset_index(drop=True)


def _coded(tokens: tuple[Sequence[str], Sequence[str]] | None, both: NDArray[np.intp]) -> Coded | None:
    """The tokens of the items both scored, None where they are too few to be resampled."""
    if tokens is None:
        return None
    first, second = (np.array(side, dtype=object)[both] for side in tokens)
    coded = Coded(pd.DataFrame({"area": "", "token_a": first, "token_b": second}))
    return coded if coded.n_tokens >= FEWEST_TOKENS else None


def _figures(
    x: Floats,
    y: Floats,
    names: tuple[str, str],
    coded: Coded | None,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[dict[str, Estimate], str]:
    n = len(x)
    reason = f"over {n} items that both scored, and two are needed" if n < 2 else ""
    for values, name in zip((x, y), names, strict=True):
        if not reason and np.ptp(metrics.rounded_scores(values)) == 0:
            reason = f"all {n} scores of {name} are equal"
    if reason:
        return {name: Estimate(None, reason=reason) for name in FIGURES}, ""
    correlations = _correlations(x, y)
    if n > MOST_ITEMS:
        why = f"no interval: resampling more than {MOST_ITEMS:,} items takes too long"
        return {name: Estimate(value, reason=why) for name, value in zip(FIGURES, correlations, strict=True)}, ""
    times = resamples or number_of_resamples(n)
    drawn = _drawn(x, y, lambda: rng.multinomial(n, np.full(n, 1 / n)), times)
    if coded is None:
        tails = widened_tails(n, LEVEL)
        return {
            name: _with_bounds(value, _percentiles(column, tails))
            for name, value, column in zip(FIGURES, correlations, drawn.T, strict=True)
        }, "items"
    by_tokens = _drawn(x, y, lambda: coded.by_tokens(1, rng)[0].astype(np.int64), times)
    result = {}
    for name, value, of_tokens, of_items in zip(FIGURES, correlations, by_tokens.T, drawn.T, strict=True):
        ends = bounds(value, of_tokens, of_items, CORRECTIONS[_CORRECTION[name]], freedom=coded.freedom)
        result[name] = _with_bounds(value, None if ends is None else (ends.lower, ends.upper))
    return result, "tokens"


def _correlations(x: Floats, y: Floats) -> list[float]:
    """The values of `FIGURES`; raises `UndefinedMetricError`."""
    a, b = metrics.two_rankings(x, y)
    even = np.full(len(a), 1 / len(a))
    weightings = [even, metrics.weights(a, b, N0), metrics.weights(a, a, N0), metrics.weights(b, b, N0)]
    tau, *_ = rank_kernels.tau_of_ranks(a, b, even * len(a))
    return [*(metrics.correlation_of_ranks(a, b, w) for w in weightings), tau]


def _drawn(x: Floats, y: Floats, draw: Callable[[], NDArray[np.int64]], times: int) -> Floats:
    """The figures of resampled items, (times, figures); NaN where they are undefined."""
    figures = np.full((times, len(FIGURES)), np.nan)
    for row in figures:
        at = np.repeat(np.arange(len(x)), draw())
        try:
            row[:] = _correlations(x[at], y[at])
        except UndefinedMetricError:
            continue
    return figures


def _percentiles(drawn: Floats, tails: tuple[float, float]) -> tuple[float, float] | None:
    known = drawn[~np.isnan(drawn)]
    if len(known) < max(2, (1 - MOST_UNDEFINED) * len(drawn)):
        return None
    lower, upper = np.quantile(known, tails).tolist()
    return lower, upper


def _with_bounds(value: float, ends: tuple[float, float] | None) -> Estimate:
    if ends is None:
        return Estimate(value, reason="no interval: in too many resamples the figure is undefined")
    return Estimate(value, min(ends[0], value), max(ends[1], value))


DASH = " – "
_PACKED = (b"PK\x03\x04", b"PAR1")
_OF_DATASETS = {"rank", "lower", "upper", "votes", "ballots", "area"}


@dataclass(frozen=True, eq=False)
class ScoredItems:
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


def read_scored(data: bytes, name: str, *, named: Named | None = None, encoding: str | None = None) -> ScoredItems:
    """Read scores from a file of any scheme; raises `InputError` as the reader of its layout.

    `named` says what best and worst name in a file of best–worst judgements (`read_best_worst`).
    """
    if data.startswith(_PACKED) and not is_spreadsheet(data):
        return of_dataset(read_dataset(data), name)
    header = open_table(data, name, encoding=encoding, fits=(is_best_worst, has_texts)).header
    if is_best_worst(header):
        read = read_best_worst(data, name, named=named, encoding=encoding)
        scored = report_best_worst(read, resamples=1, splits=1)
        fitted = not scored.theta.reason or not np.isnan(scored.theta.score).all()
        scores, what = (scored.theta, "Bradley–Terry") if fitted else (scored.counts, "counts")
        pairs = [item.split(DASH) if item.count(DASH) == 1 else [item, ""] for item in read.items]
        first, second = zip(*pairs, strict=True)
        return ScoredItems(name, f"best–worst ({what})", first, second, scores.score, read.issues, read.notes)
    if is_dataset(header):
        return of_dataset(read_dataset(data, encoding=encoding), name)
    ratings = read_ratings(data, name, encoding=encoding)
    means = item_ratings(ratings.table).mean if ratings.has_people else ratings.mean
    what = "mean rating" if ratings.has_people else "score"
    return ScoredItems(name, what, ratings.first, ratings.second, means, ratings.issues, ratings.notes)


def is_dataset(header: Sequence[str]) -> bool:
    """Whether a table's columns are those of a dataset, and not of ratings."""
    titles = set(map(same_name, header))
    return has_columns(header) and bool(titles & _OF_DATASETS) and "voter" not in titles


def of_dataset(dataset: pd.DataFrame, name: str) -> ScoredItems:
    """The scores of a dataset (`tables.DATASET`)."""
    first, second = (tuple(dataset[column].astype(str)) for column in ("token_a", "token_b"))
    notes = tuple(str(note) for note in dataset.attrs.get("notes", ()))
    return ScoredItems(name, "score", first, second, dataset["score"].to_numpy(dtype=np.float64), notes=notes)


def side_by_side(one: ScoredItems, other: ScoredItems, *, seed: int = 0) -> tuple[SideBySide, tuple[str, ...]]:
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


def _by_item(scored: ScoredItems) -> tuple[dict[tuple[str, str], tuple[str, str, float]], int]:
    by_item: dict[tuple[str, str], list[tuple[str, str, float]]] = {}
    for first, second, score in zip(scored.first, scored.second, scored.score.tolist(), strict=True):
        low, high = sorted((first, second))
        by_item.setdefault((low, high), []).append((first, second, score))
    means = {}
    for key, rows in by_item.items():
        known = [score for *_, score in rows if score == score]
        means[key] = (*rows[0][:2], float(np.mean(known)) if known else float("nan"))
    return means, len(scored.first) - len(by_item)


def _unique(ids: Iterable[str]) -> list[str]:
    """Ids, the second of two equal ones with a number: texts with a dash inside can look alike."""
    times: dict[str, int] = {}
    result = []
    for name in ids:
        times[name] = times.get(name, 0) + 1
        result.append(name if times[name] == 1 else f"{name} ({times[name]})")
    return result
