"""No file makes a reader fall over: damaged valid ones, and what the fuzzer (`python -m bench.fuzz`) once found."""

from __future__ import annotations

import io
import json
import random
import sys
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.fuzz import Finding, allowed_bytes, look
from bench.fuzz_mutations import damage_any
from bench.fuzz_readers import TARGETS, Target
from core.dataset.published import is_published, read_published
from core.embeddings import load
from core.errors import InputError, RunoffError
from core.platforms import read_results
from core.platforms.prolific import read_submissions
from core.store.projects.archive import import_project
from core.store.projects.project_zip import read_zip
from core.tabular import read_workbook
from core.tabular.json_files import parse_json
from core.tabular.zips import check_sizes
from core.tokens.files import read_areas_file
from core.tokens.lists import holds_breaks
from core.votes.reading import decode

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="measures memory by /proc")
SLOW = {"project": 3, "published": 3, "archived": 6, **dict.fromkeys(("embeddings", "mapped", "results", "scored"), 10)}
REFUSED = {"embeddings": 1, "results": 3, "mapped": 3, "archived": 0, "tabular": 4}  # of the undamaged files, at most


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.release) if name == "project" else name for name in TARGETS]
)
def test_valid_files_are_read_and_damaged_ones_read_or_refused(name: str) -> None:
    """Some of each; `make test-fuzz` tries half a minute of each.

    If valid ones were refused, damaged ones would be by the same check, and nothing behind it would be reached."""
    target = TARGETS[name]
    seeds = target.seeds()
    refused = []
    for file, data in seeds:
        try:
            target.read(data)
        except RunoffError as error:
            refused.append(f"{file}: {error}")
    assert len(refused) <= REFUSED.get(name, 0), refused

    @settings(max_examples=SLOW.get(name, 20))
    @given(st.integers(0, 2**32), st.integers(1, 4))
    def read(number: int, times: int) -> None:
        rng = random.Random(number)
        file, data = rng.choice(seeds)
        for _ in range(times):
            data = damage_any(data, file, rng)
        assert look(target, data) is None

    read()


class TestTheFuzzerItself:
    def test_another_error_is_found(self) -> None:
        found = look(Target("x", lambda data: data[10], list), b"")
        assert found is not None
        assert found.kind == "IndexError at outside"

    def test_what_a_person_is_told_is_no_finding(self) -> None:
        def refuse(data: bytes) -> None:
            raise InputError("no")

        assert look(Target("x", refuse, list), b"") is None

    def test_memory_is_found(self) -> None:
        found = look(Target("x", lambda data: len(bytearray(1 << 28)), list), b"")
        assert isinstance(found, Finding)
        assert found.kind == "memory"

    def test_a_zip_counts_as_what_is_in_it(self) -> None:
        data = zipped({"a": bytes(200_000)})
        target = Target("x", len, list, 5)
        assert allowed_bytes(target, data) - 5 <= 10 * 100 * len(data)
        assert allowed_bytes(target, b"PK") == 25


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def bomb(name: str, size: int = 200 << 20) -> bytes:
    """A zip of a few hundred kilobytes that unpacks to 200 MB, beside what makes it look like a file of ours."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open(name, "w", force_zip64=True) as member:
            for _ in range(size >> 20):
                member.write(bytes(1 << 20))
    return out.getvalue()


@pytest.fixture(scope="module")
def bombs() -> dict[str, bytes]:
    return {name: bomb(name) for name in ("manifest.json", "xl/worksheets/sheet1.xml")}


def _of(name: str) -> Target:
    return TARGETS[name]


@pytest.mark.sqlite
@pytest.mark.parametrize("reader", ["published", "project", "dataset", "tokens", "results", "workbook"])
def test_zip_bombs_are_refused_before_they_are_unpacked(reader: str, bombs: dict[str, bytes]) -> None:
    for data in bombs.values():
        assert look(_of(reader), data) is None
        with pytest.raises(RunoffError):
            _of(reader).read(data)


def test_a_bomb_says_why(bombs: dict[str, bytes]) -> None:
    for read in (read_published, read_zip, lambda data: read_workbook(data, "x.xlsx")):
        with pytest.raises(InputError, match=r"unpacks to 209,715,2|isn't an exported project"):
            read(bombs["manifest.json"])
    assert not is_published(bombs["manifest.json"])


def test_sizes_that_lie_cost_no_memory() -> None:
    """The header says 10 bytes, the stream holds 50 MB; and the other way round."""
    data = bytearray(zipped({"[Content_Types].xml": bytes(50 << 20)}))
    central = data.rindex(b"PK\x01\x02")
    for stated in (10, 2**31 - 1):
        for at in (22, central + 24):
            data[at : at + 4] = stated.to_bytes(4, "little")
        for name in ("workbook", "published", "project", "tokens"):
            assert look(_of(name), bytes(data)) is None


def test_a_zip_in_a_zip_is_not_unpacked_again() -> None:
    inner = bomb("manifest.json", 70 << 20)
    for name in ("embeddings", "published", "results"):
        with pytest.raises(RunoffError):
            _of(name).read(zipped({"inner.zip": inner}))


@pytest.mark.release
def test_many_members() -> None:
    data = zipped({f"tables/{number}.csv": b"" for number in range(30_000)})
    for name in ("published", "project", "tokens", "embeddings"):
        assert look(_of(name), data) is None


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_other_ways_of_packing_are_refused_where_a_piece_can_fill_the_memory(method: int) -> None:
    data = zipped({"manifest.json": bytes(60 << 20)}, method)
    with pytest.raises(InputError, match=r"unusual way|unpacks to"):
        read_published(data)
    assert look(_of("embeddings"), data) is None  # read piece by piece there


def test_a_packed_embedding_without_an_end_of_line() -> None:
    """100 MB of one word in 100 KB of gzip."""
    import gzip

    data = gzip.compress(b"anvil 1 2\n" + b"a" * (100 << 20), 6)
    assert look(_of("embeddings"), data) is None


def test_limits_of_sizes() -> None:
    with zipfile.ZipFile(io.BytesIO(zipped({"a": bytes(1 << 20)}))) as archive:
        check_sizes(archive, 100, 1 << 20)
        with pytest.raises(InputError, match="1,048,576"):
            check_sizes(archive, 100, (1 << 20) - 1)


@pytest.mark.sqlite
@pytest.mark.parametrize("name", ["../escape.csv", "/etc/cron.d/x", "tables/../../x", "C:\\x", "uploads/..\\x"])
def test_no_name_in_a_zip_leads_anywhere(store, name: str) -> None:
    _, data = _of("project").seeds()[0]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {entry: archive.read(entry) for entry in archive.namelist()}
    before = sorted(store.folder.rglob("*"))
    with pytest.raises(InputError):
        import_project(store, zipped(members | {name: b"x"}))
    assert sorted(store.folder.rglob("*")) == before
    with pytest.raises(InputError):
        read_published(zipped({"manifest.json": b"{}", name: b"x"}))


@pytest.mark.sqlite
def test_a_link_in_a_zip_is_a_file_of_another_name(store) -> None:
    _, data = _of("project").seeds()[0]
    out = io.BytesIO(data)
    with zipfile.ZipFile(out, "a") as archive:
        link = zipfile.ZipInfo("uploads/" + "a" * 64)
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(InputError, match="isn't in the manifest"):
        import_project(store, out.getvalue())


class TestKindsThatWereFound:
    def test_half_characters_in_json(self) -> None:
        assert parse_json(b'["\\ud83d\\ude00", "\\ud800"]') == ["\U0001f600", "\ufffd"]
        assert parse_json('{"\\udfff": 1}') == {"\ufffd": 1}
        assert parse_json('["\\\\ud800"]') == ["\\ud800"]
        votes = json.dumps([{"voter": "\ud800", "comparison_id": "b1-0a1b2c3d-00001-1", "choice": "left"}]).encode()
        assert read_results(votes, "x.json").answers["voter"].tolist() == ["\ufffd"]

    def test_half_characters_as_references_and_in_tokens(self) -> None:
        assert decode("&#55296; &#xDFFF; &#xE000;") == "&#55296; &#xDFFF; \ue000"
        assert holds_breaks("a\ud800")

    def test_a_zip_cut_inside_packed_data(self) -> None:
        data = bytearray(zipped({"manifest.json": b"{}" * 500}, zipfile.ZIP_LZMA))
        data[60:70] = b"\xff" * 10
        for name in ("published", "project", "embeddings", "tokens"):
            assert look(_of(name), bytes(data)) is None

    def test_annotations_that_are_no_list(self) -> None:
        data = json.dumps([{"id": 1, "annotations": 5, "data": {}}]).encode()
        with pytest.raises(InputError):
            read_results(data, "x.json")


@pytest.mark.parametrize("name", ["results", "tokens", "ratings", "dataset", "frequencies", "submissions", "mapped"])
class TestLargeTables:
    def test_a_hundred_thousand_columns(self, name: str) -> None:
        header = ",".join(f"c{number}" for number in range(100_000))
        row = ",".join(["x"] * 100_000)
        assert look(_of(name), f"{header}\n{row}\n{row}\n".encode()) is None

    @pytest.mark.release
    def test_a_cell_of_ten_megabytes(self, name: str) -> None:
        cell = "a" * (10 << 20)
        assert look(_of(name), f"area,token\nsea,{cell}\nsea,ship\n".encode()) is None
        assert look(_of(name), f"voter,choice,comparison_id\n{cell},left,b1-0a1b2c3d-00001-1\n".encode()) is None
        assert look(_of(name), f'area,token\nsea,"{cell}\n'.encode()) is None

    def test_nothing_but_zeros(self, name: str) -> None:
        assert look(_of(name), bytes(1 << 20)) is None


def test_long_tokens_are_told_and_left_out() -> None:
    found = read_areas_file(f"area,token\nsea,{'a' * 100_000}\nsea,ship\n".encode(), "x.csv")
    assert found.areas[0].tokens == ("ship",)
    assert "longer than 200" in str(found.notes[0])


def test_an_embedding_with_a_word_of_ten_megabytes(tmp_path) -> None:
    data = b"anvil 1 2\n" + b"b" * (10 << 20) + b" 1 2\nbarge 3 4\n"
    assert look(_of("embeddings"), data) is None


def test_a_renamed_pickle_runs_nothing(tmp_path) -> None:
    import os
    import pickle

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    for name in ("x.csv", "x.txt", "x.bin", "x.zip", "x.npy"):
        path = tmp_path / name
        path.write_bytes(pickle.dumps(Evil()))
        with pytest.raises(RunoffError):
            load(path)
    for target in TARGETS.values():
        with pytest.raises(RunoffError):
            target.read(pickle.dumps(Evil()))
    assert not (tmp_path / "ran").exists()


class TestNumbersOfManyDigits:
    """Python makes no number of over 4,300 digits, C none of over 19, and takes “²” for a digit but for no number."""

    MANY = "9" * 5000  # within a name of a column

    @pytest.mark.parametrize("day", ["9" * 19, "9" * 5000, "²"])
    def test_a_day(self, day: str) -> None:
        data = (
            "HITId,AssignmentId,WorkerId,AssignmentStatus,SubmitTime,Input.task_id,Input.left_a_1,Input.left_b_1,"
            "Input.right_a_1,Input.right_b_1,Answer.choice_1\n"
            f"h,a,W,Approved,Wed Feb {day} 11:00:37 PST 2019,b1-0a1b2c3d-00001,cat,dog,saw,sun,left\n"
        )
        read = read_results(data.encode(), "x.csv")
        assert read.answers["submitted_at"].tolist() == [""]
        assert read.answers["choice"].tolist() == ["left"]

    @pytest.mark.parametrize("field", ["Input.left_a_{}", "Answer.choice_{}", "Answer.left_{}", "Input.task_id_{}"])
    def test_a_column(self, field: str) -> None:
        data = f"HITId,AssignmentId,WorkerId,{field.format(self.MANY)}\nh,a,W,left\n"
        assert look(TARGETS["results"], data.encode()) is None

    @pytest.mark.parametrize("name", ["Item1,Item2,Item{}", "Item1,Item2,Item3"])
    @pytest.mark.parametrize("best", ["9" * 5000, "²", "9" * 19])
    def test_an_item(self, name: str, best: str) -> None:
        data = f"{name.format(self.MANY)},BestItem,WorstItem\nsea,ship,tax,{best},tax\n"
        assert look(TARGETS["best worst"], data.encode()) is None

    @pytest.mark.parametrize("seconds", ["9" * 5000, "²", "1e400", "9" * 10])
    def test_the_time_that_a_submission_took(self, seconds: str) -> None:
        data = f"Submission id,Participant id,Status,Time taken\ns1,p1,APPROVED,{seconds}\n"
        assert read_submissions(data.encode(), "x.csv").rows["seconds"].isna().all()


class TestParquetOfOthers:
    """Names, texts and what pandas noted can be damaged in a file that is whole otherwise."""

    def read(self, table: pa.Table, before: bytes = b"", after: bytes = b"") -> Finding | None:
        out = io.BytesIO()
        pq.write_table(table, out, compression="none", use_dictionary=False, write_statistics=False)
        return look(TARGETS["dataset"], out.getvalue().replace(before, after) if before else out.getvalue())

    def table(self, **more) -> pa.Table:
        return pa.table({"token_a": ["sea"], "token_b": ["ship"], "score": [0.5], **more})

    def test_a_name_or_a_text_that_is_no_unicode(self) -> None:
        assert self.read(self.table(extra=["x"]), b"extra", b"ex\xa4ra") is None
        assert self.read(self.table(extra=["qwert"]), b"qwert", b"qw\xa4rt") is None
        assert self.read(self.table(), b"ship", b"sh\xffp") is None

    @pytest.mark.parametrize("noted", [b"[]", b"{}", b"x", b'{"index_columns": ["a"], "columns": [{"name": 1}]}'])
    def test_what_pandas_noted(self, noted: bytes) -> None:
        assert self.read(self.table().replace_schema_metadata({b"pandas": noted})) is None

    def test_columns_of_the_same_name_and_of_other_kinds(self) -> None:
        twice = pa.Table.from_arrays([pa.array(["a"])] * 4, names=["token_a", "token_a", "token_b", "score"])
        assert self.read(twice) is None
        for odd in (pa.array([[1, 2]]), pa.array([{"a": 1}]), pa.array([b"\xff"]), pa.nulls(1), pa.array(["x"])):
            assert self.read(self.table().set_column(2, "score", odd)) is None
            assert self.read(self.table().set_column(0, "token_a", odd)) is None
