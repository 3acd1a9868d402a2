"""A server of a language model on this machine that does as a test tells it: slow, busy, or nonsense."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.loopback import Loopback, running, whole


def said(content: Any, *, model: str = "judge-1", finish: str = "stop", **message: Any) -> dict[str, Any]:
    """The answer that the interface asks for."""
    told = {"role": "assistant", "content": content, **message}
    return {
        "model": model,
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "message": told, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 2},
    }


def longer(text: str) -> str:
    """A model that finds the pair with more letters more related, and T where both have equally many."""
    a, b = (len(line.split("[")[0]) for line in text.split("\n"))
    return "T" if a == b else "A" if a > b else "B"


@dataclass
class ChatServer(Loopback):
    """`answer` makes the bytes of an answer from the comparison that was sent."""

    answer: Callable[[str], bytes] = field(default=lambda text: whole(said(longer(text))))

    @property
    def texts(self) -> list[str]:
        """The comparisons that were sent, in order."""
        return [body["messages"][1]["content"] for body in self.asked]


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """A running one, at a port of its own."""
    told = ChatServer()
    with running(told, lambda body: told.answer(body["messages"][1]["content"])):
        yield told
