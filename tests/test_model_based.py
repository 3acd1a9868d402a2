"""A random walk over the commands, beside a plain model of them (`workspace_model`).

After each step every rule of a workspace holds (`commands.integrity`), and the store has the ballots, the answers of
each status, the voters left out and the versions that the model has. A command that must be refused is, and changes
nothing. `make test` walks some 200 steps, the same in every run; `make test-properties` 5,000 of that run's own.
"""

from __future__ import annotations

import csv
import hashlib
import html
import io
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from campaigns import answer_batch
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from workspace_model import FURTHEST, N_BALLOTS, BallotModel, GivenAssignment, GivenFile, Item, PageVoter, ProjectModel

from core.commands.integrity import check_store
from core.commands.publishing import release
from core.errors import RunoffError
from core.questions.comparison_page import write_batch
from core.questions.voting_settings import VotingSettings
from core.store import Store
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.drawing import discard_ballot, draw_next_ballot
from core.store.engine import open_apart
from core.store.projects.archive import delete_project, duplicate_project, export_project, import_project
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project, get_project, list_projects
from core.store.projects.releases import read_releases, release_bytes
from core.store.tokens.areas import add_areas
from core.store.votes.exclusions import exclude_voters, readmit_voters
from core.store.votes.intake import accept_upload
from core.store.votes.judgements import set_policy
from core.store.votes.payment import read_assignments, review_assignments
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.store.voting.owner_commands import open_voting, withdraw_voter
from core.tokens.files import AreaTokens
from core.votes.payment import Review
from core.votes.reasons import REPEATS, Policy
from core.voting import api

STEPS = 50  # of a walk
MOST_PROJECTS = 3
TOKENS = AreaTokens("Sea", ("ship", "boat", "gull", "=net", "NA"))
PLAN = PlanSettings(
    n_ballots=N_BALLOTS, keep=0.6, appearances=2, task_size=4, n_voters=4, seed=7, protocol="paper", ties_allowed=True
)
PAGE = VotingSettings(task_size=3, tasks_per_voter=4, examples=False)
PEOPLE = ("W1", "W2", "W3")
CHOICES = ("left", "right", "tie", "unknown")
which = st.integers(0, 11)  # one of what there is, by its place modulo how many there are


def opened(model: ProjectModel) -> bool:
    return model.is_open


def closed(model: ProjectModel) -> bool:
    return bool(model.ballots) and not model.is_open


def unanswered(model: ProjectModel) -> bool:
    return model.is_open and not model.ballots[-1].has_answers


def has_files(model: ProjectModel) -> bool:
    return model.is_open and bool(model.ballots[-1].files)


def may_withdraw(model: ProjectModel) -> bool:
    return model.is_open and any(not file.is_withdrawn for file in model.ballots[-1].files)


def has_voters(model: ProjectModel) -> bool:
    return bool(set(model.voters) - model.left_out)


def has_assignments(model: ProjectModel) -> bool:
    return any(True for ballot in model.ballots for _ in ballot.assignments())


def has_page(model: ProjectModel) -> bool:
    return model.is_open and bool(model.ballots[-1].page)


def may_release(model: ProjectModel) -> bool:
    """A ballot is closed, and nothing is released."""
    return not model.releases and any(not ballot.is_open for ballot in model.ballots)


def read_file(data: bytes) -> list[GivenAssignment]:
    """What a file of `answer_batch` says, read without the code under test."""
    found = []
    for task, row in enumerate(csv.DictReader(io.StringIO(data.decode("utf-8")))):
        chosen = [row[key] for key in row if key and key.startswith("Answer.choice")]
        answers = {(task, place): choice for place, choice in enumerate(chosen) if choice}
        suffixes = [key.removeprefix("Answer.choice") for key in row if key and key.startswith("Answer.choice")]
        shown = {key.removeprefix("Input."): html.unescape(text) for key, text in row.items() if key and text}
        about = {(task, place): items_of(shown, suffixes[place]) for task, place in answers}
        found.append(GivenAssignment(row["AssignmentId"], row["WorkerId"], row["SubmitTime"], answers, about))
    return found


def items_of(shown: Mapping[str, str], suffix: str = "") -> set[Item]:
    """The two items of a comparison, by the tokens that are shown."""
    return {frozenset(shown[f"{side}_{token}{suffix}"] for token in "ab") for side in ("left", "right")}


class Walk(RuleBasedStateMachine):
    """Projects of one workspace, each with its model, by the store's id."""

    has_released = False
    stamp: Mapping[str, int] = {}

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.n_made = 0
        self.models: dict[str, ProjectModel] = {}
        # A voter's cookie, link and name in the store, by project and the name that was given.
        self.pages: dict[tuple[str, str], tuple[str, str, str]] = {}

    @initialize()
    def workspace(self) -> None:
        folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.store: Store = self.stack.enter_context(open_apart(Path(folder) / "workspace"))
        if self.store.engine.dialect.name == "sqlite":
            self.store.engine.dispose()
            sa.event.listen(self.store.engine, "connect", lambda dbapi, _: dbapi.execute("PRAGMA synchronous=OFF"))
        self.new_project()
        for _ in range(4):  # ballot 1 is closed, ballot 2 drawn
            self.advance(0)

    def teardown(self) -> None:
        self.stack.close()

    # What there is

    def new_name(self, kind: str) -> str:
        self.n_made += 1
        return f"{kind} {self.n_made}"

    def those(self, fits: Callable[[ProjectModel], Any] = lambda _: True) -> list[str]:
        """The projects that fit."""
        return [id_ for id_, model in self.models.items() if fits(model)]

    def one(self, n: int, fits: Callable[[ProjectModel], Any] = lambda _: True) -> tuple[str, ProjectModel]:
        """One of the projects that fit."""
        ids = self.those(fits)
        return ids[n % len(ids)], self.models[ids[n % len(ids)]]

    def ballot_id(self, project_id: str, ballot: BallotModel) -> int:
        return read_ballots(self.store, project_id)[ballot.number - 1].id

    # Projects

    @precondition(lambda self: len(self.models) < MOST_PROJECTS)
    @rule()
    def new_project(self) -> None:
        model = ProjectModel(self.new_name("Project"))
        project_id = create_project(self.store, model.name, seed=self.n_made)
        add_areas(self.store, project_id, [TOKENS])
        save_plan(self.store, project_id, PLAN)
        self.models[project_id] = model

    @precondition(lambda self: len(self.models) < MOST_PROJECTS)
    @rule(n=which)
    def copy(self, n: int) -> None:
        project_id, model = self.one(n)
        name = self.new_name("Copy")
        self.models[duplicate_project(self.store, project_id, name)] = model.copied(name)

    @precondition(lambda self: len(self.models) < MOST_PROJECTS)
    @rule(n=which)
    def import_(self, n: int) -> None:
        project_id, model = self.one(n)
        name = self.new_name("Import")
        data = export_project(self.store, project_id)
        self.models[import_project(self.store, data, name=name)] = model.copied(name)

    @precondition(lambda self: len(self.models) == MOST_PROJECTS)
    @rule(n=which)
    def delete(self, n: int) -> None:
        project_id, model = self.one(n)
        delete_project(self.store, project_id, model.name)
        del self.models[project_id]
        self.pages = {key: kept for key, kept in self.pages.items() if key[0] != project_id}

    # Ballots

    @rule(n=which)
    def advance(self, n: int) -> None:
        """What comes next, so that walks get far: draw, a file, close."""
        project_id, model = self.one(n)
        if model.may_draw:
            number = draw_next_ballot(self.store, project_id)
            rows = read_comparisons(self.store, project_id, number)
            items = [items_of({str(key): text for key, text in row.items()}) for row in rows.to_dict("records")]
            model.ballots.append(BallotModel(number, set().union(*items)))
        elif model.may_close:
            close_ballot(self.store, project_id)
            model.close()
        elif model.is_open:
            self.take_file(project_id, model, FURTHEST[-1], 0, self.n_made)

    @precondition(lambda self: self.those(closed))
    @rule(n=which)
    def reopen(self, n: int) -> None:
        project_id, model = self.one(n, closed)
        reopen_ballot(self.store, project_id)
        model.reopen()

    @precondition(lambda self: self.those(unanswered))
    @rule(n=which)
    def discard(self, n: int) -> None:
        project_id, model = self.one(n, unanswered)
        discard_ballot(self.store, project_id)
        model.ballots.pop()

    # Files

    @precondition(lambda self: self.those(opened))
    @rule(n=which, status=st.sampled_from(FURTHEST), turn=st.integers(0, 2), said=st.integers(0, 7))
    def upload(self, n: int, status: str, turn: int, said: int) -> None:
        self.take_file(*self.one(n, opened), status, turn, said)

    def take_file(self, project_id: str, model: ProjectModel, status: str, turn: int, said: int) -> None:
        """A file of new assignments; people answer other tasks by `turn`, and other things by `said`."""
        ballot = model.ballots[-1]
        tag = f"{self.new_name('A')}-"
        batch = write_batch(read_comparisons(self.store, project_id, ballot.number))
        asked = iter(range(10**6))
        voters = [PEOPLE[(place + turn) % len(PEOPLE)] for place in range(len(PEOPLE))]
        data = answer_batch(
            batch,
            voters=voters,
            choose=lambda _: CHOICES[(next(asked) * (said + 1) + said // 2) % len(CHOICES)],
            status=status,
            tag=tag,
        )
        accept_upload(self.store, project_id, data, f"{tag}.csv")
        ballot.files.append(GivenFile(f"{tag}.csv", status, read_file(data)))

    @precondition(lambda self: self.those(has_files))
    @rule(n=which, file=which, status=st.sampled_from(FURTHEST))
    def upload_again(self, n: int, file: int, status: str) -> None:
        """The assignments of a file once more, as another status may be known of them by now, or the file was
        withdrawn."""
        project_id, model = self.one(n, has_files)
        ballot = model.ballots[-1]
        given = ballot.files[file % len(ballot.files)]
        tag = given.name.split("again")[0].removesuffix(".csv")
        batch = write_batch(read_comparisons(self.store, project_id, ballot.number))
        told = {one.code: one for one in given.assignments}
        answers = iter([choice for one in given.assignments for choice in one.answers.values()])
        voters = [one.voter for one in given.assignments]
        data = answer_batch(batch, voters=voters, choose=lambda _: next(answers), status=status, tag=tag)
        assignments = read_file(data)
        assert {one.code: one for one in assignments} == told
        live = {one.code: said for one, said in ballot.assignments()}
        tells = [code for code in told if FURTHEST.index(status) > FURTHEST.index(live.get(code, status))]
        is_new = any(code not in live for code in told)
        name = f"{tag}again{self.n_made}.csv"
        self.n_made += 1
        if not tells and not is_new:
            with pytest.raises(RunoffError):
                accept_upload(self.store, project_id, data, name)
            return
        accept_upload(self.store, project_id, data, name)
        ballot.files.append(GivenFile(name, status, assignments))

    @precondition(lambda self: self.those(may_withdraw))
    @rule(n=which, file=which)
    def withdraw(self, n: int, file: int) -> None:
        project_id, model = self.one(n, may_withdraw)
        files = [one for one in model.ballots[-1].files if not one.is_withdrawn]
        given = files[file % len(files)]
        [upload_id] = [one.id for one in read_uploads(self.store, project_id) if one.filename == given.name]
        withdraw_upload(self.store, project_id, upload_id)
        given.is_withdrawn = True

    # Decisions

    def voter_id(self, project_id: str, name: str) -> int:
        v = t.voter.c
        with self.store.read() as conn:
            query = sa.select(v.id).where(v.project_id == project_id, v.external_id == name)
            return int(conn.execute(query).scalar_one())

    @precondition(lambda self: self.those(has_voters))
    @rule(n=which, voter=which)
    def exclude(self, n: int, voter: int) -> None:
        project_id, model = self.one(n, has_voters)
        names = [name for name in model.voters if name not in model.left_out]
        name = names[voter % len(names)]
        without = model.copied("")
        without.left_out.add(name)
        try:
            exclude_voters(self.store, project_id, [self.voter_id(project_id, name)], "at random")
        except RunoffError:  # an item of a closed ballot would have no vote
            assert not all(without.scores(ballot) for ballot in without.ballots if not ballot.is_open)
        else:
            assert all(without.scores(ballot) for ballot in without.ballots if not ballot.is_open)
            model.left_out.add(name)

    @precondition(lambda self: self.those(lambda model: model.left_out))
    @rule(n=which, voter=which)
    def readmit(self, n: int, voter: int) -> None:
        project_id, model = self.one(n, lambda model: model.left_out)
        name = sorted(model.left_out)[voter % len(model.left_out)]
        readmit_voters(self.store, project_id, [self.voter_id(project_id, name)])
        model.left_out.discard(name)

    @precondition(lambda self: self.those(has_assignments))
    @rule(n=which, place=which, decision=st.sampled_from(("approve", "reject", None)))
    def review(self, n: int, place: int, decision: str | None) -> None:
        project_id, model = self.one(n, has_assignments)
        live = [(ballot, one) for ballot in reversed(model.ballots) for one, _ in ballot.assignments()]
        ballot, given = live[place % len(live)]
        table = read_assignments(self.store, self.ballot_id(project_id, ballot))
        [id_] = table.loc[table["assignment_id"] == given.code, "assignment"]
        said = None if decision is None else Review(decision, "too fast" if decision == "reject" else "")
        review_assignments(self.store, project_id, {int(id_): said})
        if decision is None:
            ballot.reviews.pop(given.code, None)
        else:
            ballot.reviews[given.code] = decision

    @rule(n=which, counts_rejected=st.booleans(), repeats=st.sampled_from(sorted(REPEATS)))
    def policy(self, n: int, counts_rejected: bool, repeats: str) -> None:
        project_id, model = self.one(n)
        set_policy(self.store, project_id, Policy("count" if counts_rejected else "leave out", repeats))
        model.counts_rejected, model.repeats = counts_rejected, repeats

    # The voting page

    @precondition(lambda self: self.those(opened))
    @rule(n=which, person=st.integers(0, 2), choice=st.sampled_from(CHOICES))
    def vote(self, n: int, person: int, choice: str) -> None:
        """Somebody opens the page, or goes on, and answers once where there is something to answer."""
        project_id, model = self.one(n, opened)
        ballot = model.ballots[-1]
        name = f"P{person} of {model.name}"  # in a copy, somebody of a name that is taken is another voter
        if (project_id, name) not in self.pages:
            code = open_voting(self.store, project_id, PAGE)
            view = api.look(self.store, code, "", "visit", api.Visitor())
            if view.kind == "entry":
                view = api.begin(self.store, code, "visit", view.form, api.Visitor(), name=name)
            if not view.cookie:  # nobody may begin
                return
            # Also who finds no task left: the same name from the same browser is the same voter later.
            self.pages[project_id, name] = view.cookie, code, self.newest_voter(project_id)
        cookie, code, stored = self.pages[project_id, name]
        view = api.look(self.store, code, cookie, "visit")
        if view.kind != "vote":
            return
        self.pages[project_id, name] = view.cookie, code, stored  # another at each ballot, as a browser gets it
        voter = ballot.page.setdefault(stored, PageVoter(stored))
        assert not voter.is_withdrawn
        api.vote(self.store, code, view.cookie, view.form, task=view.place.task, n=view.place.n, choice=choice)
        if choice == "unknown":
            voter.n_unknown += 1
        else:
            voter.votes.append(items_of(view.place.texts))

    def newest_voter(self, project_id: str) -> str:
        """Who began last, by the store's name."""
        voter, session = t.voter.c, t.sitting.c
        query = sa.select(voter.external_id).join(t.sitting, session.voter_id == voter.id)
        with self.store.read() as conn:
            return str(
                conn.execute(query.where(voter.project_id == project_id).order_by(-session.id)).scalars().first()
            )

    @precondition(lambda self: self.those(has_page))
    @rule(n=which, person=which)
    def withdraw_voter(self, n: int, person: int) -> None:
        project_id, model = self.one(n, has_page)
        ballot = model.ballots[-1]
        voter = sorted(ballot.page.values(), key=lambda one: one.name)[person % len(ballot.page)]
        query = (
            sa.select(t.sitting.c.id)
            .join(t.voting, t.voting.c.id == t.sitting.c.voting_id)
            .join(t.voter, t.voter.c.id == t.sitting.c.voter_id)
            .where(t.voting.c.ballot_id == self.ballot_id(project_id, ballot), t.voter.c.external_id == voter.name)
        )
        with self.store.read() as conn:
            sessions = conn.execute(query).scalars().all()
        assert sessions
        for session_id in sessions:
            withdraw_voter(self.store, project_id, session_id)
        voter.is_withdrawn = True

    # Versions, and what is refused

    @precondition(lambda self: not self.has_released and self.those(may_release))
    @rule(n=which)
    def release(self, n: int) -> None:
        project_id, model = self.one(n, may_release)
        self.has_released = True  # once a walk: it takes as long as ten other steps
        release(self.store, project_id, "1.0")
        [kept] = read_releases(self.store, project_id)
        model.releases["1.0"] = hashlib.sha256(release_bytes(self.store, kept)).hexdigest()

    @rule(n=which)
    def refused(self, n: int) -> None:
        """Everything that can't be done now is refused."""
        project_id, model = self.one(n)
        here = self.store, project_id
        tried: list[Callable[[], Any]] = [
            lambda: delete_project(*here, "another name"),
            lambda: withdraw_upload(*here, 10**9),
            lambda: exclude_voters(*here, [10**9], "made up"),
            lambda: readmit_voters(*here, []),
            lambda: review_assignments(*here, {10**9: Review("approve")}),
            lambda: accept_upload(*here, b"HITId,WorkerId\n1,2\n", "of another ballot.csv"),
        ]
        if not model.may_draw:
            tried.append(lambda: draw_next_ballot(*here))
        if not model.may_close:
            tried.append(lambda: close_ballot(*here))
        if not closed(model):
            tried.append(lambda: reopen_ballot(*here))
        if not unanswered(model):
            tried.append(lambda: discard_ballot(*here))
        for name in model.left_out:
            tried.append(lambda name=name: exclude_voters(*here, [self.voter_id(project_id, name)], "again"))
        if model.releases:
            tried.append(lambda: release(*here, "1.0"))
        for upload in read_uploads(*here):
            of = model.ballots[upload.ballot - 1]
            [given] = [file for file in of.files if file.name == upload.filename]
            if given.is_withdrawn or not of.is_open:
                tried.append(lambda id_=upload.id: withdraw_upload(*here, id_))
        revision = get_project(*here).revision
        for command in tried:
            with pytest.raises(RunoffError):
                command()
        assert get_project(*here).revision == revision
        self.stamp = {}

    # What holds after each step

    def stored(self, project_id: str) -> dict[int, Counter[str]]:
        """How many answers of each status the store has, by ballot."""
        query = (
            sa.select(t.ballot.c.ordinal, t.judgement.c.status, sa.func.count())
            .select_from(t.judgement)
            .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
            .join(t.ballot, t.ballot.c.id == t.assignment.c.ballot_id)
            .where(t.ballot.c.project_id == project_id)
            .group_by(t.ballot.c.ordinal, t.judgement.c.status)
        )
        found = {ballot.number: Counter[str]() for ballot in read_ballots(self.store, project_id)}
        with self.store.read() as conn:
            for number, status, n in conn.execute(query):
                found[number][status] = n
        return found

    @invariant()
    def all_is_as_it_should_be(self) -> None:
        """After a step that did anything, or tried to."""
        stamp = {one.id: one.cache_key for one in list_projects(self.store)}
        if stamp != self.stamp:
            self.stamp = stamp
            found = check_store(self.store)
            assert found.is_fine, [(fault.rule.name, fault.found) for fault in found.faults]
            self.the_store_is_as_the_model()

    def the_store_is_as_the_model(self) -> None:
        assert {one.id: one.name for one in list_projects(self.store)} == {
            id_: model.name for id_, model in self.models.items()
        }
        for id_, model in self.models.items():
            assert [one.is_open for one in read_ballots(self.store, id_)] == [one.is_open for one in model.ballots]
            assert self.stored(id_) == {ballot.number: model.counts(ballot) for ballot in model.ballots}
            kept = {
                one.version: hashlib.sha256(release_bytes(self.store, one)).hexdigest()
                for one in read_releases(self.store, id_)
            }
            assert kept == model.releases
            with self.store.read() as conn:
                e = t.exclusion.c
                query = sa.select(t.voter.c.external_id).join(t.exclusion, e.voter_id == t.voter.c.id)
                out = conn.execute(query.where(e.project_id == id_, e.undone_at.is_(None))).scalars().all()
            assert sorted(out) == sorted(model.left_out)


@pytest.mark.hypothesis
def test_commands_leave_what_the_model_has() -> None:
    searches = settings.get_current_profile_name() == "search"
    run_state_machine_as_test(
        Walk,
        settings=settings(
            max_examples=100 if searches else 4,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
        ),
    )
