"""What the task pages of other schemes say: question, explanation and keys, in plain words."""

from __future__ import annotations

from collections.abc import Mapping

from ..language import Language, translatable
from ..language import language as language_of
from .scheme_settings import SchemeSettings

ALL_KNOWN = translatable("I don’t know a word here")
EXPLAINED = {
    "relatedness": translatable(
        "Two words are related when what they stand for has to do with each other in any way: a part, a place, a "
        "cause, an opposite, things met together. They don’t have to mean the same."
    ),
    "similarity": translatable(
        "Two words are similar when they mean nearly the same or stand for the same kind of thing. Opposites, or "
        "things that are only met together, are not similar."
    ),
}
_RATING = translatable(
    "Give each item a number on the scale. Numbers between those that are explained are welcome. Go by your own first "
    "impression; there is no right answer to look up."
)
_SORTING = translatable(
    "Read all the cards first. Sort each into the pile that fits best; you can move it again. Then give every card a "
    "number: it begins at its pile’s, and can be moved up or down from there."
)
_WRITING = translatable(
    "For each text write a {smaller} whose meaning is as close to it as the rating says. Write it in your own words; "
    "it doesn’t have to look like the text, and it must make sense by itself."
)
# By notion and scheme. Whole sentences: in other languages the rest of a sentence depends on the adjective.
_QUESTIONS: Mapping[str, Mapping[str, str]] = {
    "relatedness": {
        "rating": translatable("How related are the two?"),
        "sort-then-rate": translatable("How related are the two on each card?"),
        "best-worst": translatable("Which two are most related, and which least?"),
        "order": translatable("Which word is most related to the target?"),
        "writing": translatable("Write a {smaller} that is as close as wanted"),
    },
    "similarity": {
        "rating": translatable("How similar are the two?"),
        "sort-then-rate": translatable("How similar are the two on each card?"),
        "best-worst": translatable("Which two are most similar, and which least?"),
        "order": translatable("Which word is most similar to the target?"),
        "writing": translatable("Write a {smaller} that is as close as wanted"),
    },
}
_STEPS: Mapping[str, Mapping[str, str]] = {
    "relatedness": {
        "rating": _RATING,
        "sort-then-rate": _SORTING,
        "best-worst": translatable(
            "Of each list choose the item whose words are most related, and the one whose words are least. Go by your "
            "own first impression."
        ),
        "order": translatable(
            "Put the words of each target into an order: the one that is most related to the target at the top, the "
            "least at the bottom. Then say that the order is yours."
        ),
        "writing": _WRITING,
    },
    "similarity": {
        "rating": _RATING,
        "sort-then-rate": _SORTING,
        "best-worst": translatable(
            "Of each list choose the item whose words are most similar, and the one whose words are least. Go by your "
            "own first impression."
        ),
        "order": translatable(
            "Put the words of each target into an order: the one that is most similar to the target at the top, the "
            "least at the bottom. Then say that the order is yours."
        ),
        "writing": _WRITING,
    },
}
_KEYS: Mapping[str, str] = {
    "rating": translatable(
        "<kbd>0</kbd>–<kbd>9</kbd> a whole number, <kbd>←</kbd> <kbd>→</kbd> less or more, <kbd>Enter</kbd> or "
        "<kbd>↓</kbd> next, <kbd>↑</kbd> back, <kbd>U</kbd> a word you don’t know"
    ),
    "sort-then-rate": translatable(
        "the number of a pile puts the card there, <kbd>↓</kbd> <kbd>↑</kbd> next and last card, <kbd>U</kbd> a word "
        "you don’t know; then <kbd>←</kbd> <kbd>→</kbd> rate lower or higher"
    ),
    "best-worst": translatable(
        "the number of the most {adjective}, then that of the least; <kbd>0</kbd> a word you don’t know, <kbd>↑</kbd> "
        "back, <kbd>↓</kbd> on. Two answers move you on"
    ),
    "order": translatable(
        "<kbd>↑</kbd> <kbd>↓</kbd> choose a word, with <kbd>Shift</kbd> move it, a number sends it to that place; "
        "<kbd>Enter</kbd> takes the order and moves on, <kbd>U</kbd> a word you don’t know"
    ),
    "writing": translatable("<kbd>Tab</kbd> goes on to the next text"),
}
_KEYS_ALONE: Mapping[str, str] = {
    "rating": translatable(
        "<kbd>0</kbd>–<kbd>9</kbd> a whole number, <kbd>←</kbd> <kbd>→</kbd> less or more, <kbd>Enter</kbd> sends, "
        "<kbd>U</kbd> a word you don’t know"
    ),
    "best-worst": translatable(
        "the number of the most {adjective}, then that of the least, which sends; <kbd>0</kbd> a word you don’t know"
    ),
    "order": translatable(
        "<kbd>↑</kbd> <kbd>↓</kbd> choose a word, with <kbd>Shift</kbd> move it, a number sends it to that place; "
        "<kbd>Enter</kbd> takes the order and sends it, <kbd>U</kbd> a word you don’t know"
    ),
}
_ADJECTIVE = {"relatedness": translatable("related"), "similarity": translatable("similar")}
_MOST = {"relatedness": translatable("Most related"), "similarity": translatable("Most similar")}
_LEAST = {"relatedness": translatable("Least related"), "similarity": translatable("Least similar")}


def spoken_by(settings: SchemeSettings) -> Language:
    """The language of a page's standard texts."""
    return language_of(settings.language)


def question_of(settings: SchemeSettings) -> str:
    """What is asked, as plain text."""
    return settings.question or _told(_QUESTIONS[settings.notion][settings.scheme], settings)


def paragraphs_of(settings: SchemeSettings) -> list[str]:
    """The explanation's paragraphs, as plain texts."""
    standard = _told(_STEPS[settings.notion][settings.scheme], settings)
    if settings.scheme != "writing":
        standard = f"{spoken_by(settings).text(EXPLAINED[settings.notion])}\n\n{standard}"
    return [part.strip() for part in (settings.instructions or standard).split("\n\n") if part.strip()]


def keys_of(settings: SchemeSettings, *, is_alone: bool = False) -> str:
    """What keys do, as HTML; where a question stands alone on its page, an answer is sent by itself."""
    spoken = spoken_by(settings)
    adjective = spoken.text(_ADJECTIVE[settings.notion])
    keys = spoken.text((_KEYS_ALONE if is_alone else _KEYS)[settings.scheme], adjective=adjective)
    return spoken.text("With a keyboard: {keys}.", keys=keys)


def most_of(settings: SchemeSettings) -> str:
    """The name of an answer's upper end."""
    return spoken_by(settings).text(_MOST[settings.notion])


def least_of(settings: SchemeSettings) -> str:
    """The name of an answer's lower end."""
    return spoken_by(settings).text(_LEAST[settings.notion])


def smaller_of(settings: SchemeSettings) -> str:
    """What is to be written, as plain text."""
    return spoken_by(settings).text(settings.smaller)


def _told(text: str, settings: SchemeSettings) -> str:
    # The owner's word goes in unescaped; whoever shows the result escapes it.
    return spoken_by(settings).text(text, smaller=smaller_of(settings))
