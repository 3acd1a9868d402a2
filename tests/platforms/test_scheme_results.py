"""Answers to rounds as files hold them: every way a platform writes a field, and every text that is no answer."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, PlanError
from core.platforms.answer_files import read_round_results
from core.platforms.round_files import write_questions, write_round
from core.questions import RoundSettings, check_round, default_settings, round_kind
from core.questions.best_worst.kind import extremes
from core.questions.order.groups import TargetGroup
from core.questions.order.kind import ordered
from core.questions.rating.scales import CLSS, STSS, Anchor, RatingScale
from tests.rounds_of_people import BEST_WORST, ORDER, RATING, SCHEMES, read_answer

HEAD = "AssignmentId,WorkerId,Input.task_id"


def choices(text: str, scheme: str) -> list[tuple[int, str]]:
    found = read_round_results(text.encode(), "results.csv", round_kind(scheme)).answers
    return list(zip(found["n"].tolist(), found["choice"].tolist(), strict=True))


@pytest.mark.parametrize(
    ("scheme", "fields", "cells", "expected"),
    [
        (RATING, "Answer.rating_1,Answer.rating_2", "3.25,0", [(1, "3.25"), (2, "0")]),
        (RATING, "Answer.rating_1,Answer.unknown_1", ",1", [(1, "unknown")]),
        (RATING, "Answer.rating_1,Answer.unknown_1", "2,0", [(1, "2")]),
        (RATING, "Answer.rating_1.2.5.on,Answer.rating_1.3.on", "true,false", [(1, "2.5")]),
        (RATING, "Answer.rating_1.label", "1.75", [(1, "1.75")]),
        (BEST_WORST, "Answer.best_1,Answer.worst_1", "3,1", [(1, "best=3;worst=1")]),
        (BEST_WORST, "Answer.best_1,Answer.worst_1", "3,", [(1, "best=3;worst=")]),
        (BEST_WORST, "Answer.best_1,Answer.worst_1", "3.0,1.0", [(1, "best=3;worst=1")]),
        (BEST_WORST, "Answer.best_1.3,Answer.best_1.2,Answer.worst_1.1", "1.0,0.0,1.0", [(1, "best=3;worst=1")]),
        (RATING, "Answer.rating_1,Answer.unknown_1", "2,0.0", [(1, "2")]),
        (RATING, "Answer.rating_1,Answer.unknown_1", ",1.0", [(1, "unknown")]),
        (BEST_WORST, "Answer.best_1.3,Answer.best_1.2,Answer.worst_1.1", "true,false,true", [(1, "best=3;worst=1")]),
        (ORDER, "Answer.order_1", "3 1 2", [(1, "3 1 2")]),
        (ORDER, "ANSWER.Order_2", "2 1", [(2, "2 1")]),
    ],
)
def test_fields_of_platforms(scheme, fields, cells, expected):
    assert choices(f"{HEAD},{fields}\nA1,W1,r1-00000000-00001,{cells}\n", scheme) == expected


@pytest.mark.parametrize(
    ("packed", "scheme", "expected"),
    [
        ([{"rating_1": 3.5, "rating_2": "1"}], RATING, [(1, "3.5"), (2, "1")]),
        ([{"best_1": {"2": False, "4": True}, "worst_1": {"1": True}}], BEST_WORST, [(1, "best=4;worst=1")]),
        ([{"order_1": "2 1 3", "unknown_2": {"on": True}}], ORDER, [(1, "2 1 3"), (2, "unknown")]),
        ([], RATING, []),
    ],
)
def test_a_crowd_form_as_json(packed, scheme, expected):
    text = json.dumps(packed).replace('"', '""')
    assert choices(f'{HEAD},Answer.taskAnswers\nA1,W1,r1-00000000-00001,"{text}"\n', scheme) == expected


def test_what_platforms_say_beside_the_answers():
    text = (
        f"{HEAD},AssignmentStatus,SubmitTime,WorkTimeInSeconds,Approve,Reject,Input.item_id_1,Input.token_a_1,"
        "Input.token_b_1,Answer.rating_1,Answer.rating_2\n"
        "A1,W1,r1-00000000-00001,Submitted,2026-10-01T10:00:00Z,60,,too fast,7,R&amp;D,caf&#233;,1,2\n"
        "A2,,r1-00000000-00001,Approved,,60,,,7,R&amp;D,caf&#233;,1,2\n"
    )
    found = read_round_results(text.encode(), "results.csv", round_kind(RATING))
    first = found.answers.iloc[0]
    assert (first["status"], first["note"], first["seconds"]) == ("rejected", "too fast", 30.0)
    assert (first["left_a"], first["left_b"], first["right_a"]) == ("R&D", "café", "7")
    assert first["submitted_at"].startswith("2026-10-01T10:00:00")
    assert [issue.row for issue in found.unread] == [3]
    assert found.platform == "mturk"


def test_numbers_of_items_that_became_decimals_are_as_shown():
    items = ",".join(f"Input.tuple_1_item_id_{place}" for place in (1, 2, 3, 4))
    head = f"{HEAD},{items},Answer.best_1,Answer.worst_1\nA1,W1,r1-00000000-00001,"
    found = read_round_results(f"{head}3.0,12.0,0.0,7,1,2\n".encode(), "results.csv", round_kind(BEST_WORST)).answers
    assert found["right_a"].tolist() == ["3 12 0 7"]


def test_a_file_without_what_it_needs_is_told():
    for text, said in (
        ("AssignmentId,WorkerId,Answer.rating_1\nA,W,1\n", "lacks the column Input.task_id"),
        (f"{HEAD},Answer.choice_1\nA,W,r1-1,left\n", "It holds no ratings"),
        ("question_id,answer\nr1-1-1,2\n", "lacks the column voter"),
        ("word,score\na,1\n", "isn't a result file of ratings"),
    ):
        with pytest.raises(InputError, match=said):
            read_round_results(text.encode(), "results.csv", round_kind(RATING))


# Texts of answers


@given(st.text(max_size=30), st.sampled_from(SCHEMES), st.integers(1, 5))
def test_any_text_is_an_answer_that_reads_back_or_is_refused(text, scheme, n_shown):
    settings = RoundSettings(scheme)
    try:
        answer = read_answer(settings, text, n_shown)
    except InputError:
        return
    assert read_answer(settings, answer, n_shown) == answer
    if answer == "unknown":
        return
    if scheme == RATING:
        assert settings.scale.allows(round_kind(scheme).value(answer))
    elif scheme == BEST_WORST:
        best, worst = extremes(answer)
        assert best != worst
        assert {best, worst} <= set(range(n_shown))
    else:
        assert sorted(ordered(answer)) == list(range(n_shown))


@pytest.mark.parametrize(
    ("scheme", "given", "n", "said"),
    [
        (RATING, "4.1", 1, "a rating is 0 to 4 in steps of 0.25"),
        (RATING, "nan", 1, "a rating is"),
        (BEST_WORST, "best=5;worst=1", 4, "the places 1 to 4"),
        (BEST_WORST, "best=2;worst=2", 4, "the same item"),
        (BEST_WORST, "best=2;worst=", 4, "names no best and worst"),
        (ORDER, "1 2 2", 3, "isn't an order of the places 1 to 3"),
        (ORDER, "1 2", 3, "isn't an order"),
        (ORDER, "", 3, "isn't an order"),
    ],
)
def test_what_is_no_answer_is_told(scheme, given, n, said):
    with pytest.raises(InputError, match=said):
        read_answer(RoundSettings(scheme), given, n)


def test_settings_read_back_as_they_were_stored():
    own = RatingScale("own", 1, 7, 1, (Anchor(1, "nothing"), Anchor(7, "all")), sorts_first=True)
    groups = (TargetGroup("cat", ("dog", "mouse"), ("lion",), ("saw",)), TargetGroup("saw", ("axe", "file")))
    for settings in (
        RoundSettings(RATING, scale=own, question="How?", fee=0.5),
        RoundSettings(RATING, scale=STSS),
        RoundSettings(BEST_WORST, size=5, keep=0.25),
        RoundSettings(ORDER, groups=groups),
    ):
        assert RoundSettings.of(json.loads(json.dumps(settings.stored()))) == settings


def test_settings_without_sense_are_refused():
    for change, said in (
        ({"raters": 0}, "People per question"),
        ({"size": 2}, "Items per tuple"),
        ({"keep": 0}, "goes on"),
        ({"scale": RatingScale("fine", 0, 1, 0.0001)}, "more than 1,001 values"),
    ):
        with pytest.raises(PlanError, match=said):
            check_round(RoundSettings(BEST_WORST, **change))
    single = (TargetGroup("cat", ("dog",)),)
    with pytest.raises(PlanError, match="fewer than two positives"):
        check_round(RoundSettings(ORDER, groups=single))


# Draws


@given(st.integers(4, 40), st.integers(1, 7), st.integers(1, 5), st.integers(0, 99))
def test_a_draw_is_balanced_and_follows_from_its_seed(n_items, task_size, appearances, seed):
    items = np.arange(n_items) * 3
    frame = pd.DataFrame({"item": items})
    for scheme in (RATING, BEST_WORST):
        settings = RoundSettings(scheme, task_size=task_size, appearances=appearances)
        one, other = (round_kind(scheme).questions(frame, settings, np.random.default_rng(seed)) for _ in range(2))
        assert one.options == other.options
        assert (one.task == other.task).all()
        times = np.unique(np.concatenate(one.options), return_counts=True)
        assert times[0].tolist() == items.tolist()
        assert np.ptp(times[1]) <= 1
        assert all(len(set(shown)) == len(shown) for shown in one.options)
        sizes = np.bincount(one.task)
        assert sizes.max() <= task_size
        assert np.ptp(sizes) <= 1
        for task in range(len(sizes)):
            assert sorted(one.place[one.task == task]) == list(range(sizes[task]))
        assert one.swapped.sum() == (len(items) // 2 if scheme == RATING else 0)


def test_a_batch_and_a_table_hold_what_is_shown():
    shown = pd.DataFrame(
        {
            "question_id": [5, 5, 5, 6, 6],
            "task_id": ["r1-00000000-00001"] * 5,
            "n": [1, 1, 1, 2, 2],
            "place": [1, 2, 3, 1, 2],
            "item": [4, 0, 2, 7, 8],
            "token_a": ["=cat"] * 3 + ["saw"] * 2,
            "token_b": ["dog", "R&D", "café", "axe", "file"],
            "area": ["a"] * 5,
        }
    ).astype(dict.fromkeys(("task_id", "token_a", "token_b", "area"), "str"))
    header, row = write_round(shown, round_kind(ORDER), ascii_only=True).decode("ascii").splitlines()
    assert header == (
        "task_id,order_1_target,order_1_item_id_1,order_1_word_1,order_1_item_id_2,order_1_word_2,order_1_item_id_3,"
        "order_1_word_3,order_2_target,order_2_item_id_1,order_2_word_1,order_2_item_id_2,order_2_word_2,"
        "order_2_item_id_3,order_2_word_3"
    )
    assert row == "r1-00000000-00001,=cat,4,dog,0,R&amp;D,2,caf&#xE9;,saw,7,axe,8,file,,"
    assert (
        write_round(shown, round_kind(ORDER), only=[6], ascii_only=False)
        .decode()
        .splitlines()[1]
        .startswith("r1-00000000-00001,,,,,,,,saw,7")
    )
    with pytest.raises(InputError, match="no question to publish"):
        write_round(shown, round_kind(ORDER), only=[], ascii_only=False)
    table = write_questions(shown).decode("utf-8-sig").splitlines()
    assert table[1] == "r1-00000000-00001-1,,,,1: =cat – dog; 2: =cat – R&D; 3: =cat – café"


def test_defaults_make_sense():
    for scheme in (RATING, BEST_WORST):
        assert check_round(default_settings(scheme)).scale == CLSS
    with pytest.raises(PlanError, match="rating, best-worst, order"):
        default_settings("guess")
