"""What the task pages of other schemes say: question, explanation and keys, in plain words."""

from __future__ import annotations

from collections.abc import Mapping

from .scheme_settings import SchemeSettings

ALL_KNOWN = "I don’t know a word here"
_RELATED = (
    "Two words are related when what they stand for has to do with each other in any way: a part, a place, a cause, "
    "an opposite, things met together. They don’t have to mean the same."
)
_SIMILAR = (
    "Two words are similar when they mean nearly the same or stand for the same kind of thing. Opposites, or things "
    "that are only met together, are not similar."
)
EXPLAINED = {"relatedness": _RELATED, "similarity": _SIMILAR}
_ADJECTIVE = {"relatedness": "related", "similarity": "similar"}
_QUESTIONS: Mapping[str, str] = {
    "rating": "How {adjective} are the two?",
    "sort-then-rate": "How {adjective} are the two on each card?",
    "best-worst": "Which two are most {adjective}, and which least?",
    "order": "Which word is most {adjective} to the target?",
    "writing": "Write a {smaller} that is as close as wanted",
}
_STEPS: Mapping[str, str] = {
    "rating": "Give each item a number on the scale. Numbers between those that are explained are welcome. "
    "Go by your own first impression; there is no right answer to look up.",
    "sort-then-rate": "Read all the cards first. Sort each into the pile that fits best; you can move it again. Then "
    "give every card a number: it begins at its pile’s, and can be moved up or down from there.",
    "best-worst": "Of each list choose the item whose words are most {adjective}, and the one whose words are least. "
    "Go by your own first impression.",
    "order": "Put the words of each target into an order: the one that is most {adjective} to the target at the top, "
    "the least at the bottom. Then say that the order is yours.",
    "writing": "For each text write a {smaller} whose meaning is as close to it as the rating says. Write it in your "
    "own words; it doesn’t have to look like the text, and it must make sense by itself.",
}
_KEYS: Mapping[str, str] = {
    "rating": "<kbd>0</kbd>–<kbd>9</kbd> a whole number, <kbd>←</kbd> <kbd>→</kbd> less or more, "
    "<kbd>Enter</kbd> or <kbd>↓</kbd> next, <kbd>↑</kbd> back, <kbd>U</kbd> a word you don’t know",
    "sort-then-rate": "the number of a pile puts the card there, <kbd>↓</kbd> <kbd>↑</kbd> next and last card, "
    "<kbd>U</kbd> a word you don’t know; then <kbd>←</kbd> <kbd>→</kbd> rate lower or higher",
    "best-worst": "the number of the most {adjective}, then that of the least; <kbd>0</kbd> a word you don’t know, "
    "<kbd>↑</kbd> back, <kbd>↓</kbd> on. Two answers move you on",
    "order": "<kbd>↑</kbd> <kbd>↓</kbd> choose a word, with <kbd>Shift</kbd> move it, a number sends it to that "
    "place; <kbd>Enter</kbd> takes the order and moves on, <kbd>U</kbd> a word you don’t know",
    "writing": "<kbd>Tab</kbd> goes on to the next text",
}

_KEYS_ALONE: Mapping[str, str] = {
    "rating": "<kbd>0</kbd>–<kbd>9</kbd> a whole number, <kbd>←</kbd> <kbd>→</kbd> less or more, <kbd>Enter</kbd> "
    "sends, <kbd>U</kbd> a word you don’t know",
    "best-worst": "the number of the most {adjective}, then that of the least, which sends; <kbd>0</kbd> a word you "
    "don’t know",
    "order": "<kbd>↑</kbd> <kbd>↓</kbd> choose a word, with <kbd>Shift</kbd> move it, a number sends it to that "
    "place; <kbd>Enter</kbd> takes the order and sends it, <kbd>U</kbd> a word you don’t know",
}


def question_of(settings: SchemeSettings) -> str:
    """What is asked, as plain text."""
    return settings.question or _filled(_QUESTIONS[settings.scheme], settings)


def paragraphs_of(settings: SchemeSettings) -> list[str]:
    """The explanation's paragraphs, as plain texts."""
    standard = _filled(_STEPS[settings.scheme], settings)
    if settings.scheme != "writing":
        standard = f"{EXPLAINED[settings.notion]}\n\n{standard}"
    return [part.strip() for part in (settings.instructions or standard).split("\n\n") if part.strip()]


def keys_of(settings: SchemeSettings, *, is_alone: bool = False) -> str:
    """What keys do, as HTML; where a question stands alone on its page, an answer is sent by itself."""
    return _filled((_KEYS_ALONE if is_alone else _KEYS)[settings.scheme], settings)


def most_of(settings: SchemeSettings) -> str:
    """The name of an answer's upper end."""
    return f"Most {_ADJECTIVE[settings.notion]}"


def least_of(settings: SchemeSettings) -> str:
    """The name of an answer's lower end."""
    return f"Least {_ADJECTIVE[settings.notion]}"


def _filled(text: str, settings: SchemeSettings) -> str:
    # Only texts of this module are filled; the owner's word goes in escaped by whoever shows the result.
    return text.replace("{adjective}", _ADJECTIVE[settings.notion]).replace("{smaller}", settings.smaller)
