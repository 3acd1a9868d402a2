"""Language models as voters: what is sent, what an answer means, that nothing is invented and nothing paid for is lost,
and that no vote of a model is ever one of people's."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa
from campaigns import PLAN, answer_batch, draw_batch, make_project
from chat_server import ChatServer, chat_server, longer, said, whole

from core.base import web
from core.commands import executor
from core.commands.ballots import DiscardBallot
from core.commands.integrity import check_store
from core.commands.judging import AskModel, JudgeFigures, ModelAsked, judge_figures
from core.errors import InputError, PlatformError, StoreError
from core.evaluation.results import FigureEstimate
from core.judges.chat import JudgeSettings, server_of
from core.judges.figures import RANKED
from core.judges.prompt import read_choice
from core.questions.comparison_page import write_batch
from core.store import Store
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot
from core.store.projects.archive import duplicate_project, export_project, import_project
from core.store.projects.model_servers import CHAT, read_server, switch_off, switch_on
from core.store.projects.project_commands import get_project, read_log
from core.store.projects.records import record_files, record_of
from core.store.scores.project_dataset import read_project_dataset
from core.store.votes.intake import accept_upload
from core.store.votes.model_answers import answers_of, pending_of, read_judges
from core.store.votes.tallies import progress_of
from core.views.evaluate.judges import figures_table, powered_csv, powered_table
from core.views.log import log_table

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setattr(web, "WAITS", (0.01, 0.01))
    monkeypatch.delenv("RUNOFF_JUDGE_KEY", raising=False)
    with chat_server() as running:
        yield running


def on(store: Store, project_id: str, server: ChatServer, **more) -> None:
    settings = JudgeSettings(server.url, "judge", at_once=1, **more)
    switch_on(store, project_id, CHAT, settings.stored())


def asked(store: Store, project_id: str, n: int = 0, *, anew: bool = False, progress=None) -> ModelAsked:
    """Ask about ballot 1."""
    return command_of(store, project_id, n=n, anew=anew).run_with(store, progress)


def command_of(store: Store, project_id: str, **more) -> AskModel:
    ballot = read_ballots(store, project_id)[0]
    return AskModel.of(project_id, get_project(store, project_id).revision, ballot, **more)


def rows(store: Store, judge_id: int):
    with store.read() as conn:
        return answers_of(conn, judge_id)


def count(store: Store, table: sa.Table) -> int:
    with store.read() as conn:
        return conn.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()


@pytest.fixture
def project(store: Store) -> str:
    """A project whose ballot 1 is drawn: 42 comparisons of 21 items."""
    project_id = make_project(store)
    draw_batch(store, project_id)
    return project_id


def test_one_letter_is_a_vote_and_all_else_is_none():
    letters = {
        "A": "A",
        "b": "B",
        " **B** ": "B",
        "(A)": "A",
        "“A”.": "A",
        "T": "T",
        "<think>A or B?</think>\n\nB": "B",
    }
    for content, letter in letters.items():
        assert read_choice(content, ties_allowed=True).letter == letter, content
    none = {
        "": "empty", " \n": "empty", "<think>so long</think>": "empty", "C": "words", "AB": "words", "A B": "words",
        "A, because cats are pets": "words", "Answer: A": "words", "The first pair": "words", "Ⓐ": "words",
        "<!DOCTYPE html><html>A</html>": "words", "I'm sorry, I can't compare these.": "refused",
        "As an AI I have no opinion": "refused", "<think>A": "words",
    }  # fmt: skip
    for content, reason in none.items():
        for ties in (True, False):
            assert read_choice(content, ties_allowed=ties) == (found := read_choice(content, ties_allowed=ties))
            assert (found.letter, found.reason) == (None, reason), content
    for content in ("T", "Both are equal.", "Neither", "they are the same"):
        assert read_choice(content, ties_allowed=False).reason == "tie", content
    assert read_choice("Both are equal.", ties_allowed=True).reason == "words"
    assert read_choice("A", ties_allowed=True, is_cut=True).reason == "cut"
    assert read_choice("A", ties_allowed=True, is_refusal=True).reason == "refused"


def test_each_comparison_is_asked_in_both_orders_and_what_was_sent_is_kept(store, project, server, monkeypatch):
    monkeypatch.setenv("RUNOFF_JUDGE_KEY", "sk-very-secret")
    on(store, project, server, temperature=0.5, most_tokens=9)
    done = asked(store, project)
    assert (done.n_answers, done.n_votes, done.reasons) == (84, 84, {})
    assert set(server.paths) == {"/v1/chat/completions"}
    assert {head["authorization"] for head in server.headers} == {"Bearer sk-very-secret"}
    for body in server.asked:
        assert {name: body[name] for name in ("model", "temperature", "max_tokens")} == {
            "model": "judge", "temperature": 0.5, "max_tokens": 9,
        }  # fmt: skip
    (prompt,) = {body["messages"][0]["content"] for body in server.asked}
    assert "Which two words are more related?" in prompt
    assert "A or B, or T where both pairs are equally related" in prompt
    # Whoever is A in one order is B in the other, and each pair of orders says the same of a model without a taste.
    for one, other in zip(server.texts[::2], server.texts[1::2], strict=True):
        (a, b), (c, d) = one.split("\n"), other.split("\n")
        assert (a[3:], b[3:]) == (d[3:], c[3:])
    (judge,) = read_judges(store, project)
    answers = rows(store, judge.id)
    assert answers["prompt"].tolist() == server.texts
    assert (judge.prompt, judge.revisions, judge.temperature, judge.name) == (
        prompt, ("judge-1",), 0.5, "judge (judge-1)",
    )  # fmt: skip
    assert set(answers["fingerprint"]) == {"fp_1"}
    assert (answers.groupby("question_id")["value"].nunique() == 1).all()
    assert answers["at"].str.startswith("20").all()
    # The key stands nowhere.
    for path in store.folder.rglob("*"):
        assert not path.is_file() or b"very-secret" not in path.read_bytes(), path
    told = log_table(read_log(store, project)).to_string()
    assert "Asked judge about ballot 1" in told
    assert "very-secret" not in told


def test_nothing_is_invented_and_all_that_came_is_kept(store, project, server):
    """A server that does all that servers do: each comparison meets another fault, by turns."""
    cut = json.dumps(said("A")).encode()[:40]
    script = [
        ("A", whole(said("A"))),
        ("words", whole(said("The pair A is more related."))),
        ("refused", whole(said(None, refusal="I won't answer that."))),
        ("refused", whole({"error": {"message": "blocked by the content_filter", "code": "content_filter"}}, 400)),
        ("empty", whole(said(""))),
        ("cut", whole(said("A", finish="length"))),
        ("busy", whole({"error": "slow down"}, 429, Retry_After="0")),
        ("B", whole(said("B."))),
        ("words", whole(said("<html>A</html>"))),
        ("words", whole(said("Both are equal"))),
        ("failed", whole(b"<h1>Bad gateway</h1>", 502)),
        ("half", whole(said("A"))[:-20]),
        ("unreadable", whole(b"<html>Log in</html>", Content_Type="text/html")),
        ("T", whole(said("T"))),
        ("unreadable", whole({"choices": []})),
        ("A", whole(said([{"type": "text", "text": "a"}]))),
        ("words", whole(said("\ud800 half a letter, and \x00"))),
    ]
    given: list[str] = []

    def answer(text: str) -> bytes:
        name, data = script[len(server.asked) % len(script) - 1]
        given.append(name)
        return data

    server.answer = answer
    on(store, project, server)
    done = asked(store, project)
    again = ("busy", "failed", "half")  # asked once more at once
    came = Counter(name for name in given if name not in again)
    assert done.n_answers == 84 == sum(came.values())
    assert done.n_votes == came["A"] + came["B"] + came["T"]
    assert done.reasons == {name: n for name, n in came.items() if name not in "ABT"}
    (judge,) = read_judges(store, project)
    answers = rows(store, judge.id)
    assert len(answers) == 84
    assert Counter(answers["reason"]) == Counter(done.reasons) + Counter({"": done.n_votes})
    assert answers["raw"][answers["reason"] == "refused"].str.contains("won't|content_filter").all()
    assert answers["raw"][answers["reason"] == "unreadable"].str.contains("Log in|choices").all()
    assert (answers["value"].notna() == (answers["reason"] == "")).all()
    assert (judge.n_answers, judge.n_missing) == (84 - came["unreadable"], came["unreadable"])
    # What wasn't a model's answer is asked again with the next asking, and nothing else.
    server.answer = lambda text: whole(said(longer(text)))
    n = len(server.asked)
    more = asked(store, project)
    assert more.n_answers == more.n_votes == came["unreadable"] == len(server.asked) - n
    assert count(store, t.model_answer) == 84 + came["unreadable"]
    assert asked(store, project).said == "The language model has answered all of these comparisons before."
    assert cut[:1] == b"{"
    assert check_store(store).faults == ()


def test_what_was_paid_for_stays_and_it_goes_on_there(store, project, server):
    on(store, project, server)
    server.answer = lambda text: whole(said("A")) if len(server.asked) <= 10 else whole({"error": "no"}, 401)
    with pytest.raises(PlatformError, match=r"wants a key.* 10 answers are kept; asking again goes on there"):
        asked(store, project)
    assert count(store, t.model_answer) == 10

    def stopped(done: float, total: float) -> None:
        if done == 5:
            raise SystemExit(143)

    server.answer = lambda text: whole(said("B"))
    with pytest.raises(SystemExit):
        asked(store, project, progress=stopped)
    kept = count(store, t.model_answer)
    assert kept >= 15
    assert asked(store, project).n_answers == 84 - kept
    assert len(read_judges(store, project)) == 1
    keys = [(text, n) for text, n in Counter(server.texts).items()]
    assert len(keys) == len({text for text, _ in keys}) == 84
    assert len(server.asked) == 84 + 1  # but for the one that was refused, nothing was asked twice


def test_a_server_that_answers_nothing_that_can_be_read_is_left_alone_after_five(store, project, server):
    server.answer = lambda text: whole(b"<html>Hello</html>")
    on(store, project, server)
    with pytest.raises(PlatformError, match="5 answers in a row couldn't be read; the last begins with '<html>Hello"):
        asked(store, project)
    assert len(server.asked) == count(store, t.model_answer) == 5
    server.answer = lambda text: whole({}, 302, Location="http://127.0.0.1:9/v1/chat/completions")
    with pytest.raises(PlatformError, match="nothing is sent there"):
        asked(store, project)
    assert len(server.asked) == 6
    server.answer = lambda text: whole({"error": "full"}, 503)
    with pytest.raises(PlatformError, match="tried 3 times"):
        asked(store, project)
    assert len(server.asked) == 9


def test_a_key_that_a_server_repeats_is_kept_nowhere(store, project, server, monkeypatch):
    monkeypatch.setenv("RUNOFF_JUDGE_KEY", "sk-very-secret")
    told = [said("Your key is sk-very-secret", model="m sk-very-secret"), b"<p>sk-very-secret</p>", b'"sk-very-secret"']
    server.answer = lambda text: whole(told[len(server.asked) % 3])
    on(store, project, server)
    assert asked(store, project, 3).reasons == {"words": 2, "unreadable": 4}
    (judge,) = read_judges(store, project)
    answers = rows(store, judge.id)
    assert "sk-very-secret" not in answers.to_csv()
    assert answers["raw"].str.contains("…|[.]{3}").all()
    server.answer = lambda text: whole({"error": "sk-very-secret is unknown"}, 401)
    with pytest.raises(PlatformError) as caught:
        asked(store, project)
    assert "sk-very-secret" not in str(caught.value)


def test_a_slow_server_is_waited_for_and_left(store, project, server, monkeypatch):
    monkeypatch.setattr("core.judges.chat.TIMEOUT", 0.5)
    slow = iter([1.5])

    def answer(text: str) -> bytes:
        time.sleep(next(slow, 0.0))
        return whole(said("A"))

    server.answer = answer
    on(store, project, server)
    assert asked(store, project, 3).n_votes == 6
    assert len(server.asked) == 7


def test_nothing_is_sent_unless_it_is_switched_on(store, project, server):
    with pytest.raises(StoreError, match="No language model is switched on"):
        asked(store, project)
    on(store, project, server)
    data = export_project(store, project)
    assert server.url.encode() not in data
    for other in (import_project(store, data), duplicate_project(store, project, "Copy")):
        assert read_server(store, other, CHAT) is None
        with pytest.raises(StoreError, match="No language model is switched on"):
            asked(store, other)
    switch_off(store, project, CHAT)
    with pytest.raises(StoreError, match="No language model is switched on"):
        asked(store, project)
    assert server.asked == []
    for bad in (
        JudgeSettings("ftp://x", "m"), JudgeSettings("http://u:p@x", "m"), JudgeSettings("http://x", " "),
        JudgeSettings("http://x", "m", temperature=9.0), JudgeSettings("http://x", "m", at_once=0),
    ):  # fmt: skip
        with pytest.raises(InputError):
            JudgeSettings.of(bad.stored())
    assert JudgeSettings.of({"address": "http://x/v1/", "model": " m "}).address == "http://x"
    # Over plain http to another machine no key goes.
    keys = [server_of(JudgeSettings(address, "m"), "sk-1").key for address in ("http://x", "https://x", server.url)]
    assert keys == ["", "sk-1", "sk-1"]


def test_a_sample_is_part_of_a_larger_one(store, project, server):
    on(store, project, server)
    asked(store, project, 10)
    first = list(server.texts)
    assert len(first) == 20
    asked(store, project, 15)
    assert len(server.texts) == 30
    assert len(set(server.texts)) == 30
    assert len(read_judges(store, project)) == 1
    asked(store, project, 15, anew=True)
    assert [judge.n_answers for judge in read_judges(store, project)] == [30, 30]
    assert server.texts[30:50] == first


def test_a_record_is_bound_to_model_prompt_and_wording(store, project, server):
    on(store, project, server)
    asked(store, project, 5)
    server.answer = lambda text: whole(said("A", model="judge-2"))
    with pytest.raises(PlatformError, match="called the model judge-1 so far, and judge-2 now"):
        asked(store, project, 10)
    (judge,) = read_judges(store, project)
    assert judge.stale == ("the server called the model judge-1 first, and then judge-2",)
    assert judge.n_answers == 11  # the answer that showed it was paid for
    asked(store, project, 5)
    assert [(len(one.stale), one.revisions) for one in read_judges(store, project)] == [
        (1, ("judge-1", "judge-2")), (0, ("judge-2",)),
    ]  # fmt: skip
    switch_on(store, project, CHAT, JudgeSettings(server.url, "other").stored())
    asked(store, project, 5)
    assert [one.model for one in read_judges(store, project)] == ["judge", "judge", "other"]
    with store.write(project) as conn:  # no command changes a drawn ballot's wording; a later version's prompt may
        conn.execute(sa.update(t.model_judge).where(t.model_judge.c.model == "other").values(prompt="Another."))
    assert read_judges(store, project)[-1].stale == ("this version of Runoff makes another prompt of the wording",)
    wording = {"question": "Which?", "instructions": "", "examples": []}
    with store.write(project) as conn:
        conn.execute(sa.update(t.plan).values(wording=wording))
    assert [one.stale[0] for one in read_judges(store, project)] == ["the wording of the ballot is another one now"] * 3
    asked(store, project, 5)
    assert server.asked[-1]["messages"][0]["content"].startswith("Two words are related when")
    assert "\n\nWhich?\n\n" in server.asked[-1]["messages"][0]["content"]
    assert read_judges(store, project)[-1].stale == ()


def test_votes_of_a_model_are_never_votes_of_people(store, server):
    """The same campaign with a model and without: everything of people's is the same, byte for byte."""
    found = []
    for with_model in (False, True):
        project_id = make_project(store, name=f"Campaign {with_model}", seed=5)
        if with_model:
            draw_batch(store, project_id)
            on(store, project_id, server)
            asked(store, project_id)
            with pytest.raises(StoreError, match="paid for, so it stays"):
                DiscardBallot.of(
                    project_id, get_project(store, project_id).revision, read_ballots(store, project_id)[0]
                ).run(store)
            with pytest.raises(StoreError, match="no votes yet"):
                close_ballot(store, project_id)
        else:
            draw_batch(store, project_id)
        data = answer_batch(write_batch(read_comparisons(store, project_id, 1)))
        accept_upload(store, project_id, data, "results.csv")
        close_ballot(store, project_id)
        with store.read() as conn:
            record = record_of(conn, project_id, "secret")
            progress = [progress_of(conn, ballot.id) for ballot in read_ballots(store, project_id)]
            sources = set(conn.execute(sa.select(t.judgement.c.source)).scalars())
            kinds = set(conn.execute(sa.select(t.voter.c.kind)).scalars())
        files = record_files(record)
        found.append((
            read_project_dataset(store, project_id).to_csv(),
            {name: clean(data) for name, data in files.items()}, progress,
        ))  # fmt: skip
        assert (sources, kinds) == ({"person"}, {"person"})
    assert found[0] == found[1]
    assert count(store, t.model_answer) == 84
    assert check_store(store).faults == ()


def clean(data: bytes) -> bytes:
    """Without the project's name and times, which differ."""
    return re.sub(rb"Campaign (True|False)|20\d\d-[0-9T:.+-]+|b\d+-[0-9a-f]{8}", b"", data)


def test_records_go_out_and_come_back_and_faults_are_found(store, project, server):
    on(store, project, server, input_price=1.5, output_price=6.0)
    asked(store, project, 8)
    copy = import_project(store, export_project(store, project))
    for one, other in zip(read_judges(store, project), read_judges(store, copy), strict=True):
        same = ("address", "model", "prompt", "wording", "n_wanted", "input_price", "n_answers", "revisions", "stale")
        assert [getattr(one, name) for name in same] == [getattr(other, name) for name in same]
        texts = ["prompt", "raw", "answer", "first", "second", "flipped", "at"]
        assert rows(store, one.id)[texts].equals(rows(store, other.id)[texts])
    assert check_store(store).faults == ()
    with store.write(copy) as conn:
        (first, second) = conn.execute(sa.select(t.model_answer.c.id).limit(2)).scalars()
        conn.execute(sa.update(t.model_answer).where(t.model_answer.c.id == first).values(raw="Neither, I say"))
        elsewhere = sa.select(sa.func.max(t.question.c.id)).scalar_subquery()
        conn.execute(sa.update(t.model_answer).where(t.model_answer.c.id == second).values(question_id=elsewhere))
    assert {fault.rule.name for fault in check_store(store).faults} == {"language models", "projects"}


def test_a_ballot_that_is_half_voted_on_has_estimates_with_the_models_help(store, server):
    project = make_project(store, plan=replace(PLAN, appearances=8))
    draw_batch(store, project)
    on(store, project, server)
    asked(store, project)
    rows_of_voters = answer_batch(write_batch(read_comparisons(store, project, 1))).decode().splitlines(keepends=True)
    accept_upload(store, project, "".join(rows_of_voters[:18]).encode(), "results.csv")  # 17 of 28 tasks
    judge = read_judges(store, project)[0]
    found = judge_figures(store, project, judge.id)
    powered = found.powered
    assert (powered.reason, powered.n_votes, powered.n_both, powered.n_rest) == ("", 51, 51, 33)
    assert powered.agreement.plain.estimate == powered.agreement.powered.estimate == 1  # both go by letters alone
    assert powered.no_intervals == "θ has no intervals: they take 20 votes per item, and there are 4.9."
    table = powered_table(found).set_index("of the whole ballot")
    assert list(table["from"]) == ["51 votes, 33 comparisons of the model alone"] * 2
    assert table.iloc[0]["with the model's answers"] == "100% (100% to 100%)"
    assert table.iloc[1]["with the model's answers"] == "–"
    why = FigureEstimate(None, reason="Nothing joins them.")
    blank = replace(found, ranking=replace(found.ranking, **{name: why for name, _ in RANKED}))
    assert figures_table(blank)["from"].tolist().count("Nothing joins them.") == 1  # a reason of both is told once
    written = powered_csv(store, project, found).decode("utf-8-sig").splitlines()
    assert written[0].split(",")[:5] == ["area", "token_a", "token_b", "plain", "plain lower"]
    assert len(written) == 22
    kept = executor.from_json(executor.to_json(found), JudgeFigures)
    assert kept.powered.agreement == powered.agreement
    assert kept.powered.scores.equals(powered.scores)


def test_a_job_does_it_and_says_how_far_it_is(store, project, server):
    on(store, project, server)
    command = command_of(store, project, n=4)
    assert executor.takes_long(store, command)
    again = executor.from_json(
        executor.params_of(command)["arguments"] | {"project_id": project, "revision": 1}, AskModel
    )
    assert (again.n, again.code) == (4, command.code)
    told: list[tuple[float, float]] = []
    done = command.run_with(store, lambda done, total: told.append((done, total)))
    assert told == [(n, 8) for n in range(1, 9)]
    assert command.summary(done) == "The language model gave 8 answers, 8 votes among them."
    with store.read() as conn:
        assert command.meanwhile(conn) == "8 of 8 answers are kept."
        judge = read_judges(store, project)[0]
        assert pending_of(conn, project, read_ballots(store, project)[0], judge) == []
    figures = judge_figures(store, project, judge.id)
    assert figures.no_gaps.startswith("There are no scores of people yet")
    assert (figures.n_votes, figures.order.flips.total, figures.cost.tokens_per_vote) == (8, 4, 102.0)
    assert figures.cost.money is None
    assert np.isclose(figures.cost.people_per_vote, PLAN.cost(PLAN.plan(21)).total / PLAN.plan(21).n_comparisons)
