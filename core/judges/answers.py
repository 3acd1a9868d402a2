"""What a language model's answer means: one letter, or no vote and a reason why.

Nothing is read into an answer. One letter is a vote, also with a full stop, in brackets, in quotation marks or in bold;
what a model thinks aloud before it, between <think> and </think>, isn't its answer. All else is no vote, and is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .prompt import FIRST, SECOND, TIE

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
    said = _THOUGHT.sub("", content, count=1).strip()
    if is_refusal:
        return Choice(None, "refused")
    if is_cut:
        return Choice(None, "cut")
    if not said:
        return Choice(None, "empty")
    found = _LETTER.fullmatch(said)
    letter = found[1].upper() if found else ""
    if letter in (FIRST, SECOND) or (letter == TIE and ties_allowed):
        return Choice(letter)
    if letter == TIE:
        return Choice(None, "tie")
    if _REFUSED.search(said):
        return Choice(None, "refused")
    return Choice(None, "tie" if _EQUAL.search(said) and not ties_allowed else "words")


def outcome_of(letter: str, *, flipped: bool) -> str:
    """The answer to the comparison, first, second or tie; `flipped` where the second item was A.

    >>> outcome_of("A", flipped=False), outcome_of("A", flipped=True), outcome_of("T", flipped=True)
    ('first', 'second', 'tie')
    """
    if letter == TIE:
        return "tie"
    return "first" if (letter == FIRST) != flipped else "second"
