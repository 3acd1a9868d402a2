"""How often one sender may ask: a bucket that fills with time and is emptied by requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

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
