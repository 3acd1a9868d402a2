"""Rounds of other schemes on the voting page: dealt, answered, taken back, closed; over HTTP and by the functions."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest
import sqlalchemy as sa
from campaigns import PLAN, make_project
from rounds_of_people import SMALL, round_id
from test_voting_server import ask
from voting_server import serving

from bench.voters import hidden
from core.commands.integrity import check_store
from core.errors import InputError, StoreError
from core.questions.voting_settings import VotingSettings
from core.store import schema as t
from core.store.ballots.comparisons import read_shown
from core.store.ballots.drawing import draw_next_ballot, draw_round
from core.store.projects.archive import export_project, import_project
from core.store.projects.plans import save_plan
from core.store.voting.owner_commands import open_voting, round_voting_settings, set_voting_state
from core.voting import api
from tests.rounds_of_people import (
    BEST_WORST,
    ORDER,
    RATING,
    SCHEMES,
    close_round,
    discard_round,
    open_round_voting,
    read_answer,
    read_rounds,
    set_round_voting_state,
)

SETTINGS = VotingSettings(task_size=3, tasks_per_voter=50)
GIVEN = {
    RATING: {"rating_1": "2.25"},
    BEST_WORST: {"best_1": "2", "worst_1": "1"},
    ORDER: {"order_1": "2 1"},
}
STORED = {RATING: "2.25", BEST_WORST: "best=2;worst=1", ORDER: "2 1"}


def opened(store, scheme: str, settings: VotingSettings = SETTINGS) -> tuple[str, str]:
    """A project with a round on the voting page; its id and the link's code."""
    project_id = make_project(store, plan=None)
    number = draw_round(store, project_id, SMALL[scheme])
    return project_id, open_round_voting(store, project_id, number, settings)


def fine(store) -> None:
    assert [(fault.rule.name, fault.found) for fault in check_store(store).faults] == []


def answers(store, project_id: str) -> list[tuple]:
    """Question, answer, value and status of each judgement, in the order in which they were given."""
    j = t.judgement.c
    query = (
        sa.select(j.question_id, j.answer, j.value, j.status)
        .join(t.question, t.question.c.id == j.question_id)
        .join(t.ballot, t.ballot.c.id == t.question.c.ballot_id)
        .where(t.ballot.c.project_id == project_id)
        .order_by(j.id)
    )
    with store.read() as conn:
        return [tuple(row) for row in conn.execute(query)]


class Visit:
    """Somebody on the voting page, by the functions of `core.voting.api`."""

    def __init__(self, store, code: str, name: str) -> None:
        self.store, self.code = store, code
        seen = api.look(store, code, "", name)
        self.view = api.begin(store, code, name, seen.form, api.Visitor(), name=name)
        self.cookie = self.view.cookie or ""

    def answer(self, choice: str) -> api.VoterView:
        place = self.view.place
        self.view = api.vote(
            self.store, self.code, self.cookie, self.view.form, task=place.task, n=place.n, choice=choice
        )
        return self.view

    def undo(self) -> api.VoterView:
        task, n = self.view.last
        self.view = api.undo(self.store, self.code, self.cookie, self.view.form, task=task, n=n)
        return self.view

    def more(self) -> api.VoterView:
        self.view = api.more(self.store, self.code, self.cookie, self.view.form)
        return self.view

    def shown(self) -> list[tuple[str, str]]:
        """The pairs of the question, in their places."""
        texts = self.view.place.texts
        if "token_a_1" in texts:
            return [(texts["token_a_1"], texts["token_b_1"])]
        if "order_1_target" in texts:
            words = [texts[name] for name in sorted(texts) if name.startswith("order_1_word")]
            return [(texts["order_1_target"], word) for word in words]
        numbers = sorted(int(name.rsplit("_", 1)[1]) for name in texts if name.startswith("tuple_1_token_a_"))
        return [(texts[f"tuple_1_token_a_{k}"], texts[f"tuple_1_token_b_{k}"]) for k in numbers]


def test_a_round_in_italian_asks_and_complains_in_italian(store):
    project_id = make_project(store, plan=None)
    number = draw_round(store, project_id, replace(SMALL[RATING], language="it"))
    code = open_round_voting(store, project_id, number, SETTINGS)
    anna = Visit(store, code, "Anna")
    assert api.explained(anna.view)[0] == "Quanto sono legate tra loro le due espressioni?"
    assert 'name="rating_1"' in api.task_html(anna.view, anna.view.place.texts)
    with pytest.raises(api.IncompleteError, match=r"^'9': un punteggio va da 0 a 4, a passi di 0,25$"):
        anna.answer("9")
    anna.answer("2,25")
    assert [answer for _, answer, _, _ in answers(store, project_id)] == ["2.25"]


def any_answer(scheme: str, n_shown: int) -> str:
    order = " ".join(str(place) for place in range(n_shown, 0, -1))
    return {RATING: "1.5", BEST_WORST: "best=1;worst=3", ORDER: order}[scheme]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_round_is_answered_by_as_many_as_it_wants_and_closed(store, scheme):
    project_id, code = opened(store, scheme)
    number = 0
    while number < 20:
        number += 1
        visit = Visit(store, code, f"V{number}")
        if visit.view.kind == "full":
            break
        asked = []
        while visit.view.kind in ("vote", "between"):
            if visit.view.kind == "between":
                if not visit.view.may_more:
                    break
                visit.more()
                continue
            asked.append(tuple(visit.shown()))
            visit.answer(any_answer(scheme, len(visit.shown())))
        assert len({frozenset(map(frozenset, shown)) for shown in asked}) == len(asked), "nobody is asked twice"
        fine(store)
    raters = SMALL[scheme].raters
    found = read_rounds(store, project_id)[0]
    assert number == raters + 1
    assert set(Counter(row[0] for row in answers(store, project_id)).values()) == {raters}
    assert {row[3] for row in answers(store, project_id)} == {"counted"}
    close_round(store, project_id, 1)
    assert api.look(store, code, visit.cookie, "V").kind == "closed"
    fine(store)
    assert not read_rounds(store, project_id)[0].is_open
    assert found.settings == SMALL[scheme]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_page_shows_what_the_batch_shows(store, scheme):
    project_id, code = opened(store, scheme, replace(SETTINGS, task_size=50))
    batch = read_shown(store, project_id, round_id(store, project_id))
    wanted = {}
    for (_, _), part in batch.groupby(["task_id", "n"]):
        pairs = list(zip(part["token_a"], part["token_b"], strict=True))
        wanted[int(part["question_id"].iloc[0])] = pairs
    for voter in ("V1", "V2") if scheme == RATING else ("V1",):
        visit, seen = Visit(store, code, voter), []
        while visit.view.kind == "vote":
            seen.append(visit.shown())
            visit.answer(any_answer(scheme, len(seen[-1])))
        if scheme == RATING and voter == "V2":
            seen = [[(b, a)] for [(a, b)] in seen]  # everybody else sees the tokens the other way round
        assert sorted(seen) == sorted(wanted.values())
    fine(store)


def test_without_exchange_everybody_sees_a_pair_alike(store):
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, replace(SMALL[RATING], swaps=False))
    code = open_round_voting(store, project_id, 1, replace(SETTINGS, task_size=50))
    seen = []
    for voter in ("V1", "V2"):
        visit = Visit(store, code, voter)
        shown = []
        while visit.view.kind == "vote":
            shown.append(visit.shown()[0])
            visit.answer("1")
        seen.append(sorted(shown))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_answer_is_taken_back_and_given_anew(store, scheme):
    project_id, code = opened(store, scheme)
    visit = Visit(store, code, "V1")
    first, given = visit.shown(), any_answer(scheme, len(visit.shown()))
    visit.answer(given)
    fine(store)
    assert visit.undo().said == "Your last answer is taken back."
    assert visit.shown() == first
    assert [row[3] for row in answers(store, project_id)] == ["withdrawn"]
    fine(store)
    visit.answer("unknown")
    assert [row[1:] for row in answers(store, project_id)] == [("unknown", None, "unknown")]
    fine(store)
    visit.undo()
    visit.answer(given)
    value = 1.5 if scheme == RATING else None
    assert [row[1:] for row in answers(store, project_id)] == [(given, value, "counted")]
    fine(store)


WRONG = {
    RATING: ("4.1", "2.1", "-1", "nan", "best=1;worst=2"),
    BEST_WORST: ("best=1;worst=1", "best=1;worst=", "best=0;worst=2", "best=1;worst=5", "2"),
    ORDER: ("1", "1 1 2 3", "1 2 3 4", "0 1", "2"),
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_answer_that_lacks_something_is_not_taken(store, scheme):
    project_id, code = opened(store, scheme)
    visit = Visit(store, code, "V1")
    place = visit.view.place
    for wrong in ("", "left", "tie", "first", "nonsense", *WRONG[scheme]):
        with pytest.raises(api.IncompleteError):
            visit.answer(wrong)
        assert answers(store, project_id) == [], wrong
        assert api.look(store, code, visit.cookie, "V1").place == place, wrong
    fine(store)


def test_an_answer_that_comes_twice_counts_once(store):
    project_id, code = opened(store, RATING)
    visit = Visit(store, code, "V1")
    place, form = visit.view.place, visit.view.form
    visit.answer("1")
    api.vote(store, code, visit.cookie, form, task=place.task, n=place.n, choice="3")
    assert [row[1] for row in answers(store, project_id)] == ["1"]


class TestOneLink:
    def test_a_ballot_and_a_round_are_not_on_the_page_at_once(self, store):
        project_id, code = opened(store, RATING)
        save_plan(store, project_id, PLAN)
        draw_next_ballot(store, project_id)
        with pytest.raises(StoreError, match=r"open for round 1.*Pause or close it first"):
            open_voting(store, project_id, SETTINGS)
        set_round_voting_state(store, project_id, 1, "paused")
        assert api.look(store, code, "", "x").kind == "paused"
        assert open_voting(store, project_id, SETTINGS) == code
        assert api.look(store, code, "", "x").round is None
        for again in (
            lambda: set_round_voting_state(store, project_id, 1, "open"),
            lambda: open_round_voting(store, project_id, 1),
        ):
            with pytest.raises(StoreError, match="open for ballot 1"):
                again()
        set_voting_state(store, project_id, "paused")
        set_round_voting_state(store, project_id, 1, "open")
        assert api.look(store, code, "", "x").round.scheme == RATING
        with pytest.raises(StoreError, match="open for round 1"):
            set_voting_state(store, project_id, "open")
        fine(store)

    def test_closed_it_takes_back_what_voters_hold(self, store):
        project_id, code = opened(store, BEST_WORST)
        visit = Visit(store, code, "V1")
        set_round_voting_state(store, project_id, 1, "closed")
        assert api.look(store, code, visit.cookie, "V1").kind == "closed"
        with store.read() as conn:
            assert conn.execute(sa.select(sa.func.sum(t.question.c.n_dealt))).scalar() == 0
        fine(store)
        assert open_round_voting(store, project_id, 1) == code

    def test_no_page_for_a_round_that_is_not_there_or_never_opened(self, store):
        project_id = make_project(store, plan=None)
        with pytest.raises(StoreError, match="no round 1"):
            open_round_voting(store, project_id, 1)
        draw_round(store, project_id, SMALL[RATING])
        with pytest.raises(StoreError, match="never opened"):
            set_round_voting_state(store, project_id, 1, "paused")

    def test_settings_that_rounds_have_no_use_for_are_off(self, store):
        project_id = make_project(store, plan=None)
        draw_round(store, project_id, SMALL[RATING])
        given = VotingSettings(n_gold=2, n_repeats=1, adaptive=True, gold_action="stop", ties_allowed=True)
        found = round_voting_settings(read_rounds(store, project_id)[0], given)
        assert (found.n_gold, found.n_repeats, found.adaptive, found.examples) == (0, 0, False, False)
        assert "which pair" not in found.consent
        with pytest.raises(InputError, match="Comparisons per task"):
            open_round_voting(store, project_id, 1, VotingSettings(task_size=0))


# Over HTTP


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A store and the server on it."""
    with serving(tmp_path_factory.mktemp("rounds") / "workspace") as both:
        yield both


def begun(code, name="Anna"):
    return (
        ("GET", f"/v/{code}"),
        lambda page: ("POST", f"/v/{code}/begin", {"form": hidden(page.body, "form"), "name": name}),
        ("GET", f"/v/{code}"),
    )


def post(code, fields, step="vote"):
    def make(page):
        place = {"place": hidden(page.body, "place", step)} if step in ("vote", "undo") else {}
        return "POST", f"/v/{code}/{step}", {"form": hidden(page.body, "form", step), **place, **fields}

    return make


@pytest.mark.parametrize("scheme", SCHEMES)
def test_without_a_script_each_answer_is_a_form(running, scheme):
    store, server = running
    project_id, code = opened(store, scheme)
    look = ("GET", f"/v/{code}")
    pages = ask(server, *begun(code), post(code, {}), post(code, {"unknown_1": "1"}), look)
    entry, _, first, refused, saved, second = pages
    assert [page.status for page in pages] == [200, 303, 200, 400, 303, 200]
    assert "which pair" not in entry.body
    assert "Not saved: " in refused.body
    assert hidden(refused.body, "place") == hidden(first.body, "place") == "1.1"
    assert saved.headers["location"] == f"/v/{code}"
    assert hidden(second.body, "place") == "1.2" or "All of these are done" in second.body
    assert [row[1:] for row in answers(store, project_id)] == [("unknown", None, "unknown")]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_answer_over_http(running, scheme):
    store, server = running
    project_id, code = opened(store, scheme)
    look = ("GET", f"/v/{code}")
    fields = dict(GIVEN[scheme])
    first = []

    def give(page):
        first.append(page)
        n = len(re.findall(r'data-place="', page.body))
        # The page has room for the longest order; rows that stay empty are the script's to remove.
        filled = len(re.findall(r'data-place="\d+"><bdi[^>]*>[^<]', page.body)) or n
        if scheme == ORDER:
            fields["order_1"] = " ".join(str(place) for place in range(filled, 0, -1))
        return post(code, fields)(page)

    pages = ask(server, *begun(code), give, look, look, post(code, {}, "undo"), look)
    assert [page.status for page in pages] == [200, 303, 200, 303, 200, 200, 303, 200]
    ((_, given, _, status),) = answers(store, project_id)
    assert read_answer(SMALL[scheme], given, len(fields.get("order_1", "1 2 3 4").split())) == given
    assert given == (fields["order_1"] if scheme == ORDER else STORED[scheme])
    assert status == "withdrawn"
    assert pages[4].body == pages[5].body, "a reload stays where it was"
    assert hidden(pages[-1].body, "place") == "1.1"
    fine(store)


def test_the_page_keeps_its_rules_of_safety(running):
    store, server = running
    _, code = opened(store, BEST_WORST)
    pages = ask(
        server, *begun(code), ("GET", "/static/scheme.css"), ("GET", "/static/question.js"),
        *(("GET", f"/static/{scheme}.js") for scheme in SCHEMES), ("GET", "/static/writing.js"),
        ("GET", "/static/scheme_order.js"),
    )  # fmt: skip
    assert [page.status for page in pages] == [200, 303, 200, 200, 200, 200, 200, 200, 404, 404]
    assert "unsafe" not in pages[2].headers["content-security-policy"]
    assert not re.search(r"<script>|<style>| style=| on[a-z]+=", pages[2].body)
    (forged,) = ask(server, *begun(code, "Eve"), post(code, {"form": "0" * 64, "best_1": "1", "worst_1": "2"}))[-1:]
    assert forged.status == 403


@pytest.mark.release
def test_a_project_with_a_round_on_the_page_goes_through_an_archive_and_is_discarded(store):
    project_id, code = opened(store, BEST_WORST)
    visit = Visit(store, code, "V1")
    visit.answer("best=1;worst=2")
    copied = import_project(store, export_project(store, project_id))
    assert [row[1:] for row in answers(store, copied)] == [row[1:] for row in answers(store, project_id)]
    fine(store)
    other, link = opened(store, ORDER)
    Visit(store, link, "V1")
    discard_round(store, other, 1)
    assert api.look(store, link, "", "x").kind == "nothing"
    fine(store)
