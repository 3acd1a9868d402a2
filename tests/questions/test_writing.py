"""Smaller texts wanted at a rating: tasks drawn, files written and read, pairs made by lot."""

from __future__ import annotations

import csv
import html
import io
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.platforms.round_files import read_writing, write_text_pairs, write_writing
from core.questions.rating.scales import CLSS, STSS, RatingScale
from core.questions.task_page import columns_of
from core.questions.writing import (
    SmallerText,
    Text,
    TextPair,
    WrittenText,
    draw_writing,
    page_settings,
    pair_by_lot,
    pairs_to_rate,
    read_written,
    wanted_ratings,
)

NASTY = ['"Quoted", <b>${larger_1}</b> & more', "a\nline\r\nand another", "שלום לכולם", "fire 🔥", "=1+1"]


def texts(n: int, n_genres: int = 2) -> list[Text]:
    return [Text(f"t{at}", f"larger text {at}", f"genre {at % n_genres}", "p2s") for at in range(n)]


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def wrote(task, text=None) -> TextPair:
    larger = task.larger
    smaller = SmallerText(text or f"smaller of {larger.text_id}", larger.kind, larger.text_id, "W1")
    return TextPair(larger, smaller, task.wanted)


def smaller_of(written) -> list[SmallerText]:
    return [pair.smaller for pair in written]


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.integers(1, 4), st.integers(0, 5))
def test_wanted_ratings_come_equally_often(n, n_genres, seed):
    tasks, aside = draw_writing(texts(n, n_genres), rng=rng(seed))
    assert sorted([task.larger.text_id for task in tasks] + [text.text_id for text in aside]) == sorted(
        f"t{at}" for at in range(n)
    )
    for genre in (None, *(f"genre {at}" for at in range(n_genres))):
        counts = Counter(task.wanted for task in tasks if genre in (None, task.larger.genre))
        counts[0.0] = sum(genre in (None, text.genre) for text in aside)
        every = [counts[value] for value in (0.0, 1.0, 2.0, 3.0, 4.0)]
        assert max(every) - min(every) <= 1


def test_same_seed_same_tasks_and_another_seed_others():
    assert draw_writing(texts(30), rng=rng(4)) == draw_writing(texts(30), rng=rng(4))
    assert draw_writing(texts(30), rng=rng(4)) != draw_writing(texts(30), rng=rng(5))


def test_the_lowest_is_never_written_for():
    assert wanted_ratings(STSS) == [1.0, 2.0, 3.0, 4.0]
    assert wanted_ratings(RatingScale("1 to 3", 1, 3, 1)) == [2, 3]


@pytest.mark.parametrize(
    ("given_texts", "what"),
    [
        ([], "no larger text"),
        ([Text("a", " ")], "no text or no id"),
        ([Text("", "x")], "no text or no id"),
        ([Text("a", "x"), Text("a", "y")], "comes twice"),
    ],
)
def test_texts_that_cant_be_drawn_from(given_texts, what):
    with pytest.raises(InputError, match=what):
        draw_writing(given_texts, rng=rng())


def test_what_came_back():
    tasks, _ = draw_writing(texts(5, 1), rng=rng())
    one, other = (task.larger.text_id for task in tasks[:2])
    answers = [
        WrittenText(one, "  a  shorter\ntext ", "W1", 2),
        WrittenText(one, "a shorter text", "W2", 3),
        WrittenText(one, "once more", "W1", 4),
        WrittenText(other, f"LARGER  text {other[1:]}", "W1", 5),
        WrittenText(other, " ", "W2", 6),
        WrittenText("t99", "for nothing", "W1", 7),
        WrittenText(one, "by hand", row=8),
        WrittenText(one, "by somebody else's hand", row=9),
    ]
    found, issues = read_written(tasks, answers)
    assert [(pair.smaller.text, pair.smaller.writer) for pair in found] == [
        ("a shorter text", "W1"), ("a shorter text", "W2"), ("by hand", ""), ("by somebody else's hand", ""),
    ]  # fmt: skip
    assert (found[0].larger, found[0].wanted) == (tasks[0].larger, tasks[0].wanted)
    assert [issue.row for issue in issues] == [4, 5, 7]


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 30), st.integers(1, 3), st.integers(0, 5))
def test_zeros_come_from_the_genre_and_are_never_the_true_pair(n, n_genres, seed):
    tasks, aside = draw_writing(texts(n, n_genres), rng=rng(seed))
    written = [wrote(task) for task in tasks]
    # Texts that have a smaller one of their own are paired with another one too.
    everything = aside + [task.larger for task in tasks]
    pairs, without = pair_by_lot(everything, smaller_of(written), rng=rng(seed))
    assert len(pairs) + len(without) == len(everything)
    genre_of = {text.text_id: text.genre for text in everything}
    for pair in pairs:
        assert pair.smaller.source_id != pair.larger.text_id
        assert genre_of[pair.smaller.source_id] == pair.larger.genre
        assert pair.wanted == 0
    for text in without:
        assert {one.larger.text_id for one in written if one.larger.genre == text.genre} <= {text.text_id}
    times = Counter(pair.smaller.source_id for pair in pairs if pair.larger in aside)
    for genre in {text.genre for text in aside}:
        of_genre = [times[one.larger.text_id] for one in written if one.larger.genre == genre]
        assert max(of_genre, default=0) - min(of_genre, default=0) <= 1


def test_the_same_words_written_for_two_texts_are_no_zero():
    first, second = draw_writing(texts(8, 1), rng=rng())[0][:2]
    written = [wrote(first, "The same"), wrote(second, "the  SAME")]
    pairs, without = pair_by_lot([first.larger], smaller_of(written), rng=rng())
    assert pairs == []
    assert without == [first.larger]


def test_pairs_to_rate_say_nothing_by_their_order():
    tasks, aside = draw_writing(texts(50, 1), rng=rng())
    written = [wrote(task) for task in tasks]
    by_lot, _ = pair_by_lot(aside, smaller_of(written), rng=rng())
    pairs = pairs_to_rate([*written, *by_lot], rng=rng())
    assert Counter(pair.wanted for pair in pairs) == {0.0: 10, 1.0: 10, 2.0: 10, 3.0: 10, 4.0: 10}
    assert [pair.wanted == 0 for pair in pairs] == [pair.smaller.source_id != pair.larger.text_id for pair in pairs]
    assert [pair.wanted for pair in pairs] != sorted(pair.wanted for pair in pairs)
    assert pairs == pairs_to_rate([*written, *by_lot], rng=rng())


def rows_of(batch: bytes) -> list[dict[str, str]]:
    rows = csv.DictReader(io.StringIO(batch.decode("utf-8"), newline=""))
    return [{name: html.unescape(value) for name, value in row.items()} for row in rows]


def test_the_way_of_a_batch_and_back():
    larger = [Text(f"n{at}", text, "g") for at, text in enumerate(NASTY)]
    tasks = draw_writing([*larger, *texts(4, 1)], rng=rng())[0]
    batch = write_writing(tasks, task_size=3, ascii_only=True)
    assert batch.isascii()
    rows = rows_of(batch)
    shown = {name for name in rows[0] if not name.startswith(("task_id", "text_id"))}
    assert shown == set(columns_of(page_settings("writing", {}), 3))
    flat = [(row[f"text_id_{n}"], row[f"larger_{n}"]) for row in rows for n in (1, 2, 3) if row[f"text_id_{n}"]]
    assert flat == [(task.larger.text_id, task.larger.text) for task in tasks]
    assert rows[0]["anchor_1"] == CLSS.describe(tasks[0].wanted)
    found, issues = read_written(tasks, read_writing(results(batch), "results.csv"))
    assert issues == []
    skipped = tasks[1].larger.text_id
    assert [(pair.larger, pair.wanted, pair.smaller.text) for pair in found] == [
        (task.larger, task.wanted, f"Short &lt; <i>sweet</i> {task.larger.text_id}")
        for task in tasks
        if task.larger.text_id != skipped
    ]


def results(batch: bytes) -> bytes:
    """What Turkle would give back: the first row's second text couldn't be written for."""
    out = io.StringIO(newline="")
    raw = list(csv.DictReader(io.StringIO(batch.decode("utf-8"), newline="")))
    names = [
        *(f"Input.{name}" for name in raw[0]),
        *(f"Answer.{f}_{n}" for f in ("text", "unknown") for n in (1, 2, 3)),
    ]
    writer = csv.DictWriter(out, ["AssignmentId", "WorkerId", "Turkle.Username", *names])
    writer.writeheader()
    for at, row in enumerate(raw):
        line = {"AssignmentId": at, "WorkerId": 7, "Turkle.Username": "ann"} | {f"Input.{k}": v for k, v in row.items()}
        for n in (1, 2, 3):
            if row[f"text_id_{n}"]:
                line[f"Answer.text_{n}"] = f"Short &lt; <i>sweet</i> {row[f'text_id_{n}']}"
        if at == 0:
            line |= {"Answer.text_2": "", "Answer.unknown_2": "1"}
        writer.writerow(line)
    return out.getvalue().encode()


def test_pairs_of_texts_for_the_rating_page():
    tasks, _ = draw_writing(texts(10, 1), rng=rng())
    written = [wrote(task, NASTY[at % 4]) for at, task in enumerate(tasks)]
    pairs = pairs_to_rate(written, rng=rng())
    rows = rows_of(write_text_pairs(pairs, task_size=4))
    assert set(rows[0]) - {"task_id"} == {
        f"{name}_{n}" for name in ("item_id", "token_a", "token_b") for n in range(1, 5)
    }
    assert [row[f"token_b_{n}"] for row in rows for n in range(1, 5) if row[f"item_id_{n}"]] == [
        pair.smaller.text for pair in pairs
    ]
    assert "wanted" not in rows[0]


def test_digits_of_another_script_number_no_text():
    """“Input.text_id_1٣” isn't the id of text 13."""
    data = "WorkerId,Input.text_id_1٣,Input.text_id_2,Answer.text_1,Answer.text_2\nW1,8,9,no,yes\n".encode()
    assert [(answer.text_id, answer.text) for answer in read_writing(data, "odd.csv")] == [("9", "yes")]


def test_other_files_are_refused():
    with pytest.raises(InputError, match=r"lacks the column answer.text_1.*A result file of the writing page has"):
        read_writing(b"WorkerId,Input.left_a,Answer.choice\nW1,a,left\n", "votes.csv")
    for size in (0, 51):
        with pytest.raises(InputError, match="tasks of 1 to 50"):
            write_writing(draw_writing(texts(5), rng=rng())[0], task_size=size)
