"""A plan frozen before the first vote: what is registered, its hash, and what was kept of it in the end.

Whoever chooses plan, exclusions or n₀ after seeing votes can find what was hoped for. A registration says what was
chosen before; anybody can hash the file again and compare.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError

FORMAT = "runoff registration 1"
# What is compared later, and what people call it. The date, the project's name and versions may change freely.
PARTS = {
    "notion": "what voters judge",
    "ranking": "one ranking over all areas or one per area",
    "items": "the items",
    "item_rules": "which pairs become items",
    "plans": "the plan",
    "wording": "what voters read",
    "seeds": "the seeds",
    "n0": "n₀",
    "exclusions": "the rules for leaving votes out",
}


@dataclass(frozen=True)
class RegisteredPart:
    """What became of a registered part: `same` or not, and what was registered and found where it differs."""

    part: str
    same: bool
    registered: str = ""
    found: str = ""


def content_of(project: str, parts: Mapping[str, Any]) -> str:
    """The text that is registered: JSON with sorted keys, the same for the same parts.

    Raises `InputError` unless `parts` has exactly the keys of `PARTS`.
    """
    if set(parts) != set(PARTS):
        odd = ", ".join(sorted(set(parts) ^ set(PARTS)))
        raise InputError(f"A registration has a fixed list of parts; missing or unknown: {odd}.")
    whole = {"format": FORMAT, "project": project, "parts": dict(parts)}
    return json.dumps(whole, ensure_ascii=False, sort_keys=True, indent=1, allow_nan=False) + "\n"


def digest_of(content: str) -> str:
    """SHA-256 of a registered text in UTF-8, in hex digits.

    >>> digest_of("")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


def registered_parts(content: str, parts: Mapping[str, Any]) -> tuple[RegisteredPart, ...]:
    """Part by part, whether what was registered is found now. Raises `InputError` for a text of another kind."""
    try:
        whole = json.loads(content)
        registered = whole["parts"]
        format_ = whole["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"This isn't a registration of a plan ({error!r}).") from error
    if format_ != FORMAT or not isinstance(registered, dict):
        raise InputError(f"This registration of a plan has a format that this Runoff doesn't know: {format_!r}.")
    found = json.loads(content_of("", parts))["parts"]
    result = []
    for name, label in PARTS.items():
        before, after = registered.get(name), found[name]
        if before == after:
            result.append(RegisteredPart(label, True))
        else:
            result.append(RegisteredPart(label, False, _short(before), _short(after)))
    return tuple(result)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 200 else text[:199] + "…"
