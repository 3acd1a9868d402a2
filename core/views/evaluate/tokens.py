"""What other tokens would have said of a project's embeddings, which of them are told apart, and by how much more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import inf

import numpy as np
import pandas as pd

from ...base.percent import percent
from ...commands.figures.evaluated import FIGURES
from ...commands.figures.evaluation import TOKENS_ENDS, TokensFound, with_bounds
from ...evaluation import Comparison, Correlations, Figure
from ...evaluation.differences import Told, adjusted, groups, times_needed
from ...evaluation.intervals import Difference
from ...evaluation.tokens import Coded
from .evaluate import EvaluateView


@dataclass(frozen=True, eq=False)
class TokensView:
    """Intervals over tokens of an evaluation: a comparison with them, of how many tokens, and by figure what is known
    of every two embeddings; `problem` says why not, or ""."""

    compared: Comparison | None
    n_tokens: int = 0
    by_figure: Mapping[str, tuple[Told, ...]] = field(default_factory=dict, repr=False)
    problem: str = ""

    def told(self, figure: str) -> tuple[Told, ...]:
        """Every two embeddings by resampled tokens, in one figure."""
        return self.by_figure.get(figure, ())


def tokens_view(view: EvaluateView, found: TokensFound) -> TokensView:
    """What was found of a view's tokens."""
    return TokensView(with_bounds(view.compared, found.bounds, TOKENS_ENDS), found.n_tokens, found.told, found.problem)


def n_tokens(view: EvaluateView) -> int:
    """How many tokens `load` resamples: those of the items that all embeddings cover."""
    if view.compared is None:
        return 0
    every = np.logical_and.reduce([~np.isnan(e.values) for e in view.evaluations])
    return Coded(view.evaluations[0].pairs[every]).n_tokens


def by_votes(differences: tuple[Difference, ...], figure: str = "rho_w") -> tuple[Told, ...]:
    """What votes say of every two embeddings in one figure, with p-values adjusted for each other."""
    of_figure = [d for d in differences if d.figure == figure]
    told = [
        Told(d.first, d.second, d.difference, d.corrected, d.error, d.lower, d.upper, d.first_better) for d in of_figure
    ]
    return adjusted(told)


def table_of(told: tuple[Told, ...], unit: str, n: int) -> pd.DataFrame:
    """A row for every two embeddings; `needed` is how many votes or tokens (`unit`) tell them apart, of `n` there are.

    It is 80 % power at 10 %, two-sided, were the difference exactly what it seems to be; blank where they are apart.
    `difference` is what the interval is about, without the bias that resampling shows; `as measured` is with it.
    """
    rows = []
    for pair in told:
        times = times_needed(pair.corrected, pair.error)
        needed = (
            ""
            if pair.is_apart
            else "more than there can be"
            if times > 1000 or times == inf
            else f"{round(n * times):,}"
        )
        better = percent(pair.first_better)
        inside = min(max(pair.corrected, pair.lower), pair.upper)
        bounds = (inside, pair.lower, pair.upper)
        rows.append((pair.first, pair.second, *bounds, better, pair.p, needed, pair.difference))
    told_of = ["better", "p (Holm)", f"{unit} needed", "as measured"]
    columns = ["embedding", "against", "difference", "lower", "upper", *told_of]
    return pd.DataFrame(rows, columns=columns)


def groups_of(names: list[str], told: tuple[Told, ...]) -> pd.DataFrame:
    """The sets of embeddings that aren't told apart, a row for each set and member: group (a letter), embedding."""
    apart = {frozenset((pair.first, pair.second)) for pair in told if pair.is_apart}
    found = groups(names, lambda one, other: frozenset((one, other)) in apart)
    rows = [(_letter(number), name) for number, group in enumerate(found) for name in group]
    return pd.DataFrame(rows, columns=["group", "embedding"])


def _letter(number: int) -> str:
    return chr(ord("A") + number % 26) * (1 + number // 26)


def unclear(told: tuple[Told, ...], unit: str) -> str:
    """Which embeddings votes or tokens (`unit`) can't tell apart, in a sentence."""
    pairs = [with_and([pair.first, pair.second]) for pair in told if not pair.is_apart]
    if not pairs:
        return f"The {unit} tell all of them apart."
    more = f", nor {len(pairs) - 3:,} more pairs" if len(pairs) > 3 else ""
    return f"These {unit} can't tell apart {'; '.join(pairs[:3])}{more}: the difference may be none."


def with_and(names: Sequence[str]) -> str:
    """Names joined by "and".

    >>> with_and(["a", "b"]), with_and(["a"])
    ('a and b', 'a')
    """
    return reduce(lambda one, other: f"{one} and {other}", names)


OTHER = {"votes": "other voters", "tokens": "other words"}  # what an interval says could have been


def said(names: list[str], by: dict[str, tuple[Told, ...]]) -> str:
    """Which embeddings the first of `names` can't be told from, for a headline; `by` has what "votes" and "tokens" say.

    Empty where neither says anything.
    """
    found: dict[str, list[str]] = {}
    for unit, told in by.items():
        pairs = [pair for pair in told if names[0] in (pair.first, pair.second)]
        if pairs:
            level = [p.second if p.first == names[0] else p.first for p in pairs if not p.is_apart]
            found.setdefault(_apart_from(level, len(pairs)), []).append(unit)
    return "; ".join(f"{what} with {' or '.join(OTHER[unit] for unit in units)}" for what, units in found.items())


def _apart_from(level: list[str], n_others: int) -> str:
    if not level:
        return "told apart from the other" if n_others == 1 else "told apart from all others"
    if len(level) < 3:
        return f"not told apart from {with_and(level)}"
    return f"not told apart from {level[0]} and {len(level) - 1} others"


def figures_table(compared: Comparison) -> pd.DataFrame:
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


def by_area(view: EvaluateView, votes: Comparison | None, tokens: Comparison | None) -> pd.DataFrame:
    """The view's figures by area; beside ρ_w and τ_w, as text, what votes and tokens say of them: the estimate without
    the bias of either, and the interval about it."""
    table, beside = view.by_area, []
    for key, label in FIGURES[:2]:
        beside.append(label)
        for unit, found in (("votes", votes), ("tokens", tokens)):
            if found is not None:
                rows = [getattr(figures, key) for e in found.evaluations for figures in e.areas.values()]
                beside.append(f"{label} by {unit}")
                table = table.assign(**{beside[-1]: [_between(figure, unit) for figure in rows]})
    order = [*table.columns[:5], *beside]
    return table[[*order, *(name for name in table.columns if name not in order)]]


def _between(figure: Figure, unit: str) -> str:
    value, lower, upper = figure.by_votes if unit == "votes" else figure.by_tokens
    return "" if value is None else f"{value:.2f} ({lower:.2f} to {upper:.2f})"


def joined(votes: Comparison | None, tokens: Comparison | None, plain: Comparison) -> Comparison:
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
