"""The app's own texts in another language: none is shown past the catalogue, none is said too early, files stay."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from core.language import LANGUAGES, STANDARD, language
from core.spoken import asks, say, say_many, speaking, spoken, tell, tell_many, to_say, told_found, told_kept
from core.views.words import estimated, many, moment
from tests import catalogue
from ui.frame import PAGES

ROOT = Path(__file__).resolve().parents[1]
OTHERS = [code for code in LANGUAGES if code != STANDARD]
MODULES = sorted([*ROOT.glob("ui/*.py"), *ROOT.glob("pages/*.py"), *ROOT.glob("core/views/*.py")])
# What Streamlit and Altair show of what they are called with; names as our own helpers have them.
SHOWS = {
    *("title", "header", "subheader", "markdown", "caption", "write", "text", "info", "warning", "error", "success"),
    *("toast", "button", "download_button", "link_button", "form_submit_button", "checkbox", "toggle", "radio"),
    *("selectbox", "multiselect", "slider", "select_slider", "text_input", "text_area", "number_input", "date_input"),
    *("file_uploader", "expander", "popover", "metric", "spinner", "status", "segmented_control", "pills", "tabs"),
    *("progress", "Column", "TextColumn", "NumberColumn", "CheckboxColumn", "SelectboxColumn", "ProgressColumn"),
    *("Axis", "Legend", "Tooltip", "TitleParams", "link", "next_step", "nothing_yet", "flash", "command_button"),
}
NAMED = {"help", "label", "placeholder", "title", "subtitle", "done", "text", "caption", "body"}
_WORD = re.compile(r"[A-Za-z]{3,}")
# Nor have kinds of files, their names, and what Altair calls a column.
_NO_WORDS = re.compile(
    r":material/\w+:|<[^>]*>|`[^`]*`|https?://\S+|\b(?:text|image|application)/[\w.+-]+|[\w-]*\.[a-z]{2,4}$|\w+:[NQOT]$"
)
KEYS = {page[0] for page in PAGES}  # which `nothing_yet` is given between two texts


def literals(node: ast.expr) -> Iterator[str]:
    """The texts that an argument may be, put together or not; what is given to a call isn't one of them."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else "" for part in node.values)
    elif isinstance(node, ast.IfExp):
        yield from (*literals(node.body), *literals(node.orelse))
    elif isinstance(node, ast.BinOp):
        yield from (*literals(node.left), *literals(node.right))
    elif isinstance(node, ast.List | ast.Tuple):
        for element in node.elts:
            yield from literals(element)
    elif isinstance(node, ast.Lambda):
        yield from literals(node.body)


def raw_texts(path: Path) -> list[str]:
    """Texts with words that a module shows without asking the catalogue."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in SHOWS or ast.unparse(node.func).startswith("log."):
            continue
        begin = 1 if name in {"link", "next_step"} else 0  # the page's key
        given = [*node.args[begin:], *(keyword.value for keyword in node.keywords if keyword.arg in NAMED)]
        for text in (text for argument in given for text in literals(argument)):
            if text not in KEYS and _WORD.search(_NO_WORDS.sub("", text)):
                found.append(f"{node.lineno}: {text[:80]}")
    return found


def said_at_import(path: Path) -> list[str]:
    """Calls of `say` and its kind that run before anybody's language is known: outside functions, or as defaults."""
    found: list[str] = []

    def walk(node: ast.AST, inside: bool) -> None:
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                if default is not None:
                    walk(default, inside)
            for decorator in getattr(node, "decorator_list", []):
                walk(decorator, inside)
            body = node.body if isinstance(node.body, list) else [node.body]
            for part in body:
                walk(part, True)
            return
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if is_call and node.func.id in {"say", "say_many", "many", "estimated"} and not inside:
            found.append(f"{path.name}, line {node.lineno}")
        for child in ast.iter_child_nodes(node):
            walk(child, inside)

    # A page runs anew for each visit: its own level is no import.
    walk(ast.parse(path.read_text("utf-8")), path.parent.name == "pages")
    return found


@pytest.mark.parametrize("code", OTHERS)
def test_the_catalogue_of_the_app_has_all_texts_of_the_sources_and_no_others(code):
    assert catalogue.faults(code, catalogue.APP) == []
    assert catalogue.file_of(code, catalogue.APP).read_bytes() == catalogue.updated(code, catalogue.APP)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_module_shows_no_text_past_the_catalogue(path):
    assert raw_texts(path) == []


def test_texts_are_said_when_they_are_shown():
    """At import nobody's language is known; texts of constants are marked by `to_say` instead."""
    assert [place for path in [*MODULES, *ROOT.glob("core/*.py")] for place in said_at_import(path)] == []


def test_the_check_of_shown_texts_sees_them_all(tmp_path):
    source = (
        'st.title("A title")\nst.button(say("Go"), help=f"{n} votes")\nst.radio("x", ["One way", "0"])\nopen("a file")'
    )
    (tmp_path / "page.py").write_text(source)
    assert [line[:1] for line in raw_texts(tmp_path / "page.py")] == ["1", "2", "3"]


def test_a_number_is_written_as_the_language_writes_it():
    values = {"n": 1234, "share": 0.125, "x": np.float64(0.5), "m": np.int64(2000)}
    text = "{n:,} of {m:,}, {share:.1%}, {x:.3f}"
    assert say(text, **values) == "1,234 of 2,000, 12.5%, 0.500"
    with speaking("it"):
        assert say(text, **values) == "1.234 of 2.000, 12,5%, 0,500"


def test_only_names_that_are_given_are_replaced_and_values_are_not_read_again():
    assert say("{a} {b} {c:,}", a="{b}", b="x,y.z") == "{b} x,y.z {c:,}"
    assert say("{a}") == "{a}"


def test_what_is_counted_has_its_form():
    assert [many(n, "vote") for n in (0, 1, 2, 1200)] == ["0 votes", "1 vote", "2 votes", "1,200 votes"]
    assert say_many(1, "{n} is {what}", "{n} are {what}", what="in") == "1 is in"
    with speaking("it"):
        assert [many(n, "vote") for n in (1, 1200)] == ["1 voto", "1.200 voti"]


def test_who_looks_has_a_language_and_what_makes_files_keeps_its_own():
    try:
        asks(lambda: "it")
        assert spoken().code == "it"
        with speaking("en"):
            assert spoken() is language("en", "app")
        assert spoken().code == "it"
    finally:
        asks(lambda: STANDARD)


def test_times_are_iso_in_english_and_local_elsewhere():
    stored = datetime(2026, 11, 28, 3, 4, 5, tzinfo=UTC).isoformat()
    assert moment(stored) == "2026-11-28 03:04"
    with speaking("it"):
        assert moment(stored) == "28/11/26, 03:04"


def test_estimates_have_the_marks_of_the_language():
    from core.estimates import Estimate

    assert estimated(Estimate(0.1, 0.05, 0.2)) == "0.100 (0.050 to 0.200)"
    with speaking("it"):
        assert estimated(Estimate(0.1, 0.05, 0.2)) == "0,100 (da 0,050 a 0,200)"


def test_a_mark_changes_nothing():
    assert to_say("Items") == "Items"


def test_what_a_computation_tells_is_english_until_it_is_said():
    with speaking("it"):
        reason = tell("over {n} items, and {least} are needed", n=2, least=3)
        around = tell("r: {why}", why=reason)
        assert (str(reason), around) == ("over 2 items, and 3 are needed", "r: over 2 items, and 3 are needed")
        assert say(reason) == "su 2 coppie, e ne servono 3"
        assert say(around) == "r: su 2 coppie, e ne servono 3"
    assert say(around) == around


def test_what_was_told_is_kept_in_no_language():
    items = tell_many(np.int64(1200), "{n} item", "{n} items")
    sentence = "{lost} never lost and {won} never won: each stands at an end, how far out isn't known."
    told = tell(sentence, lost=items, won="{n}", unused=np.float64("nan"))
    kept = json.loads(json.dumps(told_kept(told), allow_nan=False))
    found = told_found(kept)
    assert (str(found), told_kept(found)) == (str(told), kept)
    assert found.startswith("1,200 items never lost and {n} never won")
    with speaking("it"):
        assert say(found) == say(told) != str(told)
        assert say(told_found(told_kept(tell_many(1, "{n} vote", "{n} votes")))) == "1 voto"
        assert say(tell("{why}", why=tell("Animals"))) == say(told_found(told_kept(tell("{why}", why=tell("Animals")))))
        assert say(told_found("Items")) == say("Items")  # what nobody told, such as an error, is a text
    assert tell(told) is told


def test_a_table_for_a_file_is_the_same_whoever_looks(monkeypatch):
    import streamlit as st

    from core.schemes.target_groups import TargetGroup, from_orders, score_groups
    from core.views import target_groups
    from ui import scheme_tables

    taken = {}
    monkeypatch.setattr(st, "download_button", lambda label, data, name, *_, **__: taken.update({name: data}))
    words = from_orders(TargetGroup("sea", ("ship", "salt")), [{"ship": 1, "salt": 2}])
    found = {"model": score_groups(words, lambda targets, _: np.full(len(targets), np.nan))}
    for code in ("en", "it"):
        with speaking(code):
            shown = target_groups.scores(found)
            assert shown["covered"].tolist() == ["0 of 1" if code == "en" else "0 di 1"]
            scheme_tables.download("Scores", lambda: target_groups.scores(found), code)
    english, italian = (taken[code]() for code in ("en", "it"))
    assert english == italian
    assert b"0 of 1" in italian
