"""Dataset files: written, read back, and read from elsewhere."""

from __future__ import annotations

import csv
import io
import json
import math
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dataset.files import check_for_gensim, for_gensim, read_dataset, to_csv, to_json, to_tsv
from core.errors import InputError

ODD = [
    "=2+3",
    "+1",
    "-er",
    "@home",
    "'tis",
    'a "quoted"',
    "a,b;c\td",
    "line\nend",
    "cr\rin it",
    "NA",
    "null",
    "007",
    "#hash",
    "&amp;",
    "\ufeffmark",
    "שלום",
    "🔥",
    "'=x",
    "1,5",
]


def table(tokens: list[str], scores: list[float] | None = None, **more) -> pd.DataFrame:
    n = len(tokens)
    scores = list(np.linspace(1, 0, n)) if scores is None else scores
    return pd.DataFrame({"area": ["x"] * n, "token_a": tokens, "token_b": tokens[::-1], "score": scores, **more})


FULL = table(
    ["a", "b", "d"],
    [0.9, 1 / 3, 0.1],
    rank=[1.0, 2.0, 3.0],
    lower=[0.8, 0.2, math.nan],
    upper=[1.0, 0.5, math.nan],
    votes=[20, 19, 0],
    ballots=[2, 2, 1],
).assign(token_b=["c", "b", "e"])


@pytest.mark.parametrize("write", [to_csv, to_tsv])
class TestRoundTrip:
    def test_odd_tokens(self, write) -> None:
        frame = table(ODD)
        pd.testing.assert_frame_equal(read_dataset(write(frame)), frame)

    def test_all_columns(self, write) -> None:
        pd.testing.assert_frame_equal(read_dataset(write(FULL)), FULL)

    @given(
        rows=st.lists(
            st.tuples(
                st.text(), st.text().filter(str.strip), st.text().filter(str.strip), st.floats(allow_infinity=False)
            ),
            max_size=5,
        )
    )
    @settings(deadline=None)
    def test_any_text_and_any_number(self, write, rows: list[tuple]) -> None:
        frame = pd.DataFrame(rows, columns=["area", "token_a", "token_b", "score"]).astype(
            {"area": "str", "token_a": "str", "token_b": "str", "score": "float64"}
        )
        back = read_dataset(write(frame))
        for column in ("area", "token_a", "token_b"):
            frame[column] = frame[column].str.strip()  # a token has no white space at its ends
        pd.testing.assert_frame_equal(back, frame, check_index_type=False)
        assert write(back) == write(frame)


class TestWriting:
    def test_bytes(self) -> None:
        assert to_csv(FULL).decode() == (
            "area,token_a,token_b,score,rank,lower,upper,votes,ballots\n"
            "x,a,c,0.9,1.0,0.8,1.0,20,2\nx,b,b,0.3333333333333333,2.0,0.2,0.5,19,2\nx,d,e,0.1,3.0,,,0,1\n"
        )
        assert to_tsv(FULL).decode().splitlines()[1] == "x\ta\tc\t0.9\t1.0\t0.8\t1.0\t20\t2"

    def test_tied_scores_keep_their_shared_rank(self, shared: Path) -> None:
        with (shared / "cases/51-corr-gold-ties.csv").open(encoding="utf-8") as file:
            scores = [float(row["gold"]) for row in csv.DictReader(file)]
        ranks = [float(rank) for rank in pd.Series(scores).rank(ascending=False)]
        assert ranks == [1.5, 1.5, 4.0, 4.0, 4.0, 6.0]
        assert list(read_dataset(to_csv(table(list("abcdef"), scores, rank=ranks)))["rank"]) == ranks

    def test_a_copy_for_spreadsheets_has_no_formulas(self) -> None:
        written = to_csv(table([*ODD, "\tx", "\rx", "＝1"]), spreadsheet=True)
        assert written.startswith(b"\xef\xbb\xbf")
        cells = [row["token_a"] for row in csv.DictReader(io.StringIO(written.decode("utf-8-sig"), newline=""))]
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝")) for cell in cells)
        assert cells[:5] == ["'=2+3", "'+1", "'-er", "'@home", "'tis"]

    def test_negative_scores_are_numbers_in_a_spreadsheet_too(self) -> None:
        assert b",-0.25\n" in to_csv(table(["a"], [-0.25]), spreadsheet=True)

    def test_the_plain_file_keeps_formulas(self, shared: Path) -> None:
        with (shared / "cases/25-tokens-formula.csv").open(encoding="utf-8", newline="") as file:
            tokens = [row["token"] for row in csv.DictReader(file)]
        assert list(read_dataset(to_csv(table(tokens)))["token_a"]) == tokens

    def test_not_a_dataset(self) -> None:
        with pytest.raises(InputError, match="not a table of dataset"):
            to_csv(pd.DataFrame({"token_a": ["a"]}))


class TestJson:
    def test_equal_contents_give_equal_bytes(self) -> None:
        one = {
            "notion": "relatedness",
            "n0": np.float64(2),
            "plan": {"n_items": np.int64(3), "appearances": (20, 30)},
            "fee": Decimal("0.2"),
        }
        other = dict(reversed(one.items()))
        assert to_json(one) == to_json(other)
        assert json.loads(to_json(one)) == {
            "notion": "relatedness",
            "n0": 2.0,
            "plan": {"n_items": 3, "appearances": [20, 30]},
            "fee": 0.2,
        }
        assert "é".encode() in to_json({"name": "é"})
        assert to_json({"a": {"y", "x"}, "b": np.array([1, 2])}) == to_json({"a": ["x", "y"], "b": [1, 2]})

    @pytest.mark.parametrize("value", [math.nan, math.inf, np.float64("nan"), object(), {"deep": [math.nan]}])
    def test_what_json_cant_hold(self, value: object) -> None:
        with pytest.raises(InputError, match="JSON has no form for"):
            to_json({"value": value})


class TestGensim:
    def test_gensim_reads_it(self, tmp_path: Path) -> None:
        from gensim.models import KeyedVectors
        from scipy.stats import spearmanr

        tokens = ["ship", "boat", "ice cream", "#hash", "=2+3", "été"]
        vectors = KeyedVectors(4)
        rng = np.random.default_rng(3)
        vectors.add_vectors(tokens, rng.normal(size=(6, 4)))
        pairs = [(a, b) for at, a in enumerate(tokens) for b in tokens[at + 1 :]]
        scores = rng.random(len(pairs))
        frame = pd.DataFrame(
            {"area": "x", "token_a": [a for a, _ in pairs], "token_b": [b for _, b in pairs], "score": scores}
        )
        file = tmp_path / "pairs.tsv"
        file.write_bytes(for_gensim(frame))
        _, spearman, missing = vectors.evaluate_word_pairs(str(file), case_insensitive=False)
        expected = spearmanr(scores, [vectors.similarity(a, b) for a, b in pairs]).statistic
        assert spearman.statistic == pytest.approx(expected, abs=1e-12)
        assert missing == 0

    def test_items_without_a_score_are_counted(self) -> None:
        assert for_gensim(table(["a", "b"], [math.nan, 0.5])) == b"# 1 item without a score left out\nb\ta\t0.5\n"

    def test_tokens_the_format_cant_hold(self) -> None:
        frame = pd.DataFrame({"area": "x", "token_a": ["a\tb", "#x", "c"], "token_b": ["c", "#y", "d\n"], "score": 0.5})
        with pytest.raises(InputError, match=r"use the CSV\. row 2, column token_a.*row 3, .*row 4, column token_b"):
            for_gensim(frame)


class TestReading:
    def test_a_gold_list_without_areas(self, shared: Path) -> None:
        frame = read_dataset(shared / "cases/29-gold.csv")
        assert list(frame.columns) == ["area", "token_a", "token_b", "score"]
        assert (len(frame), frame["score"].sum()) == (10, pytest.approx(5.0))
        assert set(frame["area"]) == {""}
        assert frame.attrs["notes"] == ["the file has no column area: all items are taken as one"]

    def test_description_beside_it(self, tmp_path: Path) -> None:
        (tmp_path / "set.csv").write_bytes(to_csv(FULL))
        (tmp_path / "set.json").write_bytes(to_json({"notion": "similarity", "n0": 2.0}))
        frame = read_dataset(str(tmp_path / "set.csv"))
        assert frame.attrs["notion"] == "similarity"
        assert frame.attrs["notes"] == []

    @pytest.mark.parametrize("text", ["{", "[1]", "\xff"])
    def test_description_that_cant_be_read(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "set.csv").write_bytes(to_csv(FULL))
        (tmp_path / "set.json").write_bytes(text.encode("latin-1"))
        with pytest.raises(InputError, match=r"set\.json"):
            read_dataset(tmp_path / "set.csv")

    def test_excels_semicolons_and_decimal_commas(self) -> None:
        frame = read_dataset("Token_A;Token_B;Score\r\nfenêtre;œuvre;0,75\r\na;b;1\r\n".encode("cp1252"))
        assert list(frame["score"]) == [0.75, 1.0]
        assert frame["token_b"][0] == "œuvre"
        assert "Windows-1252" in frame.attrs["notes"][0]

    def test_other_columns_stay(self) -> None:
        frame = read_dataset(b"token_a,token_b,score,pos\na,b,1,noun\n")
        assert list(frame["pos"]) == ["noun"]
        assert read_dataset(to_csv(frame))["pos"][0] == "noun"

    def test_repeated_items_and_missing_scores_are_noted(self) -> None:
        frame = read_dataset(b"area,token_a,token_b,score\nx,a,b,1\nx,b,a,\ny,a,b,nan\n")
        assert frame.attrs["notes"] == [
            "rows that repeat an item: 1; each row counts for itself",
            "items without a score: 2",
        ]

    @pytest.mark.parametrize(
        ("data", "what"),
        [
            (b"a,b,c\n1,2,3\n", "lacks the columns token_a, token_b, score"),
            (b"token_a,token_b,sim\na,b,1\n", "lacks the column score"),
            (b"token_a,token_b,score,SCORE\na,b,1,2\n", "several columns of one name .score, SCORE."),
            (b"token_a,token_b,score\na,b,high\n", "row 2, column score: must be a number .found 'high'"),
            (b"token_a,token_b,score\na,b,inf\n", "must be a number"),
            (b"token_a,token_b,score\na,b,1_0\n", "must be a number"),
            (b'token_a,token_b,score\na,b,"0,5"\nc,d,0.7\n', "row 3, column score: a point where .* decimal comma"),
            (b"token_a,token_b,score,pos,Pos\na,b,1,n,v\n", "several columns of one name .pos, Pos."),
            (b"token_a,token_b,score,votes\na,b,1,2.5\n", "row 2, column votes: must be a whole number"),
            (b"token_a,token_b,score,votes\na,b,1,\n", "must be a whole number"),
            (b"token_a,token_b,score\na,,1\n", "row 2, column token_b: the token is missing"),
            (b"token_a,token_b,score\na,b\n", "row 2: the row stops after 2 fields"),
            (b'token_a,token_b,score\n"a",b,1\n"c",d,2\n"e,f,3\n', "row 4: a quoted field is never closed"),
            (b"", "is empty"),
        ],
    )
    def test_refused(self, data: bytes, what: str) -> None:
        with pytest.raises(InputError, match=what):
            read_dataset(data)

    def test_all_issues_are_carried(self) -> None:
        with pytest.raises(InputError) as caught:
            read_dataset(b"token_a,token_b,score\n" + b",,x\n" * 9)
        assert len(caught.value.issues) == 27

    @pytest.mark.parametrize("name", ["missing.csv", ""])
    def test_no_file(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(InputError, match="can't be read"):
            read_dataset(tmp_path / name)

    @given(st.binary(max_size=200))
    @settings(deadline=None)
    def test_no_bytes_make_it_fall_over(self, data: bytes) -> None:
        for start in (b"", b"token_a,token_b,score\n"):
            try:
                read_dataset(start + data)
            except InputError:
                continue


@given(st.lists(st.tuples(*[st.text(alphabet="a#\t\r\n\u2028 é", max_size=3)] * 2), max_size=4))
def test_what_gensim_cannot_hold_is_known_before_writing(pairs):
    dataset = pd.DataFrame(
        {
            "area": pd.Series(["x"] * len(pairs), dtype="str"),
            "token_a": pd.Series([a for a, _ in pairs], dtype="str"),
            "token_b": pd.Series([b for _, b in pairs], dtype="str"),
            "score": pd.Series([0.5] * len(pairs), dtype="float64"),
        }
    )
    found = []
    for check in (for_gensim, check_for_gensim):
        try:
            check(dataset)
        except InputError as error:
            found.append(str(error))
        else:
            found.append("")
    assert found[0] == found[1]


def test_a_model_in_place_of_the_dataset_is_refused_without_its_numbers(tmp_path):
    """Its first line would be hundreds of column names."""
    (tmp_path / "model.vec").write_text("ship " + " ".join(["0.25"] * 300) + "\nboat " + "0.5 " * 300 + "\n")
    (tmp_path / "wide.csv").write_text(",".join(f"column{n}" for n in range(300)) + "\n")
    for name in ("model.vec", "wide.csv"):
        with pytest.raises(InputError, match="lacks the columns token_a, token_b, score") as raised:
            read_dataset(tmp_path / name)
        assert len(str(raised.value)) < 400
    assert "column0, column1" in str(raised.value)
    assert "column11 and 288 more" in str(raised.value)
