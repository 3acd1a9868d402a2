"""Forecasts and searches kept by all that they depend on, so that what was simulated once is known at once."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from ...errors import StoreError
from ...plan import Plan
from ...simulation.ceiling import PanelCeiling, panel_ceiling
from ...simulation.forecast import Band, Forecast, Guess, forecast, number_of_campaigns
from ...simulation.search import Candidate, Search, recommend
from ...voters.model import exponential, power_law
from ...voters.panel import PAPER_PANEL, Panel
from .. import schema as t
from ..command import insert_missing, project_row
from ..engine import Store, now
from ..projects.library import embeddings_of, open_library
from ..tokens.areas import items_of, n_items_of

VERSION = 2  # raised whenever the same parameters would give other results
SEED = 2020  # of all forecasts, so that plans are compared on the same campaigns
DISTRIBUTIONS = {"exponential": exponential, "power_law": power_law}


@dataclass(frozen=True)
class GuessSource:
    """Where a guess of the similarities comes from: "exponential", "power_law" or an embedding's id; and the voters."""

    similarity: str = "exponential"
    panel: Panel = PAPER_PANEL


def read_guess(store: Store, project_id: str, area_id: int | None, source: GuessSource) -> Guess:
    """The guess for a ranking's items. Items that the embedding lacks get the quantiles of those that it has.

    Raises `StoreError` where the project hasn't that embedding, or it has fewer than two of the items.
    """
    with store.read() as conn:
        notion = project_row(conn, project_id).notion
        n_items = n_items_of(conn, project_id, area_id)
    if source.similarity in DISTRIBUTIONS:
        return Guess(DISTRIBUTIONS[source.similarity](n_items), source.panel, notion)
    cosines = cosines_of(store, project_id, source.similarity, area_id)
    there = cosines[~np.isnan(cosines)]
    n_missing = len(cosines) - len(there)
    fill = np.quantile(there, (np.arange(n_missing) + 0.5) / max(n_missing, 1))
    return Guess(np.concatenate([there, fill]), source.panel, notion)


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


def known_forecast(store: Store, guess: Guess, plan: Plan, protocol: str) -> Forecast | None:
    """The forecast of a plan if it was made before."""
    found = _kept(
        store, _params("forecast", guess, plan=plan, protocol=protocol, n=number_of_campaigns(plan, protocol))
    )
    return None if found is None else _forecast(found)


def make_forecast(store: Store, guess: Guess, plan: Plan, protocol: str, **how: Any) -> Forecast | None:
    """The forecast of a plan: kept from before, or made now and kept; None if it was stopped. `how` as `forecast`."""
    known = known_forecast(store, guess, plan, protocol)
    if known is not None:
        return known
    made = forecast(guess, plan, protocol, seed=SEED, n=number_of_campaigns(plan, protocol), **how)
    if made is not None:
        params = _params("forecast", guess, plan=plan, protocol=protocol, n=number_of_campaigns(plan, protocol))
        _keep(store, params, _as_json(asdict(made)))
    return made


def known_search(store: Store, guess: Guess, n_comparisons: int, protocol: str, goal: str) -> Search | None:
    """The search for the best plan of a budget if it was made before."""
    found = _kept(store, _params("search", guess, n_comparisons=n_comparisons, protocol=protocol, goal=goal))
    return None if found is None else _search(found)


def make_search(store: Store, guess: Guess, n_comparisons: int, protocol: str, goal: str, **how: Any) -> Search | None:
    """The search for the best plan: kept from before, or made now and kept; None if stopped. `how` as `recommend`."""
    known = known_search(store, guess, n_comparisons, protocol, goal)
    if known is not None:
        return known
    made = recommend(guess, n_comparisons, protocol, seed=SEED, goal=goal, **how)
    if made is not None:
        params = _params("search", guess, n_comparisons=n_comparisons, protocol=protocol, goal=goal)
        _keep(store, params, _as_json(asdict(made)))
    return made


def _params(kind: str, guess: Guess, *, plan: Plan | None = None, **more: Any) -> dict[str, Any]:
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
