"""Linear algebra with one thread, where a result is stored: with several, BLAS gives it other last bits.

OpenBLAS splits a matrix by its number of threads, so sums come in another order. That number hangs on the machine and
on the environment (`OPENBLAS_NUM_THREADS`, which joblib and Dask set), not on the votes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import RLock

from threadpoolctl import ThreadpoolController

_turn = RLock()  # the number of threads is the process's; only the thread that sets it may set it back


@cache
def _controller() -> ThreadpoolController:
    import numpy.linalg  # noqa: F401 (loads the libraries that are looked for)
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Within, BLAS and LAPACK use one thread, in all threads of this process; afterwards as many as before.

    One thread at a time is within, and may enter again. Where another thread limits them by threadpoolctl, that holds.
    """
    with _turn, _controller().limit(limits=1, user_api="blas"):
        yield
