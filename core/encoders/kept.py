"""What a server answered, kept on the disk: each text is asked and paid for once.

A folder has one folder a server, model and template, named by their hash, with `about.json` that says which; in it an
Arrow file a batch, written as soon as the batch has come. No key is in any of them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..base.durable import make_folder, rights_in, write_whole
from ..errors import StoreError

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
        found = []
        for path in sorted(self.folder.glob("*.arrow")):
            with suppress(OSError, pa.ArrowInvalid, ValueError, KeyError, TypeError):
                found.append(_read(path))
        return found

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
                told = json.dumps(self.about, ensure_ascii=False, indent=1) + "\n"
                write_whole(self.folder / "about.json", self.folder / "about.part", told.encode())
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
