"""A server on this machine that does as a test tells it: slow, busy, or nonsense. It keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def whole(answer: Any, status: int = 200, **headers: str) -> bytes:
    """An answer of JSON, or bytes as they are, as it goes over the wire."""
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    head = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
    lines = [f"HTTP/1.1 {status} x", *(f"{name.replace('_', '-')}: {value}" for name, value in head.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@dataclass
class Loopback:
    """`asked` has the bodies of the requests in order, `headers` and `paths` theirs."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


@contextmanager
def running(told: Loopback, respond: Callable[[dict[str, Any]], bytes]) -> Iterator[None]:
    """It runs at a port of its own until the end of the block; `respond` makes an answer's bytes from a body."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.asked.append(body)
            told.paths.append(self.path)
            told.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.close_connection = True
            with suppress(OSError):  # whoever asked may have gone away
                self.wfile.write(respond(body))

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    told.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
