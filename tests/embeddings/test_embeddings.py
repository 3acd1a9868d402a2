"""Imported and loaded embeddings: what is on disk, look-up of tokens, cosines."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from embedding_files import binary, numbers, text, write

from core.embeddings import Embedding, EmbeddingInfo, LookUp, import_embedding, load, open_embedding, storage
from core.embeddings.readers import text as text_reader
from core.errors import InputError, StoreError

ROOT = Path(__file__).resolve().parents[2]
WORDS = ["anvil", "barge", "candle", "dune", "ember", "flute"]
# Norms 5, 13, 5, 25, 2, 1 and easy products.
MATRIX = np.array([[3, 4], [5, 12], [-3, -4], [7, 24], [0, 2], [1, 0]], dtype=np.float32)


def imported(tmp_path: Path, content: bytes) -> Embedding:
    import_embedding(write(tmp_path, content), tmp_path / "imported")
    return open_embedding(tmp_path / "imported")


@pytest.fixture(params=["imported", "whole", "tokens"])
def embedding(request: pytest.FixtureRequest, tmp_path: Path) -> Embedding:
    """The same six words, come by in each way."""
    if request.param == "imported":
        return imported(tmp_path, binary(WORDS, MATRIX))
    return load(write(tmp_path, binary(WORDS, MATRIX)), tokens=WORDS if request.param == "tokens" else None)


def test_vectors_and_name(embedding: Embedding) -> None:
    assert (embedding.name, embedding.n_words, embedding.dimensions) == ("model.bin", 6, 2)
    vectors = embedding.vectors(["dune", "absent", "anvil", "dune"])
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, np.array([[7, 24], [np.nan] * 2, [3, 4], [7, 24]], np.float32), equal_nan=True)


def test_cosines_by_hand(embedding: Embedding) -> None:
    cosines = embedding.cosines(
        ["anvil", "anvil", "anvil", "ember", "absent"], ["barge", "candle", "dune", "flute", "dune"]
    )
    # (15 + 48) / 65, opposite, (21 + 96) / 125, at right angles, missing.
    assert np.array_equal(cosines, [round(63 / 65, 12), -1.0, 117 / 125, 0.0, np.nan], equal_nan=True)


def test_missing_and_reasons(tmp_path: Path) -> None:
    matrix = MATRIX.copy()
    matrix[3], matrix[4], matrix[5] = 0, np.nan, (np.inf, 1)
    embedding = imported(tmp_path, binary(WORDS, matrix))
    tokens = ["flute", "absent", "anvil", "dune", "ember", "absent"]
    assert embedding.reasons(tokens) == {
        "flute": "its vector has NaN or infinite values",
        "absent": "not in the vocabulary",
        "dune": "its vector is all zeros",
        "ember": "its vector has NaN or infinite values",
    }
    assert embedding.missing(tokens) == ["flute", "absent", "dune", "ember"]
    assert np.isnan(embedding.vectors(["dune", "flute"])).all()
    assert embedding.spelling(["dune", "absent"]) == ["dune", None]
    assert (embedding.info.n_zero, embedding.info.n_not_finite, embedding.info.unusable) == (1, 2, tuple(WORDS[3:]))
    assert len(embedding.info.notes) == 2


def test_no_tokens(embedding: Embedding) -> None:
    assert embedding.vectors([]).shape == (0, 2)
    assert embedding.cosines([], []).shape == (0,)
    assert embedding.missing([]) == []
    assert embedding.spelling([]) == []


def test_cosines_need_equal_lengths(embedding: Embedding) -> None:
    with pytest.raises(InputError, match="1, 2"):
        embedding.cosines(["anvil"], ["anvil", "barge"])


def test_case_56_equal_vectors_tie(shared: Path) -> None:
    embedding = load(shared / "cases" / "56-identical-vectors.vec")
    words = embedding._vocabulary.to_pylist()
    pairs = [(a, b) for i, a in enumerate(words) for b in words[:i]]
    assert set(embedding.cosines(*zip(*pairs, strict=True))) == {1.0}


def test_cosines_against_plain_numpy(tmp_path: Path) -> None:
    matrix, words = numbers(50, 20), [f"word{i}" for i in range(50)]
    embedding = imported(tmp_path, binary(words, matrix))
    a, b = np.random.default_rng(1).integers(0, 50, (2, 40_000))
    x, y = matrix[a].astype(float), matrix[b].astype(float)
    expected = (x * y).sum(1) / np.sqrt((x * x).sum(1) * (y * y).sum(1))
    cosines = embedding.cosines([words[i] for i in a], [words[i] for i in b])
    assert np.abs(cosines - expected).max() < 2e-12
    assert cosines.max() == 1.0
    assert (np.round(cosines, 12) == cosines).all()


def test_huge_and_tiny_values(tmp_path: Path) -> None:
    # float32 would overflow and underflow in the squares.
    matrix = np.array([[3e30, 4e30], [5e30, 12e30], [3e-30, 4e-30]], dtype=np.float32)
    embedding = imported(tmp_path, binary(WORDS[:3], matrix))
    assert embedding.cosines(["anvil", "anvil"], ["barge", "candle"]) == pytest.approx([63 / 65, 1.0], abs=1e-7)


def test_spellings() -> None:
    assert LookUp().spellings("rade") == ("rade",)
    assert LookUp().spellings("new york") == ("new york", "new_york")
    decomposed = unicodedata.normalize("NFD", "café au lait")
    assert LookUp().spellings(decomposed) == (decomposed, "café au lait", "café_au_lait")


@pytest.mark.parametrize("tokens", [None, [unicodedata.normalize("NFD", "café"), "new york", "old town"]])
def test_a_token_is_found_in_other_spellings(tmp_path: Path, tokens: list[str] | None) -> None:
    words = ["café", "new_york", "old town", "old_town"]
    embedding = load(write(tmp_path, text(words, numbers(4, 3))), tokens=tokens)
    asked = [unicodedata.normalize("NFD", "café"), "new york", "old town"]
    assert embedding.spelling(asked) == ["café", "new_york", "old town"]
    assert np.array_equal(embedding.vectors(asked), numbers(4, 3)[:3])
    assert embedding.missing(["New York", "cafe"]) == ["New York", "cafe"]


def test_of_a_word_that_stands_twice_the_first_is_kept(tmp_path: Path) -> None:
    words = ["anvil", "barge", "anvil", "candle", "barge", "anvil", "dune"]
    matrix = numbers(7, 3)
    path = write(tmp_path, text(words, matrix))
    import_embedding(path, tmp_path / "imported")
    for embedding in (load(path), open_embedding(tmp_path / "imported")):
        assert (embedding.n_words, embedding.info.n_duplicates) == (4, 3)
        assert np.array_equal(embedding.vectors(["anvil", "barge", "candle", "dune"]), matrix[[0, 1, 3, 6]])
        assert embedding.info.notes == ("words that stood there before, left out: 3",)
    assert (tmp_path / "imported" / "vectors.f32").stat().st_size == 4 * 3 * 4


def test_compaction_over_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_ROWS", 3)
    rows = np.arange(40.0).reshape(20, 2)
    kept = np.array([0, 1, 4, 5, 6, 7, 8, 15, 16, 19])
    assert storage.compact(rows, kept)[:, 0].tolist() == (2.0 * kept).tolist()


def test_only_the_rows_of_the_tokens_are_in_memory(tmp_path: Path) -> None:
    words = [f"word{i}" for i in range(5000)]
    embedding = load(write(tmp_path, binary(words, numbers(5000, 8))), tokens=["word7", "word4000", "absent"])
    assert embedding.n_words == 5000
    assert embedding._matrix.shape == (2, 8)
    assert np.array_equal(embedding.vectors(["word4000", "word7"]), numbers(5000, 8)[[4000, 7]])
    assert embedding.missing(["absent", "word7"]) == ["absent"]
    with pytest.raises(InputError, match="loaded for chosen tokens only"):
        embedding.random_cosines(5, rng=np.random.default_rng(0))


def test_tokens_of_which_none_is_there(tmp_path: Path) -> None:
    embedding = load(write(tmp_path, binary(WORDS, MATRIX)), tokens=["absent"])
    assert np.isnan(embedding.vectors(["absent"])).all()
    assert np.isnan(embedding.cosines(["absent"], ["absent"])).all()


def test_random_cosines(tmp_path: Path) -> None:
    words = [*WORDS, "</s>", "zero"]
    # Any pair with a marker would give -1 or 1, and pairs of distinct words never do.
    matrix = np.vstack([np.eye(6), -np.ones(6), np.zeros(6)]).astype(np.float32)
    embedding = imported(tmp_path, binary(words, matrix))
    cosines = embedding.random_cosines(500, rng=np.random.default_rng(0))
    assert cosines.shape == (500,)
    assert (cosines == 0).all()
    ordinary = load(write(tmp_path, binary(WORDS, numbers(6, 3)), "ordinary.bin"))
    draws = [ordinary.random_cosines(50, rng=np.random.default_rng(seed)) for seed in (3, 3, 4)]
    assert np.array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])
    assert len(set(draws[0]) | set(draws[2])) == 15  # all the pairs of six words
    assert max(draws[0]) < 1


def test_random_cosines_need_two_words(tmp_path: Path) -> None:
    embedding = load(write(tmp_path, binary(["</s>", "anvil"], MATRIX[:2])))
    with pytest.raises(InputError, match="random pairs: 1"):
        embedding.random_cosines(5, rng=np.random.default_rng(0))


def test_what_an_import_writes(tmp_path: Path) -> None:
    content = binary(WORDS, MATRIX)
    seen: list[tuple[int, int]] = []
    path = write(tmp_path, content)
    info = import_embedding(path, tmp_path / "imported", progress=lambda done, total: seen.append((done, total)))
    assert sorted(p.name for p in (tmp_path / "imported").iterdir()) == [
        "info.json",
        "norms.f32",
        "vectors.f32",
        "vocabulary.arrow",
    ]
    assert info.sha256 == hashlib.sha256(content).hexdigest()
    assert (info.format, info.source, info.n_bytes, info.n_words) == ("word2vec binary", "model.bin", len(content), 6)
    assert open_embedding(tmp_path / "imported").info == info
    assert EmbeddingInfo.from_json(info.to_json()) == info
    assert np.fromfile(tmp_path / "imported" / "norms.f32", np.float32).tolist() == [5, 13, 5, 25, 2, 1]
    assert seen == sorted(seen)
    assert seen[-1] == (len(content), len(content))


def test_load_takes_an_imported_folder(tmp_path: Path) -> None:
    imported(tmp_path, binary(WORDS, MATRIX))
    embedding = load(tmp_path / "imported", tokens=["anvil"])
    assert isinstance(embedding._matrix, np.memmap)
    assert not embedding.partial


@pytest.mark.parametrize(
    "content",
    [
        binary(WORDS, MATRIX)[:-3],
        text(WORDS, MATRIX).replace(b"dune", b"d\xfcne"),
        b"nothing",
        text(WORDS, MATRIX)[:-5],
    ],
)
def test_a_failed_import_leaves_nothing(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError):
        import_embedding(write(tmp_path, content), tmp_path / "imported")
    assert [p.name for p in tmp_path.iterdir()] == ["model.bin"]


def test_an_import_never_overwrites(tmp_path: Path) -> None:
    imported(tmp_path, binary(WORDS, MATRIX))
    with pytest.raises(StoreError, match="there already"):
        import_embedding(tmp_path / "model.bin", tmp_path / "imported")
    assert open_embedding(tmp_path / "imported").n_words == 6


@pytest.mark.release  # `test_kills` kills one in every run
def test_a_killed_import_leaves_no_target(tmp_path: Path) -> None:
    path = write(tmp_path, binary(WORDS, MATRIX))
    script = (
        "import os, sys; from core.embeddings import import_embedding\n"
        "import_embedding(sys.argv[1], sys.argv[2], progress=lambda done, total: os._exit(9))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path), str(tmp_path / "imported")], cwd=ROOT, check=False)
    assert done.returncode == 9
    assert not (tmp_path / "imported").exists()
    assert (tmp_path / "imported.part").is_dir()
    # What it left doesn't hinder the next attempt.
    import_embedding(path, tmp_path / "imported")
    assert open_embedding(tmp_path / "imported").n_words == 6


def test_a_full_disk_is_noticed_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 10})())
    with pytest.raises(StoreError, match="are free"):
        import_embedding(write(tmp_path, binary(WORDS, MATRIX)), tmp_path / "imported")
    assert [p.name for p in tmp_path.iterdir()] == ["model.bin"]


def test_a_disk_that_becomes_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def add(self: object, block: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage.FolderSink, "add", add)
    with pytest.raises(StoreError, match="No space left on device"):
        import_embedding(write(tmp_path, binary(WORDS, MATRIX)), tmp_path / "imported")
    assert [p.name for p in tmp_path.iterdir()] == ["model.bin"]


def test_too_little_memory_is_noticed_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "available_memory", lambda: 10)
    path = write(tmp_path, binary(WORDS, MATRIX))
    with pytest.raises(InputError, match="Import it instead"):
        load(path)
    assert load(path, tokens=["anvil"]).missing(["anvil"]) == []


def test_a_header_that_claims_too_much_allocates_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, text(WORDS, MATRIX).replace(b"6 2", b"999999999999 2", 1))
    embedding = load(path)
    assert embedding.n_words == 6
    assert embedding.info.notes == ("the first line says 999999999999 words, 6 were found",)


def _damage(folder: Path, what: str) -> None:
    if what == "vectors":
        with (folder / "vectors.f32").open("ab") as file:
            file.write(b"1234")
    elif what == "vocabulary":
        (folder / "vocabulary.arrow").write_bytes(b"ARROW1")
    elif what == "info":
        (folder / "info.json").write_text("{")
    elif what == "layout":
        fields = json.loads((folder / "info.json").read_text())
        (folder / "info.json").write_text(json.dumps({**fields, "layout": 99}))
    else:
        (folder / what).unlink()


@pytest.mark.parametrize(
    "what", ["vectors", "vocabulary", "info", "layout", "info.json", "norms.f32", "vocabulary.arrow"]
)
def test_a_damaged_import_is_noticed(tmp_path: Path, what: str) -> None:
    imported(tmp_path, binary(WORDS, MATRIX))
    _damage(tmp_path / "imported", what)
    with pytest.raises(InputError, match=r"Import (it|the embedding) again"):
        open_embedding(tmp_path / "imported")


@pytest.mark.release
def test_memory_stays_bounded(tmp_path: Path) -> None:
    """An import of 60 MB takes a few chunks of memory, whatever the file's size."""
    path = write(tmp_path, binary([f"word{i}" for i in range(50_000)], numbers(50_000, 300)))
    script = (
        "import resource, sys; from core.embeddings import import_embedding, load\n"
        "load(sys.argv[2], tokens=['anvil'])\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "import_embedding(sys.argv[1], sys.argv[1] + '.imported')\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)"
    )
    small = write(tmp_path, binary(WORDS, MATRIX), "small.bin")
    arguments = [sys.executable, "-c", script, str(path), str(small)]
    done = subprocess.run(arguments, cwd=ROOT, check=True, capture_output=True, text=True)
    assert int(done.stdout) < 55


def test_the_demo_opens(tmp_path: Path) -> None:
    import_embedding(ROOT / "data" / "demo.bin", tmp_path / "demo")
    embedding = open_embedding(tmp_path / "demo")
    tokens = [line.split(",")[1] for line in (ROOT / "data" / "areas.csv").read_text().splitlines()[1:]]
    assert len(tokens) == 80
    assert embedding.missing(tokens) == ["machine learning", "parental leave"]
    assert embedding.info.notes == ()
    assert embedding.cosines(["wage"], ["salary"]) > embedding.cosines(["wage"], ["linux"]) + 0.4


def test_the_demo_similarities_fit_the_areas() -> None:
    rows = [line.split(",") for line in (ROOT / "data" / "similarity.csv").read_text().splitlines()[1:]]
    areas = [line.split(",") for line in (ROOT / "data" / "areas.csv").read_text().splitlines()[1:]]
    expected = {(x[0], x[1], y[1]) for i, x in enumerate(areas) for y in areas[i + 1 :] if x[0] == y[0]}
    assert {tuple(row[:3]) for row in rows} == expected
    assert len(rows) == 760
    assert all(-1 <= float(row[3]) <= 1 for row in rows)


def test_the_chunk_size_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, text([f"word{i % 70}" for i in range(100)], numbers(100, 5)))
    infos = []
    for size in (200, 1 << 20):
        monkeypatch.setattr(text_reader, "CHUNK_BYTES", size)
        infos.append(import_embedding(path, tmp_path / str(size)))
    assert infos[0] == infos[1]
    first, second = (open_embedding(tmp_path / str(size)) for size in (200, 1 << 20))
    words = [f"word{i}" for i in range(70)]
    assert np.array_equal(first.vectors(words), second.vectors(words))
