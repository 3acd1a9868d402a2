"""NumPy arrays with their words, gensim's own files, and similarities of pairs."""

from __future__ import annotations

import gzip
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import gensim
import numpy as np
import pandas as pd
import pytest
from embedding_files import numbers, text, write
from gensim.models import FastText, KeyedVectors, Word2Vec
from hypothesis import given, settings
from hypothesis import strategies as st

from core.embeddings import (
    EncodingError,
    Similarities,
    TrustError,
    VocabularyError,
    import_embedding,
    load,
    open_embedding,
    sniff,
)
from core.errors import InputError
from core.evaluation import evaluate

GENSIM_FILES = Path(gensim.__file__).parent / "test" / "test_data"
WORDS = ["anvil", "barge", "candle", "new york", "flûte", "NA"]
MATRIX = numbers(6, 5)


def array(folder: Path, matrix: np.ndarray = MATRIX, name: str = "model.npy") -> Path:
    np.save(folder / name, matrix)
    return folder / name


# NumPy arrays


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.txt", "\n".join(WORDS)),
        ("model.vocab", "\r\n".join(WORDS) + "\r\n"),
        ("model.json", json.dumps(WORDS)),
        ("model.json", json.dumps({word: row for row, word in reversed(list(enumerate(WORDS)))})),
        ("vocab.txt", "\ufeff" + "\n".join(WORDS) + "\n"),
        ("vocab.txt", "".join(f"{word} {100 - row}\n" for row, word in enumerate(WORDS))),
        ("vocab.txt", "".join(f"{word}\t5\n" for word in WORDS)),
    ],
)
def test_an_array_with_its_words_beside_it(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_bytes(content.encode())
    path = array(tmp_path)
    found = sniff(path)
    assert (found.format, found.n_words, found.dimensions) == ("NumPy array, float32", 6, 5)
    assert (found.needs_vocabulary, found.notes) == ("", (f"its words are taken from {name}",))
    info = import_embedding(path, tmp_path / "imported")
    assert info.companions[0][0] == name
    assert info.identity != info.sha256
    for embedding in (load(path), load(path, tokens=WORDS), open_embedding(tmp_path / "imported")):
        assert np.array_equal(embedding.vectors(WORDS), MATRIX)


def test_an_array_whose_words_are_named(tmp_path: Path) -> None:
    path = array(tmp_path)
    assert "name the file" in sniff(path).needs_vocabulary
    with pytest.raises(VocabularyError, match="an array has no words"):
        load(path)
    (tmp_path / "words").write_text("\n".join(WORDS), encoding="latin-1")
    assert sniff(path, vocabulary=tmp_path / "words").needs_vocabulary == ""
    with pytest.raises(EncodingError, match=r"line 5.*'flûte'"):
        load(path, vocabulary=tmp_path / "words")
    assert load(path, vocabulary=tmp_path / "words", encoding="latin-1").missing(WORDS) == []


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f4"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("packed", [False, True])
def test_types_and_orders(tmp_path: Path, dtype: type, order: str, packed: bool) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS))
    path = array(tmp_path, np.array(MATRIX, dtype=dtype, order=order))
    if packed:
        path = write(tmp_path, gzip.compress(path.read_bytes()), "model.npy.gz")
        if order == "F":
            with pytest.raises(InputError, match="Fortran's order: unpack it"):
                load(path)
            return
    expected = MATRIX.astype(dtype).astype(np.float32)
    assert np.array_equal(load(path).vectors(WORDS), expected)


def test_odd_rows(tmp_path: Path) -> None:
    matrix = np.array(MATRIX, dtype=np.float64)
    matrix[0], matrix[1], matrix[2] = 1e300, 0, np.nan
    (tmp_path / "vocab.txt").write_text("anvil\nbarge\ncandle\n\nflûte\nflûte\n")
    embedding = load(array(tmp_path, matrix))
    assert (embedding.n_words, embedding.info.n_duplicates) == (4, 1)
    assert embedding.info.unusable == ("anvil", "barge", "candle")
    assert "rows without a word, left out: 1" in embedding.info.notes
    assert np.array_equal(embedding.vectors(["flûte"])[0], MATRIX[4])


@pytest.mark.parametrize(
    ("matrix", "words", "said"),
    [
        (MATRIX, "\n".join(WORDS[:5]), "has 6 rows, vocab.txt has 5 words"),
        (MATRIX, "[1, 2]", "isn't a JSON list of words"),
        (MATRIX, '{"anvil": 0, "barge": 0}', "each word must have its row, 0 to 1, each once"),
        (MATRIX[0], "", "array of 1 dimensions"),
        (MATRIX.astype(int), "", "type int64"),
        (MATRIX[:0], "", "without rows"),
        (MATRIX[:, :0], "", "between 1 and"),
        (np.array([["a"]], dtype=object), "", "array of Python objects"),
    ],
)
def test_arrays_refused(tmp_path: Path, matrix: np.ndarray, words: str, said: str) -> None:
    (tmp_path / "vocab.txt").write_text(words)
    with pytest.raises(InputError, match=said):
        load(array(tmp_path, matrix))


def test_a_file_with_vectors_is_no_list_of_words(tmp_path: Path) -> None:
    path = array(tmp_path)
    write(tmp_path, text(WORDS, MATRIX, header=False), "model.txt")
    with pytest.raises(VocabularyError):
        load(path)
    with pytest.raises(InputError, match="choose it as the embedding itself"):
        load(path, vocabulary=tmp_path / "model.txt")


def test_an_array_truncated_or_damaged_anywhere(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS))
    content = array(tmp_path).read_bytes()
    for length in range(len(content)):
        with pytest.raises(InputError):
            load(write(tmp_path, content[:length], "model.npy"))
    for place in range(130):
        damaged = bytearray(content)
        damaged[place] ^= 0x55
        try:
            assert load(write(tmp_path, bytes(damaged), "model.npy")).n_words == 6
        except InputError:
            continue


def test_an_array_that_claims_too_much(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS))
    content = array(tmp_path).read_bytes().replace(b"(6, 5), }       ", b"(1000000000, 5)}")
    with pytest.raises(InputError, match="truncated, 1,000,000,000 × 5 values"):
        load(write(tmp_path, content, "model.npy"))


# gensim's own files


def _vectors(folder: Path, **options: object) -> Path:
    model = KeyedVectors(5)
    model.add_vectors(WORDS, MATRIX)
    model.save(str(folder / "model.kv"), **options)
    return folder / "model.kv"


def _trained(folder: Path) -> Path:
    model = Word2Vec([WORDS] * 3, vector_size=5, min_count=1, epochs=1)
    model.wv.vectors[:] = MATRIX[[WORDS.index(word) for word in model.wv.index_to_key]]
    model.save(str(folder / "model.model"))
    return folder / "model.model"


@pytest.mark.parametrize(
    "make", [_vectors, _trained, lambda folder: _vectors(folder, sep_limit=0, separately=["vectors"])]
)
def test_gensim_files_once_they_are_trusted(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    found = sniff(path)
    assert found.format in ("gensim KeyedVectors (a Python pickle)", "gensim Word2Vec (a Python pickle)")
    assert "can run any program" in found.needs_trust
    for read in (load, lambda path: import_embedding(path, tmp_path / "imported")):
        with pytest.raises(TrustError, match="Confirm that you trust"):
            read(path)
    assert not (tmp_path / "imported.part").exists()
    info = import_embedding(path, tmp_path / "imported", trusted=True)
    assert len(info.companions) == len(list(tmp_path.glob("*.npy")))
    for embedding in (load(path, trusted=True), open_embedding(tmp_path / "imported")):
        assert embedding.dimensions == 5
        assert np.array_equal(embedding.vectors(WORDS), MATRIX)
    assert load(path, trusted=True, tokens=WORDS[:2]).n_words == 6


@pytest.mark.parametrize(
    "name", ["model-from-gensim-3.8.0.w2v", "old_keyedvectors_320.dat", "word2vec_old_sep", "word2vec_3.3"]
)
def test_old_gensim_files(name: str) -> None:
    theirs = (KeyedVectors if "keyed" in name else Word2Vec).load(str(GENSIM_FILES / name))
    theirs = getattr(theirs, "wv", theirs)
    embedding = load(GENSIM_FILES / name, trusted=True)
    assert np.array_equal(embedding.vectors(theirs.index_to_key), theirs.vectors.astype(np.float32))


def test_a_fasttext_model_of_gensims_keeps_its_n_grams(tmp_path: Path) -> None:
    model = FastText([WORDS] * 3, vector_size=5, min_count=1, epochs=1, bucket=40)
    model.save(str(tmp_path / "model.model"))
    import_embedding(tmp_path / "model.model", tmp_path / "imported", trusted=True)
    assert sniff(tmp_path / "model.model").has_subwords
    for embedding in (
        load(tmp_path / "model.model", trusted=True, subwords=True),
        open_embedding(tmp_path / "imported", subwords=True),
    ):
        made = embedding.vectors(["zzqx", "anvil"])
        assert np.abs(made - np.array([model.wv["zzqx"], model.wv["anvil"]])).max() < 1e-6


def test_an_array_that_is_missing_beside_the_model(tmp_path: Path) -> None:
    path = _vectors(tmp_path, sep_limit=0, separately=["vectors"])
    (tmp_path / "model.kv.vectors.npy").unlink()
    with pytest.raises(InputError, match=r"model\.kv\.vectors\.npy isn't there"):
        import_embedding(path, tmp_path / "imported", trusted=True)
    assert os.listdir(tmp_path) == ["model.kv"]


class _Harmful:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return os.mkdir, (str(self.path),)


def test_even_a_trusted_pickle_runs_nothing_but_gensim(tmp_path: Path) -> None:
    model = KeyedVectors(5)
    model.add_vectors(WORDS, MATRIX)
    model.harm = _Harmful(tmp_path / "harm")
    (tmp_path / "model.kv").write_bytes(pickle.dumps(model))
    with pytest.raises(InputError, match=r"asks for posix\.mkdir|asks for nt\.mkdir"):
        load(tmp_path / "model.kv", trusted=True)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("name", ["gensim.utils check_output", "gensim.models os.system", "builtins eval", "os system"])
def test_names_that_no_model_needs(tmp_path: Path, name: str) -> None:
    module, function = name.split(" ")
    content = b"\x80\x02cgensim.models.keyedvectors\nKeyedVectors\n0c" + f"{module}\n{function}\n".encode() + b"."
    with pytest.raises(InputError, match="wasn't opened"):
        load(write(tmp_path, content), trusted=True)


def test_pickles_that_are_no_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"pickle, but not of a gensim model.*save_word2vec_format"):
        sniff(write(tmp_path, pickle.dumps({"word": 1})))
    with pytest.raises(InputError, match="has no vectors of words"):
        load(GENSIM_FILES / "dtm_test.dict", trusted=True)


def test_a_pickle_truncated_anywhere(tmp_path: Path) -> None:
    content = _vectors(tmp_path).read_bytes()
    for length in range(0, len(content), 7):
        with pytest.raises(InputError):
            load(write(tmp_path, content[:length], "model.kv"), trusted=True)


# Similarities


CSV = """token_a,token_b,similarity
anvil,barge,0.5
barge,candle,-0.25
new york,anvil,1.5
anvil,anvil,1
"""


def similarities(tmp_path: Path, content: str | bytes = CSV, name: str = "model.csv") -> Path:
    return write(tmp_path, content.encode() if isinstance(content, str) else content, name)


@pytest.mark.parametrize("route", ["load", "imported", "gzip", "semicolon", "tab", "bom"])
def test_similarities_in_an_embeddings_place(tmp_path: Path, route: str) -> None:
    path = similarities(tmp_path)
    if route == "gzip":
        path = write(tmp_path, gzip.compress(CSV.encode()), "model.gz")
    if route == "semicolon":
        path = similarities(tmp_path, CSV.replace(",", ";").replace(".", ",").replace("\n", "\r\n"))
    if route == "tab":
        path = similarities(tmp_path, CSV.replace(",", "\t"))
    if route == "bom":
        path = similarities(tmp_path, "\ufeff" + CSV)
    found = sniff(path)
    assert (found.kind, found.n_expected, found.dimensions) == ("similarities", 4, 0)
    assert found.sentence().startswith("similarities of pairs (CSV)")
    if route == "imported":
        import_embedding(path, tmp_path / "imported")
        assert sorted(os.listdir(tmp_path / "imported")) == ["info.json", "pairs.arrow", "vocabulary.arrow"]
        path = tmp_path / "imported"
    model = load(path)
    assert isinstance(model, Similarities)
    assert (model.kind, model.n_words, model.n_pairs, model.dimensions) == ("similarities", 4, 4, 0)
    a, b = (
        ["anvil", "barge", "candle", "anvil", "anvil", "anvil", "dune"],
        ["barge", "anvil", "barge", "new_york", "new york", "candle", "dune"],
    )
    expected = [0.5, 0.5, -0.25, np.nan, 1.5, np.nan, np.nan]
    assert np.array_equal(model.cosines(a, b), expected, equal_nan=True)
    assert model.missing(["anvil", "dune"]) == ["dune"]
    assert model.reasons(["dune"]) == {"dune": "not in the vocabulary"}
    assert model.spelling(["candle", "dune"]) == ["candle", None]
    assert model.neighbours("anvil") == [("new york", 1.5), ("barge", 0.5)]
    assert "similarities outside [−1, 1], kept as they are: 1" in model.info.notes
    assert model.cosines([], []).shape == (0,)
    for ask in (
        lambda: model.vectors(["anvil"]),
        model.norms_summary,
        model.duplicate_vectors,
        model.with_subwords,
        lambda: model.random_cosines(3, rng=np.random.default_rng(0)),
    ):
        with pytest.raises(InputError, match="it has no vectors"):
            ask()


def test_similarities_are_evaluated(tmp_path: Path) -> None:
    dataset = pd.DataFrame(
        {"token_a": ["anvil", "barge", "anvil"], "token_b": ["barge", "candle", "candle"], "score": [0.9, 0.1, 0.5]}
    )
    evaluation = evaluate(dataset, load(similarities(tmp_path)), notion="similarity")
    assert (evaluation.overall.n_items, evaluation.overall.n_covered) == (3, 2)
    assert evaluation.overall.rho.estimate == pytest.approx(1)


def test_the_demo_similarities() -> None:
    path = Path(__file__).resolve().parents[2] / "data" / "similarity.csv"
    model = load(path)
    assert model.info.n_pairs == 760
    assert model.info.notes == ("columns that aren't needed, left out: area",)
    assert model.cosines(["marketing"], ["sales"]) == [0.648918]


def test_contradictions_are_reported_with_their_rows(tmp_path: Path) -> None:
    content = CSV + "barge,anvil,0.5\nbarge,anvil,0.6\ncandle,barge,0.25\n"
    with pytest.raises(InputError, match="contradicts itself in 2 rows") as caught:
        load(similarities(tmp_path, content))
    assert [(issue.row, issue.column) for issue in caught.value.issues] == [(7, "similarity"), (8, "similarity")]
    assert "'barge' and 'anvil' have the similarity 0.6, row 2 says 0.5" in str(caught.value)
    model = load(similarities(tmp_path, CSV + "barge,anvil,0.50\n"))
    assert "pairs that stood there before with the same value, left out: 1" in model.info.notes


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("anvil,dune,inf", "row 6, column similarity: must be a number .found 'inf'"),
        ("anvil,dune,high", "found 'high'"),
        ("anvil,dune,1_0", "found '1_0'"),
        ("anvil,,0.1", "row 6, column token_b: the token is missing"),
        ("anvil,dune", "row 6: the row stops after 2 fields, and 3 are needed"),
        ("anvil,dune,0.5,more", "row 6: the row has 4 fields, more than the header's 3"),
        ('"a, b","c, d",0.5\n"e, f","g,0.5', "row 7: a quoted field is never closed"),
        ("fl\udcfbte,dune,0.5", "line 6: the text isn't valid UTF-8"),
    ],
)
def test_similarities_refused(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        import_embedding(
            similarities(tmp_path, (CSV + line + "\n").encode("utf-8", "surrogateescape")), tmp_path / "imported"
        )
    assert os.listdir(tmp_path) == ["model.csv"]


def test_empty_similarities_are_absent(tmp_path: Path) -> None:
    model = load(similarities(tmp_path, CSV + "anvil,dune,\n\n  \nanvil,ember,nan\n"))
    assert "rows without a similarity, left out: 2" in model.info.notes
    assert model.missing(["dune"]) == ["dune"]
    with pytest.raises(InputError, match="holds no similarities"):
        load(similarities(tmp_path, "token_a,token_b,similarity\na,b,\n"))
    with pytest.raises(InputError, match=r"several columns of one name \(similarity, similarity\)"):
        load(similarities(tmp_path, "token_a,token_b,similarity,similarity\na,b,1,2\n"))


def test_similarities_in_another_encoding(tmp_path: Path) -> None:
    path = similarities(tmp_path, CSV.replace("barge", "flûte").encode("latin-1"))
    assert sniff(path).needs_encoding == "latin-1"
    assert load(path, encoding="latin-1").cosines(["flûte"], ["anvil"]) == [0.5]


@pytest.mark.parametrize("name", ["pairs.arrow", "vocabulary.arrow", "info.json"])
def test_damaged_similarities(tmp_path: Path, name: str) -> None:
    import_embedding(similarities(tmp_path), tmp_path / "imported")
    (tmp_path / "imported" / name).write_bytes(b"ARROW1")
    with pytest.raises(InputError, match=r"Import (it|the|them)"):
        open_embedding(tmp_path / "imported")


# A cell across lines with a comma at an end may be two rows as well: such a file is refused, see the last test.
TOKEN = st.text('abc ü,";\n', min_size=1, max_size=3).map(str.strip).filter(bool)
TOKEN = TOKEN.filter(lambda token: "\n" not in token or token.strip(",") == token)


@settings(max_examples=60, deadline=None)
@given(
    pairs=st.dictionaries(st.tuples(TOKEN, TOKEN).map(lambda pair: tuple(sorted(pair))), st.floats(-2, 2), min_size=1),
    turned=st.booleans(),
)
def test_what_pandas_writes_is_read(tmp_path_factory: pytest.TempPathFactory, pairs: dict, turned: bool) -> None:
    path = tmp_path_factory.mktemp("pairs") / "model.csv"
    rows = [(b, a, value) if turned else (a, b, value) for (a, b), value in pairs.items()]
    pd.DataFrame(rows, columns=["token_a", "token_b", "similarity"]).to_csv(path, index=False)
    model = load(path)
    a, b = zip(*pairs, strict=True)
    assert model.cosines(a, b).tolist() == list(pairs.values())
    assert model.cosines(b, a).tolist() == model.cosines(a, b).tolist()


def test_a_cell_that_may_be_two_rows_is_refused_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "model.csv"
    pd.DataFrame([(";", ",\n,", 0.0)], columns=["token_a", "token_b", "similarity"]).to_csv(path, index=False)
    with pytest.raises(InputError, match="row 3, column token_a: the token is missing"):
        load(path)
