"""The code word of a voting page: who is asked for it, and what is wrong without it."""

from __future__ import annotations

from ...errors import InputError
from ...i18n import translatable
from .visits import At, Who


class WrongWord(InputError):
    """Somebody begins without the code word of the page."""


def asks_word(at: At, who: Who) -> bool:
    """Whether somebody must know the page's code word: a platform's id can be made up, a personal link can't."""
    return not who.token and at.table.settings.asks_word


def check_word(at: At, who: Who, typed: str) -> None:
    """Raise `WrongWord` for somebody who must know the code word and typed another."""
    if asks_word(at, who) and not at.table.settings.is_word(typed):
        raise WrongWord(translatable("This isn't the code word. Type it as it was given to you."))
