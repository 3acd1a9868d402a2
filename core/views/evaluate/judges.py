"""What is shown of language models as voters, on the Evaluate page and the command line.

It is what is switched on, which records there are, and what a record says beside people's votes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import pandas as pd

from ...base.estimates import LEVEL, Estimate
from ...base.numbers_in_words import many, percent, with_decimals
from ...base.web import is_open
from ...commands.judging import JudgeFigures
from ...dataset.files import to_csv
from ...evaluation.results import FigureEstimate
from ...judges.chat import KEY, PATH, JudgeSettings
from ...judges.figures import RANKED, VoterQuantiles, own_ranking
from ...judges.prompt import REASONS
from ...metrics import average_ranks
from ...store import Store
from ...store.ballots.ballot_rows import Ballot, every_ballot_of, sentence_start
from ...store.command import project_row
from ...store.projects.model_servers import CHAT, server_of
from ...store.projects.plans import rankings_of
from ...store.tokens.areas import items_of
from ...store.votes.model_answers import ModelJudge, answers_of, judge_of, judges_of
from ...tables import DATASET
from ...tabular.csv_writing import table_for_spreadsheets

NO_FIGURE = "–"
NEVER = (
    "A language model's answers are kept apart, and marked as a model's for good. They are not people's votes, and "
    "enter no score, no tally, no figure of agreement and no dataset."
)


@dataclass(frozen=True)
class JudgesView:
    """settings : of the language model that is switched on, None for none. ballots : those with comparisons, the newest
    first, with what they are called. judges : the records, the newest first. has_key : whether the environment holds a
    key."""

    settings: JudgeSettings | None
    ballots: tuple[tuple[Ballot, str], ...]
    judges: tuple[ModelJudge, ...]
    has_key: bool

    def ballot_of(self, judge: ModelJudge) -> str:
        """What the ballot of a record is called."""
        return next(called for ballot, called in self.ballots if ballot.id == judge.ballot_id)

    @property
    def sent(self) -> str:
        """What is sent to which address, in sentences."""
        if self.settings is None:
            return "Nothing is sent anywhere until you switch a language model on."
        unencrypted = is_open(self.settings.address)
        key = f"without a key, as {KEY} is empty"
        if self.has_key:
            key = f"without the key of {KEY}, as it is http" if unencrypted else f"with the key that {KEY} holds"
        sentences = (
            f"Each request sends to {self.settings.address}{PATH}, {key}: the ballot's instructions, question and "
            "examples, and the two pairs of a comparison with their areas. Nothing of voters, votes or scores is sent."
        )
        if unencrypted:
            sentences += " Whoever is between here and there can read it."
        return sentences

    @property
    def table(self) -> pd.DataFrame:
        """A row a record; what is stale where something is."""
        rows = [
            {
                "model": judge.name,
                "ballot": self.ballot_of(judge),
                "comparisons": judge.n_wanted,
                "answers": judge.n_answers,
                "votes": judge.n_votes,
                "stale": "; ".join(judge.stale),
            }
            for judge in self.judges
        ]
        columns = ["model", "ballot", "comparisons", "answers", "votes"]
        return pd.DataFrame(rows, columns=[*columns, *(["stale"] if any(row["stale"] for row in rows) else [])])


def load(store: Store, project_id: str) -> JudgesView:
    """What there is of a project."""
    with store.read() as conn:
        setup = server_of(conn, project_id, CHAT)
        areas = {ranking.area_id: ranking.area for ranking in rankings_of(conn, project_id)}
        ballots = [ballot for ballot in every_ballot_of(conn, project_id) if not ballot.is_round]
        judges = judges_of(conn, project_id)
    named = []
    for ballot in reversed(ballots):
        area_suffix = f" of {areas[ballot.area_id]}" if areas.get(ballot.area_id) else ""
        named.append((ballot, f"{sentence_start(ballot.called)}{area_suffix}"))
    settings = None if setup is None else JudgeSettings.of(setup)
    return JudgesView(settings, tuple(named), tuple(reversed(judges)), bool(os.environ.get(KEY, "").strip()))


def figures_table(figures: JudgeFigures) -> pd.DataFrame:
    """A row a figure: figure, value, 90% interval, people (the same of their voters), and from what, or why none."""
    order, effects, ranking, cost = figures.order, figures.effects, figures.ranking, figures.cost
    flips = f"{many(order.flips.total, 'comparison')} with a vote in both orders"
    naming_votes = f"{many(order.chose_a.total, 'vote')} that name a pair"
    voters = f"{many(effects.n_comparisons, 'comparison')}; people: {many(effects.n_voters, 'voter')}"
    items = f"{ranking.n_common:,} of {many(ranking.n_items, 'item')}, {many(ranking.n_votes, 'vote')} of the model"
    rows = [
        _row("flips with the order", order.flips, flips, share=True),
        _row("names A", order.chose_a, naming_votes, "50%", share=True),
        _row("sharpness", effects.sharpness, voters, _spread(effects.people_sharpness)),
        _row("lapse", effects.lapse, voters, _spread(effects.people_lapse)),
        _row("guesses go to A", effects.side, voters, "50%", share=True),
    ]
    ranked: dict[str, FigureEstimate] = {label: getattr(ranking, name) for name, label in RANKED}
    why = {figure.reason if figure.estimate is None else "" for figure in ranked.values()}
    if len(why) == 1 and "" not in why:  # all are blank for one reason, which is told once
        rows.append(_row(f"{' and '.join(ranked)} of its own ranking", Estimate(None, reason=why.pop()), items))
        ranked = {}
    for label, figure in ranked.items():
        corrected, lower, upper = figure.by_votes
        estimate = Estimate(figure.estimate if corrected is None else corrected, lower, upper, figure.reason)
        based_on = items if lower is not None or not ranking.no_interval else f"{items}. {ranking.no_interval}"
        rows.append(_row(f"{label} of its own ranking", estimate, based_on))
    token_counts = f"{cost.prompt_tokens:,} sent and {cost.answer_tokens:,} answered in {cost.n_counted:,} of "
    token_counts += f"{many(cost.n_replies, 'answer')}; {many(cost.n_votes, 'vote')}"
    tokens = Estimate(cost.tokens_per_vote, reason=cost.reason)
    rows.append(_row("tokens per vote", tokens, token_counts, digits=0))
    money = Estimate(cost.money_per_vote, reason=cost.reason)
    people = NO_FIGURE if cost.people_per_vote is None else f"{cost.people_per_vote:.4f}"
    rows.append(_row("cost per vote", money, f"{token_counts}; people: the plan", people, digits=4))
    return pd.DataFrame(rows, columns=["figure", "value", "90% interval", "people", "from"])


def _row(
    name: str, estimate: Estimate, based_on: str, people: str = NO_FIGURE, *, share: bool = False, digits: int = 3
) -> tuple[str, str, str, str, str]:
    """A row of `figures_table`."""

    def shown(value: float) -> str:
        return percent(value) if share else f"{value:,.{digits}f}"

    if estimate.estimate is None:
        return name, NO_FIGURE, NO_FIGURE, people, estimate.reason
    ends = NO_FIGURE
    if estimate.lower is not None and estimate.upper is not None:
        ends = f"{shown(estimate.lower)} to {shown(estimate.upper)}"
    return name, shown(estimate.estimate), ends, people, based_on


def _spread(quantiles: VoterQuantiles) -> str:
    """The median of the voters' values, with their low and high quantiles."""
    if quantiles.low is None or quantiles.middle is None or quantiles.high is None:
        return NO_FIGURE
    return f"{with_decimals(quantiles.middle)} ({with_decimals(quantiles.low)} to {with_decimals(quantiles.high)})"


def gaps_table(figures: JudgeFigures) -> pd.DataFrame:
    """A row a range of gaps, in words: how often the model, with its 90% interval, and people, of so many votes, name
    the item that has the higher score, and how often both answer the same; empty where there is none."""
    rows = [
        {
            "gap of scores": f"{with_decimals(row['lower'])} to {with_decimals(row['upper'])}",
            "comparisons": int(row["comparisons"]),
            "model": f"{percent(row['model'])} ({percent(row['model lower'])} to {percent(row['model upper'])})",
            "people": _of_votes(row["people"], int(row["votes"])),
            "same answer": NO_FIGURE if row["same"] != row["same"] else percent(row["same"]),
        }
        for row in figures.gaps.to_dict("records")
    ]
    return pd.DataFrame(rows)


def _of_votes(share: float, n_votes: int) -> str:
    return NO_FIGURE if share != share else f"{percent(share)} of {many(n_votes, 'vote')}"


def powered_table(figures: JudgeFigures) -> pd.DataFrame:
    """People's votes alone, and with the model's help: a row an estimate; empty where there is none."""
    with_model = figures.powered
    agreement, errors = with_model.agreement, with_model.error
    if agreement is None or with_model.reason:
        return pd.DataFrame()
    alone, helped = (NO_FIGURE, NO_FIGURE) if errors is None else (f"{error:.3f}" for error in errors)
    rows = [
        {
            "of the whole ballot": "people answer as the model does",
            "people's votes alone": _with_ends(agreement.plain),
            "with the model's answers": _with_ends(agreement.powered),
            "λ": f"{agreement.weight:.2f}",
            "from": f"{many(agreement.n_votes, 'vote')}, {many(agreement.n_rest, 'comparison')} of the model alone",
        },
        {
            "of the whole ballot": "standard error of θ, mean over items",
            "people's votes alone": alone,
            "with the model's answers": helped,
            "λ": f"{with_model.weight:.2f}",
            "from": f"{many(with_model.n_votes, 'vote')}, {many(with_model.n_rest, 'comparison')} of the model alone",
        },
    ]
    return pd.DataFrame(rows)


def _with_ends(share: Estimate) -> str:
    if share.estimate is None or share.lower is None or share.upper is None:
        return NO_FIGURE
    return f"{percent(share.estimate)} ({percent(share.lower)} to {percent(share.upper)})"


def powered_csv(store: Store, project_id: str, figures: JudgeFigures) -> bytes:
    """θ of each item by people's votes alone and with the model's help, with intervals, the highest with it first."""
    with store.read() as conn:
        items = items_of(conn, project_id).set_index("item")
    scores = figures.powered.scores.sort_values("powered", ascending=False, kind="stable")
    words = items.loc[scores["item"].to_numpy(dtype="int64"), ["area", "token_a", "token_b"]].reset_index(drop=True)
    numbers = scores.drop(columns="item").reset_index(drop=True)
    level = percent(LEVEL)
    return table_for_spreadsheets(pd.concat([words, numbers], axis=1).assign(level=level))


def answers_said(figures: JudgeFigures) -> str:
    """How many answers are votes, and why others are none."""
    counts = f"{many(figures.n_answers, 'answer')}, {many(figures.n_votes, 'vote')} among them."
    without = "; ".join(f"{n:,} {REASONS.get(reason, reason)}" for reason, n in sorted(figures.reasons.items()))
    return f"{counts} No votes, and kept as they came: {without}." if without else counts


def answers_table(store: Store, project_id: str, judge_id: int) -> pd.DataFrame:
    """What a record's model answered, a row an answer in the order they came, with the words of the two items."""
    with store.read() as conn:
        judge = judge_of(conn, project_id, judge_id)
        answers, items = answers_of(conn, judge.id), items_of(conn, project_id).set_index("item")
    words = items["token_a"] + " – " + items["token_b"]
    return pd.DataFrame(
        {
            "source": "model",
            "model": judge.model,
            "revision": answers["revision"],
            "first": answers["first"].map(words),
            "second": answers["second"].map(words),
            "A": ["second" if flipped else "first" for flipped in answers["flipped"]],
            "answer": answers["answer"],
            "no vote because": answers["reason"],
            "raw": answers["raw"],
            "sent": answers["prompt"],
            "temperature": judge.temperature,
            "fingerprint": answers["fingerprint"],
            "prompt tokens": answers["prompt_tokens"],
            "answer tokens": answers["answer_tokens"],
            "seconds": answers["seconds"],
            "at": answers["at"],
        }
    )


def answers_csv(store: Store, project_id: str, judge_id: int) -> bytes:
    """The same as a file for people."""
    return table_for_spreadsheets(answers_table(store, project_id, judge_id))


def ranking_dataset(store: Store, project_id: str, judge_id: int) -> pd.DataFrame:
    """The model's own ranking as a dataset (schema DATASET) whose rows and description say that a model made it.

    Errors of `own_ranking`.
    """
    with store.read() as conn:
        judge = judge_of(conn, project_id, judge_id)
        answers, items = answers_of(conn, judge.id), items_of(conn, project_id).set_index("item")
        notion = project_row(conn, project_id).notion
    ranking = own_ranking(answers)
    votes = answers[answers["reason"] == ""]
    appearances = pd.concat([votes["first"], votes["second"]]).value_counts()
    table = items.loc[ranking.items, ["area", "token_a", "token_b"]].assign(
        score=ranking.score,
        rank=average_ranks(ranking.score),
        votes=appearances.reindex(ranking.items).to_numpy().astype("int64"),
        source="model",
    )
    table = table.sort_values(["rank"], kind="stable").reset_index(drop=True)
    table.attrs = {
        "notion": notion,
        "source": "model",
        "estimator": "expected Borda score of the Bradley–Terry fit of a language model's answers in both orders",
        "model": judge.model,
        "revisions": list(judge.revisions),
        "temperature": judge.temperature,
        "prompt": judge.prompt,
        "stale": list(judge.stale),
        "votes": ranking.n_votes,
    }
    return DATASET.check(table)


def ranking_csv(store: Store, project_id: str, judge_id: int) -> bytes:
    """The same as a file."""
    return to_csv(ranking_dataset(store, project_id, judge_id))
