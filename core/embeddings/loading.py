"""From a file to an embedding: recognise it, then import it into a folder or load it into memory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError, RunoffError, StoreError
from . import text, word2vec_binary
from .formats import Block, Head, Progress, Reader, Recognised, Source, read_head, refuse
from .storage import INFO, EmbeddingInfo, FolderSink, check_disk, compact, describe, first_positions, norms_of
from .vectors import Embedding, open_embedding, spellings

# Asked in this order. Text comes first: its numbers could pass for a binary file's words, never the reverse.
READERS: tuple[Reader, ...] = (text.READER, word2vec_binary.READER)


def _recognise(head: Head) -> tuple[Reader, Recognised]:
    refuse(head)
    for reader in READERS:
        recognised = reader.recognise(head)
        if recognised is not None:
            return reader, recognised
    raise InputError(
        f"{head.path.name} isn't an embedding of a known format. Can be read: {', '.join(r.name for r in READERS)} "
        "(float32), GloVe's text files; a line of text has a word and two or more numbers, spaces or tabs between."
    )


def sniff(path: Path | str) -> Recognised:
    """What the file at `path` is, judged by its first megabyte and never by its name.

    Raises `InputError` saying what it is instead, and what to do: unpack an archive, fetch what a Git LFS
    pointer stands for, and the like.
    """
    return _recognise(read_head(Path(path)))[1]


@contextmanager
def _open(head: Head, progress: Progress | None) -> Iterator[Source]:
    try:
        file = head.path.open("rb")
    except OSError as error:
        raise InputError(f"{head.path} can't be read: {error.strerror or error}.") from error
    with file:
        yield Source(file, head.path, head.size, progress)


def _info(head: Head, recognised: Recognised, source: Source, notes: Iterable[str], n_words: int) -> EmbeddingInfo:
    """The info of a file read to its end, before words are counted out."""
    if n_words == 0:
        raise InputError(f"{head.path.name} holds no words. Fetch it again.")
    return EmbeddingInfo(
        format=recognised.format,
        n_words=n_words,
        dimensions=recognised.dimensions,
        sha256=source.sha256(),
        source=head.path.name,
        n_bytes=head.size,
        notes=(*recognised.notes, *notes),
    )


def import_embedding(
    source: Path | str, target_folder: Path | str, *, progress: Progress | None = None
) -> EmbeddingInfo:
    """Read an embedding file into a folder from which `open_embedding` opens it at once.

    Everything is written to `target_folder` + ".part", which is renamed at the end: the target is whole or not
    there. Memory stays bounded whatever the file's size. A `.part` left by a killed import is overwritten.

    Parameters: `progress(done_bytes, total_bytes)` is called after each piece of a few megabytes.
    Raises `InputError` for a file that can't be used, `StoreError` if the target is there already, or the disk is
    or becomes full.
    """
    path, target = Path(source), Path(target_folder)
    head = read_head(path)
    reader, recognised = _recognise(head)
    if target.exists():
        raise StoreError(f"{target} is there already; an embedding is imported once.")
    part = target.with_name(target.name + ".part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        check_disk(part, recognised, head.size)
        info = _write(head, reader, recognised, part, progress)
        part.rename(target)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise StoreError(f"The embedding can't be written to {target}: {error.strerror or error}.") from error
    except RunoffError:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return info


def _write(head: Head, reader: Reader, recognised: Recognised, part: Path, progress: Progress | None) -> EmbeddingInfo:
    notes: list[str] = []
    sink = FolderSink(part, recognised.dimensions)
    n_words = 0
    try:
        with _open(head, progress) as source:
            for block in reader.read(source, recognised, notes):
                sink.add(block)
                n_words += len(block.words)
            info = _info(head, recognised, source, notes, n_words)
    finally:
        sink.close()
    return sink.finish(info)


def load(path: Path | str, *, tokens: Iterable[str] | None = None, progress: Progress | None = None) -> Embedding:
    """An embedding straight from a file of any known format, or from the folder of an imported one.

    Parameters: `tokens` are the only ones whose rows are kept in memory (in any of their `spellings`), None
    keeps all; a folder is memory-mapped, and `tokens` don't matter. `progress` as in `import_embedding`.
    With `tokens`, duplicates and unusable vectors are counted among the kept rows only.
    Raises `InputError` for what can't be read, or is larger than the memory that is free.

        embedding = load("model.bin", tokens=["barge", "dune"])
        embedding.cosines(["barge"], ["dune"])
    """
    path = Path(path)
    if (path / INFO).is_file():
        return open_embedding(path)
    head = read_head(path)
    reader, recognised = _recognise(head)
    keep: Callable[[Block], Block] | None = None
    if tokens is None:
        _check_memory(head, recognised)
    else:
        keep = _filter({word for token in tokens for word in spellings(token)})
    sink, notes, n_words = _MemorySink(recognised, whole=keep is None), list[str](), 0
    with _open(head, progress) as source:
        for block in reader.read(source, recognised, notes):
            n_words += len(block.words)
            sink.add(block if keep is None else keep(block))
        info = _info(head, recognised, source, notes, n_words)
    return sink.finish(info, partial=keep is not None)


def _filter(wanted: set[str]) -> Callable[[Block], Block]:
    """A function that leaves only the `wanted` words of a block."""
    value_set = pa.array(sorted(wanted), pa.string())

    def keep(block: Block) -> Block:
        chosen = pc.is_in(block.words, value_set=value_set)
        return Block(block.words.filter(chosen), block.vectors[chosen.to_numpy(zero_copy_only=False)])

    return keep


def _available_memory() -> int | None:
    """Bytes of memory that a program can still have; None where the system doesn't say."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def _check_memory(head: Head, recognised: Recognised) -> None:
    needed, available = recognised.n_expected * 4 * (recognised.dimensions + 1), _available_memory()
    if available is not None and needed > available:
        raise InputError(
            f"{head.path.name} needs about {needed / 1e9:.1f} GB of memory and {available / 1e9:.1f} GB are free. "
            "Import it instead (it then stays on disk), or name the tokens that are needed."
        )


class _MemorySink:
    """Collects blocks in memory; `whole` makes room for all the words at once."""

    def __init__(self, recognised: Recognised, *, whole: bool) -> None:
        room = recognised.n_expected if whole else 0
        self._matrix = np.empty((room, recognised.dimensions), dtype=np.float32)
        self._words: list[pa.StringArray] = []
        self._norms: list[np.ndarray] = []
        self._n_words = 0

    def add(self, block: Block) -> None:
        n_words = self._n_words + len(block.words)
        if n_words > len(self._matrix):
            larger = np.empty((max(n_words, int(1.2 * len(self._matrix))), self._matrix.shape[1]), dtype=np.float32)
            larger[: self._n_words] = self._matrix[: self._n_words]
            self._matrix = larger
        self._matrix[self._n_words : n_words] = block.vectors
        if len(block.words):
            self._words.append(block.words)
            self._norms.append(norms_of(block.vectors))
        self._n_words = n_words

    def finish(self, info: EmbeddingInfo, *, partial: bool) -> Embedding:
        """The embedding; of a word that stood several times the first is kept."""
        words = pa.chunked_array(self._words, pa.string())
        matrix, norms = self._matrix[: self._n_words], np.concatenate([np.empty(0, np.float32), *self._norms])
        kept = first_positions(words)
        if kept is not None:
            words, matrix, norms = words.take(pa.array(kept)), compact(matrix, kept), norms[kept]
        n_duplicates = self._n_words - len(words)
        info = replace(info, n_words=info.n_words - n_duplicates, n_duplicates=n_duplicates)
        return Embedding(describe(info, words, norms), words, matrix, norms, partial=partial)
