"""A kind of question is one class and one line in a list; nobody else knows its name."""

from __future__ import annotations

import ast
import csv
import io
from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa
from campaigns import make_project
from rounds_of_people import SMALL
from test_round_voting import Visit

from core.commands.ballots import CloseBallot, DiscardBallot, ReopenBallot, SimulateVotes
from core.commands.integrity import check_store
from core.errors import PlanError
from core.i18n import language
from core.platforms.round_files import round_files
from core.questions import KINDS, check_round, default_settings, kind_of
from core.questions.voting_settings import VotingSettings
from core.questions.writing import task_page
from core.store import schema as t
from core.store.ballots.ballot_rows import answers_of
from core.store.ballots.comparisons import read_shown
from core.store.ballots.drawing import draw_round
from core.store.projects.archive import export_project, import_project
from core.store.scores.project_dataset import round_dataset
from core.store.votes.checks import voter_names
from core.store.votes.exclusions import exclude_voters
from core.views.kinds import rounds as round_views
from core.voting import api
from tests.odd_ones import OddOne
from tests.rooms import ROOT
from tests.rounds_of_people import (
    accept_answers,
    close_round,
    open_round_voting,
    preview_answers,
    read_rounds,
    reopen_round,
    simulate_round,
)
from tests.syntax import nodes, reads_the_code

NAMES = {"comparison", "rating", "best-worst", "order"}


def drawn(store, settings, **about):
    project_id = make_project(store, plan=None, **about)
    draw_round(store, project_id, settings)
    return project_id, read_rounds(store, project_id)[0]


def fine(store):
    assert check_store(store).faults == ()


def shared_letters(pairs):
    """The place, from 1, of the pair whose words are the shortest."""
    return str(min(range(len(pairs)), key=lambda at: (sum(map(len, pairs[at])), pairs[at])) + 1)


def answered(table: bytes, answer, voters) -> bytes:
    """The table to fill in, filled in by each of the voters."""
    rows = list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"))))
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    for voter in voters:
        for row in rows:
            pairs = [tuple(shown.split(": ", 1)[1].split(" – ")) for shown in row["shown"].split("; ")]
            writer.writerow({**row, "voter": voter, "answer": answer(voter, pairs)})
    return out.getvalue().encode()


def test_a_fifth_kind_is_drawn_uploaded_closed_scored_and_exported(store, odd):
    project_id, found = drawn(store, odd)
    assert (found.purpose, found.kind.name, found.title) == ("round", "odd", "Round 1, odd ones")
    shown = read_shown(store, project_id, found.id)
    assert shown.groupby("question_id").size().tolist() == [3] * 28
    fine(store)
    settings = {**found.settings.stored(), "notion": "relatedness"}
    batch, turkle, crowd, table = round_files(
        found.code, found.asks, settings, shown=lambda: read_shown(store, project_id, found.id), widest=5
    )
    assert b"odd_5_b_3" in batch.make().splitlines()[0]
    for page in (turkle, crowd):
        assert 'name="odd_5" value="3"' in page.make().decode()
    assert task_page("odd", settings, task_size=1).count("${odd_1_a_") == 3

    def answer(voter, pairs):
        return "unknown" if voter == "W2" and "cat" in pairs[0] else shared_letters(pairs)

    data = answered(table.make(), answer, ("W1", "W2", "W3"))
    assert preview_answers(store, project_id, data, "a.csv", ballot_id=found.id).counts["new"] > 56
    wrong = data.replace(b",W3,1,", b",W3,4,")
    assert preview_answers(store, project_id, wrong, "b.csv", ballot_id=found.id).counts["unreadable"] > 0
    accept_answers(store, project_id, data, "a.csv", ballot_id=found.id)
    fine(store)
    close_round(store, project_id, 1)
    fine(store)
    dataset = round_dataset(store, project_id, found.id)
    assert dataset.attrs["estimator"] == OddOne.about.estimator
    expected = {}
    for _, part in shown.groupby("question_id"):
        pairs = list(zip(part["token_a"], part["token_b"], strict=True))
        for voter in ("W1", "W2", "W3"):
            if (said := answer(voter, pairs)) != "unknown":
                for place, item in enumerate(part["item"], 1):
                    expected.setdefault(item, []).append(str(place) != said)
    positions = dict(zip(zip(shown["token_a"], shown["token_b"], strict=True), shown["item"], strict=True))
    for row in dataset.itertuples():
        item = positions[row.token_a, row.token_b]
        assert row.score == pytest.approx(np.mean(expected[item]))
        assert row.votes == len(expected[item])
    with store.read() as conn:
        names = voter_names(conn, project_id).set_index("name")["voter_id"]
    exclude_voters(store, project_id, [int(names["W3"])], "a test")
    assert round_dataset(store, project_id, found.id)["votes"].sum() < dataset["votes"].sum()
    fine(store)
    again = import_project(store, export_project(store, project_id))
    assert read_rounds(store, again)[0].settings == found.settings
    reopen_round(store, project_id, 1)
    fine(store)


def test_a_fifth_kind_is_asked_on_the_voting_page(store, odd):
    project_id, found = drawn(store, replace(odd, raters=1))
    code = open_round_voting(store, project_id, 1, VotingSettings(task_size=50))
    visit = Visit(store, code, "Anna")
    view = visit.view
    page = api.task_html(view, view.place.texts)
    assert view.place.texts["odd_1_a_2"] in page
    assert 'name="odd_1" value="2"' in page
    assert api.explained(view)[0] == "Which one is the odd one?"
    assert api.asset("odd.js") == OddOne().script()
    assert api.answer_of({"odd_1": "2"}) == "2"
    with pytest.raises(api.IncompleteError, match="no place"):
        visit.answer("4")
    while visit.view.kind == "vote":
        visit.answer(api.answer_of({"odd_1": "1"}))
    visit.undo()
    fine(store)
    visit.answer("unknown")
    fine(store)
    with store.read() as conn:
        assert answers_of(conn, project_id, found).text == ["1"] * 27


def test_a_fifth_kind_is_answered_by_simulated_people(store, odd):
    project_id, found = drawn(store, odd, kind="trial")
    assert simulate_round(store, project_id, 1) == 56
    fine(store)
    (view,) = round_views.load(store, project_id)
    assert view.said == "Open: 56 of 56 answers to 28 triples, by 12 voters."
    close_round(store, project_id, 1)
    assert round_dataset(store, project_id, found.id)["score"].between(0, 1).all()
    people = round_views.people_of(store, project_id, read_rounds(store, project_id)[0])
    assert people.figure == "agreement"
    assert people.table["agreement"].eq(1).all()


@pytest.mark.parametrize("kind", ["rating", "best-worst", "order"])
def test_the_commands_of_ballots_are_those_of_rounds(store, kind):
    project_id = make_project(store, plan=None, kind="trial")
    draw_round(store, project_id, SMALL[kind])
    (found,) = read_rounds(store, project_id)

    def done(command):
        return command.summary(command.run(store))

    assert done(SimulateVotes.of(project_id, None, found)).endswith("They are permanently marked as such.")
    close = CloseBallot.of(project_id, None, found)
    with store.read() as conn:
        assert 0 < close.seconds(conn) < 1
    assert done(close) == "Round 1 is closed: what it says stands below."
    fine(store)
    assert done(ReopenBallot.of(project_id, None, found)) == "Round 1 is open again."
    draw_round(store, project_id, default_settings("rating" if kind != "rating" else "best-worst"))
    second = read_rounds(store, project_id)[-1]
    assert done(DiscardBallot.of(project_id, None, second)) == "Round 2 is discarded."
    with store.read() as conn:
        actions = conn.execute(sa.select(t.log.c.action).order_by(t.log.c.id)).scalars().all()
    told = ["draw round", "simulate answers", "close round", "reopen round", "draw round", "discard round"]
    assert actions[-6:] == told
    fine(store)


def test_a_name_that_isnt_known_is_told():
    with pytest.raises(PlanError, match="one of comparison, rating, best-worst, order, found 'odd'"):
        kind_of("odd")
    with pytest.raises(PlanError, match="one of rating, best-worst, order, found 'comparison'"):
        check_round(replace(default_settings("rating"), scheme="comparison"))


def test_every_kind_reads_what_it_writes():
    spoken = language("en")
    given = {"rating": ("2.5",), "best-worst": ("2", "1"), "order": ("2 1 3",)}
    for name, values in given.items():
        kind, settings = KINDS[name], default_settings(name)
        text = kind.written(*values)
        assert kind.read(settings, text, 3, spoken) == text
        assert kind.written(*("" for _ in kind.fields)) == ""


def compared(code):
    """The comparisons of something called a kind or a scheme with a kind's name, and its look-ups in tables of them."""
    found = []
    for node in code:
        if isinstance(node, ast.Compare | ast.Match | ast.Subscript):
            of = node.subject if isinstance(node, ast.Match) else node
            named = {part.value for part in ast.walk(of) if isinstance(part, ast.Constant)} & NAMES
            if named or isinstance(node, ast.Match):
                said = ast.unparse(of)
                found += [said] if "kind" in said or "scheme" in said else []
    return found


@reads_the_code
def test_nothing_else_compares_a_kinds_name():
    found = {}
    for folder in ("core", "ui", "pages", "voting"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            its_own = ROOT / "core" / "questions" in path.parents or "migrations" in path.parts
            if not its_own and (here := compared(nodes(path))):
                found[path.relative_to(ROOT).as_posix()] = here
    assert found == {}


@pytest.mark.parametrize(
    "code",
    [
        'if ballot.scheme == "rating": pass',
        'x = q.kind in ("order", "rating")',
        'y = {"rating": 1, "order": 2}[found.scheme]',
        'match scheme:\n    case "order": pass',
    ],
)
def test_comparisons_of_names_are_seen(code):
    other = code.replace("kind", "word").replace("scheme", "word")
    assert [len(compared(ast.walk(ast.parse(each)))) for each in (code, other)] == [1, 0]
