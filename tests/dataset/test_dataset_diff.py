"""What changed between two versions of a dataset."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from core.__main__ import main
from core.dataset.diff import diff
from core.dataset.files import to_csv
from core.metrics import spearman, weighted_spearman

BEFORE = pd.DataFrame(
    {
        "area": "x",
        "token_a": ["a", "a", "b", "c"],
        "token_b": ["b", "c", "c", "d"],
        "score": [0.9, 0.6, 0.3, 0.1],
        "votes": [10, 10, 8, 8],
    }
)
AFTER = pd.DataFrame(
    {
        "area": "x",
        "token_a": ["c", "b", "c", "e"],  # the pairs turned round
        "token_b": ["b", "a", "a", "f"],
        "score": [0.95, 0.9, 0.5, 0.2],
        "votes": [12, 10, 12, 4],
    }
)


def test_items_scores_and_ranks() -> None:
    found = diff(BEFORE, AFTER)
    assert found.removed[["token_a", "token_b"]].to_numpy().tolist() == [["c", "d"]]
    assert found.added[["token_a", "token_b"]].to_numpy().tolist() == [["e", "f"]]
    rows = {frozenset((r.token_a, r.token_b)): r for r in found.moved.itertuples()}
    up = rows[frozenset("bc")]
    assert (up.rank_before, up.rank, up.rank_change) == (3.0, 1.0, -2.0)
    assert up.score_change == pytest.approx(0.65)
    assert (up.votes_before, up.votes) == (8, 12)
    same = rows[frozenset("ab")]
    assert (same.score_change, same.rank_change) == (0.0, 1.0)
    assert found.moved.iloc[0]["rank_change"] == -2.0  # the furthest first
    assert (found.n_scores_moved, found.n_ranks_moved, found.same) == (2, 3, False)
    x, y = [0.3, 0.9, 0.6], [0.95, 0.9, 0.5]
    assert found.figures["rho"] == pytest.approx(spearman(x, y))
    assert found.figures["rho_w"] == pytest.approx(weighted_spearman(x, y))


def test_a_dataset_against_itself() -> None:
    found = diff(BEFORE, BEFORE)
    assert found.same
    assert (found.n_scores_moved, found.n_ranks_moved, found.figures["tau_w"]) == (0, 0, 1.0)


def test_what_is_undefined_says_why_and_scores_may_be_missing() -> None:
    found = diff(BEFORE.head(1), AFTER)
    assert found.figures["rho"] is None
    assert "rho" in found.why_undefined
    gone = diff(BEFORE, BEFORE.assign(score=[0.9, float("nan"), 0.3, 0.1]))
    assert gone.n_scores_moved == 1
    assert not gone.same


def test_ranks_within_areas_where_each_has_its_own() -> None:
    table = pd.concat([BEFORE, BEFORE.assign(area="y")], ignore_index=True)
    table.attrs = {"ranking": "area", "votes": 5, "voters": {"people": 2}}
    later = table.copy()
    later.attrs = {**table.attrs, "votes": 9}
    found = diff(table, later)
    assert sorted(found.moved["rank"]) == [1, 1, 2, 2, 3, 3, 4, 4]
    assert found.described == {"votes": (5, 9)}


def test_command(tmp_path, capsys) -> None:
    for name, table in (("one.csv", BEFORE), ("two.csv", AFTER)):
        (tmp_path / name).write_bytes(to_csv(table))
    with pytest.raises(SystemExit) as exited:
        main(["diff", str(tmp_path / "one.csv"), str(tmp_path / "two.csv"), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert exited.value.code == 0
    assert told["items"] == {"both": 3, "added": 1, "removed": 1}
    assert told["moved"][0]["rank_change"] == -2
    with pytest.raises(SystemExit):
        main(["diff", str(tmp_path / "one.csv"), str(tmp_path / "two.csv")])
    out = capsys.readouterr().out
    assert ["items", "added", "1"] in [line.split() for line in out.splitlines()]
    assert "Removed: c – d (x)" in out
    with pytest.raises(SystemExit) as exited:
        main(["diff", str(tmp_path / "one.csv"), str(tmp_path / "none.csv")])
    assert exited.value.code == 2
