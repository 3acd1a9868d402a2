"""The voter model against its equation, its distributions and its edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.errors import InputError
from core.voters import model as module
from core.voters.model import Panel, Voters, answer, decide, draw_panel, exponential, opinions, power_law


def panel_of(*nonconformity, oversight=0.0):
    return Voters(np.array(nonconformity, dtype=float), np.full(len(nonconformity), oversight))


def test_panel_is_drawn_from_its_ranges():
    drawn = draw_panel(Panel(n_voters=4000), np.random.default_rng(1))
    assert len(drawn) == 4000
    for values, low, high in ((drawn.nonconformity, 0.02, 0.2), (drawn.oversight, 0.005, 0.05)):
        assert low <= values.min() < low + (high - low) / 100
        assert high >= values.max() > high - (high - low) / 100
        assert values.mean() == pytest.approx((low + high) / 2, abs=5 * (high - low) / math.sqrt(12 * 4000))


def test_panel_of_figure_2_has_fixed_levels():
    drawn = draw_panel(Panel(50, (0.1, 0.1), (0.01, 0.01)), np.random.default_rng(1))
    assert set(drawn.nonconformity) == {0.1}
    assert set(drawn.oversight) == {0.01}


def test_opinions_follow_the_equation():
    z = np.array([-1.0, -0.9, -0.2, 0.0, 0.4, 0.99, 1.0])
    voters = panel_of(0.05, 0.2, 3.0)
    for v in range(3):
        eta = np.random.default_rng((7, v)).standard_normal(len(z))
        expected = [
            max(-1.0, min(1.0, zi + voters.nonconformity[v] * (1 - zi**2) * e)) for zi, e in zip(z, eta, strict=True)
        ]
        np.testing.assert_allclose(opinions(z, voters, seed=7, notion="similarity")[v], expected, rtol=1e-14)
        np.testing.assert_allclose(opinions(z, voters, seed=7)[v], np.abs(expected), rtol=1e-14)


def test_nobody_differs_about_synonyms_and_antonyms():
    held = opinions([1.0, -1.0], panel_of(0.2, 0.2), seed=1, notion="similarity")
    assert held.tolist() == [[1, -1], [1, -1]]


def test_noise_is_normal_and_independent_between_voters_and_items():
    held = opinions(np.zeros(400), panel_of(*[0.1] * 200), seed=3, notion="similarity") / 0.1
    assert held.mean() == pytest.approx(0, abs=5 / math.sqrt(80_000))
    assert held.std() == pytest.approx(1, abs=0.015)
    assert np.abs(np.corrcoef(held[:20]) - np.eye(20)).max() < 0.3
    assert (np.abs(held) < 1.96).mean() == pytest.approx(0.95, abs=0.005)


def test_any_voters_can_be_computed_again_on_their_own():
    z, voters = exponential(30), panel_of(*np.linspace(0.02, 0.2, 10))
    whole = opinions(z, voters, seed=5)
    assert (opinions(z, voters, seed=5, which=[7, 2]) == whole[[7, 2]]).all()
    assert (opinions(z, voters, seed=5) == whole).all()
    assert (opinions(z, voters, seed=6) != whole).any()
    # A larger panel with the same beginning doesn't change its first voters.
    more = Voters(np.append(voters.nonconformity, 0.1), np.append(voters.oversight, 0.1))
    assert (opinions(z, more, seed=5)[:10] == whole).all()


def test_decisions_without_oversight():
    outcome = decide([0.9, 0.1, 0.5, 1.0], [0.2, 0.4, 0.5, 1.0], 0.0, np.random.default_rng(1))
    assert outcome.tolist() == [1.0, 0.0, 0.5, 0.5]


def test_oversight_names_the_other_item_and_leaves_ties():
    assert decide([0.9, 0.1, 0.5], [0.2, 0.4, 0.5], 1.0, np.random.default_rng(1)).tolist() == [0.0, 1.0, 0.5]
    levels = np.repeat([0.05, 0.3], 20_000)
    outcome = decide(np.ones(40_000), np.zeros(40_000), levels, np.random.default_rng(2))
    assert (outcome[:20_000] == 0).mean() == pytest.approx(0.05, abs=0.008)
    assert (outcome[20_000:] == 0).mean() == pytest.approx(0.3, abs=0.016)


def test_ties_don_t_shift_the_random_numbers_of_other_votes():
    one = decide([1, 0.5, 1], [0, 0.4, 0], 0.5, np.random.default_rng(4))
    other = decide([1, 0.5, 1], [0, 0.5, 0], 0.5, np.random.default_rng(4))
    assert (one[0], one[2]) == (other[0], other[2])


@pytest.mark.parametrize("cells", [1, 70, 10_000_000])
def test_answers_are_opinions_then_decisions(monkeypatch, cells):
    monkeypatch.setattr(module, "CELLS", cells)
    rng = np.random.default_rng(1)
    z, voters = power_law(30), draw_panel(Panel(20), rng)
    first, second, voter = rng.integers(30, size=300), rng.integers(30, size=300), rng.integers(20, size=300)
    held = opinions(z, voters, seed=9)
    expected = decide(held[voter, first], held[voter, second], voters.oversight[voter], np.random.default_rng(2))
    ours = answer(z, first, second, voter, voters, seed=9, rng=np.random.default_rng(2))
    assert (ours == expected).all()
    assert set(ours) <= {0.0, 0.5, 1.0}


def test_relatedness_sees_antonyms_and_similarity_doesn_t():
    calm = panel_of(0.0)
    z, pair = [-0.9, 0.5], ([0], [1], [0])
    assert answer(z, *pair, calm, seed=1, rng=np.random.default_rng(1)) == [1.0]
    assert answer(z, *pair, calm, seed=1, rng=np.random.default_rng(1), notion="similarity") == [0.0]


def test_no_answers():
    assert len(answer([0.1, 0.2], [], [], [], panel_of(0.1), seed=1, rng=np.random.default_rng(1))) == 0


def test_distributions():
    np.testing.assert_allclose(exponential(3), [2 * math.exp(-i / 3) - 1 for i in (1, 2, 3)], rtol=1e-15)
    np.testing.assert_allclose(power_law(3), [2 / (1 + math.sqrt(i / 3)) - 1 for i in (1, 2, 3)], rtol=1e-14)
    for similarity in (exponential(990), power_law(990)):
        assert (np.diff(similarity) < 0).all()
        assert similarity.max() < 1
        assert similarity.min() >= -1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Panel(0), "at least one voter"),
        (lambda: Panel(nonconformity=(0.2, 0.1)), "nonconformity must rise"),
        (lambda: Panel(nonconformity=(0.2, math.inf)), "nonconformity must rise"),
        (lambda: Panel(oversight=(0.5, 1.5)), "oversight must rise"),
        (lambda: Panel(oversight=(-0.1, 0.5)), "oversight must rise"),
        (lambda: opinions([0.5, 1.5], panel_of(0.1), seed=1), "1 similarities are not in"),
        (lambda: opinions([math.nan], panel_of(0.1), seed=1), "1 similarities are not in"),
        (lambda: opinions([[0.5]], panel_of(0.1), seed=1), "one row"),
        (lambda: opinions([0.5], panel_of(0.1), seed=-1), "seed"),
        (lambda: opinions([0.5], panel_of(0.1), seed=1, notion="love"), "notion"),
        (lambda: opinions([0.5], panel_of(0.1), seed=1, which=[1]), "which must be numbers from 0 to 0"),
        (lambda: answer([0.5], [0], [1], [0], panel_of(0.1), seed=1, rng=np.random.default_rng(1)), "second must be"),
        (lambda: answer([0.5], [0], [0], [3], panel_of(0.1), seed=1, rng=np.random.default_rng(1)), "voter must be"),
        (lambda: answer([0.5], [0], [0], [], panel_of(0.1), seed=1, rng=np.random.default_rng(1)), "equally long"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_cosine_just_over_one_is_one():
    assert opinions([1.0 + 1e-12], panel_of(0.1), seed=1).tolist() == [[1.0]]
