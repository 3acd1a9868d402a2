"""The Plan page's box of other kinds of question at equal time."""

from __future__ import annotations

from page_words import labelled, words

from core.commands.base import to_json
from core.commands.figures.base import keep
from core.commands.figures.simulations import KindsAtEqualTime
from core.simulation.equal_time import COMPARISONS, COSTS, TUPLES, EqualTime, KindAtCosts
from core.simulation.schemes import Times
from core.store.projects.plans import read_plan
from core.store.scores.forecasts import GuessSource, read_guess
from core.views.equal_time import usual_times, view_of
from core.voters.model import Panel


def test_the_box_says_what_the_view_says_and_follows_the_times(demo, visit):
    settings = read_plan(demo, "demo")
    guess = read_guess(demo, "demo", None, source := GuessSource("exponential", Panel(settings.n_voters)))
    plan = settings.plan(guess.n_items)
    fields = {name: getattr(plan, name) for name in ("n_items", "n_ballots", "keep", "appearances")}
    wanted = KindsAtEqualTime("demo", 0, None, source, fields, settings.protocol, guess.digest())
    rows = tuple((value, value + 0.01) for value in (0.96, 0.94, 0.92, 0.90, 0.88, 0.84))
    own = ((0.895, 0.905),)
    kinds = (KindAtCosts(COMPARISONS, (1.0,), (9,), own, own), KindAtCosts(TUPLES, COSTS[TUPLES], (9,) * 6, rows, rows))
    made = EqualTime(guess.n_items, plan.n_comparisons, 2, kinds)
    keep(demo, wanted, {"pulse": 0, "found": to_json(made, EqualTime)})
    app = visit("plan", "demo")
    assert not app.exception
    usual = usual_times(settings.seconds_per_comparison)
    reading = labelled(app.number_input, "Reading an item, seconds")
    assert reading.value == usual.read
    assert view_of(made, usual, "both").headline in words(app)
    reading.set_value(0.1).run()
    told = view_of(made, Times(0.1, usual.decide), "both")
    assert told.headline.startswith("Stay with comparisons")
    assert told.headline in words(app)
    assert all(line in words(app) for line in told.lines)
