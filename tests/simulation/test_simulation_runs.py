"""Runs of many campaigns: the same whoever computes them, with progress and a stop."""

from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np
import pytest

from core.errors import InputError
from core.plan import Plan
from core.simulation import campaign as runs
from core.simulation import simulate_campaign, simulate_campaigns
from core.simulation.campaign import Campaign
from core.voters.model import Panel, Voters, exponential

PLAN = Plan(40, 3, 0.5, 8)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """So that even small runs are split."""
    monkeypatch.setattr(runs, "BATCH_VOTES", 2 * PLAN.n_comparisons)
    monkeypatch.setattr(runs, "WORTH_VOTES", 0)


def simulate(**options):
    settings = {"protocol": "paper", "n": 11, "seed": 7}
    return simulate_campaigns(exponential(40), PLAN, **{**settings, **options})


def scores_of(campaign: Campaign) -> bytes:
    """A measure of a test's own; other processes find it by its name."""
    return campaign.scores.tobytes()


def slow_scores(campaign: Campaign) -> bytes:
    """The same, so that a run is still under way when a worker is killed."""
    time.sleep(0.05)
    return scores_of(campaign)


def test_results_don_t_depend_on_the_number_of_workers():
    alone = simulate(measure=runs.accuracy_of)
    assert alone.is_complete
    assert len(alone.results) == 11
    for workers in (2, 3, None):
        assert simulate(workers=workers).results == alone.results


def test_short_runs_stay_in_one_process(monkeypatch):
    """By default: other processes would take longer to start."""
    monkeypatch.setattr(runs, "WORTH_VOTES", 100 * PLAN.n_comparisons)
    monkeypatch.setitem(sys.modules, "joblib", None)
    assert simulate(n=99, workers=None).is_complete
    with pytest.raises(ImportError):
        simulate(n=100, workers=2)


def test_every_campaign_has_a_seed_of_its_own():
    run = simulate(measure=scores_of)
    assert len(set(run.results)) == 11
    assert simulate(measure=scores_of, n=4).results == run.results[:4]
    assert simulate(measure=scores_of, seed=8).results[0] != run.results[0]
    seed = np.random.SeedSequence(7, spawn_key=(3,))
    fourth = simulate_campaign(exponential(40), PLAN, protocol="paper", rng=np.random.default_rng(seed))
    assert run.results[3] == fourth.scores.tobytes()


def test_options_reach_the_campaigns():
    seed = np.random.SeedSequence(7, spawn_key=(0,))
    options = {"panel": Panel(5), "convention": "released", "notion": "similarity", "protocol": "uniform"}
    alone = simulate_campaign(exponential(40), PLAN, rng=np.random.default_rng(seed), **options)
    assert simulate(n=1, measure=scores_of, **options).results == (alone.scores.tobytes(),)
    assert simulate(n=1).results[0] != simulate(n=1, panel=Voters([0.0], [0.0])).results[0]


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_counts_to_the_end(workers):
    seen = []
    simulate(workers=workers, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 11) for done in (2, 4, 6, 8, 10, 11)]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stop_keeps_what_is_done(workers):
    done = []
    run = simulate(
        n=9000, workers=workers, progress=lambda n, _: done.append(n), stop=lambda: bool(done) and done[-1] >= 6
    )
    assert len(run.results) >= 6
    assert not run.is_complete
    assert run.n_wanted == 9000
    assert run.results == simulate(n=len(run.results)).results


def test_a_run_stopped_before_it_began():
    assert simulate(stop=lambda: True).results == ()


def test_a_campaign_that_ranks_nothing_is_told_apart():
    run = simulate_campaigns(np.full(40, 0.5), PLAN, protocol="paper", n=2, seed=1)
    assert np.isnan(run.results).all()


def test_dask_is_only_asked_for_where_it_is_wanted(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    assert simulate(n=2).is_complete
    with pytest.raises(InputError, match="Dask isn't installed"):
        simulate(n=2, backend="dask")


@pytest.mark.release
@pytest.mark.usefixtures("environment")
def test_dask_computes_the_same():
    distributed = pytest.importorskip("dask.distributed")
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        assert simulate(backend="dask").results == simulate().results


@pytest.mark.release
@pytest.mark.usefixtures("environment")
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_worker_killed_in_mid_run_changes_nothing():
    """Three workers on this machine, one of them killed once the first campaigns are back."""
    distributed = pytest.importorskip("dask.distributed")
    killed = []

    def kill(done: int, wanted: int) -> None:
        if not killed and done < wanted:
            killed.append(pids.popitem()[1])
            os.kill(killed[0], signal.SIGKILL)

    with distributed.Client(n_workers=3, threads_per_worker=1, dashboard_address=None) as client:
        pids = client.run(os.getpid)
        assert len(set(pids.values())) == 3
        run = simulate(backend="dask", n=60, measure=slow_scores, progress=kill)
    assert killed
    assert run.is_complete
    assert run.results == simulate(n=60, measure=scores_of).results


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n must be a whole number from 1"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"workers": 0}, "workers must be a whole number, 1"),
        ({"backend": "threads"}, "backend must be one of loky, dask"),
        ({"protocol": "best"}, "protocol must be"),
        ({"convention": "best"}, "convention must be"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(InputError, match=message):
        simulate(**options)
