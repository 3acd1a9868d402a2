"""A server of a language model on this machine that does as a test tells it: slow, busy, or nonsense."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def said(content: Any, *, model: str = "judge-1", finish: str = "stop", **message: Any) -> dict[str, Any]:
    """The answer that the interface asks for."""
    told = {"role": "assistant", "content": content, **message}
    return {
        "model": model,
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "message": told, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 2},
    }


def whole(answer: Any, status: int = 200, **headers: str) -> bytes:
    """An answer as it goes over the wire."""
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    head = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
    lines = [f"HTTP/1.1 {status} x", *(f"{name.replace('_', '-')}: {value}" for name, value in head.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def longer(text: str) -> str:
    """A model that finds the pair with more letters more related, and T where both have equally many."""
    a, b = (len(line.split("[")[0]) for line in text.split("\n"))
    return "T" if a == b else "A" if a > b else "B"


@dataclass
class ChatServer:
    """`answer` makes the bytes of an answer from the comparison that was sent; `asked` has the bodies in order."""

    url: str = ""
    answer: Callable[[str], bytes] = field(default=lambda text: whole(said(longer(text))))
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """The comparisons that were sent, in order."""
        return [body["messages"][1]["content"] for body in self.asked]


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """A running one, at a port of its own."""
    told = ChatServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.asked.append(body)
            told.paths.append(self.path)
            told.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.close_connection = True
            with suppress(OSError):  # whoever asked may have gone away
                self.wfile.write(told.answer(body["messages"][1]["content"]))

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
