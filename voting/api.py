"""The one way to the library: `core.voting.api`; once installed, when this package is `runoff.page`,
`runoff.voting.api`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__ == "voting":
    from core.voting import api as voting
    from core.voting.api import (
        ADDRESS_KEPT,
        TRAITS,
        Language,
        VoterView,
        environment,
        explained,
        language,
        task_html,
        translatable,
    )
else:
    from ..voting import api as voting
    from ..voting.api import (
        ADDRESS_KEPT,
        TRAITS,
        Language,
        VoterView,
        environment,
        explained,
        language,
        task_html,
        translatable,
    )

__all__ = [
    "ADDRESS_KEPT", "TRAITS", "Language", "VoterView", "environment", "explained", "language", "task_html",
    "translatable", "voting",
]  # fmt: skip
