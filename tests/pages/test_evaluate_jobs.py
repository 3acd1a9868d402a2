"""Figures that take long: kept by a job under stamp and settings, the same as at once, found again by any tab."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from core import job_process, jobs
from core.store.command import command
from core.store.projects import get_project
from core.store.scores import dataset_of
from core.views import draws, evaluate, evaluate_jobs, evaluate_tokens, kept_figures
from tests.pages.test_evaluate_page import add, words

NONE = dict.fromkeys(evaluate_jobs.QUICK, -1)


@pytest.fixture
def view(demo, tmp_path) -> evaluate.EvaluateView:
    add(demo, tmp_path, "Noisy", noise=2.0)
    return evaluate.load(demo, "demo", 2.0, "relatedness")


def finish(job_id: str) -> None:
    jobs._children.clear()
    job_process.run(job_id)


def made(demo, view, name: str, *extra):
    """The figure at once, and as a job would keep it."""
    params = evaluate_jobs.params_of(name, view, get_project(demo, "demo").revision, *extra)
    kept = json.loads(json.dumps(evaluate_jobs.carry_out(demo, "demo", params)))
    figure = evaluate_jobs.SLOW[name]
    return figure.made(demo, "demo", view, *extra), figure.found(kept["found"], view)


@pytest.mark.parametrize("name", ["p_values", "curve", "variants"])
def test_tables_are_kept_as_they_are(demo, view, name, monkeypatch) -> None:
    monkeypatch.setattr(evaluate_tokens, "PERMUTATIONS", 9)
    at_once, kept = made(demo, view, name)
    assert len(kept) > 2
    pd.testing.assert_frame_equal(at_once, kept, check_dtype=False)


def noisy_draws(store, project_id: str, resamples: int) -> draws.DatasetDraws:
    """Resamples that are the scores with noise: the demo's own protocol has none."""
    with store.read() as conn:
        dataset = dataset_of(conn, project_id)
    noise = np.random.default_rng(1).normal(scale=0.05, size=(resamples, len(dataset)))
    return draws.DatasetDraws(dataset[draws.KEYS], dataset["score"].to_numpy() + noise)


def test_why_there_are_no_intervals_is_kept(demo, view) -> None:
    at_once, kept = made(demo, view, "votes", 20)
    assert kept.problem == at_once.problem != ""
    assert (kept.compared, kept.differences, kept.resamples) == (None, (), 0)


@pytest.mark.release
def test_intervals_are_kept_as_they_are(demo, view, monkeypatch) -> None:
    monkeypatch.setattr(draws, "load", noisy_draws)
    at_once, kept = made(demo, view, "votes", 20)
    assert kept.resamples == at_once.resamples == 20
    assert kept.differences == at_once.differences
    assert [each.figure for each in kept.differences] == ["rho_w", "tau_w", "rho", "tau", "precision"]
    assert kept.compared == at_once.compared
    pd.testing.assert_frame_equal(kept.view.overall, at_once.view.overall)
    at_once, kept = made(demo, view, "tokens")
    assert kept.by_figure == at_once.by_figure
    assert set(kept.by_figure) == {key for key, _ in evaluate.FIGURES}
    assert kept.compared == at_once.compared
    assert kept.compared.common[0].rho_w.token_lower is not None
    assert (kept.n_tokens, kept.problem) == (78, "")


def test_floor_top_and_map_are_kept_as_they_are(demo, view) -> None:
    for name in ("floor", "top"):
        at_once, kept = made(demo, view, name)
        pd.testing.assert_frame_equal(kept.floor, at_once.floor, check_dtype=False, check_column_type=False)
        pd.testing.assert_frame_equal(kept.top, at_once.top, check_dtype=False, check_column_type=False)
        assert kept.problems == at_once.problems
        assert kept.band("ρ_w") == at_once.band("ρ_w")
    (points, share), (kept_points, kept_share) = made(demo, view, "map", 0, "Computing")
    pd.testing.assert_frame_equal(points, kept_points, check_dtype=False)
    assert share == kept_share


def test_undefined_figures_stay_undefined() -> None:
    table = pd.DataFrame({"a": ["x", "y"], "b": [np.nan, 0.5], "c": [1, 2], "d": [np.nan, np.nan], "e": [True, False]})
    kept = json.loads(json.dumps(kept_figures.table_kept(table), allow_nan=False))
    pd.testing.assert_frame_equal(kept_figures.table_found(kept), table, check_dtype=False)
    empty = kept_figures.table_found(kept_figures.table_kept(table.iloc[:0]))
    assert list(empty.columns) == list("abcde")
    assert len(empty) == 0


def test_size_decides(demo, view, monkeypatch) -> None:
    assert evaluate_jobs.is_quick("tokens", view)
    assert evaluate_jobs.is_quick("votes", view)
    assert not evaluate_jobs.is_quick("votes", view, 1000)
    assert not evaluate_jobs.is_quick("p_values", view)
    assert evaluate_jobs.is_quick("map", view, 0, "Computing")
    monkeypatch.setattr(evaluate_jobs, "QUICK_VOTES", 100)
    monkeypatch.setattr(evaluate_jobs, "QUICK_MAP", 18)
    monkeypatch.setattr(evaluate_jobs, "QUICK", {**evaluate_jobs.QUICK, "tokens": 760 * 2 - 1, "floor": 760})
    assert not evaluate_jobs.is_quick("votes", view)
    assert not evaluate_jobs.is_quick("map", view, 0, "Computing")
    assert not evaluate_jobs.is_quick("tokens", view)
    assert evaluate_jobs.is_quick("floor", view)


@pytest.mark.release
def test_a_job_is_found_again_and_never_repeated(demo, visit, started, monkeypatch) -> None:
    monkeypatch.setattr(evaluate_tokens, "PERMUTATIONS", 9)

    def button(app):
        return next((each for each in app.button if each.label == "Compute p-values"), None)

    app, other = visit("evaluate", "demo"), visit("evaluate", "demo")
    button(app).click().run()
    assert not app.exception
    assert "Permuting the tokens in the background" in words(app)
    button(other).click().run()  # drawn before the first tab's click
    assert len(started) == 1
    assert "Permuting the tokens in the background" in words(other)
    finish(started[0])
    for tab in (app.run(), other.run(), visit("evaluate", "demo")):
        assert not tab.exception
        assert button(tab) is None
        found = next(table.value for table in tab.dataframe if "p" in table.value.columns)
        assert found["figure"].tolist() == ["ρ_w", "τ_w"]
        assert found["p"].between(1 / 10, 1).all()
    assert len(started) == 1
    next(box for box in app.number_input if box.label == "Offset n₀").set_value(5.0).run()
    assert button(app) is not None  # other settings, another figure


@pytest.mark.release
def test_everything_slow_is_a_job(demo, visit, started, monkeypatch) -> None:
    monkeypatch.setattr(evaluate_jobs, "QUICK", NONE)
    monkeypatch.setattr(evaluate_jobs, "QUICK_VOTES", 0)
    monkeypatch.setattr(evaluate_jobs, "QUICK_MAP", 0)
    monkeypatch.setattr(evaluate_tokens, "PERMUTATIONS", 9)
    app = visit("evaluate", "demo")
    assert not app.exception
    wanted = ["over votes", "over tokens", "the floor", "the top", "p-values", "curves", "map", "Try them"]
    labels = {each.label for each in app.button}
    asked = [next(label for label in labels if part in label) for part in wanted]
    assert len(set(asked)) == len(wanted)
    for number, label in enumerate(asked):
        next(each for each in app.button if each.label == label).click().run()
        assert not app.exception
        finish(started[number])
    app.run()
    assert not app.exception
    assert not labels & {each.label for each in app.button} & set(asked)
    for text in ("other tokens of these kinds", "The axes mean nothing", "Dashed: the"):
        assert text in words(app)


def test_a_figure_of_an_earlier_state_is_not_shown(demo, view, visit, started) -> None:
    params = evaluate_jobs.params_of("curve", view, get_project(demo, "demo").revision)
    job_id = jobs.start(demo, evaluate_jobs.KIND, params, project_id="demo")
    with command(demo, "demo", "set frequencies"):
        pass  # the revision goes up
    finish(job_id)
    job = jobs.read_job(demo, job_id)
    assert (job.state, job.error) == ("failed", kept_figures.CHANGED)
    fresh = evaluate_jobs.params_of("curve", view, get_project(demo, "demo").revision)
    assert jobs.same_job(demo, "demo", evaluate_jobs.KIND, fresh) is None


@pytest.mark.release
def test_a_job_that_failed_says_why_and_can_be_asked_again(demo, visit, started, monkeypatch) -> None:
    app = visit("evaluate", "demo")
    next(each for each in app.button if each.label == "Compute p-values").click().run()
    jobs._children.clear()
    jobs.finish(demo, started[0], state="failed", error="No memory.")
    app.run()
    assert "Permuting the tokens ended early" in words(app)
    assert "No memory" in words(app)
    next(each for each in app.button if each.label == "Compute p-values").click().run()
    assert len(started) == 2
