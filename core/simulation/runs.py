"""Many campaigns of one setting, split over processor cores or machines, the same whoever computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..base.parallel import Switch, check_workers, spread, workers_for
from ..errors import InputError, UndefinedMetricError
from ..plan import Plan
from ..voters.model import checked_similarity
from ..voters.panel import PAPER_PANEL, Floats, Panel, Voters
from .campaign import Accuracy, Campaign, simulate_campaign
from .conventions import convention_of, method_of

T = TypeVar("T")
BATCH_VOTES = 160_000  # votes simulated between two looks at `stop`: some 40 ms
WORTH_VOTES = 10_000_000  # votes from which on more processes are started: some 2.5 s of one core
UNDEFINED = Accuracy(np.nan, np.nan, np.nan, np.nan)


def accuracy_of(campaign: Campaign) -> Accuracy:
    """The campaign's accuracy; all NaN where its scores or the truth are all equal."""
    try:
        return campaign.accuracy()
    except UndefinedMetricError:
        return UNDEFINED


@dataclass(frozen=True)
class Run(Generic[T]):
    """Results of campaigns 0, 1, 2, …, in order; fewer than the `n_wanted` only where the run was stopped."""

    results: tuple[T, ...]
    n_wanted: int

    @property
    def is_complete(self) -> bool:
        """Whether no campaign is missing."""
        return len(self.results) == self.n_wanted


def simulate_campaigns(
    similarity: ArrayLike,
    plan: Plan,
    *,
    protocol: str,
    n: int,
    seed: int,
    workers: int | None = 1,
    panel: Panel | Voters = PAPER_PANEL,
    convention: str = "paper",
    notion: str = "relatedness",
    measure: Callable[[Campaign], Any] = accuracy_of,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
    backend: str = "loky",
) -> Run[Any]:
    """Simulate `n` campaigns and measure each; see `simulate_campaign` for what isn't named here.

    Campaign s draws from `SeedSequence(seed, spawn_key=(s,))`. So results depend neither on the number of workers nor
    on `n`, and campaign s has the same voters with the same opinions under every protocol.

    Parameters
    ----------
    n : number of campaigns, at least 1; seed : from 0 on.
    workers : processes to use; 1 stays in this one, None takes a process for each free core where that pays.
    measure : what is kept of a campaign; it runs where the campaign did, so it must be a function of a module.
    progress : called in this process with the numbers of campaigns done and wanted, whenever some are done.
    stop : asked in this process now and then; once it says True no more campaigns begin, and those done are returned.
    backend : "loky" for processes of this machine, or "dask" for the workers of a Dask cluster: the client of
        `dask.distributed` that is there, else one of its own on this machine. `workers` doesn't matter then.

    Raises `InputError` for values that don't fit, or if Dask is asked for and isn't installed.
    """
    method_of(convention_of(convention), protocol)
    check_workers(workers, backend)
    for name, value, least in (("n", n, 1), ("seed", seed, 0)):
        if value < least:
            raise InputError(f"{name} must be a whole number from {least} on, found {value!r}.")
    job = Job(checked_similarity(similarity), plan, protocol, seed, panel, convention, notion, measure)
    size = max(1, BATCH_VOTES // plan.n_comparisons)
    n_workers = workers_for(n * plan.n_comparisons, WORTH_VOTES, workers)
    size = min(size, -(-n // n_workers))
    batches = [range(start, min(start + size, n)) for start in range(0, n, size)]
    results: list[Any] = []
    switch = Switch(stop)
    for part in spread(job, switch.until(batches), workers=n_workers, backend=backend):
        results.extend(part)
        if progress is not None:
            progress(len(results), n)
        switch.look()
    return Run(tuple(results), n)


@dataclass(frozen=True, eq=False)
class Job:
    """What every campaign of a run has in common; called with the numbers of some campaigns, it simulates them."""

    similarity: Floats
    plan: Plan
    protocol: str
    seed: int
    panel: Panel | Voters
    convention: str
    notion: str
    measure: Callable[[Campaign], Any]

    def __call__(self, numbers: Iterable[int]) -> list[Any]:
        return [self.measure(self.campaign(number)) for number in numbers]

    def campaign(self, number: int) -> Campaign:
        """The campaign of this number, from 0."""
        return simulate_campaign(
            self.similarity,
            self.plan,
            protocol=self.protocol,
            rng=np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,))),
            panel=self.panel,
            convention=self.convention,
            notion=self.notion,
        )
