"""The prompt that puts one comparison to a language model, and the reading of its answer.

It reads what people read: the ballot's instructions, examples and question, in its language. Then it is asked for one
letter. The pair that is A in one order is B in the other.

Nothing is read into an answer. One letter is a vote, also with a full stop, in brackets, in quotation marks or in bold;
what a model thinks aloud before it, between <think> and </think>, isn't its answer. All else is no vote, and is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

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
    example_text = f"Example:\n{_line(FIRST, *example.left)}\n{_line(SECOND, *example.right)}\nAnswer: {letter}"
    return f"{example_text}\nThe reason, which you don't write: {example.why}" if example.why else example_text


def comparison_text(a: Pair, b: Pair) -> str:
    """One comparison as it is sent.

    >>> comparison_text(("cat", "dog", "Animals"), ("saw", "hammer", "Tools"))
    'A: cat – dog [Animals]\\nB: saw – hammer [Tools]'
    """
    return f"{_line(FIRST, *a)}\n{_line(SECOND, *b)}"


def _line(letter: str, one: str, other: str, area: str = "") -> str:
    return f"{letter}: {one} – {other}" + (f" [{area}]" if area else "")


# Why what came is no vote, and how a page says it.
REASONS = {
    "refused": "refused to answer",
    "tie": "called both equal, which this ballot doesn't allow",
    "words": "answered in words in place of one letter",
    "cut": "was cut off before its end",
    "empty": "was empty",
    "unreadable": "was no answer of a model (a page, or cut on the way)",
}
UNREADABLE = "unreadable"  # asked again when the model is: it wasn't the model that spoke
_LETTER = re.compile(r"[\s\"'“”‘’`*(\[]*([A-Za-z])[\s\"'“”‘’`*)\].]*")
_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_EQUAL = re.compile(r"\b(equal|equally|same|tie|tied|neither|both)\b", re.IGNORECASE)
_REFUSED = re.compile(r"\b(sorry|can(no|['’])t|unable|won['’]t|as an ai|not able to|decline)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Choice:
    """What an answer means: A, B or T; or None, and a reason of `REASONS`."""

    letter: str | None
    reason: str = ""


def read_choice(content: str, *, ties_allowed: bool, is_cut: bool = False, is_refusal: bool = False) -> Choice:
    """The letter that an answer names.

    is_cut : the server says that it ended the answer at its bound; is_refusal : or that the model refused.

    >>> read_choice(" **b**. ", ties_allowed=True), read_choice("A, I think", ties_allowed=True)
    (Choice(letter='B', reason=''), Choice(letter=None, reason='words'))
    """
    reply = _THOUGHT.sub("", content, count=1).strip()
    if is_refusal:
        return Choice(None, "refused")
    if is_cut:
        return Choice(None, "cut")
    if not reply:
        return Choice(None, "empty")
    found = _LETTER.fullmatch(reply)
    letter = found[1].upper() if found else ""
    if letter in (FIRST, SECOND) or (letter == TIE and ties_allowed):
        return Choice(letter)
    if letter == TIE:
        return Choice(None, "tie")
    if _REFUSED.search(reply):
        return Choice(None, "refused")
    return Choice(None, "tie" if _EQUAL.search(reply) and not ties_allowed else "words")


def outcome_of(letter: str, *, flipped: bool) -> str:
    """The answer to the comparison, first, second or tie; `flipped` where the second item was A.

    >>> outcome_of("A", flipped=False), outcome_of("A", flipped=True), outcome_of("T", flipped=True)
    ('first', 'second', 'tie')
    """
    if letter == TIE:
        return "tie"
    return "first" if (letter == FIRST) != flipped else "second"
