"""Whose turn it is to write: in order, in threads of their own, so that a look finds a thread however many wait.

Whoever waits at the same link has the turn together: that is one transaction, and the disk is waited for once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from .api import voting

T = TypeVar("T")
SECONDS = 5.0  # in line; then for the database's lock, `WAIT_SECONDS` of `core.voting.api`
MOST_WAITING = 300
MOST_TOGETHER = 20  # so that those of other links have their turn soon
Step = Callable[[], Any]


@dataclass(eq=False)
class _Job:
    """A step that waits for its turn, and who is to be told what came of it."""

    code: str
    step: Step
    told: asyncio.Future[Any]


@dataclass
class _Line:
    jobs: deque[_Job] = field(default_factory=deque)
    at_work: asyncio.Task[None] | None = None


class WriterQueues:
    """Lines of writers, each with a thread. A link has its place in one: on PostgreSQL others needn't wait for it.

    There are a few lines only, as anybody can make up a link. Who waits in one holds neither a thread nor a connection.
    `together` does steps at one link, in a thread, and returns what each gives, or its error.
    """

    def __init__(
        self,
        n_lines: int,
        together: Callable[[str, Sequence[Step]], list[Any]],
        *,
        seconds: float = SECONDS,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self._together = together
        self._lines = [_Line() for _ in range(n_lines)]
        self._threads = ThreadPoolExecutor(n_lines, "writer")
        self._seconds, self._most_waiting = seconds, most_waiting

    async def take(self, code: str, step: Callable[[], T]) -> T:
        """Do a step that writes when it has its turn; one of no link ("") has it alone. `BusyError` where that takes
        too long."""
        if sum(len(line.jobs) for line in self._lines) >= self._most_waiting:
            raise voting.BusyError("Too many wait to write. Try again in a moment.")
        loop, line = asyncio.get_running_loop(), self._lines[hash(code) % len(self._lines)]
        job = _Job(code, step, loop.create_future())
        line.jobs.append(job)
        if line.at_work is None or line.at_work.done():
            line.at_work = loop.create_task(self._work(line))
        patience = loop.call_later(self._seconds, _give_up, line, job)
        try:
            found: T = await job.told
        finally:
            patience.cancel()
        return found

    async def _work(self, line: _Line) -> None:
        while line.jobs:
            jobs = _next(line)
            do = partial(self._together, jobs[0].code, [job.step for job in jobs])
            done = await asyncio.get_running_loop().run_in_executor(self._threads, do)
            for job, outcome in zip(jobs, done, strict=True):
                if job.told.done():  # whoever asked is gone
                    continue
                if isinstance(outcome, Exception):
                    job.told.set_exception(outcome)
                else:
                    job.told.set_result(outcome)


def _next(line: _Line) -> list[_Job]:
    """Take those out of a line whose turn it is: the first, and who waits at the same link."""
    first = line.jobs.popleft()
    jobs = [first]
    if first.code:
        jobs += [job for job in line.jobs if job.code == first.code][: MOST_TOGETHER - 1]
        line.jobs = deque(job for job in line.jobs if job not in jobs)
    return jobs


def _give_up(line: _Line, job: _Job) -> None:
    if job in line.jobs and not job.told.done():
        line.jobs.remove(job)
        job.told.set_exception(voting.BusyError("The turn to write didn't come. Try again in a moment."))
