"""The conventions by which a simulation can go, each with its protocols: the paper's text, or the released code.

Plans are compared by a third: the paper's text, with each protocol's quick way (`Protocol.quick`).

From the authors' released code came their Table 2. It differs from the paper's text in eight points, which
docs/method.md lists with their effect. Whatever isn't among them follows the paper. Where M·N is odd one item appears M
+ 1 times, as in the paper's footnote 6.

Reference: Lombardo et al. (2020), EMNLP, section 4.2 and the code it links.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError
from ..plan import Plan
from ..protocols import PROTOCOLS, Protocol
from ..protocols.base import Held, Mode, Sampler, Scored, SelectedItems, Votes
from ..protocols.paper import Paper, Uniform, borda_of, scored, standing
from ..scores.borda import VotesOf, on_first_scale, rescaling_slope
from ..tables import Floats, Ints
from ..voters.model import decide, exponential, power_law


def released_amplitude(z: Floats) -> Floats:
    """σ_v(z)/σ* of point 1: z·(1 − z) in place of 1 − z²; nobody differs about unrelated tokens.

    >>> released_amplitude(np.array([-1.0, 0.0, 0.5, 1.0])).tolist()
    [-2.0, 0.0, 0.25, 0.0]
    """
    return z * (1.0 - z)


def released_exponential(n: int) -> Floats:
    """Point 2: as `core.voters.model.exponential`, but i runs from 0 to n − 1."""
    return 2.0 * np.exp(-np.arange(n) / n) - 1.0


def released_power_law(n: int) -> Floats:
    """Point 2: z_i = 2/(1 + i/n) − 1, without a root, i from 0 to n − 1."""
    return 2.0 / (1.0 + np.arange(n) / n) - 1.0


def released_decide(first: Floats, second: Floats, oversight: Floats, rng: np.random.Generator) -> Floats:
    """Point 5: no ties. Equal opinions go to the first item; only then, with probability ε, the other is named."""
    return ((first >= second) ^ (rng.random(len(first)) < oversight)).astype(np.float64)


def released_assign(n_comparisons: int, n_voters: int, rng: np.random.Generator) -> Ints:
    """Point 6: each voter ⌊n_comparisons / n_voters⌋ votes, the rest drawn with replacement, all in random order."""
    rest = n_comparisons % n_voters
    voter = np.concatenate(
        (np.repeat(np.arange(n_voters), n_comparisons // n_voters), rng.integers(n_voters, size=rest))
    )
    return rng.permutation(voter)


def greedy_comparisons(items: Ints, n_comparisons: int, rng: np.random.Generator) -> Ints:
    """Point 6: always the two items with the most appearances left, ties at random; shape (n_comparisons, 2).

    So the items are paired off in rounds, in an order drawn anew for each. An odd one out opens the next round. Two
    items may meet again.
    """
    rounds: list[Ints] = []
    n_left = n_comparisons
    last = items[:0]  # the odd one out of the round before
    while n_left > 0:
        if len(last):
            others = rng.permutation(items[items != last[0]])
            order = np.concatenate((last, others[:1], rng.permutation(np.concatenate((others[1:], last)))))
        else:
            order = rng.permutation(items)
        n_pairs = min(len(order) // 2, n_left)
        rounds.append(order[: 2 * n_pairs].reshape(-1, 2))
        last = order[2 * n_pairs :]
        n_left -= n_pairs
    return np.concatenate(rounds)


def released_rankings(scores: Floats, truth: Floats, order: Ints) -> tuple[Floats, Floats]:
    """Point 7: the two vectors that are compared as if both were ranks, turned so that higher is better.

    The first has at place i the rank of item i by its truth (ties: the higher item number first). The second has at
    place i the *number of the item* that stands at rank i by the scores, which is the inverse of a ranking. Equal
    scores stay in `order`, that in which the items first appeared.

    >>> [(-v).tolist() for v in released_rankings(np.array([0.2, 0.9, 0.5]), np.array([3.0, 2.0, 1.0]), np.arange(3))]
    [[1.0, 2.0, 3.0], [2.0, 3.0, 1.0]]
    """
    numbers = np.arange(len(truth))
    rank = np.empty(len(truth))
    rank[np.lexsort((-numbers, -truth))] = numbers + 1.0
    standing_there = np.empty(len(truth))
    standing_there[:] = order[np.argsort(-scores[order], kind="stable")] + 1
    return -rank, -standing_there


class Released(Paper):
    """The released code's adaptive protocol: points 3, 4 and 6. Items of a ballot stand as they first appeared."""

    def draw(self, items: Ints, n: int, held: Sequence[Held], rng: np.random.Generator, sampler: Sampler) -> Ints:
        """See `greedy_comparisons`."""
        return greedy_comparisons(items, n, rng)

    def score(self, votes: VotesOf, held: Sequence[Held], mode: Mode = Mode.FINAL) -> Scored:
        """Point 3: ȳ(k) = ((k − 2)·ȳ(k − 1) + y)/(k − 1) from ballot 2 on, so that ballot 1 drops out there."""
        presented = np.column_stack((votes.first, votes.second)).ravel()
        items = presented[np.sort(np.unique(presented, return_index=True)[1])]
        votes = Votes(items, votes.first, votes.second, votes.outcome, votes.voter)
        x, times = borda_of(votes)
        if not held:
            return scored(votes, x, x, x, np.ones(len(x), dtype=np.int64), times)
        before = standing(self.scored(held, mode))[0][items]
        slope, k = rescaling_slope(x, before), len(held) + 1
        y = on_first_scale(x, slope)
        mean = ((k - 2) * before + y) / (k - 1)
        return scored(votes, x, y, mean, np.full(len(x), k - 1), times, float(slope))

    def select(self, held: Sequence[Held], n: int, rng: np.random.Generator) -> SelectedItems:
        """Point 4: the top by x of the last ballot; equal ones as they first appeared."""
        scores = self.last_scores(held)
        top = np.argsort(-scores.columns["x"], kind="stable")[:n]
        return SelectedItems(scores.items[top], scores.columns["x"][top], 0, 0)


class ReleasedUniform(Released):
    """Point 8: every item M·(1 − α^n_b)/(1 − α) times, rounded (halves to even); a few more than the plan's votes."""

    name = Uniform.name
    about = Uniform.about

    def sizes(self, plan: Plan) -> Sequence[tuple[int, int]]:
        """One, of all items."""
        appearances = round(sum(m * plan.keep**k for k, m in enumerate(plan.appearances_by_ballot)))
        return [(plan.n_items, -(-appearances * plan.n_items // 2))]


Decide = Callable[[Floats, Floats, Floats, np.random.Generator], Floats]


@dataclass(frozen=True)
class Convention:
    """What a simulation can be done in several ways.

    amplitude : σ_v(z)/σ* of each item, from z.
    distributions : the underlying similarities by name, each made for a number of items.
    decide : votes from two opinions and ε, as in `core.voters.model.decide`.
    assign : who answers which comparison, from the numbers of comparisons and voters.
    rankings : from scores, truth and the order of the first ballot's items, the two vectors that the metrics compare.
    protocols : those there are, by name.
    quick : each goes its quick way (`Protocol.quick`).
    """

    name: str
    amplitude: Callable[[Floats], Floats]
    distributions: Mapping[str, Callable[[int], Floats]]
    decide: Decide
    assign: Callable[[int, int, np.random.Generator], Ints]
    rankings: Callable[[Floats, Floats, Ints], tuple[Floats, Floats]]
    protocols: Mapping[str, Protocol]
    quick: bool = False


def _assign_evenly(n_comparisons: int, n_voters: int, rng: np.random.Generator) -> Ints:
    """Equally many each within one; the rows of a drawn ballot are in random order already."""
    return np.resize(rng.permutation(n_voters), n_comparisons)


PAPER = Convention(
    name="paper",
    amplitude=lambda z: 1.0 - z * z,
    distributions={"exponential": exponential, "power_law": power_law},
    decide=decide,
    assign=_assign_evenly,
    rankings=lambda scores, truth, order: (scores, truth),
    protocols=PROTOCOLS,
)
RELEASED = Convention(
    name="released",
    amplitude=released_amplitude,
    distributions={"exponential": released_exponential, "power_law": released_power_law},
    decide=released_decide,
    assign=released_assign,
    rankings=released_rankings,
    protocols={protocol.name: protocol for protocol in (ReleasedUniform(), Released())},
)
PLANNING = replace(PAPER, name="planning", quick=True)
CONVENTIONS = {convention.name: convention for convention in (PAPER, RELEASED, PLANNING)}


def convention_of(name: str) -> Convention:
    """The convention of this name, or `InputError`."""
    if name not in CONVENTIONS:
        raise InputError(f"The convention must be {_either(CONVENTIONS)}, found {name!r}.")
    return CONVENTIONS[name]


def method_of(convention: Convention, protocol: str) -> Protocol:
    """The protocol of this name under a convention, or `InputError`."""
    if protocol not in convention.protocols:
        raise InputError(
            f"Under the convention {convention.name!r} the protocol must be {_either(convention.protocols)}, "
            f"found {protocol!r}."
        )
    method = convention.protocols[protocol]
    return method.quick() if convention.quick else method


def _either(names: Mapping[str, object]) -> str:
    return " or ".join(repr(name) for name in names)
