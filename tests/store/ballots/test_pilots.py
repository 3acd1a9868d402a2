"""Pilots in the store: drawn, answered, closed, discarded and reopened, and without any trace in ballots and scores."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from campaigns import AREAS, BOTH_PROTOCOLS, PLAN, answer_batch, draw_batch, make_project
from test_archive import members_of, refused, signed, without_ids

from core.errors import InputError, StoreError
from core.platforms.plain import write_comparisons
from core.questions.comparison_page import write_batch
from core.questions.voting_settings import VotingSettings
from core.store import schema as t
from core.store.ballots.ballot_rows import open_ballot_of, pilot_of, read_ballots, read_comparisons, unanswered
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.drawing import discard_ballot, draw_next_ballot, draw_waiting
from core.store.ballots.pilots import draw_pilot, pilot_answers
from core.store.ballots.simulated import simulate_votes
from core.store.projects.archive import copy_without_ballots, export_project, import_project
from core.store.projects.plans import read_plan, read_rankings, register_plan, save_plan, set_ranking
from core.store.projects.project_commands import change_project, read_log
from core.store.scores.forecasts import fit_stored, votes_to_fit
from core.store.scores.project_dataset import read_ballot_scores, read_project_dataset
from core.store.tokens.areas import change_area, read_items
from core.store.votes.intake import accept_upload, preview_upload
from core.store.votes.tallies import ballot_votes, progress_of
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.store.voting.housekeeping import do_housekeeping
from core.store.voting.owner_commands import open_voting
from core.views import overview, plan, tokens
from core.views.collect import collect_page
from core.views.log import log_table
from core.views.scores import scores_page, trust
from core.voters.panel_fit import fit_panel


@pytest.fixture
def project_id(store):
    return make_project(store)


def found(store, project_id, area_id=None):
    with store.read() as conn:
        return pilot_of(conn, project_id, area_id)


def batch_of_pilot(store, project_id, n=20):
    draw_pilot(store, project_id, n)
    return write_batch(read_comparisons(store, project_id, 0))


def answered(store, project_id, n=20, choose=None):
    """A closed pilot."""
    batch = batch_of_pilot(store, project_id, n)
    results = answer_batch(batch, tag="P", **({"choose": choose} if choose else {}))
    accept_upload(store, project_id, results, "pilot.csv")
    close_ballot(store, project_id)


# The draw


@pytest.mark.parametrize(("n", "size", "each"), [(20, 20, 2), (21, 21, 2), (60, 21, 5), (200, 21, 19)])
def test_a_pilot_has_a_sample_of_the_items_each_equally_often(store, project_id, n, size, each):
    assert draw_pilot(store, project_id, n) == -(-size * each // 2)
    shown = read_comparisons(store, project_id, 0)
    times = Counter([*shown["first"], *shown["second"]])
    assert len(times) == size
    assert set(times.values()) <= {each, each + 1}
    assert sum(times.values()) - each * size in (0, 1)
    assert len({frozenset(pair) for pair in zip(shown["first"], shown["second"], strict=True)}) == len(shown) <= n + 1
    assert shown["task_id"].str.startswith(found(store, project_id).code).all()
    assert found(store, project_id).code.startswith("b0-")
    assert shown.groupby("task_id").size().max() <= PLAN.task_size


def test_the_same_seed_draws_the_same_pilot_and_another_another(store):
    drawn = []
    for seed in (11, 11, 12):
        project_id = make_project(store, seed=seed)
        draw_pilot(store, project_id, 20)
        drawn.append(read_comparisons(store, project_id, 0).drop(columns=["question_id", "task_id"]))
    pd.testing.assert_frame_equal(drawn[0], drawn[1])
    assert not drawn[0].equals(drawn[2])


def test_the_sample_is_of_all_items(store):
    seen = set()
    for seed in range(6):
        project_id = make_project(store, seed=seed)
        draw_pilot(store, project_id, 20)
        seen |= set(range(21)) - set(read_comparisons(store, project_id, 0)["first"])
    assert len(seen) > 1


@pytest.mark.parametrize("n", [19, 201, 0])
def test_sizes_out_of_range_are_refused(store, project_id, n):
    with pytest.raises(InputError, match="20 to 200"):
        draw_pilot(store, project_id, n)


def test_a_pilot_needs_a_plan_comes_once_and_before_ballot_1(store, project_id):
    with pytest.raises(StoreError, match="no plan"):
        draw_pilot(store, make_project(store, plan=None))
    draw_pilot(store, project_id)
    with pytest.raises(StoreError, match="drawn already"):
        draw_pilot(store, project_id)
    discard_ballot(store, project_id)
    draw_next_ballot(store, project_id)
    with pytest.raises(StoreError, match="too late"):
        draw_pilot(store, project_id)


# The life of one


def test_ballots_are_counted_as_if_there_were_none(store, project_id):
    draw_pilot(store, project_id, 20)
    assert read_ballots(store, project_id) == []
    with store.read() as conn:
        assert open_ballot_of(conn, project_id).number == 0
    with pytest.raises(StoreError, match="pilot is still open"):
        draw_next_ballot(store, project_id)
    assert draw_waiting(store, project_id) == 0
    discard_ballot(store, project_id)
    assert found(store, project_id) is None
    answered(store, project_id)
    assert draw_next_ballot(store, project_id) == 1
    assert [ballot.number for ballot in read_ballots(store, project_id)] == [1]
    with store.read() as conn:
        assert open_ballot_of(conn, project_id).number == 1


def test_a_pilot_with_answers_stays_and_one_without_cannot_be_closed(store, project_id):
    batch = batch_of_pilot(store, project_id)
    with pytest.raises(StoreError, match=r"^The pilot has no votes yet"):
        close_ballot(store, project_id)
    accept_upload(store, project_id, answer_batch(batch), "r.csv")
    with pytest.raises(StoreError, match=r"^The pilot has answers"):
        discard_ballot(store, project_id)
    assert unanswered(store, project_id, 0) == []


def test_closing_scores_nothing_and_reopening_ends_with_ballot_1(store, project_id):
    answered(store, project_id)
    pilot_id = found(store, project_id).id
    with store.read() as conn:
        row = conn.execute(sa.select(t.ballot).where(t.ballot.c.id == pilot_id)).one()
        items = conn.execute(sa.select(t.ballot_item).where(t.ballot_item.c.ballot_id == pilot_id)).all()
    assert (row.state, row.slope, row.fit) == ("closed", None, None)
    assert all(item.x is None and item.mean is None and item.lower is None for item in items)
    assert sum(item.wins + item.ties + item.losses for item in items) == 40
    reopen_ballot(store, project_id)
    assert found(store, project_id).is_open
    close_ballot(store, project_id)
    draw_next_ballot(store, project_id)
    with pytest.raises(StoreError, match="no closed ballot"):
        reopen_ballot(store, project_id)
    assert not found(store, project_id).is_open


def test_an_upload_is_taken_once_and_withdrawn_while_the_pilot_is_open(store, project_id):
    results = answer_batch(batch_of_pilot(store, project_id))
    assert preview_upload(store, project_id, results, "r.csv").ballot == 0
    accepted = accept_upload(store, project_id, results, "r.csv")
    assert (accepted.counts, accepted.effect.votes, accepted.effect.moves) == ({"new": 20}, 20, ())
    assert accepted.effect.first is None
    with pytest.raises(StoreError, match="isn't in the store already"):
        accept_upload(store, project_id, results, "r.csv")
    (upload,) = read_uploads(store, project_id)
    assert upload.ballot == 0
    assert withdraw_upload(store, project_id, upload.id).judgements == 20
    assert accept_upload(store, project_id, results, "r.csv").counts == {"new": 20}
    close_ballot(store, project_id)
    with pytest.raises(StoreError, match=r"^The pilot is closed"):
        withdraw_upload(store, project_id, read_uploads(store, project_id)[0].id)


def test_results_of_the_pilot_are_named_in_ballot_1_and_not_taken(store, project_id):
    results = answer_batch(batch_of_pilot(store, project_id))
    accept_upload(store, project_id, results, "r.csv")
    close_ballot(store, project_id)
    draw_next_ballot(store, project_id)
    rows = preview_upload(store, project_id, results, "r.csv").preview.rows
    assert set(rows["kind"]) == {"other_ballot"}
    assert set(rows["reason"]) == {"of the pilot, which is closed"}


def test_a_pilot_keeps_its_ties_when_the_plan_changes(store, project_id):
    batch = batch_of_pilot(store, project_id)
    save_plan(store, project_id, replace(PLAN, ties_allowed=False, task_size=9))
    counts = accept_upload(store, project_id, answer_batch(batch, choose=lambda _: "tie"), "r.csv").counts
    assert counts == {"new": 20}
    assert collect_page.load(store, project_id).settings.ties_allowed


# What it fixes


def test_lists_notion_and_ranking_are_fixed_and_plan_and_registration_are_not(store, project_id):
    draw_pilot(store, project_id)
    with pytest.raises(StoreError, match="the pilot is drawn"):
        change_area(store, project_id, AREAS[1], ("hammer", "saw", "file"))
    with pytest.raises(StoreError, match="the pilot is drawn"):
        change_project(store, project_id, name="x", notion="similarity", expected_revision=None)
    with pytest.raises(StoreError, match="the pilot is drawn"):
        set_ranking(store, project_id, "area")
    assert tokens.load(store, project_id).fixed_by == overview.load(store, project_id).fixed_by == "the pilot"
    other = replace(PLAN, seconds_per_comparison=9.5, appearances=6)
    save_plan(store, project_id, other)
    assert read_plan(store, project_id) == other
    register_plan(store, project_id)
    discard_ballot(store, project_id)
    assert tokens.load(store, project_id).fixed_by == ""
    change_area(store, project_id, AREAS[1], ("hammer", "saw", "file"))
    draw_next_ballot(store, project_id)
    with pytest.raises(StoreError, match="ballot 1 is drawn"):
        save_plan(store, project_id, PLAN)
    assert tokens.load(store, project_id).fixed_by == "ballot 1"


def test_ballot_1_is_what_fixes_once_both_are_drawn(store, project_id):
    answered(store, project_id)
    draw_next_ballot(store, project_id)
    with pytest.raises(StoreError, match="ballot 1 is drawn"):
        change_area(store, project_id, AREAS[1], ("hammer", "saw", "file"))


# What it must not touch


def rounds(store, project_id):
    """Two ballots, answered the same in any project of the same seed; their figures, the dataset, the last effect."""
    for number in (1, 2):
        accepted = accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), f"{number}.csv")
        close_ballot(store, project_id)
    dataset = read_project_dataset(store, project_id)
    drawn = [read_comparisons(store, project_id, n).drop(columns=["question_id", "task_id"]) for n in (1, 2)]
    return dataset, read_ballot_scores(store, project_id), drawn, accepted.effect.moves


@pytest.mark.parametrize("protocol", BOTH_PROTOCOLS)
def test_ballots_scores_dataset_and_checks_are_as_without_a_pilot(store, protocol):
    plan = replace(PLAN, protocol=protocol)
    plain, piloted = make_project(store, plan=plan), make_project(store, plan=plan)
    answered(store, piloted, choose=lambda _: "left")
    expected, got = rounds(store, plain), rounds(store, piloted)
    pd.testing.assert_frame_equal(got[0], expected[0])
    assert got[0].attrs == expected[0].attrs | {"project": "Test (2)"}
    pd.testing.assert_frame_equal(got[1], expected[1])
    for mine, theirs in zip(got[2], expected[2], strict=True):
        pd.testing.assert_frame_equal(mine, theirs)
    assert got[3] == expected[3]
    assert set(got[1]["ballot"]) == {1, 2}
    for view in (trust.load_checks, scores_page.load):
        found_in, expected_in = view(store, piloted), view(store, plain)
        if view is trust.load_checks:
            assert (found_in.n_votes, found_in.agreement_said) == (expected_in.n_votes, expected_in.agreement_said)
        else:
            pd.testing.assert_frame_equal(found_in.by_ballot, expected_in.by_ballot)


def test_voters_of_the_pilot_alone_are_not_counted_in_the_dataset(store, project_id):
    batch = batch_of_pilot(store, project_id)
    accept_upload(store, project_id, answer_batch(batch, voters=("P1", "P2")), "p.csv")
    close_ballot(store, project_id)
    assert read_project_dataset(store, project_id).empty
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id)), "1.csv")
    close_ballot(store, project_id)
    assert read_project_dataset(store, project_id).attrs["voters"] == {"people": 6, "simulated": 0}


def test_simulated_pilots_leave_the_votes_of_ballot_1_as_they_were(store):
    plain, piloted = (make_project(store, kind="trial") for _ in range(2))
    draw_pilot(store, piloted, 20)
    assert simulate_votes(store, piloted) == 20
    close_ballot(store, piloted)
    outcomes = []
    for project_id in (plain, piloted):
        draw_next_ballot(store, project_id)
        simulate_votes(store, project_id)
        with store.read() as conn:
            votes = ballot_votes(conn, open_ballot_of(conn, project_id).id)
        outcomes.append(np.column_stack([votes.first, votes.second, votes.outcome]))
    np.testing.assert_array_equal(*outcomes)


def test_the_voting_page_goes_on_after_a_ballot_by_itself_and_not_after_a_pilot(store):
    project_id = make_project(store, kind="trial")
    for draw in (draw_pilot, draw_next_ballot):
        draw(store, project_id)
        open_voting(store, project_id, VotingSettings(task_size=3, adaptive=True))
        simulate_votes(store, project_id)
        done = do_housekeeping(store, set())
        assert bool(done) == (draw is draw_next_ballot)
        if not done:
            assert found(store, project_id).is_open
            close_ballot(store, project_id)
    assert [ballot.state for ballot in read_ballots(store, project_id)] == ["closed", "open"]


# Areas with rankings of their own


def test_each_ranking_has_a_pilot_of_its_own(store, project_id):
    set_ranking(store, project_id, "area")
    animals, tools = (ranking.area_id for ranking in read_rankings(store, project_id))
    save_plan(store, project_id, replace(PLAN, n_ballots=2), area_ids=(animals, tools))
    assert draw_pilot(store, project_id, 20, area_id=tools) == 15  # 6 items, each against each
    assert found(store, project_id, animals) is None
    assert draw_waiting(store, project_id) == 1
    assert [len(read_ballots(store, project_id, area)) for area in (animals, tools)] == [1, 0]
    shown = read_comparisons(store, project_id, 0, tools)
    assert set(shown["area_left"]) == {"Tools"}
    assert log_table(read_log(store, project_id))["what"].iloc[1] == "Drew the pilot of Tools"
    standing = overview.load_standings(store, project_id)[1]
    assert (standing.said, standing.waits_for_draw, standing.fixed_by) == ("pilot open, 0% voted", False, "the pilot")


# Out and in


def test_a_pilot_comes_out_and_in_bit_for_bit(store, project_id):
    batch = batch_of_pilot(store, project_id)
    gone = accept_upload(store, project_id, answer_batch(batch, voters=("W9",), tag="G"), "gone.csv")
    withdraw_upload(store, project_id, gone.upload_id)
    accept_upload(store, project_id, answer_batch(batch), "kept.csv")
    data = export_project(store, project_id)
    copy = import_project(store, data)
    again = export_project(store, copy)
    before, after = without_ids(data), without_ids(again)
    before["project"][0]["name"] = "Test (2)"
    assert after == before
    assert found(store, copy).code == found(store, project_id).code
    for uploaded in (project_id, copy):
        close_ballot(store, uploaded)
    told, copied = (plan.load(store, one) for one in (project_id, copy))
    assert (told.figures.seconds_mean, told.figures.ties) == (copied.figures.seconds_mean, copied.figures.ties)
    drawn = [draw_batch(store, one) for one in (project_id, copy)]
    assert len(drawn[0]) == len(drawn[1])
    assert found(store, copy_without_ballots(store, project_id, "Bare")) is None


def test_a_round_of_comparisons_is_refused(store, project_id):
    draw_pilot(store, project_id)
    members = members_of(export_project(store, project_id))
    forged = members["tables/ballot.csv"].replace(b",pilot,comparison,0,b0-", b",round,comparison,1,b0-", 1)
    assert forged != members["tables/ballot.csv"]
    refused(store, signed(members | {"tables/ballot.csv": forged}), "round 1 asks 'comparison'")


# What it tells


def test_the_log_speaks_of_the_pilot(store, project_id):
    draw_pilot(store, project_id)
    discard_ballot(store, project_id)
    batch = batch_of_pilot(store, project_id)
    gone = accept_upload(store, project_id, answer_batch(batch), "r.csv")
    withdraw_upload(store, project_id, gone.upload_id)
    accept_upload(store, project_id, answer_batch(batch), "r.csv")
    close_ballot(store, project_id)
    reopen_ballot(store, project_id)
    assert list(log_table(read_log(store, project_id))["what"])[::-1][3:] == [
        "Drew the pilot",
        "Discarded the draw of the pilot",
        "Drew the pilot",
        "Accepted votes for the pilot from r.csv",
        "Withdrew r.csv from the pilot",
        "Accepted votes for the pilot from r.csv",
        "Closed the pilot",
        "Reopened the pilot",
    ]


def voted(store, project_id, seconds, choices):
    """A table of votes on the open pilot: voters A to E in turn, with these seconds and choices in turn."""
    rows = list(
        csv.DictReader(io.StringIO(write_comparisons(read_comparisons(store, project_id, 0)).decode("utf-8-sig")))
    )
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["comparison_id", "voter", "choice", "seconds"])
    for n, row in enumerate(rows):
        writer.writerow(
            [row["comparison_id"], "ABCDE"[n // 3 % 5], choices[n % len(choices)], seconds[n % len(seconds)]]
        )
    accept_upload(store, project_id, out.getvalue().encode(), "votes.csv")


def test_figures_with_their_counts(store, project_id):
    draw_pilot(store, project_id, 20)
    voted(store, project_id, ("4", "6", "", "11"), ("left", "right", "tie", "unknown", "left"))
    assert plan.load(store, project_id).figures is None  # not before it is closed
    close_ballot(store, project_id)
    seen = plan.load(store, project_id)
    figures = seen.figures
    assert (figures.n_answers, figures.n_votes, figures.n_voters, figures.n_timed) == (20, 16, 5, 15)
    assert (figures.ties.count, figures.ties.total) == (4, 16)
    assert (figures.unknown.count, figures.unknown.total) == (4, 20)
    assert figures.seconds_mean.estimate == pytest.approx(7.0)
    assert (figures.seconds_median.estimate, seen.seconds) == (6.0, 7.0)
    assert figures.seconds_mean.lower < 7.0 < figures.seconds_mean.upper
    assert "5 answers came without a time." in seen.remarks
    with store.read() as conn:
        answers = pilot_answers(conn, found(store, project_id).id)
        assert progress_of(conn, found(store, project_id).id).votes == 16
    assert answers["outcome"].isna().sum() == 4


def test_unknown_tokens_by_hand():
    pairs = [("A", "cat", "dog"), ("A", "cat", "cow"), ("A", "dog", "cow"), ("B", "emu", "cat")]
    items = pd.DataFrame(pairs, columns=["area", "token_a", "token_b"])
    answers = pd.DataFrame({"first": [0, 1, 0], "second": [1, 2, 3], "outcome": [np.nan, 1.0, np.nan]})
    told = plan.unknown_tokens(answers, items)
    # A cat that stands twice in the first comparison counts once; that of B is another token.
    assert list(told[["area", "token", "answers", "unknown"]].itertuples(index=False, name=None)) == [
        ("B", "cat", 1, 1),
        ("B", "emu", 1, 1),
        ("A", "cat", 3, 2),
        ("A", "dog", 3, 2),
        ("A", "cow", 2, 1),
    ]
    assert told["share"].tolist() == pytest.approx([1, 1, 2 / 3, 2 / 3, 1 / 2])
    assert plan.unknown_tokens(answers.assign(outcome=1.0), items).empty


def test_views_work_on_the_open_pilot_as_on_a_ballot(store, project_id):
    draw_pilot(store, project_id, 20)
    view = collect_page.load(store, project_id)
    assert (view.open_stage.number, view.open_stage.title) == (0, "Pilot: 20 comparisons of 20 items")
    assert (view.next_number, view.workload, len(view.stages)) == (None, None, 3)
    assert view.headline == "**The pilot is open: 0 of 20 comparisons have a vote.**"
    assert view.warnings == ("20 of 20 comparisons have no vote.",)
    assert overview.load(store, project_id).headline == "The pilot is open: 0 of 20 comparisons have a vote."
    accept_upload(store, project_id, answer_batch(write_batch(read_comparisons(store, project_id, 0))), "r.csv")
    close_ballot(store, project_id)
    view = collect_page.load(store, project_id)
    assert (view.open_stage, view.next_number, view.pilot.state) == (None, 1, "closed")
    assert overview.load(store, project_id).next_label == "Draw ballot 1"


# The fit


@pytest.fixture
def many_items(store):
    """A trial project of 45 items with a closed, simulated pilot of 60 comparisons."""
    project_id = make_project(store, kind="trial", plan=None)
    change_area(store, project_id, AREAS[0], tuple(f"animal{n}" for n in range(9)))
    save_plan(store, project_id, replace(PLAN, appearances=10, n_ballots=2))
    draw_pilot(store, project_id, 200)
    simulate_votes(store, project_id)
    close_ballot(store, project_id)
    return project_id


@pytest.mark.release
def test_a_pilot_is_fitted_by_ranks_once_there_are_scores(store, many_items):
    n = found(store, many_items).n_comparisons
    assert votes_to_fit(store, many_items) == {"pilot": n, "votes": 0}
    early = fit_stored(store, many_items, None, "exponential", "pilot")
    assert early.fit is None
    assert "no ballot is closed" in early.reason
    draw_next_ballot(store, many_items)
    simulate_votes(store, many_items)
    assert fit_stored(store, many_items, None, "exponential", "votes").fit is None
    close_ballot(store, many_items)
    for which in ("pilot", "votes"):
        stored = fit_stored(store, many_items, None, "exponential", which)
        assert stored.simulated
        assert stored.fit.panel(50).n_voters == 50
        assert "exponential" in stored.fit.basis
        assert stored.fit.n_votes + stored.fit.ties.count == votes_to_fit(store, many_items)[which]
        again = fit_stored(store, many_items, None, "exponential", which)
        assert again.fit.nonconformity == stored.fit.nonconformity


def test_a_fit_by_cosines_is_fit_panel_on_the_same_votes(store, many_items, monkeypatch):
    cosines = np.linspace(0.05, 0.95, len(read_items(store, many_items)))
    monkeypatch.setattr("core.store.scores.forecasts.cosines_of", lambda *args: cosines)
    stored = fit_stored(store, many_items, None, "some embedding", "pilot")
    with store.read() as conn:
        votes = ballot_votes(conn, found(store, many_items).id)
    by_hand = fit_panel(
        (votes.first, votes.second, votes.outcome, votes.voter),
        similarity=cosines,
        rng=np.random.default_rng([11, 1, 6]),
    )
    assert stored.fit.nonconformity == by_hand.nonconformity
    assert stored.fit.oversight == by_hand.oversight


def test_an_embedding_that_is_gone_is_told(store, many_items):
    with pytest.raises(StoreError, match="hasn't that embedding"):
        fit_stored(store, many_items, None, "gone", "pilot")
