"""Figures of the Evaluate page that take long: what each is, how long it takes, and how it is kept.

A result is JSON under the project's revision and the page's settings (`core.figures`); a reload, another tab or the app
after a restart finds it there. `keep_figures` measures what a first visit wants, without a page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import pandas as pd

from .. import figures
from ..evaluation import TOP_K, Comparison, Correlations
from ..evaluation import tokens as token_draws
from ..evaluation.differences import Told
from ..evaluation_intervals import Difference
from ..jobs import Job
from ..progress import Progress, split
from ..protocols import protocol_of
from ..resampled import number_of_resamples
from ..store import Store
from ..store.projects import get_project
from . import draws, evaluate, evaluate_scale, evaluate_tokens, evaluate_why
from .evaluate import FIGURES, EvaluateView, IntervalsView
from .evaluate_scale import Scale
from .evaluate_tokens import TokensView
from .kept_figures import table_found, table_kept

KIND, SEVERAL = "evaluation_figure", "evaluation_figures"  # of jobs: one figure; all that a first visit wants
VERSION = 7  # raised whenever the same parameters would give another result, or another shape of it
# Seconds: what a page waits for, all of it together, and what is so little that it never goes to a job; what a job
# begins with by itself, figure by figure: longer ones wait for somebody who asks.
AT_ONCE, LITTLE, BY_ITSELF = 0.5, 0.1, 60.0
FIRST = ("votes", "tokens", "floor", "top", "curve", "variants")  # what a first visit wants, in the order of its job
VOTES_ENDS, TOKENS_ENDS = ("corrected", "lower", "upper"), ("token_corrected", "token_lower", "token_upper")
Settings = tuple[float, str, str, int]  # n₀, notion, policy, k of the precision: `EvaluateView.key`


@dataclass(frozen=True)
class Slow:
    """A figure: how it is made of a view, how its result becomes JSON and a result again, how long it takes.

    `made(store, project_id, view, *extra, progress=None)`; `kept(result)`; `found(json, view)`; `seconds(view, *extra)`
    roughly, on one quiet core. label : what a job says meanwhile.
    """

    label: str
    made: Callable[..., Any]
    kept: Callable[[Any], Any]
    found: Callable[[Any, EvaluateView], Any]
    seconds: Callable[..., float]


@dataclass(frozen=True)
class EvaluateFigure:
    """A figure of `SLOW` as `core.figures` takes it: of a view, which has the settings, and what else is asked for."""

    name: str
    project_id: str
    revision: int
    view: EvaluateView = field(repr=False, compare=False)
    extra: tuple[Any, ...] = ()
    kind: str = KIND
    version: int = VERSION

    @property
    def settings(self) -> Mapping[str, Any]:
        """The page's settings and what else is asked for (the level of intervals can't be set)."""
        return {"settings": list(self.view.key), "extra": list(self.extra)}

    def seconds(self) -> float:
        """How long it takes, roughly, on one quiet core."""
        return SLOW[self.name].seconds(self.view, *self.extra)

    def measure(self, store: Store, progress: Progress | None) -> Any:
        """Measure it of the view's models and the votes as they are."""
        return SLOW[self.name].made(store, self.project_id, self.view, *self.extra, progress=progress)

    def kept(self, found: Any) -> Any:
        """The result as JSON."""
        return SLOW[self.name].kept(found)

    def found(self, kept: Any) -> Any:
        """The inverse of `kept`."""
        return SLOW[self.name].found(kept, self.view)


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


def _votes_made(
    store: Store, project_id: str, view: EvaluateView, resamples: int = 0, *, progress: Progress | None = None
) -> IntervalsView:
    drawing, taking = split(progress, _votes_parts(view, resamples))
    return evaluate.load_intervals(view, draws.load(store, project_id, resamples, progress=drawing), progress=taking)


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


def _top_made(store: Store, project_id: str, view: EvaluateView, *, progress: Progress | None = None) -> Scale:
    return evaluate_scale.load_top(store, project_id, view.n0, progress=progress)


def _table_found(kept: Mapping[str, Any], _view: EvaluateView) -> pd.DataFrame:
    return table_found(kept)


def _curve_made(
    _store: Store, _project_id: str, view: EvaluateView, *, progress: Progress | None = None
) -> pd.DataFrame:
    return evaluate_why.curve(view)


def _map_made(
    store: Store, project_id: str, view: EvaluateView, place: int, area: str, *, progress: Progress | None = None
) -> tuple[pd.DataFrame, float]:
    return evaluate_why.tokens_map(store, project_id, view.models[place], area)


def _map_kept(found: tuple[pd.DataFrame, float]) -> dict[str, Any]:
    return {"points": table_kept(found[0]), "share": found[1]}


def _map_found(kept: Mapping[str, Any], _view: EvaluateView) -> tuple[pd.DataFrame, float]:
    return table_found(kept["points"]), kept["share"]


# How long: measured on one core of a small server; they decide what waits for what, and nothing that is shown.


def _size(view: EvaluateView) -> int:
    return len(view.dataset) * len(view.evaluations)


def _votes_parts(view: EvaluateView, resamples: int = 0) -> tuple[float, float]:
    """Of drawing the voters and scoring their votes, and of the models' figures; rescaled scores have neither."""
    about = view.dataset.attrs
    rescales = about["plan"] is not None and protocol_of(about["plan"]["protocol"]).about.rescales
    if rescales or not about["ballots_closed"]:
        return 0.0, 0.0
    times, parts = resamples or number_of_resamples(about["votes"]), 2 + 2 * (len(set(view.dataset["area"])) > 1)
    figures = (len(view.evaluations) + 1) * parts * (3e-4 + 3e-7 * len(view.dataset))
    return times * 1.7e-6 * about["votes"], times * figures


def _votes_seconds(view: EvaluateView, resamples: int = 0) -> float:
    return sum(_votes_parts(view, resamples))


def _tokens_seconds(view: EvaluateView) -> float:
    return 3e-6 * _size(view) * token_draws.number_of_resamples(len(view.dataset))


def _map_seconds(view: EvaluateView, place: int, area: str) -> float:
    pairs = view.evaluations[place].pairs
    here = pairs[pairs["area"] == area]
    return 2.0 * (len({*here["token_a"], *here["token_b"]}) / 600) ** 3


def _variants_seconds(view: EvaluateView) -> float:
    n_models = sum(model.kind == "vectors" for model in view.models)
    return 4e-4 * len(view.dataset) * n_models if len(view.dataset) <= evaluate_why.MOST_ITEMS else 0.0


SLOW: Mapping[str, Slow] = {
    "votes": Slow("Resampling the voters", _votes_made, _votes_kept, _votes_found, _votes_seconds),
    "tokens": Slow("Resampling the tokens", evaluate_tokens.load, _tokens_kept, _tokens_found, _tokens_seconds),
    "floor": Slow(
        "Ranking at random and by spelling", evaluate_scale.load_floor, _scale_kept, _scale_found,
        lambda view: 0.1 + 1e-3 * len(view.dataset),
    ),
    "top": Slow(
        "Setting halves of the voters against each other", _top_made, _scale_kept, _scale_found,
        lambda view: 0.3 + 5e-5 * view.dataset.attrs["votes"],
    ),
    "p_values": Slow(
        "Permuting the tokens", evaluate_tokens.load_p_values, table_kept, _table_found,
        lambda view: 2e-3 * _size(view),
    ),
    "curve": Slow("Going along n₀", _curve_made, table_kept, _table_found, lambda view: 5e-5 * _size(view)),
    "variants": Slow("Trying other cosines", evaluate_why.load_variants, table_kept, _table_found, _variants_seconds),
    "map": Slow("Laying out the tokens", _map_made, _map_kept, _map_found, _map_seconds),
}  # fmt: skip


@dataclass(frozen=True)
class Shared:
    """Who measures what: the page at once, a job that begins by itself, or a job that somebody asks for."""

    at_once: tuple[str, ...] = ()
    by_job: tuple[str, ...] = ()
    on_request: tuple[str, ...] = ()


def share_out(figures: Sequence[EvaluateFigure]) -> Shared:
    """Share out the figures that a page lacks; they are all that it wants of its own accord."""
    seconds = {figure.name: figure.seconds() for figure in figures}
    short = [name for name, takes in seconds.items() if takes <= BY_ITSELF]
    waits = sum(seconds[name] for name in short) <= AT_ONCE
    at_once = tuple(name for name in short if waits or seconds[name] <= LITTLE)
    return Shared(at_once, tuple(n for n in short if n not in at_once), tuple(n for n in seconds if n not in short))


def figure_of(name: str, project_id: str, view: EvaluateView, revision: int, *extra: Any) -> EvaluateFigure:
    """A figure of a view, to be measured or looked for."""
    return EvaluateFigure(name, project_id, revision, view, extra)


def params_of(name: str, view: EvaluateView, revision: int, *extra: Any) -> dict[str, Any]:
    """What a figure's job is asked for: the figure, the page's settings, the project's revision.

    Votes on the voting page raise no revision: they are of an open ballot, which counts here once it is closed.
    """
    return figures.params_of(figure_of(name, "", view, revision, *extra))


def params_of_several(view: EvaluateView, revision: int) -> dict[str, Any]:
    """What the job is asked for that measures all that a first visit wants and takes no more than `BY_ITSELF`."""
    return {"settings": list(view.key), "revision": revision, "version": VERSION}


def result_of(job: Job, view: EvaluateView) -> Any:
    """What a job that is done has found."""
    return SLOW[job.params["figure"]].found((job.result or {})["found"], view)


def carry_out(
    store: Store, project_id: str, params: Mapping[str, Any], progress: Progress | None = None
) -> dict[str, Any]:
    """Make a figure as a job does: its result as JSON; errors as of `figures.of_one_state`."""
    n0, notion, policy, top = params["settings"]
    view = evaluate.load(store, project_id, n0, notion, policy, top)
    figure = figure_of(params["figure"], project_id, view, params["revision"], *params["extra"])
    return figures.measured(store, figure, progress)


def keep_figures(
    store: Store,
    project_id: str,
    settings: Settings | None = None,
    *,
    names: Sequence[str] = FIRST,
    most_seconds: float | None = None,
    revision: int | None = None,
    progress: Progress | None = None,
) -> list[str]:
    """Measure and keep figures of the Evaluate page, so that a visit shows them at once; the names of the new ones.

    Needs no page: a script that ships a project calls this, the page's job does, and both keep the same. What is kept
    are rows of the table `job` of the kind `KIND`, which no project file holds: whoever ships a project in another way
    than with its database takes their `params` and `result` along, with the revision that the project has where it
    arrives.

    Parameters
    ----------
    settings : n₀, notion, policy and k; None takes those that the page begins with.
    names : of `SLOW`; "map" would need more than a name. most_seconds : longer ones are left out.
    revision : at which the project must be, None for any. progress : is told how far all of it is.

    Raises `StoreError` where the project isn't at the revision, or changes meanwhile; what was kept until then stays.
    """
    project = get_project(store, project_id)
    n0, notion, policy, top = settings or (2.0, project.notion, "common", TOP_K)
    view = evaluate.load(store, project_id, n0, notion, policy, top)
    at = project.revision if revision is None else revision
    wanted = [figure_of(name, project_id, view, at) for name in names] if view.evaluations else []
    if most_seconds is not None:
        wanted = [figure for figure in wanted if figure.seconds() <= most_seconds]
    return figures.measure_and_keep(store, wanted, progress)
