"""Token lists: what is kept, what is mended, what is reported, and the items they make."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.tokens.files import AreaTokens, clean_token, invisible_characters, read_areas_file, read_pasted
from core.tokens.items import all_pairs, shared_pairs


def by_area(lists) -> dict[str, tuple[str, ...]]:
    return {area.name: area.tokens for area in lists.areas}


def test_columns_may_stand_in_any_order_and_case():
    lists = read_areas_file(b"id;TOKEN;Area\n1;ship;Sea\n2;boat;Sea\n", "x.csv")
    assert by_area(lists) == {"Sea": ("ship", "boat")}


def test_other_columns_are_told_in_words():
    with pytest.raises(InputError, match=r"lacks the columns area, token. Its columns are word, group.*or choose them"):
        read_areas_file(b"word,group\na,b\n", "x.csv")


@pytest.mark.parametrize("text", ["", "\n \n", "\t\n"])
def test_nothing_to_take_is_told_in_words(text):
    with pytest.raises(InputError):
        read_pasted("Sea", text)


@pytest.mark.parametrize("header", ["Token", " TOKEN ", "\ufefftoken"])
def test_a_columns_name_that_is_pasted_is_no_token(header):
    lists = read_pasted("Sea", f"{header}\r\nship\r\nboat\r\ntoken\r\n", is_new=True)
    assert by_area(lists) == {"Sea": ("ship", "boat", "token")}
    assert [(note.row, note.message[:14]) for note in lists.notes] == [(1, "the first line")]
    assert by_area(read_pasted("Sea", "token\nship")) == {"Sea": ("token", "ship")}  # a stored list that is edited


def test_other_names_of_columns_are_told_and_kept():
    lists = read_pasted("Sea", "Words\nship\nboat", is_new=True)
    assert by_area(lists) == {"Sea": ("Words", "ship", "boat")}
    assert "if it names the list, write token in its place" in str(lists.notes[0])


def test_a_pasted_table_is_told_by_its_columns():
    with pytest.raises(InputError, match=r"stands between the columns of a table. Paste the column") as caught:
        read_pasted("Sea", "Area\tToken\nSea\tship\n\t\nboat", is_new=True)
    assert [issue.row for issue in caught.value.issues] == [1, 2]


def test_a_mark_before_the_text_is_no_letter():
    assert by_area(read_pasted("Sea", "\ufeffship\nboat")) == {"Sea": ("ship", "boat")}


def test_tokens_that_voters_would_read_with_a_line_are_told():
    told = [str(note) for note in read_pasted("Sea", "tug_boat\nship\n_\nhigh_sea").notes]
    assert told == [
        "row 1: 2 tokens hold “_”, which voters will read; write spaces instead: embeddings are searched for both "
        "(found 'tug_boat')"
    ]
    assert read_pasted("Sea", "tug boat\nship\nsail").notes == ()


@pytest.mark.parametrize("bad", ["a\x00b", "a\x1bb"])
def test_control_characters_are_refused_with_their_rows(bad):
    with pytest.raises(InputError, match=r"row 2: holds a tab") as caught:
        read_pasted("Sea", f"ship\n{bad}\nboat")
    assert [issue.row for issue in caught.value.issues] == [2]


def test_a_quoted_line_break_in_a_file_is_refused():
    with pytest.raises(InputError, match="line break"):
        read_areas_file(b'area,token\nSea,"ship\nboat"\nSea,sail\n', "x.csv")


def test_rows_without_an_area_and_long_tokens_are_reported():
    lists = read_areas_file(f"area,token\n,ship\nSea,boat\nSea,{'x' * 201}\nSea,sail\n".encode(), "x.csv")
    assert by_area(lists) == {"Sea": ("boat", "sail")}
    assert [note.row for note in lists.notes] == [2, 4, None]


@given(st.text())
def test_cleaning_is_done_once(text):
    assert clean_token(clean_token(text)) == clean_token(text)


def test_joiners_are_named_and_kept():
    assert invisible_characters("a\u200db") == ["ZERO WIDTH JOINER"]
    assert read_pasted("x", "a\u200db\nab").areas[0].tokens == ("a\u200db", "ab")


def test_all_pairs_of_each_area_and_none_across():
    areas = [AreaTokens("x", ("a", "b", "c")), AreaTokens("y", ("a", "b"))]
    items = all_pairs(areas)
    assert items[["area", "token_a", "token_b"]].to_numpy().tolist() == [
        ["x", "a", "b"],
        ["x", "a", "c"],
        ["x", "b", "c"],
        ["y", "a", "b"],
    ]
    assert items["item"].tolist() == [0, 1, 2, 3]
    assert shared_pairs(areas) == [("a", "b", ("x", "y"))]


@given(st.lists(st.integers(2, 12), min_size=1, max_size=4))
def test_the_number_of_items(sizes):
    areas = [AreaTokens(str(n), tuple(f"t{k}" for k in range(size))) for n, size in enumerate(sizes)]
    assert len(all_pairs(areas)) == sum(n * (n - 1) // 2 for n in sizes) == sum(area.n_items for area in areas)
