"""How far people agree on the orders of target groups, and who stands apart.

The agreement of two people is the mean over the targets both ordered of Spearman's ρ between their orders (of the
words both placed); a person's is the mean with everybody else who shares a target, and the dataset's the mean over
pairs of people. Whoever's lies more than one standard deviation under the mean of all people's is proposed for
exclusion, as Avraham and Goldberg (2016) did after Hill, Reichart and Korhonen (2015). That is a proposal: leaving out
whoever disagrees raises agreement by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import rankdata

from ...errors import UndefinedMetricError
from ...metrics import rounded_scores

Orders = Mapping[str, Mapping[str, float]]  # of one person: target → word → place, 1 = most similar


@dataclass(frozen=True)
class PersonAgreement:
    """A person's mean agreement with others, −1 to 1, None where nobody shares a target with two words; n: others."""

    voter: str
    agreement: float | None
    n: int
    n_targets: int


@dataclass(frozen=True)
class GroupAgreement:
    """mean : over `n_pairs` pairs of people; bound : mean minus one standard deviation over people (n − 1).

    `proposed` lie below the bound, lowest first; none where fewer than three people have an agreement.
    """

    mean: float
    n_pairs: int
    bound: float | None
    people: tuple[PersonAgreement, ...]
    proposed: tuple[str, ...]


def agree(one: Orders, other: Orders) -> float | None:
    """Mean Spearman's ρ over the targets that two people ordered; None where there is none it is defined for.

    >>> agree({"singer": {"artist": 1, "person": 2}}, {"singer": {"artist": 2, "person": 1}})
    -1.0
    """
    found = []
    for target in one.keys() & other.keys():
        words = sorted(one[target].keys() & other[target].keys())
        places = [np.array([float(of[target][word]) for word in words]) for of in (one, other)]
        if len(words) >= 2 and all(np.ptp(place) > 0 for place in places):
            found.append(float(np.corrcoef(rankdata(places[0]), rankdata(places[1]))[0, 1]))
    return round(float(np.mean(sorted(found))), 12) if found else None


def group_agreement(orders: Mapping[str, Orders]) -> GroupAgreement:
    """The agreement of people, by the name of each.

    Raises `UndefinedMetricError` where no two people ordered a target in common.
    """
    voters = list(orders)
    of_pairs: dict[tuple[str, str], float] = {}
    for one, other in combinations(voters, 2):
        value = agree(orders[one], orders[other])
        if value is not None:
            of_pairs[one, other] = value
    if not of_pairs:
        raise UndefinedMetricError("No two people ordered two words of the same target, so agreement can't be told.")
    people = tuple(_person(voter, orders[voter], of_pairs) for voter in voters)
    known = [(person.agreement, person.voter) for person in people if person.agreement is not None]
    bound, proposed = None, []
    if len(known) >= 3:
        values = np.array([value for value, _ in known])
        bound = float(values.mean() - values.std(ddof=1))
        # Where all agree alike, float noise mustn't put anybody below.
        *compared, least = rounded_scores([*values, bound], largest=1).tolist()
        below = (value < least for value in compared)
        proposed = [voter for (_, voter), is_below in sorted(zip(known, below, strict=True)) if is_below]
    mean = float(np.mean(list(of_pairs.values())))
    return GroupAgreement(mean, len(of_pairs), bound, people, tuple(proposed))


def _person(voter: str, orders: Orders, of_pairs: Mapping[tuple[str, str], float]) -> PersonAgreement:
    values = [value for pair, value in of_pairs.items() if voter in pair]
    return PersonAgreement(voter, float(np.mean(values)) if values else None, len(values), len(orders))
