"""`python -m bench.voter_rules`: careless voters that the rules of `core.trust.voter_rules` find, and honest ones they
name.

Each seed simulates a campaign, of the protocol runoff but where a case says otherwise, with checks beside it: an
overlap of 5% of the comparisons by three voters, one known answer (the top eighth of the items against the bottom
eighth) and one repeat for every ten comparisons. Times are made up: log-normal about 6 s for honest voters and 2 s for
others, each with a pace of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from core.metrics import weighted_spearman
from core.plan import Plan
from core.protocols import Held, Votes, protocol_of
from core.scores import BallotVotes
from core.simulation.campaign import Crowd, hold_ballots
from core.simulation.conventions import convention_of, method_of
from core.trust.voter_quality import VoterQuality, measure
from core.trust.voter_rules import RULES, propose
from core.voters.model import Panel, VoterKind, Voters, draw_panel, exponential, overrule


@dataclass(frozen=True)
class Case:
    """One kind of campaign: who votes, by what plan."""

    name: str
    panel: Panel
    plan: Plan
    protocol: str = "runoff"


CASES = (
    Case("100 voters, 197 votes each", Panel(100, random_clickers=0.1), Plan(990, 7, 0.5, 20)),
    Case("40 voters, 97 votes each", Panel(40, random_clickers=0.1), Plan(200, 5, 0.5, 20)),
    Case("100 voters, 39 votes each", Panel(100, random_clickers=0.1), Plan(200, 5, 0.5, 20)),
    Case("20 voters, 97 votes each", Panel(20, random_clickers=0.1), Plan(100, 5, 0.5, 20)),
    Case("paper's protocol: 40 voters, 97 votes each", Panel(40, random_clickers=0.1), Plan(200, 5, 0.5, 20), "paper"),
    Case("always left: 40 voters, 97 votes each", Panel(40, always_left=0.1), Plan(200, 5, 0.5, 20)),
    Case("half inattentive: 40 voters, 97 votes each", Panel(40, inattentive=0.1), Plan(200, 5, 0.5, 20)),
    Case("nobody careless: 40 voters, 97 votes each", Panel(40), Plan(200, 5, 0.5, 20)),
)
OVERLAP, OVERLAP_VOTERS, EVERY = 0.05, 3, 10
HONEST_SECONDS, CARELESS_SECONDS, PACE, SPREAD = 6.0, 2.0, 0.4, 0.6


@dataclass(frozen=True, eq=False)
class Simulated:
    """A campaign's answers as the store has them (schema VOTER_ANSWERS), who was careless, (n_voters,), the votes of
    its ballots, and the true scores, (n_items,)."""

    answers: pd.DataFrame
    careless: np.ndarray
    votes: list[BallotVotes]
    truth: np.ndarray

    def accuracy(self, protocol: str, without: np.ndarray) -> float:
        """ρ_w between the scores by the protocol, some voters left out, and the truth."""
        votes = []
        for ballot in self.votes:
            kept = ~np.isin(ballot.voter, without)
            columns = (getattr(ballot, name)[kept] for name in ("first", "second", "outcome", "voter"))
            votes.append(BallotVotes(ballot.items, *columns))
        scores = protocol_of(protocol).field([Held(ballot) for ballot in votes])
        return weighted_spearman(scores.rank_by, self.truth)


class People:
    """The voters of a campaign, and what they answered so far."""

    def __init__(self, voters: Voters, n_items: int, rng: np.random.Generator) -> None:
        self.voters, self.rng = voters, rng
        ordinary = Voters(voters.nonconformity, voters.oversight)
        self.crowd = Crowd(exponential(n_items), ordinary, "relatedness", convention_of("paper"), rng)
        self.said: list[pd.DataFrame] = []
        self.n_asked = 0

    def new(self, n: int) -> np.ndarray:
        """Numbers for so many new comparisons."""
        self.n_asked += n
        return np.arange(self.n_asked - n, self.n_asked)

    def answer(self, items: np.ndarray, pairs: np.ndarray, voter: np.ndarray, ids: np.ndarray, **kind: Any) -> Votes:
        """The votes on these comparisons, with sides at random; they are noted as answers of some kind."""
        asked = {"voter_id": voter, "comparison": ids, "first": pairs[:, 0], "second": pairs[:, 1]}
        meant = self.crowd.answer(items, pairs, self.rng, voter)
        flipped = self.rng.random(len(pairs)) < 0.5
        outcome = overrule(meant.outcome, voter, self.voters, self.rng, flipped=flipped)
        left = np.where(outcome == 0.5, np.nan, np.where(flipped, 1.0 - outcome, outcome))
        rest: dict[str, Any] = {"status": "counted", "main": False, "gold": np.nan} | kind
        self.said.append(pd.DataFrame(asked).assign(answer=outcome, left=left, **rest))
        return meant._replace(outcome=outcome)


def simulate(case: Case, seed: int) -> Simulated:
    """One campaign with its checks."""
    rng = np.random.default_rng([seed, 30])
    plan, method = case.plan, method_of(convention_of("paper"), case.protocol)
    voters = draw_panel(case.panel, rng)
    people = People(voters, plan.n_items, rng)

    def ask(items: np.ndarray, pairs: np.ndarray, held: Sequence[Held]) -> Votes:
        voter = method.assign(pairs, held, len(voters), rng)
        if voter is None:  # the paper's protocol leaves dealing to the convention
            voter = convention_of("paper").assign(len(pairs), len(voters), rng)
        ids = people.new(len(pairs))
        votes = people.answer(items, pairs, voter, ids, main=True)
        _ask_checks(people, items, pairs, voter, ids, rng)
        return votes

    held = hold_ballots(method, plan, ask, rng=rng)
    answers = pd.concat(people.said, ignore_index=True)
    careless = voters.kind != VoterKind.ORDINARY if voters.kind is not None else np.zeros(len(voters), dtype=bool)
    pace = np.where(careless, CARELESS_SECONDS, HONEST_SECONDS) * np.exp(PACE * rng.standard_normal(len(voters)))
    seconds = pace[answers["voter_id"]] * np.exp(SPREAD * rng.standard_normal(len(answers)))
    votes = [BallotVotes(*(getattr(b.votes, name) for name in BallotVotes.__annotations__)) for b in held]
    return Simulated(answers.assign(seconds=seconds), careless, votes, np.abs(people.crowd.z))


def _ask_checks(
    people: People,
    items: np.ndarray,
    pairs: np.ndarray,
    voter: np.ndarray,
    ids: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Further voters of some comparisons, known answers, and repeats."""
    n, n_voters = len(pairs), len(people.voters)
    chosen = rng.permutation(n)[: round(OVERLAP * n)]
    again = np.repeat(chosen, OVERLAP_VOTERS - 1)
    turn = np.tile(np.arange(1, OVERLAP_VOTERS), len(chosen))
    others = (voter[again] + turn * rng.integers(1, n_voters // OVERLAP_VOTERS)) % n_voters
    people.answer(items, pairs[again], others, ids[again])
    asked = np.repeat(np.arange(n_voters), np.bincount(voter, minlength=n_voters) // EVERY)
    ranked = np.argsort(-np.abs(people.crowd.z), kind="stable")
    eighth = max(1, len(ranked) // 8)
    known = np.stack((rng.choice(ranked[:eighth], len(asked)), rng.choice(ranked[-eighth:], len(asked))), axis=1)
    people.answer(items, known, asked, people.new(len(asked)), gold=1.0)
    repeated = rng.permutation(n)[: n // EVERY]
    people.answer(items, pairs[repeated], voter[repeated], ids[repeated], status="repeat")


@dataclass(frozen=True)
class Judged:
    """Of each rule: careless found and in all, honest named and in all. Of α: with all voters, and without those whom
    the pairwise rule names. Of ρ_w with the truth: with all, without those of the ranking rule, without careless."""

    counts: dict[str, tuple[int, int, int, int]]
    alpha: tuple[float, float]
    rho_w: tuple[float, float, float]


def judged(case: Case, seed: int) -> Judged:
    """One campaign."""
    made = simulate(case, seed)
    found = measure(made.answers)
    named = {key: propose(found.table, {key: rule.bound})["voter_id"].to_numpy() for key, rule in RULES.items()}
    counts = {}
    for key, those in named.items():
        hit = made.careless[those]
        counts[key] = (int(hit.sum()), int(made.careless.sum()), int((~hit).sum()), int((~made.careless).sum()))
    rest = made.answers[~made.answers["voter_id"].isin(named["pairwise"])].reset_index(drop=True)
    outs = (np.empty(0), named["ranking"], np.flatnonzero(made.careless))
    rho_w = tuple(made.accuracy(case.protocol, out) for out in outs)
    return Judged(counts, (_alpha_of(found), _alpha_of(measure(rest))), (rho_w[0], rho_w[1], rho_w[2]))


def _alpha_of(found: VoterQuality) -> float:
    return found.alpha.alpha if found.alpha is not None else np.nan


def lines(case: Case, seeds: int, jobs: int) -> list[str]:
    """A line for each rule: share of the careless found, share of the honest named."""
    runs = Parallel(n_jobs=jobs)(delayed(judged)(case, seed) for seed in range(seeds))
    told = [f"{case.name}, {seeds} campaigns"]
    for key, rule in RULES.items():
        found, careless, named, honest = np.sum([run.counts[key] for run in runs], axis=0).tolist()
        caught = f"{found / careless:6.1%} of {careless:,}" if careless else "none there"
        told.append(f"    {rule.label:45} bound {rule.bound:5.2f}  careless found {caught:16} honest named "
                    f"{named / honest:6.2%} of {honest:,}")  # fmt: skip
    before, after = np.nanmean([run.alpha for run in runs], axis=0)
    told.append(f"    α {before:.3f} with all voters, {after:.3f} without those of the pairwise rule")
    everybody, proposed, ideal = np.mean([run.rho_w for run in runs], axis=0)
    told.append(
        f"    ρ_w with the truth {everybody:.3f} with all voters, {proposed:.3f} without those of the ranking rule, "
        f"{ideal:.3f} without the careless"
    )
    return told


@click.command()
@click.option("--seeds", default=20, show_default=True, help="Campaigns a case.")
@click.option("--case", "wanted", multiple=True, help="Only cases whose name holds this text.")
@click.option("--jobs", default=1, show_default=True, help="Processes.")
def main(seeds: int, wanted: tuple[str, ...], jobs: int) -> None:
    """Print how well each rule tells careless voters from honest ones."""
    for case in CASES:
        if not wanted or any(text in case.name for text in wanted):
            click.echo("\n".join(lines(case, seeds, jobs)))


if __name__ == "__main__":
    main()
