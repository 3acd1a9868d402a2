"""Bootstraps split over processes or over a Dask cluster: the same bytes, even where a worker is killed in mid-run."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from core import parallel
from core.errors import InputError
from core.scores import BallotVotes, bootstrap_intervals, fit_bradley_terry, uncertainty, voter_bootstrap
from core.scores.voter_bootstrap import resample_voters

N_ITEMS, N_VOTERS = 24, 9


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """So that even small bootstraps are split."""
    monkeypatch.setattr(voter_bootstrap, "BATCH_VOTES", 1)
    monkeypatch.setattr(uncertainty, "CELLS", 60)


@pytest.fixture
def environment():
    """The environment is as before afterwards: Dask leaves its workers' in the process that starts them."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


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
    return resample_voters(fit, *given, resamples=20, rng=np.random.default_rng(6), **how).theta.tobytes()


@pytest.mark.parametrize("bootstrap", [paper, runoff])
def test_more_processes_come_to_the_same(bootstrap):
    assert bootstrap(workers=2) == bootstrap()


@pytest.mark.parametrize("bootstrap", [paper, runoff])
def test_long_ones_take_more_processes_by_themselves(bootstrap, monkeypatch):
    """And short ones don't: other processes would take longer to start."""
    asked: list[int] = []

    def noted(job: Any, pieces: Any, *, workers: int, backend: str = "loky") -> Iterator[Any]:
        asked.append(workers)
        return map(job, pieces)

    for module in (uncertainty, voter_bootstrap):
        monkeypatch.setattr(module, "spread", noted)
        monkeypatch.setattr(module, "cores", lambda: 5)
    alone = bootstrap(workers=None)
    assert set(asked) == {1}
    for module in (uncertainty, voter_bootstrap):
        monkeypatch.setattr(module, "WORTH_VOTES", 100)
    assert bootstrap(workers=None) == alone
    assert asked[-1] == 5


@pytest.mark.usefixtures("environment")
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_worker_killed_in_mid_run_changes_nothing(monkeypatch):
    """Three workers of a Dask cluster on this machine; of each bootstrap one is killed once the first part is back."""
    distributed = pytest.importorskip("dask.distributed")
    killed: list[int] = []

    def killing(job: Any, pieces: list[Any], **how: Any) -> Iterator[Any]:
        pids = client.run(os.getpid)
        assert len(set(pids.values())) == 3
        for number, found in enumerate(parallel.spread(job, pieces, **how)):
            if number == 0:
                killed.append(next(iter(pids.values())))
                os.kill(killed[-1], signal.SIGKILL)
            yield found
        client.wait_for_workers(3)

    alone = [bootstrap() for bootstrap in (paper, runoff)]
    monkeypatch.setattr(uncertainty, "spread", killing)
    monkeypatch.setattr(voter_bootstrap, "spread", killing)
    with distributed.Client(n_workers=3, threads_per_worker=1, dashboard_address=None) as client:
        assert [bootstrap(backend="dask") for bootstrap in (paper, runoff)] == alone
    assert len(killed) == 3  # slopes, scores, θ


@pytest.mark.parametrize("bootstrap", [paper, runoff])
@pytest.mark.parametrize(
    ("how", "message"),
    [({"workers": 0}, "workers must be a whole number from 1"), ({"backend": "threads"}, "backend must be one of")],
)
def test_bad_input(bootstrap, how, message):
    with pytest.raises(InputError, match=message):
        bootstrap(**how)
