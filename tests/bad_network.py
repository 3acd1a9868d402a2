"""A network between voters and their server that does as a test tells it: loses, delays, cuts, answers by itself."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto

PORTAL = b"<!DOCTYPE html><title>Welcome</title><h1>Log in to this network</h1>"


class Fault(Enum):
    """What happens to a request and its answer."""

    LOST_REQUEST = auto()  # the server never hears of it
    LOST_ANSWER = auto()  # the server did what was asked, and nobody hears of that
    CUT = auto()  # the answer ends in the middle of its body
    DELAY = auto()
    PORTAL_PAGE = auto()  # 200, text/html
    PORTAL_ELSEWHERE = auto()  # 302 to the network's own page
    PORTAL_LOGIN = auto()  # 511, RFC 6585


_PORTALS = {
    Fault.PORTAL_PAGE: b"200 OK",
    Fault.PORTAL_ELSEWHERE: b"302 Found\r\nLocation: http://localhost:9/login",
    Fault.PORTAL_LOGIN: b"511 Network Authentication Required",
}


class BadNetwork:
    """A proxy before the server at `to`; `faults` says by method and path, of each request as it comes, what happens.

    `met` counts the faults. Connections stay open between requests, as browsers expect.
    """

    def __init__(self, to: int) -> None:
        self.to, self.port = to, 0
        self.met: Counter[Fault] = Counter()
        self.faults: Callable[[str, str], Fault | None] = lambda _method, _path: None
        self.seconds = 0.3  # of a delay

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def each(self, k: int, *kinds: Fault, method: str = "", path: str = "") -> None:
        """Let each k-th request of a method whose path ends in `path` meet the next of the faults, in turn."""
        n_seen = 0

        def fault(asked: str, where: str) -> Fault | None:
            nonlocal n_seen
            if not (asked.startswith(method) and where.partition("?")[0].endswith(path)):
                return None
            n_seen += 1
            return kinds[n_seen // k % len(kinds)] if n_seen % k == 0 else None

        self.faults = fault

    def well(self) -> None:
        """Let everything through from now on."""
        self.faults = lambda _method, _path: None

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The requests of one connection, until one of them meets a fault that ends it."""
        with suppress(OSError, asyncio.IncompleteReadError):
            while await self._carry_one(reader, writer):
                pass
        writer.close()

    async def _carry_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        asked = await _message(reader)
        method, path = asked.split(b" ", 2)[:2]
        fault = self.faults(method.decode(), path.decode())
        if fault is not None:
            self.met[fault] += 1
        if fault is Fault.LOST_REQUEST:
            return False
        if fault in _PORTALS:
            head = b"HTTP/1.1 %b\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
            writer.write(head % (_PORTALS[fault], len(PORTAL)) + PORTAL)
            await writer.drain()
            return True
        if fault is Fault.DELAY:
            await asyncio.sleep(self.seconds)
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self.to)
        to_server.write(asked)
        await to_server.drain()
        answer = await _message(from_server)
        to_server.close()
        if fault is Fault.LOST_ANSWER:
            return False
        if fault is Fault.CUT:
            answer = answer[: answer.index(b"\r\n\r\n") + 4 + _length(answer) // 2]
        writer.write(answer)
        await writer.drain()
        return fault is not Fault.CUT


async def _message(reader: asyncio.StreamReader) -> bytes:
    """A whole request or answer; a body has its length told."""
    head = await reader.readuntil(b"\r\n\r\n")
    return head + await reader.readexactly(_length(head))


def _length(head: bytes) -> int:
    told = [line for line in head.split(b"\r\n\r\n")[0].split(b"\r\n") if line.lower().startswith(b"content-length:")]
    return int(told[0].split(b":")[1]) if told else 0


@contextmanager
def bad_network(to: int) -> Iterator[BadNetwork]:
    """A network before the server at the port `to`, until the end of the block; at first nothing is wrong with it."""
    network, loop = BadNetwork(to), asyncio.new_event_loop()

    async def begin() -> asyncio.Server:
        server = await asyncio.start_server(network.carry, "127.0.0.1", 0)
        network.port = server.sockets[0].getsockname()[1]
        return server

    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(begin(), loop).result()

    async def end() -> None:
        server.close()
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    try:
        yield network
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
