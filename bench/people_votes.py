"""`python -m bench.people_votes FOLDER`: the protocols replayed on people's own pairwise votes, and how well scores
predict votes that were held out.

Photos: 100 photos, three criteria, every pair judged by five people who aren't named. Of the five votes on a pair two
are there for the campaigns, three are held out. A campaign takes one of the two where its protocol asks about the pair,
either of them again where it asks more often (the share of such votes is told). Ratings (`bench.people`): the voters'
half of the people votes by their ratings, the others' half is held out, and votes on 5,000 random pairs by their
ratings are what is predicted.

Truth: photos: Bradley–Terry on all held-out votes; ratings: the others' mean ratings. Ceiling: the same of all that the
voters' half has (photos: every pair's two votes; ratings: their means). Held-out log-likelihood: mean log P of a held
out vote, P = ε + (1 − 2ε)·logistic(β·(s_i − s_j)), ε = .03, s the scores (win ratios as log-odds), β by maximum
likelihood on the campaign's own votes; a tie is half a vote for each, and −.693 is a coin's. Top 10: the share of the
true ten among the ten first, ties shared. Split s, set and protocol have the seed (seed, s, place). Figures go to
FOLDER, a file a set, a line a split; what is there is not made again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import click
import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from bench.cells import Cell, Row, carry_out, means, print_table, with_run
from bench.people import PLANS, data_sets
from bench.people_ratings import halve
from core.metrics import average_ranks
from core.plan import Plan
from core.protocols import PROTOCOLS, Held, Votes, protocol_of
from core.scores.bradley_terry import fit_with_voters
from core.simulation.campaign import accuracy_between, hold_ballots
from core.tables import Floats, Ints

LAPSE, TOP, PAIRS = 0.03, 10, 5_000
FIGURES = ("rho_w", "tau_w", "rho", "tau", "log_likelihood", "top")
SHOWN = [FIGURES.index(name) for name in ("rho_w", "tau_w", "rho", "log_likelihood", "top")]
PHOTOS = Plan(100, 5, 0.5, 20)
CRITERIA = ("0", "1", "2")
FOR_CAMPAIGNS = 2  # of the five votes on a pair

Answer = Callable[[Ints], tuple[Floats, Ints]]  # outcomes and voters of comparisons (n, 2)


@dataclass(frozen=True, eq=False)
class Split:
    """What is replayed: `answer` for campaigns over `plan`; truth, (n_items,); ceiling : scores by all that the voters'
    half has; held_out : pairs (n, 2) and their outcomes (n,), .5 a tie."""

    plan: Plan
    answer: Answer
    truth: Floats
    ceiling: Floats
    held_out: tuple[Ints, Floats]
    again: list[float]


def read_photos(path: Path, criterion: str) -> tuple[Ints, Floats]:
    """Pairs (n, 2) and their five outcomes (n, 5); lines that aren't whole are left out."""
    pairs, outcomes = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        parts = line.strip().split(";")
        if len(parts) != 4 or parts[0] != criterion:
            continue
        votes = parts[3].split(",")
        if len(votes) == 5 and all(vote in ("1", "0", "-1") for vote in votes):
            pairs.append((int(parts[1]), int(parts[2])))
            outcomes.append([(int(vote) + 1) / 2 for vote in votes])
    _, numbered = np.unique(np.array(pairs), return_inverse=True)
    return numbered.reshape(-1, 2), np.array(outcomes)


def split_photos(pairs: Ints, outcomes: Floats, rng: np.random.Generator) -> Split:
    """A split of each pair's votes."""
    n = int(pairs.max()) + 1
    mixed = rng.permuted(outcomes, axis=1)
    ours, theirs = mixed[:, :FOR_CAMPAIGNS], mixed[:, FOR_CAMPAIGNS:]
    row = np.full((n, n), -1)
    row[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
    asked, again = np.zeros(len(pairs), dtype=np.int64), []

    def answer(wanted: Ints) -> tuple[Floats, Ints]:
        there = row[wanted[:, 0], wanted[:, 1]]
        turned = there < 0
        at = np.where(turned, row[wanted[:, 1], wanted[:, 0]], there)
        given = np.full(len(at), 0.5)  # the few pairs without five whole votes
        for place, number in enumerate(at.tolist()):
            if number >= 0:
                nth = asked[number]
                asked[number] += 1
                again.append(float(nth >= FOR_CAMPAIGNS))
                given[place] = ours[number, nth if nth < FOR_CAMPAIGNS else rng.integers(FOR_CAMPAIGNS)]
        return np.where(turned, 1 - given, given), np.arange(len(at))

    def fitted(votes: Floats) -> Floats:
        every = np.repeat(pairs, votes.shape[1], axis=0)
        return fit_with_voters(every[:, 0], every[:, 1], votes.ravel(), n_items=n, voter=None).theta

    held_out = (np.repeat(pairs, theirs.shape[1], axis=0), theirs.ravel())
    return Split(replace(PHOTOS, n_items=n), answer, fitted(theirs), fitted(ours), held_out, again)


def split_ratings(ratings: Floats, rng: np.random.Generator) -> Split:
    """A split of the people."""
    halves = halve(ratings, rng=rng)
    voters, others = halves.voters, halves.others
    first = rng.integers(voters.n_items, size=PAIRS)
    second = (first + rng.integers(1, voters.n_items, size=PAIRS)) % voters.n_items
    outcome, _ = others.answer(first, second, rng=rng)

    def answer(wanted: Ints) -> tuple[Floats, Ints]:
        return voters.answer(wanted[:, 0], wanted[:, 1], rng=rng)

    plan = replace(PLANS[ratings.shape[1]], n_items=voters.n_items)
    return Split(plan, answer, others.mean(), voters.mean(), (np.stack((first, second), axis=1), outcome), [])


def replay(split: Split, name: str, rng: np.random.Generator) -> tuple[Floats, tuple[Ints, Floats]]:
    """Scores of a campaign, and its votes: pairs and outcomes. All votes count alike (`bench.people_replay`)."""
    asked, plan = protocol_of(name).of_strangers(), split.plan
    if asked.about.own_appearances:
        plan = asked.plan_within(plan.n_items, plan.n_ballots, plan.keep, plan.n_comparisons)

    def ask(items: Ints, pairs: Ints, held: Sequence[Held]) -> Votes:
        outcome, voter = split.answer(pairs)
        return Votes(items, pairs[:, 0], pairs[:, 1], outcome, voter)

    held = hold_ballots(asked, plan, ask, rng=rng)
    every = [ballot.votes for ballot in held]
    pairs = np.concatenate([np.stack((votes.first, votes.second), axis=1) for votes in every])
    scores = asked.field(held).rank_by
    if not asked.about.whole_field:
        scores = logit(np.clip(scores, 0.02, 0.98))
    return scores, (pairs, np.concatenate([votes.outcome for votes in every]))


def likelihood(scores: Floats, votes: tuple[Ints, Floats], slope: float) -> float:
    """Mean log-likelihood of votes."""
    pairs, outcome = votes
    win = LAPSE + (1 - 2 * LAPSE) * expit(slope * (scores[pairs[:, 0]] - scores[pairs[:, 1]]))
    return float(np.mean(outcome * np.log(win) + (1 - outcome) * np.log(1 - win)))


def figures(scores: Floats, votes: tuple[Ints, Floats], split: Split) -> list[float]:
    """In the order of `FIGURES`; β is found on `votes`."""
    best = minimize_scalar(lambda log: -likelihood(scores, votes, np.exp(log)), bounds=(-6, 6), method="bounded").x
    of_top = float(np.sum(_in_top(scores) * _in_top(split.truth))) / TOP
    return [*accuracy_between(scores, split.truth), likelihood(scores, split.held_out, float(np.exp(best))), of_top]


def _in_top(scores: Floats) -> Floats:
    """The chance of each item to be among the first ten, ties drawn."""
    ranks, found = average_ranks(scores), np.zeros(len(scores))
    for rank in np.unique(ranks):
        level = ranks == rank
        found[level] = np.clip((TOP - (ranks < rank).sum()) / level.sum(), 0.0, 1.0)
    return found


def replayed(of: Callable[[np.random.Generator], Split], place: int, seed: tuple[int, int]) -> Row:
    """`FIGURES` of each protocol and of the ceiling, how many votes there were, and shares of those given again."""
    split = of(np.random.default_rng((*seed, place)))
    row: Row = {}
    for nth, protocol in enumerate(PROTOCOLS):
        fresh = of(np.random.default_rng((*seed, place)))  # the same split, no vote asked yet
        scores, votes = replay(fresh, protocol, np.random.default_rng((*seed, place, nth)))
        row[protocol] = figures(scores, votes, split)
        row["votes"], row[f"again {protocol}"] = len(votes[0]), float(np.mean(fresh.again or [0]))
    row["ceiling"] = figures(split.ceiling, split.held_out, split)  # β too by the held-out votes: an upper end
    return row


@click.command()
@with_run(20, 29_301, of="splits")
@click.option("--data", type=click.Path(path_type=Path), required=True, help="Folder with the ratings and votes.")
def main(folder: Path, n: int, seed: int, seconds: float, data: Path) -> None:
    """Replay what FOLDER lacks, and print the table."""
    sets: dict[str, Callable[[np.random.Generator], Split]] = {}
    for rated in data_sets(data):
        sets[rated.name] = partial(split_ratings, rated.ratings)
    photos = data / "amt_photo_votes.txt"
    for criterion in CRITERIA if photos.exists() else ():
        sets[f"100 photos, criterion {criterion}"] = partial(split_photos, *read_photos(photos, criterion))
    cells = [
        Cell((name,), f"{name.replace(',', '').replace(' ', '-')}-{seed}", partial(replayed, of, place))
        for place, (name, of) in enumerate(sets.items())
    ]
    lines: list[list[str]] = []
    for cell, rows in zip(cells, carry_out(cells, n, seed, folder, seconds), strict=True):
        lines += _lines(cell, rows) if len(rows) > 1 else []
    print_table(("data", "by", "splits", "ρ_w", "τ_w", "ρ", "held-out log-likelihood", "top 10"), lines)


def _lines(cell: Cell, rows: list[Row]) -> list[list[str]]:
    names = [*PROTOCOLS, "ceiling"]
    values = {by: np.array([row[by] for row in rows])[:, SHOWN] for by in names}
    again = ", ".join(f"{by} {np.mean([row[f'again {by}'] for row in rows]):.0%}" for by in PROTOCOLS)
    first = [f"{cell.labels[0]}, {rows[0]['votes']:,} votes", *[""] * (len(names) - 1)]
    lines = [[what, by, f"{len(rows)}", *means(values[by])] for what, by in zip(first, names, strict=True)]
    lines.append(["", f"*votes that are given again: {again}*", *[""] * 6])
    for other in ("paper", "uniform"):
        lines.append(["", f"*runoff less {other}*", "", *means(values["runoff"] - values[other], sign="+")])
    return lines


if __name__ == "__main__":
    main()
