"""The trust panel, the stop rule and intervals on the pages, for both protocols."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import sqlalchemy as sa
from campaigns import AREAS, BOTH_PROTOCOLS, PLAN, make_project
from page_words import press, turn_to, words

from core import worker
from core.commands.figures import evaluation, evaluation_inputs
from core.metrics import spearman
from core.store import schema as t
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.ballots.simulated import simulate_votes
from core.store.engine import now
from core.store.projects.plans import read_rankings, save_plan, set_ranking
from core.store.projects.project_commands import get_project
from core.store.scores.project_dataset import read_project_dataset
from core.views.evaluate import evaluate_page
from core.views.evaluate.leaderboard import WITH_INTERVAL
from core.views.scores import trust as view_of_trust


def held(store, protocol: str, n_ballots: int = 2) -> str:
    """A trial project with so many closed ballots."""
    project_id = make_project(store, kind="trial", plan=replace(PLAN, protocol=protocol, appearances=8, n_voters=12))
    for _ in range(n_ballots):
        draw_next_ballot(store, project_id)
        simulate_votes(store, project_id)
        close_ballot(store, project_id)
    return project_id


@pytest.mark.parametrize("protocol", BOTH_PROTOCOLS)
def test_the_scores_page_says_how_far_to_trust_it(empty, visit, protocol):
    app = visit("scores", held(empty, protocol))
    said = words(app)
    assert not app.exception
    assert "How far to trust it" in said
    assert "Votes join all 21 items." in said
    for name in ("Enough votes", "Won and lost", "The top 10", "First place", "The cut", "Agreement", "Noise ceiling"):
        assert f"**{name}.**" in said
    # A level is an icon and a word, not a colour alone.
    assert any(mark in said for mark in ("check_circle: good", "warning: weak", "error: bad"))
    levels = [value.split("]")[0] for value in (text.value for text in app.main.markdown) if value.startswith(":")]
    worst_first = [
        ":red[:material/error: bad",
        ":orange[:material/warning: weak",
        ":green[:material/check_circle: good",
    ]
    places = [worst_first.index(level) for level in levels if level in worst_first]
    assert len(places) >= 7
    assert sum(after < before for before, after in pairwise(places)) <= 1  # reliability comes after the quick lines
    assert "Another ballot (" in said or "isn't settled" in said


def test_collect_says_between_ballots_what_another_would_change(empty, visit):
    project_id = held(empty, "paper", 1)
    app = visit("collect", project_id)
    foresight, after, is_last = view_of_trust.load_next_ballot_value(empty, project_id)
    assert (after, is_last) == (1, False)
    assert foresight is not None
    assert (foresight.n_items, foresight.n_comparisons) == (11, 44)  # the plan's ballot 2
    assert view_of_trust.worth_text(foresight, 1) in words(app)
    press(app, "Reopen ballot 1")
    assert "Another ballot" not in words(app)
    assert view_of_trust.load_next_ballot_value(empty, project_id) == (None, 0, False)


@pytest.mark.release
def test_closing_again_foresees_the_same(empty):
    project_id = held(empty, "runoff", 1)
    before = view_of_trust.load_next_ballot_value(empty, project_id)
    reopen_ballot(empty, project_id)
    close_ballot(empty, project_id)
    assert view_of_trust.load_next_ballot_value(empty, project_id) == before


@pytest.mark.release
def test_the_log_keeps_what_a_cut_may_have_cost(empty, visit):
    project_id = held(empty, "runoff", 2)
    app = visit("project", project_id)
    logs = [frame.value for frame in app.dataframe if "details" in frame.value.columns]
    drawn = [text for text in logs[0]["details"] if "true top 10 cut, expected" in text] if logs else []
    assert get_project(empty, project_id).kind == "trial"
    assert len(drawn) == 1


def test_before_a_ballot_is_closed_there_is_no_panel(empty, visit):
    project_id = make_project(empty, kind="trial", plan=replace(PLAN, protocol="runoff", n_voters=12))
    draw_next_ballot(empty, project_id)
    simulate_votes(empty, project_id)
    assert "How far to trust it" not in words(visit("scores", project_id))
    assert view_of_trust.load(empty, project_id).lines == ()


def add_embedding(store, project_id: str, folder, name: str, seed: int) -> None:
    """Import made-up vectors of all tokens."""
    words_ = [token for area in AREAS for token in area.tokens]
    rows = np.random.default_rng(seed).normal(size=(len(words_), 4))
    file = folder / f"{name}.txt"
    file.write_text("".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words_, rows, strict=True)))
    row = {
        "id": name,
        "project_id": project_id,
        "kind": "import_embedding",
        "params": {"path": str(file), "name": name},
    }
    with store.write() as conn:
        conn.execute(sa.insert(t.job).values(**row, state="queued", created_at=now()))
    worker.run(name)


@pytest.mark.release
def test_models_have_intervals_and_are_told_apart_or_not(empty, visit, tmp_path):
    project_id = held(empty, "runoff", 2)
    for name, seed in (("One", 1), ("Two", 2)):
        add_embedding(empty, project_id, tmp_path, name, seed)
    assert "votes" in evaluation.keep_figures(empty, project_id)
    app = visit("evaluate", project_id)
    assert not app.exception
    said = words(app)
    assert "intervals of the figure that votes without noise would give" in said
    assert "The voters are resampled 400 times" in said
    plain = evaluate_page.load(empty, project_id, 2.0, "relatedness")
    view = evaluate_page.intervals(plain, evaluation.of_draws(plain, evaluation_inputs.load_draws(empty, project_id)))
    overall = view.view.overall.sort_values("ρ_w", ascending=False).to_dict("records")
    column = f"ρ_w{WITH_INTERVAL}"
    assert [text.replace("\xa0", " ") for text in app.table[0].value[column]] == [
        f"**{row['ρ_w corrected']:.3f}** {row['ρ_w lower']:.2f} to {row['ρ_w upper']:.2f}".replace("-", "−")
        for row in overall
    ]
    said = words(turn_to(app, "Differences"))
    assert "would they have put them in this order" in said
    pairs = next(table.value for table in app.table if "better" in table.value.columns)
    (row,) = pairs.to_dict("records")
    assert {row["better"], row["than"]} == {"One", "Two"}
    ends = row["by ρ_w (90% interval)"].replace("−", "-").split("(")[1].strip(")")
    lower, upper = map(float, ends.split(" to "))
    assert ("These votes can't tell apart One and Two" in said) == (lower <= 0 <= upper)
    assert set(evaluate_page.BOUNDS) <= set(view.view.table.columns)  # and so in the file
    assert view.view.table["ρ_w lower"].notna().sum() == 2 * 3  # of each embedding: over all, and in two areas


def test_the_papers_protocol_has_no_intervals_and_says_why(empty, visit, tmp_path):
    project_id = held(empty, "paper", 2)
    add_embedding(empty, project_id, tmp_path, "One", 1)
    app = visit("evaluate", project_id)
    assert not app.exception
    assert "There are no intervals by the paper's protocol" in words(app)
    assert list(app.table[0].value)[:3] == ["rank", "embedding", "ρ_w"]  # without an interval


@pytest.mark.release
def test_areas_with_rankings_of_their_own_are_drawn_apart_and_averaged(empty):
    project_id = make_project(empty, kind="trial", plan=None)
    set_ranking(empty, project_id, "area")
    plan = replace(PLAN, protocol="runoff", n_ballots=1, appearances=10, n_voters=12)
    ids = [ranking.area_id for ranking in read_rankings(empty, project_id)]
    save_plan(empty, project_id, plan, area_ids=ids)
    assert evaluation_inputs.load_draws(empty, project_id).problem == evaluation_inputs.NOT_CLOSED
    for area_id in ids:
        draw_next_ballot(empty, project_id, area_id=area_id)
        simulate_votes(empty, project_id, area_id=area_id)
        close_ballot(empty, project_id, area_id=area_id)
    found = evaluation_inputs.load_draws(empty, project_id, 20)
    dataset = read_project_dataset(empty, project_id)
    assert found.n_voters == 10  # Tools has 30 comparisons, of which ten voters answered three each
    columns = found.resampled(dataset).drawn
    assert columns.shape == (20, 21)
    assert not np.isnan(columns).any()
    for area in ("Animals", "Tools"):  # the fit's own order is near the mean of the draws'
        own = (dataset["area"] == area).to_numpy()
        assert spearman(columns[:, own].mean(axis=0), dataset["score"][own]) > 0.8
