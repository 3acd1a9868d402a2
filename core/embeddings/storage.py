"""An imported embedding on disk: a few files in a folder, written once and read through memory maps.

vectors.f32        n_words × dimensions float32, row by row
norms.f32          n_words float32: 0 for a vector of zeros, NaN for one with NaN or infinite values
vocabulary.arrow   the words, an Arrow IPC file with one string column `word`
ngrams.f32         n_buckets × dimensions float32, where the model makes vectors from parts of words
info.json          `EmbeddingInfo`

Similarities have pairs.arrow (see `similarities`) in place of vectors and norms. An embedding may also be collected in
memory, as far as that allows.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError, StoreError
from ..tabular.encoding import UTF8
from .formats import SIMILARITIES, Block, Options, Recognised, Source, Subwords
from .formats import VECTORS as VECTOR_KIND

LAYOUT = 1
VECTORS, NORMS, VOCABULARY, INFO = "vectors.f32", "norms.f32", "vocabulary.arrow", "info.json"
NGRAMS, PAIRS = Source.NGRAMS, "pairs.arrow"
RESERVE_BYTES = 50_000_000
MAX_LISTED = 100
_SCHEMA = pa.schema([("word", pa.string())])
_ROWS = 20_000


@dataclass(frozen=True)
class EmbeddingInfo:
    """What is known of an embedding without opening its vectors.

    `source` is the name of the file it came from, `sha256` the hash of that file and `n_bytes` its size;
    `companions` are the names and hashes of other files that were read with it, `encoding` that of its words. `kind`
    is "vectors", or "similarities" for `n_pairs` given pairs. `n_words` counts the words kept; of a word that stood
    several times the first is kept and the others are counted in `n_duplicates`. `n_zero` words have a vector of
    zeros, `n_not_finite` one with NaN or infinite values; the first of either kind are listed in `unusable`. `notes`
    says the same and more for people.
    With `n_buckets` above 0, vectors of other words can be made of their n-grams of `min_n` to `max_n` characters.
    `recipe` says how a model made them, a name and a value at a time (`core.encoders`); a file has none.
    """

    format: str
    n_words: int
    dimensions: int
    sha256: str
    source: str
    n_bytes: int
    notes: tuple[str, ...] = ()
    n_duplicates: int = 0
    n_zero: int = 0
    n_not_finite: int = 0
    unusable: tuple[str, ...] = ()
    kind: str = VECTOR_KIND
    n_pairs: int = 0
    encoding: str = UTF8
    companions: tuple[tuple[str, str], ...] = ()
    min_n: int = 0
    max_n: int = 0
    n_buckets: int = 0
    recipe: tuple[tuple[str, str], ...] = ()

    @property
    def identity(self) -> str:
        """The hash of all that decided the content: `sha256` itself, unless other files or an encoding had a part.

        Two imports of one identity hold the same words and vectors.
        """
        if not self.companions and self.encoding == UTF8:
            return self.sha256
        parts = [self.sha256, self.encoding, *(digest for _, digest in self.companions)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def to_json(self) -> str:
        """As text for `info.json`."""
        return json.dumps({"layout": LAYOUT, **asdict(self)}, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> EmbeddingInfo:
        """The inverse of `to_json`; raises `InputError` for what it didn't write."""
        try:
            fields = json.loads(text)
            layout = fields.pop("layout")
            info = cls(**fields)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise InputError(f"info.json of the embedding can't be read ({error}). Import it again.") from error
        if layout != LAYOUT:
            raise InputError(f"The embedding was imported in layout {layout}, {LAYOUT} is expected. Import it again.")
        companions = tuple((name, digest) for name, digest in info.companions)
        recipe = tuple((name, value) for name, value in info.recipe)
        notes, unusable = tuple(info.notes), tuple(info.unusable)
        return replace(info, notes=notes, unusable=unusable, companions=companions, recipe=recipe)


def norms_of(vectors: np.ndarray) -> np.ndarray:
    """Euclidean norms (n, float32): 0 for zeros, NaN where a value or the norm isn't finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        wide = vectors.astype(np.float64)
        norms = np.sqrt(np.einsum("ij,ij->i", wide, wide)).astype(np.float32)
    norms[~np.isfinite(norms)] = np.nan
    return norms


def first_positions(words: pa.ChunkedArray) -> np.ndarray | None:
    """Where each distinct word stands first, ascending; None if no word stands twice."""
    if len(pc.unique(words)) == len(words):
        return None
    table = pa.table({"word": words, "at": np.arange(len(words))})
    firsts = table.group_by("word", use_threads=False).aggregate([("at", "min")])["at_min"]
    return np.sort(firsts.to_numpy())


def compact(rows: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Move the rows `kept` (ascending) to the beginning of `rows`, in place; returns that part."""
    # A row never moves down, so that what is still to be read isn't overwritten.
    for start in range(0, len(kept), _ROWS):
        part = kept[start : start + _ROWS]
        rows[start : start + len(part)] = rows[part]
    return rows[: len(kept)]


def describe(info: EmbeddingInfo, words: pa.ChunkedArray, norms: np.ndarray) -> EmbeddingInfo:
    """`info` with the counts of unusable vectors, and remarks on what is odd."""
    unusable = np.flatnonzero(~(norms > 0))
    n_not_finite = int(np.isnan(norms).sum())
    n_zero = len(unusable) - n_not_finite
    notes = list(info.notes)
    if info.n_duplicates:
        notes.append(f"words that stood there before, left out: {info.n_duplicates:,}")
    if n_zero:
        notes.append(f"words with a vector of zeros, which can't be compared: {n_zero:,}")
    if n_not_finite:
        notes.append(f"words with NaN or infinite values, which can't be compared: {n_not_finite:,}")
    listed = tuple(words.take(pa.array(unusable[:MAX_LISTED])).to_pylist())
    return replace(info, n_zero=n_zero, n_not_finite=n_not_finite, unusable=listed, notes=tuple(notes))


def check_disk(folder: Path, recognised: Recognised, n_bytes: int) -> None:
    """Raise `StoreError` if an import would not fit on the disk of `folder`."""
    # The words themselves take no more room than the file they came from, and seldom a tenth of it.
    needed = recognised.n_expected * 4 * (recognised.dimensions + 1) + min(n_bytes, 40 * recognised.n_expected)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise StoreError(
            f"The embedding needs about {needed / 1e9:.1f} GB in {folder}, where {free / 1e9:.1f} GB are free. "
            "Make room there, or put the workspace on another disk."
        )


def check_room(folder: Path, n_bytes: int) -> None:
    """Raise `StoreError` if `n_bytes` more would all but fill the disk of `folder`: what is packed may hold any
    amount, whatever it claims."""
    free = shutil.disk_usage(folder).free
    if free < n_bytes + RESERVE_BYTES:
        raise StoreError(
            f"The disk of {folder} is nearly full, {free / 1e6:,.0f} MB are left: the file holds more than fits. "
            "Make room there, or put the workspace on another disk."
        )


class FolderSink:
    """Writes blocks into a folder as an imported embedding."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._dimensions = folder, 0
        self._vectors = (folder / VECTORS).open("wb", buffering=0)
        self._norms = (folder / NORMS).open("wb")
        self._words = pa.ipc.new_file(str(folder / VOCABULARY), _SCHEMA)
        self._n_words = 0

    def add(self, block: Block) -> None:
        """Append the words of `block`."""
        check_room(self._folder, block.vectors.nbytes)
        self._dimensions = block.vectors.shape[1]
        block.vectors.tofile(self._vectors)
        norms_of(block.vectors).tofile(self._norms)
        self._words.write_batch(pa.record_batch([block.words], schema=_SCHEMA))
        self._n_words += len(block.words)

    def close(self) -> None:
        """Close the files; nothing can be added any more."""
        self._vectors.close()
        self._norms.close()
        self._words.close()

    def finish(self, info: EmbeddingInfo) -> EmbeddingInfo:
        """Drop duplicates, complete `info` with the counts, and write it as the last of the files."""
        self.close()
        rows = first_positions(read_vocabulary(self._folder)) if self._n_words else None
        if rows is not None:
            self._compact(rows)
        n_words = self._n_words if rows is None else len(rows)
        info = replace(info, n_words=n_words, dimensions=self._dimensions, n_duplicates=self._n_words - n_words)
        norms = np.fromfile(self._folder / NORMS, dtype=np.float32)
        info = describe(info, read_vocabulary(self._folder), norms)
        write_info(self._folder, info)
        return info

    def _compact(self, kept: np.ndarray) -> None:
        """Keep only the rows `kept` (ascending) of all three files."""
        for name, width in ((VECTORS, self._dimensions), (NORMS, 1)):
            path = self._folder / name
            rows = np.memmap(path, dtype=np.float32, mode="r+", shape=(self._n_words, width))
            compact(rows, kept)
            rows.flush()
            del rows
            os.truncate(path, len(kept) * width * 4)
        words = read_vocabulary(self._folder).take(pa.array(kept))
        write_vocabulary(self._folder, words)


def write_vocabulary(folder: Path, words: pa.ChunkedArray) -> None:
    """Write the words of an embedding, in place of those that may be there."""
    fresh = folder / (VOCABULARY + ".new")
    with pa.ipc.new_file(str(fresh), _SCHEMA) as file:
        file.write_table(pa.table({"word": words}, schema=_SCHEMA))
    fresh.replace(folder / VOCABULARY)


def read_vocabulary(folder: Path) -> pa.ChunkedArray:
    """The words of an imported embedding, memory-mapped."""
    path = folder / VOCABULARY
    try:
        return pa.ipc.open_file(pa.memory_map(str(path))).read_all()["word"]
    except (OSError, pa.ArrowInvalid, KeyError) as error:
        raise InputError(f"{path} can't be read ({error}). Import the embedding again.") from error


def write_info(folder: Path, info: EmbeddingInfo) -> None:
    """Write `info` into the folder of an embedding: the last of its files."""
    (folder / INFO).write_text(info.to_json(), encoding="utf-8")


def read_info(folder: Path) -> EmbeddingInfo:
    """`EmbeddingInfo` of the embedding imported into `folder`, whose files have the sizes that it says.

    Raises `InputError` where there is no imported embedding, or not a whole one.
    """
    try:
        text = (folder / INFO).read_text(encoding="utf-8")
        info = EmbeddingInfo.from_json(text)
        expected = _sizes(info)
        sizes = {name: (folder / name).stat().st_size for name in expected}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{folder} holds no imported embedding ({error}). Import it again.") from error
    if sizes != expected:
        raise InputError(f"The embedding in {folder} is damaged: its files have other sizes. Import it again.")
    return info


def _sizes(info: EmbeddingInfo) -> dict[str, int]:
    """The sizes that the files of numbers must have."""
    if info.kind == SIMILARITIES:
        return {}
    sizes = {VECTORS: 4 * info.n_words * info.dimensions, NORMS: 4 * info.n_words}
    return {**sizes, NGRAMS: 4 * info.n_buckets * info.dimensions} if info.n_buckets else sizes


def map_vectors(folder: Path, info: EmbeddingInfo) -> tuple[np.ndarray, np.ndarray]:
    """Vectors (n_words × dimensions) and norms (n_words) as read-only memory maps."""
    vectors = np.memmap(folder / VECTORS, dtype=np.float32, mode="r", shape=(info.n_words, info.dimensions))
    return vectors, np.memmap(folder / NORMS, dtype=np.float32, mode="r", shape=(info.n_words,))


def map_subwords(folder: Path, info: EmbeddingInfo) -> Subwords | None:
    """The rows of n-grams as a read-only memory map, None where the model has none."""
    if not info.n_buckets:
        return None
    shape = (info.n_buckets, info.dimensions)
    ngrams = np.memmap(folder / NGRAMS, dtype=np.float32, mode="r", shape=shape)
    return Subwords(info.min_n, info.max_n, ngrams, Options(encoding=info.encoding).codec)


def available_memory() -> int | None:
    """Bytes of memory that a program can still have; None where the system doesn't say."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def check_memory(name: str, n_bytes: int) -> None:
    """Raise `InputError` if `n_bytes` for the file called `name` are more than the memory that is free."""
    available = available_memory()
    if available is not None and n_bytes > available:
        raise InputError(
            f"{name} needs about {n_bytes / 1e9:.1f} GB of memory and {available / 1e9:.1f} GB are free. "
            "Import it instead (it then stays on disk), or name the tokens that are needed."
        )


class MemorySink:
    """Collects blocks in memory; `whole` makes room for all the words at once."""

    def __init__(self, name: str, recognised: Recognised, *, whole: bool) -> None:
        self._name = name
        self._matrix = np.empty((recognised.n_expected if whole else 0, recognised.dimensions), dtype=np.float32)
        self._words: list[pa.StringArray] = []
        self._norms: list[np.ndarray] = []
        self._n_words = 0

    @property
    def dimensions(self) -> int:
        """The length of the vectors."""
        return int(self._matrix.shape[1])

    def add(self, block: Block) -> None:
        """Append the words of `block`."""
        n_words = self._n_words + len(block.words)
        if n_words > len(self._matrix) or block.vectors.shape[1] != self._matrix.shape[1]:
            self._grow(max(n_words, int(1.2 * len(self._matrix))), block.vectors.shape[1])
        self._matrix[self._n_words : n_words] = block.vectors
        if len(block.words):
            self._words.append(block.words)
            self._norms.append(norms_of(block.vectors))
        self._n_words = n_words

    def _grow(self, n_words: int, dimensions: int) -> None:
        check_memory(self._name, 4 * n_words * dimensions)
        larger = np.empty((n_words, dimensions), dtype=np.float32)
        larger[: self._n_words] = self._matrix[: self._n_words].reshape(self._n_words, dimensions)
        self._matrix = larger

    def finish(self, info: EmbeddingInfo) -> tuple[EmbeddingInfo, pa.ChunkedArray, np.ndarray, np.ndarray]:
        """The completed info, words, vectors and norms; of a word that stood several times the first is kept."""
        words = pa.chunked_array(self._words, pa.string())
        matrix, norms = self._matrix[: self._n_words], np.concatenate([np.empty(0, np.float32), *self._norms])
        rows = first_positions(words)
        if rows is not None:
            words, matrix, norms = words.take(pa.array(rows)), compact(matrix, rows), norms[rows]
        n_duplicates = self._n_words - len(words)
        info = replace(info, n_words=info.n_words - n_duplicates, n_duplicates=n_duplicates)
        return describe(info, words, norms), words, matrix, norms
