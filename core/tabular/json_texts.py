"""JSON from elsewhere, as texts that can be written again, and as settings of this version."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def parse_json(text: str | bytes, *, most: int | None = None) -> Any:
    """`json.loads`, but half characters (`"\\ud800"` alone), which no file can hold, become the mark U+FFFD.

    Raises ValueError or RecursionError for what is no JSON, and where it is longer than `most`.

    >>> parse_json('["\\\\ud83d\\\\ude00", "a\\\\ud800"]')
    ['😀', 'a\ufffd']
    """
    if most is not None and len(text) > most:
        raise ValueError(f"it is longer than {most:,} characters")
    found = json.loads(text)
    if b"\\ud" in text.lower() if isinstance(text, bytes) else "\\ud" in text.lower():
        whole = json.dumps(found, ensure_ascii=False)
        found = json.loads(whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
    return found


def known_values(cls: type[DataclassInstance], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Of settings as JSON keeps them the fields that `cls` has; what another version has besides is left out."""
    names = {field.name for field in fields(cls)}
    return {name: value for name, value in stored.items() if name in names}
