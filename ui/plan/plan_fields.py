"""The numbers of a plan: fields to type them into, and text once its ballots are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from ui.shared import frame


@dataclass(frozen=True)
class NumberField:
    """A number of the plan: its name in the settings, its label and limits, and what it means."""

    name: str
    label: str
    lowest: float
    highest: float
    step: float | None
    help: str
    scale: float = 1.0  # shown = stored × scale

    def shown(self, stored: float) -> float:
        """A stored number in the unit of the field."""
        return stored if self.scale == 1.0 else round(stored * self.scale, 6)

    def fact(self, stored: float) -> tuple[str, str, str | None]:
        """The number as `show_facts` has it."""
        return self.label, f"{self.shown(stored):.10g}", self.help

    def input(self, place: Any, stored: float, *, key: str, on_change: Callable[[], None] | None = None) -> float:
        """The widget in `place`, filled from what is stored; what stands in it, in the unit of the settings."""
        kind = int if isinstance(stored, int) else float
        typed = place.number_input(
            self.label,
            kind(self.lowest),
            kind(self.highest),
            kind(self.shown(stored)),
            None if self.step is None else kind(self.step),
            key=f"{self.name}-{key}",
            help=self.help,
            on_change=on_change,
        )
        return kind(typed) if self.scale == 1.0 else round(float(typed) / self.scale, 6)


def show_facts(facts: Sequence[tuple[str, str, str | None]], *, per_row: int = 3) -> None:
    """Labels with their values and their help, side by side where there is room."""
    for first in range(0, len(facts), per_row):
        row = facts[first : first + per_row]
        places = st.columns(per_row) if len(row) > 1 else [st.container()]
        for place, (label, value, about) in zip(places, row, strict=False):
            place.markdown(f"{label}: **{frame.plain(value)}**", help=about)
