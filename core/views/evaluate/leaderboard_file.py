"""A leaderboard as a file: a page of HTML that needs nothing else, and a table of CSV with the same figures.

Each model's rank is a range: others in it can't be told apart from it, by other voters where the votes are known, and
by other tokens. Groups say the same of all pairs at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from ... import __version__
from ...base.numbers_in_words import percent, plural
from ...base.templating import environment
from ...commands.figures.evaluation_inputs import FIGURES
from ...evaluation import FigureEstimate, ModelComparison
from ...evaluation.baselines import Baselines
from ...evaluation.chance import ShareOfCeiling
from ...evaluation.differences import PairwiseDifference, groups
from ...evaluation.mteb_files import Reported, interval_from_n
from ...tabular.csv_writing import table_for_spreadsheets
from .leaderboard import NO_FIGURE, rank_ranges, rank_said, ranks

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
    """What a leaderboard tells.

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
        found: FigureEstimate = getattr(self.compared.figures[place], figure)
        return found

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
        figures, told = self.figures, self.apart(unit)
        n = sum(not np.isnan(value) for value in figures.values())
        if told:
            return dict(zip(figures, rank_ranges(figures, told), strict=True))
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
                of = board.shares[place][key]
                row |= {f"{key}_share": of.value, f"{key}_chance": of.chance, f"{key}_ceiling": of.ceiling}
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
    by_unit = {unit: {name: rank_said(found) for name, found in board.ranges(unit).items()} for unit in units}
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


def _letters(found: Sequence[tuple[str, ...]]) -> dict[str, str]:
    """The numbers of the groups that each model is in, such as "1 2"."""
    told: dict[str, str] = {}
    for number, group in enumerate(found, 1):
        for name in group:
            told[name] = f"{told[name]} {number}" if name in told else str(number)
    return told


def _cells(figure: FigureEstimate) -> dict[str, Any]:
    """A figure as measured, and what its intervals say."""
    if figure.estimate is None:
        return {"value": NO_FIGURE, "why": figure.reason, "ends": []}
    ends = [
        (UNITS[unit], f"{lower:.2f} to {upper:.2f}")
        for unit, (value, lower, upper) in (("votes", figure.by_votes), ("tokens", figure.by_tokens))
        if value is not None and lower is not None and upper is not None
    ]
    return {"value": f"{figure.estimate:.3f}", "why": "", "ends": ends}


def _notes(board: Leaderboard, place: int) -> list[str]:
    """What a reader of a model's figures should know."""
    evaluation = board.compared.evaluations[place]
    said = list(evaluation.notes)
    if evaluation.missing:
        n = len(evaluation.missing)
        said.append(plural(n, "it lacks {n} token", "it lacks {n} tokens"))
    if evaluation.proposed:
        n = len(evaluation.proposed)
        said.append(
            plural(
                n,
                "it proposed {n} token of the dataset itself, which favours it",
                "it proposed {n} tokens of the dataset itself, which favours it",
            )
        )
    if remark := board.compared.figures[place].remark:
        said.append(remark)
    return said


def _limits(board: Leaderboard) -> list[tuple[str, str, str]]:
    """Of each figure with a share: its label, what a random ranking gets, and the best that the votes allow."""
    if board.why_no_ceiling or not board.shares:
        return []
    found = board.shares[board.order[0]]
    return [
        (LABELS[key], f"{of.chance:.3f}", f"{of.ceiling:.3f}")
        for key, of in found.items()
        if of.chance is not None and of.ceiling is not None
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
    return f"{value:.3f}" if bounds is None else f"{value:.3f} ({bounds[0]:.2f} to {bounds[1]:.2f})"
