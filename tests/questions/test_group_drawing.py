"""Target groups proposed by an embedding, texts as means of their words, and the views of groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from embedding_files import text, write

from core.embeddings import load
from core.errors import InputError
from core.evaluation.baselines import text_similarities
from core.questions.order.groups import TargetGroup, compared, draw_groups, undecided
from core.questions.order.kind import groups_of, read_groups, write_groups
from core.views.kinds import target_groups as view

ANGLES = {"ship": 0, "boat": 10, "canoe": 20, "barge": 35, "port": 5, "Ship": 1, "a,b": 2, "sail_cloth": 15, "tax": 90}
WORDS = [*ANGLES, "tree", "moss", "fern"]
MATRIX = np.array([[np.cos(np.radians(a)), np.sin(np.radians(a)), 0.0] for a in ANGLES.values()] + [[0, 0, 1.0]] * 3)


@pytest.fixture
def model(tmp_path):
    return load(write(tmp_path, text(WORDS, MATRIX.astype(np.float32)), "model.txt"))


def drawn(model, **options):
    return draw_groups(model, ["ship", "boat", "canoe", "barge", "yacht"], rng=np.random.default_rng(1), **options)


def test_near_in_the_area_near_outside_and_random(model):
    groups, without = drawn(model, targets=["ship", "yacht"], others=["tree", "moss", "unheard"], sizes=(2, 2, 2))
    (group,) = groups
    assert without == ["yacht"]
    assert group.positives == ("boat", "canoe")
    assert group.distractors == ("port", "sail_cloth")  # neither the target in capitals nor what no file can hold
    assert len(group.randoms) == 2
    assert set(group.randoms) <= {"tree", "moss", "unheard"}
    assert drawn(model, targets=["ship", "yacht"], others=["tree", "moss", "unheard"], sizes=(2, 2, 2))[0] == groups


def test_randoms_come_from_the_vocabulary_where_other_areas_have_too_few(model):
    (group, *_), _ = drawn(model, others=["tree"], sizes=(1, 0, 3))
    assert group.distractors == ()
    assert "tree" in group.randoms
    assert len(set(group.randoms)) == 3
    assert not set(group.randoms) & {"ship", "boat", "canoe", "barge", "Ship"}


def test_what_holds_by_definition_reads_back_as_the_same_groups(model):
    groups, _ = drawn(model, sizes=(3, 1, 1))
    read = read_groups(write_groups(undecided(groups)))
    assert [(g.target, set(g.words)) for g in groups_of(read.comparisons)] == [(g.target, set(g.words)) for g in groups]
    assert len(read.comparisons) == sum(len(group.positives) * 2 for group in groups)


def test_what_cannot_be_drawn(model):
    with pytest.raises(InputError, match="at least one positive"):
        drawn(model, sizes=(0, 1, 1))
    with pytest.raises(InputError, match="tax"):
        drawn(model, targets=["tax"])


def test_an_edited_table_becomes_groups_and_faults_are_named_by_row():
    group = TargetGroup("שיר", ("זמר", "לחן"), (), ("תפוח",))
    table = view.table([group])
    assert view.from_table(table) == [group]
    edited = pd.concat([table, pd.DataFrame([{"target": None}, {"target": "x"}, {"target": "שיר", "positives": "a"}])])
    with pytest.raises(InputError, match="no positive") as told:
        view.from_table(edited)
    assert [issue.row for issue in told.value.issues] == [3, 4]


def test_worst_comparisons_are_those_that_cost_most():
    rows = [compared("t", "a", "b", 1.0), compared("t", "a", "c", 0.6), compared("t", "c", "b", 0.9)]
    rows.append(compared("t", "b", "d", 0.5))  # nothing to lose
    sims = {"a": 0.1, "b": 0.5, "c": 0.4, "d": 0.9, "e": np.nan}
    found = view.worst(rows, lambda _, words: np.array([sims[word] for word in words]))
    assert found[["preferred", "other"]].to_numpy().tolist() == [["a", "b"], ["c", "b"], ["a", "c"]]
    assert found["cos, other"].tolist() == [0.5, 0.5, 0.4]


def test_words_are_escaped_and_isolated():
    shown = view.group_html(TargetGroup("<b>", ("זמר",)))
    assert '<bdi dir="auto">&lt;b&gt;</bdi>' in shown
    assert '<bdi dir="auto">זמר</bdi>' in shown
    assert view.isolated("זמר") == "\u2068זמר\u2069"


def test_texts_are_means_of_their_known_words(model):
    found = text_similarities(
        model, ["Boat, tree!", "ship", "unheard", "sail_cloth"], ["ship", "Canoe", "ship", "boat"]
    )
    vector = dict(zip(WORDS, MATRIX, strict=True))
    mean = (vector["boat"] + vector["tree"]) / 2
    assert found[0] == pytest.approx(mean @ vector["ship"] / np.linalg.norm(mean))
    assert found[1] == pytest.approx(np.cos(np.radians(20)))
    assert np.isnan(found[2])
    assert found[3] == pytest.approx(np.cos(np.radians(5)))
