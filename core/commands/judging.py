"""A language model asked about the comparisons of a ballot, each in both orders, and the figures of its answers.

What came is paid for, so each answer is kept by itself and as it comes, and a run that is stopped goes on where it was.
Answers never join the votes of people (`store.votes.model_answers`); the figures say what those of one record show
beside them.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ..base.numbers_in_words import many, plural
from ..base.parallel import Progress
from ..base.web import Server, UnreadableError
from ..errors import PlatformError, RunoffError, StoreError
from ..evaluation.vote_intervals import number_of_resamples
from ..judges.chat import KEY, JudgeSettings, Reply, ask, request_of, server_of, storable
from ..judges.figures import (
    JudgeCost,
    JudgeEffects,
    OrderEffect,
    RankingAgreement,
    by_gap,
    judge_cost,
    judge_effects,
    order_effect,
    ranking_agreement,
)
from ..judges.prediction_powered import WithModel, with_model
from ..judges.prompt import REASONS, UNREADABLE, outcome_of, read_choice
from ..scores.bradley_terry import FittedVotes, fit_votes
from ..store import Store
from ..store import schema as t
from ..store.ballots.ballot_rows import ballots_of, every_ballot_of
from ..store.command import command, fetch_rows
from ..store.projects.model_servers import CHAT
from ..store.projects.model_servers import server_of as switched_on
from ..store.projects.plans import ballot_named, settings_for
from ..store.scores.project_dataset import dataset_of
from ..store.tokens.areas import items_of, n_items_of
from ..store.votes.model_answers import (
    GivenAnswer,
    ModelJudge,
    PendingQuestion,
    answers_of,
    ballot_prompt,
    begin,
    judge_of,
    judges_of,
    keep_answers,
    pending_of,
)
from ..store.votes.tallies import ballot_votes, progress_of
from .ballots import OfBallot
from .figures.base import Figure
from .figures.evaluation_inputs import KEYS, load_draws
from .figures.votes import READ

SECONDS = 0.5  # that an answer takes
MOST_KEPT = 100_000  # bytes of what was no answer of a model
IN_A_ROW = 5  # replies that can't be read, after which nothing more is asked
GRACE = 1.5  # seconds that answers on their way have where the work is stopped
OFF = "No language model is switched on for this project, so nothing is sent. Switch one on first."


@dataclass(frozen=True)
class ModelAsked:
    """What came of asking: answers that came now, votes among them, and why others are none."""

    judge_id: int
    n_answers: int
    n_votes: int
    reasons: dict[str, int]

    @property
    def said(self) -> str:
        """In sentences."""
        if not self.n_answers:
            return "The language model has answered all of these comparisons before."
        without = "; ".join(f"{n:,} {REASONS.get(reason, reason)}" for reason, n in sorted(self.reasons.items()))
        sentence = f"The language model gave {many(self.n_answers, 'answer')}, {many(self.n_votes, 'vote')} among them."
        return f"{sentence} No votes: {without}." if without else sentence


@dataclass(frozen=True)
class AskModel(OfBallot[ModelAsked]):
    """Ask the language model that is switched on about a ballot: so many comparisons, 0 for all; `anew` begins another
    record though one could go on."""

    name = "ask language model"
    doing = "Asking the language model"
    in_parts = True
    n: int = 0
    anew: bool = False

    def seconds(self, conn: sa.Connection) -> float:
        """More than anybody waits for: it is a job, however few there are."""
        ballot = self.ballot(conn)
        n = self.n or (ballot.n_comparisons if ballot else 0)
        return 10.0 + 2 * n * SECONDS

    def run(self, store: Store) -> ModelAsked:
        return self.run_with(store, None)

    def run_with(self, store: Store, progress: Progress | None) -> ModelAsked:
        return ask_model(store, self, progress=progress)

    def summary(self, result: ModelAsked) -> str:
        return result.said

    def meanwhile(self, conn: sa.Connection) -> str:
        return self._so_far(conn)

    def afterwards(self, conn: sa.Connection) -> str:
        so_far = self._so_far(conn)
        return f"{so_far} Ask again, and it goes on there." if so_far else ""

    def _so_far(self, conn: sa.Connection) -> str:
        ballot = self.ballot(conn)
        own_judges = [judge for judge in judges_of(conn, self.project_id) if ballot and judge.ballot_id == ballot.id]
        if not own_judges:
            return ""
        return f"{own_judges[-1].n_answers:,} of {2 * own_judges[-1].n_wanted:,} answers are kept."


def ask_model(
    store: Store, asked: AskModel, *, progress: Progress | None = None, say: Callable[[str], None] | None = None
) -> ModelAsked:
    """Ask about a ballot what the command says. The key is that of the environment. `say` is told why it waits.

    Raises `StoreError` where no language model is switched on, or the ballot is gone or asks no comparisons;
    `PlatformError` where the server can't be asked any further: what came until then is kept.
    """
    project_id = asked.project_id
    with command(store, project_id, AskModel.name, expected_revision=asked.revision) as change:
        setup = switched_on(change.conn, project_id, CHAT)
        if setup is None:
            raise StoreError(OFF)
        settings, ballot = JudgeSettings.of(setup), asked.ballot(change.conn)
        server = server_of(settings, os.environ.get(KEY, ""))
        if ballot is None:
            raise StoreError("The ballot is gone. Load the page again.")
        judge = begin(change, ballot, settings, asked.n, anew=asked.anew)
        ties_allowed = ballot_prompt(change.conn, ballot)[2]
        wanted = pending_of(change.conn, project_id, ballot, judge)
        change.detail = ballot_named(change.conn, project_id, ballot.area_id, ballot.number, ballot.purpose)
        change.detail |= {"model": judge.model, "address": judge.address, "comparisons": judge.n_wanted}
        change.detail |= {"answers": len(wanted)}
    askers = _Askers(server, settings, judge.prompt, wanted, say or (lambda told: None))
    keeper = _Keeper(store, project_id, judge, ties_allowed)
    try:
        for came in askers.replies():
            keeper.take(came)
            if keeper.problem is not None:
                askers.stop()  # what is on its way is waited for, and kept
            if progress is not None:
                progress(keeper.n_answers, len(wanted))
    except BaseException:  # stopped: what came is paid for
        askers.stop()
        keeper.keep()
        for came in askers.replies(within=GRACE):
            keeper.take(came)
        raise
    if isinstance(keeper.problem, PlatformError):
        sentence = plural(keeper.n_answers, "{n} answer is kept", "{n} answers are kept")
        raise PlatformError(f"{keeper.problem} {sentence}; asking again goes on there.")
    if keeper.problem is not None:
        raise keeper.problem
    return ModelAsked(judge.id, keeper.n_answers, keeper.n_votes, keeper.reasons)


@dataclass(frozen=True)
class _Came:
    """What came for a comparison, or why nothing more can be asked."""

    asked: PendingQuestion
    seconds: float
    reply: Reply | None = None
    problem: Exception | None = None


class _StoppedError(Exception):
    """Nothing more is wanted, and it isn't waited for."""


class _Askers:
    """Threads that ask a server, so many at a time."""

    def __init__(
        self,
        server: Server,
        settings: JudgeSettings,
        prompt: str,
        wanted: Sequence[PendingQuestion],
        say: Callable[[str], None],
    ) -> None:
        self._server, self._settings, self._prompt, self._say = server, settings, prompt, say
        self._todo: queue.SimpleQueue[PendingQuestion] = queue.SimpleQueue()
        self._came: queue.SimpleQueue[_Came | None] = queue.SimpleQueue()
        self._enough = threading.Event()
        self._room = threading.Semaphore(settings.at_once)  # so that no more is on the way than isn't kept yet
        for asked in wanted:
            self._todo.put(asked)
        self._alive = min(settings.at_once, len(wanted))
        for _ in range(self._alive):
            threading.Thread(target=self._work, daemon=True).start()

    def stop(self) -> None:
        """Ask nothing more, and wait for no other try."""
        self._enough.set()
        self._room.release(self._settings.at_once)

    def replies(self, *, within: float | None = None) -> Iterator[_Came]:
        """What comes, as it comes, until all is there or nothing more is asked; `within` so many seconds."""
        until = None if within is None else time.monotonic() + within
        while self._alive:
            try:
                came = self._came.get(timeout=None if until is None else max(until - time.monotonic(), 0.0))
            except queue.Empty:
                return
            if came is None:
                self._alive -= 1
            else:
                yield came
                self._room.release()

    def _work(self) -> None:
        with suppress(queue.Empty, _StoppedError):
            while self._room.acquire() and not self._enough.is_set():
                self._came.put(self._ask(self._todo.get_nowait()))
        self._came.put(None)

    def _ask(self, asked: PendingQuestion) -> _Came:
        begun = time.monotonic()
        body = request_of(self._settings, self._prompt, asked.text)
        try:
            reply = ask(self._server, body, say=self._say, sleep=self._wait)
        except UnreadableError as error:
            began = storable(error.content[:MOST_KEPT].decode("utf-8", "replace"))
            reply = Reply(began, is_answer=False)
        except _StoppedError:
            raise
        except Exception as error:  # noqa: BLE001 - whoever waits for the thread is told, whatever it is
            self.stop()
            return _Came(asked, time.monotonic() - begun, problem=error)
        return _Came(asked, time.monotonic() - begun, reply)

    def _wait(self, seconds: float) -> None:
        if self._enough.wait(seconds):
            raise _StoppedError


@dataclass
class _Keeper:
    """Keeps what comes one by one, and counts it; `problem` is why nothing more should be asked."""

    store: Store
    project_id: str
    judge: ModelJudge
    ties_allowed: bool
    n_answers: int = 0
    n_votes: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    problem: Exception | None = None
    _unkept: list[tuple[PendingQuestion, GivenAnswer]] = field(default_factory=list)
    _unread: int = 0
    _revision: str | None = None

    def take(self, came: _Came) -> None:
        """Keep what came for a comparison."""
        if came.reply is None:
            self.problem = self.problem or came.problem
            return
        answer = _given(came.asked, came.reply, came.seconds, ties_allowed=self.ties_allowed)
        self._unkept.append((came.asked, answer))
        self.keep()
        self.n_answers += 1
        self.n_votes += answer.answer is not None
        if answer.reason is not None:
            self.reasons[answer.reason] = self.reasons.get(answer.reason, 0) + 1
        if self.problem is None:
            self.problem = self._look(came.reply)

    def keep(self) -> None:
        """Write what isn't written yet."""
        if self._unkept:
            keep_answers(self.store, self.project_id, self.judge.id, self._unkept)
            self._unkept = []

    def _look(self, reply: Reply) -> PlatformError | None:
        """Why nothing more should be asked after this reply, if there is a reason."""
        if not reply.is_answer:
            self._unread += 1
            if self._unread < IN_A_ROW:
                return None
            begins = " ".join(reply.content[:200].split())[:80]
            return PlatformError(
                f"{self._unread} answers in a row couldn't be read; the last begins with {begins!r}. Is "
                f"{self.judge.address} the address of the server itself?"
            )
        self._unread = 0
        if self._revision is None:
            self._revision = self.judge.revisions[0] if self.judge.revisions else reply.revision or None
        if reply.revision in ("", self._revision):  # a server's filter names no model
            return None
        return PlatformError(
            f"The server called the model {self._revision} so far, and {reply.revision} now, so this record is stale. "
            "Ask again: the answers go to a new record then."
        )


def _given(asked: PendingQuestion, reply: Reply, seconds: float, *, ties_allowed: bool) -> GivenAnswer:
    """What is kept of a reply."""
    answer, reason = None, UNREADABLE
    if reply.is_answer:
        choice = read_choice(reply.content, ties_allowed=ties_allowed, is_cut=reply.is_cut, is_refusal=reply.is_refusal)
        reason = choice.reason
        if choice.letter is not None:
            answer = outcome_of(choice.letter, flipped=asked.flipped)
    counts = (reply.prompt_tokens, reply.answer_tokens)
    return GivenAnswer(
        reply.content, answer, reason or None, reply.revision, reply.fingerprint, *counts, round(seconds, 3)
    )


RESAMPLED = 1.7e-6  # seconds a vote and resample, as `evaluation.VotesIntervals` takes
NO_SCORES = "There are no scores of people yet: they come with their votes."


@dataclass(frozen=True)
class JudgeFigures:
    """What a record says. `reasons` counts the answers that are no votes, by why; `no_gaps` says why there is no
    agreement by gap, or is empty; `powered` are the ballot's prediction-powered estimates."""

    n_votes: int
    n_answers: int
    reasons: dict[str, int]
    order: OrderEffect
    gaps: pd.DataFrame
    no_gaps: str
    effects: JudgeEffects
    ranking: RankingAgreement
    cost: JudgeCost
    powered: WithModel


@dataclass(frozen=True)
class JudgeFigure(Figure[JudgeFigures]):
    """The figures of a record as far as it has answers: `n_attempts` tells that more have come."""

    name = "judge"
    version = 3
    doing = "Setting the language model beside people"
    judge_id: int
    n_attempts: int
    n0: float = 2.0

    def seconds(self, conn: sa.Connection) -> float:
        judge = judge_of(conn, self.project_id, self.judge_id)
        of = {ballot.id: ballot for ballot in every_ballot_of(conn, self.project_id)}
        ballots = ballots_of(conn, self.project_id, of[judge.ballot_id].area_id)
        n = sum(progress_of(conn, ballot.id).votes for ballot in ballots)
        return 0.3 + (3 * n + judge.n_answers) / READ + RESAMPLED * n * number_of_resamples(n)

    def measure(self, store: Store, progress: Progress | None) -> tuple[JudgeFigures, None]:
        return judge_figures(store, self.project_id, self.judge_id, self.n0, progress), None


def judge_figures(
    store: Store, project_id: str, judge_id: int, n0: float = 2.0, progress: Progress | None = None
) -> JudgeFigures:
    """The figures of a record, ρ_w and τ_w with the offset n₀. `StoreError` where the project has none such."""
    with store.read() as conn:
        judge = judge_of(conn, project_id, judge_id)
        ballot = next(ballot for ballot in every_ballot_of(conn, project_id) if ballot.id == judge.ballot_id)
        answers = answers_of(conn, judge_id)
        people = ballot_votes(conn, ballot.id)
        ballots = ballots_of(conn, project_id, ballot.area_id)
        votes = [ballot_votes(conn, one.id) for one in [b for b in ballots if not b.is_open] or ballots]
        items, dataset = items_of(conn, project_id), dataset_of(conn, project_id, ballot.area_id)
        plan = settings_for(conn, ballot.id)
        whole = plan.plan(n_items_of(conn, project_id, ballot.area_id))
        a = t.model_answer.c
        came = fetch_rows(
            conn, sa.select(a.prompt_tokens, a.answer_tokens).where(a.model_judge_id == judge_id).order_by(a.id)
        )
    scores = _by_position(items, dataset)
    drawn, no_draws = None, NO_SCORES
    if not np.isnan(scores).all():
        draws = load_draws(store, project_id, progress=progress)
        no_draws = draws.problem
        drawn = None if draws.problem else draws.resampled(items)
    fitted, no_fit = _fitted(votes)
    gaps = by_gap(answers, scores, people)
    replies = pd.DataFrame(came, columns=["prompt_tokens", "answer_tokens"]).astype("float64")
    checks = sum(count.total for count in plan.check_counts(whole))
    is_vote = answers["reason"] == ""
    return JudgeFigures(
        n_votes=int(is_vote.sum()),
        n_answers=len(answers),
        reasons={str(reason): int(n) for reason, n in answers["reason"][~is_vote].value_counts().items()},
        order=order_effect(answers),
        gaps=gaps,
        no_gaps="" if len(gaps) else NO_SCORES if np.isnan(scores).all() else "No vote is on items of unlike scores.",
        effects=judge_effects(answers, fitted, no_fit),
        ranking=ranking_agreement(answers, scores, drawn, n0=n0, no_draws=no_draws),
        cost=judge_cost(
            replies,
            (judge.input_price, judge.output_price),
            plan.cost(whole).total / (whole.n_comparisons + checks),
            int(is_vote.sum()),
        ),
        powered=with_model(answers, people),
    )


def _by_position(items: pd.DataFrame, dataset: pd.DataFrame) -> np.ndarray:
    """The score of each item of the project by its position, NaN where it has none."""
    scored = pd.Series(dataset["score"].to_numpy(dtype=np.float64), index=pd.MultiIndex.from_frame(dataset[KEYS]))
    positions = np.full(int(items["item"].max()) + 1 if len(items) else 0, np.nan)
    positions[items["item"].to_numpy()] = scored.reindex(pd.MultiIndex.from_frame(items[KEYS])).to_numpy()
    return positions


def _fitted(votes: list) -> tuple[FittedVotes | None, str]:
    if not votes or not len(votes[0].first):
        return None, NO_SCORES
    try:
        return fit_votes(votes), ""
    except RunoffError as error:
        return None, f"People's votes can't be fitted: {error}"
