"""Projects exported, imported, duplicated, archived and deleted: nothing is lost, nothing damaged comes in."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
import shutil
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from campaigns import PLAN, answer_batch, draw_batch, make_project

from core.embeddings import EmbeddingInfo
from core.errors import InputError, RunoffError, StoreError
from core.questions.comparison_page import write_batch
from core.questions.voting_settings import VotingSettings
from core.store import open_store
from core.store import schema as t
from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import discard_ballot, draw_next_ballot
from core.store.ballots.simulated import simulate_votes
from core.store.command import fetch_rows
from core.store.dialects import check_keys
from core.store.projects import project_zip
from core.store.projects.archive import (
    archive_project,
    delete_project,
    duplicate_project,
    export_project,
    import_project,
    list_archived,
    restore_project,
)
from core.store.projects.embedding_library import link_embedding, read_embeddings, record_import
from core.store.projects.plans import register_plan
from core.store.projects.project_commands import create_project, get_project, list_projects, read_log
from core.store.projects.project_zip import read_table_rows, write_table_rows
from core.store.scores.project_dataset import read_ballot_scores, read_project_dataset
from core.store.tokens.frequencies import RareTerms, source_of, use_list
from core.store.votes.checks import add_gold
from core.store.votes.intake import accept_upload, preview_upload
from core.store.votes.tallies import progress_of
from core.store.votes.uploads import read_uploads, withdraw_upload
from core.store.voting.owner_commands import open_voting
from core.voting import api

FOUR = replace(PLAN, n_ballots=4)
OF_THIS_MACHINE = ("job", "simulation", "voting_link", "invitation")
TABLES = [table.name for table in t.metadata.sorted_tables if table.name not in OF_THIS_MACHINE]
INFO = EmbeddingInfo("text", n_words=3, dimensions=2, sha256="e" * 64, source="x.vec", n_bytes=9)


def answer_in_part(store, project_id, batch, *, tag):
    """Votes of people, some rejected, some twice, some withdrawn, some unknown; simulated voters answer the rest."""
    lines = batch.splitlines(keepends=True)
    half = b"".join(lines[: len(lines) // 2 + 1])
    asked = iter(range(10_000))

    def choose(shown):
        return ("left", "right", "tie", "unknown", "left")[next(asked) % 5]

    accept_upload(store, project_id, answer_batch(half, choose=choose, tag=tag), f"{tag}-first.csv")
    accept_upload(store, project_id, answer_batch(half, choose=choose, tag=tag + "R"), f"{tag}-repeat.csv")
    rejected = answer_batch(half, voters=("X1", "X2"), status="Rejected", tag=tag + "X")
    accept_upload(store, project_id, rejected, f"{tag}-rejected.csv")
    gone = accept_upload(store, project_id, answer_batch(batch, voters=("Y1",), tag=tag + "Y"), f"{tag}-gone.csv")
    withdraw_upload(store, project_id, gone.upload_id)


def vote_on_the_page(store, project_id):
    """A voter of the voting page in the open ballot: a check, three votes, one taken back, something told."""
    settings = VotingSettings(task_size=3, n_gold=1, examples=False, ask=("age",))
    code = open_voting(store, project_id, settings)
    add_gold(store, project_id, [(0, 5)])
    form = api.look(store, code, "", "visit").form
    view = api.begin(store, code, "visit", form, api.Visitor(), name="Anna", traits={"age": "18 to 24"})
    for choice in ("left", "tie", "unknown"):
        place = view.place
        view = api.vote(store, code, view.cookie, view.form, task=place.task, n=place.n, choice=choice, seconds=0.5)
    task, n = view.last
    api.undo(store, code, view.cookie, view.form, task=task, n=n)


def make_campaign(store):
    """A trial project of four ballots: two closed, the third open; with a frequency list and two embeddings."""
    project_id = make_project(store, kind="trial", plan=FOUR)
    register_plan(store, project_id)
    for number in (1, 2, 3):
        answer_in_part(store, project_id, draw_batch(store, project_id), tag=f"T{number}")
        if number < 3:
            simulate_votes(store, project_id)
            close_ballot(store, project_id)
    vote_on_the_page(store, project_id)
    simulate_votes(store, project_id, share=0.5)
    use_list(store, project_id, b"cat\t100\ndog\t50\n", "list.tsv", RareTerms(0.1, lower=True))
    with store.write() as conn:
        for id_, name in (("e" * 16, "Here"), ("f" * 16, "Elsewhere")):
            record_import(conn, id_, name=name, source="/data/x.vec", info=INFO)
            link_embedding(conn, project_id, id_, name)
    return project_id


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The campaign in its workspace, and its zip. Tests copy the workspace before they change it."""
    store = open_store(tmp_path_factory.mktemp("made") / "workspace")
    project_id = make_campaign(store)
    with store.write() as conn:
        of = sa.select(t.ballot_item.c.ballot_id, t.ballot_item.c.item_id).join(t.ballot)
        ballot_id, item_id = conn.execute(of.where(t.ballot.c.project_id == project_id).limit(1)).one()
        conn.execute(sa.insert(t.item_score).values(ballot_id=ballot_id, item_id=item_id, score=0.25, theta=-1.5))
        voter_id = conn.execute(sa.select(t.voter.c.id).where(t.voter.c.project_id == project_id).limit(1)).scalar_one()
        now = {"at": "2026-01-02T03:04:05.000000+00:00"}
        rows = {
            t.exclusion: {"project_id": project_id, "voter_id": voter_id, "reason": "fast", "detail": {}},
            t.column_mapping: {"project_id": project_id, "header": "e" * 64, "mapping": {"voter": "who"}},
            t.publication: {
                "ballot_id": ballot_id,
                "platform": "turkle",
                "address": "http://x",
                "detail": {"project": 4, "batch": 1, "n_tasks": 3, "assignments": 1, "is_top_up": False},
                "confirmed": False,  # as it is once it comes from a file
            },
            t.release: {"project_id": project_id, "version": "1.0", "sha256": "f" * 64, "note": "", "detail": {}},
        }
        for table, values in rows.items():
            conn.execute(sa.insert(table).values(**values, **now))
        q = t.question.c
        first = sa.select(q.ballot_id, sa.func.min(q.id)).join(t.ballot).where(t.ballot.c.project_id == project_id)
        ballot_id, check = conn.execute(first.where(q.role == "check").group_by(q.ballot_id)).one()
        original = conn.execute(sa.select(sa.func.max(q.id)).where(q.ballot_id == ballot_id, q.role == "main")).scalar()
        values = {"question_id": check, "kind": "overlap", "of_id": original, "inclusion": 0.25}
        conn.execute(sa.insert(t.check_question).values(values))
        texts = {"address": "http://x", "model": "m", "prompt": "Which?", "began_at": now["at"]}
        judge = {"ballot_id": ballot_id, "wording": {"question": ""}, "temperature": 0.5, **texts}
        judge_id = conn.execute(sa.insert(t.model_judge).values(**judge, n_wanted=1)).inserted_primary_key[0]
        answer = {"question_id": original, "flipped": True, "attempt": 1, "prompt": "A, B", "raw": "A\r\n", **now}
        answer |= {"model_judge_id": judge_id, "answer": "second", "revision": "m-1", "seconds": 0.1}
        conn.execute(sa.insert(t.model_answer).values(answer))
    yield store, project_id, export_project(store, project_id)
    store.engine.dispose()


@pytest.fixture
def campaign(made, tmp_path):
    """A workspace of one's own with the campaign."""
    original, project_id, data = made
    original.engine.dispose()
    shutil.copytree(original.folder, tmp_path / "campaign")
    store = open_store(tmp_path / "campaign")
    yield store, project_id, data
    store.engine.dispose()


def state(store):
    """Everything a workspace holds."""
    with store.read() as conn:
        tables = t.metadata.sorted_tables
        rows = [fetch_rows(conn, sa.select(table).order_by(*table.primary_key.columns)) for table in tables]
    return rows, sorted(file.name for file in store.uploads.iterdir()), list(store.incoming.iterdir())


def tallies(store, project_id):
    with store.read() as conn:
        query = (
            sa.select(t.question.c.n_votes, t.question.c.n_wanted)
            .join(t.ballot, t.ballot.c.id == t.question.c.ballot_id)
            .where(t.ballot.c.project_id == project_id)
            .order_by(t.question.c.id)
        )
        progress = [progress_of(conn, ballot.id) for ballot in read_ballots(store, project_id)]
        return progress, [tuple(row) for row in conn.execute(query)]


def members_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def signed(members, /, **changes):
    """The zip of changed members with a manifest that says what they are now, as one who forges it would write it."""
    manifest = json.loads(members["manifest.json"])
    manifest["members"] = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in members.items()
        if name != "manifest.json"
    }
    for name in manifest["rows"]:
        text = members.get(f"tables/{name}.csv")
        if text is not None:
            manifest["rows"][name] = sum(1 for _ in csv.reader(io.StringIO(text.decode(), newline=""))) - 1
    return packed(members | {"manifest.json": json.dumps(manifest | changes).encode()})


def csv_text(lines):
    out = io.StringIO(newline="")
    csv.writer(out).writerows(lines)
    return out.getvalue().encode()


def rows_of(data, table):
    text = members_of(data)[f"tables/{table}.csv"].decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def without_ids(data, *, codes=True):
    """The rows of all tables, each id replaced by its rank, without what an import adds or changes by its purpose."""
    tables = {name: rows_of(data, name) for name in TABLES}
    if tables["log"][-1]["action"].split()[0] in ("import", "duplicate"):
        entry = tables["log"].pop()
        new = {row["id"] for row in tables["seal"] if row["revision"] == entry["revision"]}
        tables["seal"] = [row for row in tables["seal"] if row["id"] not in new]
        for row in tables["assignment"]:
            row["seal_id"] = "" if row["seal_id"] in new else row["seal_id"]
        tables["project"][0]["revision"] = str(int(tables["project"][0]["revision"]) - 1)
    ranks = {
        name: {id_: rank for rank, id_ in enumerate(sorted({row["id"] for row in rows}, key=int))}
        for name, rows in tables.items()
        if rows and "id" in rows[0] and name not in ("project", "embedding")
    }
    targets = {"project_id": None, "token_a_id": "token", "token_b_id": "token", "embedding_id": "embedding"}
    targets["of_id"] = "question"
    for name, rows in tables.items():
        for row in rows:
            if row.get("external_id", "").startswith("simulated-") and name == "assignment":
                row["external_id"] = ""
            for column in row:
                target = name if column == "id" else targets.get(column, column.removesuffix("_id"))
                if column == "project_id" or (name == "project" and column == "id"):
                    row[column] = ""
                elif (column == "id" or column.endswith("_id")) and target in ranks and row[column]:
                    row[column] = ranks[target][row[column]]
                elif column == "code" and not codes:
                    row[column] = ""
    return tables


# Out and in again


def test_an_import_elsewhere_is_the_same_project(made, store):
    original, project_id, data = made
    make_project(store, name="Other")  # so that no id is what it was
    new_id = import_project(store, data)
    assert new_id != project_id
    pd.testing.assert_frame_equal(
        read_ballot_scores(original, project_id), read_ballot_scores(store, new_id), check_exact=True
    )
    before, after = read_project_dataset(original, project_id), read_project_dataset(store, new_id)
    pd.testing.assert_frame_equal(before, after, check_exact=True)
    assert len(before) == 21
    assert before["lower"].notna().any()
    assert before.attrs == after.attrs
    assert before.attrs["simulated_votes"] is True
    assert tallies(original, project_id) == tallies(store, new_id)
    progress = tallies(store, new_id)[0][-1]
    assert min(progress.withdrawn, progress.rejected, progress.repeats, progress.unknown, progress.simulated) > 0
    assert [b.code for b in read_ballots(store, new_id)] == [b.code for b in read_ballots(original, project_id)]
    kept = {file.name: file.read_bytes() for file in original.uploads.iterdir()}
    assert {file.name: file.read_bytes() for file in store.uploads.iterdir()} == kept
    assert len(kept) == 13


def test_exporting_the_import_gives_the_same_rows_up_to_ids(made, store):
    _, _, data = made
    make_project(store, name="Other")
    with store.write() as conn:
        for id_, name in (("e" * 16, "Here"), ("f" * 16, "Elsewhere")):
            record_import(conn, id_, name=name, source="/data/x.vec", info=INFO)
    before = without_ids(data)
    after = without_ids(export_project(store, import_project(store, data)))
    for row in [*before["embedding"], *after["embedding"]]:
        del row["imported_at"]
    assert before == after
    assert all(len(before[name]) for name in TABLES)


@pytest.mark.release
def test_the_copy_beside_the_original_is_the_same_and_keeps_its_task_ids(campaign):
    store, project_id, data = campaign
    new_id = import_project(store, data, name="  Second   one ")
    assert get_project(store, new_id).name == "Second one"
    before, after = without_ids(data, codes=False), without_ids(export_project(store, new_id), codes=False)
    before["project"][0]["name"] = "Second one"
    assert before == after
    pd.testing.assert_frame_equal(
        read_project_dataset(store, project_id), read_project_dataset(store, new_id), check_exact=True
    )
    assert tallies(store, project_id) == tallies(store, new_id)
    old, new = read_ballots(store, project_id), read_ballots(store, new_id)
    assert [b.code for b in old] == [b.code for b in new]
    shown = [read_comparisons(store, id_, 3).drop(columns="question_id") for id_ in (project_id, new_id)]
    pd.testing.assert_frame_equal(*shown)


@pytest.mark.parametrize("place", ["elsewhere", "beside"])
def test_the_campaign_goes_on_as_the_original_does(campaign, tmp_path, place):
    store, project_id, data = campaign
    other = store if place == "beside" else open_store(tmp_path / "other")
    if place == "elsewhere":
        make_project(other, name="Other")
    new_id = import_project(other, data)
    for where, id_ in ((store, project_id), (other, new_id)):
        simulate_votes(where, id_)
        close_ballot(where, id_)
        draw_next_ballot(where, id_)
    pd.testing.assert_frame_equal(
        read_ballot_scores(store, project_id), read_ballot_scores(other, new_id), check_exact=True
    )
    called = "Test (2)" if place == "beside" else "Test"  # all else is equal
    assert (
        read_project_dataset(store, project_id).attrs | {"project": called} == read_project_dataset(other, new_id).attrs
    )
    batches = [
        write_batch(read_comparisons(where, id_, 4)).decode().splitlines()
        for where, id_ in ((store, project_id), (other, new_id))
    ]
    texts = [[line.split(",", 1)[1] for line in batch] for batch in batches]
    assert texts[0] == texts[1]
    assert batches[0] != batches[1]  # a ballot drawn now has task ids of the project that drew it
    other.engine.dispose()


@pytest.mark.release
def test_results_of_the_original_batch_are_taken_where_the_original_is_not(campaign, tmp_path):
    store, project_id, _ = campaign
    batch = write_batch(read_comparisons(store, project_id, 3))
    late = answer_batch(batch, voters=("Z",), tag="late")
    other = open_store(tmp_path / "other")
    new_id = import_project(other, export_project(store, project_id))
    counts = preview_upload(store, project_id, late, "late.csv").counts
    assert preview_upload(other, new_id, late, "late.csv").counts == counts
    assert set(counts) == {"new"}
    accept_upload(other, new_id, late, "late.csv")
    other.engine.dispose()


def test_an_upload_is_withdrawn_elsewhere_as_here(campaign, tmp_path):
    store, project_id, data = campaign
    other = open_store(tmp_path / "other")
    new_id = import_project(other, data)
    for where, id_ in ((store, project_id), (other, new_id)):
        upload = next(u for u in read_uploads(where, id_) if u.filename == "T3-first.csv")
        withdraw_upload(where, id_, upload.id)
    assert tallies(store, project_id) == tallies(other, new_id)
    other.engine.dispose()


def test_an_upload_is_withdrawn_in_a_copy_as_in_the_original(campaign):
    store, project_id, _ = campaign
    new_id = duplicate_project(store, project_id, "Copy")
    for id_ in (project_id, new_id):
        withdraw_upload(store, id_, next(u.id for u in read_uploads(store, id_) if u.filename == "T3-first.csv"))
    assert tallies(store, project_id) == tallies(store, new_id)


def test_the_original_draws_a_discarded_ballot_again_though_a_copy_has_it(store):
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    data = export_project(store, project_id)
    discard_ballot(store, project_id)
    import_project(store, data)
    assert draw_batch(store, project_id) == batch


def test_the_same_state_gives_the_same_bytes_and_the_time_of_export_is_not_in_them(campaign):
    store, project_id, data = campaign
    assert export_project(store, project_id) == data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    names = [entry.filename for entry in entries]
    assert names == ["manifest.json", *sorted(names[1:])]
    import_project(store, data)
    make_project(store)
    assert export_project(store, project_id) == data  # other projects change nothing


def test_the_log_comes_along_and_says_what_became_of_it(made, store):
    original, project_id, data = made
    with store.write() as conn:
        record_import(conn, "e" * 16, name="My name", source="", info=INFO)
    new_id = import_project(store, data)
    log, before = read_log(store, new_id, 1000), read_log(original, project_id, 1000)
    assert [entry["action"] for entry in log[1:]] == [entry["action"] for entry in before]
    assert [entry["detail"] for entry in log[1:]] == [entry["detail"] for entry in before]
    assert log[0]["action"] == "import project"
    assert log[0]["detail"]["from"] == project_id
    assert log[0]["detail"]["embeddings missing"] == {"f" * 16: "Elsewhere"}
    assert [e.name for e in read_embeddings(store, new_id)] == ["Here"]
    assert get_project(store, new_id).revision == log[0]["revision"] == before[0]["revision"] + 1


def test_frequencies_by_a_missing_embedding_keep_their_label(made, store):
    _, _, data = made
    members = members_of(data)
    rows = rows_of(data, "frequency_source")
    rows[0] |= {"kind": "rank", "label": "Elsewhere", "sha256": "", "embedding_id": "f" * 16}
    lines = [list(rows[0]), *(row.values() for row in rows)]
    new_id = import_project(store, signed(members | {"tables/frequency_source.csv": csv_text(lines)}))
    with store.read() as conn:
        source = source_of(conn, new_id)
    assert (source.kind, source.label, source.embedding_id) == ("rank", "Elsewhere", None)


def test_an_empty_project_comes_through(store):
    project_id = create_project(store, "Nothing yet", seed=2**62)
    new_id = import_project(store, export_project(store, project_id))
    assert get_project(store, new_id).seed == 2**62
    assert get_project(store, new_id).name == "Nothing yet (2)"


def test_a_kept_file_that_is_gone_or_damaged_is_named(campaign, tmp_path):
    store, project_id, _ = campaign
    gone, damaged = sorted(file.name for file in store.uploads.iterdir())[:2]
    (store.uploads / gone).unlink()
    (store.uploads / damaged).write_bytes(b"x")
    other = open_store(tmp_path / "other")
    new_id = import_project(other, export_project(store, project_id))
    assert read_log(other, new_id, 1)[0]["detail"]["kept files missing"] == [gone, damaged, "f" * 64]
    assert len(list(other.uploads.iterdir())) == 11
    other.engine.dispose()


def test_odd_values_come_back_as_they_were():
    table = sa.Table(
        "odd",
        sa.MetaData(),
        sa.Column("id", sa.Integer),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("note", sa.Text),
        sa.Column("value", sa.Float),
        sa.Column("flag", sa.Boolean, nullable=False),
        sa.Column("more", sa.JSON),
    )
    rng = np.random.default_rng(3)
    floats = [0.1, 1 / 3, -0.0, 5e-324, 1.7976931348623157e308, 2**53 + 1.0, *rng.random(50).tolist(), None]
    texts = [
        "",
        "\\",
        "\\\\N",
        "\\N",
        "a\r\nb",
        '"',
        ",",
        "\r",
        " x ",
        "=1+1",
        "\x00",
        "שלום",
        "x" * 200_000,
        "a\u200db",
    ]
    jsons = ["{}", "null", '{"a": "\\ud83d\\ude00"}', "[1, 2.5]", '"' + "y" * 200_000 + '"', None]
    rows = [
        (
            -(2**63) if place == 0 else 2**63 - 1 - place,
            texts[place % len(texts)],
            None if place == 5 else texts[(place + 1) % len(texts)],
            value,
            place % 2,
            jsons[place % len(jsons)],
        )
        for place, value in enumerate(floats)
    ]
    limit = csv.field_size_limit()
    back = read_table_rows(table, io.BytesIO(write_table_rows(table, rows)), "odd.csv", len(rows))
    assert list(map(repr, back)) == list(map(repr, rows))
    assert csv.field_size_limit() == limit


def test_half_a_character_can_not_come_in_with_json():
    table = sa.Table("odd", sa.MetaData(), sa.Column("more", sa.JSON))
    with pytest.raises(InputError, match="row 2, column more: must be JSON"):
        read_table_rows(table, io.BytesIO(write_table_rows(table, [('{"a": "\\ud800"}',)])), "odd.csv", 1)


# What is damaged stays out


def refused(store, data, *what):
    """Importing raises `InputError` that names `what`, and the workspace is as it was."""
    before = state(store)
    with pytest.raises(InputError) as caught:
        import_project(store, data)
    for text in what:
        assert text in str(caught.value)
    assert state(store) == before


@pytest.mark.parametrize("table", TABLES)
def test_a_table_that_is_cut_short_changed_missing_or_has_other_columns_is_refused(made, store, table):
    _, _, data = made
    members, name = members_of(data), f"tables/{table}.csv"
    text = members[name]
    refused(store, packed(members | {name: text[: len(text) // 2]}), name, "was changed or damaged")
    changed = bytearray(text)
    changed[-2] ^= 1
    refused(store, packed(members | {name: bytes(changed)}), name, "was changed or damaged")
    less = {key: value for key, value in members.items() if key != name}
    refused(store, packed(less), name, "is missing")
    refused(store, signed(less), name, "is missing")
    lines = list(csv.reader(io.StringIO(text.decode(), newline="")))
    extra = csv_text([*line, "extra"] for line in lines)
    refused(store, signed(members | {name: extra}), name, "extra", "column is unknown")
    fewer = csv_text(line[:-1] for line in lines)
    refused(store, signed(members | {name: fewer}), name, "column is missing")
    rows = json.loads(members["manifest.json"])["rows"] | {table: 10_000}
    refused(store, signed(members, rows=rows), name, "10000")


def test_a_kept_file_that_is_cut_short_changed_or_missing_is_refused(made, store):
    _, _, data = made
    members = members_of(data)
    for name in [name for name in members if name.startswith("uploads/")][:3]:
        refused(store, packed(members | {name: members[name][:-1]}), name, "was changed or damaged")
        refused(store, signed(members | {name: members[name] + b" "}), name, "a different checksum")
        refused(store, packed({k: v for k, v in members.items() if k != name}), name, "is missing")


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"format": 2}, "Update the older"),
        ({"schema": "9999"}, "'9999'"),
        ({"format": None}, "Update the older"),
        ({"rows": []}, "manifest.json"),
        ({"members": {"x": 1}}, "manifest.json"),
        ({"project": {"id": "other", "name": "x"}}, "in its manifest"),
        ({"missing_uploads": [1]}, "manifest.json"),
    ],
)
def test_another_version_or_an_odd_manifest_is_refused(made, store, changes, what):
    refused(store, signed(members_of(made[2]), **changes), what)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b"null", b"[" * 100_000, b"9" * 5000])
def test_a_manifest_that_is_none_is_refused(made, store, text):
    refused(store, packed(members_of(made[2]) | {"manifest.json": text}), "manifest.json")


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/etc/passwd",
        "uploads/../../evil",
        "uploads\\..\\evil",
        "tables/log.csv/x",
        "tables/job.csv",
        "x.pkl",
        "uploads/" + "0" * 64 + ".",
        "uploads/",
    ],
)
def test_other_names_are_refused(made, store, tmp_path, name):
    members = members_of(made[2]) | {name: b"evil"}
    refused(store, signed(members))
    refused(store, packed(members))
    assert not (tmp_path / "evil").exists()


def test_a_name_that_is_there_twice_is_refused(made, store):
    out = io.BytesIO(made[2])
    with zipfile.ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("tables/log.csv", "x")
    refused(store, out.getvalue(), "twice")


def test_a_bomb_is_not_unpacked(made, store, monkeypatch):
    members = members_of(made[2])
    bomb = "uploads/" + hashlib.sha256(bytes(5_000_000)).hexdigest()
    data = signed(members | {bomb: bytes(5_000_000)})
    assert len(data) < len(made[2]) + 20_000
    monkeypatch.setattr(project_zip, "MAX_BYTES", 4_000_000)
    refused(store, data, "unpacks to")
    # The same with a directory that says it were small.
    at = data.rindex(bomb.encode()) - 46
    assert data[at : at + 4] == b"PK\x01\x02"
    refused(store, data[: at + 24] + (10).to_bytes(4, "little") + data[at + 28 :], "damaged")
    monkeypatch.setattr(project_zip, "MAX_BYTES", 1000)
    refused(store, data, "bytes")


def test_other_files_are_refused(store):
    for data in (b"", b"PK\x03\x04", b"a,b\n1,2\n", packed({"a": b"b"}), packed({})):
        refused(store, data)


def test_whatever_byte_is_changed_nothing_half_comes_in(made):
    data, rng = made[2], random.Random(5)
    for _ in range(150):
        at = rng.randrange(len(data))
        changed = data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
        cut = data[: rng.randrange(len(data))]
        for damaged in (changed, cut):
            try:
                found = project_zip.read_zip(damaged)
            except InputError:
                continue
            assert found == project_zip.read_zip(data)  # a byte that says nothing, such as a date's


@pytest.mark.parametrize(
    ("table", "old", "new", "what"),
    [
        ("item", ",0,", ",zero,", "whole number"),
        ("ballot_item", ",1.0,", ",nan,", "finite"),
        ("ballot_item", ",1.0,", ",1e999,", "finite"),
        ("log", '""', "'", "JSON"),
        ("task_question", ",1\r\n", ",2\r\n", "0 or 1"),
        ("judgement", ",counted,", ",sold,", "contradicts itself"),
        ("judgement", ",person\r\n", ",robot\r\n", "contradicts itself"),
        ("project", ",trial,", ",serious,", "contradicts itself"),
        ("project", ",11,", ",-11,", "can't be read as a project"),
        ("ballot", ",1,b1-", ",7,b1-", "numbered"),
        ("plan", "instructions", "commands", "can't be read as a project"),
        ("plan", ",7,", ",-7,", "seed"),
    ],
)
def test_values_that_a_forger_would_write_are_refused(made, store, table, old, new, what):
    members, name = members_of(made[2]), f"tables/{table}.csv"
    text = members[name].decode()
    head, body = text.split("\r\n", 1)
    assert old in body
    body = body.replace(old, new) if table == "log" else body.replace(old, new, 1)
    refused(store, signed(members | {name: f"{head}\r\n{body}".encode()}), what)


@pytest.mark.parametrize("table", ["area", "ballot", "assignment", "question", "item", "voter", "task", "upload"])
def test_a_row_that_others_point_to_must_be_there(made, store, table):
    members, name = members_of(made[2]), f"tables/{table}.csv"
    lines = members[name].splitlines(keepends=True)
    refused(store, signed(members | {name: b"".join([lines[0], *lines[2:]])}), f"no such {table}")
    doubled = b"".join([*lines, lines[1]])
    refused(store, signed(members | {name: doubled}), "twice")


def test_a_wrong_name_takes_nothing_in(made, store):
    before = state(store)
    with pytest.raises(InputError, match="no name"):
        import_project(store, made[2], name=" ")
    assert state(store) == before


# Duplicating, archiving, deleting


def test_a_duplicate_goes_its_own_way(campaign):
    store, project_id, data = campaign
    new_id = duplicate_project(store, project_id, "Copy")
    entry = read_log(store, new_id, 1)[0]
    assert (entry["action"], entry["detail"]["from"], entry["detail"]["name"]) == (
        "duplicate project",
        project_id,
        "Copy",
    )
    assert [e.name for e in read_embeddings(store, new_id)] == ["Here", "Elsewhere"]
    simulate_votes(store, new_id)
    close_ballot(store, new_id)
    assert export_project(store, project_id) == data
    third = duplicate_project(store, new_id, "Copy of the copy")
    assert read_project_dataset(store, third).equals(read_project_dataset(store, new_id))
    with pytest.raises(StoreError, match="no project"):
        duplicate_project(store, "nobody", "x")


def test_an_archived_project_is_listed_apart_until_it_is_restored(store):
    one, two = make_project(store), make_project(store)
    assert list_archived(store) == []
    archive_project(store, one)
    archive_project(store, two)
    assert list_projects(store) == []
    assert [found.project.id for found in list_archived(store)] == [two, one]
    assert all(found.archived_at for found in list_archived(store))
    with pytest.raises(StoreError, match="archived already"):
        archive_project(store, one)
    copy = import_project(store, export_project(store, one))
    assert [project.id for project in list_projects(store)] == [copy]  # what is taken in can be seen
    restore_project(store, one)
    with pytest.raises(StoreError, match="isn't archived"):
        restore_project(store, one)
    assert {project.id for project in list_projects(store)} == {one, copy}
    assert [entry["action"] for entry in read_log(store, one, 2)] == ["restore project", "archive project"]


def test_a_deleted_project_is_gone_but_for_its_backup(campaign):
    store, project_id, data = campaign
    other = make_project(store)
    theirs = answer_batch(draw_batch(store, other))
    accept_upload(store, other, theirs, "results.csv")
    kept = export_project(store, other)
    for typed in ("", "test", "Test ", other):
        with pytest.raises(StoreError, match="nothing was deleted"):
            delete_project(store, project_id, typed)
    assert export_project(store, project_id) == data
    with store.write() as conn:
        row = {"id": "j", "project_id": project_id, "kind": "import_embedding", "params": {}, "created_at": ""}
        conn.execute(sa.insert(t.job).values(**row, state="failed"))
    backup = delete_project(store, project_id, "Test")
    assert backup.parent == store.folder / "backups"
    assert backup.read_bytes() == data
    assert [project.id for project in list_projects(store)] == [other]
    assert export_project(store, other) == kept
    assert [file.read_bytes() for file in store.uploads.iterdir()] == [theirs]
    with store.read() as conn:
        counts = {name: conn.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar() for name in TABLES}
        assert check_keys(conn) == 0
        assert conn.exec_driver_sql("SELECT count(*) FROM job").scalar() == 0
    assert counts == {name: len(rows_of(kept, name)) for name in TABLES} | {"embedding": 2}
    again = import_project(store, backup.read_bytes())
    assert without_ids(export_project(store, again)) == without_ids(data)


def test_files_that_another_project_uses_stay(campaign):
    store, project_id, data = campaign
    new_id = duplicate_project(store, project_id, "Copy")
    files = sorted(store.uploads.iterdir())
    delete_project(store, new_id, "Copy")
    assert sorted(store.uploads.iterdir()) == files
    assert export_project(store, project_id) == data


def test_nothing_is_deleted_while_a_job_runs_or_the_backup_cannot_be_written(campaign):
    store, project_id, data = campaign
    row = {"id": "j", "project_id": project_id, "kind": "import_embedding", "params": {}, "created_at": ""}
    with store.write() as conn:
        conn.execute(sa.insert(t.job).values(**row, state="running"))
    with pytest.raises(StoreError, match="under way"):
        delete_project(store, project_id, "Test")
    with store.write() as conn:
        conn.execute(sa.update(t.job).values(state="done"))
    (store.folder / "backups").rmdir()
    (store.folder / "backups").write_text("in the way")
    with pytest.raises(StoreError, match="Nothing was deleted"):
        delete_project(store, project_id, "Test")
    assert export_project(store, project_id) == data
    (store.folder / "backups").unlink()
    delete_project(store, project_id, "Test")
    with pytest.raises(RunoffError, match="no project"):
        export_project(store, project_id)
