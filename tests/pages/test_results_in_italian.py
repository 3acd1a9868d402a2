"""Whoever looks in Italian gets the same dataset as everybody, and pages without a text of ours in English."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from core.publishing import publish
from core.spoken import speaking
from core.store import Store
from core.views import evaluate_jobs, evaluate_scale, export
from core.views.evaluate import load


def test_a_published_dataset_is_the_same_whoever_makes_it(demo: Store) -> None:
    english = publish(demo, "demo")
    with speaking("it"):
        italian = publish(demo, "demo")
    assert italian.data == english.data
    assert italian.left_out == english.left_out


def test_what_a_job_keeps_is_the_same_whoever_asks(demo: Store) -> None:
    view = load(demo, "demo", 2.0, "relatedness")
    kept = evaluate_jobs.SLOW["floor"].kept
    english = kept(evaluate_scale.load_floor(demo, "demo", view))
    with speaking("it"):
        assert kept(evaluate_scale.load_floor(demo, "demo", view)) == english


def test_files_of_the_export_page_are_the_same_whoever_loads_them(demo: Store) -> None:
    english = export.load(demo, "demo")
    with speaking("it"):
        italian = export.load(demo, "demo")
        files = [found.make(italian.dataset) for found in export.FORMATS if not italian.problems.get(found.label)]
    assert (italian.stem, italian.description) == (english.stem, english.description)
    assert files == [found.make(english.dataset) for found in export.FORMATS if not english.problems.get(found.label)]


@pytest.mark.parametrize(
    ("key", "heads"),
    [
        ("scores", ["Punteggi", "Classifica", "Quanto fidarsi"]),
        ("evaluate", ["Valutazione", "Per area", "Meglio del caso?"]),
        ("export", ["Esportazione", "Versioni", "Che cosa contiene"]),
    ],
)
def test_a_page_in_italian(key: str, heads: list[str], demo: Store, visit: Callable[..., AppTest]) -> None:
    app = visit(key, "demo")
    app.query_params["lang"] = "it"
    app.run()
    assert not app.exception
    shown = [one.value for one in (*app.title, *app.header, *app.subheader)]
    assert [head for head in heads if head not in shown] == []
