"""Scores of a campaign as they would be with other voters.

The votes of one voter hang together, so whole voters are drawn with replacement, and every resample is scored as the
protocol scores (`Protocol.resample`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.arrays import Floats, Ints
from ..base.estimates import MIN_VOTERS
from ..base.parallel import Progress
from ..errors import InputError, UndefinedMetricError
from ..metrics import rounded_scores
from ..protocols import Held, collectable, protocol_of
from ..scores import BallotVotes

WORK, FEWEST, MOST = 2_000_000, 100, 400  # resamples: as many as have this many votes, within these bounds


@dataclass(frozen=True, eq=False)
class ScoreDraws:
    """Scores of resampled voters.

    items : positions in the project, ascending, shape (n,); estimate : their scores by all votes, higher = more
    related, (n,); drawn : the same by each resample, shape (resamples, n), NaN where one has no vote on an item;
    n_voters : who voted. For "runoff" scores are θ, for "paper" ȳ of the last ballot an item was in.
    """

    protocol: str
    items: Ints
    estimate: Floats
    drawn: Floats
    n_voters: int

    @property
    def resamples(self) -> int:
        """How often the voters were drawn."""
        return len(self.drawn)

    def top_probability(self, n_top: int) -> Floats:
        """The share of resamples in which each item is among the `n_top` highest; ties at the cut count in part; (n,).

        Raises `InputError` for more than there are.
        """
        if not 1 <= n_top <= len(self.items):
            raise InputError(f"{n_top} items can't be the highest of {len(self.items)}.")
        filled = np.where(np.isnan(self.drawn), -np.inf, rounded_scores(self.drawn, axis=1))
        cut = -np.partition(-filled, n_top - 1, axis=1)[:, [n_top - 1]]
        above, at = filled > cut, filled == cut
        room = n_top - above.sum(axis=1, keepdims=True)
        return np.asarray((above + at * room / at.sum(axis=1, keepdims=True)).mean(axis=0))

    def tied_for_first(self, level: float = 0.9) -> Ints:
        """Positions of the items that can't be told from the best; best first.

        An item belongs to them where more than (1 − level)/2 of the resamples have it at least level with the item of
        the highest score. `voter_bootstrap.Resamples.tied_for_first` says the same of θ.
        """
        if not 0 < level < 1:
            raise InputError(f"The level must be between 0 and 1, found {level!r}.")
        best = int(np.nanargmax(self.estimate))
        compared = rounded_scores(self.drawn, axis=1)
        level_with = np.mean(compared >= compared[:, [best]], axis=0)
        group = np.flatnonzero((level_with > (1.0 - level) / 2.0) | (np.arange(len(self.items)) == best))
        return np.asarray(self.items[group[np.argsort(-self.estimate[group], kind="stable")]])


def number_of_resamples(n_votes: int) -> int:
    """How many resamples a page takes unless it is told: 100 for 20,000 votes, more for fewer."""
    return int(np.clip(WORK // max(n_votes, 1), FEWEST, MOST))


def draw_scores(
    votes: Sequence[BallotVotes],
    protocol: str,
    *,
    resamples: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> ScoreDraws:
    """Resample the voters of a campaign.

    Parameters
    ----------
    votes : of its ballots in order, voters coded alike in all of them; the first has all items.
    protocol : "runoff" or "paper"; resamples : at least 1; rng : source of the draws.
    progress : is told how many resamples are done, where they are made one after the other.

    Raises `UndefinedMetricError` for fewer than five voters, `InputError` for no votes or another protocol,
    `DisconnectedError` where votes of the protocol "runoff" leave items apart.
    """
    asked = protocol_of(protocol, collectable())
    codes = np.unique(np.concatenate([np.empty(0, np.int64), *(ballot.voter for ballot in votes)]))
    if len(codes) < MIN_VOTERS:
        raise UndefinedMetricError(f"Resampling needs votes of at least {MIN_VOTERS} voters; found {len(codes)}.")
    scores = asked.field([Held(ballot) for ballot in votes])
    drawn = np.full((resamples, len(scores.items)), np.nan)
    for positions, found in asked.resample(votes, scores, resamples, rng, progress):
        drawn[:, np.searchsorted(scores.items, positions)] = found.T
    return ScoreDraws(protocol, scores.items, scores.rank_by, drawn, len(codes))
