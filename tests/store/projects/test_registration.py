"""A plan frozen before the first vote: the same text for the same plan, and what was kept of it told part by part."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest
from campaigns import PLAN, answer_batch, draw_batch, make_project

from core.errors import InputError, StoreError
from core.store.projects.archive import duplicate_project
from core.store.projects.plans import (
    PARTS,
    content_of,
    read_rankings,
    read_registration,
    register_plan,
    registered_parts,
    save_plan,
    set_ranking,
)
from core.store.projects.project_commands import read_log
from core.store.scores.project_dataset import read_project_dataset
from core.store.tokens.areas import change_area, read_areas
from core.store.votes.intake import accept_upload

SOME = dict.fromkeys(PARTS, 1)


def changed(registration) -> set[str]:
    return {part.part for part in registration.kept if not part.same}


def test_the_text_is_hashed_and_says_what_was_chosen(store):
    project_id = make_project(store)
    digest = register_plan(store, project_id, n0=3.0, exclusions=" No clickers. ")
    found = read_registration(store, project_id, n0=3.0)
    assert hashlib.sha256(found.content.encode()).hexdigest() == found.sha256 == digest
    parts = json.loads(found.content)["parts"]
    assert parts["plans"][""]["n_ballots"] == PLAN.n_ballots
    assert parts["plans"][""]["seed"] == PLAN.seed
    assert (parts["n0"], parts["exclusions"], parts["items"]["number"]) == (3.0, "No clickers.", 21)
    assert found.is_kept
    assert read_log(store, project_id)[0]["detail"] == {"sha256": digest}
    assert register_plan(store, project_id, n0=3.0, exclusions="No clickers.") == digest


def test_what_changes_afterwards_is_told_part_by_part(store):
    project_id = make_project(store)
    register_plan(store, project_id)
    assert changed(read_registration(store, project_id)) == set()
    assert changed(read_registration(store, project_id, n0=5.0)) == {"n₀"}
    save_plan(store, project_id, replace(PLAN, keep=0.6))
    assert changed(read_registration(store, project_id)) == {"the plan"}
    save_plan(store, project_id, PLAN)
    area = read_areas(store, project_id)[0]
    change_area(store, project_id, area, [*area.tokens, "otter"])
    assert changed(read_registration(store, project_id)) == {"the items"}
    register_plan(store, project_id)
    assert read_registration(store, project_id).is_kept
    set_ranking(store, project_id, "area")
    save_plan(store, project_id, PLAN, area_ids=tuple(r.area_id for r in read_rankings(store, project_id)))
    assert changed(read_registration(store, project_id)) == {
        "one ranking over all areas or one per area",
        "the plan",
        "what voters read",
    }


def test_it_comes_before_the_first_ballot_and_after_a_plan(store):
    project_id = make_project(store, plan=None)
    with pytest.raises(StoreError, match="no plan to register"):
        register_plan(store, project_id)
    save_plan(store, project_id, PLAN)
    assert read_registration(store, project_id) is None
    draw_batch(store, project_id)
    with pytest.raises(StoreError, match="ballot 1 is drawn"):
        register_plan(store, project_id)


def test_a_datasets_description_says_what_was_kept(store):
    project_id = make_project(store)
    digest = register_plan(store, project_id)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "r.csv")
    for one in (project_id, duplicate_project(store, project_id, "Copy")):
        about = read_project_dataset(store, one).attrs["registration"]
        assert (about["sha256"], about["kept"], about["changed"]) == (digest, True, [])
    assert read_project_dataset(store, make_project(store)).attrs["registration"] is None


def test_parts_are_a_fixed_list_and_the_same_parts_give_the_same_text():
    with pytest.raises(InputError, match="missing or unknown: n0"):
        content_of("x", {name: 1 for name in PARTS if name != "n0"})
    assert content_of("x", SOME) == content_of("x", dict(reversed(SOME.items())))
    assert all(part.same for part in registered_parts(content_of("x", SOME), SOME))
    (n0,) = [part for part in registered_parts(content_of("x", SOME), SOME | {"n0": 2}) if not part.same]
    assert (n0.registered, n0.found) == ("1", "2")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "other", "parts": {}}'])
def test_another_text_is_no_registration(text):
    with pytest.raises(InputError, match="registration of a plan"):
        registered_parts(text, SOME)
