"""Smaller texts written for wanted ratings: balance, zeros of the same kind, and what raters get to see."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from core.__main__ import cli
from core.errors import InputError
from core.schemes.scales import CLSS
from core.schemes.writing import Text, items_to_rate, pair_at_random, read_texts, wanted_ratings, writing_form

LARGER = [Text(f"paragraph {n} of {genre}", genre) for genre in ("news", "fable") for n in range(10)]
POOL = [Text(f"sentence {n}", "news") for n in range(3)]


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


@given(st.lists(st.sampled_from("ab"), max_size=30), st.integers(1, 5), st.integers(0, 99))
def test_each_value_is_wanted_equally_often_within_one_in_each_genre(kinds, n_values, seed):
    found = wanted_ratings(kinds, list(range(n_values)), rng=np.random.default_rng(seed))
    for kind in set(kinds):
        counts = Counter(value for value, other in zip(found, kinds, strict=True) if other == kind)
        every = [counts.get(value, 0) for value in range(n_values)]
        assert max(every) - min(every) <= 1


@given(
    st.lists(st.sampled_from("ab"), max_size=20), st.lists(st.sampled_from("bc"), max_size=8), st.integers(0, 99)
)  # fmt: skip
def test_zeros_are_of_the_same_kind_and_no_text_is_used_before_all_were(larger, pool, seed):
    found = pair_at_random(larger, pool, rng=np.random.default_rng(seed)).tolist()
    for kind, place in zip(larger, found, strict=True):
        assert (place == -1) == (kind not in pool)
        assert place == -1 or pool[place] == kind
    used = Counter(place for place in found if place >= 0)
    every = [used.get(at, 0) for at, kind in enumerate(pool) if kind == "b"]
    assert not every or max(every) - min(every) <= 1


def test_the_form_and_what_raters_see():
    form = writing_form(LARGER, POOL, rng=np.random.default_rng(1))
    assert form == writing_form(LARGER, POOL, rng=np.random.default_rng(1))
    rows = rows_of(form)
    wanted = {genre: Counter(row["wanted"] for row in rows if row["genre"] == genre) for genre in ("news", "fable")}
    assert wanted["news"] == dict.fromkeys("01234", 2)
    assert set(wanted["fable"]) == set("1234")  # nothing of its kind is in the pool
    for row in rows:
        assert (row["smaller"] in {text.text for text in POOL}) == (row["wanted"] == "0")
        assert row["meaning"] == CLSS.describe(float(row["wanted"]))
    filled = [{**row, "smaller": row["smaller"] or f"written {n}"} for n, row in enumerate(rows)]
    filled[3]["smaller"] = ""
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys())
    writer.writeheader()
    writer.writerows(filled)
    data, blank = items_to_rate(out.getvalue().encode(), "form.csv", rng=np.random.default_rng(2))
    assert blank == 1
    assert data.splitlines()[0] == b"text_a,text_b,genre,level"
    assert len(rows_of(data)) == 19
    assert [row["text_a"] for row in rows_of(data)] != [row["larger"] for row in filled if row["smaller"]]


def test_what_is_wrong_is_told():
    with pytest.raises(InputError, match="lacks text"):
        read_texts(b"words,genre\na,b\n", "x.csv")
    with pytest.raises(InputError, match="row 4"):
        read_texts(b"text,genre\na,n\nb,n\na,n\n", "x.csv")
    with pytest.raises(InputError, match="left blank"):
        items_to_rate(b"larger,smaller\na,\n", "x.csv", rng=np.random.default_rng(1))
    with pytest.raises(InputError, match="row 3"):
        items_to_rate(b"larger,smaller\na,b\na,b\n", "x.csv", rng=np.random.default_rng(1))


def test_the_commands(tmp_path):
    texts, form, items = (tmp_path / name for name in ("texts.csv", "form.csv", "items.csv"))
    texts.write_text("text,genre\n" + "\n".join(f"long text {n},news" for n in range(8)) + "\n")
    found = CliRunner().invoke(cli, ["draw-writing", str(texts), "--output", str(form), "--json"])
    assert json.loads(found.output)["n_texts"] == 8
    form.write_text(form.read_text().replace(",,news", ",short,news"))
    found = CliRunner().invoke(cli, ["written-items", str(form), "--output", str(items)])
    assert "0 were left blank" in found.output
    assert len(rows_of(items.read_bytes())) == 8
