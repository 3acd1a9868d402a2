"""Token lists and frequency lists that were read wrongly once: nothing of them vanishes, and nothing is guessed."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from test_tabular import DIALECTS, TEXTS
from workbooks import workbook

from core.__main__ import cli
from core.errors import InputError
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas, read_areas
from core.store.tokens.frequencies import RareTerms, frequencies_of, source_of, use_list
from core.tokens.files import AreaTokens, open_list, read_areas_file, read_pasted
from core.tokens.frequencies import read_frequencies

SECOND = Path(__file__).parents[2] / "cases" / "second"


def read(name: str, **choices):
    return read_areas_file((SECOND / name).read_bytes(), name, **choices)


def by_area(lists) -> dict[str, tuple[str, ...]]:
    return {area.name: area.tokens for area in lists.areas}


def tokens_of(data: bytes, name: str = "list.txt", **choices) -> tuple[str, ...]:
    (area,) = read_areas_file(data, name, **choices).areas
    return area.tokens


def said(lists) -> str:
    return "\n".join(map(str, lists.notes))


# Quotation marks in lists that aren't quoted


def test_81c_marks_of_a_list_that_is_not_quoted_are_tokens():
    lists = read("81c-unquoted-list.txt")
    assert by_area(lists) == {"81c-unquoted-list": ("anvil", '"', "barge", '5" nail', "candle")}
    assert "row 5: token is in 81c-unquoted-list already (row 2) and was kept once (found '\"')" in said(lists)


@pytest.mark.parametrize(
    ("data", "name", "tokens"),
    [
        (b'anvil\n"ditto\nbarge\n', "list.txt", ("anvil", '"ditto', "barge")),
        (b'area\ttoken\nx\t"\nx\tanvil\nx\t5" nail\nx\t"\n', "list.tsv", ('"', "anvil", '5" nail')),
        (b'area,token\nx,5" nail\nx,anvil\nx,6" nail\n', "list.csv", ('5" nail', "anvil", '6" nail')),
        (b'area,token\nx,"rock, paper"\nx,"a ""b"" c"\n', "list.csv", ("rock, paper", 'a "b" c')),
        (b'"anvil"\n"rock, paper"\n', "list.csv", ("anvil", "rock, paper")),
        (b'"anvil"\n"barge"\n', "list.txt", ("anvil", "barge")),
    ],
)
def test_marks_are_quotes_only_where_they_balance_around_fields(data, name, tokens):
    assert tokens_of(data, name) == tokens


# Doubled columns


def test_84b_of_two_token_columns_none_is_taken_unless_somebody_chooses():
    data, name = (SECOND / "84b-two-token-columns.csv").read_bytes(), "84b-two-token-columns.csv"
    seen = open_list(data, name)
    assert seen.header == ("area", "token", "token")
    assert (seen.guess.token, seen.guess.is_certain) == (None, False)
    assert seen.sample == (("a", "anvil", "barge"), ("a", "candle", "dune"))
    with pytest.raises(InputError, match=r"several columns of one name \(token, token\).*column 2.*column 3"):
        read_areas_file(data, name)
    for columns in (("area", "token"), (0, "TOKEN")):
        with pytest.raises(InputError, match=r"column 2.*column 3"):
            read_areas_file(data, name, columns=columns)
    assert by_area(read_areas_file(data, name, columns=(0, 1))) == {"a": ("anvil", "candle")}
    assert by_area(read_areas_file(data, name, columns=("area", 2))) == {"a": ("barge", "dune")}


@pytest.mark.parametrize("header", ["area,token,Area", "AREA,area,token", "area, Token,token "])
def test_columns_of_one_name_in_any_case_are_refused(header):
    data = f"{header}\na,b,c\nd,e,f\n".encode()
    with pytest.raises(InputError, match="several columns of one name"):
        read_areas_file(data, "x.csv")
    assert not open_list(data, "x.csv").guess.is_certain


def test_doubled_columns_that_nobody_reads_are_no_matter():
    assert tokens_of(b"note,area,token,note\na,x,anvil,b\nc,x,barge,d\n", "x.csv") == ("anvil", "barge")


def test_doubled_columns_of_a_workbook():
    data = workbook({"S": [("area", "token", "token"), ("a", "anvil", "barge"), ("a", "candle", "dune")]})
    with pytest.raises(InputError, match=r"column 2.*column 3"):
        read_areas_file(data, "x.xlsx")
    assert tokens_of(data, "x.xlsx", columns=(0, 2)) == ("barge", "dune")


@pytest.mark.parametrize("name", sorted(path.name for path in SECOND.iterdir() if path.suffix in (".csv", ".tsv")))
def test_what_a_preview_shows_is_what_is_read(name):
    """By the columns that somebody chose there, whichever they are."""
    data = (SECOND / name).read_bytes()
    try:
        seen = open_list(data, name)
    except InputError:
        return
    for token in range(len(seen.header)):
        try:
            lists = seen.read((None, token))
        except InputError:
            continue
        shown = [row[token].strip() for row in seen.sample]
        for kept in (token for area in lists.areas for token in area.tokens[: len(seen.sample)]):
            assert kept in shown


# Bytes that aren't UTF-8, encodings, marks


def test_86_one_stray_byte_spoils_its_own_line_only():
    lists = read("86-one-byte.csv")
    (area,) = lists.areas
    assert area.tokens == ("caffè", "tè", "ragù", "purè")
    assert "line 5 holds the byte 0xE8" in said(lists)


def test_stray_bytes_of_a_plain_list_and_of_two_lines():
    lists = read_areas_file("tè\npurè\n".encode() + b"rag\xf9\n" + "caffè\n".encode() + b"per\xf2\n", "list.txt")
    assert lists.areas[0].tokens == ("tè", "purè", "ragù", "caffè", "però")
    odd = [str(note) for note in lists.notes if "0x" in str(note)]
    assert [note.split(",")[0] for note in odd] == ["line 3 holds the byte 0xF9", "line 5 holds the byte 0xF2"]


def test_a_whole_file_in_windows_1252_stays_one():
    lists = read_areas_file("fenêtre\nforêt\nœuf\n".encode("cp1252"), "mer.txt")
    assert lists.areas[0].tokens == ("fenêtre", "forêt", "œuf")
    assert "Windows-1252" in said(lists)


def test_107_an_encoding_can_be_chosen():
    assert by_area(read("107-gbk.txt", encoding="gbk")) == {"107-gbk": ("铁砧", "驳船", "蜡烛")}
    assert by_area(read("107-gbk.txt", encoding="gb18030")) == {"107-gbk": ("铁砧", "驳船", "蜡烛")}
    assert open_list((SECOND / "107-gbk.txt").read_bytes(), "107-gbk.txt", encoding="gbk").sample[0] == ("铁砧",)


@pytest.mark.parametrize(("text", "encoding"), [("лодка", "koi8-r"), ("łódź", "cp1250"), ("船舶", "big5")])
def test_chosen_encodings_of_tables(text, encoding):
    assert tokens_of(f"area,token\nx,{text}\nx,sea\n".encode(encoding), "x.csv", encoding=encoding) == (text, "sea")


def test_an_encoding_that_there_is_not_or_that_does_not_fit():
    with pytest.raises(InputError, match="utf-9"):
        read("107-gbk.txt", encoding="utf-9")
    with pytest.raises(InputError, match="utf-8"):
        read("107-gbk.txt", encoding="utf-8")


def test_an_encoding_that_was_taken_for_want_of_another_is_told():
    assert "choose another encoding" in said(read("107-gbk.txt"))


def test_107b_a_doubled_mark_is_no_part_of_a_name():
    lists = read("107b-two-marks.csv")
    assert by_area(lists) == {"tools": ("anvil", "barge")}
    assert tokens_of(b"\xef\xbb\xbf\xef\xbb\xbfanvil\nbarge\n") == ("anvil", "barge")


# One token a line


def test_96_a_list_whose_lines_have_no_common_columns_is_read_by_lines():
    assert by_area(read("96-comma-in-a-line.txt")) == {"96-comma-in-a-line": ("anvil", "rock, paper", "barge")}
    assert by_area(read("96b-quoted-beginning.txt")) == {
        "96b-quoted-beginning": ("anvil", '"quoted" word', "barge", "candle")
    }


@pytest.mark.parametrize(
    ("data", "tokens"),
    [
        (b"rock, paper\nanvil\nbarge\n", ("rock, paper", "anvil", "barge")),
        (b"anvil\na; b; c\nbarge\n", ("anvil", "a; b; c", "barge")),
        (b"{\nanvil\n[x]\n", ("{", "anvil", "[x]")),
        (b"anvil\r\n\r\n \r\nrock, paper\r\nbarge", ("anvil", "rock, paper", "barge")),
        (b"token\nrock, paper\nanvil\n", ("rock, paper", "anvil")),
    ],
)
def test_lists_of_a_token_a_line(data, tokens):
    assert tokens_of(data) == tokens


def test_rows_of_a_list_are_numbered_as_its_lines():
    lists = read_areas_file(b"anvil\n\nrock, paper\nbarge\nanvil\n", "x.txt")
    assert [(note.row, note.found) for note in lists.notes] == [(3, "rock, paper"), (5, "anvil")]  # several?, twice


def test_a_table_in_a_text_file_stays_a_table():
    assert by_area(read_areas_file(b"area,token\nx,anvil\nx,barge\ny\ny,sea\ny,ship\n", "x.txt")) == {
        "x": ("anvil", "barge"),
        "y": ("sea", "ship"),
    }
    with pytest.raises(InputError, match="lacks the columns area, token"):
        read_areas_file(b"rock,paper\nsalt,pepper\n", "x.txt")


def test_somebody_can_say_that_a_table_is_a_list():
    assert tokens_of(b"rock, paper\nsalt, pepper\n", by_lines=True) == ("rock, paper", "salt, pepper")


# Escapes and cells of workbooks


def test_91_escapes_are_decoded_and_line_breaks_inside_refused():
    assert list(by_area(read("91-escaped-at-the-end.xlsx")).values()) == [("anvil", "barge", "candle")]
    with pytest.raises(InputError, match=r"row 3: holds a tab, a line break.*ice\\rcream"):
        read("91b-escaped-inside.xlsx")


def test_99_dates_and_truth_values_of_a_workbook_are_told():
    rows = [("area", "token"), ("x", datetime.date(2026, 3, 1)), ("x", True), ("x", "sea"), ("x", "MARCH1")]
    lists = read_areas_file(workbook({"S": rows}), "x.xlsx")
    assert [(note.row, note.found) for note in lists.notes] == [(2, "2026-03-01"), (3, "TRUE")]
    assert "made a date" in str(lists.notes[0])


@pytest.mark.parametrize(
    "text", ["02-Jan", "1-Mar", "Mar-01", "2026-03-01 00:00:00", "3/1/2026", "1.23E+19", "#NAME?", "TRUE"]
)
def test_what_a_spreadsheet_made_of_a_text_before_it_saved_csv_is_told(text):
    lists = read_areas_file(f"area,token\nx,sea\nx,{text}\nx,ship\n".encode(), "x.csv")
    assert lists.areas[0].tokens == ("sea", text, "ship")
    (note,) = lists.notes
    assert (note.row, note.found) == (3, text)
    assert "spreadsheet" in str(note)


@pytest.mark.parametrize("text", ["1e5", "007", "true", "march", "may-fly", "10-4", "3.10", "2/3", "dec-10"])
def test_words_and_numbers_are_not_taken_for_it(text):
    assert read_areas_file(f"area,token\nx,sea\nx,{text}\nx,ship\n".encode(), "x.csv").notes == ()


# Alike, blank, small


def test_103_areas_and_tokens_that_differ_by_case_only_are_told():
    lists = read("103-areas-by-case.csv")
    assert by_area(lists) == {"Birds": ("Robin", "robin"), "birds": ("wren", "finch")}
    assert "row 4: the area's name differs from 'Birds' (row 2) in case or spaces only; they are two areas" in said(
        lists
    )
    assert "row 3: token of Birds differs from 'Robin' (row 2) in case or spaces only; both were kept" in said(lists)


@pytest.mark.parametrize("twin", ["ice  cream", "icecream", "Ice Cream", "ice\u00a0cream"])
def test_tokens_that_differ_by_spaces_or_case_are_told(twin):
    for lists in (
        read_areas_file(f"area,token\nx,ice cream\nx,sea\nx,{twin}\n".encode(), "x.csv"),
        read_pasted("x", f"\nice cream\nsea\n{twin}\n"),
    ):
        assert lists.areas[0].tokens == ("ice cream", "sea", twin)
        (note,) = lists.notes
        assert (note.row, note.found) == (4, twin)
        assert "'ice cream' (row 2)" in str(note)


def test_103b_blank_tokens_and_small_areas_are_told_and_the_others_saved(store):
    lists = read("103b-blanks-and-a-single.tsv")
    assert by_area(lists) == {"birds": ("wren", "finch", "robin"), "pair": ("cup", "mug")}
    told = said(lists)
    assert "row 4: the row has no token and was left out (found 'birds')" in told
    assert "row 6: the row has no token and was left out (found 'birds')" in told
    assert "row 2: the area alone has this token only and was left out" in told
    assert "the area pair has two tokens, which is one item" in told
    project_id = create_project(store, "Birds")
    add_areas(store, project_id, list(lists.areas))
    assert [area.name for area in read_areas(store, project_id)] == ["birds", "pair"]


def test_an_area_of_one_token_alone_is_refused_when_it_is_saved(store):
    lists = read_areas_file(b"area,token\nx,sea\n", "x.csv")
    assert lists.areas == (AreaTokens("x", ("sea",)),)
    with pytest.raises(InputError, match="fewer than two tokens"):
        add_areas(store, create_project(store, "One"), lists.areas)


def test_blank_cells_of_a_workbook_are_told():
    rows = [("area", "token", "note"), ("x", "sea", ""), ("x", " ", "b"), ("", "", "c"), (), ("x", "ship", "")]
    lists = read_areas_file(workbook({"S": [*rows, ("x", "boat", "")]}), "x.xlsx")
    assert [(note.row, note.found) for note in lists.notes] == [(3, "x"), (4, None)]


# Frequency lists


def test_frequencies_in_an_encoding_that_somebody_chose():
    data = "词,count\n铁砧,30\n驳船,10\n".encode("gbk")
    source = read_frequencies(data, "counts.csv", encoding="gbk", columns=("词", "count"))
    assert source.of(["铁砧", "驳船"]) == {"铁砧": 30, "驳船": 10}


def test_frequencies_of_a_file_with_a_stray_byte():
    source = read_frequencies("word\tcount\ntè\t30\n".encode() + b"rag\xf9\t10\n" + "purè\t5\n".encode(), "c.tsv")
    assert source.of(["tè", "ragù", "purè"]) == {"tè": 30, "ragù": 10, "purè": 5}
    assert "line 3 holds the byte 0xF9" in str(source.notes[0])


@pytest.mark.parametrize("header", ["word,count,count", "word,Word,count"])
def test_doubled_columns_of_frequencies_are_refused(header):
    data = f"{header}\nsea,1,2\nship,3,4\n".encode()
    with pytest.raises(InputError, match="several columns of one name"):
        read_frequencies(data, "c.csv")
    assert read_frequencies(data, "c.csv", columns=(0, 2)).of(["sea"]) == {"sea": 2}


def test_doubled_marks_before_frequencies():
    data = b'\xef\xbb\xbf\xef\xbb\xbf"word","count"\n"sea","30"\n'
    assert read_frequencies(data, "c.csv").of(["sea"]) == {"sea": 30}


def test_quotation_marks_of_frequencies_with_commas():
    source = read_frequencies(b'word,count\nsea,30\n",20\nship,10\n5" nail,5\n",1\n', "c.csv")
    assert source.of(["sea", '"', "ship", '5" nail']) == {"sea": 30, '"': 21, "ship": 10, '5" nail': 5}


# On the command line


def told(*args: str) -> dict:
    result = CliRunner().invoke(cli, ["tokens", *args, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_the_command_reads_as_the_page_does_and_writes_what_it_read(tmp_path):
    path = tmp_path / "list.csv"
    found = told(str(SECOND / "107-gbk.txt"), "--encoding", "gbk", "--output", str(path))
    assert found["areas"] == [{"name": "107-gbk", "tokens": ["铁砧", "驳船", "蜡烛"], "items": 3}]
    assert by_area(read_areas_file(path.read_bytes(), "list.csv")) == {"107-gbk": ("铁砧", "驳船", "蜡烛")}
    (note,) = told(str(SECOND / "107-gbk.txt"))["notes"]
    assert "choose another encoding" in note["message"]


def test_the_command_takes_columns_by_name_or_number(tmp_path):
    path = str(SECOND / "84b-two-token-columns.csv")
    assert told(path, "--area", "area", "--token", "3")["areas"][0]["tokens"] == ["barge", "dune"]
    assert told(path, "--token", "2")["areas"][0]["name"] == "84b-two-token-columns"
    refused = CliRunner().invoke(cli, ["tokens", path])
    assert refused.exit_code != 0
    assert CliRunner().invoke(cli, ["tokens", path, "--area", "1"]).exit_code == 2


def test_the_command_tells_rare_tokens_by_a_list_in_its_encoding(tmp_path):
    words, counts = tmp_path / "mer.txt", tmp_path / "counts.csv"
    words.write_text("铁砧\n驳船\n", encoding="utf-8")
    counts.write_bytes("word,count\n铁砧,99\n驳船,1\n蜡烛,100\n".encode("gbk"))
    found = told(str(words), "--frequencies", str(counts), "--frequencies-encoding", "gbk")
    assert [(row["n_rare"], row["n_unknown"]) for row in found["rare"]] == [(1, 0)]


def test_a_frequency_list_is_kept_so_that_it_is_read_in_its_encoding_ever_after(store):
    data = "word,count\n铁砧,30\n驳船,10\n".encode("gbk")
    project_id = create_project(store, "Counted")
    use_list(store, project_id, data, "c.csv", RareTerms(0.1, lower=False), encoding="gbk")
    with store.read() as conn:
        source = source_of(conn, project_id)
        assert source is not None
        assert frequencies_of(store, conn, project_id, source).of(["铁砧"]) == {"铁砧": 30}


# One table in every dialect


@settings(max_examples=15, deadline=None)
@given(TEXTS.filter(lambda texts: not any("\t" in text for text in texts)))
def test_tokens_and_counts_are_the_same_in_every_dialect(texts):
    told = set()
    for dialect, how in DIALECTS.items():
        lists = how.write(("area", "token", "note"), [("x", "sea", ""), *(("x", text, "y") for text in texts)])
        counts = how.write(("word", "count", "note"), [("sea", "7", ""), *((text, "3", "y") for text in texts)])
        if lists is None or counts is None or (dialect == "Windows-1252" and "".join(texts).isascii()):
            continue
        told.add(dialect)
        assert tokens_of(lists, "x.csv") == tuple(dict.fromkeys(["sea", *texts])), dialect
        assert read_frequencies(counts, "c.csv").of(texts) == {text: 3 * texts.count(text) for text in texts}, dialect
    assert {"comma", "UTF-16", "blank lines", "all quoted"} <= told
