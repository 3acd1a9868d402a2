"""Panels: whom they are made of, and what the kinds of voter do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.voters.model import Panel, VoterKind, Voters, answer, decide, draw_panel, exponential, overrule


def crowd_of(kind: VoterKind, n: int = 1, inattention: float = 0.5) -> Voters:
    return Voters(np.zeros(n), np.zeros(n), np.full(n, kind), inattention)


def overruled(outcome: list[float], voters: Voters, seed: int = 1, **options: object) -> list[float]:
    voter = np.zeros(len(outcome), dtype=int)
    return overrule(np.array(outcome), voter, voters, np.random.default_rng(seed), **options).tolist()


def test_a_panel_of_ordinary_voters_draws_what_it_always_drew():
    rng, twin = np.random.default_rng(3), np.random.default_rng(3)
    drawn = draw_panel(Panel(), rng)
    assert (drawn.nonconformity == twin.uniform(0.02, 0.2, 100)).all()
    assert (drawn.oversight == twin.uniform(0.005, 0.05, 100)).all()
    assert drawn.kind is None
    assert rng.random() == twin.random()


def test_votes_of_ordinary_voters_are_as_they_always_were():
    rng, twin = np.random.default_rng(3), np.random.default_rng(3)
    voters = draw_panel(Panel(5), rng)
    draw_panel(Panel(5), twin)
    z, first, second, voter = exponential(30), np.arange(20), np.arange(20) + 9, np.arange(20) % 5
    from core.voters.model import opinions

    held = opinions(z, voters, seed=4)
    expected = decide(held[voter, first], held[voter, second], voters.oversight[voter], twin)
    assert (answer(z, first, second, voter, voters, seed=4, rng=rng) == expected).all()
    assert rng.random() == twin.random()


@given(
    st.integers(1, 300),
    st.tuples(*[st.floats(0, 1)] * 3).filter(lambda shares: sum(shares) <= 1),
    st.integers(0, 50),
)
def test_shares_become_the_nearest_numbers_of_voters(n, shares, seed):
    drawn = draw_panel(Panel(n, (0.1, 0.1), (0.0, 0.0), *shares), np.random.default_rng(seed))
    kinds = np.zeros(n) if drawn.kind is None else drawn.kind
    counts = [int((kinds == kind).sum()) for kind in list(VoterKind)[1:]]
    assert sum(counts) <= n
    for upto in (1, 2, 3):
        assert abs(sum(counts[:upto]) - n * sum(shares[:upto])) <= 0.5 + 1e-6


def test_the_shares_of_one_kind_alone():
    for place, kind in enumerate(list(VoterKind)[1:]):
        shares = [0.0, 0.0, 0.0]
        shares[place] = 0.13
        drawn = draw_panel(Panel(100, (0.1, 0.1), (0.0, 0.0), *shares), np.random.default_rng(1))
        assert (drawn.kind == kind).sum() == 13
        assert (drawn.kind == VoterKind.ORDINARY).sum() == 87


def test_who_is_odd_is_drawn():
    panel = Panel(4, random_clickers=0.25)
    places = [int(np.flatnonzero(draw_panel(panel, np.random.default_rng(seed)).kind)[0]) for seed in range(400)]
    assert np.bincount(places, minlength=4).min() > 60  # 100 expected, standard deviation 8.7


def test_always_left_voters_name_the_left_and_never_a_tie():
    lefties = crowd_of(VoterKind.ALWAYS_LEFT)
    assert overruled([0.0, 0.5, 1.0], lefties) == [1.0, 1.0, 1.0]
    assert overruled([0.0, 0.5, 1.0], lefties, flipped=[True, True, False]) == [0.0, 0.0, 1.0]


def test_random_clickers_name_either_side_and_never_a_tie():
    outcome = np.array(overruled([1.0] * 9000 + [0.5] * 1000, crowd_of(VoterKind.RANDOM_CLICKER)))
    assert set(outcome) == {0.0, 1.0}
    assert outcome.mean() == pytest.approx(0.5, abs=5 * 0.5 / 100)


def test_inattentive_voters_click_in_a_share_of_their_votes():
    n, share = 20_000, 0.3
    outcome = np.array(overruled([0.5] * n, crowd_of(VoterKind.INATTENTIVE, inattention=share)))
    assert (outcome != 0.5).mean() == pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) / n))
    assert (outcome == 1.0).sum() / (outcome != 0.5).sum() == pytest.approx(0.5, abs=5 * 0.5 / math.sqrt(share * n))
    assert overruled([0.0, 0.5, 1.0], crowd_of(VoterKind.INATTENTIVE, inattention=0.0)) == [0.0, 0.5, 1.0]


def test_only_odd_voters_are_overruled():
    voters = Voters([0.1] * 3, [0.0] * 3, [VoterKind.ORDINARY, VoterKind.ALWAYS_LEFT, VoterKind.ORDINARY])
    voter = np.array([0, 1, 2, 1, 0])
    outcome = overrule(np.zeros(5), voter, voters, np.random.default_rng(1))
    assert outcome.tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]
    assert voters.has(VoterKind.ALWAYS_LEFT)
    assert not voters.has(VoterKind.INATTENTIVE)
    assert not Voters([0.1], [0.0]).has(VoterKind.ORDINARY)  # where nobody is odd, kinds aren't kept


def test_answers_pass_what_is_shown_flipped():
    z, voters = [0.9, 0.1], crowd_of(VoterKind.ALWAYS_LEFT)
    one = answer(z, [0, 0], [1, 1], [0, 0], voters, seed=1, rng=np.random.default_rng(1), flipped=[False, True])
    assert one.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Panel(random_clickers=-0.1), "random_clickers is a share"),
        (lambda: Panel(always_left=1.1), "always_left is a share"),
        (lambda: Panel(inattentive=math.nan), "inattentive is a share"),
        (lambda: Panel(inattention=2), "inattention is a share"),
        (lambda: Panel(random_clickers=0.5, always_left=0.4, inattentive=0.2), "make 1.1 in all"),
        (lambda: Voters([], []), "at least one voter"),
        (lambda: Voters([0.1, 0.2], [0.1]), "given for each"),
        (lambda: Voters([[0.1]], [[0.1]]), "given for each"),
        (lambda: Voters([0.1], [0.1], [1, 2]), "given for each"),
        (lambda: Voters([-0.1], [0.1]), "nonconformity σ\\* of every voter"),
        (lambda: Voters([math.nan], [0.1]), "nonconformity σ\\* of every voter"),
        (lambda: Voters([0.1], [1.1]), "oversight ε of every voter"),
        (lambda: Voters([0.1], [0.1], [7]), "kind must be one of"),
        (lambda: Voters([0.1], [0.1], inattention=-1), "inattention is a share"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
