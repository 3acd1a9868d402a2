"""Checks in ballots from the draw to the figures: in files, on the voting page, never in scores."""

from __future__ import annotations

import contextlib
import csv
import io
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from campaigns import BOTH_PROTOCOLS, PLAN, answer_batch, draw_batch, longer_pair, make_project
from checks_by_voter import checks_by_voter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_voting import STEPS, Voter, check_tallies, never_wait_for_the_disk, take_steps

from core.ballots.audit import CutAudit
from core.ballots.checks import CheckSettings, GoldComparison
from core.errors import InputError, PlanError, StoreError
from core.platforms.plain import comparison_ids, write_offline
from core.protocols import collectable
from core.questions.comparison_page import write_batch
from core.questions.voting_settings import VotingSettings
from core.store import open_store
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots, read_comparisons, unanswered
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.ballots.simulated import simulate_votes
from core.store.engine import _open
from core.store.projects.archive import duplicate_project
from core.store.projects.plans import proposed_plan, read_plan, save_plan
from core.store.scores.next_ballot_value import read_audit
from core.store.scores.project_dataset import read_project_dataset
from core.store.tokens.areas import read_items
from core.store.votes.checks import (
    add_gold,
    check_answers,
    check_progress,
    gold_of,
    propose_gold,
    remove_gold,
    typed_gold,
)
from core.store.votes.intake import accept_upload, preview_upload
from core.store.votes.tallies import ballot_votes, progress_of, write_tallies
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.store.voting.owner_commands import open_voting
from core.trust import agreement as agreement_module
from core.views.collect import tasks
from core.views.scores import trust as view_of_checks
from core.views.scores.trust import load as load_trust

GOLD = GoldComparison(("cat", "dog"), ("saw", "007"))
CHECKS = CheckSettings(overlap=0.2, gold=1, repeats=1, gold_pairs=(GOLD,), audit_items=3, audit_votes=4)
WITH = replace(PLAN, appearances=8, task_size=7, checks=CHECKS)


def questions(store, ballot_id):
    """Question ids by kind of check."""
    with store.read() as conn:
        c = t.check_question.c
        query = sa.select(c.question_id, c.kind, c.of_id, c.inclusion).join(
            t.question, t.question.c.id == c.question_id
        )
        return pd.DataFrame(
            conn.execute(query.where(t.question.c.ballot_id == ballot_id)).all(),
            columns=["question_id", "kind", "of_id", "inclusion"],
        )


def hold(store, project_id, *, choose=longer_pair):
    """Draw, answer and close a ballot; the ballot."""
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id), choose=choose), "r.csv")
    close_ballot(store, project_id)
    return read_ballots(store, project_id)[-1]


@pytest.mark.parametrize("protocol", BOTH_PROTOCOLS)
def test_checks_change_no_comparison_and_no_score(store, protocol):
    """The same votes on the same comparisons, with checks and without: the same scores, progress and N_comp."""
    projects = [make_project(store, plan=replace(WITH, protocol=protocol, checks=c)) for c in (CHECKS, None)]
    for project_id in projects:
        with store.write() as conn:  # the ballots' seeds follow from the project's
            conn.execute(sa.update(t.project).where(t.project.c.id == project_id).values(seed=5))
    for number in range(1, 4):
        drawn, answers = [], []
        for project_id in projects:
            draw_next_ballot(store, project_id)
            frame = read_comparisons(store, project_id, number)
            drawn.append(frame)
            answers.append(answer_batch(write_batch(frame)))
        ballots = [read_ballots(store, project_id)[-1] for project_id in projects]
        checks = questions(store, ballots[0].id)
        assert len(checks)
        assert questions(store, ballots[1].id).empty
        main = drawn[0][~drawn[0]["question_id"].isin(checks["question_id"])]
        shown = ["first", "second", "flipped", "left_a", "left_b", "right_a", "right_b"]
        pd.testing.assert_frame_equal(main[shown].reset_index(drop=True), drawn[1][shown])
        task = [pd.factorize(frame["task_id"])[0].tolist() for frame in (main, drawn[1])]
        assert task[0] == task[1]
        for project_id, file in zip(projects, answers, strict=True):
            accept_upload(store, project_id, file, "r.csv")
        with store.read() as conn:
            held = [ballot_votes(conn, ballot.id) for ballot in ballots]
            done = [progress_of(conn, ballot.id) for ballot in ballots]
        np.testing.assert_array_equal(held[0].outcome, held[1].outcome)
        assert replace(done[0], seconds=None) == replace(done[1], seconds=None)
        assert ballots[0].n_comparisons == ballots[1].n_comparisons
        for project_id in projects:
            close_ballot(store, project_id)
    scores = [read_project_dataset(store, project_id) for project_id in projects]
    columns = ["token_a", "token_b", "score", "rank", "lower", "upper", "votes"]
    pd.testing.assert_frame_equal(scores[0][columns], scores[1][columns])


def test_a_batch_carries_checks_as_ordinary_comparisons(store):
    project_id = make_project(store, plan=WITH)
    batch = draw_batch(store, project_id)
    ballot = read_ballots(store, project_id)[-1]
    frame = read_comparisons(store, project_id, 1)
    header = next(csv.reader(io.StringIO(batch.decode())))
    assert not [name for name in header if "check" in name or "gold" in name]
    kinds = questions(store, ballot.id)["kind"].value_counts().to_dict()
    assert kinds == {"overlap": 34, "repeat": 12, "gold": 1}
    pages = tasks.load(store, ballot, WITH, "relatedness")
    assert pages.widest == frame["n"].max() > WITH.task_size
    assert f"${{left_a_{pages.widest}}}" in pages.page()
    with store.read() as conn:
        assert check_progress(conn, ballot.id).values.tolist() == [
            ["gold", 12, 0], ["repeat", 12, 0], ["overlap", 34, 0],
        ]  # fmt: skip
    # The offline page holds them too, as an ordinary comparison each.
    (page,) = write_offline(frame, name="b", notion="relatedness", ties_allowed=True).values()
    assert all(id_.encode() in page for id_ in comparison_ids(frame))


def test_imports_know_checks_by_ids_and_by_texts(store):
    project_id = make_project(store, plan=WITH)
    batch = draw_batch(store, project_id)
    ballot = read_ballots(store, project_id)[-1]
    n = len(read_comparisons(store, project_id, 1))
    result = answer_batch(batch)
    found = preview_upload(store, project_id, result, "r.csv")
    # Gold is one comparison in several tasks: a voter's second answer to it is a repeat.
    assert found.counts == {"new": ballot.n_comparisons, "check": n - 6 - ballot.n_comparisons, "repeat": 6}
    rows = list(csv.reader(io.StringIO(result.decode())))
    at = rows[0].index("Input.task_id")
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([row[:at] + row[at + 1 :] for row in rows])
    by_text = preview_upload(store, project_id, out.getvalue().encode(), "r.csv")
    same = found.preview.rows["question_id"] == by_text.preview.rows["question_id"]
    assert by_text.counts.get("unreadable", 0) == 0
    assert same.all()
    accept_upload(store, project_id, result, "r.csv")
    assert unanswered(store, project_id, 1) == []
    with store.read() as conn:
        table = check_progress(conn, ballot.id)
    assert (table["checks"] == table["answers"]).all()


def test_a_top_up_holds_no_check(store):
    project_id = make_project(store, plan=WITH)
    batch = draw_batch(store, project_id)
    ballot = read_ballots(store, project_id)[-1]
    checks = set(questions(store, ballot.id)["question_id"])
    assert not checks & set(unanswered(store, project_id, 1))
    accept_upload(store, project_id, answer_batch(batch, voters=("W1",)), "r.csv")
    upload = read_uploads(store, project_id)[0]
    withdraw_upload(store, project_id, upload.id)
    with store.read() as conn:
        assert check_progress(conn, ballot.id)["answers"].sum() == 0
        assert checks_by_voter(conn, [ballot.id]).empty
    assert len(unanswered(store, project_id, 1)) == ballot.n_comparisons


def test_how_each_voter_answered_is_counted_by_hand(store):
    """Counted from the file itself: W1 always takes the left, W2 the right, the others the longer pair."""
    project_id = make_project(store, plan=WITH)
    batch = draw_batch(store, project_id)
    ballot = read_ballots(store, project_id)[-1]
    frame = read_comparisons(store, project_id, 1)
    voters = ("W1", "W2", "W3", "W4", "W5")
    task_voter = dict(zip(frame["task_id"].unique(), [voters[i % 5] for i in range(12)], strict=True))
    files = [
        answer_batch(batch, voters=voters, choose=choose, tag="A")
        for choose in (lambda shown: "left", lambda shown: "right", longer_pair)
    ]
    lines = [list(csv.reader(io.StringIO(file.decode()))) for file in files]
    mixed = [lines[0][0]] + [
        lines[{"W1": 0, "W2": 1}.get(voters[i % 5], 2)][i + 1] for i in range(12)
    ]  # fmt: skip
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(mixed)
    accept_upload(store, project_id, out.getvalue().encode(), "r.csv")
    kinds = questions(store, ballot.id).set_index("question_id")
    told: dict[str, Counter] = {voter: Counter() for voter in voters}
    answers: dict[int, dict[str, str]] = {}
    rows = frame.assign(check=frame["question_id"].isin(kinds.index)).sort_values("check", kind="stable")
    for row in rows.to_dict("records"):
        voter = task_voter[row["task_id"]]
        cells = {name: row[name] for name in ("left_a", "left_b", "right_a", "right_b")}
        choice = {"W1": "left", "W2": "right"}.get(voter) or longer_pair(cells)
        answer = "tie" if choice == "tie" else "first" if (choice == "left") != row["flipped"] else "second"
        kind = kinds["kind"].get(row["question_id"], "main")
        if kind == "gold":
            told[voter]["gold_n"] += 1
            told[voter]["gold_right"] += answer == "first"
            continue
        of = row["question_id"] if kind == "main" else int(kinds["of_id"][row["question_id"]])
        given = answers.setdefault(of, {})
        if voter in given:
            told[voter]["repeats_n"] += 1
            told[voter]["repeats_same"] += given[voter] == answer
        else:
            given[voter] = answer
    for given in answers.values():
        for voter, answer in given.items():
            told[voter]["overlap_n"] += len(given) - 1
            told[voter]["overlap_agreeing"] += sum(other == answer for other in given.values()) - 1
    with store.read() as conn:
        found = checks_by_voter(conn, [ballot.id]).set_index("voter")
    for voter in voters:
        for column in found.columns.drop("voter_id"):
            assert found.loc[voter, column] == told[voter][column], (voter, column)
    assert found.loc["W1", "repeats_same"] < found.loc["W1", "repeats_n"]  # sides are exchanged
    assert found.loc["W3", "repeats_same"] == found.loc["W3", "repeats_n"] > 0
    view = view_of_checks.load_checks(store, project_id)
    assert (view.gold.count, view.gold.total) == (found["gold_right"].sum(), found["gold_n"].sum())
    assert (view.repeats.count, view.repeats.total) == (found["repeats_same"].sum(), found["repeats_n"].sum())
    assert view.overlap.total == found["overlap_n"].sum() / 2
    assert view.overlap.lower < view.overlap.estimate < view.overlap.upper
    assert view.agreement.n_units == sum(len(given) > 1 for given in answers.values())


def test_raw_agreement_in_blocks_is_the_same(monkeypatch):
    unit, answer = np.repeat(np.arange(60), 3), np.random.default_rng(3).integers(0, 3, 180)
    whole = agreement_module.raw_agreement(unit, answer)
    monkeypatch.setattr(agreement_module, "CELLS", 500)
    assert agreement_module.raw_agreement(unit, answer) == whole


def test_raw_agreement():
    found = agreement_module.raw_agreement([1, 1, 1, 2, 2, 3], [1, 1, 0, 1, 1, 0])
    assert (found.count, found.total) == (2, 4)
    assert agreement_module.raw_agreement([1, 2], [1, 1]).estimate is None
    alike = agreement_module.raw_agreement([1, 1, 2, 2], [1, 1, 0, 0])
    assert (alike.estimate, alike.lower) == (1.0, None)
    rng = np.random.default_rng(2)
    many = agreement_module.raw_agreement(np.repeat(np.arange(400), 2), rng.integers(0, 2, 800))
    assert many.lower < 0.5 < many.upper
    assert many.upper - many.lower == pytest.approx(2 * 1.645 * np.sqrt(0.25 / 400), rel=0.15)


@pytest.mark.parametrize("protocol", BOTH_PROTOCOLS)
def test_cut_items_come_back_and_the_loss_is_told(store, protocol):
    project_id = make_project(store, plan=replace(WITH, protocol=protocol))
    first = hold(store, project_id)
    assert "cut_audit" not in read_project_dataset(store, project_id).attrs
    with store.read() as conn:
        assert read_audit(conn, first.id) == "no item that was cut came back as a check"
    second = hold(store, project_id)
    audits = questions(store, second.id).query("kind == 'audit'")
    assert len(audits) == 12
    assert ((audits["inclusion"] > 0) & (audits["inclusion"] <= 1)).all()
    with store.read() as conn:
        options = dict(
            conn.execute(
                sa.select(t.question_option.c.question_id, t.question_option.c.item_id).where(
                    t.question_option.c.question_id.in_(audits["question_id"].tolist()),
                    t.question_option.c.position == 0,
                )
            ).all()
        )
        kept = set(
            conn.execute(sa.select(t.ballot_item.c.item_id).where(t.ballot_item.c.ballot_id == second.id)).scalars()
        )
        found = read_audit(conn, second.id)
        detail = conn.execute(sa.select(t.log.c.detail).where(t.log.c.action == "close ballot")).scalars().all()[-1]
    assert len(set(options.values())) == 3
    assert not set(options.values()) & kept
    assert isinstance(found, CutAudit)
    assert (found.n_cut, found.n_audited, found.n_votes) == (10, 3, 12)
    assert found.lower <= round(found.lost) <= found.upper
    assert detail["cut audit"] == found.stored() == read_project_dataset(store, project_id).attrs["cut_audit"]
    (line,) = [line for line in load_trust(store, project_id).lines if line.name == "The cut"]
    assert "by an audit" in line.reason
    assert "3 items of 10 cut came back" in line.reason
    assert f"{found.modelled:.2f}" in line.reason
    hold(store, project_id)
    with store.read() as conn:
        assert read_audit(conn, read_ballots(store, project_id)[-1].id).n_votes > 12


def test_gold_of_later_ballots_comes_from_clear_differences_only(store):
    plan = replace(WITH, appearances=14, checks=CheckSettings(overlap=0, gold=1, audit_items=0))
    project_id = make_project(store, plan=plan)
    first = hold(store, project_id)
    assert questions(store, first.id).empty  # nothing is known before
    draw_next_ballot(store, project_id)
    second = read_ballots(store, project_id)[-1]
    with store.read() as conn:
        gold = gold_of(conn, second.id)
        detail = conn.execute(sa.select(t.log.c.detail).where(t.log.c.action == "draw ballot")).scalars().all()[-1]
    if not gold:
        assert detail["no gold"] == "no difference is clear beyond doubt"
    rank = read_project_dataset(store, project_id)
    frame = read_comparisons(store, project_id, 1)
    words = {
        row["first"]: (row["right_a"], row["right_b"]) if row["flipped"] else (row["left_a"], row["left_b"])
        for row in frame.to_dict("records")
    }
    score = {frozenset((a, b)): s for a, b, s in rank[["token_a", "token_b", "score"]].itertuples(index=False)}
    for check in gold:
        assert score[frozenset(words[check.more])] > score[frozenset(words[check.less])] + 0.3


def earlier_pair(shown):
    """A voter who finds the pair that comes earlier in the alphabet more related, whatever its order."""
    left, right = sorted([shown["left_a"], shown["left_b"]]), sorted([shown["right_a"], shown["right_b"]])
    return "left" if left < right else "right"


# To close by `runoff` takes seconds; proposals ask no protocol.
COLLECTABLE = [name if name == "paper" else pytest.param(name, marks=pytest.mark.release) for name in collectable()]


@pytest.mark.parametrize("protocol", COLLECTABLE)
def test_proposed_gold_is_right_under_every_protocol_and_none_is_proposed_by_chance(store, protocol):
    project_id = make_project(store, plan=replace(PLAN, appearances=40, task_size=10, checks=None, protocol=protocol))
    batch = draw_batch(store, project_id)
    assert propose_gold(store, project_id) == []  # no vote says anything yet
    accept_upload(store, project_id, answer_batch(batch, choose=earlier_pair), "results.csv")
    assert propose_gold(store, project_id) == []  # those of an open ballot may still change
    close_ballot(store, project_id)
    draw_next_ballot(store, project_id)
    items = read_items(store, project_id).set_index("item")
    words = {item: sorted(pair) for item, *pair in items[["token_a", "token_b"]].itertuples(name=None)}
    pairs = propose_gold(store, project_id, seed=3)
    assert len(pairs) >= 4
    assert all(words[more] < words[less] for more, less in pairs)
    assert propose_gold(store, project_id, n=2, seed=3) == pairs[:2]
    assert add_gold(store, project_id, pairs) == len(pairs)


def test_typed_gold_is_read_as_in_the_plan_and_strange_pairs_are_named(store):
    project_id = make_project(store)
    items = read_items(store, project_id).set_index("item")
    ((more, less),) = typed_gold(store, project_id, "dog, cat > 007, saw\n\n")
    assert {*items.loc[more, ["token_a", "token_b"]]} == {"cat", "dog"}
    assert {*items.loc[less, ["token_a", "token_b"]]} == {"saw", "007"}
    with pytest.raises(PlanError, match="Line 2"):
        typed_gold(store, project_id, "dog, cat > 007, saw\ncat")
    with pytest.raises(InputError, match="cat – saw") as caught:
        typed_gold(store, project_id, "dog, cat > cat, saw")
    assert len(caught.value.issues) == 1


def test_gold_that_stands_in_tasks_stays(store):
    project_id = make_project(store, plan=WITH)
    draw_next_ballot(store, project_id)
    with store.read() as conn:
        (check,) = gold_of(conn, read_ballots(store, project_id)[-1].id)
    with pytest.raises(StoreError, match="stands in the ballot's tasks"):
        remove_gold(store, project_id, check.question_id)


def test_the_plan_keeps_its_checks_and_a_new_one_has_some(store):
    project_id = make_project(store, plan=WITH)
    assert read_plan(store, project_id) == WITH
    save_plan(store, project_id, replace(WITH, checks=None))
    assert read_plan(store, project_id).checks is None
    with store.read() as conn:
        kept = conn.execute(sa.text("SELECT checks FROM plan ORDER BY id")).scalars().all()
    assert kept[-1] is None  # NULL, as in plans from before there were checks
    assert proposed_plan(990, 1).checks == CheckSettings()
    with pytest.raises(PlanError, match="share of comparisons"):
        save_plan(store, project_id, replace(WITH, checks=CheckSettings(overlap=2)))


def test_simulated_voters_answer_checks_too(store):
    project_id = make_project(store, kind="trial", plan=replace(WITH, n_voters=12))
    draw_next_ballot(store, project_id)
    simulate_votes(store, project_id, share=0.5)
    simulate_votes(store, project_id)
    ballot = read_ballots(store, project_id)[-1]
    with store.read() as conn:
        table = check_progress(conn, ballot.id)
        assert progress_of(conn, ballot.id).votes == ballot.n_comparisons
    assert (table["checks"] == table["answers"]).all()


def test_a_copy_of_the_project_keeps_its_checks(store):
    project_id = make_project(store, plan=WITH)
    hold(store, project_id)
    second = hold(store, project_id)
    copy = duplicate_project(store, project_id, "Copy")
    ballots = [read_ballots(store, id_) for id_ in (project_id, copy)]
    with store.read() as conn:
        both = [checks_by_voter(conn, [b.id for b in held]).drop(columns="voter_id") for held in ballots]
        audits = [read_audit(conn, held[-1].id) for held in ballots]
    pd.testing.assert_frame_equal(*both)
    assert audits[0] == audits[1]
    mine, theirs = questions(store, second.id), questions(store, ballots[1][-1].id)
    assert mine["inclusion"].dropna().tolist() == theirs["inclusion"].dropna().tolist()
    assert mine["kind"].tolist() == theirs["kind"].tolist()


@pytest.mark.release
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(1, 11), max_size=4), seed=st.integers(0, 1000))
def test_any_split_and_order_of_files_gives_the_same_figures(tmp_path_factory, cuts, seed):
    """Twelve tasks answered, the file cut anywhere, its parts shuffled, one of them sent twice."""
    store = open_store(tmp_path_factory.mktemp("split") / "workspace")
    never_wait_for_the_disk(store)
    found = []
    for parts_of in (lambda rows: [rows], lambda rows: split(rows, cuts, seed)):
        project_id = make_project(store, plan=WITH)
        with store.write() as conn:
            conn.execute(sa.update(t.project).where(t.project.c.id == project_id).values(seed=5))
        result = answer_batch(draw_batch(store, project_id), voters=("W1", "W2", "W3"))
        header, *rows = list(csv.reader(io.StringIO(result.decode())))
        for part in parts_of(rows):
            out = io.StringIO()
            csv.writer(out, quoting=csv.QUOTE_ALL).writerows([header, *part])
            with contextlib.suppress(StoreError):  # a part that comes again holds nothing new
                accept_upload(store, project_id, out.getvalue().encode(), "part.csv")
        ballot = read_ballots(store, project_id)[-1]
        with store.read() as conn:
            found.append((checks_by_voter(conn, [ballot.id]), check_progress(conn, ballot.id)))
    voters = [table.drop(columns="voter_id").sort_values("voter", ignore_index=True) for table, _ in found]
    pd.testing.assert_frame_equal(*voters)
    pd.testing.assert_frame_equal(found[0][1], found[1][1])
    store.engine.dispose()
    _open.cache_clear()


def split(rows, cuts, seed):
    bounds = [0, *sorted(set(cuts)), len(rows)]
    parts = [rows[one:two] for one, two in pairwise(bounds)]
    parts.append(parts[0])
    return [parts[at] for at in np.random.default_rng(seed).permutation(len(parts))]


# The voting page

PAGE = VotingSettings(task_size=6, tasks_per_voter=6, examples=False)


def deals(store):
    with store.read() as conn:
        d, c = t.deal.c, t.check_question.c
        query = sa.select(d.sitting_id, d.kind, d.question_id, c.of_id, d.state, d.task, d.n).outerjoin(
            t.check_question, c.question_id == d.question_id
        )
        return pd.DataFrame(
            conn.execute(query.order_by(d.id)).all(),
            columns=["sitting", "kind", "question", "of", "state", "task", "n"],
        )


def vote_all(store, code, names, choose=longer_pair):
    """Voters take a task each in turn until nobody gets one."""
    voters = [Voter(store, code, name) for name in names]
    going = list(voters)
    while going:
        for voter in list(going):
            voter.task(choose)
            if voter.view.kind == "between" and voter.view.may_more:
                voter.do("more")
            else:
                going.remove(voter)
    return voters


def test_the_page_deals_overlaps_and_audits_to_others(store):
    project_id = make_project(store, plan=replace(WITH, checks=replace(CHECKS, gold=0, repeats=0, gold_pairs=())))
    hold(store, project_id)
    draw_next_ballot(store, project_id)
    code = open_voting(store, project_id, PAGE)
    vote_all(store, code, [f"V{n}" for n in range(8)])
    ballot = read_ballots(store, project_id)[-1]
    table = deals(store)
    assert set(table["kind"]) == {"main", "overlap", "audit"}
    # Nobody is asked the same comparison twice, be it as the vote that counts or as a check.
    same = table.assign(of=table["of"].fillna(table["question"]))
    assert not same.duplicated(["sitting", "of"]).any()
    assert not table.duplicated(["question"]).any()  # each wants one answer
    assert not table.duplicated(["sitting", "task", "n"]).any()
    with store.read() as conn:
        done = progress_of(conn, ballot.id)
        checks = check_progress(conn, ballot.id).set_index("kind")
        answers = check_answers(conn, [ballot.id])
        q = t.question.c
        tallies = conn.execute(sa.select(q.n_votes, q.n_dealt).where(q.ballot_id == ballot.id)).all()
    assert done.is_complete
    assert done.votes == ballot.n_comparisons
    assert checks.loc["overlap", "answers"] >= 0.7 * checks.loc["overlap", "checks"]
    assert checks.loc["audit", "answers"] >= 0.7 * checks.loc["audit", "checks"]
    assert answers.repeats.empty
    assert answers.overlap.groupby("question_id")["voter_id"].nunique().min() > 1
    with store.write() as conn:
        write_tallies(conn, ballot.id)
    with store.read() as conn:
        assert tallies == conn.execute(sa.select(q.n_votes, q.n_dealt).where(q.ballot_id == ballot.id)).all()
    close_ballot(store, project_id)
    with store.read() as conn:
        assert read_audit(conn, ballot.id).n_votes == checks.loc["audit", "answers"]


def test_two_voters_alone_still_answer_everything(store):
    """An overlap waits for the vote that counts, so it never takes the last voter away from a comparison."""
    project_id = make_project(store, plan=WITH)
    draw_next_ballot(store, project_id)
    code = open_voting(store, project_id, replace(PAGE, tasks_per_voter=100))
    vote_all(store, code, ["A", "B"])
    with store.read() as conn:
        assert progress_of(conn, read_ballots(store, project_id)[-1].id).is_complete


def test_an_overlap_taken_back_and_let_go_comes_again(store):
    project_id = make_project(store, plan=replace(WITH, checks=replace(CHECKS, overlap=0.5, gold=0, repeats=0)))
    draw_next_ballot(store, project_id)
    code = open_voting(store, project_id, PAGE)
    Voter(store, code, "A").task()
    voter = Voter(store, code, "B")
    table = deals(store)
    number = {(row.task, row.n): row for row in table[table["sitting"] == table["sitting"].max()].itertuples()}
    place = voter.view.place
    while number[(place.task, place.n)].kind != "overlap":
        voter.vote()
        place = voter.view.place
    question = number[(place.task, place.n)].question

    def tally():
        with store.read() as conn:
            q = t.question.c
            return tuple(conn.execute(sa.select(q.n_votes, q.n_dealt).where(q.id == question)).one())

    assert tally() == (0, 1)
    voter.vote("left")
    assert tally() == (1, 1)
    voter.undo()
    assert tally() == (0, 1)
    with store.write() as conn:
        conn.execute(sa.update(t.deal).where(t.deal.c.state == "open").values(expires_at="2000"))
    Voter(store, code, "C")  # whoever deals next takes it back; C may get it
    held = deals(store).query(f"question == {question}")
    assert tally() == (0, int((held["state"] == "open").sum()))


def test_where_comparisons_have_several_votes_there_is_no_overlap(store):
    project_id = make_project(store, plan=WITH)
    draw_next_ballot(store, project_id)
    code = open_voting(store, project_id, replace(PAGE, votes_per_comparison=2))
    vote_all(store, code, ["A", "B", "C"])
    assert "overlap" not in set(deals(store)["kind"])


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_whatever_voters_do_the_rules_of_checks_hold(tmp_path_factory, steps):
    """No check is answered too often, none by a voter who had the comparison, and a recount finds the same tallies."""
    store = open_store(tmp_path_factory.mktemp("deal") / "workspace")
    never_wait_for_the_disk(store)
    project_id = make_project(store, plan=replace(WITH, appearances=2, checks=replace(CHECKS, overlap=0.5)))
    draw_next_ballot(store, project_id)
    code = open_voting(store, project_id, replace(PAGE, n_gold=1, n_repeats=1, tasks_per_voter=4))
    take_steps(store, code, steps)
    check_tallies(store, project_id)
    table = deals(store).query("kind in ('main', 'overlap')")
    same = table.assign(of=table["of"].fillna(table["question"]))
    assert not same.duplicated(["sitting", "of"]).any()
    ballot = read_ballots(store, project_id)[-1]
    q = t.question.c
    of_checks = sa.select(q.id, q.n_votes, q.n_dealt).where(q.ballot_id == ballot.id, q.role == "check", q.n_wanted > 0)
    with store.read() as conn:
        before = conn.execute(of_checks.order_by(q.id)).all()
    assert max(row.n_dealt for row in before) <= 1
    with store.write() as conn:
        write_tallies(conn, ballot.id)
    with store.read() as conn:
        assert conn.execute(of_checks.order_by(q.id)).all() == before
    store.engine.dispose()
    _open.cache_clear()


def test_nobody_gets_two_further_votes_on_one_comparison(store):
    """Two voters, of whom one has given all the votes that count: the other gets each comparison once, not twice."""
    checks = CheckSettings(overlap=0.5, overlap_voters=4, audit_items=0)
    project_id = make_project(store, plan=replace(WITH, appearances=2, checks=checks))
    draw_next_ballot(store, project_id)
    code = open_voting(store, project_id, replace(PAGE, task_size=5, tasks_per_voter=100))
    vote_all(store, code, ["A"])
    vote_all(store, code, ["B"])
    table = deals(store).query("kind == 'overlap'")
    assert len(table) == table["of"].nunique() == 10
    assert table["sitting"].nunique() == 1
