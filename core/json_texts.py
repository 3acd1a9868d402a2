"""JSON from elsewhere, as texts that can be written again."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """`json.loads`, but half characters (`"\\ud800"` alone), which no file can hold, become the mark U+FFFD.

    Raises ValueError or RecursionError for what is no JSON.

    >>> parse_json('["\\\\ud83d\\\\ude00", "a\\\\ud800"]')
    ['😀', 'a\ufffd']
    """
    found = json.loads(text)
    if (b"\\ud" if isinstance(text, bytes) else "\\ud") in text.lower():  # type: ignore[operator]
        whole = json.dumps(found, ensure_ascii=False)
        found = json.loads(whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
    return found
