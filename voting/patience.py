"""Connections that hold the server up: requests that come too slowly, answers nobody takes, too many of one sender."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from .limits import is_own, network_of

SECONDS = 20.0  # for a whole request, from its first byte on, and for taking the answer
MOST_OF_ONE = 600  # of the 1000 connections at once; a class may come from one address, with a few each


def patient(seconds: float = SECONDS, most_of_one: int = MOST_OF_ONE) -> type[H11Protocol]:
    """uvicorn's protocol with an end to its patience; connections from this machine (a proxy's) are not counted."""
    held: Counter[str] = Counter()

    class Patient(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None
        _sender = ""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._sender = self.client[0] if self.client else ""
            held[network_of(self._sender)] += 1
            if held[network_of(self._sender)] > most_of_one and not is_own(self._sender):
                transport.abort()
            else:
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._stop()
            held[network_of(self._sender)] -= 1
            if not held[network_of(self._sender)]:
                del held[network_of(self._sender)]

        def data_received(self, data: bytes) -> None:
            if self.timeout_keep_alive_task is not None:  # the connection was idle: another request begins
                self._wait()
            super().data_received(data)

        def on_response_complete(self) -> None:
            self._stop()
            super().on_response_complete()

        def _wait(self) -> None:
            self._stop()
            self._deadline = self.loop.call_later(seconds, self._look)

        def _stop(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _look(self) -> None:
            """Give the connection up, unless the answer is still being made, which waits for its turn at the store."""
            cycle: Any = self.cycle
            is_whole = cycle is not None and not cycle.response_complete and not cycle.more_body
            if is_whole and not cycle.response_started:
                self._wait()
            else:
                self.transport.abort()

    return Patient
