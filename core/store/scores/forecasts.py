"""Simulations kept by all that they depend on, so that none is made twice: forecasts, searches, fitted panels.

Kept are forecasts and searches for a plan, the kinds of question compared, and the voter model fitted to votes of the
store: a pilot's, or those of all ballots of a ranking.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from ...errors import StoreError
from ...plan import Plan
from ...protocols.base import BOTH
from ...scores import BallotVotes
from ...simulation.forecast import (
    Band,
    Forecast,
    ForecastAssumptions,
    PanelCeiling,
    forecast,
    number_of_campaigns,
    panel_ceiling,
)
from ...simulation.search import Candidate, Search, recommend
from ...voters.model import PAPER_PANEL, Panel, exponential, power_law
from ...voters.panel_fit import FAMILIES, AssumedSimilarity, PanelFit, fit_panel, similarity_from_ranks
from .. import schema as t
from ..ballots.ballot_rows import Ballot, ballots_of, pilot_of
from ..ballots.simulated import PLATFORM
from ..command import insert_missing, project_row
from ..engine import Store, now
from ..projects.embedding_library import embeddings_of, open_library
from ..tokens.areas import items_of, n_items_of
from ..votes.tallies import ballot_votes, progress_of
from .project_dataset import dataset_of

VERSION = 3  # raised whenever the same parameters would give other results
SEED = 2020  # of all forecasts, so that plans are compared on the same campaigns
DISTRIBUTIONS = {"exponential": exponential, "power_law": power_law}


@dataclass(frozen=True)
class GuessSource:
    """Where a guess of the similarities comes from: "exponential", "power_law" or an embedding's id; and the voters."""

    similarity: str = "exponential"
    panel: Panel = PAPER_PANEL


def read_guess(store: Store, project_id: str, area_id: int | None, source: GuessSource) -> ForecastAssumptions:
    """The guess for a ranking's items. Items that the embedding lacks get the quantiles of those that it has.

    Raises `StoreError` where the project hasn't that embedding, or it has fewer than two of the items.
    """
    with store.read() as conn:
        notion = project_row(conn, project_id).notion
        n_items = n_items_of(conn, project_id, area_id)
    if source.similarity in DISTRIBUTIONS:
        return ForecastAssumptions(DISTRIBUTIONS[source.similarity](n_items), source.panel, notion)
    cosines = cosines_of(store, project_id, source.similarity, area_id)
    there = cosines[~np.isnan(cosines)]
    n_missing = len(cosines) - len(there)
    fill = np.quantile(there, (np.arange(n_missing) + 0.5) / max(n_missing, 1))
    return ForecastAssumptions(np.concatenate([there, fill]), source.panel, notion)


def cosines_of(store: Store, project_id: str, embedding_id: str, area_id: int | None = None) -> np.ndarray:
    """An embedding's cosines of a project's items, or of one area's, in their order; NaN where it lacks one.

    Raises `StoreError` where the project hasn't that embedding, or it has fewer than two of the items.
    """
    with store.read() as conn:
        items = items_of(conn, project_id, area_id=area_id)
        known = {imported.id: imported for imported in embeddings_of(conn, project_id)}
    if embedding_id not in known:
        raise StoreError("The project hasn't that embedding any more. Choose another guess of the similarities.")
    embedding = open_library(store, known[embedding_id])
    cosines = embedding.cosines(items["token_a"].tolist(), items["token_b"].tolist())
    if np.isnan(cosines).sum() > len(cosines) - 2:
        raise StoreError(f"{embedding.name} has fewer than two of the items. Choose another guess of the similarities.")
    return cosines


def read_ceiling(store: Store, project_id: str, area_id: int | None, source: GuessSource) -> PanelCeiling:
    """What the guessed panel could give at most for a ranking's items; errors as of `read_guess`."""
    return panel_ceiling(read_guess(store, project_id, area_id, source), seed=SEED)


def known_forecast(store: Store, guess: ForecastAssumptions, plan: Plan, protocol: str) -> Forecast | None:
    """The forecast of a plan if it was made before."""
    return known_forecasts(store, guess, [(plan, protocol)])[0]


def known_forecasts(
    store: Store, guess: ForecastAssumptions, wanted: Sequence[tuple[Plan, str]]
) -> list[Forecast | None]:
    """The forecast of each plan by its protocol, None where it wasn't made before; read at once."""
    keys = [_key(_forecast_params(guess, plan, protocol)) for plan, protocol in wanted]
    query = sa.select(t.simulation.c.key, t.simulation.c.result).where(t.simulation.c.key.in_(keys))
    with store.read() as conn:
        found = {key: _forecast(result) for key, result in conn.execute(query)}
    return [found.get(key) for key in keys]


def _forecast_params(guess: ForecastAssumptions, plan: Plan, protocol: str) -> dict[str, Any]:
    return _params("forecast", guess, plan=plan, protocol=protocol, n=number_of_campaigns(plan, protocol))


def make_forecast(store: Store, guess: ForecastAssumptions, plan: Plan, protocol: str, **how: Any) -> Forecast | None:
    """The forecast of a plan: kept from before, or made now and kept; None if it was stopped. `how` as `forecast`."""
    known = known_forecast(store, guess, plan, protocol)
    if known is not None:
        return known
    made = forecast(guess, plan, protocol, seed=SEED, n=number_of_campaigns(plan, protocol), **how)
    if made is not None:
        _keep(store, _forecast_params(guess, plan, protocol), _as_json(asdict(made)))
    return made


def known_search(
    store: Store, guess: ForecastAssumptions, n_comparisons: int, protocol: str, goal: str
) -> Search | None:
    """The search for the best plan of a budget if it was made before."""
    found = _kept(store, _search_params(guess, n_comparisons, protocol, goal))
    return None if found is None else _search(found)


def make_search(
    store: Store, guess: ForecastAssumptions, n_comparisons: int, protocol: str, goal: str, **how: Any
) -> Search | None:
    """The search for the best plan: kept from before, or made now and kept; None if stopped. `how` as `recommend`."""
    known = known_search(store, guess, n_comparisons, protocol, goal)
    if known is not None:
        return known
    made = recommend(guess, n_comparisons, protocol, seed=SEED, goal=goal, **how)
    if made is not None:
        params = _search_params(guess, n_comparisons, protocol, goal)
        _keep(store, params, _as_json(asdict(made)))
    return made


def _search_params(guess: ForecastAssumptions, n_comparisons: int, protocol: str, goal: str) -> dict[str, Any]:
    """A search for one figure alone looks at plans of its own since there are aims, one for both since there are two
    shapes for that."""
    aim: dict[str, Any] = {"aims": 2 if goal == BOTH else 1}
    return _params("search", guess, n_comparisons=n_comparisons, protocol=protocol, goal=goal, **aim)


def _params(kind: str, guess: ForecastAssumptions, *, plan: Plan | None = None, **more: Any) -> dict[str, Any]:
    params = {
        "kind": kind,
        "version": VERSION,
        "seed": SEED,
        "similarity": guess.digest(),
        "notion": guess.notion,
        "panel": asdict(guess.panel),
        **more,
    }
    if plan is not None:
        params["plan"] = [plan.n_items, plan.n_ballots, plan.keep, list(plan.appearances_by_ballot)]
        if plan.uncut > 1:
            params["uncut"] = plan.uncut
    return params


def _key(params: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(params, sort_keys=True).encode("utf-8")).hexdigest()


def _kept(store: Store, params: dict[str, Any]) -> dict[str, Any] | None:
    query = sa.select(t.simulation.c.result).where(t.simulation.c.key == _key(params))
    with store.read() as conn:
        return conn.execute(query).scalar_one_or_none()


def _keep(store: Store, params: dict[str, Any], result: dict[str, Any]) -> None:
    key = _key(params)
    with store.write("simulations") as conn:  # two tabs may have made the same
        insert_missing(conn, t.simulation, key=key, params=params, result=result, at=now())


def _as_json(value: Any) -> Any:
    """A result as JSON can hold it: what is undefined becomes null."""
    if isinstance(value, dict):
        return {name: _as_json(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _forecast(kept: dict[str, Any]) -> Forecast:
    bands = {name: Band(*map(_number, kept[name])) for name in ("rho_w", "tau_w", "rho", "tau")}
    return Forecast(**kept | bands | {"separable": _number(kept["separable"])})


def _candidate(kept: dict[str, Any]) -> Candidate:
    plan = kept["plan"]
    appearances = plan["appearances"]
    plan["appearances"] = tuple(appearances) if isinstance(appearances, list) else appearances
    return Candidate(Plan(**plan), kept["value"], _number(kept["error"]), kept["n_campaigns"])


def _search(kept: dict[str, Any]) -> Search:
    return Search(
        **kept
        | {
            "best": _candidate(kept["best"]),
            "paper": _candidate(kept["paper"]) if kept["paper"] else None,
            "gain": _number(kept["gain"]),
            "gain_error": _number(kept["gain_error"]),
            "leaders": tuple(_candidate(each) for each in kept["leaders"]),
        }
    )


PILOT_VOTES, BALLOT_VOTES = "pilot", "votes"


@dataclass(frozen=True, eq=False)
class StoredFit:
    """A panel fitted to stored votes, or the reason why there is none. `simulated` : some of them were simulated."""

    fit: PanelFit | None
    reason: str
    simulated: bool = False


def votes_to_fit(store: Store, project_id: str, area_id: int | None = None) -> dict[str, int]:
    """How many votes a fit could rest on: of the ranking's pilot once it is closed ("pilot"), of its ballots."""
    with store.read() as conn:
        return {
            which: sum(progress_of(conn, ballot.id).votes for ballot in _ballots(conn, project_id, area_id, which))
            for which in (PILOT_VOTES, BALLOT_VOTES)
        }


def fit_stored(store: Store, project_id: str, area_id: int | None, similarity: str, which: str) -> StoredFit:
    """Fit a ranking's panel to the votes of its pilot or of its ballots (`which`: "pilot", "votes").

    `similarity` is what a plan's guess has: an embedding's id, for its cosines (items that it lacks are left out), or
    a family of distributions, given to the items by the ranks of the scores, which takes a closed ballot. The same
    votes give the same fit. Raises `StoreError` where the project hasn't that embedding.
    """
    with store.read() as conn:
        project = project_row(conn, project_id)
        votes = [ballot_votes(conn, ballot.id) for ballot in _ballots(conn, project_id, area_id, which)]
        z = _by_ranks(conn, project_id, area_id, similarity, project.notion) if similarity in FAMILIES else None
        simulated = _is_simulated(conn, project_id, votes)
    if similarity in FAMILIES and z is None:
        return StoredFit(
            None,
            (
                "with a distribution, a fit takes the ranks of scores, and no ballot is closed yet. Guess the "
                "relatedness by an embedding's cosines."
            ),
        )
    given = cosines_of(store, project_id, similarity) if z is None else z
    fit = fit_panel(
        (_joined(votes, "first"), _joined(votes, "second"), _joined(votes, "outcome"), _joined(votes, "voter")),
        similarity=given,
        rng=np.random.default_rng([project.seed, 1, 6]),
        notion=project.notion,
    )
    return StoredFit(fit, fit.reason, simulated)


def _ballots(conn: sa.Connection, project_id: str, area_id: int | None, which: str) -> list[Ballot]:
    if which == BALLOT_VOTES:
        return ballots_of(conn, project_id, area_id)
    pilot = pilot_of(conn, project_id, area_id)
    return [pilot] if pilot is not None and not pilot.is_open else []


def _by_ranks(
    conn: sa.Connection, project_id: str, area_id: int | None, family: str, notion: str
) -> AssumedSimilarity | None:
    """A family's values by the ranks of the scores; None while no ballot is closed."""
    if all(ballot.is_open for ballot in ballots_of(conn, project_id, area_id)):
        return None
    names = ["area", "token_a", "token_b"]
    scores = dataset_of(conn, project_id, area_id)[[*names, "score"]]
    of_items = items_of(conn, project_id).merge(scores, "left", on=names, validate="1:1")
    return similarity_from_ranks(of_items["score"].to_numpy(), family, notion=notion)


def _is_simulated(conn: sa.Connection, project_id: str, votes: list[BallotVotes]) -> bool:
    query = sa.select(t.voter.c.id).where(t.voter.c.project_id == project_id, t.voter.c.platform == PLATFORM)
    simulated = list(conn.execute(query).scalars())
    return any(bool(np.isin(ballot.voter, simulated).any()) for ballot in votes)


def _joined(votes: list[BallotVotes], name: str) -> np.ndarray:
    kind = np.float64 if name == "outcome" else np.int64
    return np.concatenate([np.empty(0, dtype=kind), *(getattr(ballot, name) for ballot in votes)])
