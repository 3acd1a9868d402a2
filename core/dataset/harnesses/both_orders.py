"""The comparisons that people decided, each asked twice: once with either item first.

Who answers by the place of an answer, as many language models do, answers the two differently.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...tables import Schema
from ..published import COMPARED, VOTES

# `pair` counts the comparisons from 1, and each has two rows: `order` 1 has its first item first, 2 its second.
# `answer` is A or B, the side that has more of the `votes` counted votes; `share` is what it has of them (a tie is half
# a vote), above .5. `gap` is the distance of the two items' scores in the dataset, missing where one has none.
BOTH_ORDERS = Schema(
    "comparisons in both orders",
    {"pair": "int", "order": "int", "question": "text", "choice_a": "text", "choice_b": "text", "answer": "text"}
    | {"votes": "int", "share": "float", "gap": "float", "ranking": "text", "ballot": "int", "comparison": "int"},
)
_AT = ["ranking", "ballot", "comparison"]


def both_orders(
    items: pd.DataFrame, comparisons: pd.DataFrame, votes: pd.DataFrame, dataset: pd.DataFrame, question: str
) -> pd.DataFrame:
    """A table of BOTH_ORDERS: the main comparisons of ballots from 1 on whose counted votes prefer one side.

    Comparisons nobody decided (no counted vote, or as many for either side) are left out; the table may be empty.

    items : schema ITEMS. comparisons, votes : as in `CampaignRecord`. dataset : schema DATASET, for `gap`.
    question : what people read, instructions included.
    """
    main = COMPARED.check(comparisons)
    main = main[(main["role"] == "main") & (main["ballot"] > 0)]
    counted = VOTES.check(votes)
    counted = counted[counted["status"] == "counted"]
    won = counted.groupby(_AT, sort=False)["value"].agg(["sum", "count"]).reset_index()
    asked = main.merge(won, on=_AT, how="inner", validate="one_to_one").reset_index(drop=True)
    asked["won"] = asked["sum"] / asked["count"]
    asked = asked[asked["won"] != 0.5].reset_index(drop=True)
    if asked.empty:
        return BOTH_ORDERS.empty()

    at = {item: row for row, item in enumerate(items["item"])}
    named = [f"{a} – {b}" for a, b in zip(items["token_a"], items["token_b"], strict=True)]
    scores = _scores(items, dataset)
    first, second = (np.array([at[item] for item in asked[side]], dtype=np.intp) for side in ("first", "second"))
    gap = np.abs(scores[first] - scores[second])
    rows = []
    for row, (left, right, is_first) in enumerate(zip(first, second, asked["won"] > 0.5, strict=True)):
        for order, (a, b) in enumerate(((left, right), (right, left)), 1):
            answer = "A" if is_first == (order == 1) else "B"
            rows.append((row + 1, order, question, named[a], named[b], answer))
    table = pd.DataFrame(rows, columns=["pair", "order", "question", "choice_a", "choice_b", "answer"])
    twice = np.repeat(np.arange(len(asked)), 2)
    table["votes"] = asked["count"].to_numpy(dtype=np.int64)[twice]
    of_first = asked["won"].to_numpy(dtype=np.float64)
    table["share"] = np.maximum(of_first, 1 - of_first)[twice]
    table["gap"] = gap[twice]
    for name in _AT:
        table[name] = asked[name].to_numpy()[twice]
    texts = {name: "str" for name, kind in BOTH_ORDERS.columns.items() if kind == "text"}
    return BOTH_ORDERS.check(table.astype(texts)[list(BOTH_ORDERS.columns)])


def _scores(items: pd.DataFrame, dataset: pd.DataFrame) -> np.ndarray:
    """The scores of the items (n,), NaN where the dataset has none."""
    keys = ("area", "token_a", "token_b")
    known = dict(zip(zip(*(dataset[key] for key in keys), strict=True), dataset["score"], strict=True))
    return np.array(
        [known.get(key, np.nan) for key in zip(*(items[key] for key in keys), strict=True)], dtype=np.float64
    )
