"""What the values of result columns mean: marks, choices, statuses, ids, voters, times; what is asked, and answered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa
from case_ballot import CaseBallot, open_case_ballot
from click.testing import CliRunner

from core.__main__ import main
from core.commands.archived import import_archived
from core.errors import InputError, StoreError
from core.platforms import Mapping, OpenQuestionsError, read_results
from core.platforms.mturk import BOTH, decide
from core.store import Store
from core.store import schema as t
from core.store.projects.project_commands import list_projects
from core.store.scores.project_dataset import read_ballot_scores
from core.store.votes.intake import UploadPreview, accept_upload, preview_upload
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.votes.meanings import MARK, NO_MARK, ValueMeanings, approves, questions_of, reason_of
from core.votes.reading import taken_for, to_utc, unread_times

HEAD = b"INPUT:comparison_id\tOUTPUT:result\tASSIGNMENT:assignment_id\tASSIGNMENT:worker_id\tASSIGNMENT:status\n"
TURKLE = "HITId,AssignmentId,WorkerId,Turkle.Username,SubmitTime,Input.task_id,"
TURKLE += ",".join(f"Input.{text}_{n}" for n in (1, 2) for text in ("left_a", "left_b", "right_a", "right_b"))
TURKLE += ",Answer.choice_1,Answer.choice_2\n"


@pytest.fixture
def ballot(store: Store) -> CaseBallot:
    return open_case_ballot(store)


def look(ballot: CaseBallot, data: bytes | str, **options) -> UploadPreview:
    """The preview of a case by its name, or of a file's bytes."""
    data = ballot.file(data) if isinstance(data, str) else ballot.filled(data)
    return preview_upload(ballot.store, ballot.project_id, data, "votes.csv", **options)


def take(ballot: CaseBallot, data: bytes | str, **options) -> dict[str, int]:
    data = ballot.file(data) if isinstance(data, str) else ballot.filled(data)
    return accept_upload(ballot.store, ballot.project_id, data, "votes.csv", **options).counts


def said(preview: UploadPreview) -> str:
    return "\n".join(map(str, preview.issues))


def turkle_row(assignment: str, voter: str, task: int, choice: str, time: str = "Mon Jan 05 10:00:00 PST 2026") -> str:
    words = ",".join(f"{{{task}.{n} {text}}}" for n in (1, 2) for text in ("left_a", "left_b", "right_a", "right_b"))
    return f"{task},{assignment},{voter},{voter},{time},b1-00000000-0000{task},{words},{choice},{choice}\n"


class TestMarks:
    def test_a_missing_value_in_approve_approves_nobody(self, store: Store, cases: Path) -> None:
        data = (cases / "second/80-approve-na.csv").read_bytes()
        assert import_archived(store, "Old", [("80.csv", data)]).counts == {"80.csv": {"new": 6, "rejected": 6}}

    def test_a_reason_beside_a_missing_value_rejects(self, ballot: CaseBallot) -> None:
        found = look(ballot, "80b-reject-beside-na.csv")
        assert found.counts == {"new": 6, "rejected": 6}
        assert set(found.table("rejected")["reason"]) == {"rejected: answered without reading"}

    @pytest.mark.parametrize(
        "nothing", ["NA", "nan", "NULL", "None", "-", "n/a", "0", "FALSE", "no", " ", "#N/A", "<NA>"]
    )
    def test_how_programs_write_nothing_is_no_mark(self, nothing: str) -> None:
        assert decide("Rejected", nothing, "", "too fast") == ("rejected", "too fast")
        assert decide("Submitted", "", nothing, "") == ("submitted", "")
        assert decide("Submitted", nothing, "too fast", "") == ("rejected", "too fast")
        assert decide("Rejected", "x", nothing, "too fast") == ("approved", "")

    @pytest.mark.parametrize("mark", ["x", "X", "yes", "Y", "TRUE", "1", "1.0", "Approve", "approved", " x "])
    def test_marks(self, mark: str) -> None:
        assert decide("Rejected", mark, "", "too fast") == ("approved", "")

    def test_no_word_is_both(self) -> None:
        assert not MARK & NO_MARK

    @pytest.mark.parametrize("word", ["ok", "pending", "2", "✓"])
    def test_other_words_in_approve_are_asked_about(self, word: str) -> None:
        assert decide("Rejected", word, "", "") == ("approve?", word)
        assert decide("Rejected", word, "", "", ValueMeanings(marks=((word.upper(), "yes"),)))[0] == "approved"
        assert decide("Rejected", word, "", "", ValueMeanings(marks=((word, "no"),)))[0] == "rejected"

    def test_both_filled_is_said_with_rows_and_no_answer_is_dropped(self, ballot: CaseBallot) -> None:
        data = ballot.file("80b-reject-beside-na.csv").replace(b'"NA","answered without reading"', b'"x","too fast"')
        found = look(ballot, data)
        assert found.counts == {"new": 12}
        assert f"row 2, column Approve: {BOTH}, and the status stands: 3 rows (2, 3, 4)" in said(found)

    def test_a_word_in_approve_waits_and_is_answered(self, ballot: CaseBallot) -> None:
        data = ballot.file("80b-reject-beside-na.csv").replace(b'"NA","answered', b'"perhaps","answered')
        found = look(ballot, data.replace(b"answered without reading", b""))
        assert found.counts == {"new": 6, "asked": 6}
        assert [(q.role, q.value, q.n, q.row) for q in found.questions] == [("approve", "perhaps", 6, 2)]
        assert "What does “perhaps” in the column Approve mean? 6 answers wait for it, the first in row 2" in said(
            found
        )
        again = look(
            ballot, data.replace(b"answered without reading", b""), mapping=Mapping(marks=(("Perhaps", "yes"),))
        )
        assert (again.counts, again.questions) == ({"new": 12}, ())


class TestChoices:
    def test_the_command_line_asks_and_makes_nothing(self, store: Store, cases: Path, monkeypatch, capsys) -> None:
        monkeypatch.setenv("RUNOFF_WORKSPACE", str(store.folder))
        file = str(cases / "second/83-zero-one.csv")
        for given in ([], ["--choice", "0=left"]):
            with pytest.raises(SystemExit) as ended:
                main(["import-archived", file, "--name", "trial", *given])
            told = capsys.readouterr().err
            assert ended.value.code == 2
            assert "What does the choice “1” mean? 2 answers wait for it, the first in row 2" in told
            assert "(left: anvil – barge; right: candle – dune)" in told
            assert ("--choice 0=left --choice 1=right" in told) == (given == [])
        assert list_projects(store) == []
        with pytest.raises(SystemExit) as ended:
            main(["import-archived", file, "--name", "trial", "--choice", "0=left", "--choice", "1=right"])
        assert ended.value.code == 0
        (project,) = list_projects(store)
        scores = read_ballot_scores(store, project.id).sort_values("wins")
        assert scores[["wins", "losses"]].to_numpy().tolist() == [[1, 2], [2, 1]]
        with store.read() as conn:  # the first pair is that of the first two tokens
            votes = sa.select(t.judgement.c.answer, sa.func.count()).group_by(t.judgement.c.answer)
            assert dict(conn.execute(votes).all()) == {"first": 1, "second": 2}

    def test_nothing_counts_before_somebody_said_what_the_codes_mean(self, ballot: CaseBallot) -> None:
        found = look(ballot, "83b-zero-one.tsv")
        assert (found.counts, found.takes_something) == ({"asked": 12}, False)
        first = ballot.comparisons[0]
        assert [(q.role, q.value, q.n, q.row) for q in found.questions] == [
            ("choice", "0", 6, 2),
            ("choice", "1", 6, 3),
        ]
        words = "left: {left_a} – {left_b}; right: {right_a} – {right_b}".format(**first)
        assert found.questions[0].example == words
        assert said(found).startswith("What does the choice “0” mean? 6 answers wait for it, the first in row 2")
        with pytest.raises(
            StoreError, match=r"waits for what somebody must say of its values\. What does the choice “0”"
        ):
            take(ballot, "83b-zero-one.tsv")
        mapping = Mapping(choices=(("0", "left"), ("1", "right")))
        answered = look(ballot, "83b-zero-one.tsv", mapping=mapping)
        assert (answered.counts, answered.questions) == ({"new": 12}, ())
        assert answered.preview.rows["choice"].value_counts().to_dict() == {"left": 6, "right": 6}

    def test_what_was_said_stays_with_the_upload_and_stands_in_the_log(self, ballot: CaseBallot) -> None:
        mapping = Mapping(choices=(("0", "right"), ("1", "left")))
        take(ballot, "83b-zero-one.tsv", mapping=mapping)
        other = HEAD + b"b1-00000000-00001-1\tleft\tz\tw9\tAPPROVED\n"
        take(ballot, other)
        uploads = read_uploads(ballot.store, ballot.project_id)
        withdraw_upload(ballot.store, ballot.project_id, uploads[0].id)  # the first file is read once more
        with ballot.store.read() as conn:
            status = sa.select(t.judgement.c.status, sa.func.count()).group_by(t.judgement.c.status)
            assert dict(conn.execute(status).all()) == {"counted": 12, "withdrawn": 1}
            log = conn.execute(sa.select(t.log.c.detail).where(t.log.c.action == "accept upload")).scalars().first()
        assert log["said"] == {"choices": {"0": "right", "1": "left"}}

    @pytest.mark.parametrize(
        ("choices", "asked"),
        [
            ("111111", ["1"]),
            ("000001", ["0", "1"]),
            ("121212", []),
            ("012012", ["0", "1", "2"]),
            ("222222", ["2"]),
            (["1.0", "0.0"] * 3, ["1.0", "0.0"]),
            (["1.0", "2.0"] * 3, []),
            (["true", "FALSE"] * 3, ["true", "false"]),
            (["yes", "no"] * 3, ["yes", "no"]),
            (["-1", "1"] * 3, ["-1", "1"]),
            (["A", "b"] * 3, []),
        ],
    )
    def test_codes_in_a_platforms_export(self, ballot: CaseBallot, choices, asked: list[str]) -> None:
        rows = [f"b1-00000000-0000{at}-1\t{choice}\ta{at}\tw\tAPPROVED" for at, choice in enumerate(choices, 1)]
        found = look(ballot, HEAD + "\n".join(rows).encode() + b"\n")
        assert [question.value for question in found.questions] == asked
        assert found.counts == ({"asked": 6} if asked else {"new": 6})

    @pytest.mark.parametrize(
        "data",
        [
            b"comparison_id,voter,choice\nb1-00000000-00001-1,ann,0\nb1-00000000-00001-2,ann,1\n",
            (TURKLE + turkle_row("1", "ann", 1, "1")).encode(),
            b'[{"comparison_id": "b1-00000000-00001-1", "voter": "ann", "choice": 0},'
            b' {"comparison_id": "b1-00000000-00001-2", "voter": "ann", "choice": 1}]',
        ],
    )
    def test_codes_in_every_reader(self, ballot: CaseBallot, data: bytes) -> None:
        assert look(ballot, data).counts == {"asked": 2}
        mapping = Mapping(choices=(("0", "left"), ("1", "right")))
        assert look(ballot, data, mapping=mapping).counts == {"new": 2}

    def test_a_choice_means_what_it_can(self) -> None:
        with pytest.raises(InputError, match="A status means one of submitted, approved, rejected"):
            ValueMeanings(statuses=(("EXPIRED", "gone"),)).check_said()

    def test_an_upload_of_an_earlier_version_is_read_as_it_was(self, ballot: CaseBallot) -> None:
        data = b"voter,choice,comparison_id\nann,1,b1-00000000-00001-1\n"
        mapping = Mapping(voter="voter", choice="choice", comparison="comparison_id", choices=(("1", "left"),))
        take(ballot, data, mapping=mapping)
        take(ballot, HEAD + b"b1-00000000-00002-1\tleft\tz\tw9\tAPPROVED\n")
        old = {"voter": "voter", "choice": "choice", "comparison": "comparison_id"}  # as version 0.2 wrote it
        with ballot.store.write(ballot.project_id) as conn:
            upload = t.upload.c
            first = sa.select(sa.func.min(upload.id)).scalar_subquery()
            conn.execute(sa.update(t.upload).where(upload.id == first).values(mapping=old))
        withdraw_upload(ballot.store, ballot.project_id, read_uploads(ballot.store, ballot.project_id)[0].id)
        first_upload = read_uploads(ballot.store, ballot.project_id)[-1]
        assert first_upload.counts == {"new": 1}


class TestStatuses:
    def test_each_unknown_status_is_named_with_its_number(self, ballot: CaseBallot) -> None:
        found = look(ballot, "94-statuses.tsv")
        assert found.counts == {"rejected": 2, "asked": 10}
        named = [(question.role, question.value, question.n) for question in found.questions]
        assert named == [("status", name, 2) for name in ("EXPIRED", "SKIPPED", "RETURNED", "Abgelehnt", "spam")]
        assert "What does the status “Abgelehnt” mean? 2 answers wait for it, the first in row 5." in said(found)

    def test_what_is_said_of_statuses_decides(self, ballot: CaseBallot) -> None:
        meant = (("expired", "submitted"), ("SKIPPED", "rejected"), ("Abgelehnt", "rejected"), ("spam", "rejected"))
        found = look(ballot, "94-statuses.tsv", mapping=Mapping(statuses=meant))
        assert found.counts == {"new": 2, "rejected": 8, "asked": 2}
        assert [question.value for question in found.questions] == ["RETURNED"]

    @pytest.mark.parametrize(
        ("status", "counts"),
        [
            ("APPROVED", {"new": 1}), ("ACCEPTED", {"new": 1}), ("SUBMITTED", {"new": 1}), ("", {"new": 1}),
            ("REJECTED", {"rejected": 1}), ("approval pending", {"asked": 1}), ("TIMED-OUT", {"asked": 1}),
            ("NA", {"asked": 1}),
        ],
    )  # fmt: skip
    def test_statuses_of_an_export(self, ballot: CaseBallot, status: str, counts: dict[str, int]) -> None:
        data = HEAD + f"b1-00000000-00001-1\tleft\ta\tw\t{status}\n".encode()
        assert look(ballot, data).counts == counts

    def test_mechanical_turks_statuses_are_three(self, ballot: CaseBallot) -> None:
        data = ballot.file("80b-reject-beside-na.csv").replace(b'"Submitted"', b'"Pending"', 1)
        assert look(ballot, data).counts == {"new": 6, "rejected": 4, "asked": 2}

    def test_archived_results_ask_too(self, store: Store, cases: Path) -> None:
        data = (cases / "second/80-approve-na.csv").read_bytes().replace(b",Rejected,", b",spam,")
        with pytest.raises(OpenQuestionsError, match="the status “spam” mean"):
            import_archived(store, "Old", [("80.csv", data)])
        assert list_projects(store) == []

    def test_archived_results_are_told_on_the_command_line(
        self, store: Store, cases: Path, tmp_path, monkeypatch
    ) -> None:
        monkeypatch.setenv("RUNOFF_WORKSPACE", str(store.folder))
        file = tmp_path / "old.csv"
        data = (cases / "second/80-approve-na.csv").read_bytes().replace(b",Rejected,", b",spam,").replace(b"NA", b"ok")
        file.write_bytes(data)
        from core.cli.workspace import archived_command

        told = CliRunner().invoke(archived_command, [str(file), "--name", "x", "--json"])
        assert "Say it, for example with --status spam=rejected --approve ok=yes," in str(told.exception)
        options = ["--status", "spam=rejected", "--approve", "ok=no"]
        told = CliRunner().invoke(archived_command, [str(file), "--name", "x", "--json", *options])
        assert told.exit_code == 0, told.output
        assert '"new": 6, "rejected": 6' in told.output


class TestServers:
    def test_two_servers_in_an_archive(self, store: Store, cases: Path) -> None:
        files = [(name, (cases / "second" / name).read_bytes()) for name in ("85-server-a.csv", "85-server-b.csv")]
        done = import_archived(store, "Old", files)
        assert done.counts == {"85-server-a.csv": {"new": 3}, "85-server-b.csv": {"new": 3}}
        assert [str(note) for note in done.notes] == [
            "85-server-b.csv shows other tokens under the ids of tasks of an earlier file: it is from another "
            "server, so its tasks, assignments and accounts were taken as others"
        ]

    def test_two_servers_with_the_same_accounts(self, store: Store, cases: Path) -> None:
        one, other = ((cases / "second" / f"85-server-{name}.csv").read_bytes() for name in "ab")
        files = [("results.csv", one), ("results.csv", other.replace(b"bob", b"ann"))]
        done = import_archived(store, "Old", files)
        assert done.counts == {"results.csv": {"new": 3}, "results.csv (2)": {"new": 3}}

    def test_two_downloads_of_one_server_stay_one(self, store: Store, cases: Path) -> None:
        data = (cases / "second/85-server-a.csv").read_bytes()
        more = data + b"4,4,bob,bob,barge,dune,anvil,candle,left\n"
        done = import_archived(store, "Old", [("one.csv", data), ("two.csv", more)])
        assert done.counts == {"one.csv": {"new": 3}, "two.csv": {"new": 1, "known": 3}}
        assert done.notes == ()

    def test_a_damaged_word_makes_no_other_server(self, store: Store, cases: Path) -> None:
        data = (cases / "second/85-server-a.csv").read_bytes()
        done = import_archived(
            store, "Old", [("one.csv", data), ("two.csv", data.replace(b"3,3,ann,ann,candle", b"3,3,ann,ann,x"))]
        )
        assert done.counts == {"one.csv": {"new": 3}}
        assert [str(note) for note in done.notes] == [
            "two.csv holds no vote that can be taken: 1 not of this ballot. The first: the task is of this ballot, "
            "but the file shows other tokens in it: "
            "x where the ballot shows candle. Nothing was changed."
        ]

    def test_the_second_labs_votes_count(self, ballot: CaseBallot) -> None:
        assert take(ballot, "85b-first-server.csv") == {"new": 12}
        found = look(ballot, "85b-second-server.csv")
        assert found.counts == {"new": 12}
        assert "12 answers have ids of assignments that the store has of other voters" in said(found)
        assert "Don't accept the file if it is of the same server" in said(found)
        assert take(ballot, "85b-second-server.csv") == {"new": 12}
        for name in ("85b-first-server.csv", "85b-second-server.csv"):
            again = look(ballot, name)
            assert (again.counts, said(again)) == ({"known": 12}, "")
            with pytest.raises(StoreError, match="holds no vote that isn't in the store already"):
                take(ballot, name)

    def test_both_servers_in_one_file(self, ballot: CaseBallot) -> None:
        rows = turkle_row("1", "ann", 1, "left") + turkle_row("1", "bob", 1, "right")
        assert look(ballot, (TURKLE + rows).encode()).counts == {"new": 4}

    def test_ids_that_are_unique_everywhere_stay_so(self, ballot: CaseBallot) -> None:
        first = ballot.file("85b-first-server.csv").replace(b'"1","1"', b'"1","3SAMPLE1"')
        take(ballot, first)
        found = look(ballot, first.replace(b"anna", b"somebody"))
        assert found.counts["unreadable"] == 2
        assert set(found.table("unreadable")["reason"]) == {"the store has this assignment id under another voter"}

    @pytest.mark.parametrize(
        "row",
        [
            turkle_row("1", "ann", 2, "left"),  # of another task
            turkle_row("1", "ann", 1, "left", "Mon Jan 05 10:00:01 PST 2026"),  # at another time
        ],
    )
    def test_the_same_account_and_number_are_asked_about(self, ballot: CaseBallot, row: str) -> None:
        take(ballot, (TURKLE + turkle_row("1", "ann", 1, "left")).encode())
        found = look(ballot, (TURKLE + row).encode())
        assert (found.counts, [question.role for question in found.questions]) == ({"asked": 2}, ["server"])
        assert said(found).startswith(
            "Is this file from a different server than the earlier files? 2 answers wait for it"
        )
        other = (TURKLE + row).encode()
        assert take(ballot, other, mapping=Mapping(server="2")) == {"new": 2}
        assert look(ballot, other, mapping=Mapping(server="2")).counts == {"known": 2}
        with ballot.store.read() as conn:
            assert sorted(conn.execute(sa.select(t.voter.c.external_id)).scalars()) == ["2:ann", "ann"]


class TestReasons:
    def test_the_words_that_a_file_shows_are_named(self, ballot: CaseBallot) -> None:
        found = look(ballot, "87-excel-dates.csv")
        assert found.counts == {"new": 6, "other_ballot": 6}
        assert set(found.table("other_ballot")["reason"]) == {
            "the task is of this ballot, but the file shows other tokens in it: 02-Jan where the ballot shows 1-2"
        }

    def test_a_task_that_the_ballot_lacks_is_no_other_ballots(self, ballot: CaseBallot) -> None:
        data = ballot.filled(HEAD + b"b1-00000000-00001-1\tleft\tz\tw9\tAPPROVED\n").replace(b"-00001-1", b"-00077-1")
        (reason,) = look(ballot, data).table("other_ballot")["reason"]
        assert reason.startswith("this ballot has no comparison 1 in a task")

    def test_why_nothing_is_taken_is_true(self, ballot: CaseBallot) -> None:
        data = ballot.filled(HEAD + b"b1-00000000-00001-1\tleft\tz\tw9\tAPPROVED\n").replace(b"-00001-1", b"-00077-1")
        with pytest.raises(
            StoreError, match=r"holds no vote that can be taken: 1 not of this ballot\. The first: this"
        ):
            take(ballot, data)
        with pytest.raises(StoreError, match="holds no answer yet"):
            take(ballot, b"comparison_id,voter,choice\nb1-00000000-00001-1,ann,\n")


class TestVoters:
    def test_a_number_that_a_spreadsheet_made_is_no_voter(self, ballot: CaseBallot) -> None:
        found = look(ballot, "89-damaged-voters.csv")
        assert found.counts == {"new": 2, "unreadable": 10}
        assert all("a spreadsheet took the voter's id for a number" in issue.message for issue in found.unread)

    @pytest.mark.parametrize(
        ("voter", "taken"),
        [
            ("1.23457E+19", "a number"), ("1,2e+19", "a number"), ("1E+05", "a number"), ("TRUE", "a truth value"),
            ("False", "a truth value"), ("WAHR", "a truth value"), ("02-Jan", "a date"), ("Jan-26", "a date"),
            ("2026-03-01", "a date"), ("2026-03-01 00:00:00", "a date"), ("1/2/2026", "a date"), ("01.02.26", "a date"),
            ("2. Mrz", "a date"), ("A1B2E3", ""), ("65f0b0000000000000000000", ""), ("12", ""),
            ("mar-1@example.org", ""),
            ("1E5", ""), ("Jan", ""), ("worker-2", ""), ("set-01", ""), ("V1.2", ""),
        ],
    )  # fmt: skip
    def test_taken_for(self, voter: str, taken: str) -> None:
        assert taken_for(voter) == taken

    @pytest.mark.parametrize("voter", ["1.2E+19", "TRUE", "02-Jan"])
    def test_every_reader_refuses_them(self, ballot: CaseBallot, voter: str) -> None:
        own = Mapping(voter="Who", choice="What", comparison="Which")
        files = [
            (f"comparison_id,voter,choice\nb1-00000000-00001-1,{voter},left\n", None),
            (TURKLE + turkle_row("1", voter, 1, "left"), None),
            (HEAD.decode() + f"b1-00000000-00001-1\tleft\ta\t{voter}\tAPPROVED\n", None),
            (f"Which,Who,What\nb1-00000000-00001-1,{voter},left\n", own),
            (f'[{{"comparison_id": "b1-00000000-00001-1", "voter": "{voter}", "choice": "left"}}]', None),
        ]
        for text, mapping in files:
            found = look(ballot, text.encode(), mapping=mapping)
            assert found.counts == {"unreadable": 1}, text
            assert "a spreadsheet took the voter's id for" in said(found)

    def test_a_round_refuses_them_too(self) -> None:
        from core.platforms.answer_files import read_round_results
        from core.questions import round_kind

        found = read_round_results(b"question_id,voter,answer\nb1-x-1,TRUE,3\n", "x.csv", round_kind("rating"))
        assert [issue.row for issue in found.unread] == [2]

    @pytest.mark.parametrize("voter", ["1.2E+19", "FALSE", "2026-03-01"])
    def test_readers_of_other_schemes_refuse_them(self, voter: str) -> None:
        from core.questions.best_worst.files import read_best_worst
        from core.questions.order.orders import read_orders
        from core.questions.rating.files import read_ratings

        rated = f"token_a,token_b,voter,rating\nship,boat,{voter},3\nship,boat,anna,3\ncat,dog,anna,2\n".encode()
        placed = f"target,voter,word,place\nsinger,{voter},musician,1\nsinger,anna,musician,1\n".encode()
        judged = f"item_1,item_2,item_3,best,worst,voter\na,b,c,a,b,{voter}\na,b,c,a,b,anna\n".encode()
        found = [
            read_ratings(rated, "ratings.csv").issues,
            read_orders(placed, "orders.csv").issues,
            read_best_worst(judged, "judged.csv").issues,
        ]
        for issues in found:
            assert [issue.row for issue in issues] == [2]
            assert "a spreadsheet took the voter's id for" in issues[0].message

    def test_readers_of_other_schemes_know_a_voter_as_a_decimal(self) -> None:
        from core.questions.best_worst.files import read_best_worst
        from core.questions.order.orders import read_orders
        from core.questions.rating.files import read_ratings

        rated = b"token_a,token_b,voter,rating\nship,boat,3.0,3\nship,boat,3,2\ncat,dog,3,2\n"
        placed = b"target,voter,word,place\nsinger,3.0,musician,1\nsinger,3,musician,2\n"
        judged = b"item_1,item_2,item_3,best,worst,voter\na,b,c,a,b,3.0\na,b,c,b,a,3\n"
        for found in (read_ratings(rated, "r.csv"), read_orders(placed, "o.csv"), read_best_worst(judged, "j.csv")):
            assert [issue.row for issue in found.issues] == [3]  # one person said two things

    def test_one_voter_in_two_normal_forms(self, ballot: CaseBallot) -> None:
        found = look(ballot, "106-two-spellings.csv")
        assert found.counts == {"new": 6, "known": 6}
        assert found.preview.rows["voter"].nunique() == 1

    def test_two_forms_in_two_files(self, ballot: CaseBallot) -> None:
        for voter in ("Zoe\u0301", "Zo\u00e9"):
            data = f"comparison_id,voter,choice\nb1-00000000-00001-1,{voter},left\n".encode()
            counts = look(ballot, data).counts
            assert counts == ({"known": 1} if voter == "Zo\u00e9" else {"new": 1})
            if "new" in counts:
                take(ballot, data)

    def test_ids_that_became_decimals_are_the_numbers_they_were(self, ballot: CaseBallot) -> None:
        own = Mapping(voter="Who", choice="What", comparison="Which", assignment="Made")
        head = HEAD.decode()
        exported = "annotation_id,annotator,lead_time,choice,other,comparison_id\n1#,3#,4,left,,b1-00000000-00001-1\n"
        files = [  # "#" stands behind each id that is a number
            (TURKLE + turkle_row("1#", "3#", 1, "left"), None, 2),
            (exported, None, 1),
            (head + "b1-00000000-00001-1\tleft\t5#\t3#\tAPPROVED\n", None, 1),
            ("comparison_id,voter,choice\nb1-00000000-00001-1,3#,left\n", None, 1),
            ("Which,Who,What,Made\nb1-00000000-00001-1,3#,left,9#\n", own, 1),
        ]
        for text, mapping, n in files:
            assert take(ballot, text.replace("#", "").encode(), mapping=mapping) == {"new": n}
            found = look(ballot, text.replace("#", ".0").encode(), mapping=mapping)
            assert found.counts == {"known": n}, text
            assert "in 1 row ids are whole numbers written with a point, as pandas and R write" in said(found)

    def test_only_whole_numbers_lose_their_zero(self, ballot: CaseBallot) -> None:
        for number, voter in enumerate(("1.5", "007.0", "1.000", "1,0", "v1.0", "3.00"), 1):
            data = f'comparison_id,voter,choice\nb1-00000000-0000{number}-1,"{voter}",left\n'
            found = look(ballot, data.encode())
            assert (found.preview.rows["voter"].tolist(), said(found)) == ([voter], "")

    def test_a_voter_whom_an_earlier_version_stored_as_a_decimal(self, ballot: CaseBallot) -> None:
        data = b"comparison_id,voter,choice\nb1-00000000-00001-1,3.0,left\n"
        take(ballot, data)
        with ballot.store.write(ballot.project_id) as conn:
            conn.execute(sa.update(t.voter).values(external_id="3.0"))
        assert look(ballot, data).counts == {"known": 1}
        assert look(ballot, data.replace(b"3.0", b"3")).counts == {"known": 1}

    def test_a_voter_whom_an_earlier_version_stored_in_the_other_form(self, ballot: CaseBallot) -> None:
        data = "comparison_id,voter,choice\nb1-00000000-00001-1,Zo\u00e9,left\n".encode()
        take(ballot, data)
        with ballot.store.write(ballot.project_id) as conn:
            conn.execute(sa.update(t.voter).values(external_id="Zoe\u0301"))
        assert look(ballot, data).counts == {"known": 1}


class TestTimes:
    def test_zones(self, ballot: CaseBallot) -> None:
        found = look(ballot, "105-zones.csv")
        times = found.preview.rows.drop_duplicates("row").set_index("row")["submitted_at"]
        assert times.tolist() == [
            "2026-07-06T00:00:00Z", "2026-07-06T07:00:00Z", "2026-07-06T02:00:00Z", "2026-07-06T10:00:00Z",
            "2026-07-06T10:00:00Z", "",
        ]  # fmt: skip
        assert "names of several time zones: BST (Britain in summer, Bangladesh)" in said(found)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("2026-07-06 10:00:00 AEST", "2026-07-06T00:00:00Z"),
            ("2026-07-06T10:00:00 +0200", "2026-07-06T08:00:00Z"),
            ("2026/7/6 10:00:00.250", "2026-07-06T10:00:00Z"),
            ("2026/07/06", "2026-07-06T00:00:00Z"),
            ("Mon Jul 06 10:00:00 NPT 2026", "2026-07-06T04:15:00Z"),
            ("Mon Jul 06 10:00:00 ACST 2026", "2026-07-06T00:30:00Z"),
            ("Mon Jul 06 10:00:00 IST 2026", ""),
            ("2026/13/06 10:00:00", ""),
            ("2026-07/06 10:00:00", ""),
            ("2026-07-06 10:00:00 XYZ", ""),
            ("06/07/2026 10:00:00", ""),
        ],
    )
    def test_other_times(self, text: str, expected: str) -> None:
        assert to_utc([text])[0] == [expected]

    def test_zones_that_nobody_knows_are_named(self) -> None:
        texts = ["Mon Jul 06 10:00:00 XYZ 2026", "", "Mon Jul 06 10:00:00 IST 2026", "soon"]
        (issue,) = unread_times(texts, to_utc(texts)[0], "SubmitTime")
        assert str(issue) == (
            "column SubmitTime: 3 times could not be read and count as unknown; names of several time zones: IST "
            "(India, Ireland, Israel); no known time zone: XYZ (found 'Mon Jul 06 10:00:00 XYZ 2026')"
        )


def test_what_is_asked_about_a_million_answers_takes_no_loop() -> None:
    """Each value is looked at once, however many answers have it."""
    n = 1_000_000
    rows = pd.DataFrame({"row": range(2, n + 2), "choice": "0", "status": "status?", "note": "EXPIRED"})
    rows = rows.assign(left_a="a", left_b="b", right_a="c", right_b="d")
    (question,) = questions_of(rows)
    assert (question.n, question.row) == (n, 2)


def test_marks_of_former_uploads() -> None:
    """Files that an earlier version took are read as it did."""
    former = replace(ValueMeanings(), former=True)
    assert (approves("NA", former), reason_of("NA", former), decide("Other", "", "", "", former)) == (
        True,
        "NA",
        ("", ""),
    )


def test_samples_of_documented_platforms_ask_nothing(shared: Path) -> None:
    for name in (
        "toloka_assignments.tsv",
        "appen_full.csv",
        "labelstudio_pairwise_export.json",
        "mturk_review_upload.csv",
    ):
        data = (shared / "platforms/samples" / name).read_bytes()
        try:
            answers = read_results(data, name).answers
        except InputError:
            continue  # of tasks that Runoff didn't make
        assert not answers["status"].str.endswith("?").any()
