"""The leaderboard of the Evaluate page: one row an embedding, the best first, in words; the same by area; and what a
headline by one figure alone would hide.

The floor and the top of a table of embeddings beside their figures.

How many votes and tokens would tell two of a project's embeddings apart, in words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ...base.numbers_in_words import percent, plural
from ...commands.figures.evaluation import Scale
from ...commands.figures.evaluation_inputs import FIGURES
from ...evaluation import FigureEstimate, ModelComparison
from ...evaluation.chance import shares_of
from ...evaluation.differences import PairwiseDifference
from ...evaluation.sample_size import Needed
from ...metrics import rounded_scores
from .evaluate_page import EvaluateView
from .token_intervals import with_and

NO_SHARE = "No share from chance to the best that the votes allow:"
SHARE = "share"  # of a figure's name, in tables: from chance to the best that the votes allow


def with_shares(view: EvaluateView, top: Scale) -> tuple[EvaluateView, tuple[str, ...]]:
    """The view with the shares of ρ_w and τ_w beside them, overall and over common items, and why some are blank.

    The ceiling is that of all items. Without any the view is as it was, and the reasons say why there is none.
    """
    compared, ceilings = view.compared, top.ceilings
    if compared is None or not ceilings:
        return view, tuple(f"{NO_SHARE} {problem}" for problem in top.problems)
    tables, reasons = {"overall": view.overall, "common": view.common}, []
    for name, found in shares_of(compared, ceilings).items():
        if not len(tables[name]):
            continue
        for key, label in FIGURES[:2]:
            column = f"{label} {SHARE}"
            values = [np.nan if (value := of[key].value) is None else value for of in found]
            place = list(tables[name].columns).index(label) + 1
            tables[name] = tables[name].copy()
            tables[name].insert(place, column, values)
            named = zip(compared.names, found, strict=True)
            reasons += [f"{model}, {column}: {of[key].reason}" for model, of in named if of[key].reason]
    return replace(view, overall=tables["overall"], common=tables["common"]), tuple(dict.fromkeys(reasons))


POSSIBLE = "of what is possible"  # a figure between chance and the ceiling, as a column's name
WITH_INTERVAL = " with its 90 % interval"  # after the name of a figure, as a column's name
NO_FIGURE = "–"
TO_COME = "interval to come"
TO_COME_SHORT = "to come"
VOTERS, TOKENS = "with other voters", "with other tokens"
LONGEST = 14  # characters of a name in one piece: in longer ones signs may end a line, or a phone would be too narrow


def leaderboard(
    view: EvaluateView, label: str, told: Sequence[PairwiseDifference], *, shares: EvaluateView, is_coming: bool
) -> pd.DataFrame:
    """One row an embedding, the highest figure `label` first, all in words.

    Columns: rank (a range where `told`, every two embeddings by other voters, leaves one open); embedding; the figure
    with the interval beside it; of what is possible, where the figure has a share; covered, the share of the items.

    view : whose tables have the columns `BOUNDS` where intervals are there. shares : the view with its shares.
    is_coming : intervals are being computed.
    """
    rows = view.chosen.sort_values(label, ascending=False, kind="stable", na_position="last")
    figures = dict(zip(rows["embedding"], rows[label], strict=True))
    covered = dict(zip(view.overall["embedding"], view.overall["coverage"], strict=True))
    table = pd.DataFrame({"rank": ranks(figures, told), "embedding": list(figures)})
    has_intervals = is_coming or rows.get(f"{label} corrected", pd.Series(dtype=float)).notna().any()
    column = f"{view.named(label)}{WITH_INTERVAL if has_intervals else ''}"
    table[column] = [_with_interval(row, label, is_coming=is_coming) for _, row in rows.iterrows()]
    share = f"{label} {SHARE}"
    if share in shares.chosen:
        found = dict(zip(shares.chosen["embedding"], shares.chosen[share], strict=True))
        table[POSSIBLE] = [NO_FIGURE if np.isnan(found[name]) else percent(found[name]) for name in figures]
    table["covered"] = [percent(covered[name]) for name in figures]
    return table


def ranks(figures: Mapping[str, float], told: Sequence[PairwiseDifference]) -> list[str]:
    """The rank of each embedding of `figures` (higher is better), as text: a range where others can't be told from it.

    Without `told` the ranks are those of the figures. An embedding without a figure has no rank.

    >>> ranks({"a": .6, "b": .4, "c": .4}, ())
    ['1', '2 to 3', '2 to 3']
    >>> ranks({"a": .6, "b": .5, "c": .1}, [PairwiseDifference("b", "a", -.1, -.1, .1, -.3, .1, .2, .4),
    ... PairwiseDifference("a", "c", .5, .5, .1, \
.3, .7, 1, 0), PairwiseDifference("b", "c", .4, .4, .1, .2, .6, 1, 0)])
    ['1 to 2', '1 to 2', '3']
    """
    return [rank_said(found) for found in rank_ranges(figures, told)]


def rank_said(found: tuple[int, int] | None) -> str:
    """A range of ranks as text."""
    if found is None:
        return NO_FIGURE
    first, last = found
    return f"{first}" if first == last else f"{first} to {last}"


def rank_ranges(figures: Mapping[str, float], told: Sequence[PairwiseDifference]) -> list[tuple[int, int] | None]:
    """The first and the last rank that each may have, as `ranks` says them; None for one without a figure."""
    names = [name for name, value in figures.items() if not np.isnan(value)]
    if told:
        better = {frozenset((p.first, p.second)): p.first if p.corrected > 0 else p.second for p in told if p.is_apart}
    else:
        values = dict(zip(names, rounded_scores([figures[name] for name in names], largest=1).tolist(), strict=True))
        better = {frozenset((a, b)): a for a in names for b in names if values[a] > values[b]}
    found: list[tuple[int, int] | None] = []
    for name in figures:
        won = [better.get(frozenset((name, other))) for other in names if other != name]
        first = 1 + sum(winner not in (None, name) for winner in won)
        last = len(names) - sum(winner == name for winner in won)
        found.append((first, last) if name in names else None)
    return found


def _with_interval(row: pd.Series, label: str, *, is_coming: bool) -> str:
    """The figure that the interval is about, and the interval; as it was measured where there is none."""
    if np.isnan(row[label]):
        return NO_FIGURE
    if np.isnan(row.get(f"{label} corrected", np.nan)):
        return in_cell(row[label], TO_COME if is_coming else "")
    return between(*(row[f"{label} {end}"] for end in ("corrected", "lower", "upper")))


def between(value: float, lower: float, upper: float) -> str:
    """A figure and its interval, which stays in one piece.

    >>> between(0.5871, 0.5512, 0.6228).replace(chr(160), " ")
    '**0.587** 0.55 to 0.62'
    """
    return in_cell(value, f"{lower:.2f} to {upper:.2f}")


def in_cell(value: float, beside: str) -> str:
    """A figure in a cell of Markdown, and what is beside it, or below it where the cell is narrow."""
    text = " ".join(filter(None, [f"**{value:.3f}**", beside.replace(" ", "\N{NO-BREAK SPACE}")]))
    return text.replace("-", "−")


def breakable(name: str) -> str:
    """A name that may break after its signs where it is long, so that a narrow table holds it.

    >>> breakable("GloVe 50d"), breakable("glove_6B_50d_words").replace(chr(0x200B), "|")
    ('GloVe 50d', 'glove_|6B_|50d_|words')
    """
    cut = re.sub(r"([_\-/.+])(?=\w)", "\\1\N{ZERO WIDTH SPACE}", name)
    return cut if max(map(len, name.split()), default=0) > LONGEST else name


def by_area(
    view: EvaluateView,
    label: str,
    votes: ModelComparison | None,
    tokens: ModelComparison | None,
    *,
    coming: Collection[str] = (),
) -> pd.DataFrame:
    """A row an area and embedding, each area's highest figure `label` first, in words: area; embedding, with its
    coverage where it lacks items; the figure with its interval over other voters, and the one over other tokens.

    Each is over the embedding's own items. coming : of "votes" and "tokens", what is being computed.
    """
    key = next(key for key, each in FIGURES if each == label)
    table = view.by_area[["area", "embedding", label]].copy()
    plain = [NO_FIGURE if np.isnan(value) else in_cell(value, "") for value in table[label]]
    to_come = [NO_FIGURE if np.isnan(value) else in_cell(value, TO_COME) for value in table[label]]
    column, shown = view.named(label), plain
    for name, unit, compared in ((VOTERS, "votes", votes), (TOKENS, "tokens", tokens)):
        found = to_come if unit in coming else _of_areas(compared, key, unit) if compared is not None else []
        if any(found) and unit == "votes":
            column = f"{column} {name}"
            shown = [of or measured for of, measured in zip(found, plain, strict=True)]
        elif any(found):
            table[name] = [of or NO_FIGURE for of in found]
    table["embedding"] += [f", {percent(share)} covered" if share < 1 else "" for share in view.by_area["coverage"]]
    places = {area: place for place, area in enumerate(dict.fromkeys(table["area"]))}
    table = table.assign(order=table["area"].map(places), shown=shown)
    table = table.sort_values(["order", label], ascending=[True, False], kind="stable", na_position="last")
    columns = ["area", "embedding", "shown", *([TOKENS] if TOKENS in table else [])]
    return table[columns].rename(columns={"shown": column}).reset_index(drop=True)


def _of_areas(compared: ModelComparison, key: str, unit: str) -> list[str]:
    """One figure of every area of every embedding with its interval; "" where it has none."""

    def said(figure: FigureEstimate) -> str:
        value, lower, upper = figure.by_votes if unit == "votes" else figure.by_tokens
        return "" if value is None or lower is None or upper is None else between(value, lower, upper)

    return [said(getattr(figures, key)) for e in compared.evaluations for figures in e.areas.values()]


def beside_the_leader(view: EvaluateView) -> str:
    """What the leader by ρ_w hides: that another leads by plain ρ, and in some areas; "" where it leads there too.

    As measured; in each area every embedding is over its own items.
    """
    leaders = list(view.leaders["embedding"])
    if len(leaders) != 1 or len(view.overall) < 2 or not view.names_winner:
        return ""
    said = []
    plain = _first(view.chosen, "ρ")
    if plain and leaders[0] not in plain:
        said.append(
            plural(len(plain), "By plain ρ, {names} leads.", "By plain ρ, {names} lead.", names=with_and(plain))
        )
    firsts = [_first(part, "ρ_w") for _, part in view.by_area.groupby("area", sort=False)]
    wins = {name: sum(name in first for first in firsts) for name in view.overall["embedding"]}
    others = {name: n for name, n in wins.items() if n and name != leaders[0]}
    if len(firsts) > 1 and others:
        named = with_and([f"{name} in {n}" for name, n in sorted(others.items(), key=lambda each: -each[1])])
        said.append(f"{leaders[0]} leads in {wins[leaders[0]]} of {len(firsts)} areas, {named}.")
    return " ".join(said)


def _first(rows: pd.DataFrame, label: str) -> list[str]:
    """The embeddings with the highest figure of a table; none where it is undefined."""
    there = rows.dropna(subset=[label])
    values = rounded_scores(there[label], largest=1)
    return there["embedding"][values == values.max(initial=-np.inf)].tolist()


def sentence(needed: Needed, first: str, second: str, now: int) -> str:
    """What is needed, in a sentence; `now` is what there is."""
    if needed.tried:
        return f"To tell {first} and {second} apart with 80 % takes {needed}; there are {now:,} now."
    return f"{first} and {second} don't differ at all, so no number of {needed.unit} tells them apart."


def simulated(needed: Needed) -> str:
    """How much was simulated, in a sentence."""
    return f"{needed.simulations:,} simulations of {needed.least:,} to {needed.most:,} {needed.unit}."
