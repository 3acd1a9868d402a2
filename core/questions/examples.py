"""Worked examples on the task page: two pairs, which of them to choose, and why.

They are part of the wording, chosen by the owner; none is shown unless asked for. An example must not hold
an item of the project: its answer would be given away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import PlanError
from ..i18n import STANDARD as ENGLISH
from ..i18n import language as language_of
from ..i18n import translatable

MOST_EXAMPLES = 3
MAX_WORD, MAX_WHY = 100, 300
ANSWERS = ("left", "right", "tie")


@dataclass(frozen=True)
class Example:
    """One example: the left and the right pair, the answer (left, right or tie) and the reason for it."""

    left: tuple[str, str]
    right: tuple[str, str]
    answer: str
    why: str = ""

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Example:
        """An example as JSON keeps it; KeyError, TypeError or ValueError for anything else.

        >>> Example.of({"left": ["a", "b"], "right": ["c", "d"], "answer": "tie", "why": ""}).left
        ('a', 'b')
        """
        (one, two), (three, four) = stored["left"], stored["right"]
        return cls((str(one), str(two)), (str(three), str(four)), str(stored["answer"]), str(stored.get("why", "")))


# Four words, the answer, and why. The words are one text: another language takes others that show the same.
_STANDARD: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "relatedness": (
        (
            translatable("ship, harbour, ship, dentist"), "left",
            translatable("Ships lie in harbours; few have a dentist."),
        ),
        (
            translatable("hot, purple, hot, cold"), "right",
            translatable("Opposites are related: both are about temperature."),
        ),
        (translatable("glove, hand, sock, foot"), "tie", translatable("One is as related as the other.")),
    ),
    "similarity": (
        (
            translatable("boat, ship, harbour, ship"), "left",
            translatable("A boat is nearly a ship; a harbour is a place for it."),
        ),
        (translatable("hot, cold, hot, warm"), "right", translatable("Opposites are not similar.")),
        (translatable("begin, start, sofa, couch"), "tie", translatable("Both pairs mean the same.")),
    ),
}  # fmt: skip


def standard_examples(notion: str, *, ties_allowed: bool, language: str = ENGLISH) -> tuple[Example, ...]:
    """Examples to start from for relatedness or similarity; without the tie where none may be answered.

    >>> [example.answer for example in standard_examples("similarity", ties_allowed=False)]
    ['left', 'right']
    """
    text = language_of(language).text
    found = []
    for words, answer, why in _STANDARD[notion]:
        a, b, c, d = text(words).split(", ")
        found.append(Example((a, b), (c, d), answer, text(why)))
    return tuple(example for example in found if ties_allowed or example.answer != "tie")


STANDARD: Mapping[str, tuple[Example, ...]] = {
    notion: standard_examples(notion, ties_allowed=True) for notion in _STANDARD
}


def check_examples(examples: Sequence[Example], *, ties_allowed: bool) -> None:
    """`PlanError` for what voters could not make sense of: an empty word, an answer that isn't allowed, too much."""
    if len(examples) > MOST_EXAMPLES:
        raise PlanError(f"The task page has {len(examples)} examples; {MOST_EXAMPLES} is the most. Take some off.")
    for number, example in enumerate(examples, start=1):
        words = (*example.left, *example.right)
        if not all(word.strip() for word in words):
            raise PlanError(f"Example {number} lacks a word. Fill in its four words, or have fewer examples.")
        if len(max(words, key=len)) > MAX_WORD or len(example.why) > MAX_WHY:
            raise PlanError(
                f"Example {number} is too long: a word has at most {MAX_WORD} characters, a reason {MAX_WHY}."
            )
        if frozenset(example.left) == frozenset(example.right):
            raise PlanError(f"Example {number} shows the same pair on both sides. Change one of its words.")
        if example.answer not in ANSWERS or (example.answer == "tie" and not ties_allowed):
            raise PlanError(
                f"The answer to example {number} is {example.answer!r}, which voters can't give. "
                f"It must be left{', right or tie' if ties_allowed else ' or right'}."
            )
