"""Whatever tokens, areas, projects, voters and files are called: the pages show it as text, never as markup."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from campaigns import answer_batch, draw_batch
from streamlit.testing.v1 import AppTest

from core.store.ballots.closing import close_ballot
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas
from core.store.votes.intake import accept_upload
from core.tokens.files import AreaTokens
from ui.shared.frame import PAGES, plain

NASTY = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "$x^2_1$",
    ":material/bolt:",
    ":red[hot]",
    ":smile:",
    "**bold**",
    "_low_",
    "`code`",
    "[link](https://example.com)",
    "![picture](https://example.com/x.png)",
    "# title",
    "- list",
    "1. first",
    "> quoted",
    "a | b",
    "~~gone~~",
    "www.example.com",
    "=1+1",
    "${left_b}",
    "&lt;b&gt;",
    "\\n",
    "--",
)
# What these draw as Markdown or as controls' names, by the type of the element; the rest draws texts as they are.
AS_THEY_ARE = {
    "arrow_data_frame", "vega_lite_chart", "arrow_vega_lite_chart", "code", "json", "text", "text_input", "text_area",
    "number_input", "selectbox", "multiselect", "iframe", "component_instance", "bidi_component",
}  # fmt: skip
NEVER_DRAWN = {
    "id", "form_id", "icon", "element_id", "query_string", "page", "page_script_hash", "data", "url", "value",
}  # fmt: skip


def drawn(message: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text of an element that a browser may draw as Markdown, with where it stands."""
    for field, value in message.ListFields():  # type: ignore[attr-defined]
        if field.name in NEVER_DRAWN:
            continue
        values = value if field.is_repeated else [value]
        for each in values:
            if isinstance(each, str):
                yield (*path, field.name), each
            elif hasattr(each, "ListFields"):
                yield from drawn(each, (*path, field.name))


def elements(block: object) -> Iterator[object]:
    for child in getattr(block, "children", {}).values():
        if hasattr(child, "children"):
            yield child
            yield from elements(child)
        else:
            yield child


def markup_in(app) -> list[str]:
    """Texts of a page in which a nasty name stands so that it would be drawn as markup."""
    found = []
    for element in elements(app._tree):
        proto = getattr(element, "proto", None)
        if proto is None or element.type in AS_THEY_ARE:
            continue
        for path, text in drawn(proto):
            for name in NASTY:
                if name in text and plain(name) != name:
                    found.append(f"{element.type} {'.'.join(path)}: {text[:200]!r}")
                    break
    return found


@pytest.fixture
def nasty(empty):
    """A project with such names everywhere: one ballot closed, one open with votes, one file left to look at."""
    project_id = create_project(empty, NASTY[0] + " $p$ :red[project]", seed=3)
    half = len(NASTY) // 2
    add_areas(empty, project_id, [AreaTokens(":blue[*area*] $a$", NASTY[:half]), AreaTokens("<b>b</b>", NASTY[half:])])
    save_plan(empty, project_id, PlanSettings(n_ballots=3, keep=0.5, appearances=4, task_size=3, n_voters=6, seed=7))
    voters = [f"{name} {n}" for n, name in enumerate(NASTY[:6])]
    for number in (1, 2):
        data = answer_batch(draw_batch(empty, project_id), voters=voters, tag=f"A{number}")
        accept_upload(empty, project_id, data, f"<b>{NASTY[4]}</b> $f$ {number}.csv")
        if number == 1:
            close_ballot(empty, project_id)
    return project_id


def test_no_name_is_drawn_as_markup(nasty, visit):
    for key, *_ in PAGES:
        app = visit(key, nasty)
        assert not app.exception, key
        assert markup_in(app) == [], key


def test_the_walk_sees_what_is_drawn():
    def page():
        import streamlit as st

        st.markdown("a :red[hot] token")
        with st.expander("**bold**"):
            st.button("`code`")
        st.dataframe({"a": ["$x^2_1$"]})
        st.radio("x", ["[link](https://example.com)"])

    assert len(markup_in(AppTest.from_function(page).run())) == 4


@pytest.mark.parametrize("way", ["uncaught", "command", "issues", "stale", "job"])
def test_no_error_is_drawn_as_markup(way):
    """However an error comes to a page: what it repeats of names, cells and texts is text."""

    def page(way: str, text: str) -> None:
        import streamlit as st

        from core.errors import InputError, Issue, StaleError
        from ui import start
        from ui.shared import frame

        st.session_state["_pages"] = {}

        def fail() -> None:
            if way == "stale":
                raise StaleError(text)
            raise InputError(text, [Issue(text, column=text), Issue(text)] if way == "issues" else [])

        if way == "uncaught":
            assert start.on_script_error(InputError(text))
        elif way == "job":
            frame.flash(text, kind="warning", details=[text])
        else:
            frame.carried_out(fail, done="")
        frame.show_flash()

    for name in ("*", "$x$", ":red[hot]", "<b>", "[link](https://example.com)", "`code`"):
        app = AppTest.from_function(page, args=(way, f"The file {name} {name} can't be read."))
        app.run()
        assert not app.exception
        assert len(app.error) + len(app.warning) == 1
        for shown in [*app.error, *app.warning]:
            assert shown.value.startswith(plain(f"The file {name} {name} can't be read."))
