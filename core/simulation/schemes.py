"""Ways to ask compared at equal cost (comparisons, ratings, best–worst tuples and target groups on the same voters),
side by side as mean accuracies over many panels that have the same time.

Every scheme asks voters of one panel, who hold opinions o (`core.voters.model`), for as long as the seconds last;
generators of the same seed give all schemes the same voters with the same opinions. Whoever doesn't look
(`core.voters.model`) answers as if opinions were drawn evenly from 0 to 1:

* **comparisons** by a protocol of `conventions` (uniform, paper, runoff), with the plan that the time pays for;
* **ratings**: each item as often as the time allows, by one voter after another. A rating is o^g, with log g ~
  N(0, .3) of the voter, cut at the voter's own points, which lie evenly but for normal shifts of a quarter of their
  distance; with probability ε any value of the scale. An item's score is its mean rating;
* **best–worst**: tuples of four; the extremes of the opinions, each with probability ε another item. Scores by
  Bradley–Terry. With rounds only the share α with the highest scores goes on, and neighbours meet;
* **target groups**, where items are pairs of tokens: up to six items of each token are put into order, neighbours
  changing places with probability ε. Orders say nothing across targets: there is no ranking of all items.

What people take for a judgement is an assumption until it is measured: seconds = read · items shown + decide · choices.
We know of no source that times all of them on the same items. A trial on the plan page does, for comparisons.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .. import metrics
from ..errors import InputError, PlanError, UndefinedMetricError
from ..plan import Plan
from ..plan.campaign_plan import n_kept
from ..protocols import PROTOCOLS, protocol_of
from ..protocols.runoff import TOLERANCE
from ..questions.best_worst.kind import choose_extremes
from ..questions.best_worst.tuples import SIZE, BestWorst, draw_tuples, next_round
from ..questions.order.kind import put_in_order
from ..questions.rating.kind import SHIFT, STRETCH, rate
from ..scores.bradley_terry import RIDGE, fit_bradley_terry
from ..tables import Floats, Ints
from ..voters.model import PAPER_PANEL, Panel, VoterKind, Voters, checked_similarity, draw_panel
from .campaign import UNDEFINED, Accuracy, Crowd, accuracy_between, simulate_campaign
from .conventions import PAPER
from .similarities import plan_within
from .table2 import Spread

GROUPS = "target groups"
OTHERS = ("ratings", "best-worst", "best-worst rounds", GROUPS)  # than comparisons
POINTS = 11  # values of the rating scale
MOST = 6  # words of a target that are put into order


@dataclass(frozen=True)
class Times:
    """Seconds it takes to `read` an item, to `decide` once. Raises `InputError` unless both are above 0."""

    read: float = 3.0
    decide: float = 3.0

    def __post_init__(self) -> None:
        if not (0 < self.read < np.inf and 0 < self.decide < np.inf):
            raise InputError("The seconds to read an item and to decide must be above 0.")

    def of(self, scheme: str, size: float = MOST) -> float:
        """Seconds of one judgement: a comparison, a rating, a tuple's two choices, or `size` words put into order."""
        if scheme == GROUPS:
            return size * self.read + size * self.decide
        items, choices = {"ratings": (1, 1), "best-worst": (SIZE, 2), "best-worst rounds": (SIZE, 2)}.get(
            scheme, (2, 1)
        )
        return items * self.read + choices * self.decide


@dataclass(frozen=True)
class SchemeRun:
    """A scheme on one panel.

    accuracy : of the ranking of all items, NaN where undefined; within : mean Spearman's ρ with the truth within
    targets, NaN where items belong to none. n_judgements were asked, which take `seconds`.
    """

    scheme: str
    accuracy: Accuracy
    within: float
    n_judgements: int
    seconds: float


@dataclass(frozen=True)
class SchemeSetting:
    """What all schemes are asked: z of the items, whose groups (item positions) can be put into order, and the time.

    ballots, keep : of the adaptive schemes; fewer ballots where the items or the time don't last.
    stretch : spread of log g between voters; shift : of the cut points, in parts of their distance; both from 0 on.
    """

    similarity: Floats
    groups: tuple[tuple[int, ...], ...]
    seconds: float
    times: Times = Times()
    ballots: int = 7
    keep: float = 0.5
    stretch: float = STRETCH
    shift: float = SHIFT

    def __post_init__(self) -> None:
        object.__setattr__(self, "similarity", checked_similarity(self.similarity))
        if not (0 <= self.stretch < np.inf and 0 <= self.shift < np.inf):
            raise InputError("How far voters' scales and cut points differ is a number, 0 or more.")
        if len(self.similarity) < SIZE:
            raise InputError(f"Schemes are compared over at least {SIZE} items, found {len(self.similarity)}.")

    @property
    def truth(self) -> Floats:
        """|z|, which the items should be ranked by."""
        return np.abs(self.similarity)

    def affordable(self, scheme: str) -> int:
        """How many judgements the time pays for; of target groups, of their mean size."""
        size = float(np.mean([len(group) for group in self.groups])) if self.groups else MOST
        return int(self.seconds / self.times.of(scheme, size))


def groups_of_tokens(a: Sequence[str], b: Sequence[str], *, rng: np.random.Generator) -> tuple[tuple[int, ...], ...]:
    """Up to `MOST` items of each token, drawn, as positions; tokens with fewer than two items have no group."""
    of_token: dict[str, list[int]] = {}
    for position, pair in enumerate(zip(a, b, strict=True)):
        for token in pair:
            of_token.setdefault(token, []).append(position)
    drawn = [rng.permutation(positions)[:MOST].tolist() for positions in of_token.values() if len(positions) > 1]
    return tuple(tuple(positions) for positions in drawn)


def all_schemes() -> tuple[str, ...]:
    """The schemes: comparisons by each protocol, and the others."""
    return (*PROTOCOLS, *OTHERS)


def simulate_scheme(
    question: SchemeSetting, scheme: str, *, rng: np.random.Generator, panel: Panel | Voters = PAPER_PANEL
) -> SchemeRun:
    """One simulated campaign by one of `schemes()`; voters judge relatedness.

    Raises `InputError` for another scheme, or where the time doesn't pay for one judgement of each item.
    """
    if scheme not in all_schemes():
        raise InputError(f"The scheme must be one of {', '.join(all_schemes())}, found {scheme!r}.")
    n = question.affordable(scheme)
    if scheme in PROTOCOLS:
        plan = affordable_plan(question, scheme)
        campaign = simulate_campaign(question.similarity, plan, protocol=scheme, rng=rng, panel=panel)
        return _run(question, scheme, campaign.scores, campaign.n_comparisons)
    voters = draw_panel(panel, rng) if isinstance(panel, Panel) else panel
    opinion = Crowd(question.similarity, voters, "relatedness", PAPER, rng).opinions
    if scheme == "ratings":
        return _run(question, scheme, _rated(question, opinion, voters, n, rng), n)
    if scheme == GROUPS:
        return _grouped(question, opinion, voters, rng)
    rounds = question.ballots if scheme.endswith("rounds") else 1
    scores, n_asked = _best_worst(opinion, voters, n, _sizes(len(question.truth), rounds, question.keep), rng)
    return _run(question, scheme, scores, n_asked)


def affordable_plan(question: SchemeSetting, protocol: str) -> Plan:
    """The plan that spends the time on comparisons; fewer ballots where they aren't all paid for.

    Raises `InputError` where the time doesn't pay for two appearances of each item.
    """
    n_items, n = len(question.truth), question.affordable(protocol)
    asked = protocol_of(protocol)
    if asked.about.one_ballot and 2 * n >= n_items:
        return Plan(n_items, 1, question.keep, 2 * n // n_items)
    for n_ballots in range(question.ballots, 0, -1):
        try:
            make = asked.plan_within if asked.about.own_appearances else plan_within
            return make(n_items, n_ballots, question.keep, n)
        except PlanError:
            continue
    raise InputError(f"The time pays for {n} comparisons, fewer than two appearances of each of {n_items} items take.")


def _run(question: SchemeSetting, scheme: str, scores: Floats, n: int) -> SchemeRun:
    truth = question.truth
    try:
        accuracy = accuracy_between(scores, truth)
    except UndefinedMetricError:
        accuracy = UNDEFINED
    return SchemeRun(scheme, accuracy, _within(question, scores), n, n * question.times.of(scheme))


def _within(question: SchemeSetting, scores: Floats) -> float:
    found = []
    for group in question.groups:
        try:
            found.append(metrics.spearman(scores[list(group)], question.truth[list(group)]))
        except UndefinedMetricError:
            continue
    return float(np.mean(found)) if found else float("nan")


def _held(opinion: Floats, voter: Ints, voters: Voters, rng: np.random.Generator) -> Floats:
    """The opinions that judgements go by, a row (or number) each: those of voters who don't look are drawn."""
    if voters.kind is None:
        return opinion
    kind = voters.kind[voter]
    away = (kind == VoterKind.INATTENTIVE) & (rng.random(len(voter)) < voters.inattention)
    away |= (kind == VoterKind.RANDOM_CLICKER) | (kind == VoterKind.ALWAYS_LEFT)
    drawn = rng.random(opinion.shape)
    return np.asarray(np.where(away.reshape(-1, *[1] * (opinion.ndim - 1)), drawn, opinion))


def _rated(question: SchemeSetting, opinion: Floats, voters: Voters, n: int, rng: np.random.Generator) -> Floats:
    n_voters, n_items = opinion.shape
    if n < n_items:
        raise InputError(f"The time pays for {n} ratings, and there are {n_items} items.")
    stretch = np.exp(question.stretch * rng.standard_normal(n_voters))
    even = np.arange(1, POINTS) / POINTS
    cuts = np.sort(even + question.shift / POINTS * rng.standard_normal((n_voters, POINTS - 1)), axis=1)
    item = np.concatenate([rng.permutation(n_items) for _ in range(-(-n // n_items))])[:n]
    voter = assign_in_turn(item, n_voters, n_items, rng)
    held = _held(opinion[voter, item], voter, voters, rng)
    given = rate(held, stretch[voter], cuts[voter], voters.oversight[voter], rng)
    return np.asarray(np.bincount(item, given, n_items) / np.bincount(item, minlength=n_items))


def _grouped(question: SchemeSetting, opinion: Floats, voters: Voters, rng: np.random.Generator) -> SchemeRun:
    n_groups = len(question.groups)
    if not n_groups:
        return SchemeRun(GROUPS, UNDEFINED, float("nan"), 0, 0.0)
    each = np.array([question.times.of(GROUPS, len(group)) for group in question.groups])
    rounds = int(question.seconds // each.sum()) + 1
    which = np.concatenate([rng.permutation(n_groups) for _ in range(rounds)])
    which = which[np.cumsum(each[which]) <= question.seconds]  # larger groups take longer
    if len(which) < n_groups:
        raise InputError(f"The time pays for {len(which)} orders, and there are {n_groups} targets.")
    voter = assign_in_turn(which, len(voters), n_groups, rng)
    found, seconds = [], 0.0
    for number, group in enumerate(question.groups):
        asked = voter[which == number]
        held = _held(opinion[asked][:, list(group)], asked, voters, rng)
        places = put_in_order(held, voters.oversight[asked], rng)
        seconds += len(asked) * question.times.of(GROUPS, len(group))
        try:
            found.append(metrics.spearman(-places.mean(axis=0), question.truth[list(group)]))
        except UndefinedMetricError:
            continue
    within = float(np.mean(found)) if found else float("nan")
    return SchemeRun(GROUPS, UNDEFINED, within, len(which), seconds)


def assign_in_turn(item: Ints, n_voters: int, n_items: int, rng: np.random.Generator) -> Ints:
    """Who judges each item, (n,): nobody judges an item twice before everybody did. Items are 0…n_items−1."""
    order = np.argsort(item, kind="stable")
    counts = np.bincount(item, minlength=n_items)
    turn = np.empty(len(item), dtype=np.int64)
    turn[order] = np.arange(len(item)) - np.repeat(np.cumsum(counts) - counts, counts)
    start, name = rng.integers(0, n_voters, n_items), rng.permutation(n_voters)
    return np.asarray(name[(start[item] + turn) % n_voters])


def _sizes(n_items: int, rounds: int, keep: float) -> list[int]:
    sizes = [n_items]
    while len(sizes) < rounds and n_kept(sizes[-1], keep) >= 2 * SIZE:
        sizes.append(n_kept(sizes[-1], keep))
    return sizes


def _best_worst(
    opinion: Floats, voters: Voters, n: int, sizes: list[int], rng: np.random.Generator
) -> tuple[Floats, int]:
    n_items, each = opinion.shape[1], n * SIZE // sum(sizes)
    while sum(-(-size * each // SIZE) for size in sizes) > n:  # a round's last tuple is made whole
        each -= 1
    if each < 1:
        raise InputError(f"The time pays for {n} tuples, which don't show each of {n_items} items once.")
    parts: list[tuple[Ints, Ints, Ints]] = []
    scores = np.zeros(n_items)
    for number, size in enumerate(sizes):
        shown = next_round(scores, size, each, rng=rng) if number else draw_tuples(np.arange(size), each, rng=rng)
        voter = rng.permutation(len(shown)) % len(voters)
        held = _held(opinion[voter[:, None], shown], voter, voters, rng)
        best, worst = choose_extremes(held, voters.oversight[voter], rng)
        parts.append((shown, best, worst))
        answers = BestWorst(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        winner, loser, _ = answers.implied()
        fit = fit_bradley_terry(
            winner,
            loser,
            np.ones(len(winner)),
            n_items=n_items,
            lapse=None,
            ridge=RIDGE,
            by_part=True,
            tolerance=TOLERANCE,
        )
        scores = np.asarray(np.nan_to_num(fit.theta))
    return scores, len(answers.shown)


FIGURES = ("rho_w", "tau_w", "rho", "tau", "within")


@dataclass(frozen=True)
class SchemeRow:
    """A scheme over `simulations` panels; a figure is NaN where no panel gave one. Hours and judgements are means.

    `reason` says why there are no figures where the time doesn't pay for the scheme.
    """

    scheme: str
    simulations: int
    n_judgements: float
    hours: float
    rho_w: Spread
    tau_w: Spread
    rho: Spread
    tau: Spread
    within: Spread
    reason: str = ""


def compare_schemes(
    question: SchemeSetting,
    *,
    simulations: int,
    seed: int,
    schemes: Sequence[str] | None = None,
    panel: Panel | Voters = PAPER_PANEL,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> list[SchemeRow]:
    """A row for each scheme, in the order given, of default all; panel s of every scheme is seeded with (seed, s).

    progress : called with runs done and wanted; stop : asked after each run, True ends with the rows that are whole.
    Raises `InputError` for an unknown scheme, fewer than one simulation, or a seed below 0. A scheme that the time
    doesn't pay for has a row without figures.
    """
    schemes = all_schemes() if schemes is None else schemes
    unknown = [scheme for scheme in schemes if scheme not in all_schemes()]
    if unknown or simulations < 1 or seed < 0:
        raise InputError(
            f"Schemes are {', '.join(all_schemes())}; simulations are at least 1, the seed is 0 or more. "
            f"Found {', '.join(unknown) or 'those'}, {simulations}, {seed}."
        )
    rows: list[SchemeRow] = []
    for place, scheme in enumerate(schemes):
        runs: list[SchemeRun] = []
        try:
            for number in range(simulations):
                rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
                runs.append(simulate_scheme(question, scheme, rng=rng, panel=panel))
                if progress is not None:
                    progress(place * simulations + number + 1, len(schemes) * simulations)
                if stop is not None and stop():
                    return rows
        except InputError as error:
            rows.append(_row(scheme, [], str(error)))
            continue
        rows.append(_row(scheme, runs))
    return rows


def _row(scheme: str, runs: Sequence[SchemeRun], reason: str = "") -> SchemeRow:
    table = np.array([[*run.accuracy, run.within] for run in runs]).reshape(len(runs), len(FIGURES))
    judgements = float(np.mean([run.n_judgements for run in runs])) if runs else 0.0
    hours = float(np.mean([run.seconds for run in runs])) / 3600 if runs else 0.0
    figures = {name: _spread(column) for name, column in zip(FIGURES, table.T, strict=True)}
    return SchemeRow(scheme, len(runs), judgements, hours, reason=reason, **figures)


def _spread(values: np.ndarray) -> Spread:
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if len(known) else float("nan")
    return Spread(mean, float(known.std(ddof=1)) if len(known) > 1 else float("nan"))
