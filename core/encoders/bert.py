"""A BERT computed with NumPy: what it makes of texts given as numbers of word pieces.

Reference: Devlin, Chang, Lee, Toutanova (2019), BERT: pre-training of deep bidirectional transformers, NAACL; Vaswani
et al. (2017), Attention is all you need, NeurIPS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from ..errors import InputError

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
