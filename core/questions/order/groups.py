"""Target groups: a target word, the words people order by their similarity to it, and words known to lie below.

A group has *positives* (related to the target in the one way the dataset prefers), *distractors* (related in another
way) and *randoms* (not related). People judge positives only: R>(w1, w2; wt) is the share of them that put w1 above w2.
Every positive lies above every distractor and random by definition, R = 1, and is never shown against one.

A model's answer to a comparison is δ = 1 where sim(wt, w1) > sim(wt, w2), else −1, and s = δ·(2R − 1):

    score = Σ max(s, 0) / Σ |s|

Each two words are stored once, with R ≥ ½ first: with R < ½ first, a model that can't tell two words apart (δ = −1)
would earn what the majority deserves. 0 is a model that is wrong everywhere, 1 one that is right everywhere.

Groups may be proposed by an embedding and an area's tokens, for people to edit. Of a target, positives are then the
nearest other tokens of its area, distractors the nearest words of the embedding outside the area, randoms tokens of
other areas, or, where there are too few, frequent words of the embedding. An embedding that proposes its own test is
favoured by it (as with proposed tokens, §2.2): edit the groups, and don't rank that embedding by them unedited.

Reference: Avraham, Goldberg (2016), Improving Reliability of Word Similarity Evaluation by Redesigning Annotation Task
and Performance Measure, RepEval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd

from ...embeddings import Embedding
from ...errors import InputError, UndefinedMetricError
from ...metrics import rounded_scores, spearman

Kind = Literal["positive", "distractor", "random"]
KINDS: tuple[Kind, ...] = ("positive", "distractor", "random")
Similarity = Callable[[Sequence[str], Sequence[str]], np.ndarray]  # of pairs, higher = more similar, NaN: unknown


@dataclass(frozen=True)
class TargetGroup:
    """A target and its words. Raises `InputError` for no positive, empty words, or a word that stands there twice."""

    target: str
    positives: tuple[str, ...]
    distractors: tuple[str, ...] = ()
    randoms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        words = [self.target, *self.words]
        if not all(word.strip() for word in words):
            raise InputError(f"The group of {self.target!r} has an empty word.")
        twice = sorted({word for word in words if words.count(word) > 1})
        if twice:
            raise InputError(f"The group of {self.target!r} has words more than once: {', '.join(twice)}.")
        if not self.positives:
            raise InputError(f"The group of {self.target!r} has no positive: there is nothing to order.")

    @property
    def words(self) -> tuple[str, ...]:
        """All words but the target: positives, distractors, randoms."""
        return self.positives + self.distractors + self.randoms

    def of(self, kind: Kind) -> tuple[str, ...]:
        """The words of one kind."""
        return {"positive": self.positives, "distractor": self.distractors, "random": self.randoms}[kind]

    def pairs_to_judge(self) -> list[tuple[str, str]]:
        """Every two positives once, in the order of the group: what people are asked."""
        return list(combinations(self.positives, 2))


@dataclass(frozen=True)
class GroupComparison:
    """R>(first, second; target), ½ to 1: the share of people that put `first` above `second`.

    kind : of `second`, whether a positive, a distractor or a random; n : people behind it, None where not known, or
    where it holds by definition.
    """

    target: str
    first: str
    second: str
    kind: Kind
    r: float
    n: int | None = None

    def __post_init__(self) -> None:
        if not 0.5 <= self.r <= 1:
            raise InputError(
                f"R of {self.first!r} above {self.second!r} for {self.target!r} must be .5 to 1, found {self.r!r}: "
                "the word that more people put above stands first."
            )

    @property
    def weight(self) -> float:
        """|s| = 2R − 1, 0 to 1: what a right answer earns."""
        return 2 * self.r - 1


def compared(target: str, one: str, other: str, share: float, n: int | None = None) -> GroupComparison:
    """Two positives with the share (0 to 1) that put `one` above `other`, the preferred of them first.

    >>> compared("singer", "person", "musician", 0.1)
    GroupComparison(target='singer', first='musician', second='person', kind='positive', r=0.9, n=None)
    """
    if not 0 <= share <= 1:
        raise InputError(f"A share is 0 to 1, found {share!r} for {one!r} above {other!r} ({target!r}).")
    first, second = (one, other) if share >= 0.5 else (other, one)
    return GroupComparison(target, first, second, "positive", round(max(share, 1 - share), 12), n)


def by_definition(group: TargetGroup) -> list[GroupComparison]:
    """Every positive above every distractor and every random of its group, R = 1."""
    return [
        GroupComparison(group.target, first, second, kind, 1.0)
        for kind in KINDS[1:]
        for first in group.positives
        for second in group.of(kind)
    ]


def from_orders(group: TargetGroup, orders: Iterable[Mapping[str, float]]) -> list[GroupComparison]:
    """A group's comparisons from people's orders of its positives, with those that hold by definition.

    orders : for each person the place of each word they ordered, 1 = most similar, equal places a tie. A tie counts
    half; who left one of two words out says nothing of the two. Pairs that nobody ordered are left out.
    Raises `InputError` for words that are no positives of the group.
    """
    shares: dict[tuple[str, str], list[float]] = {pair: [] for pair in group.pairs_to_judge()}
    for places in orders:
        strange = sorted(set(places) - set(group.positives))
        if strange:
            raise InputError(f"{', '.join(strange)}: no positive of the group of {group.target!r}.")
        for (one, other), votes in shares.items():
            if one in places and other in places:
                votes.append(0.5 + 0.5 * float(np.sign(places[other] - places[one])))
    judged = [
        compared(group.target, one, other, sum(votes) / len(votes), len(votes))
        for (one, other), votes in shares.items()
        if votes
    ]
    return judged + by_definition(group)


def preference_table(words: Sequence[GroupComparison]) -> pd.DataFrame:
    """Every two positives with the share that prefers the first, target by target."""
    rows = [(c.target, c.first, c.second, c.r, c.n) for c in words if c.kind == "positive"]
    return pd.DataFrame(rows, columns=["target", "preferred", "other", "R", "people"])


@dataclass(frozen=True)
class GroupFigure:
    """A share of what could be earned, or None with the reason; over `n` comparisons worth `weight` in all.

    `n_missing` more have a word for which the model has no similarity.
    """

    value: float | None
    n: int
    weight: float
    n_missing: int = 0
    reason: str = ""


@dataclass(frozen=True)
class GroupScores:
    """How a model does, over all comparisons and by kind, with Spearman's ρ beside it.

    spearman : mean over targets of ρ between the model's and the people's order, unpreferred words last and tied;
    targets aren't compared with each other, that being what groups are for. `n_targets` of them have one.
    """

    overall: GroupFigure
    positive: GroupFigure
    distractor: GroupFigure
    random: GroupFigure
    spearman: float | None
    n_targets: int
    reason: str = ""

    def of(self, kind: Kind) -> GroupFigure:
        """The figure of one kind of comparison."""
        return {"positive": self.positive, "distractor": self.distractor, "random": self.random}[kind]


def score_groups(comparisons: Sequence[GroupComparison], similarity: Similarity) -> GroupScores:
    """Score a model on target groups.

    similarity : takes equally many first and second words, returns their similarities, NaN where one is missing.
    Equal similarities (`metrics.rounded_scores` of all of them) earn nothing. Comparisons with a missing word are left
    out and counted.

    >>> sims = {("singer", "musician"): 0.9, ("singer", "person"): 0.2, ("singer", "song"): 0.5}
    >>> def sim(a, b): return np.array([sims[pair] for pair in zip(a, b)])
    >>> found = score_groups([compared("singer", "person", "musician", 0.1),
    ...     GroupComparison("singer", "musician", "song", "distractor", 1.0),
    ...     GroupComparison("singer", "person", "song", "distractor", 1.0)], sim)
    >>> round(found.overall.value, 4), found.positive.value, found.distractor.value  # (.8 + 1) / (.8 + 1 + 1)
    (0.6429, 1.0, 0.5)
    """
    if not comparisons:
        raise UndefinedMetricError("There are no comparisons of target groups to score.")
    targets = [comparison.target for comparison in comparisons]
    sides = ([comparison.first for comparison in comparisons], [comparison.second for comparison in comparisons])
    first, second = rounded_scores([similarity(targets, words) for words in sides])
    weights = np.array([comparison.weight for comparison in comparisons])
    kinds = np.array([comparison.kind for comparison in comparisons])
    known = ~np.isnan(first) & ~np.isnan(second)
    right = np.greater(first, second, out=np.zeros(len(weights), dtype=bool), where=known)
    figure = partial(_figure, right, weights, known)
    correlations = _spearman_of_targets(comparisons, first, second)
    spearman = float(np.mean(correlations)) if correlations else None
    reason = "" if correlations else "no target has two words in an order that the model knows"
    return GroupScores(
        figure(np.ones(len(weights), dtype=bool), "all"),
        figure(kinds == "positive", "positive"),
        figure(kinds == "distractor", "distractor"),
        figure(kinds == "random", "random"),
        spearman,
        len(correlations),
        reason,
    )


_THERE_IS_NO = {
    "all": "there is no comparison",
    "positive": "there is no positive comparison",
    "distractor": "there is no distractor comparison",
    "random": "there is no random comparison",
}
_KNOWN_OF_NO = {
    "all": "the model knows the words of no comparison",
    "positive": "the model knows the words of no positive comparison",
    "distractor": "the model knows the words of no distractor comparison",
    "random": "the model knows the words of no random comparison",
}


def _figure(right: np.ndarray, weights: np.ndarray, known: np.ndarray, rows: np.ndarray, kind: str) -> GroupFigure:
    used = rows & known
    n, missing, total = int(used.sum()), int((rows & ~known).sum()), float(weights[used].sum())
    if not rows.any():
        return GroupFigure(None, 0, 0.0, 0, _THERE_IS_NO[kind])
    if not n:
        return GroupFigure(None, 0, 0.0, missing, _KNOWN_OF_NO[kind])
    if total == 0:
        return GroupFigure(None, n, 0.0, missing, "people were evenly divided on every one (Σ|s| = 0)")
    return GroupFigure(float(weights[used & right].sum() / total), n, total, missing)


def _spearman_of_targets(comparisons: Sequence[GroupComparison], first: np.ndarray, second: np.ndarray) -> list[float]:
    """Spearman's ρ of each target whose words the model knows at least two of, where it is defined."""
    by_target: dict[str, list[int]] = {}
    for row, comparison in enumerate(comparisons):
        by_target.setdefault(comparison.target, []).append(row)
    correlations = []
    for rows in by_target.values():
        of_people, of_model = _places(comparisons, rows, first, second)
        if len(of_people) < 2 or np.ptp(of_people) == 0 or np.ptp(of_model) == 0:
            continue
        correlations.append(spearman(of_people, of_model))
    return correlations


def _places(
    comparisons: Sequence[GroupComparison], rows: Sequence[int], first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each known word's mean share of wins over the positives (−1 for the unpreferred), and its similarity.

    A positive that nobody ordered has no place among those that somebody did, and is left out; where nobody ordered
    any, all stand above the unpreferred.
    """
    shares: dict[str, list[float]] = {}
    similarity: dict[str, float] = {}
    unpreferred: set[str] = set()
    for row in rows:
        comparison = comparisons[row]
        similarity[comparison.first], similarity[comparison.second] = float(first[row]), float(second[row])
        shares.setdefault(comparison.first, [])
        if comparison.kind == "positive":
            shares[comparison.first].append(comparison.r)
            shares.setdefault(comparison.second, []).append(1 - comparison.r)
        else:
            unpreferred.add(comparison.second)
    ordered = any(shares.values())
    gold = {word: float(np.mean(parts)) if parts else 1.0 for word, parts in shares.items() if parts or not ordered}
    gold |= dict.fromkeys(unpreferred, -1.0)
    known = [word for word in gold if not np.isnan(similarity[word])]
    of_people = rounded_scores([gold[word] for word in known], largest=1)
    return np.asarray(of_people), np.array([similarity[word] for word in known])


FREQUENT = 10_000  # words from the beginning of a vocabulary, which is sorted by frequency as a rule


def draw_groups(
    embedding: Embedding,
    tokens: Sequence[str],
    *,
    targets: Sequence[str] | None = None,
    others: Sequence[str] = (),
    sizes: tuple[int, int, int] = (6, 3, 3),
    rng: np.random.Generator,
) -> tuple[list[TargetGroup], list[str]]:
    """Groups of the targets (all tokens of the area by default) with up to so many positives, distractors, randoms.

    tokens : of the area; others : of other areas, for randoms. Returns the groups and the targets without one: those
    that the embedding lacks, or whose area has no other token that it knows. Words with a comma are passed over, as
    the files can't hold them. Raises `InputError` for fewer than one positive, or a table of similarities.
    """
    n_positives, n_distractors, n_randoms = sizes
    if n_positives < 1 or min(sizes) < 0:
        raise InputError("A group needs at least one positive; distractors and randoms can be none.")
    if embedding.kind != "vectors":
        raise InputError(f"{embedding.name} gives similarities of pairs; it has no words to propose.")
    area = [token for token in dict.fromkeys(tokens) if _fits(token)]
    strange = sorted(set(targets or ()) - set(area))
    if strange:
        raise InputError(f"{', '.join(strange)}: no token of the area, or one with a comma.")
    reserve = [token for token in dict.fromkeys(others) if _fits(token)]
    frequent = [word for word in embedding.vocabulary.slice(0, FREQUENT).to_pylist() if word.isalpha()]
    groups, without = [], []
    for target in targets or area:
        positives = _nearest(embedding, target, area, n_positives)
        if not positives:
            without.append(target)
            continue
        used = {_key(word) for word in (*area, target)}
        distractors = _outside(embedding, target, used, n_distractors)
        used |= {_key(word) for word in distractors}
        randoms: list[str] = []
        for source in (reserve, frequent):
            free = list({_key(word): word for word in source if _key(word) not in used}.values())
            want = min(n_randoms - len(randoms), len(free))
            drawn = [free[at] for at in rng.permutation(len(free))[:want].tolist()]
            randoms += drawn
            used |= {_key(word) for word in drawn}
        groups.append(TargetGroup(target, tuple(positives), tuple(distractors), tuple(randoms)))
    return groups, without


def _fits(word: str) -> bool:
    return "," not in word and bool(word.strip())


def _key(word: str) -> str:
    return word.replace("_", " ").casefold()


def _nearest(embedding: Embedding, target: str, area: Sequence[str], n: int) -> list[str]:
    """The nearest tokens of the area, ties in the area's order."""
    rest = [token for token in area if _key(token) != _key(target)]
    cosines = embedding.cosines([target] * len(rest), rest) if rest else np.array([])
    order = np.argsort(-cosines, kind="stable")
    return [rest[at] for at in order.tolist() if not np.isnan(cosines[at])][:n]


def _outside(embedding: Embedding, target: str, taken: set[str], n: int) -> list[str]:
    """The nearest words outside the area."""
    if not n:
        return []
    near = embedding.nearest(embedding.vectors([target])[0], len(taken) + 4 * n, leave_out=[target])
    words = {_key(word): word for word, _ in reversed(near) if _fits(word) and _key(word) not in taken}
    return list(reversed(list(words.values())))[:n]


def undecided(groups: Sequence[TargetGroup]) -> list[GroupComparison]:
    """The comparisons of groups that nobody judged yet: those that hold by definition.

    As a file they read back as the same groups where each has a distractor or a random; people's comparisons of
    positives (`pairs_to_judge`) are added to it.
    """
    return [comparison for group in groups for comparison in by_definition(group)]
