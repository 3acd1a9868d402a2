"""Checks counted voter by voter, to hold figures of pages against."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import sqlalchemy as sa

from core.store.votes.checks import _voter_names, check_answers


def checks_by_voter(conn: sa.Connection, ballot_ids: Sequence[int]) -> pd.DataFrame:
    """How each voter answered checks in some ballots; a row for each voter with at least one, by voter_id.

    Columns: voter_id; voter, the platform's own id; gold_right of gold_n; repeats_same of repeats_n; overlap_agreeing
    of overlap_n, the counted answers of other voters to the same comparisons that were the voter's own, ties
    agreeing with ties only.
    """
    answers = check_answers(conn, ballot_ids)
    counted = answers.overlap.assign(n=answers.overlap["counted"].astype("int64"))
    others = counted.groupby("question_id")["n"].transform("sum") - counted["n"]
    agreeing = counted.groupby(["question_id", "value"])["n"].transform("sum") - counted["n"]
    overlap = counted.assign(others=others.astype("int64"), agreeing=agreeing.astype("int64"))
    counts = pd.concat(
        [
            answers.gold.groupby("voter_id")["right"].agg(gold_right="sum", gold_n="count"),
            answers.repeats.groupby("voter_id")["same"].agg(repeats_same="sum", repeats_n="count"),
            overlap.groupby("voter_id").agg(overlap_agreeing=("agreeing", "sum"), overlap_n=("others", "sum")),
        ],
        axis=1,
    )
    counts = counts.fillna(0).astype("int64").sort_index()
    counts = counts[counts[["gold_n", "repeats_n", "overlap_n"]].sum(axis=1) > 0]
    names = _voter_names(conn, ballot_ids, counts.index.tolist())
    counts.insert(0, "voter", pd.Series([names[id_] for id_ in counts.index], index=counts.index, dtype="str"))
    return counts.rename_axis("voter_id").reset_index()
