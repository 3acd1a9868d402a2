"""What a ranking asks: the kind that was planned last until something is drawn, then what was drawn."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa
from campaigns import AREAS, PLAN, draw_batch, make_project
from rounds_of_people import BEST_WORST, GROUPS, ORDER, RATING, SMALL, read_asked, read_rounds

from core.commands.integrity import check_store
from core.errors import InputError, PlanError, StaleError
from core.questions import COMPARISON, RoundSettings
from core.store import schema as t
from core.store.ballots.drawing import discard_ballot, draw_round
from core.store.ballots.round_plans import save_round_plan
from core.store.projects.archive import copy_without_ballots, export_project, import_project
from core.store.projects.plans import read_plan, register_plan, save_plan, set_ranking
from core.store.projects.project_commands import create_from_template, create_project, get_project, read_log
from core.store.tokens.areas import add_areas
from core.views import overview
from core.views.log import what


def kinds(store, project_id, area_id=None):
    asked = read_asked(store, project_id, area_id)
    return asked.kind.name, [kind.name for kind in asked.kinds]


def test_the_plan_saved_last_says_the_kind_until_something_is_drawn(store):
    project_id = make_project(store, plan=None)
    assert kinds(store, project_id) == (COMPARISON.name, [COMPARISON.name])
    save_round_plan(store, project_id, SMALL[RATING])
    assert kinds(store, project_id) == (RATING, [RATING])
    assert read_plan(store, project_id) is None  # of comparisons there is none
    save_plan(store, project_id, PLAN)
    assert kinds(store, project_id) == (COMPARISON.name, [COMPARISON.name])
    assert read_plan(store, project_id) == PLAN
    save_round_plan(store, project_id, SMALL[BEST_WORST])
    save_round_plan(store, project_id, replace(SMALL[RATING], raters=7))
    asked = read_asked(store, project_id)
    assert (asked.kind.name, asked.plans[RATING].raters, asked.plans[BEST_WORST]) == (RATING, 7, SMALL[BEST_WORST])
    assert read_plan(store, project_id) == PLAN
    draw_batch(store, project_id)
    assert kinds(store, project_id) == (COMPARISON.name, [COMPARISON.name, RATING])  # it was planned last
    draw_round(store, project_id, SMALL[BEST_WORST])
    assert kinds(store, project_id)[1] == [COMPARISON.name, BEST_WORST, RATING]
    assert check_store(store).faults == ()


def test_rounds_alone_say_the_kind_and_a_discarded_one_doesnt(store):
    project_id = make_project(store)
    assert kinds(store, project_id) == (COMPARISON.name, [COMPARISON.name])
    draw_round(store, project_id, SMALL[RATING])  # as by an earlier version, which planned no rounds
    assert kinds(store, project_id) == (RATING, [RATING, COMPARISON.name])
    (found,) = read_rounds(store, project_id)
    with store.read() as conn:
        revision = conn.execute(sa.select(t.project.c.revision).where(t.project.c.id == project_id)).scalar_one()
    discard_ballot(store, project_id, code=found.code, expected_revision=revision)
    assert kinds(store, project_id) == (COMPARISON.name, [COMPARISON.name])


def test_a_round_plan_goes_with_the_project_and_changes_nothing_else(store):
    project_id = make_project(store)
    before = register_plan(store, project_id)
    save_round_plan(store, project_id, replace(SMALL[ORDER], groups=GROUPS, language="it"))
    assert register_plan(store, project_id) == before
    again = import_project(store, export_project(store, project_id))
    assert read_asked(store, again).plans == read_asked(store, project_id).plans
    assert read_asked(store, copy_without_ballots(store, project_id, "Copy")).kind.name == ORDER
    entry = read_log(store, project_id)[1]
    assert what(entry["action"], entry["detail"]) == "Saved the plan for orders of target groups"


def test_settings_that_make_no_sense_are_refused_and_groups_may_come_later(store):
    project_id = make_project(store, plan=None)
    save_round_plan(store, project_id, replace(SMALL[ORDER], groups=()))
    revision = get_project(store, project_id).revision
    with pytest.raises(PlanError, match="People per question"):
        save_round_plan(store, project_id, replace(SMALL[RATING], raters=0))
    one = replace(GROUPS[0], positives=("dog",))
    with pytest.raises(PlanError, match="fewer than two positives"):
        save_round_plan(store, project_id, replace(SMALL[ORDER], groups=(one,)))
    with pytest.raises(PlanError, match="one of rating, best-worst, order"):
        save_round_plan(store, project_id, RoundSettings("comparison"))
    with pytest.raises(StaleError):
        save_round_plan(store, project_id, SMALL[RATING], expected_revision=revision - 1)
    assert get_project(store, project_id).revision == revision


def test_each_area_has_its_kind_and_that_of_the_project_until_it_has_one(store):
    project_id = create_project(store, "Areas", asks=BEST_WORST)
    add_areas(store, project_id, AREAS)
    set_ranking(store, project_id, "area")
    one, other = (standing.ranking.area_id for standing in overview.load(store, project_id).standings)
    assert kinds(store, project_id, one) == kinds(store, project_id, other) == (BEST_WORST, [BEST_WORST])
    save_round_plan(store, project_id, SMALL[RATING], area_ids=(one,))
    assert kinds(store, project_id, one)[0] == RATING
    assert kinds(store, project_id, other)[0] == BEST_WORST


def test_a_template_of_another_kind_has_its_plan_and_no_pilot(store):
    project_id = create_from_template(store, "Ratings", asks=RATING, seed=5)
    found = overview.load(store, project_id)
    assert (found.next_page, found.next_label) == ("collect", "Draw round 1")
    assert [step.state for step in found.steps if step.page in ("plan", "collect")] == ["ratings", "no round drawn"]
    with pytest.raises(PlanError, match="The scheme is one of"):
        create_project(store, "Odd", asks="odd")
    groups = overview.load(store, create_from_template(store, "Orders", asks=ORDER))
    assert (groups.next_page, groups.next_label) == ("plan", "Choose the groups")


def test_a_file_with_settings_that_cannot_be_read_is_refused(store):
    project_id = make_project(store, plan=None)
    save_round_plan(store, project_id, SMALL[RATING])
    with store.write() as conn:
        conn.execute(sa.update(t.plan).values(wording={"scheme": RATING, "raters": "many"}))
    with pytest.raises(InputError, match="can't be read as a project"):
        import_project(store, export_project(store, project_id))
