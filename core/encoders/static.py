"""Static models of texts, where each subword has one vector and a text is the mean of its subwords' vectors.

Two packages write them, both as `model.safetensors` beside `tokenizer.json`. **model2vec** keeps the vectors as
`embeddings`, may keep a `mapping` from subwords to them (several share one) and `weights` of the subwords, says
`normalize` and `max_length` in config.json, and leaves subwords that it doesn't know out of the mean.
**sentence-transformers** (`StaticEmbedding`) keeps them as `embedding.weight`, and takes all subwords.

    v(text) = (1/n) Σ weight(s) · row(mapping(s)),    over the n subwords s of the text

A text without a subword gets zeros, which no page compares.

Files of the format safetensors are read here too, for every model: eight bytes of length, a JSON header, then numbers.
No code is run.

References: Tulkens, van Dongen (2024), Model2Vec: the fastest state-of-the-art static embeddings in the world;
https://huggingface.co/docs/safetensors (the format's description).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

MOST_HEADER = 100_000_000  # bytes of a file's header
FLOATS: Mapping[str, np.dtype] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
}
INTEGERS: Mapping[str, np.dtype] = {
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U8": np.dtype("u1"),
}


@dataclass(frozen=True, eq=False)
class Tensor:
    """One array of a file, memory-mapped as it is stored; `kind` is the format's name of its numbers."""

    kind: str
    stored: np.ndarray = field(repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its lengths."""
        return self.stored.shape

    def floats(self, rows: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """All of it, or some rows, as float32."""
        rows_stored = self.stored if rows is None else self.stored[rows]
        if self.kind == "BF16":  # the upper half of a float32
            return (rows_stored.astype(np.uint32) << 16).view(np.float32)
        return np.array(rows_stored, dtype=np.float32)


def open_tensors(path: Path) -> dict[str, Tensor]:
    """The arrays of a file by name, memory-mapped; those of kinds that aren't read are left out.

    Raises `InputError` for a file that isn't of the format, or not whole.
    """
    try:
        data = np.memmap(path, dtype=np.uint8, mode="r")
        length = int.from_bytes(data[:8].tobytes(), "little")
        if len(data) < 8 or not 2 <= length <= min(MOST_HEADER, len(data) - 8):
            raise ValueError(f"a header of {length} bytes in a file of {len(data)}")
        header = json.loads(data[8 : 8 + length].tobytes())
        header.pop("__metadata__", None)
        body = data[8 + length :]
        _check_apart([entry["data_offsets"] for entry in header.values()])
        read = {**FLOATS, **INTEGERS}
        return {
            name: Tensor(entry["dtype"], _array(body, entry, read[entry["dtype"]]))
            for name, entry in header.items()
            if entry["dtype"] in read
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path} is no whole file of weights (safetensors): {error}. Copy the model again.") from error


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """The floating-point arrays of a file by name, as float32; others, such as position numbers, are left out.

    Raises as `open_tensors` does.
    """
    return {name: tensor.floats() for name, tensor in open_tensors(path).items() if tensor.kind in FLOATS}


def _check_apart(spans: list[list[int]]) -> None:
    """Raise ValueError where arrays share bytes: many names for the same few would fill the memory."""
    end = 0
    for start, following in sorted(spans):
        if start < end:
            raise ValueError(f"two arrays share the byte {start}")
        end = max(end, following)


def _array(body: np.ndarray, entry: dict, kind: np.dtype) -> np.ndarray:
    start, end = entry["data_offsets"]
    if not 0 <= start <= end <= len(body):
        raise ValueError(f"an array from byte {start} to {end} of {len(body)}")
    return np.frombuffer(body[start:end], dtype=kind).reshape(entry["shape"])


WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"
VECTORS = {"embeddings": "model2vec", "embedding.weight": "StaticEmbedding"}  # the vectors' name, and who gives it
INSIDE = "0_StaticEmbedding"  # where sentence-transformers may put the files
LONGEST = 512  # subwords of a text, where model2vec's config.json doesn't say
INSTALL = "Install tokenizers, which is small: pip install tokenizers, or Runoff with its extra “models”."


@dataclass(frozen=True)
class StaticFiles:
    """A static model's folder: where its files lie, which of `VECTORS` they have, and whether vectors get length 1.
    `longest` is how many subwords of a text are read, None for all; `weighted` says that they have weights."""

    home: Path
    vectors: str
    dimensions: int
    n_vectors: int
    normalised: bool
    longest: int | None
    weighted: bool = False

    @property
    def writer(self) -> str:
        """Whose rules the model goes by."""
        return VECTORS[self.vectors]


def find_static(folder: Path, parts: Sequence[tuple[str, str]], settings: Mapping[str, Any]) -> StaticFiles | None:
    """The static model of a folder; None where it holds another kind of model.

    parts : kind and path of each part in modules.json, none without that file; settings : config.json, if there is one.

    Raises `InputError` for weights or settings that can't be read.
    """
    kinds = [kind for kind, _ in parts]
    if kinds and (kinds[0] != "StaticEmbedding" or kinds[1:] not in ([], ["Normalize"])):
        return None
    places = [folder / parts[0][1]] if parts else [folder, folder / INSIDE]
    home = next((place for place in places if (place / WEIGHTS).is_file() and (place / TOKENIZER).is_file()), None)
    if home is None:
        return None
    tensors = open_tensors(home / WEIGHTS)
    name = next((name for name in VECTORS if name in tensors), None)
    if name is None or len(tensors[name].shape) != 2:
        return None
    n_vectors, dimensions = tensors[name].shape
    if VECTORS[name] != "model2vec":
        return StaticFiles(home, name, dimensions, n_vectors, kinds[1:] == ["Normalize"], None)
    longest = settings.get("max_length", LONGEST)
    if longest is not None and (not isinstance(longest, int) or longest < 1):
        raise InputError(f"max_length in {folder.name}'s config.json is a number of subwords; found {longest!r}.")
    normalised = bool(settings.get("normalize", False))
    return StaticFiles(home, name, dimensions, n_vectors, normalised, longest, "weights" in tensors)


@dataclass(frozen=True, eq=False)
class StaticEncoder:
    """A static model, ready. `tokenizer` cuts texts, as the package tokenizers does.

    vectors : the rows; mapping : of each subword its row, None for its own number; weights : of each subword, None for
    1; unknown : the number of the subword that stands for what isn't known, left out of the mean, None where nothing
    is; letters : characters of a text that are read, None for all.
    """

    tokenizer: Any
    vectors: Tensor
    mapping: NDArray[np.int64] | None
    weights: NDArray[np.float32] | None
    unknown: int | None
    letters: int | None
    normalised: bool

    def encode(self, tokens: Sequence[str]) -> np.ndarray:
        """A vector per token, float32 (tokens × dimensions); zeros for one of no known subword."""
        vectors = np.zeros((len(tokens), self.vectors.shape[1]), dtype=np.float32)
        cut = self.tokenizer.encode_batch([token[: self.letters] for token in tokens], add_special_tokens=False)
        for place, pieces in enumerate(cut):
            numbers = np.array([number for number in pieces.ids if number != self.unknown], dtype=np.int64)
            if len(numbers):
                rows = self.vectors.floats(numbers if self.mapping is None else self.mapping[numbers])
                vectors[place] = (rows if self.weights is None else rows * self.weights[numbers, None]).mean(axis=0)
        if self.normalised:
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-32))
        return vectors


def check_installed(name: str) -> None:
    """Raise `InputError` with what to install, where a static model called `name` can't be opened here."""
    if find_spec("tokenizers") is None:
        raise InputError(f"{name} is a static model: its texts are cut by the package tokenizers. {INSTALL}")


def open_static(found: StaticFiles) -> StaticEncoder:
    """The model of a folder; raises `InputError` where its files can't be read or don't fit each other."""
    tensors = open_tensors(found.home / WEIGHTS)
    tokenizer = _tokenizer(found.home / TOKENIZER)
    vocabulary = tokenizer.get_vocab()
    ours = found.writer == "model2vec"
    mapping = _flat(tensors.get("mapping"), INTEGERS) if ours else None
    weights = _flat(tensors.get("weights"), FLOATS) if ours else None
    n_subwords = max(vocabulary.values(), default=-1) + 1
    rows = np.arange(0) if mapping is None else mapping.stored
    n_known = found.n_vectors if mapping is None else len(rows)
    fits = 0 < n_subwords <= n_known and (weights is None or len(weights.stored) >= n_subwords)
    if not fits or (len(rows) and not 0 <= rows.min() <= rows.max() < found.n_vectors):
        raise InputError(
            f"The weights of {found.home} don't fit its {TOKENIZER}: {n_known:,} subwords have a vector, and the "
            f"tokenizer has {n_subwords:,}. Copy the model again."
        )
    letters = None
    if ours and found.longest is not None:
        tokenizer.enable_truncation(found.longest)
        letters = found.longest * int(median(map(len, vocabulary)))  # as model2vec cuts before it looks closer
    elif ours:
        tokenizer.no_truncation()
    tokenizer.no_padding()
    return StaticEncoder(
        tokenizer,
        tensors[found.vectors],
        None if mapping is None else mapping.stored.astype(np.int64),
        None if weights is None else weights.floats(),
        _unknown(tokenizer) if ours else None,
        letters,
        found.normalised,
    )


def _flat(tensor: Tensor | None, kinds: Mapping[str, np.dtype]) -> Tensor | None:
    """The tensor where there is one, which must have one length and one of the kinds."""
    if tensor is not None and (len(tensor.shape) != 1 or tensor.kind not in kinds):
        raise InputError(f"The mapping or weights of the static model can't be read (kind {tensor.kind}).")
    return tensor


def _tokenizer(path: Path) -> Any:
    check_installed(path.parent.name)
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises nothing narrower
        raise InputError(f"{path} can't be read by the package tokenizers: {error}. Copy the model again.") from error


def _unknown(tokenizer: Any) -> int | None:
    """The number of the subword for what isn't known, as model2vec finds it."""
    described = json.loads(tokenizer.to_str())["model"]
    number = described.get("unk_id")
    name = described.get("unk_token")
    return tokenizer.token_to_id(name) if isinstance(name, str) else number
