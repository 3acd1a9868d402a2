"""Languages of what people read: the English text is the key, and a catalogue has it in another language.

Voters read the texts of these catalogues (gettext files, `languages/it.po`); the owner's app, files and logs are in
English. `python -m tests.catalogue` keeps them in step with the sources, and a test holds that nothing is missing. Who
owns a project chooses its voters' language; texts of their own are in no catalogue and stay as they are. Values of
fields and result files are the same in every language.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from typing import Any

from babel.dates import format_datetime
from babel.messages import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from markupsafe import Markup, escape

from .errors import InputError

# Each by its own name, as people look for it.
LANGUAGES: Mapping[str, str] = {"en": "English", "it": "italiano"}
STANDARD = "en"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_MOST_COUNTED = 100  # a task has 50 questions at most


@dataclass(frozen=True)
class Language:
    """A language that texts are shown in. Its methods give texts, not HTML, but for `html`.

    >>> language("it").text("{at} of {of}", at=3, of=10), language("en").text("{at} of {of}", at=3, of=10)
    ('3 di 10', '3 of 10')
    """

    code: str
    _texts: NullTranslations = field(repr=False, compare=False)
    _catalogue: Catalog = field(repr=False, compare=False)

    def text(self, message: str, /, **values: Any) -> str:
        """`message` in this language, with `{name}` replaced by the values; a text that isn't known stays as it is."""
        # gettext keeps a catalogue's own description under the empty text.
        return _filled(self._texts.gettext(message) if message else message, values)

    def html(self, message: str, /, **values: Any) -> Markup:
        """`message`, one of our texts with markup in it, as HTML; values that aren't markup themselves are escaped.

        >>> print(language("it").html("<kbd>0</kbd> {word}", word="<b>"))
        <kbd>0</kbd> &lt;b&gt;
        """
        translated = self.text(message, **{name: escape(value) for name, value in values.items()})
        return Markup(translated)  # nosec B704 # a text of ours, and its values are escaped

    def many(self, n: int, one: str, other: str, /, **values: Any) -> str:
        """What goes with n things; `{n}` is the number as this language writes it.

        >>> language("en").many(1, "{n} minute", "{n} minutes"), language("en").many(1440, "{n} minute", "{n} minutes")
        ('1 minute', '1,440 minutes')
        """
        return _filled(self._texts.ngettext(one, other, int(n)), {"n": self.number(n)} | values)

    def number(self, value: float) -> str:
        """A number as it is written here, with up to nine decimals.

        >>> language("en").number(1234.5), language("it").number(1234.5)
        ('1,234.5', '1.234,5')
        """
        return format_decimal(value, "#,##0.#########", locale=self.code)

    def moment(self, when: datetime) -> str:
        """A date with its time, in the time zone that it has.

        >>> language("it").moment(datetime(2026, 11, 28, 13, 5))
        '28 nov 2026, 13:05:00'
        """
        return format_datetime(when, "medium", locale=self.code)

    def of_scripts(self, *names: str) -> str:
        """The texts of scripts, by their file names, as JSON for `language.js`: "" where all stay English.

        A text by its English one; what is counted as its forms, and which of them goes with 0, 1, 2, … things.
        """
        texts: dict[str, Any] = {}
        for message in self._catalogue:
            if not message.id or not {place.rpartition("/")[2] for place, _ in message.locations} & set(names):
                continue
            if isinstance(message.id, str):
                texts[message.id] = message.string
                continue
            told = [self._texts.ngettext(message.id[0], message.id[1], n) for n in range(_MOST_COUNTED + 1)]
            forms = list(dict.fromkeys(told))
            texts[message.id[0]] = {"forms": forms, "of": [forms.index(form) for form in told]}
        return json.dumps(texts, ensure_ascii=False, separators=(",", ":")) if texts else ""


@cache
def language(code: str) -> Language:
    """The language of a code of `LANGUAGES`; `InputError` for another code."""
    if code not in LANGUAGES:
        raise InputError(f"There is no language {code!r}; there is {', '.join(LANGUAGES)}.")
    if code == STANDARD:
        return Language(code, NullTranslations(), Catalog(STANDARD))
    with files(__package__).joinpath("languages", f"{code}.po").open("rb") as file:
        catalogue = read_po(file, locale=code)
    packed = io.BytesIO()
    write_mo(packed, catalogue)
    packed.seek(0)
    return Language(code, GNUTranslations(packed), catalogue)


def preferred(accepted: str) -> Language:
    """The language that a browser likes best, by its header Accept-Language; English where we have none of them.

    >>> preferred("de, it-CH;q=0.8, en;q=0.5").code, preferred("").code
    ('it', 'en')
    """
    wishes = []
    for place, part in enumerate(accepted[:200].split(",")):
        tag, _, more = part.partition(";")
        match = re.fullmatch(r"\s*q=([01](?:\.\d{1,3})?)\s*", more)
        weight = float(match[1]) if match else (0.0 if more else 1.0)
        wishes.append((-weight, place, tag.strip().lower().partition("-")[0]))
    liked = (code for weight, _, code in sorted(wishes) if weight and code in LANGUAGES)
    return language(next(liked, STANDARD))


def translatable(message: str) -> str:
    """`message` unchanged: marks a text for the catalogues where it stands, to be put into a language when shown."""
    return message


def _filled(text: str, values: Mapping[str, Any]) -> str:
    # An owner's text may hold braces, so that only names which are given are replaced.
    return _PLACEHOLDER.sub(lambda match: str(values.get(match[1], match[0])), text) if values else text
