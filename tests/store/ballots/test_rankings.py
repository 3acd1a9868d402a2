"""A ranking for each area: plans, ballots, votes and scores of one area know nothing of the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from campaigns import AREAS, PLAN, answer_batch, make_project

from core.errors import PlanError, StoreError
from core.evaluation import compare, evaluate
from core.metrics import weighted_kendall, weighted_spearman
from core.questions.comparison_page import write_batch
from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.drawing import discard_ballot, draw_next_ballot, draw_waiting
from core.store.ballots.simulated import simulate_votes
from core.store.projects.archive import duplicate_project, export_project, import_project
from core.store.projects.plans import read_plan, read_rankings, save_plan, set_ranking
from core.store.projects.project_commands import get_project, read_log
from core.store.scores.project_dataset import read_ballot_scores, read_project_dataset
from core.store.tokens.areas import change_area, read_areas
from core.store.votes.intake import accept_upload, preview_upload
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.views import overview
from core.views.collect import collect_page
from core.views.scores import scores_page

SHORT = replace(PLAN, n_ballots=2, seed=3)


@pytest.fixture
def apart(store):
    """A trial project with two areas (15 and 6 items), each with a ranking and a plan of its own; their ids."""
    project_id = make_project(store, kind="trial", plan=None)
    set_ranking(store, project_id, "area")
    animals, tools = (ranking.area_id for ranking in read_rankings(store, project_id))
    save_plan(store, project_id, PLAN, area_ids=(animals,))
    save_plan(store, project_id, SHORT, area_ids=(tools,))
    return project_id, animals, tools


def batch_of(store, project_id, area_id, number=1):
    return write_batch(read_comparisons(store, project_id, number, area_id))


def run_ballot(store, project_id, area_id):
    number = draw_next_ballot(store, project_id, area_id=area_id)
    data = answer_batch(batch_of(store, project_id, area_id, number), tag=f"{area_id}-{number}-")
    accept_upload(store, project_id, data, f"{area_id}-{number}.csv", area_id)
    close_ballot(store, project_id, area_id=area_id)


def test_rankings_follow_the_areas(store):
    project_id = make_project(store, plan=None)
    assert [ranking.area for ranking in read_rankings(store, project_id)] == [""]
    set_ranking(store, project_id, "area")
    assert [ranking.area for ranking in read_rankings(store, project_id)] == [area.name for area in AREAS]
    assert get_project(store, project_id).ranking == "area"
    with pytest.raises(StoreError, match="not 'both'"):
        set_ranking(store, project_id, "both")


def test_each_area_draws_by_its_own_plan_and_no_comparison_crosses_areas(store, apart):
    project_id, animals, tools = apart
    assert read_plan(store, project_id) is None
    assert draw_next_ballot(store, project_id, area_id=tools) == 1
    assert read_ballots(store, project_id, animals) == []
    assert draw_next_ballot(store, project_id, area_id=animals) == 1
    for area_id, name, n_items in ((animals, "Animals", 15), (tools, "Tools", 6)):
        (ballot,) = read_ballots(store, project_id, area_id)
        shown = read_comparisons(store, project_id, 1, area_id)
        assert ballot.n_items == n_items
        assert set(shown["area_left"]) | set(shown["area_right"]) == {name}
        times = Counter([*shown["first"], *shown["second"]])
        assert len(times) == n_items
        assert set(times.values()) <= {4, 5}
    seeds = [read_ballots(store, project_id, area_id)[0].seed for area_id in (animals, tools)]
    assert len(set(seeds)) == 2


def test_a_ranking_must_be_named_where_there_are_several(store, apart):
    project_id, *_ = apart
    for act in (draw_next_ballot, close_ballot, reopen_ballot, simulate_votes):
        with pytest.raises(StoreError):
            act(store, project_id)
    with pytest.raises(StoreError, match="choose one of its areas"):
        draw_next_ballot(store, project_id)
    with pytest.raises(StoreError, match="no ranking of that area"):
        draw_next_ballot(store, project_id, area_id=10**6)
    with pytest.raises(StoreError, match="choose one of its areas"):
        save_plan(store, project_id, PLAN)


def test_scores_and_ranks_stay_within_an_area(store, apart):
    project_id, animals, tools = apart
    for area_id, n_ballots in ((animals, 3), (tools, 2)):
        for _ in range(n_ballots):
            run_ballot(store, project_id, area_id)
        with pytest.raises(StoreError, match="All"):
            draw_next_ballot(store, project_id, area_id=area_id)
    dataset = read_project_dataset(store, project_id)
    assert dataset.attrs["ranking"] == "area"
    assert not dataset.attrs["provisional"]
    assert (dataset.attrs["ballots_closed"], dataset.attrs["ballots_planned"]) == (5, 5)
    assert [part["area"] for part in dataset.attrs["areas"]] == ["Animals", "Tools"]
    for area_id, name in ((animals, "Animals"), (tools, "Tools")):
        part = dataset[dataset["area"] == name].reset_index(drop=True)
        alone = read_project_dataset(store, project_id, area_id)
        pd.testing.assert_frame_equal(part, alone, check_flags=False)
        assert part["rank"].tolist() == (-part["score"]).rank().tolist()
        by_ballot = read_ballot_scores(store, project_id, area_id)
        first = by_ballot[by_ballot["ballot"] == 1]
        x = (first["wins"] + first["ties"] / 2) / (first["wins"] + first["ties"] + first["losses"])
        np.testing.assert_allclose(first["x"], x)
        np.testing.assert_allclose(first["mean"], x)
    assert len(dataset) == 21


def test_another_areas_results_are_told_from_a_ballots_own(store, apart):
    project_id, animals, tools = apart
    assert draw_waiting(store, project_id) == 2
    data = answer_batch(batch_of(store, project_id, tools))
    found = preview_upload(store, project_id, data, "tools.csv", animals)
    assert set(found.counts) == {"other_ballot"}
    assert set(found.preview.rows["reason"]) == {"of ballot 1 of the area Tools, which is open"}
    taken = accept_upload(store, project_id, data, "tools.csv", tools)
    assert taken.counts["new"] > 0
    assert read_uploads(store, project_id, animals) == []
    (upload,) = read_uploads(store, project_id, tools)
    assert withdraw_upload(store, project_id, upload.id).judgements == taken.counts["new"]


def test_a_plan_is_fixed_for_its_area_alone_and_the_ranking_for_all(store, apart):
    project_id, animals, tools = apart
    draw_next_ballot(store, project_id, area_id=tools)
    save_plan(store, project_id, SHORT, area_ids=(animals,))
    for area_ids in ((tools,), (animals, tools)):
        with pytest.raises(StoreError, match="plan can't be changed"):
            save_plan(store, project_id, PLAN, area_ids=area_ids)
    assert read_plan(store, project_id, animals) == SHORT  # of several areas, all are saved or none
    with pytest.raises(StoreError, match="ranked can't be changed"):
        set_ranking(store, project_id, "all")
    discard_ballot(store, project_id, area_id=tools)
    set_ranking(store, project_id, "all")
    assert read_plan(store, project_id) is None
    set_ranking(store, project_id, "area")
    assert read_plan(store, project_id, tools) == SHORT


def test_a_plan_that_an_area_is_too_small_for_names_the_area(store, apart):
    project_id, _, tools = apart
    with pytest.raises(PlanError, match="Tools"):
        save_plan(store, project_id, replace(PLAN, n_ballots=8, keep=0.3), area_ids=(tools,))


def test_a_changed_token_list_keeps_the_plans_of_the_areas(store, apart):
    project_id, animals, tools = apart
    area = read_areas(store, project_id)[0]
    change_area(store, project_id, area, [*area.tokens, "otter"])
    assert read_plan(store, project_id, animals) == PLAN
    assert read_plan(store, project_id, tools) == SHORT


def test_waiting_areas_are_drawn_together(store, apart):
    project_id, animals, tools = apart
    draw_next_ballot(store, project_id, area_id=tools)
    assert draw_waiting(store, project_id) == 1
    assert draw_waiting(store, project_id) == 0
    assert len(read_ballots(store, project_id, animals)) == 1


def test_a_copy_is_the_same_bit_for_bit(store, apart):
    project_id, animals, tools = apart
    run_ballot(store, project_id, animals)
    run_ballot(store, project_id, tools)
    draw_next_ballot(store, project_id, area_id=tools)
    copies = [import_project(store, export_project(store, project_id)), duplicate_project(store, project_id, "Copy")]
    simulate_votes(store, project_id, area_id=tools)
    for copy in copies:
        ids = [ranking.area_id for ranking in read_rankings(store, copy)]
        assert not {*ids} & {animals, tools}
        for mine, theirs in zip((animals, tools), ids, strict=True):
            assert read_plan(store, copy, theirs) == read_plan(store, project_id, mine)
        assert batch_of(store, copy, ids[1], 2) == batch_of(store, project_id, tools, 2)
        simulate_votes(store, copy, area_id=ids[1])
        close_ballot(store, copy, area_id=ids[1])
    close_ballot(store, project_id, area_id=tools)
    for copy in copies:
        pd.testing.assert_frame_equal(
            read_project_dataset(store, project_id), read_project_dataset(store, copy), check_flags=False
        )


class Letters:
    """An embedding whose cosine is made of the tokens' letters; it lacks one word."""

    name = "letters"

    class info:
        notes = ()

    @staticmethod
    def cosines(a, b):
        values = [(sum(map(ord, x + y)) % 97) / 97 for x, y in zip(a, b, strict=True)]
        missing = [("NA" in (x, y)) for x, y in zip(a, b, strict=True)]
        return np.where(missing, np.nan, values)

    @staticmethod
    def found_as(tokens):
        return ["" if token == "NA" else token for token in tokens]

    @staticmethod
    def reasons(tokens):
        return {token: "not in the vocabulary" for token in tokens if token == "NA"}


def test_an_evaluation_over_all_areas_is_the_mean_of_the_areas(store, apart):
    project_id, animals, tools = apart
    run_ballot(store, project_id, animals)
    run_ballot(store, project_id, tools)
    dataset = read_project_dataset(store, project_id)
    result = evaluate(dataset, Letters())
    expected = {"rho_w": [], "tau_w": []}
    for name in ("Animals", "Tools"):
        part = dataset[dataset["area"] == name]
        cosines = Letters.cosines(part["token_a"], part["token_b"])
        there = ~np.isnan(cosines)
        for key, metric in (("rho_w", weighted_spearman), ("tau_w", weighted_kendall)):
            expected[key].append(metric(part["score"].to_numpy()[there], cosines[there]))
            assert getattr(result.areas[name], key).estimate == pytest.approx(expected[key][-1])
    for key, values in expected.items():
        assert getattr(result.overall, key).estimate == pytest.approx(np.mean(values))
    assert result.overall.remark == "mean over 2 areas"
    assert result.overall.n_covered == 18
    for _, pairs in result.pairs.dropna().groupby("area"):
        assert pairs["rank"].tolist() == (-pairs["score"]).rank().tolist()
        assert pairs["model_rank"].tolist() == (-pairs["cosine"]).rank().tolist()
    (common,) = compare(dataset, [Letters()]).common
    assert common.rho_w == result.overall.rho_w


def test_views_are_of_one_area_and_the_overview_leads_to_the_first_that_needs_something(store, apart):
    project_id, animals, tools = apart
    seen = overview.load(store, project_id)
    assert (seen.next_page, seen.next_area) == ("collect", animals)
    assert seen.headline == "Animals: the plan has 3 ballots, none is drawn."
    for _ in range(3):
        run_ballot(store, project_id, animals)
    seen = overview.load(store, project_id)
    assert (seen.next_page, seen.next_area, seen.next_label) == ("collect", tools, "Draw ballot 1 (Tools)")
    assert [standing.said for standing in seen.standings] == ["all ballots closed", "2 ballots planned"]
    assert len(collect_page.load(store, project_id, animals).stages) == 3
    assert collect_page.load(store, project_id, tools).next_number == 1
    assert set(scores_page.load(store, project_id, animals).by_ballot["area"]) == {"Animals"}
    assert scores_page.load(store, project_id, animals).area_part == "-animals"
    assert scores_page.load(store, project_id, tools).dataset.empty


def test_the_log_names_the_area(store, apart):
    project_id, animals, _ = apart
    run_ballot(store, project_id, animals)
    entries = {entry["action"]: entry["detail"] for entry in read_log(store, project_id)}
    for action in ("draw ballot", "close ballot", "accept upload"):
        assert entries[action]["area"] == "Animals", action
