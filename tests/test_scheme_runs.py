"""The schemes compared for a project: what is asked, what a job keeps of it, and what stands for many items."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from campaigns import make_project

from core.commands.base import from_json, to_json
from core.commands.figures.base import figure_of, params_of
from core.commands.figures.simulations import SchemesAtEqualCost
from core.errors import InputError
from core.jobs.lifecycle import Job
from core.simulation.schemes import SchemeSetting, Times, compare_schemes, groups_of_tokens
from core.store import open_store
from core.store.projects.project_commands import create_project
from core.store.scores.forecasts import DISTRIBUTIONS, SEED, GuessSource, SchemeQuestion, run_schemes, share_simulated
from core.views.kinds import scheme_comparison as view
from core.voters.model import Panel

ASKED = SchemeQuestion(None, 0, 2.0, 3.0, 3.0, 2, GuessSource("exponential", Panel(n_voters=9)))


@pytest.fixture
def store(tmp_path):
    found = open_store(tmp_path / "workspace")
    yield found
    found.engine.dispose()


def test_the_projects_own_items_are_compared(store):
    project_id = make_project(store)
    rows = run_schemes(store, project_id, ASKED)
    a, b = ASKED.pairs(store, project_id)
    assert len(a) == 21
    rng = np.random.default_rng(SEED)
    z = rng.permutation(DISTRIBUTIONS["exponential"](21))
    question = SchemeSetting(z, groups_of_tokens(a, b, rng=rng), 7200, Times())
    expected = compare_schemes(question, simulations=2, seed=SEED, panel=Panel(n_voters=9))
    assert str(rows) == str(expected)
    kind = SchemesAtEqualCost.result()
    back = from_json(json.loads(json.dumps(to_json(tuple(rows), kind), allow_nan=False)), kind)
    assert str(list(back)) == str(rows)
    assert view.table(rows)["judgements"].tolist() == [round(row.n_judgements) for row in rows]
    assert view.headline(rows).startswith("Best in these simulations: ")


def test_a_question_comes_back_from_a_jobs_parameters(store):
    project_id = make_project(store)
    wanted = SchemesAtEqualCost.of(store, project_id, ASKED)
    params = params_of(wanted)
    job = Job("j", project_id, wanted.kind, params, "queued", None, 0, 0, "", None, None, "", None, None, None)
    assert figure_of(job, SchemesAtEqualCost) == wanted
    assert replace(ASKED, tokens=7).digest(store, project_id) != wanted.items


@pytest.mark.release
def test_more_than_a_thousand_items_are_stood_for_by_a_sample(store):
    project_id = create_project(store, "Nothing yet")
    asked = replace(ASKED, tokens=50, hours=30.0, simulations=1)  # 1,225 items
    share = share_simulated(1225)
    assert share == pytest.approx(1000 / 1225)
    rows = run_schemes(store, project_id, asked)
    assert max(row.hours for row in rows) <= 30 * share
    table = view.table(rows, share)
    assert table["hours"].max() <= 30 + 1e-9
    assert table["hours"].max() > 28


def test_what_makes_no_sense(store):
    with pytest.raises(InputError, match="4 to 200"):
        replace(ASKED, tokens=3)
    with pytest.raises(InputError, match="above 0"):
        replace(ASKED, hours=0.0)
    with pytest.raises(InputError, match="found 0"):
        run_schemes(store, create_project(store, "Nothing yet"), ASKED)


def test_schemes_that_the_time_does_not_pay_for_say_so(store):
    rows = run_schemes(store, make_project(store), replace(ASKED, hours=0.02))
    assert view.table(rows)["ρ_w"].iloc[0] == "–"
    assert any("The time pays for" in reason for reason in view.reasons(rows))
    assert view.points([row for row in rows if row.reason]).empty
