"""A campaign in plain Python, one voter, item and comparison at a time: what `bench.simulation` compares with.

The same equations as `core.simulation` (Lombardo et al. 2020, Eqs. 1–6 and 11, section 4.1), written as one would
write them down, with lists and loops. The tests hold the two against each other.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

Votes = list[tuple[int, int, float]]


def plain_campaign(
    similarity: Sequence[float], sizes: Sequence[int], appearances: int, n_voters: int, seed: int
) -> list[float]:
    """Scores ȳ of all items after a campaign of ballots of these sizes, as a list."""
    draw = random.Random(seed)
    voters = [(draw.uniform(0.02, 0.2), draw.uniform(0.005, 0.05)) for _ in range(n_voters)]
    held = [[opinion(z, sigma, draw.gauss(0, 1)) for z in similarity] for sigma, _ in voters]
    items = list(range(len(similarity)))
    mean: dict[int, float] = {}
    for number, size in enumerate(sizes, start=1):
        items = sorted(items, key=lambda item: (mean.get(item, 0.0), draw.random()), reverse=True)[:size]
        votes: Votes = []
        for place, (i, j) in enumerate(comparisons(items, appearances, draw)):
            voter = place % n_voters
            votes.append((i, j, vote(held[voter][i], held[voter][j], voters[voter][1], draw)))
        mean |= averaged(borda(votes), mean, number)
    return [mean[item] for item in range(len(similarity))]


def opinion(z: float, sigma: float, eta: float) -> float:
    """Eq. 11 for relatedness."""
    return abs(max(-1.0, min(1.0, z + sigma * (1 - z * z) * eta)))


def vote(first: float, second: float, epsilon: float, draw: random.Random) -> float:
    """1 the first item, 0 the second, ½ a tie; with probability ε the other item."""
    if first == second:
        return 0.5
    return float((first > second) != (draw.random() < epsilon))


def comparisons(items: Sequence[int], appearances: int, draw: random.Random) -> list[tuple[int, int]]:
    """Each item M times, in random order. Faulty comparisons (an item with itself, the same two again while there are
    others) are switched with random ones.
    """
    ends = [item for item in items for _ in range(appearances)]
    if len(ends) % 2:
        ends.append(draw.choice(items))
    draw.shuffle(ends)
    pairs = list(zip(ends[::2], ends[1::2], strict=True))
    most = math.ceil(2 * len(pairs) / (len(items) * (len(items) - 1)))
    met: dict[frozenset[int], int] = {}
    for pair in pairs:
        met[frozenset(pair)] = met.get(frozenset(pair), 0) + 1
    for _ in range(20):
        faulty = [at for at, pair in enumerate(pairs) if pair[0] == pair[1] or met[frozenset(pair)] > most]
        for at in faulty:
            switch(pairs, met, at, draw.randrange(len(pairs)), most)
    return pairs


def switch(pairs: list[tuple[int, int]], met: dict[frozenset[int], int], at: int, other: int, most: int) -> None:
    """Exchange the second items of two comparisons, if that leaves two sound ones."""
    (p, q), (r, s) = pairs[at], pairs[other]
    one, two = frozenset((p, s)), frozenset((r, q))
    if at == other or p == s or r == q or one == two or met.get(one, 0) >= most or met.get(two, 0) >= most:
        return
    for gone, new, place, pair in ((pairs[at], one, at, (p, s)), (pairs[other], two, other, (r, q))):
        met[frozenset(gone)] -= 1
        met[new] = met.get(new, 0) + 1
        pairs[place] = pair


def borda(votes: Votes) -> dict[int, float]:
    """Eq. 1: points over times presented."""
    points: dict[int, float] = {}
    times: dict[int, int] = {}
    for i, j, outcome in votes:
        points[i] = points.get(i, 0.0) + outcome
        points[j] = points.get(j, 0.0) + 1 - outcome
        times[i] = times.get(i, 0) + 1
        times[j] = times.get(j, 0) + 1
    return {item: points[item] / times[item] for item in points}


def averaged(x: dict[int, float], mean: dict[int, float], number: int) -> dict[int, float]:
    """Eqs. 5 and 6: ȳ after ballot `number`."""
    if number == 1:
        return x
    slope = sum((1 - x[i]) * (1 - mean[i]) for i in x) / sum((1 - x[i]) ** 2 for i in x)
    return {i: ((number - 1) * mean[i] + 1 - slope + slope * x[i]) / number for i in x}
