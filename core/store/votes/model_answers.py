"""What language models answered to a ballot's comparisons: kept answer by answer, apart from the votes of people.

A record (`ModelJudge`) is a model asked about a ballot in one way. It is bound to model, prompt and wording: where one
of them changes, answers go to another record, and the earlier one is stale.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...errors import StoreError
from ...judges.chat import JudgeSettings
from ...judges.prompt import UNREADABLE, comparison_text, prompt_of
from ...questions.comparison import VALUES
from ...questions.comparison_page import Wording
from ...tables import MODEL_ANSWERS
from .. import schema as t
from ..ballots.ballot_rows import Ballot, every_ballot_of, sentence_start
from ..command import Change, fetch_rows, insert_one, project_row
from ..engine import Store, now
from ..projects.plans import settings_for
from ..tokens.areas import items_of

_ORDER = 9  # with the ballot's seed: which comparisons are asked first


@dataclass(frozen=True)
class ModelJudge:
    """A record: a language model asked about a ballot; see `schema.ballots`.

    stale : why its answers are no longer those that this model, prompt and wording would give; empty where they are.
    revisions : what the server called the model, the first name first.
    """

    id: int
    ballot_id: int
    address: str
    model: str
    temperature: float | None
    most_tokens: int | None
    prompt: str
    wording: Mapping[str, Any]
    n_wanted: int
    input_price: float | None
    output_price: float | None
    began_at: str
    stale: tuple[str, ...] = ()
    revisions: tuple[str, ...] = ()
    n_answers: int = 0  # of n_wanted comparisons in both orders
    n_votes: int = 0
    n_attempts: int = 0  # all that ever came

    @property
    def n_missing(self) -> int:
        """Answers that it still lacks."""
        return 2 * self.n_wanted - self.n_answers

    @property
    def name(self) -> str:
        """What it is called: the model, and how its server called it where that is something else."""
        said = ", ".join(revision for revision in self.revisions if revision and revision != self.model)
        return f"{self.model} ({said})" if said else self.model


_COLUMNS = [t.model_judge.c[name] for name in list(ModelJudge.__annotations__)[:12]]


@dataclass(frozen=True)
class PendingQuestion:
    """A comparison to be asked in one order: `text` is what is sent."""

    question_id: int
    flipped: bool
    attempt: int
    text: str


@dataclass(frozen=True)
class GivenAnswer:
    """What came for a comparison; columns of `schema.model_answer`."""

    raw: str
    answer: str | None
    reason: str | None
    revision: str
    fingerprint: str | None
    prompt_tokens: int | None
    answer_tokens: int | None
    seconds: float


def ballot_prompt(conn: sa.Connection, ballot: Ballot) -> tuple[str, Wording, bool]:
    """What a model is told before the comparisons of a ballot, by its wording now; that, and whether ties are allowed.

    Raises `StoreError` for a round, which asks no comparisons.
    """
    if ballot.is_round:
        raise StoreError(f"{sentence_start(ballot.called)} asks no comparisons, and language models answer those only.")
    plan = settings_for(conn, ballot.id)
    of = sa.select(t.project.c.notion).join(t.ballot, t.ballot.c.project_id == t.project.c.id)
    notion = conn.execute(of.where(t.ballot.c.id == ballot.id)).scalar_one()
    return prompt_of(plan.wording, notion, ties_allowed=plan.ties_allowed), plan.wording, plan.ties_allowed


def judges_of(conn: sa.Connection, project_id: str) -> list[ModelJudge]:
    """The records of a project in the order they were begun, with how far they are, and why they are stale."""
    found = []
    for ballot in [ballot for ballot in every_ballot_of(conn, project_id) if not ballot.is_round]:
        rows = conn.execute(sa.select(*_COLUMNS).where(t.model_judge.c.ballot_id == ballot.id)).all()
        if rows:
            prompt, wording, _ = ballot_prompt(conn, ballot)
            found += [_with_state(conn, ModelJudge(*row), prompt, _as_json(wording)) for row in rows]
    return sorted(found, key=lambda judge: judge.id)


def read_judges(store: Store, project_id: str) -> list[ModelJudge]:
    """The records of a project; see `judges_of`."""
    with store.read() as conn:
        return judges_of(conn, project_id)


def judge_of(conn: sa.Connection, project_id: str, judge_id: int) -> ModelJudge:
    """One record; `StoreError` where the project has none such."""
    for judge in judges_of(conn, project_id):
        if judge.id == judge_id:
            return judge
    raise StoreError("This record of a language model is gone. Load the page again.")


def _with_state(conn: sa.Connection, judge: ModelJudge, prompt: str, wording: Mapping[str, Any]) -> ModelJudge:
    a = t.model_answer.c
    last = _last_of(judge.id).subquery()
    counts: list[Any] = [sa.func.count(), sa.func.count(last.c.reason)]
    n_answers, n_reasons = fetch_rows(conn, sa.select(*counts))[0]
    said = fetch_rows(
        conn,
        sa.select(a.revision, sa.func.count(), sa.func.min(a.id))
        .where(a.model_judge_id == judge.id, a.revision != "")
        .group_by(a.revision)
        .order_by(sa.func.min(a.id)),
    )
    n_attempts = conn.execute(sa.select(sa.func.count()).where(a.model_judge_id == judge.id)).scalar_one()
    stale = []
    if judge.wording != wording:
        stale.append("the wording of the ballot is another one now")
    elif judge.prompt != prompt:
        stale.append("this version of Runoff makes another prompt of the wording")
    if len(said) > 1:
        stale.append(f"the server called the model {said[0][0]} first, and then {said[-1][0]}")
    return replace(
        judge,
        stale=tuple(stale),
        revisions=tuple(revision for revision, *_ in said),
        n_answers=n_answers,
        n_votes=n_answers - n_reasons,
        n_attempts=n_attempts,
    )


def _last_of(judge_id: int) -> sa.Select[Any]:
    """Question, order and reason of each answer that stands: the last that came, unless it couldn't be read."""
    a, later = t.model_answer.c, t.model_answer.alias("later")
    newer = sa.and_(
        later.c.model_judge_id == a.model_judge_id,
        later.c.question_id == a.question_id,
        later.c.flipped == a.flipped,
        later.c.attempt > a.attempt,
    )
    query = sa.select(a.question_id, a.flipped, a.reason).outerjoin(later, newer)
    query = query.where(a.model_judge_id == judge_id, later.c.id.is_(None))
    return query.where(sa.or_(a.reason.is_(None), a.reason != UNREADABLE))


def _as_json(wording: Wording) -> dict[str, Any]:
    """A wording as the table gives it back."""
    found: dict[str, Any] = json.loads(json.dumps(wording.stored()))
    return found


def has_model_answers(conn: sa.Connection, ballot_id: int) -> bool:
    """Whether a language model has answered about a ballot."""
    j, a = t.model_judge.c, t.model_answer.c
    query = sa.select(a.id).join(t.model_judge, j.id == a.model_judge_id).where(j.ballot_id == ballot_id).limit(1)
    return conn.execute(query).first() is not None


def begin(change: Change, ballot: Ballot, settings: JudgeSettings, n_wanted: int, *, anew: bool = False) -> ModelJudge:
    """The record that answers go to now: one of the same model, prompt and wording goes on, else one is begun.

    n_wanted : comparisons that it is to have in the end, 0 for all. `anew` begins another one whatever is there.
    """
    conn = change.conn
    prompt, wording, _ = ballot_prompt(conn, ballot)
    n_wanted = min(n_wanted or ballot.n_comparisons, ballot.n_comparisons)
    bound = {
        "ballot_id": ballot.id,
        "address": settings.address,
        "model": settings.model,
        "temperature": settings.temperature,
        "most_tokens": settings.most_tokens,
        "prompt": prompt,
        "wording": _as_json(wording),
    }
    prices = {"input_price": settings.input_price, "output_price": settings.output_price}
    same = [
        judge
        for judge in judges_of(conn, change.project_id)
        if not judge.stale and all(getattr(judge, name) == value for name, value in bound.items())
    ]
    if same and not anew:
        judge_id = same[-1].id
        row = sa.update(t.model_judge).where(t.model_judge.c.id == judge_id)
        conn.execute(row.values(n_wanted=max(n_wanted, same[-1].n_wanted), **prices))
    else:
        judge_id = insert_one(conn, t.model_judge, **bound, **prices, n_wanted=n_wanted, began_at=now())
    return judge_of(conn, change.project_id, judge_id)


def pending_of(conn: sa.Connection, project_id: str, ballot: Ballot, judge: ModelJudge) -> list[PendingQuestion]:
    """What a record still wants asked, both orders of a comparison one after the other.

    Comparisons come in an order drawn by the ballot's seed, so that the first n are a sample, and a larger sample holds
    the smaller one. Checks aren't asked.
    """
    one, two, q = t.question_option.alias("one"), t.question_option.alias("two"), t.question.c
    query = (
        sa.select(q.id, one.c.item_id, two.c.item_id)
        .join(one, sa.and_(one.c.question_id == q.id, one.c.position == 0))
        .join(two, sa.and_(two.c.question_id == q.id, two.c.position == 1))
        .where(q.ballot_id == ballot.id, q.role == "main")
        .order_by(q.id)
    )
    rows = fetch_rows(conn, query)
    drawn = np.random.default_rng([ballot.seed, _ORDER]).permutation(len(rows))[: judge.n_wanted]
    items = items_of(conn, project_id)
    words = dict(
        zip(items.index, items[["token_a", "token_b", "area"]].itertuples(index=False, name=None), strict=True)
    )
    done = {(question, bool(flipped)) for question, flipped, _ in fetch_rows(conn, _last_of(judge.id))}
    a = t.model_answer.c
    tried = Counter(
        (question, bool(flipped))
        for question, flipped in fetch_rows(
            conn, sa.select(a.question_id, a.flipped).where(a.model_judge_id == judge.id)
        )
    )
    wanted = []
    for place in drawn.tolist():
        question_id, first, second = rows[place]
        for flipped in (False, True):
            if (question_id, flipped) not in done:
                pairs = (words[second], words[first]) if flipped else (words[first], words[second])
                attempt = tried[question_id, flipped] + 1
                wanted.append(PendingQuestion(question_id, flipped, attempt, comparison_text(*pairs)))
    return wanted


def keep_answers(
    store: Store, project_id: str, judge_id: int, answers: Sequence[tuple[PendingQuestion, GivenAnswer]]
) -> None:
    """Keep what came, in a transaction of its own: it was paid for. It raises no revision, as no vote of people does.

    What is there already, from another run of the same, is left as it is.
    """
    a = t.model_answer.c
    with store.write(project_id) as conn:
        for asked, given in answers:
            key = {"model_judge_id": judge_id, "question_id": asked.question_id, "flipped": asked.flipped}
            there = sa.select(a.id).where(*(a[name] == value for name, value in key.items()))
            if conn.execute(there.where(a.attempt == asked.attempt)).first() is None:
                values = {name: getattr(given, name) for name in GivenAnswer.__annotations__}
                conn.execute(
                    sa.insert(t.model_answer).values(
                        **key, **values, attempt=asked.attempt, prompt=asked.text, at=now()
                    )
                )


def answers_of(conn: sa.Connection, judge_id: int) -> pd.DataFrame:
    """What a record's model answered (schema MODEL_ANSWERS), in the order in which answers came."""
    a, one, two = t.model_answer.c, t.question_option.alias("one"), t.question_option.alias("two")
    first, second = t.item.alias("first_item"), t.item.alias("second_item")
    names = list(MODEL_ANSWERS.columns)
    of_answer = [name for name in names if name not in ("first", "second", "value")]
    query = (
        sa.select(first.c.position, second.c.position, *(a[name] for name in of_answer))
        .join(one, sa.and_(one.c.question_id == a.question_id, one.c.position == 0))
        .join(two, sa.and_(two.c.question_id == a.question_id, two.c.position == 1))
        .join(first, first.c.id == one.c.item_id)
        .join(second, second.c.id == two.c.item_id)
        .where(a.model_judge_id == judge_id)
        .order_by(a.id)
    )
    frame = pd.DataFrame(fetch_rows(conn, query), columns=["first", "second", *of_answer])
    frame["value"] = frame["answer"].map(VALUES).astype("float64")
    texts = [name for name, kind in MODEL_ANSWERS.columns.items() if kind == "text"]
    frame[texts] = frame[texts].fillna("").astype("str")
    frame["flipped"] = frame["flipped"].astype(bool)
    frame[["prompt_tokens", "answer_tokens"]] = frame[["prompt_tokens", "answer_tokens"]].astype("float64")
    keys = ["question_id", "flipped"]
    frame = frame.sort_values("attempt", kind="stable").drop_duplicates(keys, keep="last").sort_index()
    return MODEL_ANSWERS.check(frame[names].reset_index(drop=True))


def model_answers_file(conn: sa.Connection, project_id: str) -> list[dict[str, Any]]:
    """All records of a project with everything that came, for a file; `comparison` is the number that the published
    comparisons have."""
    project_row(conn, project_id)
    ballots = {ballot.id: ballot for ballot in every_ballot_of(conn, project_id)}
    found = []
    for judge in judges_of(conn, project_id):
        ballot, a = ballots[judge.ballot_id], t.model_answer.c
        ids = sa.select(t.question.c.id).where(t.question.c.ballot_id == ballot.id).order_by(t.question.c.id)
        number = {row[0]: place for place, row in enumerate(fetch_rows(conn, ids), 1)}
        names = [c.name for c in t.model_answer.c if c.name not in ("id", "model_judge_id", "question_id")]
        rows = fetch_rows(
            conn, sa.select(a.question_id, *(a[n] for n in names)).where(a.model_judge_id == judge.id).order_by(a.id)
        )
        answers = [{"comparison": number[question]} | dict(zip(names, rest, strict=True)) for question, *rest in rows]
        for answer in answers:
            answer["flipped"] = bool(answer["flipped"])
        area = None
        if ballot.area_id is not None:
            area = conn.execute(sa.select(t.area.c.name).where(t.area.c.id == ballot.area_id)).scalar_one()
        about = {
            name: getattr(judge, name)
            for name in ("model", "temperature", "most_tokens", "prompt", "wording", "n_wanted", "began_at")
        }
        ranked = {"ranking": area or "", "ballot": ballot.number}
        found.append({"source": "model", **ranked, **about, "stale": list(judge.stale), "answers": answers})
    return found
