"""Makes `ppi.json`: what ppi-python says of a tiny design, for `core.judges.prediction_powered` to agree with.

In an environment of its own: pip install ppi-python==0.2.3 (MIT), then run this file. Four items; item 0 has θ = 0, as
the package needs columns that aren't collinear. `logistic` has a weight λ, then estimates, lower and upper ends of 90 %
intervals of items 1 to 3; `mean` a weight (null: the package's own), an estimate and its ends.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from ppi_py import ppi_logistic_ci, ppi_logistic_pointestimate, ppi_mean_ci, ppi_mean_pointestimate

PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
THETA = np.array([0.8, 0.3, -0.2, -0.9])


def design(pairs: np.ndarray) -> np.ndarray:
    x = np.zeros((len(pairs), 4))
    rows = np.arange(len(pairs))
    x[rows, pairs[:, 0]] += 1
    x[rows, pairs[:, 1]] -= 1
    return x[:, 1:]


def main() -> None:
    rng = np.random.default_rng(3)
    votes, rest = np.array(PAIRS * 8), np.array(PAIRS * 12)

    def answered(pairs: np.ndarray) -> np.ndarray:
        chance = 1 / (1 + np.exp(THETA[pairs[:, 1]] - THETA[pairs[:, 0]]))
        return (rng.random(len(pairs)) < chance).astype(float)

    outcome, rest_predicted = answered(votes), answered(rest)
    predicted = np.where(rng.random(len(votes)) < 0.6, outcome, answered(votes))
    given = (design(votes), outcome, predicted, design(rest), rest_predicted)
    logistic = []
    for weight in (0.0, 0.3, 0.6):
        estimate = ppi_logistic_pointestimate(*given, lam=weight)
        ends = ppi_logistic_ci(*given, alpha=0.1, lam=weight)
        logistic.append([weight, *(np.asarray(values).tolist() for values in (estimate, *ends))])
    mean = []
    for own in (0.0, 0.3, None):
        estimate = ppi_mean_pointestimate(outcome, predicted, rest_predicted, lam=own)
        ends = ppi_mean_ci(outcome, predicted, rest_predicted, alpha=0.1, lam=own)
        mean.append([own, *(float(np.squeeze(value)) for value in (estimate, *ends))])
    found = {
        "made with": "ppi-python 0.2.3",
        "votes": votes.tolist(),
        "outcome": outcome.tolist(),
        "predicted": predicted.tolist(),
        "rest": rest.tolist(),
        "rest_predicted": rest_predicted.tolist(),
        "logistic": logistic,
        "mean": mean,
    }
    Path(__file__).with_name("ppi.json").write_text(json.dumps(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
