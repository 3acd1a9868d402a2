"""How scores come about, in words with their equations and references, by protocol."""

from __future__ import annotations

from .blocks import Block, Formula, Paragraph

PAPER = (
    "P. Lombardo, A. Boiardi, L. Colombo, A. Schiavone, N. Tamagnone (2020): Top-Rank-Focused Adaptive Vote Collection "
    "for the Evaluation of Domain-Specific Semantic Models. Proceedings of EMNLP 2020, pages 3081 ff."
)
BRADLEY_TERRY = (
    "R. A. Bradley, M. E. Terry (1952): Rank Analysis of Incomplete Block Designs: I. The Method of Paired "
    "Comparisons. Biometrika 39."
)
KRIPPENDORFF = "K. Krippendorff (2018): Content Analysis: An Introduction to Its Methodology, chapter 12."
OSHEA = (
    "J. O'Shea, Z. Bandar, K. Crockett, D. McLean (2010): Benchmarking short text semantic similarity. International "
    "Journal of Intelligent Information and Database Systems 4, section 3."
)
BOOTSTRAP = "A. C. Davison, D. V. Hinkley (1997): Bootstrap Methods and their Application, sections 3.8 and 5.3."


def protocol_blocks(protocol: str) -> list[Block]:
    """The protocol and its estimator: "paper" or "runoff"."""
    return _PAPER if protocol == "paper" else _RUNOFF


_PAPER: list[Block] = [
    Paragraph(
        "Protocol of the paper. In each ballot every item meets opponents drawn at random from the items that are "
        "left; after it the items with the highest mean score go on to the next. So the most votes lie at the top. "
        "The Borda score of an item in a ballot is the share of its votes that it won, a tie as half a vote:"
    ),
    Formula("x = (votes won + votes tied / 2) / votes"),
    Paragraph(
        "Later ballots have stronger opponents, so their scores are brought to the scale of ballot 1 by a line through "
        "(1, 1), fitted by least squares to the items of the ballot; an item's score is the mean over its ballots:"
    ),
    Formula(
        "y = 1 − b + b·x     (y = x in ballot 1)\n"
        "b = Σ(1 − x)(1 − ȳ) / Σ(1 − x)²     ȳ: the mean of an item's y before this ballot\n"
        "score = mean of y over the ballots that the item was in"
    ),
    Paragraph(f"Reference: {PAPER} Equations 1, 5 and 6."),
]
_RUNOFF: list[Block] = [
    Paragraph(
        "Protocol “runoff”. Ballot 1 draws opponents at random; in later ballots items meet near neighbours of the "
        "ranking so far, and items that may still belong to the top go on. One model is fitted to the votes of all "
        "ballots, with a strength θ of each item and, for each voter v, how sharply (s) and how carelessly (ε) they "
        "decide; a tie counts as half a vote for each:"
    ),
    Formula(
        "P(first item is chosen) = ε_v + (1 − 2·ε_v) / (1 + exp(−s_v·(θ_first − θ_second)))\n"
        "θ minimises −Σ[y·log P + (1 − y)·log(1 − P)] + 0.1/2·Σθ² + normal priors on log s_v and on "
        "the log-odds of 2·ε_v\n"
        "score of an item = mean of P against every other item"
    ),
    Paragraph(
        "So a score is the share of votes that the item would win against the whole field, and lies between 0 and 1. "
        f"References: {BRADLEY_TERRY} The ballots and the focus on the top follow {PAPER}"
    ),
]
