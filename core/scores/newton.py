"""Minimising the Bradley–Terry objective: Newton's method on the scores and the effects of voters together.

The objective is minus the logarithm of the likelihood (`voter_effects`), with λ/2·Σθ² and the effects' priors. Where
only near neighbours meet, votes hardly tell a wide scale with careless voters from a narrow one with careful voters:
steps of scores and effects in turn creep along that valley. So both move at once: a voter's effects depend on the
scores alone, hence they are eliminated, and conjugate gradients solve for the scores (the Schur complement).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..tables import Floats
from .pair_graph import PairGraph
from .voter_effects import LONGEST_STEP, Data, Effects, Likelihood

STEPS = "joint"  # what a stored fit says of its steps: a later way to the optimum gets a name of its own
MOST_STEPS = 200
MOST_IN_VAIN = 30  # steps of scores and effects without a smaller derivative; at most 19 were seen before an end
MOST_HALVINGS = 30
ROUNDING = 1e-14  # relative error of the objective
NEAR = 2.0  # largest derivative from which on Newton's own steps are tried
ONWARDS = 1.0  # how far a score moves at most where the objective bends downwards
MATURE = 1.0  # largest derivative in the scores from which on the effects move too


@dataclass
class Optimum:
    """Where the minimisation ended."""

    theta: Floats
    likelihood: Likelihood
    graph: PairGraph
    norm: float = np.inf
    n_iterations: int = 0
    converged: bool = False


@dataclass(frozen=True, eq=False)
class Start:
    """Where a minimisation begins: `mature` where the scores are roughly there; `graph` where the data's is known."""

    theta: Floats
    effects: Effects
    mature: bool = False
    graph: PairGraph | None = None


def minimise(data: Data, start: Start, ridge: float, tolerance: float, *, warm_steps: int = 0) -> Optimum:
    """Newton's method on the scores alone, and once they are roughly there on the voters' effects too.

    Coin tosses by the thousand have no end that steps could find: the effects of voters wander. So after `MOST_IN_VAIN`
    steps it is left as not converged.

    With `warm_steps` scores and effects are those of a similar fit: so many steps are taken, however far the end is,
    scores and effects in turn.
    """
    theta, effects, mature = start.theta, start.effects, start.mature
    graph = PairGraph(data.one, data.other, len(theta)) if start.graph is None else start.graph
    most, warm = warm_steps or MOST_STEPS, warm_steps > 0
    here = Optimum(theta, Likelihood(data, theta, effects), graph)
    smallest, in_vain = np.inf, 0
    for here.n_iterations in range(most + 1):
        gradient = graph.add_up(here.likelihood.score()) - ridge * here.theta
        norm = np.abs(gradient).max(initial=0.0)
        # What voters are like can be told only once the scores are roughly there.
        mature = bool(effects.free.any()) and (mature or warm or bool(norm < MATURE))
        if mature and not warm:
            slope = here.likelihood.effects_gradient()
            norm = max(norm, np.abs(slope).max())
        here.norm, here.converged = float(norm), bool(norm <= tolerance) and not warm
        if here.converged or here.n_iterations == most or in_vain == MOST_IN_VAIN:
            break
        if mature and not warm:
            smallest, in_vain = min(smallest, norm), 0 if norm < smallest else in_vain + 1
            _move_together(here, gradient, slope, ridge)
            continue
        step = _newton_step(here, gradient, ridge)
        _move(here, step, float(np.sum(gradient * step)), ridge)
        if mature:
            _move_effects(here)
    if ridge == 0:
        here.theta = here.theta - here.theta.mean()
    return here


def _newton_step(here: Optimum, gradient: Floats, ridge: float) -> Floats:
    """A direction in which the objective falls: near the end Newton's own, before that with bounded curvature."""
    tolerance = _step_tolerance(here)
    if here.norm < NEAR:
        here.graph.weigh(here.likelihood.curvature(bounded=False), ridge)
        step = here.graph.solve(gradient, tolerance=tolerance)
        if step is not None:
            return step
    here.graph.weigh(here.likelihood.curvature(bounded=True), ridge)
    step = here.graph.solve(gradient, tolerance=tolerance)
    return gradient if step is None else step


def _step_tolerance(here: Optimum) -> float:
    """How exactly a step is solved for: roughly far from the end; near it exactly, so that the end is reached fast."""
    return float(np.clip(0.1 * here.norm, 1e-4, 0.1))


def _move(here: Optimum, step: Floats, gain: float, ridge: float) -> None:
    """Go along `step`, half as far as long as the objective does not fall enough."""
    cost, share = here.likelihood.cost() + 0.5 * ridge * np.sum(here.theta**2), 1.0
    for _ in range(MOST_HALVINGS):
        theta = here.theta + share * step
        likelihood = Likelihood(here.likelihood.data, theta, here.likelihood.effects, near=here.likelihood)
        if likelihood.cost() + 0.5 * ridge * np.sum(theta**2) <= cost - 1e-4 * share * gain + ROUNDING * abs(cost):
            here.theta, here.likelihood = theta, likelihood
            return
        share /= 2.0


def _move_effects(here: Optimum) -> None:
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


def _move_together(here: Optimum, gradient: Floats, slope: Floats, ridge: float) -> None:
    """A step of scores and effects at once, half as far as long as the objective does not fall enough.

    gradient : of minus the objective in the scores, (n_items,); slope : in the free effects, (n free, n_voters).
    """
    before = here.likelihood
    newton = _joint_step(here, gradient, slope, ridge, expected=False)
    step, turn = newton or _joint_step(here, gradient, slope, ridge, expected=True) or (gradient, slope)
    share = min(1.0, LONGEST_STEP / max(np.abs(turn).max(), LONGEST_STEP))
    gain = float(np.sum(gradient * step) + np.sum(slope * turn))
    cost = before.cost() + before.effects.penalty() + 0.5 * ridge * np.sum(here.theta**2)
    for _ in range(MOST_HALVINGS):
        theta, effects = here.theta + share * step, before.effects.stepped(turn, share)
        likelihood = Likelihood(before.data, theta, effects)
        after = likelihood.cost() + effects.penalty() + 0.5 * ridge * np.sum(theta**2)
        if after <= cost - 1e-4 * share * gain + ROUNDING * abs(cost):
            here.theta, here.likelihood = theta, likelihood
            return
        share /= 2.0


def _joint_step(
    here: Optimum, gradient: Floats, slope: Floats, ridge: float, *, expected: bool
) -> tuple[Floats, Floats] | None:
    """Newton's step of scores and effects; None where the second derivatives don't bend upwards everywhere.

    With H the second derivatives in the scores (the graph's Laplacian and the ridge), E those in the effects (a block a
    voter) and C the mixed ones, the step (x, t) solves

        H x + C t = g,   Cᵀ x + E t = e.

    The effects are eliminated, t = E⁻¹(e − Cᵀ x), which leaves (H − C E⁻¹ Cᵀ) x = g − C E⁻¹ e for conjugate gradients.
    """
    data, effects = here.likelihood.data, here.likelihood.effects
    bends = here.likelihood.bends(expected=expected)
    here.graph.weigh(bends.scores, ridge)
    crossed = here.graph.crossed(bends.crossed, data.voter, len(effects.times))
    turned = crossed.T
    inverse = np.linalg.inv(bends.effects)
    level = effects.times * inverse[:, :, 0].T  # (n free, n_voters)

    def answer(right: Floats) -> Floats:
        """The effects that go with a right side, (n free, n_voters): the sharpnesses' sum stays."""
        effects_of = np.einsum("vkl,lv->kv", inverse, right)
        if effects.free[0]:
            effects_of -= level * (np.sum(effects.times * effects_of[0]) / np.sum(effects.times * level[0]))
        return effects_of

    def of_scores(x: Floats) -> Floats:
        return np.asarray(turned @ x).reshape(slope.shape)

    def of_effects(values: Floats) -> Floats:
        return np.asarray(crossed @ values.ravel())

    right = gradient - of_effects(answer(slope))
    step = here.graph.solve(
        right, tolerance=_step_tolerance(here), less=lambda x: of_effects(answer(of_scores(x))), onwards=ONWARDS
    )
    return None if step is None else (step, answer(slope - of_scores(step)))
