"""Files are the same bytes whoever makes them: an Italian session writes what an English one does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from core.language import STANDARD
from core.publishing import publish
from core.spoken import asks, say
from core.store import Store
from core.store.archive import export_project
from core.store.frequencies import use_list
from core.store.projects import read_log
from core.views.datasheet import load
from core.views.log import log_table


def both(make: Callable[[], bytes]) -> tuple[bytes, bytes]:
    """What is made while whoever looks speaks English, and Italian."""
    try:
        asks(lambda: "en")
        english = make()
        asks(lambda: "it")
        assert say("Save") == "Salva"  # it is an Italian session
        return english, make()
    finally:
        asks(lambda: STANDARD)


def test_the_dataset_to_publish(demo: Store) -> None:
    english, italian = both(lambda: publish(demo, "demo").data)
    assert english == italian


def test_the_rare_tokens_of_a_datasheet(demo: Store) -> None:
    """Rare is what occurs less often than 250 times: sales, and all that the list lacks; three of 20 tokens aren't."""
    listed = b"sales,1\nmarketing,3000\nadvertising,3001\nretail,4001\n"
    use_list(demo, "demo", listed, "corpus.csv", share=0.1, lower=False)
    english, italian = both(lambda: repr(load(demo, "demo").areas).encode())
    assert english == italian
    (area,) = [area for area in load(demo, "demo").areas if area.name == "Sales & marketing"]
    assert (area.n_tokens, area.n_rare) == (20, 17)


def test_the_project_file(demo: Store) -> None:
    english, italian = both(lambda: export_project(demo, "demo"))
    assert english == italian


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The bytes that a page's download buttons give, by file name."""
    import streamlit as st

    found: dict[str, bytes] = {}
    draw = st.download_button

    def button(label: str, data: object, file_name: str, *args: object, **options: object) -> bool:
        made = data() if callable(data) else data
        found[file_name] = made.encode() if isinstance(made, str) else bytes(made)  # type: ignore[arg-type]
        return draw(label, data, file_name, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(st, "download_button", button)
    return found


def test_the_log_of_the_project_page(demo: Store, visit: Callable[..., AppTest], given: dict[str, bytes]) -> None:
    app = visit("project", "demo")
    (name,) = [name for name in given if name.endswith("-log.csv")]
    english = given.pop(name)
    app.session_state["_language"] = "it"
    app.query_params["lang"] = "it"
    app.run()
    assert not app.exception
    assert "Il percorso dei dati" in [header.value for header in app.subheader]
    assert given[name] == english
    assert english.decode("utf-8-sig") == log_table(read_log(demo, "demo", 1000)).to_csv(index=False)
