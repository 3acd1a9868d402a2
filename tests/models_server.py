"""A server of embeddings on this machine that does as a test tells it: it may be slow, busy, or answer nonsense."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LETTERS = "aeiorst "


def vector_of(text: str) -> list[float]:
    """A vector of a text: how often some letters are in it, and its length."""
    return [float(text.lower().count(letter)) for letter in LETTERS] + [len(text) / 4]


def right(texts: list[str], model: str = "letters-1") -> dict[str, Any]:
    """The answer that the interface asks for, its vectors not in the order of the texts."""
    rows = [{"object": "embedding", "index": i, "embedding": vector_of(text)} for i, text in enumerate(texts)]
    return {"object": "list", "data": rows[::-1], "model": model, "usage": {"total_tokens": len(texts)}}


def whole(answer: Any, status: int = 200, **headers: str) -> bytes:
    """An answer of JSON as it goes over the wire."""
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    head = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
    lines = [f"HTTP/1.1 {status} x", *(f"{name.replace('_', '-')}: {value}" for name, value in head.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@dataclass
class ModelsServer:
    """`answer` makes the bytes of each answer from the texts asked for; `asked` has the bodies, `headers` theirs."""

    url: str = ""
    answer: Callable[[list[str]], bytes] = field(default=lambda texts: whole(right(texts)))
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    @property
    def texts(self) -> list[list[str]]:
        """The texts of each request."""
        return [body["input"] for body in self.asked]


@contextmanager
def models_server() -> Iterator[ModelsServer]:
    """A running one, at a port of its own."""
    told = ModelsServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.asked.append(body)
            told.paths.append(self.path)
            told.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.close_connection = True
            with suppress(OSError):  # whoever asked may have gone away
                self.wfile.write(told.answer(body["input"]))

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    told.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
