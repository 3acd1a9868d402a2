"""Bootstraps, halves and ceilings split over processes, or bootstraps over a Dask cluster of which a worker dies: the
same bytes.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from core.base import parallel
from core.errors import InputError, UndefinedMetricError
from core.scores import BallotVotes, bootstrap_intervals, fit_bradley_terry, uncertainty
from core.scores.bradley_terry import fit_votes
from core.scores.uncertainty import resample_voters
from core.trust import reliability

N_ITEMS, N_VOTERS = 24, 9


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """So that even small bootstraps are split."""
    monkeypatch.setattr(uncertainty, "BATCH_VOTES", 1)
    monkeypatch.setattr(uncertainty, "CELLS", 60)


def votes_on(items: np.ndarray, n: int, rng: np.random.Generator) -> BallotVotes:
    first = rng.choice(items, n)
    second = items[(np.searchsorted(items, first) + rng.integers(1, len(items), n)) % len(items)]
    outcome = (rng.random(n) < 1 / (1 + np.exp((first - second) / 6))).astype(float)
    return BallotVotes(items, first, second, outcome, rng.integers(0, N_VOTERS, n))


def paper(**how: Any) -> bytes:
    """A bootstrap of three ballots by the paper's protocol: blocks of resamples for the slopes, of items for scores."""
    rng = np.random.default_rng(3)
    ballots = [votes_on(np.arange(n), 40 * n, rng) for n in (N_ITEMS, 12, 6)]
    found = bootstrap_intervals(ballots, N_ITEMS, resamples=30, rng=np.random.default_rng(4), **how)
    assert not np.isnan(found.lower).any()
    return found.lower.tobytes() + found.upper.tobytes()


def runoff(**how: Any) -> bytes:
    """A bootstrap of a fit with effects of voters, a resample at a time."""
    votes = votes_on(np.arange(N_ITEMS), 600, np.random.default_rng(5))
    given = (votes.first, votes.second, votes.outcome, votes.voter)
    fit = fit_bradley_terry(*given[:3], n_items=N_ITEMS, voter=votes.voter)
    return resample_voters(fit, given, resamples=20, rng=np.random.default_rng(6), **how).theta.tobytes()


def reliable(protocol: str, **how: Any) -> bytes:
    """Correlations of halves of two ballots' voters."""
    rng = np.random.default_rng(8)
    votes = [votes_on(np.arange(n), 40 * n, rng) for n in (N_ITEMS, 12)]
    fitted = fit_votes(votes)
    found = reliability.halves(votes, protocol, fitted, rng=np.random.default_rng(9), **how).values
    assert len(set(found.tolist())) > 5
    return found.tobytes()


paper_reliability, runoff_reliability = partial(reliable, "paper"), partial(reliable, "runoff")


@pytest.mark.parametrize(
    "compute",
    [
        paper,
        runoff_reliability,
        *(pytest.param(each, marks=pytest.mark.release) for each in (runoff, paper_reliability)),
    ],
)
def test_more_processes_come_to_the_same(compute):
    assert compute(workers=2) == compute(workers=1)


@pytest.mark.parametrize("protocol", ["paper", "runoff"])
def test_what_is_undefined_is_told_by_another_process_too(protocol):
    """Two halves of voters who called all their comparisons a tie rank nothing."""
    votes = [replace(votes_on(np.arange(6), 200, np.random.default_rng(1)), outcome=np.full(200, 0.5))]
    told = []
    for workers in (1, 2):
        with pytest.raises(UndefinedMetricError) as caught:
            reliability.halves(votes, protocol, fit_votes(votes), rng=np.random.default_rng(2), workers=workers)
        told.append(str(caught.value))
    assert told[0] == told[1]


@pytest.mark.parametrize("bootstrap", [paper, runoff])
def test_long_ones_take_more_processes_by_themselves(bootstrap, monkeypatch):
    """And short ones don't: other processes would take longer to start."""
    asked: list[int] = []

    def noted(job: Any, pieces: Any, *, workers: int, backend: str = "loky") -> Iterator[Any]:
        asked.append(workers)
        return map(job, pieces)

    monkeypatch.setattr(parallel, "cores", lambda: 5)
    monkeypatch.setattr(uncertainty, "spread", noted)
    alone = bootstrap(workers=None)
    assert set(asked) == {1}
    for worth in ("WORTH_VOTES", "WORTH_FITTED_VOTES"):
        monkeypatch.setattr(uncertainty, worth, 100)
    assert bootstrap(workers=None) == alone
    assert asked[-1] == 5


@pytest.mark.release
@pytest.mark.usefixtures("environment")
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("bootstrap", [paper, runoff])
def test_a_worker_killed_in_mid_run_changes_nothing(bootstrap, monkeypatch):
    """Three workers of a Dask cluster on this machine, one of which is killed once the first part is back."""
    distributed = pytest.importorskip("dask.distributed")
    killed: list[int] = []

    def killing(job: Any, pieces: list[Any], **how: Any) -> Iterator[Any]:
        for found in parallel.spread(job, pieces, **how):
            if not killed:
                killed.append(pids.popitem()[1])
                os.kill(killed[0], signal.SIGKILL)
            yield found

    alone = bootstrap()
    monkeypatch.setattr(uncertainty, "spread", killing)
    monkeypatch.setattr(uncertainty, "spread", killing)
    with distributed.Client(n_workers=3, threads_per_worker=1, dashboard_address=None) as client:
        pids = client.run(os.getpid)
        assert len(set(pids.values())) == 3
        assert bootstrap(backend="dask") == alone
    assert killed


@pytest.mark.parametrize("bootstrap", [paper, runoff])
@pytest.mark.parametrize(
    ("how", "message"),
    [({"workers": 0}, "workers must be a whole number, 1"), ({"backend": "threads"}, "backend must be one of")],
)
def test_bad_input(bootstrap, how, message):
    with pytest.raises(InputError, match=message):
        bootstrap(**how)
