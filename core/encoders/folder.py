"""The folder of a sentence encoder, as the package sentence-transformers writes it: looked at, and opened.

A project's tokens, encoded once and kept like any imported embedding.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..base.durable import shown_path
from ..embeddings import EmbeddingInfo
from ..embeddings.formats import Block
from ..embeddings.storage import FolderSink
from ..errors import InputError
from ..evaluation.models import Encoder, given, sentence_transformer
from .bert import Bert, WordPiece, read_word_pieces

ENCODED = "sentence encoder"  # its format
KEY = "encoder"  # of the hash of its files, among its companions
STEP = 256  # tokens between two signs of progress


def encode_into(
    folder: Path,
    encoder: Encoder,
    tokens: Sequence[str],
    *,
    source: str,
    digest: str,
    progress: Callable[[int, int], None] | None = None,
) -> EmbeddingInfo:
    """Write what an encoder makes of distinct tokens, each read as one short text, into a new folder.

    `source` is what people call the encoder, `digest` the hash of its files; with the tokens it is the identity. Raises
    `InputError` for no token, or where the encoder doesn't return one vector of the same length a token.
    """
    distinct = list(dict.fromkeys(tokens))
    if not distinct:
        raise InputError("There is no token to encode yet. Add token lists first.")
    parts: list[np.ndarray] = []
    for start in range(0, len(distinct), STEP):
        if progress is not None:
            progress(start, len(distinct))
        some = distinct[start : start + STEP]
        parts.append(np.asarray(encoder.encode(some), dtype=np.float32))
        given(some, parts[-1], name=source)  # which checks their number
        if parts[-1].shape[1] != parts[0].shape[1]:
            raise InputError(f"{source} returns vectors of different lengths for different tokens.")
    vectors = np.concatenate(parts)
    folder.mkdir(parents=True)
    sink = FolderSink(folder)
    try:
        sink.add(Block(pa.array(distinct, pa.string()), np.ascontiguousarray(vectors)))
    finally:
        sink.close()
    info = EmbeddingInfo(
        format=ENCODED,
        n_words=len(distinct),
        dimensions=vectors.shape[1],
        sha256=hashlib.sha256("\n".join(distinct).encode()).hexdigest(),
        source=source,
        n_bytes=vectors.nbytes,
        notes=(f"vectors of {len(distinct):,} tokens of the project, each read as one short text; of no other words",),
        companions=((KEY, digest),),
    )
    return sink.finish(info)


def encoder_of(info: dict) -> str:
    """The hash of the encoder that an imported embedding (`Imported.info`) came from, "" for other embeddings."""
    return next((digest for name, digest in info.get("companions", ()) if name == KEY), "")


CONFIG, WEIGHTS, PICKLES = "config.json", "model.safetensors", ("*.bin", "*.pt", "*.pth", "*.pkl")
UNTOLD = ("model", "encoder", "0_Transformer", "onnx")  # names of folders that say nothing of what is in them
BATCH = 4096  # word pieces of one step
MOST_HEADER = 100_000_000  # bytes of a weights file's header
TYPES: dict[str, np.dtype] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
}
POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}


@dataclass(frozen=True)
class FoundEncoder:
    """What a folder holds. `why_not` says why it isn't computed here, "" where it is; then the package that `package`
    names is needed. `needs_trust` warns of files that could run a program, "" where there are none."""

    folder: Path
    kind: str
    dimensions: int
    pooling: str
    normalised: bool
    why_not: str = ""
    needs_trust: str = ""

    @property
    def name(self) -> str:
        """What it is called: its folder's name, or that of the folder above where that says nothing."""
        path = self.folder.resolve()
        return shown_path(path.parent.name or path.name if path.name in UNTOLD else path.name)

    @property
    def package(self) -> str:
        """What must be installed to open it, "" for nothing."""
        return "sentence-transformers" if self.why_not else ""

    def sentence(self) -> str:
        """For people: what was found and by which way it is opened."""
        how = f"opened by the package {self.package}: {self.why_not}" if self.why_not else "computed here"
        return f"a sentence encoder ({self.kind}, {self.dimensions} dimensions), {how}"


def inspect(folder: str | Path) -> FoundEncoder:
    """What a folder holds; nothing of its weights is read.

    Raises `InputError` where there is no encoder, or one that takes a package which isn't installed.
    """
    path = Path(folder)
    if not path.is_dir():
        what = "a file" if path.exists() else "not there"
        raise InputError(f"{path} is {what}. Name the folder of a sentence encoder: the one with {CONFIG} in it.")
    home = _home(path)
    if not (home / CONFIG).is_file():
        raise InputError(
            f"{path} holds no sentence encoder: there is no {CONFIG}. Name the folder that has it, {WEIGHTS} and the "
            "tokenizer's files in it."
        )
    settings = _settings(home / CONFIG)
    pooling, normalised, why = _modules(path)
    why = why or _why_not_here(home, settings)
    found = FoundEncoder(
        path,
        str(settings.get("model_type", "unknown")),
        int(settings.get("hidden_size") or 0),
        pooling,
        normalised,
        why,
    )
    if not why:
        return found
    if find_spec("sentence_transformers") is None:
        raise InputError(
            f"{path.name} can't be computed without another package: {why}. Install sentence-transformers, which is "
            "optional and large (pip install sentence-transformers, some 6 GB with torch), or take an encoder "
            f"of BERT's kind with {WEIGHTS}."
        )
    pickles = sorted(file.name for pattern in PICKLES for file in home.glob(pattern))
    trust = ""
    if pickles and not (home / WEIGHTS).is_file():
        trust = f"{pickles[0]} could run a program when it is opened. Open it only if you know where it comes from."
    return FoundEncoder(**{**vars(found), "needs_trust": trust})


def open_encoder(found: FoundEncoder | str | Path, *, trusted: bool = False) -> Encoder:
    """The encoder of a folder; raises `InputError` as `inspect` does, and where it isn't `trusted` but must be."""
    if not isinstance(found, FoundEncoder):
        found = inspect(found)
    if found.needs_trust and not trusted:
        raise InputError(found.needs_trust)
    if found.why_not:
        return sentence_transformer(str(found.folder))
    home = _home(found.folder)
    model = Bert.of(read_tensors(home / WEIGHTS), _settings(home / CONFIG))
    said = _settings(home / "sentence_bert_config.json", optional=True).get("max_seq_length")
    said = said or _settings(home / "tokenizer_config.json", optional=True).get("model_max_length")
    most = min(int(said or model.most_pieces), model.most_pieces)
    return BertEncoder(model, read_word_pieces(home), found.pooling, found.normalised, most)


@dataclass(frozen=True, eq=False)
class BertEncoder:
    """A BERT with its words; texts of equal length are computed together, so that none needs padding."""

    model: Bert
    words: WordPiece
    pooling: str
    normalised: bool
    most: int

    def encode(self, tokens: Sequence[str]) -> np.ndarray:
        """A vector per token, float32 (tokens × dimensions)."""
        numbered = [self.words.numbers(token, self.most) for token in tokens]
        made = np.empty((len(numbered), self.model.dimensions), dtype=np.float32)
        by_length: dict[int, list[int]] = {}
        for place, numbers in enumerate(numbered):
            by_length.setdefault(len(numbers), []).append(place)
        for length, places in by_length.items():
            step = max(1, BATCH // length)
            for start in range(0, len(places), step):
                part = places[start : start + step]
                hidden = self.model.hidden(np.array([numbered[place] for place in part], dtype=np.int64))
                made[part] = hidden.mean(axis=1) if self.pooling == "mean" else hidden[:, 0]
        if self.normalised:
            made /= np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-12)
        return made


def digest_of(found: FoundEncoder) -> str:
    """A hash of the folder's files that decide what the encoder says."""
    digest = hashlib.sha256()
    for path in sorted(file for file in found.folder.rglob("*") if file.is_file()):
        inside = path.relative_to(found.folder)
        if path.suffix in (".json", ".txt", ".safetensors", ".bin", ".pt", ".model") and inside.parts[0][0] != ".":
            with path.open("rb") as file:
                digest.update(f"{inside.as_posix()}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()


def _home(folder: Path) -> Path:
    """Where the transformer itself lies: in the folder, or in the part that modules.json names."""
    inner = folder / "0_Transformer"
    return inner if not (folder / CONFIG).is_file() and inner.is_dir() else folder


def _settings(path: Path, *, optional: bool = False) -> dict[str, Any]:
    if optional and not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} can't be read ({error}). Copy the model again.") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} holds no settings. Copy the model again.")
    return found


def _modules(folder: Path) -> tuple[str, bool, str]:
    """The pooling, whether vectors get length 1, and why it can't be computed here."""
    listed = folder / "modules.json"
    if not listed.is_file():
        return "mean", False, ""
    try:
        modules = json.loads(listed.read_text(encoding="utf-8"))
        kinds = [str(module["type"]).rpartition(".")[2] for module in modules]
        paths = [str(module["path"]) for module in modules]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{listed} can't be read ({error}). Copy the model again.") from error
    if kinds[:2] != ["Transformer", "Pooling"] or kinds[2:] not in ([], ["Normalize"]):
        return "", False, f"its parts are {', '.join(kinds)}"
    pooling = _pooling(_settings(folder / paths[1] / CONFIG))
    asked = _settings(folder / "config_sentence_transformers.json", optional=True).get("default_prompt_name")
    why = "" if pooling else "it pools the pieces of a text in another way than by their mean or the first"
    return pooling, kinds[2:] == ["Normalize"], why or ("it puts a prompt before each text" if asked else "")


def _pooling(settings: Mapping[str, Any]) -> str:
    if isinstance(mode := settings.get("pooling_mode"), str):
        return mode if mode in POOLINGS.values() else ""
    chosen = [name for name, value in settings.items() if name.startswith("pooling_mode_") and value]
    return POOLINGS.get(chosen[0], "") if len(chosen) == 1 else ""


def _why_not_here(home: Path, settings: Mapping[str, Any]) -> str:
    if settings.get("model_type") != "bert":
        return f"it is of the kind {settings.get('model_type', 'unknown')}, not BERT"
    if settings.get("position_embedding_type", "absolute") != "absolute" or settings.get("hidden_act") != "gelu":
        return "it is a BERT with other positions or another activation"
    if not (home / WEIGHTS).is_file():
        return f"it has no {WEIGHTS}"
    try:
        read_word_pieces(home)
    except InputError as error:
        return str(error).rstrip(".")
    return ""


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """The floating-point arrays of a file of the format safetensors by name, as float32; others, such as position
    numbers, are left out. The file is eight bytes of length, a JSON header, then numbers; no code is run.

    Reference: https://huggingface.co/docs/safetensors (the format's description).

    Raises `InputError` for a file that isn't of the format, or not whole.
    """
    try:
        held = np.memmap(path, dtype=np.uint8, mode="r")
        length = int.from_bytes(held[:8].tobytes(), "little")
        if len(held) < 8 or not 2 <= length <= min(MOST_HEADER, len(held) - 8):
            raise ValueError(f"a header of {length} bytes in a file of {len(held)}")
        header = json.loads(held[8 : 8 + length].tobytes())
        header.pop("__metadata__", None)
        body = held[8 + length :]
        _check_apart([entry["data_offsets"] for entry in header.values()])
        return {name: _array(body, entry) for name, entry in header.items() if entry["dtype"] in TYPES}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path} is no whole file of weights (safetensors): {error}. Copy the model again.") from error


def _check_apart(spans: list[list[int]]) -> None:
    """Raise ValueError where arrays share bytes: many names for the same few would fill the memory."""
    end = 0
    for start, following in sorted(spans):
        if start < end:
            raise ValueError(f"two arrays share the byte {start}")
        end = max(end, following)


def _array(body: np.ndarray, entry: dict) -> np.ndarray:
    start, end = entry["data_offsets"]
    kind = TYPES[entry["dtype"]]
    if not 0 <= start <= end <= len(body):
        raise ValueError(f"an array from byte {start} to {end} of {len(body)}")
    values = np.frombuffer(body[start:end].tobytes(), dtype=kind).reshape(entry["shape"])
    if entry["dtype"] == "BF16":  # the upper half of a float32
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float32)
