"""Connections that hold the server up: requests that come too slowly, answers nobody takes, too many of one sender."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http import h11_impl

from .rate_limits import is_own, network_of

SECONDS = 20.0  # for a whole request, from its first byte on, and for taking the answer
MOST_OF_ONE = 600  # of the 1000 connections at once; a class may come from one address, with a few each


def limited_protocol(seconds: float = SECONDS, most_of_one: int = MOST_OF_ONE) -> type[h11_impl.H11Protocol]:
    """uvicorn's protocol with limits of time and number; connections from this machine (a proxy's) are not counted."""
    held: Counter[str] = Counter()

    class Patient(h11_impl.H11Protocol):
        _deadline: asyncio.TimerHandle | None = None
        _sender = ""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
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
            if self._is_idle():  # the first byte of a request
                self._wait()
            super().data_received(data)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if not self._is_idle():  # the next request is under way already, or the answer isn't taken yet
                self._unset_keepalive_if_required()
            self._wait()  # an idle connection's own time ends first

        def _is_idle(self) -> bool:
            """Whether all that was asked is answered and taken, and nothing more has come."""
            is_between = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
            return is_between and not self.transport.get_write_buffer_size()

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
            # An answer that can't start as nobody takes those before it is not being made.
            if is_whole and not cycle.response_started and not self.flow.write_paused:
                self._wait()
            else:
                self.transport.abort()

    return Patient
