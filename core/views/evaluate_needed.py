"""How many votes and tokens would tell two of a project's embeddings apart: what is asked, simulated in a job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..errors import InputError, RunoffError
from ..evaluation_needed import Needed, Tried, Voting, tokens_needed, votes_needed
from ..interval_rules import FIGURES as OF_VOTES
from ..panel import PAPER_PANEL, Panel
from ..store import Store
from ..store.panel_fits import BALLOT_VOTES, fit_stored
from ..store.plans import read_plan
from .evaluate import EvaluateView
from .evaluate import load as load_view

KIND = "needed"
VERSION = 2  # raised whenever the same question would get another answer
MOST_TIMES, MOST_VOTES = 16, 200_000  # how far the simulation goes
SEED = 2020


@dataclass(frozen=True)
class Asked:
    """Which two embeddings, by which figure, under the page's settings, and who votes: "fitted" or "paper"."""

    first: str
    second: str
    figure: str
    n0: float
    notion: str
    policy: str
    top: int
    voters: str
    revision: int
    version: int = VERSION

    @classmethod
    def about(cls, view: EvaluateView, first: str, second: str, figure: str, voters: str, revision: int) -> Asked:
        """The question about a view; `revision` is the project's: an answer ends with the next command."""
        n0, notion, policy, top = view.key
        return cls(first, second, figure, n0, notion, policy, top, voters, revision)

    def params(self) -> dict[str, Any]:
        """As a job keeps it."""
        return asdict(self)


@dataclass(frozen=True)
class Answer:
    """What a job found: by votes and by tokens, each None with the reason in `problems`; `voters` says who voted."""

    found: tuple[Needed, ...]
    problems: tuple[str, ...]
    voters: str


def simulate(
    store: Store, project_id: str, params: dict[str, Any], *, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """The answer to a question as JSON, for the job's row; what can't be told is a problem. Raises as `load_view`."""
    asked = Asked(**params)
    view = load_view(store, project_id, asked.n0, asked.notion, asked.policy, asked.top)
    if view.compared is None or not {asked.first, asked.second} <= set(view.compared.names):
        raise InputError("The project hasn't these embeddings any more. Choose others.")
    every = np.logical_and.reduce([~np.isnan(e.values) for e in view.compared.evaluations])
    pairs = view.compared.evaluations[0].pairs[every]
    of = dict(zip(view.compared.names, (e.values[every] for e in view.compared.evaluations), strict=True))
    one, other = of[asked.first], of[asked.second]
    n_votes = max(int(view.dataset.attrs["votes"]), 1)
    voting, voters = _voting(store, project_id, asked, n_votes)
    how: dict[str, Any] = {"figure": asked.figure, "n0": asked.n0, "rng": np.random.default_rng(SEED)}

    def votes() -> Needed:
        if view.ranked_apart:
            raise InputError("Votes needed are simulated for one ranking; here each area has its own.")
        most = min(max(MOST_TIMES * n_votes, 20 * len(pairs)), MOST_VOTES)
        scores = pairs["score"].to_numpy(dtype=np.float64)
        return votes_needed(
            scores,
            one,
            other,
            n_votes=n_votes,
            most=most,
            voting=voting,
            top=asked.top,
            progress=_half(progress, 0),
            **how,
        )

    def tokens() -> Needed:
        return tokens_needed(
            pairs, one, other, top=asked.top, apart=view.ranked_apart, progress=_half(progress, 1), **how
        )

    found, problems = [], []
    for search in (votes, tokens) if asked.figure in OF_VOTES else (tokens,):
        try:
            found.append(asdict(search()))
        except RunoffError as error:
            problems.append(str(error))
    return {"found": found, "problems": problems, "voters": voters}


def answer_of(result: dict[str, Any]) -> Answer:
    """The answer that a job's row keeps."""
    found = []
    for values in result["found"]:
        tried = tuple(Tried(**each) for each in values["tried"])
        found.append(Needed(**{**values, "tried": tried}))
    voters = result["voters"]
    if "of_voters" in result:  # as earlier versions kept them
        voters = voters.format(**result["of_voters"])
    return Answer(tuple(found), tuple(result["problems"]), voters)


def sentence(needed: Needed, first: str, second: str, now: int) -> str:
    """What is needed, in a sentence; `now` is what there is."""
    if needed.tried:
        return f"To tell {first} and {second} apart with 80 % takes {needed}; there are {now:,} now."
    return f"{first} and {second} don't differ at all, so no number of {needed.unit} tells them apart."


def simulated(needed: Needed) -> str:
    """How much was simulated, in a sentence."""
    return f"{needed.simulations:,} simulations of {needed.least:,} to {needed.most:,} {needed.unit}."


def _half(progress: Callable[[int, int], None] | None, which: int) -> Callable[[int, int], None] | None:
    """Progress of the first or the second of two searches, as one."""
    if progress is None:
        return None
    return lambda done, total: progress(round(500 * (which + min(done / total, 1))), 1000)


def _voting(store: Store, project_id: str, asked: Asked, n_votes: int) -> tuple[Voting, str]:
    """Who votes in the simulation and in what ballots; the same in words."""
    panel, words = PAPER_PANEL, "voters like the paper's (σ* .02 to .2, ε .005 to .05)"
    if asked.voters == "fitted":
        fitted = fit_stored(store, project_id, None, "exponential", BALLOT_VOTES)
        found = fitted.fit.panel() if fitted.fit is not None else None
        if found is None:
            words = f"{words}, as none could be fitted: {fitted.reason}"
        else:
            panel = Panel(found.n_voters, found.nonconformity, found.oversight)
            sigma, epsilon = found.nonconformity, found.oversight
            words = (
                f"voters fitted to these votes (σ* {sigma[0]:.3f} to {sigma[1]:.3f}, "
                f"ε {epsilon[0]:.3f} to {epsilon[1]:.3f})"
            )
    plan = read_plan(store, project_id)
    if plan is None:
        return Voting(panel, notion=asked.notion), words
    each = max(5, round(n_votes / max(plan.n_voters, 1)))
    return Voting(panel, each, plan.n_ballots, plan.keep, notion=asked.notion), words
