"""Figures of the Evaluate page that take long: what each is, when it is made at once, and how a job keeps it.

A job's result is JSON under the project's revision and the page's settings; a reload or another tab finds it there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import pandas as pd

from ..evaluation import Comparison, Correlations
from ..evaluation.differences import Told
from ..evaluation_intervals import Difference
from ..jobs import Job
from ..store import Store
from . import draws, evaluate, evaluate_scale, evaluate_tokens, evaluate_why
from .evaluate import FIGURES, EvaluateView, IntervalsView
from .evaluate_scale import Scale
from .evaluate_tokens import TokensView
from .kept_figures import of_one_state, table_found, table_kept

KIND = "evaluation_figure"
VERSION = 7  # raised whenever the same parameters would give another result, or another shape of it
QUICK_VOTES = 25_000  # whose voters are resampled while the page waits
VOTES_ENDS, TOKENS_ENDS = ("corrected", "lower", "upper"), ("token_corrected", "token_lower", "token_upper")


@dataclass(frozen=True)
class Slow:
    """A figure: how it is made of a view, how its result becomes JSON and a result again, what a job says meanwhile.

    `made(store, project_id, view, *extra)`; `kept(result)`; `found(json, view)`.
    """

    label: str
    made: Callable[..., Any]
    kept: Callable[[Any], Any]
    found: Callable[[Any, EvaluateView], Any]


def bounds_kept(comparison: Comparison | None, ends: tuple[str, ...]) -> dict[str, Any] | None:
    """The bounds of all figures of a comparison, and what they are about."""
    if comparison is None:
        return None

    def of(figures: Correlations) -> list[list[float | None]]:
        return [[getattr(getattr(figures, key), end) for end in ends] for key, _ in FIGURES]

    return {
        "overall": [of(e.overall) for e in comparison.evaluations],
        "common": [of(figures) for figures in comparison.common],
        "areas": [{area: of(figures) for area, figures in e.areas.items()} for e in comparison.evaluations],
    }


def with_bounds(comparison: Comparison | None, kept: Mapping[str, Any] | None, ends: tuple[str, ...]) -> Any:
    """A comparison with the bounds that `bounds_kept` kept of it; None where there were none."""
    if comparison is None or kept is None:
        return None

    def of(figures: Correlations, found: list[list[float | None]]) -> Correlations:
        changed = {
            key: replace(getattr(figures, key), **dict(zip(ends, bounds, strict=True)))
            for (key, _), bounds in zip(FIGURES, found, strict=True)
        }
        return replace(figures, **changed)

    evaluations = tuple(
        replace(e, overall=of(e.overall, overall), areas={area: of(e.areas[area], areas[area]) for area in e.areas})
        for e, overall, areas in zip(comparison.evaluations, kept["overall"], kept["areas"], strict=True)
    )
    common = tuple(of(figures, found) for figures, found in zip(comparison.common, kept["common"], strict=True))
    return replace(comparison, evaluations=evaluations, common=common)


def _votes_made(store: Store, project_id: str, view: EvaluateView, resamples: int = 0) -> IntervalsView:
    return evaluate.load_intervals(view, draws.load(store, project_id, resamples))


def _votes_kept(found: IntervalsView) -> dict[str, Any]:
    return {
        "bounds": bounds_kept(found.compared, VOTES_ENDS),
        "differences": [asdict(difference) for difference in found.differences],
        "resamples": found.resamples,
        "problem": found.problem,
    }


def _votes_found(kept: Mapping[str, Any], view: EvaluateView) -> IntervalsView:
    compared = with_bounds(view.compared, kept["bounds"], VOTES_ENDS)
    differences = tuple(Difference(**difference) for difference in kept["differences"])
    return evaluate.intervals_of(view, compared, differences, kept["resamples"], kept["problem"])


def _tokens_kept(found: TokensView) -> dict[str, Any]:
    return {
        "bounds": bounds_kept(found.compared, TOKENS_ENDS),
        "told": {key: [asdict(pair) for pair in told] for key, told in found.by_figure.items()},
        "n_tokens": found.n_tokens,
        "problem": found.problem,
    }


def _tokens_found(kept: Mapping[str, Any], view: EvaluateView) -> TokensView:
    told = {key: tuple(Told(**pair) for pair in pairs) for key, pairs in kept["told"].items()}
    return TokensView(with_bounds(view.compared, kept["bounds"], TOKENS_ENDS), kept["n_tokens"], told, kept["problem"])


def _scale_kept(found: Scale) -> dict[str, Any]:
    return {"floor": table_kept(found.floor), "top": table_kept(found.top), "problems": list(found.problems)}


def _scale_found(kept: Mapping[str, Any], _view: EvaluateView) -> Scale:
    return Scale(table_found(kept["floor"]), table_found(kept["top"]), tuple(kept["problems"]))


def _top_made(store: Store, project_id: str, view: EvaluateView) -> Scale:
    return evaluate_scale.load_top(store, project_id, view.n0)


def _table_found(kept: Mapping[str, Any], _view: EvaluateView) -> pd.DataFrame:
    return table_found(kept)


def _curve_made(_store: Store, _project_id: str, view: EvaluateView) -> pd.DataFrame:
    return evaluate_why.curve(view)


def _map_made(store: Store, project_id: str, view: EvaluateView, place: int, area: str) -> tuple[pd.DataFrame, float]:
    return evaluate_why.tokens_map(store, project_id, view.models[place], area)


def _map_kept(found: tuple[pd.DataFrame, float]) -> dict[str, Any]:
    return {"points": table_kept(found[0]), "share": found[1]}


def _map_found(kept: Mapping[str, Any], _view: EvaluateView) -> tuple[pd.DataFrame, float]:
    return table_found(kept["points"]), kept["share"]


SLOW: Mapping[str, Slow] = {
    "votes": Slow("Resampling the voters", _votes_made, _votes_kept, _votes_found),
    "tokens": Slow("Resampling the tokens", evaluate_tokens.load, _tokens_kept, _tokens_found),
    "floor": Slow("Ranking at random and by spelling", evaluate_scale.load_floor, _scale_kept, _scale_found),
    "top": Slow("Setting halves of the voters against each other", _top_made, _scale_kept, _scale_found),
    "p_values": Slow("Permuting the tokens", evaluate_tokens.load_p_values, table_kept, _table_found),
    "curve": Slow("Going along n₀", _curve_made, table_kept, _table_found),
    "variants": Slow("Trying other cosines", evaluate_why.load_variants, table_kept, _table_found),
    "map": Slow("Laying out the tokens", _map_made, _map_kept, _map_found),
}
# How much is done while the page waits, in items times embeddings; votes and maps have a measure of their own.
QUICK: Mapping[str, int] = {"tokens": 2_500, "floor": 2_000, "p_values": 0, "curve": 40_000, "variants": 5_000}
QUICK_MAP = 600  # tokens of an area


def is_quick(name: str, view: EvaluateView, *extra: Any) -> bool:
    """Whether a figure takes no longer than some two seconds, so that the page may wait for it."""
    if name in ("votes", "top"):
        return bool(view.dataset.attrs["votes"] <= QUICK_VOTES and not any(extra))
    if name == "map":
        pairs = view.evaluations[extra[0]].pairs
        here = pairs[pairs["area"] == extra[1]]
        return len({*here["token_a"], *here["token_b"]}) <= QUICK_MAP
    n_models = 1 if name == "floor" else max(len(view.evaluations), 1)
    return len(view.dataset) * n_models <= QUICK[name]


def params_of(name: str, view: EvaluateView, revision: int, *extra: Any) -> dict[str, Any]:
    """What a figure's job is asked for: the figure, the page's settings, the project's revision.

    Votes on the voting page raise no revision: they are of an open ballot, which counts here once it is closed.
    """
    return {"figure": name, "settings": list(view.key), "extra": list(extra), "revision": revision, "version": VERSION}


def result_of(job: Job, view: EvaluateView) -> Any:
    """What a job that is done has found."""
    return SLOW[job.params["figure"]].found((job.result or {})["found"], view)


def carry_out(store: Store, project_id: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Make a figure as a job does: its result as JSON; errors as of `of_one_state`."""

    def made() -> dict[str, Any]:
        figure = SLOW[params["figure"]]
        n0, notion, policy, top = params["settings"]
        view = evaluate.load(store, project_id, n0, notion, policy, top)
        return {"found": figure.kept(figure.made(store, project_id, view, *params["extra"]))}

    return of_one_state(store, project_id, params["revision"], made)
