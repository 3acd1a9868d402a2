"""The fields of the entry page: what a voter types or chooses, kept where the page comes again."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from .door import TRAITS, View


def typed(name: str, label: str, most: int, kept: Mapping[str, str], wrong: str) -> str:
    """A line to type something in, with what was typed there before."""
    more = f' value="{escape(kept[name][:most])}"' if kept.get(name) else ""
    more += ' aria-describedby="problem" aria-invalid="true"' if wrong == name else ""
    return (
        f'<p><label for="{name}">{label}</label>'
        f'<input id="{name}" name="{name}" type="text" maxlength="{most}" required{more}></p>'
    )


def trait_of(trait: str, view: View, chosen: str) -> str:
    """What a voter may tell of himself or herself; what is sent is the same in every language."""
    (label, values), text = TRAITS[trait], view.language.text
    options = "".join(
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>{escape(text(value))}</option>'
        for value in values
    )
    told = escape(text("{question} (if you like)", question=text(label)))
    return (
        f'<p><label for="{trait}">{told}</label><select id="{trait}" name="{trait}">'
        f'<option value="">{text("I would rather not say")}</option>{options}</select></p>'
    )
