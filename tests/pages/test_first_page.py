"""The demo as it is shipped: its first page has the answer, its figures aren't stale, its tour leads on."""

from __future__ import annotations

import json

import pytest
from page_words import press, words

from core.commands.figures.base import measured, params_of
from core.commands.figures.evaluation import OF_EVALUATION, figure_of
from core.commands.figures.votes import TrustLines
from core.store.projects.demo import DATA, DEMO_ID, FIGURES, MODELS
from core.store.projects.project_commands import change_project, create_project, get_project
from core.views.evaluate import evaluate_page
from ui.project.demo_box import CHANGED, OFFSET, PURPOSE, STOPS

REMAKE = "Make it anew with `python data/build_demo.py --projects`."


def test_the_figures_are_those_that_the_pages_look_for(shipped):
    """They are found by settings, version and revision, so that Evaluate and Scores compute nothing."""
    project = get_project(shipped, DEMO_ID)
    view = evaluate_page.load(shipped, DEMO_ID, OFFSET, project.notion)
    kept = json.loads((DATA / FIGURES).read_text(encoding="utf-8"))
    assert {one["params"]["figure"] for one in kept} >= {"votes", "tokens", "floor", "top", "trust_lines"}
    for one in kept:
        figure = (
            TrustLines(DEMO_ID, project.revision, None)
            if one["params"]["figure"] == TrustLines.name
            else figure_of(one["params"]["figure"], DEMO_ID, view, project.revision)
        )
        asked = params_of(figure)
        del asked["revision"]
        assert (one["kind"], one["params"]) == (figure.kind, asked), f"data/{FIGURES} is stale. {REMAKE}"


@pytest.mark.release
def test_the_figures_are_what_the_page_would_compute(shipped):
    kept = json.loads((DATA / FIGURES).read_text(encoding="utf-8"))
    project = get_project(shipped, DEMO_ID)
    for one in kept:
        if one["params"]["figure"] == TrustLines.name:
            figure = TrustLines(DEMO_ID, project.revision, None)
        else:
            kind, settings = OF_EVALUATION[one["params"]["figure"]], tuple(one["params"]["settings"])
            figure = kind(DEMO_ID, project.revision, settings, tuple(one["params"]["extra"]))
        made = measured(shipped, figure)[0]
        if one["params"]["figure"] == TrustLines.name:  # sentences, without a number that `flat` would take
            assert made["found"] == one["result"]["found"]
        assert flat({"found": made["found"]}) == pytest.approx(flat(one["result"]), abs=1e-6, nan_ok=True), one[
            "params"
        ]["figure"]


def flat(found, path: str = "") -> dict[str, object]:
    """The numbers of a JSON value by their places."""
    if isinstance(found, dict):
        return {key: value for name, of in found.items() for key, value in flat(of, f"{path}/{name}").items()}
    if isinstance(found, list):
        return {key: value for n, of in enumerate(found) for key, value in flat(of, f"{path}/{n}").items()}
    return {path: found} if isinstance(found, int | float) else {}


def test_the_first_page_has_the_answer(shipped, visit):
    app = visit("project", DEMO_ID)
    said = words(app)
    assert app.subheader[0].value == f"{PURPOSE}."
    assert app.main.markdown[0].value.startswith("By simulated voters: **MiniLM")
    assert "leads: ρ_w = 0." in said
    assert "(90% with other voters: 0." in said
    assert "Told apart from all others with other voters" in said
    assert "simulated voters" in said
    assert "too high by construction" in said  # the model that the voters believe in part
    assert not app.exception


def test_without_intervals_no_model_is_named(shipped, visit):
    project = get_project(shipped, DEMO_ID)
    change_project(shipped, DEMO_ID, name="Mine", notion=project.notion, expected_revision=project.revision)
    said = words(visit("project", DEMO_ID))
    assert CHANGED in said
    assert "leads: " not in said


def test_the_intervals_of_the_demo_are_there_at_once(shipped, visit, started):
    app = visit("evaluate", DEMO_ID)
    assert "(90% with other voters: 0." in words(app)
    assert not [button.label for button in app.button if button.label.startswith("Compute")]
    assert started == []


def test_coverage_is_not_full(shipped):
    view = evaluate_page.load(shipped, DEMO_ID, OFFSET, "relatedness")
    assert sorted(set(view.overall["covered"])) == [722, 760]


@pytest.mark.release
def test_see_how_leads_from_page_to_page_once(shipped, visit):
    app = press(visit("project", DEMO_ID), "See how")
    places = []
    for key, _ in STOPS:
        app.switch_page(f"../pages/{key}.py").run()
        (card,) = [text.value for text in app.main.markdown if "**Tour, " in text.value]
        places.append(card.split("**")[1])
    assert places == [f"Tour, {n} of {len(STOPS)}." for n in range(1, len(STOPS) + 1)]
    assert "**Tour, " not in words(app.switch_page("../pages/voters.py").run())  # no stop there
    app.switch_page("../pages/export.py").run()
    press(app, "End the tour")
    assert "**Tour, " not in words(app)
    assert "**Tour, " not in words(visit("tokens", DEMO_ID))  # nobody else is on it


def test_the_tours_cards_are_of_the_demo_only(shipped, visit):
    mine = create_project(shipped, "My own")
    app = press(visit("project", DEMO_ID), "See how")
    assert f"**Tour, 1 of {len(STOPS)}.**" in words(app)
    app.query_params["project"] = mine
    for key in ("tokens", "plan", "export"):
        app.switch_page(f"../pages/{key}.py").run()
        assert app.session_state["project_id"] == mine
        assert not app.exception
        assert "**Tour, " not in words(app), key
    app.query_params["project"] = DEMO_ID
    assert f"**Tour, {len(STOPS)} of {len(STOPS)}.**" in words(app.run())  # it goes on where the demo is open again


def test_start_my_own_begins_a_project(shipped, visit):
    app = press(visit("project", DEMO_ID), "Start my own")
    assert [title.value for title in app.title] == ["New project"]


def test_what_source_says_of_the_models_are_the_kept_figures():
    """The table of `data/SOURCE.md` after the demo was made anew."""
    kept = {one["params"]["figure"]: one["result"] for one in json.loads((DATA / FIGURES).read_text(encoding="utf-8"))}
    source = (DATA / "SOURCE.md").read_text(encoding="utf-8").splitlines()
    for (name, _), figures in zip(MODELS, kept["votes"]["found"]["bounds"]["common"], strict=True):
        (row,) = [line for line in source if line.startswith(f"| {name} |")]
        value, lower, upper = (f"{bound:.2f}".replace("-", "−") for bound in figures[0])  # ρ_w
        assert f"| {value} ({lower} to {upper}) |" in row
