"""Simulated campaigns: one in the setting of the paper's Table 2, and the whole table from the command line."""

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
from core.voters.model import exponential

CAMPAIGNS = 20  # measured together


def lines(*, quick: bool) -> Iterator[Line]:
    """A campaign against its limit and against plain Python, then the table; `quick` takes 60 items."""
    plan = Plan(60, 3, 0.5, 10) if quick else Plan(990, 7, 0.5, 20)
    yield from campaigns(plan)
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
    (near,) = measure(lambda: simulate_campaign(
        similarity, spread, protocol=Runoff.name, rng=np.random.default_rng(next(seeds))))  # fmt: skip
    what = f"the same by the protocol runoff, {spread.n_comparisons:,} votes"
    yield Line(what, near, limit=0.5, note=f"{near / mine:.0f} × the paper's")


def table(options: list[str]) -> Line:
    """All of Table 2, from the start of the process to its end."""
    command = [sys.executable, "-m", "core", "simulate", "--table2", "--json", *options]
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return Line(f"Table 2 from the command line ({' '.join(options)})", time.perf_counter() - start, limit=10.0)
