"""fastText's own format, against gensim on gensim's test models, and vectors made of parts of words."""

from __future__ import annotations

import gzip
import struct
import subprocess
import sys
from pathlib import Path

import gensim
import numpy as np
import pytest
from embedding_files import numbers, write
from gensim.models.fasttext import FastText, ft_ngram_hashes, load_facebook_vectors, save_facebook_model
from hypothesis import given, settings
from hypothesis import strategies as st

from core.embeddings import Embedding, import_embedding, load, open_embedding, sniff
from core.embeddings.subwords import hash_ngrams
from core.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
GENSIM_FILES = Path(gensim.__file__).parent / "test" / "test_data"
# Version 12, version 11, and two from before the magic number.
MODELS = (
    "crime-and-punishment.bin",
    "lee_fasttext_new.bin",
    "lee_fasttext.bin",
    "non_ascii_fasttext.bin",
    "toy-model.bin",
)
OTHERS = ["zzqx", "steamtrain", "ünlïkely", "a", "наказанный", "👩‍🚀s"]


def model(folder: Path, *, gz: bool = False) -> Path:
    """A small model of gensim's in fastText's format."""
    sentences = [["anvil", "barge", "candle"], ["dune", "ember", "flûte"], ["anvil", "ember", "naïveté"]] * 5
    trained = FastText(sentences, vector_size=6, min_count=1, bucket=50, min_n=3, max_n=4, epochs=1, seed=1, workers=1)
    path = folder / "model.bin"
    save_facebook_model(trained, str(path))
    return write(folder, gzip.compress(path.read_bytes()), "model.gz") if gz else path


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("route", ["load", "imported", "packed"])
def test_same_vectors_as_gensim(tmp_path: Path, name: str, route: str) -> None:
    path = GENSIM_FILES / name
    theirs = load_facebook_vectors(str(path))
    if route == "packed":
        path = write(tmp_path, gzip.compress(path.read_bytes()), "model.gz")
    assert sniff(path).has_subwords
    if route == "imported":
        import_embedding(path, tmp_path / "imported")
        path = tmp_path / "imported"
    embedding = load(path)
    # gensim gives the mark of a sentence's end n-grams, fastText itself doesn't.
    words = [word for word in theirs.index_to_key if word != "</s>"]
    assert embedding.n_words == len(theirs.index_to_key)
    assert np.abs(embedding.vectors(words) - theirs[words]).max() < 1e-6
    made = embedding.vectors(OTHERS, subwords=True)
    assert np.abs(made - np.array([theirs[word] for word in OTHERS])).max() < 1e-6
    some = load(path, tokens=words[:3])
    assert np.array_equal(some.vectors(words[:3]), embedding.vectors(words[:3]))


def test_the_end_of_a_sentence_has_its_own_row_only() -> None:
    path = GENSIM_FILES / "crime-and-punishment.bin"
    theirs = load_facebook_vectors(str(path))
    row = theirs.vectors_vocab[theirs.key_to_index["</s>"]]
    assert np.array_equal(load(path).vectors(["</s>"])[0], row)


def test_case_14_coverage_is_by_vocabulary(shared: Path, tmp_path: Path) -> None:
    path = shared / "cases" / "14-fasttext.bin"
    found = sniff(path)
    assert (found.n_words, found.dimensions, found.has_subwords) == (6, 4, True)
    embedding = load(path)
    assert embedding.missing(["anvil", "zzqx"]) == ["zzqx"]
    assert np.isnan(embedding.cosines(["zzqx"], ["anvil"])).all()
    asked = load(path, tokens=["anvil", "zzqx"], subwords=True)
    assert asked.missing(["anvil", "zzqx"]) == []
    assert asked.cosines(["zzqx", "anvil"], ["anvil", "zzqx"]) == pytest.approx([-0.61136395] * 2, abs=1e-6)
    # What was imported without them can be asked for them later.
    info = import_embedding(path, tmp_path / "imported")
    assert (info.n_buckets, info.min_n) == (embedding.info.n_buckets, embedding.info.min_n)
    later = open_embedding(tmp_path / "imported", subwords=True)
    assert later.cosines(["zzqx"], ["anvil"]) == asked.cosines(["zzqx"], ["anvil"])
    assert later.neighbours("zzqx", 2)[0][1] == max(later.cosines(["zzqx"] * 6, later._vocabulary.to_pylist()))
    assert (tmp_path / "imported" / "ngrams.f32").stat().st_size == 4 * info.n_buckets * 4
    with (tmp_path / "imported" / "ngrams.f32").open("ab") as file:
        file.write(b"1234")
    with pytest.raises(InputError, match="damaged"):
        open_embedding(tmp_path / "imported")


def test_a_word_without_n_grams_has_no_vector(tmp_path: Path) -> None:
    embedding = load(model(tmp_path), subwords=True)
    assert embedding.missing(["", "x"]) == [""]
    assert np.isnan(embedding.cosines([""], ["anvil"])).all()
    assert embedding.vectors([], subwords=True).shape == (0, 6)


def test_without_parts_of_words(tmp_path: Path) -> None:
    path = write(tmp_path, b"2 2\nanvil 1 2\nbarge 2 1\n")
    with pytest.raises(InputError, match="no vectors of parts of words"):
        load(path, subwords=True)
    with pytest.raises(InputError, match="no vectors of parts of words"):
        load(path).vectors(["dune"], subwords=True)


def test_in_another_encoding() -> None:
    path = GENSIM_FILES / "cp852_fasttext.bin"
    embedding = load(path, encoding="cp852")
    words = load_facebook_vectors(str(path), encoding="cp852").index_to_key
    assert embedding.missing(words) == []
    assert "který" in words
    assert "mended with U+FFFD" in load(path).info.notes[1]


@settings(max_examples=100, deadline=None)
@given(
    words=st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=12), max_size=6),
    min_n=st.integers(1, 6),
    max_n=st.integers(0, 8),
    n_buckets=st.integers(1, 2**31 - 1),
)
def test_hashes_as_gensim_makes_them(words: list[str], min_n: int, max_n: int, n_buckets: int) -> None:
    buckets, owners = hash_ngrams([word.encode() for word in words], min_n, max_n, n_buckets)
    for place, word in enumerate(words):
        assert sorted(buckets[owners == place].tolist()) == sorted(ft_ngram_hashes(word, min_n, max_n, n_buckets))


def _damaged(path: Path, at: int, form: str, value: int) -> bytes:
    content = bytearray(path.read_bytes())
    struct.pack_into(form, content, at, value)
    return bytes(content)


@pytest.mark.parametrize(
    ("at", "form", "value", "said"),
    [
        (4, "<i", 13, "version 13"),
        (8, "<i", 0, "between 1 and"),
        (8, "<i", 2**30, "between 1 and"),
        (8 + 8 * 4, "<i", 2**31 - 1, "truncated or damaged"),
        (8 + 10 * 4, "<i", 2**31 - 1, "n-grams of 2147483647 characters"),
        (8 + 8 * 4, "<i", 49, "damaged: its matrix has 57 × 6 values, its header says 56 × 6"),
        (64, "<i", 2**31 - 1, "truncated or damaged"),
        (64, "<3i", 0, "without words"),
        (64 + 20, "<q", 3, "quantised"),
    ],
)
def test_damaged_headers(tmp_path: Path, at: int, form: str, value: int, said: str) -> None:
    path = model(tmp_path)
    values = (value,) * (3 if form == "<3i" else 1)
    content = bytearray(path.read_bytes())
    struct.pack_into(form, content, at, *values)
    with pytest.raises(InputError, match=said):
        load(write(tmp_path, bytes(content), "damaged.bin"))


def test_quantised_without_pruning(tmp_path: Path) -> None:
    path = model(tmp_path)
    content = bytearray(path.read_bytes())
    at = len(content)
    words = load(path)._vocabulary.to_pylist()
    at = 8 + 56 + 28 + sum(len(word.encode()) + 10 for word in words)
    assert content[at] == 0
    content[at] = 1
    with pytest.raises(InputError, match="quantised fastText model"):
        load(write(tmp_path, bytes(content), "model.ftz"))


@pytest.mark.parametrize(
    ("gz", "step"),
    [(False, 7), (True, 97), *(pytest.param(*all_, marks=pytest.mark.release) for all_ in ((False, 1), (True, 13)))],
)
def test_truncated_anywhere(tmp_path: Path, gz: bool, step: int) -> None:
    path = model(tmp_path)
    content = path.read_bytes()
    words = load(path)._vocabulary.to_pylist()
    end = 8 + 56 + 28 + sum(len(word.encode()) + 10 for word in words) + 17 + 4 * 6 * 57
    for length in range(0, end, step):
        cut = write(tmp_path, gzip.compress(content[:length]) if gz else content[:length], "cut.bin")
        with pytest.raises(InputError):
            import_embedding(cut, tmp_path / "imported")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["cut.bin", "model.bin"]


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.release)])
def test_any_wrong_byte(tmp_path: Path, step: int) -> None:
    content = model(tmp_path).read_bytes()
    for place in range(0, 400, step):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        try:
            loaded: Embedding | None = load(write(tmp_path, bytes(damaged), "damaged.bin"))
        except InputError:
            loaded = None
        assert loaded is None or loaded.n_words > 0


def big(path: Path, n_words: int, n_buckets: int, dimensions: int) -> Path:
    """A model in fastText's format with random values."""
    rows = numbers(1000, dimensions)
    with path.open("wb") as file:
        file.write(struct.pack("<2i12id", 793712314, 12, dimensions, 5, 5, 1, 5, 1, 2, 2, n_buckets, 3, 6, 100, 1e-4))
        file.write(struct.pack("<3i2q", n_words, n_words, 0, 1, -1))
        file.writelines(b"longword%d\0" % i + struct.pack("<qb", 1, 0) for i in range(n_words))
        file.write(struct.pack("<?2q", False, n_words + n_buckets, dimensions))
        file.writelines(rows.tobytes() for _ in range((n_words + n_buckets) // 1000))
    return path


@pytest.mark.release
def test_memory_stays_bounded(tmp_path: Path) -> None:
    """120 MB of rows are read through maps of the file, whose pages the system can drop: anonymous memory is small."""
    path = big(tmp_path / "model.bin", 50_000, 50_000, 300)
    script = (
        "import re, sys; from core.embeddings import import_embedding, load\n"
        "def anonymous():\n"
        "    return int(re.search(r'RssAnon:\\s+(\\d+)', open('/proc/self/status').read())[1]) // 1024\n"
        "import scipy.sparse, threading, time\n"
        "before, most = anonymous(), [0]\n"
        "def watch():\n"
        "    while True: most[0] = max(most[0], anonymous()); time.sleep(0.002)\n"
        "threading.Thread(target=watch, daemon=True).start()\n"
        "import_embedding(sys.argv[1], sys.argv[1] + '.imported')\n"
        "print(most[0] - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert int(done.stdout) < 120
