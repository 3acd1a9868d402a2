"""Lines that list several tokens: told, and split only where somebody says so."""

from __future__ import annotations

import pytest

from core.__main__ import main
from core.tokens.files import open_list, read_pasted
from core.tokens.lists import split_tokens


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        ("salt, pepper", ["salt", "pepper"]),
        ("salt,pepper;oil", ["salt", "pepper", "oil"]),
        ("salt; pepper;", ["salt", "pepper"]),
        ("1,000 metres", ["1,000 metres"]),
        ("2,4-D", ["2,4-D"]),
        ("rock;", ["rock;"]),
        ("nuts and bolts", ["nuts and bolts"]),
        ("黑，白", ["黑，白"]),  # another comma, which may be part of a word
    ],
)
def test_what_a_line_lists(line: str, tokens: list[str]) -> None:
    assert split_tokens(line) == tokens


def test_one_token_a_line_is_told_and_split_where_it_is_said() -> None:
    text = "salt, pepper\nship\nboat"
    found = read_pasted("Sea", text)
    assert found.areas[0].tokens == ("salt, pepper", "ship", "boat")
    (note,) = found.notes
    assert (note.row, note.found) == (1, "salt, pepper")
    assert "holds a comma or a semicolon, and is one token; split it" in note.message
    assert read_pasted("Sea", text, split=False).notes == ()  # somebody was asked
    split = read_pasted("Sea", text + "\npepper", split=True)
    assert split.areas[0].tokens == ("salt", "pepper", "ship", "boat")
    assert [note.found for note in split.notes] == ["pepper"]  # there already


def test_cells_of_tables_too() -> None:
    table = open_list(b'area,token\nsea,"salt, pepper"\nsea,ship\n', "x.csv")
    assert table.read().areas[0].tokens == ("salt, pepper", "ship")
    assert table.read(split=True).areas[0].tokens == ("salt", "pepper", "ship")


def test_the_command_tells_and_splits(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "list.txt"
    path.write_text("salt, pepper\nship\nboat\n", "utf-8")
    with pytest.raises(SystemExit):
        main(["tokens", str(path)])
    assert "Note: row 1: 1 token holds a comma or a semicolon" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["tokens", str(path), "--split"])
    assert capsys.readouterr().out.startswith("list (4 tokens): salt, pepper, ship, boat")
