"""A BERT computed with NumPy: texts cut into word pieces, and the vectors that the network makes of them.

Texts are cleaned and cut at spaces and punctuation; then the longest pieces of the vocabulary are taken, each by its
number.

References: Devlin, Chang, Lee, Toutanova (2019), BERT: pre-training of deep bidirectional transformers, NAACL; Vaswani
et al. (2017), Attention is all you need, NeurIPS; Wu et al. (2016), Google's neural machine translation system
(WordPiece).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

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
        pieces: list[str] = []
        for part in parts:
            pieces += [part] if part in self.specials else (p for word in self._words(part) for p in self._cut(word))
        return pieces

    def _words(self, text: str) -> list[str]:
        cleaned = "".join(" " if character.isspace() else character for character in text if not _is_control(character))
        if self.ideographs_apart:
            cleaned = "".join(f" {character} " if _is_ideograph(character) else character for character in cleaned)
        if self.strip_accents:
            cleaned = "".join(c for c in unicodedata.normalize("NFD", cleaned) if unicodedata.category(c) != "Mn")
        if self.lower:  # one by one: the whole word would give another sigma at its end
            cleaned = "".join(character.lower() for character in cleaned)
        return "".join(f" {c} " if _is_punctuation(c) else c for c in cleaned).split()

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
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"{path.name} holds no settings")
    return content


Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Bert:
    """`weights` by their usual names, without a leading "bert."; `n_heads` of the attention, `epsilon` of the norms."""

    weights: Mapping[str, Floats] = field(repr=False)
    n_layers: int
    n_heads: int
    epsilon: float

    @classmethod
    def of(cls, tensors: Mapping[str, Floats], settings: Mapping) -> Bert:
        """From the arrays of a file and the model's config.json; `InputError` where they don't fit each other."""
        weights = {name.removeprefix("bert."): array for name, array in tensors.items()}
        try:
            model = cls(
                weights,
                int(settings["num_hidden_layers"]),
                int(settings["num_attention_heads"]),
                float(settings["layer_norm_eps"]),
            )
            model.hidden(np.zeros((1, 2), dtype=np.int64))
        except (KeyError, ValueError, IndexError, TypeError, ZeroDivisionError) as error:
            raise InputError(
                f"The weights don't fit the model's config.json: {error}. Copy the model again."
            ) from error
        return model

    @property
    def dimensions(self) -> int:
        """Of a vector."""
        return int(self.weights["embeddings.word_embeddings.weight"].shape[1])

    @property
    def most_pieces(self) -> int:
        """The longest text, in word pieces."""
        return len(self.weights["embeddings.position_embeddings.weight"])

    def hidden(self, numbers: NDArray[np.int64]) -> Floats:
        """Vectors (texts × pieces × dimensions) of texts of the same number of pieces, (texts × pieces)."""
        of = self.weights
        x = of["embeddings.word_embeddings.weight"][numbers]
        x = x + of["embeddings.position_embeddings.weight"][: numbers.shape[1]]
        x = self._norm(x + of["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for number in range(self.n_layers):
            x = self._layer(x, f"encoder.layer.{number}")
        return x

    def _layer(self, x: Floats, name: str) -> Floats:
        attended = self._linear(self._attention(x, f"{name}.attention.self"), f"{name}.attention.output.dense")
        x = self._norm(attended + x, f"{name}.attention.output.LayerNorm")
        inner = self._linear(x, f"{name}.intermediate.dense")
        inner = np.asarray(inner * (erf(inner / np.float32(sqrt(2))) + 1) / 2, dtype=np.float32)  # GELU, exactly
        return self._norm(self._linear(inner, f"{name}.output.dense") + x, f"{name}.output.LayerNorm")

    def _attention(self, x: Floats, name: str) -> Floats:
        n_texts, n_pieces, width = x.shape
        size = width // self.n_heads
        query, key, value = (
            self._linear(x, f"{name}.{part}").reshape(n_texts, n_pieces, self.n_heads, size).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(sqrt(size))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares = scores / scores.sum(axis=-1, keepdims=True)
        return np.asarray((shares @ value).transpose(0, 2, 1, 3).reshape(x.shape))

    def _linear(self, x: Floats, name: str) -> Floats:
        flat = x.reshape(-1, x.shape[-1]) @ self.weights[f"{name}.weight"].T  # one product, not one a text
        return np.asarray((flat + self.weights[f"{name}.bias"]).reshape(*x.shape[:-1], -1))

    def _norm(self, x: Floats, name: str) -> Floats:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(self.epsilon))
        return np.asarray(centred / spread * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"])
