"""What a pilot told: seconds, ties, unknown tokens, with intervals and the counts behind them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...base.estimates import Share
from ...base.numbers_in_words import many, percent
from ...simulation.pilot import Pilot, summarise_pilot
from ...store import Store
from ...store.ballots.ballot_rows import pilot_of
from ...store.ballots.pilots import pilot_answers
from ...store.tokens.areas import items_of

TOKENS = ["area", "token", "answers", "unknown", "share"]


@dataclass(frozen=True, eq=False)
class PilotView:
    """The figures of a closed pilot.

    figures : None where no pilot is closed. n_simulated : answers of simulated voters.
    tokens : which tokens stood in comparisons that somebody didn't know a word of, the largest share first; columns
        area, token, answers (to comparisons with the token), unknown (of these), share (0 to 1).
    """

    figures: Pilot | None = None
    n_simulated: int = 0
    tokens: pd.DataFrame | None = None

    @property
    def seconds(self) -> float | None:
        """The mean seconds of a comparison to 0.1, as a plan takes it; None where no time is known, or it is 0.0."""
        mean = None if self.figures is None else self.figures.seconds_mean.estimate
        return None if mean is None else round(mean, 1) or None

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to look at before these figures go into a plan."""
        if self.figures is None:
            return ()
        simulated = (f"{many(self.n_simulated, 'answer')} came from simulated voters.",) if self.n_simulated else ()
        untimed = self.figures.n_answers - self.figures.n_timed
        no_time: tuple[str, ...] = ()
        if untimed > 0 and self.figures.n_timed:
            no_time = (f"{many(untimed, 'answer')} came without a time.",)
        return (*simulated, *no_time, *self.figures.remarks)


def load(store: Store, project_id: str, area_id: int | None = None) -> PilotView:
    """The figures of a ranking's pilot, once it is closed."""
    with store.read() as conn:
        pilot = pilot_of(conn, project_id, area_id)
        if pilot is None or pilot.is_open:
            return PilotView()
        answers = pilot_answers(conn, pilot.id)
        items = items_of(conn, project_id).set_index("item")
    if answers.empty:
        return PilotView()
    found = summarise_pilot(
        answers["first"].to_numpy(),
        answers["second"].to_numpy(),
        answers["outcome"].to_numpy(),
        answers["voter"].to_numpy(),
        seconds=answers["seconds"].to_numpy(),
        rng=np.random.default_rng([pilot.seed, 6]),
    )
    return PilotView(found, int(answers["simulated"].sum()), unknown_tokens(answers, items))


def unknown_tokens(answers: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """The tokens of comparisons that somebody didn't know a word of (columns TOKENS), the largest share first.

    `answers` as `pilot_answers` has them; `items` has area, token_a and token_b by position. Voters don't say which
    word they don't know, so each of a comparison's words has the answer; a token counts once in a comparison.
    """
    parts = []
    for side in ("first", "second"):
        of_side = items.loc[answers[side]]
        for token in ("token_a", "token_b"):
            parts.append(
                pd.DataFrame(
                    {
                        "answer": range(len(answers)),
                        "area": of_side["area"].to_numpy(),
                        "token": of_side[token].to_numpy(),
                        "unknown": answers["outcome"].isna().to_numpy(),
                    }
                )
            )
    shown = pd.concat(parts).drop_duplicates(["answer", "area", "token"])
    found = shown.groupby(["area", "token"], sort=True)["unknown"].agg(answers="size", unknown="sum").reset_index()
    found["share"] = found["unknown"] / found["answers"]
    found = found[found["unknown"] > 0].sort_values(["share", "unknown"], ascending=False, kind="stable")
    return found[TOKENS].reset_index(drop=True)


def share_text(found: Share) -> str:
    """A share with its interval and the counts behind it, or a dash.

    >>> from ...base.estimates import share
    >>> share_text(share(2, 50)), share_text(share(0, 0))
    ('4 % (1 to 11), 2 of 50', '–')
    """
    if found.estimate is None or found.lower is None or found.upper is None:
        return "–"
    said = percent(found.estimate).removesuffix("%")
    return f"{said} % ({100 * found.lower:.0f} to {100 * found.upper:.0f}), {found.count:,} of {found.total:,}"
