"""Corrected spellings after ballot 1, files that show the old one, and copies in which everything can be changed."""

from __future__ import annotations

import csv
import io

import pytest
import sqlalchemy as sa
from campaigns import AREAS, answer_batch, draw_batch, longer_pair, make_project

from core.errors import InputError
from core.platforms import read_results
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.dialects import check_keys
from core.store.projects.archive import copy_without_ballots, export_project, import_project
from core.store.projects.plans import read_plan
from core.store.projects.project_commands import get_project, read_log
from core.store.scores.project_dataset import read_ballot_scores
from core.store.tokens.areas import (
    ItemRules,
    add_areas,
    change_area,
    correct_spelling,
    former_spellings_of,
    read_areas,
    read_items,
    set_item_rules,
)
from core.store.tokens.frequencies import RareTerms, source_of, use_list
from core.store.votes.intake import accept_upload, preview_upload
from core.tokens.files import AreaTokens
from core.views import tokens
from core.votes.classify import as_spelled_now

COLUMNS = ["wins", "ties", "losses", "x"]


def test_a_correction_changes_the_text_and_nothing_else(store):
    project_id = make_project(store)
    draw_batch(store, project_id)
    before = read_items(store, project_id)
    done = correct_spelling(store, project_id, "Animals", "mouse", " cafe\u0301 au lait")
    assert done.changes == (("Animals", "mouse", "café au lait"),)
    assert done.notes  # another text altogether
    assert read_areas(store, project_id)[0].tokens == ("cat", "dog", "horse", "café au lait", "café", "=cow")
    after = read_items(store, project_id)
    assert after.replace("café au lait", "mouse").equals(before)
    entry = read_log(store, project_id, 1)[0]
    assert (entry["action"], entry["detail"]) == (
        "correct spelling",
        {"area": "Animals", "old": "mouse", "new": "café au lait"},
    )
    with store.read() as conn:
        assert former_spellings_of(conn, project_id) == {("Animals", "café au lait"): ("mouse",)}


@pytest.mark.parametrize(
    ("area", "old", "new", "said"),
    [
        ("Animals", "mouse", "cat", "spelling already"),
        ("Animals", "mouse", "  ", "empty"),
        ("Animals", "mouse", "a\tb", "control character"),
        ("Animals", "mouse", "mouse ", "spelled so already"),
        ("Animals", "hammer", "hammers", "no such token"),
        ("Nothing", "mouse", "mice", "no area"),
    ],
)
def test_what_is_no_correction_is_refused(store, area, old, new, said):
    project_id = make_project(store)
    draw_batch(store, project_id)
    revision = get_project(store, project_id).revision
    with pytest.raises(InputError, match=said):
        correct_spelling(store, project_id, area, old, new)
    assert get_project(store, project_id).revision == revision
    assert read_areas(store, project_id) == list(AREAS)


def test_a_name_of_another_area_is_fine_and_only_the_area_changes(store):
    project_id = make_project(store)
    add_areas(store, project_id, [AreaTokens("Pets", ("cat", "mouse"))])
    correct_spelling(store, project_id, "Pets", "cat", "hammer")
    assert [area.tokens[0] for area in read_areas(store, project_id)] == ["cat", "hammer", "hammer"]


def test_pairs_left_out_stay_left_out_under_the_new_spelling(store):
    project_id = make_project(store, plan=None)
    set_item_rules(store, project_id, ItemRules(excluded=(("Animals", "dog", "cat"), ("", "cat", "horse"))))
    n_items = len(read_items(store, project_id))
    correct_spelling(store, project_id, "Animals", "cat", "kitten")
    rules = tokens.load(store, project_id).rules
    assert set(rules.excluded) == {
        ("Animals", "dog", "kitten"),
        ("", "cat", "horse"),
        ("Animals", "kitten", "horse"),
    }
    set_item_rules(store, project_id, rules)
    assert len(read_items(store, project_id)) == n_items


def test_votes_on_tasks_published_before_the_correction_count_as_if_there_was_none(store):
    one, two = make_project(store, seed=3), make_project(store, seed=3)
    for project_id in (one, two):
        batch = draw_batch(store, project_id)
        if project_id == two:
            correct_spelling(store, two, "Animals", "mouse", "mice")
            correct_spelling(store, two, "Animals", "mice", "rodent")  # twice, and another token into the free spelling
            correct_spelling(store, two, "Animals", "horse", "mouse")
        counts = accept_upload(store, project_id, answer_batch(batch), "r.csv").counts
        assert counts == {"new": 42}
    assert read_ballot_scores(store, one)[COLUMNS].equals(read_ballot_scores(store, two)[COLUMNS])
    assert preview_upload(store, two, answer_batch(batch), "again.csv").counts == {"known": 42}


def test_a_batch_downloaded_after_the_correction_is_taken_too(store):
    project_id = make_project(store)
    draw_batch(store, project_id)
    correct_spelling(store, project_id, "Animals", "mouse", "mice")
    from core.questions.comparison_page import write_batch

    batch = write_batch(read_comparisons(store, project_id, 1))
    assert b"mice" in batch
    assert b"mouse" not in batch
    assert preview_upload(store, project_id, answer_batch(batch), "r.csv").counts == {"new": 42}


def without_task_ids(results: bytes) -> bytes:
    """A result file whose batch had no column task_id."""
    rows = list(csv.reader(io.StringIO(results.decode("utf-8"))))
    at = rows[0].index("Input.task_id")
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([row[:at] + row[at + 1 :] for row in rows])
    return out.getvalue().encode("utf-8")


def test_without_task_ids_the_old_texts_count_where_they_fit_one_comparison_only(store):
    project_id = make_project(store)
    results = without_task_ids(answer_batch(draw_batch(store, project_id)))
    counts = preview_upload(store, project_id, results, "r.csv").counts
    correct_spelling(store, project_id, "Animals", "mouse", "mice")
    assert preview_upload(store, project_id, results, "r.csv").counts == counts
    # Now “mouse” is what another token is spelled: texts alone can't say which was meant, so they mean what they say.
    correct_spelling(store, project_id, "Animals", "horse", "mouse")
    answers = read_results(results, "r.csv").answers
    comparisons = read_comparisons(store, project_id, 1)
    with store.read() as conn:
        now = as_spelled_now(answers, comparisons, former_spellings_of(conn, project_id))
    shown = {tuple(row) for row in comparisons[["left_a", "left_b", "right_a", "right_b"]].to_numpy().tolist()}
    for before, after in zip(
        answers[["left_a", "left_b", "right_a", "right_b"]].to_numpy().tolist(),
        now[["left_a", "left_b", "right_a", "right_b"]].to_numpy().tolist(),
        strict=True,
    ):
        assert before == after or (tuple(before) not in shown and tuple(after) in shown)


def test_other_words_in_a_task_are_still_of_another_ballot(store):
    project_id = make_project(store)
    results = answer_batch(draw_batch(store, project_id))
    correct_spelling(store, project_id, "Animals", "mouse", "mice")
    strange = results.replace(b"hammer", b"mouse")  # a former spelling, in a place where it never was
    counts = preview_upload(store, project_id, strange, "r.csv").counts
    assert counts["other_ballot"] > 0
    assert sum(counts.values()) == 42


def test_former_spellings_travel_with_the_project(store):
    project_id = make_project(store)
    results = answer_batch(draw_batch(store, project_id))
    correct_spelling(store, project_id, "Animals", "mouse", "mice")
    copy = import_project(store, export_project(store, project_id))
    assert accept_upload(store, copy, results, "r.csv").counts == {"new": 42}


def test_a_copy_without_ballots_has_all_that_was_chosen_and_no_vote(store):
    project_id = make_project(store, kind="trial")
    rules = ItemRules(excluded=(("Animals", "dog", "cat"),), merge_shared=True)
    set_item_rules(store, project_id, rules)
    use_list(store, project_id, b"word,count\ncat,5\ndog,1\n", "counts.csv", RareTerms(0.2, lower=True))
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id), choose=longer_pair), "r.csv")
    close_ballot(store, project_id)
    copy = copy_without_ballots(store, project_id, "Again")
    assert (get_project(store, copy).name, get_project(store, copy).kind) == ("Again", "trial")
    assert read_ballots(store, copy) == []
    assert read_areas(store, copy) == list(AREAS)
    assert read_plan(store, copy) == read_plan(store, project_id)
    same = ["item", "area", "token_a", "token_b"]
    assert read_items(store, copy)[same].to_numpy().tolist() == read_items(store, project_id)[same].to_numpy().tolist()
    view = tokens.load(store, copy)
    assert (view.locked, view.rules) == (False, rules)
    with store.read() as conn:
        assert source_of(conn, copy) == source_of(conn, project_id)
        assert check_keys(conn) == 0
        assert conn.execute(sa.select(t.voter.c.id).where(t.voter.c.project_id == copy)).all() == []
    (entry,) = read_log(store, copy)
    assert (entry["action"], entry["detail"]["from"]) == ("copy without ballots", project_id)
    change_area(store, copy, AREAS[0], ("cat", "dog", "owl"))
    assert draw_next_ballot(store, copy) == 1
    assert len(read_ballots(store, project_id)) == 1
