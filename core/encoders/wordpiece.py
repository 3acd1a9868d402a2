"""Texts as numbers of word pieces, as BERT has them: cleaned, cut at spaces and punctuation, then the longest pieces.

References: Devlin, Chang, Lee, Toutanova (2019), BERT: pre-training of deep bidirectional transformers, NAACL; Wu et
al. (2016), Google's neural machine translation system (WordPiece).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError

UNKNOWN, BEGIN, END = "[UNK]", "[CLS]", "[SEP]"
IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


@dataclass(frozen=True)
class WordPiece:
    """`vocabulary` gives each piece its number; `specials` are texts that stand for themselves, such as [MASK]."""

    vocabulary: Mapping[str, int]
    lower: bool = True
    strip_accents: bool = True
    ideographs_apart: bool = True
    specials: frozenset[str] = frozenset()
    longest_word: int = 100

    def __post_init__(self) -> None:
        if lacking := [piece for piece in (UNKNOWN, BEGIN, END) if piece not in self.vocabulary]:
            raise InputError(f"The vocabulary of the encoder lacks {', '.join(lacking)}; only BERT's kind is read.")

    def numbers(self, text: str, most: int) -> list[int]:
        """The pieces of a text between [CLS] and [SEP], at most `most` with these two.

        >>> WordPiece({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "play": 3, "##ing": 4}).numbers("Playing chess", 16)
        [1, 3, 4, 0, 2]
        """
        pieces = [self.vocabulary[piece] for piece in self.pieces(text)][: most - 2]
        return [self.vocabulary[BEGIN], *pieces, self.vocabulary[END]]

    def pieces(self, text: str) -> list[str]:
        """The word pieces of a text, those inside a word beginning with ##."""
        if not self.specials:
            return [piece for word in self._words(text) for piece in self._cut(word)]
        parts = re.split("(" + "|".join(map(re.escape, sorted(self.specials))) + ")", text)
        found: list[str] = []
        for part in parts:
            found += [part] if part in self.specials else (p for word in self._words(part) for p in self._cut(word))
        return found

    def _words(self, text: str) -> list[str]:
        shown = "".join(" " if character.isspace() else character for character in text if not _is_control(character))
        if self.ideographs_apart:
            shown = "".join(f" {character} " if _is_ideograph(character) else character for character in shown)
        if self.strip_accents:
            shown = "".join(c for c in unicodedata.normalize("NFD", shown) if unicodedata.category(c) != "Mn")
        if self.lower:  # one by one: the whole word would give another sigma at its end
            shown = "".join(character.lower() for character in shown)
        return "".join(f" {c} " if _is_punctuation(c) else c for c in shown).split()

    def _cut(self, word: str) -> list[str]:
        """The longest piece that the word begins with, and so on; [UNK] where there is none."""
        if len(word) > self.longest_word:
            return [UNKNOWN]
        pieces: list[str] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if mark + word[start:end] in self.vocabulary), None)
            if end is None:
                return [UNKNOWN]
            pieces.append(mark + word[start:end])
            start = end
        return pieces


def _is_control(character: str) -> bool:
    if character in "\t\n\r":
        return False
    return character in "\0�" or unicodedata.category(character).startswith("C")


def _is_ideograph(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in IDEOGRAPHS)


def _is_punctuation(character: str) -> bool:
    ascii_sign = "!" <= character <= "~" and not character.isalnum()
    return ascii_sign or unicodedata.category(character).startswith("P")


def read_word_pieces(folder: Path) -> WordPiece:
    """The tokenizer of a model's folder, from tokenizer.json or vocab.txt; `InputError` if it is of another kind."""
    path = folder / "tokenizer.json"
    try:
        if not path.is_file():
            path = folder / "vocab.txt"
            # At line ends only: others, such as U+2028, are parts of words, and each line is the number of its word.
            words = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
            settings = (
                _json_of(folder / "tokenizer_config.json") if (folder / "tokenizer_config.json").is_file() else {}
            )
            lower = bool(settings.get("do_lower_case", True))
            return WordPiece({word: number for number, word in enumerate(words)}, lower, lower)
        described = _json_of(path)
        model, normalizer = described["model"], described["normalizer"] or {}
        if model.get("type", "WordPiece") != "WordPiece" or model.get("continuing_subword_prefix") != "##":
            raise InputError(f"{path.name} cuts words in another way than BERT ({model.get('type')}).")
        if normalizer.get("type") != "BertNormalizer" or described["pre_tokenizer"].get("type") != "BertPreTokenizer":
            raise InputError(f"{path.name} prepares texts in another way than BERT.")
        lower, accents = bool(normalizer["lowercase"]), normalizer["strip_accents"]
        return WordPiece(
            model["vocab"],
            lower,
            lower if accents is None else bool(accents),
            bool(normalizer["handle_chinese_chars"]),
            frozenset(token["content"] for token in described["added_tokens"]),
            int(model["max_input_chars_per_word"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"The encoder's words can't be read from {path.name}: {error}. Copy the model again."
        ) from error


def _json_of(path: Path) -> dict:
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} holds no settings")
    return found
