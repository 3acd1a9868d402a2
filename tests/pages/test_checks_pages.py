"""Checks in the ballots on the pages: switched on and off in the plan, counted while collecting, told with scores."""

from __future__ import annotations

from dataclasses import replace

from campaigns import PLAN, draw_batch, make_project
from page_words import turn_to, words

from core.ballots.checks import CheckSettings, GoldComparison
from core.questions.comparison_page import Example, Wording
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.ballots.simulated import simulate_votes
from core.store.projects.plans import proposed_plan, read_plan
from core.views.plan import cost_text, counts_table

CHECKS = CheckSettings(overlap=0.2, gold=1, gold_pairs=(GoldComparison(("cat", "dog"), ("saw", "007")),), repeats=1)
WITH = replace(PLAN, appearances=8, task_size=7, n_voters=12, reward=0.5, checks=CHECKS)


def switch(app, label):
    return next(toggle for toggle in app.toggle if toggle.label == label)


def test_the_plan_page_shows_the_switch_and_its_cost(empty, visit):
    project_id = make_project(empty, plan=None)
    app = visit("plan", project_id)
    assert not app.exception
    assert switch(app, "Checks in the ballots").value is True
    plan = proposed_plan(21, 11)
    assert cost_text(plan.plan(21), plan) in words(app).replace("\\", "")
    next(button for button in app.button if button.label == "Save this plan").click().run()
    assert read_plan(empty, project_id).checks == plan.checks
    app = visit("plan", project_id)
    switch(app, "Checks in the ballots").set_value(False).run()
    assert "No checks: nothing will tell" in words(app)
    next(button for button in app.button if button.label == "Save this plan").click().run()
    assert read_plan(empty, project_id).checks is None


def test_a_line_that_is_no_known_answer_is_named(empty, visit):
    app = visit("plan", make_project(empty, plan=WITH))
    next(area for area in app.text_area if area.label.startswith("Known answers")).set_value("cat > dog").run()
    assert not app.exception
    assert "Line 1 of the comparisons with a known answer" in words(app)
    lines = next(area for area in app.text_area if area.label.startswith("Known answers"))
    lines.set_value("dog, cat > saw, horse").run()
    assert "Among the known answers, saw – horse is no item here" in words(app).replace("\\", "")
    assert "cat is no item" not in words(app)


def test_the_plan_of_drawn_ballots_is_text_with_nothing_to_type(empty, visit):
    """Its parts are drawn once they are opened, so that the page is quick; what voters read is as it was asked."""
    example = Example(("ship", "harbour"), ("ship", "dentist"), "left", "Ships lie there")
    wording = Wording("Which *two*?", "", (example,))
    plan = replace(WITH, wording=wording, appearances=(4, 6), n_ballots=2, fee=0.35, ties_allowed=False)
    project_id = make_project(empty, plan=plan)
    draw_batch(empty, project_id)
    app = visit("plan", project_id)
    typed = [*app.number_input, *app.text_input, *app.text_area, *app.get("button_group")]
    assert {"Seed", "Appearances, M", "Question", "Protocol"}.isdisjoint(box.label for box in typed)
    assert not any(button.disabled for button in app.button)
    said = words(app)
    for fact in (
        "Ballots, n_b: **2**", "Appearances, M: **4, 6**", "Platform's fee (%): **35**",
        "Voters may answer “equal”: **no**", "Seed: **7**",
    ):  # fmt: skip
        assert fact in said
    assert "Which *two*?" not in said
    for box in ("checks-drawn", "wording-drawn", "check-votes"):
        app.session_state[box] = True
    app.run()
    assert not app.exception
    said = words(app)
    assert "**Which *two*?**" in said
    assert "Example 1: ship – harbour | ship – dentist. Left pair: Ships lie there" in said
    assert "Judged by several voters (%): **20**" in said
    assert "How often: **in every task**" in said
    tables = [set(table.value.columns) for table in app.dataframe]
    assert set(counts_table(plan.plan(21), plan).columns) in tables


def test_a_mistyped_known_answer_costs_no_example_of_the_plan(empty, visit):
    example = Example(("ship", "harbour"), ("ship", "dentist"), "left", "")
    app = visit("plan", make_project(empty, plan=replace(WITH, wording=Wording(examples=(example,)))))
    for typed in ("nonsense", "cat, dog > saw, 007"):
        lines = next(area for area in app.text_area if area.label.startswith("Known answers"))
        lines.set_value(typed).run()
        assert not app.exception
        assert [text.value for text in app.text_input if text.label == "Left pair"] == ["ship"]
    assert "comparisons with a known answer" not in words(app)


def test_the_cost_is_counted():
    plan = WITH.plan(21)
    votes = counts_table(plan, WITH).iloc[:, 2:].to_numpy().sum()
    said = cost_text(plan, WITH)
    assert f"up to {votes} votes besides the {plan.n_comparisons}" in said
    factor = (plan.n_comparisons + votes) / plan.n_comparisons
    assert f"a reward of {0.5 * factor:.2f} in place of 0.50" in said
    assert "reward" not in cost_text(plan, replace(WITH, reward=0.0))
    more = WITH.cost(plan).hours / replace(WITH, checks=None).cost(plan).hours
    assert abs(more - factor) < 1e-9


def test_collect_and_scores_say_what_came_of_them(empty, visit):
    project_id = make_project(empty, kind="trial", plan=WITH)
    for _ in range(2):
        draw_next_ballot(empty, project_id)
        simulate_votes(empty, project_id)
        close_ballot(empty, project_id)
    draw_next_ballot(empty, project_id)
    simulate_votes(empty, project_id, share=0.5)
    said = words(visit("collect", project_id))
    assert "Checks in this ballot, answered of those asked for" in said
    app = turn_to(visit("scores", project_id), "Checks")
    assert not app.exception
    assert "Checks in the ballots" in words(app)
    assert "by an audit (90% interval" in words(app)
    table = next(frame.value for frame in app.dataframe if "behind it" in frame.value)
    assert table["check"].tolist() == [
        "Known answers found", "The same answer when asked again", "Equal answers of two voters",
    ]  # fmt: skip
    assert table["share"].between(0, 100).all()


def test_without_checks_nothing_is_said_of_them(empty, visit):
    project_id = make_project(empty, kind="trial", plan=replace(WITH, checks=None))
    draw_next_ballot(empty, project_id)
    simulate_votes(empty, project_id)
    assert "Checks in this ballot" not in words(visit("collect", project_id))
    close_ballot(empty, project_id)
    assert "The cut" not in words(visit("scores", project_id))  # ballot 1 held all items
    draw_next_ballot(empty, project_id)
    simulate_votes(empty, project_id)
    close_ballot(empty, project_id)
    said = words(turn_to(visit("scores", project_id), "Checks"))
    assert "Checks in the ballots" not in said
    assert "No audit: no item that was cut came back as a check" in said
