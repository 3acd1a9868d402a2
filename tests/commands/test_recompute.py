"""Scores computed again from what a published dataset or a project's file holds: bit for bit, or the difference "
"told."""

from __future__ import annotations

import io
import json
import math
import zipfile
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from campaigns import BOTH_PROTOCOLS, PLAN, make_project, run_people, run_simulated
from test_ballot_checks import WITH, hold

import core
from core.__main__ import main
from core.cli.dataset import replay_bytes
from core.commands import recompute
from core.commands.publishing import publish
from core.commands.recompute import Replayed, replay_record
from core.dataset.published import COMPARED, VOTES, read_published, read_table, write_published, write_table
from core.errors import InputError
from core.metrics import average_ranks
from core.store import schema as t
from core.store.ballots.ballot_rows import every_ballot_of
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.ballots.pilots import draw_pilot
from core.store.ballots.simulated import simulate_votes
from core.store.projects.archive import export_project, import_project
from core.store.projects.plans import read_rankings, save_plan, set_ranking
from core.store.projects.records import pseudonym, record_files, record_from, record_of, voter_secret
from core.store.scores import project_dataset, scoring
from core.store.scores.project_dataset import read_project_dataset
from core.store.votes.exclusions import exclude_voters
from core.store.votes.tallies import ballot_votes

COMPARISONS = "campaign/comparisons.csv"
RUNOFF = replace(PLAN, protocol="runoff", appearances=(6, 4, 4))


@pytest.fixture(params=BOTH_PROTOCOLS)
def project(store, request):
    """A trial project by each protocol: two ballots closed, the third open and half answered."""
    plan = PLAN if request.param == "paper" else RUNOFF
    project_id = make_project(store, kind="trial", plan=plan)
    run_simulated(store, project_id, 2)
    draw_next_ballot(store, project_id)
    simulate_votes(store, project_id, share=0.5)
    return project_id


def replayed(data: bytes) -> Replayed:
    published = read_published(data)
    return replay_record(record_from(published.files), published.dataset())


def with_file(data: bytes, path: str, change) -> bytes:
    """A published zip with one file changed, and a manifest that fits."""
    published = read_published(data)
    files = dict(published.files)
    files[path] = change(files[path])
    return write_published(files, version=published.version, title="x")


def test_all_scores_of_a_published_dataset_come_out_the_same(store, project):
    found = replayed(publish(store, project).data)
    assert found.same
    assert found.first is None
    kind = "theta" if "theta" in found.compared else "x"
    assert {kind, "lower", "upper", "score", "rank", "votes", "wins"} <= set(found.compared)
    with store.read() as conn:
        n = sum(len(ballot_votes(conn, ballot.id).first) for ballot in every_ballot_of(conn, project))
    assert (found.n_ballots, found.n_votes) == (3, n)
    # each item of both closed ballots has an interval's end compared, and each of the dataset's
    n_stored = 21 + (11 if kind == "x" else 21)
    assert found.compared["lower"] == n_stored + 21


def test_votes_of_people_replay_too_and_each_area_for_itself(store):
    project = make_project(store)
    run_people(store, project, 2)
    assert replayed(publish(store, project).data).same
    apart = make_project(store, kind="trial", plan=None)
    set_ranking(store, apart, "area")
    areas = [ranking.area_id for ranking in read_rankings(store, apart)]
    save_plan(store, apart, PLAN, area_ids=(areas[0],))
    save_plan(store, apart, replace(RUNOFF, n_ballots=2, appearances=(3, 3)), area_ids=(areas[1],))
    run_simulated(store, apart, 3, areas[0])
    run_simulated(store, apart, 1, areas[1])
    found = replayed(publish(store, apart).data)
    assert found.same
    assert {"x", "theta"} <= set(found.compared)
    assert found.n_ballots == 4


def test_without_a_closed_ballot_the_provisional_scores_are_held_against_the_votes(store):
    project = make_project(store, kind="trial")
    draw_next_ballot(store, project)
    simulate_votes(store, project, share=0.5)
    found = replayed(publish(store, project).data)
    assert found.same
    assert found.compared["score"] == len(read_project_dataset(store, project))


def test_a_pilot_is_recorded_and_scores_nothing(store):
    project = make_project(store, kind="trial")
    draw_pilot(store, project)
    simulate_votes(store, project)
    close_ballot(store, project)
    run_simulated(store, project, 1)
    data = publish(store, project).data
    assert replayed(data).same
    votes = read_table(read_published(data).files["campaign/votes.csv"], VOTES, "votes")
    assert set(votes["ballot"]) == {0, 1}


def test_one_changed_vote_is_found_with_the_item_and_both_values(store, project):
    def change(data: bytes) -> bytes:
        votes = read_table(data, VOTES, "votes")
        at = votes.index[(votes["ballot"] == 1) & (votes["status"] == "counted") & (votes["value"] != 0.5)][0]
        votes.loc[at, "value"] = 1 - votes.loc[at, "value"]
        return write_table(votes, VOTES)

    found = replayed(with_file(publish(store, project).data, "campaign/votes.csv", change))
    assert not found.same
    assert found.first is not None
    assert found.first.where == "ballot 1, wins"
    assert " – " in found.first.item
    assert abs(found.first.stored - found.first.recomputed) == 1


def test_one_changed_bit_of_a_score_is_found(store, project):
    exact = read_project_dataset(store, project)["score"].iloc[0]
    near = float(np.nextafter(exact, 2))

    def change(data: bytes) -> bytes:
        text = data.decode()
        assert repr(float(exact)) in text
        return text.replace(repr(float(exact)), repr(near), 1).encode()

    found = replayed(with_file(publish(store, project).data, "dataset.csv", change))
    assert found.n_different == 1
    assert found.first.where == "dataset, score"
    assert (found.first.stored, found.first.recomputed) == (near, exact)
    assert found.largest == near - exact


@pytest.mark.release
@pytest.mark.parametrize("project", ["runoff"], indirect=True)
def test_only_a_fit_by_other_steps_may_differ_by_more_than_last_bits(store, project):
    published = read_published(publish(store, project).data)
    near = published.dataset()
    near["score"] += 1e-7

    def outcome(change) -> str:
        record = record_from(published.files)
        for described in record.plan["rankings"]:
            for ballot in described["ballots"]:
                change(ballot.get("fit") or {})
        return replay_record(record, near).outcome

    assert outcome(lambda fit: None) == "different"
    assert outcome(lambda fit: fit.pop("steps", None)) == "last bits"  # what a Runoff before 0.7 stored
    assert outcome(lambda fit: (fit.pop("steps", None), fit.update(iterations=1))) == "last bits"
    near["score"] -= 1e-7
    assert outcome(lambda fit: fit.update(iterations=1) if "iterations" in fit else None) == "different"


@pytest.mark.parametrize(
    ("name", "made", "now"),
    [
        ("paper", "", "fitted"),
        ("paper", "widened", "fitted"),
        pytest.param("runoff", "widened", "lapse", marks=pytest.mark.release),
        pytest.param("runoff", "", "lapse", marks=pytest.mark.release),
    ],
)
def test_bounds_of_before_replay_as_they_were(store, monkeypatch, name, made, now):
    """A fit that doesn't name its bounds has plain percentiles, another those it names; each is held against such."""
    project = make_project(store, kind="trial", plan=PLAN if name == "paper" else RUNOFF)
    with monkeypatch.context() as before:
        before.setattr(scoring, "scores_of", partial(scoring.scores_of, bounds=made))
        run_simulated(store, project, 2)
    published = read_published(publish(store, project).data)
    record = record_from(published.files)
    fits = [ballot["fit"] for ballot in record.plan["rankings"][0]["ballots"]]
    assert [fit.get("bounds", "") for fit in fits] == [made] * 2
    assert replay_record(record, published.dataset()).same
    for fit in fits:
        fit["bounds"] = now
    found = replay_record(record, published.dataset())
    assert (found.outcome, found.first.where.split()[-1]) == ("different", "lower")


def of_version(data: bytes, version: str) -> bytes:
    """The zip with all that says its version changed to that one."""

    def told(text: bytes) -> bytes:
        about = json.loads(text)
        return json.dumps(about | {"versions": about["versions"] | {"runoff": version}}).encode()

    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(with_file(data, "dataset.json", told))) as made, zipfile.ZipFile(out, "w") as again:
        for name in made.namelist():
            text = made.read(name)
            if name == "manifest.json":
                text = json.dumps(json.loads(text) | {"runoff": version}).encode()
            again.writestr(name, text)
    return out.getvalue()


def coarsely(values) -> np.ndarray:
    return np.round(values, 1)


def test_ranks_are_computed_anew_by_the_rule_of_the_version_that_published_them(store, project, monkeypatch):
    # a rule so coarse that it ranks another way: no two scores of so small a campaign are as near as 1e-12
    monkeypatch.setattr(recompute, "absolutely_rounded_scores", coarsely)
    relative = publish(store, project).data
    monkeypatch.setattr(
        project_dataset, "average_ranks", lambda values, rounding=None: average_ranks(values, rounding=coarsely)
    )
    absolute = publish(store, project).data
    assert read_published(relative).runoff == core.__version__
    for version, is_old in (("0.1.0", True), ("0.2.7", True), ("0.3.0", False), ("0.10.0", False)):
        for data, by_old_rule in ((relative, False), (absolute, True)):
            monkeypatch.setattr(project_dataset, "average_ranks", average_ranks)
            found, maker, _ = replay_bytes(of_version(data, version))
            assert (maker, found.same) == (version, is_old == by_old_rule)
            assert replayed(of_version(data, version)).same == found.same


def test_left_out_and_unknown_answers_are_recorded_and_not_counted(store):
    project = make_project(store)
    run_people(store, project, 1)
    with store.write() as conn:  # a voter whom the owner left out after closing: the scores are of before
        one = conn.execute(sa.select(t.judgement.c.id).limit(1)).scalar_one()
        conn.execute(sa.update(t.judgement).where(t.judgement.c.id == one).values(status="excluded"))
    found = replayed(publish(store, project).data)
    assert not found.same
    assert "ballot 1" in found.first.where


def test_without_voters_left_out_the_new_scores_replay(store, project):
    with store.read() as conn:
        voter = conn.execute(sa.select(t.voter.c.id).where(t.voter.c.project_id == project).limit(1)).scalar_one()
    exclude_voters(store, project, [voter], "too fast")
    data = publish(store, project).data
    assert replayed(data).same
    votes = read_table(read_published(data).files["campaign/votes.csv"], VOTES, "votes")
    assert (votes["status"] == "excluded").sum() > 0


def test_the_record_reads_back_exactly(store, project):
    with store.read() as conn:
        record = record_of(conn, project, "secret")
    files = record_files(record)
    again = record_from(files)
    for name in ("items", "ballot_items", "fit_scores", "comparisons", "tasks", "votes", "voters"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(record, name), check_exact=True)
    assert again.plan == record.plan
    assert record_files(again) == files


def test_tokens_that_look_like_numbers_or_nothing_stay_texts(store):
    project = make_project(store)  # its tokens: NA, 007, =cow, café
    run_people(store, project, 1)
    with store.read() as conn:
        items = record_from(record_files(record_of(conn, project, "s"))).items
    assert {"NA", "007", "=cow", "café"} <= set(items["token_a"]) | set(items["token_b"])


def test_pseudonyms_hide_ids_and_stay_the_same_in_a_project(store):
    project = make_project(store)
    run_people(store, project, 1)
    secret = voter_secret(store, project)
    assert secret == voter_secret(store, project)
    assert len(secret) == 64
    data = publish(store, project).data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        whole = b"\n".join(archive.read(name) for name in archive.namelist())
    assert secret.encode() not in whole
    for voter in ("W1", "W2", "W6"):
        assert f",{voter}," not in whole.decode("utf-8", "replace")
    assert pseudonym(secret, "mturk", "W1").encode() in whole
    other = make_project(store, seed=12)
    assert voter_secret(store, other) != secret
    assert pseudonym("s", "mturk", "W1") != pseudonym("s", "turkle", "W1")


def test_a_file_that_lacks_a_part_is_refused(store, project):
    files = dict(read_published(publish(store, project).data).files)
    del files["campaign/votes.csv"]
    with pytest.raises(InputError, match=r"lacks campaign/votes\.csv"):
        record_from(files)
    with pytest.raises(InputError, match="not a table of votes"):
        record_from({**files, "campaign/votes.csv": b"a,b\n1,2\n"})


def test_the_kind_of_a_check_is_published_and_files_without_it_still_replay(store):
    project_id = make_project(store, plan=WITH)
    for _ in range(2):
        hold(store, project_id)
    data = publish(store, project_id).data
    told = read_table(read_published(data).files[COMPARISONS], COMPARED, "comparisons")
    assert (told.loc[told["role"] == "main", "check"] == "").all()
    with store.read() as conn:
        kinds = conn.execute(sa.select(t.check_question.c.kind, sa.func.count()).group_by(t.check_question.c.kind))
        assert told.loc[told["role"] == "check", "check"].value_counts().to_dict() == dict(kinds.all())
    assert {"gold", "repeat", "overlap", "audit"} == set(told["check"]) - {""}

    def without(csv: bytes) -> bytes:
        return b"".join(line.rpartition(b",")[0] + b"\n" for line in csv.splitlines())

    older = with_file(data, COMPARISONS, without)
    assert b"check" not in read_published(older).files[COMPARISONS].splitlines()[0]
    assert replayed(older).same
    assert (record_from(read_published(older).files).comparisons["check"] == "").all()


def test_minus_zero_and_nan_are_told_apart_from_others():
    found = Replayed()
    found.add("here", "x", [0.0, math.nan], [0.0, math.nan])
    assert found.same
    found.add("here", "x", [0.0], [-0.0], ["a – b"])
    assert (found.n_different, found.first.item) == (1, "a – b")
    found.add("here", "y", [1.0], [math.nan])
    assert found.largest == math.inf


class TestLastBits:
    """What another processor's arithmetic does is told apart from another score."""

    def of(self, stored, computed) -> Replayed:
        found = Replayed()
        found.add("here", "x", stored, computed, [f"item {n}" for n in range(len(stored))])
        return found

    def test_nothing_and_the_same(self):
        assert Replayed().outcome == "nothing"
        assert self.of([1.5, math.nan], [1.5, math.nan]).outcome == "same"

    @pytest.mark.parametrize(
        ("stored", "computed", "outcome"),
        [
            (0.5, 0.5 + 9e-13, "last bits"),
            (0.5, 0.5 + 1.1e-12, "different"),
            (-400.0, -400.0 - 3e-10, "last bits"),  # of the value
            (-400.0, -400.0 - 5e-10, "different"),
            (0.0, -0.0, "last bits"),
            (1e-13, 2e-13, "last bits"),  # of 1, as scores are differences
            (0.5, math.nan, "different"),
            (math.nan, 0.5, "different"),
            (math.inf, 0.5, "different"),
            (7.0, 8.0, "different"),
        ],
    )
    def test_how_far_apart(self, stored, computed, outcome):
        found = self.of([1.0, stored], [1.0, computed])
        assert (found.outcome, found.n_different) == (outcome, 1)
        assert not found.same

    def test_the_first_that_is_told_is_the_first_real_difference(self):
        found = self.of([1.0, 2.0, 3.0], [1.0 + 2e-16, 2.5, 3.5])
        assert (found.first.item, found.n_different, found.n_beyond, found.largest) == ("item 1", 3, 2, 0.5)
        found = self.of([1.0], [1.0 + 2.5e-16])
        assert (found.first.item, found.outcome) == ("item 0", "last bits")
        found.add("there", "y", [1.0], [2.0], ["item 9"])
        assert found.first.item == "item 9"

    def test_texts_and_lengths_are_never_last_bits(self):
        found = Replayed()
        found.add_text("here", "items", ["a"], ["b"])
        assert found.outcome == "different"
        assert self.of([1.0, 2.0], [1.0]).outcome == "different"


class TestCommand:
    def run(self, capsys, *arguments) -> tuple[int, str]:
        with pytest.raises(SystemExit) as exited:
            main([str(argument) for argument in arguments])
        return exited.value.code, capsys.readouterr().out

    def test_published_dataset(self, store, project, tmp_path, capsys, monkeypatch):
        monkeypatch.setenv("RUNOFF_WORKSPACE", str(tmp_path / "nowhere"))
        path = tmp_path / "set.zip"
        path.write_bytes(publish(store, project).data)
        code, out = self.run(capsys, "replay", path)
        assert code == 0
        assert "bit for bit" in out
        code, out = self.run(capsys, "replay", path, "--json")
        told = json.loads(out)
        assert (code, told["passed"], told["different"], told["kind"]) == (0, True, 0, "published dataset")
        assert not (tmp_path / "nowhere").exists()

    def test_project_file_and_a_changed_one(self, store, project, tmp_path, capsys):
        path = tmp_path / "project.zip"
        path.write_bytes(export_project(store, project))
        code, out = self.run(capsys, "replay", path, "--json")
        assert (code, json.loads(out)["kind"]) == (0, "project file")
        with store.write() as conn:
            conn.execute(
                sa.update(t.ballot_item)
                .where(t.ballot_item.c.ballot_id == every_ballot_of(conn, project)[0].id)
                .values(wins=t.ballot_item.c.wins + 1)
            )
        path.write_bytes(export_project(store, project))
        code, out = self.run(capsys, "replay", path)
        assert code == 1
        assert "The first: ballot 1, wins of " in out
        assert "stored" in out

    def test_a_tolerance_lets_small_differences_pass(self, store, project, tmp_path, capsys):
        exact = float(read_project_dataset(store, project)["score"].iloc[0])
        data = with_file(
            publish(store, project).data,
            "dataset.csv",
            lambda data: data.replace(repr(exact).encode(), repr(exact + 1e-9).encode(), 1),
        )
        path = tmp_path / "set.zip"
        path.write_bytes(data)
        assert self.run(capsys, "replay", path)[0] == 1
        assert self.run(capsys, "replay", path, "--tolerance", "1e-6")[0] == 0
        assert self.run(capsys, "replay", path, "--tolerance", "1e-12")[0] == 1

    def test_other_last_bits_are_an_outcome_of_their_own(self, store, project, tmp_path, capsys):
        exact = float(read_project_dataset(store, project)["score"].iloc[0])
        near = math.nextafter(exact, math.inf)
        data = with_file(
            publish(store, project).data,
            "dataset.csv",
            lambda data: data.replace(repr(exact).encode(), repr(near).encode(), 1),
        )
        path = tmp_path / "set.zip"
        path.write_bytes(data)
        code, out = self.run(capsys, "replay", path)
        assert code == 0
        assert "the same to 1e-12, but with other last bits" in out
        assert "bit for bit" not in out
        code, out = self.run(capsys, "replay", path, "--json")
        told = json.loads(out)
        assert (code, told["outcome"], told["passed"], told["different"]) == (0, "last bits", True, 1)
        assert self.run(capsys, "replay", path, "--exact")[0] == 1

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04 nothing", b"a,b\n1,2\n"])
    def test_what_is_no_export(self, tmp_path, capsys, content):
        path = tmp_path / "x.zip"
        path.write_bytes(content)
        assert self.run(capsys, "replay", path)[0] == 2
        assert self.run(capsys, "replay", tmp_path / "none.zip")[0] == 2


def test_a_project_that_came_in_publishes_the_same_votes_under_the_same_pseudonyms(store, project):
    first = read_published(publish(store, project).data).files
    copy = import_project(store, export_project(store, project))
    second = read_published(publish(store, copy).data).files
    for path in ("campaign/votes.csv", "campaign/voters.csv", "dataset.csv", "campaign/comparisons.csv"):
        assert first[path] == second[path], path
