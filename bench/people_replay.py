"""Campaigns replayed on real people: their ratings answer the comparisons, other people's ratings are the truth.

People are split into halves again and again. One half votes (`people_ratings` says how), in each protocol with the same
number of votes; the scores are held against the mean ratings of the other half, who had no part in the votes. Beside
them stands the ceiling: how well the mean ratings of the voters' half do, with every rating of theirs used. A protocol
can hardly do better, and no figure says more than it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from bench.people_ratings import RatingPanel, halve
from core.errors import InputError
from core.plan import Plan
from core.protocols import PROTOCOLS, Votes, protocol_of
from core.simulation.campaign import Accuracy, accuracy_between, hold_ballots
from core.tables import Floats, Ints


@dataclass(frozen=True, eq=False)
class Replayed:
    """A campaign that was replayed: scores and truth of all items, shape (n_items,), and the votes ballot by ballot."""

    protocol: str
    scores: Floats
    truth: Floats
    votes: tuple[Votes, ...]

    @property
    def n_comparisons(self) -> int:
        """Comparisons asked, one vote each, over all ballots."""
        return sum(len(votes.first) for votes in self.votes)

    def accuracy(self) -> Accuracy:
        """ρ_w, τ_w, ρ, τ between scores and truth; errors as in `core.metrics`."""
        return accuracy_between(self.scores, self.truth)


def replay_campaign(
    panel: RatingPanel, plan: Plan, *, protocol: str, truth: ArrayLike, rng: np.random.Generator
) -> Replayed:
    """A campaign whose voters answer by their ratings.

    Parameters
    ----------
    panel : the voters; plan : for as many items as they rated. The protocol runoff spends the plan's comparisons, or a
        few less, with appearances as it likes them, and counts all votes alike: those of two people have no voter whose
        lapse could be told, and a rater who never contradicts the own ratings has none, so that the fit of voters'
        lapses and sharpness may not settle.
    protocol : see `core.protocols`.
    truth : what the scores are held against, higher = more related, shape (n_items,).
    rng : source of everything random.

    Raises `InputError` for values that don't fit.
    """
    gold = np.asarray(truth, dtype=np.float64)
    if not panel.n_items == plan.n_items == gold.size:
        raise InputError(
            f"The plan is for {plan.n_items} items, {panel.n_items} are rated, and {gold.size} have a true value."
        )
    asked = protocol_of(protocol).of_strangers()
    if asked.about.own_appearances:
        plan = asked.plan_within(plan.n_items, plan.n_ballots, plan.keep, plan.n_comparisons)
    held = hold_ballots(asked, plan, lambda items, pairs, _: _answered(panel, items, pairs, rng), rng=rng)
    votes = tuple(Votes.of(ballot.votes) for ballot in held)
    return Replayed(protocol, asked.field(held).rank_by, gold, votes)


def _answered(panel: RatingPanel, items: Ints, pairs: Ints, rng: np.random.Generator) -> Votes:
    outcome, voter = panel.answer(pairs[:, 0], pairs[:, 1], rng=rng)
    return Votes(items, pairs[:, 0], pairs[:, 1], outcome, voter)


@dataclass(frozen=True)
class Averaged:
    """Accuracy over `n` splits: mean, standard deviation, and the mean's standard error by the splits alone.

    The splits are of the same people: the standard error says how well the mean over all splits is known, not how
    other people would do.
    """

    mean: Accuracy
    deviation: Accuracy
    standard_error: Accuracy
    n: int

    @classmethod
    def of(cls, values: Sequence[Accuracy] | Floats) -> Averaged:
        """Of one accuracy a split; a deviation needs two, and is NaN for one."""
        table = np.asarray(values, dtype=np.float64)
        spread = table.std(axis=0, ddof=1) if len(table) > 1 else np.full(4, np.nan)
        error = spread / np.sqrt(len(table))
        mean, deviation, standard_error = (Accuracy(*part.tolist()) for part in (table.mean(axis=0), spread, error))
        return cls(mean, deviation, standard_error, len(table))


@dataclass(frozen=True, eq=False)
class Replay:
    """What the splits came to.

    protocols : accuracy of each, in the order asked for; ceiling : that of the voters' own mean ratings.
    accuracies : of each protocol and the ceiling, shape (splits, 4), in the order of `Accuracy`, to compare in pairs.
    n_items, n_comparisons, ratings_per_item : means over the splits; the last counts the voters' half.
    ties, of_two : shares of the votes that are ties, and that took two people, by protocol.
    """

    protocols: Mapping[str, Averaged]
    ceiling: Averaged
    accuracies: Mapping[str, Floats]
    n_items: float
    n_comparisons: float
    ratings_per_item: float
    ties: Mapping[str, float]
    of_two: Mapping[str, float]

    def difference(self, protocol: str, other: str) -> Averaged:
        """Accuracy of one protocol less that of another, split by split; `other` may be "ceiling"."""
        return Averaged.of(self.accuracies[protocol] - self.accuracies[other])


def replay_splits(
    ratings: ArrayLike,
    plan: Plan,
    *,
    protocols: Sequence[str] = tuple(PROTOCOLS),
    splits: int = 20,
    seed: int,
) -> Replay:
    """Replay campaigns on halves of the people, against the other halves.

    Parameters
    ----------
    ratings : people × items, NaN where there is none.
    plan : of a campaign of the voters; its number of items is set to those that both halves of a split rated.
    protocols : see `core.protocols`; splits : at least 2; seed : from 0 on. Split s and protocol p draw from (seed, s)
        and (seed, s, p), so that more splits or protocols change none of the others.

    Raises `InputError` for values that don't fit, `UndefinedMetricError` where all mean ratings of a half are equal.
    """
    if splits < 2 or seed < 0:
        raise InputError(f"Give at least 2 splits and a seed from 0 on, found {splits} and {seed}.")
    rows: dict[str, list[Accuracy]] = {name: [] for name in (*protocols, "ceiling")}
    ties: dict[str, list[float]] = {name: [] for name in protocols}
    of_two: dict[str, list[float]] = {name: [] for name in protocols}
    counts = []
    for split in range(splits):
        halves = halve(ratings, rng=np.random.default_rng((seed, split)))
        voters, gold = halves.voters, halves.others.mean()
        planned = replace(plan, n_items=voters.n_items)
        rows["ceiling"].append(accuracy_between(voters.mean(), gold))
        counts.append((voters.n_items, planned.n_comparisons, (~np.isnan(voters.ratings)).sum(axis=0).mean()))
        for place, name in enumerate(protocols):
            rng = np.random.default_rng((seed, split, place))
            campaign = replay_campaign(voters, planned, protocol=name, truth=gold, rng=rng)
            rows[name].append(campaign.accuracy())
            ties[name].append(float(np.mean(np.concatenate([v.outcome for v in campaign.votes]) == 0.5)))
            of_two[name].append(float(np.mean(np.concatenate([v.voter for v in campaign.votes]) == voters.n_people)))
    n_items, n_comparisons, per_item = np.mean(counts, axis=0).tolist()
    return Replay(
        {name: Averaged.of(rows[name]) for name in protocols},
        Averaged.of(rows["ceiling"]),
        {name: np.array(found) for name, found in rows.items()},
        n_items,
        n_comparisons,
        per_item,
        {name: float(np.mean(found)) for name, found in ties.items()},
        {name: float(np.mean(found)) for name, found in of_two.items()},
    )
