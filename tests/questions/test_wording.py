"""Examples of the task page: what may stand there, how they are kept, and which would give an answer away."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest
from campaigns import PLAN, make_project
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PlanError
from core.questions.comparison_page import Example, Wording, check_examples, standard_examples
from core.store.projects.plans import check_settings, read_plan, save_plan
from core.views.plan import given_away

EXAMPLE = Example(("ship", "boat"), ("ship", "salt"), "left", "Why not?")


WORDS = st.text(min_size=1, max_size=8)
EXAMPLES = st.builds(
    Example, st.tuples(WORDS, WORDS), st.tuples(WORDS, WORDS), st.sampled_from(["left", "right", "tie"]), st.text()
)


@given(st.builds(Wording, st.text(), st.text(), st.lists(EXAMPLES, max_size=3).map(tuple)))
def test_a_wording_comes_back_from_json_as_it_was(wording):
    assert Wording.of(asdict(wording)) == wording


def test_a_wording_of_before_there_were_examples_has_none():
    assert Wording.of({"question": "Q?", "instructions": ""}) == Wording("Q?", "", ())


@pytest.mark.parametrize(
    "stored",
    [
        {"questions": "Q?"},
        {"examples": [{"left": ["a"], "right": ["b", "c"], "answer": "tie"}]},
        {"examples": [{"left": ["a", "b"]}]},
        {"examples": ["a"]},
    ],
)
def test_what_no_wording_is_made_of(stored):
    with pytest.raises((TypeError, KeyError, ValueError)):
        Wording.of(stored)


@pytest.mark.parametrize("notion", ["relatedness", "similarity"])
def test_the_standard_examples_are_fine_and_show_every_answer_that_may_be_given(notion):
    assert {example.answer for example in standard_examples(notion, ties_allowed=True)} == {"left", "right", "tie"}
    check_examples(standard_examples(notion, ties_allowed=True), ties_allowed=True)
    without = standard_examples(notion, ties_allowed=False)
    assert {example.answer for example in without} == {"left", "right"}
    check_examples(without, ties_allowed=False)


@pytest.mark.parametrize(
    ("examples", "ties_allowed", "what"),
    [
        ([EXAMPLE] * 4, True, "has 4 examples; 3 is the most"),
        ([EXAMPLE, replace(EXAMPLE, left=("ship", " "))], True, "Example 2 lacks a word"),
        ([replace(EXAMPLE, right=("x" * 101, "salt"))], True, "Example 1 is too long"),
        ([replace(EXAMPLE, why="x" * 301)], True, "Example 1 is too long"),
        ([replace(EXAMPLE, right=("boat", "ship"))], True, "the same pair on both sides"),
        ([replace(EXAMPLE, answer="tie")], False, "'tie', which voters can't give. It must be left or right"),
        ([replace(EXAMPLE, answer="up")], True, "It must be left, right or tie"),
    ],
)
def test_examples_that_voters_could_not_use_are_refused(examples, ties_allowed, what):
    wording = Wording(examples=tuple(examples))
    with pytest.raises(PlanError, match=what):
        check_settings(replace(PLAN, ties_allowed=ties_allowed, wording=wording))


def test_a_plan_keeps_its_examples(store):
    project = make_project(store, plan=None)
    wording = Wording("Q?", "Text.", (EXAMPLE, *standard_examples("similarity", ties_allowed=True)[:1]))
    save_plan(store, project, replace(PLAN, wording=wording))
    assert read_plan(store, project).wording == wording


def test_examples_that_are_items_are_found_in_either_order(store):
    project = make_project(store)
    examples = (
        Example(("dog", "cat"), ("dog", "hammer"), "left"),  # an item turned round; tokens of two areas
        Example(("horse", "mouse"), ("cat", "dog"), "right"),  # an item; the first again
        Example(("ship", "boat"), ("ship", "salt"), "left"),
    )
    assert given_away(store, project, examples) == [("dog", "cat"), ("horse", "mouse"), ("cat", "dog")]
    assert given_away(store, project, ()) == []
