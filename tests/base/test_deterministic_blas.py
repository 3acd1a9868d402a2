"""What is stored has the same bits whatever the number of threads that BLAS would take."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from core.base.parallel import cores, deterministic_blas
from core.scores.pair_graph import PairGraph

ROOT = Path(__file__).resolve().parents[2]

# The covariance of a fit of 300 items, which LAPACK factorises by several threads where it may.
_HASH = """
import hashlib, sys
import numpy as np
from core.scores.pair_graph import PairGraph
rng = np.random.default_rng(1)
one = rng.integers(0, 300, 4000)
graph = PairGraph(one, (one + 1 + rng.integers(0, 299, 4000)) % 300, 300)
graph.weigh(rng.random(4000) + 0.1, 0.02)
print(hashlib.sha256(graph.covariance(0.02).tobytes()).hexdigest())
"""


# In a process of its own, as those of the suite have one thread.
_TOGETHER = """
import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import numpy.linalg, scipy.linalg
from threadpoolctl import threadpool_info
from core.base.parallel import deterministic_blas
def threads():
    return sorted({library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"})
before, together, seen = threads(), Barrier(4), []
def enter():
    together.wait()
    for _ in range(5):
        with deterministic_blas():
            seen.append(threads())
with ThreadPoolExecutor(4) as pool:
    for done in [pool.submit(enter) for _ in range(4)]:
        done.result()
print(json.dumps([before, seen, threads()]))
"""


def printed(script: str, n_threads: int) -> str:
    n = str(n_threads)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": n, "OMP_NUM_THREADS": n}
    return subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True).stdout


def threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.mark.release
def test_standard_errors_have_the_same_bits_whatever_the_number_of_threads():
    assert len({printed(_HASH, n_threads) for n_threads in (1, 3)}) == 1


def test_the_number_of_threads_is_one_within_and_as_before_afterwards():
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        assert before == {2}
        with deterministic_blas():
            assert threads() == {1}
            with deterministic_blas():
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == before
        with pytest.raises(ZeroDivisionError), deterministic_blas():
            raise ZeroDivisionError
        assert threads() == before


def test_threads_of_the_app_that_come_together_have_one_each_and_leave_it_as_it_was():
    before, seen, after = json.loads(printed(_TOGETHER, 2))
    assert before == [min(2, cores())]
    assert seen == [[1]] * 20
    assert after == before


def test_the_covariance_is_the_inverse_without_the_common_level():
    rng = np.random.default_rng(2)
    one = rng.integers(0, 30, 200)
    graph = PairGraph(one, (one + 1 + rng.integers(0, 29, 200)) % 30, 30)
    graph.weigh(rng.random(200) + 0.1, 0.5)
    whole = np.linalg.inv(graph.multiply(np.eye(30)))
    assert graph.covariance(0.5) == pytest.approx(whole - 1 / (0.5 * 30), abs=1e-12)
