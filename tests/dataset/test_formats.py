"""The dataset in other programs' layouts, read back by those programs."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dataset.files import read_dataset
from core.dataset.formats import for_mteb, for_simlex, mteb_bounds, to_parquet, to_records
from core.errors import InputError

FULL = pd.DataFrame(
    {
        "area": ["x", "x", "y"],
        "token_a": ["NA", "=2+3", "été"],
        "token_b": ["007", 'a "b"', "null"],
        "score": [0.9, 1 / 3, math.nan],
        "rank": [1.0, 2.0, math.nan],
        "lower": [0.8, math.nan, math.nan],
        "upper": [1.0, math.nan, math.nan],
        "votes": [20, 19, 0],
        "ballots": [2, 2, 1],
    }
).astype(dict.fromkeys(("area", "token_a", "token_b"), "str"))


def test_parquet_in_pyarrow_and_pandas() -> None:
    data = to_parquet(FULL)
    table = pq.read_table(io.BytesIO(data))
    kinds = {field.name: str(field.type) for field in table.schema}
    assert kinds["token_a"] == "string"
    assert (kinds["score"], kinds["votes"]) == ("double", "int64")
    assert table["lower"].null_count == 2
    frame = pd.read_parquet(io.BytesIO(data))
    assert frame["token_a"].tolist() == ["NA", "=2+3", "été"]
    assert frame["score"].tolist()[:2] == [0.9, 1 / 3]
    assert to_parquet(FULL) == data


def test_parquet_brings_its_description_and_is_read_as_a_dataset(tmp_path) -> None:
    table = FULL.copy()
    table.attrs = {"notion": "similarity", "n0": 2.0}
    path = tmp_path / "set.parquet"
    path.write_bytes(to_parquet(table))
    back = read_dataset(path)
    pd.testing.assert_frame_equal(back, FULL)
    assert back.attrs["notion"] == "similarity"


@given(st.lists(st.tuples(st.text(), st.text(), st.floats(allow_infinity=False)), max_size=5))
@settings(deadline=None)
def test_any_text_and_number_comes_back_from_parquet(rows) -> None:
    frame = pd.DataFrame([("x", *row) for row in rows], columns=["area", "token_a", "token_b", "score"])
    frame = frame.astype({"area": "str", "token_a": "str", "token_b": "str", "score": "float64"})
    pd.testing.assert_frame_equal(read_dataset(to_parquet(frame)), frame, check_index_type=False)


@pytest.mark.parametrize("data", [b"PAR1", b"PAR1 nothing PAR1", to_parquet(FULL)[:-9]])
def test_damaged_parquet_is_refused(data) -> None:
    with pytest.raises(InputError, match="Parquet"):
        read_dataset(data)


def test_parquet_of_something_else_is_refused() -> None:
    out = io.BytesIO()
    pd.DataFrame({"a": [1]}).to_parquet(out)
    with pytest.raises(InputError, match="lacks the columns token_a, token_b, score"):
        read_dataset(out.getvalue())


def test_records_are_a_list_that_pandas_reads() -> None:
    rows = json.loads(to_records(FULL))
    assert rows[0]["token_a"] == "NA"
    assert rows[2]["score"] is None
    frame = pd.read_json(io.BytesIO(to_records(FULL)), dtype=False, precise_float=True)
    assert frame["token_b"].tolist() == ["007", 'a "b"', "null"]
    assert frame["score"].tolist()[:2] == [0.9, 1 / 3]


def test_simlex_is_read_as_its_readers_read_it() -> None:
    lines = for_simlex(FULL).decode().splitlines()
    assert lines[0].split("\t")[:3] == ["word1", "word2", "score"]
    assert len(lines) == 3  # the item without a score is left out
    frame = pd.read_csv(io.BytesIO(for_simlex(FULL)), sep="\t", quoting=3, keep_default_na=False)
    assert frame["word2"].tolist() == ["007", 'a "b"']
    assert frame["score"].tolist() == [0.9, 1 / 3]
    with pytest.raises(InputError, match=r"use the CSV\. row 2, column token_a"):
        for_simlex(FULL.assign(token_a=["a\tb", "c", "d"]))


def test_mteb_lines_have_its_columns() -> None:
    rows = [json.loads(line) for line in for_mteb(FULL).decode().splitlines()]
    assert rows[0] == {"sentence1": "NA", "sentence2": "007", "score": 0.9}
    assert len(rows) == 2
    assert mteb_bounds(FULL) == (1 / 3, 0.9)
    with pytest.raises(InputError, match="No item has a score"):
        mteb_bounds(FULL.assign(score=np.nan))
    assert for_mteb(FULL.head(0)) == b""


def test_equal_datasets_give_equal_bytes() -> None:
    for write in (to_parquet, to_records, for_simlex, for_mteb):
        assert write(FULL) == write(FULL.copy())
    assert b"NaN" not in to_records(FULL)
