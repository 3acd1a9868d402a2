"""The schemes side by side: mean accuracy over many panels that have the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..voters.panel import PAPER_PANEL, Panel, Voters
from .schemes import Question, SchemeRun, simulate_scheme
from .schemes import schemes as every_scheme
from .table2 import Spread

FIGURES = ("rho_w", "tau_w", "rho", "tau", "within")


@dataclass(frozen=True)
class SchemeRow:
    """A scheme over `simulations` panels; a figure is NaN where no panel gave one. Hours and judgements are means.

    `reason` says why there are no figures where the time doesn't pay for the scheme.
    """

    scheme: str
    simulations: int
    n_judgements: float
    hours: float
    rho_w: Spread
    tau_w: Spread
    rho: Spread
    tau: Spread
    within: Spread
    reason: str = ""


def compare_schemes(
    question: Question,
    *,
    simulations: int,
    seed: int,
    schemes: Sequence[str] | None = None,
    panel: Panel | Voters = PAPER_PANEL,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> list[SchemeRow]:
    """A row for each scheme, in the order given, of default all; panel s of every scheme is seeded with (seed, s).

    progress : called with runs done and wanted; stop : asked after each run, True ends with the rows that are whole.
    Raises `InputError` for an unknown scheme, fewer than one simulation, or a seed below 0. A scheme that the time
    doesn't pay for has a row without figures.
    """
    schemes = every_scheme() if schemes is None else schemes
    unknown = [scheme for scheme in schemes if scheme not in every_scheme()]
    if unknown or simulations < 1 or seed < 0:
        raise InputError(
            f"Schemes are {', '.join(every_scheme())}; simulations are at least 1, the seed is from 0 on. "
            f"Found {', '.join(unknown) or 'those'}, {simulations}, {seed}."
        )
    rows: list[SchemeRow] = []
    for place, scheme in enumerate(schemes):
        runs: list[SchemeRun] = []
        try:
            for number in range(simulations):
                rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
                runs.append(simulate_scheme(question, scheme, rng=rng, panel=panel))
                if progress is not None:
                    progress(place * simulations + number + 1, len(schemes) * simulations)
                if stop is not None and stop():
                    return rows
        except InputError as error:
            rows.append(_row(scheme, [], str(error)))
            continue
        rows.append(_row(scheme, runs))
    return rows


def _row(scheme: str, runs: Sequence[SchemeRun], reason: str = "") -> SchemeRow:
    table = np.array([[*run.accuracy, run.within] for run in runs]).reshape(len(runs), len(FIGURES))
    judgements = float(np.mean([run.n_judgements for run in runs])) if runs else 0.0
    hours = float(np.mean([run.seconds for run in runs])) / 3600 if runs else 0.0
    figures = {name: _spread(column) for name, column in zip(FIGURES, table.T, strict=True)}
    return SchemeRow(scheme, len(runs), judgements, hours, reason=reason, **figures)


def _spread(values: np.ndarray) -> Spread:
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if len(known) else float("nan")
    return Spread(mean, float(known.std(ddof=1)) if len(known) > 1 else float("nan"))
