"""Figures of the Evaluate page that take long: what each is, how long it takes, and its result as it is kept.

A result hangs on the project's revision and the page's settings. `keep_figures` measures what a first visit wants,
without a page. Bounds are kept beside a comparison that is quick to make again: `with_bounds` puts them back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...base.parallel import Progress, split
from ...embeddings import Embedding
from ...errors import InputError, RunoffError
from ...evaluation import TOP_K, Correlations, ModelComparison, correlations
from ...evaluation import token_intervals as token_draws
from ...evaluation.baselines import RANDOM, baselines
from ...evaluation.causes import WHAT, layout, variants
from ...evaluation.chance import permutation_test
from ...evaluation.token_intervals import PairwiseDifference, by_tokens, with_token_intervals
from ...evaluation.vote_intervals import ModelDifference, number_of_resamples, with_intervals
from ...protocols import protocol_of
from ...scores.bradley_terry import fit_votes
from ...scores.reliability import RepeatedCorrelation
from ...store import Store
from ...store.projects.plans import read_rankings
from ...store.projects.project_commands import get_project
from ...store.tokens.areas import areas_of
from ...store.votes.tallies import closed_votes
from ...trust import reliability
from ..base import result_type
from . import evaluation_inputs
from .base import Figure, R, measure_and_keep
from .evaluation_inputs import BASELINES, FIGURES, Evaluated, Settings, seeded

# Seconds: what a page waits for of its own accord, all of it together, and what is so little that it never goes to a
# job; what a job begins with by itself, figure by figure: longer ones wait for somebody who asks.
TOGETHER, LITTLE, BY_ITSELF = 0.5, 0.1, 60.0
FIRST = ("votes", "tokens", "floor", "top", "curve", "variants")  # what a first visit wants, in the order of its job
VOTES_ENDS, TOKENS_ENDS = ("corrected", "lower", "upper"), ("token_corrected", "token_lower", "token_upper")
Bounds = dict[str, Any]  # see `bounds_of`
HALVES = "half of the voters against the other"
CEILING = "a perfect model"
PERMUTATIONS = 999
OFFSETS = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0, 40.0, 50.0)
MOST_ITEMS = 50_000  # items beyond which the curve is not drawn


@dataclass(frozen=True)
class OfEvaluation(Figure[R]):
    """A figure of a project's evaluation under some settings (the level of intervals can't be set); `extra` is what
    else is asked for. `view` is the evaluation where it was made already."""

    kind: ClassVar[str] = "evaluation_figure"
    version: ClassVar[int] = 9  # raised whenever the same parameters would give another result, or another shape of it

    settings: Settings
    extra: tuple[Any, ...] = ()
    view: Any = field(default=None, repr=False, compare=False)  # an `Evaluated`

    @property
    def arguments(self) -> Mapping[str, Any]:
        return {"settings": list(self.settings), "extra": list(self.extra)}

    @classmethod
    def result(cls) -> Any:
        return result_type(cls.made)

    def seconds(self, conn: sa.Connection) -> float:
        return float("inf") if self.view is None else self.takes(self.view)

    def measure(self, store: Store, progress: Progress | None) -> tuple[Any, None]:
        view = evaluation_inputs.load(store, self.project_id, *self.settings) if self.view is None else self.view
        return self.made(store, view, progress), None

    def takes(self, view: Evaluated) -> float:
        """How long it takes, roughly: measured on one core of a small server."""
        raise NotImplementedError

    def made(self, store: Store, view: Evaluated, progress: Progress | None) -> R:
        """The figure of an evaluation; `progress` is told how far it is."""
        raise NotImplementedError


def _size(view: Evaluated) -> int:
    return len(view.dataset) * len(view.evaluations)


def bounds_of(comparison: ModelComparison | None, ends: tuple[str, ...]) -> dict[str, Any] | None:
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


def with_bounds(comparison: ModelComparison | None, kept: Mapping[str, Any] | None, ends: tuple[str, ...]) -> Any:
    """A comparison with the bounds that `bounds_of` kept of it; None where there were none."""
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


@dataclass(frozen=True)
class VotesFound:
    """What resampled voters say: the bounds of all figures, what is known of every two embeddings, from how many
    resamples, and why there are none, or ""."""

    bounds: Bounds | None
    differences: tuple[ModelDifference, ...]
    resamples: int
    problem: str


@dataclass(frozen=True)
class VotesIntervals(OfEvaluation[VotesFound]):
    """Intervals by resampled voters, as often as `extra` says, or as `number_of_resamples` does."""

    name = "votes"
    doing = "Resampling the voters"

    @property
    def resamples(self) -> int:
        """How often voters are resampled; 0 for as often as the number of votes says."""
        return int(self.extra[0]) if self.extra else 0

    def takes(self, view: Evaluated) -> float:
        return sum(self._parts(view))

    def _parts(self, view: Evaluated) -> tuple[float, float]:
        """Of drawing the voters and scoring their votes, and of the models' figures; rescaled scores have neither."""
        about = view.dataset.attrs
        rescales = about["plan"] is not None and protocol_of(about["plan"]["protocol"]).about.rescales
        if rescales or not about["ballots_closed"]:
            return 0.0, 0.0
        times, parts = self.resamples or number_of_resamples(about["votes"]), 2
        parts += 2 * (len(set(view.dataset["area"])) > 1)
        figures = (len(view.evaluations) + 1) * parts * (3e-4 + 3e-7 * len(view.dataset))
        return times * 1.7e-6 * about["votes"], times * figures

    def made(self, store: Store, view: Evaluated, progress: Progress | None) -> VotesFound:
        drawing, taking = split(progress, self._parts(view))
        return of_draws(
            view, evaluation_inputs.load_draws(store, self.project_id, self.resamples, progress=drawing), taking
        )


def of_draws(view: Evaluated, drawn: evaluation_inputs.DatasetDraws, progress: Progress | None = None) -> VotesFound:
    """Intervals from resampled scores; none, and why, where the protocol has none or voters can't be resampled."""
    if drawn.problem or view.compared is None:
        return VotesFound(None, (), 0, drawn.problem)
    rows = view.dataset[view.dataset["score"].notna()]
    apart = rows["area"].to_numpy() if view.ranked_apart else None
    bounded, differences = with_intervals(view.compared, drawn.resampled(rows, apart), progress=progress)
    return VotesFound(bounds_of(bounded, VOTES_ENDS), differences, len(drawn.drawn), "")


@dataclass(frozen=True)
class TokensFound:
    """What resampled tokens say: the bounds of all figures, by figure what is known of every two embeddings, of how
    many tokens, and why there are none, or ""."""

    bounds: Bounds | None
    told: dict[str, tuple[PairwiseDifference, ...]]
    n_tokens: int
    problem: str


@dataclass(frozen=True)
class TokensIntervals(OfEvaluation[TokensFound]):
    """Intervals by resampled tokens of the evaluation's items."""

    name = "tokens"
    doing = "Resampling the tokens"

    def takes(self, view: Evaluated) -> float:
        return 3e-6 * _size(view) * token_draws.number_of_resamples(len(view.dataset))

    def made(self, store: Store, view: Evaluated, progress: Progress | None) -> TokensFound:
        if view.compared is None:
            return TokensFound(None, {}, 0, "")
        try:
            rng = seeded(store, self.project_id, 1)
            bounded, drawn = with_token_intervals(view.compared, rng=rng, progress=progress)
        except InputError as error:
            return TokensFound(None, {}, 0, str(error))
        differences = {key: by_tokens(bounded.names, drawn, key) for key, _ in FIGURES}
        return TokensFound(bounds_of(bounded, TOKENS_ENDS), differences, drawn.n_tokens, "")


@dataclass(frozen=True)
class Scale:
    """`floor` has a row a baseline with the figures, and bounds of the random one's ρ_w; `top` a row a yardstick with
    ρ_w and τ_w, lower and upper of each (middle 90% of its draws); `problems` say what can't be told."""

    floor: pd.DataFrame
    top: pd.DataFrame
    problems: tuple[str, ...] = ()

    @property
    def ceilings(self) -> dict[str, float]:
        """What a perfect model gets, by figure; empty where nothing can be said."""
        rows = self.top[self.top["model"] == CEILING] if len(self.top) else self.top
        return {key: float(rows[label].iloc[0]) for key, label in FIGURES[:2] if len(rows)}

    def band(self, label: str) -> tuple[float, float] | None:
        """Between what bounds nine of ten random rankings are in one figure."""
        rows = self.floor[self.floor["model"] == RANDOM] if len(self.floor) else self.floor
        if not len(rows) or np.isnan(rows[f"{label} lower"].iloc[0]):
            return None
        return float(rows[f"{label} lower"].iloc[0]), float(rows[f"{label} upper"].iloc[0])


@dataclass(frozen=True)
class Floor(OfEvaluation[Scale]):
    """Baselines over all items of the dataset: random rankings and spellings."""

    name = "floor"
    doing = "Ranking at random and by spelling"

    def takes(self, view: Evaluated) -> float:
        return 0.1 + 1e-3 * len(view.dataset)

    def made(self, store: Store, view: Evaluated, progress: Progress | None) -> Scale:
        columns = ["model", *(column for _, label in FIGURES for column in (label, f"{label} lower", f"{label} upper"))]
        if view.compared is None:
            return Scale(pd.DataFrame(columns=columns), pd.DataFrame())
        top = view.evaluations[0].overall.top
        measured = baselines(
            view.dataset, n0=view.n0, top=top, rng=seeded(store, self.project_id, BASELINES), progress=progress
        )
        rows = [_row(name, figures) for name, figures in measured.rows]
        problems = (measured.problem,) if measured.problem else ()
        return Scale(pd.DataFrame(rows, columns=columns), pd.DataFrame(), problems)


def _row(name: str, figures: object) -> list:
    columns = [getattr(figures, key) for key, _ in FIGURES]
    values = [value for figure in columns for value in (figure.estimate, figure.lower, figure.upper)]
    return [name, *(np.nan if value is None else value for value in values)]


@dataclass(frozen=True)
class Top(OfEvaluation[Scale]):
    """ρ_w and τ_w of halves of the voters against each other, and of a perfect model.

    Where each area has a ranking of its own, the means over areas. A second for 20,000 votes.
    """

    name = "top"
    doing = "Setting halves of the voters against each other"

    def takes(self, view: Evaluated) -> float:
        return 0.3 + 5e-5 * view.dataset.attrs["votes"]

    def made(self, store: Store, view: Evaluated, progress: Progress | None) -> Scale:
        return top_of(store, self.project_id, view.n0, progress)


def top_of(store: Store, project_id: str, n0: float, progress: Progress | None = None) -> Scale:
    """ρ_w and τ_w of halves of the voters against each other, and of a perfect model, with the offset n₀.

    Where each area has a ranking of its own, the means over areas. A second for 20,000 votes; `progress` is told how
    far it is.
    """
    problems: list[str] = []
    kinds: dict[str, list[np.ndarray]] = {HALVES: [], CEILING: []}
    rankings = read_rankings(store, project_id)
    for number, ranking in enumerate(rankings):
        ballots, votes = closed_votes(store, project_id, ranking.area_id)
        if not ballots:
            continue

        metric = partial(reliability.both_weighted, n0=n0)
        made: dict[str, tuple[Callable[..., RepeatedCorrelation], int]] = {
            HALVES: (reliability.halves, reliability.HALVES_SEED),
            CEILING: (reliability.ceiling, reliability.CEILING_SEED),
        }
        try:
            fitted = fit_votes(votes)
            for place, (name, (of, seed)) in enumerate(made.items()):
                if progress is not None:
                    progress(number + place / len(made), len(rankings))
                rng = np.random.default_rng([ballots[-1].seed, seed])
                kinds[name].append(of(votes, ballots[-1].protocol, fitted, metric=metric, rng=rng).values)
        except RunoffError as error:
            problems.append(f"{ranking.area}: {error}" if ranking.area else str(error))
    rows = []
    for name, parts in kinds.items():
        if parts and not problems:
            values = np.mean([part[: min(map(len, parts))] for part in parts], axis=0)
            ends = np.quantile(values, [0.05, 0.95], axis=0)
            rows.append((name, *np.vstack([values.mean(axis=0), ends]).T.ravel().tolist()))
    columns = [f"{label}{end}" for _, label in FIGURES[:2] for end in ("", " lower", " upper")]
    return Scale(pd.DataFrame(), pd.DataFrame(rows, columns=["model", *columns]), tuple(problems))


@dataclass(frozen=True)
class PValues(OfEvaluation[pd.DataFrame]):
    """p-values of ρ_w and τ_w of each embedding over its own items, by permuted tokens; a second an embedding."""

    name = "p_values"
    version = 8
    doing = "Permuting the tokens"

    def takes(self, view: Evaluated) -> float:
        return 2e-3 * _size(view)

    def made(self, store: Store, view: Evaluated, progress: Progress | None) -> pd.DataFrame:
        rows = []
        for number, (evaluation, model) in enumerate(zip(view.evaluations, view.models, strict=True)):
            if progress is not None:
                progress(number, len(view.evaluations))
            rng = seeded(store, self.project_id, 2)
            p_values = permutation_test(evaluation, model, apart=view.ranked_apart, permutations=PERMUTATIONS, rng=rng)
            for key, label in FIGURES[:2]:
                if key in p_values:
                    drawn = p_values[key]
                    bound = float(np.nanquantile(drawn.drawn, 0.95))
                    rows.append((evaluation.model, label, drawn.estimate, bound, drawn.p))
        return pd.DataFrame(rows, columns=["embedding", "figure", "estimate", "chance reaches (5%)", "p"])


@dataclass(frozen=True)
class Curve(OfEvaluation[pd.DataFrame]):
    """ρ_w and τ_w of each embedding along n₀ from 0 to 50, over the items that the policy compares.

    Columns embedding, figure, n0, value. Empty for more than 50,000 items.
    """

    name = "curve"
    doing = "Going along n₀"

    def takes(self, view: Evaluated) -> float:
        return 5e-5 * _size(view)

    def made(self, store: Store, view: Evaluated, progress: Progress | None) -> pd.DataFrame:
        rows: list[tuple[str, str, float, float | None]] = []
        columns = ["embedding", "figure", "n0", "value"]
        if view.compared is None or len(view.evaluations[0].pairs) > MOST_ITEMS:
            return pd.DataFrame(rows, columns=columns)
        own = view.policy in ("own", "lowest")
        every = np.logical_and.reduce([~np.isnan(e.values) for e in view.evaluations])
        for evaluation in view.evaluations:
            is_covered = ~np.isnan(evaluation.values) if own else every
            values, scores = evaluation.values[is_covered], evaluation.pairs["score"].to_numpy()[is_covered]
            areas = evaluation.pairs["area"].to_numpy()[is_covered] if view.ranked_apart else None
            for n0 in OFFSETS:
                figures = correlations(scores, values, n0=n0, apart=areas, names=("rho_w", "tau_w"))
                rows += [(evaluation.model, label, n0, getattr(figures, key).estimate) for key, label in FIGURES[:2]]
        return pd.DataFrame(rows, columns=columns).astype({"value": "float64"})


def estimates(figures: Correlations) -> list[float]:
    """The figures in the order of `FIGURES`, NaN where one is undefined."""
    values = [getattr(figures, key).estimate for key, _ in FIGURES]
    return [np.nan if value is None else value for value in values]


@dataclass(frozen=True)
class Variants(OfEvaluation[pd.DataFrame]):
    """Each embedding's variants with their figures over its own items; those without vectors are left out."""

    name = "variants"
    doing = "Trying other cosines"

    def takes(self, view: Evaluated) -> float:
        n_models = sum(model.kind == "vectors" for model in view.models)
        return 4e-4 * len(view.dataset) * n_models if len(view.dataset) <= MOST_ITEMS else 0.0

    def made(self, store: Store, view: Evaluated, progress: Progress | None) -> pd.DataFrame:
        rows = []
        for number, (evaluation, model) in enumerate(zip(view.evaluations, view.models, strict=True)):
            if progress is not None:
                progress(number, len(view.evaluations))
            if model.kind != "vectors" or len(evaluation.pairs) > MOST_ITEMS:
                continue
            for variant in variants(evaluation, model, apart=view.ranked_apart, rng=seeded(store, self.project_id, 4)):
                rows.append([evaluation.model, variant.name, *estimates(variant.figures), WHAT[variant.name]])
        return pd.DataFrame(rows, columns=["embedding", "cosines", *(label for _, label in FIGURES), "what it is"])


@dataclass(frozen=True)
class MapFound:
    """Where tokens lie in the plane, and the share of their distances that it keeps; see `causes.layout`."""

    points: pd.DataFrame
    share: float


@dataclass(frozen=True)
class TokensMap(OfEvaluation[MapFound]):
    """Where the tokens of an area lie; `extra` is the embedding's place and the area. `InputError` for too few."""

    name = "map"
    doing = "Laying out the tokens"

    def takes(self, view: Evaluated) -> float:
        place, area = self.extra
        pairs = view.evaluations[place].pairs
        here = pairs[pairs["area"] == area]
        return 2.0 * (len({*here["token_a"], *here["token_b"]}) / 600) ** 3

    def made(self, store: Store, view: Evaluated, progress: Progress | None) -> MapFound:
        place, area = self.extra
        return MapFound(*tokens_map(store, self.project_id, view.models[place], area))


def tokens_map(store: Store, project_id: str, model: Embedding, area: str) -> tuple[pd.DataFrame, float]:
    """Where the tokens of an area lie in the plane, as `causes.layout` has it. Raises `InputError` for too few."""
    with store.read() as conn:
        tokens = next((list(each.tokens) for each in areas_of(conn, project_id) if each.name == area), [])
    return layout(model, tokens)


OF_EVALUATION: Mapping[str, type[OfEvaluation[Any]]] = {
    figure.name: figure for figure in (VotesIntervals, TokensIntervals, Floor, Top, PValues, Curve, Variants, TokensMap)
}


def figure_of(name: str, project_id: str, view: Evaluated, revision: int, *extra: Any) -> OfEvaluation[Any]:
    """A figure of an evaluation, to be measured or looked for."""
    return OF_EVALUATION[name](project_id, revision, view.key, extra, view)


@dataclass(frozen=True)
class MeasuringPolicy:
    """Who measures what: the page at once, a job that begins by itself, or a job that somebody asks for."""

    at_once: tuple[str, ...] = ()
    by_job: tuple[str, ...] = ()
    on_request: tuple[str, ...] = ()


def share_out(figures: Sequence[OfEvaluation[Any]]) -> MeasuringPolicy:
    """Share out the figures that a page lacks; they are all that it wants of its own accord."""
    seconds = {figure.name: figure.takes(figure.view) for figure in figures}
    short = [name for name, takes in seconds.items() if takes <= BY_ITSELF]
    waits = sum(seconds[name] for name in short) <= TOGETHER
    at_once = tuple(name for name in short if waits or seconds[name] <= LITTLE)
    return MeasuringPolicy(
        at_once, tuple(n for n in short if n not in at_once), tuple(n for n in seconds if n not in short)
    )


@dataclass(frozen=True)
class FirstVisit(Figure[tuple[str, ...]]):
    """All that a first visit of the page wants and takes no more than `BY_ITSELF`: each figure is kept as soon as it is
    there; the names of the new ones."""

    name = "first_visit"
    version = 9
    doing = "Computing the intervals"
    kind = "evaluation_figures"
    settings: Settings

    def seconds(self, conn: sa.Connection) -> float:
        return BY_ITSELF

    def measure(self, store: Store, progress: Progress | None) -> tuple[tuple[str, ...], None]:
        measured = keep_figures(
            store, self.project_id, self.settings, most_seconds=BY_ITSELF, revision=self.revision, progress=progress
        )
        return tuple(measured), None


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
    are rows of the table `job` of the kind of `OfEvaluation`, which no project file holds: whoever ships a project in
    another way than with its database takes their `params` and `result` along, with the revision that the project has
    where it arrives.

    Parameters
    ----------
    settings : n₀, notion, policy and k; None takes those that the page begins with.
    names : of `OF_EVALUATION`; "map" would need more than a name. most_seconds : longer ones are left out.
    revision : at which the project must be, None for any. progress : is told how far all of it is.

    Raises `StoreError` where the project isn't at the revision, or changes meanwhile; what was kept until then stays.
    """
    project = get_project(store, project_id)
    n0, notion, policy, top = settings or (2.0, project.notion, "common", TOP_K)
    view = evaluation_inputs.load(store, project_id, n0, notion, policy, top)
    at = project.revision if revision is None else revision
    wanted = [figure_of(name, project_id, view, at) for name in names] if view.evaluations else []
    if most_seconds is not None:
        wanted = [figure for figure in wanted if figure.takes(view) <= most_seconds]
    return measure_and_keep(store, wanted, progress)
