"""Files of vectors as people bring them: words with spaces, line ends of all kinds, R's quotation marks, containers
that hold no words, names that aren't UTF-8, similarities of any size."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import types
import zipfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from embedding_files import binary, numbers, write
from hypothesis import given, settings
from hypothesis import strategies as st
from property_runs import examples

from core.__main__ import cli
from core.base.durable import shown_name, shown_path
from core.embeddings import import_embedding, load, open_embedding, sniff
from core.embeddings.readers import text, word2vec_binary
from core.encoders.bert import read_word_pieces
from core.encoders.static import read_tensors
from core.errors import InputError
from core.evaluation import evaluate

SECOND = Path(__file__).parents[1] / "cases" / "second"
SIX = ["anvil", "barge", "candle", "dune", "ember", "flute"]
ODD = os.fsdecode(b"mod\xe8le")


def held(embedding) -> dict[str, list[float]]:
    words = embedding.vocabulary.to_pylist()
    return dict(zip(words, embedding.vectors(words).tolist(), strict=True))


def evaluated(dataset: str, model: str) -> dict:
    done = CliRunner().invoke(cli, ["evaluate", str(SECOND / dataset), str(SECOND / model), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["models"][0]


class TestWordsWithSpaces:
    """word2vec's binary format says nowhere where a word ends."""

    def test_the_case(self):
        found = evaluated("82-dataset.csv", "82-spaced-words.bin")
        assert (found["n_covered"], found["rho"]["estimate"]) == (7, 1.0)
        embedding = load(SECOND / "82-spaced-words.bin")
        assert {"ice", "ice cream", "washing", "washing machine"} <= set(embedding.vocabulary.to_pylist())
        assert embedding.n_words == 40
        assert max(map(max, held(embedding).values())) < 10
        assert "words that hold spaces: 2" in embedding.info.notes[0]

    @pytest.mark.parametrize("newline", [b"", b"\n"])
    @pytest.mark.parametrize("chunk", [1, 300, 8 << 20])
    @pytest.mark.parametrize(
        "words",
        [
            ["ice cream", "ice", "dune"],  # the first, before one that begins like it
            ["ice", "dune", "new york city"],  # the last
            ["ice tea", "new york city", "a b c d e f", "dune", "I m"],  # four bytes further: values keep their places
            ["é à", " the", "end "],
        ],
    )
    def test_each_has_its_own_vector(self, tmp_path, monkeypatch, newline, chunk, words):
        monkeypatch.setattr(word2vec_binary, "CHUNK_BYTES", chunk)
        words, matrix = [*words, *(f"w{i}" for i in range(40))], numbers(len(words) + 40, 12, seed=3)
        words = [*words[1:], words[0]] if chunk == 300 else words
        found = held(load(write(tmp_path, binary(words, matrix, newline=newline))))
        assert found == dict(zip(words, matrix.tolist(), strict=True))

    @settings(deadline=None, max_examples=examples(150))
    @given(
        st.lists(
            st.from_regex(r"[a-zà-ÿ一-十0-9'\-]{1,6}( [a-zà-ÿ0-9]{1,7}){0,3}", fullmatch=True),
            min_size=1, max_size=12, unique=True,
        ),
        st.integers(3, 40), st.sampled_from([b"", b"\n"]), st.integers(0, 99),
    )  # fmt: skip
    def test_right_or_refused_with_the_word(self, tmp_path_factory, words, dimensions, newline, seed):
        matrix = numbers(len(words), dimensions, seed)
        path = write(tmp_path_factory.mktemp("any"), binary(words, matrix, newline=newline))
        try:
            found = held(load(path))
        except InputError as error:
            assert any(repr(word.split(" ")[0]) in str(error) for word in words)  # noqa: PT017
        else:
            assert found == dict(zip(words, matrix.tolist(), strict=True))

    def test_odd_values_are_read_where_nothing_else_fits(self, tmp_path):
        matrix = numbers(8, 20)
        matrix[1], matrix[3, 2], matrix[5], matrix[6] = 0, np.nan, 3e12, 1e-20
        words = ["anvil", "nil", "ice cream", "odd", "dune", "huge", "tiny", "new york"]
        found = load(write(tmp_path, binary(words, matrix, newline=b"")))
        assert found.vocabulary.to_pylist() == words
        assert np.array_equal(found._matrix, matrix, equal_nan=True)

    def test_what_cannot_be_told_is_refused_with_the_word(self, tmp_path):
        spaces = np.frombuffer(b"    " * 4, dtype="<f4")
        content = binary(
            [*SIX[:2], "ice cream", "dune"], np.vstack([numbers(2, 4), spaces, numbers(1, 4)]), newline=b""
        )
        with pytest.raises(InputError, match=r"word 3 begins 'ice' or 'ice cream'.* binary=False"):
            load(write(tmp_path, content))

    def test_words_that_are_cut_between_bytes_beside_words_with_spaces(self, tmp_path):
        words = ["anvil", b"fa\xc3", "ice cream", b"caf\xe9 au lait", "dune"]
        embedding = load(write(tmp_path, binary(words, numbers(5, 30), newline=b"")))
        assert embedding.vocabulary.to_pylist() == ["anvil", "fa\ufffd", "ice cream", "caf\ufffd au lait", "dune"]
        assert embedding._matrix.tolist() == numbers(5, 30).tolist()

    def test_as_gensim_writes_them(self, tmp_path):
        from gensim.models import KeyedVectors

        words = ["hot dog", "dog", "new york city", *SIX]
        vectors = KeyedVectors(25)
        vectors.add_vectors(words, numbers(9, 25))
        vectors.save_word2vec_format(str(tmp_path / "model.bin"), binary=True)
        assert held(load(tmp_path / "model.bin")) == dict(zip(words, numbers(9, 25).tolist(), strict=True))


class TestLineEnds:
    def lines(self, ends, header=True) -> bytes:
        rows = [f"{word} {i} .5 -{i}" for i, word in enumerate(SIX)]
        return "".join(
            line + ends[i % len(ends)] for i, line in enumerate([*(["6 3"] if header else []), *rows])
        ).encode()

    def test_the_case(self):
        embedding = load(SECOND / "92-cr-only.vec")
        assert embedding.vocabulary.to_pylist() == SIX
        assert embedding.info.notes == ()

    @pytest.mark.parametrize("header", [True, False])
    @pytest.mark.parametrize("chunk", [1, 7, 4 << 20])
    @pytest.mark.parametrize(
        "ends",
        [["\r"], ["\r\n"], ["\n", "\r"], ["\r\n", "\r"], ["\r", "\r\n", "\n"], ["\n", "\n", "\n", "\r"], ["\r\r"]],
    )
    def test_any_end_and_all_of_them_mixed(self, tmp_path, monkeypatch, header, chunk, ends):
        monkeypatch.setattr(text, "CHUNK_BYTES", chunk)
        embedding = load(write(tmp_path, self.lines(ends, header)))
        assert held(embedding) == {word: [i, 0.5, -i] for i, word in enumerate(SIX)}
        assert sniff(write(tmp_path, self.lines(ends, header))).dimensions == 3

    def test_one_that_stands_far_behind_the_beginning(self, tmp_path, monkeypatch):
        monkeypatch.setattr(text, "CHUNK_BYTES", 500)
        content = b"".join(b"w%d 1 2 %d\n" % (i, i) for i in range(300)) + b"x 1 2 3\ry 4 5 6\nz\rz 7 8 9\n"
        embedding = load(write(tmp_path, content))
        assert embedding.vectors(["x", "y", "z\rz"]).tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
        assert embedding.n_words == 303

    def test_lines_are_numbered_and_words_encoded_as_ever(self, tmp_path):
        with pytest.raises(InputError, match="line 4: 3 numbers"):
            load(write(tmp_path, self.lines(["\r"]).replace(b"candle 2 .5", b"candle .5")))
        found = sniff(write(tmp_path, self.lines(["\r"]).replace(b"candle", b"cand\xe9l")))
        assert (found.needs_encoding, found.notes[0][:6]) == ("latin-1", "line 4")

    @pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
    def test_lists_of_words_beside_an_array(self, tmp_path, end):
        np.save(tmp_path / "m.npy", numbers(6, 4))
        (tmp_path / "m.txt").write_bytes((end.join(SIX) + end).encode())
        assert load(tmp_path / "m.npy").vocabulary.to_pylist() == SIX

    def test_a_carriage_return_in_a_listed_word_is_a_part_of_it_where_the_rows_say_so(self, tmp_path):
        np.save(tmp_path / "m.npy", numbers(3, 4))
        (tmp_path / "m.txt").write_bytes(b"a\rb\nc\nd\n")
        assert load(tmp_path / "m.npy").vocabulary.to_pylist() == ["a\rb", "c", "d"]
        np.save(tmp_path / "m.npy", numbers(4, 4))
        assert load(tmp_path / "m.npy").vocabulary.to_pylist() == ["a", "b", "c", "d"]

    def test_lines_of_an_encoders_vocabulary_end_at_line_ends_only(self, tmp_path):
        (tmp_path / "vocab.txt").write_bytes("[PAD]\n\u2028\n\x85\n[UNK]\n[CLS]\n[SEP]\nsea\n".encode())
        assert list(read_word_pieces(tmp_path).vocabulary) == [
            "[PAD]",
            "\u2028",
            "\x85",
            "[UNK]",
            "[CLS]",
            "[SEP]",
            "sea",
        ]


class TestDressedWords:
    def test_the_case(self):
        found = evaluated("101-dataset.csv", "101-quoted-words.txt")
        assert found["n_covered"] == 3
        assert "quotation marks" in load(SECOND / "101-quoted-words.txt").info.notes[0]

    @pytest.mark.parametrize(
        ("content", "words", "said"),
        [
            ('"V1" "V2"\n"a" 1 2\n"ice cream" 3 4\n', ["a", "ice cream"], "names the columns"),
            ('"word" "V1" "V2"\r\n"1" "a" 1 2\r\n"2" "b" 3 4\r\n', ["a", "b"], "numbers of the rows, and its words"),
            ("1 a 1 2\n2 b 3 4\n3 c 5 6\n", ["a", "b", "c"], "numbers of the rows"),
            ("1 a 1 2\r2 b 3 4\r\r", ["a", "b"], "numbers of the rows"),
            ("0\ta\t1\t2\n1\tb\t3\t4\n", ["a", "b"], "numbers of the rows"),
            (r'"\"" 1 2' + "\n" + r'"say \"hi\"" 3 4' + "\n", ['"', 'say "hi"'], "quotation marks"),
            ('"""" 1 2\n"5"" nail" 3 4\n', ['"', '5" nail'], "quotation marks"),
            ('2 2\n"a" 1 2\n"b" 3 4\n', ["a", "b"], "quotation marks"),
        ],
    )
    @pytest.mark.parametrize("chunk", [1, 4 << 20])
    def test_marks_and_numbers_of_rows_are_left_out_and_told(self, tmp_path, monkeypatch, chunk, content, words, said):
        monkeypatch.setattr(text, "CHUNK_BYTES", chunk)
        embedding = load(write(tmp_path, content.encode(), "m.txt"))
        assert embedding.vocabulary.to_pylist() == words
        assert embedding.vectors(words)[:2].tolist() == [[1, 2], [3, 4]]
        assert any(said in note for note in embedding.info.notes)

    @pytest.mark.parametrize(
        "words", [['"', "a", '"quoted"'], ["1", "2", "3"], ["7 up", "3 m", "a"], ['"a', 'b"', '"c"']]
    )
    def test_words_that_are_so_by_themselves_stay(self, tmp_path, words):
        content = "".join(f"{word} {i} 2\n" for i, word in enumerate(words))
        assert load(write(tmp_path, content.encode(), "m.txt")).vocabulary.to_pylist() == words

    def test_what_is_dressed_only_here_and_there_is_told(self, tmp_path, monkeypatch):
        monkeypatch.setattr(text, "CHUNK_BYTES", 200)
        rows = "".join(f'"w{i}" {i} 2\n' for i in range(300))
        embedding = load(write(tmp_path, (rows + "bare 1 2\n").encode(), "m.txt"))
        assert embedding.vectors(["w299", "bare"]).tolist() == [[299, 2], [1, 2]]
        assert "without quotation marks: 1 (bare)" in embedding.info.notes[1]
        embedding = load(write(tmp_path, b'a 1 2\n"ice cream" 3 4\n', "m.txt"))
        assert 'in quotation marks, which are kept: 1 ("ice cream")' in embedding.info.notes[0]
        rows = "".join(f"{i} w{i} {i} 2\n" for i in range(300))
        with pytest.raises(InputError, match=r"'bare' doesn't.*row\.names"):
            load(write(tmp_path, (rows + "bare 1 2\n").encode(), "m.txt"))

    def test_a_list_of_words_beside_an_array(self, tmp_path):
        np.save(tmp_path / "m.npy", numbers(2, 4))
        for listed in ('"a"\n"ice cream"\n', '"1" "a"\n"2" "ice cream"\n', "1 a\n2 ice cream\n"):
            (tmp_path / "m.txt").write_text(listed)
            embedding = load(tmp_path / "m.npy")
            assert embedding.vocabulary.to_pylist() == ["a", "ice cream"]
            assert "quotation marks" in embedding.info.notes[1]


def code_in(message: str) -> str:
    """The Python that a message shows, without the remarks in brackets after it."""
    found = re.search(r"In Python: (.*?)\. (?:Write the words|Then choose)", message)
    assert found, message
    return found.group(1)


def refused(path: Path) -> str:
    with pytest.raises(InputError) as told:
        load(path)
    return str(told.value)


class TestContainers:
    def run(self, path: Path, monkeypatch) -> None:
        """Carry out what the message advises, beside the file."""
        monkeypatch.chdir(path.parent)
        exec(code_in(refused(path)), {})  # what a person would type

    @pytest.mark.parametrize(
        "arrays",
        [
            {"words": np.array(SIX), "vectors": numbers(6, 4)},
            {"emb": numbers(6, 4), "w": np.array([*SIX[:5], "ice cream"]), "counts": np.arange(6)},
            {"words": np.array(SIX, dtype=object), "vectors": numbers(6, 4)},
        ],
    )
    def test_npz(self, tmp_path, monkeypatch, arrays):
        np.savez(tmp_path / "my model.npz", **arrays)
        self.run(tmp_path / "my model.npz", monkeypatch)
        embedding = load(tmp_path / "my model.npy")
        assert embedding.n_words == 6
        assert embedding.vectors(["dune"]).tolist() == [numbers(6, 4)[3].tolist()]

    def test_the_case_of_an_npz(self, tmp_path, monkeypatch):
        shutil.copy(SECOND / "102b-arrays.npz", tmp_path)
        self.run(tmp_path / "102b-arrays.npz", monkeypatch)
        assert load(tmp_path / "102b-arrays.npy").vocabulary.to_pylist() == SIX

    def test_safetensors(self, tmp_path, monkeypatch):
        path = tmp_path / "102-static.safetensors"
        shutil.copy(SECOND / path.name, path)
        message = refused(path)
        assert "is a safetensors file" in message
        assert "tokenizer.json" in message
        try:
            import safetensors.numpy  # noqa: F401
        except ImportError:  # the way in which that package is called, with our own reader behind it
            stand_in = types.ModuleType("safetensors.numpy")
            stand_in.load_file = read_tensors
            monkeypatch.setitem(sys.modules, "safetensors", types.ModuleType("safetensors"))
            monkeypatch.setitem(sys.modules, "safetensors.numpy", stand_in)
        self.run(path, monkeypatch)
        (tmp_path / "102-static.txt").write_text("\n".join(SIX))
        assert held(load(tmp_path / "102-static.npy")).keys() == set(SIX)

    def test_of_several_tensors_none_is_chosen(self, tmp_path):
        header = json.dumps(
            {name: {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]} for name in ("one", "other")}
        ).encode()
        content = struct.pack("<Q", len(header)) + header + bytes(16)
        message = refused(write(tmp_path, content, "m.safetensors"))
        assert "NAME is one of its 2 arrays, such as one: 2 × 2, other: 2 × 2" in message
        packed = refused(write(tmp_path, gzip.compress(content), "m.safetensors.gz"))
        assert "m.safetensors.gz holds, packed by gzip, a safetensors file" in packed
        assert 'load_file("m.safetensors")' in packed

    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("m.gguf", b"GGUF\x03\0\0\0" + bytes(200), r"m\.gguf is a GGUF file.*np\.save\(\"m\.npy\""),
            ("m.rar", b"Rar!\x1a\x07\x01\0" + bytes(200), r"m\.rar is a RAR archive: unpack it"),
            ("m.rar", b"Rar!\x1a\x07\0" + bytes(200), r"m\.rar is a RAR archive: unpack it"),
            (
                "m.pt", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03." + bytes(90),
                r"m\.pt is a PyTorch file.*torch\.load\(\"m\.pt\".*np\.save\(\"m\.npy\"",
            ),
        ],
    )  # fmt: skip
    def test_by_name_with_a_way_out(self, tmp_path, name, content, said):
        assert re.match(said, refused(write(tmp_path, content, name)))

    def test_pytorch_as_it_is_written_today(self, tmp_path):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name in ("m/data.pkl", "m/version", "m/data/0"):
                archive.writestr(name, b"x" * 64)
        assert "m.pt is a PyTorch file" in refused(write(tmp_path, out.getvalue(), "m.pt"))
        compile(code_in(refused(tmp_path / "m.pt")), "told", "exec")

    def test_damaged_ones_are_told_apart_all_the_same(self, tmp_path):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("a.npy", b"\x93NUMPY\x01\0\x76\0{'descr'")
            archive.writestr("b.npy", b"")
        assert "several NumPy arrays in one file" in refused(write(tmp_path, out.getvalue(), "m.npz"))


class TestOddNames:
    @pytest.fixture
    def odd(self, tmp_path) -> Path:
        path = tmp_path / f"{ODD}.vec"
        try:
            shutil.copy(SECOND / "104-any-model.vec", path)
        except OSError:
            pytest.skip("the file system takes no such names")
        return path

    def test_shown(self):
        assert (shown_path(f"a/{ODD}"), shown_name(f"a/{ODD}"), shown_name("b/mère")) == (
            "a/mod\ufffdle", "mod\ufffdle", "mère",
        )  # fmt: skip

    def test_imported_and_nothing_left_beside(self, odd):
        target = odd.with_name("imported")
        assert import_embedding(odd, target).n_words == 6
        assert open_embedding(target).name == "mod\ufffdle.vec"
        assert [path.name for path in odd.parent.iterdir() if ".part" in path.name] == []
        assert load(odd, name=odd.name).name == "mod\ufffdle.vec"

    def test_with_words_of_an_odd_name(self, odd, tmp_path):
        array = odd.with_suffix(".npy")
        np.save(array, numbers(6, 4))
        odd.with_suffix(".txt").write_text("\n".join(SIX))
        info = import_embedding(array, tmp_path / "imported")
        assert info.companions[0][0] == "mod\ufffdle.txt"
        assert "mod\ufffdle.txt" in info.notes[0]

    def test_messages_can_be_written(self, odd):
        odd.write_bytes(b"")
        assert "mod\ufffdle.vec is empty" in refused(odd)
        odd.unlink()
        assert "mod\ufffdle.vec" in refused(odd)

    @pytest.mark.parametrize("error", [UnicodeEncodeError("utf-8", "x", 0, 1, "y"), KeyError("x"), KeyboardInterrupt()])
    def test_whatever_happens_no_part_stays(self, tmp_path, error):
        def fail(done, total):
            raise error

        path = write(tmp_path, b"a 1 2\nb 3 4\n", "m.vec")
        with contextlib.suppress(type(error)):
            import_embedding(path, tmp_path / "imported", progress=fail)
        assert [each.name for each in tmp_path.iterdir()] == ["m.vec"]

    def test_on_the_command_line(self, odd):
        command = [sys.executable, "-m", "core", "evaluate", str(SECOND / "101-dataset.csv"), str(odd)]
        told = subprocess.run(command, capture_output=True, timeout=120, check=True).stdout.decode()
        assert "3/3" in told


def test_results_of_an_odd_name_are_logged_as_they_can_be_shown(tmp_path, monkeypatch):
    from core.store import open_store
    from core.store.projects.project_commands import list_projects, read_log

    monkeypatch.setenv("RUNOFF_WORKSPACE", str(tmp_path / "workspace"))
    path = tmp_path / f"{ODD}.csv"
    shutil.copy(SECOND / "100-missing-words.csv", path)
    done = CliRunner().invoke(cli, ["import-archived", str(path), "--name", "trial"])
    assert done.exit_code == 0, done.output
    assert "mod\ufffdle.csv" in done.output
    store = open_store(tmp_path / "workspace")
    logged = [read_log(store, project.id) for project in list_projects(store)]
    assert "mod\ufffdle.csv" in str(logged)
    assert "\\udce8" not in ascii(logged)


class TestSmallSimilarities:
    """Similarities are ranked at any scale."""

    def test_the_case(self):
        found = evaluated("88-dataset.csv", "88-small-similarities.csv")
        assert [found[name]["estimate"] for name in ("rho", "tau", "rho_w", "tau_w")] == pytest.approx([1.0] * 4)

    @pytest.mark.parametrize("scale", [1e-300, 1e-15, 1.0, 30000.0, 1e200])
    @pytest.mark.parametrize("policy", ["common", "lowest"])
    @pytest.mark.parametrize("notion", ["relatedness", "similarity"])
    def test_at_any_scale_the_figures_are_the_same(self, tmp_path, scale, policy, notion):
        from core.dataset.files import read_dataset
        from core.evaluation import compare

        dataset = read_dataset((SECOND / "88-dataset.csv").read_bytes())
        dataset.attrs["notion"] = notion
        values = [0.9, 0.7, 0.7, 0.7 + 1e-14, 0.5, 0.4, 0.1 + 0.2, 0.3, 0.1, 0.05, 0.01]

        def figures(factor: float):
            rows = "".join(f"a{i},b{i},{factor * value!r}\n" for i, value in enumerate(values))
            model = load(write(tmp_path, f"token_a,token_b,similarity\n{rows}".encode(), "m.csv"))
            found = compare(dataset, [model], policy=policy).evaluations[0].overall
            return [found.rho.estimate, found.tau.estimate, found.rho_w.estimate, found.tau_w.estimate]

        assert figures(scale) == pytest.approx(figures(1.0), abs=1e-12)
        assert None not in figures(scale)

    def test_they_are_given_as_they_are_and_contradictions_are_relative(self, tmp_path):
        head = b"token_a,token_b,similarity\n"
        small = load(write(tmp_path, head + b"a,b,2e-15\na,c,1e-15\n", "m.csv"))
        assert small.cosines(["a", "a"], ["b", "c"]).tolist() == [2e-15, 1e-15]
        assert small.neighbours("a") == [("b", 2e-15), ("c", 1e-15)]
        with pytest.raises(InputError, match="contradicts itself"):
            load(write(tmp_path, head + b"a,b,2e-15\nb,a,1e-15\n", "m.csv"))
        same = load(write(tmp_path, head + b"a,b,30000\nb,a,30000.000000000004\n", "m.csv"))
        assert same.n_pairs == 1

    def test_noise_of_cosines_makes_no_ranks(self, tmp_path):
        """A cosine's scale is 1, whatever the largest of a dataset is."""
        eye = np.eye(12, 40, dtype=np.float32)
        eye[:, -1] = 1e-10
        words = [f"{side}{i}" for i in range(6) for side in "ab"]
        dataset_rows = [f"a{i},b{i},{i}" for i in range(6)]
        from core.dataset.files import read_dataset

        dataset = read_dataset(("token_a,token_b,score\n" + "\n".join(dataset_rows) + "\n").encode())
        model = load(write(tmp_path, binary(words, eye)))
        assert "All 6 scores" in evaluate(dataset, model).overall.rho.reason
