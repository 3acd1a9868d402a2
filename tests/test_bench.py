"""The bench runs, and its table says what was measured."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from bench import small_coverage, table, token_prior
from bench.__main__ import main
from bench.cells import Cell, Row, carry_out, means
from bench.table import Line, measure, show
from bench.votes_coverage import main as measure_coverage
from core.metrics import weighted_kendall, weighted_spearman
from core.plan import Plan
from core.protocols import Votes
from core.scores import BallotVotes
from core.scores.bradley_terry import fit_votes, joined
from core.scores.uncertainty import resample_voters
from core.simulation import simulate_campaign
from core.voters.model import Panel, exponential


@pytest.mark.release
@pytest.mark.sqlite  # the bench opens workspaces of its own, in processes of its own
def test_the_bench_runs_and_prints_one_table() -> None:
    result = CliRunner().invoke(main, ["--quick", "--no-browser"], catch_exceptions=False)
    assert result.exit_code == 0
    table = [line for line in result.stdout.splitlines() if line.startswith("|")]
    assert len(table) > 2
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
    ("line", "slower", "last"),
    [
        (Line("a", 0.5, 1.0, "peer"), 1.0, "2.0 × faster"),
        (Line("a", 1.0, 0.5, "peer"), 1.0, "2.0 × slower"),
        (Line("a", 0.2, limit=0.3), 1.0, "within the limit 300 ms"),
        (Line("a", 0.4, limit=0.3), 1.0, "OVER THE limit 300 ms"),
        (Line("a", 0.4, limit=0.3), 1.5, "within the limit 300 ms × 1.50"),
        (Line("a", 0.5, limit=0.3), 1.5, "OVER THE limit 300 ms × 1.50"),
        (Line("a", 0.4, limit=0.3, unit="MB"), 1.5, "OVER THE limit 0 MB"),
        (Line("a", 1.0, 0.5, "peer", least_ratio=0.6), 1.5, "2.0 × slower, UNDER 0.6 ×"),
    ],
)
def test_a_line_says_its_ratio_or_its_limit(
    line: Line, slower: float, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit in seconds is extended on a slower machine; one in memory, and a ratio, are what they are."""
    monkeypatch.setattr(table, "pace", lambda: slower)
    assert line.cells()[3] == last
    assert last in show([line])


def test_the_machines_pace_is_that_of_a_piece_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_piece_of_work", lambda: sum(range(1_000_000)))
    monkeypatch.setattr(table, "USUAL_WORK", 1e-6)
    much_slower = table.pace.__wrapped__()
    monkeypatch.setattr(table, "USUAL_WORK", 1e6)
    assert much_slower > 10
    assert table.pace.__wrapped__() == 1.0


def test_measured_actions_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table.gc, "collect", lambda: 0)  # seconds of a process that has run other tests
    done: list[str] = []
    times = measure(lambda: done.append("a"), lambda: done.append("b"), rounds=2)
    assert done == ["a", "b", "a", "b"]
    assert all(taken >= 0 for taken in times)


def test_cells_go_on_where_they_were_broken_off(tmp_path) -> None:
    made: list[tuple[str, tuple[int, int]]] = []

    def campaign(name: str, seed: tuple[int, int]) -> Row:
        made.append((name, seed))
        return {"figure": 10 * seed[0] + seed[1]}

    both = [Cell(("one", "1"), "one", partial(campaign, "one")), Cell(("two", "2"), "two", partial(campaign, "two"), 1)]
    assert carry_out(both, 2, 3, tmp_path) == [[{"figure": 30}, {"figure": 31}], [{"figure": 30}]]
    assert made == [("one", (3, 0)), ("two", (3, 0)), ("one", (3, 1))]
    assert carry_out(both, 3, 3, tmp_path, seconds=-1.0)[0] == [{"figure": 30}, {"figure": 31}]
    assert len(made) == 3
    assert carry_out(both, 3, 3, tmp_path)[0] == [{"figure": 30}, {"figure": 31}, {"figure": 32}]
    assert made[3:] == [("one", (3, 2))]
    assert carry_out(both[:1], 1, 4, None) == [[{"figure": 40}]]


def test_means_of_campaigns_have_their_standard_error() -> None:
    assert means([[1.0, -1.0], [3.0, -1.0]], 2, "+") == ["+2.00 ± 1.00", "-1.00 ± 0.00"]  # by hand: √2 / √2


def test_coverage_over_votes_is_the_share_that_held(tmp_path) -> None:
    asked = ["--items", "60", "--campaigns", "1", "--resamples", "10", "--folder", str(tmp_path)]
    shown = CliRunner().invoke(measure_coverage, asked, catch_exceptions=False).stdout
    kept = json.loads((tmp_path / "exponential-60-840-20-10-7001.jsonl").read_text())["all"]
    shares = " | ".join(f"{one:.2f} / {pair:.2f}".replace("0.", ".") for one, pair in zip(*kept, strict=True))
    assert f"| exponential, 60 items, 840 votes, 20 voters | 1 | {shares} |" in shown
    assert CliRunner().invoke(measure_coverage, asked, catch_exceptions=False).stdout == shown


def test_refits_at_once_land_where_those_one_by_one_do() -> None:
    plan, rng = Plan(30, 2, 0.5, 16), np.random.default_rng(4)
    held = simulate_campaign(exponential(30), plan, protocol="runoff", rng=rng, panel=Panel(12)).held
    votes = [BallotVotes(*Votes.of(ballot.votes)) for ballot in held]
    fit = fit_votes(votes).fit
    one_by_one = resample_voters(fit, joined(votes, np.arange(30)), resamples=20, rng=np.random.default_rng(1)).theta
    times = np.random.default_rng(1).multinomial(12, np.full(12, 1 / 12), size=20).T
    at_once = small_coverage.refit(fit, times.astype(float))
    for one, other in zip(one_by_one - fit.theta, at_once - fit.theta, strict=True):
        assert np.corrcoef(one, other)[0, 1] > 0.97
    assert np.abs(at_once - one_by_one).mean() < 0.1 * np.abs(one_by_one - fit.theta).mean()
    models = rng.standard_normal((3, 30))
    found = small_coverage.figures_of(models, one_by_one[:2])
    for row, metric in enumerate((weighted_spearman, weighted_kendall)):
        expected = [[metric(scores, model) for scores in one_by_one[:2]] for model in models]
        assert found[row] == pytest.approx(np.array(expected), abs=1e-6)


def test_coverage_of_small_campaigns_goes_on_where_it_was_broken_off(tmp_path) -> None:
    asked = [str(tmp_path), "--cell", "0", "--cell", "2", "--resamples", "20"]
    for n in ("1", "2"):
        shown = CliRunner().invoke(small_coverage.main, [*asked, "--campaigns", n], catch_exceptions=False).stdout
        held = sorted(path.read_text() for path in tmp_path.iterdir())
    assert [text.count("\n") for text in held] == [2, 2]
    again = CliRunner().invoke(small_coverage.main, [*asked, "--campaigns", "2"], catch_exceptions=False).stdout
    assert (again, sorted(path.read_text() for path in tmp_path.iterdir())) == (shown, held)
    header, _, *lines = shown.splitlines()
    assert [line.count("|") for line in lines] == [header.count("|")] * 2
    assert lines[0].startswith("| 20 items, 300 votes, 5 voters, 2 ballots | 2 | ")


def test_the_token_priors_fit_is_the_fit_where_its_prior_is_the_ridge_and_finds_what_tokens_make() -> None:
    names = [f"t{k}" for k in range(8)]
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    area = pd.DataFrame(pairs, columns=["token_a", "token_b"])
    shared = token_prior.shared_tokens(area)
    assert set(np.diag(shared)) == {2}
    assert shared[0].sum() == 2 + 2 * 6
    rng = np.random.default_rng(5)
    of_token = np.linspace(-2, 2, 8)
    theta = np.array([of_token[names.index(a)] + of_token[names.index(b)] for a, b in pairs])
    found = []
    for truth in (theta, rng.permutation(theta)):
        first = rng.integers(len(theta), size=900)
        second = (first + rng.integers(1, len(theta), size=900)) % len(theta)
        won = (rng.random(900) < 1 / (1 + np.exp(truth[second] - truth[first]))).astype(float)
        fit = fit_votes([BallotVotes(np.arange(len(theta)), first, second, won, rng.integers(10, size=900))]).fit
        same, _ = token_prior.most_likely(fit, np.eye(len(theta)) / fit.ridge, np.zeros(len(theta)))
        assert same == pytest.approx(fit.theta, abs=2e-3)
        fitted, (own, token) = token_prior.with_prior(fit, shared)
        found.append((token / own, np.corrcoef(fitted, truth)[0, 1] - np.corrcoef(fit.theta, truth)[0, 1]))
    assert found[0][0] > 4 > 1 > found[1][0]
    assert found[0][1] > 0.01
    assert abs(found[1][1]) < 0.01
