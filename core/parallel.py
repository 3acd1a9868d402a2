"""Work split over processor cores, or over the machines of a Dask cluster; the same whoever computes it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, TypeVar

from .errors import InputError

P = TypeVar("P")
R = TypeVar("R")

IDLE_SECONDS = 10  # after which processes without work begin to end; if this one was killed, nobody else tells them
BACKENDS = ("loky", "dask")


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_workers(workers: int | None, backend: str) -> None:
    """`InputError` for a number of workers below 1, or an unknown backend."""
    if workers is not None and workers < 1:
        raise InputError(f"workers must be a whole number from 1 on, found {workers!r}.")
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
    if workers == 1 and backend == "loky":
        yield from map(job, pieces)
        return
    import joblib  # here, not above: one process alone doesn't need it

    n_jobs = -1 if backend == "dask" else workers
    with _dask(joblib, job) if backend == "dask" else _processes(joblib):
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator", batch_size=1, pre_dispatch="2*n_jobs")
        yield from parallel(joblib.delayed(_done)(job, piece) for piece in pieces)


def _done(job: Callable[[P], R], piece: P) -> R:
    return job(piece)


def _processes(joblib: Any) -> AbstractContextManager[Any]:
    return joblib.parallel_config(backend="loky", inner_max_num_threads=1, idle_worker_timeout=IDLE_SECONDS)


@contextmanager
def _dask(joblib: Any, job: Any) -> Iterator[None]:
    """Joblib's work goes to the Dask client that is there, or to one that lives as long as the work.

    The job, which may hold all votes, goes to each worker once.
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
        opened.enter_context(joblib.parallel_config(backend="dask", client=client, scatter=[job]))
        yield
