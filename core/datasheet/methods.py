"""How scores come about, in words with their equations and references, by protocol."""

from __future__ import annotations

from ..protocols import protocol_of
from .blocks import Block, Formula, Paragraph

KRIPPENDORFF = "K. Krippendorff (2018): Content Analysis: An Introduction to Its Methodology, chapter 12."
OSHEA = (
    "J. O'Shea, Z. Bandar, K. Crockett, D. McLean (2010): Benchmarking short text semantic similarity. International "
    "Journal of Intelligent Information and Database Systems 4, section 3."
)
BOOTSTRAP = "A. C. Davison, D. V. Hinkley (1997): Bootstrap Methods and their Application, sections 3.8 and 5.3."


def protocol_blocks(protocol: str) -> list[Block]:
    """A protocol and its estimator."""
    methods = protocol_of(protocol).about.methods
    return [Formula(text) if kind == "formula" else Paragraph(text) for kind, text in methods]
