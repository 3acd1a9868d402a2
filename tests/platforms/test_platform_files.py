"""What each platform gets of a ballot, and that it comes back: Mechanical Turk's dresses, tables for colleagues."""

from __future__ import annotations

import csv
import html
import io
import json
import zipfile
from html.parser import HTMLParser

import pytest
from campaigns import PLAN, draw_batch, longer_pair, make_project
from openpyxl import load_workbook

from core.errors import InputError
from core.platforms import PLATFORMS, write_batch, write_comparisons
from core.platforms.mturk import page_of
from core.platforms.plain import split_among_colleagues, write_tables
from core.store import Store
from core.store.ballots.ballot_rows import read_ballots, read_comparisons, unanswered
from core.store.scores.project_dataset import read_ballot_scores
from core.store.votes.intake import accept_upload, preview_upload
from core.tables import COMPARISONS
from core.tabular.zips import pack
from core.views.collect import tasks
from core.views.collect.collect_page import WAYS, outgoing, way_in_use


def project(store: Store):
    """A project with an open ballot, and the ballot as it goes out."""
    project_id = make_project(store)
    draw_batch(store, project_id)
    ballot = read_ballots(store, project_id)[0]
    pages = tasks.load(store, ballot, PLAN, "relatedness")
    return project_id, ballot, pages


def unpacked(data: bytes) -> bytes:
    """A file's bytes, those of a zip or a workbook unpacked."""
    if not data.startswith(b"PK"):
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return b"\n".join(archive.read(name) for name in archive.namelist())


class Radios(HTMLParser):
    """The radio buttons of a page: the values of each name."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.groups: dict[str, list[str]] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "input" and told.get("type") == "radio":
            self.groups.setdefault(str(told["name"]), []).append(str(told["value"]))


def answered(batch: bytes, page: str, dress: str) -> bytes:
    """A result file as Mechanical Turk writes it for a page in one of its dresses.

    A crowd-form sends each radio button with true or false: flattened into columns, or as JSON.
    """
    groups = Radios(page).groups
    rows, header = [], ["AssignmentId", "WorkerId", "AssignmentStatus"]
    for number, task in enumerate(csv.DictReader(io.StringIO(batch.decode()))):
        row = {"AssignmentId": f"A{number}", "WorkerId": f"W{number % 3}", "AssignmentStatus": "Submitted"}
        row |= {f"Input.{name}": value for name, value in task.items()}
        form = {}
        for name, values in groups.items():
            end = name.removeprefix("choice")
            if task[f"left_a{end}"]:
                shown = {key: html.unescape(task[key + end]) for key in ("left_a", "left_b", "right_a", "right_b")}
                form[name] = {value: value == longer_pair(shown) for value in values}
        if dress == "json":
            row["Answer.taskAnswers"] = json.dumps([form])
        for name, options in form.items() if dress != "json" else ():
            if dress == "plain":
                row[f"Answer.{name}"] = next(value for value, chosen in options.items() if chosen)
            else:
                row |= {f"Answer.{name}.{value}": str(chosen).lower() for value, chosen in options.items()}
        header += [name for name in row if name not in header]
        rows.append(row)
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, header, quoting=csv.QUOTE_ALL, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def test_every_dress_of_the_page_comes_back_with_the_same_votes(store):
    found = {}
    for dress in ("plain", "flattened", "json"):
        project_id, ballot, pages = project(store)
        out = outgoing(store, project_id, ballot, pages)
        batch = write_batch(out.comparisons())
        data = answered(batch, page_of(out, "turkle" if dress == "plain" else "mturk"), dress)
        assert accept_upload(store, project_id, data, "r.csv").counts == {"new": 42}
        found[dress] = read_ballot_scores(store, project_id)[["item", "wins", "ties", "losses"]]
    assert found["plain"]["wins"].sum() > 0
    assert found["flattened"].equals(found["plain"])
    assert found["json"].equals(found["plain"])


def test_each_way_has_steps_and_named_files(store):
    project_id, ballot, pages = project(store)
    out, top_up = (outgoing(store, project_id, ballot, pages, missing=missing) for missing in (False, True))
    for platform in PLATFORMS:
        assert platform.steps
        assert all(step.endswith(".") for step in platform.steps)
        for one in (out, top_up):
            files = platform.files(one)
            assert len({file.name for file in files}) == len({file.label for file in files}) == len(files)
            for file in files:
                assert file.name.startswith(ballot.code)
                assert file.note.endswith(".")
                assert file.make() == file.make()
    assert set(WAYS) == {"page", "turkle", "labelstudio", "prolific", "colleagues", "mturk"}
    assert way_in_use(store, ballot, ()) == "page"


def test_batches_for_turkle_are_ascii_and_read_back(store):
    project_id, ballot, pages = project(store)
    turkle, mturk = (next(p for p in PLATFORMS if p.name == name) for name in ("turkle", "mturk"))
    out = outgoing(store, project_id, ballot, pages)
    ascii_batch, batch = turkle.files(out)[0].make(), mturk.files(out)[0].make()
    assert ascii_batch.isascii()
    assert not batch.isascii()
    assert html.unescape(ascii_batch.decode()) == html.unescape(batch.decode())


def test_a_top_up_asks_for_what_is_missing_everywhere(store):
    project_id, ballot, pages = project(store)
    frame = read_comparisons(store, project_id, 1)
    first = frame[frame["task_id"] == f"{ballot.code}-00001"]
    votes = "comparison_id,voter,choice\n" + "".join(
        f"{row.task_id}-{row.n},anna,left\n" for row in frame.itertuples() if row.task_id != f"{ballot.code}-00001"
    )
    accept_upload(store, project_id, votes.encode(), "v.csv")
    out = outgoing(store, project_id, ballot, pages, missing=True)
    assert out.asked()["question_id"].tolist() == first["question_id"].tolist() == unanswered(store, project_id, 1)
    again = [f for p in PLATFORMS for f in p.files(out) if f.name.startswith(f"{ballot.code}-top-up")]
    assert again
    for file in again:
        data = unpacked(file.make())
        assert b"00001" in data, file.name
        assert b"00002" not in data, file.name


def test_a_workbook_comes_back_as_votes(store):
    project_id, _, _ = project(store)
    frame = read_comparisons(store, project_id, 1)
    data = write_comparisons(frame, voter="=anna", excel=True)
    assert data == write_comparisons(frame, voter="=anna", excel=True)
    book = load_workbook(io.BytesIO(data))
    sheet = book.worksheets[0]
    header = [cell.value for cell in sheet[1]]
    assert [cell.data_type for cell in sheet[2]][:-1] == ["s"] * (len(header) - 1)
    texts = {cell.value for row in sheet.iter_rows(min_row=2) for cell in row}
    assert "=cow" in texts  # a text, as everything else: no apostrophe is needed
    for row in sheet.iter_rows(min_row=2):
        shown = {name: str(cell.value) for name, cell in zip(header, row, strict=True)}
        row[-1].value = longer_pair(shown)
    out = io.BytesIO()
    book.save(out)
    preview = preview_upload(store, project_id, out.getvalue(), "votes.xlsx")
    assert (preview.platform, preview.counts) == ("plain", {"new": 42})
    assert set(preview.preview.rows["voter"]) == {"=anna"}


def test_a_file_for_each_colleague(store):
    project_id, ballot, _ = project(store)
    frame = read_comparisons(store, project_id, 1)
    parts = split_among_colleagues(frame, ["anna", " ben ", "", "clara"])
    assert list(parts) == ["anna", "ben", "clara"]
    assert sum(len(part) for part in parts.values()) == 42
    assert max(part["task_id"].nunique() for part in parts.values()) - 4 <= 1
    for part in parts.values():
        assert frame[frame["task_id"].isin(part["task_id"])].shape == part.shape  # whole tasks
    files = write_tables(parts, name=ballot.code)
    assert zipfile.ZipFile(io.BytesIO(pack(files.items()))).namelist() == list(files)
    for data, choice in zip(files.values(), ("left", "right", "tie"), strict=True):
        rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))
        filled = io.StringIO()
        csv.writer(filled).writerows([rows[0], *([*row[:-1], choice] for row in rows[1:])])
        counts = accept_upload(store, project_id, filled.getvalue().encode(), "c.csv").counts
        assert counts == {"new": len(rows) - 1}
    everybody = split_among_colleagues(frame, ["anna", "ben"], everybody_all=True)
    assert [len(part) for part in everybody.values()] == [42, 42]
    assert len(split_among_colleagues(frame.iloc[:1], ["anna", "ben"])) == 1
    assert split_among_colleagues(COMPARISONS.empty(), ["anna"]) == {}


@pytest.mark.parametrize("names", [[], ["", " "], ["a", "a "], ["x" * 81], [str(n) for n in range(201)]])
def test_names_that_can_not_be(names):
    with pytest.raises(InputError, match="a name of their own"):
        split_among_colleagues(COMPARISONS.empty(), names)
