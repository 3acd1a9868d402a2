"""A server of embeddings on this machine that does as a test tells it: it may be slow, busy, or answer nonsense."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.loopback import Loopback, running, whole

LETTERS = "aeiorst "


def vector_of(text: str) -> list[float]:
    """A vector of a text: how often some letters are in it, and its length."""
    return [float(text.lower().count(letter)) for letter in LETTERS] + [len(text) / 4]


def right(texts: list[str], model: str = "letters-1") -> dict[str, Any]:
    """The answer that the interface asks for, its vectors not in the order of the texts."""
    rows = [{"object": "embedding", "index": i, "embedding": vector_of(text)} for i, text in enumerate(texts)]
    return {"object": "list", "data": rows[::-1], "model": model, "usage": {"total_tokens": len(texts)}}


@dataclass
class ModelsServer(Loopback):
    """`answer` makes the bytes of each answer from the texts asked for."""

    answer: Callable[[list[str]], bytes] = field(default=lambda texts: whole(right(texts)))

    @property
    def texts(self) -> list[list[str]]:
        """The texts of each request."""
        return [body["input"] for body in self.asked]


@contextmanager
def models_server() -> Iterator[ModelsServer]:
    """A running one, at a port of its own."""
    told = ModelsServer()
    with running(told, lambda body: told.answer(body["input"])):
        yield told
