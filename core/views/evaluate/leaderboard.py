"""The leaderboard of the Evaluate page in words and as a file: one row an embedding, the best first; also by area.

Beside the figures stand the floor and the top of what any embedding can reach, what a headline by one figure alone
would hide, and how many votes and tokens would tell two of the embeddings apart.

Each model's rank is a range: others in it can't be told apart from it, by other voters where the votes are known, and
by other tokens. Groups say the same of all pairs at once.

The file is a page of HTML that needs nothing else, or a table of CSV with the same figures.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from ... import __version__
from ...base.numbers_in_words import percent, plural, with_decimals, with_minus
from ...base.templating import environment
from ...commands.figures.evaluation import Scale
from ...commands.figures.evaluation_inputs import FIGURES
from ...evaluation import FigureEstimate, ModelComparison
from ...evaluation.baselines import Baselines
from ...evaluation.chance import ShareOfCeiling, shares_of
from ...evaluation.mteb_files import Reported, interval_from_n
from ...evaluation.sample_size import Needed
from ...evaluation.token_intervals import PairwiseDifference, groups
from ...metrics import rounded_scores
from ...tabular.csv_writing import table_for_spreadsheets
from .evaluate_page import EvaluateView
from .token_intervals import with_and

NO_SHARE = "The share of what is possible can't be told."
SHARE = "share"  # of a figure's name, in tables: from chance to the best that the votes allow


def with_shares(view: EvaluateView, top: Scale) -> tuple[EvaluateView, tuple[str, ...]]:
    """The view with the shares of ρ_w and τ_w beside them, overall and over common items, and why some are blank.

    The ceiling is that of all items. Without any the view is as it was, and the reasons say why there is none.
    """
    compared, ceilings = view.compared, top.ceilings
    if compared is None or not ceilings:
        return view, tuple(f"{NO_SHARE} {problem}" for problem in top.problems)
    tables, reasons = {"overall": view.overall, "common": view.common}, []
    for name, shares in shares_of(compared, ceilings).items():
        if not len(tables[name]):
            continue
        for key, label in FIGURES[:2]:
            column = f"{label} {SHARE}"
            values = [np.nan if (value := share[key].value) is None else value for share in shares]
            place = list(tables[name].columns).index(label) + 1
            tables[name] = tables[name].copy()
            tables[name].insert(place, column, values)
            by_model = zip(compared.names, shares, strict=True)
            reasons += [f"{model}, {column}: {share[key].reason}" for model, share in by_model if share[key].reason]
    return replace(view, overall=tables["overall"], common=tables["common"]), tuple(dict.fromkeys(reasons))


POSSIBLE = "of what is possible"  # a figure between chance and the ceiling, as a column's name
WITH_INTERVAL = " with its 90% interval"  # after the name of a figure, as a column's name
NO_FIGURE = "–"
TO_COME = "interval to come"
TO_COME_SHORT = "to come"
VOTERS, TOKENS = "with other voters", "with other tokens"
LONGEST = 14  # characters of a name in one piece: in longer ones signs may end a line, or a phone would be too narrow


def leaderboard(
    view: EvaluateView, label: str, differences: Sequence[PairwiseDifference], *, shares: EvaluateView, is_coming: bool
) -> pd.DataFrame:
    """One row an embedding, the highest figure `label` first, all in words.

    Columns: rank (a range where `differences`, of every two embeddings by resampled voters, leave one open); embedding;
    the figure with the interval beside it; of what is possible, where the figure has a share; covered, the share of the
    items.

    view : whose tables have the columns `BOUNDS` where intervals are there. shares : the view with its shares.
    is_coming : intervals are being computed.
    """
    rows = view.chosen.sort_values(label, ascending=False, kind="stable", na_position="last")
    figures = dict(zip(rows["embedding"], rows[label], strict=True))
    covered = dict(zip(view.overall["embedding"], view.overall["coverage"], strict=True))
    table = pd.DataFrame({"rank": ranks(figures, differences), "embedding": list(figures)})
    has_intervals = is_coming or rows.get(f"{label} corrected", pd.Series(dtype=float)).notna().any()
    column = f"{view.named(label)}{WITH_INTERVAL if has_intervals else ''}"
    table[column] = [_with_interval(row, label, is_coming=is_coming) for _, row in rows.iterrows()]
    share = f"{label} {SHARE}"
    if share in shares.chosen:
        share_of = dict(zip(shares.chosen["embedding"], shares.chosen[share], strict=True))
        table[POSSIBLE] = [NO_FIGURE if np.isnan(share_of[name]) else percent(share_of[name]) for name in figures]
    table["covered"] = [percent(covered[name]) for name in figures]
    return table


def ranks(figures: Mapping[str, float], differences: Sequence[PairwiseDifference]) -> list[str]:
    """The rank of each embedding of `figures` (higher is better), as text: a range where others may be level with it.

    Without `differences` the ranks are those of the figures. An embedding without a figure has no rank.

    >>> ranks({"a": .6, "b": .4, "c": .4}, ())
    ['1', '2 to 3', '2 to 3']
    >>> ranks({"a": .6, "b": .5, "c": .1}, [PairwiseDifference("b", "a", -.1, -.1, .1, -.3, .1, .2, .4),
    ... PairwiseDifference("a", "c", .5, .5, .1, \
.3, .7, 1, 0), PairwiseDifference("b", "c", .4, .4, .1, .2, .6, 1, 0)])
    ['1 to 2', '1 to 2', '3']
    """
    return [rank_said(bounds) for bounds in rank_ranges(figures, differences)]


def rank_said(bounds: tuple[int, int] | None) -> str:
    """A range of ranks as text."""
    if bounds is None:
        return NO_FIGURE
    first, last = bounds
    return f"{first}" if first == last else f"{first} to {last}"


def rank_ranges(
    figures: Mapping[str, float], differences: Sequence[PairwiseDifference]
) -> list[tuple[int, int] | None]:
    """The first and the last rank that each may have; None for one without a figure."""
    names = [name for name, value in figures.items() if not np.isnan(value)]
    if differences:
        better = {
            frozenset((p.first, p.second)): p.first if p.corrected > 0 else p.second for p in differences if p.is_apart
        }
    else:
        values = dict(zip(names, rounded_scores([figures[name] for name in names], largest=1).tolist(), strict=True))
        better = {frozenset((a, b)): a for a in names for b in names if values[a] > values[b]}
    bounds: list[tuple[int, int] | None] = []
    for name in figures:
        won = [better.get(frozenset((name, other))) for other in names if other != name]
        first = 1 + sum(winner not in (None, name) for winner in won)
        last = len(names) - sum(winner == name for winner in won)
        bounds.append((first, last) if name in names else None)
    return bounds


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
    return with_minus(text)


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
    column, figures = view.named(label), plain
    for name, unit, compared in ((VOTERS, "votes", votes), (TOKENS, "tokens", tokens)):
        intervals = to_come if unit in coming else _of_areas(compared, key, unit) if compared is not None else []
        if any(intervals) and unit == "votes":
            column = f"{column} {name}"
            figures = [interval or measured for interval, measured in zip(intervals, plain, strict=True)]
        elif any(intervals):
            table[name] = [interval or NO_FIGURE for interval in intervals]
    table["embedding"] += [f", {percent(share)} covered" if share < 1 else "" for share in view.by_area["coverage"]]
    places = {area: place for place, area in enumerate(dict.fromkeys(table["area"]))}
    table = table.assign(order=table["area"].map(places), shown=figures)
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
    sentences = []
    plain = _first(view.chosen, "ρ")
    if plain and leaders[0] not in plain:
        sentences.append(
            plural(len(plain), "By plain ρ, {names} leads.", "By plain ρ, {names} lead.", names=with_and(plain))
        )
    firsts = [_first(part, "ρ_w") for _, part in view.by_area.groupby("area", sort=False)]
    wins = {name: sum(name in first for first in firsts) for name in view.overall["embedding"]}
    others = {name: n for name, n in wins.items() if n and name != leaders[0]}
    if len(firsts) > 1 and others:
        named = with_and([f"{name} in {n}" for name, n in sorted(others.items(), key=lambda each: -each[1])])
        sentences.append(f"{leaders[0]} leads in {wins[leaders[0]]} of {len(firsts)} areas, {named}.")
    return " ".join(sentences)


def _first(rows: pd.DataFrame, label: str) -> list[str]:
    """The embeddings with the highest figure of a table; none where it is undefined."""
    figures = rows[label]
    is_measured = figures.notna()
    values = rounded_scores(figures[is_measured], largest=1)
    return rows["embedding"][is_measured][values == values.max(initial=-np.inf)].tolist()


def sentence(needed: Needed, first: str, second: str, now: int) -> str:
    """What is needed, in a sentence; `now` is what there is."""
    if needed.tried:
        return f"To tell {first} and {second} apart with 80% takes {needed}; there are {now:,} now."
    return f"{first} and {second} don't differ at all, so no number of {needed.unit} tells them apart."


def simulated(needed: Needed) -> str:
    """How much was simulated, in a sentence."""
    return f"{needed.simulations:,} simulations of {needed.least:,} to {needed.most:,} {needed.unit}."


SHOWN = ("rho_w", "tau_w", "rho")  # figures of the page; the table has all
LABELS = dict(FIGURES)
UNITS = {"votes": "other voters", "tokens": "other tokens"}
BY_POLICY = {
    "common": "Figures are over the {n} that all models cover.",
    "parts": "Figures are over the {n} that all models cover, words of several parts as the mean of these.",
    "own": "Each model's figures are over its own items: such figures don't stand side by side.",
    "lowest": "An item that a model lacks counts as its lowest.",
}


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """The contents of a leaderboard.

    compared : the models with their intervals, their names all different. told : of "votes" and "tokens" what is known
    of every two models by figure; problems : why one of them is missing. shares : of each model, by figure. reported :
    figures of result files. recipes : how models were made, by their names. floor : what knows nothing of meaning.
    """

    title: str
    compared: ModelComparison
    told: Mapping[str, Mapping[str, Sequence[PairwiseDifference]]]
    problems: Mapping[str, str]
    shares: Sequence[Mapping[str, ShareOfCeiling]]
    why_no_ceiling: str = ""
    first: str = "rho_w"
    reported: Sequence[Reported] = ()
    recipes: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    floor: Baselines | None = None
    remarks: Sequence[str] = ()

    @property
    def order(self) -> list[int]:
        """The models by the first figure, the highest first; those without one last."""
        values = [self.estimate(place, self.first) for place in range(len(self.compared.names))]
        return np.argsort([-value if value == value else np.inf for value in values], kind="stable").tolist()

    @property
    def figures(self) -> dict[str, float]:
        """The first figure of each model, as measured, in their order; NaN for one that is undefined."""
        return {self.compared.names[place]: self.estimate(place, self.first) for place in self.order}

    def estimate(self, place: int, figure: str) -> float:
        """A model's figure as measured, NaN where it is undefined."""
        value = self.figure(place, figure).estimate
        return np.nan if value is None else value

    def figure(self, place: int, figure: str) -> FigureEstimate:
        """A model's figure under the policy."""
        estimate: FigureEstimate = getattr(self.compared.figures[place], figure)
        return estimate

    def apart(self, unit: str) -> Sequence[PairwiseDifference]:
        """What is known of every two models in the first figure, by other voters or tokens."""
        return self.told.get(unit, {}).get(self.first, ())

    @property
    def units(self) -> list[str]:
        """What was resampled, of `UNITS`."""
        return [unit for unit in UNITS if unit in self.told]

    def ranges(self, unit: str) -> dict[str, tuple[int, int] | None]:
        """The first and the last rank that each model may have by other voters or tokens; None without a figure. Where
        nothing is known of any two, each may have every rank."""
        figures, differences = self.figures, self.apart(unit)
        n = sum(not np.isnan(value) for value in figures.values())
        if differences:
            return dict(zip(figures, rank_ranges(figures, differences), strict=True))
        return {name: None if np.isnan(value) else (1, n) for name, value in figures.items()}

    def groups(self, unit: str) -> list[tuple[str, ...]]:
        """The sets of models that can't be told apart by other voters or tokens, the leaders' first."""
        apart = {frozenset((pair.first, pair.second)) for pair in self.apart(unit) if pair.is_apart}
        names = [name for name, value in self.figures.items() if not np.isnan(value)]
        return groups(names, lambda one, other: frozenset((one, other)) in apart)


def leaderboard_csv(board: Leaderboard) -> bytes:
    """A row a model, the best first, then one a figure of a result file: ranks, figures with all bounds, coverage."""
    by_unit = {unit: board.ranges(unit) for unit in board.units}
    letters = {unit: _letters(board.groups(unit)) for unit in by_unit}
    rows: list[dict[str, Any]] = []
    for place in board.order:
        name, figures = board.compared.names[place], board.compared.figures[place]
        row: dict[str, Any] = {"model": name}
        for unit, ranges in by_unit.items():
            low, high = ranges[name] or (None, None)
            row |= {f"rank_{unit}_from": low, f"rank_{unit}_to": high, f"group_{unit}": letters[unit].get(name, "")}
        own = board.compared.evaluations[place].overall
        row |= {"n_items": _n_items(board), "n_covered": own.n_covered, "coverage": own.coverage}
        row["n_compared"] = figures.n_covered + figures.n_lowest
        for key, _ in FIGURES:
            figure: FigureEstimate = getattr(figures, key)
            row[key] = figure.estimate
            for unit, ends in (("votes", figure.by_votes), ("tokens", figure.by_tokens)):
                if unit in by_unit:
                    row |= dict(zip((f"{key}_{unit}{end}" for end in ("", "_lower", "_upper")), ends, strict=True))
            if key in board.shares[place]:
                share = board.shares[place][key]
                row |= {f"{key}_share": share.value, f"{key}_chance": share.chance, f"{key}_ceiling": share.ceiling}
        row["source"] = "computed here"
        row["made"] = "; ".join(f"{key}: {value}" for key, value in board.recipes.get(name, ()))
        rows.append(row)
    n = _n_items(board)
    for each in board.reported:
        row = {"model": each.model, "n_items": n, "rho": each.spearman, "pearson": each.pearson}
        for key, value in (("rho", each.spearman), ("pearson", each.pearson)):
            bounds = None if value is None else interval_from_n(value, n, spearman=key == "rho")
            row |= dict(zip((f"{key}_n_lower", f"{key}_n_upper"), bounds or (None, None), strict=True))
        row["source"] = f"result file of mteb {each.version}: {each.task}, {each.split}, {each.subset}".strip()
        row["made"] = f"revision: {each.revision}" if each.revision else ""
        rows.append(row)
    return table_for_spreadsheets(pd.DataFrame(rows, dtype=object))


def leaderboard_page(board: Leaderboard) -> str:
    """The page: everything in it is escaped, it holds no script and asks for nothing from elsewhere."""
    units, rows = board.units, []
    measured = dict(zip(board.figures, ranks(board.figures, ()), strict=True))
    by_unit = {unit: {name: rank_said(bounds) for name, bounds in board.ranges(unit).items()} for unit in units}
    for place in board.order:
        name = board.compared.names[place]
        own = board.compared.evaluations[place].overall
        share = board.shares[place].get(board.first)
        rows.append(
            {
                "name": name,
                "ranks": [by_unit[unit][name] for unit in units] or [measured[name]],
                "figures": [_cells(board.figure(place, key)) for key in SHOWN],
                "share": NO_FIGURE if share is None or share.value is None else percent(share.value),
                "covered": f"{percent(own.coverage)} ({own.n_covered:,})",
                "fewer": board.compared.fewer(place),
                "made": board.recipes.get(name, ()),
                "notes": _notes(board, place),
            }
        )
    first = board.compared.evaluations[0]
    n = _n_items(board)
    policy = BY_POLICY[board.compared.policy].format(n=plural(board.compared.n_common, "{n} item", "{n} items"))
    page = environment(__package__).get_template("leaderboard.html.j2")
    return page.render(
        css=(files(__package__) / "leaderboard.css").read_text(encoding="utf-8"),
        board=board,
        labels=LABELS,
        shown=SHOWN,
        first=LABELS[board.first],
        units=[UNITS[unit] for unit in units],
        rows=rows,
        groups=[(UNITS[unit], board.groups(unit)) for unit in units],
        by="|cos|" if first.notion == "relatedness" else "cos",
        notion=first.notion,
        n0=f"{first.n0:g}",
        n_items=n,
        policy=policy,
        limits=_limits(board),
        floor=_floor(board),
        reported=[(each, [_reported(each, key, n) for key in ("rho", "pearson")]) for each in board.reported],
        version=__version__,
    )


def _n_items(board: Leaderboard) -> int:
    return len(board.compared.evaluations[0].pairs)


def _letters(model_groups: Sequence[tuple[str, ...]]) -> dict[str, str]:
    """The numbers of the groups that each model is in, such as "1 2"."""
    numbers_of: dict[str, str] = {}
    for number, group in enumerate(model_groups, 1):
        for name in group:
            numbers_of[name] = f"{numbers_of[name]} {number}" if name in numbers_of else str(number)
    return numbers_of


def _cells(figure: FigureEstimate) -> dict[str, Any]:
    """A figure as measured, and what its intervals say."""
    if figure.estimate is None:
        return {"value": NO_FIGURE, "why": figure.reason, "ends": []}
    ends = [
        (UNITS[unit], f"{with_decimals(lower, 2)} to {with_decimals(upper, 2)}")
        for unit, (value, lower, upper) in (("votes", figure.by_votes), ("tokens", figure.by_tokens))
        if value is not None and lower is not None and upper is not None
    ]
    return {"value": with_decimals(figure.estimate), "why": "", "ends": ends}


def _notes(board: Leaderboard, place: int) -> list[str]:
    """What a reader of a model's figures should know."""
    evaluation = board.compared.evaluations[place]
    notes = list(evaluation.notes)
    if evaluation.missing:
        n = len(evaluation.missing)
        notes.append(plural(n, "it lacks {n} token", "it lacks {n} tokens"))
    if evaluation.proposed:
        n = len(evaluation.proposed)
        notes.append(
            plural(
                n,
                "it proposed {n} token of the dataset itself, which favours it",
                "it proposed {n} tokens of the dataset itself, which favours it",
            )
        )
    if remark := board.compared.figures[place].remark:
        notes.append(remark)
    return notes


def _limits(board: Leaderboard) -> list[tuple[str, str, str]]:
    """Of each figure with a share: its label, what a random ranking gets, and the best that the votes allow."""
    if board.why_no_ceiling or not board.shares:
        return []
    shares = board.shares[board.order[0]]
    return [
        (LABELS[key], with_decimals(share.chance), with_decimals(share.ceiling))
        for key, share in shares.items()
        if share.chance is not None and share.ceiling is not None
    ]


def _floor(board: Leaderboard) -> list[tuple[str, list[str]]]:
    """What knows nothing of meaning: names, and their figures as measured."""
    if board.floor is None:
        return []
    return [(name, [_cells(getattr(figures, key))["value"] for key in SHOWN]) for name, figures in board.floor.rows]


def _reported(each: Reported, key: str, n: int) -> str:
    """A figure of a result file, with its interval from the number of items."""
    value = each.spearman if key == "rho" else each.pearson
    if value is None:
        return NO_FIGURE
    bounds = interval_from_n(value, n, spearman=key == "rho")
    return with_decimals(value) if bounds is None else with_minus(f"{value:.3f} ({bounds[0]:.2f} to {bounds[1]:.2f})")
