"""A fourth protocol on the pages: offered, forecast, drawn, closed, trusted, evaluated and published under its name."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from campaigns import AREAS, PLAN, make_project, run_simulated
from page_words import labelled, press, turn_to, words
from test_pages import KEYS

from core import worker
from core.commands.publishing import publish
from core.dataset.published import read_published
from core.simulation.forecast import number_of_campaigns
from core.simulation.search import recommend
from core.store.ballots.ballot_rows import read_ballots
from core.store.projects.archive import export_project, import_project
from core.store.projects.embedding_library import import_into
from core.store.projects.plans import read_plan
from core.store.scores.project_dataset import read_project_dataset


@pytest.fixture
def brief(monkeypatch):
    """Forecasts and searches of a few campaigns each."""
    for name in ("FEWEST", "MOST"):
        monkeypatch.setitem(number_of_campaigns.__globals__, name, 3)
    for name, value in {"ROUNDS": ((2, 0.1), (2, 0.0)), "HELD_OUT": 2}.items():
        monkeypatch.setitem(recommend.__globals__, name, value)


def test_pages_have_a_fourth_protocols_own_words(empty, visit, swiss):
    project_id = make_project(empty, kind="trial", plan=replace(PLAN, protocol=swiss))
    run_simulated(empty, project_id, 1)
    (told,) = [one for one in visit("plan", project_id).markdown if one.value.startswith("Protocol: ")]
    assert told.value.replace("\\", "") == "Protocol: **Swiss: neighbours by wins**"
    assert "Swiss lets those meet that won as often." in told.proto.help
    app = visit("scores", project_id)
    assert not app.exception
    assert "A hundredth of the votes it won." in app.dataframe[0].proto.columns
    turn_to(app, "Ballot by ballot")
    assert "By this protocol the paper's x, y and ȳ and its Figures 2 and 4 don't exist." in words(app)


@pytest.mark.release
@pytest.mark.usefixtures("brief")
def test_a_fourth_protocol_goes_its_way_on_the_pages(empty, visit, swiss, started, tmp_path):
    project_id = make_project(empty, kind="trial", plan=None)
    rng = np.random.default_rng(1)
    lines = [f"{token} {' '.join(map(str, rng.random(5)))}" for area in AREAS for token in area.tokens]
    (tmp_path / "vectors.txt").write_text("\n".join(lines), encoding="utf-8")
    import_into(empty, project_id, tmp_path / "vectors.txt")

    app = visit("plan", project_id)
    chosen = labelled(app.get("button_group"), "Protocol")
    assert "Swiss: neighbours by wins" in chosen.options
    assert "Swiss lets those meet that won as often." in chosen.help
    chosen.set_value(swiss)
    app.run()
    labelled(app.number_input, "Ballots, n_b").set_value(2)
    labelled(app.text_input, "Appearances, M").set_value("6").run()
    press(app, "Simulate this plan")
    worker.run(started.pop())
    app.run()
    (outlook,) = [table.value for table in app.dataframe if "tells apart" in table.value]
    assert outlook["protocol"].tolist() == ["Swiss", "Runoff's own", "the paper's", "every item alike"]
    press(app, "Simulate other budgets")
    worker.run(started.pop())
    app.run()
    assert "The dashed line is this plan." in words(app)
    press(app, "Find the best plan")
    worker.run(started.pop())
    app.run()
    assert re.search(r"Best of .* It comes to 0\.\d{3} in ", words(app))
    press(app, "Save this plan")
    assert read_plan(empty, project_id).protocol == swiss

    app = visit("collect", project_id)
    for number in (1, 2):
        press(app, f"Draw ballot {number}")
        press(app, "Let simulated voters answer this ballot")
        press(app, f"Close ballot {number}")
        assert not app.exception
    assert [(ballot.protocol, ballot.state) for ballot in read_ballots(empty, project_id)] == [(swiss, "closed")] * 2

    app = visit("scores", project_id)
    said = words(app)
    for name in ("Enough votes", "Won and lost", "The top 10", "First place", "Agreement", "Noise ceiling"):
        assert f"**{name}.**" in said
    (ranking,) = [table for table in app.dataframe if {"rank", "score", "lower"} <= set(table.value)][:1]
    assert "A hundredth of the votes it won." in ranking.proto.columns
    app = visit("evaluate", project_id)
    assert "vectors" in app.table[0].value.to_string()
    for key in KEYS:
        app = visit(key, project_id)
        assert not app.exception, key
        assert not app.error, key

    published = publish(empty, project_id).data
    sheet = read_published(published).files["datasheet.md"].decode("utf-8")
    assert "Swiss. Items meet that won as often so far." in sheet
    assert read_project_dataset(empty, project_id).attrs["estimator"] == "wins"
    copy = import_project(empty, export_project(empty, project_id))
    assert "A hundredth of the votes it won." in visit("scores", copy).dataframe[0].proto.columns
