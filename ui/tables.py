"""The names of tables' columns, as they are shown."""

from __future__ import annotations

from core.spoken import say


def said_columns(*names: str) -> dict[str, str]:
    """For `column_config`: what columns are called in the language of whoever looks, by their own, English names.

    The names must be literals, so that `tests/catalogue.py` finds them.
    """
    return {name: say(name) for name in names}
