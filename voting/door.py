"""The one door to the library: `core.voting`; once installed, when this package is `runoff.page`, `runoff.voting`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__ == "voting":
    from core import voting
    from core.voting import (
        ADDRESS_KEPT,
        TRAITS,
        Language,
        View,
        environment,
        explained,
        language,
        task_html,
        translatable,
    )
else:
    from .. import voting
    from ..voting import ADDRESS_KEPT, TRAITS, Language, View, environment, explained, language, task_html, translatable

__all__ = [
    "ADDRESS_KEPT", "TRAITS", "Language", "View", "environment", "explained", "language", "task_html",
    "translatable", "voting",
]  # fmt: skip
