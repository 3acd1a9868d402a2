"""Packed files: gzip, bzip2, xz, and zip archives of one file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from embedding_files import binary, numbers, tarred, text, write

from core.embeddings import import_embedding, load, loading, open_embedding, sniff, storage
from core.errors import InputError, StoreError
from core.tabular import zips

ROOT = Path(__file__).resolve().parents[2]
WORDS = [f"word{i}" for i in range(300)]
MATRIX = numbers(300, 8)
CONTENTS = {
    "text": text(WORDS, MATRIX),
    "no header": text(WORDS, MATRIX, header=False),
    "binary": binary(WORDS, MATRIX),
}


def zipped(
    content: bytes, *, members: int = 1, method: int = zipfile.ZIP_DEFLATED, extra: tuple[str, ...] = ()
) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for number in range(members):
            archive.writestr(f"folder/model{number}.vec", content)
        for name in extra:
            archive.writestr(name, b"")
    return buffer.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
}


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("kind", CONTENTS)
def test_packed_files_give_what_plain_ones_do(tmp_path: Path, packing: str, kind: str) -> None:
    path = write(tmp_path, PACKERS[packing](CONTENTS[kind]))
    found = sniff(path)
    assert found.packing == packing
    assert found.format.endswith(f", {packing}")
    plain = load(write(tmp_path, CONTENTS[kind], "plain"))
    seen: list[tuple[int, int]] = []
    info = import_embedding(path, tmp_path / "imported", progress=lambda done, total: seen.append((done, total)))
    for embedding in (load(path), load(path, tokens=WORDS), open_embedding(tmp_path / "imported")):
        assert embedding.n_words == 300
        assert np.array_equal(embedding.vectors(WORDS), plain.vectors(WORDS))
    # Progress and hash are of the file as it is.
    assert seen == sorted(seen)
    assert seen[-1] == (path.stat().st_size,) * 2
    assert info.n_bytes == path.stat().st_size
    assert info.sha256 == load(path).info.sha256 != plain.info.sha256


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_zip_methods_and_what_macs_add(tmp_path: Path, method: int) -> None:
    path = write(tmp_path, zipped(CONTENTS["text"], method=method, extra=("__MACOSX/folder/._model0.vec", "empty/")))
    assert load(path).n_words == 300


@pytest.mark.parametrize("packing", ["gzip", "bzip2", "xz"])
def test_several_streams_and_what_follows(tmp_path: Path, packing: str) -> None:
    pack, content = PACKERS[packing], CONTENTS["text"]
    streams = pack(content[:1000]) + pack(content[1000:1500]) + pack(content[1500:])
    assert load(write(tmp_path, streams)).n_words == 300
    assert load(write(tmp_path, streams + bytes(2000))).info.notes == ()
    assert "after the" in load(write(tmp_path, streams + b"more")).info.notes[0]


# Where a stream ends is found by the packing, whatever it holds; every change tries one kind of content.
@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize(
    "kind", [kind if kind == "binary" else pytest.param(kind, marks=pytest.mark.release) for kind in CONTENTS]
)
def test_truncated_anywhere(tmp_path: Path, packing: str, kind: str) -> None:
    packed = PACKERS[packing](CONTENTS[kind])
    for length in [*range(40), *range(40, len(packed) - 40, 97), *range(len(packed) - 40, len(packed))]:
        path = write(tmp_path, packed[:length])
        with pytest.raises(InputError) as caught:
            import_embedding(path, tmp_path / "imported")
        if length > 40:
            assert "truncated" in str(caught.value)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.bin"]


@pytest.mark.parametrize("packing", PACKERS)
def test_any_wrong_byte_is_noticed_or_harmless(tmp_path: Path, packing: str) -> None:
    packed = PACKERS[packing](CONTENTS["binary"])
    for place in range(0, len(packed), 41):
        damaged = bytearray(packed)
        damaged[place] ^= 0x55
        path = write(tmp_path, bytes(damaged))
        try:
            vectors = load(path).vectors(WORDS)
        except InputError:
            continue
        assert np.array_equal(vectors, MATRIX)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (zipped(CONTENTS["text"], members=2), "zip archive of 2 files .*Unpack it"),
        (zipped(b"", members=0), "zip archive of no file"),
        (gzip.compress(b""), "is empty"),
        (gzip.compress(tarred(CONTENTS["text"])), "a tar archive, packed by gzip: unpack it"),
        (tarred(CONTENTS["text"]), "a tar archive: unpack it"),
        (gzip.compress(zipped(CONTENTS["text"])), r"packed twice \(gzip and zip\)"),
        (gzip.compress(b"<!DOCTYPE html>"), "a web page"),
        (b"\x28\xb5\x2f\xfd" + bytes(50), "zstandard.*unpack it"),
        (b"\x1f\x8b" + bytes(50), "damaged"),
        (b"PK\x03\x04" + bytes(50), "truncated, damaged"),
        (gzip.compress(binary(WORDS, MATRIX)[:-9]), "the file is truncated, it ends in word 300 of 300"),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",  # packed files hold the time
)
def test_refused_with_the_reason(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        load(write(tmp_path, content))


def test_a_zip_with_a_password(tmp_path: Path) -> None:
    content = bytearray(zipped(CONTENTS["text"]))
    for start in (content.index(b"PK\x01\x02") + 8, 6):
        content[start] |= 1
    with pytest.raises(InputError, match="password"):
        load(write(tmp_path, bytes(content)))


def test_a_word_that_begins_like_bzip2(tmp_path: Path) -> None:
    assert load(write(tmp_path, text(["BZh9", "anvil"], MATRIX[:2], header=False))).n_words == 2


def test_sizes_that_a_zip_states_are_not_believed(tmp_path: Path) -> None:
    content = bytearray(zipped(CONTENTS["text"]))
    directory = content.index(b"PK\x01\x02")
    for stated in (5, 2**31):
        content[directory + 24 : directory + 28] = stated.to_bytes(4, "little")
        path = write(tmp_path, bytes(content))
        if stated == 5:
            with pytest.raises(InputError):
                load(path)
        else:
            assert load(path).n_words == 300


class _Usage:
    free = 300_000_000


@pytest.mark.release
def test_a_bomb_stops_before_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few hundred kilobytes that unpack to a gigabyte of words."""
    lines = "".join(f"word{i:06} " + "0 " * 300 + "\n" for i in range(2000)).encode()
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(200):
            file.write(lines)
    assert path.stat().st_size < 5_000_000
    usage = _Usage()
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda folder: usage)
    added = storage.FolderSink.add

    def add(self: storage.FolderSink, block: storage.Block) -> None:
        usage.free -= block.vectors.nbytes
        added(self, block)

    monkeypatch.setattr(storage.FolderSink, "add", add)
    monkeypatch.setattr(loading, "check_disk", lambda *args: None)  # it only knows an estimate
    with pytest.raises(StoreError, match="nearly full"):
        import_embedding(path, tmp_path / "imported")
    assert usage.free > 0
    assert os.listdir(tmp_path) == ["bomb.gz"]


def test_a_bomb_of_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "SMALL_BYTES", 1 << 30)  # else it is refused for how much it unpacks to
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb") as file:
        file.write(text(WORDS, MATRIX))
        for _ in range(100):
            file.write(b"0 " * (1 << 19))
    with pytest.raises(InputError, match="line 302, is over 64 MB long"):
        load(path)


def test_absurd_sizes_in_a_packed_file(tmp_path: Path) -> None:
    words = [f"word{i}" for i in range(30_000)]
    path = write(tmp_path, gzip.compress(binary(words, numbers(30_000, 10), n_words=10**12), 1))
    with pytest.raises(StoreError, match="are free"):
        import_embedding(path, tmp_path / "imported")
    with pytest.raises(InputError, match="of memory"):
        load(path)
    with pytest.raises(InputError, match="truncated, it ends in word 30001 of"):
        load(path, tokens=["word5"])
    assert os.listdir(tmp_path) == ["model.bin"]


@pytest.mark.release
def test_memory_stays_bounded(tmp_path: Path) -> None:
    path = write(tmp_path, gzip.compress(binary([f"word{i}" for i in range(50_000)], numbers(50_000, 300)), 1))
    script = (
        "import resource, sys; from core.embeddings import import_embedding, load\n"
        "load(sys.argv[2], tokens=['anvil'])\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "import_embedding(sys.argv[1], sys.argv[1] + '.imported')\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)"
    )
    small = write(tmp_path, gzip.compress(binary(WORDS, MATRIX)), "small.bin")
    arguments = [sys.executable, "-c", script, str(path), str(small)]
    done = subprocess.run(arguments, cwd=ROOT, check=True, capture_output=True, text=True)
    assert int(done.stdout) < 60
