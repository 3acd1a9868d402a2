"""How many examples the dearer property tests try."""

from __future__ import annotations

from hypothesis import settings


def examples(n: int) -> int:
    """`n` where examples are looked for (`make test-properties`), a quarter of them in every other run."""
    return n if settings.get_current_profile_name() == "search" else max(n // 4, 5)
