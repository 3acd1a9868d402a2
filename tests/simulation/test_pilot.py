"""A pilot's figures, against counts by hand and resampling in a loop."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.base.estimates import widened_tails
from core.errors import InputError
from core.simulation.pilot import RESAMPLES, summarise_pilot
from core.voters.model import Panel, answer, draw_panel, exponential

NAN = math.nan


def answers(n=100, n_voters=10, seed=1):
    rng = np.random.default_rng(seed)
    z = exponential(60)
    first = rng.integers(60, size=n)
    second = (first + rng.integers(1, 60, size=n)) % 60
    voter = np.resize(np.arange(n_voters), n)
    outcome = answer(z, first, second, voter, draw_panel(Panel(n_voters), rng), seed=seed, rng=rng)
    return first, second, outcome, voter, rng.lognormal(2, 0.5, n), z


def test_counts_and_shares():
    first, second, outcome, voter, seconds, _ = answers(80)
    outcome[:4], outcome[4:14] = NAN, 0.5
    seconds[20:30] = NAN
    pilot = summarise_pilot((first, second, outcome, voter), seconds=seconds, rng=np.random.default_rng(1))
    assert (pilot.n_answers, pilot.n_votes, pilot.n_voters, pilot.n_timed) == (80, 76, 10, 70)
    assert (pilot.unknown.count, pilot.unknown.total, pilot.unknown.estimate) == (4, 80, 0.05)
    assert (pilot.ties.count, pilot.ties.total) == (10, 76)
    assert pilot.ties.lower < 10 / 76 < pilot.ties.upper
    assert pilot.fit is None
    assert "similarities" in pilot.fit_reason


def test_seconds_against_a_loop_over_resamples():
    first, second, outcome, voter, seconds, _ = answers(60, 6)
    pilot = summarise_pilot((first, second, outcome, voter), seconds=seconds, rng=np.random.default_rng(5))
    assert pilot.seconds_mean.estimate == pytest.approx(seconds.mean())
    assert pilot.seconds_median.estimate == pytest.approx(np.median(seconds))
    drawn = np.random.default_rng(5).multinomial(6, [1 / 6] * 6, size=RESAMPLES)
    means, medians = [], []
    for counts in drawn:
        times = np.sort(np.concatenate([np.repeat(seconds[voter == v], n) for v, n in enumerate(counts)]))
        means.append(times.mean())
        medians.append(times[math.ceil(len(times) / 2) - 1])
    for part, found in ((means, pilot.seconds_mean), (medians, pilot.seconds_median)):
        assert np.quantile(part, widened_tails(6)) == pytest.approx((found.lower, found.upper))


def test_blocks_of_resamples_make_no_difference(monkeypatch):
    given = answers(60, 6)
    whole = summarise_pilot(given[:4], seconds=given[4], rng=np.random.default_rng(5))
    monkeypatch.setattr("core.simulation.pilot.CELLS", 60 * 7)
    again = summarise_pilot(given[:4], seconds=given[4], rng=np.random.default_rng(5))
    assert (again.seconds_mean, again.seconds_median) == (whole.seconds_mean, whole.seconds_median)


def test_a_first_fit_of_the_panel():
    first, second, outcome, voter, _, z = answers(100)
    outcome[:3] = NAN
    pilot = summarise_pilot((first, second, outcome, voter), similarity=z, rng=np.random.default_rng(1))
    assert pilot.fit_reason == ""
    assert pilot.fit.n_votes == 97 - pilot.ties.count
    assert 0.02 < pilot.fit.nonconformity.mean.estimate < 0.3
    assert pilot.fit.nonconformity.width.estimate is None
    assert pilot.fit.panel() is not None
    assert pilot.seconds_mean.estimate is None
    assert pilot.seconds_mean.reason == "No answer has a time."


def test_too_little_for_a_fit():
    first, second, outcome, voter, _, z = answers(20, 2)
    pilot = summarise_pilot((first, second, outcome, voter), similarity=z, rng=np.random.default_rng(1))
    assert "30 votes" in pilot.fit_reason
    assert any("Only 2 voters" in remark for remark in pilot.remarks)


def test_few_voters_have_no_interval_of_the_time():
    first, second, outcome, voter, seconds, _ = answers(40, 3)
    pilot = summarise_pilot((first, second, outcome, voter), seconds=seconds, rng=np.random.default_rng(1))
    assert pilot.seconds_mean.estimate == pytest.approx(seconds.mean())
    assert pilot.seconds_mean.lower is None
    assert "5 voters; found 3" in pilot.seconds_mean.reason


def test_pauses_are_remarked_on():
    first, second, outcome, voter, seconds, _ = answers(60, 6)
    calm = summarise_pilot((first, second, outcome, voter), seconds=seconds, rng=np.random.default_rng(1))
    assert calm.remarks == ()
    seconds[7] = 3600
    pilot = summarise_pilot((first, second, outcome, voter), seconds=seconds, rng=np.random.default_rng(1))
    assert any("took very long" in remark for remark in pilot.remarks)


def test_nobody_knows_the_tokens():
    first, second, _, voter, _, z = answers(20)
    pilot = summarise_pilot((first, second, np.full(20, NAN), voter), similarity=z, rng=np.random.default_rng(1))
    assert pilot.unknown.estimate == 1
    assert pilot.ties.estimate is None
    assert "there are 0" in pilot.fit_reason


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"outcome": []}, "needs answers"),
        ({"voter": [0]}, "needs answers"),
        ({"outcome": [1, 0.3]}, "An outcome is"),
        ({"seconds": [3]}, "needs its seconds"),
        ({"seconds": [3, 0]}, "above 0"),
        ({"seconds": [3, math.inf]}, "above 0"),
    ],
)
def test_bad_input(change, message):
    given = {"first": [0, 1], "second": [1, 2], "outcome": [1, 0], "voter": [0, 1], **change}
    votes = [given.pop(name) for name in ("first", "second", "outcome", "voter")]
    with pytest.raises(InputError, match=message):
        summarise_pilot(votes, **given, rng=np.random.default_rng(1))
