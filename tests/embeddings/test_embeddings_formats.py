"""Reading embedding files: what they are recognised as, what comes out, and what is refused with which words."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from embedding_files import binary, numbers, tarred, text, write
from hypothesis import given, settings
from hypothesis import strategies as st

from core.embeddings import EmbeddingInfo, EncodingError, import_embedding, load, open_embedding, sniff
from core.embeddings.readers import text as text_reader
from core.embeddings.readers import word2vec_binary
from core.errors import InputError

WORDS = ["anvil", "barge", "candle", "dune", "ember", "flute"]
# The vectors of most files in ../shared/cases.
CASES = np.array(
    [
        [0.9, 0.1, 0, 0.2],
        [0.8, 0.3, 0.1, 0],
        [0.1, 0.9, 0.2, 0.1],
        [0, 0.2, 0.9, 0.3],
        [0.2, 0.8, 0.4, 0],
        [0.3, 0.1, 0.2, 0.9],
    ],
    dtype=np.float32,
)


def check(path: Path, words: list[str], matrix: np.ndarray) -> None:
    """The file holds these words in this order with these vectors."""
    embedding = load(path)
    assert embedding.n_words == len(words)
    assert embedding.spelling(words) == words
    assert np.array_equal(embedding.vectors(words), matrix)


@pytest.mark.parametrize(
    ("case", "header"),
    [
        ("01-glove-noheader.txt", False),
        ("06-binary-named-txt.txt", True),
        ("12-plain-named.vec.gz", True),
        ("12c-zipped.vec.zip", True),
        ("17-bom-header.vec", True),
        ("18-crlf-trailing-space.vec", True),
        ("03-header-count-too-big.vec", True),
    ],
)
def test_sound_cases_load_whole(shared: Path, case: str, header: bool) -> None:
    path = shared / "cases" / case
    recognised = sniff(path)
    assert (recognised.header, recognised.dimensions) == (header, 4)
    check(path, WORDS, CASES)


def test_case_02_words_with_spaces(shared: Path) -> None:
    embedding = load(shared / "cases" / "02-glove-space-tokens.txt")
    assert embedding.n_words == 8
    spaced = [". . .", "at shop.example"]
    assert np.array_equal(embedding.vectors(spaced), np.array([[0.1, 0.1, 0.2, 0.3], [0.3, 0.2, 0.2, 0.1]], np.float32))


def test_case_03_says_both_counts(shared: Path) -> None:
    notes = load(shared / "cases" / "03-header-count-too-big.vec").info.notes
    assert notes == ("the first line says 7 words, 6 were found",)


def test_case_06_binary_is_told_by_content(shared: Path) -> None:
    assert sniff(shared / "cases" / "06-binary-named-txt.txt").format == word2vec_binary.FORMAT
    assert sniff(shared / "cases" / "17-bom-header.vec").format == text_reader.FORMAT


def test_case_09_unusable_vectors_are_listed(shared: Path) -> None:
    embedding = load(shared / "cases" / "09-zero-nan-inf.vec")
    assert (embedding.info.n_zero, embedding.info.n_not_finite) == (1, 2)
    assert embedding.info.unusable == ("flute", "gravel", "harbor")
    assert embedding.missing([*WORDS, "gravel", "harbor"]) == ["flute", "gravel", "harbor"]
    assert np.isnan(embedding.cosines(["anvil", "anvil", "gravel"], ["flute", "harbor", "gravel"])).all()


def test_case_10_unicode_spaces_belong_to_the_word(shared: Path) -> None:
    embedding = load(shared / "cases" / "10-unicode-space-tokens.vec")
    assert embedding.n_words == 9
    assert embedding.vectors(["ra\u00a0de", "ra\u3000de"])[:, 0].tolist() == pytest.approx([0.2, 0.3])


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("05-truncated.bin", "truncated"),
        ("07-latin1.vec", "line 7: the word isn't valid UTF-8; read as Latin-1 it would be 'flûte'"),
        ("13-lfs-pointer.bin", "Git LFS pointer, not the file itself"),
    ],
)
def test_cases_refused(shared: Path, case: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        load(shared / "cases" / case)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (tarred(text(WORDS, CASES)), "tar archive: unpack"),
        (pickle.dumps({"word": 1}), "pickle.*save_word2vec_format"),
        ("anvil 0.1 0.2".encode("utf-16"), "UTF-16"),
        (b"<!DOCTYPE html><html>Not found</html>", "web page"),
        (b"PAR1....", "Parquet"),
        (b"area,token_a,token_b,score\nTools,anvil,barge,0.5\n", "isn't an embedding of a known format"),
        (b"anvil 15\nbarge 12\n", "isn't an embedding of a known format"),
        (b"6 4\n", "isn't an embedding of a known format"),
        (b"3 2\nSome words that somebody wrote down,\nwithout any numbers among them.\n", "isn't an embedding"),
        (b"\x00" * 100, "isn't an embedding of a known format"),
        (b"6 0\n" + text(WORDS, CASES, header=False), "between 1 and"),
        (b"6 999999999\n" + text(WORDS, CASES, header=False), "between 1 and"),
        (b"6 5\n" + text(WORDS, CASES, header=False), "says 5 dimensions, the lines after it have 4"),
        (binary(WORDS, CASES)[:-30], "truncated"),
        (binary(WORDS, CASES, n_words=7), "truncated"),
        (binary(WORDS, CASES, n_words=0), "0 words"),
        (text(WORDS, CASES).rsplit(b" ", 2)[0], "line 7: the file is truncated, its last line has 2 of 4"),
        (text(WORDS, CASES, header=False).replace(b"0.1", b"0,1", 1), "line 1: 4 numbers .* ends in 2"),
        (text(WORDS, CASES).replace(b"dune 0.0", b"dune"), "line 5: 4 numbers .* line ends in 3 .*'dune"),
        (text(WORDS, CASES).replace(b"dune", b"d\xfcne").replace(b"\n", b"\r\n"), "line 5: .*'düne'"),
    ],
)
def test_refused_with_the_reason(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        load(write(tmp_path, content))
    assert "model.bin" in str(caught.value)


def test_case_07_in_the_encoding_that_is_offered(shared: Path, tmp_path: Path) -> None:
    path = shared / "cases" / "07-latin1.vec"
    found = sniff(path)
    assert found.needs_encoding == "latin-1"
    assert found.notes == ("line 7: not valid UTF-8; in latin-1 it begins 'flûte'",)
    with pytest.raises(EncodingError) as caught:
        import_embedding(path, tmp_path / "imported")
    assert caught.value.suggested == "latin-1"
    assert not list(tmp_path.iterdir())
    info = import_embedding(path, tmp_path / "imported", encoding="latin-1")
    assert sniff(path, encoding="latin-1").needs_encoding == ""
    assert (info.n_words, info.encoding) == (6, "iso8859-1")
    assert open_embedding(tmp_path / "imported").missing([*WORDS[:5], "flûte"]) == []
    # Another encoding makes other words of the same file, so it is another embedding.
    assert info.identity != import_embedding(path, tmp_path / "second", encoding="cp1251").identity != info.sha256


def test_what_is_not_utf8_can_be_marked(tmp_path: Path) -> None:
    content = text(WORDS, CASES).replace(b"dune", b"d\xfcne")
    embedding = load(write(tmp_path, content), encoding="utf-8-replace")
    assert embedding.missing(["d\ufffdne"]) == []
    assert embedding.info.notes == ("words that aren't valid UTF-8, mended with U+FFFD: 1 ('d\ufffdne')",)
    assert EmbeddingInfo.from_json(embedding.info.to_json()) == embedding.info


@pytest.mark.parametrize(
    ("encoding", "word"),
    [("latin-1", "flûte"), ("cp1251", "лодка"), ("cp932", "表示"), ("gb18030", "竖笛"), ("euc-kr", "피리")],
)
def test_encodings(tmp_path: Path, encoding: str, word: str) -> None:
    words = [word, "anvil"]
    for content in (
        text(words, CASES[:2]).decode().encode(encoding),
        binary([word.encode(encoding), "anvil"], CASES[:2]),
    ):
        embedding = load(write(tmp_path, content), encoding=encoding)
        assert np.array_equal(embedding.vectors(words), CASES[:2])


@pytest.mark.parametrize("encoding", ["utf-16", "no such", "rot13", "base64", ""])
def test_encodings_that_can_not_be(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(InputError, match=r"encoding|line by line"):
        load(write(tmp_path, text(WORDS, CASES)), encoding=encoding)


def test_a_last_line_without_an_end_is_noted(tmp_path: Path) -> None:
    assert "no line end" in load(write(tmp_path, text(WORDS, CASES)[:-1])).info.notes[0]


def test_messages_use_the_name_that_is_given(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^vectors\.vec: the file is truncated"):
        load(write(tmp_path, binary(WORDS, CASES)[:-3], "upload-1234"), name="vectors.vec")
    assert load(write(tmp_path, binary(WORDS, CASES)), name="vectors.vec").name == "vectors.vec"


def test_no_such_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file"):
        sniff(tmp_path / "absent.bin")
    with pytest.raises(InputError, match="is a folder"):
        load(tmp_path)


@pytest.mark.parametrize("separator", [" ", "\t"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("end", ["\n", "\r\n", " \n", "\t\n", " \r\n", "\n\n"])
def test_text_variants(tmp_path: Path, separator: str, header: bool, end: str) -> None:
    check(write(tmp_path, text(WORDS, CASES, header=header, separator=separator, end=end)), WORDS, CASES)


def test_text_with_a_tab_after_the_word_only(tmp_path: Path) -> None:
    lines = [line.replace(b" ", b"\t", 1) for line in text(WORDS, CASES, header=False).splitlines(keepends=True)]
    check(write(tmp_path, b"".join(lines)), WORDS, CASES)


def test_text_without_a_last_line_end(tmp_path: Path) -> None:
    check(write(tmp_path, text(WORDS, CASES).rstrip()), WORDS, CASES)


def test_odd_words_stay_as_they_are(tmp_path: Path) -> None:
    # Quotes, words that look like missing values or numbers, a lone carriage return, a line separator, emoji.
    words = [
        '"',
        "'s",
        '"quoted"',
        "NA",
        "nan",
        "null",
        "1999",
        "3.5",
        "a\rb",
        "a\u2028b",
        "👩‍🚀",
        "#",
        "\\",
        "new york city",
    ]
    check(write(tmp_path, text(words, numbers(len(words), 5))), words, numbers(len(words), 5))
    check(write(tmp_path, text(words, numbers(len(words), 5), separator="\t")), words, numbers(len(words), 5))


def test_lines_without_a_word_are_left_out_and_noted(tmp_path: Path) -> None:
    content = text(WORDS, CASES).replace(b"dune 0.0", b" 0.0")
    embedding = load(write(tmp_path, content))
    assert embedding.n_words == 5
    assert embedding.info.notes == ("lines without a word, left out: 1",)
    assert embedding.missing(WORDS) == ["dune"]


def test_a_header_of_one_dimension(tmp_path: Path) -> None:
    check(write(tmp_path, text(WORDS, numbers(6, 1))), WORDS, numbers(6, 1))


def test_order_and_odd_lines_over_many_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_reader, "CHUNK_BYTES", 700)
    words = [f"the word {i}" if i % 7 == 0 else f"word{i}" for i in range(500)]
    check(write(tmp_path, text(words, numbers(500, 6))), words, numbers(500, 6))


def test_line_numbers_over_many_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_reader, "CHUNK_BYTES", 300)
    content = text([f"word{i}" for i in range(500)], numbers(500, 6)).replace(b"word321 ", b"word321 x")
    with pytest.raises(InputError, match=r"line 323: 6 numbers"):
        load(write(tmp_path, content))


@pytest.mark.parametrize("newline", [b"\n", b""])
@pytest.mark.parametrize("chunk", [1, 100, 8 << 20])
def test_binary_with_and_without_line_feeds(
    tmp_path: Path, newline: bytes, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word2vec_binary, "CHUNK_BYTES", chunk)
    words = [f"wörd{i}" for i in range(300)]
    check(write(tmp_path, binary(words, numbers(300, 7), newline=newline)), words, numbers(300, 7))


def test_binary_values_that_look_like_separators(tmp_path: Path) -> None:
    # Every byte of the later rows is a space or a line feed.
    row = np.frombuffer(b"\x20\x0a" * 8, dtype="<f4")
    matrix = np.vstack([numbers(2, 4), np.tile(row, (4, 1))])
    check(write(tmp_path, binary(WORDS, matrix)), WORDS, matrix)


def test_binary_words_that_are_not_utf8_are_mended_and_noted(tmp_path: Path) -> None:
    cut = "façade".encode()[:3]
    embedding = load(write(tmp_path, binary(["anvil", cut, *WORDS[1:]], numbers(7, 4))))
    assert embedding.n_words == 7
    assert embedding.vectors(["fa\ufffd"]).tolist() == [numbers(7, 4)[1].tolist()]
    assert "aren't valid UTF-8, mended with U+FFFD: 1 " in embedding.info.notes[0]


def test_binary_with_more_than_the_header_says(tmp_path: Path) -> None:
    embedding = load(write(tmp_path, binary(WORDS, CASES, n_words=5)))
    assert embedding.n_words == 5
    assert embedding.info.notes == ("bytes after the last of 5 words, left out: 22",)


def test_same_vectors_as_gensim(tmp_path: Path) -> None:
    from gensim.models import KeyedVectors

    model = KeyedVectors(30)
    words, matrix = [f"word{i}" for i in range(200)], numbers(200, 30)
    model.add_vectors(words, matrix)
    for is_binary in (True, False):
        path = tmp_path / "gensim"
        model.save_word2vec_format(path, binary=is_binary)
        assert np.array_equal(load(path).vectors(words), matrix)
        mine = write(tmp_path, binary(words, matrix) if is_binary else text(words, matrix))
        theirs = KeyedVectors.load_word2vec_format(mine, binary=is_binary)
        assert np.array_equal(load(mine).vectors(words), theirs[words])


@settings(max_examples=60, deadline=None)
@given(content=st.binary(max_size=200) | st.binary(max_size=60).map(lambda tail: b"3 2\na 1 2\nb 3 4\n" + tail))
def test_any_bytes_load_or_are_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = write(tmp_path_factory.mktemp("any"), content)
    try:
        outcome = f"{path.name}: {load(path).n_words} words"
    except InputError as error:
        outcome = str(error)
    assert path.name in outcome
    assert not outcome.endswith(" 0 words")


WORD = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=8)


@settings(max_examples=40, deadline=None)
@given(words=st.lists(WORD, min_size=1, max_size=12, unique=True), seed=st.integers(0, 99), is_binary=st.booleans())
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], seed: int, is_binary: bool
) -> None:
    matrix = numbers(len(words), 3, seed)
    content = binary(words, matrix) if is_binary else text(words, matrix)
    check(write(tmp_path_factory.mktemp("round"), content), words, matrix)
