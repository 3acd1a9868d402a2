"""Minimising the Bradley–Terry objective: Newton's method on the scores, and on the effects of voters, in turn.

The objective is minus the logarithm of the likelihood (`voter_effects`), with λ/2·Σθ² and the effects' priors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .pair_graph import PairGraph
from .voter_effects import Data, Effects, Likelihood

Floats = NDArray[np.float64]

MOST_STEPS = 200
MOST_HALVINGS = 30
ROUNDING = 1e-14  # relative error of the objective
NEAR = 2.0  # largest derivative from which on Newton's own steps are tried
MATURE = 1.0  # largest derivative in the scores from which on the effects move too


@dataclass
class Found:
    """Where the minimisation ended."""

    theta: Floats
    likelihood: Likelihood
    graph: PairGraph
    norm: float = np.inf
    n_iterations: int = 0
    converged: bool = False


def minimise(
    data: Data,
    theta: Floats,
    effects: Effects,
    ridge: float,
    tolerance: float,
    *,
    graph: PairGraph | None = None,
    warm_steps: int = 0,
) -> Found:
    """Newton's method on the scores and on the voters' effects, a step of each in turn.

    With `warm_steps` scores and effects are those of a similar fit: the effects move from the first step on, and so
    many steps are taken, however far the end is. `graph` : that of the data, if there is one already.
    """
    graph = PairGraph(data.one, data.other, len(theta)) if graph is None else graph
    most, warm = warm_steps or MOST_STEPS, warm_steps > 0
    here = Found(theta, Likelihood(data, theta, effects), graph)
    for here.n_iterations in range(most + 1):
        gradient = graph.add_up(here.likelihood.score()) - ridge * here.theta
        norm = np.abs(gradient).max(initial=0.0)
        # What voters are like can be told only once the scores are roughly there.
        mature = effects.free.any() and (warm or norm < MATURE)
        if mature and not warm:
            norm = max(norm, np.abs(here.likelihood.effects_step()[1]).max())
        here.norm, here.converged = float(norm), bool(norm <= tolerance) and not warm
        if here.converged or here.n_iterations == most:
            break
        step = _newton_step(here, gradient, ridge)
        _move(here, step, float(np.sum(gradient * step)), ridge)
        if mature:
            _move_effects(here)
    if ridge == 0:
        here.theta = here.theta - here.theta.mean()
    return here


def _newton_step(here: Found, gradient: Floats, ridge: float) -> Floats:
    """A direction in which the objective falls: near the end Newton's own, before that with bounded curvature."""
    # Far from the end a rough direction is enough; near it the steps get exact, and the end is reached fast.
    tolerance = float(np.clip(0.1 * here.norm, 1e-4, 0.1))
    if here.norm < NEAR:
        here.graph.weigh(here.likelihood.curvature(bounded=False), ridge)
        step = here.graph.solve(gradient, tolerance=tolerance)
        if step is not None:
            return step
    here.graph.weigh(here.likelihood.curvature(bounded=True), ridge)
    step = here.graph.solve(gradient, tolerance=tolerance)
    return gradient if step is None else step


def _move(here: Found, step: Floats, gain: float, ridge: float) -> None:
    """Go along `step`, half as far as long as the objective does not fall enough."""
    cost, share = here.likelihood.cost() + 0.5 * ridge * np.sum(here.theta**2), 1.0
    for _ in range(MOST_HALVINGS):
        theta = here.theta + share * step
        likelihood = Likelihood(here.likelihood.data, theta, here.likelihood.effects, near=here.likelihood)
        if likelihood.cost() + 0.5 * ridge * np.sum(theta**2) <= cost - 1e-4 * share * gain + ROUNDING * abs(cost):
            here.theta, here.likelihood = theta, likelihood
            return
        share /= 2.0


def _move_effects(here: Found) -> None:
    """One step of the voters' effects, half as far as long as the objective rises."""
    before = here.likelihood
    step, _ = before.effects_step()
    cost, share = before.cost() + before.effects.penalty(), 1.0
    for _ in range(MOST_HALVINGS):
        likelihood = Likelihood(before.data, here.theta, before.effects.stepped(step, share))
        if likelihood.cost() + likelihood.effects.penalty() <= cost + ROUNDING * abs(cost):
            here.likelihood = likelihood
            return
        share /= 2.0
