"""Damaged files of every kind, kills and cancelling: a right result or `InputError`, and never half a model."""

from __future__ import annotations

import bz2
import gzip
import multiprocessing
import os
import random
import shutil
import signal
import sys
import threading
import time
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from embedding_files import binary, numbers, text, write
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from property_runs import examples

from core.embeddings import Embedding, import_embedding, load, open_embedding, sniff
from core.embeddings.readers import text as text_reader
from core.errors import InputError

KILLS = 30
WORDS = ["anvil", "flûte", "new york", "1999", "nan"]
MATRIX = numbers(5, 4)


def attempt(folder: Path, content: bytes, **options: str) -> Embedding | None:
    """Import what can be imported: the embedding, or None if it was refused; nothing is left of a refused one."""
    path, target = write(folder, content, "model"), folder / "imported"
    shutil.rmtree(target, ignore_errors=True)
    try:
        import_embedding(path, target, **options)
    except InputError as error:
        said = str(error)
        assert "model" in said
        assert not target.exists()
        assert not (folder / "imported.part").exists()
        return None
    embedding = open_embedding(target)
    assert embedding.n_words > 0
    assert sorted(os.listdir(target)) == ["info.json", "norms.f32", "vectors.f32", "vocabulary.arrow"]
    return embedding


TEXTS = list(product([True, False], " \t", ["\n", "\r\n", " \n"]))


@pytest.mark.parametrize(
    ("header", "separator", "end", "step"),
    [
        *((header, " ", "\n", 3) for header in (True, False)),
        *(pytest.param(*kind, 1, marks=pytest.mark.release) for kind in TEXTS),
    ],
)
def test_text_truncated_anywhere(tmp_path: Path, header: bool, separator: str, end: str, step: int) -> None:
    content = text(WORDS, MATRIX, header=header, separator=separator, end=end)
    first = content.index(b"\n", content.index(b"\n") + 1 if header else 0)
    for length in range(0, len(content), step):
        embedding = attempt(tmp_path, content[:length])
        if embedding is None or length < first:
            continue  # of less than a line nothing can be known
        found = embedding._vocabulary.to_pylist()
        assert found == WORDS[: len(found)]
        n_sound = len(found) - (not content[:length].endswith(b"\n"))
        assert np.array_equal(embedding.vectors(found[:n_sound]), MATRIX[:n_sound])
        if header and len(found) < len(WORDS):
            assert f"the first line says 5 words, {len(found)} were found" in embedding.info.notes
        if n_sound < len(found) and not content[:length].endswith((b" ", b"\t", b"\r")):
            assert any("has no line end" in note for note in embedding.info.notes)


def test_binary_truncated_at_every_byte(tmp_path: Path) -> None:
    content = binary(["anvil", "barge", "candle"], MATRIX[:3])
    for length in range(len(content) - 1):
        assert attempt(tmp_path, content[:length]) is None


TOKEN = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\n\r\t\0"), min_size=1, max_size=6)
VALUE = st.sampled_from(["0", "1", "-0.5", "1e-3", "nan", "inf", "-inf", "1E+2", "0.25", ".5", "3."])


@st.composite
def faulty_files(draw: st.DrawFn) -> tuple[bytes, list[str], list[list[str]], bool]:
    """A small text file with any mixture of faults, its words and values, and whether it has only harmless ones."""
    dimensions = draw(st.integers(2, 4))
    words = draw(st.lists(TOKEN, min_size=1, max_size=8))
    rows = [draw(st.lists(VALUE, min_size=dimensions, max_size=dimensions)) for _ in words]
    separators = draw(st.sampled_from([" ", "\t"]))
    lines = [separators.join([w, *r]) for w, r in zip(words, rows, strict=True)]
    ends = [draw(st.sampled_from(["\n", "\r\n", " \n", "\n\n"])) for _ in words]
    content = "".join(line + end for line, end in zip(lines, ends, strict=True)).encode()
    count = draw(st.sampled_from([None, len(words), 0, 7, 10**12]))
    if count is not None:
        content = f"{count} {dimensions}\n".encode() + content
    if draw(st.booleans()):
        content = b"\xef\xbb\xbf" + content
    fault = draw(st.sampled_from(["none", "cut", "byte", "value"]))
    place = draw(st.integers(0, len(content) - 1))
    if fault == "cut":
        content = content[:place]
    elif fault == "byte":
        content = content[:place] + draw(st.binary(min_size=1, max_size=3)) + content[place + 1 :]
    elif fault == "value":
        content = content.replace(b"0.25", b"0,25", 1)
    is_sound = (
        fault == "none" and count is not None and all(w == w.strip() and not w.startswith("\ufeff") for w in words)
    )
    return content, words, rows, is_sound


@pytest.mark.release
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(file=faulty_files(), chunk=st.sampled_from([16, 100, 1 << 20]), packed=st.sampled_from([None, gzip, bz2]))
@example(file=(b"1 2\n\xef\xbb\xbfa 1 2\n", [], [], False), chunk=16, packed=None)
def test_text_with_any_faults(
    tmp_path_factory: pytest.TempPathFactory, file: tuple, chunk: int, packed: object
) -> None:
    content, words, rows, is_sound = file
    folder = tmp_path_factory.mktemp("faults")
    before, text_reader.CHUNK_BYTES = text_reader.CHUNK_BYTES, chunk
    try:
        embedding = attempt(folder, content if packed is None else packed.compress(content))  # type: ignore[attr-defined]
    finally:
        text_reader.CHUNK_BYTES = before
    if is_sound and embedding is not None:
        check_words(embedding, words, rows)
    if embedding is not None:
        path = folder / "model"
        whole = load(path)
        assert whole.info == embedding.info
        assert np.array_equal(whole._matrix, embedding._matrix, equal_nan=True)


def check_words(embedding: Embedding, words: list[str], rows: list[list[str]]) -> None:
    """The embedding has the words, each with the values it stood with first."""
    firsts = {
        word: np.array([float(value) for value in row], np.float32)
        for word, row in reversed(list(zip(words, rows, strict=True)))
    }
    assert set(embedding._vocabulary.to_pylist()) == set(words)
    assert embedding._vocabulary.to_pylist() == list(dict.fromkeys(words))
    for word, row in zip(embedding._vocabulary.to_pylist(), embedding._matrix, strict=True):
        assert np.array_equal(row, firsts[word], equal_nan=True)
    assert embedding.info.n_duplicates == len(words) - len(firsts)


@settings(max_examples=examples(200), deadline=None)
@given(
    start=st.sampled_from(
        [
            b"",
            b"\x1f\x8b\x08",
            b"BZh91AY&SY",
            b"\xfd7zXZ\x00",
            b"PK\x03\x04",
            b"\x93NUMPY\x01\x00",
            b"\xba\x16\x4f\x2f\x0c\x00\x00\x00",
            b"\x80\x04",
            b"\x80\x02cgensim.models\nKeyedVectors\n",
            b"token_a,token_b,similarity\n",
            b"2 2\n",
        ]
    ),
    rest=st.binary(max_size=120),
)
def test_any_bytes_after_any_mark(tmp_path_factory: pytest.TempPathFactory, start: bytes, rest: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    path = write(folder, start + rest, "model")
    for attempt_ in (lambda: sniff(path), lambda: import_embedding(path, folder / "imported", trusted=True)):
        try:
            attempt_()
        except InputError as error:
            said = str(error)
            assert "model" in said
    assert not (folder / "imported.part").exists()


@pytest.mark.parametrize(
    "claim",
    [
        b"\x8d\x00\x00\x00\x00\x00\x00\x00\x01",  # a text of 2**56 bytes
        b"\x8e\x00\x00\x00\x00\x00\x00\x00\x01",  # bytes of that size
        b"\x96\x00\x00\x00\x00\x00\x00\x00\x01",  # an array of bytes of that size
    ],
    ids=["text", "bytes", "bytearray"],
)
def test_a_pickle_that_claims_more_than_it_holds_is_called_damaged(tmp_path: Path, claim: bytes) -> None:
    path = write(tmp_path, b"\x80\x05cgensim.models\nKeyedVectors\n" + claim, "model.kv")
    with pytest.raises(InputError, match=r"model\.kv.*damaged"):
        import_embedding(path, tmp_path / "imported", trusted=True)
    assert os.listdir(tmp_path) == ["model.kv"]


def test_case_05_leaves_nothing(shared: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="truncated"):
        import_embedding(shared / "cases" / "05-truncated.bin", tmp_path / "imported")
    assert os.listdir(tmp_path) == []


def test_every_model_case_is_read_or_refused(shared: Path, tmp_path: Path) -> None:
    """Each file of ../shared/cases that expected.csv calls a model, through the import and straight from the file."""
    refused = {"05-truncated.bin", "07-latin1.vec", "13-lfs-pointer.bin"}
    counts = {"02-glove-space-tokens.txt": 8, "09-zero-nan-inf.vec": 8, "10-unicode-space-tokens.vec": 9}
    lines = (shared / "cases" / "expected.csv").read_text(encoding="utf-8").splitlines()[1:]
    names = {line.split(",")[1] for line in lines if line.split(",")[2] == "model"}
    assert len(names) >= 14
    for name in sorted(names):
        path = shared / "cases" / name
        if name in refused:
            with pytest.raises(InputError):
                import_embedding(path, tmp_path / name)
            continue
        info = import_embedding(path, tmp_path / name)
        expected = counts.get(name, info.n_words if name.startswith("56") else 6)
        assert (name, info.n_words) == (name, expected)
        opened, whole = open_embedding(tmp_path / name), load(path)
        words = whole._vocabulary.to_pylist()
        assert np.array_equal(opened.vectors(words), whole.vectors(words), equal_nan=True)
    assert not refused & set(os.listdir(tmp_path))


# Kills


def import_over_and_over(folder: str, started: multiprocessing.synchronize.Event) -> None:
    """Import the three files of a folder into ever new targets, until killed."""
    started.set()
    number = 0
    while True:
        for name in ("model.txt", "model.bin", "model.gz"):
            import_embedding(Path(folder) / name, Path(folder) / f"imported-{os.getpid()}-{number}")
            number += 1


@pytest.mark.release
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_killed_at_thirty_random_moments_no_half_model_is_left(tmp_path: Path) -> None:
    words, matrix = [f"word{i % 3900}" for i in range(4000)], numbers(4000, 60)
    write(tmp_path, text(words, matrix), "model.txt")
    write(tmp_path, binary(words, matrix), "model.bin")
    write(tmp_path, gzip.compress(binary(words, matrix), 1), "model.gz")
    start = time.monotonic()
    expected = {name: load(tmp_path / name).info for name in ("model.txt", "model.bin", "model.gz")}
    longest = max(0.25, 2 * (time.monotonic() - start))  # a slow machine needs longer for its first import
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["test_embeddings_faults"])
    rng = random.Random(4)
    n_halves = n_whole = 0
    for number in range(8 * KILLS):
        if number >= KILLS and n_halves and n_whole:  # where the machine has much else to do it takes more
            break
        started = context.Event()
        child = context.Process(target=import_over_and_over, args=(str(tmp_path), started))
        child.start()
        assert started.wait(30)
        time.sleep(rng.uniform(0.0, (1 + number // KILLS) * longest))
        os.kill(child.pid, signal.SIGKILL)
        child.join(10)
        for entry in list(tmp_path.glob("imported-*")):
            if entry.suffix == ".part":
                n_halves += 1
            else:
                n_whole += 1
                embedding = open_embedding(entry)
                assert embedding.info == expected[embedding.name]
                assert np.array_equal(embedding.vectors(words[:3900]), matrix[:3900])
            shutil.rmtree(entry)
    # How many kills come in the midst of an import hangs on what else the machine does; some do.
    assert n_halves > 0
    assert n_whole > 0


@pytest.mark.release
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGTERM")
def test_a_terminated_import_is_gone_within_two_seconds(tmp_path: Path) -> None:
    words = [f"word{i}" for i in range(20_000)]
    content = text(words, numbers(20_000, 100))
    with gzip.open(tmp_path / "model.gz", "wb", compresslevel=1) as file:
        for _ in range(4):
            file.write(content)
    for name in ("model.txt", "model.bin"):
        shutil.copy(tmp_path / "model.gz", tmp_path / name)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["test_embeddings_faults"])
    started = context.Event()
    child = context.Process(target=import_over_and_over, args=(str(tmp_path), started))
    child.start()
    assert started.wait(30)
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob("*.part/vectors.f32")) and time.monotonic() < deadline:
        time.sleep(0.01)
    asked = time.monotonic()
    child.terminate()
    child.join(10)
    for part in tmp_path.glob("*.part"):
        shutil.rmtree(part)  # as the job's clean-up does
    assert time.monotonic() - asked < 2
    assert child.exitcode == -signal.SIGTERM


@pytest.mark.parametrize("content", [text(WORDS, MATRIX), b"token_a,token_b,similarity\nanvil,nan,0.5\n"])
def test_no_thread_is_started_before_a_file_is_read_whole(tmp_path, monkeypatch, content):
    """A generator that is left in the midst of a file is closed whenever memory is tidied, in whatever thread that is;
    if it waited for a thread of its own then, the process could stand still forever."""
    path = write(tmp_path, content, "model")
    monkeypatch.setattr(threading.Thread, "start", lambda _: pytest.fail("a thread was started"))
    assert sniff(path).n_words is not None or sniff(path).kind
