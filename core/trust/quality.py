"""Signs that a voter may not read the task. They are hints: nothing here takes a vote away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from ..errors import InputError

LEVEL = 0.05


@dataclass(frozen=True)
class SideBias:
    """How often each voter chose the left side.

    `voters` has the columns voter, answers (left and right, ties don't count), left, share (of left) and p: the
    two-sided exact binomial probability of a split at least as uneven if each side were chosen half the time. It is
    sorted by p, then by voter. `flagged` are the rows with p < `level` / number of voters (Bonferroni): if no voter
    preferred a side, the chance that any is flagged is at most `level`.
    """

    voters: pd.DataFrame
    level: float

    @property
    def flagged(self) -> pd.DataFrame:
        return self.voters[self.voters["p"] < self.level / max(len(self.voters), 1)]


def side_bias(voter: ArrayLike, chose_left: ArrayLike, *, level: float = LEVEL) -> SideBias:
    """Whether voters prefer a side, whatever it shows.

    Sides are drawn at random, so a voter who reads chooses each about half the time.

    Parameters
    ----------
    voter : who voted, any codes or names, shape (n_votes,); votes for a tie are left out beforehand.
    chose_left : True for left, False for right, shape (n_votes,).
    level : bound on the chance of any false flag, between 0 and 1.

    Raises `InputError` for shapes or a level that can't be.

    >>> side_bias(["W1"] * 8, [True] * 8).flagged.round(4).to_dict("records")
    [{'voter': 'W1', 'answers': 8, 'left': 8, 'share': 1.0, 'p': 0.0078}]
    """
    names, left = np.asarray(voter), np.asarray(chose_left, dtype=bool)
    if names.ndim != 1 or names.shape != left.shape:
        raise InputError(f"Each vote needs a voter and a side, found shapes {names.shape} and {left.shape}.")
    if not 0 < level < 1:
        raise InputError(f"The level lies between 0 and 1, found {level}.")
    code, found = pd.factorize(names, sort=True)  # np.unique would sort all names of all votes
    answers = np.bincount(code, minlength=len(found))
    n_left = np.bincount(code[left], minlength=len(found))
    more = np.maximum(n_left, answers - n_left)
    p = np.minimum(1.0, 2 * stats.binom.sf(more - 1, answers, 0.5))
    table = pd.DataFrame({"voter": found, "answers": answers, "left": n_left, "share": n_left / answers, "p": p})
    return SideBias(table.sort_values(["p", "voter"], ignore_index=True), level)
