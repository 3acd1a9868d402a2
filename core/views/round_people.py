"""The people of a round: how many answers each gave, how far they agree with the others, and who stands apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..errors import InputError
from ..platforms.gold_results import read_gold
from ..questions.rating.gold_pairs import Qualified
from ..store import Store
from ..store.answers import answers_of
from ..store.ballots import Ballot
from ..store.uploads import kept_uploads
from ..store.voter_answers import voter_names
from .rating_sets import qualified

FEWEST = 3  # people with a figure, before one can stand apart


@dataclass(frozen=True, eq=False)
class People:
    """table : voter_id, voter, answers, the figure by its name (NaN where undefined), apart: more than one
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


def load(store: Store, project_id: str, found: Ballot) -> People:
    """The people whose answers count, by name."""
    with store.read() as conn:
        answers = answers_of(conn, project_id, found)
        known = voter_names(conn, project_id)
    doubled = known["name"].duplicated(keep=False)
    called = known["name"].where(~doubled, known["name"] + " (" + known["platform"] + ")").set_axis(known["voter_id"])
    figures = found.asks.people(answers, found.settings)
    name, about = found.kind.about.figure
    voters, n = np.unique(answers.voter, return_counts=True)
    table = pd.DataFrame({"voter_id": voters, "answers": n})
    table.insert(1, "voter", called.loc[table["voter_id"]].to_numpy())
    table[name] = [figures.get(id_, np.nan) for id_ in table["voter_id"]]
    defined = table[name].dropna()
    bound = defined.mean() - defined.std(ddof=1) if len(defined) >= FEWEST else -np.inf
    table["apart"] = (table[name] < bound).to_numpy()
    return People(table.sort_values("voter", kind="stable", ignore_index=True), name, about)


def qualification(store: Store, project_id: str, found: Ballot) -> tuple[pd.DataFrame, list[str]]:
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
