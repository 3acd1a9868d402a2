"""Work split over processor cores, or over the machines of a Dask cluster, with the same result whoever computes it.

While work goes on it tells how far it is, also where it is one of several parts.

Linear algebra whose result is stored runs with one thread: OpenBLAS splits a matrix by its number of threads, so that
sums come in another order and end in other last bits. That number depends on the machine and on the environment
(`OPENBLAS_NUM_THREADS`, which joblib and Dask set), not on the votes.
"""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import RLock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from ..errors import InputError

_turn = RLock()  # the number of threads is the process's; only the thread that sets it may set it back


@cache
def _controller() -> ThreadpoolController:
    import numpy.linalg  # noqa: F401 (loads the libraries that are looked for)
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()


@contextmanager
def deterministic_blas() -> Iterator[None]:
    """Within, BLAS and LAPACK use one thread, in all threads of this process; afterwards as many as before.

    One thread at a time is within, and may enter again. Where another thread limits them by threadpoolctl, that holds.
    """
    with _turn, _controller().limit(limits=1, user_api="blas"):
        yield


Progress = Callable[[float, float], None]  # how much is done, of how much


def split(progress: Progress | None, weights: Sequence[float]) -> list[Progress | None]:
    """A `Progress` for each part of some work, by how long the parts take; None for all where nobody asks.

    The whole counts to the sum of the weights. A part that has nothing to do is over at once.

    >>> told = []
    >>> first, second = split(lambda done, total: told.append((done, total)), [1.0, 3.0])
    >>> first(1, 2), second(1, 2), second(2, 2)
    (None, None, None)
    >>> told
    [(0.5, 4.0), (2.5, 4.0), (4.0, 4.0)]
    """
    if progress is None:
        return [None for _ in weights]
    total = float(sum(weights))
    starts = [float(sum(weights[:place])) for place in range(len(weights))]
    return [_part(progress, start, weight, total) for start, weight in zip(starts, weights, strict=True)]


def _part(progress: Progress, start: float, weight: float, total: float) -> Progress:
    return lambda done, of: progress(start + weight * (min(done / of, 1.0) if of else 1.0), total)


TRIED = 50  # ports, one after the other, for one that is free


P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")

IDLE_SECONDS = 10  # after which processes without work begin to end; if this one was killed, nobody else tells them
BACKENDS = ("loky", "dask")


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def workers_for(work: float, worth: float, workers: int | None) -> int:
    """The workers that were asked for; for None 1 where the work is less than `worth`, as it would be over before other
    processes have started, else the cores one may use."""
    if workers is not None:
        return workers
    return 1 if work < worth else cores()


def check_workers(workers: int | None, backend: str) -> None:
    """`InputError` for a number of workers below 1, or an unknown backend."""
    if workers is not None and workers < 1:
        raise InputError(f"workers must be a whole number, 1 or more, found {workers!r}.")
    if backend not in BACKENDS:
        raise InputError(f"The backend must be one of {', '.join(BACKENDS)}, found {backend!r}.")


class Switch:
    """Ends a stream of work once `stop` says so. `stop` is asked by the thread that reads the results, and by no other:
    joblib takes work from threads of its own.
    """

    def __init__(self, stop: Callable[[], bool] | None) -> None:
        self.stop = stop
        self.is_off = False
        self.look()

    def look(self) -> None:
        """Ask."""
        if self.stop is not None and not self.is_off:
            self.is_off = self.stop()

    def until(self, work: Iterable[P]) -> Iterator[P]:
        """The work, until the switch is off."""
        for piece in work:
            if self.is_off:
                return
            yield piece


def spread(job: Callable[[P], R], pieces: Iterable[P], *, workers: int, backend: str = "loky") -> Iterator[R]:
    """What `job` makes of each piece, in their order; at most two pieces a worker are under way.

    Parameters
    ----------
    job : must not hang on what it was called with before; other processes get a copy of it, its long arrays read-only.
    pieces : the parts of the work. A worker that dies in mid-work on a Dask cluster is stood in for by another.
    workers : processes to use; 1 stays in this one. With the backend "dask" it doesn't matter.
    backend : "loky" for processes of this machine, or "dask" for the workers of a Dask cluster: the client of
        `dask.distributed` that is there, else one of its own on this machine.

    Raises `InputError` if Dask is asked for and isn't installed.
    """
    if backend == "dask":
        yield from _on_dask(job, pieces)
    elif workers == 1:
        yield from map(job, pieces)
    else:
        import joblib  # here, not above: one process alone doesn't need it

        with joblib.parallel_config(backend="loky", inner_max_num_threads=1, idle_worker_timeout=IDLE_SECONDS):
            parallel = joblib.Parallel(n_jobs=workers, return_as="generator", batch_size=1, pre_dispatch="2*n_jobs")
            yield from parallel(joblib.delayed(job)(piece) for piece in pieces)


def _on_dask(job: Callable[[P], R], pieces: Iterable[P]) -> Iterator[R]:
    """The same by the workers of a Dask cluster.

    The job, which may hold all votes, is sent once, as the result of a task: where the worker that has it dies, the
    scheduler does that task again. (What is scattered would be lost, and scattering to a worker that dies waits for
    ever.)
    """
    try:
        from dask.distributed import Client, default_client
    except ImportError:
        raise InputError(
            "Dask isn't installed, and it was asked for. Install it with `pip install dask distributed`, or compute "
            "on this machine without it."
        ) from None
    with ExitStack() as opened:
        try:
            client = default_client()
        except ValueError:
            client = opened.enter_context(Client())
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            there = client.submit(_itself, job, pure=False)
        under_way: deque[Any] = deque()
        try:
            for piece in pieces:
                under_way.append(client.submit(_done, there, piece, pure=False))
                if len(under_way) >= 2 * max(sum(client.nthreads().values()), 1):
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            client.cancel([*under_way, there])


def _itself(job: T) -> T:
    return job


def _done(job: Callable[[P], R], piece: P) -> R:
    return job(piece)
