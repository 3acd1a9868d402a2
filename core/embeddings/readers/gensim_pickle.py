"""gensim's own files (.kv, .model): Python pickles, possibly with large arrays in .npy files beside them.

A pickle is a program. It is opened only when a person has said that it is trusted, and even then it may only name
classes of gensim, NumPy and the like: whatever else it asks for is refused.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import pickletools
import re
import struct
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...base.durable import shown_name
from ...errors import InputError
from ..formats import Block, FileHead, Reader, Recognised, Source, Subwords
from ..storage import available_memory, check_room

FORMAT = "gensim model"
CHUNK_BYTES = 4 << 20
_ROOM = 20
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_WAY_OUT = "export the vectors with gensim's save_word2vec_format and choose that file"
_TRUST = (
    "it is a Python pickle, and opening a pickle can run any program that its maker put in, with all your rights. "
    f"Confirm that you trust where it came from, or {_WAY_OUT}."
)
_PLAIN = {
    "builtins": "object set frozenset list dict tuple bytearray bytes str int float bool complex range slice hash",
    "collections": "OrderedDict defaultdict Counter deque",
    "copyreg": "_reconstructor",
    "_codecs": "encode",
    "numpy": "ndarray dtype _reconstruct scalar _frombuffer RandomState MT19937 __randomstate_ctor "
    "__RandomState_ctor __bit_generator_ctor float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "bool bool_",
    "scipy.sparse": "csr_matrix csc_matrix coo_matrix csr_array csc_array coo_array",
}
# The functions that gensim's old models name.
_FUNCTIONS = ("call_on_class_only", "identity")


def _first_class(start: bytes) -> tuple[str, str]:
    """Module and name of the first class that a pickle asks for; nothing is run."""
    texts: list[str] = []
    try:
        for code, value, _ in pickletools.genops(start):
            if code.name == "GLOBAL":
                module, _, name = str(value).partition(" ")
                return module, name
            if code.name == "STACK_GLOBAL" and len(texts) > 1:
                return texts[-2], texts[-1]
            if isinstance(value, str):
                texts.append(value)
    except (ValueError, IndexError, struct.error, OverflowError, MemoryError):
        pass  # it is damaged, or goes on after what was looked at
    return "", ""


def recognise(head: FileHead) -> Recognised | None:
    """A pickle of a class of gensim's; see `Reader.recognise`."""
    if not _PICKLE.match(head.start):
        return None
    module, name = _first_class(head.start)
    if module.split(".")[0] != "gensim":
        raise InputError(f"{head.name} is a Python pickle, but not of a gensim model: {_WAY_OUT}.")
    return Recognised(
        f"gensim {name} (a Python pickle)", None, 0, False, needs_trust=_TRUST, has_subwords="FastText" in name
    )


class _Unpickler(pickle.Unpickler):
    """Opens a pickle that names nothing but classes of gensim's and a few plain ones."""

    def find_class(self, module: str, name: str) -> Any:
        # Python 2 had other names; pickle itself goes by these tables.
        module, name = NAME_MAPPING.get((module, name), (IMPORT_MAPPING.get(module, module), name))
        for allowed, names in _PLAIN.items():
            if (module == allowed or module.startswith(allowed + ".")) and name in names.split():
                return super().find_class(module, name)
        if module.split(".")[0] == "gensim" and "." not in name:
            loaded = super().find_class(module, name)
            is_class = isinstance(loaded, type) and loaded.__module__.split(".")[0] == "gensim"
            if is_class or (module == "gensim.utils" and name in _FUNCTIONS):
                return loaded
        raise InputError(
            f"the pickle asks for {module}.{name}, which no vectors need, and wasn't opened: it may be harmful, or "
            f"hold parts of its maker's own program. Else {_WAY_OUT}."
        )


class _Raw(io.RawIOBase):
    """The source as a file."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._source.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _open(source: Source) -> Any:
    """The object in the file, with the arrays that lie beside it; as gensim's own `load` does it."""
    from gensim.utils import SaveLoad

    path = str(source.path)
    try:
        unpickled = _Unpickler(io.BufferedReader(_Raw(source), CHUNK_BYTES), encoding="latin1").load()
        compressed, subname = SaveLoad._adapt_by_suffix(path)
        if isinstance(unpickled, SaveLoad):
            unpickled._load_specials(path, None if compressed else "r", compressed, subname)
    except InputError as error:
        raise InputError(f"{source.name}: {error}") from error
    except FileNotFoundError as error:
        missing = shown_name(Path(error.filename or "another file"))
        raise InputError(
            f"{source.name} keeps its arrays in files beside it, and {missing} isn't there. Put it beside the model; "
            "an upload of one file isn't enough."
        ) from error
    except MemoryError as error:
        # A pickle states the sizes of its parts, and a damaged one any size. A sound one needs a few times its own.
        if _ROOM * source.path.stat().st_size > (available_memory() or 0):
            raise
        raise InputError(
            f"{source.name} states a part that is far larger than the file. It is damaged: {_WAY_OUT}."
        ) from error
    except Exception as error:  # a damaged pickle can make any constructor raise anything
        raise InputError(
            f"{source.name} can't be opened by this version of gensim ({type(error).__name__}: {error}). It is "
            f"damaged, or from an old version: {_WAY_OUT}."
        ) from error
    return unpickled


def _companions(source: Source) -> Iterator[tuple[str, str]]:
    """Names and hashes of the arrays beside the model."""
    for path in sorted(source.path.parent.iterdir()):
        if path.name.startswith(source.path.name + ".") and path.suffix in (".npy", ".npz") and path.is_file():
            with path.open("rb") as file:
                yield shown_name(path), hashlib.file_digest(file, "sha256").hexdigest()


def _subwords(source: Source, vectors: Any) -> Subwords | None:
    """The rows of n-grams of a fastText model, in the scratch folder."""
    ngrams = getattr(vectors, "vectors_ngrams", None)
    if not isinstance(ngrams, np.ndarray) or ngrams.ndim != 2 or not len(ngrams) or not vectors.max_n:
        return None
    path = source.scratch / Source.NGRAMS
    step = max(1, CHUNK_BYTES // (4 * ngrams.shape[1]))
    with path.open("wb") as file:
        for start in range(0, len(ngrams), step):
            rows = np.ascontiguousarray(ngrams[start : start + step], dtype=np.float32)
            check_room(source.scratch, rows.nbytes)
            rows.tofile(file)
    return Subwords(vectors.min_n, vectors.max_n, np.memmap(path, dtype=np.float32, mode="r", shape=ngrams.shape))


def read(source: Source, recognised: Recognised, notes: list[str]) -> Iterator[Block]:
    """Yield the model's words and vectors; see `Reader.read`. Other parts of the model are left out."""
    opened = _open(source)
    model = getattr(opened, "wv", opened)
    words, vectors = getattr(model, "index_to_key", None), getattr(model, "vectors", None)
    if not isinstance(words, list) or not isinstance(vectors, np.ndarray) or vectors.ndim != 2:
        raise InputError(f"{source.name} is a gensim {type(opened).__name__}, which has no vectors of words.")
    if len(words) > len(vectors) or not vectors.shape[1]:
        raise InputError(f"{source.name} is damaged: it has {len(words)} words and vectors {vectors.shape}.")
    source.companions.extend(_companions(source))
    source.subwords = _subwords(source, model)
    step = max(1, CHUNK_BYTES // (4 * vectors.shape[1]))
    for start in range(0, len(words), step):
        part = [str(word) for word in words[start : start + step]]
        rows = np.array(vectors[start : start + len(part)], dtype=np.float32, order="C")
        yield Block(pa.array(part, pa.string()), rows)


READER = Reader(FORMAT, recognise, read)
