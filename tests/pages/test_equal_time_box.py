"""The Plan page's box of kinds of question at equal time."""

from __future__ import annotations

from dataclasses import replace

from page_words import labelled, words

from core.commands.base import to_json
from core.commands.figures.base import keep
from core.commands.figures.simulations import KindsAtEqualTime
from core.simulation.equal_time import COMPARISONS, ROUNDS, EqualTime, Times, unasked
from core.store.projects.plans import read_plan
from core.store.projects.project_commands import create_project
from core.store.scores.forecasts import GuessSource, read_guess
from core.views.equal_time import usual_times, view_of
from core.voters.model import Panel


def opened(app, project_id):
    """The page with the box open, which is drawn only then."""
    app.session_state[f"kinds-{project_id}"] = True
    app.run()
    assert not app.exception
    return app


def test_the_box_says_what_the_view_says_and_follows_the_times(demo, visit):
    settings = read_plan(demo, "demo")
    guess = read_guess(demo, "demo", None, source := GuessSource("exponential", Panel(settings.n_voters)))
    plan = settings.plan(guess.n_items)
    fields = {name: getattr(plan, name) for name in ("n_items", "n_ballots", "keep", "appearances")}
    wanted = KindsAtEqualTime("demo", 0, None, source, fields, settings.protocol, guess.digest())
    rounds = tuple(((value,) * 4, (value + 0.01,) * 4) for value in (0.96, 0.94, 0.92, 0.88, 0.86, 0.84))
    own = (((0.895,) * 4, (0.905,) * 4),) * 6
    kinds = (replace(unasked(COMPARISONS), runs=own), replace(unasked(ROUNDS), runs=rounds))
    made = EqualTime(guess.n_items, plan.n_comparisons, 2, kinds)
    keep(demo, wanted, {"pulse": 0, "found": to_json(made, EqualTime)})
    app = opened(visit("plan", "demo"), "demo")
    usual = usual_times(settings.seconds_per_comparison)
    reading = labelled(app.number_input, "Seconds to read an item")
    assert reading.value == usual.read
    assert view_of(made, usual, "both").headline in words(app)
    reading.set_value(0.1).run()
    told = view_of(made, Times(0.1, usual.decide), "both")
    assert told.headline.startswith("Stay with comparisons")
    assert told.headline in words(app)
    assert all(line in words(app) for line in told.lines)
    assert len([box for box in app.selectbox if box.label == "Assumed voters"]) == 1


def test_the_times_are_those_of_the_pilot_or_of_the_owners_trial(demo, visit):
    class Pace:
        mean = 12.02

    app = visit("plan", "demo")
    app.session_state["_pace-demo"] = Pace()
    app = opened(app, "demo")
    assert labelled(app.number_input, "Seconds to read an item").value == 4
    assert "By these a comparison takes 12 s; in your trial it takes 12 s." in words(app)


def test_other_kinds_have_the_box_too_and_few_items_have_none(demo, visit):
    app = visit("plan", "demo")
    app.query_params["kind"] = "rating"
    app = opened(app.run(), "demo")
    plan = read_plan(demo, "demo").plan(read_guess(demo, "demo", None, GuessSource()).n_items)
    assert f"as long as the plan's {plan.n_comparisons:,} comparisons take" in words(app)
    assert len([box for box in app.selectbox if box.label == "Assumed voters"]) == 1
    project_id = create_project(demo, "Nothing yet")
    app = opened(visit("plan", project_id), project_id)
    assert "Seconds to read an item" not in {box.label for box in app.number_input}
