"""The code of a Markdown page, block by block: what it has in fences, and what it shows as printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_FENCE = re.compile(r"(?m)^```(\w+)\n(.*?)^```$", re.DOTALL)


class Block(NamedTuple):
    """A fence: its language, its text, the line on which the text begins, and the `text` fence that follows it."""

    language: str
    text: str
    line: int
    printed: str | None


def blocks(path: Path) -> list[Block]:
    """The fences of a page in order; one of `text` belongs to the fence before it."""
    page = path.read_text(encoding="utf-8")
    found = [(m.group(1), m.group(2), page.count("\n", 0, m.start(2)) + 1) for m in _FENCE.finditer(page)]
    after = [*found[1:], ("", "", 0)]
    return [
        Block(language, text, line, following[1] if following[0] == "text" else None)
        for (language, text, line), following in zip(found, after, strict=True)
        if language != "text"
    ]
