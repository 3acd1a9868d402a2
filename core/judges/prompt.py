"""What a language model is told before a ballot's comparisons, and how one comparison is put to it.

It reads what people read: the ballot's instructions, examples and question, in its language. Then it is asked for one
letter. The pair that is A in one order is B in the other.
"""

from __future__ import annotations

from ..i18n import language as language_of
from ..questions.comparison_page import NOTIONS, Example, Wording

Pair = tuple[str, str, str]  # a token, the other, their area
EQUAL = {"relatedness": "both pairs are equally related", "similarity": "both pairs are equally similar"}
FIRST, SECOND, TIE = "A", "B", "T"


def prompt_of(wording: Wording, notion: str, *, ties_allowed: bool) -> str:
    """What stands before each comparison.

    >>> print(prompt_of(Wording("Which?", "Compare."), "relatedness", ties_allowed=True))
    Compare.
    <BLANKLINE>
    Which?
    <BLANKLINE>
    You see two pairs of words, A and B; in brackets stands the area that a pair is from. Answer with one letter and \
nothing else: A or B, or T where both pairs are equally related.
    """
    text = language_of(wording.language).text
    question, instructions = (text(standard) for standard in NOTIONS[notion])
    wanted = f"{FIRST} or {SECOND}"
    if ties_allowed:
        wanted += f", or {TIE} where {EQUAL[notion]}"
    asked = (
        "You see two pairs of words, A and B; in brackets stands the area that a pair is from. "
        f"Answer with one letter and nothing else: {wanted}."
    )
    examples = "\n\n".join(_example(example) for example in wording.examples)
    return "\n\n".join(
        part for part in (wording.instructions or instructions, wording.question or question, asked, examples) if part
    )


def _example(example: Example) -> str:
    letter = {"left": FIRST, "right": SECOND, "tie": TIE}[example.answer]
    shown = f"Example:\n{_line(FIRST, *example.left)}\n{_line(SECOND, *example.right)}\nAnswer: {letter}"
    return f"{shown}\nThe reason, which you don't write: {example.why}" if example.why else shown


def comparison_text(a: Pair, b: Pair) -> str:
    """One comparison as it is sent.

    >>> comparison_text(("cat", "dog", "Animals"), ("saw", "hammer", "Tools"))
    'A: cat – dog [Animals]\\nB: saw – hammer [Tools]'
    """
    return f"{_line(FIRST, *a)}\n{_line(SECOND, *b)}"


def _line(letter: str, one: str, other: str, area: str = "") -> str:
    return f"{letter}: {one} – {other}" + (f" [{area}]" if area else "")
