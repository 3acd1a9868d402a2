"""`evaluate --needed`: how many votes and tokens would tell two models apart, by simulation."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..errors import InputError, RunoffError

if TYPE_CHECKING:
    from ..evaluation import Comparison
    from ..voters.panel import Panel

_VOTES_AN_ITEM = 20
_MOST_TIMES = 16


def simulated(
    comparison: Comparison, figure: str, seed: int, votes: int, most: int, voters_like: str | None
) -> dict[str, Any]:
    """The answer for the first two models over the items that all cover: JSON, with what can't be told under problems.

    Raises `InputError` for fewer than two models, or voters that can't be read.
    """
    import numpy as np

    from ..evaluation.needed import Voting, tokens_needed, votes_needed

    if len(comparison.evaluations) < 2:
        raise InputError("--needed compares two models; name a second one.")
    every = np.logical_and.reduce([~np.isnan(e.values) for e in comparison.evaluations])
    first = comparison.evaluations[0]
    pairs = first.pairs[every]
    one, other = (e.values[every] for e in comparison.evaluations[:2])
    start = votes or _VOTES_AN_ITEM * len(pairs)
    n_ballots = max(1, min(7, int(np.log2(max(len(pairs), 2) / 2)) + 1))
    voting = Voting(panel_of(voters_like), n_ballots=n_ballots, notion=first.notion)
    how: dict[str, Any] = {"figure": figure, "n0": first.n0, "rng": np.random.default_rng(seed)}
    top = first.overall.top
    found: list[dict[str, Any]] = []
    problems: list[str] = []

    def by_votes() -> Any:
        if comparison.apart:
            raise InputError("Votes needed are simulated for one ranking; here each area has its own.")
        scores = pairs["score"].to_numpy(dtype=np.float64)
        limit = most or _MOST_TIMES * start
        return votes_needed(scores, one, other, n_votes=start, most=limit, voting=voting, top=top, **how)

    def by_tokens() -> Any:
        return tokens_needed(pairs, one, other, top=top, apart=comparison.apart, **how)

    for search in (by_votes, by_tokens):
        try:
            needed = search()
            found.append({**asdict(needed), "says": str(needed)})
        except RunoffError as error:
            problems.append(str(error))
    names = comparison.names[:2]
    return {"first": names[0], "second": names[1], "figure": figure, "power": 0.8, "found": found, "problems": problems}


def needed_lines(told: dict[str, Any]) -> list[str]:
    """The same for people."""
    what = f"To tell {told['first']} and {told['second']} apart by {told['figure']} with 80 %: "
    return [*(what + each["says"] for each in told["found"]), *told["problems"]]


def panel_of(text: str | None) -> Panel:
    """The voters of an option's value, such as ".02:.2,.005:.05": ranges of σ* and of ε; the paper's for None.

    >>> panel_of(".1:.3,0:.1").nonconformity
    (0.1, 0.3)
    """
    from ..voters.panel import PAPER_PANEL, Panel

    if text is None:
        return PAPER_PANEL
    try:
        sigma, epsilon = (tuple(float(end) for end in part.split(":")) for part in text.split(","))
        (s_low, s_high), (e_low, e_high) = sigma, epsilon
    except ValueError:
        raise InputError(f"--voters-like takes two ranges, such as .02:.2,.005:.05; found {text!r}.") from None
    return Panel(100, (s_low, s_high), (e_low, e_high))
