"""A fifth kind of question on the pages: chosen, planned, drawn, answered, closed and shown; no page knows it."""

from __future__ import annotations

from page_words import labelled, press, words

from tests.odd_ones import OddOne
from tests.rounds_of_people import read_rounds


def test_a_fifth_kind_is_on_the_pages(demo, visit, odd):
    app = visit("plan", "demo")
    labelled(app.get("button_group"), "Kind of question").set_value("odd").run()
    assert OddOne.about.offered in words(app)
    labelled(app.number_input, "Tuples per item").set_value(2).run()
    press(app, "Save this plan")
    app.switch_page("../pages/collect.py").run()
    press(app, "Draw round 1")
    assert not app.exception
    found = read_rounds(demo, "demo")[-1]
    assert (found.scheme, found.settings.appearances) == ("odd", 2)
    app.session_state[f"rehearsal-{found.id}"] = True
    app.run()
    labelled(app.button, "Rehearse now")
    press(app, "Let simulated people answer")
    assert not app.exception
    press(app, f"Close round {found.number}")
    assert not app.exception
    assert f"{found.title}. Closed: " in words(app)
    for page in ("voters", "evaluate", "export", "scores"):
        app.switch_page(f"../pages/{page}.py").run()
        assert not app.exception, page
        assert found.title in words(app), page
    assert {"rank", "score", "answers"} <= set(app.dataframe[0].value.columns)
    assert [(one.label, one.value) for one in app.metric][-2:] == [
        ("Triples", f"{2 * found.n_comparisons:,}"),
        ("Voters", "20"),
    ]
    assert not read_rounds(demo, "demo")[-1].is_open
