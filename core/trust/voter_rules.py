"""Rules that propose voters to be left out. They propose; a person decides (`store.votes.exclusions`).

docs/quality.md has, for each rule, how many careless voters it finds in simulated campaigns and how many honest ones it
names wrongly. Rules that go by agreement choose voters who agree, so agreement figures rise whether or not anybody
was careless: report the figures with all voters too.

References: Avraham, Goldberg (2016), RepEval, section 5, after Hill, Reichart, Korhonen (2015), Computational
Linguistics 41 (agreement more than one standard deviation under the mean).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..base.numbers_in_words import p_said, percent
from ..errors import InputError
from .voter_quality import SIDES


@dataclass(frozen=True)
class VoterRule:
    """A rule with its default bound and what it asks for.

    label, asks : the name, and the bound in words; bound with its range low to high and step; least : the rule says
    nothing of voters with fewer cases than that, counted in column `counted`.
    """

    key: str
    label: str
    asks: str
    about: str
    bound: float
    low: float
    high: float
    step: float
    counted: str
    least: int


RULES: dict[str, VoterRule] = {
    rule.key: rule
    for rule in (
        VoterRule(
            "ranking", "Against the ranking of the others", "Further below expectation than",
            ("The whole 90% interval of the voter's agreement with the ranking by the other votes lies further "
            "below what an ordinary voter would reach. Needs no checks."),
            0.1, 0.0, 0.5, 0.01, "judged", 20,
        ),
        VoterRule(
            "pairwise", "Pairwise agreement (Avraham, Goldberg)", "SDs under the mean, above",
            ("Mean agreement with every other voter who shares comparisons, against the mean of all voters. By "
            "nature one in six honest voters lies more than one standard deviation (SD) under it."),
            1.0, 0.0, 5.0, 0.1, "shared", 10,
        ),
        VoterRule(
            "gold", "Comparisons with a known answer", "Share right, below",
            "Too few right answers where the answer is known.",
            0.7, 0.0, 1.0, 0.05, "gold_n", 4,
        ),
        VoterRule(
            "consistency", "The same comparison again", "Share of same answers, below",
            ("Too few same answers where a comparison came to the voter again. Near ties change with honest "
            "voters too."),
            0.6, 0.0, 1.0, 0.05, "repeat_n", 5,
        ),
        VoterRule(
            "speed", "Speed", "Median time over that of all, below",
            "Faster than others by so much. Some people are quick.",
            0.33, 0.0, 1.0, 0.01, "timed", 10,
        ),
        VoterRule(
            "lapse", "Lapse ε", "ε above",
            ("The fit puts so much of the voter's votes down to oversight. Clickers hide in a low "
            "sharpness instead."),
            0.15, 0.0, 0.5, 0.01, "votes", 20,
        ),
        VoterRule(
            "sharpness", "Sharpness s", "s below",
            "The fit takes the voter for so blunt: score differences that decide others hardly matter here.",
            0.3, 0.0, 1.0, 0.05, "votes", 20,
        ),
        VoterRule(
            "side", "Side", "p (Holm) below",
            "The voter prefers a side more than luck explains, whatever it shows.",
            0.05, 0.0, 0.5, 0.01, "sided", 1,
        ),
    )
}  # fmt: skip


def propose(table: pd.DataFrame, bounds: Mapping[str, float]) -> pd.DataFrame:
    """The voters that rules propose to leave out.

    Parameters
    ----------
    table : `VoterQuality.table`; voters who are left out already aren't proposed, and don't enter means.
    bounds : the bound of each rule that is to be asked, by its key in `RULES`.

    Returns voter_id, rule (its key) and reason (in words), by voter and rule. Undefined figures propose nobody. Raises
    `InputError` for a rule that there isn't.
    """
    unknown = set(bounds) - set(RULES)
    if unknown:
        raise InputError(f"There is no rule {', '.join(sorted(unknown))}; there are {', '.join(RULES)}.")
    still_in = table[~table["left_out"]]
    parts = []
    for key, rule in RULES.items():
        if key in bounds:
            enough = still_in[still_in[rule.counted] >= rule.least]
            hit, said = _ASKED[key](enough, float(bounds[key]))
            reasons = [said(row) for row in enough[hit].itertuples()]
            parts.append(pd.DataFrame({"voter_id": enough.loc[hit, "voter_id"], "rule": key, "reason": reasons}))
    columns = {"voter_id": "int64", "rule": "str", "reason": "str"}
    proposed = pd.concat(parts) if parts else pd.DataFrame(columns=list(columns))
    return proposed.astype(columns).sort_values(["voter_id"], kind="stable", ignore_index=True)


def n_named(table: pd.DataFrame, key: str, bound: float) -> tuple[int, int]:
    """How many voters a rule alone would name, as `propose` does, and how many it can judge: those who count and have
    cases enough."""
    rule = RULES[key]
    enough = table[~table["left_out"] & (table[rule.counted] >= rule.least)]
    hit, _ = _ASKED[key](enough, bound)
    return int(hit.sum()), len(enough)


Asked = tuple[pd.Series, Callable[..., str]]


def _ranking(table: pd.DataFrame, bound: float) -> Asked:
    return (
        table["gap_upper"] < -bound,
        lambda v: (
            f"agrees with the ranking of the others in {percent(v.agrees)} of {v.judged:,} votes, where "
            f"{percent(v.expected)} is to be expected"
        ),
    )


def _pairwise(table: pd.DataFrame, bound: float) -> Asked:
    known = table["pairwise"].dropna()
    mean, sd = (float(known.mean()), float(known.std(ddof=1))) if len(known) > 2 else (np.nan, np.nan)
    return (
        table["pairwise"] < mean - bound * sd,
        lambda v: (
            f"agrees with others in {percent(v.pairwise)} on average; the mean of voters is {percent(mean)}, "
            f"their SD {percent(sd)}"
        ),
    )


def _gold(table: pd.DataFrame, bound: float) -> Asked:
    return table["gold"] < bound, lambda v: f"{v.gold_right:,} of {v.gold_n:,} known answers right"


def _consistency(table: pd.DataFrame, bound: float) -> Asked:
    return table["consistent"] < bound, lambda v: f"{v.repeat_same:,} of {v.repeat_n:,} repeats answered the same"


def _speed(table: pd.DataFrame, bound: float) -> Asked:
    return table["speed"] < bound, lambda v: f"{v.seconds:.1f} s per comparison, {v.speed:.2f} times the median of all"


def _lapse(table: pd.DataFrame, bound: float) -> Asked:
    return table["lapse"] > bound, lambda v: f"lapse ε = {v.lapse:.2f}"


def _sharpness(table: pd.DataFrame, bound: float) -> Asked:
    return table["sharpness"] < bound, lambda v: f"sharpness s = {v.sharpness:.2f}"


def _side(table: pd.DataFrame, bound: float) -> Asked:
    chose = f"chose {SIDES['left']}"
    return table["p_holm"] < bound, lambda v: f"{chose} in {v.left:,} of {v.sided:,} answers ({_p(v.p_holm)})"


def _p(p: float) -> str:
    said = p_said(p)
    return f"p {said}" if said.startswith("<") else f"p = {said}"


_ASKED: dict[str, Callable[[pd.DataFrame, float], Asked]] = {
    "ranking": _ranking,
    "pairwise": _pairwise,
    "gold": _gold,
    "consistency": _consistency,
    "speed": _speed,
    "lapse": _lapse,
    "sharpness": _sharpness,
    "side": _side,
}
