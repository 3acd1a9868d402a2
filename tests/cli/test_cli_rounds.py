"""`runoff rounds`, from a draw to a dataset that `evaluate` reads."""

from __future__ import annotations

import json

import pytest
from campaigns import make_project
from click.testing import CliRunner
from rounds_of_people import GROUPS, answer_round

from core.__main__ import cli
from core.dataset.files import read_dataset
from core.questions.order.groups import undecided
from core.questions.order.kind import read_groups, write_groups
from tests.rounds_of_people import read_rounds


@pytest.fixture
def run(store, monkeypatch):
    monkeypatch.setattr("core.store.open_store", lambda *_: store)

    def _run(*arguments: str) -> dict:
        found = CliRunner().invoke(cli, ["rounds", *arguments, "--json"], catch_exceptions=False)
        assert found.exit_code == 0, found.output
        return json.loads(found.stdout)

    return _run


def test_ratings_from_draw_to_dataset(run, store, tmp_path):
    project = make_project(store, plan=None)
    told = run("draw", project, "--scheme", "rating", "--raters", "3", "--task-size", "4", "--scale", "STSS")
    assert told == {"round": 1, "questions": 21, "items": 21}
    batch, results, scores = (tmp_path / name for name in ("batch.csv", "results.csv", "scores.csv"))
    run("batch", project, "1", str(batch))
    results.write_bytes(answer_round(batch.read_bytes(), "rating", per_task=3))
    assert run("upload", project, "1", str(results))["answers"] == {"new": 63}
    assert run("list", project)["rounds"][0]["answered"] == 0
    assert run("upload", project, "1", str(results), "--accept")["accepted"]
    assert run("list", project)["rounds"][0]["answered"] == 63
    assert run("close", project, "1")["figures"]["ratings"] == 63
    assert run("scores", project, "1", str(scores))["models"] == []
    found = read_dataset(scores)
    assert len(found) == 21
    assert found.attrs["scheme"] == "rating"
    assert found.attrs["settings"]["scale"]["name"] == "STSS"


def test_a_round_is_drawn_in_the_language_of_its_people(run, store):
    project = make_project(store, plan=None)
    run("draw", project, "--scheme", "best-worst", "--language", "it")
    (found,) = read_rounds(store, project)
    assert found.settings.language == "it"
    told = CliRunner().invoke(cli, ["rounds", "draw", project, "--scheme", "rating", "--language", "xx"])
    assert str(told.exception) == "People read one of en, it, found 'xx'."


def test_orders_of_a_file_of_groups_come_out_as_such_a_file(run, store, tmp_path):
    project = make_project(store, plan=None)
    groups, batch, results, scores = (tmp_path / name for name in ("g.txt", "b.csv", "r.csv", "s.txt"))
    groups.write_text(write_groups(undecided(GROUPS)), encoding="utf-8")
    run("draw", project, "--scheme", "order", "--raters", "3", "--groups", str(groups))
    run("batch", project, "1", str(batch))
    results.write_bytes(answer_round(batch.read_bytes(), "order", per_task=3))
    run("upload", project, "1", str(results), "--accept")
    run("close", project, "1")
    run("scores", project, "1", str(scores))
    kinds = [comparison.kind for comparison in read_groups(scores.read_text(encoding="utf-8")).comparisons]
    assert (kinds.count("positive"), kinds.count("distractor"), kinds.count("random")) == (4, 8, 3)


@pytest.mark.release
def test_best_worst_goes_on_with_its_leading_items(run, store, tmp_path):
    project = make_project(store, kind="trial", plan=None)
    run("draw", project, "--scheme", "best-worst", "--appearances", "4")
    assert run("simulate", project, "1")["answers"] == 21
    run("close", project, "1")
    assert run("draw", project, "--scheme", "best-worst", "--appearances", "4", "--after", "1")["items"] == 11
    batch = tmp_path / "batch.csv"
    run("batch", project, "2", str(batch), "--missing")
    assert batch.read_bytes().startswith(b"task_id,tuple_1_item_id_1,")


def test_what_cant_be_done_is_told(store, monkeypatch):
    monkeypatch.setattr("core.store.open_store", lambda *_: store)
    project = make_project(store, plan=None)
    for arguments, said in (
        (["draw", project, "--scheme", "guess"], "The scheme is one of rating, best-worst, order"),
        (["draw", project, "--scheme", "rating", "--scale", "1-7"], "--scale is one of STSS, CLSS"),
        (["close", project, "3"], "There is no round 3"),
    ):
        with pytest.raises(Exception, match=said):
            CliRunner().invoke(cli, ["rounds", *arguments], catch_exceptions=False)
