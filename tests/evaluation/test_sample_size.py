"""How many votes and tokens tell two models apart, by simulation: the curve, the search, and what can't be reached."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from core.__main__ import main
from core.errors import InputError, PlanError
from core.evaluation import sample_size as evaluation_needed
from core.evaluation.figures import FigureSettings
from core.evaluation.sample_size import Needed, PowerEstimate, VotingScenario, at_power, tokens_needed, votes_needed

SMALL = VotingScenario(votes_each=10, n_ballots=2)


@pytest.fixture(autouse=True)
def _fewer(monkeypatch) -> None:
    """A few simulations each; the curve has tests of its own."""
    monkeypatch.setattr(evaluation_needed, "ROUGH", 3)
    monkeypatch.setattr(evaluation_needed, "FINE", 5)
    monkeypatch.setattr(evaluation_needed, "RESAMPLES", 20)


def test_the_curve_finds_the_place_it_was_made_with() -> None:
    a, b = 0.1, 1.645
    place = ((b + norm.ppf(0.8)) / a) ** 2
    tried = [PowerEstimate(n, round(5000 * norm.cdf(a * math.sqrt(n) - b)), 5000) for n in (100, 300, 600, 1200)]
    found, error = at_power(tried)
    assert found == pytest.approx(place, rel=0.03)
    assert error < 0.05
    few, wide = at_power([PowerEstimate(each.amount, round(each.told / 500), 10) for each in tried])
    assert few == pytest.approx(place, rel=0.4)
    assert wide > 2 * error


def test_the_error_of_the_curve_is_that_of_repeated_simulations() -> None:
    a, b, rng = 0.1, 1.645, np.random.default_rng(1)
    amounts = (300, 600, 1200)
    drawn = []
    for _ in range(40):
        tried = [PowerEstimate(n, int(rng.binomial(25, norm.cdf(a * math.sqrt(n) - b))), 25) for n in amounts]
        drawn.append(at_power(tried))
    logs, errors = np.log([place for place, _ in drawn]), [error for _, error in drawn]
    assert np.median(errors) == pytest.approx(logs.std(), rel=0.4)


def test_what_is_never_told_apart_has_no_place() -> None:
    assert at_power([PowerEstimate(100, 0, 50), PowerEstimate(1000, 0, 50)]) == (math.inf, math.inf)


@pytest.mark.release
def test_few_votes_for_far_models_many_for_near_ones() -> None:
    rng = np.random.default_rng(2)
    truth = np.linspace(1, 0, 30)
    good, bad = truth + 0.05 * rng.normal(size=30), rng.normal(size=30)
    far = votes_needed(truth, (good, bad), votes=(300, 310), voting=SMALL, rng=np.random.default_rng(3))
    assert not far.is_more
    assert far.simulations == sum(each.n for each in far.tried)
    near = votes_needed(
        truth,
        (good, good + 1e-3 * rng.normal(size=30)),
        votes=(100, 120),
        voting=SMALL,
        rng=np.random.default_rng(3),
    )
    assert near.is_more
    assert near.amount is None
    assert str(near) == "more than 120 votes"


def test_equal_models_are_not_simulated() -> None:
    truth = np.linspace(1, 0, 30)
    found = votes_needed(truth, (truth, truth), votes=(100, 400), voting=SMALL, rng=np.random.default_rng(1))
    assert (found.is_more, found.tried, found.difference) == (True, (), 0.0)


def test_what_can_not_be_asked_is_refused() -> None:
    truth, rng = np.linspace(1, 0, 30), np.random.default_rng(1)
    with pytest.raises(InputError, match="no interval of 'pearson'"):
        votes_needed(truth, (truth, -truth), FigureSettings(("pearson",)), votes=(100, 400), rng=rng)
    with pytest.raises(InputError, match="at least"):
        votes_needed(truth, (truth, -truth), votes=(100, 10), voting=SMALL, rng=rng)
    with pytest.raises(PlanError):
        votes_needed(truth, (truth, -truth), votes=(100, 4000), rng=rng)  # seven ballots of 30 items
    with pytest.raises(InputError, match="equal"):
        votes_needed(truth, (truth, np.ones(30)), votes=(100, 4000), voting=SMALL, rng=rng)


def of_vectors(noises: tuple[float, ...], n: int = 40) -> tuple[pd.DataFrame, list[np.ndarray]]:
    rng = np.random.default_rng(4)
    people = rng.normal(size=(n, 10))
    a, b = np.triu_indices(n, 1)
    names = np.array([f"t{number}" for number in range(n)])

    def cosines(vectors: np.ndarray) -> np.ndarray:
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return (units @ units.T)[a, b]

    pairs = pd.DataFrame({"area": "A", "token_a": names[a], "token_b": names[b], "score": cosines(people)})
    return pairs, [cosines(people + noise * rng.normal(size=people.shape)) for noise in noises]


def test_tokens_are_tried_up_to_those_there_are() -> None:
    pairs, (good, bad, like) = of_vectors((0.3, 3.0, 0.31))
    seen = []
    far = tokens_needed(
        pairs,
        (good, bad),
        FigureSettings(("rho",)),
        rng=np.random.default_rng(5),
        progress=lambda done, total: seen.append(done),
    )
    assert not far.is_more
    assert seen == list(range(1, far.simulations + 1))
    near = tokens_needed(pairs, (good, like), FigureSettings(("rho",)), rng=np.random.default_rng(5))
    assert str(near) == "more than 40 tokens"


def test_an_answer_reads_well() -> None:
    found = Needed("votes", "rho_w", 0.1, 1200, 900, 1600, 100, 5000, False, (PowerEstimate(1200, 8, 10),))
    assert str(found) == "1,200 votes (900 to 1,600 by simulation error)"
    assert str(Needed("votes", "rho_w", 0.1, None, None, None, 100, 5000, False, ())) == "100 votes or fewer"


@pytest.mark.release
def test_the_command_line_says_it(tmp_path, capsys) -> None:
    pairs, _ = of_vectors((), n=20)
    pairs.to_csv(tmp_path / "dataset.csv", index=False)
    names = [f"t{number}" for number in range(20)]
    rng = np.random.default_rng(6)
    for model in "ab":
        lines = [f"{name} {' '.join(f'{x:.4f}' for x in rng.normal(size=6))}" for name in names]
        (tmp_path / f"{model}.vec").write_text("20 6\n" + "\n".join(lines) + "\n")
    files = [str(tmp_path / name) for name in ("dataset.csv", "a.vec", "b.vec")]
    options = [
        "--needed",
        "--votes",
        "700",
        "--most",
        "800",
        "--voters-like",
        ".1:.2,0:.05",
        "--metric",
        "rho",
        "--json",
    ]
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", *files, *options])
    assert ended.value.code == 0
    needed = json.loads(capsys.readouterr().out)["needed"]
    assert (needed["first"], needed["figure"], needed["power"]) == ("a.vec", "rho", 0.8)
    votes, tokens = needed["found"]
    assert (votes["unit"], tokens["unit"]) == ("votes", "tokens")
    assert votes["most"] <= 800
    assert votes["says"].endswith(("votes", "votes or fewer", "simulation error)"))
    for wrong in (".1,.2", "a:b,0:1"):
        with pytest.raises(SystemExit) as ended:
            main(["evaluate", *files, "--needed", "--voters-like", wrong])
        assert ended.value.code == 2
