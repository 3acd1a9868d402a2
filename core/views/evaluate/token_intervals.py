"""Intervals over tokens of a project's embeddings, which of them differ clearly, and how much more data would tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np
import pandas as pd

from ...base.numbers_in_words import p_said, percent, with_decimals
from ...commands.figures.evaluation import TOKENS_ENDS, TokensFound, with_bounds
from ...commands.figures.evaluation_inputs import FIGURES
from ...evaluation import Correlations, ModelComparison
from ...evaluation.token_intervals import Coded, PairwiseDifference, adjusted, groups, times_needed
from ...evaluation.vote_intervals import ModelDifference
from .evaluate_page import EvaluateView


@dataclass(frozen=True, eq=False)
class TokenIntervalsView:
    """Intervals over tokens of an evaluation: a comparison with them, of how many tokens, and by figure the differences
    of every two embeddings; `problem` says why not, or ""."""

    compared: ModelComparison | None
    n_tokens: int = 0
    by_figure: Mapping[str, tuple[PairwiseDifference, ...]] = field(default_factory=dict, repr=False)
    problem: str = ""

    def told(self, figure: str) -> tuple[PairwiseDifference, ...]:
        """Every two embeddings by resampled tokens, in one figure."""
        return self.by_figure.get(figure, ())


def tokens_view(view: EvaluateView, resampled: TokensFound) -> TokenIntervalsView:
    """The intervals of a view, of its figures by resampled tokens."""
    return TokenIntervalsView(
        with_bounds(view.compared, resampled.bounds, TOKENS_ENDS), resampled.n_tokens, resampled.told, resampled.problem
    )


def n_tokens(view: EvaluateView) -> int:
    """How many tokens `load` resamples: those of the items that all embeddings cover."""
    if view.compared is None:
        return 0
    every = np.logical_and.reduce([~np.isnan(e.values) for e in view.evaluations])
    return Coded(view.evaluations[0].pairs[every]).n_tokens


def by_votes(differences: tuple[ModelDifference, ...], figure: str = "rho_w") -> tuple[PairwiseDifference, ...]:
    """The difference of every two embeddings in one figure by resampled votes, with Holm-adjusted p-values."""
    of_figure = [d for d in differences if d.figure == figure]
    pairs = [
        PairwiseDifference(d.first, d.second, d.difference, d.corrected, d.error, d.lower, d.upper, d.first_better)
        for d in of_figure
    ]
    return adjusted(pairs)


def table_of(differences: tuple[PairwiseDifference, ...], unit: str, n: int) -> pd.DataFrame:
    """A row for every two embeddings, the better one first; `needed` is how many votes or tokens (`unit`) tell them
    apart, of `n` there are.

    It is 80% power at 10%, two-sided, were the difference exactly what it seems to be; blank where they are apart.
    `difference` is what the interval is about, without the bias that resampling shows; `as measured` is with it.
    `surely` is the probability that the better one is the better.
    """
    rows = []
    for pair in map(_better_first, differences):
        times = times_needed(pair.corrected, pair.error)
        needed = (
            ""
            if pair.is_apart
            else "more than there can be"
            if times > 1000 or times == inf
            else f"{round(n * times):,}"
        )
        surely = percent(pair.first_better)
        inside = min(max(pair.corrected, pair.lower), pair.upper)
        bounds = (inside, pair.lower, pair.upper)
        rows.append((pair.first, pair.second, *bounds, surely, pair.p, needed, pair.difference))
    last_columns = ["surely", "p (Holm)", f"{unit} needed", "as measured"]
    columns = ["better", "than", "difference", "lower", "upper", *last_columns]
    return pd.DataFrame(rows, columns=columns)


def _better_first(pair: PairwiseDifference) -> PairwiseDifference:
    """The pair turned so that its difference isn't negative."""
    if pair.corrected >= 0:
        return pair
    turned = replace(pair, first=pair.second, second=pair.first, difference=-pair.difference, corrected=-pair.corrected)
    return replace(turned, lower=-pair.upper, upper=-pair.lower, first_better=1 - pair.first_better)


def in_words(table: pd.DataFrame, label: str) -> pd.DataFrame:
    """What a page shows of a table of `table_of`: the difference with its interval in one column, and p as text.

    >>> told = PairwiseDifference("a", "b", -0.2, -0.2, 0.1, -0.3, -0.1, 0.02, 0.0001)
    >>> in_words(table_of((told,), "votes", 9), "ρ_w").T[0].tolist()
    ['b', 'a', '0.200 (0.100 to 0.300)', '98%', '< 0.001']
    """
    bounds = zip(table["difference"], table["lower"], table["upper"], strict=True)
    by = [f"{with_decimals(gap)} ({with_decimals(lower)} to {with_decimals(upper)})" for gap, lower, upper in bounds]
    texts = table.drop(columns=["difference", "lower", "upper", "as measured"])
    texts.insert(2, f"by {label} (90% interval)", by)
    needed = [
        name for name in map(str, texts) if name.endswith(" needed") and not any(texts[name])
    ]  # all are told apart
    texts = texts.drop(columns=needed)
    return texts.assign(**{"p (Holm)": [p_said(p) for p in table["p (Holm)"]]}).rename(columns={"p (Holm)": "p"})


def groups_of(names: list[str], differences: tuple[PairwiseDifference, ...]) -> pd.DataFrame:
    """The sets of embeddings that aren't told apart, a row for each set and member: group (a letter), embedding."""
    apart = {frozenset((pair.first, pair.second)) for pair in differences if pair.is_apart}
    sets = groups(names, lambda one, other: frozenset((one, other)) in apart)
    rows = [(_letter(number), name) for number, group in enumerate(sets) for name in group]
    return pd.DataFrame(rows, columns=["group", "embedding"])


def _letter(number: int) -> str:
    return chr(ord("A") + number % 26) * (1 + number // 26)


def unclear(differences: tuple[PairwiseDifference, ...], unit: str) -> str:
    """Which embeddings votes or tokens (`unit`) can't tell apart, in a sentence."""
    pairs = [with_and([pair.first, pair.second]) for pair in differences if not pair.is_apart]
    if not pairs:
        return f"The {unit} tell all of them apart."
    more = f", nor {len(pairs) - 3:,} more pairs" if len(pairs) > 3 else ""
    return f"These {unit} can't tell apart {'; '.join(pairs[:3])}{more}: the difference may be none."


def with_and(names: Sequence[str]) -> str:
    """Names as a sentence lists them; one at least.

    >>> with_and(["a", "b", "c"]), with_and(["a", "b"]), with_and(["a"])
    ('a, b and c', 'a and b', 'a')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


OTHER = {"votes": "other voters", "tokens": "other tokens"}  # what an interval says could have been


def not_told_apart_text(names: list[str], by: dict[str, tuple[PairwiseDifference, ...]]) -> str:
    """Which embeddings the first of `names` can't be told from, for a headline; `by` has what "votes" and "tokens" say.

    Empty where neither says anything.
    """
    units_of: dict[str, list[str]] = {}
    for unit, differences in by.items():
        pairs = [pair for pair in differences if names[0] in (pair.first, pair.second)]
        if pairs:
            level = [p.second if p.first == names[0] else p.first for p in pairs if not p.is_apart]
            units_of.setdefault(_apart_from(level, len(pairs)), []).append(unit)
    return "; ".join(f"{what} with {' or '.join(OTHER[unit] for unit in units)}" for what, units in units_of.items())


def _apart_from(level: list[str], n_others: int) -> str:
    """Which of the others are level with the first, as part of a sentence."""
    if not level:
        return "told apart from the other" if n_others == 1 else "told apart from all others"
    if len(level) < 3:
        return f"not told apart from {with_and(level)}"
    return f"not told apart from {level[0]} and {len(level) - 1} others"


def figures_table(compared: ModelComparison) -> pd.DataFrame:
    """A row for each embedding and figure: embedding, figure, estimate as it was measured, and for either interval the
    estimate it is about and its bounds, NaN for none."""
    rows = []
    for name, figures in zip(compared.names, compared.figures, strict=True):
        for key, label in FIGURES:
            f = getattr(figures, key)
            rows.append((name, label, f.estimate, *f.by_votes, *f.by_tokens))
    ends = ["corrected", "lower", "upper"]
    columns = ["embedding", "figure", "estimate", *ends, *(f"token {end}" for end in ends)]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[2:], "float64"))


def joined(votes: ModelComparison | None, tokens: ModelComparison | None, plain: ModelComparison) -> ModelComparison:
    """One comparison with both intervals, of what was computed of either."""
    if votes is None or tokens is None:
        return votes or tokens or plain

    def both(a: Correlations, b: Correlations) -> Correlations:
        changed = {}
        for key, _ in FIGURES:
            mine, theirs = getattr(a, key), getattr(b, key)
            ends = dict(zip(("token_corrected", "token_lower", "token_upper"), theirs.by_tokens, strict=True))
            changed[key] = replace(mine, **ends)
        return replace(a, **changed)

    pairs = zip(votes.evaluations, tokens.evaluations, strict=True)
    evaluations = tuple(replace(one, overall=both(one.overall, other.overall)) for one, other in pairs)
    common = tuple(both(one, other) for one, other in zip(votes.common, tokens.common, strict=True))
    return replace(votes, evaluations=evaluations, common=common)
