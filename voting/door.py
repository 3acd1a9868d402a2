"""The one door to the library: `core.voting`; once installed, when this package is `runoff.page`, `runoff.voting`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__ == "voting":
    from core import voting
    from core.voting import TRAITS, Place, View, explained, task_html
else:
    from .. import voting
    from ..voting import TRAITS, Place, View, explained, task_html

__all__ = ["TRAITS", "Place", "View", "explained", "task_html", "voting"]
