"""The bench runs, and its table says what was measured."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from bench.__main__ import main
from bench.table import Line, measure, show


def test_the_bench_runs_and_prints_one_table() -> None:
    result = CliRunner().invoke(main, ["--quick", "--no-browser"], catch_exceptions=False)
    assert result.exit_code == 0
    table = [line for line in result.stdout.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 33
    assert len({len(line) for line in table}) == 1
    peers = (
        "scipy.stats.weightedtau",
        "gensim",
        "plain loop",
        "plain Python",
        "choix.ilsr_pairwise",
        "noisy Bradley–Terry",
    )
    for peer in peers:
        assert peer in result.stdout


@pytest.mark.parametrize(
    ("line", "last"),
    [
        (Line("a", 0.5, 1.0, "peer"), "2.0 × faster"),
        (Line("a", 1.0, 0.5, "peer"), "2.0 × slower"),
        (Line("a", 0.2, limit=0.3), "within the limit 300 ms"),
        (Line("a", 0.4, limit=0.3), "OVER THE limit 300 ms"),
    ],
)
def test_a_line_says_its_ratio_or_its_limit(line: Line, last: str) -> None:
    assert line.cells()[3] == last
    assert last in show([line])


def test_measured_actions_take_turns() -> None:
    done: list[str] = []
    times = measure(lambda: done.append("a"), lambda: done.append("b"), rounds=2)
    assert done == ["a", "b", "a", "b"]
    assert all(taken >= 0 for taken in times)
