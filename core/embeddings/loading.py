"""From a file to an embedding: recognise it, then import it into a folder or load it into memory."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ..base.durable import put, shown_path
from ..errors import InputError, StoreError
from ..tabular.encoding import UTF8
from . import similarities
from .containers import open_content
from .formats import (
    HEAD_BYTES,
    SIMILARITIES,
    Block,
    FileHead,
    Options,
    Progress,
    Reader,
    Recognised,
    Source,
    TrustError,
    VocabularyError,
    read_head,
    refuse,
)
from .readers import fasttext_binary, gensim_pickle, numpy_array, text, word2vec_binary
from .storage import (
    INFO,
    EmbeddingInfo,
    FolderSink,
    MemorySink,
    check_disk,
    check_memory,
    map_subwords,
    map_vectors,
    read_info,
    read_vocabulary,
)
from .vectors import Embedding, LookUp

# Asked in this order: first what begins with an unmistakable mark. Text comes before word2vec's binary format: its
# numbers could pass for a binary file's words, never the reverse.
READERS: tuple[Reader, ...] = (
    similarities.READER,
    fasttext_binary.READER,
    numpy_array.READER,
    gensim_pickle.READER,
    text.READER,
    word2vec_binary.READER,
)


def _recognise(head: FileHead) -> tuple[Reader, Recognised]:
    if similarities.READER.recognise(head) is None:  # which may be in UTF-16, as no vectors can
        refuse(head)
    for reader in READERS:
        recognised = reader.recognise(head)
        if recognised is not None:
            if head.packing:
                shown = f"{recognised.format}, {head.packing}"
                recognised = replace(recognised, packing=head.packing, format=shown)
            return reader, recognised
    raise InputError(
        f"{head.name} isn't an embedding of a known format. Can be read, packed by gzip, bzip2, xz or zip or not: "
        f"{', '.join(reader.name for reader in READERS)}. A line of text has a word and two or more numbers, spaces "
        f"or tabs between; similarities begin with a line that names the columns {', '.join(similarities.COLUMNS)}."
    )


def sniff(
    path: Path | str, *, name: str = "", encoding: str = UTF8, vocabulary: Path | str | None = None
) -> Recognised:
    """What the file at `path` is, judged by its first megabyte and never by its name; parameters as in `load`.

    What is still to be said before it can be imported is in `needs_trust`, `needs_vocabulary` and `needs_encoding`.
    Raises `InputError` saying what it is instead, and what to do: unpack an archive, fetch what a Git LFS
    pointer stands for, and the like.
    """
    return _recognise(read_head(Path(path), name, _options(False, encoding, vocabulary)))[1]


def recognise_start(start: bytes, size: int) -> Recognised | None:
    """What embedding begins with these bytes and has `size` of them, None for none of a known format."""
    head = FileHead(Path("file"), size, start[:HEAD_BYTES], "file", options=Options())
    try:
        return _recognise(head)[1]
    except InputError:
        return None


def _options(trusted: bool, encoding: str, vocabulary: Path | str | None) -> Options:
    return Options(trusted, encoding, None if vocabulary is None else Path(vocabulary))


def _check_needs(head: FileHead, recognised: Recognised) -> None:
    if recognised.needs_trust and not head.options.trusted:
        raise TrustError(f"{head.name}: {recognised.needs_trust}")
    if recognised.needs_vocabulary:
        raise VocabularyError(f"{head.name}: {recognised.needs_vocabulary}")


@contextmanager
def _open(head: FileHead, progress: Progress | None) -> Iterator[Source]:
    # Threads end here, not in the generators of readers: one that is left early is closed whenever memory is tidied.
    with (
        ThreadPoolExecutor(1) as hashing,
        ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as threads,
        open_content(head.path, head.name, hashing) as content,
    ):
        yield Source(content, head, threads, progress)


def _info(head: FileHead, recognised: Recognised, source: Source, notes: Iterable[str], n_words: int) -> EmbeddingInfo:
    """The info of a file read to its end, before words are counted out."""
    if n_words == 0:
        raise InputError(f"{head.name} holds no words. Fetch it again.")
    sha256 = source.sha256()
    subwords = source.subwords
    return EmbeddingInfo(
        format=recognised.format,
        n_words=n_words,
        dimensions=recognised.dimensions,
        sha256=sha256,
        source=head.name,
        n_bytes=source.file_size,
        notes=(*recognised.notes, *notes, *source.notes),
        kind=recognised.kind,
        encoding=head.options.encoding,
        companions=tuple(source.companions),
        min_n=0 if subwords is None else subwords.min_n,
        max_n=0 if subwords is None else subwords.max_n,
        n_buckets=0 if subwords is None else len(subwords.ngrams),
    )


def import_embedding(
    source: Path | str,
    target_folder: Path | str,
    *,
    progress: Progress | None = None,
    name: str = "",
    trusted: bool = False,
    encoding: str = UTF8,
    vocabulary: Path | str | None = None,
) -> EmbeddingInfo:
    """Read an embedding file into a folder from which `open_embedding` opens it at once.

    Everything is written to `target_folder` + ".part", which is renamed at the end: the target is whole or not
    there. Memory stays bounded whatever the file's size. A `.part` left by a killed import is overwritten.

    Parameters: `progress(done_bytes, total_bytes)` is called after each piece of a few megabytes, in bytes of the
    file as it is, packed or not; the others as in `load`.
    Raises `InputError` for a file that can't be used, `StoreError` if the target is there already, or the disk is
    or becomes full.
    """
    target = Path(target_folder)
    head = read_head(Path(source), name, _options(trusted, encoding, vocabulary))
    reader, recognised = _recognise(head)
    _check_needs(head, recognised)
    if target.exists():
        raise StoreError(f"{shown_path(target)} is there already; an embedding is imported once.")
    part = target.with_name(target.name + ".part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        check_disk(part, recognised, head.size)
        info = _write(head, reader, recognised, part, progress)
        put(part, target)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise StoreError(
            f"The embedding can't be written to {shown_path(target)}: {error.strerror or error}."
        ) from error
    except BaseException:  # whatever happened: a half import is never left
        shutil.rmtree(part, ignore_errors=True)
        raise
    return info


def _write(
    head: FileHead, reader: Reader, recognised: Recognised, part: Path, progress: Progress | None
) -> EmbeddingInfo:
    notes: list[str] = []
    n_words = 0
    with _open(head, progress) as source:
        if recognised.kind == SIMILARITIES:
            pairs = similarities.read_pairs(source, recognised, notes)
            return similarities.write(part, pairs, _info(head, recognised, source, notes, len(pairs.words)))
        source.scratch, source.keeps_ngrams = part, True
        sink = FolderSink(part)
        try:
            for block in reader.read(source, recognised, notes):
                sink.add(block)
                n_words += len(block.words)
            info = _info(head, recognised, source, notes, n_words)
        finally:
            sink.close()
    return sink.finish(info)


def load(
    path: Path | str,
    *,
    tokens: Iterable[str] | None = None,
    progress: Progress | None = None,
    name: str = "",
    trusted: bool = False,
    encoding: str = UTF8,
    vocabulary: Path | str | None = None,
    subwords: bool = False,
    look_up: LookUp | None = None,
) -> Embedding:
    """An embedding straight from a file of any known format, or from the folder of an imported one.

    Parameters
    ----------
    tokens : the only ones whose rows are kept in memory (in any of their `spellings`), None keeps all; a folder is
        memory-mapped, and `tokens` don't matter. With `tokens`, duplicates and unusable vectors are counted among
        the kept rows only.
    progress : as in `import_embedding`.
    name : what messages call the file, its own name by default.
    trusted : allow a gensim model to be opened, which is a Python pickle and could run any program.
    encoding : of the words, such as "latin-1"; UTF-8 by default.
    vocabulary : the file with the words of a NumPy array; None looks for one beside it.
    subwords : let a fastText model make vectors of words that aren't in its vocabulary (`Embedding.vectors`).
    look_up : in lower case too or not, and what stands for tokens of several words; see `LookUp`, whose defaults hold.

    Raises `InputError` for what can't be read, or is larger than the memory that is free.

        embedding = load("model.bin", tokens=["barge", "dune"])
        embedding.cosines(["barge"], ["dune"])
    """
    path = Path(path)
    if (path / INFO).is_file():
        return open_embedding(path, subwords=subwords, look_up=look_up)
    head = read_head(path, name, _options(trusted, encoding, vocabulary))
    reader, recognised = _recognise(head)
    _check_needs(head, recognised)
    look_up = look_up or LookUp()
    wanted = None if tokens is None else frozenset(word for token in tokens for word in look_up.words(token))
    if wanted is None:
        check_memory(head.name, recognised.n_expected * 4 * (recognised.dimensions + 1))
    embedding = _collect(head, reader, recognised, wanted, progress).with_look_up(look_up)
    return embedding.with_subwords() if subwords else embedding


def _collect(
    head: FileHead, reader: Reader, recognised: Recognised, wanted: frozenset[str] | None, progress: Progress | None
) -> Embedding:
    """The words of a file, all or the `wanted` ones, in memory."""
    notes: list[str] = []
    # Holds what is too large for memory; it lives as long as the embedding that needs it.
    scratch = tempfile.TemporaryDirectory(prefix="runoff-", ignore_cleanup_errors=True)
    with _open(head, progress) as source:
        if recognised.kind == SIMILARITIES:
            pairs = similarities.read_pairs(source, recognised, notes)
            info = _info(head, recognised, source, notes, len(pairs.words))
            return similarities.Similarities(similarities.described(info, pairs), pairs)
        source.scratch, source.wanted = Path(scratch.name), wanted
        sink, n_words = MemorySink(head.name, recognised, whole=wanted is None), 0
        keep = _filter(wanted)
        for block in reader.read(source, recognised, notes):
            n_words += len(block.words)
            sink.add(keep(block))
        info = _info(head, recognised, source, notes, n_words)
    info, words, matrix, norms = sink.finish(replace(info, dimensions=sink.dimensions))
    return Embedding(info, words, matrix, norms, partial=wanted is not None, subwords=source.subwords, scratch=scratch)


def _filter(wanted: frozenset[str] | None) -> Callable[[Block], Block]:
    """A function that leaves only the `wanted` words of a block, None for all."""
    if wanted is None:
        return lambda block: block
    value_set = pa.array(sorted(wanted), pa.string())

    def keep(block: Block) -> Block:
        chosen = pc.is_in(block.words, value_set=value_set)
        return Block(block.words.filter(chosen), block.vectors[chosen.to_numpy(zero_copy_only=False)])

    return keep


def open_embedding(folder: Path | str, *, subwords: bool = False, look_up: LookUp | None = None) -> Embedding:
    """The embedding that `import_embedding` wrote into `folder`, memory-mapped: opens in milliseconds.

    `subwords` and `look_up` as in `load`. Raises `InputError` where there is none, or a damaged one.
    """
    folder = Path(folder)
    info = read_info(folder)
    embedding = similarities.open_pairs(folder, info) if info.kind == SIMILARITIES else _open_vectors(folder, info)
    embedding = embedding.with_look_up(look_up or LookUp())
    return embedding.with_subwords() if subwords else embedding


def _open_vectors(folder: Path, info: EmbeddingInfo) -> Embedding:
    """The vectors imported into `folder`, which `info` describes; raises `InputError` for damaged ones."""
    vocabulary = read_vocabulary(folder)
    if len(vocabulary) != info.n_words:
        damage = f"{len(vocabulary)} words instead of {info.n_words}"
        raise InputError(f"The embedding in {folder} is damaged: it has {damage}. Import it again.")
    subwords = map_subwords(folder, info)
    return Embedding(info, vocabulary, *map_vectors(folder, info), partial=False, subwords=subwords)
