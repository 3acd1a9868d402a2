"""What a datasheet is made of, apart from how it looks. Every text is plain: whoever writes it out escapes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """A section's title."""

    text: str


@dataclass(frozen=True)
class Paragraph:
    """Text; a line break in it stays one."""

    text: str


@dataclass(frozen=True)
class Formula:
    """An equation in a line of its own, or lines of code."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table; columns named in `numbers` stand to the right."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[str] = frozenset()


Block = Heading | Paragraph | Formula | Bullets | Table


@dataclass(frozen=True)
class Document:
    """A title, the language of the page, and its blocks."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def headings(self) -> tuple[str, ...]:
        return tuple(block.text for block in self.blocks if isinstance(block, Heading))


def table(header: Sequence[str], rows: Sequence[Sequence[object]], numbers: Sequence[str] = ()) -> Table:
    """A table of anything: numbers with separators, None as a dash."""
    return Table(tuple(header), tuple(tuple(shown(cell) for cell in row) for row in rows), frozenset(numbers))


def count(n: int, noun: str, plural: str = "") -> str:
    """A number with its noun.

    >>> count(1, "voter"), count(1200, "voter"), count(2, "person", "people")
    ('1 voter', '1,200 voters', '2 people')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def shown(value: object) -> str:
    """A value as people read it.

    >>> shown(1234), shown(0.25), shown(None), shown("a")
    ('1,234', '0.25', '–', 'a')
    """
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.3g}" if isinstance(value, float) else str(value)
