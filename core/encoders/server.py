"""Embeddings from a server that speaks `POST {address}/v1/embeddings`: vLLM, llama.cpp, Ollama, or one that is hosted.

Sent are the model's name and, in batches, the texts that stand for the tokens; nothing else of a project. A key goes
along where the environment has one (`RUNOFF_EMBEDDINGS_KEY`), encrypted or to this machine only; it is written nowhere.

An answer counts only whole: one finite vector of one length for each text, under its own number. Anything else is
refused in words, and nothing is put in its place.

Each text is asked and paid for once. What came whole is kept on the disk at once, so that a run which ends early, by a
fault or by hand, goes on from there: one folder a server, model and template, named by their hash, with `about.json`
that says which, and in it an Arrow file a batch.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..base import web
from ..base.durable import make_folder, rights_in, write_whole
from ..embeddings import EmbeddingInfo
from ..errors import InputError, PlatformError, StoreError
from .encoding import SERVED, ModelSource, Recipe, write_vectors

_SCHEMA = pa.schema([("text", pa.string()), ("vector", pa.list_(pa.float32()))])


@dataclass(frozen=True, eq=False)
class KeptBatch:
    """Vectors of some texts (n × dimensions), the model's name as the server gave it, and the day it answered (UTC)."""

    texts: tuple[str, ...]
    vectors: NDArray[np.float32]
    answered: str
    day: str
    n_counted: int = 0  # word pieces, as the server counts them


class KeptVectors:
    """The folder of one server, model and template; `about` tells them apart, and is written beside the vectors."""

    def __init__(self, folder: Path, about: Mapping[str, str]) -> None:
        self.about = dict(about)
        name = hashlib.sha256(json.dumps(self.about, sort_keys=True).encode()).hexdigest()[:32]
        self.folder = folder / name

    def batches(self) -> list[KeptBatch]:
        """All that is kept, in the order it came; files that can't be read are passed over."""
        batches = []
        for path in sorted(self.folder.glob("*.arrow")):
            with suppress(OSError, pa.ArrowInvalid, ValueError, KeyError, TypeError):
                batches.append(_read(path))
        return batches

    def texts(self) -> set[str]:
        """The texts whose vectors are kept."""
        return {text for batch in self.batches() for text in batch.texts}

    def add(self, batch: KeptBatch) -> None:
        """Keep a batch; it is on the disk when this returns. Raises `StoreError` where it can't be written."""
        about = {"answered": batch.answered, "day": batch.day, "counted": str(batch.n_counted)}
        table = pa.table([pa.array(batch.texts), pa.array(list(batch.vectors), _SCHEMA.field("vector").type)], _SCHEMA)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema.with_metadata(about)) as file:
            file.write_table(table)
        data = sink.getvalue().to_pybytes()
        try:
            make_folder(self.folder.parent, 0o700)
            make_folder(self.folder, rights_in(self.folder.parent))
            if not (self.folder / "about.json").exists():
                about_text = json.dumps(self.about, ensure_ascii=False, indent=1) + "\n"
                write_whole(self.folder / "about.json", self.folder / "about.part", about_text.encode())
            number = max((int(path.name[:8]) for path in self.folder.glob("*.arrow")), default=0) + 1
            name = f"{number:08d}-{hashlib.sha256(data).hexdigest()[:16]}"  # two jobs at once may have one number
            write_whole(self.folder / f"{name}.arrow", self.folder / f"{name}.part", data)
        except (OSError, ValueError) as error:
            raise StoreError(f"What the server answered can't be kept in {self.folder}: {error}. Make room.") from error

    def forget(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _read(path: Path) -> KeptBatch:
    with pa.OSFile(str(path)) as source:
        table = pa.ipc.open_file(source).read_all()
    about = {name.decode(): value.decode() for name, value in (table.schema.metadata or {}).items()}
    texts: Sequence[str] = table["text"].to_pylist()
    vectors = np.array(table["vector"].to_pylist(), dtype=np.float32)
    if vectors.ndim != 2 or len(texts) != len(vectors) or not np.isfinite(vectors).all():
        raise ValueError(f"{path.name} holds no vectors")
    return KeptBatch(tuple(texts), vectors, about["answered"], about["day"], int(about["counted"]))


KEY_VARIABLE = "RUNOFF_EMBEDDINGS_KEY"
TOKEN = "{token}"  # of a template: where the token goes
PATH = "/v1/embeddings"
MOST_TEXTS = 2048  # of one request
Progress = Callable[[int, int, str], None]  # how many of how many tokens, and what goes on
sleep = time.sleep


@dataclass(frozen=True)
class EmbeddingServer:
    """A server's address, the model's name there, the text that stands for a token, and how many texts a request has.

    Raises `InputError` for an address that isn't http or https, no model, a template without {token}, or another size.
    """

    address: str
    model: str
    template: str = TOKEN
    batch: int = 64
    timeout: float = 60.0

    def __post_init__(self) -> None:
        address = web.clean_address(self.address, of="the server", example="http://localhost:11434")
        for ending in (PATH, "/v1"):  # as other programs ask for it
            address = address.removesuffix(ending)
        object.__setattr__(self, "address", address)
        object.__setattr__(self, "model", self.model.strip())
        if not self.model:
            raise InputError("Name the model as the server calls it, such as nomic-embed-text.")
        if TOKEN not in self.template:
            raise InputError(f"The text of a token must hold {TOKEN}, where the token goes; found {self.template!r}.")
        if not 1 <= self.batch <= MOST_TEXTS:
            raise InputError(f"A request has 1 to {MOST_TEXTS:,} texts, not {self.batch:,}.")

    @property
    def about(self) -> dict[str, str]:
        """What decides a token's vector."""
        return {"address": self.address, "model": self.model, "text": self.template}

    @property
    def request(self) -> dict[str, Any]:
        """What it was made of, as a job keeps it."""
        return {"address": self.address, "model": self.model, "template": self.template, "batch": self.batch}

    @property
    def digest(self) -> str:
        """A hash of `about`."""
        return hashlib.sha256(json.dumps(self.about, sort_keys=True).encode()).hexdigest()

    @property
    def is_open(self) -> bool:
        """Whether texts go over a network that others may read."""
        return web.is_open(self.address)

    @property
    def sends_key(self) -> bool:
        """Whether a key goes along."""
        return bool(self._key())

    def _key(self) -> str:
        return "" if self.is_open else web.checked_key(os.environ.get(KEY_VARIABLE, ""), variable=KEY_VARIABLE)

    def text_of(self, token: str) -> str:
        """The text that stands for a token."""
        return self.template.replace(TOKEN, token)

    def says(self, n_tokens: int, of: str = "project") -> str:
        """What is sent where, in sentences; `of` is what the tokens belong to."""
        key = f"The key in {KEY_VARIABLE} goes along. " if self.sends_key else ""
        if self.is_open and os.environ.get(KEY_VARIABLE):
            key = f"The key in {KEY_VARIABLE} doesn't, as it would go unencrypted. "
        each = "each as it is" if self.template == TOKEN else f"each as “{self.template}”"
        return (
            f"The {of}'s {n_tokens:,} tokens, {each}, and the model's name go to {self.address}{PATH}, "
            f"{self.batch:,} per request. {key}No vote, no voter's name and nothing else of the project is sent."
        )

    def kept(self, folder: Path) -> KeptVectors:
        """What it answered before, in a folder of such answers."""
        return KeptVectors(folder, self.about)

    def ask(self, texts: Sequence[str], *, say: Callable[[str], None] = lambda _: None) -> KeptBatch:
        """The vectors of some texts by one request, tried again where that may help; `say` is told why it waits.

        Raises `PlatformError` where the server can't be reached, refuses, or answers with anything but one finite
        vector of one length for each text.
        """
        server = web.Server(self.address, self._key(), self.timeout)
        body = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        answer = web.persistently(partial(server.post, PATH, body), say=say, sleep=sleep)
        vectors = self._vectors(answer, len(texts))
        named, used = answer.get("model"), answer.get("usage")
        counted = used.get("total_tokens") if isinstance(used, dict) else 0
        return KeptBatch(
            tuple(texts),
            vectors,
            "".join(filter(str.isprintable, named))[:200] if isinstance(named, str) else "",
            datetime.now(UTC).date().isoformat(),
            counted if isinstance(counted, int) and counted > 0 else 0,
        )

    def _vectors(self, answer: dict[str, Any], n: int) -> NDArray[np.float32]:
        """The vectors of an answer in the order of the texts, (n, dimensions)."""
        rows = answer.get("data")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self._refused("it has no list of vectors (data)")
        if len(rows) != n:
            raise self._refused(f"{len(rows):,} vectors for {n:,} texts")
        numbers = [row.get("index") for row in rows]
        if any(type(number) is not int for number in numbers) or sorted(map(int, numbers)) != list(range(n)):
            raise self._refused("the vectors aren't numbered 0 to n − 1, each once (index)")
        found = [row.get("embedding") for row in sorted(rows, key=lambda row: int(row["index"]))]
        if not all(isinstance(vector, list) and all(type(v) in (int, float) for v in vector) for vector in found):
            raise self._refused("a vector isn't a list of numbers")
        lengths = {len(vector) for vector in found}
        if len(lengths) != 1 or 0 in lengths:
            raise self._refused(f"vectors of {', '.join(map(str, sorted(lengths)))} numbers")
        try:
            with np.errstate(over="ignore"):
                vectors = np.array(found, dtype=np.float64).astype(np.float32)
        except OverflowError:
            vectors = np.full((n, 1), np.inf, dtype=np.float32)
        if not np.isfinite(vectors).all():
            raise self._refused("a vector holds NaN or a number that is too large")
        return vectors

    def _refused(self, why: str) -> PlatformError:
        return PlatformError(
            f"{self.address} didn't answer as the interface /v1/embeddings says: {why}. Nothing of that answer was "
            "taken. Is it a model of embeddings, and does a smaller batch help?"
        )


def fetch(
    server: EmbeddingServer,
    tokens: Sequence[str],
    kept: KeptVectors,
    *,
    anew: bool = False,
    progress: Progress | None = None,
) -> tuple[NDArray[np.float32], Recipe]:
    """The vectors of distinct tokens, (n, dimensions), and how they were made: those kept, the rest from the server.

    anew : forget what is kept, and ask for all. Each batch is kept as it comes. progress : may raise, which ends it.
    Raises `InputError` for no token, `PlatformError` as `EmbeddingServer.ask`, and where the server's model isn't the
    one that what is kept came from.
    """
    if not tokens:
        raise InputError("There is no token to encode yet. Add token lists first.")
    if anew:
        kept.forget()
    say = progress or (lambda done, total, message: None)
    texts = list(dict.fromkeys(server.text_of(token) for token in tokens))
    known: dict[str, tuple[KeptBatch, int]] = {}
    for batch in kept.batches():
        known |= {text: (batch, row) for row, text in enumerate(batch.texts)}
    missing = [text for text in texts if text not in known]
    for start in range(0, len(missing), server.batch):
        done = len(texts) - len(missing) + start
        say(done, len(texts), "tokens encoded")
        batch = server.ask(missing[start : start + server.batch], say=partial(say, done, len(texts)))
        kept.add(batch)
        known |= {text: (batch, row) for row, text in enumerate(batch.texts)}
        _check_one_model(server, [known[text][0] for text in texts if text in known])
    used = [known[text] for text in texts]
    batches = [batch for batch, _ in used]
    _check_one_model(server, batches)
    vectors = {text: batch.vectors[row] for text, (batch, row) in zip(texts, used, strict=True)}
    days = sorted({batch.day for batch in batches})
    asked = {id(batch): batch for batch in batches}.values()
    whole = all(text in vectors for batch in asked for text in batch.texts)  # or the count would be of other texts too
    counted = sum(batch.n_counted for batch in asked) if whole else 0
    recipe = (
        ("model", server.model),
        ("server", server.address),
        ("answered as", batches[0].answered or "not said"),
        ("text", server.template),
        ("pooling", "as the server does"),
        ("asked on", days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"),
        *((("counted by the server", f"{counted:,} word pieces"),) if counted else ()),
    )
    return np.array([vectors[server.text_of(token)] for token in tokens], dtype=np.float32), recipe


def _check_one_model(server: EmbeddingServer, batches: Sequence[KeptBatch]) -> None:
    """Raise `PlatformError` where vectors of several models would stand in one space."""
    answering = {(batch.answered, batch.vectors.shape[1]) for batch in batches}
    if len(answering) > 1:
        names = " and ".join(f"{name or 'a model without a name'} ({n} numbers)" for name, n in sorted(answering))
        raise PlatformError(
            f"{server.address} answered as {names} for the same model. Their vectors can't be compared with each "
            "other: ask for all of them anew, which forgets what is kept."
        )


def serve_into(
    folder: Path,
    server: EmbeddingServer,
    tokens: Sequence[str],
    kept: KeptVectors,
    *,
    anew: bool = False,
    progress: Progress | None = None,
) -> EmbeddingInfo:
    """Write what a server makes of tokens into a new folder, kept like an imported embedding. As `fetch`."""
    distinct = list(dict.fromkeys(tokens))
    vectors, recipe = fetch(server, distinct, kept, anew=anew, progress=progress)
    return write_vectors(
        folder,
        distinct,
        vectors,
        ModelSource(f"{server.model} at {server.address}", server.digest, recipe, SERVED),
        note=f"vectors of {len(distinct):,} tokens of the project, as the server gave them; of no other words",
        others=(("vectors", hashlib.sha256(vectors.tobytes()).hexdigest()),),
    )
