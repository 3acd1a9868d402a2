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
from core.store.projects import read_log
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
    assert english.decode() == log_table(read_log(demo, "demo", 1000)).to_csv(index=False)
