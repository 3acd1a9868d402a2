"""Token lists from workbooks and from files with other columns, and corrections of spelling."""

from __future__ import annotations

import datetime
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workbooks import with_cells, workbook

from core.errors import InputError
from core.tokens.files import AreaTokens, clean_token, guess_columns, open_list, read_areas_file, renamed
from core.tokens.lists import GuessedColumns

HEADER = ("area", "token")


def by_area(lists) -> dict[str, tuple[str, ...]]:
    return {area.name: area.tokens for area in lists.areas}


def read(rows, name: str = "list.xlsx", formats=None, **choices):
    return read_areas_file(workbook({"Sheet1": rows}, formats), name, **choices)


def test_texts_of_a_workbook_are_as_they_were_typed():
    texts = ["007", "1e5", "true", "NA", "=2+3", "+1", "'tis", "3.10", "#N/A!", "_x0041_", "a  b", "<b>x</b>", "🔥"]
    # A spreadsheet program writes what looks like its escapes with one of them in front.
    lists = read([HEADER, *(("x", text.replace("_x0041_", "_x005F_x0041_")) for text in texts)])
    assert by_area(lists) == {"x": tuple(texts)}
    assert lists.notes == ()


def test_numbers_of_a_workbook_have_no_needless_digits():
    values = [7, 7.5, 8.0, 0.1 + 0.2, 1e20, 100000, -3]
    lists = read([HEADER, *(("x", value) for value in values)])
    assert by_area(lists)["x"] == ("7", "7.5", "8", "0.3", "1e+20", "100000", "-3")


def test_zeros_that_a_format_shows_are_kept_and_digits_that_it_hides_too():
    rows = [HEADER, ("x", 7), ("x", 3.1), ("x", 3.14), ("x", 12), ("x", -7)]
    formats = {"B2": "000", "B3": "0.00", "B4": "0.0", "B5": "0.00%", "B6": "000"}
    assert by_area(read(rows, formats=formats))["x"] == ("007", "3.10", "3.14", "12", "-007")


def test_what_a_spreadsheet_made_of_a_token_is_reported():
    rows = [HEADER, ("x", True), ("x", datetime.date(2001, 3, 1)), ("x", datetime.time(7, 30)), ("x", "sea")]
    lists = read(rows)
    assert by_area(lists)["x"] == ("TRUE", "2001-03-01", "07:30:00", "sea")
    assert [note.row for note in lists.notes] == [2, 3, 4]
    assert "made a date" in str(lists.notes[1])


def test_formulas_have_their_stored_value_and_errors_are_left_out():
    def inline(place: str, content: str) -> str:
        return f'<c r="{place}" t="inlineStr"><is>{content}</is></c>'

    tokens = {
        1: inline("B1", "<t>token</t>"),
        2: '<c r="B2" t="str"><f>"a"&amp;"b"</f><v>ab</v></c>',
        3: '<c r="B3"><f>1+1</f></c>',
        4: '<c r="B4" t="e"><v>#NAME?</v></c>',
        9: inline("B9", "<r><t>so</t></r><r><t>ft</t></r>"),
    }
    cells = "".join(
        f'<row r="{row}">{inline(f"A{row}", "<t>x</t>" if row > 1 else "<t>area</t>")}{cell}</row>'
        for row, cell in tokens.items()
    )
    # The written extent is too small, as some programs have it.
    lists = read_areas_file(with_cells(workbook({"S": []}), cells, extent="A1:B2"), "x.xlsx")
    assert by_area(lists) == {"x": ("ab", "soft")}
    assert [(note.row, "no stored value" in str(note)) for note in lists.notes[:-1]] == [(3, True), (4, False)]
    assert "shows an error" in str(lists.notes[1])


def test_remarks_on_other_columns_are_left_out():
    assert read([("area", "added", "token"), ("x", datetime.date(2020, 1, 1), "sea")]).notes == ()


def test_blank_rows_and_columns_of_a_workbook_are_passed_over_and_rows_keep_their_numbers():
    lists = read([(), ("", "area", "", "token"), ("", "x", "", "sea"), (), ("", "", "", "ship"), ("", "x", "", "sea")])
    assert by_area(lists) == {"x": ("sea",)}
    assert [note.row for note in lists.notes] == [5, 6]


def test_a_list_in_a_workbook_is_one_area_named_after_the_file():
    assert by_area(read([("sea",), ("ship",)], "My sea.xlsx")) == {"My sea": ("sea", "ship")}
    assert by_area(read([("Token",), ("ship",)], "My sea.xlsx")) == {"My sea": ("ship",)}


def test_several_sheets_of_lists_are_areas_named_after_them():
    data = workbook({"Sea": [("ship",), ("boat",)], "Empty": [], "Land": [("token",), ("car",), ("bus",)]})
    assert by_area(read_areas_file(data, "x.xlsx")) == {"Sea": ("ship", "boat"), "Land": ("car", "bus")}
    assert by_area(read_areas_file(data, "x.xlsx", sheet="Land")) == {"Land": ("car", "bus")}


def test_several_sheets_of_tables_are_named_so_that_one_can_be_chosen():
    data = workbook({"One": [HEADER, ("x", "sea")], "Two": [("group", "word"), ("y", "ship")]})
    with pytest.raises(InputError, match="several sheets: 'One', 'Two'"):
        read_areas_file(data, "x.xlsx")
    with pytest.raises(InputError, match="no sheet 'Three'"):
        read_areas_file(data, "x.xlsx", sheet="Three")
    assert by_area(read_areas_file(data, "x.xlsx", sheet="One")) == {"x": ("sea",)}
    assert by_area(read_areas_file(data, "x.xlsx", sheet="Two", columns=("group", "word"))) == {"y": ("ship",)}
    seen = open_list(data, "x.xlsx", sheet="Two")
    assert seen.sheets == ("One", "Two")
    assert seen.header == ("group", "word")
    assert seen.sample == (("y", "ship"),)
    assert seen.guess == GuessedColumns(1, 0, False)


def test_hidden_sheets_are_left_out():
    import io

    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(workbook({"One": [HEADER, ("x", "sea")], "Two": [HEADER, ("y", "ship")]})))
    book["Two"].sheet_state = "hidden"
    target = io.BytesIO()
    book.save(target)
    assert by_area(read_areas_file(target.getvalue(), "x.xlsx")) == {"x": ("sea",)}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04 nothing of the kind", "can't be read as an Excel workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old or a protected Excel workbook"),
        (workbook({"One": []}), "none of its sheets holds any text"),
        (workbook({"One": [HEADER, ("x", "sea")]})[:-200], "can't be read as an Excel workbook"),
    ],
)
def test_other_files_are_told_in_words(data, message):
    with pytest.raises(InputError, match=message):
        read_areas_file(data, "x.xlsx")


def test_a_zip_archive_of_something_else():
    import io
    import zipfile

    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("tokens.csv", "area,token")
    with pytest.raises(InputError, match="not an Excel workbook"):
        read_areas_file(target.getvalue(), "x.xlsx")


def test_what_unpacks_to_too_much_is_not_unpacked(monkeypatch):
    monkeypatch.setattr("core.tabular.workbook_reading._MAX_BYTES", 1000)
    with pytest.raises(InputError, match="unpacks to"):
        read([HEADER, ("x", "sea")])


def test_a_workbook_with_any_byte_spoiled_is_read_or_told_in_words():
    good = workbook({"One": [HEADER, ("x", "sea"), ("x", "ship")]})
    for place in range(0, len(good), 41):
        spoiled = bytearray(good)
        spoiled[place] ^= 0xFF
        try:
            read_areas_file(bytes(spoiled), "x.xlsx")
        except InputError:
            continue


@given(
    st.lists(
        st.text(st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\ufffe\uffff"), min_size=1),
        min_size=1,
        max_size=5,
    )
)
def test_any_text_comes_back_from_a_workbook(texts):
    expected = tuple(dict.fromkeys(token for text in texts if (token := clean_token(text))))
    rows = [HEADER, *(("x", text) for text in texts)]
    if not expected:
        with pytest.raises(InputError):
            read(rows)
        return
    assert by_area(read(rows))["x"] == expected


TABLE = b"id,what,where,note\n1,ship,sea,\n2,boat,sea,old\n3,car,road,\n4,bus,road,\n"


def test_columns_are_chosen_by_name_or_position():
    expected = {"sea": ("ship", "boat"), "road": ("car", "bus")}
    assert by_area(read_areas_file(TABLE, "t.csv", columns=("where", "WHAT"))) == expected
    assert by_area(read_areas_file(TABLE, "t.csv", columns=(2, 1))) == expected
    assert by_area(read_areas_file(TABLE, "t.csv", columns=(None, "what"))) == {"t": ("ship", "boat", "car", "bus")}
    with pytest.raises(InputError, match=r"lacks the column area\. Its columns are id, what"):
        read_areas_file(TABLE, "t.csv", columns=("area", "what"))
    with pytest.raises(InputError, match="no column 7"):
        read_areas_file(TABLE, "t.csv", columns=(7, "what"))


def test_a_chosen_column_of_a_single_one_has_a_header():
    assert by_area(read_areas_file(b"ship\nboat\n", "t.txt", columns=(None, 0))) == {"t": ("boat",)}
    assert by_area(read_areas_file(b"ship\nboat\n", "t.txt")) == {"t": ("ship", "boat")}


def test_rows_may_stop_after_the_last_wanted_column():
    lists = read_areas_file(b"area,token,note\nsea,ship\nsea,boat,old\nsea\nsea,sail,\n", "t.csv")
    assert by_area(lists) == {"sea": ("ship", "boat", "sail")}
    assert [note.row for note in lists.notes] == [4]


def test_the_encoding_is_noted_once():
    lists = read_areas_file("area;token\nmer;fenêtre\n".encode("cp1252"), "t.csv")
    assert len(lists.notes) == 1


def test_what_is_in_a_file():
    seen = open_list(TABLE, "t.csv", n=2)
    assert seen.header == ("id", "what", "where", "note")
    assert seen.sample == (("1", "ship", "sea", ""), ("2", "boat", "sea", "old"))
    assert seen.sheets == ()
    assert seen.guess == GuessedColumns(1, 2, False)


@pytest.mark.parametrize(
    ("header", "sample", "expected"),
    [
        (("area", "token"), [], GuessedColumns(1, 0, True)),
        (("Token", "x", "AREA"), [("a", "b", "c")], GuessedColumns(0, 2, True)),
        (("ship",), [("boat",)], GuessedColumns(0, None, True)),
        (("Semantic_Area", "Word"), [], GuessedColumns(1, 0, False)),
        (("category", "x"), [("sea", "ship")], GuessedColumns(1, 0, False)),
        (("a", "b"), [("sea", "ship"), ("sea", "boat")], GuessedColumns(1, 0, False)),
        (("a", "b"), [("ship", "1"), ("boat", "2")], GuessedColumns(0, None, False)),
        (("a", "b", "c"), [("1", "nan", "x"), ("1", "inf", "x")], GuessedColumns(1, 2, False)),
        (("a", "b"), [], GuessedColumns(0, None, False)),
        (("word", "term"), [("ship", "sea"), ("boat", "sea")], GuessedColumns(0, 1, False)),
    ],
)
def test_guesses(header, sample, expected):
    assert guess_columns(header, sample) == expected


def test_no_columns():
    with pytest.raises(InputError, match="no columns"):
        guess_columns([], [])


SEA = AreaTokens("Sea", ("ship", "bota", "keel"))
LAND = AreaTokens("Land", ("car", "bota"))


def test_spellings_are_corrected_in_place_and_everywhere_or_in_one_area():
    both = renamed([SEA, LAND], {"bota": " boat "})
    assert by_area(both) == {"Sea": ("ship", "boat", "keel"), "Land": ("car", "boat")}
    assert both.changes == (("Sea", "bota", "boat"), ("Land", "bota", "boat"))
    one = renamed([SEA, LAND], {"bota": "boat"}, area="Land")
    assert by_area(one) == {"Sea": SEA.tokens, "Land": ("car", "boat")}
    assert one.changes == (("Land", "bota", "boat"),)


def test_nothing_to_correct():
    assert renamed([SEA], {"ship": " ship"}).changes == ()
    assert renamed([SEA], {}).areas == (SEA,)


@pytest.mark.parametrize(
    ("corrections", "message"),
    [
        ({"raft": "craft"}, "no such token"),
        ({"ship": "  "}, "is empty"),
        ({"ship": "sh\tip"}, "control character"),
        ({"ship": "s" * 201}, "longer than 200"),
        ({"ship": "keel"}, "Sea has a token of that spelling already"),
        ({"ship": "keel", "keel": "ship"}, "spelling already"),
        ({"ship": "boat", "bota": "boat"}, "2 tokens would become this one"),
    ],
)
def test_corrections_that_cannot_be_made(corrections, message):
    with pytest.raises(InputError, match=f"No spelling was corrected.*{message}"):
        renamed([SEA], corrections)


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(InputError) as caught:
        renamed([SEA], {"raft": "craft", "ship": "", "keel": "bota"})
    assert len(caught.value.issues) == 3
    with pytest.raises(InputError, match="no area 'Air'"):
        renamed([SEA], {}, area="Air")


def test_a_correction_that_looks_like_another_token_is_noted():
    assert not renamed([SEA], {"bota": "boat"}).notes
    assert not renamed([SEA], {"ship": "Ship"}).notes
    assert "is it the same token" in str(renamed([SEA], {"ship": "ocean"}).notes[0])


@given(st.lists(st.text("abc", min_size=1), unique=True, min_size=1, max_size=6), st.data())
def test_a_correction_and_its_inverse_change_nothing(tokens, data):
    old = data.draw(st.sampled_from(tokens))
    new = data.draw(st.text("abcd", min_size=1).filter(lambda text: text not in tokens))
    area = AreaTokens("x", tuple(tokens))
    changed = renamed([area], {old: new}).areas
    assert changed[0].n_items == area.n_items
    assert renamed(changed, {new: old}).areas == (area,)
    assert all(unicodedata.is_normalized("NFC", token) for token in changed[0].tokens)
