"""The folder of a model of texts: looked at, and opened.

What lies in a folder says by which way it is opened (`WAYS`). Static models and encoders of BERT's kind are computed
here; other encoders, and cross-encoders, by the package sentence-transformers, which is optional.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..base.durable import shown_path
from ..errors import InputError
from ..evaluation.models import Encoder, sentence_transformer
from .bert import Bert, WordPiece, read_word_pieces
from .encoding import PairScorer, cross_encoder
from .static import StaticFiles, check_installed, find_static, open_static, read_tensors

CONFIG, WEIGHTS, PICKLES = "config.json", "model.safetensors", ("*.bin", "*.pt", "*.pth", "*.pkl")
UNTOLD = ("model", "encoder", "0_Transformer", "onnx")  # names of folders that say nothing of what is in them
BATCH = 4096  # word pieces of one step
PACKAGE = "sentence-transformers"
STATIC, BERT, OTHER, CROSS = "static", "bert", "package", "cross"
WAYS: Mapping[str, str] = {
    STATIC: "a static model",
    BERT: "a sentence encoder",
    OTHER: "a sentence encoder",
    CROSS: "a cross-encoder",
}
POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}


@dataclass(frozen=True)
class FoundEncoder:
    """What a folder holds. `way` is one of `WAYS`; `why_not` says why it isn't computed here, "" where it is; then the
    package that `package` names is needed. `needs_trust` warns of files that could run a program, "" where there are
    none."""

    folder: Path
    kind: str
    dimensions: int
    pooling: str
    normalised: bool
    why_not: str = ""
    needs_trust: str = ""
    way: str = BERT
    static: StaticFiles | None = None

    @property
    def name(self) -> str:
        """What it is called: as on the Hub where it lies in that one's cache, else its folder's name, or that of the
        folder above where that says nothing."""
        path = self.folder.resolve()
        if hub := _hub(path):
            return shown_path(hub[0])
        return shown_path(path.parent.name or path.name if path.name in UNTOLD else path.name)

    @property
    def package(self) -> str:
        """What must be installed to open it, "" for nothing."""
        return PACKAGE if self.why_not else "tokenizers" if self.way == STATIC else ""

    @property
    def scores_pairs(self) -> bool:
        """It gives pairs of texts a similarity, and has no vectors."""
        return self.way == CROSS

    def sentence(self) -> str:
        """For people: what was found and by which way it is opened."""
        if self.way == CROSS:
            return f"{WAYS[CROSS]} ({self.kind}), opened by the package {PACKAGE}: it reads both tokens of a pair"
        how = f"opened by the package {PACKAGE}: {self.why_not}" if self.why_not else "computed here"
        return f"{WAYS[self.way]} ({self.kind}, {self.dimensions} dimensions), {how}"

    def recipe(self, digest: str) -> tuple[tuple[str, str], ...]:
        """How a token's vector, or a pair's similarity, is made; `digest` is the hash of the model's files."""
        hub = _hub(self.folder.resolve())
        lengths = "made 1" if self.normalised else "as they come"
        pooling = {"mean": "mean of the subwords", "cls": "the first subword"}.get(self.pooling, "as the model says")
        if self.way == CROSS:
            how: tuple[tuple[str, str], ...] = (("pairs", "the mean of both orders"),)
        elif self.way == OTHER:
            how = (("pooling", "as the model says"),)
        elif self.static is not None and self.static.weighted:
            how = (("pooling", "weighted mean of the subwords"), ("lengths", lengths))
        else:
            how = (("pooling", pooling), ("lengths", lengths))
        return (
            ("model", WAYS[self.way].removeprefix("a ") + f" ({self.kind})"),
            ("computed by", PACKAGE if self.why_not else "Runoff"),
            *how,
            ("text", "{token}"),
            ("revision", hub[1] if hub else f"of the files, {digest[:12]}"),
        )


def _hub(path: Path) -> tuple[str, str] | None:
    """Name and revision of a model in the cache of the Hugging Face Hub, by its path; None elsewhere.

    >>> _hub(Path("/x/models--minishlab--potion-base-8M/snapshots/bf8b056"))
    ('minishlab/potion-base-8M', 'bf8b056')
    """
    if path.parent.name != "snapshots" or not path.parent.parent.name.startswith("models--"):
        return None
    return path.parent.parent.name.removeprefix("models--").replace("--", "/"), path.name


def inspect(folder: str | Path) -> FoundEncoder:
    """What a folder holds; of its weights only the header is read.

    Raises `InputError` where there is no model, or one that takes a package which isn't installed.
    """
    path = Path(folder)
    if not path.is_dir():
        what = "a file" if path.exists() else "not there"
        raise InputError(f"{path} is {what}. Name the folder of a model: the one with {CONFIG} in it.")
    parts = _parts(path)
    if static := find_static(path, parts, _settings(path / CONFIG, optional=True)):
        check_installed(path.name)
        return FoundEncoder(
            path, static.writer, static.dimensions, "mean", static.normalised, way=STATIC, static=static
        )
    home = _home(path)
    if not (home / CONFIG).is_file() and not parts:
        raise InputError(
            f"{path} holds no model: there is no {CONFIG}. Name the folder that has it, {WEIGHTS} and the "
            "tokenizer's files in it."
        )
    settings = _settings(home / CONFIG, optional=bool(parts))
    cross = _cross(path, settings)
    pooling, normalised, why = ("", False, cross) if cross else _pooled(path, parts)
    why = why or _why_not_here(home, settings)
    encoder = FoundEncoder(
        path,
        str(settings.get("model_type", "unknown")),
        int(settings.get("hidden_size") or 0),
        pooling,
        normalised,
        why,
        way=CROSS if cross else OTHER if why else BERT,
    )
    if not why:
        return encoder
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
    return replace(encoder, needs_trust=trust)


def open_encoder(found: FoundEncoder | str | Path, *, trusted: bool = False) -> Encoder:
    """The encoder of a folder; raises `InputError` as `inspect` does, where it isn't `trusted` but must be, and for a
    cross-encoder (`open_scorer`)."""
    if not isinstance(found, FoundEncoder):
        found = inspect(found)
    if found.scores_pairs:
        raise InputError(f"{found.name} is a cross-encoder: it gives pairs a similarity, and tokens no vectors.")
    _check_trust(found, trusted)
    if found.static is not None:
        return open_static(found.static)
    if found.why_not:
        return sentence_transformer(str(found.folder))
    home = _home(found.folder)
    model = Bert.of(read_tensors(home / WEIGHTS), _settings(home / CONFIG))
    most_pieces = _settings(home / "sentence_bert_config.json", optional=True).get("max_seq_length")
    most_pieces = most_pieces or _settings(home / "tokenizer_config.json", optional=True).get("model_max_length")
    most = min(int(most_pieces or model.most_pieces), model.most_pieces)
    return BertEncoder(model, read_word_pieces(home), found.pooling, found.normalised, most)


def open_scorer(found: FoundEncoder, *, trusted: bool = False) -> PairScorer:
    """The cross-encoder of a folder; raises `InputError` where it isn't `trusted` but must be."""
    _check_trust(found, trusted)
    return cross_encoder(str(found.folder))


def _check_trust(found: FoundEncoder, trusted: bool) -> None:
    if found.needs_trust and not trusted:
        raise InputError(found.needs_trust)


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
        vectors = np.empty((len(numbered), self.model.dimensions), dtype=np.float32)
        by_length: dict[int, list[int]] = {}
        for place, numbers in enumerate(numbered):
            by_length.setdefault(len(numbers), []).append(place)
        for length, places in by_length.items():
            step = max(1, BATCH // length)
            for start in range(0, len(places), step):
                part = places[start : start + step]
                hidden = self.model.hidden(np.array([numbered[place] for place in part], dtype=np.int64))
                vectors[part] = hidden.mean(axis=1) if self.pooling == "mean" else hidden[:, 0]
        if self.normalised:
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return vectors


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
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} can't be read ({error}). Copy the model again.") from error
    if not isinstance(settings, dict):
        raise InputError(f"{path} holds no settings. Copy the model again.")
    return settings


def _parts(folder: Path) -> list[tuple[str, str]]:
    """Kind and path of each part of the model in modules.json; none without that file."""
    listed = folder / "modules.json"
    if not listed.is_file():
        return []
    try:
        modules = json.loads(listed.read_text(encoding="utf-8"))
        parts = [(str(module["type"]).rpartition(".")[2], str(module["path"])) for module in modules]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(f"{listed} can't be read ({error}). Copy the model again.") from error
    if any(not (folder / path).resolve().is_relative_to(folder.resolve()) for _, path in parts):
        raise InputError(f"{listed} names parts that lie outside of the folder. Copy the model again.")
    return parts


def _pooled(folder: Path, parts: Sequence[tuple[str, str]]) -> tuple[str, bool, str]:
    """The pooling, whether vectors get length 1, and why it can't be computed here."""
    if not parts:
        return "mean", False, ""
    kinds = [kind for kind, _ in parts]
    if kinds[:2] != ["Transformer", "Pooling"] or kinds[2:] not in ([], ["Normalize"]):
        return "", False, f"its parts are {', '.join(kinds)}"
    pooling = _pooling(_settings(folder / parts[1][1] / CONFIG))
    asked = _settings(folder / "config_sentence_transformers.json", optional=True).get("default_prompt_name")
    why = "" if pooling else "it pools the pieces of a text in another way than by their mean or the first"
    return pooling, kinds[2:] == ["Normalize"], why or ("it puts a prompt before each text" if asked else "")


def _cross(folder: Path, settings: Mapping[str, Any]) -> str:
    """Why it is a cross-encoder, "" where it is none; `InputError` for one that gives a pair several numbers."""
    model_type = _settings(folder / "config_sentence_transformers.json", optional=True).get("model_type")
    built = [str(name) for name in settings.get("architectures") or ()]
    if model_type != "CrossEncoder" and not any(name.endswith("ForSequenceClassification") for name in built):
        return ""
    labels = settings.get("id2label")
    if isinstance(labels, dict) and len(labels) != 1:
        raise InputError(
            f"{folder.name} gives a pair {len(labels)} numbers, one a label. Take a cross-encoder that gives one, "
            "such as one for semantic textual similarity."
        )
    return "it reads both tokens of a pair together"


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
