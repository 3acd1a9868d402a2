"""The people of a round: how many answers each gave, how far they agree with the others, and who stands apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ..errors import InputError, UndefinedMetricError
from ..platforms.gold_results import read_gold
from ..schemes.collected import BEST_WORST, RATING
from ..schemes.gold_pairs import Qualified
from ..schemes.group_agreement import group_agreement
from ..schemes.rating_statistics import leave_one_out
from ..store import Store
from ..store.round_answers import best_worst_answers, counted_answers, given_orders, rated_items
from ..store.rounds import Round
from ..store.uploads import kept_uploads
from ..store.voter_answers import voter_names
from .rating_sets import qualified

FIGURES = {
    RATING: ("r", "Pearson's r of the person's ratings with the mean of all others', over three items at least."),
    BEST_WORST: (
        "agreement",
        (
            "Of the comparisons that the person's choices decide, the share that the others' choices decide the same "
            "way: by (best − worst) / appearances of the two items without the person."
        ),
    ),
    "order": ("agreement", "Mean of Spearman's ρ with every other person who ordered the same targets."),
}
FEWEST = 3  # people with a figure, before one can stand apart


@dataclass(frozen=True, eq=False)
class People:
    """table : voter_id, voter, answers, the figure by its name in `FIGURES` (NaN where undefined), apart: more than one
    standard deviation under the mean of all."""

    table: pd.DataFrame
    figure: str
    about: str

    @property
    def apart(self) -> list[int]:
        """The ids of those who stand apart, the lowest first."""
        found = self.table[self.table["apart"]].sort_values(self.figure, kind="stable")
        return [int(id_) for id_ in found["voter_id"]]

    @property
    def names(self) -> dict[int, str]:
        """Each person's name by id."""
        return dict(zip(self.table["voter_id"].tolist(), self.table["voter"].tolist(), strict=True))


def load(store: Store, project_id: str, found: Round) -> People:
    """The people whose answers count, by name."""
    with store.read() as conn:
        answers = counted_answers(conn, [found.id])
        figures = _figures(conn, project_id, found)
        known = voter_names(conn, project_id)
    doubled = known["name"].duplicated(keep=False)
    called = known["name"].where(~doubled, known["name"] + " (" + known["platform"] + ")").set_axis(known["voter_id"])
    name, about = FIGURES[found.scheme]
    n = answers.groupby("voter_id").size()
    table = pd.DataFrame({"voter_id": n.index.to_numpy(), "answers": n.to_numpy()})
    table.insert(1, "voter", called.loc[table["voter_id"]].to_numpy())
    table[name] = [figures.get(id_, np.nan) for id_ in table["voter_id"]]
    defined = table[name].dropna()
    bound = defined.mean() - defined.std(ddof=1) if len(defined) >= FEWEST else -np.inf
    table["apart"] = (table[name] < bound).to_numpy()
    return People(table.sort_values("voter", kind="stable", ignore_index=True), name, about)


def qualification(store: Store, project_id: str, found: Round) -> tuple[pd.DataFrame, list[str]]:
    """How people did on the gold pairs of a round of ratings (`rating_sets.QUALIFIED_HELP`), and files that say nothing
    of them. Of a person's several assignments the first counts."""
    people: dict[str, Qualified] = {}
    silent = []
    for name, data in kept_uploads(store, found.id):
        try:
            for one in read_gold(data, name, found.settings.stored()):
                people.setdefault(one.voter, one)
        except InputError as error:
            silent.append(str(error))
    return qualified(list(people.values())), silent


def _figures(conn: sa.Connection, project_id: str, found: Round) -> Mapping[int, float]:
    """Each person's figure where it is defined."""
    if found.scheme == RATING:
        rated = rated_items(conn, found.id)
        if not len(rated.voters):
            return {}
        people = leave_one_out(rated.table).people
        return {int(rated.voters[person.row]): person.r for person in people if person.r is not None}
    if found.scheme == BEST_WORST:
        return _with_others(conn, found)
    orders = given_orders(conn, project_id, found)
    try:
        agreement = group_agreement({str(voter): of_voter for voter, of_voter in orders.items()})
    except UndefinedMetricError:
        return {}
    return {int(person.voter): person.agreement for person in agreement.people if person.agreement is not None}


def _with_others(conn: sa.Connection, found: Round) -> Mapping[int, float]:
    answers, voter = best_worst_answers(conn, [found.id])
    if not len(voter):
        return {}
    n_items = int(answers.shown.max()) + 1
    rows = np.arange(len(voter))
    winner, loser, row = answers.implied()
    shares = {}
    for one in np.unique(voter).tolist():
        others = voter != one
        named = [
            np.bincount(answers.shown[rows, place][others], minlength=n_items)
            for place in (answers.best, answers.worst)
        ]
        times = np.bincount(answers.shown[others].ravel(), minlength=n_items)
        count = np.full(n_items, np.nan)
        np.divide(named[0] - named[1], times, out=count, where=times > 0)
        mine = ~others[row]
        difference = count[winner[mine]] - count[loser[mine]]
        difference = difference[~np.isnan(difference)]
        if len(difference):
            shares[one] = float(np.mean(0.5 + 0.5 * np.sign(difference)))
    return shares
