"""Kinds of question for the same time of the same people: comparisons, ratings, best–worst tuples, target groups.

Every kind asks voters of one panel, who hold opinions o (`core.voters.model`); generators of the same seed give all
kinds the same voters with the same opinions. Whoever doesn't look answers as if opinions were drawn evenly from 0 to 1:

* **comparisons** by a plan and its protocol;
* **ratings**: each item as often as the time allows, by one voter after another. A rating is o^g, with log g ~
  N(0, .3) of the voter, cut at the voter's own points, which lie evenly but for normal shifts of a quarter of their
  distance; with probability ε any value of the scale. An item's score is its mean rating;
* **best–worst**: tuples of four; the extremes of the opinions, each with probability ε another item. Scores by
  Bradley–Terry. In rounds only the plan's share with the highest scores goes on, and neighbours meet;
* **target groups**, where items are pairs of tokens: up to six items of each token are put into order, neighbours
  changing places with probability ε. Orders say nothing across targets: there is no ranking of all items. As many
  groups as all pairs of tokens would give, their items drawn.

**What a judgement takes** is read · items shown + decide · decisions, and a decision holds one thing against another:
whoever picks one of k decides k − 1 times. So a comparison takes one decision and a rating one (an item against the
scale); a tuple of four takes five (three for the best, two for the worst of what is left), an order of six takes 15, as
the best of what is left is picked again and again. Counted so, every kind pays alike for what its answer tells, where a
count of answers (one for each thing named) would make a choice among four as cheap as one between two. People may see
the extremes at a glance: what tuples would give at two decisions is told beside. We know of no source that times all
kinds on the same items.

Which kind is ahead hangs on the two times only through the share of a comparison that is deciding, u = decide /
(2·read + decide): a judgement that shows s items and takes D decisions costs s·(1 − u)/2 + D·u comparisons. So each
kind is simulated at some shares, on the same panels as the plan's comparisons, and any two times are read off between
them, with the share at which two kinds are level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .. import metrics
from ..errors import InputError, UndefinedMetricError
from ..plan import Plan
from ..plan.campaign_plan import n_kept
from ..protocols.runoff import TOLERANCE
from ..questions.best_worst.kind import SIZE, BestWorst, choose_extremes, draw_tuples, next_round
from ..questions.order.kind import put_in_order
from ..questions.rating.kind import SHIFT, STRETCH, rate
from ..scores.bradley_terry import RIDGE, fit_bradley_terry
from ..tables import Floats, Ints
from ..voters.model import PAPER_PANEL, Panel, VoterKind, Voters, draw_panel
from .campaign import UNDEFINED, Crowd, accuracy_between, simulate_campaign
from .conventions import PAPER
from .forecast import Band, ForecastAssumptions, band
from .search import check_goal, judged

COMPARISONS, RATINGS, TUPLES, ROUNDS, GROUPS = (
    "comparisons", "ratings", "best-worst", "best-worst rounds", "target groups",
)  # fmt: skip
OTHERS = (RATINGS, TUPLES, ROUNDS, GROUPS)
FIGURES = ("rho_w", "tau_w", "rho", "within")
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # of a comparison's time that is deciding
POINTS = 11  # values of the rating scale
MOST = 6  # items of a target group
PANELS = 20
DRAWS, TAILS = 400, (0.05, 0.95)  # of the panels, for intervals
SURE = 2.0  # standard errors by which another kind must be ahead of comparisons to be recommended
AT_A_GLANCE = 2  # decisions of a tuple at least: it costs two comparisons then, whatever the two times are
ACROSS = "Orders compare no items of different targets: all they give is ρ within targets."
NOT_ALWAYS = "ρ_w or τ_w isn't defined in every simulated campaign."


@dataclass(frozen=True)
class Times:
    """Seconds it takes to `read` an item, to `decide` once. Raises `InputError` unless both are above 0.

    >>> Times(2, 4).share
    0.5
    """

    read: float = 3.0
    decide: float = 3.0

    def __post_init__(self) -> None:
        if not (0 < self.read < np.inf and 0 < self.decide < np.inf):
            raise InputError(f"Seconds to read and to decide are above 0; found {self.read:g} and {self.decide:g}.")

    @property
    def share(self) -> float:
        """Of a comparison's time that is deciding, u in (0, 1)."""
        return self.decide / (2 * self.read + self.decide)


@dataclass(frozen=True)
class KindSetting:
    """What all kinds are asked: z of the items, shape (n_items,), for the time of `n_comparisons` comparisons.

    groups : item positions that are put into order, shape (n_groups, size); n_ballots, keep : of rounds, fewer where
    the items don't last. stretch : spread of log g between raters; shift : of their cut points, in parts of the
    distance; both from 0 on. Raises `InputError` for fewer than four items, or a spread below 0.
    """

    similarity: Floats
    groups: Ints
    n_comparisons: int
    n_ballots: int = 7
    keep: float = 0.5
    stretch: float = STRETCH
    shift: float = SHIFT

    def __post_init__(self) -> None:
        if not (0 <= self.stretch < np.inf and 0 <= self.shift < np.inf):
            raise InputError("How far voters' scales and cut points differ is a number, 0 or more.")
        if len(self.similarity) < SIZE:
            raise InputError(f"Kinds are compared over at least {SIZE} items, found {len(self.similarity)}.")


@dataclass(frozen=True)
class KindAtShares:
    """A kind on each panel. items, decisions : of a judgement; runs : at each of `SHARES`, for each panel, its figures
    in the order of `FIGURES`, NaN where undefined. Without runs, `reason` says why."""

    kind: str
    items: int
    decisions: int
    runs: tuple[tuple[tuple[float, ...], ...], ...] = ()
    reason: str = ""

    def cost(self, share: float) -> float:
        """What a judgement costs in comparisons, where `share` of a comparison's time is deciding."""
        return self.items * (1 - share) / 2 + self.decisions * share

    def at(self, figure: str, share: float) -> Floats:
        """A figure of each panel at a share, straight between the simulated ones; (panels,)."""
        rows = np.array(self.runs, dtype=np.float64)[:, :, FIGURES.index(figure)].T
        return np.array([np.interp(share, SHARES, row) for row in rows])

    def judged_at(self, goal: str, share: float) -> Floats:
        """What each panel is judged by at a share: ρ_w, τ_w or their mean; as `at`."""
        return judged(self.at("rho_w", share), self.at("tau_w", share), goal)


@dataclass(frozen=True)
class EqualTime:
    """All kinds on the same panels for the time of `n_comparisons` comparisons of `n_items` items, the plan's or fewer
    that stand for them. kinds : comparisons first."""

    n_items: int
    n_comparisons: int
    n_panels: int
    kinds: tuple[KindAtShares, ...]


@dataclass(frozen=True)
class KindAtTimes:
    """A kind at two times: seconds : of a judgement; ahead, error : what it is judged by less that of comparisons, the
    mean over panels and its standard error, 0 for comparisons. NaN where there are no figures, which `reason` says."""

    kind: str
    seconds: float
    n_judgements: float
    rho_w: Band
    tau_w: Band
    rho: Band
    within: Band
    ahead: float
    error: float
    reason: str


@dataclass(frozen=True)
class BreakEven:
    """Where a kind is level with comparisons in what they are judged by.

    cost : of a judgement, in comparisons, with its 90% interval over panels; ratio : of the time to read an item to
    that to decide, above which the kind is ahead. NaN where the kind is ahead whatever the two times are (`always`
    True), or behind (False).
    """

    kind: str
    cost: float
    lower: float
    upper: float
    ratio: float
    always: bool


@dataclass(frozen=True)
class Recommended:
    """The kinds at two times, the one that is recommended, and where others would be level with comparisons.

    at_a_glance : best–worst in rounds where a tuple takes two decisions, and so two comparisons; None without figures.
    """

    kind: str
    rows: tuple[KindAtTimes, ...]
    break_even: tuple[BreakEven, ...]
    at_a_glance: KindAtTimes | None


def decisions_of(n: int) -> int:
    """Decisions of putting n items into order: the best of what is left is picked again and again.

    >>> [decisions_of(n) for n in (2, 4, 6)]
    [1, 6, 15]
    """
    return n * (n - 1) // 2


def unasked(kind: str, group_size: int = MOST) -> KindAtShares:
    """A kind with what its judgements show and decide, and no runs. Raises `InputError` for another kind.

    >>> [(each.items, each.decisions, each.cost(1 / 3)) for each in map(unasked, (COMPARISONS, RATINGS, TUPLES))]
    [(2, 1, 1.0), (1, 1, 0.6666666666666667), (4, 5, 3.0)]
    """
    of_tuple = KindAtShares(kind, SIZE, (SIZE - 1) + (SIZE - 2))
    known = {
        COMPARISONS: KindAtShares(kind, 2, 1),
        RATINGS: KindAtShares(kind, 1, 1),
        TUPLES: of_tuple,
        ROUNDS: of_tuple,
        GROUPS: KindAtShares(kind, group_size, decisions_of(group_size)),
    }
    if kind not in known:
        raise InputError(f"The kind must be one of {', '.join(known)}, found {kind!r}.")
    return known[kind]


def groups_of_all_pairs(n_items: int, rng: np.random.Generator) -> Ints:
    """Target groups of items that are all pairs of some tokens: one a token, of up to `MOST` items drawn.

    Returns positions, shape (n_groups, size): as many groups as so many items take tokens, rounded down.
    """
    n_tokens = int((1 + math.sqrt(1 + 8 * n_items)) / 2)
    return np.array([rng.permutation(n_items)[: min(MOST, n_tokens - 1)] for _ in range(n_tokens)])


def simulate_kind(
    setting: KindSetting, kind: str, cost: float, *, rng: np.random.Generator, panel: Panel | Voters = PAPER_PANEL
) -> tuple[float, ...]:
    """One simulated campaign by one of `OTHERS` whose judgements cost so many comparisons; voters judge relatedness.

    Returns the `FIGURES`: ρ_w, τ_w, ρ of the ranking of all items, NaN where undefined; the mean ρ within the groups.
    Raises `InputError` for another kind, or where the time doesn't pay for one judgement of each item or group.
    """
    voters = draw_panel(panel, rng) if isinstance(panel, Panel) else panel
    opinion = Crowd(setting.similarity, voters, "relatedness", PAPER, rng).opinions
    truth, n = np.abs(setting.similarity), int(setting.n_comparisons / cost)
    if kind == GROUPS:
        return (np.nan, np.nan, np.nan, _ordered(setting.groups, truth, opinion, voters, n, rng))
    if kind == RATINGS:
        scores = _rated(setting, opinion, voters, n, rng)
    elif kind in (TUPLES, ROUNDS):
        n_rounds = setting.n_ballots if kind == ROUNDS else 1
        scores = _best_worst(opinion, voters, n, _sizes(len(truth), n_rounds, setting.keep), rng)
    else:
        raise InputError(f"The kind must be one of {', '.join(OTHERS)}, found {kind!r}.")
    return _figures(scores, truth, setting.groups)


def _figures(scores: Floats, truth: Floats, groups: Ints) -> tuple[float, ...]:
    try:
        accuracy = accuracy_between(scores, truth)
    except UndefinedMetricError:
        accuracy = UNDEFINED
    return (*accuracy[:3], _mean_within([(scores[group], truth[group]) for group in groups]))


def _mean_within(groups: Sequence[tuple[Floats, Floats]]) -> float:
    """Mean ρ of the groups in which it is defined, NaN without any."""
    correlations = []
    for scores, truth in groups:
        try:
            correlations.append(metrics.spearman(scores, truth))
        except UndefinedMetricError:
            continue
    return float(np.mean(correlations)) if correlations else np.nan


def _held(opinion: Floats, voter: Ints, voters: Voters, rng: np.random.Generator) -> Floats:
    """The opinions that judgements go by, a row (or number) each: those of voters who don't look are drawn."""
    if voters.kind is None:
        return opinion
    kind = voters.kind[voter]
    away = (kind == VoterKind.INATTENTIVE) & (rng.random(len(voter)) < voters.inattention)
    away |= (kind == VoterKind.RANDOM_CLICKER) | (kind == VoterKind.ALWAYS_LEFT)
    drawn = rng.random(opinion.shape)
    return np.asarray(np.where(away.reshape(-1, *[1] * (opinion.ndim - 1)), drawn, opinion))


def _rated(setting: KindSetting, opinion: Floats, voters: Voters, n: int, rng: np.random.Generator) -> Floats:
    n_voters, n_items = opinion.shape
    if n < n_items:
        raise InputError(f"The time pays for {n} ratings, and there are {n_items} items.")
    stretch = np.exp(setting.stretch * rng.standard_normal(n_voters))
    even = np.arange(1, POINTS) / POINTS
    cuts = np.sort(even + setting.shift / POINTS * rng.standard_normal((n_voters, POINTS - 1)), axis=1)
    item = np.concatenate([rng.permutation(n_items) for _ in range(-(-n // n_items))])[:n]
    voter = assign_in_turn(item, n_voters, n_items, rng)
    opinions_held = _held(opinion[voter, item], voter, voters, rng)
    ratings = rate(opinions_held, stretch[voter], cuts[voter], voters.oversight[voter], rng)
    return np.asarray(np.bincount(item, ratings, n_items) / np.bincount(item, minlength=n_items))


def _ordered(groups: Ints, truth: Floats, opinion: Floats, voters: Voters, n: int, rng: np.random.Generator) -> float:
    """Mean ρ within the groups, each put into order by one voter after another."""
    n_groups = len(groups)
    if n < n_groups:
        raise InputError(f"The time pays for {n} orders, and there are {n_groups} targets.")
    which = np.concatenate([rng.permutation(n_groups) for _ in range(-(-n // n_groups))])[:n]
    voter = assign_in_turn(which, len(voters), n_groups, rng)
    orders = []
    for number, group in enumerate(groups):
        asked = voter[which == number]
        opinions_held = _held(opinion[asked][:, group], asked, voters, rng)
        orders.append((-put_in_order(opinions_held, voters.oversight[asked], rng).mean(axis=0), truth[group]))
    return _mean_within(orders)


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


def _best_worst(opinion: Floats, voters: Voters, n: int, sizes: list[int], rng: np.random.Generator) -> Floats:
    n_items, each = opinion.shape[1], n * SIZE // sum(sizes)
    while sum(-(-size * each // SIZE) for size in sizes) > n:  # a round's last tuple is made whole
        each -= 1
    if each < 1:
        raise InputError(f"The time pays for {n} tuples, which don't show each of {n_items} items once.")
    parts: list[tuple[Ints, Ints, Ints]] = []
    scores = np.zeros(n_items)
    for number, size in enumerate(sizes):
        tuples = next_round(scores, size, each, rng=rng) if number else draw_tuples(np.arange(size), each, rng=rng)
        voter = rng.permutation(len(tuples)) % len(voters)
        opinions_held = _held(opinion[voter[:, None], tuples], voter, voters, rng)
        best, worst = choose_extremes(opinions_held, voters.oversight[voter], rng)
        parts.append((tuples, best, worst))
        winner, loser, _ = BestWorst(*(np.concatenate(column) for column in zip(*parts, strict=True))).implied()
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
    return scores


@dataclass(frozen=True)
class EqualTimeSettings:
    """panels : how many, two at least; kinds : those beside comparisons; stretch, shift : as in `KindSetting`."""

    panels: int = PANELS
    kinds: Sequence[str] = OTHERS
    stretch: float = STRETCH
    shift: float = SHIFT


def simulate_equal_time(
    guess: ForecastAssumptions,
    plan: Plan,
    protocol: str,
    *,
    seed: int,
    settings: EqualTimeSettings | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> EqualTime:
    """Simulate the plan's comparisons, and other kinds for their time, each on the same panels.

    Panel s of every kind draws from `SeedSequence(seed, spawn_key=(s,))`, and so has the same voters with the same
    opinions; they judge relatedness, by |z|. Where there are more than `forecast.MOST_ITEMS` items, so many stand for
    them. progress : called with the runs done and wanted. Raises `InputError` for fewer than two panels, another kind,
    a guess that the plan doesn't fit, or fewer than four items.
    """
    settings = settings or EqualTimeSettings()
    panels, kinds = settings.panels, settings.kinds
    if panels < 2 or seed < 0:
        raise InputError(f"Simulate at least two panels, and a seed from 0 on; found {panels} and {seed}.")
    if plan.n_items != guess.n_items:
        raise InputError(f"The plan is for {plan.n_items} items, and the guess is of {guess.n_items}.")
    thin = guess.thinned()
    planned = plan if thin is guess else replace(plan, n_items=thin.n_items)
    groups = groups_of_all_pairs(thin.n_items, np.random.default_rng(seed))
    others = [unasked(kind, groups.shape[1]) for kind in kinds]
    asked_for = (planned.n_comparisons, plan.n_ballots, plan.keep, settings.stretch, settings.shift)
    setting = KindSetting(thin.similarity, groups, *asked_for)
    total, done = panels * (1 + len(SHARES) * len(others)), 0

    def on_each_panel(run: Callable[[np.random.Generator], tuple[float, ...]]) -> tuple[tuple[float, ...], ...]:
        nonlocal done
        found = []
        for s in range(panels):
            found.append(run(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(s,)))))
            done += 1
            if progress is not None:
                progress(done, total)
        return tuple(found)

    def compared(rng: np.random.Generator) -> tuple[float, ...]:
        campaign = simulate_campaign(thin.similarity, planned, protocol=protocol, rng=rng, panel=thin.panel)
        return _figures(campaign.scores, campaign.truth, groups)

    def asked(kind: KindAtShares, share: float) -> tuple[tuple[float, ...], ...]:
        cost = kind.cost(share)
        return on_each_panel(lambda rng: simulate_kind(setting, kind.kind, cost, rng=rng, panel=thin.panel))

    every = [replace(unasked(COMPARISONS), runs=(on_each_panel(compared),) * len(SHARES))]
    for number, kind in enumerate(others, start=1):
        try:
            every.append(replace(kind, runs=tuple(asked(kind, share) for share in SHARES)))
        except InputError as error:
            every.append(replace(kind, reason=str(error)))
            done = panels * (1 + len(SHARES) * number)
    return EqualTime(thin.n_items, planned.n_comparisons, panels, tuple(every))


def at_times(found: EqualTime, times: Times, goal: str = "both") -> Recommended:
    """The kinds at these times, judged by ρ_w, τ_w or ("both") their mean, as plans are (`protocols.base.GOALS`).

    Recommended is the best of the kinds that are ahead of comparisons by two standard errors of the difference, panel
    by panel; else comparisons. Raises `InputError` for another goal.
    """
    check_goal(goal)
    unit = 2 * times.read + times.decide
    rows = [_row(found, kind, goal, times.share, unit) for kind in found.kinds]
    better = [row for row in rows if row.ahead > SURE * row.error]
    best = max(better, key=lambda row: row.ahead).kind if better else COMPARISONS
    simulated = [kind for kind in found.kinds[1:] if kind.runs]
    level = tuple(_break_even(found, kind, goal) for kind in simulated if kind.kind != GROUPS)
    quick = [_row(found, kind, goal, 0.0, unit) for kind in simulated if kind.kind == ROUNDS]
    return Recommended(best, tuple(rows), level, quick[0] if quick else None)


def _row(found: EqualTime, kind: KindAtShares, goal: str, share: float, unit: float) -> KindAtTimes:
    """A kind where `share` of a comparison's `unit` seconds is deciding."""
    cost, none = kind.cost(share), Band(*UNDEFINED)
    if not kind.runs:
        nan = np.nan
        return KindAtTimes(kind.kind, cost * unit, nan, none, none, none, none, nan, nan, kind.reason)
    gain = kind.judged_at(goal, share) - found.kinds[0].judged_at(goal, share)
    error = float(gain.std(ddof=1) / np.sqrt(len(gain)))
    undefined = ACROSS if kind.kind == GROUPS else NOT_ALWAYS
    figures = {figure: band(kind.at(figure, share)) for figure in FIGURES}
    return KindAtTimes(
        kind.kind,
        cost * unit,
        found.n_comparisons / cost,
        **figures,
        ahead=float(gain.mean()),
        error=error,
        reason=undefined if np.isnan(gain).any() else "",
    )


def _break_even(found: EqualTime, kind: KindAtShares, goal: str) -> BreakEven:
    """The lowest share from which on comparisons are ahead; its interval by panels drawn with replacement."""
    gains = np.array([kind.judged_at(goal, share) - found.kinds[0].judged_at(goal, share) for share in SHARES])
    share = _level(gains.mean(axis=1))
    if not 0 < share < 1:
        return BreakEven(kind.kind, np.nan, np.nan, np.nan, np.nan, always=share >= 1)
    rng = np.random.default_rng(found.n_panels)
    drawn = rng.integers(found.n_panels, size=(DRAWS, found.n_panels))
    lower, upper = np.quantile([_level(gains[:, rows].mean(axis=1)) for rows in drawn], TAILS)
    cost, low, high = (kind.cost(float(at)) for at in (share, lower, upper))
    return BreakEven(kind.kind, cost, low, high, (1 - share) / (2 * share), always=False)


def _level(gain: Floats) -> float:
    """Where the gain at each of `SHARES` ceases to be above 0, straight between them: 0 if it is nowhere or undefined,
    1 if everywhere."""
    behind = np.flatnonzero(~(gain > 0))
    if not len(behind):
        return 1.0
    at = int(behind[0])
    if at == 0 or np.isnan(gain).any():
        return 0.0
    part = gain[at - 1] / (gain[at - 1] - gain[at])
    return float(SHARES[at - 1] + part * (SHARES[at] - SHARES[at - 1]))
