"""Whose turn it is to write: one by one, in threads of their own, so that a look finds a thread however many wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from .api import voting

T = TypeVar("T")
SECONDS = 5.0  # in line; then for the database's lock, `WAIT_SECONDS` of `core.voting.api`
MOST_WAITING = 300


class WriterQueues:
    """Lines of writers, each with a thread. A link has its place in one: on PostgreSQL others needn't wait for it.

    There are a few lines only, as anybody can make up a link. Who waits in one holds neither a thread nor a connection.
    """

    def __init__(self, n_lines: int, *, seconds: float = SECONDS, most_waiting: int = MOST_WAITING) -> None:
        self._lines = [asyncio.Semaphore(1) for _ in range(n_lines)]
        self._threads = ThreadPoolExecutor(n_lines, "writer")
        self._seconds, self._most_waiting = seconds, most_waiting
        self._waiting = 0

    async def take(self, code: str, step: Callable[[], T]) -> T:
        """Do a step that writes when it has its turn. `BusyError` where that takes too long."""
        line = self._lines[hash(code) % len(self._lines)]
        await self._come(line)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, step)
        finally:
            line.release()

    async def _come(self, line: asyncio.Semaphore) -> None:
        if self._waiting >= self._most_waiting:
            raise voting.BusyError("Too many wait to write. Try again in a moment.")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._seconds):
                await line.acquire()
        except TimeoutError as error:
            raise voting.BusyError("The turn to write didn't come. Try again in a moment.") from error
        finally:
            self._waiting -= 1
