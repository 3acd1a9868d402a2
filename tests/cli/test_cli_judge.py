"""`runoff judge` from the switch to the report, and its files; the published zip holds answers only where asked."""

from __future__ import annotations

import json

import pytest
from campaigns import PLAN, answer_batch, draw_batch, make_project
from chat_server import chat_server, longer, said, whole

from core.__main__ import main
from core.commands.publishing import publish
from core.commands.recompute import replay_record
from core.dataset.files import read_dataset
from core.dataset.published import read_published
from core.store.ballots.closing import close_ballot
from core.store.projects.records import record_from
from core.store.votes.intake import accept_upload


@pytest.fixture
def run(capsys, store, monkeypatch):
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(store.folder))
    monkeypatch.delenv("RUNOFF_JUDGE_KEY", raising=False)

    def _run(*arguments: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as exited:
            main(["judge", *map(str, arguments)])
        out = capsys.readouterr()
        return int(exited.value.code or 0), out.out + (out.err if exited.value.code else "")

    return _run


def test_from_the_switch_to_the_report(run, store, tmp_path):
    project = make_project(store, name="Words", plan=PLAN)
    accept_upload(store, project, answer_batch(draw_batch(store, project)), "results.csv")
    close_ballot(store, project)
    assert "No language model is switched on" in run("ask", "Words")[1]
    assert "No language model was asked yet" in run("report", "Words")[1]
    with chat_server() as server:
        prices = ("--input-price", 2, "--output-price", 10, "--own-temperature", "--most-tokens", 0)
        code, told = run("on", "Words", "--address", server.url, "--model", "m", *prices)
        assert (code, f"sends to {server.url}/v1/chat/completions, without a key" in told) == (0, True)
        assert server.asked == []
        server.answer = lambda text: whole(said("Neither." if len(server.asked) == 3 else longer(text)))
        done = json.loads(run("ask", "Words", "--sample", 40, "--json")[1])
        assert done == {"record": 1, "answers": 80, "votes": 79, "no_vote": {"words": 1}}
        assert {"temperature", "max_tokens"} & set(server.asked[0]) == set()
        assert json.loads(run("ask", "Words", "--sample", 40, "--json")[1])["answers"] == 0
    report = json.loads(run("report", "Words", "--json")[1])
    figures = report["figures"]
    assert (report["record"]["model"], report["ballot"], figures["n_votes"]) == ("m", "Ballot 1", 79)
    assert figures["order"]["flips"] == {
        "estimate": 0.0, "lower": 0.0, "upper": pytest.approx(figures["order"]["flips"]["upper"]), "reason": "",
        "count": 0, "total": 39,
    }  # fmt: skip
    assert figures["cost"]["money"] == pytest.approx((80 * 100 * 2 + 80 * 2 * 10) / 1e6)
    assert figures["ranking"]["no_interval"].startswith("There are no intervals by the paper's protocol")
    text = run("report", "Words", "--record", 1)[1]
    for part in (
        "flips with the order",
        "gap of scores",
        "1 answered in words",
        "They are not people's votes",
        "nobody voted on; there are",
    ):
        assert part in text
    assert "There is no record 7. There are: 1." in run("report", "Words", "--record", 7)[1]
    answers, ranking = tmp_path / "answers.csv", tmp_path / "ranking.csv"
    assert run("answers", "Words", answers)[0] == run("answers", "Words", ranking, "--ranking")[0] == 0
    assert answers.read_text(encoding="utf-8-sig").count("\nmodel,m,judge-1,") == 80
    own = read_dataset(ranking)
    assert set(own["source"]) == {own.attrs["source"]} == {"model"}
    assert own["votes"].sum() == 2 * 79
    # The published zip has them only where they are asked for, and a replay is the same with and without.
    plain, with_them = publish(store, project), publish(store, project, model_answers=True)
    assert plain.data == publish(store, project).data
    files = read_published(with_them.data).files
    assert set(files) - set(read_published(plain.data).files) == {"models/answers.json"}
    (record,) = json.loads(files["models/answers.json"])
    assert (record["source"], record["ballot"], len(record["answers"])) == ("model", 1, 80)
    assert "address" not in record
    for made in (plain, with_them):
        published = read_published(made.data)
        assert replay_record(record_from(published.files), published.dataset()).outcome == "same"
    assert run("off", "Words") == (0, "Nothing is sent any more. What was answered stays.\n")
    assert "No language model is switched on" in run("ask", "Words")[1]
