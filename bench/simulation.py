"""Simulated campaigns: one in the setting of the paper's Table 2, by either protocol; the search for a plan; the whole
table from the command line."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count

import numpy as np

from bench.plain_campaign import plain_campaign
from bench.table import Line, measure
from core.plan import Plan
from core.protocols.runoff import Runoff, spread_appearances
from core.simulation import simulate_campaign
from core.simulation.forecast import ForecastAssumptions
from core.simulation.search import recommend
from core.tables import Floats
from core.voters.model import exponential

CAMPAIGNS = 20  # measured together


def lines(*, quick: bool) -> Iterator[Line]:
    """A campaign against its limit and against plain Python, then the table; `quick` takes 60 items."""
    plan = Plan(60, 3, 0.5, 10) if quick else Plan(990, 7, 0.5, 20)
    yield from campaigns(plan)
    yield best_plan(60, 900) if quick else best_plan(990, 19_660)
    yield table(["--simulations", "2", "--items", "60", "--ballots", "3"] if quick else ["--simulations", "50"])


def campaigns(plan: Plan) -> Iterator[Line]:
    """Votes and scores of one campaign of the paper's protocol, on one core."""
    similarity = exponential(plan.n_items)
    values, seeds = similarity.tolist(), count()

    def ours() -> None:
        for _ in range(CAMPAIGNS):
            simulate_campaign(similarity, plan, protocol="paper", rng=np.random.default_rng(next(seeds)))

    def plain() -> None:
        plain_campaign(values, plan.sizes, plan.appearances_by_ballot[0], 100, next(seeds))

    together, other = measure(ours, plain, rounds=7)
    mine = together / CAMPAIGNS
    what = f"a simulated campaign of {plan.n_items:,} items, {plan.n_comparisons:,} votes"
    yield Line(what, mine, limit=0.0115)
    yield Line("the same against loops", mine, other, "plain Python", least_ratio=10)
    spread = spread_appearances(plan.n_items, plan.n_ballots, plan.keep, plan.n_comparisons)
    yield from near_campaigns(similarity, spread, mine)


def near_campaigns(similarity: Floats, plan: Plan, paper: float) -> Iterator[Line]:
    """One campaign of the protocol runoff as it would be held, and as plans are compared by, in turns on one core."""
    seeds = count()

    def held(convention: str, times: int) -> None:
        for _ in range(times):
            simulate_campaign(
                similarity, plan, protocol=Runoff.name, rng=np.random.default_rng(next(seeds)), convention=convention
            )

    real, quick = measure(lambda: held("paper", 1), lambda: held("planning", 4), rounds=5)
    what = f"the same by the protocol runoff, {plan.n_comparisons:,} votes"
    yield Line(what, real, limit=0.5, note=f"{real / paper:.0f} × the paper's")
    yield Line("the same when planning", quick / 4, limit=0.07, note=f"{quick / 4 / paper:.1f} × the paper's")
    yield Line("the same against the protocol itself", quick / 4, real, "as it would be held", least_ratio=4)


def best_plan(n_items: int, n_comparisons: int) -> Line:
    """The search for a plan by the protocol runoff, on all cores."""
    guess, start = ForecastAssumptions(exponential(n_items)), time.perf_counter()
    found = recommend(guess, n_comparisons, Runoff.name, seed=1, workers=None)
    seconds = time.perf_counter() - start
    assert found is not None
    what = f"the best plan of {n_items:,} items and {n_comparisons:,} votes by the protocol runoff"
    return Line(what, seconds, limit=30.0, note=f"of {found.n_tried:,}")


def table(options: list[str]) -> Line:
    """All of Table 2, from the start of the process to its end."""
    command = [sys.executable, "-m", "core", "simulate", "--table2", "--json", *options]
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return Line(f"Table 2 from the command line ({' '.join(options)})", time.perf_counter() - start, limit=10.0)
