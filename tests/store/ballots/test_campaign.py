"""A campaign in the store, from token lists to the dataset, against the paper's equations reckoned independently."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from campaigns import AREAS, PLAN, answer_batch, draw_batch, longer_pair, make_project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.dataset.files import read_dataset as read_written
from core.dataset.files import to_csv
from core.errors import InputError, PlanError, StoreError
from core.questions.comparison_page import write_batch
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots, read_comparisons, unanswered
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.drawing import discard_ballot, draw_next_ballot
from core.store.ballots.simulated import has_simulated_votes, simulate_votes
from core.store.projects.plans import read_plan, save_plan
from core.store.scores.project_dataset import read_ballot_scores, read_project_dataset
from core.store.tokens.areas import add_areas, change_area, delete_area, read_areas, read_items
from core.store.votes.intake import accept_upload, preview_upload
from core.store.votes.tallies import progress_of
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.tokens.files import AreaTokens


def run_ballot(store, project_id, **answers):
    """Draw, answer and close one ballot; its batch and its result file."""
    batch = draw_batch(store, project_id)
    results = answer_batch(batch, **answers)
    accept_upload(store, project_id, results, "results.csv")
    close_ballot(store, project_id)
    return batch, results


def votes_by_hand(results: bytes) -> dict[frozenset, list[float]]:
    """For each item (a set of two tokens) what it got in its comparisons: 1, ½ or 0, straight from the file's text."""
    points = defaultdict(list)
    lines = csv.reader(io.StringIO(results.decode("utf-8")))
    header = next(lines)
    for line in lines:
        row = dict(zip(header, line, strict=False))
        for n in (1, 2, 3):
            choice = row.get(f"Answer.choice_{n}", "")
            if not choice:
                continue
            left = frozenset((row[f"Input.left_a_{n}"], row[f"Input.left_b_{n}"]))
            right = frozenset((row[f"Input.right_a_{n}"], row[f"Input.right_b_{n}"]))
            gain = {"left": 1.0, "right": 0.0, "tie": 0.5}[choice]
            points[left].append(gain)
            points[right].append(1 - gain)
    return points


def test_scores_of_three_ballots_are_those_of_the_equations(store):
    project_id = make_project(store)
    files = [run_ballot(store, project_id)[1] for _ in range(3)]
    means: dict[frozenset, list[float]] = {}
    last_slope = None
    for number, results in enumerate(files):
        x = {item: sum(p) / len(p) for item, p in votes_by_hand(results).items()}
        if number == 0:
            y = x
        else:
            previous = {item: sum(means[item]) / len(means[item]) for item in x}
            last_slope = sum((1 - x[i]) * (1 - previous[i]) for i in x) / sum((1 - x[i]) ** 2 for i in x)
            y = {item: 1 - last_slope + last_slope * x[item] for item in x}
        for item, value in y.items():
            means.setdefault(item, []).append(value)
    dataset = read_project_dataset(store, project_id)
    assert len(dataset) == 21
    for row in dataset.itertuples():
        values = means[frozenset((row.token_a, row.token_b))]
        assert row.score == pytest.approx(sum(values) / len(values), abs=1e-12)
        assert row.ballots == len(values)
    assert read_ballots(store, project_id)[-1].slope == pytest.approx(last_slope, abs=1e-12)
    assert [ballot.n_items for ballot in read_ballots(store, project_id)] == [21, 11, 6]
    assert (np.diff(dataset["score"]) <= 1e-12).all()
    assert dataset.attrs["provisional"] is False
    assert dataset.attrs["votes"] == sum(ballot.n_comparisons for ballot in read_ballots(store, project_id)) == 76


def test_the_next_ballot_holds_the_best_items_of_the_last(store):
    project_id = make_project(store)
    run_ballot(store, project_id)
    draw_next_ballot(store, project_id)
    scores = read_ballot_scores(store, project_id)
    first = scores[scores["ballot"] == 1].set_index("item")["mean"]
    kept = scores[scores["ballot"] == 2]["item"]
    assert len(kept) == 11
    assert first[kept].min() >= first.drop(kept).max()
    cut = first[kept].min()
    tied = int(np.isclose(first, cut, atol=1e-12).sum())
    ballot = read_ballots(store, project_id)[-1]
    if tied > int(np.isclose(first[kept], cut, atol=1e-12).sum()):
        assert (ballot.n_tied, ballot.n_tied_kept) == (tied, int(np.isclose(first[kept], cut, atol=1e-12).sum()))


def test_the_same_seeds_give_the_same_batch_byte_for_byte(store):
    one, two = make_project(store), make_project(store)
    batches = [draw_batch(store, project_id) for project_id in (one, two)]
    texts = [[line.split(",", 1)[1] for line in batch.decode().splitlines()] for batch in batches]
    assert texts[0] == texts[1]  # all but the task ids, which name the project's ballot
    discard_ballot(store, one)
    assert draw_batch(store, one) == batches[0]


def test_every_item_appears_m_times_and_tallies_agree_with_the_votes(store):
    project_id = make_project(store)
    run_ballot(store, project_id)
    scores = read_ballot_scores(store, project_id)
    total = scores["wins"] + scores["ties"] + scores["losses"]
    assert (total == 4).all()
    assert scores["wins"].sum() == scores["losses"].sum()
    assert np.allclose(scores["x"], (scores["wins"] + scores["ties"] / 2) / total)


def test_intervals_are_there_with_enough_voters_and_hold_the_score(store):
    project_id = make_project(store, plan=replace(PLAN, appearances=20))
    voters = [f"W{i}" for i in range(30)]
    run_ballot(store, project_id, voters=voters)
    dataset = read_project_dataset(store, project_id)
    assert dataset[["lower", "upper"]].notna().all().all()
    assert (dataset["lower"] <= dataset["upper"]).all()
    assert dataset["score"].between(dataset["lower"] - 0.1, dataset["upper"] + 0.1).all()


def test_too_few_voters_give_no_interval_and_a_reason(store):
    project_id = make_project(store)
    run_ballot(store, project_id, voters=("W1", "W2"))
    assert read_project_dataset(store, project_id)["lower"].isna().all()
    assert "voters" in read_ballots(store, project_id)[0].interval_note


def test_the_same_file_twice_changes_nothing(store):
    project_id = make_project(store)
    results = answer_batch(draw_batch(store, project_id))
    accepted = accept_upload(store, project_id, results, "results.csv")
    assert accepted.counts["new"] == 42
    before = read_ballot_scores(store, project_id)
    preview = preview_upload(store, project_id, results, "again.csv")
    assert preview.counts == {"known": 42}
    assert preview.accepted_before is not None
    with pytest.raises(StoreError, match="no vote that isn't in the store"):
        accept_upload(store, project_id, results, "again.csv")
    assert read_ballot_scores(store, project_id).equals(before)
    assert len(read_uploads(store, project_id)) == 1


def test_accepted_bytes_are_kept(store):
    project_id = make_project(store)
    results = answer_batch(draw_batch(store, project_id))
    accept_upload(store, project_id, results, "../../evil.csv")
    (kept,) = store.uploads.iterdir()
    assert kept.read_bytes() == results
    assert read_uploads(store, project_id)[0].filename == "evil.csv"


def test_a_withdrawn_upload_counts_no_more_and_can_come_again(store):
    project_id = make_project(store)
    results = answer_batch(draw_batch(store, project_id))
    accepted = accept_upload(store, project_id, results, "results.csv")
    counted = read_ballot_scores(store, project_id)
    assert withdraw_upload(store, project_id, accepted.upload_id).judgements == 42
    assert read_ballot_scores(store, project_id)["wins"].sum() == 0
    assert read_uploads(store, project_id)[0].withdrawn_at is not None
    with pytest.raises(StoreError, match="withdrawn already"):
        withdraw_upload(store, project_id, accepted.upload_id)
    accept_upload(store, project_id, results, "results.csv")
    assert read_ballot_scores(store, project_id).equals(counted)


def test_a_repeat_counts_once_its_first_vote_is_withdrawn(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    first = accept_upload(store, project_id, answer_batch(batch, voters=("W1",)), "one.csv")
    again = accept_upload(store, project_id, answer_batch(batch, voters=("W1",), tag="B"), "two.csv")
    assert again.counts == {"repeat": 42}
    total = read_ballot_scores(store, project_id)[["wins", "ties", "losses"]].to_numpy().sum()
    assert total == 84
    withdraw_upload(store, project_id, first.upload_id)
    assert read_ballot_scores(store, project_id)[["wins", "ties", "losses"]].to_numpy().sum() == 84


def test_rejected_assignments_are_kept_but_not_counted(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accepted = accept_upload(store, project_id, answer_batch(batch, status="Rejected"), "rejected.csv")
    assert accepted.counts == {"rejected": 42}
    with store.read() as conn:
        progress = progress_of(conn, read_ballots(store, project_id)[0].id)
    assert (progress.votes, progress.rejected) == (0, 42)


def test_an_assignment_rejected_later_counts_no_more(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch, status="Submitted"), "results.csv")
    changed = accept_upload(store, project_id, answer_batch(batch, status="Rejected"), "later.csv")
    assert changed.counts == {"changed": 42}
    assert read_ballot_scores(store, project_id)["wins"].sum() == 0
    back = accept_upload(store, project_id, answer_batch(batch, status="Approved"), "reversed.csv")
    assert back.counts == {"changed": 42}
    assert read_ballot_scores(store, project_id)[["wins", "ties", "losses"]].to_numpy().sum() == 84


def test_withdrawing_a_file_undoes_what_it_changed(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch, status="Submitted"), "results.csv")
    counted = read_ballot_scores(store, project_id)
    changed = accept_upload(store, project_id, answer_batch(batch, status="Rejected"), "later.csv")
    withdraw_upload(store, project_id, changed.upload_id)
    assert read_ballot_scores(store, project_id).equals(counted)


def test_a_file_that_contradicts_the_store_changes_no_answer(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch, choose=lambda _: "left"), "results.csv")
    counted = read_ballot_scores(store, project_id)
    with pytest.raises(StoreError, match="no vote that can be taken: 42 other than the stored answer"):
        accept_upload(store, project_id, answer_batch(batch, choose=lambda _: "right"), "other.csv")
    assert read_ballot_scores(store, project_id).equals(counted)


def test_the_same_ids_of_two_platforms_are_two_assignments(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    mturk = answer_batch(batch, voters=("1", "2"), tag="")
    turkle = mturk.replace(b'"AssignmentStatus",', b'"Turkle.Username",').replace(b'"Approved",', b'"anna",')
    accept_upload(store, project_id, mturk, "mturk.csv")
    preview = preview_upload(store, project_id, turkle, "turkle.csv")
    assert (preview.platform, preview.counts) == ("turkle", {"new": 42})


def test_unknown_is_logged_and_no_vote(store):
    project_id = make_project(store)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id), choose=lambda _: "unknown"), "u.csv")
    scores = read_ballot_scores(store, project_id)
    assert (scores["unknowns"] == 4).all()
    assert scores[["wins", "ties", "losses"]].to_numpy().sum() == 0


def test_results_of_another_ballot_are_left_out(store):
    project_id = make_project(store)
    _, results = run_ballot(store, project_id)
    draw_next_ballot(store, project_id)
    assert preview_upload(store, project_id, results, "old.csv").counts == {"other_ballot": 42}


def test_another_draw_has_other_task_ids(store):
    project_id = make_project(store)
    first = draw_batch(store, project_id)
    discard_ballot(store, project_id)
    save_plan(store, project_id, replace(PLAN, task_size=6))
    second = draw_batch(store, project_id)
    ids = [{line.split(b",", 1)[0] for line in batch.splitlines()[1:]} for batch in (first, second)]
    assert ids[0] & ids[1] == set()
    assert preview_upload(store, project_id, answer_batch(first), "old.csv").counts == {"other_ballot": 42}


def test_late_answers_are_named_with_their_ballot(store):
    project_id = make_project(store)
    _, results = run_ballot(store, project_id)
    draw_next_ballot(store, project_id)
    reasons = preview_upload(store, project_id, results, "late.csv").preview.rows["reason"]
    assert set(reasons) == {"of ballot 1, which is closed"}


def test_several_votes_of_a_comparison_hide_no_comparison_without_one(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    half = b"\n".join(batch.splitlines()[:8]) + b"\n"
    accept_upload(store, project_id, answer_batch(half, voters=("W1",)), "one.csv")
    accept_upload(store, project_id, answer_batch(half, voters=("W2",), tag="B"), "two.csv")
    with store.read() as conn:
        progress = progress_of(conn, read_ballots(store, project_id)[0].id)
    assert (progress.votes, progress.answered, progress.wanted) == (42, 21, 42)
    assert progress.share == 0.5
    assert not progress.is_complete


def test_a_repeat_counts_once_its_first_vote_is_rejected(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch, voters=("W1",), status="Submitted"), "one.csv")
    accept_upload(store, project_id, answer_batch(batch, voters=("W1",), status="Submitted", tag="B"), "two.csv")
    accept_upload(store, project_id, answer_batch(batch, voters=("W1",), status="Rejected"), "rejects-one.csv")
    with store.read() as conn:
        progress = progress_of(conn, read_ballots(store, project_id)[0].id)
    assert (progress.votes, progress.rejected, progress.repeats) == (42, 42, 0)


def test_not_knowing_a_word_stands_in_the_way_of_no_vote(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    one = {"voters": ("W1",), "status": "Submitted"}
    accept_upload(store, project_id, answer_batch(batch, choose=lambda _: "unknown", tag="A", **one), "a.csv")
    accept_upload(store, project_id, answer_batch(batch, tag="B", **one), "b.csv")
    accept_upload(store, project_id, answer_batch(batch, tag="C", **one), "c.csv")
    reject = answer_batch(batch, tag="B", voters=("W1",), status="Rejected")
    accept_upload(store, project_id, reject, "rejects-b.csv")
    with store.read() as conn:
        progress = progress_of(conn, read_ballots(store, project_id)[0].id)
    assert (progress.votes, progress.unknown, progress.rejected) == (42, 42, 42)


def test_rows_that_cannot_be_read_are_counted_in_the_preview(store):
    project_id = make_project(store)
    lines = answer_batch(draw_batch(store, project_id)).splitlines(keepends=True)
    cut = b"".join([*lines[:3], *(line[:40] + b"\n" for line in lines[3:6])])
    preview = preview_upload(store, project_id, cut, "cut.csv")
    assert preview.counts["unreadable"] >= 1
    assert preview.counts["new"] == 6
    assert preview.issues


def test_voters_of_an_upload_are_those_whose_votes_count(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    good = answer_batch(batch, voters=("W1",)).splitlines(keepends=True)
    bad = answer_batch(batch, voters=("W2",), status="Rejected", tag="B").splitlines(keepends=True)
    accepted = accept_upload(store, project_id, b"".join([*good[:3], *bad[3:6]]), "mixed.csv")
    assert accepted.n_voters == 1


def test_only_voters_with_a_counted_vote_are_voters_of_the_dataset(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch, voters=("W1", "W2")), "one.csv")
    accept_upload(store, project_id, answer_batch(batch, voters=("W3",), status="Rejected", tag="B"), "two.csv")
    gone = accept_upload(store, project_id, answer_batch(batch, voters=("W4",), tag="C"), "three.csv")
    withdraw_upload(store, project_id, gone.upload_id)
    assert read_project_dataset(store, project_id).attrs["voters"] == {"people": 2, "simulated": 0}


def test_a_tie_is_no_answer_where_the_plan_has_none(store):
    project_id = make_project(store, kind="trial", plan=replace(PLAN, ties_allowed=False))
    batch = draw_batch(store, project_id)
    results = answer_batch(batch, choose=lambda _: "tie")
    assert preview_upload(store, project_id, results, "ties.csv").counts == {"unreadable": 42}
    simulate_votes(store, project_id)
    assert read_ballot_scores(store, project_id)["ties"].sum() == 0


def test_a_refused_file_is_not_kept(store):
    project_id = make_project(store)
    results = answer_batch(draw_batch(store, project_id), choose=lambda _: "")
    with pytest.raises(StoreError, match="no answer yet"):
        accept_upload(store, project_id, results, "empty.csv")
    assert list(store.uploads.iterdir()) == []


def test_judgements_are_never_deleted(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch, status="Submitted"), "one.csv")
    with store.read() as conn:
        before = conn.execute(sa.select(t.judgement.c.id).order_by(t.judgement.c.id)).scalars().all()
    changed = accept_upload(store, project_id, answer_batch(batch, status="Rejected"), "two.csv")
    withdraw_upload(store, project_id, changed.upload_id)
    with store.read() as conn:
        assert conn.execute(sa.select(t.judgement.c.id).order_by(t.judgement.c.id)).scalars().all() == before


def test_an_area_of_a_name_that_is_there_is_not_replaced(store):
    project_id = make_project(store)
    with pytest.raises(InputError, match="There is an area Tools already"):
        add_areas(store, project_id, [AreaTokens("Tools", ("a", "b"))])
    assert read_areas(store, project_id) == list(AREAS)


@pytest.mark.parametrize("tokens", [("a", "b", "c"), ("a", "b", "c", "d", "e")])
@pytest.mark.parametrize("n_ballots", [1, 2])
@pytest.mark.parametrize("task_size", [1, 50])
def test_tiny_projects_go_the_whole_way(store, tokens, n_ballots, task_size):
    project_id = make_project(store, plan=None)
    for area in AREAS:
        delete_area(store, project_id, area)
    add_areas(store, project_id, [AreaTokens("x", tokens)])
    plan = replace(PLAN, n_ballots=n_ballots, keep=0.7, appearances=22, task_size=task_size)
    save_plan(store, project_id, plan)
    for _ in range(n_ballots):
        draw_next_ballot(store, project_id)
        batch = write_batch(read_comparisons(store, project_id, read_ballots(store, project_id)[-1].number))
        accept_upload(store, project_id, answer_batch(batch), "results.csv")
        close_ballot(store, project_id)
    dataset = read_project_dataset(store, project_id)
    assert len(dataset) == len(tokens) * (len(tokens) - 1) // 2
    assert dataset["score"].notna().all()


def test_odd_texts_come_through_the_whole_way(store):
    tokens = (
        "=2+3",
        "<b>x</b>",
        'say "hi"',
        "a, b",
        "$x$",
        "&amp;",
        "🔥 fire",
        "ｗｉｄｅ",
        "שלום",
        "007",
        "NA",
        "a\u200db",
    )
    project_id = make_project(store, plan=None)
    for area in AREAS:
        delete_area(store, project_id, area)
    add_areas(store, project_id, [AreaTokens("R&D <i>", tokens)])
    save_plan(store, project_id, replace(PLAN, n_ballots=1))
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch), "results.csv")
    close_ballot(store, project_id)
    back = read_written(to_csv(read_project_dataset(store, project_id)))
    assert set(back["token_a"]) | set(back["token_b"]) == set(tokens)
    assert set(back["area"]) == {"R&D <i>"}


def test_a_ballot_with_an_item_without_votes_cannot_close(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    with pytest.raises(StoreError, match="no votes yet"):
        close_ballot(store, project_id)
    part = b"\n".join(answer_batch(batch).splitlines()[:3]) + b"\n"
    accept_upload(store, project_id, part, "part.csv")
    with pytest.raises(StoreError, match="of 21 items have no vote"):
        close_ballot(store, project_id)
    assert read_ballots(store, project_id)[0].is_open


def test_a_top_up_holds_what_is_missing_and_completes_the_ballot(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    asked = iter(range(1000))
    some = answer_batch(batch, choose=lambda shown: "unknown" if next(asked) % 5 == 0 else longer_pair(shown))
    accept_upload(store, project_id, some, "some.csv")
    missing = unanswered(store, project_id, 1)
    assert 0 < len(missing) < 42
    comparisons = read_comparisons(store, project_id, 1)
    top_up = write_batch(comparisons, only=missing)
    header = top_up.splitlines()[0]
    assert header == batch.splitlines()[0]
    assert sum(line.count(b",") == header.count(b",") for line in top_up.splitlines()) == len(top_up.splitlines())
    more = answer_batch(top_up, voters=("X1", "X2"), tag="T")
    assert accept_upload(store, project_id, more, "more.csv").counts == {"new": len(missing)}
    assert unanswered(store, project_id, 1) == []


def test_missing_votes_of_a_later_ballot_keep_the_mean(store):
    project_id = make_project(store)
    run_ballot(store, project_id)
    batch = draw_batch(store, project_id)
    before = read_project_dataset(store, project_id).set_index(["token_a", "token_b"])["score"]
    accept_upload(store, project_id, b"\n".join(answer_batch(batch).splitlines()[:2]) + b"\n", "part.csv")
    close_ballot(store, project_id)
    scores = read_ballot_scores(store, project_id)
    silent = scores[(scores["ballot"] == 2) & (scores["wins"] + scores["ties"] + scores["losses"] == 0)]
    assert len(silent) > 0
    assert silent["y"].isna().all()
    items = read_items(store, project_id).set_index("item")
    after = read_project_dataset(store, project_id).set_index(["token_a", "token_b"])["score"]
    for item in silent["item"]:
        key = (items.loc[item, "token_a"], items.loc[item, "token_b"])
        assert after[key] == before[key]


def test_the_order_of_life_is_kept(store):
    project_id = make_project(store)
    draw_next_ballot(store, project_id)
    with pytest.raises(StoreError, match="still open"):
        draw_next_ballot(store, project_id)
    for change in (
        lambda: add_areas(store, project_id, [AreaTokens("x", ("a", "b"))]),
        lambda: delete_area(store, project_id, AREAS[1]),
        lambda: change_area(store, project_id, AREAS[1], ("a", "b")),
        lambda: save_plan(store, project_id, replace(PLAN, n_ballots=2)),
    ):
        with pytest.raises(StoreError, match="ballot 1 is drawn"):
            change()
    discard_ballot(store, project_id)
    save_plan(store, project_id, replace(PLAN, n_ballots=2))
    assert read_plan(store, project_id).n_ballots == 2
    run_ballot(store, project_id)
    run_ballot(store, project_id)
    with pytest.raises(StoreError, match="All 2 ballots"):
        draw_next_ballot(store, project_id)


def test_a_ballot_with_answers_is_not_discarded(store):
    project_id = make_project(store)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "results.csv")
    with pytest.raises(StoreError, match="has answers"):
        discard_ballot(store, project_id)


def test_a_closed_ballot_reopens_until_the_next_is_drawn(store):
    project_id = make_project(store)
    run_ballot(store, project_id)
    scores = read_ballot_scores(store, project_id)
    reopen_ballot(store, project_id)
    assert read_ballot_scores(store, project_id)["mean"].isna().all()
    close_ballot(store, project_id)
    assert read_ballot_scores(store, project_id).equals(scores)
    draw_next_ballot(store, project_id)
    with pytest.raises(StoreError, match="later one is drawn"):
        reopen_ballot(store, project_id)


def test_before_the_first_closing_the_dataset_is_the_votes_so_far(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    assert len(read_project_dataset(store, project_id)) == 0
    part = b"\n".join(answer_batch(batch).splitlines()[:3]) + b"\n"
    accept_upload(store, project_id, part, "part.csv")
    dataset = read_project_dataset(store, project_id)
    by_hand = {item: sum(p) / len(p) for item, p in votes_by_hand(part).items()}
    assert {frozenset((r.token_a, r.token_b)): r.score for r in dataset.itertuples()} == by_hand
    assert dataset.attrs["provisional"] is True
    assert dataset.attrs["unscored_items"] == 21 - len(by_hand)


def test_simulated_voters_answer_trial_projects_only_and_are_marked(store):
    real, trial = make_project(store), make_project(store, kind="trial")
    draw_next_ballot(store, real)
    draw_next_ballot(store, trial)
    with pytest.raises(StoreError, match="Real projects take real votes"):
        simulate_votes(store, real)
    assert simulate_votes(store, trial) == 42
    close_ballot(store, trial)
    with store.read() as conn:
        assert has_simulated_votes(conn, trial)
        assert not has_simulated_votes(conn, real)
    about = read_project_dataset(store, trial).attrs
    assert about["simulated_votes"] is True
    with store.read() as conn:
        sources = conn.execute(sa.select(t.judgement.c.source).distinct()).scalars().all()
    assert sources == ["simulated"]


def test_simulated_votes_follow_from_the_seed(store):
    one, two = make_project(store, kind="trial"), make_project(store, kind="trial")
    for project_id in (one, two):
        draw_next_ballot(store, project_id)
        simulate_votes(store, project_id)
    assert read_ballot_scores(store, one).equals(read_ballot_scores(store, two))


def test_simulated_voters_share_the_tasks_evenly_within_one(store):
    project_id = make_project(store, kind="trial")
    draw_next_ballot(store, project_id)
    simulate_votes(store, project_id)
    with store.read() as conn:
        counts = (
            conn.execute(sa.select(sa.func.count()).select_from(t.assignment).group_by(t.assignment.c.voter_id))
            .scalars()
            .all()
        )
    assert len(counts) == 6
    assert max(counts) - min(counts) <= 1


def test_areas_with_too_few_tokens_and_impossible_plans_are_refused(store):
    project_id = make_project(store, plan=None)
    with pytest.raises(InputError, match="fewer than two tokens"):
        add_areas(store, project_id, [AreaTokens("One", ("alone",))])
    with pytest.raises(PlanError):
        save_plan(store, project_id, replace(PLAN, n_ballots=9))
    with pytest.raises(PlanError, match="task"):
        save_plan(store, project_id, replace(PLAN, task_size=0))
    with pytest.raises(StoreError, match="no plan"):
        draw_next_ballot(store, project_id)
    assert read_plan(store, project_id) is None


def test_what_voters_see_is_what_is_stored(store):
    project_id = make_project(store)
    number = draw_next_ballot(store, project_id)
    shown = read_comparisons(store, project_id, number)
    items = read_items(store, project_id).set_index("item")
    for row in shown.itertuples():
        first = {items.loc[row.first, "token_a"], items.loc[row.first, "token_b"]}
        second = {items.loc[row.second, "token_a"], items.loc[row.second, "token_b"]}
        left, right = {row.left_a, row.left_b}, {row.right_a, row.right_b}
        assert (left, right) == ((second, first) if row.flipped else (first, second))
    assert shown["flipped"].any()
    assert not shown["flipped"].all()
    assert len(write_batch(shown).splitlines()) == 1 + shown["task_id"].nunique()


def test_the_areas_are_kept_as_given(store):
    project_id = make_project(store)
    items = read_items(store, project_id)
    assert set(items["token_a"]) | set(items["token_b"]) == {token for area in AREAS for token in area.tokens}
    assert len(items) == 15 + 6


@pytest.mark.release
@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_split_order_and_repetition_of_result_files_gives_the_same_votes(store, data):
    """Two voters answer every task twice, a third is rejected at times; the rows come in any files."""
    project_id, other = make_project(store), make_project(store)
    tasks = draw_batch(store, project_id)
    rows = [
        row
        for tag, status in (("A", "Approved"), ("B", "Submitted"), ("C", "Rejected"))
        for row in answer_batch(tasks, voters=("W1", "W2"), choose=CHOICES[tag], status=status, tag=tag).splitlines()[
            1:
        ]
    ]
    header = answer_batch(tasks).splitlines()[0]
    accept_upload(store, project_id, b"\n".join([header, *rows]), "whole.csv")
    draw_batch(store, other)  # the same comparisons under other task ids
    codes = [read_ballots(store, id_)[0].code.encode() for id_ in (project_id, other)]
    places = [data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=2, unique=True)) for _ in rows]
    for number in data.draw(st.permutations([0, 1, 2, 1])):
        part = [row.replace(*codes) for row, of in zip(rows, places, strict=True) if number in of]
        found = preview_upload(store, other, b"\n".join([header, *part]), "part.csv")
        if found.takes_something:
            accept_upload(store, other, b"\n".join([header, *part]), f"part-{number}.csv")
    pd.testing.assert_frame_equal(read_ballot_scores(store, project_id), read_ballot_scores(store, other))


CHOICES = {"A": longer_pair, "B": lambda shown: "left", "C": lambda shown: "right"}
