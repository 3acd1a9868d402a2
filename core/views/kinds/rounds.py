"""What pages show of rounds: their progress, their cost, and the results of closed ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...base.durable import slug
from ...base.numbers_in_words import many, percent
from ...dataset.side_by_side import SideBySide, of_dataset, side_by_side
from ...embeddings import Embedding
from ...errors import InputError, RunoffError
from ...evaluation import evaluate
from ...evaluation.rating_report import RatingReport, report
from ...evaluation.results import FigureEstimate
from ...platforms.answer_files import read_gold
from ...questions import RoundSettings, round_kind
from ...questions.order.groups import GroupComparison, score_groups
from ...questions.rating.scales import Qualified
from ...store import Store
from ...store.ballots.ballot_rows import Ballot, answers_of, rating_set, rounds_of
from ...store.ballots.ballot_rows import preferences as preferences_of
from ...store.projects.embedding_library import open_library, read_embeddings
from ...store.scores.next_ballot_value import closed_fit_of
from ...store.scores.project_dataset import read_project_dataset, round_dataset
from ...store.votes.checks import voter_names
from ...store.votes.tallies import Progress, progress_of
from ...store.votes.uploads import Upload, kept_uploads, uploads_of
from ..export import DatasetFiles, files_of
from ..wording import out_of
from . import target_groups
from .rating_sets import qualified

FIGURES = {"ρ_w": "rho_w", "τ_w": "tau_w", "ρ": "rho", "Pearson": "pearson"}
MODEL_HELP = {
    "model": "An embedding of this project.",
    "ρ_w": "Spearman's ρ with weights that let the top count most.",
    "τ_w": "Kendall's τ with the same weights.",
    "ρ": "Spearman's ρ, all ranks alike.",
    "Pearson": "Pearson's r with the scores themselves.",
    "covered": "Items of which the model has both tokens.",
}
ITEM_HELP = {
    "rank": "1 is the most related; tied items share their average rank.",
    "score": "Of ratings their mean; of best–worst the expected share of wins against all other items.",
    "lower": "Lower end of the score's 90% interval, voters drawn anew.",
    "upper": "Upper end of the score's 90% interval, voters drawn anew.",
    "answers": "Answers in which the item was shown and that count.",
}

FEWEST = 3  # people with a figure, before one can stand apart


@dataclass(frozen=True)
class RoundView:
    """A round with its progress and its uploads, the newest first."""

    round: Ballot
    progress: Progress
    uploads: tuple[Upload, ...]
    fit: dict[str, Any]

    @property
    def said(self) -> str:
        """The round's progress, in a sentence."""
        p, ballot = self.progress, self.round
        n = ballot.n_comparisons
        questions = many(n, ballot.kind.about.asked)
        counts = {
            "n": p.answered,
            "wanted": many(p.wanted, "answer"),
            "asked": questions,
            "voters": many(p.voters, "voter"),
        }
        if ballot.is_open:
            sentence = "Open: {n:,} of {wanted} to {asked}, by {voters}".format(**counts)
        else:
            sentence = "Closed: {n:,} of {wanted} to {asked}, by {voters}".format(**counts)
        aside = [
            f"{p.unknown:,} “I don't know”" if p.unknown else "",
            f"{p.rejected:,} rejected" if p.rejected else "",
            f"{p.repeats:,} repeated" if p.repeats else "",
            f"{p.excluded:,} of voters left out" if p.excluded else "",
        ]
        also = ", ".join(filter(None, aside))
        return f"{sentence}; not counted: {also}." if also else f"{sentence}."

    @property
    def title(self) -> str:
        """What pages call it: "Round 2, ratings"."""
        return self.round.title

    @property
    def listed(self) -> str:
        """Its title, and open with its share, or closed."""
        if self.round.is_open:
            return f"{self.title} (open, {percent(self.progress.share)})"
        return f"{self.title} (closed)"

    @property
    def why_undefined(self) -> list[str]:
        """Why a figure has no value, where it is known."""
        return [str(self.fit["why"])] if self.fit.get("why") else []

    @property
    def figures(self) -> list[tuple[str, str, str]]:
        """Label, value and help of the figures of a closed round; "–" where undefined."""
        return [
            (label, _figure(self.fit[name]), about)
            for name, (label, about) in self.round.kind.about.figures.items()
            if name in self.fit
        ]


def _figure(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def load(store: Store, project_id: str, area_id: int | None = None) -> tuple[RoundView, ...]:
    """The rounds of a ranking in the order they were drawn."""
    with store.read() as conn:
        return tuple(
            RoundView(
                ballot,
                progress_of(conn, ballot.id),
                tuple(uploads_of(conn, project_id, ballot_id=ballot.id)),
                {} if ballot.is_open else closed_fit_of(conn, ballot.id),
            )
            for ballot in rounds_of(conn, project_id, area_id)
        )


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
        rows = self.table[self.table["apart"]].sort_values(self.figure, kind="stable")
        return [int(id_) for id_ in rows["voter_id"]]

    @property
    def names(self) -> dict[int, str]:
        """Each person's name by id."""
        return dict(zip(self.table["voter_id"].tolist(), self.table["voter"].tolist(), strict=True))


def people_of(store: Store, project_id: str, ballot: Ballot) -> People:
    """The people whose answers count, by name."""
    with store.read() as conn:
        answers = answers_of(conn, project_id, ballot)
        known = voter_names(conn, project_id)
    doubled = known["name"].duplicated(keep=False)
    names = known["name"].where(~doubled, known["name"] + " (" + known["platform"] + ")").set_axis(known["voter_id"])
    figures = ballot.asks.people(answers, ballot.settings)
    name, about = ballot.kind.about.figure
    voters, n = np.unique(answers.voter, return_counts=True)
    table = pd.DataFrame({"voter_id": voters, "answers": n})
    table.insert(1, "voter", names.loc[table["voter_id"]].to_numpy())
    table[name] = [figures.get(id_, np.nan) for id_ in table["voter_id"]]
    defined = table[name].dropna()
    bound = defined.mean() - defined.std(ddof=1) if len(defined) >= FEWEST else -np.inf
    table["apart"] = (table[name] < bound).to_numpy()
    return People(table.sort_values("voter", kind="stable", ignore_index=True), name, about)


def qualification(store: Store, project_id: str, ballot: Ballot) -> tuple[pd.DataFrame, list[str]]:
    """How people did on the gold pairs of a round of ratings (`rating_sets.QUALIFIED_HELP`), and files that say nothing
    of them. Of a person's several assignments the first counts."""
    people: dict[str, Qualified] = {}
    silent = []
    for name, data in kept_uploads(store, ballot.id):
        try:
            for one in read_gold(data, name, ballot.settings.stored()):
                people.setdefault(one.voter, one)
        except InputError as error:
            silent.append(str(error))
    return qualified(list(people.values())), silent


def cost_text(settings: RoundSettings, n_items: int) -> str:
    """What a round of `n_items` items costs, in a sentence.

    >>> print(cost_text(RoundSettings("rating", reward=1.0), 20))
    100 answers, 0.2 h, 12.00: 20 questions in 2 tasks, each with 5 assignments.
    """
    n = round_kind(settings.scheme).n_questions(settings, n_items)
    tasks = -(-n // settings.task_size)
    assignments = tasks * settings.raters
    money = assignments * settings.reward * (1 + settings.fee)
    hours = n * settings.raters * settings.seconds / 3600
    answers, paid = many(n * settings.raters, "answer"), f", {money:,.2f}" if money else ""
    each = f"{many(n, 'question')} in {many(tasks, 'task')}, each with {many(settings.raters, 'assignment')}"
    return f"{answers}, {hours:,.1f} h{paid}: {each}."


def dataset(store: Store, project_id: str, ballot: Ballot) -> pd.DataFrame:
    """The dataset of a closed round."""
    return round_dataset(store, project_id, ballot.id)


def files(store: Store, project_id: str, ballot: Ballot) -> DatasetFiles:
    """The files that the dataset of a closed round goes out as."""
    frame = dataset(store, project_id, ballot)
    return files_of(store, project_id, frame, file_stem_of(str(frame.attrs["project"]), ballot))


def file_stem_of(project: str, ballot: Ballot) -> str:
    """How the names of a round's files begin."""
    return slug(f"{project}-round-{ballot.number}")


def beside_votes(store: Store, project_id: str, ballot: Ballot) -> SideBySide:
    """The scores of a closed round beside those of the comparisons of the same ranking."""
    votes = of_dataset(read_project_dataset(store, project_id, ballot.area_id), "votes")
    return side_by_side(of_dataset(dataset(store, project_id, ballot), ballot.kind.about.label), votes)[0]


def rating_report(store: Store, project_id: str, ballot: Ballot) -> RatingReport:
    """The ratings of a round, worked out as those of a file are."""
    with store.read() as conn:
        return report(rating_set(conn, project_id, ballot))


def items(store: Store, project_id: str, ballot: Ballot) -> pd.DataFrame:
    """The items of a closed round, best first: rank, tokens, score, bounds and answers."""
    frame = round_dataset(store, project_id, ballot.id).rename(columns={"votes": "answers"})
    return frame[["rank", "token_a", "token_b", "area", "score", "lower", "upper", "answers"]]


def compared_words(store: Store, project_id: str, ballot: Ballot) -> list[GroupComparison]:
    """The comparisons that the orders of a round give, with those that hold by definition."""
    with store.read() as conn:
        return preferences_of(conn, project_id, ballot)


def models(store: Store, project_id: str, ballot: Ballot, opened: Sequence[tuple[str, Embedding]]) -> pd.DataFrame:
    """A row per model, the best first, against what a closed round says; None where a figure is undefined.

    By ρ_w; where items have no scores, by the score of Avraham and Goldberg, as for a file of target groups.
    """
    if not ballot.kind.about.scores_items:
        words = compared_words(store, project_id, ballot)
        return target_groups.scores({name: score_groups(words, model.cosines) for name, model in opened})
    people = dataset(store, project_id, ballot)
    rows = []
    for name, model in opened:
        overall = evaluate(people, model).overall
        figures: list[FigureEstimate] = [getattr(overall, key) for key in FIGURES.values()]
        covered = out_of(overall.n_covered, overall.n_items)
        rows.append((name, *(figure.estimate for figure in figures), covered))
    table = pd.DataFrame(rows, columns=["model", *FIGURES, "covered"]).astype(dict.fromkeys(FIGURES, "float64"))
    return table.sort_values("ρ_w", ascending=False, kind="stable", ignore_index=True)


def opened_models(store: Store, project_id: str) -> tuple[list[tuple[str, Embedding]], list[str]]:
    """The embeddings of the project that can be opened, by name, and why others can't."""
    opened, problems = [], []
    for imported in read_embeddings(store, project_id):
        try:
            opened.append((imported.name, open_library(store, imported)))
        except RunoffError as error:
            problems.append(f"{imported.name}: {error}")
    return opened, problems
