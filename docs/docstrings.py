"""Docstrings as Markdown: sections get a bold line, their entries become lists, examples (`>>> …`) code blocks.

Without this, Markdown would take an example for a quotation and a section's underline for a heading.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_DOCTEST = re.compile(r"(?m)^>>> .*(?:\n(?!\s*$).*)*")
_SECTION = re.compile(r"(?m)^([A-Z][A-Za-z ]+)\n-{3,}\n((?:.+\n?)*)")
_ENTRY = re.compile(r"(?m)^([\w*, ]+) : (.*(?:\n[ ]+.*)*)")


def _section(found: re.Match[str]) -> str:
    entries = _ENTRY.sub(lambda entry: f"* `{entry.group(1)}`: {entry.group(2)}", found.group(2))
    return f"**{found.group(1)}**\n\n{entries}"


def as_markdown(text: str) -> str:
    """A docstring as the site shows it."""
    return _DOCTEST.sub(lambda found: f"```pycon\n{found.group()}\n```", _SECTION.sub(_section, text))


class Docstrings(Extension):
    """Rewrites every docstring before it is shown."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
