"""The language of whoever works in the app: `say` gives a text in it, as `Language` does for voters.

The English text is the key, and stands in the source where it is shown; the catalogue `languages/it.app.po` has it in
Italian. Values of fields, files and what is stored are the same in every language: whatever makes a file that others
read does so `speaking("en")`. What stands in a constant is marked by `to_say` and put into the language when shown;
what a computation says, such as a reason, is told in English by `tell`, and said when shown; what a job keeps of it
(`told_kept`) is the text and the values, in no language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from typing import Any

from .language import STANDARD, Language, language

CATALOGUE = "app"
_PLACEHOLDER = re.compile(r"\{(\w+)(?::([^{}]+))?\}")
_fixed: ContextVar[str | None] = ContextVar("_fixed", default=None)


def _standard() -> str:
    return STANDARD


_asked: list[Callable[[], str]] = [_standard]


def asks(code_of_session: Callable[[], str]) -> None:
    """Let the app say whose language it is: a function that gives a code of `LANGUAGES`."""
    _asked[0] = code_of_session


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Within it texts are in the language of `code`, whoever looks."""
    token = _fixed.set(code)
    try:
        yield
    finally:
        _fixed.reset(token)


def spoken() -> Language:
    """The language that texts are in now: English outside the app."""
    return language(_fixed.get() or _asked[0](), CATALOGUE)


class Told(str):
    """A sentence in English that remembers what it was made from, so that `say` can put it into a language.

    What reads or stores it has a text like any other; stored as such and read back it is one. `other` is the text for
    several where `values["n"]` things are counted, else empty.
    """

    message: str
    values: Mapping[str, Any]
    other: str


def _told(english: str, message: str, values: Mapping[str, Any], other: str = "") -> Told:
    told = Told(english)
    told.message, told.values, told.other = message, values, other
    return told


def tell(message: str, /, **values: Any) -> str:
    """`message` in English with `{name}` replaced by the values: for sentences of what files and pages both show.

    >>> reason = tell("{n} voters, and {least} are needed", n=3, least=5)
    >>> reason, say(reason)
    ('3 voters, and 5 are needed', '3 voters, and 5 are needed')
    """
    if isinstance(message, Told):
        return message
    return _told(filled(message, values, language(STANDARD)), message, values)


def tell_many(n: int, one: str, other: str, /, **values: Any) -> str:
    """The English sentence that goes with n things, as `tell` remembers it.

    >>> tell_many(1200, "{n} vote counts", "{n} votes count")
    '1,200 votes count'
    """
    english = language(STANDARD)
    return _told(filled(english.many(n, one, other), values, english), one, {**values, "n": n}, other)


def told_kept(told: str) -> Any:
    """What was told as JSON, in no language: its texts and its values. What nobody told, such as a name, is a text.

    >>> told_kept(tell("{n:,} of {items}", n=2, items="cats", more=5))
    {'message': '{n:,} of {items}', 'other': '', 'values': {'n': 2, 'items': 'cats'}}
    """
    if not isinstance(told, Told):
        return told
    wanted = {match[1] for text in (told.message, told.other) for match in _PLACEHOLDER.finditer(text)}
    values = {}
    for name, value in told.values.items():
        if name in wanted or (told.other and name == "n"):
            values[name] = told_kept(value) if isinstance(value, str) else getattr(value, "item", lambda v=value: v)()
    return {"message": told.message, "other": told.other, "values": values}


def told_found(kept: Any) -> str:
    """What `told_kept` kept.

    >>> told_found(told_kept(tell("{n:,} votes", n=1200)))
    '1,200 votes'
    """
    if isinstance(kept, str):
        return kept
    values: dict[str, Any] = {
        name: told_found(value) if isinstance(value, str | dict) else value for name, value in kept["values"].items()
    }
    if kept["other"]:
        return tell_many(values.pop("n"), kept["message"], kept["other"], **values)
    return tell(kept["message"], **values)


def say(message: str, /, **values: Any) -> str:
    """`message` in the language of whoever looks, with `{name}` replaced by the values.

    `{name:,}` and other formats of numbers are written as the language writes them. A text that isn't known, such as a
    name that somebody gave, stays as it is.

    >>> say("{n:,} items, {share:.0%} of them", n=1234, share=0.5)
    '1,234 items, 50% of them'
    >>> with speaking("it"): say("{n:,} items of {of:,}", n=1234, of=2)  # an unknown text; numbers are Italian
    '1.234 items of 2'
    """
    if isinstance(message, Told):
        values = {name: say(value) if isinstance(value, Told) else value for name, value in message.values.items()}
        if message.other:
            return say_many(values.pop("n"), message.message, message.other, **values)
        message = message.message
    spoken_now = spoken()
    return filled(spoken_now.text(message), values, spoken_now)


def written(value: float, form: str = ",") -> str:
    """A number in one of Python's formats, with the marks of the language.

    >>> written(1234), written(0.5, ".3f")
    ('1,234', '0.500')
    """
    return format(value, form).translate(spoken().marks)


def say_many(n: int, one: str, other: str, /, **values: Any) -> str:
    """The sentence that goes with n things; `{n}` is their number as the language writes it.

    >>> say_many(1, "{n} vote counts", "{n} votes count"), say_many(1200, "{n} vote counts", "{n} votes count")
    ('1 vote counts', '1,200 votes count')
    """
    spoken_now = spoken()
    return filled(spoken_now.many(n, one, other), values, spoken_now)


def to_say(message: str) -> str:
    """`message` unchanged: marks a text of a constant for the catalogue, for `say` to put into a language later."""
    return message


def say_of_voters(message: str, /) -> str:
    """A text that voters read, by its English one, as they would read it in the language of whoever looks here.

    >>> with speaking("it"): say_of_voters("Your age")
    'La tua età'
    """
    return language(spoken().code).text(message)


def filled(text: str, values: Mapping[str, Any], of: Language) -> str:
    """`text` with its placeholders replaced; braces around other words stay.

    >>> filled("{x:.2f} of {y}, {z}", {"x": 0.5, "y": "{x}"}, language("it"))
    '0,50 of {x}, {z}'
    """

    def put(match: re.Match[str]) -> str:
        if match[1] not in values:
            return match[0]
        value, form = values[match[1]], match[2]
        if form is None:
            return str(value)
        shown = format(value, form)
        return shown.translate(of.marks) if isinstance(value, Real) else shown

    return _PLACEHOLDER.sub(put, text) if values else text
