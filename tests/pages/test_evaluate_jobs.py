"""Figures that take long: kept by a job under stamp and settings, the same as at once, found again by any tab."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from campaigns import PLAN, make_project, run_simulated
from page_words import turn_to
from test_trust_pages import add_embedding

from core import worker
from core.base.numbers_in_words import with_decimals
from core.commands import executor
from core.commands.figures import base, evaluation, evaluation_inputs
from core.errors import StoreError
from core.jobs import lifecycle
from core.store.command import command
from core.store.projects.project_commands import get_project
from core.store.scores.project_dataset import dataset_of
from core.views.evaluate import evaluate_page, token_intervals
from core.views.evaluate.leaderboard import POSSIBLE
from tests.pages.test_evaluate_page import add, words


@pytest.fixture
def view(demo, tmp_path) -> evaluate_page.EvaluateView:
    add(demo, tmp_path, "Noisy", noise=2.0)
    return evaluate_page.load(demo, "demo", 2.0, "relatedness")


def finish(job_id: str) -> None:
    lifecycle._children.clear()
    worker.run(job_id)


def made(demo, view, name: str, *extra):
    """The figure at once, and as a job would keep it; as a page shows them."""
    figure = evaluation.figure_of(name, "demo", view, get_project(demo, "demo").revision, *extra)
    job_id = lifecycle.start(demo, figure.kind, base.params_of(figure), project_id="demo")
    finish(job_id)
    job = lifecycle.read_job(demo, job_id)
    assert job.state == "done", job.error
    shown = {"votes": evaluate_page.intervals, "tokens": token_intervals.tokens_view}.get(name, lambda _, found: found)
    return [shown(view, one.result) for one in (base.measure_now(demo, figure), base.read(demo, figure, job))]


@pytest.mark.parametrize("name", ["p_values", "curve", "variants"])
def test_tables_are_kept_as_they_are(demo, view, name, monkeypatch, started) -> None:
    monkeypatch.setattr(evaluation, "PERMUTATIONS", 9)
    at_once, kept = made(demo, view, name)
    assert len(kept) > 2
    pd.testing.assert_frame_equal(at_once, kept, check_dtype=False)


def noisy_draws(store, project_id: str, resamples: int, *, progress=None) -> evaluation_inputs.DatasetDraws:
    """Resamples that are the scores with noise: the demo's own protocol has none."""
    with store.read() as conn:
        dataset = dataset_of(conn, project_id)
    noise = np.random.default_rng(1).normal(scale=0.05, size=(resamples, len(dataset)))
    return evaluation_inputs.DatasetDraws(dataset[evaluation_inputs.KEYS], dataset["score"].to_numpy() + noise)


def test_why_there_are_no_intervals_is_kept(demo, view, started) -> None:
    at_once, kept = made(demo, view, "votes", 20)
    assert kept.problem == at_once.problem != ""
    assert (kept.compared, kept.differences, kept.resamples) == (None, (), 0)


@pytest.mark.release
def test_intervals_are_kept_as_they_are(demo, view, monkeypatch, started) -> None:
    monkeypatch.setattr(evaluation_inputs, "load_draws", noisy_draws)
    at_once, kept = made(demo, view, "votes", 20)
    assert kept.resamples == at_once.resamples == 20
    assert kept.differences == at_once.differences
    assert [each.figure for each in kept.differences] == ["rho_w", "tau_w", "rho", "tau", "precision"]
    assert kept.compared == at_once.compared
    pd.testing.assert_frame_equal(kept.view.overall, at_once.view.overall)
    at_once, kept = made(demo, view, "tokens")
    assert kept.by_figure == at_once.by_figure
    assert set(kept.by_figure) == {key for key, _ in evaluation_inputs.FIGURES}
    assert kept.compared == at_once.compared
    assert kept.compared.common[0].rho_w.token_lower is not None
    assert (kept.n_tokens, kept.problem) == (78, "")


@pytest.mark.release
def test_floor_top_and_map_are_kept_as_they_are(demo, view, started) -> None:
    for name in ("floor", "top"):
        at_once, kept = made(demo, view, name)
        pd.testing.assert_frame_equal(kept.floor, at_once.floor, check_dtype=False, check_column_type=False)
        pd.testing.assert_frame_equal(kept.top, at_once.top, check_dtype=False, check_column_type=False)
        assert kept.problems == at_once.problems
        assert kept.band("ρ_w") == at_once.band("ρ_w")
    at_once, kept = made(demo, view, "map", 0, "Computing")
    pd.testing.assert_frame_equal(at_once.points, kept.points, check_dtype=False)
    assert at_once.share == kept.share


def test_how_long_it_takes_decides_who_measures(demo, view, monkeypatch) -> None:
    seconds = {"votes": 0.0, "tokens": 70.0, "floor": 1.0, "top": 0.4, "curve": 0.1, "variants": 0.11}
    for name, takes in seconds.items():
        monkeypatch.setattr(evaluation.OF_EVALUATION[name], "takes", lambda self, _, takes=takes: takes)

    def shared(*names: str) -> evaluation.MeasuringPolicy:
        return evaluation.share_out([evaluation.figure_of(name, "demo", view, 1) for name in names])

    assert shared(*seconds) == evaluation.MeasuringPolicy(("votes", "curve"), ("floor", "top", "variants"), ("tokens",))
    assert shared("tokens", "top", "curve") == evaluation.MeasuringPolicy(("top", "curve"), (), ("tokens",))
    assert shared("top", "variants") == evaluation.MeasuringPolicy((), ("top", "variants"))  # together too long


@pytest.mark.release
def test_a_job_is_found_again_and_never_repeated(demo, visit, started, monkeypatch, figures_are_long) -> None:
    figures_are_long(evaluation.PValues)
    monkeypatch.setattr(evaluation, "PERMUTATIONS", 9)

    def button(app):
        return next((each for each in app.button if each.label == "Compute p-values"), None)

    app, other = (turn_to(visit("evaluate", "demo"), "Differences") for _ in range(2))
    button(app).click().run()
    assert not app.exception
    assert "Permuting the tokens in the background" in words(app)
    button(other).click().run()  # drawn before the first tab's click
    assert len(started) == 1
    assert "Permuting the tokens in the background" in words(other)
    finish(started[0])
    for tab in (app.run(), other.run(), turn_to(visit("evaluate", "demo"), "Differences")):
        assert not tab.exception
        assert button(tab) is None
        found = next(table.value for table in tab.table if "p" in table.value.columns)
        assert found["figure"].tolist() == ["ρ_w", "τ_w"]
        assert found["p"].astype(float).between(1 / 10, 1).all()
    assert len(started) == 1
    next(box for box in app.number_input if box.label == "Offset n₀").set_value(5.0).run()
    assert button(app) is not None  # other settings, another figure


@pytest.mark.release
def test_everything_slow_is_a_job(demo, visit, started, monkeypatch) -> None:
    monkeypatch.setattr(evaluation, "BY_ITSELF", -1.0)
    monkeypatch.setattr(executor, "AT_ONCE", -1.0)
    monkeypatch.setattr(evaluation, "PERMUTATIONS", 9)
    app = visit("evaluate", "demo")
    assert not app.exception
    wanted = {
        "Areas": [("over votes", ""), ("over tokens", ""), ("the floor", ""), ("the top", "Dashed: ceilings")],
        "Differences": [("p-values", "agree with people")],
        "Disagreements": [("map", "The axes mean nothing")],
        "Parts": [("curves", "Dashed: the settings")],
        "Variants": [("Try them", "looks better than it is")],
    }
    for tab, parts in wanted.items():
        turn_to(app, tab)
        for part, told in parts:
            asked = next(each for each in app.button if part in each.label)
            asked.click().run()
            assert not app.exception
            finish(started[-1])
            app.run()
            assert not app.exception
            assert asked.label not in {each.label for each in app.button}
            assert told in words(app)
    assert len(started) == sum(map(len, wanted.values()))


def test_a_figure_of_an_earlier_state_is_not_shown(demo, view, visit, started) -> None:
    job_id = executor.start(demo, evaluation.figure_of("curve", "demo", view, get_project(demo, "demo").revision))
    with command(demo, "demo", "set frequencies"):
        pass  # the revision goes up
    finish(job_id)
    job = lifecycle.read_job(demo, job_id)
    assert (job.state, job.error) == ("failed", base.CHANGED)
    fresh = evaluation.figure_of("curve", "demo", view, get_project(demo, "demo").revision)
    assert base.job_of(demo, fresh) is None


@pytest.mark.release
def test_a_job_that_failed_says_why_and_can_be_asked_again(demo, visit, started, figures_are_long) -> None:
    figures_are_long(evaluation.PValues)
    app = turn_to(visit("evaluate", "demo"), "Differences")
    next(each for each in app.button if each.label == "Compute p-values").click().run()
    lifecycle._children.clear()
    lifecycle.finish(demo, started[0], state="failed", error="No memory.")
    app.run()
    assert "Permuting the tokens ended early" in words(app)
    assert "No memory" in words(app)
    next(each for each in app.button if each.label == "Compute p-values").click().run()
    assert len(started) == 2


# A first visit: the point figures at once, the rest by one job.


@pytest.fixture
def small(empty, tmp_path, monkeypatch) -> tuple:
    """A finished project of 21 items with two models, of whose figures the page waits for none that takes time."""
    project_id = make_project(empty, kind="trial", plan=replace(PLAN, n_ballots=1, appearances=12))  # no coin tosses
    run_simulated(empty, project_id, 1)
    for name, seed in (("One", 2), ("Two", 1)):
        add_embedding(empty, project_id, tmp_path, name, seed)
    monkeypatch.setattr(evaluation, "TOGETHER", 0.0)
    monkeypatch.setattr(evaluation, "LITTLE", 0.0)
    monkeypatch.setattr(executor, "AT_ONCE", 0.0)
    monkeypatch.setattr(lifecycle, "sweep", lambda _store: 0)  # the jobs' processes are no real ones
    return empty, project_id


def headline(app) -> str:
    return app.main.markdown[0].value


def bars(app) -> list[str]:
    return [bar.proto.text for bar in app.main.get("progress")]


def kept(store, project_id: str) -> list[lifecycle.Job]:
    return lifecycle.project_jobs(store, project_id, evaluation.OfEvaluation.kind, limit=1000)


def test_point_figures_come_first_and_nobody_is_named_before_the_intervals(small, visit, begun, monkeypatch) -> None:
    store, project_id = small
    view = evaluate_page.load(store, project_id, 2.0, "relatedness")
    app, other = visit("evaluate", project_id), visit("evaluate", project_id)
    assert not app.exception
    assert len(begun) == 1  # one job, however many tabs
    lowest, highest = (with_decimals(value) for value in (view.overall["ρ_w"].min(), view.overall["ρ_w"].max()))
    assert headline(app) == (
        f"**2 embeddings: ρ_w from {lowest} to {highest}**, as measured, on 21 of 21 items. Intervals are being "
        "computed: until they are there, no embedding is named the best."
    )
    assert bars(app) == ["Intervals are being computed, 0%. You may leave this page."]
    board = app.table[0].value
    assert board["rank"].tolist() == ["1", "2"]
    measured = [f"**{value:.3f}**".replace("-", "−") for value in sorted(view.overall["ρ_w"], reverse=True)]
    assert [text.split()[0] for text in board.iloc[:, 2]] == measured
    assert board.columns[3] == POSSIBLE  # it has its place before it is there
    finish(begun[0])
    assert {job.params["figure"] for job in kept(store, project_id)} == {*evaluation.FIRST}
    for tab in (app.run(), other.run()):
        assert not tab.exception
        assert bars(tab) == []
        assert "leads: ρ_w = " in headline(tab)
        assert tab.table[0].value[POSSIBLE].str.endswith("%").all()
        turn_to(tab, "All figures")
        assert "random ranking" in str(next(t.value for t in tab.table if "model" in t.value)["model"].tolist())

    def measured(*_args, **_named):
        raise AssertionError("It is kept.")

    st.cache_resource.clear()  # as after a restart
    monkeypatch.setattr(evaluation.OfEvaluation, "measure", measured)
    again = visit("evaluate", project_id)
    assert not again.exception
    assert headline(again) == headline(app)
    assert len(begun) == 1


@pytest.mark.release
def test_other_settings_and_another_state_are_measured_anew_one_job_at_a_time(small, visit, begun) -> None:
    store, project_id = small
    app = visit("evaluate", project_id)
    n0 = next(box for box in app.number_input if box.label == "Offset n₀")
    n0.set_value(5.0).run()
    assert bars(app) == ["Figures for other settings come first, 0%. You may leave this page."]
    assert len(begun) == 1
    finish(begun[0])
    app.run()
    assert len(begun) == 2
    assert bars(app) == ["Intervals are being computed, 0%. You may leave this page."]
    finish(begun[1])
    assert {tuple(job.params["settings"]) for job in kept(store, project_id)} == {
        (2.0, "relatedness", "common", 20),
        (5.0, "relatedness", "common", 20),
    }
    with command(store, project_id, "set frequencies"):
        pass  # the revision goes up
    app.run()
    assert len(begun) == 3
    finish(begun[2])
    now = get_project(store, project_id).revision
    every = [*kept(store, project_id), *lifecycle.project_jobs(store, project_id, evaluation.FirstVisit.kind)]
    assert {job.params["revision"] for job in every} == {now}  # what was kept of earlier states is gone


@pytest.mark.parametrize("state", ["cancelled", "failed"])
def test_a_job_that_ended_early_isnt_begun_again_unasked(small, visit, begun, state) -> None:
    store, project_id = small
    app = visit("evaluate", project_id)
    lifecycle._children.clear()  # there is no process
    if state == "cancelled":
        next(button for button in app.button if button.label == "Cancel").click().run()
    else:
        lifecycle.finish(store, begun[0], state="failed", error="No memory.")
    app.run()
    assert len(begun) == 1
    assert "Intervals haven't been computed: until they are there, no embedding is named the best." in headline(app)
    assert ("Computing the intervals ended early" in words(app)) == (state == "failed")
    next(button for button in app.button if button.label == "Compute intervals").click().run()
    assert len(begun) == 2
    assert bars(app) == ["Intervals are being computed, 0%. You may leave this page."]


def test_figures_are_kept_without_a_page_and_are_those_at_once(small) -> None:
    store, project_id = small
    told: list[tuple[float, float]] = []
    made = evaluation.keep_figures(store, project_id, progress=lambda done, total: told.append((done, total)))
    assert tuple(made) == evaluation.FIRST
    shares = [done / total for done, total in told]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    view = evaluate_page.load(store, project_id, 2.0, "relatedness")
    revision = get_project(store, project_id).revision
    assert evaluation.figure_of("votes", project_id, view, revision).takes(view) == 0  # none by the paper's protocol
    wanted = [evaluation.figure_of(name, project_id, view, revision) for name in evaluation.FIRST]
    for figure, id_ in zip(wanted, base.stored_ids(store, wanted), strict=True):
        assert lifecycle.read_job(store, id_).result == base.measured(store, figure)[0]
    assert evaluation.keep_figures(store, project_id) == []  # they are there
    # Elsewhere they are found by what they were asked for, with the revision the project has there.
    assert lifecycle.read_job(store, id_).params == base.params_of(figure)
    with pytest.raises(StoreError, match="changed"):
        evaluation.keep_figures(store, project_id, names=["floor"], revision=revision - 1)


def test_no_more_are_kept_than_can_be_wanted(small, monkeypatch) -> None:
    store, project_id = small
    monkeypatch.setattr(base, "MAX_STORED", 3)
    for n0 in range(5):
        evaluation.keep_figures(store, project_id, (float(n0), "relatedness", "common", 20), names=["curve"])
    assert [job.params["settings"][0] for job in kept(store, project_id)] == [4.0, 3.0, 2.0]


def test_what_takes_very_long_waits_for_who_asks(small, visit, begun, monkeypatch) -> None:
    _, project_id = small
    monkeypatch.setattr(evaluation, "BY_ITSELF", 0.0)
    app = visit("evaluate", project_id)
    assert begun == []
    assert "Intervals haven't been computed" in headline(app)
    next(button for button in app.button if button.label == "Compute intervals over tokens").click().run()
    finish(begun[0])
    app.run()
    assert "leads: ρ_w = " in headline(app)
