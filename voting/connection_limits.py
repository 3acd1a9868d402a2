"""Limits on what senders may ask of the voters' server: how fast, how often, and on how many connections.

Connections that hold the server up are ended: requests that come too slowly, answers nobody takes, too many of one
sender. How often one sender may ask is a bucket that fills with time and is emptied by requests.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import h11
from uvicorn.protocols.http import h11_impl

MOST_SENDERS = 20_000


def network_of(host: str) -> str:
    """Whom an address stands for: who has one of IPv6 has all of its network, 2⁶⁴ of them.

    >>> network_of("192.0.2.7"), network_of("::ffff:192.0.2.7"), network_of("2001:db8:1:2:3::4"), network_of("")
    ('192.0.2.7', '192.0.2.7', '2001:db8:1:2::/64', '')
    """
    found = _address(host)
    return str(ip_network((found, 64), strict=False)) if isinstance(found, IPv6Address) else str(found or "")


def is_own(host: str) -> bool:
    """Whether an address is this machine's own."""
    found = _address(host)
    return found is not None and found.is_loopback


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found


class Limiter:
    """Up to `burst` requests at once, and `rate` a second in the long run, for each sender.

    >>> moments = iter([0, 0, 0, 1])
    >>> limiter = Limiter(rate=1, burst=2, clock=lambda: next(moments))
    >>> [limiter.allows("a") for _ in range(4)]
    [True, True, False, True]
    """

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._left: dict[str, tuple[float, float]] = {}

    def allows(self, sender: str) -> bool:
        """Whether the sender may ask now; if so, that is counted."""
        moment = self._clock()
        left = self._left_at(sender, moment)
        allowed = left >= 1
        self._note(sender, left - 1 if allowed else left, moment)
        return allowed

    def has(self, sender: str) -> bool:
        """Whether the sender may ask now; that isn't counted yet."""
        return self._left_at(sender, self._clock()) >= 1

    def count(self, sender: str) -> None:
        """Count a request, also one beyond the burst: others may have come between `has` and this."""
        moment = self._clock()
        self._note(sender, self._left_at(sender, moment) - 1, moment)

    def _left_at(self, sender: str, moment: float) -> float:
        left, before = self._left.get(sender, (self._burst, moment))
        return min(self._burst, left + (moment - before) * self._rate)

    def _note(self, sender: str, left: float, moment: float) -> None:
        if len(self._left) > MOST_SENDERS:
            self._forget(moment)
        self._left[sender] = (left, moment)

    def _forget(self, moment: float) -> None:
        """Drop senders whose bucket is full again; all of them, if that is not enough."""
        full = self._burst / self._rate
        self._left = {name: kept for name, kept in self._left.items() if moment - kept[1] < full}
        if len(self._left) > MOST_SENDERS:
            self._left.clear()


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
