"""Dev and test share no token, whatever the dataset."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.dataset.splits import split_by_tokens
from core.errors import InputError


def area(name: str, tokens: list[str]) -> pd.DataFrame:
    rows = [(name, a, b, 0.5) for a, b in combinations(tokens, 2)]
    return pd.DataFrame(rows, columns=["area", "token_a", "token_b", "score"])


def tokens_of(part: pd.DataFrame) -> set[str]:
    return set(part["token_a"]) | set(part["token_b"])


TWENTY = [f"w{i}" for i in range(20)]


def test_sizes_follow_from_the_share() -> None:
    split = split_by_tokens(area("x", TWENTY), dev_share=0.3, rng=np.random.default_rng(1))
    # 6 tokens in dev, 14 in test: all pairs within, none across
    assert split.sizes == {
        "dev_items": 15,
        "test_items": 91,
        "left_out_items": 84,
        "dev_tokens": 6,
        "test_tokens": 14,
    }
    assert tokens_of(split.dev) == split.dev_tokens


@pytest.mark.release
@given(
    areas=st.lists(st.lists(st.sampled_from(TWENTY), min_size=4, max_size=12, unique=True), min_size=1, max_size=3),
    share=st.floats(0.2, 0.8),
    seed=st.integers(0, 99),
)
@settings(deadline=None, max_examples=60)
def test_no_token_is_in_both_and_no_item_is_lost(areas, share, seed) -> None:
    table = pd.concat([area(f"area {i}", tokens) for i, tokens in enumerate(areas)], ignore_index=True)
    try:
        split = split_by_tokens(table, dev_share=share, rng=np.random.default_rng(seed))
    except InputError:
        assume(False)
    assert not tokens_of(split.dev) & tokens_of(split.test)
    assert not split.dev_tokens & split.test_tokens
    assert tokens_of(split.dev) <= split.dev_tokens
    assert tokens_of(split.test) <= split.test_tokens
    assert len(split.dev) + len(split.test) + len(split.left_out) == len(table)
    for part in (split.left_out,):
        assert (part["token_a"].isin(split.dev_tokens) != part["token_b"].isin(split.dev_tokens)).all()


def test_the_same_seed_gives_the_same_split_in_any_order_of_rows() -> None:
    table = area("x", TWENTY)
    one = split_by_tokens(table, dev_share=0.4, rng=np.random.default_rng(5))
    other = split_by_tokens(table.sample(frac=1, random_state=3), dev_share=0.4, rng=np.random.default_rng(5))
    assert one.dev_tokens == other.dev_tokens
    third = split_by_tokens(table, dev_share=0.4, rng=np.random.default_rng(6))
    assert one.dev_tokens != third.dev_tokens


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_a_share_that_is_none(share) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        split_by_tokens(area("x", TWENTY), dev_share=share, rng=np.random.default_rng(0))


def test_a_part_that_would_be_empty() -> None:
    with pytest.raises(InputError, match="each needs two at least"):
        split_by_tokens(area("x", TWENTY), dev_share=0.05, rng=np.random.default_rng(0))
