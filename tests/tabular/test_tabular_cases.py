"""Files that people brought and that were once read wrong (`cases/second`): what comes of them, to the last answer.

Those with results are templates: `b1-00000000-00002-1` stands for the id of comparison 1 of task 2 of a small ballot,
`{2.1 left_a}` for a word that it shows.
"""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from workbooks import workbook

from core.__main__ import cli
from core.commands.archived import import_archived
from core.errors import InputError
from core.store import Store, open_store
from core.store.ballots.ballot_rows import read_comparisons
from core.store.ballots.drawing import draw_next_ballot
from core.store.projects.plans import PlanSettings, save_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas, read_areas
from core.store.votes.intake import UploadPreview, preview_upload
from core.tokens.files import AreaTokens, read_areas_file

CASES = Path(__file__).parents[1] / "cases" / "second"
AREAS = (("Tools", ("anvil", "barge", "candle", "dune")), ("Sea", ("ship", "fenêtre", "R&B", "1-2")))
_ID = re.compile(rb"b1-00000000-(\d{5})(-\d+)?")
_WORD = re.compile(rb"\{(\d+)\.(\d+) (\w+)\}")


class Ballot:
    """A project with an open ballot of six tasks of two comparisons."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.project = create_project(store, "trial", kind="real", seed=11)
        add_areas(store, self.project, [AreaTokens(name, tokens) for name, tokens in AREAS])
        plan = PlanSettings(n_ballots=1, keep=0.5, appearances=2, task_size=2, n_voters=6, seed=7)
        save_plan(store, self.project, plan)
        draw_next_ballot(store, self.project)
        rows = read_comparisons(store, self.project, 1).to_dict("records")
        self.tasks = list(dict.fromkeys(row["task_id"] for row in rows))
        self.shown = {(self.tasks.index(row["task_id"]) + 1, row["n"]): row for row in rows}

    def filled(self, data: bytes) -> bytes:
        """A template with the ballot's ids and words."""
        if data.startswith(b"PK"):
            out = io.BytesIO()
            with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
                for name in old.namelist():
                    new.writestr(name, self.filled(old.read(name)))
            return out.getvalue()
        data = _ID.sub(lambda found: self.tasks[int(found[1]) - 1].encode() + (found[2] or b""), data)
        return _WORD.sub(
            lambda found: html.escape(
                self.shown[int(found[1]), int(found[2])][found[3].decode()], quote=False
            ).encode(),
            data,
        )

    def preview(self, data: bytes, name: str) -> UploadPreview:
        return preview_upload(self.store, self.project, self.filled(data), name)

    def preview_case(self, name: str) -> UploadPreview:
        return self.preview((CASES / name).read_bytes(), name)


@pytest.fixture
def ballot(store: Store) -> Ballot:
    return Ballot(store)


def ids(n: int = 12) -> list[str]:
    return [f"b1-00000000-{1 + at // 2:05}-{1 + at % 2}" for at in range(n)]


def said(found: UploadPreview) -> str:
    return " ".join(map(str, found.issues))


def test_81_marks_in_a_table_that_is_not_quoted(ballot: Ballot):
    found = ballot.preview_case("81b-unquoted-votes.tsv")
    assert found.counts == {"new": 12}
    assert "in row 4 one stands by itself" in said(found)
    for delimiter in ("\t", ";", "|"):
        for at in ((1, 7), (0, 11), (3, 4)):
            rows = [(one, '"' if n in at else "V", 'a "b" c', "left") for n, one in enumerate(ids())]
            text = "\r\n".join(map(delimiter.join, [("comparison_id", "voter", "comment", "choice"), *rows]))
            assert ballot.preview(text.encode() + b"\r\n", "votes.txt").counts == {"new": 12}, (delimiter, at)


def test_81_a_table_that_is_quoted_stays_quoted(ballot: Ballot):
    rows = [f'"{one}"\t"V"\t"one\n\n""two"""\t"left"' for one in ids()]
    text = '"comparison_id"\t"voter"\t"comment"\t"choice"\n' + "\n".join(rows) + "\n"
    found = ballot.preview(text.encode(), "votes.tsv")
    assert found.counts == {"new": 12}
    assert found.issues == ()


def test_84_two_columns_of_one_name(ballot: Ballot):
    with pytest.raises(InputError, match=r"\(choice, choice\)") as refused:
        ballot.preview_case("84-two-choices.csv")
    assert [issue.column for issue in refused.value.issues] == ["choice", "choice"]
    rows = "".join(f"{one},A,left,right\n" for one in ids())
    for doubled in ("Choice,choice", "choice, CHOICE ", '"choice","choice"'):
        with pytest.raises(InputError, match="several columns of one name"):
            ballot.preview(f"comparison_id,voter,{doubled}\n{rows}".encode(), "votes.csv")
    # One that nothing is read from may be there twice.
    found = ballot.preview(
        f"comparison_id,voter,choice,note,note\n{rows.replace('right', 'x,y')}".encode(), "votes.csv"
    )
    assert found.counts == {"new": 12}


def test_84_two_columns_of_one_name_in_a_workbook_and_in_json(ballot: Ballot):
    rows = [["comparison_id", "voter", "choice", "Choice"], *([one, "A", "left", "right"] for one in ids())]
    with pytest.raises(InputError, match=r"\(choice, Choice\)"):
        ballot.preview(workbook({"Votes": rows}), "votes.xlsx")
    lines = "".join(
        f'{{"comparison_id": "{one}", "voter": "A", "choice": "left", "CHOICE": "right"}}\n' for one in ids()
    )
    with pytest.raises(InputError, match=r"\(choice, CHOICE\)"):
        ballot.preview(lines.encode(), "votes.jsonl")


def test_86_a_byte_that_is_not_utf8(ballot: Ballot):
    found = ballot.preview_case("86b-one-byte-in-a-comment.csv")
    assert found.counts == {"new": 12}
    assert "line 3 holds the byte 0x92" in said(found)


@pytest.mark.parametrize("name", ["90-line-separators.jsonl", "95-blank-lines.csv", "95b-blank-lines.csv"])
def test_90_95_other_line_separators_and_blank_lines(ballot: Ballot, name: str):
    found = ballot.preview_case(name)
    assert found.counts == {"new": 12}
    assert found.issues == ()
    assert found.n_rows == (6 if name.startswith("95b") else 12)


def test_91_escapes_in_workbooks():
    found = read_areas_file((CASES / "91-escaped-at-the-end.xlsx").read_bytes(), "91.xlsx")
    assert found.areas[0].tokens == ("anvil", "barge", "candle")
    with pytest.raises(InputError, match="row 3"):
        read_areas_file((CASES / "91b-escaped-inside.xlsx").read_bytes(), "91b.xlsx")


def test_98_an_export_in_which_nobody_has_chosen(ballot: Ballot):
    data = (CASES / "98-nobody-chose.json").read_bytes()
    for export in (data, re.sub(rb'"annotations": \[.*?\],\n"data"', b'"annotations": [],\n"data"', data, flags=re.S)):
        with pytest.raises(InputError, match=r"nobody has chosen yet.*“choice” and “other”") as refused:
            ballot.preview(export, "98.json")
        assert "didn't make" not in str(refused.value)
    few = b'[{"comparison_id": "b1-00000000-00001-1", "id": 1, "annotator": 1, "annotation_id": 5, "lead_time": 2}]'
    with pytest.raises(InputError, match="none of its columns holds a choice"):
        ballot.preview(few, "min.json")


def test_99_cells_that_a_spreadsheet_made_dates_of(store: Store):
    data = (CASES / "99-dates.xlsx").read_bytes()
    done = import_archived(store, "trial", [("99-dates.xlsx", data)])
    assert [(issue.row, issue.found) for issue in done.notes][:3] == [
        (2, "2026-03-01"),
        (3, "2026-03-01"),
        (5, "2026-03-01"),
    ]
    assert "made a date" in str(done.notes[0])
    assert read_areas(store, done.project_id)


def test_86_the_encoding_of_archived_results_can_be_said(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(tmp_path / "workspace"))
    header = "HITId,AssignmentId,WorkerId,AssignmentStatus"
    header += ",Input.left_a,Input.left_b,Input.right_a,Input.right_b,Answer.choice"
    path = tmp_path / "results.csv"
    path.write_bytes(f"{header}\nH,A,W,Approved,铁砧,驳船,蜡烛,沙丘,left\n".encode("gbk"))
    command = ["import-archived", str(path), "--name", "trial", "--encoding", "gbk", "--json"]
    done = CliRunner().invoke(cli, command, catch_exceptions=False)
    tokens = read_areas(open_store(tmp_path / "workspace"), json.loads(done.stdout)["project"])[0].tokens
    assert set(tokens) == {"铁砧", "驳船", "蜡烛", "沙丘"}
    with pytest.raises(InputError, match="line 2 holds the byte 0xcc"):
        CliRunner().invoke(cli, [*command[:5], "utf-8"], catch_exceptions=False)


def test_99_a_workbook_whose_first_sheet_is_notes(ballot: Ballot):
    found = ballot.preview_case("99b-notes-first.xlsx")
    assert found.counts == {"new": 12}
    assert "only the sheet 'Votes' was read, of 'Notes', 'Votes'" in said(found)
