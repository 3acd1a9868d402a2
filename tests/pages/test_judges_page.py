"""Language models on the Evaluate page: off until switched on; what is sent where; a job asks; what is said of it."""

from __future__ import annotations

import pytest
from campaigns import answer_batch, draw_batch, make_project
from chat_server import chat_server
from page_words import labelled, press, words

from core import worker
from core.store.projects.model_servers import CHAT, read_server
from core.store.votes.intake import accept_upload
from core.store.votes.model_answers import read_judges


def test_nothing_is_sent_before_a_model_is_switched_on(empty, visit):
    project = make_project(empty)
    draw_batch(empty, project)
    told = words(visit("evaluate", project))
    assert "They are not people's votes" in told
    assert "Nothing is sent anywhere until you switch a language model on." in told


@pytest.mark.release
def test_a_model_is_switched_on_asked_and_set_beside_people(empty, visit, started, monkeypatch):
    monkeypatch.setenv("RUNOFF_JUDGE_KEY", "sk-secret")
    project = make_project(empty)
    accept_upload(empty, project, answer_batch(draw_batch(empty, project)), "results.csv")
    app = visit("evaluate", project)
    assert "They are not people's votes" in words(app)
    assert "Nothing is sent anywhere until you switch a language model on." in words(app)
    assert not [button for button in app.button if button.label.startswith("Ask ")]
    labelled(app.text_input, "Address of the server").set_value("server")
    labelled(app.text_input, "Model").set_value("judge")
    press(app, "Switch it on")
    assert "begins with http:// or https://" in words(app)
    assert read_server(empty, project, CHAT) is None
    with chat_server() as server:
        labelled(app.text_input, "Address of the server").set_value(f"{server.url}/v1/")
        press(app, "Switch it on")
        assert read_server(empty, project, CHAT)["address"] == server.url
        assert f"sends to {server.url}/v1/chat/completions, with the key that RUNOFF_JUDGE_KEY holds" in words(app)
        assert "sk-secret" not in words(app)
        press(app, "Ask 84 questions")
        assert server.asked == []  # a job does it
        (job,) = started
        worker.run(job)
        assert len(server.asked) == 84
    app.run()
    assert "The language model gave 84 answers, 84 votes among them." in words(app)
    assert len(read_judges(empty, project)) == 1
    assert "84 answers, 84 votes among them." in words(app)
    tables = [table.value for table in app.table]
    beside = next(table for table in tables if "figure" in table).set_index("figure").replace(r"\\", "", regex=True)
    assert beside.loc["flips with the order", "value"] == "0%"
    beside.index = beside.index.str.replace("\\", "")
    assert beside.loc["ρ_w of its own ranking", "from"].startswith("21 of 21 items, 84 votes of the model")
    assert beside.loc["sharpness", "people"] != ""
    gaps = next(table for table in tables if "gap of scores" in table)
    assert gaps["comparisons"].sum() <= 42
    assert list(gaps["same answer"]) == ["100%"] * len(gaps)  # both go by letters alone
    press(app, "Switch it off")
    assert "Nothing is sent anywhere until" in words(app)
    assert "84 answers, 84 votes among them." in words(app)
